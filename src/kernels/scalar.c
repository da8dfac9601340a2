/* The scalar kernels: plain C for any machine and any byte order. They are the oracle for the
 * others. */
#include "../sealed/fuse.h"
#include "../sealed/ribbon/ribbon.h"
#include "kernels.h"

static void clear_answers(uint8_t *bits, size_t n)
{
    memset(bits, 0, (n + 7) / 8);
}

static void scalar_answer(uint8_t *bits, size_t i, bool yes)
{
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | (unsigned)yes << (i & 7));
}

/* --- Probes in rows of bits ------------------------------------------------------------------- */

static inline void prefetch_probes(const uint8_t *rows, const struct probes *p, tamis_hash h,
                                   uint32_t n)
{
    uint64_t x = h.lo, row = 0;
    for (uint32_t j = 0; j < n; j++) {
        TAMIS__PREFETCH(rows + ((row + tamis__mulhi(x, p->m)) >> 3));
        x = tamis__next_probe(x, h);
        row += p->stride;
    }
}

void tamis__probe_prefetch(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                           size_t n)
{
    for (size_t i = 0; i < n; i++) prefetch_probes(rows, p, h[i], p->k);
}

/* Sets the bits of a key and returns whether all of them were set before. Prefetches those of the
 * other key as well, unless it is NULL. */
TAMIS__SPECIALIZED unsigned probes_set(uint8_t *rows, const struct probes *p, tamis_hash h,
                                       const tamis_hash *other)
{
    uint64_t x = h.lo, y = other != NULL ? other->lo : 0, row = 0;
    unsigned all = 1;
    for (uint32_t j = 0; j < p->k; j++) {
        const uint64_t at = row + tamis__mulhi(x, p->m);
        const unsigned byte = rows[at >> 3];
        if (other != NULL) {
            TAMIS__PREFETCH(rows + ((row + tamis__mulhi(y, p->m)) >> 3));
            y = tamis__next_probe(y, *other);
        }
        all &= byte >> (at & 7);
        rows[at >> 3] = (uint8_t)(byte | 1u << (at & 7));
        x = tamis__next_probe(x, h);
        row += p->stride;
    }
    return all;
}

void tamis__probe_add(uint8_t *rows, const struct probes *p, const tamis_hash *h,
                      const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    const struct probes own = *p; /* a copy that the stores cannot alias */
    clear_answers(seen, n);
    for (size_t i = 0; i < n; i++) {
        const tamis_hash other = TAMIS__AHEAD(ahead) ? ahead[i] : h[i];
        scalar_answer(seen, i,
                      TAMIS__AHEAD(ahead) ? probes_set(rows, &own, h[i], &other)
                                          : probes_set(rows, &own, h[i], NULL));
    }
}

static unsigned scalar_query_one(const uint8_t *rows, const struct probes *p, tamis_hash h)
{
    uint64_t x = h.lo, row = 0;
    for (uint32_t j = 0; j < p->k; j++) {
        if (!tamis__bit(rows, row + tamis__mulhi(x, p->m))) return 0;
        x = tamis__next_probe(x, h);
        row += p->stride;
    }
    return 1;
}

/* Whether the bits of so many probes from x on are all set. It reads all of them, although the
 * first 0 decides: a branch that is mispredicted half the time costs more. */
static inline unsigned query_probes(const uint8_t *rows, const struct probes *p, tamis_hash h,
                                    uint64_t x, uint64_t row, uint32_t n)
{
    unsigned all = 1;
    for (uint32_t j = 0; j < n; j++) {
        all &= tamis__bit(rows, row + tamis__mulhi(x, p->m));
        x = tamis__next_probe(x, h);
        row += p->stride;
    }
    return all;
}

/* Tests the first probes. Returns whether all of them pass. */
static inline unsigned query_first(const uint8_t *rows, const struct probes *p, tamis_hash h)
{
    if (p->k < TAMIS__FIRST_PROBES) return query_probes(rows, p, h, h.lo, 0, p->k);
    return query_probes(rows, p, h, h.lo, 0, TAMIS__FIRST_PROBES);
}

