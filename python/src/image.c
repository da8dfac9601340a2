/* Images in memory: to bytes, from bytes, and views. */
#include "binding.h"

#define VIEW_ALIGNMENT 64u

static const char packed_magic[8] = "\x89TAMPK\r\n";

/* --- To bytes --------------------------------------------------------------------------------- */

typedef struct Sink {
    char *at;
    size_t room;
} Sink;

static tamis_status put(void *ctx, const void *bytes, size_t n)
{
    Sink *s = ctx;
    if (n > s->room) return TAMIS_ENOMEM; /* it has grown meanwhile */
    memcpy(s->at, bytes, n);
    s->at += n;
    s->room -= n;
    return TAMIS_OK;
}

/* A view in the caller's room cannot write itself, but it has its image. */
static bool has_image(const Handle *h)
{
    return h->image.obj != NULL;
}

/* Fails with TAMIS_ENOMEM if the image has grown since its size was taken. The handle is entered,
 * and the GIL is released. */
static tamis_status write_image(const Handle *h, Sink *to, tamis_error *why)
{
    if (!has_image(h)) return tamis_write(h->t, put, to, why);
    return put(to, h->image.buf, (size_t)h->image.len);
}

PyObject *image_bytes(Handle *h)
{
    if (!lock_enter(h, READS)) return NULL;
    const uint64_t size = has_image(h) ? (uint64_t)h->image.len : tamis_image_size(h->t);
    PyObject *bytes = NULL;
    tamis_status s = TAMIS_OK;
    tamis_error why;
    if (size > PY_SSIZE_T_MAX)
        PyErr_NoMemory();
    else
        bytes = PyBytes_FromStringAndSize(NULL, (Py_ssize_t)size);
    Sink to = {.at = bytes != NULL ? PyBytes_AsString(bytes) : NULL, .room = (size_t)size};
    if (bytes != NULL) {
        Py_BEGIN_ALLOW_THREADS
        s = write_image(h, &to, &why);
        Py_END_ALLOW_THREADS
    }
    lock_leave(h, READS);
    if (s == TAMIS_OK && to.room == 0) return bytes;
    if (bytes != NULL && s != TAMIS_OK) raise_status(s, &why, NULL);
    if (bytes != NULL && s == TAMIS_OK)
        PyErr_SetString(PyExc_RuntimeError, "the image is shorter than announced");
    Py_XDECREF(bytes);
    return NULL;
}

int image_getbuffer(PyObject *self, Py_buffer *view, int flags)
{
    if ((flags & PyBUF_WRITABLE) != 0) {
        PyErr_SetString(PyExc_BufferError, "the image is read-only");
        view->obj = NULL;
        return -1;
    }
    PyObject *bytes = image_bytes((Handle *)self);
    if (bytes == NULL) {
        view->obj = NULL;
        return -1;
    }
    const int failed = PyObject_GetBuffer(bytes, view, flags);
    Py_DECREF(bytes); /* the view has its own reference */
    return failed;
}

static PyObject *to_bytes(PyObject *self, PyObject *unused)
{
    (void)unused;
    return image_bytes((Handle *)self);
}

/* --- Packed bytes, whose length is not known before ------------------------------------------- */

typedef struct Growing {
    char *bytes;
    size_t used, room;
} Growing;

static tamis_status put_growing(void *ctx, const void *bytes, size_t n)
{
    Growing *g = ctx;
    if (n > g->room - g->used) {
        size_t room = g->room + g->room / 2 + n;
        char *bigger = realloc(g->bytes, room);
        if (bigger == NULL) return TAMIS_ENOMEM;
        g->bytes = bigger;
        g->room = room;
    }
    memcpy(g->bytes + g->used, bytes, n);
    g->used += n;
    return TAMIS_OK;
}

