/* fuse: the binary fuse filter (T. M. Graf, D. Lemire, "Binary fuse filters: fast and smaller than
 * xor filters", 2022). It is a sealed kind: it is built once from all its keys. Then a query takes
 * 3 or 4 memory accesses in neighbouring segments, and the filter takes no more than 1.13 or 1.08
 * of the lower bound, with plain instructions that every processor has.
 *
 *     cells of f bits, in segments of L:   | 0 | 1 | 2 | 3 | ... |
 *     a key:                                     ^   ^   ^       one in each of d adjacent segments
 *     may_contain:   cell ^ cell ^ cell == the key's fingerprint
 *
 * Building. Each key is an edge between its d cells. A cell that only one key touches can be left
 * to that key: remove both, and other cells are left with a single key. Once all keys are removed,
 * they are processed in reverse order, and each sets its own cell so that the sum is right. With
 * 1.125 (1.075) cells per key, in segments of the right length, nearly every set of keys can be
 * peeled this way. If one cannot, another salt makes other edges, and after some failures there are
 * more cells. Equal keys could never be peeled, so repeated keys are removed after the first
 * failure.
 *
 * The rate is exactly 2^-f. For a non-member, the sum of the cells is independent of its
 * fingerprint, which comes from the other half of the hash. f is a whole number; ribbon has rates
 * in between.
 *
 * Keys are first sorted by segment, so that building works within the caches. Peak memory is 32
 * bytes a key in addition to the collected hashes, which take 16 a key, so three times the hashes.
 *
 * Time, on one core of a Zen 4, for queries of integers in batches, 8 bits, with AVX-512: 4.7 ns at
 * 10^6 and 5.1 at 10^7 (3-wise), 6.3 (4-wise). Without SIMD: 8.2, 8.6 and 10.3. Hashing takes 2.6
 * of that. A random line of 11 MB costs 1.0 ns if many are in flight, so a key's cells are computed
 * once, prefetched, and kept until its group is due. */
#include "fuse.h"
#include "../core/cpu.h"
#include "../core/error.h"
#include "../core/memory.h"
#include "../core/single.h"
#include "../image/image.h"
#include "collect.h"

#include <math.h>
#include <stdlib.h>

#define MIN_BITS 4u
#define MAX_BITS TAMIS__FUSE_MOST_BITS
#define MAX_SEGMENT_LOG TAMIS__FUSE_LONGEST
#define MOST_SALTS 100u /* each fails for a random set with a probability of about 1 in 20 */

/* --- Shape ------------------------------------------------------------------------------------ */

static uint64_t cell_bytes(uint64_t cells, uint32_t bits)
{
    return tamis__cell_bytes(cells * bits) + TAMIS__FUSE_SPARE;
}

/* The constants are those of the paper's authors. `more` is a factor for sets that cannot be
 * peeled. */
static struct fuse shape_for(uint64_t keys, uint32_t d, uint32_t bits, double more)
{
    struct fuse s = {.d = d, .bits = bits};
    const double n = keys > 2 ? (double)keys : 2, ln = log(n);
    const double log2_length = d == 3 ? floor(ln / log(3.33) + 2.25) : floor(ln / log(2.91) - 0.5);
    s.log = log2_length < 1                 ? 1
            : log2_length > MAX_SEGMENT_LOG ? MAX_SEGMENT_LOG
                                            : (unsigned)log2_length;
    const double factor = d == 3 ? fmax(1.125, 0.875 + 0.25 * log(1e6) / ln)
                                 : fmax(1.075, 0.77 + 0.305 * log(6e5) / ln);
    const uint64_t wanted = (uint64_t)ceil(n * factor * more), length = UINT64_C(1) << s.log;
    uint64_t segments = (wanted + length - 1) / length;
    if (segments < d) segments = d;
    s.cells = segments * length;
    s.starts = (segments - (d - 1)) * length;
    return s;
}

/* d and salt are those of the section, as constants where speed matters. */
static inline struct fuse fuse_view(const struct section *s, uint32_t d, uint32_t salt)
{
    const uint64_t length = UINT64_C(1) << s->variant;
    const struct fuse f = {.cells = s->m,
                           .starts = s->m - (d - 1) * length,
                           .d = d,
                           .bits = s->cell_bits,
                           .salt = salt,
                           .log = s->variant,
                           .table = s->cells};
    return f;
}

