/* Images made to hurt: every sum is right, everything else may be wrong. Whatever the bytes, the answer
 * is an error or a handle with which every verb is safe, and no more memory is taken than the input
 * justifies. Meant to run under ASan and UBSan too. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "golden.h"
#include "tracking.h"

#include <math.h>
#include <unistd.h>

/* --- Every verb on what was let in ------------------------------------------------------------------ */

static void check_facts(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    CHECK(f.fill >= 0 && f.fill <= 1 && f.fpr_now >= 0 && f.fpr_now <= 1);
    CHECK(isfinite(f.items_estimate) && f.items_estimate >= 0);
    CHECK(f.items_low <= f.items_estimate && f.items_estimate <= f.items_high);
    CHECK(f.m >= 1 && f.k >= 1 && f.k <= 64 && f.planned_items >= 1);
    CHECK(f.fpr_planned > 0 && f.fpr_planned <= 1);
    uint64_t cells[64];
    const size_t n = tamis_cells_of(t, "key", 3, cells, 64);
    CHECK(n == f.k || n == 0);
    bool all = true;
    for (size_t i = 0; i < n; i++) all &= tamis_cell(t, cells[i]) == 1;
    CHECK(n == 0 || all == tamis_may_contain(t, "key", 3));
    tamis_cell(t, UINT64_MAX);
    tamis_cell(t, f.m * f.k);
}

static void check_adds(tamis *t)
{
    uint8_t bit;
    const tamis_hash h = {UINT64_MAX, UINT64_MAX}; /* the last cells */
    const tamis_status s = tamis_add(t, "new", 3, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EFULL || s == TAMIS_EKEY ||
          s == TAMIS_EUNSUPPORTED);
    CHECK(s != TAMIS_OK || tamis_may_contain(t, "new", 3));
    const tamis_status with_hash = tamis_add_hashes(t, &h, 1, NULL, NULL);
    CHECK(with_hash == TAMIS_OK || with_hash == TAMIS_ESEALED || with_hash == TAMIS_EFULL);
    CHECK(with_hash != TAMIS_OK || tamis_may_contain_hashes(t, &h, 1, &bit) == 1);
}

/* What this library writes, it reads, and it is the same again. */
static void check_round_trip(const tamis *t, const tamis_options *o)
{
    struct bytes image = image_of(t);
    CHECK(image.p != NULL);
    tamis *again;
    CHECK_OK(tamis_load(image.p, image.n, o, &again, NULL));
    struct bytes second = image_of(again);
    CHECK(bytes_equal(image, second));
    tamis_close(again);
    free(second.p);
    free(image.p);
}

static void use(tamis *t, const tamis_options *o)
{
    tamis *copy;
    tamis_similarity like = {.struct_size = sizeof like};
    check_facts(t);
    CHECK_OK(tamis_copy(t, &copy, NULL));
    check_adds(t);
    CHECK_OK(tamis_compare(t, copy, &like, NULL));
    CHECK(like.jaccard >= 0 && isfinite(like.union_items));
    const tamis_status s = tamis_merge(t, copy, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EFULL);
    check_facts(t);
    check_round_trip(t, o);
    tamis_close(copy);
    tamis_clear(t);
    check_facts(t);
}

/* One hostile input, copied and in place; returns the verdict, which is the same for both. */
static tamis_status exercise(const uint8_t *p, size_t n, const tamis_options *options)
{
    struct tracker a;
    tracker_init(&a);
    tamis_options o = *options;
    o.memory = &a.memory;
    struct bytes image = bytes_copy(p, n);
    tamis_status verdict[2];
    for (int in_place = 0; in_place < 2; in_place++) {
        tamis *t = (tamis *)(uintptr_t)1;
        tamis_error why;
        const tamis_status s = in_place ? tamis_view(image.p, image.n, &o, &t, &why)
                                        : tamis_load(image.p, image.n, &o, &t, &why);
        verdict[in_place] = s;
        /* Table, sections, cells and the handle: each at most the input or a small constant. */
        CHECK_THAT(a.peak, <=, 3 * n + 2048);
        CHECK(s == TAMIS_OK || s == TAMIS_ECORRUPT || s == TAMIS_EVERSION || s == TAMIS_EKEY);
        CHECK((s == TAMIS_OK) == (t != NULL));
        if (s == TAMIS_OK) use(t, options);
        if (s != TAMIS_OK) CHECK(why.status == s && why.text[0] != '\0');
        tamis_close(t);
        CHECK_THAT(a.blocks, ==, 0);
        a.peak = 0;
    }
    CHECK_THAT(verdict[0], ==, verdict[1]);
    free(image.p);
    return verdict[0];
}

