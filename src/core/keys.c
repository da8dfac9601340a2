/* The functions that take keys: add, query, exclude and remove. Also rotate, which forgets keys. */
#include "../frequency/noise.h"
#include "bulk.h"
#include "encoding.h"
#include "error.h"
#include "gate.h"
#include "generations.h"
#include "handle.h"

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
    return t->hasher.id == TAMIS_CALLER_HASH ? TAMIS_EUNSUPPORTED : TAMIS_EKEY;
}

tamis_status tamis_add_many(tamis *t, const tamis_bytes *keys, size_t n, uint8_t *seen_bits,
                            size_t *done)
{
    if (done != NULL) *done = 0;
    tamis_status s = tamis__may_change_keys(t);
    if (s != TAMIS_OK) return s;
    const struct keys in = {.bytes = keys, .n = tamis__right_keys(t, keys, n)};
    s = tamis_add_all(t, &in, seen_bits, done);
    if (in.n == n) return s;
    if (seen_bits != NULL) memset(seen_bits + (in.n + 7) / 8, 0, (n + 7) / 8 - (in.n + 7) / 8);
    return s == TAMIS_OK ? TAMIS_EINVAL : s;
}

/* tamis_add_all of a single hash. */
static tamis_status add_one(tamis *t, tamis_hash h, uint8_t *seen_bits, size_t *done)
{
    bool known;
    bool *const seen = seen_bits != NULL ? &known : NULL;
    const tamis_status s =
        t->own_adds ? t->single.own->add_hash(t, h, seen) : tamis__add_key(t, NULL, h, seen);
    if (seen_bits != NULL) *seen_bits = known;
    if (done != NULL) *done = s == TAMIS_OK;
    return s;
}

tamis_status tamis_add_hashes(tamis *t, const tamis_hash *h, size_t n, uint8_t *seen_bits,
                              size_t *done)
{
    if (done != NULL) *done = 0;
    if (t->read_only) return TAMIS_ESEALED;
    if (tamis__keeps_items(t)) return TAMIS_EUNSUPPORTED;
    const struct keys in = {.hashes = h, .n = n};
    size_t added;
    const tamis_status s =
        n == 1 ? add_one(t, *h, seen_bits, &added) : tamis_add_all(t, &in, seen_bits, &added);
    if (done != NULL) *done = added;
    tamis__watch_hashes(t, h, added);
    return s;
}

tamis_status tamis_add_hash64(tamis *t, const uint64_t *h, size_t n, uint8_t *seen_bits,
                              size_t *done)
{
    if (done != NULL) *done = 0;
    if (t->read_only) return TAMIS_ESEALED;
    if (tamis__keeps_items(t)) return TAMIS_EUNSUPPORTED;
    const struct keys in = {.words = h, .n = n};
    return n == 1 ? add_one(t, tamis_hash64(*h), seen_bits, done)
                  : tamis_add_all(t, &in, seen_bits, done);
}

tamis_status tamis_add(tamis *t, const void *key, size_t len, bool *seen)
{
    return t->single.add(t, key, len, seen);
}

/* --- Querying --------------------------------------------------------------------------------- */

size_t tamis__all_maybe(uint8_t *bits, size_t n)
{
    if (bits == NULL) return n;
    memset(bits, 0xff, n / 8);
    if (n % 8 != 0) bits[n / 8] = (uint8_t)((1u << n % 8) - 1);
    return n;
}

/* Keys of which some have a wrong length. */
static size_t query_mixed(const tamis *t, const tamis_bytes *keys, size_t n, uint8_t *bits)
{
    size_t count = 0;
    if (bits != NULL) memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n; i++) {
        const bool maybe = tamis_may_contain(t, keys[i].p, keys[i].len);
        if (bits != NULL) bits[i / 8] = (uint8_t)(bits[i / 8] | maybe << i % 8);
        count += maybe;
    }
    return count;
}

size_t tamis_may_contain_many(const tamis *t, const tamis_bytes *keys, size_t n, uint8_t *bits)
{
    const struct keys in = {.bytes = keys, .n = n};
    if (!t->hasher.usable) return tamis__all_maybe(bits, n);
    if (tamis__right_keys(t, keys, n) < n) return query_mixed(t, keys, n, bits);
    return tamis__bulk_query(t, &in, bits);
}

/* A single hash; bits may be NULL. */
static inline size_t ask_one(const tamis *t, tamis_hash h, uint8_t *bits)
{
    const bool maybe = t->single.own->ask_hash(t, h);
    if (bits != NULL) bits[0] = maybe;
    return maybe;
}

