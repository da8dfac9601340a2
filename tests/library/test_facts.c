/* tamis_stat reports what tamis_info reports, as far as no cell is needed, and reads none. */
#define _GNU_SOURCE

#include "../support/models.h"

#include <stddef.h>
#include <sys/mman.h>
#include <tamis/count.h>
#include <tamis/inspect.h>

static tamis_facts stat_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    memset(&f.kind, 0xff, sizeof f - offsetof(tamis_facts, kind));
    CHECK_OK(tamis_stat(t, &f));
    return f;
}

static void check_same(const tamis_facts *f, const tamis_facts *full)
{
    CHECK(f->struct_size == sizeof *f && f->kind == full->kind && f->hash == full->hash);
    CHECK(f->k == full->k && f->m == full->m && f->format == full->format);
    CHECK(f->seed == full->seed && f->generation == full->generation);
    CHECK(f->cell_bits == full->cell_bits && f->sections == full->sections);
    CHECK(f->may_miss == full->may_miss && f->keyed == full->keyed && f->strict == full->strict);
    CHECK(f->auto_rotate == full->auto_rotate && f->sealed == full->sealed);
    CHECK(f->collecting == full->collecting && f->read_only == full->read_only);
    CHECK(f->hash_suspect == full->hash_suspect && f->bytes == full->bytes);
    if (f->kind == TAMIS_DISTINCT || f->inner_kind == TAMIS_DISTINCT) /* only the cells know */
        CHECK(f->items == 0 && !f->items_estimated && full->items > 0);
    else
        CHECK(f->items == full->items && f->items_estimated == full->items_estimated);
    CHECK(f->planned_items == full->planned_items);
    CHECK(memcmp(&f->fpr_planned, &full->fpr_planned, sizeof f->fpr_planned) == 0);
    CHECK(memcmp(f->key_id, full->key_id, sizeof f->key_id) == 0);
    CHECK(f->conservative == full->conservative && f->weight == full->weight);
    CHECK(memcmp(&f->error, &full->error, sizeof f->error) == 0 && f->entries == full->entries);
    CHECK(f->inner_kind == full->inner_kind && f->generations == full->generations);
}

static void check_unknown(const tamis_facts *f)
{
    const tamis_facts zero = {0};
    const size_t from = offsetof(tamis_facts, fpr_now), to = offsetof(tamis_facts, conservative);
    CHECK(memcmp((const char *)f + from, (const char *)&zero + from, to - from) == 0);
    CHECK(f->excluded == 0 && f->noise_median == 0 && f->noise_99 == 0 && f->noise_999 == 0);
    CHECK(f->listed == 0 && f->list_floor == 0 && !(f->epsilon > 0));
}

static void every_kind(void)
{
    make_models();
    for (size_t i = 0; i < n_models; i++) {
        const tamis_options o = model_options(&models[i], NULL);
        tamis_facts full = {.struct_size = sizeof full};
        tamis *t;
        CHECK_OK(tamis_load(models[i].image.p, models[i].image.n, &o, &t, NULL));
        CHECK_OK(tamis_info(t, &full));
        const tamis_facts f = stat_of(t);
        check_same(&f, &full);
        check_unknown(&f);
        tamis_close(t);
    }
    free_models();
}

/* By the number of items: a filter that grows has no limit, and a sketch no plan of items. */
static void overfull_by_items(void)
{
    static const uint32_t kinds[] = {TAMIS_BLOOM, TAMIS_CUCKOO, TAMIS_GROWING, TAMIS_TALLY};
    make_keys();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const bool sketch = kinds[i] == TAMIS_TALLY;
        const tamis_plan p = {.struct_size = sizeof p,
                              .kind = kinds[i],
                              .items = sketch ? 0 : 500,
                              .fpr = sketch ? 0 : 0.001,
                              .bytes = sketch ? 40000 : 0};
        tamis *t;
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_OK(tamis_add_many(t, keys, 400, NULL, NULL));
        CHECK(!stat_of(t).overfull);
        (void)tamis_add_many(t, keys + 400, MORE - 400, NULL, NULL); /* a cuckoo may have no room */
        const tamis_facts f = stat_of(t);
        CHECK(f.overfull == (f.planned_items != 0 && kinds[i] != TAMIS_GROWING));
        tamis_close(t);
    }
}

/* The pages behind the first cannot be read while tamis_stat runs. */
static void no_cell_is_read(void)
{
    enum { PAGE = 4096, BYTES = 1 << 20 };
    const tamis_plan p = {.struct_size = sizeof p, .items = 100000, .bytes = BYTES};
    tamis *t, *view;
    struct bytes image;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    image = image_of(t);
    tamis_close(t);
    const size_t n = (image.n + PAGE - 1) / PAGE * PAGE;
    uint8_t *map = mmap(NULL, n, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(map != MAP_FAILED && n > BYTES / 2);
    memcpy(map, image.p, image.n);
    CHECK_OK(tamis_view(map, image.n, NULL, &view, NULL));
    CHECK(mprotect(map + PAGE, n - PAGE, PROT_NONE) == 0);
    CHECK(stat_of(view).bytes == image.n);
    CHECK(mprotect(map + PAGE, n - PAGE, PROT_READ) == 0);
    tamis_close(view);
    CHECK(munmap(map, n) == 0);
    free(image.p);
}

static void a_wrong_size(void)
{
    const tamis_plan p = {.struct_size = sizeof p, .items = 10, .fpr = 0.1};
    tamis_facts f = {.struct_size = 3, .kind = 77};
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK_THAT(tamis_stat(t, &f), ==, TAMIS_EINVAL);
    CHECK(f.kind == 77);
    tamis_close(t);
}

static const struct test tests[] = {
    {"every_kind", every_kind},
    {"overfull_by_items", overfull_by_items},
    {"no_cell_is_read", no_cell_is_read},
    {"a_wrong_size", a_wrong_size},
};

TEST_MAIN(tests)
