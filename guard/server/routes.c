/* The endpoints and their answers. Every answer comes from one version, to which the request holds
 * a reference. */
#include "server.h"

#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/tamis.h>

#define JSON "application/json"
#define MOST_PREFIXES 30 /* the most expressions that a URL has */
/* A prefix normally has one listed hash, rarely two. A list far above this limit was made to be
 * expensive to query. */
#define MOST_HASHES 10000
#define MOST_TEXT (4u << 20)
#define BAD MHD_HTTP_BAD_REQUEST

static const struct guard_field NO_STORE[] = {{"Cache-Control", "no-store"}, {NULL, NULL}};

static const guard_manifest *about(const struct guard_ask *ask)
{
    return guard_about(ask->version->g);
}

/* --- Parameters ------------------------------------------------------------------------------- */

/* The one parameter that an endpoint accepts, with its values. `n` also counts the values for which
 * there is no room. */
struct parameter {
    const char *name;
    const char *values[MOST_PREFIXES];
    size_t n;
    bool strange; /* the request has another parameter */
};

static enum MHD_Result take_parameter(void *ctx, enum MHD_ValueKind kind, const char *name,
                                      const char *value)
{
    struct parameter *p = ctx;
    (void)kind;
    if (strcmp(name, p->name) != 0)
        p->strange = true;
    else if (p->n++ < MOST_PREFIXES)
        p->values[p->n - 1] = value != NULL ? value : "";
    return MHD_YES;
}

static struct parameter parameter(struct guard_ask *ask, const char *name)
{
    struct parameter p = {.name = name};
    MHD_get_connection_values(ask->connection, MHD_GET_ARGUMENT_KIND, take_parameter, &p);
    return p;
}

/* Reads a parameter that is a version number; *version is `none` if it is absent. Returns false if
 * the value is not a version number. */
static bool version_from(const struct parameter *p, uint64_t none, uint64_t *version)
{
    *version = none;
    if (p->strange || p->n > 1) return false;
    if (p->n == 0) return true;
    const char *text = p->values[0];
    const size_t digits = strspn(text, "0123456789");
    errno = 0;
    *version = strtoull(text, NULL, 10);
    return digits > 0 && text[digits] == '\0' && errno == 0;
}

/* --- /filter, /delta, /removed ---------------------------------------------------------------- */

static enum MHD_Result answer_part(struct guard_ask *ask, const char *name, uint64_t version,
                                   const guard_part *part)
{
    const struct parameter p = parameter(ask, "version");
    uint64_t wanted;
    size_t size;
    if (!version_from(&p, version, &wanted))
        return guard_reply_error(ask, BAD, "version must be one number, and the only parameter",
                                 NULL);
    if (wanted != version)
        return guard_reply_error(ask, MHD_HTTP_NOT_FOUND,
                                 "this version is no longer served, or not yet", NULL);
    const void *bytes = guard_bytes(ask->version->g, name, &size);
    if (bytes == NULL || size == 0)
        return guard_reply_error(ask, MHD_HTTP_NOT_FOUND, "this version has no such file", NULL);
    const struct guard_content c = {.bytes = bytes,
                                    .size = size,
                                    .sha256 = part->sha256,
                                    .type = "application/octet-stream",
                                    .cache = p.n != 0 ? "public, max-age=31536000, immutable"
                                                      : "no-cache",
                                    .of_version = true};
    return guard_reply_content(ask, &c);
}

static enum MHD_Result answer_filter(struct guard_ask *ask)
{
    return answer_part(ask, "filter", about(ask)->base, &about(ask)->filter);
}

static enum MHD_Result answer_delta(struct guard_ask *ask)
{
    return answer_part(ask, "delta", about(ask)->version, &about(ask)->delta);
}

static enum MHD_Result answer_removed(struct guard_ask *ask)
{
    return answer_part(ask, "removed", about(ask)->version, &about(ask)->removal);
}

/* --- /v1/confirm ------------------------------------------------------------------------------ */

struct found {
    const guard_manifest *m;
    struct guard_text hashes, labels;
    unsigned n;
};

