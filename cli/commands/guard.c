/* guard: from lists of bad URLs to verdicts. */
#ifdef WITH_GUARD
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "../frame/terminal.h"
#include "../input/input.h"
#include "../input/lines.h"
#include "guard_lists.h"
#include "key.h"
#include "sign.h"

#include "../../guard/server/systemd.h"
#include "../../guard/version/guard.h"
#include "../../guard/version/idn.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MAX_BYTES 2000000
#define DEFAULT_PORT 8080
#define MOST_REJECTS 20 /* that are printed */
#define REMEMBERED 65536
#define MOST_OF_A_LIMIT 1000000
#define MOST_EXPIRY 3153600000.0 /* a hundred years, in seconds */
/* A year of browsing in the lectures: 102,000 pages, and half a second for each question to the
 * database. */
#define PAGE_VIEWS 102000.0

/* --- build ------------------------------------------------------------------------------------ */

/* Entries that do not cover everything below them. */
struct deep {
    uint64_t n;
    const char *path; /* of the first */
    uint64_t line;
};

struct notes {
    bool quiet;
    uint64_t rejects;
    struct deep hosts, folders;
};

static void show_reject(void *ctx, const char *path, uint64_t line, const char *reason)
{
    struct notes *notes = ctx;
    if (!notes->quiet && notes->rejects < MOST_REJECTS)
        complain(path, "line %s: left out: %s", grouped(line), reason);
    notes->rejects++;
}

static void count_one_deep(struct deep *d, const char *path, uint64_t line)
{
    if (d->n++ > 0) return;
    d->path = path;
    d->line = line;
}

static void count_deep(void *ctx, const char *path, uint64_t line, unsigned deep)
{
    struct notes *notes = ctx;
    if ((deep & GUARD_URL_DEEP_HOST) != 0) count_one_deep(&notes->hosts, path, line);
    if ((deep & GUARD_URL_DEEP_PATH) != 0) count_one_deep(&notes->folders, path, line);
}

static void show_deep(const struct deep *d, const char *what)
{
    if (d->n == 0) return;
    complain(d->path, "line %s: %s (%s such %s)", grouped(d->line), what, grouped(d->n),
             d->n == 1 ? "entry" : "entries");
}

static void show_notes(const struct notes *notes)
{
    if (notes->quiet) return;
    if (notes->rejects > MOST_REJECTS)
        complain(NULL, "and %s more such lines", grouped(notes->rejects - MOST_REJECTS));
    show_deep(&notes->hosts, "more than 5 labels, so hosts below it are not covered");
    show_deep(&notes->folders, "more than 3 folders, so pages below it are not covered");
}

/* LABEL=FILE, or FILE, whose label is its name without folder and ending. */
static guard_list list_from(char *word, char label[GUARD_LABEL_SIZE])
{
    char *equals = strchr(word, '=');
    const char *name = strrchr(word, '/') != NULL ? strrchr(word, '/') + 1 : word;
    if (equals != NULL && strchr(word, '/') < equals && strchr(word, '/') != NULL) equals = NULL;
    size_t n = equals != NULL ? (size_t)(equals - word) : strcspn(name, ".");
    const char *from = equals != NULL ? word : name;
    if (strcmp(word, "-") == 0) {
        from = "listed";
        n = strlen(from);
    }
    if (n >= GUARD_LABEL_SIZE) n = GUARD_LABEL_SIZE - 1;
    memcpy(label, from, n);
    label[n] = '\0';
    return (guard_list){label, equals != NULL ? equals + 1 : word};
}

/* What is shown while the lists are read, which is the longer part, and afterwards. */
static struct {
    struct progress bar;
    size_t left;     /* lists that were not read yet */
    uint64_t before; /* bytes of the lists that were read */
} reading;

/* Lists are unpacked like any other input. */
static void *open_list(const char *path)
{
    return input_open(path, false);
}

static ssize_t read_list_bytes(void *in, void *to, size_t n)
{
    const ssize_t got = input_read(in, to, n);
    progress_update(&reading.bar, got > 0 ? (uint64_t)got : 0, reading.before + input_taken(in));
    return got;
}

static const char *list_reason(const void *in)
{
    return input_reason(in);
}

static void close_list(void *in)
{
    reading.before += input_taken(in);
    input_close(in);
    if (--reading.left > 0) return;
    progress_end(&reading.bar);
    progress_wait(&reading.bar, "writing the version");
}

