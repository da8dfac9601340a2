/* A join that skips most rows of the large table.
 *
 * "Orders of customers in one country" joins a small table with a large one. A filter of the small
 * table's ids, pushed down into the scan of the large table, drops the rows that certainly have no
 * partner before they are decoded, copied or probed. The scan works in batches of 2048 rows, as
 * columnar engines do. A column may have nulls, which never join. The rows that remain are probed
 * exactly, so the result is the same with the filter and without. */
#include <tamis/columns.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CUSTOMERS = 20000, WANTED = 500, ORDERS = 1000000, BATCH = 2048 };

/* The large table: the customer of each order, and which of them are known. */
static int64_t customer[ORDERS];
static uint8_t known[ORDERS / 8 + 1];
static bool wanted[CUSTOMERS]; /* the exact side of the join */

static void check(tamis_status s, const tamis_error *why)
{
    if (s == TAMIS_OK) return;
    fprintf(stderr, "%s\n", why->text);
    exit(1);
}

static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static bool is_known(size_t row)
{
    return (known[row / 8] >> row % 8 & 1) != 0;
}

int main(void)
{
    uint64_t state = 1;
    static int64_t ids[WANTED];
    for (size_t i = 0; i < WANTED; i++) {
        ids[i] = (int64_t)(next_random(&state) % CUSTOMERS);
        wanted[ids[i]] = true;
    }
    for (size_t i = 0; i < ORDERS; i++) {
        customer[i] = (int64_t)(next_random(&state) % CUSTOMERS);
        if (next_random(&state) % 50 != 0) known[i / 8] |= (uint8_t)(1u << i % 8);
    }

    /* The small side: one column of ids. */
    tamis_error why;
    tamis *filter;
    const tamis_plan plan = {.struct_size = sizeof plan, .items = WANTED, .fpr = 0.01};
    const tamis_column small = {.struct_size = sizeof small,
                                .rows = WANTED,
                                .data = ids,
                                .bytes = sizeof ids,
                                .width = sizeof *ids};
    check(tamis_create(&plan, NULL, &filter, &why), &why);
    check(tamis_add_column(filter, &small, NULL, NULL, &why), &why);

    /* The large side, a batch at a time: only the selected rows are probed. */
    size_t probed = 0, joined = 0, expected = 0;
    for (size_t at = 0; at < ORDERS; at += BATCH) {
        const tamis_column batch = {.struct_size = sizeof batch,
                                    .rows = ORDERS - at < BATCH ? ORDERS - at : BATCH,
                                    .first = at,
                                    .data = customer,
                                    .bytes = sizeof customer,
                                    .width = sizeof *customer,
                                    .validity = known};
        uint32_t selected[BATCH];
        size_t n;
        check(tamis_select_column(filter, &batch, selected, &n, &why), &why);
        for (size_t i = 0; i < n; i++) joined += wanted[customer[at + selected[i]]];
        probed += n;
    }

    for (size_t i = 0; i < ORDERS; i++) expected += is_known(i) && wanted[customer[i]];
    printf("%d orders, %zu probed, %zu joined\n", ORDERS, probed, joined);
    tamis_close(filter);
    return joined == expected && probed < ORDERS / 20 ? 0 : 1;
}
