/* build: the lines must be counted before the filter can be sized. Files are read twice; a stream is
 * read once and remembered as 16-byte hashes, which is all a filter ever sees of a line. */
#include "cli.h"
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FPR 0.01

#define MIB ((uint64_t)1 << 20)
#define FOR_LINES (16 * MIB)       /* what splitting and hashing take */
#define FOR_EACH_THREAD (32 * MIB) /* of the seal: see tamis_seal */
#define LEAST_MEMORY (64 * MIB)

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
    int os = 0;
    if (in == NULL) return complain(NULL, "not enough memory");
    progress_start(&bar, verb, lines_total_bytes(a->words, a->n_words), a->quiet);
    while (s == TAMIS_OK && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        if (t != NULL)
            s = tamis_add_hashes(t, b->hashes, b->n, NULL, NULL);
        else if (!spool_hashes(spool, b))
            s = TAMIS_ENOMEM;
        if (s == TAMIS_EIO) os = errno;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    const bool failed = lines_failed(in);
    lines_close(in);
    if (failed) return EXIT_ERROR;
    if (s == TAMIS_EIO) return complain(a->temp, "no room for keys: %s", strerror(os));
    return s == TAMIS_OK ? EXIT_FOUND : complain(a->output, "%s", why_not_added(hasher, s));
}

/* What failed: until the filter is saved, the only file is the temporary one. */
static const char *blamed(const struct args *a, const tamis_error *why)
{
    return why->status == TAMIS_EIO ? a->temp : a->output;
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
    complain(blamed(a, &why), "%s", why.text);
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
    complain(blamed(a, &why), "%s", why.text);
    return false;
}

/* Where the file for keys beyond memory goes. */
static const char *temp_dir(const struct args *a)
{
    const char *set = getenv("TMPDIR");
    return a->temp != NULL ? a->temp : set != NULL && *set != '\0' ? set : "/tmp";
}

/* False after a message when --memory makes no sense here. */
static bool check_memory(const struct args *a)
{
    const bool is_stream = a->n_words == 0 || lines_total_bytes(a->words, a->n_words) == 0;
    const char *wrong = NULL;
    if (a->memory == 0)
        wrong = a->temp != NULL ? "--temp: only with --memory" : NULL;
    else if (a->kind == NULL || tamis_kind_named(a->kind) != TAMIS_RIBBON)
        wrong = "--memory: only for --kind ribbon";
    else if (a->memory < LEAST_MEMORY)
        wrong = "--memory: at least 64MiB";
    else if (is_stream && a->items == 0)
        wrong = "--memory: say --items, as lines of a stream can be counted only in memory";
    if (wrong != NULL) complain(NULL, "%s", wrong);
    return wrong == NULL;
}

/* Memory is for lines, threads and keys; at least half of it for keys. */
static tamis_options options_from(const struct args *a)
{
    tamis_options o = {.struct_size = sizeof o, .key = a->key, .threads = threads_from(a)};
    if (a->memory == 0) return o;
    const uint64_t most = a->memory / 2 / FOR_EACH_THREAD;
    if (o.threads > most) o.threads = (uint32_t)most;
    o.scratch_bytes = a->memory - FOR_LINES - o.threads * FOR_EACH_THREAD;
    o.temp_dir = a->temp;
    return o;
}

/* False after a message. */
static bool build_and_save(const struct args *a)
{
    const tamis_options o = options_from(a);
    tamis *t;
    build(a, &o, &t);
    bool good = t != NULL && seal_if_static(a, t);
    good = good && save_filter(t, a->output, a->force) == EXIT_FOUND;
    if (good && !a->quiet) warn_if_over_full(t, a->output);
    tamis_close(t);
    return good;
}

int run_build(const struct args *asked)
{
    struct args a = *asked;
    tamis_plan plan;
    if (check_output(&a) != EXIT_FOUND || !plan_from(&a, &plan) || !check_memory(&a))
        return EXIT_ERROR;
    for (int i = 0; i < a.n_words; i++)
        if (same_file(a.words[i], a.output)) return complain(a.output, "is one of the inputs");
    if (a.memory != 0) a.temp = temp_dir(&a);
    return build_and_save(&a) ? EXIT_FOUND : EXIT_ERROR;
}
