/* top: the most frequent items with their counts, and a count for every other key.
 *
 * A few keys, the heavy ones, have entries of their own: a count, how much of it may be wrong, and
 * the text. All other keys share the counters of a tally. Sketches of this shape (P. Roy, A. Khan,
 * G. Alonso, "Augmented Sketch", 2016; T. Yang et al., "Elastic Sketch", 2018) keep the heavy keys
 * out of the counters, which are left to the rare ones.
 *
 *     key --> its two buckets, eight entries -- one is its own --> count += w
 *                      |
 *                 none is its own
 *                      |
 *             t = count in the tally + w -- t > least count of the eight --> replaces that entry
 *                      |
 *                  t is not --> raise the key's counters in the tally to t
 *
 * An entry that loses its place looks for another in the same way, at the cost of lesser ones. The
 * last one goes back to the tally, whose counters are raised to its count. So no count is ever too
 * low. The greatest count that found no place, of a key or of an entry, is the floor of the list: a
 * key that occurred more often always has an entry. Before the floor would rise, one of the eight
 * entries moves to its other bucket if there is a lesser one. So nearly all places hold frequent
 * items (for the URL log at 64 KiB, 227 of 252 entries are above the floor; without this, 91).
 *
 * An entry counts exactly from its beginning on. Its error is the count that the key had before,
 * which the tally estimated. If the adds of a key come all together, that would include what the
 * key itself gained while it was still too small. So a bucket remembers the last key that got no
 * entry, and its weight since then. With that the order of arrival does no harm: for the URL log at
 * 64 KiB, the top 100 are right in every order.
 *
 * A key is identified by 64 bits of its hash, its print. Two keys with the same print are counted
 * as one (with a thousand entries, one in 2e7 streams of a billion keys has such a pair). The hash
 * for the tally is derived from the print, so that an entry can go back.
 *
 * Sections: the tally, the entries (buckets.h), the texts (texts.h). There are entries and texts
 * for as many items as the plan has. The entries take an eighth of the tally's memory if that is
 * more.
 *
 * Merging: all entries of both sketches, each with what both know about it, find their places anew,
 * the greatest first. The floors add up, because a key may have been just below both. The result
 * does not depend on which of the two was merged into which. */
#include "../core/cpu.h"
#include "../core/memory.h"
#include "../kernels/avx2_tally.h"
#include "single_counts.h"
#include "tally_cells.h"
#include "texts.h"
#include "top_plan.h"

/* The parts of a body, by name. */
struct top {
    uint8_t *tally;
    uint64_t lines;
    struct buckets buckets;
    struct texts texts;
};

static struct top top_parts_of(const struct body *b)
{
    const struct section *s = b->sections;
    return (struct top){s[0].cells,
                        s[0].length / TAMIS__LINE_BYTES,
                        {s[1].cells, s[1].length / BUCKET},
                        {s[2].cells, s[2].length}};
}

static const struct kind *tally(void)
{
    return tamis__kind(TAMIS_TALLY);
}

static uint64_t top_lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static const char *top_wrong_cells(const struct body *b)
{
    const struct top t = top_parts_of(b);
    const struct body light = tamis__part(b, 0);
    const char *reason = tally()->wrong_cells(&light);
    if (reason == NULL) reason = tamis__wrong_buckets(&t.buckets);
    return reason != NULL ? reason : tamis__wrong_texts(&t.texts, &t.buckets);
}

/* --- Entries that come and go ----------------------------------------------------------------- */

static void raise_tally(const struct top *t, tamis_hash key, uint64_t top_count)
{
    struct tally_view v;
    tamis__tally_look(t->tally, t->lines, key, &v);
    tamis__tally_raise_to(&v, t->tally, t->lines, key, top_count);
}

/* Finds a place for an entry whose count is not above any of the eight in its buckets. Returns the
 * slot of one of the eight that can move to its other bucket, and sets *to to the slot there, whose
 * entry has a lower count than the new one and has to go. Returns NO_SLOT if there is none. */
