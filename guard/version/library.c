#include "library.h"

#ifdef TAMIS_STATIC_COMMAND

const char *guard_library_load(const char *file, const struct guard_symbol *symbols, size_t n)
{
    (void)file, (void)symbols, (void)n;
    return "this tamis is linked statically, so it loads no libraries";
}

#else

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char *guard_library_load(const char *file, const struct guard_symbol *symbols, size_t n)
{
    static char reason[200]; /* dlerror's text belongs to the thread and is lost when it exits */
    void *const library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) {
        snprintf(reason, sizeof reason, "%s", dlerror());
        return reason;
    }
    for (size_t i = 0; i < n; i++) {
        /* C cannot convert a data pointer to a function pointer, so the bytes are copied. */
        void *const at = dlsym(library, symbols[i].name);
        memcpy(symbols[i].function, &at, sizeof at);
        if (at != NULL) continue;
        snprintf(reason, sizeof reason, "it has no %s", symbols[i].name);
        return reason;
    }
    return NULL;
}

#endif
