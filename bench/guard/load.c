/* A load of confirmations at a fixed rate, with every answer compared.
 *
 *   bench-guard-load ADDRESS PORT QUESTIONS SECONDS RATE CONNECTIONS
 *
 * Each line of QUESTIONS is a query and what must follow `{"version":V,` in the body, once for odd
 * and once for even versions, separated by tabs. The questions are asked in turn.
 *
 * Requests are due at fixed times, whether or not the server keeps up, and the latency of a request
 * is counted from the time at which it was due. So a server, or a load generator, that stops for a
 * moment makes every request late that fell due meanwhile. Prints one JSON object. The exit status
 * is 1 if an answer was wrong or missing. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MOST_CONNECTIONS 1000
#define ROOM 65536
#define MOST_MICROSECONDS 2000000
#define LAST_WAIT 5000000 /* microseconds for the last answers */

struct question {
    char *request;
    size_t length;
    char *wanted[2]; /* for even and odd versions */
};

struct connection {
    int fd;
    bool busy;
    uint64_t question;
    int64_t due, sent; /* microseconds */
    size_t got;
    char text[ROOM];
};

static struct question *questions;
static size_t n_questions;
static struct connection *connections;
static struct connection *idle[MOST_CONNECTIONS];
static size_t n_connections, n_idle;
static uint32_t of_due[MOST_MICROSECONDS + 1], of_sent[MOST_MICROSECONDS + 1];
static uint64_t answered, wrong, switches, last_version;

static _Noreturn void give_up(const char *what)
{
    fprintf(stderr, "bench-guard-load: %s: %s\n", what, strerror(errno));
    exit(2);
}

static int64_t microseconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

static void read_questions(const char *path)
{
    FILE *f = fopen(path, "r");
    char *line = NULL;
    size_t room = 0, most = 0;
    ssize_t n;
    if (f == NULL) give_up(path);
    while ((n = getline(&line, &room, f)) > 0) {
        if (n_questions == most) {
            most = 2 * most + 1024;
            questions = realloc(questions, most * sizeof *questions);
            if (questions == NULL) give_up("memory");
        }
        struct question *q = &questions[n_questions++];
        char *rest = line;
        const char *query = strsep(&rest, "\t"), *odd = strsep(&rest, "\t"),
                   *even = strsep(&rest, "\n");
        const int length =
            asprintf(&q->request, "GET /v1/confirm?%s HTTP/1.1\r\nHost: localhost\r\n\r\n", query);
        if (even == NULL || length < 0) give_up("a line of the questions");
        q->length = (size_t)length;
        q->wanted[0] = strdup(even);
        q->wanted[1] = strdup(odd);
    }
    free(line);
    fclose(f);
    if (n_questions == 0) give_up("no questions");
}

static void connect_all(const char *address, const char *port, int epoll)
{
    struct sockaddr_in to = {.sin_family = AF_INET,
                             .sin_port = htons((uint16_t)strtoul(port, NULL, 10))};
    const int yes = 1;
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1) give_up(address);
    connections = calloc(n_connections, sizeof *connections);
    if (connections == NULL) give_up("memory");
    for (size_t i = 0; i < n_connections; i++) {
        struct connection *c = &connections[i];
        struct epoll_event event = {.events = EPOLLIN, .data.ptr = c};
        c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (c->fd < 0 || connect(c->fd, (const struct sockaddr *)&to, sizeof to) != 0)
            give_up("connect");
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, c->fd, &event) != 0) give_up("epoll_ctl");
        idle[n_idle++] = c;
    }
}

static void ask(struct connection *c, uint64_t number, int64_t due)
{
    c->question = number % n_questions;
    const struct question *q = &questions[c->question];
    c->busy = true;
    c->got = 0;
    c->due = due;
    c->sent = microseconds();
    if (send(c->fd, q->request, q->length, MSG_NOSIGNAL) != (ssize_t)q->length) give_up("send");
}

/* Reports whether the body is what the version that it names must answer. */
static bool is_right(const struct question *q, const char *body, size_t n)
{
    static const char start[] = "{\"version\":";
    const size_t before = sizeof start - 1;
    if (n < before || memcmp(body, start, before) != 0) return false;
    char *end;
    const uint64_t version = strtoull(body + before, &end, 10);
    const char *wanted = q->wanted[version & 1];
    const size_t length = strlen(wanted);
    if (version != last_version) {
        switches += last_version != 0;
        last_version = version;
    }
    return *end == ',' && (size_t)(body + n - end) == length + 2 &&
           memcmp(end + 1, wanted, length) == 0 && body[n - 1] == '\n';
}

static void count(uint32_t *histogram, int64_t elapsed)
{
    histogram[elapsed < MOST_MICROSECONDS ? elapsed : MOST_MICROSECONDS]++;
}

