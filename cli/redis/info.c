/* info, merge, rotate and top for whole sets at redis:// addresses. */
#include "../commands/info.h"
#include "../commands/distinct.h"
#include "../commands/rotate.h"
#include "../filters/filter.h"
#include "../filters/rate.h"
#include "../filters/request.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "../frame/terminal.h"
#include "redis.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

#include <stdlib.h>
#include <string.h>

/* --- info ------------------------------------------------------------------------------------- */

/* All shards together. A key that was never added is queried at one shard, each with the same
 * probability, so rates are means. Items are sums, and so are the bounds of their interval: the
 * errors of the shards are independent, so the interval of the sum holds with more than the 99 % of
 * each. The lower bound of the set is the mean of the lower bounds of the shards, weighted by their
 * items. */
struct sums {
    tamis_facts whole;
    uint64_t overfull;
    unsigned worst; /* the shard with the highest rate */
};

static uint64_t sum(uint64_t x, uint64_t y)
{
    return x + y < x ? UINT64_MAX : x + y;
}

static int64_t signed_sum(int64_t x, int64_t y)
{
    int64_t s;
    if (!__builtin_add_overflow(x, y, &s)) return s;
    return y < 0 ? INT64_MIN : INT64_MAX;
}

static const char *signed_text(int64_t x)
{
    static char text[40]; /* valid until the next call */
    snprintf(text, sizeof text, "%s%s", x < 0 ? "-" : "",
             grouped(x < 0 ? 0 - (uint64_t)x : (uint64_t)x));
    return text;
}

static bool weighs(const tamis_facts *f)
{
    return is_sketch(f);
}

/* Sets bits per item, as for a file, and the lower bound: none if a shard has none, and the least
 * strict one if shards differ. */
static void set_bound(tamis_facts *all, const tamis_facts *f, unsigned n)
{
    const uint64_t of = all->items > 0 ? all->items : all->planned_items;
    double bits = 0;
    if (weighs(all) || of == 0) return;
    all->bits_per_item = 8 * (double)all->bytes / (double)of;
    all->bound = f->bound;
    for (unsigned i = 0; i < n; i++) {
        const uint64_t here = all->items > 0 ? f[i].items : f[i].planned_items;
        if (here > 0) bits += f[i].bound_bits * ((double)here / (double)of);
        if (f[i].bound < all->bound) all->bound = f[i].bound;
    }
    if (all->bound == TAMIS_BOUND_NONE) return;
    all->bound_bits = bits;
    all->bound_ratio = all->bits_per_item / bits;
}

/* The sums saturate, because servers may report anything. */
static struct sums sum_up(const tamis_facts *f, unsigned n)
{
    struct sums s = {.whole = {.struct_size = sizeof s.whole,
                               .kind = f->kind,
                               .inner_kind = f->inner_kind,
                               .generations = f->generations}};
    tamis_facts *all = &s.whole;
    for (unsigned i = 0; i < n; i++) {
        all->bytes = sum(all->bytes, f[i].bytes);
        all->items = sum(all->items, f[i].items);
        all->planned_items = sum(all->planned_items, f[i].planned_items);
        all->items_estimate += f[i].items_estimate;
        all->items_low += f[i].items_low;
        all->items_high += f[i].items_high;
        all->weight = signed_sum(all->weight, f[i].weight);
        all->saturated = sum(all->saturated, f[i].saturated);
        all->fpr_now += f[i].fpr_now / n;
        all->fpr_planned += f[i].fpr_planned / n;
        all->miss_rate += f[i].miss_rate / n;
        all->fill += f[i].fill / n;
        s.overfull += f[i].overfull;
        if (f[i].noise_999 > all->noise_999) all->noise_999 = f[i].noise_999;
        if (f[i].fpr_now > f[s.worst].fpr_now) s.worst = i;
    }
    set_bound(all, f, n);
    return s;
}

