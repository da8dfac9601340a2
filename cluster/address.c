#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_PORT 6379
/* The longest path that sockets of every system accept (macOS: 103 bytes). */
#define LONGEST_SOCKET 103
#define MOST_DATABASES 1000000

enum scheme { PLAIN, SECURE, UNIX, SCHEMES };
static const char *const schemes[SCHEMES] = {"redis://", "rediss://", "unix://"};

static enum scheme scheme_of(const char *word)
{
    int i = 0;
    while (i < SCHEMES && strncmp(word, schemes[i], strlen(schemes[i])) != 0) i++;
    return (enum scheme)i;
}

bool cluster_is_address(const char *word)
{
    return scheme_of(word) != SCHEMES;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/* Copies and decodes %XX. Returns false if the text is too long, or has a bad escape or a NUL
 * byte. */
static bool decode(const char *from, size_t n, char *to, size_t room)
{
    size_t used = 0;
    for (size_t i = 0; i < n; i++) {
        int byte = (unsigned char)from[i];
        if (byte == '%') {
            const int high = i + 2 < n ? hex_value(from[i + 1]) : -1;
            const int low = i + 2 < n ? hex_value(from[i + 2]) : -1;
            if (high < 0 || low < 0) return false;
            byte = high * 16 + low;
            i += 2;
        }
        if (byte == 0 || used + 1 >= room) return false;
        to[used++] = (char)byte;
    }
    to[used] = '\0';
    return true;
}

/* Reads host, host:port, [IPv6] or [IPv6]:port. */
static const char *parse_host(const char *p, size_t n, struct cluster_address *out)
{
    const bool bracket = n > 0 && *p == '[';
    const char *end = bracket ? memchr(p, ']', n) : memchr(p, ':', n);
    if (bracket && end == NULL) return "the address has a [ without its ]";
    if (!bracket && end != NULL && memchr(end + 1, ':', (size_t)(p + n - end - 1)) != NULL)
        return "write an IPv6 address in brackets: redis://[::1]:6379/NAME";
    const char *host = bracket ? p + 1 : p;
    const size_t length = (size_t)((end != NULL ? end : p + n) - host);
    if (length == 0) return "the address has no host";
    if (!decode(host, length, out->host, sizeof out->host)) return "the host is not a name";
    const char *port = end == NULL ? p + n : end;
    if (end != NULL && bracket) port++;
    out->port = DEFAULT_PORT;
    if (port == p + n) return NULL;
    char digits[8] = "";
    const size_t rest = (size_t)(p + n - port) - 1;
    if (*port != ':' || rest == 0 || rest > 5) return "the port is not a number below 65536";
    memcpy(digits, port + 1, rest);
    if (strspn(digits, "0123456789") != rest) return "the port is not a number below 65536";
    out->port = (int)strtol(digits, NULL, 10);
    return out->port > 0 && out->port < 65536 ? NULL : "the port is not a number below 65536";
}

/* Without a colon the text is a password, as for redis-cli. */
static const char *parse_credentials(const char *p, size_t n, struct cluster_address *out)
{
    const char *colon = memchr(p, ':', n);
    const size_t user = colon != NULL ? (size_t)(colon - p) : 0;
    const char *password = colon != NULL ? colon + 1 : p;
    if (!decode(p, user, out->user, sizeof out->user) ||
        !decode(password, (size_t)(p + n - password), out->password, sizeof out->password))
        return "the user or the password is too long, or has a % that is not an escape";
    return out->user[0] != '\0' || out->password[0] != '\0'
               ? NULL
               : "there is an @ without a user or a password before it";
}

static const char *parse_name(const char *p, size_t n, struct cluster_address *out)
{
    if (!decode(p, n, out->name, sizeof out->name))
        return "the name is too long, or has a % that is not an escape";
    /* Braces would put all shards into one slot. */
    return strpbrk(out->name, "{}") == NULL ? NULL : "the name of a set must not contain braces";
}

static const char *parse_socket(const char *p, size_t n, struct cluster_address *out)
{
    if (n == 0 || *p != '/')
        return "after unix:// comes the path of a socket: unix:///run/redis.sock?name=NAME";
    out->port = 0;
    return decode(p, n, out->host, LONGEST_SOCKET + 1)
               ? NULL
               : "the path of the socket is longer than 103 bytes, or has a % that is not an "
                 "escape";
}

/* --- Options: ?option=value&... --------------------------------------------------------------- */

static const struct text_option {
    const char *name;
    bool tls; /* only for rediss:// */
    size_t offset, room;
} text_options[] = {
#define FIELD(field)                                                                               \
    offsetof(struct cluster_address, field), sizeof((struct cluster_address *)NULL)->field
    {"password-file", false, FIELD(password_file)},
    {"cacert", true, FIELD(ca)},
    {"cert", true, FIELD(cert)},
    {"key", true, FIELD(key)},
    {"sni", true, FIELD(sni)}};

static const char *parse_db(const char *p, size_t n, struct cluster_address *out)
{
    char digits[8] = "";
    if (n > 0 && n < sizeof digits) memcpy(digits, p, n);
    const unsigned long db = strtoul(digits, NULL, 10);
    if (digits[0] == '\0' || strspn(digits, "0123456789") != n || db >= MOST_DATABASES)
        return "db is not the number of a database: ?db=2";
    out->db = (unsigned)db;
    return NULL;
}

static const char *parse_address_option(const char *p, size_t n, struct cluster_address *out)
{
    const char *equals = memchr(p, '=', n);
    const size_t name = equals != NULL ? (size_t)(equals - p) : n;
    const char *value = equals != NULL ? equals + 1 : p + n;
    const size_t length = (size_t)(p + n - value);
    if (name == 2 && memcmp(p, "db", 2) == 0) return parse_db(value, length, out);
    if (out->port == 0 && name == 4 && memcmp(p, "name", 4) == 0)
        return parse_name(value, length, out);
    for (size_t i = 0; i < sizeof text_options / sizeof *text_options; i++) {
        const struct text_option *o = &text_options[i];
        if (strlen(o->name) != name || memcmp(p, o->name, name) != 0) continue;
        if (o->tls && !out->secure)
            return "cacert, cert, key and sni are for TLS: write rediss:// instead of redis://";
        char *field = (char *)out + o->offset;
        if (!decode(value, length, field, o->room) || field[0] == '\0')
            return "an option after the ? is empty or too long, or has a % that is not an escape";
        return NULL;
    }
    return "after a ? there are only db, password-file, cacert, cert, key and sni, and name after "
           "unix://; write a ? in a name as %3F";
}

/* `p` is NULL or the question mark. */
static const char *parse_options(const char *p, struct cluster_address *out)
{
    const char *why = NULL;
    while (p != NULL && why == NULL) {
        const char *end = strchr(p + 1, '&');
        why = parse_address_option(p + 1, end != NULL ? (size_t)(end - p - 1) : strlen(p + 1), out);
        p = end;
    }
    return why;
}

/* --- Addresses -------------------------------------------------------------------------------- */

/* What messages call it: everything up to the options, and those that say which set it is. */
static void show_address(const char *word, const char *from, struct cluster_address *out)
{
    const enum scheme scheme = scheme_of(word);
    char db[24] = "";
    out->credentials_end = (size_t)(from - word);
    if (out->db != 0) {
        const bool second = scheme == UNIX && out->name[0] != '\0';
        snprintf(db, sizeof db, "%cdb=%u", second ? '&' : '?', out->db);
    }
    snprintf(out->shown, sizeof out->shown, "%s%.*s%s%s%s", schemes[scheme],
             (int)strcspn(from, "?"), from, scheme == UNIX && out->name[0] != '\0' ? "?name=" : "",
             scheme == UNIX ? out->name : "", db);
}

static const char *check_named(const struct cluster_address *a, bool named)
{
    if (!named)
        return a->name[0] == '\0' ? NULL : "the address of a server has no name: redis://HOST:PORT";
    if (a->name[0] != '\0') return NULL;
    return a->port == 0 ? "the address lacks the name of a set: unix:///PATH?name=NAME"
                        : "the address lacks the name of a set: redis://HOST:PORT/NAME";
}

static const char *parse_parts(const char *host, const char *slash, const char *options,
                               enum scheme scheme, struct cluster_address *out)
{
    const char *const end = options != NULL ? options : host + strlen(host);
    const char *why;
    out->secure = scheme == SECURE;
    if (scheme == UNIX)
        why = parse_socket(host, (size_t)(end - host), out);
    else
        why = parse_host(host, (size_t)((slash != NULL ? slash : end) - host), out);
    if (why == NULL && scheme != UNIX && slash != NULL)
        why = parse_name(slash + 1, (size_t)(end - slash - 1), out);
    return why != NULL ? why : parse_options(options, out);
}

/* Such a port may be the password of an address that lacks its host. */
static bool has_odd_port(const char *host, const char *end)
{
    /* The colons of an IPv6 address do not begin a port. */
    const char *inside = host + 1;
    if (*host == '[' && *(inside += strspn(inside, "0123456789abcdefABCDEF:.")) == ']')
        host = inside;
    const char *colon = memchr(host, ':', (size_t)(end - host));
    return colon != NULL && strspn(colon + 1, "0123456789") != (size_t)(end - colon - 1);
}

/* An address with or without the name of a set. */
static const char *parse_word(const char *word, bool named, struct cluster_address *out)
{
    const enum scheme scheme = scheme_of(word);
    const char *p = word + strlen(schemes[scheme]), *options = strchr(p, '?');
    const char *const end = p + strcspn(p, "/?"), *slash = *end == '/' ? end : NULL;
    const char *at = NULL, *later = strrchr(end, '@');
    for (const char *c = p; c < end; c++)
        if (*c == '@') at = c;
    const char *host = at != NULL ? at + 1 : p;
    memset(out, 0, sizeof *out);
    const char *why = at != NULL ? parse_credentials(p, (size_t)(at - p), out) : NULL;
    if (why == NULL) why = parse_parts(host, slash, options, scheme, out);
    if (why == NULL) why = check_named(out, named);
    const bool doubtful = why != NULL && at == NULL && scheme != UNIX && has_odd_port(host, end);
    show_address(word, doubtful ? end : host, out);
    if (later == NULL || (why == NULL && strchr(later, '/') == NULL)) return why;
    /* The text before it may be a password that contains the slash. */
    memset(out->name, 0, sizeof out->name);
    show_address(word, later + 1, out);
    return "write a / or ? in a user or a password as %2F or %3F, and an @ behind the host as %40";
}

const char *cluster_parse(const char *word, struct cluster_address *out)
{
    return parse_word(word, true, out);
}

const char *cluster_parse_server(const char *word, struct cluster_address *out)
{
    return parse_word(word, false, out);
}

/* A text that the second address does not give is that of the first. */
static bool agree(const char *first, const char *second)
{
    return second[0] == '\0' || strcmp(first, second) == 0;
}

bool cluster_same_servers(const struct cluster_address *a, const struct cluster_address *b)
{
    return strcmp(a->host, b->host) == 0 && a->port == b->port && a->secure == b->secure &&
           a->db == b->db && agree(a->user, b->user) && agree(a->password, b->password) &&
           agree(a->password_file, b->password_file) && agree(a->ca, b->ca) &&
           agree(a->cert, b->cert) && agree(a->key, b->key) && agree(a->sni, b->sni);
}

void cluster_wipe(struct cluster_address *a)
{
    /* memset before the end of an object may be dropped; macOS lacks explicit_bzero */
    for (volatile char *at = a->user, *end = at + sizeof a->user; at < end;) *at++ = 0;
    for (volatile char *at = a->password, *end = at + sizeof a->password; at < end;) *at++ = 0;
}
