/* Every verb and every promise of include/tamis/tamis.h about keys and handles. Merging and looking
 * inside are in test_api_sets.c, the planner in test_plan.c, saving under failure in
 * tests/fault/. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"

#include <unistd.h>

/* --- Keys, one and many ----------------------------------------------------------------------- */

static void test_names(void)
{
    CHECK(strcmp(tamis_version(), TAMIS_VERSION_STRING) == 0);
    for (int s = -20; s <= 1; s++) {
        const char *text = tamis_status_message((tamis_status)s);
        CHECK(text != NULL && text[0] != '\0' && strchr(text, '\n') == NULL);
    }
    for (uint32_t kind = 1; kind <= 3; kind++)
        CHECK(tamis_kind_named(tamis_kind_name(kind)) == kind);
    CHECK(strcmp(tamis_kind_name(TAMIS_BLOCKED), "blocked") == 0);
    CHECK(tamis_kind_name(0) == NULL && tamis_kind_name(999) == NULL);
    CHECK(tamis_kind_named("no such kind") == TAMIS_AUTO && tamis_kind_named("") == TAMIS_AUTO);
}

static void test_add_and_ask(void)
{
    static const tamis_bytes odd[] = {{"", 0}, {"\0", 1}, {"\0\0", 2}, {"a\0b", 3}, {"a\0c", 3}};
    for (uint32_t kind = 0; kind <= 3; kind++) {
        tamis *t = create_kind(kind);
        for (size_t i = 0; i < 5; i++) {
            bool seen = true;
            CHECK(!tamis_may_contain(t, odd[i].p, odd[i].len));
            CHECK_OK(tamis_add(t, odd[i].p, odd[i].len, &seen));
            CHECK(!seen);
            CHECK(tamis_may_contain(t, odd[i].p, odd[i].len));
            CHECK_OK(tamis_add(t, odd[i].p, odd[i].len, &seen));
            CHECK(seen);
            CHECK_OK(tamis_add(t, odd[i].p, odd[i].len, NULL));
        }
        CHECK(tamis_may_contain(t, NULL, 0)); /* the empty key needs no address */
        CHECK_THAT(facts_of(t).items, ==, 5);
        tamis_close(t);
    }
    tamis_close(NULL);
}

