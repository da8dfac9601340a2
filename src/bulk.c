/* Many keys at a time, in one of two ways; the answers are the same.
 *
 * Streaming. Keys travel in groups: a group is hashed and the memory it will touch is prefetched; it is
 * answered when a few more groups are on their way. The memory works while we hash, and a key costs the
 * bandwidth of a random access, not its latency.
 *
 * Partitioned, for tables far beyond the caches and batches large against them. A random line costs 10 ns
 * however well it is prefetched, but a line of the second-level cache costs 1. Kinds whose keys lie in the
 * order of hash.hi (kind.h: `ordered`) can be cut into parts of that size: hashes are first dealt out to
 * buffers, one per part, and a full buffer is worked off at once. Every line of the part is then fetched
 * once for several keys. Keys of one line stay in their order, and keys of different lines do not know of
 * each other, so nothing changes but the time. The buffers are the scratch of tamis_options; without
 * memory for them the call streams.
 *
 *     key -> hash -> buffer of its part:  [ 0 | 1 | 2 | ... | P-1 ]   a full one -> the part's lines
 */
#include "bulk.h"

#include "bits.h"
#include "memory.h"

/* A group is a multiple of 8, so that it writes whole bytes of answers. Measured (`./run bench`): 16 to 64
 * keys and 1 to 4 groups ahead are alike; the ring of hashes takes 2 KiB of the first-level cache. */
#define GROUP 32u
#define AHEAD 2u

/* Tables smaller than this are in the second-level cache anyway, and a prefetch would only cost. */
#define PREFETCH_FROM (512u * 1024)

/* --- Streaming ------------------------------------------------------------------------------------------- */

struct stream {
    const tamis *t;
    const struct keys *in;
    size_t lag; /* keys under way */
    tamis_hash ring[(AHEAD + 1) * GROUP];
};

static void stream_open(struct stream *s, const tamis *t, const struct keys *in)
{
    s->t = t;
    s->in = in;
    s->lag = in->n > 1 && t->body.sections->length >= PREFETCH_FROM ? AHEAD * GROUP : 0;
}

static tamis_hash *stream_slot(struct stream *s, size_t at)
{
    return s->ring + at / GROUP % (AHEAD + 1) * GROUP;
}

static struct batch stream_group(struct stream *s, size_t at)
{
    const size_t rest = s->in->n - at;
    const struct batch b = {s->in->bytes != NULL ? stream_slot(s, at) : s->in->hashes + at,
                            rest < GROUP ? rest : GROUP};
    return b;
}

/* Send the group at `at` on its way. */
static void stream_send(struct stream *s, size_t at)
{
    const struct batch b = stream_group(s, at);
    if (s->in->bytes != NULL)
        tamis__hash_keys(&s->t->hasher, s->in->bytes + at, b.n, stream_slot(s, at));
    if (s->lag != 0) s->t->kind->prefetch(&s->t->body, &b);
}

static size_t count_answers(const uint8_t *bits, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < (n + 7) / 8; i++) count += tamis__popcount(bits[i]);
    return count;
}

static void count_new(tamis *t, size_t n)
{
    if (t->body.shared && n != 0) {
        __atomic_fetch_add(&t->items, n, __ATOMIC_RELAXED);
        __atomic_store_n(&t->changed, true, __ATOMIC_RELAXED);
    }
    if (t->body.shared) return;
    /* Counts from a hostile image may stand at the very end: they stay there. */
    t->items = n <= UINT64_MAX - t->items ? t->items + n : UINT64_MAX;
    if (n != 0) t->changed = true;
}

static bool has_room(const tamis *t, size_t n)
{
    return !t->strict || (t->items <= t->planned_items && n <= t->planned_items - t->items);
}

