/* The methods that take many keys. */
#include "bulk.h"

/* --- What is done with a column; no GIL ------------------------------------------------------- */

static bool column_valid(const tamis_column *c, size_t row)
{
    const size_t bit = c->first + row;
    return c->validity == NULL || (c->validity[bit / 8] >> bit % 8 & 1) != 0;
}

/* The offsets of an Arrow array were not checked yet. */
static bool column_key(const tamis_column *c, size_t row, tamis_bytes *out)
{
    const size_t at = c->first + row;
    const char *data = c->data;
    if (c->offsets32 == NULL && c->offsets64 == NULL) {
        *out = (tamis_bytes){data + at * (c->stride != 0 ? c->stride : c->width), c->width};
        return true;
    }
    const int64_t from = c->offsets32 != NULL ? c->offsets32[at] : c->offsets64[at];
    const int64_t to = c->offsets32 != NULL ? c->offsets32[at + 1] : c->offsets64[at + 1];
    if (from < 0 || to < from || (uint64_t)to > c->bytes) return false;
    *out = (tamis_bytes){to > from ? data + from : data, (size_t)(to - from)};
    return true;
}

/* Eight bytes that are 0 or 1, of the eight bits of a byte, the lowest first: each byte keeps its
 * bit, and adding 127 carries it to the top. */
static uint64_t expand_byte(uint8_t bits)
{
    const uint64_t all = 0x0101010101010101u;
    uint64_t eight = (bits * all & 0x8040201008040201u) + 127 * all;
    eight = eight >> 7 & all;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
    eight = __builtin_bswap64(eight);
#endif
    return eight;
}

static void expand_bits(const uint8_t *bits, size_t n, bool flip, char *to)
{
    const uint8_t mask = flip ? 0xff : 0;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        const uint64_t eight = expand_byte(bits[i / 8] ^ mask);
        memcpy(to + i, &eight, 8);
    }
    for (; i < n; i++) to[i] = (char)((bits[i / 8] ^ mask) >> i % 8 & 1);
}

/* tamis_add_many has no place for a reason. The key that it refused is refused again, as a column
 * of one row, and nothing changes. */
static tamis_status reason_of_key(Task *k, const Part *p, size_t done, tamis_status s)
{
    k->why = (tamis_error){.status = s};
    if (s == TAMIS_OK || done >= p->c.rows) return s;
    const int64_t offsets[2] = {0, (int64_t)p->keys[done].len};
    const tamis_column one = {.struct_size = sizeof one,
                              .rows = 1,
                              .data = p->keys[done].p,
                              .bytes = p->keys[done].len,
                              .offsets64 = offsets};
    tamis_error why;
    if (tamis_add_column(k->h->t, &one, NULL, NULL, &why) == s) k->why = why;
    return s;
}

static tamis_status add_part(Task *k, const Part *p, uint8_t *seen, size_t *done)
{
    if (p->keys == NULL) return tamis_add_column(k->h->t, &p->c, seen, done, &k->why);
    const tamis_status s = tamis_add_many(k->h->t, p->keys, p->c.rows, seen, done);
    return s == TAMIS_OK ? s : reason_of_key(k, p, *done, s);
}

static tamis_status run_add(Task *k, const Part *p, size_t *done)
{
    return add_part(k, p, NULL, done);
}

static tamis_status run_add_new(Task *k, const Part *p, size_t *done)
{
    const tamis_status s = add_part(k, p, k->bits, done);
    char *to = k->out.data + k->row;
    expand_bits(k->bits, *done, true, to);
    if (p->c.validity != NULL)
        for (size_t i = 0; i < *done; i++)
            if (!column_valid(&p->c, i)) to[i] = 0;
    return s;
}

