/* Several threads add to one TAMIS_SHARED filter and ask it at once; nothing may be lost. Used by
 * the quick and the long test. */
#ifndef TAMIS_TEST_SHARED_ADDS_H
#define TAMIS_TEST_SHARED_ADDS_H

#include "check.h"
#include "keys.h"

#include <pthread.h>
#include <tamis/tamis.h>

enum { MOST_THREADS = 8, ROUND = 512 };

struct worker {
    tamis *t;
    uint64_t from, to, missed; /* keys of this thread, and how many it added but could not find */
    uint64_t told_new;
    pthread_t thread;
};

static inline void round_keys(uint64_t from, size_t n, uint64_t *numbers, tamis_bytes *keys)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t state = from + i;
        numbers[i] = splitmix(&state);
        keys[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
}

static inline void *work(void *arg)
{
    struct worker *w = arg;
    uint64_t numbers[ROUND];
    tamis_bytes keys[ROUND];
    uint8_t bits[ROUND / 8];
    for (uint64_t at = w->from; at < w->to; at += ROUND) {
        const size_t n = w->to - at < ROUND ? (size_t)(w->to - at) : ROUND;
        round_keys(at, n, numbers, keys);
        if (tamis_add_many(w->t, keys, n, bits, NULL) != TAMIS_OK) w->missed += n;
        for (size_t i = 0; i < n; i++) w->told_new += (bits[i / 8] >> i % 8 & 1) == 0;
        w->missed += n - tamis_may_contain_many(w->t, keys, n, bits);
    }
    return NULL;
}

/* Thread i adds keys [i*each, i*each + each), or all threads the same ones. */
static inline void add_from_threads(tamis *t, unsigned threads, uint64_t each, bool same,
                                    struct worker *w)
{
    for (unsigned i = 0; i < threads; i++) {
        w[i] = (struct worker){
            .t = t, .from = same ? 0 : i * each, .to = same ? each : (i + 1) * each};
        CHECK(pthread_create(&w[i].thread, NULL, work, &w[i]) == 0);
    }
    for (unsigned i = 0; i < threads; i++) CHECK(pthread_join(w[i].thread, NULL) == 0);
    for (unsigned i = 0; i < threads; i++) CHECK_THAT(w[i].missed, ==, 0);
}

static inline uint64_t count_missing(const tamis *t, uint64_t keys_in_all)
{
    uint64_t numbers[ROUND], missing = 0;
    tamis_bytes keys[ROUND];
    uint8_t bits[ROUND / 8];
    for (uint64_t at = 0; at < keys_in_all; at += ROUND) {
        const size_t n = keys_in_all - at < ROUND ? (size_t)(keys_in_all - at) : ROUND;
        round_keys(at, n, numbers, keys);
        missing += n - tamis_may_contain_many(t, keys, n, bits);
    }
    return missing;
}

#endif
