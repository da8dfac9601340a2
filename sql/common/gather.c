#include "gather.h"

#include "fail.h"
#include "hash_set.h"
#include "keys.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/count.h>
#include <tamis/map.h>

#define MOST_PENDING 4096u
#define FIRST_PENDING 64u
#define BATCH 64u /* keys or hashes that are added at once, from the stack */

enum method {
    PENDING, /* keys in `pending` */
    HANDLE,  /* a filter or sketch in `t`; the last keys are in `pending` */
    HASHES,  /* hashes in `set`; for a map, with their values */
    UNION    /* images, merged in `t` */
};

struct gather {
    const tamis_memory *memory;
    enum method method;
    tamis_plan asked, plan; /* the second one is solved */
    uint64_t most;
    tamis *t;      /* PENDING, HASHES: the last result */
    char *pending; /* for each key: its length and weight, and its bytes */
    size_t used, room, limit;
    struct hash_set set;
};

enum { HEAD = sizeof(uint32_t) + sizeof(int64_t) };

/* --- Plans ------------------------------------------------------------------------------------ */

static bool is_sealed_kind(uint32_t kind)
{
    return kind == TAMIS_RIBBON || kind == TAMIS_FUSE || kind == TAMIS_VALUE_MAP;
}

static bool is_sketch(uint32_t kind)
{
    return kind >= TAMIS_COUNT_MIN;
}

static bool can_merge(uint32_t kind)
{
    return is_sketch(kind) || kind == TAMIS_BLOOM || kind == TAMIS_PARTITIONED ||
           kind == TAMIS_BLOCKED || kind == TAMIS_COUNTING;
}

static tamis_status check_size(uint64_t bytes, uint64_t most, tamis_error *why)
{
    if (bytes <= most) return TAMIS_OK;
    return sql_fail(why, TAMIS_EFULL,
                    "this takes %" PRIu64 " bytes, but a value of this database has at most "
                    "%" PRIu64,
                    bytes, most);
}

static tamis_status solve(struct gather *g, tamis_error *why)
{
    g->plan = g->asked;
    if (g->plan.kind == TAMIS_WINDOW || g->plan.kind == TAMIS_EXACT ||
        g->plan.kind == TAMIS_PRIVATE)
        return sql_fail(why, TAMIS_EINVAL, "rows do not make a filter of kind %s",
                        tamis_kind_name(g->plan.kind));
    /* It is built for the keys that there are, whatever number was planned. */
    if (is_sealed_kind(g->plan.kind) && g->plan.items == 0) g->plan.items = 1;
    const tamis_status s = tamis_solve(&g->plan, NULL, why);
    return s != TAMIS_OK ? s : check_size(g->plan.bytes, g->most, why);
}

/* --- Life ------------------------------------------------------------------------------------- */

static tamis_status no_memory(tamis_error *why)
{
    return sql_fail(why, TAMIS_ENOMEM, "no memory");
}

static struct gather *gather_alloc(uint64_t most, const tamis_memory *memory)
{
    struct gather *g = memory->alloc(memory->ctx, sizeof *g);
    if (g == NULL) return NULL;
    memset(g, 0, sizeof *g);
    g->memory = memory;
    g->most = most;
    return g;
}

tamis_status gather_new(const tamis_plan *plan, uint64_t most, const tamis_memory *memory,
                        struct gather **out, tamis_error *why)
{
    struct gather *g = gather_alloc(most, memory);
    *out = NULL;
    if (g == NULL) return no_memory(why);
    g->asked = *plan;
    const tamis_status s = solve(g, why);
    if (s != TAMIS_OK) {
        gather_free(g);
        return s;
    }
    g->method = can_merge(g->plan.kind) ? PENDING : HASHES;
    g->set.values = g->plan.kind == TAMIS_VALUE_MAP;
    g->limit = g->plan.bytes / 4 < MOST_PENDING ? (size_t)g->plan.bytes / 4 : MOST_PENDING;
    *out = g;
    return TAMIS_OK;
}

