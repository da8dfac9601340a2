#include "json.h"

#include "fail.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

struct text {
    char *p;
    size_t used;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = vsnprintf(t->p + t->used, SQL_JSON_ROOM - t->used, format, list);
    va_end(list);
    if (n > 0 && (size_t)n < SQL_JSON_ROOM - t->used) t->used += (size_t)n;
}

static void name(struct text *t, const char *key)
{
    put(t, "%s\"%s\": ", t->used > 1 ? ", " : "", key);
}

static void word(struct text *t, const char *key, const char *value)
{
    name(t, key);
    put(t, "\"%s\"", value);
}

static void count(struct text *t, const char *key, uint64_t value)
{
    name(t, key);
    put(t, "%" PRIu64, value);
}

static void integer(struct text *t, const char *key, int64_t value)
{
    name(t, key);
    put(t, "%" PRId64, value);
}

/* A program that loads the extension may have set a locale with another decimal point. */
static void number(struct text *t, const char *key, double value)
{
    char digits[32], plain[32];
    size_t n = 0;
    name(t, key);
    snprintf(digits, sizeof digits, "%.12g", value);
    for (const char *p = digits; *p != '\0'; p++) {
        if (strchr("0123456789+-e", *p) != NULL)
            plain[n++] = *p;
        else if (n == 0 || plain[n - 1] != '.')
            plain[n++] = '.';
    }
    plain[n] = '\0';
    put(t, "%s", isfinite(value) ? plain : "null");
}

static void flag(struct text *t, const char *key, bool value)
{
    name(t, key);
    put(t, value ? "true" : "false");
}

/* --- One filter or sketch --------------------------------------------------------------------- */

static void put_generations(struct text *t, const tamis_facts *f)
{
    if (f->generations == 0) return;
    word(t, "inner", tamis_kind_name(f->inner_kind));
    count(t, "generations", f->generations);
}

static void put_weights(struct text *t, const tamis_facts *f)
{
    put_generations(t, f);
    integer(t, "weight", f->weight);
    integer(t, "noise_median", f->noise_median);
    integer(t, "noise_99", f->noise_99);
    integer(t, "noise_999", f->noise_999);
    number(t, "error", f->error);
    flag(t, "conservative", f->conservative);
    if (f->entries == 0) return;
    count(t, "entries", f->entries);
    count(t, "listed", f->listed);
    integer(t, "list_floor", f->list_floor);
}

static void put_distinct(struct text *t, const tamis_facts *f)
{
    const bool exact = f->items_low >= f->items_high;
    put_generations(t, f);
    number(t, "distinct", round(f->items_estimate));
    number(t, "lower", floor(f->items_low));
    number(t, "upper", ceil(f->items_high));
    number(t, "confidence", exact ? 1 : 0.99);
    flag(t, "exact", exact);
    number(t, "error", f->error);
}

/* null if there is none. */
static void put_lower_bound(struct text *t, const tamis_facts *f)
{
    const bool none = f->bound == TAMIS_BOUND_NONE;
    number(t, "bound_bits", none ? NAN : f->bound_bits);
    number(t, "bound_ratio", none ? NAN : f->bound_ratio);
    if (none)
        number(t, "bound", NAN);
    else
        word(t, "bound", tamis_bound_name(f->bound));
}

static void put_items(struct text *t, const tamis_facts *f)
{
    count(t, "items", f->items);
    flag(t, "items_estimated", f->items_estimated);
    count(t, "planned_items", f->planned_items);
    if (f->kind == TAMIS_EXACT) count(t, "excluded", f->excluded);
    number(t, "items_by_bits", f->items_estimate);
    number(t, "items_low", f->items_low);
    number(t, "items_high", f->items_high);
    count(t, "bytes", f->bytes);
    number(t, "bits_per_item", f->bits_per_item);
    put_lower_bound(t, f);
    number(t, "fpr_planned", f->fpr_planned);
    number(t, "fpr_now", f->fpr_now);
}

