/* The verbs of include/tamis/tamis.h that take two filters or look inside one, and calls with
 * invalid arguments. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "../support/saving.h"

#include <errno.h>
#include <math.h>
#include <tamis/count.h>
#include <tamis/foreign.h>
#include <tamis/map.h>

/* --- Merging ---------------------------------------------------------------------------------- */

static void test_merge_is_union(void)
{
    make_keys();
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis *a = create_kind(kind), *b = create_kind(kind), *both = create_kind(kind);
        CHECK_OK(tamis_add_many(a, keys, 600, NULL, NULL));
        CHECK_OK(tamis_add_many(b, keys + 400, 600, NULL, NULL));
        CHECK_OK(tamis_add_many(both, keys, 1000, NULL, NULL));
        struct bytes source = image_of(b);
        CHECK_OK(tamis_merge(a, b, NULL));
        const tamis_facts f = facts_of(a), g = facts_of(both);
        CHECK(f.items_estimated && !g.items_estimated);
        CHECK_THAT(f.fill, ==, g.fill);
        CHECK(f.items_low <= (double)f.items && (double)f.items <= f.items_high);
        for (uint64_t cell = 0; cell < f.bytes * 8; cell++)
            CHECK(tamis_cell(a, cell) == tamis_cell(both, cell));
        struct bytes after = image_of(b);
        CHECK(bytes_equal(source, after)); /* the source is only read */
        free(source.p), free(after.p);
        tamis_close(a), tamis_close(b), tamis_close(both);
    }
}

/* `other` cannot be merged into a filter of plan_of(BLOOM, 1000), nor compared with it. */
static void check_mismatch(tamis *other, tamis_status expected)
{
    tamis *t = create_kind(TAMIS_BLOOM);
    tamis_similarity like = {.struct_size = sizeof like};
    tamis_error why;
    CHECK_OK(tamis_add(t, "mine", 4, NULL));
    struct bytes before = image_of(t), theirs = image_of(other);
    CHECK_THAT(tamis_merge(t, other, &why), ==, expected);
    CHECK(why.status == expected && why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
    CHECK_THAT(tamis_merge(t, other, NULL), ==, expected);
    CHECK_THAT(tamis_compare(t, other, &like, &why), ==, expected);
    CHECK_THAT(tamis_merge(other, t, &why), ==, expected);
    struct bytes after = image_of(t), theirs_after = image_of(other);
    CHECK(bytes_equal(before, after) && bytes_equal(theirs, theirs_after));
    free(before.p), free(after.p), free(theirs.p), free(theirs_after.p);
    tamis_close(t), tamis_close(other);
}

static void test_merge_mismatches(void)
{
    const tamis_plan like = plan_of(TAMIS_BLOOM, 1000);
    tamis_plan p = like;
    CHECK_OK(tamis_solve(&p, NULL, NULL));
    const tamis_plan solved = p;

    check_mismatch(create_kind(TAMIS_PARTITIONED), TAMIS_EMISMATCH);
    check_mismatch(create_kind(TAMIS_BLOCKED), TAMIS_EMISMATCH);
    p = (tamis_plan){.struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = 1000};
    p.m = solved.m + 1, p.k = solved.k;
    check_mismatch(create(&p, NULL), TAMIS_EMISMATCH);
    p.m = solved.m, p.k = solved.k + 1;
    check_mismatch(create(&p, NULL), TAMIS_EMISMATCH);
    p = like, p.seed = 1;
    check_mismatch(create(&p, NULL), TAMIS_EMISMATCH);
    p = like, p.flags = TAMIS_HASH_CALLER;
    check_mismatch(create(&p, NULL), TAMIS_EMISMATCH);
    check_mismatch(create(&like, secret), TAMIS_EMISMATCH);

    tamis *one = create(&like, secret), *two = create(&like, other_secret);
    CHECK_THAT(tamis_merge(one, two, NULL), ==, TAMIS_EMISMATCH);
    tamis_close(one), tamis_close(two);

    /* The planned number of items is not part of the shape. */
    p = (tamis_plan){.struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = 10};
    p.m = solved.m, p.k = solved.k, p.flags = TAMIS_STRICT;
    tamis *t = create(&like, NULL), *other = create(&p, NULL);
    CHECK_OK(tamis_merge(t, other, NULL));
    tamis_close(t), tamis_close(other);
}

static void test_merge_into_itself(void)
{
    make_keys();
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis *t = create_kind(kind), *copy;
        tamis_similarity like = {.struct_size = sizeof like};
        tamis_error why;
        CHECK_OK(tamis_add_many(t, keys, 500, NULL, NULL));
        CHECK_OK(tamis_copy(t, &copy, NULL));
        CHECK_THAT(tamis_merge(t, t, &why), ==, TAMIS_EINVAL);
        CHECK(why.status == TAMIS_EINVAL && why.text[0] != '\0');
        CHECK_THAT(tamis_compare(t, t, &like, &why), ==, TAMIS_EINVAL);
        CHECK(same_image(t, copy));
        tamis_close(t), tamis_close(copy);
    }
}

