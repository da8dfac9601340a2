/* What the files of the server share. server.c lives, routes.c and page.c answer, http.c says it in
 * HTTP. */
#ifndef GUARD_SERVER_H
#define GUARD_SERVER_H

#include "../version/text.h"
#include "limits.h"
#include "live.h"
#include "metrics.h"
#include "mhd.h"

struct guard_client;

struct guard_server {
    guard_service settings; /* with its defaults filled in */
    struct guard_live live;
    struct guard_metrics metrics;
    struct guard_limits *limits; /* NULL: none */
    atomic_bool stopping;
    pthread_mutex_t lock; /* of clients */
    struct guard_client *clients;
};

/* One request while it is being answered, from one version. */
struct guard_ask {
    struct guard_server *server;
    struct MHD_Connection *connection;
    struct guard_published *version;
    const char *path;
    enum guard_endpoint at;
    bool is_public; /* any page may read the answer */
    bool head;
    uint64_t *sent; /* where to put the size of the body */
};

/* --- routes.c --------------------------------------------------------------------------------- */

/* Answers a request that has no body. MHD_NO: it could not, and the connection ends. */
enum MHD_Result guard_answer_request(struct guard_ask *ask, const char *path, const char *method);

/* --- page.c ----------------------------------------------------------------------------------- */

enum MHD_Result guard_answer_page(struct guard_ask *ask);

/* --- http.c ----------------------------------------------------------------------------------- */

struct guard_field {
    const char *name, *value;
};

/* Sends the text, which it frees; with these fields, the last of which has no name (NULL: none). A
 * text that failed is a doubt: 503. */
enum MHD_Result guard_reply(struct guard_ask *ask, unsigned status, const char *type,
                            struct guard_text *text, const struct guard_field *fields);
/* {"error":"reason"}; the reason has nothing that JSON would escape. */
enum MHD_Result guard_reply_error(struct guard_ask *ask, unsigned status, const char *reason,
                                  const struct guard_field *fields);
/* Bytes under a tag, or the range of them that was asked for. */
struct guard_content {
    const void *bytes;
    size_t size;
    const char *sha256, *type, *cache;
    const struct guard_field *fields; /* more of them; NULL: none */
    bool of_version;                  /* the bytes live as long as the version, else for ever */
};
enum MHD_Result guard_reply_content(struct guard_ask *ask, const struct guard_content *c);

/* What "Range" asks of so many bytes. */
enum guard_range { GUARD_RANGE_WHOLE, GUARD_RANGE_PART, GUARD_RANGE_NONE };
enum guard_range guard_range_read(const char *field, uint64_t size, uint64_t *from, uint64_t *to);
/* Whether "If-None-Match" has this tag, which is quoted. */
bool guard_tag_listed(const char *field, const char *tag);
/* For MHD: %XX to bytes, but for %00, which no path and no parameter of ours has and which would
 * end a string. */
size_t guard_unescape(void *ctx, struct MHD_Connection *connection, char *text);

#endif
