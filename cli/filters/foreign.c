#include "foreign.h"

#include "../frame/output.h"
#include "../input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool foreign_format_of(const char *option, const char *name, uint32_t *out)
{
    *out = tamis_foreign_named(name);
    if (*out != TAMIS_FOREIGN_AUTO) return true;
    complain(NULL,
             "--%s: unknown format '%s'; the formats are parquet, dcso, redisbloom, "
             "redisbloom-dump and guava",
             option, name);
    return false;
}

/* --- Opening ---------------------------------------------------------------------------------- */

static tamis_status read_at(void *ctx, uint64_t offset, void *to, size_t n)
{
    const int fd = *(const int *)ctx;
    for (uint8_t *p = to; n > 0;) {
        const ssize_t got = pread(fd, p, n, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return TAMIS_EIO; /* also if the file has become shorter meanwhile */
        p += got;
        offset += (uint64_t)got;
        n -= (size_t)got;
    }
    return TAMIS_OK;
}

/* In a Parquet file only the filters are read, in place. */
static enum foreign_found open_parquet(const char *path, struct foreign *f)
{
    char magic[4];
    struct stat st;
    tamis_error why;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (fd < 0) return FOREIGN_NO;
    f->file.fd = fd;
    f->file.open = true;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        pread(fd, magic, sizeof magic, 0) != sizeof magic ||
        (memcmp(magic, "PAR1", 4) != 0 && memcmp(magic, "PARE", 4) != 0)) {
        foreign_close(f);
        return FOREIGN_NO;
    }
    const tamis_reader reader = {&f->file.fd, (uint64_t)st.st_size, read_at};
    if (tamis_parquet_open(&reader, NULL, &f->parquet, &why) == TAMIS_OK) return FOREIGN_YES;
    foreign_close(f);
    complain(path, "%s", why.text);
    return FOREIGN_BAD;
}

/* Reads the rest of an input behind the `n` bytes that *bytes holds; false after a message. */
static bool read_rest(struct input *in, const char *path, uint8_t **bytes, size_t *n)
{
    if (input_read_rest(in, bytes, n, SIZE_MAX)) return true;
    complain(path, "cannot read: %s", input_reason(in));
    return false;
}

/* Opens the filter in f->bytes; false after a message. */
static bool take_filter(struct foreign *f, size_t n, uint32_t format)
{
    tamis_error why;
    f->filters = calloc(1, sizeof *f->filters);
    if (f->filters == NULL) {
        complain(f->path, "not enough memory");
        return false;
    }
    if (tamis_foreign_open(f->bytes, n, format, NULL, f->filters, &why) != TAMIS_OK) {
        complain(f->path, "%s", why.text);
        return false;
    }
    f->n = 1;
    return true;
}

/* Opens a file with one filter, compressed or not. If it is another file, only its beginning is
 * read. */
static enum foreign_found open_single(const char *path, uint32_t format, struct foreign *f)
{
    enum { BEGINNING = 128 };
    struct input *in = input_open(path, false);
    input_spend(path);
    const bool named = format != TAMIS_FOREIGN_AUTO;
    enum foreign_found found = named ? FOREIGN_YES : FOREIGN_NO;
    const char *reason = in == NULL ? strerror(errno) : "not enough memory";
    size_t n = 0;
    ssize_t got = -1;
    if (in != NULL) f->bytes = malloc(BEGINNING);
    const bool readable = in != NULL && f->bytes != NULL;
    while (readable && n < BEGINNING && (got = input_read(in, f->bytes + n, BEGINNING - n)) > 0)
        n += (size_t)got;
    if (readable && got < 0) reason = input_reason(in);
    if (got >= 0 && tamis_foreign_detect(f->bytes, n) != TAMIS_FOREIGN_AUTO) found = FOREIGN_YES;
    if (found == FOREIGN_YES && got < 0) {
        complain(path, "cannot read: %s", reason);
        found = FOREIGN_BAD;
    }
    if (found == FOREIGN_YES && (!read_rest(in, path, &f->bytes, &n) || !take_filter(f, n, format)))
        found = FOREIGN_BAD;
    input_close(in);
    if (found != FOREIGN_YES) foreign_close(f);
    return found;
}

enum foreign_found foreign_open(const struct args *a, const char *path, struct foreign *out)
{
    uint32_t format = TAMIS_FOREIGN_AUTO;
    struct stat st;
    memset(out, 0, sizeof *out);
    if (a->foreign.from != NULL && !foreign_format_of("from", a->foreign.from, &format))
        return FOREIGN_BAD;
    out->path = path;
    if (format == TAMIS_FOREIGN_AUTO || format == TAMIS_FOREIGN_PARQUET) {
        const enum foreign_found found = open_parquet(path, out);
        if (found != FOREIGN_NO) return found;
        out->path = path;
    }
    /* A stream can be read only once, so it is not read to recognize the format. */
    if (format == TAMIS_FOREIGN_AUTO && (stat(path, &st) != 0 || !S_ISREG(st.st_mode))) {
        foreign_close(out);
        return FOREIGN_NO;
    }
    return open_single(path, format, out);
}

