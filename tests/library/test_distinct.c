/* The kind `distinct`: small sets are counted exactly, and large ones within the promised error.
 * Neither order nor repetition of keys, nor the way in which sketches are merged, changes a
 * byte. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "../support/tracking.h"
#include "core/handle.h"
#include "distinct/likelihood.h"

#include <math.h>
#include <pthread.h>
#include <tamis/distinct.h>
#include <tamis/hashes.h>
#include <tamis/inspect.h>

enum { MANY = 1000 };

/* --- Sketches and keys ------------------------------------------------------------------------ */

static tamis *make_with(uint64_t registers, uint64_t seed, const tamis_options *o)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_DISTINCT, .m = registers, .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&plan, o, &t, NULL));
    return t;
}

static tamis *make(uint64_t registers)
{
    return make_with(registers, 0, NULL);
}

static tamis_facts facts_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    return f;
}

/* The integers from `from` to below `to`. */
static void add_numbers(tamis *t, uint64_t from, uint64_t to)
{
    static uint8_t text[MANY][8];
    static tamis_bytes keys[MANY];
    for (uint64_t at = from; at < to; at += MANY) {
        const size_t n = to - at < MANY ? (size_t)(to - at) : MANY;
        for (size_t i = 0; i < n; i++) {
            tamis__put64(text[i], at + i);
            keys[i] = (tamis_bytes){text[i], 8};
        }
        CHECK_OK(tamis_add_many(t, keys, n, NULL, NULL));
    }
}

static bool same_image(const tamis *a, const tamis *b)
{
    const struct bytes x = image_of(a), y = image_of(b);
    const bool same = x.p != NULL && bytes_equal(x, y);
    free(x.p);
    free(y.p);
    return same;
}

/* --- Planning --------------------------------------------------------------------------------- */

static void test_plans(void)
{
    static const struct {
        double error;
        uint64_t bytes, m;
    } plans[] = {{0.3, 0, 16},       {0.086, 0, 32},
                 {0.01, 0, 2048},    {0.0054, 0, 4096},
                 {0, 16640, 4096},   {0, 33023, 4096},
                 {0, 33024, 8192},   {0, 384, 32},
                 {0.01, 9000, 2048}, {0.0000421, 0, UINT64_C(1) << 26}};
    for (size_t i = 0; i < sizeof plans / sizeof *plans; i++) {
        tamis_plan p = {.struct_size = sizeof p,
                        .kind = TAMIS_DISTINCT,
                        .error = plans[i].error,
                        .bytes = plans[i].bytes};
        tamis_promise r = {.struct_size = sizeof r};
        CHECK_OK(tamis_solve(&p, &r, NULL));
        CHECK_THAT(p.m, ==, plans[i].m);
        CHECK_THAT(fabs(p.error * sqrt((double)p.m * 8.4291) - 1), <, 1e-9);
        CHECK(plans[i].error == 0 || p.error <= plans[i].error);
        CHECK(plans[i].bytes == 0 || p.bytes <= plans[i].bytes);
        CHECK_THAT(r.bytes, ==, p.bytes);
        const tamis_plan solved = p;
        CHECK_OK(tamis_solve(&p, &r, NULL));
        CHECK(p.m == solved.m && p.error == solved.error && p.bytes == solved.bytes);
    }
}

/* The numbers of one row of a table, without commas and percent signs. Returns how many. */
static size_t read_row(const char *text, const char *name, double *out, size_t most)
{
    const char *at = strstr(text, name);
    size_t n = 0;
    CHECK(at != NULL);
    for (at += strlen(name); *at != '\n' && *at != '\0';) {
        double v = 0, unit = 0;
        if (*at < '0' || *at > '9') {
            at++;
            continue;
        }
        for (; (*at >= '0' && *at <= '9') || *at == ',' || *at == '.'; at++) {
            if (*at == '.') unit = 1;
            if (*at < '0' || *at > '9') continue;
            unit /= 10;
            v = unit != 0 ? v + unit * (*at - '0') : 10 * v + (*at - '0');
        }
        CHECK(n < most);
        out[n++] = v;
    }
    return n;
}

/* The table in <tamis/distinct.h> has the sizes of images and their errors, rounded to two
 * digits. */