tamis_status gather_new_union(uint64_t most, const tamis_memory *memory, struct gather **out,
                              tamis_error *why)
{
    *out = gather_alloc(most, memory);
    if (*out == NULL) return no_memory(why);
    (*out)->method = UNION;
    return TAMIS_OK;
}

tamis_status gather_like(const struct gather *other, const tamis_memory *memory,
                         struct gather **out, tamis_error *why)
{
    return other->method == UNION ? gather_new_union(other->most, memory, out, why)
                                  : gather_new(&other->asked, other->most, memory, out, why);
}

const tamis_plan *gather_plan(const struct gather *g)
{
    return &g->asked;
}

void gather_free(struct gather *g)
{
    if (g == NULL) return;
    tamis_close(g->t);
    if (g->pending != NULL) g->memory->free(g->memory->ctx, g->pending);
    hash_set_free(&g->set, g->memory);
    g->memory->free(g->memory->ctx, g);
}

bool gather_has_plan(const struct gather *g, const tamis_plan *plan)
{
    const tamis_plan *p = &g->asked;
    return g->method != UNION && p->kind == plan->kind && p->items == plan->items &&
           p->fpr == plan->fpr && p->bytes == plan->bytes && p->error == plan->error &&
           p->cell_bits == plan->cell_bits;
}

static tamis_options options_of(const struct gather *g)
{
    return (tamis_options){
        .struct_size = sizeof(tamis_options), .max_bytes = g->most, .memory = g->memory};
}

tamis_status sql_open(tamis_bytes image, uint64_t most, const tamis_memory *memory, tamis **out,
                      tamis_error *why)
{
    const tamis_options o = {
        .struct_size = sizeof o, .flags = TAMIS_STEADY, .max_bytes = most, .memory = memory};
    return tamis_load(image.p, image.len, &o, out, why);
}

/* --- Keys that are kept as they are ----------------------------------------------------------- */

/* Makes room for so many more bytes; false: no memory. */
static bool make_more_room(struct gather *g, size_t more)
{
    size_t room = g->room != 0 ? g->room : FIRST_PENDING;
    while (room - g->used < more) room *= 2;
    if (room > g->limit && g->used + more <= g->limit) room = g->limit;
    char *bigger = g->memory->alloc(g->memory->ctx, room);
    if (bigger == NULL) return false;
    if (g->used != 0) memcpy(bigger, g->pending, g->used);
    if (g->pending != NULL) g->memory->free(g->memory->ctx, g->pending);
    g->pending = bigger;
    g->room = room;
    return true;
}

static inline bool make_room(struct gather *g, size_t more)
{
    return g->room - g->used >= more || make_more_room(g, more);
}

static inline void put_pending(struct gather *g, tamis_bytes key, int64_t weight)
{
    const uint32_t length = (uint32_t)key.len;
    char *at = g->pending + g->used;
    memcpy(at, &length, sizeof length);
    memcpy(at + sizeof length, &weight, sizeof weight);
    if (key.len != 0) memcpy(at + HEAD, key.p, key.len);
    g->used += HEAD + key.len;
}

/* Reads a batch of kept keys from *at on, which it moves on. Returns 0 at the end, and if a length
 * is wrong. */
static size_t take_pending(const struct gather *g, size_t *at, tamis_bytes *keys, int64_t *weights)
{
    size_t n = 0;
    while (n < BATCH && g->used - *at >= HEAD) {
        uint32_t length;
        memcpy(&length, g->pending + *at, sizeof length);
        memcpy(&weights[n], g->pending + *at + sizeof length, sizeof *weights);
        if (length > g->used - *at - HEAD) break;
        keys[n++] = (tamis_bytes){g->pending + *at + HEAD, length};
        *at += HEAD + length;
    }
    return n;
}