/* Tests the others. The first of them is tamis__next_probe, three times in one. */
static inline unsigned query_others(const uint8_t *rows, const struct probes *p, tamis_hash h)
{
    const uint64_t c = TAMIS__PROBE_MULTIPLIER;
    const uint64_t x = h.lo * (c * c * c) + h.hi * (c * c + c + 1);
    return query_probes(rows, p, h, x, TAMIS__FIRST_PROBES * p->stride, p->k - TAMIS__FIRST_PROBES);
}

_Static_assert(TAMIS__FIRST_PROBES == 3, "query_others steps over three");

/* Answers at most TAMIS__PROBED keys, at a byte of answers that are 0. Returns how many keys passed
 * their first probes. */
static size_t query_in_two(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                           const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    const uint32_t fetched = tamis__fetched_probes(p);
    uint8_t left[TAMIS__PROBED];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        if (TAMIS__AHEAD(ahead)) prefetch_probes(rows, p, ahead[i], fetched);
        left[count] = (uint8_t)i;
        count += query_first(rows, p, h[i]);
    }
    for (size_t i = 0; i < count; i++)
        scalar_answer(bits, left[i],
                      p->k <= TAMIS__FIRST_PROBES || query_others(rows, p, h[left[i]]));
    return count;
}

/* Tests all probes of a key, and prefetches all of the other. */
static inline unsigned query_fetching(const uint8_t *rows, const struct probes *p, tamis_hash h,
                                      tamis_hash other)
{
    uint64_t x = h.lo, y = other.lo, row = 0;
    unsigned all = 1;
    for (uint32_t j = 0; j < p->k; j++) {
        TAMIS__PREFETCH(rows + ((row + tamis__mulhi(y, p->m)) >> 3));
        all &= tamis__bit(rows, row + tamis__mulhi(x, p->m));
        x = tamis__next_probe(x, h);
        y = tamis__next_probe(y, other);
        row += p->stride;
    }
    return all;
}

/* Does the same for keys that are mostly members. */
static size_t query_at_once(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                            const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        const unsigned all = TAMIS__AHEAD(ahead) ? query_fetching(rows, p, h[i], ahead[i])
                                                 : query_probes(rows, p, h[i], h[i].lo, 0, p->k);
        scalar_answer(bits, i, all);
        count += all;
    }
    return count;
}

void tamis__probe_query(const uint8_t *rows, const struct probes *p, const tamis_hash *h,
                        const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    if (n == 1) { /* nothing to overlap with, so stop at the first 0 */
        *bits = (uint8_t)scalar_query_one(rows, p, *h);
        return;
    }
    const struct probes own = *p; /* a copy that the stores cannot alias */
    bool members = p->members;
    clear_answers(bits, n);
    for (size_t at = 0; at < n; at += TAMIS__PROBED) {
        const size_t some = n - at < TAMIS__PROBED ? n - at : TAMIS__PROBED;
        const tamis_hash *next = TAMIS__AHEAD(ahead) ? ahead + at : NULL;
        members = 2 * (members ? query_at_once : query_in_two)(rows, &own, h + at, next, some,
                                                               bits + at / 8) >
                  some;
    }
}

/* --- Lines ------------------------------------------------------------------------------------ */

static void scalar_line_add(uint8_t *table, uint64_t lines, const tamis_hash *h,
                            const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    clear_answers(seen, n);
    for (size_t i = 0; i < n; i++) {
        uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        if (TAMIS__AHEAD(ahead)) tamis__prefetch_lines(table, lines, ahead + i, 1);
        scalar_answer(seen, i, tamis__line_put(line, h[i].lo));
    }
}

static void scalar_packed_add(uint8_t *table, const uint64_t *words, size_t n, uint8_t *seen)
{
    clear_answers(seen, n);
    for (size_t i = 0; i < n; i++) {
        if (n - i > TAMIS__PACKED_AHEAD)
            TAMIS__PREFETCH(tamis__packed_line(table, words[i + TAMIS__PACKED_AHEAD]));
        scalar_answer(seen, i, tamis__line_put(tamis__packed_line(table, words[i]), words[i]));
    }
}

