/* migrate: copies keys from one server or cluster to another (cluster/migrate.c). */
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "redis.h"

#include <stdlib.h>
#include <string.h>

/* Further keys with problems are only counted. */
enum { MOST_MESSAGES = 100 };

struct migrating {
    const struct args *a;
    struct remote from, to;
    struct progress bar;
    bool copying;
    uint64_t shown; /* keys that the line of progress includes */
    uint64_t problems;
};

/* --- While it runs ---------------------------------------------------------------------------- */

static bool show_progress(void *ctx, const struct cluster_migrated *so_far)
{
    struct migrating *w = ctx;
    if (so_far->copying && !w->copying) {
        progress_end(&w->bar);
        progress_count(&w->bar, "copying", "keys", so_far->bytes);
        w->copying = true;
        w->shown = 0;
    }
    const uint64_t now = so_far->copying ? so_far->at_key : so_far->listed;
    progress_update(&w->bar, now - w->shown, so_far->copying ? so_far->at_byte : 0);
    w->shown = now;
    return stop_asked() == 0;
}

/* The name of a key on one line: bytes that are not printable text are \xHH, and so is the
 * backslash. */
static char *printable_key(tamis_bytes key)
{
    enum { LONGEST = 120 }; /* a message has 1024 bytes */
    const unsigned char *p = key.p;
    const size_t n = key.len < LONGEST ? key.len : LONGEST;
    char *out = malloc(4 * n + 8), *to = out;
    if (out == NULL) return NULL;
    for (size_t i = 0; i < n;) {
        const int length = utf8_length(p + i, n - i);
        if (length > 0 && p[i] >= 0x20 && p[i] != 0x7f && p[i] != '\\') {
            memcpy(to, p + i, (size_t)length);
            to += length;
            i += (size_t)length;
        } else {
            to += sprintf(to, "\\x%02x", p[i++]);
        }
    }
    strcpy(to, n < key.len ? "..." : "");
    return out;
}

static void complain_of_key(void *ctx, tamis_bytes key, const char *reason)
{
    struct migrating *w = ctx;
    w->problems++;
    if (w->problems > MOST_MESSAGES) return;
    char *name = printable_key(key);
    complain(w->from.at.shown, "%s: %s", name != NULL ? name : "a key", reason);
    if (w->problems == MOST_MESSAGES)
        complain(w->from.at.shown, "further keys that are not copied are only counted");
    free(name);
}

/* --- The summary ------------------------------------------------------------------------------ */

static void json_types(const char *name, const struct cluster_found *f, unsigned n, bool copied,
                       bool dry_run)
{
    json_list(name);
    for (unsigned i = 0; i < n; i++) {
        if (f[i].keys == 0) continue;
        json_open('{');
        json_text("type", f[i].type);
        json_count("keys", f[i].keys);
        if (copied) json_count("bytes", f[i].bytes);
        if (copied && dry_run) json_count("existing", f[i].existing);
        json_close('}');
    }
    json_close(']');
}

static uint64_t count_others(const struct cluster_migrated *r)
{
    uint64_t n = 0;
    for (unsigned i = 0; i < r->n_others; i++) n += r->others[i].keys;
    return n;
}

static void print_migration_json(const struct migrating *w, const struct cluster_migrated *r,
                                 bool complete)
{
    const bool dry_run = w->a->migrate.dry_run;
    json_open('{');
    json_text("source", w->from.at.shown);
    json_text("target", w->to.at.shown);
    json_bool("dry_run", dry_run);
    json_bool("complete", complete);
    json_count("keys", r->keys);
    json_count("bytes", r->bytes);
    if (!dry_run) {
        json_count("copied", r->copied);
        json_count("copied_bytes", r->copied_bytes);
        json_count("replaced", r->replaced);
        json_count("in_chunks", r->in_chunks);
        json_count("older_version", r->relabelled);
        json_count("equal", r->equal);
        json_count("existing", r->existing);
        json_count("gone", r->gone);
        json_count("failed", r->failed);
        json_count("unverified", r->unverified);
    }
    json_count("skipped", count_others(r));
    json_types("types", r->types, CLUSTER_TYPES, true, dry_run);
    json_types("skipped_types", r->others, r->n_others, false, dry_run);
    json_close('}');
    putchar('\n');
}