/* --- Planning --------------------------------------------------------------------------------- */

static uint64_t fuse_image_bytes(uint64_t items, uint32_t d, uint32_t bits)
{
    return tamis__image_bytes(cell_bytes(shape_for(items, d, bits, 1).cells, bits), 1);
}

struct fuse_budget {
    uint64_t bytes;
    uint32_t d, bits;
};

static bool fuse_keeps_budget(void *ctx, uint64_t items)
{
    const struct fuse_budget *b = ctx;
    return fuse_image_bytes(items, b->d, b->bits) <= b->bytes;
}

/* The most items whose image is within the budget, or 0 if there are none. The size is not quite
 * monotone where segments double; this returns the last number that fits. */
static uint64_t fuse_items_for_bytes(uint64_t bytes, uint32_t d, uint32_t bits)
{
    struct fuse_budget b = {bytes, d, bits};
    return tamis__largest(0, TAMIS__MAX_ITEMS / MAX_BITS, fuse_keeps_budget, &b);
}

static tamis_status fuse_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    if (p->m != 0)
        return tamis__fail(why, TAMIS_EINVAL, "the size of a fuse filter follows its keys");
    if (p->k == 0) p->k = 3;
    if (p->k != 3 && p->k != 4)
        return tamis__fail(why, TAMIS_EINVAL, "k must be 3 or 4, not %u", p->k);
    if (p->items > TAMIS__MAX_ITEMS / MAX_BITS)
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    uint32_t bits = MIN_BITS;
    if (p->fpr != 0)
        while (bits < MAX_BITS && ldexp(1, -(int)bits) > p->fpr) bits++;
    else
        while (bits < MAX_BITS && fuse_image_bytes(p->items, p->k, bits + 1) <= p->bytes) bits++;
    if (p->fpr != 0 && ldexp(1, -(int)bits) > p->fpr)
        return tamis__fail(why, TAMIS_EINVAL, "a fingerprint has at most 32 bits: 2^-32, not %.3g",
                           p->fpr);
    if (p->items == 0) p->items = fuse_items_for_bytes(p->bytes, p->k, bits);
    const uint64_t bytes = p->items != 0 ? fuse_image_bytes(p->items, p->k, bits) : UINT64_MAX;
    if (p->bytes != 0 && bytes > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "%llu bytes are too few: at least %llu are needed",
                           (unsigned long long)p->bytes,
                           (unsigned long long)fuse_image_bytes(p->items != 0 ? p->items : 1, p->k,
                                                                p->fpr != 0 ? bits : MIN_BITS));
    p->bytes = bytes;
    p->fpr = promise->fpr_asymptotic = ldexp(1, -(int)bits);
    return TAMIS_OK;
}

static uint32_t fuse_layout(const tamis_plan *plan, struct section *out)
{
    if (out != NULL)
        *out = tamis__collection(TAMIS_FUSE, plan->k, (uint32_t)lround(-log2(plan->fpr)));
    return 1;
}

static const char *fuse_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (s->kind != TAMIS_FUSE) return "the section is not of this kind";
    if (s->k != 3 && s->k != 4) return "k is out of range";
    if (s->cell_bits < MIN_BITS || s->cell_bits > MAX_BITS)
        return "the fingerprints have a wrong size";
    if (tamis__collecting(b))
        return s->variant != 0 || s->salt != 0 ? "the collection has a shape"
                                               : tamis__wrong_collection(b);
    if (b->count != 1 || s->role != TAMIS__ROLE_CELLS) return "this kind has exactly one section";
    if (s->m > TAMIS__MAX_CELLS / MAX_BITS || s->m < s->k << s->variant ||
        s->m % (UINT64_C(1) << s->variant) != 0)
        return "the number of cells is out of range";
    if (s->length != cell_bytes(s->m, s->cell_bits))
        return "the section's length does not fit its cells";
    return NULL;
}

static const char *fuse_wrong_cells(const struct body *b)
{
    const struct section *s = b->sections;
    if (tamis__collecting(b)) return tamis__wrong_collection_cells(b);
    for (uint64_t i = s->m * s->cell_bits; i < s->length * 8; i++)
        if (tamis__bit(s->cells, i)) return "a bit beyond the last one is set";
    return NULL;
}

/* --- Queries ---------------------------------------------------------------------------------- */