static void scalar_line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                              const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    clear_answers(bits, n);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        if (TAMIS__AHEAD(ahead)) tamis__prefetch_lines(table, lines, ahead + i, 1);
        scalar_answer(bits, i, tamis__line_has(line, h[i].lo));
    }
}

static bool scalar_query_any(const struct tables *t, tamis_hash h)
{
    const uint64_t at = tamis__line_of(h, t->lines) * TAMIS__LINE_BYTES;
    uint64_t mask[8];
    for (unsigned j = 0; j < 8; j++) mask[j] = UINT64_C(1) << tamis__line_bit(h.lo, j);
    for (uint32_t i = 0; i < t->count; i++) {
        const uint8_t *line = tamis__table_at(t, i) + at;
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) missing |= ~tamis__get64(line + 8 * j) & mask[j];
        if (missing == 0) return true;
    }
    return false;
}

void tamis__line_query_any(const struct tables *t, const tamis_hash *h, const tamis_hash *ahead,
                           size_t n, uint8_t *bits)
{
    clear_answers(bits, n);
    for (size_t i = 0; i < n; i++) {
        if (TAMIS__AHEAD(ahead)) tamis__prefetch_tables(t, ahead[i]);
        scalar_answer(bits, i, scalar_query_any(t, h[i]));
    }
}

void tamis__compact_add(uint8_t *table, uint64_t lines, uint32_t k, const tamis_hash *h, size_t n,
                        uint8_t *seen)
{
    clear_answers(seen, n);
    for (size_t i = 0; i < n; i++) {
        uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        uint64_t x = h[i].lo;
        unsigned all = 1;
        for (uint32_t j = 0; j < k; j++) {
            const unsigned at = tamis__compact_bit(x), byte = line[at >> 3], bit = 1u << (at & 7);
            all &= (byte & bit) != 0;
            line[at >> 3] = (uint8_t)(byte | bit);
            x = tamis__next_probe(x, h[i]);
        }
        scalar_answer(seen, i, all);
    }
}

void tamis__compact_query(const uint8_t *table, uint64_t lines, uint32_t k, const tamis_hash *h,
                          size_t n, uint8_t *bits)
{
    clear_answers(bits, n);
    for (size_t i = 0; i < n; i++) {
        const uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        uint64_t x = h[i].lo;
        unsigned all = 1;
        for (uint32_t j = 0; j < k; j++) {
            all &= tamis__bit(line, tamis__compact_bit(x));
            x = tamis__next_probe(x, h[i]);
        }
        scalar_answer(bits, i, all);
    }
}

/* --- Ribbons ---------------------------------------------------------------------------------- */

static inline unsigned parity(uint64_t v)
{
    return (unsigned)__builtin_parityll(v);
}

void tamis__ribbon_aim(const struct ribbon_layer *l, const tamis_hash *h, size_t n,
                       struct ribbon_aim *aim)
{
    const struct ribbon_layer own = *l; /* a copy that the stores cannot alias */
    const uint64_t starts = tamis__ribbon_starts(own.segments);
    for (size_t i = 0; i < n; i++)
        tamis__ribbon_aim_at(&own, tamis__ribbon_start(h[i], starts), i, aim);
    for (size_t i = 0; i < n; i += 8) {
        unsigned marks = 0;
        for (unsigned j = 0; !own.last && j < 8 && i + j < n; j++)
            marks |= (unsigned)tamis__ribbon_bumps(own.thresholds, aim->start[i + j]) << j;
        aim->bumped[i / 8] = (uint8_t)marks;
    }
}

void tamis__ribbon_ask(const struct ribbon_layer *l, const tamis_hash *h,
                       const struct ribbon_aim *aim, const struct ribbon_aim *ahead, size_t n,
                       uint8_t *bits)
{
    clear_answers(bits, n);
    for (size_t i = 0; i < n; i++) {
        if (TAMIS__AHEAD(ahead)) tamis__ribbon_fetch(l, ahead, i);
        scalar_answer(bits, i, tamis__ribbon_solves(l, h[i], aim->start[i], 0));
    }
}

