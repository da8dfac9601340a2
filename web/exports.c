/* The functions for filters and for URLs, which core.mjs and guard.mjs call. */
#include "../guard/url/hash.h"
#include "../guard/url/url.h"
#include "common.h"

#include <stdlib.h>
#include <string.h>
#include <tamis/inspect.h>
#include <tamis/map.h>

/* --- Life cycle ------------------------------------------------------------------------------- */

static tamis_status solve(const double *n, tamis_plan *plan, tamis_promise *promise)
{
    *plan = (tamis_plan){.struct_size = sizeof *plan,
                         .kind = (uint32_t)n[0],
                         .flags = (uint32_t)n[1],
                         .items = (uint64_t)n[2],
                         .fpr = n[3],
                         .bytes = (uint64_t)n[4],
                         .m = (uint64_t)n[5],
                         .k = (uint32_t)n[6],
                         .cell_bits = (uint32_t)n[7],
                         .inner_kind = (uint32_t)n[8],
                         .encoding = (uint32_t)n[9],
                         .key_width = (uint32_t)n[10],
                         .seed = (uint64_t)n[12] << 32 | (uint64_t)n[11]};
    promise->struct_size = sizeof *promise;
    return tamis_solve(plan, promise, &web_why);
}

/* Takes the request from `web_numbers`, and puts the answer there. */
EXPORT(plan) int web_plan(void)
{
    tamis_plan p;
    tamis_promise r;
    const tamis_status s = solve(web_numbers, &p, &r);
    if (s != TAMIS_OK) return s;
    const double out[] = {p.kind,
                          p.flags,
                          (double)p.items,
                          p.fpr,
                          (double)p.bytes,
                          (double)p.m,
                          p.k,
                          p.cell_bits,
                          p.inner_kind,
                          p.encoding,
                          p.key_width,
                          r.fpr_asymptotic,
                          r.bits_per_item,
                          r.bound_bits,
                          r.bound_ratio,
                          r.overflow,
                          (double)r.packed_bytes,
                          r.bound};
    memcpy(web_numbers, out, sizeof out);
    return s;
}

EXPORT(create) tamis *web_create(const uint8_t *key, double max_bytes)
{
    tamis_plan p;
    tamis_promise r;
    tamis *t = NULL;
    const tamis_options o = web_options(key, 0, max_bytes);
    if (solve(web_numbers, &p, &r) == TAMIS_OK) tamis_create(&p, &o, &t, &web_why);
    return t;
}

EXPORT(seal) int web_seal(tamis *t)
{
    return tamis_seal(t, &web_why);
}

/* --- Keys ------------------------------------------------------------------------------------- */

EXPORT(has) int web_has(const tamis *t, const void *key, size_t len)
{
    return tamis_may_contain(t, key, len);
}

/* For images of the caller's own hashes: 16 bytes, lo and hi. */
EXPORT(hasHash) int web_has_hash(const tamis *t, const uint8_t *bytes)
{
    tamis_hash h;
    uint8_t bit;
    memcpy(&h, bytes, sizeof h);
    return tamis_may_contain_hashes(t, &h, 1, &bit) == 1;
}

/* Returns the value of a key in a map, or a negative status. */
EXPORT(value) double web_value(const tamis *t, const void *key, size_t len)
{
    uint32_t value;
    const tamis_status s = tamis_value(t, key, len, &value);
    return s == TAMIS_OK ? (double)value : web_because(s);
}

EXPORT(remove) int web_remove(tamis *t, const void *key, size_t len)
{
    return tamis_remove(t, key, len, &web_why);
}

/* --- Facts ------------------------------------------------------------------------------------ */

