/* build: the lines must be counted before the filter can be sized. Files are read twice; a stream is
 * read once and remembered as 16-byte hashes, which is all a filter ever sees of a line. */
#include "cli.h"
#include "lines.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FPR 0.01

struct spool {
    tamis_hash *hashes;
    size_t n, room;
};

static bool spool_hashes(struct spool *s, const struct block *b)
{
    if (s->room - s->n < b->n) {
        const size_t room = s->room * 2 + b->n;
        tamis_hash *bigger =
            room <= SIZE_MAX / sizeof *bigger ? realloc(s->hashes, room * sizeof *bigger) : NULL;
        if (bigger == NULL) return false;
        s->hashes = bigger;
        s->room = room;
    }
    memcpy(s->hashes + s->n, b->hashes, b->n * sizeof *b->hashes);
    s->n += b->n;
    return true;
}

/* A filter of one item with the right seed or key, only to hash with. */
static tamis *make_hasher(const struct args *a, const tamis_options *o, tamis_error *why)
{
    tamis_plan p = {.struct_size = sizeof p};
    tamis *t;
    p.items = 1;
    p.fpr = 0.5;
    p.seed = a->seed;
    return tamis_create(&p, o, &t, why) == TAMIS_OK ? t : NULL;
}

/* Hash the lines with `hasher`; remember the hashes, or add them to `t`. */
static int read_lines(const struct args *a, const char *verb, const tamis *hasher,
                      struct spool *spool, tamis *t)
{
    struct lines *in = lines_open(a->words, a->n_words, a->nul, hasher, threads_from(a));
    struct progress bar;
    const struct block *b;
    tamis_status s = TAMIS_OK;
    if (in == NULL) return complain(NULL, "not enough memory");
    progress_start(&bar, verb, lines_total_bytes(a->words, a->n_words), a->quiet);
    while (s == TAMIS_OK && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        if (t != NULL)
            s = tamis_add_hashes(t, b->hashes, b->n, NULL, NULL);
        else if (!spool_hashes(spool, b))
            s = TAMIS_ENOMEM;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    const bool failed = lines_failed(in);
    lines_close(in);
    if (failed) return EXIT_ERROR;
    return s == TAMIS_OK ? EXIT_FOUND : complain(a->output, "%s", why_not_added(hasher, s));
}

static tamis *create(const struct args *a, const tamis_options *o, uint64_t items)
{
    tamis_plan p;
    tamis_error why;
    tamis *t;
    if (!plan_from(a, &p)) return NULL;
    p.items = items > 0 || p.kind == TAMIS_GROWING ? items : 1;
    /* All the lines go to one generation; the others are for as many that will come. */
    if (p.kind == TAMIS_WINDOW && a->items == 0 && !a->turning)
        p.items *= p.generations != 0 ? p.generations : (p.generations = 4);
    const bool shaped = (a->bytes != 0 || a->m != 0) && p.kind != TAMIS_GROWING;
    if (a->fpr == 0 && !shaped) p.fpr = DEFAULT_FPR;
    if (tamis_create(&p, o, &t, &why) == TAMIS_OK) return t;
    complain(a->output, "%s", why.text);
    return NULL;
}

/* Count, create, add; *out is NULL after a failure, which was reported. */
static void build(const struct args *a, const tamis_options *o, tamis **out)
{
    struct spool spool = {0};
    uint64_t count = a->items;
    const bool twice = a->n_words > 0 && lines_total_bytes(a->words, a->n_words) > 0;
    const bool grows = a->kind != NULL && tamis_kind_named(a->kind) == TAMIS_GROWING;
    bool good = true;
    *out = NULL;
    if (count == 0 && twice && !grows) good = lines_count(a->words, a->n_words, a->nul, &count);
    if (count == 0 && !twice && !grows) {
        tamis_error why;
        tamis *hasher = make_hasher(a, o, &why);
        if (hasher == NULL) complain(a->output, "%s", why.text);
        good = hasher != NULL && read_lines(a, "reading", hasher, &spool, NULL) == EXIT_FOUND;
        count = spool.n;
        tamis_close(hasher);
    }
    tamis *t = good ? create(a, o, count) : NULL;
    if (t != NULL && spool.n > 0) {
        const tamis_status s = tamis_add_hashes(t, spool.hashes, spool.n, NULL, NULL);
        if (s != TAMIS_OK) {
            complain(a->output, "%s", why_not_added(t, s));
            tamis_close(t);
            t = NULL;
        }
    } else if (t != NULL && (twice || grows || a->items != 0)) {
        if (read_lines(a, "building", t, NULL, t) != EXIT_FOUND) {
            tamis_close(t);
            t = NULL;
        }
    }
    free(spool.hashes);
    *out = t;
}

/* Static kinds have only collected so far. False after a message. */
static bool seal_if_static(const struct args *a, tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    if (tamis_info(t, &f) != TAMIS_OK || !f.collecting || tamis_seal(t, &why) == TAMIS_OK)
        return true;
    complain(a->output, "%s", why.text);
    return false;
}

/* What the filter will take on the wire. */
static void tell_packed_size(const tamis *t, const char *path)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_promise r = {.struct_size = sizeof r};
    if (tamis_info(t, &f) != TAMIS_OK) return;
    tamis_plan p = {.struct_size = sizeof p, .kind = f.kind, .flags = TAMIS_TRANSFER};
    p.items = f.items > 0 ? (uint64_t)llround(f.items_estimate) : 1;
    p.m = f.m;
    p.k = f.k;
    if (tamis_solve(&p, &r, NULL) == TAMIS_OK)
        complain(path, "%s bytes, about %s when packed", grouped(f.bytes), grouped(r.packed_bytes));
}

int run_build(const struct args *a)
{
    const tamis_options o = {.struct_size = sizeof o, .key = a->key};
    tamis *t;
    tamis_plan asked;
    if (check_output(a) != EXIT_FOUND || !plan_from(a, &asked)) return EXIT_ERROR;
    for (int i = 0; i < a->n_words; i++)
        if (same_file(a->words[i], a->output)) return complain(a->output, "is one of the inputs");
    build(a, &o, &t);
    if (t == NULL || !seal_if_static(a, t)) {
        tamis_close(t);
        return EXIT_ERROR;
    }
    const int status = save_filter(t, a->output, a->force);
    if (status == EXIT_FOUND && !a->quiet) warn_if_over_full(t, a->output);
    if (status == EXIT_FOUND && !a->quiet && a->for_transfer) tell_packed_size(t, a->output);
    tamis_close(t);
    return status;
}
