/* Sets and sketches that are spread over the masters of a Redis Cluster, for the `tamis` command. A
 * set NAME of S shards is a Redis hash at the key NAME, which describes the set, and S values of
 * TAMIS.* (redis/) at the keys NAME:{tag}. Every item belongs to one shard. A set is therefore the
 * union of its shards by construction, and can exceed one server.
 *
 *   address.c  redis:// addresses           slots.c   the slot of a key; evenly distributed tags
 *   link.c     one connection, replies      client.c  commands in flight: failures, confirmations
 *   tls.c      its encryption               openssl.c the library for it, loaded on first use
 *   request.c  a command as bytes           nodes.c   the servers: redirects, the table of slots
 *   set.c      the facts of a set, shards   batch.c   many items at a time
 *   plan.c     TAMIS.CREATE for a shard     card.c    the number of distinct items
 *
 * Keys of any name are copied from one server or cluster to another:
 *
 *   migrate.c  checks, both passes          scan.c    the keys of all masters, and their types
 *   copy.c     DUMP and RESTORE             chunks.c  SCANDUMP and LOADCHUNK
 *   payload.c  comparing payloads of DUMP
 *
 * Nothing here prints; cluster_why returns the reason for a failure. All calls must come from one
 * thread. */
#ifndef TAMIS_CLUSTER_H
#define TAMIS_CLUSTER_H

#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

enum { CLUSTER_SLOTS = 16384, CLUSTER_NAME = 400, CLUSTER_HOST = 256, CLUSTER_FILE = 1024 };

/* --- Addresses -------------------------------------------------------------------------------- *
 *
 *   redis://[user:password@]host[:port]/name[?option=value&...]
 *   rediss://...                                                the same with TLS
 *   unix://[user:password@]/path/of/socket?name=name[&option=value...]
 *
 * The options are db, password-file and, with TLS, cacert, cert, key and sni. %XX stands for a
 * byte anywhere. Everything that is needed to connect is in this struct, so two addresses may have
 * different credentials and certificates. The caller may fill in what the address does not say;
 * texts are empty where nothing is given. */
struct cluster_address {
    char host[CLUSTER_HOST]; /* the path of a socket if the port is 0 */
    int port;
    bool secure; /* TLS */
    char user[128], password[512];
    char password_file[CLUSTER_FILE]; /* not read here: the caller sets the password */
    char ca[CLUSTER_FILE]; /* PEM, the authorities to trust; empty: those of the system */
    char cert[CLUSTER_FILE], key[CLUSTER_FILE]; /* PEM, of the client */
    char sni[CLUSTER_HOST]; /* the name in the certificates of all servers; empty: their host */
    unsigned db;            /* of a server that is not part of a cluster */
    char name[CLUSTER_NAME];
    char shown[CLUSTER_HOST + CLUSTER_NAME + 64]; /* for messages: without user and password */
    size_t credentials_end; /* the user and the password end here in the text of the address */
};
/* Reports whether a word is meant to be such an address, valid or not. */
bool cluster_is_address(const char *word);
/* Parses an address. Returns NULL, or the reason why it is invalid. `shown` and `credentials_end`
 * are set in any case. */
const char *cluster_parse(const char *word, struct cluster_address *out);
/* The same for an address without a name, which means a server or a cluster as a whole. */
const char *cluster_parse_server(const char *word, struct cluster_address *out);
/* Reports whether both addresses mean the same servers and database, and the second one says
 * nothing about users, passwords and certificates that differs from the first. */
bool cluster_same_servers(const struct cluster_address *a, const struct cluster_address *b);
/* Overwrites the user and the password. */
void cluster_wipe(struct cluster_address *a);

/* --- Slots ------------------------------------------------------------------------------------ */

unsigned cluster_slot(const char *key, size_t length);
/* Stores a tag for each shard: tags[i] is the smallest number whose slot lies in the i-th of
 * `shards` equal parts of all slots. */
void cluster_tags(unsigned shards, uint32_t *tags);

/* --- The servers ------------------------------------------------------------------------------ */

struct cluster;
struct cluster_options {
    /* Replicas that must confirm a write before it counts as done; 0: only the master. */
    unsigned replicas;
    /* Seconds to continue while servers fail, change or do not confirm; 0 means 60. */
    double patience;
};
/* Returns NULL when memory runs out. Otherwise ask cluster_why whether it failed; every later call
 * then fails. */
