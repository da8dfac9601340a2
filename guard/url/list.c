/* Reads one line of a list. A line becomes an expression that every URL it covers has among its own
 * expressions. A URL becomes its exact expression. A host becomes the host followed by "/", which
 * is an expression of all pages on that host and on the hosts below it. */
#include "list.h"

#include "address.h"

#include <string.h>

struct piece {
    const uint8_t *at, *end;
};

static size_t length_of(struct piece p)
{
    return (size_t)(p.end - p.at);
}

static bool is_space(uint8_t c)
{
    return c == ' ' || c == '\t';
}

static struct piece trimmed(struct piece p)
{
    while (p.at < p.end && *p.at <= 0x20) p.at++;
    while (p.at < p.end && p.end[-1] <= 0x20) p.end--;
    return p;
}

static bool begins(struct piece p, const char *text)
{
    const size_t n = strlen(text);
    return length_of(p) >= n && memcmp(p.at, text, n) == 0;
}

/* Returns where the text occurs in a piece, or the end of the piece. */
static const uint8_t *find_text(struct piece p, const char *text)
{
    while (p.at < p.end && !begins(p, text)) p.at++;
    return p.at;
}

static bool contains(struct piece p, const char *text)
{
    return find_text(p, text) < p.end;
}

static guard_line reject(const char *reason)
{
    return (guard_line){.kind = GUARD_LINE_REJECT, .reason = reason};
}

/* Returns the line without its line end, a byte order mark, and a comment after white space. */
static struct piece content(struct piece line)
{
    if (begins(line, "\xef\xbb\xbf")) line.at += 3;
    line = trimmed(line);
    for (const uint8_t *p = line.at; p < line.end; p++) {
        if (*p == '#' && (p == line.at || is_space(p[-1]))) {
            line.end = p;
            break;
        }
    }
    return trimmed(line);
}

/* Returns the piece up to the first white space and stores the remainder in *rest. */
static struct piece first_word(struct piece p, struct piece *rest)
{
    struct piece word = {p.at, p.at};
    while (word.end < p.end && !is_space(*word.end)) word.end++;
    *rest = trimmed((struct piece){word.end, p.end});
    return word;
}

/* Names as DNS allows them, and '_', which is in use. Lists contain no other names; anything else
 * that looks like a name is a pattern or a table with commas. */
static bool is_domain(const guard_url *u)
{
    for (size_t i = u->host; i < u->path; i++) {
        const char c = u->text[i];
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.'))
            return false;
    }
    return true;
}

static bool has_dot(const guard_url *u)
{
    size_t i = u->host;
    while (i < u->path && u->text[i] != '.') i++;
    return i < u->path;
}

/* Reports whether the path is "/" and up to three digits, as in 10.0.0.0/8. */
static bool is_range(const guard_url *u)
{
    size_t i = u->path + 1;
    while (i < u->length && u->text[i] >= '0' && u->text[i] <= '9') i++;
    return i == u->length && i > u->path + 1 && i <= u->path + 4;
}

static bool is_pattern(const guard_url *u)
{
    return u->query == u->length && u->query - u->path >= 2 &&
           memcmp(u->text + u->query - 2, "/*", 2) == 0;
}

/* --- The forms -------------------------------------------------------------------------------- */

struct line_reader {
    guard_url_idn *idn;
    char *room;
    size_t size;
};

/* Stores the canonical URL of a piece and returns NULL, or returns the reason why it cannot be
 * listed. */
static const char *read_url(const struct line_reader *r, struct piece p, guard_url *u)
{
    const guard_url_status status =
        guard_url_canonical(p.at, length_of(p), r->idn, r->room, r->size, u);
    if (status != GUARD_URL_OK) return guard_url_message(status);
    if (u->escaped_name) return guard_url_message(GUARD_URL_ENAME);
    if (!u->address && !is_domain(u)) return "the host is not a domain name";
    return NULL;
}

static guard_line entry(const guard_url *u)
{
    guard_span all[GUARD_URL_EXPRESSIONS];
    guard_url_expressions(u, all);
    return (guard_line){.kind = GUARD_LINE_ENTRY, .expression = all[0], .deep = guard_url_depth(u)};
}

