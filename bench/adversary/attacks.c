#include "attacks.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/inspect.h>

static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15); /* splitmix64 */
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* --- Keys ------------------------------------------------------------------------------------- */

enum { KEY_ROOM = 48 };

/* Makes URL number i of the victim's or of the attacker's URLs. */
static tamis_bytes url(char whose, uint64_t seed, uint64_t i, char room[KEY_ROOM])
{
    const int n = snprintf(room, KEY_ROOM, "http://%c%llx.example/%llx", whose,
                           (unsigned long long)seed, (unsigned long long)i);
    return (tamis_bytes){room, (size_t)n};
}

/* Makes the victim's secret, or the attacker's guess. */
static void secret(uint64_t seed, bool guess, uint8_t key[16])
{
    uint64_t state = seed ^ (guess ? UINT64_C(0x6775657373) : UINT64_C(0x736563726574));
    for (int i = 0; i < 2; i++) {
        const uint64_t word = next(&state);
        memcpy(key + 8 * i, &word, 8);
    }
}

/* Makes the victim's filter or, with `guess`, the one that the attacker works with. With a public
 * hash they are the same. */
static tamis *make(struct attack a, bool guess, tamis_plan plan)
{
    uint8_t key[16];
    secret(a.seed, guess, key);
    plan.struct_size = sizeof plan;
    const tamis_options o = {.struct_size = sizeof o, .key = a.keyed ? key : NULL};
    tamis *t;
    return tamis_create(&plan, &o, &t, NULL) == TAMIS_OK ? t : NULL;
}

static bool fill(tamis *t, uint64_t seed, uint64_t items)
{
    char room[KEY_ROOM];
    for (uint64_t i = 0; i < items; i++) {
        const tamis_bytes k = url('v', seed, i, room);
        if (tamis_add(t, k.p, k.len, NULL) != TAMIS_OK) return false;
    }
    return true;
}

static double rate_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return tamis_info(t, &f) == TAMIS_OK ? f.fpr_now : NAN;
}

/* --- Forgery ---------------------------------------------------------------------------------- */

bool attack_forge(struct attack a, uint64_t items, double rate, uint64_t trials,
                  struct forgery *out)
{
    const tamis_plan plan = {.kind = TAMIS_BLOCKED, .items = items, .fpr = rate};
    tamis *victim = make(a, false, plan), *hasher = make(a, true, plan);
    bool good = victim != NULL && hasher != NULL && fill(victim, a.seed, items);
    char room[KEY_ROOM];
    *out = (struct forgery){.trials = trials, .chance = good ? rate_of(victim) : 0};
    for (uint64_t i = 0; i < trials && good; i++) {
        const tamis_bytes k = url('f', a.seed, i, room);
        tamis_hash h;
        uint8_t maybe;
        /* The attacker has the bits; only the hash may be unknown. */
        good = tamis_hash_many(hasher, &k, 1, &h) == TAMIS_OK;
        if (tamis_may_contain_hashes(victim, &h, 1, &maybe) == 0) continue;
        out->forged++;
        out->accepted += tamis_may_contain(victim, k.p, k.len);
    }
    tamis_close(victim);
    tamis_close(hasher);
    return good;
}

/* --- Pollution -------------------------------------------------------------------------------- */

enum { BITS = 32000, PROBES = 7, POLLUTERS = 3200, TRIES = 400 };

/* Returns the one of several keys that sets the most bits, as far as the attacker knows. */
static uint64_t best_of(const tamis *model, uint64_t seed, uint64_t first)
{
    uint64_t best = first, cells[PROBES];
    size_t most = 0;
    char room[KEY_ROOM];
    for (uint64_t i = first; i < first + TRIES && most < PROBES; i++) {
        const tamis_bytes k = url('p', seed, i, room);
        const size_t n = tamis_cells_of(model, k.p, k.len, cells, PROBES);
        size_t fresh = 0;
        for (size_t j = 0; j < n; j++) {
            bool twice = false;
            for (size_t l = 0; l < j; l++) twice = twice || cells[l] == cells[j];
            fresh += !twice && tamis_cell(model, cells[j]) == 0;
        }
        if (fresh > most) {
            most = fresh;
            best = i;
        }
    }
    return best;
}

