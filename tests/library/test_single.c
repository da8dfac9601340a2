/* Calls with one key give the same answers and leave the same bytes as bulk calls, whichever
 * functions the handle has: for every kind, every table of kernels, keys of 0 to 300 bytes, seeds
 * and secret keys, encodings, strict and shared handles. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "core/cpu.h"
#include "core/handle.h"

enum { KEYS = 640, ADDED = KEYS / 2, MORE = 100, LONGEST = 300 };
static uint8_t texts[KEYS][LONGEST + 1];
static tamis_bytes some[KEYS];
static tamis_hash hashes[KEYS];
static uint64_t words[KEYS];

/* Keys of this length, or of all lengths if it is larger than LONGEST. Every third added key is
 * that before it. */
static void make_some(size_t len)
{
    uint64_t random = 7;
    for (size_t i = 0; i < KEYS; i++) {
        const size_t from = i < ADDED && i % 3 == 2 ? i - 1 : i;
        for (size_t j = 0; j < sizeof texts[i]; j++)
            texts[i][j] = from == i ? (uint8_t)splitmix(&random) : texts[from][j];
        some[i] = (tamis_bytes){texts[i], len <= LONGEST ? len : 5 * from % (LONGEST + 1)};
        hashes[i] = tamis_hash_bytes(99, some[i].p, some[i].len);
        words[i] = hashes[i].lo;
    }
}

struct subject {
    uint32_t kind, inner, flags, k;
    double fpr;
    uint64_t m;            /* distinct */
    bool own_ask, own_add; /* whether the kind has functions of its own for keys hashed by XXH3 */
};

static const struct subject subjects[] = {
    {.kind = TAMIS_BLOCKED, .fpr = 0.01, .own_ask = true, .own_add = true},
    {.kind = TAMIS_BLOCKED, .fpr = 0.01, .flags = TAMIS_COMPACT},
    {.kind = TAMIS_BLOOM, .fpr = 0.01, .own_ask = true, .own_add = true},
    {.kind = TAMIS_BLOOM, .fpr = 0.5, .own_ask = true, .own_add = true},
    {.kind = TAMIS_PARTITIONED, .fpr = 0.01, .own_ask = true, .own_add = true},
    {.kind = TAMIS_COUNTING, .fpr = 0.01},
    {.kind = TAMIS_CUCKOO, .fpr = 0.01, .own_ask = true, .own_add = true},
    {.kind = TAMIS_CUCKOO, .fpr = 1e-6, .own_ask = true, .own_add = true},
    {.kind = TAMIS_CUCKOO, .fpr = 1e-9},
    {.kind = TAMIS_GROWING, .fpr = 0.01, .own_ask = true, .own_add = true},
    {.kind = TAMIS_GROWING, .fpr = 0.01, .flags = TAMIS_REMOVABLE, .own_ask = true},
    {.kind = TAMIS_PAIR, .inner = TAMIS_BLOCKED, .fpr = 0.01},
    {.kind = TAMIS_WINDOW, .inner = TAMIS_BLOCKED, .fpr = 0.01},
    {.kind = TAMIS_FUSE, .fpr = 1.0 / 256, .own_ask = true},
    {.kind = TAMIS_FUSE, .fpr = 0.01, .own_ask = true},
    {.kind = TAMIS_FUSE, .fpr = 1e-9, .own_ask = true},
    {.kind = TAMIS_FUSE, .fpr = 0.001, .k = 4, .own_ask = true},
    {.kind = TAMIS_RIBBON, .fpr = 0.3, .own_ask = true},
    {.kind = TAMIS_RIBBON, .fpr = 0.01, .own_ask = true},
    {.kind = TAMIS_RIBBON, .fpr = 1.0 / 256, .own_ask = true},
    {.kind = TAMIS_RIBBON, .fpr = 0.0007, .own_ask = true},
    {.kind = TAMIS_RIBBON, .fpr = 1e-9, .own_ask = true},
    {.kind = TAMIS_EXACT, .fpr = 0.01},
    {.kind = TAMIS_DISTINCT, .m = 32, .own_ask = true, .own_add = true},
    {.kind = TAMIS_DISTINCT, .m = 256, .own_ask = true, .own_add = true},
    {.kind = TAMIS_DISTINCT, .m = 8192, .own_ask = true, .own_add = true},
    {.kind = TAMIS_WINDOW, .inner = TAMIS_DISTINCT, .m = 64},
};
#define SUBJECTS (sizeof subjects / sizeof *subjects)

struct way {
    uint64_t seed;
    const uint8_t *key;
    uint32_t encoding, key_width, flags; /* of the options */
    size_t len;
    bool strict;
};

