/* Answers that the caller does not want. An add without `seen` leaves the same bytes as one with
 * it, and in a window it touches only the newest generation: the pages of the others are taken
 * away meanwhile. test_seen_cost.py counts its instructions. A bulk query without bits only
 * counts. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "../support/keys.h"
#include "../support/models.h"
#include "core/handle.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

/* --- The same bytes --------------------------------------------------------------------------- */

enum { BY_ONE = 1, ASKED = 2 };

/* Keys with repeats, near and far; some of them are in the model already. */
static void add_keys(tamis *t, unsigned how, tamis_status *status)
{
    static tamis_bytes mixed[MORE];
    static uint8_t bits[MORE / 8 + 1];
    bool seen;
    for (size_t i = 0; i < MORE; i++) mixed[i] = keys[i % 5 == 0 ? i / 2 : i];
    *status = TAMIS_OK;
    if ((how & BY_ONE) == 0)
        *status = tamis_add_many(t, mixed, MORE, (how & ASKED) != 0 ? bits : NULL, NULL);
    for (size_t i = 0; i < MORE && (how & BY_ONE) != 0 && *status == TAMIS_OK; i++)
        *status = tamis_add(t, mixed[i].p, mixed[i].len, (how & ASKED) != 0 ? &seen : NULL);
}

/* Twice, with a rotation in between where there is one. */
static void check_same(const void *image, size_t size, const tamis_options *o, const char *name)
{
    struct bytes first = {NULL, 0};
    tamis_status wanted = TAMIS_OK;
    for (unsigned how = 0; how < 4; how++) {
        tamis *t;
        tamis_status status;
        CHECK_OK(tamis_load(image, size, o, &t, NULL));
        add_keys(t, how, &status);
        if (tamis_rotate(t, NULL) == TAMIS_OK) add_keys(t, how, &status);
        struct bytes now = image_of(t);
        if (how == 0) {
            first = now;
            wanted = status;
        }
        if (status != wanted || !bytes_equal(first, now))
            printf("%s: other bytes when %s%s\n", name, how & ASKED ? "asked" : "not asked",
                   how & BY_ONE ? ", one by one" : "");
        CHECK_THAT(status, ==, wanted);
        CHECK(bytes_equal(first, now));
        if (how != 0) free(now.p);
        tamis_close(t);
    }
    free(first.p);
}

static void the_same_bytes(void)
{
    make_models();
    for (size_t i = 0; i < n_models; i++) {
        const tamis_options o = model_options(&models[i], NULL);
        check_same(models[i].image.p, models[i].image.n, &o, tamis_kind_name(models[i].kind));
    }
    free_models();
}

/* Windows that rotate by themselves among the keys, and strict plans that end among them. */
static void the_same_bytes_at_the_limit(void)
{
    make_keys();
    for (uint32_t kind = 1; kind < TAMIS_COUNT_MIN; kind++)
        for (uint32_t generations = 2; generations <= 61; generations += 59) {
            const bool window = kind == TAMIS_WINDOW;
            const tamis_plan p = {.struct_size = sizeof p,
                                  .kind = kind,
                                  .flags = window ? TAMIS_AUTO_ROTATE : TAMIS_STRICT,
                                  .items = 300,
                                  .fpr = 0.01,
                                  .generations = window ? generations : 0};
            tamis *t;
            if (tamis_create(&p, NULL, &t, NULL) != TAMIS_OK) continue;
            struct bytes image = image_of(t);
            check_same(image.p, image.n, NULL, tamis_kind_name(kind));
            free(image.p);
            tamis_close(t);
        }
}

/* --- The older generations -------------------------------------------------------------------- */

/* Every block has pages of its own, which can be taken away. */
static struct {
    uint8_t *p;
    size_t size;
} blocks[1024];
static size_t n_blocks;

static void *pages_alloc(void *ctx, size_t size)
{
    (void)ctx;
    void *p = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(p != MAP_FAILED && n_blocks < sizeof blocks / sizeof *blocks);
    blocks[n_blocks].p = p;
    blocks[n_blocks++].size = size;
    return p;
}

/* Found again by address, since the library tells no size. */
static size_t block_of(const void *p)
{
    size_t i = 0;
    while (i < n_blocks && !((const uint8_t *)p >= blocks[i].p &&
                             (const uint8_t *)p < blocks[i].p + blocks[i].size))
        i++;
    CHECK(i < n_blocks);
    return i;
}

static void pages_free(void *ctx, void *p)
{
    (void)ctx;
    const size_t i = block_of(p);
    munmap(p, blocks[i].size);
    blocks[i] = blocks[--n_blocks];
}