static bool bit(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

#define GUARD 0x5a
struct answers {
    uint8_t bits[2 * MANY / 8 + 2];
};

static void prepare_answers(struct answers *a)
{
    memset(a->bits, GUARD, sizeof a->bits);
}

/* Spare bits zero, nothing written beyond. */
static void check_spare(const struct answers *a, size_t n)
{
    const size_t used = (n + 7) / 8;
    for (size_t i = n; i < used * 8; i++) CHECK(!bit(a->bits, i));
    for (size_t i = used; i < sizeof a->bits; i++) CHECK(a->bits[i] == GUARD);
}

/* n keys into three filters by three ways, then 2n asked by three ways. */
static void check_ways_agree(const tamis_plan *plan, const uint8_t *key, size_t n)
{
    tamis *one = create(plan, key), *many = create(plan, key), *hashed = create(plan, key);
    static tamis_hash h[2 * MANY];
    static struct answers a, b;
    size_t done = 77;
    prepare_answers(&a), prepare_answers(&b);
    CHECK_OK(tamis_hash_many(one, keys, 2 * n, h));
    CHECK_OK(tamis_add_many(many, keys, n, a.bits, &done));
    CHECK_THAT(done, ==, n);
    CHECK_OK(tamis_add_hashes(hashed, h, n, b.bits, &done));
    CHECK_THAT(done, ==, n);
    check_spare(&a, n), check_spare(&b, n);
    for (size_t i = 0; i < n; i++) {
        bool seen;
        CHECK_OK(tamis_add(one, keys[i].p, keys[i].len, &seen));
        CHECK(seen == bit(a.bits, i) && seen == bit(b.bits, i));
    }
    CHECK(same_image(one, many) && same_image(one, hashed));

    prepare_answers(&a), prepare_answers(&b);
    const size_t maybe = tamis_may_contain_many(one, keys, 2 * n, a.bits);
    CHECK_THAT(tamis_may_contain_hashes(one, h, 2 * n, b.bits), ==, maybe);
    check_spare(&a, 2 * n), check_spare(&b, 2 * n);
    size_t counted = 0;
    for (size_t i = 0; i < 2 * n; i++) {
        const bool in = tamis_may_contain(one, keys[i].p, keys[i].len);
        CHECK(in == bit(a.bits, i) && in == bit(b.bits, i) && (in || i >= n));
        counted += in;
    }
    CHECK_THAT(counted, ==, maybe);
    CHECK(n == 0 || maybe < 2 * n); /* some "no" was among the answers */
    tamis_close(one), tamis_close(many), tamis_close(hashed);
}

static void test_one_many_and_hashes_agree(void)
{
    static const size_t awkward[] = {0, 1, 7, 8, 9, 255, 256, 257, 1000};
    make_keys();
    for (uint32_t kind = 1; kind <= 3; kind++)
        for (size_t i = 0; i < sizeof awkward / sizeof *awkward; i++) {
            tamis_plan plan = plan_of(kind, 1000);
            check_ways_agree(&plan, NULL, awkward[i]);
            check_ways_agree(&plan, secret, awkward[i]);
            plan.seed = 42;
            check_ways_agree(&plan, NULL, awkward[i]);
            plan.flags = TAMIS_COMPACT;
            if (kind == TAMIS_BLOCKED) check_ways_agree(&plan, NULL, awkward[i]);
        }
}

static void test_answers_are_optional(void)
{
    make_keys();
    tamis *a = create_kind(TAMIS_BLOCKED), *b = create_kind(TAMIS_BLOCKED);
    struct answers seen;
    CHECK_OK(tamis_add_many(a, keys, MANY, NULL, NULL));
    CHECK_OK(tamis_add_many(b, keys, MANY, seen.bits, NULL));
    CHECK(same_image(a, b));
    CHECK_OK(tamis_add_many(a, NULL, 0, NULL, NULL));
    CHECK_THAT(tamis_may_contain_many(a, NULL, 0, seen.bits), ==, 0);
    tamis_close(a), tamis_close(b);
}

/* --- Strict ----------------------------------------------------------------------------------- */

/* A batch against a strict filter, held against the same keys one by one. */
static void check_strict(uint32_t kind, uint64_t room, bool by_hash)
{
    tamis_plan plan = plan_of(kind, room);
    plan.flags = TAMIS_STRICT;
    tamis *batch = create(&plan, NULL), *single = create(&plan, NULL);
    static tamis_hash h[MANY];
    static struct answers a;
    size_t done = 12345, expected = 0;
    prepare_answers(&a);
    CHECK_OK(tamis_hash_many(batch, keys, MANY, h));
    const tamis_status s = by_hash ? tamis_add_hashes(batch, h, MANY, a.bits, &done)
                                   : tamis_add_many(batch, keys, MANY, a.bits, &done);
    CHECK_THAT(s, ==, TAMIS_EFULL);
    check_spare(&a, MANY);
    for (bool seen; tamis_add(single, keys[expected].p, keys[expected].len, &seen) == TAMIS_OK;
         expected++)
        CHECK(seen == bit(a.bits, expected));
    CHECK_THAT(done, ==, expected);
    for (size_t i = done; i < MANY; i++) CHECK(!bit(a.bits, i));
    CHECK(same_image(batch, single));
    CHECK_THAT(facts_of(batch).items, ==, facts_of(batch).planned_items);
    CHECK(facts_of(batch).strict && !facts_of(batch).overfull);

    /* A full filter accepts its members again, any number of times, and refuses a new key
     * without a change. */
    struct bytes before = image_of(batch);
    CHECK_OK(tamis_add_many(batch, keys, done, a.bits, &done));
    CHECK_THAT(done, ==, expected);
    bool seen = false;
    CHECK_OK(tamis_add(batch, keys[0].p, keys[0].len, &seen));
    CHECK(seen);
    CHECK_THAT(tamis_add(batch, keys[expected].p, keys[expected].len, NULL), ==, TAMIS_EFULL);
    CHECK(!tamis_may_contain(batch, keys[expected].p, keys[expected].len));
    struct bytes after = image_of(batch);
    CHECK(bytes_equal(before, after));
    free(before.p), free(after.p);
    tamis_close(batch), tamis_close(single);
}

static void test_strict(void)
{
    static const uint64_t rooms[] = {1, 7, 8, 100, 255, 256, 257, 511, 700};
    make_keys();
    for (uint32_t kind = 1; kind <= 3; kind++)
        for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++) {
            check_strict(kind, rooms[i], false);
            check_strict(kind, rooms[i], true);
        }
}

