/* Many keys at a time: streaming.
 *
 * Keys travel in groups. A group is hashed and the memory it will touch is prefetched; it is answered while the
 * next one is prefetched, the two interleaved key by key, so that the memory always has as much to do as it can
 * take. A key then costs the bandwidth of a random access, not its latency. Big adds to big tables have
 * a better way, partition.c. */
#include "bulk.h"

#include "bits.h"
#include "kernels/kernels.h"
#include "partition.h"

/* A multiple of 8, so that a group writes whole bytes of answers. Between its prefetch and its use a line has the
 * time of 128 others to arrive. For memory 64 were as good, 32 too few; for small tables the fewer calls count
 * (1 M keys: 3.3, 2.8, 2.6 ns). The ring of hashes takes 4 KiB of the first-level cache. */
#define GROUP 128u

/* Answers to adds are counted so many at a time. Right after they were written, byte by byte, a wider load of
 * them would wait until the stores are done. */
#define UNCOUNTED (8 * GROUP)

/* Smaller tables are in the second-level cache: the processor itself looks far enough ahead. */
#define PREFETCH_FROM (1u << 20)

/* Keys may lie anywhere: ask for both ends of the next ones while these are hashed. Not for integers, which are
 * an array as a rule. */
static void fetch_keys(const struct keys *in, size_t at, size_t n)
{
    if (at >= in->n || in->bytes[at].len <= 8) return;
    for (size_t i = at; i < at + n && i < in->n; i++) TAMIS__PREFETCH(in->bytes[i].p);
}

const tamis_hash *tamis__hash_group(const tamis *t, const struct keys *in, size_t at, size_t n,
                                    tamis_hash *room)
{
    if (in->bytes == NULL) return in->hashes + at;
    fetch_keys(in, at + n, n);
    tamis__hash_keys(&t->hasher, in->bytes + at, n, room);
    return room;
}

size_t tamis__count_answers(const uint8_t *bits, size_t n)
{
    size_t count = 0, bytes = (n + 7) / 8;
    for (; bytes >= 8; bytes -= 8, bits += 8) count += tamis__popcount(tamis__get64(bits));
    for (; bytes > 0; bytes--) count += tamis__popcount(*bits++);
    return count;
}

void tamis__count_new(tamis *t, size_t n)
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

/* --- Streaming ------------------------------------------------------------------------------------------- */

struct stream {
    const tamis *t;
    const struct keys *in;
    size_t lag; /* keys between prefetch and use: a group, or none */
    tamis_hash ring[2 * GROUP];
};

static void stream_open(struct stream *s, const tamis *t, const struct keys *in)
{
    s->t = t;
    s->in = in;
    s->lag = t->body.sections->length >= PREFETCH_FROM ? GROUP : 0;
}

/* The group at `at`, hashed before unless it is sent now. */
static struct batch stream_group(struct stream *s, size_t at, bool now)
{
    const size_t rest = s->in->n - at;
    struct batch b = {NULL, rest < GROUP ? rest : GROUP, NULL};
    tamis_hash *slot = s->ring + at % (2 * GROUP);
    b.hashes = s->in->bytes == NULL ? s->in->hashes + at : slot;
    if (now) tamis__hash_group(s->t, s->in, at, b.n, slot);
    return b;
}

/* Send the group at `at` on its way and return the one that is due (its n is 0 while there is none). */
static struct batch stream_step(struct stream *s, size_t at)
{
    struct batch sent = {NULL, 0, NULL}, due = sent;
    if (at < s->in->n) sent = stream_group(s, at, true);
    if (s->lag == 0) return sent;
    if (at >= s->lag) due = stream_group(s, at - s->lag, false);
    if (due.n == sent.n)
        due.ahead = sent.hashes;
    else if (sent.n != 0)
        s->t->kind->prefetch(&s->t->body, &sent);
    return due;
}

