/* The extension tamis._tamis: one type, Handle, which holds a `tamis *`, and the functions that
 * make handles. The classes that people use are Python classes that derive from it (../tamis).
 *
 *   module.c   what the module has            keys.c     one object becomes a key's bytes
 *   handle.c   the type: its life and slots   source.c   an argument `keys` becomes pieces of rows
 *   lock.c     who may use a handle when      buffer.c   numpy arrays and other buffers
 *   plan.c     plans and options              arrow.c    Arrow arrays and streams
 *   facts.c    what a handle reports          text.c     rows that are converted, without Python
 *   image.c    images in memory               objects.c  lists, iterators and arrays of objects
 *   files.c    files                          bulk.c     runs a task over all rows
 *   single.c   calls with one key             tasks.c    the methods that take many keys
 *   counts.c   counts and lists               output.c   answers as arrays or lists
 *   errors.c   exceptions                     maps.c     keys with values
 *   secret.c   secret keys                    values.c   columns of values
 *
 * Only what the limited API of Python 3.11 has is used, and nothing that 3.9 lacks. Functions that
 * return a bool, an int or a pointer report failure by false, -1 or NULL with a Python exception
 * set, unless they state otherwise. The GIL is held unless a comment states otherwise. */
#ifndef TAMIS_BINDING_H
#define TAMIS_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <tamis/columns.h>
#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/embed.h>
#include <tamis/map.h>
#include <tamis/parts.h>
#include <tamis/publish.h>
#include <tamis/tamis.h>

#if defined(__GNUC__) && !defined(_WIN32)
#pragma GCC visibility push(hidden)
#endif

/* --- handle.c ------------------------------------------------------------------------------------
 * Reference cycles are possible through the exporter of `image` only. */
typedef struct Handle {
    PyObject_HEAD
    tamis *t;           /* NULL: closed, or not yet made                                        */
    PyObject *secret;   /* the Secret of t, or NULL; closed after t                             */
    PyObject *path;     /* the file that open(update=True) locked, or NULL                      */
    Py_buffer image;    /* of a view; image.obj is NULL for other handles                       */
    void *room;         /* of a view: its handle, or an aligned copy of the image; or NULL      */
    size_t readers;     /* calls in progress that another such call does not disturb: lock.c    */
    size_t waiting;     /* threads that wait until a call is finished                           */
    bool writer;        /* a call is in progress that needs the handle alone                    */
    bool shared;        /* made with TAMIS_SHARED                                               */
    bool keyless;       /* lacks its secret key                                                 */
    bool caller_hashes; /* made with TAMIS_HASH_CALLER                                          */
    bool warned;        /* OverfullWarning was raised                                           */
    bool counts;        /* a sketch that counts: add returns a count                            */
    uint32_t kind, inner_kind, encoding, width, threads;
    uint64_t max_bytes;
    uint64_t slack; /* so many adds cannot make it overfull; see handle_added               */
} Handle;

extern PyTypeObject *handle_type;
bool handle_register(PyObject *module);
/* Makes an object of this class, which derives from Handle, with nothing in it. */
Handle *handle_new(PyTypeObject *type);
/* Gives t, and the reference to secret, which may be NULL, to a handle that has none. */
void handle_adopt(Handle *h, tamis *t, PyObject *secret, const tamis_options *options);
/* Makes an object of the class that `classes` (a dict, names of kinds to classes) has for the kind
 * of t. Closes t on failure. */
Handle *handle_wrap(PyObject *classes, tamis *t, PyObject *secret, const tamis_options *options);
/* Reads encoding and similar facts again, after t has changed by more than adds. */
void handle_refresh(Handle *h);
/* Closes the handle and releases its image. No call may be in progress. */
void handle_close(Handle *h);
/* To be called after n keys were added: raises OverfullWarning once. False: it is an error. */
bool handle_added(Handle *h, size_t n);
Handle *handle_of(PyObject *o); /* NULL with a TypeError if o is not a Handle */

/* --- lock.c --------------------------------------------------------------------------------------
 * The GIL protects the fields `readers` and `writer`. A call that releases the GIL enters before
 * and leaves afterwards. A call that keeps the GIL only has to wait until it may start. Neither may
 * run Python code in between, because that code may use the same handle. */
typedef enum Access {
    READS,  /* beside other reads; beside adds if the handle is shared */
    ADDS,   /* as READS if the handle is shared, else as CHANGES       */
    CHANGES /* alone                                                   */
} Access;
/* Waits until a call of this sort may start. Fails if the handle is closed or a signal handler
 * raises an exception. */