EXPORT(info) int web_info(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    const tamis_status s = tamis_info(t, &f);
    if (s != TAMIS_OK) return web_because(s);
    const double out[] = {f.kind,
                          f.hash,
                          (double)f.m,
                          f.k,
                          f.cell_bits,
                          f.format,
                          (double)f.generation,
                          f.sections,
                          (double)f.bytes,
                          (double)f.items,
                          (double)f.planned_items,
                          (double)f.excluded,
                          (double)f.saturated,
                          f.fpr_planned,
                          f.fpr_now,
                          f.fpr_now_low,
                          f.fpr_now_high,
                          f.miss_rate,
                          f.overflow,
                          f.items_estimate,
                          f.items_low,
                          f.items_high,
                          f.fill,
                          f.bits_per_item,
                          f.bound_bits,
                          f.bound_ratio,
                          f.may_miss,
                          f.keyed,
                          f.strict,
                          f.auto_rotate,
                          f.sealed,
                          f.collecting,
                          f.read_only,
                          f.overfull,
                          f.items_estimated,
                          f.hash_suspect,
                          f.encoding,
                          f.key_width,
                          (double)(uint32_t)f.seed,
                          (double)(f.seed >> 32),
                          f.bound};
    _Static_assert(sizeof out <= sizeof web_numbers, "web_numbers has room");
    memcpy(web_numbers, out, sizeof out);
    return s;
}

/* --- URLs ------------------------------------------------------------------------------------- */

static guard_url url;
static char *url_room;
static guard_span expressions[GUARD_URL_EXPRESSIONS];
static uint8_t hashes[GUARD_URL_EXPRESSIONS][GUARD_HASH_SIZE];
static size_t n_expressions;

EXPORT(sha256) const uint8_t *web_sha256(const char *bytes, size_t n)
{
    static uint8_t hash[GUARD_HASH_SIZE];
    guard_hash((guard_span){bytes, n}, hash);
    return hash;
}

/* Returns the number of expressions, or a negative status. */
EXPORT(url) int web_url(const char *text, size_t len)
{
    n_expressions = 0;
    free(url_room);
    url_room = len < (size_t)1 << 28 ? malloc(GUARD_URL_ROOM(len)) : NULL;
    const guard_url_status s =
        guard_url_canonical(text, len, NULL, url_room, url_room ? GUARD_URL_ROOM(len) : 0, &url);
    if (s != GUARD_URL_OK) {
        const char *message = guard_url_message(s);
        web_why = (tamis_error){.status = TAMIS_EINVAL};
        memcpy(web_why.text, message, strlen(message));
        return s;
    }
    n_expressions = guard_url_expressions(&url, expressions);
    for (size_t i = 0; i < n_expressions; i++) guard_hash(expressions[i], hashes[i]);
    return (int)n_expressions;
}

EXPORT(urlText) const char *web_url_text(void)
{
    return url.text;
}

/* Reports whether the host should be converted to Punycode first. */
EXPORT(urlEscaped) int web_url_escaped(void)
{
    return url.escaped_name;
}

/* Returns pairs of an address and a length. */
EXPORT(expressions) const guard_span *web_expressions(void)
{
    return expressions;
}

EXPORT(hashes) const uint8_t *web_hashes(void)
{
    return hashes[0];
}

/* Reports whether the prefix of a hash is in the sorted list. */
static bool is_removed_hash(const uint8_t *removed, size_t n, const uint8_t *hash)
{
    size_t from = 0;
    while (from < n) {
        const size_t middle = from + (n - from) / 2;
        const int order = memcmp(removed + 4 * middle, hash, 4);
        if (order == 0) return true;
        if (order < 0)
            from = middle + 1;
        else
            n = middle;
    }
    return false;
}

/* Returns the expressions that may be listed, one bit each (guard/version/guard.h). The delta and
 * the removed prefixes may be missing. */
EXPORT(maybes)
uint32_t web_maybes(const tamis *filter, const tamis *delta, const uint8_t *removed, size_t n)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < n_expressions; i++) {
        const bool in = tamis_may_contain(filter, hashes[i], GUARD_HASH_SIZE) ||
                        (delta != NULL && tamis_may_contain(delta, hashes[i], GUARD_HASH_SIZE));
        if (in && !is_removed_hash(removed, n, hashes[i])) bits |= UINT32_C(1) << i;
    }
    return bits;
}

/* Returns the number of the label that the filter has for an expression, or a negative status. The
 * delta comes first: an expression that got another label is in both. */
EXPORT(label) double web_label(const tamis *filter, const tamis *delta, size_t i)
{
    uint32_t value;
    if (delta != NULL && tamis_value(delta, hashes[i], GUARD_HASH_SIZE, &value) == TAMIS_OK)
        return value;
    return web_value(filter, hashes[i], GUARD_HASH_SIZE);
}
