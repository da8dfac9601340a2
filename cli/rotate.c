#include "cli.h"

int run_rotate(const struct args *a)
{
    int status = EXIT_FOUND;
    for (int i = 0; i < a->n_words; i++) {
        tamis *t = open_filter(a, a->words[i], TAMIS_UPDATE | TAMIS_WAIT | TAMIS_KEYLESS);
        tamis_error why;
        if (t == NULL)
            status = EXIT_ERROR;
        else if (tamis_rotate(t, &why) != TAMIS_OK)
            status = complain(a->words[i], "%s", reason_of(&why));
        else if (save_filter(t, a->words[i], true) != EXIT_FOUND)
            status = EXIT_ERROR;
        tamis_close(t);
    }
    return status;
}
