/* diff of two files of lines: the exact set difference in bounded memory, without sorting.
 *
 * One file is loaded: the hash of each distinct line goes into a set (side_set.h). The other file
 * probes the set: the first occurrence of a line is in both files if the set has it, and otherwise
 * only in this file; either way it is marked. Then the first file is read again, and its lines
 * without the other file's mark are only in it. Usually the second file is loaded, so that the
 * lines of the first come first, in their order.
 *
 * When the set is full, the hashes are divided into ranges, and there is a pass for each range. The
 * verdict on each line, one byte, goes to a temporary file. At the end both files are read once
 * more and printed by their verdicts, so that the order does not depend on the memory. Lines that
 * were printed before the set was full are not printed again.
 *
 * Only hashes are kept, but no line is mistaken for another: the hash is a pseudo-random function
 * (SipHash-2-4, 125 bits) with a key that is drawn for each run. Whatever the lines are, a billion
 * of them have two equal hashes with a probability below 2^-65. */
#include "../filters/filter.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/lines.h"
#include "../input/side_set.h"
#include "../input/temporary.h"
#include "diff.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__linux__) || defined(__APPLE__) /* the others declare getentropy in unistd.h */
#include <sys/random.h>
#endif

#define USUAL_MEMORY ((uint64_t)256 << 20)
/* A range is made so small that its hashes should fill this share of the set. */
#define WANTED_FILL 0.9
enum { AHEAD = 24 }; /* lines, from which on slots are fetched */

enum reading { READ_FAILED, READ_STOPPED, READ_ALL }; /* failed: after a message */

struct side {
    const struct operand *operand;
    struct line_args how;
    struct stat st;      /* when the work began */
    uint64_t lines;      /* without those that were skipped, */
    bool is_counted;     /* if the file was read to its end */
    uint64_t bytes_read; /* in this pass */
    int verdicts;        /* the temporary file, or -1 */
};

struct diff {
    const struct args *args;
    struct side sides[2]; /* the number of a side is also that of its column */
    int loaded, probing;
    bool prints, wanted[COLUMNS];
    size_t tabs[COLUMNS];
    bool prints_header; /* it was not printed yet */
    tamis *hasher;
    struct side_set set;
    bool has_ranges;   /* there are several passes */
    uint64_t printed;  /* lines of the probing side that were printed before the set was full */
    uint64_t distinct; /* lines of the loaded side in this pass */
    uint64_t found[COLUMNS], totals[COLUMNS]; /* lines in this pass, and in all */
    uint64_t passes;
    uint8_t *verdicts; /* of a block: 0, or 1 and the column in which the line is printed */
    size_t room;
};

/* Does something with a block, whose first line is line `at` of the file. Stops when the set is
 * full. */
typedef enum reading block_step(struct diff *d, int side, const struct block *b, uint64_t at);

static int mark_of(int side)
{
    return side == FIRST_COLUMN ? IN_FIRST_FILE : IN_SECOND_FILE;
}

/* --- Reading ---------------------------------------------------------------------------------- */

static enum reading fail_changed(const struct side *s)
{
    complain(s->operand->name, "has changed while it was read, so the result would be wrong; run "
                               "diff again, or copy the file first");
    return READ_FAILED;
}

/* All readings of a file must have the same lines. */
static enum reading check_unchanged(struct side *s, uint64_t lines)
{
    struct stat now;
    if (stat(s->operand->path, &now) != 0 || now.st_dev != s->st.st_dev ||
        now.st_ino != s->st.st_ino || now.st_size != s->st.st_size ||
        now.st_mtime != s->st.st_mtime || (s->is_counted && s->lines != lines))
        return fail_changed(s);
    s->lines = lines;
    s->is_counted = true;
    return READ_ALL;
}

