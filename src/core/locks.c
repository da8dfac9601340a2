#include "locks.h"

#include "../kernels/kernels.h"
#include "memory.h"

#ifndef TAMIS_LEAN

/* 64 KiB of locks. Eight of them share a cache line, and two threads that add groups of 128 keys
 * rarely need the same one at the same time: with 2^10 locks, two threads were no faster than one.
 * A small filter has a lock for each line. */
#define MOST_LOCKS (UINT64_C(1) << 13)

/* Each new key sets at least one of the 512 bits of its line, so a lock of so many lines counts
 * less than 2^32 keys. */
#define MOST_LINES (UINT64_C(1) << 22)

static uint64_t locks_for(uint64_t lines)
{
    uint64_t n = 1;
    while (n < lines && (n < MOST_LOCKS || lines / n >= MOST_LINES)) n *= 2;
    return n;
}

bool tamis__make_locks(tamis *t)
{
    if (!tamis__in_use(&t->body) || (t->kind->traits & (TAMIS__LINES | TAMIS__STRIPED)) == 0)
        return true;
    const uint64_t n = locks_for(t->body.sections->length / TAMIS__LINE_BYTES);
    struct line_locks *locks =
        tamis__alloc(t->body.memory, sizeof(struct line_locks) + n * sizeof(struct line_lock));
    t->body.extra->locks = locks;
    if (locks != NULL) locks->last = n - 1;
    return locks != NULL;
}

static uint64_t counted(const struct line_locks *locks)
{
    uint64_t sum = 0;
    for (uint64_t i = 0; i <= locks->last; i++)
        sum += __atomic_load_n(&locks->locks[i].items, __ATOMIC_ACQUIRE);
    return sum;
}

/* A hostile image may have UINT64_MAX items already. */
uint64_t tamis__items_with_locks(const tamis *t)
{
    uint64_t sum;
    return tamis__sum(t->items, counted(t->body.extra->locks), &sum) ? sum : UINT64_MAX;
}

bool tamis__changed_with_locks(const tamis *t)
{
    return counted(t->body.extra->locks) !=
           __atomic_load_n(&t->body.extra->locks->saved, __ATOMIC_RELAXED);
}

void tamis__set_items(tamis *t, uint64_t items)
{
    struct line_locks *locks = t->body.extra->locks;
    t->items = items;
    if (locks == NULL) return;
    for (uint64_t i = 0; i <= locks->last; i++) locks->locks[i].items = 0;
    locks->saved = 0;
}

void tamis__mark_saved(tamis *t, const tamis *saved)
{
    if (t->body.extra->locks != NULL)
        __atomic_store_n(&t->body.extra->locks->saved, saved->items - t->items, __ATOMIC_RELAXED);
}

#else

bool tamis__make_locks(tamis *t)
{
    (void)t; /* there are no threads */
    return true;
}

void tamis__set_items(tamis *t, uint64_t items)
{
    t->items = items;
}

#endif
