#include "filter.h"

#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "foreign.h"
#include "request.h"

#include "../input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <tamis/inspect.h>
#include <tamis/publish.h>
#include <unistd.h>

static bool same_inode(const struct stat *x, const struct stat *y)
{
    return x->st_dev == y->st_dev && x->st_ino == y->st_ino;
}

/* Another process may replace the file between the two calls. A difference therefore counts only if
 * the first path has not changed meanwhile. */
bool same_file(const char *a, const char *b)
{
    struct stat x, y, again;
    if (strcmp(a, "-") == 0 || strcmp(b, "-") == 0) return false;
    do {
        if (stat(a, &x) != 0 || stat(b, &y) != 0) return false;
        if (strcmp(a, b) == 0 || same_inode(&x, &y)) return true;
    } while (stat(a, &again) == 0 && !same_inode(&x, &again));
    return false;
}

bool is_image_begin(const void *bytes, size_t n)
{
    return n >= IMAGE_MAGIC_BYTES && memcmp(bytes, TAMIS_IMAGE_MAGIC, IMAGE_MAGIC_BYTES) == 0;
}

bool is_tamis_begin(const void *bytes, size_t n)
{
    return is_image_begin(bytes, n) ||
           (n >= IMAGE_MAGIC_BYTES && memcmp(bytes, PACKED_MAGIC, IMAGE_MAGIC_BYTES) == 0);
}

static bool begins_file(const char *path, const char *magic)
{
    uint8_t begin[IMAGE_MAGIC_BYTES];
    struct stat st;
    if (strcmp(path, "-") == 0 || stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool same =
        read(fd, begin, sizeof begin) == sizeof begin && memcmp(begin, magic, sizeof begin) == 0;
    close(fd);
    return same;
}

bool is_image_file(const char *path)
{
    return begins_file(path, TAMIS_IMAGE_MAGIC);
}

bool is_packed_file(const char *path)
{
    return begins_file(path, PACKED_MAGIC);
}

size_t read_beginning(const char *path, uint8_t *to, size_t n)
{
    size_t have = 0;
    ssize_t got = 1;
    struct input *in = input_open(path, false);
    while (in != NULL && got > 0 && have < n) {
        got = input_read(in, to + have, n - have);
        if (got > 0) have += (size_t)got;
    }
    input_close(in);
    return have;
}

bool holds_image(const char *path)
{
    uint8_t begin[IMAGE_MAGIC_BYTES];
    return read_beginning(path, begin, sizeof begin) == sizeof begin &&
           is_tamis_begin(begin, sizeof begin);
}

/* The bytes that came by a pipe; NULL: there are none. */
struct arrived {
    uint8_t *bytes;
    size_t n;
};

/* A pair is also filled by removals, and the generations of a window are not counted separately, so
 * that for these two only the cells decide. For all other kinds `items` is at least the number of
 * keys by which tamis_info judges. (Bits that somebody has set with fewer, well chosen keys are
 * noticed by add and info, which read all cells.) */
bool may_need_warning(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_stat(t, &f) != TAMIS_OK || f.hash_suspect || f.overfull) return true;
    return f.kind == TAMIS_PAIR || f.kind == TAMIS_WINDOW;
}

/* Reads a filter of Tamis up to its length. Anything that is not a filter is not read to its end,
 * because it may have none. */
static bool read_stream(struct input *in, struct arrived *s)
{
    uint8_t begin[128]; /* as much as tamis_image_length needs */
    ssize_t got = 1;
    while (s->n < sizeof begin && got > 0) {
        got = input_read(in, begin + s->n, sizeof begin - s->n);
        if (got > 0) s->n += (size_t)got;
    }
    if (got < 0 || (s->bytes = malloc(sizeof begin)) == NULL) return false;
    memcpy(s->bytes, begin, s->n);
    const bool ours = is_image_begin(begin, s->n);
    if (!ours && tamis_foreign_detect(begin, s->n) == TAMIS_FOREIGN_AUTO) return true;
    const uint64_t length = ours ? tamis_image_length(begin, s->n) : SIZE_MAX;
    /* One byte more, which would be wrong. */
    return input_read_rest(in, &s->bytes, &s->n, length < SIZE_MAX ? (size_t)length + 1 : SIZE_MAX);
}