static enum reading read_side(struct diff *d, int side, block_step *step, bool prints)
{
    struct side *s = &d->sides[side];
    char *paths[] = {(char *)s->operand->path};
    const bool hashes = d->hasher != NULL;
    struct lines *in = lines_open(&s->how, paths, 1, d->hasher, threads_from(&d->args->work));
    enum reading result = READ_ALL;
    struct progress bar = {0};
    const struct block *b;
    uint64_t at = 0;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return READ_FAILED;
    }
    /* The lines of a single column are a table, and all of them are from the probing side. */
    if (prints && d->prints_header && side == d->probing) {
        lines_print_header(in);
        d->prints_header = false;
    }
    if (!prints || !progress_would_mix(s->how.nul))
        progress_start(&bar, hashes ? "reading" : "printing", lines_total_bytes(paths, 1));
    while (result == READ_ALL && !output_failed() && (b = lines_next(in)) != NULL) {
        if (prints) progress_pause(STDOUT_FILENO);
        result = step(d, side, b, at);
        if (prints) progress_resume(STDOUT_FILENO);
        at += b->n;
        s->bytes_read = b->input_bytes;
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    if (lines_failed(in) || output_failed()) result = READ_FAILED;
    lines_close(in, d->args->quiet || s->is_counted || result != READ_ALL);
    return result == READ_ALL ? check_unchanged(s, at) : result;
}

/* --- Lines ------------------------------------------------------------------------------------ */

static void print_in_column(const struct diff *d, int column, tamis_bytes line)
{
    static const char tabs[COLUMNS] = {'\t', '\t', '\t'};
    if (d->tabs[column] > 0) WRITE_UNLOCKED(tabs, 1, d->tabs[column], stdout);
    WRITE_UNLOCKED(line.p, 1, line.len + 1, stdout);
}

/* Reads the verdicts on a block. */
static bool read_verdicts(struct diff *d, int side, const struct block *b, uint64_t at)
{
    if (b->n > d->room) {
        if (!resize(&d->verdicts, b->n, 1)) {
            complain(NULL, "not enough memory");
            return false;
        }
        d->room = b->n;
    }
    return temp_read(&d->args->work, d->sides[side].verdicts, at, d->verdicts, b->n);
}

static bool write_verdicts(const struct diff *d, int side, const struct block *b, uint64_t at)
{
    return temp_write(&d->args->work, d->sides[side].verdicts, at, d->verdicts, b->n);
}

/* The line is the first of its kind, and belongs to this column. */
static void decide(struct diff *d, int column, const struct block *b, size_t i)
{
    if (!d->prints || !d->wanted[column]) return;
    if (d->has_ranges)
        d->verdicts[i] = (uint8_t)(1 + column);
    else
        print_in_column(d, column, b->lines[i]);
}

static void fetch_ahead(const struct diff *d, const struct block *b, size_t i)
{
    if (i + AHEAD < b->n && side_set_covers(&d->set, b->hashes[i + AHEAD]))
        side_set_fetch(&d->set, b->hashes[i + AHEAD]);
}

static enum reading load_block(struct diff *d, int side, const struct block *b, uint64_t at)
{
    (void)at;
    for (size_t i = 0; i < b->n; i++) {
        fetch_ahead(d, b, i);
        if (!side_set_covers(&d->set, b->hashes[i])) continue;
        const int before = side_set_mark(&d->set, b->hashes[i], mark_of(side));
        if (before < 0) return READ_STOPPED;
        d->distinct += before == 0;
    }
    return READ_ALL;
}

static enum reading probe_block(struct diff *d, int side, const struct block *b, uint64_t at)
{
    const bool records = d->prints && d->has_ranges;
    if (records && !read_verdicts(d, side, b, at)) return READ_FAILED;
    for (size_t i = 0; i < b->n; i++) {
        fetch_ahead(d, b, i);
        if (!side_set_covers(&d->set, b->hashes[i])) continue;
        const int before = side_set_mark(&d->set, b->hashes[i], mark_of(side));
        if (before < 0 && !d->has_ranges) d->printed = at + i;
        if (before < 0) return READ_STOPPED;
        if ((before & mark_of(side)) != 0) continue;
        const int column = before != 0 ? COMMON_COLUMN : side;
        d->found[column]++;
        decide(d, column, b, i);
    }
    return !records || write_verdicts(d, side, b, at) ? READ_ALL : READ_FAILED;
}

