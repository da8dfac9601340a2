/* Reads an input as a program: small numbers one after the other, and zeros after its end. */
#ifndef TAMIS_FUZZ_FEED_H
#define TAMIS_FUZZ_FEED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct feed {
    const uint8_t *p;
    size_t left;
};

static inline uint64_t feed_bytes(struct feed *f, size_t n)
{
    uint64_t v = 0;
    for (size_t i = 0; i < n && f->left > 0; i++, f->left--) v |= (uint64_t)*f->p++ << 8 * i;
    return v;
}

static inline uint8_t feed_byte(struct feed *f)
{
    return (uint8_t)feed_bytes(f, 1);
}

static inline uint32_t feed_below(struct feed *f, uint32_t n)
{
    return (uint32_t)feed_bytes(f, n > 256 ? 2 : 1) % n;
}

/* Mostly small, sometimes anything; so are the numbers that people and attackers choose. */
static inline uint64_t feed_number(struct feed *f)
{
    const uint8_t size = feed_byte(f);
    return size < 224 ? feed_bytes(f, size % 3) : feed_bytes(f, 1 + size % 8);
}

/* The same for weights. */
static inline int64_t feed_weight(struct feed *f)
{
    const uint8_t how = feed_byte(f);
    if (how < 128) return how;
    if (how < 160) return -(int64_t)(how - 127);
    if (how == 160) return INT64_MAX;
    if (how == 161) return INT64_MIN;
    return (int64_t)feed_bytes(f, 1 + how % 8);
}

/* Words up to the next zero byte, as a string of at most room - 1 bytes. */
static inline size_t feed_text(struct feed *f, char *to, size_t room)
{
    size_t n = 0;
    for (; f->left > 0 && n + 1 < room; n++, f->p++, f->left--) {
        to[n] = (char)*f->p;
        if (to[n] == '\0') break;
    }
    if (f->left > 0 && *f->p == 0) {
        f->p++;
        f->left--;
    }
    to[n] = '\0';
    return n;
}

#endif
