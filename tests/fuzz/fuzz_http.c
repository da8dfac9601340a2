/* Requests to the guard's server with paths, parameters, conditions and ranges that make no sense.
 * A few functions here stand in for libmicrohttpd. Every request gets one answer, which agrees with
 * a simple reading of the request. No part of the request gets into a field of the answer, and the
 * served version stays as it was.
 *
 * ./run fuzz http */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "../../guard/server/server.c" /* with what it keeps to itself */
#include "feed.h"

#include <inttypes.h>

#define MOST_VALUES 40
#define MOST_TEXT 600u

/* --- libmicrohttpd, as far as it is called ---------------------------------------------------- */

struct MHD_Response {
    void *bytes;
    size_t size;
    bool owned;
    void (*free)(void *);
    void *ctx;
    char type[80], range[80], tag[80];
    unsigned users;
};

struct MHD_Connection {
    struct {
        enum MHD_ValueKind kind;
        char *name, *value;
    } values[MOST_VALUES];
    size_t n;
    struct guard_client client;
    struct MHD_Response *sent;
    unsigned status;
    union MHD_ConnectionInfo info;
};

static void keep(char *to, size_t room, const char *value)
{
    snprintf(to, room, "%s", value);
}

static enum MHD_Result add_header(struct MHD_Response *r, const char *name, const char *value)
{
    must(name[0] != '\0' && strpbrk(name, "\r\n: ") == NULL, "the name of a field");
    must(value != NULL && strpbrk(value, "\r\n") == NULL, "a field is one line");
    if (strcmp(name, "Content-Type") == 0) keep(r->type, sizeof r->type, value);
    if (strcmp(name, "Content-Range") == 0) keep(r->range, sizeof r->range, value);
    if (strcmp(name, "ETag") == 0) keep(r->tag, sizeof r->tag, value);
    return MHD_YES;
}

static struct MHD_Response *response(void *bytes, size_t size)
{
    struct MHD_Response *r = calloc(1, sizeof *r);
    must(r != NULL, "memory");
    r->bytes = bytes;
    r->size = size;
    r->users = 1;
    return r;
}

static struct MHD_Response *from_buffer(size_t size, void *bytes, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *r = response(bytes, size);
    if (mode == MHD_RESPMEM_MUST_COPY) {
        r->bytes = malloc(size + 1);
        must(r->bytes != NULL, "memory");
        memcpy(r->bytes, bytes, size);
    }
    r->owned = mode != MHD_RESPMEM_PERSISTENT;
    return r;
}

static struct MHD_Response *from_version(size_t size, void *bytes,
                                         MHD_ContentReaderFreeCallback done, void *ctx)
{
    struct MHD_Response *r = response(bytes, size);
    r->free = done;
    r->ctx = ctx;
    return r;
}

static void destroy(struct MHD_Response *r)
{
    if (--r->users > 0) return;
    if (r->owned) free(r->bytes);
    if (r->free != NULL) r->free(r->ctx);
    free(r);
}

static const union MHD_ConnectionInfo *info_of(struct MHD_Connection *c,
                                               enum MHD_ConnectionInfoType type, ...)
{
    if (type != MHD_CONNECTION_INFO_SOCKET_CONTEXT) return NULL;
    c->info.socket_context = &c->client;
    return &c->info;
}

static int each_value(struct MHD_Connection *c, enum MHD_ValueKind kind, MHD_KeyValueIterator f,
                      void *ctx)
{
    int n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->values[i].kind != kind) continue;
        n++;
        if (f != NULL && f(ctx, kind, c->values[i].name, c->values[i].value) != MHD_YES) break;
    }
    return n;
}

static const char *value_of(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *name)
{
    for (size_t i = 0; i < c->n; i++)
        if (c->values[i].kind == kind && strcasecmp(c->values[i].name, name) == 0)
            return c->values[i].value;
    return NULL;
}

static enum MHD_Result queue(struct MHD_Connection *c, unsigned status, struct MHD_Response *r)
{
    must(c->sent == NULL, "one answer");
    r->users++;
    c->sent = r;
    c->status = status;
    return MHD_YES;
}