static PyObject *to_packed(PyObject *self, PyObject *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    Growing g = {NULL, 0, 0};
    tamis_error why;
    tamis_status s;
    PyObject *bytes = NULL;
    if (!lock_enter(h, READS)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_pack(h->t, put_growing, &g, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, READS);
    if (s != TAMIS_OK)
        raise_status(s, &why, NULL);
    else
        bytes = PyBytes_FromStringAndSize(g.bytes, (Py_ssize_t)g.used);
    free(g.bytes);
    return bytes;
}

/* --- From bytes ------------------------------------------------------------------------------- */

static bool is_packed(const Py_buffer *b)
{
    return (size_t)b->len >= sizeof packed_magic &&
           memcmp(b->buf, packed_magic, sizeof packed_magic) == 0;
}

static bool get_image(PyObject *from, Py_buffer *b)
{
    if (PyUnicode_Check(from)) {
        PyErr_SetString(PyExc_TypeError, "an image is bytes, not str; tamis.open() takes a path");
        return false;
    }
    return PyObject_GetBuffer(from, b, PyBUF_SIMPLE) == 0;
}

static PyObject *load(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *classes, *from, *dict;
    Options o;
    Py_buffer b;
    tamis_error why;
    tamis *t;
    tamis_status s;
    Handle *h = NULL;
    if (!PyArg_ParseTuple(args, "O!OO!", &PyDict_Type, &classes, &from, &PyDict_Type, &dict))
        return NULL;
    if (!options_from(dict, &o)) return NULL;
    if (get_image(from, &b)) {
        Py_BEGIN_ALLOW_THREADS
        s = is_packed(&b) ? tamis_unpack(b.buf, (size_t)b.len, &o.c, &t, &why)
                          : tamis_load(b.buf, (size_t)b.len, &o.c, &t, &why);
        Py_END_ALLOW_THREADS
        PyBuffer_Release(&b);
        if (s == TAMIS_OK)
            h = handle_wrap(classes, t, o.secret, &o.c);
        else
            raise_status(s, &why, NULL);
    }
    options_done(&o);
    return (PyObject *)h;
}

/* --- Views ------------------------------------------------------------------------------------
 * tamis_view needs an aligned image. A filter at another place is viewed by tamis_view_at. Sketches
 * need memory to count, which such a view does not have, so they are copied to an aligned place. */

typedef struct View {
    tamis *t;
    void *room;      /* to be freed after t */
    bool has_copied; /* the buffer is not needed any more */
} View;

static tamis_status view_in_room(const Py_buffer *b, const tamis_options *o, View *v,
                                 tamis_error *why)
{
    size_t needed = 0;
    const size_t size = (size_t)b->len;
    tamis_status s = tamis_view_at(NULL, 0, b->buf, size, o, &needed, &v->t, why);
    if (s != TAMIS_ENOMEM || needed == 0) return s != TAMIS_OK ? s : TAMIS_ENOMEM;
    v->room = malloc(needed);
    if (v->room == NULL) return s;
    return tamis_view_at(v->room, needed, b->buf, size, o, NULL, &v->t, why);
}

static tamis_status view_a_copy(const Py_buffer *b, const tamis_options *o, View *v,
                                tamis_error *why)
{
    const size_t size = (size_t)b->len;
    if (size > SIZE_MAX - VIEW_ALIGNMENT) return TAMIS_ENOMEM;
    v->room = malloc(size + VIEW_ALIGNMENT);
    if (v->room == NULL) return TAMIS_ENOMEM;
    char *at = v->room;
    at += (VIEW_ALIGNMENT - (uintptr_t)at % VIEW_ALIGNMENT) % VIEW_ALIGNMENT;
    memcpy(at, b->buf, size);
    v->has_copied = true;
    return tamis_view(at, size, o, &v->t, why);
}

static bool is_plain_filter(const tamis *t)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    return tamis_stat(t, &f) == TAMIS_OK && f.kind < TAMIS_COUNT_MIN && f.inner_kind == 0;
}