static uint64_t way_out(const struct buckets *b, struct bucket_pair p, uint64_t top_count,
                        uint64_t *to)
{
    uint64_t found = NO_SLOT;
    for (unsigned i = 0; i < 2 * BUCKET_WAYS; i++) {
        const uint64_t bucket = i < BUCKET_WAYS ? p.first : p.second;
        const uint64_t slot = bucket * BUCKET_WAYS + i % BUCKET_WAYS;
        const tamis_hash key = tamis__bucket_key((tamis_hash){slot_get(b, slot).print, 0});
        const struct bucket_pair its = tamis__bucket_pair(key, b->n);
        const uint64_t least = tamis__bucket_least(b, its.first == bucket ? its.second : its.first);
        if (slot_count(b, least) >= top_count) continue;
        top_count = slot_count(b, least);
        found = slot;
        *to = least;
    }
    return found;
}

/* Puts e into a slot and returns the entry that was there. */
static struct entry swap(struct top *t, uint64_t slot, struct entry e)
{
    const struct entry old = slot_get(&t->buckets, slot);
    slot_put(&t->buckets, slot, e);
    tamis__text_moved(&t->texts, e.text, slot);
    return old;
}

/* Finds a place for e at the cost of lesser entries, the last of which goes to the tally. It ends,
 * because each entry that has to go has a lower count than the one before. */
static void place(struct top *t, struct entry e)
{
    while (e.print != 0) {
        const tamis_hash key = tamis__bucket_key((tamis_hash){e.print, 0});
        const struct bucket_pair p = tamis__bucket_pair(key, t->buckets.n);
        const uint64_t least = tamis__bucket_least_of(&t->buckets, p);
        uint64_t to, slot = NO_SLOT;
        if (e.count > slot_count(&t->buckets, least)) {
            e = swap(t, least, e);
            continue;
        }
        if (e.count > tamis__texts_unlisted(&t->texts))
            slot = way_out(&t->buckets, p, e.count, &to);
        if (slot == NO_SLOT) {
            raise_tally(t, key, e.count);
            if (e.count > tamis__texts_unlisted(&t->texts))
                tamis__texts_set_unlisted(&t->texts, e.count);
            return;
        }
        e = swap(t, to, swap(t, slot, e));
    }
}

/* The error of an entry with this count, of which `certain` is exact. */
static uint64_t top_begin(uint64_t top_count, uint64_t certain, bool fresh)
{
    return (top_count - top_lesser(certain, top_count)) | (fresh ? FRESH : 0);
}

/* The last key of the first bucket of a key, and the weight of this key since it became that. */
static inline uint8_t *top_last(const struct top *t, struct bucket_pair p)
{
    return t->buckets.bytes + p.first * BUCKET + BUCKET_LAST;
}

static inline uint64_t weight_since(const uint8_t *last, tamis_hash key)
{
    return tamis__get64(last) == key.lo ? tamis__get64(last + 8) : 0;
}

static inline void top_set_last(uint8_t *last, tamis_hash key, uint64_t weight)
{
    tamis__put64(last, key.lo);
    tamis__put64(last + 8, weight);
}

/* Adds w > 0 to a key that has no entry, and gives it one if its count suffices. Returns the count
 * before. */
static uint64_t add_light(struct top *t, tamis_hash key, struct bucket_pair p, uint64_t w,
                          const tamis_bytes *item)
{
    struct tally_view v;
    tamis__tally_look(t->tally, t->lines, key, &v);
    uint8_t *last = top_last(t, p);
    const uint64_t since = weight_since(last, key);
    const uint64_t top_count = tamis__add_up(v.count, w), known = tamis__add_up(since, w);
    const uint64_t least = top_lesser(tamis__bucket_least_count(&t->buckets, p.first),
                                      tamis__bucket_least_count(&t->buckets, p.second));
    if (top_count <= least && top_count <= tamis__texts_unlisted(&t->texts)) {
        tamis__tally_raise_to(&v, t->tally, t->lines, key, top_count);
    } else {
        const bool fresh = known >= v.count + w - known;
        place(t, (struct entry){key.lo, top_count, top_begin(top_count, known, fresh), 0});
        const uint64_t slot = tamis__bucket_find(&t->buckets, p, key.lo);
        if (slot != NO_SLOT) {
            if (since != 0) memset(last, 0, 16);
            tamis__text_put(&t->texts, &t->buckets, slot, item->p, item->len);
            return v.count;
        }
    }
    top_set_last(last, key, known);
    return v.count;
}

