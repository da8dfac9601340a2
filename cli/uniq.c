/* uniq: the lines that did not come before, in their order. What is remembered of a line is its hash: exactly while a budget
 * lasts, if one is given, and then in a filter. A filter's false positive is a line that is wrongly dropped; nothing else
 * can go wrong, and how often that may have happened is added up on the way. */
#include "cli.h"
#include "hash_set.h"
#include "lines.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DEFAULT_FPR 1e-6
#define GENERATIONS 8u
#define WINDOW_ITEMS 1000000u /* of a window of time that was given no number */

struct uniq {
    const struct args *a;
    tamis *t; /* NULL while all is exact */
    struct hash_set exact;
    bool is_exact, warned;
    uint64_t lines, kept;
    double dropped;     /* lines that were wrongly dropped, to be expected */
    double rate;        /* when it was last looked at, */
    uint64_t rate_kept; /* with so many lines kept */
    uint8_t *seen;
    size_t room;                 /* lines that `seen` has bits for */
    double turn_seconds, turned; /* windows of time */
};

/* --- Requests ------------------------------------------------------------------------------------------------------------- */

/* --window: a number of lines, or a time (30s, 5m, 1h, 1d). False after a message. */
static bool parse_window(const char *text, uint64_t *items, double *seconds)
{
    static const char units[] = "smhd";
    static const double factors[] = {1, 60, 3600, 86400};
    char *end;
    errno = 0;
    const double v = strtod(text, &end);
    const char *unit = *end != '\0' ? strchr(units, *end) : NULL;
    *items = 0;
    *seconds = 0;
    if (v > 0 && v < 1e15 && unit != NULL && end[1] == '\0') {
        *seconds = v * factors[unit - units];
        return true;
    }
    if (parse_number(text, items) && *items > 0) return true;
    complain(NULL, "--window: '%s' is no number of lines (1000, 1M) and no time (30s, 5m, 1h, 1d)",
             text);
    return false;
}

static bool plan_uniq(const struct args *a, tamis_plan *p, double *turn_seconds)
{
    *turn_seconds = 0;
    if (!plan_from(a, p)) return false;
    const bool shaped = p->items != 0 || p->bytes != 0;
    /* More items than said make it grow, rather than drop lines; only bytes are a limit. */
    if (a->kind == NULL) p->kind = p->bytes != 0 ? TAMIS_AUTO : TAMIS_GROWING;
    if (p->kind > TAMIS_BLOCKED && p->kind != TAMIS_GROWING) {
        complain(NULL,
                 "uniq: a %s filter does not tell which lines are new; blocked, bloom, "
                 "partitioned and growing do, and see --window",
                 a->kind);
        return false;
    }
    if (p->fpr == 0 && !(p->items != 0 && p->bytes != 0)) p->fpr = DEFAULT_FPR;
    if (a->window == NULL) return true;
    uint64_t lines;
    double seconds;
    if (!parse_window(a->window, &lines, &seconds)) return false;
    p->kind = TAMIS_WINDOW;
    p->generations = GENERATIONS;
    if (lines != 0) { /* the last generation is being filled: the others hold that many */
        p->flags |= TAMIS_TURNING;
        p->items = lines + lines / (GENERATIONS - 1) + 1;
    } else if (!shaped) {
        p->items = WINDOW_ITEMS;
    }
    *turn_seconds = seconds / (GENERATIONS - 1);
    return true;
}

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static bool create_filter(struct uniq *u)
{
    const tamis_options o = {.struct_size = sizeof o, .key = u->a->key};
    tamis_plan p;
    tamis_error why;
    if (!plan_uniq(u->a, &p, &u->turn_seconds)) return false;
    u->turned = now();
    if (tamis_create(&p, &o, &u->t, &why) == TAMIS_OK) return true;
    complain(NULL, "uniq: %s", why.text);
    return false;
}

