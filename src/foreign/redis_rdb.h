/* How Redis writes values of modules in RDB files and in the payload of DUMP: lengths, fields,
 * strings, and the checksum. The library, which reads filters of RedisBloom, and cluster/, which
 * compares values of two servers, share this header. It depends only on libc.
 *
 * A payload is a type (7), the name and version of the module's type in 64 bits, the fields, each
 * preceded by its kind, a zero, the version of RDB in two bytes, and a CRC-64 of all that. Strings
 * may be compressed by LZF, which mixes literal bytes and copies of earlier ones. */
#ifndef TAMIS_REDIS_RDB_H
#define TAMIS_REDIS_RDB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { RDB_MODULE_VALUE = 7, RDB_FOOTER = 10 };
enum {
    RDB_KIND_END = 0,
    RDB_KIND_SIGNED = 1,
    RDB_KIND_NUMBER = 2,
    RDB_KIND_FLOAT = 3,
    RDB_KIND_DOUBLE = 4,
    RDB_KIND_STRING = 5
};
/* Old enough for Redis 5, the first with module values of this kind; newer servers accept it as
 * well. */
enum { RDB_OLD_VERSION = 9 };

/* --- The checksum ----------------------------------------------------------------------------- */

/* The CRC-64 of Jones, reflected, as in Redis. */
static inline void rdb_crc_table(uint64_t table[256])
{
    for (unsigned i = 0; i < 256; i++) {
        uint64_t v = i;
        for (int b = 0; b < 8; b++) v = v >> 1 ^ (v & 1 ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
        table[i] = v;
    }
}

static inline uint64_t rdb_crc(const uint64_t table[256], uint64_t v, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++) v = table[(uint8_t)v ^ p[i]] ^ v >> 8;
    return v;
}

/* --- Reading ---------------------------------------------------------------------------------- */

struct rdb {
    const uint8_t *p;
    size_t n, at;
    bool bad; /* set when a read fails; later reads then fail as well */
};

static inline const uint8_t *rdb_take(struct rdb *r, uint64_t n)
{
    if (r->bad || n > r->n - r->at) {
        r->bad = true;
        return NULL;
    }
    r->at += (size_t)n;
    return r->p + r->at - (size_t)n;
}

static inline uint64_t rdb_big_endian(struct rdb *r, unsigned bytes)
{
    const uint8_t *p = rdb_take(r, bytes);
    uint64_t v = 0;
    for (unsigned i = 0; p != NULL && i < bytes; i++) v = v << 8 | p[i];
    return v;
}

/* Reads a number. If `special` is not NULL, *special reports whether the upper two bits of a
 * string's length mark a special encoding. */
static inline uint64_t rdb_length(struct rdb *r, bool *special)
{
    const uint64_t first = rdb_big_endian(r, 1);
    if (special != NULL) *special = first >> 6 == 3;
    switch (first >> 6) {
    case 0: return first;
    case 1: return (first & 63) << 8 | rdb_big_endian(r, 1);
    case 2:
        if (first == 0x80) return rdb_big_endian(r, 4);
        if (first == 0x81) return rdb_big_endian(r, 8);
        break;
    default:
        if (special != NULL) return first & 63;
    }
    r->bad = true;
    return 0;
}

struct rdb_string {
    const uint8_t *p;
    uint64_t stored, size; /* size differs from stored if the string is compressed */
    bool packed;
    bool number; /* a string of decimal digits, stored as a little-endian integer */
};

/* Reads a string after its kind. */
static inline struct rdb_string rdb_string(struct rdb *r)
{
    enum { LZF = 3, MOST_EXPANSION = 88 }; /* three bytes of code produce at most 264 */
    struct rdb_string s = {NULL, 0, 0, false, false};
    s.stored = s.size = rdb_length(r, &s.packed);
    if (s.packed && s.stored == LZF) {
        s.stored = rdb_length(r, NULL);
        s.size = rdb_length(r, NULL);
        if (s.size / MOST_EXPANSION > s.stored) r->bad = true;
    } else if (s.packed) {
        if (s.stored > LZF) r->bad = true;
        s.number = true;
        s.packed = false;
        s.stored = s.size = UINT64_C(1) << (s.stored & 3);
    }
    s.p = rdb_take(r, s.stored);
    return s;
}

/* Decompresses. Returns false unless exactly `size` bytes come out. */
static inline bool rdb_unpack(const struct rdb_string *s, uint8_t *to)
{
    uint64_t in = 0, out = 0;
    while (in < s->stored) {
        const unsigned control = s->p[in++];
        if (control < 32) { /* this many bytes and one more, verbatim */
            if (control + 1 > s->stored - in || control + 1 > s->size - out) return false;
            memcpy(to + out, s->p + in, control + 1);
            in += control + 1;
            out += control + 1;
            continue;
        }
        uint64_t n = control >> 5;
        if (n == 7) {
            if (in == s->stored) return false;
            n += s->p[in++];
        }
        n += 2;
        if (in == s->stored) return false;
        const uint64_t back = ((uint64_t)(control & 31) << 8 | s->p[in++]) + 1;
        if (back > out || n > s->size - out) return false;
        for (; n > 0; n--, out++) to[out] = to[out - back]; /* they may overlap */
    }
    return out == s->size;
}

#endif
