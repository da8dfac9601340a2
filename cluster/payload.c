/* Payloads of DUMP. Two servers may write the same value with different bytes, because one
 * compresses strings and the other does not, or because compression depends on what was compressed
 * before. So payloads are compared by their fields. */
#include "../src/foreign/redis_rdb.h"
#include "migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void fingerprint_add(tamis_hash *h, unsigned kind, const void *p, size_t n)
{
    const tamis_hash piece = tamis_hash_bytes(kind, p, n);
    const uint64_t all[5] = {h->lo, h->hi, piece.lo, piece.hi, n};
    *h = tamis_hash_bytes(kind, all, sizeof all);
}

/* Nine characters of six bits. */
static bool is_type(uint64_t id, const char *name)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    for (int i = 0; i < 9; i++)
        if (letters[id >> (10 + 6 * (8 - i)) & 63] != name[i]) return false;
    return true;
}

/* A heap entry of TopK consists of a fingerprint, a length, a pointer, a count and padding. The
 * pointer is that of the process that wrote it. Only the first entry's padding has a meaning
 * (redis/redisbloom/top.c). */
static void clear_pointers(uint8_t *heap, size_t n)
{
    enum { ENTRY_BYTES = 24, POINTER = 8, PADDING = 20 };
    for (size_t at = 0; at + ENTRY_BYTES <= n; at += ENTRY_BYTES) {
        memset(heap + at + POINTER, 0, 8);
        if (at > 0) memset(heap + at + PADDING, 0, ENTRY_BYTES - PADDING);
    }
}

static enum payload_status add_string(struct rdb *r, bool is_heap, struct fingerprint *out)
{
    const struct rdb_string s = rdb_string(r);
    const void *p = s.p;
    uint8_t *own = NULL;
    char digits[24];
    size_t n = (size_t)s.size;
    if (r->bad) return PAYLOAD_WRONG;
    if (s.packed || is_heap) {
        p = own = malloc(n + 1);
        if (own == NULL) return PAYLOAD_NO_MEMORY;
        if (s.packed && !rdb_unpack(&s, own)) {
            free(own);
            return PAYLOAD_WRONG;
        }
        if (!s.packed) memcpy(own, s.p, n);
        if (is_heap) clear_pointers(own, n);
    } else if (s.number) {
        uint64_t v = 0;
        for (size_t i = 0; i < n; i++) v |= (uint64_t)s.p[i] << 8 * i;
        const int64_t value = n == 1 ? (int8_t)v : n == 2 ? (int16_t)v : (int32_t)v;
        p = digits;
        n = (size_t)snprintf(digits, sizeof digits, "%lld", (long long)value);
    }
    fingerprint_add(&out->fields, RDB_KIND_STRING, p, n);
    fingerprint_add(&out->strings, RDB_KIND_STRING, p, n);
    out->has_strings = true;
    free(own);
    return PAYLOAD_OK;
}

enum payload_status payload_read(const void *p, size_t n, const char *type, struct fingerprint *out)
{
    struct rdb r = {p, n > RDB_FOOTER ? n - RDB_FOOTER : 0, 0, false};
    const bool is_top = strcmp(type, "TopK-TYPE") == 0;
    unsigned strings = 0;
    memset(out, 0, sizeof *out);
    if (rdb_big_endian(&r, 1) != RDB_MODULE_VALUE) r.bad = true;
    const uint64_t id = rdb_length(&r, NULL);
    if (r.bad || !is_type(id, type)) return PAYLOAD_WRONG;
    out->layout = id & 1023;
    for (;;) {
        const uint64_t kind = rdb_length(&r, NULL);
        uint64_t number = 0;
        const uint8_t *bytes = NULL;
        if (!r.bad && kind == RDB_KIND_END) return r.at == r.n ? PAYLOAD_OK : PAYLOAD_WRONG;
        if (kind == RDB_KIND_STRING) {
            const enum payload_status s = add_string(&r, is_top && strings++ == 1, out);
            if (s != PAYLOAD_OK) return s;
            continue;
        }
        const size_t size = kind == RDB_KIND_FLOAT ? 4 : 8;
        if (kind == RDB_KIND_SIGNED || kind == RDB_KIND_NUMBER)
            number = rdb_length(&r, NULL);
        else if (kind == RDB_KIND_FLOAT || kind == RDB_KIND_DOUBLE)
            bytes = rdb_take(&r, size);
        else
            r.bad = true;
        if (r.bad) return PAYLOAD_WRONG;
        fingerprint_add(&out->fields, (unsigned)kind, bytes != NULL ? (const void *)bytes : &number,
                        size);
    }
}

void payload_relabel(void *p, size_t n)
{
    uint64_t table[256];
    uint8_t *bytes = p, *footer = bytes + n - RDB_FOOTER;
    if (n < RDB_FOOTER) return;
    rdb_crc_table(table);
    footer[0] = RDB_OLD_VERSION;
    footer[1] = 0;
    const uint64_t sum = rdb_crc(table, 0, bytes, n - 8);
    for (int i = 0; i < 8; i++) footer[2 + i] = (uint8_t)(sum >> 8 * i);
}
