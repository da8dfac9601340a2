/* Building a ribbon: sort, eliminate, substitute, and once more with the keys that were bumped.
 *
 * Elimination. rows[i] is 0, or the row whose lowest bit is slot i, shifted so that this bit is bit 0. A new row walks:
 * where its first slot has a row, that one is added to it, which clears the slot, and it moves on to the next slot it
 * has left; where the slot is free, it stays. A row that comes to nothing was a sum of others; its side then is 0 when
 * it was the same sum, and else the key cannot be kept.
 *
 * Bumping. The keys of a bucket come in three groups, those of the last slots first: their walks go to the right, and
 * what the bucket before left over stands at the left. A group is kept as a whole or not at all; the first one
 * that is not, and all after it, are bumped. Keys are sorted by all their bits, so the bytes depend on the set alone.
 *
 * Speed. One step of a walk waits for the load of one row, and for little else. So three walks go on at a time, in
 * three parts of the table, the lanes: 33 ns a key instead of 60. They must not meet, as one could undo a row that another
 * has used: the last bucket before a lane, the seam, is left until all are done. A lane's rows end in it: a window is
 * shorter than a bucket. */
#include "ribbon.h"

#include "cpu.h"
#include "hash_sort.h"
#include "memory.h"

#define LANES 3u
#define PIECES (2 * LANES - 1) /* lanes, and seams between them */
/* Keys. There the seams cost 0.1 % of space, with fewer more. */
#define LANES_FROM (UINT64_C(1) << 17)

/* Slots that rows of one bucket can stand in: its own, and those after it that the last window reaches. */
#define REACH (TAMIS__RIBBON_BUCKET + TAMIS__RIBBON_WIDTH - 1)

struct table {
    uint64_t *rows;
    uint32_t *sides;
    uint64_t starts;
    const struct ribbon_layer *layer;
};

struct lane {
    const struct table *t;
    tamis_hash *bucket, *bucket_end, *end; /* keys: of the bucket at hand; the end of the lane's */
    tamis_hash *bumped;                  /* where the next bumped one goes, over others long done */
    tamis_hash *group, *key, *group_end; /* of the group: the first, the walking one, the end */
    uint64_t bucket_start;               /* slot */
    unsigned code;                       /* of the bucket, if the group at hand fails */
    unsigned n_placed;
    uint64_t placed[REACH]; /* slots of this group's rows */
};

struct walker {
    uint64_t row, slot;
    uint32_t side;
};

static uint64_t start_of(const struct table *t, const tamis_hash *h)
{
    return tamis__ribbon_start(*h, t->starts);
}

/* --- Groups -------------------------------------------------------------------------------------------------------- */

/* The next group that has keys, of the bucket at hand. False: there is none. */
static bool open_group(struct lane *l)
{
    while (l->code > 0) {
        const uint64_t from = l->bucket_start + tamis__ribbon_threshold(l->code - 1);
        l->group_end = l->group;
        while (l->group > l->bucket && start_of(l->t, l->group - 1) >= from) l->group--;
        l->key = l->group;
        l->n_placed = 0;
        if (l->group < l->group_end) return true;
        l->code--;
    }
    return false;
}

/* Ends the bucket at hand: its keys before `kept` are bumped. */
static void close_bucket(struct lane *l, const tamis_hash *kept)
{
    const struct ribbon_layer *layer = l->t->layer;
    const size_t bumped = (size_t)(kept - l->bucket);
    memmove(l->bumped, l->bucket, bumped * sizeof *l->bumped);
    l->bumped += bumped;
    if (!layer->last) {
        const uint64_t bucket = l->bucket_start / TAMIS__RIBBON_BUCKET;
        uint8_t *byte = layer->thresholds + bucket / 4;
        *byte = (uint8_t)(*byte | l->code << 2 * (bucket % 4));
    }
    l->bucket = l->bucket_end;
}

static bool open_bucket(struct lane *l)
{
    if (l->bucket == l->end) return false;
    l->bucket_start = start_of(l->t, l->bucket) / TAMIS__RIBBON_BUCKET * TAMIS__RIBBON_BUCKET;
    l->bucket_end = l->bucket;
    const uint64_t end = l->bucket_start + TAMIS__RIBBON_BUCKET;
    while (l->bucket_end < l->end && start_of(l->t, l->bucket_end) < end) l->bucket_end++;
    l->group = l->bucket_end;
    l->code = 3;
    return open_group(l); /* which a bucket with keys always has */
}

