#include "options.h"

#include <tamis/tamis.h>

/* What the usual build has and this one lacks. */
static const char *const lacks[] = {
#ifndef WITH_GUARD
    "the URL guard and signatures (tamis guard, tamis sign, --pubkey, key new --sign)",
#elif defined TAMIS_STATIC_COMMAND
    "guard serve and guard fetch, for which libraries are loaded",
#endif
#ifndef WITH_REDIS
    "sets at redis:// and rediss:// addresses",
#elif !defined WITH_OPENSSL
    "sets at rediss:// addresses",
#endif
#if defined WITH_REDIS && defined TAMIS_STATIC_COMMAND
    "names of hosts that are neither in /etc/hosts nor known to a DNS server",
#endif
#ifndef WITH_LMDB
    "stores of LMDB for check --confirm",
#endif
    NULL,
};

void print_version(FILE *to)
{
    fprintf(to, "tamis %s\n", tamis_version());
    if (lacks[0] != NULL) fprintf(to, "This build lacks:\n");
    for (const char *const *l = lacks; *l != NULL; l++) fprintf(to, "  %s\n", *l);
}
