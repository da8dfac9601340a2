/* The planner against its contract: whichever two of items, rate and bytes are given, the plan
 * keeps them, wastes nothing, and does not change when it is solved again. Nonsense is refused. */
#include "../support/check.h"

#include <math.h>
#include <stdbool.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const uint32_t KINDS[] = {TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED};
static const uint32_t ASKED_KINDS[] = {TAMIS_AUTO, TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_BLOCKED};
static const uint64_t SOME_ITEMS[] = {
    1, 2, 3, 10, 33, 100, 1000, 12345, 1000000, 1000000007, UINT64_C(1) << 42};
static const double SOME_RATES[] = {0.999, 0.5,  0.1,  0.03,  0.01, 1e-3,
                                    1e-4,  1e-6, 1e-9, 1e-12, 1e-18};
static const uint64_t SOME_BYTES[] = {
    264, 265, 320, 400, 500, 1000, 4096, 1000000, UINT64_C(5000000000)};

static tamis_plan shape(uint32_t kind, uint64_t m, uint32_t k, uint64_t items)
{
    tamis_plan p = {.struct_size = sizeof p};
    p.kind = kind;
    p.m = m;
    p.k = k;
    p.items = items;
    return p;
}

static tamis_plan wish(uint32_t kind, uint64_t items, double fpr, uint64_t bytes)
{
    tamis_plan p = {.struct_size = sizeof p};
    p.kind = kind;
    p.items = items;
    p.fpr = fpr;
    p.bytes = bytes;
    return p;
}

static bool same_plan(const tamis_plan *a, const tamis_plan *b)
{
    return a->struct_size == b->struct_size && a->kind == b->kind && a->flags == b->flags &&
           a->items == b->items && memcmp(&a->fpr, &b->fpr, sizeof a->fpr) == 0 &&
           a->bytes == b->bytes && a->seed == b->seed && a->m == b->m && a->k == b->k;
}

static void check_refused(const tamis_plan *plan)
{
    tamis_plan p = *plan;
    tamis_error why = {.status = TAMIS_OK};
    CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
    CHECK(same_plan(&p, plan));
    CHECK_THAT(why.status, ==, TAMIS_EINVAL);
    CHECK(why.text[0] != '\0' && strchr(why.text, '\n') == NULL);
    CHECK_THAT(tamis_solve(&p, NULL, NULL), ==, TAMIS_EINVAL);
}

/* Solves; checks what every solved plan must be. False when it is refused, which must be proper. */
static bool solve(const tamis_plan *asked, tamis_plan *solved)
{
    tamis_promise promise = {.struct_size = sizeof promise};
    *solved = *asked;
    if (tamis_solve(solved, &promise, NULL) != TAMIS_OK) {
        check_refused(asked);
        return false;
    }
    CHECK(tamis_kind_name(solved->kind) != NULL && solved->m >= 1 && solved->k >= 1);
    CHECK(solved->items >= 1 && solved->fpr >= 1e-18 && solved->fpr < 1);
    CHECK(solved->kind == asked->kind || asked->kind == TAMIS_AUTO);
    CHECK_THAT(solved->items, >=, asked->items);
    if (asked->fpr != 0) CHECK_THAT(solved->fpr, <=, asked->fpr);
    if (asked->bytes != 0) CHECK(solved->bytes <= asked->bytes);
    CHECK(promise.bytes == solved->bytes && promise.fpr <= solved->fpr &&
          promise.fpr >= solved->fpr);
    CHECK_THAT(promise.bits_per_item, ==, 8 * (double)solved->bytes / (double)solved->items);
    const bool dynamic = solved->fpr <= 0.1;
    CHECK_THAT(promise.bound, ==, dynamic ? TAMIS_BOUND_DYNAMIC : TAMIS_BOUND_STATIC);
    CHECK_THAT(fabs(promise.bound_bits - log2(1 / solved->fpr) - (dynamic ? 1 / log(2) : 0)), <,
               1e-12);
    CHECK_THAT(promise.bound_ratio, ==, promise.bits_per_item / promise.bound_bits);
    tamis_plan again = *solved;
    CHECK_OK(tamis_solve(&again, NULL, NULL));
    CHECK(same_plan(&again, solved));
    return true;
}

static uint64_t step_of(uint32_t kind)
{
    return kind == TAMIS_BLOCKED ? 512 : 1;
}

