#include "rotate.h"
#include "../filters/epoch.h"
#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../input/input.h"

#include <tamis/inspect.h>

bool epoch_asked(const struct args *a, uint64_t *epoch)
{
    *epoch = a->rotate.to;
    if (a->rotate.every > 0 && a->rotate.to != 0) {
        complain(NULL, "rotate: --every and --to cannot be combined");
        return false;
    }
    if (a->rotate.every > 0) *epoch = epoch_now(a->rotate.every);
    return true;
}

static bool is_at(const tamis *t, uint64_t epoch)
{
    tamis_facts f = {.struct_size = sizeof f};
    return epoch != 0 && tamis_stat(t, &f) == TAMIS_OK && f.epoch == epoch;
}

/* With TAMIS_UPDATE the window is saved; without it the rotation is only tried. With epoch 0 it
 * rotates once. EXIT_ERROR after a message. */
static int rotate(const struct args *a, const char *path, uint64_t epoch, uint32_t flags)
{
    tamis *t = open_filter(a, path, flags | TAMIS_KEYLESS);
    tamis_error why;
    int status = t != NULL ? EXIT_FOUND : EXIT_ERROR;
    const bool done = t != NULL && is_at(t, epoch);
    if (t != NULL &&
        (epoch != 0 ? tamis_rotate_to(t, epoch, &why) : tamis_rotate(t, &why)) != TAMIS_OK)
        status = why.status != TAMIS_EUNSUPPORTED ||
                         check_not_distinct(t, path,
                                            "which has no generations; make a window of them with "
                                            "'tamis distinct --generations N -o FILE'")
                     ? complain(path, "%s", reason_of(&why))
                     : EXIT_ERROR;
    if (status == EXIT_FOUND && !done && (flags & TAMIS_UPDATE) != 0)
        status = save_filter(t, path, true);
    tamis_close(t);
    return status;
}

/* All windows are tried before the first is changed, because rotating a window again after a
 * failure would forget too much. They are not all locked at once: two commands that name the same
 * windows in another order would wait for each other for ever. */
int run_rotate(const struct args *a)
{
    int status = EXIT_FOUND;
    uint64_t epoch;
    if (!epoch_asked(a, &epoch)) return EXIT_ERROR;
    for (int i = 0; i < a->n_words && a->n_words > 1; i++) {
        const uint32_t lock = is_stream(a->words[i]) ? TAMIS_UPDATE : 0; /* which is refused */
        if (rotate(a, a->words[i], epoch, lock) != EXIT_FOUND) status = EXIT_ERROR;
        for (int j = 0; j < i; j++)
            if (same_file(a->words[i], a->words[j]))
                status = complain(a->words[i], "is named twice");
    }
    for (int i = 0; i < a->n_words && status == EXIT_FOUND; i++)
        status = rotate(a, a->words[i], epoch, TAMIS_UPDATE | TAMIS_WAIT);
    return status;
}
