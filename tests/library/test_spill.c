/* Ribbons with more keys than fit in memory: the bytes are those of a build in memory, the
 * memory is what the header says, and a full disk, a missing directory or missing memory lose
 * nothing. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64 /* readdir on 32-bit machines */
#include "../support/room.h"
#include "../support/spilling.h"
#include "../support/tracking.h"
#include "image/spill.h"
#include "sealed/hash_sort.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

/* With the least scratch, 1 MiB: hashes that stay in memory. */
#define IN_MEMORY (MIB / 48)

static void check_same(tamis *spilled, tamis *in_memory)
{
    CHECK(same_image(spilled, in_memory));
    tamis_close(spilled);
    tamis_close(in_memory);
}

/* --- The same bytes --------------------------------------------------------------------------- */

static void bytes_are_those_of_memory(void)
{
    /* Nothing in the file, just so, two runs, many; pieces; bumped keys that do not fit the memory
     * either. */
    static const uint64_t sizes[] = {
        0, 1, 20000, IN_MEMORY, IN_MEMORY + 1, 2 * IN_MEMORY, 50000, 300000, 1200000, 2500000};
    for (size_t i = 0; i < LENGTH(sizes); i++) {
        const tamis_options o = spilling(1, 1);
        tamis *t = sealed_ribbon(&o, UNIFORM, sizes[i]);
        CHECK(facts_of(t).sealed && facts_of(t).items == sizes[i]);
        if (sizes[i] <= 300000) check_all_in(t, UNIFORM, sizes[i]);
        check_same(t, sealed_ribbon(NULL, UNIFORM, sizes[i]));
    }
}

static void scratch_does_not_matter(void)
{
    for (size_t scratch = MIB; scratch <= 64 * MIB; scratch *= 4) {
        const tamis_options o = spilling(scratch, 1);
        check_same(sealed_ribbon(&o, UNIFORM, 400000), sealed_ribbon(NULL, UNIFORM, 400000));
    }
}

/* Whatever the hashes are: repeated in every run, of one start, of one row, numbers. */
static void hard_sets(void)
{
    for (enum set set = UNIFORM; set < SETS; set++) {
        const tamis_options o = spilling(1, 2);
        tamis *t = sealed_ribbon(&o, set, 100000);
        check_all_in(t, set, 100000);
        check_same(t, sealed_ribbon(NULL, set, 100000));
    }
}

static void repeats_across_runs(void)
{
    enum { N = 150000 };
    const tamis_options o = spilling(1, 1);
    tamis *t = new_ribbon(&o), *m = new_ribbon(NULL);
    for (unsigned round = 0; round < 3; round++)
        for (unsigned half = 0; half < 2; half++) {
            fill(t, UNIFORM, half * N / 3, N);
            fill(m, UNIFORM, half * N / 3, N);
        }
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_seal(m, NULL));
    check_same(t, m);
}

/* Runs with much in common, many hashes of one hi, and so little room that every share is filled
 * often. */
static void merging_is_sorting(void)
{
    enum { RUNS = 7, IN_RUN = 3000, ALL = RUNS * IN_RUN };
    static tamis_hash all[ALL], merged[ALL], room[RUNS * 40];
    static uint64_t scratch[ALL * 2 + 8192];
    CHECK_THAT(sizeof scratch, >=, tamis__sort_scratch(ALL, 1));
    for (uint64_t values = 1; values <= 1000; values *= 10) {
        struct spill *s, out, none;
        uint64_t seed = values, at;
        CHECK_OK(tamis__spill_open(temp_dir(), 1, NULL, &s, NULL));
        for (unsigned r = 0; r < RUNS; r++) {
            tamis_hash *run = all + r * IN_RUN;
            for (unsigned i = 0; i < IN_RUN; i++)
                run[i] = (tamis_hash){splitmix(&seed) % 5000, splitmix(&seed) % values};
            memcpy(merged, run, IN_RUN * sizeof *run);
            const uint64_t n = tamis__sort_hashes(merged, IN_RUN, 1, scratch);
            CHECK_OK(tamis__spill_write(s, merged, n, NULL));
        }
        CHECK_THAT(tamis__spill_merge(s, room, RUNS * 16 - 1, 1, &none, NULL), ==, TAMIS_ENOMEM);
        CHECK_OK(tamis__spill_merge(s, room, RUNS * 40, 1, &out, NULL));
        const uint64_t n = tamis__sort_hashes(all, ALL, 1, scratch);
        CHECK(out.count == 1 && out.runs->n == n);
        CHECK_OK(tamis__spill_read(&out, 0, merged, n, NULL));
        CHECK(memcmp(all, merged, (size_t)n * sizeof *all) == 0);
        for (uint64_t hi = 0; hi <= values; hi += 1 + values / 10) {
            CHECK_OK(tamis__spill_find(&out, hi, &at, NULL));
            CHECK(at == n || all[at].hi >= hi);
            CHECK(at == 0 || all[at - 1].hi < hi);
        }
        tamis__spill_forget(&out);
        tamis__spill_close(s);
    }
}

