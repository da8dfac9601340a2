/* Many keys: where they come from (Source), what is done with them (Task), and where the answers go
 * (Output). A task gets the rows in parts:
 *
 *   DIRECT           the memory of the array itself, as a tamis_column
 *   CHARS            descriptors of a few thousand keys in the memory of the array
 *   INTS, UCS4,      a Text of a few thousand keys, which are converted without the GIL
 *   VIEWS
 *   SEQUENCE,        a Text of keys, whose bytes are copied from Python objects with the GIL
 *   POINTERS,
 *   ITERATOR
 */
#ifndef TAMIS_BULK_H
#define TAMIS_BULK_H

#include "binding.h"

typedef enum Form { DIRECT, INTS, CHARS, UCS4, VIEWS, SEQUENCE, POINTERS, ITERATOR } Form;

/* Why a row is not a key. */
typedef enum Fault { FINE, BAD_WIDTH, BAD_RANGE, BAD_CHARACTER, BAD_VIEW, NO_MEMORY } Fault;

struct Arrow;

typedef struct Source {
    Form form;
    bool is_array; /* answers are numpy arrays if there is numpy                               */
    bool is_open;  /* the number of all rows is not known: an iterator, or a stream            */
    bool is_signed, is_swapped; /* INTS; is_swapped: UCS4, too                                  */
    bool check_sign;            /* DIRECT: a value with the highest bit is BAD_RANGE            */
    bool as_int64; /* INTS: 8 bytes each, not decimal text                                     */
    bool is_list;  /* SEQUENCE: a list, not a tuple                                            */
    bool started;  /* source_more was called                                                   */
    size_t rows, next;     /* of this piece                                                */
    size_t before;         /* rows of the pieces before                                    */
    size_t required_width; /* of a key; 0: any                                             */
    tamis_column column;   /* DIRECT                                                       */
    const char *data;      /* the first row                                                */
    Py_ssize_t stride;
    size_t width;
    const uint8_t *validity; /* bit first + i is that of row i; NULL: no row is null         */
    size_t first;
    Fault fault;         /* of row `next`                                                */
    size_t fault_length; /* BAD_WIDTH                                                    */
    PyObject *object;    /* what the rows are in, or NULL                                */
    Py_buffer buffer;    /* buffer.obj may be NULL                                       */
    struct Arrow *arrow;
} Source;

/* Takes an argument `keys`. */
bool source_open(Handle *h, PyObject *keys, Source *s);
/* The same if h only states the encoding: rows that are not keys of a handle. */
bool source_open_any(const Handle *h, PyObject *keys, Source *s);
/* Goes to the next piece, or to the first: 1. Returns 0 after the last one, -1 on failure. */
int source_more(const Handle *h, Source *s);
void source_close(Source *s);
/* Raises the exception for s->fault. */
void source_raise(const Handle *h, const Source *s);

/* buffer.c: true if o exports a buffer of keys. */
bool buffer_open(const Handle *h, PyObject *o, Source *s);
/* What int64_t weights an object stands for: an array of n, as a buffer or as any iterable of
 * integers. *owned, if not NULL, is to be freed; otherwise the buffer is to be released. */
typedef struct Weights {
    const int64_t *values;
    int64_t *owned;
    Py_buffer buffer;
    size_t n;
} Weights;
bool weights_open(PyObject *o, Weights *w);
void weights_close(Weights *w);
int64_t load_int(const char *at, size_t width, bool is_signed, bool is_swapped);

/* arrow.c */
bool arrow_open(const Handle *h, PyObject *o, bool is_stream, Source *s);
int arrow_more(const Handle *h, Source *s);
void arrow_close(Source *s);
/* VIEWS: the bytes of row i. False: they are not in their buffer. No GIL. */
bool arrow_view(const Source *s, size_t row, tamis_bytes *out);

/* Rows for a task, as a column or, if keys is not NULL, as descriptors of c.rows keys. */
typedef struct Part {
    tamis_column c;
    const tamis_bytes *keys;
} Part;

