/* Sets. The key of a set holds a hash with its facts:
 *
 *     tamis    1, the version of this layout    kind     the kind of its shards
 *     shards   their number                     route    seed of the hash that chooses a shard
 *     state    building, then ready             builder  a token unique to the writing process
 *
 * The hash is written first, with the state "building" and its builder; if several builds try, one
 * wins. So the remains of a killed build can be recognized, do not count as a set, and can be
 * removed to the last shard. From then on only the builder writes to the hash: the server compares
 * the builder and writes in one step, a script (EVAL), so a build that was superseded can never
 * write late. The shards of two sets with equal numbers of shards are in the same slots, whatever
 * the sets are named, so servers can merge them. */
#include "set.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define VERSION "1"

/* --- Commands --------------------------------------------------------------------------------- */

/* Makes a command of a few words; the last argument is NULL. */
static struct request *command(bool writes, unsigned slot, ...)
{
    va_list args;
    size_t words = 0, bytes = 0;
    const char *word;
    va_start(args, slot);
    for (; (word = va_arg(args, const char *)) != NULL; words++) bytes += strlen(word);
    va_end(args);
    struct request *r = request_new(slot, words, bytes);
    if (r == NULL) return NULL;
    r->writes = writes;
    va_start(args, slot);
    while ((word = va_arg(args, const char *)) != NULL) request_text(r, word);
    va_end(args);
    return r;
}

/* Handles the reply of one shard. Returns false after recording a failure. */
typedef bool (*shard_answer)(struct cluster_set *s, unsigned shard, const struct reply *reply,
                             void *ctx);
struct each {
    struct cluster_set *s;
    unsigned shard;
    shard_answer answer;
    void *ctx;
};

static void answer_each(struct request *r, struct cluster *c, const struct reply *reply)
{
    const struct each *e = r->more;
    (void)c;
    e->answer(e->s, e->shard, reply, e->ctx);
}

/* Accepts any reply except an error. */
static bool want_no_error(struct cluster_set *s, unsigned shard, const struct reply *reply,
                          void *ctx)
{
    (void)ctx;
    if (reply->type == REPLY_ERROR) return client_fail_reply(s->c, s->shards[shard].key, reply);
    return true;
}

static bool submit(struct cluster_set *s, unsigned shard, struct request *r, shard_answer answer,
                   void *ctx)
{
    struct each *e = r != NULL ? malloc(sizeof *e) : NULL;
    if (e == NULL) {
        request_free(r);
        return client_fail(s->c, "not enough memory");
    }
    *e = (struct each){s, shard, answer, ctx};
    r->more = e;
    r->answer = answer_each;
    client_submit(s->c, r);
    return true;
}

/* Sends a command of a word, the key and an option, which may be NULL, to all shards. */
static bool to_all(struct cluster_set *s, const char *word, const char *option, bool writes,
                   shard_answer answer, void *ctx)
{
    bool good = cluster_why(s->c) == NULL;
    for (unsigned i = 0; i < s->n && good; i++)
        good =
            submit(s, i, command(writes, s->shards[i].slot, word, s->shards[i].key, option, NULL),
                   answer, ctx);
    return good && cluster_await(s->c, NULL);
}

/* --- Sets ------------------------------------------------------------------------------------- */

static struct cluster_set *set_new(struct cluster *c, const char *name)
{
    struct cluster_set *s = client_memory(c, sizeof *s);
    if (s == NULL) return NULL;
    s->c = c;
    snprintf(s->name, sizeof s->name, "%s", name);
    s->slot = cluster_slot(name, strlen(name));
    return s;
}

void cluster_set_close(struct cluster_set *s)
{
    if (s == NULL) return;
    free(s->shards);
    free(s);
}

