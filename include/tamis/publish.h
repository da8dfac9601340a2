/* For publishing: packed files, which are smaller than images, and private releases, which protect
 * the privacy of their keys.
 *
 *     tamis_plan plan = {.struct_size = sizeof plan, .flags = TAMIS_TRANSFER,
 *                        .items = 1000000, .fpr = 0.01};
 *     ...
 *     tamis_save_options packed = {.struct_size = sizeof packed, .flags = TAMIS_SAVE_PACKED};
 *     tamis_save(t, "bad.packed", &packed, NULL);
 *
 * The rules at the top of tamis.h hold here, too. */
/* clang-format off */
#ifndef TAMIS_PUBLISH_H
#define TAMIS_PUBLISH_H

#include <tamis/tamis.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Packed files --------------------------------------------------------------------------------
 * A packed file encodes an image in fewer bytes if few of its bits are set. TAMIS_TRANSFER plans a
 * bloom filter for this: with more bits and fewer probes. The packed file then takes at most 1.25
 * times log2(1/fpr) bits per item, at rates of 1 % and below and from 100,000 items on (a plain
 * filter takes 1.44 times that). The plan chooses the shape that does this in the least memory: 100
 * bits per item at 1 %, 199 at 1e-4, but 1000 at 0.1 %. tamis_plan.bytes is the size of the image,
 * not of the packed file; a limit on it can make the packed file bigger. tamis_promise.packed_bytes
 * is the expected size of the packed file.
 *
 * Writes a packed image to a sink, as tamis_write does. It is at most 40 bytes, plus one for every
 * 64 KiB, bigger than the image. Every kind can be packed except private (TAMIS_EUNSUPPORTED). A
 * ribbon does not shrink, because it is near the lower bound already. Needs 130 KiB of memory, and
 * reads the cells twice: once for the checksums and once to encode them. */
TAMIS_API tamis_status tamis_pack(const tamis *t, tamis_sink put, void *ctx, tamis_error *why);

/* Opens a packed image in memory. The result is bit for bit the image that was packed. Hostile
 * bytes are safe, but an image may be 5462 times as long as its packed file (an empty one is), so
 * set options->max_bytes. After TAMIS_ECORRUPT, tamis_error.offset is a position in the image, or
 * in the packed file if that is incomplete. tamis_open, tamis_load and tamis_view do not accept
 * packed files, and their error says so. */
TAMIS_API tamis_status tamis_unpack(const void *packed, size_t size, const tamis_options *options,
                                    tamis **out, tamis_error *why);

/* --- Private releases ----------------------------------------------------------------------------
 * A release is a copy of a filter in which each bit was flipped with the same probability. It is an
 * epsilon-differentially private release of the set (docs/ACCURACY.md):
 *   - If two sets differ by one item, no release is more than e^epsilon times as likely from one as
 *     from the other. Exchanging an item for another costs 2 epsilon. A person who has r items in
 *     the set bears a cost of r epsilon.
 *   - This holds for a single release. Each call draws new random bits, so n releases of a set and
 *     its later versions cost n epsilon together. Keep the first release and hand out copies of it
 *     (tamis_write), as the command does.
 *   - m, seed and key id are published as they are. They must not depend on the data, as they would
 *     in a plan for exactly the present number of keys. Apart from these and the flipped bits,
 *     nothing comes from the source: not its plan, its number of items or its generation.
 *
 * Makes a release from a bloom filter with k = 1. Fails with TAMIS_EUNSUPPORTED for all other
 * filters, with TAMIS_EINVAL unless 0.001 <= epsilon <= 16, and with TAMIS_EIO if the system
 * provides no random bits.
 *
 * The result has the kind TAMIS_PRIVATE and is sealed. It can miss: tamis_may_contain reports only
 * the key's bit, which is evidence and not a verdict. The bit is clear for a member with
 * probability tamis_facts.miss_rate, which is 1 / (1 + e^epsilon) or slightly more. It is set for a
 * non-member with probability tamis_facts.fpr_now. tamis_probability turns the bit into a
 * probability that the key is a member. tamis_facts.items_estimate and its interval account for the
 * noise. A release cannot be added to, merged or packed, and neither the URL guard nor the Redis
 * module accepts it. */
TAMIS_API tamis_status tamis_release(const tamis *from, double epsilon, tamis **out,
                                     tamis_error *why);

/* Computes the probability that a key is a member, from its bit in a release and from the prior:
 * the probability that you assumed before, above 0 and below 1 (TAMIS_EINVAL). With a prior of 0.5,
 * which assumes nothing, a result above 0.5 speaks for the key and one below 0.5 against it. No
 * answer changes the odds by more than a factor of e^epsilon. Fails with TAMIS_EUNSUPPORTED for
 * kinds other than private. Each call reads every cell once; for many keys use tamis_hash_many and
 * tamis_probability_hashes. */
TAMIS_API tamis_status tamis_probability(const tamis *t, const void *key, size_t len, double prior,
                                         double *out, tamis_error *why);
/* The same for n hashes, with one pass over the cells; out has room for n probabilities. */
TAMIS_API tamis_status tamis_probability_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                                double prior, double *out, tamis_error *why);

typedef struct tamis_evidence {
    size_t struct_size;            /* sizeof(tamis_evidence)                                      */
    double yes, yes_low, yes_high; /* for keys for which tamis_may_contain returns true           */
    double no, no_low, no_high;    /* for all other keys                                          */
} tamis_evidence;
#define TAMIS_EVIDENCE_INIT TAMIS_INIT(tamis_evidence)
/* Computes the two probabilities that tamis_probability can return for a prior. They would be exact
 * if the number of items were known. It is known only within a 99 % confidence interval
 * (tamis_facts.items_low and items_high), so each probability has a 99 % interval as well, which is
 * narrow except for small filters. Needs no secret key. Costs and fails like tamis_probability. */
TAMIS_API tamis_status tamis_evidence_of(const tamis *t, double prior, tamis_evidence *out,
                                         tamis_error *why);

/* --- Files beside a filter -----------------------------------------------------------------------
 * Writes any n bytes to a file, as atomically and durably as tamis_save writes an image. Accepts
 * the same options, except TAMIS_SAVE_PACKED (TAMIS_EINVAL). */
TAMIS_API tamis_status tamis_write_file(const char *path, const void *bytes, size_t n,
                                        const tamis_save_options *options, tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
