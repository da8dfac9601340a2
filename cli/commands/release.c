/* release: makes a private copy of a filter, and keeps the record of such copies.
 *
 * The record is FILTER.releases, with a line for each release: a hash of the filter that was
 * released, the epsilon, a hash of the release, and its path. It is for the owner. A hash of the
 * source inside the release itself would betray the source, because anyone who guesses the set
 * could verify the guess.
 *
 * A note is on the disk before the release is published, so that no epsilon is ever forgotten. A
 * note that was cut off, by a full disk or a power failure, belongs to a release that was never
 * published. If it can be read its epsilon counts, but that release is not handed out again.
 *
 * The record belongs to a file, whatever symbolic links lead to it. A copy of the file begins a
 * record of its own. */
#include "../filters/filter.h"
#include "../filters/rate.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <tamis/inspect.h>
#include <tamis/publish.h>
#include <unistd.h>

#define HASH_TEXT 33

struct record {
    FILE *file;
    char path[PATH_MAX];
    off_t end;    /* the end of its notes; what follows was cut off */
    bool unended; /* the last note was cut off in its path, or before its line end */
    /* All notes: */
    double spent; /* the sum of the epsilons, for this and other contents of the filter */
    unsigned releases;
    /* The last release of the same content at the same epsilon: */
    bool found;
    char hash[HASH_TEXT], where[PATH_MAX];
};

/* --- Hashes of images ------------------------------------------------------------------------- */

struct hashing {
    const tamis *by;
    tamis_hash sum;
    bool begun;
};

static tamis_status mix_bytes(struct hashing *h, const void *bytes, size_t n)
{
    tamis_hash two[2] = {h->sum};
    const tamis_bytes piece = {bytes, n}, both = {two, sizeof two};
    const tamis_status s = tamis_hash_many(h->by, &piece, 1, &two[1]);
    return s == TAMIS_OK ? tamis_hash_many(h->by, &both, 1, &h->sum) : s;
}

/* The first piece is skipped: it has the generation, which may change alone. */
static tamis_status hash_piece(void *ctx, const void *bytes, size_t n)
{
    struct hashing *h = ctx;
    const bool first = !h->begun;
    h->begun = true;
    return first ? TAMIS_OK : mix_bytes(h, bytes, n);
}

/* A hash of the bits of a filter and of their meaning; false after a message. */
static bool hash_of(const tamis *t, const tamis_facts *f, char out[HASH_TEXT])
{
    const tamis_plan any = {
        .struct_size = sizeof any, .kind = TAMIS_BLOOM, .items = 1, .m = 64, .k = 1};
    struct hashing h = {.begun = false};
    tamis_error why;
    tamis *by;
    tamis_status s = tamis_create(&any, NULL, &by, &why);
    h.by = by;
    const uint64_t meaning[4] = {f->kind, f->hash, f->m, f->seed};
    if (s == TAMIS_OK) s = mix_bytes(&h, meaning, sizeof meaning);
    if (s == TAMIS_OK) s = tamis_write(t, hash_piece, &h, &why);
    tamis_close(by);
    snprintf(out, HASH_TEXT, "%016llx%016llx", (unsigned long long)h.sum.hi,
             (unsigned long long)h.sum.lo);
    if (s != TAMIS_OK) complain(NULL, "%s", tamis_status_message(s));
    return s == TAMIS_OK;
}

/* --- The record ------------------------------------------------------------------------------- */

/* Opens the record and locks it until it is closed; false after a message. */
static bool open_record(struct record *b, const char *filter)
{
    char real[PATH_MAX];
    memset(b, 0, sizeof *b);
    const bool is_real = realpath(filter, real) != NULL;
    if (!is_real || snprintf(b->path, sizeof b->path, "%s.releases", real) >= (int)sizeof b->path) {
        complain(filter, "cannot open the record of its releases: %s",
                 strerror(is_real ? ENAMETOOLONG : errno));
        return false;
    }
    /* Without a lock, two releases at once could lose a note. A record that cannot be locked is not
     * begun. */
    bool locked = access(b->path, F_OK) == 0 || can_lock_beside(b->path);
    const int fd = locked ? open(b->path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) locked = flock(fd, LOCK_EX) == 0;
    if (fd >= 0 && locked) b->file = fdopen(fd, "r+");
    if (b->file != NULL) return true;
    complain(b->path, "every release must be recorded in this file, but %s: %s",
             locked ? "it cannot be opened" : "it cannot be locked", strerror(errno));
    if (fd >= 0) close(fd);
    return false;
}

