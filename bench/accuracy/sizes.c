/* The sizes of filters, the worst of 50 sets. A single size may be a lucky one: segments that are
 * just full, a last layer that just fits. The numbers of keys are spread evenly over a range from
 * 1/1.05 to 1.05 times that of the class, and each set has its own random keys. */
#include "accuracy.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/hashes.h>
#include <tamis/inspect.h>
#include <tamis/map.h>
#include <tamis/tamis.h>

#define SETS 50u
#define SPREAD 1.05
#define BATCH 4096u
#define PER_SET 200000u /* keys that are asked in each set */

/* Whole columns have the rates 2^-j. Any other rate is a mixture of two, and takes at least this
 * many bits per key. */
static double columns_of(double rate)
{
    const double whole = floor(-log2(rate) + 1e-9), high = exp2(-whole);
    return whole + (high - rate) / (high / 2);
}

struct class
{
    const char *name;
    uint32_t kind;
    uint64_t items;
    uint32_t excluded; /* for each item */
    double rate;       /* 0: the one of the smallest image */
    uint32_t value_bits;
};

struct sizes {
    double worst, mean;    /* bits per key */
    double least, worst_x; /* the bound in the worst set, and the ratio there */
    double asked, found, rate;
};

static uint64_t random_state;

static uint64_t next_word(void)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static const tamis_hash *next_hashes(size_t n)
{
    static tamis_hash h[BATCH];
    for (size_t i = 0; i < n; i++) {
        h[i].lo = next_word();
        h[i].hi = next_word();
    }
    return h;
}

static void sizes_must(tamis_status s)
{
    if (s == TAMIS_OK) return;
    fprintf(stderr, "accuracy: %s\n", tamis_status_message(s));
    exit(1);
}

static void add(tamis *t, const struct class *c, uint64_t n)
{
    static uint32_t values[BATCH];
    for (uint64_t at = 0; at < n; at += BATCH) {
        const size_t now = n - at < BATCH ? (size_t)(n - at) : BATCH;
        const tamis_hash *h = next_hashes(now);
        for (size_t i = 0; i < now; i++) values[i] = (uint32_t)h[i].hi >> (32 - c->value_bits % 32);
        sizes_must(c->value_bits != 0 ? tamis_add_value_hashes(t, h, values, now, NULL, NULL)
                                      : tamis_add_hashes(t, h, now, NULL, NULL));
    }
}

static tamis *filter_of(const struct class *c, uint64_t n)
{
    tamis_plan p = {.struct_size = sizeof p,
                    .kind = c->kind,
                    .items = c->kind == TAMIS_GROWING ? 0 : n,
                    .fpr = c->rate,
                    .excluded = n * c->excluded,
                    .cell_bits = c->value_bits};
    tamis *t;
    sizes_must(tamis_solve(&p, NULL, NULL));
    sizes_must(tamis_create(&p, NULL, &t, NULL));
    add(t, c, n);
    for (uint64_t left = n * c->excluded; left > 0;) {
        const size_t now = left < BATCH ? (size_t)left : BATCH;
        sizes_must(tamis_exclude_hashes(t, next_hashes(now), now, NULL));
        left -= now;
    }
    const tamis_status s = tamis_seal(t, NULL);
    if (s != TAMIS_EUNSUPPORTED) sizes_must(s);
    return t;
}

static void measure(const struct class *c, uint64_t n, struct sizes *to)
{
    static uint8_t bits[BATCH / 8];
    tamis *t = filter_of(c, n);
    tamis_facts f = {.struct_size = sizeof f};
    sizes_must(tamis_info(t, &f));
    for (uint64_t at = 0; at < PER_SET; at += BATCH)
        to->found += (double)tamis_may_contain_hashes(t, next_hashes(BATCH), BATCH, bits);
    to->asked += (PER_SET + BATCH - 1) / BATCH * BATCH;
    to->rate += f.fpr_now / SETS;
    to->mean += f.bits_per_item / SETS;
    if (f.bits_per_item > to->worst) to->worst = f.bits_per_item;
    if (f.bound_ratio > to->worst_x) {
        to->worst_x = f.bound_ratio;
        to->least = f.bound_bits;
    }
    tamis_close(t);
}