static bool name_shards(struct cluster_set *s, unsigned n)
{
    uint32_t *tags = client_memory(s->c, n * sizeof *tags);
    free(s->shards);
    s->shards = client_memory(s->c, n * sizeof *s->shards);
    s->n = s->shards != NULL ? n : 0;
    if (tags != NULL && s->shards != NULL) {
        cluster_tags(n, tags);
        for (unsigned i = 0; i < n; i++) {
            struct shard *shard = &s->shards[i];
            snprintf(shard->key, sizeof shard->key, "%s:{%u}", s->name, tags[i]);
            shard->slot = cluster_slot(shard->key, strlen(shard->key));
        }
    }
    free(tags);
    return cluster_why(s->c) == NULL;
}

/* Treats a value of TAMIS.CREATE as a set of one shard. Returns false if the key has no such
 * value. */
static bool take_plain(struct cluster_set *s)
{
    struct reply *reply = client_call(s->c, command(false, s->slot, "TYPE", s->name, NULL));
    const bool plain =
        reply != NULL && reply->type == REPLY_TEXT && strcmp(reply->text, "tamis-img") == 0;
    if (reply != NULL && reply->type == REPLY_ERROR)
        client_fail_reply(s->c, s->name, reply);
    else if (reply != NULL && !plain)
        client_fail(s->c, "the key %s exists, but is not a set of Tamis", s->name);
    reply_free(reply);
    if (!plain) return false;
    s->shards = client_memory(s->c, sizeof *s->shards);
    if (s->shards == NULL) return false;
    s->n = 1;
    s->ready = true;
    snprintf(s->shards[0].key, sizeof s->shards[0].key, "%s", s->name);
    s->shards[0].slot = s->slot;
    return true;
}

enum { TAMIS_FACT, KIND_FACT, SHARDS_FACT, ROUTE_FACT, STATE_FACT, BUILDER_FACT, FACTS };

/* Returns what HMGET found, or "". */
static const char *fact(const struct reply *facts, int which)
{
    const struct reply *e = &facts->list[which];
    return e->type == REPLY_TEXT ? e->text : "";
}

static bool take_facts(struct cluster_set *s, const struct reply *facts)
{
    const unsigned long shards = strtoul(fact(facts, SHARDS_FACT), NULL, 10);
    snprintf(s->builder, sizeof s->builder, "%s", fact(facts, BUILDER_FACT));
    snprintf(s->kind, sizeof s->kind, "%s", fact(facts, KIND_FACT));
    s->ready = strcmp(fact(facts, STATE_FACT), "ready") == 0;
    s->route = strtoull(fact(facts, ROUTE_FACT), NULL, 10);
    if (s->builder[0] == '\0')
        return client_fail(s->c, "the key %s is a hash, but not a set of Tamis", s->name);
    if (fact(facts, TAMIS_FACT)[0] == '\0') { /* a build was killed before it wrote the facts */
        s->ready = false;
        return true;
    }
    if (strcmp(fact(facts, TAMIS_FACT), VERSION) != 0)
        return client_fail(s->c, "%s was made by a newer version of Tamis", s->name);
    if (shards < 1 || shards > CLUSTER_SLOTS)
        return client_fail(s->c, "the facts of %s are damaged: %lu shards", s->name, shards);
    return name_shards(s, (unsigned)shards);
}

/* Asks the server; if that fails, the key may exist. */
static bool key_exists(struct cluster_set *s)
{
    struct reply *reply = client_call(s->c, command(false, s->slot, "EXISTS", s->name, NULL));
    const bool exists = reply != NULL && (reply->type != REPLY_NUMBER || reply->number != 0);
    if (reply != NULL && reply->type == REPLY_ERROR) client_fail_reply(s->c, s->name, reply);
    reply_free(reply);
    return exists;
}

/* Reads the facts at the key. Returns false after a failure. *found reports whether there are
 * any. */
