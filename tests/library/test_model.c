/* A filter against an exact set: a hundred thousand random operations per kind and seed, and never
 * a wrong "no", from a query or from the `seen` of an add. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"
#include "../support/keys.h"
#include "../support/resum.h"

#include <tamis/tamis.h>

/* The exact set: every key is one of UNIVERSE, so a flag for each is the whole truth. */
#define UNIVERSE 4096u
#define OPERATIONS 100000u
#define BATCH 300u

struct pair {
    tamis *t;
    bool in[UNIVERSE];
};

static char key_text[UNIVERSE][KEY_MAX];
static tamis_bytes universe[UNIVERSE];
static uint64_t random_state;
static tamis_options options;

static uint32_t pick(uint32_t below)
{
    return (uint32_t)(splitmix(&random_state) >> 32) % below;
}

static void make_universe(void)
{
    for (uint32_t i = 0; i < UNIVERSE; i++)
        universe[i] =
            (tamis_bytes){key_text[i], make_key((enum key_style)(i % KEY_STYLES), i, key_text[i])};
}

static bool bit(const uint8_t *bits, size_t i)
{
    return bits[i / 8] >> i % 8 & 1;
}

static void add_one(struct pair *p)
{
    const uint32_t i = pick(UNIVERSE);
    bool seen;
    CHECK_OK(tamis_add(p->t, universe[i].p, universe[i].len, &seen));
    CHECK(seen || !p->in[i]);
    p->in[i] = true;
}

static void add_batch(struct pair *p, bool hashed)
{
    uint32_t which[BATCH];
    tamis_bytes keys[BATCH];
    tamis_hash h[BATCH];
    uint8_t seen[(BATCH + 7) / 8];
    const uint32_t n = 1 + pick(BATCH);
    for (uint32_t i = 0; i < n; i++) keys[i] = universe[which[i] = pick(UNIVERSE)];
    if (hashed) {
        CHECK_OK(tamis_hash_many(p->t, keys, n, h));
        CHECK_OK(tamis_add_hashes(p->t, h, n, seen, NULL));
    } else {
        CHECK_OK(tamis_add_many(p->t, keys, n, seen, NULL));
    }
    for (uint32_t i = 0; i < n; i++) {
        CHECK(bit(seen, i) || !p->in[which[i]]);
        p->in[which[i]] = true;
    }
}

static void ask_one(const struct pair *p)
{
    const uint32_t i = pick(UNIVERSE);
    CHECK(tamis_may_contain(p->t, universe[i].p, universe[i].len) || !p->in[i]);
}

/* Returns how many keys that are not in got a "no": the filter must be good for something. */
static size_t ask_all(const struct pair *p)
{
    uint8_t bits[UNIVERSE / 8];
    size_t refuted = 0;
    tamis_may_contain_many(p->t, universe, UNIVERSE, bits);
    for (uint32_t i = 0; i < UNIVERSE; i++) {
        CHECK(bit(bits, i) || !p->in[i]);
        refuted += !bit(bits, i);
    }
    return refuted;
}

static void clear(struct pair *p)
{
    CHECK_OK(tamis_clear(p->t));
    memset(p->in, 0, sizeof p->in);
}

static void replace_by_copy(struct pair *p)
{
    tamis *copy;
    CHECK_OK(tamis_copy(p->t, &copy, NULL));
    tamis_close(p->t);
    p->t = copy;
}

static void save_and_load(struct pair *p, bool in_place)
{
    struct bytes image = image_of(p->t);
    tamis *again;
    CHECK(image.p != NULL);
    if (in_place) {
        tamis *view;
        CHECK_OK(tamis_view(image.p, image.n, &options, &view, NULL));
        CHECK_OK(tamis_copy(view, &again, NULL));
        tamis_close(view);
    } else {
        CHECK_OK(tamis_load(image.p, image.n, &options, &again, NULL));
    }
    free(image.p);
    tamis_close(p->t);
    p->t = again;
}

static void merge(struct pair *into, const struct pair *from)
{
    CHECK_OK(tamis_merge(into->t, from->t, NULL));
    for (uint32_t i = 0; i < UNIVERSE; i++) into->in[i] |= from->in[i];
}

static size_t step(struct pair *p, struct pair *other)
{
    const uint32_t dice = pick(1000);
    if (dice < 480)
        add_one(p);
    else if (dice < 950)
        ask_one(p);
    else if (dice < 960)
        add_batch(p, false);
    else if (dice < 970)
        add_batch(p, true);
    else if (dice < 975)
        replace_by_copy(p);
    else if (dice < 985)
        save_and_load(p, dice % 2 == 0);
    else if (dice < 988)
        merge(p, other);
    else if (dice < 992)
        clear(p);
    else
        return ask_all(p);
    return 0;
}

static void play(uint32_t kind, uint32_t flags, uint64_t seed, const uint8_t *key)
{
    tamis_plan plan = {.struct_size = sizeof plan, .kind = kind, .items = 2000, .fpr = 0.02};
    plan.flags = flags;
    static struct pair a, b;
    random_state = seed;
    options = (tamis_options){.struct_size = sizeof options, .key = key};
    memset(&a, 0, sizeof a);
    memset(&b, 0, sizeof b);
    CHECK_OK(tamis_create(&plan, &options, &a.t, NULL));
    CHECK_OK(tamis_create(&plan, &options, &b.t, NULL));
    size_t refuted = 0;
    for (uint32_t i = 0; i < OPERATIONS; i++) refuted += pick(2) == 0 ? step(&a, &b) : step(&b, &a);
    ask_all(&a);
    ask_all(&b);
    CHECK_THAT(refuted, >, OPERATIONS);
    tamis_close(a.t);
    tamis_close(b.t);
}

static void play_kind(uint32_t kind, uint32_t flags)
{
    static const uint8_t secret[16] = "sixteen bytes...";
    make_universe();
    for (uint64_t seed = 1; seed <= 3; seed++) play(kind, flags, seed, NULL);
    play(kind, flags, 4, secret);
}

static void test_bloom(void)
{
    play_kind(TAMIS_BLOOM, 0);
}

static void test_partitioned(void)
{
    play_kind(TAMIS_PARTITIONED, 0);
}

static void test_blocked(void)
{
    play_kind(TAMIS_BLOCKED, 0);
}

static void test_compact(void)
{
    play_kind(TAMIS_BLOCKED, TAMIS_COMPACT);
}

static const struct test tests[] = {
    {"bloom", test_bloom},
    {"partitioned", test_partitioned},
    {"blocked", test_blocked},
    {"compact", test_compact},
};

TEST_MAIN(tests)
