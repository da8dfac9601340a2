/* build: the lines must be counted before the filter can be planned. Files are therefore read
 * twice. A stream is read once, and its lines are kept as 16-byte hashes, because a filter needs
 * no more than the hash of a line. */
#include "build.h"

#include "../filters/filter.h"
#include "../filters/foreign.h"
#include "../filters/rate.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/temporary.h"

#include <tamis/inspect.h>
#include <tamis/publish.h>

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MIB ((uint64_t)1 << 20)
#define FOR_LINES (16 * MIB)       /* for splitting and hashing */
#define FOR_EACH_THREAD (32 * MIB) /* for the seal: see tamis_seal */
#define LEAST_MEMORY (64 * MIB)

static tamis_status spool_hashes(void *ctx, const struct block *b)
{
    struct spool *s = ctx;
    const size_t n = b->n;
    if (n == 0) return TAMIS_OK;
    if (s->room - s->n < n) {
        const size_t room = s->room * 2 + n;
        tamis_hash *bigger =
            room <= SIZE_MAX / sizeof *bigger ? realloc(s->hashes, room * sizeof *bigger) : NULL;
        if (bigger == NULL) return TAMIS_ENOMEM;
        s->hashes = bigger;
        s->room = room;
    }
    memcpy(s->hashes + s->n, b->hashes, n * sizeof *b->hashes);
    s->n += n;
    return TAMIS_OK;
}

static tamis_status add_them(void *t, const struct block *b)
{
    return tamis_add_hashes(t, b->hashes, b->n, NULL, NULL);
}

static tamis_status exclude_them(void *t, const struct block *b)
{
    return tamis_exclude_hashes(t, b->hashes, b->n, NULL);
}

bool read_hashes(const struct args *a, char **paths, int n, const tamis *hasher, const char *verb,
                 use_hashes *use, void *ctx)
{
    struct lines *in = lines_open(&a->lines, paths, n, hasher, threads_from(&a->work));
    struct progress bar;
    const struct block *b;
    tamis_status s = TAMIS_OK;
    int os = 0;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, verb, lines_total_bytes(paths, n));
    while (s == TAMIS_OK && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        s = use(ctx, b);
        if (s == TAMIS_EIO) os = errno;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    const bool failed = lines_failed(in) || (s == TAMIS_OK && lines_lack_keys(in));
    lines_close(in, a->quiet || failed);
    if (failed) return false; /* after a message */
    if (s == TAMIS_EIO)
        complain(a->work.temp, "cannot write keys to the temporary file: %s", strerror(os));
    else if (s != TAMIS_OK && a->plan.grow)
        complain(a->words[0], "unchanged: %s", why_not_added(hasher, s));
    else if (s != TAMIS_OK)
        complain(shown_output(a->output.path), "%s", why_not_added(hasher, s));
    return s == TAMIS_OK;
}

bool spool_lines(const struct args *a, char **paths, int n, const tamis *hasher, const char *verb,
                 struct spool *out)
{
    return read_hashes(a, paths, n, hasher, verb, spool_hashes, out);
}

/* The file that a message names: until the filter is saved, only the temporary file is written. */
static const char *blamed(const struct args *a, const tamis_error *why)
{
    return why->status == TAMIS_EIO ? a->work.temp : shown_output(a->output.path);
}

/* --- The plan --------------------------------------------------------------------------------- */

/* The plan of a kind that --static may choose or compares with. */
struct candidate {
    uint32_t kind;
    bool can; /* the kind has such a plan */
    tamis_plan plan;
    tamis_promise promise;
};

static struct candidate candidate_of(const tamis_plan *asked, uint32_t kind)
{
    struct candidate c = {.kind = kind, .plan = *asked, .promise.struct_size = sizeof c.promise};
    plan_for_kind(&c.plan, kind);
    c.can = tamis_solve(&c.plan, &c.promise, NULL) == TAMIS_OK;
    return c;
}

static bool is_smaller(const struct candidate *x, const struct candidate *y)
{
    return x->can && (!y->can || x->promise.bytes < y->promise.bytes);
}

/* No sealed kind has the plan: if the reason is the budget, a message says how many bytes the
 * smallest one needs. Returns whether it is. */
