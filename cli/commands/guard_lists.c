#ifdef WITH_GUARD
#include "guard_lists.h"

#include "../frame/output.h"

#include "../../guard/version/manifest.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* Takes over the word, which is NULL if there was not enough memory for it. */
static bool push_word(struct list_words *w, char *word)
{
    char **more = word != NULL ? realloc(w->at, (w->n + 1) * sizeof *more) : NULL;
    if (more == NULL) {
        free(word);
        complain(NULL, "not enough memory");
        return false;
    }
    w->at = more;
    w->at[w->n++] = word;
    return true;
}

static bool is_list_name(const char *name)
{
    const size_t n = strlen(name);
    return name[0] != '.' && n > 4 && strcmp(name + n - 4, ".txt") == 0;
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The path of a list in a directory. One that begins with a name and a = would be taken for
 * LABEL=FILE, so a relative one then begins with a dot. */
static char *path_in(const char *directory, const char *name)
{
    char *path = guard_path(directory, name), *longer = NULL;
    if (path == NULL || directory[0] == '/' || strchr(directory, '=') == NULL) return path;
    longer = guard_path(".", path);
    free(path);
    return longer;
}

static bool push_directory(struct list_words *w, const char *directory)
{
    const size_t before = w->n;
    DIR *all = opendir(directory);
    if (all == NULL) return complain(directory, "%s", strerror(errno)) == EXIT_FOUND;
    bool good = true;
    errno = 0;
    for (const struct dirent *e; good && (e = readdir(all)) != NULL; errno = 0) {
        if (is_list_name(e->d_name)) good = push_word(w, path_in(directory, e->d_name));
    }
    if (good && errno != 0) good = complain(directory, "%s", strerror(errno)) == EXIT_FOUND;
    closedir(all);
    if (good && w->n == before)
        good = complain(directory, "has no list; their names end in .txt") == EXIT_FOUND;
    if (good) qsort(w->at + before, w->n - before, sizeof *w->at, by_name);
    return good;
}

bool list_words_of(char *const *words, size_t n, struct list_words *out)
{
    struct stat st;
    bool good = true;
    memset(out, 0, sizeof *out);
    for (size_t i = 0; i < n && good; i++) {
        const bool folder = stat(words[i], &st) == 0 && S_ISDIR(st.st_mode);
        good = folder ? push_directory(out, words[i]) : push_word(out, strdup(words[i]));
    }
    if (!good) list_words_free(out);
    return good;
}

void list_words_free(struct list_words *w)
{
    for (size_t i = 0; i < w->n; i++) free(w->at[i]);
    free(w->at);
    memset(w, 0, sizeof *w);
}
#endif
