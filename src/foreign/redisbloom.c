/* RedisBloom's Bloom filters as the data of all chunks of BF.SCANDUMP, one after the other
 * (redisbloom.h has the layout): a chain of links, of which only the last is added to. A chunk has
 * at most 16 MiB and belongs to one link, so the lengths of the links determine the chunks. */
#include "redisbloom.h"

#include "foreign.h"

/* --- What both forms contain ------------------------------------------------------------------ */

const char *tamis__redis_wrong_link(const struct link *l)
{
    if (l->m == 0 || l->bytes > UINT64_MAX / 8 || l->m > 8 * l->bytes || 8 * l->bytes - l->m >= 64)
        return "this RedisBloom filter's numbers of bits and bytes disagree";
    if (l->log2 > 63 || (l->log2 > 0 && l->m != UINT64_C(1) << l->log2))
        return "this RedisBloom filter claims a power of two of bits, but has another number";
    if (!(l->error > 0 && l->error < 1)) return "the rate of this RedisBloom filter is wrong";
    if (l->capacity == 0) return "this RedisBloom filter is planned for no items";
    if (l->k == 0 || l->k > MOST_PROBES || redisbloom_probes(l->bits_per_entry) != l->k)
        return "this RedisBloom filter has a wrong number of probes";
    return NULL;
}

/* Reports bits in the last word that no key sets: they are damage, and would be counted as keys. */
static bool past_end(const struct link *l)
{
    if (l->m % 8 != 0 && l->bits[l->m / 8] >> l->m % 8 != 0) return true;
    for (uint64_t i = l->m / 8 + (l->m % 8 != 0); i < l->bytes; i++)
        if (l->bits[i] != 0) return true;
    return false;
}

/* Returns a reason why these links are not a valid chain, or NULL. */
static const char *wrong_chain(const tamis_foreign *f)
{
    uint64_t items = 0;
    for (uint32_t i = 0; i < f->n_links; i++) items += f->links[i].items;
    if (items != f->items) return "the items of this RedisBloom filter's links do not add up";
    if ((f->options & ~(uint32_t)REDISBLOOM_OPTIONS) != 0)
        return "this RedisBloom filter has unknown options";
    for (uint32_t i = 0; i < f->n_links; i++)
        if (past_end(&f->links[i])) return "this RedisBloom filter has bits set beyond its end";
    return NULL;
}

tamis_status tamis__redis_finish(tamis_foreign *f, tamis_foreign **out, tamis_error *why)
{
    tamis_status s = TAMIS_OK;
    const char *reason = wrong_chain(f);
    if (reason != NULL)
        s = tamis__corrupt(why, 0, reason);
    else if ((f->options & REDISBLOOM_HASH_64) == 0)
        s = tamis__fail(why, TAMIS_EUNSUPPORTED,
                        "this RedisBloom filter has 32-bit hashes, from a version before 2");
    if (s != TAMIS_OK) {
        tamis_foreign_close(f);
        return s;
    }
    f->planned_items = 0;
    for (uint32_t i = 0; i < f->n_links; i++)
        if (!tamis__sum(f->planned_items, f->links[i].capacity, &f->planned_items))
            f->planned_items = UINT64_MAX;
    f->fpr_planned = f->links[0].error * ((f->options & REDISBLOOM_FIXED) != 0 ? 1 : 2);
    *out = f;
    return TAMIS_OK;
}

tamis_hash tamis__redis_hash(const void *key, size_t len)
{
    const struct redisbloom_hash h = redisbloom_hash(key, len);
    return (tamis_hash){h.a, h.b};
}

bool tamis__redis_probe(const struct link *l, uint8_t *own, tamis_hash h)
{
    bool all = true;
    uint64_t at = h.lo;
    for (uint32_t i = 0; i < l->k; i++, at += h.hi) {
        const uint64_t bit = at % l->m;
        all &= tamis__touch(l, own, bit >> 3, bit & 7);
        if (!all && own == NULL) return false;
    }
    return all;
}

