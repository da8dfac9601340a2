/* Every reason for which an image is refused, one field at a time: golden files with one fault
 * and right sums, each with the expected status, words and place. Then follow sources and sinks
 * that fail. Offsets are those of docs/FORMAT.md. test_hostile.c tries damage that no rule
 * foresees. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/golden.h"
#include "../support/tracking.h"
#include "image/image.h"

enum { ENTRY = 128, NOWHERE = -1 };

struct change {
    unsigned offset, width;
    uint64_t value;
};

struct refusal {
    const char *file;
    struct change changes[2];
    tamis_status status;
    const char *words;
    int at; /* the reported offset; NOWHERE if none is */
};

#define NAN_BITS UINT64_C(0x7ff8000000000000)
#define TWO_BITS UINT64_C(0x4000000000000000)

static const struct refusal refusals[] = {
    /* The start of the header. */
    {"bloom.tamis", {{0, 1, 9}}, TAMIS_ECORRUPT, "text-mode transfer", 0},
    {"bloom.tamis", {{1, 1, 'X'}}, TAMIS_ECORRUPT, "not a Tamis file", 0},
    {"bloom.tamis", {{8, 2, 0}}, TAMIS_ECORRUPT, "the format version is 0", 8},
    {"bloom.tamis", {{8, 2, 2}}, TAMIS_EVERSION, "requires a reader of format 2", NOWHERE},
    {"bloom.tamis", {{16, 4, 1}}, TAMIS_EVERSION, "a feature of a newer version", NOWHERE},
    {"bloom.tamis", {{12, 4, 64}}, TAMIS_ECORRUPT, "the header length is wrong", 12},
    {"bloom.tamis", {{112, 8, 100000}}, TAMIS_ECORRUPT, "truncated: ", 336},
    {"bloom.tamis", {{112, 8, 300}}, TAMIS_ECORRUPT, "bytes after the end of the image", 300},
    {"bloom.tamis", {{104, 4, 0}}, TAMIS_ECORRUPT, "number of sections is out of range", 104},
    {"bloom.tamis", {{104, 4, 1025}}, TAMIS_ECORRUPT, "number of sections is out of range", 104},
    {"bloom.tamis", {{104, 4, 1024}}, TAMIS_ECORRUPT, "section table is longer", 104},
    {"window.packed", {{0}}, TAMIS_ECORRUPT, "is packed; unpack it first", NOWHERE},
    /* The rest of it. */
    {"bloom.tamis", {{10, 2, 0}}, TAMIS_ECORRUPT, "the write version is wrong", 10},
    {"bloom.tamis", {{28, 2, 0}}, TAMIS_EVERSION, "hash function 0 is of a newer", NOWHERE},
    {"bloom.tamis", {{28, 2, 4}}, TAMIS_EVERSION, "hash function 4 is of a newer", NOWHERE},
    {"blocked-keyed.tamis", {{32, 8, 1}}, TAMIS_ECORRUPT, "a seed where none is allowed", 32},
    {"blocked-keyed.tamis", {{40, 8, 0}, {48, 8, 0}}, TAMIS_ECORRUPT, "the key id is wrong", 40},
    {"bloom.tamis", {{55, 1, 1}}, TAMIS_ECORRUPT, "the key id is wrong", 40},
    {"bloom.tamis", {{30, 2, 99}}, TAMIS_EVERSION, "kind 99 is of a newer version", NOWHERE},
    {"bloom.tamis", {{72, 8, 0}}, TAMIS_ECORRUPT, "the planned rate is wrong", 72},
    {"bloom.tamis", {{72, 8, NAN_BITS}}, TAMIS_ECORRUPT, "the planned rate is wrong", 72},
    {"bloom.tamis", {{72, 8, TWO_BITS}}, TAMIS_ECORRUPT, "the planned rate is wrong", 72},
    {"bloom.tamis", {{64, 8, 0}}, TAMIS_ECORRUPT, "planned items are missing", 64},
    {"bloom.tamis", {{96, 8, 0}}, TAMIS_ECORRUPT, "the generation is wrong", 96},
    {"bloom.tamis", {{96, 8, UINT64_C(1) << 63}}, TAMIS_ECORRUPT, "the generation is wrong", 96},
    {"window.tamis", {{80, 1, 1}}, TAMIS_ECORRUPT, "the epoch and its flag do not fit", 80},
    {"window.tamis", {{20, 4, 8}}, TAMIS_ECORRUPT, "the epoch and its flag do not fit", 80},
    {"bloom.tamis", {{20, 4, 8}, {80, 1, 1}}, TAMIS_ECORRUPT, "no generations that rotate", 80},
    {"bloom.tamis", {{95, 1, 1}}, TAMIS_ECORRUPT, "a reserved field is not zero", 88},
    {"bloom.tamis", {{108, 1, 1}}, TAMIS_ECORRUPT, "a reserved field is not zero", 88},
    /* The table. */
    {"bloom.tamis", {{ENTRY + 56, 8, 7}}, TAMIS_ECORRUPT, "a section length is wrong", ENTRY + 56},
    {"bloom.tamis",
     {{ENTRY + 56, 8, 337}},
     TAMIS_ECORRUPT,
     "a section length is wrong",
     ENTRY + 56},
    {"bloom.tamis", {{ENTRY + 40, 8, 1}}, TAMIS_ECORRUPT, "a reserved field", ENTRY + 40},
    {"bloom.tamis",
     {{ENTRY + 48, 8, 320}},
     TAMIS_ECORRUPT,
     "a section offset is wrong",
     ENTRY + 48},
    {"bloom.tamis", {{ENTRY + 56, 8, 88}}, TAMIS_ECORRUPT, "beyond the end", ENTRY + 56},
    {"bloom.tamis", {{ENTRY + 56, 8, 72}}, TAMIS_ECORRUPT, "bytes after the last section", 328},
    {"bloom.tamis", {{200, 1, 1}}, TAMIS_ECORRUPT, "padding is not zero", 200},
    {"bloom.tamis",
     {{ENTRY, 2, 0}},
     TAMIS_EVERSION,
     "role 0, variant 0 is of a newer version",
     NOWHERE},
    {"bloom.tamis",
     {{ENTRY, 2, 9}},
     TAMIS_EVERSION,
     "role 9, variant 0 is of a newer version",
     NOWHERE},
    {"bloom.tamis", {{ENTRY + 2, 2, 99}}, TAMIS_EVERSION, "kind 99 is of a newer", NOWHERE},
    {"bloom.tamis",
     {{ENTRY + 4, 2, 99}},
     TAMIS_EVERSION,
     "variant 99 is of a newer version",
     NOWHERE},
    {"bloom.tamis", {{ENTRY + 24, 8, 1}}, TAMIS_ECORRUPT, "a reserved field", ENTRY + 24},
    {"bloom.tamis", {{ENTRY + 32, 8, 1}}, TAMIS_ECORRUPT, "a reserved field", ENTRY + 32},
    {"bloom.tamis", {{ENTRY + 12, 4, 1}}, TAMIS_ECORRUPT, "a reserved field", ENTRY + 12},
    /* Facts that contradict each other. */
    {"tally.tamis", {{56, 8, 1}}, TAMIS_ECORRUPT, "items of the sections do not add up", 56},
    {"window-bloom-turning.tamis", {{ENTRY + 24, 8, 7}}, TAMIS_ECORRUPT, "do not add up", 56},
    {"window-bloom-turning.tamis",
     {{ENTRY + 24, 8, UINT64_MAX}, {ENTRY + 88, 8, UINT64_MAX}},
     TAMIS_ECORRUPT,
     "do not add up",
     56},
    {"fuse.tamis", {{20, 4, 0}}, TAMIS_ECORRUPT, "must be sealed or collecting", 20},
    {"fuse-collecting.tamis", {{20, 4, 1}}, TAMIS_ECORRUPT, "must be sealed or", 20},
    {"private.tamis", {{20, 4, 0}}, TAMIS_ECORRUPT, "must be sealed and not strict", 20},
    {"private.tamis", {{20, 4, 3}}, TAMIS_ECORRUPT, "must be sealed and not strict", 20},
    {"bloom.tamis", {{20, 4, 4}}, TAMIS_ECORRUPT, "marked as turning", 20},
    {"window-of-tally.tamis", {{20, 4, 4}}, TAMIS_ECORRUPT, "marked as turning", 20},
    {"window-bloom-turning.tamis", {{20, 4, 6}}, TAMIS_ECORRUPT, "marked as strict", 20},
    {"growing.tamis", {{20, 4, 2}}, TAMIS_ECORRUPT, "marked as strict", 20},
    {"tally.tamis", {{20, 4, 2}}, TAMIS_ECORRUPT, "marked as strict", 20},
    {"cuckoo.tamis", {{20, 4, 16}}, TAMIS_ECORRUPT, "marked as removable", 20},
    {"growing.tamis", {{20, 4, 16}}, TAMIS_ECORRUPT, "removable filter has shares", ENTRY},
    {"growing-shares.tamis", {{20, 4, 16}}, TAMIS_ECORRUPT, "first table of a removable", ENTRY},
    {"growing-removable.tamis", {{20, 4, 18}}, TAMIS_ECORRUPT, "marked as strict", 20},
};

