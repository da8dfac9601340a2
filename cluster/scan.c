/* The keys of all masters, by SCAN. A cursor has a meaning only for the process that returned it,
 * and a slot that moves during the scan may take its keys from a master that is still to be scanned
 * to one that was scanned already. So the connection of a scan is never replaced by another, and
 * the table of slots must be the same at the end as at the beginning. */
#include "migrate.h"
#include "nodes.h"

#include <poll.h>
#include <stdlib.h>
#include <string.h>

enum { KEYS_OF_A_PAGE = 500, PAUSE_MILLISECONDS = 50 };
#define AGAIN "run the command again; it skips the keys that are already at the target"

bool each_master(struct cluster *c, void *ctx,
                 bool (*visit)(void *ctx, struct cluster *c, const struct node *n, struct link *l))
{
    char why[CLUSTER_WHY];
    /* The list of nodes may grow meanwhile, and its elements stay where they are. */
    for (unsigned i = 0; i < c->n_nodes && !c->failed; i++) {
        const struct node *n = c->nodes[i];
        bool owns = false;
        for (unsigned slot = 0; slot < CLUSTER_SLOTS && !owns; slot++) owns = c->owner[slot] == n;
        if (!owns) continue;
        struct link *l = link_open(n->host, n->port, &c->address, c->tls, c->patience, why);
        if (l == NULL) return client_fail(c, "%s: %.400s", n->label, why);
        const bool good = visit(ctx, c, n, l);
        link_close(l);
        if (!good) return false;
    }
    return !c->failed;
}

struct reply *master_ask(struct cluster *c, const struct node *n, struct link *l, struct request *r)
{
    char why[CLUSTER_WHY];
    struct reply *reply = NULL;
    if (r == NULL) {
        client_fail(c, "not enough memory");
        return NULL;
    }
    reply = link_ask(l, r->text, r->length, why);
    request_free(r);
    if (reply == NULL) client_fail(c, "%s: the connection was lost: %.300s; " AGAIN, n->label, why);
    return reply;
}

/* --- Slots that stay where they are ----------------------------------------------------------- */

/* In CLUSTER NODES, the line of the node itself names slots that are moving in brackets. */
static bool nothing_moves(void *ctx, struct cluster *c, const struct node *n, struct link *l)
{
    struct request *r = request_new(0, 2, 16);
    (void)ctx;
    if (r != NULL) {
        request_text(r, "CLUSTER");
        request_text(r, "NODES");
    }
    struct reply *reply = master_ask(c, n, l, r);
    if (reply == NULL) return false;
    /* A server that is not part of a cluster replies with an error. */
    const char *line = reply->type == REPLY_TEXT ? strstr(reply->text, "myself") : NULL;
    const char *end = line != NULL ? strchr(line, '\n') : NULL;
    const char *mark = line != NULL ? strchr(line, '[') : NULL;
    const bool moves = mark != NULL && (end == NULL || mark < end);
    reply_free(reply);
    return !moves || client_fail(c,
                                 "%s: slots are moving to or from this server; wait until "
                                 "that is finished, then " AGAIN,
                                 n->label);
}

static bool table_is_settled(struct cluster *c)
{
    for (unsigned slot = 0; slot < CLUSTER_SLOTS; slot++)
        if (c->owner[slot] == NULL)
            return client_fail(c, "no server is responsible for slot %u", slot);
    return each_master(c, NULL, nothing_moves);
}

static bool table_is_still(struct cluster *c, struct node *const *before)
{
    const double until = client_now() + c->patience;
    c->stale = true;
    nodes_refresh(c);
    while (c->stale && client_now() < until) {
        poll(NULL, 0, PAUSE_MILLISECONDS);
        nodes_refresh(c);
    }
    if (c->stale) return client_fail(c, "no server returns the table of slots");
    if (memcmp(before, c->owner, sizeof c->owner) != 0)
        return client_fail(c, "slots have moved to other servers meanwhile, so that keys may have "
                              "been missed; " AGAIN);
    return table_is_settled(c);
}

/* --- One master ------------------------------------------------------------------------------- */

struct scanning {
    const struct migration *m;
    void *ctx;
    bool (*page)(void *ctx, const struct reply *keys);
    bool stopped;
};

static struct request *scan_request(const char *cursor, const char *match)
{
    const size_t length = match != NULL ? strlen(match) : 0;
    struct request *r = request_new(0, match != NULL ? 6 : 4, 64 + length);
    if (r == NULL) return NULL;
    request_text(r, "SCAN");
    request_text(r, cursor);
    if (match != NULL) request_text(r, "MATCH");
    if (match != NULL) request_word(r, match, length);
    request_text(r, "COUNT");
    request_number(r, KEYS_OF_A_PAGE);
    return r;
}

/* [cursor, [key, ...]] */
static bool is_page(const struct reply *p)
{
    if (p->type != REPLY_LIST || p->n != 2 || p->list[0].type != REPLY_TEXT ||
        p->list[1].type != REPLY_LIST)
        return false;
    const struct reply *cursor = &p->list[0], *keys = &p->list[1];
    if (cursor->length == 0 || cursor->length > 20 ||
        strspn(cursor->text, "0123456789") != cursor->length)
        return false;
    for (size_t i = 0; i < keys->n; i++)
        if (keys->list[i].type != REPLY_TEXT) return false;
    return true;
}

static bool scan_master(void *ctx, struct cluster *c, const struct node *n, struct link *l)
{
    struct scanning *s = ctx;
    char cursor[24] = "0", last[24];
    do {
        struct reply *reply = master_ask(c, n, l, scan_request(cursor, s->m->wanted->match));
        if (reply == NULL) return false;
        strcpy(last, cursor);
        if (reply->type == REPLY_ERROR)
            client_fail(c, "%s: %.300s", n->label, reply->text);
        else if (!is_page(reply))
            client_fail(c, "%s: its reply to SCAN is invalid", n->label);
        else
            strcpy(cursor, reply->list[0].text);
        /* Such a scan would not end. */
        if (!c->failed && strcmp(cursor, last) == 0 && strcmp(cursor, "0") != 0)
            client_fail(c, "%s: SCAN does not advance", n->label);
        if (!c->failed) s->stopped = !s->page(s->ctx, &reply->list[1]);
        reply_free(reply);
    } while (!c->failed && !s->stopped && strcmp(cursor, "0") != 0);
    return !c->failed && !s->stopped;
}

bool scan_keys(const struct migration *m, void *ctx,
               bool (*page)(void *ctx, const struct reply *keys))
{
    struct cluster *c = m->from;
    struct scanning s = {.m = m, .ctx = ctx, .page = page};
    if (!table_is_settled(c)) return false;
    struct node **before = client_memory(c, sizeof c->owner);
    if (before == NULL) return false;
    memcpy(before, c->owner, sizeof c->owner);
    bool good = each_master(c, &s, scan_master);
    if (s.stopped)
        good = !c->failed;
    else if (good)
        good = table_is_still(c, before);
    free(before);
    return good;
}
