/* A list on a terminal, repainted while lines come. */
#ifndef TAMIS_CLI_LIVE_H
#define TAMIS_CLI_LIVE_H

#include "../frame/cli.h"

/* Seconds between two looks at the list. */
#define LIVE_SECONDS 0.5

/* Columns and rows of standard output; false: it is no terminal. */
bool terminal_size(unsigned *columns, unsigned *rows);
struct live {
    unsigned painted;  /* lines that are on the screen */
    double next, time; /* of the next painting; now */
};
/* From now on SIGINT and SIGTERM only stop the reading. */
void live_start(struct live *l);
bool live_stopped(void);
bool live_is_due(struct live *l);
/* Around lines that are printed instead of those painted before, none of which wraps. */
void live_begin(struct live *l);
void live_line(struct live *l); /* the end of one */
void live_end(struct live *l);
/* Take all away, for what stays. */
void live_clear(struct live *l);

#endif
