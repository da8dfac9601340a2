/* Command lines: every command with every option, with valid and invalid values, in any order. A
 * refused line is explained, an accepted one leaves no trace in options that the command does not
 * take, and numbers and fields mean what a simple reading of them says. The shell reads back words
 * that were quoted. No command is run.
 *
 * ./run fuzz options */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

int tamis_main(int argc, char **argv); /* of the command, which is not called */
#define main tamis_main
#include "../../cli/main.c"
#undef main
#include "../../cli/filters/request.h"
#include "../../cli/input/fields.h"
#include "feed.h"
#include "messages.h"
#include "plans.h"

#include <math.h>

#define MOST_WORDS 20
#define MOST_TEXT 300u

__extension__ typedef unsigned __int128 wide;

/* --- Words ------------------------------------------------------------------------------------ */

static size_t count_commands(void)
{
    size_t n = 0;
    while (commands[n].name != NULL) n++;
    return n;
}

/* A word of the table, or any text; each in memory of its own size. */
static char *feed_word(struct feed *f)
{
    char text[MOST_TEXT], word[MOST_TEXT + 64];
    const uint8_t what = feed_byte(f);
    const struct option *o = &options[feed_byte(f) % n_options];
    if (what < 100)
        snprintf(word, sizeof word, "--%s", o->name);
    else if (what < 150 && feed_text(f, text, sizeof text) < sizeof text)
        snprintf(word, sizeof word, "--%s=%s", o->name, text);
    else if (what < 180)
        snprintf(word, sizeof word, "-%c", o->letter != 0 ? o->letter : '?');
    else if (what < 200 && feed_text(f, text, sizeof text) < sizeof text)
        snprintf(word, sizeof word, "-%c%s", o->letter != 0 ? o->letter : 'v', text);
    else
        feed_text(f, word, sizeof word);
    char *exact = strdup(word);
    must(exact != NULL, "memory");
    return exact;
}

/* --- What parse_args promises ----------------------------------------------------------------- */

static size_t size_of_type(enum type t)
{
    static const size_t sizes[] = {
        [FLAG] = sizeof(bool),      [TEXT] = sizeof(char *),         [TEXTS] = sizeof(struct texts),
        [COUNT] = sizeof(uint64_t), [SEED] = sizeof(uint64_t),       [RATE] = sizeof(double),
        [SECONDS] = sizeof(double), [DELIMITER] = sizeof(int),       [POSITIVE] = sizeof(double),
        [SHARE] = sizeof(double),   [COLUMN] = sizeof(struct column)};
    return sizes[t];
}

static bool takes_offset(const struct command *c, size_t offset)
{
    for (size_t i = 0; i < n_options; i++) {
        const struct option *o = option_of(c, i);
        if (o != NULL && o->offset == offset) return true;
    }
    return false;
}

static bool is_one(const char *text, char *const *words, int n)
{
    for (int i = 0; i < n; i++) {
        const size_t length = strlen(words[i]);
        if (text >= words[i] && text <= words[i] + length) return true;
    }
    return false;
}

/* One of the common table, or behind it one that some commands have of their own. */
static const struct option *any_option(size_t i)
{
    return i < n_options ? &options[i] : &own_options[i - n_options].option;
}

/* words: a copy of argv, whose order parse_args changes. */
static void check_args(const struct args *a, char *const *words, int n)
{
    must(a->n_words <= n, "no more words than there were");
    must(a->help || a->short_help || a->n_words >= a->command->least_words, "enough words");
    for (int i = 0; i < a->n_words; i++) must(is_one(a->words[i], words, n), "words of the line");
    for (size_t i = 0; i < n_options + n_own_options; i++) {
        const struct option *o = any_option(i);
        const uint8_t *field = (const uint8_t *)a + o->offset;
        const size_t size = size_of_type(o->type);
        bool zero = true;
        for (size_t b = 0; b < size; b++) zero = zero && field[b] == 0;
        must(zero || takes_offset(a->command, o->offset), "no trace of what it does not take");
        if (zero) continue;
        double real = 0;
        if (o->type == RATE || o->type == SECONDS || o->type == POSITIVE || o->type == SHARE) {
            memcpy(&real, field, sizeof real);
            must(real > 0 && isfinite(real), "a number above 0, and finite");
            /* A map may have a rate of 1 (is_whole_rate). */
            must(o->type != RATE || real < 1 || (real <= 1 && strcmp(o->name, "fpr") == 0),
                 "a rate below 1");
        }
        const char *text = NULL;
        if (o->type == TEXT) memcpy(&text, field, sizeof text);
        must(text == NULL || is_one(text, words, n), "text of the line");
    }
}

