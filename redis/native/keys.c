/* From the items of a command to the keys of a structure that states how its keys are encoded
 * (docs/KEYS.md). */
#include "native.h"

#include <stdio.h>

/* Redis itself accepts an integer in one spelling only. */
static bool integer_key(const redis_string *item, uint8_t raw[static 8])
{
    long long value;
    if (!redis_number(item, &value)) return false;
    for (int i = 0; i < 8; i++) raw[i] = (uint8_t)((unsigned long long)value >> 8 * i);
    return true;
}

bool native_key(const tamis *t, const redis_string *item, uint8_t raw[static 8], tamis_bytes *key,
                tamis_error *why)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_stat(t, &f);
    *key = redis_bytes(item);
    why->text[0] = '\0';
    if (f.encoding == TAMIS_KEYS_INT64) {
        if (!integer_key(item, raw))
            snprintf(why->text, sizeof why->text,
                     "an item must be a decimal integer of 64 bits, because the keys of this "
                     "structure are int64le");
        *key = (tamis_bytes){raw, 8};
    } else if (f.key_width != 0 && key->len != f.key_width) {
        snprintf(why->text, sizeof why->text,
                 "an item must have %u bytes, because the keys of this structure are encoded as %s",
                 f.key_width, tamis_encoding_name(f.encoding));
    }
    return why->text[0] == '\0';
}

size_t native_item(const tamis *t, tamis_bytes key, char text[static 24])
{
    tamis_facts f = {.struct_size = sizeof f};
    unsigned long long value = 0;
    tamis_stat(t, &f);
    if (f.encoding != TAMIS_KEYS_INT64 || key.len != 8) return 0;
    for (int i = 0; i < 8; i++) value |= (unsigned long long)((const uint8_t *)key.p)[i] << 8 * i;
    return (size_t)snprintf(text, 24, "%lld", (long long)value);
}
