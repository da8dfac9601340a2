/* Copies keys from one server or cluster to another. A first pass over the keys counts them by
 * type, so that the second one knows how much there is to do, and begins only if every server of
 * the target has all types. Nothing is remembered of keys that were dealt with: a run that is
 * repeated compares each key with the target and skips it if both are equal. */
#include "migrate.h"
#include "nodes.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The keys that are copied at a time, and their bytes. */
enum { KEYS_AT_A_TIME = 64 };
#define BYTES_AT_A_TIME ((uint64_t)16 << 20)
/* Redis' default for the longest argument. */
#define LONGEST_ARGUMENT ((uint64_t)512 << 20)
/* Above this, filters are copied in chunks of at most 16 MiB, so that neither the servers nor this
 * program hold a payload of that size, and other clients wait less. */
#define CHUNKS_ABOVE ((uint64_t)64 << 20)

const struct key_type key_types[CLUSTER_TYPES] = {
    {"MBbloom--", "BF.INFO", "BF.SCANDUMP", "BF.LOADCHUNK"},
    {"MBbloomCF", "CF.INFO", "CF.SCANDUMP", "CF.LOADCHUNK"},
    {"CMSk-TYPE", "CMS.INFO", NULL, NULL},
    {"TopK-TYPE", "TOPK.INFO", NULL, NULL},
    {"TDIS-TYPE", "TDIGEST.INFO", NULL, NULL},
    {"tamis-img", "TAMIS.INFO", NULL, NULL},
};

/* --- Commands --------------------------------------------------------------------------------- */

struct request *key_request(const char *command, tamis_bytes key, size_t more, size_t bytes)
{
    struct request *r =
        request_new(cluster_slot(key.p, key.len), 2 + more, strlen(command) + key.len + bytes);
    if (r == NULL) return NULL;
    request_text(r, command);
    request_word(r, key.p, key.len);
    return r;
}

static void keep_answer(struct request *r, struct cluster *c, const struct reply *reply)
{
    struct reply **to = r->ctx;
    (void)c, (void)reply;
    reply_free(*to);
    *to = r->reply;
    r->reply = NULL;
}

void ask_later(struct cluster *c, struct request *r, struct reply **to)
{
    if (r == NULL) {
        client_fail(c, "not enough memory");
        return;
    }
    r->answer = keep_answer;
    r->ctx = to;
    client_submit(c, r);
}

bool await_both(const struct migration *m)
{
    /* The target begins while the replies of the source are awaited. */
    const bool good =
        cluster_step(m->to) && cluster_await(m->from, NULL) && cluster_await(m->to, NULL);
    if (good) return true;
    cluster_forget(m->from);
    cluster_forget(m->to);
    return false;
}

bool fail_reply(struct cluster *c, const struct reply *reply)
{
    const char *text = reply->text, *hint = "";
    if (reply_is(reply, "OOM")) hint = "the server has no more memory: ";
    if (reply_is(reply, "READONLY")) hint = "the server is a replica: ";
    return client_fail(c, "%s%.400s", hint, text);
}

/* --- Counting --------------------------------------------------------------------------------- */

bool may_continue(const struct migration *m)
{
    if (!m->out->stopped && !m->wanted->progress(m->wanted->ctx, m->out)) m->out->stopped = true;
    return !m->out->stopped;
}

void key_problem(const struct migration *m, struct moving_key *k, enum key_outcome outcome,
                 const char *format, ...)
{
    char reason[CLUSTER_WHY];
    va_list args;
    va_start(args, format);
    vsnprintf(reason, sizeof reason, format, args);
    va_end(args);
    k->outcome = outcome;
    m->wanted->problem(m->wanted->ctx, k->name, reason);
}

void key_done(const struct migration *m, const struct moving_key *k)
{
    struct cluster_migrated *out = m->out;
    out->copied += k->outcome == KEY_COPIED;
    out->equal += k->outcome == KEY_EQUAL;
    out->existing += k->outcome == KEY_EXISTING;
    out->gone += k->outcome == KEY_GONE;
    out->failed += k->outcome == KEY_FAILED;
    out->replaced += k->outcome == KEY_COPIED && k->replaced;
    out->relabelled += k->outcome == KEY_COPIED && k->relabelled;
    out->at_key++;
    out->at_byte += k->size;
}