/* The bytes of all lists; 0: unknown. */
static uint64_t bytes_of_lists(const guard_list *lists, size_t n)
{
    uint64_t all = 0;
    for (size_t i = 0; i < n; i++) {
        char *path = (char *)lists[i].path;
        const uint64_t bytes = lines_total_bytes(&path, 1);
        if (bytes == 0) return 0;
        all += bytes;
    }
    return all;
}

/* A signal ends the reading of the lists; while the version is being written it takes effect
 * afterwards. */
static bool build_until_stopped(const guard_request *r, guard_manifest *m, guard_error *why)
{
    struct stat st;
    const bool existed = stat(r->directory, &st) == 0;
    char text[80];
    stop_on_signals();
    stop_report(r->directory, "is unchanged");
    reading.left = r->n_bad + r->n_good;
    progress_count(&reading.bar, "reading the lists", "bytes",
                   bytes_of_lists(r->bad, reading.left)); /* the good lists follow the bad ones */
    const bool good = guard_build(r, m, why);
    progress_end(&reading.bar);
    if (good) {
        snprintf(text, sizeof text, "has version %s now", grouped(m->version));
        stop_report(r->directory, text);
    } else if (stop_asked() != 0) {
        if (!existed) rmdir(r->directory);
        stop_now();
    }
    return good;
}

static double per_page(double rate, double expressions)
{
    return -expm1(expressions * log1p(-rate));
}

static void print_signers(const guard_manifest *m)
{
    char number[GUARD_KEYNUM_TEXT], when[40];
    struct tm parts;
    for (size_t i = 0; i < m->n_signatures; i++) {
        guard_keynum_print(m->signatures[i].keynum, number);
        printf("%s%s", i == 0 ? "  signed    by key " : ", ", number);
    }
    if (m->expires != 0 && gmtime_r(&m->expires, &parts) != NULL &&
        strftime(when, sizeof when, "%Y-%m-%d %H:%M:%S UTC", &parts) != 0)
        printf("; expires at %s", when);
    if (m->n_signatures != 0) putchar('\n');
}

static void print_version(const char *directory, const guard_manifest *m)
{
    printf("%s: version %s\n", directory, grouped(m->version));
    printf("  listed    %s expressions from %s lines%s", grouped(m->entries), grouped(m->lines),
           m->rejects == 0 ? "\n" : "");
    if (m->rejects != 0) printf("; %s left out\n", grouped(m->rejects));
    if (m->good != 0) printf("  never     %s expressions of good URLs\n", grouped(m->good));
    printf("  filter    %s bytes, %.2f bits per expression", grouped(m->filter.bytes),
           m->base_entries != 0 ? 8 * (double)m->filter.bytes / (double)m->base_entries : 0);
    if (m->base != m->version)
        printf("; from version %s, with\n            %s bytes for %s added and %s for %s removed",
               grouped(m->base), grouped(m->delta.bytes), grouped(m->added),
               grouped(m->removal.bytes), grouped(m->removed));
    printf("\n  wrong     %s of expressions", rate_text(m->rate));
    printf("; %s of pages with 8\n            expressions, %s of pages with 30\n",
           rate_text(per_page(m->rate, 8)), rate_text(per_page(m->rate, 30)));
    printf("  asked     %.1f unnecessary requests in %s page views\n",
           PAGE_VIEWS * per_page(m->rate, 8), grouped((uint64_t)PAGE_VIEWS));
    printf("  store     %s bytes\n", grouped(m->store.bytes));
    print_signers(m);
}

static void print_json_version(const guard_manifest *m, const struct notes *notes)
{
    json_open('{');
    json_count("version", m->version);
    json_count("base", m->base);
    json_count("entries", m->entries);
    json_count("lines", m->lines);
    json_count("left_out", m->rejects);
    json_count("deep_hosts", notes->hosts.n);
    json_count("deep_folders", notes->folders.n);
    json_count("never", m->good);
    json_count("filter_bytes", m->filter.bytes);
    json_count("delta_bytes", m->delta.bytes);
    json_count("removed_bytes", m->removal.bytes);
    json_count("store_bytes", m->store.bytes);
    json_number("rate", m->rate);
    if (m->n_signatures != 0) {
        char number[GUARD_KEYNUM_TEXT];
        json_list("signed_by");
        for (size_t i = 0; i < m->n_signatures; i++) {
            guard_keynum_print(m->signatures[i].keynum, number);
            json_text(NULL, number);
        }
        json_close(']');
    }
    if (m->expires != 0) json_count("expires", (uint64_t)m->expires);
    json_close('}');
    putchar('\n');
}

