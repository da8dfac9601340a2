#include "cli.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int hex_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool parse_hex_key(const char *text, uint8_t key[16])
{
    for (int i = 0; i < 16; i++) {
        const int high = hex_digit(text[2 * i]), low = hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        key[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

bool read_key(struct args *a)
{
    if (a->key_file == NULL) return true;
    char text[40];
    size_t n = 0;
    ssize_t got = -1;
    const int fd = open(a->key_file, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && n < sizeof text && (got = read(fd, text + n, sizeof text - n)) != 0) {
        if (got < 0 && errno != EINTR) break;
        if (got > 0) n += (size_t)got;
    }
    const int os = errno;
    if (fd >= 0) close(fd);
    if (got < 0) {
        complain(a->key_file, "cannot read the key: %s", strerror(os));
        return false;
    }
    if (n == 16)
        memcpy(a->key_bytes, text, 16);
    else if (!((n == 32 || (n == 33 && text[32] == '\n')) && parse_hex_key(text, a->key_bytes))) {
        complain(a->key_file, "a key is 16 bytes, or 32 hex digits");
        return false;
    }
    a->key = a->key_bytes;
    return true;
}

bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

tamis *open_filter(const struct args *a, const char *path, uint32_t flags)
{
    tamis_options o = {
        .struct_size = sizeof o, .flags = flags & ~(uint32_t)TAMIS_WAIT, .key = a->key};
    tamis_error why;
    tamis *t;
    tamis_status s = tamis_open(path, &o, &t, &why);
    if (s == TAMIS_EBUSY && (flags & TAMIS_WAIT) != 0) {
        if (!a->quiet) complain(path, "waiting for another process that is changing it");
        o.flags = flags;
        s = tamis_open(path, &o, &t, &why);
    }
    if (s == TAMIS_OK) return t;
    complain(path, "%s%s", why.text, s == TAMIS_EKEY && o.key == NULL ? "; see --key-file" : "");
    return NULL;
}

tamis *make_hasher(const struct args *a)
{
    const tamis_options o = {.struct_size = sizeof o, .key = a->key};
    const tamis_plan p = {.struct_size = sizeof p, .items = 1, .fpr = 0.5, .seed = a->seed};
    tamis_error why;
    tamis *t;
    if (tamis_create(&p, &o, &t, &why) == TAMIS_OK) return t;
    complain(NULL, "%s: %s", a->command->name, why.text);
    return NULL;
}

unsigned threads_from(const struct args *a)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (a->threads != 0) return (unsigned)(a->threads < 64 ? a->threads : 64);
    return processors > 1 ? (unsigned)processors : 1;
}

int check_hashable(const tamis *t, const char *path)
{
    if (tamis_hash_many(t, NULL, 0, NULL) == TAMIS_OK) return EXIT_FOUND;
    return complain(path,
                    "made from hashes of another program's; lines cannot be added or checked");
}

static tamis_status to_stdout(void *ctx, const void *bytes, size_t n)
{
    *(uint64_t *)ctx += n;
    return fwrite(bytes, 1, n, stdout) == n ? TAMIS_OK : TAMIS_EIO;
}

/* How a save ended: to stdout, whose failures finish_output reports, or to a path. */
static int saved(tamis_status s, const char *path, const tamis_error *why)
{
    if (strcmp(path, "-") == 0)
        return s == TAMIS_OK || s == TAMIS_EIO ? finish_output(EXIT_FOUND)
                                               : complain(NULL, "%s", why->text);
    if (s == TAMIS_OK) return EXIT_FOUND;
    if (s == TAMIS_EIO && why->os == EEXIST)
        return complain(path, "exists already; -f replaces it");
    return complain(path, "%s", why->text);
}

int save_filter(tamis *t, const char *path, bool replace)
{
    tamis_error why;
    uint64_t bytes = 0;
    const tamis_status s = strcmp(path, "-") == 0 ? tamis_write(t, to_stdout, &bytes, &why)
                           : replace              ? tamis_save(t, path, &why)
                                                  : tamis_save_new(t, path, &why);
    return saved(s, path, &why);
}

int save_packed(const tamis *t, const char *path, bool replace, uint64_t *bytes)
{
    tamis_error why;
    struct stat st;
    *bytes = 0;
    const bool is_stdout = strcmp(path, "-") == 0;
    const tamis_status s = is_stdout ? tamis_pack(t, to_stdout, bytes, &why)
                                     : tamis_save_packed(t, path, replace, &why);
    if (s == TAMIS_OK && !is_stdout && stat(path, &st) == 0) *bytes = (uint64_t)st.st_size;
    return saved(s, path, &why);
}

int check_output(const struct args *a)
{
    struct stat st;
    if (a->output == NULL) return complain(NULL, "%s: where to? -o FILE", a->command->name);
    if (strcmp(a->output, "-") == 0) {
        if (isatty(STDOUT_FILENO))
            return complain(NULL, "a filter is not for a terminal; use -o FILE");
        return EXIT_FOUND;
    }
    if (!a->force && lstat(a->output, &st) == 0)
        return complain(a->output, "exists already; -f replaces it");
    return EXIT_FOUND;
}

const char *why_not_added(const tamis *t, tamis_status s)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (s == TAMIS_ESEALED) return "sealed, so it cannot change; build it again from all the lines";
    if (s != TAMIS_EFULL || tamis_info(t, &f) != TAMIS_OK) return tamis_status_message(s);
    if (f.strict) return "a strict filter, and the lines are more than it was planned for";
    if (f.kind == TAMIS_CUCKOO)
        return "no room for a line; repeated lines take room as well: try sort -u, or more --items";
    return tamis_status_message(s);
}

void warn_if_over_full(const tamis *t, const char *path)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(t, &f) != TAMIS_OK || !f.over_full) return;
    if (f.may_miss)
        complain(
            path,
            "worn: adds and removes have filled it beyond its plan; %s of never-added keys get "
            "a maybe now, and %s of those in it a no; see 'tamis compact'",
            rate_text(f.fpr_now), rate_text(f.miss_rate));
    else if (f.kind == TAMIS_WINDOW)
        complain(path,
                 "over-full: its generations hold more than was planned; its false-positive "
                 "rate is now %s",
                 rate_text(f.fpr_now));
    else
        complain(path, "over-full: %s %s items, planned for %s; its false-positive rate is now %s",
                 isfinite(f.items_high) ? "about" : "more than",
                 grouped((uint64_t)(isfinite(f.items_high) ? f.items_estimate : f.items_low)),
                 grouped(f.planned_items), rate_text(f.fpr_now));
}
