/* From options to a plan (request.c). */
#ifndef TAMIS_CLI_REQUEST_H
#define TAMIS_CLI_REQUEST_H

#include "../frame/args.h"

#include <tamis/tamis.h>

/* The rate of a new filter without --fpr and --bytes. */
#define USUAL_FPR 0.01

/* Every kind of filter has a number below the first one; the sketches have this number or a higher
 * one. Those below the second one count each line, and distinct counts distinct lines. */
enum { KIND_END = TAMIS_COUNT_MIN, COUNT_KIND_END = TAMIS_DISTINCT };
/* The registers of a distinct sketch without --error and --bytes: an error of 0.27 % in 64 KiB, and
 * for each group of --by 0.54 % in 16 KiB. */
enum { USUAL_REGISTERS = 1 << 14, USUAL_GROUP_REGISTERS = 1 << 12 };

/* The filter or distinct sketch that the options ask for; false after a message. */
bool plan_from(const struct plan_args *a, tamis_plan *out);
/* Its encoding alone. */
bool encoding_from(const struct plan_args *a, tamis_plan *out);
/* The same for a sketch, */
bool sketch_from(const struct plan_args *a, tamis_plan *out);
/* and for a sketch or a window of sketches. */
bool counts_from(const struct plan_args *a, tamis_plan *out);
/* Whether it is a distinct sketch, or a window of them. */
bool plans_distinct(const tamis_plan *p);
/* False after a message when --headroom cannot be used here. */
bool check_headroom(const struct plan_args *a, const tamis_plan *p);
/* The number of lines for which to plan, if so many were counted. */
uint64_t with_headroom(const struct plan_args *a, uint64_t lines);
/* Completes the plan of a new filter for so many lines, and so many lines of --never: without --fpr
 * and a size the rate is USUAL_FPR, and a window has room for the lines in each generation. A
 * distinct sketch gets its usual size. */
void plan_for_lines(const struct plan_args *a, uint64_t lines, uint64_t never, tamis_plan *p);
/* Changes the kind of a plan and drops the settings that the new kind does not have. */
void plan_for_kind(tamis_plan *p, uint32_t kind);

#endif
