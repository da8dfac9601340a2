/* Commands in flight. Each command goes to the node that owns its slot. It is queued after those
 * sent there before, without waiting for their replies. This file handles what a cluster does to
 * its clients, until the time limit ("patience") is over:
 *
 *   MOVED                The slot has another owner. The command is sent there, and the table of
 *                        slots is read again.
 *   ASK                  The key is moving. The command is sent there once, after ASKING.
 *   TRYAGAIN, CLUSTERDOWN, LOADING, MASTERDOWN, READONLY, NOREPLICAS
 *                        The command is repeated, with growing pauses.
 *   a lost connection    Its commands are repeated at the node that now serves their slot.
 *   silence              The other nodes are asked. If they report another owner of the slot, the
 *                        connection counts as lost.
 *
 * A command is done when its reply has arrived and, if replicas must confirm it, the WAIT that
 * follows it on the same connection reports enough of them. If WAIT reports too few, it is
 * repeated. If the connection is lost, the command is sent again: it may then be executed twice,
 * but never not at all. Commands that must not be executed twice fail instead. */
#include "nodes.h"

#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

#define DEFAULT_PATIENCE 60.0
#define CONNECT_SECONDS 5.0
#define SILENCE 2.0           /* seconds without a reply until other nodes are asked */
#define WAIT_MILLISECONDS 500 /* timeout of one WAIT, which is then repeated */
#define CLEAR_UP 5.0          /* patience after a failure */
#define REFRESH_PAUSE 0.1
#define LAST_DELAY 0.5

bool client_fail(struct cluster *c, const char *format, ...)
{
    va_list args;
    if (c->failed) return false;
    va_start(args, format);
    vsnprintf(c->why, sizeof c->why, format, args);
    va_end(args);
    c->failed = true;
    return false;
}

bool client_fail_reply(struct cluster *c, const char *key, const struct reply *reply)
{
    const char *text = reply->type == REPLY_ERROR ? reply->text : "the reply is invalid";
    if (reply_is_unknown(reply))
        return client_fail(c, "%s: the server lacks the module tamis-redis.so (docs/REDIS.md)",
                           key);
    if (reply->type == REPLY_ERROR && reply_is(reply, "ERR")) text += 4;
    return client_fail(c, "%s: %s%s", key, text, reply_advice(reply));
}

void *client_memory(struct cluster *c, size_t n)
{
    void *p = c->failed ? NULL : calloc(1, n > 0 ? n : 1);
    if (p == NULL) client_fail(c, "not enough memory");
    return p;
}

/* --- Repeating commands ----------------------------------------------------------------------- */

static void put_later(struct cluster *c, struct request *r)
{
    r->next = NULL;
    *c->later_end = r;
    c->later_end = &r->next;
}

/* Schedules the command for another attempt after a pause, or fails if the trouble has lasted too
 * long. */
static void trouble(struct cluster *c, struct request *r, const char *reason)
{
    const double t = client_now();
    if (r->since == 0) r->since = t;
    if (t - r->since > c->patience)
        client_fail(c, "gave up after %.0f s: %s", t - r->since, reason);
    r->delay = r->delay == 0 ? FIRST_DELAY : r->delay * 2;
    if (r->delay > LAST_DELAY) r->delay = LAST_DELAY;
    r->due = t + r->delay;
    r->to = NULL;
    r->asking = false;
    c->stale = true;
    put_later(c, r);
}

/* The command may have been executed or not. It is sent again, unless executing it twice would be
 * wrong. */
static void doubt(struct cluster *c, struct request *r, const char *reason)
{
    reply_free(r->reply);
    r->reply = NULL;
    r->applied = 0;
    r->repeated = true;
    if (r->once)
        client_fail(c,
                    "%s; it is not known whether the last command was executed, and it must not be "
                    "executed twice",
                    reason);
    trouble(c, r, reason);
}

