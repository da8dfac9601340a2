/* tamis_release with a given source of randomness. Only tests use another one than the system's. */
#ifndef TAMIS_RELEASE_H
#define TAMIS_RELEASE_H

#include "../core/random.h"

#include <tamis/tamis.h>

tamis_status tamis__release(const tamis *from, double epsilon, const struct randomness *random,
                            tamis **out, tamis_error *why);

#endif
