/* RedisBloom's structures without a server. Real objects of RedisBloom
 * (tests/redis/redisbloom*.vectors) are made again by the same commands, byte for byte; they
 * load, give the same answers, and are saved as the same bytes. Damaged ones are refused.
 * Replicas of a TopK agree. Every refused allocation is an error that changes nothing. */
#include "../support/redis_vectors.h"

#include <math.h>

/* In this object one item met the cell of another, whose count then fell by chance, in
 * RedisBloom not in the same way as here. All else is equal, except the number of draws, which
 * only this one keeps. */
static void check_same_top(struct compat_top *value, struct fields *wanted)
{
    const uint64_t cells = (uint64_t)value->width * value->depth;
    struct compat_top *theirs;
    void *loaded;
    uint64_t different = 0;
    CHECK(load(TOPK, wanted, &loaded) == COMPAT_OK);
    theirs = loaded;
    for (uint64_t i = 0; i < cells; i++) {
        uint8_t *cell = value->cells + 8 * i;
        CHECK(compat_get32(cell) == compat_get32(theirs->cells + 8 * i));
        different += compat_get32(cell + 4) != compat_get32(theirs->cells + 8 * i + 4);
    }
    CHECK_THAT(different, <=, 1);
    CHECK_THAT(value->draws, ==, 10);
    memcpy(value->cells, theirs->cells, (size_t)(8 * cells));
    value->draws = 0;
    drop(TOPK, loaded);
    check_same(TOPK, value, wanted);
}

static void test_made_again(void)
{
    size_t asked = 0;
    for (size_t i = 0; i < object_count; i++) {
        const struct object *o = &objects[i];
        struct fields wanted = without_pointers(o);
        void *value = NULL;
        for (size_t j = 0; j < o->runs; j++) run(o->family, &o->run[j], &value);
        if (o->family == TOPK)
            check_same_top(value, &wanted);
        else
            check_same(o->family, value, &wanted);
        for (size_t j = 0; j < o->asks; j++) ask(&o->ask[j], value, &asked);
        drop(o->family, value);
        free(wanted.p);
    }
    CHECK_THAT(asked, >, 300);
    CHECK_THAT(live, ==, 0);
}

static void test_loaded(void)
{
    size_t asked = 0;
    for (size_t i = 0; i < object_count; i++) {
        const struct object *o = &objects[i];
        struct fields wanted = without_pointers(o), given = o->dump;
        void *value;
        CHECK(load(o->family, &given, &value) == COMPAT_OK);
        CHECK_THAT(given.at, ==, given.len);
        check_same(o->family, value, &wanted);
        void *copy = copy_of(o->family, value);
        drop(o->family, value);
        check_same(o->family, copy, &wanted);
        for (size_t j = 0; j < o->asks; j++) ask(&o->ask[j], copy, &asked);
        drop(o->family, copy);
        free(wanted.p);
    }
    CHECK_THAT(asked, >, 300);
    CHECK_THAT(live, ==, 0);
}

/* --- Pieces ----------------------------------------------------------------------------------- */

