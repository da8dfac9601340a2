/* What a handle reports: facts, similarity and the number of distinct keys. tamis._facts makes
 * dataclasses of these dictionaries. */
#include "binding.h"

#define AT(name) offsetof(tamis_facts, name)
static const Field fact_fields[] = {
    {"kind", 'I', AT(kind)},
    {"hash", 'I', AT(hash)},
    {"k", 'I', AT(k)},
    {"format", 'I', AT(format)},
    {"m", 'Q', AT(m)},
    {"seed", 'Q', AT(seed)},
    {"generation", 'Q', AT(generation)},
    {"cell_bits", 'I', AT(cell_bits)},
    {"sections", 'I', AT(sections)},
    {"may_miss", '?', AT(may_miss)},
    {"keyed", '?', AT(keyed)},
    {"strict", '?', AT(strict)},
    {"auto_rotate", '?', AT(auto_rotate)},
    {"sealed", '?', AT(sealed)},
    {"collecting", '?', AT(collecting)},
    {"read_only", '?', AT(read_only)},
    {"overfull", '?', AT(overfull)},
    {"items_estimated", '?', AT(items_estimated)},
    {"hash_suspect", '?', AT(hash_suspect)},
    {"bytes", 'Q', AT(bytes)},
    {"items", 'Q', AT(items)},
    {"planned_items", 'Q', AT(planned_items)},
    {"excluded", 'Q', AT(excluded)},
    {"fpr_planned", 'd', AT(fpr_planned)},
    {"fpr", 'd', AT(fpr_now)},
    {"fpr_low", 'd', AT(fpr_now_low)},
    {"fpr_high", 'd', AT(fpr_now_high)},
    {"miss_rate", 'd', AT(miss_rate)},
    {"saturated", 'Q', AT(saturated)},
    {"overflow", 'd', AT(overflow)},
    {"items_estimate", 'd', AT(items_estimate)},
    {"items_low", 'd', AT(items_low)},
    {"items_high", 'd', AT(items_high)},
    {"fill", 'd', AT(fill)},
    {"bits_per_item", 'd', AT(bits_per_item)},
    {"bound_bits", 'd', AT(bound_bits)},
    {"bound_ratio", 'd', AT(bound_ratio)},
    {"conservative", '?', AT(conservative)},
    {"weight", 'q', AT(weight)},
    {"noise_median", 'q', AT(noise_median)},
    {"noise_99", 'q', AT(noise_99)},
    {"noise_999", 'q', AT(noise_999)},
    {"error", 'd', AT(error)},
    {"entries", 'Q', AT(entries)},
    {"listed", 'Q', AT(listed)},
    {"list_floor", 'q', AT(list_floor)},
    {"epsilon", 'd', AT(epsilon)},
    {"inner_kind", 'I', AT(inner_kind)},
    {"generations", 'I', AT(generations)},
    {"encoding", 'I', AT(encoding)},
    {"key_width", 'I', AT(key_width)},
    {"epoch", 'Q', AT(epoch)},
    {"bound", 'I', AT(bound)},
    {"removable", '?', AT(removable)},
    {NULL, 0, 0},
};
#undef AT

#define AT(name) offsetof(tamis_similarity, name)
static const Field similarity_fields[] = {
    {"union_items", 'd', AT(union_items)},
    {"union_low", 'd', AT(union_low)},
    {"union_high", 'd', AT(union_high)},
    {"common_items", 'd', AT(common_items)},
    {"common_low", 'd', AT(common_low)},
    {"common_high", 'd', AT(common_high)},
    {"jaccard", 'd', AT(jaccard)},
    {"jaccard_low", 'd', AT(jaccard_low)},
    {"jaccard_high", 'd', AT(jaccard_high)},
    {"first_only", 'd', AT(first_only)},
    {"first_only_low", 'd', AT(first_only_low)},
    {"first_only_high", 'd', AT(first_only_high)},
    {"second_only", 'd', AT(second_only)},
    {"second_only_low", 'd', AT(second_only_low)},
    {"second_only_high", 'd', AT(second_only_high)},
    {NULL, 0, 0},
};
#undef AT

#define AT(name) offsetof(tamis_cardinality, name)
static const Field cardinality_fields[] = {
    {"value", 'd', AT(value)}, {"low", 'd', AT(low)},     {"high", 'd', AT(high)},
    {"error", 'd', AT(error)}, {"exact", '?', AT(exact)}, {NULL, 0, 0},
};
#undef AT