/* Reads the keys that sign before the lists, so that a wrong key costs nothing. False after a
 * message. */
static bool prepare_to_sign(const struct sign_args *s, guard_request *r)
{
    r->expires_after = (uint64_t)s->expires;
    if (s->expires != 0 && s->keys.n == 0)
        return complain(NULL, "guard build: --expires needs --sign, because anybody could change "
                              "the expiry of an unsigned version") != EXIT_ERROR;
    if (s->expires != floor(s->expires) || s->expires > MOST_EXPIRY)
        return complain(NULL, "guard build: --expires must be whole seconds, and at most 36500d") !=
               EXIT_ERROR;
    if (s->keys.n == 0) return true;
    r->n_sign = read_signing_keys(s->keys.text, s->keys.n, &r->sign);
    return r->n_sign > 0;
}

int run_guard_build(const struct args *a)
{
    static const guard_reader reader = {open_list, read_list_bytes, list_reason, close_list};
    struct list_words words;
    guard_request signing = {0};
    if (!prepare_to_sign(&a->sign, &signing) ||
        !list_words_of(a->words + 1, (size_t)a->n_words - 1, &words))
        return EXIT_ERROR;
    const size_t n_bad = words.n, n_good = (size_t)a->plan.never.n;
    guard_list *lists = calloc(n_bad + n_good, sizeof *lists);
    char(*labels)[GUARD_LABEL_SIZE] = calloc(n_bad, sizeof *labels);
    struct notes notes = {.quiet = a->quiet};
    guard_error why;
    guard_manifest *m = calloc(1, sizeof *m);
    bool good = lists != NULL && labels != NULL && m != NULL;
    for (size_t i = 0; i < n_bad && good; i++) lists[i] = list_from(words.at[i], labels[i]);
    for (size_t i = 0; i < n_good && good; i++)
        lists[n_bad + i] = (guard_list){NULL, a->plan.never.text[i]};
    const guard_request r = {.directory = a->words[0],
                             .bad = lists,
                             .n_bad = n_bad,
                             .good = lists + n_bad,
                             .n_good = n_good,
                             .max_bytes =
                                 a->guard.max_bytes != 0 ? a->guard.max_bytes : DEFAULT_MAX_BYTES,
                             .labels_in_filter = a->guard.labelled,
                             .lenient = a->guard.lenient,
                             .sign = signing.sign,
                             .n_sign = signing.n_sign,
                             .expires_after = signing.expires_after,
                             .reader = &reader,
                             .reject = show_reject,
                             .deep = count_deep,
                             .ctx = &notes};
    if (!good) snprintf(why.text, sizeof why.text, "not enough memory");
    good = good && build_until_stopped(&r, m, &why);
    show_notes(&notes);
    if (good && !a->quiet && a->json) print_json_version(m, &notes);
    if (good && !a->quiet && !a->json) print_version(a->words[0], m);
    free(lists);
    free(labels);
    free(m);
    list_words_free(&words);
    const int status = good ? finish_output(EXIT_FOUND) : complain(NULL, "%s", why.text);
    stop_now();
    return status;
}

/* --- check ------------------------------------------------------------------------------------ */

struct url_checking {
    const struct args *a;
    guard *g;
    guard_memory *memory;
    bool listed, doubt;
};

static void print_labels(const guard *g, uint64_t labels)
{
    const guard_manifest *m = guard_about(g);
    const char *comma = "";
    for (size_t i = 0; i < m->n_labels; i++) {
        if ((labels >> i & 1) == 0) continue;
        printf("%s%s", comma, m->labels[i]);
        comma = ", ";
    }
}

static const char *verdict_name(guard_verdict v)
{
    static const char *const names[] = {"clean", "listed", "unconfirmed", "no URL"};
    return names[v];
}

static void json_labels(const char *name, const guard_manifest *m, uint64_t labels)
{
    json_list(name);
    for (size_t i = 0; i < m->n_labels; i++)
        if ((labels >> i & 1) != 0) json_text(NULL, m->labels[i]);
    json_close(']');
}

