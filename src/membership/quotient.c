/* A rank-and-select quotient table (P. Pandey, M. Bender, R. Johnson, R. Patro, "A general-purpose
 * counting filter", 2017).
 *
 * Every entry has a home slot. Where homes collide, entries are pushed to the right. The entries of
 * one home stay together as a run, and runs are in the order of their homes. Two bits per slot
 * delimit the runs: `occupied` belongs to a slot as a home (it has a run), `run end` to a slot as a
 * place (the last entry of a run is here).
 *
 *     slot        0    1    2    3    4    5    6    7
 *     value       a0   b1   c1   d1   e3   .    f6   .          letter: entry, digit: its home
 *     occupied    1    1    0    1    0    0    1    0
 *     run end     1    0    0    1    1    0    1    0          the n-th is that of the n-th
 *                                                               occupied home
 *
 * So the run of a home is found by counting (rank) the occupied bits up to it and seeking (select)
 * as many run ends. Both can begin at the block of 64 slots in which the home is, because each
 * block keeps its offset: how many of its first slots belong to homes before the block. A block has
 * 18 + 8 width bytes:
 *
 *     | occupied  | run ends  | offset    | 64 slots of width bits |
 *     | 64 bits   | 64 bits   | 16 bits   | lowest bits first      |
 *
 * Every loop stops at the last block and every index is checked against it, whatever the bytes are,
 * because a table that is mapped from a file may change while it is read. */
#include "quotient.h"

#define NOWHERE UINT64_MAX

/* The largest offset of a block. At 15/16 the displacement in a random table exceeds x slots with a
 * probability of about exp(-x/7.5), so 400 never happens among 2^46 slots. A larger offset comes
 * from keys chosen to collide, and would make every add slow. */
#define MOST_OFFSET 1023u

/* --- Words and slots -------------------------------------------------------------------------- */