static void walk(const struct lane *l, struct walker *w)
{
    const struct ribbon_layer *layer = l->t->layer;
    const uint32_t columns = tamis__ribbon_columns(layer, layer->segments - 1);
    w->row = tamis__ribbon_row(*l->key);
    w->slot = start_of(l->t, l->key);
    w->side = tamis__ribbon_side(*l->key, layer->homogeneous, columns);
    if (layer->retrieves) w->side ^= (uint32_t)(l->key->lo & 1);
}

static void undo_group(struct lane *l)
{
    for (unsigned i = 0; i < l->n_placed; i++) {
        l->t->rows[l->placed[i]] = 0;
        l->t->sides[l->placed[i]] = 0;
    }
}

/* The end of a walk: the row found its slot, or came to nothing. Begins the next one; false: there is none. */
__attribute__((noinline)) static bool turn(struct lane *l, struct walker *w)
{
    bool is_done = false; /* the bucket */
    if (w->row == 0 && w->side != 0) {
        undo_group(l);
        close_bucket(l, l->group_end);
        is_done = true;
    } else {
        if (w->row != 0) {
            l->t->rows[w->slot] = w->row;
            l->t->sides[w->slot] = w->side;
            l->placed[l->n_placed++] = w->slot;
        }
        if (++l->key == l->group_end) {
            l->code--;
            is_done = !open_group(l);
            if (is_done) close_bucket(l, l->group);
        }
    }
    if (is_done && !open_bucket(l)) return false;
    walk(l, w);
    return true;
}

/* --- Elimination -------------------------------------------------------------------------------------------------- */

/* False when the lane has come to its end. */
static inline bool step(const struct table *t, struct lane *l, struct walker *w)
{
    const uint64_t there = t->rows[w->slot], row = w->row ^ there;
    if (there == 0) return turn(l, w);
    w->side ^= t->sides[w->slot];
    if (row == 0) {
        w->row = 0;
        return turn(l, w);
    }
    const unsigned zeros = (unsigned)__builtin_ctzll(row);
    w->row = row >> zeros;
    w->slot += zeros;
    return true;
}

static bool lane_open(struct lane *l, const struct table *t, tamis_hash *from, tamis_hash *to,
                      struct walker *w)
{
    l->t = t;
    l->bucket = l->bumped = from;
    l->end = to;
    if (!open_bucket(l)) return false;
    walk(l, w);
    return true;
}

/* The first of n sorted keys whose start is not before `start`. */
static uint64_t first_from(const struct table *t, const tamis_hash *h, uint64_t n, uint64_t start)
{
    uint64_t from = 0;
    while (from < n) {
        const uint64_t middle = from + (n - from) / 2;
        if (start_of(t, h + middle) < start)
            from = middle + 1;
        else
            n = middle;
    }
    return from;
}

/* Lane, seam, lane, seam, lane: from[i] is the first key of piece i. A seam is the last bucket before a lane. */
static void cut(const struct table *t, const tamis_hash *h, uint64_t n, uint64_t from[PIECES + 1])
{
    const uint64_t part = t->starts / LANES / TAMIS__RIBBON_BUCKET * TAMIS__RIBBON_BUCKET;
    from[0] = 0;
    for (unsigned i = 1; i <= PIECES; i++) from[i] = n;
    if (n < LANES_FROM || t->layer->last) return; /* whose seams could not bump */
    for (unsigned i = 1; i < LANES; i++) {
        from[2 * i - 1] = first_from(t, h, n, i * part - TAMIS__RIBBON_BUCKET);
        from[2 * i] = first_from(t, h, n, i * part);
    }
}

static void run_lanes(const struct table *t, tamis_hash *h, const uint64_t *from, struct lane *l)
{
    struct walker a, b, c;
    bool a_lives = lane_open(&l[0], t, h + from[0], h + from[1], &a);
    bool b_lives = lane_open(&l[2], t, h + from[2], h + from[3], &b);
    bool c_lives = lane_open(&l[4], t, h + from[4], h + from[5], &c);
    while (a_lives && b_lives && c_lives) {
        a_lives = step(t, &l[0], &a);
        b_lives = step(t, &l[2], &b);
        c_lives = step(t, &l[4], &c);
    }
    while (a_lives) a_lives = step(t, &l[0], &a);
    while (b_lives) b_lives = step(t, &l[2], &b);
    while (c_lives) c_lives = step(t, &l[4], &c);
}

/* After a seam comes a full lane, and a row could walk through all of it to the next free slot. One that leaves the
 * seam's windows does not fit. */
static void run_seam(const struct table *t, tamis_hash *from, tamis_hash *to, struct lane *l)
{
    struct walker w;
    bool lives = lane_open(l, t, from, to, &w);
    while (lives) {
        if (w.slot < l->bucket_start + REACH) {
            lives = step(t, l, &w);
            continue;
        }
        w.row = 0;
        w.side = 1;
        lives = turn(l, &w);
    }
}