/* Moves all commands of a lost connection elsewhere. */
static void lose(struct cluster *c, struct node *n, const char *reason)
{
    char text[CLUSTER_WHY];
    snprintf(text, sizeof text, "%s: %.200s", n->label, reason);
    link_close(n->link);
    n->link = NULL;
    struct request *r = n->first, *const unsent = n->unsent;
    bool sent = true;
    n->first = n->last = n->unsent = NULL;
    while (r != NULL) {
        struct request *next = r->next;
        if (r == unsent) sent = n->offset > 0;
        r->got = 0;
        if (sent || r->applied != 0)
            doubt(c, r, text);
        else
            trouble(c, r, text);
        if (r == unsent) sent = false;
        r = next;
    }
    n->offset = 0;
    c->stale = true;
}

/* --- Sending ---------------------------------------------------------------------------------- */

static const char asking[] = "*1\r\n$6\r\nASKING\r\n";

static bool wants_wait(const struct cluster *c, const struct request *r)
{
    return r->writes && c->replicas > 0;
}

/* Returns the number of pieces of an attempt: [ASKING] command [WAIT], or WAIT alone if the command
 * has been executed. */
static int pieces_of(const struct cluster *c, const struct request *r, struct iovec out[3])
{
    int n = 0;
    if (r->applied == 0 && r->asking)
        out[n++] = (struct iovec){(char *)(uintptr_t)asking, sizeof asking - 1};
    if (r->applied == 0) out[n++] = (struct iovec){r->text, r->length};
    if (wants_wait(c, r)) out[n++] = (struct iovec){(char *)(uintptr_t)c->wait, c->wait_length};
    return n;
}

static size_t try_length(const struct cluster *c, const struct request *r)
{
    struct iovec piece[3];
    size_t sum = 0;
    for (int i = pieces_of(c, r, piece); i > 0; i--) sum += piece[i - 1].iov_len;
    return sum;
}

static bool connect_node(struct cluster *c, struct node *n, char why[CLUSTER_WHY])
{
    const double t = client_now();
    if (n->link != NULL) return true;
    if (n->down_until > t) {
        snprintf(why, CLUSTER_WHY, "%s", n->down);
        return false;
    }
    n->link = link_open(n->host, n->port, &c->address, c->tls, CONNECT_SECONDS, why);
    /* No replies were read meanwhile, so that time does not count as silence of the others. */
    for (unsigned i = 0; i < c->n_nodes; i++) c->nodes[i]->heard += client_now() - t;
    if (n->link == NULL) {
        node_set_down(n, t, why);
        return false;
    }
    link_hurry(n->link);
    n->connection = ++c->connections;
    n->heard = client_now();
    return true;
}

/* Appends the command to the queue of a node. */
static void dispatch(struct cluster *c, struct request *r)
{
    char why[CLUSTER_WHY], text[CLUSTER_WHY];
    struct node *n = r->to != NULL ? r->to : c->owner[r->slot];
    if (n == NULL) {
        snprintf(text, sizeof text, "no server is responsible for slot %u", r->slot);
        trouble(c, r, text);
        return;
    }
    /* A server may have closed a connection that was idle for long. No command is in doubt then. */
    if (n->link != NULL && n->first == NULL && !link_is_idle(n->link)) {
        link_close(n->link);
        n->link = NULL;
    }
    const struct node *owner = r->asking ? n : c->owner[r->slot];
    /* A node that no longer owns the slot has no replicas that could confirm the command. */
    if (r->applied != 0 &&
        (n->link == NULL || n->connection != r->applied || (owner != NULL && owner != n))) {
        doubt(c, r, "the server failed before its replicas confirmed the command");
        return;
    }
    if (!connect_node(c, n, why)) {
        snprintf(text, sizeof text, "%s: %.200s", n->label, why);
        trouble(c, r, text);
        return;
    }
    r->next = NULL;
    if (n->first == NULL) {
        n->first = r;
        n->heard = client_now();
    } else {
        n->last->next = r;
    }
    n->last = r;
    if (n->unsent == NULL) n->unsent = r;
}

