#include "manifest.h"

#include "signature.h"

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

/* Version 2 has what version 1 lacks: an expiry and signatures. A manifest without them is written
 * as version 1, so that older programs read it. */
#define FIRST_LINE "tamis-guard 1\n"
#define FIRST_LINE_2 "tamis-guard 2\n"
_Static_assert(sizeof FIRST_LINE == sizeof FIRST_LINE_2, "they are skipped alike");
#define SUM_LINE (4 + 2 * GUARD_HASH_SIZE + 1) /* "sum ...\n" */

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

void guard_sum_bytes(const void *bytes, size_t n, char *hex)
{
    struct sha256_ctx sum;
    uint8_t digest[GUARD_HASH_SIZE];
    sha256_init(&sum);
    sha256_update(&sum, n, bytes);
    sha256_digest(&sum, sizeof digest, digest);
    to_hex(digest, sizeof digest, hex);
}

int guard_open_regular(const char *path, uint64_t *size, guard_error *why)
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

bool guard_read_small(const char *path, char *text, size_t room, size_t *n, guard_error *why)
{
    uint64_t size;
    const int fd = guard_open_regular(path, &size, why);
    if (fd < 0) return false;
    ssize_t got = 1;
    for (*n = 0; *n < room && got != 0;) {
        got = read(fd, text + *n, room - *n);
        if (got < 0 && errno != EINTR) break;
        if (got > 0) *n += (size_t)got;
    }
    const int os = errno;
    close(fd);
    errno = os;
    if (got < 0) return guard_fail(why, "%s: cannot read: %s", path, strerror(os));
    if (*n < room) return true;
    errno = EFBIG;
    return guard_fail(why, "%s: is longer than such a file can be", path);
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
    const int fd = guard_open_regular(path, &size, why);
    return fd >= 0 && read_and_sum(fd, path, UINT64_MAX, take_nothing, NULL, out, why);
}

