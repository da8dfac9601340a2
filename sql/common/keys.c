#include "keys.h"

#include <string.h>

/* Two digits at a time: integer columns are the most frequent keys, and snprintf would take most of
 * the time of a row. */
static const char digits[] = "00010203040506070809"
                             "10111213141516171819"
                             "20212223242526272829"
                             "30313233343536373839"
                             "40414243444546474849"
                             "50515253545556575859"
                             "60616263646566676869"
                             "70717273747576777879"
                             "80818283848586878889"
                             "90919293949596979899";

/* Writes the text to the end of room, where it need not be copied to its place. */
static tamis_bytes decimal(int64_t n, char room[SQL_KEY_ROOM])
{
    uint64_t left = n < 0 ? 0 - (uint64_t)n : (uint64_t)n;
    char *const end = room + SQL_KEY_ROOM, *at = end;
    for (; left >= 100; left /= 100) memcpy(at -= 2, digits + 2 * (left % 100), 2);
    if (left >= 10)
        memcpy(at -= 2, digits + 2 * left, 2);
    else
        *--at = (char)('0' + left);
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
