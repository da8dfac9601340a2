/* One piece of a ribbon's layer: elimination, bumping, substitution.
 *
 * Elimination. rows[i] is 0, or the row whose lowest bit is slot i, shifted so that this bit is bit
 * 0. A new row walks. If its first slot has a row, that one is added to it, which clears the slot,
 * and it moves on to its next remaining slot. If the slot is free, it stays there. A row that
 * becomes zero was a sum of others. If its side is then 0 as well, the equation already holds;
 * otherwise the key cannot be kept.
 *
 * Bumping. The keys of a bucket are taken in three groups, those of the last slots first, because
 * walks go to the right, and rows from the bucket before are at the left. A group is kept as a
 * whole or not at all. The first group that is not kept, and all after it, are bumped. Keys are
 * sorted by all their bits, so the bytes depend only on the set.
 *
 * Speed. One step of a walk waits for the load of one row, and for little else. So three walks go
 * on at a time, in three parts of the piece, the lanes: 33 ns a key instead of 60. Lanes must not
 * meet, because one could undo a row that another has used. So the last bucket before a lane, the
 * seam, is left until all lanes are done. The rows of a lane end in it, because a window is shorter
 * than a bucket. The last bucket of the piece is also a seam, with the piece to the right:
 *
 *     [ lane       |seam][ lane       |seam][ lane       |seam] | first segment of the piece
 *     from[0]       [1]   [2]          [3]   [4]          [5]   | to the right
 *
 * where from[i] is the first key of part i. Rows of a seam may be in the first 63 slots after it.
 * So a piece is solved except for its first segment, which goes over the border to the piece on its
 * left. That piece solves it after its own last seam, and before its own segments. */
#include "piece.h"

#include "../../core/cpu.h"

struct walker {
    uint64_t row, slot, side;
};

/* Here and below, slots are counted from the first of the piece. */
static uint64_t ribbon_piece_start_of(const struct ribbon_piece *p, const tamis_hash *h)
{
    return tamis__ribbon_start(*h, p->starts) - p->first;
}

/* --- Groups ----------------------------------------------------------------------------------- */

/* Opens the next group of the current bucket that has keys. Returns false if there is none. */
static bool open_group(struct ribbon_lane *l)
{
    while (l->code > 0) {
        const uint64_t from = l->bucket_start + tamis__ribbon_threshold(l->code - 1);
        l->group_end = l->group;
        while (l->group > l->bucket && ribbon_piece_start_of(l->piece, l->group - 1) >= from)
            l->group--;
        l->key = l->group;
        l->n_placed = 0;
        if (l->group < l->group_end) return true;
        l->code--;
    }
    return false;
}

/* Closes the current bucket. Its keys before `kept` are bumped. */
static void close_bucket(struct ribbon_lane *l, const tamis_hash *kept)
{
    const struct ribbon_layer *layer = l->piece->layer;
    const size_t bumped = (size_t)(kept - l->bucket);
    memmove(l->bumped, l->bucket, bumped * sizeof *l->bumped);
    l->bumped += bumped;
    if (!layer->last) {
        const uint64_t bucket = (l->piece->first + l->bucket_start) / TAMIS__RIBBON_BUCKET;
        uint8_t *byte = layer->thresholds + bucket / 4;
        *byte = (uint8_t)(*byte | l->code << 2 * (bucket % 4));
    }
    l->bucket = l->bucket_end;
}

static bool open_bucket(struct ribbon_lane *l)
{
    if (l->bucket == l->end) return false;
    l->bucket_start =
        ribbon_piece_start_of(l->piece, l->bucket) / TAMIS__RIBBON_BUCKET * TAMIS__RIBBON_BUCKET;
    l->bucket_end = l->bucket;
    const uint64_t end = l->bucket_start + TAMIS__RIBBON_BUCKET;
    while (l->bucket_end < l->end && ribbon_piece_start_of(l->piece, l->bucket_end) < end)
        l->bucket_end++;
    l->group = l->bucket_end;
    l->code = 3;
    return open_group(l); /* true: the bucket has keys */
}

