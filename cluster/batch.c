/* Items go to their shards by the thousand: the items of a batch that belong to one shard share a
 * command. */
#include "set.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Limits of one command. With a thousand items the fixed cost of a command no longer matters
 * (docs/REDIS.md, "Speed"). Other clients of the server wait meanwhile. */
#define MOST_ITEMS ((size_t)1000)
#define MOST_BYTES ((size_t)1 << 20)
/* A server closes the connection of a client that sends more: proto-max-bulk-len. */
#define LONGEST_ITEM ((size_t)512 << 20)

struct part {
    struct cluster_set *s;
    struct cluster_batch *b;
    unsigned shard;
    bool brief; /* sent as the command of older modules */
    size_t n;
    uint32_t index[]; /* positions of its items in the batch */
};

static const struct {
    const char *word;
    bool writes, once;
} verbs[] = {[CLUSTER_ADD] = {"TAMIS.MADD", true, false},
             [CLUSTER_WEIGH] = {"TAMIS.INCRBY", true, false},
             [CLUSTER_EXCLUDE] = {"TAMIS.EXCLUDE", true, false},
             [CLUSTER_REMOVE] = {"TAMIS.REMOVE", true, true},
             [CLUSTER_HAS] = {"TAMIS.MHAS", false, false},
             [CLUSTER_COUNT] = {"TAMIS.ESTIMATE", false, false}};
/* The command of servers with older modules. */
static const char brief_count[] = "TAMIS.COUNT";

static const char *verb_name(const struct cluster_set *s, enum cluster_verb verb)
{
    return verb == CLUSTER_COUNT && s->brief ? brief_count : verbs[verb].word;
}

/* --- Replies ---------------------------------------------------------------------------------- */

bool take_estimate(const struct reply *e, size_t n, tamis_estimate *out)
{
    if (n != BRIEF && n < FULL) return false;
    for (size_t i = 0; i < BRIEF; i++)
        if (e[i].type != REPLY_NUMBER) return false;
    *out = (tamis_estimate){
        .estimate = e[0].number, .lower = e[1].number, .upper = e[2].number, .confidence = NAN};
    if (n == BRIEF) return true;
    char *end;
    out->confidence = e[3].type == REPLY_TEXT ? strtod(e[3].text, &end) : NAN;
    if (!(out->confidence >= 0 && out->confidence <= 1) || *end != '\0') return false;
    if (e[4].type != REPLY_NUMBER || (e[5].type != REPLY_NUMBER && e[5].type != REPLY_NIL) ||
        (e[6].type != REPLY_NUMBER && e[6].type != REPLY_NIL))
        return false;
    out->below_noise = e[4].number != 0;
    out->certain = e[5].type == REPLY_NIL ? INT64_MIN : e[5].number;
    out->judged = e[6].type == REPLY_NUMBER;
    out->suspect = e[6].number != 0;
    return true;
}

static bool send_part(struct cluster_set *s, struct cluster_batch *b, unsigned shard,
                      const uint32_t *index, size_t n);

static void answer_batch_part(struct request *r, struct cluster *c, const struct reply *reply)
{
    const struct part *p = r->more;
    struct cluster_batch *b = p->b;
    const char *key = p->s->shards[p->shard].key;
    if (r->repeated && r->writes) p->s->repeated += p->n;
    if (b->verb == CLUSTER_COUNT && !p->brief && reply_is_unknown(reply)) {
        p->s->brief = true;
        if (send_part(p->s, b, p->shard, p->index, p->n)) b->pending--;
        return;
    }
    const bool plain = b->verb == CLUSTER_WEIGH || b->verb == CLUSTER_EXCLUDE;
    if (plain ? reply->type == REPLY_ERROR : reply->type != REPLY_LIST) {
        client_fail_reply(c, key, reply);
        return;
    }
    for (size_t i = 0; i < reply->n && !plain; i++) {
        const struct reply *e = &reply->list[i];
        if (i >= p->n || (b->verb == CLUSTER_COUNT
                              ? e->type != REPLY_LIST ||
                                    !take_estimate(e->list, e->n, &b->estimates[p->index[i]])
                              : e->type != REPLY_NUMBER)) {
            client_fail_reply(c, key, e);
            return;
        }
        if (b->bits != NULL && e->number != 0)
            b->bits[p->index[i] / 8] |= (uint8_t)(1u << p->index[i] % 8);
    }
    if (!plain && reply->n < p->n) {
        client_fail(c, "%s: the reply has %zu answers for %zu items", key, reply->n, p->n);
        return;
    }
    b->pending--;
}