/* Adds w to the entry in a slot, and returns the count before. *textless: the entry has no text. */
static inline uint64_t top_add_to_entry(const struct buckets *b, uint64_t slot, uint64_t w,
                                        bool *textless)
{
    uint8_t *at = slot_print(b, slot) + 32;
    const uint64_t was = tamis__get64(at), before = was & ~TEXTLESS;
    tamis__put64(at, tamis__add_up(before, w) | (was & TEXTLESS));
    *textless = was != before;
    return before;
}

/* Gives the entry in a slot, which has no text, its text if its count suffices. */
static void top_put_text(struct top *t, uint64_t slot, const tamis_bytes *item)
{
    if (slot_count(&t->buckets, slot) > tamis__texts_floor(&t->texts))
        tamis__text_put(&t->texts, &t->buckets, slot, item->p, item->len);
}

/* Returns the count before. */
static inline uint64_t top_add_without_entry(struct top *t, tamis_hash key, struct bucket_pair p,
                                             uint64_t w, const tamis_bytes *item)
{
    return w != 0 ? add_light(t, key, p, w, item) : tamis__tally_count(t->tally, t->lines, key);
}

static inline uint64_t top_add_key(struct top *t, tamis_hash key, struct bucket_pair p, uint64_t w,
                                   const tamis_bytes *item)
{
    const uint64_t slot = tamis__bucket_find(&t->buckets, p, key.lo);
    if (slot == NO_SLOT) return top_add_without_entry(t, key, p, w, item);
    bool textless;
    const uint64_t before = top_add_to_entry(&t->buckets, slot, w, &textless);
    if (textless) top_put_text(t, slot, item);
    return before;
}

/* --- The verbs -------------------------------------------------------------------------------- */

TAMIS__PREFETCHES top_fetch(const struct top *t, tamis_hash key, struct bucket_pair p)
{
    const uint64_t first = tamis__tally_first(key, t->lines);
    TAMIS__FETCH(t->buckets.bytes + p.first * BUCKET);
    TAMIS__FETCH(t->buckets.bytes + p.first * BUCKET + BUCKET_LAST);
    TAMIS__FETCH(t->buckets.bytes + p.second * BUCKET);
    TAMIS__FETCH(t->tally + TAMIS__LINE_BYTES * first);
    TAMIS__FETCH(t->tally + TAMIS__LINE_BYTES * tamis__tally_second(key, t->lines, first));
}

TAMIS__PREFETCHES top_prefetch_keys(const struct top *t, const tamis_hash *h, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const tamis_hash key = tamis__bucket_key(h[i]);
        const struct bucket_pair p = tamis__bucket_pair(key, t->buckets.n);
        const uint64_t first = tamis__tally_first(key, t->lines);
        TAMIS__PREFETCH(t->buckets.bytes + p.first * BUCKET);
        TAMIS__PREFETCH(t->buckets.bytes + p.second * BUCKET);
        TAMIS__PREFETCH(t->tally + TAMIS__LINE_BYTES * first);
        TAMIS__PREFETCH(t->tally + TAMIS__LINE_BYTES * tamis__tally_second(key, t->lines, first));
    }
}

static void top_prefetch(const struct body *b, const struct batch *keys)
{
    const struct top t = top_parts_of(b);
    top_prefetch_keys(&t, keys->hashes, keys->n);
}

/* How many keys before its use a line is prefetched. That pays even if all lines are in the
 * second-level cache. */
#define AHEAD 12u

