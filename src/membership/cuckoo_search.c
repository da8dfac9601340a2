/* The search for a free slot in a cuckoo filter whose key finds none: a chain of entries, each of
 * which moves to the slot of the next one. docs/FORMAT.md specifies which chain it is, so that the
 * same keys give the same bytes.
 *
 * It has two stages. Most searches note a dozen steps or less, and their notes are a table of 256
 * bytes on the stack. When more than 61 steps are noted, the search goes on in memory that is
 * allocated, with one bit for each slot. */
#include "../core/memory.h"
#include "cuckoo.h"

/* Slots whose entries would have to move, breadth first. */
#define MOST_STEPS 4096u
#define FEW_STEPS 64u
/* A step leads to at most three others, so memory for these is left. */
#define NEXT_STEPS 3u
/* Slots with equal numbers modulo this count as one slot. Small tables have none; in larger ones a
 * few slots are left out by chance. */
#define NOTES (8 * MOST_STEPS)
#define LISTS 256u
/* Parent of the slots where the new key would go. */
#define NO_PARENT UINT16_MAX
/* One load contains three slots of up to this many bits, wherever in a byte they begin. */
#define RUN_IN_ONE_LOAD 19u

/* A step leads to a slot that holds an entry. `at` is 4 slot + 2 own + place: `place` is the one of
 * the window through which the search reached the slot, and `own` that of the entry in it. */
struct step {
    uint64_t at;
    uint64_t other; /* the first slot of the entry's other window */
};

struct cuckoo_steps {
    struct step steps[MOST_STEPS + NEXT_STEPS];
    uint16_t parent[MOST_STEPS + NEXT_STEPS];
    uint64_t notes[NOTES / 64];
};

/* What the search needs of the section. A copy, because writes to the steps might alias it. */
struct slots {
    const uint8_t *cells;
    uint64_t bits, mask; /* of a slot */
    uint64_t half, windows;
    bool short_slots; /* RUN_IN_ONE_LOAD; a constant where speed matters */
};

struct search {
    uint32_t n;
    struct step *steps;
    uint16_t *parent; /* the index of the step whose entry would move here, or NO_PARENT */
    /* Bit i is set if there is a step to a slot with this number modulo NOTES. NULL while there are
     * few steps. They form LISTS lists, by the numbers of their slots: `last` is the last step of a
     * list, and `before` the one before a step. Both are indices plus one, and 0 means none. The
     * choice between bits and lists is known where this is compiled. */
    uint64_t *notes;
    uint8_t *last, *before;
};

static struct slots slots_of(const struct section *s, bool short_slots)
{
    return (struct slots){.cells = s->cells,
                          .bits = s->cell_bits,
                          .mask = cuckoo_mask(s),
                          .half = s->m / 2,
                          .windows = cuckoo_windows(s->m),
                          .short_slots = short_slots};
}

/* Returns at least 57 bits from the slot on, as cuckoo_bits does. */
TAMIS__SPECIALIZED uint64_t bits_from(const struct slots *s, uint64_t slot)
{
    const uint64_t at = tamis__opaque(slot * s->bits);
    return tamis__get64(s->cells + (at >> 3)) >> (at & 7);
}

/* The bits from the next slot on, given those from a slot on. */
TAMIS__SPECIALIZED uint64_t next_bits(const struct slots *s, uint64_t slot, uint64_t bits)
{
    return s->short_slots ? bits >> s->bits : bits_from(s, slot + 1);
}

/* Whether the first of these bits are a free slot. */
TAMIS__SPECIALIZED bool is_free(const struct slots *s, uint64_t bits)
{
    return cuckoo_is_free(bits & s->mask);
}

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

static void set_note(uint64_t *notes, uint64_t slot)
{
    notes[slot % NOTES / 64] |= UINT64_C(1) << slot % 64;
}

