/* Adds, and the union of two filters.
 *
 * Eight lanes share the line of a key, with one atomic OR of 64 bits each, so that a key takes one
 * or two requests of the cache that does the atomics, the second level. There an add is as fast as
 * it can be as long as the table is in that cache. If it is not, each line is fetched for a few
 * bits.
 *
 * Then the keys are parted first, by the piece of the table in which their line is. A block takes a
 * tile of keys, sorts it in shared memory, and appends the keys of each part to those that other
 * blocks have found. Nothing is counted before: hashes are uniform, so each part gets its share of
 * the keys, give or take little, and has room for eight standard deviations more. Keys beyond that,
 * which equal or chosen keys can cause, are added at once. The parts are then added one after
 * the other, and each stays in the cache meanwhile. A key of 8 bytes is hashed again then, because
 * its hash is twice as long.
 *
 * The cells do not depend on the order of adds, so they are those of any other way to add the same
 * keys. */
#include "source.h"

#include <math.h>

#define FULL 0xffffffffu
#define MOST_BLOCKS 0x7fffffffu
#define MOST_PARTS 512u
#define KEYS_EACH 4 /* keys of a thread where parts are added */

/* Adds the key of each lane; eight lanes share a line. `have` is false for lanes without a key. */
__device__ static void add_warp(uint64_t *cells, uint64_t lines, struct hash128 h, bool have)
{
    const unsigned lane = threadIdx.x & 31, word = lane & 7;
    const uint32_t line = (uint32_t)line_of(h, lines);
    const unsigned all = __ballot_sync(FULL, have);
#pragma unroll
    for (unsigned r = 0; r < 8; r++) {
        const uint64_t at = 8 * (uint64_t)__shfl_sync(FULL, line, r, 8) + word;
        const uint64_t lo = __shfl_sync(FULL, h.lo, r, 8);
        if (all >> ((lane & ~7u) + r) & 1)
            atomicOr((unsigned long long *)cells + at, (unsigned long long)line_mask(lo, word));
    }
}

template <typename Source>
__global__ void __launch_bounds__(512)
    add_lines(const Source source, uint64_t *cells, uint64_t lines, uint64_t n)
{
    const uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    struct hash128 h = {0, 0};
    if (i < n) h = source.hash(source.get(i));
    add_warp(cells, lines, h, i < n);
}

/* --- Parts ------------------------------------------------------------------------------------ */

/* How the keys of a piece of work are parted. */
struct parting {
    uint64_t room; /* entries that a part has room for */
    uint32_t parts;
    uint32_t log;  /* a part has 2^log lines */
};

/* The shared memory of a block that parts. */
template <typename Entry> struct tile {
    Entry *entries;
    uint32_t *count, *begin, *base;
    uint16_t *part;
    __device__ tile(void *memory, unsigned size, unsigned parts)
        : entries((Entry *)memory), count((uint32_t *)(entries + size)), begin(count + parts),
          base(begin + parts), part((uint16_t *)(base + parts))
    {
    }
};

static size_t tile_bytes(size_t entry, unsigned size, unsigned parts)
{
    return size * (entry + 2) + 3 * sizeof(uint32_t) * parts;
}

/* Where each part begins in the tile: the first warp adds up the counts. The others reserve room
 * behind the entries that the parts have already. */
template <typename Entry>
__device__ static void begin_parts(const struct tile<Entry> &t, uint32_t parts, uint32_t *filled)
{
    for (unsigned p = threadIdx.x; p < parts; p += blockDim.x)
        t.base[p] = t.count[p] != 0 ? atomicAdd(filled + p, t.count[p]) : 0;
    if (threadIdx.x >= 32) return;
    unsigned sum = 0;
    for (unsigned from = 0; from < parts; from += 32) {
        const unsigned p = from + threadIdx.x, own = p < parts ? t.count[p] : 0;
        unsigned upto = own;
        for (unsigned by = 1; by < 32; by *= 2) {
            const unsigned before = __shfl_up_sync(FULL, upto, by);
            if (threadIdx.x >= by) upto += before;
        }
        if (p < parts) t.begin[p] = sum + upto - own;
        sum += __shfl_sync(FULL, upto, 31);
    }
}

__device__ static void add_alone(uint64_t *cells, uint64_t lines, struct hash128 h)
{
    unsigned long long *line = (unsigned long long *)cells + 8 * line_of(h, lines);
    for (unsigned j = 0; j < 8; j++) atomicOr(line + j, (unsigned long long)line_mask(h.lo, j));
}