/* --- Comparing -------------------------------------------------------------------------------- */

/* Within the 99 % interval widened by its own width on both sides: some 7.7 standard deviations, so
 * the fixed keys here cannot be unlucky. */
static bool plausible(double truth, double low, double value, double high)
{
    const double width = high - low;
    return low <= value && value <= high && low - width - 1 <= truth && truth <= high + width + 1;
}

static void check_similarity(uint32_t kind, uint32_t first, uint32_t common, uint32_t second)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = kind, .items = 20000, .fpr = 0.01};
    tamis *a = create(&plan, NULL), *b = create(&plan, NULL);
    for (uint32_t i = 0; i < first + common + second; i++) {
        if (i < first + common) CHECK_OK(tamis_add(a, &i, sizeof i, NULL));
        if (i >= first) CHECK_OK(tamis_add(b, &i, sizeof i, NULL));
    }
    tamis_similarity s = {.struct_size = sizeof s}, r = s;
    CHECK_OK(tamis_compare(a, b, &s, NULL));
    const double all = first + common + second;
    CHECK(plausible(all, s.union_low, s.union_items, s.union_high));
    CHECK(plausible(common, s.common_low, s.common_items, s.common_high));
    CHECK(s.jaccard_low <= s.jaccard && s.jaccard <= s.jaccard_high);
    CHECK(s.jaccard_low >= 0 && s.jaccard_high <= 1);
    CHECK_THAT(fabs(s.jaccard - (all > 0 ? common / all : 0)), <=, 0.05);
    CHECK_OK(tamis_compare(b, a, &r, NULL));
    CHECK(plausible(first, s.first_only_low, s.first_only, s.first_only_high));
    CHECK(plausible(second, s.second_only_low, s.second_only, s.second_only_high));
    CHECK(s.first_only == r.second_only && s.first_only_high == r.second_only_high);
    CHECK(s.second_only == r.first_only && s.second_only_low == r.first_only_low);
    CHECK(memcmp(&s, &r, offsetof(tamis_similarity, first_only)) == 0); /* no order otherwise */
    tamis_close(a), tamis_close(b);
}

static void test_compare(void)
{
    for (uint32_t kind = 1; kind <= 3; kind++) {
        check_similarity(kind, 5000, 5000, 5000);
        check_similarity(kind, 0, 10000, 0);
        check_similarity(kind, 8000, 0, 8000);
        check_similarity(kind, 0, 100, 10000);
        check_similarity(kind, 100, 0, 0);
        check_similarity(kind, 0, 0, 0);
    }
}

/* --- Facts ------------------------------------------------------------------------------------ */

static double rate_from_cells(const tamis *t, const tamis_facts *f, uint64_t *set)
{
    const uint64_t rows = f->kind == TAMIS_BLOOM         ? 1
                          : f->kind == TAMIS_PARTITIONED ? f->k
                                                         : f->m / 64;
    const uint64_t row = f->kind == TAMIS_BLOCKED ? 64 : f->m;
    double product = 1, mean = 0;
    *set = 0;
    for (uint64_t r = 0; r < rows; r++) {
        uint64_t here = 0;
        for (uint64_t i = 0; i < row; i++) here += tamis_cell(t, r * row + i);
        *set += here;
        product *= (double)here / (double)row;
        if (f->kind == TAMIS_BLOCKED && r % 8 == 7) {
            mean += product / ((double)f->m / 512);
            product = 1;
        }
    }
    if (f->kind == TAMIS_BLOOM) return pow(product, f->k);
    return f->kind == TAMIS_PARTITIONED ? product : mean;
}

