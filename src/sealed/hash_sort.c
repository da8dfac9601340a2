/* Sorts hashes in three steps: by the top bits of hi into groups that fit the second-level cache,
 * each group by the next bits into groups of a few hashes, and those by insertion.
 *
 * The bits are those of the distance of hi from the least one, without the leading zeros that all
 * distances share. When runs are merged, the hashes in memory are a narrow part of all, and the top
 * bits of hi would be nearly the same in all of them.
 *
 *     h  --top bits-->  scratch: [ group 0 | group 1 | ... ]      about 4096 hashes each
 *     each group  --next bits-->  its place in h: [..|..|..|...]  2 to 4 each, then insertion
 *
 * Only the speed relies on hashes that are uniform between the least and the greatest: a group that
 * is too large is sorted by heapsort. At 10 M hashes it takes 19 ns a hash.
 *
 * Threads take equal shares of h in the first step and ranges of groups in the second. Each share
 * has its own counts, which determine where in each group its hashes go. */
#include "hash_sort.h"

#include "../core/threads.h"

#include <string.h>

#define MOST_BITS 12u
/* The log of the size of a group. Two copies of a group fit the second-level cache. */
#define GROUP_LOG 12u
#define FEW 48u /* the most hashes to be sorted by insertion */

/* The fewest hashes that keep a thread busy for a millisecond. */
#define SHARE_FROM (UINT64_C(1) << 16)
#define MOST_SHARES 64u

struct counts {
    uint64_t first[1u << MOST_BITS], second[1u << MOST_BITS];
};

/* The number of shares: one for one thread, otherwise at most one per thread. */
static uint32_t shares_of(uint64_t n, uint32_t threads)
{
    const uint64_t useful = n / SHARE_FROM, most = useful < MOST_SHARES ? useful : MOST_SHARES;
    return most < 2 || threads < 2 ? 1 : threads < most ? threads : (uint32_t)most;
}

uint64_t tamis__sort_scratch(uint64_t n, uint32_t threads)
{
    const uint64_t counts = shares_of(n, threads) * sizeof(struct counts);
    if (n > UINT64_MAX / sizeof(tamis_hash) - MOST_SHARES * sizeof(struct counts))
        return UINT64_MAX;
    return n * sizeof(tamis_hash) + counts;
}

static inline bool is_less(tamis_hash a, tamis_hash b)
{
    return a.hi != b.hi ? a.hi < b.hi : a.lo < b.lo;
}

static void sort_few(tamis_hash *h, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++) {
        const tamis_hash x = h[i];
        uint64_t at = i;
        for (; at > 0 && is_less(x, h[at - 1]); at--) h[at] = h[at - 1];
        h[at] = x;
    }
}

/* Lets x sink from the free root of a heap of n. */
static void sink(tamis_hash *h, uint64_t root, uint64_t n, tamis_hash x)
{
    for (uint64_t child = 2 * root + 1; child < n; child = 2 * root + 1) {
        if (child + 1 < n && is_less(h[child], h[child + 1])) child++;
        if (!is_less(x, h[child])) break;
        h[root] = h[child];
        root = child;
    }
    h[root] = x;
}

static void sort_group(tamis_hash *h, uint64_t n)
{
    if (n <= FEW) {
        sort_few(h, n);
        return;
    }
    for (uint64_t i = n / 2; i-- > 0;) sink(h, i, n, h[i]);
    for (uint64_t end = n - 1; end > 0; end--) {
        const tamis_hash last = h[end];
        h[end] = h[0];
        sink(h, 0, end, last);
    }
}

/* Which bits decide: `bits` of hi - least, below the top `above` ones. */
struct digits {
    uint64_t least;
    unsigned above, bits;
};

/* With a shift of 63 at most, also for no bits at all. */
static inline uint64_t digit(uint64_t hi, struct digits by)
{
    return by.bits == 0 ? 0 : (hi - by.least) << by.above >> (64 - by.bits);
}

static void hash_sort_count(const tamis_hash *h, uint64_t n, struct digits by, uint64_t *counts)
{
    memset(counts, 0, sizeof *counts << by.bits);
    for (uint64_t i = 0; i < n; i++) counts[digit(h[i].hi, by)]++;
}

static void hash_sort_move(const tamis_hash *from, uint64_t n, struct digits by, uint64_t *at,
                           tamis_hash *to)
{
    for (uint64_t i = 0; i < n; i++) to[at[digit(from[i].hi, by)]++] = from[i];
}

/* Sorts into groups by these bits. Afterwards ends[i] is where group i ends. */
static void scatter(const tamis_hash *from, uint64_t n, struct digits by, uint64_t *ends,
                    tamis_hash *to)
{
    uint64_t sum = 0;
    hash_sort_count(from, n, by, ends);
    for (uint64_t i = 0; i < (uint64_t)1 << by.bits; i++) {
        const uint64_t in_group = ends[i];
        ends[i] = sum;
        sum += in_group;
    }
    hash_sort_move(from, n, by, ends, to);
}

static unsigned bits_for(uint64_t groups)
{
    unsigned bits = 0;
    while (bits < MOST_BITS && groups >> (bits + 1) != 0) bits++;
    return bits;
}

/* Appends those of n sorted hashes that are new to the first `kept` ones. Returns how many there
 * are then. */
