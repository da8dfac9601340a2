#ifndef TAMIS_CLI_ROTATE_H
#define TAMIS_CLI_ROTATE_H

#include "../frame/args.h"

/* The epoch of --to, or of --every and the clock; 0: neither was given. False after a message. */
bool epoch_asked(const struct args *a, uint64_t *epoch);

#endif
