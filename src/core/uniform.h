/* Checks whether the hashes that a caller supplies look uniform. Every kind relies on 128 uniform
 * bits, and none notices if they are not. A 64-bit hash passed as {h, 0} puts all keys into one
 * line of a blocked filter; passed as {h, h}, it makes the equations of a ribbon so dependent that
 * every key solves them. Then the answer is "maybe" far more often than is reported.
 *
 * The checks look for typical mistakes:
 * - bits that never change: a constant half, small numbers, pointers, text;
 * - halves that are equal or complementary;
 * - before a sealed kind is sealed, a half that is a linear function of the other: rotated,
 *   reversed, shifted, or its CRC.
 *
 * {h, mix(h)} passes if mix is not linear. Repeated keys are not a mistake, so only distinct hashes
 * count. */
#ifndef TAMIS_UNIFORM_H
#define TAMIS_UNIFORM_H

#include <tamis/tamis.h>

struct tamis;
struct section;

/* A summary of hashes. It changes only by OR, so threads may add to it at the same time and in any
 * order. */
struct hash_sample {
    uint64_t ones[3], zeros[3]; /* bits of lo, hi and lo ^ hi that were 1, and 0, in some hash */
    uint64_t places[2]; /* which of 128 places have a hash; at least as many were distinct */
};

/* For each handle: what was found in all hashes of small calls. */
enum hash_watch {
    TAMIS__WATCHING, /* their summary is kept */
    TAMIS__SETTLED,  /* enough of them were seen */
    TAMIS__SUSPICIOUS
};

/* UNIFORM: there were enough hashes to find every mistake above, and none was found. */
enum verdict { TAMIS__UNDECIDED, TAMIS__UNIFORM, TAMIS__SUSPECT };

/* The modules of web/ take keys, and no hashes. */
#if !defined TAMIS_LEAN && !defined TAMIS_NO_TOP
#define TAMIS__WATCHES
#endif

#ifdef TAMIS__WATCHES
/* Must be called with all hashes of a call that were added or excluded. If there are 64 or more, it
 * looks at the first 32. If there are fewer, it looks at all of them until enough were seen. */
void tamis__watch_hashes(struct tamis *t, const tamis_hash *h, size_t n);

/* Looks at up to 256 evenly spaced hashes of a collection. So an attacker who chooses some of the
 * keys cannot make them look suspect. */
enum verdict tamis__judge_collection(const struct section *s);
#else
#define tamis__watch_hashes(t, h, n) ((void)(t), (void)(h), (void)(n))
#define tamis__judge_collection(s) ((void)(s), TAMIS__UNDECIDED)
#endif

#endif