static tamis_status run_contains(Task *k, const Part *p, size_t *done)
{
    tamis_status s = TAMIS_OK;
    if (p->keys != NULL)
        tamis_may_contain_many(k->h->t, p->keys, p->c.rows, k->bits);
    else
        s = tamis_may_contain_column(k->h->t, &p->c, k->bits, NULL, &k->why);
    if (s != TAMIS_OK) return s;
    expand_bits(k->bits, p->c.rows, false, k->out.data + k->row);
    *done = p->c.rows;
    return s;
}

tamis_status few_from(const Part *p, size_t at, Few *out, tamis_error *why)
{
    const size_t rest = p->c.rows - at;
    out->taken = rest < FEW ? rest : FEW;
    out->n = 0;
    for (size_t i = 0; i < out->taken; i++) {
        tamis_bytes *key = out->keys + out->n;
        if (!column_valid(&p->c, at + i)) continue;
        if (p->keys != NULL) {
            *key = p->keys[at + i];
        } else if (!column_key(&p->c, at + i, key)) {
            *why = (tamis_error){.status = TAMIS_EINVAL};
            PyOS_snprintf(why->text, sizeof why->text, "the offsets of the column are wrong");
            return TAMIS_EINVAL;
        }
        out->rows[out->n++] = (uint8_t)i;
    }
    return TAMIS_OK;
}

static tamis_status run_remove(Task *k, const Part *p, size_t *done)
{
    Few few;
    uint8_t absent[FEW / 8];
    for (*done = 0; *done < p->c.rows; *done += few.taken) {
        tamis_status s = few_from(p, *done, &few, &k->why);
        if (s != TAMIS_OK) return s;
        char *to = k->out.data + k->row + *done;
        memset(to, 0, few.taken);
        memset(absent, 0, sizeof absent);
        s = tamis_remove_many(k->h->t, few.keys, few.n, absent, &k->why);
        if (s != TAMIS_OK && s != TAMIS_EABSENT) return s;
        for (size_t i = 0; i < few.n; i++) to[few.rows[i]] = (absent[i / 8] >> i % 8 & 1) == 0;
    }
    return TAMIS_OK;
}

static tamis_status run_exclude(Task *k, const Part *p, size_t *done)
{
    Few few;
    for (size_t at = 0; at < p->c.rows; at += few.taken) {
        tamis_status s = few_from(p, at, &few, &k->why);
        if (s == TAMIS_OK) s = tamis_exclude_many(k->h->t, few.keys, few.n, &k->why);
        if (s != TAMIS_OK) return s;
    }
    *done = p->c.rows;
    return TAMIS_OK;
}

static tamis_status run_weigh(Task *k, const Part *p, size_t *done)
{
    const int64_t *weights = k->weights + k->row;
    if (p->keys != NULL)
        return tamis_add_weight_many(k->h->t, p->keys, weights, p->c.rows, done, &k->why);
    return tamis_add_weight_column(k->h->t, &p->c, weights, done, &k->why);
}

static tamis_status run_count(Task *k, const Part *p, size_t *done)
{
    const int64_t *weights = k->weights != NULL ? k->weights + k->row : NULL;
    int64_t *counts = (int64_t *)(void *)k->out.data + k->row;
    if (p->keys != NULL)
        return tamis_add_counted_many(k->h->t, p->keys, weights, p->c.rows, counts, done, &k->why);
    return tamis_add_counted_column(k->h->t, &p->c, weights, counts, done, &k->why);
}

static tamis_status run_upper(Task *k, const Part *p, size_t *done)
{
    int64_t *out = (int64_t *)(void *)k->out.data + k->row;
    tamis_status s = TAMIS_OK;
    if (p->keys != NULL)
        tamis_upper_many(k->h->t, p->keys, p->c.rows, out);
    else
        s = tamis_upper_column(k->h->t, &p->c, out, &k->why);
    if (s == TAMIS_OK) *done = p->c.rows;
    return s;
}