/* --- text.c: a batch of keys, one after the other. No function needs the GIL. ----------------- */
typedef struct Text {
    char *bytes;
    size_t used, room;
    int64_t *offsets;  /* most + 1 */
    tamis_bytes *keys; /* most */
    bool has_keys;     /* keys has the descriptors already: they point elsewhere */
    uint8_t *validity;
    bool has_nulls;
    size_t width; /* all keys have this length, and there are no offsets; else 0 */
    size_t rows, most;
} Text;
bool text_open(Text *t, size_t most); /* false without an exception: not enough memory */
void text_close(Text *t);
void text_clear(Text *t);
bool text_grow(Text *t, size_t len); /* room for len more bytes; false: not enough memory */
static inline bool text_put(Text *t, const void *p, size_t len)
{
    if (len > t->room - t->used && !text_grow(t, len)) return false;
    memcpy(t->bytes + t->used, p, len);
    t->used += len;
    t->offsets[++t->rows] = (int64_t)t->used;
    return true;
}
/* CHARS: how many rows, of up to n from s->next on, have no padding. They can be used in place. */
size_t text_unpadded(const Source *s, size_t n);
/* Converts up to n rows from s->next on. Stops before a row with a fault, which it records. */
void text_fill(Text *t, Source *s, size_t n);
Part text_part(Text *t);

/* --- objects.c -------------------------------------------------------------------------------- */
/* Puts keys from s->next on into the text, until it is full. False: the next object is not a key;
 * the text has those before it. *ended: there are no more. */
bool objects_fill(Handle *h, Text *t, Source *s, bool *ended);

/* The next object: a new reference from an iterator, and else a borrowed one. NULL: there are no
 * more, or an exception is set. */
PyObject *objects_next(const Source *s);

/* --- output.c --------------------------------------------------------------------------------- */
typedef struct Output {
    char *data;
    size_t item;       /* bytes of an answer                  */
    size_t room;       /* answers                             */
    const char *dtype; /* of the numpy array: "?" or "i8"     */
    PyObject *array;   /* the numpy array itself, or NULL     */
    Py_buffer view;    /* of it */
    bool wants_array;
} Output;
/* rows: as many answers as will come, if it is known; else 0. */
bool output_open(Output *o, const Source *s, const char *dtype, size_t item);
bool output_reserve(Output *o, size_t rows);
/* Makes an array or a list of the first n answers. */
PyObject *output_finish(Output *o, size_t n);
/* Makes an array or a list of the numbers of those of the first n answers, each a byte, that are
 * not 0. */
PyObject *output_finish_rows(Output *o, size_t n);
void output_close(Output *o);

/* --- bulk.c ----------------------------------------------------------------------------------- */
typedef struct Task Task;
struct Task {
    Handle *h;
    Access access;
    /* Does the work for one part, without the GIL. *done: rows that are done. */
    tamis_status (*run)(Task *k, const Part *p, size_t *done);
    tamis_error why;
    size_t row;             /* rows that are done                                       */
    bool answers_rows;      /* there is an answer for each row                          */
    uint8_t *bits;          /* room for a bit for each row of a column                  */
    const int64_t *weights; /* of all rows, or NULL                                     */
    Output out;
};
/* Runs the task over all rows. On failure, the rows before k->row are done and no others. */
bool bulk_run(Task *k, Source *s);
/* Up to FEW rows of a part, for the calls of the library that take no column. */
#define FEW 128u
typedef struct Few {
    size_t taken, n;       /* rows of the part; and those of them that are not null */
    tamis_bytes keys[FEW]; /* of the n rows                                         */
    uint8_t rows[FEW];     /* their numbers, counted from the first row as 0        */
} Few;
/* Fails if the offsets of the column are wrong. tasks.c; no GIL. */
tamis_status few_from(const Part *p, size_t at, Few *out, tamis_error *why);
#define MOST_ROWS ((size_t)1 << 18) /* of a column, unless the table is huge: see bulk.c */

#endif