static tamis_status top_add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    struct top t = top_parts_of(b);
    struct section *s = b->sections;
    tamis_hash key[TAMIS__MOST_BATCH];
    struct bucket_pair pair[TAMIS__MOST_BATCH];
    tamis_status status = TAMIS_OK;
    int64_t *counts = keys->counts;
    uint64_t sum = 0;
    *done = 0;
    if (keys->keys == NULL) return TAMIS_EUNSUPPORTED;
    if (keys->ahead != NULL) top_prefetch_keys(&t, keys->ahead, keys->n);
    if (seen != NULL) memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        key[i] = tamis__bucket_key(keys->hashes[i]);
        pair[i] = tamis__bucket_pair(key[i], t.buckets.n);
    }
    for (*done = 0; *done < keys->n; ++*done) {
        const size_t i = *done;
        const int64_t w = keys->weights != NULL ? keys->weights[i] : 1;
        if (i + AHEAD < keys->n) top_fetch(&t, key[i + AHEAD], pair[i + AHEAD]);
        if (w < 0) {
            status = TAMIS_EUNSUPPORTED;
            break;
        }
        const uint64_t before = top_add_key(&t, key[i], pair[i], (uint64_t)w, keys->keys + i);
        sum = tamis__add_up(sum, (uint64_t)w);
        if (counts != NULL) counts[i] = (int64_t)tamis__add_up(before, (uint64_t)w);
        if (seen != NULL) seen[i / 8] = (uint8_t)(seen[i / 8] | (before != 0) << i % 8);
    }
    b->extra->moved = tamis__add_up(b->extra->moved, sum);
    s->weight = tamis__add_weight(s->weight, sum);
    return status;
}

static struct known known_of(struct entry e)
{
    const uint64_t error = e.error & ~FRESH, certain = e.count - top_lesser(error, e.count);
    return (struct known){.certain = (int64_t)certain,
                          .likely = (int64_t)((e.error & FRESH) != 0 ? certain : e.count)};
}

static uint64_t top_count_key(const struct top *t, tamis_hash h, struct known *known)
{
    const tamis_hash key = tamis__bucket_key(h);
    const uint64_t slot =
        tamis__bucket_find(&t->buckets, tamis__bucket_pair(key, t->buckets.n), key.lo);
    *known = (struct known){0};
    if (slot == NO_SLOT) return tamis__tally_count(t->tally, t->lines, key);
    const struct entry e = slot_get(&t->buckets, slot);
    *known = known_of(e);
    return e.count;
}

static void top_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct top t = top_parts_of(b);
    if (keys->ahead != NULL) top_prefetch_keys(&t, keys->ahead, keys->n);
    memset(bits, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        struct known known;
        const bool some = top_count_key(&t, keys->hashes[i], &known) != 0;
        bits[i / 8] = (uint8_t)(bits[i / 8] | some << i % 8);
    }
}

static void top_count(const struct body *b, const struct batch *keys, int64_t *out)
{
    const struct top t = top_parts_of(b);
    if (keys->ahead != NULL) top_prefetch_keys(&t, keys->ahead, keys->n);
    for (size_t i = 0; i < keys->n; i++) {
        struct known known;
        out[i] = (int64_t)top_count_key(&t, keys->hashes[i], &known);
        if (keys->known != NULL) keys->known[i] = known;
    }
}

/* --- One key ---------------------------------------------------------------------------------- */

#ifdef TAMIS__SINGLES

/* Apart from the usual case, which needs only the entries and no frame. */
static TAMIS__APART uint64_t single_top_light(tamis *t, tamis_hash key, struct bucket_pair p,
                                              uint64_t w, tamis_bytes item)
{
    struct top parts = top_parts_of(&t->body);
    return top_add_without_entry(&parts, key, p, w, &item);
}

static TAMIS__APART void single_top_text(tamis *t, uint64_t slot, tamis_bytes item)
{
    struct top parts = top_parts_of(&t->body);
    top_put_text(&parts, slot, &item);
}

/* Where the entry of a key may be. */
struct sought {
    struct buckets b;
    tamis_hash key;
    struct bucket_pair p;
};

