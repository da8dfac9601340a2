/* build: the lines must be counted before the filter can be sized. Files are read twice; a stream
 * is read once and remembered as 16-byte hashes, which is all a filter ever sees of a line. */
#include "../filters/foreign.h"
#include "../input/fields.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

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
    if (b->n == 0) return true;
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

/* What becomes of lines: hashes to be remembered, or keys that are in `t`, or never. */
struct use {
    const char *verb;
    struct spool *spool;
    tamis *t;
    bool never;
};

static tamis_status use_block(const struct use *u, const struct block *b)
{
    if (u->spool != NULL) return spool_hashes(u->spool, b) ? TAMIS_OK : TAMIS_ENOMEM;
    if (u->never) return tamis_exclude_hashes(u->t, b->hashes, b->n, NULL);
    return tamis_add_hashes(u->t, b->hashes, b->n, NULL, NULL);
}

/* Hash the lines with `hasher`. */
static int read_lines(const struct args *a, char **paths, int n, const tamis *hasher,
                      const struct use *u)
{
    struct lines *in = lines_open(a, paths, n, hasher, threads_from(a));
    struct progress bar;
    const struct block *b;
    tamis_status s = TAMIS_OK;
    int os = 0;
    if (in == NULL) return complain(NULL, "not enough memory");
    progress_start(&bar, u->verb, lines_total_bytes(paths, n), a->quiet);
    while (s == TAMIS_OK && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        s = use_block(u, b);
        if (s == TAMIS_EIO) os = errno;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    const bool failed = lines_failed(in);
    lines_close(in);
    if (failed) return EXIT_ERROR;
    if (s == TAMIS_EIO)
        return complain(a->temp, "cannot write keys to the temporary file: %s", strerror(os));
    return s == TAMIS_OK ? EXIT_FOUND
                         : complain(shown_output(a->output), "%s", why_not_added(hasher, s));
}

/* What failed: until the filter is saved, the only file is the temporary one. */
static const char *blamed(const struct args *a, const tamis_error *why)
{
    return why->status == TAMIS_EIO ? a->temp : shown_output(a->output);
}

/* A kind that --static may choose, or compares with. */
struct candidate {
    uint32_t kind;
    bool can;
    tamis_promise r;
};

static struct candidate candidate(const tamis_plan *asked, uint32_t kind)
{
    struct candidate c = {.kind = kind, .r.struct_size = sizeof c.r};
    tamis_plan p = *asked;
    plan_for_kind(&p, kind);
    c.can = tamis_solve(&p, &c.r, NULL) == TAMIS_OK;
    return c;
}

static bool is_smaller(const struct candidate *x, const struct candidate *y)
{
    return x->can && (!y->can || x->r.bytes < y->r.bytes);
}

/* Says how many bytes a sealed filter takes, since no kind fits into the budget. False, or true
 * where the budget is not the reason. */
static bool tell_budget(const struct args *a, const tamis_plan *p)
{
    tamis_plan q = *p;
    q.bytes = 0;
    if (q.fpr == 0) q.fpr = 0.5; /* the highest rate they have */
    const struct candidate ribbon = candidate(&q, TAMIS_RIBBON), fuse = candidate(&q, TAMIS_FUSE);
    const struct candidate *least = is_smaller(&fuse, &ribbon) ? &fuse : &ribbon;
    if (p->bytes == 0 || !least->can) return true;
    complain(shown_output(a->output),
             "--static: %s lines need %s bytes at a rate of %s, but --bytes is %s",
             grouped(p->items), grouped(least->r.bytes), rate_text(least->r.fpr),
             grouped(p->bytes));
    return false;
}

/* "; fuse 1,413,512" or "; fuse 0.0061 % (1 in 16,384)"; within a budget the size is said with the
 * rate, or not at all. */
static void tell_other(const struct candidate *c, bool by_rate, bool budget, const char *mark)
{
    if (!c->can) return;
    fprintf(stderr, "%s %s %s", mark, tamis_kind_name(c->kind),
            by_rate ? rate_text(c->r.fpr) : grouped(c->r.bytes));
    if (budget && !by_rate) fprintf(stderr, " bytes at %s", rate_text(c->r.fpr));
}

/* --static: one of the sealed kinds becomes the plan's, and one line says why: within a budget that
 * with the lower rate, at a given rate, or where the rates are the same, the smaller file. False
 * after a message. */
static bool choose_static(const struct args *a, tamis_plan *p)
{
    const bool budget = p->bytes != 0 && p->fpr == 0;
    const struct candidate ribbon = candidate(p, TAMIS_RIBBON), fuse = candidate(p, TAMIS_FUSE);
    const struct candidate blocked = candidate(p, TAMIS_BLOCKED);
    const bool both = ribbon.can && fuse.can;
    const double gain = both ? ribbon.r.fpr - fuse.r.fpr : 0;
    const bool by_rate = budget && (!both || gain < 0 || gain > 0);
    const bool is_fuse = both && by_rate ? gain > 0 : is_smaller(&fuse, &ribbon);
    const struct candidate *best = is_fuse ? &fuse : &ribbon, *other = is_fuse ? &ribbon : &fuse;
    if (!best->can) return tell_budget(a, p);
    plan_for_kind(p, best->kind);
    if (a->quiet) return true;
    fprintf(stderr, "tamis: %s: chose %s, the ", shown_output(a->output),
            tamis_kind_name(best->kind));
    if (by_rate)
        fprintf(stderr, "sealed kind with the lowest rate in %s bytes: %s", grouped(p->bytes),
                rate_text(best->r.fpr));
    else if (budget)
        fprintf(stderr, "smallest sealed kind with the lowest rate in %s bytes: %s bytes at %s",
                grouped(p->bytes), grouped(best->r.bytes), rate_text(best->r.fpr));
    else
        fprintf(stderr, "smallest: %s bytes, %.2f times the lower bound", grouped(best->r.bytes),
                best->r.bound_ratio);
    tell_other(other, by_rate, budget, ";");
    tell_other(&blocked, by_rate, budget, other->can ? "," : ";");
    fputc('\n', stderr);
    return true;
}

static tamis *create(const struct args *a, const tamis_options *o, uint64_t items, uint64_t never)
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
    if (p.kind == TAMIS_EXACT && p.excluded == 0) p.excluded = never;
    if (a->fpr == 0 && !shaped && p.excluded == 0) p.fpr = USUAL_FPR;
    if (a->is_static && p.kind != TAMIS_EXACT && !choose_static(a, &p)) return NULL;
    if (tamis_create(&p, o, &t, &why) == TAMIS_OK) return t;
    complain(blamed(a, &why), "%s", why.text);
    return NULL;
}

