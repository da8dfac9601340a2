/* Measures accuracy: every structure counts the same stream in the same memory, and every key of
 * the stream is queried.
 *
 *     mean     mean of |estimate - truth| over all keys
 *     upper    mean of upper - truth: the one-sided error
 *     p99      bound that 99 % of |estimate - truth| do not exceed
 *     under    share of keys whose upper bound is too low
 *     inside   share of keys with the truth in the interval
 *     width    mean width of an interval that does not end at 0
 *     first    mean of |estimate - truth| for the 100 and 1000 most frequent keys
 *     found    share of the 100 keys with the greatest estimates that are among the 100 most
 *              frequent (for top: the keys of its list, with their texts)
 *
 * A structure that always answers 0 is included for comparison, because means over all keys, most
 * of which are rare, make it look good. */
#include "frequency.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/count.h>

static const uint64_t BUDGETS[] = {65536, 262144, 1048576, 4194304};

const struct structure STRUCTURES[] = {
    {"count-min, 64 bits", TAMIS_COUNT_MIN, 0, 64},
    {"count-min", TAMIS_COUNT_MIN, 0, 32},
    {"conservative", TAMIS_COUNT_MIN, TAMIS_CONSERVATIVE, 32},
    {"count-sketch", TAMIS_COUNT_SKETCH, 0, 32},
    {"tally", TAMIS_TALLY, 0, 0},
    {"top", TAMIS_TOP, 0, 0},
};
const size_t N_STRUCTURES = LENGTH(STRUCTURES);

tamis *structure_open(const struct structure *s, uint64_t bytes)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = s->kind,
                             .flags = s->flags,
                             .cell_bits = s->cell_bits,
                             .bytes = bytes};
    tamis_error why;
    tamis *t;
    if (tamis_create(&plan, NULL, &t, &why) != TAMIS_OK) die("%s: %s", s->name, why.text);
    return t;
}

/* A top keeps the items; all other kinds need only their hashes. */
static void add_all(tamis *t, const struct structure *of, const struct stream *s)
{
    tamis_hash h[BATCH];
    tamis_bytes keys[BATCH];
    for (uint32_t at = 0; at < s->n; at += BATCH) {
        const uint32_t n = s->n - at < BATCH ? s->n - at : BATCH;
        for (uint32_t i = 0; i < n; i++) {
            h[i] = s->hashes[s->draws[at + i]];
            if (of->kind == TAMIS_TOP) keys[i] = stream_key(s, s->draws[at + i]);
        }
        const tamis_status status = of->kind == TAMIS_TOP
                                        ? tamis_add_weight_many(t, keys, NULL, n, NULL, NULL)
                                        : tamis_add_weight_hashes(t, h, NULL, n, NULL, NULL);
        if (status != TAMIS_OK) die("%s: %s", of->name, tamis_status_message(status));
    }
}

/* Queries the keys that were drawn, in the order of their rank. A NULL t always answers 0. */
static tamis_estimate *ask_all(const tamis *t, const struct stream *s)
{
    tamis_estimate *e = calloc(s->distinct, sizeof *e);
    tamis_hash h[BATCH];
    if (e == NULL) die("no memory for %u answers", s->distinct);
    for (uint32_t at = 0; at < s->distinct && t != NULL; at += BATCH) {
        const uint32_t n = s->distinct - at < BATCH ? s->distinct - at : BATCH;
        for (uint32_t i = 0; i < n; i++) h[i] = s->hashes[s->by_rank[at + i]];
        if (tamis_count_hashes(t, h, n, e + at, NULL) != TAMIS_OK) die("a count failed");
    }
    return e;
}

/* Returns the k-th smallest of n values, counted from 0, and reorders them. */
static int64_t select_kth(int64_t *v, size_t n, size_t k)
{
    size_t low = 0, high = n - 1;
    while (low < high) {
        const int64_t pivot = v[low + (high - low) / 2];
        size_t i = low, j = high;
        while (i <= j) {
            while (v[i] < pivot) i++;
            while (v[j] > pivot) j--;
            if (i > j) break;
            const int64_t x = v[i];
            v[i++] = v[j];
            v[j] = x;
            if (j-- == 0) break;
        }
        if (k <= j && j < n)
            high = j;
        else if (k >= i)
            low = i;
        else
            break;
    }
    return v[k];
}

struct result {
    double mean, upper, relative, p99, first_100, first_1000, found, under, inside, width;
};

static double mean_of_first(const struct stream *s, const tamis_estimate *e, uint32_t n)
{
    double sum = 0;
    if (n > s->distinct) n = s->distinct;
    for (uint32_t i = 0; i < n; i++) sum += fabs((double)e[i].estimate - s->truth[s->by_rank[i]]);
    return sum / n;
}

/* Keys as frequent as the hundredth count as found. */
static double share_found(const struct stream *s, const tamis_estimate *e, int64_t *room)
{
    const uint32_t k = s->distinct < 100 ? s->distinct : 100;
    const uint32_t least = s->truth[s->by_rank[k - 1]];
    uint32_t good = 0, all = 0;
    for (uint32_t i = 0; i < s->distinct; i++) room[i] = e[i].estimate;
    const int64_t bar = select_kth(room, s->distinct, s->distinct - k);
    if (bar == 0) return 0;                  /* all estimates are 0, so nothing was distinguished */
    for (int above = 1; above >= 0; above--) /* first those above the bar, then those equal to it */
        for (uint32_t i = s->distinct; i-- > 0 && all < k;) {
            if (above ? e[i].estimate <= bar : e[i].estimate != bar) continue;
            all++;
            good += s->truth[s->by_rank[i]] >= least;
        }
    return (double)good / k;
}

