/* growing, planned with TAMIS_REMOVABLE: keys can be removed.
 *
 * Otherwise (growing.c) a key that matches an entry is not stored, so an entry may stand for many
 * keys, and nobody knows when the last of them is gone. Here every add stores an entry, and a
 * removal takes away the longest entry that matches:
 *
 *     hash 1101 0110 1...    entry of 4 bits at home 1101: 0110    added long ago
 *                            entry of 5 bits at home 1101: 01101   removed first
 *
 * No member is ever missed, as long as only members are removed. An entry covers an interval of the
 * hash space: all hashes that begin with its bits. The promise is that each member can be assigned
 * an entry that covers it, and no two members the same one.
 *   - Within a table any two intervals are disjoint, or one contains the other. Homes divide the
 *     hashes of a share in equal parts, and bits divide a part in halves; a doubled table divides
 *     each part in two halves, so its intervals are those of the table before.
 *   - All entries that match a key therefore contain each other. If x is removed, and the longest
 *     entry e that covers x is assigned to another member y, then the entry of x contains e, and so
 *     covers y: it is assigned to y instead, and e can go. Any other match would be the wrong one
 *     to take: it may be assigned to a member that the entry of x does not cover.
 *   - An entry keeps its interval when its table grows. Only one without bits, which covers a whole
 *     home, is copied to both halves; a member assigned to it is covered by one of the copies.
 *
 * An entry in the first table says nothing of those in a share, because their homes divide the hash
 * space in other ways: intervals overlap, and a removal could take an entry from the wrong one of
 * the two. So these filters have an empty first table, and shares from the beginning. At 1 % they
 * take at least 15 KB.
 *
 * Two kinds of entries are never removed, so that equal keys cannot pile up at one home. They can
 * then be assigned to any number of members.
 *   - Of equal entries there are at most MOST_COPIES. An add beyond them stores nothing, and while
 *     there are so many, a removal removes nothing. This is like a saturated counter.
 *   - An entry without bits is the only one of its home, and further keys of the home are not
 *     stored. There are such entries once a set has outgrown its first keys by as many doublings as
 *     a fingerprint has bits: from 30 million keys on at 1 %. They are fewer than the rate allows.
 * A key with such an entry that is removed remains a "maybe". That is a false positive like any
 * other, and part of the rate.
 *
 * The rate keeps the promise of growing.c. Its sum has one term for each entry, however often the
 * keys were added, and there are never more entries than a table may hold. What a query can match
 * is less, where entries lie within others, and tamis_info counts only the outer ones. A table
 * never shrinks. */
#include "growing_find.h"

#include "../image/image.h"

/* A run of so many equal entries still fits beyond the last home of a share, which has at least 40
 * slots there. */
#define MOST_COPIES 7u

/* What a table has of a hash. */
struct own {
    struct quotient table;
    struct aim aim;
    struct quotient_match match;
};

static struct own look_in(const struct section *s, tamis_hash h)
{
    struct own o = {.table = tamis__growing_table(s)};
    o.aim = tamis__growing_aim(s, h);
    o.match = tamis__quotient_longest(&o.table, o.aim.home, o.aim.f);
    return o;
}

/* Whether the longest match is never removed. */
static bool is_kept(const struct own *o)
{
    return o->match.value == tamis__quotient_void(&o->table) || o->match.copies >= MOST_COPIES;
}

static enum tamis__added store_own(struct own *o)
{
    struct quotient *t = &o->table;
    const uint64_t value = o->aim.f << 1 | 1;
    const bool is_void = o->match.value == tamis__quotient_void(t);
    if (is_void || (o->match.value == value && is_kept(o))) return TAMIS__SEEN;
    if (tamis__quotient_entries(t) >= tamis__quotient_capacity(t->homes, t->whole))
        return TAMIS__NO_ROOM;
    return tamis__quotient_insert(t, o->aim.home, o->match.after, value) ? TAMIS__STORED
                                                                         : TAMIS__NO_ROOM;
}

static enum tamis__added store_in_grown(const struct section *s, tamis_hash h)
{
    struct own o = look_in(s, h);
    return store_own(&o);
}

static tamis_status removable_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                  size_t *done)
{
    tamis__growing_prefetch_for(b, keys);
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const tamis_hash h = keys->hashes[i];
        const struct section *s = tamis__share_of(b, h);
        struct own o = look_in(s, h);
        tamis_status status = TAMIS_OK;
        *done = i;
        if (store_own(&o) == TAMIS__NO_ROOM)
            status = tamis__growing_enlarge(b, (uint32_t)(s - b->sections), h, store_in_grown);
        if (status != TAMIS_OK) return status;
        if (seen != NULL && o.match.entries != 0)
            seen[i / 8] = (uint8_t)(seen[i / 8] | 1u << i % 8);
    }
    return TAMIS_OK;
}

static tamis_status removable_remove(struct body *b, tamis_hash h)
{
    struct own o = look_in(tamis__share_of(b, h), h);
    if (o.match.entries == 0) return TAMIS_EABSENT;
    if (!is_kept(&o)) tamis__quotient_erase(&o.table, o.aim.home, o.match.slot);
    return TAMIS_OK;
}

/* Among fewer matches, none is kept. */
static void removable_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    tamis__growing_prefetch_for(b, keys);
    for (size_t i = 0; i < keys->n; i++) {
        const struct own o = look_in(tamis__share_of(b, keys->hashes[i]), keys->hashes[i]);
        const bool kept = o.match.value == tamis__quotient_void(&o.table);
        out[i] = kept || o.match.entries >= MOST_COPIES ? INT64_MAX : (int64_t)o.match.entries;
    }
}

/* --- Shapes ----------------------------------------------------------------------------------- */

static const char *removable_wrong_shape(const struct body *b)
{
    const char *reason = tamis__growing_wrong_shape(b);
    if (reason != NULL) return reason;
    if (!tamis__has_shares(b)) return "a removable filter has shares";
    if (tamis__growing_level(b->sections) != TAMIS__GROWING_MIN_LEVEL)
        return "the first table of a removable filter is too large";
    return NULL;
}

static const char *removable_wrong_cells(const struct body *b)
{
    const char *reason = tamis__growing_wrong_cells(b);
    const struct quotient first = tamis__growing_table(b->sections);
    if (reason != NULL || tamis__quotient_entries(&first) == 0) return reason;
    return "the first table of a removable filter is not empty";
}

static const struct single *removable_single(const struct body *b)
{
    (void)b;
    return &tamis__growing_kernel()->asks;
}

const struct kind tamis__growing_removable = {
    .id = TAMIS_GROWING,
    .name = "growing",
    .traits = TAMIS__GROWS | TAMIS__MULTISET | TAMIS__REMOVES,
    .accepts = TAMIS__PLANS_ITEMS | TAMIS__PLANS_FPR | TAMIS_REMOVABLE,
    .variants = TAMIS__MOST_SHARE_BITS,
    .instead = TAMIS_BLOCKED,
    .layout = TAMIS__FULL(tamis__growing_layout),
    .wrong_shape = removable_wrong_shape,
    .wrong_cells = removable_wrong_cells,
    .ready = tamis__growing_ready,
    .prefetch = TAMIS__FULL(tamis__growing_prefetch),
    .add = TAMIS__FULL(removable_add),
    .query = tamis__growing_query,
    .single = TAMIS__SINGLE(removable_single),
    .remove = TAMIS__FULL(removable_remove),
    .count = TAMIS__FULL(removable_count),
    .gauge = tamis__growing_gauge_own,
};
