/* The encoding of keys: what a plan states, what an image records, and the lengths that follow. */
#include "encoding.h"

#include "error.h"

#define MOST_WIDTH 65535u /* the image has 16 bits for it */

tamis_status tamis__check_encoding(tamis_plan *p, tamis_error *why)
{
    const uint32_t implied = tamis__implied_width(p->encoding);
    if (p->encoding > TAMIS_KEYS_CALLER)
        return tamis__fail(why, TAMIS_EINVAL, "there is no encoding %u of keys", p->encoding);
    if (p->encoding == TAMIS_KEYS_FIXED && (p->key_width < 1 || p->key_width > MOST_WIDTH))
        return tamis__fail(why, TAMIS_EINVAL, "keys of fixed width need a width from 1 to %u bytes",
                           MOST_WIDTH);
    if (p->encoding != TAMIS_KEYS_FIXED && p->key_width != 0 && p->key_width != implied)
        return tamis__fail(why, TAMIS_EINVAL, "a key width is only for keys of fixed width");
    if (implied != 0) p->key_width = implied;
    return TAMIS_OK;
}

uint32_t tamis__plan_statement(const tamis_plan *p)
{
    const uint32_t width = p->encoding == TAMIS_KEYS_FIXED ? p->key_width : 0;
    return p->encoding | width << TAMIS__WIDTH_SHIFT;
}

bool tamis__right_statement(uint32_t stated)
{
    const uint32_t encoding = tamis__encoding(stated);
    if (encoding > TAMIS_KEYS_CALLER) return true;
    return (stated >> TAMIS__WIDTH_SHIFT != 0) == (encoding == TAMIS_KEYS_FIXED);
}

void tamis__state_keys(tamis *t, uint32_t stated)
{
    t->stated = stated;
    t->any_key = t->hasher.usable && tamis__key_length(t) == 0;
}

const char *tamis_encoding_name(uint32_t encoding)
{
    static const char *const names[] = {NULL, "text", "int64le", "fixed", "sha256", "caller"};
    return encoding <= TAMIS_KEYS_CALLER ? names[encoding] : NULL;
}

static const char *name_of(const tamis *t)
{
    const char *name = tamis_encoding_name(tamis__encoding(t->stated));
    return name != NULL ? name : "unknown";
}

tamis_status tamis__check_encodings(const tamis *a, const tamis *b, tamis_error *why)
{
    if (a->stated == 0 || b->stated == 0 || a->stated == b->stated) return TAMIS_OK;
    if (tamis__encoding(a->stated) == tamis__encoding(b->stated))
        return tamis__fail(why, TAMIS_EMISMATCH, "they differ in the width of their keys");
    return tamis__fail(why, TAMIS_EMISMATCH,
                       "the keys of one are encoded as %s, of the other as %s", name_of(a),
                       name_of(b));
}

size_t tamis__right_keys(const tamis *t, const tamis_bytes *keys, size_t n)
{
    const size_t length = t->stated != 0 ? tamis__key_length(t) : 0;
    size_t i = n;
    if (length != 0)
        for (i = 0; i < n && keys[i].len == length;) i++;
    return i;
}

tamis_status tamis__check_length(const tamis *t, size_t len, tamis_error *why)
{
    if (!tamis__wrong_length(t, len)) return TAMIS_OK;
    return tamis__fail(why, TAMIS_EINVAL,
                       "the keys are encoded as %s, %u bytes each; this key has %llu", name_of(t),
                       (unsigned)tamis__key_length(t), (unsigned long long)len);
}

tamis_status tamis__check_lengths(const tamis *t, const tamis_bytes *keys, size_t n,
                                  tamis_error *why)
{
    const size_t right = tamis__right_keys(t, keys, n);
    return right == n ? TAMIS_OK : tamis__check_length(t, keys[right].len, why);
}
