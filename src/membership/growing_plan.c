/* The shapes of growing filters: how long the fingerprints of each table are, which tables a plan
 * begins with, and which ones an image may have. The top of growing.c explains them. */
#include "growing.h"

#include "../core/error.h"
#include "../core/plan.h"
#include "../image/image.h"

#include <math.h>

#define MIN_LEVEL TAMIS__GROWING_MIN_LEVEL
#define MAX_LEVEL TAMIS__GROWING_MAX_LEVEL
#define FIRST_LEVEL TAMIS__GROWING_FIRST_LEVEL
#define MIN_BASE TAMIS__GROWING_MIN_BASE
#define MAX_BASE TAMIS__GROWING_MAX_BASE
#define DEFAULT_ITEMS 100u
/* With shares from the beginning: the most that a plan of the smallest ones can have with an m that
 * is smaller than their homes. */
#define REMOVABLE_ITEMS 1920u
#define SHARES (1u << TAMIS__SHARE_BITS)
/* A plan lays out at most half as many shares as there may be, because the first table is a section
 * as well. */
#define MOST_PLANNED_BITS (TAMIS__MOST_SHARE_BITS - 1)

/* --- Fingerprints ----------------------------------------------------------------------------- */

/* It falls by at most one from each level to the next, so that K never falls. */
unsigned tamis__first_bits(unsigned base, unsigned level)
{
    if (level > 27) return base + 4;
    if (level >= 20) return base;
    return base + (level < 15 ? 5 : 20 - level);
}

/* What the fingerprints of a share have more than the base. */
static unsigned share_surplus(uint64_t homes)
{
    if (homes < UINT64_C(1) << 17) return 17 - tamis__log(homes);
    if (homes < UINT64_C(7) << 23) return 0;
    return homes < UINT64_C(1) << 28 ? 5 : 8;
}

/* The same if the first table is larger than those of this version. */
static unsigned share_bits_with_older(unsigned base, unsigned first, unsigned level)
{
    const unsigned next = first + 1;
    if (level > next) return tamis__first_bits(base, level) + 1;
    return tamis__first_bits(base, next) + 1 + (next - level);
}

unsigned tamis__share_bits(unsigned base, unsigned first, uint64_t homes)
{
    if (first > FIRST_LEVEL) return share_bits_with_older(base, first, tamis__log(homes));
    return base + share_surplus(homes);
}

/* That of a first table which goes on growing. Shares add no more than it would, and have a little
 * less at the end (tests/library/test_growing.c). It is a sum of a few powers of two, so it is
 * exact on every machine. */
double tamis__growing_rate(unsigned base)
{
    double sum = ldexp(1, -(int)tamis__first_bits(base, MIN_LEVEL));
    for (unsigned level = MIN_LEVEL + 1; level <= MAX_LEVEL; level++)
        sum += ldexp(1, -(int)tamis__first_bits(base, level) - 1);
    return sum * 15 / 16;
}

/* --- Tables ----------------------------------------------------------------------------------- */

static void set_table(struct section *s, unsigned base, unsigned bits, uint64_t m, unsigned f)
{
    s->role = TAMIS__ROLE_CELLS;
    s->kind = TAMIS_GROWING;
    s->variant = (uint16_t)bits;
    s->cell_bits = (uint16_t)(f + 1);
    s->k = base;
    s->m = m;
    s->length = tamis__quotient_bytes(m, f + 1, bits == 0);
}

void tamis__set_first_table(struct section *s, unsigned base, unsigned level)
{
    set_table(s, base, 0, UINT64_C(1) << level, tamis__first_bits(base, level));
}

void tamis__set_share(struct section *s, unsigned base, unsigned first, unsigned bits, uint64_t m)
{
    set_table(s, base, bits, m, tamis__share_bits(base, first, m << bits));
}

/* 64 · 2^(i/32), rounded, of share i of 32. With sizes in equal steps of the logarithm, there is
 * always one share in so many that has just doubled. */
static uint64_t least_homes(uint32_t i)
{
    static const uint8_t homes[SHARES] = {64,  65,  67,  68,  70,  71,  73,  74,  76,  78, 79,
                                          81,  83,  85,  87,  89,  91,  92,  95,  97,  99, 101,
                                          103, 105, 108, 110, 112, 115, 117, 120, 123, 125};
    return homes[i];
}