/* A refused add changes nothing, not even the generation. */
static void test_refusal_changes_nothing(void)
{
    make_keys();
    tamis_plan plan = plan_of(TAMIS_BLOOM, 10);
    plan.flags = TAMIS_STRICT;
    tamis *t = create(&plan, NULL), *again;
    size_t done;
    CHECK_THAT(tamis_add_many(t, keys, MANY, NULL, &done), ==, TAMIS_EFULL);
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK_THAT(tamis_add(again, keys[done].p, keys[done].len, NULL), ==, TAMIS_EFULL);
    CHECK_OK(tamis_add(again, keys[0].p, keys[0].len, NULL));
    struct bytes same = image_of(again);
    CHECK(bytes_equal(image, same));
    free(image.p), free(same.p);
    tamis_close(t), tamis_close(again);
}

static void test_strict_merge(void)
{
    make_keys();
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis_plan plan = plan_of(kind, 400);
        plan.flags = TAMIS_STRICT;
        tamis *a = create(&plan, NULL), *b = create(&plan, NULL);
        tamis_error why;
        CHECK_OK(tamis_add_many(a, keys, 300, NULL, NULL));
        CHECK_OK(tamis_add_many(b, keys + 1000, 300, NULL, NULL));
        struct bytes before = image_of(a);
        CHECK_THAT(tamis_merge(a, b, &why), ==, TAMIS_EFULL);
        CHECK(why.status == TAMIS_EFULL && why.text[0] != '\0');
        struct bytes after = image_of(a);
        CHECK(bytes_equal(before, after));
        free(before.p), free(after.p);
        tamis_close(a), tamis_close(b);
    }
}

/* --- Sealed, cleared, copied, viewed ---------------------------------------------------------- */

static void check_unchangeable(tamis *t, const tamis *other)
{
    const tamis_hash h = {1, 2};
    const tamis_bytes key = {"new", 3};
    struct bytes before = image_of(t);
    size_t done = 5;
    CHECK_THAT(tamis_add(t, "new", 3, NULL), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_add_many(t, &key, 1, NULL, &done), ==, TAMIS_ESEALED);
    CHECK_THAT(done, ==, 0);
    CHECK_THAT(tamis_add_hashes(t, &h, 1, NULL, NULL), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_clear(t), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_merge(t, other, NULL), ==, TAMIS_ESEALED);
    CHECK(facts_of(t).read_only);
    struct bytes after = image_of(t);
    CHECK(bytes_equal(before, after));
    free(before.p), free(after.p);
}

static void test_seal(void)
{
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis *t = create_kind(kind), *other = create_kind(kind), *loaded, *copy;
        CHECK_OK(tamis_add(t, "old", 3, NULL));
        CHECK_OK(tamis_seal(t, NULL));
        CHECK_OK(tamis_seal(t, NULL));
        CHECK(facts_of(t).sealed);
        check_unchangeable(t, other);
        struct bytes image = image_of(t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &loaded, NULL));
        CHECK_OK(tamis_copy(t, &copy, NULL));
        check_unchangeable(loaded, other);
        check_unchangeable(copy, other);
        CHECK(facts_of(loaded).sealed && tamis_may_contain(loaded, "old", 3));
        CHECK_OK(tamis_merge(other, t, NULL)); /* as a source it is as good as any */
        free(image.p);
        tamis_close(t), tamis_close(other), tamis_close(loaded), tamis_close(copy);
    }
}