/* How many lines of --never to plan for: the seal goes by those that come. */
static bool count_never(const struct args *a, uint64_t *out)
{
    struct texts never = a->never;
    *out = never.n > 0;
    if (lines_total_bytes(never.text, never.n) == 0) return true;
    if (!lines_count(a, never.text, never.n, out)) return false;
    if (*out == 0) *out = 1;
    return true;
}

/* A stream: all its lines as hashes. */
static bool remember(const struct args *a, struct spool *spool)
{
    tamis *hasher = make_hasher(a);
    const struct use u = {"reading", spool, NULL, false};
    const bool good =
        hasher != NULL && read_lines(a, a->words, a->n_words, hasher, &u) == EXIT_FOUND;
    tamis_close(hasher);
    return good;
}

/* What is not in t yet; false after a message. */
static bool fill(const struct args *a, tamis *t, const struct spool *spool, bool read)
{
    struct texts never = a->never;
    if (spool->n > 0) {
        const tamis_status s = tamis_add_hashes(t, spool->hashes, spool->n, NULL, NULL);
        if (s != TAMIS_OK) {
            complain(shown_output(a->output), "%s", why_not_added(t, s));
            return false;
        }
    } else if (read) {
        const struct use u = {"building", NULL, t, false};
        if (read_lines(a, a->words, a->n_words, t, &u) != EXIT_FOUND) return false;
    }
    const struct use u = {"excluding", NULL, t, true};
    return never.n == 0 || read_lines(a, never.text, never.n, t, &u) == EXIT_FOUND;
}

/* Count, create, add; NULL after a failure, which was reported. */
static tamis *build(const struct args *a, const tamis_options *o)
{
    struct spool spool = {0};
    uint64_t count = a->items, never;
    const bool twice = a->n_words > 0 && lines_total_bytes(a->words, a->n_words) > 0;
    const bool grows = a->kind != NULL && tamis_kind_named(a->kind) == TAMIS_GROWING;
    bool good = count_never(a, &never);
    if (good && count == 0 && twice && !grows) good = lines_count(a, a->words, a->n_words, &count);
    if (good && count == 0 && !twice && !grows) {
        good = remember(a, &spool);
        count = spool.n;
    }
    tamis *t = good ? create(a, o, count, never) : NULL;
    if (t != NULL && !fill(a, t, &spool, twice || grows || a->items != 0)) {
        tamis_close(t);
        t = NULL;
    }
    free(spool.hashes);
    return t;
}

