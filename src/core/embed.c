/* Filters inside other things (embed.h). */
#include "../image/image.h"
#include "error.h"
#include "memory.h"
#include "plan.h"
#include "sized.h"

#include <tamis/embed.h>

/* --- A view in the caller's room -------------------------------------------------------------- */

#define ARENA_ALIGN 16u

/* At the beginning of the room. It never takes memory back, because the room belongs to the
 * caller. */
struct arena {
    tamis_memory memory;
    size_t left;
    uint8_t *at;
};

static size_t arena_round(size_t n)
{
    return (n + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
}

static void *arena_alloc(void *ctx, size_t size)
{
    struct arena *a = ctx;
    const size_t n = arena_round(size);
    if (n < size || n > a->left) return NULL;
    uint8_t *p = a->at;
    a->at += n;
    a->left -= n;
    return p;
}

static void arena_free(void *ctx, void *p)
{
    (void)ctx;
    (void)p;
}

/* The room that the arena and the blocks of tamis__image_read take. */
static uint64_t room_for(const void *image, size_t size, const tamis_options *o)
{
    uint64_t blocks[5], sum = arena_round(sizeof(struct arena)) + ARENA_ALIGN - 1;
    if (!tamis__image_blocks(image, size, o, blocks))
        return sum; /* it is refused before any block */
    for (int i = 0; i < 5; i++) sum += arena_round((size_t)blocks[i]);
    return sum;
}

static tamis_status check_view_options(const tamis_options *o, tamis_error *why)
{
    const bool set = o->memory != NULL || o->key != NULL || o->scratch_bytes != 0 ||
                     o->threads != 0 || o->temp_dir != NULL;
    return set ? tamis__fail(why, TAMIS_EINVAL,
                             "a view in the caller's room takes no memory, key, scratch_bytes, "
                             "threads or temp_dir")
               : TAMIS_OK;
}

tamis_status tamis_view_at(void *room, size_t room_size, const void *image, size_t size,
                           const tamis_options *options, size_t *needed, tamis **out,
                           tamis_error *why)
{
    if (needed != NULL) *needed = 0;
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    tamis_status s = tamis__check_options(options, TAMIS__VIEW_FLAGS, &o, why);
    if (s == TAMIS_OK) s = check_view_options(&o, why);
    if (s != TAMIS_OK) return s;
    if (image == NULL || (room == NULL && room_size != 0))
        return tamis__fail(why, TAMIS_EINVAL, "the room and the image must not be NULL");
    const uint64_t need = room_for(image, size, &o);
    if (needed != NULL) *needed = (size_t)need;
    if (room_size < need)
        return tamis__fail(why, TAMIS_ENOMEM, "a room of %llu bytes is needed",
                           (unsigned long long)need);
    const size_t skip = (ARENA_ALIGN - (uintptr_t)room % ARENA_ALIGN) % ARENA_ALIGN;
    struct arena *a = (void *)((uint8_t *)room + skip);
    const size_t head = arena_round(sizeof *a);
    *a = (struct arena){.memory = {.ctx = a, .alloc = arena_alloc, .free = arena_free},
                        .left = room_size - skip - head,
                        .at = (uint8_t *)a + head};
    o.memory = &a->memory;
    const struct source src = {.size = size, .memory = image};
    return tamis__image_read(&src, &o, true, out, why);
}

/* --- Cells without a header ------------------------------------------------------------------- */

/* Whether everything about a filter of this kind follows from its plan and one section of cells. */
static bool is_only_cells(const struct kind *kind)
{
    const uint32_t more =
        TAMIS__SECTION_TOTALS | TAMIS__BOUNDARIES | TAMIS__GROWS | TAMIS__NOISY | TAMIS__EXCLUDES;
    return kind->sketch == NULL && kind->sketch_of == NULL && kind->sealing == NULL &&
           kind->layout != NULL && (kind->traits & more) == 0;
}

const void *tamis_raw_cells(const tamis *t, size_t *n)
{
    const bool only = is_only_cells(t->kind) && t->body.count == 1;
    *n = only ? (size_t)t->body.sections->length : 0;
    return only ? t->body.sections->cells : NULL;
}

static tamis_status check_cells(const tamis_plan *p, size_t n, struct section *section,
                                tamis_error *why)
{
    const struct kind *kind = tamis__kind(p->kind);
    if (kind == NULL || !is_only_cells(kind) || kind->layout(p, NULL) != 1)
        return tamis__unsupported(why, TAMIS_BLOCKED, "%s filters are more than their cells",
                                  kind != NULL ? kind->name : "unknown");
    kind->layout(p, section);
    if (section->length == n) return TAMIS_OK;
    return tamis__fail(why, TAMIS_EINVAL, "this plan has %llu bytes of cells, and %llu were given",
                       (unsigned long long)section->length, (unsigned long long)n);
}

static bool same_plan(const tamis_plan *a, const tamis_plan *b)
{
    return a->kind == b->kind && a->flags == b->flags && a->items == b->items && a->fpr == b->fpr &&
           a->bytes == b->bytes && a->m == b->m && a->k == b->k && a->cell_bits == b->cell_bits &&
           a->inner_kind == b->inner_kind && a->encoding == b->encoding &&
           a->key_width == b->key_width;
}

tamis_status tamis_view_cells(const tamis_plan *plan, const void *cells, size_t n,
                              const tamis_options *options, tamis **out, tamis_error *why)
{
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_options o;
    tamis_plan p, solved;
    tamis_promise unused;
    struct section section = {0};
    tamis_status s = tamis__take_struct(&p, sizeof p, plan, "tamis_plan", why);
    if (s == TAMIS_OK) s = tamis__check_options(options, 0, &o, why);
    if (s != TAMIS_OK) return s;
    if (cells == NULL) return tamis__fail(why, TAMIS_EINVAL, "the cells must not be NULL");
    solved = p;
    s = tamis__solve_plan(&solved, &unused, why);
    if (s != TAMIS_OK) return s;
    s = check_cells(&solved, n, &section, why);
    if (s != TAMIS_OK) return s;
    if (!same_plan(&p, &solved))
        return tamis__fail(why, TAMIS_EINVAL, "the plan is not solved; call tamis_solve first");
    s = tamis__from_plan(&solved, &o, cells, out, why);
    if (s != TAMIS_OK) return s;
    const char *reason = (*out)->kind->wrong_cells(&(*out)->body);
    if (reason == NULL) return TAMIS_OK;
    tamis_close(*out);
    *out = NULL;
    return tamis__corrupt(why, 0, reason);
}
