/* From options to a plan (request.c). */
#ifndef TAMIS_CLI_REQUEST_H
#define TAMIS_CLI_REQUEST_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* The rate of a new filter without --fpr and --bytes. */
#define USUAL_FPR 0.01

/* Every kind of filter has a number below this one; the sketches have this number or a higher
 * one. */
enum { KIND_END = TAMIS_COUNT_MIN };

/* The filter that the options ask for; false after a message. */
bool plan_from(const struct plan_args *a, tamis_plan *out);
/* Its encoding alone. */
bool encoding_from(const struct plan_args *a, tamis_plan *out);
/* The same for a sketch, */
bool sketch_from(const struct plan_args *a, tamis_plan *out);
/* and for a sketch or a window of sketches. */
bool counts_from(const struct plan_args *a, tamis_plan *out);
/* Completes the plan of a new filter for so many lines, and so many lines of --never: without --fpr
 * and a size the rate is USUAL_FPR, and a window has room for the lines in each generation. */
void plan_for_lines(const struct plan_args *a, uint64_t lines, uint64_t never, tamis_plan *p);
/* Changes the kind of a plan and drops the settings that the new kind does not have. */
void plan_for_kind(tamis_plan *p, uint32_t kind);

#endif
