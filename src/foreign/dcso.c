/* DCSO bloom, version 1: the files of its Go library and command, of flor (Python), fleur (C) and
 * poppy (Rust), and of CIRCL's hashlookup. All fields are little-endian and have 64 bits:
 *
 *      0 flags, low byte 1    8 n, capacity       16 p, a double
 *     24 k                   32 m, bits           40 N, inserted
 *     48 the bits
 *
 * followed by data that the user has attached. The hash is FNV-1, and each probe is one step of h =
 * h * G mod P. This was meant to be Lehmer's generator; since the product loses all bits above 64
 * before the mod, it is not. It is part of the format all the same. If m is a power of two, the
 * index consists of the low bits of h, which are its worst. */
#include "foreign.h"
#include "hashes.h"

#include <math.h>

enum { dcso_HEADER = 48 };
#define P UINT64_C(18446744073709551557)
#define G UINT64_C(18446744073709550147)

/* Returns why these fields cannot be those of a DCSO filter, and where, or NULL if they can. */
static const char *wrong_fields(const uint8_t *p, size_t *at)
{
    const uint64_t rate = tamis__get64(p + 16), k = tamis__get64(p + 24);
    double fpr;
    memcpy(&fpr, &rate, sizeof fpr);
    *at = 0;
    if (tamis__get64(p) != 1) return "not a DCSO filter of version 1";
    *at = 8;
    if (tamis__get64(p + 8) == 0) return "this DCSO filter is planned for no items";
    *at = 16;
    if (!(fpr > 0 && fpr < 1)) return "the rate of this DCSO filter is wrong";
    *at = 24;
    if (k == 0 || k > MOST_PROBES) return "this DCSO filter has a wrong number of probes";
    *at = 32;
    if (tamis__get64(p + 32) == 0) return "this DCSO filter has no bits";
    return NULL;
}

/* No version has flags above the low byte. But the flags alone do not identify the format: a 1 in
 * 64 bits is also how a RedisBloom filter of one item begins. */
static bool dcso_begins(const uint8_t *p, size_t n)
{
    size_t at;
    return n >= dcso_HEADER && wrong_fields(p, &at) == NULL;
}

static tamis_status open_dcso(const uint8_t *p, size_t n, const tamis_options *o,
                              tamis_foreign **out, tamis_error *why)
{
    size_t at;
    if (n < dcso_HEADER) return tamis__corrupt(why, n, "too short for a DCSO filter");
    const char *reason = wrong_fields(p, &at);
    if (reason != NULL) return tamis__corrupt(why, at, reason);
    const uint64_t rate = tamis__get64(p + 16), k = tamis__get64(p + 24), m = tamis__get64(p + 32);
    const uint64_t words = m / 64 + (m % 64 != 0);
    if (words > (n - dcso_HEADER) / 8)
        return tamis__corrupt(why, 32, "this DCSO filter is truncated");
    const uint8_t *bits = p + dcso_HEADER;
    if (m % 64 != 0 && tamis__get64(bits + 8 * (words - 1)) >> m % 64 != 0)
        return tamis__corrupt(why, dcso_HEADER + 8 * (words - 1),
                              "this DCSO filter has bits set beyond its end");
    tamis_foreign *f = tamis__foreign_new(&tamis__foreign_dcso, o, 1, 0, why);
    if (f == NULL) return TAMIS_ENOMEM;
    f->items_known = true;
    f->items = tamis__get64(p + 40);
    f->planned_items = tamis__get64(p + 8);
    memcpy(&f->fpr_planned, &rate, sizeof rate);
    f->extra = bits + 8 * words;
    f->extra_size = n - dcso_HEADER - (size_t)(8 * words);
    f->links[0] = (struct link){.bits = bits, .bytes = 8 * words, .m = m, .k = (uint32_t)k};
    *out = f;
    return TAMIS_OK;
}

/* The program's own formulas. They round m towards zero, because they round up a negative
 * number. */
static tamis_status dcso_shape(const tamis_foreign_plan *plan, tamis_foreign *f, tamis_error *why)
{
    const double ln2 = log(2), n = (double)plan->items;
    const double m = floor(-n * log(plan->fpr) / (ln2 * ln2));
    (void)why; /* 2^52 items at 1e-18 are 2^59 bits */
    struct link *l = &f->links[0];
    l->m = (uint64_t)m;
    if ((l->m & (l->m - 1)) == 0) l->m = l->m < 2 ? 3 : l->m + 1;
    l->k = (uint32_t)ceil(ln2 * (double)l->m / n);
    l->bytes = l->m / 64 * 8 + (l->m % 64 != 0 ? 8 : 0);
    f->items_known = true;
    return TAMIS_OK;
}

static tamis_hash dcso_hash(const void *key, size_t len)
{
    return (tamis_hash){tamis__fnv1(key, len) % P, 0};
}

static bool dcso_probe(const struct link *l, uint8_t *own, tamis_hash h)
{
    bool all = true;
    uint64_t at = h.lo;
    for (uint32_t i = 0; i < l->k; i++) {
        at = at * G % P;
        const uint64_t bit = at % l->m;
        all &= tamis__touch(l, own, bit >> 3, bit & 7);
        if (!all && own == NULL) return false;
    }
    return all;
}

static uint64_t dcso_first_byte(const struct link *l, tamis_hash h)
{
    return h.lo * G % P % l->m >> 3;
}

static tamis_status write_dcso(const tamis_foreign *f, tamis_sink put, void *ctx, tamis_error *why)
{
    const struct link *l = &f->links[0];
    uint8_t header[dcso_HEADER];
    uint64_t rate;
    (void)why; /* only put can fail */
    memcpy(&rate, &f->fpr_planned, sizeof rate);
    tamis__put64(header, 1);
    tamis__put64(header + 8, f->planned_items);
    tamis__put64(header + 16, rate);
    tamis__put64(header + 24, l->k);
    tamis__put64(header + 32, l->m);
    tamis__put64(header + 40, f->items);
    tamis_status s = put(ctx, header, sizeof header);
    if (s == TAMIS_OK) s = put(ctx, l->bits, (size_t)l->bytes);
    if (s == TAMIS_OK && f->extra_size > 0) s = put(ctx, f->extra, f->extra_size);
    return s;
}

const struct foreign_format tamis__foreign_dcso = {
    .id = TAMIS_FOREIGN_DCSO,
    .family = TAMIS_FOREIGN_DCSO,
    .name = "dcso",
    .begins = dcso_begins,
    .open = open_dcso,
    .shape = dcso_shape,
    .hash = dcso_hash,
    .probe = dcso_probe,
    .first_byte = dcso_first_byte,
    .write = write_dcso,
};
