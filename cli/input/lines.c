/* The main thread reads, the workers split and hash, and the main thread gets the blocks back in
 * order. The ring of blocks bounds the memory. With one thread, or while the input is a single
 * block, no worker is started. */
#include "lines.h"

#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "csv.h"
#include "fields.h"
#include "header.h"
#include "input.h"
#include "keys.h"
#include "split.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Large enough that the cost of system calls and hand-overs is negligible, and small enough for the
 * second-level cache. */
#define BLOCK_BYTES ((size_t)1 << 18)
#define LEAST_BYTES ((size_t)1 << 12)
/* With lines_save_memory. Smaller blocks are slower. */
#define SMALL_BLOCK_BYTES ((size_t)1 << 17)
enum { FEW_LINES = 8192 };
enum { MAX_WORKERS = 7, MAX_BLOCKS = 2 * MAX_WORKERS + 2 };

enum state { EMPTY, FILLED, DONE };

struct slot {
    struct portion piece;
    enum state state;
    bool strange;     /* the line after the last one cannot be a key of the hasher */
    const char *path; /* the file that all its lines are from */
    uint64_t lead;    /* the lines of its header, if the block is the first of a file */
};

/* The first of the lines that were skipped for one reason. */
struct told {
    uint64_t n, line, column;
    const char *path, *reason;
    char text[41];
};

struct lines {
    char **paths;
    int n_paths, next_path;
    struct input *in;       /* NULL: none is open */
    const char *path;       /* that is being read */
    bool fresh;             /* nothing of that file was used yet */
    bool has_header;        /* the header of that file was read, or it has none */
    const char *utf16;      /* the first file in UTF-16 */
    struct form form;       /* of its lines */
    struct columns columns; /* of that file */
    struct header header;
    size_t block_bytes, most_lines;    /* of a block */
    bool failed, ended, finished, raw; /* ended: everything is read; finished: and returned */
    bool broken; /* a line cannot be a key: the block that ends before it is the last */
    uint64_t bytes, bytes_before; /* read from all files; from the files before this one */
    const struct line_args *how;
    const tamis *hasher;
    struct key_form keys; /* of the hasher */
    const char *counted;  /* the file of the last block that was returned */
    uint64_t lines;       /* the number of its lines before that block */
    uint64_t kept;        /* lines in the blocks that were returned */
    struct told skipped[SKIPS];
    struct told with_return; /* the first line whose key ends with a carriage return */
    char *rest;              /* the beginning of a line whose end has not been read */
    size_t rest_size, rest_room;

    struct slot slots[MAX_BLOCKS];
    unsigned n_slots, first, used; /* slots in use, in order from `first` */
    bool lent;                     /* the caller has the first slot */

    pthread_t workers[MAX_WORKERS];
    unsigned n_workers, started, taken; /* taken: slots from `first` on that a worker has begun */
    bool stop;
    pthread_mutex_t mutex;
    pthread_cond_t filled, done;
};

/* --- Reading ---------------------------------------------------------------------------------- */

static void fail_file(struct lines *l, const char *reason)
{
    complain(l->path, "cannot read: %s", reason);
    l->failed = true;
}

static void no_memory(struct lines *l)
{
    fail_file(l, strerror(ENOMEM));
}

static void close_file(struct lines *l)
{
    if (l->in != NULL) l->bytes_before += input_taken(l->in);
    input_close(l->in);
    l->in = NULL;
}

/* Opens the next file that can be opened; false at the end. */
static bool open_next(struct lines *l)
{
    while (l->next_path < l->n_paths) {
        const char *path = l->paths[l->next_path++];
        const bool spent = input_is_spent(path);
        l->path = l->how->unpacked != NULL ? l->how->unpacked
                  : strcmp(path, "-") == 0 ? "standard input"
                                           : path;
        l->in = spent ? NULL : input_open(path, l->raw);
        l->fresh = true;
        if (l->in != NULL) return true;
        fail_file(l, spent ? "the filter was already read from there" : strerror(errno));
    }
    return false;
}

