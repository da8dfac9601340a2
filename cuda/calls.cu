/* The calls that take keys on the device: checks, and then kernels. */
#include "filter.h"

#define FULL 0xffffffffu

static tamis_status ready(struct tamis_cuda *f, const tamis_cuda_keys *keys, struct keys *k,
                          tamis_error *why)
{
    const tamis_status s = check_filter(f, why);
    return s == TAMIS_OK ? take_keys(f, keys, true, k, why) : s;
}

tamis_status tamis_cuda__may_add(const struct tamis_cuda *f, tamis_error *why)
{
    if (f->shape.plan.kind != TAMIS_BLOCKED || f->shape.sealed)
        return tamis_cuda__fail(why, TAMIS_ESEALED, "the filter is sealed");
    if (f->shape.strict)
        return tamis_cuda__fail(why, TAMIS_EUNSUPPORTED, "a strict filter counts its items, which "
                                                         "a device does not");
    return TAMIS_OK;
}

tamis_status tamis_cuda_add(tamis_cuda *f, const tamis_cuda_keys *keys, void *stream,
                            tamis_error *why)
{
    struct keys k;
    tamis_status s = check_filter(f, why);
    if (s == TAMIS_OK) s = tamis_cuda__may_add(f, why);
    if (s == TAMIS_OK) s = ready(f, keys, &k, why);
    if (s == TAMIS_OK) s = check_offsets(f, &k, (cudaStream_t)stream, why);
    return s == TAMIS_OK ? start_add(f, &k, (cudaStream_t)stream, why) : s;
}

tamis_status tamis_cuda_query(tamis_cuda *f, const tamis_cuda_keys *keys, uint8_t *bits,
                              void *stream, tamis_error *why)
{
    struct keys k;
    tamis_status s = ready(f, keys, &k, why);
    if (s == TAMIS_OK && k.count != 0) s = check_pointer(bits, 4, "bits", why);
    if (s == TAMIS_OK) s = check_offsets(f, &k, (cudaStream_t)stream, why);
    return s == TAMIS_OK ? start_query(f, &k, bits, (cudaStream_t)stream, why) : s;
}

/* --- A byte for each answer ------------------------------------------------------------------- */

__global__ void expand_bits(const uint8_t *bits, uint64_t n, uint8_t *mask)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        mask[i] = bits[i / 8] >> i % 8 & 1;
}

tamis_status tamis_cuda_expand(tamis_cuda *f, const uint8_t *bits, uint64_t count, uint8_t *mask,
                               void *stream, tamis_error *why)
{
    tamis_status s = check_filter(f, why);
    if (s != TAMIS_OK || count == 0) return s;
    s = check_pointer(bits, 1, "bits", why);
    if (s == TAMIS_OK) s = check_pointer(mask, 1, "mask", why);
    if (s != TAMIS_OK) return s;
    expand_bits<<<(unsigned)f->multiprocessors * 16, 256, 0, (cudaStream_t)stream>>>(bits, count,
                                                                                     mask);
    return cuda_failed(f, cudaGetLastError(), "answers could not be expanded", why);
}

/* --- Lists ------------------------------------------------------------------------------------ */

#define WORDS 256u /* of answers, for each block */

__global__ void count_answers(const uint32_t *bits, uint64_t words, uint64_t *counts)
{
    const uint64_t at = (uint64_t)blockIdx.x * WORDS + threadIdx.x;
    __shared__ unsigned sums[WORDS / 32];
    unsigned own = at < words ? (unsigned)__popc(bits[at]) : 0;
    for (unsigned by = 16; by > 0; by /= 2) own += __shfl_down_sync(FULL, own, by);
    if (threadIdx.x % 32 == 0) sums[threadIdx.x / 32] = own;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (unsigned i = 1; i < WORDS / 32; i++) own += sums[i];
    counts[blockIdx.x] = own;
}

/* Turns the counts into the places where the blocks begin to write, behind what was found before.
 * One warp is enough for one count for 8192 keys. */
__global__ void place_counts(uint64_t *counts, uint64_t n, uint64_t *found)
{
    uint64_t sum = *found;
    for (uint64_t from = 0; from < n; from += 32) {
        const uint64_t i = from + threadIdx.x, own = i < n ? counts[i] : 0;
        uint64_t upto = own;
        for (unsigned by = 1; by < 32; by *= 2) {
            const uint64_t before = __shfl_up_sync(FULL, upto, by);
            if (threadIdx.x >= by) upto += before;
        }
        if (i < n) counts[i] = sum + upto - own;
        sum += __shfl_sync(FULL, upto, 31);
    }
    if (threadIdx.x == 0) *found = sum;
}

