/* Compares every kernel table that runs on this machine with the scalar one: the same bits in
 * memory and the same answers, for every batch length and awkward shape. */
#include "../support/check.h"
#include "../support/keys.h"
#include "core/cpu.h"
#include "core/hash.h"
#include "sealed/fuse.h"
#include "sealed/ribbon/ribbon.h"

#include <tamis/tamis.h>

enum { MOST = 70 };

static const struct kernels *tables[4];
static size_t n_tables;

static void fill(tamis_hash *h, size_t n, uint64_t seed)
{
    for (size_t i = 0; i < n; i++) {
        h[i].lo = splitmix(&seed);
        h[i].hi = splitmix(&seed);
    }
    h[0] = h[n / 2]; /* a repeat within the batch */
}

static void *aligned_cells(size_t size)
{
    void *p = NULL;
    CHECK(posix_memalign(&p, 64, size) == 0);
    memset(p, 0, size);
    return p;
}

/* What the oracle and `k` do with the same batches; ends after the first difference. */
static void compare_lines(const struct kernels *k, uint64_t lines, uint64_t seed)
{
    const size_t size = (size_t)lines * 64;
    uint8_t *expected = aligned_cells(size), *cells = aligned_cells(size);
    for (size_t n = 1; n <= MOST; n++) {
        tamis_hash h[MOST];
        uint8_t want[(MOST + 7) / 8 + 1], got[(MOST + 7) / 8 + 1];
        memset(want, 0xaa, sizeof want); /* the byte after the answers must stay */
        memset(got, 0xaa, sizeof got);
        fill(h, n, seed + n);
        tamis__scalar.line_add(expected, lines, h, NULL, n, want);
        k->line_add(cells, lines, h, n % 2 == 0 ? h : NULL, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0 && memcmp(expected, cells, size) == 0);
        fill(h, n, seed + n + (n % 3 == 0)); /* some just added, some not */
        tamis__scalar.line_query(expected, lines, h, NULL, n, want);
        k->line_query(cells, lines, h, n % 2 == 0 ? h : NULL, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0 && memcmp(expected, cells, size) == 0);
    }
    free(expected);
    free(cells);
}

/* One to five tables, some of which have the keys. */
static void compare_tables(const struct kernels *k, uint64_t lines, uint64_t seed)
{
    enum { TABLES = 5 };
    struct {
        uint64_t other;
        uint8_t *cells;
    } parts[TABLES];
    for (unsigned i = 0; i < TABLES; i++) parts[i].cells = aligned_cells((size_t)lines * 64);
    for (size_t n = 1; n <= MOST; n++) {
        const uint32_t count = (uint32_t)(1 + n % TABLES);
        const struct tables t = {&parts[0].cells, sizeof *parts, count, lines};
        tamis_hash h[MOST];
        uint8_t want[(MOST + 7) / 8 + 1] = {0}, got[sizeof want], one[sizeof want];
        fill(h, n, seed + n);
        tamis__scalar.line_add(parts[n * 7 / 3 % TABLES].cells, lines, h, NULL, n / 2 + 1, one);
        for (uint32_t i = 0; i < count; i++) {
            tamis__scalar.line_query(parts[i].cells, lines, h, NULL, n, one);
            for (size_t j = 0; j < (n + 7) / 8; j++) want[j] = (uint8_t)(want[j] | one[j]);
        }
        memset(want + (n + 7) / 8, 0xaa, sizeof want - (n + 7) / 8);
        memset(got, 0xaa, sizeof got);
        k->line_query_any(&t, h, n % 2 == 0 ? h : NULL, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0);
    }
    for (unsigned i = 0; i < TABLES; i++) free(parts[i].cells);
}

static void tables_agree(void)
{
    static const uint64_t shapes[] = {1, 7, 64, 1000};
    for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++) {
        for (size_t t = 0; t < n_tables; t++) compare_tables(tables[t], shapes[s], s + 1);
        compare_tables(&tamis__shared, shapes[s], s + 1);
    }
}

