/* One Python object becomes the bytes of a key, by the rules of docs/KEYS.md. */
#include "binding.h"

static const char digit_pairs[201] = "00010203040506070809101112131415161718192021222324"
                                     "25262728293031323334353637383940414243444546474849"
                                     "50515253545556575859606162636465666768697071727374"
                                     "75767778798081828384858687888990919293949596979899";

static size_t count_digits(uint64_t v)
{
    static const uint64_t powers[20] = {0,
                                        10,
                                        100,
                                        1000,
                                        10000,
                                        100000,
                                        1000000,
                                        10000000,
                                        100000000,
                                        1000000000,
                                        10000000000,
                                        100000000000,
                                        1000000000000,
                                        10000000000000,
                                        100000000000000,
                                        1000000000000000,
                                        10000000000000000,
                                        100000000000000000,
                                        1000000000000000000,
                                        10000000000000000000u};
    /* 1233 / 4096 is log10(2), from below: the guess is right or one too small. */
    const unsigned bits = 64 - (unsigned)__builtin_clzll(v | 1);
    const size_t guess = bits * 1233 >> 12;
    return guess + (v >= powers[guess] ? 1 : 0);
}

size_t decimal_u64(uint64_t v, char *out)
{
    const size_t n = count_digits(v);
    size_t at = n;
    while (v >= 100) {
        const unsigned pair = (unsigned)(v % 100);
        v /= 100;
        at -= 2;
        memcpy(out + at, digit_pairs + 2 * (size_t)pair, 2);
    }
    if (v >= 10)
        memcpy(out, digit_pairs + 2 * (size_t)v, 2);
    else
        out[0] = (char)('0' + v);
    return n;
}

size_t decimal_i64(int64_t v, char *out)
{
    if (v >= 0) return decimal_u64((uint64_t)v, out);
    *out = '-';
    return 1 + decimal_u64(0 - (uint64_t)v, out + 1);
}

void bytes_of_i64(int64_t v, char out[8])
{
    for (int i = 0; i < 8; i++) out[i] = (char)((uint64_t)v >> 8 * i & 0xff);
}

/* --- What the encoding of the filter excludes ------------------------------------------------- */

void raise_wrong_sort(const Handle *h, const char *what)
{
    const char *wants = h->encoding == TAMIS_KEYS_INT64    ? "int, or bytes of length 8"
                        : h->encoding == TAMIS_KEYS_FIXED  ? "bytes or str"
                        : h->encoding == TAMIS_KEYS_SHA256 ? "bytes of length 32"
                                                           : "bytes";
    PyErr_Format(PyExc_TypeError, "the keys of this object are %s: a key is %s, not %s",
                 tamis_encoding_name(h->encoding), wants, what);
}

bool check_width(const Handle *h, size_t len)
{
    if (h->width == 0 || len == h->width) return true;
    tamis_error why = {.status = TAMIS_EINVAL};
    PyOS_snprintf(why.text, sizeof why.text, "a key of this object has %lu bytes, not %zu",
                  (unsigned long)h->width, len);
    raise_status(TAMIS_EINVAL, &why, NULL);
    return false;
}

bool check_hashes(Handle *h)
{
    if (h->keyless) {
        tamis_error why = {.status = TAMIS_EKEY};
        PyOS_snprintf(why.text, sizeof why.text,
                      "this object was made with a secret key, which is missing; call unlock(key)");
        raise_status(TAMIS_EKEY, &why, NULL);
        return false;
    }
    if (h->caller_hashes) {
        tamis_error why = {.status = TAMIS_EUNSUPPORTED};
        PyOS_snprintf(why.text, sizeof why.text,
                      "this object holds hashes that its maker computed, so it takes no keys");
        raise_status(TAMIS_EUNSUPPORTED, &why, NULL);
        return false;
    }
    return true;
}

/* --- One object ------------------------------------------------------------------------------- */

static bool from_str(const Handle *h, PyObject *o, Key *k)
{
    if (h->encoding != TAMIS_KEYS_UNSTATED && h->encoding != TAMIS_KEYS_TEXT &&
        h->encoding != TAMIS_KEYS_FIXED && h->encoding <= TAMIS_KEYS_CALLER) {
        raise_wrong_sort(h, "str");
        return false;
    }
    Py_ssize_t n;
    k->p = PyUnicode_AsUTF8AndSize(o, &n);
    k->len = (size_t)n;
    return k->p != NULL;
}

