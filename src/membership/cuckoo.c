/* cuckoo: fingerprints of keys, which can be removed again (B. Fan, D. Andersen, M. Kaminsky, M.
 * Mitzenmacher, "Cuckoo filter: practically better than Bloom", 2014), in windows that overlap (J.
 * Schmitz, J. Zentgraf, S. Rahmann, "Smaller and more flexible cuckoo filters", 2025, arXiv
 * 2505.05847).
 *
 * The table has two halves of m/2 slots. A slot is empty or contains an entry: the f bits of a
 * fingerprint, never 0, and a place bit. Two neighbouring slots of one half are a window. A key has
 * a fingerprint and one window in each half, and its entry is in one of these four slots:
 *
 *     half 0   [ ][ ][ ][1][2][ ][ ][ ]       half 1   [ ][3][4][ ][ ][ ][ ][ ]
 *                     window 3, slots 3, 4                window 1, slots 9, 10
 *
 *     place 0: first slot of the entry's window        place 1: second slot of the entry's window
 *
 * The classic filter has buckets of four adjacent slots, and their number is a power of two. Here
 * every slot is in two windows, except those at the ends of a half; m is any even number; and fewer
 * slots are compared for the same load. The place bit identifies the window of an entry, and with
 * the fingerprint it also determines the window in the other half: its number is g(fingerprint)
 * minus the first, modulo the number of windows H = m/2 - 1. That is why an entry can move although
 * its key is long forgotten.
 *
 *     may_contain: is the fingerprint in one of the four slots, with the right place?
 *     remove: empty that slot
 *     add: into a free one of the four; if there is none, the entries there move, and those in
 *          their way
 *
 * The rate, exactly. The table distinguishes keys only by their class: the window in half 0 (H
 * equally likely ones) and the fingerprint (2^f - 1 of them). The class determines the other window
 * and every match. So a non-member gets a "maybe" exactly if a key in the table has the same class.
 * With C = H (2^f - 1) classes and n keys the rate is 1 - (1 - 1/C)^n, wherever the entries lie.
 * With the load a = n/m that is about 2a / (2^f - 1). tamis_info counts the classes that are
 * present.
 *
 * How full. For random windows of this form there is a threshold load, 0.9649: below it nearly
 * every set of keys can be placed, and above it nearly none. Near it, chains of moves grow long.
 * They are searched breadth first among up to 4096 entries, and nothing moves before the shortest
 * one is found. The first 61 entries are kept on the stack. More need 78 KB of memory for the
 * duration of the call; if that is refused and no shorter chain exists, the add fails with
 * TAMIS_ENOMEM. Without that limit of 4096, the share of adds that have to examine more than so
 * many entries is, in one table of m = 4,000,000, f = 10:
 *
 *     load         > 256     > 512     > 1024    > 2048    mean    > 4096, extrapolated
 *     0.935-0.940  2.6e-2    1.1e-3         -         -      50
 *     0.940-0.945  6.9e-2    9.7e-3    3.0e-4         -      76    3e-13
 *     0.945-0.950  1.7e-1    4.2e-2    3.5e-3    1.0e-4     126    8e-8
 *
 * So a plan fills to 0.945: a billion keys find their places, except with probability 2e-6. At 0.95
 * one table of a million keys in 2500 would fail, to save 0.5 % of space. The first add fails at a
 * load of 0.953 to 0.956 (m = 10^6 and 10^7, f = 6 to 16), and at 0.965 while m <= 4096, where the
 * search is complete.
 *
 * Small tables. The number of keys that fit has a standard deviation of 0.23 sqrt(m), and when
 * there are few windows, keys share them by chance. So a plan has n/0.945 + sqrt(n) + 24 slots.
 * Tables of random keys with f = 16 that need the stash: none of 30 million for n = 10, 6 of 10
 * million for n = 30, 1 of 3 million for n = 100, and none of 10^8/n for n = 300, 1000 and 10,000.
 *
 * Five keys of one class. A class has four slots, so the fifth copy of a key finds none. Neither
 * does the fifth of distinct keys that share their four slots. They go to the stash
 * (cuckoo_stash.c), which has 64 entries; with more, the add fails with TAMIS_EFULL. n keys contain
 * at most n^5 / 120 sets of five. Five keys share their window of half 0 with probability H^-4, and
 * that of half 1 if g has one value for all their fingerprints. Summed over the partitions of five
 * keys into groups with equal fingerprints (1, 15, 25, 10 and 1 of them into 1, ... 5 groups), with
 * p = 2^f - 1 and u = p/H, the probability of that is p^-4 (1 + 15u + 25u^2 + 10u^3 + u^4). The
 * product of the three is the expected number of keys in the stash: 0.0025 of 10^8 keys with 8
 * bits, and 6.8 of 10^9 keys with 6. The probability that they are more than 64 is the promise's
 * `overflow`, and a plan keeps it below 1e-4; so fingerprints of 6 bits suffice for 5 * 10^9 keys,
 * and longer ones are needed only for lower rates. In small tables, sets of six and more that have
 * too few slots add to it: up to four times as many keys were measured (f = 6, n = 200: 5e-5).
 * The stash takes all other keys that find no place as well, until it is full.
 *
 * Removing. As long as only members are removed, no member is missed: every member has its own
 * entry. Removing a key that was never added but appears present removes the entry of another key
 * of its class.
 *
 * Costs. A query reads two windows, which is two cache lines. An add to an empty table moves
 * nothing; when the plan is nearly full, an add examines 76 entries on average. While a plan of a
 * million keys is filled, one add in six searches, among 12 entries on average, and more than half
 * of the searches end within the first four. Searches take two thirds of the time, most of it for
 * branches and lines of memory that nobody can predict. To fill the emptier window first does not
 * help: there are as many searches, and they are longer. The keys and their order determine every
 * bit: there is no random choice. */
