#include "fetch.h"

#include "../version/lists.h"
#include "../version/manifest.h"
#include "curl.h"
#include "download.h"
#include "state.h"

#include <tamis/publish.h>

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_BYTES ((uint64_t)256 << 20)
#define DEFAULT_SECONDS 600u
#define STATE_ENDING ".state"

/* The work on one list. */
struct fetching {
    const guard_fetch_request *request;
    const guard_source *source;
    uint64_t max_bytes;
    char *list, *state; /* paths */
    char url_sum[2 * GUARD_HASH_SIZE + 1];
    guard_part old;  /* the list that is there; zero if there is none */
    int fd;          /* what was downloaded, in memory */
    char memory[32]; /* its path */
    guard_fetched *out;
    guard_error *why;
};

static char *path_of(const char *directory, const char *label, const char *ending)
{
    char name[GUARD_LABEL_SIZE + 8];
    snprintf(name, sizeof name, "%s%s", label, ending);
    return guard_path(directory, name);
}

static void sum_text(const char *text, char out[2 * GUARD_HASH_SIZE + 1])
{
    uint8_t hash[GUARD_HASH_SIZE];
    guard_hash((guard_span){text, strlen(text)}, hash);
    for (size_t i = 0; i < sizeof hash; i++) snprintf(out + 2 * i, 3, "%02x", hash[i]);
}

/* --- What the server said last time ----------------------------------------------------------- */

/* Reads what is known about the list that is there. Without a state that belongs to this list and
 * this URL, nothing is: the list is then downloaded unconditionally. */
static struct guard_tags recall_fetch(const struct fetching *f)
{
    const struct guard_tags nothing = {"", ""};
    struct guard_fetch_state s;
    const bool same = f->old.bytes != 0 && guard_fetch_state_read(f->state, &s) &&
                      strcmp(s.url, f->url_sum) == 0 && strcmp(s.list, f->old.sha256) == 0;
    return same ? s.tags : nothing;
}

/* Refuses a name that is a symbolic link. Saving would follow it, and whoever may write to the
 * directory could then have any file of this user replaced. */
static bool is_no_link(const char *path, guard_error *why)
{
    struct stat st;
    return lstat(path, &st) != 0 || !S_ISLNK(st.st_mode) ||
           guard_fail(why, "%s: is a symbolic link, through which nothing is written", path);
}

/* The URL itself may contain a password, so only its sum is kept, and only for the owner. */
static bool remember_fetch(const struct fetching *f, const struct guard_tags *tags,
                           const char *list)
{
    char text[GUARD_FETCH_STATE_BYTES];
    const tamis_save_options o = {.struct_size = sizeof o, .mode = 0600};
    struct guard_fetch_state s = {.tags = *tags};
    tamis_error reason;
    memcpy(s.url, f->url_sum, sizeof s.url);
    memcpy(s.list, list, sizeof s.list);
    const size_t n = guard_fetch_state_print(&s, text);
    return is_no_link(f->state, f->why) &&
           (tamis_write_file(f->state, text, n, &o, &reason) == TAMIS_OK ||
            guard_fail(f->why, "%s: %s", f->state, reason.text));
}

/* --- Whether it is the list ------------------------------------------------------------------- */

static bool count_list(const struct fetching *f, const char *path, struct guard_tally *tally,
                       uint64_t *entries, guard_error *why)
{
    const guard_request all = {
        .lenient = true, .max_list_bytes = f->max_bytes, .reader = f->request->reader};
    const guard_list list = {NULL, path};
    struct guard_entries e = {NULL, 0, 0};
    const bool good = guard_read_bad(&all, &list, 0, &e, tally, why);
    guard_entries_sort(&e);
    *entries = e.n;
    guard_entries_free(&e);
    return good;
}

/* The list that is there counts as it can be read: one that is damaged may be replaced. */
static bool is_credible(struct fetching *f)
{
    struct guard_tally tally = {0, 0}, ignored = {0, 0};
    guard_fetched *out = f->out;
    guard_error of_list;
    if (!count_list(f, f->memory, &tally, &out->entries, &of_list)) {
        const size_t n = strlen(f->memory); /* the reason begins with this path */
        const bool named = strncmp(of_list.text, f->memory, n) == 0;
        return guard_fail(f->why, "%s", of_list.text + (named ? n + 2 : 0));
    }
    out->rejects = tally.rejects;
    if (f->old.bytes != 0 && !count_list(f, f->list, &ignored, &out->before, &of_list))
        out->before = 0;
    if (f->request->lenient) return true;
    if (!guard_tally_likely(&tally))
        return guard_fail(
            f->why,
            "%llu invalid lines and %llu valid ones are not a list; --lenient accepts "
            "it as it is",
            (unsigned long long)tally.rejects, (unsigned long long)tally.lines);
    if (out->entries < out->before - out->entries && out->entries < out->before)
        return guard_fail(f->why,
                          "the number of entries fell from %llu to %llu; --lenient accepts it",
                          (unsigned long long)out->before, (unsigned long long)out->entries);
    return true;
}

/* --- Replacing it ----------------------------------------------------------------------------- */

