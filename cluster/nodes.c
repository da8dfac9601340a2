/* The servers of a cluster, the targets of redirects, and the table of slots. */
#include "nodes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double client_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* --- Nodes ------------------------------------------------------------------------------------ */

struct node *node_at(struct cluster *c, const char *host, size_t length, int port)
{
    if (length >= CLUSTER_HOST) return NULL;
    for (unsigned i = 0; i < c->n_nodes; i++) {
        struct node *n = c->nodes[i];
        if (n->port == port && strlen(n->host) == length && memcmp(n->host, host, length) == 0)
            return n;
    }
    struct node **more = realloc(c->nodes, (c->n_nodes + 1) * sizeof *more);
    struct node *n = more != NULL ? calloc(1, sizeof *n) : NULL;
    if (more != NULL) c->nodes = more;
    if (n == NULL) {
        client_fail(c, "not enough memory");
        return NULL;
    }
    memcpy(n->host, host, length);
    n->port = port;
    const bool ipv6 = memchr(host, ':', length) != NULL;
    if (port == 0)
        memcpy(n->label, host, length);
    else
        snprintf(n->label, sizeof n->label, "%s%s%s:%d", ipv6 ? "[" : "", n->host, ipv6 ? "]" : "",
                 port);
    c->nodes[c->n_nodes++] = n;
    return n;
}

void node_set_down(struct node *n, double began, const char *why)
{
    const double t = client_now();
    n->down_until = t + (t - began) + FIRST_DELAY;
    snprintf(n->down, sizeof n->down, "%.150s", why);
}

/* Reads digits only, as a number of at most `most`. */
static bool parse_digits(const char *text, size_t length, long most, long *out)
{
    *out = 0;
    if (length == 0 || length > 5) return false;
    for (size_t i = 0; i < length; i++) {
        if (text[i] < '0' || text[i] > '9') return false;
        *out = *out * 10 + (text[i] - '0');
    }
    return *out <= most;
}

bool parse_redirect(const char *text, const char **host, size_t *length, int *port)
{
    long slot, number;
    const char *first = strchr(text, ' ');
    const char *second = first != NULL ? strchr(first + 1, ' ') : NULL;
    const char *colon = second != NULL ? strrchr(second + 1, ':') : NULL;
    if (colon == NULL || strchr(second + 1, ' ') != NULL) return false;
    if (!parse_digits(first + 1, (size_t)(second - first - 1), CLUSTER_SLOTS - 1, &slot) ||
        !parse_digits(colon + 1, strlen(colon + 1), 65535, &number) || number == 0)
        return false;
    *host = second + 1;
    *length = (size_t)(colon - *host);
    *port = (int)number;
    return *length < CLUSTER_HOST;
}

struct node *node_of_redirect(struct cluster *c, const char *text, const struct node *from)
{
    const char *host;
    size_t length;
    int port;
    if (!parse_redirect(text, &host, &length, &port)) return NULL;
    /* As in the table of slots: the node does not know its own address. */
    if (length == 0 || (length == 1 && *host == '?'))
        return node_at(c, from->host, strlen(from->host), port);
    return node_at(c, host, length, port);
}

/* --- The table of slots ----------------------------------------------------------------------- */

/* [first, last, [host, port, ...], replicas...] */
static bool take_range(struct cluster *c, const struct reply *range, const struct node *from,
                       struct node **owners)
{
    if (range->type != REPLY_LIST || range->n < 3 || range->list[2].type != REPLY_LIST ||
        range->list[2].n < 2)
        return false;
    const int64_t first = range->list[0].number, last = range->list[1].number;
    const struct reply *host = &range->list[2].list[0], *port = &range->list[2].list[1];
    if (range->list[0].type != REPLY_NUMBER || range->list[1].type != REPLY_NUMBER ||
        port->type != REPLY_NUMBER)
        return false;
    if (host->type == REPLY_TEXT && memchr(host->text, 0, host->length) != NULL) return false;
    if (first < 0 || last >= CLUSTER_SLOTS || port->number < 1 || port->number > 65535)
        return false;
    /* If a node does not know its own address, it means the one at which it was reached. */
    const bool known = host->type == REPLY_TEXT && host->length > 0 && strcmp(host->text, "?") != 0;
    struct node *owner = node_at(c, known ? host->text : from->host,
                                 known ? host->length : strlen(from->host), (int)port->number);
    if (owner == NULL) return false;
    for (int64_t slot = first; slot <= last; slot++) owners[slot] = owner;
    return true;
}

static bool take_slots(struct cluster *c, const struct reply *reply, struct node *from)
{
    if (reply->type == REPLY_ERROR && strstr(reply->text, "cluster support disabled") != NULL) {
        for (unsigned i = 0; i < CLUSTER_SLOTS; i++) c->owner[i] = from;
        return true;
    }
    /* The nodes of a cluster know each other by hosts and ports. */
    if (from->port == 0) return false;
    /* A node that knows no slots is not yet, or no longer, part of the cluster. */
    if (reply->type != REPLY_LIST || reply->n == 0) return false;
    struct node *owners[CLUSTER_SLOTS] = {NULL};
    for (size_t i = 0; i < reply->n; i++)
        if (!take_range(c, &reply->list[i], from, owners)) return false;
    memcpy(c->owner, owners, sizeof owners);
    return true;
}

/* Asks one node, on a separate connection, because those in use have a queue. */
bool nodes_ask(struct cluster *c, struct node *n, double seconds, char why[CLUSTER_WHY])
{
    static const char text[] = "*2\r\n$7\r\nCLUSTER\r\n$5\r\nSLOTS\r\n";
    struct link *l = link_open(n->host, n->port, &c->address, c->tls, seconds, why);
    struct reply *reply = l != NULL ? link_ask(l, text, sizeof text - 1, why) : NULL;
    const bool good = reply != NULL && take_slots(c, reply, n);
    if (reply != NULL && !good) {
        const char *reason = "its reply to CLUSTER SLOTS is invalid";
        if (reply->type == REPLY_LIST && n->port == 0)
            reason = "it is a node of a cluster, whose nodes are reached by redis:// only";
        else if (reply->type == REPLY_LIST && reply->n == 0)
            reason = "it does not know any slots";
        if (reply->type == REPLY_ERROR) reason = reply->text;
        snprintf(why, CLUSTER_WHY, "%.200s%s", reason, reply_advice(reply));
    }
    reply_free(reply);
    link_close(l);
    return good;
}

void nodes_refresh(struct cluster *c)
{
    char why[CLUSTER_WHY];
    const unsigned n = c->n_nodes, begin = c->refreshes++;
    for (unsigned i = 0; i < n; i++) {
        struct node *asked = c->nodes[(begin + i) % n];
        const double t = client_now();
        if (asked->down_until > t) continue;
        if (nodes_ask(c, asked, 1.0, why)) {
            c->stale = false;
            break;
        }
        node_set_down(asked, t, why);
    }
    c->refreshed = client_now();
}