static void print_json_answer(const struct url_checking *c, const guard_answer *answer,
                              const char *url)
{
    const guard_manifest *m = guard_about(c->g);
    json_open('{');
    json_key("url", (tamis_bytes){url, strlen(url)});
    json_text("verdict", verdict_name(answer->verdict));
    if (answer->verdict == GUARD_BAD_URL)
        json_text("reason", guard_url_message(answer->url_status));
    if (answer->verdict == GUARD_LISTED) {
        json_text("expression", answer->expression);
        json_labels("labels", m, answer->labels);
    }
    if (answer->likely != 0) json_labels("likely", m, answer->likely);
    json_count("expressions", answer->expressions);
    json_count("maybes", answer->maybes);
    json_count("asked", answer->asked);
    json_close('}');
    putchar('\n');
}

/* What the filter answered that could not exclude a URL. */
static void print_likely(const guard *g, uint64_t likely)
{
    printf("  (the filter answered maybe%s", likely != 0 ? " " : "");
    print_labels(g, likely);
}

static void print_answer(const struct url_checking *c, const guard_answer *answer, const char *url)
{
    static const enum ink inks[] = {GOOD, BAD, DOUBT, DOUBT};
    printf("%s%-11s%s %s", ink(stdout, inks[answer->verdict]), verdict_name(answer->verdict),
           ink(stdout, PLAIN), url);
    if (answer->verdict == GUARD_LISTED) {
        printf("  (");
        print_labels(c->g, answer->labels);
        printf(": %s)\n", answer->expression);
    } else if (answer->verdict == GUARD_BAD_URL) {
        printf("  (%s)\n", guard_url_message(answer->url_status));
    } else if (answer->verdict == GUARD_UNCONFIRMED) {
        print_likely(c->g, answer->likely);
        printf(", and the store cannot be read)\n");
    } else if (answer->maybes == 0) {
        printf("  (the filter answered no)\n");
    } else {
        print_likely(c->g, answer->likely);
        printf(", the store %s)\n", answer->asked == 0 ? "had answered no before" : "answered no");
    }
}

static void check_url(struct url_checking *c, const char *url, size_t len)
{
    const guard_answer answer = guard_check(c->g, c->memory, url, len);
    c->listed = c->listed || answer.verdict == GUARD_LISTED;
    c->doubt = c->doubt || answer.verdict >= GUARD_UNCONFIRMED;
    if (c->a->quiet) return;
    if (c->a->json)
        print_json_answer(c, &answer, url);
    else
        print_answer(c, &answer, url);
}

static int check_url_lines(struct url_checking *c)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t n;
    struct progress bar = {0};
    if (!progress_would_mix(false) && !isatty(STDIN_FILENO))
        progress_count(&bar, "checking", "URLs", 0);
    while ((n = getline(&line, &size, stdin)) > 0) {
        if (line[n - 1] == '\n') line[--n] = '\0';
        progress_pause(STDOUT_FILENO);
        if (n > 0) check_url(c, line, (size_t)n);
        progress_resume(STDOUT_FILENO);
        progress_add(&bar, 1);
    }
    progress_end(&bar);
    free(line);
    /* The input failed, or there was no memory for a line: the rest was not checked. */
    return feof(stdin) ? EXIT_FOUND : complain(NULL, "standard input: %s", strerror(errno));
}

/* What --pubkey and --state require, in *t and `keys`. *required is NULL if nothing is. False after
 * a message. */
static bool read_trust(const struct args *a, guard_pubkey keys[GUARD_SIGNERS], guard_trust *t,
                       guard_trust **required)
{
    *t = (guard_trust){.pinned = keys, .state = a->sign.state};
    *required = NULL;
    if (a->sign.pubkeys.n == 0 && a->sign.state != NULL) {
        complain(NULL, "%s: --state needs --pubkey: only signed versions are remembered",
                 a->command->name);
        return false;
    }
    if (a->sign.pubkeys.n == 0) return true;
    *required = t;
    t->n_pinned = read_public_keys(&a->sign.pubkeys, keys);
    return t->n_pinned > 0;
}

int run_guard_check(const struct args *a)
{
    guard_error why;
    guard_pubkey keys[GUARD_SIGNERS];
    guard_trust trust, *required;
    if (!read_trust(a, keys, &trust, &required)) return EXIT_ERROR;
    struct url_checking c = {.a = a, .g = guard_open_trusted(a->words[0], required, &why)};
    int status = EXIT_FOUND;
    if (c.g == NULL) return complain(NULL, "%s", why.text);
    c.memory = guard_memory_new(REMEMBERED); /* without memory the store is queried more often */
    if (a->n_words == 1 || (a->n_words == 2 && strcmp(a->words[1], "-") == 0))
        status = check_url_lines(&c);
    else
        for (int i = 1; i < a->n_words; i++) check_url(&c, a->words[i], strlen(a->words[i]));
    guard_memory_free(c.memory);
    guard_close(c.g);
    if (status == EXIT_FOUND && !c.listed) status = EXIT_NONE;
    if (c.doubt) status = EXIT_ERROR;
    return finish_output(status);
}

