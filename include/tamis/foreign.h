/* Filters of other programs: asked as they are, made from keys, moved between their containers.
 *
 *     tamis_foreign *f;
 *     if (tamis_foreign_open(bytes, size, TAMIS_FOREIGN_AUTO, NULL, &f, NULL) != TAMIS_OK) ...
 *     if (!tamis_foreign_may_contain(f, "example.org", 11)) ...     // certainly not in the set
 *     tamis_foreign_close(f);
 *
 * Each format has its own hash and its own rule where a key's bits are, so a filter cannot become
 * one of another format, nor a Tamis image: that takes the keys. What can be changed is the
 * container, and the bits stay as they are.
 *
 * A key is bytes here as everywhere. What the bytes of a number or a text are is for whoever made
 * the filter to say; the files do not, and a wrong guess is a wrong "no":
 *   Parquet       strings without their length; numbers as 4 or 8 bytes, little-endian
 *   Guava         by its funnel: stringFunnel(UTF_8) UTF-8; unencodedCharsFunnel UTF-16, little-endian;
 *                 longFunnel 8 bytes and integerFunnel 4 bytes, little-endian
 *   DCSO, Redis   the bytes that were given
 *
 * Structs with a struct_size grow as those of tamis.h do ("Structs that grow").
 *
 * None of the formats has a sum, but for the payload of Redis' DUMP: damage to the bits themselves
 * cannot be seen. */
/* clang-format off */
#ifndef TAMIS_FOREIGN_H
#define TAMIS_FOREIGN_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum tamis_foreign_format {
    TAMIS_FOREIGN_AUTO = 0,       /* tell it by the content; guava has nothing to be told by, and must
                                   * be named                                                     */
    TAMIS_FOREIGN_PARQUET = 1,    /* one split-block filter with its header, as it lies in a Parquet
                                   * file; for whole files see tamis_parquet_open                 */
    TAMIS_FOREIGN_DCSO = 2,       /* DCSO bloom and its family, version 1; not gzipped            */
    TAMIS_FOREIGN_REDISBLOOM = 3, /* the data of all chunks of BF.SCANDUMP, one after the other   */
    TAMIS_FOREIGN_REDIS_DUMP = 4, /* the same filter as DUMP tells it and RESTORE takes it        */
    TAMIS_FOREIGN_GUAVA = 5       /* BloomFilter.writeTo                                          */
} tamis_foreign_format;

/* "parquet", "dcso", "redisbloom", "redisbloom-dump", "guava"; NULL: there is none.              */
TAMIS_API const char *tamis_foreign_name(uint32_t format);
/* The format of that name, or TAMIS_FOREIGN_AUTO.                                                */
TAMIS_API uint32_t tamis_foreign_named(const char *name);

typedef struct tamis_foreign tamis_foreign;

/* The bytes must stay, unchanged, until close; they are not copied. Hostile bytes are welcome: all
 * that is relied on is checked here, and nothing is allocated that their length does not justify.
 * TAMIS_ECORRUPT: not a whole file of that format, or of any. TAMIS_EUNSUPPORTED: one, but with a
 * hash or a part that is not known here. REDISBLOOM takes the payload of DUMP as well. Of the
 * options, memory and max_bytes count. */
TAMIS_API tamis_status tamis_foreign_open(const void *bytes, size_t size, uint32_t format,
                                          const tamis_options *options, tamis_foreign **out,
                                          tamis_error *why);

/* The format of a file that begins with these bytes, 128 or the whole, as AUTO would take it; AUTO:
 * it cannot be told. That the rest is there and right is not known yet. */
TAMIS_API uint32_t tamis_foreign_detect(const void *beginning, size_t n);

/* An empty one, to be filled and written. Its shape is what the format's own program makes of these
 * numbers; but a DCSO filter never has a power of two of bits, at which its hash is at its worst.
 * redisbloom: as BF.RESERVE, so that it can grow in Redis, and beyond items TAMIS_EFULL here. */
typedef struct tamis_foreign_plan {
    size_t struct_size; /* sizeof(tamis_foreign_plan)                                             */
    uint32_t format;
    uint64_t items;
    double fpr;         /* parquet: at most, since its size is a power of two                     */
} tamis_foreign_plan;
TAMIS_API tamis_status tamis_foreign_create(const tamis_foreign_plan *plan,
                                            const tamis_options *options, tamis_foreign **out,
                                            tamis_error *why);
TAMIS_API void tamis_foreign_close(tamis_foreign *f); /* NULL is allowed                          */

/* As tamis_add_many; TAMIS_ESEALED: this one was opened, and is read-only.                       */
TAMIS_API tamis_status tamis_foreign_add_many(tamis_foreign *f, const tamis_bytes *keys, size_t n,
                                              uint8_t *seen_bits, size_t *done);