static void check_facts(const tamis *t, const tamis_plan *plan, double distinct)
{
    const tamis_facts f = facts_of(t);
    uint64_t set;
    const double rate = rate_from_cells(t, &f, &set);
    const double cells = (double)f.m * (f.kind == TAMIS_PARTITIONED ? f.k : 1);
    CHECK(f.kind == plan->kind && f.m == plan->m && f.k == plan->k && f.seed == plan->seed);
    CHECK(f.format == 1 && !f.may_miss && f.bytes == plan->bytes && f.bytes == tamis_image_size(t));
    CHECK(f.planned_items == plan->items && f.fpr_planned == plan->fpr);
    CHECK(!f.read_only && !f.sealed && !f.keyed && !f.strict && !f.items_estimated);
    CHECK(f.overfull == (f.items > f.planned_items));
    CHECK((double)f.items <= distinct);
    CHECK(plausible(distinct, f.items_low, f.items_estimate, f.items_high));
    CHECK_THAT(f.fill, ==, (double)set / cells);
    CHECK_THAT(fabs(f.fpr_now - rate), <=, 1e-9 * rate);
    CHECK(f.fpr_now_low == f.fpr_now && f.fpr_now_high == f.fpr_now);
    const bool empty = f.items == 0;
    const double items = (double)(empty ? f.planned_items : f.items);
    CHECK_THAT(f.bits_per_item, ==, 8 * (double)f.bytes / items);
    const double now = empty ? f.fpr_planned : f.fpr_now, more = now <= 0.1 ? 1 / log(2) : 0;
    CHECK_THAT(f.bound, ==, now <= 0.1 ? TAMIS_BOUND_DYNAMIC : TAMIS_BOUND_STATIC);
    CHECK_THAT(fabs(f.bound_bits + log2(now) - more), <=, 1e-9);
    CHECK_THAT(f.bound_ratio, ==, f.bits_per_item / f.bound_bits);
}

static void test_facts(void)
{
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis_plan plan = plan_of(kind, 500);
        plan.seed = 9;
        CHECK_OK(tamis_solve(&plan, NULL, NULL));
        tamis *t = create(&plan, NULL);
        CHECK(facts_of(t).items == 0 && facts_of(t).fill == 0 && facts_of(t).fpr_now == 0);
        uint32_t i = 0;
        for (const uint32_t step = (uint32_t)plan.items / 4 + 1; i < 2 * plan.items;) {
            check_facts(t, &plan, i);
            for (uint32_t end = i + step; i < end; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
        }
        CHECK(facts_of(t).overfull);
        check_facts(t, &plan, i);
        tamis_facts wrong = {.struct_size = sizeof wrong - 1};
        CHECK_THAT(tamis_info(t, &wrong), ==, TAMIS_EINVAL);
        CHECK_THAT(tamis_info(t, NULL), ==, TAMIS_EINVAL);
        tamis_close(t);
    }
}

/* Every bit set: the estimate is a number, the interval is honest, the rate is one. */
static void test_facts_of_a_full_filter(void)
{
    for (uint32_t kind = 1; kind <= 3; kind++) {
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = kind,
                                 .items = 1,
                                 .m = kind == TAMIS_BLOCKED ? 512 : 5};
        tamis *t = create(&plan, NULL);
        for (uint32_t i = 0; i < 5000; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
        const tamis_facts f = facts_of(t);
        CHECK(f.fill == 1 && f.fpr_now == 1 && f.overfull);
        CHECK(isfinite(f.items_estimate) && isinf(f.items_high) && f.items_low <= f.items_estimate);
        tamis_close(t);
    }
}

