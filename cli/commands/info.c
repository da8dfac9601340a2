#include "info.h"

#include "../filters/filter.h"
#include "../filters/foreign.h"
#include "../frame/commands.h"
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/terminal.h"
#include "key.h"
#include "plot.h"

#include <tamis/inspect.h>

#include <math.h>

static const char *keys_name(const tamis_facts *f)
{
    const char *name = tamis_encoding_name(f->encoding);
    return name != NULL ? name : "of a newer version";
}

static void json_keys(const tamis_facts *f)
{
    if (f->encoding == TAMIS_KEYS_UNSTATED) return;
    json_text("encoding", keys_name(f));
    json_count("key_width", f->key_width);
}

static const char *hash_name(uint32_t hash)
{
    if (hash == TAMIS_XXH3) return "xxh3-128";
    return hash == TAMIS_SIPHASH ? "siphash-2-4-128" : "caller";
}

static void json_weights(const tamis_facts *f)
{
    if (f->generations != 0) {
        json_text("inner", tamis_kind_name(f->inner_kind));
        json_count("generations", f->generations);
    }
    json_integer("weight", f->weight);
    json_count("noise_median", (uint64_t)f->noise_median);
    json_count("noise_99", (uint64_t)f->noise_99);
    json_count("noise_999", (uint64_t)f->noise_999);
    json_number("error", f->error);
    json_bool("conservative", f->conservative);
    if (f->entries == 0) return;
    json_count("entries", f->entries);
    json_count("listed", f->listed);
    json_integer("list_floor", f->list_floor);
}

static bool is_exact_number(const tamis_facts *f)
{
    return f->items_low >= f->items_high;
}

static void json_distinct(const tamis_facts *f)
{
    if (f->generations != 0) {
        json_text("inner", tamis_kind_name(f->inner_kind));
        json_count("generations", f->generations);
    }
    json_number("distinct", round(f->items_estimate));
    json_number("lower", floor(f->items_low));
    json_number("upper", ceil(f->items_high));
    json_number("confidence", is_exact_number(f) ? 1 : 0.99);
    json_bool("exact", is_exact_number(f));
    json_number("error", f->error);
}

void json_bound(const tamis_facts *f)
{
    json_number("items_by_bits", f->items_estimate);
    json_number("items_low", f->items_low);
    json_number("items_high", f->items_high);
    json_count("bytes", f->bytes);
    json_number("bits_per_item", f->bits_per_item);
    json_lower_bound(f->bound, f->bound_bits, f->bound_ratio);
}

static void json_items(const tamis_facts *f)
{
    json_count("items", f->items);
    json_bool("items_estimated", f->items_estimated);
    json_count("planned_items", f->planned_items);
    if (f->kind == TAMIS_EXACT) json_count("excluded", f->excluded);
    json_bound(f);
    json_number("fpr_planned", f->fpr_planned);
    json_number("fpr_now", f->fpr_now);
}

static void json_states(const tamis_facts *f)
{
    json_bool("collecting", f->collecting);
    json_bool("strict", f->strict);
    json_bool("overfull", f->overfull);
    json_bool("may_miss", f->may_miss);
    json_number("miss_rate", f->miss_rate);
    if (f->kind == TAMIS_PRIVATE) json_number("epsilon", f->epsilon);
}

/* A sketch does not have planned items, a rate or bits per item. */
static void print_facts_json(const char *path, const tamis_facts *f)
{
    const bool counts = is_sketch(f);
    json_open('{');
    json_text("file", path);
    json_text("kind", tamis_kind_name(f->kind));
    if (is_distinct(f))
        json_distinct(f);
    else if (counts)
        json_weights(f);
    else
        json_items(f);
    if (counts) json_count("bytes", f->bytes);
    json_number("fill", f->fill);
    json_count("m", f->m);
    json_count("k", f->k);
    json_text("hash", hash_name(f->hash));
    json_count("seed", f->seed);
    json_bool("hash_suspect", f->hash_suspect);
    json_keys(f);
    json_bool("keyed", f->keyed);
    if (f->keyed) json_text("key_id", key_id_text(f->key_id));
    json_bool("sealed", f->sealed);
    if (!counts) json_states(f);
    json_count("cell_bits", f->cell_bits);
    json_count("saturated", f->saturated);
    if (!counts) json_number("overflow", f->overflow);
    json_count("sections", f->sections);
    if (!counts) json_bool("turning", f->auto_rotate);
    if (f->kind == TAMIS_GROWING) json_bool("removable", f->removable);
    if (f->epoch != 0) json_count("epoch", f->epoch);
    json_count("generation", f->generation);
    json_count("format", f->format);
    json_close('}');
}

