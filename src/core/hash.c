#include "hash.h"

#include "bits.h"
#include "column.h"
#include "cpu.h"
#include "uniform.h"

#define XXH_INLINE_ALL
#include <tamis/inspect.h>
#include <xxhash.h>

void tamis__hasher_init(struct hasher *h, uint64_t seed, struct tamis_key *key)
{
    memset(h, 0, sizeof *h);
    h->usable = true;
    if (key == NULL) {
        h->id = TAMIS_XXH3;
        h->seed = seed;
        h->flip = tamis__xxh3_flip(seed);
        return;
    }
    h->id = TAMIS_SIPHASH;
    h->key = key;
}

uint64_t tamis__hasher_seed(const struct hasher *h)
{
    return h->id == TAMIS_SIPHASH ? 0 : h->seed;
}

struct tamis_key *tamis__hasher_key(const struct hasher *h)
{
    return h->id == TAMIS_SIPHASH && h->usable ? h->key : NULL;
}

const uint8_t *tamis__hasher_key_id(const struct hasher *h)
{
    static const uint8_t none[16];
    if (h->id != TAMIS_SIPHASH) return none;
    return h->usable ? h->key->id : h->key_id;
}

static inline tamis_hash xxh3(const void *key, size_t len, uint64_t seed)
{
    /* With a constant length, the compiler keeps only the few instructions of XXH3 for 64-bit
     * integers, the most common keys of programs. XXH3 requires a valid pointer even for no
     * bytes. */
    const XXH128_hash_t x = len == 8 ? XXH3_128bits_withSeed(key, 8, seed)
                                     : XXH3_128bits_withSeed(len != 0 ? key : "", len, seed);
    const tamis_hash h = {x.low64, x.high64};
    return h;
}

tamis_hash tamis__xxh3(const void *key, size_t len, uint64_t seed)
{
    return xxh3(key, len, seed);
}

tamis_hash tamis__hash_key(const struct hasher *h, const void *key, size_t len)
{
    return h->id == TAMIS_SIPHASH ? tamis__siphash(h->key->words, key, len)
                                  : xxh3(key, len, h->seed);
}

/* Keys of 17 to 32 and of 33 to 64 bytes (names, URLs, UUIDs, digests in hexadecimal) are set aside
 * until there are eight of a class, which are hashed together. */
struct aside {
    tamis__lane_hasher *eight; /* NULL: none are set aside */
    const uint8_t *p[8];
    uint64_t length[8];
    size_t place[8];
    unsigned n;
};

struct lanes {
    uint64_t seed;
    tamis_hash *out;
    struct aside classes[2];
};

static struct lanes lanes_open(uint64_t seed, tamis_hash *out)
{
    const struct kernels *k = tamis__kernels();
    return (struct lanes){
        .seed = seed, .out = out, .classes = {{.eight = k->xxh3_short}, {.eight = k->xxh3_long}}};
}

static inline void lanes_put(struct lanes *l, size_t i, const uint8_t *p, size_t len)
{
    struct aside *a = &l->classes[len > 32];
    if (len < 17 || len > 64 || a->eight == NULL) {
        l->out[i] = xxh3(p, len, l->seed);
        return;
    }
    a->p[a->n] = p;
    a->length[a->n] = len;
    a->place[a->n++] = i;
    if (a->n < 8) return;
    a->n = 0;
    if (a->place[7] - a->place[0] == 7) {
        a->eight(l->seed, a->p, a->length, l->out + a->place[0]);
        return;
    }
    tamis_hash hashes[8];
    a->eight(l->seed, a->p, a->length, hashes);
    for (size_t j = 0; j < 8; j++) l->out[a->place[j]] = hashes[j];
}

/* Eight keys in a row. If they are of one class, which most are, none is set aside. */
static inline void lanes_put_eight(struct lanes *l, size_t i, const uint8_t *const p[8],
                                   const uint64_t length[8])
{
    uint64_t least = length[0], most = length[0];
    for (unsigned j = 1; j < 8; j++) {
        least = length[j] < least ? length[j] : least;
        most = length[j] > most ? length[j] : most;
    }
    const struct aside *a = &l->classes[most > 32];
    if (least >= (most > 32 ? 33 : 17) && most <= 64 && a->eight != NULL)
        a->eight(l->seed, p, length, l->out + i);
    else
        for (unsigned j = 0; j < 8; j++) lanes_put(l, i + j, p[j], (size_t)length[j]);
}

static void lanes_close(struct lanes *l)
{
    for (int c = 0; c < 2; c++) {
        const struct aside *a = &l->classes[c];
        for (unsigned j = 0; j < a->n; j++)
            l->out[a->place[j]] = xxh3(a->p[j], (size_t)a->length[j], l->seed);
    }
}

