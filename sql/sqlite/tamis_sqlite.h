/* The extension for SQLite. Filters and sketches are BLOBs with the bytes of .tamis files.
 *
 *     SELECT tamis_filter_agg(address, 1000000, 0.01) FROM bad;      -- a BLOB
 *     SELECT * FROM visits WHERE tamis_contains(:filter, address);
 *     SELECT tamis_value(:map, address) FROM visits;
 *
 *     extension.c   what is registered, and the entry points
 *     support.c     memory and errors
 *     values.c      values of SQL as keys and as parameters
 *     images.c      open images, from BLOBs and from files
 *     functions.c   functions of images
 *     aggregates.c  functions of the rows of a group
 *     list.c        tamis_list: the most frequent items as a table
 *
 * An error has the name of the function and the reason that the library gives. SQL has no place for
 * a secret key, so images that need one are refused. The aggregates are not window functions,
 * because most kinds cannot forget a row. */
#ifndef TAMIS_SQLITE_H
#define TAMIS_SQLITE_H

#include "../common/gather.h"
#include "../common/keys.h"

#include <sqlite3ext.h>
#include <tamis/count.h>
#include <tamis/map.h>
#include <tamis/tamis.h>

/* --- Functions (extension.c) ------------------------------------------------------------------ */

enum { LITE_KEPT = 4 };

/* What the functions of a connection share. SQLite calls them one at a time. */
struct lite {
    sqlite3 *db;
    size_t refs;                        /* how many are registered */
    struct lite_image *kept[LITE_KEPT]; /* the last one that was used comes first */
    void *room;                         /* of lite_confirms */
    size_t room_size;
};

/* What an aggregate reads from a row: the plan, which must be the same in all rows of a group, and
 * the weight of the value, or the value of a key of a map. */
struct lite_row {
    tamis_plan plan;
    int64_t weight;
    bool ignored;
};

struct lite_function {
    const char *name;
    int arguments, flags;
    void (*call)(sqlite3_context *ctx, int n, sqlite3_value **v); /* an aggregate: its step */
    void (*final)(sqlite3_context *ctx);
    tamis_status (*read)(int n, sqlite3_value **v, struct lite_row *row, tamis_error *why);
};

/* The user data of a function. */
struct lite_site {
    struct lite *lite;
    const struct lite_function *f;
};

extern const struct lite_function lite_functions[];  /* functions.c; the last one has no name */
extern const struct lite_function lite_aggregates[]; /* aggregates.c */

struct lite *lite_ref(struct lite *c);
void lite_unref(void *lite);

/* The size of the longest value of this connection. */
uint64_t lite_most(const struct lite *c);

/* --- Memory and errors (support.c) ------------------------------------------------------------ */

extern const tamis_memory lite_memory;

/* Ends a call with an error. */
void lite_fail(sqlite3_context *ctx, tamis_status s, const tamis_error *why);
/* The same for a file, whose path may be NULL. */
void lite_fail_file(sqlite3_context *ctx, const char *path, tamis_status s, const tamis_error *why);

/* For a call of the library that returns a status alone. */
tamis_status lite_reason(tamis_status s, tamis_error *why);

/* Ends a call with a text of sqlite3_malloc. NULL: there was no memory for it. */
void lite_text(sqlite3_context *ctx, char *text);

/* --- Values (values.c) ------------------------------------------------------------------------ */

/* Whether a value is NULL, which a pointer also seems to be. */
bool lite_is_null(sqlite3_value *v);

/* The value that is to become a key. It is valid as long as v. */
tamis_status lite_value(sqlite3_value *v, struct sql_value *out, tamis_error *why);
tamis_status lite_blob(sqlite3_value *v, tamis_bytes *out, tamis_error *why);

/* Parameters, which have these names in errors. */
tamis_status lite_whole(sqlite3_value *v, const char *name, uint64_t *out, tamis_error *why);
tamis_status lite_real(sqlite3_value *v, const char *name, double *out, tamis_error *why);
tamis_status lite_rate(sqlite3_value *v, double *out, tamis_error *why);
tamis_status lite_map_rate(sqlite3_value *v, double *out, tamis_error *why); /* may be 1 */
tamis_status lite_kind(sqlite3_value *v, uint32_t *out, tamis_error *why);
tamis_status lite_path(sqlite3_value *v, const char **out, tamis_error *why);

/* --- What aggregates use as well (functions.c) ------------------------------------------------ */

/* The number of distinct keys. Fails if it cannot be estimated. */
tamis_status lite_count_distinct(const tamis *t, int64_t *out, tamis_error *why);

/* --- Images (images.c) ------------------------------------------------------------------------ */

/* The type of the pointers that tamis_file returns. Only these functions can read them; to others,
 * and where SQLite stores a value, they are NULL. */
#define LITE_POINTER "tamis"

struct lite_image {
    size_t refs;
    tamis *t;          /* read-only */
    tamis_bytes image; /* that t views; none if it maps a file */
    uint32_t kind, encoding, width;
    bool caller_hashes;
    uint64_t entries;
};

/* Opens the image of a value and adds a reference. */
tamis_status lite_image_of(struct lite *c, sqlite3_value *v, struct lite_image **out,
                           tamis_error *why);
/* The same for argument i of a function. NULL: the call has ended with an error. */
struct lite_image *lite_argument(sqlite3_context *ctx, int i, sqlite3_value *v);
/* The same for argument 0 of a query. If *blob is not empty, the image only has its header, and
 * lite_confirms must confirm the answer; otherwise lite_argument has the right one. */
struct lite_image *lite_likely(sqlite3_context *ctx, sqlite3_value *v, tamis_bytes *blob);
bool lite_confirms(struct lite *c, tamis_bytes blob, tamis_bytes key, bool answer);
void lite_release(void *image); /* drops a reference; NULL is allowed */

/* The bytes of an open image. *owned is what the caller must pass to sqlite3_free, or NULL. */
tamis_status lite_bytes(const struct lite *c, const struct lite_image *o, tamis_bytes *out,
                        void **owned, tamis_error *why);
/* The bytes of a value, which nobody has verified. */
tamis_status lite_raw(const struct lite *c, sqlite3_value *v, tamis_bytes *out, void **owned,
                      tamis_error *why);

/* Opens a copy of the image of a value, which can be changed. */
tamis_status lite_open(const struct lite *c, sqlite3_value *v, tamis **out, tamis_error *why);

/* Ends a call with the image of t. */
void lite_result(sqlite3_context *ctx, const tamis *t);

/* tamis_file(path) */
void lite_file(sqlite3_context *ctx, int n, sqlite3_value **v);

/* Forgets the images that a connection keeps. */
void lite_forget(struct lite *c);

/* --- The most frequent items (list.c) --------------------------------------------------------- */

struct lite_list {
    tamis_heavy *items; /* to be freed by sqlite3_free */
    size_t n;
};

/* The `most` most frequent items of a sketch; TAMIS_EUNSUPPORTED for kinds that keep no list. */
tamis_status lite_list_of(const tamis *t, uint64_t most, struct lite_list *out, tamis_error *why);

/* A text of JSON for approx_top_k, to be freed by sqlite3_free; NULL: no memory. */
char *lite_list_json(const struct lite_list *list);

/* Registers the table. Returns a status of SQLite. */
int lite_register_list(struct lite *c);

#endif