TAMIS__SPECIALIZED bool is_noted(const struct search *q, uint64_t slot)
{
    if (q->notes != NULL) return q->notes[slot % NOTES / 64] >> slot % 64 & 1;
    uint32_t i = q->last[slot % LISTS];
    while (i != 0 && (step_slot(&q->steps[i - 1]) - slot) % NOTES != 0) i = q->before[i - 1];
    return i != 0;
}

/* Notes a slot, unless it is already noted or its entry cannot move. `bits` are those from the slot
 * on, and `base` is the first slot of its half. Returns whether it was noted and its entry could
 * move to a free slot: the one beside it in its own window, or one of its other window. If the
 * search came through its own window, the slot beside it is known to be full, and looked at all the
 * same, which takes less time than a branch. */
TAMIS__SPECIALIZED bool note(const struct slots *s, struct search *q, struct cuckoo_place at,
                             uint64_t bits, uint64_t base, uint32_t parent)
{
    const uint64_t slot = cuckoo_slot_of(at), v = bits & s->mask, own = v & 1;
    const uint64_t number = slot - own - base; /* of its window in this half */
    if (is_noted(q, slot) || number >= s->windows) return false;
    const uint32_t n = q->n;
    if (q->notes != NULL) {
        set_note(q->notes, slot);
    } else {
        q->before[n] = q->last[slot % LISTS];
        q->last[slot % LISTS] = (uint8_t)(n + 1);
    }
    const uint64_t other = s->half - base + cuckoo_partner(s->windows, number, v >> 1);
    q->steps[n] = (struct step){slot << 2 | own << 1 | (at.slot_and_bit & 1), other};
    q->parent[n] = (uint16_t)parent;
    q->n = n + 1;
    const uint64_t over = bits_from(s, other);
    return is_free(s, bits_from(s, slot + 1 - 2 * own)) || is_free(s, over) ||
           is_free(s, next_bits(s, other, over));
}

/* Notes both slots of a window, which are full. */
TAMIS__SPECIALIZED bool note_window(const struct slots *s, struct search *q, uint64_t start,
                                    uint64_t base, uint32_t parent)
{
    const uint64_t bits = bits_from(s, start);
    return note(s, q, cuckoo_place_of(start, 0), bits, base, parent) ||
           note(s, q, cuckoo_place_of(start, 1), next_bits(s, start, bits), base, parent);
}

/* Notes where the entry of step i could go. All these slots are full, and its own slot is noted. If
 * it is in the window through which the search reached it, so is the other slot of that one. */
TAMIS__SPECIALIZED bool note_next(const struct slots *s, struct search *q, uint32_t i)
{
    const struct step step = q->steps[i];
    const uint64_t slot = step_slot(&step), beside = ~step.at >> 1 & 1;
    const uint64_t base = slot < s->half ? 0 : s->half;
    if ((step.at & 1) == beside) {
        const struct cuckoo_place at = cuckoo_place_of(step_start(&step), beside);
        if (note(s, q, at, bits_from(s, cuckoo_slot_of(at)), base, i)) return true;
    }
    return note_window(s, q, step.other, s->half - base, i);
}

/* Moves the entries of the chain that ends with the last step, the far end first. */
static void move_along(struct section *s, const struct search *q, uint64_t print)
{
    uint32_t i = q->n - 1;
    uint64_t start = step_start(&q->steps[i]);
    struct cuckoo_pair pair = cuckoo_window(s, start, false);
    if (!cuckoo_is_free(pair.first) && !cuckoo_is_free(pair.second)) {
        start = q->steps[i].other;
        pair = cuckoo_window(s, start, false);
    }
    struct cuckoo_place hole = cuckoo_place_of(start, !cuckoo_is_free(pair.first));
    for (;; i = q->parent[i]) {
        cuckoo_put_entry(s, hole, cuckoo_get(s, step_slot(&q->steps[i])) >> 1);
        hole = step_place(&q->steps[i]);
        if (q->parent[i] == NO_PARENT) break;
    }
    cuckoo_put_entry(s, hole, print);
}

