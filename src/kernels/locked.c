/* Kernels in C for lines that locks protect (locked.h). On every machine they access single bytes,
 * so the bits are the same whatever the byte order. */
#include "locked.h"

#include "kernels.h"

static unsigned locked_get_bit(const uint8_t *line, unsigned at)
{
    return __atomic_load_n(line + (at >> 3), __ATOMIC_RELAXED) >> (at & 7) & 1;
}

/* Returns what the bit was. Always stores, because whether a bit is missing cannot be predicted. */
static unsigned locked_set_bit(uint8_t *line, unsigned at)
{
    uint8_t *byte = line + (at >> 3);
    const unsigned old = __atomic_load_n(byte, __ATOMIC_RELAXED);
    __atomic_store_n(byte, (uint8_t)(old | 1u << (at & 7)), __ATOMIC_RELAXED);
    return old >> (at & 7) & 1;
}

unsigned tamis__locked_has(const uint8_t *line, uint64_t lo)
{
    unsigned all = 1;
    for (unsigned j = 0; j < 8; j++) all &= locked_get_bit(line, 64 * j + tamis__line_bit(lo, j));
    return all;
}

unsigned tamis__locked_add_one(struct line_locks *locks, uint8_t *table, uint64_t lines,
                               tamis_hash h)
{
    const uint64_t number = tamis__line_of(h, lines);
    uint8_t *line = table + number * TAMIS__LINE_BYTES;
    if (tamis__locked_has(line, h.lo)) return 1;
    struct line_lock *lock = tamis__line_lock(locks, number);
    tamis__lock(&lock->held);
    unsigned all = 1;
    for (unsigned j = 0; j < 8; j++) all &= locked_set_bit(line, 64 * j + tamis__line_bit(h.lo, j));
    tamis__unlock_line(lock, !all);
    return all;
}

void tamis__locked_add(struct line_locks *locks, uint8_t *table, uint64_t lines,
                       const tamis_hash *h, const tamis_hash *ahead, size_t n, uint8_t *seen)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++)
            answers |= tamis__locked_add_one(locks, table, lines, h[i + j]) << j;
        seen[i / 8] = (uint8_t)answers;
    }
}

void tamis__locked_query(const uint8_t *table, uint64_t lines, const tamis_hash *h,
                         const tamis_hash *ahead, size_t n, uint8_t *bits)
{
    tamis__prefetch_lines(table, lines, ahead, n);
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++) {
            const uint8_t *line = table + tamis__line_of(h[i + j], lines) * TAMIS__LINE_BYTES;
            answers |= tamis__locked_has(line, h[i + j].lo) << j;
        }
        bits[i / 8] = (uint8_t)answers;
    }
}

static unsigned locked_compact_has_all(const uint8_t *line, uint32_t k, tamis_hash h)
{
    uint64_t x = h.lo;
    for (uint32_t j = 0; j < k; j++) {
        if (!locked_get_bit(line, tamis__compact_bit(x))) return 0;
        x = tamis__next_probe(x, h);
    }
    return 1;
}

static unsigned locked_compact_add_one(struct line_locks *locks, uint8_t *table, uint64_t lines,
                                       uint32_t k, tamis_hash h)
{
    const uint64_t number = tamis__line_of(h, lines);
    uint8_t *line = table + number * TAMIS__LINE_BYTES;
    if (locked_compact_has_all(line, k, h)) return 1;
    struct line_lock *lock = tamis__line_lock(locks, number);
    tamis__lock(&lock->held);
    uint64_t x = h.lo;
    unsigned all = 1;
    for (uint32_t j = 0; j < k; j++) {
        all &= locked_set_bit(line, tamis__compact_bit(x));
        x = tamis__next_probe(x, h);
    }
    tamis__unlock_line(lock, !all);
    return all;
}

void tamis__locked_compact_add(struct line_locks *locks, uint8_t *table, uint64_t lines, uint32_t k,
                               const tamis_hash *h, size_t n, uint8_t *seen)
{
    for (size_t i = 0; i < n; i += 8) {
        unsigned answers = 0;
        for (unsigned j = 0; j < 8 && i + j < n; j++)
            answers |= locked_compact_add_one(locks, table, lines, k, h[i + j]) << j;
        seen[i / 8] = (uint8_t)answers;
    }
}
