/* Building a ribbon: sort, eliminate, substitute, and again with the keys that were bumped.
 *
 * Pieces. A layer of more than 2^20 keys is solved in pieces of 2^19 to 2^20 keys (piece.c), from
 * right to left. Their number depends only on the number of keys, so the bytes are the same however
 * they were made:
 *
 *     threads         Each takes a piece, with its own rows. The little that pieces have to do with
 *                     their neighbours is done in order, once all of them are ready.
 *     beyond memory   The sorted keys are in a file (spill.c), and only those of the current pieces
 *                     are read.
 *
 * Each additional lane costs the room of some 70 keys at its seam: 0.03 % of the filter. At 10^7
 * keys, sealing takes 65 ns a key with one thread and 40 with two. From a file, with 64 MiB of
 * scratch, it takes 67 with one, and collecting takes 23 instead of 7. */
#include "piece.h"

#include "../../core/error.h"
#include "../../core/memory.h"
#include "../../core/threads.h"
#include "../../image/spill.h"
#include "../hash_sort.h"

/* In keys. From here on the seams between lanes cost at most 0.1 % of space; with fewer keys they
 * cost more. */
#define LANES_FROM (UINT64_C(1) << 17)
#define MOST_IN_PIECE (UINT64_C(1) << 20)
/* A piece begins with a byte of thresholds, so that no other piece writes that byte. */
#define PIECE_STEP (4 * TAMIS__RIBBON_BUCKET)
#define MOST_CREW 64u

/* What is to be built, and from what. */
struct task {
    const struct ribbon_means *by;
    double columns;
    bool retrieves;
    struct ribbon *out;
    tamis_error *why;
    uint32_t value_bits; /* of a map; else 0 */
};

/* Distinct keys in order: in the array, or in the only run of a spill. */
struct ribbon_build_keys {
    tamis_hash *array;
    const struct spill *spill;
    uint64_t n;
};

/* Bumped keys, hashed for the next layer, from a layer whose keys are not in memory. Those for
 * which the array has no room become a run. */
struct ribbon_build_bumped {
    tamis_hash *array;
    uint64_t n;
    struct spill runs;
};

/* A piece that is being built. */
struct member {
    struct ribbon_piece piece;
    const struct ribbon_build_keys *keys;
    uint64_t at, room; /* index of the first key; room for keys in its own array */
    tamis_status status;
    tamis_error why;
};

/* A layer that is being built. */
struct layer_work {
    const struct task *task;
    const struct ribbon_layer *layer;
    struct ribbon_build_keys keys;
    uint64_t starts, pieces;
    bool has_lanes;
    struct member *crew; /* as many pieces as are built at a time */
    uint32_t n_crew;
    void *windows; /* the windows of the crew */
    struct ribbon_border border;
    uint64_t bumped_from;               /* keys in memory: bumped ones are moved to the end */
    struct ribbon_build_bumped *bumped; /* keys in a file */
};

static uint32_t threads_of(const struct task *t)
{
    const uint32_t n = t->by->threads;
    return n == 0 ? 1 : n < MOST_CREW ? n : MOST_CREW;
}

static tamis_status ribbon_build_no_memory(const struct task *t)
{
    return tamis__fail(t->why, TAMIS_ENOMEM, "not enough memory");
}

/* --- Pieces ----------------------------------------------------------------------------------- */

static void plan_pieces(struct layer_work *w)
{
    const struct ribbon_layer *l = w->layer;
    w->starts = tamis__ribbon_starts(l->segments);
    w->has_lanes = w->keys.n >= LANES_FROM && !l->last; /* the last cannot bump at seams */
    w->pieces = 1;
    while (w->has_lanes && w->keys.n / w->pieces > MOST_IN_PIECE) w->pieces *= 2;
}

/* Where piece i begins. The piece after the last one begins at the end of the table. */
static uint64_t first_slot(const struct layer_work *w, uint64_t i)
{
    const uint64_t steps = w->starts / PIECE_STEP, more = steps % w->pieces;
    if (i == w->pieces) return w->layer->segments * TAMIS__RIBBON_WIDTH;
    return (steps / w->pieces * i + (i < more ? i : more)) * PIECE_STEP;
}