static void dispatch_due(struct cluster *c)
{
    struct request *r = c->later;
    const double t = client_now();
    c->later = NULL;
    c->later_end = &c->later;
    while (r != NULL) {
        struct request *next = r->next;
        if (r->due > t || c->failed)
            put_later(c, r);
        else
            dispatch(c, r);
        r = next;
    }
}

/* Sends as much of the queue as the socket takes. */
static void send_queue(struct cluster *c, struct node *n)
{
    enum { PIECES = 60 };
    struct iovec piece[PIECES + 3];
    char why[CLUSTER_WHY];
    while (n->unsent != NULL) {
        int used = 0;
        size_t wanted = 0, skip = n->offset;
        for (const struct request *r = n->unsent; r != NULL && used < PIECES; r = r->next)
            used += pieces_of(c, r, piece + used);
        for (int i = 0; i < used; i++) wanted += piece[i].iov_len;
        int first = 0;
        for (; skip >= piece[first].iov_len; first++) skip -= piece[first].iov_len;
        piece[first].iov_base = (char *)piece[first].iov_base + skip;
        piece[first].iov_len -= skip;
        const ssize_t sent = link_send(n->link, piece + first, used - first, why);
        if (sent < 0) {
            lose(c, n, why);
            return;
        }
        const bool all = n->offset + (size_t)sent == wanted;
        n->offset += (size_t)sent;
        for (size_t length; n->unsent != NULL && n->offset >= (length = try_length(c, n->unsent));
             n->unsent = n->unsent->next)
            n->offset -= length;
        if (!all) return;
    }
}

/* --- Replies ---------------------------------------------------------------------------------- */

static bool can_be_mended(const struct reply *reply)
{
    static const char *const words[] = {"TRYAGAIN",   "CLUSTERDOWN", "LOADING",
                                        "MASTERDOWN", "READONLY",    "NOREPLICAS"};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (reply_is(reply, words[i])) return true;
    return false;
}

/* Handles "MOVED 3999 127.0.0.1:6381", and the same with ASK. Returns whether the command was sent
 * on. */
static bool redirected(struct cluster *c, struct request *r, const struct node *from)
{
    const bool moved = reply_is(r->reply, "MOVED"), ask = reply_is(r->reply, "ASK");
    if (!moved && !ask) return false;
    struct node *to = node_of_redirect(c, r->reply->text, from);
    /* Two nodes that each take the other for the owner would redirect the command for ever. */
    if (to == NULL || (r->since != 0 && client_now() - r->since > c->patience)) {
        trouble(c, r, r->reply->text);
        return true;
    }
    r->due = r->since == 0 ? 0 : client_now() + FIRST_DELAY;
    if (r->since == 0) r->since = client_now();
    r->asking = ask;
    r->to = to;
    if (moved) {
        c->owner[r->slot] = to;
        c->stale = true;
        r->to = NULL;
    }
    put_later(c, r);
    return true;
}

static void finish(struct cluster *c, struct request *r)
{
    c->outstanding--;
    if (!c->failed) r->answer(r, c, r->reply);
    request_free(r);
}

/* Handles the complete replies of an attempt; `waited` is the reply to WAIT, if it was sent. */
static void settle(struct cluster *c, struct node *n, struct request *r, const struct reply *waited)
{
    char text[CLUSTER_WHY];
    r->got = 0;
    if (r->applied == 0) {
        const bool again = can_be_mended(r->reply);
        if (again || redirected(c, r, n)) {
            if (again) {
                snprintf(text, sizeof text, "%s: %.200s", n->label, r->reply->text);
                trouble(c, r, text);
            }
            reply_free(r->reply);
            r->reply = NULL;
            return;
        }
    }
    if (!wants_wait(c, r) || r->reply->type == REPLY_ERROR) {
        finish(c, r);
    } else if (waited->type == REPLY_ERROR) { /* it has become a replica */
        doubt(c, r, waited->text);
    } else if (waited->number < (int64_t)c->replicas) {
        snprintf(text, sizeof text, "%s: only %lld of %u replicas have confirmed", n->label,
                 (long long)waited->number, c->replicas);
        r->applied = n->connection;
        const bool asked = r->asking;
        trouble(c, r, text);
        r->asking = asked;
        r->to = n;
        r->due = 0; /* WAIT itself was the pause */
    } else {
        finish(c, r);
    }
}

