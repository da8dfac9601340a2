/* A set, between set.c, plan.c and batch.c. */
#ifndef TAMIS_CLUSTER_SET_H
#define TAMIS_CLUSTER_SET_H

#include "client.h"

/* The seed of the hash that chooses a shard: any number but the seed of the shards. With the same
 * hash, the items of a shard would be alike in their first bits, and crowd in a part of it. "tamis
 * 1" */
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
    bool brief;        /* a server has only three numbers for a count */
    uint64_t repeated; /* items of commands that were sent again, and may be done twice */
};

/* TAMIS.CREATE of a shard by a plan (plan.c); NULL: not enough memory. */
struct request *plan_request(const struct shard *shard, const tamis_plan *p);

/* The n parts of a count (batch.c): three numbers of TAMIS.COUNT, or those and what they are worth,
 * of TAMIS.ESTIMATE and later ones. False: they are none. Of three, confidence is NAN. */
enum { BRIEF = 3, FULL = 7 };
bool take_estimate(const struct reply *parts, size_t n, tamis_estimate *out);

#endif
