/* Columns of keys: each call does what its counterpart with descriptors does with the rows that are
 * not null. Checked for every kind, for every way to lay out a column, and with each table of
 * kernels that this machine can run. */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include "../support/check.h"
#include "../support/models.h"
#include "../support/tracking.h"
#include "core/cpu.h"

#include <sys/mman.h>
#include <tamis/columns.h>
#include <unistd.h>

/* --- Layouts ---------------------------------------------------------------------------------- */

enum { ROWS = 700, FIRST_ROW = 5, LONGEST = 90 };

/* A column, and the same rows as descriptors. `valid` lists the rows that are not null. */
struct rows {
    tamis_column c;
    uint8_t *data; /* ends at a page that cannot be read */
    int32_t offsets32[FIRST_ROW + ROWS + 1];
    int64_t offsets64[FIRST_ROW + ROWS + 1];
    uint8_t validity[(FIRST_ROW + ROWS) / 8 + 1];
    tamis_bytes keys[ROWS];
    int64_t weights[ROWS], valid_weights[ROWS];
    size_t valid[ROWS], n;
    uint8_t *pages;
    size_t length;
};

enum { WIDTHS, TEXTS32, TEXTS64, WAYS };

static uint64_t random_state;

static uint64_t draw(uint64_t below)
{
    uint64_t z = random_state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return (z ^ z >> 31) % below;
}

/* Puts the data before a page that cannot be read, so that reading beyond its end is noticed. */
static void take_pages(struct rows *r, size_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), whole = (bytes + page - 1) / page * page;
    r->length = whole + page;
    r->pages = mmap(NULL, r->length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(r->pages != MAP_FAILED && mprotect(r->pages + whole, page, PROT_NONE) == 0);
    r->data = r->pages + whole - bytes;
    r->c.data = r->data;
    r->c.bytes = bytes;
}

static void lay_out_widths(struct rows *r, size_t width, size_t gap)
{
    r->c.width = width;
    r->c.stride = gap != 0 ? width + gap : 0;
    take_pages(r, (FIRST_ROW + ROWS - 1) * (width + gap) + width);
    for (size_t i = 0; i < ROWS; i++)
        r->keys[i] = (tamis_bytes){r->data + (FIRST_ROW + i) * (width + gap), width};
}

static void lay_out_texts(struct rows *r, bool narrow, size_t longest)
{
    size_t at = 3; /* the first text need not be at the beginning */
    for (size_t i = 0; i <= FIRST_ROW + ROWS; i++) {
        r->offsets32[i] = (int32_t)at;
        r->offsets64[i] = (int64_t)at;
        if (i < FIRST_ROW + ROWS) at += (size_t)draw(longest + 1);
    }
    take_pages(r, at);
    if (narrow)
        r->c.offsets32 = r->offsets32;
    else
        r->c.offsets64 = r->offsets64;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t from = (size_t)r->offsets64[FIRST_ROW + i];
        r->keys[i] = (tamis_bytes){r->data + from, (size_t)r->offsets64[FIRST_ROW + i + 1] - from};
    }
}

/* Values repeat, so that some keys were seen before. */
static void fill_rows(struct rows *r)
{
    for (size_t i = 0; i < r->c.bytes; i++) r->data[i] = (uint8_t)draw(256);
    for (size_t i = 1; i < ROWS; i++) {
        const tamis_bytes *from = &r->keys[draw(i)];
        if (i % 5 == 0 && from->len == r->keys[i].len)
            memmove((void *)(uintptr_t)r->keys[i].p, from->p, from->len);
    }
}

static struct rows *make_rows(int way, size_t width, size_t gap, bool nulls)
{
    struct rows *r = calloc(1, sizeof *r);
    CHECK(r != NULL);
    r->c = (tamis_column){.struct_size = sizeof r->c, .rows = ROWS, .first = FIRST_ROW};
    if (way == WIDTHS)
        lay_out_widths(r, width, gap);
    else
        lay_out_texts(r, way == TEXTS32, width);
    fill_rows(r);
    for (size_t i = 0; i < FIRST_ROW + ROWS; i++)
        if (!nulls || draw(4) != 0) r->validity[i / 8] |= (uint8_t)(1u << i % 8);
    if (nulls) r->c.validity = r->validity;
    for (size_t i = 0; i < ROWS; i++) {
        const size_t row = FIRST_ROW + i;
        r->weights[i] = 1 + (int64_t)draw(9);
        if ((r->validity[row / 8] >> row % 8 & 1) == 0) continue;
        r->valid[r->n] = i;
        r->valid_weights[r->n++] = r->weights[i];
    }
    return r;
}

