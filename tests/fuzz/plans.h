/* Plans that the input asks for, and what tamis_solve promises about each. */
#ifndef TAMIS_FUZZ_PLANS_H
#define TAMIS_FUZZ_PLANS_H

#include "feed.h"

#include <tamis/tamis.h>

#define PLAN_BYTES (1u << 17) /* of the biggest that is made */

static inline double feed_rate(struct feed *f)
{
    static const double usual[] = {0.5, 0.1, 0.01, 1e-3, 1e-4, 1e-6, 1e-9, 1.0 / 256};
    const uint8_t how = feed_byte(f);
    if (how < 240) return usual[how % 8];
    const uint64_t bits = feed_bytes(f, 8);
    double any;
    memcpy(&any, &bits, sizeof any);
    return any;
}

/* One byte says which fields are given, so that most inputs make sense; the others are hostile. */
static inline tamis_plan feed_plan(struct feed *f, uint32_t kind)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = kind};
    const uint8_t given = feed_byte(f);
    if (given & 1) p.items = feed_number(f);
    if (given & 2) p.fpr = feed_rate(f);
    if (given & 4) p.bytes = 64 * feed_number(f);
    if (given & 8) p.m = (given & 128 ? 1 : 512) * feed_number(f);
    if (given & 16) p.k = (uint32_t)feed_bytes(f, given & 128 ? 4 : 1);
    if (given & 32) p.flags = feed_byte(f);
    if (given & 64) {
        p.seed = feed_number(f);
        p.cell_bits = feed_byte(f);
        p.generations = feed_byte(f);
        p.inner_kind = feed_byte(f);
        p.excluded = feed_number(f);
        p.error = feed_rate(f);
        p.delta = feed_rate(f);
        if (p.error > 0.4) p.error = 0;
        if (p.delta > 0.4) p.delta = 0;
    }
    return p;
}

/* Whether the plan can be solved; checks what is promised of the solution. */
static inline bool solve_plan(const tamis_plan *asked, tamis_plan *solved)
{
    tamis_error why = {0};
    tamis_promise r = {.struct_size = sizeof r}, again_r = {.struct_size = sizeof r};
    *solved = *asked;
    if (tamis_solve(solved, &r, &why) != TAMIS_OK) {
        must(why.text[0] != '\0', "a reason has words");
        must(memcmp(solved, asked, sizeof *asked) == 0, "a plan that failed is as it was");
        return false;
    }
    must(solved->items >= asked->items, "no fewer items than were asked");
    must(asked->fpr == 0 || solved->fpr <= asked->fpr, "no higher rate than was asked");
    must(asked->bytes == 0 || solved->bytes <= asked->bytes, "no more bytes than were asked");
    must(r.bytes == solved->bytes && r.fpr >= 0 && r.fpr <= 1, "a promise that agrees");
    tamis_plan again = *solved;
    must(tamis_solve(&again, &again_r, &why) == TAMIS_OK, "a solved plan can be solved");
    must(memcmp(&again, solved, sizeof again) == 0, "and does not change");
    return true;
}

#endif