template <int EACH, typename Source>
__global__ void __launch_bounds__(1024)
    part_keys(const Source source, uint64_t n, uint64_t *cells, uint64_t lines,
              const struct parting by, typename Source::entry *room, uint32_t *filled)
{
    typedef typename Source::entry Entry;
    extern __shared__ ulonglong2 memory[];
    const unsigned size = EACH * blockDim.x;
    const struct tile<Entry> t(memory, size, by.parts);
    const uint64_t first = (uint64_t)blockIdx.x * size;
    Entry entry[EACH];
    uint32_t place[EACH]; /* part and rank within it */
    for (unsigned p = threadIdx.x; p < by.parts; p += blockDim.x) t.count[p] = 0;
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint64_t i = first + (uint64_t)k * blockDim.x + threadIdx.x;
        if (i < n) entry[k] = source.get(i);
    }
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint64_t i = first + (uint64_t)k * blockDim.x + threadIdx.x;
        if (i >= n) continue;
        const uint32_t part = (uint32_t)(line_of(source.hash(entry[k]), lines) >> by.log);
        place[k] = part << 16 | atomicAdd(t.count + part, 1u);
    }
    __syncthreads();
    begin_parts(t, by.parts, filled);
    __syncthreads();
#pragma unroll
    for (int k = 0; k < EACH; k++) {
        const uint64_t i = first + (uint64_t)k * blockDim.x + threadIdx.x;
        if (i >= n) continue;
        const unsigned at = t.begin[place[k] >> 16] + (place[k] & 0xffff);
        t.entries[at] = entry[k];
        t.part[at] = (uint16_t)(place[k] >> 16);
    }
    __syncthreads();
    const unsigned have = n - first < size ? (unsigned)(n - first) : size;
    for (unsigned s = threadIdx.x; s < have; s += blockDim.x) {
        const unsigned part = t.part[s];
        const uint64_t at = (uint64_t)t.base[part] + (s - t.begin[part]);
        if (at < by.room) room[part * by.room + at] = t.entries[s];
        else add_alone(cells, lines, source.hash(t.entries[s]));
    }
}

/* Turns an entry into a hash. */
struct from_words {
    uint64_t flip;
    __device__ struct hash128 operator()(const uint64_t *e) const
    {
        return hash_word(__ldcs((const unsigned long long *)e), flip);
    }
};
struct from_hashes {
    __device__ struct hash128 operator()(const struct hash128 *e) const
    {
        const ulonglong2 v = __ldcs((const ulonglong2 *)e);
        return {v.x, v.y};
    }
};

/* Blocks take the parts in order, `blocks` of them for each. */
template <typename Entry, typename Hash>
__global__ void __launch_bounds__(512)
    add_parts(const Entry *room, const uint32_t *filled, const struct parting by, unsigned blocks,
              uint64_t *cells, uint64_t lines, const Hash hash)
{
    const unsigned part = blockIdx.x / blocks;
    const uint64_t first = (uint64_t)(blockIdx.x % blocks) * blockDim.x * KEYS_EACH;
    const uint64_t n = filled[part] < by.room ? filled[part] : by.room;
    room += part * by.room;
    if (first >= n) return;
    struct hash128 h[KEYS_EACH];
#pragma unroll
    for (int k = 0; k < KEYS_EACH; k++) {
        const uint64_t i = first + (uint64_t)k * blockDim.x + threadIdx.x;
        h[k] = {0, 0};
        if (i < n) h[k] = hash(room + i);
    }
#pragma unroll
    for (int k = 0; k < KEYS_EACH; k++)
        add_warp(cells, lines, h[k], first + (uint64_t)k * blockDim.x + threadIdx.x < n);
}

/* --- Starting --------------------------------------------------------------------------------- */

/* Scratch begins with the number of entries of each part. */
#define FILLED_BYTES (MOST_PARTS * sizeof(uint32_t))

static uint64_t with_margin(double mean)
{
    return (uint64_t)(mean + 8 * sqrt(mean) + 64);
}

/* The share of the keys that a whole part gets. */
static double share_of_part(const struct parting *by, uint64_t lines)
{
    const double share = ldexp(1, (int)by->log) / (double)lines;
    return share < 1 ? share : 1;
}

/* How many keys at a time can be parted with this scratch. */
static uint64_t keys_at_a_time(const struct parting *by, uint64_t lines, uint64_t slots)
{
    const double room = (double)(slots / by->parts), mean = room - 8 * sqrt(room) - 66;
    return mean < 1 ? 0 : (uint64_t)(mean / share_of_part(by, lines));
}

