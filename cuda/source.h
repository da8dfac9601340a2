/* Sources of hashes: how a kernel gets the hash of key i. */
#ifndef TAMIS_CUDA_SOURCE_H
#define TAMIS_CUDA_SOURCE_H

#include "filter.h"

/* Keys of 8 bytes, aligned. They are read once, so they should not displace the table from the
 * cache. */
struct word_source {
    const unsigned long long *words;
    uint64_t flip;
    typedef uint64_t entry; /* what stands for a key where keys are parted */
    __device__ entry get(uint64_t i) const
    {
        return __ldcs(words + i);
    }
    __device__ struct hash128 hash(entry e) const
    {
        return hash_word(e, flip);
    }
};

struct hash_source {
    const struct hash128 *hashes;
    typedef struct hash128 entry;
    __device__ entry get(uint64_t i) const
    {
        const ulonglong2 v = __ldcs((const ulonglong2 *)hashes + i);
        return {v.x, v.y};
    }
    __device__ struct hash128 hash(entry e) const
    {
        return e;
    }
};

struct fixed_source {
    const uint8_t *data, *end;
    uint64_t width, seed;
    typedef struct hash128 entry;
    __device__ entry get(uint64_t i) const
    {
        return hash_bytes(data + i * width, width, end, seed);
    }
    __device__ struct hash128 hash(entry e) const
    {
        return e;
    }
};

template <typename Offset> struct text_source {
    const uint8_t *data, *end;
    const Offset *offsets;
    uint64_t seed;
    typedef struct hash128 entry;
    __device__ entry get(uint64_t i) const
    {
        const uint64_t at = (uint64_t)__ldcs(offsets + i), next = (uint64_t)__ldcs(offsets + i + 1);
        return hash_bytes(data + at, next - at, end, seed);
    }
    __device__ struct hash128 hash(entry e) const
    {
        return e;
    }
};

/* Calls run(source) with the source of these keys. */
template <typename Run>
static tamis_status with_source(const struct tamis_cuda *f, const struct keys *k, Run run)
{
    const uint64_t seed = f->shape.plan.seed;
    switch (k->form) {
    case FORM_WORDS:
        return run(word_source{(const unsigned long long *)(const void *)k->data, word_flip(seed)});
    case FORM_HASHES: return run(hash_source{k->hashes});
    case FORM_FIXED: return run(fixed_source{k->data, k->data + k->bytes, k->width, seed});
    case FORM_OFFSETS32:
        return run(text_source<int32_t>{k->data, k->data + k->bytes, k->offsets32, seed});
    default: return run(text_source<int64_t>{k->data, k->data + k->bytes, k->offsets64, seed});
    }
}

/* Blocks enough for n items, but not more than `most`; kernels step over the rest. */
static inline unsigned blocks_for(uint64_t n, uint64_t each, uint64_t most)
{
    const uint64_t blocks = (n + each - 1) / each;
    return (unsigned)(blocks < most ? blocks : most);
}

#endif
