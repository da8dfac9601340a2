#include "cli.h"

int run_merge(const struct args *a)
{
    if (check_output(a) != EXIT_FOUND) return EXIT_ERROR;
    tamis *all = open_filter(a, a->words[0], TAMIS_KEYLESS);
    int status = all != NULL ? EXIT_FOUND : EXIT_ERROR;
    for (int i = 1; i < a->n_words && status == EXIT_FOUND; i++) {
        tamis_error why;
        tamis *next = open_filter(a, a->words[i], TAMIS_KEYLESS);
        if (next == NULL)
            status = EXIT_ERROR;
        else if (tamis_merge(all, next, &why) != TAMIS_OK)
            status = complain(a->words[i], "cannot be merged with %s: %s", a->words[0], why.text);
        tamis_close(next);
    }
    if (status == EXIT_FOUND) status = save_filter(all, a->output, a->force);
    if (status == EXIT_FOUND && !a->quiet) warn_if_over_full(all, a->output);
    tamis_close(all);
    return status;
}
