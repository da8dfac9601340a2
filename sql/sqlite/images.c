/* Open images.
 *
 * To open an image, it is copied and every byte of it is verified. A scan that asks about a key in
 * each row must do that once. If the argument is constant, which parameters and literals are,
 * SQLite keeps the open image until the statement ends. For other arguments, such as columns and
 * subqueries, and for the next statement, the connection keeps the last images that it opened. An
 * address would identify none of them, because SQLite uses the memory of one row again for the
 * next.
 *
 * A kept image is used for a BLOB if all their bytes are equal. To compare them takes 40 us for a
 * MiB, so a query in a scan only compares the headers (lite_likely). The header contains the root,
 * a checksum of all checksums. But these are not cryptographic: somebody who knows an image can
 * make another one with the same header, and his row must not change the answers about somebody
 * else's. Therefore the query also asks the BLOB itself (lite_confirms), which takes 0.3 us to open
 * if its cells are not verified:
 *   - If the answers are equal, the common answer is right. If the BLOB is undamaged, that follows
 *     from its own answer. If it is damaged, it follows from the answer of the copy.
 *   - If they differ, the BLOB is verified, and either refused or kept as another image. */
#include "tamis_sqlite.h"

#include "../common/fail.h"

#include <inttypes.h>
#include <string.h>
#include <tamis/embed.h>

SQLITE_EXTENSION_INIT3

enum {
    HEADER_BYTES = 128,
    IMAGE_ALIGNMENT = 64 /* of tamis_view */
};
/* The latest image is kept, whatever its size; others as long as all are not bigger than this. */
#define MOST_KEPT ((size_t)64 << 20)

/* --- References ------------------------------------------------------------------------------- */

static struct lite_image *add_ref(struct lite_image *o)
{
    o->refs++;
    return o;
}

void lite_release(void *image)
{
    struct lite_image *o = image;
    if (o == NULL || --o->refs != 0) return;
    tamis_close(o->t);
    sqlite3_free(o);
}

static void learn(struct lite_image *o)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    tamis_stat(o->t, &f);
    o->kind = f.kind;
    o->encoding = f.encoding;
    o->width = f.key_width;
    o->caller_hashes = f.hash == TAMIS_CALLER_HASH;
    o->entries = f.entries;
}

/* --- From BLOBs ------------------------------------------------------------------------------- */

/* Copies and verifies an image. */
static tamis_status view_copy(tamis_bytes image, struct lite_image **out, tamis_error *why)
{
    const tamis_options options = {.struct_size = sizeof options, .memory = &lite_memory};
    struct lite_image *o = sqlite3_malloc64(sizeof *o + IMAGE_ALIGNMENT + image.len);
    if (o == NULL) return sql_fail(why, TAMIS_ENOMEM, "no memory");
    memset(o, 0, sizeof *o);
    char *copy = (char *)(o + 1);
    copy += IMAGE_ALIGNMENT - (uintptr_t)copy % IMAGE_ALIGNMENT;
    if (image.len != 0) memcpy(copy, image.p, image.len);
    const tamis_status s = tamis_view(copy, image.len, &options, &o->t, why);
    if (s != TAMIS_OK) {
        sqlite3_free(o);
        return s;
    }
    o->refs = 1;
    o->image = (tamis_bytes){copy, image.len};
    learn(o);
    *out = o;
    return TAMIS_OK;
}

static bool is_same(const struct lite_image *o, tamis_bytes image)
{
    return o != NULL && o->image.len == image.len && memcmp(o->image.p, image.p, image.len) == 0;
}

/* Puts an image first, at place i, whose image it replaces or is. */
static void put_first(struct lite *c, int i, struct lite_image *o)
{
    size_t bytes = o->image.len;
    memmove(c->kept + 1, c->kept, (size_t)i * sizeof *c->kept);
    c->kept[0] = o;
    for (i = 1; i < LITE_KEPT; i++) {
        const size_t more = c->kept[i] != NULL ? c->kept[i]->image.len : 0;
        if (more <= MOST_KEPT && bytes <= MOST_KEPT - more) {
            bytes += more;
        } else {
            lite_release(c->kept[i]);
            c->kept[i] = NULL;
        }
    }
}

/* The kept image with these bytes, or a new one. It has no new reference. */
static tamis_status keep(struct lite *c, tamis_bytes image, struct lite_image **out,
                         tamis_error *why)
{
    int i = 0;
    while (i < LITE_KEPT && !is_same(c->kept[i], image)) i++;
    if (i < LITE_KEPT) {
        *out = c->kept[i];
    } else {
        const tamis_status s = view_copy(image, out, why);
        if (s != TAMIS_OK) return s;
        i = LITE_KEPT - 1;
        lite_release(c->kept[i]);
    }
    if (i != 0) put_first(c, i, *out);
    return TAMIS_OK;
}

