/* Secret keys: --key-file, keys that sign, and 'tamis key', which makes such files and prints their
 * ids. A key has one place in the process, a page that is excluded from core dumps and swap. It is
 * never printed, and never in a buffer of stdio. */
#include "key.h"

#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/output.h"

#include <tamis/inspect.h>

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__) || defined(__APPLE__) /* the others declare getentropy in unistd.h */
#include <sys/random.h>
#endif

#ifdef WITH_GUARD
enum { KEY = 16, DIGITS = 2 * KEY, TEXT_ROOM = GUARD_KEY_FILE };
#else
enum { KEY = 16, DIGITS = 2 * KEY, TEXT_ROOM = DIGITS + 8 };
#endif

/* Everything that holds a key on its way is in here, in one page. Pages have 4 to 64 KiB. */
static union {
    struct {
        _Alignas(1 << 16) uint8_t key[KEY];
        char text[TEXT_ROOM];
#ifdef WITH_GUARD
        guard_seckey signing[GUARD_SIGNERS];
#endif
    };
    uint8_t page[1 << 16];
} hidden;
#ifdef WITH_GUARD
_Static_assert(KEY + TEXT_ROOM + sizeof hidden.signing <= 4096, "they fit in the smallest page");
#endif

/* As far as the system allows; a key that cannot be locked in memory is used all the same. */
static void hide(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
#ifdef MADV_DONTDUMP
    madvise(&hidden, page, MADV_DONTDUMP);
#endif
    mlock(&hidden, page);
}

/* Not memset, which a compiler may drop, nor explicit_bzero, which macOS lacks. */
static void wipe_key(void *secret, size_t n)
{
    for (volatile unsigned char *at = secret; n > 0; n--) *at++ = 0;
}

void forget_key(struct key_args *k)
{
    wipe_key(&hidden, sizeof hidden);
    k->bytes = NULL;
}

static int key_digit(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

static bool parse_hex_key(const char *text, uint8_t *key)
{
    for (int i = 0; i < KEY; i++) {
        const int high = key_digit(text[2 * i]), low = key_digit(text[2 * i + 1]);
        if (high < 0 || low < 0) return false;
        key[i] = (uint8_t)(high << 4 | low);
    }
    return true;
}

/* A file of this user that others may read: they may have read it already. As in ssh this is an
 * error, because nobody sees the warnings of a script. The mode of a file that belongs to somebody
 * else, such as a mounted secret, is up to its owner. */
bool is_kept_secret(const char *path, int fd, const char *what)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return true; /* a failure shows when it is read */
    if (st.st_uid != geteuid() || (st.st_mode & 077) == 0) return true;
    complain(path,
             "others may read this %s (mode %04o), so it may not be secret any more; protect it "
             "with chmod 600, or make another",
             what, (unsigned)(st.st_mode & 07777));
    return false;
}

/* Returns the number of bytes read into hidden.text; -1: see errno. */
static ssize_t read_text(int fd)
{
    size_t n = 0;
    while (n < sizeof hidden.text) {
        const ssize_t got = read(fd, hidden.text + n, sizeof hidden.text - n);
        if (got < 0 && errno != EINTR) return -1;
        if (got == 0) break;
        if (got > 0) n += (size_t)got;
    }
    return (ssize_t)n;
}

/* Opens the file of a key and reads it into hidden.text; -1 after a message, for which the file
 * must be closed as well unless it is -1. */
static ssize_t open_text(const char *path, int *fd)
{
    hide();
    *fd = open(path, O_RDONLY | O_CLOEXEC);
    const ssize_t n = *fd >= 0 ? read_text(*fd) : -1;
    if (n < 0) complain(path, "cannot read the key: %s", strerror(errno));
    return n;
}

/* Whether the n bytes of hidden.text are a public key; then a message says so. */
static bool is_public(const char *path, ssize_t n)
{
#ifdef WITH_GUARD
    guard_pubkey key;
    guard_error why;
    if (!guard_pubkey_parse(hidden.text, (size_t)n, &key, &why)) return false;
    complain(path, "is a public key; a secret key is needed here");
    return true;
#else
    (void)path, (void)n;
    return false;
#endif
}

