/* The recipes of tests/golden/: how each image there was made. make_golden.c wrote the images
 * once; test_golden.c makes them again and requires the same bytes. New recipes are added at the
 * end. Old ones never change. */
#ifndef TAMIS_TEST_GOLDEN_H
#define TAMIS_TEST_GOLDEN_H

#include "keys.h"
#include "private/release.h"
#include "resum.h"

#include <tamis/count.h>
#include <tamis/map.h>
#include <tamis/tamis.h>

enum {
    GOLDEN_KEYED = 1, /* under golden_secret */
    GOLDEN_SEALED = 2,
    GOLDEN_MERGED = 4,     /* of two halves */
    GOLDEN_AGAIN = 8,      /* half of the keys, written, loaded, the other half: generation 2 */
    GOLDEN_REMOVED = 16,   /* other keys were added before and removed after */
    GOLDEN_ROTATED = 32,   /* after the first half */
    GOLDEN_WEIGHED = 64,   /* keys have weights, every seventh a huge one */
    GOLDEN_RELEASED = 128, /* with epsilon 2, and noise that is always the same */
    GOLDEN_TWINS = 512,    /* the hashes of keys 0 and 1 have equal hi */
    GOLDEN_EPOCHS = 256    /* the first half at GOLDEN_EPOCH, the second in the next epoch */
};

struct recipe {
    const char *name;
    tamis_plan plan;
    uint64_t keys; /* golden_key_of 0 ... keys-1 are added */
    unsigned also;
};

#define GOLDEN_PLAN(...)                                                                           \
    {                                                                                              \
        .struct_size = sizeof(tamis_plan), __VA_ARGS__                                             \
    }
#define GOLDEN_SEED UINT64_C(0x0123456789abcdef)
#define GOLDEN_EPOCH UINT64_C(0x89abcdef01234567)

/* Shapes are given, so that a better planner changes none of them. Rates are high, so that the
 * 64 absent keys meet some false positives. */
