/* What the argument `keys` of a bulk call is: a list, a column, or anything else to iterate. */
#include "bulk.h"

static void raise_not_many(PyObject *keys)
{
    PyObject *name = name_of_type(keys);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError,
                     "many keys are needed, and a %U is one key; pass [key], or call the method "
                     "for one key",
                     name);
    Py_XDECREF(name);
}

/* A memoryview of bytes is a key. */
static bool is_one_key(PyObject *o)
{
    if (PyUnicode_Check(o) || PyBytes_Check(o) || PyByteArray_Check(o)) return true;
    if (!PyMemoryView_Check(o)) return false;
    Py_buffer b;
    if (PyObject_GetBuffer(o, &b, PyBUF_FULL_RO) < 0) {
        PyErr_Clear();
        return false;
    }
    const bool is_bytes = b.format == NULL || strcmp(b.format, "B") == 0 ||
                          strcmp(b.format, "b") == 0 || strcmp(b.format, "c") == 0;
    PyBuffer_Release(&b);
    return is_bytes;
}

static bool is_of_pandas(PyObject *o)
{
    PyObject *module = PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__module__");
    const char *name =
        module != NULL && PyUnicode_Check(module) ? PyUnicode_AsUTF8AndSize(module, NULL) : NULL;
    const bool yes = name != NULL && strncmp(name, "pandas.", 7) == 0;
    Py_XDECREF(module);
    if (PyErr_Occurred()) PyErr_Clear();
    return yes;
}

static bool sequence_open(PyObject *keys, Source *s)
{
    s->form = SEQUENCE;
    s->is_list = PyList_Check(keys);
    s->rows = (size_t)(s->is_list ? PyList_Size(keys) : PyTuple_Size(keys));
    Py_INCREF(keys);
    s->object = keys;
    return true;
}

static bool iterator_open(PyObject *keys, Source *s)
{
    s->form = ITERATOR;
    s->is_open = true;
    s->object = PyObject_GetIter(keys);
    if (s->object != NULL) return true;
    if (!PyErr_ExceptionMatches(PyExc_TypeError)) return false;
    PyErr_Clear();
    if (PyLong_Check(keys) || keys == Py_None) {
        raise_not_many(keys);
        return false;
    }
    PyObject *name = name_of_type(keys);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError,
                     "keys are a list, an array, a column or another iterable, not %U", name);
    Py_XDECREF(name);
    return false;
}

/* tamis._columns makes a numpy array of a pandas object and similar. */
static bool array_open(const Handle *h, PyObject *keys, Source *s)
{
    PyObject *module = PyImport_ImportModule("tamis._columns");
    PyObject *array = NULL;
    if (module != NULL) array = PyObject_CallMethod(module, "as_array", "O", keys);
    Py_XDECREF(module);
    if (array == NULL) return false;
    bool ok;
    if (PyObject_CheckBuffer(array))
        ok = buffer_open(h, array, s);
    else
        ok = PyList_Check(array) ? sequence_open(array, s) : iterator_open(array, s);
    s->is_array = true;
    Py_DECREF(array); /* the buffer has a reference */
    return ok;
}

static bool choose(const Handle *h, PyObject *keys, Source *s)
{
    if (PyList_Check(keys) || PyTuple_Check(keys)) return sequence_open(keys, s);
    if (is_one_key(keys)) {
        raise_not_many(keys);
        return false;
    }
    if (PyObject_TypeCheck(keys, handle_type)) {
        PyErr_SetString(PyExc_TypeError, "a filter or a sketch has no keys to list; call merge()");
        return false;
    }
    if (PyObject_CheckBuffer(keys)) return buffer_open(h, keys, s);
    if (PyDict_Check(keys) || PyAnySet_Check(keys) || PyIter_Check(keys))
        return iterator_open(keys, s);
    if (is_of_pandas(keys)) return array_open(h, keys, s);
    if (PyObject_HasAttrString(keys, "__arrow_c_array__")) return arrow_open(h, keys, false, s);
    if (PyObject_HasAttrString(keys, "__arrow_c_stream__")) return arrow_open(h, keys, true, s);
    if (PyObject_HasAttrString(keys, "__array__")) return array_open(h, keys, s);
    return iterator_open(keys, s);
}

bool source_open(Handle *h, PyObject *keys, Source *s)
{
    *s = (Source){.form = SEQUENCE};
    if (h->t == NULL) {
        raise_closed(h);
        return false;
    }
    return check_hashes(h) && source_open_any(h, keys, s);
}

bool source_open_any(const Handle *h, PyObject *keys, Source *s)
{
    *s = (Source){.form = SEQUENCE};
    if (choose(h, keys, s)) return true;
    source_close(s);
    return false;
}

int source_more(const Handle *h, Source *s)
{
    if (s->arrow != NULL) return arrow_more(h, s);
    const int more = s->started ? 0 : 1;
    s->started = true;
    return more;
}

/* What exported the rows may run Python code when they are released, which must not change the
 * exception that is set. */
void source_close(Source *s)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    if (s->arrow != NULL) arrow_close(s);
    if (s->buffer.obj != NULL) PyBuffer_Release(&s->buffer);
    Py_CLEAR(s->object);
    PyErr_Restore(type, value, trace);
}

void source_raise(const Handle *h, const Source *s)
{
    const size_t row = s->before + s->next;
    switch (s->fault) {
    case BAD_WIDTH:
        check_width(h, s->fault_length);
        name_row(row);
        return;
    case BAD_RANGE:
        PyErr_Format(PyExc_OverflowError, "row %zu: an int64le key is from -2**63 to 2**63 - 1",
                     row);
        return;
    case BAD_CHARACTER:
        PyErr_Format(PyExc_ValueError,
                     "row %zu: the string has a surrogate, which UTF-8 cannot encode", row);
        return;
    case BAD_VIEW:
        PyErr_Format(PyExc_ValueError, "row %zu: the string is not within its Arrow buffer", row);
        return;
    default: PyErr_NoMemory(); return;
    }
}
