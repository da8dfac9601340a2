/* check of a private filter, which has no verdict on a line: each is printed after the probability
 * that it is in. */
#ifndef TAMIS_CLI_EVIDENCE_H
#define TAMIS_CLI_EVIDENCE_H

#include "../commands/label.h"

#include <tamis/publish.h>

struct evidence {
    double prior; /* 0: the filter is of another kind */
    tamis_evidence worth;
    uint64_t lines[2]; /* whose bits are not set, and are */
};

/* What the filter's answers are worth, if it is a private one. False after a message: options that
 * ask for a verdict, or --prior for another kind. */
bool evidence_open(struct evidence *e, const struct args *a, const tamis *t);
/* Lines whose bits are so: counted and, unless totals are wanted, printed. */
void evidence_add(struct evidence *e, const struct args *a, const struct block *b,
                  const uint8_t *bits, struct label *label);
/* --json: how many lines have which probability, with its interval. */
void evidence_report(const struct evidence *e);

#endif