TAMIS__SPECIALIZED struct sought top_seek(const struct section *s, tamis_hash h)
{
    struct sought k = {{s[1].cells, s[1].length / BUCKET}, tamis__bucket_key(h), {0, 0}};
    k.p = tamis__bucket_pair(k.key, k.b.n);
    return k;
}

TAMIS__SPECIALIZED int64_t top_put_entry(tamis *t, const struct buckets *b, uint64_t slot,
                                         tamis_bytes item, uint64_t w)
{
    bool textless;
    const uint64_t before = top_add_to_entry(b, slot, w, &textless);
    if (textless) single_top_text(t, slot, item);
    return (int64_t)tamis__add_up(before, w);
}

TAMIS__SPECIALIZED int64_t top_put_single(tamis *t, tamis_hash h, tamis_bytes item, uint64_t w)
{
    const struct sought k = top_seek(t->body.sections, h);
    const uint64_t slot = tamis__bucket_find(&k.b, k.p, k.key.lo);
    if (slot != NO_SLOT) return top_put_entry(t, &k.b, slot, item, w);
    return (int64_t)tamis__add_up(single_top_light(t, k.key, k.p, w, item), w);
}

TAMIS__SPECIALIZED int64_t top_count_single(const struct section *s, tamis_hash h)
{
    const struct sought k = top_seek(s, h);
    const uint64_t slot = tamis__bucket_find(&k.b, k.p, k.key.lo);
    return (int64_t)(slot != NO_SLOT ? slot_count(&k.b, slot)
                                     : tamis__tally_count(s->cells, tamis__octet_lines(s), k.key));
}

TAMIS__SPECIALIZED bool top_has_single(const struct section *s, tamis_hash h)
{
    return top_count_single(s, h) != 0;
}

TAMIS__UPDATE_SINGLE(top, , top_put_single)
TAMIS__WEIGH_SINGLE(top, , top_put_single)
TAMIS__UPPER_SINGLE(top, , top_count_single)
TAMIS__ASK_SINGLE(top, , top_has_single)

static const struct single top_in_c = {
    .ask = single_top_ask, .add = single_top_add, .ask_hash = single_top_ask_hash};

#ifdef TAMIS__SINGLES_BY_AVX2

/* The same as single_top_light, which it leaves all to that does not merely raise counters. */
AVX2 static TAMIS__APART uint64_t avx2_top_light(tamis *t, tamis_hash key, struct bucket_pair p,
                                                 uint64_t w, tamis_bytes item)
{
    const struct top parts = top_parts_of(&t->body);
    struct avx2_tally v;
    avx2_tally_look(parts.tally, parts.lines, key, &v);
    const uint64_t before = avx2_first(avx2_least(v.values)), after = tamis__add_up(before, w);
    if (w == 0 || after > avx2_bucket_least(&parts.buckets, p) ||
        after > tamis__texts_unlisted(&parts.texts) ||
        !avx2_tally_raise(&v, _mm256_set1_epi64x((int64_t)after)))
        return single_top_light(t, key, p, w, item);
    uint8_t *last = top_last(&parts, p);
    const uint64_t since = weight_since(last, key);
    top_set_last(last, key, tamis__add_up(since, w));
    return before;
}

AVX2 TAMIS__SPECIALIZED int64_t avx2_top_put_single(tamis *t, tamis_hash h, tamis_bytes item,
                                                    uint64_t w)
{
    const struct sought k = top_seek(t->body.sections, h);
    const uint64_t slot = avx2_bucket_find(&k.b, k.p, k.key.lo);
    if (slot != NO_SLOT) return top_put_entry(t, &k.b, slot, item, w);
    return (int64_t)tamis__add_up(avx2_top_light(t, k.key, k.p, w, item), w);
}

TAMIS__UPDATE_SINGLE(avx2_top, AVX2, avx2_top_put_single)
TAMIS__WEIGH_SINGLE(avx2_top, AVX2, avx2_top_put_single)

static const struct single top_by_avx2 = {
    .ask = single_top_ask, .add = single_avx2_top_add, .ask_hash = single_top_ask_hash};

