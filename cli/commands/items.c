#include "items.h"

#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/lines.h"

#include <string.h>
#include <unistd.h>

bool check_items(const struct args *a)
{
    bool reads = a->n_words == 1;
    for (int i = 1; i < a->n_words; i++) reads = reads || strcmp(a->words[i], "-") == 0;
    if (a->lines.field.text == NULL || reads) return check_fields(&a->lines);
    complain(NULL, "%s: --field requires lines from standard input, not items as arguments",
             a->command->name);
    return false;
}

static bool use_lines(const struct args *a, use_items *use, void *ctx)
{
    struct lines *in = lines_open(&a->lines, NULL, 0, NULL, 1);
    struct progress bar = {0};
    const struct block *b;
    bool good = true;
    if (in == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    if (!progress_would_mix(a->lines.nul)) progress_start(&bar, "reading", 0);
    while (good && !output_failed() && (b = lines_next(in)) != NULL) {
        progress_pause(STDOUT_FILENO);
        good = use(ctx, b->keys, b->n);
        progress_resume(STDOUT_FILENO);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    good = good && !lines_failed(in);
    lines_close(in, a->quiet);
    return good;
}

bool read_items(const struct args *a, use_items *use, void *ctx)
{
    if (a->n_words == 1) return use_lines(a, use, ctx);
    bool good = true;
    for (int i = 1; i < a->n_words && good; i++) {
        const tamis_bytes item = {a->words[i], strlen(a->words[i])};
        good = strcmp(a->words[i], "-") == 0 ? use_lines(a, use, ctx) : use(ctx, &item, 1);
    }
    return good;
}
