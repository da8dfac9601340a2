/* Bulk calls: streaming.
 *
 * Keys are processed in groups. A group is hashed, and the memory that it will access is
 * prefetched. It is answered while the next group is prefetched. The two are interleaved key by
 * key, so that the memory is always as busy as it can be. A key then costs the bandwidth of a
 * random access, not its latency. For large adds to large tables, partition.c is faster. */
#include "bulk.h"

#include "../frequency/noise.h"
#include "../kernels/kernels.h"
#include "bits.h"
#include "crew.h"
#include "gate.h"
#include "partition.h"

/* A multiple of 8, so that a group writes whole bytes of answers. Between its prefetch and its use
 * a line has the time of 128 others to arrive. For large tables 64 were as good and 32 too few; for
 * small tables fewer calls are faster (1 M keys, groups of 32, 64 and 128: 3.3, 2.8, 2.6 ns). The
 * ring of hashes takes 4 KiB of stack. Kinds that keep aims take 6 KiB more, and their groups are
 * as large as that allows (kind.aimed). */
#define GROUP TAMIS__MOST_BATCH

/* This many answers to adds are counted at a time. They are written byte by byte, and a wider load
 * right afterwards would have to wait for the stores. */
#define UNCOUNTED (8 * GROUP)

/* Smaller tables are in the second-level cache, or nearly so, and the processor itself looks far
 * enough ahead. At 1 M keys, a table of 1.2 MB, bulk queries of members take 7.5 instead of 11.9 ns
 * in bloom, and 2.6 instead of 3.1 in blocked. Kinds that keep aims gain nothing from that. */
#define PREFETCH_FROM (3u << 19)
#define PREFETCH_AIMED_FROM (1u << 20)

/* Keys may be anywhere in memory, so the next ones are prefetched while these are hashed. Integers
 * are not, because they usually are an array. */
TAMIS__PREFETCHES fetch_keys(const struct keys *in, size_t at, size_t n)
{
    if (at >= in->n || in->bytes[at].len <= 8) return;
    for (size_t i = at; i < at + n && i < in->n; i++) TAMIS__PREFETCH(in->bytes[i].p);
}

/* Rows of a column, and hashes of 64 bits. The modules of web/ have neither. */
#ifdef TAMIS__WATCHES
static void hash_others(const tamis *t, const struct keys *in, size_t at, size_t n,
                        tamis_hash *room)
{
    if (in->column != NULL)
        tamis__hash_column(&t->hasher, in->column, in->row + at, n, room);
    else
        for (size_t i = 0; i < n; i++) room[i] = tamis_hash64(in->words[at + i]);
}
#else
#define hash_others(t, in, at, n, room) ((void)0)
#endif

const tamis_hash *tamis__hash_group(const tamis *t, const struct keys *in, size_t at, size_t n,
                                    tamis_hash *room)
{
    if (in->hashes != NULL) return in->hashes + at;
    if (in->bytes == NULL) {
        hash_others(t, in, at, n, room);
        return room;
    }
    fetch_keys(in, at + n, n);
    tamis__hash_keys(&t->hasher, in->bytes + at, n, room);
    return room;
}

/* How many of the first n answers are yes. */
static size_t count_answers(const uint8_t *bits, size_t n)
{
    size_t count = 0, bytes = n / 8;
    for (; bytes >= 8; bytes -= 8, bits += 8) count += tamis__popcount(tamis__get64(bits));
    for (; bytes > 0; bytes--) count += tamis__popcount(*bits++);
    if (n % 8 != 0) count += tamis__popcount(*bits & ((1u << n % 8) - 1));
    return count;
}

void tamis__count_items(tamis *t, size_t n)
{
    if (n == 0 || t->body.extra->locks != NULL) return; /* locks.h */
    if (t->body.shared) {
        __atomic_fetch_add(&t->items, n, __ATOMIC_RELAXED);
        __atomic_store_n(&t->changed, true, __ATOMIC_RELEASE); /* see tamis__adopt_generation */
        return;
    }
    /* A hostile image may have UINT64_MAX items already. */
    t->items = n <= UINT64_MAX - t->items ? t->items + n : UINT64_MAX;
    t->changed = true;
}

static bool is_multiset(const tamis *t)
{
    return (t->kind->traits & TAMIS__MULTISET) != 0;
}

/* At most UINT64_MAX: an image may have any numbers. */
static uint64_t sum_saturating(uint64_t a, uint64_t b)
{
    uint64_t sum;
    return tamis__sum(a, b, &sum) ? sum : UINT64_MAX;
}

