/* Requests add their lines to a buffer in memory, and one thread writes the buffer to the file. So
 * a slow disk or a reader that has stopped reading costs lines, which are counted, and no request
 * waits for it. */
#include "access_log.h"

#include "../version/manifest.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* A line has about 60 bytes, so this is more than a second of lines at 50,000 requests a second.
 * The writer empties the buffer ten times a second, or when it is half full. */
#define BUFFER_BYTES (4u << 20)
#define WRITE_MS 100
#define LAST_WRITE_MS 1000
/* A pipe that is ready for writing takes as much without waiting. */
#define PIECE 4096u

struct guard_access_log {
    const char *path;
    enum guard_log_clients clients;
    struct guard_metrics *metrics;
    pthread_t writer;
    atomic_llong give_up; /* when to stop waiting for the file; 0 while the server runs */
    pthread_mutex_t lock; /* protects the following */
    pthread_cond_t wake;
    char *filling;
    size_t filled;
    bool reopen, ending;
    /* Used only by the thread that writes: */
    char *writing;
    int fd;
    int said;  /* the last error that was printed, so that each is printed once */
    bool torn; /* the file ends within a line */
};

/* --- Lines ------------------------------------------------------------------------------------ */

/* Writes the client's address: IPv4 addresses that arrive as IPv6 ones as themselves. Without
 * `whole`, only its first 24 bits (IPv4) or 48 bits (IPv6), the others being zero. */
static void put_client(char *to, size_t room, const struct sockaddr *client, bool whole)
{
    uint8_t bytes[16] = {0};
    int family = client != NULL ? client->sa_family : AF_UNSPEC;
    if (family == AF_INET) {
        memcpy(bytes, &((const struct sockaddr_in *)(const void *)client)->sin_addr, 4);
    } else if (family == AF_INET6) {
        const struct in6_addr *a = &((const struct sockaddr_in6 *)(const void *)client)->sin6_addr;
        const bool mapped = IN6_IS_ADDR_V4MAPPED(a);
        memcpy(bytes, a->s6_addr + (mapped ? 12 : 0), mapped ? 4 : 16);
        family = mapped ? AF_INET : AF_INET6;
    }
    const size_t kept = family == AF_INET ? 3 : 6;
    if (!whole) memset(bytes + kept, 0, sizeof bytes - kept);
    const char *const other = family == AF_UNIX ? "unix" : "-";
    const bool known = family == AF_INET || family == AF_INET6;
    if (!known || inet_ntop(family, bytes, to, (socklen_t)room) == NULL)
        snprintf(to, room, "%s", other);
    else if (!whole)
        snprintf(to + strlen(to), room - strlen(to), "/%d", family == AF_INET ? 24 : 48);
}

size_t guard_access_line(char line[GUARD_ACCESS_LINE], int64_t ms, enum guard_log_clients clients,
                         const struct guard_access *a)
{
    char time_text[32], bytes[24] = "-", client[INET6_ADDRSTRLEN + 8] = "";
    const time_t seconds = (time_t)(ms / 1000);
    struct tm t;
    gmtime_r(&seconds, &t);
    strftime(time_text, sizeof time_text, "%Y-%m-%dT%H:%M:%S", &t);
    if (a->complete) snprintf(bytes, sizeof bytes, "%" PRIu64, a->bytes);
    if (clients != GUARD_LOG_NO_CLIENTS) {
        client[0] = ' ';
        put_client(client + 1, sizeof client - 1, a->client, clients == GUARD_LOG_ADDRESSES);
    }
    const int n = snprintf(line, GUARD_ACCESS_LINE, "%s.%03dZ %s %u %s %" PRId64 ".%06d%s\n",
                           time_text, (int)(ms % 1000), guard_endpoint_name(a->at), a->status,
                           bytes, a->elapsed / 1000000, (int)(a->elapsed % 1000000), client);
    return n > 0 && n < GUARD_ACCESS_LINE ? (size_t)n : 0;
}

void guard_access_log_add(struct guard_access_log *log, const struct guard_access *a)
{
    char line[GUARD_ACCESS_LINE];
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    const size_t n = guard_access_line(line, (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000,
                                       log->clients, a);
    pthread_mutex_lock(&log->lock);
    const bool fits = log->filled + n <= BUFFER_BYTES;
    const bool was_low = log->filled < BUFFER_BYTES / 2;
    if (fits) {
        memcpy(log->filling + log->filled, line, n);
        log->filled += n;
        if (was_low && log->filled >= BUFFER_BYTES / 2) pthread_cond_signal(&log->wake);
    }
    pthread_mutex_unlock(&log->lock);
    if (!fits) log->metrics->log_lost++;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static bool is_standard_output(const struct guard_access_log *log)
{
    return strcmp(log->path, "-") == 0;
}

static void complain_once(struct guard_access_log *log, const char *what, int error)
{
    log->metrics->log_errors++;
    if (log->said == error) return;
    log->said = error;
    fprintf(stderr, "tamis: the access log %s: %s: %s\n", log->path, what, strerror(error));
}

/* Opens the file for appending, without waiting for the reader of a pipe. */
static int open_log(const char *path)
{
    if (strcmp(path, "-") == 0) return STDOUT_FILENO;
    return open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC | O_NOCTTY | O_NONBLOCK, 0640);
}

/* Waits until a pipe or terminal takes more; a regular file always does. Returns false if it is
 * time to give up. */
static bool wait_writable(const struct guard_access_log *log)
{
    struct pollfd p = {.fd = log->fd, .events = POLLOUT};
    for (;;) {
        if (poll(&p, 1, WRITE_MS) > 0) return true; /* an error is found by the next write */
        const int64_t give_up = atomic_load(&log->give_up);
        if (give_up != 0 && guard_clock() >= give_up) return false;
    }
}

static size_t count_lost(const char *from, size_t n)
{
    size_t lines = 0;
    for (const char *p = from, *end = from + n; (p = memchr(p, '\n', (size_t)(end - p))) != NULL;
         p++)
        lines++;
    return lines;
}

/* Writes all of it, or returns how much was written before errno. */
static size_t write_some(struct guard_access_log *log, const char *from, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const size_t rest = n - done;
        ssize_t put = -1;
        errno = ETIMEDOUT;
        if (wait_writable(log)) put = write(log->fd, from + done, rest < PIECE ? rest : PIECE);
        if (put < 0 && (errno == EINTR || errno == EAGAIN)) continue;
        if (put < 0) break;
        done += (size_t)put;
        log->torn = from[done - 1] != '\n';
    }
    return done;
}