/* --- Fields ------------------------------------------------------------------------------------------ */

struct field {
    unsigned offset, width;
};

/* Header and the one table entry, all of docs/FORMAT.md but the root, which is repaired. */
static const struct field fields[] = {
    {0, 8},   {8, 2},   {10, 2},  {12, 4},  {16, 4},  {20, 4},  {24, 4},  {28, 2},  {30, 2},
    {32, 8},  {40, 8},  {48, 8},  {56, 8},  {64, 8},  {72, 8},  {80, 8},  {88, 8},  {96, 8},
    {104, 4}, {108, 4}, {112, 8}, {128, 2}, {130, 2}, {132, 2}, {134, 2}, {136, 4}, {140, 4},
    {144, 8}, {152, 8}, {160, 8}, {168, 8}, {176, 8}, {184, 8},
};
#define FIELDS (sizeof fields / sizeof *fields)
#define VALUES 12
#define PAIR_VALUES 7u /* the first of them, for pairs of fields */

static uint64_t get_field(const uint8_t *p, struct field f)
{
    uint64_t v = 0;
    for (unsigned i = 0; i < f.width; i++) v |= (uint64_t)p[f.offset + i] << 8 * i;
    return v;
}

static void put_field(uint8_t *p, struct field f, uint64_t v)
{
    for (unsigned i = 0; i < f.width; i++) p[f.offset + i] = (uint8_t)(v >> 8 * i);
}

static uint64_t evil_value(unsigned i, uint64_t was)
{
    static const uint64_t values[] = {
        0, 1, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 31, UINT64_C(1) << 32, UINT64_C(1) << 63,
        2, 3};
    switch (i) {
    case 9: return was - 1;
    case 10: return was + 1;
    case 11: return was + 64;
    default: return values[i];
    }
}

static struct bytes cook(const struct recipe *r)
{
    tamis *t;
    CHECK_OK(golden_cook(r, &t));
    struct bytes b = image_of(t);
    CHECK(b.p != NULL);
    tamis_close(t);
    return b;
}

static bool is_small(const struct recipe *r)
{
    return r->plan.m < 100000;
}

static void test_every_field(void)
{
    size_t accepted = 0, refused = 0;
    for (size_t r = 0; r < RECIPES; r++) {
        if (!is_small(&recipes[r])) continue;
        struct bytes good = cook(&recipes[r]);
        const tamis_options o = golden_options(&recipes[r]);
        CHECK_OK(exercise(good.p, good.n, &o));
        struct bytes bad = bytes_copy(good.p, good.n);
        for (size_t f = 0; f < FIELDS; f++)
            for (unsigned v = 0; v < VALUES; v++) {
                memcpy(bad.p, good.p, good.n);
                put_field(bad.p, fields[f], evil_value(v, get_field(good.p, fields[f])));
                image_resum(bad.p, bad.n);
                if (exercise(bad.p, bad.n, &o) == TAMIS_OK)
                    accepted++;
                else
                    refused++;
            }
        free(bad.p);
        free(good.p);
    }
    /* Both sides of the door were tried. */
    CHECK_THAT(accepted, >, 500);
    CHECK_THAT(refused, >, 2000);
}