/* Adds a line, without its line end, to what is known about the record; false: it is not a note. */
static bool read_note(struct record *b, const char *line, const char *source, double epsilon)
{
    char from[HASH_TEXT], hash[HASH_TEXT], spent[64], wanted[64];
    char *end;
    int where = 0;
    if (sscanf(line, "%32s %63s %32s %n", from, spent, hash, &where) != 3 || where == 0 ||
        strlen(from) != HASH_TEXT - 1 || strlen(hash) != HASH_TEXT - 1 || line[where] == '\0' ||
        strlen(line + where) >= sizeof b->where)
        return false;
    const double cost = strtod(spent, &end);
    if (*end != '\0' || !(cost > 0)) return false;
    b->spent += cost;
    b->releases++;
    snprintf(wanted, sizeof wanted, "%.17g", epsilon);
    const bool cut_off = b->unended || line[strlen(line) - 1] == '/'; /* see write_note */
    if (cut_off || strcmp(from, source) != 0 || strcmp(spent, wanted) != 0) return true;
    b->found = true;
    strcpy(b->hash, hash);
    strcpy(b->where, line + where);
    return true;
}

/* False after a message: if it is not known what was spent, nothing more may be spent. */
static bool read_record(struct record *b, const char *source, double epsilon)
{
    char *line = NULL;
    size_t room = 0;
    ssize_t n;
    bool good = true;
    while (good && !b->unended && (n = getline(&line, &room, b->file)) > 0) {
        b->unended = line[n - 1] != '\n';
        line[strcspn(line, "\n")] = '\0';
        good = read_note(b, line, source, epsilon);
        if (good) b->end += n;
    }
    const bool cut_off = !good && b->unended;
    if (cut_off) {
        complain(b->path, "the last entry was cut off; that release was never published");
        good = true;
        b->unended = false;
    } else if (b->unended) {
        complain(b->path, "the last entry was cut off; its epsilon counts, but that release may "
                          "never have been published");
    }
    /* Reading stopped before the end: not enough memory for a line, or the disk failed. */
    if (good && !cut_off && !feof(b->file)) {
        complain(b->path, "cannot read: %s", strerror(errno));
        good = false;
    } else if (!good) {
        complain(b->path, "not a record of releases: line %u is damaged", b->releases + 1);
    }
    free(line);
    return good;
}

/* The absolute path, so that a later command finds the file; false after a message. */
static bool whole_path(const char *path, char out[PATH_MAX])
{
    char here[PATH_MAX] = "";
    if (path[0] != '/' && strcmp(path, "-") != 0) {
        if (getcwd(here, sizeof here - 1) == NULL) {
            complain(path, "cannot be recorded, because its full path is not known: %s",
                     strerror(errno));
            return false;
        }
        strcat(here, "/");
    }
    if (snprintf(out, PATH_MAX, "%s%s", here, path) >= PATH_MAX) snprintf(out, PATH_MAX, "-");
    return true;
}

/* Appends a note, which is on the disk when true is returned. After a message the record is as it
 * was before, as far as possible. */
static bool write_note(struct record *b, const char *source, double epsilon, const char *hash,
                       const char *output)
{
    char where[PATH_MAX], line[PATH_MAX + 256];
    const int fd = fileno(b->file);
    if (!whole_path(output, where)) return false;
    where[strcspn(where, "\n")] =
        '\0'; /* such a file is not found again, but a note stays one line */
    /* The path of a file never ends with a slash, so a slash marks a note that was cut off. */
    const int n = snprintf(line, sizeof line, "%s%s %.17g %s %s\n", b->unended ? "/\n" : "", source,
                           epsilon, hash, where);
    /* The folder is synchronized each time, because the command that began the record may have been
     * killed before it did. */
    const bool good = ftruncate(fd, b->end) == 0 && write_all(fd, line, (size_t)n) &&
                      fsync(fd) == 0 && sync_folder_of(b->path);
    if (good) return true;
    complain(b->path, "cannot write: %s", strerror(errno));
    if (ftruncate(fd, b->end) != 0)
        complain(b->path, "may count a release that was never published");
    return false;
}

/* --- The release ------------------------------------------------------------------------------ */

/* The release with that hash at a path, or NULL without a message. */
static tamis *kept_at(const char *path, const char *hash)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_KEYLESS};
    tamis_facts f = {.struct_size = sizeof f};
    char text[HASH_TEXT];
    tamis *t;
    if (tamis_open(path, &o, &t, NULL) != TAMIS_OK) return NULL;
    if (read_facts(t, &f) && hash_of(t, &f, text) && strcmp(text, hash) == 0) return t;
    tamis_close(t);
    return NULL;
}