static bool grow_buffer(char **p, size_t *room, size_t wanted)
{
    if (wanted <= *room) return true;
    size_t bigger = *room < LEAST_BYTES ? LEAST_BYTES : *room;
    while (bigger < wanted) bigger = bigger <= SIZE_MAX / 2 ? bigger * 2 : wanted;
    char *q = realloc(*p, bigger);
    if (q == NULL) return false;
    *p = q;
    *room = bigger;
    return true;
}

/* Reads once, behind what the slot holds. Returns 0 at the end of the file, and after an error,
 * which was reported. */
static size_t read_more(struct lines *l, struct portion *s)
{
    /* One byte stays free for the line end that the last line may lack. */
    if (!grow_buffer(&s->text, &s->room,
                     s->size + (s->size < l->block_bytes / 2 ? l->block_bytes - s->size
                                                             : l->block_bytes / 2))) {
        no_memory(l);
        return 0;
    }
    const ssize_t got = input_read(l->in, s->text + s->size, s->room - s->size - 1);
    l->bytes = l->bytes_before + input_taken(l->in);
    if (got < 0 && stop_asked() == 0) fail_file(l, input_reason(l->in));
    if (got <= 0) return 0;
    s->size += (size_t)got;
    return (size_t)got;
}

/* Removes n bytes from the beginning. */
static void drop_first(struct portion *s, size_t n)
{
    s->size -= n;
    memmove(s->text, s->text + n, s->size);
}

/* Windows marks UTF-8 by a first character that nobody sees, and which is not part of the first
 * line. UTF-16 begins with a mark as well. Its lines may be compared as they are, but it is neither
 * CSV nor JSON. Returns false if more must be read to know. */
static bool drop_mark(struct lines *l, struct portion *s, bool ended)
{
    static const char utf8[] = "\xef\xbb\xbf";
    const size_t n = s->size < 3 ? s->size : 3;
    if (!l->how->raw && !l->how->nul && memcmp(s->text, utf8, n) == 0) {
        if (n < 3 && !ended) return false;
        if (n == 3) drop_first(s, 3);
    }
    l->fresh = false;
    /* Its digits, blanks and Latin letters have a byte that is zero. */
    if (!l->how->raw && s->size >= 4 && memchr(s->text, 0, s->size < 64 ? s->size : 64) != NULL &&
        (memcmp(s->text, "\xff\xfe", 2) == 0 || memcmp(s->text, "\xfe\xff", 2) == 0))
        l->utf16 = l->utf16 != NULL ? l->utf16 : l->path;
    if (l->utf16 != NULL && l->form.format != LINES) l->failed = true;
    return true;
}

/* The end of the last whole record in the slot, of which the last `got` bytes, or all, are new. */
static size_t whole_records(const struct lines *l, const struct portion *s, size_t got, bool ended)
{
    const char *const stop = s->text + s->size;
    if (l->form.format == CSV)
        return (size_t)(csv_last_end(s->text, stop, (char)l->form.delimiter, ended) - s->text);
    const size_t fresh = got < s->size ? got : s->size; /* a mark may have been dropped */
    const char *last = memrchr(stop - fresh, l->form.end, fresh);
    return ended ? s->size : last == NULL ? 0 : (size_t)(last - s->text) + 1;
}

/* Keeps what follows the whole records for the next block. */
static bool set_rest_aside(struct lines *l, struct portion *s, size_t from)
{
    l->rest_size = s->size - from;
    if (!grow_buffer(&l->rest, &l->rest_room, l->rest_size)) return false;
    if (l->rest_size > 0) memcpy(l->rest, s->text + from, l->rest_size);
    s->size = from;
    return true;
}

static bool take_rest(struct lines *l, struct portion *s)
{
    s->size = s->split = 0;
    s->failed = false;
    if (l->rest_size == 0) return true;
    if (!grow_buffer(&s->text, &s->room, l->rest_size + 1)) return false;
    memcpy(s->text, l->rest, l->rest_size);
    s->size = l->rest_size;
    l->rest_size = 0;
    return true;
}

