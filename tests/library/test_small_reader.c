/* reader/tamis-reader.h against the library: the same hashes and sums for every length, the same
 * answers for random images, and the same eye for damage. */
#define _POSIX_C_SOURCE 200809L
#define TAMIS_READER_IMPLEMENTATION
#include "../../reader/tamis-reader.h"

#include "../support/check.h"
#include "../support/golden.h"
#include "kernels/kernels.h"

#include <tamis/inspect.h>

static const char *const small_names[] = {
    "blocked.tamis", "blocked-seeded.tamis", "blocked-keyed.tamis",  "blocked-compact.tamis",
    "fuse.tamis",    "fuse-4-keyed.tamis",   "fuse-collecting.tamis"};
#define SMALL (sizeof small_names / sizeof *small_names)

static const uint8_t *key_for(const uint8_t *image, size_t n)
{
    return n > 28 && image[28] == TAMIS_SIPHASH ? golden_secret : NULL;
}

static tamis_status library_open(struct bytes image, tamis **out)
{
    const tamis_options o = {.struct_size = sizeof o, .key = key_for(image.p, image.n)};
    return tamis_load(image.p, image.n, &o, out, NULL);
}

static tamis_reader_status reader_open(struct bytes image, tamis_reader *r)
{
    return tamis_reader_open_keyed(r, image.p, image.n, key_for(image.p, image.n));
}

/* --- Hashes ----------------------------------------------------------------------------------- */

#define LONGEST 70000

static uint8_t *random_bytes(void)
{
    static uint8_t bytes[LONGEST];
    uint64_t state = 1;
    for (size_t i = 0; i < LONGEST; i++) bytes[i] = (uint8_t)(splitmix(&state) >> 56);
    return bytes;
}

static size_t next_length(size_t n)
{
    return n < 1500 ? n + 1 : n + 997;
}

static void test_xxh3(void)
{
    static const uint64_t seeds[] = {0, 1, GOLDEN_SEED, UINT64_MAX};
    const uint8_t *bytes = random_bytes();
    struct hasher h;
    for (size_t s = 0; s < 4; s++) {
        tamis__hasher_init(&h, seeds[s], NULL);
        for (size_t n = 0; n < LONGEST; n = next_length(n)) {
            const tamis_hash want = tamis__hash_key(&h, bytes, n);
            const tamis_reader__wide got = tamis_reader__xxh3(bytes, n, seeds[s]);
            CHECK(got.lo == want.lo && got.hi == want.hi);
        }
    }
    CHECK(tamis_reader__xxh3(NULL, 0, 0).lo == tamis_reader__xxh3(bytes, 0, 0).lo);
}

static void test_siphash(void)
{
    static const uint64_t key[2] = {GOLDEN_SEED, 7};
    const uint8_t *bytes = random_bytes();
    for (size_t n = 0; n < 300; n++) {
        const tamis_hash want = tamis__siphash(key, bytes, n);
        const tamis_reader__wide got = tamis_reader__siphash(key, bytes, n);
        CHECK(got.lo == want.lo && got.hi == want.hi);
    }
}

static void test_sums(void)
{
    uint8_t *bytes = random_bytes();
    for (size_t n = 8; n <= LONGEST; n += n < 3000 ? 8 : 488)
        CHECK(tamis_reader__sum(bytes, n, NULL) == tamis__checksum(bytes, n));
    for (size_t n = 200; n <= 3000; n += 8) { /* the metadata of an image, with its root as 0 */
        uint8_t zeroed[3000];
        memcpy(zeroed, bytes, n);
        memset(zeroed + 120, 0, 8);
        CHECK(tamis_reader__sum(bytes, n, bytes + 120) == tamis__checksum(zeroed, n));
    }
}

/* --- The same answers as the library ---------------------------------------------------------- */

