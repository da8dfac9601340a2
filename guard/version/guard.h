/* The guard answers whether a URL is on a list of bad URLs. A filter of two megabytes answers
 * almost always. If the filter cannot exclude a URL, an exact store confirms it.
 *
 *     lists --> guard_build --> a directory --> guard_open --> guard_check, guard_confirm, server
 *
 * The directory holds one published version at a time. Its manifest names all files of the version
 * and is replaced as the last step:
 *
 *     manifest        version, sizes, the SHA-256 of every other file, and its own checksum
 *     B.filter        base: the expressions listed when version B was built; kind ribbon or exact,
 *                     or map if it has a label for each of them
 *     V.delta         filter of the expressions added since the base, if there are any
 *     V.removed       expressions removed since the base: sorted 4-byte prefixes, big-endian
 *     B.store         LMDB database for the base: full hash to labels
 *     V.store         the same for this version; this one decides
 *
 * An expression may be listed when its hash is in the base or in the delta, and its first four
 * bytes are not among the removed prefixes. The builder never adds a prefix to the removed list
 * that a listed expression has. */
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include "../url/hash.h"
#include "../url/url.h"

#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#define GUARD_LABELS 64 /* the most lists with distinct names */
#define GUARD_LABEL_SIZE 64
#define GUARD_PREFIX 4 /* bytes of a hash that a client sends to a server */

/* The reason for a failure, as one line. */
typedef struct guard_error {
    char text[256];
} guard_error;

/* --- Keys and signatures (signature.h) -------------------------------------------------------- */

#define GUARD_ED25519_KEY 32
#define GUARD_ED25519_SIGNATURE 64
#define GUARD_KEYNUM 8
#define GUARD_SIGNERS 8 /* the most keys that sign or are pinned together */

/* The key number is drawn at random and tells keys apart. It proves nothing. */
typedef struct guard_pubkey {
    uint8_t keynum[GUARD_KEYNUM];
    uint8_t key[GUARD_ED25519_KEY];
} guard_pubkey;

/* A secret. The caller chooses a place for it and wipes it. */
typedef struct guard_seckey {
    uint8_t keynum[GUARD_KEYNUM];
    uint8_t seed[GUARD_ED25519_KEY];
    uint8_t key[GUARD_ED25519_KEY]; /* the public key of the seed */
} guard_seckey;

typedef struct guard_signature {
    uint8_t keynum[GUARD_KEYNUM];
    uint8_t bytes[GUARD_ED25519_SIGNATURE];
} guard_signature;

/* --- Building (build.c) ----------------------------------------------------------------------- */

typedef struct guard_list {
    const char *label; /* NULL for lists of good URLs */
    const char *path;  /* "-": standard input */
} guard_list;

/* Where the bytes of a list come from. The guard itself reads files as they are; a caller that can
 * decompress files supplies this interface. */
typedef struct guard_reader {
    void *(*open)(const char *path);               /* NULL on failure, with errno set */
    ssize_t (*read)(void *in, void *to, size_t n); /* 0 at the end, -1 on failure */
    const char *(*reason)(const void *in);         /* the reason for the failure */
    void (*close)(void *in);
} guard_reader;

typedef struct guard_request {
    const char *directory;
    const guard_list *bad;
    size_t n_bad;
    const guard_list *good; /* URLs that the filter must not match */
    size_t n_good;
    uint64_t max_bytes; /* limit for the base filter */
    /* The filter has a label for each expression, that of the first list with it, so that clients
     * can show it before they ask the server. Not with good URLs. */
    bool labels_in_filter;
    /* A list without an entry, or with more invalid lines than entries, is an error: a wrong file
     * or a failed download is far more likely than such a list. With `lenient` it is accepted. */
    bool lenient;
    /* Keys that sign the manifest, each once. Without any, a build fails if the published version
     * is signed, because clients that pin its key would refuse the new one. */
    const guard_seckey *sign;
    size_t n_sign;
    uint64_t expires_after;     /* seconds until clients refuse the version; 0 means never */
    uint64_t max_list_bytes;    /* limit for each list when it is unpacked; 0 means none */
    const guard_reader *reader; /* NULL reads files as they are */
    /* Called for each invalid line, with the reason; may be NULL. */
    void (*reject)(void *ctx, const char *path, uint64_t line, const char *reason);
    /* Called for each entry of a bad list that does not cover everything below it, with the result
     * of guard_url_depth; may be NULL. */
    void (*deep)(void *ctx, const char *path, uint64_t line, unsigned deep);
    void *ctx;
} guard_request;