static void free_rows(struct rows *r)
{
    munmap(r->pages, r->length);
    free(r);
}

static tamis_bytes *valid_keys(const struct rows *r)
{
    static tamis_bytes all[ROWS];
    for (size_t i = 0; i < r->n; i++) all[i] = r->keys[r->valid[i]];
    return all;
}

/* Runs the check on every layout. */
static void each_layout(void (*check)(struct rows *r))
{
    static const size_t widths[] = {1, 4, 7, 8, 16, 20, 32, 33, 64, 65};
    random_state = 20;
    for (int way = 0; way < WAYS; way++)
        for (size_t w = 0; w < sizeof widths / sizeof *widths; w++)
            for (int v = 0; v < 4; v++) {
                struct rows *r = make_rows(way, widths[w], v >= 2 ? 3 : 0, v % 2 != 0);
                check(r);
                free_rows(r);
            }
}

/* --- The same as with descriptors ------------------------------------------------------------- */

/* Bits of descriptors, moved to their rows. */
static void to_rows(const struct rows *r, const uint8_t *bits, uint8_t *out)
{
    memset(out, 0, (ROWS + 7) / 8);
    for (size_t i = 0; i < r->n; i++)
        if ((bits[i / 8] >> i % 8 & 1) != 0)
            out[r->valid[i] / 8] |= (uint8_t)(1u << r->valid[i] % 8);
}

static tamis *load_model(const struct model *m)
{
    const tamis_options o = model_options(m, NULL);
    tamis *t;
    CHECK_OK(tamis_load(m->image.p, m->image.n, &o, &t, NULL));
    return t;
}

static void check_same_image(const tamis *a, const tamis *b)
{
    struct bytes x = image_of(a), y = image_of(b);
    CHECK(bytes_equal(x, y));
    free(x.p);
    free(y.p);
}

static void check_adds(const struct model *m, const struct rows *r)
{
    tamis *a = load_model(m), *b = load_model(m);
    uint8_t bits[ROWS / 8 + 1] = {0}, want[ROWS / 8 + 1], got[ROWS / 8 + 1];
    size_t done, added;
    const tamis_bytes *k = valid_keys(r);
    memset(got, 0xaa, sizeof got);
    const tamis_status s = tamis_add_many(a, k, r->n, bits, &added);
    CHECK(tamis_add_column(b, &r->c, got, &done, NULL) == s);
    if (s == TAMIS_OK) {
        to_rows(r, bits, want);
        CHECK(done == ROWS && memcmp(got, want, (ROWS + 7) / 8) == 0);
    } else {
        CHECK(done == (added < r->n && added > 0 ? r->valid[added] : 0));
    }
    CHECK(tamis_add_many(a, k, r->n, NULL, NULL) == tamis_add_column(b, &r->c, NULL, NULL, NULL));
    check_same_image(a, b);
    tamis_close(a);
    tamis_close(b);
}

static void check_weights(const struct model *m, const struct rows *r)
{
    tamis *a = load_model(m), *b = load_model(m);
    static tamis_estimate want[ROWS], got[ROWS];
    size_t done;
    const tamis_bytes *k = valid_keys(r);
    const tamis_status s = tamis_add_weight_many(a, k, r->valid_weights, r->n, NULL, NULL);
    CHECK(tamis_add_weight_column(b, &r->c, r->weights, &done, NULL) == s);
    CHECK(done == (s == TAMIS_OK ? ROWS : 0));
    CHECK(tamis_add_weight_many(a, k, NULL, r->n, NULL, NULL) ==
          tamis_add_weight_column(b, &r->c, NULL, NULL, NULL));
    check_same_image(a, b);
    const tamis_status c = tamis_count_many(a, k, r->n, want, NULL);
    CHECK(tamis_count_column(b, &r->c, got, NULL) == c);
    for (size_t i = 0, j = 0; i < ROWS && c == TAMIS_OK; i++) {
        const bool null = j == r->n || r->valid[j] != i;
        const tamis_estimate none = {.confidence = 1};
        const tamis_estimate *e = null ? &none : &want[j++];
        CHECK(e->lower == got[i].lower && e->estimate == got[i].estimate);
        CHECK(e->upper == got[i].upper && e->confidence == got[i].confidence);
    }
    tamis_close(a);
    tamis_close(b);
}

