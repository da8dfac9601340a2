/* Planning, creating, facts, and the memory of a handle besides its cells. */
#include "calls.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/embed.h>

/* --- Planning --------------------------------------------------------------------------------- */

static const struct design PLANNED[] = {
    {"auto", TAMIS_AUTO, 0, 0},
    {"bloom", TAMIS_BLOOM, 0, 0},
    {"compact", TAMIS_BLOCKED, TAMIS_COMPACT, 0},
    {"blocked", TAMIS_BLOCKED, 0, 0},
};
static const double RATES[] = {0.01, 0.001, 0.0001};
enum { PLANS = LENGTH(PLANNED) * LENGTH(RATES) };

static uint64_t run_solve(struct lane *l)
{
    for (uint64_t i = 0; i < l->per_step; i++) {
        tamis_plan plan = *l->plan;
        succeed(tamis_solve(&plan, NULL, NULL));
    }
    return 0;
}

static uint64_t run_create(struct lane *l)
{
    for (uint64_t i = 0; i < l->per_step; i++) tamis_close(new_handle(l->plan, 0, 0));
    return 0;
}

static uint64_t run_stat(struct lane *l)
{
    tamis_facts facts = {.struct_size = sizeof facts};
    for (uint64_t i = 0; i < l->per_step; i++) succeed(tamis_stat(l->it, &facts));
    return 0;
}

static void add_solves(struct lanes *l, tamis_plan *plans)
{
    for (size_t i = 0; i < PLANS; i++) {
        const struct design *d = PLANNED + i / LENGTH(RATES);
        plans[i] = (tamis_plan){.struct_size = sizeof *plans,
                                .kind = d->kind,
                                .flags = d->flags,
                                .items = 1000000,
                                .fpr = RATES[i % LENGTH(RATES)]};
        struct lane *lane = lane_add(l, "plans", d->name, "solve", "items and rate", 1000000);
        lane->row.rate = plans[i].fpr;
        lane->plan = plans + i;
        lane->per_step = settings.check || settings.counting ? 2 : 20;
        lane->run = run_solve;
    }
}

void plans_group(void)
{
    static const struct design small[] = {{"blocked", TAMIS_BLOCKED, 0, 0},
                                          {"bloom", TAMIS_BLOOM, 0, 0}};
    struct lanes l = {NULL, 0};
    tamis_plan plans[PLANS], solved[LENGTH(small)], given[LENGTH(small)];
    add_solves(&l, plans);
    for (size_t i = 0; i < LENGTH(small); i++) {
        solved[i] = design_plan(small + i, 1000);
        given[i] = (tamis_plan){
            .struct_size = sizeof *given, .kind = small[i].kind, .items = 1000, .fpr = 0.01};
        for (unsigned j = 0; j < 2; j++) {
            struct lane *lane = lane_add(&l, "plans", small[i].name, "create and close",
                                         j == 0 ? "solved plan" : "plan", 1000);
            lane->row.rate = 0.01;
            lane->plan = j == 0 ? solved + i : given + i;
            lane->per_step = settings.check || settings.counting ? 2 : 50;
            lane->run = run_create;
        }
    }
    struct lane *lane = lane_add(&l, "plans", "blocked", "stat", "handle", sized(1000000));
    lane->it = filled(small, sized(1000000), INT_LEN);
    lane->per_step = 10000;
    lane->run = run_stat;
    race(&l, "plans: tamis_solve, tamis_create, tamis_stat");
}

/* --- Memory ----------------------------------------------------------------------------------- */

struct ledger {
    uint64_t bytes, blocks, largest; /* the largest block is that of the cells, if it has them */
};

static void *count_alloc(void *ctx, size_t size)
{
    struct ledger *m = ctx;
    unsigned char *p = malloc(size + 64);
    if (p == NULL) return NULL;
    memcpy(p, &size, sizeof size);
    m->bytes += size;
    m->blocks++;
    if (size > m->largest) m->largest = size;
    return p + 64;
}

static void count_free(void *ctx, void *p)
{
    struct ledger *m = ctx;
    size_t size;
    if (p == NULL) return;
    memcpy(&size, (unsigned char *)p - 64, sizeof size);
    m->bytes -= size;
    m->blocks--;
    free((unsigned char *)p - 64);
}

struct image {
    unsigned char *bytes;
    size_t used;
};

static tamis_status append(void *ctx, const void *bytes, size_t n)
{
    struct image *image = ctx;
    memcpy(image->bytes + image->used, bytes, n);
    image->used += n;
    return TAMIS_OK;
}

static void keep(const char *kind, const char *op, uint64_t n, uint64_t bytes, uint64_t blocks)
{
    struct row r = row_of(kind, "besides the cells", INTEGERS, n);
    r.group = "memory";
    r.op = op;
    r.ns = r.min_ns = NAN;
    r.bytes = bytes;
    r.allocations = (double)blocks;
    row_keep(&r);
}

static void measure_view(const char *kind, tamis *t, uint64_t n)
{
    struct ledger m = {0, 0, 0};
    const tamis_memory memory = {.ctx = &m, .alloc = count_alloc, .free = count_free};
    const tamis_options options = {.struct_size = sizeof options, .memory = &memory};
    struct image image = {take((size_t)tamis_image_size(t)), 0};
    tamis *view;
    succeed(tamis_write(t, append, &image, NULL));
    succeed(tamis_view(image.bytes, image.used, &options, &view, NULL));
    keep(kind, "view", n, m.bytes, m.blocks);
    tamis_close(view);
    size_t needed = 0;
    tamis_view_at(NULL, 0, image.bytes, image.used, NULL, &needed, &view, NULL);
    keep(kind, "view_at", n, needed, 0);
    give_back(image.bytes);
}

/* The cells of these kinds are in one block. */
void memory_group(void)
{
    static const struct design kinds[] = {{"blocked", TAMIS_BLOCKED, 0, 0},
                                          {"bloom", TAMIS_BLOOM, 0, 0},
                                          {"cuckoo", TAMIS_CUCKOO, 0, 0}};
    static const struct design sealed[] = {{"fuse", TAMIS_FUSE, 0, 3},
                                           {"ribbon", TAMIS_RIBBON, 0, 0}};
    const uint64_t n = 1000;
    printf("\nmemory: a handle or a view besides its cells\n");
    for (size_t i = 0; i < LENGTH(kinds); i++) {
        struct ledger m = {0, 0, 0};
        const tamis_memory memory = {.ctx = &m, .alloc = count_alloc, .free = count_free};
        const tamis_options options = {.struct_size = sizeof options, .memory = &memory};
        const tamis_plan plan = design_plan(kinds + i, n);
        tamis *t;
        succeed(tamis_create(&plan, &options, &t, NULL));
        fill(t, 0, n, INT_LEN);
        keep(kinds[i].name, "handle", n, m.bytes - m.largest, m.blocks - 1);
        measure_view(kinds[i].name, t, n);
        tamis_close(t);
    }
    for (size_t i = 0; i < LENGTH(sealed); i++) {
        tamis *t = filled(sealed + i, n, INT_LEN);
        measure_view(sealed[i].name, t, n);
        tamis_close(t);
    }
}
