/* The server's life cycle: its socket, its connections, its signals.
 *
 * Threads of libmicrohttpd answer the requests. The calling thread waits for signals and, each
 * second, looks for a new version and for clients that take too long to send the head of a request.
 * Requests are not logged, so that there is no record of who asked about what. */
#include "server.h"

#include "../version/manifest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BACKLOG 511
#define LOOK_SECONDS 1
/* Memory of one connection: the head of a request, what libmicrohttpd makes of it, and the head of
 * the answer. A query has up to 30 parameters of 16 bytes, each with 64 bytes of bookkeeping. A
 * browser's header fields are one or two kilobytes. */
#define CONNECTION_BYTES 8192
union address {
    struct sockaddr any;
    struct sockaddr_in v4;
    struct sockaddr_in6 v6;
};

/* --- Connections ------------------------------------------------------------------------------ */

struct guard_client {
    struct guard_client *next, **link;
    int fd;
    /* Since when the head of a request is awaited; 0 while a request is being answered. */
    atomic_llong waiting;
    uint64_t client; /* whose place it has, see limits.h; 0 if there was none */
    bool begun;      /* the head has been read */
    bool long_query; /* the query was cut */
    uint64_t sent;   /* size of the answer's body */
};

static void client_came(struct guard_server *s, struct MHD_Connection *connection, void **place)
{
    struct guard_client *c = calloc(1, sizeof *c);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int fd = info != NULL ? info->connect_fd : -1;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    const uint64_t client = guard_client_of(info != NULL ? info->client_addr : NULL);
    *place = c;
    s->metrics.connections++;
    if (c == NULL) return; /* the connection's first request is then refused */
    c->fd = fd;
    atomic_init(&c->waiting, guard_clock());
    pthread_mutex_lock(&s->lock);
    if (guard_places_enter(s->places, client))
        c->client = client;
    else /* libmicrohttpd closes it; a request that has arrived already is refused */
        shutdown(fd, SHUT_RDWR);
    c->next = s->clients;
    c->link = &s->clients;
    if (c->next != NULL) c->next->link = &c->next;
    s->clients = c;
    pthread_mutex_unlock(&s->lock);
}

/* libmicrohttpd closes the socket only after this call, so no other connection can have the same
 * descriptor before. */
static void client_left(struct guard_server *s, struct guard_client *c)
{
    s->metrics.connections--;
    if (c == NULL) return;
    pthread_mutex_lock(&s->lock);
    *c->link = c->next;
    if (c->next != NULL) c->next->link = c->link;
    if (c->client != 0) guard_places_leave(s->places, c->client);
    pthread_mutex_unlock(&s->lock);
    free(c);
}

static void on_connection(void *ctx, struct MHD_Connection *connection, void **place,
                          enum MHD_ConnectionNotificationCode what)
{
    if (what == MHD_CONNECTION_NOTIFY_STARTED)
        client_came(ctx, connection, place);
    else
        client_left(ctx, *place);
}

/* A client that sends a byte now and then never counts as idle. So the whole head must arrive in
 * twice the time that a connection may be silent. A client that was silent for as long as it may be
 * still has the same time again. */
static void cut_slow(struct guard_server *s, int64_t now)
{
    const int64_t before = now - 2000 * (int64_t)s->settings.timeout_seconds;
    pthread_mutex_lock(&s->lock);
    for (struct guard_client *c = s->clients; c != NULL; c = c->next) {
        const int64_t since = atomic_load(&c->waiting);
        if (since == 0 || since >= before || c->fd < 0) continue;
        shutdown(c->fd, SHUT_RDWR);
        atomic_store(&c->waiting, 0);
        s->metrics.slow++;
    }
    pthread_mutex_unlock(&s->lock);
}

/* --- Requests --------------------------------------------------------------------------------- */

static struct guard_client *client_of(struct MHD_Connection *connection)
{
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info != NULL ? info->socket_context : NULL;
}

/* Called with the target of a request before it is taken apart. The text is libmicrohttpd's buffer,
 * which it changes itself right after this call. */
static void *on_target(void *ctx, const char *uri, struct MHD_Connection *connection)
{
    struct guard_client *c = client_of(connection);
    (void)ctx;
    if (c != NULL) c->long_query = uri != NULL && guard_query_cut((char *)uri);
    return c;
}

