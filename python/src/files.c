/* Files: open and save. */
#include "binding.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

/* How often a file is tried that another process has locked. */
#define RETRY_MS 10

static void pause_before_retry(void)
{
#ifdef _WIN32
    Sleep(RETRY_MS);
#else
    const struct timespec pause = {.tv_nsec = RETRY_MS * 1000000L};
    nanosleep(&pause, NULL);
#endif
}

/* Opens without waiting for a lock in the library, because a signal could not end that. */
static tamis_status open_or_wait(const char *path, const tamis_options *o, bool wait, tamis **t,
                                 tamis_error *why, bool *interrupted)
{
    for (;;) {
        tamis_status s;
        Py_BEGIN_ALLOW_THREADS
        s = tamis_open(path, o, t, why);
        if (s == TAMIS_EBUSY && wait) pause_before_retry();
        Py_END_ALLOW_THREADS
        if (s != TAMIS_EBUSY || !wait) return s;
        *interrupted = PyErr_CheckSignals() < 0;
        if (*interrupted) return s;
    }
}

static PyObject *open_file(PyObject *module, PyObject *args)
{
    (void)module;
    PyObject *classes, *path, *dict, *encoded = NULL;
    int wait;
    Options o;
    tamis_error why;
    tamis *t;
    bool interrupted = false;
    Handle *h = NULL;
    if (!PyArg_ParseTuple(args, "O!OO!p", &PyDict_Type, &classes, &path, &PyDict_Type, &dict,
                          &wait))
        return NULL;
    if (!PyUnicode_FSConverter(path, &encoded)) return NULL;
    if (options_from(dict, &o)) {
        const tamis_status s =
            open_or_wait(PyBytes_AsString(encoded), &o.c, wait != 0, &t, &why, &interrupted);
        if (s == TAMIS_OK)
            h = handle_wrap(classes, t, o.secret, &o.c);
        else if (!interrupted)
            raise_status(s, &why, path);
        options_done(&o);
        if (h != NULL && (o.c.flags & TAMIS_UPDATE) != 0) {
            Py_INCREF(path);
            h->path = path;
        }
    }
    Py_DECREF(encoded);
    return (PyObject *)h;
}

static PyObject *save(PyObject *self, PyObject *args)
{
    Handle *h = (Handle *)self;
    PyObject *path, *encoded = NULL;
    tamis_save_options o = TAMIS_SAVE_OPTIONS_INIT;
    unsigned int flags, mode;
    tamis_error why;
    tamis_status s;
    if (!PyArg_ParseTuple(args, "OII", &path, &flags, &mode)) return NULL;
    o.flags = flags;
    o.mode = mode;
    if (!PyUnicode_FSConverter(path, &encoded)) return NULL;
    if (!lock_enter(h, ADDS)) {
        Py_DECREF(encoded);
        return NULL;
    }
    const char *name = PyBytes_AsString(encoded);
    Py_BEGIN_ALLOW_THREADS
    if (h->room != NULL && h->image.obj != NULL && (o.flags & TAMIS_SAVE_PACKED) == 0)
        s = tamis_write_file(name, h->image.buf, (size_t)h->image.len, &o, &why);
    else
        s = tamis_save(h->t, name, &o, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, ADDS);
    Py_DECREF(encoded);
    if (s != TAMIS_OK) {
        raise_status(s, &why, path);
        return NULL;
    }
    Py_RETURN_NONE;
}

PyMethodDef file_functions[] = {
    {"open", open_file, METH_VARARGS,
     "open($module, classes, path, options, wait, /)\n--\n\nOpens a file."},
    {NULL, NULL, 0, NULL},
};

PyMethodDef file_methods[] = {
    {"_save", save, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};
