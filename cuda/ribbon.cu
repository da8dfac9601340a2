/* Queries of a ribbon. A key's window is 64 slots: the end of one segment and the beginning of the
 * next. A segment has one word of 64 slots for each column, and the words of both segments follow
 * each other in the table. So a key needs 2 r words in a row, 128 bytes for r = 8.
 *
 * Each lane first finds the layer and the window of its own key, which reads only thresholds. Then
 * lanes share the keys of the warp: each loads 16 bytes, two words, and finds the parity of each
 * word under the part of the row that is on its segment. A ballot collects the parities of all
 * words, and the owner of a key gets its own, and joins both halves of each column. */
#include "warp.h"

#define PAIRS 8u /* pairs of words that are read at a time, for each key */

/* What the lanes that read a key's words need. */
struct window {
    uint64_t row_low, row_high; /* the row on the first segment, and on the second */
    uint32_t unit;  /* where the words begin, in 16 bytes from the cells on */
    uint32_t pairs; /* how many units they have; 0: there is nothing to read */
    uint32_t edge;  /* the first word of the second segment; 0 and 1: there are no columns */
    uint32_t side, columns;
};

__device__ static struct window find_window(const struct table *t, const struct table_layer *l,
                                            struct hash128 h, uint64_t start)
{
    struct window w;
    const uint64_t segment = start / 64, row = h.lo | 1;
    const uint64_t word = ribbon_word(l, segment) + (uint64_t)(l->solution - t->cells);
    const unsigned shift = (unsigned)(start % 64), odd = (unsigned)(word & 1);
    w.columns = ribbon_columns(l, segment);
    w.edge = w.columns + odd;
    /* A window that begins with a segment has no slot in the next one, which may not exist. */
    const unsigned words = w.edge + (shift != 0 ? w.columns : 0);
    w.pairs = w.columns != 0 ? (words + 1) / 2 : 0;
    w.unit = (uint32_t)(word / 2);
    w.row_low = row << shift;
    w.row_high = row >> 1 >> (63 - shift);
    w.side = l->last ? 0 : (uint32_t)h.hi;
    return w;
}

__device__ static bool is_odd(uint64_t word, uint64_t row)
{
    return (__popcll((long long)(word & row)) & 1) != 0;
}

/* Moves bit i of 8 to bit 2 i. */
__device__ static uint32_t spread(uint32_t v)
{
    v = (v | v << 4) & 0x0f0f;
    v = (v | v << 2) & 0x3333;
    return (v | v << 1) & 0x5555;
}

/* The parities of this lane's key: of the 16 words from pair `from` on. LANES lanes share a key. */
template <int LANES>
__device__ static uint32_t parities(const ulonglong2 *cells, const struct window &mine,
                                    unsigned from)
{
    constexpr int EACH = PAIRS / LANES;
    const unsigned lane = threadIdx.x & 31, part = lane % LANES, group = lane & ~(LANES - 1u);
    const uint32_t both = mine.pairs | mine.edge << 8;
    ulonglong2 got[LANES][EACH];
    uint32_t edge[LANES], even = 0, odd = 0;
#pragma unroll
    for (int r = 0; r < LANES; r++) {
        const ulonglong2 *at = cells + __shfl_sync(FULL, mine.unit, r, LANES);
        const uint32_t its = __shfl_sync(FULL, both, r, LANES);
        edge[r] = its >> 8;
#pragma unroll
        for (int p = 0; p < EACH; p++) {
            const unsigned pair = from + part + LANES * p;
            got[r][p] = {0, 0};
            if (pair < (its & 255)) got[r][p] = __ldg(at + pair);
        }
    }
#pragma unroll
    for (int r = 0; r < LANES; r++) {
        const uint64_t low = __shfl_sync(FULL, mine.row_low, r, LANES);
        const uint64_t high = __shfl_sync(FULL, mine.row_high, r, LANES);
#pragma unroll
        for (int p = 0; p < EACH; p++) {
            const unsigned word = 2 * (from + part + LANES * p);
            const unsigned e =
                __ballot_sync(FULL, is_odd(got[r][p].x, word < edge[r] ? low : high));
            const unsigned o =
                __ballot_sync(FULL, is_odd(got[r][p].y, word + 1 < edge[r] ? low : high));
            if (part != (unsigned)r) continue;
            even |= (e >> group & ((1u << LANES) - 1)) << LANES * p;
            odd |= (o >> group & ((1u << LANES) - 1)) << LANES * p;
        }
    }
    return spread(even) | spread(odd) << 1;
}

