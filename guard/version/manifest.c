#include "manifest.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <nettle/sha2.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tamis/publish.h>
#include <tamis/tamis.h>
#include <unistd.h>

#define FIRST_LINE "tamis-guard 1\n"
#define MOST_BYTES 16384 /* more than a manifest with all labels has */

bool guard_fail(guard_error *why, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(why->text, sizeof why->text, format, args);
    va_end(args);
    return false;
}

char *guard_path(const char *directory, const char *name)
{
    const size_t size = strlen(directory) + strlen(name) + 2;
    char *path = malloc(size);
    if (path != NULL) snprintf(path, size, "%s/%s", directory, name);
    return path;
}

char *guard_part_path(const char *directory, uint64_t version, const char *part)
{
    char name[64];
    snprintf(name, sizeof name, "%" PRIu64 ".%s", version, part);
    return guard_path(directory, name);
}

/* --- Sums and files --------------------------------------------------------------------------- */

static void to_hex(const uint8_t *bytes, size_t n, char *hex)
{
    for (size_t i = 0; i < n; i++) snprintf(hex + 2 * i, 3, "%02x", bytes[i]);
}

static void sum_bytes(const void *bytes, size_t n, char *hex)
{
    struct sha256_ctx sum;
    uint8_t digest[GUARD_HASH_SIZE];
    sha256_init(&sum);
    sha256_update(&sum, n, bytes);
    sha256_digest(&sum, sizeof digest, digest);
    to_hex(digest, sizeof digest, hex);
}

/* Opens a file for reading without waiting for it: opening a pipe waits for a writer, and reading a
 * device may never end. Returns -1 after a failure. */
static int open_regular(const char *path, uint64_t *size, guard_error *why)
{
    struct stat st;
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    const bool known = fd >= 0 && fstat(fd, &st) == 0;
    if (known && S_ISREG(st.st_mode)) {
        *size = (uint64_t)st.st_size;
        return fd;
    }
    const int os = known ? EINVAL : errno;
    guard_fail(why, "%s: %s", path, known ? "is not a regular file" : strerror(os));
    if (fd >= 0) close(fd);
    errno = os;
    return -1;
}

static bool take_nothing(void *ctx, const void *bytes, size_t n)
{
    (void)ctx;
    (void)bytes;
    (void)n;
    return true;
}

/* Passes the bytes of an open file to `take` and sums the same bytes, at most `most`. Closes the
 * file. */
static bool read_and_sum(int fd, const char *path, uint64_t most, guard_take *take, void *ctx,
                         guard_part *out, guard_error *why)
{
    static const size_t PIECE = 1 << 18;
    struct sha256_ctx sum;
    uint8_t digest[GUARD_HASH_SIZE], *buffer = malloc(PIECE);
    ssize_t got = -1;
    bool taken = true;
    memset(out, 0, sizeof *out);
    sha256_init(&sum);
    while (taken && buffer != NULL && out->bytes <= most && (got = read(fd, buffer, PIECE)) != 0) {
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) break;
        sha256_update(&sum, (size_t)got, buffer);
        out->bytes += (uint64_t)got;
        if (out->bytes <= most) taken = take(ctx, buffer, (size_t)got);
    }
    const int os = errno;
    close(fd);
    free(buffer);
    if (got < 0 || !taken) return guard_fail(why, "%s: cannot read: %s", path, strerror(os));
    sha256_digest(&sum, sizeof digest, digest);
    to_hex(digest, sizeof digest, out->sha256);
    return true;
}

bool guard_sum_file(const char *path, guard_part *out, guard_error *why)
{
    uint64_t size;
    const int fd = open_regular(path, &size, why);
    return fd >= 0 && read_and_sum(fd, path, UINT64_MAX, take_nothing, NULL, out, why);
}

bool guard_read_part(const char *path, const guard_part *part, guard_take *take, void *ctx,
                     guard_error *why)
{
    guard_part found;
    uint64_t size;
    const int fd = open_regular(path, &size, why);
    if (fd < 0) return false;
    bool same = size == part->bytes;
    if (!same)
        close(fd);
    else if (!read_and_sum(fd, path, part->bytes, take, ctx, &found, why))
        return false;
    else
        same = found.bytes == part->bytes && strcmp(found.sha256, part->sha256) == 0;
    if (same) return true;
    return guard_fail(why, "%s: damaged, or not the version that the manifest names", path);
}