static bool tell_budget(const struct args *a, const tamis_plan *p)
{
    tamis_plan q = *p;
    if (p->bytes == 0) return false;
    q.bytes = 0;
    if (q.fpr == 0) q.fpr = 0.5; /* the highest rate of a sealed kind */
    const struct candidate ribbon = candidate_of(&q, TAMIS_RIBBON);
    const struct candidate fuse = candidate_of(&q, TAMIS_FUSE);
    const struct candidate *least = is_smaller(&fuse, &ribbon) ? &fuse : &ribbon;
    if (!least->can) return false;
    complain(shown_output(a->output.path),
             "--static: %s lines need %s bytes at a rate of %s, but --bytes is %s",
             grouped(p->items), grouped(least->promise.bytes), rate_text(least->promise.fpr),
             grouped(p->bytes));
    return true;
}

/* By what --static chooses. */
enum choice {
    BY_RATE,        /* within a budget: the lowest rate */
    BY_SIZE,        /* at a given rate: the smallest file */
    BY_SIZE_IN_RATE /* within a budget, where the rates are the same: the smallest file */
};

/* "; fuse 1,413,512" or "; fuse 0.0061 % (1 in 16,384)". */
static void tell_other(const struct candidate *c, enum choice by, const char *mark)
{
    if (!c->can) return;
    fprintf(stderr, "%s %s %s", mark, tamis_kind_name(c->kind),
            by == BY_RATE ? rate_text(c->promise.fpr) : grouped(c->promise.bytes));
    if (by == BY_SIZE_IN_RATE) fprintf(stderr, " bytes at %s", rate_text(c->promise.fpr));
}

static void tell_choice(const struct args *a, const tamis_plan *asked, enum choice by,
                        const struct candidate *best, const struct candidate *other)
{
    const struct candidate blocked = candidate_of(asked, TAMIS_BLOCKED);
    fprintf(stderr, "tamis: %s: chose %s, the ", shown_output(a->output.path),
            tamis_kind_name(best->kind));
    switch (by) {
    case BY_RATE:
        fprintf(stderr, "sealed kind with the lowest rate in %s bytes: %s", grouped(asked->bytes),
                rate_text(best->promise.fpr));
        break;
    case BY_SIZE:
        fprintf(stderr, "smallest: %s bytes, %.2f times the lower bound",
                grouped(best->promise.bytes), best->promise.bound_ratio);
        break;
    case BY_SIZE_IN_RATE:
        fprintf(stderr, "smallest sealed kind with the lowest rate in %s bytes: %s bytes at %s",
                grouped(asked->bytes), grouped(best->promise.bytes), rate_text(best->promise.fpr));
        break;
    }
    tell_other(other, by, ";");
    tell_other(&blocked, by, other->can ? "," : ";");
    fputc('\n', stderr);
}

static enum choice choice_between(const tamis_plan *asked, const struct candidate *x,
                                  const struct candidate *y)
{
    if (asked->bytes == 0 || asked->fpr != 0) return BY_SIZE;
    const bool equal =
        x->can && y->can && !(x->promise.fpr < y->promise.fpr || x->promise.fpr > y->promise.fpr);
    return equal ? BY_SIZE_IN_RATE : BY_RATE;
}

/* --static: the plan becomes the solved one of a sealed kind, and a line says why. False: no sealed
 * kind has such a plan, and the plan is unchanged; *told is true if a message gave the reason. */
static bool choose_static(const struct args *a, tamis_plan *p, bool *told)
{
    const struct candidate ribbon = candidate_of(p, TAMIS_RIBBON);
    const struct candidate fuse = candidate_of(p, TAMIS_FUSE);
    const enum choice by = choice_between(p, &ribbon, &fuse);
    const bool lower = ribbon.can && fuse.can && fuse.promise.fpr < ribbon.promise.fpr;
    const bool compares_rates = by == BY_RATE && ribbon.can && fuse.can;
    const bool is_fuse = compares_rates ? lower : is_smaller(&fuse, &ribbon);
    const struct candidate *best = is_fuse ? &fuse : &ribbon, *other = is_fuse ? &ribbon : &fuse;
    *told = !best->can && tell_budget(a, p);
    if (!best->can) return false;
    if (!a->quiet) tell_choice(a, p, by, best, other);
    *p = best->plan;
    return true;
}

