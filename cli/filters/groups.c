/* Most groups are small. The keys of such a group are an array of hashes, which is searched from
 * its beginning to its end. With more than FEW keys the group gets a sketch of the library, which
 * has a fixed part of about 0.5 KB and takes 8 bytes for each key, until it has registers. 95,000
 * groups of three keys take 16 MB in all. */
#include "groups.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FEW = 64, IS_SKETCH = UINT32_MAX };
/* What malloc adds to each piece. */
#define PIECE_BYTES 16u

/* Kept beside the name of the group (line_set_extra). */
struct group_keys {
    void *keys;    /* an array of hashes, or a sketch */
    uint32_t n;    /* hashes in the array */
    uint32_t room; /* of the array, or IS_SKETCH */
    uint64_t lines;
};

/* --- The budget ------------------------------------------------------------------------------- */

static bool is_in_budget(struct groups *g, uint64_t names, uint64_t more)
{
    const bool good =
        g->used <= g->budget && names <= g->budget - g->used && more <= g->budget - g->used - names;
    g->over = g->over || !good;
    return good;
}

/* The memory of the sketches: the size of each piece is kept in front of it. */
static void *sketch_alloc(void *ctx, size_t size)
{
    struct groups *g = ctx;
    const uint64_t all = (uint64_t)size + 2 * PIECE_BYTES;
    if (size > SIZE_MAX - 2 * PIECE_BYTES || !is_in_budget(g, line_set_bytes(&g->names), all))
        return NULL;
    char *p = malloc(size + PIECE_BYTES);
    if (p == NULL) return NULL;
    memcpy(p, &all, sizeof all);
    g->used += all;
    return p + PIECE_BYTES;
}

static void sketch_free(void *ctx, void *p)
{
    struct groups *g = ctx;
    uint64_t all;
    if (p == NULL) return;
    char *piece = (char *)p - PIECE_BYTES;
    memcpy(&all, piece, sizeof all);
    g->used -= all;
    free(piece);
}

/* --- The keys of a group ---------------------------------------------------------------------- */

static bool add_to_sketch(struct group_keys *to, const tamis_hash *h, size_t n)
{
    return tamis_add_hashes(to->keys, h, n, NULL, NULL) == TAMIS_OK;
}

static uint64_t array_bytes(uint32_t room)
{
    return room != 0 ? room * sizeof(tamis_hash) + PIECE_BYTES : 0;
}

/* Makes room for one more hash in the array. */
static bool grow_array(struct groups *g, struct group_keys *to)
{
    const uint32_t room = to->room != 0 ? 2 * to->room : 1;
    if (!is_in_budget(g, line_set_bytes(&g->names), array_bytes(room)) ||
        !resize(&to->keys, room, sizeof(tamis_hash)))
        return false;
    g->used += array_bytes(room) - array_bytes(to->room);
    to->room = room;
    return true;
}

/* Moves the hashes of the array to a sketch. */
static bool make_sketch(struct groups *g, struct group_keys *to)
{
    const tamis_options o = {.struct_size = sizeof o, .memory = &g->memory};
    tamis *t;
    if (tamis_create(&g->plan, &o, &t, NULL) != TAMIS_OK) return false;
    if (tamis_add_hashes(t, to->keys, to->n, NULL, NULL) != TAMIS_OK) {
        tamis_close(t);
        return false;
    }
    free(to->keys);
    g->used -= array_bytes(to->room);
    to->keys = t;
    to->room = IS_SKETCH;
    return true;
}

static bool add_to_array(struct groups *g, struct group_keys *to, tamis_hash h)
{
    const tamis_hash *known = to->keys;
    for (uint32_t i = 0; i < to->n; i++)
        if (known[i].lo == h.lo && known[i].hi == h.hi) return true;
    if (to->n == FEW) return make_sketch(g, to) && add_to_sketch(to, &h, 1);
    if (to->n == to->room && !grow_array(g, to)) return false;
    ((tamis_hash *)to->keys)[to->n++] = h;
    return true;
}

static bool add_to_group(struct groups *g, struct group_keys *to, const tamis_hash *h, size_t n)
{
    size_t i = 0;
    for (; i < n && to->room != IS_SKETCH; i++)
        if (!add_to_array(g, to, h[i])) return false;
    to->lines += n;
    return i == n || add_to_sketch(to, h + i, n - i);
}

/* --- Groups ----------------------------------------------------------------------------------- */

