/* blocked: one cache line per key, the default for sets that change (F. Putze, P. Sanders, J.
 * Singler, "Cache-, hash- and space-efficient Bloom filters", 2007; the split into words follows
 * Impala's and Parquet's block filters, here over a whole 64-byte line).
 *
 *     hash.hi picks the line        line:  word 0   word 1   ...   word 7      64 bits each
 *     hash.lo picks the bits               ...1...  ..1....        .....1.     one bit in each word
 *
 * A query accesses memory once, and tests one bit in each of eight words with one 512-bit (or two
 * 256-bit) instruction. The only multiplication is the one that finds the line. Line and bits come
 * from separate halves of the hash, so they are independent.
 *
 * The price is space, because lines fill unevenly. X, the number of keys in a line, is binomial (n,
 * 1/L). A line with x keys gives a false positive with probability exactly (1-(63/64)^x)^8, since
 * the eight words are independent once x is known. So
 *
 *     rate = sum over x of C(n,x) (1/L)^x (1-1/L)^(n-x) · (1-(63/64)^x)^8
 *
 * which is computed as it stands. At 1 % this takes 10.10 bits an item (bloom: 9.59), at 0.1 %
 * 15.72 (14.38), and at 0.01 % 23.6 (19.2). For lower rates use bloom, or TAMIS_AUTO, which chooses
 * it.
 *
 * The compact variant (TAMIS_COMPACT) puts k bits anywhere in the line, with the best k for the
 * rate. Each line is a classic filter of 512 bits, whose expected rate takes the place of
 * (1-(63/64)^x)^8 above. It takes 9.92 bits at 1 %, 15.55 at 0.1 %, and 22.0 at 0.01 %. The price
 * is time: with AVX-512 and 1 M items, bulk queries took 1.6 times as long and adds 3 times (`./run
 * bench --quick`).
 *
 * Each word position over all lines is a row of 64·L bits in which every key sets one bit. To
 * estimate the number of items, this is `partitioned` with k = 8, except that rows which share
 * their lines vary together (occupancy.c). Given the bits, the current rate is the mean over all
 * lines of the product of the words' shares of set bits. */
#include "../core/bitrows.h"
#include "../core/cpu.h"
#include "../core/plan.h"

#include <math.h>

#define WORDS 8u
#define COMPACT 1u /* variant */
/* The most bits per key in the compact variant. A rate of 1e-5 needs 14. */
#define MAX_K 16u

static uint64_t lines_of(const struct body *b)
{
    return b->sections->m / TAMIS__LINE_BITS;
}

static bool is_compact(const struct body *b)
{
    return b->sections->variant == COMPACT;
}

static double split_line_rate(const struct line_rates *r, double keys)
{
    (void)r;
    const double word = -expm1(keys * log1p(-1.0 / 64));
    const double squared = word * word;
    return squared * squared * squared * squared;
}

static uint64_t blocked_cells(uint64_t m, uint32_t k)
{
    (void)k;
    return m;
}

static struct sizing blocked_sizing(const tamis_plan *plan)
{
    const struct sizing split = {.step = TAMIS__LINE_BITS,
                                 .k_min = WORDS,
                                 .k_max = WORDS,
                                 .line = split_line_rate,
                                 .line_cells = TAMIS__LINE_BITS,
                                 .cells = blocked_cells};
    const struct sizing compact = {.step = TAMIS__LINE_BITS,
                                   .k_min = 1,
                                   .k_max = MAX_K,
                                   .line = tamis__line_hit,
                                   .line_near = tamis__line_nearly_hit,
                                   .line_cells = TAMIS__LINE_BITS,
                                   .cells = blocked_cells};
    return (plan->flags & TAMIS_COMPACT) != 0 ? compact : split;
}

static uint32_t blocked_layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 1;
    *out = tamis__bit_section(TAMIS_BLOCKED, plan->k, plan->m, plan->m);
    if ((plan->flags & TAMIS_COMPACT) != 0) out->variant = COMPACT;
    return 1;
}

static const char *blocked_wrong_shape(const struct body *b)
{
    const uint32_t k = b->sections->k;
    if (is_compact(b) ? k < 1 || k > MAX_K : k != WORDS) return "k is out of range";
    if (b->sections->m % TAMIS__LINE_BITS != 0) return "m is not a whole number of cache lines";
    return tamis__wrong_bit_section(b, TAMIS_BLOCKED, b->sections->m);
}

static const char *blocked_wrong_cells(const struct body *b)
{
    (void)b;
    return NULL; /* any bits are a valid line */
}

/* The locks of the lines, or NULL. */
static struct line_locks *locks_of(const struct body *b)
{
    return tamis__in_use(b) ? b->extra->locks : NULL;
}

static bool packs(const struct body *b)
{
    return !is_compact(b) && locks_of(b) == NULL; /* the compact bits come from the whole hash */
}

static void add_packed(struct body *b, uint64_t first, const uint64_t *words, size_t n,
                       uint8_t *seen)
{
    tamis__kernels_for(b)->packed_add(b->sections->cells + first * TAMIS__LINE_BYTES, words, n,
                                      seen);
}

static void blocked_prefetch(const struct body *b, const struct batch *keys)
{
    tamis__prefetch_lines(b->sections->cells, lines_of(b), keys->hashes, keys->n);
}