static void test_clear(void)
{
    make_keys();
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis *t = create_kind(kind), *fresh = create_kind(kind), *other = create_kind(kind);
        CHECK_OK(tamis_add_many(t, keys, MANY, NULL, NULL));
        CHECK_OK(tamis_merge(t, other, NULL));
        CHECK(facts_of(t).items_estimated);
        CHECK_OK(tamis_clear(t));
        CHECK(same_image(t, fresh) && !facts_of(t).items_estimated);
        struct bytes image = image_of(t);
        tamis *again;
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        CHECK_OK(tamis_clear(again)); /* a change like any other */
        CHECK_THAT(facts_of(again).generation, ==, 2);
        free(image.p);
        tamis_close(again);
        for (size_t i = 0; i < MANY; i++) CHECK(!tamis_may_contain(t, keys[i].p, keys[i].len));
        tamis_close(t), tamis_close(fresh), tamis_close(other);
    }
}

static void test_copy(void)
{
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis *t = create_kind(kind), *copy;
        CHECK_OK(tamis_add(t, "a", 1, NULL));
        CHECK_OK(tamis_copy(t, &copy, NULL));
        CHECK(same_image(t, copy));
        CHECK_OK(tamis_add(t, "b", 1, NULL));
        CHECK_OK(tamis_add(copy, "c", 1, NULL));
        CHECK(tamis_may_contain(t, "a", 1) && tamis_may_contain(copy, "a", 1));
        CHECK(!tamis_may_contain(copy, "b", 1) && !tamis_may_contain(t, "c", 1));
        tamis_close(t);
        CHECK(tamis_may_contain(copy, "c", 1));
        tamis_close(copy);
    }
}

/* A copy has no file: it outlives the handle it came from, which keeps the lock for itself. */
static void test_copy_of_a_file(void)
{
    const char *tmp = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/tamis-copy-%ld", tmp != NULL ? tmp : "/tmp", (long)getpid());
    const tamis_options update = {.struct_size = sizeof update, .flags = TAMIS_UPDATE};
    tamis *t = create_kind(TAMIS_BLOOM), *opened, *copy;
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK_OK(tamis_open(path, &update, &opened, NULL));
    CHECK_OK(tamis_copy(opened, &copy, NULL));
    CHECK_OK(tamis_add(copy, "new", 3, NULL));
    CHECK_THAT(tamis_save(copy, path, NULL, NULL), ==, TAMIS_EBUSY);
    tamis_close(opened);
    CHECK_OK(tamis_save(copy, path, NULL, NULL));
    CHECK_OK(tamis_open(path, NULL, &opened, NULL));
    CHECK(tamis_may_contain(opened, "new", 3) && facts_of(opened).generation == 2);
    CHECK(remove(path) == 0);
    tamis_close(t), tamis_close(copy), tamis_close(opened);
}

static void test_load_anywhere_view_aligned(void)
{
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis *t = create_kind(kind), *other = create_kind(kind), *u, *copy;
        CHECK_OK(tamis_add(t, "old", 3, NULL));
        struct bytes image = image_of(t), room = bytes_new(image.n + 64);
        tamis_error why;
        for (size_t shift = 0; shift < 64; shift++) {
            memcpy(room.p + shift, image.p, image.n);
            CHECK_OK(tamis_load(room.p + shift, image.n, NULL, &u, NULL));
            CHECK(same_image(t, u));
            CHECK_OK(tamis_add(u, "new", 3, NULL));
            tamis_close(u);
            const tamis_status s = tamis_view(room.p + shift, image.n, NULL, &u, &why);
            CHECK_THAT(s, ==, shift == 0 ? TAMIS_OK : TAMIS_EINVAL);
            CHECK((u == NULL) == (s != TAMIS_OK) && (s == TAMIS_OK || why.text[0] != '\0'));
            tamis_close(u);
        }
        CHECK_OK(tamis_view(image.p, image.n, NULL, &u, NULL));
        CHECK(same_image(t, u));
        check_unchangeable(u, other);
        CHECK_THAT(tamis_seal(u, NULL), ==, TAMIS_ESEALED);
        CHECK(!facts_of(u).sealed);
        CHECK_OK(tamis_copy(u, &copy, NULL)); /* its own memory, so it may change */
        CHECK_OK(tamis_add(copy, "new", 3, NULL));
        CHECK(!tamis_may_contain(u, "new", 3));
        tamis_close(copy), tamis_close(u), tamis_close(t), tamis_close(other);
        free(image.p), free(room.p);
    }
}

