/* Allocates and frees handles. A handle with a secret key is allocated, as a whole, in memory that
 * is left out of core dumps. So the key is stored in one place only, and a copy of the handle is
 * allocated in the same way. */
#include "handle.h"

#include "../frequency/noise.h"
#include "../sealed/collect.h"
#include "memory.h"

#define DEFAULT_SCRATCH ((uint64_t)64 << 20)

static void free_handle(tamis *t)
{
    const tamis_memory *memory = t->memory;
    if (t->secret)
        tamis__free_secret(memory, t, sizeof *t);
    else
        tamis__free(memory, t);
}

tamis *tamis__new(const struct kind *kind, const tamis_options *o, uint32_t sections)
{
    const tamis_memory *memory = o->memory;
    const bool secret = o->key != NULL;
    tamis *t = secret ? tamis__alloc_secret(memory, sizeof *t) : tamis__alloc(memory, sizeof *t);
    if (t == NULL) return NULL;
    t->secret = secret;
    t->kind = kind;
    t->memory = memory;
    t->scratch_bytes = o->scratch_bytes != 0 ? o->scratch_bytes : DEFAULT_SCRATCH;
    t->body.memory = memory;
    t->body.max_bytes = o->max_bytes;
    t->body.threads = o->threads;
    t->body.count = sections;
    t->body.sections = tamis__alloc(memory, sections * sizeof *t->body.sections);
    if (t->body.sections == NULL) {
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
                           .key = t->secret ? (const uint8_t *)t->hasher.key : NULL};
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
    for (uint32_t i = 0; i < t->body.count && !t->borrowed; i++)
        tamis__free(memory, t->body.sections[i].cells);
    if (t->close_file != NULL) t->close_file(t);
    tamis__spill_close(tamis__spill(&t->body));
    tamis__free(memory, t->body.sections);
    free_handle(t);
}