typedef struct guard_part {
    uint64_t bytes;
    char sha256[2 * GUARD_HASH_SIZE + 1];
} guard_part;

/* The contents of a manifest. */
typedef struct guard_manifest {
    uint64_t version, base; /* equal if there is no delta */
    time_t built;
    char id[33]; /* random, in hex; unique to this build */
    /* Numbers of distinct expressions. If the filter has labels, an expression that got another
     * label counts as added. */
    uint64_t entries, base_entries, added, removed;
    uint64_t lines, rejects, good;
    double rate;   /* false-positive rate of base and delta together, for one expression */
    uint64_t seed; /* seed of the base filter's hash */
    /* `bytes` is 0 for a part that does not exist. */
    guard_part filter, delta, removal, base_store, store;
    size_t n_labels;
    char labels[GUARD_LABELS][GUARD_LABEL_SIZE];
    time_t expires; /* 0 means never */
    size_t n_signatures;
    guard_signature signatures[GUARD_SIGNERS];
} guard_manifest;

/* Builds the next version and publishes it by one rename. A build killed at any moment leaves the
 * previous version complete. */
bool guard_build(const guard_request *r, guard_manifest *out, guard_error *why);

/* --- One version, open (guard.c) -------------------------------------------------------------- */

typedef struct guard guard;

/* Opens the published version. All its files are read into memory, and every checksum is verified
 * there before any content is used, so nothing that happens to the files later changes an answer.
 * Several threads may use the handle at once. */
guard *guard_open(const char *directory, guard_error *why);
void guard_close(guard *g);
const guard_manifest *guard_about(const guard *g);
/* Returns the text of the manifest, byte for byte. */
const char *guard_manifest_text(const guard *g);
/* Returns the bytes of a part as they are served ("filter", "delta", "removed"), or NULL if the
 * version lacks it. They are valid until guard_close. */
const void *guard_bytes(const guard *g, const char *part, size_t *size);

/* The filter's answer for a hash; false is certain. */
bool guard_may_list(const guard *g, const uint8_t hash[GUARD_HASH_SIZE]);
/* Whether the filter has labels. */
bool guard_has_labels(const guard *g);
/* The label that the filter has for a hash that may be listed, or NULL. A hash that is not listed
 * gets any label, at the rate of the filter. */
const char *guard_likely_label(const guard *g, const uint8_t hash[GUARD_HASH_SIZE]);
/* The store's answer: 1 if listed (bits in *labels), 0 if not, -1 if it cannot be determined. */
int guard_confirm(const guard *g, const uint8_t hash[GUARD_HASH_SIZE], uint64_t *labels);
/* Calls put for each listed hash that begins with these four bytes. Returns false if the store
 * fails or put returns false. */
bool guard_find_prefix(const guard *g, const uint8_t prefix[GUARD_PREFIX],
                       bool (*put)(void *ctx, const uint8_t hash[GUARD_HASH_SIZE], uint64_t labels),
                       void *ctx);

/* --- Trust (trust.c) -------------------------------------------------------------------------- */

/* The version that was accepted last; its number is 0 if there was none. */
typedef struct guard_accepted {
    uint64_t version;
    time_t built;
    char id[33];
} guard_accepted;

/* What a client requires of a version. One thread at a time may use it. */
typedef struct guard_trust {
    const guard_pubkey *pinned; /* one of these must have signed the manifest */
    size_t n_pinned;
    /* A file that remembers the last accepted version, or NULL. It is created by the first accepted
     * version and replaced atomically by newer ones. If it is damaged, or cannot be written, no
     * version is accepted. Programs that share it never move it back. */
    const char *state;
    guard_accepted last; /* the same in memory */
} guard_trust;

