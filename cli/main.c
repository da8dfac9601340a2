#include "commands/key.h"
#include "frame/commands.h"
#include "frame/mistakes.h"
#include "frame/options.h"
#include "frame/output.h"
#include "frame/progress.h"
#include "frame/suggest.h"
#include "frame/terminal.h"
#include "redis/redis.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

const struct command *find_command(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

const char *after_group(const struct command *c, const char *group)
{
    const size_t n = strlen(group);
    return strncmp(c->name, group, n) == 0 && c->name[n] == ' ' ? c->name + n + 1 : NULL;
}

bool is_group(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (after_group(c, name) != NULL) return true;
    return false;
}

int command_words(int argc, char **argv, char *name, size_t size)
{
    if (argc > 1 && argv[1][0] != '-') {
        snprintf(name, size, "%s %s", argv[0], argv[1]);
        /* "explain cost" is a command, but in "explain apple" the command is explain. */
        if (find_command(name) != NULL || (is_group(argv[0]) && find_command(argv[0]) == NULL))
            return 2;
    }
    snprintf(name, size, "%s", argv[0]);
    return 1;
}

static int no_such_command(const char *name, bool topics_too, const char *instead)
{
    return complain(NULL, "there is no command%s '%s'%s", topics_too ? " or topic" : "", name,
                    instead);
}

/* How to see a command on one screen; check has no -h. */
static const char *short_help_of(const char *command)
{
    return strcmp(command, "check") == 0 ? "--short-help" : "-h";
}

/* The name of a group alone prints its commands, as the program alone prints the first steps. */
static int unknown_command(const char *name, bool topics_too)
{
    struct guess g = {.word = name, .length = strlen(name)};
    char instead[120];
    if (is_group(name)) {
        print_group(name, stderr);
        return EXIT_ERROR;
    }
    const char *called = command_called(name);
    if (called != NULL && called[0] == '-')
        snprintf(instead, sizeof instead, "; did you mean 'tamis %s'?", called);
    else if (called != NULL)
        snprintf(instead, sizeof instead, "; use 'tamis %s': see 'tamis %s %s'", called, called,
                 short_help_of(called));
    if (called != NULL) return no_such_command(name, topics_too, instead);
    for (const struct command *c = commands; c->name != NULL; c++) consider(&g, c->name);
    for (const struct topic *t = topics; t->name != NULL && topics_too; t++) consider(&g, t->name);
    return no_such_command(name, topics_too,
                           g.best != NULL ? did_you_mean(&g, "") : "; see 'tamis help'");
}

static int help_about(int argc, char **argv)
{
    char name[80];
    command_words(argc, argv, name, sizeof name);
    const struct command *c = find_command(name);
    if (c == NULL && is_group(name)) {
        print_group(name, stdout);
        return finish_output(EXIT_FOUND);
    }
    const char *topic = topic_called(name) != NULL ? topic_called(name) : name;
    for (const struct topic *t = topics; t->name != NULL && c == NULL; t++) {
        if (strcmp(t->name, topic) != 0) continue;
        print_topic(t, stdout);
        return finish_output(EXIT_FOUND);
    }
    if (c == NULL) return unknown_command(name, true);
    print_help(c, stdout);
    return finish_output(EXIT_FOUND);
}

int run_help(const struct args *a)
{
    if (a->pages.completions != NULL) {
        if (!print_completions(a->pages.completions, stdout))
            return complain(
                NULL,
                "--completions: there are completions for bash, zsh and fish, but not for '%s'",
                a->pages.completions);
        return finish_output(EXIT_FOUND);
    }
    if (a->pages.man)
        print_manual(stdout);
    else if (a->n_words > 0)
        return help_about(a->n_words, a->words);
    else
        print_overview(stdout);
    return finish_output(EXIT_FOUND);
}

/* Without this, the next file that is opened would get the number of a closed standard stream, and
 * what is meant for the stream would go to the file. The replacement is opened in the wrong
 * direction, so that its use is an error. */
static void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
        const int mode = fd == STDIN_FILENO ? O_WRONLY : O_RDONLY;
        const bool closed = fcntl(fd, F_GETFD) < 0 && errno == EBADF;
        if (closed && open("/dev/null", mode) != fd) _exit(EXIT_ERROR);
    }
}

static bool is_one_of(const char *word, const char *a, const char *b)
{
    return strcmp(word, a) == 0 || strcmp(word, b) == 0;
}

/* 'tamis --help', 'tamis --help build', 'tamis -h', 'tamis -h build'. */
static int help_first(int argc, char **argv)
{
    const bool whole = argv[1][1] == '-';
    const struct command *c = NULL;
    char name[80];
    if (argc > 2) {
        command_words(argc - 2, argv + 2, name, sizeof name);
        c = find_command(name);
        if (whole || c == NULL) return help_about(argc - 2, argv + 2);
    }
    if (c != NULL)
        print_short_help(c, stdout);
    else if (whole)
        print_overview(stdout);
    else
        print_first_steps(stdout);
    return finish_output(EXIT_FOUND);
}

/* Whether a command without any argument can do nothing. */
static bool needs_words(const struct command *c)
{
    return c->least_words > 0 || c->words[0] == '{';
}

static int run_command(struct args *a)
{
    if (names_redis(a)) return run_redis(a);
    if (!check_no_redis_options(a) || !check_words(a)) return EXIT_ERROR;
    const int status = read_key(&a->key) ? a->command->run(a) : EXIT_ERROR;
    forget_key(&a->key);
    if (status == EXIT_ERROR) hint_after_error(a);
    if (status == EXIT_NONE) hint_at_file_as_item(a);
    return status;
}

/* The words after those that name the command. */
static int parse_and_run(int argc, char **argv, const struct command *c)
{
    struct args a = {.command = c};
    if (argc == 0 && needs_words(c)) {
        print_short_help(c, stderr);
        return EXIT_ERROR;
    }
    if (!parse_args(argc, argv, &a) || !set_color(a.color)) return EXIT_ERROR;
    if (a.quiet) progress_be_quiet();
    if (!a.help && !a.short_help) return run_command(&a);
    if (a.help)
        print_help(c, stdout);
    else
        print_short_help(c, stdout);
    return finish_output(EXIT_FOUND);
}

int main(int argc, char **argv)
{
    /* The default of 4096 bytes would mean a system call for each. */
    static char output[1 << 16];
    open_standard_streams();
    if (!isatty(STDOUT_FILENO)) setvbuf(stdout, output, _IOFBF, sizeof output);
    if (argc < 2) {
        print_first_steps(stderr);
        return EXIT_ERROR;
    }
    if (is_one_of(argv[1], "--version", "-V")) {
        print_version(stdout);
        return finish_output(EXIT_FOUND);
    }
    if (is_one_of(argv[1], "--help", "-h")) return help_first(argc, argv);
    char name[80];
    const int words = command_words(argc - 1, argv + 1, name, sizeof name);
    const struct command *c = find_command(name);
    if (c == NULL && argc > 2 && is_group(name) && is_one_of(argv[2], "--help", "-h"))
        return help_about(1, argv + 1);
    if (c == NULL) return is_filter_as_command(argv[1]) ? EXIT_ERROR : unknown_command(name, false);
    remember_line(argc, argv);
    const int status = parse_and_run(argc - 1 - words, argv + 1 + words, c);
    forget_line();
    return status;
}
