/* Between the files of this folder: replies, connections, commands. */
#ifndef TAMIS_CLUSTER_CLIENT_H
#define TAMIS_CLUSTER_CLIENT_H

#include "cluster.h"

#include <sys/types.h>

enum { CLUSTER_WHY = 640 };

/* --- Replies (link.c) ------------------------------------------------------------------------- */

enum reply_type { REPLY_NIL, REPLY_TEXT, REPLY_ERROR, REPLY_NUMBER, REPLY_LIST };
/* Elements of a list are in one piece of memory with it. */
struct reply {
    enum reply_type type;
    int64_t number;
    char *text; /* ends with a NUL that is not of its length */
    size_t length;
    struct reply *list;
    size_t n;
};
void reply_free(struct reply *r);
/* Whether it is an error that begins with this word. */
bool reply_is(const struct reply *r, const char *word);
/* Whether the server does not know the command. */
bool reply_is_unknown(const struct reply *r);

/* --- Connections (link.c) --------------------------------------------------------------------- */

struct link;
/* A connection that has said who it is; it waits no longer than so many seconds. NULL with a
 * reason. */
struct link *link_open(const char *host, int port, const struct cluster_address *who,
                       double seconds, char why[CLUSTER_WHY]);
void link_close(struct link *l);
int link_descriptor(const struct link *l);
/* One command, and its reply, however long they take, up to the seconds of link_open. NULL with a
 * reason. */
struct reply *link_ask(struct link *l, const char *text, size_t length, char why[CLUSTER_WHY]);
/* Of one that waits for no reply: whether it is open, and nothing has come, as it should be. */
bool link_is_idle(const struct link *l);
/* From here on nothing waits. send: how many bytes went out, -1: it is broken. receive: false: it
 * is broken. */
void link_hurry(struct link *l);
struct iovec;
ssize_t link_send(struct link *l, const struct iovec *pieces, int n, char why[CLUSTER_WHY]);
bool link_receive(struct link *l, char why[CLUSTER_WHY]);
/* The next reply that has come as a whole, or NULL. *broken: what came is no reply. */
struct reply *link_reply(struct link *l, bool *broken);

/* --- Commands (client.c) ---------------------------------------------------------------------- */

struct node;
struct request {
    unsigned slot;
    bool writes; /* has to be confirmed by replicas, if any are asked for */
    bool once;   /* to be done twice would be wrong */
    bool repeated;
    /* Called once, with what the server said; errors that another try, or another server, mend are
     * not among that. Then the request is freed. */
    void (*answer)(struct request *r, struct cluster *c, const struct reply *reply);
    void *ctx, *more; /* `more` is freed with it */

    /* The command, and how far it is. */
    char *text;
    size_t length, room;
    struct request *next;
    struct node *to;     /* where to ask next, instead of the owner of the slot */
    uint64_t applied;    /* the connection on which it is done, but not confirmed; 0: not done */
    struct reply *reply; /* what it said there */
    unsigned got;        /* replies to this try */
    bool asking;         /* this try begins with ASKING */
    double since, due, delay; /* when trouble began; when to try again */
};
/* A command of so many words, with room for so many bytes of them; NULL: not enough memory. */
struct request *request_new(unsigned slot, size_t words, size_t bytes);
void request_word(struct request *r, const void *word, size_t length);
void request_text(struct request *r, const char *word);
void request_number(struct request *r, int64_t n);
void request_free(struct request *r);
/* Hands it over. */
void client_submit(struct cluster *c, struct request *r);
/* Until it, and whatever was submitted before, is answered. NULL after a failure. */
struct reply *client_call(struct cluster *c, struct request *r);
/* What has failed, if nothing has before. Returns false. */
bool client_fail(struct cluster *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* A failure whose reason is an error reply about that key, in words for people. */
bool client_fail_reply(struct cluster *c, const char *key, const struct reply *reply);
/* A failed client can be used again, to clear up. */
void client_recover(struct cluster *c);
void *client_memory(struct cluster *c, size_t n); /* NULL: it has failed */

#endif
