/* growing: a set of unknown size. It starts with room for a hundred keys and doubles as they come,
 * without needing the keys again and without ever exceeding the promised rate.
 *
 * The set is a quotient filter (M. Bender et al., "Don't thrash: how to cache your hash on flash",
 * 2012), laid out in src/membership/quotient.c. In a table of 2^Q slots, the first Q bits of a
 * key's hash are its home, where the F bits after them, the fingerprint, are kept. When the table
 * doubles, each entry gives the first bit of its fingerprint to its address. No information is lost
 * or gained, but the fingerprint is one bit shorter. New keys get F bits again, so entries of
 * several lengths lie side by side (N. Dayan et al., "InfiniFilter", 2023, and "Aleph filter",
 * 2024). A slot contains the bits, then a 1, then zeros:
 *
 *     hash 1101 0110 1...      Q = 4: home 1101,  slot 01101 1     F = 5
 *                              Q = 5: home 11010, slot 1101 1 0    the same entry, one bit shorter
 *     hash 0011 1010 0101...   Q = 5: home 00111, slot 01001 1     a new one
 *     a void entry, no bits    slot 1 00000: goes to both halves when the table doubles again
 *
 * The rate. An entry keeps the first K bits of a hash for ever, where K = Q + F(Q) of the table
 * that it was added to. It matches a key that was never added with probability 2^-K. A key that
 * matches is "seen" and not stored, and K never falls as Q grows, so no two entries match the same
 * hash: the rate is exactly the sum of 2^-K over the entries. A table is doubled before more than
 * 15/16 of its homes are taken, so at most 15/16 2^Q entries were added to tables of up to 2^Q
 * slots. As 2^-K never rises with Q, the sum is greatest if each table is filled as far as it may
 * be (summation by parts):
 *
 *     rate <= 15/16 (2^-F(7) + 2^-(F(8)+1) + 2^-(F(9)+1) + ... + 2^-(F(46)+1))
 *
 * With the same F in all tables each would add the same amount, and the sum would not converge. So
 * F(Q) is B for tables of 2^20 to 2^27 slots, where most lie, B+4 for larger ones, and up to B+5
 * for smaller ones, which are small anyway. The sum is then 9.8 2^-(B+1), which at 1 % with B = 9
 * is 0.96 %. This is a bound for the set itself, not a mean, up to 6.6e13 keys.
 *
 * Void entries, which are copied to both halves, leave the sum unchanged: their share of the slots
 * is their share of the rate.
 *
 * Space at 1 %: 13.1 bits per key when a table of 1 M to 126 M keys is full (98 bytes for 64
 * slots), and 26.1 just after it has doubled. Smaller tables take 18.4 to 36.8 and larger ones 17.3
 * to 34.7. While a table doubles, both the old and the new one are in memory.
 *
 * Cost: a query reads one or two cache lines. An add moves the entries up to the next unused slot,
 * (1 + 1/(1-load)^2)/2 of them: 15 on average between two doublings, 128 when full. Doubling copies
 * the table in order and costs each key some 30 ns in the long run.
 *
 * Keys that strangers choose require a secret key (tamis_options.key). Without it strangers can
 * pile up keys in one place. A table that is less than a quarter full is not doubled for that; the
 * add fails with TAMIS_EFULL instead. */
#include "../core/bitrows.h"
#include "../core/error.h"
#include "../core/memory.h"
#include "../core/plan.h"
#include "../image/image.h"
#include "quotient.h"

#include <math.h>

#define MIN_LOG TAMIS__QUOTIENT_MIN_LOG
#define MAX_LOG TAMIS__QUOTIENT_MAX_LOG
/* From 3 on the promise is below 1. Up to 51, F is at most 56, so that a slot fits in eight bytes
 * wherever it begins. */
#define MIN_BASE 3u
#define MAX_BASE 51u
#define DEFAULT_ITEMS 100u
/* Batches that were not announced ahead are prefetched as a whole in tables of at least this many
 * bytes, which exceed the second-level cache. */
#define PREFETCH_FROM (1u << 20)

/* --- Shape ------------------------------------------------------------------------------------ */

/* F(Q). It falls by at most one from each table to the next, so that K never falls. */
static unsigned fingerprint_bits(unsigned base, unsigned log)
{
    if (log > 27) return base + 4;
    if (log >= 20) return base;
    return base + (log < 15 ? 5 : 20 - log);
}