/* Called with the head of a request, and again when the request is complete. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *http, const char *upload,
                                  size_t *upload_size, void **place)
{
    struct guard_server *s = ctx;
    struct guard_client *c = client_of(connection);
    (void)http;
    (void)upload;
    if (c == NULL || c->client == 0) return MHD_NO;
    *place = c;
    if (!c->begun) {
        const struct guard_head head = guard_head_read(connection);
        c->begun = true;
        c->sent = 0;
        atomic_store(&c->waiting, 0);
        s->metrics.active++;
        if (!head.body && !head.ambiguous) return MHD_YES;
    }
    if (*upload_size != 0) return MHD_NO; /* a body that the head did not announce */
    struct guard_ask ask = {.server = s,
                            .connection = connection,
                            .version = guard_live_take(&s->live),
                            .at = GUARD_AT_OTHER,
                            .long_query = c->long_query,
                            .sent = &c->sent};
    const enum MHD_Result answered = guard_answer_request(&ask, url, method);
    guard_live_release(ask.version);
    return answered;
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **place,
                         enum MHD_RequestTerminationCode how)
{
    struct guard_server *s = ctx;
    struct guard_client *c = *place;
    (void)connection;
    if (c == NULL || !c->begun) return;
    if (how == MHD_REQUEST_TERMINATED_COMPLETED_OK) s->metrics.sent += c->sent;
    c->begun = false;
    atomic_store(&c->waiting, guard_clock());
    s->metrics.active--;
}

/* --- Listening -------------------------------------------------------------------------------- */

static bool address_from(const char *text, uint16_t port, union address *out)
{
    memset(out, 0, sizeof *out);
    if (inet_pton(AF_INET, text, &out->v4.sin_addr) == 1) {
        out->v4.sin_family = AF_INET;
        out->v4.sin_port = htons(port);
        return true;
    }
    out->v6.sin6_family = AF_INET6;
    out->v6.sin6_port = htons(port);
    return inet_pton(AF_INET6, text, &out->v6.sin6_addr) == 1;
}

/* Returns the listening socket and its port in *got, or -1 after a failure. */
static int listen_at(const char *text, uint16_t port, uint16_t *got, guard_error *why)
{
    union address a;
    const int yes = 1, no = 0;
    if (!address_from(text, port, &a)) {
        guard_fail(why, "'%s' is not an IP address", text);
        return -1;
    }
    socklen_t size = a.any.sa_family == AF_INET ? sizeof a.v4 : sizeof a.v6;
    const int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool good = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0;
    if (good && a.any.sa_family == AF_INET6) /* "::" accepts IPv4 connections as well */
        good = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0;
    good = good && bind(fd, &a.any, size) == 0 && listen(fd, BACKLOG) == 0 &&
           getsockname(fd, &a.any, &size) == 0;
    if (good) {
        *got = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
        return fd;
    }
    guard_fail(why, "cannot listen at %s, port %u: %s", text, (unsigned)port, strerror(errno));
    if (fd >= 0) close(fd);
    return -1;
}

/* Every connection needs a descriptor; the files of two versions and libmicrohttpd itself need a
 * few more. */
static void raise_descriptors(unsigned connections)
{
    struct rlimit l;
    const rlim_t wanted = (rlim_t)connections + 128;
    if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur >= wanted) return;
    l.rlim_cur = wanted < l.rlim_max ? wanted : l.rlim_max;
    setrlimit(RLIMIT_NOFILE, &l); /* if it fails, fewer connections are possible at once */
}

static struct MHD_Daemon *start(struct guard_server *s, int fd)
{
    const guard_service *v = &s->settings;
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, fd, NULL},
        {MHD_OPTION_THREAD_POOL_SIZE, v->threads > 1 ? v->threads : 0, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, v->connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, v->timeout_seconds, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, s},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, s},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_target, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)guard_unescape, NULL},
        {MHD_OPTION_END, 0, NULL}};
    return MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, on_request,
                            s, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

/* --- Life cycle ------------------------------------------------------------------------------- */

/* Waits for one of these signals up to this time. Returns false if none arrived. */
static bool wait_signal(const sigset_t *set, long milliseconds)
{
    const struct timespec t = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    return sigtimedwait(set, NULL, &t) > 0;
}

/* The signals that end the server. */
static sigset_t endings(void)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    return set;
}

