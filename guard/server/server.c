/* The server's life cycle: its socket, its connections, its signals.
 *
 * Threads of libmicrohttpd answer the requests. The calling thread waits for signals and, each
 * second, looks for a new version and for clients that take too long to send the head of a request
 * or to take an answer. */
#include "server.h"

#include "../version/manifest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#define BACKLOG 511
#define LOOK_SECONDS 1
#define FRESH_MILLISECONDS 1000 /* within which a client is expected to send its first request */
/* Memory of one connection: the head of a request, what libmicrohttpd makes of it, and the head of
 * the answer. A query has up to 30 parameters of 16 bytes, each with 64 bytes of bookkeeping. A
 * browser's header fields are one or two kilobytes. */
#define CONNECTION_BYTES 8192
/* For /metrics at its own address: a few collectors, and people who look. */
#define MONITORING_CONNECTIONS 16
/* The files of two versions while one replaces the other, libmicrohttpd's own, the access log. */
#define OTHER_DESCRIPTORS 96
/* A client must take an answer at this mean rate, in bytes a second: 2 MB in eight minutes. */
#define SLOWEST_RATE 4096
/* How long a client may be silent, in milliseconds, while nine tenths of all connections are in
 * use. */
#define CROWDED_SILENCE 1000
#define RELOAD_NICE 5
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
    atomic_llong due; /* until when the answer must have been taken; 0 while there is none */
    bool admitted;    /* its requests are answered */
    bool monitoring;  /* it is one for monitoring */
    bool proxy;       /* it comes from a trusted proxy */
    uint64_t place;   /* whose place it has, see limits.h; 0 if it has none */
    struct sockaddr_in6 client; /* of the request behind the proxy; an IPv4 address as mapped */
    const struct sockaddr *peer;
    bool begun;         /* the head has been read */
    atomic_bool served; /* it has had an answer */
    bool long_query;    /* the query was cut */
    bool crowded;       /* the client behind the proxy has too many requests in progress */
    struct guard_head head;
    int64_t began; /* in microseconds, if there is a log */
    struct guard_outcome outcome;
};

/* A connection needs one of its client's places, unless it is one for monitoring or of a trusted
 * proxy; then each request takes one. Returns whether there is a place. The caller holds the
 * lock. */
static bool admit(struct guard_server *s, struct guard_client *c, bool monitoring)
{
    const uint64_t client = guard_client_of(c->peer);
    c->proxy = !monitoring && guard_proxies_trust(&s->proxies, c->peer);
    if (monitoring || c->proxy) return true;
    if (!guard_places_enter(s->places, client)) return false;
    c->place = client;
    return true;
}

static void client_came(const struct guard_side *side, struct MHD_Connection *connection,
                        void **place)
{
    struct guard_server *s = side->server;
    struct guard_client *c = calloc(1, sizeof *c);
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    const int fd = info != NULL ? info->connect_fd : -1;
    info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    *place = c;
    if (!side->monitoring) s->metrics.connections++;
    if (c == NULL) return; /* the connection's first request is then refused */
    c->fd = fd;
    c->monitoring = side->monitoring;
    c->peer = info != NULL ? info->client_addr : NULL;
    atomic_init(&c->waiting, guard_clock());
    atomic_init(&c->due, 0);
    pthread_mutex_lock(&s->lock);
    c->admitted = admit(s, c, side->monitoring);
    if (!c->admitted) {
        s->metrics.refused++;
        /* libmicrohttpd closes it; a request that has arrived already is refused */
        shutdown(fd, SHUT_RDWR);
    }
    c->next = s->clients;
    c->link = &s->clients;
    if (c->next != NULL) c->next->link = &c->next;
    s->clients = c;
    pthread_mutex_unlock(&s->lock);
}

/* libmicrohttpd closes the socket only after this call, so no other connection can have the same
 * descriptor before. */