/* --- Keys that are secret, hashes that are the caller's --------------------------------------- */

static struct bytes keyed_image(uint32_t kind)
{
    const tamis_plan plan = plan_of(kind, 100);
    tamis *t = create(&plan, secret);
    CHECK_OK(tamis_add(t, "old", 3, NULL));
    CHECK(facts_of(t).keyed && facts_of(t).hash == TAMIS_SIPHASH);
    struct bytes image = image_of(t);
    for (size_t i = 0; i + 16 <= image.n; i++) CHECK(memcmp(image.p + i, secret, 16) != 0);
    tamis_close(t);
    return image;
}

static void test_keyless(void)
{
    make_keys();
    for (uint32_t kind = 1; kind <= 3; kind++) {
        struct bytes image = keyed_image(kind);
        tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_KEYLESS};
        tamis *blind, *seeing;
        CHECK_OK(tamis_load(image.p, image.n, &o, &blind, NULL));
        o = (tamis_options){.struct_size = sizeof o, .key = secret};
        CHECK_OK(tamis_load(image.p, image.n, &o, &seeing, NULL));
        const tamis_bytes key = {"new", 3};
        tamis_hash h;
        uint8_t bits = 0xff;
        uint64_t cells[64];
        CHECK(tamis_may_contain(blind, "new", 3) && !tamis_may_contain(seeing, "new", 3));
        CHECK_THAT(tamis_may_contain_many(blind, &key, 1, &bits), ==, 1);
        CHECK_THAT(bits, ==, 1);
        struct answers a;
        for (size_t n = 0; n <= 20; n++) {
            prepare_answers(&a);
            CHECK_THAT(tamis_may_contain_many(blind, keys, n, a.bits), ==, n);
            check_spare(&a, n);
            for (size_t i = 0; i < n; i++) CHECK(bit(a.bits, i));
        }
        CHECK_THAT(tamis_add(blind, "new", 3, NULL), ==, TAMIS_EKEY);
        CHECK_THAT(tamis_hash_many(blind, &key, 1, &h), ==, TAMIS_EKEY);
        CHECK_THAT(tamis_cells_of(blind, "new", 3, cells, 64), ==, 0);
        CHECK_OK(tamis_add(seeing, "new", 3, NULL));
        CHECK_OK(tamis_merge(blind, seeing, NULL)); /* bits need no key */
        struct bytes merged = image_of(blind);
        tamis *again;
        CHECK_OK(tamis_load(merged.p, merged.n, &o, &again, NULL));
        CHECK(tamis_may_contain(again, "new", 3) && tamis_may_contain(again, "old", 3));
        free(image.p), free(merged.p);
        tamis_close(blind), tamis_close(seeing), tamis_close(again);
    }
}

static void test_wrong_key(void)
{
    struct bytes image = keyed_image(TAMIS_BLOCKED);
    tamis *plain = create_kind(TAMIS_BLOCKED), *t = plain;
    struct bytes unkeyed = image_of(plain);
    const tamis_options right = {.struct_size = sizeof right, .key = secret};
    const tamis_options wrong = {.struct_size = sizeof wrong, .key = other_secret};
    const tamis_options keyless_wrong = {
        .struct_size = sizeof wrong, .key = other_secret, .flags = TAMIS_KEYLESS};
    tamis_error why;
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &t, &why), ==, TAMIS_EKEY);
    CHECK(t == NULL && why.status == TAMIS_EKEY && why.text[0] != '\0');
    CHECK_THAT(tamis_load(image.p, image.n, &wrong, &t, &why), ==, TAMIS_EKEY);
    CHECK_THAT(tamis_view(image.p, image.n, &keyless_wrong, &t, &why), ==, TAMIS_EKEY);
    CHECK_THAT(tamis_load(unkeyed.p, unkeyed.n, &right, &t, &why), ==, TAMIS_EKEY);
    CHECK(t == NULL && why.text[0] != '\0');
    free(image.p), free(unkeyed.p);
    tamis_close(plain);
}

