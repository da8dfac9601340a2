/* check and freq at redis:// addresses. */
#include "../input/fields.h"
#include "redis.h"

#include <stdlib.h>
#include <string.h>

/* --- check ------------------------------------------------------------------------------------ */

struct checking {
    const struct args *a;
    uint64_t lines, maybe;
};

static uint64_t selected(const struct checking *k)
{
    return k->a->invert ? k->lines - k->maybe : k->maybe;
}

static bool checked(void *ctx, const struct window *w)
{
    struct checking *k = ctx;
    const struct args *a = k->a;
    const bool prints = !a->count && !a->quiet && !a->json;
    for (size_t i = 0; i < w->n; i++) {
        const bool maybe = (w->batch.bits[i / 8] >> i % 8 & 1) != 0;
        k->maybe += maybe;
        if (prints && maybe != a->invert)
            fwrite_unlocked(w->lines[i].p, 1, w->lines[i].len + 1, stdout);
    }
    k->lines += w->n;
    return !(a->quiet && selected(k) > 0) && !output_failed();
}

static void report(const struct checking *k, const char *shown)
{
    if (!k->a->json) {
        if (k->a->count) printf("%llu\n", (unsigned long long)selected(k));
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
    struct checking k = {.a = a};
    int status = EXIT_ERROR;
    if (a->fpr != 0 || a->bytes != 0)
        return complain(NULL, "check: --fpr and --bytes require -f; a set already has its "
                              "size and its rate");
    if (check_fields(a) != EXIT_FOUND) return EXIT_ERROR;
    if (remote_open(a, a->words[0], &r)) {
        /* Lines that are printed are progress enough. */
        struct args silent = *a;
        silent.quiet = a->quiet || !(a->count || a->json);
        const struct flow f = {&silent, &r, CLUSTER_HAS, "checking", checked, &k};
        status = send_lines(&f, a->words + 1, a->n_words - 1);
        /* After a failure of servers, what is known of only some lines is no answer. */
        if (status != EXIT_ERROR && !a->quiet) report(&k, r.at.shown);
    }
    remote_close(&r);
    /* As with files: one that could not be read is an error, unless -q has its answer already. */
    if (status != EXIT_FOUND && !(a->quiet && selected(&k) > 0)) return finish_output(EXIT_ERROR);
    return finish_output(selected(&k) > 0 ? EXIT_FOUND : EXIT_NONE);
}

/* --- freq ------------------------------------------------------------------------------------- */

struct asking {
    const struct args *a;
    const struct remote *r;
    bool found;
};

static bool counted(void *ctx, const struct window *w)
{
    struct asking *q = ctx;
    for (size_t i = 0; i < w->n; i++) {
        const tamis_estimate *e = &w->batch.estimates[i];
        q->found = q->found || e->upper != 0 || e->lower != 0;
        if (!q->a->quiet) print_frequency(q->a, w->keys[i], e);
    }
    return !output_failed();
}

/* One item of the command line. False after a message. */
static bool ask_word(struct asking *q, const tamis *router, char *word)
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
    return counted(q, &w);
}

static bool ask_lines(struct asking *q)
{
    struct args silent = *q->a;
    const struct flow f = {&silent, q->r, CLUSTER_COUNT, "asking", counted, q};
    silent.quiet = true; /* the answers are progress enough */
    return send_lines(&f, NULL, 0) == EXIT_FOUND && !output_failed();
}

int remote_freq(const struct args *a)
{
    struct remote r = {0};
    struct asking q = {.a = a, .r = &r};
    if (check_freq(a) != EXIT_FOUND) return EXIT_ERROR;
    bool good = remote_open(a, a->words[0], &r);
    tamis *router = good ? cluster_router(r.s) : NULL;
    if (good && router == NULL) good = complain(NULL, "not enough memory") == EXIT_FOUND;
    if (good && a->n_words == 1) good = ask_lines(&q);
    for (int i = 1; i < a->n_words && good; i++)
        good = strcmp(a->words[i], "-") == 0 ? ask_lines(&q) : ask_word(&q, router, a->words[i]);
    tamis_close(router);
    remote_close(&r);
    return finish_output(!good ? EXIT_ERROR : q.found ? EXIT_FOUND : EXIT_NONE);
}
