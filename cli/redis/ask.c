/* check and freq at redis:// addresses. */
#include "../commands/freq.h"
#include "../commands/items.h"
#include "../filters/filter.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "redis.h"

#include <tamis/count.h>

#include <stdlib.h>
#include <string.h>

/* --- check ------------------------------------------------------------------------------------ */

struct remote_checking {
    const struct args *a;
    uint64_t lines, maybe;
};

static uint64_t selected_lines(const struct remote_checking *k)
{
    return k->a->select.invert ? k->lines - k->maybe : k->maybe;
}

static bool checked(void *ctx, const struct window *w)
{
    struct remote_checking *k = ctx;
    const struct args *a = k->a;
    const bool prints = !a->select.count && !a->quiet && !a->json;
    for (size_t i = 0; i < w->n; i++) {
        const bool maybe = (w->batch.bits[i / 8] >> i % 8 & 1) != 0;
        k->maybe += maybe;
        if (prints && maybe != a->select.invert)
            WRITE_UNLOCKED(w->lines[i].p, 1, w->lines[i].len + 1, stdout);
    }
    k->lines += w->n;
    return !(a->quiet && selected_lines(k) > 0) && !output_failed();
}

static void report_remote(const struct remote_checking *k, const char *shown)
{
    if (!k->a->json) {
        if (k->a->select.count) printf("%llu\n", (unsigned long long)selected_lines(k));
        return;
    }
    json_open('{');
    json_text("filter", shown);
    json_count("lines", k->lines);
    json_count("maybe", k->maybe);
    json_count("absent", k->lines - k->maybe);
    json_close('}');
    putchar('\n');
}

int remote_check(const struct args *a)
{
    struct remote r = {0};
    struct remote_checking k = {.a = a};
    int status = EXIT_ERROR;
    if (a->plan.fpr != 0 || a->plan.bytes != 0)
        return complain(
            NULL, "check: --fpr and --bytes require -f; a set already has its size and its rate");
    if (!check_fields(&a->lines)) return EXIT_ERROR;
    if (remote_open(a, a->words[0], &r) && cluster_kind(r.s) == TAMIS_DISTINCT) {
        complain(r.at.shown,
                 "is a distinct sketch, which does not know its lines; 'tamis distinct' prints how "
                 "many it has, and 'tamis build' makes a filter that can be checked");
    } else if (r.s != NULL) {
        const bool totals = a->select.count || a->json;
        const struct flow f = {
            .lines = &a->lines,
            .threads = threads_from(&a->work),
            .quiet = a->quiet || !totals, /* lines that are printed show the progress */
            .prints = !totals && !a->quiet,
            .to = &r,
            .verb = CLUSTER_HAS,
            .progress = totals || !progress_would_mix(a->lines.nul) ? "checking" : NULL,
            .done = checked,
            .ctx = &k};
        status = send_lines(&f, a->words + 1, a->n_words - 1);
        /* After a failure of servers, totals of only some lines are not printed. */
        if (status != EXIT_ERROR && !a->quiet) report_remote(&k, r.at.shown);
    }
    remote_close(&r);
    /* As with files: a file that cannot be read is an error, unless -q has its answer already. */
    if (status != EXIT_FOUND && !(a->quiet && selected_lines(&k) > 0))
        return finish_output(EXIT_ERROR);
    return finish_output(selected_lines(&k) > 0 ? EXIT_FOUND : EXIT_NONE);
}

/* --- freq ------------------------------------------------------------------------------------- */

struct remote_asking {
    const struct args *a;
    const struct remote *r;
    bool found;
};

static bool print_counts(void *ctx, const struct window *w)
{
    struct remote_asking *q = ctx;
    for (size_t i = 0; i < w->n; i++) {
        const tamis_estimate *e = &w->batch.estimates[i];
        q->found = q->found || e->upper != 0 || e->lower != 0;
        if (!q->a->quiet) print_frequency(q->a, w->keys[i], e);
    }
    return !output_failed();
}

/* Queries one item of the command line. False after a message. */
static bool ask_word(struct remote_asking *q, const tamis *router, char *word)
{
    tamis_bytes item = {word, strlen(word)};
    tamis_hash hash;
    tamis_estimate e;
    struct window w = {.keys = &item, .hashes = &hash, .n = 1};
    tamis_hash_many(router, &item, 1, &hash);
    w.batch = (struct cluster_batch){
        .verb = CLUSTER_COUNT, .n = 1, .items = &item, .hashes = &hash, .estimates = &e};
    if (!cluster_send(q->r->s, &w.batch) || !cluster_await(q->r->c, &w.batch)) {
        remote_complain(q->r);
        return false;
    }
    return print_counts(q, &w);
}

static bool ask_remote_lines(struct remote_asking *q)
{
    const struct flow f = {.lines = &q->a->lines,
                           .threads = threads_from(&q->a->work),
                           .quiet = true, /* the answers show the progress */
                           .to = q->r,
                           .verb = CLUSTER_COUNT,
                           .progress = progress_would_mix(q->a->lines.nul) ? NULL : "asking",
                           .done = print_counts,
                           .ctx = q};
    return send_lines(&f, NULL, 0) == EXIT_FOUND && !output_failed();
}

int remote_freq(const struct args *a)
{
    struct remote r = {0};
    struct remote_asking q = {.a = a, .r = &r};
    if (!check_items(a)) return EXIT_ERROR;
    bool good = remote_open(a, a->words[0], &r);
    tamis *router = good ? cluster_router(r.s) : NULL;
    if (good && router == NULL) {
        complain(NULL, "not enough memory");
        good = false;
    }
    if (good && a->n_words == 1) good = ask_remote_lines(&q);
    for (int i = 1; i < a->n_words && good; i++)
        good = strcmp(a->words[i], "-") == 0 ? ask_remote_lines(&q)
                                             : ask_word(&q, router, a->words[i]);
    tamis_close(router);
    remote_close(&r);
    if (!good) return finish_output(EXIT_ERROR);
    return finish_output(q.found ? EXIT_FOUND : EXIT_NONE);
}
