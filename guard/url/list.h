/* Lines of lists of bad URLs, in the forms that such lists come in:
 *
 *     http://evil.example/login?x=1       a URL: this page
 *     evil.example/login/                 the same without a scheme: all below this folder
 *     evil.example                        a host: it and all hosts below it
 *     0.0.0.0 evil.example                the same in a hosts file, after an address that leads nowhere
 *     ||evil.example^                     the same in a filter list
 *     # or ! and a comment                nothing, as is a blank line
 *
 * As in Safe Browsing, what ends in a slash stands for all below it, http://evil.example/ for the
 * whole host; and every entry is about the hosts below its own as well, whatever the scheme and the
 * port.
 *
 * A line that is none of these is rejected with a reason, and never taken for something near: of a
 * pattern, a rule with options or an exception, a part would say more than the whole. */
#ifndef GUARD_LIST_H
#define GUARD_LIST_H

#include "url.h"

typedef enum guard_line_kind {
    GUARD_LINE_NOTHING, /* blank, a comment, a heading, or a name of the machine itself in a hosts file */
    GUARD_LINE_ENTRY,
    GUARD_LINE_REJECT
} guard_line_kind;

typedef struct guard_line {
    guard_line_kind kind;
    guard_span expression; /* of an entry: what to hash and list, in the caller's buffer */
    const char *reason;    /* of a reject: one line, a constant */
} guard_line;

/* Reads one line, with or without its end. `room` and `idn` are as for guard_url_canonical: len
 * bytes never need more than GUARD_URL_ROOM(len). */
guard_line guard_list_line(const void *bytes, size_t len, guard_url_idn *idn, char *room,
                           size_t size);

#endif