static void client_left(const struct guard_side *side, struct guard_client *c)
{
    struct guard_server *s = side->server;
    if (!side->monitoring) s->metrics.connections--;
    if (c == NULL) return;
    pthread_mutex_lock(&s->lock);
    *c->link = c->next;
    if (c->next != NULL) c->next->link = c->link;
    if (c->place != 0) guard_places_leave(s->places, c->place);
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
 * still has the same time again.
 *
 * When nearly all connections are in use, silent ones are cut much sooner, so that a crowd of them
 * does not keep others out. Those of trusted proxies stay: a proxy keeps idle ones on purpose. So
 * do those for monitoring, which take no place from anybody. */
static void cut_slow(struct guard_server *s, int64_t now)
{
    const int64_t ordinary = 2000 * (int64_t)s->settings.timeout_seconds;
    const bool crowded = s->metrics.connections * 10 >= 9ull * s->settings.connections;
    pthread_mutex_lock(&s->lock);
    for (struct guard_client *c = s->clients; c != NULL; c = c->next) {
        const int64_t since = atomic_load(&c->waiting), due = atomic_load(&c->due);
        const bool hurry = crowded && !c->proxy && !c->monitoring;
        const int64_t silence = hurry ? CROWDED_SILENCE : ordinary;
        const int64_t end = since != 0 ? since + silence : due;
        if (end == 0 || now <= end || c->fd < 0) continue;
        shutdown(c->fd, SHUT_RDWR);
        atomic_store(&c->waiting, 0);
        atomic_store(&c->due, 0);
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

/* The client behind a trusted proxy has a place for each of its requests, because the proxy's
 * connections are those of all its clients. */
static void find_client(struct guard_server *s, struct guard_client *c,
                        const struct guard_trail *trail)
{
    c->client = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = trail->client};
    const struct sockaddr *const client =
        trail->known ? (const struct sockaddr *)&c->client : c->peer;
    const uint64_t id = guard_client_of(client);
    if (!trail->known) memset(&c->client, 0, sizeof c->client);
    pthread_mutex_lock(&s->lock);
    c->crowded = !guard_places_enter(s->places, id);
    c->place = c->crowded ? 0 : id;
    pthread_mutex_unlock(&s->lock);
}

static const struct sockaddr *client_address(const struct guard_client *c)
{
    const bool behind = c->proxy && c->client.sin6_family == AF_INET6;
    return behind ? (const struct sockaddr *)&c->client : c->peer;
}

static void begin_request(struct guard_server *s, struct guard_client *c,
                          struct MHD_Connection *connection)
{
    struct guard_trail trail = {.proxies = &s->proxies};
    c->head = guard_head_read(connection, c->proxy ? &trail : NULL);
    c->begun = true;
    c->crowded = false;
    c->outcome = (struct guard_outcome){.at = GUARD_AT_OTHER};
    if (s->log != NULL) c->began = guard_microseconds();
    atomic_store(&c->waiting, 0);
    if (!c->monitoring) s->metrics.active++;
    if (c->proxy) find_client(s, c, &trail);
}

static enum MHD_Result answer_client(const struct guard_side *side, struct guard_client *c,
                                     struct MHD_Connection *connection, const char *url,
                                     const char *method)
{
    struct guard_server *s = side->server;
    struct guard_ask ask = {.server = s,
                            .connection = connection,
                            .version = guard_live_take(&s->live),
                            .fields = c->head,
                            .client = client_address(c),
                            .at = GUARD_AT_OTHER,
                            .monitoring = side->monitoring,
                            .long_query = c->long_query,
                            .crowded = c->crowded,
                            .outcome = &c->outcome};
    const enum MHD_Result answered = guard_answer_request(&ask, url, method);
    guard_live_release(ask.version);
    atomic_store(&c->due, guard_clock() + 2000 * (int64_t)s->settings.timeout_seconds +
                              (int64_t)(c->outcome.bytes * 1000 / SLOWEST_RATE));
    return answered;
}

/* Called with the head of a request, and again when the request is complete. */
static enum MHD_Result on_request(void *ctx, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *http, const char *upload,
                                  size_t *upload_size, void **place)
{
    const struct guard_side *side = ctx;
    struct guard_client *c = client_of(connection);
    (void)http;
    (void)upload;
    if (c == NULL || !c->admitted) return MHD_NO;
    *place = c;
    if (!c->begun) {
        begin_request(side->server, c, connection);
        if (!c->head.body && !c->head.ambiguous) return MHD_YES;
    }
    if (*upload_size != 0) return MHD_NO; /* a body that the head did not announce */
    return answer_client(side, c, connection, url, method);
}

static void log_request(struct guard_server *s, const struct guard_client *c, bool complete)
{
    const struct guard_access a = {.at = c->outcome.at,
                                   .status = c->outcome.status,
                                   .bytes = c->outcome.bytes,
                                   .complete = complete,
                                   .elapsed = guard_microseconds() - c->began,
                                   .client = client_address(c)};
    guard_access_log_add(s->log, &a);
}

static void on_completed(void *ctx, struct MHD_Connection *connection, void **place,
                         enum MHD_RequestTerminationCode how)
{
    const struct guard_side *side = ctx;
    struct guard_server *s = side->server;
    struct guard_client *c = *place;
    const bool complete = how == MHD_REQUEST_TERMINATED_COMPLETED_OK;
    (void)connection;
    if (c == NULL || !c->begun) return;
    if (complete) s->metrics.sent += c->outcome.bytes;
    if (s->log != NULL && !side->monitoring && c->outcome.status != 0) log_request(s, c, complete);
    if (c->proxy && c->place != 0) {
        pthread_mutex_lock(&s->lock);
        guard_places_leave(s->places, c->place);
        c->place = 0;
        pthread_mutex_unlock(&s->lock);
    }
    c->begun = false;
    atomic_store(&c->served, true);
    atomic_store(&c->due, 0);
    atomic_store(&c->waiting, guard_clock());
    if (!c->monitoring) s->metrics.active--;
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

/* Sets the port to the one that was got, or 0 for a Unix socket. */
static bool listen_at(struct guard_side *side, const char *text, uint16_t *port, guard_error *why)
{
    union address a;
    const int yes = 1, no = 0;
    if (guard_is_socket_path(text)) {
        *port = 0;
        side->fd = guard_listen_unix(text, BACKLOG, &side->file, why);
        return side->fd >= 0;
    }
    if (!address_from(text, *port, &a)) return guard_fail(why, "'%s' is not an IP address", text);
    socklen_t size = a.any.sa_family == AF_INET ? sizeof a.v4 : sizeof a.v6;
    const int fd = socket(a.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    bool good = fd >= 0 && setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes) == 0;
    if (good && a.any.sa_family == AF_INET6) /* "::" accepts IPv4 connections as well */
        good = setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &no, sizeof no) == 0;
    good = good && bind(fd, &a.any, size) == 0 && listen(fd, BACKLOG) == 0 &&
           getsockname(fd, &a.any, &size) == 0;
    if (good) {
        *port = ntohs(a.any.sa_family == AF_INET ? a.v4.sin_port : a.v6.sin6_port);
        side->fd = fd;
        return true;
    }
    guard_fail(why, "cannot listen at %s, port %u: %s", text, (unsigned)*port, strerror(errno));
    if (fd >= 0) close(fd);
    return false;
}

/* Every connection needs a descriptor. Where the process may not have enough, there are fewer
 * connections: otherwise a crowd of clients would take those that a new version needs, and
 * libmicrohttpd would spin in a thread that can accept none. */
static bool fit_descriptors(guard_service *v, guard_error *why)
{
    struct rlimit l;
    const rlim_t others = OTHER_DESCRIPTORS + MONITORING_CONNECTIONS + 4 * (rlim_t)v->threads;
    const rlim_t wanted = v->connections + others;
    if (getrlimit(RLIMIT_NOFILE, &l) != 0 || l.rlim_cur >= wanted) return true;
    const rlim_t before = l.rlim_cur;
    l.rlim_cur = wanted < l.rlim_max ? wanted : l.rlim_max;
    if (setrlimit(RLIMIT_NOFILE, &l) != 0) l.rlim_cur = before;
    if (l.rlim_cur >= wanted) return true;
    if (l.rlim_cur < others + v->threads)
        return guard_fail(why, "the process may open only %llu files, and needs more than %llu",
                          (unsigned long long)l.rlim_cur,
                          (unsigned long long)(others + v->threads));
    v->connections = (unsigned)(l.rlim_cur - others);
    fprintf(stderr, "tamis: at most %u connections, because the process may open only %llu files\n",
            v->connections, (unsigned long long)l.rlim_cur);
    return true;
}

static bool start(struct guard_side *side, guard_error *why)
{
    struct guard_server *s = side->server;
    const guard_service *v = &s->settings;
    const struct MHD_OptionItem options[] = {
        {MHD_OPTION_LISTEN_SOCKET, side->fd, NULL},
        {MHD_OPTION_THREAD_POOL_SIZE, v->threads > 1 && !side->monitoring ? v->threads : 0, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, side->monitoring ? MONITORING_CONNECTIONS : v->connections,
         NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, v->timeout_seconds, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, side},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, side},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_target, NULL},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)guard_unescape, NULL},
        {MHD_OPTION_END, 0, NULL}};
    side->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL,
                                    on_request, side, MHD_OPTION_ARRAY, options, MHD_OPTION_END);
    if (side->daemon != NULL) return true;
    side->fd = -1; /* libmicrohttpd has closed it, except after its first checks */
    return guard_fail(why, "cannot start the threads of the server");
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
        if (arrived == SIGHUP && s->log != NULL) guard_access_log_reopen(s->log);
        guard_live_look(&s->live, guard_clock(), arrived == SIGHUP);
        cut_slow(s, guard_clock());
    }
}

