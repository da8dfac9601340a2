/* Checks of what callers pass: the struct of keys, pointers, and offsets on the device. */
#include "filter.h"

#include <tamis/inspect.h>

static tamis_status invalid(tamis_error *why, const char *reason)
{
    return tamis_cuda__fail(why, TAMIS_EINVAL, "%s", reason);
}

tamis_status check_pointer(const void *p, unsigned alignment, const char *what, tamis_error *why)
{
    cudaPointerAttributes a;
    int device = 0, pageable = 0;
    if (p == NULL) return tamis_cuda__fail(why, TAMIS_EINVAL, "%s must not be NULL", what);
    if ((uintptr_t)p % alignment != 0)
        return tamis_cuda__fail(why, TAMIS_EINVAL, "%s must be aligned to %u bytes", what,
                                alignment);
    cudaError_t e = cudaPointerGetAttributes(&a, p);
    if (e == cudaSuccess) e = cudaGetDevice(&device);
    if (e == cudaSuccess && a.type == cudaMemoryTypeDevice && a.device != device)
        return tamis_cuda__fail(why, TAMIS_EINVAL, "%s is on device %d, and the current one is %d",
                                what, a.device, device);
    if (e == cudaSuccess && a.type != cudaMemoryTypeUnregistered) return TAMIS_OK;
    /* Some machines let a device access all memory of the host. */
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, device);
    if (e == cudaSuccess && pageable != 0) return TAMIS_OK;
    if (e != cudaSuccess) (void)cudaGetLastError();
    return tamis_cuda__fail(why, TAMIS_EINVAL, "%s is not memory that the device can access", what);
}

/* Which of the four ways is used; false if none or several are. */
static bool form_of(const tamis_cuda_keys *k, struct keys *out)
{
    const unsigned ways = (k->width != 0) + (k->hashes != NULL) + (k->offsets32 != NULL) +
                          (k->offsets64 != NULL);
    out->form = k->hashes != NULL      ? FORM_HASHES
                : k->offsets32 != NULL ? FORM_OFFSETS32
                : k->offsets64 != NULL ? FORM_OFFSETS64
                : k->width == 8 && (uintptr_t)k->data % 8 == 0 ? FORM_WORDS
                                                               : FORM_FIXED;
    return ways == 1;
}

static tamis_status check_hash(const struct tamis_cuda *f, const struct keys *k, tamis_error *why)
{
    if (k->form == FORM_HASHES) return TAMIS_OK;
    if (f->shape.hash == TAMIS_SIPHASH)
        return tamis_cuda__fail(why, TAMIS_EKEY, "the filter has a secret key, which stays on the "
                                                 "host: pass hashes (tamis_hash_many)");
    if (f->shape.hash != TAMIS_XXH3)
        return tamis_cuda__fail(why, TAMIS_EUNSUPPORTED,
                                "the filter takes only hashes (TAMIS_HASH_CALLER)");
    return TAMIS_OK;
}

static tamis_status check_memory(const struct keys *k, tamis_error *why)
{
    tamis_status s = TAMIS_OK;
    if (k->form == FORM_HASHES) return check_pointer(k->hashes, 16, "hashes", why);
    if (k->form == FORM_OFFSETS32) s = check_pointer(k->offsets32, 4, "offsets32", why);
    if (k->form == FORM_OFFSETS64) s = check_pointer(k->offsets64, 8, "offsets64", why);
    if (s == TAMIS_OK && k->bytes != 0) s = check_pointer(k->data, 1, "data", why);
    return s;
}