static struct bytes read_named(const char *name)
{
    struct bytes b = read_golden(name);
    CHECK(b.p != NULL);
    return b;
}

static const tamis_options keyed = {.struct_size = sizeof keyed, .key = golden_secret};

static void every_refusal(void)
{
    for (size_t i = 0; i < sizeof refusals / sizeof *refusals; i++) {
        const struct refusal *r = &refusals[i];
        const bool is_keyed = strstr(r->file, "keyed") != NULL;
        const tamis_options *o = is_keyed ? &keyed : NULL;
        struct bytes image = read_named(r->file);
        tamis *t;
        tamis_error why;
        if (strstr(r->file, ".packed") == NULL) { /* nothing else is wrong with it */
            CHECK_OK(tamis_load(image.p, image.n, o, &t, NULL));
            tamis_close(t);
        }
        for (size_t c = 0; c < 2; c++) {
            const struct change *x = &r->changes[c];
            put_field(image.p, (struct field){x->offset, x->width}, x->value);
        }
        image_resum(image.p, image.n);
        const tamis_status s = tamis_load(image.p, image.n, o, &t, &why);
        if (s != r->status || strstr(why.text, r->words) == NULL)
            printf("%s, \"%s\": %d, %s\n", r->file, r->words, (int)s, why.text);
        CHECK_THAT(s, ==, r->status);
        CHECK(t == NULL && why.status == s && strstr(why.text, r->words) != NULL);
        CHECK_THAT(why.offset, ==, r->at == NOWHERE ? 0 : r->at);
        CHECK_THAT(tamis_load(image.p, image.n, o, &t, NULL), ==, r->status);
        free(image.p);
    }
}

