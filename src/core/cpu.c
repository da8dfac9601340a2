#include "cpu.h"

#if defined(__x86_64__) && defined(__GNUC__)
#include <cpuid.h>

/* Every processor with AVX2 has these, but a virtual machine may hide them. clang has no name for
 * LZCNT, which is bit 5 of ECX. */
static bool has_bit_counts(void)
{
    unsigned a, b, c = 0, d;
    return __builtin_cpu_supports("popcnt") && __get_cpuid(0x80000001, &a, &b, &c, &d) != 0 &&
           (c >> 5 & 1) != 0;
}

static bool has_pdep(void)
{
    return __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2");
}

/* It takes up to 300 cycles on AMD's processors before Zen 3, which are families 15h and 17h. All
 * with AVX-512 are fast. */
static bool has_fast_pdep(void)
{
    const bool is_slow = __builtin_cpu_is("amdfam15h") || __builtin_cpu_is("amdfam17h");
    return has_pdep() && (__builtin_cpu_is("intel") || (__builtin_cpu_is("amd") && !is_slow));
}
#endif

size_t tamis__runnable_kernels(const struct kernels **out)
{
    size_t n = 0;
#if defined(__x86_64__) && defined(__GNUC__)
    __builtin_cpu_init();
#if !defined(__ILP32__) /* the kernels load a tamis_bytes as two 64-bit words */
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512cd") && has_pdep())
        out[n++] =
            __builtin_cpu_supports("avx512vbmi2") && __builtin_cpu_supports("avx512vpopcntdq")
                ? &tamis__avx512_bits
                : &tamis__avx512;
#endif
    if (__builtin_cpu_supports("avx2") && has_bit_counts()) {
        if (has_fast_pdep()) out[n++] = &tamis__avx2_pdep;
        out[n++] = &tamis__avx2;
    }
#elif defined(__aarch64__) && defined(__GNUC__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    out[n++] = &tamis__neon;
#endif
    out[n++] = &tamis__scalar;
    return n;
}

static const struct kernels *chosen;

const struct kernels *tamis__kernels(void)
{
    /* All threads that find it empty store the same pointer. */
    const struct kernels *k = __atomic_load_n(&chosen, __ATOMIC_RELAXED);
    if (k == NULL) {
        const struct kernels *runnable[4];
        tamis__runnable_kernels(runnable);
        k = runnable[0];
        tamis__use_kernels(k);
    }
    return k;
}

void tamis__use_kernels(const struct kernels *k)
{
    __atomic_store_n(&chosen, k, __ATOMIC_RELAXED);
}
