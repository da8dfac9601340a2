#include "cli.h"
#include "lines.h"

static int add_lines(const struct args *a, tamis *t, const char *path)
{
    char **files = a->words + 1;
    const int n = a->n_words - 1;
    struct lines *in = lines_open(a, files, n, t, threads_from(a));
    struct progress bar;
    const struct block *b;
    tamis_status s = TAMIS_OK;
    if (in == NULL) return complain(NULL, "not enough memory");
    progress_start(&bar, "adding", lines_total_bytes(files, n), a->quiet);
    while (s == TAMIS_OK && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        s = tamis_add_hashes(t, b->hashes, b->n, NULL, NULL);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    const bool failed = lines_failed(in);
    lines_close(in);
    if (failed) return complain(path, "unchanged");
    return s == TAMIS_OK ? EXIT_FOUND : complain(path, "unchanged: %s", why_not_added(t, s));
}

static int update(const struct args *a, bool from_empty)
{
    const char *path = a->words[0];
    tamis *t = open_filter(a, path, TAMIS_UPDATE | TAMIS_WAIT);
    if (t == NULL) return EXIT_ERROR;
    int status = check_hashable(t, path);
    if (status == EXIT_FOUND && from_empty && tamis_clear(t) != TAMIS_OK)
        status = complain(path, "unchanged: %s", why_not_added(t, TAMIS_ESEALED));
    if (status == EXIT_FOUND) status = add_lines(a, t, path);
    if (status == EXIT_FOUND) status = save_filter(t, path, true);
    if (status == EXIT_FOUND && !a->quiet) warn_if_over_full(t, path);
    tamis_close(t);
    return status;
}

int run_add(const struct args *a)
{
    return update(a, false);
}

int run_compact(const struct args *a)
{
    return update(a, true);
}
