/* Attacks by somebody who has everything except the secret key (bench/adversary/attacks.h). With
 * a key, the attacker gains nothing that chance does not give to anybody. Without one the attack
 * works, which shows that it is one. Seeds are fixed. For forgery and pollution the bound, 1.2
 * times chance, holds with a probability of at least 1 - 1e-9 for any other seed; the bounds of
 * the others are far from the observed values. */
#include "../../bench/adversary/attacks.c"
#include "../../src/core/handle.h"
#include "../../src/frequency/buckets.h"
#include "../../src/frequency/tally_cells.h"
#include "../support/check.h"
#include "../support/sketches.h"

static const struct attack public = {7, false}, keyed = {7, true};

/* At 10 % a million trials find 100,000 keys, of which chance accepts 10,000: 1.2 times that is 20
 * deviations away. */
static void keys_are_not_forged(void)
{
    struct forgery f;
    CHECK(attack_forge(public, 20000, 0.1, 1000000, &f));
    CHECK_THAT(f.forged, >, 80000);
    CHECK_THAT(f.accepted, ==, f.forged);
    CHECK(attack_forge(keyed, 20000, 0.1, 1000000, &f));
    CHECK_THAT(f.forged, >, 80000);
    CHECK_THAT((double)f.accepted, <, 1.2 * f.chance * (double)f.forged);
    CHECK_THAT((double)f.accepted, >, f.chance * (double)f.forged / 1.2);
}

/* The optimum for the attacker is (2 ln 2)^k = 9.8 times the rate at k = 7. A deviation is 2 % of
 * the rate: a difference of 20 % of two filters is 6.5 of theirs. */
static void filters_are_not_polluted(void)
{
    struct pollution p;
    CHECK(attack_pollute(public, &p));
    CHECK_THAT(p.rate, >, 7 * p.chance);
    CHECK(attack_pollute(keyed, &p));
    CHECK_THAT(p.deviation, <, 0.03 * p.chance);
    CHECK_THAT(p.rate, <, 1.2 * p.chance);
}

/* A filter refuses keys by chance only when it is all but full. */
static void filters_are_not_flooded(void)
{
    const uint32_t kinds[] = {TAMIS_CUCKOO, TAMIS_GROWING};
    for (int i = 0; i < 2; i++) {
        struct flood f;
        CHECK(attack_flood(public, kinds[i], &f));
        CHECK_THAT(f.accepted, <, f.planned / 2);
        CHECK(attack_flood(keyed, kinds[i], &f));
        CHECK_THAT(f.chance, >, 0.95 * (double)f.planned);
        CHECK_THAT(f.accepted, >, 0.95 * (double)f.planned);
    }
}

/* A secret key does not help here: the filter gives the same wrong answers again until the keys
 * are excepted. */
static void replay_ends_with_exceptions(void)
{
    for (int i = 0; i < 2; i++) {
        struct replay r;
        CHECK(attack_replay(i == 0 ? public : keyed, 20000, 0.01, 100000, &r));
        CHECK_THAT(r.found, >, 500);
        CHECK_THAT(r.again, ==, r.found);
        CHECK_THAT(r.again_told, ==, 0);
    }
}

/* From counters alone nobody can tell, and nobody claims to; what is certain stays true. A guessed
 * key finds the target's least counter in one of 500 tries, and the next one is a little greater:
 * for 1.2 times chance in the mean of 20 tries it takes some 6 of them. */
static void covers_need_the_hash(void)
{
    const uint64_t updates = 1u << 20, tries = 20;
    int64_t counted = 0, chance = 0;
    for (uint64_t i = 0; i < tries; i++) {
        struct cover c;
        CHECK(attack_cover((struct attack){i, false}, updates, &c));
        CHECK_THAT(c.target.upper, >=, updates / ROWS);
        CHECK(!c.target.judged && !c.target.suspect && c.target.certain == 0);
        CHECK(attack_cover((struct attack){i, true}, updates, &c));
        counted += c.target.upper;
        chance += c.before.upper;
    }
    CHECK_THAT(chance, >, 0);
    CHECK_THAT((double)counted, <, 1.2 * (double)chance);
}

