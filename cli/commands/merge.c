#include "../filters/filter.h"
#include "../filters/rate.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"

#include <tamis/inspect.h>
#include <tamis/publish.h>

/* The operand that is also the output, or -1. It must stay locked from reading to writing. */
static int operand_to_update(const struct args *a)
{
    for (int i = 0; i < a->n_words; i++)
        if (same_file(a->words[i], a->output.path)) return i;
    return -1;
}

/* A private filter is refused even alone; a single filter of any other kind is copied. False after
 * a message. */
static bool can_be_merged(const tamis *t, const char *path)
{
    tamis_evidence e = {.struct_size = sizeof e};
    if (tamis_evidence_of(t, 0.5, &e, NULL) != TAMIS_OK) return true; /* it is not private */
    complain(path, "private filters cannot be merged, because their noise adds up; merge the "
                   "filters that they were released from");
    return false;
}

int run_merge(const struct args *a)
{
    struct progress bar;
    if (!check_output(a)) return EXIT_ERROR;
    const int update = operand_to_update(a), first = update >= 0 ? update : 0;
    const uint32_t lock = update >= 0 ? TAMIS_UPDATE | TAMIS_WAIT : 0;
    tamis *all = open_filter(a, a->words[first], TAMIS_KEYLESS | lock);
    int status = all != NULL && can_be_merged(all, a->words[first]) ? EXIT_FOUND : EXIT_ERROR;
    progress_count(&bar, "merging", "files", (uint64_t)a->n_words - 1);
    for (int i = 0; i < a->n_words && status == EXIT_FOUND; i++) {
        if (i == first || (update >= 0 && same_file(a->words[i], a->output.path))) continue;
        tamis_error why;
        tamis *next = open_filter(a, a->words[i], TAMIS_KEYLESS);
        if (next == NULL)
            status = EXIT_ERROR;
        else if (tamis_merge(all, next, &why) != TAMIS_OK)
            status =
                complain(a->words[i], "cannot be merged with %s: %s", a->words[first], why.text);
        tamis_close(next);
        progress_add(&bar, 1);
    }
    progress_end(&bar);
    tamis_facts f = {.struct_size = sizeof f};
    if (status == EXIT_FOUND) {
        const bool known = read_facts(all, &f);
        status =
            save_unless_overfull(a, all, known ? &f : NULL, a->output.path,
                                 update >= 0 ? "unchanged" : "not written", a->output.force, 0);
    }
    tamis_close(all);
    return status;
}
