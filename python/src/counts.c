/* Counts and lists of the most frequent items, as tuples. tamis._counts makes objects of them. */
#include "binding.h"

PyObject *estimate_to_tuple(const tamis_estimate *e)
{
    return Py_BuildValue("(LLLdLOO)", (long long)e->estimate, (long long)e->lower,
                         (long long)e->upper, e->confidence, (long long)e->certain,
                         e->below_noise ? Py_True : Py_False,
                         !e->judged   ? Py_None
                         : e->suspect ? Py_True
                                      : Py_False);
}

/* (bytes or None, length, hash, estimate) */
static PyObject *heavy_to_tuple(const tamis_heavy *heavy)
{
    PyObject *estimate = estimate_to_tuple(&heavy->count);
    if (estimate == NULL) return NULL;
    return Py_BuildValue("(y#KKN)", (const char *)heavy->item.p, (Py_ssize_t)heavy->item.len,
                         (unsigned long long)heavy->length, (unsigned long long)heavy->hash,
                         estimate);
}

static PyObject *list_of(const tamis_heavy *heavy, size_t n)
{
    PyObject *list = PyList_New((Py_ssize_t)n);
    for (size_t i = 0; list != NULL && i < n; i++) {
        PyObject *entry = heavy_to_tuple(heavy + i);
        if (entry == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, entry);
    }
    return list;
}

/* The items are valid until the next change, so they are copied before the handle is left; then
 * objects are made of them, which may run the garbage collector and with it any code. NULL without
 * an exception: not enough memory. */
static char *copy_items(tamis_heavy *heavy, size_t n)
{
    size_t bytes = 1;
    for (size_t i = 0; i < n; i++) bytes += heavy[i].item.p != NULL ? heavy[i].item.len : 0;
    char *room = malloc(bytes), *at = room;
    if (room == NULL) return NULL;
    for (size_t i = 0; i < n; i++) {
        if (heavy[i].item.p == NULL) continue;
        memcpy(at, heavy[i].item.p, heavy[i].item.len);
        heavy[i].item.p = at;
        at += heavy[i].item.len;
    }
    return room;
}

/* Lists at most `most` items; only those with this weight or more, if weight is not NULL. */
static tamis_status list_items(Handle *h, const int64_t *weight, size_t most, tamis_heavy **heavy,
                               char **items, size_t *found, tamis_error *why)
{
    tamis_status s = TAMIS_OK;
    const bool lists = h->kind == TAMIS_TOP || h->inner_kind == TAMIS_TOP;
    const int64_t none = INT64_MAX;
    const size_t length = tamis_top(h->t, NULL, 0), n = most < length ? most : length;
    *heavy = calloc(n + 1, sizeof **heavy);
    if (*heavy == NULL) return TAMIS_ENOMEM;
    if (weight != NULL || !lists) /* the latter fails with a reason */
        s = tamis_above(h->t, weight != NULL ? *weight : none, *heavy, n, found, why);
    else
        *found = tamis_top(h->t, *heavy, n);
    if (s != TAMIS_OK) return s;
    if (*found > n) *found = n;
    *items = copy_items(*heavy, *found);
    return *items != NULL ? TAMIS_OK : TAMIS_ENOMEM;
}

static PyObject *list_or_raise(Handle *h, const int64_t *weight, size_t most)
{
    PyObject *list = NULL;
    tamis_heavy *heavy = NULL;
    char *items = NULL;
    size_t found = 0;
    tamis_error why = {.text = ""};
    tamis_status s;
    if (!lock_enter(h, READS)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = list_items(h, weight, most, &heavy, &items, &found, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, READS);
    if (s == TAMIS_OK)
        list = list_of(heavy, found);
    else
        raise_status(s, &why, NULL);
    free(items);
    free(heavy);
    return list;
}

static PyObject *top(PyObject *self, PyObject *limit)
{
    const size_t most = PyLong_AsSize_t(limit);
    if (most == (size_t)-1 && PyErr_Occurred()) return NULL;
    return list_or_raise((Handle *)self, NULL, most);
}

static PyObject *above(PyObject *self, PyObject *limit)
{
    const long long weight = PyLong_AsLongLong(limit);
    if (weight == -1 && PyErr_Occurred()) return NULL;
    const int64_t least = weight;
    return list_or_raise((Handle *)self, &least, SIZE_MAX);
}

static PyObject *probability(PyObject *self, PyObject *args)
{
    Handle *h = (Handle *)self;
    PyObject *key, *result = NULL;
    double prior, out;
    tamis_error why;
    Key k;
    if (!PyArg_ParseTuple(args, "Od", &key, &prior) || !key_from(h, key, &k)) return NULL;
    if (lock_wait(h, READS) && check_hashes(h)) {
        const tamis_status s = tamis_probability(h->t, k.p, k.len, prior, &out, &why);
        if (s == TAMIS_OK)
            result = PyFloat_FromDouble(out);
        else
            raise_status(s, &why, NULL);
    }
    key_done(&k);
    return result;
}

static PyObject *derived(PyObject *self, tamis *t, tamis_status s, const tamis_error *why)
{
    Handle *h = (Handle *)self;
    const tamis_options none = TAMIS_OPTIONS_INIT;
    if (s != TAMIS_OK) {
        raise_status(s, why, NULL);
        return NULL;
    }
    Handle *made = handle_new(Py_TYPE(self));
    if (made == NULL) {
        tamis_close(t);
        return NULL;
    }
    Py_XINCREF(h->secret);
    handle_adopt(made, t, h->secret, &none);
    return (PyObject *)made;
}

static PyObject *release(PyObject *self, PyObject *epsilon)
{
    Handle *h = (Handle *)self;
    const double cost = PyFloat_AsDouble(epsilon);
    tamis_error why;
    tamis_status s;
    tamis *t = NULL;
    if (cost == -1 && PyErr_Occurred()) return NULL;
    if (!lock_enter(h, READS)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_release(h->t, cost, &t, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, READS);
    return derived(self, t, s, &why);
}

static PyObject *convert(PyObject *self, PyObject *kind)
{
    Handle *h = (Handle *)self;
    const char *name = PyUnicode_AsUTF8AndSize(kind, NULL);
    tamis_error why;
    tamis_status s;
    tamis *t = NULL;
    if (name == NULL || !lock_enter(h, READS)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_convert(h->t, tamis_kind_named(name), &t, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, READS);
    return derived(self, t, s, &why);
}

PyMethodDef list_methods[] = {
    {"_top", top, METH_O, NULL},
    {"_above", above, METH_O, NULL},
    {"_probability", probability, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

PyMethodDef derive_methods[] = {
    {"release", release, METH_O,
     "release($self, epsilon, /)\n--\n\nReturns a private release of a bloom filter with k=1.\n\n"
     "Each bit was flipped at random, so that the release is epsilon-differentially private."},
    {"convert", convert, METH_O,
     "convert($self, kind, /)\n--\n\nReturns a bloom filter with the answers of a counting one."},
    {NULL, NULL, 0, NULL},
};
