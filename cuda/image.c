/* Reads the header and the sections of an image (docs/FORMAT.md). The library has written the image
 * a moment ago, so nothing here is hostile; what is checked is whether a device can use it. */
#include "image.h"

#include <tamis/inspect.h>

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SEALED = 1, STRICT = 2 };                    /* flags at 20 */
enum { CELLS = 1, COLLECTION = 3, THRESHOLDS = 4 }; /* roles of sections */
enum { RIBBON_LAST = 1, RIBBON_NOTHING = 2 };       /* variants of a ribbon's sections */
enum {
    OF_ROLE = 0,
    OF_VARIANT = 4,
    OF_BITS = 6,
    OF_K = 8,
    OF_SALT = 12,
    OF_M = 16,
    OF_EDGE = 32,
    OF_OFFSET = 48
}; /* fields of a section */

tamis_status tamis_cuda__fail(tamis_error *why, tamis_status status, const char *format, ...)
{
    if (why == NULL) return status;
    va_list args;
    memset(why, 0, sizeof *why);
    why->status = status;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return status;
}

static uint64_t field(const uint8_t *p, unsigned bytes)
{
    uint64_t v = 0;
    while (bytes-- > 0) v = v << 8 | p[bytes];
    return v;
}

static tamis_status refuse(tamis_error *why, const char *reason)
{
    tamis_cuda__fail(why, TAMIS_EUNSUPPORTED, "%s", reason);
    if (why != NULL) why->better_kind = TAMIS_BLOCKED;
    return TAMIS_EUNSUPPORTED;
}

static tamis_status blocked_shape(const uint8_t *section, struct shape *out, tamis_error *why)
{
    if (field(section + OF_VARIANT, 2) != 0)
        return refuse(why, "a device does not take compact filters (TAMIS_COMPACT), only blocked "
                           "ones");
    out->table.lines = field(section + OF_M, 8) / 512;
    if (out->table.lines > UINT64_C(1) << 32)
        return refuse(why, "a device takes at most 2^32 lines of 64 bytes");
    return TAMIS_OK;
}

static void fuse_shape(const uint8_t *section, struct table *t)
{
    t->d = (uint32_t)field(section + OF_K, 4);
    t->bits = (uint32_t)field(section + OF_BITS, 2);
    t->log = (uint32_t)field(section + OF_VARIANT, 2);
    t->step = field(section + OF_SALT, 4) * UINT64_C(0x9e3779b97f4a7c15);
    t->starts = field(section + OF_M, 8) - ((uint64_t)(t->d - 1) << t->log);
}

static void *offset_from(uint64_t first, const uint8_t *section)
{
    return (void *)(uintptr_t)(field(section + OF_OFFSET, 8) - first);
}

static void ribbon_shape(const uint8_t *section, uint32_t sections, uint64_t first, struct table *t)
{
    for (uint32_t i = 0; i < sections; i++, section += 64) {
        const uint64_t variant = field(section + OF_VARIANT, 2);
        struct table_layer *l;
        if (field(section + OF_ROLE, 2) == THRESHOLDS) {
            t->layer[t->layers - 1].thresholds = (const uint8_t *)offset_from(first, section);
            continue;
        }
        if (variant == RIBBON_NOTHING || t->layers == TABLE_LAYERS) return;
        l = &t->layer[t->layers++];
        l->segments = field(section + OF_M, 8);
        l->boundary = field(section + OF_EDGE, 8);
        l->columns = (uint32_t)field(section + OF_K, 4);
        l->last = variant == RIBBON_LAST;
        l->solution = (const uint64_t *)offset_from(first, section);
    }
}

uint32_t tamis_cuda__key_width(const tamis_plan *plan)
{
    switch (plan->encoding) {
    case TAMIS_KEYS_INT64: return 8;
    case TAMIS_KEYS_SHA256: return 32;
    case TAMIS_KEYS_FIXED: return plan->key_width;
    default: return 0;
    }
}

static void plan_of(const uint8_t *h, struct shape *out)
{
    tamis_plan *p = &out->plan;
    uint64_t rate = field(h + 72, 8);
    p->struct_size = sizeof *p;
    p->kind = (uint32_t)field(h + 30, 2);
    p->items = field(h + 64, 8);
    memcpy(&p->fpr, &rate, 8);
    p->seed = field(h + 32, 8);
    p->m = field(h + 128 + OF_M, 8);
    if (out->hash == TAMIS_CALLER_HASH) p->flags = TAMIS_HASH_CALLER;
    memcpy(out->key_id, h + 40, 16);
    p->encoding = h[25];
    p->key_width = (uint32_t)field(h + 26, 2);
    out->key_width = tamis_cuda__key_width(p);
}

tamis_status tamis_cuda__shape(const uint8_t *image, size_t n, struct shape *out, tamis_error *why)
{
    const uint8_t *section = image + 128;
    memset(out, 0, sizeof *out);
    if (n < 192) return tamis_cuda__fail(why, TAMIS_ECORRUPT, "the image is too short");
    const uint32_t sections = (uint32_t)field(image + 104, 4);
    out->hash = (uint32_t)field(image + 28, 2);
    plan_of(image, out);
    out->sealed = (field(image + 20, 4) & SEALED) != 0;
    out->strict = (field(image + 20, 4) & STRICT) != 0;
    out->first = field(section + OF_OFFSET, 8);
    out->table.kind = out->plan.kind;
    out->table.bytes = field(image + 112, 8) - out->first;
    if (field(section + OF_ROLE, 2) == COLLECTION)
        return tamis_cuda__fail(why, TAMIS_EINVAL,
                                "the filter must be sealed before it is moved "
                                "to a device");
    switch (out->plan.kind) {
    case TAMIS_BLOCKED: return blocked_shape(section, out, why);
    case TAMIS_FUSE: fuse_shape(section, &out->table); return TAMIS_OK;
    case TAMIS_RIBBON:
        if (n < 128 + 64 * (size_t)sections)
            return tamis_cuda__fail(why, TAMIS_ECORRUPT, "the ribbon has too many sections");
        ribbon_shape(section, sections, out->first, &out->table);
        return TAMIS_OK;
    default: break;
    }
    const char *name = tamis_kind_name(out->plan.kind);
    tamis_cuda__fail(why, TAMIS_EUNSUPPORTED,
                     "a device takes blocked, fuse and ribbon filters, not %s",
                     name != NULL ? name : "this kind");
    if (why != NULL) why->better_kind = TAMIS_BLOCKED;
    return TAMIS_EUNSUPPORTED;
}

void tamis_cuda__place(struct table *t, void *cells)
{
    uint8_t *base = (uint8_t *)cells;
    t->cells = (uint64_t *)cells;
    for (uint32_t i = 0; i < t->layers; i++) {
        struct table_layer *l = &t->layer[i];
        l->solution = (const uint64_t *)(const void *)(base + (uintptr_t)l->solution);
        if (!l->last) l->thresholds = base + (uintptr_t)l->thresholds;
    }
}