struct cluster *cluster_open(const struct cluster_address *a, const struct cluster_options *o);
void cluster_close(struct cluster *c);
/* Returns the reason for the failure, or NULL if there is none. */
const char *cluster_why(const struct cluster *c);
/* Makes the handle usable again after a query has failed. Requests in flight are dropped. */
void cluster_recover(struct cluster *c);
unsigned cluster_masters(const struct cluster *c);

/* --- Sets ------------------------------------------------------------------------------------- */

struct cluster_set;
/* Opens a set. Returns NULL after a failure; cluster_why then says that there is no such set, or
 * that it is not finished. A key of TAMIS.CREATE is a set of one shard. */
struct cluster_set *cluster_set_open(struct cluster *c, const char *name);
/* Creates a set of empty shards, all with this plan; only fields that are not 0 are sent. It cannot
 * be opened before cluster_set_finish. With `replace`, an existing set is removed first. */
struct cluster_set *cluster_set_create(struct cluster *c, const char *name, unsigned shards,
                                       const tamis_plan *shard_plan, bool replace);
/* Creates a set in the same slots as another, without shards: for cluster_set_merge. */
struct cluster_set *cluster_set_like(struct cluster *c, const char *name,
                                     const struct cluster_set *like, bool replace);
/* Completes a new set. `seal` seals the shards of sealed kinds. Returns false after a failure. */
bool cluster_set_finish(struct cluster_set *s, bool seal);
/* Removes a set that was created but not finished, as far as the servers answer and allow it. `c`
 * may have failed. Returns false if something may be left. */
bool cluster_set_abandon(struct cluster_set *s);
void cluster_set_close(struct cluster_set *s);
unsigned cluster_shards(const struct cluster_set *s);
const char *cluster_shard_key(const struct cluster_set *s, unsigned shard);
/* Returns the kind of the shards. TAMIS_AUTO means a key of TAMIS.CREATE, whose kind only
 * cluster_set_info reports. */
tamis_kind cluster_kind(const struct cluster_set *s);
/* Returns how many items were sent twice because a server failed that may already have taken them.
 * Sketches and counting filters may count these twice. */
uint64_t cluster_repeated(const struct cluster_set *s);
/* Returns a handle that hashes items to choose their shards (the hashes of a batch), or NULL when
 * memory runs out. */
tamis *cluster_router(const struct cluster_set *s);
/* Returns the shard of a hash. */
unsigned cluster_shard_of(const struct cluster_set *s, tamis_hash h);
/* Stores what TAMIS.INFO FULL reports about every shard in facts[cluster_shards]. It fills these
 * fields of tamis_facts: kind, bytes, items, planned_items, items_estimate, items_low, items_high,
 * fpr_planned, fpr_now, miss_rate, fill, bits_per_item, bound_bits, bound_ratio, bound, m, k, seed,
 * weight, noise_999, overfull, sealed, collecting, conservative, removable. Numbers that an older
 * module does not report are NAN. */
bool cluster_set_info(struct cluster_set *s, tamis_facts *facts);
/* Merges the shards of the others into those of `into`; all sets must have the same number of
 * shards. Set `once` for sums, which, unlike unions, must not be repeated when a server fails
 * meanwhile. */
bool cluster_set_merge(struct cluster_set *into, struct cluster_set *const *from, unsigned n,
                       bool once);
/* Rotates every shard: once, or, with an epoch other than 0, to that epoch. Only the latter is
 * repeated when a server fails meanwhile. */
bool cluster_set_rotate(struct cluster_set *s, uint64_t epoch);
/* Calls `heavy` for the n most frequent items of every shard, in any order. `heavy` returns false
 * when memory runs out. With an older module the hash is 0, and counts are as those of a batch. */
bool cluster_set_top(struct cluster_set *s, uint64_t n, void *ctx,
                     bool (*heavy)(void *ctx, const tamis_heavy *h));

/* Estimates the number of distinct items in the union of n sets, n > 0, by TAMIS.CARD. All sets
 * must be of one cluster handle and have the same number of shards. *out gets the sum over the
 * shards, its 99 % confidence interval, in which the independent errors of the shards partly
 * cancel, and as `error` the relative standard error that this interval implies. */
bool cluster_sets_card(struct cluster_set *const *sets, unsigned n, tamis_cardinality *out);