static void all_pairs(const struct recipe *r)
{
    struct bytes good = cook(r), bad = bytes_copy(good.p, good.n);
    const tamis_options o = golden_options(r);
    for (unsigned f = 0; f < FIELDS * PAIR_VALUES; f++)
        for (unsigned g = (f / PAIR_VALUES + 1) * PAIR_VALUES; g < FIELDS * PAIR_VALUES; g++) {
            const struct field one = fields[f / PAIR_VALUES], two = fields[g / PAIR_VALUES];
            memcpy(bad.p, good.p, good.n);
            put_field(bad.p, one, evil_value(f % PAIR_VALUES, 0));
            put_field(bad.p, two, evil_value(g % PAIR_VALUES, 0));
            image_resum(bad.p, bad.n);
            exercise(bad.p, bad.n, &o);
        }
    free(bad.p);
    free(good.p);
}

static void test_every_pair_of_fields(void)
{
    all_pairs(&recipes[0]); /* bloom */
    all_pairs(&recipes[5]); /* partitioned, with spare bits */
    all_pairs(&recipes[9]); /* blocked, keyed */
}

/* Shapes whose length and total fit the k and m they claim, with cells full of ones: what the extremes
 * of the table do to the verbs, not to the checks of lengths. */
static void test_consistent_shapes(void)
{
    size_t accepted = 0;
    for (uint32_t kind = 1; kind <= 3; kind++)
        for (uint32_t k = 1; k <= 64; k += 7)
            for (uint64_t m = 1; m <= 1024; m += m < 10 ? 1 : 61) {
                const uint64_t bits = kind == TAMIS_PARTITIONED ? m * k : m;
                const size_t length = (size_t)((bits + 63) / 64 * 8);
                struct bytes good = cook(&recipes[0]), bad = bytes_new(256 + length);
                memset(bad.p, 0, bad.n);
                memcpy(bad.p, good.p, 192);
                put_field(bad.p, (struct field){30, 2}, kind);
                put_field(bad.p, (struct field){112, 8}, bad.n);
                put_field(bad.p, (struct field){130, 2}, kind);
                put_field(bad.p, (struct field){136, 4}, kind == TAMIS_BLOCKED ? 8 : k);
                put_field(bad.p, (struct field){144, 8}, kind == TAMIS_BLOCKED ? length * 8 : m);
                put_field(bad.p, (struct field){184, 8}, length);
                for (uint64_t i = 0; i < bits; i++) bad.p[256 + i / 8] |= (uint8_t)(1u << i % 8);
                image_resum(bad.p, bad.n);
                const tamis_options o = {.struct_size = sizeof o};
                accepted += exercise(bad.p, bad.n, &o) == TAMIS_OK;
                free(good.p);
                free(bad.p);
            }
    CHECK_THAT(accepted, >, 500);
}

/* --- Random mutants ------------------------------------------------------------------------------------ */

static uint64_t random_state;

static uint64_t next_random(uint64_t below)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state % below;
}

static void mutate(struct bytes *b)
{
    const struct field f = fields[next_random(FIELDS)];
    switch (next_random(6)) {
    case 0: b->p[next_random(b->n)] ^= (uint8_t)(1u << next_random(8)); break;
    case 1: b->p[next_random(b->n)] = (uint8_t)next_random(256); break;
    case 2:
        put_field(b->p, f, evil_value((unsigned)next_random(VALUES), get_field(b->p, f)));
        break;
    case 3: put_field(b->p, f, get_field(b->p, f) ^ UINT64_C(1) << next_random(64)); break;
    case 4: /* shorter, with a total that says so */
        b->n -= (size_t)next_random(b->n < 400 ? 8 : 64);
        put_field(b->p, (struct field){112, 8}, b->n);
        break;
    case 5: { /* one field's value in another's place */
        const struct field from = fields[next_random(FIELDS)];
        put_field(b->p, f, get_field(b->p, from));
        break;
    }
    }
}

static void test_random_mutants(void)
{
    struct bytes good[RECIPES], bad = bytes_new(1024);
    for (size_t r = 0; r < RECIPES; r++) good[r] = cook(&recipes[r]);
    random_state = UINT64_C(0x1234567890abcdef);
    for (unsigned i = 0; i < 60000; i++) {
        const size_t r = (size_t)next_random(RECIPES);
        if (!is_small(&recipes[r])) continue;
        bad.n = good[r].n;
        memcpy(bad.p, good[r].p, bad.n);
        for (uint64_t n = 1 + next_random(4); n > 0; n--) mutate(&bad);
        image_resum(bad.p, bad.n);
        tamis_options o = golden_options(&recipes[r]);
        if (next_random(4) == 0) o.flags |= TAMIS_UNVERIFIED;
        if (next_random(4) == 0 && o.key == NULL) o.flags |= TAMIS_KEYLESS;
        exercise(bad.p, bad.n, &o);
    }
    for (size_t r = 0; r < RECIPES; r++) free(good[r].p);
    free(bad.p);
}

