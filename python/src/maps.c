/* The type MapHandle: keys with values. The class tamis.Map makes one of a column of keys and of
 * values that values.c has packed, and it never changes afterwards. */
#include "bulk.h"

/* --- Making ----------------------------------------------------------------------------------- */

typedef struct Filling {
    Task task;          /* the first member, because `run` gets only this */
    const char *values; /* n of uint32_t */
    size_t n;
    uint8_t *nulls; /* a bit for each of the n rows: not a key; NULL: no row is null */
} Filling;

/* Marks the rows of a part that are null. False: not enough memory. */
static bool mark_nulls(Filling *f, const Few *few, size_t row)
{
    if (few->n == few->taken) return true;
    if (f->nulls == NULL) f->nulls = calloc(f->n / 8 + 1, 1);
    if (f->nulls == NULL) return false;
    for (size_t i = 0, next = 0; i < few->taken; i++) {
        if (next < few->n && few->rows[next] == i)
            next++;
        else
            f->nulls[(row + i) / 8] |= (uint8_t)(1u << (row + i) % 8);
    }
    return true;
}

static bool raise_lengths(size_t keys, size_t values)
{
    PyErr_Format(PyExc_ValueError, "there are %zu keys, but %zu values", keys, values);
    return false;
}

/* The number of the keys was not known. */
static tamis_status too_many_keys(const Filling *f, tamis_error *why)
{
    *why = (tamis_error){.status = TAMIS_EINVAL};
    PyOS_snprintf(why->text, sizeof why->text, "there are more keys than the %zu values", f->n);
    return TAMIS_EINVAL;
}

static tamis_status run_fill(Task *k, const Part *p, size_t *done)
{
    Filling *f = (Filling *)(void *)k;
    Few few;
    uint32_t values[FEW];
    for (*done = 0; *done < p->c.rows; *done += few.taken) {
        const size_t row = k->row + *done;
        tamis_status s = few_from(p, *done, &few, &k->why);
        if (s != TAMIS_OK) return s;
        if (few.taken > f->n - row) return too_many_keys(f, &k->why);
        if (!mark_nulls(f, &few, row)) return TAMIS_ENOMEM;
        for (size_t i = 0; i < few.n; i++)
            memcpy(values + i, f->values + (row + few.rows[i]) * sizeof *values, sizeof *values);
        s = tamis_add_value_many(k->h->t, few.keys, values, few.n, NULL, &k->why);
        if (s != TAMIS_OK) return s;
    }
    return TAMIS_OK;
}

/* The row of an add. */
static size_t row_of_add(const Filling *f, uint64_t add)
{
    size_t row = 0;
    for (; row < f->n; row++) {
        const bool null = f->nulls != NULL && (f->nulls[row / 8] >> row % 8 & 1) != 0;
        if (!null && add-- == 0) break;
    }
    return row;
}

/* The reason of the library numbers the adds, and these are rows. */
static void raise_two_values(const Filling *f, uint64_t add)
{
    tamis_error why = {.status = TAMIS_EINVAL};
    const size_t row = row_of_add(f, add);
    uint32_t value = 0;
    if (row < f->n) memcpy(&value, f->values + row * sizeof value, sizeof value);
    why.offset = row;
    PyOS_snprintf(why.text, sizeof why.text,
                  "the key has the value %lu, but another value in a row before",
                  (unsigned long)value);
    raise_status_of_row(TAMIS_EINVAL, &why, row);
}

static bool seal_filled(const Filling *f)
{
    Handle *h = f->task.h;
    tamis_error why;
    tamis_status s;
    if (!lock_enter(h, CHANGES)) return false;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_seal(h->t, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, CHANGES);
    if (s == TAMIS_OK) {
        handle_refresh(h);
        return true;
    }
    if (s == TAMIS_EINVAL && why.offset != 0) /* only then is it a key that came before */
        raise_two_values(f, why.offset);
    else
        raise_status(s, &why, NULL);
    return false;
}

/* Adds the keys with their values, and seals the map. After a failure it has to be closed. */
static PyObject *fill(PyObject *self, PyObject *args)
{
    Filling f = {.task = {.h = (Handle *)self, .access = ADDS, .run = run_fill}};
    PyObject *keys;
    Py_ssize_t bytes;
    Source s;
    if (!PyArg_ParseTuple(args, "Oy#", &keys, &f.values, &bytes)) return NULL;
    f.n = (size_t)bytes / sizeof(uint32_t);
    if (!source_open(f.task.h, keys, &s)) return NULL;
    bool ok = s.is_open || s.rows == f.n || raise_lengths(s.rows, f.n);
    ok = ok && bulk_run(&f.task, &s);
    source_close(&s);
    ok = ok && (f.task.row == f.n || raise_lengths(f.task.row, f.n)) && seal_filled(&f);
    free(f.nulls);
    if (!ok) return NULL;
    Py_RETURN_NONE;
}

/* --- One key ---------------------------------------------------------------------------------- */

