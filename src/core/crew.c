/* Bulk calls with several threads.
 *
 * Queries are divided into pieces, which are independent.
 *
 * Adds need no atomic operations if every line of the filter belongs to one thread. They take two
 * steps. In the first, each piece of keys is hashed and sorted by the owner of its line. In the
 * second, each owner adds its keys of all pieces:
 *
 *     piece 0:  keys -> hashes  [ owner 0 | owner 1 | owner 2 ]
 *     piece 1:  keys -> hashes  [ owner 0 | owner 1 | owner 2 ]
 *                                     |
 *                                  thread 0 adds these, piece after piece
 *
 * The keys of a line stay in their order and keys of distinct lines do not affect each other, so
 * the filter gets the same bytes with any number of threads, and every key the same answer. In a
 * third step the answers are put back in the order of the keys, if the caller wants them.
 *
 * If the cells of a key are anywhere, each owner takes all keys and sets those cells that are in
 * its range of the table (within.c). Each cell sees the keys in their order, and a key was present
 * if its cells were in use in all ranges. A sealed kind only collects hashes, and these are
 * computed into their places. */
#include "crew.h"

#include "../kernels/kernels.h"
#include "memory.h"
#include "threads.h"

#ifdef TAMIS__WATCHES

/* Keys of a piece: their hashes fit in a second-level cache. For queries, a multiple of 8, so that
 * pieces write distinct bytes of answers. */
#define PIECE 8192u
#define MOST_OWNERS 64u

/* --- Adds to lines ---------------------------------------------------------------------------- */

struct crew {
    tamis *t;
    const struct kind *kind; /* of this filter, or of the newest generation of a window */
    struct body body;
    struct keys now; /* the keys of this round */
    uint8_t *seen;   /* their answers; NULL: nobody wants them */
    uint64_t lines;
    uint32_t owners;
    uint64_t from[MOST_OWNERS + 1]; /* the first line of each owner, and the end */
    tamis_hash *hashed, *sorted;    /* pieces one after the other */
    uint32_t (*ends)[MOST_OWNERS];  /* for each piece, where each owner's keys end */
    uint64_t added_new[MOST_OWNERS];
};

static size_t piece_length(const struct crew *c, uint64_t piece)
{
    const size_t at = (size_t)piece * PIECE, rest = c->now.n - at;
    return rest < PIECE ? rest : PIECE;
}

/* The guess is right, except near a boundary. */
static uint32_t owner_of(const struct crew *c, tamis_hash h)
{
    const uint64_t line = tamis__line_of(h, c->lines);
    uint32_t guess = (uint32_t)tamis__mulhi(h.hi, c->owners);
    if (line < c->from[guess]) guess--;
    if (line >= c->from[guess + 1]) guess++;
    return guess;
}

static void sort_piece(void *ctx, uint64_t piece)
{
    struct crew *c = ctx;
    const size_t at = (size_t)piece * PIECE, n = piece_length(c, piece);
    tamis_hash *hashes = c->hashed + at, *to = c->sorted + at;
    uint32_t *ends = c->ends[piece], begins[MOST_OWNERS] = {0};
    for (size_t i = 0; i < n; i += TAMIS__MOST_BATCH) {
        const size_t some = n - i < TAMIS__MOST_BATCH ? n - i : TAMIS__MOST_BATCH;
        const tamis_hash *group = tamis__hash_group(c->t, &c->now, at + i, some, hashes + i);
        if (group != hashes + i) memcpy(hashes + i, group, some * sizeof *group);
        for (size_t j = i; j < i + some; j++) begins[owner_of(c, hashes[j])]++;
    }
    uint32_t sum = 0;
    for (uint32_t o = 0; o < c->owners; o++) {
        const uint32_t count = begins[o];
        begins[o] = sum;
        ends[o] = sum += count;
    }
    for (size_t i = 0; i < n; i++) to[begins[owner_of(c, hashes[i])]++] = hashes[i];
}

/* The answers of a batch take the place of its first hash, which is no longer needed. */
_Static_assert(sizeof(tamis_hash) * 8 == TAMIS__MOST_BATCH, "a bit for each key of a batch");

