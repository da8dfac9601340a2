/* Making, moving and freeing device filters, and the checks that all calls share. */
#include "filter.h"

#include <stdlib.h>
#include <tamis/embed.h>
#include <tamis/inspect.h>

#define LEAST_SCRATCH (UINT64_C(1) << 20)
#define USUAL_SCRATCH (UINT64_C(2) << 30)

/* --- Errors ----------------------------------------------------------------------------------- */

tamis_status cuda_failed(struct tamis_cuda *f, cudaError_t error, const char *what,
                         tamis_error *why)
{
    tamis_error unused;
    if (error == cudaSuccess) return TAMIS_OK;
    if (why == NULL) why = &unused;
    tamis_cuda__fail(why, TAMIS_EIO, "%s: %s", what, cudaGetErrorString(error));
    if (f != NULL) f->broken = *why;
    else (void)cudaGetLastError(); /* it is not that of a later call with some filter */
    return TAMIS_EIO;
}

static tamis_status bad(tamis_error *why, const char *reason)
{
    return tamis_cuda__fail(why, TAMIS_EINVAL, "%s", reason);
}

tamis_status check_filter(struct tamis_cuda *f, tamis_error *why)
{
    int device;
    if (f == NULL) return bad(why, "the filter must not be NULL");
    if (f->broken.status != TAMIS_OK) {
        if (why != NULL) *why = f->broken;
        return f->broken.status;
    }
    const tamis_status s =
        cuda_failed(f, cudaGetDevice(&device), "the current device is unknown", why);
    if (s != TAMIS_OK) return s;
    if (device != f->device)
        return tamis_cuda__fail(why, TAMIS_EINVAL,
                                "the filter is on device %d, and the current one is %d", f->device,
                                device);
    return cuda_failed(f, cudaPeekAtLastError(), "the device reported an error before this call",
                       why);
}

/* Does nothing; whether it can be started shows whether the library has code for the device. */
__global__ void nothing(void)
{
}

bool tamis_cuda_available(tamis_error *why)
{
    int devices = 0;
    cudaFuncAttributes code;
    cudaError_t e = cudaGetDeviceCount(&devices);
    if (e == cudaSuccess && devices == 0) e = cudaErrorNoDevice;
    if (e == cudaSuccess) e = cudaFree(NULL); /* connects to the device */
    if (e == cudaSuccess) e = cudaFuncGetAttributes(&code, nothing);
    if (e == cudaSuccess) return true;
    (void)cuda_failed(NULL, e, "no CUDA device can be used", why);
    if (why != NULL) why->status = TAMIS_EUNSUPPORTED;
    return false;
}

tamis_status device_alloc(uint64_t bytes, const char *what, void **out, tamis_error *why)
{
    size_t available = 0, all = 0;
    *out = NULL;
    /* What cannot fit is refused here, so that tools which watch for failed calls see none. */
    cudaError_t e = cudaMemGetInfo(&available, &all);
    if (e == cudaSuccess && bytes <= available) e = cudaMalloc(out, bytes);
    else if (e == cudaSuccess) e = cudaErrorMemoryAllocation;
    if (e == cudaSuccess) return TAMIS_OK;
    *out = NULL;
    if (e != cudaErrorMemoryAllocation) return cuda_failed(NULL, e, "no device memory", why);
    (void)cudaGetLastError();
    return tamis_cuda__fail(why, TAMIS_ENOMEM,
                            "%s needs %llu bytes of device memory, and %llu of %llu are free", what,
                            (unsigned long long)bytes, (unsigned long long)available,
                            (unsigned long long)all);
}

tamis_status need_scratch(struct tamis_cuda *f, tamis_error *why)
{
    if (f->scratch != NULL) return TAMIS_OK;
    return device_alloc(f->scratch_bytes, "scratch", &f->scratch, why);
}

/* --- Making ----------------------------------------------------------------------------------- */

/* These were measured on an H200 by `bench-cuda --sweep`. */
struct tuning tamis_cuda__tuning(void)
{
    const struct tuning usual = {256, 8, 4, 256, 0, 0};
    return usual;
}

void tamis_cuda__tune(struct tamis_cuda *f, const struct tuning *tuning)
{
    f->tuning = *tuning;
}

