/* Declarations that the files of this folder share: replies, connections, commands. */
#ifndef TAMIS_CLUSTER_CLIENT_H
#define TAMIS_CLUSTER_CLIENT_H

#include "cluster.h"

#include <sys/types.h>

struct iovec;

enum { CLUSTER_WHY = 640 };

/* --- Replies (link.c) ------------------------------------------------------------------------- */

enum reply_type { REPLY_NIL, REPLY_TEXT, REPLY_ERROR, REPLY_NUMBER, REPLY_LIST };
/* The elements of a list share one allocation with it. */
struct reply {
    enum reply_type type;
    int64_t number;
    char *text; /* followed by a NUL that length does not include */
    size_t length;
    struct reply *list;
    size_t n;
};
void reply_free(struct reply *r);
/* Reports whether the reply is an error that begins with this word. */
bool reply_is(const struct reply *r, const char *word);
/* Reports whether the server does not know the command. */
bool reply_is_unknown(const struct reply *r);
/* Returns what to do about an error that permissions cause, to follow its text, or "". */
const char *reply_advice(const struct reply *r);

/* --- Connections (link.c) --------------------------------------------------------------------- */

struct link;
struct tls;
/* Opens a connection, with TLS unless `tls` is NULL, logs in and selects the database. Every step
 * waits at most this many seconds. If the port is 0, the host is the path of a socket. Returns NULL
 * with a reason, also if a secure address has no `tls`. */
struct link *link_open(const char *host, int port, const struct cluster_address *who,
                       const struct tls *tls, double seconds, char why[CLUSTER_WHY]);
void link_close(struct link *l);
int link_descriptor(const struct link *l);
/* Sends one command and returns its reply, waiting at most the seconds of link_open. Returns NULL
 * with a reason. */
struct reply *link_ask(struct link *l, const char *text, size_t length, char why[CLUSTER_WHY]);
/* For a connection without pending replies: reports whether it is open and nothing has arrived. */
bool link_is_idle(const struct link *l);
/* After link_hurry no call waits. link_send returns how many bytes were sent, or -1 if the
 * connection is broken. link_receive returns false if it is broken. */
void link_hurry(struct link *l);
ssize_t link_send(struct link *l, const struct iovec *pieces, int n, char why[CLUSTER_WHY]);
bool link_receive(struct link *l, char why[CLUSTER_WHY]);
/* Returns the next complete reply, or NULL. *broken is set if the bytes received are not a
 * reply. */
struct reply *link_reply(struct link *l, bool *broken);

/* --- Encryption (tls.c) ----------------------------------------------------------------------- */

/* Loads the certificates that the address names, for all connections. Returns NULL with a
 * reason. */
struct tls *tls_new(const struct cluster_address *a, char why[CLUSTER_WHY]);
void tls_free(struct tls *t);
/* The encryption of one connection. tls_begin verifies the certificate and that it is for this
 * host. Returns NULL with a reason. */
struct session;
struct session *tls_begin(const struct tls *t, int descriptor, const char *host,
                          char why[CLUSTER_WHY]);
void tls_end(struct session *s);
/* Return how many bytes were sent or received, 0 if that would have to wait, and -1 with a reason
 * if the connection is broken. */
ssize_t tls_send(struct session *s, const struct iovec *pieces, int n, char why[CLUSTER_WHY]);
ssize_t tls_receive(struct session *s, void *bytes, size_t room, char why[CLUSTER_WHY]);
/* Reports whether the connection is open and no byte of a reply has arrived. It must not wait. */
bool tls_is_idle(struct session *s);

/* --- Commands (client.c) ---------------------------------------------------------------------- */

struct node;
struct request {
    unsigned slot;
    bool writes; /* replicas must confirm it, if the options ask for any */
    bool once;   /* must not be executed twice */
    bool repeated;
    /* Called once, with the server's reply, except errors that another attempt or another server
     * resolves. Then the request is freed. */
    void (*answer)(struct request *r, struct cluster *c, const struct reply *reply);
    void *ctx, *more; /* `more` is freed with the request */

    /* The command and its progress. */
    char *text;
    size_t length, room;
    struct request *next;
    struct node *to; /* the node to ask next, instead of the owner of the slot */
    /* The connection on which it was executed but not confirmed; 0 if not executed. */
    uint64_t applied;
    struct reply *reply;      /* the reply from there */
    unsigned got;             /* replies to this attempt */
    bool asking;              /* this attempt begins with ASKING */
    double since, due, delay; /* when trouble began; when to try again */
};
/* Creates a command of this many words, with room for this many bytes of them. Returns NULL when
 * memory runs out. */
struct request *request_new(unsigned slot, size_t words, size_t bytes);
void request_word(struct request *r, const void *word, size_t length);
void request_text(struct request *r, const char *word);
void request_number(struct request *r, int64_t n);
void request_free(struct request *r);
/* Hands the request over to the client. */
void client_submit(struct cluster *c, struct request *r);
/* Waits until this request, and all submitted before it, are answered. Returns NULL after a
 * failure. */
struct reply *client_call(struct cluster *c, struct request *r);
/* Records the reason for a failure, unless there is one already. Returns false. */
bool client_fail(struct cluster *c, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Records a failure whose reason is an error reply about that key, in words for people. */
bool client_fail_reply(struct cluster *c, const char *key, const struct reply *reply);
/* Makes a failed client usable again, for cleaning up. */
void client_recover(struct cluster *c);
void *client_memory(struct cluster *c, size_t n); /* NULL after recording a failure */

#endif
