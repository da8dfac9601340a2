/* uniq: prints the lines that did not occur before, in their order. Only the hash of a line is
 * kept: exactly as long as a budget lasts, if one is given, and then in a filter (past.c). A false
 * positive of the filter is a line that is wrongly dropped; nothing else can go wrong. The expected
 * number of such lines is summed up on the way. */
#include "../filters/filter.h"
#include "../filters/past.h"
#include "../filters/rate.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "../input/fields.h"
#include "../input/hash_set.h"
#include "../input/lines.h"

#include <tamis/inspect.h>

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

/* If more than this share of new lines is dropped, the lines that are kept no longer show how many
 * were dropped. */
#define TELLING 0.5

/* How many lines were wrongly dropped. The rate of the filter is read from time to time. */
struct wrong {
    double dropped;       /* the expected number of lines that were wrongly dropped */
    bool unknown;         /* it can no longer be estimated */
    double rate;          /* when it was last read, */
    uint64_t kept, lines; /* and the lines at that time */
    bool exceeded;        /* the rate was above the one asked for */
    double worst, warned; /* the highest rate, and the rate at the last warning */
};

struct uniq {
    const struct args *a;
    struct past past; /* has no filter while everything is exact */
    struct hash_set exact;
    bool is_exact;
    uint64_t lines, kept;
    struct wrong wrong;
    uint8_t *seen;
    size_t room; /* lines that `seen` has bytes for */
};

/* --- How wrong -------------------------------------------------------------------------------- */

/* The expected number of new lines that were dropped while so many were kept and the rate rose from
 * one value to the other. Each line that was kept stands for 1 / (1 - rate) new lines. 1 - rate is
 * taken to fall linearly in between, so that its mean is the logarithmic mean. The real curve is
 * above that line until most bits are set, so the result is rather too high. */
static double dropped_beside(double kept, double from, double to)
{
    const double p = 1 - from, q = 1 - to, middle = (from + to) / 2;
    if (!(q > 0 && p > 0)) return 0; /* unknown */
    if (fabs(p - q) < 0.01 * p) return kept * middle / (1 - middle);
    return kept * (log(p / q) / (p - q) - 1);
}

static void look_at_rate(struct uniq *u)
{
    struct wrong *w = &u->wrong;
    tamis_facts f = {.struct_size = sizeof f};
    if (u->past.t == NULL || tamis_info(u->past.t, &f) != TAMIS_OK) return;
    w->dropped += dropped_beside((double)(u->kept - w->kept), w->rate, f.fpr_now);
    w->rate = f.fpr_now;
    w->unknown = w->unknown || w->rate > TELLING;
    w->kept = u->kept;
    w->lines = u->lines;
    if (!rate_is_exceeded(&f, u->past.asked)) return;
    w->exceeded = true;
    w->worst = fmax(w->worst, w->rate);
    if (w->rate < 10 * w->warned) return;
    w->warned = w->rate;
    if (!u->a->quiet) warn_of_rate(&f, "uniq");
}

/* Reads the rate when a sixteenth more lines have been kept since the last time; or, where almost
 * none are kept, when so many were dropped that reading all the bits is cheap in comparison. */
static void look_if_due(struct uniq *u)
{
    const struct wrong *w = &u->wrong;
    const uint64_t lines = u->lines - w->lines;
    const bool grown = u->kept - w->kept > 512 + w->kept / 16;
    const bool rising = w->rate > 0.01 && lines > 1024 + tamis_image_size(u->past.t) / 16;
    if (grown || rising) look_at_rate(u);
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* The budget is used up: moves the set into a filter. False after a message. */
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
    bool good = u->past.t != NULL || past_create(&u->past);
    if (good && tamis_add_hashes(u->past.t, all, n, NULL, NULL) != TAMIS_OK) {
        complain(NULL, "uniq: there is no room for %s lines", grouped(n));
        good = false;
    }
    free(all);
    u->wrong.kept = u->kept; /* none of them was wrong */
    look_at_rate(u);
    if (good && !u->a->quiet)
        complain(NULL,
                 "uniq: no longer exact: %s distinct lines have used up %s bytes; from now on %s "
                 "of new lines are dropped",
                 grouped(n), grouped(u->a->uniq.exact_until), rate_text(u->wrong.rate));
    return good;
}

