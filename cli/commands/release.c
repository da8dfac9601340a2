/* release: a private copy of a filter, and the book that is kept of such copies.
 *
 * The book is FILTER.releases, a line for each: a hash of the filter that was released, the
 * epsilon, a hash of the release and where it went. It is for the owner. A hash of the source
 * within the release itself would betray the source: whoever guesses the set could prove the guess.
 * A note is on the disk before the release is anywhere, so that no epsilon is ever forgotten; one
 * that was cut off, by a full disk or a power failure, is of a release that never came out. Where
 * it can be read all the same its epsilon counts, but it is no release to hand out again.
 *
 * The book belongs to a file, whatever symbolic links lead to it; a copy of the file begins its
 * own. */
#include "../frame/cli.h"
#include "../input/input.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <tamis/publish.h>
#include <unistd.h>

#define HASH_TEXT 33

struct book {
    FILE *file;
    char path[PATH_MAX];
    off_t end;    /* of its notes; what follows was cut off */
    bool unended; /* the last note was cut off in its path, or before its line end */
    /* Of all that is in it: */
    double spent; /* epsilons of every release, of this and other contents of the filter */
    unsigned releases;
    /* Of the last release of this very content at this epsilon: */
    bool found;
    char hash[HASH_TEXT], where[PATH_MAX];
};

/* --- Hashes of images ------------------------------------------------------------------------- */

struct hashing {
    const tamis *by;
    tamis_hash sum;
    bool begun;
};

static tamis_status mix(struct hashing *h, const void *bytes, size_t n)
{
    tamis_hash two[2] = {h->sum};
    const tamis_bytes piece = {bytes, n}, both = {two, sizeof two};
    const tamis_status s = tamis_hash_many(h->by, &piece, 1, &two[1]);
    return s == TAMIS_OK ? tamis_hash_many(h->by, &both, 1, &h->sum) : s;
}

/* The first piece has the generation, which changes when nothing else does. */
static tamis_status hash_piece(void *ctx, const void *bytes, size_t n)
{
    struct hashing *h = ctx;
    const bool first = !h->begun;
    h->begun = true;
    return first ? TAMIS_OK : mix(h, bytes, n);
}

/* A hash of the bits of a filter, and of what they mean; false after a message. */
static bool hash_of(const tamis *t, char out[HASH_TEXT])
{
    const tamis_plan any = {
        .struct_size = sizeof any, .kind = TAMIS_BLOOM, .items = 1, .m = 64, .k = 1};
    struct hashing h = {.begun = false};
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    tamis *by;
    tamis_status s = tamis_create(&any, NULL, &by, &why);
    h.by = by;
    if (s == TAMIS_OK) s = tamis_info(t, &f);
    const uint64_t meaning[4] = {f.kind, f.hash, f.m, f.seed};
    if (s == TAMIS_OK) s = mix(&h, meaning, sizeof meaning);
    if (s == TAMIS_OK) s = tamis_write(t, hash_piece, &h, &why);
    tamis_close(by);
    snprintf(out, HASH_TEXT, "%016llx%016llx", (unsigned long long)h.sum.hi,
             (unsigned long long)h.sum.lo);
    if (s != TAMIS_OK) complain(NULL, "%s", tamis_status_message(s));
    return s == TAMIS_OK;
}

/* --- The book --------------------------------------------------------------------------------- */

/* Opened, and locked until it is closed; false after a message. */
static bool open_book(struct book *b, const char *filter)
{
    char real[PATH_MAX];
    memset(b, 0, sizeof *b);
    const bool is_real = realpath(filter, real) != NULL;
    if (!is_real || snprintf(b->path, sizeof b->path, "%s.releases", real) >= (int)sizeof b->path) {
        complain(filter, "cannot open the record of its releases: %s",
                 strerror(is_real ? ENAMETOOLONG : errno));
        return false;
    }
    /* Without a lock, of two releases at once one note could be lost. A book that cannot be locked
     * is not begun. */
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

/* Adds a line, without its end, to what is known of the book; false: it is none. */
static bool read_note(struct book *b, const char *line, const char *source, double epsilon)
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
    const bool cut_off = b->unended || line[strlen(line) - 1] == '/'; /* see note() */
    if (cut_off || strcmp(from, source) != 0 || strcmp(spent, wanted) != 0) return true;
    b->found = true;
    strcpy(b->hash, hash);
    strcpy(b->where, line + where);
    return true;
}

/* False after a message: who cannot read what was spent must not spend more. */
static bool read_book(struct book *b, const char *source, double epsilon)
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
    /* Not at the end either: no memory for a line, or the disk. */
    if (good && !cut_off && !feof(b->file)) {
        complain(b->path, "cannot read: %s", strerror(errno));
        good = false;
    } else if (!good) {
        complain(b->path, "not a record of releases: line %u is damaged", b->releases + 1);
    }
    free(line);
    return good;
}

/* Where a later command finds the file, wherever that is run; false after a message. */
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

