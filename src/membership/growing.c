/* growing: a set of unknown size. It starts with room for a hundred keys and grows as they come,
 * without needing the keys again and without ever exceeding the promised rate.
 *
 * The set is made of quotient filters (M. Bender et al., "Don't thrash: how to cache your hash on
 * flash", 2012), laid out in src/membership/quotient.c. In a table of m slots, a key's hash, taken
 * as a fraction and multiplied by m, has its home before the point and its fingerprint after it.
 * When the table doubles, each entry gives the first bit of its fingerprint to its address. No
 * information is lost or gained, but the fingerprint is one bit shorter. New keys get F bits again,
 * so entries of several lengths lie side by side (N. Dayan et al., "InfiniFilter", 2023, and "Aleph
 * filter", 2024). A slot contains the bits, then a 1, then zeros:
 *
 *     hash 1101 0110 1...      m = 2^4: home 1101,  slot 01101 1    F = 5
 *                              m = 2^5: home 11010, slot 1101 1 0   the same entry, a bit shorter
 *     hash 0011 1010 0101...   m = 2^5: home 00111, slot 01001 1     a new one
 *     a void entry, no bits    slot 1 00000: goes to both halves when the table doubles again
 *
 * Shares. A table that doubles is half empty after it, and takes twice the bits per key until it is
 * full. So there is one table only up to 2^12 slots. Then it is left as it is, and further keys go
 * to 32 shares of the hash space by their first five bits. Each share has a table of its own, which
 * doubles by itself. Their sizes are 64 to 125 homes in equal steps of the logarithm, so they do
 * not double at the same time but one after the other:
 *
 *     first table | share 0: 64 | share 1: 65 | share 2: 67 | ... | share 31: 125
 *                                                  full first: the smallest; doubled: 128
 *
 * The mean of 1/load over loads that are spread evenly between 1/2 and 1 on the logarithmic scale
 * is 1.44, and just after a share has doubled 1.46 with 32 of them: at no time is the set larger
 * than that, compared with full tables. A share of 2^14 homes or more is divided in two shares by
 * one more bit instead of doubled. That is the same arithmetic: the table is doubled, and cut in
 * half. Its halves keep the number of homes, so the steps stay. There may be 1,024 sections.
 *
 * A query looks into the share of the key, which a directory of all prefixes of ten bits names. It
 * looks into the first table only if this has a key with the same 15 bits at the beginning. A
 * summary in memory, which is not part of the image, has a bit for each of these prefixes, and at
 * most one in eight is set.
 *
 * The rate. An entry keeps the bits that it was added with for ever. In a table of which the whole
 * hash space would have G homes, they are a part 1/(G 2^F) of it, and the entry matches a key that
 * was never added with this probability. A key that matches is "seen" and not stored, and G 2^F
 * never falls as G grows, so no two entries of a table match the same hash: the rate within it is
 * exactly the sum over its entries. Until a share has more than G homes, at most 123/128 G entries
 * were added to it (both as if it were the whole hash space), so the sum is greatest if each table
 * is filled as far as it may be (summation by parts). If it begins with G(0) homes,
 *
 *     rate <= 123/128 (2^-F(G(0)) + 2^-(F(2 G(0))+1) + 2^-(F(4 G(0))+1) + ...)
 *
 * With the same F in all tables each would add the same amount, and the sum would not converge. So
 * F is B between 2^17 and 7 2^23 homes, where most sets are, B+5 and B+8 for larger ones, and up to
 * B+6 for smaller ones, which are small anyway. The first table adds the same with 15/16 instead of
 * 123/128. All together this is 9.77 2^-(B+1), which at 1 % with B = 9 is 0.954 %; promised are
 * 9.785 2^-(B+1), as in images of the version before, which had a first table only. If one of those
 * has more than 2^12 slots, its shares have one bit more than it would have in its next tables, so
 * it keeps its promise. These are bounds for the set itself, not means, up to 6.6e13 keys. The rate
 * that info reports adds the first table and the shares, which may overlap: it is too high by at
 * most their product.
 *
 * Void entries, which are copied to both halves, leave the sum unchanged: their share of the slots
 * is their share of the rate.
 *
 * Space at 1 %: 18.2 to 19 bits per key from 250,000 to 28 M keys, 19.7 at 100,000. Smaller sets
 * take up to 23 (50,000), 27 (20,000) and 34 (8,000); 18 to 37 up to 3,840 keys, and 50 when the
 * shares are new. From 28 M keys on it rises to 26, and from 135 M on to 31. While a share grows,
 * both the old and the new one are in memory.
 *
 * Cost: a query reads two or three cache lines. An add moves the entries
 * up to the next unused slot, (1 + 1/(1-load)^2)/2 of them: 20 on average over the loads of the
 * shares, 330 in a full one. No add copies more than 32,000 entries up to 16 M keys, or 63,000 up
 * to 30 M.
 *
 * Keys that strangers choose require a secret key (tamis_options.key). Without it strangers can
 * pile up keys in one place. A table that is less than a quarter full does not grow for that; the
 * add fails with TAMIS_EFULL instead. */
