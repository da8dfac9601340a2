#include "cli.h"

int run_convert(const struct args *a)
{
    tamis_error why;
    tamis *plain;
    if (a->n_words > 1) return complain(NULL, "convert: one filter, not %d", a->n_words);
    if (a->to == NULL) return complain(NULL, "convert: to what? --to bloom");
    const uint32_t kind = tamis_kind_named(a->to);
    if (kind == TAMIS_AUTO) return complain(NULL, "--to: there is no kind '%s'", a->to);
    if (check_output(a) != EXIT_FOUND) return EXIT_ERROR;
    if (same_file(a->words[0], a->output)) return complain(a->output, "is the input");
    tamis *t = open_filter(a, a->words[0], TAMIS_KEYLESS);
    if (t == NULL) return EXIT_ERROR;
    const tamis_status s = tamis_convert(t, kind, &plain, &why);
    tamis_close(t);
    if (s != TAMIS_OK) return complain(a->words[0], "%s", why.text);
    const int status = save_filter(plain, a->output, a->force);
    tamis_close(plain);
    return status;
}
