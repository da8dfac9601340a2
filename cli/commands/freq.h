/* Parts of freq that sets at redis:// addresses use as well (freq.c). */
#ifndef TAMIS_CLI_FREQ_H
#define TAMIS_CLI_FREQ_H

#include "../frame/args.h"

#include <tamis/count.h>
#include <tamis/tamis.h>

/* One line of output: a count and its item, or an object. */
void print_frequency(const struct args *a, tamis_bytes item, const tamis_estimate *e);

#endif
