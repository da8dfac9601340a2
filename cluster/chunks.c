/* Copies a Bloom or cuckoo filter in chunks, by SCANDUMP and LOADCHUNK, because its payload would
 * be too long for RESTORE. Chunks are loaded under a temporary name in the same slot, which is
 * renamed when the copy is complete and verified. So nobody ever sees a part of it. The temporary
 * key expires if the command is killed. */
#include "migrate.h"
#include "nodes.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { CHUNK_ATTEMPTS = 5 };
/* Beside the cells: a header of at most a few kilobytes for each of some links. */
#define HEADERS ((uint64_t)1 << 20)

struct chunked {
    struct migration *m;
    struct moving_key *k;
    char temporary[TEMPORARY_NAME];
    bool begun; /* the temporary key may exist */
    bool kept;  /* for an hour only */
};

void name_temporary(struct migration *m, unsigned slot, char out[TEMPORARY_NAME])
{
    char tag[16];
    unsigned i = 0;
    do snprintf(tag, sizeof tag, "%u", i++);
    while (cluster_slot(tag, strlen(tag)) != slot);
    struct timespec t;
    clock_gettime(CLOCK_REALTIME, &t);
    const uint64_t from[4] = {(uint64_t)t.tv_sec, (uint64_t)t.tv_nsec, (uint64_t)getpid(),
                              m->serial++};
    const tamis_hash h = tamis_hash_bytes(slot, from, sizeof from);
    snprintf(out, TEMPORARY_NAME, "tamis-migrate:{%s}:%016" PRIx64 "%016" PRIx64, tag, h.hi, h.lo);
}

static tamis_bytes temporary_name(const struct chunked *w)
{
    return (tamis_bytes){w->temporary, strlen(w->temporary)};
}

/* --- Chunks ----------------------------------------------------------------------------------- */

enum chunk_status {
    CHUNKS_DONE,
    CHUNKS_NONE,
    CHUNKS_GONE,
    CHUNKS_LONGER, /* than those of the source */
    CHUNKS_REFUSED,
    CHUNKS_FAILED
};

static bool load_chunk(struct chunked *w, int64_t next, const struct reply *data,
                       enum chunk_status *s)
{
    struct cluster *to = w->m->to;
    struct reply *loaded = NULL, *kept = NULL;
    if (data->length >= w->m->most_bulk) {
        key_problem(w->m, w->k, KEY_FAILED, TOO_LONG, "chunk", data->length, w->m->most_bulk);
        *s = CHUNKS_REFUSED;
        return false;
    }
    struct request *r = key_request(w->k->type->chunk, temporary_name(w), 2, data->length + 32);
    if (r != NULL) {
        r->writes = true;
        request_number(r, next);
        request_word(r, data->text, data->length);
    }
    ask_later(to, r, &loaded);
    r = key_request("PEXPIRE", temporary_name(w), 1, 24);
    if (r != NULL) request_number(r, TEMPORARY_MILLISECONDS);
    ask_later(to, r, &kept);
    w->begun = true;
    w->kept = false;
    *s = await_both(w->m) ? CHUNKS_DONE : CHUNKS_FAILED;
    if (*s == CHUNKS_DONE && loaded->type == REPLY_ERROR) {
        if (reply_is(loaded, "ERR") && !reply_is_unknown(loaded)) {
            key_problem(w->m, w->k, KEY_FAILED, "the target does not accept its chunks: %.200s",
                        loaded->text);
            *s = CHUNKS_REFUSED;
        } else {
            fail_reply(to, loaded);
            *s = CHUNKS_FAILED;
        }
    } else if (*s == CHUNKS_DONE && kept->type == REPLY_ERROR) {
        fail_reply(to, kept);
        *s = CHUNKS_FAILED;
    } else if (*s == CHUNKS_DONE && (kept->type != REPLY_NUMBER || kept->number != 1)) {
        key_problem(w->m, w->k, KEY_FAILED, "the target does not keep its temporary key %s",
                    w->temporary);
        *s = CHUNKS_REFUSED;
    } else if (*s == CHUNKS_DONE) {
        w->kept = true;
    }
    reply_free(loaded);
    reply_free(kept);
    return *s == CHUNKS_DONE;
}

/* [next, data]. The iterator counts bytes, and 0 is the end. */
static bool is_chunk(const struct reply *r, int64_t at)
{
    if (r->type != REPLY_LIST || r->n != 2 || r->list[0].type != REPLY_NUMBER) return false;
    const struct reply *data = &r->list[1];
    if (r->list[0].number == 0) return data->type == REPLY_NIL || data->type == REPLY_TEXT;
    return data->type == REPLY_TEXT && r->list[0].number > at && data->length > 0;
}