/* Loads the filter into memory, for commands that do not change it. */
static tamis_status try_stream(const tamis_options *o, const char *path, struct arrived *s,
                               tamis **out, tamis_error *why)
{
    const bool again = input_is_spent(path);
    struct input *in = again ? NULL : input_open(path, false);
    const char *reason = again ? "another filter was already read from there" : strerror(errno);
    *out = NULL;
    *why = (tamis_error){.status = TAMIS_EIO};
    const bool good = in != NULL && read_stream(in, s);
    if (in != NULL) reason = *input_reason(in) != '\0' ? input_reason(in) : "not enough memory";
    if (good)
        tamis_load(s->bytes, s->n, o, out, why);
    else
        snprintf(why->text, sizeof why->text, "cannot read: %s", reason);
    input_close(in);
    return *out != NULL ? TAMIS_OK : why->status;
}

void report_if_interrupted(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0) return;
    stop_report(path, lstat(path, &st) == 0 ? "is unchanged" : "was not written");
}

/* Prints a message only when it waits. The bytes that came by a pipe are left in *s, which the
 * caller frees. */
static tamis_status try_filter(const struct args *a, const char *path, uint32_t flags,
                               struct arrived *s, tamis **out, tamis_error *why)
{
    tamis_options o = {
        .struct_size = sizeof o, .flags = flags & ~(uint32_t)TAMIS_WAIT, .key = a->key.bytes};
    struct progress bar;
    *s = (struct arrived){0};
    progress_wait(&bar, "opening the filter");
    if ((flags & TAMIS_UPDATE) == 0 && is_stream(path)) {
        const tamis_status status = try_stream(&o, path, s, out, why);
        input_spend(path);
        progress_end(&bar);
        return status;
    }
    if ((flags & TAMIS_UPDATE) == 0) input_spend(path); /* a file that is also standard input */
    if ((flags & TAMIS_UPDATE) != 0) report_if_interrupted(path);
    tamis_status status = tamis_open(path, &o, out, why);
    if (status == TAMIS_EBUSY && (flags & TAMIS_WAIT) != 0) {
        if (!a->quiet) complain(path, "waiting for another process that is changing this file");
        o.flags = flags;
        status = tamis_open(path, &o, out, why);
    }
    progress_end(&bar);
    return status;
}

const char *shown(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard input" : path;
}

const char *shown_output(const char *path)
{
    return strcmp(path, "-") == 0 ? "standard output" : path;
}

static void refuse(const struct args *a, const char *path, const tamis_error *why)
{
    const bool needs_key = why->status == TAMIS_EKEY && a->key.bytes == NULL;
    complain(shown(path), "%s%s", why->text, needs_key ? "; give it with --key-file" : "");
}

/* A file that is not a filter of Tamis may belong to another program. */
static enum foreign_found try_foreign(const struct args *a, const char *path, struct arrived *s,
                                      struct foreign *f)
{
    if (s->bytes == NULL) return foreign_open(a, path, f);
    uint8_t *bytes = s->bytes;
    s->bytes = NULL;
    return foreign_take(path, bytes, s->n, f);
}

tamis *open_filter(const struct args *a, const char *path, uint32_t flags)
{
    const struct args any = {.command = a->command};
    struct foreign f;
    struct arrived s;
    tamis_error why;
    tamis *t;
    if ((flags & TAMIS_UPDATE) != 0 && is_stream(path)) {
        complain(shown(path), "a filter can be changed only in a file, not in a stream");
        return NULL;
    }
    const tamis_status status = try_filter(a, path, flags, &s, &t, &why);
    switch (status == TAMIS_ECORRUPT ? try_foreign(&any, path, &s, &f) : FOREIGN_NO) {
    case FOREIGN_NO:
        if (status != TAMIS_OK) refuse(a, path, &why);
        break;
    case FOREIGN_YES:
        complain(path, "this filter belongs to another program; only check, "
                       "info and convert accept it");
        foreign_close(&f);
        break;
    case FOREIGN_BAD: break;
    }
    free(s.bytes);
    return status == TAMIS_OK ? t : NULL;
}