static void compare_hashes(const tamis *t, const tamis_reader *r, uint64_t seed, size_t n)
{
    static const uint64_t ends[3] = {0, 1, UINT64_MAX};
    uint64_t state = seed;
    for (size_t i = 0; i < n + 9; i++) {
        tamis_hash h = {splitmix(&state), splitmix(&state)};
        uint8_t bit;
        if (i >= n) h = (tamis_hash){ends[(i - n) % 3], ends[(i - n) / 3]};
        const bool want = tamis_may_contain_hashes(t, &h, 1, &bit) == 1;
        CHECK(tamis_reader_may_contain_hash(r, h.lo, h.hi) == want);
    }
}

/* Builds a filter from random keys, and returns how many false positives both readers gave. */
static size_t compare_filter(tamis_plan plan, size_t members, bool keyed)
{
    const tamis_options o = {.struct_size = sizeof o, .key = keyed ? golden_secret : NULL};
    const bool sealed = plan.kind == TAMIS_FUSE;
    tamis *t;
    tamis_reader r;
    size_t maybe = 0;
    char key[KEY_MAX];
    CHECK_OK(tamis_create(&plan, &o, &t, NULL));
    for (size_t i = 0; i < members; i++)
        CHECK_OK(tamis_add(t, key, make_key((enum key_style)(i % KEY_STYLES), i, key), NULL));
    if (sealed) CHECK_OK(tamis_seal(t, NULL));
    struct bytes image = image_of(t);
    CHECK(reader_open(image, &r) == TAMIS_READER_OK);
    for (size_t i = 0; i < 2 * members + 2000; i++) {
        const size_t n = make_key((enum key_style)(i % KEY_STYLES), i, key);
        const bool got = tamis_reader_may_contain(&r, key, n);
        CHECK(got == tamis_may_contain(t, key, n) && (got || i >= members));
        maybe += got && i >= members;
    }
    compare_hashes(t, &r, members + plan.kind, 2000);
    tamis_close(t);
    free(image.p);
    return maybe;
}

static void test_blocked(void)
{
    static const size_t members[] = {0, 1, 100, 4000, 70000};
    size_t maybe = 0;
    for (size_t i = 0; i < 5; i++)
        for (uint32_t k = 0; k <= 16; k += 4) { /* 0: not compact */
            tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_BLOCKED};
            plan.items = members[i] + 10;
            plan.fpr = 0.03;
            plan.seed = i % 2 == 0 ? 0 : GOLDEN_SEED;
            if (k != 0) {
                plan.fpr = 0;
                plan.flags = TAMIS_COMPACT;
                plan.k = k;
                plan.m = (members[i] / 60 + 1) * 512;
            }
            maybe += compare_filter(plan, members[i], false);
        }
    const tamis_plan keyed = GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .items = 1000, .fpr = 0.05);
    CHECK_THAT(compare_filter(keyed, 1000, true), >, 0);
    CHECK_THAT(maybe, >, 1000);
}

static void test_fuse(void)
{
    static const size_t members[] = {0, 1, 3, 100, 4000, 70000};
    size_t maybe = 0;
    for (size_t i = 0; i < 6; i++)
        for (uint32_t k = 3; k <= 4; k++)
            for (unsigned bits = 4; bits <= 32; bits += members[i] > 100 ? 9 : 1) {
                tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_FUSE};
                plan.items = members[i] + 1;
                plan.fpr = 1 / (double)(UINT64_C(1) << bits);
                plan.k = k;
                plan.seed = bits % 2 == 0 ? 0 : GOLDEN_SEED;
                maybe += compare_filter(plan, members[i], bits % 3 == 0 && plan.seed == 0);
            }
    CHECK_THAT(maybe, >, 1000);
}

/* The bits that src/kernels/lines.h gives a hash are those that the reader requires, each of
 * them. */
