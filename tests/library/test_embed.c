/* Views in the caller's room, and filters without a header: the same answers as those of the
 * image, at any alignment, without an allocation, and an error for everything that does not fit. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/models.h"
#include "core/cpu.h"

#include <tamis/count.h>
#include <tamis/embed.h>
#include <tamis/inspect.h>

/* --- Views ------------------------------------------------------------------------------------ */

/* The image at this distance from an aligned place. */
static uint8_t *shifted(struct bytes image, size_t by, uint8_t **block)
{
    *block = malloc(image.n + 64 + 64);
    CHECK(*block != NULL);
    uint8_t *at = *block + (64 - (uintptr_t)*block % 64) + by;
    memcpy(at, image.p, image.n);
    return at;
}

static void same_answers(const tamis *a, const tamis *b)
{
    uint8_t x[MORE / 8 + 1] = {0}, y[MORE / 8 + 1] = {0};
    CHECK(tamis_may_contain_many(a, keys, MORE, x) == tamis_may_contain_many(b, keys, MORE, y));
    CHECK(memcmp(x, y, sizeof x) == 0);
    for (size_t i = 0; i < 50; i++)
        CHECK(tamis_may_contain(a, keys[i].p, keys[i].len) ==
              tamis_may_contain(b, keys[i].p, keys[i].len));
    tamis_facts f = {.struct_size = sizeof f}, g = f;
    CHECK_OK(tamis_stat(a, &f));
    CHECK_OK(tamis_stat(b, &g));
    f.read_only = g.read_only = true;
    CHECK(memcmp(&f, &g, sizeof f) == 0);
}

static void check_view(const struct model *m, size_t by)
{
    tamis_key *key = NULL;
    uint8_t *block, *image = shifted(m->image, by, &block);
    const tamis_options usual = model_options(m, NULL);
    if (m->keyed) CHECK_OK(tamis_key_new(model_key, NULL, &key, NULL));
    const tamis_options o = {.struct_size = sizeof o, .shared_key = key};
    tamis *t, *same;
    size_t needed = 0, again;
    CHECK(tamis_view_at(NULL, 0, image, m->image.n, &o, &needed, &t, NULL) == TAMIS_ENOMEM);
    CHECK(t == NULL && needed > 0);
    uint8_t *room = malloc(needed + 1); /* exactly as large, at both alignments */
    CHECK(room != NULL);
    for (size_t odd = 0; odd < 2; odd++) {
        CHECK(tamis_view_at(room + odd, needed - 1, image, m->image.n, &o, &again, &t, NULL) ==
              TAMIS_ENOMEM);
        CHECK(again == needed && t == NULL);
        CHECK_OK(tamis_view_at(room + odd, needed, image, m->image.n, &o, NULL, &t, NULL));
        CHECK_OK(tamis_load(m->image.p, m->image.n, &usual, &same, NULL));
        same_answers(t, same);
        CHECK(tamis_add(t, "x", 1, NULL) == TAMIS_ESEALED);
        tamis *copy;
        CHECK(tamis_copy(t, &copy, NULL) == TAMIS_ENOMEM);
        tamis_close(t);
        tamis_close(same);
    }
    free(room);
    free(block);
    tamis_key_close(key);
}

static void test_views(void)
{
    const struct kernels *runnable[8];
    const size_t tables = tamis__runnable_kernels(runnable);
    make_models();
    for (size_t k = 0; k < tables; k++) {
        tamis__use_kernels(runnable[k]);
        for (size_t i = 0; i < n_models; i++)
            for (size_t by = 0; by < 64; by += by < 9 ? 1 : 27) check_view(&models[i], by);
    }
    tamis__use_kernels(runnable[0]);
    free_models();
}

/* About as much room as the header says, for any image. */
static void test_room_is_small(void)
{
    make_models();
    for (size_t i = 0; i < n_models; i++) {
        size_t needed;
        tamis *t;
        (void)tamis_view_at(NULL, 0, models[i].image.p, models[i].image.n, NULL, &needed, &t, NULL);
        const tamis_options o = model_options(&models[i], NULL);
        tamis_facts f = {.struct_size = sizeof f};
        CHECK_OK(tamis_load(models[i].image.p, models[i].image.n, &o, &t, NULL));
        CHECK_OK(tamis_stat(t, &f));
        tamis_close(t);
        if (f.sections == 1) CHECK(needed <= 1100 + models[i].image.n / 8192);
    }
    free_models();
}