/* --- Commands --------------------------------------------------------------------------------- */

/* Sends the items index[0] to index[n - 1]. */
static bool send_part(struct cluster_set *s, struct cluster_batch *b, unsigned shard,
                      const uint32_t *index, size_t n)
{
    const struct shard *to = &s->shards[shard];
    const bool weighs = b->verb == CLUSTER_WEIGH;
    size_t bytes = strlen(verb_name(s, b->verb)) + sizeof to->key;
    for (size_t i = 0; i < n; i++) bytes += b->items[index[i]].len + (weighs ? 24 : 0);
    struct request *r = request_new(to->slot, 2 + (weighs ? 2 : 1) * n, bytes);
    struct part *p = malloc(sizeof *p + n * sizeof *p->index);
    if (r == NULL || p == NULL) {
        request_free(r);
        free(p);
        return client_fail(s->c, "not enough memory");
    }
    *p = (struct part){s, b, shard, s->brief, n};
    memcpy(p->index, index, n * sizeof *index);
    request_text(r, verb_name(s, b->verb));
    request_text(r, to->key);
    for (size_t i = 0; i < n; i++) {
        request_word(r, b->items[index[i]].p, b->items[index[i]].len);
        if (weighs) request_number(r, b->weights[index[i]]);
    }
    r->writes = verbs[b->verb].writes;
    r->once = verbs[b->verb].once;
    r->more = p;
    r->answer = answer_batch_part;
    b->pending++;
    client_submit(s->c, r);
    return true;
}

static bool send_shard(struct cluster_set *s, struct cluster_batch *b, unsigned shard,
                       const uint32_t *index, size_t n)
{
    while (n > 0) {
        size_t some = 0, bytes = 0;
        while (some < n && some < MOST_ITEMS && (some == 0 || bytes < MOST_BYTES))
            bytes += b->items[index[some++]].len;
        if (!send_part(s, b, shard, index, some)) return false;
        index += some;
        n -= some;
    }
    return true;
}

/* Stores the positions of all items, grouped by shard and in their order within each. `ends` tells
 * where the group of each shard ends. */
static void sort_by_shard(const struct cluster_set *s, const struct cluster_batch *b,
                          uint32_t *index, size_t *ends)
{
    size_t sum = 0;
    memset(ends, 0, (s->n + 1) * sizeof *ends);
    for (size_t i = 0; i < b->n; i++) ends[cluster_shard_of(s, b->hashes[i])]++;
    for (unsigned shard = 0; shard < s->n; shard++) {
        const size_t here = ends[shard];
        ends[shard] = sum;
        sum += here;
    }
    for (size_t i = 0; i < b->n; i++)
        index[ends[cluster_shard_of(s, b->hashes[i])]++] = (uint32_t)i;
}

bool cluster_send(struct cluster_set *s, struct cluster_batch *b)
{
    uint32_t *index = client_memory(s->c, b->n * sizeof *index);
    size_t *ends = client_memory(s->c, (s->n + 1) * sizeof *ends), from = 0;
    bool good = index != NULL && ends != NULL && b->n <= UINT32_MAX;
    for (size_t i = 0; i < b->n && good; i++)
        if (b->items[i].len > LONGEST_ITEM)
            good = client_fail(s->c, "an item of %zu bytes is longer than servers accept",
                               b->items[i].len);
    if (good) sort_by_shard(s, b, index, ends);
    for (unsigned shard = 0; shard < s->n && good; shard++) {
        good = send_shard(s, b, shard, index + from, ends[shard] - from);
        from = ends[shard];
    }
    free(index);
    free(ends);
    return good && cluster_step(s->c);
}
