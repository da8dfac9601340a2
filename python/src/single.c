/* Calls with one key, and calls with none. They keep the GIL while they use one key. */
#include "binding.h"

bool single_ready(Handle *h, Access access)
{
    if (h->t != NULL && !h->writer && (access == READS || h->readers == 0) && !h->keyless &&
        !h->caller_hashes)
        return true;
    return lock_wait(h, access) && check_hashes(h);
}

/* The reason why tamis_add fails, which has no place for it: a column has. */
static void raise_add(Handle *h, tamis_status s, const Key *k)
{
    const int32_t offsets[2] = {0, k->len <= INT32_MAX ? (int32_t)k->len : 0};
    const tamis_column one = {
        .struct_size = sizeof one, .rows = 1, .data = k->p, .bytes = k->len, .offsets32 = offsets};
    tamis_error why = {.status = s};
    if (k->len <= INT32_MAX && tamis_add_column(h->t, &one, NULL, NULL, &why) == s)
        raise_status(s, &why, NULL);
    else
        raise_status(s, NULL, NULL);
}

/* --- Adding and asking ------------------------------------------------------------------------ */

static PyObject *add_to_filter(Handle *h, const Key *k)
{
    bool seen = false;
    if (!single_ready(h, ADDS)) return NULL;
    const tamis_status s = tamis_add(h->t, k->p, k->len, &seen);
    if (s != TAMIS_OK) {
        raise_add(h, s, k);
        return NULL;
    }
    if (h->slack != UINT64_MAX && !seen && !handle_added(h, 1)) return NULL;
    return PyBool_FromLong(!seen);
}

static PyObject *add_weight(Handle *h, const Key *k, int64_t weight)
{
    int64_t count;
    tamis_error why;
    if (!single_ready(h, ADDS)) return NULL;
    const tamis_status s = tamis_add_counted(h->t, k->p, k->len, weight, &count, &why);
    if (s == TAMIS_OK) return PyLong_FromLongLong(count);
    raise_status(s, &why, NULL);
    return NULL;
}

static bool weight_from(PyObject *o, int64_t *out)
{
    if (PyBool_Check(o) || !PyIndex_Check(o)) {
        PyObject *name = name_of_type(o);
        if (name != NULL) PyErr_Format(PyExc_TypeError, "a weight is an int, not %U", name);
        Py_XDECREF(name);
        return false;
    }
    PyObject *integer = PyNumber_Index(o);
    if (integer == NULL) return false;
    int overflow;
    const long long v = PyLong_AsLongLongAndOverflow(integer, &overflow);
    Py_DECREF(integer);
    if (overflow != 0) {
        PyErr_SetString(PyExc_OverflowError, "a weight is from -2**63 to 2**63 - 1");
        return false;
    }
    *out = v;
    return true;
}

/* The arguments (key, weight=1), of which `weight` may have a name. *weight becomes NULL if it is
 * not given. */
static bool key_and_weight(const char *name, PyObject *const *args, Py_ssize_t n, PyObject *names,
                           PyObject **key, PyObject **weight)
{
    const Py_ssize_t named = names != NULL ? PyTuple_Size(names) : 0;
    *key = *weight = NULL;
    if (n > 2) {
        PyErr_Format(PyExc_TypeError, "%s() takes a key and a weight", name);
        return false;
    }
    if (n > 0) *key = args[0];
    if (n > 1) *weight = args[1];
    for (Py_ssize_t i = 0; i < named; i++) {
        PyObject *which = PyTuple_GetItem(names, i);
        PyObject **to = PyUnicode_CompareWithASCIIString(which, "weight") == 0 ? weight
                        : PyUnicode_CompareWithASCIIString(which, "key") == 0  ? key
                                                                               : NULL;
        if (to == NULL || *to != NULL) {
            PyErr_Format(PyExc_TypeError, "%s() does not take the argument %R here", name, which);
            return false;
        }
        *to = args[n + i];
    }
    if (*key != NULL) return true;
    PyErr_Format(PyExc_TypeError, "%s() needs a key", name);
    return false;
}

