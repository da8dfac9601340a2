/* From a word of the command line to an address with everything that a connection needs: the user
 * and the password, and the certificates. What the address itself says comes first, then the
 * options, then the environment. */
#include "../commands/key.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "redis.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* --- Credentials on the command line ---------------------------------------------------------- */

/* The addresses as they were given. */
struct original {
    struct original *next;
    const char *word; /* where the command line has it, now without credentials */
    size_t length;
    char text[];
};
static struct original *originals;

static void wipe_text(volatile char *at, size_t n)
{
    while (n > 0) at[--n] = 0;
}

bool hide_credentials(const char *word)
{
    struct cluster_address at;
    const char *scheme_end = strstr(word, "://");
    if (!cluster_is_address(word)) return false;
    cluster_parse(word, &at);
    const size_t begin = (size_t)(scheme_end + 3 - word), end = at.credentials_end;
    const size_t length = strlen(word);
    cluster_wipe(&at);
    struct original *o = end > begin ? malloc(sizeof *o + length + 1) : NULL;
    if (o == NULL) return false;
    *o = (struct original){originals, word, length};
    memcpy(o->text, word, length + 1);
    originals = o;
    char *in_place = (char *)(uintptr_t)word; /* a word of argv, which may be changed */
    memmove(in_place + begin, word + end, length - end + 1);
    wipe_text(in_place + length - (end - begin), end - begin);
    return false;
}

void forget_credentials(void)
{
    while (originals != NULL) {
        struct original *next = originals->next;
        wipe_text(originals->text, originals->length);
        free(originals);
        originals = next;
    }
}

static const char *original_of(const char *word)
{
    for (const struct original *o = originals; o != NULL; o = o->next)
        if (o->word == word) return o->text;
    return word;
}

/* --- Passwords -------------------------------------------------------------------------------- */

/* Reads the only line of a file. Returns the reason for a failure. */
static const char *read_password_line(int fd, char *to, size_t room)
{
    size_t n = 0;
    ssize_t got = 1;
    while (n < room && got != 0) {
        got = read(fd, to + n, room - n);
        if (got < 0 && errno != EINTR) return strerror(errno);
        if (got > 0) n += (size_t)got;
    }
    if (n > 0 && to[n - 1] == '\n') n--;
    if (n > 0 && to[n - 1] == '\r') n--;
    if (n == 0) return "it is empty";
    if (n == room) return "it is too long";
    if (memchr(to, '\n', n) != NULL) return "it has several lines";
    if (memchr(to, '\0', n) != NULL) return "it has a NUL byte";
    to[n] = '\0';
    return NULL;
}

static bool read_password_file(const char *path, struct cluster_address *at)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    const char *why = fd < 0 ? strerror(errno) : NULL;
    const bool secret = fd < 0 || is_kept_secret(path, fd, "password");
    if (why == NULL && secret) why = read_password_line(fd, at->password, sizeof at->password);
    if (fd >= 0) close(fd);
    if (why != NULL) complain(path, "cannot read the password: %s", why);
    return secret && why == NULL;
}

/* False after a message. *set says whether the variable had a value. */
static bool read_variable(const char *name, char *to, size_t room, bool *set)
{
    const char *value = getenv(name);
    *set = value != NULL && value[0] != '\0';
    if (*set && strlen(value) >= room) {
        complain(NULL, "%s is too long", name);
        return false;
    }
    if (*set) strcpy(to, value);
    return true;
}

/* REDISCLI_AUTH is the variable of redis-cli. */
static bool read_environment(struct cluster_address *at)
{
    bool set;
    if (at->user[0] == '\0' &&
        !read_variable("TAMIS_REDIS_USERNAME", at->user, sizeof at->user, &set))
        return false;
    if (at->password[0] != '\0') return true;
    if (!read_variable("TAMIS_REDIS_PASSWORD", at->password, sizeof at->password, &set))
        return false;
    return set || read_variable("REDISCLI_AUTH", at->password, sizeof at->password, &set);
}

static bool complete_credentials(const struct args *a, struct cluster_address *at)
{
    const bool given = at->password[0] != '\0';
    const char *file = at->password_file[0] != '\0' ? at->password_file : a->redis.password_file;
    if (given && file != NULL) {
        complain(at->shown,
                 "has a password, so --password-file cannot be used; write USER:@ before the host "
                 "for a user whose password is in the file");
        return false;
    }
    if (given) return true;
    if (file != NULL && !read_password_file(file, at)) return false;
    if (!read_environment(at)) return false;
    if (at->user[0] == '\0' || at->password[0] != '\0') return true;
    complain(at->shown, "there is a user without a password; --password-file names its file");
    return false;
}

/* --- TLS -------------------------------------------------------------------------------------- */

bool check_tls_options(const struct args *a, bool secure)
{
    const bool given = a->redis.cacert != NULL || a->redis.cert != NULL || a->redis.key != NULL ||
                       a->redis.sni != NULL;
    if (!given || secure) return true;
    /* Otherwise one could believe that the connection is encrypted. */
    complain(NULL,
             "%s: --cacert, --cert, --key and --sni are for TLS: write rediss:// instead of "
             "redis://",
             a->command->name);
    return false;
}

static bool fill(char *field, size_t room, const char *option, const char *value)
{
    if (value == NULL || field[0] != '\0') return true;
    if (strlen(value) < room && value[0] != '\0') {
        strcpy(field, value);
        return true;
    }
    complain(NULL, "--%s: its value is empty or too long", option);
    return false;
}

/* Other files, and those that cannot be opened, are reported when the connection is made. */
static bool check_tls_key(const char *path)
{
    char begin[40] = ""; /* of "-----BEGIN ENCRYPTED PRIVATE KEY-----" and the like */
    const int fd = path[0] != '\0' ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    const bool is_key =
        fd >= 0 && read(fd, begin, sizeof begin - 1) > 0 && strstr(begin, "PRIVATE KEY") != NULL;
    const bool good = !is_key || is_kept_secret(path, fd, "key");
    if (fd >= 0) close(fd);
    return good;
}

static bool complete_tls(const struct args *a, struct cluster_address *at)
{
    if (!at->secure) return true;
    /* A certificate of the address does not go with a key of the options. */
    const bool certified = at->cert[0] != '\0' || at->key[0] != '\0';
    return fill(at->ca, sizeof at->ca, "cacert", a->redis.cacert) &&
           (certified || (fill(at->cert, sizeof at->cert, "cert", a->redis.cert) &&
                          fill(at->key, sizeof at->key, "key", a->redis.key))) &&
           fill(at->sni, sizeof at->sni, "sni", a->redis.sni) && check_tls_key(at->key);
}

/* --- Addresses -------------------------------------------------------------------------------- */

bool remote_address(const struct args *a, const char *word, parse_address *parse,
                    struct cluster_address *out)
{
    const char *why = parse(original_of(word), out);
    if (why != NULL) complain(out->shown, "%s", why);
    if (why == NULL && complete_credentials(a, out) && complete_tls(a, out)) return true;
    cluster_wipe(out);
    return false;
}

const char *remote_sibling(const char *word, const struct cluster_address *first,
                           struct cluster_address *out)
{
    const char *why = cluster_parse(original_of(word), out);
    if (why == NULL && !cluster_same_servers(first, out))
        why = "is at another address than the first set, or for another user, but servers combine "
              "only sets that they hold";
    cluster_wipe(out);
    return why;
}