static const struct recipe recipes[] = {
    {"bloom.tamis", GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 100, .m = 630, .k = 4), 100, 0},
    {"bloom-bitmap-seeded.tamis",
     GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 100, .m = 1001, .k = 1, .seed = GOLDEN_SEED), 100,
     0},
    {"bloom-merged.tamis", GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 100, .m = 486, .k = 4), 100,
     GOLDEN_MERGED},
    {"bloom-caller.tamis",
     GOLDEN_PLAN(.kind = TAMIS_BLOOM, .flags = TAMIS_HASH_CALLER, .items = 90, .m = 448, .k = 3),
     100, 0},
    {"partitioned.tamis", GOLDEN_PLAN(.kind = TAMIS_PARTITIONED, .items = 100, .m = 157, .k = 4),
     100, 0},
    {"partitioned-seeded-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_PARTITIONED, .items = 100, .m = 129, .k = 5, .seed = GOLDEN_SEED),
     100, GOLDEN_AGAIN},
    {"partitioned-strict-sealed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_PARTITIONED, .flags = TAMIS_STRICT, .items = 80, .m = 101, .k = 5),
     80, GOLDEN_SEALED},
    {"blocked.tamis", GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .items = 160, .m = 1024), 160, 0},
    {"blocked-seeded.tamis",
     GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .items = 180, .m = 1024, .seed = GOLDEN_SEED), 180, 0},
    {"blocked-keyed.tamis", GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .items = 160, .m = 1024), 160,
     GOLDEN_KEYED},
    {"blocked-empty.tamis", GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .items = 100, .m = 1024), 0, 0},
    /* 70 KiB of cells: a whole chunk and a short one. */
    {"blocked-chunks.tamis", GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .items = 100000, .m = 573440),
     100000, 0},
    {"blocked-compact.tamis",
     GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .flags = TAMIS_COMPACT, .items = 160, .m = 1024, .k = 9),
     160, 0},
    {"counting.tamis", GOLDEN_PLAN(.kind = TAMIS_COUNTING, .items = 100, .m = 601, .k = 4), 100,
     GOLDEN_REMOVED},
    {"counting-8-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_COUNTING, .items = 100, .m = 500, .k = 3, .cell_bits = 8), 100,
     GOLDEN_AGAIN},
    {"counting-16-lined.tamis",
     GOLDEN_PLAN(.kind = TAMIS_COUNTING, .items = 100, .m = 640, .k = 4, .cell_bits = 16,
                 .inner_kind = TAMIS_BLOCKED),
     100, GOLDEN_REMOVED},
    {"counting-4-lined-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_COUNTING, .items = 100, .m = 640, .k = 5,
                 .inner_kind = TAMIS_BLOCKED),
     100, GOLDEN_KEYED},
    {"pair.tamis", GOLDEN_PLAN(.kind = TAMIS_PAIR, .items = 150, .m = 1536), 100, GOLDEN_REMOVED},
    {"pair-partitioned.tamis",
     GOLDEN_PLAN(.kind = TAMIS_PAIR, .items = 100, .m = 199, .k = 4,
                 .inner_kind = TAMIS_PARTITIONED),
     100, GOLDEN_REMOVED},
    {"window.tamis", GOLDEN_PLAN(.kind = TAMIS_WINDOW, .items = 300, .m = 1024, .generations = 3),
     150, GOLDEN_ROTATED},
    {"window-bloom-turning.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .flags = TAMIS_AUTO_ROTATE, .items = 100, .m = 333, .k = 4,
                 .generations = 2, .inner_kind = TAMIS_BLOOM),
     100, 0},
    {"growing.tamis", GOLDEN_PLAN(.kind = TAMIS_GROWING, .fpr = 0.25, .m = 128, .k = 5), 110, 0},
    /* Three doublings, one of them after it was loaded again. */
    {"growing-grown-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_GROWING, .fpr = 0.9, .m = 128, .k = 3, .seed = GOLDEN_SEED), 700,
     GOLDEN_AGAIN},
    {"cuckoo.tamis", GOLDEN_PLAN(.kind = TAMIS_CUCKOO, .items = 150, .m = 200, .bytes = 500), 120,
     GOLDEN_REMOVED},
    {"cuckoo-keyed-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_CUCKOO, .items = 100, .m = 151 * 2, .bytes = 700), 100,
     GOLDEN_KEYED | GOLDEN_AGAIN},
    {"fuse.tamis", GOLDEN_PLAN(.kind = TAMIS_FUSE, .items = 100, .fpr = 0.0625), 150,
     GOLDEN_SEALED},
    {"fuse-4-keyed.tamis", GOLDEN_PLAN(.kind = TAMIS_FUSE, .items = 100, .fpr = 0.03125, .k = 4),
     100, GOLDEN_SEALED | GOLDEN_KEYED},
    {"fuse-collecting.tamis", GOLDEN_PLAN(.kind = TAMIS_FUSE, .items = 100, .fpr = 0.01), 70,
     GOLDEN_AGAIN},
    {"ribbon.tamis", GOLDEN_PLAN(.kind = TAMIS_RIBBON, .items = 100, .fpr = 0.07), 150,
     GOLDEN_SEALED},
    {"ribbon-layers-keyed.tamis", GOLDEN_PLAN(.kind = TAMIS_RIBBON, .items = 2500, .fpr = 0.11),
     2500, GOLDEN_SEALED | GOLDEN_KEYED},
    {"ribbon-collecting.tamis", GOLDEN_PLAN(.kind = TAMIS_RIBBON, .items = 100, .fpr = 0.01), 70,
     GOLDEN_AGAIN},
    /* Keys from GOLDEN_ABSENT on are excluded: 30 of the 64 absent ones that are asked, or all. */
    {"exact.tamis", GOLDEN_PLAN(.kind = TAMIS_EXACT, .items = 100, .excluded = 30, .fpr = 0.3), 150,
     GOLDEN_SEALED},
    {"exact-layers-keyed.tamis", GOLDEN_PLAN(.kind = TAMIS_EXACT, .items = 900, .excluded = 5000),
     900, GOLDEN_SEALED | GOLDEN_KEYED},
    {"exact-one-ribbon.tamis", GOLDEN_PLAN(.kind = TAMIS_EXACT, .items = 800, .excluded = 800), 800,
     GOLDEN_SEALED},
    {"exact-collecting.tamis",
     GOLDEN_PLAN(.kind = TAMIS_EXACT, .items = 100, .excluded = 50, .fpr = 0.01), 70, GOLDEN_AGAIN},
    {"count-min.tamis", GOLDEN_PLAN(.kind = TAMIS_COUNT_MIN, .m = 61, .k = 3), 100, GOLDEN_REMOVED},
    {"count-min-64-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_COUNT_MIN, .m = 40, .k = 4, .cell_bits = 64, .seed = GOLDEN_SEED),
     100, GOLDEN_WEIGHED | GOLDEN_AGAIN},
    /* Some counters have reached their end. */
    {"count-min-conservative-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_COUNT_MIN, .flags = TAMIS_CONSERVATIVE, .m = 75, .k = 4), 100,
     GOLDEN_WEIGHED | GOLDEN_KEYED},
    {"tally.tamis", GOLDEN_PLAN(.kind = TAMIS_TALLY, .m = 56 * 5), 100, 0},
    /* Counters of all lengths. */
    {"tally-weighed-keyed-again.tamis", GOLDEN_PLAN(.kind = TAMIS_TALLY, .m = 56 * 3), 100,
     GOLDEN_WEIGHED | GOLDEN_KEYED | GOLDEN_AGAIN},
    {"tally-merged.tamis", GOLDEN_PLAN(.kind = TAMIS_TALLY, .m = 56 * 8, .seed = GOLDEN_SEED), 100,
     GOLDEN_WEIGHED | GOLDEN_MERGED},
    {"count-sketch.tamis", GOLDEN_PLAN(.kind = TAMIS_COUNT_SKETCH, .m = 33, .k = 5), 100,
     GOLDEN_REMOVED},
    /* Some counters have reached their end. */
    {"count-sketch-weighed-keyed.tamis", GOLDEN_PLAN(.kind = TAMIS_COUNT_SKETCH, .m = 90, .k = 3),
     100, GOLDEN_WEIGHED | GOLDEN_KEYED},
    {"count-sketch-64-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_COUNT_SKETCH, .m = 20, .k = 7, .cell_bits = 64), 100,
     GOLDEN_WEIGHED | GOLDEN_AGAIN},
    {"signed-tally.tamis", GOLDEN_PLAN(.kind = TAMIS_SIGNED_TALLY, .m = 56 * 5), 100,
     GOLDEN_REMOVED},
    {"signed-tally-weighed-keyed-again.tamis", GOLDEN_PLAN(.kind = TAMIS_SIGNED_TALLY, .m = 56 * 3),
     100, GOLDEN_WEIGHED | GOLDEN_KEYED | GOLDEN_AGAIN},
    {"signed-tally-merged.tamis",
     GOLDEN_PLAN(.kind = TAMIS_SIGNED_TALLY, .m = 56 * 8, .seed = GOLDEN_SEED), 100,
     GOLDEN_WEIGHED | GOLDEN_MERGED},
    /* More keys than places, and texts that are cut and dropped. */
    {"top.tamis", GOLDEN_PLAN(.kind = TAMIS_TOP, .m = 56 * 5, .items = 6), 100, 0},
    {"top-weighed-keyed-again.tamis", GOLDEN_PLAN(.kind = TAMIS_TOP, .m = 56 * 3, .items = 10), 100,
     GOLDEN_WEIGHED | GOLDEN_KEYED | GOLDEN_AGAIN},
    {"top-merged.tamis",
     GOLDEN_PLAN(.kind = TAMIS_TOP, .m = 56 * 8, .items = 8, .seed = GOLDEN_SEED), 100,
     GOLDEN_WEIGHED | GOLDEN_MERGED},
    {"window-of-tally.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .m = 56 * 3, .generations = 3, .inner_kind = TAMIS_TALLY),
     100, GOLDEN_WEIGHED | GOLDEN_ROTATED},
    {"window-of-top-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .items = 2, .m = 56 * 2, .generations = 2,
                 .inner_kind = TAMIS_TOP),
     100, GOLDEN_WEIGHED | GOLDEN_ROTATED | GOLDEN_KEYED},
    {"private.tamis", GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 100, .m = 1001, .k = 1), 100,
     GOLDEN_RELEASED},
    {"private-keyed.tamis", GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 300, .m = 640, .k = 1), 300,
     GOLDEN_RELEASED | GOLDEN_KEYED},
    /* Images that state how their keys are encoded. */
    {"bloom-text.tamis",
     GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 100, .m = 630, .k = 4, .encoding = TAMIS_KEYS_TEXT),
     100, 0},
    {"blocked-int64.tamis",
     GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .items = 160, .m = 1024, .encoding = TAMIS_KEYS_INT64), 160,
     0},
    {"counting-int64-removed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_COUNTING, .items = 100, .m = 601, .k = 4,
                 .encoding = TAMIS_KEYS_INT64),
     100, GOLDEN_REMOVED},
    {"cuckoo-fixed-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_CUCKOO, .items = 150, .m = 200, .bytes = 500,
                 .encoding = TAMIS_KEYS_FIXED, .key_width = 20),
     120, GOLDEN_AGAIN},
    {"ribbon-sha256-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_RIBBON, .items = 100, .fpr = 0.07, .encoding = TAMIS_KEYS_SHA256),
     150, GOLDEN_SEALED | GOLDEN_KEYED},
    {"window-caller-keys.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .items = 300, .m = 1024, .generations = 3,
                 .encoding = TAMIS_KEYS_CALLER),
     150, GOLDEN_ROTATED},
    {"tally-int64-merged.tamis",
     GOLDEN_PLAN(.kind = TAMIS_TALLY, .m = 56 * 8, .encoding = TAMIS_KEYS_INT64), 100,
     GOLDEN_WEIGHED | GOLDEN_MERGED},
    {"private-fixed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 100, .m = 1001, .k = 1, .encoding = TAMIS_KEYS_FIXED,
                 .key_width = 5),
     100, GOLDEN_RELEASED},
    /* Windows that record an epoch. */
    {"window-epoch.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .items = 300, .m = 1024, .generations = 3), 150,
     GOLDEN_EPOCHS},
    {"window-epoch-turning-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .flags = TAMIS_AUTO_ROTATE, .items = 150, .m = 333, .k = 4,
                 .generations = 3, .inner_kind = TAMIS_BLOOM),
     100, GOLDEN_EPOCHS | GOLDEN_KEYED | GOLDEN_SEALED},
    {"window-of-tally-epoch-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .m = 56 * 3, .generations = 3, .inner_kind = TAMIS_TALLY),
     100, GOLDEN_WEIGHED | GOLDEN_EPOCHS | GOLDEN_AGAIN},
    /* Tokens. */
    {"distinct.tamis", GOLDEN_PLAN(.kind = TAMIS_DISTINCT, .m = 1024), 64, 0},
    {"distinct-empty.tamis", GOLDEN_PLAN(.kind = TAMIS_DISTINCT, .m = 16), 0, 0},
    {"distinct-full-seeded.tamis",
     GOLDEN_PLAN(.kind = TAMIS_DISTINCT, .m = 128, .seed = GOLDEN_SEED), 64, 0},
    /* Registers, the first of them of many keys. */
    {"distinct-16.tamis", GOLDEN_PLAN(.kind = TAMIS_DISTINCT, .m = 16), 3000, 0},
    {"distinct-64-keyed.tamis", GOLDEN_PLAN(.kind = TAMIS_DISTINCT, .m = 64), 64, GOLDEN_KEYED},
    {"distinct-merged.tamis", GOLDEN_PLAN(.kind = TAMIS_DISTINCT, .m = 64), 64, GOLDEN_MERGED},
    {"distinct-int64-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_DISTINCT, .m = 32, .encoding = TAMIS_KEYS_INT64), 64, GOLDEN_AGAIN},
    {"window-of-distinct.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .m = 64, .generations = 3, .inner_kind = TAMIS_DISTINCT), 64,
     GOLDEN_ROTATED},
    {"window-of-distinct-epoch-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .m = 16, .generations = 2, .inner_kind = TAMIS_DISTINCT), 64,
     GOLDEN_EPOCHS | GOLDEN_KEYED},
    /* Far beyond the plan, so that keys go to the stash. */
    {"cuckoo-stash-again.tamis",
     GOLDEN_PLAN(.kind = TAMIS_CUCKOO, .items = 5, .m = 36, .bytes = 296), 64, GOLDEN_AGAIN},
    {"cuckoo-stash-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_CUCKOO, .items = 20, .m = 60, .bytes = 320), 64,
     GOLDEN_REMOVED | GOLDEN_KEYED},
    {"map.tamis", GOLDEN_PLAN(.kind = TAMIS_VALUE_MAP, .items = 100, .fpr = 0.01, .cell_bits = 8),
     150, GOLDEN_SEALED},
    /* More than 32 columns. */
    {"map-wide-layers-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_VALUE_MAP, .items = 1500, .fpr = 0x1p-8, .cell_bits = 32), 1500,
     GOLDEN_SEALED | GOLDEN_KEYED},
    {"map-rate-1.tamis",
     GOLDEN_PLAN(.kind = TAMIS_VALUE_MAP, .items = 100, .fpr = 1, .cell_bits = 3), 150,
     GOLDEN_SEALED},
    /* Segments with and without a column of fingerprints. */
    {"map-layers.tamis",
     GOLDEN_PLAN(.kind = TAMIS_VALUE_MAP, .items = 2500, .fpr = 0.7, .cell_bits = 13,
                 .encoding = TAMIS_KEYS_INT64),
     2500, GOLDEN_SEALED},
    /* Only another salt than 0 makes the two keys with equal hi differ. */
    {"map-caller-salted.tamis",
     GOLDEN_PLAN(.kind = TAMIS_VALUE_MAP, .flags = TAMIS_HASH_CALLER, .items = 100, .fpr = 0.03,
                 .cell_bits = 5),
     130, GOLDEN_SEALED | GOLDEN_TWINS},
    {"map-empty.tamis",
     GOLDEN_PLAN(.kind = TAMIS_VALUE_MAP, .items = 100, .fpr = 0.01, .cell_bits = 16), 0,
     GOLDEN_SEALED},
    {"map-collecting.tamis",
     GOLDEN_PLAN(.kind = TAMIS_VALUE_MAP, .items = 100, .fpr = 0.01, .cell_bits = 12), 70,
     GOLDEN_AGAIN},
    /* A first table, and shares of which some have doubled. */
    {"growing-shares.tamis", GOLDEN_PLAN(.kind = TAMIS_GROWING, .fpr = 0.25, .m = 128, .k = 5),
     6000, 0},
    /* Shares from the beginning, some of which double after it was loaded again. */
    {"growing-shares-again-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_GROWING, .items = 3841, .fpr = 0.9, .k = 3), 4400,
     GOLDEN_KEYED | GOLDEN_AGAIN},
    /* Some entries lie within others, and some were removed; shares have doubled. */
    {"growing-removable.tamis",
     GOLDEN_PLAN(.kind = TAMIS_GROWING, .flags = TAMIS_REMOVABLE, .fpr = 0.25, .k = 5), 4500,
     GOLDEN_REMOVED},
    {"growing-removable-again-keyed.tamis",
     GOLDEN_PLAN(.kind = TAMIS_GROWING, .flags = TAMIS_REMOVABLE, .fpr = 0.9, .k = 3), 4400,
     GOLDEN_KEYED | GOLDEN_AGAIN | GOLDEN_REMOVED},
};
#define RECIPES (sizeof recipes / sizeof *recipes)

