/* From the words of a command line to struct args. */
#include "options.h"

#include "../input/fields.h"
#include "mistakes.h"
#include "output.h"
#include "suggest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* --- Values ----------------------------------------------------------------------------------- */

/* Digits, optionally with an exponent and a unit, of which upper and lower case mean the same. */
bool parse_number(const char *s, uint64_t *out)
{
    static const struct {
        const char *unit;
        uint64_t factor;
    } units[] = {{"", 1},           {"k", 1000},          {"M", 1000000},
                 {"G", 1000000000}, {"T", 1000000000000}, {"Ki", 1024},
                 {"Mi", 1048576},   {"Gi", 1073741824},   {"Ti", UINT64_C(1) << 40}};
    char *end;
    errno = 0;
    if (*s < '0' || *s > '9') return false;
    uint64_t whole = strtoull(s, &end, 10);
    const bool exact = *end != '.' && *end != 'e' && *end != 'E';
    if (exact && errno != 0) return false;
    const double value = exact ? (double)whole : strtod(s, &end);
    size_t unit_length = strlen(end);
    if (unit_length > 0 && (end[unit_length - 1] == 'B' || end[unit_length - 1] == 'b'))
        unit_length--;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strlen(units[i].unit) != unit_length ||
            strncasecmp(units[i].unit, end, unit_length) != 0)
            continue;
        if (exact) return !__builtin_mul_overflow(whole, units[i].factor, out);
        const double scaled = value * (double)units[i].factor;
        if (!(scaled < 1.8e19) || scaled != floor(scaled)) return false;
        *out = (uint64_t)scaled;
        return true;
    }
    return false;
}

bool parse_rate(const char *s, double *out)
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
    *out = *end == '\0' ? v : 0; /* is_whole_rate sees it as well */
    return *out > 0 && *out < 1;
}

/* A rate of 100 % is for maps alone, whose plan may have it. */
static bool is_whole_rate(const struct args *a, const struct option *o, const double *rate)
{
    const char *command = a->command->name;
    return strcmp(o->name, "fpr") == 0 && *rate >= 1 && *rate <= 1 &&
           (strcmp(command, "build") == 0 || strcmp(command, "plan") == 0);
}

bool parse_seconds(const char *s, double *out)
{
    static const struct {
        const char *unit;
        double factor;
    } units[] = {{"", 1},      {"s", 1},  {"ms", 1e-3}, {"us", 1e-6},
                 {"ns", 1e-9}, {"m", 60}, {"h", 3600},  {"d", 86400}};
    char *end;
    const double v = strtod(s, &end);
    if (!((*s >= '0' && *s <= '9') || *s == '.') || !isfinite(v)) return false;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        if (strcmp(end, units[i].unit) != 0) continue;
        *out = v * units[i].factor;
        return *out > 0 && isfinite(*out);
    }
    return false;
}

static bool parse_positive(const char *s, double *out)
{
    char *end;
    *out = strtod(s, &end);
    return ((*s >= '0' && *s <= '9') || *s == '.') && *end == '\0' && isfinite(*out) && *out > 0;
}

static bool parse_seed(const char *s, uint64_t *out)
{
    char *end;
    errno = 0;
    *out = strtoull(s, &end, strncmp(s, "0x", 2) == 0 ? 16 : 10);
    return *s >= '0' && *s <= '9' && *end == '\0' && errno == 0;
}

/* A single byte, \t for a tab, or "blanks" for any number of spaces and tabs. */
static bool parse_delimiter(const char *s, int *out)
{
    const bool tab = strcmp(s, "\\t") == 0, blanks = strcmp(s, "blanks") == 0;
    *out = tab ? '\t' : (unsigned char)s[0];
    if (blanks) *out = BLANKS;
    return tab || blanks || strlen(s) == 1;
}

/* 50%, 0.5 or 2. */
static bool parse_share(const char *s, double *out)
{
    char *end;
    *out = strtod(s, &end);
    const bool percent = end != s && *end == '%';
    if (percent) {
        *out /= 100;
        end++;
    } else if (*out >= 10) { /* whoever writes 50 means 50% */
        return false;
    }
    return ((*s >= '0' && *s <= '9') || *s == '.') && *end == '\0' && *out > 0 && *out <= 1e6;
}

