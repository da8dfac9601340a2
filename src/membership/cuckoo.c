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
 * one is found. The first 64 entries are kept on the stack. More need 72 KB of memory for the
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
 * Failures among tables of random keys with f = 16: none of 30 million for n = 10, 6 of 10 million
 * for n = 30, 1 of 3 million for n = 100, and none of 10^8/n for n = 300, 1000 and 10,000.
 * tests/long/test_long_cuckoo.c repeats the measurement.
 *
 * Five keys of one class. A class has four slots, so the fifth copy of a key is refused
 * (TAMIS_EFULL), and so is the fifth of distinct keys that share their four slots. n keys contain
 * at most n^5 / 120 sets of five. Five keys share their window of half 0 with probability H^-4, and
 * that of half 1 if g has one value for all their fingerprints. Summed over the partitions of five
 * keys into groups with equal fingerprints (1, 15, 25, 10 and 1 of them into 1, ... 5 groups), with
 * p = 2^f - 1 and u = p/H, the probability of that is p^-4 (1 + 15u + 25u^2 + 10u^3 + u^4). A plan
 * keeps the product of the three, which is the promise's `overflow`, below 1e-4, if necessary with
 * longer fingerprints than the rate requires: 6 bits suffice for 14 thousand keys, 7 bits for 250
 * thousand, 8 bits for 4 million, 9 bits for 60 million, 10 bits for 10^9. In small tables, sets of
 * six and more that have too few slots add to it: up to four times as much was measured (f = 6, n =
 * 200: 5e-5).
 *
 * Removing. As long as only members are removed, no member is missed: every member has its own
 * entry. Removing a key that was never added but appears present removes the entry of another key
 * of its class.
 *
 * Costs. A query reads two windows, which is two cache lines. An add to an empty table moves
 * nothing; when the plan is nearly full, an add examines 76 entries on average. The keys and their
 * order determine every bit: there is no random choice. */
#include "../core/bitrows.h"
#include "../core/bulk.h"
#include "../core/error.h"
#include "../core/memory.h"
#include "../core/plan.h"
#include "../core/single.h"
#include "../image/image.h"

#include <math.h>

/* Bits of a fingerprint. Fewer than 6 fail too often (above); more than 32 are beyond what a filter
 * is used for. */
#define MIN_PRINT 6u
#define MAX_PRINT 32u
#define WINDOWS 2u /* windows of a key */
#define MIN_SLOTS 4u
/* A window of two slots of up to this many bits fits in eight bytes, wherever in a byte it
 * begins. */
#define ONE_LOAD_BITS 28u

/* --- Slots ------------------------------------------------------------------------------------ */

static uint64_t slot_mask(const struct section *s)
{
    return (UINT64_C(1) << s->cell_bits) - 1;
}

/* Returns at least 57 bits from slot i on. The spare word after the slots keeps the load inside the
 * section. */
static uint64_t bits_from(const struct section *s, uint64_t i)
{
    const uint64_t at = tamis__opaque(i * s->cell_bits);
    return tamis__get64(s->cells + (at >> 3)) >> (at & 7);
}

static uint64_t cuckoo_get(const struct section *s, uint64_t i)
{
    return bits_from(s, i) & slot_mask(s);
}

static void cuckoo_put(struct section *s, uint64_t i, uint64_t v)
{
    const uint64_t at = i * s->cell_bits;
    uint8_t *p = s->cells + (at >> 3);
    const uint64_t others = tamis__get64(p) & ~(slot_mask(s) << (at & 7));
    tamis__put64(p, others | v << (at & 7));
}

/* One load in nine spans two cache lines. */
TAMIS__PREFETCHES prefetch_window(const struct section *s, uint64_t start)
{
    const uint8_t *p = s->cells + (start * s->cell_bits >> 3);
    TAMIS__PREFETCH(p);
    TAMIS__PREFETCH(p + 7);
}

static bool is_free(uint64_t slot)
{
    return slot >> 1 == 0;
}