/* --- Memory ----------------------------------------------------------------------------------- */

/* tamis.h: the sealed filter, scratch_bytes, 32 MiB for each thread. */
static void memory_is_as_stated(void)
{
    static const struct {
        uint64_t n;
        size_t scratch;
        uint32_t threads;
    } cases[] = {{21000, 1, 1},         {60000, 1, 1},           {2500000, 1, 1},
                 {2500000, 1, 3},       {2090000, 4 * MIB, 1},   {2090000, 64 * MIB, 2},
                 {5000000, 8 * MIB, 2}, {2150000, 100 * MIB, 1}, {3200000, 100 * MIB, 1}};
    for (size_t i = 0; i < LENGTH(cases); i++) {
        struct tracker a;
        tracker_init(&a);
        tamis_options o = spilling(cases[i].scratch, cases[i].threads);
        o.memory = &a.memory;
        tamis *t = sealed_ribbon(&o, UNIFORM, cases[i].n);
        const size_t scratch = cases[i].scratch > MIB ? cases[i].scratch : MIB;
        CHECK_THAT(a.peak, <=, tamis_image_size(t) + scratch + cases[i].threads * 32 * MIB);
        tamis_close(t);
        CHECK_THAT(a.blocks, ==, 0);
    }
}

/* Every allocation of collecting and sealing fails, once and for ever: nothing is lost, nothing
 * leaks, and it works when tried again. */
static void no_memory(void)
{
    enum { N = 50000 };
    tamis *in_memory = sealed_ribbon(NULL, UNIFORM, N);
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (size_t fail_at = 1;; fail_at++) {
            struct tracker a;
            tamis_error why;
            uint64_t added = 0, more;
            tracker_init(&a);
            tamis_options o = spilling(1, 2);
            o.memory = &a.memory;
            tamis *t = new_ribbon(&o);
            a.calls = 0;
            a.fail_at = fail_at;
            a.for_ever = for_ever != 0;
            tamis_status s = add_hashes(t, UNIFORM, 0, N, &added);
            CHECK_THAT(facts_of(t).items, ==, added);
            if (s != TAMIS_OK) {
                CHECK_THAT(s, ==, TAMIS_ENOMEM);
                a.for_ever = false;
                CHECK_OK(add_hashes(t, UNIFORM, added, N, &more));
            }
            s = tamis_seal(t, &why);
            if (s != TAMIS_OK) {
                CHECK(s == TAMIS_ENOMEM && why.text[0] != '\0' && facts_of(t).collecting);
                a.for_ever = false;
                CHECK_OK(tamis_seal(t, &why));
            }
            a.fail_at = 0;
            CHECK(same_image(t, in_memory));
            const bool failed = a.failed;
            tamis_close(t);
            CHECK_THAT(a.blocks, ==, 0);
            if (!failed) break;
        }
    tamis_close(in_memory);
}

/* --- Files ------------------------------------------------------------------------------------ */

static void limit_files(rlim_t bytes)
{
    struct rlimit l;
    CHECK(getrlimit(RLIMIT_FSIZE, &l) == 0);
    l.rlim_cur = bytes < l.rlim_max ? bytes : l.rlim_max;
    CHECK(setrlimit(RLIMIT_FSIZE, &l) == 0);
}