/* Rate of the shape with other items or another m; 1 when there is no such shape. */
static double neighbour(const tamis_plan *p, uint64_t m, uint64_t items)
{
    tamis_plan q = shape(p->kind, m, p->k, items);
    return m != 0 && tamis_solve(&q, NULL, NULL) == TAMIS_OK ? q.fpr : 1;
}

/* The largest m of the next smaller image: a 64-bit word (blocked: a line) less. */
static uint64_t m_of_fewer_bytes(const tamis_plan *p)
{
    const uint64_t rows = p->kind == TAMIS_PARTITIONED ? p->k : 1;
    const uint64_t unit = p->kind == TAMIS_BLOCKED ? 512 : 64;
    return ((p->m * rows + unit - 1) / unit - 1) * unit / rows;
}

static void from_items_and_rate(void)
{
    int solved = 0;
    for (size_t a = 0; a < LENGTH(ASKED_KINDS); a++)
        for (size_t b = 0; b < LENGTH(SOME_ITEMS); b++)
            for (size_t c = 0; c < LENGTH(SOME_RATES); c++) {
                const tamis_plan asked = wish(ASKED_KINDS[a], SOME_ITEMS[b], SOME_RATES[c], 0);
                tamis_plan p, q;
                if (!solve(&asked, &p)) continue;
                solved++;
                CHECK(p.items == asked.items);
                CHECK_THAT(neighbour(&p, m_of_fewer_bytes(&p), p.items), >, asked.fpr);
                /* The three ways to ask agree: the same bytes give no worse a rate for these items
                 * and no fewer items at this rate; a byte less cannot do. */
                const tamis_plan by_bytes = wish(p.kind, p.items, 0, p.bytes);
                const tamis_plan by_rate = wish(p.kind, 0, p.fpr, p.bytes);
                CHECK(solve(&by_bytes, &q) && q.fpr <= p.fpr * (1 + 1e-9)); /* rates have 32 bits */
                CHECK(solve(&by_rate, &q) && q.items >= p.items);
                const tamis_plan all = wish(p.kind, p.items, asked.fpr, p.bytes);
                const tamis_plan tight = wish(p.kind, p.items, asked.fpr, p.bytes - 1);
                CHECK(solve(&all, &q) && q.bytes == p.bytes);
                check_refused(&tight);
            }
    CHECK_THAT(solved, >=, 450); /* of 484: the rest needs more than 2^52 bits */
}

static void from_bytes(void)
{
    for (size_t a = 0; a < LENGTH(ASKED_KINDS); a++)
        for (size_t b = 0; b < LENGTH(SOME_BYTES); b++) {
            for (size_t c = 0; c < LENGTH(SOME_ITEMS); c++) {
                const tamis_plan asked = wish(ASKED_KINDS[a], SOME_ITEMS[c], 0, SOME_BYTES[b]);
                tamis_plan p;
                /* Nothing is left over, but where more bits would not buy a better promise. */
                if (!solve(&asked, &p) || p.fpr <= 1e-18) continue;
                tamis_plan more = shape(p.kind, p.m + step_of(p.kind), p.k, p.items);
                CHECK_OK(tamis_solve(&more, NULL, NULL));
                CHECK(more.bytes > asked.bytes);
            }
            for (size_t c = 0; c < LENGTH(SOME_RATES); c++) {
                const tamis_plan asked = wish(ASKED_KINDS[a], 0, SOME_RATES[c], SOME_BYTES[b]);
                tamis_plan p;
                if (!solve(&asked, &p)) continue;
                CHECK_THAT(neighbour(&p, p.m, p.items + 1), >, asked.fpr);
            }
        }
}

/* No k does better than the k that was left to the planner. */
static void no_other_k_is_better(void)
{
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_PARTITIONED; kind++)
        for (size_t i = 1; i < LENGTH(SOME_ITEMS) - 1; i++) {
            tamis_plan bytes = wish(kind, SOME_ITEMS[i], 0.005, 0), rate, items, p;
            CHECK_OK(tamis_solve(&bytes, NULL, NULL));
            rate = wish(kind, SOME_ITEMS[i], 0, bytes.bytes);
            items = wish(kind, 0, 0.005, bytes.bytes);
            CHECK_OK(tamis_solve(&rate, NULL, NULL));
            CHECK_OK(tamis_solve(&items, NULL, NULL));
            for (uint32_t k = 1; k <= 64; k++) {
                p = wish(kind, SOME_ITEMS[i], 0.005, 0);
                p.k = k;
                if (tamis_solve(&p, NULL, NULL) == TAMIS_OK) CHECK(p.bytes >= bytes.bytes);
                p = wish(kind, SOME_ITEMS[i], 0, bytes.bytes);
                p.k = k;
                if (tamis_solve(&p, NULL, NULL) == TAMIS_OK) CHECK(p.fpr >= rate.fpr);
                p = wish(kind, 0, 0.005, bytes.bytes);
                p.k = k;
                if (tamis_solve(&p, NULL, NULL) == TAMIS_OK) CHECK(p.items <= items.items);
            }
        }
}

