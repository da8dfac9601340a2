/* ribbon: a sealed filter within half a percent of the smallest possible (P. C. Dillinger, L.
 * Hübschle-Schneider, P. Sanders, S. Walzer, "Fast succinct retrieval and approximate membership
 * using ribbon", 2022, where it is called BuRR; for homogeneous ribbons see P. C. Dillinger, S.
 * Walzer, "Ribbon filter: practically smaller than Bloom and Xor", 2021).
 *
 * A key is an equation. Its hash determines a start slot, a row of 64 bits whose first is 1, and a
 * side of r bits. The table Z, with r bits a slot, is chosen such that for every member, the sum
 * (exclusive or) of the slots that its row picks from its window is its side:
 *
 *     slots         0                       start                      start+63
 *     Z             [..][..][..][..] ... [ ][a][b][c][d][e][f] ... [x][y][z][ ] ...    r bits each
 *     row                                   1  0  1  1  0  0       0  1  1
 *     a member:                             a     ^c ^d          ...  ^y ^z  ==  side
 *
 * For a non-member, the side is r fair coins that are independent of the table, so it agrees with
 * probability exactly 2^-r, whatever the table contains. There is no other source of false
 * positives, and no load to be planned.
 *
 * Solving. Keys sorted by start form a band matrix, which Gaussian elimination solves in one pass,
 * a few hundred slots at a time in the first-level cache (piece.c). It fails where more keys come
 * together than there are slots. The simple remedy is slack, a tenth or more. Bumping is the better
 * one. Slots are divided into buckets of 128. If the keys of a bucket do not fit, those that start
 * in its first 24, its first 48 or all of its slots are left to a second table, the next layer,
 * with another hash. Two bits per bucket record which. As failures have become harmless, there are
 * 1.05 keys for each slot: 4.9 % are bumped, and 0.1 % of the slots stay free. Layers shrink by a
 * factor of 20.
 *
 * The last layer, for 700 keys or fewer, is homogeneous: all its sides are 0. Such a system always
 * has a solution, so building cannot fail, whatever the keys are. It has many solutions, of which a
 * random one is taken (the trivial one would answer "maybe" to everything). Its rate is 2^-r where
 * the slots of every window span all r dimensions, which takes some slack: a twelfth of the keys,
 * and r + 8 slots. Small sets have no other layer.
 *
 * Layout of a layer. A segment has 64 slots. Its r columns are r words, and bit j of word c is
 * column c of its slot j. A window meets at most two segments. For each column a query shifts the
 * two words together, masks them with the row, and takes the parity. With AVX-512 each of these is
 * one instruction for eight columns, and eight columns are a cache line:
 *
 *     segment 0                      segment 1                      ...
 *     [col 0][col 1] ... [col r-1]   [col 0][col 1] ... [col r-1]        64 bits each
 *
 * Fractions. For a rate between 2^-r and 2^-(r+1) the last segments have r+1 columns, as in
 * RocksDB. A mixture of two rates takes more space than a single rate equal to their mean: 0.086
 * bits a key at worst.
 *
 * Space at n = 10^6, relative to the bound n·log2(1/rate): r = 4: 1.0054, r = 8: 1.0031, r = 16:
 * 1.0024; for 1 %, which has a fraction, 1.0154. At r = 8 the thresholds take 0.2 % and free slots
 * 0.1 %, which makes 0.3 %.
 *
 * Time, on one core of a Zen 4. Building takes 62 ns a key at 10^7, 19 of them for sorting (40 with
 * two threads). Queries of hashes in batches, at 10^6 and 10^7:
 *
 *                 r = 8            1 %, with its fraction
 *     AVX-512     4.3, 4.8 ns      4.8, 5.6 ns
 *     AVX2        6.8, 6.6 ns      7.0, 7.4 ns
 *     neither     23 ns            22 ns */
#include "ribbon.h"

#include "../../core/cpu.h"

#include <assert.h>
#include <math.h>

/* The most windows of a homogeneous layer that are examined for its rate. */
#define MOST_WINDOWS 4096u

/* --- Shapes ----------------------------------------------------------------------------------- */

/* 2^64 · 2^-x for 0 <= x < 1, with x in units of 2^-16. It uses only integers, because exp2 may
 * differ in its last bit from one machine to the next, and the shape with it. Constant i is 2^64 ·
 * 2^-(2^-(i+1)). */