/* The count after each add, and the upper bounds afterwards. */
static void check_counted(const struct model *m, const struct rows *r)
{
    tamis *a = load_model(m), *b = load_model(m);
    static int64_t want[ROWS], got[ROWS];
    const tamis_bytes *k = valid_keys(r);
    size_t done;
    memset(got, 0x55, sizeof got);
    const tamis_status s = tamis_add_counted_many(a, k, r->valid_weights, r->n, want, NULL, NULL);
    CHECK(tamis_add_counted_column(b, &r->c, r->weights, got, &done, NULL) == s);
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0, j = 0; i < ROWS; i++) {
            const bool null = s == TAMIS_OK && (j == r->n || r->valid[j] != i);
            CHECK(got[i] == (s != TAMIS_OK ? INT64_MAX : null ? 0 : want[j++]));
        }
        if (s != TAMIS_OK) break;
        tamis_upper_many(a, k, r->n, want);
        CHECK_OK(tamis_upper_column(b, &r->c, got, NULL));
    }
    check_same_image(a, b);
    tamis_close(a);
    tamis_close(b);
}

static void check_queries(const struct model *m, const struct rows *r)
{
    tamis *t = load_model(m);
    uint8_t bits[ROWS / 8 + 1] = {0}, want[ROWS / 8 + 1], got[ROWS / 8 + 1];
    uint32_t list[ROWS];
    size_t maybes, found;
    (void)tamis_add_many(t, valid_keys(r), r->n / 2, NULL, NULL);
    const size_t n = tamis_may_contain_many(t, valid_keys(r), r->n, bits);
    to_rows(r, bits, want);
    memset(got, 0xaa, sizeof got);
    CHECK_OK(tamis_may_contain_column(t, &r->c, got, &maybes, NULL));
    CHECK(maybes == n && memcmp(got, want, (ROWS + 7) / 8) == 0);
    CHECK_OK(tamis_may_contain_column(t, &r->c, NULL, &maybes, NULL));
    CHECK(maybes == n);
    CHECK_OK(tamis_may_contain_column(t, &r->c, got, NULL, NULL));
    CHECK_OK(tamis_select_column(t, &r->c, list, &found, NULL));
    CHECK(found == n);
    for (size_t i = 0, at = 0; i < ROWS; i++)
        if ((want[i / 8] >> i % 8 & 1) != 0) CHECK(list[at++] == i);
    tamis_close(t);
}

static void check_all(struct rows *r)
{
    for (size_t i = 0; i < n_models; i++) {
        check_adds(&models[i], r);
        check_weights(&models[i], r);
        check_counted(&models[i], r);
        check_queries(&models[i], r);
    }
}

static void check_blocked(struct rows *r)
{
    const struct model *m = models;
    while (m->kind != TAMIS_BLOCKED) m++;
    check_queries(m, r);
    check_adds(m, r);
}

static void test_every_kind(void)
{
    make_models();
    random_state = 7;
    for (int v = 0; v < 2 * WAYS; v++) {
        struct rows *r = make_rows(v / 2, v / 2 == WIDTHS ? 8 : LONGEST, 0, v % 2 != 0);
        check_all(r);
        free_rows(r);
    }
    free_models();
}

static void test_every_layout(void)
{
    const struct kernels *runnable[8];
    const size_t tables = tamis__runnable_kernels(runnable);
    make_models();
    for (size_t t = 0; t < tables; t++) {
        tamis__use_kernels(runnable[t]);
        each_layout(check_blocked);
    }
    tamis__use_kernels(runnable[0]);
    free_models();
}

