/* Filters on an NVIDIA GPU: the same filters, with the same bytes.
 *
 * A device filter is a filter whose cells are in the memory of a device. It is made from a plan, or
 * from a handle, and can become a handle again. docs/GPU.md has the time that a key takes.
 *
 *     tamis_error why;
 *     if (!tamis_cuda_available(&why)) ...                        // why.text has the reason
 *     tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = 100000000,
 *                        .fpr = 0.01};
 *     tamis_cuda *f;
 *     if (tamis_cuda_create(&plan, NULL, &f, &why) != TAMIS_OK) ...
 *     tamis_cuda_keys ids = {.struct_size = sizeof ids, .count = n, .data = device_ids,
 *                            .bytes = 8 * n, .width = 8};
 *     tamis_cuda_add(f, &ids, stream, &why);
 *     tamis_cuda_query(f, &ids, device_bits, stream, &why);       // bit i % 8 of byte i / 8
 *     ...
 *     tamis *t;
 *     if (tamis_cuda_download(f, NULL, &t, &why) == TAMIS_OK) tamis_save(t, "ids.tamis", ...);
 *     tamis_cuda_close(f);
 *
 * Link with -ltamis-cuda -ltamis (pkg-config tamis-cuda). The CUDA runtime is inside the library;
 * only the driver must be installed, and the library can be loaded without it.
 *
 * What a device filter promises:
 *   Bytes    After the same adds, its cells are byte for byte those of a handle with the same plan.
 *            The number of items is not counted on a device. A handle that was downloaded has an
 *            estimate of it, as after tamis_merge.
 *   Answers  They are those of the handle, bit for bit.
 *   Kinds    blocked (to query, add and merge), fuse and ribbon (to query, after tamis_seal). All
 *            others, compact filters, and adds to strict ones fail with TAMIS_EUNSUPPORTED.
 *   Keys     A filter with a secret key takes hashes (tamis_hash_many) but no keys, because the
 *            secret stays in the memory of the host, where it is locked: TAMIS_EKEY. A filter with
 *            TAMIS_HASH_CALLER takes only hashes as well: TAMIS_EUNSUPPORTED. Hashes are not
 *            checked for uniformity (tamis_facts.hash_suspect), and the mark is not kept.
 *
 * These rules hold for all calls:
 *   Device   A filter is on the device that was current when it was made. A call fails with
 *            TAMIS_EINVAL if another device is current; tamis_cuda_close works with any.
 *   Streams  `stream` is a cudaStream_t; NULL is the default stream. Calls that take a stream only
 *            start their work there, unless they say otherwise. The caller keeps the memory of
 *            keys and answers until it has ended. Queries of one filter may run at the same time
 *            on several streams. The caller orders adds, merges and lists, by one stream or by
 *            events, among each other and with queries that should see what was added. One
 *            thread at a time may call with one filter.
 *   Failure  A call that is refused changes nothing. If the device reports an error (TAMIS_EIO),
 *            the filter is unusable, and every later call reports the same reason. An error of work
 *            that was started is reported by a later call or by tamis_cuda_wait.
 *   Memory   If the device has too little, a call fails with TAMIS_ENOMEM, and the reason has the
 *            size that is needed.
 *   Process  Nothing is printed. `why` may be NULL. Structs begin with their size. */
/* clang-format off */
#ifndef TAMIS_CUDA_H
#define TAMIS_CUDA_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tamis_cuda tamis_cuda;

/* Returns whether the current device can be used. If not, fills *why: there is no driver, it is too
 * old, there is no device, or the library has no code for it. */
TAMIS_API bool tamis_cuda_available(tamis_error *why);

typedef struct tamis_cuda_options {
    size_t struct_size;
    uint64_t scratch_bytes; /* device memory for adds to tables that exceed the device's cache, and
                             * for lists. It is allocated when it is first needed. 0:
                             * 2 GiB. Less is never an error, except below 1 MiB (TAMIS_EINVAL), but
                             * with less than 5 bytes for each 64 bytes of the table such adds are
                             * slower */
} tamis_cuda_options;
#define TAMIS_CUDA_OPTIONS_INIT TAMIS_INIT(tamis_cuda_options)

/* Makes an empty filter. The plan is that of tamis_create, with kind TAMIS_BLOCKED. */
TAMIS_API tamis_status tamis_cuda_create(const tamis_plan *plan, const tamis_cuda_options *options,
                                         tamis_cuda **out, tamis_error *why);
/* Copies a filter to the device. t is not changed and not needed afterwards. */
TAMIS_API tamis_status tamis_cuda_upload(const tamis *t, const tamis_cuda_options *options,
                                         tamis_cuda **out, tamis_error *why);
/* Makes a handle with the cells of a blocked filter, after waiting for the device. `options` are
 * those of tamis_create; a filter with a secret key needs its key there (TAMIS_EKEY). Fails with
 * TAMIS_ESEALED if the filter is sealed: it has not changed, so its handle or file still has it. */
TAMIS_API tamis_status tamis_cuda_download(tamis_cuda *f, const tamis_options *options,
                                           tamis **out, tamis_error *why);
