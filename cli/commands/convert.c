#include "../filters/filter.h"
#include "../filters/foreign.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"

/* Saves the filter of another kind that gives the same answers. */
static int convert_ours(const struct args *a, const tamis *t)
{
    struct progress bar;
    tamis_error why;
    tamis *plain;
    if (tamis_foreign_named(a->foreign.to) != TAMIS_FOREIGN_AUTO)
        return complain(a->words[0],
                        "its bits were not set with the hash of %s; build the filter from the keys "
                        "with 'tamis build --to %s'",
                        a->foreign.to, a->foreign.to);
    if (!check_not_distinct(t, a->words[0], "which cannot be converted to another kind"))
        return EXIT_ERROR;
    const uint32_t kind = tamis_kind_named(a->foreign.to);
    if (kind == TAMIS_AUTO)
        return complain(NULL, "--to: unknown kind or format '%s'", a->foreign.to);
    progress_wait(&bar, "converting");
    const tamis_status s = tamis_convert(t, kind, &plain, &why);
    progress_end(&bar);
    if (s != TAMIS_OK) return complain(a->words[0], "%s", why.text);
    const int status = save_filter(plain, a->output.path, a->output.force);
    tamis_close(plain);
    return status;
}

int run_convert(const struct args *a)
{
    struct foreign f;
    int status;
    if (a->n_words > 1) return complain(NULL, "convert: name one filter, not %d", a->n_words);
    if (a->foreign.to == NULL)
        return complain(NULL, "convert: give the result with --to, for example --to bloom");
    if (!check_output(a)) return EXIT_ERROR;
    if (same_file(a->words[0], a->output.path))
        return complain(a->output.path, "is the input and cannot be the output");
    tamis *t = open_any_filter(a, a->words[0], TAMIS_KEYLESS, &f);
    if (t == NULL && f.path == NULL) return EXIT_ERROR;
    if (t != NULL) {
        status = convert_ours(a, t);
        tamis_close(t);
    } else {
        status = convert_foreign(a, &f);
        foreign_close(&f);
    }
    return status;
}
