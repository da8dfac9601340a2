/* From the text of a block to its lines or records, and to their keys, groups and weights. Threads
 * split different blocks at the same time. */
#ifndef TAMIS_CLI_SPLIT_H
#define TAMIS_CLI_SPLIT_H

#include "json_value.h"
#include "lines.h"

/* Which fields of a record are read. */
enum role { KEY, GROUP, WEIGHT, ROLES };

/* How the input is read; the same for all blocks. */
struct form {
    const struct line_args *how;
    enum { LINES, CSV, JSON } format;
    char end; /* of a line */
    int delimiter;
    bool apart;  /* keys are not the lines themselves */
    bool fields; /* some are read */
    struct json_path paths[ROLES];
};
void form_of(const struct line_args *how, struct form *out);

/* The numbers of the fields, from 1; 0: it is not read. Headers of files may differ. */
struct columns {
    uint64_t of[ROLES];
};

/* Why a line was left out. */
enum skip {
    KEPT,
    TOO_FEW,    /* fields */
    BAD_WEIGHT, /* it is not a number */
    NOT_VALID,  /* as CSV or JSON */
    RETURN,     /* --strict-input: a key ends with a carriage return */
    NO_VALUE,   /* JSON: it is missing, or null */
    NO_TEXT,    /* JSON: it is an object or an array */
    HALF_PAIR,  /* JSON: its text has half of a surrogate pair, which is not a character */
    BLANK,      /* CSV, JSON: nothing at all, which is not worth a word */
    SKIPS
};
struct skipped {
    uint64_t n;
    tamis_bytes at; /* the first one: where, and what is quoted in a message */
    const char *reason;
};

struct portion {
    struct block block;
    char *text;
    size_t size, room;
    size_t split; /* how much of the text is split; the rest has too many lines for one block */
    size_t room_lines;
    struct columns columns;
    uint64_t all, ends; /* the number of records that were read, and of line ends in them */
    struct skipped skipped[SKIPS][ROLES];
    enum role role;          /* of the field that was read last */
    enum skip refused;       /* --strict-input: why nothing after the block is read */
    tamis_bytes with_return; /* the first line whose key ends with a carriage return, or NULL */
    bool failed;             /* not enough memory */
    char *spare;             /* for keys that differ from their text */
    size_t spare_used, spare_room;
};

/* Splits up to `most` records, from split on, into block. The text ends with a line end. */
void split(const struct form *f, struct portion *s, size_t most, bool hashes);
void portion_free(const struct form *f, struct portion *s);

/* Where and why a record is not CSV. */
struct fault {
    const char *at, *reason;
};

/* Field n of a record of CSV or of a line, from 1; false when it has fewer, or if fault->reason is
 * not NULL. A header is read by it. to has room for as many bytes as the record. *end becomes the
 * end of the record. */
bool header_field(const struct form *f, const char *record, const char *stop, uint64_t n, char *to,
                  tamis_bytes *out, const char **end, struct fault *fault);

#endif