static void print_found(const struct cluster_migrated *r)
{
    printf("%12s %18s %12s  type\n", "keys", "bytes", "at target");
    for (unsigned i = 0; i < CLUSTER_TYPES; i++)
        if (r->types[i].keys > 0)
            printf("%12s %18s %12s  %s\n", grouped(r->types[i].keys), grouped(r->types[i].bytes),
                   grouped(r->types[i].existing), r->types[i].type);
}

static void print_skipped(const struct cluster_migrated *r)
{
    if (r->n_others == 0) return;
    printf("skipped, of other types:");
    for (unsigned i = 0; i < r->n_others; i++)
        printf("%s %s %s", i > 0 ? "," : "", grouped(r->others[i].keys), r->others[i].type);
    putchar('\n');
}

static const char *keys_word(uint64_t n)
{
    return n == 1 ? "key" : "keys";
}

static void print_result(const struct cluster_migrated *r)
{
    const struct {
        uint64_t n;
        const char *text;
    } rest[] = {{r->equal, "equal at the target already"},
                {r->existing, "different at the target and left alone"},
                {r->gone, "gone from the source meanwhile"},
                {r->failed, "failed"},
                {r->unverified, "written or perhaps written, and not verified"}};
    printf("%s %s copied and verified (%s bytes", grouped(r->copied), keys_word(r->copied),
           grouped(r->copied_bytes));
    if (r->replaced > 0) printf("; %s replaced", grouped(r->replaced));
    if (r->in_chunks > 0) printf("; %s in chunks", grouped(r->in_chunks));
    if (r->relabelled > 0) printf("; %s with an older RDB version", grouped(r->relabelled));
    putchar(')');
    for (size_t i = 0; i < sizeof rest / sizeof *rest; i++)
        if (rest[i].n > 0) printf(", %s %s", grouped(rest[i].n), rest[i].text);
    putchar('\n');
}

static void print_summary(const struct migrating *w, const struct cluster_migrated *r,
                          bool complete)
{
    if (w->a->quiet) return;
    if (w->a->json) {
        print_migration_json(w, r, complete);
        return;
    }
    if (w->a->migrate.dry_run && r->keys > 0) print_found(r);
    print_skipped(r);
    if (r->keys == 0) {
        if (complete)
            printf("no key to copy%s\n", w->a->migrate.match != NULL ? ": none matches" : "");
    } else if (w->a->migrate.dry_run) {
        printf("%s %s, %s bytes; nothing was copied\n", grouped(r->keys), keys_word(r->keys),
               grouped(r->bytes));
    } else {
        print_result(r);
    }
}

static int run_migration(struct migrating *w)
{
    const struct migrate_args *m = &w->a->migrate;
    const struct cluster_migration wanted = {.match = m->match,
                                             .dry_run = m->dry_run,
                                             .replace = m->replace,
                                             .ctx = w,
                                             .progress = show_progress,
                                             .problem = complain_of_key};
    struct cluster_migrated *r = malloc(sizeof *r);
    if (r == NULL) return complain(NULL, "not enough memory");
    stop_on_signals();
    progress_count(&w->bar, "listing", "keys", 0);
    const bool good = cluster_migrate(w->from.c, w->to.c, &wanted, r);
    progress_end(&w->bar);
    if (!good) remote_complain(cluster_why(w->from.c) != NULL ? &w->from : &w->to);
    const bool complete =
        good && !r->stopped && r->existing == 0 && r->failed == 0 && r->unverified == 0;
    print_summary(w, r, complete);
    if (r->stopped)
        stop_report(w->to.at.shown, "has what is reported above; run the command again to resume");
    const int status = complete || r->stopped ? EXIT_FOUND : EXIT_ERROR;
    free(r);
    return finish_output(status);
}

int remote_migrate(const struct args *a)
{
    struct migrating w = {.a = a};
    int status = EXIT_ERROR;
    if (a->n_words != 2)
        return complain(NULL, "migrate: give two servers, the source and the target");
    if (remote_connect_server(a, a->words[0], &w.from) &&
        remote_connect_server(a, a->words[1], &w.to))
        status = run_migration(&w);
    remote_close(&w.from);
    remote_close(&w.to);
    return status;
}