static void count_other(struct cluster_migrated *out, const char *type)
{
    unsigned i = 0;
    while (i < out->n_others && strcmp(out->others[i].type, type) != 0) i++;
    if (i >= CLUSTER_OTHER_TYPES - 1) {
        i = CLUSTER_OTHER_TYPES - 1;
        type = "of further types";
    }
    if (i >= out->n_others) {
        out->n_others = i + 1;
        snprintf(out->others[i].type, CLUSTER_TYPE, "%s", type);
    }
    out->others[i].keys++;
}

/* --- Before anything is copied ---------------------------------------------------------------- */

/* What a visit to a server finds out. */
struct visit {
    struct migration *m;
    char (*ids)[48]; /* replication ids of the source's masters */
    unsigned n_ids, room;
};

static struct request *plain_request(const char *one, const char *two, const char *three)
{
    struct request *r = request_new(0, three != NULL ? 3 : 2, 128);
    if (r == NULL) return NULL;
    request_text(r, one);
    request_text(r, two);
    if (three != NULL) request_text(r, three);
    return r;
}

/* Servers with the same replication id hold the same data: one is the other, or its replica. *role
 * is set to "master" or "slave", or to "" if the server does not tell. */
static bool read_identity(struct cluster *c, const struct node *n, struct link *l, char id[48],
                          char role[16])
{
    struct reply *reply = master_ask(c, n, l, plain_request("INFO", "replication", NULL));
    id[0] = role[0] = '\0';
    if (reply == NULL) return false;
    if (reply->type == REPLY_TEXT) {
        const char *at = strstr(reply->text, "master_replid:");
        if (at != NULL) sscanf(at, "master_replid:%40[0-9a-f]", id);
        at = strstr(reply->text, "role:");
        if (at != NULL) sscanf(at, "role:%15[a-z]", role);
    }
    reply_free(reply);
    return true;
}

static bool lacks(struct cluster *c, const struct node *n, struct link *l, const char *command,
                  bool *out)
{
    /* A command that is known fails for another reason, or finds no such key. */
    struct reply *reply = master_ask(c, n, l, plain_request(command, "tamis-migrate:none", NULL));
    if (reply == NULL) return false;
    *out = reply_is_unknown(reply);
    reply_free(reply);
    return true;
}

static bool visit_source(void *ctx, struct cluster *c, const struct node *n, struct link *l)
{
    struct visit *v = ctx;
    char role[16];
    bool old = false;
    if (v->n_ids == v->room) {
        const unsigned room = 2 * v->room + 8;
        void *more = realloc(v->ids, room * sizeof *v->ids);
        if (more == NULL) return client_fail(c, "not enough memory");
        v->ids = more;
        v->room = room;
    }
    if (!read_identity(c, n, l, v->ids[v->n_ids++], role) || !lacks(c, n, l, "PEXPIRETIME", &old))
        return false;
    v->m->relative = v->m->relative || old;
    return true;
}

static bool visit_target(void *ctx, struct cluster *c, const struct node *n, struct link *l)
{
    struct visit *v = ctx;
    char id[48], role[16];
    bool absent = false, any = false;
    if (!read_identity(c, n, l, id, role)) return false;
    /* Another database of the same server has other data. */
    const bool same_db = c->address.db == v->m->from->address.db;
    for (unsigned i = 0; i < v->n_ids && same_db; i++)
        if (id[0] != '\0' && strcmp(id, v->ids[i]) == 0)
            return client_fail(c,
                               "%s has the same data as the source: it is the same server, "
                               "or one is a replica of the other",
                               n->label);
    if (strcmp(role, "slave") == 0)
        return client_fail(c, "%s is a replica; name its master", n->label);
    if (!lacks(c, n, l, "PEXPIRETIME", &absent)) return false;
    v->m->relative = v->m->relative || absent;
    for (unsigned i = 0; i < CLUSTER_TYPES; i++) {
        if (!lacks(c, n, l, key_types[i].info, &absent)) return false;
        v->m->known[i] = v->m->known[i] && !absent;
        any = any || !absent;
    }
    if (!any)
        return client_fail(c, "%s: the server lacks the module tamis-redis.so (docs/REDIS.md)",
                           n->label);
    struct reply *limit = master_ask(c, n, l, plain_request("CONFIG", "GET", "proto-max-bulk-len"));
    if (limit == NULL) return false;
    /* Many services do not allow CONFIG. */
    if (limit->type == REPLY_LIST && limit->n == 2 && limit->list[1].type == REPLY_TEXT) {
        const unsigned long long most = strtoull(limit->list[1].text, NULL, 10);
        if (most > 0 && most < v->m->most_bulk) v->m->most_bulk = most;
    }
    reply_free(limit);
    return true;
}