/* The loaded side again: which of its lines the other side lacks. */
static enum reading reread_block(struct diff *d, int side, const struct block *b, uint64_t at)
{
    if (d->has_ranges && !read_verdicts(d, side, b, at)) return READ_FAILED;
    for (size_t i = 0; i < b->n; i++) {
        fetch_ahead(d, b, i);
        if (!side_set_covers(&d->set, b->hashes[i])) continue;
        const int before = side_set_mark(&d->set, b->hashes[i], IS_DONE);
        if (before <= 0) return fail_changed(&d->sides[side]);
        if (before == mark_of(side)) decide(d, side, b, i);
    }
    return !d->has_ranges || write_verdicts(d, side, b, at) ? READ_ALL : READ_FAILED;
}

static enum reading print_block(struct diff *d, int side, const struct block *b, uint64_t at)
{
    const uint64_t printed = side == d->probing ? d->printed : 0;
    if (!read_verdicts(d, side, b, at)) return READ_FAILED;
    for (size_t i = 0; i < b->n; i++)
        if (d->verdicts[i] != 0 && at + i >= printed)
            print_in_column(d, d->verdicts[i] - 1, b->lines[i]);
    return READ_ALL;
}

/* --- Passes ----------------------------------------------------------------------------------- */

static enum reading run_pass(struct diff *d)
{
    d->distinct = 0;
    memset(d->found, 0, sizeof d->found);
    d->sides[0].bytes_read = d->sides[1].bytes_read = 0;
    enum reading result = read_side(d, d->loaded, load_block, false);
    if (result == READ_ALL)
        result = read_side(d, d->probing, probe_block, d->prints && !d->has_ranges);
    if (result != READ_ALL) return result;
    d->found[d->loaded] = d->distinct - d->found[COMMON_COLUMN];
    for (int i = 0; i < COLUMNS; i++) d->totals[i] += d->found[i];
    d->passes++;
    if (!d->prints || !d->wanted[d->loaded]) return READ_ALL;
    return read_side(d, d->loaded, reread_block, !d->has_ranges);
}

/* The set is full: chooses a smaller range, by how much was read until then, for the same pass to
 * begin again. False after a message. */
static bool narrow_range(struct diff *d)
{
    struct side_set *s = &d->set;
    const double total = (double)d->sides[0].st.st_size + (double)d->sides[1].st.st_size,
                 read = (double)d->sides[0].bytes_read + (double)d->sides[1].bytes_read;
    const double share = total > 0 && read < total ? WANTED_FILL * read / total : WANTED_FILL;
    s->last = s->first + (uint64_t)((double)(s->last - s->first) * share);
    for (int i = 0; i < 2 && d->prints && !d->has_ranges; i++) {
        d->sides[i].verdicts = temp_open(&d->args->work);
        if (d->sides[i].verdicts < 0) return false;
    }
    d->has_ranges = true;
    return true;
}

/* The next range is as big as fits by the fill of this one, and the ranges that are left are of
 * equal size. */
static void next_range(struct diff *d)
{
    struct side_set *s = &d->set;
    const double fill = (double)(s->n + 1) / (double)side_set_most(s),
                 fits = (double)(s->last - s->first) * (WANTED_FILL / fill);
    s->first = s->last + 1;
    const double left = (double)(UINT64_MAX - s->first);
    const double passes = left > fits ? (double)(uint64_t)(left / fits) + 1 : 1;
    s->last = passes > 1 ? s->first + (uint64_t)(left / passes) : UINT64_MAX;
}

