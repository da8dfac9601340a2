/* RedisBloom's t-digest. Observations are appended to an array of nodes. When the array is full, or
 * a question is asked, the nodes are sorted, and neighbours are merged as long as the rule of the
 * compression permits. A node at quantile q may have a weight in proportion to q (1 - q), so nodes
 * are small at both ends, where the extreme quantiles are, and big in the middle.
 *
 * The weights at compression 20 after the numbers 1 to 1000, in the order of the means:
 *
 *     1 1 3 7 16 33 79 185 229 232 143 48 15 5 2 1
 *
 * The arithmetic follows t-digest-c, the library of RedisBloom, operation by operation, because
 * every rounding becomes part of the encoding. There are four deviations:
 *
 * - A digest of one observation is merged like any other. Before 2026 the library left it pending,
 *   so quantiles were NaN, and RDB files lost the observation (see compat_tdigest_load).
 * - Where a difference or a product exceeds the range of a double, another formula is used.
 *   RedisBloom then stores or returns infinities and NaN.
 * - Where RedisBloom divides by zero, at an end that has a node of weight 2, the end is returned.
 * - The work of a sort is limited. */
#include "tdigest.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

/* A fused multiply-add rounds once instead of twice, which would change replies in their last
 * digit. */
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#else
#pragma GCC optimize("fp-contract=off")
#endif

typedef struct compat_tdigest_node node;

#define PI 3.14159265358979323846

uint64_t compat_tdigest_node_bytes(const struct compat_tdigest *t)
{
    return (uint64_t)t->room * sizeof *t->nodes;
}

/* --- Sorting ---------------------------------------------------------------------------------- */

/* The order of equal means with different weights decides how they are merged. It is that of the
 * quicksort in RedisBloom: the pivot is the middle element, and what is less moves to the front.
 * That takes quadratic time for some inputs. For one with many equal values, strip() avoids it. For
 * others, the number of comparisons is limited to SORT_WORK n log n, and what is not sorted by then
 * is sorted by qsort(). The factor is chosen such that for n = 610, the capacity at the default
 * compression, even the worst case is within the limit: 610 / 2 < 32 * 10. */
#define SORT_WORK 32u

struct range {
    uint32_t low, high; /* the last is included */
};

static void swap(node *a, uint32_t i, uint32_t j)
{
    const node kept = a[i];
    a[i] = a[j];
    a[j] = kept;
}

/* Moves the pivot of a range to its place, which is returned. */
static uint32_t partition(node *a, struct range r)
{
    swap(a, (r.low + r.high) / 2, r.high);
    const double pivot = a[r.high].mean;
    uint32_t place = r.low;
    for (uint32_t i = r.low; i < r.high; i++)
        if (a[i].mean < pivot) swap(a, place++, i);
    swap(a, place, r.high);
    return place;
}

/* Removes pivots from the front of a range as long as they are its minimum. This does what
 * partition() does, without comparing each of them with all others. */
static struct range strip(node *a, struct range r, double minimum)
{
    for (; r.high - r.low >= 2 && a[(r.low + r.high) / 2].mean == minimum; r.low++) {
        swap(a, (r.low + r.high) / 2, r.high);
        swap(a, r.low, r.high);
    }
    return r;
}

/* A total order, so that the result is the same with every qsort(). */
static int compare_nodes(const void *p, const void *q)
{
    const node *a = p, *b = q;
    if (a->mean != b->mean) return a->mean < b->mean ? -1 : 1;
    return (a->weight > b->weight) - (a->weight < b->weight);
}