/* Those that are there as packed files, and only so. */
static const struct recipe packed_recipes[] = {
    /* 75 KB: a whole frame and a short one, both coded. */
    {"bloom-transfer.packed", GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 2000, .m = 600000, .k = 2),
     2000, 0},
    {"bloom-transfer-empty.packed",
     GOLDEN_PLAN(.kind = TAMIS_BLOOM, .items = 40, .m = 4001, .k = 1), 0, 0},
    {"window.packed", GOLDEN_PLAN(.kind = TAMIS_WINDOW, .items = 300, .m = 2048, .generations = 3),
     60, GOLDEN_ROTATED},
    {"ribbon-keyed.packed", GOLDEN_PLAN(.kind = TAMIS_RIBBON, .items = 1500, .fpr = 0.07), 1500,
     GOLDEN_SEALED | GOLDEN_KEYED}, /* a stored frame */
    {"window-epoch.packed",
     GOLDEN_PLAN(.kind = TAMIS_WINDOW, .items = 300, .m = 2048, .generations = 3), 60,
     GOLDEN_EPOCHS},
};
#define PACKED_RECIPES (sizeof packed_recipes / sizeof *packed_recipes)

static const uint8_t golden_secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

#define GOLDEN_KEY_MAX 250
#define GOLDEN_ABSENT UINT64_C(1000000000) /* golden_key_of from here on is never added */
#define GOLDEN_GONE UINT64_C(500000000)    /* 40 from here on are those that are removed */

