/* What info, convert and build do with filters of other programs. */
#include "../frame/json.h"
#include "../frame/output.h"
#include "../frame/progress.h"
#include "filter.h"
#include "foreign.h"
#include "rate.h"
#include "request.h"

#include <tamis/inspect.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEFAULT_FPR 0.01

/* --- info ------------------------------------------------------------------------------------- */

static const struct {
    const char *title, *hash, *keys;
} WORDS[] = {
    [TAMIS_FOREIGN_PARQUET] = {"Parquet split-block filter", "xxh64, seed 0",
                               "the file does not record their type; give --type"},
    [TAMIS_FOREIGN_DCSO] = {"DCSO filter", "FNV-1, with DCSO's steps", "any bytes"},
    [TAMIS_FOREIGN_REDISBLOOM] = {"RedisBloom filter, as SCANDUMP's chunks", "two of MurmurHash64A",
                                  "any bytes"},
    [TAMIS_FOREIGN_REDIS_DUMP] = {"RedisBloom filter, as a DUMP", "two of MurmurHash64A",
                                  "any bytes"},
    [TAMIS_FOREIGN_GUAVA] = {"Guava filter", "MurmurHash3 x64 128, seed 0",
                             "the file does not record their type; give --type"},
};

static void print_foreign(const char *path, const tamis_foreign_facts *f)
{
    printf("%s: %s\n", path, WORDS[f->format].title);
    printf("  items     ");
    if (f->items_known)
        printf("%s of %s planned%s, by its own count\n            ", grouped(f->items),
               grouped(f->planned_items), f->items > f->planned_items ? ": overfull" : "");
    if (isfinite(f->items_estimate))
        printf("by the bits about %s distinct\n", grouped((uint64_t)llround(f->items_estimate)));
    else
        printf("every bit is set\n");
    printf("  wrong     %s of never-added keys get a maybe now", rate_text(f->fpr_now));
    if (isfinite(f->fpr_planned)) printf("; planned %s", rate_text(f->fpr_planned));
    printf("%s\n", f->weak ? ", and in fact more:\n            m is a power of two, with which "
                             "this hash is at its worst"
                           : "");
    printf("  bits      %.1f %% of %s set, in %s bytes; k = %u", 100 * f->fill, grouped(f->m),
           grouped(f->bytes), f->k);
    if (f->links > 1) printf("; %u links", f->links);
    printf("\n  hash      %s",
           f->unnamed_hash ? "not named: every answer is a maybe" : WORDS[f->format].hash);
    if (f->format == TAMIS_FOREIGN_GUAVA)
        printf(", MURMUR128_MITZ_%s", f->strategy == 0 ? "32" : "64");
    printf("\n  keys      %s\n", WORDS[f->format].keys);
    if (f->extra_size > 0) printf("  attached  %s bytes\n", grouped(f->extra_size));
}

static void json_filter(const char *path, const tamis_foreign_facts *f)
{
    json_open('{');
    json_text("file", path);
    json_text("format", tamis_foreign_name(f->format));
    if (f->items_known) {
        json_count("items", f->items);
        json_count("planned_items", f->planned_items);
    }
    json_number("items_by_bits", f->items_estimate);
    if (isfinite(f->fpr_planned)) json_number("fpr_planned", f->fpr_planned);
    json_number("fpr_now", f->fpr_now);
    json_bool("weak", f->weak);
    json_bool("hash_named", !f->unnamed_hash);
    json_number("fill", f->fill);
    json_count("m", f->m);
    json_count("k", f->k);
    json_count("links", f->links);
    json_count("bytes", f->bytes);
    if (f->format == TAMIS_FOREIGN_GUAVA) json_count("strategy", f->strategy);
    if (f->extra_size > 0) json_text_n("attached", f->extra, f->extra_size);
    json_close('}');
    putchar('\n');
}

/* One chunk of a Parquet file; false after a message. */
static bool print_chunk(const struct args *a, const struct foreign *f, uint64_t i)
{
    static const char *const types[] = {"boolean", "int32",  "int64",  "int96",
                                        "float",   "double", "string", "fixed"};
    tamis_parquet_chunk c = {.struct_size = sizeof c};
    tamis_foreign_facts facts = {.struct_size = sizeof facts};
    tamis_foreign *filter = NULL;
    tamis_error why;
    if (tamis_parquet_chunk_at(f->parquet, i, &c) != TAMIS_OK) return false;
    if (c.has_filter && tamis_parquet_filter(f->parquet, i, &filter, &why) != TAMIS_OK) {
        complain(f->path, "row group %s, column '%s': %s", grouped(c.row_group), c.name, why.text);
        return false;
    }
    if (filter != NULL) tamis_foreign_info(filter, &facts);
    tamis_foreign_close(filter);
    if (a->json) {
        json_open('{');
        json_count("row_group", c.row_group);
        json_text_n("column", c.name, c.name_len);
        json_text("type", types[c.type]);
        json_count("values", c.values);
        json_bool("filter", c.has_filter);
        if (c.has_filter) {
            json_count("offset", c.offset);
            json_count("bytes", facts.bytes);
            json_number("fpr_now", facts.fpr_now);
            json_number("items_by_bits", facts.items_estimate);
        }
        json_close('}');
        return true;
    }
    printf("  %9s  ", grouped(c.row_group));
    print_item((tamis_bytes){c.name, c.name_len});
    printf("%*s %-7s %12s", c.name_len < 20 ? 20 - (int)c.name_len : 0, "", types[c.type],
           grouped(c.values));
    if (!c.has_filter)
        printf("  no filter\n");
    else
        printf("  %s bytes at %s, wrong %s%s\n", grouped(facts.bytes), grouped(c.offset),
               rate_text(facts.fpr_now), facts.unnamed_hash ? ": its hash is not named" : "");
    return true;
}

