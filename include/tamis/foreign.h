/* Filters of other programs: query them as they are, make them from keys, and move them from one
 * container to another.
 *
 *     tamis_foreign *f;
 *     if (tamis_foreign_open(bytes, size, TAMIS_FOREIGN_AUTO, NULL, &f, NULL) != TAMIS_OK) ...
 *     if (!tamis_foreign_may_contain(f, "example.org", 11)) ...     // certainly not a member
 *     tamis_foreign_close(f);
 *
 * Each format has its own hash and its own rule for the places of a key's bits. A filter can
 * therefore not be converted to another program's format or to a Tamis image; that requires the
 * keys. Only the container can be changed (the two formats of RedisBloom), and the bits stay as
 * they are.
 *
 * A key is a string of bytes here, too. The program that made the filter has chosen which bytes
 * represent a number or a text. The files do not record it, and a wrong guess gives a wrong "no":
 *   Parquet      strings without their length; numbers as 4 or 8 bytes, little-endian
 *   Guava        depends on the funnel. stringFunnel(UTF_8): UTF-8; unencodedCharsFunnel: UTF-16;
 *                longFunnel: 8 bytes; integerFunnel: 4 bytes; all little-endian
 *   DCSO, Redis  the bytes that were added
 *
 * Damage to the bits of a filter cannot be detected, because no format has a checksum except the
 * payload of Redis' DUMP. The rules at the top of tamis.h hold here, too; a tamis_foreign and a
 * tamis_parquet are handles. */
/* clang-format off */
#ifndef TAMIS_FOREIGN_H
#define TAMIS_FOREIGN_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_foreign_format {
    TAMIS_FOREIGN_AUTO = 0,       /* detect the format from the content; guava cannot be detected */
    TAMIS_FOREIGN_PARQUET = 1,    /* one split-block filter with its header, as in a Parquet file;
                                   * for whole files see tamis_parquet_open                       */
    TAMIS_FOREIGN_DCSO = 2,       /* DCSO bloom and its family, version 1; not gzipped            */
    TAMIS_FOREIGN_REDISBLOOM = 3, /* the data of all chunks of BF.SCANDUMP, concatenated          */
    TAMIS_FOREIGN_REDIS_DUMP = 4, /* the same filter as DUMP returns it and RESTORE accepts it    */
    TAMIS_FOREIGN_GUAVA = 5       /* BloomFilter.writeTo                                          */
} tamis_foreign_format;

/* Returns "parquet", "dcso", "redisbloom", "redisbloom-dump" or "guava"; NULL for other numbers. */
TAMIS_API const char *tamis_foreign_name(uint32_t format);
/* Returns the format that has this name, or TAMIS_FOREIGN_AUTO if none has. */
TAMIS_API uint32_t tamis_foreign_named(const char *name);

typedef struct tamis_foreign tamis_foreign;

/* Opens a filter in memory, read-only. The bytes are not copied, unless a DUMP is compressed, and
 * must stay unchanged until close. Hostile bytes are safe: everything that later calls rely on is
 * validated here, and no memory is allocated that the size does not justify. The format
 * TAMIS_FOREIGN_REDISBLOOM accepts the payload of DUMP as well. Only memory and max_bytes of the
 * options have an effect. Fails with
 *   - TAMIS_ECORRUPT if the bytes are not a complete file of this format, or, with
 *     TAMIS_FOREIGN_AUTO, of any format that can be detected;
 *   - TAMIS_EUNSUPPORTED if the file uses a hash or a part that this library does not know;
 *   - TAMIS_EINVAL if the options have flags, or there is no such format. */
TAMIS_API tamis_status tamis_foreign_open(const void *bytes, size_t size, uint32_t format,
                                          const tamis_options *options, tamis_foreign **out,
                                          tamis_error *why);

/* Returns the format that TAMIS_FOREIGN_AUTO would detect in a file that begins with these bytes,
 * or TAMIS_FOREIGN_AUTO if it would detect none. Needs the first 128 bytes, or the whole file if
 * that is shorter. Does not validate the rest of the file. */
TAMIS_API uint32_t tamis_foreign_detect(const void *beginning, size_t n);

