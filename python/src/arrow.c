/* Arrow arrays and streams, by the Arrow C data interface and its PyCapsules:
 * https://arrow.apache.org/docs/format/CDataInterface.html. Rows that are null are skipped. */
#include "bulk.h"

#include <inttypes.h>
#include <stdio.h>

/* As the interface specifies them, with its names. */
struct ArrowSchema {
    const char *format, *name, *metadata;
    int64_t flags, n_children;
    struct ArrowSchema **children, *dictionary;
    void (*release)(struct ArrowSchema *);
    void *private_data;
};

struct ArrowArray {
    int64_t length, null_count, offset, n_buffers, n_children;
    const void **buffers;
    struct ArrowArray **children, *dictionary;
    void (*release)(struct ArrowArray *);
    void *private_data;
};

struct ArrowArrayStream {
    int (*get_schema)(struct ArrowArrayStream *, struct ArrowSchema *out);
    int (*get_next)(struct ArrowArrayStream *, struct ArrowArray *out);
    const char *(*get_last_error)(struct ArrowArrayStream *);
    void (*release)(struct ArrowArrayStream *);
    void *private_data;
};

typedef enum Layout {
    LAYOUT_NONE,
    LAYOUT_INT,
    LAYOUT_TEXT32,
    LAYOUT_TEXT64,
    LAYOUT_FIXED,
    LAYOUT_VIEW
} Layout;

typedef struct Type {
    Layout layout;
    size_t width;
    bool is_signed, is_text;
} Type;

struct Arrow {
    Type type;
    struct ArrowArrayStream *stream; /* NULL: only one array */
    struct ArrowArray *array;        /* the present one: of a capsule, or `own` */
    struct ArrowArray own;           /* from the stream; to be released */
};

#define VIEW_BYTES 16u  /* a view: length, and the bytes, or a prefix, a buffer and an offset */
#define VIEW_INLINE 12u /* bytes of a string that is in its view */

/* --- Types ------------------------------------------------------------------------------------ */

/* A decimal number of at most 9 digits; 0 for anything else. */
static size_t read_width(const char *digits)
{
    size_t width = 0;
    if (strlen(digits) > 9) return 0;
    for (; *digits >= '0' && *digits <= '9'; digits++) width = 10 * width + (size_t)(*digits - '0');
    return *digits == '\0' ? width : 0;
}

static Type read_type(const char *f)
{
    static const char letters[] = "cCsSiIlL";
    const char *found = *f != '\0' && f[1] == '\0' ? strchr(letters, *f) : NULL;
    if (found != NULL) {
        const size_t i = (size_t)(found - letters);
        return (Type){LAYOUT_INT, (size_t)1 << i / 2, i % 2 == 0, false};
    }
    if (strcmp(f, "u") == 0) return (Type){LAYOUT_TEXT32, 0, false, true};
    if (strcmp(f, "z") == 0) return (Type){LAYOUT_TEXT32, 0, false, false};
    if (strcmp(f, "U") == 0) return (Type){LAYOUT_TEXT64, 0, false, true};
    if (strcmp(f, "Z") == 0) return (Type){LAYOUT_TEXT64, 0, false, false};
    if (strcmp(f, "vu") == 0) return (Type){LAYOUT_VIEW, 0, false, true};
    if (strcmp(f, "vz") == 0) return (Type){LAYOUT_VIEW, 0, false, false};
    if (strncmp(f, "w:", 2) == 0) {
        const size_t width = read_width(f + 2);
        if (width > 0) return (Type){LAYOUT_FIXED, width, false, false};
    }
    return (Type){LAYOUT_NONE, 0, false, false};
}

static bool check_type(const Handle *h, const struct ArrowSchema *schema, Type *out)
{
    const char *f = schema->format != NULL ? schema->format : "";
    const bool stated = h->encoding > TAMIS_KEYS_TEXT && h->encoding <= TAMIS_KEYS_CALLER;
    *out = read_type(f);
    if (schema->dictionary != NULL) {
        PyErr_SetString(PyExc_TypeError,
                        "keys are an Arrow dictionary; decode it, for example with "
                        "dictionary_decode()");
        return false;
    }
    if (f[0] == '+') {
        PyErr_SetString(PyExc_TypeError, "keys are a table or a nested type; pass one column");
        return false;
    }
    if (out->layout == LAYOUT_NONE) {
        PyErr_Format(PyExc_TypeError,
                     "keys are str, bytes or int, not an Arrow column of the format '%s'; cast it "
                     "to a string or an integer",
                     f);
        return false;
    }
    if (out->is_text && stated && h->encoding != TAMIS_KEYS_FIXED) {
        raise_wrong_sort(h, "str");
        return false;
    }
    if (out->layout == LAYOUT_INT && stated && h->encoding != TAMIS_KEYS_INT64) {
        raise_wrong_sort(h, "int");
        return false;
    }
    return true;
}

