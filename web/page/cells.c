/* For the drawings: the cells of a key and their values. Only the page's module has this. */
#include <stdlib.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#define EXPORT(name) __attribute__((export_name(#name)))
#define MOST 64 /* the most probes of a key */

/* Returns the number of cells. Their indices, as doubles, are at the address that cellsAt
 * returns. */
static double found[MOST];

EXPORT(cellsOf) size_t web_cells_of(const tamis *t, const void *key, size_t len)
{
    uint64_t cells[MOST];
    const size_t n = tamis_cells_of(t, key, len, cells, MOST), kept = n < MOST ? n : MOST;
    for (size_t i = 0; i < kept; i++) found[i] = (double)cells[i];
    return kept;
}

EXPORT(cellsAt) const double *web_cells_at(void)
{
    return found;
}

EXPORT(cell) double web_cell(const tamis *t, double cell)
{
    return (double)tamis_cell(t, (uint64_t)cell);
}
