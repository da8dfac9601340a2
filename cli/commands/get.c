/* get: looks up the values of keys in a map. The keys are arguments, or the lines of standard
 * input. */
#include "../filters/filter.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../input/keys.h"
#include "items.h"

#include <tamis/map.h>

enum { AT_ONCE = 1024 };

struct getting {
    const struct args *a;
    const tamis *t;
    bool found; /* any key that may be a member */
};

static void print_value(const struct args *a, tamis_bytes item, uint32_t value)
{
    if (a->json) {
        json_open('{');
        json_key("item", item);
        json_count("value", value);
        json_close('}');
    } else {
        print_item(item);
        printf("\t%lu", (unsigned long)value);
    }
    putchar(a->lines.nul && !a->json ? '\0' : '\n');
}

/* False after a message. */
static bool get_items(void *ctx, const tamis_bytes *items, size_t n)
{
    struct getting *g = ctx;
    uint32_t values[AT_ONCE];
    uint8_t found[AT_ONCE / 8];
    tamis_hash h[AT_ONCE];
    tamis_error why;
    for (size_t at = 0; at < n; at += AT_ONCE) {
        const size_t some = n - at < AT_ONCE ? n - at : AT_ONCE;
        const size_t good = hash_texts(g->t, key_form_of(g->t), items + at, some, h);
        if (good < some) {
            complain_of_text(g->a->words[0], 0, g->t, items[at + good]);
            return false;
        }
        if (tamis_value_hashes(g->t, h, some, values, found, &why) != TAMIS_OK) {
            complain(g->a->words[0], "%s", why.text);
            return false;
        }
        for (size_t i = 0; i < some; i++) {
            if ((found[i / 8] >> i % 8 & 1) == 0) continue;
            g->found = true;
            if (!g->a->quiet) print_value(g->a, items[at + i], values[i]);
        }
    }
    return true;
}

int run_get(const struct args *a)
{
    if (!check_items(a)) return EXIT_ERROR;
    struct getting g = {.a = a, .t = open_filter(a, a->words[0], 0)};
    if (g.t == NULL) return EXIT_ERROR;
    const bool good = check_hashable(g.t, a->words[0]) && read_items(a, get_items, &g);
    tamis_close((tamis *)g.t);
    if (!good) return finish_output(EXIT_ERROR);
    return finish_output(g.found ? EXIT_FOUND : EXIT_NONE);
}