/* Waits for the device and frees the filter, which may be NULL. */
TAMIS_API void tamis_cuda_close(tamis_cuda *f);
/* Waits for the stream, and reports an error of the work that was started there. */
TAMIS_API tamis_status tamis_cuda_wait(tamis_cuda *f, void *stream, tamis_error *why);
/* The size of the cells in bytes, and where they are on the device. For a filter of one section;
 * 0 and NULL for ribbons. `bytes` may be NULL. */
TAMIS_API const void *tamis_cuda_cells(const tamis_cuda *f, uint64_t *bytes);

/* Keys. Set one of width, hashes, offsets32 and offsets64. All pointers are to memory that the
 * device can access, or to memory of the host for calls whose name ends in _host. */
typedef struct tamis_cuda_keys {
    size_t struct_size;
    uint64_t count;           /* any number, also above 2^32                                      */
    const void *data;         /* the keys, at any alignment; keys of 8 bytes are fastest if they
                               * are aligned to 8                                                 */
    uint64_t bytes;           /* size of data: nothing beyond the words of 8 bytes that have a byte
                               * of it is read                                                    */
    uint64_t width;           /* every key has this many bytes, without gaps                      */
    const tamis_hash *hashes; /* instead of keys; aligned to 16                                   */
    const int32_t *offsets32; /* key i is at data + offsets[i] and ends before offsets[i + 1];    */
    const int64_t *offsets64; /* there are count + 1 offsets                                      */
} tamis_cuda_keys;
#define TAMIS_CUDA_KEYS_INIT TAMIS_INIT(tamis_cuda_keys)
/* Calls fail with TAMIS_EINVAL if keys are invalid: none or several of the four are set, a pointer
 * is NULL that is needed, misaligned, not accessible to the device or on another one, an offset is
 * negative or below the one before it, a key ends beyond the data, or has a length that the
 * encoding of the filter excludes. Offsets are checked on the device before anything is added or
 * answered, so calls with offsets wait for the stream once. */

/* Adds keys. Fails with TAMIS_ESEALED if the filter is sealed. */
TAMIS_API tamis_status tamis_cuda_add(tamis_cuda *f, const tamis_cuda_keys *keys, void *stream,
                                      tamis_error *why);
/* Queries keys: bit i % 8 of byte i / 8 becomes 1 if key i may be a member. The unused bits of the
 * last byte become 0. `bits` has (count + 7) / 8 bytes and is aligned to 4. */
TAMIS_API tamis_status tamis_cuda_query(tamis_cuda *f, const tamis_cuda_keys *keys, uint8_t *bits,
                                        void *stream, tamis_error *why);
/* Writes a byte, 0 or 1, for each of the first `count` bits of answers of a query of f. */
TAMIS_API tamis_status tamis_cuda_expand(tamis_cuda *f, const uint8_t *bits, uint64_t count,
                                         uint8_t *mask, void *stream, tamis_error *why);
/* Like a query, with a list: writes the numbers of the keys that may be members, in ascending
 * order, and sets *found to how many there are. `selected` has room for count numbers, and is
 * aligned to 4; `found` to 8. Both are in memory of the device. Takes scratch of 5 bytes for 32
 * keys. Also fails with TAMIS_EINVAL if there are more than 2^32 keys. */
TAMIS_API tamis_status tamis_cuda_select(tamis_cuda *f, const tamis_cuda_keys *keys,
                                         uint32_t *selected, uint64_t *found, void *stream,
                                         tamis_error *why);
/* Makes `into` the union of both blocked filters, on one device. Fails with TAMIS_EMISMATCH as
 * tamis_merge does, with TAMIS_EINVAL if both are one, and with TAMIS_ESEALED. */
TAMIS_API tamis_status tamis_cuda_merge(tamis_cuda *into, const tamis_cuda *from, void *stream,
                                        tamis_error *why);

/* The same with keys, bits and lists in memory of the host. Copies and work overlap, in pieces. The
 * calls return when all is done. They are ordered after what was started on the default stream
 * before. Memory that is locked (cudaHostAlloc) is copied without a detour. `bits` has any
 * alignment. After TAMIS_EIO or TAMIS_ENOMEM some keys may have been added. */
TAMIS_API tamis_status tamis_cuda_add_host(tamis_cuda *f, const tamis_cuda_keys *keys,
                                           tamis_error *why);
TAMIS_API tamis_status tamis_cuda_query_host(tamis_cuda *f, const tamis_cuda_keys *keys,
                                             uint8_t *bits, tamis_error *why);

/* Memory of the current device, for programs without the CUDA runtime, such as the Python package.
 * Blocks are aligned to 256. */
TAMIS_API tamis_status tamis_cuda_alloc(uint64_t bytes, void **out, tamis_error *why);
TAMIS_API void tamis_cuda_free(void *p);
/* Copies between memories of host and device, in either direction, and waits. */
TAMIS_API tamis_status tamis_cuda_copy(void *to, const void *from, uint64_t bytes,
                                       tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