/* Does what guard_open does, and refuses the version unless the manifest is signed by a pinned key,
 * is not older than the last accepted version (by version, id and time), has not expired, and was
 * not built more than an hour in the future. Then remembers it as the last accepted version. After
 * a failure nothing has changed. Without `t` it is guard_open. */
guard *guard_open_trusted(const char *directory, guard_trust *t, guard_error *why);
/* Reports whether a version that was accepted has expired since. */
bool guard_has_expired(const guard *g, time_t now);

/* --- A URL (check.c) -------------------------------------------------------------------------- */

typedef enum guard_verdict {
    GUARD_CLEAN,       /* certainly not listed */
    GUARD_LISTED,      /* certainly listed */
    GUARD_UNCONFIRMED, /* the filter cannot exclude it and the store cannot decide */
    GUARD_BAD_URL      /* its canonical form is unknown; url_status is the reason */
} guard_verdict;

typedef struct guard_answer {
    guard_verdict verdict;
    guard_url_status url_status;
    size_t expressions, maybes; /* maybes: how many the filter could not exclude */
    size_t asked;               /* of the maybes, those looked up in the store */
    size_t refuted;             /* and those that the store had refuted before */
    uint64_t labels;            /* when listed */
    uint64_t likely;            /* if the filter has labels: those of the maybes */
    char expression[256];       /* when listed: the matching expression, shortened */
} guard_answer;

/* Positives that the store refuted, so that the same false positive is looked up only once. The
 * memory is exact and bounded, and belongs to one version. It is not safe for several threads. */
typedef struct guard_memory guard_memory;
guard_memory *guard_memory_new(size_t most); /* NULL when memory runs out */
void guard_memory_free(guard_memory *m);

/* Returns the verdict on a URL. `memory` may be NULL. */
guard_answer guard_check(const guard *g, guard_memory *memory, const void *url, size_t len);

/* --- Serving (server.c) ----------------------------------------------------------------------- */

/* What the access log has about a client: nothing, the first 24 or 48 bits of its IPv4 or IPv6
 * address, or the whole address. */
enum guard_log_clients { GUARD_LOG_NO_CLIENTS, GUARD_LOG_NETWORKS, GUARD_LOG_ADDRESSES };

typedef struct guard_service {
    const char *directory;
    const char *address;           /* where to listen: an IP address or the path of a Unix socket;
                                    * NULL means loopback */
    uint16_t port;                 /* 0 means any free port */
    int socket;                    /* listens already; 0 means that the server makes its own */
    unsigned threads;              /* 0 means one per processor */
    unsigned cache_seconds;        /* how long an answer may be cached; 0 means 300 */
    unsigned connections;          /* maximum; 0 means 1000 */
    unsigned per_address;          /* maximum per client address; 0 means 64 */
    const char *const *host_names; /* names of this server besides localhost */
    size_t n_host_names;
    unsigned requests_per_second; /* maximum per client address; 0 means no limit */
    unsigned timeout_seconds;     /* for a silent connection; 0 means 10 */
    guard_trust *trust;           /* what a version must fulfil; NULL accepts all */
    const char *metrics_address;  /* ADDRESS:PORT or a path, where alone /metrics is served. NULL
                                   * means beside the rest, if that is at a loopback address and
                                   * there is no proxy */
    const char *const *proxies;   /* trusted to name their clients: ADDRESS[/BITS] or "unix" */
    size_t n_proxies;
    const char *access_log; /* a file or "-"; NULL means none */
    enum guard_log_clients log_clients;
    /* Called once, when the server listens. metrics_port is 0 without metrics_address. */
    void (*ready)(void *ctx, uint16_t port, uint16_t metrics_port);
    void *ctx;
} guard_service;

/* Serves until SIGTERM or SIGINT, and publishes new versions of the directory as they appear. These
 * signals and SIGHUP stay blocked when it returns: the program is about to end, and a late signal
 * must not change its exit status. */
bool guard_serve(const guard_service *s, guard_error *why);

#endif
