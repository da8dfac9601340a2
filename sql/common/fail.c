#include "fail.h"

#include <stdarg.h>
#include <stdio.h>

tamis_status sql_fail(tamis_error *why, tamis_status s, const char *format, ...)
{
    va_list list;
    if (why == NULL) return s;
    *why = (tamis_error){.status = s};
    va_start(list, format);
    vsnprintf(why->text, sizeof why->text, format, list);
    va_end(list);
    return s;
}
