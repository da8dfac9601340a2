#define GUARD_MHD_NAMES_ONLY
#include "mhd.h"

#include "../version/library.h"

#include <pthread.h>

struct guard_mhd guard_mhd;
static const char *reason = "it has not been loaded";

static void load_mhd(void)
{
#define GUARD_MHD_SYMBOL(name) {#name, &guard_mhd.name##_},
    static const struct guard_symbol symbols[] = {GUARD_MHD_FUNCTIONS(GUARD_MHD_SYMBOL)};
    reason = guard_library_load(GUARD_MHD_FILE, symbols, sizeof symbols / sizeof *symbols);
}

const char *guard_mhd_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_mhd);
    return reason;
}
