/* How TAMIS.* values are saved: the image in the chunks in which the library writes it, followed by
 * an empty chunk. */
#include "native.h"

#include <tamis/inspect.h>

#define NAME "tamis-img"
#define ENCVER 1

static const tamis_memory *memory_of(const struct native_body *b)
{
    return b->saving ? &redis_saving_memory : &redis_memory;
}

#define TALLY (&redis_tally[REDIS_TAMIS])

static void *counted(struct native_body *b, void *p)
{
    if (p != NULL) b->bytes += redis.MallocSize(p);
    return redis_counted(TALLY, p);
}

static void *take_counted(void *ctx, size_t n)
{
    return counted(ctx, memory_of(ctx)->alloc(NULL, n));
}

static void *take_zeroed_counted(void *ctx, size_t n)
{
    return counted(ctx, memory_of(ctx)->zeroed(NULL, n));
}

static void give_counted(void *ctx, void *p)
{
    struct native_body *b = ctx;
    if (p == NULL) return;
    b->bytes -= redis.MallocSize(p);
    redis.Free(redis_uncounted(TALLY, p));
}

static struct native_body *body_new(tamis_error *why)
{
    struct native_body *b = TALLY->memory.alloc(TALLY, sizeof *b);
    if (b == NULL) {
        *why = (tamis_error){.status = TAMIS_ENOMEM, .text = "no memory"};
        return NULL;
    }
    *b = (struct native_body){
        .memory = {
            .ctx = b, .alloc = take_counted, .free = give_counted, .zeroed = take_zeroed_counted}};
    return b;
}

static tamis_options options_of(struct native_body *b, uint64_t limit)
{
    return (tamis_options){
        .struct_size = sizeof(tamis_options), .max_bytes = limit, .memory = &b->memory};
}

struct native_body *native_create(const tamis_plan *plan, uint64_t limit, tamis_error *why)
{
    struct native_body *b = body_new(why);
    if (b == NULL) return NULL;
    const tamis_options options = options_of(b, limit);
    if (tamis_create(plan, &options, &b->t, why) == TAMIS_OK) return b;
    native_free(b);
    return NULL;
}

static bool is_private_filter(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return tamis_stat(t, &f) == TAMIS_OK && f.kind == TAMIS_PRIVATE;
}

struct native_body *native_load(const void *image, size_t size, uint64_t limit, tamis_error *why)
{
    struct native_body *b = body_new(why);
    if (b == NULL) return NULL;
    tamis_options options = options_of(b, limit);
    options.flags = TAMIS_STEADY; /* a loaded replica behaves exactly like its primary */
    if (tamis_load(image, size, &options, &b->t, why) == TAMIS_OK) {
        if (!is_private_filter(b->t)) return b;
        /* TAMIS.HAS replies yes or no, and with the noise of a private filter its no would often be
         * wrong. */
        *why =
            (tamis_error){.status = TAMIS_EUNSUPPORTED,
                          .text = "a private filter reports only the probability that an item is "
                                  "a member; use 'tamis check'"};
    }
    native_free(b);
    return NULL;
}

void native_free(struct native_body *b)
{
    if (b == NULL) return;
    tamis_close(b->t);
    TALLY->memory.free(TALLY, b);
}

struct native *native_value(struct native_body *b)
{
    struct native *n = TALLY->memory.alloc(TALLY, sizeof *n);
    if (n == NULL)
        native_free(b);
    else
        n->body = b;
    return n;
}

/* Where a piece of the image goes: `size` bytes, after the first `skip` ones. */
struct filling {
    uint8_t *p;
    size_t at, size;
    uint64_t skip;
};

static tamis_status fill_dump(void *ctx, const void *bytes, size_t n)
{
    struct filling *f = ctx;
    if (n <= f->skip) {
        f->skip -= n;
        return TAMIS_OK;
    }
    const size_t from = (size_t)f->skip, left = f->size - f->at;
    const size_t used = n - from < left ? n - from : left;
    memcpy(f->p + f->at, (const uint8_t *)bytes + from, used);
    f->at += used;
    f->skip = 0;
    return TAMIS_OK;
}

