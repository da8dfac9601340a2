/* Queries of a ribbon. A key's window is 64 slots: the end of one segment and the beginning of the
 * next. A segment has one word of 64 slots for each column, so a key needs a run of r words in
 * either segment. A column's bit is the parity of its two words under the parts of the key's row
 * that are on them.
 *
 * Each lane first finds the layer and the window of its own key, which reads only thresholds. Then
 * eight lanes share a key, four for each segment: a lane loads 16 bytes, two words, and finds their
 * parities. Two ballots have those of four keys; the owner of a key joins its own. What a lane
 * needs to know about a key, it gets from shared memory with one load of 16 bytes. Instructions
 * limit this as long as the table is in the cache; the loads do otherwise. */
#include "warp.h"

#define RIBBON_BLOCK 128 /* threads */
#define PAIRS 4u         /* pairs of words of a segment that are read at a time */

/* The part of a key's window that is in one segment, as it is passed to the lanes that read it. */
struct __align__(16) half {
    uint64_t row;
    uint32_t unit;  /* where the words begin, in 16 bytes from the cells on */
    uint32_t pairs; /* how many units they have; 0: there is nothing to read */
};

struct window {
    struct half low, high;
    uint32_t side, columns;
    uint32_t skip_low, skip_high; /* 1: the first word of the first pair is not of this segment */
};

__device__ static struct window find_window(const struct table *t, const struct table_layer *l,
                                            struct hash128 h, uint64_t start)
{
    struct window w;
    const uint64_t segment = start / 64, row = h.lo | 1;
    const uint64_t low = ribbon_word(l, segment) + (uint64_t)(l->solution - t->cells);
    const unsigned shift = (unsigned)(start % 64);
    w.columns = ribbon_columns(l, segment);
    const uint64_t high = low + w.columns;
    w.skip_low = (uint32_t)low & 1;
    w.skip_high = (uint32_t)high & 1;
    w.low = {row << shift, (uint32_t)(low / 2), (w.columns + w.skip_low + 1) / 2};
    /* A window that begins with a segment has no slot in the next one, which may not exist. */
    w.high = {row >> 1 >> (63 - shift), (uint32_t)(high / 2),
              shift != 0 ? (w.columns + w.skip_high + 1) / 2 : 0};
    if (w.columns == 0) w.low.pairs = w.high.pairs = 0;
    w.side = l->last ? 0 : (uint32_t)h.hi;
    return w;
}

__device__ static bool is_odd(uint64_t word, uint64_t row)
{
    const uint64_t picked = word & row;
    return (__popc((uint32_t)picked ^ (uint32_t)(picked >> 32)) & 1) != 0;
}

/* Moves bit i of 8 to bit 2 i. */
__device__ static uint32_t spread(uint32_t v)
{
    v = (v | v << 4) & 0x0f0f;
    v = (v | v << 2) & 0x3333;
    return (v | v << 1) & 0x5555;
}

/* The parities of this lane's key, of the words from pair `from` on: eight of the first segment,
 * then eight of the second. `keys` has two halves for each lane of the warp. */
__device__ static uint32_t parities(const ulonglong2 *cells, const struct half *keys,
                                    unsigned from)
{
    const unsigned lane = threadIdx.x & 31, pair = from + (lane & 3);
    const ulonglong2 *mine = cells + pair;
    ulonglong2 got[8];
    uint64_t row[8];
    uint32_t even = 0, odd = 0;
#pragma unroll
    for (unsigned r = 0; r < 8; r++) {
        const struct half h = keys[8 * r + lane / 4];
        row[r] = h.row;
        got[r] = {0, 0};
        if (pair < h.pairs) got[r] = __ldg(mine + h.unit);
    }
#pragma unroll
    for (unsigned r = 0; r < 8; r++) {
        const unsigned e = __ballot_sync(FULL, is_odd(got[r].x, row[r]));
        const unsigned o = __ballot_sync(FULL, is_odd(got[r].y, row[r]));
        if (lane / 4 != r) continue;
        even = e;
        odd = o;
    }
    const unsigned shift = 8 * (lane & 3);
    return spread(even >> shift & 255) | spread(odd >> shift & 255) << 1;
}

/* Whether the columns of this lane's key agree. */
__device__ static bool columns_agree(const ulonglong2 *cells, const struct window &w,
                                     const struct half *keys)
{
    const uint32_t first = parities(cells, keys, 0);
    uint64_t low = (first & 255) >> w.skip_low, high = first >> 8 >> w.skip_high;
    const unsigned most = w.low.pairs > w.high.pairs ? w.low.pairs : w.high.pairs;
    for (unsigned from = PAIRS; __any_sync(FULL, most > from); from += PAIRS) {
        const uint64_t more = parities(cells, keys, from);
        if (most <= from) continue;
        low |= (more & 255) << (2 * from - w.skip_low);
        high |= more >> 8 << (2 * from - w.skip_high);
    }
    const uint64_t used = (UINT64_C(1) << w.columns) - 1;
    return ((low ^ high ^ w.side) & used) == 0;
}

template <typename Source>
__global__ void __launch_bounds__(RIBBON_BLOCK)
    query_ribbon(const Source source, const __grid_constant__ struct table t, uint64_t n,
                 uint32_t *__restrict__ bits)
{
    __shared__ struct half passed[2 * RIBBON_BLOCK];
    const unsigned lane = threadIdx.x & 31;
    const uint64_t first = first_of_warp(1), i = first + lane;
    struct half *keys = passed + 2 * (threadIdx.x & ~31u);
    if (first >= n) return;
    struct hash128 h = {0, 0};
    uint64_t start = 0;
    uint32_t layer = TABLE_LAYERS;
    bool pending = i < n;
    if (pending) h = source.hash(source.get(i));
    for (uint32_t at = 0; at < t.layers && __any_sync(FULL, pending); at++) {
        if (!pending) continue;
        start = ribbon_start(h, &t.layer[at]);
        pending = ribbon_bumps(&t.layer[at], start);
        if (pending) h = ribbon_next(h);
        else layer = at;
    }
    struct window w = {};
    if (layer < TABLE_LAYERS) w = find_window(&t, &t.layer[layer], h, start);
    keys[2 * lane] = w.low;
    keys[2 * lane + 1] = w.high;
    __syncwarp();
    const bool agrees = columns_agree((const ulonglong2 *)t.cells, w, keys);
    const unsigned word = __ballot_sync(FULL, layer < TABLE_LAYERS && agrees);
    if (lane == 0) store_word(bits, first, n, word);
}

void start_ribbon(const struct tamis_cuda *f, const struct keys *keys, uint32_t *bits,
                  cudaStream_t stream)
{
    (void)with_source(f, keys, [&](auto source) {
        query_ribbon<<<blocks_for(keys->count, RIBBON_BLOCK, MOST_BLOCKS), RIBBON_BLOCK, 0,
                       stream>>>(source, f->table, keys->count, bits);
        return TAMIS_OK;
    });
}