void lite_forget(struct lite *c)
{
    for (int i = 0; i < LITE_KEPT; i++) {
        lite_release(c->kept[i]);
        c->kept[i] = NULL;
    }
    sqlite3_free(c->room);
    c->room = NULL;
    c->room_size = 0;
}

/* --- Arguments -------------------------------------------------------------------------------- */

static tamis_status blob_argument(sqlite3_value *v, tamis_bytes *out, tamis_error *why)
{
    if (sqlite3_value_type(v) != SQLITE_BLOB)
        return sql_fail(why, TAMIS_EINVAL,
                        "a filter or sketch is a BLOB, or tamis_file(path) as an argument");
    return lite_blob(v, out, why);
}

tamis_status lite_image_of(struct lite *c, sqlite3_value *v, struct lite_image **out,
                           tamis_error *why)
{
    tamis_bytes image;
    tamis_status s = TAMIS_OK;
    *out = sqlite3_value_pointer(v, LITE_POINTER);
    if (*out == NULL) {
        s = blob_argument(v, &image, why);
        if (s == TAMIS_OK) s = keep(c, image, out, why);
    }
    if (s == TAMIS_OK) add_ref(*out);
    return s;
}

/* Kinds that are opened without reading their cells, unless these are verified. */
static bool opens_fast(uint32_t kind)
{
    return kind == TAMIS_BLOOM || kind == TAMIS_PARTITIONED || kind == TAMIS_BLOCKED ||
           kind == TAMIS_COUNTING || kind == TAMIS_CUCKOO || kind == TAMIS_FUSE ||
           kind == TAMIS_RIBBON;
}

/* The place of a kept image of such a kind with the same header; LITE_KEPT: none. */
static int find_header(const struct lite *c, tamis_bytes image)
{
    int i = 0;
    while (i < LITE_KEPT && !(c->kept[i] != NULL && c->kept[i]->image.len == image.len &&
                              memcmp(c->kept[i]->image.p, image.p, HEADER_BYTES) == 0 &&
                              opens_fast(c->kept[i]->kind)))
        i++;
    return i;
}

struct lite_image *lite_likely(sqlite3_context *ctx, sqlite3_value *v, tamis_bytes *blob)
{
    struct lite *c = ((const struct lite_site *)sqlite3_user_data(ctx))->lite;
    *blob = (tamis_bytes){NULL, 0};
    /* A parameter is compared as a whole, because then the statement need not do it again. */
    if (sqlite3_value_type(v) != SQLITE_BLOB || sqlite3_value_frombind(v) != 0 ||
        sqlite3_get_auxdata(ctx, 0) != NULL)
        return lite_argument(ctx, 0, v);
    const tamis_bytes image = {sqlite3_value_blob(v), (size_t)sqlite3_value_bytes(v)};
    const int i = image.p != NULL && image.len >= HEADER_BYTES ? find_header(c, image) : LITE_KEPT;
    if (i == LITE_KEPT) return lite_argument(ctx, 0, v);
    if (i != 0) put_first(c, i, c->kept[i]);
    *blob = image;
    return add_ref(c->kept[0]);
}

bool lite_confirms(struct lite *c, tamis_bytes blob, tamis_bytes key, bool answer)
{
    const tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_UNVERIFIED};
    size_t needed = 0;
    tamis *t;
    tamis_status s =
        tamis_view_at(c->room, c->room_size, blob.p, blob.len, &options, &needed, &t, NULL);
    if (s == TAMIS_ENOMEM && needed > c->room_size) {
        sqlite3_free(c->room);
        c->room = sqlite3_malloc64(needed);
        c->room_size = c->room != NULL ? needed : 0;
        s = tamis_view_at(c->room, c->room_size, blob.p, blob.len, &options, &needed, &t, NULL);
    }
    return s == TAMIS_OK && tamis_may_contain(t, key.p, key.len) == answer;
}

/* SQLite drops the auxiliary data of an argument that is not constant right after the call. */
struct lite_image *lite_argument(sqlite3_context *ctx, int i, sqlite3_value *v)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    struct lite_image *o = sqlite3_get_auxdata(ctx, i);
    tamis_error why;
    if (o != NULL) return add_ref(o);
    const tamis_status s = lite_image_of(site->lite, v, &o, &why);
    if (s != TAMIS_OK) {
        lite_fail(ctx, s, &why);
        return NULL;
    }
    sqlite3_set_auxdata(ctx, i, add_ref(o), lite_release);
    return o;
}

