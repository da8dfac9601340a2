#if !defined(_GNU_SOURCE) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif

#include "gate.h"

#ifdef TAMIS__GATES

#include "memory.h"

#include <pthread.h>
#include <sched.h>

/* The mutex is locked while the gate is closed, so that threads which wait do not spin. */
struct gate_house {
    struct gate gate; /* first, so that a pointer to it is one to the house */
    pthread_mutex_t mutex;
};

static struct gate_house *house_of(struct gate *g)
{
    return (struct gate_house *)(void *)g;
}

struct gate *tamis__gate_new(const tamis_memory *memory)
{
    struct gate_house *h = tamis__alloc(memory, sizeof *h);
    if (h == NULL) return NULL;
    if (pthread_mutex_init(&h->mutex, NULL) == 0) return &h->gate;
    tamis__free(memory, h);
    return NULL;
}

void tamis__gate_free(struct gate *g, const tamis_memory *memory)
{
    if (g == NULL) return;
    pthread_mutex_destroy(&house_of(g)->mutex);
    tamis__free(memory, g);
}

void tamis__gate_close(struct gate *g)
{
    if (g == NULL) return;
    pthread_mutex_lock(&house_of(g)->mutex);
    __atomic_store_n(&g->closed, 1, __ATOMIC_SEQ_CST);
    for (uint32_t i = 0; i < TAMIS__GATE_SLOTS; i++)
        while (__atomic_load_n(&g->slots[i].inside, __ATOMIC_SEQ_CST) != 0) sched_yield();
}

void tamis__gate_open(struct gate *g)
{
    if (g == NULL) return;
    __atomic_store_n(&g->closed, 0, __ATOMIC_SEQ_CST);
    pthread_mutex_unlock(&house_of(g)->mutex);
}

void tamis__gate_wait(struct gate *g, struct gate_slot *slot)
{
    do {
        tamis__gate_leave(slot);
        pthread_mutex_lock(&house_of(g)->mutex);
        pthread_mutex_unlock(&house_of(g)->mutex);
        __atomic_fetch_add(&slot->inside, 1, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(&g->closed, __ATOMIC_SEQ_CST) != 0);
}

#endif