static tamis_status write_image(struct native_body *b, tamis_sink piece, void *ctx,
                                tamis_error *why)
{
    b->saving = true;
    const tamis_status s = tamis_write(b->t, piece, ctx, why);
    b->saving = false;
    return s;
}

uint8_t *native_piece(struct native_body *b, const tamis_memory *memory, uint64_t offset,
                      size_t *size)
{
    const uint64_t all = tamis_image_size(b->t), left = offset < all ? all - offset : 0;
    struct filling f = {.size = *size < left ? *size : (size_t)left, .skip = offset};
    f.p = memory->alloc(NULL, f.size);
    if (f.p == NULL) return NULL;
    if (write_image(b, fill_dump, &f, NULL) != TAMIS_OK || f.at != f.size) {
        redis.Free(f.p);
        return NULL;
    }
    *size = f.size;
    return f.p;
}

uint8_t *native_image(struct native_body *b, const tamis_memory *memory, size_t *size)
{
    *size = SIZE_MAX;
    return native_piece(b, memory, 0, size);
}

/* Copies through the image, because a copy of the handle would count its memory together with the
 * original. */
struct native_body *native_copy(struct native_body *b, tamis_error *why)
{
    size_t size;
    uint8_t *image = native_image(b, &redis_memory, &size);
    if (image == NULL) {
        *why = (tamis_error){.status = TAMIS_ENOMEM, .text = "no memory for a copy"};
        return NULL;
    }
    struct native_body *copy = native_load(image, size, REDIS_OPEN_BYTES, why);
    redis.Free(image);
    return copy;
}

/* --- The methods of the type ------------------------------------------------------------------ */

static tamis_status save_piece(void *io, const void *bytes, size_t n)
{
    if (n > 0) redis.SaveStringBuffer(io, bytes, n);
    return TAMIS_OK;
}

static void save(redis_io *io, void *value)
{
    const struct native *n = value;
    tamis_error why;
    if (write_image(n->body, save_piece, io, &why) != TAMIS_OK)
        redis.LogIOError(io, "warning", NAME ": a value was not saved: %s", why.text);
    redis.SaveStringBuffer(io, "", 0);
}

/* Reads into a buffer that doubles: no length is trusted before its bytes have arrived. */
static uint8_t *read_image(redis_io *io, size_t *size)
{
    uint8_t *image = NULL;
    size_t room = 0;
    *size = 0;
    for (;;) {
        size_t n = 0;
        char *piece = redis.LoadStringBuffer(io, &n);
        if (piece == NULL || redis.IsIOError(io)) n = SIZE_MAX;
        if (n != SIZE_MAX && n > room - *size) {
            const size_t wanted = *size + n > 2 * room ? *size + n : 2 * room;
            uint8_t *bigger = redis_memory.alloc(NULL, wanted);
            if (bigger != NULL && image != NULL) memcpy(bigger, image, *size);
            if (image != NULL) redis.Free(image);
            image = bigger;
            room = wanted;
            if (image == NULL) n = SIZE_MAX;
        }
        if (n != SIZE_MAX && n > 0) memcpy(image + *size, piece, n);
        if (piece != NULL) redis.Free(piece);
        if (n == SIZE_MAX) {
            if (image != NULL) redis.Free(image);
            return NULL;
        }
        if (n == 0) return image;
        *size += n;
    }
}

static void *load_native(redis_io *io, int encver)
{
    tamis_error why = {.text = "it ends too early, or there is no memory"};
    size_t size = 0;
    struct native_body *b = NULL;
    struct native *value = NULL;
    if (encver != ENCVER) {
        redis_refused(redis_load_source(), NAME, "unknown version");
        redis.LogIOError(io, "warning", NAME ": unknown version %d", encver);
        return NULL;
    }
    uint8_t *image = read_image(io, &size);
    if (image != NULL) {
        b = native_load(image, size, REDIS_OPEN_BYTES, &why);
        redis.Free(image);
    }
    if (b != NULL) value = native_value(b);
    if (value == NULL) {
        redis_refused(redis_load_source(), NAME, why.text);
        redis.LogIOError(io, "warning", NAME ": a value is refused: %s", why.text);
    }
    return redis_value_made(REDIS_TAMIS, value);
}