/* Takes the header out of the first records of a file. False after a message: the file is left. */
static bool take_header(struct lines *l, struct slot *s)
{
    size_t length;
    l->has_header = true;
    s->lead = 0;
    if (!header_read(&l->header, &l->form, l->path, s->piece.text, s->piece.size, &length,
                     &l->columns)) {
        l->failed = true;
        close_file(l);
        l->rest_size = 0;
        s->piece.size = 0;
        return false;
    }
    for (size_t i = 0; i < length; i++) s->lead += s->piece.text[i] == l->form.end;
    drop_first(&s->piece, length);
    return true;
}

/* Fills a slot with whole records; false at the end of the input. */
static bool fill_slot(struct lines *l, struct slot *slot)
{
    struct portion *s = &slot->piece;
    bool good = take_rest(l, s);
    slot->lead = 0;
    while (good && (l->in != NULL || open_next(l))) {
        const size_t got = read_more(l, s);
        const bool ended = got == 0;
        if (ended) close_file(l);
        if (ended && stop_asked() != 0) return false; /* half a line is dropped */
        if (l->fresh) l->has_header = !l->how->header;
        if (l->fresh && !drop_mark(l, s, ended)) continue;
        if (s->size == 0) continue;
        if (ended && s->text[s->size - 1] != l->form.end) s->text[s->size++] = l->form.end;
        const size_t whole = whole_records(l, s, got, ended);
        if (whole == 0) continue; /* the record is longer than what was read */
        good = set_rest_aside(l, s, whole);
        if (good && !l->has_header && (!take_header(l, slot) || s->size == 0)) {
            good = good && take_rest(l, s);
            continue;
        }
        break;
    }
    if (!good) {
        no_memory(l);
        return false;
    }
    slot->path = l->path;
    s->columns = l->columns;
    s->block.input_bytes = l->bytes;
    return s->size > 0;
}

/* Whether reading would return at once. */
static bool is_ready(const struct lines *l)
{
    return l->in == NULL || input_is_ready(l->in);
}

/* --- Splitting and hashing -------------------------------------------------------------------- */

static void process(const struct lines *l, struct slot *slot)
{
    struct portion *s = &slot->piece;
    split(&l->form, s, l->most_lines, l->hasher != NULL);
    slot->strange = false;
    if (l->hasher == NULL || s->failed) return;
    const size_t n = s->block.n;
    s->block.n = hash_texts(l->hasher, l->keys, s->block.keys, n, s->block.hashes);
    slot->strange = s->block.n < n;
}

static struct slot *slot_at(struct lines *l, unsigned i)
{
    return &l->slots[(l->first + i) % l->n_slots];
}

static void *work(void *arg)
{
    struct lines *l = arg;
    pthread_mutex_lock(&l->mutex);
    for (;;) {
        while (!l->stop && l->taken == l->used) pthread_cond_wait(&l->filled, &l->mutex);
        if (l->stop) break;
        struct slot *s = slot_at(l, l->taken++);
        pthread_mutex_unlock(&l->mutex);
        process(l, s);
        pthread_mutex_lock(&l->mutex);
        s->state = DONE;
        pthread_cond_signal(&l->done);
    }
    pthread_mutex_unlock(&l->mutex);
    return NULL;
}

/* --- In order --------------------------------------------------------------------------------- */

struct lines *lines_open(const struct line_args *how, char **paths, int n, const tamis *hasher,
                         unsigned threads)
{
    static char *stdin_only[] = {"-"};
    struct lines *l = calloc(1, sizeof *l);
    if (l == NULL) return NULL;
    l->paths = n > 0 ? paths : stdin_only;
    l->n_paths = n > 0 ? n : 1;
    l->raw = how->raw || how->unpacked != NULL;
    l->how = how;
    form_of(how, &l->form);
    l->columns =
        (struct columns){{how->field.number, how->group_field.number, how->weight_field.number}};
    l->hasher = hasher;
    if (hasher != NULL) l->keys = key_form_of(hasher);
    l->n_workers = threads > 1 ? threads - 1 : 0;
    if (l->n_workers > MAX_WORKERS) l->n_workers = MAX_WORKERS;
    /* Splitting without hashing is quick, so fewer slots suffice. */
    l->n_slots = (hasher != NULL ? 2 * l->n_workers : l->n_workers) + 2;
    l->block_bytes = hasher != NULL ? BLOCK_BYTES : BLOCK_BYTES / 2;
    l->most_lines = SIZE_MAX;
    pthread_mutex_init(&l->mutex, NULL);
    pthread_cond_init(&l->filled, NULL);
    pthread_cond_init(&l->done, NULL);
    return l;
}

