/* Every field of an image: both sides of every limit of docs/FORMAT.md, versions, flags and
 * counters, always with right sums, and the reason and the byte that a refusal names.
 * test_hostile.c covers damage that no rule foresees. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/golden.h"

#include <tamis/inspect.h>

/* recipes[0] with one field changed and the sums repaired. */
static tamis_status load_with(unsigned offset, unsigned width, uint64_t value, tamis **t,
                              tamis_error *why)
{
    struct bytes b = golden_image(&recipes[0]);
    put_field(b.p, (struct field){offset, width}, value);
    image_resum(b.p, b.n);
    const tamis_status s = tamis_load(b.p, b.n, NULL, t, why);
    free(b.p);
    return s;
}

/* Both sides of every limit of docs/FORMAT.md that one field of a bloom filter can cross. */
static void test_limits(void)
{
    static const struct {
        unsigned offset, width;
        uint64_t value;
        tamis_status expected;
    } cases[] = {
        {12, 4, 127, TAMIS_ECORRUPT}, /* header length */
        {12, 4, 129, TAMIS_ECORRUPT},
        {40, 8, 1, TAMIS_ECORRUPT}, /* a key id without a key */
        {48, 8, 1, TAMIS_ECORRUPT},
        {56, 8, UINT64_MAX, TAMIS_OK}, /* items */
        {64, 8, 0, TAMIS_ECORRUPT},    /* planned items */
        {64, 8, 1, TAMIS_OK},
        {64, 8, UINT64_MAX, TAMIS_OK},
        {72, 8, 0, TAMIS_ECORRUPT}, /* planned rate: 0 */
        {72, 8, 1, TAMIS_OK},       /* the smallest of all doubles */
        {72, 8, 0x3ff0000000000000, TAMIS_OK},
        {72, 8, 0x3ff0000000000001, TAMIS_ECORRUPT},
        {72, 8, 0x7ff0000000000000, TAMIS_ECORRUPT}, /* infinite */
        {72, 8, 0x7ff8000000000000, TAMIS_ECORRUPT}, /* not a number */
        {72, 8, 0xbfe0000000000000, TAMIS_ECORRUPT}, /* negative */
        {80, 8, 1, TAMIS_ECORRUPT},                  /* an epoch without its flag */
        {88, 8, 1, TAMIS_ECORRUPT},                  /* zero field */
        {88, 8, UINT64_C(1) << 63, TAMIS_ECORRUPT},
        {96, 8, 0, TAMIS_ECORRUPT}, /* generation */
        {96, 8, 1, TAMIS_OK},
        {96, 8, UINT64_MAX >> 1, TAMIS_OK},
        {96, 8, (UINT64_MAX >> 1) + 1, TAMIS_ECORRUPT},
        {104, 4, 0, TAMIS_ECORRUPT}, /* sections */
        {104, 4, 2, TAMIS_ECORRUPT},
        {108, 4, 1, TAMIS_ECORRUPT}, /* zero field */
        {128, 2, 0, TAMIS_EVERSION}, /* role */
        {128, 2, 2, TAMIS_EVERSION},
        {130, 2, 2, TAMIS_ECORRUPT}, /* kind of the section */
        {132, 2, 1, TAMIS_EVERSION}, /* variant */
        {134, 2, 0, TAMIS_ECORRUPT}, /* cell bits */
        {134, 2, 2, TAMIS_ECORRUPT},
        {136, 4, 0, TAMIS_ECORRUPT}, /* k */
        {136, 4, 1, TAMIS_OK},
        {136, 4, 64, TAMIS_OK},
        {136, 4, 65, TAMIS_ECORRUPT},
        {140, 4, 1, TAMIS_ECORRUPT}, /* zero fields */
        {152, 8, 1, TAMIS_ECORRUPT},
        {160, 8, 1, TAMIS_ECORRUPT},
        {168, 8, UINT64_C(1) << 63, TAMIS_ECORRUPT},
        {176, 8, 192, TAMIS_ECORRUPT}, /* offset */
        {176, 8, 320, TAMIS_ECORRUPT},
        {184, 8, 72, TAMIS_ECORRUPT}, /* length, which is 80 */
        {184, 8, 88, TAMIS_ECORRUPT},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis *t;
        tamis_error why;
        const tamis_status s = load_with(cases[i].offset, cases[i].width, cases[i].value, &t, &why);
        if (s != cases[i].expected) printf("case %zu, offset %u\n", i, cases[i].offset);
        CHECK_THAT(s, ==, cases[i].expected);
        tamis_close(t);
    }
}

