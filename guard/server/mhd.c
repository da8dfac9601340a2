#define GUARD_MHD_NAMES_ONLY
#include "mhd.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

struct guard_mhd guard_mhd;
static const char *reason = "it has not been loaded";
static char of_system[200]; /* dlerror's text belongs to the thread and is lost when it exits */

/* C has no conversion from a data pointer to a function pointer, so the bytes are copied. */
static bool find_function(void *library, const char *name, void *function)
{
    void *const at = dlsym(library, name);
    memcpy(function, &at, sizeof at);
    return at != NULL;
}

static void load_library(void)
{
    void *const library = dlopen(GUARD_MHD_FILE, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) snprintf(of_system, sizeof of_system, "%s", dlerror());
    reason = library == NULL ? of_system : NULL;
#define FIND(name)                                                                                 \
    if (reason == NULL && !find_function(library, #name, &guard_mhd.name##_))                      \
        reason = "it has no " #name;
    GUARD_MHD_FUNCTIONS(FIND)
}

const char *guard_mhd_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_library);
    return reason;
}