static void sum_others(struct body *b)
{
    b->extra->other_totals = 0;
    for (uint32_t i = 1; i < b->count; i++)
        b->extra->other_totals = sum_saturating(b->extra->other_totals, b->sections[i].items);
    b->extra->summed = true;
}

static void sum_sections(tamis *t)
{
    const bool sketch = tamis__sketch(t) != NULL;
    struct body *b = &t->body;
    if (!b->extra->summed) sum_others(b);
    const uint64_t sum = sum_saturating(b->sections->items, b->extra->other_totals);
    if (!sketch) {
        t->items = sum;
        return;
    }
    const bool is_negative = sum > TAMIS__MOST_WEIGHT && tamis__sketch(t)->two_sided &&
                             t->kind->rotate == NULL; /* windows take no negative weights */
    tamis__extra(t)->weight = sum <= TAMIS__MOST_WEIGHT || is_negative ? (int64_t)sum : INT64_MAX;
}

uint64_t tamis__sum_items(const struct body *b)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < b->count; i++)
        sum = sum_saturating(sum, __atomic_load_n(&b->sections[i].items, __ATOMIC_RELAXED));
    return sum;
}

uint64_t tamis__items(const tamis *t)
{
#ifndef TAMIS_LEAN
    if (t->body.extra->locks != NULL) return tamis__items_with_locks(t);
#endif
    if (t->body.extra->gate == NULL)
        return tamis__in_use(&t->body) ? tamis__load64(&t->items) : t->items;
    struct gate_slot *slot = tamis__gate_enter(t->body.extra->gate);
    const uint64_t sum = tamis__sum_items(&t->body);
    tamis__gate_leave(slot);
    return sum;
}

void tamis__sum_weight(tamis *t)
{
    sum_sections(t);
}

void tamis__sum_totals(tamis *t)
{
    t->body.extra->summed = false;
    tamis__sum_added(t);
}

/* Not inlined, because that would slow down the adds of all other kinds. */
TAMIS__APART void tamis__sum_added(tamis *t)
{
    /* tamis__items adds up when someone asks, and so does tamis__weight for one section. */
    if (t->body.extra->gate != NULL || (tamis__in_use(&t->body) && t->body.count == 1)) {
        __atomic_store_n(&t->changed, true, __ATOMIC_RELEASE);
        return;
    }
    sum_sections(t);
    t->changed = true;
    tamis__noise_age(t);
}

void tamis__count_added(tamis *t, size_t n, const uint8_t *seen)
{
    if (n == 0) return; /* an unchanged filter stays in its generation */
    if ((t->kind->traits & TAMIS__SECTION_TOTALS) != 0)
        tamis__sum_added(t);
    else
        tamis__count_items(t, is_multiset(t) ? n : n - count_answers(seen, n));
}

/* --- Streaming -------------------------------------------------------------------------------- */

/* The aims of two groups: of the one that is answered, and of the one that is prefetched. */
struct aims {
    _Alignas(64) uint64_t of[2][TAMIS__AIM_WORDS];
};

struct stream {
    const tamis *t;
    const struct keys *in;
    size_t group;
    size_t lag;               /* keys between prefetch and use: a group, or none */
    bool unasked, mostly_yes; /* as in struct batch */
    unsigned half;            /* of ring and aims, used by the group that is sent next */
    struct aims *aims;        /* NULL: the kind keeps none */
    tamis_hash ring[2 * GROUP];
};

static bool prefetching_pays(const tamis *t)
{
    const uint64_t from = t->kind->aimed != 0 ? PREFETCH_AIMED_FROM : PREFETCH_FROM;
    return t->kind->prefetch != NULL && t->body.sections->length >= from;
}

static void stream_open(struct stream *s, const tamis *t, const struct keys *in, struct aims *aims)
{
    s->t = t;
    s->in = in;
    s->aims = aims;
    s->unasked = s->mostly_yes = false;
    s->half = 0;
    s->group = aims != NULL ? t->kind->aimed : GROUP;
    s->lag = prefetching_pays(t) ? s->group : 0;
}

/* The group at `at`, which uses this half of the ring. It is hashed now, or was hashed before. */
static struct batch stream_group(struct stream *s, size_t at, bool now, unsigned half)
{
    const size_t rest = s->in->n - at;
    struct batch b = {
        .n = rest < s->group ? rest : s->group, .unasked = s->unasked, .mostly_yes = s->mostly_yes};
    tamis_hash *slot = s->ring + half * s->group;
    b.hashes = s->in->hashes != NULL ? s->in->hashes + at : slot;
    if (s->in->weights != NULL) b.weights = s->in->weights + at;
    if (s->in->values != NULL) b.values = s->in->values + at;
    if (s->in->counts != NULL) b.counts = s->in->counts + at;
    if (s->in->bytes != NULL) b.keys = s->in->bytes + at;
    if (now) tamis__hash_group(s->t, s->in, at, b.n, slot);
    if (s->aims != NULL) b.aim = s->aims->of[half];
    return b;
}