static void more_costs_more(void)
{
    for (size_t a = 0; a < LENGTH(KINDS); a++) {
        for (double fpr = 0.7; fpr > 1e-7; fpr *= 0.37) {
            uint64_t bytes = 0;
            for (uint64_t items = 1; items < 100000000; items += 1 + items / 3) {
                tamis_plan p = wish(KINDS[a], items, fpr, 0),
                           finer = wish(KINDS[a], items, fpr * 0.9, 0);
                CHECK_OK(tamis_solve(&p, NULL, NULL));
                CHECK_OK(tamis_solve(&finer, NULL, NULL));
                CHECK(p.bytes >= bytes && finer.bytes >= p.bytes);
                bytes = p.bytes;
            }
        }
        double fpr = 1;
        uint64_t items = 0;
        for (uint64_t bytes = 400; bytes < 100000000; bytes += 1 + bytes / 5) {
            tamis_plan p = wish(KINDS[a], 40, 0, bytes), q = wish(KINDS[a], 0, 0.01, bytes);
            CHECK_OK(tamis_solve(&p, NULL, NULL));
            CHECK_OK(tamis_solve(&q, NULL, NULL));
            CHECK(p.fpr <= fpr && q.items >= items);
            fpr = p.fpr;
            items = q.items;
        }
    }
}

static void absurd_plans_are_refused(void)
{
    static const double rates[] = {
        1, 1.5, -0.01, -1e300, 1e-19, 1e-300, (double)NAN, (double)INFINITY, -(double)INFINITY};
    for (size_t a = 0; a < LENGTH(ASKED_KINDS); a++) {
        const uint32_t kind = ASKED_KINDS[a];
        for (size_t i = 0; i < LENGTH(rates); i++) {
            const tamis_plan with_items = wish(kind, 100, rates[i], 0);
            const tamis_plan with_bytes = wish(kind, 0, rates[i], 1000);
            check_refused(&with_items);
            check_refused(&with_bytes);
        }
        const tamis_plan wishes[] = {
            wish(kind, 0, 0, 0),
            wish(kind, 0, 0.01, 0),
            wish(kind, 100, 0, 0),
            wish(kind, 0, 0, 1000),
            wish(kind, UINT64_MAX, 0.01, 0),
            wish(kind, 10, 0, 263),
            wish(kind, 10, 0, 1),
            wish(kind, 0, 0.01, 263),
            wish(kind, 10, 0.01, 200),
            wish(kind, 1000, 0.01, 1000),
            wish(kind, UINT64_MAX, 0, UINT64_MAX),
            wish(kind, (UINT64_C(1) << 52) + 1, 0.999, 0),
            wish(kind, UINT64_C(1) << 52, 0.01, 0),
        };
        for (size_t i = 0; i < LENGTH(wishes); i++) check_refused(&wishes[i]);
        tamis_plan p = wish(kind, 100, 0.01, 0);
        p.struct_size--;
        check_refused(&p);
        p.struct_size = 0;
        check_refused(&p);
        for (uint32_t flag = 8; flag != 0; flag <<= 1) {
            if (flag == TAMIS_TRANSFER && kind <= TAMIS_BLOOM) continue;
            p = wish(kind, 100, 0.01, 0);
            p.flags = flag | TAMIS_STRICT;
            check_refused(&p);
        }
    }
    for (uint32_t kind = 200; kind != 0; kind = kind < 300 ? kind + 1 : kind << 1) {
        const tamis_plan p = wish(kind, 100, 0.01, 0);
        check_refused(&p);
    }
}