static void test_cells(void)
{
    make_keys();
    for (uint32_t kind = 1; kind <= 3; kind++) {
        tamis *t = create_kind(kind);
        const tamis_facts f = facts_of(t);
        const uint64_t all = f.m * (kind == TAMIS_PARTITIONED ? f.k : 1);
        for (size_t i = 0; i < MANY; i++) {
            uint64_t cells[64], fewer[64];
            memset(fewer, 0xff, sizeof fewer);
            CHECK_THAT(tamis_cells_of(t, keys[i].p, keys[i].len, cells, 64), ==, f.k);
            CHECK_THAT(tamis_cells_of(t, keys[i].p, keys[i].len, fewer, 2), ==, f.k);
            CHECK_THAT(tamis_cells_of(t, keys[i].p, keys[i].len, NULL, 0), ==, f.k);
            CHECK(memcmp(cells, fewer, 2 * sizeof *cells) == 0 && fewer[2] == UINT64_MAX);
            bool set = true;
            for (uint32_t j = 0; j < f.k; j++) {
                CHECK(cells[j] < all);
                CHECK(kind != TAMIS_PARTITIONED || cells[j] / f.m == j);
                CHECK(kind != TAMIS_BLOCKED || cells[j] / 512 == cells[0] / 512);
                set &= tamis_cell(t, cells[j]) == 1;
            }
            CHECK(set == tamis_may_contain(t, keys[i].p, keys[i].len));
            CHECK_OK(tamis_add(t, keys[i].p, keys[i].len, NULL));
            for (uint32_t j = 0; j < f.k; j++) CHECK_THAT(tamis_cell(t, cells[j]), ==, 1);
        }
        CHECK_THAT(tamis_cell(t, all), ==, 0);
        CHECK_THAT(tamis_cell(t, UINT64_MAX), ==, 0);
        tamis_close(t);
    }
}

/* --- Arguments that make no sense ------------------------------------------------------------- */

static tamis *const nonsense = (tamis *)(uintptr_t)8;

static void check_create_refused(const tamis_plan *plan, const tamis_options *o)
{
    tamis *t = nonsense;
    tamis_error why;
    memset(&why, 0, sizeof why);
    CHECK_THAT(tamis_create(plan, o, &t, &why), ==, TAMIS_EINVAL);
    CHECK(t == NULL && why.status == TAMIS_EINVAL && why.os == 0);
    CHECK(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
    t = nonsense;
    CHECK_THAT(tamis_create(plan, o, &t, NULL), ==, TAMIS_EINVAL);
    CHECK(t == NULL);
}

static void test_create_refuses(void)
{
    const tamis_plan good = plan_of(TAMIS_BLOOM, 100);
    tamis_options o = {.struct_size = sizeof o};
    tamis_plan p = good;
    check_create_refused(NULL, NULL);
    p.struct_size = 0;
    check_create_refused(&p, NULL);
    p = good, p.struct_size--;
    check_create_refused(&p, NULL);
    p = good, p.kind = 999;
    check_create_refused(&p, NULL);
    p = good, p.flags = 4;
    check_create_refused(&p, NULL);
    p = good, p.fpr = 0;
    check_create_refused(&p, NULL);
    p = good, p.fpr = NAN;
    check_create_refused(&p, NULL);
    o.struct_size = 0;
    check_create_refused(&good, &o);
    o.struct_size = sizeof o;
    for (uint32_t flag = 1; flag != 0; flag <<= 1) { /* only one of them is for create */
        o.flags = flag;
        if (flag != TAMIS_SHARED) check_create_refused(&good, &o);
    }
    o.flags = 0, o.key = secret;
    p = good, p.seed = 1;
    check_create_refused(&p, &o);
    p = good, p.flags = TAMIS_HASH_CALLER;
    check_create_refused(&p, &o);
    p.seed = 1;
    check_create_refused(&p, NULL);
}

static void check_read_refused(const void *p, size_t n, const tamis_options *o,
                               tamis_status expected)
{
    for (int in_place = 0; in_place < 2; in_place++) {
        tamis *t = nonsense;
        tamis_error why;
        memset(&why, 0, sizeof why);
        const tamis_status s =
            in_place ? tamis_view(p, n, o, &t, &why) : tamis_load(p, n, o, &t, &why);
        CHECK_THAT(s, ==, expected);
        CHECK(t == NULL && why.status == expected && why.text[0] != '\0');
    }
}

static void test_load_refuses(void)
{
    tamis *t = create_kind(TAMIS_BLOOM);
    struct bytes image = image_of(t);
    tamis_options o = {.struct_size = sizeof o - 1};
    check_read_refused(image.p, image.n, &o, TAMIS_EINVAL);
    o.struct_size++;
    for (uint32_t flag = 1; flag != 0; flag <<= 1) {
        o.flags = flag;
        if (flag != TAMIS_UNVERIFIED && flag != TAMIS_KEYLESS && flag != TAMIS_SHARED &&
            flag != TAMIS_STEADY)
            check_read_refused(image.p, image.n, &o, TAMIS_EINVAL);
    }
    check_read_refused(NULL, 100, NULL, TAMIS_EINVAL);
    check_read_refused(image.p, 0, NULL, TAMIS_ECORRUPT);
    check_read_refused(image.p, 1, NULL, TAMIS_ECORRUPT);
    tamis *u = nonsense;
    CHECK_THAT(tamis_load(NULL, 0, NULL, &u, NULL), ==, TAMIS_ECORRUPT);
    CHECK(u == NULL);
    memset(image.p, 'x', image.n);
    check_read_refused(image.p, image.n, NULL, TAMIS_ECORRUPT);
    free(image.p);
    tamis_close(t);
}

static void test_open_refuses(void)
{
    tamis *t = nonsense;
    tamis_error why;
    CHECK_THAT(tamis_open("/no such directory/x.tamis", NULL, &t, &why), ==, TAMIS_EIO);
    CHECK(t == NULL && why.os == ENOENT && why.text[0] != '\0');
    t = nonsense;
    CHECK_THAT(tamis_open("/", NULL, &t, &why), ==, TAMIS_EIO);
    CHECK(t == NULL && why.os == EISDIR && why.text[0] != '\0');
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_MAP | TAMIS_UPDATE};
    t = nonsense;
    CHECK_THAT(tamis_open("/", &o, &t, &why), ==, TAMIS_EINVAL);
    CHECK(t == NULL && why.os == 0 && why.text[0] != '\0');
}

