/* How the server's answers become HTTP: header fields, entity tags, byte ranges and errors. */
#include "server.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define JSON "application/json"
static const struct guard_field NO_STORE[] = {{"Cache-Control", "no-store"}, {NULL, NULL}};

/* --- Sending ---------------------------------------------------------------------------------- */

static void add_fields(struct MHD_Response *r, const struct guard_field *fields)
{
    for (; fields != NULL && fields->name != NULL; fields++)
        MHD_add_response_header(r, fields->name, fields->value);
}

/* Queues the response and releases this program's reference to it. */
static enum MHD_Result send_response(struct guard_ask *ask, unsigned status, struct MHD_Response *r,
                                     size_t size)
{
    static const struct guard_field everywhere[] = {
        {"X-Content-Type-Options", "nosniff"}, {"Referrer-Policy", "no-referrer"}, {NULL, NULL}};
    static const struct guard_field in_public[] = {
        {"Access-Control-Allow-Origin", "*"},
        {"Access-Control-Expose-Headers", "ETag, Content-Range, Retry-After"},
        {NULL, NULL}};
    if (r == NULL) return MHD_NO;
    add_fields(r, everywhere);
    if (ask->is_public) add_fields(r, in_public);
    if (ask->ends || atomic_load(&ask->server->stopping))
        MHD_add_response_header(r, "Connection", "close");
    const enum MHD_Result queued = MHD_queue_response(ask->connection, status, r);
    MHD_destroy_response(r);
    if (queued == MHD_YES) {
        guard_metrics_count(&ask->server->metrics, ask->at, status);
        *ask->outcome = (struct guard_outcome){ask->at, status, ask->head ? 0 : size};
    }
    return queued;
}

enum MHD_Result guard_reply(struct guard_ask *ask, unsigned status, const char *type,
                            struct guard_text *text, const struct guard_field *fields)
{
    if (text->failed) {
        free(text->at);
        return guard_reply_error(ask, MHD_HTTP_SERVICE_UNAVAILABLE, "cannot confirm", NULL);
    }
    struct MHD_Response *r =
        MHD_create_response_from_buffer(text->length, text->at, MHD_RESPMEM_MUST_FREE);
    if (r == NULL) free(text->at);
    if (r != NULL && type != NULL) MHD_add_response_header(r, "Content-Type", type);
    if (r != NULL) add_fields(r, fields);
    return send_response(ask, status, r, text->length);
}

enum MHD_Result guard_reply_error(struct guard_ask *ask, unsigned status, const char *reason,
                                  const struct guard_field *fields)
{
    char text[200];
    const int n = snprintf(text, sizeof text, "{\"error\":\"%s\"}\n", reason);
    struct MHD_Response *r =
        MHD_create_response_from_buffer((size_t)n, text, MHD_RESPMEM_MUST_COPY);
    if (r != NULL) {
        MHD_add_response_header(r, "Content-Type", JSON);
        add_fields(r, NO_STORE);
        add_fields(r, fields);
    }
    return send_response(ask, status, r, (size_t)n);
}

/* --- Tags and ranges -------------------------------------------------------------------------- */

/* Returns where a list element ends after p: at a comma or at the end of the field. Returns NULL
 * when something other than white space comes first. */
static const char *element_end(const char *p)
{
    p += strspn(p, " \t");
    return *p == ',' || *p == '\0' ? p : NULL;
}

bool guard_tag_listed(const char *field, const char *tag)
{
    const size_t n = strlen(tag);
    const char *p = field + strspn(field, " \t");
    if (*p == '*') return p[1 + strspn(p + 1, " \t")] == '\0'; /* "*" must stand alone */
    while (*(p += strspn(p, " \t,")) != '\0') {
        if (strncmp(p, "W/", 2) == 0) p += 2;
        /* A tag may contain commas between its quotes. Anything that is not a tag ends at the next
         * comma. */
        const char *quote = *p == '"' ? strchr(p + 1, '"') : NULL;
        const char *end = quote != NULL ? element_end(quote + 1) : NULL;
        if (end != NULL && (size_t)(quote + 1 - p) == n && memcmp(p, tag, n) == 0) return true;
        if (quote != NULL) p = quote + 1;
        p = end != NULL ? end : p + strcspn(p, ",");
    }
    return false;
}

/* Reads digits as a number; a number that does not fit becomes UINT64_MAX, which is larger than any
 * size. Returns false when there is no digit. */
static bool read_digits(const char **p, uint64_t *out)
{
    const size_t n = strspn(*p, "0123456789");
    *out = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t digit = (uint64_t)((*p)[i] - '0');
        *out = *out > (UINT64_MAX - digit) / 10 ? UINT64_MAX : 10 * *out + digit;
    }
    *p += n;
    return n > 0;
}