/* Puts the bumped ones of n sorted keys in front and returns how many they are. */
static uint64_t eliminate(const struct table *t, tamis_hash *h, uint64_t n)
{
    struct lane pieces[PIECES];
    uint64_t from[PIECES + 1], bumped = 0;
    cut(t, h, n, from);
    run_lanes(t, h, from, pieces);
    for (unsigned i = 1; i < PIECES; i += 2) run_seam(t, h + from[i], h + from[i + 1], &pieces[i]);
    for (unsigned i = 0; i < PIECES; i++) {
        const uint64_t more = (uint64_t)(pieces[i].bumped - (h + from[i]));
        memmove(h + bumped, h + from[i], (size_t)more * sizeof *h);
        bumped += more;
    }
    return bumped;
}

/* --- Substitution -------------------------------------------------------------------------------------------------- */

/* In a homogeneous system the free slots must be random: all 0 would solve it too. */
static void fill_free(const struct table *t, uint64_t slots)
{
    for (uint64_t i = 0; i < slots; i++)
        if (t->rows[i] == 0) t->sides[i] = (uint32_t)(tamis__remix(i + 1) >> 32);
}

static void substitute(const struct table *t)
{
    const struct ribbon_layer *l = t->layer;
    const struct kernels *k = tamis__kernels();
    uint64_t words[TAMIS__RIBBON_COLUMNS] = {0};
    for (uint64_t segment = l->segments; segment-- > 0;) {
        const uint64_t first = segment * TAMIS__RIBBON_WIDTH;
        const uint32_t columns = tamis__ribbon_columns(l, segment);
        uint8_t *to = l->solution + 8 * tamis__ribbon_word(l, segment);
        k->ribbon_solve(t->rows + first, t->sides + first, columns, words);
        for (uint32_t c = 0; c < columns; c++) tamis__put64(to + 8 * c, words[c]);
    }
}

/* --- Layers ---------------------------------------------------------------------------------------------------------- */

static uint64_t table_bytes(const struct ribbon_layer *l)
{
    return l->segments * TAMIS__RIBBON_WIDTH * (sizeof(uint64_t) + sizeof(uint32_t));
}

/* What sorting and then solving n keys takes; solving a layer for fewer takes less. */
static uint64_t scratch_bytes(uint64_t n, const struct ribbon_layer *l)
{
    const uint64_t sort = tamis__sort_scratch(n), solve = table_bytes(l);
    return sort > solve ? sort : solve;
}

/* Returns how many of n sorted keys are bumped; they are in front. */
static uint64_t solve_layer(const struct ribbon_layer *l, tamis_hash *h, uint64_t n, void *scratch)
{
    const uint64_t slots = l->segments * TAMIS__RIBBON_WIDTH;
    uint64_t *rows = scratch;
    memset(scratch, 0, (size_t)table_bytes(l));
    const struct table t = {rows, (uint32_t *)(void *)(rows + slots),
                            tamis__ribbon_starts(l->segments), l};
    const uint64_t bumped = eliminate(&t, h, n);
    if (l->homogeneous) fill_free(&t, slots);
    substitute(&t);
    return bumped;
}

static bool layer_alloc(const tamis_memory *memory, struct ribbon_layer *l)
{
    l->solution = tamis__alloc(memory, l->solution_bytes);
    if (l->threshold_bytes != 0) l->thresholds = tamis__alloc(memory, l->threshold_bytes);
    return l->solution != NULL && (l->thresholds != NULL || l->threshold_bytes == 0);
}

/* The bit to be retrieved stays as it is. */
static tamis_hash with_bit(tamis_hash h, uint64_t lo)
{
    h.lo = (h.lo & ~UINT64_C(1)) | (lo & 1);
    return h;
}

static void enter(const struct ribbon_layer *l, tamis_hash *h, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        const tamis_hash next = tamis__ribbon_enter(l, h[i]);
        h[i] = l->retrieves ? with_bit(next, h[i].lo) : next;
    }
}

/* Layers for n >= 1 keys, which the scratch is big enough for. Of a retrieval all but the last: *left keys, in front, remain
 * for that. */