static struct parting parting_of(const struct tamis_cuda *f)
{
    struct parting by = {0, 0, 14}; /* from 1 MiB on */
    while (by.log < 32 && (UINT64_C(64) << by.log) < (uint64_t)f->tuning.part_mib << 20) by.log++;
    while ((f->table.lines - 1) >> by.log >= MOST_PARTS) by.log++;
    by.parts = (uint32_t)((f->table.lines - 1) >> by.log) + 1;
    return by;
}

template <int EACH, typename Source, typename Hash>
static cudaError_t part_and_add(const struct tamis_cuda *f, const Source &source, uint64_t n,
                                struct parting by, const Hash &hash, cudaStream_t stream)
{
    typedef typename Source::entry Entry;
    const unsigned block = (unsigned)f->tuning.tile * 1024 / 8; /* the threads of 8 words each */
    const unsigned add_block = (unsigned)f->tuning.part_add_block;
    const size_t shared = tile_bytes(sizeof(Entry), EACH * block, by.parts);
    uint32_t *filled = (uint32_t *)f->scratch;
    Entry *room = (Entry *)((uint8_t *)f->scratch + FILLED_BYTES);
    by.room = with_margin((double)n * share_of_part(&by, f->table.lines));
    cudaError_t e = cudaMemsetAsync(filled, 0, FILLED_BYTES, stream);
    if (e == cudaSuccess)
        e = cudaFuncSetAttribute(part_keys<EACH, Source>,
                                 cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared);
    if (e != cudaSuccess) return e;
    part_keys<EACH><<<blocks_for(n, (uint64_t)EACH * block, MOST_BLOCKS), block, shared, stream>>>(
        source, n, f->table.cells, f->table.lines, by, room, filled);
    e = cudaGetLastError();
    if (e != cudaSuccess || f->tuning.only_part) return e;
    const unsigned blocks = blocks_for(by.room, (uint64_t)add_block * KEYS_EACH, MOST_BLOCKS);
    add_parts<<<blocks * by.parts, add_block, 0, stream>>>((const Entry *)room, filled, by, blocks,
                                                          f->table.cells, f->table.lines, hash);
    return cudaGetLastError();
}

static struct word_source skip(struct word_source s, uint64_t n)
{
    s.words += n;
    return s;
}

static struct hash_source skip(struct hash_source s, uint64_t n)
{
    s.hashes += n;
    return s;
}

static struct fixed_source skip(struct fixed_source s, uint64_t n)
{
    s.data += n * s.width;
    return s;
}

template <typename Offset>
static struct text_source<Offset> skip(struct text_source<Offset> s, uint64_t n)
{
    s.offsets += n;
    return s;
}

static cudaError_t parted(const struct tamis_cuda *f, const struct word_source &s, uint64_t n,
                          const struct parting &by, cudaStream_t stream)
{
    return part_and_add<8>(f, s, n, by, from_words{s.flip}, stream);
}

template <typename Source>
static cudaError_t parted(const struct tamis_cuda *f, const Source &s, uint64_t n,
                          const struct parting &by, cudaStream_t stream)
{
    return part_and_add<4>(f, s, n, by, from_hashes{}, stream);
}

template <typename Source>
static cudaError_t direct(const struct tamis_cuda *f, const Source &s, uint64_t n,
                          cudaStream_t stream)
{
    const unsigned block = (unsigned)f->tuning.add_block;
    add_lines<<<blocks_for(n, block, MOST_BLOCKS), block, 0, stream>>>(s, f->table.cells,
                                                                       f->table.lines, n);
    return cudaGetLastError();
}

/* A piece of work that is parted fetches and writes back the whole table once, at the speed of the
 * memory, instead of a line for each key at that of random access. The rates of docs/GPU.md for
 * tables of 1.3 and 10 GB are equal at about 0.55 keys for each line. */
static uint64_t piece_to_part(const struct tamis_cuda *f, const struct parting *by, size_t entry,
                              uint64_t n)
{
    if (f->tuning.direct == 1 || (f->tuning.direct == 0 && f->table.bytes <= f->cache / 4 * 3))
        return 0;
    const uint64_t slots = (f->scratch_bytes - FILLED_BYTES) / entry;
    uint64_t most = keys_at_a_time(by, f->table.lines, slots);
    if (most == 0) return 0;
    /* Equal keys are all of one part, and the entries of a part are counted with 32 bits. */
    if (most > UINT32_MAX) most = UINT32_MAX;
    const uint64_t pieces = (n + most - 1) / most, piece = (n + pieces - 1) / pieces;
    return f->tuning.direct == 2 || piece >= f->table.lines / 5 * 3 ? piece : 0;
}