/* An integer of any size, of type int. */
static bool from_int(const Handle *h, PyObject *o, Key *k)
{
    int overflow;
    const long long v = PyLong_AsLongLongAndOverflow(o, &overflow);
    if (v == -1 && PyErr_Occurred()) return false;
    k->p = k->text;
    if (h->encoding == TAMIS_KEYS_INT64) {
        if (overflow != 0) {
            PyErr_SetString(PyExc_OverflowError, "an int64le key is from -2**63 to 2**63 - 1");
            return false;
        }
        bytes_of_i64(v, k->text);
        k->len = 8;
        return true;
    }
    if (h->encoding > TAMIS_KEYS_TEXT && h->encoding <= TAMIS_KEYS_CALLER) {
        raise_wrong_sort(h, "int");
        return false;
    }
    if (overflow == 0) {
        k->len = decimal_i64(v, k->text);
        return true;
    }
    k->owner = PyNumber_ToBase(o, 10);
    Py_ssize_t n = 0;
    k->p = k->owner != NULL ? PyUnicode_AsUTF8AndSize(k->owner, &n) : NULL;
    k->len = (size_t)n;
    return k->p != NULL;
}

static bool from_buffer(PyObject *o, Key *k)
{
    if (PyObject_GetBuffer(o, &k->buffer, PyBUF_SIMPLE) == 0) {
        k->p = k->buffer.buf;
        k->len = (size_t)k->buffer.len;
        return true;
    }
    if (!PyErr_ExceptionMatches(PyExc_BufferError)) return false;
    PyErr_Clear(); /* it is not contiguous */
    k->owner = PyBytes_FromObject(o);
    if (k->owner == NULL) return false;
    k->p = PyBytes_AsString(k->owner);
    k->len = (size_t)PyBytes_Size(k->owner);
    return true;
}

static bool is_missing(PyObject *o, PyObject *type_name)
{
    if (o == Py_None) return true;
    if (PyFloat_Check(o)) {
        const double v = PyFloat_AsDouble(o);
        return v != v;
    }
    return PyUnicode_CompareWithASCIIString(type_name, "NAType") == 0 ||
           PyUnicode_CompareWithASCIIString(type_name, "NaTType") == 0;
}

bool is_numpy_bool(PyObject *o)
{
    PyObject *name = name_of_type(o);
    const bool yes = name != NULL && (PyUnicode_CompareWithASCIIString(name, "bool_") == 0 ||
                                      PyUnicode_CompareWithASCIIString(name, "bool") == 0);
    if (name == NULL) PyErr_Clear();
    Py_XDECREF(name);
    return yes;
}

static void raise_no_key(PyObject *o)
{
    PyObject *name = name_of_type(o);
    if (name == NULL) return;
    if (is_missing(o, name))
        PyErr_Format(PyExc_TypeError,
                     "a key is str, bytes or int, and this one is missing (%S); leave missing "
                     "values out, for example with dropna()",
                     o);
    else if (PyBool_Check(o) || is_numpy_bool(o))
        PyErr_Format(PyExc_TypeError,
                     "a key is str, bytes or int, not %U; convert it with int() or str()", name);
    else
        PyErr_Format(PyExc_TypeError,
                     "a key is str, bytes or int, not %U; convert it with str() or format it",
                     name);
    Py_DECREF(name);
}

/* Subclasses of str, bytes and int, other integers, and buffers. May run Python code. */
static bool from_other(const Handle *h, PyObject *o, Key *k)
{
    if (PyBool_Check(o)) {
        raise_no_key(o);
        return false;
    }
    if (PyUnicode_Check(o)) return from_str(h, o, k);
    if (PyLong_Check(o)) return from_int(h, o, k);
    if (PyBytes_Check(o) || PyByteArray_Check(o) || PyMemoryView_Check(o)) return from_buffer(o, k);
    if (!PyIndex_Check(o) || is_numpy_bool(o)) {
        raise_no_key(o);
        return false;
    }
    PyObject *integer = PyNumber_Index(o);
    if (integer == NULL) {
        if (PyErr_ExceptionMatches(PyExc_TypeError)) { /* an array of several numbers */
            PyErr_Clear();
            raise_no_key(o);
        }
        return false;
    }
    const bool ok = from_int(h, integer, k);
    Py_DECREF(integer); /* the key has the text of it */
    return ok;
}

bool key_from(const Handle *h, PyObject *o, Key *k)
{
    bool ok;
    k->owner = NULL;
    k->buffer.obj = NULL;
    if (PyUnicode_CheckExact(o)) {
        ok = from_str(h, o, k);
    } else if (PyLong_CheckExact(o)) {
        ok = from_int(h, o, k);
    } else if (PyBytes_CheckExact(o)) {
        k->p = PyBytes_AsString(o);
        k->len = (size_t)PyBytes_Size(o);
        ok = true;
    } else {
        ok = from_other(h, o, k);
    }
    if (ok && (h->width == 0 || check_width(h, k->len))) return true;
    key_done(k);
    return false;
}

void key_done(Key *k)
{
    if (k->owner != NULL) Py_CLEAR(k->owner);
    if (k->buffer.obj != NULL) PyBuffer_Release(&k->buffer);
}