/* Reads what has arrived, and judges the answer if it is whole. */
static void take(struct connection *c)
{
    const ssize_t n = recv(c->fd, c->text + c->got, ROOM - 1 - c->got, MSG_DONTWAIT);
    if (n < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (n <= 0 || !c->busy) {
        errno = n < 0 ? errno : EPIPE;
        give_up("the server ended a connection or sent something unasked");
    }
    c->got += (size_t)n;
    c->text[c->got] = '\0';
    const char *body = strstr(c->text, "\r\n\r\n");
    if (body == NULL) return;
    body += 4;
    const char *length = strcasestr(c->text, "\r\nContent-Length: ");
    const size_t size = length != NULL ? strtoul(length + 18, NULL, 10) : 0;
    const size_t got = c->got - (size_t)(body - c->text);
    if (got < size) return;
    const int64_t now = microseconds();
    const struct question *q = &questions[c->question];
    if (strncmp(c->text, "HTTP/1.1 200 ", 13) != 0 || got != size || !is_right(q, body, size)) {
        if (wrong++ == 0) fprintf(stderr, "wrong:\n%s%s\n", q->request, c->text);
    }
    answered++;
    count(of_due, now - c->due);
    count(of_sent, now - c->sent);
    c->busy = false;
    idle[n_idle++] = c;
}

/* Asks what is due, in order, as long as connections are free. Returns the number of the next
 * request. */
static uint64_t ask_due(uint64_t next, int64_t start, double rate, uint64_t total)
{
    const int64_t now = microseconds();
    while (next < total && n_idle > 0) {
        const int64_t due = start + (int64_t)((double)next * 1e6 / rate);
        if (due > now) break;
        ask(idle[--n_idle], next++, due);
    }
    return next;
}

static double quantile(const uint32_t *histogram, double share)
{
    uint64_t seen = 0;
    for (size_t i = 0; i <= MOST_MICROSECONDS; i++) {
        seen += histogram[i];
        if ((double)seen >= share * (double)answered) return (double)i / 1000;
    }
    return MOST_MICROSECONDS / 1000.0;
}

static double share_within(const uint32_t *histogram, size_t limit)
{
    uint64_t seen = 0;
    for (size_t i = 0; i <= limit; i++) seen += histogram[i];
    return answered != 0 ? (double)seen / (double)answered : 0;
}

static void print_latency(const char *name, const uint32_t *histogram)
{
    printf(",\"%s\":{\"p50\":%.3f,\"p99\":%.3f,\"p999\":%.3f,\"max\":%.3f,\"within_5ms\":%.6f}",
           name, quantile(histogram, 0.5), quantile(histogram, 0.99), quantile(histogram, 0.999),
           quantile(histogram, 1), share_within(histogram, 5000));
}

int main(int argc, char **argv)
{
    struct epoll_event events[256];
    struct rusage usage;
    const int epoll = epoll_create1(EPOLL_CLOEXEC);
    if (argc != 7) {
        fprintf(stderr, "usage: %s ADDRESS PORT QUESTIONS SECONDS RATE CONNECTIONS\n", argv[0]);
        return 2;
    }
    const double seconds = strtod(argv[4], NULL), rate = strtod(argv[5], NULL);
    const uint64_t total = (uint64_t)(seconds * rate);
    n_connections = strtoul(argv[6], NULL, 10);
    if (n_connections == 0 || n_connections > MOST_CONNECTIONS || !(rate > 0)) give_up("numbers");
    read_questions(argv[3]);
    connect_all(argv[1], argv[2], epoll);
    const int64_t start = microseconds() + 1000;
    const int64_t end = start + (int64_t)(seconds * 1e6) + LAST_WAIT;
    for (uint64_t next = 0; (next < total || n_idle < n_connections) && microseconds() < end;) {
        next = ask_due(next, start, rate, total);
        /* Short enough for the next request to be on time, long enough not to spin. */
        const struct timespec wait = {0, 50000};
        const int n = epoll_pwait2(epoll, events, 256, &wait, NULL);
        if (n < 0 && errno != EINTR) give_up("epoll_pwait2");
        for (int i = 0; i < n; i++) take(events[i].data.ptr);
    }
    const double elapsed = (double)(microseconds() - start) / 1e6;
    getrusage(RUSAGE_SELF, &usage);
    printf("{\"asked\":%" PRIu64 ",\"answered\":%" PRIu64 ",\"wrong\":%" PRIu64
           ",\"switches\":%" PRIu64 ",\"seconds\":%.3f,\"per_second\":%.1f,\"cpu\":%.3f",
           total, answered, wrong, switches, elapsed, (double)answered / elapsed,
           (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6);
    print_latency("from_due", of_due);
    print_latency("from_sent", of_sent);
    printf("}\n");
    return wrong != 0 || answered != total;
}