static void play_mhd(void)
{
    guard_mhd.MHD_add_response_header_ = add_header;
    guard_mhd.MHD_create_response_from_buffer_ = from_buffer;
    guard_mhd.MHD_create_response_from_buffer_with_free_callback_cls_ = from_version;
    guard_mhd.MHD_destroy_response_ = destroy;
    guard_mhd.MHD_get_connection_info_ = info_of;
    guard_mhd.MHD_get_connection_values_ = each_value;
    guard_mhd.MHD_lookup_connection_value_ = value_of;
    guard_mhd.MHD_queue_response_ = queue;
}

/* --- What is served --------------------------------------------------------------------------- */

enum {
    LISTED = 50,
    KNOWN = 6
}; /* a base that stays when one goes and one comes; those that are asked for */
static struct guard_server server;
static struct guard_side side = {.server = &server, .fd = -1};
static char hashes[LISTED][2 * GUARD_HASH_SIZE + 1]; /* of what is listed, in hex */

static void build(const char *directory, size_t from)
{
    char path[300];
    guard_manifest m;
    guard_error why;
    snprintf(path, sizeof path, "%s/list", directory);
    FILE *f = fopen(path, "w");
    must(f != NULL, "a list");
    for (size_t i = from; i < from + LISTED; i++) fprintf(f, "http://h%zu.example/\n", i);
    must(fclose(f) == 0, "a list");
    const guard_list bad = {"test", path};
    const guard_request r = {.directory = directory, .bad = &bad, .n_bad = 1, .max_bytes = 100000};
    must(guard_build(&r, &m, &why), why.text);
    unlink(path);
}

/* Two versions, so that there are additions and removals; the files are kept open, and their names
 * go. */
static void publish_twice(void)
{
    static char directory[200];
    char path[600];
    guard_error why;
    const char *room = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/tamis-fuzz-XXXXXX", room != NULL ? room : "/tmp");
    must(mkdtemp(directory) != NULL, "a directory");
    build(directory, 0);
    build(directory, 1);
    must(guard_live_start(&server.live, directory, NULL, &why), why.text);
    DIR *d = opendir(directory);
    must(d != NULL, "a directory");
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d)) {
        snprintf(path, sizeof path, "%s/%s", directory, e->d_name);
        unlink(path);
    }
    closedir(d);
    must(rmdir(directory) == 0, "nothing is left");
    server.places = guard_places_new(1, 1);
    must(server.places != NULL && guard_proxies_add(&server.proxies, "10.0.0.0/8") == NULL,
         "a proxy");
    server.metrics_beside = true;
    server.settings = (guard_service){.cache_seconds = 300, .timeout_seconds = 10};
    for (size_t i = 0; i < LISTED; i++) {
        uint8_t hash[GUARD_HASH_SIZE];
        char expression[40];
        snprintf(expression, sizeof expression, "h%zu.example/", i + 1);
        guard_hash((guard_span){expression, strlen(expression)}, hash);
        for (size_t b = 0; b < sizeof hash; b++) snprintf(hashes[i] + 2 * b, 3, "%02x", hash[b]);
    }
}

/* --- Questions -------------------------------------------------------------------------------- */

/* Text of pieces that mean something, and of any other bytes. */
static size_t feed_pieces(struct feed *f, char *to)
{
    static const char *const pieces[] = {"prefix=",     "&",          "=",        "version=",
                                         "from=",       "1",          "2",        "%31",
                                         "bytes=",      "-",          "W/",       "*",
                                         "/v1/confirm", "/v1/update", "/filter",  "/delta",
                                         "/removed",    "/metrics",   "/healthz", "/"};
    const size_t known = sizeof pieces / sizeof *pieces;
    const guard_manifest *m = guard_about(server.live.current->g);
    size_t n = 0;
    for (uint8_t b; f->left > 0 && (b = feed_byte(f)) != 0 && n + 80 < MOST_TEXT;) {
        char piece[80] = {(char)b, '\0'};
        if (b <= known) keep(piece, sizeof piece, pieces[b - 1]);
        if (b == 21) snprintf(piece, sizeof piece, "\"%s\"", m->filter.sha256);
        if (b == 22) snprintf(piece, sizeof piece, "\"%s\"", m->delta.sha256);
        if (b >= 23 && b < 23 + KNOWN)
            snprintf(piece, sizeof piece, "%.8s", hashes[LISTED - 1 - (b - 23)]);
        if (b == 29) keep(piece, sizeof piece, "localhost");
        if (b == 30) keep(piece, sizeof piece, "127.0.0.1");
        if (b == 31) keep(piece, sizeof piece, "[::1]:8080");
        /* Where parts end, and one before and behind it. */
        const uint64_t ends[] = {m->filter.bytes, m->delta.bytes, m->removal.bytes};
        if (b >= 128 && b < 128 + 9)
            snprintf(piece, sizeof piece, "%" PRIu64, ends[(b - 128) / 3] - 1 + (b - 128u) % 3);
        keep(to + n, MOST_TEXT - n, piece);
        n += strlen(piece);
    }
    to[n] = '\0';
    return n;
}