static void check_bloom_pieces(const struct object *o, const struct compat_bloom *b)
{
    struct compat_bloom *again;
    uint8_t header[1000];
    CHECK_THAT(compat_bloom_header_size(b), ==, o->chunk[0].len);
    compat_bloom_header(b, header);
    CHECK(memcmp(header, o->chunk[0].p, o->chunk[0].len) == 0);
    uint64_t iterator = 1;
    for (size_t i = 1; i < o->chunks; i++) {
        const struct compat_chunk c = compat_bloom_chunk(b, iterator);
        CHECK(c.len == o->chunk[i].len && memcmp(c.p, o->chunk[i].p, c.len) == 0);
        CHECK_THAT(iterator = c.next, ==, o->chunk[i].iterator);
    }
    CHECK_THAT(compat_bloom_chunk(b, iterator).next, ==, 0);
    CHECK(compat_bloom_from_header(&room, o->chunk[0].p, o->chunk[0].len, &again) == COMPAT_OK);
    for (size_t i = 1; i < o->chunks; i++) {
        const int64_t at = (int64_t)o->chunk[i].iterator;
        CHECK(compat_bloom_put_chunk(again, at, o->chunk[i].p, o->chunk[i].len) == COMPAT_OK);
        CHECK(compat_bloom_put_chunk(again, at + 1, o->chunk[i].p, o->chunk[i].len) != COMPAT_OK);
    }
    check_same(BF, again, &o->dump);
    uint8_t junk[4] = {0};
    CHECK(compat_bloom_put_chunk(again, INT64_MAX, junk, 4) == COMPAT_NO_LINK);
    CHECK(compat_bloom_put_chunk(again, INT64_MIN, junk, 4) == COMPAT_BAD);
    CHECK(compat_bloom_put_chunk(again, 3, junk, 4) == COMPAT_BAD);
    CHECK(compat_bloom_put_chunk(again, 4, junk, 4) == COMPAT_NO_LINK);
    CHECK(compat_bloom_put_chunk(again, (int64_t)again->link[0].bytes + 3, junk, 4) ==
          COMPAT_TOO_LONG);
    CHECK(compat_bloom_put_chunk(again, 7, junk, 0) == COMPAT_OK);
    const int64_t end = (int64_t)compat_bloom_cell_bytes(again) + 1;
    CHECK(compat_bloom_put_chunk(again, end, junk, 0) == COMPAT_NO_LINK);
    compat_bloom_free(&memory, again);
}

static void check_cuckoo_pieces(const struct object *o, const struct compat_cuckoo *f)
{
    struct compat_cuckoo *again;
    uint8_t header[COMPAT_CUCKOO_HEADER];
    compat_cuckoo_header(f, header);
    CHECK_THAT(o->chunk[0].len, ==, sizeof header);
    CHECK(memcmp(header, o->chunk[0].p, sizeof header) == 0);
    uint64_t iterator = 1;
    for (size_t i = 1; i < o->chunks; i++) {
        const struct compat_chunk c = compat_cuckoo_chunk(f, iterator);
        CHECK(c.len == o->chunk[i].len && memcmp(c.p, o->chunk[i].p, c.len) == 0);
        CHECK_THAT(iterator = c.next, ==, o->chunk[i].iterator);
    }
    CHECK_THAT(compat_cuckoo_chunk(f, iterator).next, ==, 0);
    CHECK(compat_cuckoo_from_header(&room, o->chunk[0].p, o->chunk[0].len, &again) == COMPAT_OK);
    for (size_t i = 1; i < o->chunks; i++) {
        const int64_t at = (int64_t)o->chunk[i].iterator;
        CHECK(compat_cuckoo_put_chunk(again, at, o->chunk[i].p, o->chunk[i].len) == COMPAT_OK);
        CHECK(compat_cuckoo_put_chunk(again, at + 1, o->chunk[i].p, o->chunk[i].len) != COMPAT_OK);
    }
    CHECK(compat_cuckoo_put_chunk(again, 2, header, 0) == COMPAT_BAD);
    check_same(CF, again, &o->dump);
    compat_cuckoo_free(&memory, again);
}

static void test_pieces(void)
{
    for (size_t i = 0; i < object_count; i++) {
        const struct object *o = &objects[i];
        struct fields given = o->dump;
        void *value;
        CHECK_THAT(o->chunks > 0, ==, o->family <= CF);
        if (o->chunks == 0) continue;
        CHECK(load(o->family, &given, &value) == COMPAT_OK);
        if (o->family == BF)
            check_bloom_pieces(o, value);
        else
            check_cuckoo_pieces(o, value);
        drop(o->family, value);
    }
    CHECK_THAT(live, ==, 0);
}

/* --- Hostile bytes ---------------------------------------------------------------------------- */

static uint64_t state;

static uint64_t random_number(void)
{
    state += 0x9e3779b97f4a7c15;
    uint64_t x = state;
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
    x = (x ^ x >> 27) * 0x94d049bb133111eb;
    return x ^ x >> 31;
}

/* What loads must be usable: asked, added to, removed from, saved, without a step out of its memory
 * (sanitizers). */
