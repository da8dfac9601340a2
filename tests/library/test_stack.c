/* No public call takes more than 16 KiB of stack, for any kind, as tamis.h promises. Every verb
 * runs on a thread whose stack is painted before. The part that was written over is what the call
 * took, including the frame of the test function that makes the call. Verbs run on small models,
 * whose tables fit the caches, and on big ones, for which bulk calls prefetch, with each table of
 * kernels that this machine can run.
 *
 * CMake defines STACK_LIMIT in builds that keep the promise: optimized ones without a sanitizer. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "../support/foreign.h"
#include "../support/room.h"
#include "../support/saving.h"
#include "../support/verbs.h"
#include "core/cpu.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/mman.h>
#include <unistd.h>

/* --- Painting --------------------------------------------------------------------------------- */

#define STACK_BYTES ((size_t)512 << 10)
#define GUARD_BYTES ((size_t)64 << 10) /* a whole number of pages anywhere */
#define PAINT UINT64_C(0x5061696e74656421)
#define MARGIN 1024u /* below the frame that paints, left alone */

static uint8_t *stack; /* its lowest byte, above the guard */
static char running[96];

/* Paints the free part of the stack, runs the verb, and returns how many bytes it took. */
static __attribute__((noinline)) size_t stack_of(tamis_status (*run)(struct scene *s),
                                                 struct scene *s)
{
    uint8_t *here = __builtin_frame_address(0);
    volatile uint64_t *from = (uint64_t *)(void *)stack;
    volatile uint64_t *to = from + (size_t)(here - MARGIN - stack) / sizeof *from;
    for (volatile uint64_t *p = from; p < to; p++) *p = PAINT;
    (void)run(s);
    while (from < to && *from == PAINT) from++;
    return from < to ? (size_t)(here - (uint8_t *)(uintptr_t)from) : MARGIN;
}

/* --- Models of tables beyond the caches ------------------------------------------------------- */

enum { BIG = 1200000, SOME = 100000 };
static uint64_t *big_numbers;
static tamis_bytes *big_keys;

static void make_big_keys(void)
{
    big_numbers = malloc(BIG * sizeof *big_numbers);
    big_keys = malloc(BIG * sizeof *big_keys);
    CHECK(big_numbers != NULL && big_keys != NULL);
    for (size_t i = 0; i < BIG; i++) {
        big_numbers[i] = i << 20;
        big_keys[i] = (tamis_bytes){&big_numbers[i], sizeof *big_numbers};
    }
}

/* Kinds whose last adds take the most stack are filled to their plan. */
static void add_big(struct model m)
{
    const bool counts = m.kind >= TAMIS_COUNT_MIN || m.inner >= TAMIS_COUNT_MIN;
    const bool full = is_static(m.kind) || m.kind == TAMIS_CUCKOO || m.kind == TAMIS_DISTINCT;
    tamis_plan p = {.struct_size = sizeof p, .kind = m.kind, .inner_kind = m.inner};
    p.bytes = counts ? m.kind == TAMIS_WINDOW ? 8 << 20 : 3 << 20 : 0;
    p.items = counts ? 0 : m.kind == TAMIS_COUNTING ? BIG / 6 : BIG;
    p.fpr = counts ? 0 : 0.001;
    if (m.kind == TAMIS_WINDOW && !counts) p.items = 4 * BIG;
    if (m.bitmap) p.kind = TAMIS_BLOOM, p.m = 1 << 24, p.k = 1, p.fpr = 0;
    tamis *t, *private;
    if (tamis_create(&p, NULL, &t, NULL) != TAMIS_OK) return; /* no window of that */
    CHECK_OK(put_keys(t, keys, FIRST));
    CHECK_OK(put_keys(t, big_keys, full ? BIG - FIRST : SOME));
    if (m.kind == TAMIS_EXACT) CHECK_OK(tamis_exclude_many(t, keys + MORE - 100, 100, NULL));
    if (m.sealed) CHECK_OK(tamis_seal(t, NULL));
    if (m.kind == TAMIS_PRIVATE) {
        CHECK_OK(tamis_release(t, 1, &private, NULL));
        tamis_close(t);
        t = private;
    }
    m.image = image_of(t);
    m.other = bytes_copy(m.image.p, m.image.n);
    m.packed = m.kind != TAMIS_PRIVATE ? packed_of(t) : bytes_copy("x", 1);
    CHECK(m.image.n > 1 << 20 && n_models < MODELS);
    tamis_close(t);
    models[n_models++] = m;
}