static void put_states(struct text *t, const tamis_facts *f)
{
    flag(t, "collecting", f->collecting);
    flag(t, "strict", f->strict);
    flag(t, "overfull", f->overfull);
    flag(t, "may_miss", f->may_miss);
    number(t, "miss_rate", f->miss_rate);
    if (f->kind == TAMIS_PRIVATE) number(t, "epsilon", f->epsilon);
}

static bool shows_sketch(const tamis_facts *f)
{
    return f->kind >= TAMIS_COUNT_MIN || f->inner_kind >= TAMIS_COUNT_MIN;
}

static void put_keys(struct text *t, const tamis_facts *f)
{
    const char *encoding = tamis_encoding_name(f->encoding);
    word(t, "hash", f->hash == TAMIS_XXH3 ? "xxh3-128" : "caller");
    count(t, "seed", f->seed);
    flag(t, "hash_suspect", f->hash_suspect);
    if (f->encoding == TAMIS_KEYS_UNSTATED) return;
    word(t, "encoding", encoding != NULL ? encoding : "of a newer version");
    count(t, "key_width", f->key_width);
}

tamis_status sql_info_json(const tamis *t, char out[SQL_JSON_ROOM], tamis_error *why)
{
    tamis_facts f = TAMIS_FACTS_INIT;
    struct text to = {out, 0};
    const tamis_status s = tamis_info(t, &f);
    if (s != TAMIS_OK) return sql_fail(why, s, "%s", tamis_status_message(s));
    const bool sketch = shows_sketch(&f);
    put(&to, "{");
    word(&to, "kind", tamis_kind_name(f.kind));
    if (f.kind == TAMIS_DISTINCT || f.inner_kind == TAMIS_DISTINCT)
        put_distinct(&to, &f);
    else if (sketch)
        put_weights(&to, &f);
    else
        put_items(&to, &f);
    if (sketch) count(&to, "bytes", f.bytes);
    number(&to, "fill", f.fill);
    count(&to, "m", f.m);
    count(&to, "k", f.k);
    put_keys(&to, &f);
    flag(&to, "keyed", f.keyed);
    flag(&to, "sealed", f.sealed);
    if (!sketch) put_states(&to, &f);
    count(&to, "cell_bits", f.cell_bits);
    count(&to, "saturated", f.saturated);
    if (!sketch) number(&to, "overflow", f.overflow);
    count(&to, "sections", f.sections);
    if (!sketch) flag(&to, "turning", f.auto_rotate);
    if (f.kind == TAMIS_GROWING) flag(&to, "removable", f.removable);
    if (f.epoch != 0) count(&to, "epoch", f.epoch);
    count(&to, "generation", f.generation);
    count(&to, "format", f.format);
    put(&to, "}");
    return TAMIS_OK;
}

/* --- Two -------------------------------------------------------------------------------------- */

static void put_range(struct text *t, const char *key, double value, double low, double high,
                      bool may_vanish)
{
    char longer[32];
    number(t, key, may_vanish && low <= 0 && high > 0 ? NAN : value);
    snprintf(longer, sizeof longer, "%s_low", key);
    number(t, longer, low);
    snprintf(longer, sizeof longer, "%s_high", key);
    number(t, longer, high);
}

tamis_status sql_compare_json(const tamis *a, const tamis *b, char out[SQL_JSON_ROOM],
                              tamis_error *why)
{
    tamis_similarity r = TAMIS_SIMILARITY_INIT;
    struct text to = {out, 0};
    const tamis_status s = tamis_compare(a, b, &r, why);
    if (s != TAMIS_OK) return s;
    put(&to, "{");
    put_range(&to, "union", r.union_items, r.union_low, r.union_high, false);
    put_range(&to, "common", r.common_items, r.common_low, r.common_high, true);
    put_range(&to, "first_only", r.first_only, r.first_only_low, r.first_only_high, true);
    put_range(&to, "second_only", r.second_only, r.second_only_low, r.second_only_high, true);
    put_range(&to, "jaccard", r.jaccard, r.jaccard_low, r.jaccard_high, true);
    put(&to, "}");
    return TAMIS_OK;
}
