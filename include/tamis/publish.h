/* For publishing: images as smaller files, and releases that protect the privacy of their keys.
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
 * bloom filter for this: it has more bits and fewer probes, so that the packed file is within 1.25
 * times the lower bound at 1 % and below, from 100,000 items on (a plain filter: 1.44). It takes
 * the smallest shape in memory that does this: 100 bits per item at 1 %, 199 at 1e-4, but 1000 at
 * 0.1 %. The plan's bytes are those of the image, not of the packed file; used as a limit, they can
 * make the file bigger. tamis_promise.packed_bytes is the expected size of the file.
 *
 * Writes a packed image to a sink, as tamis_write does. The result is never more than 40 bytes,
 * plus one for every 64 KiB, bigger than the image. Every kind can be packed, except private
 * (TAMIS_EUNSUPPORTED); a ribbon is at the lower bound already and does not shrink. Needs 130 KiB
 * of memory, and reads the cells twice: once for the checksums and once to encode them. */
TAMIS_API tamis_status tamis_pack(const tamis *t, tamis_sink put, void *ctx, tamis_error *why);

/* Opens a packed image in memory, bit for bit the one that was packed. Hostile bytes are safe, but
 * an image may be 5462 times as long as its packed file (an empty one is): set options->max_bytes.
 * tamis_error.offset is within the image, or within the packed file if that is not whole.
 * tamis_open, tamis_load and tamis_view do not accept packed files and report it. */
TAMIS_API tamis_status tamis_unpack(const void *packed, size_t size, const tamis_options *options,
                                    tamis **out, tamis_error *why);

/* --- Private releases ----------------------------------------------------------------------------
 * A release is a copy of a filter in which each bit was flipped with the same probability. It is an
 * epsilon-differentially private release of the set (docs/ACCURACY.md):
 *   - If two sets differ by one item, no release is more than e^epsilon times as likely from one as
 *     from the other. Exchanging an item costs 2 epsilon; a person with r items in the set, r
 *     epsilon.
 *   - This holds for a single release. Each call draws new random bits, so n releases of a set and
 *     its later versions cost n epsilon together. Keep the first release and hand out copies of it
 *     (tamis_write), as the command does.
 *   - m, seed and key id are published as they are. They must not be chosen by looking at the data,
 *     as a plan for exactly the present number of keys would be. Nothing else but the flipped bits
 *     comes from the source: not its plan, its number of items or its generation.
 *
 * Makes a release from a bloom filter with k = 1 (others: TAMIS_EUNSUPPORTED), with 0.001 <=
 * epsilon <= 16. Fails with TAMIS_EIO where the system has no random bits.
 *
 * The result has the kind TAMIS_PRIVATE and is sealed. It can miss: tamis_may_contain reports only
 * the key's bit, which is not a verdict. The bit is clear for a member with probability
 * tamis_facts.miss_rate, which is 1 / (1 + e^epsilon) or slightly more, and set for a non-member
 * with probability fpr_now. What this says about a key is a probability: see below. items_estimate
 * and its interval account for the noise. A release cannot be added to, merged or packed, and
 * neither the URL guard nor the Redis module accepts it. */
TAMIS_API tamis_status tamis_release(const tamis *from, double epsilon, tamis **out,
                                     tamis_error *why);

/* Computes the probability that a key is a member, from its bit and the prior: the probability that
 * you assumed before, above 0 and below 1. With 0.5, which assumes nothing, a result above 0.5
 * speaks for the key and one below 0.5 against it. No answer changes the odds by more than
 * e^epsilon. Only for private filters (TAMIS_EUNSUPPORTED). Reads every cell once per call, so
 * query many keys at a time. */
TAMIS_API tamis_status tamis_probability(const tamis *t, const void *key, size_t len, double prior,
                                         double *out, tamis_error *why);
/* The same for n hashes; out has room for n probabilities. */
TAMIS_API tamis_status tamis_probability_hashes(const tamis *t, const tamis_hash *h, size_t n,
                                                double prior, double *out, tamis_error *why);

typedef struct tamis_evidence {
    size_t struct_size;            /* sizeof(tamis_evidence)                                      */
    double yes, yes_low, yes_high; /* for keys for which tamis_may_contain returns true           */
    double no, no_low, no_high;    /* for all other keys                                          */
} tamis_evidence;
/* Computes the two probabilities that tamis_probability can return, for a prior. They would be
 * exact if the number of items were known. The bits determine it within a 99 % confidence interval
 * (items_low, items_high of tamis_facts), so each probability has one as well; it is narrow except
 * for small filters. Requires no secret key. Otherwise like tamis_probability. */
TAMIS_API tamis_status tamis_evidence_of(const tamis *t, double prior, tamis_evidence *out,
                                         tamis_error *why);

/* --- Files beside a filter -----------------------------------------------------------------------
 * Writes any n bytes to a file, as atomically and durably as tamis_save writes an image. The
 * options are the same except TAMIS_SAVE_PACKED (TAMIS_EINVAL). */
TAMIS_API tamis_status tamis_write_file(const char *path, const void *bytes, size_t n,
                                        const tamis_save_options *options, tamis_error *why);

#ifdef __cplusplus
}
#endif
#endif
