/* A storage engine whose tables contain their own filters.
 *
 * A log-structured engine keeps many sorted tables, and a lookup may have to search each of them.
 * Every table therefore has a filter of its keys. A table has a checksum of its own and many tables
 * are small, so the filter is stored without a header: only its cells, and the few numbers of its
 * plan. A filter of a hundred keys takes 128 bytes that way, ten bits per key.
 *
 *     table:  keys and values | cells of the filter | footer: number of keys, bits, checksum */
#include <tamis/embed.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TABLES = 50, ROWS = 100, LOOKUPS = 20000 };

struct row {
    uint64_t key, value;
};

struct footer {
    uint64_t rows, filter_bits, checksum;
};

/* A table as it lies in a file or in a cache of blocks. */
struct table {
    uint8_t *bytes;
    size_t size;
    tamis *filter; /* a view of the cells within bytes */
};

static void die(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static uint64_t checksum(const uint8_t *p, size_t n)
{
    return tamis_hash_bytes(0, p, n).lo;
}

/* The plan of a table's filter follows from two numbers. */
static tamis_plan plan_of(uint64_t rows, uint64_t bits)
{
    tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_BLOCKED, .items = rows};
    if (bits != 0)
        plan.m = bits;
    else
        plan.fpr = 0.01;
    if (tamis_solve(&plan, NULL, NULL) != TAMIS_OK) die("no such filter");
    return plan;
}

static struct table write_table(const struct row *rows, uint64_t n)
{
    const tamis_plan plan = plan_of(n, 0);
    tamis *t;
    size_t cell_bytes;
    if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) die("no memory");
    for (uint64_t i = 0; i < n; i++)
        if (tamis_add(t, &rows[i].key, sizeof rows[i].key, NULL) != TAMIS_OK) die("not added");
    const void *cells = tamis_raw_cells(t, &cell_bytes);

    const size_t row_bytes = (size_t)n * sizeof *rows;
    struct table out = {.size = row_bytes + cell_bytes + sizeof(struct footer)};
    out.bytes = malloc(out.size);
    if (out.bytes == NULL) die("no memory");
    memcpy(out.bytes, rows, row_bytes);
    memcpy(out.bytes + row_bytes, cells, cell_bytes);
    const struct footer footer = {n, plan.m, checksum(out.bytes, row_bytes + cell_bytes)};
    memcpy(out.bytes + row_bytes + cell_bytes, &footer, sizeof footer);
    tamis_close(t);
    return out;
}

/* Checks the table and views its filter, which is not copied. */
static void open_table(struct table *t)
{
    struct footer footer;
    memcpy(&footer, t->bytes + t->size - sizeof footer, sizeof footer);
    const size_t body = t->size - sizeof footer, row_bytes = footer.rows * sizeof(struct row);
    if (checksum(t->bytes, body) != footer.checksum) die("the table is damaged");
    const tamis_plan plan = plan_of(footer.rows, footer.filter_bits);
    tamis_error why;
    if (tamis_view_cells(&plan, t->bytes + row_bytes, body - row_bytes, NULL, &t->filter, &why) !=
        TAMIS_OK)
        die(why.text);
}

/* Returns whether the key is in the table; *searches counts the searches. */
static bool find_in(const struct table *t, uint64_t key, uint64_t *value, uint64_t *searches)
{
    struct row row;
    if (!tamis_may_contain(t->filter, &key, sizeof key)) return false;
    ++*searches;
    for (size_t i = 0; i < ROWS; i++) {
        memcpy(&row, t->bytes + i * sizeof row, sizeof row);
        if (row.key != key) continue;
        *value = row.value;
        return true;
    }
    return false;
}

int main(void)
{
    static struct table tables[TABLES];
    for (uint64_t i = 0; i < TABLES; i++) {
        struct row rows[ROWS];
        for (uint64_t j = 0; j < ROWS; j++) rows[j] = (struct row){i * ROWS + j, 7 * (i + j)};
        tables[i] = write_table(rows, ROWS);
        open_table(&tables[i]);
    }
    uint64_t found = 0, searches = 0;
    for (uint64_t key = 0; key < LOOKUPS; key++)
        for (size_t i = 0; i < TABLES; i++) {
            uint64_t value;
            if (!find_in(&tables[i], key, &value, &searches)) continue;
            if (value != 7 * (key / ROWS + key % ROWS)) die("a wrong value");
            found++;
            break;
        }
    printf("%d lookups in up to %d tables: %" PRIu64 " found, %" PRIu64 " searches instead of %d\n",
           LOOKUPS, TABLES, found, searches, LOOKUPS * TABLES - TABLES * ROWS * TABLES / 2);
    const bool good = found == TABLES * ROWS && searches < found + LOOKUPS * TABLES / 30;
    for (size_t i = 0; i < TABLES; i++) {
        tamis_close(tables[i].filter);
        free(tables[i].bytes);
    }
    return good ? 0 : 1;
}
