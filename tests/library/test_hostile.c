/* Hostile images: every sum is right, and everything else may be wrong. For any bytes, the
 * result is an error or a handle on which every verb is safe, and no more memory is taken than
 * the input justifies. Meant to run under ASan and UBSan, too. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/golden.h"
#include "../support/tracking.h"

#include <math.h>
#include <tamis/inspect.h>
#include <unistd.h>

/* --- Every verb on what was let in ------------------------------------------------------------ */

static void check_facts(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    CHECK(f.fill >= 0 && f.fill <= 1 && f.fpr_now >= 0 && f.fpr_now <= 1);
    CHECK(isfinite(f.items_estimate) && f.items_estimate >= 0);
    CHECK(f.items_low <= f.items_estimate && f.items_estimate <= f.items_high);
    const bool is_static = f.kind >= TAMIS_FUSE; /* whose shapes say little before the seal */
    CHECK((f.m >= 1 && f.k <= 64) || is_static);
    const bool sketch = f.kind >= TAMIS_COUNT_MIN || f.generations != 0;
    CHECK(f.k >= 1 && (f.planned_items >= 1) == !sketch);
    CHECK((f.fpr_planned > 0) == !sketch && f.fpr_planned <= 1);
    uint64_t cells[64];
    CHECK(f.miss_rate >= 0 && f.miss_rate <= 1 && (f.may_miss || f.miss_rate == 0));
    const size_t n = tamis_cells_of(t, "key", 3, cells, 64);
    bool all = true;
    for (size_t i = 0; i < n; i++) all &= tamis_cell(t, cells[i]) != 0;
    if (f.kind <= TAMIS_COUNTING) /* all of these decide, and nothing else */
        CHECK(n == 0 || (n == f.k && all == tamis_may_contain(t, "key", 3)));
    tamis_cell(t, UINT64_MAX);
    tamis_cell(t, f.m * f.k);
}

/* Whether this is the status for a key of three bytes where keys must have another length. */
static bool refuses_three_bytes(const tamis *t, tamis_status s)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_stat(t, &f));
    return s == TAMIS_EINVAL && f.key_width != 0 && f.key_width != 3;
}

static void check_adds(tamis *t)
{
    uint8_t bit;
    const tamis_hash h = {UINT64_MAX, UINT64_MAX}; /* the last cells */
    const tamis_status s = tamis_add(t, "new", 3, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EFULL || s == TAMIS_EKEY ||
          s == TAMIS_EUNSUPPORTED || s == TAMIS_ENOMEM || refuses_three_bytes(t, s));
    CHECK(s != TAMIS_OK || tamis_may_contain(t, "new", 3));
    const tamis_status with_hash = tamis_add_hashes(t, &h, 1, NULL, NULL);
    CHECK(with_hash == TAMIS_OK || with_hash == TAMIS_ESEALED || with_hash == TAMIS_EFULL ||
          with_hash == TAMIS_ENOMEM || with_hash == TAMIS_EUNSUPPORTED); /* a top */
    CHECK(with_hash != TAMIS_OK || tamis_may_contain_hashes(t, &h, 1, &bit) == 1);
}

/* Lists, wherever texts and entries point. */
static void check_lists(const tamis *t)
{
    tamis_heavy list[50];
    tamis_facts f = {.struct_size = sizeof f};
    size_t found = 0, bytes = 0;
    CHECK_OK(tamis_info(t, &f));
    const size_t n = tamis_top(t, list, 50);
    CHECK(n <= f.listed && f.listed <= f.entries);
    for (size_t i = 0; i < n; i++) {
        for (size_t b = 0; b < list[i].item.len; b++) bytes += ((const uint8_t *)list[i].item.p)[b];
        CHECK(list[i].count.lower <= list[i].count.estimate);
        CHECK(list[i].count.estimate <= list[i].count.upper);
    }
    const tamis_status s = tamis_above(t, f.list_floor, list, 50, &found, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_EUNSUPPORTED ||
          (s == TAMIS_EINVAL && f.list_floor == INT64_MAX));
    CHECK(bytes < 50 * 255 * 4096 && found <= f.listed);
}

