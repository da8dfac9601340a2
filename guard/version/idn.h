/* International names for the programs that build and serve lists. A browser has already converted
 * the names. */
#ifndef GUARD_IDN_H
#define GUARD_IDN_H

#include "../url/url.h"

/* For guard_url_canonical: converts a host of UTF-8 to Punycode, by UTS 46 without transitional
 * processing, as browsers do. Browsers are more permissive about symbols and know more characters.
 * A name that only they can convert is refused, and guard_url.escaped_name reports it: it must not
 * be taken for a name that is not listed. */
size_t guard_idn(const char *host, size_t len, char *name);

#endif