static void print_items(const tamis_facts *f)
{
    printf("  items     %s%s", f->items_estimated ? "about " : "", grouped(f->items));
    if (f->kind == TAMIS_GROWING)
        printf(", grown from %s", grouped(f->planned_items));
    else if (f->kind != TAMIS_PRIVATE) /* whose plan is not that of its source */
        printf(" of %s planned%s%s%s", grouped(f->planned_items),
               f->overfull ? ink(stdout, BAD) : "", f->overfull ? ": overfull" : "",
               f->overfull ? ink(stdout, PLAIN) : "");
    putchar('\n');
    print_distinct(f);
}

void print_distinct(const tamis_facts *f)
{
    if (isnan(f->items_high)) return; /* not reported */
    if (!isfinite(f->items_high) && f->kind == TAMIS_PRIVATE)
        printf("            the noise allows any number of distinct items from %s up\n",
               grouped_real(floor(f->items_low)));
    else if (!isfinite(f->items_high))
        printf("            by the bits more than %s distinct; it is too full for an upper bound\n",
               grouped_real(floor(f->items_low)));
    else if (f->items_low < f->items_high) /* otherwise the cells give no other estimate */
        printf("            by the bits %s distinct, with 99 %% certainty %s to %s\n",
               grouped_real(round(f->items_estimate)), grouped_real(floor(f->items_low)),
               grouped_real(ceil(f->items_high)));
}

void print_bound(const tamis_facts *f)
{
    printf("  size      %s bytes, %.2f bits per item", grouped(f->bytes), f->bits_per_item);
    if (isfinite(f->bound_ratio) && f->bound != TAMIS_BOUND_NONE)
        printf("; %.2f times the lower bound of %.2f", f->bound_ratio, f->bound_bits);
}

static void print_epoch(const tamis_facts *f)
{
    if (f->epoch != 0) printf("  epoch     %llu\n", (unsigned long long)f->epoch);
}

static void print_cells(const tamis_facts *f)
{
    if (is_sealed_kind(f->kind)) /* no cell is empty: all are part of one solution */
        printf("\n  table     %s", f->collecting ? "collected hashes, not sealed yet"
                                                 : "sealed, with every cell in use");
    else if (f->cell_bits == 1)
        printf("\n  bits      %.1f %% set; m = %s, k = %u", 100 * f->fill, grouped(f->m), f->k);
    else if (f->cell_bits == 0)
        printf("\n  cells     %.1f %% in use; m = %s, k = %u", 100 * f->fill, grouped(f->m), f->k);
    else
        printf("\n  cells     %.1f %% in use; m = %s of %u bits, k = %u", 100 * f->fill,
               grouped(f->m), f->cell_bits, f->k);
    if (f->kind == TAMIS_VALUE_MAP) printf("\n  values    of %u bits", f->cell_bits);
    if (f->kind == TAMIS_COUNTING)
        printf("\n            %s saturated counters; the probability of any is %.2g",
               f->saturated != 0 ? grouped(f->saturated) : "no", f->overflow);
    if (f->kind == TAMIS_WINDOW)
        printf("; %u generations%s", f->sections,
               f->auto_rotate ? " that rotate by themselves" : "");
    putchar('\n');
    print_epoch(f);
}

/* Nothing for a filter that does not state how its keys are encoded. */
static void print_keys(const tamis_facts *f)
{
    if (f->encoding == TAMIS_KEYS_UNSTATED) return;
    printf("  keys      %s", keys_name(f));
    if (f->key_width != 0) printf(", %s bytes each", grouped(f->key_width));
    putchar('\n');
}

static void print_hash(const tamis_facts *f)
{
    print_keys(f);
    printf("  hash      %s, ", hash_name(f->hash));
    if (f->keyed)
        printf("with the secret key whose id is %s\n", key_id_text(f->key_id));
    else
        printf("seed %llu\n", (unsigned long long)f->seed);
    if (f->hash_suspect)
        printf("            %ssuspect%s: hashes were added that are not uniform; the figures above "
               "do not hold\n",
               ink(stdout, BAD), ink(stdout, PLAIN));
    printf("  file      format %u, generation %s\n", f->format, grouped(f->generation));
}

static void print_textbook(const tamis_facts *f)
{
    const uint32_t kind = f->generations != 0 ? f->inner_kind : f->kind;
    if (f->error > 0 && kind == TAMIS_COUNT_SKETCH)
        printf("            (the textbook bound is %.3g times the square root of the sum of all "
               "squared counts)\n",
               f->error);
    else if (f->error > 0 && f->weight > 0)
        printf("            (the textbook bound is %s: %.3g times the weight)\n",
               grouped((uint64_t)(f->error * (double)f->weight)), f->error);
}

