/* Options, as the tables (option_table.c, commands.c) define them for parsing, help and the manual
 * page. */
#ifndef TAMIS_OPTIONS_H
#define TAMIS_OPTIONS_H

#include "commands.h"

#include <stddef.h>
#include <stdio.h>

/* The headings under which --help and the manual page list the options of a command, in this order:
 * what most people need comes first. A new option gets one of these; section_names (manual.c) has
 * their texts. Whether -h shows it too is up to each command: see struct command. */
enum section {
    INPUT,   /* how the input becomes lines and keys */
    FILTER,  /* what the filter or sketch is, holds or answers */
    LOOKUPS, /* what is looked up */
    OUTPUT,  /* what is written and printed */
    WORK,    /* threads, memory, temporary files */
    DETAILS, /* rare properties of filters and sketches */
    FOREIGN, /* filters of other programs */
    REDIS,   /* sets at redis:// addresses */
    TRUST,   /* keys, signatures and who is trusted */
    SERVER,  /* guard serve */
    OTHER,
    SECTIONS
};
enum type { FLAG, TEXT, TEXTS, COUNT, SEED, RATE, SECONDS, DELIMITER, POSITIVE, COLUMN, SHARE };
struct option {
    char letter; /* the short form, or 0; CONTRIBUTING.md lists the letters */
    const char *name, *value;
    enum type type;
    enum section section;
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
/* Whether -h of a command shows this option of it. */
bool is_everyday(const struct command *c, const struct option *o);
bool has_section(const struct command *c, enum section section);
/* The option of a command with this name; NULL: the command does not have it. */
const struct option *find_option(const struct command *c, const char *name, size_t length);
/* The meaning of options[i] for a command; NULL: the command does not have it. */
const struct option *option_of(const struct command *c, size_t i);

/* The first word of commands with two words (commands.c); alone it is not a command. */
struct group {
    const char *name, *text, *example;
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
/* Pages of help (help.c): the few lines that 'tamis' alone prints, all commands and topics, a
 * command on one screen (-h), and all about a command (--help). */
void print_first_steps(FILE *to);
/* The version, and what this build lacks. */
void print_version(FILE *to);
void print_overview(FILE *to);
void print_short_help(const struct command *c, FILE *to);
void print_help(const struct command *c, FILE *to);
void print_manual(FILE *to);
/* Prints completions for bash, zsh or fish; false for another shell (completions.c). */
bool print_completions(const char *shell, FILE *to);
void print_topic(const struct topic *t, FILE *to);
/* Prints the commands of a group. */
void print_group(const char *group, FILE *to);

/* What the help and the manual page share. Examples are lines of the shell; a line that begins with
 * "# " describes those below it. */
extern const char about_tamis[], overview_example[];
extern const char *const section_names[SECTIONS], *const task_names[TASKS];
bool is_description(const char *line);
/* A summary as a sentence: lists show it as it is in the table, but a page begins with it. Valid
 * until the next call. */
const char *sentence_of(const char *summary);
/* The length of the first clause of an option's help, which is enough for -h and for menus. */
size_t clause_length(const char *help);

#endif
