/* Merging runs. The room is divided among the runs, and each share is filled from the run's current
 * position. The smallest of the last hashes of the shares is a border: all hashes up to it are in
 * the room. These are sorted as one array and written to the end of the new run, and each run
 * continues after its last hash among them. Since runs are samples of the same uniform hashes,
 * their shares end at about the same place, and little is read twice. Whatever the hashes are, at
 * least one share is used up each time. */
#include "spill.h"

#include "../core/error.h"
#include "../core/memory.h"
#include "../sealed/hash_sort.h"
#include "descriptor.h"

#include <string.h>

#define LEAST_SCRATCH (UINT64_C(1) << 20)
#define LEAST_SHARE 16u

static uint64_t spill_bytes_of(uint64_t hashes)
{
    return hashes * sizeof(tamis_hash);
}

static tamis_status spill_no_memory(tamis_error *why)
{
    return tamis__fail(why, TAMIS_ENOMEM, "not enough memory");
}

/* --- Runs ------------------------------------------------------------------------------------- */

tamis_status tamis__spill_open(const char *directory, uint64_t scratch_bytes,
                               const tamis_memory *memory, struct spill **out, tamis_error *why)
{
    const uint64_t scratch = scratch_bytes > LEAST_SCRATCH ? scratch_bytes : LEAST_SCRATCH;
    struct spill *s = tamis__alloc(memory, sizeof *s);
    *out = NULL;
    if (s == NULL) return spill_no_memory(why);
    s->memory = memory;
    /* The collected hashes, a copy to solve, and the scratch space of sorting. */
    s->most = scratch / spill_bytes_of(3);
    const tamis_status status = tamis__temporary_open(directory, &s->fd, why);
    if (status != TAMIS_OK) {
        tamis__free(memory, s);
        return status;
    }
    *out = s;
    return TAMIS_OK;
}

void tamis__spill_close(struct spill *s)
{
    if (s == NULL) return;
    tamis__temporary_close(s->fd);
    tamis__free(s->memory, s->runs);
    tamis__free(s->memory, s);
}

void tamis__spill_clear(struct spill *s)
{
    s->count = 0;
    s->end = s->suspects = 0;
    s->uniform = false;
    tamis__temporary_empty(s->fd);
}

struct spill tamis__spill_behind(const struct spill *s)
{
    const struct spill behind = {.memory = s->memory, .fd = s->fd, .most = s->most, .end = s->end};
    return behind;
}

void tamis__spill_forget(struct spill *s)
{
    tamis__free(s->memory, s->runs);
    s->runs = NULL;
    s->count = s->room = 0;
}

static tamis_status spill_make_room(struct spill *s, tamis_error *why)
{
    if (s->count < s->room) return TAMIS_OK;
    const uint32_t room = s->room != 0 ? 2 * s->room : 16;
    struct run *runs = tamis__alloc(s->memory, room * sizeof *runs);
    if (runs == NULL) return spill_no_memory(why);
    if (s->count > 0) memcpy(runs, s->runs, s->count * sizeof *runs);
    tamis__free(s->memory, s->runs);
    s->runs = runs;
    s->room = room;
    return TAMIS_OK;
}

tamis_status tamis__spill_write(struct spill *s, const tamis_hash *sorted, uint64_t n,
                                tamis_error *why)
{
    tamis_status status = spill_make_room(s, why);
    if (status == TAMIS_OK)
        status = tamis__temporary_write(s->fd, spill_bytes_of(s->end), sorted,
                                        (size_t)spill_bytes_of(n), why);
    if (status != TAMIS_OK) return status;
    s->runs[s->count++] = (struct run){s->end, n};
    s->end += n;
    return TAMIS_OK;
}

tamis_status tamis__spill_read(const struct spill *s, uint64_t at, tamis_hash *to, uint64_t n,
                               tamis_error *why)
{
    return tamis__temporary_read(s->fd, spill_bytes_of(s->runs->from + at), to,
                                 (size_t)spill_bytes_of(n), why);
}

tamis_status tamis__spill_find(const struct spill *s, uint64_t hi, uint64_t *at, tamis_error *why)
{
    uint64_t to = s->runs->n;
    *at = 0;
    while (*at < to) {
        const uint64_t middle = *at + (to - *at) / 2;
        tamis_hash h;
        const tamis_status status = tamis__spill_read(s, middle, &h, 1, why);
        if (status != TAMIS_OK) return status;
        if (h.hi < hi)
            *at = middle + 1;
        else
            to = middle;
    }
    return TAMIS_OK;
}

