/* Columns of any shape, with hostile offsets, widths and bitmaps: an error that changes nothing, or
 * what the calls with descriptors do. The arrays have exactly the promised sizes, so the address
 * sanitizer sees any read beyond them.
 *
 * ./run fuzz columns */
#include "fuzz.h"

#include "../support/resum.h"
#include "feed.h"

#include <tamis/columns.h>
#include <tamis/inspect.h>

enum { MOST_ROWS = 300, MOST_BYTES = 1024 };

struct arrays {
    uint8_t *data, *validity;
    int32_t *offsets32;
    int64_t *offsets64;
};

static tamis_column column;
static struct arrays arrays;
static tamis_bytes keys[MOST_ROWS];
static size_t rows_of[MOST_ROWS], valid;

static void *exactly(size_t n)
{
    void *p = malloc(n);
    must(p != NULL || n == 0, "memory for the test");
    return p;
}

/* Mostly offsets that rise. */
static void make_offsets(struct feed *f, size_t n)
{
    const bool wide = feed_byte(f) % 2 != 0, wild = feed_byte(f) % 4 == 0;
    arrays.offsets32 = exactly(n * sizeof *arrays.offsets32);
    arrays.offsets64 = exactly(n * sizeof *arrays.offsets64);
    int64_t at = feed_byte(f) % 3;
    for (size_t i = 0; i < n; i++) {
        if (wild && feed_byte(f) % 16 == 0) at = (int64_t)feed_bytes(f, 8);
        arrays.offsets32[i] = (int32_t)(uint32_t)at;
        arrays.offsets64[i] = at;
        at = (int64_t)((uint64_t)at + feed_byte(f) % 40);
    }
    if (wide)
        column.offsets64 = arrays.offsets64;
    else
        column.offsets32 = arrays.offsets32;
}

static void make_column(struct feed *f)
{
    const size_t rows = feed_below(f, MOST_ROWS), first = feed_below(f, 20);
    const size_t bytes = feed_below(f, MOST_BYTES);
    column =
        (tamis_column){.struct_size = sizeof column, .rows = rows, .first = first, .bytes = bytes};
    arrays.data = exactly(bytes);
    for (size_t i = 0; i < bytes; i++) arrays.data[i] = (uint8_t)(i * i >> 4);
    column.data = arrays.data;
    if (feed_byte(f) % 2 != 0) {
        make_offsets(f, first + rows + 1);
    } else {
        column.width = feed_byte(f) % 80;
        column.stride = feed_byte(f) % 8 != 0 ? feed_byte(f) % 90 : (size_t)feed_bytes(f, 8);
    }
    if (feed_byte(f) % 2 == 0) return;
    arrays.validity = exactly((first + rows + 7) / 8);
    for (size_t i = 0; i < (first + rows + 7) / 8; i++) arrays.validity[i] = feed_byte(f);
    column.validity = arrays.validity;
}

/* Row i without the library; false if it is not within the data. */
static bool row_at(size_t i, tamis_bytes *out)
{
    const tamis_column *c = &column;
    const uint64_t stride = c->stride != 0 ? c->stride : c->width;
    int64_t from, to;
    if (c->offsets32 != NULL || c->offsets64 != NULL) {
        from = c->offsets32 != NULL ? c->offsets32[c->first + i] : c->offsets64[c->first + i];
        to = c->offsets32 != NULL ? c->offsets32[c->first + i + 1] : c->offsets64[c->first + i + 1];
    } else {
        if (c->width == 0 || stride > MOST_BYTES) return false;
        from = (int64_t)((c->first + i) * stride);
        to = from + (int64_t)c->width;
    }
    if (from < 0 || to < from || (uint64_t)to > c->bytes) return false;
    *out = (tamis_bytes){arrays.data + from, (size_t)(to - from)};
    return true;
}