/* The filter of yesterday, if there is one. */
static bool open_state(struct uniq *u)
{
    if (access(u->a->state, F_OK) != 0 && errno == ENOENT) return create_filter(u);
    tamis_plan p;
    if (!plan_uniq(u->a, &p, &u->turn_seconds)) return false;
    u->turned = now();
    u->t = open_filter(u->a, u->a->state, TAMIS_UPDATE | TAMIS_WAIT);
    return u->t != NULL && check_hashable(u->t, u->a->state) == EXIT_FOUND;
}

/* --- Lines -------------------------------------------------------------------------------------------------------------------- */

/* How wrong the filter is now counts for the lines kept since the last look, and a dropped one is one of those that would
 * have been kept. */
static void look(struct uniq *u)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (u->t == NULL || tamis_info(u->t, &f) != TAMIS_OK) return;
    const double more = (double)(u->kept - u->rate_kept), rate = (f.fpr_now + u->rate) / 2;
    if (rate < 1) u->dropped += more * rate / (1 - rate);
    u->rate = f.fpr_now;
    u->rate_kept = u->kept;
    if (f.over_full && !u->warned && !u->a->quiet) warn_if_over_full(u->t, "uniq");
    u->warned = u->warned || f.over_full;
}

/* The budget is spent: what is in the set goes into a filter. False after a message. */
static bool leave_exact(struct uniq *u)
{
    tamis_hash *all = malloc((u->exact.n + 1) * sizeof *all);
    if (all == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    hash_set_list(&u->exact, all);
    const size_t n = u->exact.n;
    hash_set_free(&u->exact);
    u->is_exact = false;
    bool good = u->t != NULL || create_filter(u);
    if (good && tamis_add_hashes(u->t, all, n, NULL, NULL) != TAMIS_OK) {
        complain(NULL, "uniq: no room for %s lines", grouped(n));
        good = false;
    }
    free(all);
    u->rate_kept = u->kept;
    look(u);
    if (good && !u->a->quiet)
        complain(NULL,
                 "uniq: no longer exact: %s different lines have used up %s bytes; from here on "
                 "%s of new lines are dropped",
                 grouped(n), grouped(u->a->exact_until), rate_text(u->rate));
    return good;
}

/* As far as the budget goes; returns how many lines that was. */
static size_t ask_set(struct uniq *u, const struct block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const int is_new = hash_set_add(&u->exact, b->hashes[i]);
        if (is_new < 0) return i;
        u->seen[i] = (uint8_t)!is_new;
        u->kept += (uint64_t)is_new;
    }
    return b->n;
}

/* The rest by the filter, which answers in bits. False after a message. */
static bool ask_filter(struct uniq *u, const struct block *b, size_t from)
{
    enum { PIECE = 1024 };
    for (size_t at = from; at < b->n; at += PIECE) {
        uint8_t bits[PIECE / 8];
        const size_t n = b->n - at < PIECE ? b->n - at : PIECE;
        const tamis_status s = tamis_add_hashes(u->t, b->hashes + at, n, bits, NULL);
        if (s != TAMIS_OK) {
            complain(NULL, "uniq: %s", why_not_added(u->t, s));
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            u->seen[at + i] = bits[i / 8] >> i % 8 & 1;
            u->kept += !u->seen[at + i];
        }
        if (u->kept - u->rate_kept > PIECE / 2 + u->rate_kept / 16) look(u);
    }
    return true;
}

static void turn(struct uniq *u)
{
    if (u->t == NULL || u->turn_seconds <= 0) return;
    const double late = now() - u->turned;
    for (unsigned i = 0; i < GENERATIONS && (i + 1) * u->turn_seconds <= late; i++) {
        tamis_rotate(u->t, NULL);
        u->turned += u->turn_seconds;
    }
    if (late > GENERATIONS * u->turn_seconds) u->turned = now(); /* all is forgotten */
}

