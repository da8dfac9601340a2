/* add, remove, build and count at redis:// addresses. */
#include "../filters/filter.h"
#include "../filters/request.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "../input/fields.h"
#include "redis.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The shards for each master. A cluster can then grow to four times the masters, and its load is
 * uneven by at most a fourth. */
#define SHARDS_OF_A_MASTER 4
/* The limits of a distinct sketch (tamis/distinct.h). */
#define LEAST_REGISTERS 16
#define MOST_ERROR 0.3

/* --- Lines ------------------------------------------------------------------------------------ */

struct adding {
    bool ack;       /* print how many lines are done */
    uint64_t lines; /* that are done */
    uint64_t in;    /* remove: those of them that were in the set */
};

static bool added(void *ctx, const struct window *w)
{
    struct adding *d = ctx;
    d->lines += w->n;
    for (size_t i = 0; i < w->n && w->batch.verb == CLUSTER_REMOVE; i++)
        d->in += w->batch.bits[i / 8] >> i % 8 & 1;
    if (d->ack) {
        printf("%llu\n", (unsigned long long)d->lines);
        flush_output();
    }
    return true;
}

static struct flow flow_of(const struct args *a, const struct remote *r, enum cluster_verb verb,
                           struct adding *d)
{
    const bool shown = !d->ack || !progress_would_mix(false);
    const char *verb_text = verb == CLUSTER_REMOVE ? "removing" : "adding";
    return (struct flow){.lines = &a->lines,
                         .threads = threads_from(&a->work),
                         .quiet = a->quiet,
                         .to = r,
                         .verb = verb,
                         .progress = shown ? verb_text : NULL,
                         .done = added,
                         .ctx = d};
}

/* *lines is the number of lines that are certainly in the set, also after a failure. */
static int add_remote(const struct args *a, const struct remote *r, uint64_t *lines, char **files,
                      int n)
{
    struct adding d = {.ack = a->redis.ack};
    const struct flow f =
        flow_of(a, r, a->lines.weight_field.text != NULL ? CLUSTER_WEIGH : CLUSTER_ADD, &d);
    const int status = send_lines(&f, files, n);
    *lines = d.lines;
    return status == EXIT_FOUND ? EXIT_FOUND : EXIT_ERROR;
}

/* --never: the lines that an exact filter excludes. */
static int exclude_remote(const struct args *a, const struct remote *r)
{
    struct texts never = a->plan.never;
    struct adding d = {.ack = false}; /* --ack counts the lines that are added */
    const struct line_args whole = list_lines(&a->lines);
    struct flow f = flow_of(a, r, CLUSTER_EXCLUDE, &d);
    f.lines = &whole;
    if (never.n == 0) return EXIT_FOUND;
    return send_lines(&f, never.text, never.n) == EXIT_FOUND ? EXIT_FOUND : EXIT_ERROR;
}

/* Whether it matters that a line is added twice. If the kind is not known (a key of TAMIS.CREATE),
 * a server is asked; if that fails, it is assumed to matter. */
static bool counts_lines(const struct remote *r)
{
    tamis_kind kind = cluster_kind(r->s);
    tamis_facts f;
    if (kind == TAMIS_GROWING) return true; /* which may be removable */
    if (kind == TAMIS_AUTO && !(cluster_shards(r->s) == 1 && cluster_set_info(r->s, &f)))
        return true;
    if (kind == TAMIS_AUTO) kind = f.kind;
    if (kind == TAMIS_DISTINCT) return false;
    return kind >= TAMIS_COUNT_MIN || kind == TAMIS_COUNTING || kind == TAMIS_CUCKOO ||
           (kind == TAMIS_GROWING && f.removable) ||
           kind == TAMIS_WINDOW; /* which may be a window of sketches */
}

static void warn_of_repeats(const struct remote *r)
{
    const uint64_t n = cluster_repeated(r->s);
    if (n > 0 && counts_lines(r))
        complain(r->at.shown,
                 "warning: %s line%s sent again after a failure and may be counted twice",
                 grouped(n), n > 1 ? "s were" : " was");
}

