/* What an option is, between the tables (commands.c) and those who read them: parsing and the
 * manual. */
#ifndef TAMIS_OPTIONS_H
#define TAMIS_OPTIONS_H

#include "cli.h"

enum type { FLAG, TEXT, TEXTS, COUNT, SEED, RATE, SECONDS, DELIMITER, POSITIVE };
struct option {
    char letter; /* the short form; 0: none. CONTRIBUTING.md lists the letters */
    const char *name, *value;
    enum type type;
    size_t offset; /* in struct args */
    const char *help;
};
extern const struct option options[];
extern const size_t n_options;

/* Where a command means another thing by a name: its own text, and its own type and field if it
 * must be. */
struct own_option {
    const char *commands; /* names, with commas between */
    struct option option;
};
extern const struct own_option own_options[];
extern const size_t n_own_options;

/* Spellings that commands accepted once with another meaning than that of the letter now, or of the
 * classic tool that they imitate. The message names what replaces them. */
struct refused_option {
    const char *commands; /* names, with commas between */
    const char *spelling; /* "-d", "--count" */
    const char *reason;   /* follows the spelling */
};
extern const struct refused_option refused_options[];
extern const size_t n_refused_options;

/* Whether every command knows an option. */
bool is_common(const struct option *o);
/* What a command means by options[i]; NULL: it does not take it. */
const struct option *option_of(const struct command *c, size_t i);

/* The first word of commands of two words (commands.c), which is no command itself. */
struct group {
    const char *name, *example;
};
extern const struct group groups[];

/* What belongs to no command (topics.c). */
struct topic {
    const char *name, *summary;
    const char *text; /* lines that begin with a blank stay as they are, others flow */
    const char *example;
};
extern const struct topic topics[];

/* "guard check" is a command of two words: joins those of argv that name one, and returns how
 * many. */
int command_words(int argc, char **argv, char *name, size_t size);
const struct command *find_command(const char *name);
/* Whether commands of two words begin with this one. */
bool is_group(const char *name);
/* The part after the group, or NULL when the command is not of it. */
const char *after_group(const struct command *c, const char *group);

/* Completions for bash, zsh or fish; false when there are none for that shell (completions.c). */
bool print_completions(const char *shell, FILE *to);
void print_topic(const struct topic *t, FILE *to);
/* The commands of two words that begin with this one. */
void print_group(const char *group, FILE *to);

#endif
