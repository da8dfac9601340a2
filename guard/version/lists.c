#include "lists.h"

#include "../url/list.h"
#include "idn.h"
#include "manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Lines of lists have a hundred bytes; a longer line than this is not a URL. */
#define LONGEST_LINE 65536u

void guard_entries_free(struct guard_entries *e)
{
    free(e->at);
    memset(e, 0, sizeof *e);
}

static bool push(struct guard_entries *e, guard_span expression, uint64_t labels, guard_error *why)
{
    if (e->n == e->room) {
        const size_t room = e->room * 2 + 1024;
        struct guard_entry *more = realloc(e->at, room * sizeof *more);
        if (more == NULL) return guard_fail(why, "not enough memory for %zu entries", room);
        e->at = more;
        e->room = room;
    }
    guard_hash(expression, e->at[e->n].hash);
    e->at[e->n++].labels = labels;
    return true;
}

static int by_hash(const void *a, const void *b)
{
    const struct guard_entry *x = a, *y = b;
    return memcmp(x->hash, y->hash, sizeof x->hash);
}

void guard_entries_sort(struct guard_entries *e)
{
    size_t kept = 0;
    if (e->n == 0) return;
    qsort(e->at, e->n, sizeof *e->at, by_hash);
    for (size_t i = 1; i < e->n; i++) {
        if (by_hash(&e->at[kept], &e->at[i]) == 0)
            e->at[kept].labels |= e->at[i].labels;
        else
            e->at[++kept] = e->at[i];
    }
    e->n = kept + 1;
}

const struct guard_entry *guard_entries_find(const struct guard_entries *e,
                                             const uint8_t hash[GUARD_HASH_SIZE])
{
    struct guard_entry key;
    memcpy(key.hash, hash, sizeof key.hash);
    return e->n > 0 ? bsearch(&key, e->at, e->n, sizeof key, by_hash) : NULL;
}

/* --- Lines ------------------------------------------------------------------------------------ */

/* The state of reading one list. */
struct reading {
    const guard_request *request;
    const guard_list *list;
    const struct guard_entries *bad; /* NULL while reading a bad list */
    struct guard_entries *out;
    struct guard_tally *tally;
    uint64_t line, labels;
    char *room, *again;
    guard_error *why;
};

static void reject_line(struct reading *r, const char *reason)
{
    r->tally->rejects++;
    if (r->request->reject != NULL)
        r->request->reject(r->request->ctx, r->list->path, r->line, reason);
}

/* Takes all expressions of a good URL, except those that are listed: a good page on a bad host
 * stays listed through its host. */
static bool take_good(struct reading *r, guard_span expression)
{
    const size_t n = expression.length + 7;
    guard_span all[GUARD_URL_EXPRESSIONS];
    guard_url url;
    memcpy(r->again, "http://", 7);
    memcpy(r->again + 7, expression.bytes, expression.length);
    /* The expression still refers to the first buffer. It has been copied, so the buffer is free
     * now. */
    const guard_url_status s =
        guard_url_canonical(r->again, n, NULL, r->room, GUARD_URL_ROOM(LONGEST_LINE), &url);
    if (s != GUARD_URL_OK) { /* it was canonical, so it can only be too long */
        r->tally->lines--;
        reject_line(r, guard_url_message(s));
        return true;
    }
    const size_t count = guard_url_expressions(&url, all);
    for (size_t i = 0; i < count; i++) {
        uint8_t hash[GUARD_HASH_SIZE];
        guard_hash(all[i], hash);
        const bool listed = guard_entries_find(r->bad, hash) != NULL;
        if (listed && i == 0)
            return guard_fail(r->why, "%s: line %llu: '%.*s' is also on a list of bad URLs",
                              r->list->path, (unsigned long long)r->line,
                              (int)(all[i].length < 120 ? all[i].length : 120), all[i].bytes);
        if (!listed && !push(r->out, all[i], 0, r->why)) return false;
    }
    return true;
}

static bool take_line(struct reading *r, const char *text, size_t n)
{
    if (n > LONGEST_LINE - 8) {
        reject_line(r, "the line is longer than any URL");
        return true;
    }
    const guard_line line =
        guard_list_line(text, n, guard_idn, r->room, GUARD_URL_ROOM(LONGEST_LINE));
    if (line.kind == GUARD_LINE_REJECT) reject_line(r, line.reason);
    if (line.kind != GUARD_LINE_ENTRY) return true;
    r->tally->lines++;
    if (r->bad != NULL) return take_good(r, line.expression);
    if (line.deep != 0 && r->request->deep != NULL)
        r->request->deep(r->request->ctx, r->list->path, r->line, line.deep);
    return push(r->out, line.expression, r->labels, r->why);
}

/* --- Whole lists ------------------------------------------------------------------------------ */

static void *open_plain(const char *path)
{
    return strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
}

