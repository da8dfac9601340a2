#include "limits.h"

#include <netinet/in.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

uint64_t guard_client_of(const struct sockaddr *a)
{
    static const uint8_t translated[12] = {0, 0x64, 0xff, 0x9b};
    uint64_t id = 0;
    uint32_t v4 = 0;
    if (a != NULL && a->sa_family == AF_INET) {
        memcpy(&v4, &((const struct sockaddr_in *)(const void *)a)->sin_addr, sizeof v4);
        id = v4;
    } else if (a != NULL && a->sa_family == AF_INET6) {
        const struct in6_addr *v6 = &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr;
        if (IN6_IS_ADDR_V4MAPPED(v6) || memcmp(v6->s6_addr, translated, sizeof translated) == 0) {
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

/* The key of a table's hash, so that clients cannot choose whose part of the table they share.
 * Without random numbers the table still works; it is only easier to fill a part on purpose. */
static uint64_t random_secret(void)
{
    uint64_t secret = 0;
    return getrandom(&secret, sizeof secret, GRND_NONBLOCK) == (ssize_t)sizeof secret ? secret : 0;
}

/* --- Requests --------------------------------------------------------------------------------- */

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
    uint64_t secret;
    struct bucket buckets[SETS][WAYS];
};

struct guard_limits *guard_limits_new(unsigned per_second)
{
    struct guard_limits *l = calloc(1, sizeof *l);
    if (l == NULL) return NULL;
    pthread_mutex_init(&l->lock, NULL);
    l->per_second = per_second;
    l->secret = random_secret();
    return l;
}

void guard_limits_free(struct guard_limits *l)
{
    if (l == NULL) return;
    pthread_mutex_destroy(&l->lock);
    free(l);
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
    struct bucket *b = bucket_of(l, guard_client_of(client), now);
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

/* --- Connections ------------------------------------------------------------------------------ */

struct place {
    uint64_t client; /* 0 marks a free slot */
    unsigned taken;
};

/* A table with linear probing. It is at most half full, because each client in it has a connection.
 * Nothing is left of a client without connections. */
struct guard_places {
    unsigned per_client;
    uint64_t secret;
    size_t used, mask;
    struct place at[];
};

struct guard_places *guard_places_new(unsigned connections, unsigned per_client)
{
    size_t size = 16;
    while (size < 2 * (size_t)connections) size *= 2;
    struct guard_places *p = calloc(1, sizeof *p + size * sizeof *p->at);
    if (p == NULL) return NULL;
    p->per_client = per_client;
    p->secret = random_secret();
    p->mask = size - 1;
    return p;
}

void guard_places_free(struct guard_places *p)
{
    free(p);
}

static size_t home_of(const struct guard_places *p, uint64_t client)
{
    return (size_t)mix(client ^ p->secret) & p->mask;
}

/* Returns the client's slot, or the free one where it belongs. One slot is always free. */
static size_t slot_of(const struct guard_places *p, uint64_t client)
{
    size_t i = home_of(p, client);
    while (p->at[i].client != client && p->at[i].client != 0) i = (i + 1) & p->mask;
    return i;
}

bool guard_places_enter(struct guard_places *p, uint64_t client)
{
    struct place *at = &p->at[slot_of(p, client)];
    if (at->client == 0) {
        if (p->used == p->mask) return false;
        *at = (struct place){client, 0};
        p->used++;
    }
    if (at->taken >= p->per_client) return false;
    at->taken++;
    return true;
}

void guard_places_leave(struct guard_places *p, uint64_t client)
{
    size_t hole = slot_of(p, client);
    if (p->at[hole].client == 0 || --p->at[hole].taken > 0) return;
    p->used--;
    /* Entries that were pushed beyond this slot move back, so that a search still finds them. */
    for (size_t i = (hole + 1) & p->mask; p->at[i].client != 0; i = (i + 1) & p->mask) {
        const size_t home = home_of(p, p->at[i].client);
        if (((i - home) & p->mask) < ((i - hole) & p->mask)) continue;
        p->at[hole] = p->at[i];
        hole = i;
    }
    p->at[hole] = (struct place){0, 0};
}