#include "growing_find.h"

#include "../core/bitrows.h"
#include "../core/bulk.h"
#include "../core/memory.h"
#include "../core/single.h"
#include "../image/image.h"

#include <math.h>

#define MAX_LEVEL TAMIS__GROWING_MAX_LEVEL
#define FIRST_LEVEL TAMIS__GROWING_FIRST_LEVEL
#define PREFIXES TAMIS__SHARE_PREFIXES

/* --- Places ----------------------------------------------------------------------------------- */

TAMIS__APART bool tamis__growing_find_slowly(const struct section *s, struct aim a, uint64_t *after)
{
    const struct quotient t = tamis__growing_table(s);
    return tamis__quotient_find_slowly(&t, a.home, a.f, after);
}

/* --- The directory ---------------------------------------------------------------------------- */

/* The section of each prefix of a hash. */
static void fill_directory(uint16_t *directory, const struct section *s, uint32_t count)
{
    unsigned at = 0;
    for (uint32_t i = 1; i < count; i++)
        for (unsigned end = at + (PREFIXES >> s[i].variant); at < end && at < PREFIXES; at++)
            directory[at] = (uint16_t)i;
}

/* Which prefixes of 15 bits the hashes of the first table have. At most 3,840 of 32,768 do, so that
 * few queries and adds need to look there. A larger table, of an earlier version, is always looked
 * into, and so is one that is broken. */
static void summarize_first(const struct section *s, uint16_t *directory)
{
    uint8_t *summary = (uint8_t *)(directory + PREFIXES);
    const struct quotient t = tamis__growing_table(s);
    if (tamis__growing_level(s) > FIRST_LEVEL ||
        !tamis__quotient_prefixes(&t, tamis__growing_level(s), TAMIS__SUMMARY_BITS, summary))
        memset(summary, 0xff, TAMIS__SUMMARY_BYTES);
}

bool tamis__growing_ready(struct body *b)
{
    if (!tamis__has_shares(b)) return true;
    b->extra->directory = tamis__alloc(b->memory, TAMIS__DIRECTORY_BYTES);
    if (b->extra->directory == NULL) return false;
    fill_directory(b->extra->directory, b->sections, b->count);
    summarize_first(b->sections, b->extra->directory);
    return true;
}

/* --- Growth ----------------------------------------------------------------------------------- */

enum tamis__added tamis__growing_store(const struct section *s, struct aim a, uint64_t after)
{
    struct quotient t = tamis__growing_table(s);
    if (tamis__quotient_entries(&t) >= tamis__quotient_capacity(t.homes, t.whole))
        return TAMIS__NO_ROOM;
    return tamis__quotient_insert(&t, a.home, after, a.f << 1 | 1) ? TAMIS__STORED : TAMIS__NO_ROOM;
}

static enum tamis__added store_in(const struct section *s, tamis_hash h)
{
    const struct quotient t = tamis__growing_table(s);
    const struct aim a = tamis__growing_aim(s, h);
    uint64_t after;
    if (tamis__quotient_find(&t, a.home, a.f, &after)) return TAMIS__SEEN;
    return tamis__growing_store(s, a, after);
}

/* A doubled table is at most half full, not counting void entries, which are fewer than the rate
 * allows. A fuller one contains entries that were never added, or keys that were chosen to collide,
 * and would be doubled again and again. */
