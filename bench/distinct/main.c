/*   build/bench-distinct [--quick | --check] [--out FILE]
 *
 * Measures the kind `distinct` and writes distinct.json next to the program (or FILE). Errors are
 * the same on every machine, however many cores it has. */
#include "distinct.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#define FULL 10000u
#define MOST_THREADS 64u

struct settings settings = {.least = 9, .budget = 0.5};

void must(tamis_status s)
{
    if (s != TAMIS_OK) die("%s", tamis_status_message(s));
}

tamis *make_sketch(unsigned p, bool shared)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_DISTINCT, .m = UINT64_C(1) << p};
    const tamis_options o = {.struct_size = sizeof o, .flags = shared ? TAMIS_SHARED : 0};
    tamis *t;
    must(tamis_create(&plan, &o, &t, NULL));
    return t;
}

/* --- Threads ---------------------------------------------------------------------------------- */

struct crew {
    unsigned runs, threads;
    void (*once)(void *ctx, unsigned run);
    void *ctx;
};

struct worker {
    const struct crew *crew;
    unsigned first;
    pthread_t thread;
};

static void *work(void *ctx)
{
    const struct worker *w = ctx;
    for (unsigned run = w->first; run < w->crew->runs; run += w->crew->threads)
        w->crew->once(w->crew->ctx, run);
    return NULL;
}

void in_threads(unsigned runs, void (*once)(void *ctx, unsigned run), void *ctx)
{
    const unsigned threads = cores() < MOST_THREADS ? cores() : MOST_THREADS;
    const struct crew crew = {runs, threads, once, ctx};
    struct worker workers[MOST_THREADS];
    for (unsigned i = 0; i < threads; i++) {
        workers[i] = (struct worker){.crew = &crew, .first = i};
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
            die("a thread cannot be started");
    }
    for (unsigned i = 0; i < threads; i++) pthread_join(workers[i].thread, NULL);
}

/* --- What is run ------------------------------------------------------------------------------ */

int main(int argc, char **argv)
{
    char folder[4096], json[4200];
    unsigned runs = FULL;
    own_folder(folder, sizeof folder);
    snprintf(json, sizeof json, "%s/distinct.json", folder);
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--quick") == 0) {
            settings.quick = true;
            runs = FULL / 10;
        } else if (strcmp(argv[i], "--check") == 0) {
            settings.check = true;
            settings.least = 3;
            settings.budget = 0;
            runs = FULL / 250;
        } else if (strcmp(argv[i], "--out") == 0 && i + 1 < argc) {
            snprintf(json, sizeof json, "%s", argv[++i]);
        } else {
            fputs("usage: bench-distinct [--quick | --check] [--out FILE]\n", stderr);
            return 2;
        }
    }
    const double start = seconds();
    rows_open(json, NULL);
    measure_speed();
    measure_widths();
    measure_equal_tokens(100 * runs);
    measure_sets(runs / 4);
    measure_errors(runs);
    rows_close();
    printf("\n%s: %.0f s\n", json, seconds() - start);
    return 0;
}