static int info_parquet(const struct args *a, const struct foreign *f)
{
    const uint64_t n = tamis_parquet_chunks(f->parquet);
    uint64_t filters = 0;
    tamis_parquet_chunk c = {.struct_size = sizeof c};
    bool good = true;
    for (uint64_t i = 0; i < n; i++)
        filters += tamis_parquet_chunk_at(f->parquet, i, &c) == TAMIS_OK && c.has_filter;
    if (a->json) {
        json_open('{');
        json_text("file", f->path);
        json_text("format", "parquet");
        json_count("filters", filters);
        json_list("chunks");
    } else {
        printf("%s: Parquet file with %s Bloom filters\n", f->path, grouped(filters));
        printf("  row group  column               type          values  filter\n");
    }
    for (uint64_t i = 0; i < n; i++) good &= print_chunk(a, f, i);
    if (a->json) {
        json_close(']');
        json_close('}');
        putchar('\n');
    }
    return good ? EXIT_FOUND : EXIT_ERROR;
}

int info_foreign(const struct args *a, const struct foreign *f)
{
    tamis_foreign_facts facts = {.struct_size = sizeof facts};
    if (f->parquet != NULL) return info_parquet(a, f);
    if (tamis_foreign_info(f->filters[0], &facts) != TAMIS_OK) return EXIT_ERROR;
    if (a->json)
        json_filter(f->path, &facts);
    else
        print_foreign(f->path, &facts);
    return EXIT_FOUND;
}

/* --- convert ---------------------------------------------------------------------------------- */

int convert_foreign(const struct args *a, struct foreign *f)
{
    uint32_t format;
    if (tamis_kind_named(a->foreign.to) != TAMIS_AUTO)
        return complain(f->path,
                        "its bits were set with another program's hash; build the filter from the "
                        "keys with 'tamis build --kind %s'",
                        a->foreign.to);
    if (!foreign_format_of("to", a->foreign.to, &format) || !foreign_select_filters(a, f))
        return EXIT_ERROR;
    if (f->n + f->holes > 1)
        return complain(f->path, "the column has a filter in each row group; choose one with "
                                 "--row-group, for example --row-group 0");
    return save_foreign(f->filters[0], format, f->path, a->output.path, a->output.force);
}

/* --- build ------------------------------------------------------------------------------------ */

/* The option that only filters of Tamis have; NULL: none is given. */
static const char *not_for_foreign(const struct args *a)
{
    const struct plan_args *p = &a->plan;
    if (p->kind != NULL) return "--kind";
    if (p->bytes != 0) return "--bytes";
    if (p->is_static) return "--static";
    if (p->never.n > 0) return "--never";
    if (p->seed != 0) return "--seed";
    if (a->key.file != NULL) return "--key-file";
    if (p->strict) return "--strict";
    if (p->compact) return "--compact";
    if (p->for_transfer) return "--for-transfer";
    if (p->removable) return "--removable";
    if (p->m != 0 || p->k != 0) return "--m and --k";
    if (a->work.memory != 0) return "--memory";
    if (p->inner != NULL) return "--inner";
    if (p->counter_bits != 0) return "--counter-bits";
    if (p->generations != 0) return "--generations";
    return p->turning ? "--turning" : NULL;
}

/* The number of clear bits. */
static size_t count_clear(const uint8_t *bits, size_t n)
{
    size_t clear = 0;
    for (size_t i = 0; i < n; i++) clear += (bits[i / 8] >> i % 8 & 1) == 0;
    return clear;
}

/* Adds one block; *items grows by the number of keys that were not present. */
static tamis_status add_keys(tamis_foreign *f, const tamis_bytes *keys, size_t n, uint64_t *items)
{
    uint8_t seen[512];
    tamis_status s = TAMIS_OK;
    for (size_t at = 0; at < n && s == TAMIS_OK; at += 8 * sizeof seen) {
        const size_t some = n - at < 8 * sizeof seen ? n - at : 8 * sizeof seen;
        s = tamis_foreign_add_many(f, keys + at, some, seen, NULL);
        if (s == TAMIS_OK) *items += count_clear(seen, some);
    }
    return s;
}

