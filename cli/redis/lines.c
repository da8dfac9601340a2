/* Sends lines to the shards of a set. Blocks of lines are gathered in windows, so that each shard
 * gets about a thousand items at a time. Several windows are under way at once and are finished in
 * order. */
#include "../frame/output.h"
#include "../frame/progress.h"
#include "redis.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The number of windows that are under way, and the size of one: a thousand items for each shard,
 * or that many bytes. */
enum { AHEAD = 3, ITEMS_OF_A_SHARD = 1000, LEAST_ITEMS = 16384 };
#define WINDOW_BYTES ((size_t)1 << 22)

struct running {
    const struct flow *f;
    struct cluster *c;
    size_t enough; /* items of a window */
    struct window windows[AHEAD];
    unsigned first, used; /* of the ring; the last one in use may be filling */
    bool filling, stopped;
    struct progress bar;
};

static void window_free(struct window *w)
{
    free(w->lines);
    free(w->keys);
    free(w->hashes);
    free(w->weights);
    free(w->text);
    free(w->batch.bits);
    free(w->batch.estimates);
}

/* Makes the window empty, with room for so many lines and bytes. */
static bool window_start(struct window *w, size_t lines, size_t bytes)
{
    w->n = w->size = 0;
    if (lines > w->room) {
        if (!resize(&w->lines, lines, sizeof *w->lines) ||
            !resize(&w->keys, lines, sizeof *w->keys) ||
            !resize(&w->hashes, lines, sizeof *w->hashes) ||
            !resize(&w->weights, lines, sizeof *w->weights) ||
            !resize(&w->batch.bits, lines / 8 + 1, 1) ||
            !resize(&w->batch.estimates, lines, sizeof *w->batch.estimates))
            return false;
        w->room = lines;
    }
    if (bytes > w->text_room) {
        if (!resize(&w->text, bytes, 1)) return false;
        w->text_room = bytes;
    }
    return true;
}

/* The number of bytes from the beginning of a block to the end of its last line. */
static size_t span(const struct block *b)
{
    if (b->n == 0) return 0;
    const tamis_bytes last = b->lines[b->n - 1];
    return (size_t)((const char *)last.p + last.len + 1 - (const char *)b->lines[0].p);
}

/* Whether a key is a part of its line. Others were written anew, without quotes or escapes. */
static bool is_inside(tamis_bytes key, tamis_bytes line)
{
    const char *p = key.p, *from = line.p;
    return p >= from && p <= from + line.len;
}

/* The number of bytes that a block takes in a window. */
static size_t bytes_of(const struct block *b)
{
    size_t bytes = span(b);
    for (size_t i = 0; i < b->n && b->keys != b->lines; i++)
        if (!is_inside(b->keys[i], b->lines[i])) bytes += b->keys[i].len;
    return bytes;
}

static tamis_bytes moved(tamis_bytes line, const char *from, char *to)
{
    return (tamis_bytes){to + ((const char *)line.p - from), line.len};
}

/* Appends a block, for which there is room. */
static void window_take(struct window *w, const struct block *b)
{
    const size_t bytes = span(b);
    const char *from = b->n > 0 ? b->lines[0].p : NULL;
    char *to = w->text + w->size;
    if (bytes > 0) memcpy(to, from, bytes);
    w->size += bytes;
    for (size_t i = 0; i < b->n; i++) {
        const tamis_bytes key = b->keys[i];
        w->lines[w->n + i] = moved(b->lines[i], from, to);
        w->keys[w->n + i] = moved(key, from, to);
        if (is_inside(key, b->lines[i])) continue;
        w->keys[w->n + i] = (tamis_bytes){w->text + w->size, key.len};
        memcpy(w->text + w->size, key.p, key.len);
        w->size += key.len;
    }
    if (b->n > 0) memcpy(w->hashes + w->n, b->hashes, b->n * sizeof *b->hashes);
    if (b->n > 0 && b->weights != NULL)
        memcpy(w->weights + w->n, b->weights, b->n * sizeof *b->weights);
    w->n += b->n;
    w->input_bytes = b->input_bytes;
}