/* Packed keys set the bits of the hashes they came from. */
static void compare_packed(const struct kernels *k, size_t n)
{
    enum { LINES = 100 };
    uint8_t *expected = aligned_cells(LINES * 64), *cells = aligned_cells(LINES * 64);
    tamis_hash *h = malloc(n * sizeof *h);
    uint64_t *words = malloc(n * sizeof *words);
    uint8_t *want = malloc(n / 8 + 2), *got = malloc(n / 8 + 2);
    CHECK(h != NULL && words != NULL && want != NULL && got != NULL);
    memset(want, 0xaa, n / 8 + 2);
    memset(got, 0xaa, n / 8 + 2);
    fill(h, n, n);
    for (size_t i = 0; i < n; i++) words[i] = tamis__pack(tamis__line_of(h[i], LINES), h[i]);
    tamis__scalar.line_add(expected, LINES, h, NULL, n, want);
    k->packed_add(cells, words, n, got);
    CHECK(memcmp(want, got, n / 8 + 2) == 0 && memcmp(expected, cells, LINES * 64) == 0);
    free(h);
    free(words);
    free(want);
    free(got);
    free(expected);
    free(cells);
}

static void packed_keys_agree(void)
{
    for (size_t t = 0; t < n_tables; t++)
        for (size_t n = 1; n <= 200; n++) compare_packed(tables[t], n);
}

static void lines_agree(void)
{
    static const uint64_t shapes[] = {1, 2, 3, 7, 64, 1000};
    for (size_t t = 0; t < n_tables; t++)
        for (size_t s = 0; s < sizeof shapes / sizeof *shapes; s++)
            compare_lines(tables[t], shapes[s], s + 1);
}

static void compare_probes(const struct kernels *k, const struct probes *p, uint64_t seed)
{
    const uint64_t bits = p->stride != 0 ? p->m * p->k : p->m;
    const size_t size = (size_t)((bits + 63) / 64 * 8);
    uint8_t *expected = calloc(1, size), *cells = calloc(1, size);
    CHECK(expected != NULL && cells != NULL);
    for (size_t n = 1; n <= MOST; n += n < 20 ? 1 : 17) {
        tamis_hash h[MOST];
        uint8_t want[(MOST + 7) / 8 + 1], got[(MOST + 7) / 8 + 1];
        memset(want, 0xaa, sizeof want);
        memset(got, 0xaa, sizeof got);
        fill(h, n, seed + n);
        tamis__scalar.probe_add(expected, p, h, NULL, n, want);
        k->probe_add(cells, p, h, n % 2 == 0 ? h : NULL, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0);
        fill(h, n, seed + n + (n % 3 == 0));
        tamis__scalar.probe_query(expected, p, h, NULL, n, want);
        k->probe_query(cells, p, h, n % 2 == 0 ? h : NULL, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0);
    }
    if (size < 1 << 24) CHECK(memcmp(expected, cells, size) == 0);
    free(expected);
    free(cells);
}

static void probes_agree(void)
{
    static const uint64_t sizes[] = {1, 2, 63, 64, 65, 1000, 4099, 1000003};
    for (size_t t = 0; t < n_tables; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++)
            for (uint32_t k = 1; k <= 64; k += k < 18 ? 1 : 7) {
                const struct probes classic = {sizes[s], 0, k, k % 2 == 0},
                                    rows = {sizes[s], sizes[s], k, k % 2 != 0};
                compare_probes(tables[t], &classic, 100 * s + k);
                compare_probes(tables[t], &rows, 100 * s + k);
            }
}

/* Positions beyond 2^32 take another way through the SIMD arithmetic. Memory is touched only where
 * the probes fall. */
static void wide_probes_agree(void)
{
    if (sizeof(size_t) < 8) return;
    static const uint64_t sizes[] = {(UINT64_C(1) << 32) - 1, UINT64_C(1) << 32,
                                     (UINT64_C(1) << 34) + 12345};
    for (size_t t = 0; t < n_tables; t++)
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            const struct probes classic = {sizes[s], 0, 9, false};
            compare_probes(tables[t], &classic, s);
        }
}

