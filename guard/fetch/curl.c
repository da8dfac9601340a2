#define GUARD_CURL_NAMES_ONLY
#include "curl.h"

#include "../version/library.h"

#include <pthread.h>

struct guard_curl guard_curl;
static const char *failure = "it has not been loaded";

static void load_curl(void)
{
#define GUARD_CURL_SYMBOL(name) {#name, &guard_curl.name##_},
    static const struct guard_symbol symbols[] = {GUARD_CURL_FUNCTIONS(GUARD_CURL_SYMBOL)};
    failure = guard_library_load(GUARD_CURL_FILE, symbols, sizeof symbols / sizeof *symbols);
    if (failure == NULL && guard_curl.curl_global_init_(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        failure = "it cannot be initialized";
}

const char *guard_curl_load(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_curl);
    return failure;
}