static void add_value(struct MHD_Connection *c, enum MHD_ValueKind kind, const char *name,
                      const char *value)
{
    if (c->n == MOST_VALUES) return;
    c->values[c->n].kind = kind;
    c->values[c->n].name = strdup(name);
    c->values[c->n].value = value != NULL ? strdup(value) : NULL;
    if (kind == MHD_GET_ARGUMENT_KIND) {
        char *texts[] = {c->values[c->n].name, c->values[c->n].value};
        for (int i = 0; i < 2; i++) {
            if (texts[i] == NULL) continue;
            const size_t before = strlen(texts[i]), after = guard_unescape(NULL, c, texts[i]);
            must(after <= before && strlen(texts[i]) == after, "no longer than it was");
        }
    }
    c->n++;
}

/* As libmicrohttpd takes a query apart. */
static void add_query(struct MHD_Connection *c, char *query)
{
    for (char *p = query; p != NULL && *p != '\0';) {
        char *end = strchr(p, '&');
        if (end != NULL) *end++ = '\0';
        char *value = strchr(p, '=');
        if (value != NULL) *value++ = '\0';
        add_value(c, MHD_GET_ARGUMENT_KIND, p, value);
        p = end;
    }
}

/* As libmicrohttpd passes the target on before it takes it apart. */
static bool cut_query(char *query)
{
    char uri[MOST_TEXT + 2];
    snprintf(uri, sizeof uri, "/?%s", query);
    const bool cut = guard_query_cut(uri);
    must(cut ? strcmp(uri, "/?") == 0 : strcmp(uri + 2, query) == 0, "the whole query or nothing");
    if (cut) query[0] = '\0';
    return cut;
}

/* --- Answers ---------------------------------------------------------------------------------- */

static bool is_hex8(const char *text)
{
    return strlen(text) == 8 && strspn(text, "0123456789abcdefABCDEF") == 8;
}

static void check_confirm(const struct MHD_Connection *c, const char *body)
{
    bool asked[LISTED] = {false}, good = true;
    size_t n = 0, found = 0, told = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->values[i].kind != MHD_GET_ARGUMENT_KIND) continue;
        const char *value = c->values[i].value != NULL ? c->values[i].value : "";
        good = good && strcmp(c->values[i].name, "prefix") == 0 && is_hex8(value);
        n++;
        for (size_t h = 0; h < LISTED; h++) asked[h] |= strncasecmp(value, hashes[h], 8) == 0;
    }
    must((c->status == 200) == (good && n >= 1 && n <= 30), "confirms what makes sense");
    if (c->status != 200) return;
    for (size_t h = 0; h < LISTED; h++) {
        must((strstr(body, hashes[h]) != NULL) == asked[h], "all that is listed, and no more");
        found += asked[h];
    }
    for (const char *p = body; (p = strstr(p, "[\"test\"]")) != NULL; p++) told++;
    must(told == found, "a label for each");
}

/* Digits only, and at most 64 bits of them. */
static bool simple_version(const char *text, uint64_t *out)
{
    __extension__ unsigned __int128 v = 0;
    const size_t digits = strspn(text, "0123456789");
    for (size_t i = 0; i < digits && v <= UINT64_MAX; i++) v = v * 10 + (unsigned)(text[i] - '0');
    *out = (uint64_t)v;
    return digits > 0 && text[digits] == '\0' && v <= UINT64_MAX;
}

