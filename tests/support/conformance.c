/* Checks reader/tamis-reader.h against the conformance vectors in tests/golden, as docs/FORMAT.md
 * describes them. Plain C99 without libtamis, so that it runs on any machine:
 *
 *     cc -std=c99 tests/support/conformance.c -o conformance
 *     ./conformance tests/golden
 *
 * Images of the kinds that the reader has must give every answer of answers.txt and
 * more-answers.txt, at any alignment. All others, and packed files, must be refused. */
#define TAMIS_READER_IMPLEMENTATION
#include "../../reader/tamis-reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY_MAX 250

static unsigned long answers, images, refusals, failures;

static void wrong(const char *what, const char *where)
{
    printf("%s: %s\n", where, what);
    failures++;
}

/* A whole file at `shift` bytes from an aligned address. */
static uint8_t *read_file(const char *path, size_t shift, size_t *n)
{
    FILE *f = fopen(path, "rb");
    long size = -1;
    uint8_t *p;
    if (f != NULL && fseek(f, 0, SEEK_END) == 0) size = ftell(f);
    if (size < 0 || fseek(f, 0, SEEK_SET) != 0) {
        printf("cannot read %s\n", path);
        exit(1);
    }
    *n = (size_t)size;
    p = (uint8_t *)malloc(*n + shift);
    if (p == NULL || fread(p + shift, 1, *n, f) != *n) exit(1);
    fclose(f);
    return p;
}

static size_t from_hex(const char *text, uint8_t *out)
{
    size_t n = 0;
    unsigned byte;
    if (text[0] == '-') return 0;
    for (; sscanf(text, "%2x", &byte) == 1; text += 2) out[n++] = (uint8_t)byte;
    return n;
}

static bool starts(const char *name, const char *with)
{
    return strncmp(name, with, strlen(with)) == 0;
}

static bool supported(const char *name)
{
    if (strstr(name, "collecting") != NULL) return false;
#ifndef TAMIS_READER_NO_FUSE
    if (starts(name, "fuse")) return true;
#endif
    return starts(name, "blocked");
}

static tamis_reader_status expected(const char *name, bool keyed)
{
    if (strstr(name, ".packed") != NULL) return TAMIS_READER_ENOTIMAGE;
#ifdef TAMIS_READER_NO_SIPHASH
    if (keyed) return TAMIS_READER_EUNSUPPORTED;
#endif
    (void)keyed;
    return supported(name) ? TAMIS_READER_OK : TAMIS_READER_EUNSUPPORTED;
}

/* Checks the refusals that belong to the image, and returns whether its answers can be checked. */
static bool open_image(tamis_reader *r, const char *name, const uint8_t *p, size_t n,
                       const uint8_t *key)
{
    const tamis_reader_status want = expected(name, key != NULL);
    uint8_t other[16] = {1};
    if (tamis_reader_open_keyed(r, p, n, key) != want) wrong("not opened as expected", name);
    images += want == TAMIS_READER_OK;
    refusals += want != TAMIS_READER_OK;
    if (want != TAMIS_READER_OK) {
        if (!tamis_reader_may_contain(r, "key", 3)) wrong("a quiet no", name);
        return false;
    }
    if (key != NULL && tamis_reader_open(r, p, n) != TAMIS_READER_EKEY) wrong("needs a key", name);
    if (tamis_reader_open_keyed(r, p, n, other) != TAMIS_READER_EKEY) wrong("another key", name);
    return tamis_reader_open_keyed(r, p, n, key) == TAMIS_READER_OK;
}

static void check_answers(const char *directory, const char *file, size_t shift)
{
    char path[4096], word[16], text[2 * KEY_MAX + 1], secret[64];
    static char line[1024];
    uint8_t key[KEY_MAX], secret_key[16], *image = NULL;
    size_t n;
    bool open = false;
    tamis_reader r;
    FILE *f;
    snprintf(path, sizeof path, "%s/%s", directory, file);
    f = fopen(path, "r");
    if (f == NULL) wrong("cannot be read", path);
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        const int fields = sscanf(line, "%15s %500s %63s", word, text, secret);
        if (strcmp(word, "image") == 0) {
            const bool keyed = fields == 3;
            if (keyed) from_hex(secret, secret_key);
            free(image);
            snprintf(path, sizeof path, "%s/%s", directory, text);
            image = read_file(path, shift, &n);
            open = open_image(&r, text, image + shift, n, keyed ? secret_key : NULL);
            continue;
        }
        if (!open) continue;
        n = from_hex(text, key);
        if (tamis_reader_may_contain(&r, key, n) != (secret[0] == '1')) wrong("answer", line);
        answers++;
    }
    if (f != NULL) fclose(f);
    free(image);
}

int main(int argc, char **argv)
{
    size_t shift;
    if (argc != 2) return 2;
    for (shift = 0; shift < 8; shift++) {
        check_answers(argv[1], "answers.txt", shift);
        check_answers(argv[1], "more-answers.txt", shift);
    }
    printf("%lu times opened, %lu answers, %lu times refused, %lu failures\n", images, answers,
           refusals, failures);
    return failures != 0 || images == 0 || answers == 0 || refusals == 0;
}