struct made create_filter(const struct args *a, const tamis_options *o, tamis_plan plan,
                          uint64_t lines, uint64_t never)
{
    struct made m = {NULL, TAMIS_AUTO, 0};
    tamis_status s = TAMIS_OK;
    tamis_error why;
    bool told = false;
    plan_for_lines(&a->plan, lines, never, &plan);
    m.asked = plan.fpr;
    const bool chooses = a->plan.is_static && plan.kind != TAMIS_EXACT;
    if (!chooses || !choose_static(a, &plan, &told)) s = tamis_solve(&plan, NULL, &why);
    if (told) return m;
    m.kind = plan.kind;
    if (m.asked == 0) m.asked = plan.fpr;
    if (s == TAMIS_OK) s = tamis_create(&plan, o, &m.t, &why);
    if (s != TAMIS_OK) complain(blamed(a, &why), "%s", why.text);
    return m;
}

/* --- The lines -------------------------------------------------------------------------------- */

/* The number of lines of --never to plan for. An estimate is enough, because the seal goes by the
 * lines that come. */
static bool count_never(const struct args *a, uint64_t *out)
{
    struct texts never = a->plan.never;
    *out = never.n > 0;
    if (lines_total_bytes(never.text, never.n) == 0) return true;
    if (!lines_count(&a->lines, never.text, never.n, out)) return false;
    if (*out == 0) *out = 1;
    return true;
}

/* Reads a stream, and keeps the hashes of all its lines. */
static bool remember_hashes(const struct args *a, struct spool *spool)
{
    tamis *hasher = make_hasher(a);
    const bool good =
        hasher != NULL && spool_lines(a, a->words, a->n_words, hasher, "reading", spool);
    tamis_close(hasher);
    return good;
}

/* Adds the hashes of a stream, a part at a time, so that the progress can be shown. */
static tamis_status add_spool(tamis *t, const struct spool *spool)
{
    enum { PART = 1 << 20 };
    struct progress bar;
    tamis_status s = TAMIS_OK;
    progress_count(&bar, "building", "lines", spool->n);
    for (size_t at = 0, n; at < spool->n && s == TAMIS_OK; at += n) {
        n = spool->n - at < PART ? spool->n - at : PART;
        s = tamis_add_hashes(t, spool->hashes + at, n, NULL, NULL);
        progress_add(&bar, n);
    }
    progress_end(&bar);
    return s;
}

/* Adds what is not in t yet; false after a message. */
static bool fill_filter(const struct args *a, tamis *t, const struct spool *spool, bool read)
{
    struct texts never = a->plan.never;
    if (spool->n > 0) {
        const tamis_status s = add_spool(t, spool);
        if (s != TAMIS_OK) {
            complain(shown_output(a->output.path), "%s", why_not_added(t, s));
            return false;
        }
    } else if (read) {
        if (!read_hashes(a, a->words, a->n_words, t, "building", add_them, t)) return false;
    }
    return never.n == 0 || read_hashes(a, never.text, never.n, t, "excluding", exclude_them, t);
}

/* Counts the lines, creates the filter and adds them; t is NULL after a message. */
static struct made build(const struct args *a, const tamis_options *o, const tamis_plan *plan)
{
    struct spool spool = {0};
    struct made m = {NULL, TAMIS_AUTO, 0};
    uint64_t count = a->plan.items, never;
    const bool twice = a->n_words > 0 && lines_total_bytes(a->words, a->n_words) > 0;
    const bool grows = plan->kind == TAMIS_GROWING || plans_distinct(plan);
    bool good = count_never(a, &never);
    if (good && count == 0 && twice && !grows)
        good = lines_count(&a->lines, a->words, a->n_words, &count);
    if (good && count == 0 && !twice && !grows) {
        good = remember_hashes(a, &spool);
        count = spool.n;
    }
    if (good && a->plan.items == 0 && !grows) count = with_headroom(&a->plan, count);
    if (good) m = create_filter(a, o, *plan, count, never);
    if (m.t != NULL && !fill_filter(a, m.t, &spool, twice || grows || a->plan.items != 0)) {
        tamis_close(m.t);
        m.t = NULL;
    }
    free(spool.hashes);
    return m;
}

/* --- Seal and save ---------------------------------------------------------------------------- */