/* Takes a struct that may be shorter or longer than ours. */
static bool take_struct(void *own, size_t size, const void *theirs, tamis_error *why)
{
    size_t given;
    memset(own, 0, size);
    if (theirs == NULL) return true;
    memcpy(&given, theirs, sizeof given);
    if (given < sizeof given || given > 4096 || given % sizeof given != 0)
        return bad(why, "struct_size is wrong"), false;
    for (size_t i = size; i < given; i++)
        if (((const uint8_t *)theirs)[i] != 0)
            return bad(why, "a field that this version lacks is not zero"), false;
    memcpy(own, theirs, given < size ? given : size);
    return true;
}

static tamis_status start_filter(const tamis_cuda_options *options, tamis_cuda **out,
                                 tamis_error *why)
{
    tamis_cuda_options o;
    int cache = 0;
    if (!take_struct(&o, sizeof o, options, why)) return TAMIS_EINVAL;
    if (o.scratch_bytes != 0 && o.scratch_bytes < LEAST_SCRATCH)
        return bad(why, "scratch_bytes must be at least 1 MiB");
    if (!tamis_cuda_available(why)) return TAMIS_EUNSUPPORTED;
    struct tamis_cuda *f = (struct tamis_cuda *)calloc(1, sizeof *f);
    if (f == NULL) return tamis_cuda__fail(why, TAMIS_ENOMEM, "not enough memory for a handle");
    f->scratch_bytes = o.scratch_bytes != 0 ? o.scratch_bytes : USUAL_SCRATCH;
    f->tuning = tamis_cuda__tuning();
    cudaError_t e = cudaGetDevice(&f->device);
    if (e == cudaSuccess)
        e = cudaDeviceGetAttribute(&f->multiprocessors, cudaDevAttrMultiProcessorCount, f->device);
    if (e == cudaSuccess) e = cudaDeviceGetAttribute(&cache, cudaDevAttrL2CacheSize, f->device);
    f->cache = (uint64_t)cache;
    tamis_status s = cuda_failed(NULL, e, "the device does not describe itself", why);
    if (s == TAMIS_OK)
        s = device_alloc(REPORT_WORDS * sizeof *f->report, "a filter", (void **)&f->report, why);
    if (s == TAMIS_OK) *out = f;
    else free(f);
    return s;
}

static tamis_status need_cells(struct tamis_cuda *f, tamis_error *why)
{
    void *cells;
    /* Kernels read 16 bytes at a time. A ribbon's place is counted in 2^32 such units. */
    const uint64_t bytes = (f->shape.table.bytes + 15) / 16 * 16;
    if (f->shape.table.kind == TAMIS_RIBBON && bytes > UINT64_C(1) << 36)
        return tamis_cuda__fail(why, TAMIS_EUNSUPPORTED, "a device takes ribbons up to 64 GiB");
    const tamis_status s = device_alloc(bytes, "the filter", &cells, why);
    if (s != TAMIS_OK) return s;
    f->table = f->shape.table;
    tamis_cuda__place(&f->table, cells);
    return TAMIS_OK;
}

tamis_status tamis_cuda_create(const tamis_plan *plan, const tamis_cuda_options *options,
                               tamis_cuda **out, tamis_error *why)
{
    if (out == NULL) return bad(why, "out must not be NULL");
    *out = NULL;
    tamis_plan p;
    if (plan == NULL) return bad(why, "the plan must not be NULL");
    if (!take_struct(&p, sizeof p, plan, why)) return TAMIS_EINVAL;
    p.struct_size = sizeof p;
    if (p.kind != TAMIS_BLOCKED || (p.flags & TAMIS_COMPACT) != 0) {
        tamis_cuda__fail(why, TAMIS_EUNSUPPORTED, "a device makes only blocked filters");
        if (why != NULL) why->better_kind = TAMIS_BLOCKED;
        return TAMIS_EUNSUPPORTED;
    }
    if ((p.flags & TAMIS_STRICT) != 0)
        return tamis_cuda__fail(why, TAMIS_EUNSUPPORTED, "a strict filter counts its items, which "
                                                         "a device does not");
    tamis_status s = tamis_solve(&p, NULL, why);
    struct tamis_cuda *f = NULL;
    if (s == TAMIS_OK) s = start_filter(options, &f, why);
    if (s != TAMIS_OK) return s;
    f->shape.plan = p;
    f->shape.hash = (p.flags & TAMIS_HASH_CALLER) != 0 ? TAMIS_CALLER_HASH : TAMIS_XXH3;
    f->shape.key_width = tamis_cuda__key_width(&p);
    f->shape.table.kind = TAMIS_BLOCKED;
    f->shape.table.lines = p.m / 512;
    f->shape.table.bytes = p.m / 8;
    s = p.m / 512 > UINT64_C(1) << 32
            ? tamis_cuda__fail(why, TAMIS_EUNSUPPORTED,
                               "a device takes at most 2^32 lines of 64 bytes")
            : need_cells(f, why);
    if (s == TAMIS_OK)
        s = cuda_failed(NULL, cudaMemset(f->table.cells, 0, f->table.bytes),
                        "the cells could not be cleared", why);
    if (s == TAMIS_OK)
        s = cuda_failed(NULL, cudaDeviceSynchronize(), "the cells could not be cleared", why);
    if (s == TAMIS_OK) *out = f;
    else tamis_cuda_close(f);
    return s;
}