static inline size_t golden_fill(uint64_t i, uint8_t *key, size_t n)
{
    tamis__put32(key, (uint32_t)i);
    for (size_t b = 4; b < n; b++) key[b] = (uint8_t)(i * 7 + b * 13);
    return n;
}

/* The i-th key: the empty one, then every length class of the hashes; returns its length. */
static inline size_t golden_key(uint64_t i, uint8_t *key)
{
    static const uint8_t lengths[16] = {4, 5, 6, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 4, 4, 4};
    if (i == 0) return 0;
    size_t n = lengths[i % 16];
    if (i % 64 == 61) n = 129;
    if (i % 64 == 62) n = 241;
    return golden_fill(i, key, n);
}

/* The length that the recipe states for every key; 0: any. */
static inline size_t golden_width(const struct recipe *r)
{
    const uint32_t e = r->plan.encoding;
    return e == TAMIS_KEYS_INT64 ? 8 : e == TAMIS_KEYS_SHA256 ? 32 : r->plan.key_width;
}

/* The same for a recipe, which may state the length. */
static inline size_t golden_key_of(const struct recipe *r, uint64_t i, uint8_t *key)
{
    const size_t width = golden_width(r);
    return width == 0 ? golden_key(i, key) : golden_fill(i, key, width);
}