/* The slots of the largest window, which is that of the first piece or of the last, which has the
 * rest. */
static uint64_t most_slots(const struct layer_work *w)
{
    const uint64_t first = first_slot(w, 1);
    const uint64_t last = first_slot(w, w->pieces) - first_slot(w, w->pieces - 1);
    return (first > last ? first : last) + TAMIS__RIBBON_WIDTH;
}

static tamis_status open_crew(struct layer_work *w)
{
    const struct task *t = w->task;
    const bool wide = tamis__ribbon_columns(w->layer, w->layer->segments - 1) > 32;
    const uint64_t slots = most_slots(w);
    const uint64_t bytes = slots * (sizeof(uint64_t) + (wide ? 2 : 1) * sizeof(uint32_t));
    const uint32_t most = threads_of(t);
    w->n_crew = w->pieces < most ? (uint32_t)w->pieces : most;
    w->crew = tamis__alloc(t->by->memory, w->n_crew * sizeof *w->crew);
    w->windows = tamis__alloc(t->by->memory, w->n_crew * bytes);
    if (w->crew == NULL || w->windows == NULL) return ribbon_build_no_memory(t);
    for (uint32_t i = 0; i < w->n_crew; i++) {
        struct ribbon_piece *p = &w->crew[i].piece;
        uint8_t *window = (uint8_t *)w->windows + i * bytes;
        p->layer = w->layer;
        p->starts = w->starts;
        p->has_lanes = w->has_lanes;
        p->rows = (uint64_t *)(void *)window;
        p->sides = (uint32_t *)(void *)(window + slots * sizeof(uint64_t));
        p->upper = wide ? p->sides + slots : NULL;
        w->crew[i].keys = &w->keys;
    }
    return TAMIS_OK;
}

static void close_crew(struct layer_work *w)
{
    const tamis_memory *memory = w->task->by->memory;
    for (uint32_t i = 0; w->crew != NULL && i < w->n_crew; i++)
        if (w->crew[i].room != 0) tamis__free(memory, w->crew[i].piece.keys);
    tamis__free(memory, w->windows);
    tamis__free(memory, w->crew);
}

/* The least hi of a key that starts at this slot or after it. */
static uint64_t least_hi(uint64_t start, uint64_t starts)
{
    uint64_t hi = 0;
    for (uint64_t bit = UINT64_C(1) << 63; bit != 0; bit >>= 1)
        if (tamis__mulhi(hi | (bit - 1), starts) < start) hi |= bit;
    return hi;
}

/* Sets *at to the number of keys that start before this slot. */
static tamis_status find_start(const struct layer_work *w, uint64_t slot, uint64_t *at)
{
    const uint64_t hi = least_hi(slot, w->starts);
    uint64_t to = w->keys.n;
    if (w->keys.spill != NULL) return tamis__spill_find(w->keys.spill, hi, at, w->task->why);
    *at = 0;
    while (*at < to) {
        const uint64_t middle = *at + (to - *at) / 2;
        if (w->keys.array[middle].hi < hi)
            *at = middle + 1;
        else
            to = middle;
    }
    return TAMIS_OK;
}

/* Makes room for the keys of a piece that come from a file. Pieces of uniform keys have the same
 * size within a few permille. */
static tamis_status key_room(const struct layer_work *w, struct member *m)
{
    if (m->room >= m->piece.n && m->room > 0) return TAMIS_OK;
    const tamis_memory *memory = w->task->by->memory;
    const uint64_t room = m->piece.n + m->piece.n / 64 + 1;
    if (m->room != 0) tamis__free(memory, m->piece.keys);
    m->room = 0;
    m->piece.keys = tamis__alloc(memory, room * sizeof *m->piece.keys);
    if (m->piece.keys == NULL) return ribbon_build_no_memory(w->task);
    m->room = room;
    return TAMIS_OK;
}