static const tamis_memory pages = {.alloc = pages_alloc, .free = pages_free};

static void protect_older(const tamis *t, int protection)
{
    const uint32_t parts = tamis__part_sections(&t->body); /* of the newest generation */
    for (uint32_t i = parts; i < t->body.count; i++) {
        const size_t b = block_of(t->body.sections[i].cells);
        CHECK(mprotect(blocks[b].p, blocks[b].size, protection) == 0);
    }
}

/* m is that of one generation, so that the newest is the same whatever there is beside it. */
static tamis *window_of(uint32_t inner, uint32_t generations, uint64_t m,
                        const tamis_memory *memory)
{
    const bool counts = inner >= TAMIS_COUNT_MIN;
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = TAMIS_WINDOW,
                          .inner_kind = inner,
                          .generations = generations,
                          .items = counts ? inner == TAMIS_TOP ? 100 : 0 : 1000 * generations,
                          .m = m};
    const tamis_options o = {.struct_size = sizeof o, .memory = memory};
    tamis *t;
    tamis_error why;
    if (tamis_create(&p, &o, &t, &why) != TAMIS_OK) printf("%s\n", why.text);
    CHECK(t != NULL);
    return t;
}

static uint64_t m_of(uint32_t inner, bool big)
{
    const uint64_t lines = big ? 40000 : 100; /* beyond 1 MiB bulk calls prefetch */
    return lines *
           (inner == TAMIS_TALLY || inner == TAMIS_SIGNED_TALLY || inner == TAMIS_TOP ? 56 : 512);
}

static void add_some(tamis *t, bool asked)
{
    static uint8_t bits[MORE / 8 + 1];
    bool seen;
    CHECK_OK(tamis_add_many(t, keys, MORE, asked ? bits : NULL, NULL));
    for (size_t i = 0; i < 20; i++)
        CHECK_OK(tamis_add(t, keys[i].p, keys[i].len, asked ? &seen : NULL));
}

/* An add that asks must touch the older generations, or the test would show nothing. */
static bool crashes(tamis *t)
{
    int status = 0;
    fflush(stdout);
    const pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        fclose(stderr); /* a sanitizer's report */
        add_some(t, true);
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

static void older_generations_are_left_alone(void)
{
    static const uint32_t inner[] = {TAMIS_BLOOM,        TAMIS_PARTITIONED, TAMIS_BLOCKED,
                                     TAMIS_COUNT_MIN,    TAMIS_TALLY,       TAMIS_TOP,
                                     TAMIS_COUNT_SKETCH, TAMIS_SIGNED_TALLY};
    make_keys();
    for (size_t i = 0; i < 2 * sizeof inner / sizeof *inner; i++) {
        const uint32_t kind = inner[i / 2];
        tamis *t = window_of(kind, 4, m_of(kind, i % 2 != 0), &pages);
        for (int g = 0; g < 4; g++) {
            add_some(t, true);
            CHECK_OK(tamis_rotate(t, NULL));
        }
        protect_older(t, PROT_NONE);
        add_some(t, false);
        /* Kinds that cannot be certain answer without looking. */
        CHECK(crashes(t) == (kind != TAMIS_COUNT_SKETCH && kind != TAMIS_SIGNED_TALLY));
        protect_older(t, PROT_READ | PROT_WRITE);
        tamis_close(t);
        CHECK_THAT(n_blocks, ==, 0);
    }
}

/* --- Queries that only count ------------------------------------------------------------------ */

static void check_counts(const tamis *t, bool hashes)
{
    static tamis_hash h[MORE];
    static uint8_t bits[MORE / 8 + 1];
    for (size_t n = 0; n <= MORE; n += n < 260 ? 1 : 64) {
        CHECK_THAT(tamis_may_contain_many(t, keys, n, NULL), ==,
                   tamis_may_contain_many(t, keys, n, bits));
        if (!hashes) continue;
        CHECK_OK(tamis_hash_many(t, keys, n, h));
        CHECK_THAT(tamis_may_contain_hashes(t, h, n, NULL), ==,
                   tamis_may_contain_hashes(t, h, n, bits));
    }
}

/* All kinds, including those that collect and windows, with big tables, and with threads that
 * share a handle. */
static void no_bits_only_the_number(void)
{
    make_models();
    for (size_t i = 0; i < n_models; i++) {
        tamis_options o = model_options(&models[i], NULL);
        tamis *t;
        CHECK_OK(tamis_load(models[i].image.p, models[i].image.n, &o, &t, NULL));
        check_counts(t, true);
        tamis_close(t);
        o.flags = TAMIS_SHARED;
        if (tamis_load(models[i].image.p, models[i].image.n, &o, &t, NULL) == TAMIS_OK)
            check_counts(t, true);
        tamis_close(t);
        if (!models[i].keyed) continue;
        o = (tamis_options){.struct_size = sizeof o, .flags = TAMIS_KEYLESS};
        CHECK_OK(tamis_load(models[i].image.p, models[i].image.n, &o, &t, NULL));
        CHECK_THAT(tamis_may_contain_many(t, keys, MORE, NULL), ==, MORE);
        check_counts(t, false);
        tamis_close(t);
    }
    free_models();
}

static void no_bits_of_big_tables(void)
{
    static const uint32_t kinds[] = {TAMIS_BLOCKED, TAMIS_CUCKOO, TAMIS_FUSE, TAMIS_RIBBON,
                                     TAMIS_EXACT};
    make_keys();
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        enum { ITEMS = 400000 };
        const tamis_plan p = {
            .struct_size = sizeof p, .kind = kinds[i], .items = ITEMS, .fpr = 1e-9};
        tamis *t;
        uint64_t seed = 1;
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_OK(tamis_add_many(t, keys, FIRST, NULL, NULL));
        for (size_t n = 0; n < ITEMS - FIRST; n += 100) {
            tamis_hash h[100];
            for (size_t j = 0; j < 100; j++) h[j] = (tamis_hash){splitmix(&seed), splitmix(&seed)};
            CHECK_OK(tamis_add_hashes(t, h, 100, NULL, NULL));
        }
        if (is_static(kinds[i])) CHECK_OK(tamis_seal(t, NULL));
        CHECK_THAT(t->body.sections->length, >=, 1 << 20); /* where bulk calls prefetch */
        CHECK_THAT(tamis_may_contain_many(t, keys, MORE, NULL), ==, FIRST);
        check_counts(t, true);
        tamis_close(t);
    }
}

