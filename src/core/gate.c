#include "gate.h"

#ifdef TAMIS__GATES

#include "memory.h"
#include "spin.h"

struct gate *tamis__gate_new(const tamis_memory *memory)
{
    return tamis__alloc(memory, sizeof(struct gate));
}

void tamis__gate_free(struct gate *g, const tamis_memory *memory)
{
    tamis__free(memory, g);
}

void tamis__gate_close(struct gate *g)
{
    if (g == NULL) return;
    tamis__lock(&g->turn);
    __atomic_store_n(&g->closed, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < TAMIS__GATE_SLOTS; i++)
        while (__atomic_load_n(&g->slots[i].inside, __ATOMIC_SEQ_CST) != 0) tamis__yield();
}

void tamis__gate_open(struct gate *g)
{
    if (g == NULL) return;
    __atomic_store_n(&g->closed, 0, __ATOMIC_SEQ_CST);
    tamis__unlock(&g->turn);
}

void tamis__gate_wait(struct gate *g, struct gate_slot *slot)
{
    do {
        tamis__gate_leave(slot);
        while (__atomic_load_n(&g->closed, __ATOMIC_SEQ_CST) != 0) tamis__yield();
        __atomic_fetch_add(&slot->inside, 1, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&g->closed, __ATOMIC_SEQ_CST) != 0);
}

#endif