static void use(enum family family, void *value)
{
    struct compat_top_item expelled;
    const struct compat_room small = {&memory, 1u << 22};
    struct fields f;
    for (uint32_t i = 0; i < 20; i++) {
        char item[16];
        const size_t len = (size_t)snprintf(item, sizeof item, "used-%u", i);
        if (family == BF) {
            compat_bloom_add(value, &small, item, len);
            compat_bloom_has(value, item, len);
        } else if (family == CF) {
            compat_cuckoo_add(value, &small, 40, item, len);
            CHECK(compat_cuckoo_count(value, item, len) < 100000);
            compat_cuckoo_remove(value, &memory, item, len);
        } else if (family == CMS) {
            CHECK_THAT(compat_sketch_add(value, item, len, 3), <=,
                       compat_sketch_count(value, item, len));
        } else if (family == TDIGEST) {
            struct compat_tdigest *t = value;
            if (compat_tdigest_prepare(t, &small, 1) == COMPAT_OK) compat_tdigest_add(t, i);
            const double q = compat_tdigest_quantile(t, i / 19.0);
            CHECK(t->merged == 0 || (q >= t->min && q <= t->max));
        } else {
            CHECK(compat_top_add(value, &room, item, len, 7, &expelled) == COMPAT_OK);
            compat_free(&memory, expelled.item);
        }
    }
    save(family, value, &f);
    free(f.p);
}

/* One field is changed to an interesting number, a bit flips, or the end is cut off. */
static void damage(struct fields *f)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   2,
                                   3,
                                   255,
                                   256,
                                   65535,
                                   65536,
                                   UINT32_MAX,
                                   (uint64_t)1 << 32,
                                   (uint64_t)1 << 40,
                                   (uint64_t)1 << 61,
                                   (uint64_t)1 << 62,
                                   (uint64_t)1 << 63,
                                   UINT64_MAX,
                                   UINT64_MAX / 4 + 1,
                                   0x7ff8000000000000,
                                   0x7ff0000000000000,
                                   0xbff0000000000000};
    size_t starts[400], n = 0;
    for (size_t at = 0; at < f->len && n < 400;) {
        starts[n++] = at;
        const uint64_t value = compat_get64(f->p + at + 1);
        at += 9 + (f->p[at] == 'S' ? (size_t)value : 0);
    }
    const size_t at = starts[random_number() % n];
    switch (random_number() % 4) {
    case 0: compat_put(f->p + at + 1, odd[random_number() % (sizeof odd / sizeof *odd)], 8); break;
    case 1: f->p[random_number() % f->len] ^= (uint8_t)(1u << random_number() % 8); break;
    case 2: f->len = (size_t)(random_number() % f->len); break;
    default: compat_put(f->p + at + 1, compat_get64(f->p + at + 1) + random_number() % 5 - 2, 8);
    }
}

static void test_damaged(void)
{
    size_t refused = 0;
    state = 7;
    for (size_t round = 0; round < 4000; round++) {
        const struct object *o = &objects[round % object_count];
        struct fields f = {.p = malloc(o->dump.len), .len = o->dump.len};
        void *value = NULL;
        CHECK(f.p != NULL);
        memcpy(f.p, o->dump.p, f.len);
        damage(&f);
        if (load(o->family, &f, &value) == COMPAT_OK) {
            use(o->family, value);
            drop(o->family, value);
        } else {
            CHECK(value == NULL);
            refused++;
        }
        free(f.p);
        CHECK_THAT(live, ==, 0);
    }
    CHECK_THAT(refused, >, 2000);
}

static void test_damaged_headers(void)
{
    static const uint64_t odd[] = {0,
                                   1,
                                   255,
                                   UINT32_MAX,
                                   (uint64_t)1 << 31,
                                   (uint64_t)1 << 59,
                                   (uint64_t)1 << 62,
                                   (uint64_t)1 << 63,
                                   UINT64_MAX,
                                   0x7ff8000000000000};
    state = 8;
    for (size_t round = 0; round < 4000; round++) {
        const struct object *o = &objects[round % object_count];
        if (o->chunks == 0) continue;
        const size_t len = o->chunk[0].len;
        uint8_t bytes[400];
        memcpy(bytes, o->chunk[0].p, len);
        compat_put(bytes + random_number() % (len - 8), odd[random_number() % 10],
                   random_number() % 2 ? 8 : random_number() % 4 + 1);
        struct compat_bloom *b = NULL;
        struct compat_cuckoo *c = NULL;
        if (o->family == BF && compat_bloom_from_header(&room, bytes, len, &b) == COMPAT_OK) {
            use(BF, b);
            CHECK(compat_bloom_cell_bytes(b) <= 1u << 22);
        }
        if (o->family == CF && compat_cuckoo_from_header(&room, bytes, len, &c) == COMPAT_OK)
            use(CF, c);
        drop(BF, b);
        drop(CF, c);
        CHECK_THAT(live, ==, 0);
    }
}

