/* Options, as the tables (option_table.c, commands.c) define them for parsing, help and the manual page. */
#ifndef TAMIS_OPTIONS_H
#define TAMIS_OPTIONS_H

#include "commands.h"

#include <stddef.h>
#include <stdio.h>

enum type { FLAG, TEXT, TEXTS, COUNT, SEED, RATE, SECONDS, DELIMITER, POSITIVE };
struct option {
    char letter; /* the short form, or 0; CONTRIBUTING.md lists the letters */
    const char *name, *value;
    enum type type;
    size_t offset; /* in struct args */
    const char *help;
};
extern const struct option options[];
extern const size_t n_options;
#define AT(field) offsetof(struct args, field)

/* An option that a command redefines (own_options.c): with its own text, and with its own type and
 * field if needed. */
struct own_option {
    const char *commands; /* names, separated by commas */
    struct option option;
};
extern const struct own_option own_options[];
extern const size_t n_own_options;

/* Spellings that commands once accepted with a meaning that differs from the present one, or from
 * that of the classic tool that they imitate. The message names the replacement. */
struct refused_option {
    const char *commands; /* names, separated by commas */
    const char *spelling; /* "-d", "--count" */
    const char *reason;   /* follows the spelling */
};
extern const struct refused_option refused_options[];
extern const size_t n_refused_options;

/* Whether every command has this option. */
bool is_common(const struct option *o);
/* The meaning of options[i] for a command; NULL: the command does not have it. */
const struct option *option_of(const struct command *c, size_t i);

/* The first word of commands with two words (commands.c); alone it is not a command. */
struct group {
    const char *name, *example;
};
extern const struct group groups[];

/* A page of help that is not about one command (topics.c). */
struct topic {
    const char *name, *summary;
    const char *text; /* lines that begin with a blank are kept, others are wrapped */
    const char *example;
};
extern const struct topic topics[];

/* "guard check" is a command with two words: joins the words of argv that name a command, and
 * returns their number. */
int command_words(int argc, char **argv, char *name, size_t size);
const struct command *find_command(const char *name);
/* Whether this is the first word of commands with two words. */
bool is_group(const char *name);
/* The second word of a command, or NULL when it does not belong to the group. */
const char *after_group(const struct command *c, const char *group);

/* Prints how the command is used. Returns EXIT_ERROR. */
int complain_usage(const struct command *c);
void print_help(const struct command *c, FILE *to); /* NULL: the overview of the program */
void print_manual(FILE *to);
/* Prints completions for bash, zsh or fish; false for another shell (completions.c). */
bool print_completions(const char *shell, FILE *to);
void print_topic(const struct topic *t, FILE *to);
/* Prints the commands of a group. */
void print_group(const char *group, FILE *to);

#endif