uint64_t tamis__redis_first_byte(const struct link *l, tamis_hash h)
{
    return h.lo % l->m >> 3;
}

/* Does the same as BF.RESERVE: the first link has half the rate, so that the rates of all links
 * that may follow add up to the whole. */
tamis_status tamis__redis_shape(const tamis_foreign_plan *plan, tamis_foreign *f, tamis_error *why)
{
    const double error = plan->fpr / 2, bits_per_entry = redisbloom_bits_per_item(error);
    const uint64_t bits = (uint64_t)((double)plan->items * bits_per_entry);
    (void)why; /* 2^52 items at 1e-18 are 2^59 bits */
    struct link *l = &f->links[0];
    l->bytes = 8 * (bits / 64 + (bits % 64 != 0));
    l->m = 8 * l->bytes;
    l->error = error;
    l->bits_per_entry = bits_per_entry;
    l->k = (uint32_t)redisbloom_probes(bits_per_entry);
    l->capacity = plan->items;
    f->options = REDISBLOOM_NO_ROUND | REDISBLOOM_HASH_64;
    f->growth = 2;
    f->items_known = true;
    return TAMIS_OK;
}

/* --- The data of SCANDUMP --------------------------------------------------------------------- */

static double get_double(const uint8_t *p)
{
    const uint64_t bits = tamis__get64(p);
    double v;
    memcpy(&v, &bits, sizeof v);
    return v;
}

static void put_double(uint8_t *p, double v)
{
    uint64_t bits;
    memcpy(&bits, &v, sizeof bits);
    tamis__put64(p, bits);
}

static void get_link(const uint8_t *p, struct link *l)
{
    l->bytes = tamis__get64(p + REDISBLOOM_LINK_BYTES);
    l->m = tamis__get64(p + REDISBLOOM_LINK_BITS);
    l->items = tamis__get64(p + REDISBLOOM_LINK_ITEMS);
    l->error = get_double(p + REDISBLOOM_LINK_ERROR);
    l->bits_per_entry = get_double(p + REDISBLOOM_LINK_BITS_PER_ITEM);
    l->k = tamis__get32(p + REDISBLOOM_LINK_PROBES);
    l->capacity = tamis__get64(p + REDISBLOOM_LINK_CAPACITY);
    l->log2 = p[REDISBLOOM_LINK_LOG2];
}

static void redisbloom_put_link(uint8_t *p, const struct link *l)
{
    tamis__put64(p + REDISBLOOM_LINK_BYTES, l->bytes);
    tamis__put64(p + REDISBLOOM_LINK_BITS, l->m);
    tamis__put64(p + REDISBLOOM_LINK_ITEMS, l->items);
    put_double(p + REDISBLOOM_LINK_ERROR, l->error);
    put_double(p + REDISBLOOM_LINK_BITS_PER_ITEM, l->bits_per_entry);
    tamis__put32(p + REDISBLOOM_LINK_PROBES, l->k);
    tamis__put64(p + REDISBLOOM_LINK_CAPACITY, l->capacity);
    p[REDISBLOOM_LINK_LOG2] = l->log2;
}

/* The format has no magic number, only numbers that must agree. */
static bool redisbloom_begins(const uint8_t *p, size_t n)
{
    struct link first = {0};
    if (n < REDISBLOOM_HEADER + REDISBLOOM_LINK || tamis__get32(p + REDISBLOOM_LINKS) == 0)
        return false;
    get_link(p + REDISBLOOM_HEADER, &first);
    return (tamis__get32(p + REDISBLOOM_SETTINGS) & ~(uint32_t)REDISBLOOM_OPTIONS) == 0 &&
           tamis__redis_wrong_link(&first) == NULL;
}

/* Checks every link against the rules and the whole against its length. Returns a reason, or
 * NULL. */