/* What the options ask for is a plan with its promises, or a message. */
static void check_plans(const struct args *a)
{
    tamis_plan p, solved;
    const bool plan = plan_from(&a->plan, &p);
    must(plan != was_said(), "a plan, or a reason");
    if (plan) solve_plan(&p, &solved);
    const bool sketch = sketch_from(&a->plan, &p);
    must(sketch != was_said(), "a plan, or a reason");
    if (sketch) solve_plan(&p, &solved);
    const bool color = set_color(a->color);
    must(color != was_said(), "a colour, or a reason");
    const bool fields = check_fields(&a->lines);
    must(fields != was_said(), "fields, or a reason");
}

static void parse(struct feed *f)
{
    char *argv[MOST_WORDS], *words[MOST_WORDS], name[80];
    int n = 0, made = 0;
    const uint8_t which = feed_byte(f);
    /* One or two words, as the shell would give them. */
    char *command = strdup(commands[which % count_commands()].name);
    must(command != NULL, "memory");
    for (char *p = strtok(command, " "); p != NULL && which < 240; p = strtok(NULL, " "))
        argv[n++] = p;
    for (; n < MOST_WORDS && (f->left > 0 || n == 0); n++) argv[n] = words[made++] = feed_word(f);
    char **exact = malloc((size_t)n * sizeof *exact); /* its end is seen */
    must(exact != NULL, "memory");
    memcpy(exact, argv, (size_t)n * sizeof *exact);
    const int named = command_words(n, exact, name, sizeof name);
    must(named >= 1 && named <= n, "one or two words");
    struct args a = {.command = find_command(name)};
    char *line[MOST_WORDS + 1] = {(char *)"tamis"};
    memcpy(line + 1, exact, (size_t)n * sizeof *exact);
    remember_line(n + 1, line);
    if (a.command == NULL) {
        must(unknown_command(name, f->left % 2 == 0) == EXIT_ERROR && was_said(), "a reason");
    } else {
        const bool good = parse_args(n - named, exact + named, &a);
        must(good != was_said(), "accepted, or a reason");
        if (good) check_args(&a, argv + named, n - named);
        if (good) check_plans(&a);
        if (good) must(check_words(&a) != was_said(), "words in order, or a reason");
        if (good) hint_after_error(&a), hint_at_file_as_item(&a), was_said();
    }
    forget_line();
    free(exact);
    for (int i = 0; i < made; i++) free(words[i]);
    free(command);
}

/* --- Numbers and fields, read the simple way -------------------------------------------------- */

/* Digits and a unit; false for anything else, which is not compared. */
static bool simple_number(const char *s, wide *out)
{
    static const char letters[] = "kKMGT"; /* the first two mean the same, but there is no ki */
    const char *unit = s + strspn(s, "0123456789");
    if (unit == s || unit - s > 25) return false;
    for (*out = 0; s < unit; s++) *out = *out * 10 + (unsigned)(*s - '0');
    const char *known = *unit != '\0' ? strchr(letters, *unit) : NULL;
    if (known != NULL) {
        const bool binary = unit[1] == 'i' && *unit != 'k';
        const long power = known == letters ? 1 : known - letters;
        for (long i = 0; i < power; i++) *out *= binary ? 1024 : 1000;
        unit += binary ? 2 : 1;
    }
    if (*unit == 'B') unit++;
    return *unit == '\0';
}

static void check_number(const char *text)
{
    uint64_t got = 0;
    double real = 0;
    wide wanted;
    const bool good = parse_number(text, &got);
    if (simple_number(text, &wanted)) {
        must(good == (wanted <= UINT64_MAX), "a number that fits");
        must(!good || got == wanted, "the number that it says");
    }
    if (parse_rate(text, &real)) must(real > 0 && real < 1, "a rate");
    if (parse_seconds(text, &real)) must(real > 0 && isfinite(real), "a time");
}