/* Waived sums: any cells at all, and still every verb is safe. */
static void test_unverified_cells(void)
{
    random_state = 99;
    for (size_t r = 0; r < RECIPES; r++) {
        struct bytes good = cook(&recipes[r]);
        tamis_options o = golden_options(&recipes[r]);
        o.flags = TAMIS_UNVERIFIED;
        tamis *t;
        for (size_t i = 256; i < good.n - 8; i++) good.p[i] = (uint8_t)next_random(256);
        CHECK_OK(tamis_load(good.p, good.n, &o, &t, NULL));
        use(t, &o);
        tamis_close(t);
        o.flags = 0;
        CHECK_THAT(tamis_load(good.p, good.n, &o, &t, NULL), ==, TAMIS_ECORRUPT);
        free(good.p);
    }
}

/* --- The same through a file ------------------------------------------------------------------------------ */

static void write_file(const char *path, const uint8_t *p, size_t n)
{
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

static void test_every_field_of_a_file(void)
{
    const char *tmp = getenv("TMPDIR");
    char path[512];
    snprintf(path, sizeof path, "%s/tamis-hostile-%ld", tmp != NULL ? tmp : "/tmp", (long)getpid());
    struct bytes good = cook(&recipes[4]), bad = bytes_copy(good.p, good.n);
    for (size_t f = 0; f < FIELDS; f++)
        for (unsigned v = 0; v < VALUES; v++) {
            memcpy(bad.p, good.p, good.n);
            put_field(bad.p, fields[f], evil_value(v, get_field(good.p, fields[f])));
            image_resum(bad.p, bad.n);
            write_file(path, bad.p, bad.n);
            const tamis_options plain = {.struct_size = sizeof plain};
            const tamis_status expected = exercise(bad.p, bad.n, &plain);
            for (uint32_t flags = 0; flags <= TAMIS_MAP; flags++) {
                struct tracker a;
                tracker_init(&a);
                const tamis_options o = {
                    .struct_size = sizeof o, .flags = flags, .memory = &a.memory};
                tamis *t;
                CHECK_THAT(tamis_open(path, &o, &t, NULL), ==, expected);
                CHECK_THAT(a.peak, <=, 3 * bad.n + 2048 + 4096); /* and the path */
                if (t != NULL) use(t, &plain);
                tamis_close(t);
                CHECK_THAT(a.blocks, ==, 0);
            }
        }
    remove(path);
    free(bad.p);
    free(good.p);
}

/* --- What each field is for --------------------------------------------------------------------------------- */

/* recipes[0] with one field changed and the sums repaired. */
static tamis_status load_with(unsigned offset, unsigned width, uint64_t value, tamis **t,
                              tamis_error *why)
{
    struct bytes b = cook(&recipes[0]);
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
        {80, 8, 1, TAMIS_ECORRUPT},                  /* zero fields */
        {88, 8, UINT64_C(1) << 63, TAMIS_ECORRUPT},
        {96, 8, 0, TAMIS_ECORRUPT}, /* generation */
        {96, 8, 1, TAMIS_OK},
        {96, 8, UINT64_MAX >> 1, TAMIS_OK},
        {96, 8, (UINT64_MAX >> 1) + 1, TAMIS_ECORRUPT},
        {104, 4, 0, TAMIS_ECORRUPT}, /* sections */
        {104, 4, 2, TAMIS_ECORRUPT},
        {108, 4, 1, TAMIS_ECORRUPT}, /* zero field */
        {128, 2, 0, TAMIS_ECORRUPT}, /* role */
        {128, 2, 2, TAMIS_ECORRUPT},
        {130, 2, 2, TAMIS_ECORRUPT}, /* kind of the section */
        {132, 2, 1, TAMIS_ECORRUPT}, /* variant */
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
    struct bytes b = cook(&recipes[0]);
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
        struct bytes b = cook(&recipes[r]);
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

/* Tables of many sections, all of them right: no kind here has more than one, and that is the only
 * reason to refuse them. With one byte of padding set, or one section too many, there is another. */
static void test_many_sections(void)
{
    static const uint32_t counts[] = {2, 3, 17, 1024, 1025};
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        const uint32_t count = counts[i];
        const uint64_t meta = 128 + 72 * (uint64_t)count, first = (meta + 63) / 64 * 64;
        struct bytes good = cook(&recipes[0]);
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
        const tamis_options o = {.struct_size = sizeof o};
        tamis *t;
        tamis_error why;
        CHECK_THAT(exercise(b.p, b.n, &o), ==, TAMIS_ECORRUPT);
        CHECK_THAT(tamis_load(b.p, b.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
        CHECK(strstr(why.text, count <= 1024 ? "exactly one section" : "number of sections") !=
              NULL);
        b.p[128 + 64 * (count - 1) + 40] = 1; /* a zero field of the last entry */
        image_resum(b.p, b.n);
        CHECK_THAT(tamis_load(b.p, b.n, NULL, &t, &why), ==, TAMIS_ECORRUPT);
        CHECK(strstr(why.text, count <= 1024 ? "reserved" : "number of sections") != NULL);
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

static void test_versions(void)
{
    tamis *t;
    CHECK_THAT(load_with(8, 2, 2, &t, NULL), ==, TAMIS_EVERSION);
    CHECK_THAT(load_with(8, 2, 65535, &t, NULL), ==, TAMIS_EVERSION);
    CHECK_THAT(load_with(8, 2, 0, &t, NULL), ==, TAMIS_ECORRUPT);
    CHECK_THAT(load_with(10, 2, 0, &t, NULL), ==, TAMIS_ECORRUPT);
    for (uint64_t version = 2; version <= 65535; version += 65533) {
        CHECK_OK(load_with(10, 2, version, &t, NULL));
        CHECK(is_read_only(t));
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
        CHECK_OK(load_with(20, 4, UINT64_C(1) << bit, &t, NULL));
        CHECK(is_read_only(t) == (bit != 1)); /* 2, strict, is known and changeable */
        CHECK((tamis_add(t, "x", 1, NULL) == TAMIS_ESEALED) == (bit != 1));
        tamis_close(t);
        CHECK_OK(load_with(24, 4, UINT64_C(1) << bit, &t, NULL));
        CHECK(!is_read_only(t));
        CHECK_OK(tamis_add(t, "x", 1, NULL));
        struct bytes written = image_of(t);
        CHECK_THAT(tamis__get32(written.p + 24), ==, bit == 0 ? 1 : 0);
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
                   n == 1             ? TAMIS_OK
                   : n == 2 || n == 3 ? TAMIS_ECORRUPT
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
    struct bytes b = cook(&recipes[0]);
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

static void test_max_bytes(void)
{
    struct bytes b = cook(&recipes[0]);
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
    CHECK(f.items == UINT64_MAX && f.over_full);
    tamis_close(t);

    struct bytes b = cook(&recipes[0]);
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
    {"every field", test_every_field},
    {"every pair of fields", test_every_pair_of_fields},
    {"consistent shapes", test_consistent_shapes},
    {"random mutants", test_random_mutants},
    {"unverified cells", test_unverified_cells},
    {"every field of a file", test_every_field_of_a_file},
    {"limits", test_limits},
    {"limits of m", test_limits_of_m},
    {"hash fields", test_hash_fields},
    {"many sections", test_many_sections},
    {"versions", test_versions},
    {"flags", test_flags},
    {"unknown numbers", test_unknown_numbers},
    {"damaged magic", test_damaged_magic},
    {"max bytes", test_max_bytes},
    {"counters at the end", test_counters_at_the_end},
};

TEST_MAIN(tests)
