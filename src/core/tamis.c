/* The handle: every public verb but those of plan.c, image.c and file.c. A single key is a batch of
 * one. */
#include "../frequency/noise.h"
#include "../image/image.h"
#include "../sealed/collect.h"
#include "bits.h"
#include "bulk.h"
#include "error.h"
#include "handle.h"
#include "memory.h"
#include "sized.h"

#include <math.h>

/* --- Life ------------------------------------------------------------------------------------- */

void tamis__set_turning(tamis *t)
{
    const uint64_t share = t->planned_items / t->body.count;
    t->body.turn_at = share + (share * t->body.count < t->planned_items);
}

/* The file for hashes beyond memory, where one is wanted and of use. */
static tamis_status open_spill(tamis *t, const char *directory, tamis_error *why)
{
    if (directory == NULL || t->read_only || (t->kind->traits & TAMIS__STATIC) == 0)
        return TAMIS_OK;
    if ((t->kind->traits & TAMIS__SPILLS) == 0)
        return tamis__unsupported(why, TAMIS_RIBBON, "%s filters are built in memory",
                                  t->kind->name);
    return tamis__spill_open(directory, t->scratch_bytes, t->memory, &t->body.spill, why);
}

tamis_status tamis__finish(tamis *t, const tamis_options *o, tamis **out, tamis_error *why)
{
    t->body.shared = (o->flags & TAMIS_SHARED) != 0;
    t->steady = (o->flags & TAMIS_STEADY) != 0;
    if (t->kind->add == NULL) t->read_only = true;
    tamis_status s = TAMIS_OK;
    if (t->body.shared && (t->kind->traits & TAMIS__SHARES) == 0)
        s = tamis__unsupported(why, TAMIS_BLOCKED, "%s filters cannot be shared by threads",
                               t->kind->name);
    else if (t->body.shared && t->strict) /* a limit cannot be kept by threads that do not wait */
        s = tamis__fail(why, TAMIS_EINVAL, "a strict filter cannot be shared by threads");
    else
        s = open_spill(t, o->temp_dir, why);
    if (s != TAMIS_OK) {
        tamis_close(t);
        return s;
    }
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
    return s;
}