#include "cuckoo.h"
#include "../core/bitrows.h"
#include "../core/bulk.h"
#include "../core/error.h"
#include "../core/memory.h"
#include "../core/plan.h"
#include "../core/single.h"
#include "../image/image.h"

#include <math.h>

/* Bits of a fingerprint. Rates above those of 6 bits, 3 %, are beyond what a filter is used for.
 * So are those of more than 32. */
#define MIN_PRINT 6u
#define MAX_PRINT 32u
#define MIN_SLOTS 4u

/* --- Finding entries -------------------------------------------------------------------------- */

/* One load in nine spans two cache lines. */
TAMIS__PREFETCHES prefetch_window(const struct section *s, uint64_t start)
{
    const uint8_t *p = s->cells + (start * s->cell_bits >> 3);
    TAMIS__PREFETCH(p);
    TAMIS__PREFETCH(p + 7);
}

struct found {
    bool first,
        second; /* the slot at this place of the window has the fingerprint for the window */
};

TAMIS__SPECIALIZED struct found cuckoo_find(const struct section *s, uint64_t start, uint64_t print,
                                            bool short_slots)
{
    const struct cuckoo_pair pair = cuckoo_window(s, start, short_slots);
    return (struct found){pair.first == print << 1, pair.second == (print << 1 | 1)};
}

/* Bit p is set when the slot at place p of the window holds this fingerprint for this window. */
static unsigned matches(const struct section *s, uint64_t start, uint64_t print)
{
    const struct found f = cuckoo_find(s, start, print, cuckoo_short_slots(s));
    return (unsigned)f.first | (unsigned)f.second << 1;
}

TAMIS__SPECIALIZED bool cuckoo_holds(const struct section *s, const struct cuckoo_key *k,
                                     bool short_slots)
{
    const struct found a = cuckoo_find(s, k->start[0], k->print, short_slots);
    const struct found b = cuckoo_find(s, k->start[1], k->print, short_slots);
    return a.first | a.second | b.first | b.second;
}