/* A budget without bound is a limit like any other: the plan stops at the lowest rate there is. */
static void absurd_shapes_are_refused(void)
{
    for (size_t a = 0; a < LENGTH(KINDS); a++) {
        tamis_plan p = wish(KINDS[a], 1000, 0, UINT64_MAX), q = p;
        CHECK(solve(&q, &p) && p.bytes < UINT64_C(1) << 30 && p.fpr <= 1e-18);
        q = shape(KINDS[a], UINT64_C(1) << 60, 0, 100);
        check_refused(&q);
        q = shape(KINDS[a], 0, 65, 100);
        q.fpr = 0.01;
        check_refused(&q);
        q = shape(KINDS[a], 1024, 8, 0);
        check_refused(&q);
        for (uint32_t k = 0; k <= 65; k++) {
            const bool fine = KINDS[a] == TAMIS_BLOCKED ? k == 0 || k == 8 : k <= 64;
            q = shape(KINDS[a], 1024, k, 1);
            if (fine)
                CHECK(solve(&q, &p) && (k == 0 || p.k == k));
            else
                check_refused(&q);
        }
    }
    for (uint64_t m = 1; m < 2048; m++) {
        const tamis_plan p = shape(TAMIS_BLOCKED, m, 0, 1);
        if (m % 512 != 0) check_refused(&p);
    }
    const tamis_plan single = shape(TAMIS_BLOOM, 1, 1, 1);
    const tamis_plan wide = shape(TAMIS_PARTITIONED, UINT64_C(1) << 52, 2, 1);
    check_refused(&single);
    check_refused(&wide);
}

/* What only some kinds have is refused in a plan of any other, with the names of those kinds. Their
 * own plans accept it. */
static void foreign_fields_are_refused(void)
{
    static const struct {
        tamis_plan plan;
        const char *words;
        uint32_t kind; /* one that accepts it */
    } asked[] = {
        {{.cell_bits = 8}, "bits of a counter or value are only for counting, ", TAMIS_COUNTING},
        {{.cell_bits = 5}, "bits of a counter or value are only for ", TAMIS_VALUE_MAP},
        {{.generations = 3}, "generations are only for window", TAMIS_WINDOW},
        {{.flags = TAMIS_AUTO_ROTATE}, "generations are only for window", TAMIS_WINDOW},
        {{.inner_kind = TAMIS_BLOOM}, "only for counting, pair, window", TAMIS_PAIR},
        {{.excluded = 9}, "excluded keys are only for exact", TAMIS_EXACT},
        {{.flags = TAMIS_COMPACT}, "compact variant is only for blocked", TAMIS_BLOCKED},
        {{.flags = TAMIS_TRANSFER}, "transfer is only for bloom", TAMIS_BLOOM},
        {{.flags = TAMIS_CONSERVATIVE}, "updates are only for count-min", TAMIS_COUNT_MIN},
        {{.error = 0.1}, "only for sketches", TAMIS_COUNT_MIN},
        {{.flags = TAMIS_STRICT}, NULL, TAMIS_CUCKOO},
    };
    static const uint32_t never_full[] = {TAMIS_GROWING, TAMIS_WINDOW, TAMIS_VALUE_MAP,
                                          TAMIS_TALLY};
    for (size_t i = 0; i < sizeof asked / sizeof *asked; i++) {
        tamis_plan p = asked[i].plan;
        tamis_error why;
        p.struct_size = sizeof p;
        p.kind = asked[i].kind;
        if (p.kind < TAMIS_COUNT_MIN) p.items = 1000, p.fpr = 0.01;
        if (p.kind == TAMIS_COUNT_MIN) p.error = 0.1;
        tamis_plan own = p;
        CHECK(tamis_solve(&own, NULL, NULL) == TAMIS_OK);
        if (asked[i].words == NULL) continue;
        p.kind = TAMIS_PARTITIONED;
        p.items = 1000, p.fpr = 0.01;
        if (asked[i].plan.error == 0) p.error = 0;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
        CHECK(strstr(why.text, asked[i].words) != NULL);
        p.kind = TAMIS_AUTO; /* chooses among those that accept it */
        const bool can = asked[i].kind <= TAMIS_BLOCKED;
        CHECK(tamis_solve(&p, NULL, NULL) == (can ? TAMIS_OK : TAMIS_EINVAL));
        CHECK(p.kind == (can ? asked[i].kind : TAMIS_AUTO));
    }
    for (size_t i = 0; i < sizeof never_full / sizeof *never_full; i++) {
        tamis_plan p = {.struct_size = sizeof p, .kind = never_full[i], .flags = TAMIS_STRICT};
        tamis_error why;
        if (p.kind < TAMIS_COUNT_MIN) p.items = 1000, p.fpr = 0.01;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
        CHECK(strstr(why.text, "is never full") != NULL);
    }
}

/* Each kind is compared with the bound of its class: sealed kinds with log2(1/fpr), kinds that take
 * keys one by one with log2(e) more, but only up to 10 %, exact with its two sets or its rate, and
 * growing with none. The file of such a filter says the same. */
