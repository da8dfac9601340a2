/* What the fuzz targets share. With libFuzzer: ./run fuzz TARGET. Without, -DFUZZ_STANDALONE makes
 * a program that runs the files and directories it is given, so that the corpus is a regression
 * test for any compiler. Include it first. */
#ifndef TAMIS_FUZZ_H
#define TAMIS_FUZZ_H

#ifndef _GNU_SOURCE
#define _POSIX_C_SOURCE 200809L
#endif
#define _FILE_OFFSET_BITS 64 /* readdir on 32-bit machines */
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define MAX_BYTES (1u << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* An invariant that did not hold; a crash is what the fuzzer understands. */
static void must(bool holds, const char *what)
{
    if (holds) return;
    dprintf(2, "must hold: %s\n",
            what); /* a target may have put something else in the place of stderr */
    abort();
}

#ifdef FUZZ_STANDALONE

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        return 1;
    }
    uint8_t *bytes = malloc(MAX_BYTES + 1);
    if (bytes == NULL) abort();
    const size_t n = fread(bytes, 1, MAX_BYTES + 1, f);
    fclose(f);
    LLVMFuzzerTestOneInput(bytes, n);
    free(bytes);
    return 0;
}

/* How many inputs ran, or a negative number. */
static int run_path(const char *path)
{
    DIR *d = opendir(path);
    if (d == NULL && errno == ENOTDIR) return run_file(path) == 0 ? 1 : -1;
    if (d == NULL) {
        perror(path);
        return -1;
    }
    int ran = 0;
    for (struct dirent *e = readdir(d); e != NULL && ran >= 0; e = readdir(d)) {
        char name[4096];
        if (e->d_name[0] == '.') continue;
        snprintf(name, sizeof name, "%s/%s", path, e->d_name);
        ran = run_file(name) == 0 ? ran + 1 : -1;
    }
    closedir(d);
    return ran;
}

int main(int argc, char **argv)
{
    int ran = 0;
    for (int i = 1; i < argc; i++) {
        const int more = run_path(argv[i]);
        if (more < 0) return 1;
        ran += more;
    }
    printf("%d inputs\n", ran);
    return ran == 0;
}

#endif
#endif
