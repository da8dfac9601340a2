/* Attacks on filters and sketches, by somebody who has the sources of this library, all the time in
 * the world, and the victim's file; and who does or does not know how keys are hashed. They use
 * <tamis/tamis.h> only, as anybody can.
 *
 * Without the secret key an attacker can do no better than to guess one: so each attack is the same
 * code twice, against the victim's own hash and with a key of the attacker's own, and what comes of
 * it is measured at the victim.
 *
 * All of it is fixed by a seed, and asserts nothing: main.c prints it, tests/library/test_adversary.c says
 * what it must be. */
#ifndef TAMIS_BENCH_ATTACKS_H
#define TAMIS_BENCH_ATTACKS_H

#include <stdbool.h>
#include <stdint.h>
#include <tamis/count.h>
#include <tamis/tamis.h>

struct attack {
    uint64_t seed;
    bool keyed; /* the victim has a secret key */
};

/* Keys found offline that the attacker takes for a maybe, sent to the victim. */
struct forgery {
    uint64_t trials, forged, accepted;
    double chance; /* that of any key */
};
bool attack_forge(struct attack a, uint64_t items, double rate, uint64_t trials,
                  struct forgery *out);

/* Keys chosen to set as many bits as they can: the rate when the planned number is in, and that
 * with keys nobody chose. */
struct pollution {
    double rate, chance;
    double deviation; /* of chance, from filter to filter */
};
bool attack_pollute(struct attack a, struct pollution *out);

/* Keys chosen to pile up in an eighth of a cuckoo filter, or in a 64th of a growing one: adds until
 * one is refused, at most `planned`. */
struct flood {
    uint64_t accepted, planned;
    uint64_t chance; /* how many keys that nobody chose were accepted */
};
bool attack_flood(struct attack a, uint32_t kind, struct flood *out);

/* Wrong maybes, found by asking the victim, and asked again: of the filter as it is, and of an
 * exact one that was told. */
struct replay {
    uint64_t asked, found, again, again_told;
};
bool attack_replay(struct attack a, uint64_t items, double rate, uint64_t asked,
                   struct replay *out);

/* Keys that share the counters of one that never came, one for each row, counted up by `updates` in
 * all. */
struct cover {
    tamis_estimate before, target;
    uint64_t offline; /* hashes computed */
};
bool attack_cover(struct attack a, uint64_t updates, struct cover *out);

/* The same by somebody who knows no hash at all, and finds such keys by adding some and asking for
 * the target each time. */
struct asking {
    tamis_estimate before, target;
    uint64_t tried; /* keys, each added and followed by a question */
};
bool attack_ask(struct attack a, uint64_t updates, struct asking *out);

#endif
