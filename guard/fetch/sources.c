#include "fetch.h"

#include "../version/manifest.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define BLANKS_OF_LINE " \t\r\n"

bool guard_source_label(const char *text, size_t n)
{
    static const char allowed[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
    return n != 0 && n < GUARD_LABEL_SIZE && strspn(text, allowed) >= n && text[0] != '-';
}

static bool add_source(guard_sources *s, const char *label, size_t n, const char *url,
                       guard_error *why)
{
    if (!guard_source_label(label, n))
        return guard_fail(why,
                          "a label has 1 to %d letters, digits, - and _, and does not begin with -",
                          GUARD_LABEL_SIZE - 1);
    for (size_t i = 0; i < s->n; i++)
        if (strncmp(s->at[i].label, label, n) == 0 && s->at[i].label[n] == '\0')
            return guard_fail(why, "two sources have the label '%s'", s->at[i].label);
    if (s->n == GUARD_LABELS) return guard_fail(why, "there can be up to %d sources", GUARD_LABELS);
    char *copy = strdup(url);
    if (copy == NULL) return guard_fail(why, "not enough memory");
    guard_source *const new = &s->at[s->n++];
    memcpy(new->label, label, n);
    new->label[n] = '\0';
    new->url = copy;
    return true;
}

bool guard_sources_add(guard_sources *s, const char *word, guard_error *why)
{
    const size_t n = strcspn(word, "=/:?#");
    if (word[n] == '=') return add_source(s, word, n, word + n + 1, why);
    return guard_fail(why, "a source is LABEL=URL: the list needs a name");
}

/* A line of a file of sources. It is changed. */
static bool take_source(guard_sources *s, char *line, guard_error *why)
{
    char *const label = line + strspn(line, BLANKS_OF_LINE);
    const size_t n = strcspn(label, BLANKS_OF_LINE);
    if (n == 0 || *label == '#') return true;
    char *const url = label + n + strspn(label + n, BLANKS_OF_LINE);
    const size_t length = strcspn(url, BLANKS_OF_LINE);
    if (length == 0) return guard_fail(why, "a line has a label, a blank and a URL");
    if (url[length + strspn(url + length, BLANKS_OF_LINE)] != '\0')
        return guard_fail(why, "there is something behind the URL");
    url[length] = '\0';
    return add_source(s, label, n, url, why);
}

bool guard_sources_read(guard_sources *s, const char *path, guard_error *why)
{
    const size_t before = s->n;
    FILE *f = fopen(path, "re");
    if (f == NULL) return guard_fail(why, "%s: cannot read: %s", path, strerror(errno));
    char *line = NULL;
    size_t size = 0;
    unsigned long number = 0;
    bool good = true;
    guard_error reason;
    errno = 0;
    for (ssize_t n; good && (n = getline(&line, &size, f)) >= 0;) {
        number++;
        good = strlen(line) == (size_t)n ? take_source(s, line, &reason)
                                         : guard_fail(&reason, "there is a NUL byte in it");
        if (!good) guard_fail(why, "%s: line %lu: %s", path, number, reason.text);
    }
    if (good && !feof(f)) good = guard_fail(why, "%s: cannot read: %s", path, strerror(errno));
    if (good && s->n == before) good = guard_fail(why, "%s: there is no source in it", path);
    free(line);
    fclose(f);
    return good;
}

void guard_sources_free(guard_sources *s)
{
    for (size_t i = 0; i < s->n; i++) free(s->at[i].url);
    s->n = 0;
}
