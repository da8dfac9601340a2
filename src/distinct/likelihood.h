/* How many distinct keys explain the registers of a `distinct` sketch best. docs/ACCURACY.md
 * derives it. */
#ifndef TAMIS_LIKELIHOOD_H
#define TAMIS_LIKELIHOOD_H

#include "../core/occupancy.h"
#include "registers.h"

/* All that the likelihood of m registers depends on: for each level, how many values of it have
 * been received, and how many have certainly not been received, summed over all registers. */
#define TAMIS__EVIDENCE_LEVELS 65u
struct evidence {
    uint64_t registers;
    uint64_t received[TAMIS__LEVELS], missing[TAMIS__LEVELS];
    /* How many registers have each greatest value, which tamis__evidence_close turns into
     * `missing`. */
    uint64_t greatest[256];
    /* Values received that were not yet added up, by the level of the least value that a register
     * knows. */
    uint64_t packed[TAMIS__EVIDENCE_LEVELS];
    uint8_t pending[TAMIS__EVIDENCE_LEVELS];
};

/* Start with none, add every register, and close it. */
void tamis__evidence_add(struct evidence *e, uint32_t r);
void tamis__evidence_close(struct evidence *e);

/* The most likely number of keys, corrected for its bias, and the interval of z standard
 * deviations. It is infinite if every register is saturated. */
struct estimate tamis__most_likely(const struct evidence *e, double z);

/* The probability that another key leaves all registers as they are. */
double tamis__unchanged_share(const struct evidence *e);

#endif
