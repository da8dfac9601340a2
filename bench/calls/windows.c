/* Windows: queries with many generations, rotations, and lists right after a rotation. */
#include "calls.h"

#include <math.h>
#include <tamis/count.h>

static const uint32_t GENERATIONS[] = {4, 13, 61};
static const char *const MODES[] = {"4 generations", "13 generations", "61 generations"};

static tamis *new_window(uint32_t generations, uint64_t n)
{
    tamis_plan plan = {.struct_size = sizeof plan,
                       .kind = TAMIS_WINDOW,
                       .inner_kind = TAMIS_BLOCKED,
                       .items = n,
                       .fpr = 0.01,
                       .generations = generations};
    return new_handle(&plan, 0, 0);
}

/* Every generation gets its share of the keys. */
static tamis *filled_window(uint32_t generations, uint64_t n)
{
    tamis *t = new_window(generations, n);
    for (uint32_t g = 0; g < generations; g++) {
        const uint64_t from = n * g / generations, to = n * (g + 1) / generations;
        if (g != 0) succeed(tamis_rotate(t, NULL));
        fill(t, from, to - from, INT_LEN);
    }
    return t;
}

/* --- Rotations -------------------------------------------------------------------------------- */

enum { ROTATE, ROTATE_TO, ROTATE_TO_NOTHING_DUE };
static uint64_t epoch = 1;

static uint64_t run_rotations(struct lane *l)
{
    for (uint64_t i = 0; i < l->per_step; i++) {
        if (l->way == ROTATE)
            succeed(tamis_rotate(l->it, NULL));
        else
            succeed(tamis_rotate_to(l->it, l->way == ROTATE_TO ? ++epoch : epoch, NULL));
    }
    return 0;
}

static void enter_epoch(struct lane *l)
{
    succeed(tamis_rotate_to(l->it, ++epoch, NULL));
}

static void add_rotations(struct lanes *l, uint64_t n)
{
    static const char *const ops[] = {"rotate", "rotate_to", "rotate_to, nothing due"};
    for (uint32_t way = ROTATE; way <= ROTATE_TO_NOTHING_DUE; way++) {
        struct lane *lane = lane_add(l, "windows", "window", ops[way], MODES[1], n);
        lane->it = new_window(GENERATIONS[1], n);
        lane->way = way;
        lane->per_step = 100;
        lane->run = run_rotations;
        if (way != ROTATE) lane->before = enter_epoch;
    }
}

/* --- Lists ------------------------------------------------------------------------------------ */

enum { LISTED = 20, EVENTS = 20000 };

/* Adds events whose frequency is inversely proportional to their rank. */
static void add_events(tamis *t, uint64_t salt, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        unsigned char key[TEXT_LEN];
        const double u = (double)(mix(i + (salt << 32)) >> 11) * 0x1p-53;
        fixed_key((uint64_t)exp(u * log(100000)), TEXT_LEN, key);
        succeed(tamis_add(t, key, TEXT_LEN, NULL));
    }
}

static void fill_and_rotate(struct lane *l)
{
    static uint64_t salt = 1000;
    add_events(l->it, ++salt, sized(EVENTS));
    succeed(tamis_rotate(l->it, NULL));
}

static uint64_t run_top(struct lane *l)
{
    static tamis_heavy top[LISTED];
    return tamis_top(l->it, top, LISTED) != LISTED;
}

static void list_before(struct lane *l)
{
    run_top(l);
}

static void add_tops(struct lanes *l)
{
    for (size_t i = 0; i < LENGTH(GENERATIONS); i++) {
        const uint64_t bytes = (uint64_t)16 << 20; /* of all generations */
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = TAMIS_WINDOW,
                                 .inner_kind = TAMIS_TOP,
                                 .generations = GENERATIONS[i],
                                 .bytes = bytes};
        tamis *t = new_handle(&plan, 0, 0);
        for (uint32_t g = 0; g < GENERATIONS[i]; g++) {
            if (g != 0) succeed(tamis_rotate(t, NULL));
            add_events(t, g, sized(EVENTS));
        }
        for (unsigned again = 0; again < 2; again++) {
            struct lane *lane = lane_add(l, "windows", "window of top",
                                         again != 0 ? "top again" : "top after rotation", MODES[i],
                                         sized(EVENTS) * GENERATIONS[i]);
            lane->it = t;
            lane->borrowed = again != 0;
            lane->row.bytes = bytes;
            lane->per_step = 1;
            lane->before = again != 0 ? list_before : fill_and_rotate;
            lane->run = run_top;
            lane->exact = true;
        }
    }
}

/* --- The group -------------------------------------------------------------------------------- */

/* Adds queries of windows that hold n keys, or n in each generation. */
static void add_queries(struct lanes *l, uint64_t each, bool per_generation)
{
    static const char *const full[] = {"4 generations, each full", "13 generations, each full",
                                       "61 generations, each full"};
    for (size_t i = 0; i < LENGTH(GENERATIONS); i++) {
        const uint64_t n = per_generation ? each * GENERATIONS[i] : each;
        tamis *t = filled_window(GENERATIONS[i], n);
        for (unsigned absent = 0; absent < 2; absent++) {
            struct lane *lane =
                lane_add(l, "windows", "window", absent != 0 ? "negative" : "positive",
                         per_generation ? full[i] : MODES[i], n);
            lane->it = t;
            lane->borrowed = absent != 0;
            lane->row.rate = 0.01;
            lane->loop = tamis_queries_loop;
            lane->len = INT_LEN;
            lane->per_step = sized(800000) / GENERATIONS[i] + 1;
            lane->warm = lane->per_step / 2;
            const uint64_t keys = lane->per_step + lane->warm;
            lane->own =
                absent != 0 ? keys_from(NEVER_ADDED, keys, INT_LEN) : keys_among(n, keys, INT_LEN);
            lane->keys = lane->own;
            lane->warm_keys = lane->own + lane->per_step * INT_LEN;
            lane->warm_with = tamis_queries_loop;
            lane->before = warm_loop;
            lane->exact = absent == 0;
            lane->expected = lane->per_step;
        }
    }
}

void windows_group(void)
{
    struct lanes l = {NULL, 0};
    const uint64_t n = sized(1000000);
    add_queries(&l, n, false);
    add_queries(&l, n, true);
    add_rotations(&l, n);
    if (!settings.counting) add_tops(&l); /* would take minutes */
    race(&l, "windows: generations");
}
