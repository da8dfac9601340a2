#include "kind.h"

#include <string.h>

static const struct kind *const kinds[] = {
    &tamis__bloom,     &tamis__partitioned,  &tamis__blocked, &tamis__counting,
    &tamis__pair,      &tamis__growing,      &tamis__window,  &tamis__cuckoo,
    &tamis__fuse,      &tamis__ribbon,       &tamis__exact,
#ifndef TAMIS_LEAN
    &tamis__count_min, &tamis__count_sketch, &tamis__tally,   &tamis__signed_tally,
#ifndef TAMIS_NO_TOP
    &tamis__top,       &tamis__private,
#endif
#endif
};

const struct kind *tamis__kind(uint32_t id)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i]->id == id) return kinds[i];
    return NULL;
}

#if !defined TAMIS_LEAN && !defined TAMIS_NO_TOP
const struct kind *tamis__kind_of(uint32_t id, uint32_t inner, bool lists)
{
    const struct kind *part = id == TAMIS_WINDOW ? tamis__kind(inner) : NULL;
    if (part == NULL || (part->traits & TAMIS__WEIGHS) == 0) return tamis__kind(id);
    const bool two_sided = (part->traits & TAMIS__TWO_SIDED) != 0;
    return tamis__windows_of_counts + (lists ? 2 : two_sided ? 1 : 0);
}
#endif

const char *tamis_kind_name(uint32_t kind)
{
    const struct kind *k = tamis__kind(kind);
    return k != NULL ? k->name : NULL;
}

uint32_t tamis_kind_named(const char *name)
{
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(kinds[i]->name, name) == 0) return kinds[i]->id;
    return TAMIS_AUTO;
}