static tamis_status run_estimate(Task *k, const Part *p, size_t *done)
{
    tamis_estimate *out = (tamis_estimate *)(void *)k->out.data + k->row;
    const tamis_status s = p->keys != NULL
                               ? tamis_count_many(k->h->t, p->keys, p->c.rows, out, &k->why)
                               : tamis_count_column(k->h->t, &p->c, out, &k->why);
    if (s == TAMIS_OK) *done = p->c.rows;
    return s;
}

/* --- Running one ------------------------------------------------------------------------------ */

typedef enum Answers { NOTHING, MASK, ROWS, NUMBERS, ESTIMATES } Answers;

static bool task_open(Task *k, const Source *s, Answers answers)
{
    static const char *const dtypes[] = {NULL, "?", NULL, "i8", NULL};
    static const size_t items[] = {1, 1, 1, sizeof(int64_t), sizeof(tamis_estimate)};
    k->answers_rows = answers != NOTHING;
    k->out = (Output){.data = NULL};
    if (answers == NOTHING) return true;
    if (!output_open(&k->out, s, dtypes[answers], items[answers])) return false;
    if (answers != MASK && answers != ROWS) return true;
    k->bits = malloc(MOST_ROWS / 8);
    if (k->bits != NULL) return true;
    output_close(&k->out);
    PyErr_NoMemory();
    return false;
}

static PyObject *list_of_estimates(const Task *k)
{
    const tamis_estimate *from = (const tamis_estimate *)(const void *)k->out.data;
    PyObject *list = PyList_New((Py_ssize_t)k->row);
    for (size_t i = 0; list != NULL && i < k->row; i++) {
        PyObject *one = estimate_to_tuple(from + i);
        if (one == NULL)
            Py_CLEAR(list);
        else
            PyList_SetItem(list, (Py_ssize_t)i, one);
    }
    return list;
}

static PyObject *finish(Task *k, Answers answers)
{
    if (answers == NOTHING) Py_RETURN_NONE;
    if (answers == ESTIMATES) return list_of_estimates(k);
    return answers == ROWS ? output_finish_rows(&k->out, k->row) : output_finish(&k->out, k->row);
}

static PyObject *run_task(Task *k, Source *s, Answers answers)
{
    PyObject *result = NULL;
    if (task_open(k, s, answers)) {
        if (!bulk_run(k, s)) {
            if (k->h->slack != UINT64_MAX) k->h->slack = 0; /* the next add looks */
        } else if (k->access == READS || handle_added(k->h, k->row)) {
            result = finish(k, answers);
        }
        output_close(&k->out);
        free(k->bits);
    }
    source_close(s);
    return result;
}

static PyObject *simple(PyObject *self, PyObject *keys, Access access, Answers answers,
                        tamis_status (*run)(Task *, const Part *, size_t *))
{
    Source s;
    Task k = {.h = (Handle *)self, .access = access, .run = run};
    if (!source_open(k.h, keys, &s)) return NULL;
    return run_task(&k, &s, answers);
}

/* --- Weights ---------------------------------------------------------------------------------- */

/* A kind that cannot subtract refuses a negative weight before anything is added. */
static bool check_weights(Handle *h, const Weights *w)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_error why;
    size_t i = 0;
    while (i < w->n && w->values[i] >= 0) i++;
    if (i == w->n) return true;
    if (!lock_wait(h, CHANGES)) return false;
    tamis_stat(h->t, &f);
    if (f.kind == TAMIS_COUNT_SKETCH || f.kind == TAMIS_SIGNED_TALLY ||
        (f.kind == TAMIS_COUNT_MIN && !f.conservative))
        return true;
    const uint64_t key[4] = {0}; /* of any length that an encoding may require */
    const size_t len = f.key_width != 0 && f.key_width <= sizeof key ? f.key_width : 0;
    const tamis_status s = tamis_add_weight(h->t, key, len, -1, &why);
    if (s != TAMIS_EUNSUPPORTED) return true;
    raise_status_of_row(s, &why, i);
    return false;
}

