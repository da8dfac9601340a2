/* Python objects as keys: lists and tuples, arrays of objects, and iterators. The bytes of each key
 * are copied, so that nothing depends on an object after the next one was taken, whose conversion
 * may run Python code. */
#include "bulk.h"

/* A batch ends when it has this many bytes. */
#define ENOUGH_BYTES ((size_t)1 << 20)

PyObject *objects_next(const Source *s)
{
    PyObject *o;
    if (s->form == ITERATOR) return PyIter_Next(s->object);
    if (s->next >= s->rows) return NULL;
    if (s->form == POINTERS) {
        memcpy(&o, s->data + (Py_ssize_t)s->next * s->stride, sizeof o);
        return o != NULL ? o : Py_None; /* numpy: an element that was never set */
    }
    if (!s->is_list) return PyTuple_GetItem(s->object, (Py_ssize_t)s->next);
    o = PyList_GetItem(s->object, (Py_ssize_t)s->next);
    if (o == NULL) PyErr_Clear(); /* the list has shrunk */
    return o;
}

static bool put_bytes(Text *t, const char *p, size_t len)
{
    if (text_put(t, p, len)) return true;
    PyErr_NoMemory();
    return false;
}

static bool put_other(Handle *h, Text *t, PyObject *o)
{
    Key k;
    bool ok;
    Py_INCREF(o); /* its conversion may remove it from its list */
    ok = key_from(h, o, &k);
    if (ok) {
        ok = put_bytes(t, k.p, k.len);
        key_done(&k);
    }
    Py_DECREF(o);
    return ok;
}

/* `plain`: a str is its UTF-8, and an int its decimal text. */
static bool put_object(Handle *h, Text *t, PyObject *o, bool plain)
{
    if (plain && PyUnicode_CheckExact(o)) {
        Py_ssize_t n;
        const char *p = PyUnicode_AsUTF8AndSize(o, &n);
        return p != NULL && put_bytes(t, p, (size_t)n);
    }
    if (plain && PyLong_CheckExact(o)) {
        char digits[24];
        int overflow;
        const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
        if (overflow == 0) return put_bytes(t, digits, decimal_i64(v, digits));
    }
    return put_other(h, t, o);
}

bool objects_fill(Handle *h, Text *t, Source *s, bool *ended)
{
    const bool plain = h->encoding <= TAMIS_KEYS_TEXT;
    text_clear(t);
    *ended = false;
    while (t->rows < t->most && t->used < ENOUGH_BYTES) {
        PyObject *o = objects_next(s);
        if (o == NULL) {
            *ended = true;
            return !PyErr_Occurred();
        }
        const bool ok = put_object(h, t, o, plain);
        if (s->form == ITERATOR) Py_DECREF(o);
        if (!ok) {
            name_row(s->before + s->next);
            return false;
        }
        s->next++;
    }
    return true;
}
