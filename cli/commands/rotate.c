#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../input/input.h"

/* With TAMIS_UPDATE the window is saved; without it the rotation is only tried. EXIT_ERROR after a
 * message. */
static int rotate(const struct args *a, const char *path, uint32_t flags)
{
    tamis *t = open_filter(a, path, flags | TAMIS_KEYLESS);
    tamis_error why;
    int status = t != NULL ? EXIT_FOUND : EXIT_ERROR;
    if (t != NULL && tamis_rotate(t, &why) != TAMIS_OK)
        status = complain(path, "%s", reason_of(&why));
    if (status == EXIT_FOUND && (flags & TAMIS_UPDATE) != 0) status = save_filter(t, path, true);
    tamis_close(t);
    return status;
}

/* All windows are tried before the first is changed, because rotating a window again after a
 * failure would forget too much. They are not all locked at once: two commands that name the same
 * windows in another order would wait for each other for ever. */
int run_rotate(const struct args *a)
{
    int status = EXIT_FOUND;
    for (int i = 0; i < a->n_words && a->n_words > 1; i++) {
        const uint32_t lock = is_stream(a->words[i]) ? TAMIS_UPDATE : 0; /* which is refused */
        if (rotate(a, a->words[i], lock) != EXIT_FOUND) status = EXIT_ERROR;
        for (int j = 0; j < i; j++)
            if (same_file(a->words[i], a->words[j]))
                status = complain(a->words[i], "is named twice");
    }
    for (int i = 0; i < a->n_words && status == EXIT_FOUND; i++)
        status = rotate(a, a->words[i], TAMIS_UPDATE | TAMIS_WAIT);
    return status;
}
