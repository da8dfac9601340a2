/* Answers: a numpy array if the keys were an array and there is numpy, else a list. numpy is
 * reached by its Python functions and by the buffer protocol, so it is not needed to build. */
#include "bulk.h"

/* numpy.empty(n, dtype), or NULL without an exception if there is no numpy. */
static PyObject *numpy_empty(size_t n, const char *dtype)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    if (numpy == NULL) {
        if (PyErr_ExceptionMatches(PyExc_ImportError)) PyErr_Clear();
        return NULL;
    }
    PyObject *array = PyObject_CallMethod(numpy, "empty", "ns", (Py_ssize_t)n, dtype);
    Py_DECREF(numpy);
    return array;
}

/* The array as memory to be written; on failure o->array is NULL. */
static bool open_array(Output *o, size_t n)
{
    o->array = numpy_empty(n, o->dtype);
    if (o->array == NULL) return !PyErr_Occurred();
    if (PyObject_GetBuffer(o->array, &o->view, PyBUF_WRITABLE) == 0) return true;
    Py_CLEAR(o->array);
    return false;
}

static void close_array(Output *o)
{
    if (o->array == NULL) return;
    PyBuffer_Release(&o->view);
    Py_CLEAR(o->array);
}

bool output_open(Output *o, const Source *s, const char *dtype, size_t item)
{
    *o = (Output){.dtype = dtype, .item = item, .wants_array = s->is_array};
    if (!s->is_array || s->is_open || dtype == NULL) return true;
    if (!open_array(o, s->rows)) return false;
    if (o->array == NULL) return true;
    o->data = o->view.buf;
    o->room = s->rows;
    return true;
}

bool output_reserve(Output *o, size_t rows)
{
    if (rows <= o->room) return true;
    /* The rows were known, but were they as many? A list may have grown. */
    size_t room = o->room + o->room / 2;
    if (room < rows) room = rows;
    if (o->array != NULL || room > PY_SSIZE_T_MAX / o->item) {
        PyErr_NoMemory();
        return false;
    }
    char *bigger = realloc(o->data, room * o->item);
    if (bigger == NULL) {
        PyErr_NoMemory();
        return false;
    }
    o->data = bigger;
    o->room = room;
    return true;
}

static PyObject *answer(const Output *o, size_t i)
{
    int64_t number;
    if (o->item == 1) return PyBool_FromLong(o->data[i] != 0);
    memcpy(&number, o->data + i * o->item, sizeof number);
    return PyLong_FromLongLong(number);
}

static PyObject *make_list(const Output *o, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *one = answer(o, i);
        if (one == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, one);
    }
    return list;
}

PyObject *output_finish(Output *o, size_t n)
{
    if (o->array == NULL && o->wants_array) {
        if (!open_array(o, n)) return NULL;
        if (o->array != NULL && n > 0) memcpy(o->view.buf, o->data, n * o->item);
        if (o->array != NULL) {
            free(o->data);
            o->data = NULL;
        }
    }
    if (o->array == NULL) return make_list(o, n);
    PyObject *array = o->array;
    Py_INCREF(array);
    close_array(o);
    o->data = NULL;
    return array;
}

static size_t count_rows(const Output *o, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++) found += o->data[i] != 0;
    return found;
}

/* Calls for eight answers at a time, because most are usually alike. */
static size_t next_row(const Output *o, size_t i, size_t n)
{
    for (; i + 8 <= n; i += 8) {
        uint64_t eight;
        memcpy(&eight, o->data + i, 8);
        if (eight != 0) break;
    }
    while (i < n && o->data[i] == 0) i++;
    return i;
}

static PyObject *list_rows(const Output *o, size_t n, size_t found)
{
    PyObject *list = PyList_New((Py_ssize_t)found);
    size_t row = 0;
    for (size_t i = 0; list != NULL && i < found; i++, row++) {
        row = next_row(o, row, n);
        PyObject *number = PyLong_FromSize_t(row);
        if (number == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, number);
    }
    return list;
}

PyObject *output_finish_rows(Output *o, size_t n)
{
    const size_t found = count_rows(o, n);
    if (!o->wants_array) return list_rows(o, n, found);
    Output rows = {.dtype = "i8"};
    if (!open_array(&rows, found)) return NULL;
    if (rows.array == NULL) return list_rows(o, n, found);
    int64_t *to = rows.view.buf;
    for (size_t i = next_row(o, 0, n); i < n; i = next_row(o, i + 1, n)) *to++ = (int64_t)i;
    PyObject *array = rows.array;
    Py_INCREF(array);
    close_array(&rows);
    return array;
}

void output_close(Output *o)
{
    if (o->array != NULL)
        close_array(o);
    else
        free(o->data);
    o->data = NULL;
}
