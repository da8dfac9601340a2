/* Finds the Bloom filters of a Parquet file. The file ends with its metadata in Thrift's compact
 * protocol, their length in four bytes, and "PAR1", with which it also begins. These fields of the
 * metadata are needed:
 *
 *     4 row groups, each with 1 columns, each with 3 metadata:
 *         1 type, 3 path, 5 values, 14 offset and 15 length of the filter
 *
 * The metadata are read twice: first to learn how much memory the list takes, then to make it. */
#include "foreign.h"

#include "../core/handle.h"
#include "../core/sized.h"
#include "thrift.h"

enum { TAIL = 8, HEAD = 4 };
/* A filter's header has 16 to 20 bytes; only future versions may have more. */
enum { MOST_HEADER = 64 };

struct chunk {
    uint64_t row_group, column, values, offset;
    size_t name, name_len; /* position in `names` */
    uint32_t type, length;
    bool has_filter;
};

struct tamis_parquet {
    tamis_reader file;
    tamis_options options;
    uint64_t n;
    struct chunk *chunks;
    char *names;
};

/* --- The metadata ----------------------------------------------------------------------------- */

/* What a pass collects; without chunks it only counts. */
struct pass {
    struct thrift t;
    uint64_t n;
    size_t name_bytes;
    struct chunk *chunks;
    char *names;
    uint64_t row_group, column;
    const char *unsupported;
};

/* Stores the parts of the path, separated by dots, and a NUL. */
static void parquet_take_name(struct pass *p, struct chunk *c)
{
    const size_t parts = tamis__thrift_list(&p->t, THRIFT_BINARY);
    c->name = p->name_bytes;
    for (size_t i = 0; i < parts && !p->t.bad; i++) {
        size_t n;
        const uint8_t *part = tamis__thrift_binary(&p->t, &n);
        if (p->names != NULL && i > 0) p->names[p->name_bytes] = '.';
        p->name_bytes += i > 0;
        if (p->names != NULL) memcpy(p->names + p->name_bytes, part, n);
        p->name_bytes += n;
    }
    c->name_len = p->name_bytes - c->name;
    if (p->names != NULL) p->names[p->name_bytes] = '\0';
    p->name_bytes++;
}

static void take_metadata(struct pass *p, struct chunk *c)
{
    struct thrift *t = &p->t;
    struct thrift_field f = {0, 0};
    int64_t type = -1, values = -1, offset = 0, length = 0;
    bool named = false;
    while (tamis__thrift_next(t, &f)) {
        if (tamis__thrift_is(t, &f, 1, THRIFT_I32)) {
            type = tamis__thrift_int(t);
        } else if (tamis__thrift_is(t, &f, 3, THRIFT_LIST) && !named) {
            parquet_take_name(p, c);
            named = true;
        } else if (tamis__thrift_is(t, &f, 5, THRIFT_I64)) {
            values = tamis__thrift_int(t);
        } else if (tamis__thrift_is(t, &f, 14, THRIFT_I64)) {
            offset = tamis__thrift_int(t);
            c->has_filter = true;
        } else if (tamis__thrift_is(t, &f, 15, THRIFT_I32)) {
            length = tamis__thrift_int(t);
        } else {
            tamis__thrift_skip(t, &f);
        }
    }
    if (!named || type < TAMIS_PARQUET_BOOLEAN || type > TAMIS_PARQUET_FIXED || values < 0 ||
        offset < 0 || length < 0 || length > INT32_MAX)
        t->bad = true;
    c->type = (uint32_t)type;
    c->values = (uint64_t)values;
    c->offset = (uint64_t)offset;
    c->length = (uint32_t)length;
}

static void take_column(struct pass *p)
{
    struct chunk c = {.row_group = p->row_group, .column = p->column};
    struct thrift_field f = {0, 0};
    bool found = false;
    while (tamis__thrift_next(&p->t, &f)) {
        if (f.id == 1) p->unsupported = "the columns of this Parquet file are in other files";
        if (f.id == 8 || f.id == 9) p->unsupported = "this Parquet file has encrypted columns";
        if (!found && tamis__thrift_is(&p->t, &f, 3, THRIFT_STRUCT)) {
            take_metadata(p, &c);
            found = true;
        } else {
            tamis__thrift_skip(&p->t, &f);
        }
    }
    if (!found && p->unsupported == NULL) p->t.bad = true;
    if (p->chunks != NULL) p->chunks[p->n] = c;
    p->n++;
}

