/* Packed files: every image is unpacked bit for bit and takes the promised size. Every change to
 * a packed file is noticed, or, if all its sums are forged, is safe and bounded. Meant to run
 * under ASan and UBSan, too. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/golden.h"
#include "../support/saving.h"
#include "../support/tracking.h"
#include "core/handle.h"
#include "image/pack.h"

#include <errno.h>
#include <sys/stat.h>
#include <tamis/inspect.h>
#include <unistd.h>

/* --- Tools ------------------------------------------------------------------------------------ */

struct growing_sink {
    struct bytes b;
    size_t room, pieces, fail_at;
};

static tamis_status put_growing(void *ctx, const void *p, size_t n)
{
    struct growing_sink *s = ctx;
    if (++s->pieces == s->fail_at) return TAMIS_EIO;
    if (n > s->room - s->b.n) {
        s->room = 2 * s->room + n;
        struct bytes more = bytes_new(s->room);
        if (s->b.n > 0) memcpy(more.p, s->b.p, s->b.n);
        more.n = s->b.n;
        free(s->b.p);
        s->b = more;
    }
    memcpy(s->b.p + s->b.n, p, n);
    s->b.n += n;
    return TAMIS_OK;
}

static void repair_sum(struct bytes packed)
{
    if (packed.n < 40) return;
    tamis__put64(packed.p + packed.n - 8, tamis__checksum(packed.p, packed.n - 8));
}

static tamis *bits(uint64_t m)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_BLOOM, .items = 1, .m = m, .k = 1};
    tamis *t;
    tamis_error why;
    if (tamis_create(&plan, NULL, &t, &why) != TAMIS_OK) printf("%s\n", why.text);
    CHECK(t != NULL);
    return t;
}

static void set(tamis *t, uint64_t i)
{
    t->body.sections->cells[i / 8] |= (uint8_t)(1u << i % 8);
}

/* Packs and unpacks; returns the bytes of the packed file. */
static size_t round_trip(const tamis *t, const tamis_options *o)
{
    struct bytes image = image_of(t), packed = packed_of(t);
    tamis_error why;
    tamis *again;
    CHECK(packed.p != NULL); /* hardly ever bigger, and then not by more than the header says */
    if (tamis_unpack(packed.p, packed.n, o, &again, &why) != TAMIS_OK) printf("%s\n", why.text);
    CHECK(again != NULL);
    struct bytes back = image_of(again);
    CHECK(bytes_equal(image, back));
    const size_t n = packed.n;
    tamis_close(again);
    free(back.p);
    free(image.p);
    free(packed.p);
    return n;
}

/* --- What comes back -------------------------------------------------------------------------- */

static void test_every_kind(void)
{
    for (size_t i = 0; i < RECIPES; i++) {
        if (golden_kind(&recipes[i]) == TAMIS_PRIVATE) continue; /* test_private.c */
        tamis_options o = golden_options(&recipes[i]);
        tamis *t;
        CHECK_OK(golden_cook(&recipes[i], &t));
        round_trip(t, &o);
        o.key = NULL; /* nobody needs the key to pack or unpack */
        o.flags = TAMIS_KEYLESS;
        round_trip(t, &o);
        tamis_close(t);
    }
}

static void test_golden(void)
{
    for (size_t i = 0; i < PACKED_RECIPES; i++) {
        const tamis_options o = golden_options(&packed_recipes[i]);
        tamis *cooked, *t;
        CHECK_OK(golden_cook(&packed_recipes[i], &cooked));
        struct bytes file = read_golden(packed_recipes[i].name), packed = packed_of(cooked);
        CHECK(bytes_equal(file, packed));
        CHECK_OK(tamis_unpack(file.p, file.n, &o, &t, NULL));
        struct bytes image = image_of(cooked), back = image_of(t);
        CHECK(bytes_equal(image, back));
        free(image.p);
        free(back.p);
        free(packed.p);
        free(file.p);
        tamis_close(t);
        tamis_close(cooked);
    }
}

/* Sizes around words, and around frames: 192 bytes of metadata and 8 of sums, 56 of zeros, then
 * cells. */
static const uint64_t SIZES[] = {2,      8,      63,     64,     65,      1000,   32000,
                                 523712, 523776, 523840, 523841, 1048000, 1500000};
#define LENGTH(array) (sizeof(array) / sizeof *(array))

