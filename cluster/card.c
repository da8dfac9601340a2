/* The number of distinct items. Every item belongs to one shard, so the number of a set is the sum
 * over its shards. Sets with equal numbers of shards have their shards in the same slots, and the
 * same item in the same shard. So the servers form the unions of shards (TAMIS.CARD with several
 * keys), and no sketch leaves its server. */
#include "set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The quantile of a 99 % confidence interval. */
#define Z99 2.5758293035489004

struct card_sum {
    struct cluster_set *const *sets;
    unsigned n;
    double value, below, above; /* the sum; the sums of the squared distances to the bounds */
    bool exact;
};

struct card_part {
    struct card_sum *sum;
    unsigned shard;
};

/* The server replies with 2^63 - 1 for all numbers that are greater. */
static double real_number(const struct reply *r)
{
    return r->number < INT64_MAX ? (double)r->number : INFINITY;
}

/* The errors of the shards are independent, so their squares add up. */
static void answer_card(struct request *r, struct cluster *c, const struct reply *reply)
{
    const struct card_part *p = r->more;
    struct card_sum *sum = p->sum;
    const struct reply *e = reply->list;
    const char *key = sum->sets[0]->shards[p->shard].key;
    bool good = reply->type == REPLY_LIST && reply->n >= 3;
    for (size_t i = 0; i < 3 && good; i++) good = e[i].type == REPLY_NUMBER;
    if (!good || e[1].number < 0 || e[0].number < e[1].number || e[2].number < e[0].number) {
        client_fail_reply(c, key, reply);
        return;
    }
    const double value = real_number(&e[0]), low = real_number(&e[1]), high = real_number(&e[2]);
    sum->value += value;
    if (low < value) sum->below += (value - low) * (value - low);
    if (value < high) sum->above += (high - value) * (high - value);
    sum->exact = sum->exact && low == high;
}

/* A missing key would count as empty, but every shard of a set exists. */
static void answer_exists(struct request *r, struct cluster *c, const struct reply *reply)
{
    const struct card_part *p = r->more;
    const char *key = p->sum->sets[0]->shards[p->shard].key;
    if (reply->type != REPLY_NUMBER)
        client_fail_reply(c, key, reply);
    else if (reply->number != p->sum->n && p->sum->n == 1)
        client_fail(c, "%s: the shard is missing", key);
    else if (reply->number != p->sum->n)
        client_fail(c, "%s: this shard is missing, or one of those that it is counted with", key);
}

/* Sends a command about all shards with this number. `option` may be NULL. */
static bool ask_shards(struct card_sum *sum, unsigned shard, const char *word, const char *option,
                       void (*answer)(struct request *r, struct cluster *c,
                                      const struct reply *reply))
{
    const struct shard *first = &sum->sets[0]->shards[shard];
    struct cluster *c = sum->sets[0]->c;
    const unsigned n = sum->n;
    struct request *r =
        request_new(first->slot, n + 1 + (option != NULL), 32 + n * sizeof first->key);
    struct card_part *p = malloc(sizeof *p);
    if (r == NULL || p == NULL) {
        request_free(r);
        free(p);
        return client_fail(c, "not enough memory");
    }
    *p = (struct card_part){sum, shard};
    request_text(r, word);
    for (unsigned i = 0; i < n; i++) request_text(r, sum->sets[i]->shards[shard].key);
    if (option != NULL) request_text(r, option);
    r->more = p;
    r->answer = answer;
    client_submit(c, r);
    return true;
}

/* The lower bound is never negative, and infinite numbers have no upper one. */
static void take_card(const struct card_sum *sum, tamis_cardinality *out)
{
    const double below = sqrt(sum->below), above = sqrt(sum->above);
    out->value = sum->value;
    out->low = sum->value - below > 0 ? sum->value - below : 0;
    out->high = sum->value + above;
    out->exact = sum->exact;
    out->error = sum->exact || !(sum->value > 0) ? 0 : (below + above) / 2 / Z99 / sum->value;
}

bool cluster_sets_card(struct cluster_set *const *sets, unsigned n, tamis_cardinality *out)
{
    struct cluster *c = sets[0]->c;
    struct card_sum sum = {.sets = sets, .n = n, .exact = true};
    bool good = cluster_why(c) == NULL;
    for (unsigned i = 1; i < n && good; i++) {
        if (sets[i]->n != sets[0]->n)
            good = client_fail(c, "%s and %s have different numbers of shards, %u and %u",
                               sets[0]->name, sets[i]->name, sets[0]->n, sets[i]->n);
        else if (sets[i]->n > 1 && sets[i]->route != sets[0]->route)
            good = client_fail(c, "%s and %s choose the shards of their items differently",
                               sets[0]->name, sets[i]->name);
    }
    for (unsigned i = 0; i < sets[0]->n && good; i++)
        good = ask_shards(&sum, i, "EXISTS", NULL, answer_exists) &&
               ask_shards(&sum, i, "TAMIS.CARD", "WITHINTERVAL", answer_card);
    if (!good || !cluster_await(c, NULL)) return false;
    take_card(&sum, out);
    return true;
}
