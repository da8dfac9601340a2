#include "sized.h"

#include "error.h"

#include <string.h>

#ifdef TAMIS__SIZED
static size_t size_of(const void *sized)
{
    size_t size;
    memcpy(&size, sized, sizeof size);
    return size;
}

tamis_status tamis__check_struct(const void *to, const char *name, tamis_error *why)
{
    if (to == NULL) return tamis__fail(why, TAMIS_EINVAL, "the %s must not be NULL", name);
    const size_t size = size_of(to);
    if (size >= sizeof size && size <= TAMIS__MOST_STRUCT && size % sizeof size == 0)
        return TAMIS_OK;
    return tamis__fail(why, TAMIS_EINVAL, "struct_size is %llu, but must be sizeof(%s)",
                       (unsigned long long)size, name);
}

tamis_status tamis__take_struct(void *to, size_t size, const void *from, const char *name,
                                tamis_error *why)
{
    const tamis_status s = tamis__check_struct(from, name, why);
    if (s != TAMIS_OK) return s;
    const size_t given = size_of(from);
    for (size_t i = size; i < given; i++)
        if (((const uint8_t *)from)[i] != 0)
            return tamis__fail(why, TAMIS_EINVAL,
                               "%s has a field from a newer version that this library lacks", name);
    memset(to, 0, size);
    memcpy(to, from, given < size ? given : size);
    memcpy(to, &size, sizeof size);
    return TAMIS_OK;
}

void tamis__give_struct(void *to, const void *from, size_t size)
{
    const size_t room = size_of(to), begin = sizeof size;
    uint8_t *at = to;
    memcpy(at + begin, (const uint8_t *)from + begin, (room < size ? room : size) - begin);
    if (room > size) memset(at + size, 0, room - size);
}
#endif