static PyObject *run_weighted(Handle *h, PyObject *keys, PyObject *weights, Answers answers)
{
    Source s;
    Weights w;
    Task k = {.h = h, .access = ADDS, .run = answers == NOTHING ? run_weigh : run_count};
    PyObject *list = NULL, *result = NULL;
    if (!weights_open(weights, &w)) return NULL;
    bool ok = check_weights(h, &w) && source_open(h, keys, &s);
    if (ok && s.is_open) { /* the number of keys must be known */
        const bool is_stream = s.form != ITERATOR;
        source_close(&s);
        if (is_stream)
            PyErr_SetString(PyExc_TypeError, "keys with weights are one Arrow array, not a stream "
                                             "of them; call combine_chunks()");
        else
            list = PySequence_List(keys);
        ok = list != NULL && source_open(h, list, &s);
    }
    if (ok && s.rows != w.n) {
        PyErr_Format(PyExc_ValueError, "there are %zu keys, but %zu weights", s.rows, w.n);
        source_close(&s);
        ok = false;
    }
    k.weights = w.values;
    if (ok) result = run_task(&k, &s, answers);
    Py_XDECREF(list);
    weights_close(&w);
    return result;
}

/* --- Methods ---------------------------------------------------------------------------------- */

static bool is_mapping(PyObject *o)
{
    if (PyDict_Check(o)) return true;
    if (PyList_Check(o) || PyTuple_Check(o) || PyObject_CheckBuffer(o)) return false;
    PyObject *abc = PyImport_ImportModule("collections.abc");
    PyObject *type = abc != NULL ? PyObject_GetAttrString(abc, "Mapping") : NULL;
    const int yes = type != NULL ? PyObject_IsInstance(o, type) : -1;
    Py_XDECREF(type);
    Py_XDECREF(abc);
    if (yes < 0) PyErr_Clear();
    return yes > 0;
}

static PyObject *update_from_mapping(Handle *h, PyObject *mapping)
{
    PyObject *keys = PyMapping_Keys(mapping);
    PyObject *values = keys != NULL ? PyMapping_Values(mapping) : NULL;
    PyObject *result = values != NULL ? run_weighted(h, keys, values, NOTHING) : NULL;
    Py_XDECREF(values);
    Py_XDECREF(keys);
    return result;
}

static PyObject *update(PyObject *self, PyObject *keys)
{
    return simple(self, keys, ADDS, NOTHING, run_add);
}

static PyObject *add_all(PyObject *self, PyObject *keys)
{
    return simple(self, keys, ADDS, MASK, run_add_new);
}

static bool keys_and_weights(PyObject *args, PyObject *kwargs, PyObject **keys, PyObject **weights)
{
    static char *names[] = {"keys", "weights", NULL};
    *weights = Py_None;
    return PyArg_ParseTupleAndKeywords(args, kwargs, "O|O", names, keys, weights) != 0;
}

static PyObject *update_counts(PyObject *self, PyObject *args, PyObject *kwargs)
{
    Handle *h = (Handle *)self;
    PyObject *keys, *weights;
    if (!keys_and_weights(args, kwargs, &keys, &weights)) return NULL;
    if (weights != Py_None) return run_weighted(h, keys, weights, NOTHING);
    return h->counts && is_mapping(keys) ? update_from_mapping(h, keys) : update(self, keys);
}

static PyObject *add_all_counts(PyObject *self, PyObject *args, PyObject *kwargs)
{
    Handle *h = (Handle *)self;
    PyObject *keys, *weights;
    if (!keys_and_weights(args, kwargs, &keys, &weights)) return NULL;
    if (weights != Py_None) return run_weighted(h, keys, weights, NUMBERS);
    if (!h->counts) return add_all(self, keys);
    return simple(self, keys, ADDS, NUMBERS, run_count);
}

static PyObject *contains(PyObject *self, PyObject *keys)
{
    return simple(self, keys, READS, MASK, run_contains);
}

