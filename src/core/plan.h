/* Sizing: from two of items, rate and bytes to a shape. */
#ifndef TAMIS_PLAN_H
#define TAMIS_PLAN_H

#include <stdbool.h>
#include <tamis/tamis.h>

struct kind;

/* The most cells a structure may have, and the most items a plan: a double holds every integer up
 * to 2^53, so no count in this library is ever rounded. 2^52 bits are 512 TiB. */
#define TAMIS__MAX_CELLS (UINT64_C(1) << 52)
#define TAMIS__MAX_ITEMS (UINT64_C(1) << 52)
/* No plan promises less, however many bits it has: far above the chance (2^-128 an item) that two
 * keys have the same hash. */
#define TAMIS__MIN_FPR 1e-18

/* A family of shapes (m, k), as the solver sees it. */
struct sizing {
    uint64_t step; /* m is a multiple of this */
    uint32_t k_min, k_max;
    double (*rate)(double m, uint32_t k, double items); /* falls with m, rises with items */
    uint64_t (*cells)(uint64_t m, uint32_t k);          /* in all; m <= TAMIS__MAX_CELLS */
    uint32_t cell_bits;                                 /* 0: 1 */
    uint32_t parts; /* sections of this shape, 0: 1. The rate is that of one of them, unless ... */
    bool shared;    /* ... the items are spread over the parts and a query asks them all */
    /* Of plans for transfer: the expected share of set bits. NULL: all others. */
    double (*fill)(double m, uint32_t k, double items);
};

/* tamis_solve of whole structs: the plan is completed in place, or half so after a failure. */
tamis_status tamis__solve_plan(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
/* The same for a plan of one kind, and for TAMIS_AUTO (auto.c). */
tamis_status tamis__solve_as(uint32_t kind, tamis_plan *plan, tamis_promise *promise,
                             tamis_error *why);
tamis_status tamis__solve_auto(tamis_plan *plan, tamis_promise *promise, tamis_error *why);
/* TAMIS_EINVAL if the plan asks for what the kind does not accept, or says too little. */
tamis_status tamis__check_plan(const struct kind *kind, const tamis_plan *plan, tamis_error *why);

/* Complete the plan with the best shape of the family: see tamis_solve. */
tamis_status tamis__solve_shape(tamis_plan *plan, const struct sizing *s, tamis_promise *promise,
                                tamis_error *why);
/* struct kind.solve of kinds that have a sizing and nothing else to say. */
tamis_status tamis__solve(tamis_plan *plan, tamis_promise *promise, tamis_error *why);

/* The largest number that fits, by bisection: `low` fits, or stands for "none does", and `high`
 * does not; all numbers between them up to some point fit. */
typedef bool tamis__fitting(void *ctx, uint64_t n);
uint64_t tamis__largest(uint64_t low, uint64_t high, tamis__fitting *fits, void *ctx);

/* A rate to 32 significant bits, upwards. */
double tamis__tidy(double rate);

/* ln n!: right to 4e-6 from n = 2 on, and exact below. (lgamma would write to a global
 * variable.) */
double tamis__ln_factorial(double n);

/* Bits per member that telling n members from x other keys takes at the least: log2 C(n + x, n) /
 * n. */
double tamis__two_set_bound(double n, double x);

/* Bytes of a section of that many one-bit cells: whole 64-bit words. */
uint64_t tamis__cell_bytes(uint64_t cells);

#endif