/* Adds keys of one piece, which are all of one owner. Returns how many were new. */
static uint64_t add_owned(struct crew *c, tamis_hash *h, size_t n)
{
    uint8_t seen[TAMIS__MOST_BATCH / 8];
    const bool counted = tamis__needs_seen(c->kind), asked = counted || c->seen != NULL;
    uint64_t fresh = n;
    size_t done;
    struct batch b = {.hashes = h, .n = n < TAMIS__MOST_BATCH ? n : TAMIS__MOST_BATCH};
    c->kind->prefetch(&c->body, &b);
    for (size_t i = 0; i < n; i += b.n) {
        b.hashes = h + i;
        b.n = n - i < TAMIS__MOST_BATCH ? n - i : TAMIS__MOST_BATCH;
        b.ahead = n - i >= 2 * TAMIS__MOST_BATCH ? h + i + TAMIS__MOST_BATCH : NULL;
        /* A filter of single lines is never full. */
        c->kind->add(&c->body, &b, asked ? seen : NULL, &done);
        for (size_t j = 0; counted && j < (b.n + 7) / 8; j++) fresh -= tamis__popcount(seen[j]);
        if (c->seen != NULL) memcpy(h + i, seen, (b.n + 7) / 8);
    }
    return fresh;
}

static uint32_t begin_of(const struct crew *c, uint64_t piece, uint64_t owner)
{
    return owner != 0 ? c->ends[piece][owner - 1] : 0;
}

static void add_of_owner(void *ctx, uint64_t owner)
{
    struct crew *c = ctx;
    const uint64_t pieces = (c->now.n + PIECE - 1) / PIECE;
    for (uint64_t piece = 0; piece < pieces; piece++) {
        const uint32_t begin = begin_of(c, piece, owner), end = c->ends[piece][owner];
        if (begin < end)
            c->added_new[owner] += add_owned(c, c->sorted + piece * PIECE + begin, end - begin);
    }
}

/* Puts the answers of a piece back in the order of its keys. */
static void answer_adds(void *ctx, uint64_t piece)
{
    struct crew *c = ctx;
    const size_t at = (size_t)piece * PIECE, n = piece_length(c, piece);
    const uint8_t *answers[MOST_OWNERS];
    uint32_t next[MOST_OWNERS] = {0};
    for (uint32_t o = 0; o < c->owners; o++)
        answers[o] = (const uint8_t *)(c->sorted + at + begin_of(c, piece, o));
    for (size_t i = 0; i < n; i += 8) {
        unsigned byte = 0;
        for (size_t j = 0; j < 8 && i + j < n; j++) {
            const uint32_t o = owner_of(c, c->hashed[at + i + j]), k = next[o]++;
            const uint8_t *batch =
                answers[o] + k / TAMIS__MOST_BATCH * TAMIS__MOST_BATCH * sizeof(tamis_hash);
            byte |= (unsigned)tamis__bit(batch, k % TAMIS__MOST_BATCH) << j;
        }
        c->seen[(at + i) / 8] = (uint8_t)byte;
    }
}

static bool has_lines(const struct kind *kind, const struct section *s)
{
    return (kind->traits & TAMIS__LINES) != 0 ||
           ((kind->traits & TAMIS__LINED_VARIANT) != 0 && s->variant == 1);
}

/* Sets what the keys are added to. False if it has no lines. A window that other threads share may
 * rotate meanwhile; one that rotates by itself depends on the order of all keys, and its answers on
 * all generations. */
static bool find_lines(struct crew *c)
{
    const struct body *b = &c->t->body;
    c->kind = c->t->kind;
    c->body = *b;
    if (c->kind->rotate != NULL) {
        if (b->shared || b->extra->turn_at != 0 || c->seen != NULL || tamis__sketch(c->t) != NULL)
            return false;
        c->kind = tamis__inner(b);
        c->body = tamis__part(b, 0);
    }
    return has_lines(c->kind, c->body.sections);
}

/* Room for as many keys as the scratch memory allows, in whole pieces. */
static bool crew_open(struct crew *c, size_t n)
{
    const tamis *t = c->t;
    const uint64_t each = 2 * sizeof(tamis_hash) + sizeof *c->ends / PIECE + 1;
    uint64_t pieces = (n + PIECE - 1) / PIECE;
    const uint64_t most = tamis__scratch_bytes(t) / each / PIECE;
    if (most < 2ull * c->owners) return false; /* each round would be too short */
    if (pieces > most) pieces = most;
    c->now.n = (size_t)pieces * PIECE;
    c->hashed = tamis__alloc_unset(t->body.memory, pieces * PIECE * sizeof *c->hashed);
    c->sorted = tamis__alloc_unset(t->body.memory, pieces * PIECE * sizeof *c->sorted);
    c->ends = tamis__alloc_unset(t->body.memory, pieces * sizeof *c->ends);
    return c->hashed != NULL && c->sorted != NULL && c->ends != NULL;
}

static void crew_close(const struct crew *c)
{
    tamis__free(c->t->body.memory, c->hashed);
    tamis__free(c->t->body.memory, c->sorted);
    tamis__free(c->t->body.memory, c->ends);
}

