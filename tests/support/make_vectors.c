/* Writes the conformance vectors that make_golden.c does not write along with the images:
 * more-answers.txt and lists.txt, which docs/FORMAT.md describes. Existing files are kept; new
 * images belong to the end of them.
 *
 *     cc -std=c11 -Iinclude -Isrc tests/support/make_vectors.c $(find src -name '*.c') -lm \
 *         -o make_vectors
 *     TAMIS_SOURCE=. ./make_vectors tests/golden */
#define _POSIX_C_SOURCE 200809L
#include <stdio.h>
#include <string.h>

#include "golden.h"

#define POSITIVES 4      /* false positives of each image */
#define SEARCHED 1000000 /* keys at most */

static void put_hex(FILE *f, const uint8_t *p, size_t n)
{
    for (size_t b = 0; b < n; b++) fprintf(f, "%02x", p[b]);
    if (n == 0) fprintf(f, "-");
}

static void put_image(FILE *f, const struct recipe *r)
{
    fprintf(f, "image %s", r->name);
    if ((r->also & GOLDEN_KEYED) != 0) {
        fprintf(f, " ");
        put_hex(f, golden_secret, 16);
    }
    fprintf(f, "\n");
}

/* The answer for key i, and its bytes. */
static bool answer_for(const struct recipe *r, const tamis *t, uint64_t i, uint8_t *key, size_t *n)
{
    const tamis_hash h = golden_hash_of(r, i);
    uint8_t bit;
    *n = golden_bytes_of(r, i, key);
    if ((r->plan.flags & TAMIS_HASH_CALLER) == 0) return tamis_may_contain(t, key, *n);
    return tamis_may_contain_hashes(t, &h, 1, &bit) == 1;
}

static void write_positives(FILE *f, const struct recipe *r, const tamis *t)
{
    uint8_t key[GOLDEN_KEY_MAX];
    size_t n, found = 0;
    for (uint64_t i = 64; i < SEARCHED && found < POSITIVES; i++) {
        if (!answer_for(r, t, GOLDEN_ABSENT + i, key, &n)) continue;
        if (found++ == 0) put_image(f, r);
        fprintf(f, "not ");
        put_hex(f, key, n);
        fprintf(f, " 1\n");
    }
}

static void write_packed(FILE *f, const struct recipe *r, const tamis *t)
{
    put_image(f, r);
    for (uint64_t i = 0; i < 128; i++) {
        uint8_t key[GOLDEN_KEY_MAX];
        size_t n;
        const bool yes = answer_for(r, t, i < 64 ? i : GOLDEN_ABSENT + i, key, &n);
        fprintf(f, i < r->keys && i < 64 ? "in " : "not ");
        put_hex(f, key, n);
        fprintf(f, " %d\n", yes);
    }
}

static int by_hash(const void *a, const void *b)
{
    const uint64_t x = ((const tamis_heavy *)a)->hash, y = ((const tamis_heavy *)b)->hash;
    return x < y ? -1 : x > y;
}

static void write_list(FILE *f, const struct recipe *r, const tamis *t)
{
    tamis_heavy list[256];
    const size_t n = tamis_top(t, list, 256);
    qsort(list, n, sizeof *list, by_hash);
    put_image(f, r);
    for (size_t i = 0; i < n; i++) {
        fprintf(f, "%016llx ", (unsigned long long)list[i].hash);
        if (list[i].item.p == NULL)
            fprintf(f, "?");
        else
            put_hex(f, list[i].item.p, list[i].item.len);
        fprintf(f, " %llu %lld %lld\n", (unsigned long long)list[i].length,
                (long long)list[i].count.upper, (long long)list[i].count.certain);
    }
}

static tamis *open_golden(const struct recipe *r, bool packed)
{
    const tamis_options o = golden_options(r);
    struct bytes file = read_golden(r->name);
    tamis *t;
    const tamis_status s = packed ? tamis_unpack(file.p, file.n, &o, &t, NULL)
                                  : tamis_load(file.p, file.n, &o, &t, NULL);
    if (s != TAMIS_OK) abort();
    free(file.p);
    return t;
}

static FILE *create(const char *directory, const char *name)
{
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return fopen(path, "wx");
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: make_vectors DIRECTORY\n");
        return 2;
    }
    FILE *answers = create(argv[1], "more-answers.txt"), *lists = create(argv[1], "lists.txt");
    for (size_t i = 0; i < RECIPES; i++) {
        tamis *t = open_golden(&recipes[i], false);
        if (answers != NULL) write_positives(answers, &recipes[i], t);
        if (lists != NULL && recipes[i].plan.kind == TAMIS_TOP) write_list(lists, &recipes[i], t);
        tamis_close(t);
    }
    for (size_t i = 0; i < PACKED_RECIPES && answers != NULL; i++) {
        tamis *t = open_golden(&packed_recipes[i], true);
        write_packed(answers, &packed_recipes[i], t);
        tamis_close(t);
    }
    int failed = 0;
    if (answers != NULL) failed |= fclose(answers) != 0;
    if (lists != NULL) failed |= fclose(lists) != 0;
    return failed;
}