/* Reads all chunks of a key, and hashes them; with `load`, also writes them to the temporary
 * key. */
static enum chunk_status read_chunks(struct chunked *w, struct cluster *c, tamis_bytes key,
                                     bool load, tamis_hash *out)
{
    enum chunk_status s = CHUNKS_DONE;
    uint64_t sum = 0;
    *out = (tamis_hash){0, 0};
    for (int64_t at = 0; s == CHUNKS_DONE;) {
        struct request *r = key_request(w->k->type->scandump, key, 1, 24);
        if (r != NULL) request_number(r, at);
        struct reply *reply = client_call(c, r);
        if (reply == NULL) return CHUNKS_FAILED;
        if (reply->type == REPLY_ERROR && strstr(reply->text, "not found") != NULL) {
            s = CHUNKS_GONE;
        } else if (reply->type == REPLY_ERROR && !reply_is(reply, "WRONGTYPE")) {
            fail_reply(c, reply);
            s = CHUNKS_FAILED;
        } else if (!is_chunk(reply, at)) {
            key_problem(w->m, w->k, KEY_FAILED, "the reply of the %s to %s is invalid",
                        c == w->m->from ? "source" : "target", w->k->type->scandump);
            s = CHUNKS_REFUSED;
        } else if (reply->list[0].number == 0) {
            reply_free(reply);
            return at == 0 ? CHUNKS_NONE : CHUNKS_DONE;
        } else {
            const struct reply *data = &reply->list[1];
            at = reply->list[0].number;
            sum += data->length;
            fingerprint_add(out, 0, data->text, data->length);
            if (load && load_chunk(w, at, data, &s)) w->m->out->copied_bytes += data->length;
            const bool longer = s == CHUNKS_DONE && sum > 2 * w->k->size + HEADERS;
            if (longer && c == w->m->to && key.p == w->k->name.p) {
                s = CHUNKS_LONGER;
            } else if (longer) {
                key_problem(w->m, w->k, KEY_FAILED, "its chunks do not end");
                s = CHUNKS_REFUSED;
            }
        }
        reply_free(reply);
        if (s == CHUNKS_DONE && !may_continue(w->m)) s = CHUNKS_REFUSED;
    }
    return s;
}

/* --- The key ---------------------------------------------------------------------------------- */

/* Removes the temporary key, also after a failure, whose reason stays. */
static void drop_temporary(struct chunked *w)
{
    struct cluster *to = w->m->to;
    if (!w->begun) return;
    w->begun = false;
    const bool failed = to->failed;
    const double patience = to->patience;
    char why[CLUSTER_WHY];
    memcpy(why, to->why, sizeof why);
    if (failed) client_recover(to);
    struct request *r = key_request("DEL", temporary_name(w), 0, 0);
    if (r != NULL) r->writes = true;
    struct reply *removed = client_call(to, r);
    if (removed == NULL || removed->type == REPLY_ERROR) {
        char left[TEMPORARY_NAME + 80];
        snprintf(left, sizeof left, "its temporary key %s may be left at the target%s",
                 w->temporary, w->kept ? ", where it expires within an hour" : "; delete it");
        w->m->wanted->problem(w->m->wanted->ctx, w->k->name, left);
    }
    reply_free(removed);
    if (!failed) return;
    cluster_forget(to);
    memcpy(to->why, why, sizeof why);
    to->failed = true;
    to->patience = patience;
}

static bool read_expiry(const struct migration *m, struct cluster *c, tamis_bytes key, int64_t *out)
{
    struct reply *reply = NULL;
    ask_expiry(m, c, key, &reply);
    if (!await_both(m)) return false;
    *out = expiry_of(m, reply);
    bool good = true;
    if (reply->type == REPLY_ERROR)
        good = fail_reply(c, reply);
    else if (*out == -3)
        good = client_fail(c, "the reply about a time to live is invalid");
    reply_free(reply);
    return good;
}

static bool hashes_agree(const tamis_hash *a, const tamis_hash *b)
{
    return a->lo == b->lo && a->hi == b->hi;
}

/* Finds out whether the key has expired already by the clock of the target, which is a problem of
 * this key. */