/* Queries the exact set as far as the budget lasts. Returns the number of lines. */
static size_t ask_exact_set(struct uniq *u, const struct block *b)
{
    for (size_t i = 0; i < b->n; i++) {
        const int is_new = hash_set_add(&u->exact, b->hashes[i]);
        if (is_new < 0) return i;
        u->seen[i] = (uint8_t)!is_new;
        u->kept += (uint64_t)is_new;
        u->lines++;
    }
    return b->n;
}

/* Queries the filter for the rest. The rate is read at fixed numbers of input lines, so that what
 * is reported does not depend on how the lines arrive. False after a message. */
static bool ask_filter(struct uniq *u, const struct block *b, size_t from)
{
    enum { PIECE = 1024 };
    for (size_t at = from, n; at < b->n; at += n) {
        uint8_t bits[PIECE / 8];
        const size_t left = PIECE - (size_t)(u->lines % PIECE);
        n = b->n - at < left ? b->n - at : left;
        const tamis_status s = tamis_add_hashes(u->past.t, b->hashes + at, n, bits, NULL);
        if (s != TAMIS_OK) {
            complain(NULL, "uniq: %s", why_not_added(u->past.t, s));
            return false;
        }
        for (size_t i = 0; i < n; i++) {
            u->seen[at + i] = bits[i / 8] >> i % 8 & 1;
            u->kept += !u->seen[at + i];
        }
        u->lines += n;
        if (n == left) look_if_due(u);
    }
    return true;
}

