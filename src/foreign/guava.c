/* Guava's BloomFilter.writeTo: a byte for the strategy, one for k, the number of longs, and the
 * longs, all big-endian. The file contains neither the number of items nor the rate, nor the funnel
 * that turned the keys into bytes.
 *
 * Both strategies begin with MurmurHash3 x64 128, seed 0. MITZ_64 starts at the lower half, steps
 * by the upper half, and drops the sign. MITZ_32 does the same with the two halves of the lower
 * half, in 32 bits, and complements negative values. */
#include "foreign.h"
#include "hashes.h"

#include <math.h>

enum { guava_HEADER = 6, MITZ_32 = 0, MITZ_64 = 1 };

static tamis_status open_guava(const uint8_t *p, size_t n, const tamis_options *o,
                               tamis_foreign **out, tamis_error *why)
{
    if (n < guava_HEADER) return tamis__corrupt(why, n, "too short for a Guava filter");
    if (p[0] > MITZ_64)
        return tamis__corrupt(why, 0, "not a Guava filter: its strategy is unknown");
    if (p[1] == 0) return tamis__corrupt(why, 1, "this Guava filter has no probes");
    const uint64_t longs = (uint64_t)p[2] << 24 | (uint64_t)p[3] << 16 | (uint64_t)p[4] << 8 | p[5];
    if (longs == 0 || longs > INT32_MAX)
        return tamis__corrupt(why, 2, "not a Guava filter: its number of longs is wrong");
    if (longs != (n - guava_HEADER) / 8 || (n - guava_HEADER) % 8 != 0)
        return tamis__corrupt(why, 2,
                              "not a complete Guava filter: its header states another length");
    tamis_foreign *f = tamis__foreign_new(&tamis__foreign_guava, o, 1, 0, why);
    if (f == NULL) return TAMIS_ENOMEM;
    f->links[0] = (struct link){
        .bits = p + guava_HEADER, .bytes = 8 * longs, .m = 64 * longs, .k = p[1], .strategy = p[0]};
    *out = f;
    return TAMIS_OK;
}

static tamis_status guava_shape(const tamis_foreign_plan *plan, tamis_foreign *f, tamis_error *why)
{
    const double ln2 = log(2), n = (double)plan->items;
    const double m = floor(-n * log(plan->fpr) / (ln2 * ln2));
    struct link *l = &f->links[0];
    if (m > 64.0 * INT32_MAX)
        return tamis__fail(why, TAMIS_EINVAL, "a Guava filter can have at most 16 GiB");
    const uint64_t longs = (uint64_t)m / 64 + ((uint64_t)m % 64 != 0);
    l->bytes = 8 * (longs > 0 ? longs : 1);
    l->m = 8 * l->bytes;
    const double k = floor(m / n * ln2 + 0.5);
    l->k = k < 1 ? 1 : (uint32_t)k;
    l->strategy = MITZ_64;
    return TAMIS_OK;
}

/* The longs are big-endian, and the bits in them are counted from the low end. */
static uint64_t byte_of(uint64_t bit)
{
    return bit >> 6 << 3 | (7 - (bit >> 3 & 7));
}

static uint64_t bit_of(const struct link *l, tamis_hash h, uint32_t i)
{
    if (l->strategy == MITZ_64) return ((h.lo + i * h.hi) & INT64_MAX) % l->m;
    const uint32_t at = (uint32_t)h.lo + (i + 1) * (uint32_t)(h.lo >> 32);
    return (at >> 31 != 0 ? ~at : at) % l->m;
}

static bool guava_probe(const struct link *l, uint8_t *own, tamis_hash h)
{
    bool all = true;
    for (uint32_t i = 0; i < l->k; i++) {
        const uint64_t bit = bit_of(l, h, i);
        all &= tamis__touch(l, own, byte_of(bit), bit & 7);
        if (!all && own == NULL) return false;
    }
    return all;
}

static uint64_t guava_first_byte(const struct link *l, tamis_hash h)
{
    return byte_of(bit_of(l, h, 0));
}

static tamis_status write_guava(const tamis_foreign *f, tamis_sink put, void *ctx, tamis_error *why)
{
    const struct link *l = &f->links[0];
    const uint32_t longs = (uint32_t)(l->bytes / 8);
    const uint8_t header[guava_HEADER] = {(uint8_t)l->strategy,   (uint8_t)l->k,
                                          (uint8_t)(longs >> 24), (uint8_t)(longs >> 16),
                                          (uint8_t)(longs >> 8),  (uint8_t)longs};
    (void)why; /* only put can fail */
    tamis_status s = put(ctx, header, sizeof header);
    if (s == TAMIS_OK) s = put(ctx, l->bits, (size_t)l->bytes);
    return s;
}

const struct foreign_format tamis__foreign_guava = {
    .id = TAMIS_FOREIGN_GUAVA,
    .family = TAMIS_FOREIGN_GUAVA,
    .name = "guava",
    .begins = NULL,
    .open = open_guava,
    .shape = guava_shape,
    .hash = tamis__murmur3,
    .probe = guava_probe,
    .first_byte = guava_first_byte,
    .write = write_guava,
};