static bool take_block(struct uniq *u, const struct block *b)
{
    const struct args *a = u->a;
    const bool print = !a->count && !a->json && !a->quiet;
    if (b->n > u->room) {
        free(u->seen);
        u->room = b->n;
        u->seen = malloc(u->room);
    }
    if (u->seen == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    turn(u);
    size_t known = u->is_exact ? ask_set(u, b) : 0;
    if (known < b->n && u->is_exact && !leave_exact(u)) return false;
    if (known < b->n && !ask_filter(u, b, known)) return false;
    for (size_t i = 0; i < b->n && print; i++)
        if ((u->seen[i] != 0) == a->repeated) fwrite(b->lines[i].p, 1, b->lines[i].len + 1, stdout);
    u->lines += b->n;
    return true;
}

/* --- The end -------------------------------------------------------------------------------------------------------------------- */

static void report(const struct uniq *u)
{
    const struct args *a = u->a;
    if (a->json && !a->quiet) {
        json_open('{');
        json_count("lines", u->lines);
        json_count("different", u->kept);
        json_count("repeated", u->lines - u->kept);
        json_bool("exact", u->is_exact);
        json_number("fpr_now", u->is_exact ? 0 : u->rate);
        json_number("wrongly_dropped", u->is_exact ? 0 : u->dropped);
        json_count("bytes", u->t != NULL ? tamis_image_size(u->t)
                                         : (uint64_t)(u->exact.room * sizeof *u->exact.slots));
        json_close('}');
        putchar('\n');
    } else if (a->count && !a->quiet) {
        printf("%llu\n", (unsigned long long)(a->repeated ? u->lines - u->kept : u->kept));
    }
    if (a->quiet || !isatty(STDERR_FILENO)) return;
    fprintf(stderr, "tamis: %s lines, %s different; ", grouped(u->lines), grouped(u->kept));
    if (u->is_exact)
        fprintf(stderr, "exact\n");
    else
        fprintf(stderr, "%.3g wrongly dropped, to be expected\n", u->dropped);
}

static bool read_all(struct uniq *u, const tamis *hasher)
{
    const struct args *a = u->a;
    struct lines *in = lines_open(a, a->words, a->n_words, hasher, threads_from(a));
    struct progress bar;
    const struct block *b;
    bool good = true;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, "reading", lines_total_bytes(a->words, a->n_words),
                   a->quiet || !(a->count || a->json));
    while (good && (b = lines_next(in)) != NULL) {
        good = take_block(u, b);
        if (output_failed()) break;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    good = good && !lines_failed(in);
    lines_close(in);
    return good;
}

static bool save_state(struct uniq *u)
{
    if (u->a->state == NULL) return true;
    if (u->is_exact && !leave_exact(u)) return false;
    return save_filter(u->t, u->a->state, true) == EXIT_FOUND;
}

int run_uniq(const struct args *a)
{
    struct uniq u = {.a = a, .is_exact = a->exact_until != 0};
    tamis_plan p;
    bool good = plan_uniq(a, &p, &u.turn_seconds);
    u.exact.budget = a->exact_until;
    if (good && a->exact_until != 0 && (a->state != NULL || a->window != NULL)) {
        complain(NULL, "uniq: --exact-until is for one run, without --state and --window");
        good = false;
    }
    tamis *hasher = NULL;
    if (good && u.is_exact)
        good = (hasher = make_hasher(a)) != NULL;
    else if (good)
        good = a->state != NULL ? open_state(&u) : create_filter(&u);
    if (good) look(&u); /* the rate it begins with */
    u.dropped = 0;
    good = good && read_all(&u, hasher != NULL ? hasher : u.t);
    if (good) look(&u);
    good = good && save_state(&u);
    if (good) report(&u);
    tamis_close(u.t);
    tamis_close(hasher);
    hash_set_free(&u.exact);
    free(u.seen);
    return finish_output(good ? EXIT_FOUND : EXIT_ERROR);
}
