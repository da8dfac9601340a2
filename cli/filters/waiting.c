/* Lines wait until the list is read: once, or each time that they fill the memory they may take.
 * The key of each "maybe" is kept once, however often it occurs. Lines to be printed are kept
 * whole, one after the other. */
#include "../commands/label.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/line_set.h"
#include "confirm.h"
#include "filter.h"

#include <tamis/inspect.h>

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define DEFAULT_MEMORY ((uint64_t)256 << 20)
#define ABSENT UINT64_MAX

/* A line, or with ABSENT several consecutive lines. */
struct wait {
    uint64_t key;  /* its position in the set, or ABSENT */
    size_t length; /* in `text`, with label and line end; 0 if it is never printed */
};

struct waiting {
    const struct args *args;
    struct line_args list; /* how the list is read */
    const tamis *t;
    bool print;
    uint64_t budget, rounds, printed;
    struct label label;
    struct line_set keys;
    struct wait *waits;
    size_t n, room;
    char *text;
    size_t size, text_room;
    uint8_t *bits; /* for a block of the list */
    size_t bits_room;
};

struct waiting *waiting_open(const struct args *a, const tamis *t)
{
    struct waiting *w = calloc(1, sizeof *w);
    if (w == NULL) {
        complain(NULL, "not enough memory");
        return NULL;
    }
    w->args = a;
    w->list = list_lines(&a->lines);
    w->t = w->keys.hasher = t;
    w->print = !a->select.count && !a->quiet && !a->json;
    w->budget = a->work.memory != 0 ? a->work.memory : DEFAULT_MEMORY;
    return w;
}

void waiting_close(struct waiting *w)
{
    if (w == NULL) return;
    line_set_free(&w->keys);
    free(w->waits);
    free(w->text);
    free(w->bits);
    free(w);
}

/* --- Reading the list ------------------------------------------------------------------------- */