/* Goes on with step `from` after a search among few steps. */
TAMIS__SPECIALIZED tamis_status search_on(struct section *to, bool short_slots, uint64_t print,
                                          const struct search *few, uint32_t from,
                                          struct cuckoo_room *room)
{
    if (room->many == NULL) room->many = tamis__alloc_unset(room->memory, sizeof *room->many);
    struct cuckoo_steps *many = room->many;
    if (many == NULL) return TAMIS_ENOMEM;
    const struct slots s = slots_of(to, short_slots);
    memcpy(many->steps, few->steps, few->n * sizeof *few->steps);
    memcpy(many->parent, few->parent, few->n * sizeof *few->parent);
    memset(many->notes, 0, sizeof many->notes);
    for (uint32_t i = 0; i < few->n; i++) set_note(many->notes, step_slot(&few->steps[i]));
    struct search q = {
        .n = few->n, .steps = many->steps, .parent = many->parent, .notes = many->notes};
    for (uint32_t i = from; i < q.n && q.n < MOST_STEPS; i++) {
        if (!note_next(&s, &q, i)) continue;
        if (q.n > MOST_STEPS) break;
        move_along(to, &q, print);
        return TAMIS_OK;
    }
    return TAMIS_EFULL;
}

static TAMIS__APART tamis_status search_on_short(struct section *to, uint64_t print,
                                                 const struct search *few, uint32_t from,
                                                 struct cuckoo_room *room)
{
    return search_on(to, true, print, few, from, room);
}

static TAMIS__APART tamis_status search_on_long(struct section *to, uint64_t print,
                                                const struct search *few, uint32_t from,
                                                struct cuckoo_room *room)
{
    return search_on(to, false, print, few, from, room);
}

/* Finds the shortest chain of entries that make room for each other. Nothing moves before it is
 * found. If memory is refused, a chain that is found all the same is the one that would have been
 * found otherwise.
 *
 * The steps are taken in the order in which they were noted, so the first that was noted and ends
 * at a free slot is the one to find. It is found before its turn comes: a step is examined when it
 * is noted, and not only once all steps before it have noted where they lead, which are three times
 * as many. */
TAMIS__SPECIALIZED tamis_status make_room(struct section *to, bool short_slots,
                                          const struct cuckoo_key *k, struct cuckoo_room *room)
{
    const struct slots s = slots_of(to, short_slots);
    struct step steps[FEW_STEPS];
    uint16_t parent[FEW_STEPS];
    uint8_t last[LISTS] = {0}, before[FEW_STEPS];
    steps[0].at = before[0] = 0; /* for GCC, which does not see that the lists are empty */
    struct search q = {.steps = steps, .parent = parent, .last = last, .before = before};
    bool found = note_window(&s, &q, k->start[0], 0, NO_PARENT) ||
                 note_window(&s, &q, k->start[1], s.half, NO_PARENT);
    for (uint32_t i = 0; !found && i < q.n; i++) {
        if (q.n + NEXT_STEPS > FEW_STEPS)
            return short_slots ? search_on_short(to, k->print, &q, i, room)
                               : search_on_long(to, k->print, &q, i, room);
        found = note_next(&s, &q, i);
    }
    if (!found) return TAMIS_EFULL;
    move_along(to, &q, k->print);
    return TAMIS_OK;
}

static TAMIS__APART tamis_status make_room_short(struct section *s, const struct cuckoo_key *k,
                                                 struct cuckoo_room *room)
{
    return make_room(s, true, k, room);
}

static TAMIS__APART tamis_status make_room_long(struct section *s, const struct cuckoo_key *k,
                                                struct cuckoo_room *room)
{
    return make_room(s, false, k, room);
}

tamis_status tamis__cuckoo_make_room(struct section *s, const struct cuckoo_key *k,
                                     struct cuckoo_room *room)
{
    return s->cell_bits <= RUN_IN_ONE_LOAD ? make_room_short(s, k, room)
                                           : make_room_long(s, k, room);
}