/* The key on both lists was number `which` of --never: say its name, if its file can be read
 * again. */
static void name_conflict(const struct args *a, uint64_t which)
{
    struct texts never = a->never;
    for (int i = 0; i < never.n && lines_total_bytes(never.text + i, 1) > 0; i++) {
        struct lines *in = lines_open(a, never.text + i, 1, NULL, 1);
        const struct block *b;
        while (in != NULL && (b = lines_next(in)) != NULL) {
            if (which < b->n) {
                const char *path;
                const tamis_bytes key = b->keys[which];
                complain(never.text[i],
                         "line %s: '%.*s' is also in the set; a line cannot be both "
                         "a member and excluded",
                         grouped(lines_number(in, which, &path)),
                         key.len < 200 ? (int)key.len : 200, (const char *)key.p);
                lines_close(in);
                return;
            }
            which -= b->n;
        }
        lines_close(in);
    }
    complain(shown_output(a->output),
             "line %s of --never is also in the set; a line cannot be both a member and excluded",
             grouped(which + 1));
}

/* Static kinds have only collected so far. False after a message. */
static bool seal_if_static(const struct args *a, tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    if (tamis_info(t, &f) != TAMIS_OK || !f.collecting || tamis_seal(t, &why) == TAMIS_OK)
        return true;
    if (a->key == NULL && tamis_info(t, &f) == TAMIS_OK && f.hash_suspect)
        complain(shown_output(a->output),
                 "not written: somebody chose these lines against the public hash; build it with a "
                 "secret key: --key-file FILE, made by 'tamis key new'");
    else if (why.status == TAMIS_EINVAL && a->never.n > 0)
        name_conflict(a, why.offset);
    else
        complain(blamed(a, &why), "%s", why.text);
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

/* How an exact filter came out: its rate was not asked for. */
static void tell_exact(const struct args *a, const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (a->quiet || a->never.n == 0 || tamis_info(t, &f) != TAMIS_OK) return;
    fprintf(stderr,
            "tamis: %s: exact filter of %s bytes, %.2f times the lower bound; %s of lines on "
            "neither list get a maybe%s\n",
            shown_output(a->output), grouped(f.bytes), f.bound_ratio, rate_text(f.fpr_now),
            a->fpr == 0 && a->bytes == 0 ? " (--fpr lowers this rate)" : "");
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
        wrong = a->temp != NULL ? "--temp requires --memory" : NULL;
    else if (a->kind == NULL || tamis_kind_named(a->kind) != TAMIS_RIBBON)
        wrong = "--memory requires --kind ribbon";
    else if (a->memory < LEAST_MEMORY)
        wrong = "--memory must be at least 64MiB";
    else if (is_stream && a->items == 0)
        wrong = "--memory: give --items, because the lines of a stream can be "
                "counted only in memory";
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

tamis *build_filter(const struct args *a)
{
    const tamis_options o = options_from(a);
    return build(a, &o);
}

/* False after a message. */
static bool build_and_save(const struct args *a)
{
    const tamis_options o = options_from(a);
    tamis *t = build(a, &o);
    bool good = t != NULL && seal_if_static(a, t);
    good = good &&
           save_unless_overfull(a, t, a->output, "not written", a->force, a->fpr) == EXIT_FOUND;
    if (good) tell_exact(a, t);
    if (good && !a->quiet && a->for_transfer) tell_packed_size(t, shown_output(a->output));
    tamis_close(t);
    return good;
}

int run_build(const struct args *asked)
{
    struct args a = *asked;
    tamis_plan plan;
    if (check_fields(&a) != EXIT_FOUND || check_output(&a) != EXIT_FOUND || !plan_from(&a, &plan) ||
        !check_memory(&a))
        return EXIT_ERROR;
    for (int i = 0; i < a.n_words; i++)
        if (same_file(a.words[i], a.output))
            return complain(a.output, "is one of the inputs and cannot be the output");
    if (a.to != NULL) return build_foreign(&a);
    if (a.type != NULL)
        return complain(NULL, "--type requires --to, because it is for filters of other programs");
    for (int i = 0; i < a.never.n; i++)
        if (same_file(a.never.text[i], a.output))
            return complain(a.output, "is one of the inputs and cannot be the output");
    if (a.memory != 0) a.temp = temp_dir(&a);
    return build_and_save(&a) ? EXIT_FOUND : EXIT_ERROR;
}
