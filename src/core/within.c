#include "within.h"

#include "../kernels/kernels.h"

#ifndef TAMIS_LEAN

#define MOST_PROBES 64u

struct within_work {
    const struct section *s;
    struct range r;
    uint64_t stride; /* cells from one row to the next; 0: one row */
    unsigned shift;  /* log2 of the bits of a cell */
    uint8_t spare[2 * MOST_PROBES];
};

/* Every probe has a spare cell of its own, because a store that the next load waits for takes as
 * long as four others. No branch depends on the range, which is as good as random; a compiler makes
 * one of a conditional expression. Cells are bytes, which may alias anything, so fields of a struct
 * would be read again after each store. */
static void aim_within(struct within_work *work, const tamis_hash *h, size_t n, struct within *out)
{
    uint8_t *const cells = work->s->cells, **cell = out->cell, *bits = out->bit;
    const uint64_t m = work->s->m, stride = work->stride;
    const struct range r = work->r;
    const uint32_t k = work->s->k;
    const unsigned shift = work->shift;
    for (const tamis_hash *last = h + n; h < last; h++) {
        const tamis_hash key = *h;
        uint64_t x = key.lo, row = 0;
        for (uint32_t j = 0; j < k; j++) {
            const uint64_t bit = (row + tamis__mulhi(x, m)) << shift, byte = bit >> 3;
            const uintptr_t spare = (uintptr_t)(work->spare + 2 * j),
                            inside = 0 - (uintptr_t)(byte - r.from < r.length);
            *cell = (uint8_t *)(spare ^ (((uintptr_t)(cells + byte) ^ spare) & inside));
            TAMIS__PREFETCH(*cell++);
            *bits++ = (uint8_t)(bit & 7);
            x = tamis__next_probe(x, key);
            row += stride;
        }
    }
}

void tamis__add_within(struct section *s, bool rows, struct range r, const tamis_hash *h, size_t n,
                       tamis__within_setter *set, uint8_t *seen)
{
    struct within ring[2]; /* one is set while the other one is prefetched */
    struct within_work work = {.s = s, .r = r, .stride = rows ? s->m : 0};
    const size_t group = TAMIS__WITHIN / s->k;
    unsigned half = 0;
    size_t due = 0;
    while (1u << work.shift < s->cell_bits) work.shift++;
    memset(work.spare, 0xff, sizeof work.spare);
    if (seen != NULL) memset(seen, 0, (n + 7) / 8);
    for (size_t at = 0; at < n + group; at += group, half ^= 1) {
        const size_t rest = at < n ? n - at : 0, now = rest < group ? rest : group;
        aim_within(&work, h + (at < n ? at : 0), now, &ring[half]);
        if (due != 0) set(s, &ring[half ^ 1], due, at - group, seen);
        due = now;
    }
}

#endif