#define AIMED (8 * (8 * TAMIS__AIM_WORDS / sizeof(struct fuse_aim)))

static void fuse_prefetch(const struct body *b, const struct batch *keys)
{
    if (tamis__collecting(b) || keys->aim == NULL) return;
    const struct fuse f = fuse_view(b->sections, b->sections->k, b->sections->salt);
    tamis__kernels()->fuse_aim(&f, keys->hashes, keys->n, (void *)keys->aim, true);
}

/* Queries one key, without what pays only for many. d, bits and reach are constants where speed
 * matters. */
TAMIS__SPECIALIZED bool fuse_has(const struct fuse *f, uint32_t d, uint32_t bits, unsigned reach,
                                 tamis_hash h)
{
    const uint64_t edge = tamis__fuse_edge(h, f->salt), first = tamis__mulhi(edge, f->starts);
    const uint64_t length = tamis__opaque(UINT64_C(1) << f->log);
    uint64_t sum = 0;
    for (uint32_t j = 0; j < d; j++) {
        const uint64_t bit = tamis__opaque(tamis__fuse_cell(edge, first, length, j) * bits);
        sum ^= tamis__fuse_load(f->table + (bit >> 3), reach) >> (bit & 7);
    }
    return tamis__fuse_is_print(h, sum, bits);
}

static bool fuse_query_one(const struct fuse *f, tamis_hash h)
{
    return fuse_has(f, f->d, f->bits, 8, h);
}

#ifndef TAMIS_LEAN
/* In a frame of its own, because batches with aims do not need these buffers. */
static TAMIS__APART void fuse_query_unaimed(const struct fuse *f, const struct batch *keys,
                                            uint8_t *bits)
{
    struct fuse_aim aim[TAMIS__FUSE_AIMS];
    tamis__kernels()->fuse_aim(f, keys->hashes, keys->n, aim, false);
    tamis__kernels()->fuse_query(f, aim, keys->n, NULL, NULL, bits);
}
#endif

static void fuse_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    if (tamis__collecting(b)) {
        tamis__say_maybe(keys, bits);
        return;
    }
    const struct fuse f = fuse_view(b->sections, b->sections->k, b->sections->salt);
#ifdef TAMIS_LEAN /* one by one, because nothing is prefetched */
    memset(bits, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++)
        bits[i / 8] |= (uint8_t)(fuse_query_one(&f, keys->hashes[i]) << i % 8);
#else
    if (keys->aim != NULL)
        tamis__kernels()->fuse_query(&f, (void *)keys->aim, keys->n, keys->ahead,
                                     (void *)keys->next_aim, bits);
    else if (keys->n == 1)
        *bits = fuse_query_one(&f, *keys->hashes);
    else
        fuse_query_unaimed(&f, keys, bits);
#endif
}

/* Nearly all filters of distinct keys have salt 0, which takes fewer instructions. */
TAMIS__SPECIALIZED bool fuse_has_bytes(const struct section *s, tamis_hash h)
{
    const struct fuse f = fuse_view(s, 3, 0);
    return fuse_has(&f, 3, 8, 1, h);
}

/* The cells of a plan for 1 %. */
TAMIS__SPECIALIZED bool fuse_has_sevens(const struct section *s, tamis_hash h)
{
    const struct fuse f = fuse_view(s, 3, 0);
    return fuse_has(&f, 3, 7, 2, h);
}

TAMIS__SPECIALIZED bool fuse_has_three(const struct section *s, tamis_hash h)
{
    const struct fuse f = fuse_view(s, 3, 0);
    return fuse_has(&f, 3, f.bits, 8, h);
}

TAMIS__SPECIALIZED bool fuse_has_any(const struct section *s, tamis_hash h)
{
    const struct fuse f = fuse_view(s, s->k, s->salt);
    return fuse_query_one(&f, h);
}

TAMIS__ASK_SINGLE(fuse_bytes, , fuse_has_bytes)
TAMIS__ASK_SINGLE(fuse_sevens, , fuse_has_sevens)
TAMIS__ASK_SINGLE(fuse_three, , fuse_has_three)
TAMIS__ASK_SINGLE(fuse_any, , fuse_has_any)

