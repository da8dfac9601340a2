#include "noise.h"

#include "../core/bulk.h"
#include "../core/memory.h"
#include "../core/spin.h"

#define SAMPLES TAMIS__SAMPLES
#define KEPT 1024u
#define EVERY (SAMPLES / KEPT)
#define STALE_SHIFT 7

void tamis__noise_drop(tamis *t)
{
    if (tamis__extra(t)->noise == NULL) return;
    tamis__free(t->body.memory, tamis__extra(t)->noise);
    tamis__extra(t)->noise = NULL;
}

static uint64_t weight_of(const tamis *t)
{
    const int64_t weight = tamis__weight(t);
    const uint64_t w = (uint64_t)weight;
    return weight < 0 ? 0 - w : w;
}

/* The most weight that can be the source of the noise: the weight in the counters of one row if
 * each had the 99 % quantile of the noise. The weight of all adds may be less. It may also be far
 * more, if it belongs to one heavy key, which shares counters with few others. */
static uint64_t held(const tamis *t, const struct noise *n)
{
    const struct section *s = t->body.sections;
    const uint64_t counters = s->length / ((uint64_t)s->k * s->cell_bits / 8);
    const uint64_t each = (uint64_t)n->most_99 + 1;
    const uint64_t all = tamis__mulhi(counters, each) == 0 ? counters * each : UINT64_MAX;
    return all < n->weight ? all : n->weight;
}

static bool is_stale(const tamis *t, const struct noise *n)
{
    const uint64_t moved = tamis__moved(&t->body);
    const bool lost = moved >= TAMIS__MOST_WEIGHT; /* once saturated, it says nothing */
    return lost || moved - n->moved > held(t, n) >> STALE_SHIFT;
}

void tamis__noise_age(tamis *t)
{
    if (tamis__extra(t)->noise != NULL && is_stale(t, tamis__extra(t)->noise)) tamis__noise_drop(t);
}

/* A stable sort by bytes, which skips the bytes that all values share, usually most of them.
 * Returns the array that is sorted. */
static int64_t *noise_sort(int64_t *from, int64_t *to)
{
    for (unsigned shift = 0; shift < 64; shift += 8) {
        uint32_t start[257] = {0};
        for (size_t i = 0; i < SAMPLES; i++) start[((uint64_t)from[i] >> shift & 255) + 1]++;
        if (start[((uint64_t)from[0] >> shift & 255) + 1] == SAMPLES) continue;
        for (size_t i = 0; i < 256; i++) start[i + 1] += start[i];
        for (size_t i = 0; i < SAMPLES; i++)
            to[start[(uint64_t)from[i] >> shift & 255]++] = from[i];
        int64_t *other = from;
        from = to;
        to = other;
    }
    return from;
}

struct sampling {
    const tamis *t;
    int64_t *out;
};

static void noise_count_group(void *sampling, const struct batch *group, size_t from)
{
    const struct sampling *s = sampling;
    tamis__sketch(s->t)->count(&s->t->body, group, s->out + from);
}

/* Measures the absolute counts of keys that were never added. `room` is for HASHED hashes. */
#define HASHED (SAMPLES / 2)
static void sample(const tamis *t, tamis_hash *room, int64_t *out)
{
    uint64_t state = TAMIS__FIRST_SAMPLE;
    const bool sampled = tamis__sample_window(t, out);
    for (size_t at = sampled ? SAMPLES : 0; at < SAMPLES; at += HASHED) {
        for (size_t i = 0; i < HASHED; i++) room[i] = tamis__next_sample(&state);
        const struct keys in = {.hashes = room, .n = HASHED};
        struct sampling s = {t, out + at};
        tamis__bulk_count(t, &in, noise_count_group, &s);
    }
    for (size_t i = 0; i < SAMPLES; i++)
        if (out[i] < 0) out[i] = -out[i];
}

/* Returns NULL if there is not enough memory. */
static struct noise *measure(const tamis *t)
{
    struct noise *n = tamis__alloc(t->body.memory, sizeof *n);
    int64_t *values = tamis__alloc(t->body.memory, 2 * SAMPLES * sizeof *values);
    if (n == NULL || values == NULL) {
        tamis__free(t->body.memory, n);
        tamis__free(t->body.memory, values);
        return NULL;
    }
    /* What other threads add meanwhile counts as added since. */
    n->moved = tamis__moved(&t->body);
    n->weight = weight_of(t);
    /* The second half of the values is the room for hashes before noise_sort uses it. */
    sample(t, (tamis_hash *)(void *)(values + SAMPLES), values);
    const int64_t *sorted = noise_sort(values, values + SAMPLES);
    for (size_t i = 0; i < KEPT; i++) n->sorted[i] = sorted[i * EVERY + EVERY / 2];
    n->half = sorted[SAMPLES / 2];
    n->most_99 = sorted[SAMPLES - SAMPLES / 100 - 1];
    n->most_999 = sorted[SAMPLES - SAMPLES / 1000 - 1];
    tamis__free(t->body.memory, values);
    return n;
}

/* Adds to a shared handle do not free the noise, because other threads may be reading it. Whoever
 * needs it copies it under a lock, and measures it again if it is stale. */
static struct noise *copy_noise(tamis *t)
{
    struct noise *mine = tamis__alloc_unset(t->body.memory, sizeof *mine);
    if (mine == NULL) return NULL;
    tamis__lock(&tamis__extra(t)->lock);
    const bool good = tamis__extra(t)->noise != NULL && !is_stale(t, tamis__extra(t)->noise);
    if (good) *mine = *tamis__extra(t)->noise;
    tamis__unlock(&tamis__extra(t)->lock);
    if (good) return mine;
    struct noise *measured = measure(t), *old = NULL;
    if (measured == NULL) {
        tamis__free(t->body.memory, mine);
        return NULL;
    }
    *mine = *measured;
    tamis__lock(&tamis__extra(t)->lock);
    old = tamis__extra(t)->noise;
    tamis__extra(t)->noise = measured;
    tamis__unlock(&tamis__extra(t)->lock);
    tamis__free(t->body.memory, old);
    return mine;
}

const struct noise *tamis__noise(const tamis *t, struct noise **made)
{
    if (tamis__in_use(&t->body)) return *made = copy_noise((tamis *)(uintptr_t)t);
    /* Several reading threads may measure at the same time; the result of the first to finish is
     * kept for all. It is freed only by the next change, which has the handle for itself. */
    struct noise **place = &tamis__extra(t)->noise;
    struct noise *found = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    *made = NULL;
    if (found != NULL) return found;
    struct noise *mine = measure(t);
    if (mine == NULL) return NULL;
    if (__atomic_compare_exchange_n(place, &found, mine, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return mine;
    *made = mine;
    return mine;
}

int64_t tamis__noise_below(const struct noise *n, int64_t v)
{
    size_t low = 0, high = KEPT; /* all before low are at most v */
    while (low < high) {
        const size_t mid = low + (high - low) / 2;
        if (n->sorted[mid] <= v)
            low = mid + 1;
        else
            high = mid;
    }
    return low == 0 ? 0 : n->sorted[(low - 1) / 2];
}
