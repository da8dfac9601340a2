/* The public header with which programs were built that must keep working: see test_abi.py. It is
 * never changed, only replaced. */
/* clang-format off */
#ifndef TAMIS_TAMIS_H
#define TAMIS_TAMIS_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#ifndef TAMIS_INIT_H
#define TAMIS_INIT_H
#include <stddef.h>
#ifdef __cplusplus
extern "C++" {
template <class T> inline T tamis_init_struct()
{
    T t = T();
    t.struct_size = sizeof(T);
    return t;
}
}
#define TAMIS_INIT(type) tamis_init_struct<type>()
#else
#define TAMIS_INIT(type) {.struct_size = sizeof(type)}
#endif
#define TAMIS_PLAN_INIT TAMIS_INIT(tamis_plan)
#define TAMIS_PROMISE_INIT TAMIS_INIT(tamis_promise)
#define TAMIS_OPTIONS_INIT TAMIS_INIT(tamis_options)
#define TAMIS_SAVE_OPTIONS_INIT TAMIS_INIT(tamis_save_options)
#endif
#define TAMIS_VERSION_MAJOR 1
#define TAMIS_VERSION_MINOR 0
#define TAMIS_VERSION_PATCH 0
#define TAMIS_VERSION_STRING "1.0.0"
#if defined(_WIN32) || !defined(__GNUC__)
#define TAMIS_API
#else
#define TAMIS_API __attribute__((visibility("default")))
#endif
#ifdef __cplusplus
extern "C" {
#endif
typedef enum tamis_status {
    TAMIS_OK = 0,
    TAMIS_ENOMEM = -1,
    TAMIS_EINVAL = -2,
    TAMIS_EUNSUPPORTED = -3,
    TAMIS_EFULL = -4,
    TAMIS_EABSENT = -5,
    TAMIS_EMISMATCH = -6,
    TAMIS_ECORRUPT = -7,
    TAMIS_EVERSION = -8,
    TAMIS_EKEY = -9,
    TAMIS_EIO = -10,
    TAMIS_ESEALED = -11,
    TAMIS_EBUSY = -13
} tamis_status;
typedef struct tamis_error {
    tamis_status status;
    int os;
    uint64_t offset;
    uint32_t better_kind, reserved_word;
    char text[160];
    uint64_t reserved[4];
} tamis_error;
TAMIS_API const char *tamis_status_message(tamis_status s);
TAMIS_API const char *tamis_version(void);
typedef struct tamis tamis;
typedef struct tamis_plan tamis_plan;
typedef struct tamis_options tamis_options;
typedef struct tamis_save_options tamis_save_options;
typedef struct tamis_key tamis_key;
TAMIS_API tamis_status tamis_create(const tamis_plan *plan, const tamis_options *options,
                                    tamis **out, tamis_error *why);
TAMIS_API tamis_status tamis_add(tamis *t, const void *key, size_t len, bool *seen);
TAMIS_API bool tamis_may_contain(const tamis *t, const void *key, size_t len);
TAMIS_API tamis_status tamis_save(tamis *t, const char *path, const tamis_save_options *options,
                                  tamis_error *why);
TAMIS_API tamis_status tamis_open(const char *path, const tamis_options *options, tamis **out,
                                  tamis_error *why);
TAMIS_API void tamis_close(tamis *t);
typedef enum tamis_kind {
    TAMIS_AUTO = 0,
    TAMIS_BLOOM = 1,
    TAMIS_PARTITIONED = 2,
    TAMIS_BLOCKED = 3,
    TAMIS_COUNTING = 4,
    TAMIS_PAIR = 5,
    TAMIS_GROWING = 6,
    TAMIS_WINDOW = 7,
    TAMIS_CUCKOO = 8,
    TAMIS_FUSE = 9,
    TAMIS_RIBBON = 10,
    TAMIS_EXACT = 11,
    TAMIS_PRIVATE = 12,
    TAMIS_VALUE_MAP = 13,
    TAMIS_COUNT_MIN = 32, TAMIS_COUNT_SKETCH = 33, TAMIS_TALLY = 34, TAMIS_TOP = 35,
    TAMIS_SIGNED_TALLY = 36, TAMIS_DISTINCT = 48
} tamis_kind;
TAMIS_API const char *tamis_kind_name(uint32_t kind);
TAMIS_API uint32_t tamis_kind_named(const char *name);
enum {
    TAMIS_STRICT = 1,
    TAMIS_HASH_CALLER = 2,
    TAMIS_COMPACT = 4,
    TAMIS_AUTO_ROTATE = 8,
    TAMIS_TRANSFER = 16,
    TAMIS_CONSERVATIVE = 32,
    TAMIS_REMOVABLE = 64
};
struct tamis_plan {
    size_t struct_size;
    uint32_t kind, flags;
    uint64_t items;
    double fpr;
    uint64_t bytes, seed, m;
    uint32_t k, cell_bits, generations, inner_kind;
    uint64_t excluded;
    double error, delta;
    uint32_t encoding, key_width;
};
typedef struct tamis_promise {
    size_t struct_size;
    uint64_t bytes;
    double fpr;
    double fpr_asymptotic;
    double bits_per_item;
    double bound_bits;
    double bound_ratio;
    double overflow;
    uint64_t packed_bytes;
    uint32_t bound;
} tamis_promise;
TAMIS_API tamis_status tamis_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
enum {
    TAMIS_MAP = 1,
    TAMIS_UNVERIFIED = 2,
    TAMIS_KEYLESS = 4,
    TAMIS_UPDATE = 8,
    TAMIS_WAIT = 16,
    TAMIS_SHARED = 32,
    TAMIS_STEADY = 64
};
typedef struct tamis_memory {
    void *ctx;
    void *(*alloc)(void *ctx, size_t size);
    void (*free)(void *ctx, void *p);
    void *(*zeroed)(void *ctx, size_t size);
    void *reserved[4];
} tamis_memory;
struct tamis_options {
    size_t struct_size;
    uint32_t flags;
    const uint8_t *key;
    uint64_t max_bytes;
    uint64_t scratch_bytes;
    const tamis_memory *memory;
    uint32_t threads;
    const char *temp_dir;
    tamis_key *shared_key;
};
TAMIS_API tamis_status tamis_load(const void *image, size_t size, const tamis_options *options,
                                  tamis **out, tamis_error *why);
TAMIS_API tamis_status tamis_view(const void *image, size_t size, const tamis_options *options,
                                  tamis **out, tamis_error *why);
TAMIS_API tamis_status tamis_copy(const tamis *t, tamis **out, tamis_error *why);
TAMIS_API void tamis_limit(tamis *t, uint64_t max_bytes);
TAMIS_API tamis_status tamis_clear(tamis *t);
typedef struct tamis_bytes { const void *p; size_t len; } tamis_bytes;
TAMIS_API tamis_status tamis_add_many(tamis *t, const tamis_bytes *keys, size_t n,
                                      uint8_t *seen_bits, size_t *done);
TAMIS_API size_t tamis_may_contain_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                        uint8_t *bits);
TAMIS_API tamis_status tamis_remove(tamis *t, const void *key, size_t len, tamis_error *why);
TAMIS_API tamis_status tamis_remove_many(tamis *t, const tamis_bytes *keys, size_t n,
                                         uint8_t *absent_bits, tamis_error *why);
