/* Records of CSV, and values of JSON lines: any bytes, in blocks of any length. CSV is split as a
 * simple reading of the bytes, one at a time, says. Of JSON, every text is a value or a fault with
 * a place; what is found in a valid text is found again when it is nested.
 *
 * ./run fuzz records */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "../../cli/input/csv.h"
#include "../../cli/input/json_value.h"
#include "../../cli/input/lines.h"
#include "feed.h"
#include "messages.h"

#include <sys/mman.h>
#include <unistd.h>

/* --- CSV, the simple way ---------------------------------------------------------------------- */

enum { FIELDS = 8 };
struct simple {
    const char *end; /* the newline */
    bool good;
    uint64_t fields;
    size_t length[FIELDS];
    char *bytes[FIELDS]; /* of the first ones, without quotes */
};

/* Reads one field. Returns where it ends; NULL: it is not CSV, and r->end is set. */
static const char *simple_field(const char *p, const char *stop, char comma, struct simple *r)
{
    const char *const quote = p;
    char *to = r->fields < FIELDS ? r->bytes[r->fields] : NULL;
    size_t n = 0;
    if (*p != '"') {
        for (; *p != comma && *p != '\n'; p++)
            if (to != NULL) to[n++] = *p;
        if (*p == '\n' && n > 0 && to[n - 1] == '\r') n--;
    } else {
        for (p++;; p++) {
            if (p == stop) { /* never closed */
                r->end = memchr(quote, '\n', (size_t)(stop - quote));
                return NULL;
            }
            if (*p == '"' && (p + 1 == stop || p[1] != '"')) break;
            if (*p == '"') p++;
            if (to != NULL) to[n++] = *p;
        }
        p++;
        if (p < stop && *p == '\r' && p + 1 < stop && p[1] == '\n') p++;
        if (p == stop || (*p != comma && *p != '\n')) {
            r->end = memchr(quote, '\n', (size_t)(stop - quote));
            return NULL;
        }
    }
    if (to != NULL) r->length[r->fields] = n;
    return p;
}

static void simple_record(const char *p, const char *stop, char comma, struct simple *r)
{
    for (r->fields = 0, r->good = true;; p++) {
        p = simple_field(p, stop, comma, r);
        r->good = p != NULL;
        if (p == NULL) return;
        r->fields++;
        r->end = p;
        if (*p == '\n') return;
    }
}

/* An empty line is not a record. */
static bool is_empty(const char *p, const char *end)
{
    return p == end || (end - p == 1 && *p == '\r');
}

/* Whether the reader of lines leaves this record out. */
static bool is_left_out(const char *p, const struct simple *r, uint64_t key)
{
    return !r->good || r->fields < key || is_empty(p, r->end);
}

/* The records of a text that ends with a newline, by the reader of lines and the simple way. */
static void check_csv(const char *text, size_t size, const struct line_args *how, unsigned threads)
{
    char path[40], *paths[] = {path}, *rooms[FIELDS];
    const int fd = memfd_create("records", 0);
    const char comma = how->tsv ? '\t' : ',', *p = text, *const stop = text + size;
    uint64_t skipped = 0;
    struct simple r;
    must(fd >= 0 && write(fd, text, size) == (ssize_t)size, "a file");
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    for (int i = 0; i < FIELDS; i++) must((rooms[i] = malloc(size + 1)) != NULL, "memory");
    memcpy(r.bytes, rooms, sizeof rooms);
    struct lines *l = lines_open(how, paths, 1, NULL, threads);
    must(l != NULL, "memory");
    const uint64_t key = how->field.number;
    for (const struct block *b; (b = lines_next(l)) != NULL;) {
        for (size_t i = 0; i < b->n; i++, p = r.end + 1) {
            for (simple_record(p, stop, comma, &r); is_left_out(p, &r, key);
                 simple_record(p, stop, comma, &r)) {
                skipped += !is_empty(p, r.end);
                p = r.end + 1;
                must(p < stop, "no record too many");
            }
            const char *name;
            uint64_t number = 1;
            must(b->lines[i].p != NULL && b->lines[i].len == (size_t)(r.end - p) &&
                     memcmp(b->lines[i].p, p, b->lines[i].len) == 0,
                 "the record");
            must(b->keys[i].len == r.length[key - 1] &&
                     memcmp(b->keys[i].p, r.bytes[key - 1], b->keys[i].len) == 0,
                 "its key");
            if (i != 0 && i != b->n - 1) continue;
            for (const char *q = text; q < p; q++) number += *q == '\n';
            must(lines_number(l, i, &name) == number, "its line");
        }
    }
    for (; p < stop; p = r.end + 1) {
        simple_record(p, stop, comma, &r);
        must(is_left_out(p, &r, key), "no record is missing");
        skipped += !is_empty(p, r.end);
    }
    must(!lines_failed(l) && lines_skipped(l) == skipped, "as many are skipped");
    lines_close(l, false);
    was_said();
    for (int i = 0; i < FIELDS; i++) free(rooms[i]);
    close(fd);
}