bool lock_wait(Handle *h, Access access);
bool lock_enter(Handle *h, Access access);
void lock_leave(Handle *h, Access access);
/* Enters both or neither: `into` for CHANGES and `from` for READS. */
bool lock_enter_two(Handle *into, Handle *from);
/* Lets threads that wait for the handle have a turn. */
void lock_yield(Handle *h);
bool lock_busy(const Handle *h);
void raise_closed(Handle *h);

/* --- errors.c --------------------------------------------------------------------------------- */
/* Raises the exception of tamis._errors for a failure. why and path may be NULL. */
void raise_status(tamis_status s, const tamis_error *why, PyObject *path);
/* The same for a bulk call; its reason begins with the number of the row. */
void raise_status_of_row(tamis_status s, const tamis_error *why, size_t row);
/* Adds "row N: " to the reason of the TypeError, ValueError or OverflowError that is set. */
void name_row(size_t row);
/* Raises AbsentError, which names the key by its repr(). */
void raise_absent(PyObject *key);
PyObject *name_of_type(PyObject *o); /* a str */

/* --- secret.c --------------------------------------------------------------------------------- */
extern PyTypeObject *secret_type;
bool secret_register(PyObject *module);
/* Sets *out to a new reference to the Secret that the argument `key` stands for (a Secret, or 16
 * bytes), or to NULL for None. */
bool secret_from(PyObject *key, PyObject **out);
tamis_key *secret_key(PyObject *secret); /* NULL if secret is NULL */

/* --- plan.c ----------------------------------------------------------------------------------- */
extern PyMethodDef plan_functions[];
bool plan_from(PyObject *dict, tamis_plan *plan);
PyObject *plan_to_dict(const tamis_plan *plan);
/* What the keyword arguments key, shared, threads, max_bytes and keyless mean. *secret becomes a
 * new reference, or NULL. */
typedef struct Options {
    tamis_options c;
    PyObject *secret;
} Options;
bool options_from(PyObject *dict, Options *out);
void options_done(Options *o);

/* --- facts.c ---------------------------------------------------------------------------------- */
typedef struct Field {
    const char *name;
    char type; /* I: uint32_t, Q: uint64_t, q: int64_t, d: double, ?: bool */
    size_t offset;
} Field;
PyObject *fields_to_dict(const Field *f, const void *from);
extern PyMethodDef facts_methods[];

/* --- image.c, files.c ------------------------------------------------------------------------- */
extern PyMethodDef image_functions[], image_methods[], file_functions[], file_methods[];
int image_getbuffer(PyObject *self, Py_buffer *view, int flags);
/* The image as a bytes object. Enters and leaves the handle. */
PyObject *image_bytes(Handle *h);

/* --- keys.c ----------------------------------------------------------------------------------- */
typedef struct Key {
    const char *p;
    size_t len;
    char text[24];    /* of an integer */
    PyObject *owner;  /* of p, or NULL */
    Py_buffer buffer; /* of p, if buffer.obj is not NULL */
} Key;
/* Turns an object into a key as docs/KEYS.md says. Its bytes are valid until key_done, as long as
 * the object is alive and no Python code runs. */
bool key_from(const Handle *h, PyObject *o, Key *k);
void key_done(Key *k);
/* The decimal text of an integer: writes at most 20 bytes, and returns how many. */
size_t decimal_u64(uint64_t v, char *out);
size_t decimal_i64(int64_t v, char *out);
void bytes_of_i64(int64_t v, char out[8]);
bool check_width(const Handle *h, size_t len);
/* Fails if h cannot hash keys: it lacks its secret key, or the caller hashes. */
bool check_hashes(Handle *h);
bool is_numpy_bool(PyObject *o); /* which has __index__ in some versions */
void raise_wrong_sort(const Handle *h, const char *what);

/* --- single.c, counts.c, tasks.c -------------------------------------------------------------- */
extern PyMethodDef single_methods[], single_filter_methods[], single_counts_methods[];
extern PyMethodDef list_methods[], derive_methods[];
extern PyMethodDef task_methods[], task_filter_methods[], task_counts_methods[];
/* Waits until a call with a key of this sort may start. Keeps the GIL. */
bool single_ready(Handle *h, Access access);
int single_contains(PyObject *self, PyObject *key);
PyObject *single_subscript(PyObject *self, PyObject *key);
Py_ssize_t single_length(PyObject *self);
PyObject *single_merge_in_place(PyObject *self, PyObject *other);
PyObject *single_merge(PyObject *self, PyObject *other);
PyObject *estimate_to_tuple(const tamis_estimate *e);

/* --- maps.c, values.c ------------------------------------------------------------------------- */
extern PyType_Slot map_slots[]; /* what MapHandle has besides the slots of every derived type */
extern PyMethodDef value_functions[];

#endif