/* Truncated, damaged, of another version: the error of tamis_view. */
static void test_hostile_views(void)
{
    static uint8_t room[1 << 16];
    const tamis_plan p = {.struct_size = sizeof p, .items = 300, .fpr = 0.01};
    tamis *t;
    make_keys();
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK_OK(tamis_add_many(t, keys, 300, NULL, NULL));
    struct bytes image = image_of(t);
    tamis_close(t);
    for (size_t n = 0; n < image.n; n++) {
        uint8_t *cut = malloc(n != 0 ? n : 1);
        CHECK(cut != NULL);
        memcpy(cut, image.p, n);
        CHECK(tamis_view_at(room, sizeof room, cut, n, NULL, NULL, &t, NULL) == TAMIS_ECORRUPT);
        free(cut);
    }
    for (size_t i = 0; i < image.n; i++) {
        image.p[i] ^= 0x41;
        tamis_error why;
        const tamis_status s =
            tamis_view_at(room, sizeof room, image.p, image.n, NULL, NULL, &t, &why);
        CHECK(s == TAMIS_ECORRUPT || s == TAMIS_EVERSION || s == TAMIS_ENOMEM);
        CHECK(t == NULL && why.text[0] != 0);
        image.p[i] ^= 0x41;
    }
    free(image.p);
}

static void test_bad_view_arguments(void)
{
    static uint8_t room[1 << 12];
    static const uint8_t key[16];
    const tamis_memory memory = {0};
    tamis *t;
    const tamis_options with_key = {.struct_size = sizeof with_key, .key = key},
                        with_memory = {.struct_size = sizeof with_memory, .memory = &memory},
                        with_threads = {.struct_size = sizeof with_threads, .threads = 2},
                        shared = {.struct_size = sizeof shared, .flags = TAMIS_SHARED};
    CHECK(tamis_view_at(room, sizeof room, "x", 1, &with_key, NULL, &t, NULL) == TAMIS_EINVAL);
    CHECK(tamis_view_at(room, sizeof room, "x", 1, &with_memory, NULL, &t, NULL) == TAMIS_EINVAL);
    CHECK(tamis_view_at(room, sizeof room, "x", 1, &with_threads, NULL, &t, NULL) == TAMIS_EINVAL);
    CHECK(tamis_view_at(room, sizeof room, "x", 1, &shared, NULL, &t, NULL) == TAMIS_EINVAL);
    CHECK(tamis_view_at(room, sizeof room, NULL, 1, NULL, NULL, &t, NULL) == TAMIS_EINVAL);
    CHECK(tamis_view_at(NULL, 5, "x", 1, NULL, NULL, &t, NULL) == TAMIS_EINVAL);
    CHECK(tamis_view_at(room, sizeof room, "x", 1, NULL, NULL, NULL, NULL) == TAMIS_EINVAL);
}

/* --- Cells ------------------------------------------------------------------------------------ */

static const struct shape {
    uint32_t kind, flags, inner;
} SHAPES[] = {
    {TAMIS_BLOOM, 0, 0},
    {TAMIS_PARTITIONED, 0, 0},
    {TAMIS_BLOCKED, 0, 0},
    {TAMIS_CUCKOO, 0, 0},
    {TAMIS_BLOCKED, TAMIS_COMPACT, 0},
    {TAMIS_COUNTING, 0, 0},
    {TAMIS_BLOOM, TAMIS_STRICT, 0},
    {TAMIS_COUNTING, 0, TAMIS_BLOCKED},
};

static tamis_plan solved(const struct shape *s, uint64_t items)
{
    tamis_plan p = {.struct_size = sizeof p,
                    .kind = s->kind,
                    .flags = s->flags,
                    .inner_kind = s->inner,
                    .items = items,
                    .fpr = 0.01,
                    .seed = 7};
    CHECK_OK(tamis_solve(&p, NULL, NULL));
    return p;
}

