/* The stash of a cuckoo filter, with keys whose classes are chosen: against an exact multiset, when
 * it is full, and in hostile images. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "../support/tracking.h"

#include <math.h>
#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#define COPIES 4u   /* slots of a class */
#define STASHED 64u /* entries of the stash */

/* Fields of the entries of both sections in the table. */
static const struct field cell_bits = {134, 2}, slots_m = {144, 8}, stash_m = {208, 8},
                          stash_offset = {240, 8};

static uint64_t random_state;

static uint64_t pick(uint64_t below)
{
    return splitmix(&random_state) % below;
}

static tamis *create(const tamis_plan *plan)
{
    tamis *t;
    CHECK_OK(tamis_create(plan, NULL, &t, NULL));
    return t;
}

static tamis_facts facts_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    return f;
}

static bool bit(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void copies_are_counted(void)
{
    for (uint64_t items = 1; items <= 100000; items *= 10) {
        const tamis_plan plan = {
            .struct_size = sizeof plan, .kind = TAMIS_CUCKOO, .items = items, .fpr = 0.01};
        tamis *t = create(&plan);
        uint64_t cells[4];
        bool seen;
        CHECK_THAT(tamis_cells_of(t, "key", 3, cells, 2), ==, 4);
        CHECK_THAT(tamis_cells_of(t, "key", 3, cells, 4), ==, 4);
        CHECK(cells[1] == cells[0] + 1 && cells[3] == cells[2] + 1 && cells[1] < cells[2]);
        for (unsigned i = 0; i < COPIES; i++) {
            CHECK_OK(tamis_add(t, "key", 3, &seen));
            CHECK(seen == (i != 0));
        }
        CHECK_THAT(facts_of(t).sections, ==, 1);
        for (unsigned i = 0; i < 1000; i++)
            CHECK(tamis_add(t, "key", 3, &seen) == TAMIS_OK && seen);
        CHECK_THAT(facts_of(t).sections, ==, 2);
        tamis_estimate e;
        CHECK_OK(tamis_count(t, "key", 3, &e, NULL));
        CHECK_THAT(e.upper, ==, COPIES + 1000);
        /* One class, however many copies. */
        const tamis_facts f = facts_of(t);
        const double classes = ((double)f.m / 2 - 1) * (ldexp(1, (int)f.cell_bits - 1) - 1);
        CHECK(fabs(f.fpr_now * classes - 1) < 1e-9);
        const uint64_t print = tamis_cell(t, cells[0]) >> 1;
        for (unsigned i = 0; i < COPIES; i++)
            CHECK_THAT(tamis_cell(t, cells[i]), ==, print << 1 | i % 2);
        for (unsigned i = 0; i < 1000; i++) CHECK_OK(tamis_remove(t, "key", 3, NULL));
        CHECK_THAT(facts_of(t).sections, ==, 1);
        for (unsigned i = 0; i < COPIES; i++) CHECK_OK(tamis_remove(t, "key", 3, NULL));
        CHECK_THAT(tamis_remove(t, "key", 3, NULL), ==, TAMIS_EABSENT);
        CHECK_THAT(facts_of(t).fill, ==, 0);
        tamis_close(t);
    }
}

/* A table of 200 slots, with fingerprints of 7 bits. */
static tamis_plan classy_plan(void)
{
    tamis_plan plan = {.struct_size = sizeof plan,
                       .kind = TAMIS_CUCKOO,
                       .flags = TAMIS_HASH_CALLER,
                       .items = 100,
                       .m = 200,
                       .bytes = 500};
    CHECK_OK(tamis_solve(&plan, NULL, NULL));
    return plan;
}

/* The least x with mulhi(x, n) = i. */
static uint64_t least_with(uint64_t i, uint64_t n)
{
    const uint64_t q = UINT64_MAX / n;
    uint64_t x = i * q;
    while (tamis__mulhi(x, n) < i) x++;
    return x;
}

#define CLASSES 120u

/* A key of a class, one of many. Classes are 1 to 120, of distinct windows and fingerprints. */
static tamis_hash of_class(const tamis_plan *p, const tamis *t, uint64_t class, uint64_t which)
{
    const uint64_t windows = p->m / 2 - 1,
                   prints = (UINT64_C(1) << (facts_of(t).cell_bits - 1)) - 1;
    return (tamis_hash){least_with(class % prints, prints) + which,
                        least_with(class * 7 % windows, windows) + which};
}

static uint64_t entries_of(const tamis *t)
{
    struct bytes image = image_of(t);
    const uint64_t n = facts_of(t).sections == 1 ? 0 : get_field(image.p, stash_m);
    free(image.p);
    return n;
}

static void check_classes(const tamis_plan *p, const tamis *t, const uint64_t *in)
{
    tamis_hash h[CLASSES];
    uint8_t bits[CLASSES / 8];
    tamis_estimate counts[CLASSES];
    uint64_t total = 0, present = 0;
    for (uint64_t c = 0; c < CLASSES; c++) h[c] = of_class(p, t, c, 1000 + c);
    tamis_may_contain_hashes(t, h, CLASSES, bits);
    CHECK_OK(tamis_count_hashes(t, h, CLASSES, counts, NULL));
    for (uint64_t c = 0; c < CLASSES; c++) {
        uint8_t one;
        tamis_may_contain_hashes(t, &h[c], 1, &one);
        CHECK(bit(bits, c) == (in[c] != 0) && one == (in[c] != 0));
        CHECK_THAT((uint64_t)counts[c].upper, ==, in[c]);
        total += in[c];
        present += in[c] != 0;
    }
    const tamis_facts f = facts_of(t);
    const double classes = ((double)f.m / 2 - 1) * (ldexp(1, (int)f.cell_bits - 1) - 1);
    CHECK(f.items == total && f.items_low == (double)total && f.items_high == (double)total);
    CHECK(fabs(f.fpr_now * classes - (double)present) < 1e-6);
    CHECK((f.sections == 2) == (entries_of(t) != 0) && f.sections <= 2);
    CHECK((f.bytes == p->bytes) == (f.sections == 1));
}

static tamis *reopened(tamis *t, bool by_copy)
{
    struct bytes image = image_of(t);
    tamis *other;
    if (by_copy)
        CHECK_OK(tamis_copy(t, &other, NULL));
    else
        CHECK_OK(tamis_load(image.p, image.n, NULL, &other, NULL));
    tamis_close(t);
    free(image.p);
    return other;
}

/* Adds and removes keys of 120 classes, most of which have more keys than slots. */
static void the_stash_against_a_multiset(void)
{
    const tamis_plan plan = classy_plan();
    tamis *t = create(&plan);
    uint64_t in[CLASSES] = {0}, most = 0, refusals = 0;
    random_state = 77;
    for (unsigned i = 0; i < 60000; i++) {
        const uint64_t c = pick(CLASSES), dice = pick(1000);
        const tamis_hash h = of_class(&plan, t, c, pick(1000));
        const bool filling = i / 3000 % 2 == 0;
        uint8_t known = 2;
        if (dice < (filling ? 600 : 250)) {
            const tamis_status s = tamis_add_hashes(t, &h, 1, &known, NULL);
            CHECK(s == TAMIS_OK ? known == (in[c] != 0) : s == TAMIS_EFULL && known == 0);
            if (s == TAMIS_EFULL) CHECK_THAT(entries_of(t), ==, STASHED);
            refusals += s != TAMIS_OK;
            in[c] += s == TAMIS_OK;
        } else if (dice < 980) {
            const tamis_status s = tamis_remove_hashes(t, &h, 1, &known, NULL);
            CHECK(s == TAMIS_OK && known == (in[c] == 0));
            in[c] -= in[c] != 0;
        } else {
            check_classes(&plan, t, in);
            t = reopened(t, dice % 2 == 0);
            check_classes(&plan, t, in);
        }
        const uint64_t entries = i % 64 == 0 ? entries_of(t) : 0;
        if (entries > most) most = entries;
    }
    CHECK(most > STASHED / 2 && refusals > 100);
    CHECK_OK(tamis_clear(t));
    memset(in, 0, sizeof in);
    check_classes(&plan, t, in);
    struct bytes a = image_of(t);
    CHECK_THAT(a.n, ==, plan.bytes);
    free(a.p);
    tamis_close(t);
}

/* A tracker whose memory fails: the add fails as well, and nothing has changed. */
static tamis_status add_without_memory(tamis *t, struct tracker *a, tamis_hash h)
{
    struct bytes before = image_of(t);
    a->fail_at = 1;
    a->calls = 0;
    const tamis_status s = tamis_add_hashes(t, &h, 1, NULL, NULL);
    a->fail_at = 0;
    struct bytes after = image_of(t);
    if (s != TAMIS_OK) CHECK(bytes_equal(before, after));
    free(before.p);
    free(after.p);
    return s;
}

static void a_full_stash_refuses(void)
{
    const tamis_plan plan = classy_plan();
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    uint64_t in[CLASSES] = {0}, refused_memory = 0;
    tamis *t;
    CHECK_OK(tamis_create(&plan, &o, &t, NULL));
    const size_t blocks = a.blocks;
    /* Four keys each of every third class fill their slots, and one more of each is stashed. */
    for (uint64_t c = 0; c < CLASSES; c++)
        for (unsigned i = 0; i < 2 * COPIES; i++) {
            const tamis_hash h = of_class(&plan, t, c, i);
            tamis_status s = add_without_memory(t, &a, h);
            refused_memory += s == TAMIS_ENOMEM;
            if (s == TAMIS_ENOMEM) s = tamis_add_hashes(t, &h, 1, NULL, NULL);
            CHECK(s == TAMIS_OK || (s == TAMIS_EFULL && entries_of(t) == STASHED));
            in[c] += s == TAMIS_OK;
        }
    CHECK_THAT(entries_of(t), ==, STASHED);
    CHECK_THAT(refused_memory, >, 0);
    check_classes(&plan, t, in);
    /* The copies of an entry have a limit, which needs an image to be reached. */
    struct bytes image = image_of(t);
    const unsigned stash = (unsigned)get_field(image.p, stash_offset);
    const uint64_t window = get_field(image.p, (struct field){stash, 8}),
                   print = get_field(image.p, (struct field){stash + 8, 4});
    put_field(image.p, (struct field){stash + 12, 4}, UINT32_MAX);
    image_resum(image.p, image.n);
    tamis *full;
    CHECK_OK(tamis_load(image.p, image.n, NULL, &full, NULL));
    const uint64_t prints = (UINT64_C(1) << (facts_of(t).cell_bits - 1)) - 1;
    const tamis_hash h = {least_with(print - 1, prints), least_with(window, plan.m / 2 - 1)};
    CHECK_THAT(tamis_add_hashes(full, &h, 1, NULL, NULL), ==, TAMIS_EFULL);
    CHECK_OK(tamis_remove_hashes(full, &h, 1, NULL, NULL));
    CHECK_OK(tamis_add_hashes(full, &h, 1, NULL, NULL));
    free(image.p);
    tamis_close(full);
    /* Emptied, it has one section again, and its memory is free. */
    for (uint64_t c = 0; c < CLASSES; c++)
        for (; in[c] != 0; in[c]--) {
            const tamis_hash one = of_class(&plan, t, c, in[c]);
            CHECK_OK(tamis_remove_hashes(t, &one, 1, NULL, NULL));
        }
    check_classes(&plan, t, in);
    CHECK_THAT(a.blocks, <=, blocks + 1); /* the table of sections */
    tamis_close(t);
    CHECK_THAT(a.blocks, ==, 0);
}

/* An image of five keys of each of 30 classes. */
static struct bytes stashed_image(void)
{
    const tamis_plan plan = classy_plan();
    tamis *t = create(&plan);
    for (uint64_t c = 0; c < 30; c++)
        for (unsigned i = 0; i < COPIES + 1; i++) {
            const tamis_hash h = of_class(&plan, t, c, i);
            CHECK_OK(tamis_add_hashes(t, &h, 1, NULL, NULL));
        }
    CHECK_THAT(entries_of(t), >=, 30);
    struct bytes image = image_of(t);
    tamis_close(t);
    return image;
}

static tamis_status exercise_hashes(struct bytes image)
{
    tamis *t;
    image_resum(image.p, image.n);
    const tamis_status s = tamis_load(image.p, image.n, NULL, &t, NULL);
    random_state = 5;
    for (unsigned i = 0; t != NULL && i < 500; i++) {
        const tamis_hash h = {pick(UINT64_MAX), pick(UINT64_MAX)};
        uint8_t known;
        tamis_may_contain_hashes(t, &h, 1, &known);
        const tamis_status added = tamis_add_hashes(t, &h, 1, NULL, NULL);
        CHECK(added == TAMIS_OK || added == TAMIS_EFULL);
        if (i % 3 == 0) CHECK_OK(tamis_remove_hashes(t, &h, 1, &known, NULL));
    }
    if (t != NULL) CHECK(facts_of(t).fpr_now <= 1);
    tamis_close(t);
    return s;
}

static void hostile_stashes(void)
{
    static const struct {
        unsigned at;
        uint64_t value;
        unsigned size;
        tamis_status wanted;
    } fields[] = {
        {192, 1, 2, TAMIS_ECORRUPT},          {192, 7, 2, TAMIS_ECORRUPT},
        {192, 9, 2, TAMIS_EVERSION},          {192, 0, 2, TAMIS_EVERSION},
        {194, 4, 2, TAMIS_ECORRUPT},          {196, 1, 2, TAMIS_EVERSION},
        {198, 64, 2, TAMIS_ECORRUPT},         {200, 1, 4, TAMIS_ECORRUPT},
        {204, 1, 4, TAMIS_ECORRUPT},          {208, 0, 8, TAMIS_ECORRUPT},
        {208, 65, 8, TAMIS_ECORRUPT},         {208, 29, 8, TAMIS_ECORRUPT},
        {216, 1, 8, TAMIS_ECORRUPT},          {224, 1, 8, TAMIS_ECORRUPT},
        {232, 1, 8, TAMIS_ECORRUPT},          {128, 8, 2, TAMIS_ECORRUPT},
        {208, UINT64_MAX, 8, TAMIS_ECORRUPT},
    };
    struct bytes good = stashed_image(), bad = bytes_copy(good.p, good.n);
    const unsigned stash = (unsigned)get_field(good.p, stash_offset);
    CHECK_OK(exercise_hashes(bad));
    for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
        memcpy(bad.p, good.p, good.n);
        put_field(bad.p, (struct field){fields[i].at, fields[i].size}, fields[i].value);
        CHECK_THAT(exercise_hashes(bad), ==, fields[i].wanted);
    }
    /* Entries: a window, a fingerprint or a number out of range, two equal ones, a wrong order. */
    const uint64_t windows = get_field(good.p, slots_m) / 2 - 1,
                   prints = (UINT64_C(1) << (get_field(good.p, cell_bits) - 1)) - 1;
    const unsigned last = (unsigned)get_field(good.p, stash_m) - 1;
    const struct {
        unsigned entry, at, size;
        uint64_t value;
        tamis_status wanted;
    } entries[] = {
        {last, 0, 8, windows, TAMIS_ECORRUPT},    {last, 0, 8, windows - 1, TAMIS_OK},
        {last, 0, 8, UINT64_MAX, TAMIS_ECORRUPT}, {0, 8, 4, 0, TAMIS_ECORRUPT},
        {last, 8, 4, prints, TAMIS_OK},           {last, 8, 4, prints + 1, TAMIS_ECORRUPT},
        {0, 8, 4, UINT32_MAX, TAMIS_ECORRUPT},    {3, 12, 4, 0, TAMIS_ECORRUPT},
        {3, 12, 4, UINT32_MAX, TAMIS_OK},         {0, 0, 8, windows - 1, TAMIS_ECORRUPT},
    };
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        memcpy(bad.p, good.p, good.n);
        const unsigned at = stash + 16 * entries[i].entry + entries[i].at;
        put_field(bad.p, (struct field){at, entries[i].size}, entries[i].value);
        CHECK_THAT(exercise_hashes(bad), ==, entries[i].wanted);
    }
    memcpy(bad.p, good.p, good.n);
    memcpy(bad.p + stash + 16, bad.p + stash, 16);
    CHECK_THAT(exercise_hashes(bad), ==, TAMIS_ECORRUPT);
    free(bad.p);
    free(good.p);
}

static const struct test tests[] = {
    {"copies are counted", copies_are_counted},
    {"the stash against a multiset", the_stash_against_a_multiset},
    {"a full stash refuses", a_full_stash_refuses},
    {"hostile stashes", hostile_stashes},
};

TEST_MAIN(tests)
