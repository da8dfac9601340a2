/* What uniq knows of the lines that came before: a filter, or a window of filters that forgets, and
 * the file that holds it from one run to the next. */
#ifndef TAMIS_CLI_PAST_H
#define TAMIS_CLI_PAST_H

#include "../frame/cli.h"

struct past {
    const struct args *a;
    tamis *t;                    /* NULL before one of the first two verbs below */
    double asked;                /* the rate that it was made for */
    double turn_seconds, turned; /* of windows of time; else 0 */
    bool opened;                 /* from its file */
};

/* A new one; false after a message. */
bool past_create(struct past *p);
/* The one of --state, if that file is there, else a new one. False after a message, also where the
 * file is something else than what the options say. */
bool past_open(struct past *p);
/* Forget what is older than a window of time. False after a message. */
bool past_turn(struct past *p);
/* To --state, if there is one. False after a message. */
bool past_save(struct past *p);
/* EXIT_ERROR after a message when the options make no sense together. */
int past_check(const struct args *a);

#endif