uint64_t tamis__share_homes(uint32_t i, unsigned bits, unsigned level, uint64_t items)
{
    uint64_t m = least_homes(i >> (bits - TAMIS__SHARE_BITS));
    while (bits + tamis__log(m) < MAX_LEVEL &&
           (bits + tamis__log(m) < level || tamis__quotient_capacity(m, false) < items))
        m *= 2;
    return m;
}

/* --- Planning --------------------------------------------------------------------------------- */

/* What a plan begins with: a first table, or an empty one and shares as if it had grown. */
struct start {
    uint32_t base;
    unsigned first;      /* the level of the first table */
    unsigned share_bits; /* 0: no shares */
    uint64_t items;      /* of each share */
};

static bool holds(uint64_t items, unsigned level)
{
    return tamis__quotient_capacity(UINT64_C(1) << level, true) >= items;
}

static bool is_removable(const tamis_plan *p)
{
    return (p->flags & TAMIS_REMOVABLE) != 0;
}

static struct start start_of(const tamis_plan *p)
{
    struct start s = {.base = p->k, .first = MIN_LEVEL};
    const unsigned last = p->k > TAMIS__MOST_SHARED_BASE ? MAX_LEVEL : FIRST_LEVEL;
    while (s.first < last && (!holds(p->items, s.first) || UINT64_C(1) << s.first < p->m))
        s.first++;
    if (holds(p->items, last) && !is_removable(p)) return s;
    s.first = MIN_LEVEL;
    s.share_bits = TAMIS__SHARE_BITS;
    while (s.share_bits < MOST_PLANNED_BITS && p->items >> s.share_bits >= TAMIS__DIVIDED_FROM)
        s.share_bits++;
    s.items = (p->items + (UINT64_C(1) << s.share_bits) - 1) >> s.share_bits;
    return s;
}

static uint32_t planned_sections(const struct start *s)
{
    return 1 + (s->share_bits != 0 ? 1u << s->share_bits : 0);
}

static struct section planned_section(const struct start *s, uint32_t i)
{
    struct section one = {0};
    if (i == 0)
        tamis__set_first_table(&one, s->base, s->first);
    else
        tamis__set_share(&one, s->base, s->first, s->share_bits,
                         tamis__share_homes(i - 1, s->share_bits, 0, s->items));
    return one;
}

static uint64_t length_of(const void *start, uint32_t i)
{
    return planned_section(start, i).length;
}

static uint64_t planned_bytes(const tamis_plan *p)
{
    const struct start s = start_of(p);
    return tamis__image_bytes_of(planned_sections(&s), length_of, &s);
}

static tamis_status solve_base(tamis_plan *p, tamis_error *why)
{
    if (p->k != 0 && (p->k < MIN_BASE || p->k > MAX_BASE))
        return tamis__fail(why, TAMIS_EINVAL, "k must be from %u to %u, not %u", MIN_BASE, MAX_BASE,
                           p->k);
    if (p->fpr == 0 && p->k == 0)
        return tamis__fail(why, TAMIS_EINVAL,
                           "a growing filter needs the false-positive rate it is to keep");
    const uint32_t most = is_removable(p) ? TAMIS__MOST_SHARED_BASE : MAX_BASE;
    uint32_t base = p->k != 0 ? p->k : MIN_BASE;
    if (base > most)
        return tamis__fail(why, TAMIS_EINVAL, "if keys are removed, k must be at most %u", most);
    if (p->fpr == 0) p->fpr = tamis__growing_rate(base);
    while (p->k == 0 && base < most && tamis__growing_rate(base) > p->fpr) base++;
    if (tamis__growing_rate(base) > p->fpr)
        return tamis__fail(why, TAMIS_EINVAL, "that growing filter keeps a rate of %.3g, not %.3g",
                           tamis__growing_rate(base), p->fpr);
    p->k = base;
    p->fpr = tamis__growing_rate(base);
    return TAMIS_OK;
}

static bool has_bytes_for(void *plan, uint64_t items)
{
    tamis_plan p = *(const tamis_plan *)plan;
    p.items = items;
    return planned_bytes(&p) <= p.bytes;
}

