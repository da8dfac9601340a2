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
#include "quotient_find.h"

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

/* The blocks in which homes are. */
static uint64_t home_blocks(const struct quotient *t)
{
    return (t->homes + 63) / 64;
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

/* The same for a slot that is zero. */
static void quotient_fill(const struct quotient *t, uint64_t slot, uint64_t value)
{
    const struct quotient_place p = quotient_place_of(t, slot);
    tamis__put64(p.word, tamis__get64(p.word) | value << p.shift);
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

/* Where the run of a home begins, or would begin, if runs of its block end in a later one. */
static TAMIS__APART uint64_t run_start_beyond(const struct quotient *t, uint64_t home)
{
    const uint64_t block = home / 64, before = occupied(t, block) & bits_below(home % 64);
    const uint64_t from = 64 * block + offset(t, block);
    return later(home, before == 0 ? from : after_ends(t, from, tamis__popcount(before)));
}

/* Where the run of a home begins, or would begin. In slots before the home only runs of earlier
 * homes end, so as many as do not end there are still to end. These are few. */
static uint64_t run_start(const struct quotient *t, uint64_t home)
{
    const uint64_t block = home / 64, below = bits_below(home % 64), ends = run_ends(t, block);
    const unsigned skipped = offset(t, block);
    if (skipped > home % 64) return run_start_beyond(t, home);
    const unsigned begun = tamis__popcount(occupied(t, block) & below);
    unsigned ended = tamis__popcount(ends & below & ~bits_below(skipped));
    uint64_t later_ends = ends & ~below;
    if (begun <= ended) return home;
    for (; ++ended < begun; later_ends &= later_ends - 1)
        if (later_ends == 0) return run_start_beyond(t, home);
    if (later_ends == 0) return run_start_beyond(t, home);
    return 64 * block + (unsigned)__builtin_ctzll(later_ends) + 1;
}

/* The slot after the run that begins here, or NOWHERE. */
static uint64_t run_end(const struct quotient *t, uint64_t start)
{
    for (uint64_t block = start / 64, skip = start % 64; block < t->blocks; block++, skip = 0) {
        const uint64_t ends = run_ends(t, block) >> skip << skip;
        if (ends != 0) return 64 * block + (unsigned)__builtin_ctzll(ends) + 1;
    }
    return NOWHERE;
}

/* The first unused slot from `slot` on. All others are not zero. In a word of several slots, the
 * lowest that is zero is the lowest whose highest bit is set after 1 was subtracted from each of
 * them, but was not set before. */
static uint64_t unused_from(const struct quotient *t, uint64_t slot)
{
    const uint64_t ones = tamis__quotient_lanes[t->width];
    const unsigned step = 57 / t->width; /* slots in a word, wherever it begins */
    while (slot < quotient_slots(t)) {
        const struct quotient_place p = quotient_place_of(t, slot);
        const uint64_t word = tamis__get64(p.word) >> p.shift;
        const uint64_t highest = ones << (t->width - 1) & (UINT64_MAX >> p.shift);
        const uint64_t unused = (word - ones) & ~word & highest;
        if (unused != 0) return slot + (unsigned)__builtin_ctzll(unused) / t->width;
        slot = slot % 64 + step < 64 ? slot + step : (slot / 64 + 1) * 64;
    }
    return NOWHERE;
}

bool tamis__quotient_find_slowly(const struct quotient *t, uint64_t home, uint64_t f,
                                 uint64_t *after)
{
    const bool known = tamis__quotient_occupied(t, home);
    if (!known && after == NULL) return false;
    uint64_t s = run_start(t, home);
    for (bool ended = !known; !ended; s++) {
        if (s >= quotient_slots(t) || tamis__quotient_match(quotient_get(t, s), f)) return true;
        ended = (run_ends(t, s / 64) >> s % 64 & 1) != 0;
    }
    if (after != NULL) *after = s;
    return false;
}

#define EACH_SLOT(w) (UINT64_MAX / ((UINT64_C(1) << (w)) - 1) >> 64 % (w))
#define FOUR_WIDTHS(w) EACH_SLOT(w), EACH_SLOT((w) + 1), EACH_SLOT((w) + 2), EACH_SLOT((w) + 3)

const uint64_t tamis__quotient_lanes[58] = {0,
                                            0,
                                            0,
                                            0,
                                            FOUR_WIDTHS(4),
                                            FOUR_WIDTHS(8),
                                            FOUR_WIDTHS(12),
                                            FOUR_WIDTHS(16),
                                            FOUR_WIDTHS(20),
                                            FOUR_WIDTHS(24),
                                            FOUR_WIDTHS(28),
                                            FOUR_WIDTHS(32),
                                            FOUR_WIDTHS(36),
                                            FOUR_WIDTHS(40),
                                            FOUR_WIDTHS(44),
                                            FOUR_WIDTHS(48),
                                            FOUR_WIDTHS(52),
                                            EACH_SLOT(56),
                                            EACH_SLOT(57)};

bool tamis__quotient_find(const struct quotient *t, uint64_t home, uint64_t f, uint64_t *after)
{
    uint64_t slot;
    const enum tamis__found found =
        tamis__quotient_look(t->cells, t->width, home, f, &slot, tamis__popcount, tamis__select);
    if (found == TAMIS__BEYOND) return tamis__quotient_find_slowly(t, home, f, after);
    if (after != NULL) *after = slot;
    return found == TAMIS__THERE;
}

/* --- Inserting -------------------------------------------------------------------------------- */

/* Moves the slots from ... to-1 of a block up by one. The contents of `to` are lost, and `from`
 * becomes zero. */
static void shift_slots(const struct quotient *t, uint64_t block, unsigned from, unsigned to)
{
    uint8_t *words = block_at(t, block) + TAMIS__BLOCK_SLOTS;
    const unsigned w = t->width, end = (to + 1) * w;
    uint8_t *first = words + from * w / 64 * 8, *last = words + (end - 1) / 64 * 8;
    const uint64_t below = bits_below(from * w % 64),
                   above = end % 64 != 0 ? ~bits_below(end % 64) : 0;
    const uint64_t low = tamis__get64(first), high = tamis__get64(last) & above;
    for (uint8_t *p = last; p > first; p -= 8)
        tamis__put64(p, tamis__get64(p) << w | tamis__get64(p - 8) >> (64 - w));
    /* The slots below `from` stay, and what was moved up is without them. */
    if (last > first) {
        const uint64_t over = (low & below) >> (64 - w);
        tamis__put64(first + 8, tamis__get64(first + 8) & ~over);
    }
    tamis__put64(first, (low & ~below) << w | (low & below));
    tamis__put64(last, (tamis__get64(last) & ~above) | high);
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
    const uint64_t unused = unused_from(t, at);
    if (unused == NOWHERE) return false;
    for (uint64_t b = home / 64 + 1; b <= unused / 64; b++)
        if (offset(t, b) >= MOST_OFFSET) return false;
    if (at == unused) {
        quotient_fill(t, at, value);
        quotient_set_bit(t, TAMIS__BLOCK_RUN_ENDS, at, true);
    } else {
        push_in(t, at, unused, value);
    }
    if (known)
        quotient_set_bit(t, TAMIS__BLOCK_RUN_ENDS, at - 1, false);
    else
        quotient_set_bit(t, TAMIS__BLOCK_OCCUPIED, home, true);
    for (uint64_t b = home / 64 + 1; b <= unused / 64; b++)
        tamis__put16(block_at(t, b) + TAMIS__BLOCK_OFFSET, (uint16_t)(offset(t, b) + 1));
    tamis__put64(tamis__quotient_count(t), tamis__quotient_entries(t) + 1);
    return true;
}

/* --- Removing --------------------------------------------------------------------------------- */

static bool ends_run(const struct quotient *t, uint64_t slot)
{
    return (run_ends(t, slot / 64) >> slot % 64 & 1) != 0;
}

/* The lowest set bit of a value tells its length: the lower, the longer. */
static uint64_t lowest_bit(uint64_t value)
{
    return value & (0 - value);
}

struct quotient_match tamis__quotient_longest(const struct quotient *t, uint64_t home, uint64_t f)
{
    struct quotient_match m = {.after = run_start(t, home)};
    bool ended = (occupied(t, home / 64) >> home % 64 & 1) == 0;
    for (; !ended; m.after++) {
        if (m.after >= quotient_slots(t)) {
            m.entries = UINT64_MAX;
            return m;
        }
        const uint64_t v = quotient_get(t, m.after);
        ended = ends_run(t, m.after);
        if (!tamis__quotient_match(v, f)) continue;
        if (m.entries++ == 0 || lowest_bit(v) <= lowest_bit(m.value)) {
            m.copies = v == m.value ? m.copies + 1 : 1;
            m.value = v;
            m.slot = m.after;
        }
    }
    return m;
}

/* The first home after this one that has a run, or NOWHERE. */
static uint64_t next_home(const struct quotient *t, uint64_t home)
{
    uint64_t block = home / 64, word = occupied(t, block) & ~bits_below(home % 64);
    word &= word - 1; /* without this one */
    while (word == 0) {
        if (++block == t->blocks) return NOWHERE;
        word = occupied(t, block);
    }
    return 64 * block + (unsigned)__builtin_ctzll(word);
}

/* The slot after the last run that was pushed to the right by the runs before it, from the run of
 * this home on, which ends before `end`. */
static uint64_t pushed_until(const struct quotient *t, uint64_t home, uint64_t end)
{
    for (uint64_t h = next_home(t, home); h < end; h = next_home(t, h)) end = run_end(t, end);
    return end;
}

void tamis__quotient_erase(struct quotient *t, uint64_t home, uint64_t slot)
{
    const uint64_t start = run_start(t, home), end = run_end(t, slot);
    const uint64_t until = pushed_until(t, home, end);
    if (until > quotient_slots(t)) return; /* no checked table is so broken */
    if (slot == start && slot + 1 == end)
        quotient_set_bit(t, TAMIS__BLOCK_OCCUPIED, home, false);
    else if (slot + 1 == end)
        quotient_set_bit(t, TAMIS__BLOCK_RUN_ENDS, slot - 1, true);
    for (uint64_t s = slot; s + 1 < until; s++) {
        quotient_put(t, s, quotient_get(t, s + 1));
        quotient_set_bit(t, TAMIS__BLOCK_RUN_ENDS, s, ends_run(t, s + 1));
    }
    quotient_put(t, until - 1, 0);
    quotient_set_bit(t, TAMIS__BLOCK_RUN_ENDS, until - 1, false);
    for (uint64_t b = home / 64 + 1; b <= (until - 1) / 64; b++)
        tamis__put16(block_at(t, b) + TAMIS__BLOCK_OFFSET, (uint16_t)(offset(t, b) - 1));
    tamis__put64(tamis__quotient_count(t), tamis__quotient_entries(t) - 1);
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
        if (r->block == home_blocks(t)) return false;
        r->left = occupied(t, r->block++);
    }
    r->home = 64 * (r->block - 1) + (unsigned)__builtin_ctzll(r->left);
    r->left &= r->left - 1;
    r->start = later(r->home, r->end);
    r->end = run_end(t, r->start);
    r->broken = r->end == NOWHERE;
    return !r->broken;
}

bool tamis__quotient_prefixes(const struct quotient *t, unsigned log_homes, unsigned bits,
                              uint8_t *set)
{
    struct runs r = {0};
    while (next_run(t, &r))
        for (uint64_t s = r.start; s < r.end; s++) {
            const uint64_t v = quotient_get(t, s);
            if (v == 0) return false;
            /* The hash begins with the home and the fingerprint; what follows may be anything. */
            const unsigned length = t->width - 1 - (unsigned)__builtin_ctzll(v);
            const uint64_t known = (r.home << (t->width - 1)) | v >> 1;
            const unsigned have = log_homes + length, all = log_homes + t->width - 1;
            const uint64_t first =
                (have < bits ? known & ~bits_below(all - have) : known) >> (all - bits);
            const uint64_t n = have < bits ? UINT64_C(1) << (bits - have) : 1;
            for (uint64_t i = first; i < first + n; i++) set[i / 8] |= (uint8_t)(1u << i % 8);
        }
    return !r.broken;
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

/* The entry that a value of `from` becomes. What is left of its bits ends with a zero, which is
 * dropped if the new slots are narrower. */
static uint64_t halved(const struct quotient *from, const struct quotient *to, uint64_t value)
{
    const bool is_void = value == UINT64_C(1) << (from->width - 1);
    const uint64_t rest = is_void ? value : value << 1 & bits_below(from->width);
    return rest << (to->width + 1 - from->width) >> 1;
}

/* Begins a run of at most n entries, at *at. */
static bool begin_run(struct quotient_builder *b, uint64_t home, uint64_t n, uint64_t *at)
{
    *at = later(home, b->end);
    return home < b->to->homes && n <= quotient_slots(b->to) - *at && set_offsets(b, home);
}

static void end_run(struct quotient_builder *b, uint64_t home, uint64_t end)
{
    quotient_set_bit(b->to, TAMIS__BLOCK_OCCUPIED, home, true);
    quotient_set_bit(b->to, TAMIS__BLOCK_RUN_ENDS, end - 1, true);
    b->end = end;
}

/* Writes a run of one entry, which is the usual case, to its new home, of which `home` is the
 * number within the table. */
static bool build_one(struct quotient_builder *b, const struct quotient *from, uint64_t value,
                      uint64_t home)
{
    uint64_t at;
    if (!begin_run(b, home, 1, &at)) return false;
    quotient_fill(b->to, at, halved(from, b->to, value));
    b->entries++;
    end_run(b, home, at + 1);
    return true;
}

/* Whether an entry of this run has no bits left in its lower (0) or upper (1) new home: it had none
 * before, or only the one that leads there. */
static bool half_is_void(const struct quotient *from, const struct runs *r, unsigned half)
{
    const uint64_t none = tamis__quotient_void(from), only = (uint64_t)half << (from->width - 1);
    for (uint64_t s = r->start; s < r->end; s++) {
        const uint64_t v = quotient_get(from, s);
        if (v == none || v == (only | none >> 1)) return true;
    }
    return false;
}

/* Writes the entries of a run that go to the lower (0) or upper (1) of its two new homes. There is
 * at least one. */
static bool build_half(struct quotient_builder *b, const struct quotient *from,
                       const struct runs *r, unsigned half, uint64_t home)
{
    const unsigned top = from->width - 1;
    uint64_t at;
    if (half_is_void(from, r, half)) return build_one(b, from, tamis__quotient_void(from), home);
    if (!begin_run(b, home, r->end - r->start, &at)) return false;
    for (uint64_t s = r->start; s < r->end; s++) {
        const uint64_t v = quotient_get(from, s);
        if (v != UINT64_C(1) << top && v >> top != half) continue;
        quotient_fill(b->to, at++, halved(from, b->to, v));
        b->entries++;
    }
    end_run(b, home, at);
    return true;
}

/* Whether an entry goes to the lower (bit 0) and to the upper (bit 1) of its new homes. */
static unsigned halves_of(const struct quotient *from, uint64_t value)
{
    const unsigned top = from->width - 1;
    return value == UINT64_C(1) << top ? 3 : 1u << (value >> top & 1);
}

static bool end_building(struct quotient_builder *b)
{
    if (!set_offsets(b, quotient_slots(b->to) - 1)) return false;
    tamis__put64(tamis__quotient_count(b->to), b->entries);
    return true;
}

/* Writes what belongs to one of the two new homes of a run. */
static bool build_home(struct quotient_builder to[2], const struct quotient *from,
                       const struct runs *r, unsigned half)
{
    const uint64_t home = 2 * r->home + half;
    const bool above = to[1].to != NULL && home >= from->homes;
    struct quotient_builder *b = &to[above];
    const uint64_t within = above ? home - from->homes : home;
    return r->end - r->start == 1 ? build_one(b, from, quotient_get(from, r->start), within)
                                  : build_half(b, from, r, half, within);
}

bool tamis__quotient_double(const struct quotient *from, struct quotient *to,
                            struct quotient *upper)
{
    struct quotient_builder halves[2] = {{to, 0, 0, 0}, {upper, 0, 0, 0}};
    struct runs r = {0};
    while (next_run(from, &r)) {
        unsigned taken = halves_of(from, quotient_get(from, r.start));
        for (uint64_t s = r.start + 1; s < r.end; s++)
            taken |= halves_of(from, quotient_get(from, s));
        /* Without a branch for which half it is, because nobody can predict that. */
        if (taken != 3) {
            if (!build_home(halves, from, &r, taken >> 1)) return false;
        } else if (!build_home(halves, from, &r, 0) || !build_home(halves, from, &r, 1)) {
            return false;
        }
    }
    if (r.broken || !end_building(&halves[0])) return false;
    return upper == NULL || end_building(&halves[1]);
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

/* Whether two values of a home are not equal, and the first matches all that the second does. */
static bool is_within(uint64_t v, uint64_t outer)
{
    return v != outer && lowest_bit(outer) > lowest_bit(v) &&
           ((v ^ outer) & ~((lowest_bit(outer) << 1) - 1)) == 0;
}

/* Whether no other entry of the run matches all that this one does, and no equal one comes before
 * it. */
static bool is_outermost(const struct quotient *t, const struct runs *r, uint64_t slot)
{
    const uint64_t v = quotient_get(t, slot);
    for (uint64_t s = r->start; s < r->end; s++) {
        const uint64_t other = quotient_get(t, s);
        if (is_within(v, other) || (other == v && s < slot)) return false;
    }
    return true;
}

void tamis__quotient_outermost(const struct quotient *t, uint64_t counts[64])
{
    struct runs r = {0};
    while (next_run(t, &r)) {
        const bool whole = r.end - r.start == 1 || r.end - r.start > 128;
        for (uint64_t s = r.start; s < r.end; s++) {
            const uint64_t v = quotient_get(t, s);
            if (v != 0 && (whole || is_outermost(t, &r, s)))
                counts[t->width - 1 - (unsigned)__builtin_ctzll(v)]++;
        }
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
    if (entries > tamis__quotient_capacity(t->homes, t->whole))
        return "there are more entries than the table may hold";
    if (entries != tamis__quotient_entries(t)) return "the number of entries is wrong";
    return NULL;
}

const char *tamis__quotient_wrong(const struct quotient *t)
{
    const uint64_t end = t->blocks * tamis__block_bytes(t->width);
    uint64_t entries = 0, count = 0, block = 0, before = 0;
    struct runs r = {0};
    for (uint64_t b = t->homes / 64; b < t->blocks; b++)
        if (occupied(t, b) >> (b == t->homes / 64 ? t->homes % 64 : 0) != 0)
            return "a home slot lies beyond the last one";
    for (const uint8_t *p = t->cells + end; p < tamis__quotient_count(t); p++)
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