static bool check_clock(struct chunked *w)
{
    struct reply *reply = NULL;
    if (w->k->expires < 0 || w->m->relative) return true;
    ask_time(w->m->to, w->k->name, &reply);
    if (!await_both(w->m)) return false;
    const int64_t now = time_of_reply(reply);
    bool good = true;
    if (reply->type == REPLY_ERROR)
        good = fail_reply(w->m->to, reply);
    else if (now < 0)
        good = client_fail(w->m->to, "the reply to TIME is invalid");
    else if (w->k->expires <= now)
        key_problem(w->m, w->k, KEY_FAILED, "%s", COMPARE_CLOCKS);
    reply_free(reply);
    return good;
}

/* Gives the temporary key the time to live of the source, before it gets its name. */
static bool set_expiry(struct chunked *w)
{
    const struct migration *m = w->m;
    struct reply *timed = NULL;
    struct request *r =
        key_request(m->relative ? "PEXPIRE" : "PEXPIREAT", temporary_name(w), 1, 24);
    int64_t when = w->k->expires;
    if (m->relative) when -= (int64_t)(client_now() * 1000);
    if (r != NULL) request_number(r, when);
    w->kept = false;
    ask_later(m->to, r, &timed);
    bool good = await_both(m);
    if (good && timed->type == REPLY_ERROR) good = fail_reply(m->to, timed);
    reply_free(timed);
    return good;
}

/* Removes the time to live that the key had as a temporary one, after it has got its name:
 * otherwise a temporary key would stay for ever if the command were killed in between. */
static bool remove_expiry(struct chunked *w)
{
    const struct migration *m = w->m;
    struct reply *timed = NULL;
    struct request *r = key_request("PERSIST", w->k->name, 0, 0);
    if (r != NULL) r->writes = true;
    ask_later(m->to, r, &timed);
    const bool good = await_both(m);
    if (!good || timed->type == REPLY_ERROR)
        key_problem(m, w->k, good ? KEY_FAILED : KEY_OPEN,
                    "it is at the target, but may expire there within an hour: %.200s",
                    good ? timed->text : "there is no reply to PERSIST");
    reply_free(timed);
    return good;
}

static void take_name(struct chunked *w)
{
    w->begun = w->k->sent = false;
    w->k->written = true;
    w->k->replaced = w->k->exists;
}

/* The temporary key is not there: it was renamed, but the reply was lost, or it has expired. */
static bool find_renamed(struct chunked *w, const tamis_hash *copy)
{
    tamis_hash there;
    const enum chunk_status s = read_chunks(w, w->m->to, w->k->name, false, &there);
    if (s == CHUNKS_FAILED) return false;
    if (w->k->outcome != KEY_OPEN || w->m->out->stopped) return true;
    if (s == CHUNKS_DONE && hashes_agree(&there, copy)) {
        take_name(w);
        return true;
    }
    w->k->sent = false;
    key_problem(w->m, w->k, KEY_FAILED,
                "its temporary key has vanished at the target; compare the clocks of the servers");
    return true;
}

/* Gives the temporary key its name and its time to live. */
static bool name_finally(struct chunked *w, const tamis_hash *copy)
{
    const struct migration *m = w->m;
    struct moving_key *k = w->k;
    struct reply *named = NULL;
    if (k->expires >= 0 && !set_expiry(w)) return false;
    struct request *r = key_request(k->exists && m->wanted->replace ? "RENAME" : "RENAMENX",
                                    temporary_name(w), 1, k->name.len);
    if (r != NULL) {
        r->writes = true;
        request_word(r, k->name.p, k->name.len);
    }
    k->sent = true;
    ask_later(m->to, r, &named);
    bool good = await_both(m);
    if (good && named->type == REPLY_ERROR && strstr(named->text, "no such key") != NULL) {
        good = find_renamed(w, copy);
    } else if (good && named->type == REPLY_ERROR) {
        k->sent = false;
        good = fail_reply(m->to, named);
    } else if (good && named->type == REPLY_NUMBER && named->number == 0) {
        k->sent = false;
        key_problem(m, k, KEY_EXISTING,
                    "the target has got a key with this name meanwhile; --replace replaces it");
    } else if (good) {
        take_name(w);
    }
    reply_free(named);
    return good && (!k->written || k->expires >= 0 || remove_expiry(w));
}

/* Returns whether the work may go on: false after a failure. *again is set if the source has
 * changed. */
