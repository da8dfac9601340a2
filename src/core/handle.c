/* Allocates and frees handles. */
#include "handle.h"

#include "../frequency/noise.h"
#include "../sealed/collect.h"
#include "gate.h"
#include "memory.h"

#define DEFAULT_SCRATCH ((uint64_t)64 << 20)

const struct handle_extra tamis__no_extra;

/* Whether handles of this kind have an extra whatever their options are. */
static bool kind_needs_extra(const struct kind *k, bool sealed)
{
    if (k->sealing != NULL) return !sealed;
    return k->sketch != NULL || k->rotate != NULL || (k->traits & TAMIS__GROWS) != 0;
}

uint64_t tamis__extra_bytes(const struct kind *kind, const tamis_options *o, bool sealed)
{
    const bool asked = o->threads > 1 || o->scratch_bytes != 0 || (o->flags & TAMIS_SHARED) != 0;
    return kind_needs_extra(kind, sealed) || asked ? sizeof(struct handle_extra) : 0;
}

bool tamis__add_extra(tamis *t)
{
    if (tamis__has_extra(t)) return true;
    struct handle_extra *extra = tamis__alloc_plain(t->body.memory, sizeof *extra);
    if (extra == NULL) return false;
    t->body.extra = &extra->of_body;
    return true;
}

static void drop_extra(tamis *t)
{
    if (!tamis__has_extra(t)) return;
    tamis__free_plain(t->body.memory, tamis__extra(t));
    t->body.extra = (struct body_extra *)(uintptr_t)&tamis__no_extra.of_body;
}

void tamis__trim_extra(tamis *t)
{
    const struct handle_extra *e = tamis__extra(t);
    if (kind_needs_extra(t->kind, t->sealed) || t->body.shared || e->of_body.threads > 1 ||
        e->scratch_bytes != 0 || (t->watch == TAMIS__WATCHING && !t->read_only))
        return;
    drop_extra(t);
}

uint64_t tamis__scratch_bytes(const tamis *t)
{
    const uint64_t bytes = tamis__extra(t)->scratch_bytes;
    return bytes != 0 ? bytes : DEFAULT_SCRATCH;
}

static void free_handle(tamis *t)
{
    drop_extra(t);
    tamis__key_leave(tamis__hasher_key(&t->hasher));
    tamis__free_plain(t->body.memory, t);
}

/* Sets the key of the options, which may have none. False: not enough memory. */
static bool take_secret(tamis *t, const tamis_options *o)
{
    struct tamis_key *key = NULL;
    if (o->shared_key != NULL) key = tamis__key_share(o->shared_key);
    if (o->key != NULL) key = tamis__key_make(o->key, o->memory);
    tamis__hasher_init(&t->hasher, 0, key);
    return o->key == NULL || key != NULL;
}

/* With an extra of its own if `extra`, and whatever the options require. */
static tamis *new_handle(const struct kind *kind, const tamis_options *o, uint32_t sections,
                         bool extra)
{
    const tamis_memory *memory = o->memory;
    tamis *t = tamis__alloc_plain(memory, tamis__handle_bytes(sections));
    if (t == NULL) return NULL;
    t->kind = kind;
    t->body.memory = memory;
    t->body.extra = (struct body_extra *)(uintptr_t)&tamis__no_extra.of_body;
    t->body.count = sections;
    t->body.sections = t->sections;
    if (!take_secret(t, o) || (extra && !tamis__add_extra(t))) {
        free_handle(t);
        return NULL;
    }
    if (extra) {
        tamis__extra(t)->scratch_bytes = o->scratch_bytes;
        t->body.extra->max_bytes = o->max_bytes;
        t->body.extra->threads = o->threads;
    }
    return t;
}

tamis *tamis__new(const struct kind *kind, const tamis_options *o, uint32_t sections, bool sealed)
{
    return new_handle(kind, o, sections, tamis__extra_bytes(kind, o, sealed) != 0);
}

tamis *tamis__new_like(const tamis *t)
{
    const tamis_options same = tamis__same_options(t);
    return new_handle(t->kind, &same, t->body.count, tamis__has_extra(t));
}

tamis_options tamis__same_options(const tamis *t)
{
    return (tamis_options){.memory = t->body.memory,
                           .scratch_bytes = tamis__extra(t)->scratch_bytes,
                           .max_bytes = t->body.extra->max_bytes,
                           .shared_key = tamis__hasher_key(&t->hasher)};
}

bool tamis__alloc_cells(tamis *t, bool zeroed)
{
    for (uint32_t i = 0; i < t->body.count; i++) t->body.sections[i].cells = NULL;
    for (uint32_t i = 0; i < t->body.count; i++) {
        struct section *s = &t->body.sections[i];
        s->cells = zeroed ? tamis__alloc(t->body.memory, s->length)
                          : tamis__alloc_unset(t->body.memory, s->length);
        if (s->cells == NULL) return false;
        if (!tamis__has_boundary(t->kind, s)) s->room = s->length;
    }
    return true;
}

void tamis_close(tamis *t)
{
    if (t == NULL) return;
    const tamis_memory *memory = t->body.memory;
    tamis__noise_drop(t);
    tamis__older_drop(t);
    for (uint32_t i = 0; i < t->body.count && !t->borrowed; i++)
        tamis__free(memory, t->body.sections[i].cells);
    if (t->file != NULL) t->file->close(t);
    tamis__spill_close(tamis__spill(&t->body));
    tamis__free(memory, t->body.extra->locks);
    tamis__free(memory, t->body.extra->directory);
    tamis__gate_free(t->body.extra->gate, memory);
    if (t->body.apart) tamis__free(memory, t->body.sections);
    free_handle(t);
}
