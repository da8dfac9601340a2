/* What the files that copy keys share: the types, the state of the work, and keys on their way. */
#ifndef TAMIS_CLUSTER_MIGRATE_H
#define TAMIS_CLUSTER_MIGRATE_H

#include "client.h"

#include <tamis/hashes.h>

#include <inttypes.h>

/* --- Types ------------------------------------------------------------------------------------ */

struct key_type {
    const char *name;             /* as TYPE returns it */
    const char *info;             /* a command that reads such a key */
    const char *scandump, *chunk; /* NULL if the type has no chunks */
};
extern const struct key_type key_types[CLUSTER_TYPES];

/* --- Payloads of DUMP (payload.c) ------------------------------------------------------------- */

/* What a payload says, whatever the server's compression and RDB version. */
struct fingerprint {
    tamis_hash fields;  /* of all fields */
    tamis_hash strings; /* of the strings alone, which are the cells */
    bool has_strings;   /* a t-digest has none */
    unsigned layout;    /* the version of the type's fields */
};
enum payload_status { PAYLOAD_OK, PAYLOAD_WRONG, PAYLOAD_NO_MEMORY };
/* Reads a payload of this type. */
enum payload_status payload_read(const void *p, size_t n, const char *type,
                                 struct fingerprint *out);
/* Replaces the RDB version of a payload by one that older servers accept. The fields of modules
 * are the same in all versions from that one on. */
void payload_relabel(void *p, size_t n);
/* Adds bytes to a hash. */
void fingerprint_add(tamis_hash *h, unsigned kind, const void *p, size_t n);

/* --- The work --------------------------------------------------------------------------------- */

struct migration {
    struct cluster *from, *to;
    const struct cluster_migration *wanted;
    struct cluster_migrated *out;
    bool known[CLUSTER_TYPES]; /* the target has the type */
    bool relative;             /* a server lacks PEXPIRETIME */
    bool relabel;
    uint64_t most_bulk; /* the longest argument that the target accepts */
    uint64_t chunks_above;
    unsigned serial; /* for names of unfinished keys */
};

enum key_outcome { KEY_OPEN, KEY_COPIED, KEY_EQUAL, KEY_EXISTING, KEY_GONE, KEY_FAILED };
struct moving_key {
    tamis_bytes name;
    const struct key_type *type;
    uint64_t size; /* MEMORY USAGE; 0 if unknown */
    enum key_outcome outcome;
    bool exists; /* the name is in use at the target */
    bool same_type;
    bool written;  /* by this run */
    bool sent;     /* a command that writes it, whose reply has not arrived */
    bool late;     /* it has expired by the clock of the target */
    bool replaced; /* something else was there */
    bool relabelled;
    struct reply *value, *expiry, *answer;
    struct fingerprint print;
    int64_t expires; /* milliseconds since 1970, or of client_now; -1: never */
};
/* The value and the time to live of a key, as they were read at one server. */
struct key_state {
    bool exists;
    struct fingerprint print;
    int64_t expires;
};

enum { TEMPORARY_NAME = 128, TEMPORARY_MILLISECONDS = 3600 * 1000 };

#define COMPARE_CLOCKS                                                                             \
    "it has expired already by the clock of the target, so it was not written; compare the "       \
    "clocks of the servers"
/* For a value or a chunk, its bytes and the limit. */
#define TOO_LONG                                                                                   \
    "its %s has %zu bytes, and the target accepts less than %" PRIu64 " (proto-max-bulk-len)"

/* Makes a name that no other key has, in this slot: the tag is the smallest number of the slot. */
void name_temporary(struct migration *m, unsigned slot, char out[TEMPORARY_NAME]);

/* Reports a problem with one key, which has this outcome then. */
void key_problem(const struct migration *m, struct moving_key *k, enum key_outcome outcome,
                 const char *format, ...) __attribute__((format(printf, 4, 5)));
/* Counts a key that is dealt with. */
void key_done(const struct migration *m, const struct moving_key *k);
/* Calls `progress`. Returns false if the work is to stop. */
bool may_continue(const struct migration *m);

/* --- Commands --------------------------------------------------------------------------------- */

/* Makes a command about a key: its name, the key, and `more` words with room for so many bytes. */
struct request *key_request(const char *command, tamis_bytes key, size_t more, size_t bytes);
/* Submits a command whose reply *to gets, unless the client fails. */
void ask_later(struct cluster *c, struct request *r, struct reply **to);
/* Waits for all commands of both clients. Returns false if one of them has failed; nothing is in
 * flight then. */
bool await_both(const struct migration *m);
/* Submits the command that reads the time to live of a key, and decodes its reply: -1 for a key
 * without one, -2 for a missing key, -3 for nonsense. */
void ask_expiry(const struct migration *m, struct cluster *c, tamis_bytes key, struct reply **to);
int64_t expiry_of(const struct migration *m, const struct reply *reply);
/* Submits TIME to the server of this key, and decodes its reply: milliseconds since 1970, or -1 for
 * nonsense. */
void ask_time(struct cluster *c, tamis_bytes key, struct reply **to);
int64_t time_of_reply(const struct reply *reply);
bool same_expiry(const struct migration *m, int64_t one, int64_t other);
/* Ends the work because of an error reply that is not about one key. Returns false. */
bool fail_reply(struct cluster *c, const struct reply *reply);

/* --- Keys of all masters (scan.c) ------------------------------------------------------------- */

/* Calls `visit` for every master, with a connection of its own. `visit` returns false after a
 * failure. */
struct node;
bool each_master(struct cluster *c, void *ctx,
                 bool (*visit)(void *ctx, struct cluster *c, const struct node *n, struct link *l));
/* Sends a command on that connection, and frees it. Returns NULL after recording a failure. */
struct reply *master_ask(struct cluster *c, const struct node *n, struct link *l,
                         struct request *r);
/* Calls `page` with keys of all masters, until it returns false. Returns false after a failure; so
 * it does if slots have moved meanwhile, because keys may have been missed. */
bool scan_keys(const struct migration *m, void *ctx,
               bool (*page)(void *ctx, const struct reply *keys));

/* --- Copying ---------------------------------------------------------------------------------- */

/* Copies n keys, and counts them. Returns false after a failure. */
bool copy_keys(struct migration *m, struct moving_key *keys, size_t n);
/* Copies one key in chunks. Returns false after a failure. The outcome stays open if the type or
 * the filter has no chunks. */
bool copy_in_chunks(struct migration *m, struct moving_key *k);

#endif
