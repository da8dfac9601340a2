/* Partitioned adds, for tables far larger than the caches and batches that are large compared with
 * the table.
 *
 * In a streamed add, every key moves a random line of memory in and out again, and no prefetch
 * avoids that. Here the table is divided into parts of the size of the second-level cache. Keys are
 * first distributed to buffers, one for each part, and a buffer is processed when it is full. So
 * the lines of a part are loaded once for several keys.
 *
 *     key -> hash -> line -> buffer of its part  [ 0 | 1 | 2 | ... | P-1 ]
 *                                a full buffer -> the lines of its part
 *
 * This is for kinds in which a key is a line and 48 bits within it (`packs` in kind.h). Together
 * with the number of the line in its part, these are one 64-bit word. Eight bytes per key keep the
 * distribution cheap. Keys of the same line stay in order, and keys of distinct lines do not affect
 * each other, so only the time changes. The buffers are the scratch memory of tamis_options.
 *
 * The gain depends on how many lines the processor keeps in flight. On Zen 4, where prefetching
 * into the second-level cache made streaming twice as fast, the gain is a sixth with pages of 4 KiB
 * and nothing with pages of 2 MiB. Queries are not partitioned: with their answers put back in
 * order, they took 8.8 ns per key, against 5.4 ns streamed. Three other attempts brought no gain:
 * - collecting lines of the buffers before writing them, past the caches or not;
 * - prefetching the buffers;
 * - reading a part in order first. */
#include "partition.h"

#include "../kernels/kernels.h"
#include "bits.h"
#include "memory.h"

/* The smallest table to be partitioned, which exceeds the last-level cache. The batch must have at
 * least one key for each line. */
#define PARTITION_FROM ((uint64_t)64 << 20)

/* 2^13 lines of 64 bytes: a part fits in a second-level cache of 1 MiB, beside the buffer that is
 * processed. */
#define PART_LOG 13u
#define LINE_BYTES 64u

/* Keys hashed at a time. */
#define GROUP 64u

struct parts {
    uint64_t lines;
    size_t count, room; /* parts; keys per buffer, a multiple of 8 */
    uint64_t *words;    /* count buffers of room */
    uint32_t *filled;
    uint8_t *seen; /* answers of one buffer */
};

static void parts_close(const tamis *t, struct parts *p)
{
    tamis__free(t->body.memory, p->words);
    tamis__free(t->body.memory, p->filled);
    tamis__free(t->body.memory, p->seen);
}

static bool parts_open(const tamis *t, size_t n, struct parts *p)
{
    const uint64_t length = t->body.sections->length, lines = length / LINE_BYTES;
    if (length < PARTITION_FROM || n < lines || t->kind->packs == NULL || !t->kind->packs(&t->body))
        return false;
    p->lines = lines;
    p->count = (size_t)((lines >> PART_LOG) + 1);
    /* No more than a short batch will fill, because fresh memory costs time. */
    const uint64_t room = tamis__scratch_bytes(t) / sizeof *p->words / p->count,
                   enough = 2 * (n / p->count) + 64;
    p->room = (size_t)(room < enough ? room : enough) / 8 * 8;
    if (p->room < 128 || p->room > UINT32_MAX) return false; /* nothing to gain */
    p->words = tamis__alloc(t->body.memory, (uint64_t)p->count * p->room * sizeof *p->words);
    p->filled = tamis__alloc(t->body.memory, (uint64_t)p->count * sizeof *p->filled);
    p->seen = tamis__alloc(t->body.memory, p->room / 8);
    if (p->words != NULL && p->filled != NULL && p->seen != NULL) return true;
    parts_close(t, p);
    return false;
}

static void work_off(tamis *t, struct parts *p, size_t part)
{
    const size_t n = p->filled[part];
    t->kind->add_packed(&t->body, (uint64_t)part << PART_LOG, p->words + part * p->room, n,
                        p->seen);
    tamis__count_added(t, n, p->seen);
    p->filled[part] = 0;
}

static void partition_deal(tamis *t, struct parts *p, const tamis_hash *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const uint64_t line = tamis__line_of(h[i], p->lines);
        const size_t part = (size_t)(line >> PART_LOG);
        const uint32_t at = p->filled[part]++;
        p->words[part * p->room + at] = tamis__pack(line & ((1u << PART_LOG) - 1), h[i]);
        if (at + 1 == p->room) work_off(t, p, part);
    }
}

bool tamis__partitioned_add(tamis *t, const struct keys *in)
{
    struct parts p;
    tamis_hash room[GROUP];
    if (!parts_open(t, in->n, &p)) return false;
    for (size_t at = 0; at < in->n; at += GROUP) {
        const size_t n = in->n - at < GROUP ? in->n - at : GROUP;
        partition_deal(t, &p, tamis__hash_group(t, in, at, n, room), n);
    }
    for (size_t part = 0; part < p.count; part++) work_off(t, &p, part);
    parts_close(t, &p);
    return true;
}
