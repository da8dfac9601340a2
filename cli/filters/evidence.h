/* check with a private filter. It has no verdict about a line, so each line is printed after the
 * probability that it is a member. */
#ifndef TAMIS_CLI_EVIDENCE_H
#define TAMIS_CLI_EVIDENCE_H

#include "../commands/label.h"

#include <tamis/publish.h>

struct evidence {
    double prior; /* 0: the filter is not private */
    tamis_evidence worth;
    uint64_t lines[2]; /* with a clear bit, and with a set bit */
};

/* Computes what the answers are worth if the filter is private. False after a message, when an
 * option asks for a verdict, or --prior is given for another kind. */
bool evidence_open(struct evidence *e, const struct args *a, const tamis *t);
/* Counts the lines of a block and, unless only totals are wanted, prints them. */
void evidence_add(struct evidence *e, const struct args *a, const struct block *b,
                  const uint8_t *bits, struct label *label);
/* --json: the number of lines for each answer, with its probability and interval. */
void evidence_report(const struct evidence *e);

#endif