void lines_save_memory(struct lines *l)
{
    l->block_bytes = SMALL_BLOCK_BYTES;
    l->most_lines = FEW_LINES;
    l->n_slots = l->n_workers + 2;
}

/* Reads the next block and has it split. False at the end of the input. */
static bool read_ahead(struct lines *l)
{
    struct slot *s = slot_at(l, l->used);
    if (!fill_slot(l, s)) return false;
    /* Threads are started only for long input; the first block is split here. */
    if (l->started < l->n_workers && (l->used > 0 || l->lent || l->bytes > BLOCK_BYTES) &&
        pthread_create(&l->workers[l->started], NULL, work, l) == 0)
        l->started++;
    s->state = FILLED;
    if (l->started == 0) {
        process(l, s);
        s->state = DONE;
    }
    pthread_mutex_lock(&l->mutex);
    if (l->started == 0) l->taken++;
    l->used++;
    pthread_cond_signal(&l->filled);
    pthread_mutex_unlock(&l->mutex);
    return true;
}

static bool first_is_done(struct lines *l, bool wait)
{
    pthread_mutex_lock(&l->mutex);
    while (wait && slot_at(l, 0)->state != DONE) pthread_cond_wait(&l->done, &l->mutex);
    const bool done = slot_at(l, 0)->state == DONE;
    pthread_mutex_unlock(&l->mutex);
    return done;
}

static void give_back(struct lines *l)
{
    pthread_mutex_lock(&l->mutex);
    slot_at(l, 0)->state = EMPTY;
    l->first = (l->first + 1) % l->n_slots;
    l->used--;
    l->taken--;
    pthread_mutex_unlock(&l->mutex);
    l->lent = false;
}

/* The number, in its file, of the line that contains this byte of the current block. */
static uint64_t line_with(const struct lines *l, const struct slot *s, const char *byte)
{
    uint64_t line = l->lines + 1;
    for (const char *p = s->piece.block.text; p < byte; p++) line += *p == l->form.end;
    return line;
}

/* Adds n lines to those that were skipped for a reason; `at` is the first of them. */
static void tell(const struct lines *l, struct told *t, const struct slot *s, uint64_t n,
                 tamis_bytes at, const char *reason)
{
    const char *p = at.p, *line = p;
    t->n += n;
    if (t->n != n || n == 0) return; /* the first one came earlier */
    t->path = s->path;
    t->reason = reason;
    t->line = line_with(l, s, p);
    while (line > s->piece.block.text && line[-1] != l->form.end) line--;
    t->column = (uint64_t)(p - line) + 1;
    for (size_t i = 0; i < at.len && i + 1 < sizeof t->text; i++)
        t->text[i] = p[i] >= ' ' && p[i] <= '~' ? p[i] : '?'; /* a message may go to a terminal */
}

static const char *fault_of(const struct lines *l, enum skip why);
static void tell_refused(const struct lines *l, enum skip why);