/* Wherever memory ends: an error, the value as it was, and nothing lost. */
static void test_no_memory(void)
{
    for (size_t i = 0; i < object_count; i++) {
        const struct object *o = &objects[i];
        struct fields given = o->dump, before;
        void *value = NULL;
        bool done = false;
        for (long n = 0; !done; n++) {
            allowed = n;
            done = load(o->family, &given, &value) == COMPAT_OK;
            allowed = -1;
            CHECK(done || (value == NULL && live == 0));
        }
        save(o->family, value, &before);
        for (long n = 0;; n++) {
            allowed = n;
            void *copy = copy_of(o->family, value);
            allowed = -1;
            if (copy == NULL) continue;
            drop(o->family, copy);
            break;
        }
        allowed = 0;
        struct compat_top_item expelled;
        if (o->family == TOPK)
            CHECK(compat_top_add(value, &room, "new", 3, 1, &expelled) == COMPAT_NO_MEMORY);
        allowed = -1;
        check_same(o->family, value, &before);
        free(before.p);
        drop(o->family, value);
        CHECK_THAT(live, ==, 0);
    }
}

/* --- Each structure by itself ----------------------------------------------------------------- */

static size_t name_of(char item[32], const char *prefix, unsigned i)
{
    return (size_t)snprintf(item, 32, "%s-%u", prefix, i);
}

static void test_bloom(void)
{
    struct compat_bloom *b, *other;
    char item[32];
    CHECK(compat_bloom_create(&room, 0.01, 100, 2, false, &b) == COMPAT_OK);
    for (unsigned i = 0; i < 3000; i++) compat_bloom_add(b, &room, item, name_of(item, "in", i));
    for (unsigned i = 0; i < 3000; i++) CHECK(compat_bloom_has(b, item, name_of(item, "in", i)));
    CHECK_THAT(b->links, ==, 5);
    /* At most 1 %: 20,000 questions have 200 on average, and 300 (7 sigma) with a chance below
     * 1e-11. */
    unsigned wrong = 0;
    for (unsigned i = 0; i < 20000; i++)
        wrong += compat_bloom_has(b, item, name_of(item, "out", i));
    CHECK_THAT(wrong, <, 300);

    /* A union of equal shapes has what both have. */
    struct compat_bloom *x, *y;
    CHECK(compat_bloom_create(&room, 0.01, 1000, 2, false, &x) == COMPAT_OK);
    CHECK(compat_bloom_create(&room, 0.01, 1000, 2, false, &y) == COMPAT_OK);
    for (unsigned i = 0; i < 400; i++) {
        compat_bloom_add(x, &room, item, name_of(item, "x", i));
        compat_bloom_add(y, &room, item, name_of(item, "y", i));
    }
    CHECK(compat_bloom_merge(x, y) == COMPAT_OK);
    for (unsigned i = 0; i < 400; i++) CHECK(compat_bloom_has(x, item, name_of(item, "x", i)));
    for (unsigned i = 0; i < 400; i++) CHECK(compat_bloom_has(x, item, name_of(item, "y", i)));
    CHECK_THAT(fabs((double)x->items - 800), <, 40);
    CHECK(compat_bloom_merge(x, b) == COMPAT_MISMATCH);

    /* A full one that may not grow, and one that may not grow further. */
    CHECK(compat_bloom_create(&room, 0.99, 3, 2, true, &other) == COMPAT_OK);
    enum compat_status s = COMPAT_OK;
    for (unsigned i = 0; s == COMPAT_OK || s == COMPAT_SEEN; i++)
        s = compat_bloom_add(other, &room, item, name_of(item, "in", i));
    CHECK_THAT(s, ==, COMPAT_FULL);
    CHECK_THAT(other->items, ==, 3);
    compat_bloom_free(&memory, other);
    CHECK(compat_bloom_create(&room, 0.01, (uint64_t)1 << 62, 2, false, &other) ==
          COMPAT_NO_MEMORY);
    CHECK(compat_bloom_create(&room, 1e-320, 1 << 20, 2, false, &other) == COMPAT_NO_MEMORY);
    const struct compat_room tight = {&memory, 4096};
    s = COMPAT_OK;
    for (unsigned i = 0; s == COMPAT_OK || s == COMPAT_SEEN; i++)
        s = compat_bloom_add(b, &tight, item, name_of(item, "more", i));
    CHECK_THAT(s, ==, COMPAT_NO_MEMORY);
    CHECK_THAT(b->links, ==, 5);
    compat_bloom_free(&memory, x);
    compat_bloom_free(&memory, y);
    compat_bloom_free(&memory, b);
    CHECK_THAT(live, ==, 0);
}

