/* The image reader and every verb behind it, on hostile bytes. The mutator repairs the sums most of
 * the time, or nothing would ever get past the root; see tests/support/resum.h.
 *
 * ./run fuzz image */
#include "fuzz.h"

#include "../support/resum.h"

#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/map.h>
#include <tamis/tamis.h>

#include <stdio.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static const uint8_t key[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void ask(const tamis *t)
{
    static const tamis_bytes keys[3] = {
        {"", 0}, {"key", 3}, {"a longer key, past sixteen bytes", 32}};
    const tamis_hash h[2] = {{0, 0}, {UINT64_MAX, UINT64_MAX}};
    uint8_t bits[1];
    uint64_t cells[64];
    tamis_hash out;
    tamis_facts f = {.struct_size = sizeof f};
    must(tamis_may_contain_many(t, keys, 3, bits) <= 3 && bits[0] < 8, "at most three answers");
    must(tamis_may_contain_hashes(t, h, 2, bits) <= 2 && bits[0] < 4, "at most two answers");
    must(tamis_may_contain_hashes(t, h, 2, NULL) == tamis_may_contain_hashes(t, h, 2, bits),
         "without bits as many");
    must(tamis_info(t, &f) == TAMIS_OK, "info");
    must(f.fill >= 0 && f.fill <= 1 && f.fpr_now >= 0 && f.fpr_now <= 1, "shares are shares");
    must(f.miss_rate >= 0 && f.miss_rate <= 1, "a share that is missed");
    if (f.key_width != 0 && f.key_width != 3) {
        must(tamis_may_contain(t, "key", 3), "a key of another length is a maybe");
        must(tamis_hash_many(t, keys + 1, 1, &out) != TAMIS_OK, "and has no hash");
    }
    const size_t n = tamis_cells_of(t, "key", 3, cells, 64);
    bool all = true;
    for (size_t i = 0; i < n; i++) all = all && tamis_cell(t, cells[i]) != 0;
    if (f.kind <= TAMIS_COUNTING)
        must(n == 0 || all == tamis_may_contain(t, "key", 3), "the cells decide");
    tamis_estimate e;
    if (tamis_count(t, "key", 3, &e, NULL) == TAMIS_OK)
        must(e.upper <= 0 || tamis_may_contain(t, "key", 3), "counted, so there");
}

static void look_up(const tamis *t)
{
    const tamis_hash h[3] = {{0, 0}, {UINT64_MAX, UINT64_MAX}, {1, UINT64_C(1) << 63}};
    uint32_t values[3], value;
    uint8_t found = 0xaa, bits;
    tamis_facts f = {.struct_size = sizeof f};
    must(tamis_stat(t, &f) == TAMIS_OK, "stat");
    const tamis_status s = tamis_value_hashes(t, h, 3, values, &found, NULL);
    must((s == TAMIS_OK) == (f.kind == TAMIS_VALUE_MAP && f.sealed),
         "only a sealed map has values");
    if (s != TAMIS_OK) return;
    must(tamis_may_contain_hashes(t, h, 3, &bits) <= 3 && bits == found, "found is a maybe");
    for (size_t i = 0; i < 3; i++) {
        must((uint64_t)values[i] >> f.cell_bits == 0, "no more bits than planned");
        must((found >> i & 1) != 0 || values[i] == 0, "nothing found, no value");
    }
    if (tamis_value(t, "key", 3, &value) == TAMIS_OK)
        must(tamis_may_contain(t, "key", 3), "a value, so a maybe");
}

static void read_list(const tamis *t)
{
    tamis_heavy list[8];
    tamis_facts f = {.struct_size = sizeof f};
    size_t found = 0, bytes = 0;
    must(tamis_info(t, &f) == TAMIS_OK, "info");
    for (size_t n = tamis_top(t, list, 8); n > 0; n--) {
        const tamis_heavy *h = &list[n - 1];
        for (size_t b = 0; b < h->item.len; b++) bytes += ((const uint8_t *)h->item.p)[b];
        must(h->count.lower <= h->count.estimate && h->count.estimate <= h->count.upper,
             "an interval");
    }
    must(tamis_above(t, f.list_floor, list, 8, &found, NULL) != TAMIS_OK || found <= f.listed,
         "listed");
    must(bytes < SIZE_MAX, "texts can be read");
}

static void weigh(tamis *t)
{
    static const int64_t weights[3] = {INT64_MAX, -300, 70000};
    tamis_estimate e = {0};
    for (int i = 0; i < 3; i++) {
        const tamis_status s = tamis_add_weight(t, "weighed", 7, weights[i], NULL);
        if (s != TAMIS_OK) continue;
        must(tamis_count(t, "weighed", 7, &e, NULL) == TAMIS_OK, "counts what it weighs");
        must(e.lower <= e.estimate && e.estimate <= e.upper, "an interval");
    }
}