static uint64_t power(uint32_t x)
{
    static const uint64_t roots[16] = {
        UINT64_C(0xb504f333f9de6484), UINT64_C(0xd744fccad69d6af4), UINT64_C(0xeac0c6e7dd24392f),
        UINT64_C(0xf5257d152486cc2c), UINT64_C(0xfa83b2db722a033a), UINT64_C(0xfd3e0c0cf486c175),
        UINT64_C(0xfe9e115c7b8f884c), UINT64_C(0xff4ecb59511ec8a5), UINT64_C(0xffa756521c8daed2),
        UINT64_C(0xffd3a751c0f7e10c), UINT64_C(0xffe9d2b2f7db2756), UINT64_C(0xfff4e91bff1b8c3e),
        UINT64_C(0xfffa747ea0040664), UINT64_C(0xfffd3a3b7814eb54), UINT64_C(0xfffe9d1cc60ddab1),
        UINT64_C(0xffff4e8e25879bfa)};
    uint64_t p = UINT64_MAX;
    for (unsigned i = 0; i < 16; i++)
        if ((x >> (15 - i) & 1) != 0) p = tamis__mulhi(p, roots[i]);
    return p;
}

/* Let 64·b of S starts have r columns and the others r+1. The rate 2^-r · (1/2 + 32·b/S) is to be
 * 2^-(r+x) or just below, so b = S·(2^-x - 1/2)/32. */
static void split(double columns, struct ribbon_layer *l)
{
    const uint32_t fixed = (uint32_t)ceil(columns * 65536), x = fixed & 0xffff;
    l->columns = fixed >> 16;
    l->boundary = l->segments;
    if (x == 0) return;
    const uint64_t share = power(x) - (UINT64_C(1) << 63);
    l->boundary = tamis__mulhi(share, tamis__ribbon_starts(l->segments)) / 32;
    if (l->boundary > 0) return;
    l->columns++;
    l->boundary = l->segments;
}

static uint64_t solution_bytes(const struct ribbon_layer *l)
{
    return 8 * tamis__ribbon_word(l, l->segments);
}

/* Rounded up to whole words. */
static uint64_t threshold_bytes(const struct ribbon_layer *l)
{
    const uint64_t starts = tamis__ribbon_starts(l->segments);
    const uint64_t buckets = (starts - 1) / TAMIS__RIBBON_BUCKET + 1;
    return l->last ? 0 : (buckets + 31) / 32 * 8;
}

bool tamis__ribbon_shape(uint64_t n, double columns, bool is_last, struct ribbon_layer *l)
{
    memset(l, 0, sizeof *l);
    if (!(columns >= 1 && columns <= TAMIS__RIBBON_ALL)) return false;
    if (n > TAMIS__RIBBON_SEGMENTS * (TAMIS__RIBBON_WIDTH / 2)) return false;
    /* Bumped layers have 1.05 keys a slot. The homogeneous one has enough slack to keep the rank of
     * every window full. */
    const uint64_t slots = is_last ? n + n / 12 + (uint64_t)columns + 8 : n - n / 21;
    l->segments = (slots + (is_last ? 63 : 32)) / TAMIS__RIBBON_WIDTH;
    if (l->segments == 0) l->segments = 1;
    l->last = l->homogeneous = is_last;
    split(columns, l);
    l->solution_bytes = solution_bytes(l);
    l->threshold_bytes = threshold_bytes(l);
    return true;
}

uint64_t tamis__ribbon_bytes(uint64_t n, double columns)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < TAMIS__RIBBON_LAYERS && n > 0; i++) {
        struct ribbon_layer l;
        const bool is_last = n <= TAMIS__RIBBON_FEW || i == TAMIS__RIBBON_LAYERS - 1;
        if (!tamis__ribbon_shape(n, columns, is_last, &l)) return UINT64_MAX;
        sum += l.solution_bytes + l.threshold_bytes;
        if (is_last) break;
        /* Measured: one slot in a thousand stays free, and some at the ends. */
        const uint64_t slots = l.segments * TAMIS__RIBBON_WIDTH, kept = slots - slots / 1000 - 24;
        n = n > kept ? n - kept : 0;
    }
    return sum;
}

uint64_t tamis__ribbon_payload(const struct ribbon *r)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < r->count; i++)
        sum += r->layers[i].solution_bytes + r->layers[i].threshold_bytes;
    return sum;
}