static void test_caller_hashes(void)
{
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis_plan plan = plan_of(kind, 100);
        plan.flags = TAMIS_HASH_CALLER;
        tamis *t = create(&plan, NULL);
        tamis_hash h = {UINT64_C(0x123456789abcdef0), UINT64_C(0xfedcba9876543210)};
        const tamis_bytes key = {"key", 3};
        uint8_t bits = 0;
        uint64_t cells[64];
        CHECK_OK(tamis_add_hashes(t, &h, 1, NULL, NULL));
        CHECK_THAT(tamis_may_contain_hashes(t, &h, 1, &bits), ==, 1);
        CHECK(tamis_may_contain(t, "key", 3)); /* not certain, so: maybe */
        CHECK_THAT(tamis_add(t, "key", 3, NULL), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_hash_many(t, &key, 1, &h), ==, TAMIS_EUNSUPPORTED);
        CHECK_THAT(tamis_cells_of(t, "key", 3, cells, 64), ==, 0);
        CHECK(facts_of(t).hash == TAMIS_CALLER_HASH && !facts_of(t).keyed &&
              facts_of(t).items == 1);
        struct bytes image = image_of(t);
        tamis *again;
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        CHECK(facts_of(again).hash == TAMIS_CALLER_HASH);
        CHECK_THAT(tamis_may_contain_hashes(again, &h, 1, &bits), ==, 1);
        free(image.p);
        tamis_close(t), tamis_close(again);
    }
}

/* --- At rest ---------------------------------------------------------------------------------- */

static void test_generations(void)
{
    const char *tmp = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/tamis-api-%ld", tmp != NULL ? tmp : "/tmp", (long)getpid());
    tamis *t = create_kind(TAMIS_BLOCKED), *opened;
    const tamis_options update = {.struct_size = sizeof update, .flags = TAMIS_UPDATE};
    CHECK_THAT(facts_of(t).generation, ==, 1);
    CHECK_OK(tamis_add(t, "a", 1, NULL));
    CHECK_THAT(facts_of(t).generation, ==, 1);
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK_OK(tamis_save(t, path, NULL, NULL)); /* nothing new: the same generation */
    CHECK_THAT(facts_of(t).generation, ==, 1);
    CHECK_OK(tamis_add(t, "a", 1, NULL)); /* nothing new either */
    CHECK_THAT(facts_of(t).generation, ==, 1);
    tamis_close(t);
    for (uint64_t round = 1; round <= 5; round++) {
        CHECK_OK(tamis_open(path, &update, &opened, NULL));
        CHECK_THAT(facts_of(opened).generation, ==, round);
        CHECK_OK(tamis_add(opened, &round, sizeof round, NULL));
        CHECK_OK(tamis_add(opened, &round, 7, NULL));
        CHECK_THAT(facts_of(opened).generation, ==, round + 1);
        CHECK_OK(tamis_save(opened, path, NULL, NULL));
        CHECK_THAT(facts_of(opened).generation, ==, round + 1);
        tamis_close(opened);
    }
    CHECK(remove(path) == 0);
}

struct kept {
    uint8_t p[4096];
    size_t n;
};

static tamis_status keep_bytes(void *ctx, const void *bytes, size_t n)
{
    struct kept *image = ctx;
    CHECK(n <= sizeof image->p - image->n);
    memcpy(image->p + image->n, bytes, n);
    image->n += n;
    return TAMIS_OK;
}

/* One copy goes to rest and back between two adds, the other does not; they write the same
 * bytes. */
static void test_steady(void)
{
    const tamis_options steady = {.struct_size = sizeof steady, .flags = TAMIS_STEADY};
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = 100, .fpr = 0.01};
    static struct kept at_rest, one, two;
    tamis *t, *copy, *refused;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    CHECK_OK(tamis_add(t, "a", 1, NULL));
    CHECK_OK(tamis_write(t, keep_bytes, &at_rest, NULL));
    CHECK_OK(tamis_load(at_rest.p, at_rest.n, &steady, &copy, NULL));
    CHECK_OK(tamis_add(t, "b", 1, NULL));
    CHECK_OK(tamis_add(copy, "b", 1, NULL));
    CHECK_THAT(facts_of(copy).generation, ==, 1);
    CHECK_OK(tamis_write(t, keep_bytes, &one, NULL));
    CHECK_OK(tamis_write(copy, keep_bytes, &two, NULL));
    CHECK(one.n == two.n && memcmp(one.p, two.p, one.n) == 0);
    CHECK(tamis_create(&plan, &steady, &refused, NULL) == TAMIS_EINVAL);
    tamis_close(copy);
    tamis_close(t);
}