/* The next reply on a connection belongs to the first request of its queue. */
static void take_reply(struct cluster *c, struct node *n, struct reply *reply)
{
    struct request *r = n->first;
    struct iovec piece[3];
    const unsigned all = (unsigned)pieces_of(c, r, piece), at = r->got++;
    const bool is_asking = r->applied == 0 && r->asking && at == 0;
    const bool is_wait = wants_wait(c, r) && at + 1 == all;
    n->heard = client_now();
    if (!is_asking && !is_wait) r->reply = reply;
    if ((is_asking || is_wait) && reply_is(reply, "NOPERM")) /* which no repetition changes */
        client_fail(c, "%s: %s%s", n->label, reply->text, reply_advice(reply));
    if (at + 1 == all) {
        n->first = r->next;
        if (n->first == NULL) n->last = NULL;
        settle(c, n, r, reply);
    }
    if (is_asking || is_wait) reply_free(reply);
}

static void receive(struct cluster *c, struct node *n)
{
    char why[CLUSTER_WHY];
    bool broken = false;
    struct reply *reply;
    const bool good = link_receive(n->link, why);
    while (n->first != NULL && n->first != n->unsent &&
           (reply = link_reply(n->link, &broken)) != NULL)
        take_reply(c, n, reply);
    if (broken)
        lose(c, n, "the server does not speak Redis's protocol");
    else if (!good)
        lose(c, n, why);
}

/* A silent node may be dead, or busy with a long command. */
static void check_silence(struct cluster *c)
{
    const double t = client_now();
    for (unsigned i = 0; i < c->n_nodes; i++) {
        struct node *n = c->nodes[i];
        if (n->first == NULL || t - n->heard < SILENCE) continue;
        if (t - n->heard > c->patience)
            client_fail(c, "%s: no answer in %.0f s", n->label, t - n->heard);
        if (t - c->refreshed < SILENCE / 2) continue;
        nodes_refresh(c);
        if (c->owner[n->first->slot] != n && !n->first->asking) lose(c, n, "no answer");
    }
}

static int wait_time(const struct cluster *c, bool may_wait)
{
    double until = 0.2;
    const double t = client_now();
    if (!may_wait) return 0;
    for (const struct request *r = c->later; r != NULL; r = r->next)
        if (r->due - t < until) until = r->due - t;
    return until > 0 ? (int)(until * 1000) + 1 : 0;
}

static bool turn(struct cluster *c, bool may_wait)
{
    enum { MOST = 1024 };
    struct pollfd fds[MOST];
    struct node *of[MOST];
    nfds_t used = 0;
    if (c->failed) return false;
    if (c->stale && client_now() - c->refreshed > REFRESH_PAUSE) nodes_refresh(c);
    dispatch_due(c);
    for (unsigned i = 0; i < c->n_nodes && used < MOST; i++) {
        struct node *n = c->nodes[i];
        if (n->first == NULL) continue;
        const short events = (short)(POLLIN | (n->unsent != NULL ? POLLOUT : 0));
        fds[used] = (struct pollfd){link_descriptor(n->link), events, 0};
        of[used++] = n;
    }
    if (poll(fds, used, wait_time(c, may_wait)) > 0)
        for (nfds_t i = 0; i < used && !c->failed; i++) {
            if ((fds[i].revents & POLLOUT) != 0) send_queue(c, of[i]);
            if ((fds[i].revents & ~POLLOUT) != 0 && of[i]->link != NULL) receive(c, of[i]);
        }
    check_silence(c);
    return !c->failed;
}

/* --- For other files -------------------------------------------------------------------------- */

void client_submit(struct cluster *c, struct request *r)
{
    c->outstanding++;
    put_later(c, r);
}