static void compare_compact(const struct kernels *k, uint64_t lines, uint32_t bits, uint64_t seed)
{
    const size_t size = (size_t)lines * 64;
    uint8_t *expected = aligned_cells(size), *cells = aligned_cells(size);
    for (size_t n = 1; n <= MOST; n++) {
        tamis_hash h[MOST];
        uint8_t want[(MOST + 7) / 8 + 1], got[(MOST + 7) / 8 + 1];
        memset(want, 0xaa, sizeof want);
        memset(got, 0xaa, sizeof got);
        fill(h, n, seed + n);
        tamis__scalar.compact_add(expected, lines, bits, h, n, want);
        k->compact_add(cells, lines, bits, h, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0 && memcmp(expected, cells, size) == 0);
        fill(h, n, seed + n + (n % 3 == 0));
        tamis__scalar.compact_query(expected, lines, bits, h, n, want);
        k->compact_query(cells, lines, bits, h, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0 && memcmp(expected, cells, size) == 0);
    }
    free(expected);
    free(cells);
}

static void compact_lines_agree(void)
{
    for (size_t t = 0; t < n_tables; t++)
        for (uint32_t bits = 1; bits <= 16; bits++) {
            compare_compact(tables[t], 1, bits, bits);
            compare_compact(tables[t], 37, bits, bits);
        }
}

/* The table for handles that threads share is one more that must agree. */
static void shared_agrees(void)
{
    compare_lines(&tamis__shared, 5, 1);
    for (uint32_t k = 1; k <= 16; k++) {
        const struct probes classic = {1000, 0, k, false}, rows = {333, 333, k, true};
        compare_probes(&tamis__shared, &classic, k);
        compare_probes(&tamis__shared, &rows, k);
        compare_compact(&tamis__shared, 3, k, k);
    }
}

/* Adds with locks, of batches and of single keys, set the same bits and give the same answers; and
 * the locks count the new keys. */
static void compare_locked(const struct kernels *k, uint64_t lines, uint32_t compact, uint64_t last)
{
    const size_t size = (size_t)lines * 64;
    uint8_t *expected = aligned_cells(size), *cells = aligned_cells(size);
    struct line_locks *locks = aligned_cells(sizeof *locks + (last + 1) * sizeof *locks->locks);
    uint64_t added = 0, counted = 0;
    locks->last = last;
    for (size_t n = 1; n <= MOST; n++) {
        tamis_hash h[MOST];
        uint8_t want[(MOST + 7) / 8 + 1], got[(MOST + 7) / 8 + 1];
        memset(want, 0xaa, sizeof want);
        memset(got, 0xaa, sizeof got);
        fill(h, n, lines + n);
        if (compact != 0) {
            tamis__scalar.compact_add(expected, lines, compact, h, n, want);
            tamis__locked_compact_add(locks, cells, lines, compact, h, n, got);
        } else {
            tamis__scalar.line_add(expected, lines, h, NULL, n, want);
            k->locked_add(locks, cells, lines, h, n % 2 == 0 ? h : NULL, n, got);
        }
        CHECK(memcmp(want, got, sizeof want) == 0 && memcmp(expected, cells, size) == 0);
        for (size_t i = 0; i < n; i++) added += !tamis__bit(want, i);
        if (compact != 0) continue;
        fill(h, n, lines + n + (n % 3 == 0));
        tamis__scalar.line_query(expected, lines, h, NULL, n, want);
        k->locked_query(cells, lines, h, n % 2 == 0 ? h : NULL, n, got);
        CHECK(memcmp(want, got, sizeof want) == 0 && memcmp(expected, cells, size) == 0);
        tamis__scalar.line_add(expected, lines, h, NULL, n, want);
        for (size_t i = 0; i < n; i++) {
            CHECK_THAT(k->locked_add_one(locks, cells, lines, h[i]), ==, tamis__bit(want, i));
            added += !tamis__bit(want, i);
        }
        CHECK(memcmp(expected, cells, size) == 0);
    }
    for (uint64_t i = 0; i <= last; i++) {
        CHECK_THAT(locks->locks[i].held, ==, 0);
        counted += locks->locks[i].items;
    }
    CHECK_THAT(counted, ==, added);
    free(expected);
    free(cells);
    free(locks);
}