static void test_few_bits(void)
{
    for (size_t i = 0; i < LENGTH(SIZES); i++) {
        const uint64_t m = SIZES[i], places[] = {0, m - 1, m / 2, m > 8 ? 7 : 0};
        tamis *t = bits(m);
        CHECK_THAT(round_trip(t, NULL), <=, 32 + 256 + 24 + 8 + 4 * (m / 524288 + 1));
        for (size_t j = 0; j < LENGTH(places); j++) {
            tamis *one = bits(m);
            set(one, places[j]);
            round_trip(one, NULL);
            set(t, places[j]);
            round_trip(t, NULL);
            tamis_close(one);
        }
        tamis_close(t);
    }
}

static void test_full(void)
{
    for (size_t i = 0; i < LENGTH(SIZES); i++) {
        tamis *t = bits(SIZES[i]);
        for (uint64_t b = 0; b < SIZES[i]; b++) {
            set(t, b);
            if (b == SIZES[i] / 2) round_trip(t, NULL);
        }
        round_trip(t, NULL);
        tamis_close(t);
    }
}

/* Random fills: as small as the planner says. The number of set bits is fixed, and what is left to
 * chance in the length of a code is less than a bit a gap: with 10,000 gaps at least, 1 % is more
 * than 8 standard deviations, where none is more than 0.1 of a code. */
static void test_random_fills(void)
{
    static const double fills[] = {1e-5, 1e-4, 1e-3, 1e-2, 0.02, 0.1, 0.2, 0.3, 0.38, 0.45, 0.5};
    uint64_t state = 1;
    for (size_t i = 0; i < LENGTH(fills); i++) {
        const uint64_t m = fills[i] < 1e-3 ? 100000000 : 10000000;
        tamis *t = bits(m);
        const uint64_t ones = (uint64_t)(fills[i] * (double)m);
        for (uint64_t n = 0; n < ones;) {
            const uint64_t at = tamis__mulhi(splitmix(&state), m);
            n += !tamis__bit(t->body.sections->cells, at);
            set(t, at);
        }
        const uint64_t image = tamis_image_size(t), cells = t->body.sections->length;
        const double expected = (double)tamis__packed_bytes(image, cells, fills[i]);
        const double got = (double)round_trip(t, NULL);
        CHECK_THAT(got, <, expected * (ones < 10000 ? 1.05 : 1.01));
        CHECK_THAT(got, >, expected * (ones < 10000 ? 0.95 : 0.99));
        tamis_close(t);
    }
    CHECK(tamis__coded_bits(0) == 0 && tamis__coded_bits(0.5) == 1 && tamis__coded_bits(1) == 1);
    CHECK(tamis__coded_bits(0.01) < 0.0812 && tamis__coded_bits(0.01) > 0.0807); /* the entropy */
}

/* Parts of very different fill in one frame and in neighbours. */
static void test_uneven(void)
{
    uint64_t state = 7;
    for (unsigned round = 0; round < 200; round++) {
        const uint64_t m = 1 + tamis__mulhi(splitmix(&state), 2000000);
        tamis *t = bits(m);
        for (unsigned patch = 0; patch < 6; patch++) {
            const uint64_t from = tamis__mulhi(splitmix(&state), m);
            const uint64_t step = UINT64_C(1) << tamis__mulhi(splitmix(&state), 16);
            for (uint64_t n = 0, at = from; n < 3000 && at < m; n++) {
                set(t, at);
                at += 1 + tamis__mulhi(splitmix(&state), step);
            }
        }
        round_trip(t, NULL);
        tamis_close(t);
    }
}

/* --- What does not ---------------------------------------------------------------------------- */

/* A filter for transfer of 200 items, 2.5 KB unpacked and some 500 bytes packed. */
static tamis *small(void)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .flags = TAMIS_TRANSFER, .items = 200, .fpr = 0.01};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (uint32_t i = 0; i < 200; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
    return t;
}

static void check_refused(const uint8_t *p, size_t n)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    tamis *t = (tamis *)(uintptr_t)1;
    tamis_error why;
    struct bytes cut = bytes_copy(p, n);
    const tamis_status s = tamis_unpack(cut.p, n, &o, &t, &why);
    CHECK(s == TAMIS_ECORRUPT || s == TAMIS_EVERSION);
    CHECK(t == NULL && why.status == s && why.text[0] != '\0');
    CHECK_THAT(a.blocks, ==, 0);
    free(cut.p);
}

