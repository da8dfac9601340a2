/* Payloads of DUMP, as tamis migrate compares them (cluster/payload.c): any fields behind a valid
 * beginning, or any bytes. A payload is refused or has a fingerprint, which depends neither on the
 * RDB version nor on where the payload lies. A payload with another version gets the right
 * checksum. One that is cut off is never taken for a whole one.
 *
 * ./run fuzz payload */
#include "fuzz.h"

#include "../../cluster/migrate.h"
#include "../../src/foreign/redis_rdb.h"

#include <string.h>

static const char *const names[] = {"MBbloom--", "MBbloomCF", "CMSk-TYPE",
                                    "TopK-TYPE", "TDIS-TYPE", "tamis-img"};

static bool same(tamis_hash a, tamis_hash b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

/* In a buffer of exactly its size, so that the sanitizer sees every byte that is read beyond it. */
static enum payload_status read_copy(const uint8_t *p, size_t n, const char *name,
                                     struct fingerprint *out)
{
    uint8_t *copy = malloc(n > 0 ? n : 1);
    must(copy != NULL, "memory");
    if (n > 0) memcpy(copy, p, n);
    const enum payload_status s = payload_read(copy, n, name, out);
    free(copy);
    return s;
}

/* The beginning that a type has. */
static size_t write_beginning(const char *name, unsigned layout, uint8_t *to)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t id = 0;
    for (; *name != '\0'; name++) id = id << 6 | (uint64_t)(strchr(letters, *name) - letters);
    id = id << 10 | layout;
    to[0] = RDB_MODULE_VALUE;
    to[1] = 0x81;
    for (int i = 0; i < 8; i++) to[2 + i] = (uint8_t)(id >> 8 * (7 - i));
    return 10;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > MAX_BYTES) return 0;
    const char *name = names[(data[0] & 7) % 6];
    const bool valid = (data[0] & 8) != 0;
    uint8_t *whole = malloc(size + 32);
    must(whole != NULL, "memory");
    size_t n = valid ? write_beginning(name, data[0] >> 4, whole) : 0;
    memcpy(whole + n, data + 1, size - 1);
    n += size - 1;
    struct fingerprint first, second;
    const enum payload_status s = read_copy(whole, n, name, &first);
    must(s == PAYLOAD_OK || s == PAYLOAD_WRONG, "nothing needs much memory");
    if (s == PAYLOAD_OK) {
        payload_relabel(whole, n);
        must(read_copy(whole, n, name, &second) == PAYLOAD_OK, "still valid");
        must(same(first.fields, second.fields) && same(first.strings, second.strings) &&
                 first.layout == second.layout,
             "the version has no influence");
        uint64_t table[256], sum = 0;
        rdb_crc_table(table);
        for (int i = 0; i < 8; i++) sum |= (uint64_t)whole[n - 8 + (size_t)i] << 8 * i;
        must(rdb_crc(table, 0, whole, n - 8) == sum, "checksum");
        must(read_copy(whole, n - 1, name, &second) == PAYLOAD_WRONG, "cut off");
        must(read_copy(whole, n, "unknown--", &second) == PAYLOAD_WRONG, "another type");
    } else {
        payload_relabel(whole, n);
    }
    free(whole);
    return 0;
}
