/* Planning: from what a plan asks for to a shape. */
#ifndef TAMIS_PLAN_H
#define TAMIS_PLAN_H

#include "occupancy.h"

#include <stdbool.h>
#include <tamis/tamis.h>

struct kind;

/* The most cells of a structure, and the most items of a plan. A double represents every integer up
 * to 2^53 exactly, so no count in this library is ever rounded. 2^52 bits are 512 TiB. */
#define TAMIS__MAX_CELLS (UINT64_C(1) << 52)
#define TAMIS__MAX_ITEMS (UINT64_C(1) << 52)
/* The lowest false-positive rate that a plan promises, however many bits it has. It is far above
 * the probability (2^-128 per item) that two keys have the same hash. */
#define TAMIS__MIN_FPR 1e-18

/* A family of shapes (m, k), as the solver sees it. */
struct sizing {
    uint64_t step; /* m is a multiple of this */
    uint32_t k_min, k_max;
    double (*rate)(double m, uint32_t k, double items); /* falls with m, rises with items */
    /* Instead of `rate`, for filters of lines: the rate of one line (occupancy.h), and unless that
     * is NULL an approximation within a share of 1e-9 that takes less time. */
    tamis__line_rate *line, *line_near;
    uint32_t line_cells;
    uint64_t (*cells)(uint64_t m, uint32_t k); /* how many there are; m <= TAMIS__MAX_CELLS */
    uint32_t cell_bits;                        /* 0: 1 */
    uint32_t parts; /* sections of this shape; 0: 1. `rate` is the rate of one of them. */
    bool shared;    /* the items are spread over the parts, and a query asks all of them; otherwise
                     * the rate of the whole is that of one part */
    /* For plans for transfer: the expected share of set bits. NULL: not such a plan. */
    double (*fill)(double m, uint32_t k, double items);
};

/* tamis_solve for structs of full size. It completes the plan in place; after a failure the plan
 * may be half completed. */
tamis_status tamis__solve_plan(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
/* The same for a plan of one kind, and for TAMIS_AUTO (auto.c). */
tamis_status tamis__solve_as(uint32_t kind, tamis_plan *plan, tamis_promise *promise,
                             tamis_error *why);
tamis_status tamis__solve_auto(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
/* Fails with TAMIS_EINVAL if the plan asks for what the kind does not accept, or says too
 * little. */
tamis_status tamis__check_plan(const struct kind *kind, const tamis_plan *plan, tamis_error *why);

/* Complete the plan with the best shape of the family, as tamis_solve promises. */
tamis_status tamis__solve_shape(tamis_plan *plan, const struct sizing *s, tamis_promise *promise,
                                tamis_error *why);
/* struct kind.solve for kinds that have a sizing and check nothing else. */
tamis_status tamis__solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why);

/* Returns the largest number that fits, found by bisection. `low` fits, or stands for "none does";
 * `high` does not fit. Requires that no number that fits is above one that does not. */
typedef bool tamis__fitting(void *ctx, uint64_t n);
uint64_t tamis__largest(uint64_t low, uint64_t high, tamis__fitting *fits, void *ctx);
/* The same, in as many steps as the logarithm of the distance from the guess. */
uint64_t tamis__largest_near(uint64_t low, uint64_t high, uint64_t guess, tamis__fitting *fits,
                             void *ctx);

/* The rate, rounded up to 32 significant bits. */
double tamis__tidy(double rate);

/* ln n!: exact for n below 2, and accurate to 4e-6 from there on. (lgamma would write to a global
 * variable.) */
double tamis__ln_factorial(double n);

/* The least number of bits per member that distinguish n members from x other keys: log2 C(n + x,
 * n) / n. */
double tamis__two_set_bound(double n, double x);

/* Sets *bits to the lower bound of bits per item, for a kind with n keys, x excluded ones, values
 * of so many bits, and this rate. Returns which bound it is, TAMIS_BOUND_...; 0 bits if there is
 * none. */
uint32_t tamis__bound(const struct kind *kind, double rate, double n, double x, uint32_t value_bits,
                      double *bits);

/* The bytes of a section of that many one-bit cells: whole 64-bit words. */
uint64_t tamis__cell_bytes(uint64_t cells);

#endif