static void locked_lines_agree(void)
{
    for (size_t t = 0; t < n_tables; t++) {
        compare_locked(tables[t], 1, 0, 0);
        compare_locked(tables[t], 7, 0, 3);
        compare_locked(tables[t], 1000, 0, 1023);
    }
    for (uint32_t bits = 1; bits <= 16; bits++) compare_locked(&tamis__scalar, 37, bits, 15);
}

/* By the law alone, bit by bit. */
static bool fuse_has(const struct fuse *f, tamis_hash h)
{
    uint64_t at[4], sum = tamis__fuse_print(h, f->bits);
    tamis__fuse_cells(f, f->d, tamis__fuse_edge(h, f->salt), at);
    for (uint32_t c = 0; c < f->d; c++) sum ^= tamis__get_bits(f->table, at[c] * f->bits, f->bits);
    return sum == 0;
}

/* Hashes whose fingerprints are 0, except every third: in a table of mostly zeros, many of them
 * are members. */
static void fill_prints(tamis_hash *h, size_t n, uint32_t bits, uint64_t seed)
{
    fill(h, n, seed);
    for (size_t i = 0; i < n; i++)
        if (i % 3 != 0) h[i].hi = h[i].hi << 1 >> bits >> 1;
}

static void check_fuse_answers(const struct fuse *f, const tamis_hash *h, size_t n,
                               const uint8_t *got)
{
    for (size_t i = 0; i < n; i++) CHECK_THAT(tamis__bit(got, i), ==, fuse_has(f, h[i]));
    for (size_t i = n; i % 8 != 0; i++) CHECK(!tamis__bit(got, i));
    CHECK_THAT(got[(n + 7) / 8], ==, 0xaa);
}

/* A batch whose successor is aimed at on the way, and that one. */
static void compare_fuse(const struct kernels *k, const struct fuse *f, size_t n, uint64_t seed)
{
    enum { BATCH = TAMIS__FUSE_BATCH };
    tamis_hash h[BATCH], more[BATCH];
    struct fuse_aim aim[TAMIS__FUSE_AIMS], next[TAMIS__FUSE_AIMS];
    uint8_t got[BATCH / 8 + 1];
    fill_prints(h, n, f->bits, seed);
    fill_prints(more, n, f->bits, seed + 1);
    memset(got, 0xaa, sizeof got);
    k->fuse_aim(f, h, n, aim, n % 2 == 0);
    k->fuse_query(f, aim, n, more, next, got);
    check_fuse_answers(f, h, n, got);
    memset(got, 0xaa, sizeof got);
    k->fuse_query(f, next, n, NULL, NULL, got);
    check_fuse_answers(f, more, n, got);
}

/* The memory ends with the section. */
static void fuses_agree(void)
{
    static const unsigned logs[] = {0, 1, 7, 18};
    uint64_t seed = 7;
    for (uint32_t bits = 4; bits <= TAMIS__FUSE_MOST_BITS; bits++)
        for (uint32_t shape = 0; shape < 8; shape++) {
            const uint32_t d = 3 + shape % 2, segments = d + (shape % 3 == 0 ? 5 : 0);
            struct fuse f = {.d = d, .bits = bits, .log = logs[shape / 2], .salt = shape % 5};
            f.cells = (uint64_t)segments << f.log;
            f.starts = (uint64_t)(segments - d + 1) << f.log;
            const size_t size = (size_t)((f.cells * bits + 63) / 64 * 8 + TAMIS__FUSE_SPARE);
            uint8_t *table = calloc(1, size);
            CHECK(table != NULL);
            for (uint64_t i = 0; i < f.cells / 4; i++)
                table[splitmix(&seed) % size] = (uint8_t)splitmix(&seed);
            f.table = table;
            for (size_t t = 0; t < n_tables; t++) {
                for (size_t n = 1; n <= 40; n++) compare_fuse(tables[t], &f, n, seed + n);
                compare_fuse(tables[t], &f, TAMIS__FUSE_BATCH, seed);
            }
            free(table);
        }
}