TAMIS_API tamis_status tamis_foreign_add(tamis_foreign *f, const void *key, size_t len, bool *seen);
/* "No" is always right, provided the key is encoded as it was when it was added. Where the file
 * does not name its hash (tamis_foreign_facts.unnamed_hash) the answer is always "maybe". _many: if
 * bits is NULL it only counts. Like all calls of tamis.h, those of this header take no more than
 * 16 KiB of stack. */
TAMIS_API bool tamis_foreign_may_contain(const tamis_foreign *f, const void *key, size_t len);
TAMIS_API size_t tamis_foreign_may_contain_many(const tamis_foreign *f, const tamis_bytes *keys,
                                                size_t n, uint8_t *bits);

/* Its format, as it was found; and false when every answer is "maybe", for want of a named hash. */
TAMIS_API uint32_t tamis_foreign_format_of(const tamis_foreign *f);
TAMIS_API bool tamis_foreign_is_certain(const tamis_foreign *f);

typedef struct tamis_foreign_facts {
    size_t struct_size;     /* sizeof(tamis_foreign_facts)                                        */
    uint32_t format;        /* as it was found                                                    */
    uint32_t k, links;      /* probes, of the last link; filters in a chain                       */
    uint32_t strategy;      /* guava: 0 for MURMUR128_MITZ_32, 1 for MURMUR128_MITZ_64             */
    uint64_t m;             /* bits in all                                                        */
    uint64_t bytes;         /* of the bits                                                        */
    bool items_known;        /* the file has a number of items; else items is 0                    */
    bool unnamed_hash;      /* parquet: the header does not say which; see may_contain            */
    bool weak;              /* dcso: m is a power of two, and the real rate is worse than fpr_now */
    uint64_t items;         /* as the file says                                                   */
    uint64_t planned_items; /* 0 and NAN where the file does not say                              */
    double fpr_planned;
    double fill;            /* share of set bits                                                  */
    double fpr_now;         /* from the bits: the chance that a key never added gets a "maybe"     */
    double items_estimate;  /* from the bits; infinite when all are set                           */
    const void *extra;      /* dcso: what follows the filter in its file, often JSON; lives as long
                             * as the handle                                                      */
    size_t extra_size;
} tamis_foreign_facts;
/* Reads every bit.                                                                               */
TAMIS_API tamis_status tamis_foreign_info(const tamis_foreign *f, tamis_foreign_facts *out);

/* In this format: its own, or the other form of redisbloom; TAMIS_EUNSUPPORTED for any other, with
 * the reason. AUTO is its own. The bits are unchanged. save: atomic and durable as tamis_save, with
 * the same options except TAMIS_SAVE_PACKED (TAMIS_EINVAL). */
TAMIS_API tamis_status tamis_foreign_write(const tamis_foreign *f, uint32_t format, tamis_sink put,
                                           void *ctx, tamis_error *why);
TAMIS_API tamis_status tamis_foreign_save(const tamis_foreign *f, uint32_t format, const char *path,
                                          const tamis_save_options *options, tamis_error *why);

/* --- Parquet files -------------------------------------------------------------------------------
 * A Parquet file has any number of filters, at most one for each column of each row group; the
 * footer tells where. Only the footer and the filters that are asked for are read. */
typedef struct tamis_reader {
    void *ctx;
    uint64_t size; /* of the file                                                                 */
    /* n bytes from offset on, all of them, or a status other than TAMIS_OK, which is passed on. */
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

/* One column of one row group.                                                                   */
typedef struct tamis_parquet_chunk {
    size_t struct_size;         /* sizeof(tamis_parquet_chunk)                                    */
    uint64_t row_group, column; /* from 0                                                         */
    const char *name;           /* with dots between its parts; NUL follows                       */
    size_t name_len;
    uint32_t type;              /* a tamis_parquet_type                                           */
    bool has_filter;            /* without one, any key may be in                                 */
    uint64_t values;            /* in the chunk, repeated ones and nulls included                 */
    uint64_t offset;            /* of the filter in the file                                      */
    uint32_t length;            /* with its header; 0: the file does not say                      */
} tamis_parquet_chunk;

/* The reader must work until close. TAMIS_EUNSUPPORTED: an encrypted file, or one whose columns are
 * in other files. */
TAMIS_API tamis_status tamis_parquet_open(const tamis_reader *file, const tamis_options *options,
                                          tamis_parquet **out, tamis_error *why);
TAMIS_API void tamis_parquet_close(tamis_parquet *p);
TAMIS_API uint64_t tamis_parquet_chunks(const tamis_parquet *p); /* how many there are            */
TAMIS_API tamis_status tamis_parquet_chunk_at(const tamis_parquet *p, uint64_t i,
                                              tamis_parquet_chunk *out);
/* The filter of chunk i, in memory of its own. TAMIS_EABSENT: it has none.                       */
TAMIS_API tamis_status tamis_parquet_filter(const tamis_parquet *p, uint64_t i, tamis_foreign **out,
                                            tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