static void set_owners(struct crew *c, uint32_t threads)
{
    c->lines = c->body.sections->length / TAMIS__LINE_BYTES;
    c->owners = threads < MOST_OWNERS ? threads : MOST_OWNERS;
    if (c->owners > c->lines) c->owners = (uint32_t)c->lines;
    for (uint32_t o = 0; o <= c->owners; o++) c->from[o] = c->lines * o / c->owners;
}

static void count_lines(struct crew *c)
{
    uint64_t fresh = 0;
    for (uint32_t o = 0; o < c->owners; o++) fresh += c->added_new[o];
    if (c->kind == c->t->kind) {
        tamis__count_items(c->t, (size_t)fresh);
        return;
    }
    uint64_t *items = &c->body.sections->items;
    if (!tamis__sum(*items, fresh, items)) *items = UINT64_MAX;
    tamis__sum_added(c->t);
}

static bool add_by_lines(tamis *t, const struct keys *in, uint8_t *seen)
{
    struct crew c = {.t = t, .seen = seen};
    if (!find_lines(&c)) return false;
    set_owners(&c, t->body.extra->threads);
    const bool good = crew_open(&c, in->n);
    const size_t most = c.now.n;
    for (size_t at = 0; good && at < in->n; at += most) {
        c.now = tamis__keys_from(in, at, in->n - at < most ? in->n - at : most);
        const uint64_t pieces = (c.now.n + PIECE - 1) / PIECE;
        tamis__in_parallel(c.owners, pieces, sort_piece, &c);
        tamis__in_parallel(c.owners, c.owners, add_of_owner, &c);
        if (seen == NULL) continue;
        c.seen = seen + at / 8;
        tamis__in_parallel(c.owners, pieces, answer_adds, &c);
    }
    crew_close(&c);
    if (good) count_lines(&c);
    return good;
}

/* --- Adds to ranges --------------------------------------------------------------------------- */

/* Each thread computes all probes of all keys. That costs more than it saves if all cells are in
 * the second-level cache: without hashing, one of two threads takes 1.06 times the time of a
 * streamed add to a table of 0.6 MB, 0.77 times at 1.2 MB and 0.65 times at 12 MB (k = 7). */
#define RANGES_FROM (1u << 20)

struct ranges {
    tamis *t;
    struct keys now;
    uint32_t owners;
    tamis_hash *hashes;
    uint8_t *answers; /* of each owner one after the other; NULL: nobody needs them */
    size_t most;      /* keys of a round, a multiple of 8 */
};

static void hash_piece(void *ctx, uint64_t piece)
{
    struct ranges *r = ctx;
    const size_t from = (size_t)piece * PIECE, rest = r->now.n - from;
    const size_t end = from + (rest < PIECE ? rest : PIECE);
    for (size_t at = from; at < end; at += TAMIS__MOST_BATCH) {
        const size_t n = end - at < TAMIS__MOST_BATCH ? end - at : TAMIS__MOST_BATCH;
        const tamis_hash *h = tamis__hash_group(r->t, &r->now, at, n, r->hashes + at);
        if (h != r->hashes + at) memcpy(r->hashes + at, h, n * sizeof *h);
    }
}

static void add_to_range(void *ctx, uint64_t owner)
{
    struct ranges *r = ctx;
    const uint64_t length = r->t->body.sections->length,
                   lines = (length + TAMIS__LINE_BYTES - 1) / TAMIS__LINE_BYTES;
    const uint64_t from = lines * owner / r->owners * TAMIS__LINE_BYTES,
                   end = lines * (owner + 1) / r->owners * TAMIS__LINE_BYTES;
    const struct range mine = {from, (end < length ? end : length) - from};
    uint8_t *answers = r->answers != NULL ? r->answers + owner * (r->most / 8) : NULL;
    r->t->kind->add_within(&r->t->body, mine, r->hashes, r->now.n, answers);
}

/* A key was present if all its cells were in use, in each range. Sets the answers of this round,
 * unless seen is NULL, and counts the keys. */
static void join_answers(struct ranges *r, uint8_t *seen)
{
    size_t bytes = (r->now.n + 7) / 8;
    for (uint32_t o = 1; r->answers != NULL && o < r->owners; o++)
        for (size_t i = 0; i < bytes; i++) r->answers[i] &= r->answers[o * (r->most / 8) + i];
    if (seen != NULL) memcpy(seen, r->answers, bytes);
    tamis__count_added(r->t, r->now.n, r->answers);
}