void groups_start(struct groups *g)
{
    g->memory = (tamis_memory){.ctx = g, .alloc = sketch_alloc, .free = sketch_free};
    g->names = (struct line_set){.hasher = g->hasher, .extra = sizeof(struct group_keys)};
}

/* The keys of lines that have the same group and follow each other. */
static bool add_run(struct groups *g, tamis_hash group, tamis_bytes name, const tamis_hash *keys,
                    size_t n)
{
    struct group_keys to;
    uint64_t at;
    const size_t before = g->names.n;
    if (!is_in_budget(g, line_set_bytes_to_add(&g->names, name.len), sizeof(struct grouped_keys)) ||
        !line_set_add(&g->names, group, name, &at))
        return false;
    if (g->names.n > before) g->used += sizeof(struct grouped_keys); /* for the list */
    void *kept = line_set_extra(&g->names, at);
    memcpy(&to, kept, sizeof to);
    const bool good = add_to_group(g, &to, keys, n);
    memcpy(kept, &to, sizeof to);
    return good;
}

static bool is_same_group(tamis_bytes x, tamis_bytes y)
{
    return x.len == y.len && (x.len == 0 || memcmp(x.p, y.p, x.len) == 0);
}

bool groups_add(struct groups *g, const struct block *b)
{
    if (b->n > g->room) {
        if (!resize(&g->hashes, b->n, sizeof *g->hashes)) return false;
        g->room = b->n;
    }
    if (tamis_hash_many(g->hasher, b->groups, b->n, g->hashes) != TAMIS_OK) return false;
    for (size_t i = 0, n; i < b->n; i += n) {
        for (n = 1; i + n < b->n && is_same_group(b->groups[i], b->groups[i + n]);) n++;
        if (!add_run(g, g->hashes[i], b->groups[i], b->hashes + i, n)) return false;
    }
    return true;
}

uint64_t groups_bytes(const struct groups *g)
{
    return g->used + line_set_bytes(&g->names);
}

static struct group_keys group_at(const struct groups *g, uint64_t at)
{
    struct group_keys of;
    memcpy(&of, line_set_extra(&g->names, at), sizeof of);
    return of;
}

void groups_free(struct groups *g)
{
    for (uint64_t at = 0; at < g->names.size; at = line_set_after(&g->names, at)) {
        const struct group_keys of = group_at(g, at);
        if (of.room == IS_SKETCH)
            tamis_close(of.keys);
        else
            free(of.keys);
    }
    line_set_free(&g->names);
    free(g->hashes);
    g->hashes = NULL;
    g->room = 0;
}

/* --- The list --------------------------------------------------------------------------------- */

void limit_to_lines(tamis_cardinality *c, uint64_t lines)
{
    c->value = fmin(c->value, (double)lines);
    c->low = fmin(c->low, (double)lines);
    c->high = fmin(c->high, (double)lines);
}

void groups_count(const struct groups *g, const struct grouped_keys *of, tamis_cardinality *out)
{
    const struct group_keys keys = group_at(g, of->at);
    const double n = keys.n;
    *out = (tamis_cardinality){
        .struct_size = sizeof *out, .value = n, .low = n, .high = n, .exact = true};
    if (keys.room != IS_SKETCH) return;
    tamis_distinct(keys.keys, out, NULL); /* never fails for the kind */
    limit_to_lines(out, keys.lines);
}

static int by_number_and_name(const void *p, const void *q)
{
    const struct grouped_keys *x = p, *y = q;
    const size_t shorter = x->group.len < y->group.len ? x->group.len : y->group.len;
    if (x->distinct != y->distinct) return x->distinct > y->distinct ? -1 : 1;
    const int order = shorter > 0 ? memcmp(x->group.p, y->group.p, shorter) : 0;
    if (order != 0) return order;
    return x->group.len < y->group.len ? -1 : x->group.len > y->group.len;
}

struct grouped_keys *groups_list(struct groups *g)
{
    struct grouped_keys *list = calloc(g->names.n + 1, sizeof *list);
    size_t n = 0;
    if (list == NULL) return NULL;
    for (uint64_t at = 0; at < g->names.size; at = line_set_after(&g->names, at)) {
        tamis_cardinality number;
        struct grouped_keys *to = &list[n++];
        *to = (struct grouped_keys){
            .group = line_set_line(&g->names, at), .lines = group_at(g, at).lines, .at = at};
        groups_count(g, to, &number);
        to->distinct = (uint64_t)llround(number.value);
    }
    qsort(list, n, sizeof *list, by_number_and_name);
    return list;
}