static void sort_nodes(node *a, uint32_t n)
{
    struct range later[32]; /* the bigger parts; each is at most half as big as the one before */
    struct range r = {0, n - 1};
    uint64_t work = n;
    uint32_t count = 0;
    for (uint32_t i = n; i > 0; i /= 2) work += (uint64_t)SORT_WORK * n;
    for (;;) {
        while (r.high - r.low >= 2 && work >= r.high - r.low) {
            work -= r.high - r.low;
            const uint32_t at = partition(a, r);
            if (at == r.low) {
                r = strip(a, (struct range){r.low + 1, r.high}, a[at].mean);
            } else if (at == r.high) {
                r.high--;
            } else {
                const struct range left = {r.low, at - 1}, right = {at + 1, r.high};
                const bool left_is_less = at - r.low < r.high - at;
                later[count++] = left_is_less ? right : left;
                r = left_is_less ? left : right;
            }
        }
        if (r.high - r.low >= 2)
            qsort(a + r.low, r.high - r.low + 1, sizeof *a, compare_nodes);
        else if (a[r.low].mean > a[r.high].mean)
            swap(a, r.low, r.high);
        if (count == 0) return;
        r = later[--count];
    }
}

/* --- Merging ---------------------------------------------------------------------------------- */

static double between(double x, double a, double b)
{
    const double low = a < b ? a : b, high = a < b ? b : a;
    return x > low ? (x < high ? x : high) : low;
}

/* Moves a mean towards x, which is not less and has the part w of the new weight. */
static double move_mean(double mean, double x, double w, double weight)
{
    double moved = mean + (x - mean) * w / weight;
    if (!isfinite(moved)) moved = mean * (1 - w / weight) + x * (w / weight);
    return between(moved, mean, x);
}

static void join(node *into, const node *from)
{
    into->weight += from->weight;
    into->mean = move_mean(into->mean, from->mean, (double)from->weight, (double)into->weight);
}

/* Merges neighbours among sorted nodes. Returns how many nodes remain. */
static uint32_t merge_nodes(node *a, uint32_t n, double compression, double total)
{
    const double normalizer = compression / (2 * PI * total * log(total));
    double before = 0; /* weight of the nodes before the last one */
    uint32_t last = 0;
    for (uint32_t i = 1; i < n; i++) {
        const double weight = (double)a[last].weight + (double)a[i].weight;
        const double z = weight * normalizer, q0 = before / total, q2 = (before + weight) / total;
        if (z <= q0 * (1 - q0) && z <= q2 * (1 - q2)) {
            join(&a[last], &a[i]);
        } else {
            before += (double)a[last].weight;
            a[++last] = a[i];
        }
    }
    return last + 1;
}

static void merge_pending(struct compat_tdigest *t)
{
    if (t->pending == 0) return;
    t->merged += t->pending;
    t->merged_weight += t->pending_weight;
    t->pending = 0;
    t->pending_weight = 0;
    if (t->merges < INT64_MAX) t->merges++;
    sort_nodes(t->nodes, t->merged);
    if (t->merged_weight > 1)
        t->merged =
            merge_nodes(t->nodes, t->merged, (double)t->compression, (double)t->merged_weight);
}

/* Merges pairs of neighbours, whatever the rule says, so that there is a free node. Only digests
 * from forged RDB values have so many nodes after merge_pending(). */
static void thin_out(struct compat_tdigest *t)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < t->merged; i++) {
        if (i % 2 == 0)
            t->nodes[n++] = t->nodes[i];
        else
            join(&t->nodes[n - 1], &t->nodes[i]);
    }
    t->merged = n;
}

static void add_node(struct compat_tdigest *t, double mean, int64_t weight)
{
    if (t->merged + t->pending >= t->capacity - 1) {
        merge_pending(t);
        if (t->merged >= t->capacity - 1) thin_out(t);
    }
    t->nodes[t->merged + t->pending++] = (node){mean, weight};
    t->pending_weight += weight;
    if (mean < t->min) t->min = mean;
    if (mean > t->max) t->max = mean;
}

/* --- Life ------------------------------------------------------------------------------------- */

void compat_tdigest_reset(struct compat_tdigest *t)
{
    t->min = DBL_MAX;
    t->max = -DBL_MAX;
    t->merged = t->pending = 0;
    t->merged_weight = t->pending_weight = 0;
    t->merges = 0;
}