static ssize_t read_plain(void *in, void *to, size_t n)
{
    const size_t got = fread(to, 1, n, in);
    return got == 0 && ferror((FILE *)in) ? -1 : (ssize_t)got;
}

static const char *plain_reason(const void *in)
{
    (void)in;
    return strerror(errno);
}

static void close_plain(void *in)
{
    if (in != stdin) fclose(in);
}

static const guard_reader PLAIN = {open_plain, read_plain, plain_reason, close_plain};

/* The bytes that have been read but not processed. */
struct list_text {
    char bytes[2 * LONGEST_LINE];
    size_t have;
    bool too_long; /* the beginning of the current line has been discarded */
};

/* Processes the complete lines and keeps the remainder. */
static bool take_lines(struct reading *r, struct list_text *t)
{
    const char *p = t->bytes, *const stop = t->bytes + t->have;
    bool good = true;
    for (const char *end; good && (end = memchr(p, '\n', (size_t)(stop - p))) != NULL;
         p = end + 1) {
        r->line++;
        good = take_line(r, p, t->too_long ? LONGEST_LINE : (size_t)(end - p));
        t->too_long = false;
    }
    t->have = (size_t)(stop - p);
    memmove(t->bytes, p, t->have);
    if (t->have == sizeof t->bytes) { /* one line fills the buffer and does not end */
        t->too_long = true;
        t->have = 0;
    }
    return good;
}

static bool read_all(struct reading *r, struct list_text *t)
{
    const guard_reader *reader = r->request->reader != NULL ? r->request->reader : &PLAIN;
    const char *path = r->list->path;
    void *in = reader->open(path);
    if (in == NULL) return guard_fail(r->why, "%s: cannot read: %s", path, strerror(errno));
    const uint64_t most = r->request->max_list_bytes;
    uint64_t all = 0;
    ssize_t got = 0;
    bool good = true;
    while (good && (got = reader->read(in, t->bytes + t->have, sizeof t->bytes - t->have)) > 0) {
        t->have += (size_t)got;
        all += (uint64_t)got;
        if (most != 0 && all > most)
            good = guard_fail(r->why, "%s: more than %llu bytes when it is unpacked", path,
                              (unsigned long long)most);
        good = good && take_lines(r, t);
    }
    if (good && got < 0) /* an incomplete list is not used */
        good = guard_fail(r->why, "%s: cannot read: %s", path, reader->reason(in));
    if (good && (t->have > 0 || t->too_long)) { /* the last line lacks its line end */
        r->line++;
        good = take_line(r, t->bytes, t->too_long ? LONGEST_LINE : t->have);
    }
    reader->close(in);
    return good;
}

bool guard_tally_likely(const struct guard_tally *t)
{
    return t->lines > 0 && t->lines >= t->rejects;
}

static bool is_likely(const struct reading *r, uint64_t lines, uint64_t rejects)
{
    if (r->request->lenient || guard_tally_likely(&(struct guard_tally){lines, rejects}))
        return true;
    if (lines == 0)
        return guard_fail(r->why,
                          "%s: no entry in %llu lines, so nothing is published; --lenient accepts "
                          "the list as it is",
                          r->list->path, (unsigned long long)r->line);
    return guard_fail(
        r->why,
        "%s: %llu lines left out and only %llu taken, so nothing is published; --lenient accepts "
        "the list as it is",
        r->list->path, (unsigned long long)rejects, (unsigned long long)lines);
}

static bool read_list(struct reading *r)
{
    const struct guard_tally before = *r->tally;
    struct list_text *t = malloc(sizeof *t);
    r->room = malloc(GUARD_URL_ROOM(LONGEST_LINE));
    r->again = malloc(GUARD_URL_ROOM(LONGEST_LINE) + 8);
    bool good = t != NULL && r->room != NULL && r->again != NULL;
    if (!good) guard_fail(r->why, "not enough memory");
    if (t != NULL) {
        t->have = 0;
        t->too_long = false;
    }
    good = good && read_all(r, t) &&
           is_likely(r, r->tally->lines - before.lines, r->tally->rejects - before.rejects);
    free(t);
    free(r->room);
    free(r->again);
    return good;
}

bool guard_read_bad(const guard_request *r, const guard_list *list, uint64_t labels,
                    struct guard_entries *out, struct guard_tally *tally, guard_error *why)
{
    struct reading reading = {
        .request = r, .list = list, .out = out, .tally = tally, .labels = labels, .why = why};
    return read_list(&reading);
}

bool guard_read_good(const guard_request *r, const guard_list *list,
                     const struct guard_entries *bad, struct guard_entries *out,
                     struct guard_tally *tally, guard_error *why)
{
    struct reading reading = {
        .request = r, .list = list, .bad = bad, .out = out, .tally = tally, .why = why};
    return read_list(&reading);
}
