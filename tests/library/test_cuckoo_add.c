/* Where a cuckoo filter puts its entries: a plain program of "Add" in docs/FORMAT.md gives every
 * slot the same content, while tables of all sizes fill up to where searches end without a free
 * slot, and while keys are removed. */
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

#define MOST_SLOTS 60000u
#define QUEUE 4096u
#define NOTES 32768u

static uint64_t slots[MOST_SLOTS], m, prints; /* the model: 2 F + p, or 0 */
static uint64_t random_state;

static uint64_t partner(uint64_t number, uint64_t print)
{
    const uint64_t windows = m / 2 - 1;
    uint64_t x = print * UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return (tamis__mulhi(x, windows) + windows - number) % windows;
}

/* The first slot of the other window of an entry. */
static uint64_t other_start(uint64_t start, uint64_t print)
{
    return start < m / 2 ? m / 2 + partner(start, print) : partner(start - m / 2, print);
}

struct way {
    uint64_t slot, place;
    size_t parent;
};

struct queue {
    struct way way[QUEUE];
    bool noted[NOTES];
    size_t n;
};

static void enqueue(struct queue *q, struct way w)
{
    if (q->n == QUEUE || q->noted[w.slot % NOTES]) return;
    q->noted[w.slot % NOTES] = true;
    q->way[q->n++] = w;
}

/* Moves the entries on the way to an empty slot. */
static void move(const struct queue *q, struct way to, uint64_t print)
{
    for (; to.parent != SIZE_MAX; to = q->way[to.parent])
        slots[to.slot] = (slots[q->way[to.parent].slot] >> 1) << 1 | to.place;
    slots[to.slot] = print << 1 | to.place;
}

/* Returns false if no entry moved, so that the key goes to the stash. */
static bool model_add(tamis_hash h)
{
    static struct queue q;
    const uint64_t print = 1 + tamis__mulhi(h.lo, prints), s0 = tamis__mulhi(h.hi, m / 2 - 1);
    const uint64_t start[2] = {s0, other_start(s0, print)};
    for (unsigned j = 0; j < 4; j++) {
        const struct way w = {start[j / 2] + j % 2, j % 2, SIZE_MAX};
        if (slots[w.slot] >> 1 != 0) continue;
        move(&q, w, print);
        return true;
    }
    memset(q.noted, 0, sizeof q.noted);
    q.n = 0;
    for (unsigned j = 0; j < 4; j++)
        enqueue(&q, (struct way){start[j / 2] + j % 2, j % 2, SIZE_MAX});
    for (size_t i = 0; i < q.n; i++) {
        const uint64_t slot = q.way[i].slot, v = slots[slot], own = slot - (v & 1);
        const uint64_t windows[2] = {own, other_start(own, v >> 1)};
        for (unsigned j = 0; j < 4; j++) {
            const struct way w = {windows[j / 2] + j % 2, j % 2, i};
            if (slots[w.slot] >> 1 == 0) {
                move(&q, w, print);
                return true;
            }
            enqueue(&q, w);
        }
    }
    return false;
}

static void model_remove(tamis_hash h)
{
    const uint64_t print = 1 + tamis__mulhi(h.lo, prints), s0 = tamis__mulhi(h.hi, m / 2 - 1);
    const uint64_t start[2] = {s0, other_start(s0, print)};
    for (unsigned j = 0; j < 4; j++)
        if (slots[start[j / 2] + j % 2] == (print << 1 | j % 2)) {
            slots[start[j / 2] + j % 2] = 0;
            return;
        }
    CHECK(false);
}

static void same_slots(const tamis *t)
{
    for (uint64_t i = 0; i < m; i++) CHECK_THAT((uint64_t)tamis_cell(t, i), ==, slots[i]);
}

/* Fills a table until 50 keys are in its stash. Without a stash yet, keys are removed and added
 * again. */
static void fill(uint64_t items, double fpr, uint64_t seed)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_CUCKOO,
                             .flags = TAMIS_HASH_CALLER,
                             .items = items,
                             .fpr = fpr};
    tamis_facts f = {.struct_size = sizeof f};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    CHECK_OK(tamis_info(t, &f));
    m = f.m;
    prints = (UINT64_C(1) << (f.cell_bits - 1)) - 1;
    CHECK_THAT(m, <=, MOST_SLOTS);
    memset(slots, 0, sizeof slots);
    random_state = seed;
    unsigned stashed = 0;
    for (uint64_t i = 0; stashed < 50; i++) {
        tamis_hash h[8];
        uint8_t known;
        const size_t n = 1 + (size_t)(splitmix(&random_state) % 8);
        for (size_t j = 0; j < n; j++) {
            h[j].lo = splitmix(&random_state);
            h[j].hi = splitmix(&random_state);
            stashed += !model_add(h[j]);
        }
        CHECK_OK(tamis_add_hashes(t, h, n, NULL, NULL));
        if (i % 3 != 0 || stashed != 0) continue;
        CHECK_OK(tamis_remove_hashes(t, h, 1, &known, NULL));
        model_remove(h[0]);
    }
    same_slots(t);
    tamis_close(t);
}

/* Fingerprints of 8, 18, 19, 28 and 32 bits, so that one load has three slots, two or one. */
static void slots_are_as_specified(void)
{
    static const double rates[] = {0.01, 8e-6, 4e-6, 7.5e-9, 5e-10};
    static const uint64_t items[] = {1, 7, 30, 60, 100, 1000, 5000, 50000};
    for (size_t i = 0; i < sizeof items / sizeof *items; i++)
        for (size_t r = 0; r < sizeof rates / sizeof *rates; r++)
            fill(items[i], rates[r], 10 * i + r);
    /* Searches that end because they have noted as many slots as they may. */
    for (uint64_t seed = 0; seed < 40; seed++) fill(4300 + 150 * seed, 0.01, seed);
}

static const struct test tests[] = {{"slots are as specified", slots_are_as_specified}};

TEST_MAIN(tests)