/* A malformed field and a request for several ranges both select the whole content (RFC 9110,
 * 14.2). */
enum guard_range guard_range_read(const char *field, uint64_t size, uint64_t *from, uint64_t *to)
{
    if (strncmp(field, "bytes=", 6) != 0) return GUARD_RANGE_WHOLE;
    const char *p = field + 6;
    const bool starts = read_digits(&p, from);
    if (*p++ != '-') return GUARD_RANGE_WHOLE;
    const bool ends = read_digits(&p, to);
    if (*p != '\0' || (!starts && !ends) || (starts && ends && *to < *from))
        return GUARD_RANGE_WHOLE;
    if (!starts) { /* "-N": the last N bytes */
        if (*to == 0) return GUARD_RANGE_NONE;
        *from = *to < size ? size - *to : 0;
    }
    if (*from >= size) return GUARD_RANGE_NONE;
    if (!starts || !ends || *to >= size) *to = size - 1;
    return GUARD_RANGE_PART;
}

struct count {
    const char *name;
    unsigned n;
};

static enum MHD_Result count_field(void *ctx, enum MHD_ValueKind kind, const char *name,
                                   const char *value)
{
    struct count *c = ctx;
    (void)kind;
    (void)value;
    c->n += strcasecmp(name, c->name) == 0;
    return MHD_YES;
}

/* Returns the field's value if the request has the field exactly once, otherwise NULL. */
static const char *only_field(struct guard_ask *ask, const char *name)
{
    struct count c = {name, 0};
    MHD_get_connection_values(ask->connection, MHD_HEADER_KIND, count_field, &c);
    return c.n == 1 ? MHD_lookup_connection_value(ask->connection, MHD_HEADER_KIND, name) : NULL;
}

static void release_version(void *version)
{
    guard_live_release(version);
}

/* Makes a response of n bytes of the content. It keeps a reference to the version if the bytes
 * belong to it. */
static struct MHD_Response *respond_with(struct guard_ask *ask, const struct guard_content *c,
                                         uint64_t from, size_t n)
{
    void *bytes = (uint8_t *)c->bytes + from;
    if (!c->of_version) return MHD_create_response_from_buffer(n, bytes, MHD_RESPMEM_PERSISTENT);
    ask->version->users++;
    struct MHD_Response *r = MHD_create_response_from_buffer_with_free_callback_cls(
        n, bytes, release_version, ask->version);
    if (r == NULL) guard_live_release(ask->version);
    return r;
}

enum MHD_Result guard_reply_content(struct guard_ask *ask, const struct guard_content *c)
{
    char tag[2 * GUARD_HASH_SIZE + 3], range[80];
    uint64_t from = 0, to = c->size - 1;
    unsigned status = MHD_HTTP_OK;
    snprintf(tag, sizeof tag, "\"%s\"", c->sha256);
    const char *known =
        MHD_lookup_connection_value(ask->connection, MHD_HEADER_KIND, "If-None-Match");
    const char *wanted = ask->head ? NULL : only_field(ask, "Range");
    const char *only_if = MHD_lookup_connection_value(ask->connection, MHD_HEADER_KIND, "If-Range");
    if (known != NULL && guard_tag_listed(known, tag)) {
        status = MHD_HTTP_NOT_MODIFIED;
    } else if (wanted != NULL && (only_if == NULL || strcmp(only_if, tag) == 0)) {
        const enum guard_range r = guard_range_read(wanted, c->size, &from, &to);
        if (r == GUARD_RANGE_NONE) {
            snprintf(range, sizeof range, "bytes */%zu", c->size);
            const struct guard_field field[] = {{"Content-Range", range}, {NULL, NULL}};
            return guard_reply_error(ask, MHD_HTTP_RANGE_NOT_SATISFIABLE, "there is no such range",
                                     field);
        }
        if (r == GUARD_RANGE_PART) status = MHD_HTTP_PARTIAL_CONTENT;
        if (r == GUARD_RANGE_WHOLE) {
            from = 0;
            to = c->size - 1;
        }
    }
    const size_t n = status == MHD_HTTP_NOT_MODIFIED ? 0 : (size_t)(to - from + 1);
    struct MHD_Response *r = respond_with(ask, c, from, n);
    if (r == NULL) return MHD_NO;
    snprintf(range, sizeof range, "bytes %" PRIu64 "-%" PRIu64 "/%zu", from, to, c->size);
    const struct guard_field fields[] = {
        {"ETag", tag},
        {"Cache-Control", c->cache},
        {"Accept-Ranges", "bytes"},
        {status != MHD_HTTP_NOT_MODIFIED ? "Content-Type" : NULL, c->type},
        {status == MHD_HTTP_PARTIAL_CONTENT ? "Content-Range" : NULL, range},
        {NULL, NULL}};
    add_fields(r, fields);
    add_fields(r, c->fields);
    return send_response(ask, status, r, n);
}