/* What a signal reports: how far the lines came when it ended the input. */
static void report_lines(const struct remote *r, const char *before, uint64_t lines,
                         const char *after)
{
    char text[120];
    snprintf(text, sizeof text, "%s the first %s lines%s", before, grouped(lines), after);
    stop_report(r->at.shown, text);
}

int remote_add(const struct args *a)
{
    struct remote r = {0};
    uint64_t lines;
    int status = EXIT_ERROR;
    if (!check_fields(&a->lines)) return EXIT_ERROR;
    if (remote_open(a, a->words[0], &r)) {
        stop_on_signals();
        stop_report(r.at.shown, "may have some of the lines now"); /* at the second signal */
        status = add_remote(a, &r, &lines, a->words + 1, a->n_words - 1);
        report_lines(&r, "has", lines, " now");
        if (status != EXIT_FOUND)
            complain(r.at.shown,
                     "the first %s lines are added%s; the state of later lines is unknown",
                     grouped(lines), a->redis.replicas != 0 ? " and confirmed" : "");
        warn_of_repeats(&r);
        if (status == EXIT_FOUND && !remote_check_rate(a, &r, NULL)) status = EXIT_ERROR;
    }
    remote_close(&r);
    return finish_output(status);
}

/* Whether keys can be removed from the kind of the set. The library is asked, with an empty
 * structure of that kind, before a line is sent. False after a message. */
static bool check_removes(const struct remote *r)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = cluster_kind(r->s), .items = 1};
    tamis_error why;
    tamis *t;
    /* A count-min may be conservative, and a growing filter removable. */
    if (p.kind == TAMIS_AUTO || p.kind == TAMIS_COUNT_MIN || p.kind == TAMIS_GROWING) {
        tamis_facts *f = remote_facts(r);
        if (f == NULL) return false;
        p.kind = f->kind;
        p.flags = f->conservative ? TAMIS_CONSERVATIVE : 0;
        if (f->kind == TAMIS_GROWING && f->removable) p.flags = TAMIS_REMOVABLE;
        free(f);
    }
    if (p.kind >= TAMIS_COUNT_MIN) p.bytes = 1 << 16;
    if (p.kind >= TAMIS_COUNT_MIN && p.kind != TAMIS_TOP) p.items = 0;
    if (p.kind < TAMIS_COUNT_MIN) p.fpr = 1.0 / 256;
    if (tamis_create(&p, NULL, &t, NULL) != TAMIS_OK) return true; /* then the servers decide */
    const tamis_status s = tamis_remove(t, "", 0, &why);
    tamis_close(t);
    if (s == TAMIS_EUNSUPPORTED) complain(r->at.shown, "%s", reason_of(&why));
    return s != TAMIS_EUNSUPPORTED;
}

int remote_remove(const struct args *a)
{
    struct remote r = {0};
    struct adding d = {.ack = a->redis.ack};
    int status = EXIT_ERROR;
    if (!check_fields(&a->lines)) return EXIT_ERROR;
    if (remote_open(a, a->words[0], &r) && check_removes(&r)) {
        const struct flow f = flow_of(a, &r, CLUSTER_REMOVE, &d);
        stop_on_signals();
        stop_report(r.at.shown, "may have lost some of the lines"); /* at the second signal */
        status = send_lines(&f, a->words + 1, a->n_words - 1);
        report_lines(&r, "no longer has", d.lines, "");
        if (status != EXIT_FOUND)
            complain(r.at.shown,
                     "the first %s lines are removed; the state of later lines is unknown",
                     grouped(d.lines));
        else if (d.in < d.lines && !a->quiet)
            complain(r.at.shown, "%s of %s lines were not present", grouped(d.lines - d.in),
                     grouped(d.lines));
    }
    remote_close(&r);
    if (status != EXIT_FOUND) return EXIT_ERROR;
    return d.in > 0 || d.lines == 0 ? EXIT_FOUND : EXIT_NONE;
}

/* --- New sets --------------------------------------------------------------------------------- */