static const struct single *top_single(const struct body *b)
{
    if (b->shared) return NULL;
    return tamis__singles_by_avx2(tamis__kernels()) ? &top_by_avx2 : &top_in_c;
}

static tamis_status top_weigh_single(tamis *t, const void *key, size_t len, int64_t weight,
                                     int64_t *count, tamis_error *why)
{
    return t->single.add == single_avx2_top_add
               ? single_avx2_top_weigh(t, key, len, weight, count, why)
               : single_top_weigh(t, key, len, weight, count, why);
}
#else
#define top_weigh_single single_top_weigh

static const struct single *top_single(const struct body *b)
{
    return b->shared ? NULL : &top_in_c;
}
#endif
#endif

/* --- Lists ------------------------------------------------------------------------------------ */

static uint64_t top_slots(const struct body *b)
{
    return b->sections[1].m;
}

static uint64_t top_slot_of(const struct body *b, tamis_hash h)
{
    const struct top t = top_parts_of(b);
    const tamis_hash key = tamis__bucket_key(h);
    return tamis__bucket_find(&t.buckets, tamis__bucket_pair(key, t.buckets.n), key.lo);
}

static bool top_listed(const struct body *b, uint64_t i, struct listed *out)
{
    const struct top t = top_parts_of(b);
    const struct entry e = slot_get(&t.buckets, i);
    if (e.print == 0) return false;
    out->item = tamis__text(&t.texts, e.text, &out->length);
    out->hash = e.print;
    out->count = (int64_t)e.count;
    out->known = known_of(e);
    return true;
}

static int64_t top_unlisted(const struct body *b)
{
    const struct top t = top_parts_of(b);
    return (int64_t)tamis__texts_unlisted(&t.texts);
}

static void top_gauge(const struct body *b, const struct body *other, double z, struct gauge *out)
{
    const struct top t = top_parts_of(b);
    const struct body light = tamis__part(b, 0);
    tally()->gauge(&light, other, z, out);
    for (uint64_t i = 0; i < top_slots(b); i++)
        out->saturated += slot_count(&t.buckets, i) == TAMIS__MOST_WEIGHT;
}

/* --- Merging: all entries of both, the most frequent first ------------------------------------ */

struct candidate {
    struct entry e; /* its text is in `of` */
    const struct texts *of;
};

static bool top_goes_before(const struct candidate *a, const struct candidate *b)
{
    if (a->e.count != b->e.count) return a->e.count > b->e.count;
    return a->e.print < b->e.print;
}

/* A heap with the last candidate of the order on top: c[at] moves down to its place. */
static void top_sift(struct candidate *c, size_t at, size_t n)
{
    for (size_t child = 2 * at + 1; child < n; at = child, child = 2 * at + 1) {
        if (child + 1 < n && top_goes_before(&c[child], &c[child + 1])) child++;
        if (!top_goes_before(&c[at], &c[child])) return;
        const struct candidate kept = c[at];
        c[at] = c[child];
        c[child] = kept;
    }
}

static void top_sort(struct candidate *c, size_t n)
{
    for (size_t i = n / 2; i-- > 0;) top_sift(c, i, n);
    while (n > 1) {
        const struct candidate first = c[0];
        c[0] = c[--n];
        c[n] = first;
        top_sift(c, 0, n);
    }
}

/* Writes the entries of `from`, each with what both sketches know about it, and returns how many.
 * Entries that the other sketch has as well are skipped unless `again`. */