/* The weight of a window ends where a number does, and only there. */
static void weights_that_end(void)
{
    struct bytes image = read_named("window-of-tally.tamis");
    const struct field items = {56, 8};
    tamis *t;
    for (unsigned i = 0; i < 3; i++)
        put_field(image.p, (struct field){ENTRY + 64 * i + 24, 8}, INT64_MAX);
    put_field(image.p, items, UINT64_C(3) * INT64_MAX); /* what it would be if it wrapped */
    image_resum(image.p, image.n);
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &t, NULL), ==, TAMIS_ECORRUPT);
    put_field(image.p, items, UINT64_MAX);
    image_resum(image.p, image.n);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &t, NULL));
    tamis_close(t);
    free(image.p);
}

/* A table that says more sums, or more cells, than the file has room for. */
static void sums_beyond_the_end(void)
{
    struct bytes image = read_named("bloom.tamis");
    tamis *t;
    tamis_error why;
    image.n = 196; /* header, one entry, half a sum */
    put_field(image.p, (struct field){112, 8}, image.n);
    put_field(image.p, (struct field){ENTRY + 56, 8}, 64);
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
    CHECK(strstr(why.text, "a section offset is wrong") != NULL && why.offset == ENTRY + 48);
    image.n = 200; /* all of the sum, and nothing behind it */
    put_field(image.p, (struct field){112, 8}, image.n);
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
    CHECK(strstr(why.text, "beyond the end") != NULL && why.offset == ENTRY + 56);
    free(image.p);
}

