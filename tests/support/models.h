/* Images of every kind, including sealed ones, windows of every kind and some with a secret key,
 * for promises that hold for all of them. Requires _POSIX_C_SOURCE 200809L before the first
 * include. */
#ifndef TAMIS_TEST_MODELS_H
#define TAMIS_TEST_MODELS_H

#include "check.h"
#include "resum.h"

#include <tamis/inspect.h>
#include <tamis/map.h>
#include <tamis/tamis.h>

enum { FIRST = 200, MORE = 900 }; /* keys in a model, and of all */

static uint32_t numbers[MORE], values[MORE]; /* the keys, and their values in a map */
static tamis_bytes keys[MORE];
static int64_t weights[MORE];

/* What a map has for a key. */
static inline uint32_t model_value(tamis_bytes key)
{
    uint32_t sum = 7;
    for (size_t i = 0; i < key.len; i++) sum = sum * 31 + ((const uint8_t *)key.p)[i];
    return sum & 0xff;
}

static inline void make_keys(void)
{
    for (uint32_t i = 0; i < MORE; i++) {
        numbers[i] = i;
        values[i] = model_value((tamis_bytes){&numbers[i], sizeof numbers[i]});
        keys[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
        weights[i] = 1 + i % 7;
    }
}

struct model {
    uint32_t kind, inner;
    bool sealed;
    bool removable;                    /* with TAMIS_REMOVABLE */
    bool bitmap;                       /* k = 1, which can be released */
    bool keyed;                        /* with model_key */
    bool registers;                    /* distinct: it has registers; otherwise a few more keys
                                        * than FIRST make it have them */
    struct bytes image, other, packed; /* other: of half other keys, can be merged where any can */
};

enum { MODELS = 64 };
static struct model models[MODELS];
static size_t n_models;

static const uint8_t model_key[16] = {1, 2, 3};

/* What opens it. */
static inline tamis_options model_options(const struct model *m, const tamis_memory *memory)
{
    return (tamis_options){
        .struct_size = sizeof(tamis_options), .memory = memory, .key = m->keyed ? model_key : NULL};
}

static inline bool is_static(uint32_t kind)
{
    return kind == TAMIS_FUSE || kind == TAMIS_RIBBON || kind == TAMIS_EXACT ||
           kind == TAMIS_VALUE_MAP;
}

/* Adds keys to a structure of any kind, to a map with their values. */
static inline tamis_status put_keys(tamis *t, const tamis_bytes *from, size_t n)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_status s = tamis_stat(t, &f);
    if (s != TAMIS_OK || f.kind != TAMIS_VALUE_MAP) return tamis_add_many(t, from, n, NULL, NULL);
    for (size_t i = 0; i < n && s == TAMIS_OK; i++)
        s = tamis_add_value(t, from[i].p, from[i].len, model_value(from[i]), NULL);
    return s;
}

static inline tamis *fill_model(const struct model *m, uint32_t from)
{
    const bool counts = m->kind >= TAMIS_COUNT_MIN || m->inner >= TAMIS_COUNT_MIN;
    tamis_plan p = {.struct_size = sizeof p, .kind = m->kind, .inner_kind = m->inner};
    p.bytes = counts ? 40000 : 0;
    if (m->kind == TAMIS_DISTINCT) p.bytes = m->registers ? 1000 : 5000;
    p.items = counts ? m->kind == TAMIS_TOP || m->inner == TAMIS_TOP ? 10 : 0 : 300;
    p.fpr = counts ? 0 : 0.01;
    if (m->removable) p.flags = TAMIS_REMOVABLE;
    if (m->bitmap) p.kind = TAMIS_BLOOM, p.m = 4096, p.k = 1, p.fpr = 0;
    const tamis_options o = model_options(m, NULL);
    tamis *t, *private;
    if (tamis_create(&p, &o, &t, NULL) != TAMIS_OK) return NULL;
    CHECK_OK(put_keys(t, keys + from, FIRST));
    if (m->kind == TAMIS_WINDOW) {
        CHECK_OK(tamis_rotate(t, NULL));
        CHECK_OK(tamis_add_many(t, keys, 50, NULL, NULL));
    }
    if (m->kind == TAMIS_EXACT) CHECK_OK(tamis_exclude_many(t, keys + MORE - 100, 100, NULL));
    if (m->kind == TAMIS_PRIVATE) {
        CHECK_OK(tamis_release(t, 1, &private, NULL));
        tamis_close(t);
        return private;
    }
    if (m->sealed) CHECK_OK(tamis_seal(t, NULL));
    return t;
}

static inline void add_model(struct model m)
{
    tamis *t = fill_model(&m, 0), *other;
    if (t == NULL) return; /* no window of that */
    other = fill_model(&m, FIRST / 2);
    CHECK(other != NULL && n_models < MODELS);
    m.image = image_of(t);
    m.other = image_of(other);
    m.packed = m.kind != TAMIS_PRIVATE ? packed_of(t) : bytes_copy("x", 1);
    CHECK(m.image.p != NULL && m.other.p != NULL && m.packed.p != NULL);
    tamis_close(t);
    tamis_close(other);
    models[n_models++] = m;
}

static inline void make_models(void)
{
    make_keys();
    for (uint32_t kind = 1; kind <= TAMIS_DISTINCT; kind++) {
        if (tamis_kind_name(kind) == NULL) continue;
        const size_t before = n_models;
        add_model((struct model){.kind = kind, .bitmap = kind == TAMIS_PRIVATE});
        if (is_static(kind)) add_model((struct model){.kind = kind, .sealed = true});
        CHECK(n_models > before);
        if (kind != TAMIS_WINDOW) add_model((struct model){.kind = TAMIS_WINDOW, .inner = kind});
    }
    add_model((struct model){.kind = TAMIS_GROWING, .removable = true});
    add_model((struct model){.kind = TAMIS_BLOOM, .bitmap = true});
    add_model((struct model){.kind = TAMIS_BLOOM, .keyed = true});
    add_model((struct model){.kind = TAMIS_TOP, .keyed = true});
    add_model((struct model){.kind = TAMIS_RIBBON, .keyed = true, .sealed = true});
    add_model((struct model){.kind = TAMIS_DISTINCT, .registers = true});
    /* 19 kinds, 4 of them sealed as well, windows of bits and of counts, the removable, the bitmap,
     * the keyed, the registers. */
    CHECK_THAT(n_models, ==, 19 + 4 + 9 + 1 + 1 + 3 + 1);
}

static inline void free_models(void)
{
    for (size_t i = 0; i < n_models; i++) {
        free(models[i].image.p);
        free(models[i].other.p);
        free(models[i].packed.p);
    }
    n_models = 0;
}

#endif