static void bounds_are_those_of_the_class(void)
{
    static const struct {
        uint32_t kind, bound;
        double fpr;
        uint64_t excluded;
    } cases[] = {
        {TAMIS_BLOOM, TAMIS_BOUND_DYNAMIC, 0.01, 0},
        {TAMIS_PARTITIONED, TAMIS_BOUND_DYNAMIC, 0.01, 0},
        {TAMIS_BLOCKED, TAMIS_BOUND_DYNAMIC, 1e-6, 0},
        {TAMIS_COUNTING, TAMIS_BOUND_DYNAMIC, 0.1, 0},
        {TAMIS_PAIR, TAMIS_BOUND_DYNAMIC, 0.01, 0},
        {TAMIS_WINDOW, TAMIS_BOUND_DYNAMIC, 0.01, 0},
        {TAMIS_CUCKOO, TAMIS_BOUND_DYNAMIC, 0.01, 0},
        {TAMIS_BLOOM, TAMIS_BOUND_STATIC, 0.105, 0},
        {TAMIS_BLOOM, TAMIS_BOUND_STATIC, 0.5, 0},
        {TAMIS_FUSE, TAMIS_BOUND_STATIC, 0.01, 0},
        {TAMIS_RIBBON, TAMIS_BOUND_STATIC, 0.01, 0},
        {TAMIS_VALUE_MAP, TAMIS_BOUND_STATIC, 1e-3, 0},
        {TAMIS_EXACT, TAMIS_BOUND_STATIC, 1e-3, 1000},
        {TAMIS_EXACT, TAMIS_BOUND_TWO_SET, 0, 10000},
        {TAMIS_GROWING, TAMIS_BOUND_NONE, 0.01, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t bound = cases[i].bound;
        tamis_plan p = {.struct_size = sizeof p,
                        .kind = cases[i].kind,
                        .items = 1000,
                        .fpr = cases[i].fpr,
                        .excluded = cases[i].excluded};
        tamis_promise r = {.struct_size = sizeof r};
        tamis_facts f = {.struct_size = sizeof f};
        tamis *t;
        CHECK_OK(tamis_solve(&p, &r, NULL));
        const double two_sets = /* log2 C(11000, 1000) / 1000, where it is asked for */
            (lgamma(11001) - lgamma(10001) - lgamma(1001)) / log(2) / 1000;
        const double value = cases[i].kind == TAMIS_VALUE_MAP ? 8 : 0;
        const double bits = bound == TAMIS_BOUND_NONE      ? 0
                            : bound == TAMIS_BOUND_TWO_SET ? two_sets
                            : bound == TAMIS_BOUND_DYNAMIC ? log2(1 / p.fpr) + 1 / log(2)
                                                           : log2(1 / p.fpr) + value;
        CHECK_THAT(r.bound, ==, bound);
        CHECK_THAT(fabs(r.bound_bits - bits), <, 1e-6);
        CHECK_THAT(fabs(r.bound_ratio - (bits > 0 ? r.bits_per_item / bits : 0)), <, 1e-5);
        CHECK(bound == TAMIS_BOUND_NONE || r.bound_ratio > 1);
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_OK(tamis_info(t, &f));
        if (cases[i].kind == TAMIS_EXACT) /* it has no keys yet, so only the rate is known */
            CHECK_THAT(f.bound, ==, TAMIS_BOUND_STATIC);
        else
            CHECK(f.bound == bound && fabs(f.bound_bits - bits) < 1e-6);
        tamis_close(t);
    }
    CHECK(tamis_bound_name(TAMIS_BOUND_NONE) == NULL && tamis_bound_name(4) == NULL);
    CHECK(strcmp(tamis_bound_name(TAMIS_BOUND_STATIC), "static") == 0);
    CHECK(strcmp(tamis_bound_name(TAMIS_BOUND_DYNAMIC), "dynamic") == 0);
    CHECK(strcmp(tamis_bound_name(TAMIS_BOUND_TWO_SET), "two-set") == 0);
}

static const struct test tests[] = {
    {"bounds_are_those_of_the_class", bounds_are_those_of_the_class},
    {"from_items_and_rate", from_items_and_rate},
    {"from_bytes", from_bytes},
    {"no_other_k_is_better", no_other_k_is_better},
    {"more_costs_more", more_costs_more},
    {"absurd_plans_are_refused", absurd_plans_are_refused},
    {"absurd_shapes_are_refused", absurd_shapes_are_refused},
    {"foreign_fields_are_refused", foreign_fields_are_refused},
};
TEST_MAIN(tests)