static void test_compare_refuses(void)
{
    tamis *a = create_kind(TAMIS_BLOOM), *b = create_kind(TAMIS_BLOOM);
    tamis_similarity s = {.struct_size = sizeof s - 1};
    tamis_error why;
    CHECK_THAT(tamis_compare(a, b, &s, &why), ==, TAMIS_EINVAL);
    CHECK(why.text[0] != '\0');
    CHECK_THAT(tamis_compare(a, b, NULL, NULL), ==, TAMIS_EINVAL);
    tamis_close(a), tamis_close(b);
}

/* --- What a call needs --- */

static void check_refused(tamis_status s, tamis_error *why)
{
    CHECK_THAT(s, ==, TAMIS_EINVAL);
    CHECK_THAT(why->status, ==, TAMIS_EINVAL);
    CHECK(why->os == 0 && why->text[0] != '\0');
    memset(why, 0, sizeof *why);
}

/* Every call that makes something refuses a NULL for the result. */
static void test_no_place(void)
{
    const tamis_plan plan = plan_of(TAMIS_BLOOM, 100);
    const tamis_foreign_plan other = {
        .struct_size = sizeof other, .format = TAMIS_FOREIGN_DCSO, .items = 100, .fpr = 0.01};
    const tamis_reader reader = {.size = 0};
    tamis *t = create_kind(TAMIS_BLOOM);
    struct bytes image = image_of(t);
    tamis_error why = {.os = 0};
    check_refused(tamis_create(&plan, NULL, NULL, &why), &why);
    check_refused(tamis_open("/", NULL, NULL, &why), &why);
    check_refused(tamis_load(image.p, image.n, NULL, NULL, &why), &why);
    check_refused(tamis_view(image.p, image.n, NULL, NULL, &why), &why);
    check_refused(tamis_copy(t, NULL, &why), &why);
    check_refused(tamis_convert(t, TAMIS_BLOOM, NULL, &why), &why);
    check_refused(tamis_unpack(image.p, image.n, NULL, NULL, &why), &why);
    check_refused(tamis_release(t, 1, NULL, &why), &why);
    check_refused(tamis_foreign_open(image.p, image.n, TAMIS_FOREIGN_AUTO, NULL, NULL, &why), &why);
    check_refused(tamis_foreign_create(&other, NULL, NULL, &why), &why);
    check_refused(tamis_parquet_open(&reader, NULL, NULL, &why), &why);
    CHECK_THAT(tamis_create(&plan, NULL, NULL, NULL), ==, TAMIS_EINVAL); /* and no place for why */
    free(image.p);
    tamis_close(t);
}

