/* Measures attacks with a public seed and with a secret key, and prints them as JSON for
 * bench/adversary/report.py:
 *
 *     bench-adversary [--quick]
 */
#include "attacks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SEED 18

static uint64_t trials = 1000000, rounds = 10;
static bool first = true;

static void fail(const char *what)
{
    fprintf(stderr, "bench-adversary: %s: not enough memory\n", what);
    exit(2);
}

/* Prints one number of one column. */
static void put(const char *name, bool keyed, double value)
{
    printf("%s\n  \"%s %s\": %.10g", first ? "{" : ",", name, keyed ? "keyed" : "public", value);
    first = false;
}

static void forge(bool keyed)
{
    struct forgery f;
    if (!attack_forge((struct attack){SEED, keyed}, trials, 0.01, 10 * trials, &f)) fail("forgery");
    put("forge trials", keyed, (double)f.trials);
    put("forge found", keyed, (double)f.forged);
    put("forge accepted", keyed, (double)f.accepted / (double)f.forged);
    put("forge chance", keyed, f.chance);
}

static void pollute(bool keyed)
{
    double rate = 0, chance = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        struct pollution p;
        if (!attack_pollute((struct attack){SEED + i, keyed}, &p)) fail("pollution");
        rate += p.rate / (double)rounds;
        chance += p.chance / (double)rounds;
    }
    put("pollute rate", keyed, rate);
    put("pollute chance", keyed, chance);
}

static void flood(bool keyed)
{
    struct flood f, g;
    const struct attack a = {SEED, keyed};
    if (!attack_flood(a, TAMIS_CUCKOO, &f) || !attack_flood(a, TAMIS_GROWING, &g)) fail("flooding");
    put("flood accepted", keyed, (double)f.accepted);
    put("flood planned", keyed, (double)f.planned);
    put("flood chance", keyed, (double)f.chance);
    put("pile accepted", keyed, (double)g.accepted);
    put("pile planned", keyed, (double)g.planned);
    put("pile chance", keyed, (double)g.chance);
}

static void replay(bool keyed)
{
    struct replay r;
    if (!attack_replay((struct attack){SEED, keyed}, trials, 0.01, trials, &r)) fail("replay");
    put("replay found", keyed, (double)r.found);
    put("replay again", keyed, (double)r.again / (double)r.found);
    put("replay told", keyed, (double)r.again_told / (double)r.found);
}

static void cover(bool keyed)
{
    double error = 0, chance = 0, offline = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        struct cover c;
        if (!attack_cover((struct attack){SEED + i, keyed}, 1u << 20, &c)) fail("covering");
        error += (double)c.target.upper / (double)rounds;
        chance += (double)c.before.upper / (double)rounds;
        offline += (double)c.offline / (double)rounds;
    }
    put("cover error", keyed, error);
    put("cover chance", keyed, chance);
    put("cover offline", keyed, offline);
}

static void ask(bool keyed)
{
    double error = 0, tried = 0;
    for (uint64_t i = 0; i < rounds; i++) {
        struct asking k;
        if (!attack_ask((struct attack){SEED + i, keyed}, 1u << 20, &k)) fail("asking");
        error += (double)k.target.upper / (double)rounds;
        tried += (double)k.tried / (double)rounds;
    }
    put("ask error", keyed, error);
    put("ask tried", keyed, tried);
}

int main(int argc, char **argv)
{
    if (argc > 1 && strcmp(argv[1], "--quick") == 0) {
        trials = 100000;
        rounds = 2;
    }
    for (int keyed = 0; keyed < 2; keyed++) {
        forge(keyed != 0);
        pollute(keyed != 0);
        flood(keyed != 0);
        replay(keyed != 0);
        cover(keyed != 0);
        ask(keyed != 0);
    }
    printf("\n}\n");
    return 0;
}