/* Does the same for a list that a structure keeps itself; items are compared by their bytes. */
static double share_listed(const tamis *t, const struct stream *s)
{
    tamis_heavy list[100];
    const size_t n = tamis_top(t, list, 100);
    const uint32_t least = s->truth[s->by_rank[s->distinct < 100 ? s->distinct - 1 : 99]];
    size_t good = 0;
    for (size_t i = 0; i < n; i++)
        for (uint32_t rank = 0; rank < s->distinct; rank++) {
            const uint32_t id = s->by_rank[rank];
            if (s->truth[id] < least) break;
            const tamis_bytes key = stream_key(s, id);
            if (s->hashes[id].lo != list[i].hash) continue;
            good += list[i].item.p != NULL && list[i].length == key.len &&
                    memcmp(list[i].item.p, key.p, list[i].item.len) == 0;
            break;
        }
    return (double)good / (s->distinct < 100 ? s->distinct : 100);
}

static struct result judge(const struct stream *s, const tamis_estimate *e)
{
    struct result r = {.mean = 0};
    int64_t *room = malloc(s->distinct * sizeof *room);
    if (room == NULL) die("no memory for %u errors", s->distinct);
    for (uint32_t i = 0; i < s->distinct; i++) {
        const int64_t truth = s->truth[s->by_rank[i]], off = llabs(e[i].estimate - truth);
        room[i] = off;
        r.mean += (double)off;
        r.relative += (double)off / (double)truth;
        r.upper += (double)(e[i].upper - truth);
        r.under += e[i].upper < truth;
        r.inside += e[i].lower <= truth && truth <= e[i].upper;
        if (e[i].lower > 0) r.width = fmax(r.width, (double)(e[i].upper - e[i].lower));
    }
    r.mean /= s->distinct;
    r.relative /= s->distinct;
    r.upper /= s->distinct;
    r.under /= s->distinct;
    r.inside /= s->distinct;
    r.p99 = (double)select_kth(room, s->distinct, (size_t)((double)s->distinct * 0.99));
    r.first_100 = mean_of_first(s, e, 100);
    r.first_1000 = mean_of_first(s, e, 1000);
    r.found = share_found(s, e, room);
    free(room);
    return r;
}

/* Returns e N / w for a plain count-min of 32 bits and 4 rows in this memory: the textbook's
 * bound. */
static double textbook(const struct stream *s, uint64_t bytes)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_COUNT_MIN, .bytes = bytes};
    tamis_solve(&p, NULL, NULL);
    return p.error * s->n;
}

/* The mean of upper - truth is meaningless for a structure that is uncertain on both sides, or
 * never uncertain. */
static const char *upper_text(const struct structure *of, const struct result *r, char out[32])
{
    snprintf(out, 32, "null");
    if (of != NULL && of->kind != TAMIS_COUNT_SKETCH) snprintf(out, 32, "%.6g", r->upper);
    return out;
}

static void report(const struct stream *s, uint64_t bytes, const struct structure *of,
                   const struct result *r)
{
    const char *name = of != NULL ? of->name : "always 0";
    char upper[32];
    upper_text(of, r, upper);
    rows_row("\"stream\": \"%s\", \"n\": %u, \"bytes\": %" PRIu64 ", \"structure\": \"%s\", "
             "\"mean\": %.6g, \"upper\": %s, \"relative\": %.6g, \"p99\": %.6g, "
             "\"first_100\": %.6g, \"first_1000\": %.6g, \"found\": %.4g, \"under\": %.6g, "
             "\"inside\": %.6g, \"width\": %.6g, \"textbook\": %.6g",
             s->name, s->n, bytes, name, r->mean, upper, r->relative, r->p99, r->first_100,
             r->first_1000, r->found, r->under, r->inside, r->width, textbook(s, bytes));
    printf("%-12s %5" PRIu64 " KiB  %-20s %10.4g %10s %8.4g %9.4g %9.4g %6.2f %7.2f %7.2f %7.4g\n",
           s->name, bytes / 1024, name, r->mean, upper, r->p99, r->first_100, r->first_1000,
           r->found, 100 * r->under, 100 * r->inside, r->width);
    fflush(stdout);
}

static void measure_one(const struct stream *s, const struct structure *of, uint64_t bytes)
{
    tamis *t = of != NULL ? structure_open(of, bytes) : NULL;
    if (t != NULL) add_all(t, of, s);
    tamis_estimate *e = ask_all(t, s);
    struct result r = judge(s, e);
    if (of != NULL && of->kind == TAMIS_TOP) r.found = share_listed(t, s);
    report(s, bytes, of, &r);
    free(e);
    tamis_close(t);
}

void measure_accuracy(const struct stream *s)
{
    printf("\n%-12s %9s  %-20s %10s %10s %8s %9s %9s %6s %7s %7s %7s\n", "stream", "memory", "",
           "mean", "upper", "p99", "first100", "first1000", "found", "under%", "inside%", "width");
    for (size_t b = 0; b < LENGTH(BUDGETS); b++) {
        measure_one(s, NULL, BUDGETS[b]);
        for (size_t i = 0; i < N_STRUCTURES; i++) measure_one(s, &STRUCTURES[i], BUDGETS[b]);
    }
}

void measure_contest(const struct stream *s)
{
    for (size_t b = 0; b < LENGTH(BUDGETS); b++)
        for (size_t i = 0; i < N_STRUCTURES; i++)
            if (STRUCTURES[i].cell_bits == 32 && STRUCTURES[i].flags == 0)
                measure_one(s, &STRUCTURES[i], BUDGETS[b]);
}
