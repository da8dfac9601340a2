#include "snapshot.h"

#include "../image/image.h"
#include "../kernels/locked.h"
#include "bulk.h"
#include "locks.h"
#include "memory.h"

static void take_shared_fields(tamis *copy, const tamis *t)
{
    const struct handle_extra *from = tamis__extra(t);
    struct body_extra *extra = copy->body.extra;
    tamis__lock(&tamis__extra(t)->lock);
    tamis__copy_shared(copy, t, offsetof(tamis, file));
    tamis__copy_shared(extra, from, offsetof(struct handle_extra, noise));
    tamis__unlock(&tamis__extra(t)->lock);
    copy->body.extra = extra;
    /* A word has 32 bits on some machines, and would be half of a number. */
    if (t->body.extra->gate == NULL) copy->items = tamis__items(t);
    copy->changed = tamis__changed(t);
    copy->body.extra->moved = tamis__load64(&t->body.extra->moved);
}

void tamis__take_fields(tamis *copy, const tamis *t)
{
    struct section *sections = copy->body.sections;
    struct body_extra *extra = copy->body.extra;
    const uint32_t count = t->body.count;
    if (tamis__in_use(&t->body)) {
        take_shared_fields(copy, t);
        tamis__copy_shared(sections, t->body.sections, count * sizeof *sections);
        for (uint32_t i = 0; i < count; i++)
            sections[i].items = tamis__load64(&t->body.sections[i].items);
    } else {
        memcpy(copy, t, offsetof(tamis, file));
        copy->body.extra = extra;
        if (tamis__has_extra(t)) memcpy(extra, t->body.extra, offsetof(struct handle_extra, noise));
        memcpy(sections, t->body.sections, count * sizeof *sections);
    }
    copy->body.sections = sections;
    if (t->body.extra->gate != NULL) copy->items = tamis__sum_items(&copy->body);
    copy->body.apart = false;
    if (!tamis__has_extra(copy)) return;
    tamis__extra(copy)->weight = tamis__weight(copy);
    extra->spill = NULL;
    extra->locks = NULL;
    extra->directory = NULL;
    extra->gate = NULL;
}

/* The thread sanitizer of gcc does not see what a short memcpy reads, so words are copied. */
static void take_lines(uint8_t *to, const uint8_t *from, uint64_t length, struct line_locks *locks)
{
    for (uint64_t at = 0; at < length; at += 64) {
        uint32_t *lock = &tamis__line_lock(locks, at / 64)->held;
        tamis__lock(lock);
        tamis__copy_shared(to + at, from + at, length - at < 64 ? (size_t)(length - at) : 64);
        tamis__unlock(lock);
    }
}

void tamis__take_cells(const tamis *copy, const tamis *t)
{
    for (uint32_t i = 0; i < t->body.count; i++) {
        const struct section *from = &t->body.sections[i], *to = &copy->body.sections[i];
        if (t->body.extra->locks != NULL && (t->kind->traits & TAMIS__STRIPED) != 0)
            take_lines(to->cells, from->cells, to->length, t->body.extra->locks);
        else if (tamis__in_use(&t->body))
            tamis__copy_shared(to->cells, from->cells, (size_t)to->length);
        else
            memcpy(to->cells, from->cells, (size_t)to->length);
    }
}

tamis_status tamis__still(const tamis *t, tamis **made, tamis_error *why)
{
    *made = NULL;
    if (!tamis__in_use(&t->body)) return TAMIS_OK;
    const tamis_status s = tamis_copy(t, made, why);
    if (s == TAMIS_OK) (*made)->body.shared = false;
    return s;
}

static bool has_more(const tamis *t, const tamis *saved)
{
    return tamis__items(t) != saved->items || tamis__weight(t) != tamis__extra(saved)->weight ||
           tamis__moved(&t->body) != saved->body.extra->moved ||
           tamis__is_suspect(t) != tamis__is_suspect(saved);
}

void tamis__adopt_generation(tamis *t, const tamis *saved)
{
    const uint64_t generation = tamis__generation(saved);
    if (tamis__in_use(&t->body)) tamis__lock(&tamis__extra(t)->lock);
    t->generation = generation;
    /* An add changes the totals before it sets `changed`, so this thread sees the new totals, or
     * the add sets `changed` later. */
    (void)__atomic_exchange_n(&t->changed, false, __ATOMIC_ACQ_REL);
    tamis__mark_saved(t, saved);
    if (saved != t && has_more(t, saved)) __atomic_store_n(&t->changed, true, __ATOMIC_RELAXED);
    if (tamis__in_use(&t->body)) tamis__unlock(&tamis__extra(t)->lock);
}

tamis_status tamis_write(const tamis *t, tamis_sink put, void *ctx, tamis_error *why)
{
    uint64_t root;
    tamis *made;
    if (why != NULL) why->status = TAMIS_OK;
    tamis_status s = tamis__still(t, &made, why);
    if (s == TAMIS_OK) s = tamis__image_write(made != NULL ? made : t, put, ctx, &root, why);
    tamis_close(made);
    return s;
}