/* What is quoted is one word for the shell, and the same. */
static void check_quoting(const char *text)
{
    char quoted[4 * MOST_TEXT + 3], back[4 * MOST_TEXT + 3];
    size_t n = 0;
    bool inside = false, control = false;
    for (const char *p = text; *p != '\0'; p++)
        control = control || (unsigned char)*p < 0x20 || *p == 0x7f;
    must(quote_word(text, quoted, sizeof quoted) == !control, "quoted, unless a terminal obeys it");
    for (const char *p = quoted; !control && *p != '\0'; p++) {
        if (*p == '\'')
            inside = !inside;
        else if (!inside && *p == '\\')
            back[n++] = *++p;
        else {
            must(inside || strchr(" $`\"#&*();<>?[]{}|~!^", *p) == NULL, "nothing special outside");
            back[n++] = *p;
        }
    }
    back[n] = '\0';
    must(control || (!inside && strcmp(back, text) == 0), "the word that was quoted");
    for (size_t room = 0; !control && room <= strlen(quoted); room += 1 + room / 2)
        must(!quote_word(text, back, room), "no room");
}

/* As in the header: a sign or none, digits, 64 bits; or a minus alone. */
static bool simple_weight(const uint8_t *p, size_t n, int64_t *out)
{
    const bool minus = n > 0 && p[0] == '-';
    wide v = 0;
    *out = 0;
    if (minus && n == 1) return true;
    if (n > 0 && (p[0] == '-' || p[0] == '+')) p++, n--;
    if (n == 0) return false;
    for (size_t i = 0; i < n; i++) {
        if (p[i] < '0' || p[i] > '9') return false;
        v = v * 10 + (unsigned)(p[i] - '0');
        if (v > (wide)INT64_MAX + (minus ? 1 : 0)) return false;
    }
    *out = (int64_t)(minus ? -(uint64_t)v : (uint64_t)v);
    return true;
}

/* Words one after the other, without regard to what stands between them. */
static void check_blanks(const char *line, size_t n, uint64_t field)
{
    tamis_bytes got = {NULL, 0};
    size_t from = 0, to = 0;
    uint64_t words = 0;
    for (size_t i = 0; i < n && words <= field; i++) {
        const bool blank = line[i] == ' ' || line[i] == '\t';
        const bool begins = !blank && (i == 0 || line[i - 1] == ' ' || line[i - 1] == '\t');
        words += begins;
        if (begins && words == field) from = i;
        if (!blank && words == field) to = i + 1;
    }
    const bool there = field_of((tamis_bytes){line, n}, field, BLANKS, &got);
    must(there == (words >= field), "a word that is there");
    must(!there || (got.p == line + from && got.len == to - from), "the word that it is");
}

static void check_line(const uint8_t *p, size_t n, uint64_t field, char delimiter)
{
    char *line = malloc(n != 0 ? n : 1);
    tamis_bytes got;
    size_t from = 0, to;
    uint64_t at = 1;
    must(line != NULL, "memory");
    if (n > 0) memcpy(line, p, n);
    for (size_t i = 0; i < n && at < field; i++)
        if (line[i] == delimiter) at++, from = i + 1;
    for (to = from; to < n && line[to] != delimiter;) to++;
    const bool there = field_of((tamis_bytes){line, n}, field, delimiter, &got);
    must(there == (at == field), "a field that is there");
    must(!there || (got.p == line + from && got.len == to - from), "the field that it is");
    check_blanks(line, n, field);
    int64_t wanted, weight;
    const bool number = weight_of((tamis_bytes){line, n}, &weight);
    must(number == simple_weight((const uint8_t *)line, n, &wanted), "a weight that fits");
    must(!number || weight == wanted, "the weight that it says");
    free(line);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct feed f = {data, size};
    char text[MOST_TEXT];
    keep_messages();
    const uint8_t what = feed_byte(&f);
    if (what < 200) {
        parse(&f);
    } else if (what < 228) {
        feed_text(&f, text, sizeof text);
        check_number(text);
        check_quoting(text);
    } else {
        const uint64_t number = feed_number(&f), field = number != 0 ? number : 1;
        const char delimiter = (char)feed_byte(&f);
        check_line(f.p, f.left, field, delimiter);
    }
    return 0;
}
