/* The type Handle: its life and its slots. The methods are in the files of their subjects. */
#include "binding.h"

PyTypeObject *handle_type;

static bool counts_keys(uint32_t kind)
{
    return kind == TAMIS_COUNT_MIN || kind == TAMIS_COUNT_SKETCH || kind == TAMIS_TALLY ||
           kind == TAMIS_TOP || kind == TAMIS_SIGNED_TALLY;
}

Handle *handle_of(PyObject *o)
{
    if (PyObject_TypeCheck(o, handle_type)) return (Handle *)o;
    PyObject *name = name_of_type(o);
    if (name != NULL)
        PyErr_Format(PyExc_TypeError, "a filter or a sketch of tamis is needed, not %U", name);
    Py_XDECREF(name);
    return NULL;
}

Handle *handle_new(PyTypeObject *type)
{
    allocfunc alloc = (allocfunc)PyType_GetSlot(type, Py_tp_alloc);
    return (Handle *)alloc(type, 0);
}

void handle_refresh(Handle *h)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_stat(h->t, &f);
    h->kind = f.kind;
    h->inner_kind = f.inner_kind;
    h->counts = counts_keys(f.kind) || (f.kind == TAMIS_WINDOW && counts_keys(f.inner_kind));
    h->encoding = f.encoding;
    h->width = f.key_width;
    h->keyless = f.keyed && h->secret == NULL;
    h->caller_hashes = f.hash == TAMIS_CALLER_HASH;
    h->slack = f.planned_items == 0        ? UINT64_MAX
               : f.items < f.planned_items ? f.planned_items - f.items
                                           : 0;
}

void handle_adopt(Handle *h, tamis *t, PyObject *secret, const tamis_options *options)
{
    h->t = t;
    h->secret = secret;
    h->shared = (options->flags & TAMIS_SHARED) != 0;
    h->threads = options->threads;
    h->max_bytes = options->max_bytes;
    handle_refresh(h);
}

/* The class for the kind of t; a new reference. */
static PyObject *class_for(PyObject *classes, const tamis *t)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_stat(t, &f);
    const char *name = tamis_kind_name(f.kind);
    PyObject *class = PyDict_GetItemString(classes, name != NULL ? name : "");
    if (class != NULL && PyType_Check(class) &&
        PyType_IsSubtype((PyTypeObject *)class, handle_type)) {
        Py_INCREF(class);
        return class;
    }
    PyErr_Format(PyExc_SystemError, "there is no class for the kind %s",
                 name != NULL ? name : "unknown");
    return NULL;
}

Handle *handle_wrap(PyObject *classes, tamis *t, PyObject *secret, const tamis_options *options)
{
    PyObject *class = class_for(classes, t);
    Handle *h = class != NULL ? handle_new((PyTypeObject *)class) : NULL;
    Py_XDECREF(class);
    if (h == NULL) {
        tamis_close(t);
        return NULL;
    }
    Py_XINCREF(secret);
    handle_adopt(h, t, secret, options);
    return h;
}

void handle_close(Handle *h)
{
    tamis *t = h->t;
    PyObject *secret = h->secret, *path = h->path;
    h->t = NULL;
    h->secret = h->path = NULL;
    if (t != NULL) {
        Py_BEGIN_ALLOW_THREADS
        tamis_close(t);
        Py_END_ALLOW_THREADS
    }
    free(h->room);
    h->room = NULL;
    if (h->image.obj != NULL) PyBuffer_Release(&h->image);
    Py_XDECREF(secret);
    Py_XDECREF(path);
}

/* `slack` bounds how many more adds there must be until the filter can be overfull, so that most
 * adds do not have to ask. */
