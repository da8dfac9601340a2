/* Keys in memory of the host. They pass two sets of buffers in turn: while the device works on the
 * keys of one, the next ones are copied to the other. Each set has a stream, locked memory of the
 * host, from which the bus copies at full speed, and device memory. Keys in locked memory of the
 * caller are copied from there. */
#include "filter.h"

#include <stdlib.h>

/* Bytes of keys: 0.6 ms of the bus, so that the time to start a piece does not count. */
#define ROOM (UINT64_C(32) << 20)
#define MOST_ROWS (ROOM / 8)

struct lane {
    cudaStream_t stream;
    uint8_t *locked, *device; /* keys */
    int64_t *locked_offsets, *device_offsets;
    uint8_t *locked_bits, *device_bits;
    uint8_t *bits; /* of the caller, for the work that is under way; NULL: none is */
    uint64_t rows;
    bool busy;
};

struct host_pipe {
    struct lane lanes[2];
    cudaEvent_t worked; /* the kernels of the last piece have ended; they share scratch memory */
};

void pipe_close(struct host_pipe *p)
{
    if (p == NULL) return;
    for (int i = 0; i < 2; i++) {
        struct lane *l = &p->lanes[i];
        (void)cudaFreeHost(l->locked);
        (void)cudaFreeHost(l->locked_offsets);
        (void)cudaFreeHost(l->locked_bits);
        (void)cudaFree(l->device);
        (void)cudaFree(l->device_offsets);
        (void)cudaFree(l->device_bits);
        if (l->stream != NULL) (void)cudaStreamDestroy(l->stream);
    }
    if (p->worked != NULL) (void)cudaEventDestroy(p->worked);
    free(p);
}

static cudaError_t lane_open(struct lane *l)
{
    const size_t offsets = (MOST_ROWS + 1) * sizeof *l->locked_offsets, bits = MOST_ROWS / 8;
    cudaError_t e = cudaStreamCreate(&l->stream);
    if (e == cudaSuccess) e = cudaMallocHost((void **)&l->locked, ROOM);
    if (e == cudaSuccess) e = cudaMallocHost((void **)&l->locked_offsets, offsets);
    if (e == cudaSuccess) e = cudaMallocHost((void **)&l->locked_bits, bits);
    if (e == cudaSuccess) e = cudaMalloc((void **)&l->device, ROOM);
    if (e == cudaSuccess) e = cudaMalloc((void **)&l->device_offsets, offsets);
    if (e == cudaSuccess) e = cudaMalloc((void **)&l->device_bits, bits);
    return e;
}

static tamis_status need_pipe(struct tamis_cuda *f, tamis_error *why)
{
    if (f->pipe != NULL) return TAMIS_OK;
    struct host_pipe *p = (struct host_pipe *)calloc(1, sizeof *p);
    if (p == NULL) return tamis_cuda__fail(why, TAMIS_ENOMEM, "not enough memory for buffers");
    cudaError_t e = lane_open(&p->lanes[0]);
    if (e == cudaSuccess) e = lane_open(&p->lanes[1]);
    if (e == cudaSuccess) e = cudaEventCreateWithFlags(&p->worked, cudaEventDisableTiming);
    if (e == cudaSuccess) {
        f->pipe = p;
        return TAMIS_OK;
    }
    pipe_close(p);
    if (e != cudaErrorMemoryAllocation)
        return cuda_failed(f, e, "the buffers could not be made", why);
    (void)cudaGetLastError();
    return tamis_cuda__fail(why, TAMIS_ENOMEM, "buffers need %llu bytes of device memory and as "
                                               "many of locked memory",
                            (unsigned long long)(2 * (ROOM + MOST_ROWS * 8 + MOST_ROWS / 8)));
}

/* Whether the bus can copy from there without a detour. */
static bool is_locked(const void *p)
{
    cudaPointerAttributes a;
    if (cudaPointerGetAttributes(&a, p) == cudaSuccess) return a.type == cudaMemoryTypeHost;
    (void)cudaGetLastError();
    return false;
}

/* --- Keys with offsets ------------------------------------------------------------------------ */

static int64_t offset(const struct keys *k, uint64_t i)
{
    return k->form == FORM_OFFSETS32 ? k->offsets32[i] : k->offsets64[i];
}