/* No room for the next run: the add says so, and how many it has added. */
static void full_while_adding(void)
{
    enum { N = 120000 };
    const tamis_options o = spilling(1, 1);
    tamis *t = new_ribbon(&o);
    uint64_t added, none, more;
    limit_files(50000 * 16); /* two runs, and a part of the third */
    errno = 0;
    CHECK_THAT(add_hashes(t, UNIFORM, 0, N, &added), ==, TAMIS_EIO);
    CHECK_THAT(errno, ==, EFBIG);
    CHECK(added > 60000 && added <= 66000);
    CHECK_THAT(facts_of(t).items, ==, added);
    CHECK_THAT(add_hashes(t, UNIFORM, added, N, &none), ==, TAMIS_EIO);
    CHECK_THAT(none, ==, 0);
    limit_files(RLIM_INFINITY);
    CHECK_OK(add_hashes(t, UNIFORM, added, N, &more));
    CHECK_OK(tamis_seal(t, NULL));
    check_same(t, sealed_ribbon(NULL, UNIFORM, N));
}

/* No room for the merged run, or for the last one: still a collection, and sealed when there is
 * room. */
static void full_while_sealing(void)
{
    enum { N = 120000 };
    static const rlim_t limits[] = {115000, 125000, 200000, 239999};
    for (size_t i = 0; i < LENGTH(limits); i++) {
        const tamis_options o = spilling(1, 1);
        tamis *t = new_ribbon(&o);
        tamis_error why = {0};
        fill(t, UNIFORM, 0, N);
        limit_files(limits[i] * 16);
        CHECK_THAT(tamis_seal(t, &why), ==, TAMIS_EIO);
        CHECK(why.os == EFBIG && strstr(why.text, "temporary file") != NULL);
        CHECK(facts_of(t).collecting && facts_of(t).items == N);
        limit_files(RLIM_INFINITY);
        const tamis_hash next = hash_of(UNIFORM, N);
        uint8_t seen = 0;
        CHECK_OK(tamis_add_hashes(t, &next, 1, &seen, NULL));
        CHECK_THAT(seen, ==, 1); /* only the first of all is certainly new */
        fill(t, UNIFORM, N + 1, N + 10);
        CHECK_OK(tamis_seal(t, &why));
        check_same(t, sealed_ribbon(NULL, UNIFORM, N + 10));
    }
}

/* At once, not when the memory is full. */
static void bad_directories(void)
{
    static const struct {
        const char *path;
        int os;
    } bad[] = {{"/nonexistent/at/all", ENOENT}, {"/dev/null", ENOTDIR}, {"", ENOENT}};
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_RIBBON, .items = 1000, .fpr = 0.01};
    for (size_t i = 0; i < LENGTH(bad); i++) {
        tamis_options o = spilling(1, 1);
        tamis *t = (tamis *)(uintptr_t)8;
        tamis_error why = {0};
        o.temp_dir = bad[i].path;
        CHECK_THAT(tamis_create(&p, &o, &t, &why), ==, TAMIS_EIO);
        CHECK(t == NULL && why.os == bad[i].os && why.text[0] != '\0');
    }
}

static void kinds_that_cannot(void)
{
    const tamis_options o = spilling(1, 2);
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_EXACT; kind++) {
        const tamis_plan p = plan_of(kind, 1000);
        tamis *t, *plain = NULL;
        tamis_error why = {0};
        const tamis_status s = tamis_create(&p, &o, &t, &why);
        CHECK_OK(tamis_create(&p, NULL, &plain, NULL));
        if (kind != TAMIS_RIBBON && facts_of(plain).collecting) {
            CHECK_THAT(s, ==, TAMIS_EUNSUPPORTED);
            CHECK(t == NULL && why.better_kind == TAMIS_RIBBON);
            /* A sealed one has nothing more to collect. */
            CHECK_OK(tamis_add(plain, "a", 1, NULL));
            CHECK_OK(tamis_seal(plain, NULL));
            struct bytes image = image_of(plain);
            CHECK_OK(tamis_load(image.p, image.n, &o, &t, &why));
            free(image.p);
        } else {
            CHECK_OK(s);
        }
        tamis_close(t);
        tamis_close(plain);
    }
}

