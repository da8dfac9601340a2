/* The functions for distinct sketches, which distinct.mjs calls. */
#include "../common.h"

#include <string.h>
#include <tamis/distinct.h>
#include <tamis/inspect.h>

static tamis_plan distinct_plan(void)
{
    const double *n = web_numbers;
    return (tamis_plan){.struct_size = sizeof(tamis_plan),
                        .kind = TAMIS_DISTINCT,
                        .error = n[0],
                        .bytes = (uint64_t)n[1],
                        .m = (uint64_t)n[2],
                        .encoding = (uint32_t)n[3],
                        .key_width = (uint32_t)n[4],
                        .seed = (uint64_t)n[6] << 32 | (uint64_t)n[5]};
}

/* Takes the request from `web_numbers`. */
EXPORT(create) tamis *web_create(const uint8_t *key, double max_bytes)
{
    const tamis_plan plan = distinct_plan();
    const tamis_options o = web_options(key, 0, max_bytes);
    tamis *t = NULL;
    tamis_create(&plan, &o, &t, &web_why);
    return t;
}

EXPORT(merge) int web_merge(tamis *into, const tamis *from)
{
    return tamis_merge(into, from, &web_why);
}

/* Puts the count, its interval, its error and whether it is exact into `web_numbers`. */
EXPORT(count) int web_count(const tamis *t)
{
    tamis_cardinality n = {.struct_size = sizeof n};
    const tamis_status s = tamis_distinct(t, &n, &web_why);
    const double out[] = {n.value, n.low, n.high, n.error, n.exact};
    memcpy(web_numbers, out, sizeof out);
    return s;
}
