/* Text that grows as it is written, up to a limit. After a failed write all later ones fail too, so
 * one check at the end is enough. */
#ifndef GUARD_TEXT_H
#define GUARD_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct guard_text {
    char *at; /* the caller frees it; NUL-terminated */
    size_t length, room;
    size_t most;
    bool failed; /* memory ran out, or the text exceeds `most` */
};

void guard_text_add(struct guard_text *t, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void guard_text_hex(struct guard_text *t, const uint8_t *bytes, size_t n);

#endif
