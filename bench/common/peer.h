/* A peer: another library's filter or sketch that is measured in the same interleaved run as ours.
 * Compile a shared object that defines bench_peer_at and name it in TAMIS_BENCH_PEER (a path, or
 * several separated by colons). In C or C++, for example for a class `set` of 64-bit keys:
 *
 *     #include "peer.h"
 *     static bool add(void *it, const void *key, size_t len) { ... return false; }
 *     static bool query(void *it, const void *key, size_t len) { ... }
 *     BENCH_LOOPS(set, add, query)
 *     static void *create(uint64_t n, double fpr) { ... }
 *     static void destroy(void *it) { ... }
 *     static const struct bench_peer peer = {"set", 0, create, destroy, NULL, NULL, set_adds,
 *                                            NULL, set_queries, set_queries_chained};
 *     BENCH_PEER_EXPORT const struct bench_peer *bench_peer_at(unsigned i)
 *     {
 *         return i == 0 ? &peer : NULL;
 *     }
 *
 * The loops are part of the peer, so that the compiler can inline its calls as it would in a
 * program. The calls of Tamis are measured with the same loops. */
#ifndef TAMIS_BENCH_PEER_H
#define TAMIS_BENCH_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Passes n keys of `len` bytes, which lie one after the other, in single calls. Returns the number
 * of positive answers. A chained loop chooses each key by the answer before it: if that was not
 * `usual`, it leaves out one key. For a chained loop there are therefore 2 n keys. */
typedef uint64_t bench_loop(void *it, const unsigned char *keys, size_t len, size_t n,
                            unsigned usual);

struct bench_peer {
    const char *name;
    uint32_t sketch;                         /* 0: a filter; 1: a sketch, which is only updated */
    void *(*create)(uint64_t n, double fpr); /* a sketch gets its size in bytes as n, and fpr 0 */
    void (*destroy)(void *it);
    void (*clear)(void *it);  /* removes all keys; NULL: destroyed and created again */
    void (*finish)(void *it); /* called after the last add, before the first query; may be NULL */
    bench_loop *adds, *adds_chained, *queries, *queries_chained; /* NULL: not measured */
};

#ifdef __cplusplus
#define BENCH_PEER_EXPORT extern "C" __attribute__((visibility("default")))
#else
#define BENCH_PEER_EXPORT __attribute__((visibility("default")))
#endif
/* Returns the i-th peer of the shared object, or NULL if there are no more. */
BENCH_PEER_EXPORT const struct bench_peer *bench_peer_at(unsigned i);

/* Defines name_whats and name_whats_chained. call(it, key, len) returns a bool. */
#define BENCH_LOOP(name, what, call)                                                               \
    __attribute__((unused)) static uint64_t name##_##what(void *it, const unsigned char *keys,     \
                                                          size_t len, size_t n, unsigned usual)    \
    {                                                                                              \
        uint64_t yes = 0;                                                                          \
        (void)usual;                                                                               \
        for (size_t i = 0; i < n; i++) yes += call(it, keys + i * len, len);                       \
        return yes;                                                                                \
    }                                                                                              \
    __attribute__((unused)) static uint64_t name##_##what##_chained(                               \
        void *it, const unsigned char *keys, size_t len, size_t n, unsigned usual)                 \
    {                                                                                              \
        uint64_t yes = 0, at = 0;                                                                  \
        for (size_t i = 0; i < n; i++) {                                                           \
            const uint64_t answer = call(it, keys + at * len, len);                                \
            yes += answer;                                                                         \
            at += 1 + (answer ^ usual);                                                            \
        }                                                                                          \
        return yes;                                                                                \
    }
#define BENCH_LOOPS(name, add, query)                                                              \
    BENCH_LOOP(name, adds, add)                                                                    \
    BENCH_LOOP(name, queries, query)

#endif
