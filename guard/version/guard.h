/* The guard: is this URL on a list of bad ones? Almost always answered by a filter of two
 * megabytes; what the filter cannot exclude is confirmed by an exact store.
 *
 *     lists ──> guard_build ──> a directory ──> guard_open ──> guard_check, guard_confirm, a server
 *
 * The directory holds one published version at a time, all of it named in a manifest that is
 * replaced as the last step:
 *
 *     manifest        version, sizes and the SHA-256 of every other file, and of itself
 *     B.filter        of the base: the listed expressions when version B was built; ribbon, or exact
 *     V.delta         a filter of what was added since the base, if anything was
 *     V.removed       of what was removed since: sorted 4-byte prefixes, big-endian
 *     B.store         LMDB: full hash to labels, of the base
 *     V.store         the same of this version; what counts
 *
 * An expression may be listed when its hash is in the base or in the delta, and its first four
 * bytes are not among the removed ones. The builder lets no prefix into the removed list that a
 * listed expression has. */
#ifndef GUARD_GUARD_H
#define GUARD_GUARD_H

#include "../url/hash.h"
#include "../url/url.h"

#include <stdio.h>
#include <sys/types.h>
#include <time.h>

#define GUARD_LABELS 64 /* lists of different names, at most */
#define GUARD_LABEL_SIZE 64
#define GUARD_PREFIX 4 /* bytes of a hash that a server is shown */

/* Why something failed: one line. */
typedef struct guard_error {
    char text[256];
} guard_error;

/* --- Building (build.c) ----------------------------------------------------------------------- */

typedef struct guard_list {
    const char *label; /* NULL for lists of good URLs */
    const char *path;  /* "-": standard input */
} guard_list;

/* Where the bytes of a list come from. The guard reads files as they are; whoever can unpack them
 * brings this. */
typedef struct guard_reader {
    void *(*open)(const char *path);               /* NULL: it cannot be, and errno says why */
    ssize_t (*read)(void *in, void *to, size_t n); /* 0: the end; -1: it failed */
    const char *(*reason)(const void *in);         /* why it failed */
    void (*close)(void *in);
} guard_reader;

typedef struct guard_request {
    const char *directory;
    const guard_list *bad;
    size_t n_bad;
    const guard_list *good; /* never to be taken for bad ones */
    size_t n_good;
    uint64_t max_bytes; /* of the base filter */
    /* A list without an entry, or with more lines that are none than entries, is an error: a wrong
     * file, or a download that failed, is far more likely than a list of that sort. Lenient: it is
     * taken all the same. */
    bool lenient;
    const guard_reader *reader; /* NULL: files as they are */
    /* Called for each line that is none, with its reason; may be NULL. */
    void (*reject)(void *ctx, const char *path, uint64_t line, const char *reason);
    void *ctx;
} guard_request;

typedef struct guard_part {
    uint64_t bytes;
    char sha256[2 * GUARD_HASH_SIZE + 1];
} guard_part;

/* What a manifest says. */
typedef struct guard_manifest {
    uint64_t version, base; /* equal: there is no delta */
    time_t built;
    char id[33];                                    /* random, hex: of this build and no other */
    uint64_t entries, base_entries, added, removed; /* different expressions */
    uint64_t lines, rejects, good;
    double rate;   /* chance that an expression which is not listed gets a maybe: base and delta */
    uint64_t seed; /* of the base filter's hash */
    guard_part filter, delta, removal, base_store, store; /* bytes 0: none */
    size_t n_labels;
    char labels[GUARD_LABELS][GUARD_LABEL_SIZE];
} guard_manifest;

/* Builds the next version and publishes it by one rename. Killed at any moment it leaves the
 * version before, whole. */
bool guard_build(const guard_request *r, guard_manifest *out, guard_error *why);

/* --- One version, open (guard.c) -------------------------------------------------------------- */

typedef struct guard guard;

/* Every sum is checked before anything is believed. The files stay open: a newer version may
 * replace them. May be used by several threads at once. */
guard *guard_open(const char *directory, guard_error *why);
void guard_close(guard *g);
const guard_manifest *guard_about(const guard *g);
/* The bytes of a part as served ("filter", "delta", "removed"); NULL: there is none. Valid until
 * guard_close. */
const void *guard_bytes(const guard *g, const char *part, size_t *size);

/* The filter's answer to a hash: false is certain. */
bool guard_may_list(const guard *g, const uint8_t hash[GUARD_HASH_SIZE]);
/* The store's: 1 listed (bits of *labels), 0 not, -1 it cannot tell. */
int guard_confirm(const guard *g, const uint8_t hash[GUARD_HASH_SIZE], uint64_t *labels);
/* All listed hashes that begin with these four bytes: calls put for each; false when it cannot
 * tell, or put says so. */
bool guard_find_prefix(const guard *g, const uint8_t prefix[GUARD_PREFIX],
                       bool (*put)(void *ctx, const uint8_t hash[GUARD_HASH_SIZE], uint64_t labels),
                       void *ctx);

/* --- A URL (check.c) -------------------------------------------------------------------------- */

typedef enum guard_verdict {
    GUARD_CLEAN,       /* certainly not listed */
    GUARD_LISTED,      /* certainly listed */
    GUARD_UNCONFIRMED, /* the filter cannot exclude it and the store cannot tell */
    GUARD_BAD_URL      /* no URL that could be listed: see url_status */
} guard_verdict;

typedef struct guard_answer {
    guard_verdict verdict;
    guard_url_status url_status;
    size_t expressions, maybes; /* maybes: how many the filter could not exclude */
    size_t asked;               /* of them: those that the store was asked for */
    size_t refuted;             /* and those that it had refuted before */
    uint64_t labels;            /* when listed */
    char expression[256];       /* when listed: which, shortened */
} guard_answer;

/* Positives that the store refuted, so that the same false positive never asks twice: exact,
 * bounded, of one version. Not for several threads. */
typedef struct guard_memory guard_memory;
guard_memory *guard_memory_new(size_t most); /* NULL: no memory */
void guard_memory_free(guard_memory *m);

/* memory may be NULL. */
guard_answer guard_check(const guard *g, guard_memory *memory, const void *url, size_t len);

/* --- Serving (server.c) ----------------------------------------------------------------------- */

typedef struct guard_service {
    const char *directory;
    const char *address;                     /* to listen at; NULL: loopback */
    uint16_t port;                           /* 0: a free one */
    unsigned threads;                        /* 0: one per processor */
    unsigned cache_seconds;                  /* how long an answer may be kept; 0: 300 */
    unsigned connections;                    /* at most; 0: 1000 */
    unsigned per_address;                    /* of one client address; 0: 64; */
    unsigned requests_per_second;            /* of one client address; 0: no limit */
    unsigned timeout_seconds;                /* of a connection that says nothing; 0: 10 */
    void (*ready)(void *ctx, uint16_t port); /* called once, when it listens */
    void *ctx;
} guard_service;

/* Serves until SIGTERM or SIGINT; publishes new versions of the directory as they appear. */
bool guard_serve(const guard_service *s, guard_error *why);

#endif
