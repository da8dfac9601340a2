/* One HTTP transfer. It knows nothing about lists. */
#ifndef GUARD_DOWNLOAD_H
#define GUARD_DOWNLOAD_H

#include "../version/guard.h"

#define GUARD_TAG_SIZE 256 /* of an ETag or a date, with its NUL; a longer one is not kept */

/* What a server says about a version of a resource; empty where it says nothing. */
struct guard_tags {
    char etag[GUARD_TAG_SIZE], modified[GUARD_TAG_SIZE];
};

struct guard_download {
    const char *url, *cacert;
    struct guard_tags tags; /* of the version that the caller has; afterwards, of what was sent */
    uint64_t max_bytes;
    unsigned seconds;
    bool lenient; /* accepts a body whose length the server did not state */
    int fd;       /* where the body goes */
    bool (*progress)(void *ctx, uint64_t bytes, uint64_t total);
    void *ctx;
    uint64_t bytes; /* of the body */
    bool unchanged; /* "not modified": there is no body */
};

/* The body may be compressed with gzip and is written as it arrives. Fails unless it is known to be
 * complete. Follows redirects, but never from HTTPS to HTTP. */
bool guard_download(struct guard_download *d, guard_error *why);

/* Finds the host of a URL. Fails if the URL is not a valid http or https one. */
bool guard_download_host(const char *url, char *host, size_t size, guard_error *why);

#endif