bool attack_pollute(struct attack a, struct pollution *out)
{
    const tamis_plan plan = {.kind = TAMIS_BLOOM, .m = BITS, .k = PROBES, .items = POLLUTERS};
    tamis *victim = make(a, false, plan), *model = make(a, true, plan);
    tamis *honest = make(a, false, plan);
    bool good =
        victim != NULL && model != NULL && honest != NULL && fill(honest, a.seed, POLLUTERS);
    for (uint64_t i = 0; i < POLLUTERS && good; i++) {
        char room[KEY_ROOM];
        const tamis_bytes k = url('p', a.seed, best_of(model, a.seed, i * TRIES), room);
        good = tamis_add(victim, k.p, k.len, NULL) == TAMIS_OK &&
               tamis_add(model, k.p, k.len, NULL) == TAMIS_OK;
    }
    /* Bits still clear: m e^-kn/m on average, with a variance of m e^-c (1 - (1 + c) e^-c), c =
     * kn/m. */
    const double c = (double)PROBES * POLLUTERS / BITS, left = exp(-c);
    const double sd = sqrt(left * (1 - (1 + c) * left) / BITS);
    if (good)
        *out = (struct pollution){rate_of(victim), rate_of(honest),
                                  PROBES * pow(1 - left, PROBES - 1) * sd};
    tamis_close(victim);
    tamis_close(model);
    tamis_close(honest);
    return good;
}

/* --- Flooding --------------------------------------------------------------------------------- */

enum { FLOOD_ITEMS = 5000, FLOOD_BITS = 10 };

static uint64_t accept(tamis *t, char whose, uint64_t seed, const uint64_t *chosen)
{
    char room[KEY_ROOM];
    uint64_t n = 0;
    for (; n < FLOOD_ITEMS; n++) {
        const tamis_bytes k = url(whose, seed, chosen != NULL ? chosen[n] : n, room);
        if (tamis_add(t, k.p, k.len, NULL) != TAMIS_OK) break;
    }
    return n;
}

/* Reports whether a key belongs to those that collide. In a cuckoo filter, all its places are in
 * the first eighth of one of the table's halves; each half has one of them. In a growing filter,
 * whose tables take the first bits of the hash for the place, those bits are 0. A table that is
 * full of them doubles, until the part of it that they belong to has no room left. */
static bool is_low(const tamis *model, uint32_t kind, uint64_t m, tamis_bytes k)
{
    uint64_t cells[16];
    tamis_hash h;
    if (kind == TAMIS_GROWING)
        return tamis_hash_many(model, &k, 1, &h) == TAMIS_OK && h.hi >> (64 - FLOOD_BITS) == 0;
    const size_t n = tamis_cells_of(model, k.p, k.len, cells, 16);
    bool low = n > 0 && n <= 16;
    for (size_t j = 0; j < n && low; j++) low = cells[j] % (m / 2) < m / 16;
    return low;
}

bool attack_flood(struct attack a, uint32_t kind, struct flood *out)
{
    const tamis_plan plan = {.kind = kind, .items = FLOOD_ITEMS, .fpr = 0.01};
    tamis *victim = make(a, false, plan), *model = make(a, true, plan);
    tamis *honest = make(a, false, plan);
    uint64_t *chosen = malloc(FLOOD_ITEMS * sizeof *chosen), n = 0;
    tamis_facts f = {.struct_size = sizeof f};
    char room[KEY_ROOM];
    const bool good = victim != NULL && model != NULL && honest != NULL && chosen != NULL &&
                      tamis_info(victim, &f) == TAMIS_OK;
    for (uint64_t i = 0; n < FLOOD_ITEMS && good; i++)
        if (is_low(model, kind, f.m, url('c', a.seed, i, room))) chosen[n++] = i;
    if (good)
        *out = (struct flood){accept(victim, 'c', a.seed, chosen), FLOOD_ITEMS,
                              accept(honest, 'v', a.seed, NULL)};
    free(chosen);
    tamis_close(victim);
    tamis_close(model);
    tamis_close(honest);
    return good;
}

/* --- Replay ----------------------------------------------------------------------------------- */

static uint64_t ask_again(const tamis *t, uint64_t seed, const uint64_t *found, uint64_t n)
{
    char room[KEY_ROOM];
    uint64_t maybe = 0;
    for (uint64_t i = 0; i < n; i++) {
        const tamis_bytes k = url('r', seed, found[i], room);
        maybe += tamis_may_contain(t, k.p, k.len);
    }
    return maybe;
}

/* The list of exceptions: the filter is built again as an exact filter that excludes them. */
static bool tell(tamis *exact, uint64_t seed, const uint64_t *found, uint64_t n)
{
    char room[KEY_ROOM];
    for (uint64_t i = 0; i < n; i++) {
        const tamis_bytes k = url('r', seed, found[i], room);
        if (tamis_exclude(exact, k.p, k.len, NULL) != TAMIS_OK) return false;
    }
    return tamis_seal(exact, NULL) == TAMIS_OK;
}

