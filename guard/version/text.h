/* Text that grows as it is written, up to a limit. A failed write fails all after it; who asks in
 * the end knows. */
#ifndef GUARD_TEXT_H
#define GUARD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard_text {
    char *at; /* to be freed; a NUL is behind it */
    size_t length, room;
    size_t most;
    bool failed; /* no memory, or more than `most` */
};

void guard_text_add(struct guard_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void guard_text_hex(struct guard_text *t, const uint8_t *bytes, size_t n);

#endif
