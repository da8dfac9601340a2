/* Deterministic keys for tests. */
#ifndef TAMIS_TEST_KEYS_H
#define TAMIS_TEST_KEYS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>

static inline uint64_t splitmix(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* The i-th key of a style, in buf (of KEY_MAX bytes); returns its length. Distinct for distinct i
 * below 2^32. */
enum key_style { KEY_INTEGER, KEY_TEXT, KEY_URL, KEY_SHORT, KEY_STRUCTURED, KEY_STYLES };
#define KEY_MAX 128

static inline size_t make_key(enum key_style style, uint64_t i, char *buf)
{
    switch (style) {
    case KEY_INTEGER: /* consecutive 64-bit numbers, little-endian */
        for (int b = 0; b < 8; b++) buf[b] = (char)(i >> 8 * b);
        return 8;
    case KEY_TEXT: return (size_t)snprintf(buf, KEY_MAX, "%llu", (unsigned long long)i);
    case KEY_URL: {
        uint64_t s = i;
        const uint64_t r = splitmix(&s);
        return (size_t)snprintf(buf, KEY_MAX,
                                "https://www.site%04llu.example/%03llu/page-%llu.html",
                                (unsigned long long)(r % 5000),
                                (unsigned long long)(r >> 40) % 1000, (unsigned long long)i);
    }
    case KEY_SHORT: /* four bytes, all of them used */
        for (int b = 0; b < 4; b++) buf[b] = (char)(i >> 8 * b);
        return 4;
    case KEY_STRUCTURED: /* long, and distinct in a few bits in the middle */
        memset(buf, 'x', 100);
        for (int b = 0; b < 8; b++) buf[48 + b] = (char)('a' + (i >> 4 * b & 15));
        return 100;
    case KEY_STYLES: break;
    }
    return 0;
}

#endif
