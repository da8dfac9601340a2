/* Registers of 24, 28 and 32 bits (d = 16, 20 and 24): what an add and a merge cost, by the same
 * rules and with nothing else around them. Narrow registers are packed: three bytes each, or two
 * registers in seven bytes. */
#include "distinct.h"

#include <string.h>

#define REGISTERS 4096u
#define HASHES (1u << 16)
#define MERGES 100u

static uint8_t mine[4 * REGISTERS + 8], theirs[4 * REGISTERS + 8];

struct draw {
    uint16_t index;
    uint8_t value;
};
static struct draw draws[HASHES];

static inline __attribute__((always_inline)) uint32_t load(const uint8_t *r, unsigned i, unsigned d)
{
    const unsigned bits = d + 8, bit = i * bits;
    uint32_t word;
    memcpy(&word, r + bit / 8, sizeof word); /* may read the beginning of the next register */
    return (uint32_t)(word >> bit % 8 & ((UINT64_C(1) << bits) - 1));
}

static inline __attribute__((always_inline)) void store(uint8_t *r, unsigned i, unsigned d,
                                                        uint32_t x)
{
    const unsigned bits = d + 8, bit = i * bits;
    const uint32_t mask = (uint32_t)((UINT64_C(1) << bits) - 1) << bit % 8;
    uint32_t word;
    memcpy(&word, r + bit / 8, sizeof word);
    word = (word & ~mask) | x << bit % 8;
    memcpy(r + bit / 8, &word, sizeof word);
}

static inline __attribute__((always_inline)) uint32_t with(uint32_t r, unsigned value, unsigned d)
{
    const unsigned greatest = r >> d;
    if (value <= greatest) {
        const unsigned below = greatest - value;
        return below == 0 || below > d ? r : r | UINT32_C(1) << (d - below);
    }
    const unsigned rise = value - greatest;
    const uint32_t had = (greatest != 0 ? UINT32_C(1) << d : 0) | (r & ((UINT32_C(1) << d) - 1));
    return (uint32_t)value << d | (rise <= d ? had >> rise : 0);
}

static inline __attribute__((always_inline)) uint32_t together(uint32_t a, uint32_t b, unsigned d)
{
    const uint32_t more = a > b ? a : b, less = a > b ? b : a, window = (UINT32_C(1) << d) - 1;
    const unsigned behind = (more >> d) - (less >> d);
    if (less == 0 || behind > d) return more;
    return behind == 0 ? more | less : more | ((window + 1) | (less & window)) >> behind;
}

static inline __attribute__((always_inline)) double add_all(unsigned d)
{
    const double start = seconds();
    for (unsigned i = 0; i < HASHES; i++) {
        const uint32_t r = load(mine, draws[i].index, d), new = with(r, draws[i].value, d);
        if (new != r) store(mine, draws[i].index, d, new);
    }
    return seconds() - start;
}

static inline __attribute__((always_inline)) double merge_all(unsigned d)
{
    const double start = seconds();
    for (unsigned n = 0; n < MERGES; n++)
        for (unsigned i = 0; i < REGISTERS; i++)
            store(mine, i, d, together(load(mine, i, d), load(theirs, i, d), d));
    return seconds() - start;
}

static void draw_all(uint64_t *state)
{
    for (unsigned i = 0; i < HASHES; i++) {
        const uint64_t lo = states_random(state);
        draws[i].index = (uint16_t)(states_random(state) % REGISTERS);
        draws[i].value = (uint8_t)(4 * (unsigned)__builtin_clzll(lo | 2) + (lo & 3) + 1);
    }
}

/* The two loops are compiled for each width. */
#define WIDTH(d)                                                                                   \
    static double add_##d(void *ctx)                                                               \
    {                                                                                              \
        draw_all(ctx);                                                                             \
        return add_all(d);                                                                         \
    }                                                                                              \
    static double merge_##d(void *ctx)                                                             \
    {                                                                                              \
        (void)ctx;                                                                                 \
        return merge_all(d);                                                                       \
    }
WIDTH(16)
WIDTH(20)
WIDTH(24)

static void fill(uint64_t *state, double (*add)(void *))
{
    memset(mine, 0, sizeof mine);
    for (unsigned i = 0; i < 64; i++) add(state); /* 1,000 keys per register */
}

void measure_widths(void)
{
    static const struct {
        unsigned d;
        double (*add)(void *), (*merge)(void *);
    } widths[] = {{16, add_16, merge_16}, {20, add_20, merge_20}, {24, add_24, merge_24}};
    uint64_t state = states_seed(2, 0);
    rows_list("widths");
    puts("\nwidths");
    for (size_t i = 0; i < LENGTH(widths); i++) {
        fill(&state, widths[i].add);
        memcpy(theirs, mine, sizeof mine);
        fill(&state, widths[i].add);
        const struct timing add = repeat(widths[i].add, &state, HASHES);
        const struct timing merge = repeat(widths[i].merge, NULL, MERGES);
        rows_row("\"d\": %u, \"add_ns\": %.6g, \"merge_ns\": %.6g", widths[i].d, add.min_ns,
                 merge.min_ns);
        printf("d %u: add %.2f ns, merge of %u registers %.0f ns\n", widths[i].d, add.min_ns,
               REGISTERS, merge.min_ns);
    }
}