static void test_cells(void)
{
    make_keys();
    for (size_t i = 0; i < sizeof SHAPES / sizeof *SHAPES; i++)
        for (size_t by = 0; by < 64; by += 7) {
            const tamis_plan p = solved(&SHAPES[i], 300);
            tamis *t, *view, *copy;
            size_t n;
            uint8_t *block, x[MORE / 8 + 1] = {0}, y[MORE / 8 + 1] = {0};
            CHECK_OK(tamis_create(&p, NULL, &t, NULL));
            CHECK_OK(tamis_add_many(t, keys, FIRST, NULL, NULL));
            const void *cells = tamis_raw_cells(t, &n);
            CHECK(cells != NULL && n % 8 == 0 && n < tamis_image_size(t));
            const struct bytes raw = {(uint8_t *)(uintptr_t)cells, n};
            const uint8_t *at = shifted(raw, by, &block);
            CHECK_OK(tamis_view_cells(&p, at, n, NULL, &view, NULL));
            CHECK(tamis_may_contain_many(t, keys, MORE, x) ==
                  tamis_may_contain_many(view, keys, MORE, y));
            CHECK(memcmp(x, y, sizeof x) == 0);
            CHECK(tamis_add(view, "x", 1, NULL) == TAMIS_ESEALED);
            tamis_facts f = {.struct_size = sizeof f};
            CHECK_OK(tamis_info(view, &f));
            CHECK(f.items == p.items && f.items_estimated && f.read_only);
            /* A copy is a filter of its own. */
            CHECK_OK(tamis_copy(view, &copy, NULL));
            tamis_close(view);
            free(block);
            CHECK(tamis_may_contain(copy, keys[3].p, keys[3].len));
            tamis_close(copy);
            tamis_close(t);
        }
}

/* A hundred keys take ten bits each, not thirty. */
static void test_small_filters_are_small(void)
{
    const struct shape blocked = {TAMIS_BLOCKED, 0, 0};
    const tamis_plan p = solved(&blocked, 100);
    tamis *t;
    size_t n;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK(tamis_raw_cells(t, &n) != NULL && n == 128);
    CHECK(tamis_image_size(t) == 384);
    tamis_close(t);
}

static void test_bad_cells(void)
{
    static uint8_t cells[4096];
    tamis *t;
    tamis_error why;
    size_t n;
    for (uint32_t kind = 1; kind <= TAMIS_DISTINCT; kind++) {
        if (tamis_kind_name(kind) == NULL || kind == TAMIS_PRIVATE) continue;
        const bool counts = kind >= TAMIS_COUNT_MIN;
        tamis_plan p = {.struct_size = sizeof p,
                        .kind = kind,
                        .items = counts ? 0 : 200,
                        .fpr = counts ? 0 : 0.01,
                        .bytes = counts ? 20000 : 0};
        CHECK_OK(tamis_solve(&p, NULL, NULL));
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        const bool has = tamis_raw_cells(t, &n) != NULL;
        CHECK(has == (n != 0));
        tamis_close(t);
        const tamis_status s = tamis_view_cells(&p, cells, n + 8, NULL, &t, &why);
        CHECK(s == (has ? TAMIS_EINVAL : TAMIS_EUNSUPPORTED) && t == NULL && why.text[0] != 0);
        if (!has) continue;
        CHECK(tamis_view_cells(&p, cells, n - 8, NULL, &t, &why) == TAMIS_EINVAL);
        CHECK(tamis_view_cells(&p, NULL, n, NULL, &t, &why) == TAMIS_EINVAL);
        const tamis_plan open = {
            .struct_size = sizeof open, .kind = kind, .items = 200, .fpr = 0.01};
        CHECK(tamis_view_cells(&open, cells, n, NULL, &t, &why) == TAMIS_EINVAL);
        CHECK(strstr(why.text, "tamis_solve") != NULL);
        p.k = 77;
        CHECK(tamis_view_cells(&p, cells, n, NULL, &t, &why) != TAMIS_OK && t == NULL);
    }
    CHECK(tamis_view_cells(NULL, cells, 8, NULL, &t, NULL) == TAMIS_EINVAL);
}

static const struct test tests[] = {
    {"views", test_views},
    {"room is small", test_room_is_small},
    {"hostile views", test_hostile_views},
    {"bad view arguments", test_bad_view_arguments},
    {"cells", test_cells},
    {"small filters are small", test_small_filters_are_small},
    {"bad cells", test_bad_cells},
};

TEST_MAIN(tests)