/* Chooses the items for the bytes or the m that were asked for, and then the m for the items. */
static tamis_status solve_items(tamis_plan *p, tamis_error *why)
{
    const uint64_t most = tamis__quotient_capacity(UINT64_C(1) << MAX_LEVEL, true);
    unsigned level = MIN_LEVEL;
    if (p->m != 0 && ((p->m & (p->m - 1)) != 0 || p->m >> MIN_LEVEL == 0 || p->m >> MAX_LEVEL > 1))
        return tamis__fail(why, TAMIS_EINVAL, "m must be a power of two from 128 to 2^46");
    if (p->items == 0 && p->m != 0) p->items = tamis__quotient_capacity(p->m, true);
    if (p->items == 0 && p->bytes != 0) p->items = tamis__largest(0, most + 1, has_bytes_for, p);
    if (p->items == 0) p->items = is_removable(p) ? REMOVABLE_ITEMS : DEFAULT_ITEMS;
    while (level < MAX_LEVEL && (p->m != 0 ? UINT64_C(1) << level < p->m : !holds(p->items, level)))
        level++;
    if (!holds(p->items, level))
        return tamis__fail(
            why, TAMIS_EINVAL, "2^%u slots hold %llu items", level,
            (unsigned long long)tamis__quotient_capacity(UINT64_C(1) << level, true));
    p->m = UINT64_C(1) << level;
    const uint64_t bytes = planned_bytes(p);
    if (p->bytes != 0 && bytes > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "needs %llu bytes, more than the %llu given",
                           (unsigned long long)bytes, (unsigned long long)p->bytes);
    p->bytes = bytes;
    return TAMIS_OK;
}

tamis_status tamis__growing_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    tamis_status s = solve_base(plan, why);
    if (s == TAMIS_OK) s = solve_items(plan, why);
    promise->fpr_asymptotic = plan->fpr;
    return s;
}

uint32_t tamis__growing_layout(const tamis_plan *plan, struct section *out)
{
    const struct start s = start_of(plan);
    const uint32_t count = planned_sections(&s);
    for (uint32_t i = 0; out != NULL && i < count; i++) out[i] = planned_section(&s, i);
    return count;
}

/* --- Images ----------------------------------------------------------------------------------- */

static const char *wrong_first_table(const struct section *s)
{
    if ((s->m & (s->m - 1)) != 0 || s->m >> MIN_LEVEL == 0 || s->m >> MAX_LEVEL > 1)
        return "m is not a power of two in range";
    return s->cell_bits == tamis__first_bits(s->k, tamis__log(s->m)) + 1
               ? NULL
               : "the slots have a wrong size";
}

static const char *wrong_share(const struct section *s, unsigned first)
{
    if (s->variant < TAMIS__SHARE_BITS || s->variant > TAMIS__MOST_SHARE_BITS)
        return "the number of bits of a share is out of range";
    if (s->k > TAMIS__MOST_SHARED_BASE) return "k is out of range";
    if (s->m >> MAX_LEVEL > 1 || s->m < least_homes(0) || tamis__growing_level(s) > MAX_LEVEL)
        return "m is out of range";
    return s->cell_bits == tamis__share_bits(s->k, first, s->m << s->variant) + 1
               ? NULL
               : "the slots have a wrong size";
}

const char *tamis__growing_wrong_shape(const struct body *b)
{
    const uint32_t most = 1u << TAMIS__MOST_SHARE_BITS;
    const unsigned first = tamis__first_level(b);
    uint32_t at = 0; /* where the hashes of the next share begin */
    for (uint32_t i = 0; i < b->count; i++) {
        const struct section *s = b->sections + i;
        if (s->role != TAMIS__ROLE_CELLS || s->kind != TAMIS_GROWING)
            return "the section is not of this kind";
        if (s->k < MIN_BASE || s->k > MAX_BASE || s->k != b->sections->k)
            return "k is out of range";
        if (s->m == 0) return "m is out of range";
        if (tamis__is_share(s) != (i > 0))
            return i == 0 ? "there is no first table" : "there are two first tables";
        const char *reason = tamis__is_share(s) ? wrong_share(s, first) : wrong_first_table(s);
        if (reason != NULL) return reason;
        if (s->length != tamis__quotient_bytes(s->m, s->cell_bits, !tamis__is_share(s)))
            return "the section's length does not fit its slots";
        if (!tamis__is_share(s)) continue;
        const uint32_t width = most >> s->variant;
        if (at % width != 0 || at >= most) return "the shares are not in order";
        at += width;
    }
    return tamis__has_shares(b) && at != most ? "the shares are not the whole hash space" : NULL;
}