/* --- JSON ------------------------------------------------------------------------------------- */

static void check_same_value(const struct json_value *a, const struct json_value *b)
{
    must(a->type == b->type && a->has_escapes == b->has_escapes, "the same type");
    if (a->type == JSON_TEXT)
        must(a->raw.len == b->raw.len && memcmp(a->raw.p, b->raw.p, a->raw.len) == 0,
             "the same value");
}

static void check_json(const char *text, size_t size)
{
    static const char before[] = " {\"x\":[1,{\"deep\" : ", after[] = "}], \"y\":null} ";
    struct json_path paths[3];
    struct json_value values[JSON_PATHS], again[JSON_PATHS];
    const char *at = NULL, *reason = NULL;
    must(json_path_read("a", &paths[0]) && json_path_read("a.b", &paths[1]) &&
             json_path_read("0.a", &paths[2]),
         "paths");
    const tamis_bytes whole = {text, size};
    const bool good = json_values(whole, paths, 3, values, &at, &reason);
    must(good || (reason != NULL && at >= text && at <= text + size), "a fault has a place");
    if (!good || json_is_blank(whole)) return;
    char *room = malloc(size + sizeof before + sizeof after);
    must(room != NULL, "memory");
    for (int i = 0; i < 3; i++) {
        size_t n;
        must(values[i].type != JSON_TEXT || (const char *)values[i].raw.p >= text, "inside");
        if (values[i].type == JSON_TEXT && values[i].has_escapes &&
            json_unescape(values[i].raw, room, &n))
            must(n <= values[i].raw.len, "never longer");
    }
    memcpy(room, before, sizeof before - 1);
    memcpy(room + sizeof before - 1, text, size);
    memcpy(room + sizeof before - 1 + size, after, sizeof after - 1);
    must(json_path_read("x.1.deep.a", &paths[0]) && json_path_read("x.1.deep.a.b", &paths[1]) &&
             json_path_read("x.1.deep.0.a", &paths[2]),
         "paths");
    const tamis_bytes nested = {room, sizeof before + sizeof after - 2 + size};
    if (json_values(nested, paths, 3, again, &at, &reason))
        for (int i = 0; i < 3; i++) check_same_value(&values[i], &again[i]);
    else
        must(strstr(reason, "nested") != NULL, "valid when nested");
    free(room);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct feed f = {data, size};
    keep_messages();
    const uint8_t flags = feed_byte(&f), more = feed_byte(&f);
    if (flags & 1) {
        char *exact = malloc(f.left + 1); /* so that a read behind it is noticed */
        must(exact != NULL, "memory");
        memcpy(exact, f.p, f.left);
        check_json(exact, f.left);
        free(exact);
        return 0;
    }
    const size_t times = more >= 250 && f.left >= 16 ? 300000 / f.left + 1 : 1; /* blocks */
    char *text = malloc(f.left * times + 1);
    must(text != NULL, "memory");
    for (size_t i = 0; i < times; i++) memcpy(text + i * f.left, f.p, f.left);
    size_t n = f.left * times;
    const bool mark = n >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0;
    if (n > 0 && text[n - 1] != '\n') text[n++] = '\n';
    const struct line_args how = {
        .csv = !(flags & 4), .tsv = (flags & 4) != 0, .raw = true, .field = {"n", 1 + more % 3}};
    if (!mark && n > 0) check_csv(text, n, &how, 1 + flags / 64);
    free(text);
    return 0;
}