/* Cells beyond 2^32; only pages that the keys touch are there. */
static void wide_fuses_agree(void)
{
    if (sizeof(size_t) < 8) return;
    static const uint64_t segments[] = {(1u << 14) + 2, (1u << 14) + 77};
    for (uint32_t i = 0; i < 2; i++) {
        struct fuse f = {.d = 3 + i, .bits = 4, .log = TAMIS__FUSE_LONGEST, .salt = 1};
        f.cells = segments[i] << f.log;
        f.starts = (segments[i] - f.d + 1) << f.log;
        uint8_t *table = calloc(1, (size_t)(f.cells * f.bits / 8 + TAMIS__FUSE_SPARE));
        CHECK(table != NULL);
        memset(table, 0x35, 1 << 20);
        f.table = table;
        for (size_t t = 0; t < n_tables; t++)
            for (size_t n = 1; n <= 20; n++) compare_fuse(tables[t], &f, n, n);
        free(table);
    }
}

/* By the law alone, bit by bit. */
static uint64_t sums_by_the_law(const struct ribbon_layer *l, uint64_t row, uint64_t start)
{
    uint64_t sums = 0;
    const uint64_t wide = start / 64 >= l->boundary;
    for (uint32_t c = 0; c < l->columns + wide; c++)
        for (uint64_t i = 0; i < 64; i++) {
            const uint64_t slot = start + i, segment = slot / 64;
            if ((row >> i & 1) == 0) continue;
            const uint64_t extra = segment > l->boundary ? segment - l->boundary : 0;
            const uint64_t word = segment * l->columns + extra + c;
            sums ^= (uint64_t)tamis__bit(l->solution, 64 * word + slot % 64) << c;
        }
    return sums;
}

/* A layer of random bits, of which there is not one more than it needs. */
static void compare_sums(uint32_t columns, uint64_t segments, uint64_t boundary, uint64_t seed)
{
    struct ribbon_layer l = {.columns = columns, .segments = segments, .boundary = boundary};
    const size_t words = (size_t)(segments * columns + segments - boundary);
    uint8_t *solution = malloc(8 * words);
    CHECK(solution != NULL);
    for (size_t i = 0; i < words; i++) tamis__put64(solution + 8 * i, splitmix(&seed));
    l.solution = solution;
    for (uint64_t i = 0; i < 30; i++) {
        const uint64_t starts = segments * 64 - 63;
        const uint64_t start = i == 0 ? 0 : i == 1 ? starts - 1 : splitmix(&seed) % starts;
        const uint64_t row = i % 7 == 2 ? UINT64_MAX : splitmix(&seed) | 1;
        const uint64_t want = sums_by_the_law(&l, row, start);
        for (size_t t = 0; t < n_tables; t++) CHECK(tables[t]->ribbon_sums(&l, row, start) == want);
        CHECK(tamis__shared.ribbon_sums(&l, row, start) == want);
        CHECK(tamis__ribbon_sums(&l, row, start) == want);
    }
    free(solution);
}

/* What maps read: 1 to 64 columns, and one more in some segments. */
static void sums_agree(void)
{
    for (uint32_t columns = 1; columns <= 64; columns++)
        for (uint64_t segments = 1; segments <= 9; segments += 2) {
            compare_sums(columns, segments, segments, columns);
            if (columns < 64 && segments > 1) compare_sums(columns, segments, 1, columns + 100);
            if (columns < 64 && segments > 3) compare_sums(columns, segments, 3, columns + 200);
        }
}

static void siphash_agrees(void)
{
    static const uint64_t key[2] = {UINT64_C(0x0706050403020100), UINT64_C(0x0f0e0d0c0b0a0908)};
    static uint8_t text[4096];
    uint64_t seed = 5;
    for (size_t i = 0; i < sizeof text; i++) text[i] = (uint8_t)splitmix(&seed);
    for (size_t t = 0; t < n_tables; t++)
        for (size_t n = 1; n <= MOST; n++) {
            tamis_bytes keys[MOST];
            tamis_hash got[MOST + 1], guard = {1, 2};
            for (size_t i = 0; i < n; i++) {
                const uint64_t r = splitmix(&seed);
                keys[i].len = n % 2 == 0 ? n : r % (n % 5 == 0 ? 300 : 20); /* alike, or mixed */
                keys[i].p = text + (r >> 32) % (sizeof text - 400);
            }
            got[n] = guard;
            tables[t]->siphash(key, keys, n, got);
            CHECK(got[n].lo == guard.lo && got[n].hi == guard.hi);
            for (size_t i = 0; i < n; i++) {
                const tamis_hash want = tamis__siphash(key, keys[i].p, keys[i].len);
                CHECK(got[i].lo == want.lo && got[i].hi == want.hi);
            }
        }
}

