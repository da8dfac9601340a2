/* Many keys at a time, in one of two ways; the answers are the same.
 *
 * Streaming. Keys travel in groups: a group is hashed and the memory it will touch is prefetched; it is
 * answered when a few more groups are on their way. The memory works while we hash, and a key costs the
 * bandwidth of a random access, not its latency.
 *
 * Partitioned, for tables far beyond the caches and batches large against them. A random line costs some
 * 10 ns however well it is prefetched, but a line of the second-level cache costs 1. So the table is cut into
 * parts of that size, keys are first dealt out to buffers, one per part, and a full buffer is worked off at
 * once: every line of the part is fetched once for several keys.
 *
 *     key -> hash -> line -> buffer of its part:  [ 0 | 1 | 2 | ... | P-1 ]   a full one -> the part's lines
 *
 * This is for kinds whose key is a line and 48 bits within it (kind.h: `packs`), which together with the number
 * of the line in its part make one 64-bit word; eight bytes per key keep the dealing cheap. Keys of one line
 * stay in their order, and keys of different lines do not know of each other, so nothing changes but the
 * time. The buffers are the scratch of tamis_options; without memory for them the call streams. */
#include "bulk.h"

#include "bits.h"
#include "memory.h"

/* A group is a multiple of 8, so that it writes whole bytes of answers. 64 keys under way are several times
 * the misses a core keeps in flight (about 18), and their ring of hashes takes 1.5 KiB of the first-level
 * cache. Not tuned: on the machine at hand other values differed by less than the noise. */
#define GROUP 32u
#define AHEAD 2u

/* Tables smaller than this are in the second-level cache anyway, and a prefetch would only cost. */
#define PREFETCH_FROM (512u * 1024)

/* --- Streaming ------------------------------------------------------------------------------------------- */

/* A word e of a partition's buffer is the hash {e, e} in a table of 2^16 lines: mulhi(e, 2^16) is its upper
 * 16 bits, the line, and the bits within the line are taken from the lower 48. */
#define PACKED_BITS 48u
#define PACKED_LINES (UINT64_C(1) << (64 - PACKED_BITS))

/* What is streamed: keys of the caller, or words of a buffer. */
struct stream {
    const struct kind *kind;
    const struct hasher *hasher;
    const struct body *body;
    const struct keys *in;
    const uint64_t *packed; /* instead of in's keys, or NULL */
    size_t lag;             /* keys under way */
    tamis_hash ring[(AHEAD + 1) * GROUP];
};

static void stream_open(struct stream *s, const tamis *t, const struct body *body,
                        const struct keys *in, const uint64_t *packed)
{
    s->kind = t->kind;
    s->hasher = &t->hasher;
    s->body = body;
    s->in = in;
    s->packed = packed;
    s->lag = in->n > 1 && t->body.sections->length >= PREFETCH_FROM ? AHEAD * GROUP : 0;
}

static tamis_hash *stream_slot(struct stream *s, size_t at)
{
    return s->ring + at / GROUP % (AHEAD + 1) * GROUP;
}

static struct batch stream_group(struct stream *s, size_t at)
{
    const size_t rest = s->in->n - at;
    const struct batch b = {s->in->hashes != NULL ? s->in->hashes + at : stream_slot(s, at),
                            rest < GROUP ? rest : GROUP};
    return b;
}

/* Send the group at `at` on its way. */
static void stream_send(struct stream *s, size_t at)
{
    const struct batch b = stream_group(s, at);
    tamis_hash *slot = stream_slot(s, at);
    if (s->in->bytes != NULL) tamis__hash_keys(s->hasher, s->in->bytes + at, b.n, slot);
    if (s->packed != NULL)
        for (size_t i = 0; i < b.n; i++) slot[i].lo = slot[i].hi = s->packed[at + i];
    if (s->lag != 0) s->kind->prefetch(s->body, &b);
}