static uint64_t append(tamis_hash *h, uint64_t kept, const tamis_hash *from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (kept == 0 || h[kept - 1].hi != from[i].hi || h[kept - 1].lo != from[i].lo)
            h[kept++] = from[i];
    return kept;
}

struct sort {
    tamis_hash *h, *groups;
    uint64_t n;
    struct digits by; /* the bits of the first step */
    uint32_t shares;
    struct counts *counts;                          /* one for each share */
    uint64_t least[MOST_SHARES], most[MOST_SHARES]; /* hi in each share */
    uint64_t from[MOST_SHARES],
        kept[MOST_SHARES]; /* for each range of groups: its first hash, its distinct hashes */
};

/* The first hash of share i. */
static uint64_t share(const struct sort *s, uint64_t i)
{
    return s->n / s->shares * i + (i < s->n % s->shares ? i : s->n % s->shares);
}

static void measure_share(void *sort, uint64_t i)
{
    struct sort *s = sort;
    uint64_t least = UINT64_MAX, most = 0;
    for (uint64_t at = share(s, i), end = share(s, i + 1); at < end; at++) {
        const uint64_t hi = s->h[at].hi;
        least = hi < least ? hi : least;
        most = hi > most ? hi : most;
    }
    s->least[i] = least;
    s->most[i] = most;
}

/* Chooses the bits of the first step, of which there are enough for groups of 2^GROUP_LOG. */
static void choose_digits(struct sort *s)
{
    uint64_t least = UINT64_MAX, most = 0;
    for (uint32_t i = 0; i < s->shares; i++) {
        if (s->least[i] < least) least = s->least[i];
        if (s->most[i] > most) most = s->most[i];
    }
    s->by = (struct digits){least, 0, bits_for(s->n >> GROUP_LOG)};
    for (uint64_t width = most - least; s->by.above < 63 && width >> 63 == 0; width <<= 1)
        s->by.above++;
}

static void count_share(void *sort, uint64_t i)
{
    const struct sort *s = sort;
    hash_sort_count(s->h + share(s, i), share(s, i + 1) - share(s, i), s->by, s->counts[i].first);
}

static void move_share(void *sort, uint64_t i)
{
    const struct sort *s = sort;
    hash_sort_move(s->h + share(s, i), share(s, i + 1) - share(s, i), s->by, s->counts[i].first,
                   s->groups);
}

/* Computes where each share puts its part of each group: after the parts of the shares before
 * it. */
static void place_shares(struct sort *s)
{
    uint64_t sum = 0;
    for (uint64_t g = 0; g < (uint64_t)1 << s->by.bits; g++)
        for (uint32_t i = 0; i < s->shares; i++) {
            const uint64_t in_group = s->counts[i].first[g];
            s->counts[i].first[g] = sum;
            sum += in_group;
        }
}

/* Sorts group g, which begins at `from`, back into its place in h. Returns where it ends. */
static uint64_t sort_one(const struct sort *s, uint64_t g, uint64_t from, uint64_t *ends)
{
    const uint64_t to = s->counts[s->shares - 1].first[g], in_group = to - from;
    const unsigned below = s->by.above + s->by.bits;
    const struct digits next = {s->by.least, below, below < 63 ? bits_for(in_group / 2) : 0};
    tamis_hash *place = s->h + from;
    uint64_t at = 0;
    scatter(s->groups + from, in_group, next, ends, place);
    for (uint64_t i = 0; i < (uint64_t)1 << next.bits; i++) {
        sort_group(place + at, ends[i] - at);
        at = ends[i];
    }
    return to;
}

/* Sorts a range of groups and moves its distinct hashes to the front of the range. */
static void sort_range(void *sort, uint64_t i)
{
    struct sort *s = sort;
    const uint64_t groups = (uint64_t)1 << s->by.bits;
    const uint64_t first = groups * i / s->shares, last = groups * (i + 1) / s->shares;
    uint64_t from = first > 0 ? s->counts[s->shares - 1].first[first - 1] : 0, kept = 0;
    tamis_hash *h = s->h + from;
    s->from[i] = from;
    for (uint64_t g = first; g < last; g++) {
        const uint64_t to = sort_one(s, g, from, s->counts[i].second);
        kept = append(h, kept, s->h + from, to - from);
        from = to;
    }
    s->kept[i] = kept;
}

uint64_t tamis__sort_hashes(tamis_hash *h, uint64_t n, uint32_t threads, void *scratch)
{
    struct sort s = {.h = h, .n = n, .counts = scratch, .shares = shares_of(n, threads)};
    uint64_t kept = 0;
    if (n <= FEW) {
        sort_few(h, n);
        return append(h, 0, h, n);
    }
    s.groups = (tamis_hash *)(void *)(s.counts + s.shares);
    tamis__in_parallel(threads, s.shares, measure_share, &s);
    choose_digits(&s);
    tamis__in_parallel(threads, s.shares, count_share, &s);
    place_shares(&s);
    tamis__in_parallel(threads, s.shares, move_share, &s);
    tamis__in_parallel(threads, s.shares, sort_range, &s);
    for (uint32_t i = 0; i < s.shares; i++) {
        if (kept != s.from[i]) memmove(h + kept, h + s.from[i], (size_t)s.kept[i] * sizeof *h);
        kept += s.kept[i];
    }
    return kept;
}