static void test_table_of_the_header(void)
{
    char path[4096], text[8192];
    double bytes[16], errors[16];
    const char *source = getenv("TAMIS_SOURCE");
    snprintf(path, sizeof path, "%s/include/tamis/distinct.h", source != NULL ? source : ".");
    FILE *f = fopen(path, "r");
    CHECK(f != NULL);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    const size_t n = read_row(text, " *     bytes", bytes, 16);
    CHECK_THAT(n, ==, 7);
    CHECK_THAT(read_row(text, " *     error", errors, 16), ==, n);
    for (size_t i = 0; i < n; i++) {
        tamis_plan p = {
            .struct_size = sizeof p, .kind = TAMIS_DISTINCT, .bytes = (uint64_t)bytes[i]};
        CHECK_OK(tamis_solve(&p, NULL, NULL));
        CHECK_THAT(p.bytes, ==, (uint64_t)bytes[i]);
        CHECK_THAT(fabs(100 * p.error / errors[i] - 1), <, 0.03);
        p.bytes--, p.m = 0, p.error = 0, p.k = 0;
        CHECK(tamis_solve(&p, NULL, NULL) != TAMIS_OK || p.error > errors[i] / 100 * 1.2);
    }
}

static void test_bad_plans(void)
{
    static const tamis_plan bad[] = {
        {.error = 0},
        {.error = -0.01},
        {.error = 0.31},
        {.error = NAN},
        {.error = INFINITY},
        {.error = 1e-6},
        {.error = 0.01, .delta = 0.01},
        {.error = 0.01, .bytes = 4000},
        {.bytes = 200},
        {.m = 24},
        {.m = 8},
        {.m = UINT64_C(1) << 27},
        {.m = 16, .error = 0.01},
        {.m = 64, .k = 2},
        {.m = 64, .items = 100},
        {.m = 64, .fpr = 0.01},
        {.m = 64, .cell_bits = 32},
        {.m = 64, .flags = TAMIS_STRICT},
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_plan p = bad[i];
        tamis_error why;
        p.struct_size = sizeof p;
        p.kind = TAMIS_DISTINCT;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
        CHECK(why.text[0] != 0 && (i > 0 || strstr(why.text, "requires an error above 0") != NULL));
    }
}

/* --- Small sets ------------------------------------------------------------------------------- */

/* Exact until there are too many tokens; the first register comes right after that. */
static void test_small_sets_are_exact(void)
{
    for (uint64_t m = 16; m <= 65536; m *= 4) {
        const uint64_t most = m / 2 < 2048 ? m / 2 : 2048;
        tamis *t = make(m);
        for (uint64_t n = 0; n <= most; n++) {
            const tamis_facts f = facts_of(t);
            CHECK_THAT(f.items_estimate, ==, n);
            CHECK(f.items_low == (double)n && f.items_high == (double)n && f.items == n);
            CHECK(!f.items_estimated);
            CHECK_THAT(f.bytes, ==, 256 + 8 * (n != 0 ? n : 1));
            add_numbers(t, n, n + 1);
            add_numbers(t, n / 2, n + 1); /* again */
        }
        const tamis_facts f = facts_of(t);
        CHECK_THAT(f.bytes, ==, tamis_image_size(t));
        CHECK_THAT(f.bytes, >=, 256 + 4 * m);
        CHECK_THAT(f.items_low, <=, most + 1);
        CHECK_THAT(f.items_high, >=, most + 1);
        tamis_close(t);
    }
}

/* Registers alone, from the first key on: none and one are exact. */
static void test_registers_none_and_one(void)
{
    for (unsigned log = 4; log <= 16; log += 4) {
        for (uint64_t key = 0; key < 100; key++) {
            const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED};
            tamis *t = make_with(UINT64_C(1) << log, key, &o);
            CHECK_THAT(facts_of(t).items_estimate, ==, 0);
            CHECK_THAT(facts_of(t).items_high, ==, 0);
            CHECK_OK(tamis_add(t, &key, 8, NULL));
            CHECK_THAT(facts_of(t).items, ==, 1);
            tamis_close(t);
        }
    }
}