static void json_shards(const struct cluster_set *set, const tamis_facts *f)
{
    json_list("each");
    for (unsigned i = 0; i < cluster_shards(set); i++) {
        json_open('{');
        json_text("key", cluster_shard_key(set, i));
        json_count("bytes", f[i].bytes);
        if (is_distinct(f)) {
            json_count("distinct", f[i].items);
        } else if (weighs(f)) {
            json_integer("weight", f[i].weight);
        } else {
            json_count("items", f[i].items);
            json_count("planned_items", f[i].planned_items);
            json_number("fpr_now", f[i].fpr_now);
            json_bool("overfull", f[i].overfull);
        }
        json_number("fill", f[i].fill);
        json_close('}');
    }
    json_close(']');
}

static void json_rates(const tamis_facts *f, const struct sums *s)
{
    json_count("items", s->whole.items);
    json_count("planned_items", s->whole.planned_items);
    json_bound(&s->whole);
    json_number("fpr_planned", s->whole.fpr_planned);
    json_number("fpr_now", s->whole.fpr_now);
    json_number("fpr_worst", f[s->worst].fpr_now);
    json_number("miss_rate", s->whole.miss_rate);
    json_count("overfull", s->overfull);
}

static void json_weight(const tamis_facts *all)
{
    json_integer("weight", all->weight);
    json_integer("noise_999", all->noise_999);
    json_count("saturated", all->saturated);
    json_count("bytes", all->bytes);
}

static void print_set_json(const struct remote *r, const tamis_facts *f, const struct sums *s,
                           const tamis_cardinality *n)
{
    json_open('{');
    json_text("set", r->at.shown);
    json_text("kind", tamis_kind_name(f->kind));
    json_count("shards", cluster_shards(r->s));
    json_count("masters", cluster_masters(r->c));
    if (is_distinct(f)) {
        json_cardinality(n, false);
        json_count("bytes", s->whole.bytes);
    } else if (weighs(f)) {
        json_weight(&s->whole);
    } else {
        json_rates(f, s);
    }
    json_number("fill", s->whole.fill);
    json_count("m", f->m);
    json_count("k", f->k);
    json_count("seed", f->seed);
    json_bool("sealed", f->sealed);
    json_bool("collecting", f->collecting);
    json_shards(r->s, f);
    json_close('}');
    putchar('\n');
}

static void print_remote_filter(const struct remote *r, const tamis_facts *f, const struct sums *s)
{
    const tamis_facts *all = &s->whole;
    printf("  items     %s", grouped(all->items));
    if (f->kind == TAMIS_GROWING)
        printf(", grown from %s", grouped(all->planned_items));
    else
        printf(" of %s planned", grouped(all->planned_items));
    if (s->overfull > 0)
        printf("%s: %s of the shards overfull%s", ink(stdout, BAD), grouped(s->overfull),
               ink(stdout, PLAIN));
    putchar('\n');
    print_distinct(all);
    printf("  wrong     %s of never-added keys get a maybe now; planned %s",
           rate_text(all->fpr_now), rate_text(all->fpr_planned));
    if (cluster_shards(r->s) > 1)
        printf("\n            worst %s, in %s", rate_text(f[s->worst].fpr_now),
               cluster_shard_key(r->s, s->worst));
    if (all->miss_rate > 0)
        printf("\n  missed    %s of its members get a wrong no now", rate_text(all->miss_rate));
    putchar('\n');
    print_bound(all);
    putchar('\n');
}

static void print_sketch(const tamis_facts *all)
{
    printf("  weight    %s in all\n", signed_text(all->weight));
    printf("  noise     99.9 %% of keys that never occurred have a count of at most %s, in the "
           "worst shard\n",
           grouped((uint64_t)all->noise_999));
    printf("  size      %s bytes; %s saturated counters\n", grouped(all->bytes),
           all->saturated != 0 ? grouped(all->saturated) : "no");
}

static void print_set(const struct remote *r, const tamis_facts *f, const struct sums *s,
                      const tamis_cardinality *distinct)
{
    const unsigned n = cluster_shards(r->s), masters = cluster_masters(r->c);
    printf("%s: %s %s%s%s, %s shard%s, %s master%s\n", r->at.shown, tamis_kind_name(f->kind),
           weighs(f) ? "sketch" : "filter", f->sealed ? ", sealed" : "",
           f->collecting ? ", not sealed yet" : "", grouped(n), n > 1 ? "s" : "", grouped(masters),
           masters > 1 ? "s" : "");
    if (is_distinct(f))
        print_remote_distinct(distinct, s->whole.bytes);
    else if (weighs(f))
        print_sketch(&s->whole);
    else
        print_remote_filter(r, f, s);
    printf("  shards    each with m = %s, k = %u; %.1f %% in use; hash xxh3-128, seed %llu\n",
           grouped(f->m), f->k, 100 * s->whole.fill, (unsigned long long)f->seed);
}

