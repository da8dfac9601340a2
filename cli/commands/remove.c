#include "../filters/filter.h"
#include "../filters/rate.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/lines.h"

#include <tamis/inspect.h>

#include <stdlib.h>

/* The number of lines of a block that were not in the filter. */
static size_t count_absent(const uint8_t *absent, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += absent[i / 8] >> i % 8 & 1;
    return count;
}

struct removed {
    uint64_t lines, absent; /* all of them; those that were not in the filter */
};

/* False after a message. */
static bool remove_lines(const struct args *a, tamis *t, const char *path, struct removed *r)
{
    char **files = a->words + 1;
    const int n = a->n_words - 1;
    struct lines *in = lines_open(&a->lines, files, n, t, threads_from(&a->work));
    struct progress bar;
    const struct block *b;
    tamis_error why;
    tamis_status s = TAMIS_OK;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    progress_start(&bar, "removing", lines_total_bytes(files, n));
    while (s == TAMIS_OK && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        uint8_t *bits = malloc(b->n / 8 + 1);
        s = bits != NULL ? tamis_remove_hashes(t, b->hashes, b->n, bits, &why) : TAMIS_ENOMEM;
        if (s == TAMIS_OK) r->absent += count_absent(bits, b->n);
        r->lines += b->n;
        free(bits);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    const bool failed = lines_failed(in);
    lines_close(in, a->quiet);
    if (failed) return false; /* after a message */
    if (s == TAMIS_ENOMEM)
        complain(path, "unchanged: not enough memory");
    else if (s != TAMIS_OK)
        complain(path, "%s", why.text);
    return s == TAMIS_OK;
}

/* EXIT_NONE when none of the lines was in the filter, which is then not saved. Only in a pair,
 * which may miss keys, do removals make the rates worse. */
static int remove_and_save(const struct args *a, tamis *t, const char *path)
{
    struct removed r = {0, 0};
    tamis_facts f = {.struct_size = sizeof f};
    if (!remove_lines(a, t, path, &r)) return EXIT_ERROR;
    const bool known = tamis_stat(t, &f) == TAMIS_OK;
    if (r.absent != 0 && !a->quiet && known)
        complain(path, "%s of %s lines were %snot present", grouped(r.absent), grouped(r.lines),
                 f.may_miss ? "" : "certainly ");
    if (r.absent == r.lines) return EXIT_NONE;
    const int status = save_filter(t, path, true);
    if (status == EXIT_FOUND && known && f.may_miss && read_facts(t, &f) &&
        rate_is_exceeded(&f, rate_asked(&f, 0, USUAL_FPR)))
        warn_of_rate(&f, path);
    return status;
}

int run_remove(const struct args *a)
{
    const char *path = a->words[0];
    if (!check_fields(&a->lines)) return EXIT_ERROR;
    tamis *t = open_filter(a, path, TAMIS_UPDATE | TAMIS_WAIT);
    tamis_error why;
    if (t == NULL) return EXIT_ERROR;
    int status = EXIT_ERROR;
    const bool hashable =
        check_hashable(t, path) &&
        check_not_distinct(t, path,
                           "from which no line can be removed; a window forgets old lines: 'tamis "
                           "distinct --generations N -o FILE'");
    if (hashable && tamis_remove_hashes(t, NULL, 0, NULL, &why) != TAMIS_OK)
        complain(path, "%s", reason_of(&why)); /* before any line is read */
    else if (hashable)
        status = remove_and_save(a, t, path);
    tamis_close(t);
    return status;
}
