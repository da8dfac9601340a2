/* IP addresses as browsers read and write them in a URL. */
#ifndef GUARD_ADDRESS_H
#define GUARD_ADDRESS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The length of "[ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff]", without a NUL. */
#define GUARD__ADDRESS_SIZE 41

/* If the host is an IPv4 address in any form that inet_aton accepts, writes it as four decimal
 * numbers and returns the length, otherwise returns 0. Such an address has one to four parts,
 * decimal, octal after 0 or hexadecimal after 0x; the last part fills all remaining bytes. The host
 * must be in lower case and have no empty labels. */
size_t guard__ip4(const uint8_t *host, size_t len, uint8_t out[GUARD__ADDRESS_SIZE]);

/* Reads the text between the brackets of an IPv6 address, writes the address in the form of RFC
 * 5952, brackets included, and returns the length, or 0 if the text is not an address. An IPv4
 * address embedded in IPv6 (::ffff:0:0/96, and 64:ff9b::/96 of NAT64) is written as the IPv4
 * address that it leads to. */
size_t guard__ip6(const uint8_t *text, size_t len, uint8_t out[GUARD__ADDRESS_SIZE]);

/* Returns the value of a hex digit, or 16 for any other character. */
unsigned guard__digit(uint8_t c);

#endif
