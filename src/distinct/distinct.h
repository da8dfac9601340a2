/* What the rest of the library knows about `distinct` sketches. */
#ifndef TAMIS_DISTINCT_H
#define TAMIS_DISTINCT_H

#define TAMIS__MOST_DISTINCT_ERROR 0.3
/* A greater number of keys is reported as UINT64_MAX. */
#define TAMIS__MOST_DISTINCT 9e18

/* The relative standard error of the estimate with m registers, as m and the number of keys
 * grow. */
double tamis__distinct_error(double registers);

#endif