static void add_with_locks(struct body *b, const struct batch *keys, uint8_t *seen)
{
    const struct section *s = b->sections;
    if (is_compact(b))
        tamis__locked_compact_add(locks_of(b), s->cells, lines_of(b), s->k, keys->hashes, keys->n,
                                  seen);
    else if (keys->n == 1)
        *seen = (uint8_t)tamis__kernels()->locked_add_one(locks_of(b), s->cells, lines_of(b),
                                                          *keys->hashes);
    else
        tamis__kernels()->locked_add(locks_of(b), s->cells, lines_of(b), keys->hashes, keys->ahead,
                                     keys->n, seen);
}

static tamis_status blocked_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                size_t *done)
{
    (void)done;
    const struct kernels *k = tamis__kernels_for(b);
    struct section *s = b->sections;
    if (is_compact(b)) tamis__prefetch_lines(s->cells, lines_of(b), keys->ahead, keys->n);
    if (locks_of(b) != NULL)
        add_with_locks(b, keys, seen);
    else if (is_compact(b))
        k->compact_add(s->cells, lines_of(b), s->k, keys->hashes, keys->n, seen);
    else
        k->line_add(s->cells, lines_of(b), keys->hashes, keys->ahead, keys->n, seen);
    return TAMIS_OK;
}

static void blocked_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct kernels *k = tamis__kernels_for(b);
    const struct section *s = b->sections;
    if (is_compact(b)) tamis__prefetch_lines(s->cells, lines_of(b), keys->ahead, keys->n);
    if (is_compact(b))
        k->compact_query(s->cells, lines_of(b), s->k, keys->hashes, keys->n, bits);
    else if (locks_of(b) != NULL)
        tamis__kernels()->locked_query(s->cells, lines_of(b), keys->hashes, keys->ahead, keys->n,
                                       bits);
    else
        k->line_query(s->cells, lines_of(b), keys->hashes, keys->ahead, keys->n, bits);
}

static const struct single *blocked_single(const struct body *b)
{
    if (is_compact(b)) return NULL;
    return locks_of(b) != NULL ? tamis__kernels()->locked_single
                               : tamis__kernels_for(b)->line_single;
}

static bool blocked_query_any(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct tables t = {&b->sections->cells, sizeof *b->sections, b->count, lines_of(b)};
    if (is_compact(b)) return false;
    tamis__kernels_for(b)->line_query_any(&t, keys->hashes, keys->ahead, keys->n, bits);
    return true;
}

/* Counts the set bits in each of the eight words of a line, or of its union with the other
 * filter's. */
static void count_line(const struct section *s, const struct body *other, uint64_t line,
                       unsigned set[WORDS])
{
    const uint64_t at = line * TAMIS__LINE_BYTES;
    for (unsigned j = 0; j < WORDS; j++) {
        uint64_t word = tamis__get64(s->cells + at + 8 * j);
        if (other != NULL) word |= tamis__get64(other->sections->cells + at + 8 * j);
        set[j] = tamis__popcount(word);
    }
}

static void blocked_gauge(const struct body *b, const struct body *other, double z,
                          struct gauge *out)
{
    const struct section *s = b->sections;
    const uint64_t lines = lines_of(b);
    const struct occupancy rows = {WORDS, (double)s->m / WORDS, 1, (double)lines};
    const struct occupancy free_bits = {1, (double)s->m, s->k, (double)lines};
    double rates = 0;
    out->cells = s->m;
    out->hit = 0;
    for (uint64_t line = 0; line < lines; line++) {
        unsigned set[WORDS], sum = 0;
        double share = 1;
        count_line(s, other, line, set);
        for (unsigned j = 0; j < WORDS; j++) {
            sum += set[j];
            share *= set[j] / 64.0;
        }
        out->hit += sum;
        rates += is_compact(b) ? pow(sum / 512.0, s->k) : share;
    }
    out->rate = rates / (double)lines;
    out->items = tamis__items_from_hits(is_compact(b) ? &free_bits : &rows, (double)out->hit, z);
}

static size_t compact_cells_of(const struct body *b, tamis_hash h, uint64_t *out, size_t max)
{
    const uint64_t line = tamis__line_of(h, lines_of(b));
    uint64_t x = h.lo;
    for (uint32_t j = 0; j < b->sections->k; j++) {
        if (j < max) out[j] = line * TAMIS__LINE_BITS + tamis__compact_bit(x);
        x = tamis__next_probe(x, h);
    }
    return b->sections->k;
}

static size_t blocked_cells_of(const struct body *b, tamis_hash h, uint64_t *out, size_t max)
{
    if (is_compact(b)) return compact_cells_of(b, h, out, max);
    const uint64_t line = tamis__line_of(h, lines_of(b));
    for (unsigned j = 0; j < WORDS && j < max; j++)
        out[j] = line * TAMIS__LINE_BITS + 64 * j + tamis__line_bit(h.lo, j);
    return WORDS;
}

const struct kind tamis__blocked = {
    .id = TAMIS_BLOCKED,
    .name = "blocked",
    .traits = TAMIS__COMPARES | TAMIS__SHARES | TAMIS__LINES,
    .accepts = TAMIS__PLANS_FILTER | TAMIS_COMPACT,
    .variants = COMPACT,
    .solve = tamis__solve,
    .sizing = blocked_sizing,
    .layout = blocked_layout,
    .wrong_shape = blocked_wrong_shape,
    .wrong_cells = blocked_wrong_cells,
    .packs = TAMIS__FULL(packs),
    .add_packed = TAMIS__FULL(add_packed),
    .prefetch = TAMIS__FULL(blocked_prefetch),
    .add = blocked_add,
    .query = blocked_query,
    .single = TAMIS__SINGLE(blocked_single),
    .query_any = blocked_query_any,
    .merge = TAMIS__FULL(tamis__or_cells),
    .gauge = blocked_gauge,
    .cells_of = blocked_cells_of,
};
