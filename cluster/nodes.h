/* The servers of a cluster and who of them owns which slot, between client.c and nodes.c. */
#ifndef TAMIS_CLUSTER_NODES_H
#define TAMIS_CLUSTER_NODES_H

#include "client.h"

#define FIRST_DELAY 0.02 /* seconds until what failed is tried again, for the first time */

struct node {
    char host[CLUSTER_HOST];
    int port;
    struct link *link;            /* NULL: not connected */
    uint64_t connection;          /* the number of this one among all */
    struct request *first, *last; /* in the order of their replies */
    struct request *unsent;       /* of these, the first that is not wholly sent, */
    size_t offset;                /* and how much of it is */
    double heard;
    double down_until; /* nobody tries to reach it before, */
    char down[160];    /* as it has failed for this reason */
};

struct cluster {
    struct cluster_address address;
    unsigned replicas;
    double patience;
    struct node **nodes;
    unsigned n_nodes;
    struct node *owner[CLUSTER_SLOTS]; /* NULL: nobody */
    bool stale;                        /* what `owner` says is doubtful */
    double refreshed;
    uint64_t connections;
    unsigned refreshes;
    struct request *later, **later_end; /* to be sent */
    size_t outstanding;
    char wait[64]; /* the command WAIT, and its length */
    size_t wait_length;
    bool failed;
    char why[CLUSTER_WHY];
};

double client_now(void); /* seconds, of a clock that only goes forward */

/* The node at an address, new ones included; NULL: no such host can be, or it has failed. */
struct node *node_at(struct cluster *c, const char *host, size_t length, int port);
/* It could not be reached, in a try that began then. It is left alone for as long as that took:
 * whoever waits for a dead one is deaf to the others meanwhile. */
void node_set_down(struct node *n, double began, const char *why);
/* "MOVED 3999 127.0.0.1:6381", and the same with ASK: the host, which may be empty, and the port.
 * False: it makes no sense. */
bool parse_redirect(const char *text, const char **host, size_t *length, int *port);
/* The node that it tells of; without a host, that of the one that says so. NULL: none. */
struct node *node_of_redirect(struct cluster *c, const char *text, const struct node *from);

/* Asks one node for the table of slots; false with a reason. */
bool nodes_ask(struct cluster *c, struct node *n, double seconds, char why[CLUSTER_WHY]);
/* Whichever answers first, each time beginning with another, as one may be wrong. Where none does,
 * the table stays as it is. */
void nodes_refresh(struct cluster *c);

#endif
