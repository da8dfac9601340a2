/* What a handle reports about itself. */
#include "../distinct/distinct.h"
#include "../frequency/noise.h"
#include "../image/image.h"
#include "encoding.h"
#include "handle.h"
#include "sized.h"
#include "snapshot.h"
#include "spin.h"

#include <math.h>
#include <tamis/inspect.h>

void tamis__gauge(const tamis *t, const struct body *other, double z, struct gauge *out)
{
    memset(out, 0, sizeof *out);
    t->kind->gauge(&t->body, other, z, out);
}

static uint64_t locked_generation(const tamis *t)
{
    if (!tamis__in_use(&t->body)) return tamis__generation(t);
    tamis__lock(&tamis__extra(t)->lock);
    const uint64_t generation = tamis__generation(t);
    tamis__unlock(&tamis__extra(t)->lock);
    return generation;
}

/* A growing filter with shares has many tables, with slots of several sizes. */
static void facts_of_shares(const struct body *b, tamis_facts *out)
{
    for (uint32_t i = 1; i < b->count; i++) out->m += b->sections[i].m;
    if (b->count > 1) out->cell_bits = 0;
}

/* Everything that tamis_info reports without reading the cells. The other fields are 0. */
static void facts_of_content(const tamis *t, tamis_facts *out)
{
    memset(out, 0, sizeof *out);
    out->kind = t->kind->id;
    out->hash = t->hasher.id;
    out->k = t->body.sections->k;
    out->m = t->body.sections->m;
    out->format = TAMIS__FORMAT;
    out->seed = tamis__hasher_seed(&t->hasher);
    out->keyed = t->hasher.id == TAMIS_SIPHASH;
    memcpy(out->key_id, tamis__hasher_key_id(&t->hasher), sizeof out->key_id);
    out->strict = t->strict;
    out->sealed = t->sealed;
    out->collecting = t->kind->sealing != NULL && t->kind->sealing->seal != NULL && !t->sealed;
    out->read_only = t->read_only;
    out->auto_rotate = t->body.extra->turn_at != 0;
    out->may_miss = (t->kind->traits & TAMIS__MISSES) != 0;
    out->cell_bits = t->body.sections->cell_bits;
    out->sections = t->body.count;
    if (t->kind->id == TAMIS_GROWING) facts_of_shares(&t->body, out);
    out->items_estimated = t->items_estimated;
    out->hash_suspect = tamis__is_suspect(t);
    out->bytes = tamis_image_size(t);
    out->items = tamis__items(t);
    out->epoch = __atomic_load_n(&tamis__extra(t)->epoch, __ATOMIC_RELAXED);
    out->encoding = tamis__encoding(t->stated);
    out->key_width = tamis__key_length(t);
    out->removable = tamis__removes(t);
    if (tamis__sketch(t) != NULL) {
        tamis__sketch_facts(t, out);
        return;
    }
    if (tamis__counts_distinct(&t->body)) {
        out->items = 0;
        out->error = tamis__distinct_error((double)out->m);
        if (t->kind->rotate == NULL) return;
        out->inner_kind = TAMIS_DISTINCT;
        out->generations = t->body.count;
        return;
    }
    out->planned_items = t->planned_items;
    out->fpr_planned = t->planned_fpr;
}

/* The generation comes last, so that a handle which reports more items than its file also reports a
 * later generation, unless an add is under way. */
static void known_facts(const tamis *t, tamis_facts *out)
{
    facts_of_content(t, out);
    out->generation = locked_generation(t);
}

tamis_status tamis_stat(const tamis *t, tamis_facts *out)
{
    tamis_facts f;
    const tamis_status s = tamis__check_struct(out, "tamis_facts", NULL);
    if (s != TAMIS_OK) return s;
    known_facts(t, &f);
    f.overfull = (t->kind->traits & TAMIS__GROWS) == 0 && tamis__sketch(t) == NULL &&
                 f.items > t->planned_items;
    tamis__give_struct(out, &f, sizeof f);
    return TAMIS_OK;
}

static tamis_status tamis_look(const tamis *t, tamis_facts *out)
{
    struct gauge g;
    tamis__gauge(t, NULL, TAMIS__Z99, &g);
    const double items = (double)tamis__items(t);
    const struct estimate e = /* cells of sealed kinds show no number of items */
        t->kind->sealing != NULL ? (struct estimate){items, items, items} : g.items;
    const bool empty = items == 0;
    known_facts(t, out);
    /* An estimated number of items counts as too high only if its lower bound is too high. */
    const double held = g.held > 0 ? g.held : t->items_estimated ? e.low : items;
    out->overfull = (t->kind->traits & TAMIS__GROWS) == 0 && tamis__sketch(t) == NULL &&
                    held > (double)t->planned_items;
    /* One generation may have more than its share while the others have less, so the rate
     * decides. */
    if (t->kind->rotate != NULL && g.rate <= t->planned_fpr) out->overfull = false;
    out->miss_rate = g.miss_rate;
    out->epsilon = g.epsilon;
    out->saturated = g.saturated;
    out->overflow = g.overflow;
    out->excluded = g.excluded;
    out->fpr_now = out->fpr_now_low = out->fpr_now_high = g.rate;
    out->items_estimate = e.value;
    out->items_low = e.low;
    out->items_high = e.high;
    out->fill = (double)g.hit / (double)g.cells;
    /* If some keys certainly count more than once, only distinct keys matter here. */
    const double distinct =
        (t->kind->traits & TAMIS__MULTISET) != 0 && items > e.high ? e.value : items;
    out->bits_per_item = 8 * (double)out->bytes / (empty ? (double)t->planned_items : distinct);
    const double rate = empty || g.rate <= 0 ? t->planned_fpr : g.rate;
    out->bound = tamis__bound(t->kind, rate, items, (double)g.excluded, t->body.sections->cell_bits,
                              &out->bound_bits);
    if (out->bound != TAMIS_BOUND_NONE) out->bound_ratio = out->bits_per_item / out->bound_bits;
    if (tamis__counts_distinct(&t->body)) {
        out->items = e.value < TAMIS__MOST_DISTINCT ? (uint64_t)(e.value + 0.5) : UINT64_MAX;
        out->items_estimated = e.low < e.high;
        out->bits_per_item = out->bound_bits = out->bound_ratio = 0;
        out->bound = TAMIS_BOUND_NONE;
    }
    return tamis__sketch(t) != NULL ? tamis__noise_facts(t, out) : TAMIS_OK;
}

tamis_status tamis_info(const tamis *t, tamis_facts *out)
{
    tamis_facts f;
    tamis *made = NULL;
    tamis_status s = tamis__check_struct(out, "tamis_facts", NULL);
    if (s == TAMIS_OK) s = tamis__still(t, &made, NULL);
    if (s == TAMIS_OK) s = tamis_look(made != NULL ? made : t, &f);
    if (s == TAMIS_OK) tamis__give_struct(out, &f, sizeof f);
    tamis_close(made);
    return s;
}

size_t tamis_cells_of(const tamis *t, const void *key, size_t len, uint64_t *cells, size_t max)
{
    if (!t->hasher.usable || t->kind->cells_of == NULL || tamis__wrong_length(t, len)) return 0;
    return t->kind->cells_of(&t->body, tamis__hash_key(&t->hasher, key, len), cells, max);
}

uint64_t tamis_cell(const tamis *t, uint64_t cell)
{
    const struct section *s = t->body.sections;
    if (t->kind->cells_of == NULL || cell >= s->length * 8 / s->cell_bits) return 0;
    return tamis__cell(s, cell);
}