/* --- Upload and download ---------------------------------------------------------------------- */

/* Takes an image piece by piece: first what describes it, then the cells. */
struct upload {
    struct tamis_cuda *f;
    tamis_error *why;
    uint64_t at;  /* bytes taken so far */
    size_t wanted; /* of metadata */
    uint8_t metadata[SHAPE_METADATA];
};

static tamis_status begin_cells(struct upload *u)
{
    const tamis_status s = tamis_cuda__shape(u->metadata, u->wanted, &u->f->shape, u->why);
    return s == TAMIS_OK ? need_cells(u->f, u->why) : s;
}

static tamis_status put(void *ctx, const void *bytes, size_t n)
{
    struct upload *u = (struct upload *)ctx;
    const uint8_t *p = (const uint8_t *)bytes;
    if (u->at < u->wanted) {
        const size_t room = (size_t)(u->wanted - u->at), some = n < room ? n : room;
        memcpy(u->metadata + u->at, p, some);
        if (u->at + some == u->wanted) {
            const tamis_status s = begin_cells(u);
            if (s != TAMIS_OK) return s;
            /* A small image has cells among these bytes. */
            const uint64_t first = u->f->shape.first;
            if (first < u->wanted) {
                const cudaError_t e = cudaMemcpy(u->f->table.cells, u->metadata + first,
                                                 u->wanted - first, cudaMemcpyHostToDevice);
                if (e != cudaSuccess)
                    return cuda_failed(NULL, e, "the cells could not be copied", u->why);
            }
        }
        u->at += some;
        p += some;
        n -= some;
    }
    const uint64_t first = u->f->shape.first;
    if (n > 0 && u->at < first) { /* the sums and what fills up the metadata */
        const uint64_t room = first - u->at, some = n < room ? n : room;
        u->at += some;
        p += some;
        n -= (size_t)some;
    }
    if (n == 0) return TAMIS_OK;
    const cudaError_t e = cudaMemcpy((uint8_t *)u->f->table.cells + (u->at - first), p, n,
                                     cudaMemcpyHostToDevice);
    u->at += n;
    return cuda_failed(NULL, e, "the cells could not be copied", u->why);
}

tamis_status tamis_cuda_upload(const tamis *t, const tamis_cuda_options *options, tamis_cuda **out,
                               tamis_error *why)
{
    if (out == NULL) return bad(why, "out must not be NULL");
    *out = NULL;
    if (t == NULL) return bad(why, "the filter must not be NULL");
    struct upload u = {};
    const uint64_t size = tamis_image_size(t);
    tamis_error own = {};
    u.wanted = size < SHAPE_METADATA ? (size_t)size : SHAPE_METADATA;
    u.why = &own;
    tamis_status s = start_filter(options, &u.f, why);
    if (s != TAMIS_OK) return s;
    s = tamis_write(t, put, &u, why);
    if (s != TAMIS_OK && own.status != TAMIS_OK && why != NULL) *why = own;
    /* A copy returns when its bytes are on their way, and other streams do not wait for it. */
    if (s == TAMIS_OK)
        s = cuda_failed(NULL, cudaDeviceSynchronize(), "the cells could not be copied", why);
    if (s == TAMIS_OK) *out = u.f;
    else tamis_cuda_close(u.f);
    return s;
}

/* Makes a handle of cells: an empty one of the same shape, merged with a view of them. */
static tamis_status handle_of(const struct tamis_cuda *f, const void *cells,
                              const tamis_options *options, tamis **out, tamis_error *why)
{
    tamis_plan p = f->shape.plan;
    tamis *view = NULL, *t = NULL;
    p.fpr = 0; /* that of items and m, as the planner computes it again */
    p.bytes = 0;
    p.k = 0;
    tamis_status s = tamis_solve(&p, NULL, why);
    if (s == TAMIS_OK) s = tamis_create(&p, options, &t, why);
    if (s != TAMIS_OK) return s;
    tamis_options viewing = TAMIS_OPTIONS_INIT;
    if (options != NULL) {
        viewing.key = options->key;
        viewing.shared_key = options->shared_key;
    }
    s = tamis_view_cells(&p, cells, (size_t)f->table.bytes, &viewing, &view, why);
    if (s == TAMIS_OK) s = tamis_merge(t, view, why);
    tamis_close(view);
    if (s == TAMIS_OK) *out = t;
    else tamis_close(t);
    return s;
}