TAMIS_API tamis_status tamis_rotate(tamis *t, tamis_error *why);
TAMIS_API tamis_status tamis_rotate_to(tamis *t, uint64_t epoch, tamis_error *why);
TAMIS_API tamis_status tamis_merge(tamis *into, const tamis *from, tamis_error *why);
TAMIS_API tamis_status tamis_convert(const tamis *t, uint32_t kind, tamis **out, tamis_error *why);
TAMIS_API tamis_status tamis_seal(tamis *t, tamis_error *why);
TAMIS_API tamis_status tamis_exclude(tamis *t, const void *key, size_t len, tamis_error *why);
TAMIS_API tamis_status tamis_exclude_many(tamis *t, const tamis_bytes *keys, size_t n,
                                          tamis_error *why);
enum {
    TAMIS_SAVE_NEW = 1,
    TAMIS_SAVE_PACKED = 2
};
struct tamis_save_options { size_t struct_size; uint32_t flags, mode; };
typedef tamis_status (*tamis_sink)(void *ctx, const void *bytes, size_t n);
TAMIS_API tamis_status tamis_write(const tamis *t, tamis_sink put, void *ctx, tamis_error *why);
TAMIS_API uint64_t tamis_image_size(const tamis *t);
#ifdef __cplusplus
}
#endif
#ifndef TAMIS_HASHES_H
#define TAMIS_HASHES_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct tamis_hash { uint64_t lo, hi; } tamis_hash;
TAMIS_API tamis_hash tamis_hash_bytes(uint64_t seed, const void *key, size_t len);
TAMIS_API tamis_status tamis_hash_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                       tamis_hash *out);
TAMIS_API tamis_status tamis_add_hashes(tamis *t, const tamis_hash *h, size_t n,
                                        uint8_t *seen_bits, size_t *done);
