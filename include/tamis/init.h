/* Initial values for structs that begin with their size, in C and in C++:
 *
 *     tamis_plan plan = TAMIS_PLAN_INIT;
 *     plan.items = 1000000;
 *     plan.fpr = 0.01;
 *
 * struct_size is set, and all other fields are zero. The macros for structs of other headers are in
 * those headers. tamis.h includes this header. */
/* clang-format off */
#ifndef TAMIS_INIT_H
#define TAMIS_INIT_H

#include <stddef.h>

#ifdef __cplusplus /* C++17 has no designated initializers, and warns of fields that are left out */
extern "C++" {
template <class T> inline T tamis_init_struct()
{
    T t = T();
    t.struct_size = sizeof(T);
    return t;
}
}
#define TAMIS_INIT(type) tamis_init_struct<type>()
#else
#define TAMIS_INIT(type) {.struct_size = sizeof(type)}
#endif

#define TAMIS_PLAN_INIT TAMIS_INIT(tamis_plan)
#define TAMIS_PROMISE_INIT TAMIS_INIT(tamis_promise)
#define TAMIS_OPTIONS_INIT TAMIS_INIT(tamis_options)
#define TAMIS_SAVE_OPTIONS_INIT TAMIS_INIT(tamis_save_options)

#endif