static bool has_gained(const struct section *s)
{
    const struct quotient t = tamis__growing_table(s);
    return tamis__quotient_entries(&t) <= t.homes / 8 * 7;
}

/* What takes the place of a section: itself with twice the homes, or the two halves of a share. */
struct growth {
    uint32_t at;    /* the number of the section */
    uint32_t parts; /* 1 or 2 */
    struct section to[2];
    tamis__growing_storer *store; /* adds the key that has no room otherwise */
};

static void free_growth(const struct body *b, struct growth *g)
{
    tamis__free(b->memory, g->to[0].cells);
    tamis__free(b->memory, g->to[1].cells);
}

/* Describes the new sections. */
static void plan_growth(const struct body *b, struct growth *g, bool divided)
{
    const struct section *s = b->sections + g->at;
    g->parts = divided ? 2 : 1;
    for (uint32_t i = 0; i < g->parts; i++) {
        struct section *to = &g->to[i];
        *to = *s;
        to->cells = NULL;
        if (!tamis__is_share(s))
            tamis__set_first_table(to, s->k, tamis__log(s->m) + 1);
        else
            tamis__set_share(to, s->k, tamis__first_level(b), s->variant + divided,
                             divided ? s->m : 2 * s->m);
        to->room = to->length;
    }
}

/* The size of the image after a growth. */
struct grown {
    const struct body *b;
    const struct growth *g;
};

static uint64_t grown_length(const void *ctx, uint32_t i)
{
    const struct grown *grown = ctx;
    const struct growth *g = grown->g;
    if (i < g->at) return grown->b->sections[i].length;
    if (i < g->at + g->parts) return g->to[i - g->at].length;
    return grown->b->sections[i + 1 - g->parts].length;
}

static bool is_within_limit(const struct body *b, const struct growth *g)
{
    const struct grown grown = {b, g};
    return b->extra->max_bytes == 0 || tamis__image_bytes_of(b->count + g->parts - 1, grown_length,
                                                             &grown) <= b->extra->max_bytes;
}

/* Makes the new tables, and adds the hash to one of them. */
static tamis_status make_growth(const struct body *b, struct growth *g, tamis_hash h)
{
    const struct quotient from = tamis__growing_table(b->sections + g->at);
    const unsigned half = g->parts == 2 ? (unsigned)(h.hi >> (64 - g->to[0].variant) & 1) : 0;
    if (!is_within_limit(b, g)) return TAMIS_EFULL;
    for (uint32_t i = 0; i < g->parts; i++) {
        g->to[i].cells = tamis__alloc(b->memory, g->to[i].length);
        if (g->to[i].cells == NULL) return TAMIS_ENOMEM;
    }
    struct quotient lower = tamis__growing_table(&g->to[0]), upper = {0};
    if (g->parts == 2) upper = tamis__growing_table(&g->to[1]);
    if (!tamis__quotient_double(&from, &lower, g->parts == 2 ? &upper : NULL)) return TAMIS_EFULL;
    for (uint32_t i = 0; i < g->parts; i++)
        if (!has_gained(&g->to[i])) return TAMIS_EFULL;
    return g->store(&g->to[half], h) == TAMIS__NO_ROOM ? TAMIS_EFULL : TAMIS_OK;
}

/* Puts the new sections in the place of the old one. */
static tamis_status take_growth(struct body *b, const struct growth *g)
{
    struct section *s = b->sections;
    uint8_t *old = s[g->at].cells;
    if (g->parts == 1) {
        s[g->at] = g->to[0];
        tamis__free(b->memory, old);
        return TAMIS_OK;
    }
    s = tamis__alloc_unset(b->memory, (b->count + 1) * sizeof *s);
    if (s == NULL) return TAMIS_ENOMEM;
    memcpy(s, b->sections, g->at * sizeof *s);
    memcpy(s + g->at, g->to, 2 * sizeof *s);
    memcpy(s + g->at + 2, b->sections + g->at + 1, (b->count - g->at - 1) * sizeof *s);
    if (b->apart) tamis__free(b->memory, b->sections);
    b->sections = s;
    b->apart = true;
    b->count++;
    fill_directory(b->extra->directory, s, b->count);
    tamis__free(b->memory, old);
    return TAMIS_OK;
}