static const char *redisbloom_wrong(const uint8_t *p, size_t n, uint32_t links, size_t *at)
{
    uint64_t left = n - REDISBLOOM_HEADER - (size_t)links * REDISBLOOM_LINK;
    for (uint32_t i = 0; i < links; i++) {
        struct link l = {0};
        *at = REDISBLOOM_HEADER + (size_t)i * REDISBLOOM_LINK;
        get_link(p + *at, &l);
        const char *reason = tamis__redis_wrong_link(&l);
        if (reason != NULL) return reason;
        if (l.bytes > left)
            return "this RedisBloom filter is truncated; are all chunks of SCANDUMP there?";
        left -= l.bytes;
    }
    return left == 0 ? NULL : "there are bytes after the RedisBloom filter";
}

static tamis_status open_chunks(const uint8_t *p, size_t n, const tamis_options *o,
                                tamis_foreign **out, tamis_error *why)
{
    size_t at = 0;
    if (n < REDISBLOOM_HEADER) return tamis__corrupt(why, n, "too short for a RedisBloom filter");
    const uint32_t links = tamis__get32(p + REDISBLOOM_LINKS);
    if (links == 0 || links > (n - REDISBLOOM_HEADER) / REDISBLOOM_LINK)
        return tamis__corrupt(why, REDISBLOOM_LINKS,
                              "not a RedisBloom filter: more links than bytes");
    const char *reason = redisbloom_wrong(p, n, links, &at);
    if (reason != NULL) return tamis__corrupt(why, at, reason);
    tamis_foreign *f = tamis__foreign_new(&tamis__foreign_redisbloom, o, links, 0, why);
    if (f == NULL) return TAMIS_ENOMEM;
    f->items_known = true;
    f->items = tamis__get64(p + REDISBLOOM_ITEMS);
    f->options = tamis__get32(p + REDISBLOOM_SETTINGS);
    f->growth = tamis__get32(p + REDISBLOOM_GROWTH);
    const uint8_t *bits = p + REDISBLOOM_HEADER + (size_t)links * REDISBLOOM_LINK;
    for (uint32_t i = 0; i < links; i++) {
        get_link(p + REDISBLOOM_HEADER + (size_t)i * REDISBLOOM_LINK, &f->links[i]);
        f->links[i].bits = bits;
        bits += f->links[i].bytes;
    }
    return tamis__redis_finish(f, out, why);
}

static tamis_status write_chunks(const tamis_foreign *f, tamis_sink put, void *ctx,
                                 tamis_error *why)
{
    uint8_t header[REDISBLOOM_HEADER], link[REDISBLOOM_LINK];
    (void)why; /* only put can fail */
    tamis__put64(header + REDISBLOOM_ITEMS, f->items);
    tamis__put32(header + REDISBLOOM_LINKS, f->n_links);
    tamis__put32(header + REDISBLOOM_SETTINGS, f->options);
    tamis__put32(header + REDISBLOOM_GROWTH, f->growth);
    tamis_status s = put(ctx, header, sizeof header);
    for (uint32_t i = 0; i < f->n_links && s == TAMIS_OK; i++) {
        redisbloom_put_link(link, &f->links[i]);
        s = put(ctx, link, sizeof link);
    }
    for (uint32_t i = 0; i < f->n_links && s == TAMIS_OK; i++)
        s = put(ctx, f->links[i].bits, (size_t)f->links[i].bytes);
    return s;
}

const struct foreign_format tamis__foreign_redisbloom = {
    .id = TAMIS_FOREIGN_REDISBLOOM,
    .family = TAMIS_FOREIGN_REDISBLOOM,
    .name = "redisbloom",
    .begins = redisbloom_begins,
    .open = open_chunks,
    .shape = tamis__redis_shape,
    .hash = tamis__redis_hash,
    .probe = tamis__redis_probe,
    .first_byte = tamis__redis_first_byte,
    .write = write_chunks,
};