static void rewrite(redis_io *io, redis_string *key, void *value)
{
    size_t size;
    uint8_t *image = native_image(((struct native *)value)->body, &redis_saving_memory, &size);
    if (image == NULL) {
        redis.LogIOError(io, "warning",
                         NAME ": no memory to write a value to the append-only file");
        return;
    }
    redis.EmitAOF(io, "TAMIS.LOAD", "sb", key, (const char *)image, size);
    redis.Free(image);
}

static tamis_status digest_piece(void *digest, const void *bytes, size_t n)
{
    redis.DigestAddStringBuffer(digest, bytes, n);
    return TAMIS_OK;
}

static void digest(redis_digest *d, void *value)
{
    write_image(((struct native *)value)->body, digest_piece, d, NULL);
    redis.DigestEndSequence(d);
}

static void drop(void *value)
{
    struct native *n = value;
    native_free(n->body);
    TALLY->memory.free(TALLY, n);
    redis_value_gone(REDIS_TAMIS);
}

static size_t usage(redis_key_opt *ctx, const void *value, size_t samples)
{
    const struct native *n = value;
    (void)ctx, (void)samples;
    return redis.MallocSize((void *)(uintptr_t)n) + redis.MallocSize(n->body) + n->body->bytes;
}

static size_t native_effort(redis_key_opt *ctx, const void *value)
{
    (void)ctx;
    return 1 + (((const struct native *)value)->body->bytes >> 16);
}

static void *copy(redis_key_opt *ctx, const void *value)
{
    tamis_error why;
    (void)ctx;
    struct native_body *b = native_copy(((const struct native *)value)->body, &why);
    return b == NULL ? NULL : redis_value_made(REDIS_TAMIS, native_value(b));
}

/* A survey reads the counters of structures of up to this size, in about a millisecond. */
#define READ_AT_MOST (1u << 16)

/* Whether the counters of a structure may be saturated. A tally or a top only ever adds weights, so
 * no counter exceeds their sum. */
static bool may_be_saturated(const tamis_facts *f)
{
    if (f->kind == TAMIS_TALLY || f->kind == TAMIS_TOP) return f->weight == INT64_MAX;
    const uint32_t kind = f->inner_kind != 0 ? f->inner_kind : f->kind;
    return kind == TAMIS_COUNTING || (kind >= TAMIS_COUNT_MIN && kind != TAMIS_DISTINCT);
}

static uint64_t saturated_cells(const tamis *t, const tamis_facts *f)
{
    const uint64_t most = f->cell_bits == 64 ? INT64_MAX : (UINT64_C(1) << f->cell_bits) - 1;
    uint64_t n = 0;
    for (uint64_t i = 0; i < f->bytes * 8 / f->cell_bits; i++) n += tamis_cell(t, i) == most;
    return n;
}

/* Other structures would take up to 12 ms per MiB, and tamis_info would make sketches bigger by
 * what it keeps about their noise. For these a survey reports what the last TAMIS.INFO FULL found.
 * Counters stay saturated, so that number is a lower bound. Only TAMIS.ROTATE drops some, and makes
 * the structure unread. */
static void judge_image(const void *value, struct redis_verdict *out)
{
    struct native_body *b = ((const struct native *)value)->body;
    tamis_facts f = {.struct_size = sizeof f};
    tamis_stat(b->t, &f);
    out->overfull = f.overfull;
    if (!may_be_saturated(&f)) return;
    if ((f.kind == TAMIS_COUNTING || f.kind == TAMIS_COUNT_MIN) && f.bytes <= READ_AT_MOST) {
        b->saturated = saturated_cells(b->t, &f);
        out->read = f.bytes;
        b->read = true;
    }
    out->saturated = b->saturated;
    out->unread = !b->read;
}

redis_type *redis_native_type(redis_ctx *ctx)
{
    struct redis_type_methods methods = {.version = REDIS_TYPE_METHODS,
                                         .rdb_load = load_native,
                                         .rdb_save = save,
                                         .aof_rewrite = rewrite,
                                         .digest = digest,
                                         .free = drop,
                                         .mem_usage2 = usage,
                                         .free_effort2 = native_effort,
                                         .copy2 = copy};
    return redis_new_type(ctx, REDIS_TAMIS, NAME, ENCVER, &methods, judge_image);
}