/* --- Values of a map -------------------------------------------------------------------------- */

/* Adds a hash with its value. `key` is for the error; NULL: it is not known. */
static tamis_status add_pair(struct gather *g, tamis_hash h, const tamis_bytes *key,
                             tamis_error *why)
{
    const uint32_t value = (uint32_t)h.lo;
    uint32_t before = value;
    char shown[SQL_SHOWN_ROOM];
    if (!hash_set_find(&g->set, h, &before))
        return hash_set_add(&g->set, g->memory, h) ? TAMIS_OK : no_memory(why);
    if (before == value) return TAMIS_OK;
    if (key != NULL) sql_show_key(*key, shown);
    return sql_fail(why, TAMIS_EINVAL, "%s%s has two values, %" PRIu32 " and %" PRIu32,
                    key != NULL ? "the key " : "a key", key != NULL ? shown : "",
                    before < value ? before : value, before < value ? value : before);
}

static tamis_status take_value(struct gather *g, tamis_bytes key, int64_t value, tamis_error *why)
{
    const uint32_t bits = g->asked.cell_bits != 0 ? g->asked.cell_bits : SQL_VALUE_BITS;
    tamis_hash h = tamis_hash_bytes(g->plan.seed, key.p, key.len);
    if (value < 0 || value >> bits != 0)
        return sql_fail(why, TAMIS_EINVAL,
                        "the value of a key must be from 0 to %" PRIu64 ", not %" PRId64,
                        (UINT64_C(1) << bits) - 1, value);
    h.lo = (h.lo & ~(uint64_t)UINT32_MAX) | (uint64_t)value;
    return add_pair(g, h, &key, why);
}

/* How many bits the values need. */
static uint32_t value_bits(const struct gather *g)
{
    tamis_hash some[BATCH];
    size_t at = 0, n;
    uint32_t all = 0, bits = 1;
    while ((n = hash_set_take(&g->set, &at, some, BATCH)) != 0)
        for (size_t i = 0; i < n; i++) all |= (uint32_t)some[i].lo;
    while (all >> (bits - 1) > 1) bits++;
    return bits;
}

/* --- Adding ----------------------------------------------------------------------------------- */

static tamis_status add_to_handle(struct gather *g, const tamis_bytes *keys, const int64_t *weights,
                                  size_t n, tamis_error *why)
{
    if (is_sketch(g->plan.kind) && g->plan.kind != TAMIS_DISTINCT)
        return tamis_add_weight_many(g->t, keys, weights, n, NULL, why);
    const tamis_status s = n == 1 ? tamis_add(g->t, keys->p, keys->len, NULL)
                                  : tamis_add_many(g->t, keys, n, NULL, NULL);
    return s == TAMIS_OK ? s : sql_fail(why, s, "%s", tamis_status_message(s));
}

/* Adds the kept keys to the filter. They stay, because the filter may be only a result. */
static tamis_status add_pending(struct gather *g, tamis_error *why)
{
    tamis_bytes keys[BATCH];
    int64_t weights[BATCH];
    size_t at = 0, n;
    tamis_status s = TAMIS_OK;
    while (s == TAMIS_OK && (n = take_pending(g, &at, keys, weights)) != 0)
        s = add_to_handle(g, keys, weights, n, why);
    return s;
}

/* Creates the filter and adds the kept keys. */
static tamis_status build_from_pending(struct gather *g, tamis_error *why)
{
    const tamis_options o = options_of(g);
    tamis_close(g->t);
    tamis_status s = tamis_create(&g->plan, &o, &g->t, why);
    if (s == TAMIS_OK) s = add_pending(g, why);
    if (s == TAMIS_OK) return s;
    tamis_close(g->t);
    g->t = NULL;
    return s;
}

/* Moves the kept keys into the filter, which is created if there is none. Many at once are faster
 * than each by itself. */
