/* Which kernels this machine runs best. */
#ifndef TAMIS_CPU_H
#define TAMIS_CPU_H

#include "kernels/kernels.h"

const struct kernels *tamis__kernels(void);

#endif