__global__ void write_list(const uint32_t *bits, uint64_t words, const uint64_t *counts,
                           uint32_t base, uint32_t *selected)
{
    const uint64_t at = (uint64_t)blockIdx.x * WORDS + threadIdx.x;
    const unsigned lane = threadIdx.x % 32;
    __shared__ unsigned sums[WORDS / 32];
    uint32_t word = at < words ? bits[at] : 0;
    unsigned upto = (unsigned)__popc(word);
    const unsigned own = upto;
    for (unsigned by = 1; by < 32; by *= 2) {
        const unsigned before = __shfl_up_sync(FULL, upto, by);
        if (lane >= by) upto += before;
    }
    if (lane == 31) sums[threadIdx.x / 32] = upto;
    __syncthreads();
    uint64_t to = counts[blockIdx.x] + upto - own;
    for (unsigned i = 0; i < threadIdx.x / 32; i++) to += sums[i];
    for (; word != 0; word &= word - 1)
        selected[to++] = base + (uint32_t)at * 32 + (uint32_t)__ffs((int)word) - 1;
}

/* The keys of a piece, from number `at` on. */
static struct keys piece_of(struct keys k, uint64_t at, uint64_t n)
{
    if (k.form == FORM_HASHES) k.hashes += at;
    else if (k.form == FORM_OFFSETS32) k.offsets32 += at;
    else if (k.form == FORM_OFFSETS64) k.offsets64 += at;
    else {
        k.data += at * k.width;
        k.bytes -= at * k.width;
    }
    k.count = n;
    return k;
}

static tamis_status select_piece(struct tamis_cuda *f, const struct keys *k, uint64_t base,
                                 uint32_t *selected, uint64_t *found, cudaStream_t stream,
                                 tamis_error *why)
{
    const uint64_t words = (k->count + 31) / 32, blocks = (words + WORDS - 1) / WORDS;
    uint32_t *bits = (uint32_t *)f->scratch;
    uint64_t *counts = (uint64_t *)(void *)(bits + (words + 1) / 2 * 2);
    /* A query writes only the bytes that have answers. */
    cudaError_t e = cudaMemsetAsync(bits + words - 1, 0, sizeof *bits, stream);
    tamis_status s = cuda_failed(f, e, "a list could not be made", why);
    if (s == TAMIS_OK) s = start_query(f, k, (uint8_t *)bits, stream, why);
    if (s != TAMIS_OK) return s;
    count_answers<<<(unsigned)blocks, WORDS, 0, stream>>>(bits, words, counts);
    place_counts<<<1, 32, 0, stream>>>(counts, blocks, found);
    write_list<<<(unsigned)blocks, WORDS, 0, stream>>>(bits, words, counts, (uint32_t)base,
                                                       selected);
    return cuda_failed(f, cudaGetLastError(), "a list could not be made", why);
}

tamis_status tamis_cuda_select(tamis_cuda *f, const tamis_cuda_keys *keys, uint32_t *selected,
                               uint64_t *found, void *stream, tamis_error *why)
{
    struct keys k;
    cudaStream_t on = (cudaStream_t)stream;
    tamis_status s = ready(f, keys, &k, why);
    if (s == TAMIS_OK) s = check_pointer(found, 8, "found", why);
    if (s == TAMIS_OK && k.count != 0) s = check_pointer(selected, 4, "selected", why);
    if (s == TAMIS_OK && k.count > UINT64_C(1) << 32)
        s = tamis_cuda__fail(why, TAMIS_EINVAL, "a list has numbers of 32 bits, so it takes at "
                                                "most 2^32 keys");
    if (s == TAMIS_OK && k.count != 0) s = need_scratch(f, why);
    if (s == TAMIS_OK) s = check_offsets(f, &k, on, why);
    if (s != TAMIS_OK) return s;
    s = cuda_failed(f, cudaMemsetAsync(found, 0, sizeof *found, on), "a list could not be made",
                    why);
    /* Answers take a bit a key, and counts 8 bytes for 8192 keys. */
    uint64_t piece = f->scratch_bytes / 5 * 32 / 8192 * 8192;
    for (uint64_t at = 0; at < k.count && s == TAMIS_OK; at += piece) {
        if (piece > k.count - at) piece = k.count - at;
        const struct keys some = piece_of(k, at, piece);
        s = select_piece(f, &some, at, selected, found, on, why);
    }
    return s;
}