tamis *open_filter_bytes(const struct args *a, const char *path, const void *bytes, size_t n)
{
    const tamis_options o = {.struct_size = sizeof o, .key = a->key.bytes};
    tamis_error why;
    tamis *t;
    if (tamis_load(bytes, n, &o, &t, &why) == TAMIS_OK) return t;
    refuse(a, path, &why);
    return NULL;
}

tamis *open_any_filter(const struct args *a, const char *path, uint32_t flags, struct foreign *f)
{
    tamis_error why = {.status = TAMIS_ECORRUPT};
    struct arrived s = {0};
    tamis *t = NULL;
    memset(f, 0, sizeof *f);
    const bool ours =
        a->foreign.from == NULL && try_filter(a, path, flags, &s, &t, &why) == TAMIS_OK;
    if (!ours && (why.status != TAMIS_ECORRUPT || try_foreign(a, path, &s, f) == FOREIGN_NO))
        refuse(a, path, &why);
    free(s.bytes);
    return ours ? t : NULL;
}

tamis *make_hasher(const struct args *a)
{
    const tamis_options o = {.struct_size = sizeof o, .key = a->key.bytes};
    tamis_plan p = {.struct_size = sizeof p, .items = 1, .fpr = 0.5, .seed = a->plan.seed};
    if (!encoding_from(&a->plan, &p)) return NULL;
    tamis_error why;
    tamis *t;
    if (tamis_create(&p, &o, &t, &why) == TAMIS_OK) return t;
    complain(NULL, "%s: %s", a->command->name, why.text);
    return NULL;
}

unsigned threads_from(const struct work_args *w)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (w->threads != 0) return (unsigned)(w->threads < 64 ? w->threads : 64);
    return processors > 1 ? (unsigned)processors : 1;
}

bool read_facts(const tamis *t, tamis_facts *f)
{
    struct progress bar;
    progress_wait(&bar, "reading the filter");
    const bool good = tamis_info(t, f) == TAMIS_OK;
    progress_end(&bar);
    return good;
}

/* Whether lines can be keys of this filter, as it states them; false after a message. */
static bool check_encoding(const tamis *t, const char *path)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_stat(t, &f);
    const uint32_t e = f.encoding;
    if (e <= TAMIS_KEYS_TEXT || e == TAMIS_KEYS_FIXED) return true;
    if (e == TAMIS_KEYS_INT64 && f.entries == 0) return true;
    if (e == TAMIS_KEYS_INT64)
        complain(path, "this sketch lists integers of 8 bytes (int64le), which are not lines");
    else if (e == TAMIS_KEYS_SHA256)
        complain(path, "the keys of this filter are SHA-256 hashes, not lines; to check URLs "
                       "against a version of the guard, use 'tamis guard check'");
    else
        complain(path,
                 "the keys of this filter are encoded by another program (%s), so lines "
                 "cannot be added or checked",
                 e == TAMIS_KEYS_CALLER ? "caller" : "by a newer version of Tamis");
    return false;
}

bool check_hashable(const tamis *t, const char *path)
{
    if (tamis_hash_many(t, NULL, 0, NULL) == TAMIS_OK) return check_encoding(t, path);
    complain(
        path,
        "this filter was made from another program's hashes, so lines cannot be added or checked");
    return false;
}

static tamis_status to_stdout(void *ctx, const void *bytes, size_t n)
{
    *(uint64_t *)ctx += n;
    fwrite(bytes, 1, n, stdout);
    return output_failed() ? TAMIS_EIO : TAMIS_OK;
}

/* The exit status of a save. Failures of stdout are reported by finish_output. */
static int saved(tamis_status s, const char *path, const tamis_error *why)
{
    if (strcmp(path, "-") == 0)
        return s == TAMIS_OK || s == TAMIS_EIO ? finish_output(EXIT_FOUND)
                                               : complain(NULL, "%s", why->text);
    if (s == TAMIS_OK) return EXIT_FOUND;
    if (s == TAMIS_EIO && why->os == EEXIST)
        return complain(path, "already exists; use -f to replace it");
    return complain(path, "%s", why->text);
}

