/* Keeps what the command prints to stderr instead of showing it: a function that fails must have
 * said why. Requires _GNU_SOURCE. */
#ifndef TAMIS_FUZZ_MESSAGES_H
#define TAMIS_FUZZ_MESSAGES_H

#include <stdio.h>
#include <string.h>
#include <sys/types.h>

static char message_text[1 << 16];
static size_t message_size;

static ssize_t take_message(void *ctx, const char *p, size_t n)
{
    const size_t room = sizeof message_text - message_size, more = n < room ? n : room;
    (void)ctx;
    memcpy(message_text + message_size, p, more);
    message_size += more;
    return (ssize_t)n;
}

/* From the first call on; libFuzzer and the sanitizers do not write through stdio. */
static void keep_messages(void)
{
    static FILE *to;
    if (to != NULL) return;
    to = fopencookie(NULL, "w", (cookie_io_functions_t){.write = take_message});
    must(to != NULL, "a stream");
    stderr = to;
}

/* Whether anything was said since the last time, in whole lines that say who speaks: a message, or
 * the commands of a group such as 'tamis key'. */
static bool was_said(void)
{
    fflush(stderr);
    const size_t n = message_size;
    message_size = 0;
    if (n == 0) return false;
    const bool message = n > 8 && memcmp(message_text, "tamis: ", 7) == 0;
    const bool usage = n > 14 && memcmp(message_text, "Usage: tamis ", 13) == 0;
    must(message || usage, "a message says who speaks");
    must(n == sizeof message_text || message_text[n - 1] == '\n', "and ends with its line");
    return true;
}

#endif