static bool read_facts(struct cluster_set *s, bool *found)
{
    /* By field names, because a foreign hash could be big. */
    struct reply *reply =
        client_call(s->c, command(false, s->slot, "HMGET", s->name, "tamis", "kind", "shards",
                                  "route", "state", "builder", NULL));
    if (reply == NULL) return false;
    bool good = true;
    *found = true;
    if (reply_is(reply, "WRONGTYPE"))
        good = take_plain(s);
    else if (reply->type != REPLY_LIST || reply->n != FACTS)
        good = client_fail_reply(s->c, s->name, reply);
    else if (reply->list[BUILDER_FACT].type == REPLY_NIL && !key_exists(s))
        *found = false;
    else
        good = take_facts(s, reply);
    reply_free(reply);
    return good && cluster_why(s->c) == NULL;
}

struct cluster_set *cluster_set_open(struct cluster *c, const char *name)
{
    struct cluster_set *s = set_new(c, name);
    bool found;
    if (s == NULL) return NULL;
    if (read_facts(s, &found)) {
        if (found && s->ready) return s;
        client_fail(c, found ? "is not finished; its build was stopped, or is still running"
                             : "there is no such set");
    }
    cluster_set_close(s);
    return NULL;
}

/* --- Creation --------------------------------------------------------------------------------- */

/* Scripts that servers run on behalf of the builder ARGV[1]. They return 1, or 0 if ARGV[1] is not,
 * or is no longer, the builder. Running one again changes nothing. */
#define IF_OURS "if redis.call('HGET',KEYS[1],'builder')~=ARGV[1] then return 0 end "
#define WRITE "redis.call('HSET',KEYS[1],unpack(ARGV,2)) return 1"
static const char write_ours[] = IF_OURS WRITE;
static const char claim[] = "if redis.call('EXISTS',KEYS[1])==0 then "
                            "redis.call('HSET',KEYS[1],'builder',ARGV[1]) end " IF_OURS WRITE;
static const char drop_ours[] = "if redis.call('EXISTS',KEYS[1])==0 then return 1 end " IF_OURS
                                "redis.call('DEL',KEYS[1]) return 1";
/* Passes a set from the builder ARGV[2] to ARGV[1]. If several builds saw the same builder, one of
 * them gets it. */
static const char take_over[] =
    "local b=redis.call('HGET',KEYS[1],'builder') if b==ARGV[1] then return 1 end "
    "if b~=ARGV[2] then return 0 end "
    "redis.call('HSET',KEYS[1],'builder',ARGV[1],'state','building') return 1";

/* Takes the reply of a script. Returns false if another build is the builder, or after a
 * failure. */
static bool finish_script(struct cluster_set *s, struct reply *reply)
{
    const bool done = reply != NULL && reply->type == REPLY_NUMBER && reply->number == 1;
    if (reply != NULL && reply->type != REPLY_NUMBER) client_fail_reply(s->c, s->name, reply);
    reply_free(reply);
    return done && cluster_why(s->c) == NULL;
}

/* Always returns false. An earlier failure is kept. */
static const char taken[] = "another build has replaced it meanwhile";
static bool fail_as_taken(struct cluster_set *s)
{
    return client_fail(s->c, "%s", taken);
}

/* Writes all facts each time, which also repairs anything written there meanwhile. */
static bool write_facts(struct cluster_set *s, const char *script, const char *state)
{
    char shards[16], route[24];
    snprintf(shards, sizeof shards, "%u", s->n);
    snprintf(route, sizeof route, "%llu", (unsigned long long)s->route);
    return finish_script(
        s, client_call(s->c, command(true, s->slot, "EVAL", script, "1", s->name, s->builder,
                                     "tamis", VERSION, "state", state, "kind", s->kind, "shards",
                                     shards, "route", route, NULL)));
}

/* Removes the shards of a set as the builder `heir`, which the key names from then on. So another
 * build that saw the same previous builder cannot remove the shards that the heir creates. */
static bool inherit(struct cluster_set *s, const char *heir)
{
    if (!finish_script(s, client_call(s->c, command(true, s->slot, "EVAL", take_over, "1", s->name,
                                                    heir, s->builder, NULL))))
        return fail_as_taken(s);
    return to_all(s, "UNLINK", NULL, true, want_no_error, NULL);
}