/* Sums that do not match, in the header and in any chunk; and nobody looks when told not to. */
static void damaged(void)
{
    struct bytes image = read_named("blocked-chunks.tamis");
    const uint64_t cells = tamis__get64(image.p + ENTRY + 48);
    const tamis_options unverified = {.struct_size = sizeof unverified, .flags = TAMIS_UNVERIFIED};
    tamis *t;
    tamis_error why;
    CHECK_THAT(image.n, >, cells + 65536);
    image.p[56] ^= 1; /* items */
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
    CHECK(why.offset == 120 && strstr(why.text, "sum of the header") != NULL);
    image.p[56] ^= 1;
    image.p[image.n - 1] ^= 1;
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
    CHECK_THAT(why.offset, ==, cells + (image.n - 1 - cells) / 65536 * 65536);
    CHECK_OK(tamis_load(image.p, image.n, &unverified, &t, NULL));
    tamis_close(t);
    free(image.p);
}

/* What a newer library has marked as harmless for readers is read, and not written again. */
static void of_a_newer_format(void)
{
    const struct change newer[] = {{20, 4, 32}, {10, 2, 2}};
    for (size_t i = 0; i < 2; i++) {
        struct bytes image = read_named("bloom.tamis");
        struct bytes_sink sink = {image, 0};
        tamis *t;
        tamis_error why;
        put_field(image.p, (struct field){newer[i].offset, newer[i].width}, newer[i].value);
        image_resum(image.p, image.n);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &t, &why));
        CHECK_THAT(tamis_add(t, "x", 1, NULL), ==, TAMIS_ESEALED);
        CHECK_THAT(tamis_write(t, bytes_put, &sink, &why), ==, TAMIS_EVERSION);
        CHECK(sink.at == 0 && strstr(why.text, "newer format") != NULL);
        tamis_close(t);
        free(image.p);
    }
}

static void keys_that_do_not_fit(void)
{
    static const uint8_t other[16] = {1};
    const tamis_options wrong = {.struct_size = sizeof wrong, .key = other};
    const tamis_options keyless = {.struct_size = sizeof keyless, .flags = TAMIS_KEYLESS};
    struct bytes image = read_named("blocked-keyed.tamis"), plain = read_named("blocked.tamis");
    tamis *t;
    tamis_error why;
    CHECK_THAT(tamis_load(image.p, image.n, NULL, &t, &why), ==, TAMIS_EKEY);
    CHECK(strstr(why.text, "was not given") != NULL);
    CHECK_THAT(tamis_load(image.p, image.n, &wrong, &t, &why), ==, TAMIS_EKEY);
    CHECK(strstr(why.text, "another secret key") != NULL);
    CHECK_THAT(tamis_load(plain.p, plain.n, &keyed, &t, &why), ==, TAMIS_EKEY);
    CHECK(strstr(why.text, "was made without one") != NULL);
    CHECK_OK(tamis_load(image.p, image.n, &keyless, &t, NULL));
    tamis_close(t);
    free(image.p);
    free(plain.p);
}