/* On the disk when true is returned; as it was before, as far as possible, after a message. */
static bool note(struct book *b, const char *source, double epsilon, const char *hash,
                 const char *output)
{
    char where[PATH_MAX], line[PATH_MAX + 256];
    const int fd = fileno(b->file);
    if (!whole_path(output, where)) return false;
    where[strcspn(where, "\n")] = '\0'; /* then it is not found again; a line is a line */
    /* No file has a path with a slash at its end: so a note that was cut off stays one. */
    const int n = snprintf(line, sizeof line, "%s%s %.17g %s %s\n", b->unended ? "/\n" : "", source,
                           epsilon, hash, where);
    /* The folder each time: who began the book may have been killed before that. */
    const bool good = ftruncate(fd, b->end) == 0 && write_all(fd, line, (size_t)n) &&
                      fsync(fd) == 0 && sync_folder_of(b->path);
    if (good) return true;
    complain(b->path, "cannot write: %s", strerror(errno));
    if (ftruncate(fd, b->end) != 0)
        complain(b->path, "may count a release that was never published");
    return false;
}

/* --- The release ------------------------------------------------------------------------------ */

/* The release of that hash at a path, or NULL, without a word. */
static tamis *kept_at(const char *path, const char *hash)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_KEYLESS};
    char text[HASH_TEXT];
    tamis *t;
    if (tamis_open(path, &o, &t, NULL) != TAMIS_OK) return NULL;
    if (hash_of(t, text) && strcmp(text, hash) == 0) return t;
    tamis_close(t);
    return NULL;
}

/* The same release again: the file that is there, or a copy of it. */
static int repeat(const struct args *a, const struct book *b)
{
    tamis *t = kept_at(a->output, b->hash);
    if (t != NULL) {
        tamis_close(t);
        if (!a->quiet) complain(a->output, "already is that release; nothing to do");
        return EXIT_FOUND;
    }
    t = kept_at(b->where, b->hash);
    if (t == NULL)
        return complain(
            a->words[0],
            "was already released with this epsilon, as %s. That file was removed, or never "
            "written because the command was interrupted. Restore it, or draw fresh noise with "
            "--again, for a total epsilon of %.4g",
            b->where, b->spent + a->epsilon);
    int status = check_output(a);
    if (status == EXIT_FOUND) status = save_filter(t, a->output, a->force);
    if (status == EXIT_FOUND && !a->quiet)
        complain(a->output, "a copy of %s; repeating the same release adds no epsilon", b->where);
    tamis_close(t);
    return status;
}

/* Two digits and zeros: chosen, not counted. */
static bool is_round(uint64_t v)
{
    while (v >= 100 && v % 10 == 0) v /= 10;
    return v < 100;
}

static void say_what_it_costs(const struct args *a, const struct book *b, const tamis *source,
                              const tamis_facts *f)
{
    tamis_facts of_source = {.struct_size = sizeof of_source};
    if (tamis_info(source, &of_source) == TAMIS_OK) warn_of_hashes(&of_source, a->words[0]);
    if (of_source.kind != 0 && !is_round(of_source.planned_items))
        complain(a->words[0],
                 "planned for %s items, which looks like a count of its lines; the number of bits "
                 "would then reveal it, so build the filter with a round --items",
                 grouped(of_source.planned_items));
    fprintf(stderr, "tamis: %s: epsilon %.4g, %s of its members are missed", a->output, f->epsilon,
            rate_text(f->miss_rate));
    if (b->releases > 0)
        fprintf(stderr, "; total epsilon %.4g with earlier releases (%u)", b->spent + a->epsilon,
                b->releases);
    fputc('\n', stderr);
}

static int publish(const struct args *a, const tamis *source, tamis *t, const char *from,
                   struct book *b)
{
    tamis_facts f = {.struct_size = sizeof f};
    char hash[HASH_TEXT];
    if (!a->force && access(a->output, F_OK) == 0)
        return complain(a->output, "already exists and is not this release; use -f to replace it");
    if (check_output(a) != EXIT_FOUND || tamis_info(t, &f) != TAMIS_OK) return EXIT_ERROR;
    /* Noted first: a release that nobody got costs nothing, one that nobody noted would. */
    if (!hash_of(t, hash) || !note(b, from, a->epsilon, hash, a->output)) return EXIT_ERROR;
    const int status = save_filter(t, a->output, a->force);
    if (status == EXIT_FOUND && !a->quiet) say_what_it_costs(a, b, source, &f);
    return status;
}

static int release(const struct args *a, const tamis *source)
{
    struct book b;
    char from[HASH_TEXT];
    tamis_error why;
    tamis *t;
    int status = EXIT_ERROR;
    /* Drawn before the book is opened, so that none is begun for what cannot be released. Nobody
     * has seen it yet. */
    if (tamis_release(source, a->epsilon, &t, &why) != TAMIS_OK)
        return complain(a->words[0], "%s", why.text);
    if (open_book(&b, a->words[0])) {
        if (hash_of(source, from) && read_book(&b, from, a->epsilon))
            status = b.found && !a->again ? repeat(a, &b) : publish(a, source, t, from, &b);
        fclose(b.file);
    }
    tamis_close(t);
    return status;
}

int run_release(const struct args *a)
{
    if (a->n_words > 1) return complain(NULL, "release: name one filter, not %d", a->n_words);
    if (a->epsilon == 0)
        return complain(NULL, "release: give the privacy loss with "
                              "--epsilon, for example --epsilon 1");
    if (a->output == NULL) return check_output(a);
    if (same_file(a->words[0], a->output))
        return complain(a->output, "is the input and cannot be the output");
    if (is_stream(a->words[0]))
        return complain(NULL, "release: the filter must be a file, because its "
                              "releases are recorded beside it");
    tamis *t = open_filter(a, a->words[0], TAMIS_KEYLESS);
    if (t == NULL) return EXIT_ERROR;
    const int status = release(a, t);
    tamis_close(t);
    return status;
}