static bool put_found(void *ctx, const uint8_t hash[GUARD_HASH_SIZE], uint64_t labels)
{
    struct found *f = ctx;
    const char *comma = "";
    if (f->n++ == MOST_HASHES) return false;
    guard_text_add(&f->hashes, "%s\"", f->n > 1 ? "," : "");
    guard_text_hex(&f->hashes, hash, GUARD_HASH_SIZE);
    guard_text_add(&f->hashes, "\"");
    guard_text_add(&f->labels, "%s[", f->n > 1 ? "," : "");
    for (size_t i = 0; i < f->m->n_labels; i++) {
        if ((labels >> i & 1) == 0) continue;
        guard_text_add(&f->labels, "%s\"%s\"", comma, f->m->labels[i]);
        comma = ",";
    }
    guard_text_add(&f->labels, "]");
    return !f->hashes.failed && !f->labels.failed;
}

/* Reads exactly eight hex digits. */
static bool prefix_from(const char *text, uint8_t prefix[GUARD_PREFIX])
{
    if (strlen(text) != 2 * GUARD_PREFIX ||
        strspn(text, "0123456789abcdefABCDEF") != 2 * GUARD_PREFIX)
        return false;
    const unsigned long value = strtoul(text, NULL, 16);
    for (size_t i = 0; i < GUARD_PREFIX; i++) prefix[i] = (uint8_t)(value >> (24 - 8 * i));
    return true;
}

/* Finds the listed hashes of all prefixes, each prefix once. Returns false if the store cannot
 * answer. */
static bool find_all(struct guard_ask *ask, uint8_t (*prefixes)[GUARD_PREFIX], size_t n,
                     struct found *f)
{
    for (size_t i = 0; i < n; i++) {
        size_t j = 0;
        while (memcmp(prefixes[j], prefixes[i], GUARD_PREFIX) != 0) j++;
        if (j == i && !guard_find_prefix(ask->version->g, prefixes[i], put_found, f)) return false;
    }
    return true;
}

static enum MHD_Result answer_confirm(struct guard_ask *ask)
{
    const struct parameter p = parameter(ask, "prefix");
    uint8_t prefixes[MOST_PREFIXES][GUARD_PREFIX];
    if (p.strange) return guard_reply_error(ask, BAD, "prefix is the only parameter", NULL);
    if (p.n == 0 || p.n > MOST_PREFIXES)
        return guard_reply_error(ask, BAD, "there must be 1 to 30 prefix parameters", NULL);
    for (size_t i = 0; i < p.n; i++)
        if (!prefix_from(p.values[i], prefixes[i]))
            return guard_reply_error(ask, BAD, "a prefix must be 8 hex digits", NULL);
    struct found f = {
        .m = about(ask), .hashes = {.most = MOST_TEXT}, .labels = {.most = MOST_TEXT}};
    struct guard_text out = {.most = 3 * MOST_TEXT};
    out.failed = !find_all(ask, prefixes, p.n, &f);
    if (!out.failed)
        guard_text_add(&out,
                       "{\"version\":%" PRIu64
                       ",\"hashes\":[%s],\"labels\":[%s],\"cache_seconds\":%u}\n",
                       f.m->version, f.n > 0 ? f.hashes.at : "", f.n > 0 ? f.labels.at : "",
                       ask->server->settings.cache_seconds);
    free(f.hashes.at);
    free(f.labels.at);
    ask->server->metrics.prefixes += p.n;
    if (!out.failed) ask->server->metrics.hashes += f.n;
    return guard_reply(ask, MHD_HTTP_OK, JSON, &out, NO_STORE);
}

/* --- /v1/update ------------------------------------------------------------------------------- */

static void put_part(struct guard_text *out, const char *name, uint64_t version,
                     const guard_part *part)
{
    if (part->bytes == 0)
        guard_text_add(out, ",\"%s\":null", name);
    else
        guard_text_add(out,
                       ",\"%s\":{\"url\":\"/%s?version=%" PRIu64 "\",\"bytes\":%" PRIu64
                       ",\"sha256\":\"%s\"}",
                       name, name, version, part->bytes, part->sha256);
}

/* The text of a signed manifest, in which only the line ends need escapes: labels have neither
 * quotes nor backslashes. */