static void print_weights(const char *path, const tamis_facts *f)
{
    const uint64_t all = f->weight < 0 ? 0 - (uint64_t)f->weight : (uint64_t)f->weight;
    if (f->generations != 0)
        printf("%s: window of %u generations, each a %s sketch", path, f->generations,
               tamis_kind_name(f->inner_kind));
    else
        printf("%s: %s sketch", path, tamis_kind_name(f->kind));
    printf("%s%s\n", f->conservative ? ", conservative" : "", f->sealed ? ", sealed" : "");
    printf("  weight    %s%s%s in all\n", f->weight < 0 ? "-" : "", grouped(all),
           all >= INT64_MAX ? " or more" : "");
    printf("  noise     a key that never occurred has a count of at most %s in 50 %%",
           grouped((uint64_t)f->noise_median));
    printf(", %s in 99 %%", grouped((uint64_t)f->noise_99));
    printf(" and %s in 99.9 %% of cases\n", grouped((uint64_t)f->noise_999));
    print_textbook(f);
    if (f->entries != 0)
        printf(
            "  list      %s of at most %s items; every item with a count of %s or more is listed\n",
            grouped(f->listed), grouped(f->entries), grouped((uint64_t)f->list_floor));
    printf("  size      %s bytes\n", grouped(f->bytes));
    printf("  cells     %.1f %% in use; m = %s of %u bits, k = %u; ", 100 * f->fill, grouped(f->m),
           f->cell_bits, f->k);
    printf("%s saturated\n", f->saturated != 0 ? grouped(f->saturated) : "none");
    print_epoch(f);
    print_hash(f);
}

/* A sketch that is not a window keeps the hashes of few keys instead of registers. */
static void print_registers(const tamis_facts *f)
{
    if (f->generations == 0 && f->cell_bits == 64)
        printf("  cells     a hash of each line, up to %s lines; then m = %s registers\n",
               grouped(exact_until(f->m)), grouped(f->m));
    else
        printf("  cells     %.1f %% in use; m = %s registers of 32 bits\n", 100 * f->fill,
               grouped(f->m));
}

static void print_distinct_sketch(const char *path, const tamis_facts *f)
{
    if (f->generations != 0)
        printf("%s: window of %u generations, each a distinct sketch", path, f->generations);
    else
        printf("%s: distinct sketch", path);
    printf("%s\n", f->sealed ? ", sealed" : "");
    if (is_exact_number(f))
        printf("  distinct  %s, exactly\n", grouped_real(f->items_low));
    else if (!isfinite(f->items_high))
        printf("  distinct  more than %s; it is too full for an upper bound\n",
               grouped_real(floor(f->items_low)));
    else
        printf("  distinct  about %s, with 99 %% certainty %s to %s\n",
               grouped_real(round(f->items_estimate)), grouped_real(floor(f->items_low)),
               grouped_real(ceil(f->items_high)));
    printf("  error     %.2g %% standard error of an estimate\n", 100 * f->error);
    printf("  size      %s bytes\n", grouped(f->bytes));
    print_registers(f);
    print_epoch(f);
    print_hash(f);
}

static void print_facts(const char *path, const tamis_facts *f)
{
    if (is_distinct(f)) {
        print_distinct_sketch(path, f);
        return;
    }
    if (is_sketch(f)) {
        print_weights(path, f);
        return;
    }
    printf("%s: %s filter%s%s%s%s\n", path, tamis_kind_name(f->kind), f->sealed ? ", sealed" : "",
           f->collecting ? ", not sealed yet" : "", f->strict ? ", strict" : "",
           f->kind == TAMIS_GROWING && f->removable ? ", removable" : "");
    print_items(f);
    if (f->excluded != 0)
        printf("  never     %s excluded keys%s\n", grouped(f->excluded),
               f->sealed ? ": none of them gets a maybe" : "");
    printf("  wrong     %s of %s keys get a maybe now", rate_text(f->fpr_now),
           f->excluded != 0 ? "all other" : "never-added");
    if (f->kind != TAMIS_PRIVATE) printf("; planned %s", rate_text(f->fpr_planned));
    putchar('\n');
    if (f->may_miss)
        printf("  missed    %s of its members get a wrong no now\n", rate_text(f->miss_rate));
    if (f->kind == TAMIS_PRIVATE)
        printf("  privacy   epsilon %.4g for adding or removing one item, twice "
               "that for exchanging one\n",
               f->epsilon);
    print_bound(f);
    print_cells(f);
    print_hash(f);
}

int run_info(const struct args *a)
{
    int status = EXIT_FOUND;
    if (a->json && a->picture.plot)
        return complain(NULL, "info: --plot and --json cannot be combined");
    for (int i = 0; i < a->n_words; i++) {
        tamis_facts f = {.struct_size = sizeof f};
        struct foreign other;
        tamis *t = open_any_filter(a, a->words[i], TAMIS_KEYLESS, &other);
        if (t == NULL && other.path != NULL) {
            if (info_foreign(a, &other) != EXIT_FOUND) status = EXIT_ERROR;
            foreign_close(&other);
        } else if (t == NULL || !read_facts(t, &f)) {
            status = EXIT_ERROR;
        } else if (a->json) {
            print_facts_json(a->words[i], &f);
            putchar('\n');
        } else {
            print_facts(a->words[i], &f);
            if (a->picture.plot) plot_filter(t, &f);
        }
        tamis_close(t);
    }
    return finish_output(status);
}