static void test_damage(void)
{
    tamis *t = small();
    struct bytes packed = packed_of(t);
    CHECK_THAT(packed.n, <, 600);
    for (size_t n = 0; n < packed.n; n++) {
        check_refused(packed.p, n);
        struct bytes cut = bytes_copy(packed.p, n);
        repair_sum(cut);
        check_refused(cut.p, n);
        free(cut.p);
    }
    for (size_t i = 0; i < packed.n; i++)
        for (unsigned flip = 1; flip < 256; flip++) {
            struct bytes bent = bytes_copy(packed.p, packed.n);
            bent.p[i] ^= (uint8_t)flip;
            check_refused(bent.p, bent.n);
            repair_sum(bent); /* the rules of the code notice, or the image's own sums */
            if (i < packed.n - 8) check_refused(bent.p, bent.n);
            free(bent.p);
        }
    for (size_t more = 1; more < 100; more++) {
        struct bytes longer = bytes_new(packed.n + more);
        memset(longer.p, 0, longer.n);
        memcpy(longer.p, packed.p, packed.n - 8);
        check_refused(longer.p, longer.n);
        repair_sum(longer);
        check_refused(longer.p, longer.n);
        free(longer.p);
    }
    free(packed.p);
    tamis_close(t);
}

/* A frame that is cut off must not be read on in what follows it. */
static void test_damaged_frames(void)
{
    struct bytes packed = read_golden("bloom-transfer.packed");
    for (size_t n = 0; n < packed.n; n++) {
        struct bytes cut = bytes_copy(packed.p, n);
        repair_sum(cut);
        check_refused(cut.p, n);
        free(cut.p);
    }
    free(packed.p);
}

/* The whole image is one empty frame, coded with the r that is given. */
static tamis_status unpack_empty(unsigned r)
{
    tamis *t = bits(8000), *out;
    struct bytes image = image_of(t), packed = bytes_new(32 + 200 + 1 + 5 + 8);
    memset(packed.p, 0, packed.n);
    struct bytes true_one = packed_of(t);
    memcpy(packed.p, true_one.p, 32 + 200);
    const uint64_t gap = 8 * (uint64_t)(image.n - 200), ones = UINT64_C(1) << (gap >> r);
    packed.p[232] = (uint8_t)r;
    const uint64_t code = ones | (gap & ((UINT64_C(1) << r) - 1)) * ones * 2;
    const size_t n = (size_t)((gap >> r) + 1 + r + 7) / 8;
    for (size_t i = 0; i < n; i++) packed.p[233 + i] = (uint8_t)(code >> 8 * i);
    packed.n = 233 + n + 8;
    repair_sum(packed);
    const tamis_status s = tamis_unpack(packed.p, packed.n, NULL, &out, NULL);
    tamis_close(out);
    tamis_close(t);
    free(image.p);
    free(packed.p);
    free(true_one.p);
    return s;
}

static void test_every_rice(void)
{
    for (unsigned r = 10; r <= 24; r++) /* a longer code than is needed is a code all the same */
        CHECK_THAT(unpack_empty(r), ==, r <= 19 ? TAMIS_OK : TAMIS_ECORRUPT);
}

/* All that the sums can vouch for is right again; the answer is a reason, or a filter that can be
 * used, packed and unpacked. No more memory than the input justifies. */
static bool exercise(const uint8_t *p, size_t n)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {
        .struct_size = sizeof o, .flags = TAMIS_UNVERIFIED, .memory = &a.memory};
    tamis *t;
    struct bytes exact = bytes_copy(p, n);
    repair_sum(exact);
    const tamis_status s = tamis_unpack(exact.p, n, &o, &t, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_ECORRUPT || s == TAMIS_EVERSION || s == TAMIS_EKEY);
    CHECK_THAT(a.peak, <=, 5462 * n + 65536 + 4096);
    if (s == TAMIS_OK) {
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_info(t, &f));
        tamis_may_contain(t, "key", 3);
        round_trip(t, &o);
    }
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
    free(exact.p);
    return s == TAMIS_OK;
}

static void test_forged(void)
{
    tamis *t = small();
    struct bytes good = packed_of(t), bad = bytes_copy(good.p, good.n);
    size_t accepted = 0;
    for (size_t i = 0; i < good.n - 8; i++)
        for (unsigned flip = 1; flip < 256; flip++) {
            bad.p[i] ^= (uint8_t)flip;
            accepted += exercise(bad.p, bad.n);
            bad.p[i] ^= (uint8_t)flip;
        }
    CHECK_THAT(accepted, >, 100); /* gaps that add up the same: other keys, and the sums waived */
    static const uint64_t evil[] = {0,
                                    1,
                                    127,
                                    128,
                                    199,
                                    200,
                                    201,
                                    65536,
                                    1u << 20,
                                    UINT64_C(1) << 31,
                                    UINT32_MAX,
                                    UINT64_C(1) << 40,
                                    UINT64_C(1) << 63,
                                    UINT64_MAX - 1,
                                    UINT64_MAX};
    for (unsigned field = 8; field < 32; field += 8)
        for (size_t i = 0; i < LENGTH(evil); i++) {
            memcpy(bad.p, good.p, good.n);
            tamis__put64(bad.p + field, evil[i]);
            CHECK(evil[i] == tamis__get64(good.p + field) || !exercise(bad.p, bad.n));
        }
    uint64_t state = 3;
    for (unsigned i = 0; i < 20000; i++) {
        memcpy(bad.p, good.p, good.n);
        for (uint64_t n = 1 + (splitmix(&state) & 3); n > 0; n--)
            bad.p[tamis__mulhi(splitmix(&state), good.n)] = (uint8_t)splitmix(&state);
        exercise(bad.p, bad.n);
    }
    free(good.p);
    free(bad.p);
    tamis_close(t);
}

