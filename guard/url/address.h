/* IP addresses as a browser reads and writes them in a URL. */
#ifndef GUARD_ADDRESS_H
#define GUARD_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]", without a NUL. */
#define GUARD__ADDRESS_SIZE 41

/* Whether a host in lower case, without empty labels, is an IPv4 address in any form that inet_aton
 * knows: one to four parts, decimal, octal after 0 or hexadecimal after 0x, of which the last fills
 * all bytes that are left. If so, writes it as four decimal numbers and returns the length, else
 * 0. */
size_t guard__ip4(const uint8_t *host, size_t len, uint8_t out[GUARD__ADDRESS_SIZE]);

/* Of what stands between brackets: writes an IPv6 address, brackets included, in the form of RFC
 * 5952 and returns the length, or 0 when it is none. An IPv4 address in IPv6 clothes
 * (::ffff:0:0/96, and 64:ff9b::/96 of NAT64) is written as the IPv4 address that it leads to. */
size_t guard__ip6(const uint8_t *text, size_t len, uint8_t out[GUARD__ADDRESS_SIZE]);

/* The value of a digit, or 16. */
unsigned guard__digit(uint8_t c);

#endif