/* --- Order, repetition, union ----------------------------------------------------------------- */

static void test_order_does_not_matter(void)
{
    static const uint64_t sizes[] = {0, 1, 7, 100, 511, 512, 513, 2000, 30000};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        const uint64_t n = sizes[i];
        tamis *a = make(1024), *b = make(1024);
        add_numbers(a, 0, n);
        for (uint64_t k = n; k-- > 0;)
            CHECK_OK(tamis_add(b, &(uint64_t){TAMIS__LITTLE64(k)}, 8, NULL));
        add_numbers(b, n / 3, n);
        CHECK(same_image(a, b));
        tamis_close(a);
        tamis_close(b);
    }
}

/* A merge of any two precisions gives what adding everything to the lower one gives. */
static void test_merge_is_union(void)
{
    static const uint64_t sizes[] = {0, 1, 20, 31, 32, 33, 100, 500, 600, 5000, 40000};
    static const uint64_t registers[] = {64, 1024, 4096};
    const size_t n = sizeof sizes / sizeof *sizes;
    for (size_t i = 0; i < 9 * n * n; i++) {
        const uint64_t ma = registers[i % 3], mb = registers[i / 3 % 3];
        const uint64_t na = sizes[i / 9 % n], nb = sizes[i / 9 / n];
        tamis *a = make(ma), *b = make(mb), *all = make(ma < mb ? ma : mb);
        add_numbers(a, 0, na);
        add_numbers(b, na / 2, na / 2 + nb);
        add_numbers(all, 0, na);
        add_numbers(all, na / 2, na / 2 + nb);
        const struct bytes before = image_of(b);
        CHECK_OK(tamis_merge(a, b, NULL));
        CHECK(same_image(a, all));
        const struct bytes after = image_of(b);
        CHECK(bytes_equal(before, after));
        free(before.p);
        free(after.p);
        tamis_close(a);
        tamis_close(b);
        tamis_close(all);
    }
}

static void test_merge_refuses(void)
{
    tamis *a = make(64), *seeded = make_with(64, 1, NULL);
    const uint8_t secret[16] = {1};
    const tamis_options o = {.struct_size = sizeof o, .key = secret};
    tamis *keyed = make_with(64, 0, &o);
    tamis_error why;
    add_numbers(a, 0, 100);
    const struct bytes before = image_of(a);
    CHECK_THAT(tamis_merge(a, seeded, &why), ==, TAMIS_EMISMATCH);
    CHECK_THAT(tamis_merge(a, keyed, &why), ==, TAMIS_EMISMATCH);
    CHECK_THAT(tamis_merge(a, a, &why), ==, TAMIS_EINVAL);
    const struct bytes after = image_of(a);
    CHECK(bytes_equal(before, after));
    free(before.p);
    free(after.p);
    tamis_close(a);
    tamis_close(seeded);
    tamis_close(keyed);
}

/* An add that changes nothing leaves the handle unchanged; one of a new key is never "seen" while
 * the count is exact, and a "no" is always right. */
static void test_seen_and_queries(void)
{
    tamis *t = make(256);
    for (uint64_t i = 0; i < 20000; i++) {
        bool seen = true;
        const bool maybe = tamis_may_contain(t, &i, 8);
        const struct bytes before = i % 500 == 0 ? image_of(t) : (struct bytes){NULL, 0};
        CHECK_OK(tamis_add(t, &i, 8, &seen));
        CHECK_THAT(seen, ==, maybe);
        CHECK(i >= 128 || !seen);
        CHECK(tamis_may_contain(t, &i, 8));
        CHECK_OK(tamis_add(t, &i, 8, &seen));
        CHECK(seen);
        if (before.p != NULL) {
            const struct bytes after = image_of(t);
            CHECK_THAT(bytes_equal(before, after), ==, maybe);
            free(after.p);
            free(before.p);
        }
    }
    for (uint64_t i = 0; i < 20000; i++) CHECK(tamis_may_contain(t, &i, 8));
    tamis_close(t);
}

/* --- Errors ----------------------------------------------------------------------------------- */