/* Whether the only parameter, if any, is a version; there: it is one. */
static bool asks_version(const struct MHD_Connection *c, const char *name, bool *there,
                         uint64_t *version)
{
    size_t n = 0;
    bool good = true;
    for (size_t i = 0; i < c->n; i++) {
        if (c->values[i].kind != MHD_GET_ARGUMENT_KIND) continue;
        n++;
        good = good && strcmp(c->values[i].name, name) == 0 && c->values[i].value != NULL &&
               simple_version(c->values[i].value, version);
    }
    *there = n == 1;
    return n == 0 || (n == 1 && good);
}

/* Whether one of the tags between the commas is this one, weak or not; or a star that stands alone.
 * Behind a tag there is nothing but blanks. */
static bool is_known(const char *field, const char *tag)
{
    if (field == NULL) return false;
    const char *p = field + strspn(field, " \t");
    if (*p == '*') return strspn(p + 1, " \t") == strlen(p + 1);
    while (*(p += strspn(p, " \t,")) != '\0') {
        if (strncmp(p, "W/", 2) == 0) p += 2;
        const char *last = *p == '"' ? strchr(p + 1, '"') : NULL;
        if (last != NULL && strncmp(p, tag, strlen(tag)) == 0 && p + strlen(tag) == last + 1 &&
            strchr(",", last[1 + strspn(last + 1, " \t")]) != NULL) /* or its end */
            return true;
        if (last != NULL) p = last + 1;
        p += strcspn(p, ",");
    }
    return false;
}

/* A part of a version: whole, a range of it, or that it has not changed. */
static void check_part(struct MHD_Connection *c, const char *part, uint64_t version, bool head)
{
    size_t size;
    bool there;
    uint64_t asked = version;
    const uint8_t *bytes = guard_bytes(server.live.current->g, part, &size);
    const struct MHD_Response *r = c->sent;
    must(bytes != NULL, "two versions have all parts");
    if (!asks_version(c, "version", &there, &asked)) {
        must(c->status == 400, "a version is a number");
        return;
    }
    if (asked != version) {
        must(c->status == 404, "another version is not there");
        return;
    }
    const char *known = value_of(c, MHD_HEADER_KIND, "If-None-Match");
    const char *range = value_of(c, MHD_HEADER_KIND, "Range");
    unsigned long long from, to, all;
    if (c->status == 304) {
        must(is_known(known, r->tag), "only what is known has not changed");
        must(r->size == 0, "without a body");
    } else if (c->status == 206) {
        must(range != NULL && strncmp(range, "bytes=", 6) == 0 && !head, "a range was asked for");
        must(sscanf(r->range, "bytes %llu-%llu/%llu", &from, &to, &all) == 3, "which one");
        must(all == size && from <= to && to < all && r->size == to - from + 1, "and it is one");
        must(memcmp(r->bytes, bytes + from, r->size) == 0, "the bytes of it");
    } else if (c->status == 416) {
        must(range != NULL && !head, "a range was asked for");
    } else {
        must(c->status == 200 && r->size == size && memcmp(r->bytes, bytes, size) == 0,
             "all of it");
        must(!is_known(known, r->tag), "what is known is not sent");
    }
}

/* Whether the head alone has the request refused; the first of the reasons decides. */
static bool is_refused(const struct MHD_Connection *c, const char *path)
{
    static const char *const private_paths[] = {"/", "/metrics", "/healthz"};
    const char *host = NULL;
    unsigned hosts = 0, lengths = 0;
    bool body = false, is_private = false;
    for (size_t i = 0; i < c->n; i++) {
        const char *name = c->values[i].name, *value = c->values[i].value;
        if (c->values[i].kind != MHD_HEADER_KIND) continue;
        if (strcmp(name, "Host") == 0) {
            host = value;
            hosts++;
        }
        if (strcmp(name, "Content-Length") == 0) {
            lengths++;
            body = body || value[strspn(value, "0")] != '\0';
        }
        body = body || strcmp(name, "Transfer-Encoding") == 0;
    }
    for (size_t i = 0; i < 3; i++) is_private |= strcmp(path, private_paths[i]) == 0;
    unsigned wanted = 0;
    if (hosts > 1 || lengths > 1)
        wanted = 400;
    else if (body)
        wanted = 413;
    else if (c->client.long_query)
        wanted = 414;
    else if (is_private && host != NULL && strpbrk(host, "0123456789:") == NULL &&
             strcasestr(host, "localhost") == NULL)
        wanted = 421;
    must(wanted == 0 || c->status == wanted, "refused for what the head is");
    return wanted != 0 || c->status == 421;
}

