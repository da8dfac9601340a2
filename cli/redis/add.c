/* add, remove, build and count at redis:// addresses. */
#include "../input/fields.h"
#include "redis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FPR 0.01
/* Shards for each master, so that the cluster can grow to four times the masters, and be uneven by
 * a fourth at most. */
#define SHARDS_OF_A_MASTER 4

/* --- Lines ------------------------------------------------------------------------------------ */

struct adding {
    const struct args *a;
    uint64_t lines, in; /* done; of those, how many were in: remove */
};

static bool added(void *ctx, const struct window *w)
{
    struct adding *d = ctx;
    d->lines += w->n;
    for (size_t i = 0; i < w->n && w->batch.verb == CLUSTER_REMOVE; i++)
        d->in += w->batch.bits[i / 8] >> i % 8 & 1;
    if (d->a->ack) {
        printf("%llu\n", (unsigned long long)d->lines);
        flush_output();
    }
    return true;
}

/* *lines: how many are in for sure, also when it fails. */
static int add_remote(const struct args *a, const struct remote *r, char **files, int n,
                      enum cluster_verb verb, uint64_t *lines)
{
    struct adding d = {.a = a};
    const struct flow f = {a, r, verb, "adding", added, &d};
    const int status = send_lines(&f, files, n);
    *lines = d.lines;
    return status == EXIT_FOUND ? EXIT_FOUND : EXIT_ERROR;
}

/* Whether it makes a difference to add a line twice. Of a key of TAMIS.CREATE a server has to tell;
 * who cannot ask has to fear it. */
static bool counts_lines(const struct remote *r)
{
    tamis_kind kind = cluster_kind(r->s);
    tamis_facts f;
    if (kind == TAMIS_AUTO && !(cluster_shards(r->s) == 1 && cluster_set_info(r->s, &f)))
        return true;
    if (kind == TAMIS_AUTO) kind = f.kind;
    return kind >= TAMIS_COUNT_MIN || kind == TAMIS_COUNTING || kind == TAMIS_CUCKOO ||
           kind == TAMIS_WINDOW; /* which may be one of counts */
}

static void warn_of_repeats(const struct remote *r)
{
    const uint64_t n = cluster_repeated(r->s);
    if (n > 0 && counts_lines(r))
        complain(r->at.shown,
                 "warning: %s line%s sent again after a failure and may be counted twice",
                 grouped(n), n > 1 ? "s were" : " was");
}

int remote_add(const struct args *a)
{
    struct remote r = {0};
    uint64_t lines;
    int status = EXIT_ERROR;
    if (check_fields(a) != EXIT_FOUND) return EXIT_ERROR;
    if (remote_open(a, a->words[0], &r)) {
        status = add_remote(a, &r, a->words + 1, a->n_words - 1,
                            a->weight_field != 0 ? CLUSTER_WEIGH : CLUSTER_ADD, &lines);
        if (status != EXIT_FOUND)
            complain(r.at.shown,
                     "the first %s lines are added%s; the state of later lines is unknown",
                     grouped(lines), a->replicas != 0 ? " and confirmed" : "");
        warn_of_repeats(&r);
        if (status == EXIT_FOUND) status = remote_check_rate(a, &r, NULL);
    }
    remote_close(&r);
    return finish_output(status);
}

/* Whether the kind of the set can take keys away, as the library has it: asked of an empty one of
 * the kind, before a line is sent. False after a message. */
static bool check_removes(const struct remote *r)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = cluster_kind(r->s), .items = 1};
    tamis_error why;
    tamis *t;
    if (p.kind == TAMIS_AUTO || p.kind == TAMIS_COUNT_MIN) { /* which may be conservative */
        tamis_facts *f = remote_facts(r);
        if (f == NULL) return false;
        p.kind = f->kind;
        p.flags = f->conservative ? TAMIS_CONSERVATIVE : 0;
        free(f);
    }
    if (p.kind >= TAMIS_COUNT_MIN) p.bytes = 1 << 16;
    if (p.kind >= TAMIS_COUNT_MIN && p.kind != TAMIS_TOP) p.items = 0;
    if (p.kind < TAMIS_COUNT_MIN) p.fpr = 1.0 / 256;
    if (tamis_create(&p, NULL, &t, NULL) != TAMIS_OK) return true; /* the servers will tell */
    const tamis_status s = tamis_remove(t, "", 0, &why);
    tamis_close(t);
    return s != TAMIS_EUNSUPPORTED || complain(r->at.shown, "%s", reason_of(&why)) == EXIT_FOUND;
}

int remote_remove(const struct args *a)
{
    struct remote r = {0};
    struct adding d = {.a = a};
    int status = EXIT_ERROR;
    if (check_fields(a) != EXIT_FOUND) return EXIT_ERROR;
    if (remote_open(a, a->words[0], &r) && check_removes(&r)) {
        const struct flow f = {a, &r, CLUSTER_REMOVE, "removing", added, &d};
        status = send_lines(&f, a->words + 1, a->n_words - 1);
        if (status != EXIT_FOUND)
            complain(r.at.shown,
                     "the first %s lines are removed; the state of later lines is unknown",
                     grouped(d.lines));
        else if (d.in < d.lines && !a->quiet)
            complain(r.at.shown, "%s of %s lines were not present", grouped(d.lines - d.in),
                     grouped(d.lines));
    }
    remote_close(&r);
    return status != EXIT_FOUND ? EXIT_ERROR : d.in > 0 || d.lines == 0 ? EXIT_FOUND : EXIT_NONE;
}

/* --- New sets --------------------------------------------------------------------------------- */

/* Of so many items, the most that one of S shards gets, but for a chance of 1e-9: six times the
 * deviation above the mean, and a few for means so small that the distribution is not symmetric. */