static bool check_overfull(Handle *h)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_stat(h->t, &f);
    if (!f.overfull) {
        h->slack = f.items < f.planned_items ? f.planned_items - f.items : 1;
        return true;
    }
    h->warned = true;
    h->slack = UINT64_MAX;
    PyObject *module = PyImport_ImportModule("tamis._errors");
    PyObject *category = NULL, *text = NULL;
    if (module != NULL) category = PyObject_GetAttrString(module, "OverfullWarning");
    if (category != NULL)
        text =
            PyObject_CallMethod(module, "overfull_text", "sKK", tamis_kind_name(f.kind),
                                (unsigned long long)f.items, (unsigned long long)f.planned_items);
    const char *utf8 = text != NULL ? PyUnicode_AsUTF8AndSize(text, NULL) : NULL;
    const bool ok = utf8 != NULL && PyErr_WarnEx(category, utf8, 1) == 0;
    Py_XDECREF(text);
    Py_XDECREF(category);
    Py_XDECREF(module);
    return ok;
}

bool handle_added(Handle *h, size_t n)
{
    if (h->slack == UINT64_MAX || h->t == NULL) return true;
    if (n < h->slack) {
        h->slack -= n;
        return true;
    }
    return check_overfull(h);
}

/* --- Methods of its life ---------------------------------------------------------------------- */

static PyObject *handle_create(PyObject *self, PyObject *args)
{
    Handle *h = (Handle *)self;
    PyObject *plan_dict, *options_dict;
    tamis_plan plan;
    Options o;
    tamis_error why;
    tamis *t;
    if (!PyArg_ParseTuple(args, "O!O!", &PyDict_Type, &plan_dict, &PyDict_Type, &options_dict))
        return NULL;
    if (h->t != NULL) {
        PyErr_SetString(PyExc_RuntimeError, "this object was initialized before");
        return NULL;
    }
    if (!plan_from(plan_dict, &plan) || !options_from(options_dict, &o)) return NULL;
    const tamis_status s = tamis_create(&plan, &o.c, &t, &why);
    if (s == TAMIS_OK) {
        handle_adopt(h, t, o.secret, &o.c);
        Py_RETURN_NONE;
    }
    options_done(&o);
    raise_status(s, &why, NULL);
    return NULL;
}

static PyObject *handle_close_method(PyObject *self, PyObject *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    if (lock_busy(h)) {
        PyErr_SetString(PyExc_RuntimeError,
                        "another thread uses this object, so it cannot be closed now");
        return NULL;
    }
    handle_close(h);
    Py_RETURN_NONE;
}

static PyObject *handle_copy(PyObject *self, PyObject *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    tamis_error why;
    tamis *t = NULL;
    tamis_status s;
    const tamis_options like = {.struct_size = sizeof like,
                                .flags = h->shared ? (uint32_t)TAMIS_SHARED : 0,
                                .threads = h->threads,
                                .max_bytes = h->max_bytes,
                                .shared_key = secret_key(h->secret)};
    if (!lock_enter(h, READS)) return NULL;
    const void *room = h->room, *image = h->image.buf;
    const size_t size = (size_t)h->image.len;
    const uint32_t flags = h->keyless ? (uint32_t)TAMIS_KEYLESS : 0;
    Py_BEGIN_ALLOW_THREADS
    if (room != NULL && h->image.obj != NULL) { /* such a view has no memory of its own */
        tamis_options o = like;
        o.flags |= flags;
        s = tamis_load(image, size, &o, &t, &why);
    } else {
        s = tamis_copy(h->t, &t, &why);
    }
    Py_END_ALLOW_THREADS
    lock_leave(h, READS);
    if (s != TAMIS_OK) {
        raise_status(s, &why, NULL);
        return NULL;
    }
    Handle *copy = handle_new(Py_TYPE(self));
    if (copy == NULL) {
        tamis_close(t);
        return NULL;
    }
    Py_XINCREF(h->secret);
    handle_adopt(copy, t, h->secret, &like);
    copy->warned = h->warned;
    if (h->warned) copy->slack = UINT64_MAX;
    return (PyObject *)copy;
}

/* --- Slots ------------------------------------------------------------------------------------ */

static PyObject *slot_new(PyTypeObject *type, PyObject *args, PyObject *kwargs)
{
    (void)args;
    (void)kwargs;
    return (PyObject *)handle_new(type);
}