/* Whether the options have the key that the filter was made with. */
static tamis_status check_key(const struct tamis_cuda *f, const tamis *t, tamis_error *why)
{
    tamis_facts facts = TAMIS_FACTS_INIT;
    const tamis_status s = tamis_stat(t, &facts);
    if (s != TAMIS_OK) return s;
    if (memcmp(facts.key_id, f->shape.key_id, sizeof facts.key_id) == 0) return TAMIS_OK;
    return tamis_cuda__fail(why, TAMIS_EKEY, "the secret key is missing or wrong");
}

tamis_status tamis_cuda_download(tamis_cuda *f, const tamis_options *options, tamis **out,
                                 tamis_error *why)
{
    if (out == NULL) return bad(why, "out must not be NULL");
    *out = NULL;
    tamis_status s = check_filter(f, why);
    if (s != TAMIS_OK) return s;
    if (f->shape.sealed)
        return tamis_cuda__fail(why, TAMIS_ESEALED,
                                "a sealed filter does not change: its handle still has it");
    void *cells = NULL;
    if (f->table.bytes > SIZE_MAX || (cells = malloc((size_t)f->table.bytes)) == NULL)
        return tamis_cuda__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes of cells",
                                (unsigned long long)f->table.bytes);
    cudaError_t e = cudaDeviceSynchronize();
    if (e == cudaSuccess)
        e = cudaMemcpy(cells, f->table.cells, f->table.bytes, cudaMemcpyDeviceToHost);
    s = cuda_failed(f, e, "the cells could not be copied", why);
    if (s == TAMIS_OK) s = handle_of(f, cells, options, out, why);
    free(cells);
    if (s == TAMIS_OK) s = check_key(f, *out, why);
    if (s != TAMIS_OK) {
        tamis_close(*out);
        *out = NULL;
    }
    return s;
}

void tamis_cuda_close(tamis_cuda *f)
{
    int current;
    if (f == NULL) return;
    const bool other = cudaGetDevice(&current) == cudaSuccess && current != f->device;
    if (other) (void)cudaSetDevice(f->device);
    (void)cudaDeviceSynchronize();
    pipe_close(f->pipe);
    (void)cudaFree(f->table.cells);
    (void)cudaFree(f->scratch);
    (void)cudaFree(f->report);
    if (other) (void)cudaSetDevice(current);
    free(f);
}

tamis_status tamis_cuda_wait(tamis_cuda *f, void *stream, tamis_error *why)
{
    const tamis_status s = check_filter(f, why);
    if (s != TAMIS_OK) return s;
    return cuda_failed(f, cudaStreamSynchronize((cudaStream_t)stream),
                       "the work on the device failed", why);
}

const void *tamis_cuda_cells(const tamis_cuda *f, uint64_t *bytes)
{
    const bool one = f != NULL && f->shape.plan.kind != TAMIS_RIBBON;
    if (bytes != NULL) *bytes = one ? f->table.bytes : 0;
    return one ? f->table.cells : NULL;
}

/* --- Memory for callers ----------------------------------------------------------------------- */

tamis_status tamis_cuda_alloc(uint64_t bytes, void **out, tamis_error *why)
{
    if (out == NULL) return bad(why, "out must not be NULL");
    *out = NULL;
    if (!tamis_cuda_available(why)) return TAMIS_EUNSUPPORTED;
    return device_alloc(bytes != 0 ? bytes : 1, "an array", out, why);
}

void tamis_cuda_free(void *p)
{
    (void)cudaFree(p);
}

tamis_status tamis_cuda_copy(void *to, const void *from, uint64_t bytes, tamis_error *why)
{
    if (bytes == 0) return TAMIS_OK;
    if (to == NULL || from == NULL) return bad(why, "a copy needs two addresses");
    /* Depending on the two memories, a copy returns before its bytes have arrived. */
    cudaError_t e = cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
    if (e == cudaSuccess) e = cudaStreamSynchronize(NULL);
    return cuda_failed(NULL, e, "the copy failed", why);
}