bool find_record(const struct args *a, char **paths, int n, uint64_t which, struct found_line *out)
{
    for (int i = 0; i < n && lines_total_bytes(paths + i, 1) > 0; i++) {
        struct lines *in = lines_open(&a->lines, paths + i, 1, NULL, 1);
        const struct block *b;
        while (in != NULL && (b = lines_next(in)) != NULL) {
            if (which < b->n) {
                const char *path;
                const tamis_bytes key = b->keys[which];
                out->path = paths[i];
                out->line = lines_number(in, which, &path);
                snprintf(out->key, sizeof out->key, "%.*s", key.len < 200 ? (int)key.len : 200,
                         (const char *)key.p);
                lines_close(in, true);
                return true;
            }
            which -= b->n;
        }
        lines_close(in, true);
    }
    return false;
}

/* Line number `which` of --never is in the set as well. The message quotes it if its file can be
 * read again. */
static void name_conflict(const struct args *a, uint64_t which)
{
    struct texts never = a->plan.never;
    struct found_line r;
    if (find_record(a, never.text, never.n, which, &r))
        complain(r.path,
                 "line %s: '%s' is also in the set; a line cannot be both a member and excluded",
                 grouped(r.line), r.key);
    else
        complain(
            shown_output(a->output.path),
            "line %s of --never is also in the set; a line cannot be both a member and excluded",
            grouped(which + 1));
}

/* The sealed kinds have only collected hashes so far. False after a message. */
static bool seal_if_collecting(const struct args *a, const struct made *m)
{
    tamis_facts f = {.struct_size = sizeof f};
    struct progress bar;
    tamis_error why;
    if (!is_sealed_kind(m->kind)) return true;
    progress_wait(&bar, "sealing");
    const bool sealed = tamis_seal(m->t, &why) == TAMIS_OK;
    progress_end(&bar);
    if (sealed) return true;
    if (a->key.bytes == NULL && tamis_stat(m->t, &f) == TAMIS_OK && f.hash_suspect)
        complain(shown_output(a->output.path),
                 "not written: somebody chose these lines against the public hash; build it with a "
                 "secret key: --key-file FILE, made by 'tamis key new'");
    else if (why.status == TAMIS_EINVAL && a->plan.never.n > 0)
        name_conflict(a, why.offset);
    else if (why.status == TAMIS_EINVAL && m->kind == TAMIS_VALUE_MAP && why.offset != UINT64_MAX)
        name_two_values(a, why.offset, why.text);
    else
        complain(blamed(a, &why), "%s", why.text);
    return false;
}

/* --for-transfer: the size that the filter will have when it is packed. */
static void tell_packed_size(const tamis_facts *f, const char *path)
{
    tamis_promise r = {.struct_size = sizeof r};
    tamis_plan p = {.struct_size = sizeof p, .kind = f->kind, .flags = TAMIS_TRANSFER};
    p.items = f->items > 0 ? (uint64_t)llround(f->items_estimate) : 1;
    p.m = f->m;
    p.k = f->k;
    if (tamis_solve(&p, &r, NULL) == TAMIS_OK)
        complain(path, "%s bytes, about %s when packed", grouped(f->bytes),
                 grouped(r.packed_bytes));
}

/* --never: the size and the rate of the exact filter, which may not have been asked for. */
static void tell_exact(const struct args *a, const tamis_facts *f)
{
    fprintf(stderr,
            "tamis: %s: exact filter of %s bytes, %.2f times the lower bound; %s of lines on "
            "neither list get a maybe%s\n",
            shown_output(a->output.path), grouped(f->bytes), f->bound_ratio, rate_text(f->fpr_now),
            a->plan.fpr == 0 && a->plan.bytes == 0 ? " (--fpr lowers this rate)" : "");
}

/* The lines were counted, so the filter has room for them and no more: says what 'tamis add' will
 * do. */
static void tell_room(const struct args *a, const tamis_facts *f)
{
    const bool changes = f->kind == TAMIS_BLOOM || f->kind == TAMIS_PARTITIONED ||
                         f->kind == TAMIS_BLOCKED || f->kind == TAMIS_COUNTING ||
                         f->kind == TAMIS_CUCKOO;
    if (a->plan.items != 0 || a->plan.bytes != 0 || a->plan.headroom > 0 || !changes) return;
    complain(shown_output(a->output.path),
             "has room for the %s lines that were counted; 'tamis add' will raise its "
             "false-positive rate, and refuses above twice the planned one (--headroom 50%% leaves "
             "room)",
             grouped(f->planned_items));
}

