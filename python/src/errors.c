/* Exceptions. tamis._errors has the classes, and a function that chooses one by the status. */
#include "binding.h"

static PyObject *reason_of(tamis_status s, const tamis_error *why)
{
    const char *text = why != NULL && why->text[0] != '\0' ? why->text : tamis_status_message(s);
    return PyUnicode_DecodeUTF8(text, (Py_ssize_t)strlen(text), "replace");
}

/* Takes the reference to reason, which may be NULL with an exception set. */
static void raise_reason(tamis_status s, const tamis_error *why, PyObject *reason, PyObject *path)
{
    PyObject *module = reason != NULL ? PyImport_ImportModule("tamis._errors") : NULL;
    PyObject *made = NULL;
    if (module != NULL) {
        const int os = why != NULL ? why->os : 0;
        const unsigned long long offset = why != NULL ? why->offset : 0;
        const char *better = why != NULL ? tamis_kind_name(why->better_kind) : NULL;
        made = PyObject_CallMethod(module, "make", "iOiKzO", (int)s, reason, os, offset, better,
                                   path != NULL ? path : Py_None);
    }
    if (made != NULL) PyErr_SetObject((PyObject *)Py_TYPE(made), made);
    Py_XDECREF(made);
    Py_XDECREF(module);
    Py_XDECREF(reason);
}

void raise_status(tamis_status s, const tamis_error *why, PyObject *path)
{
    raise_reason(s, why, reason_of(s, why), path);
}

void raise_status_of_row(tamis_status s, const tamis_error *why, size_t row)
{
    PyObject *reason = reason_of(s, why), *with_row = NULL;
    if (reason != NULL) with_row = PyUnicode_FromFormat("row %zu: %U", row, reason);
    Py_XDECREF(reason);
    raise_reason(s, why, with_row, NULL);
}

void raise_absent(PyObject *key)
{
    raise_reason(TAMIS_EABSENT, NULL,
                 PyUnicode_FromFormat("the key %R is certainly not a member", key), NULL);
}

PyObject *name_of_type(PyObject *o)
{
    return PyObject_GetAttrString((PyObject *)Py_TYPE(o), "__name__");
}

/* A UnicodeEncodeError has its reason in an attribute, and so has a tamis.Error. */
static void name_row_in_reason(PyObject *value, size_t row)
{
    PyObject *reason = PyObject_GetAttrString(value, "reason"), *longer = NULL;
    if (reason != NULL && PyUnicode_Check(reason))
        longer = PyUnicode_FromFormat("%U, in row %zu", reason, row);
    if (longer == NULL || PyObject_SetAttrString(value, "reason", longer) < 0) PyErr_Clear();
    Py_XDECREF(longer);
    Py_XDECREF(reason);
}

void name_row(size_t row)
{
    PyObject *type, *value, *trace;
    const bool plain =
        PyErr_ExceptionMatches(PyExc_TypeError) || PyErr_ExceptionMatches(PyExc_OverflowError);
    if (!plain && !PyErr_ExceptionMatches(PyExc_ValueError)) return;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (type == PyExc_TypeError || type == PyExc_OverflowError || type == PyExc_ValueError) {
        PyErr_Format(type, "row %zu: %S", row, value);
        Py_XDECREF(type);
        Py_XDECREF(value);
        Py_XDECREF(trace);
    } else {
        name_row_in_reason(value, row);
        PyErr_Restore(type, value, trace);
    }
}