/* The same release again: the existing file, or a copy of it. */
static int repeat_release(const struct args *a, const struct record *b)
{
    tamis *t = kept_at(a->output.path, b->hash);
    if (t != NULL) {
        tamis_close(t);
        if (!a->quiet) complain(a->output.path, "already is that release; nothing to do");
        return EXIT_FOUND;
    }
    t = kept_at(b->where, b->hash);
    if (t == NULL)
        return complain(a->words[0],
                        "was already released with this epsilon, as %s. That file was removed, or "
                        "never written because the command was interrupted. Restore it, or draw "
                        "fresh noise with --again, for a total epsilon of %.4g",
                        b->where, b->spent + a->release.epsilon);
    const int status =
        check_output(a) ? save_filter(t, a->output.path, a->output.force) : EXIT_ERROR;
    if (status == EXIT_FOUND && !a->quiet)
        complain(a->output.path, "a copy of %s; repeating the same release adds no epsilon",
                 b->where);
    tamis_close(t);
    return status;
}

/* Whether a number has two digits and zeros, as if it was chosen and not counted. */
static bool is_round(uint64_t v)
{
    while (v >= 100 && v % 10 == 0) v /= 10;
    return v < 100;
}

static void say_what_it_costs(const struct args *a, const struct record *b,
                              const tamis_facts *source, const tamis_facts *f)
{
    warn_of_hashes(source, a->words[0]);
    if (!is_round(source->planned_items))
        complain(a->words[0],
                 "planned for %s items, which looks like a count of its lines; the number of bits "
                 "would then reveal it, so build the filter with a round --items",
                 grouped(source->planned_items));
    fprintf(stderr, "tamis: %s: epsilon %.4g, %s of its members are missed", a->output.path,
            f->epsilon, rate_text(f->miss_rate));
    if (b->releases > 0)
        fprintf(stderr, "; total epsilon %.4g with earlier releases (%u)",
                b->spent + a->release.epsilon, b->releases);
    fputc('\n', stderr);
}

static int publish_release(const struct args *a, const tamis_facts *source, tamis *t,
                           const char *from, struct record *b)
{
    tamis_facts f = {.struct_size = sizeof f};
    char hash[HASH_TEXT];
    if (!a->output.force && access(a->output.path, F_OK) == 0)
        return complain(a->output.path,
                        "already exists and is not this release; use -f to replace it");
    if (!check_output(a) || !read_facts(t, &f)) return EXIT_ERROR;
    /* The note is written first: a note without a release costs nothing, but a release without a
     * note would. */
    if (!hash_of(t, &f, hash) || !write_note(b, from, a->release.epsilon, hash, a->output.path))
        return EXIT_ERROR;
    const int status = save_filter(t, a->output.path, a->output.force);
    if (status == EXIT_FOUND && !a->quiet) say_what_it_costs(a, b, source, &f);
    return status;
}

static int release_filter(const struct args *a, const tamis *source)
{
    struct record b;
    tamis_facts f = {.struct_size = sizeof f};
    char from[HASH_TEXT];
    struct progress bar;
    tamis_error why;
    tamis *t;
    int status = EXIT_ERROR;
    /* The release is drawn before the record is opened, so that no record is begun for a filter
     * that cannot be released. Nobody has seen it yet. */
    progress_wait(&bar, "releasing");
    const tamis_status released = tamis_release(source, a->release.epsilon, &t, &why);
    progress_end(&bar);
    if (released != TAMIS_OK) return complain(a->words[0], "%s", why.text);
    if (open_record(&b, a->words[0])) {
        const tamis_status s = tamis_info(source, &f);
        if (s != TAMIS_OK) complain(NULL, "%s", tamis_status_message(s));
        const bool good =
            s == TAMIS_OK && hash_of(source, &f, from) && read_record(&b, from, a->release.epsilon);
        if (good && b.found && !a->release.again)
            status = repeat_release(a, &b);
        else if (good)
            status = publish_release(a, &f, t, from, &b);
        fclose(b.file);
    }
    tamis_close(t);
    return status;
}

int run_release(const struct args *a)
{
    if (a->n_words > 1) return complain(NULL, "release: name one filter, not %d", a->n_words);
    if (a->release.epsilon == 0)
        return complain(NULL,
                        "release: give the privacy loss with --epsilon, for example --epsilon 1");
    if (a->output.path == NULL) {
        check_output(a);
        return EXIT_ERROR;
    }
    if (same_file(a->words[0], a->output.path))
        return complain(a->output.path, "is the input and cannot be the output");
    if (is_stream(a->words[0]))
        return complain(NULL, "release: the filter must be a file, because its "
                              "releases are recorded beside it");
    report_if_interrupted(a->output.path);
    tamis *t = open_filter(a, a->words[0], TAMIS_KEYLESS);
    if (t == NULL) return EXIT_ERROR;
    const int status = release_filter(a, t);
    tamis_close(t);
    return status;
}
