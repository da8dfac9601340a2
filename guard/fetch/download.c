#include "download.h"

#include "../version/manifest.h"
#include "curl.h"

#include <tamis/tamis.h>

#include <errno.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#define MOST_REDIRECTS 5L
#define CONNECT_SECONDS 30L
/* A transfer that is slower than this for a twentieth of its time, but at most for half a minute,
 * ends. At this speed, the default time is enough for 600 kB, which is less than most lists. */
#define SLOWEST 1000L /* bytes a second */
#define SLOW_SHARE 20u
#define SLOW_SECONDS 30u
/* libcurl keeps the fields of all heads in memory. */
#define MOST_HEAD_BYTES 65536u

struct transfer {
    struct guard_download *d;
    CURL *curl;
    size_t head_bytes;
    bool secure;         /* a server was reached by HTTPS */
    const char *refusal; /* why a callback ended the transfer, or NULL */
    long odd_status;     /* of an answer whose body was not taken; 0: none */
};

/* --- While it runs ---------------------------------------------------------------------------- */

/* Ends the transfer: less was taken than was offered. */
static size_t end_transfer(struct transfer *t, const char *why)
{
    t->refusal = why;
    return 0;
}

static size_t on_head(char *line, size_t one, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    char *scheme = NULL;
    (void)line;
    curl_easy_getinfo(t->curl, CURLINFO_SCHEME, &scheme);
    const bool secure = scheme != NULL && strcasecmp(scheme, "https") == 0;
    if (t->secure && !secure) return end_transfer(t, "it was redirected from HTTPS to HTTP");
    t->secure = secure;
    t->head_bytes += n;
    if (t->head_bytes > MOST_HEAD_BYTES)
        return end_transfer(t, "the head of the answer does not end");
    return one * n;
}

static long status_of(const struct transfer *t)
{
    long status = 0;
    curl_easy_getinfo(t->curl, CURLINFO_RESPONSE_CODE, &status);
    return status;
}

static size_t on_bytes(char *bytes, size_t one, size_t n, void *ctx)
{
    struct transfer *t = ctx;
    const long status = status_of(t);
    if (status != 200) { /* the page of an error, of which the status is enough */
        t->odd_status = status;
        return 0;
    }
    if (n > t->d->max_bytes - t->d->bytes)
        return end_transfer(t, "it is larger than --max-bytes allows");
    for (size_t done = 0; done < n;) {
        const ssize_t wrote = write(t->d->fd, bytes + done, n - done);
        if (wrote < 0 && errno == EINTR) continue;
        if (wrote < 0) return end_transfer(t, strerror(errno));
        done += (size_t)wrote;
    }
    t->d->bytes += n;
    return one * n;
}

static int on_progress(void *ctx, curl_off_t total, curl_off_t now, curl_off_t up_total,
                       curl_off_t up)
{
    struct transfer *t = ctx;
    (void)up_total;
    (void)up;
    if (t->d->progress == NULL ||
        t->d->progress(t->d->ctx, now > 0 ? (uint64_t)now : 0, total > 0 ? (uint64_t)total : 0))
        return 0;
    end_transfer(t, "interrupted");
    return 1;
}

/* --- Before ----------------------------------------------------------------------------------- */

static unsigned slow_seconds(unsigned seconds)
{
    const unsigned share = seconds / SLOW_SHARE;
    if (share > SLOW_SECONDS) return SLOW_SECONDS;
    return share > 0 ? share : 1;
}

static bool add_field(struct curl_slist **fields, const char *name, const char *value)
{
    char line[GUARD_TAG_SIZE + 32];
    if (*value == '\0') return true;
    snprintf(line, sizeof line, "%s: %s", name, value);
    struct curl_slist *more = curl_slist_append(*fields, line);
    if (more == NULL) return false;
    *fields = more;
    return true;
}

/* Trusts these certificates instead of the system's. libcurl may know both a file and a directory
 * of the latter, and uses both. */