static tamis_status grow_as(struct body *b, uint32_t at, bool divided, tamis_hash h,
                            tamis__growing_storer *store)
{
    struct growth g = {.at = at, .store = store};
    plan_growth(b, &g, divided);
    tamis_status s = make_growth(b, &g, h);
    if (s == TAMIS_OK) s = take_growth(b, &g);
    if (s != TAMIS_OK) free_growth(b, &g);
    return s;
}

/* Keys that all belong to one half gain nothing from a division. */
tamis_status tamis__growing_enlarge(struct body *b, uint32_t at, tamis_hash h,
                                    tamis__growing_storer *store)
{
    const struct section *s = b->sections + at;
    const struct quotient t = tamis__growing_table(s);
    if (tamis__growing_level(s) >= MAX_LEVEL || tamis__quotient_entries(&t) < t.homes / 4)
        return TAMIS_EFULL;
    const bool divided = tamis__is_share(s) && s->m >= TAMIS__DIVIDED_FROM &&
                         s->variant < TAMIS__MOST_SHARE_BITS && b->count < TAMIS__MOST_SHARES;
    const tamis_status status = grow_as(b, at, divided, h, store);
    return divided && status == TAMIS_EFULL ? grow_as(b, at, false, h, store) : status;
}

static void free_shares(const struct body *b, struct section *s, uint16_t *directory)
{
    for (uint32_t i = 1; s != NULL && i <= TAMIS__FIRST_SHARES; i++)
        tamis__free(b->memory, s[i].cells);
    tamis__free(b->memory, s);
    tamis__free(b->memory, directory);
}

/* Empty shares, after the first table. */
static tamis_status make_shares(const struct body *b, struct section *s)
{
    const unsigned first = tamis__first_level(b);
    const unsigned level = first > FIRST_LEVEL ? first - TAMIS__OLDER_HEAD_START : 0;
    s[0] = b->sections[0];
    for (uint32_t i = 0; i < TAMIS__FIRST_SHARES; i++)
        tamis__set_share(&s[1 + i], s->k, first, TAMIS__SHARE_BITS,
                         tamis__share_homes(i, TAMIS__SHARE_BITS, level, 0));
    if (b->extra->max_bytes != 0 &&
        tamis__repeated_bytes(s, 1 + TAMIS__FIRST_SHARES, 1) > b->extra->max_bytes)
        return TAMIS_EFULL;
    for (uint32_t i = 1; i <= TAMIS__FIRST_SHARES; i++) {
        s[i].cells = tamis__alloc(b->memory, s[i].length);
        if (s[i].cells == NULL) return TAMIS_ENOMEM;
        s[i].room = s[i].length;
    }
    return TAMIS_OK;
}

/* Adds shares, to which this hash and all further ones go. */
static tamis_status open_shares(struct body *b, tamis_hash h)
{
    const uint32_t count = 1 + TAMIS__FIRST_SHARES;
    struct section *s = tamis__alloc(b->memory, count * sizeof *s);
    uint16_t *directory = tamis__alloc(b->memory, TAMIS__DIRECTORY_BYTES);
    const tamis_status status = s != NULL && directory != NULL ? make_shares(b, s) : TAMIS_ENOMEM;
    if (status != TAMIS_OK) {
        free_shares(b, s, directory);
        return status;
    }
    fill_directory(directory, s, count);
    summarize_first(s, directory);
    if (b->apart) tamis__free(b->memory, b->sections);
    b->sections = s;
    b->apart = true;
    b->count = count;
    b->extra->directory = directory;
    store_in(tamis__share_of(b, h), h); /* an empty table has room */
    return TAMIS_OK;
}

/* Adds a key that has no room otherwise. If there can be no shares, because of the base or because
 * they exceed the limit of the image, which only a few thousand keys do, the first table goes on
 * growing. */