/* Works slot by slot, so that the columns do not wait for each other. */
uint64_t tamis__ribbon_sums(const struct ribbon_layer *l, uint64_t row, uint64_t start)
{
    const struct ribbon_pair at = tamis__ribbon_pair(l, start);
    const uint32_t columns = tamis__ribbon_columns(l, start / TAMIS__RIBBON_WIDTH);
    uint64_t sums = 0;
    for (uint32_t c = 0; c < columns; c++) {
        const uint64_t window =
            tamis__ribbon_shifted(at.low + 8 * c, at.high + 8 * c, start % TAMIS__RIBBON_WIDTH);
        sums |= (uint64_t)__builtin_parityll(window & row) << c;
    }
    return sums;
}

void tamis__ribbon_solve(const uint64_t *rows, const uint32_t *sides, uint32_t columns,
                         uint64_t *words)
{
    for (unsigned i = TAMIS__RIBBON_WIDTH; i-- > 0;)
        for (uint32_t c = 0; c < columns; c++) {
            const uint64_t after = words[c] << 1;
            words[c] = after | (parity(after & rows[i]) ^ (sides[i] >> c & 1));
        }
}

/* --- Fuse ------------------------------------------------------------------------------------- */

/* Aims are the bits where cells begin. d, cell_bits and reach are constants where speed matters. */
static inline void fuse_aim_at(const struct fuse *f, uint32_t d, uint32_t cell_bits, tamis_hash h,
                               struct fuse_aim *aim, size_t i, bool fetches)
{
    uint64_t at[4];
    tamis__fuse_cells(f, d, tamis__fuse_edge(h, f->salt), at);
    aim->print[i] = tamis__fuse_print(h, cell_bits);
    for (uint32_t c = 0; c < d; c++) {
        aim->at[c][i] = at[c] * cell_bits;
        if (fetches) TAMIS__PREFETCH(f->table + (aim->at[c][i] >> 3));
    }
}

void tamis__fuse_aim(const struct fuse *f, const tamis_hash *h, size_t n, struct fuse_aim *aim,
                     bool fetches)
{
    const struct fuse own = *f; /* a copy that the stores cannot alias */
    for (size_t i = 0; own.d == 3 && i < n; i++)
        fuse_aim_at(&own, 3, own.bits, h[i], aim + i / 8, i % 8, fetches);
    for (size_t i = 0; own.d == 4 && i < n; i++)
        fuse_aim_at(&own, 4, own.bits, h[i], aim + i / 8, i % 8, fetches);
}

static inline unsigned fuse_one(const struct fuse *f, uint32_t d, uint32_t cell_bits,
                                unsigned reach, const struct fuse_aim *aim, size_t i)
{
    uint64_t sum = aim->print[i];
    for (uint32_t c = 0; c < d; c++) {
        const uint64_t at = aim->at[c][i];
        const unsigned shift = cell_bits == 8 ? 0 : at & 7;
        sum ^= tamis__fuse_load(f->table + (at >> 3), reach) >> shift;
    }
    return sum << (64 - cell_bits) == 0;
}

/* Inlined, so that the arguments become constants. */
#if defined(__GNUC__)
__attribute__((always_inline))
#endif
static inline void
fuse_all(const struct fuse *f, uint32_t d, uint32_t cell_bits, unsigned reach,
         const struct fuse_aim *aim, size_t n, const tamis_hash *ahead, struct fuse_aim *next,
         uint8_t *bits)
{
    for (size_t i = 0; i < n; i += 8) {
        const unsigned few = n - i < 8 ? (unsigned)(n - i) : 8;
        unsigned answers = 0;
        for (unsigned j = 0; TAMIS__AHEAD(ahead) && j < few; j++)
            fuse_aim_at(f, d, cell_bits, ahead[i + j], next + i / 8, j, true);
        for (unsigned j = 0; j < few; j++)
            answers |= fuse_one(f, d, cell_bits, reach, aim + i / 8, j) << j;
        bits[i / 8] = (uint8_t)answers;
    }
}

