/* The builders of fuse, ribbon, exact and map: hostile plans, keys, hashes and repetitions, in
 * memory and beyond it. Every added key is a member, with its value in a map, no excluded key is
 * one, and threads, a temporary file or a reopened image in between give the same bytes.
 *
 * ./run fuzz static */
#include "fuzz.h"

#include "../support/keys.h"
#include "../support/resum.h"
#include "core/handle.h"
#include "plans.h"

#include <tamis/inspect.h>
#include <tamis/map.h>

#define MOST_STEPS 16u
#define MOST_KEYS 5000u
#define SPILL_KEYS 24000u /* 1 MiB of scratch, the least that there is, holds 21845 */

/* What was asked for, to be done to several handles. */
struct span {
    uint32_t first, n, stride, repeat;
    bool excluded; /* in a map: the keys have other values */
};

static uint32_t value_bits; /* of a map, or 0 */

static struct span spans[MOST_STEPS];
static size_t n_spans;
static enum { UNIFORM, SAME_LOW, SAME_HIGH, COUNTED, FEW_BITS, STYLES } style;
static uint64_t salt;

static tamis_hash hash_of(uint32_t i)
{
    uint64_t seed = salt ^ (uint64_t)i << 20;
    const tamis_hash h = {splitmix(&seed), splitmix(&seed)};
    switch (style) {
    case SAME_LOW: return (tamis_hash){salt, h.hi};
    case SAME_HIGH: return (tamis_hash){h.lo, salt};
    case COUNTED: return (tamis_hash){i, i};
    case FEW_BITS: return (tamis_hash){(uint64_t)(i % 16) << salt % 60, (uint64_t)i << 40};
    case UNIFORM:
    case STYLES: break;
    }
    return h;
}

static uint32_t key_at(const struct span *s, uint32_t i)
{
    return s->first + i / (s->repeat + 1) * s->stride;
}

static uint32_t value_at(const struct span *s, uint32_t i)
{
    uint64_t state = key_at(s, i);
    return (uint32_t)(splitmix(&state) >> (64 - value_bits)) ^ s->excluded;
}

/* Adds or excludes all of a span; stops at the first failure. */
static tamis_status give(tamis *t, const struct span *s)
{
    tamis_hash h[512];
    uint32_t values[512];
    tamis_status status = TAMIS_OK;
    for (uint32_t at = 0; at < s->n && status == TAMIS_OK;) {
        size_t n = 0;
        for (; n < 512 && at < s->n; at++) {
            if (value_bits != 0) values[n] = value_at(s, at);
            h[n++] = hash_of(key_at(s, at));
        }
        status = value_bits != 0 ? tamis_add_value_hashes(t, h, values, n, NULL, NULL)
                 : s->excluded   ? tamis_exclude_hashes(t, h, n, NULL)
                                 : tamis_add_hashes(t, h, n, NULL, NULL);
    }
    return status;
}

static void read_spans(struct feed *f, bool two_sorts, uint32_t most)
{
    uint32_t total = 0;
    for (n_spans = 0; n_spans < MOST_STEPS && f->left > 0; n_spans++) {
        struct span *s = &spans[n_spans];
        const uint8_t what = feed_byte(f);
        *s = (struct span){.first = (uint32_t)feed_bytes(f, what & 16 ? 3 : 1),
                           .n = (uint32_t)feed_bytes(f, what & 32 ? 2 : 1),
                           .stride = what & 64 ? feed_byte(f) : 1,
                           .repeat = what & 128 ? feed_byte(f) % 4 : 0,
                           .excluded = two_sorts && what % 4 == 3};
        if (s->n > most - total) s->n = most - total;
        total += s->n;
    }
}

static bool is_same(tamis_hash a, tamis_hash b)
{
    return a.lo == b.lo && a.hi == b.hi;
}

/* Whether add number `number` gives a key another value than an earlier one. */
static bool has_another_value(uint64_t number)
{
    uint64_t x = 0;
    while (x < n_spans && number >= spans[x].n) number -= spans[x++].n;
    if (x == n_spans) return false;
    const struct span *of = &spans[x];
    const tamis_hash h = hash_of(key_at(of, (uint32_t)number));
    for (size_t a = 0; a <= x; a++)
        for (uint32_t j = 0; j < spans[a].n && (a < x || j < number); j++)
            if (is_same(hash_of(key_at(&spans[a], j)), h) &&
                value_at(&spans[a], j) != value_at(of, (uint32_t)number))
                return true;
    return false;
}

/* Whether a refusal to seal was right: somebody was added and excluded, or the hashes were made for
 * it. */
static void may_refuse(const tamis_error *why, tamis_status s)
{
    uint64_t number = 0;
    must(s == TAMIS_EINVAL || s == TAMIS_ENOMEM, "sealed, or keys that cannot be");
    must(why->text[0] != '\0', "a reason has words");
    if (s == TAMIS_ENOMEM || style != UNIFORM) return;
    if (value_bits != 0) {
        must(has_another_value(why->offset), "only a key with two values is refused");
        return;
    }
    for (size_t x = 0; x < n_spans; x++)
        for (uint32_t i = 0; spans[x].excluded && i < spans[x].n; i++, number++) {
            if (number != why->offset) continue;
            for (size_t a = 0; a < n_spans; a++)
                for (uint32_t j = 0; !spans[a].excluded && j < spans[a].n; j++)
                    if (is_same(hash_of(key_at(&spans[a], j)), hash_of(key_at(&spans[x], i))))
                        return;
        }
    must(false, "only a key that was added and excluded is refused");
}