/* --- Limits ----------------------------------------------------------------------------------- */

/* A strict filter takes some rows and refuses the next; null rows need no room. */
static void test_strict(void)
{
    for (int nulls = 0; nulls < 2; nulls++) {
        struct rows *r = make_rows(WIDTHS, 8, 0, nulls != 0);
        const tamis_plan p = {.struct_size = sizeof p,
                              .kind = TAMIS_BLOOM,
                              .items = 100,
                              .fpr = 1e-9,
                              .flags = TAMIS_STRICT};
        uint8_t seen[ROWS / 8 + 1], bits[ROWS / 8 + 1];
        size_t done, added;
        tamis *a, *b;
        tamis_error why;
        CHECK_OK(tamis_create(&p, NULL, &a, NULL));
        CHECK_OK(tamis_create(&p, NULL, &b, NULL));
        CHECK(tamis_add_many(a, valid_keys(r), r->n, bits, &added) == TAMIS_EFULL);
        memset(seen, 0xff, sizeof seen);
        CHECK(tamis_add_column(b, &r->c, seen, &done, &why) == TAMIS_EFULL);
        CHECK(done == r->valid[added] && done >= 100 && why.status == TAMIS_EFULL);
        check_same_image(a, b);
        for (size_t i = done; i < 8 * ((ROWS + 7) / 8); i++) CHECK((seen[i / 8] >> i % 8 & 1) == 0);
        tamis_close(a);
        tamis_close(b);
        free_rows(r);
    }
}

/* Without its secret key, a filter answers "maybe" to every row that is not null. */
static void test_keyless(void)
{
    static const uint8_t key[16] = "a secret key....";
    const tamis_plan p = {.struct_size = sizeof p, .items = 100, .fpr = 0.01};
    const tamis_options keyed = {.struct_size = sizeof keyed, .key = key};
    const tamis_options keyless = {.struct_size = sizeof keyless, .flags = TAMIS_KEYLESS};
    struct rows *r = make_rows(TEXTS32, 30, 0, true);
    tamis *t, *blind;
    uint32_t list[ROWS];
    size_t maybes, found;
    CHECK_OK(tamis_create(&p, &keyed, &t, NULL));
    struct bytes image = image_of(t);
    CHECK_OK(tamis_load(image.p, image.n, &keyless, &blind, NULL));
    CHECK_OK(tamis_may_contain_column(blind, &r->c, NULL, &maybes, NULL));
    CHECK_OK(tamis_select_column(blind, &r->c, list, &found, NULL));
    CHECK(maybes == r->n && found == r->n);
    for (size_t i = 0; i < found; i++) CHECK(list[i] == r->valid[i]);
    CHECK(tamis_add_column(blind, &r->c, NULL, NULL, NULL) == TAMIS_EKEY);
    CHECK(tamis_count_column(blind, &r->c, NULL, NULL) != TAMIS_OK);
    free(image.p);
    tamis_close(blind);
    tamis_close(t);
    free_rows(r);
}

static void test_no_allocation(void)
{
    static const uint8_t key[16] = "a secret key....";
    static const uint32_t kinds[] = {TAMIS_BLOOM,     TAMIS_BLOCKED, TAMIS_PARTITIONED,
                                     TAMIS_COUNT_MIN, TAMIS_TALLY,   TAMIS_TOP};
    for (size_t i = 0; i < 4 * sizeof kinds / sizeof *kinds; i++) {
        struct tracker a;
        tracker_init(&a);
        const uint32_t kind = kinds[i / 4];
        const tamis_plan p = {.struct_size = sizeof p,
                              .kind = kind,
                              .items = kind < TAMIS_COUNT_MIN ? 10000 : 0,
                              .fpr = kind < TAMIS_COUNT_MIN ? 0.01 : 0,
                              .bytes = kind < TAMIS_COUNT_MIN ? 0 : 1 << 16};
        const tamis_options o = {
            .struct_size = sizeof o, .memory = &a.memory, .key = i / 2 % 2 != 0 ? key : NULL};
        struct rows *r = make_rows(i % 2 != 0 ? TEXTS64 : WIDTHS, 20, 0, i % 2 != 0);
        uint8_t bits[ROWS / 8 + 1];
        uint32_t list[ROWS];
        size_t found;
        tamis *t;
        CHECK_OK(tamis_create(&p, &o, &t, NULL));
        const size_t before = a.calls;
        CHECK_OK(tamis_add_column(t, &r->c, bits, NULL, NULL));
        CHECK_OK(tamis_may_contain_column(t, &r->c, bits, NULL, NULL));
        CHECK_OK(tamis_select_column(t, &r->c, list, &found, NULL));
        CHECK(found == r->n);
        CHECK_THAT(a.calls, ==, before);
        tamis_close(t);
        free_rows(r);
    }
}