/* Whether a request is being answered, or a client that has just come has not sent one yet. Such a
 * client cannot know that the server is about to end, so its first request is answered, too.
 * Nobody waits for monitoring: its address still accepts connections, so they may never end. */
static bool is_awaited(struct guard_server *s)
{
    const int64_t since = guard_clock() - FRESH_MILLISECONDS;
    bool awaited = s->metrics.active != 0;
    pthread_mutex_lock(&s->lock);
    for (struct guard_client *c = s->clients; c != NULL && !awaited; c = c->next)
        awaited = c->admitted && !c->monitoring && !atomic_load(&c->served) &&
                  atomic_load(&c->waiting) > since;
    pthread_mutex_unlock(&s->lock);
    return awaited;
}

/* libmicrohttpd calls this where it cannot go on, and does not expect it to return. There is one
 * such case that is nobody's mistake: a thread that has just reached its limit of connections
 * removes the listening socket from its epoll set, and stop_accepting was faster. Then only this
 * thread ends, and the others answer their requests; the server waits for the requests of this one
 * as for those of clients that are too slow. */
static void on_panic(void *ctx, const char *file, unsigned line, const char *reason)
{
    const struct guard_server *s = ctx;
    const char *const text = reason != NULL ? reason : "";
    const bool one = atomic_load(&s->stopping) && !pthread_equal(pthread_self(), s->keeper);
    fprintf(stderr, "tamis: libmicrohttpd %s: %s:%u: %.*s\n",
            one ? "ended one of the threads, whose clients get no more answers" : "failed", file,
            line, (int)strcspn(text, "\n"), text);
    if (one) pthread_exit(NULL);
    abort();
}