tamis_status take_keys(const struct tamis_cuda *f, const tamis_cuda_keys *keys, bool on_device,
                       struct keys *out, tamis_error *why)
{
    tamis_cuda_keys k = {};
    if (keys == NULL) return invalid(why, "the keys must not be NULL");
    if (keys->struct_size != sizeof k) return invalid(why, "struct_size of the keys is wrong");
    k = *keys;
    if (!form_of(&k, out))
        return invalid(why, "keys need exactly one of width, hashes, offsets32 and offsets64");
    out->count = k.count;
    out->bytes = k.bytes;
    out->width = k.width;
    out->data = (const uint8_t *)k.data;
    out->hashes = (const struct hash128 *)(const void *)k.hashes;
    out->offsets32 = k.offsets32;
    out->offsets64 = k.offsets64;
    const tamis_status s = check_hash(f, out, why);
    if (s != TAMIS_OK) return s;
    if (k.width != 0 && k.count > k.bytes / k.width)
        return invalid(why, "the last key ends beyond the data");
    if (k.count > UINT64_C(1) << 60) return invalid(why, "there cannot be so many keys");
    if (k.width != 0 && f->shape.key_width != 0 && k.width != f->shape.key_width)
        return tamis_cuda__fail(why, TAMIS_EINVAL, "the filter has keys of %u bytes, not %llu",
                                f->shape.key_width, (unsigned long long)k.width);
    if (k.bytes != 0 && k.data == NULL && out->form != FORM_HASHES)
        return invalid(why, "data must not be NULL");
    return on_device && k.count != 0 ? check_memory(out, why) : TAMIS_OK;
}

/* --- Offsets ---------------------------------------------------------------------------------- */

template <typename Offset>
__global__ void find_bad_offsets(const Offset *offsets, uint64_t n, uint64_t bytes, uint32_t width,
                                 unsigned long long *found)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step) {
        const int64_t at = offsets[i], next = offsets[i + 1];
        if (next < at) atomicMin(found, (unsigned long long)i);
        else if (at < 0 || (uint64_t)next > bytes) atomicMin(found + 1, (unsigned long long)i);
        else if (width != 0 && next - at != width) atomicMin(found + 2, (unsigned long long)i);
    }
}

tamis_status bad_offsets(const uint64_t found[REPORT_WORDS], uint32_t width, tamis_error *why)
{
    if (found[0] != UINT64_MAX)
        return tamis_cuda__fail(why, TAMIS_EINVAL, "offset %llu is below the one before it",
                                (unsigned long long)found[0] + 1);
    if (found[1] != UINT64_MAX)
        return tamis_cuda__fail(why, TAMIS_EINVAL,
                                "key %llu begins before the data or ends beyond it",
                                (unsigned long long)found[1]);
    if (found[2] != UINT64_MAX)
        return tamis_cuda__fail(why, TAMIS_EINVAL, "key %llu does not have %u bytes",
                                (unsigned long long)found[2], width);
    return TAMIS_OK;
}

tamis_status check_offsets(struct tamis_cuda *f, const struct keys *keys, cudaStream_t stream,
                           tamis_error *why)
{
    uint64_t found[REPORT_WORDS];
    const uint64_t n = keys->count;
    const unsigned blocks = (unsigned)f->multiprocessors * 16;
    unsigned long long *report = (unsigned long long *)f->report;
    if (n == 0 || (keys->form != FORM_OFFSETS32 && keys->form != FORM_OFFSETS64)) return TAMIS_OK;
    cudaError_t e = cudaMemsetAsync(report, 0xff, sizeof found, stream);
    if (e == cudaSuccess) {
        if (keys->form == FORM_OFFSETS32)
            find_bad_offsets<<<blocks, 256, 0, stream>>>(keys->offsets32, n, keys->bytes,
                                                         f->shape.key_width, report);
        else
            find_bad_offsets<<<blocks, 256, 0, stream>>>(keys->offsets64, n, keys->bytes,
                                                         f->shape.key_width, report);
        e = cudaGetLastError();
    }
    if (e == cudaSuccess)
        e = cudaMemcpyAsync(found, report, sizeof found, cudaMemcpyDeviceToHost, stream);
    if (e == cudaSuccess) e = cudaStreamSynchronize(stream);
    const tamis_status s = cuda_failed(f, e, "the offsets could not be checked", why);
    return s == TAMIS_OK ? bad_offsets(found, f->shape.key_width, why) : s;
}
