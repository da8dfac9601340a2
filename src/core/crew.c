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
 * the filter gets the same bytes with any number of threads. */
#include "crew.h"

#include "../kernels/kernels.h"
#include "memory.h"
#include "threads.h"

#ifdef TAMIS__WATCHES

/* Keys of a piece: their hashes fit in a second-level cache. For queries, a multiple of 8, so that
 * pieces write distinct bytes of answers. */
#define PIECE 8192u
#define MOST_OWNERS 64u

/* --- Adds ------------------------------------------------------------------------------------- */

struct crew {
    tamis *t;
    struct keys now; /* the keys of this round */
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

/* Adds keys of one piece, which are all of one owner. Returns how many were new. */
static uint64_t add_owned(struct crew *c, const tamis_hash *h, size_t n)
{
    const struct kind *kind = c->t->kind;
    uint8_t seen[TAMIS__MOST_BATCH / 8];
    uint64_t fresh = n;
    size_t done;
    struct batch b = {.hashes = h, .n = n < TAMIS__MOST_BATCH ? n : TAMIS__MOST_BATCH};
    kind->prefetch(&c->t->body, &b);
    for (size_t i = 0; i < n; i += b.n) {
        b.hashes = h + i;
        b.n = n - i < TAMIS__MOST_BATCH ? n - i : TAMIS__MOST_BATCH;
        b.ahead = n - i >= 2 * TAMIS__MOST_BATCH ? h + i + TAMIS__MOST_BATCH : NULL;
        kind->add(&c->t->body, &b, seen, &done); /* a filter of single lines is never full */
        for (size_t j = 0; j < (b.n + 7) / 8; j++) fresh -= tamis__popcount(seen[j]);
    }
    return fresh;
}

static void add_of_owner(void *ctx, uint64_t owner)
{
    struct crew *c = ctx;
    const uint64_t pieces = (c->now.n + PIECE - 1) / PIECE;
    for (uint64_t piece = 0; piece < pieces; piece++) {
        const uint32_t begin = owner != 0 ? c->ends[piece][owner - 1] : 0,
                       end = c->ends[piece][owner];
        if (begin < end)
            c->added_new[owner] += add_owned(c, c->sorted + piece * PIECE + begin, end - begin);
    }
}

static bool is_of_single_lines(const tamis *t)
{
    return (t->kind->traits & TAMIS__LINES) != 0;
}

/* Room for as many keys as the scratch memory allows, in whole pieces. */
static bool crew_open(struct crew *c, size_t n)
{
    const tamis *t = c->t;
    const uint64_t each = 2 * sizeof(tamis_hash) + sizeof *c->ends / PIECE + 1;
    uint64_t pieces = (n + PIECE - 1) / PIECE;
    const uint64_t most = t->scratch_bytes / each / PIECE;
    if (most < 2ull * c->owners) return false; /* each round would be too short */
    if (pieces > most) pieces = most;
    c->now.n = (size_t)pieces * PIECE;
    c->hashed = tamis__alloc_unset(t->memory, pieces * PIECE * sizeof *c->hashed);
    c->sorted = tamis__alloc_unset(t->memory, pieces * PIECE * sizeof *c->sorted);
    c->ends = tamis__alloc_unset(t->memory, pieces * sizeof *c->ends);
    return c->hashed != NULL && c->sorted != NULL && c->ends != NULL;
}

static void crew_close(const struct crew *c)
{
    tamis__free(c->t->memory, c->hashed);
    tamis__free(c->t->memory, c->sorted);
    tamis__free(c->t->memory, c->ends);
}

static void set_owners(struct crew *c, uint32_t threads)
{
    c->lines = c->t->body.sections->length / TAMIS__LINE_BYTES;
    c->owners = threads < MOST_OWNERS ? threads : MOST_OWNERS;
    if (c->owners > c->lines) c->owners = (uint32_t)c->lines;
    for (uint32_t o = 0; o <= c->owners; o++) c->from[o] = c->lines * o / c->owners;
}

bool tamis__crew_pays(const tamis *t, const struct keys *in)
{
    return t->body.threads > 1 && in->n >= TAMIS__CREW_FROM;
}

bool tamis__crew_add(tamis *t, const struct keys *in)
{
    struct crew c = {.t = t};
    if (!tamis__crew_pays(t, in) || !is_of_single_lines(t)) return false;
    set_owners(&c, t->body.threads);
    const bool good = crew_open(&c, in->n);
    const size_t most = c.now.n;
    for (size_t at = 0; good && at < in->n; at += most) {
        c.now = tamis__keys_from(in, at, in->n - at < most ? in->n - at : most);
        tamis__in_parallel(c.owners, (c.now.n + PIECE - 1) / PIECE, sort_piece, &c);
        tamis__in_parallel(c.owners, c.owners, add_of_owner, &c);
    }
    crew_close(&c);
    for (uint32_t o = 0; o < c.owners; o++) tamis__count_items(t, (size_t)c.added_new[o]);
    return good;
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
    tamis__in_parallel(t->body.threads, (in->n + PIECE - 1) / PIECE, answer_piece, &q);
    return q.maybes;
}

#endif