typedef struct tamis_foreign_plan {
    size_t struct_size; /* sizeof(tamis_foreign_plan)                                             */
    uint32_t format;
    uint64_t items;
    double fpr;         /* parquet: an upper bound, because the size is a power of two            */
} tamis_foreign_plan;
#define TAMIS_FOREIGN_PLAN_INIT TAMIS_INIT(tamis_foreign_plan)
/* Creates an empty filter, to be filled and written. It has the shape that the format's own program
 * would choose for these numbers, with one exception: the number of bits of a DCSO filter is never
 * a power of two, for which its hash works worst. A redisbloom filter is like one that BF.RESERVE
 * makes, so it can grow in Redis; here, adding more than `items` fails with TAMIS_EFULL. Fails with
 * TAMIS_EINVAL unless 1 <= items <= 2^52 and 1e-18 <= fpr < 1. */
TAMIS_API tamis_status tamis_foreign_create(const tamis_foreign_plan *plan,
                                            const tamis_options *options, tamis_foreign **out,
                                            tamis_error *why);
/* Frees the handle, which may be NULL. */
TAMIS_API void tamis_foreign_close(tamis_foreign *f);

/* Adds keys, like tamis_add_many. Fails with TAMIS_ESEALED if f was opened and not created. */
TAMIS_API tamis_status tamis_foreign_add_many(tamis_foreign *f, const tamis_bytes *keys, size_t n,
                                              uint8_t *seen_bits, size_t *done);
/* Adds a key, like tamis_add. */
TAMIS_API tamis_status tamis_foreign_add(tamis_foreign *f, const void *key, size_t len, bool *seen);
/* Returns whether a key may be a member. false is always right, provided that the key is encoded as
 * it was when it was added. Always returns true if the file does not name its hash
 * (tamis_foreign_facts.unnamed_hash). */
TAMIS_API bool tamis_foreign_may_contain(const tamis_foreign *f, const void *key, size_t len);
/* The same for many keys, like tamis_may_contain_many: returns how many may be members. */
TAMIS_API size_t tamis_foreign_may_contain_many(const tamis_foreign *f, const tamis_bytes *keys,
                                                size_t n, uint8_t *bits);

/* Returns the format, which was detected or given. */
TAMIS_API uint32_t tamis_foreign_format_of(const tamis_foreign *f);
/* Returns false if the file does not name its hash, so that every answer is "maybe". */
TAMIS_API bool tamis_foreign_is_certain(const tamis_foreign *f);

typedef struct tamis_foreign_facts {
    size_t struct_size;     /* sizeof(tamis_foreign_facts)                                        */
    uint32_t format;        /* as it was detected or given                                        */
    uint32_t k, links;      /* links: redisbloom grows by a chain of filters, and this is their
                             * number; else 1. k: probes, of the last link                        */
    uint32_t strategy;      /* guava: 0 for MURMUR128_MITZ_32, 1 for MURMUR128_MITZ_64            */
    uint64_t m;             /* number of bits, of all links                                       */
    uint64_t bytes;         /* size of these bits                                                 */
    bool items_known;       /* the file states the number of items; else items is 0               */
    bool unnamed_hash;      /* parquet: the header does not name the hash                         */
    bool weak;              /* dcso: m is a power of two, so the true rate is above fpr_now       */
    uint64_t items;         /* as the file states                                                 */
    uint64_t planned_items; /* 0 if the file does not state it                                    */
    double fpr_planned;     /* NAN if the file does not state it                                  */
    double fill;            /* share of bits that are set                                         */
    double fpr_now;         /* false-positive rate now, computed from the bits: the probability that
                             * a key that was never added gets a "maybe"                          */
    double items_estimate;  /* number of items, estimated from the bits; infinite if all are set  */
    const void *extra;      /* dcso: what follows the filter in its file, often JSON; valid until
                             * close                                                              */
    size_t extra_size;
} tamis_foreign_facts;
#define TAMIS_FOREIGN_FACTS_INIT TAMIS_INIT(tamis_foreign_facts)
/* Reports about a filter. Reads every bit. */
TAMIS_API tamis_status tamis_foreign_info(const tamis_foreign *f, tamis_foreign_facts *out);

