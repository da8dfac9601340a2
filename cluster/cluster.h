/* Sets and sketches that are spread over the masters of a Redis Cluster, as the command sees them.
 * A set NAME of S shards is a Redis hash at the key NAME, which says what it is, and S values of
 * TAMIS.* (redis/) at the keys NAME:{tag}. Every item belongs to one shard, so a set is the union
 * of its shards by construction, and grows beyond one server.
 *
 *   address.c  redis:// addresses           slots.c   which slot a key is in, and tags that lie evenly over all of them
 *   link.c     one connection, replies      client.c  commands in flight: failures, confirmations
 *   request.c  a command as bytes           nodes.c   the servers: redirects, the table of slots
 *   set.c      the facts of a set, shards   batch.c   many items at a time
 *   plan.c     TAMIS.CREATE for a shard
 *
 * Nothing here prints; what went wrong is in cluster_why. One thread. */
#ifndef TAMIS_CLUSTER_H
#define TAMIS_CLUSTER_H

#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

enum { CLUSTER_SLOTS = 16384, CLUSTER_NAME = 400, CLUSTER_HOST = 256 };

/* --- Addresses: redis://[user:password@]host[:port]/name -------------------------------------- */

struct cluster_address {
    char host[CLUSTER_HOST];
    int port;
    char user[128], password[512]; /* empty: none */
    char name[CLUSTER_NAME];
    char shown[CLUSTER_HOST + CLUSTER_NAME + 32]; /* for messages: without user and password */
};
/* Whether a word is meant to be such an address, right or wrong. */
bool cluster_is_address(const char *word);
/* NULL, or why it is none. `shown` is set in any case. */
const char *cluster_parse(const char *word, struct cluster_address *out);

/* --- Slots ------------------------------------------------------------------------------------ */

unsigned cluster_slot(const char *key, size_t length);
/* tags[i], for each of so many shards, is the smallest number whose slot is in the i-th part of all
 * slots. */
void cluster_tags(unsigned shards, uint32_t *tags);

/* --- The servers ------------------------------------------------------------------------------ */

struct cluster;
struct cluster_options {
    unsigned replicas; /* that must have a write before it counts as done; 0: only the master */
    double patience;   /* seconds to go on while servers fail, change or do not confirm; 0: 60 */
};
/* NULL: not enough memory. Ask cluster_why whether it has failed: after that every call fails. */
struct cluster *cluster_open(const struct cluster_address *a, const struct cluster_options *o);
void cluster_close(struct cluster *c);
/* Why it has failed, or NULL: it has not. */
const char *cluster_why(const struct cluster *c);
/* Makes it usable again after a call that only asked has failed. Requests under way are dropped. */
void cluster_recover(struct cluster *c);
unsigned cluster_masters(const struct cluster *c);

/* --- Sets ------------------------------------------------------------------------------------- */

struct cluster_set;
/* NULL after a failure: cluster_why says that there is none, or that it is not finished. A key of
 * TAMIS.CREATE is a set of one shard. */
struct cluster_set *cluster_set_open(struct cluster *c, const char *name);
/* A new one of empty shards, all of this plan, of which only what is not 0 is sent; not to be
 * opened before cluster_set_finish. An existing one is removed first if `replace`. */
struct cluster_set *cluster_set_create(struct cluster *c, const char *name, unsigned shards,
                                       const tamis_plan *shard_plan, bool replace);
/* A new one in the slots of another, with no shard yet: for cluster_set_merge. */
struct cluster_set *cluster_set_like(struct cluster *c, const char *name,
                                     const struct cluster_set *like, bool replace);
/* Static kinds are sealed. False after a failure. */
bool cluster_set_finish(struct cluster_set *s, bool seal);
/* Take away what was created and is not finished, as far as servers answer: `c` may have failed. */
void cluster_set_abandon(struct cluster_set *s);
void cluster_set_close(struct cluster_set *s);
unsigned cluster_shards(const struct cluster_set *s);
const char *cluster_shard_key(const struct cluster_set *s, unsigned shard);
/* The kind of its shards; TAMIS_AUTO: a key of TAMIS.CREATE, which only cluster_set_info tells. */
tamis_kind cluster_kind(const struct cluster_set *s);
/* How many items were sent twice, as a server failed that may have taken them already: what counts
 * may count them twice. */
uint64_t cluster_repeated(const struct cluster_set *s);
/* A handle that hashes items for choosing their shards (the hashes of a batch); NULL: not enough
 * memory. */
tamis *cluster_router(const struct cluster_set *s);
/* Of a hash. */
unsigned cluster_shard_of(const struct cluster_set *s, tamis_hash h);
/* What TAMIS.INFO says of every shard, in facts[cluster_shards]: of tamis_facts kind, bytes, items,
 * planned_items, items_estimate, items_low, items_high, fpr_planned, fpr_now, miss_rate, fill,
 * bits_per_item, bound_bits, bound_ratio, m, k, seed, weight, noise_999, overfull, sealed,
 * collecting, conservative. Numbers that an older module does not tell are NAN. */
bool cluster_set_info(struct cluster_set *s, tamis_facts *facts);
/* The shards of the others are merged into those of `into`; equal numbers of shards only. `once`:
 * sums, not unions, which must not be made again when a server fails meanwhile. */
bool cluster_set_merge(struct cluster_set *into, struct cluster_set *const *from, unsigned n,
                       bool once);
bool cluster_set_rotate(struct cluster_set *s);
/* The n most frequent of every shard, in any order: `heavy` is called for each, and false from it:
 * not enough memory. Of an older module hash is 0, and counts are as those of a batch. */
bool cluster_set_top(struct cluster_set *s, uint64_t n, void *ctx,
                     bool (*heavy)(void *ctx, const tamis_heavy *h));

/* --- Many items at a time --------------------------------------------------------------------- */

enum cluster_verb {
    CLUSTER_ADD,
    CLUSTER_WEIGH,
    CLUSTER_EXCLUDE,
    CLUSTER_REMOVE,
    CLUSTER_HAS,
    CLUSTER_COUNT
};
/* Lives until no part of it is pending. */
struct cluster_batch {
    enum cluster_verb verb;
    size_t n;
    const tamis_bytes *items;
    const tamis_hash *hashes; /* by the router */
    const int64_t *weights;   /* CLUSTER_WEIGH only */
    uint8_t *bits;            /* has: may be in; remove: was in. n / 8 + 1 bytes of 0 */
    /* Count only, n of them. Where a module is older than TAMIS.ESTIMATE only the three numbers are
     * known, and confidence is NAN. */
    tamis_estimate *estimates;
    size_t pending; /* commands that are not done yet */
};
/* Queue its commands. False after a failure. */
bool cluster_send(struct cluster_set *s, struct cluster_batch *b);
/* Go on until nothing of the batch is pending; NULL: until nothing is of any. False after a
 * failure. */
bool cluster_await(struct cluster *c, const struct cluster_batch *b);
/* Do what can be done without waiting. */
bool cluster_step(struct cluster *c);
/* No reply to what is pending is waited for, and batches may end: what was asked is not answered,
 * what was to be written may be written or not. */
void cluster_forget(struct cluster *c);

#endif
