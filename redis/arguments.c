/* Produces the arguments of a command, as COMMAND DOCS lists them, from the line that the manual
 * prints. The line has this grammar:
 *
 *     list    = element { " " element }
 *     element = word | TOKEN | TOKEN " " word | "[" list "]" | "[" TOKEN { " | " TOKEN } "]"
 *             | "[" word { " " word } " ...]"
 *
 * The last form repeats as many elements as it has words: "item increment [item increment ...]" is
 * a block of two elements that may occur more than once. A word after a token is the value of the
 * token. */
#include "commands.h"

#include <ctype.h>

#define MOST 24u /* the most elements of one list; TAMIS.CREATE has 20 */

struct reader {
    const char *at;
    struct redis_arguments *room;
    bool failed;
};

static bool is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Returns a lower-case copy that lives as long as the room, followed by the character `end`. */
static char *keep_text(struct reader *r, const char *p, size_t n, char end)
{
    struct redis_arguments *room = r->room;
    if (n + 1 > sizeof room->text - room->text_used) {
        r->failed = true;
        return NULL;
    }
    char *copy = room->text + room->text_used;
    for (size_t i = 0; i < n; i++) copy[i] = (char)tolower((unsigned char)p[i]);
    copy[n] = end;
    room->text_used += n + 1;
    return copy;
}

static char *next_word(struct reader *r, size_t *len)
{
    const char *start = r->at;
    while (is_word(*r->at)) r->at++;
    *len = (size_t)(r->at - start);
    if (*len == 0) r->failed = true;
    return keep_text(r, start, *len, 0);
}

static int argument_type(const char *word)
{
    static const struct {
        int type;
        const char *words;
    } types[] = {
        {REDIS_ARGUMENT_KEY, " key destination source "},
        {REDIS_ARGUMENT_STRING, " item data kind inner image encoding "},
        {REDIS_ARGUMENT_DOUBLE,
         " error_rate error probability decay rate delta value quantile low_cut_percentile "
         "high_cut_percentile "},
        {REDIS_ARGUMENT_INTEGER,
         " capacity expansion iterator bucketsize maxiterations width depth cell_size increment "
         "numkeys weight k n items bytes m seed cellbits generations excluded epoch "
         "offset count compression rank reverse_rank "},
    };
    const size_t len = strlen(word);
    for (size_t i = 0; len > 0 && i < sizeof types / sizeof *types; i++)
        for (const char *p = types[i].words; (p = strstr(p, word)) != NULL; p++)
            if (p[-1] == ' ' && p[len] == ' ') return types[i].type;
    return -1;
}

/* Reads a word, a token, or a token with its value. */
static struct redis_argument read_one(struct reader *r)
{
    struct redis_argument a = {0};
    const bool token = isupper((unsigned char)*r->at);
    const char *start = r->at;
    size_t len;
    a.name = next_word(r, &len);
    if (token) {
        char *copy = keep_text(r, start, len, 0);
        if (copy != NULL) memcpy(copy, start, len);
        a.token = copy;
        if (*r->at != ' ' || !islower((unsigned char)r->at[1])) {
            a.type = REDIS_ARGUMENT_TOKEN;
            return a;
        }
        r->at++;
        a.name = next_word(r, &len);
    }
    if (a.name == NULL || (a.type = argument_type(a.name)) < 0) r->failed = true;
    /* The first key specification is the key that is written, or the only one; the second covers
     * the sources. */
    if (a.type == REDIS_ARGUMENT_KEY) a.key_spec = !r->failed && strcmp(a.name, "source") == 0;
    return a;
}

/* Copies the list and adds the element that ends it. Returns NULL when there is no room. */
static struct redis_argument *store(struct reader *r, const struct redis_argument *list, size_t n)
{
    struct redis_arguments *room = r->room;
    if (r->failed || n == 0 || n + 1 > REDIS_MOST_ARGUMENTS - room->used) {
        r->failed = true;
        return NULL;
    }
    struct redis_argument *copy = room->list + room->used;
    memcpy(copy, list, n * sizeof *list);
    copy[n] = (struct redis_argument){0};
    room->used += n + 1;
    return copy;
}

/* Combines several arguments into one. A block is named after all of them: "item-increment". */
static struct redis_argument group(struct reader *r, int type, const struct redis_argument *list,
                                   size_t n)
{
    struct redis_argument a = {.type = type, .name = "field", .sub = store(r, list, n)};
    if (type != REDIS_ARGUMENT_BLOCK || a.sub == NULL) return a;
    a.name = r->room->text + r->room->text_used;
    for (size_t i = 0; i < n; i++)
        keep_text(r, list[i].name, strlen(list[i].name), (char)(i + 1 < n ? '-' : 0));
    return a;
}

/* Returns how many words "[item n ...]" repeats, or 0 if the bracket is not a repetition. */
static size_t repeated_words(const char *p)
{
    size_t words = 0;
    for (;; p++) {
        const char *start = p;
        while (islower((unsigned char)*p) || *p == '_') p++;
        if (p == start) return strncmp(p, "...]", 4) == 0 ? words : 0;
        if (*p != ' ') return 0;
        words++;
    }
}

static size_t read_argument_list(struct reader *r, struct redis_argument *list);

/* Reads a bracket, which changes the elements before it or is an element itself. Returns the new
 * number of elements. */
/* NOLINTNEXTLINE(misc-no-recursion): as deep as the brackets in our own table */
static size_t read_bracket(struct reader *r, struct redis_argument *list, size_t n)
{
    struct redis_argument inner[MOST];
    const size_t words = repeated_words(++r->at);
    if (words > 0 && words <= n) {
        r->at = strchr(r->at, ']') + 1;
        n -= words - 1;
        if (words > 1) list[n - 1] = group(r, REDIS_ARGUMENT_BLOCK, list + n - 1, words);
        list[n - 1].flags |= REDIS_ARGUMENT_MULTIPLE;
        return n;
    }
    size_t m = read_argument_list(r, inner);
    int type = REDIS_ARGUMENT_BLOCK;
    for (; *r->at == '|' && m < MOST && !r->failed; m++) {
        type = REDIS_ARGUMENT_ONEOF;
        if (r->at[1] != ' ') break;
        r->at += 2;
        inner[m] = read_one(r);
        if (*r->at == ' ') r->at++;
    }
    if (*r->at != ']' || m == 0) {
        r->failed = true;
        return n;
    }
    r->at++;
    list[n] = m == 1 ? inner[0] : group(r, type, inner, m);
    list[n].flags |= REDIS_ARGUMENT_OPTIONAL;
    return n + 1;
}

/* Reads elements up to the end, a bar, or the closing bracket. */
/* NOLINTNEXTLINE(misc-no-recursion): see above */
static size_t read_argument_list(struct reader *r, struct redis_argument *list)
{
    size_t n = 0;
    while (!r->failed && *r->at != 0 && *r->at != ']' && *r->at != '|') {
        if (*r->at == ' ')
            r->at++;
        else if (n == MOST)
            r->failed = true;
        else if (*r->at == '[')
            n = read_bracket(r, list, n);
        else
            list[n++] = read_one(r);
    }
    return n;
}

struct redis_argument *redis_arguments(const char *line, struct redis_arguments *room)
{
    struct redis_argument list[MOST];
    struct reader r = {.at = line, .room = room};
    room->used = room->text_used = 0;
    const size_t n = read_argument_list(&r, list);
    if (*r.at != 0) r.failed = true;
    return store(&r, list, n);
}