static const struct single *fuse_single(const struct body *b)
{
    static const struct single bytes = {.ask = single_fuse_bytes_ask,
                                        .ask_hash = single_fuse_bytes_ask_hash};
    static const struct single sevens = {.ask = single_fuse_sevens_ask,
                                         .ask_hash = single_fuse_sevens_ask_hash};
    static const struct single three = {.ask = single_fuse_three_ask,
                                        .ask_hash = single_fuse_three_ask_hash};
    static const struct single any = {.ask = single_fuse_any_ask,
                                      .ask_hash = single_fuse_any_ask_hash};
    if (tamis__collecting(b)) return NULL;
    if (b->sections->k != 3 || b->sections->salt != 0) return &any;
    return b->sections->cell_bits == 8 ? &bytes : b->sections->cell_bits == 7 ? &sevens : &three;
}

/* --- Sealing ---------------------------------------------------------------------------------- */

/* A key while the filter is built, in 12 bytes. */
struct edge {
    uint32_t low, high, print;
};

struct fuse_builder {
    struct fuse shape;  /* with its salt */
    uint64_t n;         /* number of edges */
    struct edge *edges; /* in the order of segments; later the removed ones, in order */
    uint8_t *which;     /* for each removed edge: which of its d cells was left to it */
    struct edge *sums;  /* for each cell: the sum of its edges */
    uint8_t *counts;    /* for each cell: the number of its edges; 255 is too many */
    uint32_t *queue;    /* cells with a single edge: the lower 32 bits of their numbers, */
    uint8_t *upper;     /* and the upper 16 if there are more than 2^32 cells, or NULL */
    uint64_t *ends;     /* for each segment: where its edges end */
};

static uint64_t word(struct edge e)
{
    return (uint64_t)e.high << 32 | e.low;
}

/* Frees what only peeling needs. */
static void drop_drawing(const tamis_memory *memory, struct fuse_builder *w)
{
    tamis__free(memory, w->sums);
    tamis__free(memory, w->counts);
    tamis__free(memory, w->queue);
    tamis__free(memory, w->upper);
    w->sums = NULL;
    w->counts = w->upper = NULL;
    w->queue = NULL;
}

static void builder_close(const tamis_memory *memory, struct fuse_builder *w)
{
    drop_drawing(memory, w);
    tamis__free(memory, w->edges);
    tamis__free(memory, w->which);
    tamis__free(memory, w->ends);
    memset(w, 0, sizeof *w);
}

static bool builder_open(const tamis_memory *memory, uint64_t n, struct fuse shape,
                         struct fuse_builder *w)
{
    memset(w, 0, sizeof *w);
    w->shape = shape;
    w->n = n;
    w->edges = tamis__alloc(memory, n * sizeof *w->edges);
    w->which = tamis__alloc(memory, n);
    w->sums = tamis__alloc(memory, shape.cells * sizeof *w->sums);
    w->counts = tamis__alloc(memory, shape.cells);
    const bool wide = shape.cells >> 32 != 0; /* always below 2^48: at most 2^52 bits */
    w->queue = tamis__alloc(memory, shape.cells * sizeof *w->queue);
    w->upper = wide ? tamis__alloc(memory, shape.cells * 2) : NULL;
    w->ends = tamis__alloc(memory, ((shape.starts >> shape.log) + 1) * sizeof *w->ends);
    if (w->edges != NULL && w->which != NULL && w->sums != NULL && w->counts != NULL &&
        w->queue != NULL && w->ends != NULL && (!wide || w->upper != NULL))
        return true;
    builder_close(memory, w);
    return false;
}

/* A counting sort by the segment of the first cell. */
static void fuse_deal(struct fuse_builder *w, const struct section *from)
{
    const uint64_t segments = w->shape.starts >> w->shape.log;
    for (uint64_t i = 0; i < w->n; i++) {
        const uint64_t edge = tamis__fuse_edge(tamis__collected(from, i), w->shape.salt);
        w->ends[(tamis__mulhi(edge, w->shape.starts) >> w->shape.log) + 1]++;
    }
    for (uint64_t i = 0; i < segments; i++) w->ends[i + 1] += w->ends[i];
    for (uint64_t i = 0; i < w->n; i++) {
        const tamis_hash h = tamis__collected(from, i);
        const uint64_t edge = tamis__fuse_edge(h, w->shape.salt);
        const uint64_t segment = tamis__mulhi(edge, w->shape.starts) >> w->shape.log;
        const struct edge e = {(uint32_t)edge, (uint32_t)(edge >> 32),
                               tamis__fuse_print(h, w->shape.bits)};
        w->edges[w->ends[segment]++] = e; /* ends[i] becomes the end of segment i */
    }
}