/* Enlarges the array of nodes to n. */
static enum compat_status enlarge(struct compat_tdigest *t, const struct compat_room *room,
                                  uint32_t n)
{
    const uint64_t bytes = (uint64_t)n * sizeof *t->nodes;
    if (n <= t->room) return COMPAT_OK;
    if (bytes + sizeof *t > room->max_bytes || bytes > SIZE_MAX / 2) return COMPAT_NO_MEMORY;
    node *nodes = room->memory->alloc(room->memory->ctx, (size_t)bytes);
    if (nodes == NULL) return COMPAT_NO_MEMORY;
    if (t->nodes != NULL) memcpy(nodes, t->nodes, (t->merged + t->pending) * sizeof *nodes);
    compat_free(room->memory, t->nodes);
    t->nodes = nodes;
    t->room = n;
    return COMPAT_OK;
}

/* Returns a digest without memory for nodes, or NULL. */
static struct compat_tdigest *new_digest(const tamis_memory *memory, uint64_t compression)
{
    struct compat_tdigest *t = memory->alloc(memory->ctx, sizeof *t);
    if (t == NULL) return NULL;
    *t = (struct compat_tdigest){.compression = compression,
                                 .capacity = (uint32_t)(6 * compression + 10)};
    compat_tdigest_reset(t);
    return t;
}

enum compat_status compat_tdigest_create(const struct compat_room *room, uint64_t compression,
                                         struct compat_tdigest **out)
{
    *out = NULL;
    if (compression == 0 || compression > COMPAT_TDIGEST_MOST_COMPRESSION) return COMPAT_NO_MEMORY;
    struct compat_tdigest *t = new_digest(room->memory, compression);
    if (t == NULL || enlarge(t, room, t->capacity) != COMPAT_OK) {
        compat_tdigest_free(room->memory, t);
        return COMPAT_NO_MEMORY;
    }
    *out = t;
    return COMPAT_OK;
}

void compat_tdigest_free(const tamis_memory *memory, struct compat_tdigest *t)
{
    if (t == NULL) return;
    compat_free(memory, t->nodes);
    compat_free(memory, t);
}

struct compat_tdigest *compat_tdigest_copy(const tamis_memory *memory,
                                           const struct compat_tdigest *t)
{
    const struct compat_room room = {memory, UINT64_MAX};
    struct compat_tdigest *copy = compat_clone(memory, t, sizeof *t);
    if (copy == NULL) return NULL;
    copy->nodes = NULL;
    copy->room = 0;
    if (enlarge(copy, &room, t->room) == COMPAT_OK) {
        memcpy(copy->nodes, t->nodes, (t->merged + t->pending) * sizeof *t->nodes);
        return copy;
    }
    compat_free(memory, copy);
    return NULL;
}

enum compat_status compat_tdigest_prepare(struct compat_tdigest *t, const struct compat_room *room,
                                          uint64_t n)
{
    if (n > (uint64_t)(COMPAT_TDIGEST_MOST - compat_tdigest_count(t))) return COMPAT_OVERFLOW;
    return enlarge(t, room, t->capacity);
}

void compat_tdigest_add(struct compat_tdigest *t, double value)
{
    add_node(t, value, 1);
}

enum compat_status compat_tdigest_merge(struct compat_tdigest *into, struct compat_tdigest *from)
{
    if (compat_tdigest_count(from) > COMPAT_TDIGEST_MOST - compat_tdigest_count(into))
        return COMPAT_OVERFLOW;
    merge_pending(into);
    merge_pending(from);
    for (uint32_t i = 0; i < from->merged; i++)
        add_node(into, from->nodes[i].mean, from->nodes[i].weight);
    if (from->min < into->min) into->min = from->min;
    if (from->max > into->max) into->max = from->max;
    return COMPAT_OK;
}

/* --- Questions -------------------------------------------------------------------------------- */

static double interpolate(double from, double to, double part)
{
    double x = from + part * (to - from);
    if (!isfinite(x)) x = from * (1 - part) + to * part;
    return between(x, from, to);
}

static double weighted_mean(const node *a, double wa, const node *b, double wb)
{
    double x = (a->mean * wa + b->mean * wb) / (wa + wb);
    if (!isfinite(x)) x = a->mean * (wa / (wa + wb)) + b->mean * (wb / (wa + wb));
    return between(x, a->mean, b->mean);
}

/* Returns the estimate at `index` of the sorted observations, between nodes i and i + 1; `before`
 * is the index of the middle of node i, and `distance` that to the middle of the next. An
 * observation of its own is known exactly. */