static int slot_traverse(PyObject *self, visitproc visit, void *arg)
{
    Py_VISIT(Py_TYPE(self));
    Py_VISIT(((Handle *)self)->image.obj);
    return 0;
}

static int slot_clear(PyObject *self)
{
    Handle *h = (Handle *)self;
    if (h->image.obj != NULL && !lock_busy(h)) handle_close(h);
    return 0;
}

static void slot_dealloc(PyObject *self)
{
    PyTypeObject *type = Py_TYPE(self);
    PyObject_GC_UnTrack(self);
    handle_close((Handle *)self);
    freefunc release = (freefunc)PyType_GetSlot(type, Py_tp_free);
    release(self);
    Py_DECREF(type);
}

static PyObject *get_closed(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((Handle *)self)->t == NULL);
}

static PyObject *get_kind(PyObject *self, void *unused)
{
    (void)unused;
    const char *name = tamis_kind_name(((Handle *)self)->kind);
    if (name == NULL) Py_RETURN_NONE;
    return PyUnicode_FromString(name);
}

static PyObject *get_encoding(PyObject *self, void *unused)
{
    (void)unused;
    Handle *h = (Handle *)self;
    const char *name = tamis_encoding_name(h->encoding);
    if (name == NULL) Py_RETURN_NONE;
    if (h->encoding == TAMIS_KEYS_FIXED) return PyUnicode_FromFormat("%s:%u", name, h->width);
    return PyUnicode_FromString(name);
}

static PyObject *get_options(PyObject *self, void *unused)
{
    (void)unused;
    const Handle *h = (Handle *)self;
    return Py_BuildValue("{s:O,s:I,s:K}", "shared", h->shared ? Py_True : Py_False, "threads",
                         h->threads, "max_bytes", (unsigned long long)h->max_bytes);
}

static PyObject *get_path(PyObject *self, void *unused)
{
    (void)unused;
    PyObject *path = ((Handle *)self)->path;
    if (path == NULL) Py_RETURN_NONE;
    Py_INCREF(path);
    return path;
}

static PyObject *get_keyless(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((Handle *)self)->keyless);
}

