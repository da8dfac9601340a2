/* count: makes a sketch of how often each line occurs, or a window of sketches. */
#include "../filters/filter.h"
#include "../filters/rate.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../input/fields.h"
#include "add.h"

#include <tamis/inspect.h>

int run_count(const struct args *a)
{
    const tamis_options o = {.struct_size = sizeof o, .key = a->key.bytes};
    const char *reason;
    tamis_facts f = {.struct_size = sizeof f};
    tamis_plan plan;
    tamis_error why;
    tamis *t;
    if (!check_output(a) || !check_fields(&a->lines) || !counts_from(&a->plan, &plan))
        return EXIT_ERROR;
    if (tamis_create(&plan, &o, &t, &why) != TAMIS_OK) return complain(NULL, "count: %s", why.text);
    int status = EXIT_ERROR;
    reason = NULL;
    if (check_hashable(t, shown_output(a->output.path)))
        status = add_lines(a, t, a->words, a->n_words, "counting", NULL, &reason);
    if (status != EXIT_FOUND && reason != NULL) complain(NULL, "count: %s", reason);
    if (status == EXIT_FOUND) status = save_filter(t, a->output.path, a->output.force);
    if (status == EXIT_FOUND && tamis_info(t, &f) == TAMIS_OK) {
        warn_of_hashes(&f, shown_output(a->output.path));
        if (!a->quiet) warn_if_saturated(&f, shown_output(a->output.path));
    }
    tamis_close(t);
    return status;
}