/* Whether the column is one; lists its keys. A stride that is never used may be anything. */
static bool list_keys(void)
{
    const bool texts = column.offsets32 != NULL || column.offsets64 != NULL;
    valid = 0;
    if (!texts && column.width == 0) return false;
    for (size_t i = 0; i < column.rows; i++) {
        tamis_bytes key;
        if (!texts && column.first + i == 0 && column.stride > MOST_BYTES) {
            if (column.width > column.bytes) return false;
            key = (tamis_bytes){arrays.data, column.width};
        } else if (!row_at(i, &key)) {
            return false;
        }
        const size_t row = column.first + i;
        if (column.validity != NULL && (column.validity[row / 8] >> row % 8 & 1) == 0) continue;
        rows_of[valid] = i;
        keys[valid++] = key;
    }
    return true;
}

static void same_bits(const uint8_t *rows, const uint8_t *descriptors)
{
    size_t j = 0;
    for (size_t i = 0; i < (column.rows + 7) / 8 * 8; i++) {
        bool want = false;
        if (j < valid && rows_of[j] == i) {
            want = (descriptors[j / 8] >> j % 8 & 1) != 0;
            j++;
        }
        must(((rows[i / 8] >> i % 8 & 1) != 0) == want, "each row as its descriptor");
    }
}

static void compare(tamis *a, tamis *b)
{
    uint8_t *rows = exactly((column.rows + 7) / 8), descriptors[MOST_ROWS / 8 + 1];
    uint32_t *list = exactly(column.rows * sizeof *list);
    size_t done, found;
    must(tamis_add_column(a, &column, rows, &done, NULL) == TAMIS_OK, "a good column is added");
    must(tamis_add_many(b, keys, valid, descriptors, NULL) == TAMIS_OK, "and its keys");
    must(done == column.rows, "all rows");
    same_bits(rows, descriptors);
    must(tamis_may_contain_column(a, &column, rows, &found, NULL) == TAMIS_OK, "queried");
    must(found == valid && tamis_may_contain_many(b, keys, valid, descriptors) == valid,
         "every key is a member");
    same_bits(rows, descriptors);
    must(tamis_select_column(a, &column, list, &found, NULL) == TAMIS_OK && found == valid, "list");
    for (size_t i = 0; i < found; i++) must(list[i] == rows_of[i], "the rows that are not null");
    free(list);
    free(rows);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t kinds[] = {TAMIS_BLOOM, TAMIS_BLOCKED, TAMIS_COUNT_MIN, TAMIS_TOP};
    static const uint8_t secret[16] = "a secret key";
    struct feed f = {data, size};
    memset(&arrays, 0, sizeof arrays);
    const uint32_t kind = kinds[feed_byte(&f) % 4];
    const bool counts = kind == TAMIS_COUNT_MIN || kind == TAMIS_TOP;
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = kind,
                          .items = counts ? 0 : 1000,
                          .fpr = counts ? 0 : 0.01,
                          .bytes = counts ? 1 << 16 : 0};
    const tamis_options o = {.struct_size = sizeof o,
                             .key = feed_byte(&f) % 4 == 0 ? secret : NULL};
    tamis *a, *b;
    must(tamis_create(&p, &o, &a, NULL) == TAMIS_OK, "created");
    must(tamis_create(&p, &o, &b, NULL) == TAMIS_OK, "created");
    make_column(&f);
    if (list_keys()) {
        compare(a, b);
    } else {
        tamis_error why;
        size_t n = 1;
        must(tamis_add_column(a, &column, NULL, &n, &why) == TAMIS_EINVAL && n == 0, "refused");
        must(why.text[0] != 0, "with a reason");
        must(tamis_may_contain_column(a, &column, NULL, &n, NULL) == TAMIS_EINVAL, "refused");
    }
    struct bytes x = image_of(a), y = image_of(b);
    must(bytes_equal(x, y), "the same image, or an unchanged one");
    free(x.p);
    free(y.p);
    tamis_close(a);
    tamis_close(b);
    free(arrays.data);
    free(arrays.validity);
    free(arrays.offsets32);
    free(arrays.offsets64);
    return 0;
}