/* Removes all shards, then the facts. */
static bool take_away(struct cluster_set *s)
{
    char heir[sizeof s->builder + 1];
    snprintf(heir, sizeof heir, "%s-", s->builder);
    if (!inherit(s, heir)) return false;
    if (finish_script(s, client_call(s->c, command(true, s->slot, "EVAL", drop_ours, "1", s->name,
                                                   heir, NULL))))
        return true;
    return fail_as_taken(s);
}

/* Returns the set at a key, finished or not. Returns NULL if there is nothing, or after a failure,
 * for example because the key holds something else. */
static struct cluster_set *look(struct cluster *c, const char *name)
{
    struct cluster_set *there = set_new(c, name);
    bool found = false;
    if (there != NULL && read_facts(there, &found) && found && there->builder[0] == '\0')
        client_fail(c, "the key %s exists, but is not a set over shards", name);
    if (found && cluster_why(c) == NULL) return there;
    cluster_set_close(there);
    return NULL;
}

/* Claims the key of the set and writes its facts. If several builds try, one wins; for the others,
 * *other is the set found there. */
static bool win(struct cluster_set *s, struct cluster_set **other)
{
    *other = look(s->c, s->name);
    if (*other != NULL || cluster_why(s->c) != NULL) return false;
    if (write_facts(s, claim, "building")) return true;
    *other = look(s->c, s->name);
    return false;
}

/* Asks the servers whether another build, with -f, has claimed the key meanwhile. */
static bool confirm_ours(struct cluster_set *s)
{
    struct cluster_set *there = look(s->c, s->name);
    const bool ours = there != NULL && strcmp(there->builder, s->builder) == 0;
    cluster_set_close(there);
    if (ours) return true;
    return fail_as_taken(s);
}

static bool seize(struct cluster_set *s, bool replace)
{
    struct timespec t;
    struct cluster_set *other;
    clock_gettime(CLOCK_REALTIME, &t);
    snprintf(s->builder, sizeof s->builder, "%lld.%09ld.%ld", (long long)t.tv_sec, t.tv_nsec,
             (long)getpid());
    bool won = win(s, &other);
    if (other != NULL && !replace)
        client_fail(s->c, other->ready ? "already exists; use -f to replace it"
                                       : "is not finished; its build was stopped, or is still "
                                         "running. Use -f to remove it and build anew");
    if (other != NULL && replace && inherit(other, s->builder))
        won = write_facts(s, write_ours, "building");
    cluster_set_close(other);
    if (!won) return client_fail(s->c, "another build has started meanwhile");
    return true;
}

static bool want_absent(struct cluster_set *s, unsigned shard, const struct reply *reply, void *ctx)
{
    const bool *replace = ctx;
    if (reply->type == REPLY_NUMBER && (reply->number == 0 || *replace)) return true;
    if (reply->type != REPLY_NUMBER) return client_fail_reply(s->c, s->shards[shard].key, reply);
    return client_fail(s->c, "the key %s exists and does not belong to a set; use -f to replace it",
                       s->shards[shard].key);
}

/* Returns a set whose key is claimed, whose facts are written, and of which no shard exists. */
static struct cluster_set *begin_set(struct cluster *c, const char *name, unsigned shards,
                                     const char *kind, uint64_t route, bool replace)
{
    struct cluster_set *s = set_new(c, name);
    if (s == NULL) return NULL;
    snprintf(s->kind, sizeof s->kind, "%s", kind);
    s->route = route;
    bool good = name_shards(s, shards);
    good = good && seize(s, replace);
    if (!good) {
        cluster_set_close(s);
        return NULL;
    }
    good = to_all(s, "EXISTS", NULL, false, want_absent, &replace);
    if (good && replace) good = to_all(s, "UNLINK", NULL, true, want_no_error, NULL);
    if (good) return s;
    s->n = 0; /* existing shards are not part of this set */
    cluster_set_abandon(s);
    cluster_set_close(s);
    return NULL;
}