/* Runs of 64 registers: the root mean square error is within 1.2 times the promise. It has a
 * standard deviation of 1.6 % with 2,000 runs, so a false alarm has a probability below 1e-12. The
 * bias is below a tenth of the error: 5 deviations above what is expected. The interval misses
 * 1 %: more than 60 of 2,000 has a probability of 4e-12. */
static void test_error_is_promised(void)
{
    enum { RUNS = 2000 };
    static const uint64_t sizes[] = {33, 100, 1000, 10000, 100000};
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        double squares = 0, sum = 0;
        unsigned missed = 0;
        const double promised = 1 / sqrt(64 * 8.4291);
        for (unsigned run = 0; run < RUNS; run++) {
            tamis *t = make(64);
            uint64_t state = run * UINT64_C(1000003) + s;
            tamis_hash room[MANY];
            for (uint64_t done = 0; done < sizes[s];) {
                const size_t n = sizes[s] - done < MANY ? (size_t)(sizes[s] - done) : MANY;
                for (size_t i = 0; i < n; i++)
                    room[i] = (tamis_hash){splitmix(&state), splitmix(&state)};
                CHECK_OK(tamis_add_hashes(t, room, n, NULL, NULL));
                done += n;
            }
            const tamis_facts f = facts_of(t);
            const double n = (double)sizes[s], off = f.items_estimate / n - 1;
            squares += off * off;
            sum += off;
            missed += f.items_low > n || f.items_high < n;
            tamis_close(t);
        }
        CHECK_THAT(sqrt(squares / RUNS), <, 1.2 * promised);
        CHECK_THAT(fabs(sum / RUNS), <, 0.1 * promised + 0.01 * promised);
        CHECK_THAT(missed, <=, 60);
    }
}

/* One sketch of 4,096 registers, against the exact number, from the limit of tokens to a million.
 * Every key is added twice. 6.2 standard errors are exceeded with a probability of 6e-10. */
static void test_against_exact(void)
{
    static const uint64_t sizes[] = {1,    2,    999,   1000,  2047,   2048,
                                     2049, 2050, 10000, 50000, 100000, 1000000};
    tamis *t = make(4096);
    uint64_t n = 0;
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        add_numbers(t, n, sizes[i]);
        add_numbers(t, n / 2, sizes[i]);
        n = sizes[i];
        const tamis_facts f = facts_of(t);
        CHECK_THAT(f.items_estimated, ==, n > 2048);
        CHECK(n > 2048 || f.items == n);
        CHECK_THAT(fabs(f.items_estimate / (double)n - 1), <, 6.2 * 0.00539);
    }
    tamis_close(t);
}

/* A state as after n keys, where n is too large to add them: each value of each register has been
 * received with the probability 1 - exp(-n r / m). */
static void simulate(struct evidence *e, unsigned log, double n, uint64_t *random)
{
    memset(e, 0, sizeof *e);
    for (uint64_t i = 0; i >> log == 0; i++) {
        uint32_t r = 0;
        for (unsigned v = 1; v <= TAMIS__MOST_VALUE; v++) {
            const int exponent = tamis__level_exponent((v - 1) / TAMIS__VALUES_PER_LEVEL);
            const double received = -expm1(-ldexp(n, -exponent - (int)log));
            if (ldexp((double)(splitmix(random) >> 11), -53) < received)
                r = tamis__register_with(r, v);
        }
        tamis__evidence_add(e, r);
    }
    tamis__evidence_close(e);
}

static void test_up_to_1e18(void)
{
    enum { LOG = 8, RUNS = 400 };
    const double promised = 1 / sqrt(256 * 8.4291);
    static struct evidence e;
    uint64_t random = 7;
    for (double n = 1e6; n <= 1.1e18; n *= 1000) {
        double squares = 0;
        for (unsigned run = 0; run < RUNS; run++) {
            simulate(&e, LOG, n, &random);
            const double off = tamis__most_likely(&e, 2.58).value / n - 1;
            squares += off * off;
        }
        CHECK_THAT(sqrt(squares / RUNS), <, 1.3 * promised); /* 8.5 standard deviations */
        CHECK_THAT(sqrt(squares / RUNS), >, 0.7 * promised);
    }
}

/* --- tamis_distinct and tamis_compare --------------------------------------------------------- */

