/* A command as bytes of the Redis protocol. */
#include "client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* "$", the digits of a length, and two line ends. */
enum { AROUND_A_WORD = 1 + 20 + 4 };

struct request *request_new(unsigned slot, size_t words, size_t bytes)
{
    struct request *r = calloc(1, sizeof *r);
    if (r == NULL) return NULL;
    r->slot = slot;
    r->room = 32 + words * AROUND_A_WORD + bytes;
    r->text = malloc(r->room);
    if (r->text == NULL) {
        free(r);
        return NULL;
    }
    r->length = (size_t)snprintf(r->text, r->room, "*%zu\r\n", words);
    return r;
}

void request_word(struct request *r, const void *word, size_t length)
{
    char *p = r->text + r->length, digits[24];
    size_t n = 0, rest = length;
    do digits[n++] = (char)('0' + rest % 10);
    while ((rest /= 10) > 0);
    *p++ = '$';
    while (n > 0) *p++ = digits[--n];
    *p++ = '\r';
    *p++ = '\n';
    if (length > 0) memcpy(p, word, length);
    p += length;
    *p++ = '\r';
    *p++ = '\n';
    r->length = (size_t)(p - r->text);
}

void request_text(struct request *r, const char *word)
{
    request_word(r, word, strlen(word));
}

void request_number(struct request *r, int64_t n)
{
    char digits[24];
    request_word(r, digits, (size_t)snprintf(digits, sizeof digits, "%lld", (long long)n));
}

void request_free(struct request *r)
{
    if (r == NULL) return;
    reply_free(r->reply);
    free(r->text);
    free(r->more);
    free(r);
}