TAMIS_API size_t tamis_may_contain_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                          uint8_t *bits);
TAMIS_API tamis_status tamis_remove_hashes(tamis *t, const tamis_hash *h, size_t n,
                                           uint8_t *absent_bits, tamis_error *why);
TAMIS_API tamis_status tamis_exclude_hashes(tamis *t, const tamis_hash *h, size_t n,
                                            tamis_error *why);
static inline tamis_hash tamis_hash64(uint64_t hash)
{
    uint64_t x = (hash ^ hash >> 32) * 0xd6e8feb86659fd93u;
    x ^= x >> 32;
    tamis_hash h = {x * 0x9e3779b97f4a7c15u, x * 0xd6e8feb86659fd93u};
    h.lo ^= h.lo >> 29;
    h.hi ^= h.hi >> 32;
    return h;
}
TAMIS_API tamis_status tamis_add_hash64(tamis *t, const uint64_t *h, size_t n, uint8_t *seen_bits,
                                        size_t *done);
TAMIS_API size_t tamis_may_contain_hash64(const tamis *t, const uint64_t *h, size_t n,
                                          uint8_t *bits);
TAMIS_API tamis_status tamis_remove_hash64(tamis *t, const uint64_t *h, size_t n,
                                           uint8_t *absent_bits, tamis_error *why);
TAMIS_API tamis_status tamis_exclude_hash64(tamis *t, const uint64_t *h, size_t n,
                                            tamis_error *why);
TAMIS_API tamis_status tamis_key_new(const uint8_t *bytes, const tamis_memory *memory,
                                     tamis_key **out, tamis_error *why);