static tamis_status make_room_for(struct body *b, tamis_hash h)
{
    if (tamis__has_shares(b))
        return tamis__growing_enlarge(b, (uint32_t)(tamis__share_of(b, h) - b->sections), h,
                                      store_in);
    const struct quotient t = tamis__growing_table(b->sections);
    if (tamis__growing_level(b->sections) < FIRST_LEVEL || b->sections->k > TAMIS__MOST_SHARED_BASE)
        return tamis__growing_enlarge(b, 0, h, store_in);
    /* Shares of the highest level alone would add more to the rate than the next table may. */
    if (tamis__growing_level(b->sections) + 1 >= MAX_LEVEL ||
        tamis__quotient_entries(&t) < t.homes / 4)
        return TAMIS_EFULL;
    const tamis_status status = open_shares(b, h);
    return status == TAMIS_EFULL ? tamis__growing_enlarge(b, 0, h, store_in) : status;
}

/* --- The verbs -------------------------------------------------------------------------------- */

/* The reference for the other kernels. */
TAMIS__GROWING_KERNEL(in_c, , tamis__popcount, tamis__select)

const struct growing_kernel *tamis__growing_kernel(void)
{
#ifdef TAMIS__GROWING_BITS
    const enum tamis__bit_skill bits = tamis__kernels()->bits;
    if (bits == TAMIS__BITS_PDEP) return &tamis__growing_pdep;
    if (bits == TAMIS__BITS_POPCNT) return &tamis__growing_popcnt;
#endif
    return &tamis__growing_in_c;
}

void tamis__growing_prefetch(const struct body *b, const struct batch *keys)
{
    tamis__growing_prefetch_keys(b, keys->hashes, keys->n);
}

static tamis_status growing_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                size_t *done)
{
    const struct growing_kernel *k = tamis__growing_kernel();
    tamis__growing_prefetch_for(b, keys);
    memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const enum tamis__added added = k->put(b, keys->hashes[i]);
        if (added == TAMIS__SEEN) seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
        if (added != TAMIS__NO_ROOM) continue;
        const tamis_status s = make_room_for(b, keys->hashes[i]);
        *done = i;
        if (s != TAMIS_OK) return s;
    }
    return TAMIS_OK;
}

void tamis__growing_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    tamis__growing_kernel()->query(b, keys, bits);
}

tamis_status tamis__growing_grow(tamis *t, tamis_hash h, bool *seen)
{
    return tamis__add_key(t, NULL, h, seen);
}

static const struct single *growing_single(const struct body *b)
{
    (void)b;
    return &tamis__growing_kernel()->single;
}

/* --- Cells ------------------------------------------------------------------------------------ */

const char *tamis__growing_wrong_cells(const struct body *b)
{
    const char *reason = NULL;
    for (uint32_t i = 0; i < b->count && reason == NULL; i++) {
        const struct quotient t = tamis__growing_table(b->sections + i);
        reason = tamis__quotient_wrong(&t);
    }
    return reason;
}

/* The bits of a fingerprint in a section `ago` levels ago. */
static unsigned bits_before(const struct section *s, unsigned first, unsigned ago)
{
    return tamis__is_share(s) ? tamis__share_bits(s->k, first, (s->m << s->variant) >> ago)
                              : tamis__first_bits(s->k, tamis__growing_level(s) - ago);
}

/* Estimates how many keys became these void entries. A key whose K bits were used up at level K has
 * 2^(level-K) copies now. K is at least that of the lowest level, and all keys with a K up to this
 * level were added to tables up to the last level with such a K. */
static struct estimate void_keys(const struct section *s, unsigned first, uint64_t copies)
{
    struct estimate e = {(double)copies, (double)copies, (double)copies};
    const unsigned level = tamis__growing_level(s);
    const unsigned lowest = tamis__is_share(s) ? TAMIS__SHARE_LEVEL : TAMIS__GROWING_MIN_LEVEL;
    if (level <= lowest) return e;
    const unsigned least = lowest + bits_before(s, first, level - lowest);
    if (level <= least) return e;
    unsigned ago = level - lowest;
    while (ago > 0 && level - ago + 1 + bits_before(s, first, ago - 1) <= level) ago--;
    const double most = (double)tamis__quotient_capacity(s->m >> ago, !tamis__is_share(s));
    e.low = ceil(ldexp(e.low, -(int)(level - least)));
    if (e.high > most && e.low <= most) e.value = e.high = most;
    return e;
}

/* Sums that the gauge needs of all sections. */
struct gauge_sums {
    unsigned first;   /* the level of the first table */
    bool own_entries; /* every add stored an entry, so that none was lost */
    double lost, variance;
    double more_lost; /* by which `lost` may be too low, apart from chance */
};