/* --- Bad input: an error with a reason, and nothing changes ----------------------------------- */

static void refused(const tamis_column *c, const char *part)
{
    const tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_COUNT_MIN, .bytes = 1 << 12};
    tamis_estimate e = {.upper = 77};
    tamis_error why;
    tamis *t, *same;
    uint8_t bits[1] = {0xaa};
    uint32_t list[1] = {99};
    int64_t count = 3;
    size_t n = 5;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK_OK(tamis_create(&p, NULL, &same, NULL));
    CHECK(tamis_add_column(t, c, bits, &n, &why) == TAMIS_EINVAL && n == 0);
    CHECK(strstr(why.text, part) != NULL);
    CHECK(tamis_add_weight_column(t, c, NULL, &n, &why) == TAMIS_EINVAL && n == 0);
    CHECK(tamis_may_contain_column(t, c, bits, &n, &why) == TAMIS_EINVAL && n == 0);
    CHECK(tamis_select_column(t, c, list, &n, &why) == TAMIS_EINVAL && n == 0);
    CHECK(tamis_count_column(t, c, &e, &why) == TAMIS_EINVAL);
    CHECK(tamis_add_counted_column(t, c, NULL, &count, &n, &why) == TAMIS_EINVAL && n == 0);
    CHECK(tamis_upper_column(t, c, &count, &why) == TAMIS_EINVAL && count == 3);
    CHECK(strstr(why.text, part) != NULL);
    CHECK(bits[0] == 0xaa && list[0] == 99 && e.upper == 77);
    check_same_image(t, same);
    tamis_close(t);
    tamis_close(same);
}

static void test_bad_columns(void)
{
    static const uint8_t data[64];
    static const int32_t good[] = {0, 4, 4, 9}, falls[] = {0, 9, 4, 9}, negative[] = {-1, 2, 3, 9},
                         far[] = {0, 2, 3, 65};
    static const int64_t good64[] = {0, 4, 4, 9}, falls64[] = {0, 9, 4, 9},
                         negative64[] = {INT64_MIN, 2, 3, 9}, far64[] = {0, 2, 3, INT64_MAX};
    const tamis_column c = {.struct_size = sizeof c, .rows = 3, .data = data, .bytes = sizeof data};
#define BAD(part, ...)                                                                             \
    do {                                                                                           \
        tamis_column bad = c;                                                                      \
        __VA_ARGS__;                                                                               \
        refused(&bad, part);                                                                       \
    } while (0)
    BAD("needs a width", (void)bad);
    BAD("not both", bad.offsets32 = good, bad.offsets64 = good64);
    BAD("no width", bad.offsets32 = good, bad.width = 4);
    BAD("no width", bad.offsets64 = good64, bad.stride = 4);
    BAD("negative", bad.offsets32 = negative);
    BAD("negative", bad.offsets64 = negative64);
    BAD("smaller", bad.offsets32 = falls);
    BAD("smaller", bad.offsets64 = falls64);
    BAD("byte 65", bad.offsets32 = far);
    BAD("ends at byte", bad.offsets64 = far64);
    BAD("do not fit", bad.width = 22);
    BAD("do not fit", bad.width = 4, bad.stride = 31);
    BAD("do not fit", bad.width = 8, bad.first = 6);
    BAD("do not fit", bad.width = 2, bad.stride = SIZE_MAX / 2 + 2); /* would wrap to 2 */
    BAD("do not fit", bad.width = SIZE_MAX);
    BAD("too many rows", bad.width = 1, bad.rows = SIZE_MAX);
    BAD("too many rows", bad.width = 1, bad.first = SIZE_MAX - 2);
    BAD("no data", bad.width = 1, bad.data = NULL);
    BAD("tamis_column", bad.width = 1, bad.struct_size = 13);
    refused(NULL, "tamis_column");
}