/* A repeated command may find the value that its first attempt created: the key was free before. */
static void answer_create(struct request *r, struct cluster *c, const struct reply *reply)
{
    const struct each *e = r->more;
    (void)c;
    if (r->repeated && reply_is(reply, "BUSYKEY")) return;
    want_no_error(e->s, e->shard, reply, NULL);
}

struct cluster_set *cluster_set_create(struct cluster *c, const char *name, unsigned shards,
                                       const tamis_plan *plan, bool replace)
{
    const uint64_t route = plan->seed == CLUSTER_ROUTE ? CLUSTER_ROUTE + 1 : CLUSTER_ROUTE;
    struct cluster_set *s = begin_set(c, name, shards, tamis_kind_name(plan->kind), route, replace);
    bool good = s != NULL;
    for (unsigned i = 0; i < shards && good; i++) {
        struct request *r = plan_request(&s->shards[i], plan);
        good = submit(s, i, r, want_no_error, NULL);
        if (good) r->answer = answer_create;
    }
    if (good && cluster_await(c, NULL)) return s;
    if (s != NULL) cluster_set_abandon(s);
    cluster_set_close(s);
    return NULL;
}

struct cluster_set *cluster_set_like(struct cluster *c, const char *name,
                                     const struct cluster_set *like, bool replace)
{
    return begin_set(c, name, like->n, like->kind, like->route, replace);
}

bool cluster_set_finish(struct cluster_set *s, bool seal)
{
    /* Sealing the shards of another build that has claimed the key would make it fail. */
    if (seal && !(confirm_ours(s) && to_all(s, "TAMIS.SEAL", NULL, true, want_no_error, NULL)))
        return false;
    if (write_facts(s, write_ours, "ready")) return true;
    return fail_as_taken(s);
}

bool cluster_set_abandon(struct cluster_set *s)
{
    char why[CLUSTER_WHY];
    const char *first = cluster_why(s->c);
    snprintf(why, sizeof why, "%s", first != NULL ? first : "");
    client_recover(s->c);
    /* What belongs to another build is not left by this one. */
    const bool gone = take_away(s) || strcmp(cluster_why(s->c), taken) == 0;
    if (first == NULL) return gone;
    client_recover(s->c);
    client_fail(s->c, "%s", why);
    return gone;
}

/* --- Whole sets ------------------------------------------------------------------------------- */

unsigned cluster_shards(const struct cluster_set *s)
{
    return s->n;
}

const char *cluster_shard_key(const struct cluster_set *s, unsigned shard)
{
    return s->shards[shard].key;
}

tamis_kind cluster_kind(const struct cluster_set *s)
{
    return tamis_kind_named(s->kind);
}

uint64_t cluster_repeated(const struct cluster_set *s)
{
    return s->repeated;
}

tamis *cluster_router(const struct cluster_set *s)
{
    const tamis_plan p = {.struct_size = sizeof p, .items = 1, .fpr = 0.5, .seed = s->route};
    tamis *t;
    return tamis_create(&p, NULL, &t, NULL) == TAMIS_OK ? t : NULL;
}

unsigned cluster_shard_of(const struct cluster_set *s, tamis_hash h)
{
    return (unsigned)((unsigned __int128)h.hi * s->n >> 64);
}

static const char *field(const struct reply *facts, const char *name)
{
    for (size_t i = 0; i + 1 < facts->n; i += 2)
        if (facts->list[i].type == REPLY_TEXT && strcmp(facts->list[i].text, name) == 0)
            return facts->list[i + 1].type == REPLY_TEXT ? facts->list[i + 1].text : "";
    return "";
}

/* Returns NAN if the field is missing. */
static double real_of(const struct reply *facts, const char *name)
{
    const char *text = field(facts, name);
    return text[0] != '\0' ? strtod(text, NULL) : NAN;
}

