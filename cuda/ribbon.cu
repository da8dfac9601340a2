/* Queries of a ribbon. A key's window is 64 slots: the end of one segment and the beginning of the
 * next. A segment has one word of 64 slots for each column, so a key needs a run of r words in
 * either segment. A column's bit is the parity of its two words under the parts of the key's row
 * that are on them.
 *
 * Each lane first finds the windows of its own keys, which reads only thresholds. The few keys that
 * the first layer bumps are collected, so that the warp goes through the later layers once for all
 * of them. Then eight lanes share a key, four for each segment: a lane loads 16 bytes, two words,
 * and finds their parities. Two ballots have those of four keys; the owner of a key joins its own.
 * What a lane needs to know about a key, it gets from shared memory with one load of 16 bytes. */
#include "warp.h"

#define RIBBON_BLOCK 128 /* threads */
/* Keys of a thread. On an H200, 2 were faster than 1 in the tables of docs/GPU.md with 7 and 8
 * columns, and than 4, with which the shared memory has room for too few warps. */
#define RIBBON_KEYS 2
#define PAIRS 4u         /* pairs of words of a segment that are read at a time */

/* The part of a key's window that is in one segment, as it is passed to the lanes that read it. */
struct __align__(16) half {
    uint64_t row;
    uint32_t unit;  /* where the words begin, in 16 bytes from the cells on */
    uint32_t pairs; /* how many units they have; 0: there is nothing to read */
};

/* What the owner of the key needs. */
struct want {
    uint32_t side, columns;
    uint32_t skip_low, skip_high; /* 1: the first word of the first pair is not of this segment */
};

#define NOWHERE UINT32_MAX /* as a number of columns: the key is in no layer */

/* The shared memory of a warp whose lanes have KEYS keys each. */
template <int KEYS> struct passed {
    struct half half[64 * KEYS]; /* the low and the high one of each key */
    struct want want[32 * KEYS];
    uint32_t bumped[32 * KEYS];  /* numbers of keys; their hashes are in the rows of their halves */
};

/* Stores what is read for key `number` of the warp. */
template <int KEYS>
__device__ static void place(struct passed<KEYS> *p, unsigned number, const struct table *t,
                             const struct table_layer *l, struct hash128 h, uint64_t start)
{
    const uint64_t segment = start / 64, row = h.lo | 1;
    const uint32_t columns = ribbon_columns(l, segment);
    const uint64_t low = ribbon_word(l, segment) + (uint64_t)(l->solution - t->cells);
    const uint64_t high = low + columns;
    const unsigned shift = (unsigned)(start % 64);
    const uint32_t skip_low = (uint32_t)low & 1, skip_high = (uint32_t)high & 1;
    /* A window that begins with a segment has no slot in the next one, which may not exist. */
    p->half[2 * number] = {row << shift, (uint32_t)(low / 2),
                           columns != 0 ? (columns + skip_low + 1) / 2 : 0};
    p->half[2 * number + 1] = {row >> 1 >> (63 - shift), (uint32_t)(high / 2),
                               columns != 0 && shift != 0 ? (columns + skip_high + 1) / 2 : 0};
    p->want[number] = {l->last ? 0 : (uint32_t)h.hi, columns, skip_low, skip_high};
}

/* Tries a layer for this lane's key. Appends it to the `waiting` ones if it is bumped, and returns
 * how many there are then. */
template <int KEYS>
__device__ static unsigned try_layer(struct passed<KEYS> *p, unsigned number, bool have,
                                     const struct table *t, uint32_t at, struct hash128 h,
                                     unsigned waiting)
{
    const struct table_layer *l = &t->layer[at];
    const uint64_t start = ribbon_start(h, l);
    const bool bumped = have && ribbon_bumps(l, start);
    const unsigned all = __ballot_sync(FULL, bumped), lane = threadIdx.x & 31;
    if (have && !bumped) place(p, number, t, l, h, start);
    if (bumped) {
        p->bumped[waiting + __popc(all & ((1u << lane) - 1))] = number;
        p->half[2 * number].row = h.lo;
        p->half[2 * number + 1].row = h.hi;
    }
    return waiting + __popc(all);
}