static uint64_t bits_below(unsigned i) /* i < 64 */
{
    return (UINT64_C(1) << i) - 1;
}

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Returns the position of the n-th set bit, with n from 1 to the number of set bits. */
static unsigned select_bit(uint64_t word, unsigned n)
{
    if (n == 1) return (unsigned)__builtin_ctzll(word);
    const uint64_t ones = UINT64_C(0x0101010101010101);
    uint64_t sums = word - (word >> 1 & UINT64_C(0x5555555555555555));
    sums = (sums & UINT64_C(0x3333333333333333)) + (sums >> 2 & UINT64_C(0x3333333333333333));
    /* Byte i becomes the number of set bits in bytes 0 ... i. */
    sums = ((sums + (sums >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f)) * ones;
    const uint64_t reached = ((sums | ones << 7) - n * ones) & ones << 7;
    const unsigned byte = (unsigned)__builtin_ctzll(reached) & 56;
    unsigned left = n - (unsigned)((sums << 8) >> byte & 255);
    unsigned rest = (unsigned)(word >> byte & 255);
    while (--left > 0) rest &= rest - 1;
    return byte + (unsigned)__builtin_ctz(rest);
}

static uint8_t *block_at(const struct quotient *t, uint64_t block)
{
    return t->cells + block * tamis__block_bytes(t->width);
}

static uint64_t quotient_slots(const struct quotient *t)
{
    return t->blocks * 64;
}

static uint64_t homes(const struct quotient *t)
{
    return UINT64_C(1) << t->log;
}

static uint64_t occupied(const struct quotient *t, uint64_t block)
{
    return tamis__get64(block_at(t, block) + TAMIS__BLOCK_OCCUPIED);
}

static uint64_t run_ends(const struct quotient *t, uint64_t block)
{
    return tamis__get64(block_at(t, block) + TAMIS__BLOCK_RUN_ENDS);
}

static unsigned offset(const struct quotient *t, uint64_t block)
{
    return tamis__get16(block_at(t, block) + TAMIS__BLOCK_OFFSET);
}

static void quotient_set_bit(const struct quotient *t, unsigned which, uint64_t slot, bool on)
{
    uint8_t *byte = block_at(t, slot / 64) + which + slot % 64 / 8;
    const unsigned bit = 1u << slot % 8;
    *byte = (uint8_t)(on ? *byte | bit : *byte & ~bit);
}

/* Eight bytes of a block that contain the whole slot: those from where it begins, or the last
 * eight. */
struct quotient_place {
    uint8_t *word;
    unsigned shift;
};

static struct quotient_place quotient_place_of(const struct quotient *t, uint64_t slot)
{
    const unsigned bit = (unsigned)(slot % 64) * t->width, last = 8 * t->width - 8;
    const unsigned byte = bit / 8 < last ? bit / 8 : last;
    return (struct quotient_place){block_at(t, slot / 64) + TAMIS__BLOCK_SLOTS + byte,
                                   bit - 8 * byte};
}

static uint64_t quotient_get(const struct quotient *t, uint64_t slot)
{
    const struct quotient_place p = quotient_place_of(t, slot);
    return tamis__get64(p.word) >> p.shift & bits_below(t->width);
}

static void quotient_put(const struct quotient *t, uint64_t slot, uint64_t value)
{
    const struct quotient_place p = quotient_place_of(t, slot);
    const uint64_t mask = bits_below(t->width) << p.shift;
    tamis__put64(p.word, (tamis__get64(p.word) & ~mask) | value << p.shift);
}

static uint8_t *entries_at(const struct quotient *t)
{
    return t->cells + tamis__quotient_bytes(t->log, t->width) - 8;
}

/* --- Sizes ------------------------------------------------------------------------------------ */

/* Enough for the entries that a random table at its capacity pushes beyond its last home, except
 * with probability 1e-11. If it is not enough, the table doubles early. */
static uint64_t blocks_beyond(unsigned log)
{
    return log < 10 ? 1 : log < 12 ? 2 : 3;
}

struct quotient tamis__quotient(uint8_t *cells, unsigned log, unsigned width)
{
    return (struct quotient){cells, log, width, (UINT64_C(1) << (log - 6)) + blocks_beyond(log)};
}

uint64_t tamis__quotient_bytes(unsigned log, unsigned width)
{
    const struct quotient t = tamis__quotient(NULL, log, width);
    return (t.blocks * tamis__block_bytes(width) + 7) / 8 * 8 + 8;
}

uint64_t tamis__quotient_capacity(unsigned log)
{
    return UINT64_C(15) << (log - 4);
}

uint64_t tamis__quotient_entries(const struct quotient *t)
{
    return tamis__get64(entries_at(t));
}

/* --- Finding runs ----------------------------------------------------------------------------- */

/* The slot after the n-th run end from `slot` on, or NOWHERE. */
static uint64_t after_ends(const struct quotient *t, uint64_t slot, unsigned n)
{
    if (slot >= quotient_slots(t)) return NOWHERE;
    uint64_t block = slot / 64, word = run_ends(t, block) & ~bits_below(slot % 64);
    for (unsigned here; (here = tamis__popcount(word)) < n; n -= here) {
        if (++block == t->blocks) return NOWHERE;
        word = run_ends(t, block);
    }
    return 64 * block + select_bit(word, n) + 1;
}

/* Where the run of a home begins, or would begin. */
static uint64_t run_start(const struct quotient *t, uint64_t home)
{
    const uint64_t block = home / 64, before = occupied(t, block) & bits_below(home % 64);
    const uint64_t from = 64 * block + offset(t, block);
    return later(home, before == 0 ? from : after_ends(t, from, tamis__popcount(before)));
}

/* The slot after the run that begins here. */
static uint64_t run_end(const struct quotient *t, uint64_t start)
{
    return after_ends(t, start, 1);
}

/* The number of homes from `from` to `to`, both included, that have a run. */
static unsigned runs_between(const struct quotient *t, uint64_t from, uint64_t to)
{
    unsigned n = 0;
    for (uint64_t block = from / 64; block <= to / 64; block++) {
        uint64_t word = occupied(t, block);
        if (block == from / 64) word &= ~bits_below(from % 64);
        if (block == to / 64) word &= bits_below(to % 64) << 1 | 1;
        n += tamis__popcount(word);
    }
    return n;
}

/* The first unused slot from `slot` on, if the runs of all homes up to `home` end before `slot`. A
 * slot is unused if no run of a home up to it reaches it. */
static uint64_t unused_from(const struct quotient *t, uint64_t home, uint64_t slot)
{
    while (slot < quotient_slots(t)) {
        const unsigned runs = home < slot ? runs_between(t, home + 1, slot) : 0;
        if (runs == 0) return slot;
        home = slot;
        slot = after_ends(t, slot, runs);
    }
    return NOWHERE;
}

bool tamis__quotient_find(const struct quotient *t, uint64_t home, uint64_t f, uint64_t *after)
{
    const bool known = (occupied(t, home / 64) >> home % 64 & 1) != 0;
    if (!known && after == NULL) return false;
    uint64_t s = run_start(t, home);
    for (bool ended = !known; !ended; s++) {
        if (s >= quotient_slots(t) || tamis__quotient_match(quotient_get(t, s), f)) return true;
        ended = (run_ends(t, s / 64) >> s % 64 & 1) != 0;
    }
    if (after != NULL) *after = s;
    return false;
}

/* --- Inserting -------------------------------------------------------------------------------- */

/* Moves the slots from ... to-1 of a block up by one. The contents of `to` are lost. */
static void shift_slots(const struct quotient *t, uint64_t block, unsigned from, unsigned to)
{
    uint8_t *words = block_at(t, block) + TAMIS__BLOCK_SLOTS;
    const unsigned w = t->width, first = from * w, end = (to + 1) * w;
    for (unsigned j = (end - 1) / 64;; j--) {
        const uint64_t was = tamis__get64(words + 8 * j);
        const uint64_t low = j > 0 ? tamis__get64(words + 8 * j - 8) >> (64 - w) : 0;
        uint64_t mask = ~UINT64_C(0);
        if (first > 64 * j) mask &= ~bits_below(first - 64 * j);
        if (end < 64 * j + 64) mask &= bits_below(end - 64 * j);
        tamis__put64(words + 8 * j, (was & ~mask) | ((was << w | low) & mask));
        if (j == first / 64) return;
    }
}

static void shift_run_ends(const struct quotient *t, uint64_t block, unsigned from, unsigned to,
                           bool first)
{
    uint8_t *word = block_at(t, block) + TAMIS__BLOCK_RUN_ENDS;
    const uint64_t was = tamis__get64(word), upto = bits_below(to) << 1 | 1;
    const uint64_t mask = upto & ~bits_below(from);
    tamis__put64(word, (was & ~mask) | (was << 1 & mask & ~(UINT64_C(1) << from)) |
                           (uint64_t)first << from);
}

/* Makes room at `at` by moving all entries up to the unused slot by one, and puts an entry there
 * that ends its run. */
static void push_in(const struct quotient *t, uint64_t at, uint64_t unused, uint64_t value)
{
    bool ends = true;
    for (uint64_t block = at / 64; block <= unused / 64; block++) {
        const unsigned from = block == at / 64 ? (unsigned)(at % 64) : 0;
        const unsigned to = block == unused / 64 ? (unsigned)(unused % 64) : 63;
        const uint64_t last = 64 * block + to, pushed = quotient_get(t, last);
        const bool pushed_ends = (run_ends(t, block) >> to & 1) != 0;
        shift_slots(t, block, from, to);
        shift_run_ends(t, block, from, to, ends);
        quotient_put(t, 64 * block + from, value);
        value = pushed;
        ends = pushed_ends;
    }
}

bool tamis__quotient_insert(struct quotient *t, uint64_t home, uint64_t at, uint64_t value)
{
    const bool known = (occupied(t, home / 64) >> home % 64 & 1) != 0;
    const uint64_t unused = unused_from(t, home, at);
    if (unused == NOWHERE) return false;
    for (uint64_t b = home / 64 + 1; b <= unused / 64; b++)
        if (offset(t, b) >= MOST_OFFSET) return false;
    push_in(t, at, unused, value);
    if (known)
        quotient_set_bit(t, TAMIS__BLOCK_RUN_ENDS, at - 1, false);
    else
        quotient_set_bit(t, TAMIS__BLOCK_OCCUPIED, home, true);
    for (uint64_t b = home / 64 + 1; b <= unused / 64; b++)
        tamis__put16(block_at(t, b) + TAMIS__BLOCK_OFFSET, (uint16_t)(offset(t, b) + 1));
    tamis__put64(entries_at(t), tamis__quotient_entries(t) + 1);
    return true;
}

/* --- All runs, in order ----------------------------------------------------------------------- */

struct runs {
    uint64_t block, left; /* left: homes of this block that are still to come */
    uint64_t home, start, end;
    bool broken;
};

static bool next_run(const struct quotient *t, struct runs *r)
{
    while (r->left == 0) {
        if (r->block == homes(t) / 64) return false;
        r->left = occupied(t, r->block++);
    }
    r->home = 64 * (r->block - 1) + (unsigned)__builtin_ctzll(r->left);
    r->left &= r->left - 1;
    r->start = later(r->home, r->end);
    r->end = run_end(t, r->start);
    r->broken = r->end == NOWHERE;
    return !r->broken;
}

/* The number of slots from `block` on that belong to earlier homes, if all their runs end before
 * `end`. */
static uint64_t offset_for(uint64_t block, uint64_t end)
{
    return end > 64 * block ? end - 64 * block : 0;
}

/* Writes runs, in order, to an empty table. */
struct quotient_builder {
    struct quotient *to;
    uint64_t end;    /* the slot after the last run */
    uint64_t blocks; /* the number of blocks whose offset is set */
    uint64_t entries;
};

/* Sets the offsets of the blocks that begin at or before `slot`. */
static bool set_offsets(struct quotient_builder *b, uint64_t slot)
{
    for (; b->blocks <= slot / 64; b->blocks++) {
        const uint64_t o = offset_for(b->blocks, b->end);
        if (o > MOST_OFFSET) return false;
        tamis__put16(block_at(b->to, b->blocks) + TAMIS__BLOCK_OFFSET, (uint16_t)o);
    }
    return true;
}

/* Writes the entries of a run that go to the lower (0) or upper (1) of its two new homes. */
static bool build_half(struct quotient_builder *b, const struct quotient *from,
                       const struct runs *r, unsigned half)
{
    const uint64_t home = 2 * r->home + half, none = UINT64_C(1) << (from->width - 1);
    uint64_t at = later(home, b->end);
    const uint64_t start = at;
    for (uint64_t s = r->start; s < r->end; s++) {
        const uint64_t v = quotient_get(from, s);
        if (v != none && (v >> (from->width - 1)) != half) continue;
        if (at >= quotient_slots(b->to)) return false;
        const uint64_t rest = v == none ? v : v << 1 & bits_below(from->width);
        quotient_put(b->to, at++,
                     b->to->width >= from->width ? rest << (b->to->width - from->width)
                                                 : rest >> 1);
    }
    if (at == start) return true;
    if (!set_offsets(b, home)) return false;
    quotient_set_bit(b->to, TAMIS__BLOCK_OCCUPIED, home, true);
    quotient_set_bit(b->to, TAMIS__BLOCK_RUN_ENDS, at - 1, true);
    b->entries += at - start;
    b->end = at;
    return true;
}

bool tamis__quotient_double(const struct quotient *from, struct quotient *to)
{
    struct quotient_builder b = {to, 0, 0, 0};
    struct runs r = {0};
    while (next_run(from, &r))
        if (!build_half(&b, from, &r, 0) || !build_half(&b, from, &r, 1)) return false;
    if (r.broken || !set_offsets(&b, quotient_slots(to) - 1)) return false;
    tamis__put64(entries_at(to), b.entries);
    return true;
}

/* --- The whole table -------------------------------------------------------------------------- */

uint64_t tamis__quotient_slot(const struct quotient *t, uint64_t slot)
{
    return quotient_get(t, slot);
}

void tamis__quotient_lengths(const struct quotient *t, uint64_t counts[64])
{
    for (uint64_t s = 0; s < quotient_slots(t); s++) {
        const uint64_t v = quotient_get(t, s);
        if (v != 0) counts[t->width - 1 - (unsigned)__builtin_ctzll(v)]++;
    }
}

/* Whether an offset is wrong in the blocks that begin at or before `slot`, if the runs before end
 * at `end`. */
static bool wrong_offsets(const struct quotient *t, uint64_t *block, uint64_t slot, uint64_t end)
{
    for (; *block <= slot / 64; ++*block)
        if (offset(t, *block) != offset_for(*block, end)) return true;
    return false;
}

/* Every slot in a run is in use. So if the number of used slots equals the length of all runs,
 * there are none outside. The same holds for run ends. */
static const char *wrong_totals(const struct quotient *t, uint64_t entries, uint64_t count)
{
    uint64_t used = 0, ends = 0;
    for (uint64_t b = 0; b < t->blocks; b++) ends += tamis__popcount(run_ends(t, b));
    for (uint64_t s = 0; s < quotient_slots(t); s++) used += quotient_get(t, s) != 0;
    if (used != entries || ends != count) return "there are entries outside the runs";
    if (entries > tamis__quotient_capacity(t->log))
        return "there are more entries than the table may hold";
    if (entries != tamis__quotient_entries(t)) return "the number of entries is wrong";
    return NULL;
}

const char *tamis__quotient_wrong(const struct quotient *t)
{
    const uint64_t end = t->blocks * tamis__block_bytes(t->width);
    uint64_t entries = 0, count = 0, block = 0, before = 0;
    struct runs r = {0};
    for (uint64_t b = homes(t) / 64; b < t->blocks; b++)
        if (occupied(t, b) != 0) return "a home slot lies beyond the last one";
    for (const uint8_t *p = t->cells + end; p < entries_at(t); p++)
        if (*p != 0) return "a spare byte is not zero";
    for (; next_run(t, &r); before = r.end, count++) {
        if (wrong_offsets(t, &block, r.home, before)) return "the offset of a block is wrong";
        for (uint64_t s = r.start; s < r.end; s++)
            if (quotient_get(t, s) == 0) return "a run contains an empty slot";
        entries += r.end - r.start;
    }
    if (r.broken) return "a run has no end";
    if (wrong_offsets(t, &block, quotient_slots(t) - 1, before))
        return "the offset of a block is wrong";
    return wrong_totals(t, entries, count);
}
