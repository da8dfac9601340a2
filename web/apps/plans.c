/* For the planner of the web site: tamis_solve with all fields of a plan, whole numbers with all
 * their 64 bits. Only the module of the site's pages has this. */
#include "../common.h"

#include <string.h>
#include <tamis/inspect.h>

/* The fields that are whole numbers, in the order in which `planCount` takes and returns them. */
enum { ITEMS, BYTES, M, EXCLUDED, KIND, INNER, FLAGS, K, CELL_BITS, GENERATIONS, PACKED, BOUND, N };

static uint64_t counts[N];

EXPORT(setCount) void web_set_count(int which, uint64_t value)
{
    counts[which] = value;
}

EXPORT(getCount) uint64_t web_get_count(int which)
{
    return counts[which];
}

/* A number beyond 32 bits stays out of range, and is refused. */
static uint32_t narrow(int which)
{
    return counts[which] < UINT32_MAX ? (uint32_t)counts[which] : UINT32_MAX;
}

/* Solves the plan that is in `counts`, and puts the result there and into `web_numbers`: the rate,
 * the bits per item, the lower bound, the ratio to it, the overflow and the error. */
EXPORT(solve) int web_solve(double fpr, double error, double delta)
{
    tamis_plan p = {.struct_size = sizeof p,
                    .kind = narrow(KIND),
                    .flags = narrow(FLAGS),
                    .items = counts[ITEMS],
                    .fpr = fpr,
                    .bytes = counts[BYTES],
                    .m = counts[M],
                    .k = narrow(K),
                    .cell_bits = narrow(CELL_BITS),
                    .generations = narrow(GENERATIONS),
                    .inner_kind = narrow(INNER),
                    .excluded = counts[EXCLUDED],
                    .error = error,
                    .delta = delta};
    tamis_promise r = {.struct_size = sizeof r};
    const tamis_status s = tamis_solve(&p, &r, &web_why);
    if (s != TAMIS_OK) return s;
    const uint64_t whole[N] = {p.items,        r.bytes, p.m, p.excluded,  p.kind,
                               p.inner_kind,   p.flags, p.k, p.cell_bits, p.generations,
                               r.packed_bytes, r.bound};
    const double real[] = {r.fpr,         r.bits_per_item, r.bound_bits,
                           r.bound_ratio, r.overflow,      p.error};
    memcpy(counts, whole, sizeof whole);
    memcpy(web_numbers, real, sizeof real);
    return s;
}
