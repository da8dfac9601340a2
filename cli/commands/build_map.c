/* build --kind map: all lines are kept as hashes with their values, because the bits of a value
 * follow from the largest one. */
#include "../filters/filter.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "../input/fields.h"
#include "../input/lines.h"
#include "build.h"

#include <tamis/map.h>

#include <stdlib.h>
#include <string.h>

struct pairs {
    tamis_hash *hashes;
    uint32_t *values;
    size_t n, room;
    uint32_t most; /* the largest value */
};

static tamis_status keep_pairs(void *ctx, const struct block *b)
{
    struct pairs *p = ctx;
    if (b->n > p->room - p->n) {
        const size_t room = p->room * 2 + b->n;
        if (!resize(&p->hashes, room, sizeof *p->hashes) ||
            !resize(&p->values, room, sizeof *p->values))
            return TAMIS_ENOMEM;
        p->room = room;
    }
    for (size_t i = 0; i < b->n; i++) {
        const uint32_t value = (uint32_t)b->weights[i];
        p->hashes[p->n] = b->hashes[i];
        p->values[p->n++] = value;
        if (value > p->most) p->most = value;
    }
    return TAMIS_OK;
}

static uint32_t bits_of(uint32_t value)
{
    uint32_t bits = 1;
    while (value >> (bits - 1) > 1) bits++;
    return bits;
}

bool check_map(struct args *a, const tamis_plan *plan)
{
    const char *wrong = NULL;
    struct column *key = &a->lines.field;
    if (plan->kind != TAMIS_VALUE_MAP) {
        if (a->lines.value_field.text != NULL) wrong = "--value-field requires --kind map";
    } else if (a->lines.value_field.text == NULL) {
        wrong = "--kind map requires --value-field N, the field with the value of each line";
    } else if (key->text == NULL) {
        if (a->lines.jsonl || a->lines.value_field.number == 1)
            wrong = "--value-field: give --field as well, for the key";
        *key = (struct column){"1", 1};
    } else if (strcmp(key->text, a->lines.value_field.text) == 0) {
        wrong = "--field and --value-field must name two fields";
    }
    if (wrong != NULL) complain(NULL, "%s", wrong);
    return wrong == NULL;
}

/* Reports what is wrong with this record, counted from 0, by its line if it can be read again. */
static void complain_of_record(const struct args *a, uint64_t which, const char *what,
                               const char *why)
{
    struct found_line r;
    if (find_record(a, a->words, a->n_words, which, &r))
        complain(r.path, "line %s: '%s': %s", grouped(r.line), r.key, what);
    else
        complain(shown_output(a->output.path), "not written: %s", why);
}

void name_two_values(const struct args *a, uint64_t which, const char *why)
{
    complain_of_record(a, which, "this key had another value before", why);
}

/* Adds the keys, a part at a time, so that the progress can be shown. */
static bool add_pairs(const struct args *a, tamis *t, const struct pairs *p)
{
    enum { PART = 1 << 20 };
    struct progress bar;
    tamis_status s = TAMIS_OK;
    tamis_error why;
    size_t at = 0, done;
    progress_count(&bar, "building", "lines", p->n);
    while (at < p->n && s == TAMIS_OK) {
        const size_t n = p->n - at < PART ? p->n - at : PART;
        s = tamis_add_value_hashes(t, p->hashes + at, p->values + at, n, &done, &why);
        progress_add(&bar, done);
        at += done;
    }
    progress_end(&bar);
    if (s == TAMIS_EINVAL)
        complain_of_record(a, at, why.text, why.text);
    else if (s != TAMIS_OK)
        complain(shown_output(a->output.path), "%s", why.text);
    return s == TAMIS_OK;
}

struct made build_map(const struct args *a, const tamis_options *o, const tamis_plan *plan)
{
    struct made m = {NULL, TAMIS_AUTO, 0};
    struct pairs p = {0};
    tamis_plan with = *plan;
    tamis *hasher = make_hasher(a);
    const bool good =
        hasher != NULL && read_hashes(a, a->words, a->n_words, hasher, "reading", keep_pairs, &p);
    tamis_close(hasher);
    if (with.cell_bits == 0) with.cell_bits = bits_of(p.most);
    if (good) m = create_filter(a, o, with, a->plan.items != 0 ? a->plan.items : p.n, 0);
    if (m.t != NULL && !add_pairs(a, m.t, &p)) {
        tamis_close(m.t);
        m.t = NULL;
    }
    free(p.hashes);
    free(p.values);
    return m;
}
