/* Growing filters with the instructions for bits that processors with AVX2 have. */
#include "../membership/growing_find.h"

#ifdef TAMIS__GROWING_BITS
#include <immintrin.h>

#define POPCNT __attribute__((target("popcnt")))
#define PDEP __attribute__((target("popcnt,bmi,bmi2")))

POPCNT TAMIS__SPECIALIZED unsigned popcnt(uint64_t word)
{
    return (unsigned)__builtin_popcountll(word);
}

PDEP TAMIS__SPECIALIZED uint64_t pdep(uint64_t word, unsigned n)
{
    return _pdep_u64(UINT64_C(1) << n, word);
}

TAMIS__GROWING_KERNEL(popcnt, POPCNT, popcnt, tamis__select)

TAMIS__GROWING_KERNEL(pdep, PDEP, popcnt, pdep)

#endif
