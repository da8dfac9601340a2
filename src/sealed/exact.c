/* exact: a sealed kind without false negatives, and without false positives on any excluded key
 * (tamis_exclude). All other keys have a false-positive rate.
 *
 * Given n members and x excluded keys, it consists of two structures. The first is a ribbon filter
 * of the members with `a` columns. A share 2^-a of the excluded keys, the survivors, passes it. The
 * second is a ribbon that retrieves one bit of a key: 1 for a member, 0 for a survivor, and either
 * with probability 1/2 for all other keys.
 *
 *     key ── filter, a columns ── no                     members         pass, 1    maybe
 *                │ pass                                  excluded keys   no, or 0   no, always
 *            retrieval, 1 column ── 0: no                other keys      2^-a · 1/2
 *                │ 1
 *              maybe
 *
 * Space. The filter takes a·n bits and the retrieval n + x·2^-a. The sum is least if 2^a is x/n,
 * rounded to a power of two, or half that: about n·(log2(x/n) + 1.9 ... 2). The lower bound follows
 * from the number of ways to choose the members from all given keys: log2 C(n + x, n), about
 * n·(log2(x/n) + 1.44). So exact costs half a bit per member (9 % for x/n = 10 and 5 % for 500),
 * and what ribbons cost (1.5 % with few columns, 2.8 % with one). That makes 12 % and 6 % in all,
 * and 3 % if x = n, where only the ribbons cost anything. The same is true if a lower rate is
 * requested than that balance has: n members at rate f take n·log2(1/f) bits in any filter, and
 * then there are few survivors. The two ribbons together are one filter with the retrieval as its
 * last column: 1.5 % at 1/40,000. Clubcards (J. Schanck, "Clubcards for the WebPKI", 2025) are
 * built the same way from ribbons that can fail; these cannot.
 *
 * Sections: the filter's layers, if a > 0, then those of the retrieval. Before the seal: the hashes
 * of the members, then those of the excluded keys. */
#include "../core/bitrows.h"
#include "../core/error.h"
#include "../core/memory.h"
#include "../image/image.h"
#include "collect.h"
#include "hash_sort.h"
#include "ribbon/sections.h"

#include <math.h>

#define ONE TAMIS__RIBBON_ONE
/* The columns of the filter and the one of the retrieval, in 65536ths. */
#define MAX_FIXED ((TAMIS__RIBBON_COLUMNS + 1) * ONE)
#define MOST_SECTIONS (2 * TAMIS__RIBBON_SECTIONS)

enum { MEMBERS = 0, OTHERS = 1 }; /* the sections of a collection */

/* --- Planning --------------------------------------------------------------------------------- */

/* The columns of the filter, given those of both ribbons: none, or at least one. */
static double filter_columns(uint32_t fixed)
{
    if (fixed <= ONE) return 0;
    return fixed < 2 * ONE ? 1 : (double)(fixed - ONE) / ONE;
}

/* The columns of both ribbons for a rate; more than MAX_FIXED if it cannot be reached. */
static uint32_t columns_for(double rate)
{
    return rate < 0.5 ? tamis__ribbon_columns_for(2 * rate) + ONE : ONE;
}

/* The columns of both ribbons that take the least space. */
static uint32_t best_columns(uint64_t members, uint64_t others)
{
    uint32_t a = 0;
    /* One more column costs `members` bits and saves half of the survivors. */
    double survivors = (double)others;
    while (a < TAMIS__RIBBON_COLUMNS && survivors / 2 > (double)members) {
        survivors /= 2;
        a++;
    }
    return (a + 1) * ONE;
}

static uint64_t exact_image_bytes(uint64_t members, uint64_t others, uint32_t fixed)
{
    const double a = filter_columns(fixed), survivors = (double)others * exp2(-a);
    const uint64_t bits = members + (uint64_t)survivors;
    const uint64_t filter = a > 0 ? tamis__ribbon_bytes(members, a) : 0;
    const uint64_t retrieval = tamis__ribbon_bytes(bits, 1);
    uint64_t sections = a > 0 ? 2 : 1;
    if (filter >= UINT64_C(1) << 48 || retrieval >= UINT64_C(1) << 48) return UINT64_MAX;
    for (uint64_t left = members; left > TAMIS__RIBBON_FEW && a > 0; left /= 20) sections += 2;
    for (uint64_t left = bits; left > TAMIS__RIBBON_FEW; left /= 20) sections += 2;
    /* The number of bumped keys varies, and so does that of the survivors. */
    const double scatter = 4 * sqrt((double)bits) * (a + 2) / 8;
    return tamis__image_bytes(filter + retrieval + (uint64_t)scatter, 1) +
           tamis__sections_overhead(sections - 1);
}

