/* The stash of a cuckoo filter: an optional second section for keys that found no slot.
 *
 * A class has four slots. So the fifth copy of a key finds none, and neither does the fifth of
 * distinct keys that share their slots, which is rare, but certain to happen in large sets. Without
 * a stash, fingerprints would have to grow with the set to make it improbable.
 *
 *     0        8        12       16
 *     | window | print  | copies | window | print  | copies | ...         in ascending order
 *
 * The table distinguishes keys only by their class, so that is all that the stash keeps of them:
 * the window in half 0 and the fingerprint, with the number of keys. The answers are the same as if
 * the class had more slots, and keys that are added again and again take one entry. The order makes
 * the bytes independent of the order in which the keys came to the stash.
 *
 * There is no section while there are no entries. A filter without a stash is one section, and asks
 * only whether it has a second. */
#include "../core/memory.h"
#include "cuckoo.h"

#define ENTRY_BYTES 16u
#define STASH_BYTES (TAMIS__CUCKOO_STASH * ENTRY_BYTES)

static uint8_t *stash_entry(const struct section *stash, uint64_t i)
{
    return stash->cells + i * ENTRY_BYTES;
}

static uint64_t entry_window(const uint8_t *e)
{
    return tamis__get64(e);
}

static uint32_t entry_print(const uint8_t *e)
{
    return tamis__get32(e + 8);
}

static uint32_t entry_copies(const uint8_t *e)
{
    return tamis__get32(e + 12);
}

static bool is_before(const uint8_t *e, uint64_t window, uint64_t print)
{
    return entry_window(e) < window || (entry_window(e) == window && entry_print(e) < print);
}

/* The place of a class among the entries. Returns whether it is there. */
static bool find_entry(const struct section *stash, const struct cuckoo_key *k, uint64_t *at)
{
    uint64_t from = 0, to = stash->m;
    while (from < to) {
        const uint64_t middle = (from + to) / 2;
        if (is_before(stash_entry(stash, middle), k->start[0], k->print))
            from = middle + 1;
        else
            to = middle;
    }
    *at = from;
    const uint8_t *e = stash_entry(stash, from);
    return from < stash->m && entry_window(e) == k->start[0] && entry_print(e) == k->print;
}

uint32_t tamis__cuckoo_stashed(const struct body *b, const struct cuckoo_key *k)
{
    uint64_t at;
    if (!cuckoo_has_stash(b) || !find_entry(&b->sections[1], k, &at)) return 0;
    return entry_copies(stash_entry(&b->sections[1], at));
}

struct cuckoo_key tamis__cuckoo_stash_key(const struct body *b, uint64_t i)
{
    const uint8_t *e = stash_entry(&b->sections[1], i);
    return cuckoo_key_of(b->sections, entry_window(e), entry_print(e));
}

static void set_entries(struct section *stash, uint64_t n)
{
    stash->m = n;
    stash->length = n * ENTRY_BYTES;
}

/* Adds the section, without entries. */
static tamis_status open_stash(struct body *b)
{
    const struct section stash = {.role = TAMIS__ROLE_STASH,
                                  .kind = TAMIS_CUCKOO,
                                  .cell_bits = 8 * ENTRY_BYTES,
                                  .k = TAMIS__CUCKOO_WINDOWS,
                                  .room = STASH_BYTES};
    struct section *both = b->apart ? b->sections : tamis__alloc(b->memory, 2 * sizeof *both);
    uint8_t *cells = tamis__alloc(b->memory, STASH_BYTES);
    if (both == NULL || cells == NULL) {
        if (!b->apart) tamis__free(b->memory, both);
        tamis__free(b->memory, cells);
        return TAMIS_ENOMEM;
    }
    both[0] = b->sections[0];
    both[1] = stash;
    both[1].cells = cells;
    b->sections = both;
    b->apart = true;
    b->count = 2;
    return TAMIS_OK;
}