/* Hash and prefetch the group at `at`, and return the group that is to be answered. Its n is 0 if
 * there is none yet. */
static struct batch stream_step(struct stream *s, size_t at)
{
    struct batch sent = {.n = 0}, due = sent;
    if (at < s->in->n) sent = stream_group(s, at, true, s->half);
    if (s->lag == 0) return sent;
    if (at >= s->lag) due = stream_group(s, at - s->lag, false, s->half ^ 1);
    if (s->aims != NULL) due.next_aim = s->aims->of[s->half];
    s->half ^= 1;
    if (due.n == sent.n)
        due.ahead = sent.hashes;
    else if (sent.n != 0)
        s->t->kind->prefetch(&s->t->body, &sent);
    return due;
}

/* tamis__bulk_add for keys that the plan has room for. */
static tamis_status stream_add(tamis *t, const struct keys *in, uint8_t *seen, size_t *done)
{
    struct stream s;
    uint8_t unwanted[UNCOUNTED / 8];
    size_t counted = 0;
    tamis_status status = TAMIS_OK;
    stream_open(&s, t, in, NULL);
    s.unasked = seen == NULL && !tamis__needs_seen(t->kind);
    for (size_t at = 0; at < in->n + s.lag && status == TAMIS_OK; at += GROUP) {
        const struct batch b = stream_step(&s, at);
        if (b.n == 0) continue;
        const size_t from = at - s.lag;
        uint8_t *out = seen != NULL ? seen + counted / 8 : unwanted;
        size_t added = b.n;
        uint8_t *answers = s.unasked ? NULL : out + (from - counted) / 8;
        status = t->kind->add(&t->body, &b, answers, &added);
        if (status == TAMIS_OK) added = b.n;
        const size_t uncounted = from + added - counted;
        if (uncounted < UNCOUNTED && from + added < in->n && status == TAMIS_OK) continue;
        tamis__count_added(t, uncounted, out);
        counted += uncounted;
    }
    *done = counted;
    return status;
}

/* If bits is NULL, the answers go to a small buffer, and are counted whenever it is full. */
static TAMIS__APART size_t stream_query(const tamis *t, const struct keys *in, struct aims *aims,
                                        uint8_t *bits)
{
    struct stream s;
    uint8_t unwanted[UNCOUNTED / 8];
    size_t count = 0, counted = 0;
    stream_open(&s, t, in, aims);
    for (size_t at = 0; at < in->n + s.lag; at += s.group) {
        const struct batch b = stream_step(&s, at);
        if (b.n == 0) continue;
        const size_t from = at - s.lag, uncounted = from + b.n - counted;
        uint8_t *out = bits != NULL ? bits + from / 8 : unwanted + (from - counted) / 8;
        t->kind->query(&t->body, &b, out);
        s.mostly_yes = tamis__popcount(*out) > 4; /* the first byte was stored long ago */
        if (bits != NULL || (uncounted + GROUP <= UNCOUNTED && from + b.n < in->n)) continue;
        count += count_answers(unwanted, uncounted);
        counted += uncounted;
    }
    return bits != NULL ? count_answers(bits, in->n) : count;
}

/* In a frame of its own, because other queries do not need the aims. */
static TAMIS__APART size_t query_aimed(const tamis *t, const struct keys *in, uint8_t *bits)
{
    struct aims aims;
    return stream_query(t, in, &aims, bits);
}

size_t tamis__stream_query(const tamis *t, const struct keys *in, uint8_t *bits)
{
    const bool aimed = t->kind->aimed != 0 && prefetching_pays(t);
    return aimed ? query_aimed(t, in, bits) : stream_query(t, in, NULL, bits);
}

size_t tamis__bulk_query(const tamis *t, const struct keys *in, uint8_t *bits)
{
    return tamis__crew_pays(t, in) ? tamis__crew_query(t, in, bits)
                                   : tamis__stream_query(t, in, bits);
}

void tamis__bulk_count(const tamis *t, const struct keys *in, tamis__counter *use, void *ctx)
{
    struct stream s;
    stream_open(&s, t, in, NULL);
    for (size_t at = 0; at < in->n + s.lag; at += GROUP) {
        const struct batch b = stream_step(&s, at);
        if (b.n != 0) use(ctx, &b, at - s.lag);
    }
}

/* --- Adding, with a plan that may be strict --------------------------------------------------- */