/* Blocks the signals that end the process until a file is in place. Where the system does not have
 * files without names, a half-written file with a name would be left. Not for stdout, whose reader
 * may never read. */
struct saving {
    sigset_t before;
    struct progress bar;
};

static void begin_saving(struct saving *s, const char *path)
{
    sigset_t held;
    sigemptyset(&held);
    progress_wait(&s->bar, "saving");
    if (strcmp(path, "-") != 0) {
        sigaddset(&held, SIGINT);
        sigaddset(&held, SIGTERM);
        sigaddset(&held, SIGHUP);
    }
    pthread_sigmask(SIG_BLOCK, &held, &s->before);
}

/* From here on a signal reports what is in place now. */
static void end_saving(struct saving *s, const char *path, bool good)
{
    if (good && strcmp(path, "-") != 0) stop_report(path, "was saved");
    progress_end(&s->bar);
    pthread_sigmask(SIG_SETMASK, &s->before, NULL);
}

static tamis_save_options save_options(bool replace, uint32_t flags)
{
    return (tamis_save_options){.struct_size = sizeof(tamis_save_options),
                                .flags = flags | (replace ? 0 : TAMIS_SAVE_NEW)};
}

int save_filter(tamis *t, const char *path, bool replace)
{
    const tamis_save_options o = save_options(replace, 0);
    tamis_error why;
    uint64_t bytes = 0;
    struct saving saving;
    begin_saving(&saving, path);
    const tamis_status s = strcmp(path, "-") == 0 ? tamis_write(t, to_stdout, &bytes, &why)
                                                  : tamis_save(t, path, &o, &why);
    end_saving(&saving, path, s == TAMIS_OK);
    return saved(s, path, &why);
}

/* tamis_save refuses to replace a file that another handle has locked, so it saves to a name
 * beside it. A link stays a link. */
int save_over_locked(tamis *t, const char *path)
{
    const tamis_save_options o = save_options(false, 0);
    char real[PATH_MAX], beside[PATH_MAX + 40];
    struct stat st;
    tamis_error why;
    struct saving saving;
    if (realpath(path, real) == NULL || stat(real, &st) != 0)
        return complain(path, "unchanged: %s", strerror(errno));
    const size_t folder = (size_t)(strrchr(real, '/') + 1 - real);
    snprintf(beside, sizeof beside, "%.*s.tamis-grow-%ld.tmp", (int)folder, real, (long)getpid());
    begin_saving(&saving, path);
    const tamis_status s = tamis_save(t, beside, &o, &why);
    const bool good =
        s == TAMIS_OK && chmod(beside, st.st_mode & 07777) == 0 && rename(beside, real) == 0;
    const int os = errno;
    if (s == TAMIS_OK && !good) unlink(beside);
    const bool lasts = good && sync_folder_of(real);
    const int sync_os = errno;
    end_saving(&saving, path, good);
    if (!good) return complain(path, "unchanged: %s", s != TAMIS_OK ? why.text : strerror(os));
    if (lasts) return EXIT_FOUND;
    return complain(path, "saved, but it may not survive a power failure: %s", strerror(sync_os));
}

bool write_all(int fd, const void *bytes, size_t n)
{
    for (const char *at = bytes; n > 0;) {
        const ssize_t put = write(fd, at, n);
        if (put < 0 && errno != EINTR) return false;
        if (put > 0) at += put, n -= (size_t)put;
    }
    return true;
}

