/* The table of commands (commands.c), and the function of each (commands/). */
#ifndef TAMIS_CLI_COMMANDS_H
#define TAMIS_CLI_COMMANDS_H

#include "args.h"

/* What people want to do; 'tamis help' lists the commands under these headings (task_names in
 * help.c). */
enum task { SEEN, OFTEN, HOW_MANY, MAKE, LOOK, EXCHANGE, SECRETS, GUARD, HELP, TASKS };

struct command {
    const char *name;
    enum task task;
    const char *words, *summary;
    const char *text; /* for --help and the manual, which wrap it */
    /* Lines of the shell, each example with a line before it that begins with "# " and describes
     * it. -h shows the first three examples. */
    const char *example;
    /* The names of the options that it takes, separated by blanks. A bar separates those that -h
     * shows from the others, which only --help shows. */
    const char *options;
    int least_words;
    int (*run)(const struct args *a); /* returns the exit status */
};
extern const struct command commands[]; /* the last one has no name */

int run_plan(const struct args *a);
int run_build(const struct args *a);
int run_add(const struct args *a);
int run_remove(const struct args *a);
int run_rotate(const struct args *a);
int run_compact(const struct args *a);
int run_convert(const struct args *a);
int run_pack(const struct args *a);
int run_unpack(const struct args *a);
int run_release(const struct args *a);
int run_migrate(const struct args *a);
int run_check(const struct args *a);
int run_uniq(const struct args *a);
int run_count(const struct args *a);
int run_freq(const struct args *a);
int run_get(const struct args *a);
int run_top(const struct args *a);
int run_distinct(const struct args *a);
int run_merge(const struct args *a);
int run_compare(const struct args *a);
int run_diff(const struct args *a);
int run_info(const struct args *a);
int run_verify(const struct args *a);
int run_explain(const struct args *a);
int run_explain_cost(const struct args *a);
int run_key_new(const struct args *a);
int run_key_id(const struct args *a);
#ifdef WITH_GUARD
int run_sign(const struct args *a);
#endif
int run_help(const struct args *a);
#ifdef WITH_GUARD
int run_guard_fetch(const struct args *a);
int run_guard_build(const struct args *a);
int run_guard_check(const struct args *a);
int run_guard_explain(const struct args *a);
int run_guard_serve(const struct args *a);
#endif

#endif