/* Against xxHash, through the front door with the oracle's table. */
static void words_agree(void)
{
    uint64_t numbers[MOST], seed = 6;
    for (size_t i = 0; i < MOST; i++) numbers[i] = splitmix(&seed);
    for (size_t t = 0; t < n_tables; t++)
        for (size_t n = 1; n <= MOST; n++) {
            struct hasher h;
            tamis_bytes keys[MOST];
            tamis_hash want[MOST], got[MOST];
            tamis__hasher_init(&h, n % 4 == 0 ? 0 : splitmix(&seed), NULL);
            for (size_t i = 0; i < n;
                 i++) { /* in a row, scattered, or of other lengths here and there */
                keys[i] = (tamis_bytes){&numbers[n % 2 == 0 ? i : (i * 7) % MOST], 8};
                if (n % 3 == 0 && i % 11 == 10) keys[i].len = i % 8;
            }
            tamis__use_kernels(&tamis__scalar);
            tamis__hash_keys(&h, keys, n, want);
            tamis__use_kernels(tables[t]);
            tamis__hash_keys(&h, keys, n, got);
            CHECK(memcmp(want, got, n * sizeof *want) == 0);
        }
    tamis__use_kernels(tables[0]);
}

/* Words in a row, except one of them, which is elsewhere or of another length. */
static void words_nearly_in_a_row_agree(void)
{
    static const char text[] = "elsewhere";
    uint64_t numbers[16], seed = 8;
    struct hasher h;
    tamis__hasher_init(&h, 5, NULL);
    for (size_t i = 0; i < 16; i++) numbers[i] = splitmix(&seed);
    for (size_t t = 0; t < n_tables; t++)
        for (size_t odd = 0; odd < 16; odd++)
            for (size_t length = 7; length <= 9; length++) {
                tamis_bytes keys[16];
                tamis_hash got[16];
                for (size_t i = 0; i < 16; i++) keys[i] = (tamis_bytes){&numbers[i], 8};
                keys[odd] = (tamis_bytes){text, length};
                tamis__use_kernels(tables[t]);
                tamis__hash_keys(&h, keys, 16, got);
                for (size_t i = 0; i < 16; i++) {
                    const tamis_hash want = tamis__hash_key(&h, keys[i].p, keys[i].len);
                    CHECK(got[i].lo == want.lo && got[i].hi == want.hi);
                }
            }
    tamis__use_kernels(tables[0]);
}

/* The tables are chosen best first, and the oracle is always there. */
static void tables_are_listed(void)
{
    CHECK(n_tables >= 1 && tables[n_tables - 1] == &tamis__scalar);
    CHECK(tamis__kernels() == tables[0]);
    printf("kernels here:");
    for (size_t t = 0; t < n_tables; t++) printf(" %s", tables[t]->name);
    printf("\n");
#if defined(__aarch64__)
    CHECK(strcmp(tables[0]->name, "neon") == 0);
#endif
}

static const struct test tests[] = {
    {"tables_are_listed", tables_are_listed},
    {"lines_agree", lines_agree},
    {"tables_agree", tables_agree},
    {"packed_keys_agree", packed_keys_agree},
    {"probes_agree", probes_agree},
    {"wide_probes_agree", wide_probes_agree},
    {"compact_lines_agree", compact_lines_agree},
    {"shared_agrees", shared_agrees},
    {"locked_lines_agree", locked_lines_agree},
    {"fuses_agree", fuses_agree},
    {"wide_fuses_agree", wide_fuses_agree},
    {"sums_agree", sums_agree},
    {"siphash_agrees", siphash_agrees},
    {"words_agree", words_agree},
    {"words_nearly_in_a_row_agree", words_nearly_in_a_row_agree},
};

int main(int argc, char **argv)
{
    n_tables = tamis__runnable_kernels(tables);
    return run_tests(tests, sizeof tests / sizeof *tests, argc, argv);
}
