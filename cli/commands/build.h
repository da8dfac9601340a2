#ifndef TAMIS_CLI_BUILD_H
#define TAMIS_CLI_BUILD_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* The filter that `tamis build` would make of the words of these arguments, before it is sealed
 * (build.c). NULL after a message. */
tamis *build_filter(const struct args *a);

#endif