/* Cells of this many bytes: the plan, the handle and docs/FORMAT.md agree about every byte. */
static void check_size(uint64_t length)
{
    tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = 1000};
    plan.m = length * 8;
    CHECK_OK(tamis_solve(&plan, NULL, NULL));
    const uint64_t sums = (length + 65535) / 65536;
    const uint64_t offset = (128 + 64 + 8 * sums + 63) / 64 * 64;
    CHECK_THAT(plan.bytes, ==, offset + length);
    tamis *t = create(&plan, NULL), *again;
    CHECK_OK(tamis_add_many(t, keys, MANY, NULL, NULL));
    struct bytes image = image_of(t);
    CHECK_THAT(image.n, ==, plan.bytes);
    CHECK(tamis__get64(image.p + 128 + 48) == offset && tamis__get64(image.p + 112) == image.n);
    struct bytes summed = bytes_copy(image.p, image.n);
    image_resum(summed.p, summed.n); /* by the page: it must change nothing */
    CHECK(bytes_equal(image, summed));
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    CHECK(same_image(t, again));
    image.p[image.n - 1] ^= 1;
    tamis *none;
    tamis_error why;
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &none, &why), ==, TAMIS_ECORRUPT);
    CHECK_THAT(why.offset, ==, offset + (sums - 1) * 65536); /* the chunk that is to blame */
    free(image.p), free(summed.p);
    tamis_close(t), tamis_close(again);
}

/* Around whole chunks; eight sums, after which no padding is needed; more than one megabyte, which
 * is how much is read at a time. */
static void test_sizes(void)
{
    static const uint64_t chunks[] = {1, 2, 7, 8, 9, 16, 32, 40};
    make_keys();
    for (size_t i = 0; i < sizeof chunks / sizeof *chunks; i++)
        for (uint64_t length = chunks[i] * 65536 - 64; length <= chunks[i] * 65536 + 64;
             length += 64)
            check_size(length);
}

struct picky {
    size_t room, got;
};

static tamis_status put_picky(void *ctx, const void *bytes, size_t n)
{
    struct picky *p = ctx;
    (void)bytes;
    if (n > p->room - p->got) return TAMIS_EIO;
    p->got += n;
    return TAMIS_OK;
}

static void test_write_stops(void)
{
    tamis *t = create_kind(TAMIS_BLOOM);
    const size_t size = (size_t)tamis_image_size(t);
    for (size_t room = 0; room <= size; room++) {
        struct picky p = {room, 0};
        tamis_error why;
        const tamis_status s = tamis_write(t, put_picky, &p, &why);
        CHECK_THAT(s, ==, room < size ? TAMIS_EIO : TAMIS_OK);
        CHECK(s == TAMIS_OK || (why.status == TAMIS_EIO && why.text[0] != '\0'));
    }
    CHECK_THAT(facts_of(t).bytes, ==, size);
    tamis_close(t);
}

static const struct test tests[] = {
    {"names", test_names},
    {"add and ask", test_add_and_ask},
    {"one, many and hashes agree", test_one_many_and_hashes_agree},
    {"answers are optional", test_answers_are_optional},
    {"strict", test_strict},
    {"refusal changes nothing", test_refusal_changes_nothing},
    {"strict merge", test_strict_merge},
    {"seal", test_seal},
    {"clear", test_clear},
    {"copy", test_copy},
    {"copy of a file", test_copy_of_a_file},
    {"load anywhere, view aligned", test_load_anywhere_view_aligned},
    {"keyless", test_keyless},
    {"wrong key", test_wrong_key},
    {"caller hashes", test_caller_hashes},
    {"generations", test_generations},
    {"steady copies", test_steady},
    {"sizes", test_sizes},
    {"write stops", test_write_stops},
};

TEST_MAIN(tests)