static PyObject *load_field(const Field *f, const void *from)
{
    const char *at = (const char *)from + f->offset;
    uint32_t narrow;
    uint64_t wide;
    int64_t number;
    double real;
    bool truth;
    switch (f->type) {
    case 'I': memcpy(&narrow, at, sizeof narrow); return PyLong_FromUnsignedLong(narrow);
    case 'Q': memcpy(&wide, at, sizeof wide); return PyLong_FromUnsignedLongLong(wide);
    case 'q': memcpy(&number, at, sizeof number); return PyLong_FromLongLong(number);
    case 'd': memcpy(&real, at, sizeof real); return PyFloat_FromDouble(real);
    default: memcpy(&truth, at, sizeof truth); return PyBool_FromLong(truth);
    }
}

PyObject *fields_to_dict(const Field *f, const void *from)
{
    PyObject *dict = PyDict_New();
    for (; dict != NULL && f->name != NULL; f++) {
        PyObject *value = load_field(f, from);
        if (value == NULL || PyDict_SetItemString(dict, f->name, value) < 0) Py_CLEAR(dict);
        Py_XDECREF(value);
    }
    return dict;
}

static PyObject *facts(PyObject *self, PyObject *whole)
{
    Handle *h = (Handle *)self;
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_status s;
    const int read_cells = PyObject_IsTrue(whole);
    if (read_cells < 0 || !lock_enter(h, READS)) return NULL;
    if (read_cells) {
        Py_BEGIN_ALLOW_THREADS
        s = tamis_info(h->t, &f);
        Py_END_ALLOW_THREADS
    } else {
        s = tamis_stat(h->t, &f);
    }
    lock_leave(h, READS);
    if (s != TAMIS_OK) {
        raise_status(s, NULL, NULL);
        return NULL;
    }
    PyObject *dict = fields_to_dict(fact_fields, &f);
    PyObject *id = NULL;
    if (dict != NULL)
        id = PyBytes_FromStringAndSize((const char *)f.key_id, f.keyed ? sizeof f.key_id : 0);
    if (id == NULL || PyDict_SetItemString(dict, "key_id", id) < 0) Py_CLEAR(dict);
    Py_XDECREF(id);
    return dict;
}

static PyObject *compare(PyObject *self, PyObject *other)
{
    Handle *a = (Handle *)self, *b = handle_of(other);
    tamis_similarity out = TAMIS_SIMILARITY_INIT;
    tamis_error why;
    tamis_status s;
    if (b == NULL) return NULL;
    if (!lock_enter(a, READS)) return NULL;
    if (!lock_enter(b, READS)) {
        lock_leave(a, READS);
        return NULL;
    }
    Py_BEGIN_ALLOW_THREADS
    s = tamis_compare(a->t, b->t, &out, &why);
    Py_END_ALLOW_THREADS
    lock_leave(a, READS);
    lock_leave(b, READS);
    if (s == TAMIS_OK) return fields_to_dict(similarity_fields, &out);
    raise_status(s, &why, NULL);
    return NULL;
}

static PyObject *distinct(PyObject *self, PyObject *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    tamis_cardinality out = TAMIS_CARDINALITY_INIT;
    tamis_error why;
    tamis_status s;
    if (!lock_enter(h, READS)) return NULL;
    Py_BEGIN_ALLOW_THREADS
    s = tamis_distinct(h->t, &out, &why);
    Py_END_ALLOW_THREADS
    lock_leave(h, READS);
    if (s == TAMIS_OK) return fields_to_dict(cardinality_fields, &out);
    raise_status(s, &why, NULL);
    return NULL;
}

static PyObject *size_of(PyObject *self, PyObject *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    uint64_t size = sizeof(Handle);
    if (h->t != NULL) {
        if (!lock_wait(h, READS)) return NULL;
        if (h->image.obj == NULL) size += tamis_image_size(h->t);
    }
    return PyLong_FromUnsignedLongLong(size);
}

PyMethodDef facts_methods[] = {
    {"_facts", facts, METH_O, NULL},
    {"_compare", compare, METH_O, NULL},
    {"_distinct", distinct, METH_NOARGS, NULL},
    {"__sizeof__", size_of, METH_NOARGS,
     "__sizeof__($self, /)\n--\n\nThe bytes in memory, without those of a buffer that is viewed."},
    {NULL, NULL, 0, NULL},
};
