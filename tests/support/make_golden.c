/* Writes the images that tests/golden/ lacks, never over a file that exists.
 *
 *     cc -std=c11 -Iinclude -Isrc tests/support/make_golden.c $(find src -name '*.c') -lm \
 *         -o make_golden
 *     ./make_golden tests/golden
 *
 * answers.txt states for each image, on one line per key, whether the key was added, the key in hex
 * ("-" is the empty one; where the caller brings hashes, 16 bytes: lo, hi, little-endian) and the
 * answer. counts.txt states for each image of a sketch, likewise, the key and what its counters
 * say. distinct.txt states for each image of a distinct sketch, or of a window of them, the number
 * of distinct keys with its interval. values.txt states for each image of a sealed map the key and
 * its value, or "-". */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "golden.h"

#include <tamis/distinct.h>

static FILE *open_in(const char *directory, const char *name, const char *mode)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return fopen(path, mode);
}

static void write_answer(FILE *f, const struct recipe *r, const tamis *t, uint64_t i)
{
    uint8_t key[GOLDEN_KEY_MAX], bit = 0;
    const size_t n = golden_bytes_of(r, i, key);
    if ((r->plan.flags & TAMIS_HASH_CALLER) != 0) {
        const tamis_hash h = golden_hash_of(r, i);
        tamis_may_contain_hashes(t, &h, 1, &bit);
    } else {
        bit = tamis_may_contain(t, key, n);
    }
    fprintf(f, "%s ", i < r->keys ? "in" : "not");
    for (size_t b = 0; b < n; b++) fprintf(f, "%02x", key[b]);
    fprintf(f, "%s %d\n", n == 0 ? "-" : "", bit);
}

static void write_answers(FILE *f, const struct recipe *r, const tamis *t)
{
    fprintf(f, "image %s", r->name);
    if ((r->also & GOLDEN_KEYED) != 0) {
        fprintf(f, " ");
        for (size_t i = 0; i < 16; i++) fprintf(f, "%02x", golden_secret[i]);
    }
    fprintf(f, "\n");
    for (uint64_t i = 0; i < 64; i++) write_answer(f, r, t, i);
    for (uint64_t i = 0; i < 64; i++) write_answer(f, r, t, GOLDEN_ABSENT + i);
}

static void write_counts(FILE *f, const struct recipe *r, const tamis *t)
{
    fprintf(f, "image %s\n", r->name);
    for (uint64_t i = 0; i < 128; i++) {
        uint8_t key[GOLDEN_KEY_MAX];
        const size_t n = golden_key_of(r, i < 64 ? i : GOLDEN_ABSENT + i, key);
        tamis_estimate e = {0};
        tamis_count(t, key, n, &e, NULL);
        for (size_t b = 0; b < n; b++) fprintf(f, "%02x", key[b]);
        fprintf(f, "%s %lld\n", n == 0 ? "-" : "", (long long)golden_count(r, &e));
    }
}

static void write_distinct(FILE *f, const struct recipe *r, const tamis *t)
{
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    tamis_distinct(t, &n, NULL);
    fprintf(f, "image %s\n%.6f %.0f %.0f\n", r->name, n.value, n.low, n.high);
}

static void write_values(FILE *f, const struct recipe *r, const tamis *t)
{
    fprintf(f, "image %s\n", r->name);
    for (uint64_t i = 0; i < 128; i++) {
        uint8_t key[GOLDEN_KEY_MAX], found;
        const size_t n = golden_bytes_of(r, i < 64 ? i : GOLDEN_ABSENT + i, key);
        uint32_t value;
        if (golden_value_of(r, t, key, n, &value, &found) != TAMIS_OK) exit(1);
        for (size_t b = 0; b < n; b++) fprintf(f, "%02x", key[b]);
        fprintf(f, n == 0 ? "- " : " ");
        if (found != 0)
            fprintf(f, "%lu\n", (unsigned long)value);
        else
            fprintf(f, "-\n");
    }
}

/* What make_golden writes besides the images. */
struct texts {
    FILE *answers, *counts, *distinct, *values;
};

static int write_image(const char *directory, const struct recipe *r, const struct texts *to)
{
    tamis *t;
    FILE *f = open_in(directory, r->name, "wx");
    if (f == NULL) return 0; /* it is there */
    if (golden_cook(r, &t) != TAMIS_OK) {
        fprintf(stderr, "%s failed\n", r->name);
        return 1;
    }
    struct bytes image = image_of(t);
    int failed = fwrite(image.p, 1, image.n, f) != image.n;
    failed |= fclose(f) != 0;
    write_answers(to->answers, r, t);
    if (golden_counts(r)) write_counts(to->counts, r, t);
    if (golden_distinct(r)) write_distinct(to->distinct, r, t);
    if (golden_values(r)) write_values(to->values, r, t);
    free(image.p);
    tamis_close(t);
    return failed;
}

static int write_packed(const char *directory, const struct recipe *r)
{
    tamis *t;
    FILE *f = open_in(directory, r->name, "wx");
    if (f == NULL) return 0; /* it is there */
    if (golden_cook(r, &t) != TAMIS_OK) {
        fprintf(stderr, "%s failed\n", r->name);
        return 1;
    }
    struct bytes packed = packed_of(t);
    int failed = fwrite(packed.p, 1, packed.n, f) != packed.n;
    failed |= fclose(f) != 0;
    free(packed.p);
    tamis_close(t);
    return failed;
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_golden DIRECTORY\n");
        return 2;
    }
    const struct texts to = {
        open_in(argv[1], "answers.txt", "a"), open_in(argv[1], "counts.txt", "a"),
        open_in(argv[1], "distinct.txt", "a"), open_in(argv[1], "values.txt", "a")};
    int failed =
        to.answers == NULL || to.counts == NULL || to.distinct == NULL || to.values == NULL;
    for (size_t i = 0; i < RECIPES && !failed; i++)
        failed |= write_image(argv[1], &recipes[i], &to);
    for (size_t i = 0; i < PACKED_RECIPES && !failed; i++)
        failed |= write_packed(argv[1], &packed_recipes[i]);
    if (to.answers != NULL) failed |= fclose(to.answers) != 0;
    if (to.counts != NULL) failed |= fclose(to.counts) != 0;
    if (to.distinct != NULL) failed |= fclose(to.distinct) != 0;
    if (to.values != NULL) failed |= fclose(to.values) != 0;
    return failed;
}