static size_t count_answers(const uint8_t *bits, size_t n)
{
    size_t count = 0, bytes = (n + 7) / 8;
    for (; bytes >= 4; bytes -= 4, bits += 4) count += tamis__popcount(tamis__get32(bits));
    for (; bytes > 0; bytes--) count += tamis__popcount(*bits++);
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
static size_t add_group(tamis *t, struct body *body, const struct batch *all, uint8_t *seen)
{
    if (has_room(t, all->n)) {
        t->kind->add(body, all, seen);
        count_new(t, all->n - count_answers(seen, all->n));
        return all->n;
    }
    /* Near the limit, one by one: only a key that is new needs room. */
    memset(seen, 0, (all->n + 7) / 8);
    for (size_t i = 0; i < all->n; i++) {
        const struct batch one = {all->hashes + i, 1};
        uint8_t known;
        t->kind->query(body, &one, &known);
        if (known == 0 && t->items >= t->planned_items) return i;
        if (known == 0) {
            t->kind->add(body, &one, &known);
            count_new(t, 1);
        } else {
            seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
        }
    }
    return all->n;
}

static size_t stream_add(tamis *t, struct body *body, const struct keys *in, const uint64_t *packed,
                         uint8_t *seen)
{
    struct stream s;
    uint8_t unwanted[GROUP / 8];
    size_t added = 0;
    stream_open(&s, t, body, in, packed);
    for (size_t at = 0; at < in->n + s.lag; at += GROUP) {
        if (at < in->n) stream_send(&s, at);
        if (at < s.lag || at - s.lag >= in->n) continue;
        const struct batch b = stream_group(&s, at - s.lag);
        const size_t now =
            add_group(t, body, &b, seen != NULL ? seen + (at - s.lag) / 8 : unwanted);
        added += now;
        if (now < b.n) break;
    }
    /* After a stop, the rest of the answers is "not seen". */
    if (seen != NULL && added < in->n)
        for (size_t byte = (added / GROUP + 1) * GROUP / 8; byte < (in->n + 7) / 8; byte++)
            seen[byte] = 0;
    return added;
}

static size_t stream_query(const tamis *t, const struct body *body, const struct keys *in,
                           const uint64_t *packed, uint8_t *bits)
{
    struct stream s;
    size_t maybe = 0;
    stream_open(&s, t, body, in, packed);
    for (size_t at = 0; at < in->n + s.lag; at += GROUP) {
        if (at < in->n) stream_send(&s, at);
        if (at < s.lag || at - s.lag >= in->n) continue;
        const struct batch b = stream_group(&s, at - s.lag);
        t->kind->query(body, &b, bits + (at - s.lag) / 8);
        maybe += count_answers(bits + (at - s.lag) / 8, b.n);
    }
    return maybe;
}

/* --- Partitioned ------------------------------------------------------------------------------------------- */

/* Tables beyond the last-level cache, and a key for each line; two when the answers have to be put back in
 * order. That is where it began to pay on a table of 126 MB. */
#define PARTITION_FROM ((uint64_t)64 << 20)

/* 2^13 lines of 64 bytes: a part sits in a second-level cache of 1 MiB beside what is worked off. */
#define PART_LOG 13u
#define LINE_BYTES 64u

/* Places among the answers are 32-bit numbers, from the start of a run of so many keys. */
#define RUN ((size_t)1 << 31)

struct parts {
    uint64_t lines;
    size_t count, room; /* parts; keys per buffer, a multiple of 8 */
    uint64_t *words;    /* count buffers of room */
    uint32_t *places;   /* of each key among the answers; NULL: not wanted */
    uint32_t *filled;
    uint8_t *answers; /* of one buffer */
};

static void parts_close(const tamis *t, struct parts *p)
{
    tamis__free(t->memory, p->words);
    tamis__free(t->memory, p->places);
    tamis__free(t->memory, p->filled);
    tamis__free(t->memory, p->answers);
}

/* False: not worth it, or no memory. */
static bool parts_open(const tamis *t, size_t n, bool places, struct parts *p)
{
    const uint64_t length = t->body.sections->length;
    const uint64_t lines = length / LINE_BYTES;
    if (length < PARTITION_FROM || n < (places ? 2 * lines : lines) || !t->kind->packs(&t->body))
        return false;
    memset(p, 0, sizeof *p);
    p->lines = lines;
    p->count = (size_t)((lines >> PART_LOG) + 1);
    const size_t bytes_per_key = sizeof *p->words + (places ? sizeof *p->places : 0);
    /* No more than a short batch will fill: fresh memory has its price. */
    const uint64_t room = t->scratch_bytes / bytes_per_key / p->count,
                   enough = 2 * (n / p->count) + 64;
    p->room = (size_t)(room < enough ? room : enough) / 8 * 8;
    if (p->room < 4 * GROUP || p->room > UINT32_MAX) return false;
    p->words = tamis__alloc(t->memory, (uint64_t)p->count * p->room * sizeof *p->words);
    p->filled = tamis__alloc(t->memory, (uint64_t)p->count * sizeof *p->filled);
    if (places) {
        p->places = tamis__alloc(t->memory, (uint64_t)p->count * p->room * sizeof *p->places);
        p->answers = tamis__alloc(t->memory, p->room / 8);
    }
    if (p->words != NULL && p->filled != NULL &&
        (!places || (p->places != NULL && p->answers != NULL)))
        return true;
    parts_close(t, p);
    return false;
}

/* The lines of one part as a body of their own, for packed words. */
static struct section part_section(const tamis *t, size_t part)
{
    struct section s = *t->body.sections;
    s.cells += ((uint64_t)part << PART_LOG) * LINE_BYTES;
    s.m = PACKED_LINES * LINE_BYTES * 8;
    return s;
}

static void work_off_adds(tamis *t, struct parts *p, size_t part)
{
    const struct keys k = {NULL, NULL, p->filled[part]};
    struct section s = part_section(t, part);
    struct body body = {&s, 1, t->body.shared};
    stream_add(t, &body, &k, p->words + part * p->room, NULL);
    p->filled[part] = 0;
}

static size_t work_off_queries(const tamis *t, struct parts *p, size_t part, uint8_t *bits)
{
    const struct keys k = {NULL, NULL, p->filled[part]};
    struct section s = part_section(t, part);
    const struct body body = {&s, 1, t->body.shared};
    const uint32_t *places = p->places + part * p->room;
    const size_t maybe = stream_query(t, &body, &k, p->words + part * p->room, p->answers);
    for (size_t i = 0; i < k.n; i++) {
        const unsigned yes = p->answers[i / 8] >> i % 8 & 1;
        bits[places[i] / 8] = (uint8_t)(bits[places[i] / 8] | yes << places[i] % 8);
    }
    p->filled[part] = 0;
    return maybe;
}

/* Put a key into the buffer of its part, which is returned. */
static inline size_t deal(struct parts *p, tamis_hash h)
{
    const uint64_t line = tamis__mulhi(h.hi, p->lines), in_part = line & ((1u << PART_LOG) - 1);
    const size_t part = (size_t)(line >> PART_LOG);
    p->words[part * p->room + p->filled[part]++] =
        in_part << PACKED_BITS | (h.lo & ((UINT64_C(1) << PACKED_BITS) - 1));
    return part;
}

/* The group of hashes at `at`. */
static const tamis_hash *hash_group(const tamis *t, const struct keys *in, size_t at, size_t n,
                                    tamis_hash *room)
{
    if (in->bytes == NULL) return in->hashes + at;
    tamis__hash_keys(&t->hasher, in->bytes + at, n, room);
    return room;
}

static size_t partitioned_add(tamis *t, const struct keys *in, struct parts *p)
{
    tamis_hash room[GROUP];
    for (size_t at = 0; at < in->n; at += GROUP) {
        const size_t n = in->n - at < GROUP ? in->n - at : GROUP;
        const tamis_hash *h = hash_group(t, in, at, n, room);
        for (size_t i = 0; i < n; i++) {
            const size_t part = deal(p, h[i]);
            if (p->filled[part] == p->room) work_off_adds(t, p, part);
        }
    }
    for (size_t part = 0; part < p->count; part++) work_off_adds(t, p, part);
    return in->n;
}

/* At most RUN keys. */
static size_t partitioned_query(const tamis *t, const struct keys *in, struct parts *p,
                                uint8_t *bits)
{
    tamis_hash room[GROUP];
    size_t maybe = 0;
    memset(bits, 0, (in->n + 7) / 8);
    for (size_t at = 0; at < in->n; at += GROUP) {
        const size_t n = in->n - at < GROUP ? in->n - at : GROUP;
        const tamis_hash *h = hash_group(t, in, at, n, room);
        for (size_t i = 0; i < n; i++) {
            const size_t part = deal(p, h[i]);
            p->places[part * p->room + p->filled[part] - 1] = (uint32_t)(at + i);
            if (p->filled[part] == p->room) maybe += work_off_queries(t, p, part, bits);
        }
    }
    for (size_t part = 0; part < p->count; part++) maybe += work_off_queries(t, p, part, bits);
    return maybe;
}

/* --- Choosing ------------------------------------------------------------------------------------------------- */

size_t tamis__bulk_add(tamis *t, const struct keys *in, uint8_t *seen)
{
    struct parts p;
    if (in->n == 1) { /* nothing to overlap */
        tamis_hash room;
        const struct batch one = {hash_group(t, in, 0, 1, &room), 1};
        uint8_t unwanted;
        return add_group(t, &t->body, &one, seen != NULL ? seen : &unwanted);
    }
    /* Answers are wanted in order, or the plan may stop us anywhere: one after the other. */
    if (seen != NULL || !has_room(t, in->n) || !parts_open(t, in->n, false, &p))
        return stream_add(t, &t->body, in, NULL, seen);
    const size_t added = partitioned_add(t, in, &p);
    parts_close(t, &p);
    return added;
}

size_t tamis__bulk_query(const tamis *t, const struct keys *in, uint8_t *bits)
{
    struct parts p;
    size_t maybe = 0;
    if (in->n == 1) {
        tamis_hash room;
        const struct batch one = {hash_group(t, in, 0, 1, &room), 1};
        t->kind->query(&t->body, &one, bits);
        return bits[0];
    }
    if (!parts_open(t, in->n, true, &p)) return stream_query(t, &t->body, in, NULL, bits);
    for (size_t at = 0; at < in->n; at += RUN) {
        const struct keys run = {in->bytes != NULL ? in->bytes + at : NULL,
                                 in->hashes != NULL ? in->hashes + at : NULL,
                                 in->n - at < RUN ? in->n - at : RUN};
        maybe += partitioned_query(t, &run, &p, bits + at / 8);
    }
    parts_close(t, &p);
    return maybe;
}