/* What a caller's own hash function might have made of key i. */
static inline tamis_hash golden_hash(uint64_t i)
{
    uint64_t state = i * UINT64_C(0x9e3779b97f4a7c15);
    const uint64_t lo = splitmix(&state), hi = splitmix(&state);
    return (tamis_hash){lo, hi};
}

static inline tamis_hash golden_hash_of(const struct recipe *r, uint64_t i)
{
    tamis_hash h = golden_hash(i);
    if ((r->also & GOLDEN_TWINS) != 0 && i == 1) h.hi = golden_hash(0).hi;
    return h;
}

/* What the text files have of key i: its bytes, or its hash if the caller hashes. */
static inline size_t golden_bytes_of(const struct recipe *r, uint64_t i, uint8_t *key)
{
    const tamis_hash h = golden_hash_of(r, i);
    if ((r->plan.flags & TAMIS_HASH_CALLER) == 0) return golden_key_of(r, i, key);
    tamis__put64(key, h.lo);
    tamis__put64(key + 8, h.hi);
    return 16;
}

static inline int64_t golden_weight(uint64_t i)
{
    return (int64_t)(i % 7 == 3 ? i * i * i * 5000011 : 1 + i * 3);
}

/* The value of key i in a map. */
static inline uint32_t golden_value(const struct recipe *r, uint64_t i)
{
    const uint64_t random = golden_hash(i).lo;
    return r->plan.cell_bits == 0 ? 0 : (uint32_t)(random >> (64 - r->plan.cell_bits));
}

