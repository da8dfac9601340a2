/* explain: draws a filter that is small enough to look at. Its k rows of m bits are drawn after
 * every step, with the bits that the step touches in brackets. */
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/terminal.h"

#include <tamis/inspect.h>

#include <string.h>

enum { MAX_ROWS = 16, MAX_ROW_BITS = 64 };

static void draw_rows(const tamis *t, uint64_t k, uint64_t m, const uint64_t *touched)
{
    for (uint64_t row = 0; row < k; row++) {
        printf("    h%-2llu", (unsigned long long)row + 1);
        for (uint64_t i = 0; i < m; i++) {
            const uint64_t cell = row * m + i;
            const bool mark = touched != NULL && touched[row] == cell;
            if (mark)
                printf("%s[%d]%s", ink(stdout, STRONG), (int)tamis_cell(t, cell),
                       ink(stdout, PLAIN));
            else
                printf(" %d%s", (int)tamis_cell(t, cell), i + 1 < m ? " " : "");
        }
        putchar('\n');
    }
}

static void print_positions(const char *word, uint64_t k, uint64_t m, const uint64_t *cells)
{
    printf("  %s  h = (", word);
    for (uint64_t row = 0; row < k; row++)
        printf("%s%llu", row > 0 ? ", " : "", (unsigned long long)(cells[row] - row * m));
    printf(")\n");
}

static void draw_question(const struct args *a, const tamis *t, uint64_t k, uint64_t m)
{
    uint64_t cells[MAX_ROWS];
    bool added = false;
    for (int i = 0; i < a->n_words; i++) added |= strcmp(a->words[i], a->ask) == 0;
    tamis_cells_of(t, a->ask, strlen(a->ask), cells, MAX_ROWS);
    const bool maybe = tamis_may_contain(t, a->ask, strlen(a->ask));
    printf("\nWas %s added?\n", a->ask);
    print_positions(a->ask, k, m, cells);
    draw_rows(t, k, m, cells);
    if (!maybe)
        printf("  A bit is 0: certainly not.\n");
    else if (added)
        printf("  All %llu bits are 1: maybe. (It was added.)\n", (unsigned long long)k);
    else
        printf("  All %llu bits are 1: maybe. But it was never added: others set those bits.\n"
               "  This is a false positive.\n",
               (unsigned long long)k);
}

int run_explain(const struct args *a)
{
    const uint64_t k = a->plan.k != 0 ? a->plan.k : 3, m = a->plan.m != 0 ? a->plan.m : 16;
    if (k > MAX_ROWS || m > MAX_ROW_BITS)
        return complain(NULL, "explain: at most %d rows of %d bits can be drawn", MAX_ROWS,
                        MAX_ROW_BITS);
    tamis_plan p = {.struct_size = sizeof p};
    tamis_error why;
    tamis *t;
    p.kind = TAMIS_PARTITIONED;
    p.items = (uint64_t)a->n_words;
    p.k = (uint32_t)k;
    p.m = m;
    p.seed = a->plan.seed;
    if (tamis_create(&p, NULL, &t, &why) != TAMIS_OK)
        return complain(NULL, "explain: %s", why.text);
    printf("An empty filter: %llu rows of %llu bits, a hash function for each row.\n\n",
           (unsigned long long)k, (unsigned long long)m);
    draw_rows(t, k, m, NULL);
    for (int i = 0; i < a->n_words; i++) {
        uint64_t cells[MAX_ROWS];
        const size_t length = strlen(a->words[i]);
        bool seen;
        tamis_cells_of(t, a->words[i], length, cells, MAX_ROWS);
        tamis_add(t, a->words[i], length, &seen);
        printf("\nAdd %s: one bit in each row becomes 1%s.\n", a->words[i],
               seen ? " (all of them already were)" : "");
        print_positions(a->words[i], k, m, cells);
        draw_rows(t, k, m, cells);
    }
    if (a->ask != NULL) draw_question(a, t, k, m);
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(t, &f) == TAMIS_OK)
        printf(
            "\n%.0f %% of the bits are set: a word never added gets a maybe with probability %s.\n",
            100 * f.fill, rate_text(f.fpr_now));
    tamis_close(t);
    return finish_output(EXIT_FOUND);
}
