/* The payload that Redis' DUMP returns for a key with a RedisBloom filter, and that RESTORE takes
 * (redis_rdb.h). Its type is MBbloom--, version 4, and its fields are:
 *
 *     items, links, options, growth
 *     for each link: capacity, error, probes, bits per entry, bits, log2, the bits, items */
#include "foreign.h"
#include "redis_rdb.h"
#include "redisbloom.h"

/* REDISBLOOM_TYPE, six bits per letter, then ten bits for the version of the layout. */
#define MODULE (UINT64_C(0x3016e5a289bef804) >> 10)
/* The numbers around the bits of a link take at most 63 bytes; the head and the end of the payload
 * together take at most 45. */
enum { AROUND = 64 };

/* --- Reading ---------------------------------------------------------------------------------- */

static void expect(struct rdb *r, unsigned kind)
{
    if (rdb_length(r, NULL) != kind) r->bad = true;
}

static uint64_t number(struct rdb *r)
{
    expect(r, RDB_KIND_NUMBER);
    return rdb_length(r, NULL);
}

static double real(struct rdb *r)
{
    double v = 0;
    expect(r, RDB_KIND_DOUBLE);
    const uint8_t *p = rdb_take(r, 8);
    if (p == NULL) return v;
    const uint64_t bits = tamis__get64(p);
    memcpy(&v, &bits, sizeof v);
    return v;
}

static struct rdb_string string(struct rdb *r)
{
    expect(r, RDB_KIND_STRING);
    const struct rdb_string s = rdb_string(r);
    if (s.number) r->bad = true; /* it is not a bit array */
    return s;
}

/* Reads one link; its bits stay compressed. */
static struct rdb_string link_of(struct rdb *r, struct link *l)
{
    l->capacity = number(r);
    l->error = real(r);
    const uint64_t k = number(r);
    l->k = k <= MOST_PROBES ? (uint32_t)k : 0;
    l->bits_per_entry = real(r);
    l->m = number(r);
    const uint64_t log2 = number(r);
    l->log2 = log2 < 64 ? (uint8_t)log2 : UINT8_MAX;
    const struct rdb_string s = string(r);
    l->bytes = s.size;
    l->items = number(r);
    return s;
}

struct head {
    uint64_t layout, items, links, options, growth;
};

static struct head head_of(struct rdb *r)
{
    struct head h = {0};
    if (rdb_big_endian(r, 1) != RDB_MODULE_VALUE) r->bad = true;
    const uint64_t id = rdb_length(r, NULL);
    if (id >> 10 != MODULE) r->bad = true;
    h.layout = id & 1023;
    if (r->bad || h.layout < REDISBLOOM_OLDEST_LAYOUT || h.layout > REDISBLOOM_LAYOUT) return h;
    h.items = number(r);
    h.links = number(r);
    h.options = number(r);
    h.growth = h.layout >= REDISBLOOM_GROWTH_SINCE ? number(r) : 2;
    return h;
}

/* Removes the footer if the checksum is right. The version in it is that of RDB as a whole; the
 * layout states the version of the value itself. redis-cli --raw appends a newline. */
static bool strip(const uint8_t *p, size_t *n)
{
    uint64_t table[256];
    rdb_crc_table(table);
    for (size_t newline = 0; newline <= 1; newline++) {
        if (*n < RDB_FOOTER + newline + 1 || (newline == 1 && p[*n - 1] != '\n')) return false;
        const size_t sum = *n - newline - 8;
        if (rdb_crc(table, 0, p, sum) != tamis__get64(p + sum)) continue;
        *n = sum - 2;
        return true;
    }
    return false;
}

/* Checks all links, and computes how many bytes the compressed ones will take. */
static const char *redis_dump_wrong(struct rdb r, uint64_t links, uint64_t *unpacked)
{
    *unpacked = 0;
    for (uint64_t i = 0; i < links; i++) {
        struct link l = {0};
        const struct rdb_string s = link_of(&r, &l);
        if (r.bad) return "the payload of this RedisBloom filter is damaged";
        const char *reason = tamis__redis_wrong_link(&l);
        if (reason != NULL) return reason;
        if (s.packed && !tamis__sum(*unpacked, s.size, unpacked))
            return "this RedisBloom filter is too big";
    }
    expect(&r, RDB_KIND_END);
    return r.bad || r.at != r.n ? "there are bytes after the RedisBloom filter" : NULL;
}

static bool redis_dump_fill(tamis_foreign *f, struct rdb r)
{
    uint8_t *to = f->owned;
    for (uint32_t i = 0; i < f->n_links; i++) {
        struct link *l = &f->links[i];
        const struct rdb_string s = link_of(&r, l);
        l->bits = s.p;
        if (!s.packed) continue;
        if (!rdb_unpack(&s, to)) return false;
        l->bits = to;
        to += s.size;
    }
    return true;
}

static bool redis_dump_begins(const uint8_t *p, size_t n)
{
    struct rdb r = {p, n, 0, false};
    return rdb_big_endian(&r, 1) == RDB_MODULE_VALUE && rdb_length(&r, NULL) >> 10 == MODULE &&
           !r.bad;
}