static bool exact_keeps_budget(void *plan, uint64_t fixed)
{
    const tamis_plan *p = plan;
    return exact_image_bytes(p->items, p->excluded, (uint32_t)fixed) <= p->bytes;
}

/* The most columns within the budget, at least `least`. Returns 0 if `least` exceeds it. */
static uint32_t exact_columns_for_bytes(tamis_plan *p, uint32_t least)
{
    if (!exact_keeps_budget(p, least)) return 0;
    return (uint32_t)tamis__largest(least, MAX_FIXED + 1, exact_keeps_budget, p);
}

static tamis_status exact_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    if (p->m != 0 || p->k != 0)
        return tamis__fail(why, TAMIS_EINVAL, "the shape of an exact filter follows its keys");
    if (p->items == 0)
        return tamis__fail(why, TAMIS_EINVAL, "an exact filter needs the number of its items");
    if (p->items > TAMIS__MAX_ITEMS / MAX_FIXED * ONE || p->excluded > TAMIS__MAX_ITEMS)
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    const uint32_t best = best_columns(p->items, p->excluded);
    uint32_t fixed = best;
    if (p->fpr != 0) {
        fixed = columns_for(p->fpr);
        if (fixed < best) fixed = best;
        if (fixed > MAX_FIXED)
            return tamis__fail(why, TAMIS_EINVAL, "an exact filter reaches 2^-33, not %.3g",
                               p->fpr);
    } else if (p->bytes != 0) {
        fixed = exact_columns_for_bytes(p, best);
    }
    const uint64_t bytes =
        fixed != 0 ? exact_image_bytes(p->items, p->excluded, fixed) : UINT64_MAX;
    if (p->bytes != 0 && bytes > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "%llu bytes are too few",
                           (unsigned long long)p->bytes);
    if (bytes == UINT64_MAX)
        return tamis__fail(why, TAMIS_EINVAL, "no shape of up to 2^52 bits does that");
    const double rate = tamis__tidy(exp2(-filter_columns(fixed)) / 2);
    if (p->fpr == 0 || rate < p->fpr) p->fpr = rate;
    p->bytes = bytes;
    promise->fpr_asymptotic = p->fpr;
    return TAMIS_OK;
}

/* k of both collections is the minimum number of columns of both ribbons. */
static uint32_t exact_layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 2;
    const uint32_t fixed = columns_for(plan->fpr);
    for (unsigned i = MEMBERS; i <= OTHERS; i++) {
        out[i] = tamis__collection(TAMIS_EXACT, fixed, 1);
        out[i].variant = (uint16_t)i;
    }
    return 2;
}

/* --- Collecting ------------------------------------------------------------------------------- */

/* One of the two collections, with the limit that the other one leaves, which is kept in *extra. */
static struct body exact_part(const struct body *b, uint32_t which, struct body_extra *extra)
{
    struct body part = tamis__part(b, which);
    *extra = *b->extra;
    part.extra = extra;
    if (extra->max_bytes != 0) {
        const uint64_t taken = tamis__section_bytes(b->sections[1 - which].length);
        extra->max_bytes = extra->max_bytes > taken ? extra->max_bytes - taken : 1;
    }
    return part;
}

static tamis_status exact_collect(struct body *b, uint32_t which, const struct batch *keys,
                                  uint8_t *seen, size_t *done)
{
    struct body_extra extra;
    struct body part = exact_part(b, which, &extra);
    const tamis_status s = tamis__collect(&part, keys, seen, done);
    return s;
}

static tamis_status exact_add(struct body *b, const struct batch *keys, uint8_t *seen, size_t *done)
{
    return exact_collect(b, MEMBERS, keys, seen, done);
}

