#include "../input/fields.h"
#include "../input/lines.h"

#include <stdlib.h>

/* Lines of a block that were certainly not in. */
static size_t count_absent(const uint8_t *absent, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) count += absent[i / 8] >> i % 8 & 1;
    return count;
}

/* Removes the lines; EXIT_NONE when not a single one was in. */
static int remove_lines(const struct args *a, tamis *t, const char *path)
{
    char **files = a->words + 1;
    const int n = a->n_words - 1;
    struct lines *in = lines_open(a, files, n, t, threads_from(a));
    struct progress bar;
    const struct block *b;
    uint64_t lines = 0, absent = 0;
    tamis_error why;
    tamis_status s = TAMIS_OK;
    if (in == NULL) return complain(NULL, "not enough memory");
    progress_start(&bar, "removing", lines_total_bytes(files, n), a->quiet);
    while (s == TAMIS_OK && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        uint8_t *bits = malloc(b->n / 8 + 1);
        s = bits != NULL ? tamis_remove_hashes(t, b->hashes, b->n, bits, &why) : TAMIS_ENOMEM;
        if (s == TAMIS_OK) absent += count_absent(bits, b->n);
        lines += b->n;
        free(bits);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    const bool failed = lines_failed(in);
    lines_close(in);
    if (failed) return EXIT_ERROR; /* which was explained */
    if (s == TAMIS_ENOMEM) return complain(path, "unchanged: not enough memory");
    if (s != TAMIS_OK) return complain(path, "%s", why.text);
    tamis_facts f = {.struct_size = sizeof f};
    if (absent != 0 && !a->quiet && tamis_info(t, &f) == TAMIS_OK)
        complain(path, "%s of %s lines were %snot present", grouped(absent), grouped(lines),
                 f.may_miss ? "" : "certainly ");
    return absent < lines ? EXIT_FOUND : EXIT_NONE;
}

/* Only in a pair do removals make the rates worse. */
static void warn_if_worn(const tamis *t, const char *path)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(t, &f) == TAMIS_OK && f.may_miss &&
        rate_is_exceeded(&f, rate_asked(&f, 0, USUAL_FPR)))
        warn_of_rate(&f, path);
}

int run_remove(const struct args *a)
{
    const char *path = a->words[0];
    if (check_fields(a) != EXIT_FOUND) return EXIT_ERROR;
    tamis *t = open_filter(a, path, TAMIS_UPDATE | TAMIS_WAIT);
    tamis_error why;
    if (t == NULL) return EXIT_ERROR;
    int status = check_hashable(t, path);
    if (status == EXIT_FOUND && tamis_remove_hashes(t, NULL, 0, NULL, &why) != TAMIS_OK)
        status = complain(path, "%s", reason_of(&why)); /* before any line is read */
    if (status == EXIT_FOUND) status = remove_lines(a, t, path);
    if (status == EXIT_FOUND) status = save_filter(t, path, true);
    if (status == EXIT_FOUND) warn_if_worn(t, path);
    tamis_close(t);
    return status;
}
