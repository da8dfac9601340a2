/*   build/bench-frequency [--quick | --check] [--only SECTION] [--out FILE]
 *   build/bench-frequency --ids STREAM | --log FILE
 *
 * Measures the sketches and writes frequency.json next to the program (or FILE). --ids and --log
 * only write a stream to standard output and the log of URLs to a file, for comparison with other
 * generators. */
#include "frequency.h"

#include <stdlib.h>
#include <string.h>

#define FULL 10000000u

struct settings settings = {.least = 5, .budget = 0};

/* --- What is run ------------------------------------------------------------------------------ */

static void measure_speeds(uint32_t n)
{
    struct stream s;
    rows_list("speed");
    stream_zipf(&s, "1.0", n);
    measure_speed(&s);
    stream_drop(&s);
    stream_zipf(&s, "0.8", n);
    if (!settings.check) measure_big_speed(&s);
    stream_drop(&s);
    stream_urls(&s, n);
    measure_text_speed(&s);
    stream_drop(&s);
}

static void measure_errors(uint32_t n)
{
    static const char *const laws[] = {"0.8", "1.0", "1.3"};
    static const char *const contest[] = {"0.4", "0.6", "0.8", "1.0", "1.2", "1.4", "1.6", "1.8"};
    struct stream s;
    rows_list("accuracy");
    for (size_t i = 0; i < LENGTH(laws); i++) {
        stream_zipf(&s, laws[i], n);
        measure_accuracy(&s);
        stream_drop(&s);
    }
    stream_urls(&s, n);
    measure_accuracy(&s);
    stream_cluster(&s, false);
    measure_accuracy(&s);
    stream_cluster(&s, true);
    measure_accuracy(&s);
    stream_drop(&s);
    rows_list("contest");
    printf("\n");
    for (size_t i = 0; i < LENGTH(contest); i++) {
        stream_zipf(&s, contest[i], n / 10);
        measure_contest(&s);
        stream_drop(&s);
    }
}

/* `only` is one of the three sections, or NULL for all. */
static void measure_all(const char *folder, uint32_t n, const char *only)
{
    if (only == NULL || strcmp(only, "commands") == 0) {
        rows_list("commands");
        measure_commands(folder, n);
    }
    pin(0);
    if (only == NULL || strcmp(only, "speed") == 0) measure_speeds(n);
    if (only == NULL || strcmp(only, "accuracy") == 0) measure_errors(n);
}

static int print_ids(const char *name)
{
    struct stream s;
    if (strcmp(name, "url") == 0)
        stream_urls(&s, FULL);
    else
        stream_zipf(&s, name + (name[0] == 'z'), FULL);
    const uint16_t one = 1;
    if (*(const uint8_t *)&one != 1) die("this is for little-endian machines");
    const bool good = fwrite(s.draws, sizeof *s.draws, s.n, stdout) == s.n && fflush(stdout) == 0;
    stream_drop(&s);
    return good ? 0 : 1;
}

static int write_log(const char *path)
{
    struct stream s;
    stream_urls(&s, FULL);
    stream_write_log(&s, path);
    stream_drop(&s);
    return 0;
}

int main(int argc, char **argv)
{
    char folder[4096], json[4200];
    const char *only = NULL;
    uint32_t n = FULL;
    own_folder(folder, sizeof folder);
    snprintf(json, sizeof json, "%s/frequency.json", folder);
    for (int i = 1; i < argc; i++) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (strcmp(argv[i], "--quick") == 0) {
            settings.quick = true;
            n = FULL / 10;
        } else if (strcmp(argv[i], "--check") == 0) {
            settings.check = true;
            settings.least = 3;
            n = FULL / 500;
        } else if (strcmp(argv[i], "--only") == 0 && value != NULL) {
            only = argv[++i];
        } else if (strcmp(argv[i], "--ids") == 0 && value != NULL) {
            return print_ids(value);
        } else if (strcmp(argv[i], "--log") == 0 && value != NULL) {
            return write_log(value);
        } else if (strcmp(argv[i], "--out") == 0 && value != NULL) {
            snprintf(json, sizeof json, "%s", argv[++i]);
        } else {
            fputs("usage: bench-frequency [--quick | --check] [--only SECTION] [--out FILE] | "
                  "--ids STREAM | --log FILE\n",
                  stderr);
            return 2;
        }
    }
    const double start = seconds();
    fix_memory();
    rows_open(json, only);
    measure_all(folder, n, only);
    rows_close();
    printf("\n%s: %.0f s\n", json, seconds() - start);
    return 0;
}