size_t tamis_may_contain_hashes(const tamis *t, const tamis_hash *h, size_t n, uint8_t *bits)
{
    const struct keys in = {.hashes = h, .n = n};
    return n == 1 ? ask_one(t, *h, bits) : tamis__bulk_query(t, &in, bits);
}

size_t tamis_may_contain_hash64(const tamis *t, const uint64_t *h, size_t n, uint8_t *bits)
{
    const struct keys in = {.words = h, .n = n};
    return n == 1 ? ask_one(t, tamis_hash64(*h), bits) : tamis__bulk_query(t, &in, bits);
}

bool tamis_may_contain(const tamis *t, const void *key, size_t len)
{
    return t->single.ask(t, key, len);
}

tamis_hash tamis_hash_bytes(uint64_t seed, const void *key, size_t len)
{
    const struct hasher h = {.id = TAMIS_XXH3, .seed = seed};
    return tamis__hash_key(&h, key, len);
}

tamis_status tamis_hash_many(const tamis *t, const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    if (!t->hasher.usable)
        return t->hasher.id == TAMIS_CALLER_HASH ? TAMIS_EUNSUPPORTED : TAMIS_EKEY;
    if (tamis__right_keys(t, keys, n) < n) return TAMIS_EINVAL;
    tamis__hash_keys(&t->hasher, keys, n, out);
    return TAMIS_OK;
}

/* --- Excluding -------------------------------------------------------------------------------- */

tamis_status tamis__refuse(tamis_error *why, tamis_status s)
{
    if (s == TAMIS_OK) return s;
    const bool caller = s == TAMIS_EUNSUPPORTED; /* kinds without the operation failed before */
    return tamis__fail(why, s, "%s",
                       caller ? "made for the caller's own hashes; use the "
                                "functions that take hashes"
                              : tamis_status_message(s));
}