static bool replace_list(const struct fetching *f, size_t bytes)
{
    void *at = bytes != 0 ? mmap(NULL, bytes, PROT_READ, MAP_SHARED, f->fd, 0) : NULL;
    if (at == MAP_FAILED) return guard_fail(f->why, "%s: %s", f->list, strerror(errno));
    const bool good = is_no_link(f->list, f->why) &&
                      guard_write_file(f->list, at != NULL ? at : "", bytes, f->why);
    if (at != NULL) munmap(at, bytes);
    return good;
}

static bool take_download(struct fetching *f, const struct guard_download *d)
{
    guard_part new;
    if (!guard_sum_file(f->memory, &new, f->why)) return false;
    if (f->old.bytes != new.bytes || strcmp(f->old.sha256, new.sha256) != 0) {
        f->out->bytes = new.bytes;
        f->out->fresh = is_credible(f) && replace_list(f, (size_t) new.bytes);
        if (!f->out->fresh) return false;
    }
    return remember_fetch(f, &d->tags, new.sha256);
}

static bool fetch_list(struct fetching *f)
{
    const guard_fetch_request *r = f->request;
    const char *missing = guard_curl_load();
    if (missing != NULL) return guard_fail(f->why, "libcurl cannot be loaded: %s", missing);
    if (!guard_download_host(f->source->url, f->out->host, sizeof f->out->host, f->why))
        return false;
    if (mkdir(r->directory, 0777) != 0 && errno != EEXIST)
        return guard_fail(f->why, "%s: %s", r->directory, strerror(errno));
    if (!is_no_link(f->list, f->why) || !is_no_link(f->state, f->why)) return false;
    if (f->out->had && !guard_sum_file(f->list, &f->old, f->why)) return false;
    sum_text(f->source->url, f->url_sum);
    struct guard_download d = {.url = f->source->url,
                               .cacert = r->cacert,
                               .tags = recall_fetch(f),
                               .max_bytes = f->max_bytes,
                               .seconds = r->seconds != 0 ? r->seconds : DEFAULT_SECONDS,
                               .lenient = r->lenient,
                               .fd = f->fd,
                               .progress = r->progress,
                               .ctx = r->ctx};
    return guard_download(&d, f->why) && (d.unchanged || take_download(f, &d));
}

bool guard_fetch(const guard_fetch_request *r, const guard_source *s, guard_fetched *out,
                 guard_error *why)
{
    struct fetching f = {.request = r,
                         .source = s,
                         .max_bytes = r->max_bytes != 0 ? r->max_bytes : DEFAULT_BYTES,
                         .out = out,
                         .why = why};
    struct stat st;
    memset(out, 0, sizeof *out);
    f.list = path_of(r->directory, s->label, ".txt");
    f.state = path_of(r->directory, s->label, STATE_ENDING);
    f.fd = memfd_create("list", MFD_CLOEXEC);
    snprintf(f.memory, sizeof f.memory, "/proc/self/fd/%d", f.fd);
    out->had = f.list != NULL && lstat(f.list, &st) == 0;
    bool good = f.list != NULL && f.state != NULL && f.fd >= 0;
    if (!good) guard_fail(why, "not enough memory");
    good = good && fetch_list(&f);
    if (f.fd >= 0) close(f.fd);
    free(f.list);
    free(f.state);
    return good;
}

/* --- Lists without a source ------------------------------------------------------------------- */

/* The label of a file whose name is that of a state; false for other files. */
static bool label_of(const char *name, char label[GUARD_LABEL_SIZE])
{
    const size_t length = strlen(name), ending = strlen(STATE_ENDING);
    if (length <= ending || strcmp(name + length - ending, STATE_ENDING) != 0 ||
        !guard_source_label(name, length - ending))
        return false;
    memcpy(label, name, length - ending);
    label[length - ending] = '\0';
    return true;
}

static bool is_source(const guard_sources *s, const char *label)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->at[i].label, label) == 0) return true;
    return false;
}

/* Removes a list that has a state of ours; sets *removed if it did. The state goes last, because it
 * shows that the list may be removed. */
static bool remove_list(const char *directory, const char *label, bool *removed, guard_error *why)
{
    char *list = path_of(directory, label, ".txt"),
         *state = path_of(directory, label, STATE_ENDING);
    struct guard_fetch_state s;
    bool good = list != NULL && state != NULL;
    if (!good) guard_fail(why, "not enough memory");
    *removed = good && guard_fetch_state_read(state, &s);
    if (*removed && unlink(list) != 0 && errno != ENOENT)
        good = guard_fail(why, "%s: %s", list, strerror(errno));
    if (*removed && good && unlink(state) != 0 && errno != ENOENT)
        good = guard_fail(why, "%s: %s", state, strerror(errno));
    free(list);
    free(state);
    return good;
}

bool guard_fetch_prune(const char *directory, const guard_sources *s,
                       void (*gone)(void *ctx, const char *label), void *ctx, guard_error *why)
{
    char label[GUARD_LABEL_SIZE];
    DIR *all = opendir(directory);
    if (all == NULL) return guard_fail(why, "%s: %s", directory, strerror(errno));
    bool good = true;
    errno = 0;
    for (const struct dirent *e; good && (e = readdir(all)) != NULL; errno = 0) {
        if (!label_of(e->d_name, label) || is_source(s, label)) continue;
        bool removed;
        good = remove_list(directory, label, &removed, why);
        if (good && removed) gone(ctx, label);
    }
    if (good && errno != 0) good = guard_fail(why, "%s: %s", directory, strerror(errno));
    closedir(all);
    return good;
}
