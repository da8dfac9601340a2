/* The rows: printed as they are measured, and kept for bench.json. */
#include "../common/bench.h"

#include <math.h>
#include <string.h>

static struct row rows[4096];
static size_t count;

struct row row_of(const char *kind, const char *mode, enum key_type type, uint64_t keys)
{
    return (struct row){.group = "tables",
                        .kind = kind,
                        .op = "",
                        .mode = mode,
                        .key_type = KEY_TYPES[type],
                        .keys = keys,
                        .rate = NAN,
                        .threads = 1,
                        .instructions = NAN,
                        .limit_ns = NAN,
                        .rolling_ns = NAN,
                        .hash_ns = NAN,
                        .bits_per_item = NAN,
                        .fpr = NAN,
                        .collisions = NAN,
                        .allocations = NAN};
}

/* Returns the peer's time for the same cell, or NAN. */
static double libbloom_ns(const struct row *r)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(rows[i].kind, "libbloom") == 0 && strcmp(rows[i].op, r->op) == 0 &&
            strcmp(rows[i].key_type, r->key_type) == 0 && rows[i].keys == r->keys &&
            rows[i].rate == r->rate)
            return rows[i].ns;
    return NAN;
}

/* --- The table -------------------------------------------------------------------------------- */

static bool same(double a, double b)
{
    return a == b || (isnan(a) && isnan(b));
}

static const char *size_text(uint64_t n, char out[16])
{
    const struct {
        uint64_t unit;
        char letter;
    } units[2] = {{1000000, 'M'}, {1000, 'k'}};
    snprintf(out, 16, "%llu", (unsigned long long)n);
    for (size_t i = 0; i < LENGTH(units); i++)
        if (n >= units[i].unit) {
            snprintf(out, 16, "%.3g %c", (double)n / (double)units[i].unit, units[i].letter);
            break;
        }
    return out;
}

static void print_heading(const struct row *r)
{
    static struct row last;
    char keys[16];
    if (count != 0) {
        /* Limits and hashing are printed where they were first needed. */
        if (strcmp(r->kind, "limit") == 0) return;
        if (r->keys == last.keys && strcmp(r->key_type, last.key_type) == 0 &&
            same(r->rate, last.rate))
            return;
    }
    last = *r;
    if (count == 0)
        printf("\nrandom lines of 64 bytes");
    else
        printf("\n%s keys, %s", size_text(r->keys, keys),
               strcmp(r->key_type, "url") == 0 ? "URLs of 50 bytes" : "64-bit integers");
    if (!isnan(r->rate)) printf(", %g %%", 100 * r->rate);
    printf("\n%-12s %-12s %-16s %-14s %8s %8s %8s %6s %6s %6s %7s %8s %9s\n", "kind", "mode", "op",
           "", "ns", "(min)", "line ns", "ratio", "/hash", "x peer", "bits", "FPR %", "scratch");
}

/* Prints a number, or blanks if there is none. */
static void print_number(double x, int width, int digits)
{
    if (isnan(x))
        printf(" %*s", width, "");
    else
        printf(" %*.*f", width, digits, x);
}

static void print(const struct row *r)
{
    char note[48];
    print_heading(r);
    if (strcmp(r->kind, "limit") == 0)
        snprintf(note, sizeof note, "%.4g MiB", (double)r->bytes / (1 << 20));
    else
        snprintf(note, sizeof note, "%s%s%s", r->keyed ? "keyed" : "",
                 r->array ? (r->threads > 1 ? "2 threads" : "array") : "",
                 r->shared ? " shared" : "");
    printf("%-12s %-12s %-16s %-14s %8.2f %8.2f", r->kind, r->mode, r->op, note, r->ns, r->min_ns);
    print_number(r->limit_ns, 8, 2);
    print_number(r->ns / r->limit_ns, 6, 2);
    print_number(r->ns / r->hash_ns, 6, 2);
    print_number(libbloom_ns(r) / r->ns, 6, 1);
    print_number(r->bits_per_item, 7, 2);
    print_number(100 * r->fpr, 8, 4);
    if (r->scratch_bytes != 0) printf(" %5.1f MiB", (double)r->scratch_bytes / (1 << 20));
    printf("\n");
    fflush(stdout);
}