static tamis_status check_host_offsets(const struct tamis_cuda *f, const struct keys *k,
                                       tamis_error *why)
{
    uint64_t found[REPORT_WORDS] = {UINT64_MAX, UINT64_MAX, UINT64_MAX};
    const uint32_t width = f->shape.key_width;
    for (uint64_t i = 0; i < k->count; i++) {
        const int64_t at = offset(k, i), next = offset(k, i + 1);
        const int fault = next < at                                ? 0
                          : at < 0 || (uint64_t)next > k->bytes    ? 1
                          : width != 0 && (uint64_t)(next - at) != width ? 2
                                                                   : -1;
        if (fault < 0) continue;
        found[fault] = i;
        return bad_offsets(found, width, why);
    }
    return TAMIS_OK;
}

/* How many of the keys from i on fit in the buffers, a multiple of 8 unless they are the last. */
static uint64_t rows_that_fit(const struct keys *k, uint64_t i)
{
    const uint64_t left = k->count - i;
    uint64_t low = 0, high = left < MOST_ROWS ? left : MOST_ROWS;
    if (k->form != FORM_OFFSETS32 && k->form != FORM_OFFSETS64) {
        const uint64_t width = k->form == FORM_HASHES ? 16 : k->width;
        low = ROOM / width < high ? ROOM / width : high;
    } else {
        while (low < high) {
            const uint64_t middle = high - (high - low) / 2;
            if ((uint64_t)(offset(k, i + middle) - offset(k, i)) <= ROOM) low = middle;
            else high = middle - 1;
        }
    }
    return low == left ? low : low / 8 * 8;
}

/* --- One piece -------------------------------------------------------------------------------- */

static tamis_status finish(struct tamis_cuda *f, struct lane *l, tamis_error *why)
{
    if (!l->busy) return TAMIS_OK;
    l->busy = false;
    const tamis_status s = cuda_failed(f, cudaStreamSynchronize(l->stream),
                                       "the work on the device failed", why);
    if (s == TAMIS_OK && l->bits != NULL) memcpy(l->bits, l->locked_bits, (l->rows + 7) / 8);
    return s;
}

static cudaError_t copy_in(struct lane *l, const void *from, uint64_t n, bool locked)
{
    if (n == 0) return cudaSuccess;
    if (!locked) from = memcpy(l->locked, from, n);
    return cudaMemcpyAsync(l->device, from, n, cudaMemcpyHostToDevice, l->stream);
}

/* Keys that are too long for the buffers are hashed here. */
static cudaError_t hash_in(const struct tamis_cuda *f, struct lane *l, const struct keys *k,
                           uint64_t at, uint64_t rows)
{
    tamis_hash *out = (tamis_hash *)(void *)l->locked;
    for (uint64_t i = 0; i < rows; i++) {
        const uint64_t begin = k->width != 0 ? (at + i) * k->width : (uint64_t)offset(k, at + i);
        const uint64_t n =
            k->width != 0 ? k->width : (uint64_t)offset(k, at + i + 1) - begin;
        out[i] = tamis_hash_bytes(f->shape.plan.seed, k->data + begin, (size_t)n);
    }
    return copy_in(l, out, rows * sizeof *out, true);
}

/* Copies rows to the device, and describes them there. */
static cudaError_t move_in(struct lane *l, const struct keys *k, uint64_t at, uint64_t rows,
                           bool locked, struct keys *there)
{
    *there = *k;
    there->count = rows;
    there->data = l->device;
    if (rows == 0) return cudaSuccess;
    if (k->form == FORM_HASHES) {
        there->hashes = (const struct hash128 *)(const void *)l->device;
        return copy_in(l, k->hashes + at, rows * sizeof *k->hashes, locked);
    }
    if (k->width != 0) {
        there->bytes = rows * k->width;
        if (k->width == 8) there->form = FORM_WORDS;
        return copy_in(l, k->data + at * k->width, there->bytes, locked);
    }
    const int64_t first = offset(k, at);
    for (uint64_t i = 0; i <= rows; i++) l->locked_offsets[i] = offset(k, at + i) - first;
    there->form = FORM_OFFSETS64;
    there->offsets64 = l->device_offsets;
    there->bytes = (uint64_t)l->locked_offsets[rows];
    const cudaError_t e =
        cudaMemcpyAsync(l->device_offsets, l->locked_offsets, (rows + 1) * sizeof(int64_t),
                        cudaMemcpyHostToDevice, l->stream);
    return e == cudaSuccess ? copy_in(l, k->data + first, there->bytes, locked) : e;
}