/* What no secret key prevents, as SECURITY.md says; and [certain, upper] holds all the same. */
static void covers_are_found_by_asking(void)
{
    struct asking k;
    CHECK(attack_ask(keyed, 1u << 20, &k));
    CHECK_THAT(k.target.upper, >=, (1 << 20) / ROWS);
    CHECK_THAT(k.tried, <, 20 * ROWS * WIDTH);
    CHECK(k.target.certain == 0 && !k.target.judged);
}

/* Merges filters that have the same key, another key and none. */
static bool merges_with_its_own_key_only(tamis_plan plan)
{
    tamis *a = make(keyed, false, plan), *same = make(keyed, false, plan);
    tamis *b = make(keyed, true, plan), *c = make(public, false, plan);
    CHECK(a != NULL && same != NULL && b != NULL && c != NULL);
    const bool merges = tamis_merge(a, same, NULL) == TAMIS_OK;
    const tamis_status refused = merges ? TAMIS_EMISMATCH : TAMIS_EUNSUPPORTED;
    tamis_error why = {.text = ""};
    CHECK_THAT(tamis_merge(a, b, &why), ==, refused);
    CHECK_THAT(tamis_merge(a, c, &why), ==, refused);
    CHECK_THAT(tamis_merge(c, a, &why), ==, refused);
    CHECK(why.text[0] != '\0');
    tamis_facts fa = {.struct_size = sizeof fa}, fb = fa, fc = fa;
    CHECK_OK(tamis_info(a, &fa));
    CHECK_OK(tamis_info(b, &fb));
    CHECK_OK(tamis_info(c, &fc));
    static const uint8_t none[16];
    CHECK(memcmp(fa.key_id, fb.key_id, 16) != 0 && memcmp(fa.key_id, none, 16) != 0);
    CHECK(memcmp(fc.key_id, none, 16) == 0);
    tamis_close(a);
    tamis_close(same);
    tamis_close(b);
    tamis_close(c);
    return merges;
}

static void other_keys_are_refused(void)
{
    unsigned merging = 0;
    for (uint32_t kind = TAMIS_BLOOM; kind <= TAMIS_DISTINCT; kind++) {
        tamis_plan plan = {.struct_size = sizeof plan, .kind = kind, .items = 100, .fpr = 0.01};
        if (kind >= TAMIS_COUNT_MIN)
            plan = (tamis_plan){.struct_size = sizeof plan, .kind = kind, .bytes = 1 << 16};
        if (kind == TAMIS_EXACT) plan.excluded = 10;
        if (tamis_kind_name(kind) == NULL || kind == TAMIS_PRIVATE) continue;
        merging += merges_with_its_own_key_only(plan);
    }
    CHECK_THAT(merging, >=, 10);
}

/* --- A top, attacked by somebody who knows its insides ---------------------------------------- */

struct top_attack {
    tamis *t;
    uint64_t buckets, lines, seed, next;
};

