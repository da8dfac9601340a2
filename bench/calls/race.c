/* Rounds, clock, instructions and medians. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "calls.h"

#include <linux/perf_event.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define MOST_ROUNDS 15u

struct lane *lane_add(struct lanes *l, const char *group, const char *kind, const char *op,
                      const char *mode, uint64_t n)
{
    l->list = realloc(l->list, (l->n + 1) * sizeof *l->list);
    if (l->list == NULL) die("no memory");
    struct lane *lane = l->list + l->n++;
    *lane = (struct lane){.row = row_of(kind, mode, INTEGERS, n), .steps = 1, .run = run_loop};
    lane->row.group = group;
    lane->row.op = op;
    return lane;
}

/* --- Instructions ----------------------------------------------------------------------------- */

/* Returns a counter of this thread's instructions outside the kernel, or -1 where the system does
 * not allow one. */
static int counter(void)
{
    static int fd = -2;
    if (fd != -2) return fd;
    struct perf_event_attr what = {.type = PERF_TYPE_HARDWARE,
                                   .size = sizeof what,
                                   .config = PERF_COUNT_HW_INSTRUCTIONS,
                                   .exclude_kernel = 1,
                                   .exclude_hv = 1};
    fd = (int)syscall(SYS_perf_event_open, &what, 0, -1, -1, 0);
    return fd;
}

static double instructions_now(void)
{
    uint64_t n;
    return counter() >= 0 && read(counter(), &n, sizeof n) == sizeof n ? (double)n : NAN;
}

/* callgrind counts what happens within this function. It is called through a pointer, so that the
 * compiler neither inlines nor clones it. */
static uint64_t bench_counted(struct lane *l)
{
    return l->run(l);
}
static uint64_t (*volatile const counted)(struct lane *l) = bench_counted;

/* --- Rounds ----------------------------------------------------------------------------------- */

static void check_answers(const struct lane *l, uint64_t yes)
{
    if (l->exact && yes != l->expected)
        die("%s, %s: %llu positive answers instead of %llu", l->row.kind, l->row.op,
            (unsigned long long)yes, (unsigned long long)l->expected);
}

/* Returns nanoseconds per operation and sets *instructions. */
static double one_round(struct lane *l, double *instructions)
{
    double spent = 0, count = 0;
    uint64_t all_yes = 0;
    if (l->before != NULL) l->before(l);
    if (settings.counting) l->steps = 1;
    for (uint64_t step = 0; step < l->steps; step++) {
        if (l->prepare != NULL) l->prepare(l, step);
        l->spent = 0;
        const double first = instructions_now(), start = seconds();
        const uint64_t yes = counted(l);
        const double end = seconds();
        count += instructions_now() - first;
        spent += l->spent != 0 ? l->spent : end - start;
        check_answers(l, yes);
        all_yes += yes;
    }
    const double operations = (double)(l->steps * l->per_step);
    if (strcmp(l->row.op, "negative") == 0) l->row.fpr = (double)all_yes / operations;
    /* Other threads than this one are not counted. */
    *instructions = l->row.threads > 1 || l->spent != 0 ? NAN : count / operations;
    return 1e9 * spent / operations;
}

static int ascending(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void finish(struct lane *l, double *ns, unsigned rounds)
{
    qsort(ns, rounds, sizeof *ns, ascending);
    l->row.ns = rounds % 2 != 0 ? ns[rounds / 2] : (ns[rounds / 2 - 1] + ns[rounds / 2]) / 2;
    l->row.min_ns = ns[0];
    l->row.repetitions = rounds;
    l->row.operations = l->steps * l->per_step;
    row_keep(&l->row);
}

static void show(const char *title, unsigned round, unsigned rounds, size_t lane, size_t lanes)
{
    if (!isatty(STDERR_FILENO)) return;
    fprintf(stderr, "\r%s: round %u of at most %u, %zu of %zu rows \x1b[K", title, round + 1,
            rounds, lane + 1, lanes);
}

static void release(struct lanes *l)
{
    for (size_t i = 0; i < l->n; i++) {
        struct lane *lane = l->list + i;
        give_back(lane->own);
        if (lane->it == NULL || lane->borrowed) continue;
        if (lane->peer != NULL)
            lane->peer->destroy(lane->it);
        else
            tamis_close(lane->it);
    }
    free(l->list);
    *l = (struct lanes){NULL, 0};
}

/* The first round is not recorded: it touches pages and code for the first time. */
void race(struct lanes *l, const char *title)
{
    const unsigned most = settings.counting ? 1
                          : settings.check  ? 3
                          : settings.quick  ? 5
                                            : MOST_ROUNDS;
    const unsigned least = most < 5 ? most : 5;
    double(*ns)[MOST_ROUNDS] = calloc(l->n + 1, sizeof *ns);
    if (ns == NULL) die("no memory");
    const double start = seconds();
    unsigned rounds = 0;
    printf("\n%s\n", title);
    for (unsigned round = settings.counting ? 1 : 0; round <= most; round++) {
        if (rounds >= least && seconds() - start > settings.race_seconds) break;
        for (size_t i = 0; i < l->n; i++) {
            double count;
            show(title, round, most, i, l->n);
            const double x = one_round(l->list + i, &count);
            if (round == 0) continue;
            ns[i][round - 1] = x;
            l->list[i].row.instructions = count; /* they hardly differ from round to round */
        }
        rounds = round;
    }
    if (isatty(STDERR_FILENO)) fputs("\r\x1b[K", stderr);
    for (size_t i = 0; i < l->n; i++) finish(l->list + i, ns[i], rounds);
    free(ns);
    release(l);
}
