#ifndef TAMIS_CLI_GROW_H
#define TAMIS_CLI_GROW_H

#include "../frame/args.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

/* add --grow: adds the lines of the words after the first to t, which was opened from path. If it
 * has no room for them, it is built again with twice the room from --from and these lines. Returns
 * the exit status (grow.c). */
int grow_and_save(const struct args *a, tamis *t, const char *path);

#endif
