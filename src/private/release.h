/* tamis_release with the randomness of the caller's choice; only tests have another than the
 * system's. */
#ifndef TAMIS_RELEASE_H
#define TAMIS_RELEASE_H

#include "../core/random.h"

#include <tamis/tamis.h>

tamis_status tamis__release(const tamis *from, double epsilon, const struct randomness *random,
                            tamis **out, tamis_error *why);

#endif
