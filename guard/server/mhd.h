/* libmicrohttpd, loaded when a server starts. Linked as usual it would bring a TLS library and its
 * dependencies into every command, at 2.3 MB of memory each, although only `tamis guard serve`
 * needs it. Macros below let the code call the functions by their usual names. */
#ifndef GUARD_MHD_H
#define GUARD_MHD_H

#include <microhttpd.h>
#include <stdbool.h>

#define GUARD_MHD_FUNCTIONS(EACH)                                                                  \
    EACH(MHD_add_response_header)                                                                  \
    EACH(MHD_create_response_from_buffer)                                                          \
    EACH(MHD_create_response_from_buffer_with_free_callback_cls)                                   \
    EACH(MHD_destroy_response)                                                                     \
    EACH(MHD_get_connection_info)                                                                  \
    EACH(MHD_get_connection_values)                                                                \
    EACH(MHD_lookup_connection_value)                                                              \
    EACH(MHD_queue_response)                                                                       \
    EACH(MHD_set_panic_func)                                                                       \
    EACH(MHD_start_daemon)                                                                         \
    EACH(MHD_stop_daemon)

#define GUARD_MHD_MEMBER(name) __typeof__(&(name)) name##_;
struct guard_mhd {
    GUARD_MHD_FUNCTIONS(GUARD_MHD_MEMBER)
};
extern struct guard_mhd guard_mhd; /* written once, before a server starts any thread */

/* Loads the library. Returns NULL on success, otherwise the reason for the failure. */
const char *guard_mhd_load(void);

#ifndef GUARD_MHD_NAMES_ONLY
#define MHD_add_response_header guard_mhd.MHD_add_response_header_
#define MHD_create_response_from_buffer guard_mhd.MHD_create_response_from_buffer_
#define MHD_create_response_from_buffer_with_free_callback_cls                                     \
    guard_mhd.MHD_create_response_from_buffer_with_free_callback_cls_
#define MHD_destroy_response guard_mhd.MHD_destroy_response_
#define MHD_get_connection_info guard_mhd.MHD_get_connection_info_
#define MHD_get_connection_values guard_mhd.MHD_get_connection_values_
#define MHD_lookup_connection_value guard_mhd.MHD_lookup_connection_value_
#define MHD_queue_response guard_mhd.MHD_queue_response_
#define MHD_set_panic_func guard_mhd.MHD_set_panic_func_
#define MHD_start_daemon guard_mhd.MHD_start_daemon_
#define MHD_stop_daemon guard_mhd.MHD_stop_daemon_
#endif

#endif