/* A line for every shard. */
static void print_each(const struct cluster_set *set, const tamis_facts *f)
{
    const bool distinct = is_distinct(f), weight = weighs(f) && !distinct;
    const bool filter = !weight && !distinct;
    printf("  %14s %14s %s %7s  key\n",
           weight     ? "weight"
           : distinct ? "distinct"
                      : "items",
           "bytes", filter ? "     wrong" : "", "fill");
    for (unsigned i = 0; i < cluster_shards(set); i++) {
        printf("  %14s %14s ", weight ? signed_text(f[i].weight) : grouped(f[i].items),
               grouped(f[i].bytes));
        if (filter) printf("%9.3g%%", 100 * f[i].fpr_now);
        printf(" %6.1f%%  %s\n", 100 * f[i].fill, cluster_shard_key(set, i));
    }
}

int remote_info(const struct args *a)
{
    int status = EXIT_FOUND;
    for (int i = 0; i < a->n_words; i++) {
        struct remote r = {0};
        tamis_cardinality n;
        tamis_facts *f = remote_open(a, a->words[i], &r) ? remote_facts(&r) : NULL;
        if (f == NULL || (is_distinct(f) && !remote_card(&r, &n))) {
            status = EXIT_ERROR;
        } else {
            const struct sums s = sum_up(f, cluster_shards(r.s));
            if (a->json)
                print_set_json(&r, f, &s, &n);
            else
                print_set(&r, f, &s, &n);
            if (a->redis.each && !a->json) print_each(r.s, f);
        }
        free(f);
        remote_close(&r);
    }
    return finish_output(status);
}

/* --- Overfull sets ---------------------------------------------------------------------------- */

/* A key of TAMIS.CREATE has the kind TAMIS_AUTO here, and may have any kind. */
static bool can_be_overfull(uint32_t kind)
{
    return kind < KIND_END && kind != TAMIS_GROWING && kind != TAMIS_PRIVATE &&
           !is_sealed_kind(kind);
}

bool remote_check_rate(const struct args *a, const struct remote *r, const char *fate)
{
    if (!can_be_overfull(cluster_kind(r->s))) return true;
    tamis_facts *f = calloc(cluster_shards(r->s), sizeof *f);
    if (f == NULL || !cluster_set_info(r->s, f)) {
        complain(r->at.shown, "cannot determine whether it is overfull: %s",
                 f != NULL && cluster_why(r->c) != NULL ? cluster_why(r->c) : "not enough memory");
        free(f);
        cluster_recover(r->c);
        return true;
    }
    struct sums s = sum_up(f, cluster_shards(r->s));
    s.whole.overfull = s.overfull > 0;
    s.whole.collecting = f->collecting;
    s.whole.may_miss = f->kind == TAMIS_PAIR;
    /* All shards have one plan. */
    const double planned = rate_asked(f, a->plan.fpr, USUAL_FPR);
    const bool good = check_not_overfull(a, &s.whole, r->at.shown, fate, planned);
    if (good && rate_is_exceeded(&s.whole, planned)) warn_of_rate(&s.whole, r->at.shown);
    free(f);
    return good;
}

/* --- merge ------------------------------------------------------------------------------------ */

enum { MOST_SETS = 256 };

struct merging {
    struct remote to; /* the servers, and the result */
    struct cluster_set *in[MOST_SETS];
    struct cluster_address at[MOST_SETS];
    unsigned n;
    bool once;
};