static void test_cuckoo(void)
{
    struct compat_cuckoo *c;
    char item[32];
    CHECK(compat_cuckoo_create(&room, 64, 4, 20, 3, &c) == COMPAT_OK);
    CHECK_THAT(c->expansion, ==, 4);
    for (unsigned i = 0; i < 3000; i++)
        CHECK(compat_cuckoo_add(c, &room, 32, item, name_of(item, "in", i)) == COMPAT_OK);
    CHECK_THAT(c->links, >, 2);
    for (unsigned i = 0; i < 3000; i++) CHECK(compat_cuckoo_has(c, item, name_of(item, "in", i)));
    /* Removing, with what moves to older tables by itself, loses nobody else. */
    const uint32_t links = c->links;
    for (unsigned i = 0; i < 2900; i++) {
        CHECK(compat_cuckoo_remove(c, &memory, item, name_of(item, "in", i)) == COMPAT_OK);
        if (i % 100 == 0)
            for (unsigned j = i + 1; j < 3000; j++)
                CHECK(compat_cuckoo_has(c, item, name_of(item, "in", j)));
    }
    compat_cuckoo_compact(c, &memory, true);
    CHECK_THAT(c->links, <, links);
    CHECK_THAT(c->items, ==, 100);
    for (unsigned j = 2900; j < 3000; j++)
        CHECK(compat_cuckoo_has(c, item, name_of(item, "in", j)));
    compat_cuckoo_free(&memory, c);

    /* A second table of a size that does not follow from the first and the expansion is refused. */
    struct fields before;
    void *loaded;
    CHECK(compat_cuckoo_create(&room, 16, 2, 20, 1, &c) == COMPAT_OK);
    for (unsigned i = 0; c->links == 1; i++)
        CHECK(compat_cuckoo_add(c, &room, 32, item, name_of(item, "in", i)) == COMPAT_OK);
    for (unsigned doubled = 0; doubled < 2; doubled++) {
        save(CF, c, &before);
        CHECK(load(CF, &before, &loaded) == (doubled ? COMPAT_BAD : COMPAT_OK));
        drop(CF, loaded);
        free(before.p);
        compat_free(&memory, c->link[1].slots);
        c->link[1].buckets = 16;
        CHECK((c->link[1].slots = compat_zeros(&room, 32)) != NULL);
    }
    compat_cuckoo_free(&memory, c);

    /* One that is full refuses and stays as it was, whatever was pushed about meanwhile. */
    CHECK(compat_cuckoo_create(&room, 16, 2, 50, 0, &c) == COMPAT_OK);
    unsigned n = 0;
    enum compat_status s;
    do {
        save(CF, c, &before);
        s = compat_cuckoo_add(c, &room, 32, item, name_of(item, "in", n++));
        if (s == COMPAT_FULL) check_same(CF, c, &before);
        free(before.p);
    } while (s == COMPAT_OK);
    CHECK_THAT(s, ==, COMPAT_FULL);
    CHECK_THAT(n, >, 10);
    CHECK(compat_cuckoo_add(c, &room, 1, item, 1) == COMPAT_TOO_MANY);
    compat_cuckoo_free(&memory, c);
    CHECK(compat_cuckoo_create(&room, (uint64_t)1 << 60, 2, 20, 1, &c) == COMPAT_NO_MEMORY);
    CHECK(compat_cuckoo_create(&room, 1 << 24, 2, 20, 1, &c) == COMPAT_NO_MEMORY);
    CHECK_THAT(live, ==, 0);
}

