/* The handle of a device filter, and what its files share. */
#ifndef TAMIS_CUDA_FILTER_H
#define TAMIS_CUDA_FILTER_H

#include "image.h"
#include "tuning.h"

#include <cuda_runtime_api.h>
#include <tamis/cuda.h>

struct tamis_cuda {
    struct shape shape;
    struct table table; /* with pointers */
    int device;
    int multiprocessors;
    uint64_t cache; /* bytes of the device's L2 */
    struct tuning tuning;
    uint64_t scratch_bytes;
    void *scratch;          /* of scratch_bytes, or NULL */
    uint64_t *report;       /* device memory: the first rows that a check of offsets found */
    struct host_pipe *pipe; /* buffers of the calls for memory of the host, or NULL */
    tamis_error broken;     /* status 0: the filter is usable */
};

#define REPORT_WORDS 3 /* decreasing, outside the data, wrong length */

/* Reports an error of CUDA as TAMIS_EIO; if f is not NULL, it is unusable from then on. */
tamis_status cuda_failed(struct tamis_cuda *f, cudaError_t error, const char *what,
                         tamis_error *why);
/* TAMIS_OK if f is usable and on the current device. */
tamis_status check_filter(struct tamis_cuda *f, tamis_error *why);
/* Allocates device memory; fails with TAMIS_ENOMEM and the size. */
tamis_status device_alloc(uint64_t bytes, const char *what, void **out, tamis_error *why);
/* Makes sure that there is scratch memory of f->scratch_bytes. */
tamis_status need_scratch(struct tamis_cuda *f, tamis_error *why);

/* Keys whose struct was taken. */
enum form { FORM_WORDS, FORM_HASHES, FORM_FIXED, FORM_OFFSETS32, FORM_OFFSETS64 };
struct keys {
    enum form form;
    uint64_t count, bytes, width;
    const uint8_t *data;
    const struct hash128 *hashes;
    const int32_t *offsets32;
    const int64_t *offsets64;
};
/* Checks keys; on_device: that the device can access them, too. */
tamis_status take_keys(const struct tamis_cuda *f, const tamis_cuda_keys *keys, bool on_device,
                       struct keys *out, tamis_error *why);
/* Checks a pointer to device memory. */
tamis_status check_pointer(const void *p, unsigned alignment, const char *what, tamis_error *why);
/* Checks the offsets on the device, and waits. Does nothing for keys without offsets. */
tamis_status check_offsets(struct tamis_cuda *f, const struct keys *keys, cudaStream_t stream,
                           tamis_error *why);
/* The reason why offsets are invalid, from what a check found: UINT64_MAX, or the first row. */
tamis_status bad_offsets(const uint64_t found[REPORT_WORDS], uint32_t width, tamis_error *why);

/* TAMIS_OK if keys can be added to f. */
tamis_status tamis_cuda__may_add(const struct tamis_cuda *f, tamis_error *why);

/* Start the kernels, for keys that were checked. */
tamis_status start_add(struct tamis_cuda *f, const struct keys *keys, cudaStream_t stream,
                       tamis_error *why);
tamis_status start_query(struct tamis_cuda *f, const struct keys *keys, uint8_t *bits,
                         cudaStream_t stream, tamis_error *why);
void start_ribbon(const struct tamis_cuda *f, const struct keys *keys, uint32_t *bits,
                  cudaStream_t stream);

void pipe_close(struct host_pipe *p);

#endif