/* m of recipes[0] is 630, in 640 bits: what the length allows, and the spare bits forbid. */
static void test_limits_of_m(void)
{
    tamis *t;
    struct bytes b = golden_image(&recipes[0]);
    CHECK(tamis__get64(b.p + 144) == 630 && b.n == 256 + 80);
    CHECK_THAT(load_with(144, 8, 576, &t, NULL), ==, TAMIS_ECORRUPT); /* nine words would do */
    CHECK_THAT(load_with(144, 8, 577, &t, NULL), ==, TAMIS_ECORRUPT); /* bits beyond the last */
    CHECK_OK(load_with(144, 8, 640, &t, NULL));
    tamis_close(t);
    CHECK_THAT(load_with(144, 8, 641, &t, NULL), ==, TAMIS_ECORRUPT);
    CHECK_THAT(load_with(144, 8, 0, &t, NULL), ==, TAMIS_ECORRUPT);
    CHECK_THAT(load_with(144, 8, (UINT64_C(1) << 52) + 1, &t, NULL), ==, TAMIS_ECORRUPT);
    for (unsigned bit = 630; bit < 640; bit++) { /* each of the spare ones */
        struct bytes bad = bytes_copy(b.p, b.n);
        bad.p[256 + bit / 8] |= (uint8_t)(1u << bit % 8);
        image_resum(bad.p, bad.n);
        CHECK_THAT(tamis_load(bad.p, bad.n, NULL, &t, NULL), ==, TAMIS_ECORRUPT);
        CHECK_THAT(tamis_view(bad.p, bad.n, NULL, &t, NULL), ==, TAMIS_ECORRUPT);
        free(bad.p);
    }
    free(b.p);
}

/* Seeds and key ids where the hash has none, and no key id where it needs one. */
static void test_hash_fields(void)
{
    for (size_t r = 0; r < RECIPES; r++) {
        const bool keyed = (recipes[r].also & GOLDEN_KEYED) != 0;
        if (!keyed && (recipes[r].plan.flags & TAMIS_HASH_CALLER) == 0) continue;
        const tamis_options o = golden_options(&recipes[r]);
        struct bytes b = golden_image(&recipes[r]);
        tamis *t;
        put_field(b.p, (struct field){32, 8}, 1);
        image_resum(b.p, b.n);
        CHECK_THAT(tamis_load(b.p, b.n, &o, &t, NULL), ==, TAMIS_ECORRUPT);
        put_field(b.p, (struct field){32, 8}, 0);
        put_field(b.p, (struct field){48, 8}, keyed ? 0 : 1);
        image_resum(b.p, b.n);
        CHECK_THAT(tamis_load(b.p, b.n, &o, &t, NULL), ==, keyed ? TAMIS_EKEY : TAMIS_ECORRUPT);
        put_field(b.p, (struct field){40, 8}, 0);
        image_resum(b.p, b.n);
        CHECK_THAT(tamis_load(b.p, b.n, &o, &t, NULL), ==, TAMIS_ECORRUPT);
        free(b.p);
    }
}

