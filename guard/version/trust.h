/* What guard_open_trusted requires of a manifest, and the memory of the last accepted version. */
#ifndef GUARD_TRUST_H
#define GUARD_TRUST_H

#include "manifest.h"

/* A time as messages write it, in UTC. */
struct guard_moment {
    char text[40];
};
struct guard_moment guard_moment(time_t t);

/* Whether the manifest may be accepted at this time. The reason does not name a file. */
bool guard_trust_check(const guard_trust *t, const guard_manifest *m,
                       const struct guard_manifest_text *text, time_t now, guard_error *why);
/* Reads t->state, if there is one, into t->last. Returns false if it is damaged. */
bool guard_trust_recall(guard_trust *t, guard_error *why);
/* Remembers an accepted version, in t->last and in t->state. Fails if another program has accepted
 * a newer one meanwhile, and if the file cannot be written; t->last is unchanged then. */
bool guard_trust_remember(guard_trust *t, const guard_manifest *m, guard_error *why);

/* The text of a state file. Anything but the one text of a state, with its checksum, is refused. */
bool guard_state_parse(const char *text, size_t n, guard_accepted *out);
size_t guard_state_print(const guard_accepted *a, char *text, size_t room);
#define GUARD_STATE_BYTES 512 /* more than a state has */

#endif
