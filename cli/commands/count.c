/* count: a sketch of how often each line came, or a window of such. */
#include "../frame/cli.h"
#include "../input/fields.h"

int run_count(const struct args *a)
{
    const tamis_options o = {.struct_size = sizeof o, .key = a->key};
    const char *reason;
    tamis_plan plan;
    tamis_error why;
    tamis *t;
    if (check_output(a) != EXIT_FOUND || check_fields(a) != EXIT_FOUND || !counts_from(a, &plan))
        return EXIT_ERROR;
    if (tamis_create(&plan, &o, &t, &why) != TAMIS_OK) return complain(NULL, "count: %s", why.text);
    int status = add_lines(a, t, a->words, a->n_words, "counting", &reason);
    if (status != EXIT_FOUND && reason != NULL) complain(NULL, "count: %s", reason);
    if (status == EXIT_FOUND) status = save_filter(t, a->output, a->force);
    if (status == EXIT_FOUND) warn_if_over_full(t, shown_output(a->output), 0); /* its hashes */
    if (status == EXIT_FOUND && !a->quiet) warn_if_ended(t, shown_output(a->output));
    tamis_close(t);
    return status;
}