/* The bytes of a row in the second buffer, or more. */
static size_t row_bytes(const Type *type)
{
    switch (type->layout) {
    case LAYOUT_TEXT32: return sizeof(int32_t);
    case LAYOUT_TEXT64: return sizeof(int64_t);
    case LAYOUT_VIEW: return VIEW_BYTES;
    default: return type->width;
    }
}

/* --- One array -------------------------------------------------------------------------------- */

static bool invalid(void)
{
    PyErr_SetString(PyExc_ValueError, "the Arrow array is not valid");
    return false;
}

static void use_arrow_ints(const Handle *h, Source *s, const struct ArrowArray *a, const Type *type)
{
    const uint16_t one = 1;
    const bool little = *(const uint8_t *)&one == 1;
    const char *data = a->buffers[1];
    s->form = INTS;
    s->is_signed = type->is_signed;
    s->as_int64 = h->encoding == TAMIS_KEYS_INT64;
    s->width = type->width;
    s->stride = (Py_ssize_t)type->width;
    s->data = data + (size_t)a->offset * type->width;
    if (!s->as_int64 || type->width != 8 || !type->is_signed || !little) return;
    s->form = DIRECT;
    s->column.data = data;
    s->column.width = 8;
    s->column.bytes = (size_t)(a->offset + a->length) * 8;
}

static bool use_text(Source *s, const struct ArrowArray *a, bool wide)
{
    const int64_t end = a->offset + a->length;
    const int32_t *narrow = a->buffers[1];
    const int64_t *offsets = a->buffers[1];
    const int64_t last = wide ? offsets[end] : narrow[end];
    if (last < 0 || (last > 0 && a->buffers[2] == NULL)) return invalid();
    s->form = DIRECT;
    s->column.data = a->buffers[2];
    s->column.bytes = a->buffers[2] != NULL ? (size_t)last : 0;
    s->column.offsets32 = wide ? NULL : narrow;
    s->column.offsets64 = wide ? offsets : NULL;
    return true;
}

static bool use_array(const Handle *h, Source *s, const struct ArrowArray *a)
{
    const Type *type = &s->arrow->type;
    const int64_t buffers = type->layout == LAYOUT_TEXT32 || type->layout == LAYOUT_TEXT64 ||
                                    type->layout == LAYOUT_VIEW
                                ? 3
                                : 2;
    s->next = 0;
    s->rows = 0;
    if (a->length < 0 || a->offset < 0 || a->length > PY_SSIZE_T_MAX - a->offset) return invalid();
    if ((size_t)(a->offset + a->length) >= PY_SSIZE_T_MAX / row_bytes(type)) return invalid();
    if (a->length == 0) return true;
    if (a->n_buffers < buffers || a->buffers == NULL || a->buffers[1] == NULL) return invalid();
    s->rows = (size_t)a->length;
    s->first = (size_t)a->offset;
    s->validity = a->null_count != 0 ? a->buffers[0] : NULL;
    s->column = (tamis_column){
        .struct_size = sizeof s->column, .first = (size_t)a->offset, .validity = s->validity};
    switch (type->layout) {
    case LAYOUT_INT: use_arrow_ints(h, s, a, type); return true;
    case LAYOUT_TEXT32: return use_text(s, a, false);
    case LAYOUT_TEXT64: return use_text(s, a, true);
    case LAYOUT_VIEW: s->form = VIEWS; return true;
    default: break;
    }
    s->form = DIRECT;
    s->column.data = a->buffers[1];
    s->column.width = type->width;
    s->column.bytes = (size_t)(a->offset + a->length) * type->width;
    return true;
}