static uint8_t *exact_reserve(struct body *b, size_t n)
{
    struct body_extra extra;
    struct body part = exact_part(b, MEMBERS, &extra);
    uint8_t *place = tamis__reserve(&part, n);
    return place;
}

static tamis_status exclude(struct body *b, const struct batch *keys)
{
    uint8_t unused[TAMIS__MOST_BATCH / 8];
    size_t done;
    return exact_collect(b, OTHERS, keys, unused, &done);
}

static void clear(struct body *b)
{
    for (uint32_t i = MEMBERS; i <= OTHERS; i++) {
        struct body part = tamis__part(b, i);
        tamis__clear_collection(&part);
    }
}

/* --- Sections --------------------------------------------------------------------------------- */

struct exact {
    struct ribbon filter, retrieval; /* without layers: everything passes; there are no members */
    uint64_t excluded;
};

static const char *exact_view(const struct body *b, struct exact *out)
{
    const struct section *s = b->sections;
    uint32_t used = 0, more = 0;
    out->filter.count = out->retrieval.count = 0;
    out->excluded = 0;
    if (tamis__ribbon_is_nothing(s)) return tamis__ribbon_wrong_nothing(s, b->count);
    if (s->role == TAMIS__ROLE_CELLS) {
        const char *reason = tamis__ribbon_from_sections(s, b->count, &used, &out->filter);
        if (reason != NULL) return reason;
    }
    if (used == b->count || s[used].role != TAMIS__ROLE_BITS) return "the retrieval is missing";
    const char *reason =
        tamis__ribbon_from_sections(s + used, b->count - used, &more, &out->retrieval);
    if (reason == NULL && used + more != b->count) reason = "there are too many sections";
    out->excluded = s[used].excluded;
    return reason;
}

static const char *wrong_collections(const struct body *b)
{
    if (b->count != 2) return "there must be two collections";
    for (uint32_t i = MEMBERS; i <= OTHERS; i++) {
        const struct section *s = b->sections + i;
        const struct body part = tamis__part(b, i);
        if (s->role != TAMIS__ROLE_HASHES || s->variant != i || s->salt != 0 || s->boundary != 0 ||
            s->excluded != 0 || s->k < ONE || s->k > MAX_FIXED || s->k != b->sections->k)
            return "a collection has a wrong shape";
        const char *reason = tamis__wrong_collection(&part);
        if (reason != NULL) return reason;
    }
    return NULL;
}

static const char *exact_wrong_shape(const struct body *b)
{
    struct exact e;
    bool retrieved =
        false; /* only the first section of the retrieval has the number of excluded keys */
    for (uint32_t i = 0; i < b->count; i++) {
        const struct section *s = b->sections + i;
        if (s->kind != TAMIS_EXACT || s->cell_bits != 1) return "a section is not of this kind";
        const bool may_exclude = s->role == TAMIS__ROLE_BITS && !retrieved;
        if (s->excluded != 0 && !may_exclude) return "a section has items where none are allowed";
        retrieved = retrieved || s->role == TAMIS__ROLE_BITS;
    }
    if (tamis__collecting(b)) return wrong_collections(b);
    const char *reason = exact_view(b, &e);
    if (reason != NULL || tamis__ribbon_is_nothing(b->sections)) return reason;
    reason = tamis__ribbon_wrong(&e.filter);
    return reason != NULL ? reason : tamis__ribbon_wrong(&e.retrieval);
}

static const char *exact_wrong_cells(const struct body *b)
{
    if (tamis__collecting(b)) return tamis__wrong_collection_cells(b);
    const bool nothing = tamis__ribbon_is_nothing(b->sections);
    /* Any bits of a ribbon are a valid solution. */
    return nothing ? tamis__ribbon_wrong_nothing_cells(b->sections) : NULL;
}

/* --- Queries ---------------------------------------------------------------------------------- */

/* The hash of a key for the retrieval, which has to be independent of its hash for the filter. */
static tamis_hash turned(tamis_hash h)
{
    const tamis_hash t = {h.hi, h.lo};
    return t;
}