bool guard_read_part(const char *path, const guard_part *part, guard_take *take, void *ctx,
                     guard_error *why)
{
    guard_part found;
    uint64_t size;
    const int fd = guard_open_regular(path, &size, why);
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
        return *value >= '0' && *value <= '9' && *end == '\0' && *(double *)at <= 1;
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

/* How far a manifest has been read: fields in order, then labels, an expiry, signatures. Labels
 * between fields are read as well, and refused in version 2 by is_canonical. */
struct manifest_reading {
    guard_manifest *to;
    bool second; /* version 2 */
    size_t next_field;
    bool has_expiry;
};

static bool read_expires(struct manifest_reading *r, const char *value)
{
    static const struct field expires = FIELD("expires", TIME, expires);
    if (r->has_expiry || r->to->n_signatures > 0 || r->next_field < N_FIELDS) return false;
    r->has_expiry = true;
    return *value >= '1' && *value <= '9' && read_field(r->to, &expires, value);
}

static bool read_signature(struct manifest_reading *r, const char *value)
{
    guard_manifest *m = r->to;
    guard_signature *fresh = &m->signatures[m->n_signatures];
    if (m->n_signatures == GUARD_SIGNERS || r->next_field < N_FIELDS) return false;
    if (!guard_signature_from(value, fresh)) return false;
    for (size_t i = 0; i < m->n_signatures; i++)
        if (memcmp(m->signatures[i].keynum, fresh->keynum, GUARD_KEYNUM) == 0) return false;
    m->n_signatures++;
    return true;
}

/* Reads one line, without its line end. */
static bool read_line(struct manifest_reading *r, char *line)
{
    guard_manifest *m = r->to;
    char *value = strchr(line, ' ');
    if (value == NULL) return false;
    *value++ = '\0';
    if (r->second && strcmp(line, "expires") == 0) return read_expires(r, value);
    if (r->second && strcmp(line, "signature") == 0) return read_signature(r, value);
    if (r->has_expiry || m->n_signatures > 0) return false; /* nothing else follows them */
    if (strcmp(line, "label") == 0) {
        if (!good_label(value) || m->n_labels == GUARD_LABELS) return false;
        memcpy(m->labels[m->n_labels++], value, strlen(value) + 1);
        return true;
    }
    if (r->next_field == N_FIELDS || strcmp(line, FIELDS[r->next_field].name) != 0) return false;
    return read_field(m, &FIELDS[r->next_field++], value);
}

/* `text` excludes the last line, the checksum, which has been verified. */
static bool parse(char *text, guard_manifest *m, size_t *n_signed)
{
    struct manifest_reading r = {.to = m};
    char *const begin = text;
    memset(m, 0, sizeof *m);
    r.second = strncmp(text, FIRST_LINE_2, strlen(FIRST_LINE_2)) == 0;
    if (!r.second && strncmp(text, FIRST_LINE, strlen(FIRST_LINE)) != 0) return false;
    *n_signed = strlen(text);
    for (text += strlen(FIRST_LINE); *text != '\0';) {
        char *line = text, *end = strchr(text, '\n');
        if (end == NULL) return false;
        *end = '\0';
        text = end + 1;
        if (!read_line(&r, line)) return false;
        if (m->n_signatures == 1 && *n_signed > (size_t)(line - begin))
            *n_signed = (size_t)(line - begin);
    }
    return r.next_field == N_FIELDS && m->base >= 1 && m->base <= m->version &&
           m->filter.bytes != 0;
}

/* Writes everything before the first signature. Returns its length. */
static size_t print_signed(const guard_manifest *m, char *text, size_t room)
{
    const bool second = m->n_signatures > 0 || m->expires != 0;
    size_t n = (size_t)snprintf(text, room, "%s", second ? FIRST_LINE_2 : FIRST_LINE);
    for (size_t i = 0; i < N_FIELDS; i++) n += print_field(m, &FIELDS[i], text + n, room - n);
    for (size_t i = 0; i < m->n_labels; i++)
        n += (size_t)snprintf(text + n, room - n, "label %s\n", m->labels[i]);
    if (m->expires != 0)
        n += (size_t)snprintf(text + n, room - n, "expires %lld\n", (long long)m->expires);
    return n;
}

/* Writes everything before the sum. Returns its length. */
static size_t print_manifest(const guard_manifest *m, char *text, size_t room)
{
    char signature[GUARD_KEYNUM_TEXT + GUARD_SIGNATURE_TEXT];
    size_t n = print_signed(m, text, room);
    for (size_t i = 0; i < m->n_signatures; i++) {
        guard_signature_write(&m->signatures[i], signature);
        n += (size_t)snprintf(text + n, room - n, "signature %s\n", signature);
    }
    return n;
}

/* Whether every program reads these numbers alike: those of JavaScript are exact up to 2^53. The
 * seed is not one that clients use. */
static bool are_plain(const guard_manifest *m)
{
    static const uint64_t MOST = (UINT64_C(1) << 53) - 1;
    static const time_t LATEST = 999999999999;
    for (const struct field *f = FIELDS; f < FIELDS + N_FIELDS; f++) {
        const void *at = (const char *)m + f->offset;
        if (f->type == COUNT && at != &m->seed && *(const uint64_t *)at > MOST) return false;
        if (f->type == PART && ((const guard_part *)at)->bytes > MOST) return false;
    }
    return m->built >= 0 && m->built <= LATEST && m->expires <= LATEST;
}

/* There is one text for each manifest of version 2, up to the sum: the one that is written. */
static bool is_canonical(const guard_manifest *m, const char *text, size_t n)
{
    static const size_t begin = sizeof FIRST_LINE - 1;
    char again[GUARD_MANIFEST_BYTES];
    return are_plain(m) && print_manifest(m, again, sizeof again) == n &&
           memcmp(again + begin, text + begin, n - begin) == 0;
}

bool guard_manifest_parse(struct guard_manifest_text *text, guard_manifest *out)
{
    const size_t n = text->n;
    char sum[80];
    if (n <= SUM_LINE || strlen(text->at) != n || text->at[n - 1] != '\n' ||
        strncmp(text->at + n - SUM_LINE, "sum ", 4) != 0)
        return false;
    guard_sum_bytes(text->at, n - SUM_LINE, sum);
    if (strncmp(text->at + n - SUM_LINE + 4, sum, 2 * GUARD_HASH_SIZE) != 0) return false;
    char *copy = strndup(text->at, n - SUM_LINE);
    const bool good = copy != NULL && parse(copy, out, &text->n_signed);
    free(copy);
    if (strncmp(text->at, FIRST_LINE_2, strlen(FIRST_LINE_2)) != 0) return good;
    return good && is_canonical(out, text->at, n - SUM_LINE);
}

bool guard_manifest_read(const char *directory, guard_manifest *out,
                         struct guard_manifest_text *text, bool *absent, guard_error *why)
{
    char *path = guard_path(directory, "manifest");
    struct guard_manifest_text *own = text == NULL ? malloc(sizeof *own) : NULL;
    struct guard_manifest_text *to = text == NULL ? own : text;
    bool good = path != NULL && to != NULL;
    *absent = false;
    memset(out, 0, sizeof *out);
    if (!good) guard_fail(why, "not enough memory");
    if (good && !guard_read_small(path, to->at, sizeof to->at, &to->n, why)) {
        good = false;
        *absent = errno == ENOENT;
        if (*absent)
            guard_fail(why, "%s: no list has been published in this directory: %s", directory,
                       strerror(ENOENT));
    }
    if (good) to->at[to->n] = '\0';
    if (good && !guard_manifest_parse(to, out))
        good = guard_fail(why, "%s: damaged, or written by a newer version", path);
    free(path);
    free(own);
    return good;
}

bool guard_manifest_sign(guard_manifest *m, const guard_seckey *keys, size_t n_keys,
                         guard_error *why)
{
    char text[GUARD_MANIFEST_BYTES];
    bool good = n_keys <= GUARD_SIGNERS ||
                guard_fail(why, "a manifest has at most %d signatures", GUARD_SIGNERS);
    m->n_signatures = good ? n_keys : 0; /* the first line depends on it */
    const size_t n = print_signed(m, text, sizeof text);
    for (size_t i = 0; good && i < n_keys; i++)
        good = guard_sign(&keys[i], text, n, &m->signatures[i], why);
    return good;
}

bool guard_manifest_write(const char *directory, const guard_manifest *m, guard_error *why)
{
    char text[GUARD_MANIFEST_BYTES], sum[80];
    size_t n = print_manifest(m, text, sizeof text);
    guard_sum_bytes(text, n, sum);
    n += (size_t)snprintf(text + n, sizeof text - n, "sum %s\n", sum);
    char *path = guard_path(directory, "manifest");
    if (path == NULL) return guard_fail(why, "not enough memory");
    /* The files that the manifest names must be on disk before the manifest is. */
    const bool good = sync_directory(directory, why) && guard_write_file(path, text, n, why);
    free(path);
    return good;
}
