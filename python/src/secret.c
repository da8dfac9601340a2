/* Secret keys: tamis_key objects. Python code may ask for the bytes, to keep them; they are in no
 * repr and in no pickle. */
#include "binding.h"

#define SECRET_BYTES 16

typedef struct Secret {
    PyObject_HEAD
    tamis_key *key;
    uint8_t bytes[SECRET_BYTES];
} Secret;

PyTypeObject *secret_type;

static void wipe(void *p, size_t n)
{
    volatile uint8_t *at = p;
    while (n-- > 0) *at++ = 0;
}

static bool read_secret(PyObject *from, uint8_t out[SECRET_BYTES])
{
    Py_buffer b;
    if (PyUnicode_Check(from) || !PyObject_CheckBuffer(from)) {
        PyErr_SetString(PyExc_TypeError, "a secret key is a tamis.Key or 16 bytes");
        return false;
    }
    if (PyObject_GetBuffer(from, &b, PyBUF_SIMPLE) < 0) return false;
    const bool fits = b.len == SECRET_BYTES;
    if (fits)
        memcpy(out, b.buf, SECRET_BYTES);
    else
        PyErr_Format(PyExc_ValueError, "a secret key has 16 bytes, not %zd", b.len);
    PyBuffer_Release(&b);
    return fits;
}

static PyObject *secret_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    static char *names[] = {"secret", NULL};
    PyObject *from;
    tamis_error why;
    if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O", names, &from)) return NULL;
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    Secret *s = (Secret *)alloc(type, 0);
    if (s == NULL) return NULL;
    if (read_secret(from, s->bytes)) {
        const tamis_status status = tamis_key_new(s->bytes, NULL, &s->key, &why);
        if (status == TAMIS_OK) return (PyObject *)s;
        raise_status(status, &why, NULL);
    }
    Py_DECREF(s);
    return NULL;
}

static void secret_dealloc(PyObject *self)
{
    Secret *s = (Secret *)self;
    PyTypeObject *type = Py_TYPE(self);
    tamis_key_close(s->key);
    wipe(s->bytes, sizeof s->bytes);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *secret_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyBytes_FromStringAndSize((const char *)((Secret *)self)->bytes, SECRET_BYTES);
}

static PyObject *secret_reduce(PyObject *self, PyObject *unused)
{
    (void)self;
    (void)unused;
    PyErr_SetString(PyExc_TypeError, "a secret key is not pickled; hand its bytes over by a safe "
                                     "channel and make a tamis.Key of them");
    return NULL;
}

tamis_key *secret_key(PyObject *secret)
{
    return secret != NULL ? ((Secret *)secret)->key : NULL;
}

bool secret_from(PyObject *key, PyObject **out)
{
    *out = NULL;
    if (key == NULL || key == Py_None) return true;
    if (PyObject_TypeCheck(key, secret_type)) {
        Py_INCREF(key);
        *out = key;
        return true;
    }
    *out = PyObject_CallFunctionObjArgs((PyObject *)secret_type, key, NULL);
    return *out != NULL;
}

static PyMethodDef secret_methods[] = {
    {"__bytes__", secret_bytes, METH_NOARGS, "__bytes__($self, /)\n--\n\nThe 16 secret bytes."},
    {"__reduce__", secret_reduce, METH_NOARGS,
     "__reduce__($self, /)\n--\n\nFails: a secret key is not pickled."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot secret_slots[] = {
    {Py_tp_new, secret_new},
    {Py_tp_dealloc, secret_dealloc},
    {Py_tp_methods, secret_methods},
    {Py_tp_doc, "Secret(secret)\n--\n\nA secret key: 16 bytes for SipHash-2-4."},
    {0, NULL},
};

static PyType_Spec secret_spec = {
    .name = "tamis._tamis.Secret",
    .basicsize = (int)sizeof(Secret),
    .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .slots = secret_slots,
};

bool secret_register(PyObject *module)
{
    secret_type = (PyTypeObject *)PyType_FromModuleAndSpec(module, &secret_spec, NULL);
    if (secret_type == NULL) return false;
    Py_INCREF((PyObject *)secret_type);
    if (PyModule_AddObject(module, "Secret", (PyObject *)secret_type) == 0) return true;
    Py_DECREF(secret_type);
    return false;
}
