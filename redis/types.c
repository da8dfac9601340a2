/* The five types of RedisBloom as the server handles them: how values are saved, loaded, copied,
 * measured and freed. */
#include "module.h"
#include "redisbloom/bloom.h"
#include "redisbloom/cuckoo.h"
#include "redisbloom/sketch.h"
#include "redisbloom/tdigest.h"
#include "redisbloom/top.h"

redis_type *redis_bloom_type, *redis_cuckoo_type, *redis_sketch_type, *redis_top_type,
    *redis_tdigest_type, *redis_tamis_type;

/* --- Fields through the API ------------------------------------------------------------------- */

static void write_number(void *io, uint64_t value)
{
    redis.SaveUnsigned(io, value);
}

static void write_real(void *io, double value)
{
    redis.SaveDouble(io, value);
}

static void write_bytes(void *io, const void *p, size_t n)
{
    redis.SaveStringBuffer(io, p, n);
}

struct compat_writer redis_writer(redis_io *io)
{
    return (struct compat_writer){io, write_number, write_real, write_bytes};
}

static bool read_number(void *input, uint64_t *value)
{
    redis_io *io = ((struct redis_input *)input)->io;
    *value = redis.LoadUnsigned(io);
    return !redis.IsIOError(io);
}

static bool read_real(void *input, double *value)
{
    redis_io *io = ((struct redis_input *)input)->io;
    *value = redis.LoadDouble(io);
    return !redis.IsIOError(io);
}

/* The server's allocator is also the module's, so the bytes that it has read become part of the
 * value. */
static void *read_bytes(void *input, size_t *n)
{
    const struct redis_input *in = input;
    *n = 0;
    char *p = redis.LoadStringBuffer(in->io, n);
    if (p != NULL && redis.IsIOError(in->io)) {
        redis.Free(p);
        p = NULL;
    }
    return redis_counted(in->tally, p);
}

struct compat_reader redis_reader(struct redis_input *input)
{
    return (struct compat_reader){input, read_number, read_real, read_bytes};
}

/* Returns what rdb_load returns: the value, or NULL with the reason in the log. */
static void *loaded(redis_io *io, enum compat_status s, enum redis_type_name type, void *value,
                    const char *what)
{
    if (s == COMPAT_OK) return redis_value_made(type, value);
    const char *reason = s == COMPAT_NO_MEMORY ? "no memory for the value"
                                               : "the value is damaged, or of an unknown version";
    redis_refused(redis_load_source(), what, reason);
    redis.LogIOError(io, "warning", "%s: %s", what, reason);
    return NULL;
}

/* --- AOF -------------------------------------------------------------------------------------- */