static void test_lines(void)
{
    static const uint64_t lines[] = {1, 2, 3, 1000};
    static uint8_t cells[1000 * TAMIS__LINE_BYTES];
    uint64_t state = 3;
    for (size_t i = 0; i < 4000; i++) {
        const tamis_hash h = {splitmix(&state), splitmix(&state)};
        const uint32_t k = (uint32_t)(i % 17); /* 0: one bit in each word */
        const tamis_reader r = {.cells = cells,
                                .range = lines[i % 4],
                                .kind = TAMIS_BLOCKED,
                                .variant = k != 0,
                                .k = k != 0 ? k : 8};
        uint8_t *line = cells + tamis__line_of(h, r.range) * TAMIS__LINE_BYTES;
        unsigned bits[16];
        uint64_t x = h.lo;
        for (unsigned j = 0; j < r.k; j++) {
            bits[j] = k != 0 ? tamis__compact_bit(x) : 64 * j + tamis__line_bit(h.lo, j);
            x = tamis__next_probe(x, h);
            line[bits[j] / 8] |= (uint8_t)(1u << bits[j] % 8);
        }
        CHECK(tamis_reader_may_contain_hash(&r, h.lo, h.hi));
        for (unsigned j = 0; j < r.k; j++) {
            line[bits[j] / 8] ^= (uint8_t)(1u << bits[j] % 8);
            CHECK(!tamis_reader_may_contain_hash(&r, h.lo, h.hi));
            line[bits[j] / 8] ^= (uint8_t)(1u << bits[j] % 8);
        }
        memset(line, 0, TAMIS__LINE_BYTES);
    }
}

/* --- Keys and encodings ----------------------------------------------------------------------- */

static void test_caller_hashes(void)
{
    const tamis_plan plan =
        GOLDEN_PLAN(.kind = TAMIS_BLOCKED, .flags = TAMIS_HASH_CALLER, .items = 1000, .fpr = 0.05);
    tamis *t;
    tamis_reader r;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (uint64_t i = 0; i < 1000; i++) {
        const tamis_hash h = golden_hash(i);
        CHECK_OK(tamis_add_hashes(t, &h, 1, NULL, NULL));
    }
    struct bytes image = image_of(t);
    CHECK(tamis_reader_open(&r, image.p, image.n) == TAMIS_READER_OK);
    for (uint64_t i = 0; i < 1000; i++) {
        const tamis_hash h = golden_hash(i);
        uint8_t key[GOLDEN_KEY_MAX];
        CHECK(tamis_reader_may_contain_hash(&r, h.lo, h.hi));
        CHECK(tamis_reader_may_contain(&r, key, golden_key(i, key))); /* it cannot tell */
    }
    compare_hashes(t, &r, 5, 5000);
    tamis_close(t);
    free(image.p);
}

static void test_secret_keys(void)
{
    struct bytes keyed = read_golden("blocked-keyed.tamis"), plain = read_golden("blocked.tamis");
    uint8_t other[16] = {0};
    tamis_reader r;
    CHECK(tamis_reader_open(&r, keyed.p, keyed.n) == TAMIS_READER_EKEY);
    CHECK(tamis_reader_may_contain(&r, "key", 3));
    CHECK(tamis_reader_open_keyed(&r, keyed.p, keyed.n, other) == TAMIS_READER_EKEY);
    CHECK(tamis_reader_may_contain(&r, "key", 3));
    CHECK(tamis_reader_open_keyed(&r, plain.p, plain.n, golden_secret) == TAMIS_READER_EKEY);
    CHECK(tamis_reader_open_keyed(&r, keyed.p, keyed.n, golden_secret) == TAMIS_READER_OK);
    free(keyed.p);
    free(plain.p);
}

