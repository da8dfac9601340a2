/* One table of options and one of commands; parsing, --help and the manual page all come from them. */
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* --- The tables ---------------------------------------------------------------------------------------- */

enum type { FLAG, TEXT, TEXTS, COUNT, SEED, RATE };
struct option {
    char id; /* in struct command.options; also the short form when `is_short` */
    bool is_short;
    const char *name, *value;
    enum type type;
    size_t offset; /* in struct args */
    const char *help;
};

#define AT(field) offsetof(struct args, field)
static const struct option options[] = {
    {'n', true, "items", "N", COUNT, AT(items),
     "expected number of distinct items (1000000, 1M, 1e6)"},
    {'p', true, "fpr", "RATE", RATE, AT(fpr), "false-positive rate (0.01, 1%, 1/100)"},
    {'b', true, "bytes", "B", COUNT, AT(bytes), "size of the whole file (2000000, 2MB, 2MiB)"},
    {'k', true, "kind", "KIND", TEXT, AT(kind),
     "blocked (default), bloom, partitioned; counting, cuckoo, pair (keys can be removed);\n"
     "growing (size unknown), window (forgets); ribbon, fuse, exact (sealed: smallest, never\n"
     "change); auto chooses blocked or bloom"},
    {'i', false, "inner", "KIND", TEXT, AT(inner),
     "what window and pair are made of; how counters lie (counting: bloom, blocked)"},
    {'B', false, "counter-bits", "N", COUNT, AT(counter_bits), "counting: 4 (default), 8 or 16"},
    {'g', false, "generations", "N", COUNT, AT(generations), "window: how many (default 4)"},
    {'u', false, "turning", NULL, FLAG, AT(turning),
     "window: rotates by itself when the newest generation is full"},
    {'S', false, "static", NULL, FLAG, AT(is_static),
     "the smallest sealed kind, which never changes again; says which"},
    {'x', false, "never", "FILE", TEXTS, AT(never),
     "lines that are not in the set and shall never be a maybe: makes an exact filter; may be\n"
     "given several times"},
    {'X', false, "never-items", "N", COUNT, AT(never_items),
     "exact: how many such lines there will be"},
    {'w', false, "to", "KIND", TEXT, AT(to), "the kind to convert to"},
    {'o', true, "output", "FILE", TEXT, AT(output), "file to write; - for standard output"},
    {'f', true, "force", NULL, FLAG, AT(force), "replace the output when it exists"},
    {'v', true, "invert", NULL, FLAG, AT(invert),
     "print the lines that are absent: certainly so, but of a pair"},
    {'c', true, "count", NULL, FLAG, AT(count),
     "print only the number of such lines, over all inputs"},
    {'q', true, "quiet", NULL, FLAG, AT(quiet), "no output and no progress; the exit status tells"},
    {'z', true, "null", NULL, FLAG, AT(nul), "lines end with a NUL byte, not a newline"},
    {'r', false, "raw", NULL, FLAG, AT(raw),
     "take the input as it is; without it gzip, zstd, bzip2 and xz are unpacked"},
    {'j', false, "json", NULL, FLAG, AT(json), "print JSON"},
    {'s', false, "seed", "S", SEED, AT(seed),
     "seed of the hash (default 0); filters merge only with equal seeds"},
    {'y', false, "key-file", "FILE", TEXT, AT(key_file),
     "secret key: 16 bytes, or 32 hex digits; for keys that strangers may choose"},
    {'t', false, "strict", NULL, FLAG, AT(strict), "refuse items beyond the planned number"},
    {'C', false, "compact", NULL, FLAG, AT(compact),
     "blocked filters: a little smaller, and slower"},
    {'W', false, "for-transfer", NULL, FLAG, AT(for_transfer),
     "bloom filters, to be sent by 'tamis pack': bigger here, smaller on the wire"},
    {'m', false, "m", "M", COUNT, AT(m),
     "bits per row (partitioned) or in all; counters (counting); slots (cuckoo, growing)"},
    {'K', false, "k", "K", COUNT, AT(k), "probes per key (fuse: 3 or 4; growing: least bits kept)"},
    {'e', false, "exact-until", "B", COUNT, AT(exact_until),
     "be exact, by 128-bit hashes, until they take this many bytes"},
    {'Z', false, "state", "FILE", TEXT, AT(state),
     "go on from this file, and save to it in the end"},
    {'d', true, "repeated", NULL, FLAG, AT(repeated), "the lines that came before instead"},
    {'O', false, "window", "W", TEXT, AT(window),
     "remember the last W different lines (1000, 1M), or so long (30s, 5m, 1h, 1d)"},
    {'N', false, "keys", "N", COUNT, AT(keys),
     "random keys to ask (default: as many as the rate needs)"},
    {'T', false, "threads", "N", COUNT, AT(threads), "threads to use (default: one per processor)"},
    {'E', false, "memory", "SIZE", COUNT, AT(memory),
     "ribbon: memory to build with, beside the filter itself (64MiB or more); keys beyond\n"
     "it wait in a temporary file, 16 to 34 bytes each"},
    {'D', false, "temp", "DIR", TEXT, AT(temp), "where that file goes (default: $TMPDIR, or /tmp)"},
    {'a', false, "ask", "WORD", TEXT, AT(ask), "the word to ask about in the end"},
    {'L', false, "max-bytes", "B", COUNT, AT(max_bytes),
     "size of the filter, at most (default 2000000)"},
    {'P', false, "port", "N", TEXT, AT(port),
     "port to listen at (default 8080); 0: one that is free"},
    {'A', false, "address", "IP", TEXT, AT(address), "address to listen at (default 127.0.0.1)"},
    {'R', false, "rate-limit", "N", COUNT, AT(rate_limit),
     "requests a second of one client address (default: no limit)"},
    {'D', false, "connections", "N", COUNT, AT(connections), "connections at once (default 1000)"},
    {'E', false, "per-address", "N", COUNT, AT(per_address),
     "connections at once of one client address (default 64)"},
    {'G', false, "timeout", "SECONDS", COUNT, AT(timeout),
     "how long a client may be silent (default 10)"},
    {'H', false, "cache", "SECONDS", COUNT, AT(cache_seconds),
     "how long a client may keep an answer (default 300)"},
    {'M', false, "man", NULL, FLAG, AT(man), "print the manual page as roff source"},
    {'h', true, "help", NULL, FLAG, AT(help), "this text"},
};
#define N_OPTIONS (sizeof options / sizeof *options)