/* --- Keys ------------------------------------------------------------------------------------- */

struct key {
    uint64_t print;
    uint64_t start[WINDOWS]; /* first slots of its windows, one in each half */
};

static uint64_t windows_in_half(uint64_t m)
{
    return m / 2 - 1;
}

/* Whether a window begins here. None begins at the last slot of a half, which has no second one. */
static bool is_window(const struct section *s, uint64_t start)
{
    return start < s->m - 1 && start != s->m / 2 - 1;
}

/* The window that the entry of slot i claims to be in. In a hostile image there may be no such
 * window. */
static uint64_t cuckoo_start_of(uint64_t i, uint64_t slot)
{
    return i - (slot & 1);
}

/* The number of the window in the other half. The fingerprint determines the sum of both numbers,
 * so one function leads there and back. */
static uint64_t partner(uint64_t windows, uint64_t number, uint64_t print)
{
    uint64_t x = print * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    const uint64_t sum = tamis__mulhi(x, windows);
    return sum - number + (sum < number ? windows : 0);
}

static uint64_t other(const struct section *s, uint64_t start, uint64_t print)
{
    const uint64_t half = s->m / 2, windows = windows_in_half(s->m);
    return start < half ? half + partner(windows, start, print)
                        : partner(windows, start - half, print);
}

static struct key cuckoo_aim(const struct section *s, tamis_hash h)
{
    struct key k;
    k.print = 1 + tamis__mulhi(h.lo, slot_mask(s) >> 1);
    k.start[0] = tamis__mulhi(h.hi, windows_in_half(s->m));
    k.start[1] = s->m / 2 + partner(windows_in_half(s->m), k.start[0], k.print);
    return k;
}

/* The two slots of a window. */
struct cuckoo_pair {
    uint64_t first, second;
};

