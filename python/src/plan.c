/* Plans and options: dictionaries of tamis._plans, whose values were checked there, become structs
 * and the other way round. */
#include "binding.h"

#define AT(name) offsetof(tamis_plan, name)
static const Field plan_fields[] = {
    {"kind", 'I', AT(kind)},
    {"flags", 'I', AT(flags)},
    {"items", 'Q', AT(items)},
    {"fpr", 'd', AT(fpr)},
    {"bytes", 'Q', AT(bytes)},
    {"seed", 'Q', AT(seed)},
    {"m", 'Q', AT(m)},
    {"k", 'I', AT(k)},
    {"cell_bits", 'I', AT(cell_bits)},
    {"generations", 'I', AT(generations)},
    {"inner_kind", 'I', AT(inner_kind)},
    {"excluded", 'Q', AT(excluded)},
    {"error", 'd', AT(error)},
    {"delta", 'd', AT(delta)},
    {"encoding", 'I', AT(encoding)},
    {"key_width", 'I', AT(key_width)},
    {NULL, 0, 0},
};
#undef AT

#define AT(name) offsetof(tamis_promise, name)
static const Field promise_fields[] = {
    {"bytes", 'Q', AT(bytes)},
    {"fpr", 'd', AT(fpr)},
    {"fpr_asymptotic", 'd', AT(fpr_asymptotic)},
    {"bits_per_item", 'd', AT(bits_per_item)},
    {"bound_bits", 'd', AT(bound_bits)},
    {"bound_ratio", 'd', AT(bound_ratio)},
    {"overflow", 'd', AT(overflow)},
    {"packed_bytes", 'Q', AT(packed_bytes)},
    {"bound", 'I', AT(bound)},
    {NULL, 0, 0},
};
#undef AT

static bool store_field(const Field *f, PyObject *value, void *to)
{
    char *at = (char *)to + f->offset;
    if (f->type == 'd') {
        const double number = PyFloat_AsDouble(value);
        if (number == -1 && PyErr_Occurred()) return false;
        memcpy(at, &number, sizeof number);
        return true;
    }
    const unsigned long long number = PyLong_AsUnsignedLongLong(value);
    if (number == (unsigned long long)-1 && PyErr_Occurred()) {
        if (PyErr_ExceptionMatches(PyExc_OverflowError))
            PyErr_Format(PyExc_OverflowError, "%s is negative or too big", f->name);
        return false;
    }
    if (f->type == 'I' && number > UINT32_MAX) {
        PyErr_Format(PyExc_OverflowError, "%s is too big", f->name);
        return false;
    }
    if (f->type == 'I') {
        const uint32_t narrow = (uint32_t)number;
        memcpy(at, &narrow, sizeof narrow);
    } else {
        const uint64_t wide = number;
        memcpy(at, &wide, sizeof wide);
    }
    return true;
}

bool plan_from(PyObject *dict, tamis_plan *plan)
{
    *plan = (tamis_plan)TAMIS_PLAN_INIT;
    for (const Field *f = plan_fields; f->name != NULL; f++) {
        PyObject *value = PyDict_GetItemString(dict, f->name);
        if (value != NULL && value != Py_None && !store_field(f, value, plan)) return false;
    }
    return true;
}

static bool flag_from(PyObject *dict, const char *name, uint32_t flag, uint32_t *flags)
{
    PyObject *value = PyDict_GetItemString(dict, name);
    const int truth = value != NULL ? PyObject_IsTrue(value) : 0;
    if (truth > 0) *flags |= flag;
    return truth >= 0;
}

bool options_from(PyObject *dict, Options *out)
{
    static const Field fields[] = {
        {"threads", 'I', offsetof(tamis_options, threads)},
        {"max_bytes", 'Q', offsetof(tamis_options, max_bytes)},
        {NULL, 0, 0},
    };
    *out = (Options){.c = TAMIS_OPTIONS_INIT};
    for (const Field *f = fields; f->name != NULL; f++) {
        PyObject *value = PyDict_GetItemString(dict, f->name);
        if (value != NULL && value != Py_None && !store_field(f, value, &out->c)) return false;
    }
    if (!flag_from(dict, "shared", TAMIS_SHARED, &out->c.flags) ||
        !flag_from(dict, "keyless", TAMIS_KEYLESS, &out->c.flags) ||
        !flag_from(dict, "mmap", TAMIS_MAP, &out->c.flags) ||
        !flag_from(dict, "update", TAMIS_UPDATE, &out->c.flags) ||
        !flag_from(dict, "unverified", TAMIS_UNVERIFIED, &out->c.flags))
        return false;
    if (!secret_from(PyDict_GetItemString(dict, "key"), &out->secret)) return false;
    out->c.shared_key = secret_key(out->secret);
    return true;
}

void options_done(Options *o)
{
    Py_CLEAR(o->secret);
}

static PyObject *solve(PyObject *module, PyObject *dict)
{
    (void)module;
    tamis_plan plan;
    tamis_promise promise = TAMIS_PROMISE_INIT;
    tamis_error why;
    if (!plan_from(dict, &plan)) return NULL;
    const tamis_status s = tamis_solve(&plan, &promise, &why);
    if (s != TAMIS_OK) {
        raise_status(s, &why, NULL);
        return NULL;
    }
    PyObject *first = fields_to_dict(plan_fields, &plan);
    PyObject *second = first != NULL ? fields_to_dict(promise_fields, &promise) : NULL;
    PyObject *both = second != NULL ? PyTuple_Pack(2, first, second) : NULL;
    Py_XDECREF(first);
    Py_XDECREF(second);
    return both;
}

static PyObject *kind_number(PyObject *module, PyObject *name)
{
    (void)module;
    const char *text = PyUnicode_AsUTF8AndSize(name, NULL);
    if (text == NULL) return NULL;
    return PyLong_FromUnsignedLong(tamis_kind_named(text));
}

static PyObject *name_or_none(const char *name)
{
    if (name == NULL) Py_RETURN_NONE;
    return PyUnicode_FromString(name);
}

static PyObject *kind_name(PyObject *module, PyObject *number)
{
    (void)module;
    const unsigned long id = PyLong_AsUnsignedLong(number);
    if (id == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    return name_or_none(id <= UINT32_MAX ? tamis_kind_name((uint32_t)id) : NULL);
}

static PyObject *encoding_name(PyObject *module, PyObject *number)
{
    (void)module;
    const unsigned long id = PyLong_AsUnsignedLong(number);
    if (id == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    return name_or_none(id <= UINT32_MAX ? tamis_encoding_name((uint32_t)id) : NULL);
}

static PyObject *bound_name(PyObject *module, PyObject *number)
{
    (void)module;
    const unsigned long id = PyLong_AsUnsignedLong(number);
    if (id == (unsigned long)-1 && PyErr_Occurred()) return NULL;
    return name_or_none(id <= UINT32_MAX ? tamis_bound_name((uint32_t)id) : NULL);
}

PyMethodDef plan_functions[] = {
    {"solve", solve, METH_O, "solve($module, plan, /)\n--\n\nCompletes a plan: (plan, promise)."},
    {"kind_number", kind_number, METH_O,
     "kind_number($module, name, /)\n--\n\n0: there is no such kind."},
    {"kind_name", kind_name, METH_O,
     "kind_name($module, number, /)\n--\n\nNone: there is no such kind."},
    {"encoding_name", encoding_name, METH_O,
     "encoding_name($module, number, /)\n--\n\nNone: not stated."},
    {"bound_name", bound_name, METH_O, "bound_name($module, number, /)\n--\n\nNone: no bound."},
    {NULL, NULL, 0, NULL},
};
