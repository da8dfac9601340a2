/* Copies keys by DUMP and RESTORE, several at a time. RESTORE writes a key with its time to live at
 * once or not at all. Afterwards both sides are read again: the copy must equal what was read
 * before, and so must the source, which otherwise has changed meanwhile, and the key is copied once
 * more. */
#include "migrate.h"
#include "nodes.h"

#include <stdlib.h>
#include <string.h>

enum { ATTEMPTS = 5 };
#define SLACK 10000 /* milliseconds by which two times to live may differ if they are relative */

/* --- Times to live ---------------------------------------------------------------------------- */

void ask_expiry(const struct migration *m, struct cluster *c, tamis_bytes key, struct reply **to)
{
    ask_later(c, key_request(m->relative ? "PTTL" : "PEXPIRETIME", key, 0, 0), to);
}

int64_t expiry_of(const struct migration *m, const struct reply *reply)
{
    if (reply->type != REPLY_NUMBER || reply->number < -2) return -3;
    if (reply->number < 0 || !m->relative) return reply->number;
    return (int64_t)(client_now() * 1000) + reply->number;
}

void ask_time(struct cluster *c, tamis_bytes key, struct reply **to)
{
    struct request *r = request_new(cluster_slot(key.p, key.len), 1, 8);
    if (r != NULL) request_text(r, "TIME");
    ask_later(c, r, to);
}

/* [seconds, microseconds] */
int64_t time_of_reply(const struct reply *reply)
{
    long long n[2];
    char *end;
    if (reply->type != REPLY_LIST || reply->n != 2) return -1;
    for (int i = 0; i < 2; i++) {
        if (reply->list[i].type != REPLY_TEXT || reply->list[i].length == 0) return -1;
        n[i] = strtoll(reply->list[i].text, &end, 10);
        if (*end != '\0' || n[i] < 0 || n[i] > INT64_MAX / 2000) return -1;
    }
    return n[0] * 1000 + n[1] / 1000;
}

