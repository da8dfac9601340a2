/* Measures speed: updates from precomputed hashes, which a caller has after hashing once for
 * several structures; updates from text; both with the count after each; counts, and counts without
 * an interval. The keys are in memory in the order of the
 * stream, as if they had just been read, and are added by calls of 4096. The best of several runs
 * shows what the machine can do, and the median what it did. */
#include "frequency.h"

#include <inttypes.h>
#include <string.h>
#include <tamis/count.h>

static const uint64_t SIZES[] = {65536, 1048576, 4194304};
#define BIG ((uint64_t)128 << 20)

enum how { HASHES, TEXT, COUNTED_HASHES, COUNTED_TEXT, COUNTS, UPPERS };
static const char *const HOW[] = {"add hashes",        "add text",     "add hashes, counted",
                                  "add text, counted", "count hashes", "upper hashes"};

static bool adds(enum how how)
{
    return how < COUNTS;
}

/* The stream in the form in which it is passed. */
struct input {
    size_t n;
    tamis_hash *hashes;
    tamis_bytes *keys; /* may be NULL */
    char *text;
};

struct round {
    const struct input *in;
    const struct structure *of;
    uint64_t bytes;
    enum how how;
    tamis *t;
};

static struct input input_make(const struct stream *s, bool text)
{
    struct input in = {.n = s->n};
    size_t room = 0, used = 0;
    in.hashes = take(in.n * sizeof *in.hashes);
    for (size_t i = 0; i < in.n; i++) in.hashes[i] = s->hashes[s->draws[i]];
    if (!text) return in;
    for (size_t i = 0; i < in.n; i++) room += stream_key(s, s->draws[i]).len + 1;
    in.keys = take(in.n * sizeof *in.keys);
    in.text = take(room);
    for (size_t i = 0; i < in.n; i++) {
        const tamis_bytes key = stream_key(s, s->draws[i]);
        memcpy(in.text + used, key.p, key.len);
        in.keys[i] = (tamis_bytes){in.text + used, key.len};
        used += key.len + 1;
    }
    return in;
}

static void input_drop(struct input *in)
{
    give_back(in->hashes);
    give_back(in->keys);
    give_back(in->text);
}

static void call(struct round *r, size_t at, size_t n)
{
    static tamis_estimate e[BATCH];
    static int64_t counts[BATCH];
    tamis_status s = TAMIS_OK;
    if (r->how == HASHES)
        s = tamis_add_weight_hashes(r->t, r->in->hashes + at, NULL, n, NULL, NULL);
    if (r->how == TEXT) s = tamis_add_weight_many(r->t, r->in->keys + at, NULL, n, NULL, NULL);
    if (r->how == COUNTED_HASHES)
        s = tamis_add_counted_hashes(r->t, r->in->hashes + at, NULL, n, counts, NULL, NULL);
    if (r->how == COUNTED_TEXT)
        s = tamis_add_counted_many(r->t, r->in->keys + at, NULL, n, counts, NULL, NULL);
    if (r->how == COUNTS) s = tamis_count_hashes(r->t, r->in->hashes + at, n, e, NULL);
    if (r->how == UPPERS) tamis_upper_hashes(r->t, r->in->hashes + at, n, counts);
    if (s != TAMIS_OK) die("%s: %s", r->of->name, tamis_status_message(s));
}

/* Uses a new structure for every run of adds, and a filled one for counts. */
static double once(void *ctx)
{
    struct round *r = ctx;
    if (adds(r->how) || r->t == NULL) {
        tamis_close(r->t);
        r->t = structure_open(r->of, r->bytes);
    }
    const double start = seconds();
    for (size_t at = 0; at < r->in->n; at += BATCH)
        call(r, at, r->in->n - at < BATCH ? r->in->n - at : BATCH);
    return seconds() - start;
}

static void measure_one(const struct stream *s, const struct input *in, const struct structure *of,
                        uint64_t bytes, enum how how)
{
    const enum how adding = of->kind == TAMIS_TOP ? TEXT : HASHES;
    struct round r = {.in = in, .of = of, .bytes = bytes, .how = adds(how) ? how : adding};
    if (!adds(how)) {
        once(&r);
        r.how = how;
    }
    const struct timing t = repeat(once, &r, s->n);
    rows_row("\"stream\": \"%s\", \"n\": %u, \"bytes\": %" PRIu64 ", \"structure\": \"%s\", "
             "\"how\": \"%s\", \"ns\": %.6g, \"min_ns\": %.6g, \"repetitions\": %u",
             s->name, s->n, bytes, of->name, HOW[how], t.ns, t.min_ns, t.repetitions);
    printf("%-12s %7" PRIu64 " KiB  %-20s %-20s %7.1f M/s (best %.1f)\n", s->name, bytes / 1024,
           of->name, HOW[how], 1e3 / t.ns, 1e3 / t.min_ns);
    fflush(stdout);
    tamis_close(r.t);
}

void measure_speed(const struct stream *s)
{
    struct input in = input_make(s, true);
    printf("\n");
    for (size_t b = 0; b < LENGTH(SIZES); b++)
        for (size_t i = 0; i < N_STRUCTURES; i++) {
            const bool keeps = STRUCTURES[i].kind == TAMIS_TOP; /* needs the keys themselves */
            measure_one(s, &in, &STRUCTURES[i], SIZES[b], keeps ? TEXT : HASHES);
            measure_one(s, &in, &STRUCTURES[i], SIZES[b], keeps ? COUNTED_TEXT : COUNTED_HASHES);
            measure_one(s, &in, &STRUCTURES[i], SIZES[b], COUNTS);
            measure_one(s, &in, &STRUCTURES[i], SIZES[b], UPPERS);
        }
    input_drop(&in);
}

void measure_text_speed(const struct stream *s)
{
    struct input in = input_make(s, true);
    for (size_t i = 0; i < N_STRUCTURES; i++) measure_one(s, &in, &STRUCTURES[i], SIZES[1], TEXT);
    input_drop(&in);
}

void measure_big_speed(const struct stream *s)
{
    struct input in = input_make(s, false);
    for (size_t i = 0; i < N_STRUCTURES; i++)
        if (STRUCTURES[i].kind != TAMIS_TOP) measure_one(s, &in, &STRUCTURES[i], BIG, HASHES);
    input_drop(&in);
}