static void test_no_path(void)
{
    const tamis_foreign_plan plan = {
        .struct_size = sizeof plan, .format = TAMIS_FOREIGN_DCSO, .items = 100, .fpr = 0.01};
    tamis *t = create_kind(TAMIS_BLOOM), *out = t;
    tamis_foreign *f;
    tamis_error why = {.os = 0};
    for (uint32_t flags = 0; flags <= TAMIS_UPDATE; flags += TAMIS_UPDATE) {
        const tamis_options o = {.struct_size = sizeof o, .flags = flags};
        check_refused(tamis_open(NULL, &o, &out, &why), &why);
        CHECK(out == NULL);
    }
    check_refused(tamis_save(t, NULL, NULL, &why), &why);
    check_refused(tamis_save(t, NULL, SAVING(TAMIS_SAVE_NEW), &why), &why);
    check_refused(tamis_save(t, NULL, SAVING(TAMIS_SAVE_PACKED), &why), &why);
    CHECK_OK(tamis_foreign_create(&plan, NULL, &f, NULL));
    check_refused(tamis_foreign_save(f, TAMIS_FOREIGN_AUTO, NULL, NULL, &why), &why);
    check_refused(tamis_create(NULL, NULL, &out, &why), &why);
    check_refused(tamis_solve(NULL, NULL, &why), &why);
    tamis_foreign_close(f);
    tamis_close(t);
}

/* Which kinds can be merged and compared is said in tamis.h; a refusal names what can, in good
 * English. */