/* tamis_info reads all cells, so it is called once, for the rate that the bits have and for all
 * that is reported. */
static int save_built(const struct args *a, const struct made *m)
{
    tamis_facts f = {.struct_size = sizeof f};
    const bool known = read_facts(m->t, &f);
    const int status = save_unless_overfull(a, m->t, known ? &f : NULL, a->output.path,
                                            "not written", a->output.force, m->asked);
    if (status != EXIT_FOUND || !known || a->quiet) return status;
    if (isatty(STDERR_FILENO)) tell_room(a, &f);
    if (a->plan.never.n > 0) tell_exact(a, &f);
    if (a->plan.for_transfer) tell_packed_size(&f, shown_output(a->output.path));
    return status;
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* False after a message when --memory cannot be used here. */
static bool check_memory(const struct args *a)
{
    const bool is_stream = a->n_words == 0 || lines_total_bytes(a->words, a->n_words) == 0;
    const char *wrong = NULL;
    if (a->work.memory == 0)
        wrong = a->work.temp != NULL ? "--temp requires --memory" : NULL;
    else if (a->plan.kind == NULL || tamis_kind_named(a->plan.kind) != TAMIS_RIBBON)
        wrong = "--memory requires --kind ribbon";
    else if (a->work.memory < LEAST_MEMORY)
        wrong = "--memory must be at least 64MiB";
    else if (is_stream && a->plan.items == 0)
        wrong =
            "--memory: give --items, because the lines of a stream can be counted only in memory";
    if (wrong != NULL) complain(NULL, "%s", wrong);
    return wrong == NULL;
}

/* Divides the memory among lines, threads and keys, which get at least half of it. */
static tamis_options options_from(const struct args *a)
{
    tamis_options o = {
        .struct_size = sizeof o, .key = a->key.bytes, .threads = threads_from(&a->work)};
    if (a->work.memory == 0) return o;
    const uint64_t most = a->work.memory / 2 / FOR_EACH_THREAD;
    if (o.threads > most) o.threads = (uint32_t)most;
    o.scratch_bytes = a->work.memory - FOR_LINES - o.threads * FOR_EACH_THREAD;
    o.temp_dir = a->work.temp;
    return o;
}

tamis *build_filter(const struct args *a)
{
    const tamis_options o = options_from(a);
    tamis_plan plan;
    return plan_from(&a->plan, &plan) ? build(a, &o, &plan).t : NULL;
}

/* Whether the output is also an input; then a message says so. */
static bool writes_input(const struct args *a)
{
    bool is_input = false;
    for (int i = 0; i < a->n_words; i++)
        is_input = is_input || same_file(a->words[i], a->output.path);
    for (int i = 0; i < a->plan.never.n; i++)
        is_input = is_input || same_file(a->plan.never.text[i], a->output.path);
    if (is_input) complain(a->output.path, "is one of the inputs and cannot be the output");
    return is_input;
}

int run_build(const struct args *asked)
{
    struct args a = *asked;
    tamis_plan plan;
    if (!check_fields(&a.lines) || !check_output(&a) || !plan_from(&a.plan, &plan) ||
        !check_map(&a, &plan) || !check_memory(&a) || !check_headroom(&a.plan, &plan) ||
        writes_input(&a))
        return EXIT_ERROR;
    if (a.foreign.to != NULL && a.plan.encoding != NULL)
        return complain(NULL, "--encoding is for filters of Tamis; with --to, give --type");
    if (a.foreign.to != NULL) return build_foreign(&a);
    if (a.foreign.type != NULL)
        return complain(NULL, "--type requires --to, because it is for filters of other programs");
    if (a.work.memory != 0) a.work.temp = temp_dir(&a.work);
    const tamis_options o = options_from(&a);
    const bool map = plan.kind == TAMIS_VALUE_MAP;
    const struct made m = map ? build_map(&a, &o, &plan) : build(&a, &o, &plan);
    const bool good = m.t != NULL && seal_if_collecting(&a, &m);
    const int status = good ? save_built(&a, &m) : EXIT_ERROR;
    tamis_close(m.t);
    return status;
}
