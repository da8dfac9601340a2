/* From options to a plan. */
#include "request.h"

#include "../frame/output.h"
#include "../frame/suggest.h"
#include "filter.h"

#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/publish.h>

#include <math.h>
#include <string.h>

/* The size of a sketch by default. It fits the second-level cache, and 1 % of the keys are
 * overestimated by more than a millionth of the weight. */
#define SKETCH_BYTES ((uint64_t)1 << 20)
#define USUAL_GENERATIONS 4u /* the default of the library as well */

/* Writes the names of the kinds from `from` to below `to`. */
static void list_kinds(uint32_t from, uint32_t to, char *out, size_t room)
{
    size_t used = 0;
    out[0] = '\0';
    for (uint32_t kind = from; kind < to && used < room; kind++)
        if (tamis_kind_name(kind) != NULL && kind != TAMIS_PRIVATE)
            used += (size_t)snprintf(out + used, room - used, "%s%s", used > 0 ? ", " : "",
                                     tamis_kind_name(kind));
}

/* The filter of that name, or distinct; `without` if there is no name. False after a message. */
static bool kind_from(const char *option, const char *name, uint32_t without, uint32_t *out)
{
    char known[200];
    *out = without;
    if (name == NULL) return true;
    *out = tamis_kind_named(name);
    if ((*out != TAMIS_AUTO && *out < KIND_END) || strcmp(name, "auto") == 0) return true;
    if (*out == TAMIS_DISTINCT) return true;
    if (*out >= KIND_END) {
        complain(NULL, "--%s: %s is a sketch; make it with 'tamis count'", option, name);
        return false;
    }
    struct guess g = {.word = name, .length = strlen(name)};
    for (uint32_t kind = 1; kind < KIND_END; kind++)
        if (tamis_kind_name(kind) != NULL) consider(&g, tamis_kind_name(kind));
    consider(&g, tamis_kind_name(TAMIS_DISTINCT));
    if (g.best != NULL) {
        complain(NULL, "--%s: unknown kind '%s'%s", option, name, did_you_mean(&g, ""));
        return false;
    }
    list_kinds(1, KIND_END, known, sizeof known);
    complain(NULL, "--%s: unknown kind '%s'; the kinds are %s, %s, and auto", option, name, known,
             tamis_kind_name(TAMIS_DISTINCT));
    return false;
}

static uint32_t limited(uint64_t v)
{
    return (uint32_t)(v < UINT32_MAX ? v : UINT32_MAX);
}

bool encoding_from(const struct plan_args *a, tamis_plan *out)
{
    static const char fixed[] = "fixed:";
    const char *name = a->encoding;
    uint64_t width = 0;
    if (name == NULL) return true;
    if (strcmp(name, tamis_encoding_name(TAMIS_KEYS_TEXT)) == 0)
        out->encoding = TAMIS_KEYS_TEXT;
    else if (strcmp(name, tamis_encoding_name(TAMIS_KEYS_INT64)) == 0)
        out->encoding = TAMIS_KEYS_INT64;
    else if (strncmp(name, fixed, strlen(fixed)) == 0 &&
             parse_number(name + strlen(fixed), &width) && width >= 1 && width <= 65535)
        out->encoding = TAMIS_KEYS_FIXED;
    else
        complain(NULL,
                 "--encoding: '%s' is not text, int64le, or fixed:N with a number of bytes from 1 "
                 "to 65535",
                 name);
    out->key_width = (uint32_t)width;
    return out->encoding != TAMIS_KEYS_UNSTATED;
}

static uint32_t usual_kind(const struct plan_args *a)
{
    if (a->never.n > 0) return TAMIS_EXACT;
    if (a->is_static) return TAMIS_RIBBON; /* until --static has chosen */
    if (a->removable) return TAMIS_GROWING;
    return a->for_transfer ? TAMIS_BLOOM : TAMIS_BLOCKED;
}

bool plans_distinct(const tamis_plan *p)
{
    return p->kind == TAMIS_DISTINCT ||
           (p->kind == TAMIS_WINDOW && p->inner_kind == TAMIS_DISTINCT);
}

bool check_headroom(const struct plan_args *a, const tamis_plan *p)
{
    const char *wrong = NULL;
    if (!(a->headroom > 0)) return true;
    if (a->items != 0)
        wrong = "--headroom is for lines that are counted; with --items, give a bigger number";
    else if (a->is_static || is_sealed_kind(p->kind))
        wrong = "--headroom has no use for a sealed filter, to which nothing can be added";
    else if (p->kind == TAMIS_GROWING || plans_distinct(p))
        wrong = "--headroom has no use for a kind that grows";
    if (wrong != NULL) complain(NULL, "%s", wrong);
    return wrong == NULL;
}

uint64_t with_headroom(const struct plan_args *a, uint64_t lines)
{
    return lines + (uint64_t)llround((double)lines * a->headroom);
}