const struct command commands[] = {
    {"plan", "", "how big, how wrong: sizes before anything is built",
     "Say two of --items, --fpr and --bytes; the third is computed for every kind of filter,\n"
     "with the lower bound that no structure can beat beside it.",
     "tamis plan --items 1000000 --bytes 2000000", "npbkXiBguCWmKj", 0, run_plan},
    {"build", "[FILE...]", "make a filter of lines",
     "Reads the files, or standard input, and writes a filter of their lines. Without --items\n"
     "the lines are counted; without --fpr and --bytes the rate is 1%. An existing output is\n"
     "not replaced without -f. The output appears whole or not at all.",
     "tamis build --fpr 0.1% -o bad.tamis bad-urls.txt", "npbkSxiBguCWmKsytofzrTEDq", 0, run_build},
    {"add", "FILTER [FILE...]", "add lines to a filter",
     "The file is replaced by the new one when all lines were read, or stays as it was. Several\n"
     "adds to one filter at the same time wait for each other; no line is lost.",
     "tamis add bad.tamis more-urls.txt", "yzrTq", 1, run_add},
    {"remove", "FILTER [FILE...]", "remove lines from a counting, cuckoo or pair filter",
     "Remove only lines that were added: removing one that was not, but looks as if, takes away\n"
     "what belongs to others. Lines that are certainly not in are counted on standard error and\n"
     "change nothing. Exit status 0 when a line was removed, 1 when none was in, 2 on an error.",
     "tamis remove users.tamis gone.txt", "yzrTq", 1, run_remove},
    {"rotate", "FILTER...", "begin a new generation of a window and forget the oldest",
     "A secret key is not needed. For a window of the last day in hours: 25 generations, and\n"
     "this from cron every hour.",
     "tamis rotate seen-today.tamis", "q", 1, run_rotate},
    {"compact", "FILTER [FILE...]", "build a filter again from the lines that are left",
     "The filter keeps its plan (a growing one the size it has) and loses everything else: what\n"
     "removals have left behind, or items beyond the plan. The file is replaced when all lines "
     "were read, or stays as it was.",
     "tamis compact users.tamis users.txt", "yzrTq", 1, run_compact},
    {"check", "FILTER [FILE...]", "print the lines that may be in a filter",
     "Like grep: the lines that may be in the filter are printed, with -v those that are\n"
     "certainly not. Exit status 0 when a line was selected, 1 when none was, 2 on an error.\n"
     "--json prints the totals as one object instead.",
     "tamis check bad.tamis access-urls.txt", "vcqzrTjy", 1, run_check},
    {"uniq", "[FILE...]", "drop the lines that came before, and keep the order",
     "In a few bytes per line, however long the lines. Without --items and --bytes the filter "
     "grows\n"
     "with the lines. The one error possible is a new line that is dropped, at the rate of --fpr\n"
     "(default 0.0001%). -c prints only their number, --json the totals, with the number of lines\n"
     "that were wrongly dropped, to be expected.",
     "tamis uniq access-urls.txt", "npbkeZdOcjsyzrTq", 0, run_uniq},
    {"merge", "-o OUT FILTER...", "the union of filters",
     "Filters of the same kind, shape and hash become the filter of all their items, bit for\n"
     "bit. A secret key is not needed.",
     "tamis merge -o all.tamis monday.tamis tuesday.tamis", "ofq", 1, run_merge},
    {"convert", "--to KIND -o OUT FILTER", "the plain filter with the same answers",
     "A counting filter becomes a bloom filter of a quarter of the size, to be shipped to those\n"
     "who only ask.",
     "tamis convert --to bloom -o users.bloom users.tamis", "wof", 1, run_convert},
    {"pack", "-o OUT FILTER", "a smaller file of a filter, for the wire",
     "The fewer of its bits are set, the smaller the file: a filter built --for-transfer takes\n"
     "1.22 times the lower bound at 1%, where a plain bloom filter takes 1.44. Filters that are\n"
     "half full, and ribbons, do not shrink. A secret key is not needed.",
     "tamis pack -o bad.packed bad.tamis", "ofq", 1, run_pack},
    {"unpack", "-o OUT FILE", "the filter that was packed",
     "The very filter, bit for bit, to be asked, added to and merged like any other. It may take\n"
     "thousands of times the room of the packed file, when that is almost empty: unpack what\n"
     "strangers send under a limit of memory (ulimit -v).",
     "tamis unpack -o arrived.tamis arrived.packed", "of", 1, run_unpack},
    {"info", "FILTER...", "what is in a filter, and how wrong it is now",
     "Items and the false-positive rate are computed from the bits as they are now.\n"
     "A secret key is not needed.",
     "tamis info bad.tamis", "j", 1, run_info},
    {"verify", "FILTER...", "check every sum and measure the rate",
     "Reads the whole file against its sums, then asks for random keys and compares the share\n"
     "of wrong answers with the rate that the bits predict. Exit status 0 when all is well, 1 "
     "when\n"
     "the measured rate is not the predicted one, 2 when the file is damaged.",
     "tamis verify bad.tamis", "Njy", 1, run_verify},
    {"explain", "WORD...", "draw how a small filter works, bit by bit",
     "Adds the words to a partitioned filter of --k rows of --m bits and draws each\n"
     "step; --ask draws a question.",
     "tamis explain --k 3 --m 5 apple pear --ask plum", "mKsa", 1, run_explain},
#ifdef WITH_GUARD
    {"guard build", "DIR LIST...", "publish lists of bad URLs in a directory",
     "A list has a URL, a host, a line of a hosts file or ||host^ on each line, and comments. "
     "LABEL=FILE\n"
     "gives a list a name, which a verdict tells; without it the name is that of the file. Lines\n"
     "that are none of these are reported with their numbers and left out. URLs of --never lists\n"
     "are never taken for bad ones. A directory that has a version gets the next: small when "
     "little\n"
     "has changed, and published whole or not at all.",
     "tamis guard build guard malware=bad-urls.txt --never popular.txt", "Lxq", 2, run_guard_build},
    {"guard check", "DIR [URL...]", "say which URLs are listed",
     "URLs, or with - or none the lines of standard input. Prints a verdict for each: clean, "
     "listed\n"
     "(with the labels), or unconfirmed, and the way it took. Exit status 0 when one was listed, "
     "1\n"
     "when all were clean, 2 on an error or a doubt.",
     "tamis guard check guard http://evil.example/login", "qj", 1, run_guard_check},
    {"guard explain", "URL [DIR]", "the canonical form of a URL and its expressions",
     "With a directory also their hashes, and what its filter and its store say of them.",
     "tamis guard explain 'HTTP://A.B.C:80/x/../1/%32.html?p=1#top'", "j", 1, run_guard_explain},
    {"guard serve", "DIR", "serve a directory over HTTP",
     "The filter for clients to ask first (/filter), the confirmation of what it cannot exclude, "
     "by\n"
     "four bytes of a hash (/v1/confirm), updates (/v1/update), figures (/metrics). A new version "
     "of\n"
     "the directory is served as soon as it is published. Stops on SIGTERM.",
     "tamis guard serve guard --port 8080", "PATRDEGHq", 1, run_guard_serve},
#endif
    {"help", "[COMMAND]", "help about a command", "", "tamis help check", "M", 0, run_help},
    {NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL},
};

