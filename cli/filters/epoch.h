/* The epochs of windows (tamis_rotate_to), as the command counts them: periods since 1970. */
#ifndef TAMIS_CLI_EPOCH_H
#define TAMIS_CLI_EPOCH_H

#include <stdint.h>

/* The epoch of now. A period must be above 0. */
uint64_t epoch_now(double period_seconds);

#endif