bool plan_from(const struct plan_args *a, tamis_plan *out)
{
    const tamis_plan p = {
        .struct_size = sizeof p,
        .items = a->items,
        .fpr = a->fpr,
        .bytes = a->bytes,
        .error = a->error,
        .seed = a->seed,
        .m = a->m,
        .k = limited(a->k),
        .cell_bits = limited(a->counter_bits),
        .generations = limited(a->generations),
        .excluded = a->never_items,
        .flags = (a->strict ? TAMIS_STRICT : 0u) | (a->compact ? TAMIS_COMPACT : 0u) |
                 (a->turning ? TAMIS_AUTO_ROTATE : 0u) | (a->for_transfer ? TAMIS_TRANSFER : 0u) |
                 (a->removable ? TAMIS_REMOVABLE : 0u)};
    *out = p;
    if (!encoding_from(a, out)) return false;
    if (!kind_from("kind", a->kind, usual_kind(a), &out->kind)) return false;
    if (a->is_static && a->kind != NULL) {
        complain(NULL, "--static and --kind both choose the kind; give only one of them");
        return false;
    }
    if (a->never.n > 0 && out->kind != TAMIS_EXACT) {
        complain(NULL,
                 "--never requires an exact filter, because a %s filter can be "
                 "wrong about any line",
                 tamis_kind_name(out->kind) != NULL ? tamis_kind_name(out->kind) : "blocked");
        return false;
    }
    if (!kind_from("inner", a->inner, 0, &out->inner_kind)) return false;
    if (a->error == 0 || plans_distinct(out)) return true;
    complain(NULL, "--error requires --kind distinct; a filter has a rate, --fpr");
    return false;
}

/* The sketch of that name. False after a message. */
static bool sketch_kind_from(const char *option, const char *name, uint32_t *out)
{
    char known[200];
    struct guess g = {.word = name, .length = strlen(name)};
    *out = tamis_kind_named(name);
    if (*out >= KIND_END && *out < COUNT_KIND_END) return true;
    for (uint32_t kind = KIND_END; kind < COUNT_KIND_END; kind++)
        if (tamis_kind_name(kind) != NULL) consider(&g, tamis_kind_name(kind));
    list_kinds(KIND_END, COUNT_KIND_END, known, sizeof known);
    if (*out == TAMIS_DISTINCT)
        complain(NULL,
                 "--%s: a distinct sketch does not count each line; make it with 'tamis distinct "
                 "-o'. The sketches that do are %s",
                 option, known);
    else if (*out != TAMIS_AUTO)
        complain(NULL,
                 "--%s: a %s filter does not count; make it with 'tamis build'. "
                 "The sketches are %s",
                 option, name, known);
    else if (g.best != NULL)
        complain(NULL, "--%s: unknown kind '%s'%s", option, name, did_you_mean(&g, ""));
    else
        complain(NULL, "--%s: unknown sketch '%s'; the sketches are %s", option, name, known);
    return false;
}

bool sketch_from(const struct plan_args *a, tamis_plan *out)
{
    const bool textbook = a->error != 0 || a->delta != 0 || a->conservative;
    const tamis_plan p = {.struct_size = sizeof p,
                          .kind = textbook ? TAMIS_COUNT_MIN : TAMIS_TALLY,
                          .bytes = a->bytes,
                          .error = a->error,
                          .delta = a->delta,
                          .seed = a->seed,
                          .m = a->m,
                          .k = limited(a->k),
                          .cell_bits = limited(a->counter_bits),
                          .flags = a->conservative ? TAMIS_CONSERVATIVE : 0u};
    *out = p;
    if (!encoding_from(a, out)) return false;
    if (p.bytes == 0 && p.error == 0 && p.m == 0) out->bytes = SKETCH_BYTES;
    if (a->inner != NULL || a->generations != 0) {
        complain(NULL, "--inner and --generations require --kind window, in a file");
        return false;
    }
    return a->kind == NULL || sketch_kind_from("kind", a->kind, &out->kind);
}

bool counts_from(const struct plan_args *a, tamis_plan *out)
{
    struct plan_args one = *a;
    if (a->kind == NULL || strcmp(a->kind, tamis_kind_name(TAMIS_WINDOW)) != 0)
        return sketch_from(a, out);
    one.kind = one.inner = NULL;
    one.generations = 0;
    if (!sketch_from(&one, out)) return false;
    if (a->inner != NULL && !sketch_kind_from("inner", a->inner, &out->kind)) return false;
    out->inner_kind = out->kind;
    out->kind = TAMIS_WINDOW;
    out->generations = limited(a->generations);
    return true;
}

void plan_for_lines(const struct plan_args *a, uint64_t lines, uint64_t never, tamis_plan *p)
{
    const bool is_window = p->kind == TAMIS_WINDOW;
    const bool has_size = (a->bytes != 0 || a->m != 0) && p->kind != TAMIS_GROWING;
    if (plans_distinct(p)) {
        if (p->bytes == 0 && p->m == 0 && p->error == 0) p->m = USUAL_REGISTERS;
        return;
    }
    p->items = lines > 0 || p->kind == TAMIS_GROWING ? lines : 1;
    if (is_window && p->generations == 0) p->generations = USUAL_GENERATIONS;
    /* All the lines go to one generation. The others are for as many lines that come later. */
    if (is_window && a->items == 0 && !a->turning) p->items *= p->generations;
    if (p->kind == TAMIS_EXACT && p->excluded == 0) p->excluded = never;
    if (a->fpr == 0 && !has_size && p->excluded == 0) p->fpr = USUAL_FPR;
}

void plan_for_kind(tamis_plan *p, uint32_t kind)
{
    const bool window = kind == TAMIS_WINDOW, counting = kind == TAMIS_COUNTING;
    const bool map = kind == TAMIS_VALUE_MAP;
    p->kind = kind;
    if (kind != TAMIS_EXACT) p->excluded = 0;
    if (kind != TAMIS_BLOCKED) p->flags &= ~(uint32_t)TAMIS_COMPACT;
    if (!window) p->flags &= ~(uint32_t)TAMIS_AUTO_ROTATE;
    if (kind != TAMIS_GROWING) p->flags &= ~(uint32_t)TAMIS_REMOVABLE;
    if (!window) p->generations = 0;
    if (!counting && !map) p->cell_bits = 0;
    if (!window && !counting && kind != TAMIS_PAIR) p->inner_kind = 0;
}
