/* Filters of 2^33 bits, a gibibyte each: cells beyond 2^32, correct rates, a file that is read
 * back with every sum verified, a mapping, and item counters past 2^32. Needs 2.5 GiB of memory
 * and 1 GiB in TMPDIR. On a 32-bit machine only the counters run. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"
#include "../support/saving.h"
#include "core/handle.h"

#include <math.h>
#include <tamis/inspect.h>
#include <unistd.h>

#define BITS (UINT64_C(1) << 33)
#define KEYS 20000000u
#define ASKED 2000000u
#define BATCH 1000u

static uint64_t numbers[BATCH];
static tamis_bytes batch[BATCH];

static void prepare(uint64_t from)
{
    for (uint64_t i = 0; i < BATCH; i++) {
        numbers[i] = from + i;
        batch[i] = (tamis_bytes){&numbers[i], sizeof numbers[i]};
    }
}

static void fill(tamis *t)
{
    for (uint64_t i = 0; i < KEYS; i += BATCH) {
        prepare(i);
        CHECK_OK(tamis_add_many(t, batch, BATCH, NULL, NULL));
    }
}

/* How many of ASKED keys from a number on may be in. */
static size_t ask(const tamis *t, uint64_t from)
{
    size_t maybe = 0;
    uint8_t bits[BATCH / 8];
    for (uint64_t i = from; i < from + ASKED; i += BATCH) {
        prepare(i);
        maybe += tamis_may_contain_many(t, batch, BATCH, bits);
    }
    return maybe;
}

/* Half of the probes land beyond 2^32, within six standard deviations, and reach the very end. */
static void check_cells(const tamis *t, unsigned k)
{
    uint64_t beyond = 0, highest = 0, probes = 0;
    for (uint64_t i = 0; i < 100000; i++) {
        uint64_t cells[64];
        CHECK_THAT(tamis_cells_of(t, &i, sizeof i, cells, 64), ==, k);
        for (unsigned j = 0; j < k; j++, probes++) {
            CHECK(cells[j] < BITS && tamis_cell(t, cells[j]) == 1);
            beyond += cells[j] >> 32;
            if (cells[j] > highest) highest = cells[j];
        }
    }
    /* The eight probes of a blocked key go to the same place. */
    const double places = k == 8 ? (double)probes / 8 : (double)probes,
                 weight = (double)probes / places;
    CHECK_THAT(fabs((double)beyond - (double)probes / 2), <=, 6.2 * weight * sqrt(places) / 2);
    CHECK_THAT(highest, >, BITS - BITS / 10000);
}

/* Distinct cells hit by `balls` in `cells`: mean and variance, exactly (n (1-1/n)^b and so on,
 * through log1p because 1 - 2^-33 has few digits left). */
static void occupied(double cells, double balls, double *mean, double *variance)
{
    const double empty = exp(balls * log1p(-1 / cells));
    const double apart = expm1(balls * log1p(-1 / ((cells - 1) * (cells - 1))));
    *mean = -cells * expm1(balls * log1p(-1 / cells));
    *variance = cells * empty * (1 - empty) + cells * (cells - 1) * empty * empty * apart;
}

/* fpr_now is (Y/m)^k with Y distinct cells. */
static void expect_bloom(const tamis_facts *f)
{
    double mean, variance;
    occupied((double)BITS, (double)KEYS * f->k, &mean, &variance);
    const double expected = pow(mean / (double)BITS, f->k);
    const double sigma = expected * f->k * sqrt(variance) / mean;
    CHECK_THAT(fabs(f->fpr_now - expected), <=, 6.2 * sigma);
}

/* fpr_now is the mean over lines of the product of the words' shares; a line with x keys has the
 * product's first two moments from those of the distinct cells of 64, and x is Poisson to 1e-7. */
static void expect_blocked(const tamis_facts *f)
{
    const double lines = (double)BITS / 512, load = KEYS / lines;
    double first = 0, second = 0, weight = exp(-load);
    for (unsigned x = 0; x < 60; x++) {
        double mean = 0, variance = 0;
        if (x != 0) occupied(64, x, &mean, &variance);
        first += weight * pow(mean / 64, 8);
        second += weight * pow((variance + mean * mean) / (64 * 64), 8);
        weight *= load / (x + 1);
    }
    const double sigma = sqrt((second - first * first) / lines);
    CHECK_THAT(fabs(f->fpr_now - first), <=, 6.2 * sigma);
}

static void check_big(const tamis *t, unsigned k)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(t, &f));
    CHECK(f.m == BITS && f.k == k && f.bytes > BITS / 8 && !f.overfull);
    CHECK_THAT(KEYS - (double)f.items, <=, 100); /* adds that found all their cells set already */
    /* The 99 % interval, widened by itself: 7.7 standard deviations. */
    const double width = f.items_high - f.items_low;
    CHECK(f.items_low - width <= KEYS && KEYS <= f.items_high + width);
    if (f.kind == TAMIS_BLOOM)
        expect_bloom(&f);
    else
        expect_blocked(&f);
    CHECK_THAT(ask(t, 0), ==, ASKED);
    CHECK_THAT(ask(t, KEYS - ASKED), ==, ASKED);
    /* Fewer than one false positive in a million is expected. */
    CHECK_THAT(ask(t, UINT64_C(1) << 40), <=, 20);
}