/* --- explain ---------------------------------------------------------------------------------- */

static void explain_expression(const guard *g, guard_span e, bool json)
{
    uint8_t hash[GUARD_HASH_SIZE];
    char hex[2 * GUARD_HASH_SIZE + 1];
    uint64_t labels = 0;
    guard_hash(e, hash);
    for (size_t i = 0; i < sizeof hash; i++) snprintf(hex + 2 * i, 3, "%02x", hash[i]);
    const bool maybe = guard_may_list(g, hash);
    const char *likely = maybe ? guard_likely_label(g, hash) : NULL;
    const int found = maybe ? guard_confirm(g, hash, &labels) : 0;
    const char *store = found < 0 ? "cannot be read" : "no";
    if (found > 0) store = "listed";
    if (!json) {
        printf("  %.*s\n    %s\n    filter %s%s%s", (int)e.length, e.bytes, hex,
               maybe ? "maybe" : "no", likely != NULL ? " " : "", likely != NULL ? likely : "");
        if (maybe) printf(", store %s", store);
        if (found > 0) {
            printf(": ");
            print_labels(g, labels);
        }
        putchar('\n');
        return;
    }
    json_open('{');
    json_text_n("expression", e.bytes, e.length);
    json_text("hash", hex);
    json_text("filter", maybe ? "maybe" : "no");
    if (likely != NULL) json_text("likely", likely);
    if (maybe) json_text("store", store);
    json_close('}');
}

static void explain_json(const guard *g, const guard_url *url, const guard_span *e, size_t n)
{
    json_open('{');
    json_text("canonical", url->text);
    json_list("expressions");
    for (size_t i = 0; i < n; i++) json_text_n(NULL, e[i].bytes, e[i].length);
    json_close(']');
    if (g != NULL) {
        json_list("answers");
        for (size_t i = 0; i < n; i++) explain_expression(g, e[i], true);
        json_close(']');
    }
    json_close('}');
    putchar('\n');
}

int run_guard_explain(const struct args *a)
{
    const size_t len = strlen(a->words[0]), size = GUARD_URL_ROOM(len);
    guard_span e[GUARD_URL_EXPRESSIONS];
    guard_url url;
    guard_error why;
    char *room = malloc(size);
    if (room == NULL) return complain(NULL, "not enough memory");
    const guard_url_status s = guard_url_canonical(a->words[0], len, guard_idn, room, size, &url);
    int status = EXIT_FOUND;
    const bool opens = s == GUARD_URL_OK && a->n_words > 1;
    guard *g = opens ? guard_open(a->words[1], &why) : NULL;
    if (s != GUARD_URL_OK)
        status = complain(a->words[0], "%s", guard_url_message(s));
    else if (opens && g == NULL)
        status = complain(NULL, "%s", why.text);
    if (status == EXIT_FOUND) {
        const size_t n = guard_url_expressions(&url, e);
        if (a->json) {
            explain_json(g, &url, e, n);
        } else {
            printf("canonical %s\nexpressions\n", url.text);
            for (size_t i = 0; i < n; i++) {
                if (g != NULL)
                    explain_expression(g, e[i], false);
                else
                    printf("  %.*s\n", (int)e[i].length, e[i].bytes);
            }
        }
    }
    guard_close(g);
    if (status == EXIT_FOUND) status = finish_output(status);
    if (status == EXIT_FOUND && url.escaped_name)
        status = complain(a->words[0], "%s", guard_url_message(GUARD_URL_ENAME));
    free(room);
    return status;
}

/* --- serve ------------------------------------------------------------------------------------ */

/* Unix sockets have a path instead of a port. */
static void say_ready(void *ctx, uint16_t port, uint16_t metrics_port)
{
    const struct args *a = ctx;
    const char *address = a->guard.address != NULL ? a->guard.address : "127.0.0.1";
    const char *const metrics = a->guard.metrics_address;
    const bool v6 = strchr(address, ':') != NULL;
    guard_systemd_notify("READY=1");
    if (a->quiet) return;
    if (strchr(address, '/') != NULL)
        printf("listening at unix:%s\n", address);
    else
        printf("listening at http://%s%s%s:%u/\n", v6 ? "[" : "", address, v6 ? "]" : "", port);
    if (metrics != NULL && strchr(metrics, '/') != NULL)
        printf("metrics at unix:%s\n", metrics);
    else if (metrics != NULL)
        printf("metrics at http://%.*s:%u/metrics\n", (int)(strrchr(metrics, ':') - metrics),
               metrics, metrics_port);
    flush_output();
    /* The server runs all the same, and finish_output reports the error again in the end. */
    if (output_failed())
        complain("standard output", "cannot write the address; the server is listening at port %u",
                 port);
}