static void make_big_models(void)
{
    make_keys();
    for (uint32_t kind = 1; kind <= TAMIS_DISTINCT; kind++) {
        if (tamis_kind_name(kind) == NULL) continue;
        add_big((struct model){
            .kind = kind, .bitmap = kind == TAMIS_PRIVATE, .sealed = is_static(kind)});
        if (kind != TAMIS_WINDOW) add_big((struct model){.kind = TAMIS_WINDOW, .inner = kind});
    }
    CHECK_THAT(n_models, ==, 19 + 9);
}

/* --- More verbs ------------------------------------------------------------------------------- */

/* By any two of items, rate and bytes. */
static tamis_status s_plan(struct scene *s)
{
    static const struct {
        uint64_t items, bytes;
        double fpr;
    } ways[] = {{100000, 0, 0.001}, {100000, 1 << 20, 0}, {0, 1 << 20, 0.001}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        tamis_plan p = {.struct_size = sizeof p,
                        .kind = s->model->kind,
                        .inner_kind = s->model->inner,
                        .items = ways[i].items,
                        .bytes = ways[i].bytes,
                        .fpr = ways[i].fpr};
        tamis_promise promise = {.struct_size = sizeof promise};
        (void)tamis_solve(&p, &promise, &s->why);
        if (tamis_create(&p, &s->o, &s->made, &s->why) != TAMIS_OK) continue;
        tamis_limit(s->made, tamis_image_size(s->made));
        tamis_close(s->made);
        s->made = NULL;
    }
    return TAMIS_OK;
}

static char directory[256];

static const char *in_directory(const char *name)
{
    static char path[sizeof directory + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void make_directory(void)
{
    const bool in_memory = getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0; /* faster */
    enter_room(in_memory ? "/dev/shm" : NULL, "stack", directory, sizeof directory);
}

static tamis_status s_files(struct scene *s)
{
    static const uint32_t flags[] = {0, TAMIS_MAP, TAMIS_UPDATE, TAMIS_UNVERIFIED, TAMIS_KEYLESS};
    const char *path = in_directory("filter");
    tamis_status st = tamis_save(s->t, path, SAVING(TAMIS_SAVE_NEW), &s->why);
    CHECK(st != TAMIS_OK || tamis_save(s->t, path, SAVING(TAMIS_SAVE_NEW), &s->why) == TAMIS_EIO);
    for (size_t i = 0; i < sizeof flags / sizeof *flags && st == TAMIS_OK; i++) {
        tamis_options o = s->o;
        o.flags = flags[i];
        CHECK_OK(tamis_open(path, &o, &s->made, &s->why));
        if (flags[i] == TAMIS_UPDATE) st = tamis_save(s->made, path, NULL, &s->why);
        tamis_close(s->made);
        s->made = NULL;
    }
    tamis_facts f = {.struct_size = sizeof f};
    CHECK(st != TAMIS_OK || tamis_image_length(&f, sizeof f) == 0);
    unlink(path);
    CHECK(tamis_open(path, &s->o, &s->made, &s->why) == TAMIS_EIO);
    path = in_directory("other");
    CHECK_OK(tamis_write_file(path, "text", 4, SAVING(TAMIS_SAVE_NEW), &s->why));
    (void)tamis_save(s->t, path, SAVING(TAMIS_SAVE_PACKED), &s->why);
    unlink(path);
    return st;
}

static tamis_status s_seal(struct scene *s, uint32_t threads, const char *temp_dir)
{
    tamis_options o = s->o;
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = s->model->kind, .items = BIG, .fpr = 0.001};
    if (!is_static(s->model->kind) || s->model->sealed) return TAMIS_OK; /* once is enough */
    o.threads = threads;
    o.temp_dir = temp_dir;
    o.scratch_bytes = temp_dir != NULL ? 1 << 20 : 0;
    tamis_status st = tamis_create(&p, &o, &s->made, &s->why);
    if (st == TAMIS_OK) st = tamis_add_many(s->made, big_keys, BIG, NULL, NULL);
    return st == TAMIS_OK ? tamis_seal(s->made, &s->why) : st;
}

static tamis_status s_seal_by_threads(struct scene *s)
{
    return s_seal(s, 8, NULL);
}

static tamis_status s_seal_from_file(struct scene *s)
{
    return s_seal(s, 1, directory);
}

/* A partitioned bulk add (partition.c), and a handle that threads share (kernels/shared.c). */
static tamis_status s_parted(struct scene *s)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_BLOCKED, .items = BIG, .m = UINT64_C(512) << 20};
    if (s->model->kind != TAMIS_BLOCKED || s->model->image.n > 1 << 20) return TAMIS_OK;
    CHECK_OK(tamis_create(&p, &s->o, &s->made, &s->why));
    return tamis_add_many(s->made, big_keys, BIG, NULL, NULL);
}