static void put_manifest(struct guard_text *out, const guard *g)
{
    guard_text_add(out, ",\"manifest\":");
    if (guard_about(g)->n_signatures == 0) {
        guard_text_add(out, "null");
        return;
    }
    guard_text_add(out, "\"");
    for (const char *line = guard_manifest_text(g), *end; *line != '\0'; line = end + 1) {
        end = strchr(line, '\n');
        guard_text_add(out, "%.*s\\n", (int)(end - line), line);
    }
    guard_text_add(out, "\"");
}

static enum MHD_Result answer_update(struct guard_ask *ask)
{
    const guard_manifest *m = about(ask);
    const struct parameter p = parameter(ask, "from");
    struct guard_text out = {.most = MOST_TEXT};
    uint64_t from;
    if (!version_from(&p, 0, &from))
        return guard_reply_error(ask, BAD, "from must be one number, and the only parameter", NULL);
    guard_text_add(&out, "{\"version\":%" PRIu64 ",\"id\":\"%s\",\"base\":%" PRIu64, m->version,
                   m->id, m->base);
    if (from == m->version) {
        guard_text_add(&out, ",\"unchanged\":true");
    } else {
        guard_text_add(&out, ",\"unchanged\":false");
        put_part(&out, "filter", m->base, &m->filter);
        put_part(&out, "delta", m->version, &m->delta);
        put_part(&out, "removed", m->version, &m->removal);
    }
    guard_text_add(&out,
                   ",\"entries\":%" PRIu64 ",\"rate\":%.9g,\"built\":%lld,\"cache_seconds\":%u"
                   ",\"labels\":[",
                   m->entries, m->rate, (long long)m->built, ask->server->settings.cache_seconds);
    for (size_t i = 0; i < m->n_labels; i++)
        guard_text_add(&out, "%s\"%s\"", i > 0 ? "," : "", m->labels[i]);
    guard_text_add(&out, "]");
    put_manifest(&out, ask->version->g);
    guard_text_add(&out, "}\n");
    return guard_reply(ask, MHD_HTTP_OK, JSON, &out, NO_STORE);
}

/* --- For people and monitoring ---------------------------------------------------------------- */

static enum MHD_Result answer_metrics(struct guard_ask *ask)
{
    struct guard_text out = {.most = MOST_TEXT};
    guard_metrics_print(&ask->server->metrics, about(ask), ask->server->live.reloads,
                        ask->server->live.failed, &out);
    return guard_reply(ask, MHD_HTTP_OK, "text/plain; version=0.0.4; charset=utf-8", &out,
                       NO_STORE);
}

static enum MHD_Result answer_healthz(struct guard_ask *ask)
{
    struct guard_text out = {.most = MOST_TEXT};
    const bool stopping = atomic_load(&ask->server->stopping);
    guard_text_add(&out, stopping ? "stopping\n" : "ok\n");
    return guard_reply(ask, stopping ? MHD_HTTP_SERVICE_UNAVAILABLE : MHD_HTTP_OK,
                       "text/plain; charset=utf-8", &out, NO_STORE);
}

/* --- Dispatch --------------------------------------------------------------------------------- */

static const struct route {
    const char *path;
    enum guard_endpoint at;
    bool is_public;
    enum MHD_Result (*answer)(struct guard_ask *ask);
} ROUTES[] = {
    /* This entry also serves the files of the page. */
    {"/", GUARD_AT_PAGE, false, guard_answer_page},
    {"/filter", GUARD_AT_FILTER, true, answer_filter},
    {"/delta", GUARD_AT_DELTA, true, answer_delta},
    {"/removed", GUARD_AT_REMOVED, true, answer_removed},
    {"/v1/confirm", GUARD_AT_CONFIRM, true, answer_confirm},
    {"/v1/update", GUARD_AT_UPDATE, true, answer_update},
    {"/metrics", GUARD_AT_METRICS, false, answer_metrics},
    {"/healthz", GUARD_AT_HEALTHZ, false, answer_healthz},
};

/* Answers the question that a browser asks before it lets a page of another origin use more than
 * the simplest header fields. */
