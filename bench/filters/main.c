/* build/bench [--quick | --check] [--out FILE]
 *
 * Measures the machine's limits, our kinds, libbloom and exact structures in one run, prints a
 * table with ratios, and writes bench.json next to the program (or FILE). Facts that are not
 * timings, the machine and the sizes of plans, go into bench_context.json. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* readlink */
#endif
#include "../common/bench.h"

#include <string.h>
#include <unistd.h>

struct settings settings = {.least = 3, .budget = 0.5, .most_asks = 10000000};

static const double RATES[] = {0.01, 0.001};

static uint64_t keys_at(unsigned scale)
{
    static const uint64_t real[3] = {1000000, 10000000, 100000000};
    static const uint64_t tiny[3] = {2000, 5000, 20000};
    return settings.check ? tiny[scale] : real[scale];
}

static void measure_scale(unsigned scale, enum key_type type)
{
    struct scene s = {.scale = scale, .brief = settings.quick && scale == 1};
    const uint64_t n = keys_at(scale);
    keys_make(&s.in, type, 0, n);
    /* The largest batch of queries is 2^25. */
    keys_make(&s.out, type, UINT64_C(1) << 40, n < UINT64_C(1) << 25 ? n : UINT64_C(1) << 25);
    if (type == INTEGERS)
        keys_shuffle(&s.shuffled, &s.in, n < settings.most_asks ? n : settings.most_asks);
    hash_cost(&s.in, false);
    hash_cost(&s.in, true);
    const size_t rates = s.brief && type == URLS ? 1 : LENGTH(RATES);
    for (size_t i = 0; i < rates; i++) {
        measure_libbloom(&s, RATES[i]);
        measure_filters(&s, RATES[i]);
    }
    if (type == INTEGERS && scale <= (settings.quick ? 0u : 1u)) measure_exact(&s);
    keys_drop(&s.in);
    keys_drop(&s.out);
    keys_drop(&s.shuffled);
}

static void measure_all(void)
{
    const unsigned scales = settings.quick ? 2 : 3;
    pin(0);
    measure_limits();
    for (unsigned scale = 0; scale < scales; scale++) {
        measure_scale(scale, INTEGERS);
        if (scale < 2) measure_scale(scale, URLS);
    }
    release_batches();
}

/* Stores the path of bench.json next to the program. */
static void default_path(char *out, size_t room)
{
    const ssize_t n = readlink("/proc/self/exe", out, room - 1);
    out[n > 0 ? n : 0] = 0;
    char *slash = strrchr(out, '/');
    const size_t used = slash != NULL ? (size_t)(slash - out) + 1 : 0;
    snprintf(out + used, room - used, "bench.json");
}

static void write_context(const char *json)
{
    char path[4200];
    const size_t n = strlen(json);
    const size_t stem = n > 5 && strcmp(json + n - 5, ".json") == 0 ? n - 5 : n;
    snprintf(path, sizeof path, "%.*s_context.json", (int)stem, json);
    FILE *f = fopen(path, "w");
    if (f == NULL) die("cannot write %s", path);
    fputs("{\n", f);
    describe_machine(f);
    fprintf(f, "  \"run\": \"%s\",\n  \"plans\": ",
            settings.check   ? "check"
            : settings.quick ? "quick"
                             : "full");
    describe_plans(f);
    fputs("\n}\n", f);
    if (fclose(f) != 0) die("cannot write %s", path);
}

int main(int argc, char **argv)
{
    char json[4096];
    default_path(json, sizeof json);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            settings.quick = true;
            settings.budget = 0.05;
            settings.most_asks = 2000000;
        } else if (strcmp(argv[i], "--check") == 0) {
            settings.check = true;
            settings.budget = 0;
            settings.most_asks = 10000;
        } else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
            snprintf(json, sizeof json, "%s", argv[++i]);
        } else {
            fputs("usage: bench [--quick | --check] [--out FILE]\n", stderr);
            return 2;
        }
    }
    const double start = seconds();
    fix_memory();
    remove(json); /* rows of an older run must not remain next to this run's context */
    write_context(json);
    measure_all();
    rows_write(json);
    printf("\n%s: %.0f s\n", json, seconds() - start);
    return 0;
}
