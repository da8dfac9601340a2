/* Answers common mistakes with the command to paste (mistakes.c). */
#ifndef TAMIS_CLI_MISTAKES_H
#define TAMIS_CLI_MISTAKES_H

#include "args.h"

#include <stddef.h>

/* Keeps the command line as it was typed, from which commands to paste are made. parse_args changes
 * the order of argv. Without memory for it, mistakes are answered without such a command. */
void remember_line(int argc, char **argv);
void forget_line(void);

/* The command that does what another program calls by this name, or NULL: "build" for "create". */
const char *command_called(const char *name);
/* The topic that explains what this is the name of; NULL: none. */
const char *topic_called(const char *name);

/* True after a message when a filter stands in place of a command. */
bool is_filter_as_command(const char *word);

/* Before a command runs: false after a message when its words are in the wrong order, when a filter
 * is given in place of lines, or when the output is not named. */
bool check_words(const struct args *a);
/* After a command has failed with a message: adds what may have been meant by a file that does not
 * exist, or by a file of lines in place of a filter. */
void hint_after_error(const struct args *a);

/* After a command has found nothing: explains how to look up the lines of a file, if a file was
 * given in place of an item. */
void hint_at_file_as_item(const struct args *a);

/* The command line with `new` in place of the word `old`, quoted for the shell, or NULL. `new` is
 * printed as it is. In a static buffer. */
const char *line_with(const char *old, const char *new);

/* Writes a word as the shell reads it back: as it is, or in single quotes. False when it does not
 * fit, or has control characters, which a terminal would not show. */
bool quote_word(const char *word, char *out, size_t size);

#endif