static PyObject *add_key(PyObject *self, PyObject *key)
{
    Handle *h = (Handle *)self;
    Key k;
    if (!key_from(h, key, &k)) return NULL;
    PyObject *result = add_to_filter(h, &k);
    key_done(&k);
    return result;
}

static PyObject *add_counted(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    Handle *h = (Handle *)self;
    PyObject *key, *weight, *result;
    int64_t number = 1;
    Key k;
    if (n == 1 && names == NULL) {
        key = args[0];
        weight = NULL;
    } else if (!key_and_weight("add", args, n, names, &key, &weight)) {
        return NULL;
    }
    if (weight != NULL && !weight_from(weight, &number)) return NULL;
    if (!key_from(h, key, &k)) return NULL;
    result = h->counts || weight != NULL ? add_weight(h, &k, number) : add_to_filter(h, &k);
    key_done(&k);
    return result;
}

static PyObject *subtract(PyObject *self, PyObject *const *args, Py_ssize_t n, PyObject *names)
{
    Handle *h = (Handle *)self;
    PyObject *key, *weight, *result;
    int64_t number = 1;
    Key k;
    if (!key_and_weight("subtract", args, n, names, &key, &weight)) return NULL;
    if (weight != NULL && !weight_from(weight, &number)) return NULL;
    if (number == INT64_MIN) {
        PyErr_SetString(PyExc_OverflowError, "a weight to be subtracted is above -2**63");
        return NULL;
    }
    if (!key_from(h, key, &k)) return NULL;
    result = add_weight(h, &k, -number);
    key_done(&k);
    return result;
}

int single_contains(PyObject *self, PyObject *key)
{
    Handle *h = (Handle *)self;
    Key k;
    if (!key_from(h, key, &k)) return -1;
    const int answer = single_ready(h, READS) ? tamis_may_contain(h->t, k.p, k.len) : -1;
    key_done(&k);
    return answer;
}

PyObject *single_subscript(PyObject *self, PyObject *key)
{
    Handle *h = (Handle *)self;
    PyObject *result = NULL;
    tamis_estimate e;
    tamis_error why;
    Key k;
    if (!key_from(h, key, &k)) return NULL;
    if (single_ready(h, READS)) {
        int64_t count = tamis_upper(h->t, k.p, k.len);
        const tamis_status s =
            count != INT64_MAX ? TAMIS_OK : tamis_count(h->t, k.p, k.len, &e, &why);
        if (s == TAMIS_OK)
            result = PyLong_FromLongLong(count);
        else
            raise_status(s, &why, NULL);
    }
    key_done(&k);
    return result;
}

static PyObject *estimate(PyObject *self, PyObject *key)
{
    Handle *h = (Handle *)self;
    PyObject *result = NULL;
    tamis_estimate e;
    tamis_error why;
    Key k;
    if (!key_from(h, key, &k)) return NULL;
    if (single_ready(h, READS)) {
        const tamis_status s = tamis_count(h->t, k.p, k.len, &e, &why);
        if (s == TAMIS_OK)
            result = estimate_to_tuple(&e);
        else
            raise_status(s, &why, NULL);
    }
    key_done(&k);
    return result;
}

static tamis_status remove_key(Handle *h, PyObject *key, tamis_error *why, bool *failed)
{
    tamis_status s = TAMIS_OK;
    Key k;
    *failed = true;
    if (!key_from(h, key, &k)) return s;
    if (single_ready(h, CHANGES)) {
        s = tamis_remove(h->t, k.p, k.len, why);
        *failed = false;
    }
    key_done(&k);
    return s;
}

static PyObject *remove_one(PyObject *self, PyObject *key)
{
    tamis_error why;
    bool failed;
    const tamis_status s = remove_key((Handle *)self, key, &why, &failed);
    if (failed) return NULL;
    if (s == TAMIS_OK) Py_RETURN_NONE;
    raise_status(s, &why, NULL);
    return NULL;
}