/* Computes rate and items of a section from the number of entries of each length, the oldest and
 * shortest first. The rate is exact: if entries lie within others, as they do where keys can be
 * removed, only the outer ones count. While it was r, r/(1-r) keys were lost as "seen" for each one
 * that was stored; within one length r rose in equal steps. Among void entries, those of the
 * oldest keys have the most copies, so that most keys met more than the mean r, but at most that at
 * the end. `before` is the rate of the first table, which all keys of a share were compared with as
 * well. Returns the rate within the section's share. */
static double gauge_section(const struct section *s, double before, struct gauge_sums *sums,
                            struct gauge *out)
{
    const struct quotient t = tamis__growing_table(s);
    uint64_t counts[64] = {0}, outer[64] = {0};
    double rate = 0;
    tamis__quotient_lengths(&t, counts);
    if (sums->own_entries) tamis__quotient_outermost(&t, outer);
    out->cells += s->m;
    for (unsigned l = 0; l < t.width; l++) {
        if (counts[l] == 0) continue;
        const double n = (double)counts[l], apart = sums->own_entries ? (double)outer[l] : n;
        const double part = ldexp(apart / (double)s->m, -(int)l);
        const struct estimate e =
            l == 0 ? void_keys(s, sums->first, counts[0]) : (struct estimate){n, n, n};
        const double r = fmin(before + rate + part / 2, 0.99); /* more means a hostile image */
        out->items.low += e.low;
        out->items.value += e.value;
        out->items.high += e.high;
        sums->lost += e.value * r / (1 - r);
        sums->variance += e.value * r / ((1 - r) * (1 - r));
        rate = fmin(rate + part, 1);
        out->hit += counts[l];
        if (l > 0) continue;
        const double end = fmin(before + rate, 0.99);
        sums->more_lost += e.high * end / (1 - end) - e.value * r / (1 - r);
    }
    return rate;
}

static void gauge_sections(const struct body *b, struct gauge_sums *sums, struct gauge *out)
{
    double before = 0;
    sums->first = tamis__first_level(b);
    for (uint32_t i = 0; i < b->count; i++) {
        const struct section *s = b->sections + i;
        const double rate = gauge_section(s, before, sums, out);
        if (!tamis__is_share(s)) before = rate;
        out->rate += ldexp(rate, -(int)s->variant);
    }
    out->rate = fmin(out->rate, 1);
}

void tamis__growing_gauge_own(const struct body *b, const struct body *other, double z,
                              struct gauge *out)
{
    struct gauge_sums sums = {.own_entries = true};
    (void)other;
    (void)z;
    gauge_sections(b, &sums, out);
}

static void growing_gauge(const struct body *b, const struct body *other, double z,
                          struct gauge *out)
{
    struct gauge_sums sums = {0};
    (void)other;
    gauge_sections(b, &sums, out);
    if (out->hit == 0) return;
    /* The 1 is for cases where so few are lost that the normal approximation does not hold: a
     * Poisson variable still stays below. */
    out->items.low += fmax(sums.lost - z * sqrt(sums.variance), 0);
    out->items.value += sums.lost;
    out->items.high += sums.lost + sums.more_lost + z * sqrt(sums.variance) + 1;
}

const struct kind tamis__growing = {
    .id = TAMIS_GROWING,
    .name = "growing",
    .traits = TAMIS__GROWS,
    .accepts = TAMIS__PLANS_ITEMS | TAMIS__PLANS_FPR | TAMIS_REMOVABLE,
    .variants = TAMIS__MOST_SHARE_BITS,
    .instead = TAMIS_BLOCKED,
    .solve = TAMIS__FULL(tamis__growing_solve),
    .layout = TAMIS__FULL(tamis__growing_layout),
    .wrong_shape = tamis__growing_wrong_shape,
    .wrong_cells = tamis__growing_wrong_cells,
    .ready = tamis__growing_ready,
    .prefetch = TAMIS__FULL(tamis__growing_prefetch),
    .add = TAMIS__FULL(growing_add),
    .query = tamis__growing_query,
    .single = TAMIS__SINGLE(growing_single),
    .gauge = growing_gauge,
};
