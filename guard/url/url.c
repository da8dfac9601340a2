/* The canonical form of a URL, by the rules of Safe Browsing v4:
 *
 *     1  Bytes <= 0x20 around the URL, every TAB, CR and LF, and everything from the first '#' on
 *        are removed.
 *     2  User and password are removed, and the path loses /./ and /../ as in a browser.
 *     3  %XX is unescaped until none is left.
 *     4  Scheme, host, path and query are separated; a missing scheme is http.
 *     5  The host loses an escaped user, its port, its upper case and its empty labels. Addresses
 *        get one form.
 *     6  The path loses /./ and /../ once more, and double slashes. The query stays as it is.
 *     7  Bytes <= 0x20 and >= 0x7f, '#' and '%' are written as %XX.
 *
 * Step 3 takes one pass. A byte that completes a %XX at the end of what was unescaped so far is
 * joined with it at once, and so on. Two %XX never share a byte, so the order in which they are
 * resolved does not matter. The result is therefore the same as that of repeated passes, in linear
 * time: %252525...25 takes no longer than anything else.
 *
 * Where the rules leave a choice, or differ from what browsers do, this code follows what leads to
 * the host that a browser would visit:
 *
 * - Step 2 comes before step 3 as in Chromium. Otherwise http://good.com%2F@evil.com/ would be a
 *   page of good.com.
 * - A backslash before the path is refused: browsers read it as a slash, the rules as a letter, and
 *   other programs visit another host than browsers. In the path it is a slash, also when it was
 *   escaped.
 * - ".." removes the component before it even when that is empty, and double slashes are removed
 *   afterwards.
 * - Browsers resolve dots before they unescape anything: in /a%2Fb/../c and /a/%252e/../c, the
 *   component before the dots is one component. The rules resolve dots after step 3. This code does
 *   both, in this order. So a URL has the same form whether or not it has passed through a browser.
 * - "name:" without "//" is a host with its port when digits follow. Otherwise it is a scheme, and
 *   is refused.
 * - ':', '[' and ']' in a name are refused. (http://:80:./ would change each time it is made
 *   canonical.)
 * - An IPv4 part that is too big makes the host a name, not another address.
 *
 * All work happens in the caller's buffer: the input is copied to its end, split there, and written
 * from the front. One byte read becomes at most three bytes written. The writer begins 2 len +
 * GUARD_URL_NAME + 32 bytes before the reader, so it never overtakes it. The constant covers the
 * scheme and a host that grew. */
#include "url.h"

#include "address.h"

#include <stdint.h>
#include <string.h>

/* The bytes that are still to be processed. */
struct text {
    uint8_t *at, *end;
};

struct scheme {
    const char *name; /* for example "http"; NULL if none was given */
    size_t length;
};

const char *guard_url_message(guard_url_status s)
{
    switch (s) {
    case GUARD_URL_OK: return "no error";
    case GUARD_URL_EROOM: return "the URL is too long";
    case GUARD_URL_ESCHEME: return "only http, https and ftp URLs can be checked";
    case GUARD_URL_ENOHOST: return "the URL has no host";
    case GUARD_URL_EHOST: return "the host contains a character that no host may have";
    case GUARD_URL_EPORT: return "the port is not a number from 0 to 65535";
    case GUARD_URL_EADDRESS: return "there is no IPv6 address between the brackets";
    case GUARD_URL_ENAME: return "the host cannot be converted to the name that a browser visits";
    }
    return "unknown status";
}

/* --- Bytes ------------------------------------------------------------------------------------ */