/* The room for aims contains the aims of the keys in the filter and, once those are answered, the
 * aims in the retrieval of the keys that passed. After them it contains the hashes of the keys that
 * passed. */
#define AIMED 72u
#define HASH_WORDS (sizeof(tamis_hash) / sizeof(uint64_t))
_Static_assert(TAMIS__RIBBON_AIM_WORDS(AIMED) + AIMED * HASH_WORDS <= TAMIS__AIM_WORDS,
               "aims have room");

/* Clears the bits of keys that are not members according to the retrieval. aim and passed have room
 * for n keys. */
static void retrieve(const struct ribbon *r, const tamis_hash *h, size_t n, struct ribbon_aim *aim,
                     tamis_hash *passed, uint8_t *bits)
{
    uint8_t of[TAMIS__MOST_BATCH], yes[TAMIS__MOST_BATCH / 8];
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        of[count] = (uint8_t)i;
        passed[count] = tamis__ribbon_enter(r->layers, turned(h[i]));
        count += tamis__bit(bits, i);
    }
    if (count == 0) return;
    if (count > 1) tamis__ribbon_prefetch(r, passed, count, aim);
    tamis__ribbon_query(r, passed, count, count > 1 ? aim : NULL, NULL, NULL, yes);
    for (size_t i = 0; i < count; i++)
        if (!tamis__bit(yes, i)) bits[of[i] / 8] = (uint8_t)(bits[of[i] / 8] & ~(1u << of[i] % 8));
}

/* In a frame of its own, because batches with aims do not need these buffers. */
static TAMIS__APART void retrieve_unaimed(const struct ribbon *r, const tamis_hash *h, size_t n,
                                          uint8_t *bits)
{
    _Alignas(64) uint64_t words[TAMIS__RIBBON_AIM_WORDS(TAMIS__MOST_BATCH)];
    struct ribbon_aim aim = tamis__ribbon_aim_in(words, TAMIS__MOST_BATCH);
    tamis_hash passed[TAMIS__MOST_BATCH];
    retrieve(r, h, n, &aim, passed, bits);
}

static void exact_prefetch(const struct body *b, const struct batch *keys)
{
    struct exact e;
    if (tamis__collecting(b) || keys->aim == NULL) return;
    exact_view(b, &e);
    struct ribbon_aim aim = tamis__ribbon_aim_in(keys->aim, AIMED);
    if (e.filter.count != 0) tamis__ribbon_prefetch(&e.filter, keys->hashes, keys->n, &aim);
}

/* To save stack, both ribbons are viewed in one struct, one after the other. */
static void exact_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct section *s = b->sections;
    struct ribbon r;
    struct ribbon_aim aim, next;
    uint32_t used = 0, more;
    tamis__say_maybe(keys, bits);
    if (tamis__collecting(b)) return;
    if (tamis__ribbon_is_nothing(s)) {
        memset(bits, 0, (keys->n + 7) / 8);
        return;
    }
    if (keys->aim != NULL) {
        aim = tamis__ribbon_aim_in(keys->aim, AIMED);
        next = tamis__ribbon_aim_in(keys->next_aim, AIMED);
    }
    if (s->role == TAMIS__ROLE_CELLS) {
        tamis__ribbon_from_sections(s, b->count, &used, &r);
        tamis__ribbon_query(&r, keys->hashes, keys->n, keys->aim != NULL ? &aim : NULL, keys->ahead,
                            &next, bits);
    }
    tamis__ribbon_from_sections(s + used, b->count - used, &more, &r);
    if (keys->aim == NULL) {
        retrieve_unaimed(&r, keys->hashes, keys->n, bits);
    } else {
        void *passed = keys->aim + TAMIS__RIBBON_AIM_WORDS(AIMED);
        retrieve(&r, keys->hashes, keys->n, &aim, passed, bits);
    }
}

static void exact_gauge(const struct body *b, const struct body *other, double z, struct gauge *out)
{
    struct exact e;
    (void)other, (void)z;
    out->cells = out->hit = 1;
    out->rate = 1;
    if (tamis__collecting(b)) {
        out->excluded = b->sections[OTHERS].m;
        return;
    }
    exact_view(b, &e);
    out->excluded = e.excluded;
    out->rate = e.retrieval.count != 0 ? tamis__ribbon_rate(&e.retrieval) : 0;
    if (e.filter.count != 0) out->rate *= tamis__ribbon_rate(&e.filter);
}