static void convert(const tamis *t)
{
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++) {
        tamis *plain;
        if (tamis_convert(t, kind, &plain, NULL) != TAMIS_OK) continue;
        must(tamis_may_contain(plain, "key", 3) == tamis_may_contain(t, "key", 3), "as plain");
        tamis_close(plain);
    }
}

static void change(tamis *t)
{
    tamis *copy;
    tamis_similarity like = {.struct_size = sizeof like};
    const tamis_hash h = {UINT64_MAX, UINT64_MAX};
    uint8_t bit;
    must(tamis_copy(t, &copy, NULL) == TAMIS_OK, "copy");
    tamis_facts stated = {.struct_size = sizeof stated};
    must(tamis_stat(t, &stated) == TAMIS_OK, "stat");
    const bool strange = stated.key_width != 0 && stated.key_width != 3;
    if (tamis_add(t, "key", 3, NULL) == TAMIS_OK)
        must(!strange && tamis_may_contain(t, "key", 3), "no wrong no");
    if (tamis_add_hashes(t, &h, 1, NULL, NULL) == TAMIS_OK)
        must(tamis_may_contain_hashes(t, &h, 1, &bit) == 1, "no wrong no");
    for (uint32_t value = 0; value <= stated.items % 2; value++) /* two, or one */
        if (tamis_add_value(t, "key", 3, value, NULL) == TAMIS_OK)
            must(stated.kind == TAMIS_VALUE_MAP && !stated.sealed, "only a map takes values");
    weigh(t);
    tamis_status s = tamis_remove(t, "key", 3, NULL);
    tamis_facts f = {.struct_size = sizeof f};
    must(tamis_info(t, &f) == TAMIS_OK, "info");
    /* Where two probes of a key meet, a counter of 1 looks like a maybe but cannot be its own. */
    if (s == TAMIS_EABSENT && f.kind != TAMIS_COUNTING)
        must(!tamis_may_contain(t, "key", 3), "absent, so a no");
    s = tamis_compare(t, copy, &like, NULL);
    must(s == TAMIS_OK || s == TAMIS_EUNSUPPORTED || s == TAMIS_EMISMATCH, "compare");
    s = tamis_merge(t, copy, NULL);
    must(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EFULL || s == TAMIS_EUNSUPPORTED ||
             s == TAMIS_EMISMATCH,
         "merge");
    s = tamis_rotate(t, NULL);
    must(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EUNSUPPORTED, "rotate");
    s = tamis_rotate_to(t, UINT64_MAX, NULL);
    must(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EUNSUPPORTED, "rotate to the end");
    convert(t);
    s = tamis_seal(t, NULL);
    must(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_ENOMEM || s == TAMIS_EINVAL, "seal");
    tamis_close(copy);
}

/* What was written reads back, and writes the same. */
static void round_trip(const tamis *t, const tamis_options *o)
{
    struct bytes image = image_of(t);
    tamis *again;
    if (image.p == NULL && tamis_write(t, bytes_put, NULL, NULL) == TAMIS_EVERSION) return;
    must(image.p != NULL, "write");
    must(tamis_load(image.p, image.n, o, &again, NULL) == TAMIS_OK, "reload");
    struct bytes second = image_of(again);
    must(bytes_equal(image, second), "the same bytes");
    tamis_close(again);
    free(image.p);
    free(second.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tamis_options o = {.struct_size = sizeof o, .max_bytes = MAX_BYTES};
    if (size >= 30 && tamis__get16(data + 28) == TAMIS_SIPHASH) {
        /* The right key opens it; for another's image, go in without. */
        o.key = key;
        o.flags = TAMIS_KEYLESS;
    }
    struct bytes image = bytes_copy(data, size);
    tamis *t, *view;
    tamis_error why;
    tamis_status s = tamis_load(image.p, image.n, &o, &t, &why);
    if (s == TAMIS_EKEY) {
        o.key = NULL;
        s = tamis_load(image.p, image.n, &o, &t, &why);
    }
    must((s == TAMIS_OK) == (t != NULL), "a handle or a reason");
    must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
    must(tamis_view(image.p, image.n, &o, &view, NULL) == s, "load and view agree");
    if (s == TAMIS_OK) {
        ask(view);
        look_up(view);
        read_list(view);
        round_trip(view, &o);
        change(t);
        ask(t);
        look_up(t);
        read_list(t);
        round_trip(t, &o);
    }
    tamis_close(t);
    tamis_close(view);
    free(image.p);
    return 0;
}

#ifndef FUZZ_STANDALONE

/* One in eight stays broken, for the checks of the sums; half of the rest says its true length. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, max_size);
    if (seed % 8 == 0 || size < 128) return size;
    if (seed / 8 % 2 == 0) tamis__put64(data + 112, size);
    image_resum(data, size);
    return size;
}

#endif
