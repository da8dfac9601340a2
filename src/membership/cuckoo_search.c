/* The search for a free slot in a cuckoo filter whose key finds none: a chain of entries, each of
 * which moves to the slot of the next one. docs/FORMAT.md specifies which chain it is, so that the
 * same keys give the same bytes. */
#include "../core/memory.h"
#include "cuckoo.h"

/* Slots whose entries would have to move, breadth first. */
#define MOST_STEPS 4096u
#define FEW_STEPS 64u
#define NOTES (8 * MOST_STEPS)
/* A step leads to a slot that holds an entry. `at` is 4 slot + 2 own + place: `place` is the one of
 * the window through which the search reached the slot, and `own` that of the entry in it. */
struct step {
    uint64_t at;
    uint64_t other; /* the first slot of the entry's other window */
};

struct cuckoo_steps {
    struct step steps[MOST_STEPS];
    uint16_t parent[MOST_STEPS];
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
    if ((notes & bit) != 0 || !cuckoo_is_window(s, start)) return false;
    if (q->n == q->most) {
        q->dropped = true;
        return false;
    }
    q->notes[word] = notes | bit;
    q->used[group] |= UINT64_C(1) << word % 64;
    const uint64_t over = cuckoo_other(s, start, v >> 1);
    q->steps[q->n] = (struct step){slot << 2 | (v & 1) << 1 | (at.slot_and_bit & 1), over};
    q->parent[q->n] = (uint16_t)parent;
    q->n++;
    const bool beside = cuckoo_is_free(cuckoo_get(s, slot + 1 - 2 * (v & 1)));
    const struct cuckoo_pair pair = cuckoo_window(s, over, short_slots);
    const bool first = cuckoo_is_free(pair.first), second = cuckoo_is_free(pair.second);
    return beside | first | second;
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

/* Whether the window has a free slot, and the first of them. */
TAMIS__SPECIALIZED bool hole_in(const struct section *s, uint64_t start, bool short_slots,
                                struct cuckoo_place *hole)
{
    const struct cuckoo_pair pair = cuckoo_window(s, start, short_slots);
    *hole = cuckoo_place_of(start, !cuckoo_is_free(pair.first));
    return cuckoo_is_free(pair.first) || cuckoo_is_free(pair.second);
}

/* Returns memory for long searches, or NULL. */
static TAMIS__APART struct cuckoo_steps *more_steps(struct cuckoo_room *room)
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
TAMIS__SPECIALIZED bool search(const struct section *s, struct search *q,
                               const struct cuckoo_key *k, struct cuckoo_room *room,
                               bool short_slots)
{
    for (unsigned j = 0; j < 2 * TAMIS__CUCKOO_WINDOWS; j++) {
        const struct cuckoo_place at = cuckoo_place_of(k->start[j / 2], j % 2);
        if (note(s, q, at, cuckoo_get(s, cuckoo_slot_of(at)), q->n, short_slots)) return true;
    }
    for (uint32_t i = 0; i < q->n; i++) {
        if (q->n + 3 > q->most && q->most == FEW_STEPS) {
            struct cuckoo_steps *many = more_steps(room);
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
TAMIS__SPECIALIZED tamis_status cuckoo_make_room(struct section *to, const struct cuckoo_key *k,
                                                 struct cuckoo_room *room, bool short_slots)
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

static TAMIS__APART tamis_status make_room_short(struct section *s, const struct cuckoo_key *k,
                                                 struct cuckoo_room *room)
{
    return cuckoo_make_room(s, k, room, true);
}

static TAMIS__APART tamis_status make_room_long(struct section *s, const struct cuckoo_key *k,
                                                struct cuckoo_room *room)
{
    return cuckoo_make_room(s, k, room, false);
}

tamis_status tamis__cuckoo_make_room(struct section *s, const struct cuckoo_key *k,
                                     struct cuckoo_room *room)
{
    return cuckoo_short_slots(s) ? make_room_short(s, k, room) : make_room_long(s, k, room);
}
