/* The part of the C library's <math.h> that the sources for the browser use. Functions that are not
 * instructions come from JavaScript's Math where that has them. Engines differ in the last bit, as
 * C libraries do; plans do not (tamis__tidy in src/core/plan.c). */
#ifndef TAMIS_SHIM_MATH_H
#define TAMIS_SHIM_MATH_H

#define INFINITY __builtin_inf()
#define isinf __builtin_isinf

#define TAMIS_SHIM_JS(name) __attribute__((import_module("Math"), import_name(#name)))

TAMIS_SHIM_JS(exp) double exp(double x);
TAMIS_SHIM_JS(expm1) double expm1(double x);
TAMIS_SHIM_JS(log) double log(double x);
TAMIS_SHIM_JS(log1p) double log1p(double x);
TAMIS_SHIM_JS(log2) double log2(double x);
TAMIS_SHIM_JS(pow) double pow(double x, double y);

double frexp(double x, int *exponent);
double ldexp(double x, int exponent);

static inline double exp2(double x)
{
    return pow(2, x);
}

static inline double fmin(double a, double b)
{
    return a < b ? a : b;
}

static inline double fmax(double a, double b)
{
    return a > b ? a : b;
}

/* Requires an x that is not negative, as all arguments here are. */
static inline long lround(double x)
{
    return (long)(x + 0.5);
}

#define ceil __builtin_ceil
#define fabs __builtin_fabs
#define floor __builtin_floor
#define sqrt __builtin_sqrt

#endif