static tamis_status run_piece(struct tamis_cuda *f, struct lane *l, const struct keys *k,
                              uint64_t at, uint64_t rows, bool locked, uint8_t *bits,
                              tamis_error *why)
{
    struct keys there;
    tamis_status s = finish(f, l, why);
    if (s != TAMIS_OK) return s;
    cudaError_t e;
    if (rows != 0) {
        e = move_in(l, k, at, rows, locked, &there);
    } else {
        rows = k->count - at < 8 ? k->count - at : 8;
        e = hash_in(f, l, k, at, rows);
        there = *k;
        there.form = FORM_HASHES;
        there.count = rows;
        there.hashes = (const struct hash128 *)(const void *)l->device;
    }
    s = cuda_failed(f, e, "keys could not be copied to the device", why);
    if (s != TAMIS_OK) return s;
    l->busy = true;
    l->rows = rows;
    l->bits = bits != NULL ? bits + at / 8 : NULL;
    e = cudaStreamWaitEvent(l->stream, f->pipe->worked, 0);
    s = cuda_failed(f, e, "a piece could not wait for the one before", why);
    if (s == TAMIS_OK)
        s = bits == NULL ? start_add(f, &there, l->stream, why)
                         : start_query(f, &there, l->device_bits, l->stream, why);
    if (s != TAMIS_OK) return s;
    e = cudaEventRecord(f->pipe->worked, l->stream);
    if (e != cudaSuccess || bits == NULL)
        return cuda_failed(f, e, "a piece could not be followed", why);
    e = cudaMemcpyAsync(l->locked_bits, l->device_bits, (rows + 7) / 8, cudaMemcpyDeviceToHost,
                        l->stream);
    return cuda_failed(f, e, "answers could not be copied from the device", why);
}

static tamis_status run_host(struct tamis_cuda *f, const struct keys *k, uint8_t *bits,
                             tamis_error *why)
{
    const void *from = k->form == FORM_HASHES ? (const void *)k->hashes : k->data;
    const bool locked = is_locked(from);
    uint64_t at = 0;
    tamis_status s = need_pipe(f, why);
    if (s != TAMIS_OK || k->count == 0) return s;
    for (int turn = 0; at < k->count && s == TAMIS_OK; turn = 1 - turn) {
        struct lane *l = &f->pipe->lanes[turn];
        const uint64_t rows = rows_that_fit(k, at);
        s = run_piece(f, l, k, at, rows, locked, bits, why);
        at += rows != 0 ? rows : k->count - at < 8 ? k->count - at : 8;
    }
    for (int i = 0; i < 2; i++) { /* also after a failure, so that no buffer is in use */
        const tamis_status last = finish(f, &f->pipe->lanes[i], s == TAMIS_OK ? why : NULL);
        if (s == TAMIS_OK) s = last;
    }
    return s;
}

static tamis_status take_host_keys(struct tamis_cuda *f, const tamis_cuda_keys *keys,
                                   struct keys *k, tamis_error *why)
{
    tamis_status s = check_filter(f, why);
    if (s == TAMIS_OK) s = take_keys(f, keys, false, k, why);
    if (s == TAMIS_OK && (k->form == FORM_OFFSETS32 || k->form == FORM_OFFSETS64))
        s = check_host_offsets(f, k, why);
    return s;
}

tamis_status tamis_cuda_add_host(tamis_cuda *f, const tamis_cuda_keys *keys, tamis_error *why)
{
    struct keys k;
    tamis_status s = check_filter(f, why);
    if (s == TAMIS_OK) s = tamis_cuda__may_add(f, why);
    if (s == TAMIS_OK) s = take_host_keys(f, keys, &k, why);
    return s == TAMIS_OK ? run_host(f, &k, NULL, why) : s;
}

tamis_status tamis_cuda_query_host(tamis_cuda *f, const tamis_cuda_keys *keys, uint8_t *bits,
                                   tamis_error *why)
{
    struct keys k;
    const tamis_status s = take_host_keys(f, keys, &k, why);
    if (s != TAMIS_OK) return s;
    if (bits == NULL && k.count != 0)
        return tamis_cuda__fail(why, TAMIS_EINVAL, "bits must not be NULL");
    return run_host(f, &k, bits, why);
}
