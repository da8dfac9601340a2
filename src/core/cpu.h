/* Which kernels this machine runs. */
#ifndef TAMIS_CPU_H
#define TAMIS_CPU_H

#include "../kernels/kernels.h"

/* The best, chosen once. */
const struct kernels *tamis__kernels(void);

/* All that run here, best first, the scalar oracle last; returns how many (at most 4). For
 * tests. */
size_t tamis__runnable_kernels(const struct kernels **out);

/* Make tamis__kernels return this one from now on. For tests, while no other thread uses the
 * library. */
void tamis__use_kernels(const struct kernels *k);

#endif