static uint64_t items_of_shard(uint64_t items, unsigned shards)
{
    const double mean = (double)items / shards;
    if (shards == 1 || items == 0) return items;
    const double most = ceil(mean + 6 * sqrt(mean)) + 12;
    return most < (double)items ? (uint64_t)most : items;
}

/* How many lines there are; false after a message. */
static bool count_items(const struct args *a, char **files, int n, const char *option,
                        uint64_t *out)
{
    if (n > 0 && lines_total_bytes(files, n) > 0) return lines_count(a, files, n, out);
    complain(NULL,
             "%s: give %s, because a stream is sent to the servers as it arrives and cannot be "
             "counted first",
             a->command->name, option);
    return false;
}

/* The plan of one shard of a filter; false after a message. */
static bool plan_shard(const struct args *a, const struct remote *r, uint64_t items, uint64_t never,
                       unsigned shards, tamis_plan *p)
{
    tamis_error why;
    p->items = items_of_shard(items, shards);
    if (p->items == 0 && p->kind != TAMIS_GROWING) p->items = 1;
    p->excluded = items_of_shard(never, shards);
    p->bytes = a->bytes / shards;
    /* As for files: all lines go to one generation. */
    if (p->kind == TAMIS_WINDOW && a->items == 0 && !a->turning)
        p->items *= p->generations != 0 ? p->generations : (p->generations = 4);
    if (a->fpr == 0 && (a->bytes == 0 || p->kind == TAMIS_GROWING) && p->excluded == 0)
        p->fpr = DEFAULT_FPR;
    tamis_plan solved = *p;
    if (tamis_solve(&solved, NULL, &why) != TAMIS_OK) {
        complain(r->at.shown, "%s", why.text);
        return false;
    }
    p->kind = solved.kind;
    return true;
}

/* How many; 0 after a message. */
static unsigned shards_from(const struct args *a, const struct remote *r)
{
    const unsigned masters = cluster_masters(r->c);
    unsigned shards = masters > 1 ? masters * SHARDS_OF_A_MASTER : 1;
    if (a->shards != 0) shards = (unsigned)a->shards;
    if (a->bytes == 0 || a->bytes >= shards) return shards;
    /* A part of 0 bytes would be taken for a size that was not said. */
    complain(r->at.shown, "--bytes: %s bytes cannot be divided among %s shards", grouped(a->bytes),
             grouped(shards));
    return 0;
}

/* Create, add, seal; what fails is taken away. */
static int make_set(const struct args *a, struct remote *r, unsigned shards, const tamis_plan *p)
{
    struct texts never = a->never;
    const bool is_static =
        p->kind == TAMIS_FUSE || p->kind == TAMIS_RIBBON || p->kind == TAMIS_EXACT;
    struct args whole = list_lines(a);
    uint64_t lines;
    whole.ack = false; /* the numbers are of the lines that are added */
    r->s = cluster_set_create(r->c, r->at.name, shards, p, a->force);
    if (r->s == NULL) return remote_complain(r);
    int status = add_remote(a, r, a->words, a->n_words,
                            a->weight_field != 0 ? CLUSTER_WEIGH : CLUSTER_ADD, &lines);
    if (status == EXIT_FOUND && never.n > 0)
        status = add_remote(&whole, r, never.text, never.n, CLUSTER_EXCLUDE, &lines);
    /* No shard gets more than its share, unless there are more lines than the plan is for. */
    if (status == EXIT_FOUND && lines > a->items && a->items != 0)
        status = remote_check_rate(a, r, "not written");
    if (status == EXIT_FOUND && !cluster_set_finish(r->s, is_static)) status = remote_complain(r);
    if (status == EXIT_FOUND) {
        warn_of_repeats(r);
        return status;
    }
    cluster_set_abandon(r->s);
    return complain(r->at.shown, "nothing was kept");
}

int remote_build(const struct args *a)
{
    struct remote r = {0};
    tamis_plan p;
    struct texts never = a->never;
    uint64_t items = a->items, excluded = a->never_items;
    int status = EXIT_ERROR;
    if (check_fields(a) != EXIT_FOUND || !plan_from(a, &p)) return EXIT_ERROR;
    if (items == 0 && p.kind != TAMIS_GROWING &&
        !count_items(a, a->words, a->n_words, "--items", &items))
        return EXIT_ERROR;
    const struct args whole = list_lines(a);
    if (never.n > 0 && excluded == 0 &&
        !count_items(&whole, never.text, never.n, "--never FILE", &excluded))
        return EXIT_ERROR;
    unsigned shards;
    if (remote_connect(a, a->output, &r) && (shards = shards_from(a, &r)) > 0 &&
        plan_shard(a, &r, items, excluded, shards, &p))
        status = make_set(a, &r, shards, &p);
    remote_close(&r);
    return finish_output(status);
}

int remote_count(const struct args *a)
{
    struct remote r = {0};
    tamis_plan p;
    tamis_error why;
    int status = EXIT_ERROR;
    if (check_fields(a) != EXIT_FOUND || !sketch_from(a, &p)) return EXIT_ERROR;
    unsigned shards;
    if (remote_connect(a, a->output, &r) && (shards = shards_from(a, &r)) > 0) {
        /* An equal part of the memory has an equal part of the lines. By --error each shard has to
         * keep the promise alone: a frequent line may make one of them as heavy as all. */
        p.bytes /= shards;
        tamis_plan solved = p;
        if (tamis_solve(&solved, NULL, &why) != TAMIS_OK)
            complain(r.at.shown, "%s", why.text);
        else
            status = make_set(a, &r, shards, &p);
    }
    remote_close(&r);
    return finish_output(status);
}