/* 0 means any free port. */
static bool port_from(const char *text, uint16_t *out)
{
    char *end;
    *out = DEFAULT_PORT;
    if (text == NULL) return true;
    const unsigned long port = strtoul(text, &end, 10);
    *out = (uint16_t)port;
    return *text >= '0' && *text <= '9' && *end == '\0' && port <= UINT16_MAX;
}

/* A socket that systemd passes takes the place of --address and --port, and sets their values. */
static bool take_socket(struct args *a, guard_service *s)
{
    static char address[GUARD_PASSED_ADDRESS];
    guard_error why;
    const bool placed = a->guard.address != NULL || a->guard.port != NULL;
    s->socket = guard_systemd_socket(address, &s->port, &why);
    if (s->socket < 0) return complain(NULL, "%s", why.text) == EXIT_FOUND;
    if (s->socket > 0 && placed)
        return complain(NULL,
                        "%s: systemd has passed a socket, so its unit sets the address, not "
                        "--address and --port",
                        a->command->name) == EXIT_FOUND;
    if (s->socket > 0) a->guard.address = address;
    return true;
}

static bool log_clients_from(const char *text, enum guard_log_clients *out)
{
    *out = GUARD_LOG_NO_CLIENTS;
    if (text == NULL) return true;
    if (strcmp(text, "network") == 0) *out = GUARD_LOG_NETWORKS;
    if (strcmp(text, "address") == 0) *out = GUARD_LOG_ADDRESSES;
    return *out != GUARD_LOG_NO_CLIENTS;
}

int run_guard_serve(const struct args *a)
{
    guard_error why;
    struct args copy = *a;
    const double limits[] = {(double)a->work.threads,
                             (double)a->guard.rate_limit,
                             (double)a->guard.connections,
                             (double)a->guard.per_address,
                             a->guard.timeout,
                             a->guard.cache};
    guard_service s = {.directory = a->words[0],
                       .address = a->guard.address,
                       .threads = (unsigned)a->work.threads,
                       .cache_seconds = (unsigned)a->guard.cache,
                       .connections = (unsigned)a->guard.connections,
                       .per_address = (unsigned)a->guard.per_address,
                       .host_names = (const char *const *)a->guard.host_names.text,
                       .n_host_names = (size_t)a->guard.host_names.n,
                       .requests_per_second = (unsigned)a->guard.rate_limit,
                       .timeout_seconds = (unsigned)a->guard.timeout,
                       .metrics_address = a->guard.metrics_address,
                       .proxies = (const char *const *)a->guard.proxies.text,
                       .n_proxies = (size_t)a->guard.proxies.n,
                       .access_log = a->guard.access_log,
                       .ready = say_ready,
                       .ctx = &copy};
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++)
        if (limits[i] > MOST_OF_A_LIMIT)
            return complain(NULL, "%s: a limit can be at most %s", a->command->name,
                            grouped(MOST_OF_A_LIMIT));
    if (a->guard.timeout != floor(a->guard.timeout) || a->guard.cache != floor(a->guard.cache))
        return complain(NULL, "%s: --timeout and --cache must be whole seconds", a->command->name);
    if (!port_from(a->guard.port, &s.port))
        return complain(NULL, "--port must be a number from 0 to 65535");
    if (!log_clients_from(a->guard.log_clients, &s.log_clients))
        return complain(NULL, "--log-clients must be 'network' or 'address'");
    if (a->guard.log_clients != NULL && a->guard.access_log == NULL)
        return complain(NULL, "--log-clients needs --access-log");
    guard_pubkey keys[GUARD_SIGNERS];
    guard_trust trust;
    if (!read_trust(a, keys, &trust, &s.trust)) return EXIT_ERROR;
    if (!take_socket(&copy, &s)) return EXIT_ERROR;
    if (guard_serve(&s, &why)) return finish_output(EXIT_FOUND);
    return complain(NULL, "%s", why.text);
}
#endif
