#include "state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Takes the value of a line "name value" that is plain text; false if this is another line. */
static bool take_value(const char *line, const char *name, char *to, size_t size)
{
    const size_t n = strlen(name);
    if (strncmp(line, name, n) != 0 || line[n] != ' ') return false;
    const char *value = line + n + 1;
    size_t length = 0;
    while (value[length] >= ' ' && value[length] < 0x7f) length++;
    if (value[length] != '\n' || length >= size) return false;
    memcpy(to, value, length);
    to[length] = '\0';
    return true;
}

static bool is_sum(const char *text)
{
    return strlen(text) == 2 * GUARD_HASH_SIZE &&
           strspn(text, "0123456789abcdef") == 2 * GUARD_HASH_SIZE;
}

bool guard_fetch_state_read(const char *path, struct guard_fetch_state *out)
{
    struct stat st;
    char *line = NULL;
    size_t room = 0;
    memset(out, 0, sizeof *out);
    FILE *in = stat(path, &st) == 0 && S_ISREG(st.st_mode) ? fopen(path, "re") : NULL;
    if (in == NULL) return false;
    bool good = true;
    while (good && getline(&line, &room, in) >= 0)
        good = take_value(line, "url", out->url, sizeof out->url) ||
               take_value(line, "list", out->list, sizeof out->list) ||
               take_value(line, "etag", out->tags.etag, sizeof out->tags.etag) ||
               take_value(line, "modified", out->tags.modified, sizeof out->tags.modified);
    good = good && feof(in);
    fclose(in);
    free(line);
    return good && is_sum(out->url) && is_sum(out->list);
}

size_t guard_fetch_state_print(const struct guard_fetch_state *s, char *text)
{
    const size_t room = GUARD_FETCH_STATE_BYTES;
    size_t n = (size_t)snprintf(text, room, "url %s\nlist %s\n", s->url, s->list);
    if (s->tags.etag[0] != '\0')
        n += (size_t)snprintf(text + n, room - n, "etag %s\n", s->tags.etag);
    if (s->tags.modified[0] != '\0')
        n += (size_t)snprintf(text + n, room - n, "modified %s\n", s->tags.modified);
    return n;
}
