/* The version that is served, and the watch for the next one. A request takes a reference to a
 * version, answers from that version alone, and releases it. A replaced version that nobody uses
 * any more is closed by the thread that watches, because unmapping a big store takes milliseconds,
 * for which no request should wait. */
#ifndef GUARD_LIVE_H
#define GUARD_LIVE_H

#include "../version/guard.h"

#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

struct guard_live;

struct guard_published {
    guard *g;
    atomic_uint users;
    struct guard_live *of;
    struct guard_published *next; /* in the list of those that nobody uses any more */
};

struct guard_live {
    const char *directory;
    guard_trust *trust;   /* NULL accepts every version */
    pthread_mutex_t lock; /* protects `current` and `unused` */
    struct guard_published *current, *unused;
    atomic_ullong reloads, failed;
    /* Used only by the one thread that calls guard_live_look: */
    struct stat seen; /* the manifest when it was last read; all zero if there was none */
    int64_t again;    /* when to repeat a reload that failed; 0 if none has failed */
    guard_error said; /* the last failure that was printed, so that each is printed once */
    bool expired;     /* it was printed that the current version has expired */
};

/* Opens the first version. Fails with a reason when the directory has none. */
bool guard_live_start(struct guard_live *l, const char *directory, guard_trust *trust,
                      guard_error *why);
/* Call it after the last request. */
void guard_live_end(struct guard_live *l);

/* Makes a newly published version the current one. If it cannot be opened, the previous version
 * stays in service, the failure is counted, and a message goes to stderr. `now` is in milliseconds;
 * `anyway` reloads even if the manifest looks unchanged. A trusted version that expires stays in
 * service, too, and a message reports it. */
void guard_live_look(struct guard_live *l, int64_t now, bool anyway);

struct guard_published *guard_live_take(struct guard_live *l);
void guard_live_release(struct guard_published *p);

#endif
