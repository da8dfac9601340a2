/* The tables of docs/ACCURACY.md about the most frequent items. */
#include "accuracy.h"
#include "url_log.h"

#include <tamis/inspect.h>

#define LINES 1000000u
#define TOP 100u

static void must(tamis_status s)
{
    if (s == TAMIS_OK) return;
    fprintf(stderr, "%s\n", tamis_status_message(s));
    exit(1);
}

struct listed {
    size_t found;          /* how many of the top 100 were found */
    double guess, bound;   /* mean errors of their counts */
    double below;          /* and of the guaranteed minimum */
    double in;             /* share of all URLs within their interval */
    uint32_t above, slots; /* URLs from the floor on; entries */
    int64_t floor;
};

static void check_hundred(const struct url_log *l, const tamis_heavy *list, size_t n,
                          struct listed *out)
{
    for (uint32_t i = 0; i < l->urls; i++)
        for (size_t j = 0; l->truth[i] > LINES / 10000 && j < n; j++) {
            const tamis_heavy *h = &list[j];
            if (h->item.len != l->text[i].len || memcmp(h->item.p, l->text[i].p, h->item.len) != 0)
                continue;
            out->guess += fabs((double)(h->count.estimate - l->truth[i])) / TOP;
            out->bound += (double)(h->count.upper - l->truth[i]) / TOP;
            out->below += (double)(l->truth[i] - h->count.lower) / TOP;
        }
}

static struct listed list_log(const struct url_log *l, uint64_t bytes)
{
    const tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_TOP, .bytes = bytes};
    tamis_facts f = {.struct_size = sizeof f};
    tamis_heavy list[TOP];
    struct listed out = {0};
    uint32_t came = 0;
    tamis *t;
    must(tamis_create(&p, NULL, &t, NULL));
    must(log_add(t, l));
    must(tamis_info(t, &f));
    const size_t n = tamis_top(t, list, TOP);
    out.found = log_found(l, list, n, TOP);
    check_hundred(l, list, n, &out);
    tamis_estimate *e = log_room(l->urls * sizeof *e);
    must(tamis_count_many(t, l->text, l->urls, e, NULL));
    for (uint32_t i = 0; i < l->urls; i++) {
        came += l->truth[i] != 0;
        out.in += l->truth[i] != 0 && e[i].lower <= l->truth[i] && l->truth[i] <= e[i].upper;
        out.above += l->truth[i] >= f.list_floor;
    }
    out.in /= came;
    out.slots = (uint32_t)f.entries;
    out.floor = f.list_floor;
    free(e);
    tamis_close(t);
    return out;
}

void print_top(void)
{
    struct url_log l = url_log(LINES);
    printf("| order | KiB | of the top 100 | best guess | upper bound | lower bound | all URLs "
           "covered | "
           "listed from | places above |\n|---|---|---|---|---|---|---|---|---|\n");
    for (enum log_order order = LOG_AS_IS; order < LOG_ORDERS; order++) {
        log_reorder(&l, order);
        for (uint64_t kib = 32; kib <= 512; kib *= 4) {
            const struct listed r = list_log(&l, kib << 10);
            printf("| %s | %u | %zu | %.3g | %.3g | %.3g | %.1f %% | %lld | %u of %u |\n",
                   log_order_names[order], (unsigned)kib, r.found, r.guess, r.bound, r.below,
                   100 * r.in, (long long)r.floor, r.above, r.slots);
        }
    }
    printf("\n");
    url_log_free(&l);
}
