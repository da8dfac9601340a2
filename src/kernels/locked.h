/* Locks for the lines of a blocked filter, and of tallies, to which several threads add
 * (TAMIS_SHARED).
 *
 * Without locks, a new key costs one atomic OR for each of its eight bits. Under a lock, it costs
 * one atomic exchange, and its bits are set by plain stores. For 10 M keys, a processor with
 * AVX-512 took 70 ns per key with atomic ORs of bytes, 62 with ORs of words, 54 with exchanges of
 * 16 bytes, and 13 with locks; without any protection it took 6.
 *
 * A line belongs to the lock with the number of its lowest bits. A thread first looks for its bits
 * without the lock. Only if one is missing, it takes the lock, looks again, and sets them. So a key
 * that is added again and again never waits, and exactly one of several threads that add the same
 * new key finds it missing while it has the lock.
 *
 * Queries never take a lock. Bits are only ever set, and the processor never splits a byte, so a
 * reader that gets some bytes from before an add and some from after it sees each bit either clear
 * or set. The functions in C access single bytes by relaxed atomics. Those for vectors access a
 * line by instructions in assembler, which the compiler neither splits nor moves. A build with the
 * thread sanitizer uses only the functions in C, so that it sees every access. */
#ifndef TAMIS_LOCKED_H
#define TAMIS_LOCKED_H

#include "../core/spin.h"

#if defined(__SANITIZE_THREAD__)
#define TAMIS__CHECKS_RACES
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TAMIS__CHECKS_RACES
#endif
#endif

struct line_lock {
    uint32_t held;
    uint32_t items; /* new keys in the lines of this lock; written only by the thread that has it */
};

struct line_locks {
    uint64_t last;  /* the number of locks, which is a power of two, minus 1 */
    uint64_t saved; /* what the locks had counted when the filter was last saved */
    _Alignas(64) struct line_lock locks[];
};

static inline struct line_lock *tamis__line_lock(struct line_locks *l, uint64_t line)
{
    return &l->locks[line & l->last];
}

/* Locks two lines, which may have the same lock. All threads take the lower lock first, so that
 * none waits for ever. */
static inline void tamis__lock_lines(struct line_locks *l, uint64_t a, uint64_t b)
{
    struct line_lock *x = tamis__line_lock(l, a), *y = tamis__line_lock(l, b);
    tamis__lock(x < y ? &x->held : &y->held);
    if (x != y) tamis__lock(x < y ? &y->held : &x->held);
}

static inline void tamis__unlock_lines(struct line_locks *l, uint64_t a, uint64_t b)
{
    struct line_lock *x = tamis__line_lock(l, a), *y = tamis__line_lock(l, b);
    tamis__unlock(&x->held);
    if (x != y) tamis__unlock(&y->held);
}

/* Unlocks, and counts a key that was new. Who sees the count also sees the bits, so that a snapshot
 * has the bits of all keys that it counts. */
static inline void tamis__unlock_line(struct line_lock *lock, bool is_new)
{
    __atomic_store_n(&lock->items, lock->items + is_new, __ATOMIC_RELEASE);
    tamis__unlock(&lock->held);
}

#endif