static const char about[] =
    "Tamis answers \"have I seen this?\" about data too big to keep, in a few bits per item.\n"
    "A \"no\" is always right (but of a pair filter); a \"maybe\" is wrong at a rate you choose.\n";

/* --- Values ------------------------------------------------------------------------------------------------ */

/* Digits, optionally with an exponent and a unit. */
bool parse_number(const char *s, uint64_t *out)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"", 1},
                 {"k", 1000},
                 {"K", 1000},
                 {"M", 1000000},
                 {"G", 1000000000},
                 {"T", 1000000000000},
                 {"Ki", 1024},
                 {"Mi", 1048576},
                 {"Gi", 1073741824},
                 {"Ti", UINT64_C(1) << 40}};
    char *end;
    errno = 0;
    if (*s < '0' || *s > '9') return false;
    uint64_t whole = strtoull(s, &end, 10);
    const bool exact = *end != '.' && *end != 'e' && *end != 'E';
    if (exact && errno != 0) return false;
    const double value = exact ? (double)whole : strtod(s, &end);
    size_t unit_length = strlen(end);
    if (unit_length > 0 && end[unit_length - 1] == 'B') unit_length--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].unit) != unit_length || strncmp(units[i].unit, end, unit_length) != 0)
            continue;
        if (exact) return !__builtin_mul_overflow(whole, units[i].factor, out);
        const double scaled = value * (double)units[i].factor;
        if (!(scaled < 1.8e19) || scaled != floor(scaled)) return false;
        *out = (uint64_t)scaled;
        return true;
    }
    return false;
}