static struct window *window_at(struct running *r, unsigned i)
{
    return &r->windows[(r->first + i) % AHEAD];
}

/* Finishes the oldest window. False: it failed, or the caller has enough. */
static bool finish_first(struct running *r)
{
    struct window *w = window_at(r, 0);
    if (!cluster_await(r->c, &w->batch)) return false;
    progress_update(&r->bar, w->n, w->input_bytes);
    progress_pause(STDOUT_FILENO);
    r->stopped = !r->f->done(r->f->ctx, w);
    progress_resume(STDOUT_FILENO);
    r->first = (r->first + 1) % AHEAD;
    r->used--;
    return !r->stopped;
}

static bool send_window(struct running *r)
{
    struct window *w = window_at(r, r->used - 1);
    struct cluster_batch *b = &w->batch;
    r->filling = false;
    b->verb = r->f->verb;
    b->n = w->n;
    b->items = w->keys;
    b->hashes = w->hashes;
    b->weights = w->weights;
    b->pending = 0;
    memset(b->bits, 0, w->n / 8 + 1);
    return cluster_send(r->f->to->s, b);
}

static bool finish_all(struct running *r)
{
    if (r->filling && !send_window(r)) return false;
    while (r->used > 0)
        if (!finish_first(r)) return false;
    return true;
}

/* Adds the block to the window that is filling, or to a new one. */
static bool send_block(struct running *r, const struct block *b)
{
    const size_t bytes = bytes_of(b);
    const struct window *last = r->filling ? window_at(r, r->used - 1) : NULL;
    if (last != NULL && (last->n + b->n > last->room || last->size + bytes > last->text_room) &&
        !send_window(r))
        return false;
    if (!r->filling) {
        if (r->used == AHEAD && !finish_first(r)) return false;
        struct window *w = window_at(r, r->used);
        if (!window_start(w, b->n > r->enough ? b->n : r->enough,
                          bytes > WINDOW_BYTES ? bytes : WINDOW_BYTES)) {
            complain(NULL, "not enough memory");
            return false;
        }
        r->used++;
        r->filling = true;
    }
    window_take(window_at(r, r->used - 1), b);
    return true;
}

static bool pump(struct running *r, struct lines *in)
{
    const struct block *b;
    /* Lines behind a file that cannot be read are not written, because the number of lines that
     * were added would be wrong otherwise. */
    const bool asks = r->f->verb == CLUSTER_HAS || r->f->verb == CLUSTER_COUNT;
    while ((asks || !lines_failed(in)) && (b = lines_next(in)) != NULL) {
        if (!send_block(r, b)) return false;
        /* Answers are printed before the reading waits, so that a slow pipe gets them at once. */
        if (!lines_wait(in, 0) && !finish_all(r)) return false;
        if (r->used > 1 && !cluster_step(r->c)) return false;
    }
    return finish_all(r);
}

int send_lines(const struct flow *f, char **files, int n)
{
    struct running r = {.f = f, .c = f->to->c};
    const size_t shards = cluster_shards(f->to->s);
    tamis *router = cluster_router(f->to->s);
    struct lines *in = router != NULL ? lines_open(f->lines, files, n, router, f->threads) : NULL;
    int status = EXIT_ERROR;
    r.enough = shards * ITEMS_OF_A_SHARD > LEAST_ITEMS ? shards * ITEMS_OF_A_SHARD : LEAST_ITEMS;
    if (in == NULL) {
        complain(NULL, "not enough memory");
    } else {
        if (f->prints) lines_print_header(in);
        if (f->progress != NULL) progress_start(&r.bar, f->progress, lines_total_bytes(files, n));
        const bool good = pump(&r, in);
        progress_end(&r.bar);
        if (cluster_why(r.c) != NULL) remote_complain(f->to);
        if (good || r.stopped) status = lines_failed(in) && !r.stopped ? EXIT_NONE : EXIT_FOUND;
        lines_close(in, f->quiet);
    }
    tamis_close(router);
    cluster_forget(r.c); /* windows that were under way when it stopped */
    for (int i = 0; i < AHEAD; i++) window_free(&r.windows[i]);
    return status;
}
