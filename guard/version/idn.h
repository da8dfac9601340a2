/* International names, on the side of whoever builds and serves lists; a browser has done this
 * already. */
#ifndef GUARD_IDN_H
#define GUARD_IDN_H

#include "../url/url.h"

/* For guard_url_canonical: a host of UTF-8 in Punycode, by UTS 46 without transitional processing,
 * as in browsers. Where IDNA 2008 is stricter than they are, above all about emoji, it cannot, and
 * guard_url.escaped_name tells. */
size_t guard_idn(const char *host, size_t len, char *name);

#endif
