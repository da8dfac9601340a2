/* Secret keys: --key-file, and 'tamis key', which makes such files and prints their ids. A key has
 * one place in the process, a page that is excluded from core dumps and swap. It is never printed,
 * and never in a buffer of stdio. */
#include "key.h"

#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/output.h"

#include <tamis/inspect.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__) || defined(__APPLE__) /* the others declare getentropy in unistd.h */
#include <sys/random.h>
#endif

enum { KEY = 16, DIGITS = 2 * KEY };

/* Pages have at most 64 KiB. Everything that holds a key on its way is in here. */
static struct {
    _Alignas(1 << 16) uint8_t key[KEY];
    char text[DIGITS + 8];
    uint8_t rest[(1 << 16) - KEY - DIGITS - 8];
} hidden;

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
static bool is_kept_secret(const char *path, int fd)
{
    struct stat st;
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode))
        return true; /* a failure shows when it is read */
    if (st.st_uid != geteuid() || (st.st_mode & 077) == 0) return true;
    complain(path,
             "others may read this key (mode %04o), so it may not be secret any more; protect it "
             "with chmod 600, or make another",
             (unsigned)(st.st_mode & 07777));
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

bool read_key(struct key_args *k)
{
    if (k->file == NULL) return true;
    const char *const text = hidden.text;
    hide();
    const int fd = open(k->file, O_RDONLY | O_CLOEXEC);
    const bool fit = fd >= 0 && is_kept_secret(k->file, fd);
    const ssize_t n = fit ? read_text(fd) : -1;
    const int os = errno;
    if (fd >= 0) close(fd);
    if (fd >= 0 && !fit) return false;
    if (n < 0) {
        complain(k->file, "cannot read the key: %s", strerror(os));
        return false;
    }
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

/* --- The commands ----------------------------------------------------------------------------- */

const char *key_id_text(const uint8_t id[16])
{
    static char text[DIGITS + 1];
    for (int i = 0; i < KEY; i++) snprintf(text + 2 * i, 3, "%02x", id[i]);
    return text;
}

static int print_id(struct args *a)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (!read_key(&a->key)) return EXIT_ERROR;
    tamis *t = make_hasher(a);
    if (t == NULL) return EXIT_ERROR;
    const tamis_status s = tamis_stat(t, &f);
    tamis_close(t);
    if (s != TAMIS_OK) return complain(NULL, "%s", tamis_status_message(s));
    printf("%s  %s\n", key_id_text(f.key_id), a->key.file);
    return EXIT_FOUND;
}

int run_key_id(const struct args *a)
{
    int status = EXIT_FOUND;
    for (int i = 0; i < a->n_words; i++) {
        struct args one = *a;
        one.key.file = a->words[i];
        if (print_id(&one) != EXIT_FOUND) status = EXIT_ERROR;
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

int run_key_new(const struct args *a)
{
    struct key_args made = {0};
    if (a->n_words > 1) return complain(NULL, "key new: name one file");
    if (strcmp(a->words[0], "-") == 0)
        return complain(NULL, "key new: a key cannot be written to standard output; write ./- for "
                              "a file named -");
    hide();
    const bool good = draw_key(a->words[0]);
    const int os = errno;
    forget_key(&made);
    if (!good && os == EEXIST)
        return complain(a->words[0], "already exists and is never replaced, because it may be the "
                                     "only copy of a key");
    if (!good) return complain(a->words[0], "cannot make a key: %s", strerror(os));
    return a->quiet ? EXIT_FOUND : run_key_id(a);
}