enum foreign_found foreign_take(const char *path, uint8_t *bytes, size_t n, struct foreign *out)
{
    memset(out, 0, sizeof *out);
    const bool parquet = n >= 4 && (memcmp(bytes, "PAR1", 4) == 0 || memcmp(bytes, "PARE", 4) == 0);
    if (parquet)
        complain(path, "a Parquet file cannot be read from a stream, because it is read in many "
                       "places; name the file");
    out->path = path;
    out->bytes = bytes;
    const bool told = !parquet && tamis_foreign_detect(bytes, n) != TAMIS_FOREIGN_AUTO;
    if (told && take_filter(out, n, TAMIS_FOREIGN_AUTO)) return FOREIGN_YES;
    foreign_close(out);
    return told || parquet ? FOREIGN_BAD : FOREIGN_NO;
}

void foreign_close(struct foreign *f)
{
    for (size_t i = 0; i < f->n; i++) tamis_foreign_close(f->filters[i]);
    free(f->filters);
    free(f->bytes);
    tamis_parquet_close(f->parquet);
    if (f->file.open) close(f->file.fd);
    memset(f, 0, sizeof *f);
}

/* --- Which filters, which keys ---------------------------------------------------------------- */

static const char *type_name(uint32_t type)
{
    static const char *const names[] = {"boolean", "int32",  "int64",  "int96",
                                        "float",   "double", "string", "fixed"};
    return names[type];
}

/* Whether this encoding fits a column of this type. */
static bool fits(const char *encoding, uint32_t type)
{
    switch (type) {
    case TAMIS_PARQUET_INT32:
        return strcmp(encoding, "int32") == 0 || strcmp(encoding, "uint32") == 0;
    case TAMIS_PARQUET_INT64:
        return strcmp(encoding, "int64") == 0 || strcmp(encoding, "uint64") == 0;
    case TAMIS_PARQUET_FLOAT: return strcmp(encoding, "float") == 0;
    case TAMIS_PARQUET_DOUBLE: return strcmp(encoding, "double") == 0;
    default: return strcmp(encoding, "string") == 0 || strcmp(encoding, "hex") == 0;
    }
}

const struct encoding *foreign_encoding(const struct args *a, uint32_t format)
{
    const bool told = format == TAMIS_FOREIGN_PARQUET || format == TAMIS_FOREIGN_GUAVA;
    if (a->foreign.type == NULL && told) {
        complain(NULL,
                 "a %s filter does not record the type of its keys; give --type, which is one "
                 "of " ENCODINGS,
                 tamis_foreign_name(format));
        return NULL;
    }
    const struct encoding *e = encoding_named(a->foreign.type != NULL ? a->foreign.type : "string");
    if (e == NULL)
        complain(NULL, "--type: unknown type '%s'; the types are " ENCODINGS, a->foreign.type);
    return e;
}

static const struct encoding *column_encoding(const struct args *a, const tamis_parquet_chunk *c)
{
    const char *own = type_name(c->type);
    const bool needs = c->type == TAMIS_PARQUET_BOOLEAN || c->type == TAMIS_PARQUET_INT96 ||
                       c->type == TAMIS_PARQUET_FIXED;
    if (a->foreign.type == NULL && needs) {
        complain(NULL, "column '%s' has the type %s; write its values as bytes, with --type hex",
                 c->name, own);
        return NULL;
    }
    const struct encoding *e = encoding_named(a->foreign.type != NULL ? a->foreign.type : own);
    if (e == NULL) {
        complain(NULL, "--type: unknown type '%s'; the types are " ENCODINGS, a->foreign.type);
    } else if (!fits(encoding_name(e), c->type)) {
        complain(NULL, "--type: column '%s' has the type %s", c->name, own);
        e = NULL;
    }
    return e;
}

/* A name may contain a zero byte, which no option can. */
static bool is_named(const tamis_parquet_chunk *c, const char *name)
{
    return c->name_len == strlen(name) && memcmp(c->name, name, c->name_len) == 0;
}

/* The column with filters, if there is only one; NULL after a message. */
static const char *only_column(const struct foreign *f)
{
    const char *name = NULL;
    tamis_parquet_chunk c = {.struct_size = sizeof c};
    for (uint64_t i = 0; i < tamis_parquet_chunks(f->parquet); i++) {
        if (tamis_parquet_chunk_at(f->parquet, i, &c) != TAMIS_OK || !c.has_filter) continue;
        if (name != NULL && !is_named(&c, name)) {
            complain(f->path,
                     "several columns have Bloom filters; choose one with "
                     "--column, for example --column %s",
                     name);
            return NULL;
        }
        name = c.name;
    }
    if (name == NULL) complain(f->path, "no column has a Bloom filter");
    return name;
}