/* Assigns piece i, whose keys end before `end`. */
static tamis_status ribbon_build_assign(const struct layer_work *w, struct member *m, uint64_t i,
                                        uint64_t end)
{
    struct ribbon_piece *p = &m->piece;
    p->first = first_slot(w, i);
    p->is_last = i == w->pieces - 1;
    p->slots = first_slot(w, i + 1) - p->first;
    m->at = 0;
    const tamis_status status = i > 0 ? find_start(w, p->first, &m->at) : TAMIS_OK;
    if (status != TAMIS_OK) return status;
    p->n = end - m->at;
    if (w->keys.spill != NULL) return key_room(w, m);
    p->keys = w->keys.array + m->at;
    return TAMIS_OK;
}

static void make_piece(void *crew, uint64_t i)
{
    struct member *m = (struct member *)crew + i;
    const struct spill *spill = m->keys->spill;
    m->status = TAMIS_OK;
    if (spill != NULL)
        m->status = tamis__spill_read(spill, m->at, m->piece.keys, m->piece.n, &m->why);
    if (m->status == TAMIS_OK) tamis__ribbon_eliminate(&m->piece);
}

/* --- Bumped keys ------------------------------------------------------------------------------ */

/* Keeps the bit that is to be retrieved. */
static tamis_hash with_bit(tamis_hash h, uint64_t lo)
{
    h.lo = (h.lo & ~UINT64_C(1)) | (lo & 1);
    return h;
}

/* The hash in the next layer. */
static tamis_hash next_of(const struct task *t, tamis_hash h)
{
    if (t->value_bits != 0) return tamis__ribbon_map_next(h);
    const struct ribbon_layer like = {.retrieves = t->retrieves};
    const tamis_hash next = tamis__ribbon_enter(&like, h);
    return t->retrieves ? with_bit(next, h.lo) : next;
}

/* Sorts and drops repeats. */
static tamis_status ribbon_build_sort(const struct task *t, tamis_hash *h, uint64_t *n)
{
    const uint32_t threads = threads_of(t);
    void *scratch = tamis__alloc(t->by->memory, tamis__sort_scratch(*n, threads));
    if (scratch == NULL) return ribbon_build_no_memory(t);
    *n = tamis__sort_hashes(h, *n, threads, scratch);
    tamis__free(t->by->memory, scratch);
    return TAMIS_OK;
}

/* Writes the array as a run. */
static tamis_status write_bumped(const struct task *t, struct ribbon_build_bumped *b)
{
    const tamis_status status = ribbon_build_sort(t, b->array, &b->n);
    const uint64_t n = b->n;
    b->n = 0;
    return status == TAMIS_OK ? tamis__spill_write(&b->runs, b->array, n, t->why) : status;
}

/* Takes the first n keys of a piece that is done. */
static tamis_status take_bumped(struct layer_work *w, const struct ribbon_piece *p, uint64_t n)
{
    struct ribbon_build_bumped *b = w->bumped;
    if (w->keys.spill == NULL) {
        w->bumped_from -= n;
        memmove(w->keys.array + w->bumped_from, p->keys, (size_t)n * sizeof *p->keys);
        return TAMIS_OK;
    }
    for (uint64_t i = 0; i < n; i++) {
        if (b->n == w->task->by->room) {
            const tamis_status status = write_bumped(w->task, b);
            if (status != TAMIS_OK) return status;
        }
        b->array[b->n++] = next_of(w->task, p->keys[i]);
    }
    return TAMIS_OK;
}

/* --- Layers ----------------------------------------------------------------------------------- */