/* --- Many items at a time --------------------------------------------------------------------- */

enum cluster_verb {
    CLUSTER_ADD,
    CLUSTER_WEIGH,
    CLUSTER_EXCLUDE,
    CLUSTER_REMOVE,
    CLUSTER_HAS,
    CLUSTER_COUNT
};
/* A batch must live until none of its commands is pending. */
struct cluster_batch {
    enum cluster_verb verb;
    size_t n;
    const tamis_bytes *items;
    const tamis_hash *hashes; /* from the router */
    const int64_t *weights;   /* CLUSTER_WEIGH only */
    uint8_t *bits;            /* has: may be a member; remove: was a member. n / 8 + 1 zero bytes */
    /* Count only, n of them. A module older than TAMIS.ESTIMATE reports only three numbers, and
     * confidence is NAN. */
    tamis_estimate *estimates;
    size_t pending; /* commands that are not done yet */
};
/* Queues the commands of the batch. Returns false after a failure. */
bool cluster_send(struct cluster_set *s, struct cluster_batch *b);
/* Works until no command of the batch is pending, or of any batch if it is NULL. Returns false
 * after a failure. */
bool cluster_await(struct cluster *c, const struct cluster_batch *b);
/* Does what is possible without waiting. */
bool cluster_step(struct cluster *c);
/* Stops waiting for pending replies, so batches may end. Queries are not answered, and writes may
 * have been executed or not. */
void cluster_forget(struct cluster *c);

/* --- Copying keys to other servers ------------------------------------------------------------ */

enum { CLUSTER_TYPES = 6, CLUSTER_OTHER_TYPES = 16, CLUSTER_TYPE = 32 };
/* The keys of one type at the source. */
struct cluster_found {
    char type[CLUSTER_TYPE];
    uint64_t keys, bytes; /* bytes as MEMORY USAGE reports them */
    uint64_t existing;    /* dry run: the keys whose name is in use at the target */
};
struct cluster_migrated {
    struct cluster_found types[CLUSTER_TYPES];
    /* Keys of other types, which are not copied. The last element counts all types that have no
     * element of their own. */
    struct cluster_found others[CLUSTER_OTHER_TYPES];
    unsigned n_others;
    bool copying;             /* the second pass has begun */
    bool stopped;             /* `progress` has returned false */
    uint64_t listed;          /* keys that the first pass has seen */
    uint64_t keys, bytes;     /* what it has found, of the types that are copied */
    uint64_t at_key, at_byte; /* of these, what the second pass has dealt with */
    /* Each key that the second pass has dealt with is counted in one of these. */
    uint64_t copied;     /* and verified; `replaced` and `in_chunks` are among them */
    uint64_t equal;      /* the target had it already, with the same value and time to live */
    uint64_t existing;   /* the target has another value, which was left alone */
    uint64_t gone;       /* deleted or expired at the source meanwhile */
    uint64_t failed;     /* `problem` was called */
    uint64_t unverified; /* written, or perhaps, before a failure ended the work; not verified */
    uint64_t replaced, in_chunks;
    uint64_t relabelled;   /* the target accepts only an older version of RDB in the payload */
    uint64_t copied_bytes; /* of payloads and chunks */
};
struct cluster_migration {
    const char *match; /* a pattern of SCAN; NULL: all keys */
    bool dry_run;      /* only the first pass */
    bool replace;      /* replace keys that exist at the target and differ */
    void *ctx;
    /* Called often. Returns false to stop: what was begun is finished or removed at the target. */
    bool (*progress)(void *ctx, const struct cluster_migrated *so_far);
    /* Called for each key that is not copied and verified, with the reason, except those that are
     * gone; and if a temporary key may be left. */
    void (*problem)(void *ctx, tamis_bytes key, const char *reason);
};
/* Copies the keys of RedisBloom's types and of TAMIS.* from one server or cluster to another, and
 * compares each copy with the original. The source is only read. At the target, a key appears with
 * its complete value, or not at all. Nobody else may write to these keys at the target meanwhile.
 * Returns false after a failure that ended the work, of which cluster_why of one of the handles
 * returns the reason. *out is set in any case. */
bool cluster_migrate(struct cluster *from, struct cluster *to, const struct cluster_migration *m,
                     struct cluster_migrated *out);

#endif