/* 0.01, 1e-2, 1%, 1/100 */
static bool parse_rate(const char *s, double *out)
{
    char *end;
    double v = strtod(s, &end);
    if (end == s) return false;
    if (*end == '/') {
        const char *below = end + 1;
        v /= strtod(below, &end);
        if (end == below) return false;
    } else if (*end == '%') {
        v /= 100;
        end++;
    }
    *out = v;
    return *end == '\0' && v > 0 && v < 1;
}

static bool parse_seed(const char *s, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(s, &end, strncmp(s, "0x", 2) == 0 ? 16 : 10);
    return *s >= '0' && *s <= '9' && *end == '\0' && errno == 0;
}

static bool set_value(const struct option *o, const char *text, struct args *a)
{
    void *field = (char *)a + o->offset;
    bool good = true;
    if (o->type == FLAG) *(bool *)field = true;
    if (o->type == TEXT) *(const char **)field = text;
    if (o->type == TEXTS) {
        struct texts *t = field;
        if (t->n == (int)(sizeof t->text / sizeof *t->text)) {
            complain(NULL, "--%s: no more than %d times", o->name, t->n);
            return false;
        }
        t->text[t->n++] = (char *)text; /* a word of argv */
    }
    if (o->type == COUNT) good = parse_number(text, field) && *(uint64_t *)field != 0;
    if (o->type == SEED) good = parse_seed(text, field);
    if (o->type == RATE) good = parse_rate(text, field);
    if (good) return true;
    const char *wanted = o->type == RATE ? "a rate between 0 and 1, like 0.01, 1% or 1/100"
                         : o->type == SEED
                             ? "a number below 2^64"
                             : "a whole number of at least 1, like 1000000, 1M or 1e6";
    complain(NULL, "--%s: '%s' is not %s", o->name, text, wanted);
    return false;
}