static bool set_certificates(CURL *c, const char *cacert)
{
    return cacert == NULL || (curl_easy_setopt(c, CURLOPT_CAINFO, cacert) == CURLE_OK &&
                              curl_easy_setopt(c, CURLOPT_CAPATH, NULL) == CURLE_OK);
}

/* The rules for servers: which protocols, how fast, how much, which certificates. */
static bool set_rules(struct transfer *t)
{
    const struct guard_download *d = t->d;
    CURL *c = t->curl;
    /* From HTTPS only to HTTPS. on_head also knows redirects that lead there and back. */
    const bool secure = strncasecmp(d->url, "https:", 6) == 0;
    return curl_easy_setopt(c, CURLOPT_PROTOCOLS_STR, "http,https") == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_REDIR_PROTOCOLS_STR, secure ? "https" : "http,https") ==
               CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_FOLLOWLOCATION, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_MAXREDIRS, MOST_REDIRECTS) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_SSL_VERIFYPEER, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_SSL_VERIFYHOST, 2L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2) == CURLE_OK &&
           set_certificates(c, d->cacert) &&
           curl_easy_setopt(c, CURLOPT_CONNECTTIMEOUT, CONNECT_SECONDS) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_TIMEOUT, (long)d->seconds) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_LOW_SPEED_LIMIT, SLOWEST) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_LOW_SPEED_TIME, (long)slow_seconds(d->seconds)) ==
               CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_NOSIGNAL, 1L) == CURLE_OK;
}

static bool set_up(struct transfer *t, struct curl_slist **fields, char *reason)
{
    const struct guard_download *d = t->d;
    CURL *c = t->curl;
    /* The body is not decoded here: the reader of lists notices if compressed data is incomplete,
     * which libcurl does not, and limits its size. */
    return add_field(fields, "Accept-Encoding", "gzip") &&
           add_field(fields, "If-None-Match", d->tags.etag) &&
           add_field(fields, "If-Modified-Since", d->tags.modified) && set_rules(t) &&
           curl_easy_setopt(c, CURLOPT_URL, d->url) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_USERAGENT, "tamis/" TAMIS_VERSION_STRING) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_HTTPHEADER, *fields) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_ERRORBUFFER, reason) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_HEADERFUNCTION, on_head) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_HEADERDATA, t) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_WRITEFUNCTION, on_bytes) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_WRITEDATA, t) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_XFERINFOFUNCTION, on_progress) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_XFERINFODATA, t) == CURLE_OK &&
           curl_easy_setopt(c, CURLOPT_NOPROGRESS, 0L) == CURLE_OK;
}

/* --- After ------------------------------------------------------------------------------------ */

/* The value of a field of the last answer; NULL if it has none. */
static const char *field_of(const struct transfer *t, const char *name)
{
    struct curl_header *h;
    return curl_easy_header(t->curl, name, 0, CURLH_HEADER, -1, &h) == CURLHE_OK ? h->value : NULL;
}

/* Keeps a field that fits and is plain text, so that it can be sent back as it is. */
static void keep_tag(const struct transfer *t, const char *name, char to[GUARD_TAG_SIZE])
{
    const char *value = field_of(t, name);
    size_t n = 0;
    to[0] = '\0';
    if (value == NULL) return;
    while (value[n] >= ' ' && value[n] < 0x7f) n++;
    if (n < GUARD_TAG_SIZE && value[n] == '\0') memcpy(to, value, n + 1);
}

/* Whether the last transfer coding is "chunked". The codings may be in several fields. */
static bool ends_chunked(const struct transfer *t, const struct curl_header *first)
{
    struct curl_header *h;
    if (curl_easy_header(t->curl, first->name, first->amount - 1, CURLH_HEADER, -1, &h) !=
        CURLHE_OK)
        return false;
    const char *comma = strrchr(h->value, ',');
    const char *coding = comma != NULL ? comma + 1 : h->value;
    coding += strspn(coding, " \t");
    const size_t n = strcspn(coding, " \t");
    return n == 7 && strncasecmp(coding, "chunked", n) == 0;
}