static void test_sketch(void)
{
    struct compat_sketch *a, *b, *odd;
    uint64_t width, depth;
    static const struct {
        double error, probability;
        uint64_t width, depth;
    } shapes[] = {{0.001, 0.01, 2000, 7}, {0.002, 0.002, 1000, 9}, {0.9, 0.9, 3, 1}};
    for (size_t i = 0; i < 3; i++) {
        CHECK(compat_sketch_shape(shapes[i].error, shapes[i].probability, &width, &depth) ==
              COMPAT_OK);
        CHECK(width == shapes[i].width && depth == shapes[i].depth);
    }
    CHECK(compat_sketch_shape(1e-300, 0.5, &width, &depth) == COMPAT_OVERFLOW);
    CHECK(compat_sketch_create(&room, (uint64_t)1 << 62, 1, &a) == COMPAT_NO_MEMORY);
    CHECK(compat_sketch_create(&room, (uint64_t)1 << 33, (uint64_t)1 << 33, &a) ==
          COMPAT_NO_MEMORY);
    CHECK(compat_sketch_create(&room, (uint64_t)1 << 31, (uint64_t)1 << 31, &a) ==
          COMPAT_NO_MEMORY);
    CHECK(compat_sketch_create(&room, 0, 1, &a) == COMPAT_BAD);
    CHECK(compat_sketch_create(&room, 100, 5, &a) == COMPAT_OK);
    CHECK(compat_sketch_create(&room, 100, 5, &b) == COMPAT_OK);
    CHECK(compat_sketch_create(&room, 100, 4, &odd) == COMPAT_OK);
    compat_sketch_add(a, "x", 1, 10);
    compat_sketch_add(b, "x", 1, 3);
    struct compat_sketch *both[] = {a, b};
    CHECK(compat_sketch_merge(a, both, (int64_t[]){2, -1}, 2) == COMPAT_OK);
    CHECK_THAT(compat_sketch_count(a, "x", 1), ==, 17);
    CHECK_THAT(a->count, ==, 17);
    CHECK(compat_sketch_merge(a, both, (int64_t[]){1, -6}, 2) == COMPAT_OVERFLOW);
    CHECK(compat_sketch_merge(a, both, (int64_t[]){INT64_MAX, INT64_MAX}, 2) == COMPAT_OVERFLOW);
    CHECK(compat_sketch_merge(a, both, (int64_t[]){UINT32_MAX, 1}, 2) == COMPAT_OVERFLOW);
    CHECK(compat_sketch_merge(odd, both, (int64_t[]){1, 1}, 2) == COMPAT_MISMATCH);
    CHECK_THAT(compat_sketch_count(a, "x", 1), ==, 17);
    CHECK_THAT(compat_sketch_add(a, "x", 1, UINT64_MAX), ==, UINT32_MAX);
    compat_sketch_free(&memory, a);
    compat_sketch_free(&memory, b);
    compat_sketch_free(&memory, odd);
    CHECK_THAT(live, ==, 0);
}

/* Items of weights 1/rank; the same adds give the same bytes, also when the value went to rest and
 * back in between. */