/* The flags at offset 24 can state a length of the keys; the reader then looks up no others. */
static void test_encodings(void)
{
    static const struct {
        uint8_t encoding, width;
        tamis_reader_status want;
        size_t length;
    } cases[] = {{1, 0, TAMIS_READER_OK, 0},        {2, 0, TAMIS_READER_OK, 8},
                 {3, 20, TAMIS_READER_OK, 20},      {4, 0, TAMIS_READER_OK, 32},
                 {5, 0, TAMIS_READER_OK, 0},        {6, 0, TAMIS_READER_OK, 0},
                 {6, 9, TAMIS_READER_OK, 0},        {0, 1, TAMIS_READER_ECORRUPT, 0},
                 {2, 8, TAMIS_READER_ECORRUPT, 0},  {3, 0, TAMIS_READER_ECORRUPT, 0},
                 {4, 32, TAMIS_READER_ECORRUPT, 0}, {5, 1, TAMIS_READER_ECORRUPT, 0}};
    struct bytes image = read_golden("blocked-empty.tamis");
    uint8_t key[64] = {0};
    tamis_reader r;
    tamis *t;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        image.p[25] = cases[i].encoding;
        image.p[26] = cases[i].width;
        image_resum(image.p, image.n);
        CHECK(tamis_reader_open(&r, image.p, image.n) == cases[i].want);
        CHECK((library_open(image, &t) == TAMIS_OK) == (cases[i].want == TAMIS_READER_OK));
        for (size_t n = 0; n <= sizeof key && t != NULL; n++) {
            const bool maybe = cases[i].length != 0 && cases[i].length != n;
            CHECK(tamis_reader_may_contain(&r, key, n) == maybe);
            CHECK(tamis_may_contain(t, key, n) == maybe);
        }
        tamis_close(t);
    }
    free(image.p);
}

/* --- Damage ----------------------------------------------------------------------------------- */

/* Opens bytes of their own, so that ASan sees a reader that goes beyond them. */
static tamis_reader_status open_copy(const uint8_t *p, size_t n)
{
    struct bytes copy = bytes_copy(p, n);
    tamis_reader r;
    const tamis_reader_status s = reader_open(copy, &r);
    if (s != TAMIS_READER_OK) CHECK(tamis_reader_may_contain(&r, "key", 3));
    if (s != TAMIS_READER_OK) CHECK(tamis_reader_may_contain_hash(&r, 0, UINT64_MAX));
    free(copy.p);
    return s;
}

static void test_every_length(void)
{
    for (size_t i = 0; i < SMALL; i++) {
        struct bytes image = read_golden(small_names[i]);
        struct bytes longer = bytes_new(image.n + 200);
        for (size_t n = 0; n < image.n; n++)
            CHECK(open_copy(image.p, n) == TAMIS_READER_ETRUNCATED);
        memset(longer.p, 0, longer.n);
        memcpy(longer.p, image.p, image.n);
        for (size_t n = image.n + 1; n <= longer.n; n++)
            CHECK(open_copy(longer.p, n) == TAMIS_READER_ECORRUPT);
        free(image.p);
        free(longer.p);
    }
    tamis_reader r;
    CHECK(tamis_reader_open(&r, NULL, 0) == TAMIS_READER_ETRUNCATED);
}

static void test_every_bit(void)
{
    for (size_t i = 0; i < SMALL; i++) {
        struct bytes image = read_golden(small_names[i]);
        for (size_t bit = 0; bit < image.n * 8; bit++) {
            image.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
            CHECK(open_copy(image.p, image.n) != TAMIS_READER_OK);
            image.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
        }
        free(image.p);
    }
}

/* An image whose sums are right: the reader takes what the library takes, and answers alike. */
static void check_repaired(struct bytes image, size_t changed)
{
    tamis_reader r;
    tamis *t;
    const tamis_reader_status got = reader_open(image, &r);
    const tamis_status want = library_open(image, &t);
    const unsigned kind = tamis__get16(image.p + 30);
    const bool other = (kind != TAMIS_BLOCKED && kind != TAMIS_FUSE) || image.p[128] == 3;
    if ((got == TAMIS_READER_OK) != (want == TAMIS_OK && !other))
        printf("byte %zu: %d and %d\n", changed, (int)got, (int)want);
    CHECK((got == TAMIS_READER_OK) == (want == TAMIS_OK && !other));
    if (got == TAMIS_READER_OK && want == TAMIS_OK) compare_hashes(t, &r, changed, 5);
    tamis_close(t);
}

/* Makes the sums right as they would be with one section to the end, whatever the table says. */
static void resum_one(struct bytes image, uint64_t offset)
{
    uint8_t *sum = image.p + 192;
    for (size_t at = (size_t)offset; at < image.n; at += 65536, sum += 8)
        tamis__put64(sum,
                     tamis__checksum(image.p + at, image.n - at < 65536 ? image.n - at : 65536));
    tamis__put64(image.p + 120, 0);
    tamis__put64(image.p + 120, tamis__checksum(image.p, (size_t)(sum - image.p)));
}