/* Returns how many were added, which is all unless the plan is strict. */
static size_t add_group(tamis *t, const struct batch *all, uint8_t *seen)
{
    if (has_room(t, all->n)) {
        t->kind->add(&t->body, all, seen);
        count_new(t, all->n - count_answers(seen, all->n));
        return all->n;
    }
    /* Near the limit, one by one: only a key that is new needs room. */
    memset(seen, 0, (all->n + 7) / 8);
    for (size_t i = 0; i < all->n; i++) {
        const struct batch one = {all->hashes + i, 1};
        uint8_t known;
        t->kind->query(&t->body, &one, &known);
        if (known == 0 && t->items >= t->planned_items) return i;
        if (known == 0) {
            t->kind->add(&t->body, &one, &known);
            count_new(t, 1);
        } else {
            seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
        }
    }
    return all->n;
}

static size_t stream_add(tamis *t, const struct keys *in, uint8_t *seen)
{
    struct stream s;
    uint8_t unwanted[GROUP / 8];
    size_t added = 0;
    stream_open(&s, t, in);
    for (size_t at = 0; at < in->n + s.lag; at += GROUP) {
        if (at < in->n) stream_send(&s, at);
        if (at < s.lag || at - s.lag >= in->n) continue;
        const struct batch b = stream_group(&s, at - s.lag);
        const size_t now = add_group(t, &b, seen != NULL ? seen + (at - s.lag) / 8 : unwanted);
        added += now;
        if (now < b.n) break;
    }
    /* After a stop, the rest of the answers is "not seen". */
    if (seen != NULL && added < in->n)
        for (size_t byte = (added / GROUP + 1) * GROUP / 8; byte < (in->n + 7) / 8; byte++)
            seen[byte] = 0;
    return added;
}

static size_t stream_query(const tamis *t, const struct keys *in, uint8_t *bits)
{
    struct stream s;
    size_t maybe = 0;
    stream_open(&s, t, in);
    for (size_t at = 0; at < in->n + s.lag; at += GROUP) {
        if (at < in->n) stream_send(&s, at);
        if (at < s.lag || at - s.lag >= in->n) continue;
        const struct batch b = stream_group(&s, at - s.lag);
        t->kind->query(&t->body, &b, bits + (at - s.lag) / 8);
        maybe += count_answers(bits + (at - s.lag) / 8, b.n);
    }
    return maybe;
}

/* --- Partitioned ------------------------------------------------------------------------------------------- */

/* Where it begins to pay: tables beyond the last-level cache, with a key for every few lines. */
#define PARTITION_FROM ((uint64_t)64 << 20)
#define BYTES_PER_KEY 256u

/* A part must sit in the second-level cache beside the buffer that is worked off. */
#define PART_BYTES ((uint64_t)256 << 10)
#define MAX_PARTS_LOG 11u

struct parts {
    unsigned shift;      /* hi >> shift is the part */
    size_t count, room;  /* parts; keys per buffer */
    tamis_hash *hashes;  /* count buffers of room */
    uint64_t *places;    /* of each key among the answers; NULL: not wanted */
    uint32_t *filled;
    uint8_t *answers;    /* of one buffer */
};

static void parts_close(const tamis *t, struct parts *p)
{
    tamis__free(t->memory, p->hashes);
    tamis__free(t->memory, p->places);
    tamis__free(t->memory, p->filled);
    tamis__free(t->memory, p->answers);
}

/* False: not worth it, or no memory. */
static bool parts_open(const tamis *t, size_t n, bool places, struct parts *p)
{
    const uint64_t length = t->body.sections->length;
    if (!t->kind->ordered || length < PARTITION_FROM || n < length / BYTES_PER_KEY) return false;
    unsigned log = 1;
    while (log < MAX_PARTS_LOG && length >> log > PART_BYTES) log++;
    memset(p, 0, sizeof *p);
    p->shift = 64 - log;
    p->count = (size_t)1 << log;
    const size_t bytes_per_key = sizeof(tamis_hash) + (places ? sizeof *p->places : 0);
    const uint64_t room = t->scratch_bytes / bytes_per_key / p->count;
    p->room = (size_t)(room < n ? room : n) / 8 * 8;
    if (p->room < 4 * GROUP) return false;
    p->hashes = tamis__alloc(t->memory, (uint64_t)p->count * p->room * sizeof *p->hashes);
    if (places) p->places = tamis__alloc(t->memory, (uint64_t)p->count * p->room * sizeof *p->places);
    p->filled = tamis__alloc(t->memory, p->count * sizeof *p->filled);
    p->answers = tamis__alloc(t->memory, (p->room + 7) / 8);
    if (p->hashes != NULL && (!places || p->places != NULL) && p->filled != NULL && p->answers != NULL)
        return true;
    parts_close(t, p);
    return false;
}

