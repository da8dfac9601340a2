/* Signals that end the input instead of the program, so that the lines that were read are still
 * processed. */
#ifndef TAMIS_CLI_STOP_H
#define TAMIS_CLI_STOP_H

#include <stdbool.h>

/* From now on the first signal of this number only ends the input, after the last whole line. A
 * second one has its usual effect. A signal that is ignored, as under nohup, stays ignored. */
void stop_on_signal(int number);
/* The signal that was received, or 0. */
int stop_asked(void);
/* Waits until there is something to read. False: a signal has ended the input. */
bool stop_or_ready(int fd);
/* Ends the process by the signal that was received, if there is one. */
void stop_now(void);

#endif