static void test_every_repaired_bit(void)
{
    for (size_t i = 0; i < SMALL; i++) {
        struct bytes image = read_golden(small_names[i]);
        for (size_t bit = 0; bit < image.n * 8; bit++) {
            struct bytes copy = bytes_copy(image.p, image.n);
            copy.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
            image_resum(copy.p, copy.n);
            check_repaired(copy, bit / 8);
            resum_one(copy, tamis__get64(image.p + 176));
            check_repaired(copy, bit / 8);
            free(copy.p);
        }
        free(image.p);
    }
}

/* Every field at the ends of its range, and beyond. */
static void test_limits(void)
{
    static const struct field fields[] = {
        {8, 2},   {10, 2},  {12, 4},  {16, 4},  {20, 4},  {28, 2},  {30, 2},  {32, 8},  {64, 8},
        {72, 8},  {96, 8},  {104, 4}, {112, 8}, {128, 2}, {130, 2}, {132, 2}, {134, 2}, {136, 4},
        {140, 4}, {144, 8}, {152, 8}, {160, 8}, {168, 8}, {176, 8}, {184, 8}};
    static const uint64_t values[] = {0,
                                      1,
                                      2,
                                      3,
                                      4,
                                      5,
                                      8,
                                      15,
                                      16,
                                      17,
                                      18,
                                      19,
                                      31,
                                      32,
                                      UINT64_C(0x3ff0000000000000),
                                      UINT64_C(0x3ff0000000000001)};
    for (size_t i = 0; i < SMALL; i++) {
        struct bytes image = read_golden(small_names[i]);
        for (size_t f = 0; f < sizeof fields / sizeof *fields; f++) {
            const uint64_t old = get_field(image.p, fields[f]);
            for (unsigned v = 0; v < 96; v++) {
                const uint64_t value = v < 16   ? values[v]
                                       : v < 80 ? (UINT64_C(1) << (v - 16)) - 1
                                                : old + v - 88;
                struct bytes copy = bytes_copy(image.p, image.n);
                put_field(copy.p, fields[f], value);
                image_resum(copy.p, copy.n);
                check_repaired(copy, fields[f].offset);
                resum_one(copy, tamis__get64(image.p + 176));
                check_repaired(copy, fields[f].offset);
                free(copy.p);
            }
        }
        free(image.p);
    }
}

/* An image of zero cells with this shape, which may be a wrong one. */
static struct bytes shaped(unsigned kind, unsigned variant, unsigned bits, uint32_t k, uint64_t m,
                           size_t length)
{
    struct bytes model = read_golden(kind == TAMIS_FUSE ? "fuse.tamis" : "blocked.tamis");
    const size_t offset = 192 + (8 * ((length + 65535) / 65536) + 63) / 64 * 64;
    struct bytes image = bytes_new(offset + length);
    memset(image.p, 0, image.n);
    memcpy(image.p, model.p, 192);
    tamis__put64(image.p + 112, image.n);
    tamis__put16(image.p + 132, (uint16_t)variant);
    tamis__put16(image.p + 134, (uint16_t)bits);
    tamis__put32(image.p + 136, k);
    tamis__put64(image.p + 144, m);
    tamis__put64(image.p + 176, offset);
    tamis__put64(image.p + 184, length);
    image_resum(image.p, image.n);
    free(model.p);
    return image;
}

