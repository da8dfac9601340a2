/* International names with libidn2, in two attempts. libidn2 applies the strict rules about hyphens
 * to the result of the UTS 46 mapping, and so refuses names like -ü.example, which browsers visit.
 * Without the mapping it accepts them, and refuses every name that would have to be mapped. So the
 * second attempt never produces another name than the first would have produced. */
#include "idn.h"

#include <idn2.h>
#include <string.h>

/* Longer UTF-8 cannot become a valid name: each code point takes at least one byte of Punycode, and
 * at most four of UTF-8. */
#define LONGEST (4 * GUARD_URL_NAME)

static size_t to_ascii(const char *host, int flags, char *name)
{
    char *ascii = NULL;
    if (idn2_to_ascii_8z(host, &ascii, flags) != IDN2_OK) return 0;
    size_t n = strlen(ascii);
    if (n <= GUARD_URL_NAME)
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): nor promised to be */
        memcpy(name, ascii, n);
    else
        n = 0;
    idn2_free(ascii);
    return n;
}

size_t guard_idn(const char *host, size_t len, char *name)
{
    char text[LONGEST + 1];
    if (len > LONGEST || memchr(host, 0, len) != NULL) return 0;
    memcpy(text, host, len);
    text[len] = 0;
    const size_t n = to_ascii(text, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT, name);
    return n > 0 ? n : to_ascii(text, IDN2_NO_TR46 | IDN2_NFC_INPUT, name);
}