static inline tamis_status golden_add(tamis *t, const struct recipe *r, uint64_t from, uint64_t to)
{
    tamis_status s = TAMIS_OK;
    for (uint64_t i = from; i < to && s == TAMIS_OK; i++) {
        uint8_t key[GOLDEN_KEY_MAX];
        const tamis_hash h = golden_hash_of(r, i);
        const uint32_t value = golden_value(r, i);
        const bool map = r->plan.kind == TAMIS_VALUE_MAP;
        if ((r->plan.flags & TAMIS_HASH_CALLER) != 0 && map)
            s = tamis_add_value_hashes(t, &h, &value, 1, NULL, NULL);
        else if ((r->plan.flags & TAMIS_HASH_CALLER) != 0)
            s = tamis_add_hashes(t, &h, 1, NULL, NULL);
        else if (map)
            s = tamis_add_value(t, key, golden_key_of(r, i, key), value, NULL);
        else if ((r->also & GOLDEN_WEIGHED) != 0)
            s = tamis_add_weight(t, key, golden_key_of(r, i, key), golden_weight(i), NULL);
        else
            s = tamis_add(t, key, golden_key_of(r, i, key), NULL);
    }
    return s;
}

static inline tamis_options golden_options(const struct recipe *r)
{
    tamis_options o = {.struct_size = sizeof o};
    if ((r->also & GOLDEN_KEYED) != 0) o.key = golden_secret;
    return o;
}

