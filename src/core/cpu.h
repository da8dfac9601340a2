/* Selects the kernels for this processor. */
#ifndef TAMIS_CPU_H
#define TAMIS_CPU_H

#include "../kernels/kernels.h"

/* Returns the fastest kernels that run here. They are chosen once. */
const struct kernels *tamis__kernels(void);

/* Writes all kernels that run here to `out`, fastest first and the scalar oracle last, and returns
 * how many there are, at most 4. For tests. */
size_t tamis__runnable_kernels(const struct kernels **out);

/* Makes tamis__kernels return these from now on. For tests, while no other thread uses the
 * library. */
void tamis__use_kernels(const struct kernels *k);

#endif