/* Writes the filter to a sink, as tamis_write does, without changing its bits. The format is the
 * filter's own, which is also meant by TAMIS_FOREIGN_AUTO, or the other one of the two formats of
 * RedisBloom. Fails with TAMIS_EUNSUPPORTED for all other formats. */
TAMIS_API tamis_status tamis_foreign_write(const tamis_foreign *f, uint32_t format, tamis_sink put,
                                           void *ctx, tamis_error *why);
/* The same to a file, atomically and durably like tamis_save. Accepts the same options, except
 * TAMIS_SAVE_PACKED (TAMIS_EINVAL). */
TAMIS_API tamis_status tamis_foreign_save(const tamis_foreign *f, uint32_t format, const char *path,
                                          const tamis_save_options *options, tamis_error *why);

/* --- Parquet files -------------------------------------------------------------------------------
 * A Parquet file has any number of filters, at most one for each column of each row group. The
 * footer lists where they are. Only the footer and the filters that you ask for are read. */
typedef struct tamis_reader {
    void *ctx;
    uint64_t size; /* of the file                                                                 */
    /* Reads exactly n bytes at offset. If it returns a status other than TAMIS_OK, the call that
     * needed the bytes fails with this status. Every thread that calls the library calls it. */
    tamis_status (*read)(void *ctx, uint64_t offset, void *to, size_t n);
} tamis_reader;

typedef enum tamis_parquet_type { /* as in the Parquet format                                     */
    TAMIS_PARQUET_BOOLEAN = 0,
    TAMIS_PARQUET_INT32 = 1,
    TAMIS_PARQUET_INT64 = 2,
    TAMIS_PARQUET_INT96 = 3,
    TAMIS_PARQUET_FLOAT = 4,
    TAMIS_PARQUET_DOUBLE = 5,
    TAMIS_PARQUET_BYTE_ARRAY = 6,
    TAMIS_PARQUET_FIXED = 7 /* FIXED_LEN_BYTE_ARRAY                                               */
} tamis_parquet_type;

typedef struct tamis_parquet tamis_parquet;

typedef struct tamis_parquet_chunk { /* one column of one row group                               */
    size_t struct_size;         /* sizeof(tamis_parquet_chunk)                                    */
    uint64_t row_group, column; /* from 0                                                         */
    const char *name;           /* parts joined by dots, NUL at the end; valid until close        */
    size_t name_len;
    uint32_t type;              /* a tamis_parquet_type                                           */
    bool has_filter;            /* without a filter, any key may be a member                      */
    uint64_t values;            /* number of values in the chunk, with repeated ones and nulls    */
    uint64_t offset;            /* position of the filter in the file                             */
    uint32_t length;            /* of the filter with its header; 0: the file does not state it   */
} tamis_parquet_chunk;
#define TAMIS_PARQUET_CHUNK_INIT TAMIS_INIT(tamis_parquet_chunk)

/* Opens a Parquet file and reads its footer. Copies *file, and may call its reader until close. The
 * options are as in tamis_foreign_open. Fails with TAMIS_ECORRUPT if it is not a complete Parquet
 * file, and with TAMIS_EUNSUPPORTED if it is encrypted or its columns are in other files. */
TAMIS_API tamis_status tamis_parquet_open(const tamis_reader *file, const tamis_options *options,
                                          tamis_parquet **out, tamis_error *why);
/* Frees the handle, which may be NULL. */
TAMIS_API void tamis_parquet_close(tamis_parquet *p);
/* Returns the number of chunks. */
TAMIS_API uint64_t tamis_parquet_chunks(const tamis_parquet *p);
/* Describes chunk i. Fails with TAMIS_EINVAL if there is no such chunk. */
TAMIS_API tamis_status tamis_parquet_chunk_at(const tamis_parquet *p, uint64_t i,
                                              tamis_parquet_chunk *out);
/* Reads the filter of chunk i into memory of its own, so that it may outlive p. Fails with
 * TAMIS_EABSENT if the chunk has no filter, with TAMIS_EINVAL if there is no such chunk, and
 * otherwise like tamis_foreign_open. */
TAMIS_API tamis_status tamis_parquet_filter(const tamis_parquet *p, uint64_t i, tamis_foreign **out,
                                            tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