/* Reads a URL, with or without its scheme, or a host. */
static guard_line url_line(const struct line_reader *r, struct piece p)
{
    guard_url u;
    const char *reason = read_url(r, p, &u);
    if (reason != NULL) return reject(reason);
    if (!contains(p, "://") && !u.address && !has_dot(&u))
        return reject("neither a URL nor a domain name");
    if (!contains(p, "://") && u.address && is_range(&u))
        return reject("a range of addresses; http:// before it makes it a URL");
    if (is_pattern(&u)) return reject("a pattern; a / at the end covers everything below");
    return entry(&u);
}

/* Reads a host and nothing else. */
static guard_line host_line(const struct line_reader *r, struct piece p, const char *otherwise)
{
    guard_url u;
    for (const uint8_t *c = p.at; c < p.end; c++)
        if (*c == '/' || *c == '?' || *c == '@' || *c == ':' || *c == '#') return reject(otherwise);
    const char *reason = read_url(r, p, &u);
    if (reason != NULL) return reject(reason);
    if (u.length != u.path + 1) return reject(otherwise);
    return entry(&u);
}

static guard_line filter_line(const struct line_reader *r, struct piece p)
{
    p.at += 2;
    const uint8_t *end = find_text(p, "^");
    if (end == p.end) return reject("a filter rule other than ||host^");
    if (end + 1 < p.end) return reject("a filter rule with options, or other than ||host^");
    p.end = end;
    return host_line(r, p, "a filter rule other than ||host^");
}

/* Reports whether a word is an IP address as in a hosts file, and whether it leads nowhere. */
static bool is_address(struct piece word, bool *nowhere)
{
    static const char *const none[] = {"0.0.0.0", "127.0.0.1", "[::]", "[::1]"};
    uint8_t text[GUARD__ADDRESS_SIZE];
    const struct piece bare = {word.at,
                               find_text(word, "%")}; /* without the zone, as in fe80::1%lo0 */
    size_t n = guard__ip4(bare.at, length_of(bare), text);
    if (n == 0) n = guard__ip6(bare.at, length_of(bare), text);
    *nowhere = false;
    for (size_t i = 0; i < sizeof none / sizeof *none; i++)
        *nowhere = *nowhere || (n == strlen(none[i]) && memcmp(text, none[i], n) == 0);
    return n > 0;
}

/* Names that hosts files have for the machine itself. */
static bool is_own_name(struct piece name)
{
    static const char domain[] = ".localdomain";
    const size_t n = sizeof domain - 1;
    bool nowhere;
    if (!contains(name, ".") || is_address(name, &nowhere)) return true;
    return length_of(name) > n && memcmp(name.end - n, domain, n) == 0;
}

static guard_line hosts_line(const struct line_reader *r, bool nowhere, struct piece p)
{
    struct piece more;
    const struct piece name = first_word(p, &more);
    const guard_line line = host_line(r, name, "the text after the address is not a host");
    if (line.kind != GUARD_LINE_ENTRY) return line;
    if (is_own_name(name)) return (guard_line){.kind = GUARD_LINE_NOTHING};
    if (!nowhere) return reject("the address is not one that leads nowhere, like 0.0.0.0");
    if (more.at < more.end) return reject("more than one host on the line");
    return line;
}

/* Rules about parts of pages. They name a site that is not bad itself. */
static bool is_cosmetic(struct piece p)
{
    return contains(p, "##") || contains(p, "#@#") || contains(p, "#?#") || contains(p, "#$#");
}

guard_line guard_list_line(const void *bytes, size_t len, guard_url_idn *idn, char *room,
                           size_t size)
{
    const struct line_reader r = {idn, room, size};
    const struct piece p = content((struct piece){bytes, (const uint8_t *)bytes + len});
    struct piece rest;
    const struct piece word = first_word(p, &rest);
    bool nowhere;
    if (p.at == p.end || *p.at == '!' || begins(p, "[Adblock"))
        return (guard_line){.kind = GUARD_LINE_NOTHING};
    for (const uint8_t *c = p.at; c < p.end; c++) {
        if (*c < 0x20 && *c != '\t') return reject("a control character; is this a text file?");
        if (*c == '\\') return reject("a backslash; write /, or %5C in a query");
    }
    if (rest.at < rest.end && is_address(word, &nowhere)) return hosts_line(&r, nowhere, rest);
    if (rest.at < rest.end) return reject("white space inside; write %20 in a URL");
    if (begins(p, "@@")) return reject("an exception from a filter rule");
    if (is_cosmetic(p)) return reject("a rule about a part of a page");
    if (begins(p, "||")) return filter_line(&r, p);
    return url_line(&r, p);
}