bool same_expiry(const struct migration *m, int64_t one, int64_t other)
{
    if (one < 0 || other < 0 || !m->relative) return one == other;
    return one - other <= SLACK && other - one <= SLACK;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Asks one server for the values of keys whose outcome is open and for which `which` is true. */
static void ask_values(const struct migration *m, struct cluster *c, struct moving_key *keys,
                       size_t n, bool (*which)(const struct moving_key *k))
{
    for (size_t i = 0; i < n; i++) {
        struct moving_key *k = &keys[i];
        if (k->outcome != KEY_OPEN || !which(k)) continue;
        ask_later(c, key_request("DUMP", k->name, 0, 0), &k->value);
        ask_expiry(m, c, k->name, &k->expiry);
    }
}

static void forget_replies(struct moving_key *k)
{
    reply_free(k->value);
    reply_free(k->expiry);
    reply_free(k->answer);
    k->value = k->expiry = k->answer = NULL;
}

/* Decodes the replies of ask_values. Returns false after a failure; a value that makes no sense is
 * a problem of this key. */
static bool take_state(const struct migration *m, struct cluster *c, struct moving_key *k,
                       struct key_state *out)
{
    *out = (struct key_state){.exists = true};
    if (k->value->type == REPLY_ERROR) return fail_reply(c, k->value);
    if (k->expiry->type == REPLY_ERROR) return fail_reply(c, k->expiry);
    out->expires = expiry_of(m, k->expiry);
    if (k->value->type == REPLY_NIL || out->expires == -2) {
        out->exists = false;
        return true;
    }
    enum payload_status s = PAYLOAD_WRONG;
    if (k->value->type == REPLY_TEXT && out->expires != -3)
        s = payload_read(k->value->text, k->value->length, k->type->name, &out->print);
    if (s == PAYLOAD_NO_MEMORY) return client_fail(c, "not enough memory");
    if (s == PAYLOAD_WRONG)
        key_problem(m, k, KEY_FAILED, "the reply of the %s to DUMP is not a value of type %s",
                    c == m->from ? "source" : "target", k->type->name);
    return true;
}

/* --- Comparing -------------------------------------------------------------------------------- */

static bool is_size(const struct reply *name)
{
    /* The memory that a value takes depends on the module. */
    return name->type == REPLY_TEXT && strcmp(name->text, "Size") == 0;
}

static bool same_scalars(const struct reply *a, const struct reply *b)
{
    if (a->type != b->type || a->number != b->number || a->length != b->length) return false;
    return a->length == 0 || memcmp(a->text, b->text, a->length) == 0;
}

/* For values whose fields differ between versions of the type: the cells are equal already, and
 * now the facts that the commands report must be. */
static bool same_info(const struct migration *m, const struct moving_key *k)
{
    struct reply *a = client_call(m->from, key_request(k->type->info, k->name, 0, 0));
    struct reply *b = client_call(m->to, key_request(k->type->info, k->name, 0, 0));
    bool same =
        a != NULL && b != NULL && a->type == REPLY_LIST && b->type == REPLY_LIST && a->n == b->n;
    for (size_t i = 0; same && i + 1 < a->n; i += 2)
        same = same_scalars(&a->list[i], &b->list[i]) &&
               (is_size(&a->list[i]) || same_scalars(&a->list[i + 1], &b->list[i + 1]));
    reply_free(a);
    reply_free(b);
    return same;
}

static bool same_hash(tamis_hash a, tamis_hash b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

static bool same_value(const struct migration *m, const struct moving_key *k,
                       const struct key_state *there)
{
    if (same_hash(k->print.fields, there->print.fields) && k->print.layout == there->print.layout)
        return true;
    return k->print.layout != there->print.layout && k->print.has_strings &&
           same_hash(k->print.strings, there->print.strings) && same_info(m, k);
}

/* --- What the target has ---------------------------------------------------------------------- */

static bool is_of_same_type(const struct moving_key *k)
{
    return k->exists && k->same_type;
}

static bool find_existing(const struct migration *m, struct moving_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++)
        ask_later(m->to, key_request("TYPE", keys[i].name, 0, 0), &keys[i].answer);
    if (!await_both(m)) return false;
    for (size_t i = 0; i < n; i++) {
        struct moving_key *k = &keys[i];
        const struct reply *type = k->answer;
        if (type->type == REPLY_ERROR) return fail_reply(m->to, type);
        if (type->type != REPLY_TEXT) return client_fail(m->to, "the reply to TYPE is invalid");
        k->exists = strcmp(type->text, "none") != 0;
        k->same_type = strcmp(type->text, k->type->name) == 0;
        if (k->exists && !k->same_type && !m->wanted->replace)
            key_problem(m, k, KEY_EXISTING,
                        "the target has a key of type %.40s with this name; --replace replaces it",
                        type->text);
        reply_free(k->answer);
        k->answer = NULL;
    }
    return true;
}

static bool compare_existing(const struct migration *m, struct moving_key *keys, size_t n)
{
    ask_values(m, m->to, keys, n, is_of_same_type);
    if (!await_both(m)) return false;
    for (size_t i = 0; i < n; i++) {
        struct moving_key *k = &keys[i];
        struct key_state there;
        if (k->outcome != KEY_OPEN || !is_of_same_type(k)) continue;
        if (!take_state(m, m->to, k, &there)) return false;
        forget_replies(k);
        if (k->outcome != KEY_OPEN) continue;
        k->exists = there.exists;
        if (!there.exists) continue;
        const bool value = same_value(m, k, &there);
        if (m->from->failed || m->to->failed) return false;
        if (value && same_expiry(m, k->expires, there.expires))
            k->outcome = KEY_EQUAL;
        else if (!m->wanted->replace)
            key_problem(m, k, KEY_EXISTING,
                        "the target has this key with another %s; --replace replaces it",
                        value ? "time to live" : "value");
    }
    return true;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static void submit_restore(const struct migration *m, struct moving_key *k)
{
    const bool replace = k->written || (k->exists && m->wanted->replace);
    const bool absolute = !m->relative && k->expires > 0;
    int64_t ttl = k->expires < 0 ? 0 : k->expires;
    if (m->relative && k->expires >= 0) ttl -= (int64_t)(client_now() * 1000);
    if (k->expires >= 0 && ttl < 1) ttl = 1;
    k->relabelled = m->relabel;
    if (m->relabel) payload_relabel(k->value->text, k->value->length);
    struct request *r = key_request("RESTORE", k->name, 2 + (size_t)replace + (size_t)absolute,
                                    k->value->length + 64);
    if (r != NULL) {
        r->writes = true;
        request_number(r, ttl);
        request_word(r, k->value->text, k->value->length);
        if (replace) request_text(r, "REPLACE");
        if (absolute) request_text(r, "ABSTTL");
    }
    k->sent = true;
    ask_later(m->to, r, &k->answer);
}

/* Finds the keys that have expired by the clock of the target. RESTORE would reply OK to them,
 * write nothing, and with REPLACE remove what is there. */
static bool find_late(const struct migration *m, struct moving_key *keys, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        keys[i].late = false;
        if (keys[i].outcome == KEY_OPEN && keys[i].expires >= 0 && !m->relative)
            ask_time(m->to, keys[i].name, &keys[i].answer);
    }
    if (!await_both(m)) return false;
    for (size_t i = 0; i < n; i++) {
        struct reply *reply = keys[i].answer;
        if (reply == NULL) continue;
        const int64_t now = time_of_reply(reply);
        if (reply->type == REPLY_ERROR) return fail_reply(m->to, reply);
        if (now < 0) return client_fail(m->to, "the reply to TIME is invalid");
        keys[i].late = keys[i].expires <= now;
        reply_free(reply);
        keys[i].answer = NULL;
    }
    return true;
}

static bool needs_older_version(const struct moving_key *k)
{
    return k->answer != NULL && k->answer->type == REPLY_ERROR &&
           strstr(k->answer->text, "payload version") != NULL;
}

/* Handles the reply to RESTORE. Errors about one key begin with ERR, all others would meet the next
 * keys as well. */
static bool take_restored(struct migration *m, struct moving_key *k)
{
    const struct reply *a = k->answer;
    k->sent = false;
    if (a->type == REPLY_TEXT && strcmp(a->text, "OK") == 0) {
        if (k->exists && !k->written) k->replaced = true;
        k->written = k->exists = true;
    } else if (reply_is(a, "BUSYKEY")) {
        k->exists = true; /* the next look at it decides */
    } else if (a->type == REPLY_ERROR && !reply_is(a, "ERR")) {
        return fail_reply(m->to, a);
    } else if (reply_is_unknown(a)) {
        return fail_reply(m->to, a);
    } else {
        key_problem(m, k, KEY_FAILED, "the target does not accept its value: %.200s",
                    a->type == REPLY_ERROR ? a->text : "its reply to RESTORE is invalid");
    }
    return true;
}

static bool restore(struct migration *m, struct moving_key *keys, size_t n)
{
    bool again = false;
    if (!find_late(m, keys, n)) return false;
    for (size_t i = 0; i < n; i++) {
        struct moving_key *k = &keys[i];
        if (k->outcome != KEY_OPEN || k->late) continue;
        if (k->value->length >= m->most_bulk)
            key_problem(m, k, KEY_FAILED, TOO_LONG, "value", k->value->length, m->most_bulk);
        else
            submit_restore(m, k);
    }
    if (!await_both(m)) return false;
    for (size_t i = 0; i < n && !m->relabel; i++)
        again = again || (keys[i].outcome == KEY_OPEN && needs_older_version(&keys[i]));
    m->relabel = m->relabel || again;
    for (size_t i = 0; i < n && again; i++) {
        struct moving_key *k = &keys[i];
        if (k->outcome != KEY_OPEN || !needs_older_version(k)) continue;
        reply_free(k->answer);
        k->answer = NULL;
        submit_restore(m, k);
    }
    if (again && !await_both(m)) return false;
    for (size_t i = 0; i < n; i++) {
        struct moving_key *k = &keys[i];
        if (k->outcome == KEY_OPEN && !k->late && !take_restored(m, k)) return false;
        if (k->outcome == KEY_OPEN && k->written && !k->late)
            m->out->copied_bytes += k->value->length;
        forget_replies(k);
    }
    return true;
}

/* --- Both again ------------------------------------------------------------------------------- */

static bool is_any(const struct moving_key *k)
{
    (void)k;
    return true;
}

/* Removes what this run has written. */
static bool remove_written(const struct migration *m, struct moving_key *k)
{
    if (!k->written) return true;
    struct request *r = key_request("DEL", k->name, 0, 0);
    if (r != NULL) r->writes = true;
    struct reply *reply = client_call(m->to, r);
    const bool good = reply != NULL && (reply->type != REPLY_ERROR || fail_reply(m->to, reply));
    reply_free(reply);
    k->written = false;
    return good;
}

/* Decides about a key that was written. If it stays open, the source has changed meanwhile. */
static bool judge(const struct migration *m, struct moving_key *k, const struct key_state *source,
                  const struct key_state *there)
{
    if (!source->exists) {
        k->outcome = KEY_GONE;
        return remove_written(m, k);
    }
    const struct key_state before = {true, k->print, k->expires};
    const bool changed = !same_hash(source->print.fields, before.print.fields) ||
                         !same_expiry(m, source->expires, before.expires);
    const bool equal =
        there->exists && same_value(m, k, there) && same_expiry(m, k->expires, there->expires);
    if (m->from->failed || m->to->failed) return false;
    if (k->late && !changed) {
        key_problem(m, k, KEY_FAILED, "%s", COMPARE_CLOCKS);
        return k->replaced || remove_written(m, k);
    }
    if (equal && !changed) {
        k->outcome = k->written ? KEY_COPIED : KEY_EQUAL;
    } else if (!k->written && !k->late) {
        key_problem(m, k, KEY_EXISTING,
                    "the target has got a key with this name meanwhile, with another value");
    } else if (!changed && !there->exists) {
        key_problem(m, k, KEY_FAILED,
                    "it was written, but the target does not have it; if it was "
                    "about to expire, compare the clocks of the servers");
    } else if (!equal && !changed) {
        key_problem(m, k, KEY_FAILED, "the copy differs from the source%s",
                    k->replaced ? "" : ", and was removed");
        return k->replaced || remove_written(m, k);
    }
    return true;
}

static bool verify_copies(const struct migration *m, struct moving_key *keys, size_t n)
{
    struct key_state *there = client_memory(m->to, n * sizeof *there);
    if (there == NULL) return false;
    ask_values(m, m->to, keys, n, is_any);
    bool good = await_both(m);
    for (size_t i = 0; i < n && good; i++) {
        if (keys[i].outcome != KEY_OPEN) continue;
        good = take_state(m, m->to, &keys[i], &there[i]);
        forget_replies(&keys[i]);
    }
    if (good) ask_values(m, m->from, keys, n, is_any);
    good = good && await_both(m);
    for (size_t i = 0; i < n && good; i++) {
        struct moving_key *k = &keys[i];
        struct key_state source;
        if (k->outcome != KEY_OPEN) continue;
        good = take_state(m, m->from, k, &source);
        forget_replies(k);
        if (good && k->outcome == KEY_OPEN) good = judge(m, k, &source, &there[i]);
    }
    free(there);
    return good;
}

/* --- All of it -------------------------------------------------------------------------------- */

static bool read_source(const struct migration *m, struct moving_key *keys, size_t n)
{
    ask_values(m, m->from, keys, n, is_any);
    if (!await_both(m)) return false;
    for (size_t i = 0; i < n; i++) {
        struct moving_key *k = &keys[i];
        struct key_state s;
        if (k->outcome != KEY_OPEN) continue;
        if (!take_state(m, m->from, k, &s)) return false;
        if (k->outcome != KEY_OPEN) continue;
        k->print = s.print;
        k->expires = s.expires;
        if (s.exists) continue;
        k->outcome = KEY_GONE;
        if (!remove_written(m, k)) return false;
    }
    return true;
}

/* Compares with what the target has. The values of the source wait meanwhile. */
static bool skip_equal(const struct migration *m, struct moving_key *keys, size_t n)
{
    struct reply **values = client_memory(m->from, n * sizeof *values);
    if (values == NULL) return false;
    for (size_t i = 0; i < n; i++) {
        values[i] = keys[i].value;
        keys[i].value = NULL;
        forget_replies(&keys[i]);
    }
    const bool good = compare_existing(m, keys, n);
    for (size_t i = 0; i < n; i++) {
        forget_replies(&keys[i]);
        keys[i].value = values[i];
    }
    free(values);
    return good;
}

static bool copy_open(struct migration *m, struct moving_key *keys, size_t n)
{
    if (!find_existing(m, keys, n)) return false;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t open = 0;
        for (size_t i = 0; i < n; i++) open += keys[i].outcome == KEY_OPEN;
        if (open == 0) return true;
        if (!read_source(m, keys, n) || (attempt == 0 && !skip_equal(m, keys, n)) ||
            !restore(m, keys, n) || !verify_copies(m, keys, n))
            return false;
    }
    for (size_t i = 0; i < n; i++)
        if (keys[i].outcome == KEY_OPEN)
            key_problem(m, &keys[i], KEY_FAILED,
                        "it has changed at the source during each of %d attempts; the target has "
                        "an earlier value",
                        ATTEMPTS);
    return true;
}

bool copy_keys(struct migration *m, struct moving_key *keys, size_t n)
{
    const bool good = copy_open(m, keys, n);
    for (size_t i = 0; i < n; i++) {
        struct moving_key *k = &keys[i];
        const bool refused = k->answer != NULL && k->answer->type == REPLY_ERROR;
        if (k->outcome == KEY_OPEN)
            m->out->unverified += k->written || (k->sent && !refused);
        else
            key_done(m, k);
        forget_replies(k);
    }
    return good;
}
