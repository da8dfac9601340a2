/* The web page of the server: the files of web/page or, if the program was built without them, a
 * plain summary of the version. */
#include "page.h"

#include "server.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <tamis/tamis.h>

#define NOWHERE_ELSE "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

const struct guard_file *guard_page_find(const char *path)
{
    if (strcmp(path, "/") == 0) path = "/index.html";
    for (const struct guard_file *f = guard_page; f->path != NULL; f++)
        if (strcmp(path, f->path) == 0) return f;
    return NULL;
}

static const char *type_of(const char *path)
{
    static const char *const types[][2] = {{".css", "text/css; charset=utf-8"},
                                           {".html", "text/html; charset=utf-8"},
                                           {".mjs", "text/javascript; charset=utf-8"},
                                           {".svg", "image/svg+xml"},
                                           {".wasm", "application/wasm"}};
    const char *end = strrchr(path, '.');
    for (size_t i = 0; end != NULL && i < sizeof types / sizeof *types; i++)
        if (strcmp(end, types[i][0]) == 0) return types[i][1];
    return "application/octet-stream";
}

static enum MHD_Result answer_facts(struct guard_ask *ask)
{
    static const struct guard_field fields[] = {
        {"Content-Security-Policy", "default-src 'none'; " NOWHERE_ELSE},
        {"Cache-Control", "no-cache"},
        {NULL, NULL}};
    const guard_manifest *m = guard_about(ask->version->g);
    struct guard_text out = {.most = 1u << 16};
    guard_text_add(
        &out,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>tamis "
        "guard</title>\n"
        "<h1>tamis guard</h1>\n<p>This tamis was built without its page, which requires clang "
        "and wasm-ld (Debian: clang lld) and TAMIS_WEB=ON.\n"
        "<p>Version %" PRIu64 ": %" PRIu64 " listed expressions of bad URLs; "
        "tamis %s.\n<ul>\n<li>filter of version %" PRIu64 ": %" PRIu64 " bytes\n<li>added since: "
        "%" PRIu64 ", %" PRIu64 " bytes\n<li>removed since: %" PRIu64 ", %" PRIu64 " bytes\n",
        m->version, m->entries, tamis_version(), m->base, m->filter.bytes, m->added, m->delta.bytes,
        m->removed, m->removal.bytes);
    guard_text_add(
        &out,
        "<li>false positives: %.2g of expressions, %.2g of pages with 8 of them\n</ul>\n<ul>\n"
        "<li><a href=\"/filter\">/filter</a>, <a href=\"/delta\">/delta</a>, "
        "<a href=\"/removed\">/removed</a>\n<li>/v1/confirm?prefix=8 hex digits\n"
        "<li><a href=\"/v1/update\">/v1/update</a>\n<li><a href=\"/metrics\">/metrics</a>, "
        "<a href=\"/healthz\">/healthz</a>\n</ul>\n</html>\n",
        m->rate, -expm1(8 * log1p(-m->rate)));
    return guard_reply(ask, MHD_HTTP_OK, type_of(".html"), &out, fields);
}

enum MHD_Result guard_answer_page(struct guard_ask *ask)
{
    /* index.html has the same policy for other servers, except for the last directive, which
     * browsers accept only as a header field. */
    static const struct guard_field fields[] = {
        {"Content-Security-Policy",
         "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; style-src 'self'; "
         "img-src 'self'; connect-src 'self'; " NOWHERE_ELSE},
        {"Cross-Origin-Resource-Policy", "same-origin"},
        {NULL, NULL}};
    const struct guard_file *f = guard_page_find(ask->path);
    if (f == NULL) return answer_facts(ask);
    const struct guard_content c = {.bytes = f->bytes,
                                    .size = f->size,
                                    .sha256 = f->sha256,
                                    .type = type_of(f->path),
                                    .cache = "no-cache",
                                    .fields = fields};
    return guard_reply_content(ask, &c);
}
