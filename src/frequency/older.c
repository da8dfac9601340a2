/* The noise of a window is measured again after each rotation, and a count asks every generation.
 * But only the newest one changes between rotations. So the counts of the samples in all others are
 * kept, added up. A rotation takes those in the oldest away, and adds those in the newest. */
#include "../core/generations.h"
#include "../core/memory.h"
#include "noise.h"

#ifdef TAMIS__WINDOWS_OF_SKETCHES

#define SAMPLES_AHEAD_FROM (1u << 20) /* smaller tables are in the caches */

struct older {
    uint32_t unused; /* rotations since the last measurement */
    int64_t sums[TAMIS__SAMPLES];
};

/* Sums of 256 counts up to this cannot overflow. With larger counts, saturated ones among them, no
 * sums are kept. */
#define MOST_SUMMED (INT64_C(1) << 54)

/* Empty generations are frequent, and quickly recognized. */
static bool is_empty_generation(const struct body *one)
{
    for (uint32_t i = 0; i < one->count; i++) {
        const struct section *s = &one->sections[i];
        if (s->cells[0] != 0 || memcmp(s->cells, s->cells + 1, (size_t)s->length - 1) != 0)
            return false;
    }
    return true;
}

/* Adds sign times the counts of the samples in a generation. False: some count is too large. */
static bool sum_samples(const struct body *b, uint32_t generation, int64_t sign, int64_t *sums)
{
    const struct body one = tamis__generation_at(b, generation);
    const struct sketch_ops *sketch = tamis__inner(b)->sketch;
    const bool large = one.sections->length >= SAMPLES_AHEAD_FROM;
    tamis_hash hashes[2][TAMIS__MOST_BATCH];
    int64_t counts[TAMIS__MOST_BATCH];
    uint64_t state = TAMIS__FIRST_SAMPLE;
    if (is_empty_generation(&one)) return true;
    for (size_t i = 0; i < TAMIS__MOST_BATCH; i++) hashes[0][i] = tamis__next_sample(&state);
    for (size_t at = 0; at < TAMIS__SAMPLES; at += TAMIS__MOST_BATCH) {
        const size_t now = at / TAMIS__MOST_BATCH % 2;
        for (size_t i = 0; i < TAMIS__MOST_BATCH; i++)
            hashes[now ^ 1][i] = tamis__next_sample(&state);
        const struct batch keys = {
            .hashes = hashes[now], .n = TAMIS__MOST_BATCH, .ahead = large ? hashes[now ^ 1] : NULL};
        sketch->count(&one, &keys, counts);
        for (size_t i = 0; i < TAMIS__MOST_BATCH; i++) {
            if (counts[i] > MOST_SUMMED || counts[i] < -MOST_SUMMED) return false;
            sums[at + i] += sign * counts[i];
        }
    }
    return true;
}

/* Returns the sums, which it makes if there are none, or NULL. *made is set if they have to be
 * freed by the caller, because another thread was first. */
static struct older *older_of(const tamis *t, struct older **made)
{
    struct older **place = &tamis__extra(t)->older;
    struct older *found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    *made = NULL;
    if (found != NULL) return found;
    struct older *mine = tamis__alloc(t->body.memory, sizeof *mine);
    if (mine == NULL) return NULL;
    for (uint32_t i = 1; i < tamis__generations(&t->body); i++) {
        if (sum_samples(&t->body, i, 1, mine->sums)) continue;
        tamis__free(t->body.memory, mine);
        return NULL;
    }
    if (!__atomic_compare_exchange_n(place, &found, mine, false, __ATOMIC_ACQ_REL,
                                     __ATOMIC_ACQUIRE))
        *made = mine;
    return mine;
}

bool tamis__sample_window(const tamis *t, int64_t *out)
{
    struct older *made;
    if (t->kind->rotate == NULL) return false;
    struct older *older = older_of(t, &made);
    if (older == NULL) return false;
    __atomic_store_n(&older->unused, 0, __ATOMIC_RELAXED);
    memcpy(out, older->sums, sizeof older->sums);
    const bool fits = sum_samples(&t->body, 0, 1, out);
    tamis__free(t->body.memory, made);
    return fits;
}

void tamis__older_drop(tamis *t)
{
    if (tamis__extra(t)->older == NULL) return;
    tamis__free(t->body.memory, tamis__extra(t)->older);
    tamis__extra(t)->older = NULL;
}

/* To keep the sums through a rotation takes as long as to count two generations. */
void tamis__noise_rotate(tamis *t, uint64_t times)
{
    const uint32_t n = tamis__generations(&t->body);
    struct older *older = tamis__extra(t)->older;
    tamis__noise_drop(t);
    if (older == NULL) return;
    if (times > n / 4 || older->unused > n / 4) {
        tamis__older_drop(t);
        return;
    }
    for (uint32_t i = 0; i < times; i++, older->unused++) {
        /* The first of these rotations takes the newest generation along, the others an empty
         * one. */
        if (!sum_samples(&t->body, n - 1 - i, -1, older->sums) ||
            (i == 0 && !sum_samples(&t->body, 0, 1, older->sums))) {
            tamis__older_drop(t);
            return;
        }
    }
}

#else
void tamis__noise_rotate(tamis *t, uint64_t times)
{
    (void)times;
    tamis__noise_drop(t);
}

void tamis__older_drop(tamis *t)
{
    (void)t;
}
#endif
