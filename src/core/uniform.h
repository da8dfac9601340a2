/* Whether hashes that a caller brought look uniform. Every kind takes 128 uniform bits for granted,
 * and none notices when they are not: a 64-bit hash given as {h, 0} puts all keys into one line of
 * a blocked filter, and given as {h, h} it makes the equations of a ribbon so dependent that every
 * key solves them. The answers are then "maybe" far more often than is reported.
 *
 * What is looked for is what mistakes look like: bits that never change (a half that is constant,
 * numbers that are small, pointers, text), halves that are equal or opposite, and, before a static
 * kind is sealed, halves of which one is a linear function of the other (rotated, reversed,
 * shifted, a CRC of the other). {h, mix(h)}, with a mix that is not linear, passes. Repeated keys
 * are no sign of anything, so only different hashes count. */
#ifndef TAMIS_UNIFORM_H
#define TAMIS_UNIFORM_H

#include <tamis/tamis.h>

struct tamis;
struct section;

/* What is kept of hashes, by "or" alone: so threads may add to one at once, in any order. */
struct hash_sample {
    uint64_t ones[3], zeros[3]; /* bits of lo, hi and lo ^ hi that were 1, and 0, in some hash */
    uint64_t places[2]; /* the 128 places that hashes fell into: at least so many were different */
};

/* Of a handle: the hashes of calls with few of them, together, and what was found. */
struct hash_watch {
    struct hash_sample sample;
    bool settled; /* enough of them were seen, and nothing was wrong */
    bool suspect;
};

/* UNIFORM: enough hashes to find every mistake above, and none was found. */
enum verdict { TAMIS__UNDECIDED, TAMIS__UNIFORM, TAMIS__SUSPECT };

/* The modules of web/ are only given keys. */
#if !defined TAMIS_LEAN && !defined TAMIS_NO_TOP
#define TAMIS__WATCHES
#endif

#ifdef TAMIS__WATCHES
/* To be called with all hashes of a call that were added or excluded. Of 64 or more the first 32 are
 * looked at, of fewer all until enough were seen. */
void tamis__watch_hashes(struct tamis *t, const tamis_hash *h, size_t n);

/* Looks at up to 256 hashes of a collection, evenly spaced, so that whoever chooses some of the keys
 * cannot make them look suspect. */
enum verdict tamis__judge_collection(const struct section *s);
#else
#define tamis__watch_hashes(t, h, n) ((void)(t), (void)(h), (void)(n))
#define tamis__judge_collection(s) ((void)(s), TAMIS__UNDECIDED)
#endif

#endif