/* Whether the columns of this lane's key agree. */
template <int LANES>
__device__ static bool columns_agree(const ulonglong2 *cells, const struct window &mine)
{
    const unsigned skip = mine.edge - mine.columns; /* 1: the first word is of another segment */
    uint64_t all = parities<LANES>(cells, mine, 0) >> skip;
    for (unsigned from = PAIRS; __any_sync(FULL, mine.pairs > from); from += PAIRS) {
        const uint64_t more = parities<LANES>(cells, mine, from);
        if (mine.pairs > from) all |= more << (2 * from - skip);
    }
    const uint64_t used = (UINT64_C(1) << mine.columns) - 1;
    return ((all ^ all >> mine.columns ^ mine.side) & used) == 0;
}

template <int LANES, typename Source>
__global__ void __launch_bounds__(256)
    query_ribbon(const Source source, const __grid_constant__ struct table t, uint64_t n,
                 uint32_t *__restrict__ bits)
{
    const unsigned lane = threadIdx.x & 31;
    const uint64_t first = first_of_warp(1), i = first + lane;
    if (first >= n) return;
    struct hash128 h = {0, 0};
    struct window mine = {0, 0, 0, 0, 0, 0, 0};
    bool pending = i < n, found = false;
    if (pending) h = source.hash(source.get(i));
    for (uint32_t at = 0; at < t.layers && __any_sync(FULL, pending); at++) {
        const struct table_layer *l = &t.layer[at];
        if (!pending) continue;
        const uint64_t start = ribbon_start(h, l);
        if (ribbon_bumps(l, start)) {
            h = ribbon_next(h);
            continue;
        }
        mine = find_window(&t, l, h, start);
        pending = false;
        found = true;
    }
    const bool agrees = columns_agree<LANES>((const ulonglong2 *)t.cells, mine);
    const unsigned word = __ballot_sync(FULL, found && agrees);
    if (lane == 0) store_word(bits, first, n, word);
}

/* --- One lane a key ---------------------------------------------------------------------------- */

/* Each lane reads the words of its own key, and stops at the first column that differs. */
template <typename Source>
__global__ void __launch_bounds__(256)
    query_ribbon_alone(const Source source, const __grid_constant__ struct table t, uint64_t n,
                       uint32_t *__restrict__ bits)
{
    const unsigned lane = threadIdx.x & 31;
    const uint64_t first = first_of_warp(1), i = first + lane;
    if (first >= n) return;
    struct hash128 h = {0, 0};
    bool maybe = false;
    if (i < n) {
        h = source.hash(source.get(i));
        maybe = ribbon_has(&t, h);
    }
    const unsigned word = __ballot_sync(FULL, maybe);
    if (lane == 0) store_word(bits, first, n, word);
}

/* --- Starting --------------------------------------------------------------------------------- */

void start_ribbon(const struct tamis_cuda *f, const struct keys *keys, uint32_t *bits,
                  cudaStream_t stream)
{
    const uint64_t n = keys->count;
    const unsigned block = (unsigned)f->tuning.ribbon_block, blocks = blocks_for(n, block, MOST_BLOCKS);
    (void)with_source(f, keys, [&](auto source) {
        switch (f->tuning.ribbon_lanes) {
        case 1: query_ribbon_alone<<<blocks, block, 0, stream>>>(source, f->table, n, bits); break;
        case 2: query_ribbon<2><<<blocks, block, 0, stream>>>(source, f->table, n, bits); break;
        case 4: query_ribbon<4><<<blocks, block, 0, stream>>>(source, f->table, n, bits); break;
        default: query_ribbon<8><<<blocks, block, 0, stream>>>(source, f->table, n, bits); break;
        }
        return TAMIS_OK;
    });
}