/* The reason for a refusal and the byte that is to blame, once the sums are right again. */
static void check_blame(struct bytes *b, const char *words, uint64_t offset)
{
    tamis *t;
    tamis_error why;
    image_resum(b->p, b->n);
    CHECK_THAT(tamis_load(b->p, b->n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
    if (strstr(why.text, words) == NULL) printf("%s, not: %s\n", why.text, words);
    CHECK(strstr(why.text, words) != NULL);
    CHECK_THAT(why.offset, ==, offset);
}

/* What can be wrong with the last of several sections of 40 bytes. */
static void check_broken_tables(struct bytes *b, uint32_t count, uint64_t first)
{
    const unsigned entry = 128 + 64 * (count - 1);
    const struct field zero = {entry + 40, 8}, offset = {entry + 48, 8}, length = {entry + 56, 8};
    const struct field total = {112, 8};
    const uint64_t at = first + 64 * (uint64_t)(count - 1);
    put_field(b->p, zero, 1);
    check_blame(b, "reserved", entry + 40);
    put_field(b->p, zero, 0);
    put_field(b->p, offset, at - 64);
    check_blame(b, "a section offset is wrong", offset.offset);
    put_field(b->p, offset, at);
    put_field(b->p, length, 32);
    check_blame(b, "after the last section", at + 32);
    put_field(b->p, length, 48);
    check_blame(b, "beyond the end", length.offset);
    put_field(b->p, length, 7);
    check_blame(b, "section length", length.offset);
    put_field(b->p, length, b->n + 1);
    check_blame(b, "section length", length.offset);
    put_field(b->p, length, 40);
    put_field(b->p, total, b->n + 1);
    check_blame(b, "truncated", b->n);
    put_field(b->p, total, b->n - 1);
    check_blame(b, "after the end", b->n - 1);
    put_field(b->p, total, b->n);
    check_blame(b, "exactly one section", 128);
}

/* Tables of many sections, all of them right: no kind here has more than one, and that is the only
 * reason to refuse them, until something else is wrong with them too. */
static void test_many_sections(void)
{
    static const uint32_t counts[] = {2, 3, 17, 1024, 1025};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t count = counts[i];
        const uint64_t meta = 128 + 72 * (uint64_t)count, first = (meta + 63) / 64 * 64;
        struct bytes good = golden_image(&recipes[0]);
        struct bytes b = bytes_new((size_t)(first + 64 * (uint64_t)(count - 1) + 40));
        memset(b.p, 0, b.n);
        memcpy(b.p, good.p, 128);
        put_field(b.p, (struct field){104, 4}, count);
        put_field(b.p, (struct field){112, 8}, b.n);
        for (uint32_t s = 0; s < count; s++) {
            uint8_t *entry = b.p + 128 + 64 * (size_t)s;
            memcpy(entry, good.p + 128, 64);
            tamis__put64(entry + 16, 320);
            tamis__put64(entry + 48, first + 64 * (uint64_t)s);
            tamis__put64(entry + 56, 40);
        }
        image_resum(b.p, b.n);
        tamis *t;
        tamis_error why;
        CHECK_THAT(tamis_load(b.p, b.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
        CHECK(strstr(why.text, count <= 1024 ? "exactly one section" : "number of sections") !=
              NULL);
        if (count <= 1024) check_broken_tables(&b, count, first);
        free(b.p);
        free(good.p);
    }
}

static bool is_read_only(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    return f.read_only;
}

/* Not by us, and not by a copy either; and never written in our own, older form. */
static void check_never_changed(const tamis *t)
{
    tamis *copy;
    struct bytes_sink s = {bytes_new((size_t)tamis_image_size(t)), 0};
    CHECK(is_read_only(t));
    CHECK_OK(tamis_copy(t, &copy, NULL));
    CHECK(is_read_only(copy));
    CHECK_THAT(tamis_add(copy, "x", 1, NULL), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_write(t, bytes_put, &s, NULL), ==, TAMIS_EVERSION);
    CHECK_THAT(tamis_write(copy, bytes_put, &s, NULL), ==, TAMIS_EVERSION);
    CHECK_THAT(tamis_save(copy, "/tmp/never-written.tamis", NULL, NULL), ==, TAMIS_EVERSION);
    tamis_close(copy);
    free(s.to.p);
}

static void test_versions(void)
{
    tamis *t;
    CHECK_THAT(load_with(8, 2, 2, &t, NULL), ==, TAMIS_EVERSION);
    CHECK_THAT(load_with(8, 2, 65535, &t, NULL), ==, TAMIS_EVERSION);
    CHECK_THAT(load_with(8, 2, 0, &t, NULL), ==, TAMIS_ECORRUPT);
    CHECK_THAT(load_with(10, 2, 0, &t, NULL), ==, TAMIS_ECORRUPT);
    for (uint64_t version = 2; version <= 65535; version += 65533) {
        CHECK_OK(load_with(10, 2, version, &t, NULL));
        check_never_changed(t);
        CHECK_THAT(tamis_add(t, "x", 1, NULL), ==, TAMIS_ESEALED);
        CHECK_THAT(tamis_clear(t), ==, TAMIS_ESEALED);
        tamis_close(t);
    }
}

static void test_flags(void)
{
    tamis *t;
    for (unsigned bit = 0; bit < 32; bit++) {
        CHECK_THAT(load_with(16, 4, UINT64_C(1) << bit, &t, NULL), ==, TAMIS_EVERSION);
        const tamis_status s = load_with(20, 4, UINT64_C(1) << bit, &t, NULL);
        /* 4, 8: only windows rotate; 16: only growing filters are marked as removable. */
        CHECK_THAT(s, ==, bit >= 2 && bit <= 4 ? TAMIS_ECORRUPT : TAMIS_OK);
        if (s == TAMIS_OK) {
            if (bit > 1) check_never_changed(t);
            CHECK(is_read_only(t) == (bit != 1)); /* 2, strict, is known and changeable */
            CHECK((tamis_add(t, "x", 1, NULL) == TAMIS_ESEALED) == (bit != 1));
        }
        tamis_close(t);
        const tamis_status ignored = load_with(24, 4, UINT64_C(1) << bit, &t, NULL);
        CHECK_THAT(ignored, ==,
                   bit < 16 ? TAMIS_OK : TAMIS_ECORRUPT); /* a width, but no encoding */
        if (ignored != TAMIS_OK) continue;
        CHECK(!is_read_only(t));
        CHECK_OK(tamis_add(t, "32 bytes or 8 for some encodings", bit == 9 ? 8 : 32, NULL));
        struct bytes written = image_of(t);
        const bool kept = bit < 2 || bit >= 8; /* 1, 2 and encodings are known */
        CHECK_THAT(tamis__get32(written.p + 24), ==, kept ? 1u << bit : 0);
        free(written.p);
        tamis_close(t);
    }
}

static void test_unknown_numbers(void)
{
    tamis *t;
    for (uint64_t n = 0; n < 65536; n += n < 20 ? 1 : 4369) {
        const tamis_status kind = load_with(30, 2, n, &t, NULL);
        CHECK_THAT(kind, ==,
                   n == 1                                 ? TAMIS_OK
                   : tamis_kind_name((uint32_t)n) != NULL ? TAMIS_ECORRUPT
                                                          : TAMIS_EVERSION);
        tamis_close(t);
        const tamis_status hash = load_with(28, 2, n, &t, NULL);
        CHECK_THAT(hash, ==,
                   n == 1 || n == 3 ? TAMIS_OK
                   : n == 2         ? TAMIS_ECORRUPT
                                    : TAMIS_EVERSION);
        tamis_close(t);
    }
}

/* What FTP's text mode, a 7-bit channel and an editor do to the first bytes. */
static void test_damaged_magic(void)
{
    static const uint8_t starts[][8] = {
        {0x89, 'T', 'A', 'M', 'I', 'S', '\n', 1},
        {0x89, 'T', 'A', 'M', 'I', 'S', '\r', '\r'},
        {0x09, 'T', 'A', 'M', 'I', 'S', '\r', '\n'},
        {0x89, 'T', 'A', 'M', 'I', 'S', '\n', '\n'},
    };
    struct bytes b = golden_image(&recipes[0]);
    tamis *t;
    tamis_error why;
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++) {
        memcpy(b.p, starts[i], 8);
        image_resum(b.p, b.n);
        CHECK_THAT(tamis_load(b.p, b.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
        CHECK(strstr(why.text, "text-mode") != NULL);
    }
    memcpy(b.p, "PK\3\4....", 8);
    CHECK_THAT(tamis_load(b.p, b.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
    CHECK(strstr(why.text, "not a Tamis file") != NULL);
    free(b.p);
}

/* The byte to blame, for those that one field can damage, and what is said of stumps. */
static void test_blame(void)
{
    static const unsigned own[] = {12, 64, 72, 80, 88, 96, 104, 140, 176};
    struct bytes good = golden_image(&recipes[0]);
    for (size_t i = 0; i < sizeof own / sizeof *own; i++) {
        tamis *t;
        tamis_error why;
        const uint64_t bad = own[i] == 64 || own[i] == 72 || own[i] == 96 ? 0 : 3000;
        const unsigned width = own[i] == 12 || own[i] == 104 || own[i] == 140 ? 4 : 8;
        CHECK_THAT(load_with(own[i], width, bad, &t, &why), ==, TAMIS_ECORRUPT);
        CHECK_THAT(why.offset, ==, own[i]);
    }
    struct bytes padded = bytes_copy(good.p, good.n);
    padded.p[255] = 1;
    check_blame(&padded, "padding", 200);
    struct bytes stump = {good.p, 0};
    check_blame(&stump, "empty", 0);
    for (stump.n = 1; stump.n < 128; stump.n++) check_blame(&stump, "truncated", stump.n);
    memset(stump.p, 'x', 8);
    for (stump.n = 1; stump.n < 300; stump.n++) check_blame(&stump, "not a Tamis file", 0);
    free(padded.p);
    free(good.p);
}

static void test_max_bytes(void)
{
    struct bytes b = golden_image(&recipes[0]);
    tamis_options o = {.struct_size = sizeof o, .max_bytes = b.n};
    tamis *t;
    CHECK_OK(tamis_load(b.p, b.n, &o, &t, NULL));
    tamis_close(t);
    o.max_bytes = b.n - 1;
    CHECK_THAT(tamis_load(b.p, b.n, &o, &t, NULL), ==, TAMIS_ENOMEM);
    CHECK_THAT(tamis_view(b.p, b.n, &o, &t, NULL), ==, TAMIS_ENOMEM);
    free(b.p);
}

/* Counters from a hostile header must not wrap around into a promise that is false. */
static void test_counters_at_the_end(void)
{
    tamis *t;
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(load_with(56, 8, UINT64_MAX, &t, NULL));
    for (int i = 0; i < 50; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
    CHECK_OK(tamis_info(t, &f));
    CHECK(f.items == UINT64_MAX && f.overfull);
    tamis_close(t);

    struct bytes b = golden_image(&recipes[0]);
    put_field(b.p, (struct field){20, 4}, 2); /* strict */
    put_field(b.p, (struct field){56, 8}, UINT64_MAX);
    image_resum(b.p, b.n);
    CHECK_OK(tamis_load(b.p, b.n, NULL, &t, NULL));
    tamis_bytes keys[300];
    int numbers[300];
    for (int i = 0; i < 300; i++) {
        numbers[i] = i;
        keys[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
    CHECK_THAT(tamis_add_many(t, keys, 300, NULL, NULL), ==, TAMIS_EFULL);
    tamis_close(t);
    free(b.p);
}

static const struct test tests[] = {
    {"limits", test_limits},
    {"limits of m", test_limits_of_m},
    {"hash fields", test_hash_fields},
    {"many sections", test_many_sections},
    {"versions", test_versions},
    {"flags", test_flags},
    {"unknown numbers", test_unknown_numbers},
    {"damaged magic", test_damaged_magic},
    {"blame", test_blame},
    {"max bytes", test_max_bytes},
    {"counters at the end", test_counters_at_the_end},
};

TEST_MAIN(tests)