const char *tamis__ribbon_wrong(const struct ribbon *r)
{
    if (r->count > TAMIS__RIBBON_LAYERS) return "there are too many layers";
    for (uint32_t i = 0; i < r->count; i++) {
        const struct ribbon_layer *l = &r->layers[i];
        if (l->segments < 1 || l->segments > TAMIS__RIBBON_SEGMENTS)
            return "the segments are out of range";
        if (l->boundary < 1 || l->boundary > l->segments) return "the boundary is out of range";
        if (l->value_bits > TAMIS__RIBBON_VALUES || l->value_bits != r->layers[0].value_bits)
            return "the bits of a value are out of range";
        if (l->columns < 1 || l->columns < l->value_bits ||
            l->columns > TAMIS__RIBBON_COLUMNS + l->value_bits ||
            tamis__ribbon_columns(l, l->segments - 1) > TAMIS__RIBBON_COLUMNS + l->value_bits)
            return "the columns are out of range";
        if (l->last != (i == r->count - 1))
            return "the last layer, and only that one, must bump no keys";
        const bool may_fail = l->retrieves || l->value_bits != 0;
        if (l->retrieves != r->layers[0].retrieves || l->homogeneous != (l->last && !may_fail))
            return "a layer belongs to another structure";
        if (l->retrieves && (l->columns != 1 || l->boundary != l->segments))
            return "a retrieval must have one column";
        if (l->salt != 0 && !(may_fail && l->last)) return "there is a salt where none is allowed";
        if (l->solution_bytes != solution_bytes(l)) return "the solution has a wrong length";
        if (l->threshold_bytes != threshold_bytes(l)) return "the thresholds have a wrong length";
    }
    return NULL;
}

/* --- The rate --------------------------------------------------------------------------------- */

/* The rate of the keys that start in a segment, in a layer that is not homogeneous: a fair coin for
 * each column that does not hold a value. */
static double segment_rate(const struct ribbon_layer *l, uint64_t segment)
{
    return ldexp(1, -(int)(tamis__ribbon_columns(l, segment) - l->value_bits));
}

/* The mean rate of a last layer that is not homogeneous. */
static double last_rate(const struct ribbon_layer *l)
{
    const double starts = (double)tamis__ribbon_starts(l->segments);
    const double narrow = (double)(l->boundary * TAMIS__RIBBON_WIDTH);
    const double share = narrow < starts ? narrow / starts : 1;
    return share * segment_rate(l, 0) + (1 - share) * segment_rate(l, l->segments - 1);
}

/* Sets *kept to the number of starts whose keys the layer keeps, and returns the sum of their
 * rates. */
static double bumped_rate(const struct ribbon_layer *l, double *kept)
{
    const uint64_t starts = tamis__ribbon_starts(l->segments);
    double rates = 0;
    *kept = 0;
    for (uint64_t from = 0; from < starts; from += TAMIS__RIBBON_WIDTH) {
        const uint64_t left = starts - from < 64 ? starts - from : 64;
        const uint64_t bucket = from / TAMIS__RIBBON_BUCKET;
        const unsigned code = tamis__ribbon_code(l->thresholds, bucket);
        const uint64_t first = bucket * TAMIS__RIBBON_BUCKET + tamis__ribbon_threshold(code);
        const uint64_t lost = first <= from ? 0 : first - from < left ? first - from : left;
        *kept += (double)(left - lost);
        rates += (double)(left - lost) * segment_rate(l, from / 64);
    }
    return rates;
}

/* The bits of all columns in one slot. */
static uint32_t ribbon_ask_slot_of(const struct ribbon_layer *l, uint64_t slot, uint32_t columns)
{
    const uint8_t *words = l->solution + 8 * tamis__ribbon_word(l, slot / TAMIS__RIBBON_WIDTH);
    uint32_t v = 0;
    for (uint32_t c = 0; c < columns; c++)
        v |= (uint32_t)(tamis__get64(words + 8 * c) >> slot % TAMIS__RIBBON_WIDTH & 1) << c;
    return v;
}

/* Reduces v by a basis whose entry i has its highest bit at i. */
static uint32_t reduce(const uint32_t *basis, uint32_t v)
{
    for (unsigned i = TAMIS__RIBBON_COLUMNS; i-- > 0;)
        if ((v >> i & 1) != 0) v ^= basis[i];
    return v;
}

static double window_rate(const struct ribbon_layer *l, uint64_t start)
{
    const uint32_t columns = tamis__ribbon_columns(l, start / TAMIS__RIBBON_WIDTH);
    uint32_t basis[TAMIS__RIBBON_COLUMNS] = {0};
    int rank = 0;
    for (unsigned slot = 1; slot < TAMIS__RIBBON_WIDTH; slot++) {
        const uint32_t v = reduce(basis, ribbon_ask_slot_of(l, start + slot, columns));
        if (v == 0) continue;
        unsigned top = 0;
        while (v >> top > 1) top++;
        basis[top] = v;
        rank++;
    }
    return reduce(basis, ribbon_ask_slot_of(l, start, columns)) == 0 ? ldexp(1, -rank) : 0;
}