/* The very most that a packed file may unfold to, and the limit against it. */
static void test_expansion(void)
{
    tamis *t = bits(UINT64_C(1) << 30), *again;
    struct bytes packed = packed_of(t);
    const uint64_t image = tamis_image_size(t);
    CHECK_THAT(image / packed.n, >, 5000);
    CHECK_THAT(image / packed.n, <=, 5462);
    struct tracker a;
    tracker_init(&a);
    tamis_options o = {.struct_size = sizeof o, .memory = &a.memory, .max_bytes = image - 1};
    tamis_error why;
    CHECK_THAT(tamis_unpack(packed.p, packed.n, &o, &again, &why), ==, TAMIS_ENOMEM);
    CHECK(strstr(why.text, "limit") != NULL);
    CHECK_THAT(a.peak, <=, 65536 + 4096);
    o.max_bytes = image;
    CHECK_OK(tamis_unpack(packed.p, packed.n, &o, &again, &why));
    tamis_close(again);
    /* A claim that the frames cannot meet costs nothing at all. */
    a.peak = 0;
    tamis__put64(packed.p + 16, UINT64_C(1) << 40);
    repair_sum(packed);
    CHECK_THAT(tamis_unpack(packed.p, packed.n, &o, &again, &why), ==, TAMIS_ECORRUPT);
    CHECK_THAT(a.peak, ==, 0);
    free(packed.p);
    tamis_close(t);
}

/* Metadata within a frame could cost less than its sums, so it is refused, however right the
 * rest. */
static void test_metadata_in_frames(void)
{
    tamis *t = small();
    struct bytes packed = packed_of(t), image = image_of(t);
    const uint64_t metadata = tamis__get64(packed.p + 24);
    for (uint64_t n = 0; n <= image.n; n++) {
        struct bytes other = bytes_new(32 + image.n + 1 + 8);
        memcpy(other.p, packed.p, 32);
        tamis__put64(other.p + 24, n);
        memcpy(other.p + 32, image.p, (size_t)n);
        other.p[32 + n] = 255; /* the rest of the image as one stored frame */
        memcpy(other.p + 33 + n, image.p + n, (size_t)(image.n - n));
        CHECK(exercise(other.p, other.n) == (n == metadata));
        free(other.p);
    }
    free(image.p);
    free(packed.p);
    tamis_close(t);
}

/* --- What is said ----------------------------------------------------------------------------- */

static void test_wrong_door(void)
{
    tamis *t = small(), *out;
    tamis_error why;
    struct bytes packed = packed_of(t), image = image_of(t);
    for (int in_place = 0; in_place < 2; in_place++) {
        CHECK_THAT(in_place ? tamis_view(packed.p, packed.n, NULL, &out, &why)
                            : tamis_load(packed.p, packed.n, NULL, &out, &why),
                   ==, TAMIS_ECORRUPT);
        char size[32];
        snprintf(size, sizeof size, "%llu", (unsigned long long)image.n);
        CHECK(strstr(why.text, "unpack it first") != NULL && strstr(why.text, size) != NULL);
    }
    CHECK_THAT(tamis_unpack(image.p, image.n, NULL, &out, &why), ==, TAMIS_ECORRUPT);
    CHECK(strstr(why.text, "not packed") != NULL);
    CHECK_THAT(tamis_unpack("hello", 5, NULL, &out, &why), ==, TAMIS_ECORRUPT);
    CHECK(strstr(why.text, "not a packed") != NULL);
    CHECK_THAT(tamis_unpack(NULL, 0, NULL, &out, &why), ==, TAMIS_EINVAL);
    const tamis_options map = {.struct_size = sizeof map, .flags = TAMIS_MAP};
    CHECK_THAT(tamis_unpack(packed.p, packed.n, &map, &out, &why), ==, TAMIS_EINVAL);
    const tamis_options keyed = {.struct_size = sizeof keyed, .key = golden_secret};
    CHECK_THAT(tamis_unpack(packed.p, packed.n, &keyed, &out, &why), ==, TAMIS_EKEY);
    tamis__put16(packed.p + 8, 2);
    CHECK_THAT(tamis_unpack(packed.p, packed.n, NULL, &out, &why), ==, TAMIS_EVERSION);
    CHECK(out == NULL);
    free(image.p);
    free(packed.p);
    tamis_close(t);
}

