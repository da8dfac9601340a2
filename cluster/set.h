/* The structure of a set, shared by set.c, plan.c and batch.c. */
#ifndef TAMIS_CLUSTER_SET_H
#define TAMIS_CLUSTER_SET_H

#include "client.h"

/* The seed of the hash that chooses a shard: any number except the seed of the shards. With the
 * same hash, the items of a shard would agree in their first bits and crowd into a part of it. The
 * number spells "tamis 1". */
#define CLUSTER_ROUTE UINT64_C(0x74616d69732031)

struct shard {
    char key[CLUSTER_NAME + 16];
    unsigned slot;
};

struct cluster_set {
    struct cluster *c;
    char name[CLUSTER_NAME];
    unsigned slot, n; /* slot of the facts; number of shards */
    uint64_t route;   /* the seed of the hash that chooses among them */
    char kind[24];
    char builder[64]; /* who is building the set; empty if nobody is */
    bool ready;
    struct shard *shards;
    bool brief;        /* a server reports only three numbers for a count */
    uint64_t repeated; /* items of commands that were repeated and may have been executed twice */
};

/* Makes the TAMIS.CREATE of a shard from a plan (plan.c). Returns NULL when memory runs out. */
struct request *plan_request(const struct shard *shard, const tamis_plan *p);

/* Reads the n parts of a count (batch.c): three numbers of TAMIS.COUNT, or all fields of
 * TAMIS.ESTIMATE and later commands. Returns false if they are malformed. With three numbers the
 * confidence is NAN. */
enum { BRIEF = 3, FULL = 7 };
bool take_estimate(const struct reply *parts, size_t n, tamis_estimate *out);

#endif