/* The sum of the rates of all starts, extrapolated if there are more than MOST_WINDOWS. */
static double homogeneous_rate(const struct ribbon_layer *l)
{
    const uint64_t starts = tamis__ribbon_starts(l->segments), step = 1 + starts / MOST_WINDOWS;
    double sum = 0, seen = 0;
    for (uint64_t start = 0; start < starts; start += step, seen++) sum += window_rate(l, start);
    return sum / seen * (double)starts;
}

double tamis__ribbon_rate(const struct ribbon *r)
{
    double rate = 0, here = 1; /* here: the share of hashes that reach this layer */
    for (uint32_t i = 0; i < r->count; i++) {
        const struct ribbon_layer *l = &r->layers[i];
        const double starts = (double)tamis__ribbon_starts(l->segments);
        double kept = starts;
        if (l->homogeneous)
            rate += here * homogeneous_rate(l) / starts;
        else if (l->last)
            rate += here * last_rate(l);
        else
            rate += here * bumped_rate(l, &kept) / starts;
        here *= 1 - kept / starts;
    }
    return rate;
}

/* --- Queries ---------------------------------------------------------------------------------- */

/* Queries one key, without what pays only for many. */
static bool ribbon_ask_query_one(const struct ribbon *r, tamis_hash h)
{
    const struct ribbon_layer *l = r->layers;
    uint64_t words[TAMIS__RIBBON_AIM_WORDS(8)];
    struct ribbon_aim aim = tamis__ribbon_aim_in(words, 8);
    uint8_t bit;
    for (;; l++, h = tamis__ribbon_enter(l, h)) {
        const uint64_t start = tamis__ribbon_start(h, tamis__ribbon_starts(l->segments));
        tamis__ribbon_aim_at(l, start, 0, &aim);
        if (l->last || !tamis__ribbon_bumps(l->thresholds, start)) break;
    }
    tamis__kernels()->ribbon_query(l, &h, &aim, NULL, 1, &bit);
    return bit != 0;
}

#ifdef __wasm__ /* it cannot prefetch: one by one is as fast, and half the code */
void tamis__ribbon_prefetch(const struct ribbon *r, const tamis_hash *h, size_t n,
                            struct ribbon_aim *aim)
{
    (void)r, (void)h, (void)n, (void)aim;
}

void tamis__ribbon_query(const struct ribbon *r, const tamis_hash *h, size_t n,
                         const struct ribbon_aim *aim, const tamis_hash *ahead,
                         struct ribbon_aim *next, uint8_t *bits)
{
    (void)aim, (void)ahead, (void)next;
    memset(bits, 0, (n + 7) / 8);
    for (size_t i = 0; i < n && r->count != 0; i++)
        bits[i / 8] |= (uint8_t)(ribbon_ask_query_one(r, h[i]) << i % 8);
}
#else
void tamis__ribbon_prefetch(const struct ribbon *r, const tamis_hash *h, size_t n,
                            struct ribbon_aim *aim)
{
    assert(n <= TAMIS__RIBBON_BATCH);
    if (r->count == 0) return;
    tamis__kernels()->ribbon_aim(r->layers, h, n, aim);
    for (size_t i = 0; i < n; i++) tamis__ribbon_fetch(r->layers, aim, i);
}

/* Hashes on their way down the layers, and the keys that they belong to. A layer bumps 4.9 % of its
 * keys, 6 of a batch, so they nearly always fit. If there are more, for example in a hostile image,
 * they are processed in several rounds. */
#define MOST_BUMPED 32u
struct ribbon_ask_bumped {
    tamis_hash hashes[MOST_BUMPED];
    uint8_t of[MOST_BUMPED];
    size_t n;
    struct ribbon_aim aim;
    _Alignas(64) uint64_t words[TAMIS__RIBBON_AIM_WORDS(MOST_BUMPED)]; /* for the aim */
};

/* Which of the n keys of an aim are bumped. */
struct marks {
    uint64_t words[TAMIS__RIBBON_BATCH / 64];
};

static struct marks marks_of(const struct ribbon_aim *aim, size_t n)
{
    uint8_t bytes[TAMIS__RIBBON_BATCH / 8] = {0};
    struct marks m;
    memcpy(bytes, aim->bumped, (n + 7) / 8);
    for (unsigned w = 0; w < TAMIS__RIBBON_BATCH / 64; w++)
        m.words[w] = tamis__get64(bytes + 8 * w);
    return m;
}