/* All of them; they are sure to fit. */
static void stream_add(tamis *t, const struct keys *in, uint8_t *seen)
{
    struct stream s;
    uint8_t unwanted[UNCOUNTED / 8];
    size_t counted = 0;
    stream_open(&s, t, in);
    for (size_t at = 0; at < in->n + s.lag; at += GROUP) {
        const struct batch b = stream_step(&s, at);
        if (b.n == 0) continue;
        const size_t from = at - s.lag, uncounted = from + b.n - counted;
        uint8_t *out = seen != NULL ? seen + counted / 8 : unwanted;
        t->kind->add(&t->body, &b, out + (from - counted) / 8);
        if (uncounted < UNCOUNTED && from + b.n < in->n) continue;
        tamis__count_new(t, uncounted - tamis__count_answers(out, uncounted));
        counted += uncounted;
    }
}

size_t tamis__bulk_query(const tamis *t, const struct keys *in, uint8_t *bits)
{
    struct stream s;
    stream_open(&s, t, in);
    for (size_t at = 0; at < in->n + s.lag; at += GROUP) {
        const struct batch b = stream_step(&s, at);
        if (b.n != 0) t->kind->query(&t->body, &b, bits + (at - s.lag) / 8);
    }
    return tamis__count_answers(bits, in->n);
}

/* --- Adding, with a plan that may be strict ---------------------------------------------------------------- */

/* How many of n keys are sure to fit, new or not. */
static size_t sure_to_fit(const tamis *t, size_t n)
{
    if (!t->strict) return n;
    const uint64_t room = t->items < t->planned_items ? t->planned_items - t->items : 0;
    return room < n ? (size_t)room : n;
}

/* One by one: only a key that is new needs room. Returns how many were added. */
static size_t add_carefully(tamis *t, const struct batch *keys, uint8_t *seen)
{
    memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const struct batch one = {keys->hashes + i, 1, NULL};
        uint8_t known;
        t->kind->query(&t->body, &one, &known);
        if (known == 0 && sure_to_fit(t, 1) == 0) return i;
        if (known == 0) {
            t->kind->add(&t->body, &one, &known);
            tamis__count_new(t, 1);
        } else {
            seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
        }
    }
    return keys->n;
}

/* Keys that are sure to fit. */
static void add_sure(tamis *t, const struct keys *in, uint8_t *seen)
{
    /* Answers are wanted in order: one after the other. */
    if (seen != NULL || !tamis__partitioned_add(t, in)) stream_add(t, in, seen);
}

static struct keys keys_from(const struct keys *all, size_t at, size_t n)
{
    const struct keys k = {all->bytes != NULL ? all->bytes + at : NULL,
                           all->hashes != NULL ? all->hashes + at : NULL, n};
    return k;
}

bool tamis__add_key(tamis *t, tamis_hash h, bool *seen)
{
    const struct batch one = {&h, 1, NULL};
    uint8_t known = 0;
    bool added = true;
    if (sure_to_fit(t, 1) != 0) {
        t->kind->add(&t->body, &one, &known);
        tamis__count_new(t, 1u - known);
    } else {
        added = add_carefully(t, &one, &known) == 1;
    }
    if (seen != NULL) *seen = known != 0;
    return added;
}

bool tamis__query_key(const tamis *t, tamis_hash h)
{
    const struct batch one = {&h, 1, NULL};
    uint8_t bit;
    t->kind->query(&t->body, &one, &bit);
    return bit != 0;
}

size_t tamis__bulk_add(tamis *t, const struct keys *in, uint8_t *seen)
{
    size_t at = 0;
    while (at < in->n) {
        const size_t rest = in->n - at, sure = sure_to_fit(t, rest);
        uint8_t unwanted, *out = seen != NULL ? seen + at / 8 : &unwanted;
        if (sure >= 8 || sure == rest) {
            const struct keys now = keys_from(in, at, sure == rest ? rest : sure / 8 * 8);
            add_sure(t, &now, seen != NULL ? out : NULL);
            at += now.n;
            continue;
        }
        tamis_hash room[8]; /* a byte of answers */
        const size_t n = rest < 8 ? rest : 8;
        const struct batch few = {tamis__hash_group(t, in, at, n, room), n, NULL};
        const size_t added = add_carefully(t, &few, out);
        at += added;
        if (added < n) break;
    }
    /* After a stop, the rest of the answers is "not seen". */
    if (seen != NULL && at < in->n) memset(seen + at / 8 + 1, 0, (in->n + 7) / 8 - at / 8 - 1);
    return at;
}