static int compare_edges(const void *a, const void *b)
{
    const uint64_t x = word(*(const struct edge *)a), y = word(*(const struct edge *)b);
    return x < y ? -1 : x > y;
}

/* Drops repeated keys. Equal keys are in the same segment. */
static void drop_equal(struct fuse_builder *w)
{
    const uint64_t segments = w->shape.starts >> w->shape.log;
    uint64_t kept = 0, from = 0;
    for (uint64_t i = 0; i < segments; from = w->ends[i++]) {
        qsort(w->edges + from, (size_t)(w->ends[i] - from), sizeof *w->edges, compare_edges);
        for (uint64_t j = from; j < w->ends[i]; j++) {
            const struct edge e = w->edges[j];
            const bool again = j > from && word(w->edges[kept - 1]) == word(e) &&
                               w->edges[kept - 1].print == e.print;
            if (!again) w->edges[kept++] = e;
        }
    }
    w->n = kept;
}

static void touch(struct fuse_builder *w, uint64_t cell, struct edge e)
{
    struct edge *sum = &w->sums[cell];
    sum->low ^= e.low;
    sum->high ^= e.high;
    sum->print ^= e.print;
}

static bool draw(struct fuse_builder *w)
{
    for (uint64_t i = 0; i < w->n; i++) {
        const struct edge e = w->edges[i];
        uint64_t at[4];
        tamis__fuse_cells(&w->shape, w->shape.d, word(e), at);
        for (uint32_t j = 0; j < w->shape.d; j++) {
            touch(w, at[j], e);
            if (++w->counts[at[j]] == 255) return false;
        }
    }
    return true;
}

static void enqueue(struct fuse_builder *w, uint64_t i, uint64_t cell)
{
    w->queue[i] = (uint32_t)cell;
    if (w->upper != NULL) tamis__put16(w->upper + 2 * i, (uint16_t)(cell >> 32));
}

static uint64_t dequeue(const struct fuse_builder *w, uint64_t i)
{
    return w->queue[i] | (w->upper != NULL ? (uint64_t)tamis__get16(w->upper + 2 * i) << 32 : 0);
}

/* Removes edges as long as there is a cell with only one. Returns whether none is left. */
static bool peel(struct fuse_builder *w)
{
    uint64_t waiting = 0, taken = 0;
    for (uint64_t cell = 0; cell < w->shape.cells; cell++)
        if (w->counts[cell] == 1) enqueue(w, waiting++, cell);
    while (waiting > 0) {
        const uint64_t cell = dequeue(w, --waiting);
        if (w->counts[cell] != 1) continue; /* its edge was removed by way of another cell */
        const struct edge e = w->sums[cell];
        uint64_t at[4];
        tamis__fuse_cells(&w->shape, w->shape.d, word(e), at);
        for (uint32_t j = 0; j < w->shape.d; j++) {
            if (at[j] == cell) w->which[taken] = (uint8_t)j;
            touch(w, at[j], e);
            if (--w->counts[at[j]] == 1) enqueue(w, waiting++, at[j]);
        }
        w->edges[taken++] = e;
    }
    return taken == w->n;
}

static void fuse_put(uint8_t *table, uint64_t cell, uint32_t bits, uint64_t value)
{
    const uint64_t at = cell * bits, mask = (UINT64_C(1) << bits) - 1;
    const uint64_t old = tamis__get64(table + (at >> 3));
    tamis__put64(table + (at >> 3), (old & ~(mask << (at & 7))) | (value & mask) << (at & 7));
}

static void fuse_assign(const struct fuse_builder *w, uint8_t *cells)
{
    for (uint64_t i = w->n; i-- > 0;) {
        uint64_t at[4];
        uint64_t sum = w->edges[i].print;
        tamis__fuse_cells(&w->shape, w->shape.d, word(w->edges[i]), at);
        for (uint32_t j = 0; j < w->shape.d; j++)
            sum ^= tamis__fuse_get(cells, at[j], w->shape.bits);
        fuse_put(cells, at[w->which[i]], w->shape.bits, sum);
    }
}