static tamis_status create(const tamis_plan *p, const tamis_options *o, tamis **out,
                           tamis_error *why)
{
    if ((p->flags & TAMIS_HASH_CALLER) != 0 && (o->key != NULL || p->seed != 0))
        return tamis__fail(why, TAMIS_EINVAL, "the caller's own hashes have no seed and no key");
    if (o->key != NULL && p->seed != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a seed or a key, not both");
    if (o->max_bytes != 0 && p->bytes > o->max_bytes)
        return tamis__fail(why, TAMIS_ENOMEM, "%llu bytes, more than the limit of %llu",
                           (unsigned long long)p->bytes, (unsigned long long)o->max_bytes);
    const struct kind *kind = tamis__kind_of(p->kind, p->inner_kind, p->inner_kind == TAMIS_TOP);
    tamis *t = tamis__new(kind, o, kind->layout(p, NULL));
    if (t == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    kind->layout(p, t->body.sections);
    tamis__assign_offsets(&t->body);
    if (!tamis__alloc_cells(t, true)) {
        tamis_close(t);
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                           (unsigned long long)p->bytes);
    }
    tamis__hasher_init(&t->hasher, p->seed, o->key);
    if ((p->flags & TAMIS_HASH_CALLER) != 0) {
        t->hasher.id = TAMIS_OWN_HASH;
        t->hasher.usable = false;
    }
    t->planned_items = p->items;
    t->planned_fpr = p->fpr;
    if ((kind->traits & TAMIS__WEIGHS) != 0) tamis__set_error(t, p->error);
    t->strict = (p->flags & TAMIS_STRICT) != 0;
    if ((p->flags & TAMIS_TURNING) != 0) tamis__set_turning(t);
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
    return s == TAMIS_OK ? create(&p, &o, out, why) : s;
}

#define VIEW_FLAGS ((uint32_t)(TAMIS_UNVERIFIED | TAMIS_KEYLESS))

tamis_status tamis_load(const void *image, size_t size, const tamis_options *options, tamis **out,
                        tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    const struct source src = {.size = size, .memory = image != NULL ? image : ""};
    tamis_status s = tamis__check_options(options, TAMIS__LOAD_FLAGS, &o, why);
    if (image == NULL && size != 0) return tamis__fail(why, TAMIS_EINVAL, "there is no image");
    return s == TAMIS_OK ? tamis__image_read(&src, &o, false, out, why) : s;
}

tamis_status tamis_view(const void *image, size_t size, const tamis_options *options, tamis **out,
                        tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    const struct source src = {.size = size, .memory = image};
    tamis_status s = tamis__check_options(options, VIEW_FLAGS, &o, why);
    if (image == NULL || (uintptr_t)image % 64 != 0)
        return tamis__fail(why, TAMIS_EINVAL, "an image in place must be 64-byte aligned");
    return s == TAMIS_OK ? tamis__image_read(&src, &o, true, out, why) : s;
}

void tamis_limit(tamis *t, uint64_t max_bytes)
{
    t->body.max_bytes = max_bytes;
}

tamis_status tamis_copy(const tamis *t, tamis **out, tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    const tamis_options same = tamis__same_options(t);
    if (tamis__spilled(&t->body)) return tamis__in_file(why);
    tamis *copy = tamis__new(t->kind, &same, t->body.count);
    if (copy == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    struct body body = t->body;
    body.sections = copy->body.sections;
    memcpy(copy, t, offsetof(tamis, noise));
    copy->body = body;
    copy->body.spill = NULL;
    copy->file = NULL;
    copy->close_file = NULL;
    copy->borrowed = false;
    copy->read_only = t->sealed || t->newer || t->kind->add == NULL;
    memcpy(body.sections, t->body.sections, body.count * sizeof *body.sections);
    if (!tamis__alloc_cells(copy, false)) {
        tamis_close(copy);
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                           (unsigned long long)tamis_image_size(t));
    }
    for (uint32_t i = 0; i < body.count; i++)
        memcpy(body.sections[i].cells, t->body.sections[i].cells, (size_t)body.sections[i].length);
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
    t->items = 0;
    t->body.summed = false;
    t->items_estimated = false;
    t->changed = true;
    memset(&t->watch, 0, sizeof t->watch);
    tamis__noise_drop(t);
    return TAMIS_OK;
}

tamis_status tamis__seal(tamis *t, tamis_error *why)
{
    if (t->kind->seal != NULL) {
        uint64_t distinct = 0;
        const tamis_status s = t->kind->seal(&t->body, &distinct, why);
        if (s != TAMIS_OK) return s;
        t->items = distinct;
        tamis__spill_close(t->body.spill);
        t->body.spill = NULL;
    }
    t->sealed = t->read_only = t->changed = true;
    return TAMIS_OK;
}

tamis_status tamis_seal(tamis *t, tamis_error *why)
{
    if (t->sealed) return TAMIS_OK;
    if (t->read_only) return tamis__fail(why, TAMIS_ESEALED, "this handle is read-only");
    if (t->kind->seal != NULL && tamis__suspect_hashes(&t->body)) {
        t->changed = t->changed || !t->watch.suspect; /* the image says so */
        t->watch.suspect = true;
        return tamis__cannot_seal(why, "the hashes are not uniform: bits never change, or one half "
                                       "follows from the other; 128 mixed bits are needed");
    }
    return tamis__seal(t, why);
}

/* --- Adding ----------------------------------------------------------------------------------- */

static tamis_status tamis_add_all(tamis *t, const struct keys *in, uint8_t *seen_bits, size_t *done)
{
    size_t added;
    const tamis_status s = tamis__bulk_add(t, in, seen_bits, &added);
    if (done != NULL) *done = added;
    return s;
}

tamis_status tamis__may_change_keys(const tamis *t)
{
    if (t->read_only) return TAMIS_ESEALED;
    if (t->hasher.usable) return TAMIS_OK;
    return t->hasher.id == TAMIS_OWN_HASH ? TAMIS_EUNSUPPORTED : TAMIS_EKEY;
}

tamis_status tamis_add_many(tamis *t, const tamis_bytes *keys, size_t n, uint8_t *seen_bits,
                            size_t *done)
{
    if (done != NULL) *done = 0;
    const tamis_status s = tamis__may_change_keys(t);
    const struct keys in = {.bytes = keys, .n = n};
    return s == TAMIS_OK ? tamis_add_all(t, &in, seen_bits, done) : s;
}

tamis_status tamis_add_hashes(tamis *t, const tamis_hash *h, size_t n, uint8_t *seen_bits,
                              size_t *done)
{
    if (done != NULL) *done = 0;
    if (t->read_only) return TAMIS_ESEALED;
    if ((t->kind->traits & TAMIS__TEXTS) != 0) return TAMIS_EUNSUPPORTED;
    const struct keys in = {.hashes = h, .n = n};
    size_t added;
    const tamis_status s = tamis_add_all(t, &in, seen_bits, &added);
    if (done != NULL) *done = added;
    tamis__watch_hashes(t, h, added);
    return s;
}

tamis_status tamis_add(tamis *t, const void *key, size_t len, bool *seen)
{
    if (seen != NULL) *seen = false;
    const tamis_status s = tamis__may_change_keys(t);
    if (s != TAMIS_OK) return s;
    const tamis_bytes one = {key, len};
    return tamis__add_key(t, &one, tamis__hash_key(&t->hasher, key, len), seen);
}

/* --- Asking ----------------------------------------------------------------------------------- */

static size_t say_maybe(uint8_t *bits, size_t n)
{
    if (bits == NULL) return n;
    memset(bits, 0xff, n / 8);
    if (n % 8 != 0) bits[n / 8] = (uint8_t)((1u << n % 8) - 1);
    return n;
}

size_t tamis_may_contain_many(const tamis *t, const tamis_bytes *keys, size_t n, uint8_t *bits)
{
    const struct keys in = {.bytes = keys, .n = n};
    return t->hasher.usable ? tamis__bulk_query(t, &in, bits) : say_maybe(bits, n);
}

size_t tamis_may_contain_hashes(const tamis *t, const tamis_hash *h, size_t n, uint8_t *bits)
{
    const struct keys in = {.hashes = h, .n = n};
    if (n != 1) return tamis__bulk_query(t, &in, bits);
    const bool maybe = tamis__query_key(t, *h);
    if (bits != NULL) bits[0] = maybe;
    return maybe;
}

bool tamis_may_contain(const tamis *t, const void *key, size_t len)
{
    return !t->hasher.usable || tamis__query_key(t, tamis__hash_key(&t->hasher, key, len));
}

tamis_status tamis_hash_many(const tamis *t, const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    if (!t->hasher.usable) return t->hasher.id == TAMIS_OWN_HASH ? TAMIS_EUNSUPPORTED : TAMIS_EKEY;
    tamis__hash_keys(&t->hasher, keys, n, out);
    return TAMIS_OK;
}

/* --- Excluding -------------------------------------------------------------------------------- */

tamis_status tamis__refuse(tamis_error *why, tamis_status s)
{
    if (s == TAMIS_OK) return s;
    const bool caller = s == TAMIS_EUNSUPPORTED; /* kinds that cannot were sorted out before */
    return tamis__fail(why, s, "%s",
                       caller ? "made for the caller's own hashes: use the verbs that take hashes"
                              : tamis_status_message(s));
}

static tamis_status exclude_all(tamis *t, const struct keys *in, tamis_error *why)
{
    tamis_status s = TAMIS_OK;
    if (t->kind->exclude == NULL)
        return tamis__unsupported(why, TAMIS_EXACT,
                                  "%s filters can be wrong about any key that is not in",
                                  t->kind->name);
    if (t->read_only)
        s = TAMIS_ESEALED;
    else if (in->hashes == NULL)
        s = tamis__may_change_keys(t);
    for (size_t at = 0; at < in->n && s == TAMIS_OK; at += TAMIS__MOST_BATCH) {
        tamis_hash room[TAMIS__MOST_BATCH];
        const size_t rest = in->n - at, n = rest < TAMIS__MOST_BATCH ? rest : TAMIS__MOST_BATCH;
        const struct batch b = {.hashes = tamis__hash_group(t, in, at, n, room), .n = n};
        s = t->kind->exclude(&t->body, &b);
        if (s == TAMIS_OK) t->changed = true;
    }
    return tamis__refuse(why, s);
}

tamis_status tamis_exclude_many(tamis *t, const tamis_bytes *keys, size_t n, tamis_error *why)
{
    const struct keys in = {.bytes = keys, .n = n};
    return exclude_all(t, &in, why);
}

tamis_status tamis_exclude_hashes(tamis *t, const tamis_hash *h, size_t n, tamis_error *why)
{
    const struct keys in = {.hashes = h, .n = n};
    const tamis_status s = exclude_all(t, &in, why);
    if (s == TAMIS_OK) tamis__watch_hashes(t, h, n);
    return s;
}

tamis_status tamis_exclude(tamis *t, const void *key, size_t len, tamis_error *why)
{
    const tamis_bytes one = {key, len};
    return tamis_exclude_many(t, &one, 1, why);
}

/* --- Removing, forgetting --------------------------------------------------------------------- */

static bool can_remove(const tamis *t)
{
    const bool weighs = (t->kind->traits & TAMIS__WEIGHS) != 0;
    return t->kind->remove != NULL && (!weighs || tamis__takes_away(t));
}

static tamis_status cannot_remove(const tamis *t, tamis_error *why)
{
    if ((t->kind->traits & TAMIS__WEIGHS) != 0) return tamis__cannot_take_away(t, why);
    if (t->kind->add == NULL) return tamis__refuse(why, TAMIS_ESEALED);
    return tamis__unsupported(why, TAMIS__REMOVABLE, "keys cannot be removed from %s filters",
                              t->kind->name);
}

static tamis_status remove_key(tamis *t, tamis_hash h)
{
    const tamis_status s = t->kind->remove(&t->body, h);
    if (s != TAMIS_OK) return s;
    if ((t->kind->traits & TAMIS__SECTION_ITEMS) != 0)
        tamis__sum_items(t);
    else if (t->items > 0)
        t->items--;
    t->changed = true;
    return TAMIS_OK;
}

tamis_status tamis_remove(tamis *t, const void *key, size_t len, tamis_error *why)
{
    if (!can_remove(t)) return cannot_remove(t, why);
    tamis_status s = tamis__may_change_keys(t);
    if (s == TAMIS_OK) s = remove_key(t, tamis__hash_key(&t->hasher, key, len));
    return tamis__refuse(why, s);
}

/* Goes on to the end; TAMIS_EFULL when a pair has no life left for some key, which stays in. */
static tamis_status remove_all(tamis *t, const struct keys *in, uint8_t *absent_bits,
                               tamis_error *why)
{
    tamis_status worst = TAMIS_OK;
    for (size_t at = 0; at < in->n; at += TAMIS__MOST_BATCH) {
        tamis_hash room[TAMIS__MOST_BATCH];
        uint8_t absent[TAMIS__MOST_BATCH / 8] = {0};
        const size_t rest = in->n - at, n = rest < TAMIS__MOST_BATCH ? rest : TAMIS__MOST_BATCH;
        const struct batch b = {.hashes = tamis__hash_group(t, in, at, n, room), .n = n};
        if (t->kind->prefetch != NULL) t->kind->prefetch(&t->body, &b);
        for (size_t i = 0; i < n; i++) {
            const tamis_status s = remove_key(t, b.hashes[i]);
            if (s == TAMIS_EABSENT)
                absent[i / 8] = (uint8_t)(absent[i / 8] | 1u << i % 8);
            else if (s != TAMIS_OK)
                worst = s;
        }
        if (absent_bits != NULL) memcpy(absent_bits + at / 8, absent, (n + 7) / 8);
    }
    return tamis__refuse(why, worst);
}

tamis_status tamis_remove_many(tamis *t, const tamis_bytes *keys, size_t n, uint8_t *absent_bits,
                               tamis_error *why)
{
    const struct keys in = {.bytes = keys, .n = n};
    if (!can_remove(t)) return cannot_remove(t, why);
    const tamis_status s = tamis__may_change_keys(t);
    return s == TAMIS_OK ? remove_all(t, &in, absent_bits, why) : tamis__refuse(why, s);
}

tamis_status tamis_remove_hashes(tamis *t, const tamis_hash *h, size_t n, uint8_t *absent_bits,
                                 tamis_error *why)
{
    const struct keys in = {.hashes = h, .n = n};
    if (!can_remove(t)) return cannot_remove(t, why);
    return t->read_only ? tamis__refuse(why, TAMIS_ESEALED) : remove_all(t, &in, absent_bits, why);
}

tamis_status tamis_rotate(tamis *t, tamis_error *why)
{
    if (t->kind->rotate == NULL)
        return tamis__unsupported(why, TAMIS_WINDOW, "%s filters cannot rotate", t->kind->name);
    if (t->read_only) return tamis__refuse(why, TAMIS_ESEALED);
    t->kind->rotate(&t->body);
    tamis__noise_drop(t);
    tamis__sum_items(t);
    return TAMIS_OK;
}

/* --- Together --------------------------------------------------------------------------------- */

static tamis_status check_alike(const tamis *a, const tamis *b, tamis_error *why)
{
    if (a == b) return tamis__fail(why, TAMIS_EINVAL, "a filter and itself");
    const uint16_t inner[2] = {a->body.sections->kind, b->body.sections->kind};
    if (a->kind->id == b->kind->id && inner[0] != inner[1]) /* windows, pairs */
        return tamis__fail(why, TAMIS_EMISMATCH, "one is made of %s, the other of %s",
                           tamis_kind_name(inner[0]), tamis_kind_name(inner[1]));
    if (a->kind != b->kind)
        return tamis__fail(why, TAMIS_EMISMATCH, "one is %s, the other %s", a->kind->name,
                           b->kind->name);
    if (a->hasher.id != b->hasher.id)
        return tamis__fail(why, TAMIS_EMISMATCH, "they use different hash functions");
    if (!tamis__hasher_equal(&a->hasher, &b->hasher))
        return tamis__fail(why, TAMIS_EMISMATCH, "they differ in their %s",
                           a->hasher.id == TAMIS_SIPHASH ? "secret key" : "seed");
    if (a->body.count != b->body.count)
        return tamis__fail(why, TAMIS_EMISMATCH, "they differ in their number of sections");
    for (uint32_t i = 0; i < a->body.count; i++) {
        const struct section *x = &a->body.sections[i], *y = &b->body.sections[i];
        if (x->m != y->m || x->k != y->k || x->variant != y->variant ||
            x->cell_bits != y->cell_bits)
            return tamis__fail(why, TAMIS_EMISMATCH,
                               "they differ in shape: m = %llu, k = %u and m = %llu, k = %u",
                               (unsigned long long)x->m, x->k, (unsigned long long)y->m, y->k);
    }
    return TAMIS_OK;
}

static void tamis_gauge(const tamis *t, const struct body *other, double z, struct gauge *out)
{
    memset(out, 0, sizeof *out);
    t->kind->gauge(&t->body, other, z, out);
}

/* The items of a union: a multiset's are known, a set's are estimated from the bits. */
struct count {
    uint64_t items;
    double least; /* surely */
    bool exact;
};

static struct count count_union(const tamis *a, const tamis *b)
{
    struct count c;
    struct gauge g;
    c.exact = (a->kind->traits & (TAMIS__MULTISET | TAMIS__WEIGHS)) != 0;
    if (c.exact) {
        if (!tamis__sum(a->items, b->items, &c.items)) c.items = UINT64_MAX;
        c.least = (double)c.items;
        return c;
    }
    tamis_gauge(a, &b->body, TAMIS__Z99, &g);
    c.items = (uint64_t)(g.items.value + 0.5);
    c.least = g.items.low;
    return c;
}

tamis_status tamis_merge(tamis *into, const tamis *from, tamis_error *why)
{
    if (((into->kind->traits | from->kind->traits) & TAMIS__NOISY) != 0)
        return tamis__unsupported(
            why, TAMIS_BLOOM,
            "noise adds up: private filters cannot be merged, merge their sources");
    if (into->kind->merge == NULL)
        return tamis__unsupported(why, TAMIS_BLOCKED, "%s filters cannot be merged",
                                  into->kind->name);
    tamis_status s = check_alike(into, from, why);
    if (s != TAMIS_OK) return s;
    if (into->read_only) return tamis__fail(why, TAMIS_ESEALED, "the target is read-only");
    const struct count c = count_union(into, from);
    if (into->strict && c.least > (double)into->planned_items)
        return tamis__fail(why, TAMIS_EFULL,
                           "the union has about %llu items, more than the strict plan's %llu",
                           (unsigned long long)c.items, (unsigned long long)into->planned_items);
    s = into->kind->merge(&into->body, &from->body);
    if (s != TAMIS_OK) return tamis__refuse(why, s);
    tamis__noise_drop(into);
    if ((into->kind->traits & TAMIS__SECTION_ITEMS) != 0)
        tamis__sum_items(into);
    else
        into->items = c.items;
    into->items_estimated = into->items_estimated || from->items_estimated || !c.exact;
    into->watch.suspect = into->watch.suspect || from->watch.suspect;
    into->changed = true;
    return TAMIS_OK;
}

tamis_status tamis_convert(const tamis *t, uint32_t kind, tamis **out, tamis_error *why)
{
    struct section shape;
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    if (kind == t->kind->id)
        return tamis__fail(why, TAMIS_EUNSUPPORTED,
                           "it is of kind %s already: there is nothing to convert", t->kind->name);
    const tamis_options same = tamis__same_options(t);
    if (t->kind->plain == NULL || !t->kind->plain(&t->body, &shape, NULL) || shape.kind != kind)
        return tamis__fail(why, TAMIS_EUNSUPPORTED, "no %s filter has the answers of this %s one",
                           tamis_kind_name(kind) != NULL ? tamis_kind_name(kind) : "such",
                           t->kind->name);
    tamis *plain = tamis__new(tamis__kind(kind), &same, 1);
    if (plain == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    shape.items = 0;
    plain->body.sections[0] = shape;
    tamis__assign_offsets(&plain->body);
    if (!tamis__alloc_cells(plain, true)) {
        tamis_close(plain);
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                           (unsigned long long)shape.length);
    }
    t->kind->plain(&t->body, &shape, plain->body.sections->cells);
    plain->hasher = t->hasher;
    plain->planned_items = t->planned_items;
    plain->planned_fpr = t->planned_fpr;
    plain->strict = t->strict;
    plain->watch.suspect = t->watch.suspect;
    plain->changed = true;
    struct gauge g;
    tamis_gauge(plain, NULL, TAMIS__Z99, &g);
    plain->items = (uint64_t)(g.items.value + 0.5);
    plain->items_estimated = true;
    *out = plain;
    return TAMIS_OK;
}

static double at_least(double v, double least)
{
    return v > least ? v : least;
}

tamis_status tamis_compare(const tamis *a, const tamis *b, tamis_similarity *out, tamis_error *why)
{
    tamis_status s = tamis__check_struct(out, "tamis_similarity", why);
    if (s != TAMIS_OK) return s;
    if ((a->kind->traits & TAMIS__COMPARES) == 0)
        return tamis__unsupported(why, TAMIS_BLOCKED, "%s filters cannot be compared",
                                  a->kind->name);
    s = check_alike(a, b, why);
    if (s != TAMIS_OK) return s;
    struct gauge ga, gb, gu;
    /* |A and B| = |A| + |B| - |A or B|; the three intervals hold together with 99 %. */
    tamis_gauge(a, NULL, TAMIS__Z99_OF_3, &ga);
    tamis_gauge(b, NULL, TAMIS__Z99_OF_3, &gb);
    tamis_gauge(a, &b->body, TAMIS__Z99_OF_3, &gu);
    const struct estimate ea = ga.items, eb = gb.items, eu = gu.items;
    const double smaller_high = ea.high < eb.high ? ea.high : eb.high;
    const double most = ea.high + eb.high - eu.low;
    tamis_similarity r = {
        .union_items = eu.value,
        .union_low = eu.low,
        .union_high = eu.high,
        .common_items = at_least(ea.value + eb.value - eu.value, 0),
        .common_low = at_least(ea.low + eb.low - eu.high, 0),
        .common_high = most < smaller_high ? at_least(most, 0) : smaller_high,
    };
    r.jaccard = eu.value > 0 ? r.common_items / eu.value : 0;
    r.jaccard_low = eu.high > 0 ? r.common_low / eu.high : 0;
    r.jaccard_high = eu.low > 0 && r.common_high < eu.low ? r.common_high / eu.low : 1;
    if (eu.value <= 0) r.jaccard_high = 0;
    tamis__give_struct(out, &r, sizeof r);
    return TAMIS_OK;
}

/* --- Looking inside --------------------------------------------------------------------------- */

static tamis_status tamis_look(const tamis *t, tamis_facts *out)
{
    struct gauge g;
    tamis_gauge(t, NULL, TAMIS__Z99, &g);
    const double items = (double)t->items;
    const struct estimate e = /* what is sealed cannot be counted */
        (t->kind->traits & TAMIS__STATIC) != 0 ? (struct estimate){items, items, items} : g.items;
    const bool empty = t->items == 0;
    tamis__known_facts(t, out);
    /* An estimate is a reason for alarm only when it is sure to be too many. */
    const double held = g.held > 0 ? g.held : t->items_estimated ? e.low : (double)t->items;
    out->over_full =
        (t->kind->traits & (TAMIS__GROWS | TAMIS__WEIGHS)) == 0 && held > (double)t->planned_items;
    /* One generation may have more than its share while the others have less. */
    if (t->kind->rotate != NULL && g.rate <= t->planned_fpr) out->over_full = false;
    out->miss_rate = g.miss_rate;
    out->epsilon = g.epsilon;
    out->saturated = g.saturated;
    out->overflow = g.overflow;
    out->excluded = g.excluded;
    out->fpr_now = out->fpr_now_low = out->fpr_now_high = g.rate;
    out->items_estimate = e.value;
    out->items_low = e.low;
    out->items_high = e.high;
    out->fill = (double)g.hit / (double)g.cells;
    /* Of a counting filter that surely has keys more than once, the keys count. */
    const double distinct = t->kind->id == TAMIS_COUNTING && items > e.high ? e.value : items;
    out->bits_per_item = 8 * (double)out->bytes / (empty ? (double)t->planned_items : distinct);
    out->bound_bits = log2(1 / (empty || g.rate <= 0 ? t->planned_fpr : g.rate));
    const double sets = tamis__two_set_bound(items, (double)g.excluded);
    if (sets > out->bound_bits) out->bound_bits = sets;
    out->bound_ratio = out->bits_per_item / out->bound_bits;
    return (t->kind->traits & TAMIS__WEIGHS) != 0 ? tamis__weight_facts(t, out) : TAMIS_OK;
}

tamis_status tamis_info(const tamis *t, tamis_facts *out)
{
    tamis_facts f;
    tamis_status s = tamis__check_struct(out, "tamis_facts", NULL);
    if (s == TAMIS_OK) s = tamis_look(t, &f);
    if (s == TAMIS_OK) tamis__give_struct(out, &f, sizeof f);
    return s;
}

size_t tamis_cells_of(const tamis *t, const void *key, size_t len, uint64_t *cells, size_t max)
{
    if (!t->hasher.usable || t->kind->cells_of == NULL) return 0;
    return t->kind->cells_of(&t->body, tamis__hash_key(&t->hasher, key, len), cells, max);
}

uint64_t tamis_cell(const tamis *t, uint64_t cell)
{
    const struct section *s = t->body.sections;
    if (t->kind->cells_of == NULL || cell >= s->length * 8 / s->cell_bits) return 0;
    return tamis__cell(s, cell);
}