static tamis_status s_shared(struct scene *s)
{
    tamis_options o = s->o;
    o.flags = TAMIS_SHARED;
    const tamis_status st = tamis_load(s->model->image.p, s->model->image.n, &o, &s->made, &s->why);
    if (st != TAMIS_OK) return st;
    CHECK_OK(tamis_add_many(s->made, keys, MORE, bits_of_keys, NULL));
    CHECK_THAT(tamis_may_contain_many(s->made, keys, MORE, bits_of_keys), ==, MORE);
    tamis_facts f = {.struct_size = sizeof f};
    s->out.at = 0;
    CHECK_OK(tamis_write(s->made, bytes_put, &s->out, &s->why));
    CHECK_OK(tamis_info(s->made, &f));
    return s->model->kind < TAMIS_COUNT_MIN
               ? TAMIS_OK
               : tamis_count_many(s->made, keys, FIRST, estimates, &s->why);
}

/* These have no kind; they run once for each model all the same. */
static tamis_status s_foreign(struct scene *s)
{
    const uint32_t format = 1 + s->model->kind % TAMIS_FOREIGN_GUAVA;
    const tamis_foreign_plan p = {
        .struct_size = sizeof p, .format = format, .items = 5000, .fpr = 0.01};
    tamis_foreign_facts facts = {.struct_size = sizeof facts};
    bool seen;
    CHECK(tamis_foreign_named(tamis_foreign_name(format)) == format);
    CHECK_OK(tamis_foreign_create(&p, &s->o, &s->foreign, &s->why));
    CHECK_OK(tamis_foreign_add(s->foreign, "x", 1, &seen));
    CHECK_OK(tamis_foreign_add_many(s->foreign, keys, MORE, bits_of_keys, NULL));
    CHECK(tamis_foreign_may_contain(s->foreign, "x", 1) == tamis_foreign_is_certain(s->foreign));
    CHECK_THAT(tamis_foreign_may_contain_many(s->foreign, keys, MORE, bits_of_keys), ==, MORE);
    CHECK_OK(tamis_foreign_info(s->foreign, &facts));
    CHECK(tamis_foreign_format_of(s->foreign) == format);
    CHECK(tamis_foreign_detect("", 0) == TAMIS_FOREIGN_AUTO);
    CHECK_OK(tamis_foreign_save(s->foreign, TAMIS_FOREIGN_AUTO, in_directory("foreign"),
                                SAVING(TAMIS_SAVE_NEW), &s->why));
    unlink(in_directory("foreign"));
    tamis_foreign_close(s->foreign);
    s->foreign = NULL;
    return TAMIS_OK;
}

static struct bytes parquet;

static tamis_status s_parquet(struct scene *s)
{
    const tamis_reader file = reader_of(&parquet);
    tamis_parquet_chunk c = {.struct_size = sizeof c};
    tamis_parquet *p;
    CHECK_OK(tamis_parquet_open(&file, &s->o, &p, &s->why));
    for (uint64_t i = 0; i < tamis_parquet_chunks(p); i++) {
        CHECK_OK(tamis_parquet_chunk_at(p, i, &c));
        if (tamis_parquet_filter(p, i, &s->foreign, &s->why) != TAMIS_OK) continue;
        (void)tamis_foreign_may_contain_many(s->foreign, keys, MORE, NULL);
        tamis_foreign_close(s->foreign);
        s->foreign = NULL;
    }
    tamis_parquet_close(p);
    return TAMIS_OK;
}

static tamis_status s_names(struct scene *s)
{
    CHECK(tamis_kind_named(tamis_kind_name(s->model->kind)) == s->model->kind);
    CHECK(tamis_status_message(TAMIS_ENOMEM) != NULL && tamis_version() != NULL);
    CHECK(tamis_encoding_name(TAMIS_KEYS_TEXT) != NULL);
    CHECK(tamis_bound_name(TAMIS_BOUND_STATIC) != NULL);
    return tamis_release(s->t, 1e9, &s->made, &s->why);
}

static const struct verb more_verbs[] = {
    {"plan", s_plan, 0},
    {"open and save", s_files, 0},
    {"seal by threads", s_seal_by_threads, 0},
    {"seal from a file", s_seal_from_file, 0},
    {"add many, parted", s_parted, 0},
    {"add and ask, shared", s_shared, 0},
    {"foreign calls", s_foreign, 0},
    {"parquet", s_parquet, 0},
    {"names", s_names, 0},
};
enum { MORE_VERBS = sizeof more_verbs / sizeof *more_verbs };