static bool copy_once(struct chunked *w, bool *again)
{
    struct migration *m = w->m;
    struct moving_key *k = w->k;
    tamis_hash read, copy, after;
    int64_t expires = 0, there = 0;
    *again = false;
    name_temporary(m, cluster_slot(k->name.p, k->name.len), w->temporary);
    if (!read_expiry(m, m->from, k->name, &k->expires)) return false;
    enum chunk_status s = read_chunks(w, m->from, k->name, true, &read);
    if (s == CHUNKS_DONE) s = read_chunks(w, m->to, temporary_name(w), false, &copy);
    const bool lost = s == CHUNKS_GONE && w->begun;
    if (s == CHUNKS_DONE) s = read_chunks(w, m->from, k->name, false, &after);
    if (s == CHUNKS_FAILED) return false;
    if (s == CHUNKS_GONE) k->outcome = KEY_GONE;
    if (lost && s == CHUNKS_GONE && !m->out->stopped) {
        /* The source was deleted, or the temporary key was: the next attempt shows which. */
        k->outcome = KEY_OPEN;
        *again = true;
    }
    if (s != CHUNKS_DONE) return true;
    if (!read_expiry(m, m->from, k->name, &expires)) return false;
    if (!hashes_agree(&read, &after) || !same_expiry(m, k->expires, expires)) {
        *again = true;
        return true;
    }
    if (!hashes_agree(&read, &copy)) {
        key_problem(m, k, KEY_FAILED, "the copy differs from the source, and was removed");
        return true;
    }
    if (!check_clock(w)) return false;
    if (k->outcome != KEY_OPEN) return true;
    if (!name_finally(w, &copy)) return false;
    if (k->outcome != KEY_OPEN || !k->written) return true;
    if (!read_expiry(m, m->to, k->name, &there)) return false;
    if (same_expiry(m, there, k->expires)) {
        k->outcome = KEY_COPIED;
        m->out->in_chunks++;
    } else {
        key_problem(m, k, KEY_FAILED, "its time to live at the target differs from the source");
    }
    return true;
}

/* Compares with what the target has; it is equal, or it is to be replaced, or it is a problem. */
static bool compare_chunks(struct chunked *w)
{
    const struct migration *m = w->m;
    struct moving_key *k = w->k;
    tamis_hash one, other;
    int64_t here = 0, there = 0;
    if (!k->exists) return true;
    enum chunk_status s = read_chunks(w, m->from, k->name, false, &one);
    if (s == CHUNKS_NONE || s == CHUNKS_GONE) return true; /* copy_once finds the same */
    if (s == CHUNKS_DONE && k->same_type) s = read_chunks(w, m->to, k->name, false, &other);
    if (s == CHUNKS_FAILED || k->outcome != KEY_OPEN || m->out->stopped) return s != CHUNKS_FAILED;
    if (!read_expiry(m, m->from, k->name, &here) || !read_expiry(m, m->to, k->name, &there))
        return false;
    if (s == CHUNKS_DONE && k->same_type && hashes_agree(&one, &other) &&
        same_expiry(m, here, there))
        k->outcome = KEY_EQUAL;
    else if (!m->wanted->replace)
        key_problem(m, k, KEY_EXISTING,
                    "the target has this key with another value or time to live; --replace "
                    "replaces it");
    return true;
}

static bool target_has(struct chunked *w)
{
    struct moving_key *k = w->k;
    struct reply *type = client_call(w->m->to, key_request("TYPE", k->name, 0, 0));
    if (type == NULL) return false;
    k->exists = type->type == REPLY_TEXT && strcmp(type->text, "none") != 0;
    k->same_type = type->type == REPLY_TEXT && strcmp(type->text, k->type->name) == 0;
    const bool good = type->type != REPLY_ERROR || fail_reply(w->m->to, type);
    reply_free(type);
    return good;
}

bool copy_in_chunks(struct migration *m, struct moving_key *k)
{
    struct chunked w = {.m = m, .k = k};
    bool again = true;
    if (k->type->chunk == NULL) return true;
    bool good = target_has(&w) && compare_chunks(&w);
    for (int i = 0; i < CHUNK_ATTEMPTS && good && again && k->outcome == KEY_OPEN; i++) {
        if (m->out->stopped) break;
        good = copy_once(&w, &again);
        drop_temporary(&w);
    }
    if (good && again && k->outcome == KEY_OPEN && !m->out->stopped)
        key_problem(m, k, KEY_FAILED,
                    "it has changed at the source during each of %d attempts; it was not copied",
                    CHUNK_ATTEMPTS);
    return good;
}
