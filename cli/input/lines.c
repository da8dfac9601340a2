/* The main thread reads, the workers split and hash, and the main thread gets the blocks back in
 * order. The ring of blocks bounds the memory. With one thread, or while the input is a single
 * block, no worker is started. */
#include "lines.h"

#include "../frame/output.h"
#include "../frame/stop.h"
#include "fields.h"
#include "input.h"
#include "keys.h"

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
    struct block block;
    enum state state;
    bool failed;
    bool strange; /* the line after the last one cannot be a key of the hasher */
    char *text;
    size_t size, room, room_lines;
    size_t split;     /* how much of the text is split; the rest has too many lines for one block */
    const char *path; /* the file that all its lines are from */
    uint64_t all;     /* the number of lines, with those that are skipped */
    uint64_t bad;     /* skipped lines whose weight is not a number */
    tamis_bytes bad_weight; /* the first such weight */
};

struct lines {
    char **paths;
    int n_paths, next_path;
    struct input *in;                  /* NULL: none is open */
    const char *path;                  /* that is being read */
    char end;                          /* of a line */
    size_t block_bytes, most_lines;    /* of a block */
    bool failed, ended, finished, raw; /* ended: everything is read; finished: and returned */
    bool broken; /* a line cannot be a key: the block that ends before it is the last */
    uint64_t bytes, bytes_before; /* read from all files; from the files before this one */
    const struct line_args *how;
    const tamis *hasher;
    struct key_form form; /* of the hasher's keys */
    const char *counted;  /* the file of the last block that was returned */
    uint64_t lines;       /* the number of its lines before that block */
    uint64_t skipped;     /* lines with too few fields */
    struct {
        uint64_t n, line; /* how many; the line of the first */
        const char *path;
        char text[41];
    } bad;      /* weights */
    char *rest; /* the beginning of a line whose end has not been read */
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
        const bool is_stdin = strcmp(path, "-") == 0;
        const bool spent = input_is_spent(path);
        l->path = is_stdin ? "standard input" : path;
        l->in = spent ? NULL : input_open(path, l->raw);
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
static size_t read_more(struct lines *l, struct slot *s)
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

/* Keeps what follows the last line end for the next block. */
static bool set_rest_aside(struct lines *l, struct slot *s, size_t from)
{
    l->rest_size = s->size - from;
    if (!grow_buffer(&l->rest, &l->rest_room, l->rest_size)) return false;
    if (l->rest_size > 0) memcpy(l->rest, s->text + from, l->rest_size);
    s->size = from;
    return true;
}

/* Fills a slot with whole lines; false at the end of the input. */
static bool fill_slot(struct lines *l, struct slot *s)
{
    s->size = 0;
    s->split = 0;
    s->failed = false;
    if (l->rest_size > 0) {
        if (!grow_buffer(&s->text, &s->room, l->rest_size)) {
            no_memory(l);
            return false;
        }
        memcpy(s->text, l->rest, l->rest_size);
        s->size = l->rest_size;
        l->rest_size = 0;
    }
    while (l->in != NULL || open_next(l)) {
        const size_t got = read_more(l, s);
        if (got == 0) {
            close_file(l);
            if (stop_asked() != 0) return false; /* half a line is dropped */
            if (s->size == 0) continue;
            if (s->text[s->size - 1] != l->end) s->text[s->size++] = l->end;
            break;
        }
        const char *last = memrchr(s->text + s->size - got, l->end, got);
        if (last == NULL) continue; /* the line is longer than what was read */
        if (!set_rest_aside(l, s, (size_t)(last - s->text) + 1)) {
            no_memory(l);
            return false;
        }
        break;
    }
    s->path = l->path;
    s->block.input_bytes = l->bytes;
    return s->size > 0;
}

/* Whether reading would return at once. */
static bool is_ready(const struct lines *l)
{
    return l->in == NULL || input_is_ready(l->in);
}

/* --- Splitting and hashing -------------------------------------------------------------------- */

bool resize(void *array, size_t n, size_t size)
{
    void *p;
    memcpy(&p, array, sizeof p);
    p = realloc(p, n * size); /* cppcheck-suppress memleakOnRealloc ; *array still has it */
    if (p != NULL) memcpy(array, &p, sizeof p);
    return p != NULL;
}

static bool make_line_room(const struct lines *l, struct slot *s)
{
    struct block *b = &s->block;
    const size_t room = s->room_lines * 2 + 8192;
    if (!resize(&b->lines, room, sizeof *b->lines)) return false;
    if (l->how->field == 0) b->keys = b->lines;
    if ((l->how->field != 0 && !resize(&b->keys, room, sizeof *b->keys)) ||
        (l->how->group_field != 0 && !resize(&b->groups, room, sizeof *b->groups)) ||
        (l->how->weight_field != 0 && !resize(&b->weights, room, sizeof *b->weights)) ||
        (l->hasher != NULL && !resize(&b->hashes, room, sizeof *b->hashes)))
        return false;
    s->room_lines = room;
    return true;
}

/* Finds the fields of line i. False when it has too few, or a bad weight, which is counted. */
static bool cut(const struct lines *l, struct slot *s, size_t i)
{
    const struct line_args *how = l->how;
    const int delimiter = delimiter_from(how);
    const tamis_bytes line = s->block.lines[i];
    tamis_bytes weight;
    if (how->field != 0 && !field_of(line, how->field, delimiter, &s->block.keys[i])) return false;
    if (how->group_field != 0 && !field_of(line, how->group_field, delimiter, &s->block.groups[i]))
        return false;
    if (how->weight_field == 0) return true;
    if (!field_of(without_return(line), how->weight_field, delimiter, &weight)) return false;
    if (weight_of(weight, &s->block.weights[i])) return true;
    if (s->bad++ == 0) s->bad_weight = weight;
    return false;
}

/* Splits and hashes up to most_lines lines, from s->split on. */
static void process(const struct lines *l, struct slot *s)
{
    const char *p = s->text + s->split, *const stop = s->text + s->size;
    const struct line_args *how = l->how;
    const bool fields = how->field != 0 || how->weight_field != 0 || how->group_field != 0;
    size_t n = 0;
    s->block.text = p;
    s->all = 0;
    s->bad = 0;
    while (p < stop && n < l->most_lines) {
        if (n == s->room_lines && !make_line_room(l, s)) {
            s->failed = true;
            break;
        }
        const char *end =
            memchr(p, l->end, (size_t)(stop - p)); /* is there: the text ends with it */
        s->block.lines[n] = (tamis_bytes){p, (size_t)(end - p)};
        p = end + 1;
        s->all++;
        if (!fields || cut(l, s, n)) n++;
    }
    s->split = (size_t)(p - s->text);
    s->block.n = n;
    s->strange = false;
    if (l->hasher == NULL || s->failed) return;
    s->block.n = hash_texts(l->hasher, l->form, s->block.keys, n, s->block.hashes);
    s->strange = s->block.n < n;
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
    l->end = how->nul ? '\0' : '\n';
    l->raw = how->raw;
    l->how = how;
    l->hasher = hasher;
    if (hasher != NULL) l->form = key_form_of(hasher);
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
    for (const char *p = s->block.text; p < byte; p++) line += *p == l->end;
    return line;
}

static void note_bad_weights(struct lines *l, const struct slot *s)
{
    const char *p = s->bad_weight.p;
    l->bad.n += s->bad;
    if (l->bad.n != s->bad || s->bad == 0) return; /* the first bad weight came earlier */
    l->bad.path = s->path;
    l->bad.line = line_with(l, s, p);
    for (size_t i = 0; i < s->bad_weight.len && i + 1 < sizeof l->bad.text; i++)
        l->bad.text[i] =
            p[i] >= ' ' && p[i] <= '~' ? p[i] : '?'; /* a message may go to a terminal */
}

/* The blocks come in order here, so the numbers of lines are known. False after a message. */
static bool hand_out(struct lines *l, struct slot *s, uint64_t before)
{
    l->lines = l->counted == s->path ? l->lines + before : 0;
    l->counted = s->path;
    if (!s->strange) l->skipped += s->all - s->block.n - s->bad;
    s->block.path = s->path;
    s->block.before = l->lines;
    note_bad_weights(l, s);
    if (s->strange) {
        const tamis_bytes text = s->block.keys[s->block.n];
        complain_of_text(s->path, line_with(l, s, text.p), l->hasher, text);
        l->failed = l->broken = true;
        return s->block.n > 0;
    }
    if (!s->failed) return true;
    complain(NULL, "not enough memory");
    l->failed = true;
    return false;
}

const struct block *lines_next(struct lines *l)
{
    const uint64_t before = l->lent ? slot_at(l, 0)->all : 0;
    if (l->broken) return NULL;
    if (l->lent && slot_at(l, 0)->split < slot_at(l, 0)->size && !l->failed) {
        process(l, slot_at(l, 0));
        return hand_out(l, slot_at(l, 0), before) ? &slot_at(l, 0)->block : NULL;
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
    return hand_out(l, s, before) ? &s->block : NULL;
}

bool lines_wait(const struct lines *l, int milliseconds)
{
    return l->used > (l->lent ? 1u : 0u) || l->in == NULL || input_wait(l->in, milliseconds);
}

uint64_t lines_number(const struct lines *l, size_t i, const char **path)
{
    const struct slot *s = &l->slots[l->first % l->n_slots];
    *path = s->path;
    return line_with(l, s, s->block.lines[i].p);
}

bool lines_failed(const struct lines *l)
{
    return l->failed;
}

uint64_t lines_skipped(const struct lines *l)
{
    return l->skipped + l->bad.n;
}

static void tell_skipped(const struct lines *l)
{
    const uint64_t named[] = {l->how->field, l->how->weight_field, l->how->group_field};
    uint64_t last = 0;
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (named[i] > last) last = named[i];
    if (!l->finished || l->failed) return;
    if (l->skipped > 0)
        complain(NULL, "skipped %s line%s with fewer than %s fields", grouped(l->skipped),
                 l->skipped > 1 ? "s" : "", grouped(last));
    if (l->bad.n > 0)
        complain(l->bad.path,
                 "line %s: the weight '%s' is not a whole number of at most 64 "
                 "bits; skipped %s such line%s",
                 grouped(l->bad.line), l->bad.text, grouped(l->bad.n), l->bad.n > 1 ? "s" : "");
}

void lines_close(struct lines *l, bool quiet)
{
    if (!quiet) tell_skipped(l);
    pthread_mutex_lock(&l->mutex);
    l->stop = true;
    pthread_cond_broadcast(&l->filled);
    pthread_mutex_unlock(&l->mutex);
    for (unsigned i = 0; i < l->started; i++) pthread_join(l->workers[i], NULL);
    pthread_mutex_destroy(&l->mutex);
    pthread_cond_destroy(&l->filled);
    pthread_cond_destroy(&l->done);
    close_file(l);
    for (unsigned i = 0; i < MAX_BLOCKS; i++) {
        struct slot *s = &l->slots[i];
        if (l->how->field != 0) free(s->block.keys);
        free(s->block.lines);
        free(s->block.groups);
        free(s->block.weights);
        free(s->block.hashes);
        free(s->text);
    }
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
    *count = 0;
    if (l == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    while (!l->failed && open_next(l)) {
        ssize_t got;
        char last = l->end;
        while ((got = input_read(l->in, buffer, sizeof buffer)) != 0) {
            if (got < 0) {
                fail_file(l, input_reason(l->in));
                break;
            }
            uint64_t ends = 0;
            for (ssize_t i = 0; i < got; i++) ends += buffer[i] == l->end;
            *count += ends;
            last = buffer[got - 1];
        }
        *count += last != l->end; /* the last line may lack its line end */
        close_file(l);
    }
    const bool good = !l->failed;
    lines_close(l, true);
    return good;
}
