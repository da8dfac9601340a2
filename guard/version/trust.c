/* Who has signed a version, and whether it is an old one.
 *
 * A signature proves who made a manifest, not that it is the latest. Whoever delivers the files can
 * keep old ones and offer them again. Hence a client remembers the last version that it accepted,
 * and refuses what is older. A client that has been away for long, or is new, knows no version; for
 * it a manifest can have an expiry. */
#include "trust.h"

#include "signature.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <tamis/publish.h>
#include <tamis/tamis.h>
#include <unistd.h>

#define FUTURE 3600 /* seconds by which the clocks of the builder and of a client may differ */
#define STATE_LINE "tamis-guard-state 1\n"
#define STATE_ATTEMPTS 100 /* other programs that replace the same state at the same time */

/* --- Judging ---------------------------------------------------------------------------------- */

struct guard_moment guard_moment(time_t t)
{
    struct guard_moment m;
    struct tm parts;
    if (gmtime_r(&t, &parts) == NULL ||
        strftime(m.text, sizeof m.text, "%Y-%m-%d %H:%M:%S UTC", &parts) == 0)
        snprintf(m.text, sizeof m.text, "%lld", (long long)t);
    return m;
}

static bool is_older(const guard_accepted *last, const guard_manifest *m, guard_error *why)
{
    if (last->version == 0) return false;
    if (m->version < last->version)
        return !guard_fail(why,
                           "version %" PRIu64 " is older than version %" PRIu64
                           ", which was accepted before: an old list is offered again",
                           m->version, last->version);
    if (m->version == last->version && strcmp(m->id, last->id) != 0)
        return !guard_fail(
            why, "this is another version %" PRIu64 " than the one that was accepted before",
            m->version);
    if (m->built < last->built)
        return !guard_fail(why,
                           "version %" PRIu64 " was built at %s, before the accepted version "
                           "%" PRIu64 " (%s): an old list is offered again",
                           m->version, guard_moment(m->built).text, last->version,
                           guard_moment(last->built).text);
    return false;
}

static bool is_timely(const guard_manifest *m, time_t now, guard_error *why)
{
    if (m->expires != 0 && m->expires <= now)
        return guard_fail(why, "the list expired at %s; this clock shows %s, and may be wrong",
                          guard_moment(m->expires).text, guard_moment(now).text);
    if (m->built > now && m->built - now > FUTURE)
        return guard_fail(why,
                          "the list was built in the future, at %s; this clock shows %s, and may "
                          "be wrong",
                          guard_moment(m->built).text, guard_moment(now).text);
    return true;
}

bool guard_trust_check(const guard_trust *t, const guard_manifest *m,
                       const struct guard_manifest_text *text, time_t now, guard_error *why)
{
    return guard_verify(t->pinned, t->n_pinned, m->signatures, m->n_signatures, text->at,
                        text->n_signed, why) &&
           !is_older(&t->last, m, why) && is_timely(m, now, why);
}

/* --- The state file --------------------------------------------------------------------------- */

size_t guard_state_print(const guard_accepted *a, char *text, size_t room)
{
    char sum[2 * GUARD_HASH_SIZE + 1];
    size_t n = (size_t)snprintf(text, room, STATE_LINE "version %" PRIu64 "\nid %s\nbuilt %lld\n",
                                a->version, a->id, (long long)a->built);
    guard_sum_bytes(text, n, sum);
    n += (size_t)snprintf(text + n, room - n, "sum %s\n", sum);
    return n;
}

/* There is one text for each state, so it is read loosely, written again, and compared. */
bool guard_state_parse(const char *text, size_t n, guard_accepted *out)
{
    char copy[GUARD_STATE_BYTES], again[GUARD_STATE_BYTES];
    long long built;
    memset(out, 0, sizeof *out);
    if (n >= sizeof copy) return false;
    memcpy(copy, text, n);
    copy[n] = '\0';
    /* NOLINTNEXTLINE(cert-err34-c): a number that does not fit is not written like this again */
    if (sscanf(copy, STATE_LINE "version %20" SCNu64 " id %32[0-9a-f] built %20lld", &out->version,
               out->id, &built) != 3)
        return false;
    out->built = (time_t)built;
    return out->version != 0 && strlen(out->id) == sizeof out->id - 1 &&
           guard_state_print(out, again, sizeof again) == n && memcmp(again, text, n) == 0;
}