/* From now on accept fails, because another socket has the number of the listening one. If that is
 * the one of systemd, connections wait there for the next server; otherwise it is closed.
 * (MHD_quiesce_daemon aborts the program now and then: in libmicrohttpd 0.9.75 it and a thread may
 * both remove the socket from an epoll set.)
 *
 * The epoll sets of the threads still have a socket that systemd keeps open. So while connections
 * wait there, the threads wake up for them in vain, and use the processor until the server ends. */
static void stop_accepting(int fd)
{
    const int other = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (other < 0) return; /* connections are accepted until the server ends */
    dup3(other, fd, O_CLOEXEC);
    close(other);
}

/* Accepts no new connections. Requests that have been received are answered first, unless their
 * clients are slower than the time limit for silence or a second signal arrives. */
static void stop(struct guard_server *s, struct guard_side *main_side)
{
    const sigset_t ending = endings();
    const int64_t end = guard_clock() + 1000 * (int64_t)s->settings.timeout_seconds;
    atomic_store(&s->stopping, true);
    guard_socket_file_remove(&main_side->file);
    stop_accepting(main_side->fd);
    while (!wait_signal(&ending, 20) && is_awaited(s) && guard_clock() <= end) continue;
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

/* Checks the host names and reads the proxies. */
static bool read_settings(struct guard_server *s, guard_error *why)
{
    const guard_service *v = &s->settings;
    for (size_t i = 0; i < v->n_host_names; i++)
        if (!guard_host_valid(v->host_names[i]))
            return guard_fail(
                why, "'%.80s' is not a host name; give it without a scheme and without a port",
                v->host_names[i]);
    for (size_t i = 0; i < v->n_proxies; i++) {
        const char *const wrong = guard_proxies_add(&s->proxies, v->proxies[i]);
        if (wrong != NULL)
            return guard_fail(why, "--trust-proxy '%.80s': %s", v->proxies[i], wrong);
    }
    return true;
}

/* Listens for monitoring, if that has an address of its own. */
static bool listen_monitoring(struct guard_side *side, uint16_t *port, guard_error *why)
{
    const char *const text = side->server->settings.metrics_address;
    struct guard_endpoint_text to;
    *port = 0;
    if (text == NULL) return true;
    if (guard_is_socket_path(text)) return listen_at(side, text, port, why);
    if (!guard_split_port(text, &to))
        return guard_fail(why,
                          "--metrics-address '%.80s': it must be ADDRESS:PORT, [ADDRESS]:PORT or "
                          "the path of a Unix socket",
                          text);
    *port = to.port;
    return listen_at(side, to.address, port, why);
}

static void close_side(struct guard_side *side)
{
    guard_socket_file_remove(&side->file);
    if (side->fd < 0) return;
    if (side->daemon != NULL)
        MHD_stop_daemon(side->daemon); /* closes the socket */
    else
        close(side->fd);
}

static bool run(struct guard_server *s, const sigset_t *set, guard_error *why)
{
    struct guard_side all = {.server = s, .fd = s->settings.socket != 0 ? s->settings.socket : -1};
    struct guard_side figures = {.server = s, .fd = -1, .monitoring = true};
    uint16_t port = s->settings.port, metrics_port;
    const char *missing = guard_mhd_load();
    if (missing != NULL) return guard_fail(why, "libmicrohttpd cannot be loaded: %s", missing);
    s->keeper = pthread_self();
    MHD_set_panic_func(on_panic, s);
    const bool listens = all.fd >= 0 || listen_at(&all, s->settings.address, &port, why);
    s->metrics_beside = s->settings.metrics_address == NULL && s->settings.n_proxies == 0 &&
                        guard_is_loopback(all.fd);
    const bool good = listens && listen_monitoring(&figures, &metrics_port, why) &&
                      (figures.fd < 0 || start(&figures, why)) && start(&all, why);
    if (good) {
        /* This thread loads new versions. On a busy machine, answers come first. On Linux, only the
         * calling thread changes. */
        const int before = getpriority(PRIO_PROCESS, 0);
        setpriority(PRIO_PROCESS, 0, before + RELOAD_NICE);
        if (s->settings.ready != NULL) s->settings.ready(s->settings.ctx, port, metrics_port);
        serve(s, set);
        stop(s, &all);
    }
    close_side(&all);
    close_side(&figures);
    return good;
}

static bool prepare(struct guard_server *s, guard_error *why)
{
    const guard_service *v = &s->settings;
    if (!fit_descriptors(&s->settings, why) || !read_settings(s, why) ||
        !guard_live_start(&s->live, v->directory, v->trust, why))
        return false;
    s->metrics.most_connections = v->connections;
    s->places = guard_places_new(v->connections, v->per_address);
    if (s->places == NULL) return guard_fail(why, "not enough memory");
    if (v->requests_per_second != 0) {
        s->limits = guard_limits_new(v->requests_per_second);
        if (s->limits == NULL) return guard_fail(why, "not enough memory");
    }
    if (v->access_log == NULL) return true;
    s->log = guard_access_log_open(v->access_log, v->log_clients, &s->metrics, why);
    return s->log != NULL;
}

/* The threads inherit the signal mask, so every signal reaches the thread that waits for it. */
bool guard_serve(const guard_service *service, guard_error *why)
{
    struct guard_server *s = calloc(1, sizeof *s);
    sigset_t set;
    struct sigaction ignore = {.sa_handler = SIG_IGN}, pipes, sizes;
    if (s == NULL) return guard_fail(why, "not enough memory");
    s->settings = *service;
    set_defaults(&s->settings);
    s->metrics.started = guard_clock();
    pthread_mutex_init(&s->lock, NULL);
    set = endings();
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    sigaction(SIGPIPE, &ignore, &pipes);
    sigaction(SIGXFSZ, &ignore, &sizes); /* a log that may not grow is an error, not the end */
    const bool good = prepare(s, why) && run(s, &set, why);
    guard_access_log_close(s->log);
    guard_live_end(&s->live);
    guard_limits_free(s->limits);
    guard_places_free(s->places);
    pthread_mutex_destroy(&s->lock);
    free(s);
    sigaction(SIGPIPE, &pipes, NULL);
    sigaction(SIGXFSZ, &sizes, NULL);
    return good;
}
