/* The plan and the sections of a top (top.c). */
#include "top_plan.h"

#include "../core/error.h"
#include "../core/plan.h"
#include "../image/image.h"
#include "tally_cells.h"
#include "texts.h"

#define DEFAULT_ITEMS 100u
#define MOST_ITEMS (UINT64_C(1) << 30)
#define MOST_TEXTS (UINT64_C(1) << 34)
#define MOST_LINES (TAMIS__MAX_CELLS / TAMIS__LINE_BITS)

static uint64_t top_plan_greater(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t top_plan_lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Each item gets two and a half places. With four places to a bucket, the most frequent keys, up to
 * half as many as there are places, find a free place or a lesser item in one of their two buckets.
 * Each item gets 96 bytes of text; a quarter of that room is for texts whose entries are gone. */
static void top_plan_describe(uint64_t lines, uint64_t items, struct section *out)
{
    const uint64_t buckets = top_plan_lesser(
        top_plan_greater((5 * items + 7) / 8, top_plan_greater(lines / 16, 2)), MOST_BUCKETS);
    const uint64_t texts =
        top_plan_lesser(top_plan_greater(96 * items + 512, 4 * lines), MOST_TEXTS) / 64 * 64;
    out[0] = (struct section){.role = TAMIS__ROLE_CELLS,
                              .kind = TAMIS_TALLY,
                              .cell_bits = 8,
                              .k = TALLY_PLACES,
                              .m = lines * TAMIS__LINE_COUNTERS,
                              .length = lines * TAMIS__LINE_BYTES};
    out[1] = (struct section){.role = TAMIS__ROLE_ENTRIES,
                              .kind = TAMIS_TOP,
                              .cell_bits = 64,
                              .k = BUCKET_WAYS,
                              .m = buckets * BUCKET_WAYS,
                              .length = buckets * BUCKET};
    out[2] = (struct section){.role = TAMIS__ROLE_TEXTS,
                              .kind = TAMIS_TOP,
                              .cell_bits = 8,
                              .k = 1,
                              .m = texts,
                              .length = texts};
}

static uint64_t top_bytes_of(uint64_t lines, uint64_t items)
{
    struct section s[TAMIS__TOP_SECTIONS];
    top_plan_describe(lines, items, s);
    return tamis__repeated_bytes(s, TAMIS__TOP_SECTIONS, 1);
}

struct top_budget {
    uint64_t bytes, items;
};

static bool top_keeps_budget(void *ctx, uint64_t lines)
{
    const struct top_budget *b = ctx;
    return top_bytes_of(lines, b->items) <= b->bytes;
}

static uint64_t top_lines_for(uint64_t bytes, uint64_t items)
{
    struct top_budget b = {bytes, items};
    return tamis__largest(0, MOST_LINES + 1, top_keeps_budget, &b);
}

tamis_status tamis__top_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    (void)promise;
    if (p->error != 0 || p->delta != 0)
        return tamis__fail(why, TAMIS_EINVAL,
                           "no formula gives the error of a top, which depends on the stream: "
                           "plan it by bytes");
    if (p->bytes == 0 && p->m == 0)
        return tamis__fail(why, TAMIS_EINVAL, "a plan needs one of: bytes, m");
    if ((p->flags & TAMIS_HASH_CALLER) != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a top keeps the items themselves, not their hashes");
    if ((p->k != 0 && p->k != TALLY_PLACES) || (p->cell_bits != 0 && p->cell_bits != 8))
        return tamis__fail(why, TAMIS_EINVAL, "a top has 4 counters a key, of 8 bits or more");
    if (p->m % TAMIS__LINE_COUNTERS != 0)
        return tamis__fail(why, TAMIS_EINVAL, "m must be a multiple of %u", TAMIS__LINE_COUNTERS);
    if (p->items > MOST_ITEMS)
        return tamis__fail(why, TAMIS_EINVAL, "a top lists no more than 2^30 items");
    const uint64_t items = p->items != 0 ? p->items : DEFAULT_ITEMS;
    const uint64_t lines = p->m != 0 ? p->m / TAMIS__LINE_COUNTERS : top_lines_for(p->bytes, items);
    if (lines > MOST_LINES)
        return tamis__fail(why, TAMIS_EINVAL, "more than 2^52 bits are not supported");
    const uint64_t bytes = top_bytes_of(top_plan_greater(lines, 2), items);
    if (lines < 2 || (p->bytes != 0 && bytes > p->bytes))
        return tamis__fail(why, TAMIS_EINVAL,
                           "that is too small for %llu items: it takes %llu bytes",
                           (unsigned long long)items, (unsigned long long)bytes);
    p->items = items;
    p->m = lines * TAMIS__LINE_COUNTERS;
    p->k = TALLY_PLACES;
    p->cell_bits = 8;
    p->bytes = bytes;
    return TAMIS_OK;
}

uint32_t tamis__top_layout(const tamis_plan *plan, struct section *out)
{
    if (out != NULL) top_plan_describe(plan->m / TAMIS__LINE_COUNTERS, plan->items, out);
    return TAMIS__TOP_SECTIONS;
}

const char *tamis__top_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (b->count != TAMIS__TOP_SECTIONS) return "this kind has exactly three sections";
    const struct body light = tamis__part(b, 0);
    if (s[0].role != TAMIS__ROLE_CELLS || s[1].role != TAMIS__ROLE_ENTRIES ||
        s[2].role != TAMIS__ROLE_TEXTS || s[1].kind != TAMIS_TOP || s[2].kind != TAMIS_TOP)
        return "the sections are not a tally, entries and texts";
    const char *reason = tamis__kind(TAMIS_TALLY)->wrong_shape(&light);
    if (reason != NULL) return reason;
    if (s[1].cell_bits != 64 || s[1].k != BUCKET_WAYS || s[2].cell_bits != 8 || s[2].k != 1)
        return "the entries or the texts are wrong";
    if (s[1].m % BUCKET_WAYS != 0 || s[1].m / BUCKET_WAYS < 2 ||
        s[1].m / BUCKET_WAYS > MOST_BUCKETS || s[1].length != s[1].m / BUCKET_WAYS * BUCKET)
        return "the number of entries is out of range, or does not fit their length";
    if (s[2].m != s[2].length || s[2].m % 64 != 0 || s[2].m < 128 || s[2].m > MOST_TEXTS)
        return "the length of the texts is out of range";
    if (s[1].weight != 0 || s[2].weight != 0) return "the weight differs from the tally's";
    return NULL;
}