/* The blocks come in order here, so the numbers of lines are known. False after a message. */
static bool hand_out(struct lines *l, struct slot *s, uint64_t before)
{
    struct portion *p = &s->piece;
    l->lines = l->counted == s->path ? l->lines + before : s->lead;
    l->counted = s->path;
    p->block.path = s->path;
    p->block.before = l->lines;
    l->kept += p->block.n;
    for (int i = 0; i < SKIPS && !s->strange; i++)
        tell(l, &l->skipped[i], s, p->skipped[i].n, p->skipped[i].at, p->skipped[i].reason);
    if (p->with_return.p != NULL) tell(l, &l->with_return, s, 1, p->with_return, NULL);
    if (s->strange) {
        const tamis_bytes text = p->block.keys[p->block.n];
        complain_of_text(s->path, line_with(l, s, p->block.lines[p->block.n].p), l->hasher, text);
        l->failed = l->broken = true;
        return p->block.n > 0;
    }
    if (p->refused != KEPT) {
        tell_refused(l, p->refused);
        l->failed = l->broken = true;
        return p->block.n > 0;
    }
    if (!p->failed) return true;
    complain(NULL, "not enough memory");
    l->failed = true;
    return false;
}

const struct block *lines_next(struct lines *l)
{
    struct slot *lent = l->lent ? slot_at(l, 0) : NULL;
    const uint64_t before = lent != NULL ? lent->piece.ends : 0;
    if (l->broken) return NULL;
    if (lent != NULL && lent->piece.split < lent->piece.size && !l->failed) {
        process(l, lent);
        return hand_out(l, lent, before) ? &lent->piece.block : NULL;
    }
    if (l->lent) give_back(l);
    for (;;) {
        const bool may_read = !l->ended && l->used < l->n_slots && (l->used == 0 || is_ready(l));
        /* With workers, they are kept busy first. Without them, what there is is returned first. */
        if (l->used > 0 && first_is_done(l, false) && (l->started == 0 || !may_read)) break;
        if (may_read && !is_ready(l))
            flush_output(); /* answers are shown before the reading waits */
        if (may_read)
            l->ended = !read_ahead(l);
        else if (l->used > 0)
            first_is_done(l, true);
        else {
            l->finished = true;
            return NULL;
        }
    }
    l->lent = true;
    struct slot *s = slot_at(l, 0);
    return hand_out(l, s, before) ? &s->piece.block : NULL;
}

bool lines_wait(const struct lines *l, int milliseconds)
{
    return l->used > (l->lent ? 1u : 0u) || l->in == NULL || input_wait(l->in, milliseconds);
}

uint64_t lines_number(const struct lines *l, size_t i, const char **path)
{
    const struct slot *s = &l->slots[l->first % l->n_slots];
    *path = s->path;
    return line_with(l, s, s->piece.block.lines[i].p);
}

bool lines_failed(const struct lines *l)
{
    return l->failed;
}

uint64_t lines_skipped(const struct lines *l)
{
    uint64_t all = 0;
    for (int i = TOO_FEW; i < BLANK; i++) all += l->skipped[i].n;
    return all;
}

bool lines_lack_keys(const struct lines *l)
{
    enum skip why = TOO_FEW;
    if (!l->finished || l->kept > 0 || lines_skipped(l) == 0) return false;
    while (l->skipped[why].n == 0) why++;
    complain(l->skipped[why].path, "no line has a key; line %s: %s", grouped(l->skipped[why].line),
             fault_of(l, why));
    return true;
}

void lines_print_header(struct lines *l)
{
    l->header.print = true;
}

/* The highest number of a field that is read. */
static uint64_t highest_column(const struct lines *l)
{
    uint64_t last = 0;
    for (int i = 0; i < ROLES; i++)
        if (l->columns.of[i] > last) last = l->columns.of[i];
    return last;
}

static const char *plural(uint64_t n)
{
    return n > 1 ? "s" : "";
}

/* What is wrong with the first line that was skipped for this reason. The result is valid until the
 * next call. */
static const char *fault_of(const struct lines *l, enum skip why)
{
    static char text[200];
    const struct told *t = &l->skipped[why];
    const char *key = l->how->field.text != NULL ? l->how->field.text : "";
    switch (why) {
    case TOO_FEW:
        snprintf(text, sizeof text, "fewer than %s field%s", grouped(highest_column(l)),
                 plural(highest_column(l)));
        break;
    case BAD_WEIGHT:
        snprintf(text, sizeof text, "the weight '%s' is not a whole number of at most 64 bits",
                 t->text);
        break;
    case NOT_VALID: snprintf(text, sizeof text, "%s", t->reason); break;
    case RETURN: return "its key ends with a carriage return, which --crlf removes";
    case NO_VALUE: snprintf(text, sizeof text, "there is no value at '%.60s'", key); break;
    default: snprintf(text, sizeof text, "the value at '%.60s' is not a text or a number", key);
    }
    return text;
}