static tamis_status build_layers(const tamis_memory *memory, tamis_hash *h, uint64_t n,
                                 const struct ribbon_layer *like, double columns, void *scratch,
                                 struct ribbon *out, uint64_t *left)
{
    for (bool is_last = false; !is_last;) {
        struct ribbon_layer *l = &out->layers[out->count];
        *left = n = tamis__sort_hashes(h, n, scratch);
        is_last = n <= TAMIS__RIBBON_FEW || out->count == TAMIS__RIBBON_LAYERS - 1;
        if (is_last && like->retrieves) break;
        if (!tamis__ribbon_shape(n, columns, is_last, l)) return TAMIS_EINVAL;
        l->retrieves = like->retrieves;
        out->count++;
        if (!layer_alloc(memory, l)) return TAMIS_ENOMEM;
        n = solve_layer(l, h, n, scratch);
        enter(like, h, n);
    }
    return TAMIS_OK;
}

tamis_status tamis__ribbon_build(const tamis_memory *memory, tamis_hash *hashes, uint64_t n,
                                 double columns, struct ribbon *out)
{
    struct ribbon_layer biggest;
    uint64_t left;
    memset(out, 0, sizeof *out);
    if (!tamis__ribbon_shape(n, columns, true, &biggest)) return TAMIS_EINVAL;
    if (n == 0) return TAMIS_OK;
    void *scratch = tamis__alloc(memory, scratch_bytes(n, &biggest));
    if (scratch == NULL) return TAMIS_ENOMEM;
    const tamis_status status =
        build_layers(memory, hashes, n, &biggest, columns, scratch, out, &left);
    tamis__free(memory, scratch);
    if (status != TAMIS_OK) tamis__ribbon_free(memory, out);
    return status;
}

/* --- Retrieval ------------------------------------------------------------------------------------------------------- */

/* Salts to be tried. Of random keys one in three fails at first; from the ninth on there is more and more room. */
#define SALTS 64u

/* The last layer, if it can be solved with this salt: TAMIS_EABSENT when not. */
static tamis_status try_last(const tamis_memory *memory, const tamis_hash *keys, uint64_t n,
                             uint32_t salt, struct ribbon_layer *l)
{
    const uint64_t room = n + (salt < 8 ? 0 : n / 16 * (salt - 7) + salt);
    if (!tamis__ribbon_shape(room, 1, true, l)) return TAMIS_EINVAL;
    l->homogeneous = false;
    l->retrieves = true;
    const uint64_t bytes = scratch_bytes(n, l);
    tamis_hash *h = tamis__alloc(memory, (n + 1) * sizeof *h);
    void *scratch = tamis__alloc(memory, bytes);
    bool solved = false;
    const bool enough = h != NULL && scratch != NULL && layer_alloc(memory, l);
    if (enough) {
        memcpy(h, keys, n * sizeof *h);
        l->salt = salt;
        for (uint64_t i = 0; i < n && salt != 0; i++)
            h[i] = with_bit(tamis__ribbon_salted(salt, keys[i]), keys[i].lo);
        solved = solve_layer(l, h, tamis__sort_hashes(h, n, scratch), scratch) == 0;
    }
    tamis__free(memory, scratch);
    tamis__free(memory, h);
    if (solved) return TAMIS_OK;
    tamis__free(memory, l->solution);
    memset(l, 0, sizeof *l);
    return enough ? TAMIS_EABSENT : TAMIS_ENOMEM;
}

tamis_status tamis__ribbon_retrieval(const tamis_memory *memory, tamis_hash *hashes, uint64_t n,
                                     struct ribbon *out)
{
    struct ribbon_layer biggest;
    uint64_t left;
    memset(out, 0, sizeof *out);
    if (!tamis__ribbon_shape(n, 1, true, &biggest)) return TAMIS_EINVAL;
    if (n == 0) return TAMIS_OK;
    biggest.retrieves = true;
    void *scratch = tamis__alloc(memory, scratch_bytes(n, &biggest));
    if (scratch == NULL) return TAMIS_ENOMEM;
    enter(&biggest, hashes, n);
    tamis_status status = build_layers(memory, hashes, n, &biggest, 1, scratch, out, &left);
    tamis__free(memory, scratch);
    for (uint32_t salt = 0; status == TAMIS_OK; salt++) {
        const tamis_status last =
            salt < SALTS ? try_last(memory, hashes, left, salt, &out->layers[out->count])
                         : TAMIS_EINVAL;
        if (last == TAMIS_OK) {
            out->count++;
            return TAMIS_OK;
        }
        if (last != TAMIS_EABSENT) status = last;
    }
    tamis__ribbon_free(memory, out);
    return status;
}

void tamis__ribbon_free(const tamis_memory *memory, struct ribbon *r)
{
    for (uint32_t i = 0; i < r->count; i++) {
        tamis__free(memory, r->layers[i].solution);
        tamis__free(memory, r->layers[i].thresholds);
    }
    memset(r, 0, sizeof *r);
}