/* How many of n keys certainly fit, even if all are new. */
static size_t sure_to_fit(const tamis *t, size_t n)
{
    if (!t->strict) return n;
    const uint64_t room = t->items < t->planned_items ? t->planned_items - t->items : 0;
    return room < n ? (size_t)room : n;
}

/* One key near the limit of a strict plan, where only a new key needs room. */
static tamis_status add_carefully(tamis *t, tamis_hash h, uint8_t *seen)
{
    const struct batch one = {.hashes = &h, .n = 1};
    size_t done;
    if (sure_to_fit(t, 1) == 0) {
        t->kind->query(&t->body, &one, seen);
        return *seen != 0 && !is_multiset(t) ? TAMIS_OK : TAMIS_EFULL;
    }
    const tamis_status s = t->kind->add(&t->body, &one, seen, &done);
    if (s == TAMIS_OK) tamis__count_added(t, 1, seen);
    return s;
}

/* Up to eight keys, whose answers are one byte. */
static tamis_status bulk_add_few(tamis *t, const struct batch *keys, uint8_t *seen, size_t *done)
{
    *seen = 0;
    for (*done = 0; *done < keys->n; ++*done) {
        uint8_t known = 0;
        const tamis_status s = add_carefully(t, keys->hashes[*done], &known);
        if (s != TAMIS_OK) return s;
        *seen = (uint8_t)(*seen | (known != 0) << *done);
    }
    return TAMIS_OK;
}

/* Keys that the plan has room for. */
static tamis_status add_sure(tamis *t, const struct keys *in, uint8_t *seen, size_t *done)
{
    /* Partitions change the order of the keys, and the answers depend on it. */
    if (!tamis__crew_add(t, in, seen) && (seen != NULL || !tamis__partitioned_add(t, in)))
        return stream_add(t, in, seen, done);
    *done = in->n;
    return TAMIS_OK;
}

struct keys tamis__keys_from(const struct keys *all, size_t at, size_t n)
{
    struct keys k = {.column = all->column, .row = all->row + at, .n = n};
    if (all->bytes != NULL) k.bytes = all->bytes + at;
    if (all->hashes != NULL) k.hashes = all->hashes + at;
    if (all->words != NULL) k.words = all->words + at;
    if (all->weights != NULL) k.weights = all->weights + at;
    if (all->values != NULL) k.values = all->values + at;
    if (all->counts != NULL) k.counts = all->counts + at;
    return k;
}

tamis_status tamis__bulk_add(tamis *t, const struct keys *in, uint8_t *seen, size_t *done)
{
    tamis_status s = TAMIS_OK;
    size_t at = 0;
    while (at < in->n && s == TAMIS_OK) {
        const size_t rest = in->n - at, sure = sure_to_fit(t, rest);
        uint8_t unwanted, *out = seen != NULL ? seen + at / 8 : &unwanted;
        size_t added = 0;
        if (sure >= 8 || sure == rest) {
            const struct keys now = tamis__keys_from(in, at, sure == rest ? rest : sure / 8 * 8);
            s = add_sure(t, &now, seen != NULL ? out : NULL, &added);
        } else {
            tamis_hash room[8];
            const size_t n = rest < 8 ? rest : 8;
            const struct batch few = {.hashes = tamis__hash_group(t, in, at, n, room), .n = n};
            s = bulk_add_few(t, &few, out, &added);
        }
        at += added;
    }
    *done = at;
    /* After a failure, the remaining answers are "not seen". */
    if (seen == NULL || at == in->n) return s;
    seen[at / 8] = (uint8_t)(seen[at / 8] & ((1u << at % 8) - 1));
    memset(seen + at / 8 + 1, 0, (in->n + 7) / 8 - at / 8 - 1);
    return s;
}

tamis_status tamis__add_key(tamis *t, const tamis_bytes *key, tamis_hash h, bool *seen)
{
    const bool unasked = seen == NULL && !tamis__needs_seen(t->kind);
    const struct batch one = {.hashes = &h, .n = 1, .keys = key, .unasked = unasked};
    uint8_t known = 0;
    size_t done;
    tamis_status s = TAMIS_OK;
    if (sure_to_fit(t, 1) == 0) {
        s = add_carefully(t, h, &known);
    } else {
        s = t->kind->add(&t->body, &one, unasked ? NULL : &known, &done);
        if (s == TAMIS_OK) tamis__count_added(t, 1, &known);
    }
    if (seen != NULL) *seen = s == TAMIS_OK && known != 0;
    return s;
}

bool tamis__query_key(const tamis *t, tamis_hash h)
{
    const struct batch one = {.hashes = &h, .n = 1};
    uint8_t bit;
    t->kind->query(&t->body, &one, &bit);
    return bit != 0;
}