/* Gives a stash that was loaded the memory for all its entries. */
static tamis_status widen_stash(const struct body *b)
{
    struct section *stash = &b->sections[1];
    if (stash->room >= STASH_BYTES) return TAMIS_OK;
    uint8_t *cells = tamis__alloc(b->memory, STASH_BYTES);
    if (cells == NULL) return TAMIS_ENOMEM;
    memcpy(cells, stash->cells, (size_t)stash->length);
    tamis__free(b->memory, stash->cells);
    stash->cells = cells;
    stash->room = STASH_BYTES;
    return TAMIS_OK;
}

tamis_status tamis__cuckoo_stash(struct body *b, const struct cuckoo_key *k)
{
    uint64_t at = 0;
    if (cuckoo_has_stash(b) && find_entry(&b->sections[1], k, &at)) {
        uint8_t *e = stash_entry(&b->sections[1], at);
        if (entry_copies(e) == UINT32_MAX) return TAMIS_EFULL;
        tamis__put32(e + 12, entry_copies(e) + 1);
        return TAMIS_OK;
    }
    if (cuckoo_has_stash(b) && b->sections[1].m == TAMIS__CUCKOO_STASH) return TAMIS_EFULL;
    const tamis_status status = cuckoo_has_stash(b) ? widen_stash(b) : open_stash(b);
    if (status != TAMIS_OK) return status;
    struct section *stash = &b->sections[1];
    uint8_t *e = stash_entry(stash, at);
    memmove(e + ENTRY_BYTES, e, (size_t)(stash->length - at * ENTRY_BYTES));
    tamis__put64(e, k->start[0]);
    tamis__put32(e + 8, (uint32_t)k->print);
    tamis__put32(e + 12, 1);
    set_entries(stash, stash->m + 1);
    return TAMIS_OK;
}

void tamis__cuckoo_drop_stash(struct body *b)
{
    if (!cuckoo_has_stash(b)) return;
    tamis__free(b->memory, b->sections[1].cells);
    b->count = 1;
}

bool tamis__cuckoo_unstash(struct body *b, const struct cuckoo_key *k)
{
    uint64_t at;
    if (!cuckoo_has_stash(b) || !find_entry(&b->sections[1], k, &at)) return false;
    struct section *stash = &b->sections[1];
    uint8_t *e = stash_entry(stash, at);
    const uint32_t copies = entry_copies(e) - 1;
    tamis__put32(e + 12, copies);
    if (copies != 0) return true;
    memmove(e, e + ENTRY_BYTES, (size_t)(stash->length - (at + 1) * ENTRY_BYTES));
    set_entries(stash, stash->m - 1);
    if (stash->m == 0) tamis__cuckoo_drop_stash(b);
    return true;
}

const char *tamis__cuckoo_wrong_stash_shape(const struct section *stash)
{
    if (stash->role != TAMIS__ROLE_STASH || stash->kind != TAMIS_CUCKOO)
        return "the second section is not a stash";
    if (stash->k != TAMIS__CUCKOO_WINDOWS || stash->cell_bits != 8 * ENTRY_BYTES)
        return "the entries of the stash have a wrong shape";
    if (stash->m < 1 || stash->m > TAMIS__CUCKOO_STASH || stash->length != stash->m * ENTRY_BYTES)
        return "the stash has a wrong length";
    return NULL;
}

const char *tamis__cuckoo_wrong_stash(const struct body *b)
{
    const struct section *s = b->sections, *stash = s + 1;
    for (uint64_t i = 0; cuckoo_has_stash(b) && i < stash->m; i++) {
        const uint8_t *e = stash_entry(stash, i);
        if (entry_window(e) >= cuckoo_windows(s->m) || entry_print(e) == 0 ||
            entry_print(e) > cuckoo_mask(s) >> 1 || entry_copies(e) == 0)
            return "an entry of the stash is out of range";
        if (i > 0 && !is_before(e - ENTRY_BYTES, entry_window(e), entry_print(e)))
            return "the entries of the stash are out of order";
    }
    return NULL;
}
