/* Prints the table of commands as the tables of docs/REDIS.md. Usage: redis-commands FAMILY */
#include "../commands.h"

#include <stdio.h>

int main(int argc, char **argv)
{
    static const struct {
        const char *name, *flags, *arguments, *summary;
    } rows[] = {
#define ROW(handler, name, since, arity, flags, keys, arguments, summary)                          \
    {name, flags, arguments, summary},
        REDIS_COMMANDS(ROW)
#undef ROW
    };
    if (argc != 2) return 2;
    const size_t len = strlen(argv[1]);
    printf("| command | arguments | does | |\n|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (strncmp(rows[i].name, argv[1], len) != 0 || rows[i].name[len] != '.') continue;
        printf("| `%s` | `", rows[i].name);
        /* A bar would end the column. */
        for (const char *p = rows[i].arguments; *p != 0; p++) printf(*p == '|' ? "\\%c" : "%c", *p);
        printf("` | %s | %s |\n", rows[i].summary,
               strstr(rows[i].flags, "write") != NULL ? "writes" : "reads");
    }
    return 0;
}