bool cluster_step(struct cluster *c)
{
    return turn(c, false);
}

bool cluster_await(struct cluster *c, const struct cluster_batch *b)
{
    while (!c->failed && (b != NULL ? b->pending > 0 : c->outstanding > 0)) turn(c, true);
    return !c->failed;
}

static void keep_reply(struct request *r, struct cluster *c, const struct reply *reply)
{
    struct reply **to = r->ctx;
    (void)c, (void)reply;
    *to = r->reply;
    r->reply = NULL;
}

struct reply *client_call(struct cluster *c, struct request *r)
{
    struct reply *reply = NULL;
    if (r == NULL) {
        client_fail(c, "not enough memory");
        return NULL;
    }
    r->answer = keep_reply;
    /* cppcheck-suppress autoVariables ; after a failure nothing is answered any more */
    r->ctx = &reply;
    client_submit(c, r);
    cluster_await(c, NULL);
    return reply;
}

const char *cluster_why(const struct cluster *c)
{
    return c->failed ? c->why : NULL;
}

unsigned cluster_masters(const struct cluster *c)
{
    unsigned count = 0;
    for (unsigned i = 0; i < c->n_nodes; i++) {
        bool owns = false;
        for (unsigned slot = 0; slot < CLUSTER_SLOTS && !owns; slot++)
            owns = c->owner[slot] == c->nodes[i];
        count += owns;
    }
    return count;
}

struct cluster *cluster_open(const struct cluster_address *a, const struct cluster_options *o)
{
    struct cluster *c = calloc(1, sizeof *c);
    char why[CLUSTER_WHY];
    if (c == NULL) return NULL;
    c->address = *a;
    c->replicas = o->replicas;
    c->patience = o->patience > 0 ? o->patience : DEFAULT_PATIENCE;
    c->later_end = &c->later;
    char digits[16];
    const int n = snprintf(digits, sizeof digits, "%u", o->replicas);
    c->wait_length =
        (size_t)snprintf(c->wait, sizeof c->wait, "*3\r\n$4\r\nWAIT\r\n$%d\r\n%s\r\n$3\r\n%d\r\n",
                         n, digits, WAIT_MILLISECONDS);
    struct node *first = node_at(c, a->host, strlen(a->host), a->port);
    if (a->secure && first != NULL) {
        c->tls = tls_new(a, why);
        if (c->tls == NULL) client_fail(c, "%s", why);
    }
    /* A failure to connect at all is reported at once, because the address is probably wrong. */
    if (first != NULL && !c->failed && !nodes_ask(c, first, CONNECT_SECONDS, why))
        client_fail(c, "%s: %s", first->label, why);
    c->refreshed = client_now();
    return c;
}

static void drop_all(struct cluster *c)
{
    for (unsigned i = 0; i < c->n_nodes; i++) {
        struct node *n = c->nodes[i];
        while (n->first != NULL) {
            struct request *next = n->first->next;
            request_free(n->first);
            n->first = next;
        }
        n->last = n->unsent = NULL;
        n->offset = 0;
        link_close(n->link);
        n->link = NULL;
    }
    while (c->later != NULL) {
        struct request *next = c->later->next;
        request_free(c->later);
        c->later = next;
    }
    c->later_end = &c->later;
    c->outstanding = 0;
}

void cluster_forget(struct cluster *c)
{
    if (c->outstanding > 0) drop_all(c);
}

void cluster_recover(struct cluster *c)
{
    drop_all(c);
    c->failed = false;
    c->stale = true;
}

void client_recover(struct cluster *c)
{
    cluster_recover(c);
    if (c->patience > CLEAR_UP) c->patience = CLEAR_UP;
}

void cluster_close(struct cluster *c)
{
    if (c == NULL) return;
    drop_all(c);
    for (unsigned i = 0; i < c->n_nodes; i++) free(c->nodes[i]);
    free(c->nodes);
    tls_free(c->tls);
    cluster_wipe(&c->address);
    free(c);
}