static bool cuckoo_present(const struct body *b, const struct cuckoo_key *k)
{
    return cuckoo_holds(b->sections, k, cuckoo_short_slots(b->sections)) ||
           tamis__cuckoo_stashed(b, k) != 0;
}

/* Stores the entry of a key in the first free slot of its windows. False: there is none. Nobody can
 * predict which slots are free, so there is only one branch. */
TAMIS__SPECIALIZED bool store_at_once(struct section *s, const struct cuckoo_key *k,
                                      bool short_slots)
{
    const struct cuckoo_pair a = cuckoo_window(s, k->start[0], short_slots);
    const struct cuckoo_pair b = cuckoo_window(s, k->start[1], short_slots);
    const bool free[4] = {cuckoo_is_free(a.first), cuckoo_is_free(a.second),
                          cuckoo_is_free(b.first), cuckoo_is_free(b.second)};
    const bool in_a = free[0] | free[1], in_b = free[2] | free[3];
    if (!(in_a | in_b)) return false;
    const uint64_t first = in_a ? a.first : b.first, start = in_a ? k->start[0] : k->start[1];
    cuckoo_put_entry(s, cuckoo_place_of(start, !cuckoo_is_free(first)), k->print);
    return true;
}

static tamis_status store(struct body *b, const struct cuckoo_key *k, struct cuckoo_room *room)
{
    struct section *s = b->sections;
    if (store_at_once(s, k, cuckoo_short_slots(s))) return TAMIS_OK;
    const tamis_status status = tamis__cuckoo_make_room(s, k, room);
    return status == TAMIS_EFULL ? tamis__cuckoo_stash(b, k) : status;
}

/* --- Planning --------------------------------------------------------------------------------- */

#define PLANNED_LOAD 0.945
#define MOST_OVERFLOW 1e-4
/* The rate of a plan that has only slots, neither a rate nor bytes. */
#define USUAL_FPR 0.01

static double slots_for(double items)
{
    return items / PLANNED_LOAD + sqrt(items) + 24;
}

static double classes(double m, uint32_t print_bits)
{
    return (m / 2 - 1) * (ldexp(1, (int)print_bits) - 1);
}

/* The expected number of keys that have no slot because four others have theirs, or an upper bound
 * of it. */
static double cuckoo_excess(double m, uint32_t print_bits, double items)
{
    const double u = (ldexp(1, (int)print_bits) - 1) / (m / 2 - 1);
    const double of_class = items / classes(m, print_bits);
    const double pairs = of_class * of_class;
    return items / 120 * pairs * pairs * (1 + u * (15 + u * (25 + u * (10 + u))));
}

/* The probability that the stash has no room for them: that of more than S for the Poisson
 * distribution with mean x. Its first term is e^-x x^(S+1) / (S+1)!, and each further one is less
 * than x / (S+2) of the one before. */
static double cuckoo_overflow(double m, uint32_t print_bits, double items)
{
    const double x = cuckoo_excess(m, print_bits, items), n = TAMIS__CUCKOO_STASH + 1;
    if (!(x > 0)) return 0;
    if (x >= n) return 1;
    const double chance = exp(n * log(x) - x - tamis__ln_factorial(n)) / (1 - x / (n + 1));
    return chance < 1 ? chance : 1;
}

static double cuckoo_rate(double m, uint32_t print_bits, double items)
{
    if (m < slots_for(items) || cuckoo_overflow(m, print_bits, items) > MOST_OVERFLOW) return 1;
    return -expm1(items * log1p(-1 / classes(m, print_bits)));
}

/* The size in bits: the slots and the spare word. */
static uint64_t cuckoo_cells(uint64_t m, uint32_t print_bits)
{
    return m * (print_bits + 1) + 64;
}

/* The longest fingerprints that m slots can have in an image of so many bytes, or 0 if there are
 * too few bytes. A solved plan determines its fingerprints this way. */
