/* Buffers (PEP 3118) as columns: numpy arrays, array.array, memoryviews. */
#include "bulk.h"

static const uint16_t endian_probe = 1;

static bool host_is_little(void)
{
    uint8_t first;
    memcpy(&first, &endian_probe, 1);
    return first == 1;
}

typedef struct Format {
    char type; /* i: integer, s: bytes, w: UCS-4, O: objects, x: raw, 0: something else */
    bool is_signed, is_swapped;
} Format;

/* A format like "<q", "5w" or "O". */
static Format read_format(const char *f)
{
    Format out = {0, false, false};
    if (f == NULL) f = "B";
    if (*f == '<' || *f == '>' || *f == '!') out.is_swapped = (*f == '<') != host_is_little();
    if (*f != '\0' && strchr("<>!=@^", *f) != NULL) f++;
    const bool counted = *f >= '0' && *f <= '9';
    while (*f >= '0' && *f <= '9') f++;
    if (*f == '\0' || f[1] != '\0') return out;
    if (*f == 's' || *f == 'w' || *f == 'x')
        out.type = *f;
    else if (!counted && *f == 'O')
        out.type = 'O';
    else if (!counted && strchr("bhilqn", *f) != NULL)
        out = (Format){'i', true, out.is_swapped};
    else if (!counted && strchr("BHILQN", *f) != NULL)
        out.type = 'i';
    return out;
}

/* What to do instead, for the types that people try. */
static void raise_wrong_type(PyObject *o, const char *format)
{
    PyObject *dtype = PyObject_GetAttrString(o, "dtype");
    if (dtype == NULL) PyErr_Clear();
    const char *what = format != NULL ? format : "M"; /* numpy exports no dates */
    const char last = what[0] != '\0' ? what[strlen(what) - 1] : '?';
    const char *hint = strchr("efdg", last) != NULL
                           ? "convert it with astype(str) or astype('int64')"
                       : last == '?' ? "convert it with astype('int64')"
                                     : "convert it with astype(str)";
    if (dtype != NULL)
        PyErr_Format(PyExc_TypeError, "keys are str, bytes or int, not an array of %S; %s", dtype,
                     hint);
    else
        PyErr_Format(PyExc_TypeError, "keys are str, bytes or int, not a buffer of format '%s'",
                     what);
    Py_XDECREF(dtype);
}

/* The rows are used in place, each with all of its bytes. */
static void make_direct(Source *s)
{
    s->form = DIRECT;
    s->column =
        (tamis_column){.struct_size = sizeof s->column,
                       .data = s->data,
                       .bytes = s->rows == 0 ? 0 : (s->rows - 1) * (size_t)s->stride + s->width,
                       .width = s->width,
                       .stride = (size_t)s->stride};
}

static bool use_ints(const Handle *h, Source *s, const Format *f)
{
    s->is_signed = f->is_signed;
    s->is_swapped = f->is_swapped;
    s->as_int64 = h->encoding == TAMIS_KEYS_INT64;
    if (!s->as_int64 && h->encoding > TAMIS_KEYS_TEXT && h->encoding <= TAMIS_KEYS_CALLER) {
        raise_wrong_sort(h, "int");
        return false;
    }
    const bool little = host_is_little() != f->is_swapped;
    s->form = INTS;
    if (s->as_int64 && s->width == 8 && little && s->stride > 0) {
        make_direct(s);
        s->check_sign = !f->is_signed;
    }
    return true;
}

static bool use_format(const Handle *h, PyObject *o, Source *s, const Format *f)
{
    const size_t w = s->width;
    switch (f->type) {
    case 'i':
        if (w == 1 || w == 2 || w == 4 || w == 8) return use_ints(h, s, f);
        break;
    case 'w':
        if (h->encoding > TAMIS_KEYS_TEXT && h->encoding != TAMIS_KEYS_FIXED &&
            h->encoding <= TAMIS_KEYS_CALLER) {
            raise_wrong_sort(h, "str");
            return false;
        }
        s->form = UCS4;
        s->is_swapped = f->is_swapped;
        return true;
    case 's':
    case 'x':
        s->form = CHARS;
        /* If all keys have this length, trailing NULs belong to them. */
        if ((f->type == 'x' || h->width == w) && w > 0 && s->stride > 0) make_direct(s);
        if (s->form == DIRECT || f->type == 's') return true;
        break;
    case 'O':
        if (w != sizeof(PyObject *)) break;
        s->form = POINTERS;
        return true;
    default: break;
    }
    raise_wrong_type(o, s->buffer.format);
    return false;
}