/* A number or a name. Whether 0 is a number of a field depends on the format (fields.c). */
static bool parse_column(const char *s, struct column *out)
{
    const bool number = *s != '\0' && strspn(s, "0123456789") == strlen(s);
    *out = (struct column){s, 0};
    return *s != '\0' && (!number || parse_number(s, &out->number));
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
            complain(NULL, "--%s can be given at most %d times", o->name, t->n);
            return false;
        }
        t->text[t->n++] = (char *)text; /* a word of argv */
    }
    if (o->type == COUNT) good = parse_number(text, field) && *(uint64_t *)field != 0;
    if (o->type == SEED) good = parse_seed(text, field);
    if (o->type == RATE) good = parse_rate(text, field) || is_whole_rate(a, o, field);
    if (o->type == DELIMITER) good = parse_delimiter(text, field);
    if (o->type == SECONDS) good = parse_seconds(text, field);
    if (o->type == SHARE) good = parse_share(text, field);
    if (o->type == COLUMN) good = parse_column(text, field);
    if (o->type == POSITIVE) good = parse_positive(text, field);
    if (good && o->type == SEED) a->plan.seeded = true;
    if (good) return true;
    static const char *const wanted_of[] = {
        [COUNT] = "a whole number of at least 1, like 1000000, 1M or 1e6",
        [SEED] = "a whole number below 2^64, decimal or hexadecimal after 0x",
        [RATE] = "a rate between 0 and 1, like 0.01, 1% or 1/100",
        [DELIMITER] = "a single byte, \\t for a tab, or blanks for any number of spaces and tabs",
        [COLUMN] = "the number of a field, counted from 1, or the name of a column",
        [SHARE] = "a share, like 50% or 0.5",
        [SECONDS] = "a time, like 0.5, 500ms, 30s or 5m",
        [POSITIVE] = "a number above 0, like 0.5 or 2"};
    const char *wanted = wanted_of[o->type];
    if (strcmp(o->name, "error") == 0) wanted = "an error above 0 and at most 30%, like 1%";
    complain(NULL, "--%s: '%s' is not %s", o->name, text, wanted);
    return false;
}

/* --- Parsing ---------------------------------------------------------------------------------- */

bool is_common(const struct option *o)
{
    return strcmp(o->name, "help") == 0 || strcmp(o->name, "short-help") == 0 ||
           strcmp(o->name, "color") == 0;
}

/* Whether a word is in a list with `mark` between. */
static bool is_listed(const char *list, char mark, const char *word)
{
    const size_t length = strlen(word);
    const char marks[] = {mark, '\0'};
    for (const char *p = list; *p != '\0'; p += strspn(p, marks)) {
        const size_t n = strcspn(p, marks);
        if (n == length && memcmp(p, word, length) == 0) return true;
        p += n;
    }
    return false;
}

bool is_everyday(const struct command *c, const struct option *o)
{
    const char *bar = strchr(c->options, '|');
    const size_t length = strlen(o->name);
    for (const char *p = c->options; bar == NULL || p < bar; p += strspn(p, " ")) {
        const size_t n = strcspn(p, " ");
        if (n == 0) return false;
        if (n == length && memcmp(p, o->name, n) == 0) return true;
        p += n;
    }
    return false;
}

const struct option *option_of(const struct command *c, size_t i)
{
    const char *name = options[i].name;
    if (!is_common(&options[i]) && !is_listed(c->options, ' ', name)) return NULL;
    for (size_t own = 0; own < n_own_options; own++)
        if (strcmp(own_options[own].option.name, name) == 0 &&
            is_listed(own_options[own].commands, ',', c->name))
            return &own_options[own].option;
    return &options[i];
}

const struct option *find_option(const struct command *c, const char *name, size_t length)
{
    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = option_of(c, i);
        if (o != NULL && strlen(o->name) == length && strncmp(o->name, name, length) == 0) return o;
    }
    return NULL;
}

static const struct option *find_short(const struct command *c, char letter)
{
    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = option_of(c, i);
        if (o != NULL && o->letter == letter) return o;
    }
    return NULL;
}

/* Whether the command refuses a spelling, after a message that names the one to use. */
static bool is_refused_spelling(const struct command *c, const char *spelling)
{
    for (size_t i = 0; i < n_refused_options; i++) {
        const struct refused_option *r = &refused_options[i];
        if (strcmp(r->spelling, spelling) != 0 || !is_listed(r->commands, ',', c->name)) continue;
        complain(NULL, "%s: %s %s", c->name, spelling, r->reason);
        return true;
    }
    return false;
}

/* `line` is the command to paste, or NULL. */
static void complain_of_spelling(const struct command *c, const char *word, const char *instead,
                                 const char *line)
{
    complain(NULL, "%s: %s is written %s%s%s", c->name, word, instead, line != NULL ? ": " : "",
             line != NULL ? line : "");
}

