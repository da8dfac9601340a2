/* A list on a terminal that is repainted while lines arrive. */
#ifndef TAMIS_CLI_LIVE_H
#define TAMIS_CLI_LIVE_H

#include <stdbool.h>

/* Seconds between two paintings. */
#define LIVE_SECONDS 0.5

/* Columns and rows of standard output; false: it is not a terminal. */
bool terminal_size(unsigned *columns, unsigned *rows);
struct live {
    unsigned painted;  /* lines on the screen */
    double next, time; /* of the next painting; now */
};
/* From now on the signals of stop.h only end the reading. */
void live_start(struct live *l);
bool live_stopped(void);
bool live_is_due(struct live *l);
/* Call these around the lines that replace those painted before. No line wraps meanwhile. */
void live_begin(struct live *l);
void live_line(struct live *l); /* ends a line */
void live_end(struct live *l);
/* Removes the painted lines, before the final output. */
void live_clear(struct live *l);

#endif