static tamis_cardinality distinct_of(const tamis *t)
{
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    CHECK_OK(tamis_distinct(t, &n, NULL));
    return n;
}

static void test_cardinality(void)
{
    tamis *t = make(1024);
    tamis_cardinality n = distinct_of(t);
    CHECK(n.value == 0 && n.low == 0 && n.high == 0 && n.error == 0 && n.exact);
    add_numbers(t, 0, 512);
    n = distinct_of(t);
    CHECK(n.value == 512 && n.low == 512 && n.high == 512 && n.error == 0 && n.exact);
    add_numbers(t, 0, 50000);
    n = distinct_of(t);
    CHECK(n.low <= 50000 && n.high >= 50000 && n.low < n.value && n.value < n.high && !n.exact);
    CHECK_THAT(fabs(n.error - 0.01076), <, 0.00001);
    const tamis_facts f = facts_of(t);
    tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_DISTINCT, .m = 1024};
    CHECK_OK(tamis_solve(&p, NULL, NULL));
    CHECK(n.error == p.error && f.error == p.error);
    CHECK(f.items_estimate == n.value && f.items_estimated);
    tamis_close(t);

    static const struct {
        uint32_t kind;
        tamis_status status;
    } kinds[] = {{TAMIS_BLOOM, TAMIS_OK},          {TAMIS_PARTITIONED, TAMIS_OK},
                 {TAMIS_BLOCKED, TAMIS_OK},        {TAMIS_COUNTING, TAMIS_OK},
                 {TAMIS_GROWING, TAMIS_OK},        {TAMIS_CUCKOO, TAMIS_EUNSUPPORTED},
                 {TAMIS_PAIR, TAMIS_EUNSUPPORTED}, {TAMIS_FUSE, TAMIS_EUNSUPPORTED}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const tamis_plan plan = {
            .struct_size = sizeof plan, .kind = kinds[i].kind, .items = 5000, .fpr = 0.01};
        tamis_error why;
        CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
        add_numbers(t, 0, 5000);
        n.value = -1;
        CHECK_THAT(tamis_distinct(t, &n, &why), ==, kinds[i].status);
        if (kinds[i].status == TAMIS_OK)
            CHECK(n.low <= 5000 && n.high >= 5000 && n.high < 5500);
        else
            CHECK(n.value == -1 && why.better_kind == TAMIS_DISTINCT);
        tamis_close(t);
    }
}

/* If every cell is occupied, the true number may be any greater one. */
static void test_full_filters(void)
{
    static const uint32_t kinds[] = {TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED, TAMIS_COUNTING};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const tamis_plan plan = {
            .struct_size = sizeof plan, .kind = kinds[i], .items = 10, .fpr = 0.01};
        tamis *t;
        CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
        add_numbers(t, 0, 5000);
        const tamis_cardinality n = distinct_of(t);
        CHECK(n.value == INFINITY && n.high == INFINITY && n.low > 10 && n.low < 5000 && !n.exact);
        tamis_close(t);
    }
}

/* All five intervals hold, with exact sets, registers, and different precisions. */
static void test_compared(void)
{
    static const struct {
        uint64_t ma, mb, a_to, b_from, b_to;
    } sets[] = {{1024, 1024, 300, 100, 500},       {1024, 1024, 0, 0, 0},
                {1024, 4096, 30000, 10000, 50000}, {4096, 1024, 100000, 100000, 200000},
                {4096, 4096, 400, 0, 90000},       {64, 65536, 1000, 500, 3000}};
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        const uint64_t from = sets[i].b_from, to = sets[i].b_to, a_to = sets[i].a_to;
        tamis *a = make(sets[i].ma), *b = make(sets[i].mb);
        tamis_similarity s = TAMIS_SIMILARITY_INIT;
        add_numbers(a, 0, a_to);
        add_numbers(b, from, to);
        CHECK_OK(tamis_compare(a, b, &s, NULL));
        const double common = a_to > from ? (double)((a_to < to ? a_to : to) - from) : 0;
        const double first = (double)a_to - common, second = (double)(to - from) - common;
        const double all = first + second + common;
        CHECK(s.union_low <= all && all <= s.union_high);
        CHECK(s.common_low <= common && common <= s.common_high);
        CHECK(s.first_only_low <= first && first <= s.first_only_high);
        CHECK(s.second_only_low <= second && second <= s.second_only_high);
        CHECK(all == 0 || (s.jaccard_low <= common / all && common / all <= s.jaccard_high));
        if (i < 2) CHECK(s.common_items == common && s.first_only == first && s.union_items == all);
        tamis_close(a);
        tamis_close(b);
    }
}