static uint32_t print_bits_for(uint64_t m, uint64_t bytes)
{
    uint32_t f = MAX_PRINT;
    while (f >= MIN_PRINT && tamis__image_bytes(tamis__cell_bytes(cuckoo_cells(m, f)), 1) > bytes)
        f--;
    return f >= MIN_PRINT ? f : 0;
}

static bool have_slots(void *m, uint64_t items)
{
    return slots_for((double)items) <= (double)*(const uint64_t *)m;
}

static uint64_t cuckoo_most_items(uint64_t m)
{
    return tamis__largest(0, m + 1, have_slots, &m);
}

/* The fingerprints of a plan that has its number of slots. */
static uint32_t print_bits_of(const tamis_plan *p)
{
    if (p->bytes != 0) return print_bits_for(p->m, p->bytes);
    const double items = (double)(p->items != 0 ? p->items : cuckoo_most_items(p->m));
    const double fpr = p->fpr != 0 ? p->fpr : USUAL_FPR;
    uint32_t f = MIN_PRINT;
    while (f < MAX_PRINT && !(cuckoo_rate((double)p->m, f, items) <= fpr)) f++;
    /* The bits that fill up the last word cost nothing. */
    return print_bits_for(p->m, tamis__image_bytes(tamis__cell_bytes(cuckoo_cells(p->m, f)), 1));
}

/* The planner's k is the length of fingerprints here. It is not kept in the plan, where m and bytes
 * determine it. */
static tamis_status cuckoo_solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why)
{
    const struct sizing s = {.step = 2,
                             .k_min = MIN_PRINT,
                             .k_max = MAX_PRINT,
                             .rate = cuckoo_rate,
                             .cells = cuckoo_cells};
    tamis_plan p = *plan;
    tamis_status status = TAMIS_OK;
    if (plan->k != 0 && plan->k != TAMIS__CUCKOO_WINDOWS)
        return tamis__fail(why, TAMIS_EINVAL, "a key has 2 windows in a cuckoo filter, not k = %u",
                           plan->k);
    if (plan->m > TAMIS__MAX_CELLS / (MIN_PRINT + 1)) /* the solver checks the rest */
        return tamis__fail(why, TAMIS_EINVAL, "more than 2^52 bits are not supported");
    const double least = slots_for(plan->items != 0 ? (double)plan->items : 1);
    if (plan->m != 0 && (double)plan->m < least)
        return tamis__fail(why, TAMIS_EINVAL, "%llu slots are too few, the items need %.0f",
                           (unsigned long long)plan->m, ceil(least));
    p.k = 0;
    if (p.m == 0) status = tamis__solve_shape(&p, &s, promise, why);
    if (status != TAMIS_OK && plan->fpr == 0)
        return tamis__fail(why, status, "%llu bytes are too few for a cuckoo filter of %llu items",
                           (unsigned long long)p.bytes, (unsigned long long)p.items);
    if (status != TAMIS_OK) return status;
    p.fpr = plan->fpr;
    p.k = print_bits_of(&p);
    if (p.k == 0)
        return tamis__fail(why, TAMIS_EINVAL, "%llu bytes are too few for %llu slots",
                           (unsigned long long)p.bytes, (unsigned long long)p.m);
    status = tamis__solve_shape(&p, &s, promise, why);
    if (status != TAMIS_OK) return status;
    promise->overflow = cuckoo_overflow((double)p.m, p.k, (double)p.items);
    promise->fpr_asymptotic = 2 * (double)p.items / (double)p.m / (ldexp(1, (int)p.k) - 1);
    p.k = TAMIS__CUCKOO_WINDOWS;
    *plan = p;
    return TAMIS_OK;
}

static uint64_t section_bytes(uint64_t m, uint32_t cell_bits)
{
    return tamis__cell_bytes(m * cell_bits) + 8;
}

static uint32_t cuckoo_layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 1;
    const uint32_t cell_bits = print_bits_for(plan->m, plan->bytes) + 1;
    *out = tamis__bit_section(TAMIS_CUCKOO, TAMIS__CUCKOO_WINDOWS, plan->m, 0);
    out->cell_bits = (uint16_t)cell_bits;
    out->length = section_bytes(plan->m, cell_bits);
    return 1;
}