static PyGetSetDef getters[] = {
    {"closed", get_closed, NULL, "Whether the object was closed.", NULL},
    {"kind", get_kind, NULL, "The name of the kind, for example 'blocked'.", NULL},
    {"encoding", get_encoding, NULL,
     "How keys become bytes, for example 'int64le' or 'fixed:4'; None if it is not stated.", NULL},
    {"locked", get_keyless, NULL, "Whether the secret key is missing: see unlock().", NULL},
    {"_options", get_options, NULL, NULL, NULL},
    {"_path", get_path, NULL, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyMethodDef life_methods[] = {
    {"_create", handle_create, METH_VARARGS, NULL},
    {"close", handle_close_method, METH_NOARGS,
     "close($self, /)\n--\n\nFrees the memory, and the lock on a file that was opened for "
     "update.\n\n"
     "Does not save. Every later call raises ValueError, except close() itself.\n"
     "Raises RuntimeError while another thread uses the object."},
    {"copy", handle_copy, METH_NOARGS,
     "copy($self, /)\n--\n\nReturns an independent copy in memory."},
    {NULL, NULL, 0, NULL},
};

static PyType_Slot slots[] = {
    {Py_tp_new, slot_new},
    {Py_tp_dealloc, slot_dealloc},
    {Py_tp_traverse, slot_traverse},
    {Py_tp_clear, slot_clear},
    {Py_tp_getset, getters},
    {Py_tp_hash, PyObject_HashNotImplemented},
    {Py_sq_contains, single_contains},
    {Py_sq_length, single_length},
    {Py_mp_subscript, single_subscript},
    {Py_nb_or, single_merge},
    {Py_nb_inplace_or, single_merge_in_place},
    {Py_bf_getbuffer, image_getbuffer},
    {Py_tp_doc, "A filter or a sketch: the base of all classes of tamis."},
    {0, NULL},
};

/* --- Types ------------------------------------------------------------------------------------ */

#define MOST_METHODS 48

/* A type has one table of methods, so those of all files are copied into it. */
static void join_methods(PyMethodDef *const *tables, PyMethodDef all[MOST_METHODS])
{
    size_t n = 0;
    for (; *tables != NULL; tables++)
        for (const PyMethodDef *m = *tables; m->ml_name != NULL; m++) {
            if (n + 1 == MOST_METHODS) Py_FatalError("tamis: too many methods");
            all[n++] = *m;
        }
}

/* The class is known to the module by the last part of its name. */
static PyTypeObject *register_type(PyObject *module, PyType_Spec *with, PyTypeObject *base)
{
    PyObject *bases = base != NULL ? PyTuple_Pack(1, base) : NULL;
    if (base != NULL && bases == NULL) return NULL;
    PyObject *type = PyType_FromModuleAndSpec(module, with, bases);
    Py_XDECREF(bases);
    if (type == NULL) return NULL;
    Py_INCREF(type);
    if (PyModule_AddObject(module, strrchr(with->name, '.') + 1, type) < 0) {
        Py_DECREF(type);
        Py_CLEAR(type);
    }
    return (PyTypeObject *)type;
}

/* A type with the slots of Handle and its own, which are up to three and an end. */
static bool register_derived(PyObject *module, const char *name, const PyType_Slot *own)
{
    static const PyType_Slot life[] = {
        {Py_tp_dealloc, slot_dealloc}, {Py_tp_traverse, slot_traverse}, {Py_tp_clear, slot_clear}};
    PyType_Slot all[7] = {{0, NULL}};
    size_t n = 0;
    memcpy(all, life, sizeof life);
    for (; own[n].slot != 0; n++) all[3 + n] = own[n];
    PyType_Spec spec = {.name = name,
                        .basicsize = (int)sizeof(Handle),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                        .slots = all};
    PyTypeObject *type = register_type(module, &spec, handle_type);
    Py_XDECREF((PyObject *)type); /* the module has a reference */
    return type != NULL;
}

/* Handle, and the types derived from it. Those of filters and of sketches that count differ in the
 * arguments of their methods. */
bool handle_register(PyObject *module)
{
    static PyMethodDef common[MOST_METHODS], of_filters[MOST_METHODS], of_counts[MOST_METHODS];
    PyMethodDef *const common_tables[] = {life_methods,  single_methods, list_methods, task_methods,
                                          facts_methods, image_methods,  file_methods, NULL};
    PyMethodDef *const filter_tables[] = {single_filter_methods, derive_methods,
                                          task_filter_methods, NULL};
    PyMethodDef *const counts_tables[] = {single_counts_methods, task_counts_methods, NULL};
    join_methods(common_tables, common);
    join_methods(filter_tables, of_filters);
    join_methods(counts_tables, of_counts);

    PyType_Slot with_methods[sizeof slots / sizeof *slots + 1];
    with_methods[0] = (PyType_Slot){Py_tp_methods, common};
    memcpy(with_methods + 1, slots, sizeof slots);
    PyType_Spec spec = {.name = "tamis._tamis.Handle",
                        .basicsize = (int)sizeof(Handle),
                        .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                        .slots = with_methods};
    handle_type = register_type(module, &spec, NULL);
    if (handle_type == NULL) return false;

    const PyType_Slot filters[] = {
        {Py_tp_methods, of_filters}, {Py_tp_doc, "A Handle of a filter."}, {0, NULL}};
    const PyType_Slot counting[] = {
        {Py_tp_methods, of_counts}, {Py_tp_doc, "A Handle of a sketch that counts."}, {0, NULL}};
    return register_derived(module, "tamis._tamis.FilterHandle", filters) &&
           register_derived(module, "tamis._tamis.CountsHandle", counting) &&
           register_derived(module, "tamis._tamis.MapHandle", map_slots);
}
