/* A set, between set.c and batch.c. */
#ifndef TAMIS_CLUSTER_SET_H
#define TAMIS_CLUSTER_SET_H

#include "client.h"

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
};

#endif
