/* Attacks on filters and sketches by somebody who has the sources of this library, unlimited time
 * and the victim's file, and who does or does not know how keys are hashed. They use only
 * <tamis/tamis.h>, which anybody can do.
 *
 * Without the secret key an attacker can only guess one. So each attack is the same code run twice:
 * against the victim's own hash, and with a key of the attacker's. The effect is measured at the
 * victim.
 *
 * A seed fixes everything. Nothing here asserts: main.c prints the results, and
 * tests/library/test_adversary.c states what they must be. */
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

/* Keys found offline that the attacker expects to match, sent to the victim. */
struct forgery {
    uint64_t trials, forged, accepted;
    double chance; /* rate for arbitrary keys */
};
bool attack_forge(struct attack a, uint64_t items, double rate, uint64_t trials,
                  struct forgery *out);

/* Keys chosen to set as many bits as they can: the false-positive rate after the planned number of
 * keys, and the rate with keys that nobody chose. */
struct pollution {
    double rate, chance;
    double deviation; /* standard deviation of `chance` among filters */
};
bool attack_pollute(struct attack a, struct pollution *out);

/* Keys chosen to pile up in an eighth of a cuckoo filter, or in a 1,024th of a growing one. Adds
 * continue until one is refused, at most `planned`. */
struct flood {
    uint64_t accepted, planned;
    uint64_t chance; /* how many keys that nobody chose were accepted */
};
bool attack_flood(struct attack a, uint32_t kind, struct flood *out);

/* False positives, found by asking the victim, and asked again: of the unchanged filter, and of an
 * exact filter that excludes them. */
struct replay {
    uint64_t asked, found, again, again_told;
};
bool attack_replay(struct attack a, uint64_t items, double rate, uint64_t asked,
                   struct replay *out);

/* Keys that share the counters of a key that never occurred, one for each row, raised by `updates`
 * in all. */
struct cover {
    tamis_estimate before, target;
    uint64_t offline; /* hashes computed */
};
bool attack_cover(struct attack a, uint64_t updates, struct cover *out);

/* The same by somebody who does not know the hash, and finds such keys by adding some and querying
 * the target each time. */
struct asking {
    tamis_estimate before, target;
    uint64_t tried; /* keys, each added and followed by a query */
};
bool attack_ask(struct attack a, uint64_t updates, struct asking *out);

#endif