static tamis_status flush(struct gather *g, tamis_error *why)
{
    const tamis_status s = g->method == PENDING ? build_from_pending(g, why) : add_pending(g, why);
    if (s != TAMIS_OK) return s;
    g->used = 0;
    g->method = HANDLE;
    return TAMIS_OK;
}

tamis_status gather_add(struct gather *g, tamis_bytes key, int64_t weight, tamis_error *why)
{
    if (g->set.values) return take_value(g, key, weight, why);
    if (g->method == HASHES)
        return hash_set_add(&g->set, g->memory, tamis_hash_bytes(g->plan.seed, key.p, key.len))
                   ? TAMIS_OK
                   : no_memory(why);
    if (HEAD + key.len > g->limit - g->used) {
        const tamis_status s = flush(g, why);
        if (s != TAMIS_OK) return s;
        if (HEAD + key.len > g->limit) return add_to_handle(g, &key, &weight, 1, why);
    }
    if (!make_room(g, HEAD + key.len)) return no_memory(why);
    put_pending(g, key, weight);
    return TAMIS_OK;
}

tamis_status gather_add_image(struct gather *g, tamis_bytes image, tamis_error *why)
{
    tamis *t;
    tamis_status s = sql_open(image, g->most, g->memory, &t, why);
    if (s != TAMIS_OK) return s;
    if (g->t == NULL) {
        g->t = t;
        return TAMIS_OK;
    }
    s = tamis_merge(g->t, t, why);
    tamis_close(t);
    return s;
}

/* --- Combining -------------------------------------------------------------------------------- */

static tamis_status combine_pending(struct gather *g, const struct gather *from, tamis_error *why)
{
    tamis_bytes keys[BATCH];
    int64_t weights[BATCH];
    size_t at = 0, n;
    tamis_status s = TAMIS_OK;
    while (s == TAMIS_OK && (n = take_pending(from, &at, keys, weights)) != 0)
        for (size_t i = 0; i < n && s == TAMIS_OK; i++) s = gather_add(g, keys[i], weights[i], why);
    return s;
}

/* Adds a hash of another state. */
static tamis_status take_hash(struct gather *g, tamis_hash h, tamis_error *why)
{
    if (g->set.values) return add_pair(g, h, NULL, why);
    return hash_set_add(&g->set, g->memory, h) ? TAMIS_OK : no_memory(why);
}

static tamis_status combine_hashes(struct gather *g, const struct gather *from, tamis_error *why)
{
    tamis_hash some[BATCH];
    size_t at = 0, n;
    tamis_status s = TAMIS_OK;
    while (s == TAMIS_OK && (n = hash_set_take(&from->set, &at, some, BATCH)) != 0)
        for (size_t i = 0; i < n && s == TAMIS_OK; i++) s = take_hash(g, some[i], why);
    return s;
}

struct buffer {
    char *p;
    size_t used, room;
};

static tamis_status put_buffer(void *ctx, const void *bytes, size_t n)
{
    struct buffer *b = ctx;
    if (n > b->room - b->used) return TAMIS_EINVAL;
    memcpy(b->p + b->used, bytes, n);
    b->used += n;
    return TAMIS_OK;
}

/* A copy in the memory of g, which the copy of tamis_copy would not have. */
static tamis_status copy_into(struct gather *g, const tamis *from, tamis_error *why)
{
    struct buffer b = {.room = (size_t)tamis_image_size(from)};
    b.p = g->memory->alloc(g->memory->ctx, b.room);
    if (b.p == NULL) return no_memory(why);
    tamis_status s = tamis_write(from, put_buffer, &b, why);
    if (s == TAMIS_OK) s = sql_open((tamis_bytes){b.p, b.used}, g->most, g->memory, &g->t, why);
    g->memory->free(g->memory->ctx, b.p);
    return s;
}