/* Refuses different kinds or shapes before anything changes. False after a message. */
static bool check_shapes(struct merging *m)
{
    tamis_facts *first = NULL, *f = NULL;
    bool good = true;
    for (unsigned i = 0; i < m->n && good; i++) {
        struct remote r = {.at = m->at[i], .c = m->to.c, .s = m->in[i]};
        f = remote_facts(&r);
        good = f != NULL;
        const char *different = NULL;
        if (good && i > 0) {
            if (cluster_shards(m->in[i]) != cluster_shards(m->in[0]))
                different = "they have different numbers of shards";
            else if (f->kind != first->kind)
                different = "they are of different kinds";
            else if (f->seed != first->seed)
                different = "they have different seeds";
            else if (f->kind != TAMIS_DISTINCT && (f->m != first->m || f->k != first->k))
                different = "they have different sizes";
        }
        if (different != NULL) {
            complain(m->at[i].shown, "cannot be merged with %s: %s", m->at[0].shown, different);
            good = false;
        }
        if (i == 0) first = f;
        if (i > 0) free(f);
    }
    /* A merge that is repeated after a failure adds counters twice, but does not change bits. */
    m->once = good && first != NULL &&
              ((weighs(first) && !is_distinct(first)) || first->kind == TAMIS_COUNTING);
    free(first);
    return good;
}

static bool open_sets(const struct args *a, struct merging *m)
{
    for (int i = 0; i < a->n_words; i++) {
        struct cluster_address *at = &m->at[m->n];
        const char *why = cluster_is_address(a->words[i])
                              ? remote_sibling(a->words[i], &m->to.at, at)
                              : "is a file; load it into the server with TAMIS.LOAD first";
        if (m->n + 1 == MOST_SETS) why = "too many sets; merge at most 255 at once";
        if (why != NULL) {
            complain(cluster_is_address(a->words[i]) ? at->shown : a->words[i], "%s", why);
            return false;
        }
        m->in[m->n] = cluster_set_open(m->to.c, at->name);
        if (m->in[m->n] == NULL) {
            complain(at->shown, "%s", cluster_why(m->to.c));
            return false;
        }
        m->n++;
    }
    return check_shapes(m);
}

/* Removes the operand that is also the result. Returns whether there was one. */
static bool take_result_out(struct merging *m)
{
    unsigned left = 0;
    for (unsigned i = 0; i < m->n; i++) {
        struct cluster_set *s = m->in[i];
        m->in[i] = NULL;
        if (strcmp(m->at[i].name, m->to.at.name) != 0)
            m->in[left++] = s;
        else if (m->to.s == NULL)
            m->to.s = s;
        else
            cluster_set_close(s); /* named twice */
    }
    m->n = left;
    return m->to.s != NULL;
}

static int merge_into(const struct args *a, struct merging *m)
{
    const bool update = take_result_out(m);
    if (update && m->n == 0) return EXIT_FOUND;
    if (update && !a->output.force)
        return complain(m->to.at.shown, "already exists; use -f to replace it");
    if (!update) m->to.s = cluster_set_like(m->to.c, m->to.at.name, m->in[0], a->output.force);
    if (m->to.s == NULL) return remote_complain(&m->to);
    if (!cluster_set_merge(m->to.s, m->in, m->n, m->once)) {
        remote_complain(&m->to);
        if (update)
            return complain(m->to.at.shown, "some shards may have been merged, and others not");
    } else if (update) {
        return remote_check_rate(a, &m->to, NULL) ? EXIT_FOUND : EXIT_ERROR;
    } else if (remote_check_rate(a, &m->to, "not written")) {
        if (cluster_set_finish(m->to.s, false)) return EXIT_FOUND;
        remote_complain(&m->to);
    }
    return complain(m->to.at.shown, "%s", remote_abandon(&m->to));
}

int remote_merge(const struct args *a)
{
    int status = EXIT_ERROR;
    if (a->output.path == NULL)
        return complain(NULL, "merge: give the result with -o redis://HOST:PORT/NAME");
    struct merging *m = calloc(1, sizeof *m);
    if (m == NULL) return complain(NULL, "not enough memory");
    if (remote_connect(a, a->output.path, &m->to) && open_sets(a, m)) {
        struct progress bar;
        stop_on_signals(); /* the shards are merged at once, so that this waits for the end */
        stop_report(m->to.at.shown, "may have been merged in part");
        progress_wait(&bar, "merging");
        status = merge_into(a, m);
        progress_end(&bar);
        stop_report(m->to.at.shown, "was saved");
    }
    for (unsigned i = 0; i < MOST_SETS; i++) cluster_set_close(m->in[i]);
    remote_close(&m->to);
    free(m);
    return status;
}