static void test_top(void)
{
    struct compat_top *t, *replica;
    struct compat_top_item expelled;
    struct fields f;
    void *loaded;
    CHECK(compat_top_create(&room, 10, 50, 5, 0.9, &t) == COMPAT_OK);
    CHECK(compat_top_create(&room, 10, 50, 5, 0.9, &replica) == COMPAT_OK);
    state = 9;
    for (unsigned i = 0; i < 20000; i++) {
        char item[32];
        const double u = (double)(random_number() >> 11) * 0x1p-53;
        const size_t len = name_of(item, "i", (unsigned)pow(2000, u));
        item[1] = 0; /* a NUL is as good as any byte */
        CHECK(compat_top_add(t, &room, item, len, 1, &expelled) == COMPAT_OK);
        compat_free(&memory, expelled.item);
        CHECK(compat_top_add(replica, &room, item, len, 1, &expelled) == COMPAT_OK);
        compat_free(&memory, expelled.item);
        if (i % 1000 != 0) continue;
        save(TOPK, replica, &f);
        drop(TOPK, replica);
        CHECK(load(TOPK, &f, &loaded) == COMPAT_OK);
        replica = loaded;
        free(f.p);
    }
    CHECK_THAT(t->draws, >, 1000);
    save(TOPK, t, &f);
    check_same(TOPK, replica, &f);
    free(f.p);
    /* The three most frequent, of about 1820, 1070 and 760 of 20,000, are found with counts near
     * these. */
    const struct compat_top_item *list[10];
    CHECK_THAT(compat_top_list(t, list), ==, 10);
    for (unsigned i = 0; i < 3; i++) {
        const char wanted[] = {'i', 0, (char)('1' + i)};
        CHECK(list[i]->len == 3 && memcmp(list[i]->item, wanted, 3) == 0);
        CHECK(compat_top_has(t, wanted, 3));
        CHECK_THAT(compat_top_count(t, wanted, 3), ==, list[i]->count);
        CHECK_THAT(list[i]->count, >, 600);
        CHECK_THAT(list[i]->count, <, 2200);
    }
    CHECK(!compat_top_has(t, "i", 1));
    compat_top_free(&memory, t);
    compat_top_free(&memory, replica);

    /* The empty item is an item, before and after a rest. */
    CHECK(compat_top_create(&room, 2, 8, 7, 0.9, &t) == COMPAT_OK);
    CHECK(compat_top_add(t, &room, "", 0, 5, &expelled) == COMPAT_OK && expelled.item == NULL);
    save(TOPK, t, &f);
    CHECK(load(TOPK, &f, &loaded) == COMPAT_OK);
    CHECK(compat_top_has(loaded, "", 0) && compat_top_list(loaded, list) == 1 &&
          list[0]->count == 5);
    free(f.p);
    drop(TOPK, loaded);
    drop(TOPK, t);

    CHECK_THAT(live, ==, 0);
}

static void replay(const struct command *c, void **value, size_t *asked)
{
    if (is(c, "TOPK.RESERVE") || is(c, "TOPK.ADD") || is(c, "TOPK.INCRBY"))
        run(TOPK, c, value);
    else
        ask(c, *value, asked);
}

/* Among equal counts the same items stay, go and are listed in the same order as in RedisBloom,
 * and every entry has the same place, also in a value that RedisBloom has saved. */
static void test_ties(void)
{
    size_t asked = 0;
    for (size_t i = 0; i < stream_count; i++) {
        const struct object *o = &streams[i];
        struct fields wanted = without_pointers(o), given = o->dump;
        void *values[2] = {NULL, NULL};
        for (size_t j = 0; j < o->runs; j++) replay(&o->run[j], &values[0], &asked);
        struct compat_top *made = values[0];
        CHECK(made->decay == 1 || made->draws == 0);
        made->draws = 0; /* which RedisBloom does not keep */
        check_same(TOPK, made, &wanted);
        CHECK(load(TOPK, &given, &values[1]) == COMPAT_OK);
        check_same(TOPK, values[1], &wanted);
        for (size_t v = 0; v < 2; v++) {
            for (size_t j = 0; j < o->asks; j++) replay(&o->ask[j], &values[v], &asked);
            drop(TOPK, values[v]);
        }
        free(wanted.p);
    }
    CHECK_THAT(asked, >, 1000);
    CHECK_THAT(live, ==, 0);
}

/* An item whose estimate is zero enters a list that is not full, and stays when it comes back from
 * rest, the empty item included; the next one replaces it. */
