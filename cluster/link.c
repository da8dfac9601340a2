/* One connection. hiredis connects and parses. This file sends by itself, because hiredis would let
 * a closed connection kill the process (SIGPIPE). It also builds the replies by itself: an array of
 * a thousand numbers is one allocation, not a thousand. */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define READ_BYTES ((size_t)1 << 16)
/* No answer to a command of this folder is longer, and memory is allocated before the elements
 * arrive. */
#define LONGEST_LIST (1 << 22)
/* Nor is any answer deeper; lists are freed by recursion. */
#define DEEPEST_LIST 8

struct link {
    redisContext *context;
    redisReader *reader;
};

/* --- Replies ---------------------------------------------------------------------------------- */

#if HIREDIS_MAJOR >= 1
typedef size_t list_length;
#else
typedef int list_length;
#endif

static void forget(struct reply *r) /* NOLINT(misc-no-recursion): DEEPEST_LIST at most */
{
    free(r->text);
    for (size_t i = 0; i < r->n && r->list != NULL; i++) forget(&r->list[i]);
    free(r->list);
}

void reply_free(struct reply *r)
{
    if (r == NULL) return;
    forget(r);
    free(r);
}

bool reply_is(const struct reply *r, const char *word)
{
    const size_t n = strlen(word);
    return r->type == REPLY_ERROR && strncmp(r->text, word, n) == 0 &&
           (r->text[n] == '\0' || r->text[n] == ' ');
}

bool reply_is_unknown(const struct reply *r)
{
    static const char begin[] = "ERR unknown command";
    return r->type == REPLY_ERROR && strncmp(r->text, begin, sizeof begin - 1) == 0;
}

/* Returns the reply that a task of the parser fills: a separate one, or one within the list of its
 * parent. */
static struct reply *place(const redisReadTask *task, enum reply_type type)
{
    struct reply *r;
    if (task->parent == NULL)
        r = calloc(1, sizeof *r);
    else
        r = &((struct reply *)task->parent->obj)->list[task->idx];
    if (r != NULL) r->type = type;
    return r;
}

/* A part of a list is freed with the list. */
static void *give_up(const redisReadTask *task, struct reply *r)
{
    if (task->parent == NULL) free(r);
    return NULL;
}

static void *make_text(const redisReadTask *task, char *text, size_t n)
{
    struct reply *r = place(task, task->type == REDIS_REPLY_ERROR ? REPLY_ERROR : REPLY_TEXT);
    if (r == NULL) return NULL;
    r->text = malloc(n + 1);
    if (r->text == NULL) return give_up(task, r);
    memcpy(r->text, text, n);
    r->text[n] = '\0';
    r->length = n;
    return r;
}

static void *make_list(const redisReadTask *task, list_length n)
{
    int depth = 1;
    for (const redisReadTask *outer = task->parent; outer != NULL; outer = outer->parent) depth++;
    struct reply *r = n <= LONGEST_LIST && depth <= DEEPEST_LIST ? place(task, REPLY_LIST) : NULL;
    if (r == NULL) return NULL;
    r->list = calloc(n > 0 ? (size_t)n : 1, sizeof *r->list);
    if (r->list == NULL) return give_up(task, r);
    r->n = (size_t)n;
    return r;
}

static void *make_number(const redisReadTask *task, long long n)
{
    struct reply *r = place(task, REPLY_NUMBER);
    if (r != NULL) r->number = n;
    return r;
}

static void *make_nil(const redisReadTask *task)
{
    return place(task, REPLY_NIL);
}

static void unmake(void *reply)
{
    reply_free(reply);
}

#if HIREDIS_MAJOR >= 1
/* Refuses types of RESP3, which this client never requests. Without a function the parser would
 * make up a pointer. */
static void *refuse_double(const redisReadTask *task, double x, char *text, size_t n)
{
    (void)task, (void)x, (void)text, (void)n;
    return NULL;
}

static void *refuse_bool(const redisReadTask *task, int x)
{
    (void)task, (void)x;
    return NULL;
}
#endif

static redisReplyObjectFunctions makers = {.createString = make_text,
                                           .createArray = make_list,
                                           .createInteger = make_number,
                                           .createNil = make_nil,
#if HIREDIS_MAJOR >= 1
                                           .createDouble = refuse_double,
                                           .createBool = refuse_bool,
#endif
                                           .freeObject = unmake};

struct reply *link_reply(struct link *l, bool *broken)
{
    void *reply = NULL;
    *broken = redisReaderGetReply(l->reader, &reply) != REDIS_OK;
    return *broken ? NULL : reply;
}

/* --- Life cycle ------------------------------------------------------------------------------- */

