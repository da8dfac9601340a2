/* A gate in front of what only one thread at a time may change while many others use it: the order
 * of the generations of a shared window (TAMIS_SHARED).
 *
 * A thread enters before it adds or queries a group of keys, and leaves afterwards. Many threads
 * may be inside at the same time. A thread that rotates closes the gate: it waits until all others
 * have left, and those that want to enter wait until it opens the gate again. So a rotation happens
 * before or after each group of keys, and never in the middle of one.
 *
 * To enter costs one atomic addition to one of 16 counters, each on a cache line of its own. Which
 * of them a thread takes depends on the address of its stack. A thread must not enter or close a
 * gate that it has entered or closed already.
 *
 * Every function accepts NULL, for a handle that is not shared, and then does nothing. WebAssembly
 * has one thread and no gates. */
#ifndef TAMIS_GATE_H
#define TAMIS_GATE_H

#include <tamis/tamis.h>

#if !defined __wasm__ && !defined TAMIS_LEAN
#define TAMIS__GATES
#endif

#define TAMIS__GATE_SLOTS 16u

struct gate {
    struct gate_slot {
        uint32_t inside;
        uint8_t apart[60];
    } slots[TAMIS__GATE_SLOTS];
    uint32_t closed;
    uint32_t turn; /* the lock of the thread that closes it */
    /* Keys that threads inside are adding to a generation which must not exceed turn_at. */
    uint64_t reserved;
};

#ifdef TAMIS__GATES
/* Returns an open gate, or NULL if there is not enough memory. */
struct gate *tamis__gate_new(const tamis_memory *memory);
void tamis__gate_free(struct gate *g, const tamis_memory *memory);

void tamis__gate_close(struct gate *g);
void tamis__gate_open(struct gate *g);

/* Leaves again, waits until the gate is open, and enters. */
void tamis__gate_wait(struct gate *g, struct gate_slot *slot);

/* Returns what tamis__gate_leave takes. The addition and the load are sequentially consistent, and
 * so are the store and the loads of tamis__gate_close. So if both threads act at the same time, at
 * least one of them sees the other. */
static inline struct gate_slot *tamis__gate_enter(struct gate *g)
{
    if (g == NULL) return NULL;
    char here;
    const uint32_t stack = (uint32_t)((uintptr_t)&here >> 16);
    struct gate_slot *slot = &g->slots[stack * UINT32_C(0x9e3779b1) >> 28];
    __atomic_fetch_add(&slot->inside, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&g->closed, __ATOMIC_SEQ_CST) != 0) tamis__gate_wait(g, slot);
    return slot;
}

static inline void tamis__gate_leave(struct gate_slot *slot)
{
    if (slot != NULL) __atomic_fetch_sub(&slot->inside, 1, __ATOMIC_RELEASE);
}
#else
#define tamis__gate_free(g, memory) ((void)(g), (void)(memory))
#define tamis__gate_close(g) ((void)(g))
#define tamis__gate_open(g) ((void)(g))
#define tamis__gate_enter(g) ((void)(g), (struct gate_slot *)NULL)
#define tamis__gate_leave(slot) ((void)(slot))
#endif

#endif
