/* The list of all kinds. */
#include "kind.h"

#include <string.h>

#define KINDS_OF_FILTERS(KIND)                                                                     \
    KIND(tamis__bloom)                                                                             \
    KIND(tamis__partitioned)                                                                       \
    KIND(tamis__blocked)                                                                           \
    KIND(tamis__counting)                                                                          \
    KIND(tamis__pair)                                                                              \
    KIND(tamis__growing)                                                                           \
    KIND(tamis__window)                                                                            \
    KIND(tamis__cuckoo)                                                                            \
    KIND(tamis__fuse)                                                                              \
    KIND(tamis__ribbon)                                                                            \
    KIND(tamis__exact)
#ifdef TAMIS_LEAN
#define KINDS_OF_SKETCHES(KIND)
#else
#define KINDS_OF_SKETCHES(KIND)                                                                    \
    KIND(tamis__count_min)                                                                         \
    KIND(tamis__count_sketch)                                                                      \
    KIND(tamis__tally)                                                                             \
    KIND(tamis__signed_tally)
#endif
#if defined TAMIS_LEAN || defined TAMIS_NO_TOP
#define KINDS_NOT_ON_THE_PAGE(KIND)
#else
#define KINDS_NOT_ON_THE_PAGE(KIND)                                                                \
    KIND(tamis__top)                                                                               \
    KIND(tamis__private)
#endif
#define EVERY_KIND(KIND) KINDS_OF_FILTERS(KIND) KINDS_OF_SKETCHES(KIND) KINDS_NOT_ON_THE_PAGE(KIND)

#define DECLARE_KIND(name) extern const struct kind name;
EVERY_KIND(DECLARE_KIND)

#define ADDRESS_OF_KIND(name) &name,
static const struct kind *const kinds[] = {EVERY_KIND(ADDRESS_OF_KIND)};
#define KINDS (sizeof kinds / sizeof *kinds)

const struct kind *tamis__kind(uint32_t id)
{
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->id == id) return kinds[i];
    return NULL;
}

static void append_name(struct kind_names *to, const struct kind *k)
{
    const size_t used = strlen(to->text), n = strlen(k->name), comma = used != 0 ? 2 : 0;
    if (used + comma + n >= sizeof to->text) return;
    memcpy(to->text + used, ", ", comma);
    memcpy(to->text + used + comma, k->name, n + 1);
}

const char *tamis__kinds_that_accept(uint32_t any, struct kind_names *room)
{
    room->text[0] = 0;
    for (size_t i = 0; i < KINDS; i++)
        if ((kinds[i]->accepts & any) != 0) append_name(room, kinds[i]);
    return room->text;
}

const char *tamis__kinds_of_parts(struct kind_names *room)
{
    room->text[0] = 0;
    for (size_t i = 0; i < KINDS; i++)
        if (kinds[i]->sizing != NULL) append_name(room, kinds[i]);
    return room->text;
}

const char *tamis_kind_name(uint32_t kind)
{
    const struct kind *k = tamis__kind(kind);
    return k != NULL ? k->name : NULL;
}

uint32_t tamis_kind_named(const char *name)
{
    for (size_t i = 0; i < KINDS; i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i]->id;
    return TAMIS_AUTO;
}