static bool can_read_again(const char *path)
{
    struct stat st;
    return strcmp(path, "-") != 0 && stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* Marks the keys that are on the list, and counts the lines of the list that the filter
 * excludes. */
static bool mark_block(struct waiting *w, const struct block *b, uint64_t *excluded)
{
    if (b->n > w->bits_room) {
        free(w->bits);
        w->bits_room = b->n;
        w->bits = malloc(b->n / 8 + 1);
    }
    if (w->bits == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    *excluded += b->n - tamis_may_contain_hashes(w->t, b->hashes, b->n, w->bits);
    line_set_mark(&w->keys, b->hashes, b->keys, b->n);
    return true;
}

void complain_of_excluded(const char *path, uint64_t lines, const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_stat(t, &f) == TAMIS_OK && f.may_miss)
        complain(path,
                 "the filter excludes %s of its lines: it was built from another list, or it is a "
                 "%s filter that misses them; this list cannot confirm anything",
                 grouped(lines), tamis_kind_name(f.kind));
    else
        complain(path,
                 "%s of its lines are certainly not in the filter, which was built from another "
                 "list; this list cannot confirm anything",
                 grouped(lines));
}

/* False after a message. */
static bool read_whole_list(struct waiting *w)
{
    const char *path = w->args->check.confirm;
    char *paths[] = {(char *)path};
    uint64_t excluded = 0;
    struct progress bar = {0};
    const struct block *b;
    if (w->rounds++ > 0 && !can_read_again(path)) {
        complain(path,
                 "the list cannot be read twice, but more lines wait for it than %s bytes can "
                 "hold; give it as a file, or give more --memory",
                 grouped(w->budget));
        return false;
    }
    struct lines *in = lines_open(&w->list, paths, 1, w->t, threads_from(&w->args->work));
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    bool good = true;
    const bool mixes = w->print && w->rounds > 1 && progress_would_mix(w->args->lines.nul);
    if (!mixes) progress_start(&bar, "reading the list", lines_total_bytes(paths, 1));
    while (good && (b = lines_next(in)) != NULL) {
        good = mark_block(w, b, &excluded);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    good = good && !lines_failed(in);
    lines_close(in, w->args->quiet);
    if (good && excluded != 0) complain_of_excluded(path, excluded, w->t);
    return good && excluded == 0;
}

/* Prints the lines that were waiting. Consecutive lines to be printed are one piece of memory. */
static void let_go(struct waiting *w, struct totals *t)
{
    const char *from = w->text, *to = w->text;
    for (size_t i = 0; i < w->n; i++) {
        const struct wait *x = &w->waits[i];
        const bool found = x->key != ABSENT && line_set_is_marked(&w->keys, x->key);
        if (found) t->found++;
        if (x->key != ABSENT && !found) t->absent++;
        if (!w->print) continue;
        const bool chosen = found != w->args->select.invert;
        const uint64_t most = w->args->select.most_lines;
        if (!chosen || (most != 0 && w->printed++ >= most)) {
            fwrite(from, 1, (size_t)(to - from), stdout);
            from = to + x->length;
        }
        to += x->length;
    }
    if (w->print && to > from) fwrite(from, 1, (size_t)(to - from), stdout);
    line_set_clear(&w->keys);
    w->n = w->size = 0;
}

bool waiting_finish(struct waiting *w, struct totals *t)
{
    /* Without a "maybe" the list is still read once, to check that it is the right one. */
    if ((w->n > 0 || w->rounds == 0) && !read_whole_list(w)) return false;
    progress_pause(STDOUT_FILENO);
    let_go(w, t);
    progress_resume(STDOUT_FILENO);
    return true;
}

/* --- Waiting ---------------------------------------------------------------------------------- */

static bool make_text_room(struct waiting *w, size_t length)
{
    if (w->n == w->room) {
        const size_t room = 2 * w->room + 1024;
        struct wait *waits = realloc(w->waits, room * sizeof *waits);
        if (waits == NULL) return false;
        w->waits = waits;
        w->room = room;
    }
    if (w->text_room - w->size >= length) return true;
    const size_t room = w->text_room + w->text_room / 2 + length + 65536;
    char *text = room > length ? realloc(w->text, room) : NULL;
    if (text == NULL) return false;
    w->text = text;
    w->text_room = room;
    return true;
}

/* Adds line i of the block that the label belongs to. */
static bool wait_for(struct waiting *w, uint64_t key, size_t i)
{
    const tamis_bytes line = w->label.block->lines[i];
    const tamis_bytes label = w->print ? label_of(&w->label, i) : (tamis_bytes){NULL, 0};
    const size_t length = w->print ? label.len + line.len + 1 : 0;
    if (!make_text_room(w, length)) return false;
    if (label.len > 0) memcpy(w->text + w->size, label.p, label.len);
    if (length > 0) memcpy(w->text + w->size + label.len, line.p, line.len + 1);
    w->size += length;
    /* With -m lines are counted one by one. */
    if (key == ABSENT && w->args->select.most_lines == 0 && w->n > 0 &&
        w->waits[w->n - 1].key == ABSENT)
        w->waits[w->n - 1].length += length;
    else
        w->waits[w->n++] = (struct wait){key, length};
    return true;
}

bool waiting_add(struct waiting *w, const struct block *b, const uint8_t *bits, struct totals *t)
{
    const bool keeps_absent = w->print && w->args->select.invert;
    bool good = true;
    label_begin(&w->label, w->args, b);
    for (size_t i = 0; i < b->n && good; i++) {
        uint64_t key = ABSENT;
        if (bits[i / 8] >> i % 8 & 1) {
            good = line_set_add(&w->keys, b->hashes[i], b->keys[i], &key) && wait_for(w, key, i);
        } else {
            t->absent++;
            if (keeps_absent) good = wait_for(w, ABSENT, i);
        }
    }
    if (!good) {
        complain(NULL, "not enough memory");
        return false;
    }
    if (line_set_bytes(&w->keys) + w->size + w->n * sizeof *w->waits < w->budget) return true;
    return waiting_finish(w, t);
}