/* With its last slash; "" is here. False: errno. */
static bool folder_of(const char *path, char out[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    const size_t n = slash != NULL ? (size_t)(slash - path) + 1 : 0;
    if (n >= PATH_MAX) {
        errno = ENAMETOOLONG;
        return false;
    }
    memcpy(out, path, n);
    out[n] = '\0';
    return true;
}

/* A name in it is safe only then. */
bool sync_folder_of(const char *path)
{
    char folder[PATH_MAX];
    if (!folder_of(path, folder)) return false;
    const int fd = open(*folder != '\0' ? folder : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) return false;
    const bool good = fsync(fd) == 0;
    const int os = errno;
    close(fd);
    errno = os;
    return good;
}

/* A file beside another, under such a name as the library gives to its own; -1: errno. */
static int open_beside(const char *path, mode_t mode, char name[PATH_MAX])
{
    char folder[PATH_MAX];
    int fd = -1;
    if (!folder_of(path, folder)) return -1;
    for (unsigned i = 0; fd < 0 && i < 1000 && (i == 0 || errno == EEXIST); i++) {
        if (snprintf(name, PATH_MAX, "%s.tamis-%ld-%u.tmp", folder, (long)getpid(), i) >=
            PATH_MAX) {
            errno = ENAMETOOLONG;
            return -1;
        }
        fd = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY, mode);
    }
    return fd;
}

bool can_lock_beside(const char *path)
{
    char other[PATH_MAX];
    struct saving saving;
    begin_saving(&saving, path);
    const int fd = open_beside(path, 0600, other);
    const bool can = fd < 0 || flock(fd, LOCK_EX | LOCK_NB) == 0;
    const int os = errno;
    if (fd >= 0) {
        unlink(other);
        close(fd);
    }
    end_saving(&saving, path, false);
    errno = os;
    return can;
}

/* A device, or a pipe, cannot be replaced, only written to. */
static bool put_direct(const char *path, const void *bytes, size_t n)
{
    const int fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
    if (fd < 0) return false;
    const bool good = write_all(fd, bytes, n);
    const int os = errno;
    if (close(fd) != 0 && good) return false;
    errno = os;
    return good;
}

static bool put_whole(const char *path, const void *bytes, size_t n, mode_t mode, bool replace)
{
    tamis_save_options o = save_options(replace, 0);
    tamis_error why;
    o.mode = (uint32_t)mode;
    const tamis_status s = tamis_write_file(path, bytes, n, &o, &why);
    if (s != TAMIS_OK) errno = s == TAMIS_EIO ? why.os : s == TAMIS_EBUSY ? EBUSY : ENOMEM;
    return s == TAMIS_OK;
}

bool put_file(const char *path, const void *bytes, size_t n, mode_t mode, bool replace)
{
    struct stat st;
    struct saving saving;
    begin_saving(&saving, path);
    const bool direct = replace && stat(path, &st) == 0 && !S_ISREG(st.st_mode);
    const bool good =
        direct ? put_direct(path, bytes, n) : put_whole(path, bytes, n, mode, replace);
    const int os = errno;
    end_saving(&saving, path, good);
    errno = os;
    return good;
}

int save_text(const char *path, const char *text, size_t length, bool replace)
{
    if (strcmp(path, "-") == 0) {
        fwrite(text, 1, length, stdout);
        return finish_output(EXIT_FOUND);
    }
    if (put_file(path, text, length, 0666, replace)) return EXIT_FOUND;
    if (errno == EEXIST) return complain(path, "already exists; use -f to replace it");
    return complain(path, "cannot write: %s", strerror(errno));
}

int save_packed(tamis *t, const char *path, bool replace, uint64_t *bytes)
{
    const tamis_save_options o = save_options(replace, TAMIS_SAVE_PACKED);
    tamis_error why;
    struct stat st;
    *bytes = 0;
    const bool is_stdout = strcmp(path, "-") == 0;
    struct saving saving;
    begin_saving(&saving, path);
    const tamis_status s =
        is_stdout ? tamis_pack(t, to_stdout, bytes, &why) : tamis_save(t, path, &o, &why);
    end_saving(&saving, path, s == TAMIS_OK);
    if (s == TAMIS_OK && !is_stdout && stat(path, &st) == 0) *bytes = (uint64_t)st.st_size;
    return saved(s, path, &why);
}

