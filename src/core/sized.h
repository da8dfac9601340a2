/* Public structs that begin with their size, so that a program and a library of different versions
 * agree on what is there. A caller's struct may be shorter or longer than the library's:
 *
 *     caller's   | size | a | b |              | size | a | b | c | d |
 *     library's  | size | a | b | c |          | size | a | b | c |
 *                 c is 0, or is not written      d must be 0, or becomes 0
 *
 * The size is read, and judged, before anything else is read or written. The smallest is that of
 * struct_size alone: then every field has its default. The sizeof of a struct is a multiple of its
 * alignment, so a size that is no multiple of sizeof(size_t) was never one.
 *
 * A new field goes to the end, and never into padding: there an older program may have anything. */
#ifndef TAMIS_SIZED_H
#define TAMIS_SIZED_H

#include <string.h>
#include <tamis/tamis.h>

/* The modules of web/ are compiled with their only caller, so there all sizes are the same. */
#if !defined TAMIS_LEAN && !defined TAMIS_NO_TOP
#define TAMIS__SIZED
#endif

/* No struct of this library will ever be longer, so a larger size was never set. */
#define TAMIS__MOST_STRUCT 4096u

/* Input: *to, of `size` bytes, gets what the caller's struct has, and zeros for the rest. Its own
 * struct_size is `size`. TAMIS_EINVAL: there is no struct, its size makes no sense, or what is
 * beyond the library's struct is not zero, so that it asks for something unknown here. */
#ifdef TAMIS__SIZED
tamis_status tamis__take_struct(void *to, size_t size, const void *from, const char *name,
                                tamis_error *why);

/* Output, in two steps: TAMIS_EINVAL unless there is a struct whose size makes sense; then, once
 * the call has succeeded, what the caller's struct has room for. Its struct_size stays as it is,
 * and what is beyond the library's struct becomes zero. */
tamis_status tamis__check_struct(const void *to, const char *name, tamis_error *why);
void tamis__give_struct(void *to, const void *from, size_t size);
#else
#define tamis__take_struct(to, size, from, name, why) (memcpy(to, from, size), TAMIS_OK)
#define tamis__check_struct(to, name, why) TAMIS_OK
#define tamis__give_struct(to, from, size) ((void)memcpy(to, from, size))
#endif

#endif
