/* Runs a task over all rows of a source, in pieces: after each one, signal handlers run and other
 * threads have a turn. */
#include "bulk.h"

/* Rows that are converted at a time: their text stays in the caches. */
#define CONVERTED_ROWS 4096u
/* Objects that are read at a time, with the GIL. Taking the GIL back may cost 5 ms if other threads
 * run Python code, so batches are not small. */
#define OBJECT_ROWS 16384u
/* The library adds big batches to a big table in the order of the table (tamis.h, scratch_bytes),
 * from this size on and if there is a key for each of its lines of 64 bytes. */
#define BIG_TABLE ((uint64_t)64 << 20)
#define MOST_ROWS_BIG ((size_t)1 << 23)

static size_t piece_size(const Task *k)
{
    if (k->access == READS || k->bits != NULL) return MOST_ROWS;
    const uint64_t bytes = tamis_image_size(k->h->t);
    if (bytes >= BIG_TABLE) return MOST_ROWS_BIG;
    return MOST_ROWS;
}

/* How many of the next rows have values that fit in an int64_t. */
static size_t rows_in_range(const Source *s, size_t n)
{
    const char *at = s->data + (Py_ssize_t)s->next * s->stride;
    for (size_t i = 0; i < n; i++, at += s->stride)
        if (load_int(at, 8, true, false) < 0) return i;
    return n;
}

static Part direct_part(Source *s, size_t n)
{
    Part p = {.c = s->column, .keys = NULL};
    if (s->check_sign) {
        const size_t fits = rows_in_range(s, n);
        if (fits < n) s->fault = BAD_RANGE;
        n = fits;
    }
    p.c.first += s->next;
    p.c.rows = n;
    return p;
}

/* Strings of equal length, such as hashes, are used in place: all rows of a batch, or none. */
static Part converted_part(Source *s, Text *text, size_t n)
{
    if (n > CONVERTED_ROWS) n = CONVERTED_ROWS;
    if (s->form != CHARS || s->required_width != 0 || text_unpadded(s, n) < n) {
        text_fill(text, s, n);
        return text_part(text);
    }
    const char *first = s->data + (Py_ssize_t)s->next * s->stride;
    return (Part){.c = {.struct_size = sizeof(tamis_column),
                        .rows = n,
                        .data = first,
                        .bytes = (n - 1) * (size_t)s->stride + s->width,
                        .width = s->width,
                        .stride = (size_t)s->stride}};
}

/* Without the GIL. */
static tamis_status run_rows(Task *k, Source *s, Text *text, size_t n)
{
    const size_t end = s->next + n;
    tamis_status status = TAMIS_OK;
    while (s->next < end && s->fault == FINE && status == TAMIS_OK) {
        size_t done = 0;
        const Part p = s->form == DIRECT ? direct_part(s, end - s->next)
                                         : converted_part(s, text, end - s->next);
        if (p.c.rows == 0) break;
        status = k->run(k, &p, &done);
        /* A fault is that of the row after the batch. */
        if (status != TAMIS_OK) s->fault = FINE;
        s->next += done;
        k->row += done;
    }
    return status;
}

static bool after_piece(Task *k, Source *s, tamis_status status)
{
    if (status != TAMIS_OK) {
        raise_status(status, &k->why, NULL);
        return false;
    }
    if (s->fault != FINE) {
        source_raise(k->h, s);
        return false;
    }
    if (PyErr_CheckSignals() < 0) return false;
    lock_yield(k->h);
    return true;
}

static bool reserve(Task *k, size_t rows)
{
    return !k->answers_rows || output_reserve(&k->out, k->row + rows);
}

static bool run_array(Task *k, Source *s)
{
    Text text = {.bytes = NULL};
    bool ok = true;
    if (s->form != DIRECT &&
        !text_open(&text, s->rows < CONVERTED_ROWS ? s->rows + 1 : CONVERTED_ROWS)) {
        PyErr_NoMemory();
        return false;
    }
    while (ok && s->next < s->rows) {
        tamis_status status;
        ok = lock_enter(k->h, k->access);
        if (!ok) break;
        const size_t most = piece_size(k), rest = s->rows - s->next;
        const size_t n = rest < most ? rest : most;
        ok = reserve(k, n);
        if (ok) {
            Py_BEGIN_ALLOW_THREADS
            status = run_rows(k, s, &text, n);
            Py_END_ALLOW_THREADS
        }
        lock_leave(k->h, k->access);
        ok = ok && after_piece(k, s, status);
    }
    text_close(&text);
    return ok;
}

static bool run_text(Task *k, Source *s, Text *text)
{
    const Part p = text_part(text);
    tamis_status status;
    size_t done = 0;
    if (p.c.rows == 0) return true;
    if (!reserve(k, p.c.rows) || !lock_enter(k->h, k->access)) return false;
    Py_BEGIN_ALLOW_THREADS
    status = k->run(k, &p, &done);
    Py_END_ALLOW_THREADS
    lock_leave(k->h, k->access);
    k->row += done;
    return after_piece(k, s, status);
}

/* The keys before an object that is not one are used before its exception is raised. */
static bool run_objects(Task *k, Source *s)
{
    Text text;
    bool ok = true, ended = false;
    const bool few = s->form != ITERATOR && s->rows < OBJECT_ROWS;
    if (!text_open(&text, few ? s->rows + 1 : OBJECT_ROWS)) {
        PyErr_NoMemory();
        return false;
    }
    while (ok && !ended) {
        PyObject *type = NULL, *value = NULL, *trace = NULL;
        const bool filled = objects_fill(k->h, &text, s, &ended);
        if (!filled) PyErr_Fetch(&type, &value, &trace);
        ok = run_text(k, s, &text) && filled;
        if (filled) continue;
        if (PyErr_Occurred()) {
            Py_XDECREF(type);
            Py_XDECREF(value);
            Py_XDECREF(trace);
        } else {
            PyErr_Restore(type, value, trace);
        }
    }
    text_close(&text);
    return ok;
}

bool bulk_run(Task *k, Source *s)
{
    int more;
    while ((more = source_more(k->h, s)) > 0) {
        const bool objects = s->form == SEQUENCE || s->form == POINTERS || s->form == ITERATOR;
        if (objects ? !run_objects(k, s) : !run_array(k, s)) return false;
        s->before += s->rows;
    }
    return more == 0;
}