/* The same for a file that nobody else may read. */
static ssize_t open_secret(const char *path)
{
    int fd;
    ssize_t n = open_text(path, &fd);
    if (n >= 0 && is_public(path, n)) n = -1;
    if (n >= 0 && !is_kept_secret(path, fd, "key")) n = -1;
    if (fd >= 0) close(fd);
    return n;
}

/* Takes a key of --key-file from the n bytes of hidden.text; false after a message. */
static bool take_key(struct key_args *k, ssize_t n)
{
    const char *const text = hidden.text;
    const bool raw = n == KEY, digits = n == DIGITS || (n == DIGITS + 1 && text[DIGITS] == '\n');
    if (raw) memcpy(hidden.key, text, KEY);
    if (!raw && !(digits && parse_hex_key(text, hidden.key))) {
        complain(k->file, "a key must be 16 bytes or 32 hex digits; make one with 'tamis key new'");
        return false;
    }
    wipe_key(hidden.text, sizeof hidden.text);
    k->bytes = hidden.key;
    return true;
}

bool read_key(struct key_args *k)
{
    if (k->file == NULL) return true;
    const ssize_t n = open_secret(k->file);
    return n >= 0 && take_key(k, n);
}

/* Reports the file of a new key that could not be written, if there is one, by errno. */
static int report_new(const char *failed)
{
    if (failed == NULL) return EXIT_FOUND;
    if (errno == EEXIST)
        return complain(failed, "already exists and is never replaced, because it may be the only "
                                "copy of a key");
    return complain(failed, "cannot make a key: %s", strerror(errno));
}

/* --- Keys that sign --------------------------------------------------------------------------- */

#ifdef WITH_GUARD

/* Takes a key that signs from the n bytes of hidden.text; false after a message. */
static bool take_signing_key(const char *path, ssize_t n, guard_seckey *out)
{
    guard_error why;
    const bool good = guard_seckey_parse(hidden.text, (size_t)n, out, &why);
    wipe_key(hidden.text, sizeof hidden.text);
    if (!good) complain(path, "%s", why.text);
    return good;
}

size_t read_signing_keys(char *const *files, int n, const guard_seckey **out)
{
    if (n > GUARD_SIGNERS) {
        complain(NULL, "at most %d keys can sign", GUARD_SIGNERS);
        return 0;
    }
    for (int i = 0; i < n; i++) {
        const ssize_t length = open_secret(files[i]);
        if (length < 0 || !take_signing_key(files[i], length, &hidden.signing[i])) return 0;
        for (int j = 0; j < i; j++) {
            if (memcmp(hidden.signing[i].keynum, hidden.signing[j].keynum, GUARD_KEYNUM) != 0)
                continue;
            complain(files[i], "is the same key as %s, or has its number", files[j]);
            return 0;
        }
    }
    *out = hidden.signing;
    return (size_t)n;
}

/* Whether the n bytes of hidden.text begin like a secret key, even a damaged one. */
static bool looks_secret(ssize_t n)
{
    static const char begin[] = "RWRCS"; /* base64 of EdBK */
    const char *end = memchr(hidden.text, '\n', (size_t)n);
    return end != NULL && end + sizeof begin <= hidden.text + n &&
           memcmp(end + 1, begin, sizeof begin - 1) == 0;
}

/* The id of a key that signs, from the n bytes of hidden.text. */
static int print_key_number(const char *path, int fd, ssize_t n)
{
    char number[GUARD_KEYNUM_TEXT];
    guard_pubkey key;
    guard_error why;
    if (!guard_pubkey_parse(hidden.text, (size_t)n, &key, &why)) {
        if (!looks_secret(n)) return complain(path, "%s", why.text);
        if (!is_kept_secret(path, fd, "key") || !take_signing_key(path, n, &hidden.signing[0]))
            return EXIT_ERROR;
        key = guard_pubkey_of(&hidden.signing[0]);
    }
    guard_keynum_print(key.keynum, number);
    printf("%s  %s\n", number, path);
    return EXIT_FOUND;
}

/* Writes both files of a new pair. The public key is written first, so that a pair of which one
 * file is missing has no secret. Returns the path that failed, with errno set, or NULL. */
