/* All kinds, and which of them this build has. */
#include "kind.h"

#include "error.h"

#include <string.h>

/* The table of a kind without tamis__, its number, and its name. */
#define EVERY_KIND(KIND)                                                                           \
    KIND(bloom, TAMIS_BLOOM, "bloom")                                                              \
    KIND(partitioned, TAMIS_PARTITIONED, "partitioned")                                            \
    KIND(blocked, TAMIS_BLOCKED, "blocked")                                                        \
    KIND(counting, TAMIS_COUNTING, "counting")                                                     \
    KIND(pair, TAMIS_PAIR, "pair")                                                                 \
    KIND(growing, TAMIS_GROWING, "growing")                                                        \
    KIND(window, TAMIS_WINDOW, "window")                                                           \
    KIND(cuckoo, TAMIS_CUCKOO, "cuckoo")                                                           \
    KIND(fuse, TAMIS_FUSE, "fuse")                                                                 \
    KIND(ribbon, TAMIS_RIBBON, "ribbon")                                                           \
    KIND(exact, TAMIS_EXACT, "exact")                                                              \
    KIND(count_min, TAMIS_COUNT_MIN, "count-min")                                                  \
    KIND(count_sketch, TAMIS_COUNT_SKETCH, "count-sketch")                                         \
    KIND(tally, TAMIS_TALLY, "tally")                                                              \
    KIND(signed_tally, TAMIS_SIGNED_TALLY, "signed-tally")                                         \
    KIND(top, TAMIS_TOP, "top")                                                                    \
    KIND(private, TAMIS_PRIVATE, "private")                                                        \
    KIND(value_map, TAMIS_VALUE_MAP, "map")                                                        \
    KIND(distinct, TAMIS_DISTINCT, "distinct")

/* TAMIS_KINDS is the list of the kinds that this build has, as in
 * -DTAMIS_KINDS=TAMIS_BLOCKED,TAMIS_FUSE. If it is not defined, the build has all kinds. Nothing
 * refers to the table of another kind, so a linker can drop the functions of that kind. */
#define BIT_OF(id) (UINT64_C(1) << (id))
#ifdef TAMIS_KINDS
#define BITS_OF_20(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, ...)                \
    (BIT_OF(a) | BIT_OF(b) | BIT_OF(c) | BIT_OF(d) | BIT_OF(e) | BIT_OF(f) | BIT_OF(g) |           \
     BIT_OF(h) | BIT_OF(i) | BIT_OF(j) | BIT_OF(k) | BIT_OF(l) | BIT_OF(m) | BIT_OF(n) |           \
     BIT_OF(o) | BIT_OF(p) | BIT_OF(q) | BIT_OF(r) | BIT_OF(s) | BIT_OF(t))
#define BITS_OF(...)                                                                               \
    BITS_OF_20(__VA_ARGS__, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
#define IS_LINKED(id) ((BITS_OF(TAMIS_KINDS) & BIT_OF(id)) != 0)
#else
#define IS_LINKED(id) 1
#endif
_Static_assert(!IS_LINKED(TAMIS_TOP) || IS_LINKED(TAMIS_TALLY), "top requires tally");

#define DECLARE_KIND(table, id, name) extern const struct kind tamis__##table;
EVERY_KIND(DECLARE_KIND)

#define ROW_OF_KIND(table, id, name) {id, name, IS_LINKED(id) ? &tamis__##table : NULL},
static const struct {
    uint32_t id;
    const char *name;
    const struct kind *kind; /* NULL: not in this build */
} kinds[] = {EVERY_KIND(ROW_OF_KIND)};
#define KINDS (sizeof kinds / sizeof *kinds)

const struct kind *tamis__kind(uint32_t id)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].id == id) return kinds[i].kind;
    return NULL;
}

extern const struct kind tamis__growing_removable;

const struct kind *tamis__removable_kind(uint32_t id)
{
    return id == TAMIS_GROWING && IS_LINKED(TAMIS_GROWING) ? &tamis__growing_removable : NULL;
}

tamis_status tamis__no_kind(uint32_t id, tamis_status unknown, tamis_error *why)
{
    const char *name = tamis_kind_name(id);
    if (name == NULL && unknown == TAMIS_EVERSION)
        return tamis__fail(why, unknown, "kind %u is of a newer version of Tamis", id);
    if (name == NULL) return tamis__fail(why, unknown, "kind %u is not in this library", id);
    return tamis__fail(why, TAMIS_EUNSUPPORTED, "the kind %s is not in this build of the library",
                       name);
}

static void append_name(struct kind_names *to, const char *name)
{
    const size_t used = strlen(to->text), n = strlen(name), comma = used != 0 ? 2 : 0;
    if (used + comma + n >= sizeof to->text) return;
    memcpy(to->text + used, ", ", comma);
    memcpy(to->text + used + comma, name, n + 1);
}

static const char *names_or_none(struct kind_names *room)
{
    if (room->text[0] == 0) append_name(room, "kinds that are not in this build");
    return room->text;
}

const char *tamis__kinds_that_accept(uint32_t any, struct kind_names *room)
{
    room->text[0] = 0;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind != NULL && (kinds[i].kind->accepts & any) != 0)
            append_name(room, kinds[i].name);
    return names_or_none(room);
}

const char *tamis__kinds_of_parts(struct kind_names *room)
{
    room->text[0] = 0;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].kind != NULL && kinds[i].kind->sizing != NULL)
            append_name(room, kinds[i].name);
    return names_or_none(room);
}

const char *tamis_kind_name(uint32_t kind)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i].id == kind) return kinds[i].name;
    return NULL;
}

uint32_t tamis_kind_named(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i].name, name) == 0) return kinds[i].id;
    return TAMIS_AUTO;
}