static bool add_filter(struct foreign *f, uint64_t i)
{
    tamis_error why;
    tamis_foreign **more = realloc(f->filters, (f->n + 1) * sizeof *more);
    if (more == NULL) {
        complain(f->path, "not enough memory");
        return false;
    }
    f->filters = more;
    const tamis_status s = tamis_parquet_filter(f->parquet, i, &f->filters[f->n], &why);
    if (s == TAMIS_OK) f->n++;
    if (s == TAMIS_EABSENT) f->holes = true;
    if (s == TAMIS_OK || s == TAMIS_EABSENT) return true;
    complain(f->path, "%s", why.text);
    return false;
}

/* Adds the filters of a column; *c becomes one of its chunks. */
static bool select_column(const struct args *a, struct foreign *f, tamis_parquet_chunk *c)
{
    uint64_t group = UINT64_MAX, found = 0;
    const char *name = a->foreign.column != NULL ? a->foreign.column : only_column(f);
    if (name == NULL) return false;
    if (a->foreign.row_group != NULL && !parse_number(a->foreign.row_group, &group)) {
        complain(NULL, "--row-group: '%s' is not a number", a->foreign.row_group);
        return false;
    }
    for (uint64_t i = 0; i < tamis_parquet_chunks(f->parquet); i++) {
        tamis_parquet_chunk chunk = {.struct_size = sizeof chunk};
        if (tamis_parquet_chunk_at(f->parquet, i, &chunk) != TAMIS_OK) continue;
        if (!is_named(&chunk, name) || (group != UINT64_MAX && group != chunk.row_group)) continue;
        if (found > 0 && chunk.type != c->type) { /* the encoding would be wrong for one of them */
            complain(f->path,
                     "column '%s' has several types; choose one row group with --row-group", name);
            return false;
        }
        *c = chunk;
        found++;
        if (!add_filter(f, i)) return false;
    }
    if (found == 0)
        complain(f->path,
                 group == UINT64_MAX ? "there is no column '%s'"
                                     : "there is no column '%s' in that row group",
                 name);
    else if (f->n == 0)
        complain(f->path, "column '%s' has no Bloom filter", name);
    return f->n > 0;
}

bool foreign_select_filters(const struct args *a, struct foreign *f)
{
    tamis_parquet_chunk c;
    if (f->parquet != NULL) return select_column(a, f, &c);
    if (a->foreign.column == NULL && a->foreign.row_group == NULL) return true;
    complain(f->path, "--column and --row-group require a Parquet file");
    return false;
}

bool foreign_select(const struct args *a, struct foreign *f)
{
    tamis_parquet_chunk c = {.struct_size = sizeof c};
    if (f->parquet != NULL) {
        if (!select_column(a, f, &c)) return false;
        f->encoding = column_encoding(a, &c);
        if (f->encoding != NULL && f->holes && !a->quiet)
            complain(f->path,
                     "a row group has no Bloom filter for column '%s', so every line may be in it",
                     c.name);
    } else {
        if (!foreign_select_filters(a, f)) return false;
        f->encoding = foreign_encoding(a, tamis_foreign_format_of(f->filters[0]));
    }
    for (size_t i = 0; i < f->n && f->encoding != NULL; i++) {
        if (tamis_foreign_is_certain(f->filters[i])) continue;
        complain(f->path, "a Bloom filter does not name its hash, so every line may be in it");
        break;
    }
    return f->encoding != NULL;
}

/* --- Asking ----------------------------------------------------------------------------------- */

size_t foreign_ask(const struct foreign *f, const tamis_bytes *keys, size_t n, uint8_t *bits,
                   uint8_t *spare)
{
    const size_t bytes = n / 8 + (n % 8 != 0);
    size_t found = 0;
    if (f->holes) {
        for (size_t i = 0; i < bytes; i++) bits[i] = 0xff;
        return n;
    }
    memset(bits, 0, bytes);
    for (size_t i = 0; i < f->n; i++) {
        tamis_foreign_may_contain_many(f->filters[i], keys, n, spare);
        for (size_t j = 0; j < bytes; j++) bits[j] |= spare[j];
    }
    for (size_t i = 0; i < n; i++) found += bits[i / 8] >> i % 8 & 1;
    return found;
}

double foreign_rate(const struct foreign *f)
{
    double absent = 1;
    tamis_foreign_facts facts = {.struct_size = sizeof facts};
    for (size_t i = 0; i < f->n; i++)
        if (tamis_foreign_info(f->filters[i], &facts) == TAMIS_OK) absent *= 1 - facts.fpr_now;
    return f->holes ? 1 : 1 - absent;
}
