/* Downloads lists of bad URLs into a directory, from which guard_build takes them.
 *
 *     LABEL.txt      the list, as the server sent it; it may be compressed
 *     LABEL.state    what the server said about it (ETag, Last-Modified), and the SHA-256 sums of
 *                    the list and of its address
 *
 * A server answers "not modified" only about a list that is still the one it sent. The list is
 * replaced first and the state afterwards, each atomically and durably. After a crash between the
 * two, the sums do not match, and the next download is unconditional.
 *
 * A download that fails in any way leaves the list alone. So does one that is probably not the
 * list: it has no entry, more invalid lines than entries, or fewer than half as many entries as the
 * list that it would replace. */
#ifndef GUARD_FETCH_H
#define GUARD_FETCH_H

#include "../version/guard.h"

/* --- Where lists come from (sources.c) -------------------------------------------------------- */

typedef struct guard_source {
    char label[GUARD_LABEL_SIZE];
    char *url; /* may contain a password or a token, so it is never printed */
} guard_source;

typedef struct guard_sources {
    guard_source at[GUARD_LABELS];
    size_t n;
} guard_sources;

/* Adds LABEL=URL. A label consists of letters, digits, - and _, because it names a file. */
bool guard_sources_add(guard_sources *s, const char *word, guard_error *why);
/* Adds the sources of a file: lines with a label, blanks and a URL. Empty lines and lines that
 * begin with # are skipped. A file without any source is an error. */
bool guard_sources_read(guard_sources *s, const char *path, guard_error *why);
/* Reports whether the first n bytes can be a label. */
bool guard_source_label(const char *text, size_t n);
void guard_sources_free(guard_sources *s);

/* --- Downloading (fetch.c) -------------------------------------------------------------------- */

typedef struct guard_fetch_request {
    const char *directory; /* is created if it does not exist */
    uint64_t max_bytes;    /* limit for a list, both as it is sent and unpacked; 0 means 256 MiB */
    unsigned seconds;      /* limit for one download; 0 means 600 */
    /* Accepts what is probably not the list, and a body whose length the server did not state. */
    bool lenient;
    const char *cacert;         /* file of certificates to trust; NULL means those of the system */
    const guard_reader *reader; /* as in guard_request */
    /* Called now and then with the bytes that have arrived and their total number, or 0 if that is
     * unknown. It stops the download by returning false. */
    bool (*progress)(void *ctx, uint64_t bytes, uint64_t total);
    void *ctx;
} guard_fetch_request;

typedef struct guard_fetched {
    char host[256];           /* the server in the URL; empty if the URL cannot be read */
    bool had;                 /* there was a list before */
    bool fresh;               /* there is a new one, also after a failure; otherwise unchanged */
    uint64_t bytes;           /* of a fresh list: its size, */
    uint64_t entries, before; /* its distinct entries, those of the list that it replaced, */
    uint64_t rejects;         /* and its invalid lines */
} guard_fetched;

/* Brings one list up to date. After a failure the list and its state are what they were, with one
 * exception: if a new list is in place and its state cannot be written, `fresh` is set. Such a list
 * does not match its state, so the next download is unconditional. */
bool guard_fetch(const guard_fetch_request *r, const guard_source *s, guard_fetched *out,
                 guard_error *why);

/* Removes the lists that guard_fetch once wrote to the directory and that no source names: those
 * with a state of guard_fetch beside them. Other files stay. `gone` is called for each. */
bool guard_fetch_prune(const char *directory, const guard_sources *s,
                       void (*gone)(void *ctx, const char *label), void *ctx, guard_error *why);

#endif
