/* Sorting hashes: by the top bits of hi into groups that fit the second-level cache, each of them by the next bits
 * into groups of a few keys, and those by insertion.
 *
 *     h  --top bits-->  scratch: [ group 0 | group 1 | ... ]      about 4096 hashes each
 *     each group  --next bits-->  its place in h: [..|..|..|...]  about 2 to 4 hashes each, then insertion
 *
 * That relies on uniform hashes only for its speed: a group that got too many is sorted by heap. At 10 M hashes it
 * takes 19 ns a hash. */
#include "hash_sort.h"

#include <string.h>

#define MOST_BITS 12u
#define GROUP_LOG 12u /* of hashes that two copies of fit the second-level cache */
#define FEW 48u       /* to be sorted by insertion */

struct counts {
    uint64_t first[1u << MOST_BITS], second[1u << MOST_BITS];
};

uint64_t tamis__sort_scratch(uint64_t n)
{
    if (n > UINT64_MAX / sizeof(tamis_hash) - sizeof(struct counts)) return UINT64_MAX;
    return n * sizeof(tamis_hash) + sizeof(struct counts);
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

/* Let x sink from the root of a heap of n whose root is free. */
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

static inline uint64_t digit(uint64_t hi, unsigned above, unsigned bits)
{
    return bits == 0 ? 0 : hi << above >> (64 - bits);
}

/* By the `bits` bits of hi below the top `above` ones. Afterwards ends[i] is where group i ends. */
static void scatter(const tamis_hash *from, uint64_t n, unsigned above, unsigned bits,
                    uint64_t *ends, tamis_hash *to)
{
    memset(ends, 0, sizeof *ends << bits);
    for (uint64_t i = 0; i < n; i++) ends[digit(from[i].hi, above, bits)]++;
    uint64_t sum = 0;
    for (uint64_t i = 0; i < (uint64_t)1 << bits; i++) {
        const uint64_t count = ends[i];
        ends[i] = sum;
        sum += count;
    }
    for (uint64_t i = 0; i < n; i++) to[ends[digit(from[i].hi, above, bits)]++] = from[i];
}

static unsigned bits_for(uint64_t groups)
{
    unsigned bits = 0;
    while (bits < MOST_BITS && groups >> (bits + 1) != 0) bits++;
    return bits;
}

/* Appends what is new of n sorted hashes to the `kept` first ones. */
static uint64_t append(tamis_hash *h, uint64_t kept, const tamis_hash *from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++)
        if (kept == 0 || h[kept - 1].hi != from[i].hi || h[kept - 1].lo != from[i].lo)
            h[kept++] = from[i];
    return kept;
}

uint64_t tamis__sort_hashes(tamis_hash *h, uint64_t n, void *scratch)
{
    struct counts *ends = scratch;
    tamis_hash *groups = (tamis_hash *)(void *)(ends + 1);
    const unsigned bits = bits_for(n >> GROUP_LOG);
    if (n <= FEW) {
        sort_few(h, n);
        return append(h, 0, h, n);
    }
    scatter(h, n, 0, bits, ends->first, groups);
    uint64_t kept = 0, from = 0;
    for (uint64_t g = 0; g < (uint64_t)1 << bits; g++) {
        const uint64_t to = ends->first[g], in_group = to - from;
        const unsigned more = bits_for(in_group / 2);
        tamis_hash *place = h + from; /* everything before it is done and at most `kept` */
        scatter(groups + from, in_group, bits, more, ends->second, place);
        uint64_t at = 0;
        for (uint64_t i = 0; i < (uint64_t)1 << more; i++) {
            sort_group(place + at, ends->second[i] - at);
            at = ends->second[i];
        }
        kept = append(h, kept, place, in_group);
        from = to;
    }
    return kept;
}