tamis_status gather_combine(struct gather *g, const struct gather *from, tamis_error *why)
{
    if ((g->method == UNION) != (from->method == UNION) ||
        (g->method != UNION && !gather_has_plan(g, &from->asked)))
        return sql_fail(why, TAMIS_EMISMATCH, "the parameters differ between rows of a group");
    if (from->method == HASHES) return combine_hashes(g, from, why);
    if (from->method == PENDING) return combine_pending(g, from, why);
    if (from->t == NULL) return TAMIS_OK;
    if (g->method == UNION && g->t == NULL) return copy_into(g, from->t, why);
    tamis_status s = g->method == UNION ? TAMIS_OK : flush(g, why);
    if (s == TAMIS_OK) s = tamis_merge(g->t, from->t, why);
    return s != TAMIS_OK ? s : combine_pending(g, from, why);
}

/* --- The result ------------------------------------------------------------------------------- */

static tamis_status add_hashes(struct gather *g, const tamis_hash *h, size_t n, tamis_error *why)
{
    uint32_t values[BATCH];
    tamis_hash whole[BATCH];
    if (g->set.values) {
        for (size_t i = 0; i < n; i++) {
            values[i] = (uint32_t)h[i].lo;
            /* A map ignores the lower half of lo, but the library suspects hashes whose bits do not
             * vary, as those of small values. */
            whole[i] = h[i];
            whole[i].lo ^= (uint32_t)(h[i].hi * UINT64_C(0x9e3779b97f4a7c15) >> 32);
        }
        return tamis_add_value_hashes(g->t, whole, values, n, NULL, why);
    }
    const tamis_status s = tamis_add_hashes(g->t, h, n, NULL, NULL);
    return s == TAMIS_OK ? s : sql_fail(why, s, "%s", tamis_status_message(s));
}

/* A filter of the hashes, sealed if it is of such a kind. */
static tamis_status build_from_hashes(struct gather *g, tamis_error *why)
{
    const tamis_options o = options_of(g);
    tamis_hash some[BATCH];
    size_t at = 0, n;
    tamis_plan plan = g->asked;
    if (is_sealed_kind(plan.kind)) {
        plan.items = hash_set_count(&g->set) != 0 ? hash_set_count(&g->set) : 1;
        plan.bytes = 0;
    }
    if (g->set.values && plan.cell_bits == 0) plan.cell_bits = value_bits(g);
    tamis_close(g->t);
    g->t = NULL;
    tamis_status s = tamis_solve(&plan, NULL, why);
    if (s == TAMIS_OK) s = check_size(plan.bytes, g->most, why);
    if (s == TAMIS_OK) s = tamis_create(&plan, &o, &g->t, why);
    while (s == TAMIS_OK && (n = hash_set_take(&g->set, &at, some, BATCH)) != 0)
        s = add_hashes(g, some, n, why);
    if (s == TAMIS_OK && is_sealed_kind(plan.kind)) s = tamis_seal(g->t, why);
    if (s != TAMIS_OK) {
        tamis_close(g->t);
        g->t = NULL;
    }
    return s;
}

tamis_status sql_judge(const tamis *t, bool *overfull, tamis_error *why)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    *overfull = false;
    tamis_stat(t, &f);
    if (is_sketch(f.kind) || is_sketch(f.inner_kind) || f.sealed || f.collecting) return TAMIS_OK;
    const tamis_status s = tamis_info(t, &f);
    if (s != TAMIS_OK) return sql_fail(why, s, "%s", tamis_status_message(s));
    *overfull = f.overfull;
    if (!f.overfull || f.fpr_now <= 2 * f.fpr_planned) return TAMIS_OK;
    return sql_fail(why, TAMIS_EFULL,
                    "%" PRIu64 " items were planned, but there are about %.0f, so the "
                    "false-positive rate would be %.2g instead of %.2g: plan more items",
                    f.planned_items, f.items_estimate, f.fpr_now, f.fpr_planned);
}