/* --- Heads ------------------------------------------------------------------------------------ */

struct head_counts {
    struct guard_head head;
    struct guard_trail *trail;
    unsigned hosts, lengths;
};

static enum MHD_Result take_field(void *ctx, enum MHD_ValueKind kind, const char *name,
                                  const char *value)
{
    struct head_counts *c = ctx;
    (void)kind;
    if (value == NULL) value = "";
    if (strcasecmp(name, "Host") == 0) {
        c->hosts++;
        c->head.host = value;
    } else if (strcasecmp(name, "Content-Length") == 0) {
        c->lengths++;
        c->head.body |= strspn(value, "0") != strlen(value);
    } else if (strcasecmp(name, "Transfer-Encoding") == 0) {
        c->head.body = true;
    } else if (c->trail != NULL && strcasecmp(name, "X-Forwarded-For") == 0) {
        guard_trail_add(c->trail, value);
    }
    /* For some readers "Content-Length :" is the field "Content-Length". */
    c->head.ambiguous |= name[strcspn(name, " \t")] != '\0';
    return MHD_YES;
}

struct guard_head guard_head_read(struct MHD_Connection *connection, struct guard_trail *trail)
{
    struct head_counts c = {.trail = trail};
    MHD_get_connection_values(connection, MHD_HEADER_KIND, take_field, &c);
    c.head.ambiguous |= c.hosts > 1 || c.lengths > 1;
    return c.head;
}

/* --- Hosts ------------------------------------------------------------------------------------ */

#define MOST_HOST 254 /* bytes of a name, with a final dot */

bool guard_host_valid(const char *name)
{
    const size_t n = strlen(name);
    return n > 0 && n <= MOST_HOST && name[0] != '.' && strstr(name, "..") == NULL &&
           strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_.") == n;
}

/* Compares names without regard to case and to a dot at the end. */
static bool same_name(const char *a, size_t n, const char *b)
{
    size_t m = strlen(b);
    if (m > 0 && b[m - 1] == '.') m--;
    return n == m && strncasecmp(a, b, n) == 0;
}

bool guard_host_known(const char *field, const char *const *names, size_t n)
{
    static const char local[] = "localhost";
    struct in6_addr address;
    char host[MOST_HOST + 1];
    const bool v6 = field[0] == '[';
    const char *from = v6 ? field + 1 : field, *end = from + strcspn(from, v6 ? "]" : ":");
    size_t length = (size_t)(end - from);
    if (v6 && *end++ != ']') return false;
    if (*end == ':') end += 1 + strspn(end + 1, "0123456789");
    if (*end != '\0' || length == 0 || length >= sizeof host) return false;
    memcpy(host, from, length);
    host[length] = '\0';
    if (v6) return inet_pton(AF_INET6, host, &address) == 1;
    if (inet_pton(AF_INET, host, &address) == 1) return true;
    if (host[length - 1] == '.') length--;
    const size_t l = sizeof local - 1;
    if (same_name(host, length, local) ||
        (length > l + 1 && host[length - l - 1] == '.' && same_name(host + length - l, l, local)))
        return true;
    for (size_t i = 0; i < n; i++)
        if (same_name(host, length, names[i])) return true;
    return false;
}

/* --- Queries ---------------------------------------------------------------------------------- */

bool guard_query_cut(char *uri)
{
    char *query = strchr(uri, '?');
    size_t parameters = 1;
    if (query == NULL) return false;
    for (const char *p = query; (p = strchr(p, '&')) != NULL; p++) parameters++;
    const bool too_long = parameters > GUARD_MOST_PARAMETERS ||
                          (size_t)(query - uri) + strlen(query) > GUARD_MOST_URI;
    if (too_long) query[1] = '\0';
    return too_long;
}

/* --- Escapes ---------------------------------------------------------------------------------- */

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c != '\0' ? strchr(digits, c >= 'A' && c <= 'F' ? c - 'A' + 'a' : c) : NULL;
    return at != NULL ? (int)(at - digits) : -1;
}

size_t guard_unescape(void *ctx, struct MHD_Connection *connection, char *text)
{
    char *to = text;
    (void)ctx;
    (void)connection;
    for (const char *p = text; *p != '\0'; p++) {
        const int high = *p == '%' ? hex_digit(p[1]) : -1;
        const int low = high >= 0 ? hex_digit(p[2]) : -1;
        if (low < 0 || high + low == 0) {
            *to++ = *p;
        } else {
            *to++ = (char)(high << 4 | low);
            p += 2;
        }
    }
    *to = '\0';
    return (size_t)(to - text);
}
