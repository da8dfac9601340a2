#include "label.h"

#include "../frame/args.h"

#include <stdio.h>
#include <string.h>

void label_begin(struct label *l, const struct args *a, const struct block *b)
{
    l->args = a;
    l->block = b;
    l->at = b->text;
    l->line = b->before + 1;
}

const char *label_name(const struct block *b)
{
    return strcmp(b->path, "standard input") == 0 ? "(standard input)" : b->path;
}

tamis_bytes label_of(struct label *l, size_t i)
{
    const char *line = l->block->lines[i].p;
    const char end = l->args->lines.nul ? '\0' : '\n';
    int n = 0;
    if (l->args->select.names) n = snprintf(l->text, sizeof l->text, "%s:", label_name(l->block));
    /* Lines that were skipped count as well. Each line follows a line end, so one is always
     * found. */
    for (; l->args->select.numbers && l->at < line; l->line++)
        l->at = (const char *)memchr(l->at, end, (size_t)(line - l->at)) + 1;
    if (l->args->select.numbers)
        n +=
            snprintf(l->text + n, sizeof l->text - (size_t)n, "%llu:", (unsigned long long)l->line);
    return (tamis_bytes){l->text, (size_t)n};
}
