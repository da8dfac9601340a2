/* pack and unpack: compress filters for transfer. */
#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/input.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <tamis/inspect.h>
#include <tamis/publish.h>

/* A smaller gain is not worth the unpacking. */
#define WORTH_PACKING 0.02

static void say_if_in_vain(const tamis *t, const char *path, uint64_t packed)
{
    const double image = (double)tamis_image_size(t);
    tamis_facts f = {.struct_size = sizeof f};
    if ((double)packed <= (1 - WORTH_PACKING) * image || tamis_stat(t, &f) != TAMIS_OK) return;
    if (f.kind == TAMIS_RIBBON && f.sealed)
        complain(path, "a ribbon is at the lower bound already, so packing saves nothing");
    else
        complain(path,
                 "%s bytes, packed %s: packing saves little; filters "
                 "built with --for-transfer pack better",
                 grouped((uint64_t)image), grouped(packed));
}

int run_pack(const struct args *a)
{
    uint64_t packed = 0;
    if (a->n_words > 1) return complain(NULL, "pack: name one filter, not %d", a->n_words);
    if (!check_output(a)) return EXIT_ERROR;
    if (same_file(a->words[0], a->output.path))
        return complain(a->output.path, "is the input and cannot be the output");
    tamis *t = open_filter(a, a->words[0], TAMIS_KEYLESS);
    if (t == NULL) return EXIT_ERROR;
    const int status = save_packed(t, a->output.path, a->output.force, &packed);
    if (status == EXIT_FOUND && !a->quiet) say_if_in_vain(t, a->words[0], packed);
    tamis_close(t);
    return status;
}

/* Reads a whole file, or standard input for "-"; NULL after a message. */
static uint8_t *read_packed_file(const char *path, size_t *n)
{
    struct input *in = input_open(path, true);
    struct progress bar;
    uint8_t *bytes = NULL;
    *n = 0;
    if (in == NULL) {
        complain(path, "cannot open: %s", strerror(errno));
        return NULL;
    }
    progress_wait(&bar, "reading the filter");
    const bool whole = input_read_rest(in, &bytes, n, SIZE_MAX);
    progress_end(&bar);
    if (!whole) complain(path, "cannot read: %s", input_reason(in));
    input_close(in);
    if (whole) return bytes;
    free(bytes);
    return NULL;
}

int run_unpack(const struct args *a)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_KEYLESS};
    tamis_error why;
    tamis *t;
    size_t n;
    if (a->n_words > 1) return complain(NULL, "unpack: name one file, not %d", a->n_words);
    if (!check_output(a)) return EXIT_ERROR;
    if (same_file(a->words[0], a->output.path))
        return complain(a->output.path, "is the input and cannot be the output");
    uint8_t *packed = read_packed_file(a->words[0], &n);
    if (packed == NULL) return EXIT_ERROR;
    struct progress bar;
    progress_wait(&bar, "unpacking");
    const tamis_status s = tamis_unpack(packed, n, &o, &t, &why);
    progress_end(&bar);
    free(packed);
    if (s != TAMIS_OK) return complain(a->words[0], "%s", why.text);
    const int status = save_filter(t, a->output.path, a->output.force);
    tamis_close(t);
    return status;
}