/* short_slots: whether one load is enough; a constant where speed matters. */
TAMIS__SPECIALIZED struct cuckoo_pair cuckoo_window(const struct section *s, uint64_t start,
                                                    bool short_slots)
{
    const uint64_t mask = slot_mask(s), first = bits_from(s, start);
    const uint64_t second = short_slots ? first >> s->cell_bits : bits_from(s, start + 1);
    return (struct cuckoo_pair){first & mask, second & mask};
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

static bool has_short_slots(const struct section *s)
{
    return s->cell_bits <= ONE_LOAD_BITS;
}

/* Bit p is set when the slot at place p of the window holds this fingerprint for this window. */
static unsigned matches(const struct section *s, uint64_t start, uint64_t print)
{
    const struct found f = cuckoo_find(s, start, print, has_short_slots(s));
    return (unsigned)f.first | (unsigned)f.second << 1;
}

TAMIS__SPECIALIZED bool cuckoo_holds(const struct section *s, const struct key *k, bool short_slots)
{
    const struct found a = cuckoo_find(s, k->start[0], k->print, short_slots);
    const struct found b = cuckoo_find(s, k->start[1], k->print, short_slots);
    return a.first | a.second | b.first | b.second;
}

static bool cuckoo_present(const struct section *s, const struct key *k)
{
    return cuckoo_holds(s, k, has_short_slots(s));
}

/* A place for an entry: a slot, and whether it is the first or the second of the entry's window. */
struct cuckoo_place {
    uint64_t slot_and_bit;
};

static struct cuckoo_place cuckoo_place_of(uint64_t start, uint64_t bit)
{
    return (struct cuckoo_place){(start + bit) << 1 | bit};
}

static uint64_t cuckoo_slot_of(struct cuckoo_place at)
{
    return at.slot_and_bit >> 1;
}

/* --- Making room ------------------------------------------------------------------------------ */

/* Slots whose entries would have to move, breadth first. */
#define MOST_STEPS 4096u
#define FEW_STEPS 64u
#define NOTES (8 * MOST_STEPS)
/* Whether the window has a free slot, and the first of them. */
TAMIS__SPECIALIZED bool hole_in(const struct section *s, uint64_t start, bool short_slots,
                                struct cuckoo_place *hole)
{
    const struct cuckoo_pair pair = cuckoo_window(s, start, short_slots);
    *hole = cuckoo_place_of(start, !is_free(pair.first));
    return is_free(pair.first) | is_free(pair.second);
}

/* A step leads to a slot that holds an entry. `at` is 4 slot + 2 own + place: `place` is the one of
 * the window through which the search reached the slot, and `own` that of the entry in it. */
struct step {
    uint64_t at;
    uint64_t other; /* the first slot of the entry's other window */
};

struct many_steps {
    struct step steps[MOST_STEPS];
    uint16_t parent[MOST_STEPS];
};

/* Memory for long searches, allocated by the first search of a batch that needs it. */
struct room {
    const tamis_memory *memory;
    struct many_steps *many;
};

struct search {
    uint32_t n, most;
    bool dropped; /* a step was not noted because there were `most` */
    struct step *steps;
    /* The index of the step whose entry would move here. The first steps, to the slots where the
     * new key would go, are their own parents. */
    uint16_t *parent;
    /* Bit i of the notes is set if there is a step to a slot with this number modulo NOTES. That is
     * exact in small tables; in larger ones a few slots appear to be noted that are not, and are
     * left out. Most searches are short, so the notes are not cleared: words that are not in use
     * may have any content. */
    uint64_t *used, *notes;
};

static uint64_t step_slot(const struct step *step)
{
    return step->at >> 2;
}

/* The first slot of the window that the entry is in. */
static uint64_t step_start(const struct step *step)
{
    return step_slot(step) - (step->at >> 1 & 1);
}

static struct cuckoo_place step_place(const struct step *step)
{
    return (struct cuckoo_place){step_slot(step) << 1 | (step->at & 1)};
}

static void cuckoo_put_entry(struct section *s, struct cuckoo_place at, uint64_t print)
{
    cuckoo_put(s, cuckoo_slot_of(at), print << 1 | (at.slot_and_bit & 1));
}

/* Notes a slot with entry v, unless it is already noted or its entry cannot move. Returns whether
 * it was noted and the entry could move to a free slot. */
TAMIS__SPECIALIZED bool note(const struct section *s, struct search *q, struct cuckoo_place at,
                             uint64_t v, uint32_t parent, bool short_slots)
{
    const uint64_t slot = cuckoo_slot_of(at), start = cuckoo_start_of(slot, v);
    const uint64_t word = slot % NOTES / 64, group = word / 64;
    const uint64_t in_use = q->used[group] >> word % 64 & 1;
    const uint64_t notes = q->notes[word] & (0 - in_use);
    const uint64_t bit = UINT64_C(1) << slot % 64;
    if ((notes & bit) != 0 || !is_window(s, start)) return false;
    if (q->n == q->most) {
        q->dropped = true;
        return false;
    }
    q->notes[word] = notes | bit;
    q->used[group] |= UINT64_C(1) << word % 64;
    const uint64_t over = other(s, start, v >> 1);
    q->steps[q->n] = (struct step){slot << 2 | (v & 1) << 1 | (at.slot_and_bit & 1), over};
    q->parent[q->n] = (uint16_t)parent;
    q->n++;
    const bool beside = is_free(cuckoo_get(s, slot + 1 - 2 * (v & 1)));
    const struct cuckoo_pair pair = cuckoo_window(s, over, short_slots);
    return beside | is_free(pair.first) | is_free(pair.second);
}

/* Notes where the entry of step i could go. All these slots are full, and its own slot is noted. If
 * it is in the window through which the search reached it, so is the other slot of that one. */
TAMIS__SPECIALIZED bool note_next(const struct section *s, struct search *q, uint32_t i,
                                  bool short_slots)
{
    const struct step step = q->steps[i];
    const uint64_t start = step_start(&step), beside = ~step.at >> 1 & 1;
    const struct cuckoo_pair pair = cuckoo_window(s, step.other, short_slots);
    if ((step.at & 1) == beside &&
        note(s, q, cuckoo_place_of(start, beside), cuckoo_get(s, start + beside), i, short_slots))
        return true;
    return note(s, q, cuckoo_place_of(step.other, 0), pair.first, i, short_slots) ||
           note(s, q, cuckoo_place_of(step.other, 1), pair.second, i, short_slots);
}

/* Returns memory for long searches, or NULL. */
static TAMIS__APART struct many_steps *more_steps(struct room *room)
{
    if (room->many == NULL) room->many = tamis__alloc_unset(room->memory, sizeof *room->many);
    return room->many;
}

/* Finds the step from which the nearest free slot is reached, and notes it last. Returns false if
 * there is none.
 *
 * The steps are taken in the order in which they were noted, so the first that was noted and ends
 * at a free slot is the one to find. It is found before its turn comes: a step is examined when it
 * is noted, and not only once all steps before it have noted where they lead, which are three times
 * as many. */
TAMIS__SPECIALIZED bool search(const struct section *s, struct search *q, const struct key *k,
                               struct room *room, bool short_slots)
{
    for (unsigned j = 0; j < 2 * WINDOWS; j++) {
        const struct cuckoo_place at = cuckoo_place_of(k->start[j / 2], j % 2);
        if (note(s, q, at, cuckoo_get(s, cuckoo_slot_of(at)), q->n, short_slots)) return true;
    }
    for (uint32_t i = 0; i < q->n; i++) {
        if (q->n + 3 > q->most && q->most == FEW_STEPS) {
            struct many_steps *many = more_steps(room);
            if (many != NULL) {
                q->steps = memcpy(many->steps, q->steps, FEW_STEPS * sizeof *q->steps);
                q->parent = memcpy(many->parent, q->parent, FEW_STEPS * sizeof *q->parent);
                q->most = MOST_STEPS;
            }
        }
        if (note_next(s, q, i, short_slots)) return true;
    }
    return false;
}

/* Finds the shortest chain of entries that make room for each other, and moves them, the far end
 * first. Nothing moves before the chain is found. If memory is refused, a chain that is found all
 * the same is the one that would have been found otherwise, since slots are examined in the same
 * order. */
TAMIS__SPECIALIZED tamis_status cuckoo_make_room(struct section *to, const struct key *k,
                                                 struct room *room, bool short_slots)
{
    const struct section s = *to; /* a copy, because writes to the notes might alias the section */
    struct step few[FEW_STEPS];
    uint16_t parents[FEW_STEPS];
    uint64_t used[NOTES / 64 / 64] = {0}, notes[NOTES / 64];
    struct search q = {
        .most = FEW_STEPS, .steps = few, .parent = parents, .used = used, .notes = notes};
    if (!search(&s, &q, k, room, short_slots))
        return q.dropped && q.most == FEW_STEPS ? TAMIS_ENOMEM : TAMIS_EFULL;
    uint32_t i = q.n - 1;
    struct cuckoo_place hole;
    if (!hole_in(&s, step_start(&q.steps[i]), short_slots, &hole))
        hole_in(&s, q.steps[i].other, short_slots, &hole);
    for (;;) {
        cuckoo_put_entry(to, hole, cuckoo_get(&s, step_slot(&q.steps[i])) >> 1);
        hole = step_place(&q.steps[i]);
        if (q.parent[i] == i) break;
        i = q.parent[i];
    }
    cuckoo_put_entry(to, hole, k->print);
    return TAMIS_OK;
}

static TAMIS__APART tamis_status make_room_short(struct section *s, const struct key *k,
                                                 struct room *room)
{
    return cuckoo_make_room(s, k, room, true);
}

static TAMIS__APART tamis_status make_room_long(struct section *s, const struct key *k,
                                                struct room *room)
{
    return cuckoo_make_room(s, k, room, false);
}

/* Stores the entry of a key in the first free slot of its windows. False: there is none. Nobody can
 * predict which slots are free, so there is only one branch. */
TAMIS__SPECIALIZED bool store_at_once(struct section *s, const struct key *k, bool short_slots)
{
    const struct cuckoo_pair a = cuckoo_window(s, k->start[0], short_slots);
    const struct cuckoo_pair b = cuckoo_window(s, k->start[1], short_slots);
    const bool in_a = is_free(a.first) | is_free(a.second);
    if (!(in_a | is_free(b.first) | is_free(b.second))) return false;
    const uint64_t first = in_a ? a.first : b.first, start = in_a ? k->start[0] : k->start[1];
    cuckoo_put_entry(s, cuckoo_place_of(start, !is_free(first)), k->print);
    return true;
}

static tamis_status store(struct section *s, const struct key *k, struct room *room)
{
    const bool short_slots = has_short_slots(s);
    if (store_at_once(s, k, short_slots)) return TAMIS_OK;
    return short_slots ? make_room_short(s, k, room) : make_room_long(s, k, room);
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

/* The probability that five keys share their four slots, or an upper bound of it. */
static double cuckoo_overflow(double m, uint32_t print_bits, double items)
{
    const double u = (ldexp(1, (int)print_bits) - 1) / (m / 2 - 1);
    const double of_class = items / classes(m, print_bits);
    const double pairs = of_class * of_class;
    const double chance = items / 120 * pairs * pairs * (1 + u * (15 + u * (25 + u * (10 + u))));
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
    if (plan->k != 0 && plan->k != WINDOWS)
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
    p.k = WINDOWS;
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
    *out = tamis__bit_section(TAMIS_CUCKOO, WINDOWS, plan->m, 0);
    out->cell_bits = (uint16_t)cell_bits;
    out->length = section_bytes(plan->m, cell_bits);
    return 1;
}

static const char *cuckoo_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (b->count != 1) return "this kind has exactly one section";
    if (s->kind != TAMIS_CUCKOO) return "the section is not of this kind";
    if (s->cell_bits < MIN_PRINT + 1 || s->cell_bits > MAX_PRINT + 1)
        return "the slots have a wrong size";
    if (s->k != WINDOWS) return "k is not 2";
    if (s->m < MIN_SLOTS || s->m % 2 != 0 || s->m > TAMIS__MAX_CELLS / s->cell_bits)
        return "the number of slots is odd or out of range";
    if (s->length != section_bytes(s->m, s->cell_bits))
        return "the section's length does not fit its slots";
    return NULL;
}

static const char *cuckoo_wrong_cells(const struct body *b)
{
    return tamis__wrong_spare_bits(b->sections, b->sections->m * b->sections->cell_bits);
}

/* --- The verbs -------------------------------------------------------------------------------- */

TAMIS__PREFETCHES prefetch_key(const struct section *s, tamis_hash h)
{
    const struct key k = cuckoo_aim(s, h);
    for (unsigned j = 0; j < WINDOWS; j++) prefetch_window(s, k.start[j]);
}

static void cuckoo_prefetch(const struct body *b, const struct batch *keys)
{
    for (size_t i = 0; i < keys->n; i++) prefetch_key(b->sections, keys->hashes[i]);
}

static tamis_status cuckoo_add(struct body *b, const struct batch *keys, uint8_t *seen,
                               size_t *done)
{
    struct section *s = b->sections;
    struct room room = {.memory = b->memory};
    tamis_status status = TAMIS_OK;
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n && status == TAMIS_OK; i++) {
        if (TAMIS__AHEAD(keys->ahead)) prefetch_key(s, keys->ahead[i]);
        const struct key k = cuckoo_aim(s, keys->hashes[i]);
        const bool known = seen != NULL && cuckoo_present(s, &k);
        *done = i;
        status = store(s, &k, &room);
        if (known && status == TAMIS_OK) seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
    }
    tamis__free(room.memory, room.many);
    return status;
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
            const struct key k = cuckoo_aim(&s, keys->hashes[i + j]);
            answers |= (unsigned)cuckoo_present(&s, &k) << j;
        }
        bits[i / 8] = (uint8_t)answers;
    }
}

