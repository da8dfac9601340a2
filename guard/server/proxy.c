#include "proxy.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define V4_BITS 96 /* that come before an IPv4 address */

static const uint8_t v4_mapped[12] = {[10] = 0xff, [11] = 0xff};

static struct in6_addr map_v4(const void *v4)
{
    struct in6_addr a;
    memcpy(a.s6_addr, v4_mapped, sizeof v4_mapped);
    memcpy(a.s6_addr + sizeof v4_mapped, v4, 4);
    return a;
}

/* Reads an address without a port. */
static bool plain_address(const char *text, struct in6_addr *out)
{
    struct in_addr v4;
    if (inet_pton(AF_INET, text, &v4) == 1) {
        *out = map_v4(&v4);
        return true;
    }
    return inet_pton(AF_INET6, text, out) == 1;
}

/* --- Networks --------------------------------------------------------------------------------- */

/* Reports whether the first bits of both addresses agree. */
static bool same_network(const struct in6_addr *a, const struct in6_addr *b, unsigned bits)
{
    const unsigned whole = bits / 8, rest = bits % 8;
    if (memcmp(a->s6_addr, b->s6_addr, whole) != 0) return false;
    return rest == 0 || (a->s6_addr[whole] ^ b->s6_addr[whole]) >> (8 - rest) == 0;
}

static bool has_bits_after(const struct in6_addr *a, unsigned bits)
{
    for (unsigned i = bits; i < 128; i++)
        if ((a->s6_addr[i / 8] >> (7 - i % 8) & 1) != 0) return true;
    return false;
}

/* Reports whether all IPv4 addresses are in a network, as mapped ones. */
static bool has_every_v4(const struct in6_addr *a, unsigned bits)
{
    const struct in6_addr first = map_v4(&(struct in_addr){0});
    return bits <= V4_BITS && same_network(a, &first, bits);
}

const char *guard_proxies_add(struct guard_proxies *p, const char *text)
{
    char address[INET6_ADDRSTRLEN];
    const size_t n = strcspn(text, "/");
    const bool v6 = strchr(text, ':') != NULL;
    struct in6_addr a;
    unsigned bits = 128;
    if (strcmp(text, "unix") == 0) {
        p->local = true;
        return NULL;
    }
    if (n >= sizeof address) return "it is not an IP address";
    memcpy(address, text, n);
    address[n] = '\0';
    if (!plain_address(address, &a)) return "it is not an IP address";
    if (text[n] == '/') {
        const char *digits = text + n + 1;
        const size_t length = strspn(digits, "0123456789");
        if (length == 0 || length > 3 || digits[length] != '\0')
            return "the number of bits after / is not a number";
        bits = (unsigned)strtoul(digits, NULL, 10);
        if (bits > (v6 ? 128u : 32u)) return "the address does not have so many bits";
        if (bits == 0) return "it trusts every address";
        bits += v6 ? 0 : V4_BITS;
    }
    if (has_bits_after(&a, bits)) return "the address has bits after those of the network";
    if (has_every_v4(&a, bits)) return "it trusts every IPv4 address";
    if (p->n == GUARD_PROXIES) return "there are too many";
    p->networks[p->n].address = a;
    p->networks[p->n++].bits = bits;
    return NULL;
}

static bool is_trusted(const struct guard_proxies *p, const struct in6_addr *a)
{
    for (size_t i = 0; i < p->n; i++)
        if (same_network(a, &p->networks[i].address, p->networks[i].bits)) return true;
    return false;
}

bool guard_proxies_trust(const struct guard_proxies *p, const struct sockaddr *peer)
{
    if (peer == NULL) return false;
    if (peer->sa_family == AF_UNIX) return p->local;
    if (peer->sa_family == AF_INET6)
        return is_trusted(p, &((const struct sockaddr_in6 *)(const void *)peer)->sin6_addr);
    if (peer->sa_family != AF_INET) return false;
    const struct in6_addr a = map_v4(&((const struct sockaddr_in *)(const void *)peer)->sin_addr);
    return is_trusted(p, &a);
}

/* --- Fields ----------------------------------------------------------------------------------- */

/* Reports whether this is the rest of an element after its address: nothing, or a port. */
static bool ends_element(const char *rest)
{
    if (*rest == '\0') return true;
    const size_t digits = strspn(rest + 1, "0123456789");
    return *rest == ':' && digits >= 1 && digits <= 5 && rest[1 + digits] == '\0' &&
           strtoul(rest + 1, NULL, 10) <= UINT16_MAX;
}

/* Reads one element: an IPv4 address, an IPv6 address with or without brackets, and a port after
 * the former and after brackets. */
static bool element_address(const char *from, size_t n, struct in6_addr *out)
{
    char text[INET6_ADDRSTRLEN + sizeof "[]:65535"];
    for (; n > 0 && (*from == ' ' || *from == '\t'); from++) n--;
    while (n > 0 && (from[n - 1] == ' ' || from[n - 1] == '\t')) n--;
    if (n == 0 || n >= sizeof text) return false;
    memcpy(text, from, n);
    text[n] = '\0';
    if (text[0] == '[') {
        char *end = strchr(text, ']');
        if (end == NULL || !ends_element(end + 1)) return false;
        *end = '\0';
        return inet_pton(AF_INET6, text + 1, out) == 1;
    }
    char *colon = strchr(text, ':');
    if (colon != NULL && strchr(colon + 1, ':') == NULL) {
        if (!ends_element(colon)) return false;
        *colon = '\0';
        return strchr(text, '.') != NULL && plain_address(text, out);
    }
    return plain_address(text, out);
}

void guard_trail_add(struct guard_trail *t, const char *field)
{
    for (const char *p = field;; p++) {
        const size_t n = strcspn(p, ",");
        struct in6_addr a;
        if (!element_address(p, n, &a)) {
            t->known = false;
        } else if (!t->known || !is_trusted(t->proxies, &a)) {
            t->client = a;
            t->known = true;
        }
        p += n;
        if (*p == '\0') return;
    }
}