static double between_nodes(const node *a, double index, double before, double distance)
{
    const bool left_is_one = a[0].weight == 1, right_is_one = a[1].weight == 1;
    if (left_is_one && index - before < 0.5) return a[0].mean;
    if (right_is_one && before + distance - index <= 0.5) return a[1].mean;
    const double left = index - before - (left_is_one ? 0.5 : 0);
    const double right = before + distance - index - (right_is_one ? 0.5 : 0);
    return weighted_mean(&a[0], right, &a[1], left);
}

double compat_tdigest_quantile(struct compat_tdigest *t, double q)
{
    merge_pending(t);
    if (t->merged == 0) return NAN;
    if (t->merged == 1) return t->nodes[0].mean;
    const node *first = t->nodes, *last = t->nodes + t->merged - 1;
    const double total = (double)t->merged_weight, index = q * total;
    const double w_first = (double)first->weight, w_last = (double)last->weight;
    /* There is an observation at each end, so index 1 is at min and total - 1 is at max. */
    if (index < 1) return t->min;
    if (index > total - 1) return t->max;
    if (w_first > 2 && index < w_first / 2)
        return interpolate(t->min, first->mean, (index - 1) / (w_first / 2 - 1));
    if (w_last > 1 && total - index <= w_last / 2) {
        const double beyond = total - index - 1;
        return beyond > 0 ? interpolate(t->max, last->mean, beyond / (w_last / 2 - 1)) : t->max;
    }
    double before = w_first / 2;
    for (const node *a = first; a < last; a++) {
        const double distance = ((double)a[0].weight + (double)a[1].weight) / 2;
        if (before + distance > index) return between_nodes(a, index, before, distance);
        before += distance;
    }
    return t->max;
}

/* Returns (x - low) / (high - low), also where the differences exceed the range of a double. */
static double part_of(double x, double low, double high)
{
    const double width = high - low;
    return isfinite(width) ? (x - low) / width : (x / 2 - low / 2) / (high / 2 - low / 2);
}

/* Returns the index of x, which is between the means of two nodes, or equal to the first. `before`
 * is the weight of the nodes before those. */
static double index_between(const node *a, double x, double before)
{
    const double left = (double)a[0].weight, right = (double)a[1].weight;
    double from = before + left / 2, distance = (left + right) / 2;
    if (a[0].weight == 1 && a[1].weight == 1) return before + 1;
    if (a[0].weight == 1) {
        from += 0.5;
        distance -= 0.5;
    } else if (a[1].weight == 1) {
        distance -= 0.5;
    }
    const double width = a[1].mean - a[0].mean;
    const double share = isfinite(width) && isfinite(distance * (x - a[0].mean))
                             ? distance * (x - a[0].mean) / width
                             : distance * part_of(x, a[0].mean, a[1].mean);
    return from + share;
}

double compat_tdigest_cdf(struct compat_tdigest *t, double x)
{
    merge_pending(t);
    if (t->merged == 0) return NAN;
    if (x < t->min) return 0;
    if (x > t->max) return 1;
    if (t->merged == 1) return 0.5;
    const node *first = t->nodes, *last = t->nodes + t->merged - 1;
    const double total = (double)t->merged_weight;
    if (x < first->mean) {
        if (x == t->min) return 0.5 / total;
        return (1 + part_of(x, t->min, first->mean) * ((double)first->weight / 2 - 1)) / total;
    }
    if (x > last->mean) {
        if (x == t->max) return 1 - 0.5 / total;
        return 1 - (1 + part_of(x, t->max, last->mean) * ((double)last->weight / 2 - 1)) / total;
    }
    double before = 0;
    for (const node *a = first; a < last; a++) {
        if (a->mean == x) {
            double equal = 0;
            for (; a <= last && a->mean == x; a++) equal += (double)a->weight;
            return (before + equal / 2) / total;
        }
        if (x < a[1].mean) return index_between(a, x, before) / total;
        before += (double)a->weight;
    }
    return 1 - 0.5 / total;
}