static void take_row_group(struct pass *p)
{
    struct thrift_field f = {0, 0};
    bool found = false;
    p->column = 0;
    while (tamis__thrift_next(&p->t, &f)) {
        if (found || !tamis__thrift_is(&p->t, &f, 1, THRIFT_LIST)) {
            tamis__thrift_skip(&p->t, &f);
            continue;
        }
        found = true;
        const size_t columns = tamis__thrift_list(&p->t, THRIFT_STRUCT);
        for (size_t i = 0; i < columns && !p->t.bad; i++, p->column++) take_column(p);
    }
    if (!found) p->t.bad = true;
}

static void take_file(struct pass *p)
{
    struct thrift_field f = {0, 0};
    bool found = false;
    while (tamis__thrift_next(&p->t, &f)) {
        if (found || !tamis__thrift_is(&p->t, &f, 4, THRIFT_LIST)) {
            tamis__thrift_skip(&p->t, &f);
            continue;
        }
        found = true;
        const size_t groups = tamis__thrift_list(&p->t, THRIFT_STRUCT);
        for (size_t i = 0; i < groups && !p->t.bad; i++, p->row_group++) take_row_group(p);
    }
    if (!found) p->t.bad = true;
}

/* --- Life cycle ------------------------------------------------------------------------------- */

/* Returns the metadata, which the caller frees, or NULL after an error. */
static uint8_t *read_footer(const tamis_reader *file, const tamis_options *o, size_t *n,
                            tamis_status *s, tamis_error *why)
{
    uint8_t head[HEAD], tail[TAIL];
    *s = TAMIS_ECORRUPT;
    if (file->size < HEAD + TAIL) {
        tamis__corrupt(why, 0, "too short for a Parquet file");
        return NULL;
    }
    tamis_status got = file->read(file->ctx, 0, head, HEAD);
    if (got == TAMIS_OK) got = file->read(file->ctx, file->size - TAIL, tail, TAIL);
    if (got != TAMIS_OK) {
        *s = tamis__fail(why, got, "cannot read the Parquet file");
        return NULL;
    }
    if (memcmp(head, "PARE", HEAD) == 0) {
        *s = tamis__fail(why, TAMIS_EUNSUPPORTED, "this Parquet file is encrypted");
        return NULL;
    }
    if (memcmp(head, "PAR1", HEAD) != 0 || memcmp(tail + 4, "PAR1", 4) != 0) {
        tamis__corrupt(why, 0, "not a complete Parquet file: PAR1 is missing at one end");
        return NULL;
    }
    const uint32_t size = tamis__get32(tail);
    if (size == 0 || size > file->size - HEAD - TAIL) {
        tamis__corrupt(why, file->size - TAIL,
                       "the footer of this Parquet file has a wrong length");
        return NULL;
    }
    if (o->max_bytes != 0 && size > o->max_bytes) {
        *s = tamis__fail(why, TAMIS_ENOMEM, "the footer has %lu bytes, more than the limit of %llu",
                         (unsigned long)size, (unsigned long long)o->max_bytes);
        return NULL;
    }
    uint8_t *footer = tamis__alloc(o->memory, size);
    if (footer == NULL) {
        *s = tamis__fail(why, TAMIS_ENOMEM, "not enough memory for the footer");
        return NULL;
    }
    *s = file->read(file->ctx, file->size - TAIL - size, footer, size);
    *n = size;
    if (*s == TAMIS_OK) return footer;
    tamis__fail(why, *s, "cannot read the Parquet file");
    tamis__free(o->memory, footer);
    return NULL;
}

static tamis_status list_chunks(tamis_parquet *p, const uint8_t *footer, size_t n, tamis_error *why)
{
    struct pass count = {.t = {footer, n, 0, false}};
    take_file(&count);
    if (count.t.bad)
        return tamis__corrupt(why, p->file.size - TAIL - n + count.t.at,
                              "the footer of this Parquet file is damaged");
    if (count.unsupported != NULL)
        return tamis__fail(why, TAMIS_EUNSUPPORTED, "%s", count.unsupported);
    p->chunks = tamis__alloc(p->options.memory, count.n * sizeof *p->chunks + 1);
    p->names = tamis__alloc(p->options.memory, (uint64_t)count.name_bytes + 1);
    if (p->chunks == NULL || p->names == NULL)
        return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    struct pass make = {.t = {footer, n, 0, false}, .chunks = p->chunks, .names = p->names};
    take_file(&make);
    p->n = make.n;
    return TAMIS_OK;
}