static void walk(const struct ribbon_lane *l, struct walker *w)
{
    const struct ribbon_layer *layer = l->piece->layer;
    const uint32_t columns = tamis__ribbon_columns(layer, layer->segments - 1);
    w->slot = ribbon_piece_start_of(l->piece, l->key);
    if (layer->value_bits != 0) {
        const uint32_t print = tamis__ribbon_print(*l->key, columns - layer->value_bits);
        w->row = tamis__ribbon_map_row(*l->key);
        w->side = (uint64_t)print << layer->value_bits | (uint32_t)l->key->lo;
        return;
    }
    w->row = tamis__ribbon_row(*l->key);
    w->side = tamis__ribbon_side(*l->key, layer->homogeneous, columns);
    if (layer->retrieves) w->side ^= l->key->lo & 1;
}

static void put_side(const struct ribbon_piece *p, uint64_t slot, uint64_t side)
{
    p->sides[slot] = (uint32_t)side;
    if (p->upper != NULL) p->upper[slot] = (uint32_t)(side >> 32);
}

static void undo_group(struct ribbon_lane *l)
{
    for (unsigned i = 0; i < l->n_placed; i++) {
        l->piece->rows[l->placed[i]] = 0;
        put_side(l->piece, l->placed[i], 0);
    }
}

/* Ends a walk, whose row found its slot or became zero, and begins the next one. Returns false if
 * there is none. */
