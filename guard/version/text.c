#include "text.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

/* Makes room for n more bytes and a NUL. */
static bool grow_room(struct guard_text *t, size_t n)
{
    if (t->failed || n > t->most || t->length > t->most - n) {
        t->failed = true;
        return false;
    }
    if (t->length + n < t->room) return true;
    const size_t room = 2 * (t->length + n) + 256;
    char *more = realloc(t->at, room);
    t->failed = more == NULL;
    if (more == NULL) return false;
    t->at = more;
    t->room = room;
    return true;
}

void guard_text_add(struct guard_text *t, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(NULL, 0, format, args);
    va_end(args);
    if (n < 0) t->failed = true;
    if (n < 0 || !grow_room(t, (size_t)n)) return;
    va_start(args, format);
    vsnprintf(t->at + t->length, (size_t)n + 1, format, args);
    va_end(args);
    t->length += (size_t)n;
}

void guard_text_hex(struct guard_text *t, const uint8_t *bytes, size_t n)
{
    static const char digits[] = "0123456789abcdef";
    if (!grow_room(t, 2 * n)) return;
    for (size_t i = 0; i < n; i++) {
        t->at[t->length++] = digits[bytes[i] >> 4];
        t->at[t->length++] = digits[bytes[i] & 15];
    }
    t->at[t->length] = '\0';
}