/* A union of few registers is no smaller than a set that is known exactly. */
static void test_compared_with_exact(void)
{
    for (uint64_t from = 0; from < 1000000; from += 10000) {
        tamis *few = make(16), *many = make(65536);
        tamis_similarity s = {.struct_size = sizeof s};
        add_numbers(few, from, from + 100);
        add_numbers(many, from, from + 2000);
        CHECK_OK(tamis_compare(few, many, &s, NULL));
        CHECK(s.union_low >= 2000 && s.union_items >= 2000 && s.union_high >= 2000);
        CHECK(s.common_items <= s.union_items && s.common_low <= s.common_high);
        tamis_close(few);
        tamis_close(many);
    }
}

/* --- Images ----------------------------------------------------------------------------------- */

static void test_reopened(void)
{
    static const uint64_t sizes[] = {0, 5, 512, 513, 9999};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        tamis *t = make(1024), *again, *copy;
        add_numbers(t, 0, sizes[i]);
        const struct bytes image = image_of(t);
        CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
        CHECK(facts_of(again).items_estimate == facts_of(t).items_estimate);
        CHECK(!facts_of(again).items_estimated || sizes[i] > 512);
        CHECK_OK(tamis_copy(again, &copy, NULL));
        add_numbers(copy, 0, 30000);
        add_numbers(again, 0, 30000);
        add_numbers(t, 0, 30000);
        CHECK(facts_of(again).items_estimate == facts_of(t).items_estimate);
        CHECK(same_image(again, copy));
        CHECK_OK(tamis_clear(t));
        tamis *empty = make(1024);
        CHECK(same_image(t, empty));
        free(image.p);
        tamis_close(t);
        tamis_close(again);
        tamis_close(copy);
        tamis_close(empty);
    }
}

/* What the sums do not catch: states that no keys lead to. */
static void test_forged(void)
{
    static const struct {
        uint64_t keys; /* 5: tokens, 1000: registers */
        struct field field;
        uint64_t value;
    } forged[] = {
        {5, {128 + 4, 2}, 2},
        {5, {128 + 6, 2}, 32},
        {5, {128 + 8, 4}, 2},
        {5, {128 + 16, 8}, 63},
        {5, {128 + 16, 8}, 8},
        {5, {128 + 24, 8}, 1},
        {5, {56, 8}, 5},
        {5, {256, 1}, 0},
        {5, {256, 1}, 253},
        {5, {256 + 7, 1}, 255},
        {5, {256 + 8, 8}, 0},
        {5, {20, 4}, 2},
        {1000, {128 + 6, 2}, 64},
        {1000, {256, 4}, 1},
        {1000, {256, 4}, 0x01000001},
        {1000, {256, 4}, 0x18000001},
        {1000, {256, 4}, 0xfd000000},
    };
    for (size_t i = 0; i < sizeof forged / sizeof *forged; i++) {
        tamis *t = make(64), *again;
        tamis_error why;
        add_numbers(t, 0, forged[i].keys);
        struct bytes image = image_of(t);
        put_field(image.p, forged[i].field, forged[i].value);
        image_resum(image.p, image.n);
        const tamis_status s = tamis_load(image.p, image.n, NULL, &again, &why);
        CHECK(s == TAMIS_ECORRUPT || s == TAMIS_EVERSION);
        free(image.p);
        tamis_close(t);
    }
}

/* A mapped file may change after it was checked. */
static void test_nonsense_is_harmless(void)
{
    uint64_t random = 1;
    static struct evidence e;
    for (unsigned run = 0; run < 1000; run++) {
        memset(&e, 0, sizeof e);
        for (unsigned i = 0; i < 16; i++) tamis__evidence_add(&e, (uint32_t)splitmix(&random));
        tamis__evidence_close(&e);
        tamis__most_likely(&e, 2.58);
        tamis__unchanged_share(&e);
    }
}

