/* Items that are looked up: arguments, or the lines of standard input (freq, get). */
#ifndef TAMIS_CLI_ITEMS_H
#define TAMIS_CLI_ITEMS_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* False after a message when the options do not fit the arguments after the first. */
bool check_items(const struct args *a);

/* Passes the arguments after the first, and the lines of standard input for "-" or if there are
 * none, to `use`, which prints to standard output. False after a message, also of `use`. */
typedef bool use_items(void *ctx, const tamis_bytes *items, size_t n);
bool read_items(const struct args *a, use_items *use, void *ctx);

#endif
