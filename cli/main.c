#include "cli.h"

#include <string.h>

static const struct command *find_command(const char *name)
{
    for (const struct command *c = commands; c->name != NULL; c++)
        if (strcmp(c->name, name) == 0) return c;
    return NULL;
}

static int unknown_command(const char *name)
{
    return complain(NULL, "there is no command '%s'; see 'tamis --help'", name);
}

int run_help(const struct args *a)
{
    const struct command *c = NULL;
    if (a->n_words > 0 && (c = find_command(a->words[0])) == NULL) return unknown_command(a->words[0]);
    if (a->man)
        print_manual(stdout);
    else
        print_help(c, stdout);
    return finish_output(EXIT_FOUND);
}

int main(int argc, char **argv)
{
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
    struct args a = {.command = find_command(argv[1])};
    if (a.command == NULL) return unknown_command(argv[1]);
    if (!parse_args(argc - 2, argv + 2, &a)) return EXIT_ERROR;
    if (a.help) {
        print_help(a.command, stdout);
        return finish_output(EXIT_FOUND);
    }
    return a.command->run(&a);
}
