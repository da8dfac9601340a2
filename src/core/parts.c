/* Parts of a structure, one for each thread. */
#include "../frequency/noise.h"
#include "../image/image.h"
#include "error.h"
#include "gate.h"
#include "single.h"
#include "snapshot.h"

#include <tamis/parts.h>

/* tamis_clear for a handle that is not read-only. It keeps the epoch, which says which generations
 * a window has, and not what is in them. */
static void empty(tamis *t)
{
    const uint64_t epoch = tamis__extra(t)->epoch;
    tamis_clear(t);
    if (epoch != 0) tamis__extra(t)->epoch = epoch;
}

tamis_status tamis_part(const tamis *t, tamis **out, tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    if (t->kind->merge == NULL)
        return tamis__unsupported(why, TAMIS_BLOCKED, "%s filters have no parts that can be joined",
                                  t->kind->name);
    if (t->sealed || t->newer || t->kind->add == NULL)
        return tamis__fail(why, TAMIS_ESEALED, "nothing can be added to this %s", t->kind->name);
    tamis *part = tamis__new_like(t);
    if (part == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    struct gate_slot *slot = tamis__gate_enter(t->body.extra->gate);
    tamis__take_fields(part, t);
    tamis__gate_leave(slot);
    part->body.shared = part->borrowed = part->read_only = false;
    part->generation = 0;
    if (!tamis__alloc_cells(part, true)) {
        tamis_close(part);
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory for %llu bytes",
                           (unsigned long long)tamis_image_size(t));
    }
    if (tamis__has_extra(part)) part->body.extra->moved = 0;
    empty(part);
    tamis__choose(part);
    *out = part;
    return TAMIS_OK;
}

static tamis_status name_part(size_t part, tamis_status s, const tamis_error *inner,
                              tamis_error *why)
{
    const uint32_t better = inner->better_kind;
    tamis__fail(why, s, "part %llu: %.*s", (unsigned long long)part, (int)sizeof inner->text - 32,
                inner->text);
    if (why != NULL) why->better_kind = better;
    return s;
}

static tamis_status check_part(const tamis *into, tamis *const *parts, size_t i, tamis_error *why)
{
    if (parts[i] == NULL) return tamis__fail(why, TAMIS_EINVAL, "it is NULL");
    for (size_t j = 0; j < i; j++)
        if (parts[j] == parts[i]) return tamis__fail(why, TAMIS_EINVAL, "it occurs twice");
    const tamis_status s = tamis__may_merge(into, parts[i], why);
    if (s == TAMIS_OK && parts[i]->read_only)
        return tamis__fail(why, TAMIS_ESEALED, "it is read-only");
    return s;
}

/* Whether a merge of handles that fit can still fail. */
static bool merge_may_fail(const tamis *t)
{
    return t->strict || tamis__keeps_items(t) || (t->kind->traits & TAMIS__DISTINCT) != 0 ||
           (tamis__sketch(t) != NULL && t->kind->rotate != NULL);
}

/* Gives `into` the content of its copy, which gets the old one. Each keeps its place for sections,
 * which may be within the handle, and `into` keeps its file. */
static void trade(tamis *into, tamis *copy)
{
    const tamis was = *into;
    struct section *const mine = into->body.sections, *const theirs = copy->body.sections;
    const bool apart = copy->body.apart;
    for (uint32_t i = 0; i < was.body.count; i++) {
        const struct section one = mine[i];
        mine[i] = theirs[i];
        theirs[i] = one;
    }
    *into = *copy;
    into->body.sections = mine;
    into->body.apart = was.body.apart;
    into->file = was.file;
    *copy = was;
    copy->body.sections = theirs;
    copy->body.apart = apart;
    copy->file = NULL;
}

static tamis_status merge_parts(tamis *into, tamis *const *parts, size_t n, tamis_error *why)
{
    for (size_t i = 0; i < n; i++) {
        tamis_error inner;
        const tamis_status s = tamis_merge(into, parts[i], &inner);
        if (s != TAMIS_OK) return name_part(i, s, &inner, why);
    }
    return TAMIS_OK;
}

tamis_status tamis_join(tamis *into, tamis *const *parts, size_t n, tamis_error *why)
{
    tamis *copy = NULL;
    tamis_status s = TAMIS_OK;
    if (parts == NULL && n != 0)
        return tamis__fail(why, TAMIS_EINVAL, "the parts must not be NULL");
    for (size_t i = 0; i < n && s == TAMIS_OK; i++) {
        tamis_error inner = {.better_kind = 0};
        s = check_part(into, parts, i, &inner);
        if (s != TAMIS_OK) return name_part(i, s, &inner, why);
    }
    if (n > 1 && merge_may_fail(into)) s = tamis_copy(into, &copy, why);
    if (s == TAMIS_OK) s = merge_parts(copy != NULL ? copy : into, parts, n, why);
    if (s == TAMIS_OK && copy != NULL) trade(into, copy);
    tamis_close(copy);
    for (size_t i = 0; i < n && s == TAMIS_OK; i++) empty(parts[i]);
    return s;
}