TAMIS_API void tamis_key_close(tamis_key *key);
#ifdef __cplusplus
}
#endif
#endif
#ifndef TAMIS_INSPECT_H
#define TAMIS_INSPECT_H
#ifdef __cplusplus
extern "C" {
#endif
enum { TAMIS_XXH3 = 1, TAMIS_SIPHASH = 2, TAMIS_CALLER_HASH = 3 };
enum { TAMIS_KEYS_UNSTATED = 0, TAMIS_KEYS_TEXT = 1, TAMIS_KEYS_INT64 = 2, TAMIS_KEYS_FIXED = 3,
       TAMIS_KEYS_SHA256 = 4, TAMIS_KEYS_CALLER = 5 };
TAMIS_API const char *tamis_encoding_name(uint32_t encoding);
enum {
    TAMIS_BOUND_NONE = 0,
    TAMIS_BOUND_STATIC = 1,
    TAMIS_BOUND_DYNAMIC = 2,
    TAMIS_BOUND_TWO_SET = 3
};
TAMIS_API const char *tamis_bound_name(uint32_t bound);
typedef struct tamis_facts {
    size_t struct_size;
    uint32_t kind, hash, k;
    uint32_t format;
    uint64_t m, seed;
    uint64_t generation;
    uint32_t cell_bits;
    uint32_t sections;
    bool may_miss;
    bool keyed;
    bool strict;
    bool auto_rotate;
    bool sealed;
    bool collecting;
    bool read_only;
    bool overfull;
    bool items_estimated;
    bool hash_suspect;
    uint64_t bytes;
    uint64_t items;
    uint64_t planned_items;
    uint64_t excluded;
    double fpr_planned;
    double fpr_now;
    double fpr_now_low, fpr_now_high;
    double miss_rate;
    uint64_t saturated;
    double overflow;
    double items_estimate;
    double items_low, items_high;
    double fill;
    double bits_per_item;
    double bound_bits;
    double bound_ratio;
    bool conservative;
    int64_t weight;
    int64_t noise_median, noise_99, noise_999;
    double error;
    uint64_t entries;
    uint64_t listed;
    int64_t list_floor;
    double epsilon;
    uint8_t key_id[16];
    uint32_t inner_kind, generations;
    uint32_t encoding;
    uint32_t key_width;
    uint64_t epoch;
    uint32_t bound;
    bool removable;
} tamis_facts;
#define TAMIS_FACTS_INIT TAMIS_INIT(tamis_facts)
TAMIS_API tamis_status tamis_info(const tamis *t, tamis_facts *out);
TAMIS_API tamis_status tamis_stat(const tamis *t, tamis_facts *out);
#define TAMIS_IMAGE_MAGIC "\x89TAMIS\r\n"
TAMIS_API uint64_t tamis_image_length(const void *begin, size_t n);
typedef struct tamis_similarity {
    size_t struct_size;
    double union_items, union_low, union_high;
    double common_items, common_low, common_high;
    double jaccard, jaccard_low, jaccard_high;
    double first_only, first_only_low, first_only_high;
    double second_only, second_only_low, second_only_high;
} tamis_similarity;
#define TAMIS_SIMILARITY_INIT TAMIS_INIT(tamis_similarity)
TAMIS_API tamis_status tamis_compare(const tamis *a, const tamis *b, tamis_similarity *out,
                                     tamis_error *why);
TAMIS_API size_t tamis_cells_of(const tamis *t, const void *key, size_t len, uint64_t *cells,
                                size_t max);
TAMIS_API uint64_t tamis_cell(const tamis *t, uint64_t cell);
#ifdef __cplusplus
}
#endif
#endif
#endif
#ifndef TAMIS_COLUMNS_H
#define TAMIS_COLUMNS_H
#ifndef TAMIS_COUNT_H
#define TAMIS_COUNT_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct tamis_estimate {
    int64_t estimate;
    int64_t lower, upper;
    double confidence;
    int64_t certain;
    bool below_noise;
    bool judged;
    bool suspect;
    uint8_t reserved_bytes[5];
    uint64_t reserved[2];
} tamis_estimate;
TAMIS_API tamis_status tamis_add_weight(tamis *t, const void *key, size_t len, int64_t weight,
                                        tamis_error *why);
TAMIS_API tamis_status tamis_add_weight_many(tamis *t, const tamis_bytes *keys,
                                             const int64_t *weights, size_t n, size_t *done,
                                             tamis_error *why);
TAMIS_API tamis_status tamis_add_weight_hashes(tamis *t, const tamis_hash *h,
                                               const int64_t *weights, size_t n, size_t *done,
                                               tamis_error *why);
TAMIS_API tamis_status tamis_add_weight_hash64(tamis *t, const uint64_t *h, const int64_t *weights,
                                               size_t n, size_t *done, tamis_error *why);
TAMIS_API tamis_status tamis_count(const tamis *t, const void *key, size_t len, tamis_estimate *out,
                                   tamis_error *why);
TAMIS_API tamis_status tamis_count_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                        tamis_estimate *out, tamis_error *why);
TAMIS_API tamis_status tamis_count_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                          tamis_estimate *out, tamis_error *why);
TAMIS_API tamis_status tamis_count_hash64(const tamis *t, const uint64_t *h, size_t n,
                                          tamis_estimate *out, tamis_error *why);
TAMIS_API int64_t tamis_upper(const tamis *t, const void *key, size_t len);
TAMIS_API void tamis_upper_many(const tamis *t, const tamis_bytes *keys, size_t n, int64_t *out);
TAMIS_API void tamis_upper_hashes(const tamis *t, const tamis_hash *h, size_t n, int64_t *out);
TAMIS_API void tamis_upper_hash64(const tamis *t, const uint64_t *h, size_t n, int64_t *out);
TAMIS_API tamis_status tamis_add_counted(tamis *t, const void *key, size_t len, int64_t weight,
                                         int64_t *count, tamis_error *why);
