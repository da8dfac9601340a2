/* Signals that end the reading, not the program: what was read is dealt with first. */
#ifndef TAMIS_CLI_STOP_H
#define TAMIS_CLI_STOP_H

#include <stdbool.h>

/* From now on the first one of this number only ends the input, after the last whole line; a second
 * one is as always. Not where it is ignored, as under nohup. */
void stop_on_signal(int number);
/* The signal that has come, or 0. */
int stop_asked(void);
/* Until there is something to read, if signals are to end that; false: one did. */
bool stop_or_ready(int fd);
/* Die by the signal that has come, if one has. */
void stop_now(void);

#endif
