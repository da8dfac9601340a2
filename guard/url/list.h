/* Lines of lists of bad URLs, in the forms that such lists use:
 *
 *     http://evil.example/login?x=1    a URL: this page
 *     evil.example/login/              the same without a scheme: everything below this folder
 *     evil.example                     a host: this host and all hosts below it
 *     0.0.0.0 evil.example             the same in a hosts file, after a null address
 *     ||evil.example^                  the same in a filter list
 *     # or ! and a comment             nothing, like a blank line
 *
 * As in Safe Browsing, an entry whose path ends in a slash covers everything below it, so
 * http://evil.example/ covers the whole host. Every entry also covers the hosts below its own, with
 * any scheme and any port. Deep entries cover less; see guard_url_depth.
 *
 * A line in any other form is rejected with a reason. It is never read as something similar,
 * because a part of a pattern, of a rule with options or of an exception would cover more than the
 * whole. */
#ifndef GUARD_LIST_H
#define GUARD_LIST_H

#include "url.h"

typedef enum guard_line_kind {
    /* A blank line, a comment, a heading, or a name of the machine itself in a hosts file. */
    GUARD_LINE_NOTHING,
    GUARD_LINE_ENTRY,
    GUARD_LINE_REJECT
} guard_line_kind;

typedef struct guard_line {
    guard_line_kind kind;
    guard_span expression; /* for an entry: what to hash and list, in the caller's buffer */
    unsigned deep;         /* for an entry: guard_url_depth */
    const char *reason;    /* for a rejected line: one line of text, a constant */
} guard_line;

/* Reads one line, with or without its line end. `room` and `idn` are as for guard_url_canonical:
 * len bytes never need more than GUARD_URL_ROOM(len). */
guard_line guard_list_line(const void *bytes, size_t len, guard_url_idn *idn, char *room,
                           size_t size);

#endif
