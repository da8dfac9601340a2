/* Processes that read while others write: two writers replace a file hundreds of times while others
 * open it, in memory, mapped, or by the command. A reader sees one whole generation, never an older
 * one than before, and continues to see it however often the file is replaced. No process gets a
 * signal.
 *
 * A generation has a few keys of its own and all those of the generations before. The filters
 * are so sharp that a wrong "maybe" among all queries of this test has a probability below 1e-9;
 * keys and seed are fixed. */
#define _GNU_SOURCE
#include "../support/room.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { KEYS = 4, GENERATIONS = 240, ALL = KEYS * (GENERATIONS + 1) };

static char directory[256];

static const char *in_directory(const char *name)
{
    static char path[sizeof directory + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

/* In memory where there is room for that: saving waits for the disk. */
static void make_directory(void)
{
    enter_room(access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NULL, "readers", directory,
               sizeof directory);
}

static size_t key_of(uint64_t generation, int i, char key[40])
{
    return (size_t)snprintf(key, 40, "key %d of generation %llu", i,
                            (unsigned long long)generation);
}

static uint64_t generation_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return tamis_info(t, &f) == TAMIS_OK ? f.generation : 0;
}

static tamis_status add_generation(tamis *t, uint64_t generation)
{
    tamis_status s = TAMIS_OK;
    for (int i = 0; i < KEYS && s == TAMIS_OK; i++) {
        char key[40];
        s = tamis_add(t, key, key_of(generation, i, key), NULL);
    }
    return s;
}

/* All keys up to its generation, and none beyond it. */
static bool is_whole(const tamis *t, uint64_t generation)
{
    bool good = generation > 0;
    for (uint64_t g = 1; g <= GENERATIONS + 1 && good; g++)
        for (int i = 0; i < KEYS; i++) {
            char key[40];
            const size_t n = key_of(g, i, key);
            good = good && tamis_may_contain(t, key, n) == (g <= generation);
        }
    return good;
}

static void make_file(const char *path)
{
    const tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = ALL, .fpr = 1e-16};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK_OK(add_generation(t, 1));
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK_THAT(generation_of(t), ==, 1);
    tamis_close(t);
}

/* --- Processes: each returns 0, or the number of what went wrong ------------------------------ */

enum { CANNOT_OPEN = 1, WENT_BACK, MIXED, CHANGED, CANNOT_SAVE, CANNOT_RUN, WRONG_LINES };

static int write_generations(const char *path)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_UPDATE | TAMIS_WAIT};
    for (uint64_t g = 0; g < GENERATIONS;) {
        tamis *t;
        if (tamis_open(path, &o, &t, NULL) != TAMIS_OK) return CANNOT_OPEN;
        g = generation_of(t);
        const bool last = g >= GENERATIONS;
        if (!last &&
            (add_generation(t, ++g) != TAMIS_OK || tamis_save(t, path, NULL, NULL) != TAMIS_OK))
            return CANNOT_SAVE;
        tamis_close(t);
        if (last) break;
    }
    return 0;
}

/* Opens it again and again; each handle is asked, left while others write, and asked again. */
static int read_generations(const char *path, uint32_t flags)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = flags};
    const struct timespec while_others_write = {0, 2000000};
    for (uint64_t last = 0; last < GENERATIONS;) {
        tamis *t;
        if (tamis_open(path, &o, &t, NULL) != TAMIS_OK) return CANNOT_OPEN;
        const uint64_t now = generation_of(t);
        if (now < last) return WENT_BACK;
        if (!is_whole(t, now)) return MIXED;
        nanosleep(&while_others_write, NULL);
        if (generation_of(t) != now || !is_whole(t, now)) return CHANGED;
        tamis_close(t);
        last = now;
    }
    return 0;
}

static int read_mapped(const char *path)
{
    return read_generations(path, TAMIS_MAP);
}

static int read_copied(const char *path)
{
    return read_generations(path, 0);
}

/* How many lines a file has; -1: it is not the beginning of the other. */
static long lines_of_beginning(const char *some, const char *all)
{
    FILE *a = fopen(some, "r"), *b = fopen(all, "r");
    char x[64], y[64];
    long n = 0;
    while (a != NULL && b != NULL && n >= 0 && fgets(x, sizeof x, a) != NULL)
        n = fgets(y, sizeof y, b) != NULL && strcmp(x, y) == 0 ? n + 1 : -1;
    if (a != NULL) fclose(a);
    if (b != NULL) fclose(b);
    return a != NULL && b != NULL ? n : -1;
}

static const char *command(void)
{
    static char path[4096];
    const char *build = getenv("TAMIS_BUILD");
    snprintf(path, sizeof path, "%s/tamis", build != NULL ? build : ".");
    return access(path, X_OK) == 0 ? path : NULL;
}

/* `tamis check` prints the keys of one generation and those before: the beginning of the list of
 * all. */
static int check_generations(const char *path)
{
    char out[sizeof directory + 16], all[sizeof directory + 16];
    snprintf(out, sizeof out, "%s/out", directory);
    snprintf(all, sizeof all, "%s/all", directory);
    for (long last = 0; last < KEYS * GENERATIONS;) {
        const pid_t child = fork();
        int status;
        if (child == 0) {
            const int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
            if (fd >= 0 && dup2(fd, STDOUT_FILENO) >= 0)
                execl(command(), "tamis", "check", path, all, (char *)NULL);
            _exit(99);
        }
        if (child < 0 || waitpid(child, &status, 0) != child || status != 0) return CANNOT_RUN;
        const long n = lines_of_beginning(out, all);
        if (n < last) return n < 0 ? WRONG_LINES : WENT_BACK;
        if (n % KEYS != 0) return MIXED;
        last = n;
    }
    return 0;
}