template <typename Source>
static tamis_status add_source(struct tamis_cuda *f, Source source, uint64_t n,
                               cudaStream_t stream, tamis_error *why)
{
    const struct parting by = parting_of(f);
    uint64_t piece = piece_to_part(f, &by, sizeof(typename Source::entry), n);
    cudaError_t e = cudaSuccess;
    if (piece != 0 && need_scratch(f, NULL) != TAMIS_OK) piece = 0; /* slower, but not an error */
    if (f->broken.status != TAMIS_OK) return check_filter(f, why);
    if (piece == 0) e = direct(f, source, n, stream);
    for (uint64_t at = 0; piece != 0 && at < n && e == cudaSuccess; at += piece)
        e = parted(f, skip(source, at), n - at < piece ? n - at : piece, by, stream);
    return cuda_failed(f, e, "an add could not be started", why);
}

tamis_status start_add(struct tamis_cuda *f, const struct keys *keys, cudaStream_t stream,
                       tamis_error *why)
{
    if (keys->count == 0) return TAMIS_OK;
    return with_source(f, keys, [&](auto source) {
        return add_source(f, source, keys->count, stream, why);
    });
}

/* --- Union ------------------------------------------------------------------------------------ */

__global__ void or_cells(ulonglong2 *into, const ulonglong2 *from, uint64_t n)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        ulonglong2 a = into[i];
        const ulonglong2 b = from[i];
        a.x |= b.x;
        a.y |= b.y;
        into[i] = a;
    }
}

static const char *mismatch(const struct shape *a, const struct shape *b)
{
    if (a->plan.kind != b->plan.kind) return "the filters are of different kinds";
    if (a->plan.m != b->plan.m) return "the filters have different sizes";
    if (a->hash != b->hash || a->plan.seed != b->plan.seed ||
        memcmp(a->key_id, b->key_id, sizeof a->key_id) != 0)
        return "the filters hash differently: they have another hash, seed or secret key";
    if (a->plan.encoding != 0 && b->plan.encoding != 0 &&
        (a->plan.encoding != b->plan.encoding || a->plan.key_width != b->plan.key_width))
        return "the filters state different encodings of their keys";
    return NULL;
}

tamis_status tamis_cuda_merge(tamis_cuda *into, const tamis_cuda *from, void *stream,
                              tamis_error *why)
{
    tamis_status s = check_filter(into, why);
    if (s != TAMIS_OK) return s;
    if (from == NULL || from == into)
        return tamis_cuda__fail(why, TAMIS_EINVAL, "a merge needs two filters");
    if (from->broken.status != TAMIS_OK || from->device != into->device)
        return tamis_cuda__fail(why, TAMIS_EINVAL, "the other filter is %s",
                                from->device != into->device ? "on another device" : "unusable");
    const char *reason = mismatch(&into->shape, &from->shape);
    if (reason != NULL) return tamis_cuda__fail(why, TAMIS_EMISMATCH, "%s", reason);
    if (into->shape.plan.kind != TAMIS_BLOCKED)
        return tamis_cuda__fail(why, TAMIS_EUNSUPPORTED, "only blocked filters can be merged");
    if (into->shape.strict)
        return tamis_cuda__fail(why, TAMIS_EUNSUPPORTED, "a strict filter counts its items, which "
                                                         "a device does not");
    if (into->shape.sealed) return tamis_cuda__fail(why, TAMIS_ESEALED, "the filter is sealed");
    const uint64_t n = into->table.bytes / sizeof(ulonglong2);
    or_cells<<<blocks_for(n, 256, (uint64_t)into->multiprocessors * 16), 256, 0,
               (cudaStream_t)stream>>>((ulonglong2 *)into->table.cells,
                                       (const ulonglong2 *)from->table.cells, n);
    s = cuda_failed(into, cudaGetLastError(), "a merge could not be started", why);
    if (s == TAMIS_OK && into->shape.plan.encoding == 0) {
        into->shape.plan.encoding = from->shape.plan.encoding;
        into->shape.plan.key_width = from->shape.plan.key_width;
        into->shape.key_width = from->shape.key_width;
    }
    return s;
}