__attribute__((noinline)) static bool ribbon_piece_turn(struct ribbon_lane *l, struct walker *w)
{
    bool is_done = false; /* with the bucket */
    if (w->row == 0 && w->side != 0) {
        undo_group(l);
        close_bucket(l, l->group_end);
        is_done = true;
    } else {
        if (w->row != 0) {
            l->piece->rows[w->slot] = w->row;
            put_side(l->piece, w->slot, w->side);
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

/* --- Elimination ------------------------------------------------------------------------------ */

/* Returns false after the lane's last step. */
static inline bool step(const struct ribbon_piece *p, struct ribbon_lane *l, struct walker *w)
{
    const uint64_t there = p->rows[w->slot], row = w->row ^ there;
    if (there == 0) return ribbon_piece_turn(l, w);
    w->side ^= p->sides[w->slot];
    if (p->upper != NULL) w->side ^= (uint64_t)p->upper[w->slot] << 32;
    if (row == 0) {
        w->row = 0;
        return ribbon_piece_turn(l, w);
    }
    const unsigned zeros = (unsigned)__builtin_ctzll(row);
    w->row = row >> zeros;
    w->slot += zeros;
    return true;
}

static bool lane_open(struct ribbon_lane *l, const struct ribbon_piece *p, tamis_hash *from,
                      tamis_hash *to, struct walker *w)
{
    l->piece = p;
    l->bucket = l->bumped = from;
    l->end = to;
    if (!open_bucket(l)) return false;
    walk(l, w);
    return true;
}

/* The index of the first of n sorted keys that starts at `start` or after it. */
static uint64_t first_from(const struct ribbon_piece *p, const tamis_hash *h, uint64_t n,
                           uint64_t start)
{
    uint64_t from = 0;
    while (from < n) {
        const uint64_t middle = from + (n - from) / 2;
        if (ribbon_piece_start_of(p, h + middle) < start)
            from = middle + 1;
        else
            n = middle;
    }
    return from;
}

static void cut(struct ribbon_piece *p)
{
    const uint64_t end = p->is_last ? p->starts - p->first : p->slots;
    const uint64_t lane = end / TAMIS__RIBBON_LANES / TAMIS__RIBBON_BUCKET * TAMIS__RIBBON_BUCKET;
    uint64_t *from = p->from;
    from[0] = 0;
    for (unsigned i = 1; i <= TAMIS__RIBBON_PARTS; i++) from[i] = p->n;
    for (unsigned i = 1; i < TAMIS__RIBBON_LANES && p->has_lanes; i++) {
        from[2 * i - 1] = first_from(p, p->keys, p->n, i * lane - TAMIS__RIBBON_BUCKET);
        from[2 * i] = first_from(p, p->keys, p->n, i * lane);
    }
    if (p->is_last) return;
    from[TAMIS__RIBBON_PARTS - 1] = first_from(p, p->keys, p->n, end - TAMIS__RIBBON_BUCKET);
}

static void run_lanes(struct ribbon_piece *p)
{
    struct ribbon_lane *l = p->parts;
    tamis_hash *h = p->keys;
    const uint64_t *from = p->from;
    struct walker a, b, c;
    bool a_lives = lane_open(&l[0], p, h + from[0], h + from[1], &a);
    bool b_lives = lane_open(&l[2], p, h + from[2], h + from[3], &b);
    bool c_lives = lane_open(&l[4], p, h + from[4], h + from[5], &c);
    while (a_lives && b_lives && c_lives) {
        a_lives = step(p, &l[0], &a);
        b_lives = step(p, &l[2], &b);
        c_lives = step(p, &l[4], &c);
    }
    while (a_lives) a_lives = step(p, &l[0], &a);
    while (b_lives) b_lives = step(p, &l[2], &b);
    while (c_lives) c_lives = step(p, &l[4], &c);
}

/* After a seam comes a full lane, and a row could walk through all of it to the next free slot. A
 * row that leaves the seam's windows does not fit. */
static void run_seam(struct ribbon_piece *p, unsigned seam)
{
    struct ribbon_lane *l = &p->parts[seam];
    struct walker w;
    bool lives = lane_open(l, p, p->keys + p->from[seam], p->keys + p->from[seam + 1], &w);
    while (lives) {
        if (w.slot < l->bucket_start + TAMIS__RIBBON_REACH) {
            lives = step(p, l, &w);
            continue;
        }
        w.row = 0;
        w.side = 1;
        lives = ribbon_piece_turn(l, &w);
    }
}

/* Moves the bumped keys to the front and returns how many there are. */
static uint64_t gather_bumped(struct ribbon_piece *p)
{
    uint64_t bumped = 0;
    for (unsigned i = 0; i < TAMIS__RIBBON_PARTS; i++) {
        tamis_hash *from = p->keys + p->from[i];
        const uint64_t more = (uint64_t)(p->parts[i].bumped - from);
        memmove(p->keys + bumped, from, (size_t)more * sizeof *from);
        bumped += more;
    }
    return bumped;
}

void tamis__ribbon_eliminate(struct ribbon_piece *p)
{
    const size_t slots = (size_t)tamis__ribbon_window(p);
    memset(p->rows, 0, slots * sizeof *p->rows);
    memset(p->sides, 0, slots * sizeof *p->sides);
    if (p->upper != NULL) memset(p->upper, 0, slots * sizeof *p->upper);
    cut(p);
    run_lanes(p);
    for (unsigned seam = 1; seam < TAMIS__RIBBON_PARTS - 1; seam += 2) run_seam(p, seam);
}

/* --- Substitution ----------------------------------------------------------------------------- */

/* In a homogeneous system the free slots must be random, because all zeros would be a solution,
 * too. */
static void fill_free(const struct ribbon_piece *p)
{
    for (uint64_t i = 0; i < p->slots; i++)
        if (p->rows[i] == 0) p->sides[i] = (uint32_t)(tamis__remix(i + 1) >> 32);
}

static void substitute(const struct ribbon_piece *p, uint64_t *words)
{
    const struct ribbon_layer *l = p->layer;
    const struct kernels *k = tamis__kernels();
    const uint64_t before = p->first / TAMIS__RIBBON_WIDTH;
    uint64_t segment = tamis__ribbon_window(p) / TAMIS__RIBBON_WIDTH;
    while (segment-- > (before > 0)) {
        const uint64_t first = segment * TAMIS__RIBBON_WIDTH;
        const uint32_t columns = tamis__ribbon_columns(l, before + segment);
        uint8_t *to = l->solution + 8 * tamis__ribbon_word(l, before + segment);
        const uint32_t lower = columns < 32 ? columns : 32;
        k->ribbon_solve(p->rows + first, p->sides + first, lower, words);
        if (columns > lower)
            k->ribbon_solve(p->rows + first, p->upper + first, columns - lower, words + lower);
        for (uint32_t c = 0; c < columns; c++) tamis__put64(to + 8 * c, words[c]);
    }
}

uint64_t tamis__ribbon_join(struct ribbon_piece *p, struct ribbon_border *b)
{
    if (!p->is_last) {
        memcpy(p->rows + p->slots, b->rows, sizeof b->rows);
        memcpy(p->sides + p->slots, b->sides, sizeof b->sides);
        if (p->upper != NULL) memcpy(p->upper + p->slots, b->upper, sizeof b->upper);
    }
    run_seam(p, TAMIS__RIBBON_PARTS - 1); /* has no keys in the last piece */
    if (p->layer->homogeneous) fill_free(p);
    substitute(p, b->words);
    memcpy(b->rows, p->rows, sizeof b->rows);
    memcpy(b->sides, p->sides, sizeof b->sides);
    if (p->upper != NULL) memcpy(b->upper, p->upper, sizeof b->upper);
    return gather_bumped(p);
}
