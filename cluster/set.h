/* A set, between set.c, plan.c and batch.c. */
#ifndef TAMIS_CLUSTER_SET_H
#define TAMIS_CLUSTER_SET_H

#include "client.h"

/* The seed of the hash that chooses a shard: any number but the seed of the shards. With the same hash, the items of a shard would
 * be alike in their first bits, and crowd in a part of it. "tamis 1" */
#define CLUSTER_ROUTE UINT64_C(0x74616d69732031)

struct shard {
    char key[CLUSTER_NAME + 16];
    unsigned slot;
};

struct cluster_set {
    struct cluster *c;
    char name[CLUSTER_NAME];
    unsigned slot, n; /* of the facts; how many shards */
    uint64_t route;   /* the seed of the hash that chooses among them */
    char kind[24];
    char builder[64]; /* who is building it; empty: nobody */
    bool ready;
    struct shard *shards;
    uint64_t repeated; /* items of commands that were sent again, and may be done twice */
};

/* TAMIS.CREATE of a shard by a plan (plan.c); NULL: not enough memory. */
struct request *plan_request(const struct shard *shard, const tamis_plan *p);

#endif