/* A filter that states an encoding takes only columns of such keys, in queries as well. */
static void test_encodings(void)
{
    static const uint8_t data[64];
    static const int32_t eight[] = {0, 8, 16, 24}, uneven[] = {0, 8, 12, 20};
    static const uint8_t without_the_second[] = {0x05};
    const tamis_plan p = {
        .struct_size = sizeof p, .items = 100, .fpr = 0.01, .encoding = TAMIS_KEYS_INT64};
    const tamis_column c = {.struct_size = sizeof c, .rows = 3, .data = data, .bytes = sizeof data};
    tamis_column width_8 = c, width_4 = c, texts = c, odd = c, nulls = c;
    width_8.width = 8;
    width_4.width = 4;
    texts.offsets32 = eight;
    odd.offsets32 = nulls.offsets32 = uneven;
    nulls.validity = without_the_second;
    const struct {
        const tamis_column *c;
        bool good;
    } cases[] = {
        {&width_8, true}, {&width_4, false}, {&texts, true}, {&odd, false}, {&nulls, true}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis *t, *same;
        tamis_error why;
        size_t n;
        uint32_t list[3];
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_OK(tamis_create(&p, NULL, &same, NULL));
        const tamis_status want = cases[i].good ? TAMIS_OK : TAMIS_EINVAL;
        CHECK(tamis_add_column(t, cases[i].c, NULL, &n, &why) == want);
        CHECK(cases[i].good || (n == 0 && strstr(why.text, "int64le") != NULL));
        CHECK(tamis_may_contain_column(t, cases[i].c, NULL, &n, &why) == want);
        CHECK(tamis_select_column(t, cases[i].c, list, &n, &why) == want);
        if (!cases[i].good) check_same_image(t, same);
        tamis_close(t);
        tamis_close(same);
    }
}

static void test_list_of_2_to_the_32_rows(void)
{
    const tamis_plan p = {.struct_size = sizeof p, .items = 10, .fpr = 0.01};
    tamis_column c = {.struct_size = sizeof c, .width = 1, .stride = 1, .data = "x"};
    uint32_t list[1];
    size_t found;
    tamis_error why;
    tamis *t;
    if (sizeof(size_t) < sizeof(uint64_t)) return; /* there cannot be as many */
    c.rows = c.bytes = (size_t)UINT32_MAX + 2;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK(tamis_select_column(t, &c, list, &found, &why) == TAMIS_EINVAL);
    CHECK(strstr(why.text, "2^32") != NULL);
    tamis_close(t);
}

/* No rows, and keys without bytes, need no data. */
static void test_empty(void)
{
    static const int32_t offsets[] = {0, 0, 0};
    const tamis_plan p = {.struct_size = sizeof p, .items = 10, .fpr = 0.01};
    tamis_column none = {.struct_size = sizeof none, .width = 4},
                 empty = {.struct_size = sizeof empty, .rows = 2, .offsets32 = offsets};
    size_t n;
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK_OK(tamis_add_column(t, &none, NULL, &n, NULL));
    CHECK(n == 0 && !tamis_may_contain(t, "", 0));
    CHECK_OK(tamis_add_column(t, &empty, NULL, &n, NULL));
    CHECK(n == 2 && tamis_may_contain(t, "", 0));
    CHECK_OK(tamis_may_contain_column(t, &empty, NULL, &n, NULL));
    CHECK(n == 2);
    tamis_close(t);
}

static const struct test tests[] = {
    {"every kind", test_every_kind},
    {"every layout", test_every_layout},
    {"strict", test_strict},
    {"keyless", test_keyless},
    {"no allocation", test_no_allocation},
    {"bad columns", test_bad_columns},
    {"encodings", test_encodings},
    {"a list of 2^32 rows", test_list_of_2_to_the_32_rows},
    {"empty", test_empty},
};

TEST_MAIN(tests)
