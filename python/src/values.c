/* The values of a map: any column of integers from 0 to 2**32 - 1 becomes an array of uint32_t. */
#include "bulk.h"

/* Rows that are converted without the GIL before signal handlers run. */
#define PIECE ((size_t)1 << 18)

typedef struct Packed {
    uint32_t *at;
    size_t n, room;
    uint64_t most; /* a greater value is not allowed */
    uint32_t all;  /* the bits that any value has */
} Packed;

static bool raise_range(const Packed *p, size_t row)
{
    PyErr_Format(PyExc_OverflowError, "row %zu: a value is from 0 to %llu", row,
                 (unsigned long long)p->most);
    return false;
}

static bool grow(Packed *p, size_t rows)
{
    if (rows <= p->room) return true;
    size_t room = p->room + p->room / 2 + 64;
    if (room < rows) room = rows;
    uint32_t *bigger =
        room <= PY_SSIZE_T_MAX / sizeof *p->at ? realloc(p->at, room * sizeof *p->at) : NULL;
    if (bigger == NULL) {
        PyErr_NoMemory();
        return false;
    }
    p->at = bigger;
    p->room = room;
    return true;
}

/* --- Arrays of integers ----------------------------------------------------------------------- */

typedef enum Trouble { NO_TROUBLE, MISSING, OUTSIDE } Trouble;

static bool is_null(const Source *s, size_t row)
{
    const size_t bit = s->first + row;
    return s->validity != NULL && (s->validity[bit / 8] >> bit % 8 & 1) == 0;
}

/* Takes the rows from s->next up to `end`, and stops before one that is not a value. No GIL. */
static Trouble pack_rows(Packed *p, Source *s, size_t end)
{
    for (; s->next < end; s->next++) {
        const char *at = s->data + (Py_ssize_t)s->next * s->stride;
        if (is_null(s, s->next)) return MISSING;
        /* One of 2**63 or more becomes negative. */
        const int64_t v = load_int(at, s->width, s->is_signed, s->is_swapped);
        if (v < 0 || (uint64_t)v > p->most) return OUTSIDE;
        p->at[p->n++] = (uint32_t)v;
        p->all |= (uint32_t)v;
    }
    return NO_TROUBLE;
}

static bool pack_array(Packed *p, Source *s)
{
    if (!grow(p, p->n + s->rows)) return false;
    while (s->next < s->rows) {
        Trouble trouble;
        const size_t end = s->rows - s->next < PIECE ? s->rows : s->next + PIECE;
        Py_BEGIN_ALLOW_THREADS
        trouble = pack_rows(p, s, end);
        Py_END_ALLOW_THREADS
        const size_t row = s->before + s->next;
        if (trouble == OUTSIDE) return raise_range(p, row);
        if (trouble == MISSING) PyErr_Format(PyExc_TypeError, "row %zu: the value is missing", row);
        if (trouble == MISSING || PyErr_CheckSignals() < 0) return false;
    }
    return true;
}

/* --- Objects ---------------------------------------------------------------------------------- */

static bool raise_no_value(PyObject *o)
{
    PyObject *name = name_of_type(o);
    if (name != NULL) PyErr_Format(PyExc_TypeError, "a value is an int, not %U", name);
    Py_XDECREF(name);
    return false;
}

/* May run Python code. */
static bool pack_object(Packed *p, PyObject *o, size_t row)
{
    int overflow;
    if (PyBool_Check(o) || !PyIndex_Check(o) || is_numpy_bool(o)) return raise_no_value(o);
    PyObject *integer = PyNumber_Index(o);
    if (integer == NULL) {
        if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
        PyErr_Clear(); /* an array of several numbers */
        return raise_no_value(o);
    }
    const long long v = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    if (v == -1 && PyErr_Occurred()) return false;
    if (overflow != 0 || v < 0 || (uint64_t)v > p->most) {
        raise_range(p, row);
        return false;
    }
    if (!grow(p, p->n + 1)) return false;
    p->at[p->n++] = (uint32_t)v;
    p->all |= (uint32_t)v;
    return true;
}

static bool pack_objects(Packed *p, Source *s)
{
    for (;; s->next++) {
        const size_t row = s->before + s->next;
        PyObject *o = objects_next(s);
        if (o == NULL) return !PyErr_Occurred();
        if (s->form != ITERATOR) Py_INCREF(o); /* its conversion may remove it from its list */
        const bool ok = pack_object(p, o, row);
        Py_DECREF(o);
        if (!ok && PyErr_ExceptionMatches(PyExc_TypeError)) name_row(row);
        if (!ok || (row % PIECE == 0 && PyErr_CheckSignals() < 0)) return false;
    }
}

/* --- All -------------------------------------------------------------------------------------- */

static bool pack(Packed *p, Source *s)
{
    const Handle any = {.encoding = TAMIS_KEYS_UNSTATED};
    int more;
    while ((more = source_more(&any, s)) > 0) {
        const bool objects = s->form == SEQUENCE || s->form == POINTERS || s->form == ITERATOR;
        if (!objects && s->form != INTS && s->rows > 0) {
            PyErr_SetString(PyExc_TypeError, "values are a column of integers");
            return false;
        }
        if (objects ? !pack_objects(p, s) : !pack_array(p, s)) return false;
        s->before += s->rows;
    }
    return more == 0;
}

static uint32_t count_bits(uint32_t v)
{
    uint32_t bits = 0;
    for (; v != 0; v >>= 1) bits++;
    return bits;
}

static PyObject *pack_values(PyObject *module, PyObject *args)
{
    (void)module;
    const Handle any = {.encoding = TAMIS_KEYS_UNSTATED};
    PyObject *values, *result = NULL;
    unsigned bits;
    Packed p = {.at = NULL};
    Source s;
    if (!PyArg_ParseTuple(args, "OI", &values, &bits)) return NULL;
    p.most = bits < 32 ? (UINT64_C(1) << bits) - 1 : UINT32_MAX;
    if (!source_open_any(&any, values, &s)) return NULL;
    if (pack(&p, &s))
        result = Py_BuildValue("(y#I)", p.n > 0 ? (const char *)p.at : "",
                               (Py_ssize_t)(p.n * sizeof *p.at), count_bits(p.all));
    source_close(&s);
    free(p.at);
    return result;
}

PyMethodDef value_functions[] = {
    {"pack_values", pack_values, METH_VARARGS,
     "pack_values($module, values, bits, /)\n--\n\nValues as uint32_t of at most so many bits, and "
     "how many bits they have."},
    {NULL, NULL, 0, NULL},
};
