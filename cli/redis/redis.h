/* Sets at redis:// addresses: the same commands as for files, with the work done by servers
 * (cluster/). */
#ifndef TAMIS_CLI_REDIS_H
#define TAMIS_CLI_REDIS_H

#include "../../cluster/cluster.h"
#include "../frame/cli.h"
#include "../input/lines.h"

/* A set behind an address. */
struct remote {
    struct cluster_address at;
    struct cluster *c;
    struct cluster_set *s;
};
/* The servers behind an address; false after a message. */
bool remote_connect(const struct args *a, const char *word, struct remote *out);
/* And the set. */
bool remote_open(const struct args *a, const char *word, struct remote *out);
void remote_close(struct remote *r);
/* What failed. Returns EXIT_ERROR. */
int remote_complain(const struct remote *r);
/* What TAMIS.INFO says of every shard, to be freed; NULL after a message. */
tamis_facts *remote_facts(const struct remote *r);

/* Whether the rate of the set exceeds its plan, by TAMIS.INFO of every shard, which reads all cells
 * there: 0.27 s for 1 GB. Kinds that are never overfull are not asked. Warns if so; EXIT_ERROR as
 * refuse_overfull. Where the servers do not answer, a note says so, and the result is EXIT_FOUND.
 * (redis_info.c) */
int remote_check_rate(const struct args *a, const struct remote *r, const char *fate);

/* Lines on their way to the shards of a set, in order (redis_lines.c). */
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
    const struct args *a;
    const struct remote *to;
    enum cluster_verb verb;
    const char *progress;
    /* Called for windows that are done, in the order of the input; false: enough. */
    bool (*done)(void *ctx, const struct window *w);
    void *ctx;
};
/* EXIT_FOUND when all lines, or enough, are done; after a message EXIT_NONE when all but those of
 * files that cannot be read are (where lines are written: but those behind them), EXIT_ERROR
 * otherwise. */
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

#endif
