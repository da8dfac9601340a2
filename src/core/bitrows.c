#include "bitrows.h"

#include "cpu.h"
#include "plan.h"
#include "within.h"

const struct kernels *tamis__kernels_for(const struct body *b)
{
#ifdef TAMIS_LEAN
    (void)b; /* there are no threads */
    return tamis__kernels();
#else
    return b->shared ? &tamis__shared : tamis__kernels();
#endif
}

struct section tamis__bit_section(uint32_t kind, uint32_t k, uint64_t m, uint64_t cells)
{
    struct section s = {0};
    s.role = TAMIS__ROLE_CELLS;
    s.kind = (uint16_t)kind;
    s.cell_bits = 1;
    s.k = k;
    s.m = m;
    s.length = tamis__cell_bytes(cells);
    return s;
}

const char *tamis__wrong_bit_section(const struct body *b, uint32_t kind, uint64_t cells)
{
    const struct section *s = b->sections;
    if (b->count != 1) return "this kind has exactly one section";
    if (s->kind != kind || s->cell_bits != 1) return "the section is not of this kind";
    if (cells < 1 || cells > TAMIS__MAX_CELLS) return "the number of bits is out of range";
    if (s->length != tamis__cell_bytes(cells)) return "the section's length does not fit its bits";
    return NULL;
}

const char *tamis__wrong_spare_bits(const struct section *s, uint64_t cells)
{
    for (uint64_t i = cells; i < s->length * 8; i++)
        if (tamis__bit(s->cells, i)) return "a bit beyond the last one is set";
    return NULL;
}

tamis_status tamis__or_cells(struct body *into, const struct body *from)
{
    uint8_t *a = into->sections->cells;
    const uint8_t *b = from->sections->cells;
    for (uint64_t i = 0; i < into->sections->length; i++) a[i] |= b[i];
    return TAMIS_OK;
}

static uint64_t word_at(const uint8_t *a, const uint8_t *b, uint64_t byte)
{
    const uint64_t word = tamis__get64(a + byte);
    return b != NULL ? word | tamis__get64(b + byte) : word;
}

uint64_t tamis__count_bits(const uint8_t *a, const uint8_t *b, uint64_t from, uint64_t to)
{
    uint64_t count = 0;
    for (uint64_t word = from / 64; word * 64 < to; word++) {
        uint64_t v = word_at(a, b, word * 8);
        if (word * 64 < from) v &= ~UINT64_C(0) << (from - word * 64);
        if (to - word * 64 < 64) v &= ~UINT64_C(0) >> (64 - (to - word * 64));
        count += tamis__popcount(v);
    }
    return count;
}

static struct probes probes_of(const struct body *b)
{
    const struct section *s = b->sections;
    const bool rows = (tamis__inner(b)->traits & TAMIS__ROWS) != 0;
    const struct probes p = {s->m, rows ? s->m : 0, s->k, false};
    return p;
}

void tamis__rows_prefetch(const struct body *b, const struct batch *keys)
{
    const struct probes p = probes_of(b);
    tamis__kernels_for(b)->probe_prefetch(b->sections->cells, &p, keys->hashes, keys->n);
}

tamis_status tamis__rows_add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    (void)done;
    const struct probes p = probes_of(b);
    tamis__kernels_for(b)->probe_add(b->sections->cells, &p, keys->hashes, keys->ahead, keys->n,
                                     seen);
    return TAMIS_OK;
}

#ifndef TAMIS_LEAN
static void set_bits_within(const struct section *s, const struct within *w, size_t n, size_t at,
                            uint8_t *seen)
{
    for (size_t i = 0, from = 0; i < n; i++) {
        unsigned all = 1;
        for (uint32_t j = 0; j < s->k; j++, from++) {
            const unsigned byte = *w->cell[from], bit = 1u << w->bit[from];
            all &= (byte & bit) != 0;
            *w->cell[from] = (uint8_t)(byte | bit);
        }
        seen[(at + i) / 8] = (uint8_t)(seen[(at + i) / 8] | all << (at + i) % 8);
    }
}

void tamis__rows_add_within(struct body *b, struct range r, const tamis_hash *h, size_t n,
                            uint8_t *seen)
{
    const bool rows = (tamis__inner(b)->traits & TAMIS__ROWS) != 0;
    tamis__add_within(b->sections, rows, r, h, n, set_bits_within, seen);
}
#endif

void tamis__rows_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    struct probes p = probes_of(b);
    p.members = keys->mostly_yes;
    tamis__kernels_for(b)->probe_query(b->sections->cells, &p, keys->hashes, keys->ahead, keys->n,
                                       bits);
}

size_t tamis__rows_cells_of(const struct body *b, tamis_hash h, uint64_t *cells, size_t max)
{
    const struct probes p = probes_of(b);
    uint64_t x = h.lo;
    for (uint32_t j = 0; j < p.k; j++) {
        if (j < max) cells[j] = j * p.stride + tamis__mulhi(x, p.m);
        x = tamis__next_probe(x, h);
    }
    return p.k;
}