bool guard_write_file(const char *path, const void *bytes, size_t n, guard_error *why)
{
    const tamis_save_options o = {.struct_size = sizeof o, .mode = 0644};
    tamis_error reason;
    return tamis_write_file(path, bytes, n, &o, &reason) == TAMIS_OK ||
           guard_fail(why, "%s: %s", path, reason.text);
}

/* Syncs the names of files that guard_write_file did not make. */
static bool sync_directory(const char *directory, guard_error *why)
{
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool good = fd >= 0 && fsync(fd) == 0;
    const int os = errno;
    if (fd >= 0) close(fd);
    if (!good) return guard_fail(why, "%s: %s", directory, strerror(os));
    return true;
}

/* --- The text --------------------------------------------------------------------------------- */

struct field {
    const char *name;
    enum { COUNT, RATE, TIME, ID, PART } type;
    size_t offset;
};
#define FIELD(name, type, field)                                                                   \
    {                                                                                              \
        name, type, offsetof(guard_manifest, field)                                                \
    }
static const struct field FIELDS[] = {
    FIELD("version", COUNT, version),
    FIELD("base", COUNT, base),
    FIELD("built", TIME, built),
    FIELD("id", ID, id),
    FIELD("entries", COUNT, entries),
    FIELD("base-entries", COUNT, base_entries),
    FIELD("added", COUNT, added),
    FIELD("removed", COUNT, removed),
    FIELD("lines", COUNT, lines),
    FIELD("rejects", COUNT, rejects),
    FIELD("good", COUNT, good),
    FIELD("rate", RATE, rate),
    FIELD("seed", COUNT, seed),
    FIELD("filter", PART, filter),
    FIELD("delta", PART, delta),
    FIELD("removal", PART, removal),
    FIELD("base-store", PART, base_store),
    FIELD("store", PART, store),
};
#define N_FIELDS (sizeof FIELDS / sizeof *FIELDS)

static size_t print_field(const guard_manifest *m, const struct field *f, char *to, size_t room)
{
    const void *at = (const char *)m + f->offset;
    const guard_part *part = at;
    switch (f->type) {
    case COUNT:
        return (size_t)snprintf(to, room, "%s %" PRIu64 "\n", f->name, *(const uint64_t *)at);
    case RATE: return (size_t)snprintf(to, room, "%s %.9g\n", f->name, *(const double *)at);
    case TIME:
        return (size_t)snprintf(to, room, "%s %lld\n", f->name, (long long)*(const time_t *)at);
    case ID: return (size_t)snprintf(to, room, "%s %s\n", f->name, (const char *)at);
    case PART:
        return (size_t)snprintf(to, room, "%s %" PRIu64 " %s\n", f->name, part->bytes,
                                part->bytes != 0 ? part->sha256 : "-");
    }
    return 0;
}

static bool is_hex(const char *text, size_t n)
{
    return strlen(text) == n && strspn(text, "0123456789abcdef") == n;
}

static bool read_field(guard_manifest *m, const struct field *f, const char *value)
{
    void *at = (char *)m + f->offset;
    guard_part *part = at;
    char *end;
    char sum[80];
    switch (f->type) {
    case COUNT:
        errno = 0;
        *(uint64_t *)at = strtoull(value, &end, 10);
        return *value >= '0' && *value <= '9' && *end == '\0' && errno == 0;
    case RATE:
        *(double *)at = strtod(value, &end);
        return *end == '\0' && *(double *)at >= 0 && *(double *)at <= 1;
    case TIME:
        errno = 0;
        *(time_t *)at = (time_t)strtoll(value, &end, 10);
        return end != value && *end == '\0' && errno == 0;
    case ID:
        if (!is_hex(value, sizeof m->id - 1)) return false;
        memcpy(at, value, sizeof m->id);
        return true;
    case PART:
        errno = 0;
        part->bytes = strtoull(value, &end, 10);
        if (*value < '0' || *value > '9' || *end != ' ' || errno != 0) return false;
        if (snprintf(sum, sizeof sum, "%s", end + 1) >= (int)sizeof sum) return false;
        if (part->bytes == 0) return strcmp(sum, "-") == 0;
        if (!is_hex(sum, 2 * GUARD_HASH_SIZE)) return false;
        memcpy(part->sha256, sum, sizeof part->sha256);
        return true;
    }
    return false;
}