/* The most items that one shard gets, except with a probability of 1e-9: six times the deviation
 * above the mean, and a few more where the mean is so small that the distribution is not
 * symmetric. */
static uint64_t items_of_shard(uint64_t items, unsigned shards)
{
    const double mean = (double)items / shards;
    if (shards == 1 || items == 0) return items;
    const double most = ceil(mean + 6 * sqrt(mean)) + 12;
    return most < (double)items ? (uint64_t)most : items;
}

/* Counts the lines; false after a message. */
static bool count_items(const struct line_args *how, char **files, int n, const char *option,
                        uint64_t *out)
{
    if (n > 0 && lines_total_bytes(files, n) > 0) return lines_count(how, files, n, out);
    complain(NULL,
             "build: give %s, because a stream is sent to the servers as it arrives and cannot be "
             "counted first",
             option);
    return false;
}

/* The plan of one shard of a filter; false after a message. */
static bool plan_shard(const struct args *a, const struct remote *r, uint64_t items, uint64_t never,
                       unsigned shards, tamis_plan *p)
{
    tamis_error why;
    p->bytes = a->plan.bytes / shards;
    p->excluded = 0;
    plan_for_lines(&a->plan, items_of_shard(items, shards), items_of_shard(never, shards), p);
    tamis_plan solved = *p;
    if (tamis_solve(&solved, NULL, &why) != TAMIS_OK) {
        complain(r->at.shown, "%s", why.text);
        return false;
    }
    p->kind = solved.kind;
    return true;
}

/* The number of shards; 0 after a message. */
static unsigned shards_from(const struct args *a, const struct remote *r)
{
    const unsigned masters = cluster_masters(r->c);
    unsigned shards = masters > 1 ? masters * SHARDS_OF_A_MASTER : 1;
    if (a->redis.shards != 0) shards = (unsigned)a->redis.shards;
    if (a->plan.bytes == 0 || a->plan.bytes >= shards) return shards;
    /* A share of 0 bytes would mean that no size was given. */
    complain(r->at.shown, "--bytes: %s bytes cannot be divided among %s shards",
             grouped(a->plan.bytes), grouped(shards));
    return 0;
}

/* Creates the set, adds the lines and seals it. If anything fails, the set is removed. */
static int make_set(const struct args *a, struct remote *r, unsigned shards, const tamis_plan *p,
                    uint64_t *lines)
{
    const bool collects = is_sealed_kind(p->kind);
    struct progress bar;
    stop_on_signals();
    stop_report(r->at.shown, "is not finished and cannot be used"); /* at the second signal */
    r->s = cluster_set_create(r->c, r->at.name, shards, p, a->output.force);
    if (r->s == NULL) return remote_complain(r);
    int status = add_remote(a, r, lines, a->words, a->n_words);
    if (status == EXIT_FOUND && stop_asked() == 0) status = exclude_remote(a, r);
    if (stop_asked() != 0) status = EXIT_ERROR; /* some of the lines are not the set */
    /* No shard gets more than its share, unless there are more lines than the plan is for. */
    if (status == EXIT_FOUND && *lines > a->plan.items && a->plan.items != 0 &&
        !remote_check_rate(a, r, "not written"))
        status = EXIT_ERROR;
    progress_wait(&bar, collects ? "sealing" : "finishing");
    if (status == EXIT_FOUND && !cluster_set_finish(r->s, collects)) status = remote_complain(r);
    progress_end(&bar);
    if (status == EXIT_FOUND) {
        stop_report(r->at.shown, "was saved");
        warn_of_repeats(r);
        return status;
    }
    const char *const rest = remote_abandon(r);
    stop_report(r->at.shown, a->output.force
                                 ? "was not written, and -f had removed the set of this name"
                                 : "was not written");
    stop_now();
    return complain(r->at.shown, "%s", rest);
}

static bool states_nothing(const struct args *a)
{
    if (a->plan.encoding == NULL) return true;
    complain(NULL, "--encoding is for files; keys at a redis:// address are text");
    return false;
}