static void check(const tamis *t)
{
    tamis_facts x = {.struct_size = sizeof x};
    uint8_t bit;
    uint64_t asked = 0;
    must(tamis_info(t, &x) == TAMIS_OK && x.sealed && !x.collecting, "sealed");
    must(x.fpr_now >= 0 && x.fpr_now <= 1 && x.fill >= 0 && x.fill <= 1, "shares are shares");
    for (size_t k = 0; k < n_spans; k++)
        for (uint32_t i = 0; i < spans[k].n; i++, asked++) {
            const tamis_hash h = hash_of(key_at(&spans[k], i));
            const bool yes = tamis_may_contain_hashes(t, &h, 1, &bit) == 1;
            uint32_t value = 0;
            must(yes != (spans[k].excluded && value_bits == 0),
                 "what was added is in, what was excluded is not");
            if (value_bits == 0) continue;
            must(tamis_value_hashes(t, &h, 1, &value, &bit, NULL) == TAMIS_OK && bit == 1, "found");
            must(value == value_at(&spans[k], i), "with its value");
        }
    must(x.items + x.excluded <= asked, "no more keys than came");
}

/* Collects and seals; NULL when that was refused, as it may be. */
static tamis *build(const tamis_plan *plan, const tamis_options *o, bool reopen)
{
    tamis *t, *again;
    tamis_error why = {0};
    const tamis_status made = tamis_create(plan, o, &t, &why);
    must((made == TAMIS_OK) == (t != NULL), "a handle or a reason");
    if (t == NULL) return NULL;
    tamis_status s = TAMIS_OK;
    for (size_t k = 0; k < n_spans && s == TAMIS_OK; k++) {
        s = give(t, &spans[k]);
        if (!reopen || s != TAMIS_OK) continue;
        struct bytes image = image_of(t);
        const tamis_options plain = {.struct_size = sizeof plain, .flags = TAMIS_STEADY};
        must(image.p != NULL, "write");
        must(tamis_load(image.p, image.n, &plain, &again, NULL) == TAMIS_OK, "load");
        free(image.p);
        tamis_close(t);
        t = again;
    }
    must(s == TAMIS_OK || s == TAMIS_EFULL || s == TAMIS_ENOMEM, "collected, or full");
    /* Hashes that are not uniform are refused, but whatever solves for them must cope. */
    if (s == TAMIS_OK) {
        s = style == UNIFORM ? tamis_seal(t, &why) : tamis__seal(t, &why);
        if (s == TAMIS_OK) return t;
        may_refuse(&why, s);
    }
    tamis_close(t);
    return NULL;
}

/* Whether hashes that are not uniform are noticed depends on the calls that brought them, and on
 * what was forgotten when the image was reopened (docs/FORMAT.md, "Identical bytes"). */
static void forget_suspicion(struct bytes image)
{
    enum { IGNORE = 24, HASH_SUSPECT = 2 };
    image.p[IGNORE] &= (uint8_t)~HASH_SUSPECT;
    image_resum(image.p, image.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint32_t kinds[] = {TAMIS_FUSE, TAMIS_RIBBON, TAMIS_EXACT, TAMIS_VALUE_MAP,
                                     TAMIS_FUSE, TAMIS_RIBBON, TAMIS_EXACT, TAMIS_RIBBON};
    struct feed f = {data, size};
    const uint8_t first = feed_byte(&f);
    const tamis_plan asked = feed_plan(&f, kinds[first % 8]);
    tamis_plan plan;
    if (!solve_plan(&asked, &plan)) return 0;
    const uint8_t how = feed_byte(&f);
    const bool spill = first == 255;
    salt = feed_bytes(&f, 8);
    style = how % 8 < STYLES ? how % 8 : UNIFORM;
    if (spill) style = UNIFORM; /* as is asked of such hashes */
    plan.flags |= TAMIS_HASH_CALLER;
    plan.seed = 0;
    value_bits = plan.kind == TAMIS_VALUE_MAP ? plan.cell_bits : 0;
    read_spans(&f, plan.kind == TAMIS_EXACT || value_bits != 0, spill ? SPILL_KEYS : MOST_KEYS);
    if (spill && n_spans > 0) spans[0].n = spans[0].n % 1024 + SPILL_KEYS - 1024;
    const tamis_options usual = {.struct_size = sizeof usual},
                        other = {.struct_size = sizeof other,
                                 .threads = how / 32,
                                 .scratch_bytes = 1,
                                 .temp_dir = spill && plan.kind == TAMIS_RIBBON ? "/tmp" : NULL};
    tamis *t = build(&plan, &usual, false);
    if (t != NULL) {
        tamis *same = build(&plan, &other, !spill && how & 8);
        check(t);
        must(same != NULL, "what can be sealed once can be again");
        struct bytes a = image_of(t), b = image_of(same);
        tamis *again;
        if (style != UNIFORM) {
            forget_suspicion(a);
            forget_suspicion(b);
        }
        must(bytes_equal(a, b), "the same bytes by threads, beyond memory, or reopened");
        must(tamis_load(b.p, b.n, &usual, &again, NULL) == TAMIS_OK, "reload");
        if (!spill) check(again); /* it takes long, and the bytes are the same */
        tamis_close(again);
        tamis_close(same);
        free(a.p);
        free(b.p);
    }
    tamis_close(t);
    return 0;
}
