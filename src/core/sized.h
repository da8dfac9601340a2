/* Public structs begin with their size, so that a program and a library whose versions differ agree
 * on which fields there are. A caller's struct may be shorter or longer than the library's:
 *
 *     caller's   | size | a | b |              | size | a | b | c | d |
 *     library's  | size | a | b | c |          | size | a | b | c |
 *                 c is 0, or is not written      d must be 0, or becomes 0
 *
 * The size is read and checked before anything else is read or written. The smallest size is that
 * of struct_size alone, with which every field has its default. The sizeof of a struct is a
 * multiple of its alignment, so a size that is not a multiple of sizeof(size_t) cannot be right.
 *
 * A new field goes to the end, and never into padding, where an older program may have anything. */
#ifndef TAMIS_SIZED_H
#define TAMIS_SIZED_H

#include <string.h>
#include <tamis/tamis.h>

/* The modules of web/ are compiled with their only caller, so there all sizes are the same. */
#if !defined TAMIS_LEAN && !defined TAMIS_NO_TOP
#define TAMIS__SIZED
#endif

/* No struct of this library will ever be longer, so a larger size was never initialized. */
#define TAMIS__MOST_STRUCT 4096u

/* Input: copies the caller's struct to *to, which has `size` bytes, and sets the rest to zero and
 * its struct_size to `size`. Fails with TAMIS_EINVAL if there is no struct, if its size makes no
 * sense, or if a byte beyond the library's struct is not zero, because that asks for something
 * unknown here. */
#ifdef TAMIS__SIZED
tamis_status tamis__take_struct(void *to, size_t size, const void *from, const char *name,
                                tamis_error *why);

/* Output, in two steps. The first fails with TAMIS_EINVAL unless there is a struct whose size makes
 * sense. The second, once the call has succeeded, copies the fields that the caller's struct has
 * room for. Its struct_size stays as it is, and bytes beyond the library's struct become zero. */
tamis_status tamis__check_struct(const void *to, const char *name, tamis_error *why);
void tamis__give_struct(void *to, const void *from, size_t size);
#else
#define tamis__take_struct(to, size, from, name, why) (memcpy(to, from, size), TAMIS_OK)
#define tamis__check_struct(to, name, why) TAMIS_OK
#define tamis__give_struct(to, from, size) ((void)memcpy(to, from, size))
#endif

#endif
