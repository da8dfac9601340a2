#include "cli.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

static const struct command *find_command(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

/* "guard check" is one command of two words: joins them, and returns how many words the name has. */
static int command_words(int argc, char **argv, char *name, size_t size)
{
    const bool two = argc > 1 && strcmp(argv[0], "guard") == 0 && argv[1][0] != '-';
    snprintf(name, size, "%s%s%s", argv[0], two ? " " : "", two ? argv[1] : "");
    return two ? 2 : 1;
}

static int unknown_command(const char *name)
{
    return complain(NULL, "there is no command '%s'; see 'tamis --help'", name);
}

int run_help(const struct args *a)
{
    const struct command *c = NULL;
    char name[80];
    if (a->n_words > 0) {
        command_words(a->n_words, a->words, name, sizeof name);
        if ((c = find_command(name)) == NULL) return unknown_command(name);
    }
    if (a->man)
        print_manual(stdout);
    else
        print_help(c, stdout);
    return finish_output(EXIT_FOUND);
}

/* A closed standard stream would lend its number to the next file that is opened, and what is meant for
 * the stream would go there. */
static void open_standard_streams(void)
{
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd) _exit(EXIT_ERROR);
}

int main(int argc, char **argv)
{
    /* The system would give a file 4096 bytes, and be called for each. */
    static char output[1 << 16];
    open_standard_streams();
    if (!isatty(STDOUT_FILENO)) setvbuf(stdout, output, _IOFBF, sizeof output);
    if (argc < 2) {
        print_help(NULL, stderr);
        return EXIT_ERROR;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("tamis %s\n", tamis_version());
        return finish_output(EXIT_FOUND);
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(NULL, stdout);
        return finish_output(EXIT_FOUND);
    }
    char name[80];
    const int words = command_words(argc - 1, argv + 1, name, sizeof name);
    struct args a = {.command = find_command(name)};
    if (a.command == NULL) return unknown_command(name);
    if (!parse_args(argc - 1 - words, argv + 1 + words, &a)) return EXIT_ERROR;
    if (a.help) {
        print_help(a.command, stdout);
        return finish_output(EXIT_FOUND);
    }
    return read_key(&a) ? a.command->run(&a) : EXIT_ERROR;
}
