/* An exact set of lines: their bytes, one after the other, and a table of where they are. A line
 * can be marked. */
#ifndef TAMIS_CLI_LINE_SET_H
#define TAMIS_CLI_LINE_SET_H

#include <stdbool.h>
#include <tamis/tamis.h>

struct line_set {
    const tamis *hasher; /* that the hashes are from; set it before anything is added */
    uint64_t *slots;     /* 0: empty */
    size_t n, room;      /* room is a power of two */
    char *text;
    size_t size, text_room;
};

/* False: no memory, and nothing changed. *at (or NULL) is where the line is, until the set is
 * cleared. */
bool line_set_add(struct line_set *s, tamis_hash h, tamis_bytes line, uint64_t *at);
/* Adds all; false: no memory, and some may be in. */
bool line_set_add_many(struct line_set *s, const tamis_hash *h, const tamis_bytes *lines, size_t n);
/* Of n lines those whose bits are set are looked for; bits of those that are not in are cleared.
 * Returns how many are. */
size_t line_set_confirm(const struct line_set *s, const tamis_hash *h, const tamis_bytes *lines,
                        size_t n, uint8_t *bits);
/* Marks those of n lines that are in. */
void line_set_mark(struct line_set *s, const tamis_hash *h, const tamis_bytes *lines, size_t n);
bool line_set_is_marked(const struct line_set *s, uint64_t at);

/* Adds the hashes of all lines to a filter. */
tamis_status line_set_copy(const struct line_set *s, tamis *to);
/* Memory in use. */
uint64_t line_set_bytes(const struct line_set *s);
/* Empty again; memory is kept. */
void line_set_clear(struct line_set *s);
void line_set_free(struct line_set *s);

#endif