static const char *cuckoo_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (b->count > 2) return "this kind has slots and at most a stash";
    if (s->role != TAMIS__ROLE_CELLS) return "the first section must hold the slots";
    if (s->kind != TAMIS_CUCKOO) return "the section is not of this kind";
    if (s->cell_bits < MIN_PRINT + 1 || s->cell_bits > MAX_PRINT + 1)
        return "the slots have a wrong size";
    if (s->k != TAMIS__CUCKOO_WINDOWS) return "k is not 2";
    if (s->m < MIN_SLOTS || s->m % 2 != 0 || s->m > TAMIS__MAX_CELLS / s->cell_bits)
        return "the number of slots is odd or out of range";
    if (s->length != section_bytes(s->m, s->cell_bits))
        return "the section's length does not fit its slots";
    return cuckoo_has_stash(b) ? tamis__cuckoo_wrong_stash_shape(s + 1) : NULL;
}

static const char *cuckoo_wrong_cells(const struct body *b)
{
    const char *wrong =
        tamis__wrong_spare_bits(b->sections, b->sections->m * b->sections->cell_bits);
    return wrong != NULL ? wrong : tamis__cuckoo_wrong_stash(b);
}

/* --- The verbs -------------------------------------------------------------------------------- */

TAMIS__PREFETCHES prefetch_windows(const struct section *s, const struct cuckoo_key *k)
{
    for (unsigned j = 0; j < TAMIS__CUCKOO_WINDOWS; j++) prefetch_window(s, k->start[j]);
}

TAMIS__PREFETCHES prefetch_key(const struct section *s, tamis_hash h)
{
    const struct cuckoo_key k = cuckoo_aim(s, h);
    prefetch_windows(s, &k);
}

static void cuckoo_prefetch(const struct body *b, const struct batch *keys)
{
    for (size_t i = 0; i < keys->n; i++) prefetch_key(b->sections, keys->hashes[i]);
}

/* Nobody can predict where a search ends, so the processor cannot look beyond it by itself. The
 * windows of a key are prefetched this many keys before it is added, in tables of any size. */
#define KEYS_AHEAD 16u

TAMIS__SPECIALIZED struct cuckoo_key aim_ahead(const struct section *s, tamis_hash h)
{
    const struct cuckoo_key k = cuckoo_aim(s, h);
    prefetch_windows(s, &k);
    return k;
}

static tamis_status cuckoo_add(struct body *b, const struct batch *keys, uint8_t *seen,
                               size_t *done)
{
    struct cuckoo_room room = {.memory = b->memory};
    struct cuckoo_key next[KEYS_AHEAD]; /* key i is in i % KEYS_AHEAD */
    tamis_status status = TAMIS_OK;
    const size_t n = keys->n;
    if (seen != NULL) memset(seen, 0, (n + 7) / 8);
    for (size_t i = 0; i < KEYS_AHEAD && i < n; i++)
        next[i] = aim_ahead(b->sections, keys->hashes[i]);
    for (size_t i = 0; i < n && status == TAMIS_OK; i++) {
        const struct section *s = b->sections; /* the stash moves it */
        const struct cuckoo_key k = next[i % KEYS_AHEAD];
        if (i + KEYS_AHEAD < n)
            next[i % KEYS_AHEAD] = aim_ahead(s, keys->hashes[i + KEYS_AHEAD]);
        else if (TAMIS__AHEAD(keys->ahead))
            prefetch_key(s, keys->ahead[i + KEYS_AHEAD - n]);
        const bool known = seen != NULL && cuckoo_present(b, &k);
        *done = i;
        status = store(b, &k, &room);
        if (known && status == TAMIS_OK) seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
    }
    tamis__free(room.memory, room.many);
    return status;
}