static void test_shapes(void)
{
    size_t fit = 0;
    for (uint64_t m = 0; m < 3000; m += 64) {
        struct bytes image = shaped(TAMIS_BLOCKED, 0, 1, 8, m, (size_t)m / 8);
        check_repaired(image, 144);
        free(image.p);
    }
    for (unsigned bits = 0; bits < 40; bits++)
        for (uint32_t k = 2; k <= 5; k++)
            for (unsigned variant = 0; variant < (bits == 4 ? 20 : 6); variant++)
                for (uint64_t m = (uint64_t)k << variant, end = m + 3; m < end; m++) {
                    const size_t length = (size_t)((m * bits + 63) / 64 * 8 + 8);
                    struct bytes image = shaped(TAMIS_FUSE, variant, bits, k, m, length);
                    tamis_reader r;
                    fit += reader_open(image, &r) == TAMIS_READER_OK;
                    check_repaired(image, 144);
                    free(image.p);
                }
    for (unsigned log = 0; log < 64; log++) { /* products that overflow to a length that fits */
        struct bytes image = shaped(TAMIS_FUSE, 0, 32, 3, (UINT64_C(1) << log) + 16, 72);
        check_repaired(image, 144);
        free(image.p);
    }
    CHECK_THAT(fit, >, 100);
}

static void test_ends(void)
{
    for (size_t more = 1; more <= 64; more++) { /* bytes after the section */
        struct bytes image = shaped(TAMIS_BLOCKED, 0, 1, 8, 512, 64), longer;
        longer = bytes_new(image.n + more);
        memset(longer.p, 0, longer.n);
        memcpy(longer.p, image.p, image.n);
        tamis__put64(longer.p + 112, longer.n);
        resum_one(longer, 256);
        CHECK(open_copy(longer.p, longer.n) == TAMIS_READER_ECORRUPT);
        free(image.p);
        free(longer.p);
    }
    for (size_t length = 65530; length < 65560; length++) { /* a short last chunk */
        struct bytes image = shaped(TAMIS_BLOCKED, 0, 1, 8, 8 * length, length);
        CHECK(open_copy(image.p, image.n) ==
              (length % 64 == 0 ? TAMIS_READER_OK : TAMIS_READER_ECORRUPT));
        free(image.p);
    }
}

/* What the statuses promise, where a golden image does not show it. */
static void test_statuses(void)
{
    static const struct {
        unsigned at;
        uint8_t value;
        tamis_reader_status want;
    } cases[] = {{0, 0x88, TAMIS_READER_ENOTIMAGE},  {8, 2, TAMIS_READER_EVERSION},
                 {19, 1, TAMIS_READER_EVERSION},     {28, 4, TAMIS_READER_EVERSION},
                 {30, 1, TAMIS_READER_EUNSUPPORTED}, {30, 99, TAMIS_READER_EUNSUPPORTED},
                 {128, 9, TAMIS_READER_EVERSION},    {132, 2, TAMIS_READER_EVERSION},
                 {113, 9, TAMIS_READER_ETRUNCATED},  {10, 9, TAMIS_READER_OK},
                 {23, 1, TAMIS_READER_OK},           {24, 0x80, TAMIS_READER_OK},
                 {20, 1, TAMIS_READER_OK},           {20, 2, TAMIS_READER_OK},
                 {20, 4, TAMIS_READER_ECORRUPT}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct bytes image = read_golden("blocked.tamis");
        image.p[cases[i].at] = cases[i].value;
        image_resum(image.p, image.n);
        CHECK_THAT(open_copy(image.p, image.n), ==, cases[i].want);
        free(image.p);
    }
    struct bytes unsealed = read_golden("fuse-collecting.tamis");
    CHECK_THAT(open_copy(unsealed.p, unsealed.n), ==, TAMIS_READER_EUNSUPPORTED);
    free(unsealed.p);
    for (int s = 0; s <= TAMIS_READER_EKEY; s++)
        CHECK(strcmp(tamis_reader_text((tamis_reader_status)s), "unknown status") != 0);
}

static const struct test tests[] = {
    {"xxh3", test_xxh3},
    {"siphash", test_siphash},
    {"sums", test_sums},
    {"lines", test_lines},
    {"blocked", test_blocked},
    {"fuse", test_fuse},
    {"caller's hashes", test_caller_hashes},
    {"secret keys", test_secret_keys},
    {"encodings", test_encodings},
    {"every length", test_every_length},
    {"every bit", test_every_bit},
    {"every repaired bit", test_every_repaired_bit},
    {"limits", test_limits},
    {"shapes", test_shapes},
    {"ends", test_ends},
    {"statuses", test_statuses},
};

TEST_MAIN(tests)
