/* The oracle: plain C, any machine, any byte order. Memory far ahead is prefetched, so that a batch
 * pays for bandwidth instead of latency. */
#include "kernels.h"

/* Keys between a prefetch and its use: enough to cover a DRAM access of 100-200 ns at some 10 ns a
 * key, small against the L1 cache. */
#define AHEAD 16u

#if defined(__GNUC__)
#define PREFETCH(p) __builtin_prefetch(p)
#else
#define PREFETCH(p) ((void)(p))
#endif

static void clear_answers(uint8_t *bits, size_t n)
{
    memset(bits, 0, (n + 7) / 8);
}

static void answer(uint8_t *bits, size_t i, bool yes)
{
    bits[i >> 3] = (uint8_t)(bits[i >> 3] | (unsigned)yes << (i & 7));
}

static void prefetch_probes(const uint8_t *rows, const struct probes *p, tamis_hash h)
{
    uint64_t x = h.lo, row = 0;
    for (uint32_t j = 0; j < p->k; j++) {
        PREFETCH(rows + ((row + tamis__mulhi(x, p->m)) >> 3));
        x = tamis__next_probe(x, h);
        row += p->stride;
    }
}

static void probe_add(uint8_t *rows, const struct probes *p, const tamis_hash *h, size_t n,
                      uint8_t *seen)
{
    clear_answers(seen, n);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) prefetch_probes(rows, p, h[i + AHEAD]);
        uint64_t x = h[i].lo, row = 0;
        unsigned all = 1;
        for (uint32_t j = 0; j < p->k; j++) {
            const uint64_t at = row + tamis__mulhi(x, p->m);
            const unsigned byte = rows[at >> 3], bit = 1u << (at & 7);
            all &= (byte & bit) != 0;
            rows[at >> 3] = (uint8_t)(byte | bit);
            x = tamis__next_probe(x, h[i]);
            row += p->stride;
        }
        answer(seen, i, all);
    }
}

static void probe_query(const uint8_t *rows, const struct probes *p, const tamis_hash *h, size_t n,
                        uint8_t *bits)
{
    clear_answers(bits, n);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) prefetch_probes(rows, p, h[i + AHEAD]);
        uint64_t x = h[i].lo, row = 0;
        bool all = true;
        for (uint32_t j = 0; j < p->k && all; j++) {
            all = tamis__bit(rows, row + tamis__mulhi(x, p->m));
            x = tamis__next_probe(x, h[i]);
            row += p->stride;
        }
        answer(bits, i, all);
    }
}

static void line_add(uint8_t *table, uint64_t lines, const tamis_hash *h, size_t n, uint8_t *seen)
{
    clear_answers(seen, n);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) PREFETCH(table + tamis__line_of(h[i + AHEAD], lines) * TAMIS__LINE_BYTES);
        uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++) {
            const uint64_t word = tamis__get64(line + 8 * j);
            const uint64_t bit = UINT64_C(1) << tamis__line_bit(h[i], j);
            missing |= bit & ~word;
            tamis__put64(line + 8 * j, word | bit);
        }
        answer(seen, i, missing == 0);
    }
}

static void line_query(const uint8_t *table, uint64_t lines, const tamis_hash *h, size_t n,
                       uint8_t *bits)
{
    clear_answers(bits, n);
    for (size_t i = 0; i < n; i++) {
        if (i + AHEAD < n) PREFETCH(table + tamis__line_of(h[i + AHEAD], lines) * TAMIS__LINE_BYTES);
        const uint8_t *line = table + tamis__line_of(h[i], lines) * TAMIS__LINE_BYTES;
        uint64_t missing = 0;
        for (unsigned j = 0; j < 8; j++)
            missing |= ~tamis__get64(line + 8 * j) & UINT64_C(1) << tamis__line_bit(h[i], j);
        answer(bits, i, missing == 0);
    }
}

const struct kernels tamis__scalar = {"scalar", probe_add, probe_query, line_add, line_query};