/* --- Sealing ---------------------------------------------------------------------------------- */

/* Distinct hashes in order. */
struct set {
    tamis_hash *hashes;
    uint64_t n;
};

static bool set_of(const tamis_memory *memory, const struct section *s, struct set *out)
{
    out->n = 0;
    out->hashes = tamis__alloc(memory, (s->m + 1) * sizeof *out->hashes);
    void *scratch = tamis__alloc(memory, tamis__sort_scratch(s->m, 1) + 1);
    if (out->hashes != NULL && scratch != NULL) {
        for (uint64_t i = 0; i < s->m; i++) out->hashes[i] = tamis__collected(s, i);
        out->n = tamis__sort_hashes(out->hashes, s->m, 1, scratch);
    }
    tamis__free(memory, scratch);
    return out->hashes != NULL && scratch != NULL;
}

static int compare(tamis_hash a, tamis_hash b)
{
    if (a.hi != b.hi) return a.hi < b.hi ? -1 : 1;
    return a.lo == b.lo ? 0 : a.lo < b.lo ? -1 : 1;
}

/* A hash that is in both sets, or NULL. */
static const tamis_hash *common(const struct set *a, const struct set *b)
{
    for (uint64_t i = 0, j = 0; i < a->n && j < b->n;) {
        const int order = compare(a->hashes[i], b->hashes[j]);
        if (order == 0) return &a->hashes[i];
        i += order < 0;
        j += order > 0;
    }
    return NULL;
}

static uint64_t position(const struct section *s, tamis_hash h)
{
    uint64_t i = 0;
    while (i < s->m && compare(tamis__collected(s, i), h) != 0) i++;
    return i;
}

static tamis_status on_both(const struct body *b, tamis_hash h, tamis_error *why)
{
    const uint64_t member = position(b->sections + MEMBERS, h);
    const uint64_t other = position(b->sections + OTHERS, h);
    tamis__fail(why, TAMIS_EINVAL, "added key %llu is the same as excluded key %llu",
                (unsigned long long)member + 1, (unsigned long long)other + 1);
    if (why != NULL) why->offset = other;
    return TAMIS_EINVAL;
}

/* Moves the keys that pass the filter to the front, and drops the others. */
static void keep_survivors(const struct ribbon *filter, struct set *others)
{
    uint64_t kept = 0;
    for (uint64_t at = 0; at < others->n && filter->count != 0; at += TAMIS__RIBBON_BATCH) {
        const uint64_t rest = others->n - at;
        const size_t n = rest < TAMIS__RIBBON_BATCH ? (size_t)rest : TAMIS__RIBBON_BATCH;
        uint8_t bits[TAMIS__RIBBON_BATCH / 8];
        tamis__ribbon_query(filter, others->hashes + at, n, NULL, NULL, NULL, bits);
        for (size_t i = 0; i < n; i++)
            if (tamis__bit(bits, i)) others->hashes[kept++] = others->hashes[at + i];
    }
    if (filter->count != 0) others->n = kept;
}

static void exact_put_bits(tamis_hash *to, const struct set *from, uint64_t bit)
{
    for (uint64_t i = 0; i < from->n; i++) {
        to[i] = turned(from->hashes[i]);
        to[i].lo = (to[i].lo & ~UINT64_C(1)) | bit;
    }
}

/* Builds the filter from the members, then the retrieval from members and survivors. Both sets are
 * consumed. */