static PyObject *select_rows(PyObject *self, PyObject *keys)
{
    return simple(self, keys, READS, ROWS, run_contains);
}

static PyObject *remove_all(PyObject *self, PyObject *keys)
{
    return simple(self, keys, CHANGES, MASK, run_remove);
}

static PyObject *exclude(PyObject *self, PyObject *keys)
{
    return simple(self, keys, CHANGES, NOTHING, run_exclude);
}

/* tamis_upper cannot fail, so a kind without counts is refused here. */
static PyObject *upper(PyObject *self, PyObject *keys)
{
    Handle *h = (Handle *)self;
    tamis_estimate e;
    tamis_error why;
    const uint64_t key[4] = {0};
    if (!lock_wait(h, READS)) return NULL;
    const size_t len = h->width != 0 && h->width <= sizeof key ? h->width : 0;
    if (!h->counts && tamis_count(h->t, key, len, &e, &why) == TAMIS_EUNSUPPORTED) {
        raise_status(TAMIS_EUNSUPPORTED, &why, NULL);
        return NULL;
    }
    return simple(self, keys, READS, NUMBERS, run_upper);
}

static PyObject *estimates(PyObject *self, PyObject *keys)
{
    return simple(self, keys, READS, ESTIMATES, run_estimate);
}

#define WITH_NAMES(f) ((PyCFunction)(void (*)(void))(f)), METH_VARARGS | METH_KEYWORDS

PyMethodDef task_filter_methods[] = {
    {"update", update, METH_O,
     "update($self, keys, /)\n--\n\nAdds all keys of a list, array, column or iterable.\n\n"
     "If the call fails or is interrupted, the keys before were added, and no others."},
    {"add_all", add_all, METH_O,
     "add_all($self, keys, /)\n--\n\nAdds all keys, and returns for each whether it was new.\n\n"
     "The answers are a numpy array if keys is an array and numpy is installed, and otherwise a\n"
     "list. With a data frame, frame[seen.add_all(frame['id'])] has each row once."},
    {NULL, NULL, 0, NULL},
};

PyMethodDef task_counts_methods[] = {
    {"update", WITH_NAMES(update_counts),
     "update($self, keys, weights=None)\n--\n\nAdds all keys of a list, array, column or "
     "iterable.\n\n"
     "Each key gets its weight, or 1. keys may be a mapping of keys to weights. If the call fails\n"
     "or is interrupted, the keys before were added, and no others."},
    {"add_all", WITH_NAMES(add_all_counts),
     "add_all($self, keys, weights=None)\n--\n\nAdds all keys, and returns the count of each.\n\n"
     "A count is that right after the add of its key, before the next one. The counts are a numpy\n"
     "array if keys is an array and numpy is installed, and otherwise a list."},
    {NULL, NULL, 0, NULL},
};

PyMethodDef task_methods[] = {
    {"contains", contains, METH_O,
     "contains($self, keys, /)\n--\n\nReturns for each key whether it may be a member.\n\n"
     "The answers are a numpy array of bool if keys is an array and numpy is installed, and\n"
     "otherwise a list of bool."},
    {"select", select_rows, METH_O,
     "select($self, keys, /)\n--\n\nReturns the numbers of the keys that may be members."},
    {"remove_all", remove_all, METH_O,
     "remove_all($self, keys, /)\n--\n\nRemoves keys, and returns for each whether it was "
     "removed.\n\n"
     "A key that is not a member is not removed. See remove() for keys that were never added."},
    {"exclude", exclude, METH_O,
     "exclude($self, keys, /)\n--\n\nExcludes keys from a filter of the kind exact, before its "
     "seal.\n\n"
     "Once sealed, it answers False to them."},
    {"upper", upper, METH_O,
     "upper($self, keys, /)\n--\n\nReturns the count of each key: see __getitem__."},
    {"_estimates", estimates, METH_O, NULL},
    {NULL, NULL, 0, NULL},
};