static void check_other_verbs(tamis *t)
{
    const tamis_hash last = {UINT64_MAX, UINT64_MAX};
    tamis_estimate e;
    uint8_t absent;
    double chance = -1;
    tamis_evidence worth = {.struct_size = sizeof worth};
    tamis *out;
    if (tamis_probability_hashes(t, &last, 1, 0.5, &chance, NULL) == TAMIS_OK) {
        CHECK_OK(tamis_evidence_of(t, 0.5, &worth, NULL));
        CHECK(chance == worth.yes || chance == worth.no);
        CHECK(0 < worth.no_low && worth.no_low <= worth.no && worth.no <= worth.no_high);
        CHECK(worth.yes_low <= worth.yes && worth.yes <= worth.yes_high && worth.yes_high < 1);
        CHECK(worth.no_high <= 0.5 && 0.5 <= worth.yes_low);
    }
    if (tamis_release(t, 1, &out, NULL) == TAMIS_OK) {
        check_facts(out);
        tamis_close(out);
    }
    tamis_status s = tamis_count(t, "key", 3, &e, NULL);
    if (s == TAMIS_OK) CHECK(e.lower <= e.estimate && e.estimate <= e.upper);
    for (int i = 0; i < 4; i++) {
        static const int64_t weights[4] = {INT64_MAX, -1, INT64_MIN, 70000};
        s = tamis_add_weight(t, "key", 3, weights[i], NULL);
        CHECK(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EKEY || s == TAMIS_EUNSUPPORTED ||
              s == TAMIS_EABSENT || refuses_three_bytes(t, s));
    }
    if (s == TAMIS_OK)
        CHECK_OK(tamis_count_hashes(t, &last, 1, &e, NULL)); /* slow: measures the noise */
    s = tamis_remove(t, "key", 3, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EABSENT || s == TAMIS_EKEY ||
          s == TAMIS_EUNSUPPORTED || refuses_three_bytes(t, s));
    tamis_remove_hashes(t, &last, 1, &absent, NULL);
    s = tamis_rotate(t, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EUNSUPPORTED);
    s = tamis_rotate_to(t, UINT64_MAX, NULL); /* never in the past */
    CHECK(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EUNSUPPORTED);
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_BLOCKED; kind++) {
        tamis *plain;
        if (tamis_convert(t, kind, &plain, NULL) != TAMIS_OK) continue;
        CHECK(tamis_may_contain(plain, "key", 3) == tamis_may_contain(t, "key", 3));
        tamis_close(plain);
    }
}

/* What this library writes, it reads, and it is the same again. What a newer one wrote, it does
 * not. */
