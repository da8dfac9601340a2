/* build/bench [--quick | --check | --counting] [--out FILE] [GROUP...]
 *
 * Measures the machine's limits, our kinds, libbloom and exact structures (the group "tables"), and
 * groups of calls (calls/), all of them unless some are named. Prints tables and writes bench.json
 * next to the program (or FILE). Facts that are not timings, the machine, the date and the sizes of
 * plans, go into bench_context.json. --check takes tiny sets, for the test. --counting makes every
 * row once, for instructions.py. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* readlink */
#endif
#include "../calls/calls.h"

#include <string.h>
#include <time.h>
#include <unistd.h>

struct settings settings = {.least = 3, .budget = 0.5, .most_asks = 10000000, .race_seconds = 30};

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

static void measure_tables(void)
{
    const unsigned scales = settings.quick ? 2 : 3;
    measure_limits();
    for (unsigned scale = 0; scale < scales; scale++) {
        measure_scale(scale, INTEGERS);
        if (scale < 2) measure_scale(scale, URLS);
    }
    release_batches();
}

static const struct group {
    const char *name;
    void (*measure)(void);
} GROUPS[] = {
    {"tables", measure_tables},     {"single", single_group},   {"urls", urls_group},
    {"updates", updates_group},     {"bulk", bulk_group},       {"columns", columns_group},
    {"encodings", encodings_group}, {"threads", threads_group}, {"shared", shared_group},
    {"windows", windows_group},     {"plans", plans_group},     {"memory", memory_group},
};
static bool chosen[LENGTH(GROUPS)];

static bool choose(const char *name)
{
    for (size_t i = 0; i < LENGTH(GROUPS); i++)
        if (strcmp(name, GROUPS[i].name) == 0) return chosen[i] = true;
    return false;
}

static void choose_all(void)
{
    for (size_t i = 0; i < LENGTH(GROUPS); i++)
        if (chosen[i]) return;
    for (size_t i = 0; i < LENGTH(GROUPS); i++) chosen[i] = true;
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

static void write_context(const char *json, char **words)
{
    char path[4200];
    const size_t n = strlen(json);
    const size_t stem = n > 5 && strcmp(json + n - 5, ".json") == 0 ? n - 5 : n;
    snprintf(path, sizeof path, "%.*s_context.json", (int)stem, json);
    FILE *f = fopen(path, "w");
    if (f == NULL) die("cannot write %s", path);
    char date[32];
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
    fputs("{\n", f);
    describe_machine(f);
    fprintf(f, "  \"version\": \"%s\",\n  \"date\": \"%s\",\n  \"commands\": [\"bench",
            tamis_version(), date);
    for (size_t i = 1; words[i] != NULL; i++)
        if (strpbrk(words[i], "\"\\") == NULL) fprintf(f, " %s", words[i]);
    fputs("\"],\n  \"groups\": [", f);
    for (size_t i = 0, named = 0; i < LENGTH(GROUPS); i++)
        if (chosen[i]) fprintf(f, "%s\"%s\"", named++ != 0 ? ", " : "", GROUPS[i].name);
    fprintf(f, "],\n  \"run\": \"%s\",\n  \"plans\": ",
            settings.check   ? "check"
            : settings.quick ? "quick"
                             : "full");
    if (chosen[0]) /* the tables, which alone need them */
        describe_plans(f);
    else
        fputs("[]", f);
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
            settings.race_seconds = 3;
        } else if (strcmp(argv[i], "--check") == 0) {
            settings.check = true;
            settings.budget = 0;
            settings.most_asks = 10000;
            settings.race_seconds = 0;
        } else if (strcmp(argv[i], "--counting") == 0) {
            settings.check = settings.counting = true;
        } else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
            snprintf(json, sizeof json, "%s", argv[++i]);
        } else if (!choose(argv[i])) {
            fputs("usage: bench [--quick | --check | --counting] [--out FILE] [GROUP...]\ngroups:",
                  stderr);
            for (size_t g = 0; g < LENGTH(GROUPS); g++) fprintf(stderr, " %s", GROUPS[g].name);
            fputc('\n', stderr);
            return 2;
        }
    }
    choose_all();
    const double start = seconds();
    fix_memory();
    remove(json); /* rows of an older run must not remain next to this run's context */
    write_context(json, argv);
    pin(0);
    for (size_t i = 0; i < LENGTH(GROUPS); i++)
        if (chosen[i]) GROUPS[i].measure();
    rows_write(json);
    printf("\n%s: %.0f s\n", json, seconds() - start);
    return 0;
}