/* Goes through the later layers, with all bumped keys of the warp together. */
template <int KEYS>
__device__ static void find_bumped(struct passed<KEYS> *p, const struct table *t, unsigned waiting)
{
    const unsigned lane = threadIdx.x & 31;
    for (uint32_t at = 1; at < t->layers && waiting != 0; at++) {
        const unsigned before = waiting;
        waiting = 0;
        for (unsigned from = 0; from < before; from += 32) {
            const bool have = from + lane < before;
            unsigned number = 0;
            struct hash128 h = {0, 0};
            __syncwarp();
            if (have) {
                number = p->bumped[from + lane];
                h = ribbon_next({p->half[2 * number].row, p->half[2 * number + 1].row});
            }
            __syncwarp();
            waiting = try_layer(p, number, have, t, at, h, waiting);
        }
    }
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
__device__ static bool columns_agree(const ulonglong2 *cells, const struct half *keys,
                                     const struct want &w)
{
    const bool found = w.columns != NOWHERE;
    const uint32_t first = parities(cells, keys, 0);
    uint64_t low = (first & 255) >> w.skip_low, high = first >> 8 >> w.skip_high;
    const unsigned most = found ? (w.columns + (w.skip_low | w.skip_high) + 1) / 2 : 0;
    for (unsigned from = PAIRS; __any_sync(FULL, most > from); from += PAIRS) {
        const uint64_t more = parities(cells, keys, from);
        if (most <= from) continue;
        low |= (more & 255) << (2 * from - w.skip_low);
        high |= more >> 8 << (2 * from - w.skip_high);
    }
    const uint64_t used = (UINT64_C(1) << (w.columns & 63)) - 1;
    return found && ((low ^ high ^ w.side) & used) == 0;
}

template <int KEYS, typename Source>
__global__ void __launch_bounds__(RIBBON_BLOCK)
    query_ribbon(const Source source, const __grid_constant__ struct table t, uint64_t n,
                 uint32_t *__restrict__ bits)
{
    __shared__ struct passed<KEYS> room[RIBBON_BLOCK / 32];
    const unsigned lane = threadIdx.x & 31;
    const uint64_t first = first_of_warp(KEYS);
    struct passed<KEYS> *p = room + threadIdx.x / 32;
    unsigned waiting = 0;
    uint32_t answers = 0; /* word k is in lane k */
    if (first >= n) return;
    typename Source::entry entry[KEYS];
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        entry[k] = {};
        if (first + 32 * k + lane < n) entry[k] = source.get(first + 32 * k + lane);
    }
#pragma unroll
    for (int k = 0; k < KEYS; k++) {
        const unsigned number = 32 * k + lane;
        p->half[2 * number] = p->half[2 * number + 1] = {0, 0, 0};
        p->want[number] = {0, NOWHERE, 0, 0};
        if (t.layers == 0) continue;
        waiting = try_layer(p, number, first + number < n, &t, 0, source.hash(entry[k]), waiting);
    }
    find_bumped(p, &t, waiting);
    __syncwarp();
#pragma unroll 1
    for (int k = 0; k < KEYS; k++) {
        const bool agrees = columns_agree((const ulonglong2 *)t.cells, p->half + 64 * k,
                                          p->want[32 * k + lane]);
        const unsigned word = __ballot_sync(FULL, agrees);
        if (lane == (unsigned)k) answers = word;
    }
    if (lane < KEYS) store_word(bits, first + 32 * lane, n, answers);
}

void start_ribbon(const struct tamis_cuda *f, const struct keys *keys, uint32_t *bits,
                  cudaStream_t stream)
{
    (void)with_source(f, keys, [&](auto source) {
        const unsigned blocks = blocks_for(keys->count, RIBBON_BLOCK * RIBBON_KEYS, MOST_BLOCKS);
        query_ribbon<RIBBON_KEYS>
            <<<blocks, RIBBON_BLOCK, 0, stream>>>(source, f->table, keys->count, bits);
        return TAMIS_OK;
    });
}
