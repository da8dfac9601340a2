#include "../frame/cli.h"
#include "../input/fields.h"
#include "../input/lines.h"

/* What refused line i of the block, and where that stands. */
static void complain_of_line(const struct lines *in, size_t i, const tamis_error *why)
{
    const char *path;
    const uint64_t line = lines_number(in, i, &path);
    complain(path, "line %s: %s", grouped(line), reason_of(why));
}

/* A top keeps the lines themselves; all others need their hashes only. */
static bool keeps_items(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return tamis_info(t, &f) == TAMIS_OK && f.entries != 0;
}

static tamis_status add_block(tamis *t, const struct block *b, size_t *done, tamis_error *why)
{
    if (b->hashes == NULL) return tamis_add_weight_many(t, b->keys, b->weights, b->n, done, why);
    if (b->weights == NULL) return tamis_add_hashes(t, b->hashes, b->n, NULL, done);
    return tamis_add_weight_hashes(t, b->hashes, b->weights, b->n, done, why);
}

/* The next block, however long it takes; NULL: there is none, or the watch has stopped it. */
static const struct block *next_block(struct lines *in, const struct watch *w)
{
    while (w != NULL && !w->stop(w->ctx) && !lines_wait(in, 100)) w->added(w->ctx, 0);
    return w != NULL && w->stop(w->ctx) ? NULL : lines_next(in);
}

int add_lines_watched(const struct args *a, tamis *t, char **files, int n, const char *verb,
                      const struct watch *w, const char **reason)
{
    struct lines *in = lines_open(a, files, n, keeps_items(t) ? NULL : t, threads_from(a));
    struct progress bar;
    const struct block *b;
    tamis_status s = TAMIS_OK;
    tamis_error why;
    size_t done;
    *reason = NULL;
    if (in == NULL) return complain(NULL, "not enough memory");
    progress_start(&bar, verb, lines_total_bytes(files, n), a->quiet || w != NULL);
    while (s == TAMIS_OK && !lines_failed(in) && (b = next_block(in, w)) != NULL) {
        s = add_block(t, b, &done, &why);
        if (s != TAMIS_OK) break;
        progress_update(&bar, b->n, b->input_bytes);
        if (w != NULL) w->added(w->ctx, b->n);
    }
    progress_end(&bar);
    if (s != TAMIS_OK && a->weight_field != 0)
        complain_of_line(in, done, &why);
    else if (s != TAMIS_OK)
        *reason = why_not_added(t, s);
    const bool failed = lines_failed(in);
    lines_close(in);
    return failed || s != TAMIS_OK ? EXIT_ERROR : EXIT_FOUND;
}

int add_lines(const struct args *a, tamis *t, char **files, int n, const char *verb,
              const char **reason)
{
    return add_lines_watched(a, t, files, n, verb, NULL, reason);
}

static int add_or_leave(const struct args *a, tamis *t, const char *path)
{
    const char *reason;
    if (add_lines(a, t, a->words + 1, a->n_words - 1, "adding", &reason) == EXIT_FOUND)
        return EXIT_FOUND;
    /* What went wrong with a line or a file was said already. */
    return reason != NULL ? complain(path, "unchanged: %s", reason) : EXIT_ERROR;
}

/* Before any line is read: EXIT_ERROR after a message when it knows no weights. */
static int check_weights(const struct args *a, tamis *t, const char *path)
{
    tamis_error why;
    if (a->weight_field == 0 || tamis_add_weight_hashes(t, NULL, NULL, 0, NULL, &why) == TAMIS_OK)
        return EXIT_FOUND;
    return complain(path, "%s", why.text);
}

static int update(const struct args *a, bool from_empty)
{
    const char *path = a->words[0];
    tamis *t = open_filter(a, path, TAMIS_UPDATE | TAMIS_WAIT);
    if (t == NULL) return EXIT_ERROR;
    int status = check_hashable(t, path);
    if (status == EXIT_FOUND) status = check_weights(a, t, path);
    if (status == EXIT_FOUND && from_empty && tamis_clear(t) != TAMIS_OK)
        status = complain(path, "unchanged: %s", why_not_added(t, TAMIS_ESEALED));
    if (status == EXIT_FOUND) status = add_or_leave(a, t, path);
    if (status == EXIT_FOUND) status = save_unless_overfull(a, t, path, "unchanged", true, 0);
    if (status == EXIT_FOUND && !a->quiet) warn_if_ended(t, path);
    tamis_close(t);
    return status;
}

int run_add(const struct args *a)
{
    if (check_fields(a) != EXIT_FOUND) return EXIT_ERROR;
    return update(a, false);
}

int run_compact(const struct args *a)
{
    if (check_fields(a) != EXIT_FOUND) return EXIT_ERROR;
    return update(a, true);
}
