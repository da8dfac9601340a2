/* The main thread reads, the workers split and hash, and the main thread gets the blocks back in
 * order. The ring of blocks bounds the memory. With one thread, or while the input is a single
 * block, no worker is started. */
#include "lines.h"

#include "../filters/filter.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../frame/stop.h"
#include "csv.h"
#include "faults.h"
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

static const char IN_UTF16[] = "is in UTF-16, not UTF-8: convert it with iconv -f UTF-16 -t UTF-8";

enum state { EMPTY, FILLED, DONE };

struct slot {
    struct portion piece;
    enum state state;
    bool strange;     /* the line after the last one cannot be a key of the hasher */
    const char *path; /* the file that all its lines are from */
    uint64_t lead;    /* the lines of its header, if the block is the first of a file */
};

struct lines {
    char **paths;
    int n_paths, next_path;
    struct input *in;       /* NULL: none is open */
    const char *path;       /* that is being read */
    bool fresh;             /* nothing of that file was used yet */
    bool passes_filters;    /* as lines */
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
    struct key_form keys;           /* of the hasher */
    const char *counted;            /* the file of the last block that was returned */
    uint64_t lines;                 /* the number of its lines before that block */
    uint64_t kept;                  /* lines in the blocks that were returned */
    struct faults faults;           /* the lines that were skipped */
    struct fault_class with_return; /* the first line whose key ends with a carriage return */
    char *rest;                     /* the beginning of a line whose end has not been read */
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

/* The beginnings of files that are not plain lines, and as much of them as shows it: in UTF-16, the
 * digits, blanks and Latin letters behind the mark have a byte that is zero. */
static const struct {
    const char *bytes;
    uint8_t size, enough;
} beginnings[] = {{"\xef\xbb\xbf", 3, 3},
                  {"\xff\xfe", 2, 4},
                  {"\xfe\xff", 2, 4},
                  {TAMIS_IMAGE_MAGIC, IMAGE_MAGIC_BYTES, IMAGE_MAGIC_BYTES},
                  {PACKED_MAGIC, IMAGE_MAGIC_BYTES, IMAGE_MAGIC_BYTES}};

/* Whether more must be read to know how a file begins. */
static bool is_undecided(const struct portion *s)
{
    bool undecided = false;
    for (size_t i = 0; i < sizeof beginnings / sizeof *beginnings; i++) {
        const size_t size = beginnings[i].size, n = s->size < size ? s->size : size;
        undecided = undecided || (s->size < beginnings[i].enough &&
                                  memcmp(s->text, beginnings[i].bytes, n) == 0);
    }
    return undecided;
}

static bool is_utf16(const struct portion *s)
{
    return s->size >= 4 && memchr(s->text, 0, s->size < 64 ? s->size : 64) != NULL &&
           (memcmp(s->text, "\xff\xfe", 2) == 0 || memcmp(s->text, "\xfe\xff", 2) == 0);
}

/* Leaves a file whose bytes are not lines. */
static void refuse_file(struct lines *l, struct portion *s, const char *reason)
{
    complain(l->path, "%s", reason);
    l->failed = true;
    close_file(l);
    s->size = 0;
}

/* Judges a file by its first bytes. Windows marks UTF-8 by a first character that nobody sees, and
 * which is not part of the first line. Lines in UTF-16 may be compared as they are, but are neither
 * CSV nor JSON. Returns false if more must be read to know, or after a message when the file is
 * left. */
static bool judge_beginning(struct lines *l, struct portion *s, bool ended)
{
    if (l->how->raw) {
        l->fresh = false;
        return true;
    }
    if (!ended && is_undecided(s)) return false;
    l->fresh = false;
    if (!l->passes_filters && is_tamis_begin(s->text, s->size)) {
        refuse_file(l, s, NOT_LINES);
        return false;
    }
    if (!l->how->nul && s->size >= 3 && memcmp(s->text, "\xef\xbb\xbf", 3) == 0) drop_first(s, 3);
    if (!is_utf16(s)) return true;
    if (l->how->strict || l->form.format != LINES) {
        refuse_file(l, s, IN_UTF16);
        return false;
    }
    if (l->utf16 == NULL) l->utf16 = l->path;
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
        if (l->fresh && !judge_beginning(l, s, ended)) continue;
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
        (struct columns){{how->field.number, how->group_field.number, number_column(how)->number}};
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

void lines_pass_filters(struct lines *l)
{
    l->passes_filters = true;
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
static void tell(const struct lines *l, struct fault_class *t, const struct slot *s, uint64_t n,
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

static void tell_skipped(struct lines *l, const struct slot *s)
{
    for (enum skip why = KEPT + 1; why < SKIPS; why++)
        for (enum role role = KEY; role < ROLES; role++) {
            const struct skipped *k = &s->piece.skipped[why][role];
            struct fault_class *c = &l->faults.of[why][role];
            if (c->n == 0) c->wanted = s->piece.columns.of[role];
            tell(l, c, s, k->n, k->at, k->reason);
        }
}

/* The blocks come in order here, so the numbers of lines are known. False after a message. */
static bool hand_out(struct lines *l, struct slot *s, uint64_t before)
{
    struct portion *p = &s->piece;
    l->lines = l->counted == s->path ? l->lines + before : s->lead;
    l->counted = s->path;
    p->block.path = s->path;
    p->block.before = l->lines;
    l->kept += p->block.n;
    if (!s->strange) tell_skipped(l, s);
    if (p->with_return.p != NULL) tell(l, &l->with_return, s, 1, p->with_return, NULL);
    if (s->strange) {
        const tamis_bytes text = p->block.keys[p->block.n];
        complain_of_text(s->path, line_with(l, s, p->block.lines[p->block.n].p), l->hasher, text);
        l->failed = l->broken = true;
        return p->block.n > 0;
    }
    if (p->refused != KEPT) {
        faults_refuse(&l->form, &l->faults, p->refused, p->role);
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
    return faults_number(&l->faults);
}

bool lines_lack_keys(const struct lines *l)
{
    if (!l->finished || l->kept > 0 || lines_skipped(l) == 0) return false;
    faults_report_no_key(&l->form, &l->faults);
    return true;
}

void lines_print_header(struct lines *l)
{
    l->header.print = true;
}

/* What makes lines differ from those of other systems. */
static void tell_of_windows(const struct lines *l)
{
    if (l->utf16 != NULL)
        complain(l->utf16, "%s", IN_UTF16);
    else if (l->with_return.n > 0)
        complain(l->with_return.path,
                 "line %s ends with a carriage return, which is part of its key: --crlf removes it",
                 grouped(l->with_return.line));
}

void lines_close(struct lines *l, bool quiet)
{
    if (!quiet && l->finished && !l->failed) faults_report(&l->form, &l->faults);
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

/* A record of CSV may have several lines. */
static void count_records(struct lines *l, struct progress *bar, uint64_t *count)
{
    for (const struct block *b; !l->failed && (b = lines_next(l)) != NULL;) {
        *count += b->n;
        progress_update(bar, b->n, b->input_bytes);
    }
}

static void count_ends(struct lines *l, struct progress *bar, uint64_t *count)
{
    static char buffer[BLOCK_BYTES];
    while (!l->failed && open_next(l)) {
        ssize_t got;
        char last = l->form.end;
        const uint64_t before = *count;
        while ((got = input_read(l->in, buffer, sizeof buffer)) != 0) {
            if (got < 0) {
                fail_file(l, input_reason(l->in));
                break;
            }
            uint64_t ends = 0;
            for (ssize_t i = 0; i < got; i++) ends += buffer[i] == l->form.end;
            *count += ends;
            last = buffer[got - 1];
            progress_update(bar, ends, l->bytes_before + input_taken(l->in));
        }
        *count += last != l->form.end; /* the last line may lack its line end */
        if (l->form.how->header && *count > before) (*count)--;
        close_file(l);
    }
}

bool lines_count(const struct line_args *how, char **paths, int n, uint64_t *count)
{
    struct lines *l = lines_open(how, paths, n, NULL, 1);
    struct progress bar;
    *count = 0;
    if (l == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, "counting the lines", lines_total_bytes(paths, n));
    if (l->form.format == CSV)
        count_records(l, &bar, count);
    else
        count_ends(l, &bar, count);
    progress_end(&bar);
    const bool good = !l->failed;
    lines_close(l, true);
    return good;
}