static tamis_status build(const tamis_memory *memory, struct set *members, struct set *others,
                          uint32_t fixed, struct exact *out)
{
    const double a = filter_columns(fixed);
    tamis_hash *h = tamis__alloc(memory, (members->n + 1) * sizeof *h);
    if (h == NULL) return TAMIS_ENOMEM;
    tamis_status s = TAMIS_OK;
    memcpy(h, members->hashes, (size_t)members->n * sizeof *h);
    if (a > 0) s = tamis__ribbon_build(memory, h, members->n, a, &out->filter);
    tamis__free(memory, h);
    if (s != TAMIS_OK) return s;
    keep_survivors(&out->filter, others);
    const uint64_t n = members->n + others->n;
    h = tamis__alloc(memory, n * sizeof *h);
    if (h == NULL) return TAMIS_ENOMEM;
    exact_put_bits(h, members, 0);
    exact_put_bits(h + members->n, others, 1);
    s = tamis__ribbon_retrieval(memory, h, n, &out->retrieval);
    tamis__free(memory, h);
    return s;
}

static tamis_status replace(struct body *b, const struct exact *e)
{
    struct section sections[MOST_SECTIONS];
    uint32_t n = tamis__ribbon_to_sections(&e->filter, TAMIS_EXACT, sections);
    if (e->retrieval.count == 0) {
        sections[0] = tamis__ribbon_nothing(TAMIS_EXACT);
        sections[0].cells = tamis__alloc(b->memory, sections[0].length);
        if (sections[0].cells == NULL) return TAMIS_ENOMEM;
        n = 1;
    } else {
        const uint32_t first = n;
        n += tamis__ribbon_to_sections(&e->retrieval, TAMIS_EXACT, sections + n);
        sections[first].excluded = e->excluded;
    }
    if (tamis__replace_sections(b, sections, n)) return TAMIS_OK;
    if (e->retrieval.count == 0) tamis__free(b->memory, sections[0].cells);
    return TAMIS_ENOMEM;
}

static tamis_status exact_seal(struct body *b, uint64_t *distinct, tamis_error *why)
{
    const struct section *s = b->sections;
    struct set members = {NULL, 0}, others = {NULL, 0};
    struct exact e = {.excluded = 0};
    tamis_status status = TAMIS_ENOMEM;
    if (set_of(b->memory, s + MEMBERS, &members) && set_of(b->memory, s + OTHERS, &others)) {
        const tamis_hash *both = common(&members, &others);
        const uint32_t best = best_columns(members.n, others.n);
        e.excluded = others.n;
        *distinct = members.n;
        if (both != NULL)
            status = on_both(b, *both, why);
        else if (members.n > 0)
            status = build(b->memory, &members, &others, s->k > best ? s->k : best, &e);
        else
            status = TAMIS_OK;
        if (status == TAMIS_EINVAL && both == NULL)
            tamis__cannot_seal(why, "these hashes are not random enough");
    }
    if (status == TAMIS_OK) status = replace(b, &e);
    tamis__free(b->memory, members.hashes);
    tamis__free(b->memory, others.hashes);
    if (status == TAMIS_OK) return TAMIS_OK;
    tamis__ribbon_free(b->memory, &e.filter);
    tamis__ribbon_free(b->memory, &e.retrieval);
    if (status != TAMIS_ENOMEM) return status;
    return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to seal %llu keys",
                       (unsigned long long)s->m);
}

static const struct sealed_ops exact_sealing = {.seal = TAMIS__FULL(exact_seal),
                                                .reserve = TAMIS__FULL(exact_reserve),
                                                .exclude = TAMIS__FULL(exclude)};

const struct kind tamis__exact = {
    .id = TAMIS_EXACT,
    .name = "exact",
    .traits = TAMIS__MULTISET | TAMIS__GROWS | TAMIS__BOUNDARIES | TAMIS__EXCLUDES,
    .accepts = TAMIS__PLANS_FILTER | TAMIS__PLANS_EXCLUDED,
    .variants = TAMIS__RIBBON_VARIANTS,
    .roles = TAMIS__ROLE_BITS,
    .aimed = AIMED,
    .instead = TAMIS_FUSE,
    .sealing = &exact_sealing,
    .solve = TAMIS__FULL(exact_solve),
    .layout = TAMIS__FULL(exact_layout),
    .wrong_shape = exact_wrong_shape,
    .wrong_cells = exact_wrong_cells,
    .prefetch = TAMIS__FULL(exact_prefetch),
    .add = TAMIS__FULL(exact_add),
    .query = exact_query,
    .clear = TAMIS__FULL(clear),
    .gauge = exact_gauge,
};