static void print_class(const struct class *c)
{
    struct sizes s = {.worst = 0};
    for (unsigned i = 0; i < SETS; i++) {
        const double at = 2.0 * i / (SETS - 1) - 1;
        random_state = UINT64_C(1000003) * i + c->items;
        measure(c, (uint64_t)((double)c->items * pow(SPREAD, at)), &s);
    }
    printf("| %s | %.3f | %.3f |", c->name, s.mean, s.worst);
    if (s.worst_x > 0)
        printf(" %.3f | %.4f |", s.least, s.worst_x);
    else
        printf(" | |");
    const bool is_mixed = c->kind == TAMIS_RIBBON && columns_of(c->rate) != -log2(c->rate);
    if (is_mixed)
        printf(" %.4f |", s.worst / columns_of(c->rate));
    else
        printf(" |");
    printf(" %.4g %% | %.4g %% |\n", 100 * s.rate, 100 * s.found / s.asked);
    fflush(stdout);
}

void print_sizes(const char *kind)
{
    static const struct class classes[] = {
        {"ribbon, 1 M keys, 2^-6", TAMIS_RIBBON, 1000000, 0, 0x1p-6, 0},
        {"ribbon, 1 M keys, 2^-7", TAMIS_RIBBON, 1000000, 0, 0x1p-7, 0},
        {"ribbon, 1 M keys, 2^-8", TAMIS_RIBBON, 1000000, 0, 0x1p-8, 0},
        {"ribbon, 1 M keys, 2^-9", TAMIS_RIBBON, 1000000, 0, 0x1p-9, 0},
        {"ribbon, 1 M keys, 2^-10", TAMIS_RIBBON, 1000000, 0, 0x1p-10, 0},
        {"ribbon, 1 M keys, 2^-12", TAMIS_RIBBON, 1000000, 0, 0x1p-12, 0},
        {"ribbon, 1 M keys, 2^-14", TAMIS_RIBBON, 1000000, 0, 0x1p-14, 0},
        {"ribbon, 1 M keys, 2^-16", TAMIS_RIBBON, 1000000, 0, 0x1p-16, 0},
        {"ribbon, 1 M keys, 10 %", TAMIS_RIBBON, 1000000, 0, 0.1, 0},
        {"ribbon, 1 M keys, 3 %", TAMIS_RIBBON, 1000000, 0, 0.03, 0},
        {"ribbon, 1 M keys, 1 %", TAMIS_RIBBON, 1000000, 0, 0.01, 0},
        {"ribbon, 1 M keys, 0.3 %", TAMIS_RIBBON, 1000000, 0, 0.003, 0},
        {"ribbon, 1 M keys, 0.1 %", TAMIS_RIBBON, 1000000, 0, 0.001, 0},
        {"map, 1 M keys of 8 bits, 2^-8", TAMIS_VALUE_MAP, 1000000, 0, 0x1p-8, 8},
        {"map, 1 M keys of 8 bits, 1 %", TAMIS_VALUE_MAP, 1000000, 0, 0.01, 8},
        {"exact, 100,000 keys, 2 excluded for each", TAMIS_EXACT, 100000, 2, 0, 0},
        {"exact, 100,000 keys, 10 excluded for each", TAMIS_EXACT, 100000, 10, 0, 0},
        {"exact, 100,000 keys, 100 excluded for each", TAMIS_EXACT, 100000, 100, 0, 0},
        {"exact, 1 M keys, 2 excluded for each", TAMIS_EXACT, 1000000, 2, 0, 0},
        {"cuckoo, 100,000 keys, 1 %", TAMIS_CUCKOO, 100000, 0, 0.01, 0},
        {"cuckoo, 300,000 keys, 1 %", TAMIS_CUCKOO, 300000, 0, 0.01, 0},
        {"cuckoo, 1 M keys, 1 %", TAMIS_CUCKOO, 1000000, 0, 0.01, 0},
        {"growing, 1 M keys, 1 %", TAMIS_GROWING, 1000000, 0, 0.01, 0},
    };
    printf("| class | bits per key, mean | worst | bound | ratio to it | to the columns | rate, "
           "predicted | measured |\n|---|---|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strncmp(classes[i].name, kind, strlen(kind)) == 0) print_class(&classes[i]);
    printf("\n");
}