static PyObject *discard(PyObject *self, PyObject *key)
{
    tamis_error why;
    bool failed;
    const tamis_status s = remove_key((Handle *)self, key, &why, &failed);
    if (failed) return NULL;
    if (s == TAMIS_OK) Py_RETURN_TRUE;
    if (s == TAMIS_EABSENT) Py_RETURN_FALSE;
    raise_status(s, &why, NULL);
    return NULL;
}

/* --- Length ----------------------------------------------------------------------------------- */

static bool is_distinct(const Handle *h)
{
    return h->kind == TAMIS_DISTINCT || h->inner_kind == TAMIS_DISTINCT;
}

/* A distinct sketch counts when it is asked, and not before. */
static Py_ssize_t length_of_distinct(Handle *h)
{
    tamis_cardinality c = TAMIS_CARDINALITY_INIT;
    tamis_error why;
    tamis_status s;
    if (!lock_enter(h, READS)) return -1;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_distinct(h->t, &c, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, READS);
    if (s != TAMIS_OK) {
        raise_status(s, &why, NULL);
        return -1;
    }
    if (c.value < 9e18) return (Py_ssize_t)(c.value + 0.5);
    PyErr_SetString(PyExc_OverflowError, "the sketch is too full to be counted");
    return -1;
}

Py_ssize_t single_length(PyObject *self)
{
    Handle *h = (Handle *)self;
    tamis_facts f = TAMIS_FACTS_INIT;
    if (!lock_wait(h, READS)) return -1;
    if (is_distinct(h)) return length_of_distinct(h);
    tamis_stat(h->t, &f);
    if (f.items <= PY_SSIZE_T_MAX) return (Py_ssize_t)f.items;
    PyErr_SetString(PyExc_OverflowError, "there are more items than len() can return");
    return -1;
}

/* --- The whole -------------------------------------------------------------------------------- */

static bool merge(Handle *into, Handle *from)
{
    tamis_error why;
    tamis_status s;
    if (into == from) {
        if (!lock_wait(into, CHANGES)) return false;
        s = tamis_merge(into->t, from->t, &why); /* TAMIS_EINVAL */
    } else {
        if (!lock_enter_two(into, from)) return false;
        Py_BEGIN_ALLOW_THREADS
        s = tamis_merge(into->t, from->t, &why);
        Py_END_ALLOW_THREADS
        lock_leave(into, CHANGES);
        lock_leave(from, READS);
    }
    if (s != TAMIS_OK) {
        raise_status(s, &why, NULL);
        return false;
    }
    const bool warned = into->warned;
    handle_refresh(into);
    if (warned) into->slack = UINT64_MAX;
    return handle_added(into, 0);
}

static PyObject *merge_method(PyObject *self, PyObject *others)
{
    const Py_ssize_t n = PyTuple_Size(others);
    for (Py_ssize_t i = 0; i < n; i++)
        if (handle_of(PyTuple_GetItem(others, i)) == NULL) return NULL;
    for (Py_ssize_t i = 0; i < n; i++)
        if (!merge((Handle *)self, (Handle *)PyTuple_GetItem(others, i))) return NULL;
    Py_INCREF(self);
    return self;
}

PyObject *single_merge_in_place(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(self, handle_type) || !PyObject_TypeCheck(other, handle_type))
        Py_RETURN_NOTIMPLEMENTED;
    if (!merge((Handle *)self, (Handle *)other)) return NULL;
    Py_INCREF(self);
    return self;
}

PyObject *single_merge(PyObject *self, PyObject *other)
{
    if (!PyObject_TypeCheck(self, handle_type) || !PyObject_TypeCheck(other, handle_type))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *copy = PyObject_CallMethod(self, "copy", NULL);
    if (copy == NULL) return NULL;
    if (PyObject_TypeCheck(copy, handle_type) && merge((Handle *)copy, (Handle *)other))
        return copy;
    Py_DECREF(copy);
    return NULL;
}

