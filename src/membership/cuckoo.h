/* The table of a cuckoo filter: its slots, windows and entries, and where a key belongs. cuckoo.c
 * explains them. */
#ifndef TAMIS_CUCKOO_H
#define TAMIS_CUCKOO_H

#include "../core/kind.h"

#define TAMIS__CUCKOO_WINDOWS 2u /* windows of a key */
/* A window of two slots of up to this many bits fits in eight bytes, wherever in a byte it
 * begins. */
#define TAMIS__CUCKOO_ONE_LOAD 28u

/* --- Slots ------------------------------------------------------------------------------------ */

static inline uint64_t cuckoo_mask(const struct section *s)
{
    return (UINT64_C(1) << s->cell_bits) - 1;
}

/* Returns at least 57 bits from slot i on. The spare word after the slots keeps the load inside the
 * section. */
static inline uint64_t cuckoo_bits(const struct section *s, uint64_t i)
{
    const uint64_t at = tamis__opaque(i * s->cell_bits);
    return tamis__get64(s->cells + (at >> 3)) >> (at & 7);
}

static inline uint64_t cuckoo_get(const struct section *s, uint64_t i)
{
    return cuckoo_bits(s, i) & cuckoo_mask(s);
}

static inline void cuckoo_put(struct section *s, uint64_t i, uint64_t v)
{
    const uint64_t at = i * s->cell_bits;
    uint8_t *p = s->cells + (at >> 3);
    const uint64_t others = tamis__get64(p) & ~(cuckoo_mask(s) << (at & 7));
    tamis__put64(p, others | v << (at & 7));
}

static inline bool cuckoo_is_free(uint64_t slot)
{
    return slot >> 1 == 0;
}

/* --- Keys ------------------------------------------------------------------------------------- */

struct cuckoo_key {
    uint64_t print;
    uint64_t start[TAMIS__CUCKOO_WINDOWS]; /* first slots of its windows, one in each half */
};

static inline uint64_t cuckoo_windows(uint64_t m)
{
    return m / 2 - 1;
}

/* Whether a window begins here. None begins at the last slot of a half, which has no second one. */
static inline bool cuckoo_is_window(const struct section *s, uint64_t start)
{
    return start < s->m - 1 && start != s->m / 2 - 1;
}

/* The window that the entry of slot i claims to be in. In a hostile image there may be no such
 * window. */
static inline uint64_t cuckoo_start_of(uint64_t i, uint64_t slot)
{
    return i - (slot & 1);
}

/* The number of the window in the other half. The fingerprint determines the sum of both numbers,
 * so one function leads there and back. */
static inline uint64_t cuckoo_partner(uint64_t windows, uint64_t number, uint64_t print)
{
    uint64_t x = print * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    const uint64_t sum = tamis__mulhi(x, windows);
    return sum - number + (sum < number ? windows : 0);
}

static inline uint64_t cuckoo_other(const struct section *s, uint64_t start, uint64_t print)
{
    const uint64_t half = s->m / 2, windows = cuckoo_windows(s->m);
    return start < half ? half + cuckoo_partner(windows, start, print)
                        : cuckoo_partner(windows, start - half, print);
}

static inline struct cuckoo_key cuckoo_key_of(const struct section *s, uint64_t window,
                                              uint64_t print)
{
    const uint64_t windows = cuckoo_windows(s->m);
    return (struct cuckoo_key){print, {window, s->m / 2 + cuckoo_partner(windows, window, print)}};
}

static inline struct cuckoo_key cuckoo_aim(const struct section *s, tamis_hash h)
{
    return cuckoo_key_of(s, tamis__mulhi(h.hi, cuckoo_windows(s->m)),
                         1 + tamis__mulhi(h.lo, cuckoo_mask(s) >> 1));
}

/* The two slots of a window. */
struct cuckoo_pair {
    uint64_t first, second;
};

/* short_slots: whether one load is enough; a constant where speed matters. */
TAMIS__SPECIALIZED struct cuckoo_pair cuckoo_window(const struct section *s, uint64_t start,
                                                    bool short_slots)
{
    const uint64_t mask = cuckoo_mask(s), first = cuckoo_bits(s, start);
    const uint64_t second = short_slots ? first >> s->cell_bits : cuckoo_bits(s, start + 1);
    return (struct cuckoo_pair){first & mask, second & mask};
}

/* A place for an entry: a slot, and whether it is the first or the second of the entry's window. */
struct cuckoo_place {
    uint64_t slot_and_bit;
};

static inline struct cuckoo_place cuckoo_place_of(uint64_t start, uint64_t bit)
{
    return (struct cuckoo_place){(start + bit) << 1 | bit};
}

static inline uint64_t cuckoo_slot_of(struct cuckoo_place at)
{
    return at.slot_and_bit >> 1;
}

static inline bool cuckoo_short_slots(const struct section *s)
{
    return s->cell_bits <= TAMIS__CUCKOO_ONE_LOAD;
}

static inline void cuckoo_put_entry(struct section *s, struct cuckoo_place at, uint64_t print)
{
    cuckoo_put(s, cuckoo_slot_of(at), print << 1 | (at.slot_and_bit & 1));
}

/* Memory for long searches, allocated by the first search of a batch that needs it. The caller
 * frees `many`. */
struct cuckoo_room {
    const tamis_memory *memory;
    struct cuckoo_steps *many;
};

/* Stores the entry of a key that has no free slot, by moving others. Returns TAMIS_EFULL if that is
 * impossible, or TAMIS_ENOMEM; then nothing has changed. */
tamis_status tamis__cuckoo_make_room(struct section *s, const struct cuckoo_key *k,
                                     struct cuckoo_room *room);

/* --- The stash: what found no slot, as counted classes ---------------------------------------- */

#define TAMIS__CUCKOO_STASH 64u /* entries at most */

static inline bool cuckoo_has_stash(const struct body *b)
{
    return b->count > 1;
}

/* The number of keys of this class in the stash. */
uint32_t tamis__cuckoo_stashed(const struct body *b, const struct cuckoo_key *k);
/* Puts a key into the stash, which can change the number and the place of the sections. TAMIS_EFULL
 * if it is full, or TAMIS_ENOMEM; then nothing has changed. */
tamis_status tamis__cuckoo_stash(struct body *b, const struct cuckoo_key *k);
/* Takes a key out of the stash, and returns whether it was there. */
bool tamis__cuckoo_unstash(struct body *b, const struct cuckoo_key *k);
/* Makes the stash empty. */
void tamis__cuckoo_drop_stash(struct body *b);
/* Entry i of the stash as a key. */
struct cuckoo_key tamis__cuckoo_stash_key(const struct body *b, uint64_t i);
/* As in struct kind; the slots have been checked. */
const char *tamis__cuckoo_wrong_stash_shape(const struct section *stash);
const char *tamis__cuckoo_wrong_stash(const struct body *b);

#endif