static tamis_status open_dump(const uint8_t *p, size_t n, const tamis_options *o,
                              tamis_foreign **out, tamis_error *why)
{
    struct rdb r = {p, n, 0, false};
    uint64_t unpacked;
    const struct head early =
        head_of(&r); /* checked before the checksum of what may be gigabytes of something else */
    if (r.bad) return tamis__corrupt(why, 0, "not the DUMP of a RedisBloom filter");
    if (early.layout < REDISBLOOM_OLDEST_LAYOUT || early.layout > REDISBLOOM_LAYOUT)
        return tamis__fail(why, TAMIS_EUNSUPPORTED,
                           "this DUMP of a RedisBloom filter has an unknown layout");
    if (!strip(p, &n)) return tamis__corrupt(why, n, "this Redis DUMP is truncated or damaged");
    r = (struct rdb){p, n, 0, false};
    const struct head h = head_of(&r);
    if (r.bad || h.links == 0 || h.links > n - r.at || h.options > UINT32_MAX ||
        h.growth > UINT32_MAX)
        return tamis__corrupt(why, 0, "the payload of this RedisBloom filter is damaged");
    const char *reason = redis_dump_wrong(r, h.links, &unpacked);
    if (reason != NULL) return tamis__corrupt(why, 0, reason);
    tamis_foreign *f =
        tamis__foreign_new(&tamis__foreign_redis_dump, o, (uint32_t)h.links, unpacked, why);
    if (f == NULL) return TAMIS_ENOMEM;
    f->items_known = true;
    f->items = h.items;
    f->options = (uint32_t)h.options;
    f->growth = (uint32_t)h.growth;
    if (!redis_dump_fill(f, r)) {
        tamis_foreign_close(f);
        return tamis__corrupt(why, 0, "the bits of this RedisBloom filter cannot be decompressed");
    }
    return tamis__redis_finish(f, out, why);
}

/* --- Writing ---------------------------------------------------------------------------------- */

struct writer {
    tamis_sink put;
    void *ctx;
    tamis_status status;
    uint64_t sum, table[256];
};

static void redis_dump_put_bytes(struct writer *w, const void *p, size_t n)
{
    if (w->status != TAMIS_OK) return;
    w->sum = rdb_crc(w->table, w->sum, p, n);
    w->status = w->put(w->ctx, p, n);
}

static void put_length(struct writer *w, uint64_t v)
{
    uint8_t b[9] = {(uint8_t)v};
    size_t n = 1;
    if (v >= 64 && v < 16384) {
        b[0] = (uint8_t)(64 | v >> 8);
        b[1] = (uint8_t)v;
        n = 2;
    } else if (v >= 16384) {
        n = v <= UINT32_MAX ? 5 : 9;
        b[0] = n == 5 ? 0x80 : 0x81;
        for (size_t i = 1; i < n; i++) b[i] = (uint8_t)(v >> 8 * (n - 1 - i));
    }
    redis_dump_put_bytes(w, b, n);
}

static void put_number(struct writer *w, uint64_t v)
{
    put_length(w, RDB_KIND_NUMBER);
    put_length(w, v);
}

static void put_real(struct writer *w, double v)
{
    uint64_t bits;
    uint8_t b[8];
    memcpy(&bits, &v, sizeof bits);
    tamis__put64(b, bits);
    put_length(w, RDB_KIND_DOUBLE);
    redis_dump_put_bytes(w, b, sizeof b);
}

static void redis_dump_put_link(struct writer *w, const struct link *l)
{
    put_number(w, l->capacity);
    put_real(w, l->error);
    put_number(w, l->k);
    put_real(w, l->bits_per_entry);
    put_number(w, l->m);
    put_number(w, l->log2);
    put_length(w, RDB_KIND_STRING);
    put_length(w, l->bytes);
    redis_dump_put_bytes(w, l->bits, (size_t)l->bytes);
    put_number(w, l->items);
}

static tamis_status write_dump(const tamis_foreign *f, tamis_sink put, void *ctx, tamis_error *why)
{
    static const uint8_t type = RDB_MODULE_VALUE, version[2] = {RDB_OLD_VERSION, 0};
    struct writer w = {put, ctx, TAMIS_OK, 0, {0}};
    uint64_t most = AROUND; /* bytes of the payload */
    for (uint32_t i = 0; i < f->n_links; i++) most += f->links[i].bytes + AROUND;
    if (most > UINT64_C(512) << 20)
        return tamis__fail(
            why, TAMIS_EUNSUPPORTED,
            "Redis cannot RESTORE more than 512 MB; use the format redisbloom (BF.LOADCHUNK)");
    rdb_crc_table(w.table);
    redis_dump_put_bytes(&w, &type, 1);
    put_length(&w, MODULE << 10 | REDISBLOOM_LAYOUT);
    put_number(&w, f->items);
    put_number(&w, f->n_links);
    put_number(&w, f->options);
    put_number(&w, f->growth);
    for (uint32_t i = 0; i < f->n_links; i++) redis_dump_put_link(&w, &f->links[i]);
    put_length(&w, RDB_KIND_END);
    redis_dump_put_bytes(&w, version, sizeof version);
    uint8_t sum[8];
    tamis__put64(sum, w.sum);
    redis_dump_put_bytes(&w, sum, sizeof sum);
    return w.status;
}

const struct foreign_format tamis__foreign_redis_dump = {
    .id = TAMIS_FOREIGN_REDIS_DUMP,
    .family = TAMIS_FOREIGN_REDISBLOOM,
    .name = "redisbloom-dump",
    .begins = redis_dump_begins,
    .open = open_dump,
    .shape = tamis__redis_shape,
    .hash = tamis__redis_hash,
    .probe = tamis__redis_probe,
    .first_byte = tamis__redis_first_byte,
    .write = write_dump,
};