static PyObject *clear(PyObject *self, PyObject *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    tamis_status s;
    if (!lock_enter(h, CHANGES)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_clear(h->t);
    Py_END_ALLOW_THREADS
    lock_leave(h, CHANGES);
    if (s != TAMIS_OK) {
        raise_status(s, NULL, NULL);
        return NULL;
    }
    h->warned = false;
    handle_refresh(h);
    Py_RETURN_NONE;
}

static PyObject *seal(PyObject *self, PyObject *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    tamis_error why;
    tamis_status s;
    if (!lock_enter(h, CHANGES)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_seal(h->t, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, CHANGES);
    if (s != TAMIS_OK) {
        raise_status(s, &why, NULL);
        return NULL;
    }
    Py_INCREF(self);
    return self;
}

static PyObject *rotate(PyObject *self, PyObject *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    tamis_error why;
    tamis_status s;
    if (!lock_enter(h, ADDS)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_rotate(h->t, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, ADDS);
    if (s == TAMIS_OK) Py_RETURN_NONE;
    raise_status(s, &why, NULL);
    return NULL;
}

static PyObject *rotate_to(PyObject *self, PyObject *epoch)
{
    Handle *h = (Handle *)self;
    tamis_error why;
    tamis_status s;
    PyObject *integer = PyNumber_Index(epoch);
    if (integer == NULL) return NULL;
    const unsigned long long number = PyLong_AsUnsignedLongLong(integer);
    Py_DECREF(integer);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) return NULL;
    if (!lock_enter(h, ADDS)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_rotate_to(h->t, number, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, ADDS);
    if (s == TAMIS_OK) Py_RETURN_NONE;
    raise_status(s, &why, NULL);
    return NULL;
}

#define FAST(f) ((PyCFunction)(void (*)(void))(f)), METH_FASTCALL | METH_KEYWORDS

PyMethodDef single_methods[] = {
    {"remove", remove_one, METH_O,
     "remove($self, key, /)\n--\n\nRemoves a key that was added.\n\n"
     "Raises AbsentError, a KeyError, if the key is certainly not a member. Removing a key that\n"
     "was never added but seems to be a member damages other keys."},
    {"discard", discard, METH_O,
     "discard($self, key, /)\n--\n\nRemoves a key; returns False if it is not a member."},
    {"_estimate", estimate, METH_O, NULL},
    {"merge", merge_method, METH_VARARGS,
     "merge($self, /, *others)\n--\n\nAdds the contents of others of the same shape; returns "
     "self.\n\n"
     "They are merged one after the other. If one does not fit, those before it were merged."},
    {"clear", clear, METH_NOARGS, "clear($self, /)\n--\n\nRemoves all keys."},
    {"seal", seal, METH_NOARGS,
     "seal($self, /)\n--\n\nMakes the object read-only, in saved images too; returns self.\n\n"
     "The kinds fuse, ribbon and exact are built by this call. Before it, they answer 'maybe'."},
    {"rotate", rotate, METH_NOARGS,
     "rotate($self, /)\n--\n\nMakes a window forget its oldest generation and begin a new one."},
    {"rotate_to", rotate_to, METH_O,
     "rotate_to($self, epoch, /)\n--\n\nRotates a window as often as is due.\n\n"
     "The epoch is a number that grows by 1 whenever a generation is due, for example\n"
     "int(time.time()) // 300 for every five minutes. The image records it."},
    {NULL, NULL, 0, NULL},
};

PyMethodDef single_filter_methods[] = {
    {"add", add_key, METH_O,
     "add($self, key, /)\n--\n\nAdds a key.\n\n"
     "Returns True if the key was certainly new, and False if it may have been a member."},
    {NULL, NULL, 0, NULL},
};

PyMethodDef single_counts_methods[] = {
    {"add", FAST(add_counted),
     "add($self, key, weight=1)\n--\n\nAdds a weight to the count of a key; returns the count.\n\n"
     "A window of filters returns True if the key was certainly new, and takes no weight."},
    {"subtract", FAST(subtract),
     "subtract($self, key, weight=1)\n--\n\nSubtracts from the count of a key; returns the count."},
    {NULL, NULL, 0, NULL},
};
