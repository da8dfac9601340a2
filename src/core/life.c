/* The life cycle of a handle: create, load, view, copy, clear and seal. image/file.c opens and
 * saves files. */
#include "../frequency/noise.h"
#include "../image/image.h"
#include "../sealed/collect.h"
#include "error.h"
#include "gate.h"
#include "locks.h"
#include "single.h"
#include "sized.h"
#include "snapshot.h"

void tamis__set_turning(tamis *t)
{
    const uint64_t share = t->planned_items / t->body.count;
    t->body.extra->turn_at = share + (share * t->body.count < t->planned_items);
}

/* Opens the file for hashes that do not fit in memory, if the options name a directory and the
 * handle collects hashes. */
static tamis_status open_spill(tamis *t, const char *directory, tamis_error *why)
{
    const struct sealed_ops *sealing = t->kind->sealing;
    if (directory == NULL || t->read_only || sealing == NULL) return TAMIS_OK;
    if (!sealing->spills)
        return tamis__unsupported(why, TAMIS_RIBBON, "%s filters are built in memory",
                                  t->kind->name);
    return tamis__spill_open(directory, tamis__scratch_bytes(t), t->body.memory,
                             &t->body.extra->spill, why);
}

/* Gives a shared window its gate. False: not enough memory. */
static bool make_gate(tamis *t)
{
#ifdef TAMIS__GATES
    if (!t->body.shared || t->kind->rotate == NULL) return true;
    t->body.extra->gate = tamis__gate_new(t->body.memory);
    return t->body.extra->gate != NULL;
#else
    (void)t;
    return true;
#endif
}

/* Why threads cannot share it, and what they can do instead. */
static tamis_status cannot_share(const tamis *t, tamis_error *why)
{
    const bool sketch = tamis__sketch(t) != NULL;
    return tamis__unsupported(why, sketch ? TAMIS_TALLY : TAMIS_BLOCKED,
                              "this %s cannot be shared by threads%s", t->kind->name,
                              t->kind->merge == NULL
                                  ? ""
                                  : "; give each thread a part of it (tamis_part), and join the "
                                    "parts (tamis_join)");
}

static tamis_status make_shared(tamis *t, tamis_error *why)
{
    const struct sketch_ops *sketch = tamis__sketch(t);
    t->body.shared = true;
    if ((t->kind->traits & TAMIS__SHARES) == 0) return cannot_share(t, why);
    if (sketch != NULL && (t->kind->traits & TAMIS__HAS_PARTS) != 0) return cannot_share(t, why);
    if (sketch != NULL && sketch->conservative != NULL && sketch->conservative(&t->body))
        return cannot_share(t, why);
    if (t->strict) /* threads that do not wait cannot keep a limit */
        return tamis__fail(why, TAMIS_EINVAL, "a strict filter cannot be shared by threads");
    if (!make_gate(t) || !tamis__make_locks(t))
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    return t->kind->share != NULL ? tamis__refuse(why, t->kind->share(&t->body)) : TAMIS_OK;
}

static bool is_ready(tamis *t)
{
    return t->kind->ready == NULL || t->kind->ready(&t->body);
}

tamis_status tamis__finish(tamis *t, const tamis_options *o, tamis **out, tamis_error *why)
{
    t->steady = (o->flags & TAMIS_STEADY) != 0;
    if (t->kind->add == NULL) t->read_only = true;
    tamis_status s = (o->flags & TAMIS_SHARED) != 0 ? make_shared(t, why) : TAMIS_OK;
    if (s == TAMIS_OK && !is_ready(t)) s = tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    if (s == TAMIS_OK) s = open_spill(t, o->temp_dir, why);
    if (s != TAMIS_OK) {
        tamis_close(t);
        return s;
    }
    tamis__choose(t);
    *out = t;
    return TAMIS_OK;
}