/* --- Limits and threads ----------------------------------------------------------------------- */

static void test_limit(void)
{
    const tamis_options o = {.struct_size = sizeof o, .max_bytes = 1000};
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_DISTINCT, .m = 64};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &o, &t, NULL));
    tamis_limit(t, 400);
    uint64_t key = 0;
    while (tamis_add(t, &key, 8, NULL) == TAMIS_OK) key++;
    CHECK_THAT(key, ==, 18); /* (400 - 256) / 8 */
    CHECK_THAT(tamis_add(t, &key, 8, NULL), ==, TAMIS_EFULL);
    CHECK_THAT(facts_of(t).items, ==, 18);
    tamis_close(t);
}

enum { SHARED_KEYS = 100000 };

static uint8_t told_new[SHARED_KEYS]; /* how many threads learned that the key was new */

static void *add_part(void *ctx)
{
    tamis *t = ctx;
    bool seen;
    for (uint64_t i = 0; i < SHARED_KEYS; i++) {
        if (tamis_add(t, &(uint64_t){TAMIS__LITTLE64(i)}, 8, &seen) != TAMIS_OK) return ctx;
        if (!seen) __atomic_fetch_add(&told_new[i], 1, __ATOMIC_RELAXED);
    }
    return NULL;
}

static void test_shared(void)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED};
    tamis *t = make_with(256, 0, &o), *alone = make(256);
    pthread_t threads[3];
    for (int i = 0; i < 3; i++) CHECK(pthread_create(&threads[i], NULL, add_part, t) == 0);
    for (int i = 0; i < 3; i++) {
        void *failed;
        CHECK(pthread_join(threads[i], &failed) == 0 && failed == NULL);
    }
    add_numbers(alone, 0, SHARED_KEYS);
    CHECK(same_image(t, alone));
    CHECK_THAT(told_new[0], ==, 1);
    for (size_t i = 0; i < SHARED_KEYS; i++) CHECK_THAT(told_new[i], <=, 1);
    tamis_close(t);
    tamis_close(alone);
}

static void test_out_of_memory(void)
{
    size_t failures = 0;
    for (bool failed = true; failed; failures += failed) {
        struct tracker a;
        tracker_init(&a);
        const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
        tamis *t = make_with(64, 0, &o);
        tamis_status s = TAMIS_OK;
        uint64_t key = 0;
        a.fail_at = a.calls + 1 + failures;
        for (; key < 200 && s == TAMIS_OK; key++) s = tamis_add(t, &key, 8, NULL);
        failed = a.failed;
        if (failed) {
            CHECK_THAT(s, ==, TAMIS_ENOMEM);
            CHECK_THAT(facts_of(t).items, ==, --key);
            for (; key < 200; key++) CHECK_OK(tamis_add(t, &key, 8, NULL));
        }
        tamis_close(t);
        CHECK_THAT(a.blocks, ==, 0);
    }
    CHECK_THAT(failures, >=, 3);
}

static const struct test tests[] = {
    {"plans", test_plans},
    {"the table of the header", test_table_of_the_header},
    {"bad plans", test_bad_plans},
    {"small sets are exact", test_small_sets_are_exact},
    {"registers with no key and one", test_registers_none_and_one},
    {"order does not matter", test_order_does_not_matter},
    {"a merge is the union", test_merge_is_union},
    {"merges that are refused", test_merge_refuses},
    {"seen and queries", test_seen_and_queries},
    {"the error is as promised", test_error_is_promised},
    {"against the exact number", test_against_exact},
    {"up to 1e18", test_up_to_1e18},
    {"cardinality", test_cardinality},
    {"full filters", test_full_filters},
    {"compared", test_compared},
    {"compared with an exact set", test_compared_with_exact},
    {"reopened", test_reopened},
    {"forged images", test_forged},
    {"nonsense is harmless", test_nonsense_is_harmless},
    {"the limit of bytes", test_limit},
    {"shared by threads", test_shared},
    {"out of memory", test_out_of_memory},
};
TEST_MAIN(tests)