int64_t compat_tdigest_rank(struct compat_tdigest *t, double x, bool reverse)
{
    const int64_t count = compat_tdigest_count(t);
    if (count == 0) return -2;
    if (x < t->min) return reverse ? count : -1;
    if (x > t->max) return reverse ? -1 : count;
    const double below = compat_tdigest_cdf(t, x) * (double)count;
    /* Halves are rounded such that both ranks of an observation in the middle are the lower one. */
    if (reverse) return (int64_t)round((double)count - round(below));
    const double whole = floor(below);
    return (int64_t)(below - whole <= 0.5 ? whole : whole + 1);
}

double compat_tdigest_by_rank(struct compat_tdigest *t, uint64_t rank, bool reverse)
{
    const double count = (double)compat_tdigest_count(t), r = (double)rank;
    if (count == 0) return NAN;
    if (rank == 0) return reverse ? t->max : t->min;
    if (r >= count) return reverse ? -INFINITY : INFINITY;
    return compat_tdigest_quantile(t, (reverse ? count - r - 1 : r) / count);
}

/* The mean of nodes with these shares of weight, without a sum beyond the range of a double. */
static double trimmed_mean(const struct compat_tdigest *t, double low, double high)
{
    double done = 0, sum = 0, weight = 0, mean = 0;
    for (uint32_t i = 0; i < t->merged && done < high; i++) {
        const double w = (double)t->nodes[i].weight, x = t->nodes[i].mean;
        const double cut = low > done ? low - done : 0, left = high - done;
        double share = w - (cut < w ? cut : w);
        if (share > left) share = left;
        done += w;
        if (share <= 0) continue;
        sum += x * share;
        weight += share;
        mean = mean * (1 - share / weight) + x * (share / weight);
    }
    return isfinite(sum) ? sum / weight : mean;
}

double compat_tdigest_trimmed_mean(struct compat_tdigest *t, double low, double high)
{
    merge_pending(t);
    if (t->merged == 0) return NAN;
    if (t->merged == 1) return t->nodes[0].mean;
    const double total = (double)t->merged_weight;
    const double to = ceil(total * high);
    double from = floor(total * low);
    if (from > to - 1) from = to - 1; /* products of neighbouring numbers may be rounded alike */
    return between(trimmed_mean(t, from, to), t->min, t->max);
}

/* --- Values at rest --------------------------------------------------------------------------- */

void compat_tdigest_save(struct compat_tdigest *t, const struct compat_writer *w)
{
    merge_pending(t);
    w->real(w->ctx, (double)t->compression);
    w->real(w->ctx, t->min);
    w->real(w->ctx, t->max);
    w->number(w->ctx, t->capacity);
    w->number(w->ctx, t->merged);
    w->number(w->ctx, 0); /* pending nodes, */
    w->number(w->ctx, t->merges);
    w->real(w->ctx, (double)t->merged_weight);
    w->real(w->ctx, 0); /* and their weight */
    for (uint32_t i = 0; i < t->merged; i++) w->real(w->ctx, t->nodes[i].mean);
    for (uint32_t i = 0; i < t->merged; i++) w->real(w->ctx, (double)t->nodes[i].weight);
}

struct saved_tdigest {
    double compression, min, max, merged_weight, pending_weight;
    uint64_t capacity, merged, pending, merges;
};

static bool read_header(const struct compat_reader *r, struct saved_tdigest *h)
{
    return r->real(r->ctx, &h->compression) && r->real(r->ctx, &h->min) &&
           r->real(r->ctx, &h->max) && r->number(r->ctx, &h->capacity) &&
           r->number(r->ctx, &h->merged) && r->number(r->ctx, &h->pending) &&
           r->number(r->ctx, &h->merges) && r->real(r->ctx, &h->merged_weight) &&
           r->real(r->ctx, &h->pending_weight);
}

static bool is_possible(const struct saved_tdigest *h)
{
    return h->compression >= 1 && h->compression <= COMPAT_TDIGEST_MOST_COMPRESSION &&
           h->compression == floor(h->compression) &&
           h->capacity == 6 * (uint64_t)h->compression + 10 && h->merged <= h->capacity &&
           h->pending <= h->capacity && h->merges <= INT64_MAX && h->merged_weight >= 0 &&
           h->merged_weight <= (double)COMPAT_TDIGEST_MOST &&
           (h->merged == 0 ? h->pending_weight == 0 || h->pending_weight == 1
                           : h->pending == 0 && h->pending_weight == 0);
}