/* The answers of eight keys or less, of which these bits are known already. */
static TAMIS__APART unsigned ask_stash(const struct body *b, const tamis_hash *h, size_t n,
                                       unsigned answers)
{
    for (size_t j = 0; j < n; j++) {
        const struct cuckoo_key k = cuckoo_aim(b->sections, h[j]);
        if ((answers >> j & 1) == 0 && tamis__cuckoo_stashed(b, &k) != 0) answers |= 1u << j;
    }
    return answers;
}

static void cuckoo_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct section s =
        *b->sections; /* a copy, because writes to `bits` might alias the section itself */
    for (size_t i = 0; i < keys->n; i += 8) {
        const size_t n = keys->n - i < 8 ? keys->n - i : 8;
        unsigned answers = 0;
        for (size_t j = 0; j < n; j++) {
            if (TAMIS__AHEAD(keys->ahead)) prefetch_key(&s, keys->ahead[i + j]);
            const struct cuckoo_key k = cuckoo_aim(&s, keys->hashes[i + j]);
            answers |= (unsigned)cuckoo_holds(&s, &k, cuckoo_short_slots(&s)) << j;
        }
        if (cuckoo_has_stash(b)) answers = ask_stash(b, keys->hashes + i, n, answers);
        bits[i / 8] = (uint8_t)answers;
    }
}

static TAMIS__APART bool single_cuckoo_stashed(const tamis *t, tamis_hash h)
{
    const struct cuckoo_key k = cuckoo_aim(t->body.sections, h);
    return cuckoo_present(&t->body, &k);
}

TAMIS__SPECIALIZED bool single_cuckoo_has(const tamis *t, tamis_hash h)
{
    const struct section *s = t->body.sections;
    if (cuckoo_has_stash(&t->body)) return single_cuckoo_stashed(t, h);
    const struct cuckoo_key k = cuckoo_aim(s, h);
    return cuckoo_holds(s, &k, true);
}

static TAMIS__APART tamis_status single_cuckoo_squeeze(tamis *t, struct cuckoo_key k, bool *seen)
{
    struct cuckoo_room room = {.memory = t->body.memory};
    const bool known = seen != NULL && cuckoo_present(&t->body, &k);
    const tamis_status status = store(&t->body, &k, &room);
    tamis__free(room.memory, room.many);
    if (seen != NULL) *seen = known && status == TAMIS_OK;
    return status == TAMIS_OK ? tamis__count_one(t, false, NULL) : status;
}

/* Most keys find a free slot, and few filters have a stash. */
TAMIS__SPECIALIZED tamis_status single_cuckoo_put(tamis *t, tamis_hash h, bool *seen)
{
    struct section *s = t->body.sections;
    const struct cuckoo_key k = cuckoo_aim(s, h);
    const bool known = seen != NULL && cuckoo_holds(s, &k, true);
    if (cuckoo_has_stash(&t->body) || !store_at_once(s, &k, true))
        return single_cuckoo_squeeze(t, k, seen);
    if (seen != NULL) *seen = known;
    return tamis__count_one(t, false, NULL);
}

TAMIS__ASK_SINGLE_BY(cuckoo, , single_cuckoo_has)
TAMIS__ADD_SINGLE_BY(cuckoo, , single_cuckoo_put)

static const struct single *cuckoo_single(const struct body *b)
{
    static const struct single one = {.ask = single_cuckoo_ask,
                                      .add = single_cuckoo_add,
                                      .ask_hash = single_cuckoo_ask_hash,
                                      .add_hash = single_cuckoo_add_hash};
    return cuckoo_short_slots(b->sections) ? &one : NULL;
}

static tamis_status take_out(struct body *b, tamis_hash h)
{
    struct section *s = b->sections;
    const struct cuckoo_key k = cuckoo_aim(s, h);
    if (tamis__cuckoo_unstash(b, &k)) return TAMIS_OK;
    for (unsigned j = 0; j < TAMIS__CUCKOO_WINDOWS; j++) {
        const unsigned found = matches(s, k.start[j], k.print);
        if (found == 0) continue;
        cuckoo_put(s, k.start[j] + !(found & 1), 0);
        return TAMIS_OK;
    }
    return TAMIS_EABSENT;
}