/* Reads the state. *found is false if there is none yet. */
static bool read_state(const char *path, guard_accepted *out, bool *found, guard_error *why)
{
    char text[GUARD_STATE_BYTES];
    size_t n = 0;
    memset(out, 0, sizeof *out);
    *found = guard_read_small(path, text, sizeof text, &n, why);
    if (!*found && errno == ENOENT) return true;
    if (!*found && errno != EFBIG) return false;
    if (*found && guard_state_parse(text, n, out)) return true;
    return guard_fail(
        why,
        "%s: this memory of the last accepted version is damaged; nothing is accepted "
        "until you restore it, or remove it to begin anew",
        path);
}

bool guard_trust_recall(guard_trust *t, guard_error *why)
{
    guard_accepted stored;
    bool found;
    if (t->state == NULL) return true;
    if (!read_state(t->state, &stored, &found, why)) return false;
    /* Another program may have gone on, or somebody may have removed the file on purpose. */
    t->last = stored;
    return true;
}

/* Whether the path still leads to the open file, which may have been replaced while this program
 * waited for its lock. */
static bool is_still(int fd, const char *path)
{
    struct stat here, there;
    return fstat(fd, &here) == 0 && stat(path, &there) == 0 && here.st_ino == there.st_ino &&
           here.st_dev == there.st_dev;
}

/* Locks the state against other programs that replace it. The lock is not of the sort that
 * tamis_write_file takes. Returns -1 with errno set, ENOENT if there is no file. */
static int lock_state(const char *path)
{
    for (int i = 0; i < STATE_ATTEMPTS; i++) {
        struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
        const int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0) return -1;
        const bool locked = fcntl(fd, F_OFD_SETLKW, &whole) == 0;
        if (locked && is_still(fd, path)) return fd;
        const int os = errno;
        close(fd);
        errno = os;
        if (!locked && os != EINTR) return -1;
    }
    errno = EBUSY;
    return -1;
}

static bool write_state(const char *path, const guard_accepted *a, bool found, int *os,
                        guard_error *why)
{
    char text[GUARD_STATE_BYTES];
    const size_t n = guard_state_print(a, text, sizeof text);
    const tamis_save_options o = {
        .struct_size = sizeof o, .mode = 0644, .flags = found ? 0 : TAMIS_SAVE_NEW};
    tamis_error reason;
    if (tamis_write_file(path, text, n, &o, &reason) == TAMIS_OK) return true;
    *os = reason.status == TAMIS_EBUSY ? EBUSY : reason.os;
    return guard_fail(why, "%s: cannot remember the accepted version: %s", path, reason.text);
}

/* A new file cannot be put where a link leads that leads nowhere. */
static bool leads_nowhere(const char *path, guard_error *why)
{
    struct stat st;
    return lstat(path, &st) == 0 && S_ISLNK(st.st_mode) && stat(path, &st) != 0 &&
           !guard_fail(why,
                       "%s: cannot remember the accepted version: this is a symbolic link to a "
                       "file that does not exist",
                       path);
}

static bool same_accepted(const guard_accepted *a, const guard_accepted *b)
{
    return a->version == b->version && a->built == b->built && strcmp(a->id, b->id) == 0;
}

/* One attempt. *again is set if another program is just creating the file, or has done so. */
static bool store_accepted(const char *path, const guard_accepted *a, const guard_manifest *m,
                           bool *again, guard_error *why)
{
    guard_accepted stored;
    bool found = false;
    int os = 0;
    const int fd = lock_state(path);
    *again = false;
    if (fd < 0 && errno != ENOENT)
        return guard_fail(why, "%s: cannot remember the accepted version: %s", path,
                          strerror(errno));
    bool good = read_state(path, &stored, &found, why) && !is_older(&stored, m, why);
    /* Without its lock, a file that was created meanwhile may be replaced at any time. */
    if (good && fd < 0 && found)
        good = guard_fail(why, "%s: another program is just creating it", path);
    if (good && !found && leads_nowhere(path, why)) good = false;
    if (good && (!found || !same_accepted(&stored, a)))
        good = write_state(path, a, found, &os, why);
    *again = !good && (os == EBUSY || os == EEXIST || (fd < 0 && found));
    if (fd >= 0) close(fd);
    return good;
}

bool guard_trust_remember(guard_trust *t, const guard_manifest *m, guard_error *why)
{
    guard_accepted a = {.version = m->version, .built = m->built};
    memcpy(a.id, m->id, sizeof a.id);
    bool good = t->state == NULL || same_accepted(&t->last, &a), again = true;
    for (int i = 0; !good && again && i < STATE_ATTEMPTS; i++) {
        const struct timespec pause = {0, 10000000};
        if (i > 0) nanosleep(&pause, NULL);
        good = store_accepted(t->state, &a, m, &again, why);
    }
    if (good) t->last = a;
    return good;
}