/* A masked array would export the values under its mask, too. */
static bool refuse_masked(PyObject *o)
{
    if (!PyObject_HasAttrString(o, "mask") || !PyObject_HasAttrString(o, "compressed")) return true;
    PyErr_SetString(PyExc_TypeError, "keys are in a masked array; pass keys.compressed()");
    return false;
}

bool buffer_open(const Handle *h, PyObject *o, Source *s)
{
    if (!refuse_masked(o)) return false;
    if (PyObject_GetBuffer(o, &s->buffer, PyBUF_STRIDES | PyBUF_FORMAT) < 0) {
        if (!PyErr_ExceptionMatches(PyExc_ValueError) && !PyErr_ExceptionMatches(PyExc_BufferError))
            return false;
        PyErr_Clear();
        raise_wrong_type(o, NULL);
        return false;
    }
    const Py_buffer *b = &s->buffer;
    if (b->ndim != 1) {
        PyErr_Format(PyExc_TypeError,
                     "keys have %d dimensions, but one is needed; pass one column, or ravel()",
                     b->ndim);
        return false;
    }
    const Format f = read_format(b->format);
    s->is_array = true;
    s->rows = (size_t)b->shape[0];
    s->data = b->buf;
    s->stride = b->strides[0];
    s->width = (size_t)b->itemsize;
    s->required_width = h->width;
    return use_format(h, o, s, &f);
}

/* --- Weights ---------------------------------------------------------------------------------- */

static bool weights_from_buffer(PyObject *o, Weights *w)
{
    Py_buffer *b = &w->buffer;
    if (PyObject_GetBuffer(o, b, PyBUF_STRIDES | PyBUF_FORMAT) < 0) return false;
    const Format f = read_format(b->format);
    const size_t width = (size_t)b->itemsize;
    if (b->ndim != 1 || f.type != 'i' || width > 8) {
        PyErr_SetString(PyExc_TypeError, "weights are a column of integers");
        return false;
    }
    w->n = (size_t)b->shape[0];
    if (width == 8 && f.is_signed && !f.is_swapped && b->strides[0] == 8 &&
        (uintptr_t)b->buf % 8 == 0) {
        w->values = b->buf;
        return true;
    }
    w->values = w->owned = malloc(w->n * sizeof *w->owned + 1);
    if (w->owned == NULL) {
        PyErr_NoMemory();
        return false;
    }
    for (size_t i = 0; i < w->n; i++) {
        w->owned[i] = load_int((const char *)b->buf + (Py_ssize_t)i * b->strides[0], width,
                               f.is_signed, f.is_swapped);
        if (f.is_signed || w->owned[i] >= 0) continue;
        PyErr_Format(PyExc_OverflowError, "row %zu: a weight is below 2**63", i);
        return false;
    }
    return true;
}

static bool weights_from_sequence(PyObject *o, Weights *w)
{
    PyObject *list = PySequence_List(o);
    if (list == NULL) return false;
    w->n = (size_t)PyList_Size(list);
    w->values = w->owned = malloc(w->n * sizeof *w->owned + 1);
    bool ok = w->owned != NULL;
    if (!ok) PyErr_NoMemory();
    for (size_t i = 0; ok && i < w->n; i++) {
        PyObject *one = PyList_GetItem(list, (Py_ssize_t)i);
        PyObject *integer = PyBool_Check(one) ? NULL : PyNumber_Index(one);
        if (integer == NULL && !PyErr_Occurred())
            PyErr_SetString(PyExc_TypeError, "a weight is an int, not bool");
        if (integer != NULL) w->owned[i] = PyLong_AsLongLong(integer);
        Py_XDECREF(integer);
        ok = !PyErr_Occurred();
        if (!ok) name_row(i);
    }
    Py_DECREF(list);
    return ok;
}

bool weights_open(PyObject *o, Weights *w)
{
    *w = (Weights){.values = NULL};
    if (PyUnicode_Check(o) || PyBytes_Check(o)) {
        PyErr_SetString(PyExc_TypeError, "weights are integers");
        return false;
    }
    if (PyObject_CheckBuffer(o) ? weights_from_buffer(o, w) : weights_from_sequence(o, w))
        return true;
    weights_close(w);
    return false;
}

void weights_close(Weights *w)
{
    free(w->owned);
    w->owned = NULL;
    if (w->buffer.obj != NULL) PyBuffer_Release(&w->buffer);
}