tamis_status gather_result(struct gather *g, const tamis **out, bool *overfull, tamis_error *why)
{
    tamis_status s = TAMIS_OK;
    *out = NULL;
    *overfull = false;
    if (g->method == PENDING) s = build_from_pending(g, why);
    if (g->method == HANDLE) s = flush(g, why);
    if (g->method == HASHES) s = build_from_hashes(g, why);
    if (s == TAMIS_OK && g->t != NULL) s = sql_judge(g->t, overfull, why);
    if (s == TAMIS_OK) *out = g->t;
    return s;
}

static int by_key(const void *first, const void *second)
{
    const tamis_bytes *a = &((const tamis_heavy *)first)->item;
    const tamis_bytes *b = &((const tamis_heavy *)second)->item;
    const size_t shorter = a->len < b->len ? a->len : b->len;
    const int order = shorter != 0 ? memcmp(a->p, b->p, shorter) : 0;
    return order != 0 ? order : (a->len > b->len) - (a->len < b->len);
}

static int by_count(const void *first, const void *second)
{
    const int64_t a = ((const tamis_heavy *)first)->count.estimate;
    const int64_t b = ((const tamis_heavy *)second)->count.estimate;
    return a != b ? (a < b) - (a > b) : by_key(first, second);
}

static tamis_heavy exact_item(tamis_bytes key, int64_t count)
{
    return (tamis_heavy){
        .item = key,
        .length = key.len,
        .count = {
            .estimate = count, .lower = count, .upper = count, .confidence = 1, .certain = count}};
}

_Static_assert(GATHER_FEW *HEAD >= MOST_PENDING, "all kept keys have room");

bool gather_few(const struct gather *g, tamis_heavy room[GATHER_FEW], size_t n, size_t *listed)
{
    tamis_bytes keys[BATCH];
    int64_t weights[BATCH];
    size_t at = 0, some, all = 0, distinct = 0;
    if (g->method != PENDING) return false;
    while ((some = take_pending(g, &at, keys, weights)) != 0)
        for (size_t i = 0; i < some; i++) room[all++] = exact_item(keys[i], weights[i]);
    if (all != 0) qsort(room, all, sizeof *room, by_key);
    for (size_t i = 0; i < all; i++) {
        const bool again = distinct != 0 && by_key(&room[distinct - 1], &room[i]) == 0;
        if (again)
            room[distinct - 1] = exact_item(room[i].item, room[distinct - 1].count.estimate +
                                                              room[i].count.estimate);
        else
            room[distinct++] = room[i];
    }
    if (distinct != 0) qsort(room, distinct, sizeof *room, by_count);
    *listed = distinct < n ? distinct : n;
    return true;
}

void gather_forget_result(struct gather *g)
{
    if (g->method != PENDING && g->method != HASHES) return;
    tamis_close(g->t);
    g->t = NULL;
}

/* --- Between processes ------------------------------------------------------------------------ */

struct wire {
    uint32_t method, reserved;
    uint64_t most, image, rest; /* the sizes of the image and of what follows it */
    tamis_plan asked;
};

static bool has_image(const struct gather *g)
{
    return (g->method == HANDLE || g->method == UNION) && g->t != NULL;
}

static uint64_t image_size(const struct gather *g)
{
    return has_image(g) ? tamis_image_size(g->t) : 0;
}

static uint64_t rest_size(const struct gather *g)
{
    return g->method == HASHES ? hash_set_count(&g->set) * sizeof(tamis_hash) : g->used;
}

uint64_t gather_size(const struct gather *g)
{
    return sizeof(struct wire) + image_size(g) + rest_size(g);
}