/* Arrays of this many nodes (64 KiB) are allocated at once. */
#define FIRST_ROOM 4096u

/* Reads the nodes. The array grows as they arrive, because the number in the header may be
 * forged. */
static enum compat_status read_nodes(struct compat_tdigest *t, const struct compat_reader *r,
                                     const tamis_memory *memory, const struct saved_tdigest *h)
{
    const struct compat_room room = {memory, UINT64_MAX};
    const uint32_t n = (uint32_t)h->merged;
    for (t->merged = 0; t->merged < n; t->merged++) {
        const uint64_t twice = 2 * (uint64_t)t->room;
        if (t->merged == t->room &&
            enlarge(t, &room, twice < t->capacity ? (uint32_t)twice : t->capacity) != COMPAT_OK)
            return COMPAT_NO_MEMORY;
        if (!r->real(r->ctx, &t->nodes[t->merged].mean)) return COMPAT_BAD;
    }
    double last = t->min, sum = 0;
    t->merged = 0;
    for (uint32_t i = 0; i < n; i++) {
        double weight;
        if (!r->real(r->ctx, &weight)) return COMPAT_BAD;
        if (weight == 0) continue; /* left by RedisBloom where it had lost an observation */
        const double mean = t->nodes[i].mean;
        if (!(weight >= 1 && weight <= (double)COMPAT_TDIGEST_MOST - sum) ||
            weight != floor(weight) || !(mean >= last && mean <= t->max))
            return COMPAT_BAD;
        t->nodes[t->merged++] = (node){mean, (int64_t)weight};
        sum += weight;
        last = mean;
    }
    t->merged_weight = (int64_t)sum;
    return h->merged_weight == sum || h->merged_weight == sum + 1 ? COMPAT_OK : COMPAT_BAD;
}

/* RedisBloom before 2026 does not merge a digest that has one observation, so an RDB value claims
 * one pending node and does not contain it. The observation is both min and max; if that digest was
 * then merged with an empty one of this sort, one of them is a zero that nobody has added.
 * RedisBloom itself loads a node of weight 0 at 0 instead. It stays in the digest, or is merged
 * into another, and the sum of the weights is less than the total by 1 from then on. */
static void recover(struct compat_tdigest *t, const struct saved_tdigest *h)
{
    if (t->merged == 0 && h->pending_weight == 1 && isfinite(h->min) && isfinite(h->max)) {
        t->min = t->max = fabs(h->min) > fabs(h->max) ? h->min : h->max;
        t->nodes[0] = (node){t->min, 1};
        t->merged = 1;
        t->merged_weight = 1;
    } else if (t->merged == 0) {
        t->min = DBL_MAX;
        t->max = -DBL_MAX;
    }
}

enum compat_status compat_tdigest_load(const struct compat_reader *r, int encver,
                                       const tamis_memory *memory, struct compat_tdigest **out)
{
    const struct compat_room room = {memory, UINT64_MAX};
    struct saved_tdigest h;
    *out = NULL;
    if (encver != 0 || !read_header(r, &h) || !is_possible(&h)) return COMPAT_BAD;
    if (h.merged > 0 && !(isfinite(h.min) && isfinite(h.max))) return COMPAT_BAD;
    struct compat_tdigest *t = new_digest(memory, (uint64_t)h.compression);
    if (t == NULL) return COMPAT_NO_MEMORY;
    enum compat_status s = enlarge(t, &room, t->capacity < FIRST_ROOM ? t->capacity : FIRST_ROOM);
    if (s == COMPAT_OK) {
        t->min = h.min;
        t->max = h.max;
        t->merges = h.merges;
        s = read_nodes(t, r, memory, &h);
    }
    if (s != COMPAT_OK) {
        compat_tdigest_free(memory, t);
        return s;
    }
    recover(t, &h);
    *out = t;
    return COMPAT_OK;
}