/* -3 instead of -n 3, as head accepts it. False when it is something else. */
static bool is_head_count(const struct command *c, const char *word)
{
    const struct option *o = find_short(c, 'n');
    char instead[40];
    if (o == NULL || strcmp(o->name, "number") != 0 || word[1] == '\0' || strlen(word) > 20 ||
        word[1 + strspn(word + 1, "0123456789")] != '\0')
        return false;
    snprintf(instead, sizeof instead, "-n %s", word + 1);
    complain_of_spelling(c, word, instead, line_with(word, instead));
    return true;
}

static bool bad_option(const struct command *c, const char *word)
{
    if (is_refused_spelling(c, word) || is_head_count(c, word)) return false;
    if (strcmp(word, "--version") == 0 || strcmp(word, "-V") == 0) {
        complain(NULL, "%s: unknown option '%s'; did you mean 'tamis --version'?", c->name, word);
        return false;
    }
    struct guess g = {.word = word + 2, .length = strcspn(word, "=")};
    g.length =
        g.length > 2 && word[1] == '-' ? g.length - 2 : 0; /* letters are too short to guess */
    for (size_t i = 0; i < n_options && g.length > 0; i++)
        if (option_of(c, i) != NULL) consider(&g, options[i].name);
    if (g.best != NULL)
        complain(NULL, "%s: unknown option '%s'%s", c->name, word, did_you_mean(&g, "--"));
    else
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
        complain(NULL, "--%s requires a value: %s", o->name, o->value);
        return false;
    }
    return set_value(o, value, a);
}

/* -csv instead of --csv, which would be -c, -s and -v. */
static bool lacks_a_dash(const struct command *c, const char *word)
{
    enum { LEAST = 3, MOST = 30 };
    const size_t length = strcspn(word + 1, "=");
    char given[MOST + 2], instead[MOST + 3];
    if (length < LEAST || length > MOST || find_option(c, word + 1, length) == NULL) return false;
    snprintf(given, sizeof given, "%.*s", (int)length + 1, word);
    snprintf(instead, sizeof instead, "-%s", given);
    const bool whole = word[length + 1] == '\0'; /* a value would have to be quoted */
    complain_of_spelling(c, given, instead, whole ? line_with(word, instead) : NULL);
    return true;
}

/* argv[*i] is one or more short options: -vc, -oFILE, -o FILE. */
static bool parse_short(int argc, char **argv, int *i, struct args *a)
{
    if (lacks_a_dash(a->command, argv[*i])) return false;
    for (const char *p = argv[*i] + 1; *p != '\0'; p++) {
        const struct option *o = find_short(a->command, *p);
        const char alone[] = {'-', *p, '\0'};
        if (o == NULL && is_refused_spelling(a->command, alone)) return false;
        if (o == NULL) return bad_option(a->command, argv[*i]);
        if (o->type == FLAG) {
            set_value(o, NULL, a);
            continue;
        }
        const char *value = p[1] != '\0' ? p + 1 : NULL;
        if (value == NULL && *i + 1 < argc) value = argv[++*i];
        if (value == NULL) {
            complain(NULL, "-%c requires a value: %s", *p, o->value);
            return false;
        }
        return set_value(o, value, a);
    }
    return true;
}

static bool parse_option(int argc, char **argv, int *i, struct args *a)
{
    return argv[*i][1] == '-' ? parse_long(argc, argv, i, a) : parse_short(argc, argv, i, a);
}

int complain_usage(const struct command *c)
{
    return complain(NULL, "%s: usage: tamis %s [OPTION...]%s%s; see 'tamis %s %s'", c->name,
                    c->name, c->words[0] != '\0' ? " " : "", c->words, c->name,
                    find_short(c, 'h') != NULL ? "-h" : "--short-help");
}

bool parse_args(int argc, char **argv, struct args *a)
{
    const struct command *command = a->command;
    bool only_words = false;
    memset(a, 0, sizeof *a);
    a->command = command;
    a->words = argv; /* words are moved to the front: never past where we read */
    if (argc == 1 && strcmp(argv[0], "-h") == 0) { /* of check, too, where it is grep's elsewhere */
        a->short_help = true;
        return true;
    }
    for (int i = 0; i < argc; i++) {
        if (only_words || argv[i][0] != '-' || argv[i][1] == '\0')
            a->words[a->n_words++] = argv[i];
        else if (strcmp(argv[i], "--") == 0)
            only_words = true;
        else if (!parse_option(argc, argv, &i, a))
            return false;
    }
    if (a->help || a->short_help || a->n_words >= command->least_words) return true;
    complain_usage(command);
    return false;
}