/* --- Parsing ------------------------------------------------------------------------------------------------- */

static bool takes(const struct command *c, const struct option *o)
{
    return o->id == 'h' || strchr(c->options, o->id) != NULL;
}

static const struct option *find_option(const struct command *c, const char *name, size_t length)
{
    for (size_t i = 0; i < N_OPTIONS; i++) {
        const struct option *o = &options[i];
        if (!takes(c, o)) continue;
        if (strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    }
    return NULL;
}

static const struct option *find_short(const struct command *c, char letter)
{
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (options[i].is_short && options[i].id == letter && takes(c, &options[i]))
            return &options[i];
    return NULL;
}

static bool bad_option(const struct command *c, const char *word)
{
    complain(NULL, "%s: unknown option '%s'; see 'tamis %s --help'", c->name, word, c->name);
    return false;
}

/* argv[*i] is a long option; its value may be the next word. */
static bool parse_long(int argc, char **argv, int *i, struct args *a)
{
    const char *name = argv[*i] + 2, *equals = strchr(name, '=');
    const struct option *o =
        find_option(a->command, name, equals != NULL ? (size_t)(equals - name) : strlen(name));
    if (o == NULL) return bad_option(a->command, argv[*i]);
    if (o->type == FLAG && equals != NULL) {
        complain(NULL, "--%s takes no value", o->name);
        return false;
    }
    const char *value = equals != NULL ? equals + 1 : NULL;
    if (o->type != FLAG && value == NULL && *i + 1 < argc) value = argv[++*i];
    if (o->type != FLAG && value == NULL) {
        complain(NULL, "--%s needs a value: %s", o->name, o->value);
        return false;
    }
    return set_value(o, value, a);
}

/* argv[*i] is one or more short options: -vc, -oFILE, -o FILE. */
static bool parse_short(int argc, char **argv, int *i, struct args *a)
{
    for (const char *p = argv[*i] + 1; *p != '\0'; p++) {
        const struct option *o = find_short(a->command, *p);
        if (o == NULL) return bad_option(a->command, argv[*i]);
        if (o->type == FLAG) {
            set_value(o, NULL, a);
            continue;
        }
        const char *value = p[1] != '\0' ? p + 1 : NULL;
        if (value == NULL && *i + 1 < argc) value = argv[++*i];
        if (value == NULL) {
            complain(NULL, "-%c needs a value: %s", *p, o->value);
            return false;
        }
        return set_value(o, value, a);
    }
    return true;
}

bool parse_args(int argc, char **argv, struct args *a)
{
    const struct command *command = a->command;
    bool only_words = false;
    memset(a, 0, sizeof *a);
    a->command = command;
    a->words = argv; /* words are moved to the front: never past where we read */
    for (int i = 0; i < argc; i++) {
        if (only_words || argv[i][0] != '-' || argv[i][1] == '\0')
            a->words[a->n_words++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_words = true;
        else if (argv[i][1] == '-' ? !parse_long(argc, argv, &i, a)
                                   : !parse_short(argc, argv, &i, a))
            return false;
    }
    if (a->help || a->n_words >= command->least_words) return true;
    complain(NULL, "%s: usage: tamis %s [OPTION...] %s", command->name, command->name,
             command->words);
    return false;
}

/* --- Help ------------------------------------------------------------------------------------------------------ */

static void print_option(const struct option *o, FILE *to)
{
    char left[40];
    snprintf(left, sizeof left, "%s%c%s --%s%s%s", o->is_short ? "-" : " ",
             o->is_short ? o->id : ' ', o->is_short ? "," : " ", o->name,
             o->value != NULL ? " " : "", o->value != NULL ? o->value : "");
    fprintf(to, "  %-22s ", left);
    for (const char *p = o->help; *p != '\0'; p++) { /* further lines under the first */
        fputc(*p, to);
        if (*p == '\n') fprintf(to, "%25s", "");
    }
    fputc('\n', to);
}

void print_help(const struct command *c, FILE *to)
{
    if (c == NULL) {
        fprintf(to, "%s\nUsage: tamis COMMAND [OPTION...] [FILE...]\n\n", about);
        for (c = commands; c->name != NULL; c++) fprintf(to, "  %-13s %s\n", c->name, c->summary);
        fprintf(to, "\n'tamis COMMAND --help' tells more. Example:\n\n"
                    "  tamis build -o seen.tamis list.txt && tamis check seen.tamis other.txt\n");
        return;
    }
    fprintf(to, "Usage: tamis %s [OPTION...] %s\n\n%s\n", c->name, c->words, c->summary);
    if (c->text[0] != '\0') fprintf(to, "\n%s\n", c->text);
    fprintf(to, "\nOptions:\n");
    for (size_t i = 0; i < N_OPTIONS; i++)
        if (takes(c, &options[i])) print_option(&options[i], to);
    fprintf(to, "\nExample:\n  %s\n", c->example);
}

/* Text for roff: a leading dot or quote would be a request, a minus sign a hyphen. */
static void print_roff(const char *text, FILE *to)
{
    for (bool first = true; *text != '\0'; text++) {
        if (first && (*text == '.' || *text == '\'')) fputs("\\&", to);
        if (*text == '-')
            fputs("\\-", to);
        else if (*text == '\\')
            fputs("\\e", to);
        else
            fputc(*text, to);
        first = *text == '\n';
    }
}

void print_manual(FILE *to)
{
    fprintf(to, ".TH TAMIS 1 \"\" \"tamis %s\" \"User commands\"\n.SH NAME\n", tamis_version());
    fprintf(to,
            "tamis \\- have I seen this? approximate sets in a few bits per item\n.SH SYNOPSIS\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        fprintf(to, "%s.B tamis %s\n", c == commands ? "" : ".br\n", c->name);
        print_roff("[OPTION...] ", to);
        print_roff(c->words, to);
        fputs("\n", to);
    }
    fprintf(to, ".SH DESCRIPTION\n");
    print_roff(about, to);
    print_roff(
        "A line is a key: any bytes, any length, without its newline. Input comes from the files\n"
        "named, or from standard input; - stands for standard input.\n",
        to);
    fprintf(to, ".SH COMMANDS\n");
    for (const struct command *c = commands; c->name != NULL; c++) {
        fprintf(to, ".SS %s\n", c->name);
        print_roff(c->summary, to);
        fputs(".\n", to);
        if (c->text[0] != '\0') {
            fputs(".PP\n", to);
            print_roff(c->text, to);
            fputs("\n", to);
        }
        for (size_t i = 0; i < N_OPTIONS; i++) {
            const struct option *o = &options[i];
            if (!takes(c, o) || o->id == 'h') continue;
            fputs(".TP\n.B ", to);
            if (o->is_short) fprintf(to, "\\-%c, ", o->id);
            fputs("\\-\\-", to);
            print_roff(o->name, to);
            if (o->value != NULL) fprintf(to, " \\fI%s\\fR", o->value);
            fputs("\n", to);
            print_roff(o->help, to);
            fputs("\n", to);
        }
        fputs(".PP\nExample:\n.PP\n.nf\n", to);
        print_roff(c->example, to);
        fputs("\n.fi\n", to);
    }
    fprintf(to, ".SH EXIT STATUS\n");
    print_roff(
        "0: a line was selected, or the work was done. 1: no line was selected, or a measured "
        "rate\n"
        "is off. 2: an error, with one line on standard error that names the file and the reason;\n"
        "no filter was written or changed.\n",
        to);
    fprintf(to, ".SH SEE ALSO\n");
    print_roff("grep(1), sort(1), uniq(1)\n", to);
}