/* Whether the end of the body can be told from a connection that broke. HTTP/2 marks it, and so do
 * chunks. The field "Content-Length" counts only where libcurl obeys it: not if there is any
 * transfer coding, and not if the number is too large. */
static bool has_known_length(const struct transfer *t)
{
    long version = 0;
    curl_off_t length = -1;
    struct curl_header *codings;
    curl_easy_getinfo(t->curl, CURLINFO_HTTP_VERSION, &version);
    if (version >= CURL_HTTP_VERSION_2_0) return true;
    if (curl_easy_header(t->curl, "Transfer-Encoding", 0, CURLH_HEADER, -1, &codings) == CURLHE_OK)
        return ends_chunked(t, codings);
    curl_easy_getinfo(t->curl, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T, &length);
    return length >= 0;
}

static bool judge_answer(const struct transfer *t, CURLcode code, const char *reason,
                         guard_error *why)
{
    struct guard_download *d = t->d;
    const long status = status_of(t);
    if (t->refusal != NULL) return guard_fail(why, "%s", t->refusal);
    if (t->odd_status != 0)
        return guard_fail(why, "the server answered with status %ld", t->odd_status);
    if (code != CURLE_OK)
        return guard_fail(why, "%s", *reason != '\0' ? reason : curl_easy_strerror(code));
    if (status == 304 && (d->tags.etag[0] != '\0' || d->tags.modified[0] != '\0')) {
        d->unchanged = true;
        return true;
    }
    if (status != 200) return guard_fail(why, "the server answered with status %ld", status);
    const char *encoding = field_of(t, "Content-Encoding");
    if (encoding != NULL && strcasecmp(encoding, "gzip") != 0 &&
        strcasecmp(encoding, "x-gzip") != 0 && strcasecmp(encoding, "identity") != 0)
        return guard_fail(why, "the server sent the encoding '%.40s', which nobody asked for",
                          encoding);
    if (!d->lenient && !has_known_length(t))
        return guard_fail(why, "the server did not state the length of the list, so its end may be "
                               "missing; --lenient accepts it");
    return true;
}

bool guard_download(struct guard_download *d, guard_error *why)
{
    char reason[CURL_ERROR_SIZE] = "";
    struct transfer t = {.d = d, .curl = curl_easy_init()};
    struct curl_slist *fields = NULL;
    d->bytes = 0;
    d->unchanged = false;
    bool good = t.curl != NULL && set_up(&t, &fields, reason);
    if (!good) {
        guard_fail(why, "libcurl refuses a setting%s%s", *reason != '\0' ? ": " : "", reason);
    } else {
        good = judge_answer(&t, curl_easy_perform(t.curl), reason, why);
        for (char *c = why->text; !good && *c != '\0'; c++)
            if ((unsigned char)*c < ' ') *c = ' '; /* one line */
    }
    if (good && !d->unchanged) {
        keep_tag(&t, "ETag", d->tags.etag);
        keep_tag(&t, "Last-Modified", d->tags.modified);
    }
    curl_easy_cleanup(t.curl);
    curl_slist_free_all(fields);
    return good;
}

bool guard_download_host(const char *url, char *host, size_t size, guard_error *why)
{
    CURLU *u = curl_url();
    char *scheme = NULL, *name = NULL;
    const bool good = u != NULL && curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK &&
                      curl_url_get(u, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                      curl_url_get(u, CURLUPART_HOST, &name, 0) == CURLUE_OK &&
                      (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0);
    if (good) snprintf(host, size, "%s", name);
    curl_free(scheme);
    curl_free(name);
    curl_url_cleanup(u);
    return good || guard_fail(why, "its address is not a valid http or https URL");
}
