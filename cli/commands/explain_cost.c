/* explain cost: computes what a filter in front of a slow set saves. Every question goes to the
 * filter. Those that it does not answer with "no", the members and a few others, go on to the
 * set. */
#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/terminal.h"

#include <tamis/inspect.h>

#include <math.h>
#include <string.h>

/* The figures of the lecture "Comparison with Hash Tables". */
#define VISITS 102000
#define BAD 2000
#define LOOKUP 0.001
#define CONFIRM 0.5
#define ITEMS 5000000
#define ITEM_BYTES 40
#define ROWS 30
#define ROW_BITS 2500000

struct model {
    uint64_t visits, items, bytes, list_bytes;
    double bad, lookup, confirm, fpr;
    double asked, confirmed, in_vain, with,
        without; /* in seconds, except in_vain, which is a number */
};

/* A number, like 2000, or a share of the visits: 2%, 1/50, 0.02. */
static bool parse_bad(const char *text, uint64_t visits, double *out)
{
    uint64_t n = 0;
    double share;
    *out = visits < BAD ? (double)visits : BAD;
    if (text == NULL) return true;
    if (parse_number(text, &n)) {
        *out = (double)n;
        if (n <= visits) return true;
        complain(NULL, "--bad: %s is more than the %s visits", grouped(n), grouped(visits));
        return false;
    }
    if (parse_rate(text, &share)) {
        *out = share * (double)visits;
        return true;
    }
    complain(NULL, "--bad: '%s' is neither a number, like 2000, nor a share, like 2%%", text);
    return false;
}

/* Rate, items and size of the filter that is named, of one planned by --fpr, or of the lecture. */
static bool choose_filter(const struct args *a, struct model *m)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_PARTITIONED, .fpr = a->plan.fpr};
    tamis_promise r = {.struct_size = sizeof r};
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    m->items = p.items = a->plan.items != 0 ? a->plan.items : ITEMS;
    if (a->n_words > 0) {
        tamis *t = open_filter(a, a->words[0], TAMIS_KEYLESS);
        const bool known = t != NULL && read_facts(t, &f);
        tamis_close(t);
        if (!known) return false;
        if (is_sketch(&f)) {
            complain(a->words[0], "this is a sketch, which has no false-positive rate");
            return false;
        }
        if (f.kind == TAMIS_PRIVATE) {
            complain(a->words[0],
                     "a private filter cannot stand before a set, because it misses "
                     "%s of its members",
                     rate_text(f.miss_rate));
            return false;
        }
        m->fpr = a->plan.fpr != 0 ? a->plan.fpr : f.fpr_now;
        if (a->plan.items == 0) m->items = f.items;
        m->bytes = f.bytes;
        return true;
    }
    if (a->plan.fpr == 0) {
        p.k = ROWS;
        p.m = ROW_BITS;
    }
    if (tamis_solve(&p, &r, &why) != TAMIS_OK) {
        complain(NULL, "explain cost: %s", why.text);
        return false;
    }
    m->fpr = a->plan.fpr != 0 ? a->plan.fpr : r.fpr;
    m->bytes = r.bytes;
    return true;
}

static const char *seconds_text(double s)
{
    static char text[2][40];
    static unsigned turn;
    char *out = text[turn++ % 2];
    if (s >= 10)
        snprintf(out, sizeof *text, "%s s", grouped((uint64_t)llround(s)));
    else if (s >= 0.1)
        snprintf(out, sizeof *text, "%.3g s", s);
    else if (s >= 1e-4)
        snprintf(out, sizeof *text, "%.3g ms", 1e3 * s);
    else
        snprintf(out, sizeof *text, "%.3g us", 1e6 * s);
    return out;
}

static void print_line(const char *what, const char *how_many, double each, double total)
{
    printf("  %-30s %13s x %-8s %14s\n", what, how_many, seconds_text(each), seconds_text(total));
}

static void print_verdict(const struct model *m)
{
    const double gain = m->without / m->with;
    printf("\n%s%.3g times as fast with the filter.%s ", ink(stdout, gain > 1 ? GOOD : BAD), gain,
           ink(stdout, PLAIN));
    /* If this share of the questions is about non-members, the filter costs as much as it saves. */
    const double others = m->lookup / (m->confirm * (1 - m->fpr));
    if (others < 1)
        printf("It pays if more than %s of the\nlookups are for items that are not in the set.\n",
               rate_text(others));
    else
        printf("Looking up the filter takes longer than it can save.\n");
    printf("The set itself takes %s bytes, the filter %s: %.3g times less.\n",
           grouped(m->list_bytes), grouped(m->bytes), (double)m->list_bytes / (double)m->bytes);
}

static void print_cost(const struct model *m)
{
    printf("%s lookups, %s of them for items in the set; the filter answers maybe "
           "to\n%s of the others.\n\n",
           grouped(m->visits), grouped((uint64_t)llround(m->bad)), rate_text(m->fpr));
    printf("%swithout a filter%s\n", ink(stdout, STRONG), ink(stdout, PLAIN));
    print_line("every lookup in the set", grouped(m->visits), m->confirm, m->without);
    printf("%swith a filter%s\n", ink(stdout, STRONG), ink(stdout, PLAIN));
    print_line("every lookup in the filter", grouped(m->visits), m->lookup, m->asked);
    print_line("members, in the set", grouped((uint64_t)llround(m->bad)), m->confirm, m->confirmed);
    print_line("false positives, in the set", grouped((uint64_t)llround(m->in_vain)), m->confirm,
               m->in_vain * m->confirm);
    printf("  %-30s %39s\n", "together", seconds_text(m->with));
    print_verdict(m);
}

static void print_cost_json(const struct model *m)
{
    json_open('{');
    json_count("visits", m->visits);
    json_number("bad", m->bad);
    json_number("lookup", m->lookup);
    json_number("confirm", m->confirm);
    json_number("fpr", m->fpr);
    json_number("false_positives", m->in_vain);
    json_number("seconds_without", m->without);
    json_number("seconds_with", m->with);
    json_number("times_as_fast", m->without / m->with);
    json_count("items", m->items);
    json_count("list_bytes", m->list_bytes);
    json_count("filter_bytes", m->bytes);
    json_close('}');
    putchar('\n');
}

int run_explain_cost(const struct args *a)
{
    struct model m = {.visits = a->cost.visits != 0 ? a->cost.visits : VISITS,
                      .lookup = a->cost.lookup != 0 ? a->cost.lookup : LOOKUP,
                      .confirm = a->cost.confirm_time != 0 ? a->cost.confirm_time : CONFIRM};
    if (a->n_words > 1) return complain(NULL, "explain cost: name at most one filter");
    if (!parse_bad(a->cost.bad, m.visits, &m.bad) || !choose_filter(a, &m)) return EXIT_ERROR;
    if (__builtin_mul_overflow(m.items, (uint64_t)ITEM_BYTES, &m.list_bytes))
        return complain(NULL, "explain cost: the set would have 2^64 bytes or more");
    m.in_vain = m.fpr * ((double)m.visits - m.bad);
    m.asked = (double)m.visits * m.lookup;
    m.confirmed = m.bad * m.confirm;
    m.without = (double)m.visits * m.confirm;
    m.with = m.asked + m.confirmed + m.in_vain * m.confirm;
    if (a->json)
        print_cost_json(&m);
    else
        print_cost(&m);
    return finish_output(EXIT_FOUND);
}