/* A source of which the N-th read fails, and one that promises more metadata than there is. */
struct failing {
    struct bytes image;
    unsigned reads, fail_at;
};

static tamis_status read_failing(const struct source *src, uint64_t at, void *to, size_t n,
                                 tamis_error *why)
{
    struct failing *f = src->ctx;
    (void)why;
    if (++f->reads == f->fail_at) return TAMIS_EIO;
    memcpy(to, f->image.p + at, n);
    return TAMIS_OK;
}

static void sources_that_fail(void)
{
    static const char *const files[] = {"window-bloom-turning.tamis", "exact.tamis",
                                        "blocked-chunks.tamis"};
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        struct failing f = {.image = read_named(files[i])};
        struct source src = {.size = f.image.n, .read = read_failing, .ctx = &f};
        tamis_status s = TAMIS_EIO;
        tamis *t = NULL;
        for (f.fail_at = 1; s == TAMIS_EIO; f.fail_at++) {
            f.reads = 0;
            s = tamis__image_read(&src, &o, false, &t, NULL);
            CHECK(s == TAMIS_OK || (s == TAMIS_EIO && t == NULL && a.blocks == 0));
        }
        CHECK_OK(s);
        CHECK_THAT(f.fail_at, >, 4);
        tamis_close(t);
        f = (struct failing){.image = f.image};
        src.metadata_bytes = 1;
        CHECK_THAT(tamis__image_read(&src, &o, false, &t, NULL), ==, TAMIS_ECORRUPT);
        f = (struct failing){.image = f.image, .fail_at = 1}; /* within the header */
        src.size = 100;
        CHECK_THAT(tamis__image_read(&src, &o, false, &t, NULL), ==, TAMIS_EIO);
        CHECK_THAT(a.blocks, ==, 0);
        free(f.image.p);
    }
}

/* A sink of which the N-th call fails; it may have told its own reason. */
struct refusing {
    unsigned puts, fail_at;
    tamis_error *why;
};

static tamis_status put_refusing(void *ctx, const void *p, size_t n)
{
    struct refusing *r = ctx;
    (void)p, (void)n;
    if (++r->puts != r->fail_at) return TAMIS_OK;
    if (r->why != NULL) {
        r->why->status = TAMIS_EIO;
        snprintf(r->why->text, sizeof r->why->text, "the sink's own words");
    }
    return TAMIS_EIO;
}

static void sinks_that_fail(void)
{
    struct bytes image = read_named("window-bloom-turning.tamis");
    tamis *t;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &t, NULL));
    for (unsigned telling = 0; telling < 3; telling++) {
        tamis_status s = TAMIS_EIO;
        for (unsigned n = 1; s != TAMIS_OK; n++) {
            tamis_error why = {.text = ""};
            struct refusing r = {.fail_at = n, .why = telling == 2 ? &why : NULL};
            s = tamis_write(t, put_refusing, &r, telling == 0 ? NULL : &why);
            CHECK(s == TAMIS_OK || s == TAMIS_EIO);
            if (s == TAMIS_OK) CHECK_THAT(n, >, 3);
            if (s == TAMIS_OK || telling == 0) continue;
            CHECK(why.status == s);
            CHECK(strstr(why.text, telling == 2 ? "own words" : "writing the image") != NULL);
        }
    }
    tamis_close(t);
    free(image.p);
}

static const struct test tests[] = {
    {"every_refusal", every_refusal},
    {"weights_that_end", weights_that_end},
    {"sums_beyond_the_end", sums_beyond_the_end},
    {"damaged", damaged},
    {"of_a_newer_format", of_a_newer_format},
    {"keys_that_do_not_fit", keys_that_do_not_fit},
    {"sources_that_fail", sources_that_fail},
    {"sinks_that_fail", sinks_that_fail},
};
TEST_MAIN(tests)