TAMIS_API tamis_status tamis_add_counted_many(tamis *t, const tamis_bytes *keys,
                                              const int64_t *weights, size_t n, int64_t *counts,
                                              size_t *done, tamis_error *why);
TAMIS_API tamis_status tamis_add_counted_hashes(tamis *t, const tamis_hash *h,
                                                const int64_t *weights, size_t n, int64_t *counts,
                                                size_t *done, tamis_error *why);
TAMIS_API tamis_status tamis_add_counted_hash64(tamis *t, const uint64_t *h,
                                                const int64_t *weights, size_t n, int64_t *counts,
                                                size_t *done, tamis_error *why);
typedef struct tamis_heavy {
    tamis_bytes item;
    uint64_t length;
    uint64_t hash;
    tamis_estimate count;
    uint64_t reserved[4];
} tamis_heavy;
TAMIS_API size_t tamis_top(const tamis *t, tamis_heavy *out, size_t n);
TAMIS_API tamis_status tamis_above(const tamis *t, int64_t weight, tamis_heavy *out, size_t n,
                                   size_t *found, tamis_error *why);
#ifdef __cplusplus
}
#endif
#endif
#ifdef __cplusplus
extern "C" {
#endif
typedef struct tamis_column {
    size_t struct_size;
    size_t rows;
    size_t first;
    const void *data;
    size_t bytes;
    size_t width;
    size_t stride;
    const int32_t *offsets32;
    const int64_t *offsets64;
    const uint8_t *validity;
} tamis_column;
#define TAMIS_COLUMN_INIT TAMIS_INIT(tamis_column)
TAMIS_API tamis_status tamis_add_column(tamis *t, const tamis_column *c, uint8_t *seen_bits,
                                        size_t *done, tamis_error *why);
TAMIS_API tamis_status tamis_may_contain_column(const tamis *t, const tamis_column *c,
                                                uint8_t *bits, size_t *maybes, tamis_error *why);
TAMIS_API tamis_status tamis_select_column(const tamis *t, const tamis_column *c,
                                           uint32_t *selected, size_t *found, tamis_error *why);
TAMIS_API tamis_status tamis_add_weight_column(tamis *t, const tamis_column *c,
                                               const int64_t *weights, size_t *done,
                                               tamis_error *why);
TAMIS_API tamis_status tamis_add_counted_column(tamis *t, const tamis_column *c,
                                                const int64_t *weights, int64_t *counts,
                                                size_t *done, tamis_error *why);
TAMIS_API tamis_status tamis_upper_column(const tamis *t, const tamis_column *c, int64_t *out,
                                          tamis_error *why);
TAMIS_API tamis_status tamis_count_column(const tamis *t, const tamis_column *c,
                                          tamis_estimate *out, tamis_error *why);
#ifdef __cplusplus
}
#endif
#endif
#ifndef TAMIS_DISTINCT_PUBLIC_H
#define TAMIS_DISTINCT_PUBLIC_H
#ifdef __cplusplus
extern "C" {
#endif
typedef struct tamis_cardinality {
    size_t struct_size;
    double value;
    double low, high;
    double error;
    bool exact;
} tamis_cardinality;
#define TAMIS_CARDINALITY_INIT TAMIS_INIT(tamis_cardinality)
TAMIS_API tamis_status tamis_distinct(const tamis *t, tamis_cardinality *out, tamis_error *why);
#ifdef __cplusplus
}
#endif
#endif
#ifndef TAMIS_EMBED_H
#define TAMIS_EMBED_H
#ifdef __cplusplus
extern "C" {
#endif
TAMIS_API tamis_status tamis_view_at(void *room, size_t room_size, const void *image, size_t size,
                                     const tamis_options *options, size_t *needed, tamis **out,
                                     tamis_error *why);
TAMIS_API const void *tamis_raw_cells(const tamis *t, size_t *n);
TAMIS_API tamis_status tamis_view_cells(const tamis_plan *plan, const void *cells, size_t n,
                                        const tamis_options *options, tamis **out,
                                        tamis_error *why);
#ifdef __cplusplus
}
#endif
#endif
#ifndef TAMIS_FOREIGN_H
#define TAMIS_FOREIGN_H
#ifdef __cplusplus
extern "C" {
#endif
typedef enum tamis_foreign_format {
    TAMIS_FOREIGN_AUTO = 0,
    TAMIS_FOREIGN_PARQUET = 1,
    TAMIS_FOREIGN_DCSO = 2,
    TAMIS_FOREIGN_REDISBLOOM = 3,
    TAMIS_FOREIGN_REDIS_DUMP = 4,
    TAMIS_FOREIGN_GUAVA = 5
} tamis_foreign_format;
TAMIS_API const char *tamis_foreign_name(uint32_t format);
TAMIS_API uint32_t tamis_foreign_named(const char *name);
typedef struct tamis_foreign tamis_foreign;
TAMIS_API tamis_status tamis_foreign_open(const void *bytes, size_t size, uint32_t format,
                                          const tamis_options *options, tamis_foreign **out,
                                          tamis_error *why);
TAMIS_API uint32_t tamis_foreign_detect(const void *beginning, size_t n);
typedef struct tamis_foreign_plan {
    size_t struct_size;
    uint32_t format;
    uint64_t items;
    double fpr;
} tamis_foreign_plan;
#define TAMIS_FOREIGN_PLAN_INIT TAMIS_INIT(tamis_foreign_plan)
TAMIS_API tamis_status tamis_foreign_create(const tamis_foreign_plan *plan,
                                            const tamis_options *options, tamis_foreign **out,
                                            tamis_error *why);
TAMIS_API void tamis_foreign_close(tamis_foreign *f);
TAMIS_API tamis_status tamis_foreign_add_many(tamis_foreign *f, const tamis_bytes *keys, size_t n,
                                              uint8_t *seen_bits, size_t *done);
TAMIS_API tamis_status tamis_foreign_add(tamis_foreign *f, const void *key, size_t len, bool *seen);
TAMIS_API bool tamis_foreign_may_contain(const tamis_foreign *f, const void *key, size_t len);
TAMIS_API size_t tamis_foreign_may_contain_many(const tamis_foreign *f, const tamis_bytes *keys,
                                                size_t n, uint8_t *bits);
TAMIS_API uint32_t tamis_foreign_format_of(const tamis_foreign *f);
TAMIS_API bool tamis_foreign_is_certain(const tamis_foreign *f);
typedef struct tamis_foreign_facts {
    size_t struct_size;
    uint32_t format;
    uint32_t k, links;
    uint32_t strategy;
    uint64_t m;
    uint64_t bytes;
    bool items_known;
    bool unnamed_hash;
    bool weak;
    uint64_t items;
    uint64_t planned_items;
    double fpr_planned;
    double fill;
    double fpr_now;
    double items_estimate;
    const void *extra;
    size_t extra_size;
} tamis_foreign_facts;
#define TAMIS_FOREIGN_FACTS_INIT TAMIS_INIT(tamis_foreign_facts)
TAMIS_API tamis_status tamis_foreign_info(const tamis_foreign *f, tamis_foreign_facts *out);
TAMIS_API tamis_status tamis_foreign_write(const tamis_foreign *f, uint32_t format, tamis_sink put,
                                           void *ctx, tamis_error *why);
TAMIS_API tamis_status tamis_foreign_save(const tamis_foreign *f, uint32_t format, const char *path,
                                          const tamis_save_options *options, tamis_error *why);
typedef struct tamis_reader {
    void *ctx;
    uint64_t size;
    tamis_status (*read)(void *ctx, uint64_t offset, void *to, size_t n);
} tamis_reader;
typedef enum tamis_parquet_type {
    TAMIS_PARQUET_BOOLEAN = 0,
    TAMIS_PARQUET_INT32 = 1,
    TAMIS_PARQUET_INT64 = 2,
    TAMIS_PARQUET_INT96 = 3,
    TAMIS_PARQUET_FLOAT = 4,
    TAMIS_PARQUET_DOUBLE = 5,
    TAMIS_PARQUET_BYTE_ARRAY = 6,
    TAMIS_PARQUET_FIXED = 7
} tamis_parquet_type;
typedef struct tamis_parquet tamis_parquet;
typedef struct tamis_parquet_chunk {
    size_t struct_size;
    uint64_t row_group, column;
    const char *name;
    size_t name_len;
    uint32_t type;
    bool has_filter;
    uint64_t values;
    uint64_t offset;
    uint32_t length;
} tamis_parquet_chunk;
#define TAMIS_PARQUET_CHUNK_INIT TAMIS_INIT(tamis_parquet_chunk)
TAMIS_API tamis_status tamis_parquet_open(const tamis_reader *file, const tamis_options *options,
                                          tamis_parquet **out, tamis_error *why);
TAMIS_API void tamis_parquet_close(tamis_parquet *p);
TAMIS_API uint64_t tamis_parquet_chunks(const tamis_parquet *p);
TAMIS_API tamis_status tamis_parquet_chunk_at(const tamis_parquet *p, uint64_t i,
                                              tamis_parquet_chunk *out);
TAMIS_API tamis_status tamis_parquet_filter(const tamis_parquet *p, uint64_t i, tamis_foreign **out,
                                            tamis_error *why);
#ifdef __cplusplus
}
#endif
#endif
#ifndef TAMIS_MAP_H
#define TAMIS_MAP_H
#ifdef __cplusplus
extern "C" {
#endif
TAMIS_API tamis_status tamis_add_value(tamis *t, const void *key, size_t len, uint32_t value,
                                       tamis_error *why);
TAMIS_API tamis_status tamis_add_value_many(tamis *t, const tamis_bytes *keys,
                                            const uint32_t *values, size_t n, size_t *done,
                                            tamis_error *why);
TAMIS_API tamis_status tamis_add_value_hashes(tamis *t, const tamis_hash *h,
                                              const uint32_t *values, size_t n, size_t *done,
                                              tamis_error *why);
TAMIS_API tamis_status tamis_value(const tamis *t, const void *key, size_t len, uint32_t *value);
TAMIS_API tamis_status tamis_value_many(const tamis *t, const tamis_bytes *keys, size_t n,
                                        uint32_t *values, uint8_t *found_bits, tamis_error *why);
TAMIS_API tamis_status tamis_value_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                          uint32_t *values, uint8_t *found_bits, tamis_error *why);
#ifdef __cplusplus
}
#endif
#endif
#ifndef TAMIS_PARTS_H
#define TAMIS_PARTS_H
#ifdef __cplusplus
extern "C" {
#endif
TAMIS_API tamis_status tamis_part(const tamis *t, tamis **out, tamis_error *why);
TAMIS_API tamis_status tamis_join(tamis *into, tamis *const *parts, size_t n, tamis_error *why);
#ifdef __cplusplus
}
#endif
#endif
#ifndef TAMIS_PUBLISH_H
#define TAMIS_PUBLISH_H
#ifdef __cplusplus
extern "C" {
#endif
TAMIS_API tamis_status tamis_pack(const tamis *t, tamis_sink put, void *ctx, tamis_error *why);
TAMIS_API tamis_status tamis_unpack(const void *packed, size_t size, const tamis_options *options,
                                    tamis **out, tamis_error *why);
TAMIS_API tamis_status tamis_release(const tamis *from, double epsilon, tamis **out,
                                     tamis_error *why);
TAMIS_API tamis_status tamis_probability(const tamis *t, const void *key, size_t len, double prior,
                                         double *out, tamis_error *why);
TAMIS_API tamis_status tamis_probability_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                                double prior, double *out, tamis_error *why);
typedef struct tamis_evidence {
    size_t struct_size;
    double yes, yes_low, yes_high;
    double no, no_low, no_high;
} tamis_evidence;
#define TAMIS_EVIDENCE_INIT TAMIS_INIT(tamis_evidence)
TAMIS_API tamis_status tamis_evidence_of(const tamis *t, double prior, tamis_evidence *out,
                                         tamis_error *why);
TAMIS_API tamis_status tamis_write_file(const char *path, const void *bytes, size_t n,
                                        const tamis_save_options *options, tamis_error *why);
#ifdef __cplusplus
}
#endif
#endif