static unsigned width(unsigned base, unsigned log)
{
    return fingerprint_bits(base, log) + 1;
}

/* The rate that no number of keys exceeds. It is a sum of a few powers of two, so it is exact on
 * every machine. */
static double rate_for_ever(unsigned base)
{
    double sum = ldexp(1, -(int)fingerprint_bits(base, MIN_LOG));
    for (unsigned log = MIN_LOG + 1; log <= MAX_LOG; log++)
        sum += ldexp(1, -(int)fingerprint_bits(base, log) - 1);
    return sum * 15 / 16;
}

static unsigned log_of(uint64_t m)
{
    return (unsigned)__builtin_ctzll(m);
}

static void set_shape(struct section *s, unsigned base, unsigned log)
{
    s->role = TAMIS__ROLE_CELLS;
    s->kind = TAMIS_GROWING;
    s->cell_bits = (uint16_t)width(base, log);
    s->k = base;
    s->m = UINT64_C(1) << log;
    s->length = tamis__quotient_bytes(log, s->cell_bits);
}

static struct quotient table_of(const struct section *s)
{
    return tamis__quotient(s->cells, log_of(s->m), s->cell_bits);
}

static uint64_t home_of(const struct quotient *t, tamis_hash h)
{
    return h.hi >> (64 - t->log);
}

static uint64_t fingerprint_of(const struct quotient *t, tamis_hash h)
{
    return (h.hi << t->log | h.lo >> (64 - t->log)) >> (65 - t->width);
}

/* --- Planning --------------------------------------------------------------------------------- */

static uint64_t growing_image_bytes(unsigned base, unsigned log)
{
    return tamis__image_bytes(tamis__quotient_bytes(log, width(base, log)), 1);
}

static tamis_status solve_base(tamis_plan *p, tamis_error *why)
{
    if (p->k != 0 && (p->k < MIN_BASE || p->k > MAX_BASE))
        return tamis__fail(why, TAMIS_EINVAL, "k must be from %u to %u, not %u", MIN_BASE, MAX_BASE,
                           p->k);
    if (p->fpr == 0 && p->k == 0)
        return tamis__fail(why, TAMIS_EINVAL,
                           "a growing filter needs the false-positive rate it is to keep");
    uint32_t base = p->k != 0 ? p->k : MIN_BASE;
    if (p->fpr == 0) p->fpr = rate_for_ever(base);
    while (p->k == 0 && base < MAX_BASE && rate_for_ever(base) > p->fpr) base++;
    if (rate_for_ever(base) > p->fpr)
        return tamis__fail(why, TAMIS_EINVAL, "that growing filter keeps a rate of %.3g, not %.3g",
                           rate_for_ever(base), p->fpr);
    p->k = base;
    p->fpr = rate_for_ever(base);
    return TAMIS_OK;
}

/* Chooses the largest first table within the budget, the smallest one for the items, or the one
 * that was asked for. */
static tamis_status solve_table(tamis_plan *p, tamis_error *why)
{
    unsigned log = MIN_LOG;
    if (p->m != 0) {
        if ((p->m & (p->m - 1)) != 0 || p->m >> MIN_LOG == 0 || p->m >> MAX_LOG > 1)
            return tamis__fail(why, TAMIS_EINVAL, "m must be a power of two from 128 to 2^46");
        log = log_of(p->m);
    } else if (p->items == 0 && p->bytes != 0) {
        while (log < MAX_LOG && growing_image_bytes(p->k, log + 1) <= p->bytes) log++;
    } else {
        if (p->items == 0) p->items = DEFAULT_ITEMS;
        while (log < MAX_LOG && tamis__quotient_capacity(log) < p->items) log++;
    }
    if (p->items == 0) p->items = tamis__quotient_capacity(log);
    if (p->items > tamis__quotient_capacity(log))
        return tamis__fail(why, TAMIS_EINVAL, "a first table of 2^%u slots holds %llu items", log,
                           (unsigned long long)tamis__quotient_capacity(log));
    const uint64_t bytes = growing_image_bytes(p->k, log);
    if (p->bytes != 0 && bytes > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "needs %llu bytes, more than the %llu given",
                           (unsigned long long)bytes, (unsigned long long)p->bytes);
    p->m = UINT64_C(1) << log;
    p->bytes = bytes;
    return TAMIS_OK;
}