static size_t top_collect(const struct top *from, const struct top *other, bool again,
                          struct candidate *out)
{
    size_t n = 0;
    for (uint64_t s = 0; s < from->buckets.n * BUCKET_WAYS; s++) {
        struct entry e = slot_get(&from->buckets, s);
        if (e.print == 0) continue;
        struct known there;
        const struct known here = known_of(e);
        const uint64_t more = top_count_key(other, (tamis_hash){e.print, 0}, &there);
        if (there.certain != 0 && !again) continue;
        const bool fresh = here.likely == here.certain && there.likely == there.certain;
        e.count = tamis__add_up(e.count, more);
        e.error = top_begin(e.count, tamis__add_up((uint64_t)here.certain, (uint64_t)there.certain),
                            fresh);
        const struct texts *of = &from->texts;
        if (e.text == 0 && again) { /* the other may have its text */
            const tamis_hash key = tamis__bucket_key((tamis_hash){e.print, 0});
            const uint64_t its = tamis__bucket_find(
                &other->buckets, tamis__bucket_pair(key, other->buckets.n), key.lo);
            e.text = its != NO_SLOT ? tamis__get32(slot_text(&other->buckets, its)) : 0;
            of = &other->texts;
        }
        out[n++] = (struct candidate){e, of};
    }
    return n;
}

/* Places the candidates in order. Those that find no place go to the tally. Texts are kept while
 * there is room. */
static void settle(struct top *t, const struct candidate *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct entry e = c[i].e;
        uint64_t whole;
        const tamis_bytes text = tamis__text(c[i].of, e.text, &whole);
        const tamis_hash key = tamis__bucket_key((tamis_hash){e.print, 0});
        e.text = 0;
        place(t, e);
        const uint64_t slot =
            tamis__bucket_find(&t->buckets, tamis__bucket_pair(key, t->buckets.n), e.print);
        if (slot != NO_SLOT && text.p != NULL)
            tamis__text_put(&t->texts, &t->buckets, slot, text.p, whole);
    }
}

static tamis_status top_merge(struct body *into, const struct body *from)
{
    struct top a = top_parts_of(into);
    const struct top b = top_parts_of(from);
    const uint64_t entries = into->sections[1].length, texts = into->sections[2].length;
    const uint64_t list = 2 * top_slots(into) * sizeof(struct candidate);
    struct candidate *c = tamis__alloc(into->memory, list);
    uint8_t *room = tamis__alloc(into->memory, entries + texts);
    if (c == NULL || room == NULL) {
        tamis__free(into->memory, c);
        tamis__free(into->memory, room);
        return TAMIS_ENOMEM;
    }
    size_t n = top_collect(&a, &b, true, c);
    n += top_collect(&b, &a, false, c + n);
    top_sort(c, n);
    const uint64_t floor =
        tamis__add_up((uint64_t)top_unlisted(into), (uint64_t)top_unlisted(from));
    struct body light = tamis__part(into, 0);
    const struct body other = tamis__part(from, 0);
    tally()->merge(&light, &other);
    struct top fresh = {a.tally, a.lines, {room, a.buckets.n}, {room + entries, texts}};
    tamis__texts_set_unlisted(&fresh.texts, floor);
    settle(&fresh, c, n);
    memcpy(a.buckets.bytes, room, (size_t)entries);
    memcpy(a.texts.bytes, room + entries, (size_t)texts);
    tamis__free(into->memory, c);
    tamis__free(into->memory, room);
    return TAMIS_OK;
}

static const struct sketch_ops top_sketch = {.count = top_count,
                                             .slots = top_slots,
                                             .listed = top_listed,
                                             .slot_of = top_slot_of,
                                             .unlisted = top_unlisted,
                                             .weigh = TAMIS__SINGLE(top_weigh_single),
                                             .upper = TAMIS__SINGLE(single_top_upper)};

const struct kind tamis__top = {
    .id = TAMIS_TOP,
    .name = "top",
    .traits = TAMIS__SECTION_TOTALS,
    .accepts = TAMIS__PLANS_ITEMS | TAMIS__PLANS_CELL_BITS | TAMIS__PLANS_ERROR,
    .roles = TAMIS__ROLE_TEXTS,
    .sketch = &top_sketch,
    .solve = tamis__top_solve,
    .layout = tamis__top_layout,
    .wrong_shape = tamis__top_wrong_shape,
    .wrong_cells = top_wrong_cells,
    .prefetch = top_prefetch,
    .add = top_add,
    .query = top_query,
    .single = TAMIS__SINGLE(top_single),
    .merge = top_merge,
    .gauge = top_gauge,
};
