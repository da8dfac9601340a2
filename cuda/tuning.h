/* Constants that depend on the device, for `bench-cuda --sweep`, which varies them. docs/GPU.md has
 * the figures behind the defaults. No other program needs this. */
#ifndef TAMIS_CUDA_TUNING_H
#define TAMIS_CUDA_TUNING_H

#include <tamis/cuda.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tuning {
    int add_block;
    int part_mib; /* MiB of table in a part */
    int tile;     /* thousands of words that a block parts at a time: 2, 4 or 8 */
    int part_add_block;
    int direct;    /* 1: never part; 2: always */
    int only_part; /* 1: part the keys, and do not add them, to measure the one alone */
};

TAMIS_API void tamis_cuda__tune(tamis_cuda *f, const struct tuning *tuning);
TAMIS_API struct tuning tamis_cuda__tuning(void);

#ifdef __cplusplus
}
#endif
#endif
