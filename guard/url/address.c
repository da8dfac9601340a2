/* IP addresses in a URL. A numeric host has many spellings: 3279880203, 0xc37f000b, 0303.0177.11
 * and 195.127.0.11 are the same address. A list must know all of them under one name. That name is
 * the one browsers show: four decimal numbers, and for IPv6 the shortest form in lower case, in
 * which "::" replaces the first of the longest runs of zeros. */
#include "address.h"

#include <string.h>

unsigned guard__digit(uint8_t c)
{
    if (c >= '0' && c <= '9') return c - (unsigned)'0';
    if (c >= 'a' && c <= 'f') return c - (unsigned)'a' + 10;
    if (c >= 'A' && c <= 'F') return c - (unsigned)'A' + 10;
    return 16;
}

static size_t put_decimal(uint8_t *out, unsigned v) /* requires v < 256 */
{
    size_t n = 0;
    if (v >= 100) out[n++] = (uint8_t)('0' + v / 100);
    if (v >= 10) out[n++] = (uint8_t)('0' + v / 10 % 10);
    out[n++] = (uint8_t)('0' + v % 10);
    return n;
}

static size_t put_ip4(uint8_t *out, uint32_t ip)
{
    size_t n = 0;
    for (unsigned i = 0; i < 4; i++) {
        if (i > 0) out[n++] = '.';
        n += put_decimal(out + n, ip >> (24 - 8 * i) & 255);
    }
    return n;
}

/* Reads a number from *at up to a '.' or the end. "0x" alone is zero, as in browsers. */
static bool number(const uint8_t **at, const uint8_t *end, uint64_t *value)
{
    const uint8_t *p = *at;
    unsigned base = 10;
    if (p == end || *p == '.') return false;
    if (end - p >= 2 && p[0] == '0' && p[1] == 'x') {
        base = 16;
        p += 2;
    } else if (*p == '0') {
        base = 8;
    }
    for (*value = 0; p < end && *p != '.'; p++) {
        const unsigned digit = guard__digit(*p);
        if (digit >= base) return false;
        *value = *value * base + digit;
        if (*value > UINT32_MAX) return false;
    }
    *at = p;
    return true;
}

size_t guard__ip4(const uint8_t *host, size_t len, uint8_t out[GUARD__ADDRESS_SIZE])
{
    const uint8_t *p = host, *end = host + len;
    uint32_t ip = 0;
    for (unsigned parts = 1; parts <= 4; parts++) {
        uint64_t value;
        if (!number(&p, end, &value)) return 0;
        if (p == end) {
            const unsigned bits = 40 - 8 * parts; /* bits that the last part fills */
            if (value >> bits != 0) return 0;
            return put_ip4(out, ip | (uint32_t)value);
        }
        if (value > 255) return 0;
        ip |= (uint32_t)value << (32 - 8 * parts);
        p++;
    }
    return 0;
}

/* Reads the four decimal numbers at the end of an IPv6 address; no other form of IPv4 is allowed
 * there. */
static bool read_quad(const uint8_t *p, const uint8_t *end, uint16_t group[2])
{
    uint32_t ip = 0;
    for (unsigned i = 0; i < 4; i++) {
        unsigned value = 0;
        const uint8_t *begin = p;
        while (p < end && guard__digit(*p) < 10 && value < 256)
            value = value * 10 + guard__digit(*p++);
        if (p == begin || value > 255 || (*begin == '0' && p - begin > 1)) return false;
        if (i < 3 && (p == end || *p++ != '.')) return false;
        ip = ip << 8 | value;
    }
    group[0] = (uint16_t)(ip >> 16);
    group[1] = (uint16_t)ip;
    return p == end;
}

/* Reads the groups up to the end and returns their number, or 9 if this is not an address. *gap is
 * the number of groups before "::", or 8 without it. */
static unsigned read_groups(const uint8_t *p, const uint8_t *end, uint16_t group[8], unsigned *gap)
{
    unsigned n = 0;
    *gap = 8;
    if (end - p >= 2 && p[0] == ':' && p[1] == ':') {
        *gap = 0;
        p += 2;
    }
    while (p < end) {
        const uint8_t *begin = p;
        unsigned value = 0;
        if (n == 8) return 9;
        while (p < end && p - begin < 4 && guard__digit(*p) < 16)
            value = value << 4 | guard__digit(*p++);
        if (p < end && *p == '.') return n <= 6 && read_quad(begin, end, group + n) ? n + 2 : 9;
        if (p == begin) return 9;
        group[n++] = (uint16_t)value;
        if (p == end) break;
        if (*p++ != ':' || p == end) return 9;
        if (*p == ':') {
            if (*gap != 8) return 9;
            *gap = n;
            p++;
        }
    }
    return n;
}

static bool read_ip6(const uint8_t *text, size_t len, uint16_t group[8])
{
    unsigned gap;
    const unsigned n = read_groups(text, text + len, group, &gap);
    if (gap == 8) return n == 8;
    if (n >= 8) return false;
    memmove(group + gap + 8 - n, group + gap, (n - gap) * sizeof *group);
    memset(group + gap, 0, (8 - n) * sizeof *group);
    return true;
}

static bool is_ip4_inside(const uint16_t group[8])
{
    static const uint16_t mapped[6] = {0, 0, 0, 0, 0, 0xffff};
    static const uint16_t nat64[6] = {0x64, 0xff9b, 0, 0, 0, 0};
    return memcmp(group, mapped, sizeof mapped) == 0 || memcmp(group, nat64, sizeof nat64) == 0;
}

/* Finds the first of the longest runs of zero groups, [*from, *to), if it is longer than one
 * group. */
static void longest_zeros(const uint16_t group[8], unsigned *from, unsigned *to)
{
    *from = *to = 8;
    for (unsigned i = 0; i < 8;) {
        unsigned end = i;
        while (end < 8 && group[end] == 0) end++;
        if (end - i > 1 && end - i > *to - *from) {
            *from = i;
            *to = end;
        }
        i = end + 1;
    }
}

size_t guard__ip6(const uint8_t *text, size_t len, uint8_t out[GUARD__ADDRESS_SIZE])
{
    uint16_t group[8];
    unsigned from, to;
    size_t n = 0;
    if (!read_ip6(text, len, group)) return 0;
    if (is_ip4_inside(group)) return put_ip4(out, (uint32_t)group[6] << 16 | group[7]);
    longest_zeros(group, &from, &to);
    out[n++] = '[';
    for (unsigned i = 0; i < 8; i++) {
        if (i == from) {
            out[n++] = ':';
            if (to == 8) out[n++] = ':';
            i = to - 1;
            continue;
        }
        if (i > 0) out[n++] = ':';
        bool begun = false;
        for (unsigned shift = 16; shift > 0;) {
            shift -= 4;
            const unsigned digit = group[i] >> shift & 15;
            begun = begun || digit != 0 || shift == 0;
            if (begun) out[n++] = (uint8_t) "0123456789abcdef"[digit];
        }
    }
    out[n++] = ']';
    return n;
}