/* Collects the marked ones of the hashes h, as many as there is room for, remixes them for layer l,
 * and prefetches their windows. h may be b's own hashes. If `of` is NULL, hash i belongs to key i.
 * Returns whether there are more, which stay marked. */
static bool ribbon_ask_collect(struct ribbon_ask_bumped *b, const struct ribbon_layer *l,
                               const tamis_hash *h, const uint8_t *of, struct marks *m)
{
    uint64_t more = 0;
    b->n = 0;
    for (unsigned w = 0; w < TAMIS__RIBBON_BATCH / 64; w++) {
        uint64_t left = m->words[w];
        for (; left != 0 && b->n < MOST_BUMPED; left &= left - 1) {
            const unsigned i = 64 * w + (unsigned)__builtin_ctzll(left);
            b->of[b->n] = of != NULL ? of[i] : (uint8_t)i;
            b->hashes[b->n++] = tamis__ribbon_enter(l, h[i]);
        }
        more |= m->words[w] = left;
    }
    if (b->n == 0) return false;
    b->aim = tamis__ribbon_aim_in(b->words, MOST_BUMPED);
    tamis__kernels()->ribbon_aim(l, b->hashes, b->n, &b->aim);
    for (size_t i = 0; i < b->n; i++) tamis__ribbon_fetch(l, &b->aim, i);
    return more != 0;
}

/* Writes the answers of layer l and of those below it to their places. */
static void query_bumped(const struct kernels *k, const struct ribbon_layer *l,
                         struct ribbon_ask_bumped *b, uint8_t *bits)
{
    for (; b->n != 0; l++) {
        uint8_t yes[MOST_BUMPED / 8];
        k->ribbon_query(l, b->hashes, &b->aim, NULL, b->n, yes);
        for (size_t i = 0; i < b->n; i++) {
            const unsigned of = b->of[i], bit = 1u << of % 8;
            bits[of / 8] = (uint8_t)((bits[of / 8] & ~bit) | (tamis__bit(yes, i) ? bit : 0));
        }
        if (l->last) break;
        struct marks m = marks_of(&b->aim, b->n);
        ribbon_ask_collect(b, l + 1, b->hashes, b->of, &m);
    }
}

/* The windows for the second layer are prefetched before the first layer is queried, so that they
 * have arrived by then. */
static void query_many(const struct ribbon *r, const tamis_hash *h, size_t n,
                       const struct ribbon_aim *aim, const struct ribbon_aim *next, uint8_t *bits)
{
    const struct kernels *k = tamis__kernels();
    const struct ribbon_layer *l = r->layers;
    struct ribbon_ask_bumped b;
    struct marks m;
    bool more = false;
    b.n = 0;
    if (!l->last) {
        m = marks_of(aim, n);
        more = ribbon_ask_collect(&b, l + 1, h, NULL, &m);
    }
    k->ribbon_query(l, h, aim, next, n, bits);
    query_bumped(k, l + 1, &b, bits);
    while (more) {
        more = ribbon_ask_collect(&b, l + 1, h, NULL, &m);
        query_bumped(k, l + 1, &b, bits);
    }
}

/* In a frame of its own, because batches with aims do not need these buffers. */
static TAMIS__APART void ribbon_ask_query_unaimed(const struct ribbon *r, const tamis_hash *h,
                                                  size_t n, uint8_t *bits)
{
    _Alignas(64) uint64_t words[TAMIS__RIBBON_AIM_WORDS(TAMIS__RIBBON_BATCH)];
    struct ribbon_aim aim = tamis__ribbon_aim_in(words, TAMIS__RIBBON_BATCH);
    tamis__kernels()->ribbon_aim(r->layers, h, n, &aim);
    query_many(r, h, n, &aim, NULL, bits);
}

void tamis__ribbon_query(const struct ribbon *r, const tamis_hash *h, size_t n,
                         const struct ribbon_aim *aim, const tamis_hash *ahead,
                         struct ribbon_aim *next, uint8_t *bits)
{
    assert(n <= TAMIS__RIBBON_BATCH && (aim != NULL || ahead == NULL));
    if (r->count == 0) {
        memset(bits, 0, (n + 7) / 8);
        return;
    }
    if (aim == NULL && n == 1) {
        *bits = ribbon_ask_query_one(r, *h);
    } else if (aim == NULL) {
        ribbon_ask_query_unaimed(r, h, n, bits);
    } else {
        if (ahead != NULL) tamis__kernels()->ribbon_aim(r->layers, ahead, n, next);
        query_many(r, h, n, aim, ahead != NULL ? next : NULL, bits);
    }
}
#endif