static void make_path(char *path, size_t size)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(path, size, "%s/tamis-big-%ld.tamis", tmp != NULL ? tmp : "/tmp", (long)getpid());
}

static void big(uint32_t kind, uint32_t k)
{
    if (sizeof(size_t) < 8) return;
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = kind, .items = UINT64_C(1) << 29, .m = BITS, .k = k};
    char path[512];
    tamis *t, *opened;
    make_path(path, sizeof path);
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    fill(t);
    check_cells(t, k);
    check_big(t, k);
    CHECK_OK(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), NULL));
    CHECK_OK(tamis_open(path, NULL, &opened, NULL));
    CHECK(memcmp(t->body.sections->cells, opened->body.sections->cells, (size_t)(BITS / 8)) == 0);
    tamis_close(t);
    check_big(opened, k);
    tamis_close(opened);
    const tamis_options map = {.struct_size = sizeof map, .flags = TAMIS_MAP};
    CHECK_OK(tamis_open(path, &map, &opened, NULL));
    CHECK_THAT(ask(opened, 0), ==, ASKED);
    tamis_close(opened);

    /* One bit far beyond 4 GiBit: the sum of its chunk knows. */
    FILE *f = fopen(path, "r+b");
    CHECK(f != NULL && fseek(f, -12345, SEEK_END) == 0);
    const int byte = fgetc(f);
    CHECK(fseek(f, -1, SEEK_CUR) == 0 && fputc(byte ^ 4, f) != EOF && fclose(f) == 0);
    tamis_error why;
    CHECK_THAT(tamis_open(path, NULL, &opened, &why), ==, TAMIS_ECORRUPT);
    CHECK(why.offset > (UINT64_C(1) << 29));
    CHECK(remove(path) == 0);
}

static void test_big_bloom(void)
{
    big(TAMIS_BLOOM, 5);
}

static void test_big_blocked(void)
{
    big(TAMIS_BLOCKED, 8);
}

/* Five million keys in one call, which goes through the table part by part, and in many, which does
 * not: the same cells, the same answers. */
#define BULK 5000000u

static void test_big_bulk(void)
{
    if (sizeof(size_t) < 8) return;
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = BULK, .m = BITS};
    tamis_hash *h = malloc(BULK * sizeof *h);
    uint8_t *bits = malloc(BULK / 8);
    tamis *one, *many;
    CHECK(h != NULL && bits != NULL);
    CHECK_OK(tamis_create(&plan, NULL, &one, NULL));
    CHECK_OK(tamis_create(&plan, NULL, &many, NULL));
    for (uint64_t i = 0; i < BULK; i += BATCH) {
        prepare(i);
        CHECK_OK(tamis_hash_many(one, batch, BATCH, h + i));
        CHECK_OK(tamis_add_many(many, batch, BATCH, NULL, NULL));
    }
    CHECK_OK(tamis_add_hashes(one, h, BULK, NULL, NULL));
    CHECK(one->items == many->items);
    CHECK(memcmp(one->body.sections->cells, many->body.sections->cells, (size_t)(BITS / 8)) == 0);
    CHECK_THAT(tamis_may_contain_hashes(one, h, BULK, bits), ==, BULK);
    for (size_t i = 0; i < BULK / 8; i++) CHECK(bits[i] == 0xff);
    for (size_t i = 0; i < BULK; i++) h[i].lo = ~h[i].lo;
    CHECK_THAT(tamis_may_contain_hashes(one, h, BULK, bits), <=, 20);
    tamis_close(one);
    tamis_close(many);
    free(h);
    free(bits);
}

static void check_counter(uint64_t items, uint64_t planned)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 100, .fpr = 0.01};
    tamis *t, *again;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    t->items = items;
    t->planned_items = planned;
    for (uint32_t i = 0; i < 50; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &again, NULL));
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_info(again, &f));
    CHECK(f.items == items + 50 && f.planned_items == planned);
    CHECK(f.overfull == (items + 50 > planned));
    free(image.p);
    tamis_close(t);
    tamis_close(again);
}

static void test_counters(void)
{
    for (unsigned bits = 31; bits < 53; bits++) {
        const uint64_t edge = UINT64_C(1) << bits;
        check_counter(edge - 25, edge); /* passes the power of two, and the plan */
        check_counter(edge + 7, edge * 2);
    }
}

static const struct test tests[] = {
    {"counters", test_counters},
    {"big bloom", test_big_bloom},
    {"big blocked", test_big_blocked},
    {"big bulk", test_big_bulk},
};

TEST_MAIN(tests)