static const char *put_pair(const char *path, const char *public_path)
{
    const guard_pubkey key = guard_pubkey_of(&hidden.signing[0]);
    if (access(path, F_OK) == 0) {
        errno = EEXIST;
        return path;
    }
    size_t n = guard_pubkey_print(&key, hidden.text);
    if (!put_file(public_path, hidden.text, n, 0644, false)) return public_path;
    n = guard_seckey_print(&hidden.signing[0], hidden.text);
    if (put_file(path, hidden.text, n, 0600, false)) return NULL;
    const int os = errno;
    unlink(public_path);
    errno = os;
    return path;
}

static int make_pair(const char *path)
{
    const size_t room = strlen(path) + sizeof ".pub";
    char *const public_path = malloc(room);
    guard_error why;
    if (public_path == NULL) return complain(NULL, "not enough memory");
    snprintf(public_path, room, "%s.pub", path);
    hide();
    int status = EXIT_FOUND;
    if (guard_seckey_draw(&hidden.signing[0], &why))
        status = report_new(put_pair(path, public_path));
    else
        status = complain(path, "cannot make a key: %s", why.text);
    free(public_path);
    return status;
}

#endif

/* --- The commands ----------------------------------------------------------------------------- */

const char *key_id_text(const uint8_t id[16])
{
    static char text[DIGITS + 1];
    for (int i = 0; i < KEY; i++) snprintf(text + 2 * i, 3, "%02x", id[i]);
    return text;
}

/* The id of the key in hidden.text, which a hasher with that key reports. */
static int print_id(struct args *a, ssize_t n)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (!take_key(&a->key, n)) return EXIT_ERROR;
    tamis *t = make_hasher(a);
    if (t == NULL) return EXIT_ERROR;
    const tamis_status s = tamis_stat(t, &f);
    tamis_close(t);
    if (s != TAMIS_OK) return complain(NULL, "%s", tamis_status_message(s));
    printf("%s  %s\n", key_id_text(f.key_id), a->key.file);
    return EXIT_FOUND;
}

static int print_any_id(struct args *a)
{
    int fd, status = EXIT_ERROR;
    const ssize_t n = open_text(a->key.file, &fd);
#ifdef WITH_GUARD
    const bool signs = n >= 0 && guard_is_key_text(hidden.text, (size_t)n);
    if (signs) status = print_key_number(a->key.file, fd, n);
#else
    const bool signs = false;
#endif
    if (n >= 0 && !signs && is_kept_secret(a->key.file, fd, "key")) status = print_id(a, n);
    if (fd >= 0) close(fd);
    return status;
}

int run_key_id(const struct args *a)
{
    int status = EXIT_FOUND;
    for (int i = 0; i < a->n_words; i++) {
        struct args one = *a;
        one.key.file = a->words[i];
        if (print_any_id(&one) != EXIT_FOUND) status = EXIT_ERROR;
        forget_key(&one.key);
    }
    return finish_output(status);
}

/* Draws a key and writes it. The file is complete and on the disk before it gets its name, because
 * a filter whose key is lost is useless. False: see errno. */
static bool draw_key(const char *path)
{
    static const char digit[] = "0123456789abcdef";
    if (getentropy(hidden.key, KEY) != 0) return false;
    for (int i = 0; i < KEY; i++) {
        hidden.text[2 * i] = digit[hidden.key[i] >> 4];
        hidden.text[2 * i + 1] = digit[hidden.key[i] & 15];
    }
    hidden.text[DIGITS] = '\n';
    return put_file(path, hidden.text, DIGITS + 1, 0600, false);
}

static int make_key(const char *path)
{
    hide();
    return report_new(draw_key(path) ? NULL : path);
}

int run_key_new(const struct args *a)
{
    struct key_args made = {0};
    if (a->n_words > 1) return complain(NULL, "key new: name one file");
    if (strcmp(a->words[0], "-") == 0)
        return complain(NULL, "key new: a key cannot be written to standard output; write ./- for "
                              "a file named -");
#ifdef WITH_GUARD
    int status = a->sign.pair ? make_pair(a->words[0]) : make_key(a->words[0]);
#else
    if (a->sign.pair)
        return complain(NULL, "key new: this program was built without signatures (libnettle)");
    int status = make_key(a->words[0]);
#endif
    forget_key(&made);
    if (status == EXIT_FOUND && !a->quiet) status = run_key_id(a);
    return status;
}
