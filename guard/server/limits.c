#include "limits.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* The table consists of sets of eight slots. When a set is full, the client that was silent longest
 * is evicted. Its bucket is the fullest, so forgetting it gives away the fewest tokens. */
#define WAYS 8u
#define SETS (GUARD_LIMITS_CLIENTS / WAYS)

struct bucket {
    uint64_t client; /* 0 marks a free slot */
    int64_t at;      /* when the bucket was last refilled */
    double tokens;
};

struct guard_limits {
    pthread_mutex_t lock;
    double per_second;
    uint64_t secret; /* keyed hash, so that a client cannot choose whose set it shares */
    struct bucket buckets[SETS][WAYS];
};

struct guard_limits *guard_limits_new(unsigned per_second)
{
    struct guard_limits *l = calloc(1, sizeof *l);
    if (l == NULL) return NULL;
    pthread_mutex_init(&l->lock, NULL);
    l->per_second = per_second;
    /* Without random numbers the table still works; it is only easier to fill one set on
     * purpose. */
    if (getrandom(&l->secret, sizeof l->secret, GRND_NONBLOCK) < 0) l->secret = 0;
    return l;
}

void guard_limits_free(struct guard_limits *l)
{
    if (l == NULL) return;
    pthread_mutex_destroy(&l->lock);
    free(l);
}

/* Returns the client behind an address, never 0: the network half of an IPv6 address, or the IPv4
 * address, also when it arrives as an IPv4-mapped IPv6 address. */
static uint64_t client_of(const struct sockaddr *a)
{
    uint64_t id = 0;
    uint32_t v4 = 0;
    if (a != NULL && a->sa_family == AF_INET) {
        memcpy(&v4, &((const struct sockaddr_in *)(const void *)a)->sin_addr, sizeof v4);
        id = v4;
    } else if (a != NULL && a->sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(v6)) {
            memcpy(&v4, v6->s6_addr + 12, sizeof v4);
            id = v4;
        } else {
            memcpy(&id, v6->s6_addr, sizeof id);
            id = ~id;
        }
    }
    return id != 0 ? id : 1;
}

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    x = (x ^ x >> 32) * UINT64_C(0xd6e8feb86659fd93);
    return x ^ x >> 32;
}

static struct bucket *bucket_of(struct guard_limits *l, uint64_t client, int64_t now)
{
    struct bucket *set = l->buckets[mix(client ^ l->secret) % SETS], *oldest = set;
    for (struct bucket *b = set; b < set + WAYS; b++) {
        if (b->client == client) return b;
        if (b->at < oldest->at || b->client == 0) oldest = b;
        if (b->client == 0) break;
    }
    *oldest = (struct bucket){client, now, 2 * l->per_second};
    return oldest;
}

bool guard_limits_take(struct guard_limits *l, const struct sockaddr *client, int64_t now,
                       unsigned *wait)
{
    pthread_mutex_lock(&l->lock);
    struct bucket *b = bucket_of(l, client_of(client), now);
    if (now > b->at) { /* two threads may take the lock in another order than they read the clock */
        b->tokens += (double)(now - b->at) / 1000 * l->per_second;
        b->at = now;
    }
    if (b->tokens > 2 * l->per_second) b->tokens = 2 * l->per_second;
    const bool good = b->tokens >= 1;
    if (good) b->tokens--;
    *wait = good ? 0 : 1 + (unsigned)((1 - b->tokens) / l->per_second);
    pthread_mutex_unlock(&l->lock);
    return good;
}
