/* The TAMIS.* commands on whole structures: dump, load, merge, list and describe them. */
#include "native.h"

#include "../commands.h"

#include <tamis/distinct.h>

#include <inttypes.h>
#include <stdio.h>

int redis_tamis_dump(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    long long offset = 0, count = INT64_MAX;
    if (argc != 2 && argc != 4) return redis.WrongArity(ctx);
    if (argc == 4 && (!redis_number(argv[2], &offset) || !redis_number(argv[3], &count) ||
                      offset < 0 || count < 0))
        return redis_error(ctx, "ERR value is not an integer or out of range");
    if (native_open(ctx, argv[1], REDIS_READ, &open) == NULL) return REDIS_OK;
    size_t size = (uint64_t)count < SIZE_MAX ? (size_t)count : SIZE_MAX;
    struct native_body *b = ((struct native *)open.value)->body;
    uint8_t *image = native_piece(b, &redis_memory, (uint64_t)offset, &size);
    if (image == NULL)
        native_say(ctx, "no memory for the image");
    else
        redis.ReplyWithStringBuffer(ctx, (const char *)image, size);
    if (image != NULL) redis.Free(image);
    redis_close_key(&open);
    return REDIS_OK;
}

int redis_tamis_load(redis_ctx *ctx, redis_string **argv, int argc)
{
    tamis_error why;
    const bool replace = argc == 4 && redis_is(argv[3], "REPLACE");
    if (argc > 4) return redis.WrongArity(ctx);
    if (argc == 4 && !replace) return native_say(ctx, "TAMIS.LOAD accepts only the option REPLACE");
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_tamis_type, REDIS_READ | REDIS_WRITE);
    if ((open.other_type || open.value != NULL) && !replace) {
        redis_error(ctx, "BUSYKEY Target key name already exists.");
    } else {
        const tamis_bytes image = redis_bytes(argv[2]);
        struct native_body *b = native_load(image.p, image.len, native_limit(ctx), &why);
        if (b == NULL) {
            redis_refused(REDIS_BY_IMAGE, "TAMIS.LOAD", why.text);
            native_say(ctx, why.text);
        } else if (native_set(ctx, &open, b)) { /* only now is an old value replaced */
            redis_done(ctx, "tamis.load", argv[1]);
        }
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* Reads one part of an image. The string stays in place as long as the key is open and unchanged.
 * Returns false after an error reply. */
static bool open_part(redis_ctx *ctx, redis_string *name, redis_key **key, tamis_bytes *part)
{
    *key = redis.OpenKey(ctx, name, REDIS_READ);
    const int type = *key == NULL ? REDIS_KEY_EMPTY : redis.KeyType(*key);
    if (type == REDIS_KEY_STRING) {
        part->p = redis.StringDMA(*key, &part->len, REDIS_READ);
        return true;
    }
    if (type == REDIS_KEY_EMPTY)
        native_say(ctx, "a part of the image does not exist");
    else
        redis_wrong_type(ctx);
    if (*key != NULL) redis.CloseKey(*key);
    return false;
}

/* Counts a refused image, and replies with the reason. */
static void refuse_parts(redis_ctx *ctx, const char *reason)
{
    redis_refused(REDIS_BY_IMAGE, "TAMIS.LOADPARTS", reason);
    native_say(ctx, reason);
}

/* Returns the strings of n keys as one image, or NULL after an error reply. */
static uint8_t *joined_parts(redis_ctx *ctx, redis_string **names, int n, size_t *size)
{
    redis_key *key;
    tamis_bytes part;
    uint8_t *image = NULL;
    size_t at = 0;
    *size = 0;
    for (int i = 0; i < n; i++) {
        if (!open_part(ctx, names[i], &key, &part)) return NULL;
        *size += part.len;
        redis.CloseKey(key);
    }
    if (*size > native_limit(ctx))
        refuse_parts(ctx, "the image is bigger than tamis-max-bytes");
    else if ((image = redis_memory.alloc(NULL, *size)) == NULL)
        refuse_parts(ctx, "no memory for the image");
    /* Nothing runs between the two loops, so the parts are the same. */
    for (int i = 0; i < n && image != NULL && open_part(ctx, names[i], &key, &part); i++) {
        const size_t room = *size - at, len = part.len < room ? part.len : room;
        if (len > 0) memcpy(image + at, part.p, len);
        at += len;
        redis.CloseKey(key);
    }
    return image;
}

int redis_tamis_loadparts(redis_ctx *ctx, redis_string **argv, int argc)
{
    tamis_error why;
    size_t size;
    uint8_t *image = joined_parts(ctx, argv + 2, argc - 2, &size);
    if (image == NULL) return REDIS_OK;
    struct native_body *b = native_load(image, size, native_limit(ctx), &why);
    redis.Free(image);
    if (b == NULL) {
        refuse_parts(ctx, why.text);
        return REDIS_OK;
    }
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_tamis_type, REDIS_READ | REDIS_WRITE);
    if (native_set(ctx, &open, b)) redis_done(ctx, "tamis.load", argv[1]);
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- Union ------------------------------------------------------------------------------------ */

/* Merges a structure and the sources from argv[2] on into a new one, so nothing has changed if one
 * of them does not fit. Returns NULL after an error reply. */
static struct native_body *united(redis_ctx *ctx, redis_string **argv, int argc,
                                  struct native_body *into)
{
    tamis_error why;
    struct native_body *sum = into == NULL ? NULL : native_copy(into, &why);
    if (into != NULL && sum == NULL) native_say(ctx, why.text);
    for (int i = 2; i < argc && (sum != NULL || (into == NULL && i == 2)); i++) {
        struct redis_open open;
        const tamis *from = native_open(ctx, argv[i], REDIS_READ, &open);
        bool fits = from != NULL;
        if (fits) {
            struct native_body *source = ((struct native *)open.value)->body;
            fits = source != into;
            if (!fits) {
                native_say(ctx, "a structure cannot be merged into itself");
            } else if (sum == NULL) {
                sum = native_copy(source, &why);
                fits = sum != NULL;
            } else {
                fits = tamis_merge(sum->t, from, &why) == TAMIS_OK;
            }
            if (!fits && source != into) native_say(ctx, why.text);
            redis_close_key(&open);
        }
        if (!fits) {
            native_free(sum);
            return NULL;
        }
    }
    return sum;
}

int redis_tamis_merge(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open =
        redis_open_key(ctx, argv[1], redis_tamis_type, REDIS_READ | REDIS_WRITE);
    struct native *value = open.value;
    if (open.other_type) {
        redis_wrong_type(ctx);
    } else {
        struct native_body *sum = united(ctx, argv, argc, value == NULL ? NULL : value->body);
        bool done = sum != NULL;
        if (done && value != NULL) {
            /* The value is replaced inside the key, so that the key keeps its time to live. */
            native_free(value->body);
            value->body = sum;
        } else if (done) {
            done = native_set(ctx, &open, sum);
        }
        if (done) {
            redis_done(ctx, "tamis.merge", argv[1]);
        }
    }
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- The most frequent items ------------------------------------------------------------------ */

static void reply_item(redis_ctx *ctx, const tamis *t, const tamis_heavy *h)
{
    char text[24];
    const size_t n = h->item.p != NULL ? native_item(t, h->item, text) : 0;
    if (h->item.p == NULL) /* the text was dropped */
        redis.ReplyWithNull(ctx);
    else if (n != 0)
        redis.ReplyWithStringBuffer(ctx, text, n);
    else
        redis.ReplyWithStringBuffer(ctx, h->item.p, h->item.len);
}

static void reply_heavy(redis_ctx *ctx, const tamis *t, const tamis_heavy *h)
{
    redis.ReplyWithArray(ctx, 4);
    reply_item(ctx, t, h);
    redis.ReplyWithLongLong(ctx, h->count.estimate);
    redis.ReplyWithLongLong(ctx, h->count.lower);
    redis.ReplyWithLongLong(ctx, h->count.upper);
}

static void reply_heavy_full(redis_ctx *ctx, const tamis *t, const tamis_heavy *h)
{
    char hash[17];
    const bool names = native_begin_fields(ctx, 3 + NATIVE_ESTIMATE);
    if (names) redis.ReplyWithSimpleString(ctx, "item");
    reply_item(ctx, t, h);
    if (names) redis.ReplyWithSimpleString(ctx, "length");
    redis.ReplyWithLongLong(ctx, (long long)h->length);
    if (names) redis.ReplyWithSimpleString(ctx, "hash");
    snprintf(hash, sizeof hash, "%016" PRIx64, h->hash);
    redis.ReplyWithStringBuffer(ctx, hash, 16);
    native_reply_estimate(ctx, names, &h->count);
}

/* For a kind without a list of items, the library returns an empty list. Replying with it would be
 * silently wrong. */
static bool keeps_list(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return tamis_stat(t, &f) == TAMIS_OK && f.entries != 0;
}

int redis_tamis_top(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    long long wanted = 10;
    const bool full = argc > 2 && redis_is(argv[argc - 1], "FULL");
    const int words = argc - full;
    if (words > 4) return redis.WrongArity(ctx);
    if (words == 4)
        return native_say(ctx, "TAMIS.TOP accepts only the option FULL, after the number");
    if (words == 3 && (!redis_number(argv[2], &wanted) || wanted < 0))
        return redis_error(ctx, "ERR value is not an integer or out of range");
    const tamis *t = native_open(ctx, argv[1], REDIS_READ, &open);
    if (t == NULL) return REDIS_OK;
    size_t n = tamis_top(t, NULL, 0);
    if (n > (uint64_t)wanted) n = (size_t)wanted;
    tamis_heavy *list = redis_memory.alloc(NULL, n * sizeof *list);
    if (n == 0 && wanted > 0 && !keeps_list(t)) {
        native_say(ctx, "this kind keeps no list of items; top does");
    } else if (list == NULL) {
        native_say(ctx, "no memory");
    } else {
        n = n == 0 ? 0 : tamis_top(t, list, n);
        redis.ReplyWithArray(ctx, (long)n);
        for (size_t i = 0; i < n && full; i++) reply_heavy_full(ctx, t, &list[i]);
        for (size_t i = 0; i < n && !full; i++) reply_heavy(ctx, t, &list[i]);
    }
    if (list != NULL) redis_memory.free(NULL, list);
    redis_close_key(&open);
    return REDIS_OK;
}

/* --- Facts ------------------------------------------------------------------------------------ */

static void real_field(redis_ctx *ctx, const char *name, double value)
{
    redis.ReplyWithSimpleString(ctx, name);
    redis.ReplyWithDouble(ctx, value);
}

static void truth_field(redis_ctx *ctx, const char *name, bool value)
{
    redis.ReplyWithSimpleString(ctx, name);
    redis.ReplyWithBool(ctx, value);
}

static void text_field(redis_ctx *ctx, const char *name, const char *value)
{
    redis.ReplyWithSimpleString(ctx, name);
    redis.ReplyWithStringBuffer(ctx, value, strlen(value));
}

/* Replies with what is known without reading the cells, and returns the number of fields. */
static long reply_known_facts(redis_ctx *ctx, const tamis_facts *f)
{
    const char *encoding = tamis_encoding_name(f->encoding);
    text_field(ctx, "kind", tamis_kind_name(f->kind));
    text_field(ctx, "inner-kind", f->inner_kind != 0 ? tamis_kind_name(f->inner_kind) : "");
    redis_field(ctx, "generations", f->generations);
    redis_field(ctx, "bytes", (long long)f->bytes);
    redis_field(ctx, "planned-items", (long long)f->planned_items);
    real_field(ctx, "rate-planned", f->fpr_planned);
    redis_field(ctx, "m", (long long)f->m);
    redis_field(ctx, "k", f->k);
    redis_field(ctx, "seed", (long long)f->seed);
    redis_field(ctx, "weight", f->weight);
    truth_field(ctx, "overfull", f->overfull);
    truth_field(ctx, "sealed", f->sealed);
    truth_field(ctx, "collecting", f->collecting);
    truth_field(ctx, "conservative", f->conservative);
    truth_field(ctx, "removable", f->removable);
    truth_field(ctx, "hash-suspect", f->hash_suspect);
    redis_field(ctx, "epoch", (long long)f->epoch);
    if (f->encoding == TAMIS_KEYS_UNSTATED) return 17;
    text_field(ctx, "encoding", encoding != NULL ? encoding : "unknown");
    redis_field(ctx, "key-width", f->key_width);
    return 19;
}

/* And with what is computed from the cells. */
static long reply_read_facts(redis_ctx *ctx, const tamis_facts *f)
{
    real_field(ctx, "items-estimate", f->items_estimate);
    real_field(ctx, "items-low", f->items_low);
    real_field(ctx, "items-high", f->items_high);
    real_field(ctx, "rate-now", f->fpr_now);
    real_field(ctx, "miss-rate", f->miss_rate);
    real_field(ctx, "fill", f->fill);
    real_field(ctx, "bits-per-item", f->bits_per_item);
    real_field(ctx, "bound-bits", f->bound_bits);
    real_field(ctx, "bound-ratio", f->bound_ratio);
    text_field(ctx, "bound", f->bound != TAMIS_BOUND_NONE ? tamis_bound_name(f->bound) : "none");
    redis_field(ctx, "noise-floor", f->noise_999);
    redis_field(ctx, "saturated", (long long)f->saturated);
    return 12;
}

static void reply_facts(redis_ctx *ctx, struct native_body *b, bool full, const tamis_facts *f)
{
    const bool distinct = f->kind == TAMIS_DISTINCT || f->inner_kind == TAMIS_DISTINCT;
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    redis.ReplyWithMap(ctx, REDIS_POSTPONED);
    long fields = reply_known_facts(ctx, f);
    if (full || !distinct) { /* only the cells of such a sketch show its number */
        redis_field(ctx, "items", (long long)f->items);
        fields++;
    }
    if (distinct) {
        real_field(ctx, "error", f->error); /* also as long as the number is exact */
        fields++;
    }
    if (full && distinct && tamis_distinct(b->t, &n, NULL) == TAMIS_OK) {
        truth_field(ctx, "exact", n.exact);
        fields++;
    }
    if (full) fields += reply_read_facts(ctx, f);
    redis.ReplySetMapLength(ctx, fields);
}

int redis_tamis_info(redis_ctx *ctx, redis_string **argv, int argc)
{
    struct redis_open open;
    tamis_facts f = {.struct_size = sizeof f};
    const bool full = argc == 3 && redis_is(argv[2], "FULL");
    if (argc > 3) return redis.WrongArity(ctx);
    if (argc == 3 && !full) return native_say(ctx, "TAMIS.INFO accepts only the option FULL");
    const tamis *t = native_open(ctx, argv[1], REDIS_READ, &open);
    if (t == NULL) return REDIS_OK;
    struct native_body *b = ((struct native *)open.value)->body;
    const tamis_status s = full ? tamis_info(t, &f) : tamis_stat(t, &f);
    if (s != TAMIS_OK) {
        native_say(ctx, tamis_status_message(s));
    } else {
        if (full) { /* for the next survey */
            b->saturated = f.saturated;
            b->read = true;
        }
        reply_facts(ctx, b, full, &f);
    }
    redis_close_key(&open);
    return REDIS_OK;
}