static tamis_status open_view(const Py_buffer *b, const tamis_options *o, View *v, tamis_error *why)
{
    why->text[0] = '\0';
    if ((uintptr_t)b->buf % VIEW_ALIGNMENT == 0)
        return tamis_view(b->buf, (size_t)b->len, o, &v->t, why);
    tamis_status s = view_in_room(b, o, v, why);
    if (s != TAMIS_OK || is_plain_filter(v->t)) return s;
    tamis_close(v->t);
    free(v->room);
    *v = (View){NULL, NULL, false};
    return view_a_copy(b, o, v, why);
}

static PyObject *view(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *classes, *from, *dict;
    Options o;
    Py_buffer b;
    View v = {NULL, NULL, false};
    tamis_error why;
    tamis_status s;
    Handle *h = NULL;
    if (!PyArg_ParseTuple(args, "O!OO!", &PyDict_Type, &classes, &from, &PyDict_Type, &dict))
        return NULL;
    if (!options_from(dict, &o)) return NULL;
    if (!get_image(from, &b)) {
        options_done(&o);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    s = open_view(&b, &o.c, &v, &why);
    Py_END_ALLOW_THREADS
    if (s != TAMIS_OK)
        raise_status(s, &why, NULL);
    else
        h = handle_wrap(classes, v.t, o.secret, &o.c);
    options_done(&o);
    if (h == NULL || v.has_copied) PyBuffer_Release(&b);
    if (h == NULL) {
        free(v.room);
        return NULL;
    }
    h->room = v.room;
    if (!v.has_copied) h->image = b;
    return (PyObject *)h;
}

/* --- A secret key that comes later ------------------------------------------------------------ */

static PyObject *unlock(PyObject *self, PyObject *key)
{
    Handle *h = (Handle *)self;
    PyObject *secret;
    tamis_error why;
    tamis *t = NULL;
    if (h->path != NULL || h->image.obj != NULL) {
        PyErr_SetString(PyExc_ValueError,
                        "a view, and a file that is open for update, need the key when opened");
        return NULL;
    }
    if (!secret_from(key, &secret)) return NULL;
    PyObject *image = image_bytes(h);
    if (image == NULL) {
        Py_XDECREF(secret);
        return NULL;
    }
    const tamis_options o = {.struct_size = sizeof o,
                             .flags = h->shared ? (uint32_t)TAMIS_SHARED : 0,
                             .threads = h->threads,
                             .max_bytes = h->max_bytes,
                             .shared_key = secret_key(secret)};
    const tamis_status s =
        tamis_load(PyBytes_AsString(image), (size_t)PyBytes_Size(image), &o, &t, &why);
    Py_DECREF(image);
    if (s != TAMIS_OK) {
        raise_status(s, &why, NULL);
    } else if (lock_wait(h, CHANGES)) {
        handle_close(h);
        handle_adopt(h, t, secret, &o);
        Py_RETURN_NONE;
    } else {
        tamis_close(t);
    }
    Py_XDECREF(secret);
    return NULL;
}

PyMethodDef image_functions[] = {
    {"load", load, METH_VARARGS,
     "load($module, classes, image, options, /)\n--\n\nCopies an image."},
    {"view", view, METH_VARARGS,
     "view($module, classes, image, options, /)\n--\n\nViews an image."},
    {NULL, NULL, 0, NULL},
};

PyMethodDef image_methods[] = {
    {"to_bytes", to_bytes, METH_NOARGS,
     "to_bytes($self, /)\n--\n\nReturns the image: the bytes that save() writes to a file."},
    {"__bytes__", to_bytes, METH_NOARGS, "__bytes__($self, /)\n--\n\nThe same as to_bytes()."},
    {"to_packed", to_packed, METH_NOARGS,
     "to_packed($self, /)\n--\n\nReturns the packed image, which is smaller if few bits are set."},
    {"unlock", unlock, METH_O,
     "unlock($self, key, /)\n--\n\nGives its secret key to an object that lacks it.\n\n"
     "Objects lack it after unpickling, and after open() or load() with keyless=True."},
    {NULL, NULL, 0, NULL},
};