static void check_answer(struct MHD_Connection *c, const char *path, const char *method)
{
    const bool head = strcmp(method, "HEAD") == 0, get = strcmp(method, "GET") == 0;
    const guard_manifest *m = guard_about(server.live.current->g);
    const struct MHD_Response *r = c->sent;
    bool there;
    uint64_t asked;
    char *body = strndup(r->bytes != NULL ? r->bytes : "", r->size);
    must(body != NULL, "memory");
    if (strcmp(r->type, "application/json") == 0)
        must(r->size > 3 && body[0] == '{' && strcmp(body + r->size - 2, "}\n") == 0 &&
                 strlen(body) == r->size,
             "JSON");
    if (is_refused(c, path)) {
        must(strstr(body, "tamis_guard_") == NULL, "a refusal, and nothing else");
    } else if (!get && !head) {
        must(c->status == 405 || c->status == 204 || c->status == 404, "only what is allowed");
    } else if (strcmp(path, "/v1/confirm") == 0) {
        check_confirm(c, body);
    } else if (strcmp(path, "/filter") == 0) {
        check_part(c, "filter", m->base, head);
    } else if (strcmp(path, "/delta") == 0) {
        check_part(c, "delta", m->version, head);
    } else if (strcmp(path, "/removed") == 0) {
        check_part(c, "removed", m->version, head);
    } else if (strcmp(path, "/v1/update") == 0) {
        const bool good = asks_version(c, "from", &there, &asked);
        must((c->status == 200) == good, "a version is a number");
        if (good)
            must((strstr(body, "\"unchanged\":true") != NULL) == (there && asked == m->version),
                 "unchanged since the version that it is");
    }
    free(body);
}

/* --- One input -------------------------------------------------------------------------------- */

static void ask(struct feed *f)
{
    static const char *const methods[] = {"GET", "GET", "HEAD", "OPTIONS", "POST"};
    static const char *const fields[] = {
        "If-None-Match",     "Range", "If-Range",       "Content-Length",
        "Transfer-Encoding", "Host",  "X-Forwarded-For"};
    struct MHD_Connection c = {.n = 0};
    char path[MOST_TEXT], text[MOST_TEXT];
    size_t upload = 0;
    void *place = NULL;
    const uint8_t how = feed_byte(f);
    const char *method = methods[how % 5];
    feed_pieces(f, path);
    guard_unescape(NULL, &c, path);
    feed_pieces(f, text);
    c.client.admitted = true;
    c.client.proxy = how / 16 % 2 != 0;
    c.client.long_query = cut_query(text);
    add_query(&c, text);
    for (unsigned i = 0; i < how / 32u; i++) {
        const char *name = fields[feed_byte(f) % 7];
        feed_pieces(f, text);
        text[strcspn(text, "\r\n")] = '\0'; /* a field is a line */
        add_value(&c, MHD_HEADER_KIND, name, text);
    }
    atomic_init(&c.client.waiting, 0);
    enum MHD_Result done = on_request(&side, &c, path, method, "HTTP/1.1", NULL, &upload, &place);
    if (done == MHD_YES && c.sent == NULL)
        done = on_request(&side, &c, path, method, "HTTP/1.1", NULL, &upload, &place);
    must(done == MHD_YES && c.sent != NULL && place == &c.client, "every request has an answer");
    must(!c.client.crowded && c.status != 429, "one request at a time has a place");
    check_answer(&c, path, method);
    destroy(c.sent);
    on_completed(&side, &c, &place, MHD_REQUEST_TERMINATED_COMPLETED_OK);
    for (size_t i = 0; i < c.n; i++) {
        free(c.values[i].name);
        free(c.values[i].value);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct feed f = {data, size};
    if (server.live.current == NULL) {
        play_mhd();
        publish_twice();
    }
    for (int i = 0; i < 8 && f.left > 0; i++) ask(&f);
    must(server.live.current->users == 1 && server.metrics.active == 0, "nothing is held");
    return 0;
}