/* --- Copies ----------------------------------------------------------------------------------- */

struct block {
    char *p;
    size_t used, room;
};

static tamis_status put_block(void *ctx, const void *bytes, size_t n)
{
    struct block *b = ctx;
    if (n > b->room - b->used) return TAMIS_EINVAL;
    memcpy(b->p + b->used, bytes, n);
    b->used += n;
    return TAMIS_OK;
}

static tamis_status write_block(const struct lite *c, const tamis *t, struct block *out,
                                tamis_error *why)
{
    const uint64_t size = tamis_image_size(t), most = lite_most(c);
    if (size > most)
        return sql_fail(why, TAMIS_EFULL,
                        "this takes %" PRIu64 " bytes, but a value of this database has at most "
                        "%" PRIu64,
                        size, most);
    *out = (struct block){sqlite3_malloc64(size), 0, (size_t)size};
    if (out->p == NULL) return sql_fail(why, TAMIS_ENOMEM, "no memory");
    const tamis_status s = tamis_write(t, put_block, out, why);
    if (s != TAMIS_OK) sqlite3_free(out->p);
    return s;
}

tamis_status lite_bytes(const struct lite *c, const struct lite_image *o, tamis_bytes *out,
                        void **owned, tamis_error *why)
{
    struct block b = {0};
    *out = o->image;
    *owned = NULL;
    if (o->image.p != NULL) return TAMIS_OK;
    const tamis_status s = write_block(c, o->t, &b, why);
    if (s != TAMIS_OK) return s;
    *out = (tamis_bytes){b.p, b.used};
    *owned = b.p;
    return TAMIS_OK;
}

tamis_status lite_raw(const struct lite *c, sqlite3_value *v, tamis_bytes *out, void **owned,
                      tamis_error *why)
{
    const struct lite_image *file = sqlite3_value_pointer(v, LITE_POINTER);
    if (file != NULL) return lite_bytes(c, file, out, owned, why);
    *owned = NULL;
    return blob_argument(v, out, why);
}

tamis_status lite_open(const struct lite *c, sqlite3_value *v, tamis **out, tamis_error *why)
{
    void *owned;
    tamis_bytes image;
    tamis_status s = lite_raw(c, v, &image, &owned, why);
    if (s != TAMIS_OK) return s;
    s = sql_open(image, lite_most(c), &lite_memory, out, why);
    sqlite3_free(owned);
    return s;
}

void lite_result(sqlite3_context *ctx, const tamis *t)
{
    const struct lite_site *site = sqlite3_user_data(ctx);
    struct block b;
    tamis_error why;
    const tamis_status s = write_block(site->lite, t, &b, &why);
    if (s == TAMIS_OK)
        sqlite3_result_blob64(ctx, b.p, b.used, sqlite3_free);
    else
        lite_fail(ctx, s, &why);
}

/* --- Files ------------------------------------------------------------------------------------ */

static tamis_status map_file(const char *path, struct lite_image **out, tamis_error *why)
{
    const tamis_options options = {
        .struct_size = sizeof options, .flags = TAMIS_MAP, .memory = &lite_memory};
    struct lite_image *o = sqlite3_malloc64(sizeof *o);
    if (o == NULL) return sql_fail(why, TAMIS_ENOMEM, "no memory");
    memset(o, 0, sizeof *o);
    const tamis_status s = tamis_open(path, &options, &o->t, why);
    if (s != TAMIS_OK) {
        sqlite3_free(o);
        return s;
    }
    o->refs = 1;
    learn(o);
    *out = o;
    return TAMIS_OK;
}

/* If the path is constant, SQLite keeps the file open for the statement. A value of one of its rows
 * may live longer. */
void lite_file(sqlite3_context *ctx, int n, sqlite3_value **v)
{
    (void)n;
    struct lite_image *o = sqlite3_get_auxdata(ctx, 0);
    const char *path = NULL;
    tamis_error why;
    if (lite_is_null(v[0])) return;
    if (o != NULL) {
        sqlite3_result_pointer(ctx, add_ref(o), LITE_POINTER, lite_release);
        return;
    }
    tamis_status s = lite_path(v[0], &path, &why);
    if (s == TAMIS_OK) s = map_file(path, &o, &why);
    if (s != TAMIS_OK) {
        lite_fail_file(ctx, path, s, &why);
        return;
    }
    sqlite3_set_auxdata(ctx, 0, add_ref(o), lite_release);
    sqlite3_result_pointer(ctx, o, LITE_POINTER, lite_release);
}