static int64_t number_of(const struct reply *facts, const char *name)
{
    for (size_t i = 0; i + 1 < facts->n; i += 2)
        if (facts->list[i].type == REPLY_TEXT && strcmp(facts->list[i].text, name) == 0)
            return facts->list[i + 1].number;
    return 0;
}

/* TAMIS_BOUND_... An older server reports the static bound for all filters, without a name. */
static uint32_t bound_of(const struct reply *r)
{
    const char *name = field(r, "bound");
    if (!isfinite(real_of(r, "bound-bits"))) return TAMIS_BOUND_NONE;
    for (uint32_t i = TAMIS_BOUND_STATIC; i <= TAMIS_BOUND_TWO_SET; i++)
        if (strcmp(name, tamis_bound_name(i)) == 0) return i;
    return *name == '\0' ? TAMIS_BOUND_STATIC : TAMIS_BOUND_NONE;
}

static bool take_info(struct cluster_set *s, unsigned shard, const struct reply *r, void *ctx)
{
    tamis_facts *f = (tamis_facts *)ctx + shard;
    if (r->type != REPLY_LIST) return client_fail_reply(s->c, s->shards[shard].key, r);
    *f = (tamis_facts){.struct_size = sizeof *f,
                       .kind = tamis_kind_named(field(r, "kind")),
                       .inner_kind = tamis_kind_named(field(r, "inner-kind")),
                       .generations = (uint32_t)number_of(r, "generations"),
                       .saturated = (uint64_t)number_of(r, "saturated"),
                       .bytes = (uint64_t)number_of(r, "bytes"),
                       .items = (uint64_t)number_of(r, "items"),
                       .planned_items = (uint64_t)number_of(r, "planned-items"),
                       .items_estimate = real_of(r, "items-estimate"),
                       .items_low = real_of(r, "items-low"),
                       .items_high = real_of(r, "items-high"),
                       .fpr_planned = real_of(r, "rate-planned"),
                       .fpr_now = real_of(r, "rate-now"),
                       .miss_rate = real_of(r, "miss-rate"),
                       .fill = real_of(r, "fill"),
                       .bits_per_item = real_of(r, "bits-per-item"),
                       .bound_bits = real_of(r, "bound-bits"),
                       .bound_ratio = real_of(r, "bound-ratio"),
                       .bound = bound_of(r),
                       .m = (uint64_t)number_of(r, "m"),
                       .k = (uint32_t)number_of(r, "k"),
                       .seed = (uint64_t)number_of(r, "seed"),
                       .weight = number_of(r, "weight"),
                       .noise_999 = number_of(r, "noise-floor"),
                       .overfull = number_of(r, "overfull") != 0,
                       .sealed = number_of(r, "sealed") != 0,
                       .collecting = number_of(r, "collecting") != 0,
                       .conservative = number_of(r, "conservative") != 0,
                       .removable = number_of(r, "removable") != 0};
    return f->kind != TAMIS_AUTO ||
           client_fail(s->c, "%s: its kind is not known to this version", s->shards[shard].key);
}

bool cluster_set_info(struct cluster_set *s, tamis_facts *facts)
{
    return to_all(s, "TAMIS.INFO", "FULL", false, take_info, facts);
}

bool cluster_set_merge(struct cluster_set *into, struct cluster_set *const *from, unsigned n,
                       bool once)
{
    bool good = true;
    for (unsigned i = 0; i < into->n && good; i++) {
        struct request *r =
            request_new(into->shards[i].slot, n + 2, (n + 2) * sizeof into->shards[i].key);
        if (r != NULL) {
            r->writes = true;
            r->once = once;
            request_text(r, "TAMIS.MERGE");
            request_text(r, into->shards[i].key);
            for (unsigned j = 0; j < n; j++) request_text(r, from[j]->shards[i].key);
        }
        good = submit(into, i, r, want_no_error, NULL);
        /* If the sets do not fit together, the first shard refuses before another one has
         * changed. */
        if (good && i == 0) good = cluster_await(into->c, NULL);
    }
    return good && cluster_await(into->c, NULL);
}