tamis_status gather_write(const struct gather *g, tamis_sink put, void *ctx, tamis_error *why)
{
    tamis_hash some[BATCH];
    size_t at = 0, n;
    struct wire w;
    memset(&w, 0, sizeof w);
    w.method = g->method;
    w.most = g->most;
    w.asked = g->asked;
    w.image = image_size(g);
    w.rest = rest_size(g);
    tamis_status s = put(ctx, &w, sizeof w);
    if (s == TAMIS_OK && has_image(g)) s = tamis_write(g->t, put, ctx, why);
    if (s == TAMIS_OK && g->used != 0) s = put(ctx, g->pending, g->used);
    while (s == TAMIS_OK && g->method == HASHES &&
           (n = hash_set_take(&g->set, &at, some, BATCH)) != 0)
        s = put(ctx, some, n * sizeof *some);
    return s;
}

static tamis_status not_a_state(tamis_error *why)
{
    return sql_fail(why, TAMIS_ECORRUPT, "this is not the state of an aggregate");
}

static tamis_status read_hashes(struct gather *g, tamis_bytes rest, tamis_error *why)
{
    tamis_hash h;
    if (rest.len % sizeof h != 0) return not_a_state(why);
    for (size_t i = 0; i < rest.len; i += sizeof h) {
        memcpy(&h, (const char *)rest.p + i, sizeof h);
        const tamis_status s = take_hash(g, h, why);
        if (s != TAMIS_OK) return s;
    }
    return TAMIS_OK;
}

static tamis_status read_pending(struct gather *g, tamis_bytes rest, tamis_error *why)
{
    tamis_bytes keys[BATCH];
    int64_t weights[BATCH];
    size_t at = 0;
    if (rest.len == 0) return TAMIS_OK;
    if (rest.len > g->limit) return not_a_state(why);
    if (!make_room(g, rest.len)) return no_memory(why);
    memcpy(g->pending, rest.p, rest.len);
    g->used = rest.len;
    while (take_pending(g, &at, keys, weights) != 0) continue;
    return at == rest.len ? TAMIS_OK : not_a_state(why);
}

static tamis_status read_image(struct gather *g, enum method method, tamis_bytes image,
                               tamis_error *why)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    g->method = method;
    if (image.len == 0) return method == UNION ? TAMIS_OK : not_a_state(why);
    const tamis_status s = sql_open(image, g->most, g->memory, &g->t, why);
    if (s != TAMIS_OK || method == UNION) return s;
    tamis_stat(g->t, &f);
    return f.kind == g->plan.kind ? TAMIS_OK : not_a_state(why);
}

/* The content of a state that was written. */
static tamis_status read_content(struct gather *g, enum method method, tamis_bytes image,
                                 tamis_bytes rest, tamis_error *why)
{
    const bool can_have_image = method == HANDLE || method == UNION;
    if ((method == HASHES) != (g->method == HASHES) || (image.len != 0 && !can_have_image) ||
        (rest.len != 0 && method == UNION))
        return not_a_state(why);
    tamis_status s = can_have_image ? read_image(g, method, image, why) : TAMIS_OK;
    if (s == TAMIS_OK)
        s = method == HASHES ? read_hashes(g, rest, why) : read_pending(g, rest, why);
    return s;
}

tamis_status gather_read(tamis_bytes bytes, const tamis_memory *memory, struct gather **out,
                         tamis_error *why)
{
    struct wire w;
    *out = NULL;
    if (bytes.len < sizeof w) return not_a_state(why);
    memcpy(&w, bytes.p, sizeof w);
    const uint64_t all = bytes.len - sizeof w;
    if (w.method > UNION || w.image > all || w.rest != all - w.image) return not_a_state(why);
    tamis_status s = w.method == UNION ? gather_new_union(w.most, memory, out, why)
                                       : gather_new(&w.asked, w.most, memory, out, why);
    if (s != TAMIS_OK) return s;
    const char *content = (const char *)bytes.p + sizeof w;
    const tamis_bytes image = {content, (size_t)w.image};
    const tamis_bytes rest = {content + w.image, (size_t)w.rest};
    s = read_content(*out, (enum method)w.method, image, rest, why);
    if (s != TAMIS_OK) {
        gather_free(*out);
        *out = NULL;
    }
    return s;
}