static tamis_status growing_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    tamis_status s = solve_base(plan, why);
    if (s == TAMIS_OK) s = solve_table(plan, why);
    promise->fpr_asymptotic = plan->fpr;
    return s;
}

static uint32_t growing_layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 1;
    memset(out, 0, sizeof *out);
    set_shape(out, plan->k, log_of(plan->m));
    return 1;
}

static const char *growing_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (b->count != 1) return "this kind has exactly one section";
    if (s->kind != TAMIS_GROWING) return "the section is not of this kind";
    if (s->k < MIN_BASE || s->k > MAX_BASE) return "k is out of range";
    if (s->m == 0 || (s->m & (s->m - 1)) != 0 || s->m >> MIN_LOG == 0 || s->m >> MAX_LOG > 1)
        return "m is not a power of two in range";
    if (s->cell_bits != width(s->k, log_of(s->m))) return "the slots have a wrong size";
    if (s->length != tamis__quotient_bytes(log_of(s->m), s->cell_bits))
        return "the section's length does not fit its slots";
    return NULL;
}

static const char *growing_wrong_cells(const struct body *b)
{
    const struct quotient t = table_of(b->sections);
    return tamis__quotient_wrong(&t);
}

/* --- The verbs -------------------------------------------------------------------------------- */

static void growing_prefetch(const struct body *b, const struct batch *keys)
{
    const struct quotient t = table_of(b->sections);
    const uint64_t bytes = tamis__block_bytes(t.width);
    for (size_t i = 0; i < keys->n; i++) {
        const uint64_t home = home_of(&t, keys->hashes[i]);
        const uint8_t *block = t.cells + home / 64 * bytes;
        TAMIS__PREFETCH(block);
        /* A little to the right, because entries are pushed that way. */
        TAMIS__PREFETCH(block + TAMIS__BLOCK_SLOTS + home % 64 * t.width / 8 + 16);
    }
}

static void prefetch_for(const struct body *b, const struct batch *keys)
{
    const struct batch ahead = {.hashes = keys->ahead, .n = keys->n};
    if (TAMIS__AHEAD(keys->ahead))
        growing_prefetch(b, &ahead);
    else if (keys->n > 1 && b->sections->length >= PREFETCH_FROM)
        growing_prefetch(b, keys);
}

/* The result of adding a key to a table. */
enum added { SEEN, STORED, NO_ROOM };

static enum added add_to(struct quotient *t, tamis_hash h)
{
    const uint64_t home = home_of(t, h), f = fingerprint_of(t, h);
    uint64_t after;
    if (tamis__quotient_find(t, home, f, &after)) return SEEN;
    if (tamis__quotient_entries(t) >= tamis__quotient_capacity(t->log)) return NO_ROOM;
    return tamis__quotient_insert(t, home, after, f << 1 | 1) ? STORED : NO_ROOM;
}

/* A doubled table is at most half full, not counting void entries, which are fewer than the rate
 * allows. A fuller one contains entries that were never added, and would be doubled again and
 * again. */
static bool has_gained(const struct quotient *t)
{
    return tamis__quotient_entries(t) <= UINT64_C(7) << (t->log - 3);
}

/* Doubles the table and adds a key that has no room otherwise. */
static tamis_status grow_for(struct body *b, tamis_hash h)
{
    struct section bigger = *b->sections;
    const struct quotient from = table_of(b->sections);
    if (from.log == MAX_LOG || tamis__quotient_entries(&from) < UINT64_C(1) << (from.log - 2))
        return TAMIS_EFULL;
    set_shape(&bigger, bigger.k, from.log + 1);
    if (b->extra->max_bytes != 0 && tamis__image_bytes(bigger.length, 1) > b->extra->max_bytes)
        return TAMIS_EFULL;
    bigger.cells = tamis__alloc(b->memory, bigger.length);
    if (bigger.cells == NULL) return TAMIS_ENOMEM;
    struct quotient to = table_of(&bigger);
    if (!tamis__quotient_double(&from, &to) || !has_gained(&to) || add_to(&to, h) == NO_ROOM) {
        tamis__free(b->memory, bigger.cells);
        return TAMIS_EFULL;
    }
    tamis__free(b->memory, b->sections->cells);
    *b->sections = bigger;
    return TAMIS_OK;
}

