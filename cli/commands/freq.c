/* freq: estimates by a sketch how often items occurred. The items are arguments, or the lines of
 * standard input. */
#include "freq.h"

#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../input/keys.h"
#include "items.h"

#include <tamis/count.h>

enum { AT_ONCE = 1024 };

struct asking {
    const struct args *a;
    const tamis *t;
    bool found; /* an item that may have occurred */
};

void print_frequency(const struct args *a, tamis_bytes item, const tamis_estimate *e)
{
    if (a->json) {
        json_open('{');
        json_key("item", item);
        json_frequency(e);
        json_close('}');
    } else {
        print_count(e);
        print_item(item);
    }
    putchar(a->lines.nul && !a->json ? '\0' : '\n');
}

/* False after a message. */
static bool ask_items(void *ctx, const tamis_bytes *items, size_t n)
{
    struct asking *q = ctx;
    tamis_estimate e[AT_ONCE];
    tamis_hash h[AT_ONCE];
    tamis_error why;
    for (size_t at = 0; at < n; at += AT_ONCE) {
        const size_t some = n - at < AT_ONCE ? n - at : AT_ONCE;
        const size_t good = hash_texts(q->t, key_form_of(q->t), items + at, some, h);
        if (good < some) {
            complain_of_text(q->a->words[0], 0, q->t, items[at + good]);
            return false;
        }
        if (tamis_count_hashes(q->t, h, some, e, &why) != TAMIS_OK) {
            complain(q->a->words[0], "%s", reason_of(&why));
            return false;
        }
        for (size_t i = 0; i < some; i++) {
            q->found = q->found || e[i].upper != 0 || e[i].lower != 0;
            if (!q->a->quiet) print_frequency(q->a, items[at + i], &e[i]);
        }
    }
    return true;
}

int run_freq(const struct args *a)
{
    if (!check_items(a)) return EXIT_ERROR;
    struct asking q = {.a = a, .t = open_filter(a, a->words[0], 0)};
    if (q.t == NULL) return EXIT_ERROR;
    bool good = check_hashable(q.t, a->words[0]) &&
                check_not_distinct(q.t, a->words[0],
                                   "which counts distinct lines together ('tamis distinct'); make "
                                   "a sketch that counts each line with 'tamis count'");
    good = good && read_items(a, ask_items, &q);
    tamis_close((tamis *)q.t);
    if (!good) return finish_output(EXIT_ERROR);
    return finish_output(q.found ? EXIT_FOUND : EXIT_NONE);
}