/* Builds the crew's next pieces, from piece end-1 to the left. Their keys end before *end_key. */
static tamis_status make_pieces(struct layer_work *w, uint64_t end, uint32_t n, uint64_t *end_key)
{
    tamis_status status = TAMIS_OK;
    for (uint32_t i = 0; i < n && status == TAMIS_OK; i++) {
        status = ribbon_build_assign(w, &w->crew[i], end - 1 - i, *end_key);
        *end_key = w->crew[i].at;
    }
    if (status != TAMIS_OK) return status;
    tamis__in_parallel(threads_of(w->task), n, make_piece, w->crew);
    for (uint32_t i = 0; i < n && status == TAMIS_OK; i++) {
        struct member *m = &w->crew[i];
        status = m->status;
        if (status != TAMIS_OK && w->task->why != NULL) *w->task->why = m->why;
        if (status != TAMIS_OK) break;
        const uint64_t bumped = tamis__ribbon_join(&m->piece, &w->border);
        status = take_bumped(w, &m->piece, bumped);
    }
    return status;
}

static tamis_status ribbon_build_solve(struct layer_work *w)
{
    uint64_t end = w->pieces, end_key = w->keys.n;
    tamis_status status = open_crew(w);
    while (end > 0 && status == TAMIS_OK) {
        const uint32_t n = end < w->n_crew ? (uint32_t)end : w->n_crew;
        status = make_pieces(w, end, n, &end_key);
        end -= n;
    }
    close_crew(w);
    return status;
}

static bool layer_alloc(const tamis_memory *memory, struct ribbon_layer *l)
{
    l->solution = tamis__alloc(memory, l->solution_bytes);
    if (l->threshold_bytes != 0) l->thresholds = tamis__alloc(memory, l->threshold_bytes);
    return l->solution != NULL && (l->thresholds != NULL || l->threshold_bytes == 0);
}

/* If the keys are in memory, the bumped ones are in front afterwards, and keys->n is their
 * number. */
static tamis_status solve_layer(const struct task *t, const struct ribbon_layer *l,
                                struct ribbon_build_keys *keys, struct ribbon_build_bumped *bumped)
{
    struct layer_work w = {
        .task = t, .layer = l, .keys = *keys, .bumped_from = keys->n, .bumped = bumped};
    plan_pieces(&w);
    const tamis_status status = ribbon_build_solve(&w);
    if (keys->spill != NULL || status != TAMIS_OK) return status;
    keys->n -= w.bumped_from;
    memmove(keys->array, keys->array + w.bumped_from, (size_t)keys->n * sizeof *keys->array);
    return TAMIS_OK;
}

static bool is_last(const struct task *t, uint64_t n)
{
    return n <= TAMIS__RIBBON_FEW || t->out->count == TAMIS__RIBBON_LAYERS - 1;
}

static tamis_status add_layer(const struct task *t, struct ribbon_build_keys *keys,
                              struct ribbon_build_bumped *bumped)
{
    struct ribbon_layer *l = &t->out->layers[t->out->count];
    if (!tamis__ribbon_shape(keys->n, t->columns, is_last(t, keys->n), l))
        return tamis__cannot_seal(t->why, "no ribbon can be built from these keys");
    l->retrieves = t->retrieves;
    l->value_bits = t->value_bits;
    if (t->out->count == 0) t->out->keys = keys->n;
    t->out->count++;
    return layer_alloc(t->by->memory, l) ? solve_layer(t, l, keys, bumped)
                                         : ribbon_build_no_memory(t);
}

static bool is_complete(const struct ribbon *r)
{
    return r->count > 0 && r->layers[r->count - 1].last;
}

/* Whether all of the answers of the last layer depend on its keys, so that it may have no
 * solution. */
static bool last_may_fail(const struct task *t)
{
    return t->retrieves || t->value_bits != 0;
}

/* Builds all remaining layers, for *n keys in memory. If the last layer may fail, it is left out,
 * and its *n keys remain in front. */
static tamis_status build_layers(const struct task *t, tamis_hash *h, uint64_t *n)
{
    while (!is_complete(t->out)) {
        tamis_status status = ribbon_build_sort(t, h, n);
        if (status != TAMIS_OK || (last_may_fail(t) && is_last(t, *n))) return status;
        struct ribbon_build_keys keys = {h, NULL, *n};
        status = add_layer(t, &keys, NULL);
        if (status != TAMIS_OK) return status;
        *n = keys.n;
        for (uint64_t i = 0; i < *n; i++) h[i] = next_of(t, h[i]);
    }
    return TAMIS_OK;
}