tamis_status tamis_parquet_open(const tamis_reader *file, const tamis_options *options,
                                tamis_parquet **out, tamis_error *why)
{
    tamis_options o;
    size_t n;
    if (out == NULL || file == NULL || file->read == NULL)
        return tamis__fail(why, TAMIS_EINVAL, "file and out must not be NULL");
    *out = NULL;
    tamis_status s = tamis__check_options(options, 0, &o, why);
    if (s != TAMIS_OK) return s;
    uint8_t *footer = read_footer(file, &o, &n, &s, why);
    if (footer == NULL) return s;
    tamis_parquet *p = tamis__alloc(o.memory, sizeof *p);
    if (p != NULL) {
        p->file = *file;
        p->options = o;
        s = list_chunks(p, footer, n, why);
    } else {
        s = tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
    }
    tamis__free(o.memory, footer);
    if (s == TAMIS_OK)
        *out = p;
    else
        tamis_parquet_close(p);
    return s;
}

void tamis_parquet_close(tamis_parquet *p)
{
    if (p == NULL) return;
    const tamis_memory *memory = p->options.memory;
    tamis__free(memory, p->chunks);
    tamis__free(memory, p->names);
    tamis__free(memory, p);
}

/* --- Chunks and filters ----------------------------------------------------------------------- */

uint64_t tamis_parquet_chunks(const tamis_parquet *p)
{
    return p->n;
}

tamis_status tamis_parquet_chunk_at(const tamis_parquet *p, uint64_t i, tamis_parquet_chunk *out)
{
    const tamis_status s = tamis__check_struct(out, "tamis_parquet_chunk", NULL);
    if (s != TAMIS_OK || i >= p->n) return TAMIS_EINVAL;
    const struct chunk *c = &p->chunks[i];
    tamis_parquet_chunk chunk;
    memset(&chunk, 0, sizeof chunk); /* including the padding, because the caller receives it */
    chunk.row_group = c->row_group;
    chunk.column = c->column;
    chunk.name = p->names + c->name;
    chunk.name_len = c->name_len;
    chunk.type = c->type;
    chunk.has_filter = c->has_filter;
    chunk.values = c->values;
    chunk.offset = c->offset;
    chunk.length = c->length;
    tamis__give_struct(out, &chunk, sizeof chunk);
    return TAMIS_OK;
}

tamis_status tamis_parquet_filter(const tamis_parquet *p, uint64_t i, tamis_foreign **out,
                                  tamis_error *why)
{
    uint8_t header[MOST_HEADER];
    uint64_t bytes;
    bool unnamed;
    tamis_error reason;
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    if (i >= p->n) return tamis__fail(why, TAMIS_EINVAL, "there is no such chunk");
    const struct chunk *c = &p->chunks[i];
    if (!c->has_filter) return tamis__fail(why, TAMIS_EABSENT, "this column has no Bloom filter");
    if (c->offset < HEAD || c->offset > p->file.size - TAIL)
        return tamis__corrupt(why, c->offset, "a Bloom filter lies outside the file");
    uint64_t room = p->file.size - TAIL - c->offset;
    if (c->length != 0 && c->length > room)
        return tamis__corrupt(why, c->offset, "a Bloom filter lies outside the file");
    if (c->length != 0) room = c->length;
    const size_t n = room < MOST_HEADER ? (size_t)room : MOST_HEADER;
    tamis_status s = p->file.read(p->file.ctx, c->offset, header, n);
    if (s != TAMIS_OK) return tamis__fail(why, s, "cannot read the Parquet file");
    const size_t at = tamis__sbbf_header(header, n, &bytes, &unnamed, &reason);
    if (at == 0) {
        if (reason.status == TAMIS_ECORRUPT) reason.offset += c->offset; /* position in the file */
        if (why != NULL) *why = reason;
        return reason.status;
    }
    if (bytes > room - at)
        return tamis__corrupt(why, c->offset, "a Bloom filter is longer than the space for it");
    tamis_foreign *f = tamis__sbbf_new(&p->options, bytes, unnamed, why);
    if (f == NULL) return TAMIS_ENOMEM;
    s = p->file.read(p->file.ctx, c->offset + at, f->owned, (size_t)bytes);
    if (s != TAMIS_OK) {
        tamis_foreign_close(f);
        return tamis__fail(why, s, "cannot read the Parquet file");
    }
    *out = f;
    return TAMIS_OK;
}