static void flush_add(tamis *t, struct parts *p, size_t part)
{
    const struct keys k = {NULL, p->hashes + part * p->room, p->filled[part]};
    stream_add(t, &k, NULL);
    p->filled[part] = 0;
}

static size_t partitioned_add(tamis *t, const struct keys *in, struct parts *p)
{
    tamis_hash hashes[GROUP];
    for (size_t at = 0; at < in->n; at += GROUP) {
        const size_t n = in->n - at < GROUP ? in->n - at : GROUP;
        const tamis_hash *h = in->bytes != NULL ? hashes : in->hashes + at;
        if (in->bytes != NULL) tamis__hash_keys(&t->hasher, in->bytes + at, n, hashes);
        for (size_t i = 0; i < n; i++) {
            const size_t part = (size_t)(h[i].hi >> p->shift);
            p->hashes[part * p->room + p->filled[part]] = h[i];
            if (++p->filled[part] == p->room) flush_add(t, p, part);
        }
    }
    for (size_t part = 0; part < p->count; part++) flush_add(t, p, part);
    return in->n;
}

static size_t flush_query(const tamis *t, struct parts *p, size_t part, uint8_t *bits)
{
    const struct keys k = {NULL, p->hashes + part * p->room, p->filled[part]};
    const uint64_t *places = p->places + part * p->room;
    const size_t maybe = stream_query(t, &k, p->answers);
    for (size_t i = 0; i < k.n; i++) {
        const unsigned yes = p->answers[i / 8] >> i % 8 & 1;
        bits[places[i] / 8] = (uint8_t)(bits[places[i] / 8] | yes << places[i] % 8);
    }
    p->filled[part] = 0;
    return maybe;
}

static size_t partitioned_query(const tamis *t, const struct keys *in, struct parts *p, uint8_t *bits)
{
    tamis_hash hashes[GROUP];
    size_t maybe = 0;
    memset(bits, 0, (in->n + 7) / 8);
    for (size_t at = 0; at < in->n; at += GROUP) {
        const size_t n = in->n - at < GROUP ? in->n - at : GROUP;
        const tamis_hash *h = in->bytes != NULL ? hashes : in->hashes + at;
        if (in->bytes != NULL) tamis__hash_keys(&t->hasher, in->bytes + at, n, hashes);
        for (size_t i = 0; i < n; i++) {
            const size_t part = (size_t)(h[i].hi >> p->shift);
            const size_t slot = part * p->room + p->filled[part];
            p->hashes[slot] = h[i];
            p->places[slot] = at + i;
            if (++p->filled[part] == p->room) maybe += flush_query(t, p, part, bits);
        }
    }
    for (size_t part = 0; part < p->count; part++) maybe += flush_query(t, p, part, bits);
    return maybe;
}

/* --- Choosing ------------------------------------------------------------------------------------------------- */

size_t tamis__bulk_add(tamis *t, const struct keys *in, uint8_t *seen)
{
    struct parts p;
    /* Answers are wanted in order, or the plan may stop us anywhere: one after the other. */
    if (seen != NULL || !has_room(t, in->n) || !parts_open(t, in->n, false, &p))
        return stream_add(t, in, seen);
    const size_t added = partitioned_add(t, in, &p);
    parts_close(t, &p);
    return added;
}

size_t tamis__bulk_query(const tamis *t, const struct keys *in, uint8_t *bits)
{
    struct parts p;
    if (!parts_open(t, in->n, true, &p)) return stream_query(t, in, bits);
    const size_t maybe = partitioned_query(t, in, &p, bits);
    parts_close(t, &p);
    return maybe;
}