bool attack_replay(struct attack a, uint64_t items, double rate, uint64_t asked, struct replay *out)
{
    const tamis_plan plan = {.kind = TAMIS_BLOCKED, .items = items, .fpr = rate};
    const tamis_plan told = {
        .kind = TAMIS_EXACT, .items = items, .fpr = rate, .excluded = asked / 50 + 1};
    tamis *victim = make(a, false, plan), *exact = make(a, false, told);
    uint64_t *found = calloc(asked, sizeof *found), n = 0;
    char room[KEY_ROOM];
    bool good = victim != NULL && exact != NULL && found != NULL && fill(victim, a.seed, items) &&
                fill(exact, a.seed, items);
    for (uint64_t i = 0; i < asked && good; i++) {
        const tamis_bytes k = url('r', a.seed, i, room);
        if (tamis_may_contain(victim, k.p, k.len)) found[n++] = i;
    }
    good = good && tell(exact, a.seed, found, n);
    if (good)
        *out = (struct replay){asked, n, ask_again(victim, a.seed, found, n),
                               ask_again(exact, a.seed, found, n)};
    free(found);
    tamis_close(victim);
    tamis_close(exact);
    return good;
}

/* --- Covering --------------------------------------------------------------------------------- */

enum { ROWS = 4, WIDTH = 2048, OTHERS = 20000 };

/* Finds a key for each row that shares the target's counter there. */
static uint64_t find_cover(const tamis *model, uint64_t seed, tamis_bytes target,
                           uint64_t cover[ROWS])
{
    uint64_t goal[ROWS], cells[ROWS], tried = 0;
    bool have[ROWS] = {false};
    char room[KEY_ROOM];
    tamis_cells_of(model, target.p, target.len, goal, ROWS);
    for (int missing = ROWS; missing > 0; tried++) {
        const tamis_bytes k = url('h', seed, tried, room);
        tamis_cells_of(model, k.p, k.len, cells, ROWS);
        for (int j = 0; j < ROWS && missing > 0; j++) {
            if (have[j] || cells[j] != goal[j]) continue;
            have[j] = true;
            cover[j] = tried;
            missing--;
        }
    }
    return tried;
}

bool attack_cover(struct attack a, uint64_t updates, struct cover *out)
{
    const tamis_plan plan = {.kind = TAMIS_COUNT_MIN, .m = WIDTH, .k = ROWS};
    tamis *victim = make(a, false, plan), *model = make(a, true, plan);
    char room[KEY_ROOM], other[KEY_ROOM];
    uint64_t cover[ROWS];
    const tamis_bytes target = url('t', a.seed, 0, room);
    bool good = victim != NULL && model != NULL && fill(victim, a.seed, OTHERS) &&
                tamis_count(victim, target.p, target.len, &out->before, NULL) == TAMIS_OK;
    out->offline = good ? find_cover(model, a.seed, target, cover) : 0;
    for (int j = 0; j < ROWS && good; j++) {
        const tamis_bytes k = url('h', a.seed, cover[j], other);
        good = tamis_add_weight(victim, k.p, k.len, (int64_t)(updates / ROWS), NULL) == TAMIS_OK;
    }
    good = good && tamis_count(victim, target.p, target.len, &out->target, NULL) == TAMIS_OK;
    tamis_close(victim);
    tamis_close(model);
    return good;
}

/* A key that raises the target's count has the counter that was the smallest of the target's. No
 * other row matters until that one has been raised. */
bool attack_ask(struct attack a, uint64_t updates, struct asking *out)
{
    const tamis_plan plan = {.kind = TAMIS_COUNT_MIN, .m = WIDTH, .k = ROWS};
    tamis *victim = make(a, false, plan);
    char room[KEY_ROOM], other[KEY_ROOM];
    const tamis_bytes target = url('t', a.seed, 0, room);
    tamis_estimate last = {0};
    bool good = victim != NULL && fill(victim, a.seed, OTHERS) &&
                tamis_count(victim, target.p, target.len, &last, NULL) == TAMIS_OK;
    *out = (struct asking){.before = last};
    for (int found = 0; found < ROWS && good; out->tried++) {
        const tamis_bytes k = url('a', a.seed, out->tried, other);
        good = tamis_add_weight(victim, k.p, k.len, 1, NULL) == TAMIS_OK &&
               tamis_count(victim, target.p, target.len, &out->target, NULL) == TAMIS_OK;
        if (!good || out->target.upper == last.upper) continue;
        good = tamis_add_weight(victim, k.p, k.len, (int64_t)(updates / ROWS), NULL) == TAMIS_OK &&
               tamis_count(victim, target.p, target.len, &out->target, NULL) == TAMIS_OK;
        last = out->target;
        found++;
    }
    tamis_close(victim);
    return good;
}