static struct timeval time_of(double seconds)
{
    const long whole = (long)seconds;
    return (struct timeval){whole, (suseconds_t)((seconds - (double)whole) * 1e6)};
}

/* Sends AUTH password, or AUTH user password. Returns false with a reason. */
static bool log_in(struct link *l, const struct cluster_address *who, char why[CLUSTER_WHY])
{
    const bool user = who->user[0] != '\0';
    struct request *r = request_new(0, user ? 3 : 2, sizeof who->user + sizeof who->password);
    struct reply *reply = NULL;
    snprintf(why, CLUSTER_WHY, "not enough memory");
    if (r != NULL) {
        request_text(r, "AUTH");
        if (user) request_text(r, who->user);
        request_text(r, who->password);
        reply = link_ask(l, r->text, r->length, why);
        request_free(r);
    }
    const bool good = reply != NULL && reply->type != REPLY_ERROR;
    if (reply != NULL && !good) snprintf(why, CLUSTER_WHY, "%s", reply->text);
    reply_free(reply);
    return good;
}

struct link *link_open(const char *host, int port, const struct cluster_address *who,
                       double seconds, char why[CLUSTER_WHY])
{
    struct link *l = calloc(1, sizeof *l);
    const int on = 1;
    snprintf(why, CLUSTER_WHY, "not enough memory");
    if (l == NULL) return NULL;
    l->context = redisConnectWithTimeout(host, port, time_of(seconds));
    l->reader = redisReaderCreateWithFunctions(&makers);
    bool good = l->context != NULL && l->reader != NULL;
    if (good && l->context->err != 0) {
        snprintf(why, CLUSTER_WHY, "%s", l->context->errstr);
        good = false;
    }
    if (good) {
        redisSetTimeout(l->context, time_of(seconds));
        setsockopt(l->context->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        good = who->password[0] == '\0' || log_in(l, who, why);
    }
    if (good) return l;
    link_close(l);
    return NULL;
}

void link_close(struct link *l)
{
    if (l == NULL) return;
    if (l->context != NULL) redisFree(l->context);
    if (l->reader != NULL) redisReaderFree(l->reader);
    free(l);
}

int link_descriptor(const struct link *l)
{
    return l->context->fd;
}

bool link_is_idle(const struct link *l)
{
    char byte;
    return recv(l->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

void link_hurry(struct link *l)
{
    const int flags = fcntl(l->context->fd, F_GETFL);
    if (flags >= 0) fcntl(l->context->fd, F_SETFL, flags | O_NONBLOCK);
}

/* --- Bytes ------------------------------------------------------------------------------------ */

ssize_t link_send(struct link *l, const struct iovec *pieces, int n, char why[CLUSTER_WHY])
{
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)pieces, .msg_iovlen = (size_t)n};
    const ssize_t sent = sendmsg(l->context->fd, &message, MSG_NOSIGNAL);
    if (sent >= 0) return sent;
    if (errno == EINTR) return 0;
    if (errno == EAGAIN || errno == EWOULDBLOCK) {
        snprintf(why, CLUSTER_WHY, "no answer");
        return 0;
    }
    snprintf(why, CLUSTER_WHY, "%s", strerror(errno));
    return -1;
}

bool link_receive(struct link *l, char why[CLUSTER_WHY])
{
    char bytes[READ_BYTES];
    const ssize_t got = recv(l->context->fd, bytes, sizeof bytes, 0);
    if (got < 0 && errno == EINTR) return true;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        snprintf(why, CLUSTER_WHY, "no answer");
        return true;
    }
    if (got > 0 && redisReaderFeed(l->reader, bytes, (size_t)got) == REDIS_OK) return true;
    const char *reason = "not enough memory";
    if (got == 0) reason = "the server closed the connection";
    if (got < 0) reason = strerror(errno);
    snprintf(why, CLUSTER_WHY, "%s", reason);
    return false;
}

struct reply *link_ask(struct link *l, const char *text, size_t length, char why[CLUSTER_WHY])
{
    size_t sent = 0;
    bool broken = false;
    while (sent < length) {
        const struct iovec piece = {(char *)(uintptr_t)text + sent, length - sent};
        const ssize_t n = link_send(l, &piece, 1, why);
        if (n <= 0 && !(n == 0 && errno == EINTR)) return NULL;
        sent += (size_t)n;
    }
    for (;;) {
        struct reply *reply = link_reply(l, &broken);
        if (reply != NULL) return reply;
        errno = 0;
        if (broken) snprintf(why, CLUSTER_WHY, "the server does not speak Redis's protocol");
        if (broken || !link_receive(l, why) || errno == EAGAIN || errno == EWOULDBLOCK) return NULL;
    }
}