static bool filter_lines(struct uniq *u, const struct block *b)
{
    const struct args *a = u->a;
    const bool print = !a->select.total && !a->json && !a->quiet;
    if (b->n == 0) return true; /* all of them were skipped */
    if (b->n > u->room) {
        free(u->seen);
        u->room = b->n;
        u->seen = malloc(u->room);
    }
    if (u->seen == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    if (!u->is_exact && !past_turn(&u->past)) return false;
    size_t known = u->is_exact ? ask_exact_set(u, b) : 0;
    if (known < b->n && u->is_exact && !leave_exact(u)) return false;
    if (known < b->n && !ask_filter(u, b, known)) return false;
    if (!print) return true;
    progress_pause(STDOUT_FILENO);
    for (size_t i = 0; i < b->n; i++)
        if ((u->seen[i] != 0) == a->select.invert)
            fwrite(b->lines[i].p, 1, b->lines[i].len + 1, stdout);
    progress_resume(STDOUT_FILENO);
    return true;
}

/* --- The end ---------------------------------------------------------------------------------- */

static uint64_t repeated_lines(const struct uniq *u)
{
    return u->lines - u->kept;
}

/* NAN if it cannot be estimated. */
static double wrongly_dropped(const struct uniq *u)
{
    if (u->is_exact) return 0;
    return u->wrong.unknown ? NAN : fmin(u->wrong.dropped, (double)repeated_lines(u));
}

static void print_totals(const struct uniq *u)
{
    const struct args *a = u->a;
    if (a->json) {
        json_open('{');
        json_count("lines", u->lines);
        json_count("different", u->kept);
        json_count("repeated", repeated_lines(u));
        json_bool("exact", u->is_exact);
        json_number("fpr_now", u->is_exact ? 0 : u->wrong.rate);
        json_number("fpr_asked", u->is_exact ? 0 : u->past.asked);
        json_number("wrongly_dropped", wrongly_dropped(u));
        json_count("bytes", u->past.t != NULL ? tamis_image_size(u->past.t)
                                              : (uint64_t)(u->exact.room * sizeof *u->exact.slots));
        json_close('}');
        putchar('\n');
    } else if (a->select.total) {
        printf("%llu\n", (unsigned long long)(a->select.invert ? repeated_lines(u) : u->kept));
    }
}

/* "about 120 new ones wrongly dropped, to be expected" */
static void describe_wrong(const struct uniq *u, char *out, size_t size)
{
    const double dropped = wrongly_dropped(u);
    if (u->is_exact)
        snprintf(out, size, "exact");
    else if (isnan(dropped))
        snprintf(out, size, "up to %s new lines wrongly dropped", grouped(repeated_lines(u)));
    else if (dropped < 10)
        snprintf(out, size, "%.3g new lines are expected to have been wrongly dropped", dropped);
    else
        snprintf(out, size, "about %s new lines are expected to have been wrongly dropped",
                 grouped((uint64_t)llround(dropped)));
}

/* Printed on a terminal, and elsewhere only if the rate exceeded the one asked for. */
static void tell_end(const struct uniq *u)
{
    const struct wrong *w = &u->wrong;
    char dropped[128], rate[200] = "";
    if (!w->exceeded && !isatty(STDERR_FILENO)) return;
    describe_wrong(u, dropped, sizeof dropped);
    if (w->exceeded)
        snprintf(rate, sizeof rate, "; the rate %s %s, but %s was requested",
                 w->rate < w->worst ? "was" : "is", rate_text(w->worst), rate_text(u->past.asked));
    complain(NULL, "uniq: %s lines, %s distinct; %s%s", grouped(u->lines), grouped(u->kept),
             dropped, rate);
}

static bool read_all_lines(struct uniq *u, const tamis *hasher)
{
    const struct args *a = u->a;
    struct lines *in = lines_open(&a->lines, a->words, a->n_words, hasher, threads_from(&a->work));
    struct progress bar = {0};
    const bool prints = !(a->select.total || a->json || a->quiet);
    const struct block *b;
    bool good = true;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    if (prints) lines_print_header(in);
    if (!prints || !progress_would_mix(a->lines.nul))
        progress_start(&bar, "reading", lines_total_bytes(a->words, a->n_words));
    while (good && !output_failed() && (b = lines_next(in)) != NULL) {
        good = filter_lines(u, b);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    good = good && !lines_failed(in);
    lines_close(in, a->quiet);
    return good;
}

/* Processes the lines, and saves the state only when they are printed. False after a message, or if
 * finish_output has one. */
static bool run_lines(struct uniq *u, const tamis *hasher)
{
    look_at_rate(u); /* the rate at the beginning */
    if (!read_all_lines(u, hasher)) return false;
    look_at_rate(u);
    flush_output();
    return !output_failed() && past_save(&u->past);
}

int run_uniq(const struct args *a)
{
    struct uniq u = {.a = a, .past.a = a, .is_exact = a->uniq.exact_until != 0};
    tamis *hasher = NULL;
    u.exact.budget = a->uniq.exact_until;
    bool good = check_fields(&a->lines) && past_check(a);
    if (good && u.is_exact) {
        hasher = make_hasher(a);
        good = hasher != NULL;
    } else if (good) {
        good = past_open(&u.past);
    }
    /* An endless input ends only by a signal, and the lines until then are saved to the state. But
     * a process that waits for another one ends at once. */
    if (good && a->uniq.state != NULL) stop_on_signals();
    good = good && run_lines(&u, hasher != NULL ? hasher : u.past.t);
    if (good && !a->quiet) print_totals(&u);
    if (good && !a->quiet) tell_end(&u);
    const bool wrong = u.wrong.worst > MUCH_TOO_WRONG * u.past.asked;
    tamis_close(u.past.t);
    tamis_close(hasher);
    hash_set_free(&u.exact);
    free(u.seen);
    const int status = finish_output(good && !wrong ? EXIT_FOUND : EXIT_ERROR);
    stop_now();
    return status;
}
