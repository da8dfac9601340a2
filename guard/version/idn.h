/* International names for the programs that build and serve lists. A browser has already converted
 * the names. */
#ifndef GUARD_IDN_H
#define GUARD_IDN_H

#include "../url/url.h"

/* For guard_url_canonical: converts a host of UTF-8 to Punycode, by UTS 46 without transitional
 * processing, as browsers do. IDNA 2008 is stricter than browsers, mainly about emoji. Such a name
 * cannot be converted, and guard_url.escaped_name reports it. */
size_t guard_idn(const char *host, size_t len, char *name);

#endif