/* --- The loop --------------------------------------------------------------------------------- */

static size_t most, too_much;
static char most_of[sizeof running];

static void run_on_model(const struct verb *v, const struct model *m, const char *kernels)
{
    struct scene s;
    const char *inner = m->inner != 0 ? tamis_kind_name(m->inner) : "";
    snprintf(running, sizeof running, "%s of %s%s%s%s, %s kernels, %zu bytes", v->name,
             tamis_kind_name(m->kind), m->inner != 0 ? " of " : "", inner,
             m->sealed ? ", sealed" : "", kernels, m->image.n);
    open_scene(&s, m);
    const size_t bytes = stack_of(v->run, &s);
    close_scene(&s);
    if (bytes > most) {
        most = bytes;
        memcpy(most_of, running, sizeof most_of);
    }
#ifdef STACK_LIMIT
    if (bytes <= STACK_LIMIT) return;
    printf("%s: %zu bytes of stack, and at most %d are promised\n", running, bytes, STACK_LIMIT);
    too_much++;
#endif
}

/* The stack of the other verbs hardly depends on the kernels. */
static bool uses_kernels(const struct verb *v)
{
    return v->run == v_ask || v->run == v_add_many || v->run == v_add_hashes ||
           v->run == v_add_counted_many;
}

static void run_on_models(void)
{
    const struct kernels *all[4];
    const size_t n = tamis__runnable_kernels(all);
    for (size_t k = 0; k < n; k++) {
        tamis__use_kernels(all[k]);
        for (size_t i = 0; i < n_models; i++) {
            for (size_t v = 0; v < VERBS; v++)
                if (k == 0 || uses_kernels(&verbs[v]))
                    run_on_model(&verbs[v], &models[i], all[k]->name);
            for (size_t v = 0; v < MORE_VERBS && k == 0; v++)
                run_on_model(&more_verbs[v], &models[i], all[k]->name);
        }
    }
    tamis__use_kernels(all[0]);
}

/* A call took more than the whole stack: report which. */
static void overflowed(int signal)
{
    static const char what[] = ": more stack than the test has\n";
    (void)signal;
    if (write(STDOUT_FILENO, running, strlen(running)) < 0) _exit(1);
    if (write(STDOUT_FILENO, what, sizeof what - 1) < 0) _exit(1);
    _exit(1);
}

static void *in_thread(void *failed)
{
    static uint8_t room[1 << 16];
    const stack_t other = {.ss_sp = room, .ss_size = sizeof room};
    struct sigaction action = {.sa_handler = overflowed, .sa_flags = SA_ONSTACK};
    sigaltstack(&other, NULL);
    sigaction(SIGSEGV, &action, NULL);
    if (setjmp(check__failed) == 0)
        run_on_models();
    else
        *(bool *)failed = true;
    action.sa_handler = SIG_DFL;
    sigaction(SIGSEGV, &action, NULL);
    return NULL;
}

/* A failed check ends the test in the thread, and then here. */
static void on_a_painted_stack(void)
{
    jmp_buf here;
    pthread_t thread;
    pthread_attr_t attributes;
    bool failed = false;
    uint8_t *all = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(all != MAP_FAILED && mprotect(all, GUARD_BYTES, PROT_NONE) == 0);
    stack = all + GUARD_BYTES;
    most = too_much = 0;
    memcpy(&here, &check__failed, sizeof here);
    CHECK(pthread_attr_init(&attributes) == 0);
    CHECK(pthread_attr_setstack(&attributes, stack, STACK_BYTES) == 0);
    CHECK(pthread_create(&thread, &attributes, in_thread, &failed) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
    memcpy(&check__failed, &here, sizeof here);
    pthread_attr_destroy(&attributes);
    munmap(all, GUARD_BYTES + STACK_BYTES);
    CHECK(!failed);
    printf("at most %zu bytes: %s\n", most, most_of);
    CHECK_THAT(most, >, MARGIN); /* or nothing was measured */
    CHECK_THAT(too_much, ==, 0);
}

static void run_with(void (*make_all)(void))
{
    make_directory();
    parquet = read_foreign("duckdb.parquet");
    make_big_keys();
    make_all();
    on_a_painted_stack();
    free_models();
    free(big_keys);
    free(big_numbers);
    free(parquet.p);
    CHECK(rmdir(directory) == 0);
}

static void small_tables(void)
{
    run_with(make_models);
}

static void big_tables(void)
{
    run_with(make_big_models);
}

static const struct test tests[] = {
    {"small_tables", small_tables},
    {"big_tables", big_tables},
};
TEST_MAIN(tests)
