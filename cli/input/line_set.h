/* An exact set of lines: their bytes, one after the other, and a table of their positions. A line
 * can be marked. */
#ifndef TAMIS_CLI_LINE_SET_H
#define TAMIS_CLI_LINE_SET_H

#include <stdbool.h>
#include <tamis/tamis.h>

struct line_set {
    const tamis *hasher; /* computes the hashes; set it before anything is added */
    uint64_t *slots;     /* a slot that is 0 is empty */
    size_t n, room;      /* room is a power of two */
    size_t extra;        /* bytes for the caller beside each line; set it with the hasher */
    char *text;
    size_t size, text_room;
};

/* False when memory is lacking; then nothing has changed. *at (or NULL) receives the position of
 * the line, which is valid until the set is cleared. */
bool line_set_add(struct line_set *s, tamis_hash h, tamis_bytes line, uint64_t *at);
/* Adds n lines. False when memory is lacking; then some of them may have been added. */
bool line_set_add_many(struct line_set *s, const tamis_hash *h, const tamis_bytes *lines, size_t n);
/* Looks up the lines whose bits are set, and clears the bits of those that are not in the set.
 * Returns the number of lines that are. */
size_t line_set_confirm(const struct line_set *s, const tamis_hash *h, const tamis_bytes *lines,
                        size_t n, uint8_t *bits);
/* Marks the lines that are in the set. */
void line_set_mark(struct line_set *s, const tamis_hash *h, const tamis_bytes *lines, size_t n);
bool line_set_is_marked(const struct line_set *s, uint64_t at);
/* The line at a position, and its extra bytes, which are zero at first and not aligned. Both are
 * valid until the next line is added. */
tamis_bytes line_set_line(const struct line_set *s, uint64_t at);
void *line_set_extra(const struct line_set *s, uint64_t at);
/* The position of the line after this one; s->size at the end. The first is at 0. */
uint64_t line_set_after(const struct line_set *s, uint64_t at);

/* Adds the hashes of all lines to a filter. */
tamis_status line_set_copy(const struct line_set *s, tamis *to);
/* The memory in use. */
uint64_t line_set_bytes(const struct line_set *s);
/* The memory that is allocated while another line of this length is added, which may make the set
 * grow. */
uint64_t line_set_bytes_to_add(const struct line_set *s, size_t length);
/* Removes all lines; the memory is kept. */
void line_set_clear(struct line_set *s);
void line_set_free(struct line_set *s);

#endif
