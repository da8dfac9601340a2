/* guard fetch: lists of bad URLs from the network. */
#ifdef WITH_GUARD
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "../input/input.h"

#include "../../guard/fetch/fetch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LONGEST_TIME 86400.0 /* seconds: more than any list takes */

/* Lists are unpacked as 'guard build' does it. */
static void *open_download(const char *path)
{
    return input_open(path, false);
}

static ssize_t read_download(void *in, void *to, size_t n)
{
    return input_read(in, to, n);
}

static const char *download_reason(const void *in)
{
    return input_reason(in);
}

static void close_download(void *in)
{
    input_close(in);
}

/* What is shown of the download that runs. The number of its bytes becomes known while it does. */
struct fetch_bar {
    struct progress bar;
    char verb[GUARD_LABEL_SIZE + 16];
    uint64_t total, done;
};

static bool show_bytes(void *ctx, uint64_t bytes, uint64_t total)
{
    struct fetch_bar *b = ctx;
    if (total != b->total) {
        progress_end(&b->bar);
        progress_count(&b->bar, b->verb, "bytes", total);
        b->total = total;
        b->done = 0;
    }
    if (bytes > b->done) progress_add(&b->bar, bytes - b->done);
    b->done = bytes;
    return stop_asked() == 0;
}

static void print_fetched(const char *label, const guard_fetched *f)
{
    if (!f->fresh)
        printf("%s: unchanged\n", label);
    else if (!f->had)
        printf("%s: %s entries, new\n", label, grouped(f->entries));
    else
        printf("%s: %s entries, %s before\n", label, grouped(f->entries), grouped(f->before));
}

static void print_json_fetched(const char *label, const guard_fetched *f, bool good,
                               const char *reason)
{
    const char *state = f->fresh ? "new" : "unchanged";
    json_open('{');
    json_text("label", label);
    json_text("state", good ? state : "failed");
    if (!good) json_text("reason", reason);
    if (f->fresh) {
        json_count("bytes", f->bytes);
        json_count("entries", f->entries);
        json_count("left_out", f->rejects);
        if (f->had) json_count("before", f->before);
    }
    json_close('}');
    putchar('\n');
}

/* Which list there is after a failure. */
static const char *which_list(const guard_fetched *f)
{
    if (f->fresh) return "the new list is in place, and is downloaded again next time";
    return f->had ? "the old list stays" : "there is no list yet";
}

static bool fetch_one(const struct args *a, guard_fetch_request *r, const guard_source *s)
{
    struct fetch_bar b = {.total = 0};
    guard_fetched f;
    guard_error why;
    snprintf(b.verb, sizeof b.verb, "fetching %s", s->label);
    progress_count(&b.bar, b.verb, "bytes", 0);
    r->ctx = &b;
    const bool good = guard_fetch(r, s, &f, &why);
    progress_end(&b.bar);
    /* the report of the signal says so */
    if (!good && !f.fresh && stop_asked() != 0) return false;
    if (!good)
        complain(s->label, "%s%s%s; %s", f.host, f.host[0] != '\0' ? ": " : "", why.text,
                 which_list(&f));
    if (!a->quiet && a->json) print_json_fetched(s->label, &f, good, why.text);
    if (!a->quiet && !a->json && good) print_fetched(s->label, &f);
    return good;
}

static void show_gone(void *ctx, const char *label)
{
    const struct args *a = ctx;
    if (a->quiet) return;
    if (!a->json) {
        printf("%s: removed, because the sources do not name it any more\n", label);
        return;
    }
    json_open('{');
    json_text("label", label);
    json_text("state", "removed");
    json_close('}');
    putchar('\n');
}

static bool sources_of(const struct args *a, guard_sources *s)
{
    guard_error why;
    bool good = true;
    for (int i = 1; i < a->n_words && good; i++) good = guard_sources_add(s, a->words[i], &why);
    if (good && a->guard.sources != NULL) good = guard_sources_read(s, a->guard.sources, &why);
    if (good && s->n == 0)
        good = complain(NULL, "%s: name a list, as LABEL=URL or by --sources", a->command->name) ==
               EXIT_FOUND;
    else if (!good)
        complain(NULL, "%s", why.text);
    return good;
}

/* A signal ends the download that runs; the lists before it are up to date. */
static int fetch_all(const struct args *a, const guard_sources *s)
{
    static const guard_reader reader = {open_download, read_download, download_reason,
                                        close_download};
    guard_fetch_request r = {.directory = a->words[0],
                             .max_bytes = a->guard.max_bytes,
                             .seconds = (unsigned)a->guard.timeout,
                             .lenient = a->guard.lenient,
                             .cacert = a->guard.cacert,
                             .reader = &reader,
                             .progress = show_bytes};
    guard_error why;
    bool good = true;
    stop_on_signals();
    stop_report(a->words[0], "keeps its lists, except those that are reported above");
    for (size_t i = 0; i < s->n && stop_asked() == 0; i++) {
        if (!fetch_one(a, &r, &s->at[i])) good = false;
        flush_output();
    }
    stop_now();
    if (a->guard.sources != NULL &&
        !guard_fetch_prune(a->words[0], s, show_gone, (void *)(uintptr_t)a, &why)) {
        complain(NULL, "%s", why.text);
        good = false;
    }
    return finish_output(good ? EXIT_FOUND : EXIT_ERROR);
}

int run_guard_fetch(const struct args *a)
{
    if (a->guard.timeout != floor(a->guard.timeout) || a->guard.timeout > LONGEST_TIME)
        return complain(NULL, "%s: --timeout must be whole seconds, and at most a day",
                        a->command->name);
    guard_sources *s = calloc(1, sizeof *s);
    if (s == NULL) return complain(NULL, "not enough memory");
    const int status = sources_of(a, s) ? fetch_all(a, s) : EXIT_ERROR;
    guard_sources_free(s);
    free(s);
    return status;
}
#endif