static bool good_label(const char *text)
{
    const size_t n = strlen(text);
    if (n == 0 || n >= GUARD_LABEL_SIZE) return false;
    for (size_t i = 0; i < n; i++)
        if (text[i] <= ' ' || text[i] >= 0x7f || text[i] == '"' || text[i] == '\\') return false;
    return true;
}

/* Reads one line, without its line end. */
static bool read_line(guard_manifest *m, size_t *next_field, char *line)
{
    char *value = strchr(line, ' ');
    if (value == NULL) return false;
    *value++ = '\0';
    if (strcmp(line, "label") == 0) {
        if (!good_label(value) || m->n_labels == GUARD_LABELS) return false;
        memcpy(m->labels[m->n_labels++], value, strlen(value) + 1);
        return true;
    }
    if (*next_field == N_FIELDS || strcmp(line, FIELDS[*next_field].name) != 0) return false;
    return read_field(m, &FIELDS[(*next_field)++], value);
}

/* `text` excludes the last line, the checksum, which has been verified. */
static bool parse(char *text, guard_manifest *m)
{
    size_t next_field = 0;
    char *rest = NULL;
    if (strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0) return false;
    for (char *line = strtok_r(text + strlen(FIRST_LINE), "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest))
        if (!read_line(m, &next_field, line)) return false;
    return next_field == N_FIELDS && m->base >= 1 && m->base <= m->version && m->filter.bytes != 0;
}

bool guard_manifest_read(const char *directory, guard_manifest *out, bool *absent, guard_error *why)
{
    char *path = guard_path(directory, "manifest"), text[MOST_BYTES + 1], sum[80];
    uint64_t size;
    memset(out, 0, sizeof *out);
    *absent = false;
    if (path == NULL) return guard_fail(why, "not enough memory");
    const int fd = open_regular(path, &size, why);
    free(path);
    if (fd < 0) {
        *absent = errno == ENOENT;
        if (!*absent) return false;
        return guard_fail(why, "%s: no list has been published in this directory: %s", directory,
                          strerror(ENOENT));
    }
    FILE *f = fdopen(fd, "re");
    if (f == NULL) {
        close(fd);
        return guard_fail(why, "not enough memory");
    }
    const size_t n = fread(text, 1, MOST_BYTES, f);
    const int error = ferror(f) ? errno : 0;
    fclose(f);
    if (error != 0)
        return guard_fail(why, "%s/manifest: cannot read: %s", directory, strerror(error));
    text[n] = '\0';
    const size_t last = 4 + 2 * GUARD_HASH_SIZE + 1; /* "sum ...\n" */
    if (n <= last || strlen(text) != n || text[n - 1] != '\n' ||
        strncmp(text + n - last, "sum ", 4) != 0)
        return guard_fail(why, "%s/manifest: damaged, or written by a newer version", directory);
    sum_bytes(text, n - last, sum);
    const bool right = strncmp(text + n - last + 4, sum, 2 * GUARD_HASH_SIZE) == 0;
    text[n - last] = '\0';
    if (!right || !parse(text, out))
        return guard_fail(why, "%s/manifest: damaged, or written by a newer version", directory);
    return true;
}

bool guard_manifest_write(const char *directory, const guard_manifest *m, guard_error *why)
{
    char text[MOST_BYTES], sum[80];
    size_t n = (size_t)snprintf(text, sizeof text, FIRST_LINE);
    for (size_t i = 0; i < N_FIELDS; i++)
        n += print_field(m, &FIELDS[i], text + n, sizeof text - n);
    for (size_t i = 0; i < m->n_labels; i++)
        n += (size_t)snprintf(text + n, sizeof text - n, "label %s\n", m->labels[i]);
    sum_bytes(text, n, sum);
    n += (size_t)snprintf(text + n, sizeof text - n, "sum %s\n", sum);
    char *path = guard_path(directory, "manifest");
    if (path == NULL) return guard_fail(why, "not enough memory");
    /* The files that the manifest names must be on disk before the manifest is. */
    const bool good = sync_directory(directory, why) && guard_write_file(path, text, n, why);
    free(path);
    return good;
}