/* *items is the number of distinct lines that were added, or slightly less. False after a
 * message. */
static bool add_foreign_lines(const struct args *a, const struct encoding *e, tamis_foreign *f,
                              uint64_t *items)
{
    struct lines *in = lines_open(&a->lines, a->words, a->n_words, NULL, 1);
    struct encoded keys = {0};
    struct progress bar;
    const struct block *b;
    tamis_status s = TAMIS_OK;
    bool good = in != NULL;
    if (in == NULL) complain(NULL, "not enough memory");
    progress_start(&bar, "building", lines_total_bytes(a->words, a->n_words));
    while (good && s == TAMIS_OK && !lines_failed(in) && (b = lines_next(in)) != NULL) {
        good = encode_lines(e, in, b, &keys);
        if (good) s = add_keys(f, keys.keys, b->n, items);
        progress_update(&bar, b->n, b->input_bytes);
    }
    progress_end(&bar);
    if (s == TAMIS_EFULL)
        complain(
            shown_output(a->output.path),
            "there are more lines than --items, and a RedisBloom filter accepts no more than that");
    else if (s != TAMIS_OK)
        complain(shown_output(a->output.path), "%s", tamis_status_message(s));
    if (in != NULL) {
        good = good && !lines_failed(in);
        lines_close(in, a->quiet);
    }
    encoded_free(&keys);
    return good && s == TAMIS_OK;
}

/* The planned rate. Other programs round the size of a small filter, so that its rate may be above
 * the one asked for. */
static double planned_rate(const tamis_foreign_facts *f, const tamis_foreign_plan *plan)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = plan->items};
    if (plan->format == TAMIS_FOREIGN_PARQUET) return plan->fpr; /* which rounds the size up */
    p.m = f->m;
    p.k = f->k;
    return tamis_solve(&p, NULL, NULL) == TAMIS_OK ? fmax(plan->fpr, p.fpr) : plan->fpr;
}

/* The counterpart of save_unless_overfull. */
static int save_foreign_built(const struct args *a, const tamis_foreign *f,
                              const tamis_foreign_plan *plan, uint64_t items)
{
    tamis_foreign_facts theirs = {.struct_size = sizeof theirs};
    const char *path = shown_output(a->output.path);
    const bool known = tamis_foreign_info(f, &theirs) == TAMIS_OK;
    const double planned = known ? planned_rate(&theirs, plan) : 0;
    const tamis_facts facts = {.struct_size = sizeof facts,
                               .kind = TAMIS_BLOOM,
                               .items = items,
                               .planned_items = plan->items,
                               .overfull = items > plan->items,
                               .items_estimate = theirs.items_estimate,
                               .items_high = theirs.items_estimate,
                               .fpr_now = theirs.fpr_now};
    if (known && !check_not_overfull(a, &facts, path, "not written", planned)) return EXIT_ERROR;
    const int status =
        save_foreign(f, plan->format, a->output.path, a->output.path, a->output.force);
    if (status == EXIT_FOUND && known && rate_is_exceeded(&facts, planned))
        warn_of_rate(&facts, path);
    return status;
}

int build_foreign(const struct args *a)
{
    tamis_foreign_plan plan = {.struct_size = sizeof plan, .items = a->plan.items};
    tamis_foreign *f;
    tamis_error why;
    if (!foreign_format_of("to", a->foreign.to, &plan.format)) return EXIT_ERROR;
    const char *wrong = not_for_foreign(a);
    if (wrong != NULL)
        return complain(NULL, "--to %s: %s is not available for filters of other programs",
                        a->foreign.to, wrong);
    const struct encoding *e = foreign_encoding(a, plan.format);
    if (e == NULL) return EXIT_ERROR;
    const bool stream = a->n_words == 0 || lines_total_bytes(a->words, a->n_words) == 0;
    if (plan.items == 0 && stream)
        return complain(
            NULL, "--to %s: give --items, because the lines of a stream can be read only once",
            a->foreign.to);
    if (plan.items == 0) {
        if (!lines_count(&a->lines, a->words, a->n_words, &plan.items)) return EXIT_ERROR;
        plan.items = with_headroom(&a->plan, plan.items);
    }
    if (plan.items == 0) plan.items = 1;
    plan.fpr = a->plan.fpr != 0 ? a->plan.fpr : DEFAULT_FPR;
    if (tamis_foreign_create(&plan, NULL, &f, &why) != TAMIS_OK)
        return complain(shown_output(a->output.path), "%s", why.text);
    int status = EXIT_ERROR;
    uint64_t items = 0;
    if (add_foreign_lines(a, e, f, &items)) status = save_foreign_built(a, f, &plan, items);
    tamis_foreign_close(f);
    return status;
}