static pid_t begin(int (*run)(const char *path), const char *path)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) _exit(run(path));
    CHECK(child > 0);
    return child;
}

/* --- Tests ------------------------------------------------------------------------------------ */

static void write_all_keys(const char *path)
{
    FILE *f = fopen(path, "w");
    CHECK(f != NULL);
    for (uint64_t g = 1; g <= GENERATIONS + 1; g++)
        for (int i = 0; i < KEYS; i++) {
            char key[40];
            key_of(g, i, key);
            fprintf(f, "%s\n", key);
        }
    CHECK(fclose(f) == 0);
}

static void test_replaced_while_read(void)
{
    make_directory();
    write_all_keys(in_directory("all"));
    char path[sizeof directory + 16];
    snprintf(path, sizeof path, "%s/set.tamis", directory);
    make_file(path);
    static int (*const runs[])(const char *) = {write_generations, write_generations, read_mapped,
                                                read_copied, check_generations};
    static const char *const names[] = {"a writer", "another writer", "mapped", "in memory",
                                        "tamis check"};
    const size_t n = command() != NULL ? 5 : 4;
    pid_t children[5];
    bool good = true;
    for (size_t i = 0; i < n; i++) children[i] = begin(runs[i], path);
    for (size_t i = 0; i < n; i++) {
        int status;
        CHECK(waitpid(children[i], &status, 0) == children[i]);
        if (status == 0) continue;
        printf("%s: signal %d, exit %d\n", names[i], WTERMSIG(status), WEXITSTATUS(status));
        good = false;
        for (size_t j = i + 1; j < n; j++) kill(children[j], SIGKILL);
    }
    CHECK(good);
    tamis *t;
    CHECK_OK(tamis_open(path, NULL, &t, NULL));
    CHECK(generation_of(t) == GENERATIONS && is_whole(t, GENERATIONS));
    tamis_close(t);
    remove(path);
    remove(in_directory("all"));
    remove(in_directory("out"));
    CHECK(rmdir(directory) == 0); /* and nothing else was left */
}

/* The file is cut and written in place, as no program should, while others open it. */
static int damage_again_and_again(const char *path)
{
    for (;;) {
        const int fd = open(path, O_RDWR);
        static char bytes[1 << 16];
        const ssize_t n = fd >= 0 ? pread(fd, bytes, sizeof bytes, 0) : -1;
        for (int i = 0; i < 20 && n > 0; i++) {
            if (ftruncate(fd, n * i / 20) != 0) return CANNOT_SAVE;
            if (pwrite(fd, bytes, (size_t)n, 0) != n) return CANNOT_SAVE;
        }
        close(fd);
    }
}

/* In memory: an error or the whole, and what is open stays as it is. */
static void test_truncated_while_read(void)
{
    make_directory();
    char path[sizeof directory + 16];
    snprintf(path, sizeof path, "%s/set.tamis", directory);
    make_file(path);
    tamis *before, *t;
    CHECK_OK(tamis_open(path, NULL, &before, NULL));
    const pid_t child = begin(damage_again_and_again, path);
    int opened = 0, refused = 0;
    for (int i = 0; i < 200000 && (i < 2000 || opened == 0 || refused == 0); i++) {
        const tamis_status s = tamis_open(path, NULL, &t, NULL);
        if (s == TAMIS_OK && !is_whole(t, 1)) break;
        if (s != TAMIS_OK && s != TAMIS_ECORRUPT) break;
        *(s == TAMIS_OK ? &opened : &refused) += 1;
        tamis_close(t);
    }
    kill(child, SIGKILL);
    CHECK(waitpid(child, NULL, 0) == child);
    CHECK(opened > 0 && refused > 0 && opened + refused >= 2000);
    CHECK(truncate(path, 0) == 0);
    CHECK(is_whole(before, 1));
    tamis_close(before);
    remove(path);
    CHECK(rmdir(directory) == 0);
}

static int ask_mapped_after(const char *path, bool truncated)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_MAP};
    tamis *t;
    signal(SIGBUS, SIG_DFL); /* a sanitizer has its own */
    if (tamis_open(path, &o, &t, NULL) != TAMIS_OK) return CANNOT_OPEN;
    if (truncated ? truncate(path, 0) != 0 : unlink(path) != 0) return CANNOT_SAVE;
    const bool whole = is_whole(t, 1);
    tamis_close(t);
    return whole ? 0 : CHANGED;
}

static int ask_truncated(const char *path)
{
    return ask_mapped_after(path, true);
}

static int ask_removed(const char *path)
{
    return ask_mapped_after(path, false);
}

/* What tamis.h says of TAMIS_MAP: only truncation is fatal; a file that is removed or replaced
 * stays as long as it is mapped. */
static void test_mapped(void)
{
    make_directory();
    char path[sizeof directory + 16];
    snprintf(path, sizeof path, "%s/set.tamis", directory);
    int status;
    make_file(path);
    CHECK(waitpid(begin(ask_truncated, path), &status, 0) > 0);
    CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
    CHECK(unlink(path) == 0);
    make_file(path);
    CHECK(waitpid(begin(ask_removed, path), &status, 0) > 0);
    CHECK_THAT(status, ==, 0);
    CHECK(rmdir(directory) == 0);
}

static const struct test tests[] = {
    {"replaced while it is read", test_replaced_while_read},
    {"truncated while it is read", test_truncated_while_read},
    {"mapped", test_mapped},
};

TEST_MAIN(tests)