static void tell_refused(const struct lines *l, enum skip why)
{
    const struct told *t = &l->skipped[why];
    if (why == NOT_VALID)
        complain(t->path, "line %s, column %s: %s", grouped(t->line), grouped(t->column),
                 fault_of(l, why));
    else
        complain(t->path, "line %s: %s", grouped(t->line), fault_of(l, why));
}

static void tell_skipped(const struct lines *l)
{
    for (enum skip why = KEPT + 1; why < BLANK; why++) {
        const struct told *t = &l->skipped[why];
        if (t->n > 0 && why != NOT_VALID)
            complain(t->path, "line %s: %s; skipped %s such line%s", grouped(t->line),
                     fault_of(l, why), grouped(t->n), plural(t->n));
        else if (t->n > 0)
            complain(t->path, "line %s, column %s: %s; skipped %s record%s that %s not %s",
                     grouped(t->line), grouped(t->column), fault_of(l, why), grouped(t->n),
                     plural(t->n), t->n > 1 ? "are" : "is", l->form.format == CSV ? "CSV" : "JSON");
    }
}

/* What makes lines differ from those of other systems. */
static void tell_of_windows(const struct lines *l)
{
    if (l->utf16 != NULL)
        complain(l->utf16, "is in UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8");
    else if (l->with_return.n > 0)
        complain(l->with_return.path,
                 "line %s ends with a carriage return, which is part of its key: --crlf removes it",
                 grouped(l->with_return.line));
}

void lines_close(struct lines *l, bool quiet)
{
    if (!quiet && l->finished && !l->failed) tell_skipped(l);
    if (!quiet) tell_of_windows(l);
    pthread_mutex_lock(&l->mutex);
    l->stop = true;
    pthread_cond_broadcast(&l->filled);
    pthread_mutex_unlock(&l->mutex);
    for (unsigned i = 0; i < l->started; i++) pthread_join(l->workers[i], NULL);
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->filled);
    pthread_cond_destroy(&l->done);
    close_file(l);
    for (unsigned i = 0; i < MAX_BLOCKS; i++) portion_free(&l->form, &l->slots[i].piece);
    header_free(&l->header);
    free(l->rest);
    free(l);
}

/* --- Before reading --------------------------------------------------------------------------- */

uint64_t lines_total_bytes(char **paths, int n)
{
    uint64_t total = 0;
    struct stat st;
    for (int i = 0; i < n; i++) {
        if (strcmp(paths[i], "-") == 0 || stat(paths[i], &st) != 0 || !S_ISREG(st.st_mode))
            return 0;
        total += (uint64_t)st.st_size;
    }
    return total;
}

bool lines_count(const struct line_args *how, char **paths, int n, uint64_t *count)
{
    struct lines *l = lines_open(how, paths, n, NULL, 1);
    static char buffer[BLOCK_BYTES];
    struct progress bar;
    *count = 0;
    if (l == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, "counting the lines", lines_total_bytes(paths, n));
    while (!l->failed && open_next(l)) {
        ssize_t got;
        char last = l->form.end;
        while ((got = input_read(l->in, buffer, sizeof buffer)) != 0) {
            if (got < 0) {
                fail_file(l, input_reason(l->in));
                break;
            }
            uint64_t ends = 0;
            for (ssize_t i = 0; i < got; i++) ends += buffer[i] == l->form.end;
            *count += ends;
            last = buffer[got - 1];
            progress_update(&bar, ends, l->bytes_before + input_taken(l->in));
        }
        *count += last != l->form.end; /* the last line may lack its line end */
        close_file(l);
    }
    progress_end(&bar);
    const bool good = !l->failed;
    lines_close(l, true);
    return good;
}