static bool check_servers(struct migration *m)
{
    struct visit v = {.m = m};
    for (unsigned i = 0; i < CLUSTER_TYPES; i++) m->known[i] = true;
    m->most_bulk = LONGEST_ARGUMENT;
    const bool good =
        each_master(m->from, &v, visit_source) && each_master(m->to, &v, visit_target);
    free(v.ids);
    m->chunks_above = m->most_bulk < CHUNKS_ABOVE ? m->most_bulk / 2 : CHUNKS_ABOVE;
    return good;
}

static bool check_types(const struct migration *m)
{
    for (unsigned i = 0; i < CLUSTER_TYPES; i++)
        if (m->out->types[i].keys > 0 && !m->known[i])
            return client_fail(m->to,
                               "the target does not know the type %s (it lacks %s), of which the "
                               "source has %llu keys; nothing was copied",
                               key_types[i].name, key_types[i].info,
                               (unsigned long long)m->out->types[i].keys);
    return true;
}

/* --- The passes ------------------------------------------------------------------------------- */

static int type_index(const char *name)
{
    for (int i = 0; i < CLUSTER_TYPES; i++)
        if (strcmp(key_types[i].name, name) == 0) return i;
    return -1;
}

/* Finds the types of keys, and makes a list of those that are to be copied. *keys is NULL after a
 * failure. */
static size_t sort_out(const struct migration *m, const struct reply *names,
                       struct moving_key **keys)
{
    size_t n = 0;
    struct reply **types = client_memory(m->from, names->n * sizeof *types);
    *keys = client_memory(m->from, names->n * sizeof **keys);
    for (size_t i = 0; i < names->n && types != NULL && *keys != NULL; i++) {
        const tamis_bytes name = {names->list[i].text, names->list[i].length};
        ask_later(m->from, key_request("TYPE", name, 0, 0), &types[i]);
    }
    bool good = types != NULL && *keys != NULL && await_both(m);
    for (size_t i = 0; i < names->n && good; i++) {
        if (types[i]->type == REPLY_ERROR)
            good = fail_reply(m->from, types[i]);
        else if (types[i]->type != REPLY_TEXT)
            good = client_fail(m->from, "the reply to TYPE is invalid");
        if (!good || strcmp(types[i]->text, "none") == 0) continue;
        const int type = type_index(types[i]->text);
        if (type < 0 && !m->out->copying) count_other(m->out, types[i]->text);
        if (type < 0) continue;
        (*keys)[n++] = (struct moving_key){.name = {names->list[i].text, names->list[i].length},
                                           .type = &key_types[type]};
    }
    for (size_t i = 0; i < names->n && types != NULL; i++) reply_free(types[i]);
    free(types);
    if (good) return n;
    free(*keys);
    *keys = NULL;
    return 0;
}

static bool measure(const struct migration *m, struct moving_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const tamis_bytes name = keys[i].name;
        struct request *r = request_new(cluster_slot(name.p, name.len), 3, 16 + name.len);
        if (r != NULL) {
            request_text(r, "MEMORY");
            request_text(r, "USAGE");
            request_word(r, name.p, name.len);
        }
        ask_later(m->from, r, &keys[i].answer);
        if (m->wanted->dry_run) ask_later(m->to, key_request("TYPE", name, 0, 0), &keys[i].value);
    }
    bool good = await_both(m);
    for (size_t i = 0; i < n; i++) {
        struct moving_key *k = &keys[i];
        if (good && m->wanted->dry_run && k->value->type != REPLY_TEXT)
            good = k->value->type == REPLY_ERROR
                       ? fail_reply(m->to, k->value)
                       : client_fail(m->to, "the reply to TYPE is invalid");
        if (good && k->answer->type == REPLY_NUMBER && k->answer->number > 0)
            k->size = (uint64_t)k->answer->number;
        k->exists = good && m->wanted->dry_run && k->value->type == REPLY_TEXT &&
                    strcmp(k->value->text, "none") != 0;
        reply_free(k->answer);
        reply_free(k->value);
        k->answer = k->value = NULL;
    }
    return good;
}