/* False after a message, or if finish_output has one. */
static bool run_passes(struct diff *d)
{
    d->set.last = UINT64_MAX;
    for (;;) {
        const enum reading result = run_pass(d);
        if (result == READ_FAILED) return false;
        if (result == READ_ALL && d->set.last == UINT64_MAX) break;
        if (result == READ_ALL) next_range(d);
        if (result == READ_STOPPED && !narrow_range(d)) return false;
        if (!side_set_restart(&d->set)) {
            complain(NULL, "diff: not enough memory for %s bytes; give less --memory",
                     grouped(d->set.budget));
            return false;
        }
    }
    if (!d->prints || !d->has_ranges) return true;
    side_set_free(&d->set);
    tamis_close(d->hasher);
    d->hasher = NULL;
    return read_side(d, d->probing, print_block, true) == READ_ALL &&
           (!d->wanted[d->loaded] || read_side(d, d->loaded, print_block, true) == READ_ALL);
}

/* --- The beginning and the end ---------------------------------------------------------------- */

/* A key that nobody knows, so that nobody can choose lines with equal hashes. NULL after a
 * message. */
static tamis *make_secret_hasher(const struct args *a)
{
    uint8_t key[16];
    struct args secret = *a;
    if (getentropy(key, sizeof key) != 0) {
        complain(NULL, "diff: the system has no random numbers: %s", strerror(errno));
        return NULL;
    }
    secret.key.bytes = key;
    return make_hasher(&secret);
}

static bool open_sides(struct diff *d, const struct operand operands[2])
{
    for (int i = 0; i < 2; i++) {
        struct side *s = &d->sides[i];
        s->operand = &operands[i];
        s->how = d->args->lines;
        if (operands[i].copy >= 0) s->how.unpacked = operands[i].name;
        s->verdicts = -1;
        if (stat(operands[i].path, &s->st) != 0) {
            complain(operands[i].name, "cannot read: %s", strerror(errno));
            return false;
        }
    }
    d->hasher = make_secret_hasher(d->args);
    return d->hasher != NULL;
}

static void choose_columns(struct diff *d)
{
    const struct args *a = d->args;
    size_t n = 0;
    d->prints = !a->quiet && !a->json && !a->select.count;
    for (int i = 0; i < COLUMNS; i++) {
        d->wanted[i] = has_column(a, i);
        d->tabs[i] = n;
        n += d->wanted[i];
    }
    d->prints = d->prints && n > 0;
    d->prints_header = n == 1;
    /* The side that probes is read once less. */
    const bool only_second = !d->wanted[FIRST_COLUMN] && !d->wanted[COMMON_COLUMN];
    d->loaded = only_second ? FIRST_COLUMN : SECOND_COLUMN;
    d->probing = 1 - d->loaded;
}

static void print_columns(const struct diff *d)
{
    static const char *const names[COLUMNS] = {"first_only", "second_only", "common"};
    const struct args *a = d->args;
    const char *before = "";
    if (a->json) {
        json_open('{');
        json_text("first", a->words[0]);
        json_text("second", a->words[1]);
        json_count("first_lines", d->sides[0].lines);
        json_count("second_lines", d->sides[1].lines);
        for (int i = 0; i < COLUMNS; i++) json_count(names[i], d->totals[i]);
        json_count("passes", d->passes);
        json_close('}');
        putchar('\n');
        return;
    }
    for (int i = 0; i < COLUMNS; i++) {
        if (!d->wanted[i]) continue;
        printf("%s%llu", before, (unsigned long long)d->totals[i]);
        before = "\t";
    }
    if (*before != '\0') putchar('\n');
}

int diff_lines(const struct args *a, const struct operand operands[2])
{
    struct diff d = {.args = a};
    d.set.budget = a->work.memory != 0 ? a->work.memory : USUAL_MEMORY;
    choose_columns(&d);
    const bool good = open_sides(&d, operands) && run_passes(&d);
    if (good && !a->quiet && (a->json || a->select.count)) print_columns(&d);
    for (int i = 0; i < 2; i++)
        if (d.sides[i].verdicts > 0) close(d.sides[i].verdicts);
    side_set_free(&d.set);
    tamis_close(d.hasher);
    free(d.verdicts);
    if (!good) return EXIT_ERROR;
    return d.totals[FIRST_COLUMN] + d.totals[SECOND_COLUMN] > 0 ? EXIT_NONE : EXIT_FOUND;
}