TAMIS__SPECIALIZED bool cuckoo_has(const struct section *s, tamis_hash h)
{
    const struct key k = cuckoo_aim(s, h);
    return cuckoo_holds(s, &k, true);
}

static TAMIS__APART tamis_status single_cuckoo_squeeze(tamis *t, tamis_hash h, bool *seen)
{
    return tamis__add_key(t, NULL, h, seen);
}

/* Most keys find a free slot. */
TAMIS__SPECIALIZED tamis_status single_cuckoo_put(tamis *t, tamis_hash h, bool *seen)
{
    struct section *s = t->body.sections;
    const struct key k = cuckoo_aim(s, h);
    const bool known = seen != NULL && cuckoo_holds(s, &k, true);
    if (!store_at_once(s, &k, true)) return single_cuckoo_squeeze(t, h, seen);
    if (seen != NULL) *seen = known;
    return tamis__count_one(t, false, NULL);
}

TAMIS__ASK_SINGLE(cuckoo, , cuckoo_has)
TAMIS__ADD_SINGLE_BY(cuckoo, , single_cuckoo_put)

static const struct single *cuckoo_single(const struct body *b)
{
    static const struct single one = {.ask = single_cuckoo_ask,
                                      .add = single_cuckoo_add,
                                      .ask_hash = single_cuckoo_ask_hash,
                                      .add_hash = single_cuckoo_add_hash};
    return has_short_slots(b->sections) ? &one : NULL;
}