bool cluster_set_rotate(struct cluster_set *s, uint64_t epoch)
{
    char to[24];
    snprintf(to, sizeof to, "%llu", (unsigned long long)epoch);
    bool good = cluster_why(s->c) == NULL;
    for (unsigned i = 0; i < s->n && good; i++) {
        struct request *r = command(true, s->shards[i].slot, "TAMIS.ROTATE", s->shards[i].key,
                                    epoch != 0 ? "TO" : NULL, to, NULL);
        if (r != NULL) r->once = epoch == 0;
        good = submit(s, i, r, want_no_error, NULL);
        if (good && i == 0) good = cluster_await(s->c, NULL);
    }
    return good && cluster_await(s->c, NULL);
}

struct top {
    void *ctx;
    bool (*heavy)(void *ctx, const tamis_heavy *h);
    char most[24];
};

/* Reads [item, estimate, lower, upper], or with FULL [item, length, hash, and all fields of an
 * estimate]. */
static bool take_heavy(const struct reply *e, tamis_heavy *out)
{
    if (e->type != REPLY_LIST || e->n < 1 + BRIEF) return false;
    const bool full = e->n >= 3 + FULL;
    const struct reply *item = &e->list[0], *count = &e->list[full ? 3 : 1];
    if (item->type != REPLY_TEXT && item->type != REPLY_NIL) return false;
    *out = (tamis_heavy){.item = {item->text, item->length}, .length = item->length};
    if (!take_estimate(count, e->n - (full ? 3 : 1), &out->count)) return false;
    if (!full) return true;
    if (e->list[1].type != REPLY_NUMBER || e->list[2].type != REPLY_TEXT) return false;
    out->length = (uint64_t)e->list[1].number;
    char *end;
    out->hash = strtoull(e->list[2].text, &end, 16);
    return out->length >= item->length && e->list[2].length == 16 && *end == '\0';
}

static bool take_list(struct cluster_set *s, unsigned shard, const struct reply *reply, void *ctx)
{
    const struct top *t = ctx;
    if (reply->type != REPLY_LIST) return client_fail_reply(s->c, s->shards[shard].key, reply);
    for (size_t i = 0; i < reply->n; i++) {
        tamis_heavy h;
        if (!take_heavy(&reply->list[i], &h))
            return client_fail_reply(s->c, s->shards[shard].key, &reply->list[i]);
        if (!t->heavy(t->ctx, &h)) return client_fail(s->c, "not enough memory");
    }
    return true;
}

static bool ask_top(struct cluster_set *s, unsigned shard, const char *full, shard_answer answer,
                    struct top *t)
{
    const struct shard *at = &s->shards[shard];
    return submit(s, shard, command(false, at->slot, "TAMIS.TOP", at->key, t->most, full, NULL),
                  answer, t);
}

/* An older module lacks FULL, and is asked without it. */
static bool take_full_list(struct cluster_set *s, unsigned shard, const struct reply *reply,
                           void *ctx)
{
    static const char without[] = "ERR wrong number of arguments";
    if (reply->type == REPLY_ERROR && strncmp(reply->text, without, sizeof without - 1) == 0)
        return ask_top(s, shard, NULL, take_list, ctx);
    return take_list(s, shard, reply, ctx);
}

bool cluster_set_top(struct cluster_set *s, uint64_t n, void *ctx,
                     bool (*heavy)(void *ctx, const tamis_heavy *h))
{
    struct top top = {.ctx = ctx, .heavy = heavy};
    bool good = cluster_why(s->c) == NULL;
    snprintf(top.most, sizeof top.most, "%lld", (long long)(n < INT64_MAX ? n : INT64_MAX));
    for (unsigned i = 0; i < s->n && good; i++) good = ask_top(s, i, "FULL", take_full_list, &top);
    return good && cluster_await(s->c, NULL);
}
