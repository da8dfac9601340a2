/* What the functions that JavaScript calls share. Numbers are passed as doubles and 32-bit words,
 * which JavaScript has. Lists of numbers are returned in `web_numbers`, in an order that both sides
 * know. A failure leaves its reason in `web_why`. */
#ifndef TAMIS_WEB_COMMON_H
#define TAMIS_WEB_COMMON_H

#include <tamis/tamis.h>

#define EXPORT(name) __attribute__((export_name(#name)))

extern tamis_error web_why;
extern double web_numbers[48];

tamis_options web_options(const uint8_t *key, uint32_t flags, double max_bytes);

/* Leaves the message of a status as the reason, and returns the status. */
int web_because(tamis_status s);

#endif