static tamis_status exclude_all(tamis *t, const struct keys *in, tamis_error *why)
{
    tamis_status s = TAMIS_OK;
    if (t->kind->sealing == NULL || t->kind->sealing->exclude == NULL)
        return tamis__unsupported(why, TAMIS_EXACT, "%s filters can be wrong about any non-member",
                                  t->kind->name);
    if (t->read_only)
        s = TAMIS_ESEALED;
    else if (!tamis__are_hashes(in))
        s = tamis__may_change_keys(t);
    if (s == TAMIS_OK && in->bytes != NULL) {
        s = tamis__check_lengths(t, in->bytes, in->n, why);
        if (s != TAMIS_OK) return s;
    }
    for (size_t at = 0; at < in->n && s == TAMIS_OK; at += TAMIS__MOST_BATCH) {
        tamis_hash room[TAMIS__MOST_BATCH];
        const size_t rest = in->n - at, n = rest < TAMIS__MOST_BATCH ? rest : TAMIS__MOST_BATCH;
        const struct batch b = {.hashes = tamis__hash_group(t, in, at, n, room), .n = n};
        s = t->kind->sealing->exclude(&t->body, &b);
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

tamis_status tamis_exclude_hash64(tamis *t, const uint64_t *h, size_t n, tamis_error *why)
{
    const struct keys in = {.words = h, .n = n};
    return exclude_all(t, &in, why);
}

tamis_status tamis_exclude(tamis *t, const void *key, size_t len, tamis_error *why)
{
    const tamis_bytes one = {key, len};
    return tamis_exclude_many(t, &one, 1, why);
}

/* --- Removing and rotating -------------------------------------------------------------------- */

bool tamis__removes(const tamis *t)
{
    return t->kind->remove != NULL && (tamis__sketch(t) == NULL || tamis__takes_away(t));
}

static tamis_status not_planned(const tamis *t, tamis_error *why)
{
    tamis__fail(why, TAMIS_EUNSUPPORTED,
                "keys can be removed from a %s filter only if it is planned with TAMIS_REMOVABLE",
                t->kind->name);
    if (why != NULL) why->better_kind = t->kind->id;
    return TAMIS_EUNSUPPORTED;
}

static tamis_status cannot_remove(const tamis *t, tamis_error *why)
{
    if (tamis__sketch(t) != NULL) return tamis__cannot_take_away(t, why);
    if (t->kind->add == NULL) return tamis__refuse(why, TAMIS_ESEALED);
    if (tamis__removable_kind(t->kind->id) != NULL) return not_planned(t, why);
    return tamis__unsupported(why, TAMIS__REMOVABLE, "keys cannot be removed from %s %s",
                              t->kind->name, tamis__plural(&t->body));
}

static tamis_status remove_key(tamis *t, tamis_hash h)
{
    const tamis_status s = t->kind->remove(&t->body, h);
    if (s != TAMIS_OK) return s;
    if ((t->kind->traits & TAMIS__SECTION_TOTALS) != 0)
        tamis__sum_totals(t);
    else if (t->items > 0)
        t->items--;
    t->changed = true;
    return TAMIS_OK;
}

tamis_status tamis_remove(tamis *t, const void *key, size_t len, tamis_error *why)
{
    if (!tamis__removes(t)) return cannot_remove(t, why);
    tamis_status s = tamis__may_change_keys(t);
    if (s == TAMIS_OK && tamis__wrong_length(t, len)) return tamis__check_length(t, len, why);
    if (s == TAMIS_OK) s = remove_key(t, tamis__hash_key(&t->hasher, key, len));
    return tamis__refuse(why, s);
}

/* Removes all keys, even after a failure. Fails with TAMIS_EFULL if a pair has no life left for
 * some key, which remains a member. */
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
    if (!tamis__removes(t)) return cannot_remove(t, why);
    tamis_status s = tamis__may_change_keys(t);
    if (s != TAMIS_OK) return tamis__refuse(why, s);
    s = tamis__check_lengths(t, keys, n, why);
    return s == TAMIS_OK ? remove_all(t, &in, absent_bits, why) : s;
}

tamis_status tamis_remove_hashes(tamis *t, const tamis_hash *h, size_t n, uint8_t *absent_bits,
                                 tamis_error *why)
{
    const struct keys in = {.hashes = h, .n = n};
    if (!tamis__removes(t)) return cannot_remove(t, why);
    return t->read_only ? tamis__refuse(why, TAMIS_ESEALED) : remove_all(t, &in, absent_bits, why);
}

tamis_status tamis_remove_hash64(tamis *t, const uint64_t *h, size_t n, uint8_t *absent_bits,
                                 tamis_error *why)
{
    const struct keys in = {.words = h, .n = n};
    if (!tamis__removes(t)) return cannot_remove(t, why);
    return t->read_only ? tamis__refuse(why, TAMIS_ESEALED) : remove_all(t, &in, absent_bits, why);
}

/* More rotations than there are generations forget no more. */
static void rotate_times(tamis *t, uint64_t times)
{
    const uint64_t most = tamis__generations(&t->body);
    tamis__noise_rotate(t, times);
    for (uint64_t i = 0; i < times && i < most; i++) t->kind->rotate(&t->body);
    tamis__sum_totals(t);
}

/* The gate of a shared window is closed, so that threads which use the same clock rotate once. */
static tamis_status rotate_forward(tamis *t, uint64_t epoch, tamis_error *why)
{
    if (epoch < tamis__extra(t)->epoch)
        return tamis__fail(why, TAMIS_EINVAL,
                           "epoch %llu is in the past: the window is at epoch %llu",
                           (unsigned long long)epoch, (unsigned long long)tamis__extra(t)->epoch);
    if (epoch == tamis__extra(t)->epoch) return TAMIS_OK;
    rotate_times(t, tamis__extra(t)->epoch == 0 ? 0 : epoch - tamis__extra(t)->epoch);
    __atomic_store_n(&tamis__extra(t)->epoch, epoch, __ATOMIC_RELEASE);
    return TAMIS_OK;
}

tamis_status tamis_rotate(tamis *t, tamis_error *why)
{
    if (t->kind->rotate == NULL)
        return tamis__unsupported(why, TAMIS_WINDOW, "%s filters cannot rotate", t->kind->name);
    if (t->read_only) return tamis__refuse(why, TAMIS_ESEALED);
    tamis__gate_close(t->body.extra->gate);
    rotate_times(t, 1);
    tamis__gate_open(t->body.extra->gate);
    return TAMIS_OK;
}

tamis_status tamis_rotate_to(tamis *t, uint64_t epoch, tamis_error *why)
{
    if (t->kind->rotate == NULL)
        return tamis__unsupported(why, TAMIS_WINDOW, "%s filters cannot rotate", t->kind->name);
    if (t->read_only) return tamis__refuse(why, TAMIS_ESEALED);
    if (epoch == 0) return tamis__fail(why, TAMIS_EINVAL, "epoch 0 means that there is none");
    if (epoch == __atomic_load_n(&tamis__extra(t)->epoch, __ATOMIC_ACQUIRE)) return TAMIS_OK;
    tamis__gate_close(t->body.extra->gate);
    const tamis_status s = rotate_forward(t, epoch, why);
    tamis__gate_open(t->body.extra->gate);
    return s;
}