static void check_round_trip(const tamis *t, const tamis_options *o)
{
    struct bytes image = image_of(t);
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    if (image.p == NULL && f.read_only) return;
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
    check_lists(t);
    CHECK_OK(tamis_copy(t, &copy, NULL));
    check_adds(t);
    check_other_verbs(t);
    tamis_status s = tamis_compare(t, copy, &like, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_EUNSUPPORTED || s == TAMIS_EMISMATCH);
    if (s == TAMIS_OK) CHECK(like.jaccard >= 0 && isfinite(like.union_items));
    s = tamis_merge(t, copy, NULL);
    CHECK(s == TAMIS_OK || s == TAMIS_ESEALED || s == TAMIS_EFULL || s == TAMIS_EUNSUPPORTED ||
          s == TAMIS_EMISMATCH);
    check_facts(t);
    check_lists(t);
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
        /* Table, sections, cells and the handle: each at most the input or a small constant. A
         * handle with a key has a page to itself, for which two are taken. */
        const size_t pages = o.key != NULL ? 2 * (size_t)sysconf(_SC_PAGESIZE) : 0;
        CHECK_THAT(a.peak, <=, 3 * n + 2048 + pages);
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

/* --- Fields ----------------------------------------------------------------------------------- */

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

static bool is_small(const struct recipe *r)
{
    return r->plan.m < 100000;
}

/* Under emulation one of so many cases is tried, another one for each image and field. */
static unsigned one_of(unsigned cases)
{
    return getenv("TEST_BRIEFLY") == NULL ? 1 : cases;
}

static void test_every_field(void)
{
    size_t accepted = 0, refused = 0;
    const unsigned step = one_of(5);
    for (size_t r = 0; r < RECIPES; r++) {
        if (!is_small(&recipes[r])) continue;
        struct bytes good = golden_image(&recipes[r]);
        const tamis_options o = golden_options(&recipes[r]);
        CHECK_OK(exercise(good.p, good.n, &o));
        struct bytes bad = bytes_copy(good.p, good.n);
        for (size_t f = 0; f < FIELDS; f++)
            for (unsigned v = (unsigned)(r + f) % step; v < VALUES; v += step) {
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
    CHECK_THAT(accepted * step, >, 500);
    CHECK_THAT(refused * step, >, 2000);
}

static void all_pairs(const struct recipe *r)
{
    struct bytes good = golden_image(r), bad = bytes_copy(good.p, good.n);
    const tamis_options o = golden_options(r);
    const unsigned step = one_of(8);
    for (unsigned f = 0; f < FIELDS * PAIR_VALUES; f++)
        for (unsigned g = (f / PAIR_VALUES + 1) * PAIR_VALUES + f % step; g < FIELDS * PAIR_VALUES;
             g += step) {
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

/* Shapes whose length and total fit the k and m they claim, with cells full of ones: what the
 * extremes of the table do to the verbs, not to the checks of lengths. */
static void test_consistent_shapes(void)
{
    size_t accepted = 0;
    for (uint32_t kind = 1; kind <= 3; kind++)
        for (uint32_t k = 1; k <= 64; k += 7)
            for (uint64_t m = 1; m <= 1024; m += m < 10 ? 1 : 61) {
                const uint64_t bits = kind == TAMIS_PARTITIONED ? m * k : m;
                const size_t length = (size_t)((bits + 63) / 64 * 8);
                struct bytes good = golden_image(&recipes[0]), bad = bytes_new(256 + length);
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

/* --- Random mutants --------------------------------------------------------------------------- */

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
    struct bytes good[RECIPES], bad = bytes_new(32768);
    for (size_t r = 0; r < RECIPES; r++) {
        good[r] = golden_image(&recipes[r]);
        CHECK(good[r].n <= bad.n || !is_small(&recipes[r]));
    }
    random_state = UINT64_C(0x1234567890abcdef);
    const unsigned rounds = 60000 / one_of(20);
    for (unsigned i = 0; i < rounds; i++) {
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
        const bool map = recipes[r].plan.kind == TAMIS_VALUE_MAP;
        if ((golden_distinct(&recipes[r]) || map) && recipes[r].keys == 0)
            continue; /* has only 8 bytes */
        struct bytes good = golden_image(&recipes[r]);
        tamis_options o = golden_options(&recipes[r]);
        o.flags = TAMIS_UNVERIFIED;
        tamis *t;
        const uint32_t sections = tamis__get32(good.p + 104);
        for (uint32_t s = 0; s < sections; s++) {
            const uint8_t *entry = good.p + 128 + 64 * s;
            const uint64_t from = tamis__get64(entry + 48), length = tamis__get64(entry + 56);
            for (uint64_t i = from; i + 16 < from + length; i++)
                good.p[i] = (uint8_t)next_random(256); /* the last words may have spare bits */
        }
        /* Where the cells have an order, they are refused; registers may be right by chance. */
        const bool registers = golden_distinct(&recipes[r]) && tamis__get16(good.p + 132) == 0;
        const bool ordered = recipes[r].plan.kind == TAMIS_GROWING ||
                             (recipes[r].plan.kind == TAMIS_CUCKOO && sections > 1) ||
                             (map && !golden_values(&recipes[r])) || /* its values fit */
                             recipes[r].plan.kind >= TAMIS_TALLY ||
                             recipes[r].plan.inner_kind >= TAMIS_TALLY;
        const tamis_status loaded = tamis_load(good.p, good.n, &o, &t, NULL);
        CHECK(registers || loaded == (ordered ? TAMIS_ECORRUPT : TAMIS_OK));
        CHECK(loaded == TAMIS_OK || loaded == TAMIS_ECORRUPT);
        if (loaded == TAMIS_OK) use(t, &o);
        tamis_close(t);
        o.flags = 0;
        CHECK_THAT(tamis_load(good.p, good.n, &o, &t, NULL), ==, TAMIS_ECORRUPT);
        free(good.p);
    }
}

/* --- The same through a file ------------------------------------------------------------------ */

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
    struct bytes good = golden_image(&recipes[4]), bad = bytes_copy(good.p, good.n);
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

static const struct test tests[] = {
    {"every field", test_every_field},
    {"every pair of fields", test_every_pair_of_fields},
    {"consistent shapes", test_consistent_shapes},
    {"random mutants", test_random_mutants},
    {"unverified cells", test_unverified_cells},
    {"every field of a file", test_every_field_of_a_file},
};

TEST_MAIN(tests)
