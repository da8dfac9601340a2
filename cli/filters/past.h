/* What uniq knows about the lines that came before: a filter, or a window, which forgets old lines;
 * and the file that keeps it from one run to the next (past.c). */
#ifndef TAMIS_CLI_PAST_H
#define TAMIS_CLI_PAST_H

#include "../frame/args.h"

#include <tamis/tamis.h>

struct past {
    const struct args *a;
    tamis *t;            /* NULL before past_create or past_open */
    double asked;        /* the rate that it was made for */
    double turn_seconds; /* of a window of time; else 0 */
    uint64_t epoch;      /* of a window of time */
    bool opened;         /* from the file of --state */
};

/* Makes a new filter; false after a message. */
bool past_create(struct past *p);
/* Opens the file of --state if it exists, and otherwise makes a new filter. False after a message,
 * also when the file does not match the options. */
bool past_open(struct past *p);
/* Forgets what is older than a window of time. False after a message. */
bool past_turn(struct past *p);
/* Saves to --state, if it is given. False after a message. */
bool past_save(struct past *p);
/* False after a message when the options do not fit together. */
bool past_check(const struct args *a);

#endif