/* It arrives as it was: it can be added to, and merged with those who stayed at home. */
static void test_alive(void)
{
    tamis *t = small(), *there;
    struct bytes packed = packed_of(t);
    const tamis_options shared = {.struct_size = sizeof shared, .flags = TAMIS_SHARED};
    CHECK_OK(tamis_unpack(packed.p, packed.n, &shared, &there, NULL));
    CHECK_OK(tamis_add(there, "new", 3, NULL));
    CHECK_OK(tamis_merge(t, there, NULL));
    CHECK(tamis_may_contain(t, "new", 3));
    tamis_close(there);
    tamis_close(t);
    free(packed.p);
}

/* --- No room ---------------------------------------------------------------------------------- */

static void test_full_sink(void)
{
    tamis *t = bits(3000000);
    for (size_t n = 1;; n++) {
        struct growing_sink sink = {.fail_at = n};
        tamis_error why;
        const tamis_status s = tamis_pack(t, put_growing, &sink, &why);
        free(sink.b.p);
        if (s == TAMIS_OK) {
            CHECK_THAT(n, >, 6); /* start, metadata, six frames, the sum */
            break;
        }
        CHECK(s == TAMIS_EIO && why.status == TAMIS_EIO && why.text[0] != '\0');
        CHECK_THAT(sink.pieces, ==, n); /* and nothing after it */
    }
    tamis_close(t);
}

/* --- Files ------------------------------------------------------------------------------------ */

static void test_file(void)
{
    const char *tmp = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/tamis-pack-%ld", tmp != NULL ? tmp : "/tmp", (long)getpid());
    remove(path);
    tamis *t = small(), *out;
    tamis_error why;
    struct bytes packed = packed_of(t), found = bytes_new(packed.n + 1);
    CHECK_OK(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW | TAMIS_SAVE_PACKED), &why));
    CHECK_THAT(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW | TAMIS_SAVE_PACKED), &why), ==,
               TAMIS_EIO);
    CHECK(why.os == EEXIST);
    CHECK(chmod(path, 0640) == 0);
    CHECK_OK(tamis_save(t, path, SAVING(TAMIS_SAVE_PACKED), &why));
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    found.n = fread(found.p, 1, found.n, f);
    fclose(f);
    CHECK(bytes_equal(found, packed));
    struct stat st;
    CHECK(stat(path, &st) == 0 && ((st.st_mode & 0777) == 0640 || ON_WINDOWS));
    for (uint32_t flags = 0; flags <= TAMIS_MAP; flags++) {
        const tamis_options o = {.struct_size = sizeof o, .flags = flags};
        CHECK_THAT(tamis_open(path, &o, &out, &why), ==, TAMIS_ECORRUPT);
        CHECK(strstr(why.text, "unpack it first") != NULL);
    }
    /* The handle does not stand for that file: it is still to be saved for the first time. */
    tamis_facts facts = {.struct_size = sizeof facts};
    CHECK_OK(tamis_info(t, &facts));
    CHECK_OK(tamis_save(t, path, NULL, &why));
    CHECK_OK(tamis_open(path, NULL, &out, &why));
    tamis_close(out);
    CHECK_THAT(tamis_save(t, "/nowhere/at/all", SAVING(TAMIS_SAVE_PACKED), &why), ==, TAMIS_EIO);
    remove(path);
    free(found.p);
    free(packed.p);
    tamis_close(t);
}

static const struct test tests[] = {
    {"every kind", test_every_kind},
    {"golden", test_golden},
    {"few bits", test_few_bits},
    {"full", test_full},
    {"random fills", test_random_fills},
    {"uneven", test_uneven},
    {"damage", test_damage},
    {"damaged frames", test_damaged_frames},
    {"every rice", test_every_rice},
    {"forged", test_forged},
    {"expansion", test_expansion},
    {"metadata in frames", test_metadata_in_frames},
    {"wrong door", test_wrong_door},
    {"alive", test_alive},
    {"full sink", test_full_sink},
    {"file", test_file},
};

TEST_MAIN(tests)
