/* Stands for libtamis-cuda where there is no GPU: the same functions, in memory of the host. */
#include <stdlib.h>
#include <string.h>
#include <tamis/cuda.h>

struct tamis_cuda {
    tamis *t;
};
TAMIS_API size_t fake_sizes[2] = {sizeof(tamis_error), sizeof(tamis_cuda_keys)};
TAMIS_API const void *fake_stream; /* of the last query */
TAMIS_API unsigned fake_blocks;    /* of memory that are not freed */

static tamis_status fail(tamis_error *why, tamis_status s, const char *reason)
{
    memset(why, 0, sizeof *why);
    why->status = s;
    strcpy(why->text, reason);
    return s;
}

tamis_status tamis_cuda_upload(const tamis *t, const tamis_cuda_options *options, tamis_cuda **out,
                               tamis_error *why)
{
    (void)options;
    *out = calloc(1, sizeof **out);
    fake_blocks++;
    return tamis_copy(t, &(*out)->t, why);
}

tamis_status tamis_cuda_download(tamis_cuda *f, const tamis_options *options, tamis **out,
                                 tamis_error *why)
{
    (void)options;
    return tamis_copy(f->t, out, why);
}

void tamis_cuda_close(tamis_cuda *f)
{
    tamis_close(f->t);
    free(f);
    fake_blocks--;
}

tamis_status tamis_cuda_wait(tamis_cuda *f, void *stream, tamis_error *why)
{
    (void)f, (void)stream, (void)why;
    return TAMIS_OK;
}

static tamis_status check(const tamis_cuda_keys *k, void *stream, tamis_error *why)
{
    fake_stream = stream;
    if (k->struct_size != sizeof *k || k->width != 8 || k->bytes != 8 * k->count ||
        k->hashes != NULL || k->offsets32 != NULL || k->offsets64 != NULL)
        return fail(why, TAMIS_EINVAL, "the struct of keys is wrong");
    if (k->count == 13) return fail(why, TAMIS_EIO, "the device failed");
    return k->count == 14 ? fail(why, TAMIS_ENOMEM, "no device memory") : TAMIS_OK;
}

tamis_status tamis_cuda_add(tamis_cuda *f, const tamis_cuda_keys *k, void *stream, tamis_error *why)
{
    const tamis_status s = check(k, stream, why);
    for (uint64_t i = 0; s == TAMIS_OK && i < k->count; i++)
        if (tamis_add(f->t, (const char *)k->data + 8 * i, 8, NULL) != TAMIS_OK)
            return fail(why, TAMIS_ESEALED, "the filter is sealed");
    return s;
}

tamis_status tamis_cuda_query(tamis_cuda *f, const tamis_cuda_keys *k, uint8_t *bits, void *stream,
                              tamis_error *why)
{
    const tamis_status s = check(k, stream, why);
    if (s != TAMIS_OK) return s;
    memset(bits, 0, (k->count + 7) / 8);
    for (uint64_t i = 0; i < k->count; i++)
        bits[i / 8] |= tamis_may_contain(f->t, (const char *)k->data + 8 * i, 8) << i % 8;
    return TAMIS_OK;
}

tamis_status tamis_cuda_expand(tamis_cuda *f, const uint8_t *bits, uint64_t count, uint8_t *mask,
                               void *stream, tamis_error *why)
{
    (void)f, (void)stream, (void)why;
    for (uint64_t i = 0; i < count; i++) mask[i] = bits[i / 8] >> i % 8 & 1;
    return TAMIS_OK;
}

tamis_status tamis_cuda_alloc(uint64_t bytes, void **out, tamis_error *why)
{
    (void)why;
    *out = malloc(bytes);
    fake_blocks++;
    return TAMIS_OK;
}

void tamis_cuda_free(void *p)
{
    free(p);
    fake_blocks--;
}

tamis_status tamis_cuda_copy(void *to, const void *from, uint64_t bytes, tamis_error *why)
{
    (void)why;
    memcpy(to, from, bytes);
    return TAMIS_OK;
}
