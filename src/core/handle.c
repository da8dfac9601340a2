/* Where a handle begins and ends. One with a secret key lives, as a whole, in memory that no core
 * dump shows: the key has one place, and whoever copies a handle copies it to such a place
 * again. */
#include "handle.h"

#include "../frequency/noise.h"
#include "../image/image.h"
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

void tamis__known_facts(const tamis *t, tamis_facts *out)
{
    memset(out, 0, sizeof *out);
    out->kind = t->kind->id;
    out->hash = t->hasher.id;
    out->k = t->body.sections->k;
    out->m = t->body.sections->m;
    out->format = TAMIS__FORMAT;
    out->seed = t->hasher.seed;
    out->generation = tamis__generation(t);
    out->keyed = t->hasher.id == TAMIS_SIPHASH;
    memcpy(out->key_id, t->hasher.key_id, sizeof out->key_id);
    out->strict = t->strict;
    out->sealed = t->sealed;
    out->collecting = t->kind->seal != NULL && !t->sealed;
    out->read_only = t->read_only;
    out->turning = t->body.turn_at != 0;
    out->may_miss = (t->kind->traits & TAMIS__MISSES) != 0;
    out->cell_bits = t->body.sections->cell_bits;
    out->sections = t->body.count;
    out->items_estimated = t->items_estimated;
    out->hash_suspect = __atomic_load_n(&t->watch.suspect, __ATOMIC_RELAXED);
    out->bytes = tamis_image_size(t);
    out->items = t->items;
    out->planned_items = t->planned_items;
    out->fpr_planned = t->planned_fpr;
}
