/* An integer is accepted in one spelling only, so that equal keys are equal lines. Commands that
 * keep lines, to confirm or to drop them, compare their texts. */
#include "keys.h"

#include "../frame/output.h"

enum { AT_ONCE = 256 };

static bool integer_of(tamis_bytes text, int64_t *out)
{
    const char *p = text.p, *end = p + text.len;
    const bool negative = text.len > 0 && *p == '-';
    if (negative) p++;
    const bool lone_zero = end - p == 1 && *p == '0' && !negative;
    if (p == end || (*p == '0' && !lone_zero)) return false;
    int64_t value = 0;
    for (; p < end; p++) {
        if (*p < '0' || *p > '9') return false;
        const int64_t digit = *p - '0';
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, negative ? -digit : digit, &value))
            return false;
    }
    *out = value;
    return true;
}

/* Little-endian on every machine. */
static void put_integer(int64_t value, uint8_t *out)
{
    for (int i = 0; i < 8; i++) out[i] = (uint8_t)((uint64_t)value >> 8 * i);
}

static size_t hash_integers(const tamis *filter, const tamis_bytes *texts, size_t n,
                            tamis_hash *out)
{
    uint8_t raw[AT_ONCE][8];
    tamis_bytes keys[AT_ONCE];
    for (size_t at = 0; at < n; at += AT_ONCE) {
        const size_t some = n - at < AT_ONCE ? n - at : AT_ONCE;
        size_t good = 0;
        for (int64_t value; good < some && integer_of(texts[at + good], &value); good++) {
            put_integer(value, raw[good]);
            keys[good] = (tamis_bytes){raw[good], 8};
        }
        tamis_hash_many(filter, keys, good, out + at);
        if (good < some) return at + good;
    }
    return n;
}

struct key_form key_form_of(const tamis *filter)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_stat(filter, &f);
    return (struct key_form){f.encoding, f.key_width};
}

size_t hash_texts(const tamis *filter, struct key_form form, const tamis_bytes *texts, size_t n,
                  tamis_hash *out)
{
    size_t good = n;
    if (form.encoding == TAMIS_KEYS_INT64) return hash_integers(filter, texts, n, out);
    if (form.width != 0)
        for (good = 0; good < n && texts[good].len == form.width;) good++;
    tamis_hash_many(filter, texts, good, out);
    return good;
}

void complain_of_text(const char *path, uint64_t line, const tamis *filter, tamis_bytes text)
{
    tamis_facts f = {.struct_size = sizeof f};
    char shown[41] = "", where[40] = "";
    tamis_stat(filter, &f);
    for (size_t i = 0; i < text.len && i + 1 < sizeof shown; i++) {
        const char c = ((const char *)text.p)[i];
        shown[i] = c >= ' ' && c <= '~' ? c : '?'; /* a message may go to a terminal */
    }
    if (line != 0) snprintf(where, sizeof where, "line %s: ", grouped(line));
    if (f.encoding == TAMIS_KEYS_INT64)
        complain(path,
                 "%s'%s' is not an integer of 64 bits in plain decimal, as the keys of this file "
                 "are",
                 where, shown);
    else
        complain(path, "%s'%s' has %s bytes, but the keys of this file have %s", where, shown,
                 grouped(text.len), grouped(f.key_width));
}
