/* The smallest test harness that also runs where no test library is packaged: under qemu for other
 * machines. A test program is a table of functions; a failed check ends its function. The last
 * line, "N passed, N failed", is for people and CI alike. */
#ifndef TAMIS_CHECK_H
#define TAMIS_CHECK_H

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* For what Windows cannot do; tests/windows has its own tests. */
#ifdef _WIN32
#define ON_WINDOWS 1
#else
#define ON_WINDOWS 0
#endif

struct test {
    const char *name;
    void (*run)(void);
};

static jmp_buf check__failed;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #condition);                       \
            longjmp(check__failed, 1);                                                             \
        }                                                                                          \
    } while (0)

/* With the values that disagree; both as double, which holds every count of the tests. */
#define CHECK_THAT(left, op, right)                                                                \
    do {                                                                                           \
        const double check__l = (double)(left), check__r = (double)(right);                        \
        if (!(check__l op check__r)) {                                                             \
            printf("%s:%d: not true: %s %s %s, with %.17g and %.17g\n", __FILE__, __LINE__, #left, \
                   #op, #right, check__l, check__r);                                               \
            longjmp(check__failed, 1);                                                             \
        }                                                                                          \
    } while (0)

#define CHECK_OK(call) CHECK_THAT(call, ==, TAMIS_OK)

static inline int passes(const struct test *t)
{
    if (setjmp(check__failed) == 0) {
        t->run();
        return 1;
    }
    printf("FAILED %s\n", t->name);
    return 0;
}

/* Whether a name contains one of the arguments, or there are none. */
static inline int is_wanted(const char *name, int argc, char **argv)
{
    int wanted = argc < 2;
    for (int a = 1; a < argc; a++) wanted |= strstr(name, argv[a]) != NULL;
    return wanted;
}

/* Prints the last line; returns the exit status. */
static inline int concluded(int passed, int failed)
{
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0 || passed == 0;
}

/* Runs all tests, or those whose name contains an argument. */
static inline int run_tests(const struct test *tests, size_t n, int argc, char **argv)
{
    int passed = 0, failed = 0;
    for (size_t i = 0; i < n; i++) {
        if (!is_wanted(tests[i].name, argc, argv)) continue;
        fflush(stdout);
        if (passes(&tests[i]))
            passed++;
        else
            failed++;
    }
    return concluded(passed, failed);
}

#define TEST_MAIN(tests)                                                                           \
    int main(int argc, char **argv)                                                                \
    {                                                                                              \
        return run_tests(tests, sizeof(tests) / sizeof *(tests), argc, argv);                      \
    }

#endif