/* Computes the CRC-64 of Jones, reflected, which ends every DUMP. */
static uint64_t crc64(const uint8_t *p, size_t n)
{
    static uint64_t table[256];
    for (unsigned i = 0; table[255] == 0; i++) { /* entry 255 is computed last */
        uint64_t x = i;
        for (int bit = 0; bit < 8; bit++) x = x >> 1 ^ ((x & 1) ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
        table[i] = x;
    }
    uint64_t crc = 0;
    for (size_t i = 0; i < n; i++) crc = table[(crc ^ p[i]) & 255] ^ crc >> 8;
    return crc;
}

/* Returns the 64-bit id of a type: nine characters of six bits, and the version in the last ten
 * bits. */
static uint64_t type_id(const char *name, int encver)
{
    static const char letters[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    uint64_t id = 0;
    for (; *name != 0; name++) id = id << 6 | (uint64_t)(strchr(letters, *name) - letters);
    return id << 10 | (uint64_t)encver;
}

/* Makes the bytes of DUMP: type 7, the id, the fields, their end, the RDB version and the
 * checksum. */
void redis_emit_restore(redis_io *io, redis_string *key, void *value, const redis_type *type,
                        const char *name, int encver)
{
    redis_string *fields = redis.SaveDataTypeToString(NULL, value, type);
    const tamis_bytes f = fields == NULL ? (tamis_bytes){0} : redis_bytes(fields);
    uint8_t *dump = f.len == 0 ? NULL : redis.TryAlloc(f.len + 21);
    if (dump == NULL) {
        redis.LogIOError(io, "warning", "no memory to write a value to the append-only file");
    } else {
        const uint64_t id = type_id(name, encver);
        dump[0] = 7;
        dump[1] = 0x81;
        for (int i = 0; i < 8; i++) dump[2 + i] = (uint8_t)(id >> 8 * (7 - i));
        memcpy(dump + 10, f.p, f.len);
        uint8_t *end = dump + 10 + f.len;
        memcpy(end, "\0\012", 3); /* no more fields; RDB version 10 of server 7.0, in two bytes */
        compat_put(end + 3, crc64(dump, f.len + 13), 8);
        redis.EmitAOF(io, "RESTORE", "slb", key, (long long)0, (const char *)dump, f.len + 21);
        redis.Free(dump);
    }
    if (fields != NULL) redis.FreeString(NULL, fields);
}

/* --- What all types have in common ------------------------------------------------------------ */

static void digest_number(void *d, uint64_t value)
{
    redis.DigestAddLongLong(d, (long long)value);
}

static void digest_bytes(void *d, const void *p, size_t n)
{
    redis.DigestAddStringBuffer(d, p, n);
}

static void digest_real(void *d, double value)
{
    digest_bytes(d, &value, sizeof value);
}

static struct compat_writer digester(redis_digest *d)
{
    return (struct compat_writer){d, digest_number, digest_real, digest_bytes};
}

static size_t size_of(const void *p)
{
    return p == NULL ? 0 : redis.MallocSize((void *)(uintptr_t)p);
}

/* The server frees values above 64 in the background: many pieces, or big ones, which go back to
 * the system. */
static size_t free_effort(uint64_t pieces, uint64_t bytes)
{
    return (size_t)(pieces + (bytes >> 16));
}

/* The block has the same size afterwards, so nothing is counted. */
static void move(redis_defrag *ctx, void **p)
{
    void *moved = *p == NULL ? NULL : redis.DefragAlloc(ctx, *p);
    if (moved != NULL) *p = moved;
}

/* The callbacks that differ between the types only in what they call; `write` writes the fields. */
#define CALLBACKS(name, type, type_name, write)                                                    \
    static void *name##_load(redis_io *io, int encver)                                             \
    {                                                                                              \
        struct redis_input input = {io, &redis_tally[type]};                                       \
        const struct compat_reader r = redis_reader(&input);                                       \
        struct compat_##name *value;                                                               \
        const enum compat_status s =                                                               \
            compat_##name##_load(&r, encver, &redis_tally[type].memory, &value);                   \
        return loaded(io, s, type, value, type_name);                                              \
    }                                                                                              \
    static void name##_save(redis_io *io, void *value)                                             \
    {                                                                                              \
        const struct compat_writer w = redis_writer(io);                                           \
        write(value, &w);                                                                          \
    }                                                                                              \
    static void name##_digest(redis_digest *d, void *value)                                        \
    {                                                                                              \
        const struct compat_writer w = digester(d);                                                \
        write(value, &w);                                                                          \
        redis.DigestEndSequence(d);                                                                \
    }                                                                                              \
    static void name##_free(void *value)                                                           \
    {                                                                                              \
        compat_##name##_free(&redis_tally[type].memory, value);                                    \
        redis_value_gone(type);                                                                    \
    }                                                                                              \
    static void *name##_copy(redis_key_opt *ctx, const void *value)                                \
    {                                                                                              \
        (void)ctx;                                                                                 \
        return redis_value_made(type, compat_##name##_copy(&redis_tally[type].memory, value));     \
    }

/* And those of the two types that are chains of links. */
#define CHAIN_CALLBACKS(name)                                                                      \
    static size_t name##_usage(redis_key_opt *ctx, const void *value, size_t samples)              \
    {                                                                                              \
        (void)ctx, (void)samples;                                                                  \
        return chain_usage(&compat_##name##_chain, value);                                         \
    }                                                                                              \
    static int name##_defrag(redis_defrag *ctx, redis_string *key, void **value)                   \
    {                                                                                              \
        (void)key;                                                                                 \
        move(ctx, value);                                                                          \
        chain_move(ctx, &compat_##name##_chain, *value);                                           \
        return 0;                                                                                  \
    }

static size_t chain_usage(const struct compat_chain *c, const void *filter)
{
    void *array = compat_chain_array(c, filter);
    size_t sum = size_of(filter) + size_of(array);
    for (uint32_t i = 0; i < compat_chain_links(c, filter); i++)
        sum += size_of(*compat_chain_bytes(c, array, i));
    return sum;
}

static void chain_move(redis_defrag *ctx, const struct compat_chain *c, void *filter)
{
    void *array = compat_chain_array(c, filter);
    move(ctx, &array);
    compat_chain_set_array(c, filter, array);
    for (uint32_t i = 0; i < compat_chain_links(c, filter); i++) {
        void *bytes = *compat_chain_bytes(c, array, i);
        move(ctx, &bytes);
        *compat_chain_bytes(c, array, i) = bytes;
    }
}

/* --- MBbloom-- -------------------------------------------------------------------------------- */

CALLBACKS(bloom, REDIS_BLOOM, REDISBLOOM_TYPE, compat_bloom_save)
CHAIN_CALLBACKS(bloom)

static size_t bloom_effort(redis_key_opt *ctx, const void *value)
{
    const struct compat_bloom *b = value;
    (void)ctx;
    return free_effort(b->links, compat_bloom_cell_bytes(b));
}

/* BF.ADD never fills a link beyond its capacity. BF.MERGE may, and so may a loaded filter. */
static void bloom_judge(const void *value, struct redis_verdict *out)
{
    const struct compat_bloom *b = value;
    for (uint32_t i = 0; i < b->links; i++) out->overfull |= b->link[i].items > b->link[i].capacity;
    out->read = b->links * sizeof *b->link;
}

static void bloom_rewrite(redis_io *io, redis_string *key, void *value)
{
    const struct compat_bloom *b = value;
    const size_t n = compat_bloom_header_size(b);
    uint8_t *header = redis.TryAlloc(n);
    if (header == NULL) {
        redis.LogIOError(io, "warning", "no memory to write a filter to the append-only file");
        return;
    }
    compat_bloom_header(b, header);
    redis.EmitAOF(io, "BF.LOADCHUNK", "slb", key, (long long)1, (const char *)header, n);
    redis.Free(header);
    struct compat_chunk c;
    for (uint64_t at = 1; (c = compat_bloom_chunk(b, at)).next != 0; at = c.next)
        redis.EmitAOF(io, "BF.LOADCHUNK", "slb", key, (long long)c.next, (const char *)c.p, c.len);
}

/* --- MBbloomCF -------------------------------------------------------------------------------- */

CALLBACKS(cuckoo, REDIS_CUCKOO, "MBbloomCF", compat_cuckoo_save)
CHAIN_CALLBACKS(cuckoo)

static size_t cuckoo_effort(redis_key_opt *ctx, const void *value)
{
    const struct compat_cuckoo *c = value;
    (void)ctx;
    return free_effort(c->links, compat_cuckoo_slots(c));
}

static void cuckoo_rewrite(redis_io *io, redis_string *key, void *value)
{
    const struct compat_cuckoo *c = value;
    uint8_t header[COMPAT_CUCKOO_HEADER];
    compat_cuckoo_header(c, header);
    redis.EmitAOF(io, "CF.LOADCHUNK", "slb", key, (long long)1, (const char *)header,
                  sizeof header);
    struct compat_chunk p;
    for (uint64_t at = 1; (p = compat_cuckoo_chunk(c, at)).next != 0; at = p.next)
        redis.EmitAOF(io, "CF.LOADCHUNK", "slb", key, (long long)p.next, (const char *)p.p, p.len);
}

/* --- CMSk-TYPE -------------------------------------------------------------------------------- */

CALLBACKS(sketch, REDIS_SKETCH, "CMSk-TYPE", compat_sketch_save)

static void sketch_rewrite(redis_io *io, redis_string *key, void *value)
{
    redis_emit_restore(io, key, value, redis_sketch_type, "CMSk-TYPE", 0);
}

static size_t sketch_usage(redis_key_opt *ctx, const void *value, size_t samples)
{
    const struct compat_sketch *s = value;
    (void)ctx, (void)samples;
    return size_of(s) + size_of(s->cells);
}

static void sketch_judge(const void *value, struct redis_verdict *out)
{
    out->saturated = ((const struct compat_sketch *)value)->saturated;
}

static size_t sketch_effort(redis_key_opt *ctx, const void *value)
{
    (void)ctx;
    return free_effort(1, compat_sketch_cell_bytes(value));
}

static int sketch_defrag(redis_defrag *ctx, redis_string *key, void **value)
{
    (void)key;
    move(ctx, value);
    struct compat_sketch *s = *value;
    void *cells = s->cells;
    move(ctx, &cells);
    s->cells = cells;
    return 0;
}

/* --- TopK-TYPE -------------------------------------------------------------------------------- */

static void top_write(const struct compat_top *t, const struct compat_writer *w)
{
    compat_top_save(t, &redis_saving_memory, w);
}
CALLBACKS(top, REDIS_TOP, "TopK-TYPE", top_write)

static void top_rewrite(redis_io *io, redis_string *key, void *value)
{
    redis_emit_restore(io, key, value, redis_top_type, "TopK-TYPE", 0);
}

static size_t top_usage(redis_key_opt *ctx, const void *value, size_t samples)
{
    const struct compat_top *t = value;
    size_t sum = size_of(t) + size_of(t->cells) + size_of(t->heap);
    (void)ctx, (void)samples;
    for (uint32_t i = 0; i < t->k; i++) sum += size_of(t->heap[i].item);
    return sum;
}

static void top_judge(const void *value, struct redis_verdict *out)
{
    const struct compat_top *t = value;
    out->saturated = t->saturated;
    out->read = t->k * sizeof *t->heap; /* by top_usage */
}

static size_t top_effort(redis_key_opt *ctx, const void *value)
{
    (void)ctx;
    return free_effort(((const struct compat_top *)value)->k, compat_top_bytes(value));
}

static int top_defrag(redis_defrag *ctx, redis_string *key, void **value)
{
    (void)key;
    move(ctx, value);
    struct compat_top *t = *value;
    void *p = t->cells;
    move(ctx, &p);
    t->cells = p;
    p = t->heap;
    move(ctx, &p);
    t->heap = p;
    for (uint32_t i = 0; i < t->k; i++) {
        p = t->heap[i].item;
        move(ctx, &p);
        t->heap[i].item = p;
    }
    return 0;
}

/* --- TDIS-TYPE -------------------------------------------------------------------------------- */

CALLBACKS(tdigest, REDIS_TDIGEST, "TDIS-TYPE", compat_tdigest_save)

static void tdigest_rewrite(redis_io *io, redis_string *key, void *value)
{
    redis_emit_restore(io, key, value, redis_tdigest_type, "TDIS-TYPE", 0);
}

static size_t tdigest_usage(redis_key_opt *ctx, const void *value, size_t samples)
{
    const struct compat_tdigest *t = value;
    (void)ctx, (void)samples;
    return size_of(t) + size_of(t->nodes);
}

static size_t tdigest_effort(redis_key_opt *ctx, const void *value)
{
    (void)ctx;
    return free_effort(1, compat_tdigest_node_bytes(value));
}

static int tdigest_defrag(redis_defrag *ctx, redis_string *key, void **value)
{
    (void)key;
    move(ctx, value);
    struct compat_tdigest *t = *value;
    void *nodes = t->nodes;
    move(ctx, &nodes);
    t->nodes = nodes;
    return 0;
}

#define METHODS(name)                                                                              \
    {                                                                                              \
        .version = REDIS_TYPE_METHODS, .rdb_load = name##_load, .rdb_save = name##_save,           \
        .aof_rewrite = name##_rewrite, .digest = name##_digest, .free = name##_free,               \
        .defrag = name##_defrag, .mem_usage2 = name##_usage, .free_effort2 = name##_effort,        \
        .copy2 = name##_copy                                                                       \
    }

redis_type *redis_new_type(redis_ctx *ctx, enum redis_type_name type, const char *name, int encver,
                           struct redis_type_methods *methods, redis_judge_function *judge)
{
    struct redis_tally *t = &redis_tally[type];
    t->usage = methods->mem_usage2;
    t->judge = judge;
    t->type = redis.CreateDataType(ctx, name, encver, methods);
    return t->type;
}

int redis_types_load(redis_ctx *ctx)
{
    struct redis_type_methods bloom = METHODS(bloom), cuckoo = METHODS(cuckoo);
    struct redis_type_methods sketch = METHODS(sketch), top = METHODS(top);
    struct redis_type_methods tdigest = METHODS(tdigest);
    redis_bloom_type =
        redis_new_type(ctx, REDIS_BLOOM, REDISBLOOM_TYPE, REDISBLOOM_LAYOUT, &bloom, bloom_judge);
    redis_cuckoo_type = redis_new_type(ctx, REDIS_CUCKOO, "MBbloomCF", 4, &cuckoo, NULL);
    redis_sketch_type = redis_new_type(ctx, REDIS_SKETCH, "CMSk-TYPE", 0, &sketch, sketch_judge);
    redis_top_type = redis_new_type(ctx, REDIS_TOP, "TopK-TYPE", 0, &top, top_judge);
    redis_tamis_type = redis_native_type(ctx);
    redis_tdigest_type = redis_new_type(ctx, REDIS_TDIGEST, "TDIS-TYPE", 0, &tdigest, NULL);
    return redis_bloom_type != NULL && redis_cuckoo_type != NULL && redis_sketch_type != NULL &&
                   redis_top_type != NULL && redis_tamis_type != NULL && redis_tdigest_type != NULL
               ? REDIS_OK
               : REDIS_ERR;
}