tamis_status tamis__check_options(const tamis_options *options, uint32_t allowed,
                                  tamis_options *out, tamis_error *why)
{
    memset(out, 0, sizeof *out);
    if (options == NULL) return TAMIS_OK;
    const tamis_status s = tamis__take_struct(out, sizeof *out, options, "tamis_options", why);
    if (s == TAMIS_OK && (out->flags & ~allowed) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "unknown flag in the options");
    if (s == TAMIS_OK && out->key != NULL && out->shared_key != NULL)
        return tamis__fail(why, TAMIS_EINVAL, "give the bytes of a key or a key object, not both");
    return s;
}

/* Gives it the cells, or allocates empty ones if they are NULL. */
static bool set_cells(tamis *t, const uint8_t *cells)
{
    if (cells == NULL) return tamis__alloc_cells(t, true);
    t->body.sections->cells = (uint8_t *)(uintptr_t)cells; /* they stay const: it is read-only */
    t->borrowed = t->read_only = true;
    t->items_estimated = true;
    return true;
}

/* What a sketch has of its plan. */
static void set_sketch(const tamis *t, const tamis_plan *p)
{
    tamis__extra(t)->sketch = tamis__sketch_of(t->kind, tamis__kind(p->inner_kind));
    tamis__extra(t)->planned_error = p->error > 0 && p->error < 1 ? p->error : 1;
}

tamis_status tamis__from_plan(const tamis_plan *p, const tamis_options *o, const uint8_t *cells,
                              tamis **out, tamis_error *why)
{
    if ((p->flags & TAMIS_HASH_CALLER) != 0 && (tamis__with_key(o) || p->seed != 0))
        return tamis__fail(why, TAMIS_EINVAL, "the caller's own hashes have no seed and no key");
    if (tamis__with_key(o) && p->seed != 0)
        return tamis__fail(why, TAMIS_EINVAL, "give a seed or a key, not both");
    if (o->max_bytes != 0 && p->bytes > o->max_bytes)
        return tamis__fail(why, TAMIS_ENOMEM, "%llu bytes, more than the limit of %llu",
                           (unsigned long long)p->bytes, (unsigned long long)o->max_bytes);
    const bool removable = (p->flags & TAMIS_REMOVABLE) != 0;
    const struct kind *kind = removable ? tamis__removable_kind(p->kind) : tamis__kind(p->kind);
    tamis *t = tamis__new(kind, o, kind->layout(p, NULL), false);
    if (t == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    if (tamis__has_extra(t)) set_sketch(t, p);
    kind->layout(p, t->body.sections);
    if (!set_cells(t, cells)) {
        tamis_close(t);
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                           (unsigned long long)p->bytes);
    }
    if (cells != NULL) t->items = p->items;
    tamis__hasher_init(&t->hasher, p->seed, tamis__hasher_key(&t->hasher));
    if ((p->flags & TAMIS_HASH_CALLER) != 0) {
        t->hasher.id = TAMIS_CALLER_HASH;
        t->hasher.usable = false;
    }
    const bool distinct = tamis__counts_distinct(&t->body);
    t->planned_items = tamis__sketch(t) != NULL || distinct ? 1 : p->items;
    t->planned_fpr = distinct ? 1 : p->fpr;
    t->strict = (p->flags & TAMIS_STRICT) != 0;
    if ((p->flags & TAMIS_AUTO_ROTATE) != 0) tamis__set_turning(t);
    tamis__state_keys(t, tamis__plan_statement(p));
    t->changed = true;
    return tamis__finish(t, o, out, why);
}

tamis_status tamis_create(const tamis_plan *plan, const tamis_options *options, tamis **out,
                          tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    tamis_plan p;
    tamis_promise unused;
    tamis_status s = tamis__take_struct(&p, sizeof p, plan, "tamis_plan", why);
    if (s == TAMIS_OK) s = tamis__check_options(options, TAMIS_SHARED, &o, why);
    if (s == TAMIS_OK) s = tamis__solve_plan(&p, &unused, why);
    return s == TAMIS_OK ? tamis__from_plan(&p, &o, NULL, out, why) : s;
}

tamis_status tamis_load(const void *image, size_t size, const tamis_options *options, tamis **out,
                        tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    const struct source src = {.size = size, .memory = image != NULL ? image : ""};
    tamis_status s = tamis__check_options(options, TAMIS__LOAD_FLAGS, &o, why);
    if (image == NULL && size != 0)
        return tamis__fail(why, TAMIS_EINVAL, "the image must not be NULL");
    return s == TAMIS_OK ? tamis__image_read(&src, &o, false, out, why) : s;
}

