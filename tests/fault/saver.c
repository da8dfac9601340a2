/* The program under test of test_faults.py and test_long_kill.py, and their checker.
 *
 *     saver make PATH      a fresh image of generation 1
 *     saver update PATH    open for update, add a key, save
 *     saver again PATH     the same, and what fails is tried once more
 *     saver replace PATH   as update, without its lock
 *     saver new PATH       as make, but the path must be free
 *     saver pack PATH      over it, a packed file of a fresh image
 *     saver lost PATH      open for update; the file is removed; two generations are saved all the
 *                          same, and the second has the lock
 *     saver loop PATH      save generation after generation for ever, and print each once it is
 *                          safe
 *     saver check PATH     open with all sums verified; every key of every generation must be in;
 *                          prints the generation
 *
 * Exit: 0 done; minus the tamis_status when that failed (10 is TAMIS_EIO); 40 when a descriptor was
 * left open; 41 when an I/O error came without its errno; 42 when a key is missing; 43
 * when the lock is. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* syscall */
#endif
#include "../support/saving.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <tamis/inspect.h>
#include <unistd.h>

enum { LEAK = 40, NO_ERRNO = 41, MISSING = 42, UNLOCKED = 43, USAGE = 64 };

/* Room for a long loop; 150 KB are three writes and many pages to be torn. */
static const tamis_plan plan = {.struct_size = sizeof plan, .items = 120000, .fpr = 0.01};

static int failed(tamis_status s, const tamis_error *why)
{
    fprintf(stderr, "saver: %s\n", why->text);
    return s == TAMIS_EIO && why->os == 0 ? NO_ERRNO : -(int)s;
}

/* Not by a directory, whose opening the shim may strike. */
static int open_descriptors(void)
{
    int n = 0;
    for (int fd = 0; fd < 256; fd++) n += syscall(SYS_fcntl, fd, F_GETFD) >= 0; /* past the shim */
    return n;
}

/* The key that says: generation g was saved. */
static size_t key_of(uint64_t g, char *key, size_t size)
{
    return (size_t)snprintf(key, size, "generation %" PRIu64, g);
}

static uint64_t generation_of(const tamis *t)
{
    tamis_facts facts = {.struct_size = sizeof facts};
    return tamis_info(t, &facts) == TAMIS_OK ? facts.generation : 0;
}

/* Makes a new generation: where the key changes no bit, being a false positive, a number is added
 * that does. */
static tamis_status add_key(tamis *t, uint64_t g)
{
    char key[40];
    bool seen;
    tamis_status s = tamis_add(t, key, key_of(g, key, sizeof key), &seen);
    for (uint64_t n = 0; s == TAMIS_OK && seen; n++) s = tamis_add(t, &n, sizeof n, &seen);
    return s;
}

static int make(const char *path, bool only_new)
{
    tamis_error why = {.text = "cannot add"};
    tamis *t;
    tamis_status s = tamis_create(&plan, NULL, &t, &why);
    if (s == TAMIS_OK) s = add_key(t, 1);
    if (s == TAMIS_OK) s = tamis_save(t, path, only_new ? SAVING(TAMIS_SAVE_NEW) : NULL, &why);
    tamis_close(t);
    return s == TAMIS_OK ? 0 : failed(s, &why);
}

static int pack(const char *path)
{
    tamis_error why = {.text = "cannot add"};
    tamis *t;
    tamis_status s = tamis_create(&plan, NULL, &t, &why);
    if (s == TAMIS_OK) s = add_key(t, 1);
    if (s == TAMIS_OK) s = tamis_save(t, path, SAVING(TAMIS_SAVE_PACKED), &why);
    tamis_close(t);
    return s == TAMIS_OK ? 0 : failed(s, &why);
}

static int update(const char *path, uint32_t flags, bool try_again)
{
    const tamis_options options = {.struct_size = sizeof options, .flags = flags};
    tamis_error why = {.text = "cannot add"};
    tamis *t;
    tamis_status s = tamis_open(path, &options, &t, &why);
    if (s != TAMIS_OK && try_again) s = tamis_open(path, &options, &t, &why);
    if (s == TAMIS_OK) s = add_key(t, generation_of(t) + 1);
    if (s == TAMIS_OK) s = tamis_save(t, path, NULL, &why);
    if (s != TAMIS_OK && t != NULL && try_again) s = tamis_save(t, path, NULL, &why);
    tamis_close(t);
    return s == TAMIS_OK ? 0 : failed(s, &why);
}

static int lost(const char *path)
{
    const tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_UPDATE};
    tamis_error why = {.text = "cannot add"};
    tamis *t, *other = NULL;
    tamis_status s = tamis_open(path, &options, &t, &why);
    remove(path);
    for (int i = 0; i < 2; i++) {
        if (s == TAMIS_OK) s = add_key(t, generation_of(t) + 1);
        if (s == TAMIS_OK) s = tamis_save(t, path, NULL, &why);
    }
    const bool locked = tamis_open(path, &options, &other, NULL) == TAMIS_EBUSY;
    tamis_close(other);
    tamis_close(t);
    if (s != TAMIS_OK) return failed(s, &why);
    return locked ? 0 : UNLOCKED;
}

static void report(uint64_t generation)
{
    printf("%" PRIu64 "\n", generation);
    fflush(stdout);
}

/* Ends only by a signal or an error. */
static int loop(const char *path)
{
    const tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_UPDATE};
    tamis_error why = {.text = "cannot add"};
    tamis *t;
    tamis_status s = tamis_open(path, &options, &t, &why);
    for (uint64_t g = s == TAMIS_OK ? generation_of(t) : 0; s == TAMIS_OK;) {
        report(g);
        s = add_key(t, ++g);
        if (s == TAMIS_OK) s = tamis_save(t, path, NULL, &why);
    }
    tamis_close(t);
    return failed(s, &why);
}

static int check(const char *path)
{
    tamis_error why;
    tamis *t;
    const tamis_status s = tamis_open(path, NULL, &t, &why);
    if (s != TAMIS_OK) return failed(s, &why);
    const uint64_t generation = generation_of(t);
    uint64_t missing = 0;
    for (uint64_t g = 1; g <= generation; g++) {
        char key[40];
        missing += !tamis_may_contain(t, key, key_of(g, key, sizeof key));
    }
    tamis_close(t);
    report(generation);
    if (missing != 0) fprintf(stderr, "saver: %" PRIu64 " keys are missing\n", missing);
    return generation > 0 && missing == 0 ? 0 : MISSING;
}

static int run(const char *what, const char *path)
{
    if (strcmp(what, "make") == 0) return make(path, false);
    if (strcmp(what, "new") == 0) return make(path, true);
    if (strcmp(what, "pack") == 0) return pack(path);
    if (strcmp(what, "update") == 0) return update(path, TAMIS_UPDATE, false);
    if (strcmp(what, "replace") == 0) return update(path, 0, false);
    if (strcmp(what, "again") == 0) return update(path, TAMIS_UPDATE, true);
    if (strcmp(what, "lost") == 0) return lost(path);
    if (strcmp(what, "loop") == 0) return loop(path);
    if (strcmp(what, "check") == 0) return check(path);
    return USAGE;
}

int main(int argc, char **argv)
{
    if (argc != 3) return USAGE;
    const int before = open_descriptors();
    const int result = run(argv[1], argv[2]);
    return open_descriptors() == before ? result : LEAK;
}
