/* The servers of a cluster and the slots that each owns, shared by client.c and nodes.c. */
#ifndef TAMIS_CLUSTER_NODES_H
#define TAMIS_CLUSTER_NODES_H

#include "client.h"

#define FIRST_DELAY 0.02 /* seconds before the first repetition of a failed command */

struct node {
    char host[CLUSTER_HOST];
    int port;                      /* 0: the host is the path of a socket */
    char label[CLUSTER_HOST + 16]; /* for messages */
    struct link *link;             /* NULL if not connected */
    uint64_t connection;           /* serial number of this connection */
    struct request *first, *last;  /* requests in the order of their replies */
    struct request *unsent;        /* the first of these that is not completely sent */
    size_t offset;                 /* and how many of its bytes are */
    double heard;
    double down_until; /* no attempt to connect before this time */
    char down[160];    /* the reason of the failure */
};

struct cluster {
    struct cluster_address address;
    struct tls *tls; /* NULL: connections are not encrypted */
    unsigned replicas;
    double patience;
    struct node **nodes;
    unsigned n_nodes;
    struct node *owner[CLUSTER_SLOTS]; /* NULL if unknown */
    bool stale;                        /* `owner` may be outdated */
    double refreshed;
    uint64_t connections;
    unsigned refreshes;
    struct request *later, **later_end; /* requests to be sent */
    size_t outstanding;
    char wait[64]; /* the command WAIT, and its length */
    size_t wait_length;
    bool failed;
    char why[CLUSTER_WHY];
};

double client_now(void); /* seconds of a monotonic clock */

/* Returns the node at an address, adding it if it is new. Returns NULL if such a host is impossible
 * or memory runs out. All nodes get the credentials and the TLS settings of the first. */
struct node *node_at(struct cluster *c, const char *host, size_t length, int port);
/* Records that a node could not be reached, in an attempt that began at `began`. It is then left
 * alone for as long as that attempt took, because replies of other nodes are not read while waiting
 * for a dead one. */
void node_set_down(struct node *n, double began, const char *why);
/* Reads "MOVED 3999 127.0.0.1:6381", and the same with ASK: the host, which may be empty, and the
 * port. Returns false if the text is malformed. */
bool parse_redirect(const char *text, const char **host, size_t *length, int *port);
/* Returns the node that a redirect names; an empty host means the node that sent it. Returns NULL
 * on failure. */
struct node *node_of_redirect(struct cluster *c, const char *text, const struct node *from);

/* Asks one node for the table of slots. Returns false with a reason. */
bool nodes_ask(struct cluster *c, struct node *n, double seconds, char why[CLUSTER_WHY]);
/* Asks nodes for the table of slots until one answers, starting with another one each time, because
 * one may be wrong. If none answers, the table stays as it is. */
void nodes_refresh(struct cluster *c);

#endif