/* The second half of the keys, by way of another handle. */
static inline tamis_status golden_second_half(tamis **t, const struct recipe *r)
{
    const tamis_options o = golden_options(r);
    tamis *other = NULL;
    tamis_status s = TAMIS_OK;
    if ((r->also & GOLDEN_MERGED) != 0) {
        s = tamis_create(&r->plan, &o, &other, NULL);
        if (s == TAMIS_OK) s = golden_add(other, r, r->keys / 2, r->keys);
        if (s == TAMIS_OK) s = tamis_merge(*t, other, NULL);
        tamis_close(other);
    } else if ((r->also & GOLDEN_AGAIN) != 0) {
        struct bytes image = image_of(*t);
        s = tamis_load(image.p, image.n, &o, &other, NULL);
        free(image.p);
        if (s != TAMIS_OK) return s;
        tamis_close(*t);
        *t = other;
        s = golden_add(other, r, r->keys / 2, r->keys);
    } else {
        s = golden_add(*t, r, r->keys / 2, r->keys);
    }
    return s;
}

/* Anything but random: for tests. ctx is the state of splitmix. */
static inline int golden_noise(void *ctx, void *to, size_t n)
{
    uint8_t *at = to;
    for (size_t i = 0; i < n; i += 4)
        tamis__put32(at + i, (uint32_t)(splitmix((uint64_t *)ctx) >> 32));
    return 0;
}

/* In place of the filter, which is closed. */
static inline tamis_status golden_release(tamis **t)
{
    uint64_t state = GOLDEN_SEED;
    const struct randomness noise = {golden_noise, &state};
    tamis *out;
    const tamis_status s = tamis__release(*t, 2, &noise, &out, NULL);
    tamis_close(*t);
    *t = out;
    return s;
}

static inline uint32_t golden_kind(const struct recipe *r)
{
    return (r->also & GOLDEN_RELEASED) != 0 ? TAMIS_PRIVATE : r->plan.kind;
}