static tamis *new_top(uint64_t seed)
{
    const tamis_plan plan = {
        .struct_size = sizeof plan, .kind = TAMIS_TOP, .bytes = 1 << 16, .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    return t;
}

static tamis_hash top_key(const struct top_attack *a, uint64_t i)
{
    const tamis_bytes k = {&i, sizeof i};
    tamis_hash h;
    CHECK_OK(tamis_hash_many(a->t, &k, 1, &h));
    return tamis__bucket_key(h);
}

/* Counters of the target that a key shares, a bit for each. */
static unsigned shared(const struct top_attack *a, uint64_t target, uint64_t i)
{
    struct tally_place goal[TALLY_PLACES], at[TALLY_PLACES];
    uint8_t *cells = a->t->body.sections[0].cells;
    unsigned bits = 0;
    tamis__tally_aim(cells, a->lines, top_key(a, target), goal);
    tamis__tally_aim(cells, a->lines, top_key(a, i), at);
    for (unsigned j = 0; j < TALLY_PLACES; j++)
        for (unsigned l = 0; l < TALLY_PLACES; l++)
            bits |= (unsigned)(goal[j].octet == at[l].octet && goal[j].p == at[l].p) << j;
    return bits;
}

static void count_up(const struct top_attack *a, uint64_t i, int64_t weight)
{
    CHECK_OK(tamis_add_weight(a->t, &i, sizeof i, weight, NULL));
}

/* Puts a key out of the list: three buckets, its own two among them, are filled with heavier ones
 * that have no other. */
static void push_out(struct top_attack *a, uint64_t key, int64_t weight)
{
    const struct bucket_pair own = tamis__bucket_pair(top_key(a, key), a->buckets);
    const struct buckets buckets = {a->t->body.sections[1].cells, a->buckets};
    const uint64_t print = top_key(a, key).lo;
    uint64_t third = 0;
    while (third == own.first || third == own.second) third++;
    for (int n = 1; tamis__bucket_find(&buckets, own, print) != NO_SLOT; a->next++) {
        const struct bucket_pair p = tamis__bucket_pair(top_key(a, a->next), a->buckets);
        const bool in = (p.first == own.first || p.first == own.second || p.first == third) &&
                        (p.second == own.first || p.second == own.second || p.second == third);
        if (in) count_up(a, a->next, weight + n++);
    }
}

/* The cheapest attack that we know: covers are listed, so they have to be pushed out again. */
static void poison(struct top_attack *a, uint64_t target, int64_t weight)
{
    for (unsigned covered = 0; covered != (1u << TALLY_PLACES) - 1; a->next++) {
        const unsigned bits = shared(a, target, a->next);
        if ((bits & ~covered) == 0) continue;
        covered |= bits;
        const uint64_t cover = a->next++;
        count_up(a, cover, weight);
        push_out(a, cover, weight);
    }
}

/* 100 victims: each is counted far up though it never came, and flagged. Without pushing out,
 * covers do nothing. */
static void poisoned_counts_are_flagged(void)
{
    int flagged = 0;
    int honest = 0; /* of 200,000 others */
    for (uint64_t i = 0; i < 100; i++) {
        struct top_attack a = {.t = new_top(i), .seed = i, .next = UINT64_C(1) << 40};
        a.buckets = a.t->body.sections[1].m / BUCKET_WAYS;
        a.lines = a.t->body.sections[0].length / TAMIS__LINE_BYTES;
        for (uint64_t n = 0; n < 2000; n++) count_up(&a, n, 1);
        const uint64_t target = UINT64_C(1) << 50;
        const tamis_estimate before = ask_count(a.t, target);
        CHECK(before.judged && !before.suspect);
        poison(&a, target, 20000);
        const tamis_estimate e = ask_count(a.t, target);
        CHECK_THAT(e.upper, >=, 20000); /* else the attack did not work */
        CHECK_THAT(e.certain, ==, 0);
        CHECK(!e.suspect || (e.lower == 0 && e.confidence == 1));
        flagged += e.suspect;
        for (uint64_t n = 0; n < 2000; n++) honest += ask_count(a.t, n).suspect;
        tamis_close(a.t);
    }
    CHECK_THAT(flagged, ==, 100);
    CHECK_THAT(honest, ==, 0);
}

static void covers_alone_are_listed(void)
{
    struct top_attack a = {.t = new_top(1), .seed = 1, .next = UINT64_C(1) << 40};
    a.lines = a.t->body.sections[0].length / TAMIS__LINE_BYTES;
    const uint64_t target = UINT64_C(1) << 50;
    for (unsigned covered = 0; covered != (1u << TALLY_PLACES) - 1; a.next++) {
        const unsigned bits = shared(&a, target, a.next);
        if ((bits & ~covered) == 0) continue;
        covered |= bits;
        count_up(&a, a.next, 1 << 18);
        CHECK_THAT(ask_count(a.t, a.next).certain, ==, 1 << 18);
    }
    CHECK_THAT(ask_count(a.t, target).upper, ==, 0);
    tamis_close(a.t);
}

/* Saturated counters and a saturated sum of all weights are not judged. */
static void ended_counters_are_not_judged(void)
{
    tamis *t = new_top(1);
    for (uint64_t i = 0; i < 2000; i++) CHECK_OK(tamis_add_weight(t, &i, 8, INT64_MAX, NULL));
    for (uint64_t i = 0; i < 4000; i++) {
        const tamis_estimate e = ask_count(t, i);
        CHECK(!e.judged && !e.suspect);
        CHECK_THAT(e.certain, <=, e.upper);
    }
    tamis_close(t);
}

static void check_nobody(const tamis *t, uint32_t universe, const char *what)
{
    tamis_estimate *e = count_universe(t, universe);
    uint32_t flagged = 0;
    for (uint32_t i = 0; i < universe; i++) flagged += e[i].suspect;
    free(e);
    if (flagged > 0) printf("%s: %u flagged\n", what, flagged);
    CHECK_THAT(flagged, ==, 0);
}

/* Checks the merge of two halves of a stream. */
static void check_merged(const struct stream *s, uint64_t seed)
{
    tamis *a = new_top(seed), *b = new_top(seed);
    add_stream(a, s, 0, s->n / 2);
    add_stream(b, s, s->n / 2, s->n);
    CHECK_OK(tamis_merge(a, b, NULL));
    check_nobody(a, s->universe, "a union");
    tamis_close(a);
    tamis_close(b);
}

static void check_window(const struct stream *s, uint64_t seed)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_WINDOW,
                             .inner_kind = TAMIS_TOP,
                             .generations = 4,
                             .bytes = 4 << 16,
                             .seed = seed};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (uint32_t part = 0; part < 6; part++) {
        add_stream(t, s, s->n / 6 * part, s->n / 6 * (part + 1));
        check_nobody(t, s->universe, "a window");
        CHECK_OK(tamis_rotate(t, NULL));
    }
    tamis_close(t);
}