static const struct way ways[] = {
    {.len = SIZE_MAX},
    {.len = 8},
    {.len = SIZE_MAX, .seed = UINT64_C(0x9e3779b97f4a7c15)},
    {.len = 8, .seed = UINT64_C(0xfedcba9876543210)},
    {.len = SIZE_MAX, .key = secret},
    {.len = 8, .key = secret},
    {.len = 8, .encoding = TAMIS_KEYS_INT64},
    {.len = 5, .encoding = TAMIS_KEYS_FIXED, .key_width = 5},
    {.len = 32, .encoding = TAMIS_KEYS_SHA256, .seed = 3},
    {.len = 8, .strict = true},
    {.len = SIZE_MAX, .strict = true, .seed = 5},
    {.len = 8, .flags = TAMIS_SHARED},
    {.len = SIZE_MAX, .flags = TAMIS_SHARED},
};
#define WAYS (sizeof ways / sizeof *ways)

/* NULL: this kind does not support it. */
static tamis *open_subject(const struct subject *s, const struct way *w, uint64_t items)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = s->kind,
                             .inner_kind = s->inner,
                             .flags = s->flags | (w->strict ? (uint32_t)TAMIS_STRICT : 0u),
                             .items = s->m != 0 ? 0 : items,
                             .m = s->m,
                             .fpr = s->fpr,
                             .k = s->k,
                             .seed = w->seed,
                             .encoding = w->encoding,
                             .key_width = w->key_width};
    const tamis_options options = {.struct_size = sizeof options, .key = w->key, .flags = w->flags};
    tamis *t;
    const tamis_status status = tamis_create(&plan, &options, &t, NULL);
    CHECK(status == TAMIS_OK || ((w->flags != 0 || w->strict) && t == NULL));
    return t;
}