/* Tries one salt. Returns TAMIS_OK with the cells in *out, which is NULL if the keys could not be
 * peeled, or TAMIS_ENOMEM. Repeated keys are counted once from the second salt on. */
static tamis_status try_salt(const struct body *b, struct fuse shape, uint8_t **out,
                             uint64_t *distinct)
{
    struct fuse_builder w;
    const struct section *s = b->sections;
    *out = NULL;
    if (!builder_open(b->memory, s->m, shape, &w)) return TAMIS_ENOMEM;
    fuse_deal(&w, s);
    if (shape.salt > 0) drop_equal(&w);
    *distinct = w.n;
    const bool good = draw(&w) && peel(&w);
    drop_drawing(b->memory, &w);
    if (good) *out = tamis__alloc(b->memory, cell_bytes(shape.cells, shape.bits));
    if (good && *out != NULL) fuse_assign(&w, *out);
    builder_close(b->memory, &w);
    return good && *out == NULL ? TAMIS_ENOMEM : TAMIS_OK;
}

static tamis_status fuse_seal(struct body *b, uint64_t *distinct, tamis_error *why)
{
    const struct section from = *b->sections;
    struct section s = {0};
    uint32_t salt = 0;
    uint64_t n = from.m;
    for (double more = 1; s.cells == NULL; salt++) {
        if (salt >= 8) more += 0.02; /* a set that is hard to peel gets more room */
        if (salt == MOST_SALTS)
            return tamis__cannot_seal(why, "these hashes were chosen so that no "
                                           "filter can be built");
        struct fuse shape = shape_for(n, from.k, from.cell_bits, more);
        shape.salt = salt;
        if (try_salt(b, shape, &s.cells, distinct) != TAMIS_OK)
            return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to seal %llu keys",
                               (unsigned long long)from.m);
        if (*distinct < n) { /* repeated keys fail at first, and then need no room */
            n = *distinct;
            tamis__free(b->memory, s.cells);
            s.cells = NULL;
        }
        s.m = shape.cells;
        s.variant = (uint16_t)shape.log;
    }
    s.role = TAMIS__ROLE_CELLS;
    s.kind = TAMIS_FUSE;
    s.k = from.k;
    s.cell_bits = from.cell_bits;
    s.salt = salt - 1;
    s.length = cell_bytes(s.m, s.cell_bits);
    if (tamis__replace_sections(b, &s, 1)) return TAMIS_OK;
    tamis__free(b->memory, s.cells);
    return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
}

/* --- The rest --------------------------------------------------------------------------------- */

static void fuse_gauge(const struct body *b, const struct body *other, double z, struct gauge *out)
{
    const struct section *s = b->sections;
    (void)other, (void)z;
    out->rate = tamis__collecting(b) ? 1 : ldexp(1, -(int)s->cell_bits);
    out->cells = out->hit = s->m != 0 ? s->m : 1;
}

static size_t fuse_cells_of(const struct body *b, tamis_hash h, uint64_t *out, size_t max)
{
    const struct fuse f = fuse_view(b->sections, b->sections->k, b->sections->salt);
    uint64_t at[4];
    if (tamis__collecting(b)) return 0;
    tamis__fuse_cells(&f, f.d, tamis__fuse_edge(h, f.salt), at);
    for (uint32_t j = 0; j < f.d && j < max; j++) out[j] = at[j];
    return f.d;
}

static const struct sealed_ops fuse_sealing = {.seal = fuse_seal,
                                               .reserve = TAMIS__FULL(tamis__reserve)};

const struct kind tamis__fuse = {
    .id = TAMIS_FUSE,
    .name = "fuse",
    .traits = TAMIS__MULTISET | TAMIS__GROWS,
    .accepts = TAMIS__PLANS_FILTER,
    .variants = MAX_SEGMENT_LOG,
    .roles = TAMIS__ROLE_HASHES,
    .aimed = AIMED,
    .sealing = &fuse_sealing,
    .solve = fuse_solve,
    .layout = fuse_layout,
    .wrong_shape = fuse_wrong_shape,
    .wrong_cells = fuse_wrong_cells,
    .prefetch = TAMIS__FULL(fuse_prefetch),
    .add = tamis__collect,
    .query = fuse_query,
    .single = TAMIS__SINGLE(fuse_single),
    .clear = tamis__clear_collection,
    .gauge = fuse_gauge,
    .cells_of = fuse_cells_of,
};
