/* The lines that were skipped, by reason and by the field that has the fault, and the messages
 * about them. */
#ifndef TAMIS_CLI_FAULTS_H
#define TAMIS_CLI_FAULTS_H

#include "split.h"

/* How many lines were skipped for one reason, and the first of them. */
struct fault_class {
    uint64_t n, line, column;
    uint64_t wanted; /* the number of the field; 0: it has none */
    const char *path, *reason;
    char text[41];
};
struct faults {
    struct fault_class of[SKIPS][ROLES];
};

/* The number of lines, without blank ones. */
uint64_t faults_number(const struct faults *f);
/* The message about the line that --strict-input refuses. */
void faults_refuse(const struct form *form, const struct faults *f, enum skip why, enum role role);
/* The message that no line has a key, with the most frequent reason. */
void faults_report_no_key(const struct form *form, const struct faults *f);
/* One message for each reason. */
void faults_report(const struct form *form, const struct faults *f);

#endif