/* Makes a set of distinct sketches by the plan of the whole set. The errors of the shards are
 * independent, so each shard may have the error of the set times the square root of their number,
 * and all shards together take the memory of one sketch with that error. */
static int make_remote_set(const struct args *a, struct remote *r, tamis_plan *p, uint64_t *lines)
{
    tamis_error why;
    const unsigned shards = shards_from(a, r);
    if (shards == 0) return EXIT_ERROR;
    plan_for_lines(&a->plan, 0, 0, p);
    p->bytes /= shards;
    while (p->m > LEAST_REGISTERS && p->m * shards >= 2 * USUAL_REGISTERS) p->m /= 2;
    if (p->error > 0 && p->error <= MOST_ERROR)
        p->error = fmin(p->error * sqrt(shards), MOST_ERROR);
    tamis_plan solved = *p;
    if (tamis_solve(&solved, NULL, &why) == TAMIS_OK) return make_set(a, r, shards, p, lines);
    return complain(r->at.shown, "%s", why.text);
}

int remote_make_distinct(const struct args *a, struct remote *r, uint64_t *lines)
{
    struct plan_args asked = a->plan;
    tamis_plan p;
    asked.kind = tamis_kind_name(a->plan.generations != 0 ? TAMIS_WINDOW : TAMIS_DISTINCT);
    asked.inner = a->plan.generations != 0 ? tamis_kind_name(TAMIS_DISTINCT) : NULL;
    if (!plan_from(&asked, &p) || !states_nothing(a)) return EXIT_ERROR;
    return remote_connect(a, a->output.path, r) ? make_remote_set(a, r, &p, lines) : EXIT_ERROR;
}

int remote_build(const struct args *a)
{
    struct remote r = {0};
    tamis_plan p;
    uint64_t lines;
    struct texts never = a->plan.never;
    uint64_t items = a->plan.items, excluded = a->plan.never_items;
    int status = EXIT_ERROR;
    if (!check_fields(&a->lines) || !plan_from(&a->plan, &p) || !check_headroom(&a->plan, &p) ||
        !states_nothing(a))
        return EXIT_ERROR;
    if (plans_distinct(&p)) {
        if (remote_connect(a, a->output.path, &r)) status = make_remote_set(a, &r, &p, &lines);
        remote_close(&r);
        return finish_output(status);
    }
    if (items == 0 && p.kind != TAMIS_GROWING) {
        if (!count_items(&a->lines, a->words, a->n_words, "--items", &items)) return EXIT_ERROR;
        items = with_headroom(&a->plan, items);
    }
    const struct line_args whole = list_lines(&a->lines);
    if (never.n > 0 && excluded == 0 &&
        !count_items(&whole, never.text, never.n, "--never FILE", &excluded))
        return EXIT_ERROR;
    const unsigned shards = remote_connect(a, a->output.path, &r) ? shards_from(a, &r) : 0;
    if (shards > 0 && plan_shard(a, &r, items, excluded, shards, &p))
        status = make_set(a, &r, shards, &p, &lines);
    remote_close(&r);
    return finish_output(status);
}

int remote_count(const struct args *a)
{
    struct remote r = {0};
    tamis_plan p;
    tamis_error why;
    uint64_t lines;
    int status = EXIT_ERROR;
    if (!check_fields(&a->lines) || !sketch_from(&a->plan, &p) || !states_nothing(a))
        return EXIT_ERROR;
    const unsigned shards = remote_connect(a, a->output.path, &r) ? shards_from(a, &r) : 0;
    if (shards > 0) {
        /* Each shard has an equal part of the memory and of the lines. With --error each shard has
         * to keep the promise alone, because a frequent line may make one of them as heavy as all
         * together. */
        p.bytes /= shards;
        tamis_plan solved = p;
        if (tamis_solve(&solved, NULL, &why) != TAMIS_OK)
            complain(r.at.shown, "%s", why.text);
        else
            status = make_set(a, &r, shards, &p, &lines);
    }
    remote_close(&r);
    return finish_output(status);
}
