/* Signals that end the program: SIGINT, SIGTERM and SIGHUP. They end it at once, after a line that
 * says what was kept, or they end the input, so that what was read is still processed. A signal
 * that is ignored, as under nohup, stays ignored. */
#ifndef TAMIS_CLI_STOP_H
#define TAMIS_CLI_STOP_H

#include <stdbool.h>

/* From now on a signal first prints "tamis: interrupted: ABOUT STATE", as in "f.tamis is
 * unchanged". Each call replaces what the last one said; with NULL nothing is printed. */
void stop_report(const char *about, const char *state);
/* From now on a signal at least erases the line of progress. */
void stop_erases_progress(void);

/* From now on the first of these signals only ends the input, after the last whole line. A second
 * one ends the program. */
void stop_on_signals(void);
/* The signal that was received, or 0. */
int stop_asked(void);
/* Waits until there is something to read. False: a signal has ended the input. */
bool stop_or_ready(int fd);
/* Prints the report and ends the process by the signal that was received, if there is one. */
void stop_now(void);

#endif