/* The caller's own hashes: no key can be asked for. */
static void no_bits_of_own_hashes(void)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .flags = TAMIS_HASH_CALLER, .items = 100, .fpr = 0.01};
    const tamis_hash h[2] = {{1, UINT64_MAX / 3}, {UINT64_MAX / 5, 2}};
    tamis *t;
    make_keys();
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK_OK(tamis_add_hashes(t, h, 1, NULL, NULL));
    CHECK_THAT(tamis_may_contain_many(t, keys, MORE, NULL), ==, MORE);
    CHECK_THAT(tamis_may_contain_hashes(t, h, 1, NULL), ==, 1);
    CHECK_THAT(tamis_may_contain_hashes(t, h, 2, NULL), ==, 1);
    CHECK_THAT(tamis_may_contain_hashes(t, h + 1, 1, NULL), ==, 0);
    CHECK_THAT(tamis_may_contain_hashes(t, NULL, 0, NULL), ==, 0);
    tamis_close(t);
}

/* --- For test_seen_cost.py -------------------------------------------------------------------- */

static void cost(uint32_t inner, uint32_t generations)
{
    make_keys();
    tamis *t = window_of(inner, generations, m_of(inner, false), NULL);
    for (uint32_t g = 0; g < generations; g++) CHECK_OK(tamis_rotate(t, NULL));
    add_some(t, false);
    tamis_close(t);
}

#define COST(name, inner)                                                                          \
    static void cost_of_2_##name(void)                                                             \
    {                                                                                              \
        cost(inner, 2);                                                                            \
    }                                                                                              \
    static void cost_of_61_##name(void)                                                            \
    {                                                                                              \
        cost(inner, 61);                                                                           \
    }
COST(blocked, TAMIS_BLOCKED)
COST(bloom, TAMIS_BLOOM)
COST(tally, TAMIS_TALLY)
COST(top, TAMIS_TOP)

static const struct test tests[] = {
    {"the_same_bytes", the_same_bytes},
    {"the_same_bytes_at_the_limit", the_same_bytes_at_the_limit},
    {"older_generations_are_left_alone", older_generations_are_left_alone},
    {"no_bits_only_the_number", no_bits_only_the_number},
    {"no_bits_of_big_tables", no_bits_of_big_tables},
    {"no_bits_of_own_hashes", no_bits_of_own_hashes},
    {"cost_of_2_blocked", cost_of_2_blocked},
    {"cost_of_61_blocked", cost_of_61_blocked},
    {"cost_of_2_bloom", cost_of_2_bloom},
    {"cost_of_61_bloom", cost_of_61_bloom},
    {"cost_of_2_tally", cost_of_2_tally},
    {"cost_of_61_tally", cost_of_61_tally},
    {"cost_of_2_top", cost_of_2_top},
    {"cost_of_61_top", cost_of_61_top},
};
TEST_MAIN(tests)
