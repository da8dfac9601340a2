/* Zeroed memory: tamis_memory.zeroed is asked for cells that begin as zero, and alloc for those
 * that are overwritten at once. Memory that comes zeroed is not touched, so a big structure
 * takes no memory before keys are added. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/models.h"
#include "../support/tracking.h"

#include <unistd.h>

#ifdef __has_feature
#if __has_feature(thread_sanitizer)
#define THREAD_SANITIZER
#endif
#endif
#ifdef __SANITIZE_THREAD__
#define THREAD_SANITIZER
#endif

/* A tracker whose blocks are either junk or zeroed, and how many bytes of each there were. */
struct both {
    struct tracker a;
    size_t unset, zeroed;
};

static void *both_alloc(void *ctx, size_t size)
{
    struct both *b = ctx;
    b->unset += size;
    return tracker_alloc(&b->a, size);
}

static void *both_zeroed(void *ctx, size_t size)
{
    struct both *b = ctx;
    b->zeroed += size;
    void *p = tracker_alloc(&b->a, size);
    if (p != NULL) memset(p, 0, size);
    return p;
}

static void both_free(void *ctx, void *p)
{
    struct both *b = ctx;
    tracker_free(&b->a, p);
}

static void both_init(struct both *b)
{
    *b = (struct both){0};
    tracker_init(&b->a);
    b->a.memory =
        (tamis_memory){.ctx = b, .alloc = both_alloc, .free = both_free, .zeroed = both_zeroed};
}

static void check_image(const tamis *t, struct bytes wanted)
{
    struct bytes got = image_of(t);
    CHECK(got.p != NULL && bytes_equal(got, wanted));
    free(got.p);
}

/* Every kind is created in zeroed memory; every allocation may fail, of either function; what it
 * becomes by adds and a seal is the same as in memory of any other allocator. */
static void test_create(void)
{
    for (uint32_t kind = 1; kind <= TAMIS_DISTINCT; kind++) {
        if (tamis_kind_name(kind) == NULL || kind == TAMIS_PRIVATE) continue;
        const bool counts = kind >= TAMIS_COUNT_MIN;
        const tamis_plan p = {.struct_size = sizeof p,
                              .kind = kind,
                              .bytes = counts ? 200000 : 0,
                              .items = counts ? 0 : 50000,
                              .fpr = counts ? 0 : 0.01};
        struct both b;
        both_init(&b);
        const tamis_options o = {.struct_size = sizeof o, .memory = &b.a.memory};
        tamis *t, *plain;
        size_t fail = 1;
        while (b.a.fail_at = b.a.calls + fail, tamis_create(&p, &o, &t, NULL) == TAMIS_ENOMEM) {
            CHECK(b.a.failed && b.a.blocks == 0 && t == NULL);
            fail++;
        }
        CHECK(t != NULL && fail > 2);
        b.a.fail_at = 0;
        if (!is_static(kind) && kind != TAMIS_DISTINCT) CHECK_THAT(b.zeroed, >, 20000);
        CHECK_THAT(b.unset, ==, 0);
        CHECK_OK(tamis_create(&p, NULL, &plain, NULL));
        CHECK_OK(put_keys(t, keys, MORE));
        CHECK_OK(put_keys(plain, keys, MORE));
        if (is_static(kind)) CHECK_OK(tamis_seal(t, NULL));
        if (is_static(kind)) CHECK_OK(tamis_seal(plain, NULL));
        struct bytes image = image_of(plain);
        check_image(t, image);
        free(image.p);
        tamis_close(plain);
        tamis_close(t);
        CHECK_THAT(b.a.blocks, ==, 0);
    }
}

/* Cells that are loaded, copied or unpacked are not zeroed before. */
static void test_overwritten(void)
{
    for (size_t i = 0; i < n_models; i++) {
        const struct model *m = &models[i];
        struct both b;
        both_init(&b);
        const tamis_options o = model_options(m, &b.a.memory);
        tamis *t, *copy;
        CHECK_OK(tamis_load(m->image.p, m->image.n, &o, &t, NULL));
        CHECK_THAT(b.unset, >, 0);
        check_image(t, m->image);
        b.unset = 0;
        CHECK_OK(tamis_copy(t, &copy, NULL));
        CHECK_THAT(b.unset, >, 0);
        check_image(copy, m->image);
        tamis_close(copy);
        tamis_close(t);
        CHECK_THAT(b.a.blocks, ==, 0);
    }
}

/* --- Untouched -------------------------------------------------------------------------------- */

/* The thread sanitizer's calloc touches what it returns. */
#if defined(__linux__) && !defined(THREAD_SANITIZER)
#define BIG ((uint64_t)512 << 20)
/* Each of the tables of a growing filter may take a huge page. */
#define SMALL ((uint64_t)96 << 20)

static uint64_t resident(void)
{
    unsigned long long pages = 0;
    FILE *in = fopen("/proc/self/statm", "r");
    CHECK(in != NULL && fscanf(in, "%*u %llu", &pages) == 1);
    fclose(in);
    return pages * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void *lazy_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void *lazy_zeroed(void *ctx, size_t size)
{
    (void)ctx;
    return calloc(1, size);
}

static void lazy_free(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

static void check_untouched(uint32_t kind, const tamis_memory *memory)
{
    const bool counts = kind >= TAMIS_COUNT_MIN;
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = kind, .bytes = BIG, .fpr = counts ? 0 : 0.001};
    const tamis_options o = {.struct_size = sizeof o, .memory = memory};
    const uint64_t before = resident();
    tamis *t;
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    CHECK(kind == TAMIS_DISTINCT || tamis_image_size(t) > BIG / 4);
    CHECK_THAT(resident(), <, before + SMALL);
    CHECK_OK(tamis_add_many(t, keys, 2, NULL, NULL));
    CHECK(tamis_may_contain(t, keys[0].p, keys[0].len));
    CHECK(tamis_may_contain(t, keys[1].p, keys[1].len));
    CHECK(counts || !tamis_may_contain(t, keys[2].p, keys[2].len));
    CHECK_THAT(resident(), <, before + SMALL);
    tamis_close(t);
}

static void test_untouched(void)
{
    static const tamis_memory lazy = {
        .alloc = lazy_alloc, .free = lazy_free, .zeroed = lazy_zeroed};
    for (uint32_t kind = 1; kind <= TAMIS_DISTINCT; kind++) {
        if (tamis_kind_name(kind) == NULL || kind == TAMIS_PRIVATE || is_static(kind)) continue;
        check_untouched(kind, NULL);
        check_untouched(kind, &lazy);
    }
}
#else
static void test_untouched(void)
{
}
#endif

static const struct test tests[] = {
    {"models", make_models},
    {"every kind is created in zeroed memory", test_create},
    {"what is overwritten at once is not zeroed", test_overwritten},
    {"a big structure takes no memory before keys are added", test_untouched},
    {"models are freed", free_models},
};

TEST_MAIN(tests)
