/* Sets at redis:// addresses: the same commands as for files. The servers do the work
 * (cluster/). */
#ifndef TAMIS_CLI_REDIS_H
#define TAMIS_CLI_REDIS_H

#include "../../cluster/cluster.h"
#include "../input/lines.h"

#include <tamis/inspect.h>

/* Whether an argument that names a filter is a redis:// address, and the command for such sets
 * (filters/redis.c). */
bool names_redis(const struct args *a);
int run_redis(const struct args *a);
/* False after a message when an option is only for such sets. */
bool check_no_redis_options(const struct args *a);

/* Removes users and passwords from a word of the command line, which other users can list, and
 * keeps them for remote_address (connection.c). Returns false. */
bool hide_credentials(const char *word);
void forget_credentials(void);
/* False after a message when TLS is configured for an address that does not use it. */
bool check_tls_options(const struct args *a, bool secure);
/* Parses an address, by cluster_parse or cluster_parse_server, and completes it by the options and
 * the environment: everything that cluster_open needs. False after a message. The caller wipes it
 * (connection.c). */
typedef const char *parse_address(const char *word, struct cluster_address *out);
bool remote_address(const struct args *a, const char *word, parse_address *parse,
                    struct cluster_address *out);
/* The same for a further set at the servers of the first; the reason if it is elsewhere. */
const char *remote_sibling(const char *word, const struct cluster_address *first,
                           struct cluster_address *out);

/* A set behind an address. */
struct remote {
    struct cluster_address at;
    struct cluster *c;
    struct cluster_set *s;
};
/* Connects to the servers of an address; false after a message. */
bool remote_connect(const struct args *a, const char *word, struct remote *out);
/* The same for an address without the name of a set: a server or a cluster as a whole. */
bool remote_connect_server(const struct args *a, const char *word, struct remote *out);
/* Connects, and opens the set. */
bool remote_open(const struct args *a, const char *word, struct remote *out);
void remote_close(struct remote *r);
/* Removes a set that was not finished. Returns the message about what is left of it. */
const char *remote_abandon(const struct remote *r);
/* Prints what failed. Returns EXIT_ERROR. */
int remote_complain(const struct remote *r);
/* The facts of every shard by TAMIS.INFO FULL, which the caller frees; NULL after a message. */
tamis_facts *remote_facts(const struct remote *r);

/* Checks the rate of the set by TAMIS.INFO FULL of every shard, which reads all cells there: 0.27 s
 * for 1 GB. Kinds that are never overfull are not checked. Prints a warning when the rate exceeds
 * the plan, and returns false as check_not_overfull does. Where the servers do not answer, a note
 * says so, and the result is true (info.c). */
bool remote_check_rate(const struct args *a, const struct remote *r, const char *fate);

/* Lines that are sent to the shards of a set, in order (lines.c). */
struct window {
    struct cluster_batch batch;
    tamis_bytes *lines, *keys;
    tamis_hash *hashes;
    int64_t *weights;
    size_t n, room;
    char *text;
    size_t size, text_room;
    uint64_t input_bytes;
};
struct flow {
    const struct line_args *lines;
    unsigned threads;
    bool quiet, prints; /* prints: lines just as they are */
    const struct remote *to;
    enum cluster_verb verb;
    const char *progress;
    /* Called for each window that is done, in the order of the input. Returns false when that is
     * enough. */
    bool (*done)(void *ctx, const struct window *w);
    void *ctx;
};
/* Returns EXIT_FOUND when all lines, or enough of them, are done. After a message: EXIT_NONE when
 * all lines are done except those of files that cannot be read (when lines are written, also except
 * those behind them), and EXIT_ERROR otherwise. */
int send_lines(const struct flow *f, char **files, int n);
int remote_build(const struct args *a);
int remote_count(const struct args *a);
int remote_add(const struct args *a);
int remote_remove(const struct args *a);
int remote_check(const struct args *a);
int remote_freq(const struct args *a);
int remote_merge(const struct args *a);
int remote_info(const struct args *a);
int remote_rotate(const struct args *a);
int remote_top(const struct args *a);
int remote_distinct(const struct args *a);
int remote_migrate(const struct args *a);
/* Makes the distinct set of -o from the lines of the words. *lines is their number. The caller
 * closes *r (add.c). */
int remote_make_distinct(const struct args *a, struct remote *r, uint64_t *lines);
/* The number of distinct lines of a set. False after a message (distinct.c). */
bool remote_card(const struct remote *r, tamis_cardinality *out);
void print_remote_distinct(const tamis_cardinality *n, uint64_t bytes);

#endif
