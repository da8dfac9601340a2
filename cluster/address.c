#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SCHEME "redis://"
#define SECURE "rediss://"
#define DEFAULT_PORT 6379

bool cluster_is_address(const char *word)
{
    return strncmp(word, SCHEME, strlen(SCHEME)) == 0 || strncmp(word, SECURE, strlen(SECURE)) == 0;
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

static const char *parse_secret(const char *p, size_t n, struct cluster_address *out)
{
    const char *colon = memchr(p, ':', n);
    const size_t user = colon != NULL ? (size_t)(colon - p) : 0;
    const char *password = colon != NULL ? colon + 1 : p;
    if (!decode(p, user, out->user, sizeof out->user) ||
        !decode(password, (size_t)(p + n - password), out->password, sizeof out->password))
        return "the user or the password is too long, or has a % that is not an escape";
    return out->password[0] != '\0' ? NULL : "there is an @ without a password before it";
}

static const char *parse_name(const char *p, struct cluster_address *out)
{
    if (p == NULL || p[1] == '\0')
        return "the address lacks the name of a set: redis://HOST:PORT/NAME";
    if (!decode(p + 1, strlen(p + 1), out->name, sizeof out->name))
        return "the name is too long, or has a % that is not an escape";
    /* Braces would put all shards into one slot. */
    return strpbrk(out->name, "{}") == NULL ? NULL : "the name of a set must not contain braces";
}

static void show_address(const char *from, bool secure, struct cluster_address *out)
{
    snprintf(out->shown, sizeof out->shown, "%s%s", secure ? SECURE : SCHEME, from);
}

const char *cluster_parse(const char *word, struct cluster_address *out)
{
    const bool secure = strncmp(word, SECURE, strlen(SECURE)) == 0;
    const char *p = word + strlen(secure ? SECURE : SCHEME), *slash = strchr(p, '/');
    const char *const end = slash != NULL ? slash : p + strlen(p);
    const char *at = memrchr(p, '@', (size_t)(end - p)), *host = at != NULL ? at + 1 : p;
    memset(out, 0, sizeof *out);
    show_address(host, secure, out);
    const char *why = parse_host(host, (size_t)(end - host), out);
    if (why == NULL && at != NULL) why = parse_secret(p, (size_t)(at - p), out);
    if (why == NULL) why = parse_name(slash, out);
    if (secure) why = "TLS is not available; use redis:// through stunnel or a local proxy";
    const char *later = strrchr(end, '@');
    if (later == NULL || (why == NULL && strchr(later, '/') == NULL)) return why;
    /* The text before it may be a password that contains the slash. */
    show_address(later + 1, secure, out);
    return "write a / in a user or a password as %2F, and an @ in a name as %40";
}
