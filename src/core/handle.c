/* Allocates and frees handles. */
#include "handle.h"

#include "../frequency/noise.h"
#include "../sealed/collect.h"
#include "gate.h"
#include "memory.h"

#define DEFAULT_SCRATCH ((uint64_t)64 << 20)

static void free_handle(tamis *t)
{
    tamis__key_leave(t->key);
    tamis__free_plain(t->memory, t);
}

/* Sets the key of the options, which may have none. False: not enough memory. */
static bool take_secret(tamis *t, const tamis_options *o)
{
    if (o->shared_key != NULL) t->key = tamis__key_share(o->shared_key);
    if (o->key != NULL) t->key = tamis__key_make(o->key, o->memory);
    return o->key == NULL || t->key != NULL;
}

tamis *tamis__new(const struct kind *kind, const tamis_options *o, uint32_t sections)
{
    const tamis_memory *memory = o->memory;
    tamis *t = tamis__alloc_plain(memory, tamis__handle_bytes(sections));
    if (t == NULL) return NULL;
    t->kind = kind;
    t->memory = memory;
    t->scratch_bytes = o->scratch_bytes != 0 ? o->scratch_bytes : DEFAULT_SCRATCH;
    t->body.memory = memory;
    t->body.max_bytes = o->max_bytes;
    t->body.threads = o->threads;
    t->body.count = sections;
    t->body.sections = t->sections;
    if (!take_secret(t, o)) {
        free_handle(t);
        return NULL;
    }
    return t;
}

tamis_options tamis__same_options(const tamis *t)
{
    return (tamis_options){.memory = t->memory,
                           .scratch_bytes = t->scratch_bytes,
                           .max_bytes = t->body.max_bytes,
                           .shared_key = t->key};
}

bool tamis__alloc_cells(tamis *t, bool zeroed)
{
    for (uint32_t i = 0; i < t->body.count; i++) t->body.sections[i].cells = NULL;
    for (uint32_t i = 0; i < t->body.count; i++) {
        struct section *s = &t->body.sections[i];
        s->cells =
            zeroed ? tamis__alloc(t->memory, s->length) : tamis__alloc_unset(t->memory, s->length);
        if (s->cells == NULL) return false;
        s->room = s->length;
    }
    return true;
}

void tamis_close(tamis *t)
{
    if (t == NULL) return;
    const tamis_memory *memory = t->memory;
    tamis__noise_drop(t);
    tamis__older_drop(t);
    for (uint32_t i = 0; i < t->body.count && !t->borrowed; i++)
        tamis__free(memory, t->body.sections[i].cells);
    if (t->close_file != NULL) t->close_file(t);
    tamis__spill_close(tamis__spill(&t->body));
    tamis__free(memory, t->body.locks);
    tamis__gate_free(t->body.gate, memory);
    if (t->body.apart) tamis__free(memory, t->body.sections);
    free_handle(t);
}
