/* The most requested URLs of a log, in 64 KiB whatever its length.
 *
 *     example_top_urls [FILE]        one URL a line; without a file, a log that it makes up
 *
 * It also asks for everything above a thousandth of all requests. Where so little memory could not
 * promise to list all of them, the library says so, and from where on it can. */
#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LINES = 300000, SHOWN = 10 };

static void fail(const tamis_error *why)
{
    fprintf(stderr, "%s\n", why->text);
    exit(1);
}

/* Page n comes about as often as n^-2, n > 0; every third line is a search that nobody repeats. */
static size_t make_line(unsigned i, char *line, size_t size)
{
    static uint64_t z = 1;
    z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const unsigned page = 1000000 / (1 + (unsigned)(z >> 40) % 1000000);
    const int n = i % 3 == 0 ? snprintf(line, size, "https://example.org/search?q=%u", i)
                             : snprintf(line, size, "https://example.org/page/%u", page);
    return (size_t)n;
}

static void count_file(tamis *t, const char *path, tamis_error *why)
{
    char line[8192];
    FILE *f = fopen(path, "r");
    if (f == NULL) {
        perror(path);
        exit(1);
    }
    while (fgets(line, sizeof line, f) != NULL)
        if (tamis_add_weight(t, line, strcspn(line, "\n"), 1, why) != TAMIS_OK) fail(why);
    fclose(f);
}

static void count_made_up(tamis *t, tamis_error *why)
{
    for (unsigned i = 0; i < LINES; i++) {
        char line[64];
        const size_t n = make_line(i, line, sizeof line);
        if (tamis_add_weight(t, line, n, 1, why) != TAMIS_OK) fail(why);
    }
}

static void print(const tamis_heavy *h)
{
    const tamis_estimate c = h->count;
    printf("%8lld", (long long)c.estimate);
    if (c.lower != c.upper) printf(" (%lld to %lld)", (long long)c.lower, (long long)c.upper);
    if (h->item.p != NULL)
        printf("  %.*s%s\n", (int)h->item.len, (const char *)h->item.p,
               h->item.len < h->length ? "..." : "");
    else
        printf("  an item whose text found no room\n");
}

int main(int argc, char **argv)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_TOP, .bytes = 1 << 16};
    tamis_facts facts = {.struct_size = sizeof facts};
    tamis_heavy list[SHOWN];
    tamis_error why;
    size_t found;
    tamis *t;
    if (tamis_create(&plan, NULL, &t, &why) != TAMIS_OK) fail(&why);
    if (argc > 1)
        count_file(t, argv[1], &why);
    else
        count_made_up(t, &why);

    const size_t n = tamis_top(t, list, SHOWN);
    for (size_t i = 0; i < n; i++) print(&list[i]);

    if (tamis_info(t, &facts) != TAMIS_OK) return 1;
    const int64_t share = facts.weight / 1000 + 1;
    const tamis_status s = tamis_above(t, share, list, SHOWN, &found, &why);
    if (s == TAMIS_OK)
        printf("%zu came %lld times or more\n", found, (long long)share);
    else
        printf("more than a thousandth: %s\n", why.text);
    /* The made-up log is always the same: page 1 leads, and the list is whole. */
    const bool right = argc > 1 || (n == SHOWN && s == TAMIS_OK && found > 10 &&
                                    memcmp(list[0].item.p, "https://example.org/page/1", 26) == 0);
    tamis_close(t);
    return right ? 0 : 1;
}
