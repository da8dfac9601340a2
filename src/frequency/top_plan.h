/* Functions for struct kind: the plan and the sections of a top. */
#ifndef TAMIS_TOP_PLAN_H
#define TAMIS_TOP_PLAN_H

#include "../core/kind.h"

#define TAMIS__TOP_SECTIONS 3u

tamis_status tamis__top_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why);
uint32_t tamis__top_layout(const tamis_plan *plan, struct section *out);
const char *tamis__top_wrong_shape(const struct body *b);

#endif
