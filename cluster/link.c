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
    struct session *session; /* NULL without TLS */
    bool hurried;            /* no call waits */
    bool answered;           /* the server has sent a reply */
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

const char *reply_advice(const struct reply *r)
{
    /* Within a script, the second is the wording of 7.0, and the third that of 7.2. */
    if (reply_is(r, "NOPERM") ||
        (r->type == REPLY_ERROR && (strstr(r->text, "user executing the script") != NULL ||
                                    strstr(r->text, "ACL failure in script") != NULL)))
        return " (docs/REDIS.md lists what a user must be allowed)";
    if (reply_is(r, "NOAUTH"))
        return " Name a user and a password, for example with --password-file";
    return "";
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

/* No message names a user (SECURITY.md), but Redis does since 7.2: "NOPERM User ann has no
 * permissions to ...". The name gives way to the wording of 7.0. The text has room for it. */
static size_t leave_out_user(char *text)
{
    static const char who[] = "User ", what[] = " has no permissions", anybody[] = "this user";
    char *name = strstr(text, who);
    const char *rest = name != NULL ? strstr(name + sizeof who - 1, what) : NULL;
    for (const char *next = rest; next != NULL; next = strstr(next + 1, what)) rest = next;
    if (rest != NULL) {
        memmove(name + sizeof anybody - 1, rest, strlen(rest) + 1);
        memcpy(name, anybody, sizeof anybody - 1);
    }
    return strlen(text);
}

static void *make_text(const redisReadTask *task, char *text, size_t n)
{
    struct reply *r = place(task, task->type == REDIS_REPLY_ERROR ? REPLY_ERROR : REPLY_TEXT);
    if (r == NULL) return NULL;
    r->text = malloc(n + sizeof "this user");
    if (r->text == NULL) return give_up(task, r);
    memcpy(r->text, text, n);
    r->text[n] = '\0';
    r->length = r->type == REPLY_ERROR ? leave_out_user(r->text) : n;
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

/* Sends a command of two words, or of three if the last is not NULL. Returns false with a reason
 * unless it succeeds. */
static bool demand(struct link *l, const char *word, const char *first, const char *second,
                   char why[CLUSTER_WHY])
{
    const size_t words = second != NULL ? 3 : 2;
    struct request *r =
        request_new(0, words, strlen(word) + strlen(first) + (second != NULL ? strlen(second) : 0));
    struct reply *reply = NULL;
    snprintf(why, CLUSTER_WHY, "not enough memory");
    if (r != NULL) {
        request_text(r, word);
        request_text(r, first);
        if (second != NULL) request_text(r, second);
        reply = link_ask(l, r->text, r->length, why);
        for (volatile char *at = r->text, *end = at + r->length; at < end;) *at++ = 0;
        request_free(r);
    }
    const bool good = reply != NULL && reply->type != REPLY_ERROR;
    if (reply != NULL && !good) snprintf(why, CLUSTER_WHY, "%s", reply->text);
    reply_free(reply);
    return good;
}

/* Sends AUTH password, or AUTH user password. */
static bool log_in(struct link *l, const struct cluster_address *who, char why[CLUSTER_WHY])
{
    const bool user = who->user[0] != '\0';
    if (demand(l, "AUTH", user ? who->user : who->password, user ? who->password : NULL, why))
        return true;
    /* No message contains it, even if the server sends it back. */
    if (strstr(why, who->password) != NULL)
        snprintf(why, CLUSTER_WHY, "the server refuses the password");
    return false;
}

static bool select_database(struct link *l, unsigned db, char why[CLUSTER_WHY])
{
    char digits[16], reason[CLUSTER_WHY];
    snprintf(digits, sizeof digits, "%u", db);
    if (demand(l, "SELECT", digits, NULL, reason)) return true;
    snprintf(why, CLUSTER_WHY, "database %u: %.500s", db, reason);
    return false;
}

static redisContext *connect_to(const char *host, int port, double seconds)
{
    return port == 0 ? redisConnectUnixWithTimeout(host, time_of(seconds))
                     : redisConnectWithTimeout(host, port, time_of(seconds));
}

struct link *link_open(const char *host, int port, const struct cluster_address *who,
                       const struct tls *tls, double seconds, char why[CLUSTER_WHY])
{
    const int on = 1;
    if (who->secure && tls == NULL) {
        snprintf(why, CLUSTER_WHY, "there is no TLS for a rediss:// address");
        return NULL;
    }
    struct link *l = calloc(1, sizeof *l);
    snprintf(why, CLUSTER_WHY, "not enough memory");
    if (l == NULL) return NULL;
    l->context = connect_to(host, port, seconds);
    l->reader = redisReaderCreateWithFunctions(&makers);
    bool good = l->context != NULL && l->reader != NULL;
    if (good && l->context->err != 0) {
        snprintf(why, CLUSTER_WHY, "%s", l->context->errstr);
        good = false;
    }
    if (good) {
        redisSetTimeout(l->context, time_of(seconds));
        if (port != 0) setsockopt(l->context->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    }
    if (good && tls != NULL) {
        l->session = tls_begin(tls, l->context->fd, host, why);
        good = l->session != NULL;
    }
    good = good && (who->password[0] == '\0' || log_in(l, who, why));
    good = good && (who->db == 0 || select_database(l, who->db, why));
    if (good) return l;
    link_close(l);
    return NULL;
}

void link_close(struct link *l)
{
    if (l == NULL) return;
    tls_end(l->session);
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
    if (l->session != NULL) return tls_is_idle(l->session);
    return recv(l->context->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) < 0 &&
           (errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR);
}

void link_hurry(struct link *l)
{
    const int flags = fcntl(l->context->fd, F_GETFL);
    if (flags >= 0) fcntl(l->context->fd, F_SETFL, flags | O_NONBLOCK);
    l->hurried = flags >= 0;
}

/* --- Bytes ------------------------------------------------------------------------------------ */

/* Returns 0 if that would have to wait, and -1 if the connection is broken. */
static ssize_t send_plain(struct link *l, const struct iovec *pieces, int n, char why[CLUSTER_WHY])
{
    struct msghdr message = {.msg_iov = (struct iovec *)(uintptr_t)pieces, .msg_iovlen = (size_t)n};
    ssize_t sent;
    do sent = sendmsg(l->context->fd, &message, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent >= 0) return sent;
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    snprintf(why, CLUSTER_WHY, "%s", strerror(errno));
    return -1;
}

static ssize_t receive_plain(struct link *l, void *bytes, size_t room, char why[CLUSTER_WHY])
{
    ssize_t got;
    do got = recv(l->context->fd, bytes, room, 0);
    while (got < 0 && errno == EINTR);
    if (got > 0) return got;
    if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return 0;
    snprintf(why, CLUSTER_WHY, "%s",
             got == 0 ? "the server closed the connection" : strerror(errno));
    return -1;
}

ssize_t link_send(struct link *l, const struct iovec *pieces, int n, char why[CLUSTER_WHY])
{
    return l->session != NULL ? tls_send(l->session, pieces, n, why)
                              : send_plain(l, pieces, n, why);
}

/* Passes what has arrived to the parser. Returns how many bytes, as above. */
static ssize_t feed(struct link *l, char why[CLUSTER_WHY])
{
    char bytes[READ_BYTES];
    size_t sum = 0;
    ssize_t got;
    do { /* TLS returns at most 16 KiB at once */
        got = l->session != NULL ? tls_receive(l->session, bytes, sizeof bytes, why)
                                 : receive_plain(l, bytes, sizeof bytes, why);
        if (got < 0) return -1;
        if (got > 0 && redisReaderFeed(l->reader, bytes, (size_t)got) != REDIS_OK) {
            snprintf(why, CLUSTER_WHY, "not enough memory");
            return -1;
        }
        sum += (size_t)got;
    } while (got > 0 && l->session != NULL && l->hurried && sum < READ_BYTES);
    return (ssize_t)sum;
}

bool link_receive(struct link *l, char why[CLUSTER_WHY])
{
    return feed(l, why) >= 0;
}

/* A server that expects TLS closes the connection, or sends an alert, which is not Redis's
 * protocol. */
static void suggest_tls(const struct link *l, char why[CLUSTER_WHY])
{
    const size_t used = strlen(why);
    if (l->session == NULL && !l->answered)
        snprintf(why + used, CLUSTER_WHY - used,
                 "; if it expects TLS at this port, write rediss:// instead of redis://");
}

struct reply *link_ask(struct link *l, const char *text, size_t length, char why[CLUSTER_WHY])
{
    bool broken = false;
    ssize_t n = 1;
    for (size_t sent = 0; sent < length && n > 0; sent += n > 0 ? (size_t)n : 0) {
        const struct iovec piece = {(char *)(uintptr_t)text + sent, length - sent};
        n = link_send(l, &piece, 1, why);
    }
    /* A server that refuses the client by TLS sends the reason before it closes the connection. */
    if (n < 0) feed(l, why);
    while (n > 0) {
        struct reply *reply = link_reply(l, &broken);
        if (reply != NULL) {
            l->answered = true;
            return reply;
        }
        if (broken) snprintf(why, CLUSTER_WHY, "the server does not speak Redis's protocol");
        n = broken ? -1 : feed(l, why);
    }
    if (n == 0)
        snprintf(why, CLUSTER_WHY, "no answer");
    else
        suggest_tls(l, why);
    return NULL;
}