static bool is_decimal(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static uint8_t lower(uint8_t c)
{
    return c >= 'A' && c <= 'Z' ? (uint8_t)(c + 'a' - 'A') : c;
}

static bool is_letter(uint8_t c)
{
    return lower(c) >= 'a' && lower(c) <= 'z';
}

/* Returns the first c in [at, end), or end. */
static uint8_t *seek(uint8_t *at, uint8_t *end, uint8_t c)
{
    while (at < end && *at != c) at++;
    return at;
}

/* Returns where the authority (user, host and port) ends. */
static uint8_t *authority_end(struct text t)
{
    uint8_t *p = t.at;
    while (p < t.end && *p != '/' && *p != '?') p++;
    return p;
}

static uint8_t *after_user(uint8_t *at, uint8_t *end)
{
    for (uint8_t *p = end; p > at; p--)
        if (p[-1] == '@') return p;
    return at;
}

/* --- Steps 1 to 4 ----------------------------------------------------------------------------- */

static struct text copy_stripped(const uint8_t *in, size_t len, uint8_t *to)
{
    struct text t = {to, to};
    while (len > 0 && in[len - 1] <= 0x20) len--;
    while (len > 0 && *in <= 0x20) {
        in++;
        len--;
    }
    for (; len > 0 && *in != '#'; in++, len--)
        if (*in != '\t' && *in != '\r' && *in != '\n') *t.end++ = *in;
    return t;
}

static void unescape(struct text *t)
{
    uint8_t *w = t->at;
    for (const uint8_t *r = t->at; r < t->end; r++) {
        *w++ = *r;
        while (w - t->at >= 3 && w[-3] == '%') {
            const unsigned high = guard__digit(w[-2]), low = guard__digit(w[-1]);
            if (high > 15 || low > 15) break;
            w -= 2;
            w[-1] = (uint8_t)(high << 4 | low);
        }
    }
    t->end = w;
}

static struct scheme known_scheme(const uint8_t *name, size_t len)
{
    static const struct scheme known[] = {{"http", 4}, {"https", 5}, {"ftp", 3}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        if (known[i].length != len) continue;
        size_t same = 0;
        while (same < len && lower(name[same]) == (uint8_t)known[i].name[same]) same++;
        if (same == len) return known[i];
    }
    return (struct scheme){NULL, 0};
}

/* Reports whether a ':' is followed by a port, possibly an empty one, and the end of the
 * authority. */
static bool port_follows(const uint8_t *p, const uint8_t *end)
{
    while (p < end && is_decimal(*p)) p++;
    return p == end || *p == '/' || *p == '?';
}

/* Removes the scheme and "://" from the text. */
static guard_url_status take_scheme(struct text *t, struct scheme *s)
{
    uint8_t *p = t->at;
    *s = (struct scheme){NULL, 0};
    if (p == t->end || !is_letter(*p)) return GUARD_URL_OK;
    while (p < t->end && (is_letter(*p) || is_decimal(*p) || *p == '+' || *p == '-' || *p == '.'))
        p++;
    if (p == t->end || *p != ':') return GUARD_URL_OK;
    const struct scheme known = known_scheme(t->at, (size_t)(p - t->at));
    if (t->end - p >= 3 && p[1] == '/' && p[2] == '/') {
        if (known.name == NULL) return GUARD_URL_ESCHEME;
        *s = known;
        t->at = p + 3;
        return GUARD_URL_OK;
    }
    return known.name == NULL && port_follows(p + 1, t->end) ? GUARD_URL_OK : GUARD_URL_ESCHEME;
}

/* Returns how many dots a component consists of, where %2e is a dot, or 0 if it has anything
 * else. */
static unsigned only_dots(const uint8_t *p, const uint8_t *end)
{
    unsigned dots = 0;
    for (; p < end && dots < 3; dots++) {
        if (*p == '.')
            p++;
        else if (end - p >= 3 && p[0] == '%' && p[1] == '2' && lower(p[2]) == 'e')
            p += 3;
        else
            return 0;
    }
    return dots;
}

/* Resolves "." and ".." in a path that begins with a slash. Backslashes become slashes. */
static void resolve_dots(struct text *path)
{
    uint8_t *w = path->at;
    for (uint8_t *p = path->at; p < path->end; p++)
        if (*p == '\\') *p = '/';
    for (uint8_t *r = path->at; r < path->end;) {
        uint8_t *next = seek(r + 1, path->end, '/');
        const unsigned dots = only_dots(r + 1, next);
        if (dots == 1 || dots == 2) {
            while (dots == 2 && w > path->at && *--w != '/') {
            }
            if (next == path->end) *w++ = '/';
        } else {
            memmove(w, r, (size_t)(next - r));
            w += next - r;
        }
        r = next;
    }
    path->end = w;
}

/* Resolves the path of a URL in which nothing has been unescaped. */
static void resolve_as_browsers(struct text *t, bool had_scheme)
{
    uint8_t *from = authority_end(*t);
    struct text path = {from, seek(from, t->end, '?')};
    const uint8_t *query = path.end;
    const size_t n = (size_t)(t->end - query);
    /* The host follows in http%3A//host/, of which browsers make nothing. */
    if (!had_scheme && path.end - from >= 2 && from[1] == '/' && seek(t->at, from, '%') < from)
        return;
    resolve_dots(&path);
    memmove(path.end, query, n);
    t->end = path.end + n;
}

/* Removes scheme and user, resolves the path and unescapes everything. */
static guard_url_status take_apart(struct text *t, struct scheme *s)
{
    guard_url_status status = take_scheme(t, s);
    if (status != GUARD_URL_OK) return status;
    uint8_t *end = authority_end(*t);
    if (seek(t->at, end, '\\') < end) return GUARD_URL_EHOST;
    t->at = after_user(t->at, end);
    resolve_as_browsers(t, s->name != NULL);
    unescape(t);
    return s->name == NULL ? take_scheme(t, s) : GUARD_URL_OK;
}

/* --- Step 5: the host ------------------------------------------------------------------------- */

/* Converts to lower case and removes leading, trailing and repeated dots. */
static void tidy_labels(struct text *t)
{
    uint8_t *w = t->at;
    for (const uint8_t *r = t->at; r < t->end; r++) {
        if (*r == '.' && (w == t->at || w[-1] == '.')) continue;
        *w++ = lower(*r);
    }
    if (w > t->at && w[-1] == '.') w--;
    t->end = w;
}

static bool has_high_byte(struct text t)
{
    while (t.at < t.end && *t.at < 0x80) t.at++;
    return t.at < t.end;
}

/* Reports whether a name contains a byte of `bad`. */
static bool holds(struct text t, const char *bad)
{
    for (; t.at < t.end; t.at++)
        for (const char *b = bad; *b != 0; b++)
            if (*t.at == (uint8_t)*b) return true;
    return false;
}

/* IDNA may produce any ASCII character, because some letters look like a '/' or a '%' and are
 * mapped to it. Browsers refuse these in a name, and so does this code: after step 3, nothing may
 * look like a part of a URL again. */
static bool wrong_idn(struct text t)
{
    for (const uint8_t *p = t.at; p < t.end; p++)
        if (*p <= 0x20 || *p >= 0x7f) return true;
    return holds(t, "#%/:<>?@[\\]^|");
}

/* Removes ":80"; a name has no other ':'. */
static guard_url_status take_port(struct text *host, uint8_t *colon, bool had_scheme)
{
    uint32_t port = 0;
    for (const uint8_t *p = colon + 1; p < host->end; p++) {
        if (!is_decimal(*p)) return GUARD_URL_EPORT;
        port = port * 10 + (uint32_t)(*p - '0');
        if (port > 65535) return GUARD_URL_EPORT;
    }
    /* "name:" alone is more likely a malformed URL with a scheme. */
    if (!had_scheme && colon + 1 >= host->end) return GUARD_URL_ESCHEME;
    host->end = colon;
    return GUARD_URL_OK;
}

/* Produces the host in its final form, in `buffer` or in place. */
static guard_url_status name_or_ip4(struct text *host, guard_url_idn *idn,
                                    uint8_t buffer[GUARD_URL_NAME], guard_url *url)
{
    tidy_labels(host);
    if (holds(*host, ":[\\]")) return GUARD_URL_EHOST;
    if (idn != NULL && has_high_byte(*host)) {
        const size_t n =
            idn((const char *)host->at, (size_t)(host->end - host->at), (char *)buffer);
        if (n > 0 && n <= GUARD_URL_NAME) {
            *host = (struct text){buffer, buffer + n};
            if (wrong_idn(*host)) return GUARD_URL_EHOST;
            tidy_labels(host);
        }
    }
    if (host->at == host->end) return GUARD_URL_ENOHOST;
    url->escaped_name = has_high_byte(*host);
    uint8_t address[GUARD__ADDRESS_SIZE];
    const size_t n = guard__ip4(host->at, (size_t)(host->end - host->at), address);
    url->address = n > 0;
    if (n > 0) {
        memcpy(buffer, address, n);
        *host = (struct text){buffer, buffer + n};
    }
    return GUARD_URL_OK;
}

/* Reduces the authority to the host. */
static guard_url_status take_host(struct text *host, bool had_scheme, guard_url_idn *idn,
                                  uint8_t buffer[GUARD_URL_NAME], guard_url *url)
{
    host->at = after_user(host->at, host->end);
    const bool bracket = host->at < host->end && *host->at == '[';
    uint8_t *name_end = bracket ? seek(host->at, host->end, ']') : host->at;
    if (bracket && name_end == host->end) return GUARD_URL_EADDRESS;
    uint8_t *colon = seek(name_end, host->end, ':');
    if (bracket && colon != name_end + 1 && name_end + 1 != host->end) return GUARD_URL_EHOST;
    if (colon < host->end) {
        const guard_url_status status = take_port(host, colon, had_scheme);
        if (status != GUARD_URL_OK) return status;
    }
    if (!bracket) return name_or_ip4(host, idn, buffer, url);
    const size_t n = guard__ip6(host->at + 1, (size_t)(name_end - host->at - 1), buffer);
    if (n == 0) return GUARD_URL_EADDRESS;
    *host = (struct text){buffer, buffer + n};
    url->address = true;
    return GUARD_URL_OK;
}

/* --- Step 6: the path ------------------------------------------------------------------------- */

static void join_slashes(struct text *path)
{
    uint8_t *w = path->at;
    for (const uint8_t *r = path->at; r < path->end; r++)
        if (*r != '/' || w == path->at || w[-1] != '/') *w++ = *r;
    path->end = w;
}

/* --- Step 7: writing -------------------------------------------------------------------------- */

static uint8_t *put_escaped(uint8_t *w, struct text t)
{
    static const char digits[] = "0123456789ABCDEF";
    for (; t.at < t.end; t.at++) {
        const uint8_t c = *t.at;
        if (c > 0x20 && c < 0x7f && c != '#' && c != '%') {
            *w++ = c;
            continue;
        }
        *w++ = '%';
        *w++ = (uint8_t)digits[c >> 4];
        *w++ = (uint8_t)digits[c & 15];
    }
    return w;
}

static guard_url_status canonical(struct text t, guard_url_idn *idn, uint8_t *out, guard_url *url)
{
    struct scheme scheme;
    guard_url_status status = take_apart(&t, &scheme);
    if (status != GUARD_URL_OK) return status;
    uint8_t buffer[GUARD_URL_NAME];
    struct text host = {t.at, authority_end(t)};
    struct text path = {host.end, seek(host.end, t.end, '?')};
    const struct text query = {path.end, t.end};
    status = take_host(&host, scheme.name != NULL, idn, buffer, url);
    if (status != GUARD_URL_OK) return status;
    resolve_dots(&path);
    join_slashes(&path);

    if (scheme.name == NULL) scheme = (struct scheme){"http", 4};
    uint8_t *w = out;
    memcpy(w, scheme.name, scheme.length);
    w += scheme.length;
    memcpy(w, "://", 3);
    w += 3;
    url->host = (size_t)(w - out);
    w = put_escaped(w, host);
    url->path = (size_t)(w - out);
    if (path.at == path.end)
        *w++ = '/';
    else
        w = put_escaped(w, path);
    url->query = (size_t)(w - out);
    w = put_escaped(w, query);
    *w = 0;
    url->text = (const char *)out;
    url->length = (size_t)(w - out);
    return GUARD_URL_OK;
}

guard_url_status guard_url_canonical(const void *bytes, size_t len, guard_url_idn *idn, char *room,
                                     size_t size, guard_url *url)
{
    memset(url, 0, sizeof *url);
    if (size < GUARD_URL_ROOM(0) || len > (size - GUARD_URL_ROOM(0)) / 3) return GUARD_URL_EROOM;
    uint8_t *out = (uint8_t *)room;
    const struct text t = copy_stripped(bytes, len, out + (GUARD_URL_ROOM(len) - len));
    return canonical(t, idn, out, url);
}