static size_t files_in(const char *path)
{
    size_t n = 0;
    DIR *d = opendir(path);
    CHECK(d != NULL);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

/* While there are hashes in the file there is no image. No file is to be seen, at any time. */
static void refusals(void)
{
    enum { N = 60000 };
    char directory[256], path[300];
    enter_room(temp_dir(), "spill", directory, sizeof directory);
    snprintf(path, sizeof path, "%s/out", directory);
    tamis_options o = spilling(1, 1);
    o.temp_dir = directory;
    tamis *t = new_ribbon(&o), *copy;
    tamis_error why = {0};
    fill(t, UNIFORM, 0, 100);
    CHECK_OK(tamis_copy(t, &copy, NULL)); /* nothing is in the file yet */
    fill(t, UNIFORM, 100, N);
    fill(copy, UNIFORM, 100, N);
    CHECK_OK(tamis_seal(copy, NULL));
    CHECK_THAT(tamis_save(t, path, NULL, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(strstr(why.text, "seal") != NULL && access(path, F_OK) != 0);
    tamis *none = (tamis *)(uintptr_t)8;
    CHECK_THAT(tamis_copy(t, &none, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(none == NULL && strstr(why.text, "seal") != NULL);
    CHECK(image_of(t).p == NULL);
    CHECK_THAT(files_in(directory), ==, 0);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK(same_image(t, copy));
    tamis_close(copy);
    CHECK_OK(tamis_copy(t, &copy, NULL));
    CHECK_OK(tamis_save(t, path, NULL, &why));
    tamis_close(t);
    tamis_close(copy);
    CHECK_OK(tamis_open(path, &o, &t, NULL));
    check_all_in(t, UNIFORM, N);
    tamis_close(t);
    CHECK(remove(path) == 0 && rmdir(directory) == 0);
}

static void clearing(void)
{
    const tamis_options o = spilling(1, 1);
    tamis *t = new_ribbon(&o);
    for (unsigned round = 0; round < 3; round++) {
        bool seen[2];
        fill(t, UNIFORM, 1000 * round, 70000);
        CHECK_OK(tamis_clear(t));
        CHECK_THAT(facts_of(t).items, ==, 0);
        tamis *fresh = new_ribbon(NULL);
        CHECK(same_image(t, fresh));
        tamis_close(fresh);
        CHECK_OK(tamis_add(t, "a", 1, &seen[0]));
        CHECK_OK(tamis_add(t, "a", 1, &seen[1]));
        CHECK(!seen[0] && seen[1]);
        CHECK_OK(tamis_clear(t));
    }
    fill(t, UNIFORM, 0, 70000);
    CHECK_OK(tamis_seal(t, NULL));
    check_same(t, sealed_ribbon(NULL, UNIFORM, 70000));
}

/* Saved while it collects in memory, it goes on beyond it. */
static void opened_collections(void)
{
    tamis *first = new_ribbon(NULL), *m, *t;
    const tamis_options o = spilling(1, 1);
    fill(first, UNIFORM, 0, 50000);
    struct bytes image = image_of(first);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &m, NULL));
    CHECK_OK(tamis_load(image.p, image.n, &o, &t, NULL));
    free(image.p);
    tamis_close(first);
    fill(m, UNIFORM, 50000, 120000);
    fill(t, UNIFORM, 50000, 120000);
    CHECK_OK(tamis_seal(m, NULL));
    CHECK_OK(tamis_seal(t, NULL));
    check_same(t, m);
}

static const struct test tests[] = {
    {"bytes_are_those_of_memory", bytes_are_those_of_memory},
    {"scratch_does_not_matter", scratch_does_not_matter},
    {"hard_sets", hard_sets},
    {"repeats_across_runs", repeats_across_runs},
    {"merging_is_sorting", merging_is_sorting},
    {"memory_is_as_stated", memory_is_as_stated},
    {"no_memory", no_memory},
    {"full_while_adding", full_while_adding},
    {"full_while_sealing", full_while_sealing},
    {"bad_directories", bad_directories},
    {"kinds_that_cannot", kinds_that_cannot},
    {"refusals", refusals},
    {"clearing", clearing},
    {"opened_collections", opened_collections},
};

int main(int argc, char **argv)
{
    signal(SIGXFSZ, SIG_IGN); /* a file beyond the limit is an error, then, and no death */
    return run_tests(tests, LENGTH(tests), argc, argv);
}