void tamis__hash_keys(const struct hasher *h, const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    const struct kernels *k = tamis__kernels();
    if (h->id == TAMIS_SIPHASH) {
        k->siphash(h->key->words, keys, n, out);
        return;
    }
    size_t i = 0;
    if (k->xxh3_words != NULL && n >= 8 && keys[0].len == 8)
        i = k->xxh3_words(h->seed, keys, n, out);
    if (i == n) return;
    if (k->xxh3_long != NULL && n >= 8) {
        struct lanes l = lanes_open(h->seed, out);
        for (; n - i >= 8; i += 8) {
            const uint8_t *p[8];
            uint64_t length[8];
            for (unsigned j = 0; j < 8; j++) {
                p[j] = keys[i + j].p;
                length[j] = keys[i + j].len;
            }
            lanes_put_eight(&l, i, p, length);
        }
        for (; i < n; i++) lanes_put(&l, i, keys[i].p, keys[i].len);
        lanes_close(&l);
    }
    for (; i < n && keys[i].len == 8; i++)
        out[i] = tamis__xxh3_word(h->flip, tamis__get64(keys[i].p));
    for (; i < n; i++) out[i] = xxh3(keys[i].p, keys[i].len, h->seed);
}

/* --- Columns ---------------------------------------------------------------------------------- */

#ifdef TAMIS__WATCHES
/* SipHash works on descriptors, of which these are made at a time. */
#define DESCRIBED 64u

static void siphash_column(const struct hasher *h, const struct column *c, size_t row, size_t n,
                           tamis_hash *out)
{
    tamis_bytes keys[DESCRIBED];
    for (size_t at = 0; at < n; at += DESCRIBED) {
        const size_t some = n - at < DESCRIBED ? n - at : DESCRIBED;
        for (size_t i = 0; i < some; i++) keys[i] = tamis__column_key(c, row + at + i);
        tamis__kernels()->siphash(h->key->words, keys, some, out + at);
    }
}

static void hash_texts(const struct hasher *h, const struct column *c, size_t row, size_t n,
                       tamis_hash *out)
{
    struct lanes l = lanes_open(h->seed, out);
    if (c->offsets32 != NULL) {
        const int32_t *at = c->offsets32 + row;
        size_t i = 0;
        for (; n - i >= 8; i += 8) {
            const uint8_t *p[8];
            uint64_t length[8];
            for (unsigned j = 0; j < 8; j++) {
                p[j] = c->data + at[i + j];
                length[j] = (uint64_t)(at[i + j + 1] - at[i + j]);
            }
            lanes_put_eight(&l, i, p, length);
        }
        for (; i < n; i++) lanes_put(&l, i, c->data + at[i], (size_t)(at[i + 1] - at[i]));
    } else {
        const int64_t *at = c->offsets64 + row;
        for (size_t i = 0; i < n; i++)
            lanes_put(&l, i, c->data + at[i], (size_t)(at[i + 1] - at[i]));
    }
    lanes_close(&l);
}

void tamis__hash_column(const struct hasher *h, const struct column *c, size_t row, size_t n,
                        tamis_hash *out)
{
    const struct kernels *k = tamis__kernels();
    const uint8_t *p = c->data + row * c->stride;
    size_t i = 0;
    if (h->id == TAMIS_SIPHASH) {
        siphash_column(h, c, row, n, out);
    } else if (c->width == 0) {
        hash_texts(h, c, row, n, out);
    } else if (c->width == 8) {
        if (k->xxh3_rows != NULL && c->stride == 8) i = k->xxh3_rows(h->seed, p, n, out);
        for (; i < n; i++) out[i] = xxh3(p + i * c->stride, 8, h->seed);
    } else {
        struct lanes l = lanes_open(h->seed, out);
        for (; i < n; i++) lanes_put(&l, i, p + i * c->stride, c->width);
        lanes_close(&l);
    }
}
#endif

bool tamis__hasher_equal(const struct hasher *a, const struct hasher *b)
{
    return a->id == b->id && tamis__hasher_seed(a) == tamis__hasher_seed(b) &&
           memcmp(tamis__hasher_key_id(a), tamis__hasher_key_id(b), 16) == 0;
}

uint64_t tamis__checksum(const void *bytes, size_t n)
{
    return XXH3_64bits(bytes, n);
}

_Static_assert(sizeof(XXH3_state_t) <= sizeof(struct summing), "room for XXH3's state");

void tamis__summing_start(struct summing *s)
{
    XXH3_state_t *state = (void *)s->state;
    XXH3_INITSTATE(state);
    XXH3_64bits_reset(state);
}

void tamis__summing_add(struct summing *s, const void *bytes, size_t n)
{
    XXH3_64bits_update((void *)s->state, bytes, n);
}

uint64_t tamis__summing_end(const struct summing *s)
{
    return XXH3_64bits_digest((const void *)s->state);
}

uint64_t tamis__xxh64(const void *bytes, size_t n)
{
    return XXH64(n != 0 ? bytes : "", n, 0);
}
