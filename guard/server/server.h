/* Declarations that the server's files share. server.c has the life cycle, routes.c and page.c
 * produce the answers, and http.c turns them into HTTP. */
#ifndef GUARD_SERVER_H
#define GUARD_SERVER_H

#include "../version/text.h"
#include "access_log.h"
#include "limits.h"
#include "live.h"
#include "metrics.h"
#include "mhd.h"
#include "proxy.h"
#include "socket.h"

/* More than any endpoint accepts. libmicrohttpd keeps 64 bytes about each parameter. */
#define GUARD_MOST_PARAMETERS 48
/* With a query. 30 prefixes with every byte escaped take 1,400 bytes. */
#define GUARD_MOST_URI 2048

struct guard_client;

struct guard_server {
    guard_service settings; /* defaults filled in */
    struct guard_live live;
    struct guard_metrics metrics;
    struct guard_limits *limits;  /* NULL if there is no limit */
    struct guard_access_log *log; /* NULL if there is none */
    struct guard_proxies proxies;
    bool metrics_beside; /* /metrics is served at the same address as the rest */
    atomic_bool stopping;
    pthread_t keeper;     /* the thread that starts and stops the others */
    pthread_mutex_t lock; /* protects `clients` and `places` */
    struct guard_client *clients;
    struct guard_places *places;
};

/* One of the addresses at which the server listens. */
struct guard_side {
    struct guard_server *server;
    bool monitoring; /* only /metrics and /healthz; no limit for clients applies */
    int fd;          /* -1 if it does not listen there */
    struct guard_socket_file file;
    struct MHD_Daemon *daemon;
};

/* What the head of a request says about the request itself. */
struct guard_head {
    const char *host; /* NULL if there is no field "Host" */
    bool body;        /* it announces a body */
    bool ambiguous;   /* two readers could disagree about where it ends or for whom it is */
};

/* What became of a request. */
struct guard_outcome {
    enum guard_endpoint at;
    unsigned status;
    uint64_t bytes; /* of the body */
};

/* One request while it is being answered, from one version. */
struct guard_ask {
    struct guard_server *server;
    struct MHD_Connection *connection;
    struct guard_published *version;
    struct guard_head fields;
    const struct sockaddr *client; /* behind trusted proxies */
    const char *path;
    enum guard_endpoint at;
    bool monitoring;
    bool is_public; /* pages of any origin may read the answer */
    bool head;
    bool long_query; /* the query was too long to be read */
    bool crowded;    /* the client has too many requests in progress */
    bool ends;       /* the connection ends with the answer, because a body may follow */
    struct guard_outcome *outcome;
};

/* --- routes.c --------------------------------------------------------------------------------- */

/* Answers a request, of which only the head has been read. MHD_NO means that this failed and the
 * connection ends. */
enum MHD_Result guard_answer_request(struct guard_ask *ask, const char *path, const char *method);

/* --- page.c ----------------------------------------------------------------------------------- */

enum MHD_Result guard_answer_page(struct guard_ask *ask);

/* --- http.c ----------------------------------------------------------------------------------- */

struct guard_field {
    const char *name, *value;
};

/* Sends the text and frees it. `fields` ends with an entry without a name; NULL stands for no
 * fields. If building the text failed, the answer is 503, because the result is unknown. */
enum MHD_Result guard_reply(struct guard_ask *ask, unsigned status, const char *type,
                            struct guard_text *text, const struct guard_field *fields);
/* Sends {"error":"reason"}. The reason must not contain anything that JSON would escape. */
enum MHD_Result guard_reply_error(struct guard_ask *ask, unsigned status, const char *reason,
                                  const struct guard_field *fields);
/* Content with an entity tag. A request may ask for a range of it. */
struct guard_content {
    const void *bytes;
    size_t size;
    const char *sha256, *type, *cache;
    const struct guard_field *fields; /* additional fields, or NULL */
    /* The bytes live as long as the version; otherwise they are static. */
    bool of_version;
};
enum MHD_Result guard_reply_content(struct guard_ask *ask, const struct guard_content *c);

/* Reads the head. If `trail` is not NULL, the fields "X-Forwarded-For" are added to it. */
struct guard_head guard_head_read(struct MHD_Connection *connection, struct guard_trail *trail);

/* Reports whether a field "Host" names this server for certain: an IP address, "localhost", a name
 * below it, or one of the given names. A page of any other name may be one whose name its owner has
 * made to resolve to this server's address, to read the answers as its own (DNS rebinding). */
bool guard_host_known(const char *field, const char *const *names, size_t n);
/* Reports whether this can be a host name, without a port. */
bool guard_host_valid(const char *name);

/* Removes a query that no endpoint accepts, because it is too long or has too many parameters, and
 * returns true if it did. libmicrohttpd sends no answer when its memory for parameters runs out, so
 * this must happen before it reads them. */
bool guard_query_cut(char *uri);

/* Reads what the field "Range" selects from `size` bytes. */
enum guard_range { GUARD_RANGE_WHOLE, GUARD_RANGE_PART, GUARD_RANGE_NONE };
enum guard_range guard_range_read(const char *field, uint64_t size, uint64_t *from, uint64_t *to);
/* Reports whether "If-None-Match" contains this tag, which includes its quotes. */
bool guard_tag_listed(const char *field, const char *tag);
/* The unescape callback of libmicrohttpd: turns %XX into bytes, except %00. No path and no
 * parameter of this server contains a NUL, and it would end the string. */
size_t guard_unescape(void *ctx, struct MHD_Connection *connection, char *text);

#endif
