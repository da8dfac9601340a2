#include "keys.h"

#include <stdio.h>
#include <string.h>

/* Integer columns are the most frequent keys, so the time of a row depends on these functions.
 * Digits are computed eight at a time, in the bytes of a word, without a branch that depends on how
 * many there are. */

/* The digits of n < 10^8, with leading zeros, the first one in the lowest byte. Each step halves
 * numbers of 8, 4 and 2 digits; the factors divide by 100 and by 10. */
static inline uint64_t eight_digits(uint64_t n)
{
    const uint64_t fours = n / 10000 | n % 10000 << 32;
    const uint64_t hundreds = fours * 5243 >> 19 & 0x7f0000007f;
    const uint64_t twos = hundreds | (fours - 100 * hundreds) << 16;
    const uint64_t tens = twos * 103 >> 10 & 0x000f000f000f000f;
    return tens | (twos - 10 * tens) << 8;
}

static void put_digits(char *to, uint64_t digits)
{
    const uint64_t text = digits | 0x3030303030303030; /* '0' */
    for (int i = 0; i < 8; i++) to[i] = (char)(text >> 8 * i);
}

/* Writes the text to the end of room, where it need not be copied to its place. */
static tamis_bytes decimal(int64_t n, char room[SQL_KEY_ROOM])
{
    static const uint64_t next = 100000000;
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    char *const end = room + SQL_KEY_ROOM, *at = end - 8;
    for (; left >= next; left /= next, at -= 8) put_digits(at, eight_digits(left % next));
    const uint64_t digits = eight_digits(left);
    put_digits(at, digits);
    /* Without leading zeros, but not without the last digit. */
    at += __builtin_ctzll(digits | (uint64_t)1 << 56) / 8;
    if (n < 0) *--at = '-';
    return (tamis_bytes){at, (size_t)(end - at)};
}

size_t sql_decimal(int64_t n, char room[SQL_KEY_ROOM])
{
    const tamis_bytes text = decimal(n, room);
    memmove(room, text.p, text.len);
    return text.len;
}

const char *sql_key(const struct sql_value *v, uint32_t encoding, uint32_t width,
                    char room[SQL_KEY_ROOM], tamis_bytes *key)
{
    if (v->type == SQL_INTEGER && encoding == TAMIS_KEYS_INT64) {
        for (int i = 0; i < 8; i++) room[i] = (char)((uint64_t)v->integer >> 8 * i);
        *key = (tamis_bytes){room, 8};
        return NULL;
    }
    *key = v->type == SQL_INTEGER ? decimal(v->integer, room) : v->bytes;
    if (encoding <= TAMIS_KEYS_TEXT) return NULL; /* any bytes */
    if (encoding == TAMIS_KEYS_INT64 && v->type == SQL_TEXT)
        return "the keys are integers (int64le): cast the value to bigint";
    if (encoding == TAMIS_KEYS_SHA256 && v->type != SQL_BYTES)
        return "the keys are SHA-256 hashes: pass the 32 bytes of the hash";
    if (width != 0 && key->len != width)
        return "the value does not have the length of the keys (tamis_info, key_width)";
    return NULL;
}

tamis_bytes sql_item(tamis_bytes item, uint32_t encoding, char room[SQL_KEY_ROOM])
{
    if (encoding != TAMIS_KEYS_INT64 || item.p == NULL || item.len != 8) return item;
    const uint8_t *p = item.p;
    uint64_t n = 0;
    for (int i = 0; i < 8; i++) n |= (uint64_t)p[i] << 8 * i;
    return (tamis_bytes){room, sql_decimal((int64_t)n, room)};
}

void sql_show_key(tamis_bytes key, char out[SQL_SHOWN_ROOM])
{
    static const size_t longest = sizeof "\\xff" - 1, end = sizeof "...'";
    const uint8_t *p = key.p;
    size_t n = 0, i = 0;
    out[n++] = '\'';
    for (; i < key.len && n + longest + end <= SQL_SHOWN_ROOM; i++)
        if (p[i] >= ' ' && p[i] < 0x7f)
            out[n++] = (char)p[i];
        else
            n += (size_t)snprintf(out + n, SQL_SHOWN_ROOM - n, "\\x%02x", p[i]);
    snprintf(out + n, SQL_SHOWN_ROOM - n, "%s'", i < key.len ? "..." : "");
}

/* The length of a character of UTF-8, 0 if there is none. */
static size_t character(const uint8_t *p, size_t n)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    const size_t length = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
    if (length == 0 || length > n || p[0] == 0 || p[0] > 0xf4) return 0;
    uint32_t code = length == 1 ? p[0] : p[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((p[i] & 0xc0) != 0x80) return 0;
        code = code << 6 | (p[i] & 0x3fu);
    }
    const bool surrogate = code >= 0xd800 && code < 0xe000;
    return code < least[length] || code > 0x10ffff || surrogate ? 0 : length;
}

bool sql_is_text(tamis_bytes b)
{
    const uint8_t *p = b.p;
    for (size_t i = 0, n; i < b.len; i += n)
        if ((n = character(p + i, b.len - i)) == 0) return false;
    return true;
}

tamis_bytes sql_whole_characters(tamis_bytes beginning)
{
    for (size_t cut = 0; cut < 4 && cut < beginning.len; cut++)
        if (sql_is_text((tamis_bytes){beginning.p, beginning.len - cut}))
            return (tamis_bytes){beginning.p, beginning.len - cut};
    return beginning;
}