/* When several signals are pending, the system delivers the one with the lowest number, SIGHUP. So
 * this looks for the others before each reload; otherwise a stream of SIGHUPs would hide them.
 * SIGHUPs that arrive during a reload cause one more. */
static void serve(struct guard_server *s, const sigset_t *all)
{
    const sigset_t ending = endings();
    for (;;) {
        const struct timespec t = {LOOK_SECONDS, 0};
        const int arrived = sigtimedwait(all, NULL, &t);
        if (arrived == SIGTERM || arrived == SIGINT || wait_signal(&ending, 0)) return;
        guard_live_look(&s->live, guard_clock(), arrived == SIGHUP);
        cut_slow(s, guard_clock());
    }
}

/* Accepts no new connections. Requests that have been received are answered first, unless their
 * clients are slower than the time limit for silence or a second signal arrives. */
static void stop(struct guard_server *s, struct MHD_Daemon *daemon)
{
    const sigset_t ending = endings();
    const int64_t end = guard_clock() + 1000 * (int64_t)s->settings.timeout_seconds;
    atomic_store(&s->stopping, true);
    MHD_quiesce_daemon(daemon);
    while (!wait_signal(&ending, 20) && s->metrics.active != 0 && guard_clock() <= end) continue;
    MHD_stop_daemon(daemon);
}

static void set_defaults(guard_service *v)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    if (v->address == NULL) v->address = "127.0.0.1";
    if (v->cache_seconds == 0) v->cache_seconds = 300;
    if (v->connections == 0) v->connections = 1000;
    if (v->per_address == 0) v->per_address = 64;
    if (v->timeout_seconds == 0) v->timeout_seconds = 10;
    if (v->threads == 0) v->threads = processors > 0 ? (unsigned)processors : 1;
    /* The limit is divided among the threads. */
    if (v->threads > v->connections) v->threads = v->connections;
}

static bool has_host_names(const guard_service *v, guard_error *why)
{
    for (size_t i = 0; i < v->n_host_names; i++)
        if (!guard_host_valid(v->host_names[i]))
            return guard_fail(
                why, "'%.80s' is not a host name; give it without a scheme and without a port",
                v->host_names[i]);
    return true;
}

static bool run(struct guard_server *s, const sigset_t *set, guard_error *why)
{
    uint16_t port;
    const char *missing = guard_mhd_load();
    if (missing != NULL) return guard_fail(why, "libmicrohttpd cannot be loaded: %s", missing);
    const int fd = listen_at(s->settings.address, s->settings.port, &port, why);
    if (fd < 0) return false;
    struct MHD_Daemon *daemon = start(s, fd);
    if (daemon == NULL) {
        guard_fail(why, "cannot start the threads of the server");
    } else {
        if (s->settings.ready != NULL) s->settings.ready(s->settings.ctx, port);
        serve(s, set);
        stop(s, daemon);
    }
    close(fd);
    return daemon != NULL;
}

/* The threads inherit the signal mask, so every signal reaches the thread that waits for it. */
bool guard_serve(const guard_service *service, guard_error *why)
{
    struct guard_server *s = calloc(1, sizeof *s);
    sigset_t set;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, pipes;
    if (s == NULL) return guard_fail(why, "not enough memory");
    s->settings = *service;
    set_defaults(&s->settings);
    s->metrics.started = guard_clock();
    pthread_mutex_init(&s->lock, NULL);
    set = endings();
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGPIPE, &ignore, &pipes);
    raise_descriptors(s->settings.connections);
    bool good =
        has_host_names(&s->settings, why) && guard_live_start(&s->live, s->settings.directory, why);
    if (good) {
        s->places = guard_places_new(s->settings.connections, s->settings.per_address);
        if (s->places == NULL) good = guard_fail(why, "not enough memory");
    }
    if (good && s->settings.requests_per_second != 0) {
        s->limits = guard_limits_new(s->settings.requests_per_second);
        if (s->limits == NULL) good = guard_fail(why, "not enough memory");
    }
    good = good && run(s, &set, why);
    guard_live_end(&s->live);
    guard_limits_free(s->limits);
    guard_places_free(s->places);
    pthread_mutex_destroy(&s->lock);
    free(s);
    sigaction(SIGPIPE, &pipes, NULL);
    return good;
}
