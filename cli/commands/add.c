#include "add.h"

#include "../filters/filter.h"
#include "../filters/rate.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/lines.h"
#include "grow.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

/* A message about line i of the block, with its file and number. */
static void complain_of_line(const struct lines *in, size_t i, const tamis_error *why)
{
    const char *path;
    const uint64_t line = lines_number(in, i, &path);
    complain(path, "line %s: %s", grouped(line), reason_of(why));
}

/* Whether the sketch keeps the lines themselves, as a top does. All others take hashes. */
static bool keeps_items(tamis *t)
{
    return tamis_add_hashes(t, NULL, 0, NULL, NULL) == TAMIS_EUNSUPPORTED;
}

static tamis_status add_block(tamis *t, const struct block *b, size_t *done, tamis_error *why)
{
    if (b->hashes == NULL) return tamis_add_weight_many(t, b->keys, b->weights, b->n, done, why);
    if (b->weights == NULL) return tamis_add_hashes(t, b->hashes, b->n, NULL, done);
    return tamis_add_weight_hashes(t, b->hashes, b->weights, b->n, done, why);
}

/* Waits for the next block. NULL at the end of the input, or when the watch has stopped the
 * reading. */
static const struct block *next_block(struct lines *in, const struct watch *w)
{
    if (w == NULL) return lines_next(in);
    while (!w->stop(w->ctx) && !lines_wait(in, 100)) w->added(w->ctx, 0);
    return w->stop(w->ctx) ? NULL : lines_next(in);
}

int add_lines(const struct args *a, tamis *t, char **files, int n, const char *verb,
              const struct watch *w, const char **reason)
{
    struct lines *in =
        lines_open(&a->lines, files, n, keeps_items(t) ? NULL : t, threads_from(&a->work));
    struct progress bar = {0};
    const struct block *b;
    tamis_status s = TAMIS_OK;
    tamis_error why;
    size_t done;
    *reason = NULL;
    if (in == NULL) return complain(NULL, "not enough memory");
    if (w == NULL) progress_start(&bar, verb, lines_total_bytes(files, n));
    while (s == TAMIS_OK && !lines_failed(in) && (b = next_block(in, w)) != NULL) {
        s = add_block(t, b, &done, &why);
        if (s != TAMIS_OK) break;
        progress_update(&bar, b->n, b->input_bytes);
        if (w != NULL) w->added(w->ctx, b->n);
    }
    progress_end(&bar);
    if (s != TAMIS_OK && (a->lines.weight_field.text != NULL || s == TAMIS_EINVAL))
        complain_of_line(in, done, &why);
    else if (s != TAMIS_OK)
        *reason = why_not_added(t, s);
    const bool failed = lines_failed(in);
    lines_close(in, a->quiet);
    return failed || s != TAMIS_OK ? EXIT_ERROR : EXIT_FOUND;
}

/* Before any line is read: false after a message when the filter has no weights. */
static bool check_weights(const struct args *a, tamis *t, const char *path)
{
    tamis_error why;
    if (a->lines.weight_field.text == NULL) return true;
    if (tamis_add_weight_hashes(t, NULL, NULL, 0, NULL, &why) == TAMIS_OK) return true;
    complain(path, "%s", why.text);
    return false;
}

static bool empty(tamis *t, const char *path)
{
    if (tamis_clear(t) == TAMIS_OK) return true;
    complain(path, "unchanged: %s", why_not_added(t, TAMIS_ESEALED));
    return false;
}

static int add_and_save(const struct args *a, tamis *t, const char *path)
{
    const char *reason;
    tamis_facts f = {.struct_size = sizeof f};
    if (add_lines(a, t, a->words + 1, a->n_words - 1, "adding", NULL, &reason) != EXIT_FOUND) {
        if (reason != NULL) complain(path, "unchanged: %s", reason);
        return EXIT_ERROR;
    }
    const bool known = read_facts(t, &f);
    const int status = save_unless_overfull(a, t, known ? &f : NULL, path, "unchanged", true, 0);
    if (status == EXIT_FOUND && known && !a->quiet) warn_if_saturated(&f, path);
    return status;
}

/* Whether it is never full: --grow has nothing to do. */
static bool has_always_room(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return tamis_stat(t, &f) == TAMIS_OK && (f.kind == TAMIS_GROWING || is_sketch(&f));
}

static int update(const struct args *a, bool from_empty)
{
    const char *path = a->words[0];
    if (!check_fields(&a->lines)) return EXIT_ERROR;
    if (a->plan.list.n > 0 && !a->plan.grow) return complain(NULL, "add: --from requires --grow");
    tamis *t = open_filter(a, path, TAMIS_UPDATE | TAMIS_WAIT);
    if (t == NULL) return EXIT_ERROR;
    const bool good =
        check_hashable(t, path) && check_weights(a, t, path) && (!from_empty || empty(t, path));
    int status = EXIT_ERROR;
    if (good)
        status = a->plan.grow && !has_always_room(t) ? grow_and_save(a, t, path)
                                                     : add_and_save(a, t, path);
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