static bool survey_page(void *ctx, const struct reply *names)
{
    const struct migration *m = ctx;
    struct moving_key *keys;
    size_t n = sort_out(m, names, &keys);
    if (keys != NULL && measure(m, keys, n)) {
        for (size_t i = 0; i < n; i++) {
            struct cluster_found *f = &m->out->types[keys[i].type - key_types];
            f->keys++;
            f->bytes += keys[i].size;
            f->existing += keys[i].exists;
            m->out->keys++;
            m->out->bytes += keys[i].size;
        }
        m->out->listed += names->n;
    }
    free(keys);
    return !m->from->failed && !m->to->failed && may_continue(m);
}

/* The number of keys that are copied together: a few, or one that is big or of unknown size. */
static size_t group_length(const struct migration *m, const struct moving_key *keys, size_t n)
{
    uint64_t bytes = 0;
    size_t used = 0;
    while (used < n && used < KEYS_AT_A_TIME) {
        const uint64_t size = keys[used].size > 0 ? keys[used].size : BYTES_AT_A_TIME;
        if (used > 0 && (bytes + size > BYTES_AT_A_TIME || size > m->chunks_above ||
                         keys[0].size > m->chunks_above))
            break;
        bytes += size;
        used++;
    }
    return used;
}

static bool copy_group(struct migration *m, struct moving_key *keys, size_t n)
{
    if (n == 1 && keys->size > m->chunks_above) {
        const bool good = copy_in_chunks(m, keys);
        if (keys->outcome == KEY_OPEN) m->out->unverified += keys->written || keys->sent;
        if (!good) return false;
        if (m->out->stopped && keys->outcome == KEY_OPEN) return true;
        if (keys->outcome != KEY_OPEN) {
            key_done(m, keys);
            return true;
        }
    }
    return copy_keys(m, keys, n);
}

static bool copy_page(void *ctx, const struct reply *names)
{
    struct migration *m = ctx;
    struct moving_key *keys;
    const size_t n = sort_out(m, names, &keys);
    bool good = keys != NULL && measure(m, keys, n);
    for (size_t i = 0, used; i < n && good; i += used) {
        used = group_length(m, keys + i, n - i);
        good = may_continue(m) && copy_group(m, keys + i, used);
    }
    free(keys);
    return good && may_continue(m) && !m->from->failed && !m->to->failed;
}

static bool is_done(struct migration *m, const struct reply *r)
{
    return r != NULL && (r->type != REPLY_ERROR || fail_reply(m->to, r));
}

/* Writes a key and removes it, and replicas confirm both. */
static bool confirm_slot(struct migration *m, unsigned slot)
{
    char name[TEMPORARY_NAME];
    struct reply *set = NULL, *removed = NULL;
    name_temporary(m, slot, name);
    const tamis_bytes key = {name, strlen(name)};
    struct request *r = key_request("SET", key, 3, 32);
    if (r != NULL) {
        r->writes = true;
        request_text(r, "");
        request_text(r, "PX");
        request_number(r, TEMPORARY_MILLISECONDS);
    }
    ask_later(m->to, r, &set);
    r = key_request("DEL", key, 0, 0);
    if (r != NULL) r->writes = true;
    ask_later(m->to, r, &removed);
    const bool good = await_both(m) && is_done(m, set) && is_done(m, removed);
    reply_free(set);
    reply_free(removed);
    return good;
}

/* Keys that were equal already have not waited for replicas. A replica executes writes in the order
 * of its master, so one that confirms a later write has these keys too. */
static bool confirm_equal(struct migration *m)
{
    struct cluster *c = m->to;
    if (c->replicas == 0 || m->out->equal == 0) return true;
    for (unsigned i = 0; i < c->n_nodes; i++) {
        unsigned slot = 0;
        while (slot < CLUSTER_SLOTS && c->owner[slot] != c->nodes[i]) slot++;
        if (slot < CLUSTER_SLOTS && !confirm_slot(m, slot)) return false;
    }
    return true;
}

bool cluster_migrate(struct cluster *from, struct cluster *to,
                     const struct cluster_migration *wanted, struct cluster_migrated *out)
{
    struct migration m = {.from = from, .to = to, .wanted = wanted, .out = out};
    memset(out, 0, sizeof *out);
    for (unsigned i = 0; i < CLUSTER_TYPES; i++) strcpy(out->types[i].type, key_types[i].name);
    if (!check_servers(&m)) return false;
    const bool good = scan_keys(&m, &m, survey_page) && !to->failed;
    if (!good || out->stopped || !check_types(&m)) return good && out->stopped;
    if (wanted->dry_run) return true;
    out->copying = true;
    if (!scan_keys(&m, &m, copy_page) || to->failed) return false;
    return out->stopped || confirm_equal(&m);
}
