/* The version that is served, and the watch for the next. A request takes a version, answers from
 * it alone, and gives it back; a version that has been replaced goes with its last user. */
#ifndef GUARD_LIVE_H
#define GUARD_LIVE_H

#include "../version/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

struct guard_published {
    guard *g;
    atomic_uint users;
};

struct guard_live {
    const char *directory;
    pthread_mutex_t lock; /* of current */
    struct guard_published *current;
    atomic_ullong reloads, failed;
    /* Of the one thread that looks: */
    struct stat seen; /* the manifest when it was last read; all zero: there was none */
    int64_t again;    /* when to try again what has failed; 0: nothing has */
    guard_error said; /* the last failure, which is said once */
};

/* False with a reason when there is no version to begin with. */
bool guard_live_start(struct guard_live *l, const char *directory, guard_error *why);
/* After the last request. */
void guard_live_end(struct guard_live *l);

/* Takes up a new version if there is one. What cannot be opened leaves the one before in its place,
 * is counted, and said on stderr. `now` in milliseconds; `anyway`: also when the manifest looks the
 * same. */
void guard_live_look(struct guard_live *l, int64_t now, bool anyway);

struct guard_published *guard_live_take(struct guard_live *l);
void guard_live_release(struct guard_published *p);

#endif
