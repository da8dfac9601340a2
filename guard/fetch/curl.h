/* libcurl, loaded by the first download, for the reason in ../version/library.h. Macros below let
 * the code call the functions by their usual names. */
#ifndef GUARD_CURL_H
#define GUARD_CURL_H

#define CURL_DISABLE_TYPECHECK /* which knows the functions only by their own names */
#include <curl/curl.h>

#define GUARD_CURL_FUNCTIONS(EACH)                                                                 \
    EACH(curl_easy_cleanup)                                                                        \
    EACH(curl_easy_getinfo)                                                                        \
    EACH(curl_easy_header)                                                                         \
    EACH(curl_easy_init)                                                                           \
    EACH(curl_easy_perform)                                                                        \
    EACH(curl_easy_setopt)                                                                         \
    EACH(curl_easy_strerror)                                                                       \
    EACH(curl_free)                                                                                \
    EACH(curl_global_init)                                                                         \
    EACH(curl_slist_append)                                                                        \
    EACH(curl_slist_free_all)                                                                      \
    EACH(curl_url)                                                                                 \
    EACH(curl_url_cleanup)                                                                         \
    EACH(curl_url_get)                                                                             \
    EACH(curl_url_set)

#define GUARD_CURL_MEMBER(name) __typeof__(&(name)) name##_;
struct guard_curl {
    GUARD_CURL_FUNCTIONS(GUARD_CURL_MEMBER)
};
extern struct guard_curl guard_curl; /* written once */

/* Loads the library. Returns NULL on success, otherwise the reason for the failure. */
const char *guard_curl_load(void);

#ifndef GUARD_CURL_NAMES_ONLY
#undef curl_easy_getinfo
#undef curl_easy_setopt
#define curl_easy_cleanup guard_curl.curl_easy_cleanup_
#define curl_easy_getinfo guard_curl.curl_easy_getinfo_
#define curl_easy_header guard_curl.curl_easy_header_
#define curl_easy_init guard_curl.curl_easy_init_
#define curl_easy_perform guard_curl.curl_easy_perform_
#define curl_easy_setopt guard_curl.curl_easy_setopt_
#define curl_easy_strerror guard_curl.curl_easy_strerror_
#define curl_free guard_curl.curl_free_
#define curl_slist_append guard_curl.curl_slist_append_
#define curl_slist_free_all guard_curl.curl_slist_free_all_
#define curl_url guard_curl.curl_url_
#define curl_url_cleanup guard_curl.curl_url_cleanup_
#define curl_url_get guard_curl.curl_url_get_
#define curl_url_set guard_curl.curl_url_set_
#endif

#endif
