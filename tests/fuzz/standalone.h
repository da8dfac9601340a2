/* A main for fuzz targets without libFuzzer: runs the files and directories it is given. */
#ifndef TAMIS_FUZZ_STANDALONE_H
#define TAMIS_FUZZ_STANDALONE_H

#include <dirent.h>
#include <errno.h>

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    if (f == NULL) {
        perror(path);
        return 1;
    }
    struct bytes b = bytes_new(MAX_BYTES + 1);
    b.n = fread(b.p, 1, b.n, f);
    fclose(f);
    LLVMFuzzerTestOneInput(b.p, b.n);
    free(b.p);
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
