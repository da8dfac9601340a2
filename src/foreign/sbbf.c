/* Parquet's split-block Bloom filter: blocks of eight 32-bit words. A key has one bit in each word
 * of one block.
 *
 * With h = XXH64 of the key's plain bytes, seed 0, the block is ((h >> 32) * blocks) >> 32. The bit
 * of word j is given by the upper five bits of the lower half of h times an odd salt. On disk, a
 * header in Thrift's compact protocol precedes the bits:
 *
 *     15 <bytes, zigzag varint>   1c 1c 00 00 (BLOCK)   1c 1c 00 00 (XXHASH)
 *     1c 1c 00 00 (UNCOMPRESSED)  00
 *
 * One writer, parquetjs, leaves the three unions empty, and its bits are not those that XXH64 would
 * set. Such a filter can be inspected but not queried: it answers "maybe" for every key. */
#include "foreign.h"

#include "../core/hash.h"
#include "../core/plan.h"
#include "thrift.h"

#include <math.h>

enum { BLOCK = 32, WORDS = 8 };
static const uint32_t SALT[WORDS] = {0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d,
                                     0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31};

/* --- The header ------------------------------------------------------------------------------- */

/* Reads a union of empty structs. Returns the number of its member, or 0 if it has none. */
static int32_t member(struct thrift *t)
{
    struct thrift_field f = {0, 0};
    int32_t id = 0;
    while (tamis__thrift_next(t, &f)) {
        id = f.id;
        tamis__thrift_skip(t, &f);
    }
    return id;
}

size_t tamis__sbbf_header(const uint8_t *p, size_t n, uint64_t *bytes, bool *unnamed_hash,
                          tamis_error *why)
{
    struct thrift t = {p, n, 0, false};
    struct thrift_field f = {0, 0};
    int64_t size = -1;
    int32_t named[5] = {0, 0, -1, -1, -1}; /* by field: algorithm, hash, compression */
    while (tamis__thrift_next(&t, &f)) {
        if (tamis__thrift_is(&t, &f, 1, THRIFT_I32))
            size = tamis__thrift_int(&t);
        else if (f.id >= 2 && f.id <= 4 && tamis__thrift_is(&t, &f, f.id, THRIFT_STRUCT))
            named[f.id] = member(&t);
        else
            tamis__thrift_skip(&t, &f);
    }
    if (t.bad || size < 0 || named[2] < 0 || named[3] < 0 || named[4] < 0) {
        tamis__corrupt(why, t.at, "not a Parquet Bloom filter: its header is damaged");
        return 0;
    }
    if (size == 0 || size % BLOCK != 0 || size > INT32_MAX) {
        tamis__corrupt(why, 0, "this Parquet Bloom filter has a wrong size");
        return 0;
    }
    if (named[2] > 1 || named[3] > 1 || named[4] > 1) {
        tamis__fail(why, TAMIS_EUNSUPPORTED,
                    "this Parquet Bloom filter has an unknown algorithm, hash or compression");
        return 0;
    }
    *bytes = (uint64_t)size;
    *unnamed_hash = named[2] == 0 || named[3] == 0 || named[4] == 0;
    return t.at;
}

static size_t sbbf_put_header(uint8_t *p, uint64_t bytes)
{
    static const uint8_t rest[] = {0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0};
    size_t n = 0;
    p[n++] = 0x15;
    uint64_t v = bytes << 1; /* zigzag */
    for (; v >= 128; v >>= 7) p[n++] = (uint8_t)(v | 128);
    p[n++] = (uint8_t)v;
    memcpy(p + n, rest, sizeof rest);
    return n + sizeof rest;
}

/* Leaves the unions empty, as parquetjs does and as they were read. */
static size_t put_unnamed_header(uint8_t *p, uint64_t bytes)
{
    static const uint8_t rest[] = {0x1c, 0, 0x1c, 0, 0x1c, 0, 0};
    const size_t n = sbbf_put_header(p, bytes) - 13;
    memcpy(p + n, rest, sizeof rest);
    return n + sizeof rest;
}

/* --- Life cycle ------------------------------------------------------------------------------- */

static void set_link(tamis_foreign *f, const uint8_t *bits, uint64_t bytes)
{
    f->links[0] = (struct link){.bits = bits, .bytes = bytes, .m = 8 * bytes, .k = WORDS};
}

tamis_foreign *tamis__sbbf_new(const tamis_options *o, uint64_t bytes, bool unnamed_hash,
                               tamis_error *why)
{
    tamis_foreign *f = tamis__foreign_new(&tamis__foreign_parquet, o, 1, bytes, why);
    if (f == NULL) return NULL;
    set_link(f, f->owned, bytes);
    f->unnamed_hash = unnamed_hash;
    return f;
}

static bool sbbf_begins(const uint8_t *p, size_t n)
{
    tamis_error reason = {.status = TAMIS_OK};
    uint64_t bytes;
    bool unnamed;
    if (n == 0 || p[0] != 0x15) return false; /* field 1, an i32: every writer begins with it */
    return tamis__sbbf_header(p, n, &bytes, &unnamed, &reason) != 0 ||
           reason.status == TAMIS_EUNSUPPORTED;
}