int save_foreign(const tamis_foreign *f, uint32_t format, const char *from, const char *path,
                 bool replace)
{
    const tamis_save_options o = save_options(replace, 0);
    tamis_error why;
    uint64_t bytes = 0;
    struct saving saving;
    begin_saving(&saving, path);
    const tamis_status s = strcmp(path, "-") == 0
                               ? tamis_foreign_write(f, format, to_stdout, &bytes, &why)
                               : tamis_foreign_save(f, format, path, &o, &why);
    end_saving(&saving, path, s == TAMIS_OK);
    if (s == TAMIS_EUNSUPPORTED) return complain(from, "%s", why.text);
    return saved(s, path, &why);
}

bool check_output(const struct args *a)
{
    const char *path = a->output.path;
    struct stat st;
    bool good = false;
    if (path == NULL)
        complain(NULL, "%s: give the output file with -o FILE", a->command->name);
    else if (strcmp(path, "-") == 0 && isatty(STDOUT_FILENO))
        complain(NULL, "a filter cannot be written to a terminal; use -o FILE");
    else if (strcmp(path, "-") != 0 && !a->output.force && lstat(path, &st) == 0)
        complain(path,
                 S_ISDIR(st.st_mode) ? "is a directory" : "already exists; use -f to replace it");
    else
        good = true;
    if (good) report_if_interrupted(path);
    return good;
}

const char *reason_of(const tamis_error *why)
{
    static char text[sizeof why->text + 60];
    if (why->better_kind == TAMIS_AUTO) return why->text;
    if (why->better_kind == TAMIS_GROWING) {
        snprintf(text, sizeof text, "%s: tamis build --kind growing --removable", why->text);
        return text;
    }
    if (why->better_kind == TAMIS_DISTINCT)
        snprintf(text, sizeof text, "%s: tamis distinct -o", why->text);
    else
        snprintf(text, sizeof text, "%s: tamis %s --kind %s", why->text,
                 why->better_kind >= KIND_END ? "count" : "build",
                 tamis_kind_name(why->better_kind));
    return text;
}

const char *why_not_added(const tamis *t, tamis_status s)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (s == TAMIS_ESEALED && tamis_stat(t, &f) == TAMIS_OK && !f.sealed && f.kind != TAMIS_PRIVATE)
        return "the file is of a newer version of Tamis; this one can read it but not change it";
    if (s == TAMIS_ESEALED)
        return "the filter is sealed and cannot change; build it again from all lines";
    if (s != TAMIS_EFULL || tamis_info(t, &f) != TAMIS_OK) return tamis_status_message(s);
    if (f.strict) return "the filter is strict, and there are more lines than it was planned for";
    if (f.kind == TAMIS_CUCKOO)
        return "there is no room for a line; repeated lines also take room, so use sort -u, or "
               "build it with more --items or with --headroom 50%";
    return tamis_status_message(s);
}

bool is_sealed_kind(uint32_t kind)
{
    return kind == TAMIS_FUSE || kind == TAMIS_RIBBON || kind == TAMIS_EXACT ||
           kind == TAMIS_VALUE_MAP;
}

bool is_sketch(const tamis_facts *f)
{
    return f->kind >= KIND_END || f->generations != 0;
}

bool is_distinct(const tamis_facts *f)
{
    return f->kind == TAMIS_DISTINCT || (f->generations != 0 && f->inner_kind == TAMIS_DISTINCT);
}

bool check_not_distinct(const tamis *t, const char *path, const char *reason)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_stat(t, &f) != TAMIS_OK || !is_distinct(&f)) return true;
    complain(shown(path), "is a %sdistinct sketch%s, %s", f.generations != 0 ? "window of " : "",
             f.generations != 0 ? "es" : "", reason);
    return false;
}

uint64_t exact_until(uint64_t m)
{
    return m / 2 < 2048 ? m / 2 : 2048;
}

void warn_if_saturated(const tamis_facts *f, const char *path)
{
    if (f->saturated == 0 || !is_sketch(f)) return;
    complain(path,
             "%s counter%s saturated at %s limit: freq reports the counts of such lines as \"or "
             "more\"%s",
             grouped(f->saturated), f->saturated > 1 ? "s are" : " is",
             f->saturated > 1 ? "their" : "its",
             f->cell_bits == 32 ? "; build the sketch with 'tamis count --counter-bits 64'" : "");
}