/* Sets *value; TAMIS_EABSENT: the key is not a member. Any other failure has raised. */
static tamis_status value_of(Handle *h, PyObject *key, uint32_t *value)
{
    tamis_status s = TAMIS_EINVAL;
    tamis_error why;
    Key k;
    if (!key_from(h, key, &k)) return TAMIS_EINVAL;
    if (single_ready(h, READS)) {
        s = tamis_value(h->t, k.p, k.len, value);
        if (s != TAMIS_OK && s != TAMIS_EABSENT) { /* which has no place for a reason */
            const tamis_bytes one = {k.p, k.len};
            s = tamis_value_many(h->t, &one, 1, value, NULL, &why);
            if (s != TAMIS_OK) raise_status(s, &why, NULL);
        }
    }
    key_done(&k);
    return s;
}

static PyObject *subscript(PyObject *self, PyObject *key)
{
    uint32_t value;
    const tamis_status s = value_of((Handle *)self, key, &value);
    if (s == TAMIS_OK) return PyLong_FromUnsignedLong(value);
    if (s == TAMIS_EABSENT) raise_absent(key);
    return NULL;
}

/* The arguments (key, default=None), of which `default` may have a name. */
static PyObject *get(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    const Py_ssize_t named = names != NULL ? PyTuple_Size(names) : 0;
    uint32_t value;
    if (n < 1 || n + named > 2) {
        PyErr_SetString(PyExc_TypeError, "get() takes a key and a default");
        return NULL;
    }
    if (named == 1) {
        PyObject *name = PyTuple_GetItem(names, 0);
        if (PyUnicode_CompareWithASCIIString(name, "default") != 0) {
            PyErr_Format(PyExc_TypeError, "get() does not take the argument %R", name);
            return NULL;
        }
    }
    const tamis_status s = value_of((Handle *)self, args[0], &value);
    if (s == TAMIS_OK) return PyLong_FromUnsignedLong(value);
    if (s != TAMIS_EABSENT) return NULL;
    PyObject *otherwise = n + named == 2 ? args[1] : Py_None;
    Py_INCREF(otherwise);
    return otherwise;
}

/* --- Many keys -------------------------------------------------------------------------------- */

/* The answer of a key that is certainly not a member, until the answers are complete. */
#define NO_VALUE (-1)

static tamis_status run_lookup(Task *k, const Part *p, size_t *done)
{
    int64_t *to = (int64_t *)(void *)k->out.data + k->row;
    Few few;
    uint32_t values[FEW];
    uint8_t found[FEW / 8];
    for (size_t at = 0; at < p->c.rows; at += few.taken, to += few.taken) {
        tamis_status s = few_from(p, at, &few, &k->why);
        if (s == TAMIS_OK) s = tamis_value_many(k->h->t, few.keys, few.n, values, found, &k->why);
        if (s != TAMIS_OK) return s;
        for (size_t i = 0; i < few.taken; i++) to[i] = NO_VALUE;
        for (size_t i = 0; i < few.n; i++)
            if ((found[i / 8] >> i % 8 & 1) != 0) to[few.rows[i]] = values[i];
    }
    *done = p->c.rows;
    return TAMIS_OK;
}

/* The values and, as a second answer of each row, whether there is one. */
static PyObject *finish_both(Task *k, const Source *s)
{
    int64_t *values = (int64_t *)(void *)k->out.data;
    Output found;
    PyObject *both = NULL;
    if (!output_open(&found, s, "?", 1)) return NULL;
    if (output_reserve(&found, k->row)) {
        for (size_t i = 0; i < k->row; i++) {
            found.data[i] = values[i] != NO_VALUE;
            if (values[i] == NO_VALUE) values[i] = 0;
        }
        PyObject *first = output_finish(&k->out, k->row);
        PyObject *second = first != NULL ? output_finish(&found, k->row) : NULL;
        if (second != NULL) both = PyTuple_Pack(2, first, second);
        Py_XDECREF(first);
        Py_XDECREF(second);
    }
    output_close(&found);
    return both;
}

static PyObject *lookup(PyObject *self, PyObject *keys)
{
    Task k = {.h = (Handle *)self, .access = READS, .run = run_lookup, .answers_rows = true};
    PyObject *both = NULL;
    Source s;
    if (!source_open(k.h, keys, &s)) return NULL;
    if (output_open(&k.out, &s, "i8", sizeof(int64_t))) {
        if (bulk_run(&k, &s)) both = finish_both(&k, &s);
        output_close(&k.out);
    }
    source_close(&s);
    return both;
}

static PyMethodDef methods[] = {
    {"_fill", fill, METH_VARARGS, NULL},
    {"get", (PyCFunction)(void (*)(void))get, METH_FASTCALL | METH_KEYWORDS,
     "get($self, key, /, default=None)\n--\n\nReturns the value of a key, or the default.\n\n"
     "The default is for keys that are certainly not members: see __getitem__."},
    {"lookup", lookup, METH_O,
     "lookup($self, keys, /)\n--\n\nReturns the values of many keys, and whether each may be a "
     "member.\n\n"
     "The value of a key that is certainly not a member is 0. Both answers are numpy arrays, of\n"
     "int64 and of bool, if keys is an array and numpy is installed, and otherwise lists."},
    {NULL, NULL, 0, NULL},
};

PyType_Slot map_slots[] = {
    {Py_tp_methods, methods},
    {Py_tp_doc, "A Handle of a map."},
    {Py_mp_subscript, subscript},
    {0, NULL},
};