tamis_status tamis_view(const void *image, size_t size, const tamis_options *options, tamis **out,
                        tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    const struct source src = {.size = size, .memory = image};
    tamis_status s = tamis__check_options(options, TAMIS__VIEW_FLAGS, &o, why);
    if (image == NULL || (uintptr_t)image % 64 != 0)
        return tamis__fail(why, TAMIS_EINVAL, "an image in place must be 64-byte aligned");
    return s == TAMIS_OK ? tamis__image_read(&src, &o, true, out, why) : s;
}

void tamis_limit(tamis *t, uint64_t max_bytes)
{
    if (tamis__has_extra(t)) t->body.extra->max_bytes = max_bytes; /* otherwise it cannot grow */
}

/* Copies all content. The generations of a shared window do not rotate meanwhile. False: not enough
 * memory. */
static bool copy_content(tamis *copy, const tamis *t)
{
    struct gate_slot *slot = tamis__gate_enter(t->body.extra->gate);
    tamis__take_fields(copy, t);
    copy->borrowed = false;
    copy->read_only = t->sealed || t->newer || t->kind->add == NULL;
    const bool made = tamis__alloc_cells(copy, false) && make_gate(copy) && tamis__make_locks(copy);
    if (made) tamis__take_cells(copy, t);
    tamis__gate_leave(slot);
    return made && is_ready(copy);
}

tamis_status tamis_copy(const tamis *t, tamis **out, tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    if (tamis__spilled(&t->body)) return tamis__in_file(why);
    tamis *copy = tamis__new_like(t);
    if (copy == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    if (!copy_content(copy, t)) {
        tamis_close(copy);
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                           (unsigned long long)tamis_image_size(t));
    }
    tamis__choose(copy);
    *out = copy;
    return TAMIS_OK;
}

tamis_status tamis_clear(tamis *t)
{
    if (t->read_only) return TAMIS_ESEALED;
    if (t->kind->clear != NULL) {
        t->kind->clear(&t->body);
    } else {
        for (uint32_t i = 0; i < t->body.count; i++) {
            memset(t->body.sections[i].cells, 0, (size_t)t->body.sections[i].length);
            t->body.sections[i].items = 0;
        }
    }
    tamis__set_items(t, 0);
    if (tamis__has_extra(t)) {
        struct handle_extra *e = tamis__extra(t);
        e->weight = 0;
        e->of_body.summed = false;
        e->epoch = 0; /* it dated the keys */
        memset(&e->sample, 0, sizeof e->sample);
    }
    t->items_estimated = false;
    t->changed = true;
    t->watch = TAMIS__WATCHING;
    tamis__noise_drop(t);
    tamis__older_drop(t);
    return TAMIS_OK;
}

tamis_status tamis__seal(tamis *t, tamis_error *why)
{
    if (t->kind->sealing != NULL) {
        uint64_t distinct = 0;
        const tamis_status s = t->kind->sealing->seal(&t->body, &distinct, why);
        if (s != TAMIS_OK) return s;
        t->items = distinct;
        tamis__spill_close(t->body.extra->spill);
        t->body.extra->spill = NULL;
    }
    t->sealed = t->read_only = t->changed = true;
    tamis__trim_extra(t);
    tamis__choose(t);
    return TAMIS_OK;
}

tamis_status tamis_seal(tamis *t, tamis_error *why)
{
    if (t->sealed) return TAMIS_OK;
    if (t->read_only) return tamis__fail(why, TAMIS_ESEALED, "this handle is read-only");
    if (t->kind->sealing != NULL && tamis__suspect_hashes(&t->body)) {
        t->changed = t->changed || !tamis__is_suspect(t); /* the image records it */
        t->watch = TAMIS__SUSPICIOUS;
        return tamis__cannot_seal(why, "the hashes are not uniform: bits never change, or one half "
                                       "follows from the other; 128 mixed bits are needed");
    }
    return tamis__seal(t, why);
}