/* --- Merging ---------------------------------------------------------------------------------- */

struct merge {
    const struct spill *from;
    tamis_hash *room;
    uint64_t share;    /* hashes of the room for each run */
    struct run *left;  /* of each run: what has not been merged */
    uint64_t *in_room; /* hashes of each run in the room, from i * share on */
};

static bool is_after(tamis_hash a, tamis_hash b)
{
    return a.hi != b.hi ? a.hi > b.hi : a.lo > b.lo;
}

/* Fills the shares, sets the border, and reports whether anything was left. */
static tamis_status fill_shares(struct merge *m, tamis_hash *border, bool *any, tamis_error *why)
{
    *border = (tamis_hash){UINT64_MAX, UINT64_MAX};
    *any = false;
    for (uint32_t i = 0; i < m->from->count; i++) {
        const struct run *r = &m->left[i];
        const uint64_t n = r->n < m->share ? r->n : m->share;
        tamis_hash *share = m->room + i * m->share;
        m->in_room[i] = n;
        if (n == 0) continue;
        *any = true;
        const tamis_status status = tamis__temporary_read(m->from->fd, spill_bytes_of(r->from),
                                                          share, (size_t)spill_bytes_of(n), why);
        if (status != TAMIS_OK) return status;
        if (n < r->n && is_after(*border, share[n - 1])) *border = share[n - 1];
    }
    return TAMIS_OK;
}

/* Returns how many of n sorted hashes are not after the border. */
static uint64_t up_to(const tamis_hash *h, uint64_t n, tamis_hash border)
{
    uint64_t at = 0;
    while (at < n) {
        const uint64_t middle = at + (n - at) / 2;
        if (is_after(h[middle], border))
            n = middle;
        else
            at = middle + 1;
    }
    return at;
}

/* Moves these hashes to the front of the room and returns their number. */
static uint64_t take_up_to(struct merge *m, tamis_hash border)
{
    uint64_t taken = 0;
    for (uint32_t i = 0; i < m->from->count; i++) {
        const tamis_hash *share = m->room + i * m->share;
        const uint64_t n = up_to(share, m->in_room[i], border);
        memmove(m->room + taken, share, (size_t)spill_bytes_of(n));
        taken += n;
        m->left[i].from += n;
        m->left[i].n -= n;
    }
    return taken;
}

static tamis_status merge_all(struct merge *m, uint32_t threads, void *scratch, struct spill *out,
                              tamis_error *why)
{
    tamis_hash border;
    for (bool any = true;;) {
        tamis_status status = fill_shares(m, &border, &any, why);
        if (status != TAMIS_OK || !any) return status;
        const uint64_t n = tamis__sort_hashes(m->room, take_up_to(m, border), threads, scratch);
        status = tamis__temporary_write(out->fd, spill_bytes_of(out->end), m->room,
                                        (size_t)spill_bytes_of(n), why);
        if (status != TAMIS_OK) return status;
        out->end += n;
        out->runs->n += n;
    }
}

tamis_status tamis__spill_merge(const struct spill *s, tamis_hash *room, uint64_t hashes,
                                uint32_t threads, struct spill *out, tamis_error *why)
{
    *out = tamis__spill_behind(s);
    if (hashes / s->count < LEAST_SHARE)
        return tamis__fail(why, TAMIS_ENOMEM, "scratch_bytes is too small for so many keys");
    tamis_status status = spill_make_room(out, why);
    if (status != TAMIS_OK) return status;
    *out->runs = (struct run){out->end, 0};
    out->count = 1;
    if (s->count == 1) {
        *out->runs = *s->runs;
        return TAMIS_OK;
    }
    struct merge m = {s, room, hashes / s->count, NULL, NULL};
    m.left = tamis__alloc(s->memory, s->count * sizeof *m.left);
    m.in_room = tamis__alloc(s->memory, s->count * sizeof *m.in_room);
    void *scratch = tamis__alloc(s->memory, tamis__sort_scratch(hashes, threads));
    if (m.left != NULL && m.in_room != NULL && scratch != NULL) {
        memcpy(m.left, s->runs, s->count * sizeof *m.left);
        status = merge_all(&m, threads, scratch, out, why);
    } else {
        status = spill_no_memory(why);
    }
    tamis__free(s->memory, m.left);
    tamis__free(s->memory, m.in_room);
    tamis__free(s->memory, scratch);
    if (status != TAMIS_OK) tamis__spill_forget(out);
    return status;
}
