#ifdef WITH_OPENSSL
#define OPENSSL_NAMES_ONLY
#include "openssl.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct openssl openssl;

/* C has no conversion from a data pointer to a function pointer, so the bytes are copied. */
static bool find_symbol(void *library, const char *name, void *function)
{
    void *const at = dlsym(library, name);
    memcpy(function, &at, sizeof at);
    return at != NULL;
}

const char *openssl_load(void)
{
    static const char *reason;
    static char of_system[200];
    static void *library;
    if (library != NULL) return reason;
    /* It brings libcrypto, whose functions are found through it. */
    library = dlopen(OPENSSL_FILE, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(of_system, sizeof of_system, "%s", dlerror());
        return of_system;
    }
#define FIND(name)                                                                                 \
    if (reason == NULL && !find_symbol(library, #name, &openssl.name##_))                          \
        reason = "it has no " #name;
    OPENSSL_FUNCTIONS(FIND)
    return reason;
}
#endif