static tamis_status open_sbbf(const uint8_t *p, size_t n, const tamis_options *o,
                              tamis_foreign **out, tamis_error *why)
{
    tamis_error reason;
    uint64_t bytes;
    bool unnamed;
    if (n == 0) return tamis__corrupt(why, 0, "too short for a Parquet Bloom filter");
    const size_t header = tamis__sbbf_header(p, n, &bytes, &unnamed, &reason);
    if (header == 0) {
        if (why != NULL) *why = reason;
        return reason.status;
    }
    if (bytes != n - header)
        return tamis__corrupt(why, 0,
                              "not a complete Parquet Bloom filter: its "
                              "header states another length");
    tamis_foreign *f = tamis__foreign_new(&tamis__foreign_parquet, o, 1, 0, why);
    if (f == NULL) return TAMIS_ENOMEM;
    set_link(f, p + header, bytes);
    f->unnamed_hash = unnamed;
    *out = f;
    return TAMIS_OK;
}

/* A block with j keys matches a non-member if all eight bits of the non-member are set in it. The
 * number of keys in a block has a Poisson distribution. */
static double sbbf_rate(double keys_per_block)
{
    double sum = 0;
    if (keys_per_block > 4096) return 1; /* all bits are set, except with probability 1e-54 */
    const double spread = 40 * sqrt(keys_per_block) + 40;
    const double from = fmax(0, floor(keys_per_block - spread)), to = keys_per_block + spread;
    for (double j = from; j <= to; j++) {
        const double chance =
            exp(j * log(keys_per_block) - keys_per_block - tamis__ln_factorial(j));
        sum += chance * pow(-expm1(j * log1p(-1.0 / 32)), WORDS);
    }
    return sum;
}

/* Only powers of two, although the format allows other sizes: Arrow refuses them. */
static tamis_status sbbf_shape(const tamis_foreign_plan *plan, tamis_foreign *f, tamis_error *why)
{
    uint64_t bytes = BLOCK;
    while (bytes <= INT32_MAX &&
           sbbf_rate((double)plan->items / (double)(bytes / BLOCK)) > plan->fpr)
        bytes *= 2;
    if (bytes > INT32_MAX)
        return tamis__fail(why, TAMIS_EINVAL, "a Parquet Bloom filter can have at most 1 GiB");
    set_link(f, NULL, bytes);
    return TAMIS_OK;
}

/* --- Keys ------------------------------------------------------------------------------------- */

static tamis_hash sbbf_hash(const void *key, size_t len)
{
    return (tamis_hash){tamis__xxh64(key, len), 0};
}

static uint64_t sbbf_first_byte(const struct link *l, tamis_hash h)
{
    return (h.lo >> 32) * (l->bytes / BLOCK) >> 32 << 5;
}

static bool sbbf_probe(const struct link *l, uint8_t *own, tamis_hash h)
{
    const uint64_t block = sbbf_first_byte(l, h);
    uint32_t missing = 0;
    for (unsigned j = 0; j < WORDS; j++) {
        const uint32_t mask = UINT32_C(1) << ((uint32_t)h.lo * SALT[j] >> 27);
        const uint32_t word = tamis__get32(l->bits + block + 4 * j);
        missing |= mask & ~word;
        if (own != NULL) tamis__put32(own + block + 4 * j, word | mask);
    }
    return missing == 0;
}

struct census tamis__sbbf_census(const struct link *l)
{
    struct census c = {0, 0, 0};
    for (uint64_t block = 0; block < l->bytes; block += BLOCK) {
        double all = 1;
        unsigned ones = 0;
        for (unsigned j = 0; j < WORDS; j++) {
            const unsigned set = tamis__popcount(tamis__get32(l->bits + block + 4 * j));
            all *= set / 32.0;
            ones += set;
        }
        c.ones += ones;
        c.rate += all;
        /* A full block does not determine a number of keys. Half a bit less than full does, and
         * gives a greater number than any other block. */
        c.items += log1p(-fmin(ones, 255.5) / 256) / log1p(-1.0 / 32);
    }
    if (c.ones == l->m) c.items = (double)INFINITY;
    c.rate /= (double)(l->bytes / BLOCK);
    return c;
}

static tamis_status write_sbbf(const tamis_foreign *f, tamis_sink put, void *ctx, tamis_error *why)
{
    uint8_t header[32];
    const struct link *l = &f->links[0];
    const size_t n =
        f->unnamed_hash ? put_unnamed_header(header, l->bytes) : sbbf_put_header(header, l->bytes);
    (void)why; /* only put can fail */
    tamis_status s = put(ctx, header, n);
    if (s == TAMIS_OK) s = put(ctx, l->bits, (size_t)l->bytes);
    return s;
}

const struct foreign_format tamis__foreign_parquet = {
    .id = TAMIS_FOREIGN_PARQUET,
    .family = TAMIS_FOREIGN_PARQUET,
    .name = "parquet",
    .begins = sbbf_begins,
    .open = open_sbbf,
    .shape = sbbf_shape,
    .hash = sbbf_hash,
    .probe = sbbf_probe,
    .first_byte = sbbf_first_byte,
    .write = write_sbbf,
};