/* Writes what was collected. After an error the rest of it is lost, and the next lines are tried
 * again: the disk may have room by then. */
static void write_lines(struct guard_access_log *log, const char *from, size_t n)
{
    if (n == 0) return;
    const size_t done = log->torn && write_some(log, "\n", 1) == 0 ? 0 : write_some(log, from, n);
    if (done == n) {
        log->said = 0;
        return;
    }
    complain_once(log, "lines are lost", errno);
    log->metrics->log_lost += count_lost(from + done, n - done);
}

static bool is_same_file(int a, int b)
{
    struct stat s, t;
    return fstat(a, &s) == 0 && fstat(b, &t) == 0 && s.st_dev == t.st_dev && s.st_ino == t.st_ino;
}

static void open_again(struct guard_access_log *log)
{
    if (is_standard_output(log)) return;
    const int fd = open_log(log->path);
    if (fd < 0) {
        complain_once(log, "it cannot be opened again, so the old file stays in use", errno);
        return;
    }
    if (!is_same_file(log->fd, fd)) log->torn = false;
    close(log->fd);
    log->fd = fd;
}

/* Waits for a part of a second, or until the buffer is half full, or for a request to the thread.
 * The caller holds the lock. */
static void wait_for_lines(struct guard_access_log *log)
{
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_nsec += WRITE_MS * 1000000L;
    if (end.tv_nsec >= 1000000000L) {
        end.tv_nsec -= 1000000000L;
        end.tv_sec++;
    }
    int late = 0;
    while (late == 0 && !log->reopen && !log->ending && log->filled < BUFFER_BYTES / 2)
        late = pthread_cond_timedwait(&log->wake, &log->lock, &end);
}

static void *write_log(void *ctx)
{
    struct guard_access_log *log = ctx;
    bool ending = false;
    while (!ending) {
        pthread_mutex_lock(&log->lock);
        wait_for_lines(log);
        char *const lines = log->filling;
        const size_t n = log->filled;
        const bool reopen = log->reopen;
        ending = log->ending;
        log->filling = log->writing;
        log->writing = lines;
        log->filled = 0;
        log->reopen = false;
        pthread_mutex_unlock(&log->lock);
        write_lines(log, lines, n);
        if (reopen) open_again(log);
    }
    return NULL;
}

/* --- Life ------------------------------------------------------------------------------------- */

static void tell_writer(struct guard_access_log *log, bool *what)
{
    pthread_mutex_lock(&log->lock);
    *what = true;
    pthread_cond_signal(&log->wake);
    pthread_mutex_unlock(&log->lock);
}

void guard_access_log_reopen(struct guard_access_log *log)
{
    tell_writer(log, &log->reopen);
}

static void free_log(struct guard_access_log *log)
{
    if (log->fd >= 0 && !is_standard_output(log)) close(log->fd);
    free(log->filling);
    free(log->writing);
    pthread_cond_destroy(&log->wake);
    pthread_mutex_destroy(&log->lock);
    free(log);
}

struct guard_access_log *guard_access_log_open(const char *path, enum guard_log_clients clients,
                                               struct guard_metrics *m, guard_error *why)
{
    struct guard_access_log *log = calloc(1, sizeof *log);
    pthread_condattr_t clock;
    if (log == NULL) {
        guard_fail(why, "not enough memory");
        return NULL;
    }
    *log = (struct guard_access_log){.path = path, .clients = clients, .metrics = m, .fd = -1};
    atomic_init(&log->give_up, 0);
    pthread_mutex_init(&log->lock, NULL);
    pthread_condattr_init(&clock);
    pthread_condattr_setclock(&clock, CLOCK_MONOTONIC);
    pthread_cond_init(&log->wake, &clock);
    pthread_condattr_destroy(&clock);
    log->filling = malloc(BUFFER_BYTES);
    log->writing = malloc(BUFFER_BYTES);
    log->fd = open_log(path);
    if (log->filling == NULL || log->writing == NULL)
        guard_fail(why, "not enough memory");
    else if (log->fd < 0)
        guard_fail(why, "%s: the access log cannot be opened: %s", path, strerror(errno));
    else if (pthread_create(&log->writer, NULL, write_log, log) != 0)
        guard_fail(why, "cannot start the thread of the access log");
    else
        return log;
    free_log(log);
    return NULL;
}

void guard_access_log_close(struct guard_access_log *log)
{
    if (log == NULL) return;
    atomic_store(&log->give_up, guard_clock() + LAST_WRITE_MS);
    tell_writer(log, &log->ending);
    pthread_join(log->writer, NULL);
    free_log(log);
}