static inline tamis_status golden_cook(const struct recipe *r, tamis **out)
{
    const tamis_options o = golden_options(r);
    tamis *t = NULL;
    tamis_status s = tamis_create(&r->plan, &o, &t, NULL);
    const bool removed = (r->also & GOLDEN_REMOVED) != 0;
    const bool epochs = (r->also & GOLDEN_EPOCHS) != 0;
    if (s == TAMIS_OK && removed) s = golden_add(t, r, GOLDEN_GONE, GOLDEN_GONE + 40);
    if (s == TAMIS_OK && epochs) s = tamis_rotate_to(t, GOLDEN_EPOCH, NULL);
    if (s == TAMIS_OK) s = golden_add(t, r, 0, r->keys / 2);
    if (s == TAMIS_OK && (r->also & GOLDEN_ROTATED) != 0) s = tamis_rotate(t, NULL);
    if (s == TAMIS_OK && epochs) s = tamis_rotate_to(t, GOLDEN_EPOCH + 1, NULL);
    if (s == TAMIS_OK) s = golden_second_half(&t, r);
    for (uint64_t i = 0; s == TAMIS_OK && i < r->plan.excluded; i++) {
        uint8_t key[GOLDEN_KEY_MAX];
        s = tamis_exclude(t, key, golden_key_of(r, GOLDEN_ABSENT + i, key), NULL);
    }
    for (uint64_t i = GOLDEN_GONE; removed && s == TAMIS_OK && i < GOLDEN_GONE + 40; i++) {
        uint8_t key[GOLDEN_KEY_MAX];
        s = tamis_remove(t, key, golden_key_of(r, i, key), NULL);
    }
    if (s == TAMIS_OK && (r->also & GOLDEN_SEALED) != 0) s = tamis_seal(t, NULL);
    if (s == TAMIS_OK && (r->also & GOLDEN_RELEASED) != 0) s = golden_release(&t);
    if (s != TAMIS_OK) {
        tamis_close(t);
        t = NULL;
    }
    *out = t;
    return s;
}

/* What counts.txt has of a count: what the counters alone say. */
static inline int64_t golden_count(const struct recipe *r, const tamis_estimate *e)
{
    const bool two_sided = r->plan.kind == TAMIS_COUNT_SKETCH || r->plan.kind == TAMIS_SIGNED_TALLY;
    return two_sided ? e->estimate : e->upper;
}

/* Whether distinct.txt has what the image says. */
static inline bool golden_distinct(const struct recipe *r)
{
    return r->plan.kind == TAMIS_DISTINCT || r->plan.inner_kind == TAMIS_DISTINCT;
}

/* Whether values.txt has what the image says. */
static inline bool golden_values(const struct recipe *r)
{
    return r->plan.kind == TAMIS_VALUE_MAP && (r->also & GOLDEN_SEALED) != 0;
}

/* Whether counts.txt has what the image says. */
static inline bool golden_counts(const struct recipe *r)
{
    return (r->plan.kind >= TAMIS_COUNT_MIN || r->plan.inner_kind >= TAMIS_COUNT_MIN) &&
           !golden_distinct(r);
}

/* Looks up the value of a key of values.txt. */
static inline tamis_status golden_value_of(const struct recipe *r, const tamis *t,
                                           const uint8_t *key, size_t n, uint32_t *value,
                                           uint8_t *found)
{
    const tamis_bytes one = {key, n};
    if ((r->plan.flags & TAMIS_HASH_CALLER) == 0)
        return tamis_value_many(t, &one, 1, value, found, NULL);
    const tamis_hash h = {tamis__get64(key), tamis__get64(key + 8)};
    return tamis_value_hashes(t, &h, 1, value, found, NULL);
}

/* A file of tests/golden, to be freed. */
static inline struct bytes read_golden(const char *name)
{
    char path[4096];
    const char *source = getenv("TAMIS_SOURCE");
    snprintf(path, sizeof path, "%s/tests/golden/%s", source != NULL ? source : ".", name);
    FILE *f = fopen(path, "rb");
    long size = -1;
    if (f != NULL && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    if (size <= 0 || fseek(f, 0, SEEK_SET) != 0) {
        printf("cannot read %s\n", path);
        abort();
    }
    struct bytes b = bytes_new((size_t)size);
    if (fread(b.p, 1, b.n, f) != b.n) abort();
    fclose(f);
    return b;
}

/* The bytes of it, to be freed. */
static inline struct bytes golden_image(const struct recipe *r)
{
    tamis *t;
    if (golden_cook(r, &t) != TAMIS_OK) abort();
    struct bytes image = image_of(t);
    if (image.p == NULL) abort();
    tamis_close(t);
    return image;
}

#endif