/* Honest streams, from flat to steep, in either order; and as many equally heavy keys as there are
 * entries, which is the most that can be done to the floor without aiming: not one of all their
 * keys is flagged. */
static void honest_counts_are_not_flagged(void)
{
    static const double alphas[] = {0, 0.6, 1, 1.4};
    for (size_t i = 0; i < sizeof alphas / sizeof *alphas; i++) {
        struct stream s = zipf_stream(alphas[i], 300000, 50000, 11 + i);
        for (int order = 0; order < 2; order++) {
            tamis *t = new_top(i);
            if (order == 1) cluster(&s);
            add_stream(t, &s, 0, s.n);
            check_nobody(t, s.universe, order == 0 ? "a stream" : "a stream in clusters");
            tamis_close(t);
        }
        check_merged(&s, i);
        check_window(&s, i);
        stream_free(&s);
    }
    for (uint64_t seed = 0; seed < 200; seed++) {
        tamis *t = new_top(seed);
        const uint64_t entries = t->body.sections[1].m;
        /* Half as many, all, twice as many. */
        const uint64_t n = entries / 2 << seed % 3;
        for (uint64_t round = 0; round < 3; round++)
            for (uint64_t i = 0; i < n; i++) CHECK_OK(tamis_add_weight(t, &i, 8, 1000, NULL));
        check_nobody(t, (uint32_t)n, "equal keys");
        tamis_close(t);
    }
}

static const struct test tests[] = {
    {"keys are not forged", keys_are_not_forged},
    {"filters are not polluted", filters_are_not_polluted},
    {"filters are not flooded", filters_are_not_flooded},
    {"replay ends with exceptions", replay_ends_with_exceptions},
    {"covers need the hash", covers_need_the_hash},
    {"covers are found by asking", covers_are_found_by_asking},
    {"other keys are refused", other_keys_are_refused},
    {"poisoned counts are flagged", poisoned_counts_are_flagged},
    {"covers alone are listed", covers_alone_are_listed},
    {"ended counters are not judged", ended_counters_are_not_judged},
    {"honest counts are not flagged", honest_counts_are_not_flagged},
};
TEST_MAIN(tests)