static void test_kinds_that_merge(void)
{
    for (uint32_t kind = 1; kind < 64; kind++) {
        if (tamis_kind_name(kind) == NULL || kind == TAMIS_PRIVATE) continue;
        const bool compares = kind <= TAMIS_COUNTING || kind == TAMIS_DISTINCT;
        const bool merges = compares || kind == TAMIS_WINDOW || kind >= TAMIS_COUNT_MIN;
        tamis_plan plan = plan_of(kind, 1000);
        if (kind >= TAMIS_COUNT_MIN)
            plan = (tamis_plan){.struct_size = sizeof plan, .kind = kind, .bytes = 1 << 16};
        tamis *a = create(&plan, NULL), *b = create(&plan, NULL), *c;
        tamis_similarity s = {.struct_size = sizeof s};
        tamis_error why = {.text = ""};
        CHECK_THAT(tamis_merge(a, b, &why), ==, merges ? TAMIS_OK : TAMIS_EUNSUPPORTED);
        CHECK(merges || why.better_kind != 0);
        CHECK_THAT(tamis_compare(a, b, &s, &why), ==, compares ? TAMIS_OK : TAMIS_EUNSUPPORTED);
        CHECK(compares || why.better_kind != 0);
        CHECK_THAT(tamis_convert(a, kind, &c, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK(c == NULL && strstr(why.text, "already") != NULL);
        tamis_estimate e;
        size_t found;
        tamis_rotate(a, &why);
        CHECK(strstr(why.text, "a exact") == NULL);
        tamis_above(a, 1, NULL, 0, &found, &why);
        CHECK(strstr(why.text, "a exact") == NULL);
        tamis_count(a, "a", 1, &e, &why);
        CHECK(strstr(why.text, "a exact") == NULL);
        tamis_add_weight(a, "a", 1, 1, &why);
        CHECK(strstr(why.text, "a exact") == NULL);
        tamis_close(a), tamis_close(b);
    }
}

/* Where the limit is reached within a batch of them, it is as if they came one by one. */
static void test_static_kinds_stop_at_the_limit(void)
{
    const uint32_t kinds[] = {TAMIS_FUSE, TAMIS_RIBBON, TAMIS_EXACT};
    for (size_t i = 0; i < 3; i++) {
        tamis_plan p = plan_of(kinds[i], 50);
        if (kinds[i] == TAMIS_EXACT) p.excluded = 10;
        const tamis_options o = {.struct_size = sizeof o, .max_bytes = 2000};
        tamis *one, *all;
        uint64_t number[200];
        tamis_bytes key[200];
        uint8_t seen[25];
        size_t n = 0, done = 0;
        CHECK_OK(tamis_create(&p, &o, &one, NULL));
        CHECK_OK(tamis_create(&p, &o, &all, NULL));
        for (size_t j = 0; j < 200; j++) {
            number[j] = j;
            key[j] = (tamis_bytes){&number[j], sizeof number[j]};
        }
        memset(seen, 0xaa, sizeof seen);
        while (n < 200 && tamis_add(one, &number[n], sizeof number[n], NULL) == TAMIS_OK) n++;
        CHECK(n > 50 && n < 200);
        CHECK_THAT(tamis_add_many(all, key, 200, seen, &done), ==, TAMIS_EFULL);
        CHECK_THAT(done, ==, n);
        CHECK(same_image(one, all));
        CHECK(seen[0] == 0xfe && seen[n / 8] == (1u << n % 8) - 1); /* all except the first */
        CHECK_OK(tamis_seal(all, NULL)); /* whatever it takes: the limit is for the collection */
        for (size_t j = 0; j < n; j++) CHECK(tamis_may_contain(all, &number[j], sizeof number[j]));
        tamis_close(one);
        tamis_close(all);
    }
}

/* What is not a failure leaves no reason, and what was strict stays so. */
static void test_small_promises(void)
{
    tamis_plan p = {.struct_size = sizeof p, .items = 1000, .m = 1000};
    tamis_error why = {.text = "untouched"};
    CHECK_OK(tamis_solve(&p, NULL, &why));
    CHECK(p.kind == TAMIS_BLOOM && strcmp(why.text, "untouched") == 0);

    tamis_plan strict = plan_of(TAMIS_COUNTING, 10);
    strict.flags = TAMIS_STRICT;
    tamis *t = create(&strict, NULL), *plain;
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_convert(t, TAMIS_BLOOM, &plain, NULL));
    CHECK(facts_of(plain).strict && !facts_of(plain).sealed);
    tamis_close(t);
    tamis_close(plain);

    /* Only these kinds have cells that decide about a key. */
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_DISTINCT; kind++) {
        if (tamis_kind_name(kind) == NULL || kind == TAMIS_PRIVATE) continue;
        tamis_plan k = plan_of(kind, 100);
        if (kind >= TAMIS_COUNT_MIN)
            k = (tamis_plan){.struct_size = sizeof k, .kind = kind, .bytes = 1 << 16};
        if (kind == TAMIS_EXACT) k.excluded = 10;
        t = create(&k, NULL);
        CHECK_OK(kind == TAMIS_VALUE_MAP ? tamis_add_value(t, "key", 3, 5, NULL)
                                         : tamis_add(t, "key", 3, NULL));
        const bool before = tamis_cells_of(t, "key", 3, NULL, 0) > 0;
        CHECK_OK(tamis_seal(t, NULL));
        CHECK(before ==
              ((kind <= TAMIS_COUNTING) || kind == TAMIS_CUCKOO || kind == TAMIS_COUNT_MIN));
        CHECK((tamis_cells_of(t, "key", 3, NULL, 0) > 0) == (before || kind == TAMIS_FUSE));
        tamis_close(t);
    }
}

static const struct test tests[] = {
    {"merge is union", test_merge_is_union},
    {"merge mismatches", test_merge_mismatches},
    {"merge into itself", test_merge_into_itself},
    {"compare", test_compare},
    {"facts", test_facts},
    {"facts of a full filter", test_facts_of_a_full_filter},
    {"cells", test_cells},
    {"create refuses", test_create_refuses},
    {"load refuses", test_load_refuses},
    {"open refuses", test_open_refuses},
    {"compare refuses", test_compare_refuses},
    {"no place", test_no_place},
    {"no path", test_no_path},
    {"kinds that merge", test_kinds_that_merge},
    {"static kinds stop at the limit", test_static_kinds_stop_at_the_limit},
    {"small promises", test_small_promises},
};

TEST_MAIN(tests)
