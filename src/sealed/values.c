/* Values with keys: the verbs of <tamis/map.h>. */
#include "../core/bulk.h"
#include "../core/encoding.h"
#include "../core/error.h"

#include <tamis/map.h>

static bool is_map(const tamis *t)
{
    return t->kind->sealing != NULL && t->kind->sealing->value != NULL;
}

static tamis_status is_no_map(const tamis *t, tamis_error *why)
{
    return tamis__unsupported(why, TAMIS_VALUE_MAP, "%s %s have no values", t->kind->name,
                              tamis__plural(&t->body));
}

/* --- Adding ----------------------------------------------------------------------------------- */

/* The number of the first value with too many bits, or n. */
static size_t first_too_big(const tamis *t, const uint32_t *values, size_t n)
{
    const unsigned bits = t->body.sections->cell_bits;
    size_t i = 0;
    while (i < n && (uint64_t)values[i] >> bits == 0) i++;
    return i;
}

static tamis_status value_too_big(const tamis *t, uint32_t value, tamis_error *why)
{
    return tamis__fail(why, TAMIS_EINVAL, "the value %lu has more than %u bits",
                       (unsigned long)value, t->body.sections->cell_bits);
}

/* Adds the keys before the first that cannot be added, which is then the reason of the failure. */
static tamis_status values_add(tamis *t, const struct keys *in, size_t *done, tamis_error *why)
{
    struct keys right = *in;
    size_t added = 0;
    if (done != NULL) *done = 0;
    if (!is_map(t)) return is_no_map(t, why);
    const tamis_status may = !tamis__are_hashes(in) ? tamis__may_change_keys(t)
                             : t->read_only         ? TAMIS_ESEALED
                                                    : TAMIS_OK;
    if (may != TAMIS_OK) return tamis__refuse(why, may);
    if (in->bytes != NULL) right.n = tamis__right_keys(t, in->bytes, in->n);
    const size_t small = first_too_big(t, in->values, right.n);
    right.n = small;
    const tamis_status s = tamis__bulk_add(t, &right, NULL, &added);
    if (in->hashes != NULL) tamis__watch_hashes(t, in->hashes, added);
    if (done != NULL) *done = added;
    if (s != TAMIS_OK) return tamis__refuse(why, s);
    if (small == in->n) return TAMIS_OK;
    if (in->bytes != NULL && tamis__wrong_length(t, in->bytes[small].len))
        return tamis__check_length(t, in->bytes[small].len, why);
    return value_too_big(t, in->values[small], why);
}

tamis_status tamis_add_value_many(tamis *t, const tamis_bytes *keys, const uint32_t *values,
                                  size_t n, size_t *done, tamis_error *why)
{
    const struct keys in = {.bytes = keys, .values = values, .n = n};
    return values_add(t, &in, done, why);
}

tamis_status tamis_add_value_hashes(tamis *t, const tamis_hash *h, const uint32_t *values, size_t n,
                                    size_t *done, tamis_error *why)
{
    const struct keys in = {.hashes = h, .values = values, .n = n};
    return values_add(t, &in, done, why);
}

tamis_status tamis_add_value(tamis *t, const void *key, size_t len, uint32_t value,
                             tamis_error *why)
{
    const tamis_bytes one = {key, len};
    return tamis_add_value_many(t, &one, &value, 1, NULL, why);
}

/* --- Looking up ------------------------------------------------------------------------------- */

static tamis_status may_look_up(const tamis *t, bool hashes, tamis_error *why)
{
    if (!is_map(t)) return is_no_map(t, why);
    if (!t->sealed)
        return tamis__fail(why, TAMIS_EINVAL, "a map has no values before it is sealed");
    if (hashes || t->hasher.usable) return TAMIS_OK;
    return tamis__refuse(why, t->hasher.id == TAMIS_CALLER_HASH ? TAMIS_EUNSUPPORTED : TAMIS_EKEY);
}

struct looking_up {
    const tamis *t;
    uint32_t *values;
    uint8_t *found_bits;
};

static void look_up_group(void *ctx, const struct batch *group, size_t from)
{
    const struct looking_up *l = ctx;
    for (size_t i = 0; i < group->n; i++) {
        const size_t at = from + i;
        uint32_t value;
        const bool found = l->t->kind->sealing->value(&l->t->body, group->hashes[i], &value);
        l->values[at] = found ? value : 0;
        if (l->found_bits != NULL)
            l->found_bits[at / 8] = (uint8_t)(l->found_bits[at / 8] | found << at % 8);
    }
}

static void look_up(const tamis *t, const struct keys *in, uint32_t *values, uint8_t *found_bits)
{
    struct looking_up l = {t, values, found_bits};
    if (found_bits != NULL) memset(found_bits, 0, (in->n + 7) / 8);
    tamis__bulk_count(t, in, look_up_group, &l);
}

tamis_status tamis_value_many(const tamis *t, const tamis_bytes *keys, size_t n, uint32_t *values,
                              uint8_t *found_bits, tamis_error *why)
{
    const struct keys in = {.bytes = keys, .n = n};
    tamis_status s = may_look_up(t, false, why);
    if (s == TAMIS_OK) s = tamis__check_lengths(t, keys, n, why);
    if (s == TAMIS_OK) look_up(t, &in, values, found_bits);
    return s;
}

tamis_status tamis_value_hashes(const tamis *t, const tamis_hash *h, size_t n, uint32_t *values,
                                uint8_t *found_bits, tamis_error *why)
{
    const struct keys in = {.hashes = h, .n = n};
    const tamis_status s = may_look_up(t, true, why);
    if (s == TAMIS_OK) look_up(t, &in, values, found_bits);
    return s;
}

tamis_status tamis_value(const tamis *t, const void *key, size_t len, uint32_t *value)
{
    *value = 0;
    const tamis_status s = may_look_up(t, false, NULL);
    if (s != TAMIS_OK) return s;
    if (tamis__wrong_length(t, len)) return TAMIS_EINVAL;
    uint32_t found;
    if (!t->kind->sealing->value(&t->body, tamis__hash_key(&t->hasher, key, len), &found))
        return TAMIS_EABSENT;
    *value = found;
    return TAMIS_OK;
}