static tamis_status take_out(struct body *b, tamis_hash h)
{
    struct section *s = b->sections;
    const struct key k = cuckoo_aim(s, h);
    for (unsigned j = 0; j < WINDOWS; j++) {
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
        const struct key k = cuckoo_aim(s, keys->hashes[i]);
        const unsigned first = matches(s, k.start[0], k.print);
        out[i] = tamis__popcount(first | matches(s, k.start[1], k.print) << 2);
    }
}

/* Whether an entry is the first of its class, in the order of the slots. */
static bool is_first(const struct section *s, uint64_t i, uint64_t v)
{
    const uint64_t start = cuckoo_start_of(i, v), print = v >> 1;
    if (!is_window(s, start)) return false; /* no key finds it */
    if (i != start && (matches(s, start, print) & 1) != 0) return false;
    return i < s->m / 2 || matches(s, other(s, start, print), print) == 0;
}

static void cuckoo_gauge(const struct body *b, const struct body *with, double z, struct gauge *out)
{
    const struct section *s = b->sections;
    uint64_t known = 0; /* classes that are present */
    (void)with;
    (void)z;
    for (uint64_t i = 0; i < s->m; i++) {
        const uint64_t v = cuckoo_get(s, i);
        if (is_free(v)) continue;
        out->hit++;
        known += is_first(s, i, v);
    }
    const double n = (double)out->hit;
    out->cells = s->m;
    out->items = (struct estimate){n, n, n};
    out->rate = (double)known / classes((double)s->m, s->cell_bits - 1u);
}

static size_t cuckoo_cells_of(const struct body *b, tamis_hash h, uint64_t *out, size_t max)
{
    const struct key k = cuckoo_aim(b->sections, h);
    for (size_t j = 0; j < 2 * WINDOWS && j < max; j++) out[j] = k.start[j / 2] + j % 2;
    return 2 * WINDOWS;
}

const struct kind tamis__cuckoo = {
    .id = TAMIS_CUCKOO,
    .name = "cuckoo",
    .traits = TAMIS__MULTISET,
    .accepts = TAMIS__PLANS_FILTER,
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
    .gauge = cuckoo_gauge,
    .cells_of = cuckoo_cells_of,
};