int remote_rotate(const struct args *a)
{
    int status = EXIT_FOUND;
    uint64_t epoch;
    if (!epoch_asked(a, &epoch)) return EXIT_ERROR;
    for (int i = 0; i < a->n_words; i++) {
        struct remote r = {0};
        if (!remote_open(a, a->words[i], &r))
            status = EXIT_ERROR;
        else if (!cluster_set_rotate(r.s, epoch))
            status = remote_complain(&r);
        remote_close(&r);
    }
    return status;
}

/* --- top -------------------------------------------------------------------------------------- */

/* A reply must fit into the memory of both sides. */
#define MOST_LISTED 1000000u

struct list {
    tamis_heavy *entries; /* with texts of their own */
    size_t n, room;
};

static bool collect_heavy(void *ctx, const tamis_heavy *h)
{
    struct list *l = ctx;
    if (l->n == l->room) {
        tamis_heavy *more = realloc(l->entries, (2 * l->room + 64) * sizeof *more);
        if (more == NULL) return false;
        l->entries = more;
        l->room = 2 * l->room + 64;
    }
    tamis_heavy *e = &l->entries[l->n];
    *e = *h;
    if (h->item.p != NULL) {
        char *copy = malloc(h->item.len + 1);
        if (copy == NULL) return false;
        memcpy(copy, h->item.p, h->item.len);
        e->item.p = copy;
    }
    l->n++;
    return true;
}

/* The greatest count first. Equal counts are ordered by the bytes of the items. Items whose text is
 * not kept come last, ordered by hash. */
static int by_count_of_heavy(const void *x, const void *y)
{
    const tamis_heavy *a = x, *b = y;
    if (a->count.estimate != b->count.estimate)
        return a->count.estimate < b->count.estimate ? 1 : -1;
    if (a->item.p == NULL && b->item.p == NULL) return (a->hash > b->hash) - (a->hash < b->hash);
    if (a->item.p == NULL || b->item.p == NULL) return a->item.p == NULL ? 1 : -1;
    const size_t n = a->item.len < b->item.len ? a->item.len : b->item.len;
    const int order = memcmp(a->item.p, b->item.p, n);
    return order != 0 ? order : (a->item.len > b->item.len) - (a->item.len < b->item.len);
}

static void print_heavy(const struct args *a, const tamis_heavy *h)
{
    if (a->json) {
        json_heavy(h);
    } else {
        print_count(&h->count);
        print_heavy_item(h);
    }
    putchar(a->lines.nul && !a->json ? '\0' : '\n');
}

/* Each item is in one shard, so the most frequent items of the set are among the most frequent of
 * each shard. */
int remote_top(const struct args *a)
{
    struct remote r = {0};
    struct list l = {0};
    const uint64_t most = a->top.most != 0 ? a->top.most : 10;
    int status = EXIT_ERROR;
    if (a->n_words != 1 || a->output.path != NULL || a->plan.bytes != 0 ||
        a->lines.field.text != NULL || a->lines.weight_field.text != NULL)
        return complain(NULL, "top: a set at a redis:// address accepts only -n and --json; make "
                              "one with 'tamis count --kind top -o redis://...'");
    if (most > MOST_LISTED)
        return complain(NULL, "top: -n can be at most %u for a set at a redis:// address",
                        MOST_LISTED);
    if (remote_open(a, a->words[0], &r)) {
        if (cluster_set_top(r.s, most, &l, collect_heavy)) {
            if (l.n > 0) qsort(l.entries, l.n, sizeof *l.entries, by_count_of_heavy);
            for (size_t i = 0; i < l.n && i < most && !a->quiet; i++) print_heavy(a, &l.entries[i]);
            status = l.n > 0 ? EXIT_FOUND : EXIT_NONE;
        } else {
            status = remote_complain(&r);
        }
    }
    for (size_t i = 0; i < l.n; i++) free((char *)(uintptr_t)l.entries[i].item.p);
    free(l.entries);
    remote_close(&r);
    return finish_output(status);
}