static bool ranges_open(struct ranges *r, size_t n, bool asked)
{
    const tamis *t = r->t;
    const bool answers = asked || tamis__needs_seen(t->kind);
    const uint64_t most = tamis__scratch_bytes(t) / (sizeof *r->hashes + r->owners / 8 + 1);
    if (most < TAMIS__CREW_FROM) return false; /* each round would be too short */
    r->most = (size_t)(most < n ? most : n + 7) / 8 * 8;
    r->hashes = tamis__alloc_unset(t->body.memory, r->most * sizeof *r->hashes);
    if (answers) r->answers = tamis__alloc_unset(t->body.memory, r->owners * (r->most / 8));
    return r->hashes != NULL && (r->answers != NULL || !answers);
}

static bool add_by_ranges(tamis *t, const struct keys *in, uint8_t *seen)
{
    struct ranges r = {.t = t};
    const struct section *s = t->body.sections;
    if (t->kind->add_within == NULL || has_lines(t->kind, s) || t->body.shared ||
        s->length < RANGES_FROM)
        return false;
    r.owners = t->body.extra->threads < MOST_OWNERS ? t->body.extra->threads : MOST_OWNERS;
    const bool good = ranges_open(&r, in->n, seen != NULL);
    for (size_t at = 0; good && at < in->n; at += r.most) {
        r.now = tamis__keys_from(in, at, in->n - at < r.most ? in->n - at : r.most);
        tamis__in_parallel(r.owners, (r.now.n + PIECE - 1) / PIECE, hash_piece, &r);
        tamis__in_parallel(r.owners, r.owners, add_to_range, &r);
        join_answers(&r, seen != NULL ? seen + at / 8 : NULL);
    }
    tamis__free(t->body.memory, r.hashes);
    tamis__free(t->body.memory, r.answers);
    return good;
}

/* --- Hashes for sealed kinds ------------------------------------------------------------------ */

struct collection {
    const tamis *t;
    const struct keys *in;
    uint8_t *place;
};

static void collect_piece(void *ctx, uint64_t piece)
{
    const struct collection *c = ctx;
    const size_t from = (size_t)piece * PIECE, rest = c->in->n - from;
    const size_t end = from + (rest < PIECE ? rest : PIECE);
    tamis_hash room[TAMIS__MOST_BATCH];
    for (size_t at = from; at < end; at += TAMIS__MOST_BATCH) {
        const size_t n = end - at < TAMIS__MOST_BATCH ? end - at : TAMIS__MOST_BATCH;
        const tamis_hash *h = tamis__hash_group(c->t, c->in, at, n, room);
        for (size_t i = 0; i < n; i++) tamis__put_hash(c->place + (at + i) * sizeof *h, h[i]);
    }
}

static bool add_to_collection(tamis *t, const struct keys *in, uint8_t *seen)
{
    if (t->kind->sealing == NULL || t->kind->sealing->reserve == NULL) return false;
    const bool is_first = t->body.sections->m == 0;
    struct collection c = {t, in, t->kind->sealing->reserve(&t->body, in->n)};
    if (c.place == NULL) return false;
    tamis__in_parallel(t->body.extra->threads, (in->n + PIECE - 1) / PIECE, collect_piece, &c);
    tamis__count_items(t, in->n);
    if (seen == NULL) return true;
    tamis__all_maybe(seen, in->n);
    if (is_first) seen[0] = (uint8_t)(seen[0] & ~1u); /* the very first key is new */
    return true;
}

bool tamis__crew_pays(const tamis *t, const struct keys *in)
{
    return t->body.extra->threads > 1 && in->n >= TAMIS__CREW_FROM;
}

bool tamis__crew_add(tamis *t, const struct keys *in, uint8_t *seen)
{
    if (!tamis__crew_pays(t, in) || in->weights != NULL || in->values != NULL || in->counts != NULL)
        return false;
    return add_by_lines(t, in, seen) || add_by_ranges(t, in, seen) ||
           add_to_collection(t, in, seen);
}

/* --- Queries ---------------------------------------------------------------------------------- */

struct questions {
    const tamis *t;
    const struct keys *in;
    uint8_t *bits;
    size_t maybes; /* atomic */
};

static void answer_piece(void *ctx, uint64_t piece)
{
    struct questions *q = ctx;
    const size_t at = (size_t)piece * PIECE, rest = q->in->n - at;
    const struct keys some = tamis__keys_from(q->in, at, rest < PIECE ? rest : PIECE);
    const size_t n = tamis__stream_query(q->t, &some, q->bits != NULL ? q->bits + at / 8 : NULL);
    __atomic_fetch_add(&q->maybes, n, __ATOMIC_RELAXED);
}

size_t tamis__crew_query(const tamis *t, const struct keys *in, uint8_t *bits)
{
    struct questions q = {t, in, bits, 0};
    tamis__in_parallel(t->body.extra->threads, (in->n + PIECE - 1) / PIECE, answer_piece, &q);
    return q.maybes;
}

#endif