void tamis__fuse_ask(const struct fuse *f, const struct fuse_aim *aim, size_t n,
                     const tamis_hash *ahead, struct fuse_aim *next, uint8_t *bits)
{
    const struct fuse own = *f; /* a copy that the stores cannot alias */
    switch (10 * own.d + tamis__fuse_reach(own.bits)) {
    case 31: fuse_all(&own, 3, 8, 1, aim, n, ahead, next, bits); break;
    case 32: fuse_all(&own, 3, own.bits, 2, aim, n, ahead, next, bits); break;
    case 34: fuse_all(&own, 3, own.bits, 4, aim, n, ahead, next, bits); break;
    case 41: fuse_all(&own, 4, 8, 1, aim, n, ahead, next, bits); break;
    case 42: fuse_all(&own, 4, own.bits, 2, aim, n, ahead, next, bits); break;
    case 44: fuse_all(&own, 4, own.bits, 4, aim, n, ahead, next, bits); break;
    default: fuse_all(&own, own.d, own.bits, 8, aim, n, ahead, next, bits);
    }
}

/* --- SipHash-2-4 with 128-bit output (Aumasson, Bernstein; the reference's 16-byte variant) --- */

static inline uint64_t rotl(uint64_t v, int by)
{
    return v << by | v >> (64 - by);
}

static inline void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotl(v[1], 13) ^ v[0], v[0] = rotl(v[0], 32);
    v[2] += v[3], v[3] = rotl(v[3], 16) ^ v[2];
    v[0] += v[3], v[3] = rotl(v[3], 21) ^ v[0];
    v[2] += v[1], v[1] = rotl(v[1], 17) ^ v[2], v[2] = rotl(v[2], 32);
}

static inline void sip_absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    sip_round(v);
    sip_round(v);
    v[0] ^= word;
}

static inline uint64_t sip_finish(uint64_t v[4])
{
    for (int i = 0; i < 4; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

tamis_hash tamis__siphash(const uint64_t key[2], const uint8_t *p, size_t len)
{
    /* "somepseudorandomlygeneratedbytes"; 0xee and 0xdd mark the 128-bit variant and its halves. */
    uint64_t v[4] = {key[0] ^ 0x736f6d6570736575, key[1] ^ 0x646f72616e646f6d ^ 0xee,
                     key[0] ^ 0x6c7967656e657261, key[1] ^ 0x7465646279746573};
    const uint64_t last = tamis__siphash_last(p, len);
    for (; len >= 8; p += 8, len -= 8) sip_absorb(v, tamis__get64(p));
    sip_absorb(v, last);
    tamis_hash h;
    v[2] ^= 0xee;
    h.lo = sip_finish(v);
    v[1] ^= 0xdd;
    h.hi = sip_finish(v);
    return h;
}

static void siphash(const uint64_t key[2], const tamis_bytes *keys, size_t n, tamis_hash *out)
{
    for (size_t i = 0; i < n; i++) out[i] = tamis__siphash(key, keys[i].p, keys[i].len);
}

const struct kernels tamis__scalar = {
    .name = "scalar",
    .probe_prefetch = tamis__probe_prefetch,
    .probe_add = tamis__probe_add,
    .probe_query = tamis__probe_query,
    .line_add = scalar_line_add,
    .line_query = scalar_line_query,
    .line_single = TAMIS__SINGLE(&tamis__line_single),
    .line_query_any = tamis__line_query_any,
    .packed_add = scalar_packed_add,
    .compact_add = tamis__compact_add,
    .compact_query = tamis__compact_query,
    .ribbon_aim = tamis__ribbon_aim,
    .ribbon_query = tamis__ribbon_ask,
    .ribbon_single = TAMIS__SINGLE(&tamis__ribbon_single),
    .ribbon_sums = tamis__ribbon_sums,
#ifndef TAMIS_LEAN /* the lean build makes no ribbons, and queries fuse filters key by key */
    .ribbon_solve = tamis__ribbon_solve,
    .fuse_aim = tamis__fuse_aim,
    .fuse_query = tamis__fuse_ask,
    TAMIS__LOCKED_IN_C,
#endif
    .siphash = siphash,
};