static bool bit_of(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static bool is_sealed_kind(const tamis *t)
{
    return t->kind->sealing != NULL;
}

static void check_queries(const tamis *t)
{
    uint8_t bits[KEYS / 8 + 1];
    const size_t yes = tamis_may_contain_many(t, some, KEYS, bits);
    size_t count = 0;
    for (size_t i = 0; i < KEYS; i++) {
        const bool maybe = tamis_may_contain(t, some[i].p, some[i].len);
        CHECK(maybe == bit_of(bits, i));
        count += maybe;
    }
    CHECK_THAT(count, ==, yes);
    tamis_may_contain_hashes(t, hashes, KEYS, bits);
    for (size_t i = 0; i < KEYS; i++) {
        uint8_t bit = 0xee;
        const size_t maybe = tamis_may_contain_hashes(t, &hashes[i], 1, &bit);
        CHECK(maybe == bit_of(bits, i) && bit == maybe);
        CHECK(tamis_may_contain_hashes(t, &hashes[i], 1, NULL) == maybe);
    }
    tamis_may_contain_hash64(t, words, KEYS, bits);
    for (size_t i = 0; i < KEYS; i++) {
        uint8_t bit = 0xee;
        CHECK(tamis_may_contain_hash64(t, &words[i], 1, &bit) == bit_of(bits, i));
        CHECK(bit == bit_of(bits, i));
    }
}

/* Adds with single calls until one fails. Every other add does not ask whether it was seen. */
static tamis_status add_singly(tamis *t, const uint8_t *bits, size_t *done)
{
    for (*done = 0; *done < ADDED; ++*done) {
        const size_t i = *done;
        bool seen = !bit_of(bits, i);
        const tamis_status s = tamis_add(t, some[i].p, some[i].len, i % 2 == 0 ? &seen : NULL);
        if (s != TAMIS_OK) {
            CHECK(i % 2 != 0 || !seen);
            return s;
        }
        CHECK(i % 2 != 0 || seen == bit_of(bits, i));
    }
    return TAMIS_OK;
}

static void check_adds(tamis *one, tamis *many)
{
    uint8_t bits[KEYS / 8 + 1];
    size_t done, done_singly;
    tamis_status s = tamis_add_many(many, some, ADDED, bits, &done);
    CHECK(add_singly(one, bits, &done_singly) == s);
    CHECK_THAT(done_singly, ==, done);
    CHECK(one->items == many->items && one->changed == many->changed);
    CHECK(same_image(one, many));
    if (one->strict) return;
    CHECK_OK(s);
    s = tamis_add_hashes(many, hashes + ADDED / 2, MORE, bits, &done);
    for (size_t i = 0; i < MORE && i <= done; i++) {
        uint8_t bit = 0xee;
        CHECK(tamis_add_hashes(one, &hashes[ADDED / 2 + i], 1, &bit, &done_singly) ==
              (i < done ? TAMIS_OK : s));
        CHECK(done_singly == (i < done) && bit == bit_of(bits, i));
    }
    s = tamis_add_hash64(many, words, MORE, bits, &done);
    for (size_t i = 0; i < MORE && i <= done; i++) {
        uint8_t bit = 0xee;
        CHECK(tamis_add_hash64(one, &words[i], 1, i % 2 == 0 ? &bit : NULL, NULL) ==
              (i < done ? TAMIS_OK : s));
        CHECK(i % 2 != 0 || bit == bit_of(bits, i));
    }
    CHECK(tamis__items(one) == tamis__items(many));
    CHECK(same_image(one, many));
}

/* What must be refused whatever the function is. */
static void check_refusals(tamis *t, const struct way *w)
{
    const tamis_status wanted = t->read_only ? TAMIS_ESEALED : TAMIS_EINVAL;
    const uint64_t items = tamis__items(t);
    for (size_t len = 0; len <= LONGEST; len++) {
        bool seen = true;
        if (!t->read_only && (w->encoding == 0 || len == w->len)) continue;
        CHECK(tamis_add(t, texts[0], len, &seen) == wanted && !seen);
        CHECK(tamis_add(t, texts[0], len, NULL) == wanted);
        if (w->encoding != 0 && len != w->len) CHECK(tamis_may_contain(t, texts[KEYS - 1], len));
    }
    if (t->read_only) {
        uint8_t bit = 0;
        size_t done = 1;
        CHECK(tamis_add_hashes(t, hashes, 1, &bit, &done) == TAMIS_ESEALED && done == 0);
    }
    CHECK_THAT(tamis__items(t), ==, items);
}

/* The general functions are those of a kind that has none of its own. */
static void check_choice(const tamis *t, const struct subject *s, const struct way *w)
{
    const tamis_plan plan = plan_of(TAMIS_COUNTING, 10);
    tamis *general = create(&plan, NULL);
    const bool solved = !is_sealed_kind(t) || t->sealed;
    const bool words_only = w->key == NULL && (w->encoding == 0 || w->len == 8);
    const bool shared = (w->flags & TAMIS_SHARED) != 0; /* only lines with locks have their own */
    const bool own = s->own_ask && solved && (!shared || t->body.extra->locks != NULL);
    CHECK((t->single.ask != general->single.ask) == (own && words_only));
    CHECK((t->single.own != general->single.own) == own);
    const bool adds = own && s->own_add && !w->strict && !t->read_only;
    CHECK((t->single.add != general->single.add) == (adds && words_only));
    CHECK((t->own_adds && t->single.own != general->single.own) == adds);
    tamis_close(general);
}

static void check_copies(const tamis *t, const struct subject *s, const struct way *w)
{
    tamis *copy, *loaded;
    const tamis_options options = {.struct_size = sizeof options, .key = w->key};
    const struct way unshared = {
        .key = w->key, .encoding = w->encoding, .len = w->len, .strict = w->strict};
    struct bytes image = image_of(t);
    CHECK_OK(tamis_copy(t, &copy, NULL));
    check_choice(copy, s, w);
    CHECK_OK(tamis_load(image.p, image.n, &options, &loaded, NULL));
    check_choice(loaded, s, &unshared);
    tamis_close(copy);
    tamis_close(loaded);
    /* A view is read-only, and its copy is not. */
    uint8_t *place = aligned_alloc(64, (image.n + 63) / 64 * 64);
    CHECK(place != NULL);
    memcpy(place, image.p, image.n);
    CHECK_OK(tamis_view(place, image.n, &options, &loaded, NULL));
    CHECK_OK(tamis_copy(loaded, &copy, NULL));
    check_choice(loaded, s, &unshared);
    check_queries(loaded);
    check_choice(copy, s, &unshared);
    CHECK(copy->read_only == t->sealed);
    tamis_close(copy);
    tamis_close(loaded);
    free(place);
    free(image.p);
}

static void check_subject(const struct subject *s, const struct way *w)
{
    const uint64_t items = w->strict ? ADDED / 2 : 2 * ADDED;
    tamis *one = open_subject(s, w, items), *many = open_subject(s, w, items);
    if (one == NULL) return;
    make_some(w->len);
    check_choice(one, s, w);
    check_adds(one, many);
    check_queries(one);
    check_refusals(one, w);
    check_copies(one, s, w);
    CHECK_OK(tamis_seal(one, NULL));
    CHECK_OK(tamis_seal(many, NULL));
    CHECK(same_image(one, many));
    check_choice(one, s, w);
    check_queries(one);
    for (size_t i = 0; !w->strict && i < ADDED; i++)
        CHECK(tamis_may_contain(one, some[i].p, some[i].len));
    check_refusals(one, w);
    check_copies(one, s, w);
    tamis_close(one);
    tamis_close(many);
}

static void test_all(void)
{
    const struct kernels *runnable[4];
    const size_t tables = tamis__runnable_kernels(runnable);
    for (size_t k = 0; k < tables; k++) {
        tamis__use_kernels(runnable[k]);
        for (size_t s = 0; s < SUBJECTS; s++)
            for (size_t w = 0; w < WAYS; w++) check_subject(&subjects[s], &ways[w]);
    }
    tamis__use_kernels(runnable[0]);
}

/* A ribbon of so many keys has layers, and keys that are bumped. */
static void test_large(void)
{
    enum { LARGE = 5000 };
    static uint64_t numbers[2 * LARGE];
    static tamis_bytes many[2 * LARGE];
    static uint8_t bits[2 * LARGE / 8];
    const struct kernels *runnable[4];
    const size_t tables = tamis__runnable_kernels(runnable);
    for (size_t i = 0; i < 2 * LARGE; i++) {
        numbers[i] = i;
        many[i] = (tamis_bytes){&numbers[i], 8};
    }
    for (size_t k = 0; k < tables; k++) {
        tamis__use_kernels(runnable[k]);
        for (size_t s = 0; s < SUBJECTS; s++) {
            tamis *t = open_subject(&subjects[s], &ways[0], LARGE);
            CHECK_OK(tamis_add_many(t, many, LARGE, NULL, NULL));
            CHECK_OK(tamis_seal(t, NULL));
            tamis_may_contain_many(t, many, 2 * LARGE, bits);
            for (size_t i = 0; i < 2 * LARGE; i++) {
                CHECK(tamis_may_contain(t, &numbers[i], 8) == bit_of(bits, i));
                CHECK(i >= LARGE || bit_of(bits, i));
            }
            tamis_close(t);
        }
    }
    tamis__use_kernels(runnable[0]);
}

/* A fuse filter of repeated keys has a salt other than 0, and an empty ribbon has no layer. */
static void test_salted_and_empty(void)
{
    make_some(8);
    for (size_t s = 0; s < SUBJECTS; s++) {
        tamis *t = open_subject(&subjects[s], &ways[0], ADDED), *empty;
        if (!is_sealed_kind(t)) {
            tamis_close(t);
            continue;
        }
        for (int twice = 0; twice < 2; twice++)
            CHECK_OK(tamis_add_many(t, some, ADDED, NULL, NULL));
        CHECK_OK(tamis_seal(t, NULL));
        CHECK(subjects[s].kind != TAMIS_FUSE || t->body.sections->salt != 0);
        check_queries(t);
        empty = open_subject(&subjects[s], &ways[0], ADDED);
        CHECK_OK(tamis_seal(empty, NULL));
        check_queries(empty);
        tamis_close(t);
        tamis_close(empty);
    }
}

/* A hostile image may have UINT64_MAX items already. */
static void test_most_items(void)
{
    tamis *t = create_kind(TAMIS_BLOCKED);
    const uint64_t key = 1;
    t->items = UINT64_MAX;
    t->changed = false;
    CHECK_OK(tamis_add(t, &key, 8, NULL));
    CHECK(t->items == UINT64_MAX && t->changed);
    t->changed = false;
    t->items = 5;
    CHECK_OK(tamis_add(t, &key, 8, NULL)); /* nothing changes, so nothing has to be saved */
    CHECK(t->items == 5 && !t->changed);
    tamis_close(t);
}

/* An image whose key is missing answers "maybe". */
static void test_keyless(void)
{
    const tamis_plan plan = plan_of(TAMIS_BLOCKED, 100);
    const tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_KEYLESS};
    tamis *t = create(&plan, secret), *keyless;
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, &options, &keyless, NULL));
    bool seen = true;
    CHECK(tamis_may_contain(keyless, "a", 1) && tamis_may_contain(keyless, "12345678", 8));
    CHECK(tamis_add(keyless, "12345678", 8, &seen) == TAMIS_EKEY && !seen);
    tamis_close(t);
    tamis_close(keyless);
    free(image.p);
}

/* The inlined hash of 8 bytes is XXH3. */
static void test_words(void)
{
    uint64_t random = 1;
    for (int i = 0; i < 100000; i++) {
        const uint64_t seed = i % 5 == 0 ? (uint64_t)i / 5 : splitmix(&random);
        const uint64_t word = i % 3 == 0 ? (uint64_t)i / 3 : splitmix(&random);
        uint8_t key[8];
        tamis__put64(key, word);
        const tamis_hash a = tamis__xxh3_word(tamis__xxh3_flip(seed), word);
        const tamis_hash b = tamis_hash_bytes(seed, key, 8);
        CHECK(a.lo == b.lo && a.hi == b.hi);
    }
}

static const struct test tests[] = {
    {"all", test_all},
    {"large", test_large},
    {"salted and empty", test_salted_and_empty},
    {"most items", test_most_items},
    {"keyless", test_keyless},
    {"words", test_words},
};

TEST_MAIN(tests)