/* Builds a layer of the keys in these runs, which may be b's own. The bumped keys take their
 * place. */
static tamis_status layer_of_runs(const struct task *t, const struct spill *runs,
                                  struct ribbon_build_bumped *b)
{
    struct spill merged;
    tamis_status status =
        tamis__spill_merge(runs, b->array, t->by->room, threads_of(t), &merged, t->why);
    if (status != TAMIS_OK) return status;
    struct ribbon_build_keys keys = {NULL, &merged, merged.runs->n};
    tamis__spill_forget(&b->runs);
    b->runs = tamis__spill_behind(&merged);
    b->n = 0;
    status = add_layer(t, &keys, b);
    if (status == TAMIS_OK && b->runs.count > 0 && b->n > 0) status = write_bumped(t, b);
    tamis__spill_forget(&merged);
    return status;
}

/* Builds from the file, layer by layer, until the bumped keys fit in memory. */
static tamis_status build_from_runs(const struct task *t, tamis_hash *h)
{
    struct ribbon_build_bumped b = {.array = h, .runs = tamis__spill_behind(t->by->spill)};
    tamis_status status = layer_of_runs(t, t->by->spill, &b);
    while (status == TAMIS_OK && b.runs.count > 0) status = layer_of_runs(t, &b.runs, &b);
    tamis__spill_forget(&b.runs);
    return status == TAMIS_OK && !is_complete(t->out) ? build_layers(t, h, &b.n) : status;
}

tamis_status tamis__ribbon_build_with(const struct ribbon_means *by, tamis_hash *hashes, uint64_t n,
                                      double columns, struct ribbon *out, tamis_error *why)
{
    struct ribbon_layer biggest;
    const struct task t = {.by = by, .columns = columns, .out = out, .why = why};
    tamis_status status = TAMIS_OK;
    memset(out, 0, sizeof *out);
    if (columns > TAMIS__RIBBON_COLUMNS || !tamis__ribbon_shape(n, columns, true, &biggest))
        return tamis__cannot_seal(why, "no ribbon can be built from these keys");
    if (by->spill != NULL)
        status = build_from_runs(&t, hashes);
    else if (n > 0)
        status = build_layers(&t, hashes, &n);
    if (status != TAMIS_OK) tamis__ribbon_free(by->memory, out);
    return status;
}

tamis_status tamis__ribbon_build(const tamis_memory *memory, tamis_hash *hashes, uint64_t n,
                                 double columns, struct ribbon *out)
{
    const struct ribbon_means by = {.memory = memory};
    return tamis__ribbon_build_with(&by, hashes, n, columns, out, NULL);
}

/* --- Retrieval and maps ----------------------------------------------------------------------- */

/* The number of salts to try. The first fails for one in three sets of random keys. From the ninth
 * on there is more and more room. */
#define SALTS 64u

/* Builds the last layer with this salt. Returns TAMIS_EABSENT if it cannot be solved. */
static tamis_status try_last(const struct task *t, const tamis_hash *keys, uint64_t n,
                             uint32_t salt, struct ribbon_layer *l)
{
    const tamis_memory *memory = t->by->memory;
    const uint64_t room = n + (salt < 8 ? 0 : n / 16 * (salt - 7) + salt);
    if (!tamis__ribbon_shape(room, t->columns, true, l)) return TAMIS_EINVAL;
    l->homogeneous = false;
    l->retrieves = t->retrieves;
    l->value_bits = t->value_bits;
    l->salt = salt;
    struct ribbon_build_keys copy = {tamis__alloc(memory, (n + 1) * sizeof *keys), NULL, n};
    tamis_status status = TAMIS_ENOMEM;
    if (copy.array != NULL && layer_alloc(memory, l)) {
        memcpy(copy.array, keys, (size_t)n * sizeof *keys);
        for (uint64_t i = 0; i < n && salt != 0; i++)
            copy.array[i] = t->value_bits != 0
                                ? tamis__ribbon_map_salted(salt, keys[i])
                                : with_bit(tamis__ribbon_salted(salt, keys[i]), keys[i].lo);
        status = ribbon_build_sort(t, copy.array, &copy.n);
        if (status == TAMIS_OK) status = solve_layer(t, l, &copy, NULL);
        if (status == TAMIS_OK && copy.n > 0) status = TAMIS_EABSENT;
    }
    tamis__free(memory, copy.array);
    if (status == TAMIS_OK) return TAMIS_OK;
    tamis__free(memory, l->solution);
    memset(l, 0, sizeof *l);
    return status;
}

