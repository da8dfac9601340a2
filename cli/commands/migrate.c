#include "../frame/commands.h"
#include "../frame/output.h"

/* Addresses of servers lead to remote_migrate (redis/migrate.c). */
int run_migrate(const struct args *a)
{
    return complain(a->words[0], "is not the address of a server: redis://HOST:PORT");
}