void row_add(const struct row *r)
{
    if (count == LENGTH(rows)) die("too many rows");
    print(r);
    rows[count++] = *r;
}

void row_keep(const struct row *r)
{
    char n[16], rate[16] = "";
    if (count == LENGTH(rows)) die("too many rows");
    if (!isnan(r->rate)) snprintf(rate, sizeof rate, "%g %%", 100 * r->rate);
    rows[count++] = *r;
    printf("%-20s %-22s %-26s %-7s %6s  %u %7s", r->kind, r->op, r->mode, r->key_type,
           size_text(r->keys, n), r->threads, rate);
    if (!settings.counting) {
        print_number(r->ns, 12, 2);
        print_number(r->min_ns, 12, 2);
        print_number(r->instructions, 9, 1);
        if (!isnan(r->allocations))
            printf(" %llu bytes, %.0f allocations", (unsigned long long)r->bytes, r->allocations);
    }
    printf("\n");
    fflush(stdout);
}

/* --- bench.json ------------------------------------------------------------------------------- */

static void put_number(FILE *f, const char *name, double x)
{
    if (isfinite(x))
        fprintf(f, ", \"%s\": %.6g", name, x);
    else
        fprintf(f, ", \"%s\": null", name);
}

static void put_count(FILE *f, const char *name, uint64_t n)
{
    fprintf(f, ", \"%s\": %llu", name, (unsigned long long)n);
}

/* The fields that all rows have. */
static void put_name(FILE *f, const struct row *r)
{
    fprintf(f, "{\"group\": \"%s\", \"kind\": \"%s\", \"op\": \"%s\", \"mode\": \"%s\"", r->group,
            r->kind, r->op, r->mode);
    fprintf(f, ", \"key_type\": \"%s\"", r->key_type);
    put_count(f, "n", r->keys);
    put_count(f, "threads", r->threads);
    put_count(f, "repetitions", r->repetitions);
    put_count(f, "bytes", r->bytes);
    put_number(f, "rate", r->rate);
    put_number(f, "ns", r->ns);
    put_number(f, "min_ns", r->min_ns);
    put_number(f, "instructions", r->instructions);
    fprintf(f, ", \"shared\": %s", r->shared ? "true" : "false");
}

static void put_call(FILE *f, const struct row *r)
{
    put_name(f, r);
    fprintf(f, ", \"counter\": %s", isnan(r->instructions) ? "null" : "\"perf\"");
    put_count(f, "operations", r->operations);
    put_number(f, "allocations", r->allocations);
    put_number(f, "fpr", r->fpr);
    fputc('}', f);
}

static void put_row(FILE *f, const struct row *r)
{
    put_name(f, r);
    fprintf(f, ", \"input\": \"%s\", \"keyed\": %s", r->array ? "array" : "batch",
            r->keyed ? "true" : "false");
    put_count(f, "huge_bytes", r->huge_bytes);
    put_count(f, "scratch_bytes", r->scratch_bytes);
    put_number(f, "limit_ns", r->limit_ns);
    put_number(f, "rolling_ns", r->rolling_ns);
    put_number(f, "ratio", r->ns / r->limit_ns);
    put_number(f, "hash_ns", r->hash_ns);
    put_number(f, "libbloom_ns", libbloom_ns(r));
    put_number(f, "bits_per_item", r->bits_per_item);
    put_number(f, "fpr", r->fpr);
    put_number(f, "collisions", r->collisions);
    fputc('}', f);
}

void rows_write(const char *path)
{
    FILE *f = fopen(path, "w");
    if (f == NULL) die("cannot write %s", path);
    fputs("[", f);
    for (size_t i = 0; i < count; i++) {
        fputs(i == 0 ? "\n" : ",\n", f);
        if (strcmp(rows[i].group, "tables") == 0)
            put_row(f, rows + i);
        else
            put_call(f, rows + i);
    }
    fputs("\n]\n", f);
    if (fclose(f) != 0) die("cannot write %s", path);
}