static void cuckoo_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    const struct section *s = b->sections;
    for (size_t i = 0; i < keys->n; i++) {
        if (TAMIS__AHEAD(keys->ahead)) prefetch_key(s, keys->ahead[i]);
        const struct cuckoo_key k = cuckoo_aim(s, keys->hashes[i]);
        const unsigned first = matches(s, k.start[0], k.print);
        out[i] = tamis__popcount(first | matches(s, k.start[1], k.print) << 2) +
                 (int64_t)tamis__cuckoo_stashed(b, &k);
    }
}

/* Whether an entry is the first of its class, in the order of the slots. */
static bool is_first(const struct section *s, uint64_t i, uint64_t v)
{
    const uint64_t start = cuckoo_start_of(i, v), print = v >> 1;
    if (!cuckoo_is_window(s, start)) return false; /* no key finds it */
    if (i != start && (matches(s, start, print) & 1) != 0) return false;
    return i < s->m / 2 || matches(s, cuckoo_other(s, start, print), print) == 0;
}

static void cuckoo_gauge(const struct body *b, const struct body *with, double z, struct gauge *out)
{
    const struct section *s = b->sections;
    uint64_t known = 0; /* classes that are present */
    (void)with;
    (void)z;
    for (uint64_t i = 0; i < s->m; i++) {
        const uint64_t v = cuckoo_get(s, i);
        if (cuckoo_is_free(v)) continue;
        out->hit++;
        known += is_first(s, i, v);
    }
    uint64_t stashed = 0;
    for (uint64_t i = 0; cuckoo_has_stash(b) && i < s[1].m; i++) {
        const struct cuckoo_key k = tamis__cuckoo_stash_key(b, i);
        stashed += tamis__cuckoo_stashed(b, &k);
        known += !cuckoo_holds(s, &k, cuckoo_short_slots(s));
    }
    const double n = (double)(out->hit + stashed);
    out->cells = s->m;
    out->items = (struct estimate){n, n, n};
    out->rate = (double)known / classes((double)s->m, s->cell_bits - 1u);
}

static size_t cuckoo_cells_of(const struct body *b, tamis_hash h, uint64_t *out, size_t max)
{
    const struct cuckoo_key k = cuckoo_aim(b->sections, h);
    for (size_t j = 0; j < 2 * TAMIS__CUCKOO_WINDOWS && j < max; j++)
        out[j] = k.start[j / 2] + j % 2;
    return 2 * TAMIS__CUCKOO_WINDOWS;
}

static void cuckoo_clear(struct body *b)
{
    memset(b->sections->cells, 0, (size_t)b->sections->length);
    tamis__cuckoo_drop_stash(b);
}

const struct kind tamis__cuckoo = {
    .id = TAMIS_CUCKOO,
    .name = "cuckoo",
    .traits = TAMIS__MULTISET,
    .accepts = TAMIS__PLANS_FILTER,
    .roles = TAMIS__ROLE_STASH,
    .instead = TAMIS_COUNTING,
    .solve = TAMIS__FULL(cuckoo_solve),
    .layout = TAMIS__FULL(cuckoo_layout),
    .wrong_shape = cuckoo_wrong_shape,
    .wrong_cells = cuckoo_wrong_cells,
    .prefetch = TAMIS__FULL(cuckoo_prefetch),
    .add = TAMIS__FULL(cuckoo_add),
    .query = cuckoo_query,
    .single = TAMIS__SINGLE(cuckoo_single),
    .remove = TAMIS__FULL(take_out),
    .count = TAMIS__FULL(cuckoo_count),
    .clear = TAMIS__FULL(cuckoo_clear),
    .gauge = cuckoo_gauge,
    .cells_of = cuckoo_cells_of,
};