/* Builds all layers, with a last one that may fail. */
static tamis_status build_solvable(const struct task *t, tamis_hash *h, uint64_t n)
{
    struct ribbon *out = t->out;
    tamis_status status = build_layers(t, h, &n);
    if (out->count == 0) out->keys = n;
    for (uint32_t salt = 0; status == TAMIS_OK; salt++) {
        const tamis_status last =
            salt < SALTS ? try_last(t, h, n, salt, &out->layers[out->count]) : TAMIS_EINVAL;
        if (last == TAMIS_OK) {
            out->count++;
            return TAMIS_OK;
        }
        if (last != TAMIS_EABSENT) status = last;
    }
    tamis__ribbon_free(t->by->memory, out);
    return status;
}

tamis_status tamis__ribbon_retrieval(const tamis_memory *memory, tamis_hash *hashes, uint64_t n,
                                     struct ribbon *out)
{
    const struct ribbon_means by = {.memory = memory};
    const struct task t = {.by = &by, .columns = 1, .retrieves = true, .out = out};
    struct ribbon_layer biggest;
    memset(out, 0, sizeof *out);
    if (!tamis__ribbon_shape(n, 1, true, &biggest)) return TAMIS_EINVAL;
    if (n == 0) return TAMIS_OK;
    for (uint64_t i = 0; i < n; i++) hashes[i] = next_of(&t, hashes[i]);
    return build_solvable(&t, hashes, n);
}

/* A key with two values, of sorted hashes, or NULL. They differ only in the lower half of lo, so
 * they are neighbours. */
static const tamis_hash *find_twice(const tamis_hash *h, uint64_t n)
{
    for (uint64_t i = 1; i < n; i++)
        if (h[i].hi == h[i - 1].hi && h[i].lo >> 32 == h[i - 1].lo >> 32) return &h[i];
    return NULL;
}

tamis_status tamis__ribbon_map_build(const struct ribbon_means *by, tamis_hash *hashes, uint64_t n,
                                     struct ribbon_map *map, struct ribbon *out, tamis_error *why)
{
    const struct task t = {
        .by = by, .columns = map->columns, .out = out, .why = why, .value_bits = map->value_bits};
    struct ribbon_layer biggest;
    memset(out, 0, sizeof *out);
    if (!tamis__ribbon_shape(n, map->columns, true, &biggest))
        return tamis__cannot_seal(why, "no map can be built from these keys");
    if (n == 0) return TAMIS_OK;
    tamis_status status = ribbon_build_sort(&t, hashes, &n);
    if (status != TAMIS_OK) return status;
    const tamis_hash *twice = find_twice(hashes, n);
    if (twice != NULL) {
        map->twice = *twice;
        return TAMIS_EMISMATCH;
    }
    status = build_solvable(&t, hashes, n);
    return status == TAMIS_EINVAL ? tamis__cannot_seal(why, "these hashes are not random enough")
                                  : status;
}

void tamis__ribbon_free(const tamis_memory *memory, struct ribbon *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        tamis__free(memory, r->layers[i].solution);
        tamis__free(memory, r->layers[i].thresholds);
    }
    memset(r, 0, sizeof *r);
}