bool arrow_view(const Source *s, size_t row, tamis_bytes *out)
{
    const struct ArrowArray *a = s->arrow->array;
    const char *view = (const char *)a->buffers[1] + (s->first + row) * VIEW_BYTES;
    const int64_t variadic = a->n_buffers - 3;
    const int64_t *sizes = a->buffers[a->n_buffers - 1];
    int32_t len, which, offset;
    memcpy(&len, view, sizeof len);
    if (len < 0) return false;
    *out = (tamis_bytes){view + 4, (size_t)len};
    if (len <= (int32_t)VIEW_INLINE) return true;
    memcpy(&which, view + 8, sizeof which);
    memcpy(&offset, view + 12, sizeof offset);
    if (which < 0 || which >= variadic || offset < 0 || sizes == NULL) return false;
    const char *data = a->buffers[2 + which];
    if (data == NULL || (int64_t)offset + len > sizes[which]) return false;
    out->p = data + offset;
    return true;
}

/* --- Capsules --------------------------------------------------------------------------------- */

static bool open_one(const Handle *h, PyObject *o, Source *s)
{
    s->object = PyObject_CallMethod(o, "__arrow_c_array__", NULL);
    if (s->object == NULL) return false;
    if (!PyTuple_Check(s->object) || PyTuple_Size(s->object) != 2) return invalid();
    struct ArrowSchema *schema =
        PyCapsule_GetPointer(PyTuple_GetItem(s->object, 0), "arrow_schema");
    struct ArrowArray *array = PyCapsule_GetPointer(PyTuple_GetItem(s->object, 1), "arrow_array");
    if (schema == NULL || array == NULL) return false;
    if (schema->release == NULL || array->release == NULL) return invalid();
    s->arrow->array = array;
    return check_type(h, schema, &s->arrow->type) && use_array(h, s, array);
}

static bool raise_stream(struct ArrowArrayStream *stream)
{
    const char *reason = stream->get_last_error(stream);
    PyErr_Format(PyExc_ValueError, "the Arrow stream failed: %s",
                 reason != NULL ? reason : "no reason was given");
    return false;
}

static bool open_stream(const Handle *h, PyObject *o, Source *s)
{
    struct ArrowSchema schema = {.release = NULL};
    s->form = DIRECT; /* or another, when there is an array */
    s->is_open = true;
    s->object = PyObject_CallMethod(o, "__arrow_c_stream__", NULL);
    if (s->object == NULL) return false;
    struct ArrowArrayStream *stream = PyCapsule_GetPointer(s->object, "arrow_array_stream");
    if (stream == NULL) return false;
    if (stream->get_schema(stream, &schema) != 0) return raise_stream(stream);
    PyObject *type, *value, *trace;
    const bool ok = check_type(h, &schema, &s->arrow->type);
    PyErr_Fetch(&type, &value, &trace); /* the release may run Python code */
    if (schema.release != NULL) schema.release(&schema);
    PyErr_Restore(type, value, trace);
    s->arrow->stream = stream;
    return ok;
}

bool arrow_open(const Handle *h, PyObject *o, bool is_stream, Source *s)
{
    s->is_array = true;
    s->required_width = h->width;
    s->arrow = calloc(1, sizeof *s->arrow);
    if (s->arrow == NULL) {
        PyErr_NoMemory();
        return false;
    }
    return is_stream ? open_stream(h, o, s) : open_one(h, o, s);
}

static void release_own(struct Arrow *arrow)
{
    if (arrow->own.release != NULL) arrow->own.release(&arrow->own);
    arrow->own = (struct ArrowArray){.release = NULL};
}

int arrow_more(const Handle *h, Source *s)
{
    struct Arrow *arrow = s->arrow;
    if (arrow->stream == NULL) {
        const int more = s->started ? 0 : 1;
        s->started = true;
        return more;
    }
    release_own(arrow);
    if (arrow->stream->get_next(arrow->stream, &arrow->own) != 0) {
        raise_stream(arrow->stream);
        return -1;
    }
    if (arrow->own.release == NULL) {
        s->rows = s->next = 0;
        return 0;
    }
    arrow->array = &arrow->own;
    return use_array(h, s, &arrow->own) ? 1 : -1;
}

void arrow_close(Source *s)
{
    release_own(s->arrow);
    free(s->arrow);
    s->arrow = NULL;
}