static enum MHD_Result answer_preflight(struct guard_ask *ask)
{
    static const struct guard_field fields[] = {
        {"Allow", "GET, HEAD, OPTIONS"},
        {"Access-Control-Allow-Methods", "GET, HEAD, OPTIONS"},
        {"Access-Control-Allow-Headers", "If-None-Match, If-Range, Range"},
        {"Access-Control-Max-Age", "86400"},
        {NULL, NULL}};
    struct guard_text nothing = {.most = 0};
    return guard_reply(ask, MHD_HTTP_NO_CONTENT, NULL, &nothing, fields);
}

static bool within_limit(struct guard_ask *ask, unsigned *wait)
{
    if (ask->crowded) {
        *wait = 1;
        return false;
    }
    return ask->server->limits == NULL || ask->monitoring ||
           guard_limits_take(ask->server->limits, ask->client, guard_clock(), wait);
}

/* Returns the route of a path at this address of the server, or NULL. */
static const struct route *route_of(const struct guard_ask *ask, const char *path)
{
    const struct route *route = NULL;
    for (size_t i = 0; i < sizeof ROUTES / sizeof *ROUTES && route == NULL; i++)
        if (strcmp(path, ROUTES[i].path) == 0) route = &ROUTES[i];
    if (route == NULL && guard_page_find(path) != NULL) route = &ROUTES[0];
    if (route == NULL) return NULL;
    const bool figures = route->at == GUARD_AT_METRICS;
    const bool here = ask->monitoring ? figures || route->at == GUARD_AT_HEALTHZ
                                      : !figures || ask->server->metrics_beside;
    return here ? route : NULL;
}

/* Public answers are the same for everybody, and pages of any origin may read them. The others are
 * protected by the rule that a page may read only what has its own host name. A client without a
 * field "Host" is not a browser. */
static bool may_answer_host(const struct guard_ask *ask, const char *host)
{
    const guard_service *v = &ask->server->settings;
    return ask->is_public || host == NULL || guard_host_known(host, v->host_names, v->n_host_names);
}

enum MHD_Result guard_answer_request(struct guard_ask *ask, const char *path, const char *method)
{
    const struct guard_head head = ask->fields;
    const struct route *route = route_of(ask, path);
    unsigned wait = 0;
    ask->ends = head.body || head.ambiguous;
    ask->head = strcmp(method, "HEAD") == 0;
    ask->path = path;
    ask->at = route != NULL ? route->at : GUARD_AT_OTHER;
    ask->is_public = route != NULL && route->is_public;
    if (!within_limit(ask, &wait)) {
        char seconds[16];
        snprintf(seconds, sizeof seconds, "%u", wait);
        const struct guard_field later[] = {{"Retry-After", seconds}, {NULL, NULL}};
        ask->server->metrics.limited++;
        return guard_reply_error(ask, MHD_HTTP_TOO_MANY_REQUESTS, "too many requests", later);
    }
    if (head.ambiguous)
        return guard_reply_error(ask, BAD, "the fields of the request contradict each other", NULL);
    if (head.body)
        return guard_reply_error(ask, MHD_HTTP_CONTENT_TOO_LARGE, "a request must not have a body",
                                 NULL);
    if (ask->long_query)
        return guard_reply_error(ask, MHD_HTTP_URI_TOO_LONG,
                                 "the query is too long or has too many parameters", NULL);
    if (route == NULL)
        return guard_reply_error(ask, MHD_HTTP_NOT_FOUND, "there is no such page", NULL);
    if (!may_answer_host(ask, head.host))
        return guard_reply_error(ask, MHD_HTTP_MISDIRECTED_REQUEST,
                                 "this server does not know the host name; see --host-name", NULL);
    if (ask->is_public && strcmp(method, "OPTIONS") == 0) return answer_preflight(ask);
    if (!ask->head && strcmp(method, "GET") != 0) {
        const struct guard_field allow[] = {
            {"Allow", ask->is_public ? "GET, HEAD, OPTIONS" : "GET, HEAD"}, {NULL, NULL}};
        return guard_reply_error(ask, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD are allowed",
                                 allow);
    }
    return route->answer(ask);
}