static tamis_status growing_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                size_t *done)
{
    struct quotient t = table_of(b->sections);
    prefetch_for(b, keys);
    memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const enum added added = add_to(&t, keys->hashes[i]);
        if (added == SEEN) seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
        if (added != NO_ROOM) continue;
        const tamis_status s = grow_for(b, keys->hashes[i]);
        *done = i;
        if (s != TAMIS_OK) return s;
        t = table_of(b->sections);
    }
    return TAMIS_OK;
}

static void growing_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct quotient t = table_of(b->sections);
    prefetch_for(b, keys);
    memset(bits, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const tamis_hash h = keys->hashes[i];
        const bool maybe = tamis__quotient_find(&t, home_of(&t, h), fingerprint_of(&t, h), NULL);
        bits[i / 8] = (uint8_t)(bits[i / 8] | maybe << i % 8);
    }
}

/* --- Rate and items --------------------------------------------------------------------------- */

/* Estimates how many keys became these void entries. A key whose K bits were used up at 2^K slots
 * has 2^(Q-K) copies now. K is at least that of the smallest table, and all keys with K <= Q were
 * added to tables up to the last one with such a K. */
static struct estimate void_keys(const struct quotient *t, unsigned base, uint64_t copies)
{
    struct estimate e = {(double)copies, (double)copies, (double)copies};
    const unsigned first = MIN_LOG + fingerprint_bits(base, MIN_LOG);
    if (t->log <= first) return e;
    unsigned last = MIN_LOG;
    while (last < t->log && last + 1 + fingerprint_bits(base, last + 1) <= t->log) last++;
    const double most = (double)tamis__quotient_capacity(last);
    e.low = ceil(ldexp(e.low, -(int)(t->log - first)));
    if (e.high > most && e.low <= most) e.value = e.high = most;
    return e;
}

/* Computes rate and items from the number of entries of each length, the oldest and shortest first.
 * The rate is exact. While it was r, r/(1-r) keys were lost as "seen" for each one that was stored;
 * within one length r rose in equal steps. */
static void growing_gauge(const struct body *b, const struct body *other, double z,
                          struct gauge *out)
{
    const struct quotient t = table_of(b->sections);
    uint64_t counts[64] = {0};
    double lost = 0, variance = 0;
    (void)other;
    tamis__quotient_lengths(&t, counts);
    out->cells = b->sections->m;
    for (unsigned l = 0; l < t.width; l++) {
        if (counts[l] == 0) continue;
        const double n = (double)counts[l], part = ldexp(n, -(int)(t.log + l));
        const struct estimate e =
            l == 0 ? void_keys(&t, b->sections->k, counts[0]) : (struct estimate){n, n, n};
        const double r = fmin(out->rate + part / 2, 0.99); /* more means a hostile image */
        out->items.low += e.low;
        out->items.value += e.value;
        out->items.high += e.high;
        lost += e.value * r / (1 - r);
        variance += e.value * r / ((1 - r) * (1 - r));
        out->rate = fmin(out->rate + part, 1);
        out->hit += counts[l];
    }
    if (out->hit == 0) return;
    /* The 1 is for cases where so few are lost that the normal approximation does not hold: a
     * Poisson variable still stays below. */
    out->items.low += fmax(lost - z * sqrt(variance), 0);
    out->items.value += lost;
    out->items.high += lost + z * sqrt(variance) + 1;
}

const struct kind tamis__growing = {
    .id = TAMIS_GROWING,
    .name = "growing",
    .traits = TAMIS__GROWS,
    .accepts = TAMIS__PLANS_ITEMS | TAMIS__PLANS_FPR,
    .instead = TAMIS_BLOCKED,
    .solve = TAMIS__FULL(growing_solve),
    .layout = TAMIS__FULL(growing_layout),
    .wrong_shape = growing_wrong_shape,
    .wrong_cells = growing_wrong_cells,
    .prefetch = TAMIS__FULL(growing_prefetch),
    .add = TAMIS__FULL(growing_add),
    .query = growing_query,
    .gauge = growing_gauge,
};