static void test_zero_counts(void)
{
    static const char *const items[] = {"zero", ""};
    for (size_t i = 0; i < 2; i++) {
        const size_t len = strlen(items[i]);
        const struct compat_top_item *list[2];
        struct compat_top_item expelled;
        struct compat_top *t;
        struct fields f;
        void *value;
        CHECK(compat_top_create(&room, 1, 8, 7, 0.9, &t) == COMPAT_OK);
        CHECK(compat_top_add(t, &room, items[i], len, 0, &expelled) == COMPAT_OK);
        CHECK(expelled.item == NULL);
        save(TOPK, t, &f);
        drop(TOPK, t);
        CHECK(load(TOPK, &f, &value) == COMPAT_OK);
        free(f.p);
        CHECK(compat_top_has(value, items[i], len) && compat_top_list(value, list) == 0);
        CHECK(compat_top_add(value, &room, "a", 1, 1, &expelled) == COMPAT_OK);
        CHECK(strcmp(expelled.item, items[i]) == 0);
        compat_free(&memory, expelled.item);
        CHECK_THAT(compat_top_list(value, list), ==, 1);
        drop(TOPK, value);
    }
    CHECK_THAT(live, ==, 0);
}

/* Items count, one by one, and make room again when they go, also after a rest. */
static void test_room_of_top(void)
{
    struct compat_top *t;
    struct compat_top_item expelled;
    struct fields f;
    void *loaded;
    CHECK(compat_top_create(&room, 2, 8, 7, 0.9, &t) == COMPAT_OK);
    const struct compat_room tight = {&memory, compat_top_bytes(t) + 10};
    CHECK(compat_top_add(t, &tight, "12345678901", 10, 1, &expelled) == COMPAT_NO_MEMORY);
    CHECK(compat_top_add(t, &tight, "abcd", 4, 1, &expelled) == COMPAT_OK);
    save(TOPK, t, &f);
    drop(TOPK, t);
    CHECK(load(TOPK, &f, &loaded) == COMPAT_OK);
    free(f.p);
    t = loaded;
    CHECK(compat_top_add(t, &tight, "efghi", 5, 2, &expelled) == COMPAT_NO_MEMORY);
    CHECK(compat_top_count(t, "efghi", 5) == 0);
    CHECK(compat_top_add(t, &tight, "efgh", 4, 2, &expelled) == COMPAT_OK && expelled.item == NULL);
    CHECK_THAT(compat_top_bytes(t), ==, tight.max_bytes);
    CHECK(compat_top_add(t, &tight, "abcd", 4, 1, &expelled) == COMPAT_OK);
    CHECK(compat_top_add(t, &tight, "i", 1, 9, &expelled) == COMPAT_OK && expelled.len == 4);
    compat_free(&memory, expelled.item);
    CHECK_THAT(compat_top_bytes(t), ==, tight.max_bytes - 3);
    const struct compat_room none = {&memory, 1};
    CHECK(compat_top_add(t, &none, "xyzxyz", 6, 50, &expelled) == COMPAT_NO_MEMORY);
    CHECK(compat_top_add(t, &none, "wxyz", 4, 50, &expelled) == COMPAT_OK && expelled.len == 4);
    compat_free(&memory, expelled.item);
    drop(TOPK, t);
    CHECK(compat_top_create(&room, 3, 2000000000, 200000000, 1, &t) == COMPAT_NO_MEMORY);
    CHECK(compat_top_create(&room, UINT32_MAX, 1, 1, 1, &t) == COMPAT_NO_MEMORY);
    CHECK(compat_top_create(&room, 1, UINT32_MAX, UINT32_MAX, 1, &t) == COMPAT_NO_MEMORY);
    CHECK_THAT(live, ==, 0);
}

static const struct test tests[] = {
    {"vectors are read", read_vectors},
    {"RedisBloom's objects are made again, byte for byte", test_made_again},
    {"they load, copy and answer", test_loaded},
    {"they come and go in pieces", test_pieces},
    {"damaged values are refused, or harmless", test_damaged},
    {"damaged headers are refused, or harmless", test_damaged_headers},
    {"refused memory is an error that changes nothing", test_no_memory},
    {"bloom", test_bloom},
    {"cuckoo", test_cuckoo},
    {"sketch", test_sketch},
    {"top", test_top},
    {"the items of a top list count as room", test_room_of_top},
    {"equal counts of a top list are in RedisBloom's order", test_ties},
    {"items with count zero in a top list", test_zero_counts},
};

TEST_MAIN(tests)
