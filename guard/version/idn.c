/* International names with libidn2, which refuses names that browsers visit:
 *
 * - It refuses characters that newer versions of UTS 46 ignore. They are removed first. Browsers
 *   with an older version visit no such name.
 * - It applies the strict rules about hyphens to the result of the UTS 46 mapping, and so refuses
 *   names like -ü.example. Without the mapping it accepts them, and refuses every name that would
 *   have to be mapped. So a second attempt without the mapping never produces another name than the
 *   first would have produced.
 * - It applies them to labels of ASCII as well, if another label is not ASCII. So the last attempt
 *   converts each label alone and leaves those of ASCII as they are.
 *
 * A name that cannot be converted is refused: most symbols, which IDNA 2008 excludes, and all
 * characters that are newer than libidn2's tables. A browser may map such a character to any other,
 * or to none.
 *
 * tests/web/urls.sh compares every code point with Chromium. The only one that libidn2 2.3.3 maps
 * to something else is U+1E9E, the capital sharp s. Unicode 15.1 changed its mapping from "ss" to
 * U+00DF. Browsers of either age are in use, so names with it are refused as well. */
#include "idn.h"

#include <idn2.h>
#include <stdint.h>
#include <string.h>

/* Longer UTF-8 cannot become a valid name: each code point takes at least one byte of Punycode, and
 * at most four of UTF-8. */
#define LONGEST (4 * GUARD_URL_NAME)

static size_t to_ascii(const char *host, int flags, char name[GUARD_URL_NAME])
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

static size_t convert(const char *host, char name[GUARD_URL_NAME])
{
    const size_t n = to_ascii(host, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT, name);
    return n > 0 ? n : to_ascii(host, IDN2_NO_TR46 | IDN2_NFC_INPUT, name);
}

/* Returns the length of a full stop at the beginning of the text, or 0: '.', U+3002, U+FF0E or
 * U+FF61. */
static size_t full_stop(const char *text)
{
    static const char *const stops[] = {".", "\xe3\x80\x82", "\xef\xbc\x8e", "\xef\xbd\xa1"};
    for (size_t i = 0; i < sizeof stops / sizeof *stops; i++)
        if (strncmp(text, stops[i], strlen(stops[i])) == 0) return strlen(stops[i]);
    return 0;
}

static bool is_ascii(const char *text)
{
    while (*text != 0 && (uint8_t)*text < 0x80) text++;
    return *text == 0;
}

/* Converts one label and appends it to the first n bytes of `name`. */
static bool append_label(const char *label, char name[GUARD_URL_NAME], size_t *n)
{
    char converted[GUARD_URL_NAME];
    const bool as_it_is = is_ascii(label);
    const size_t length = as_it_is ? strlen(label) : convert(label, converted);
    if ((length == 0 && !as_it_is) || *n + length > GUARD_URL_NAME) return false;
    memcpy(name + *n, as_it_is ? label : converted, length);
    *n += length;
    return true;
}

/* Converts each label alone. The text is changed. */
static size_t convert_labels(char *text, char name[GUARD_URL_NAME])
{
    size_t n = 0;
    for (char *label = text, *end = text;; end++) {
        const size_t stop = full_stop(end);
        if (stop == 0 && *end != 0) continue;
        *end = 0;
        if (!append_label(label, name, &n)) return 0;
        if (stop == 0) return n;
        if (n == GUARD_URL_NAME) return 0;
        name[n++] = '.';
        label = end + stop;
        end = label - 1;
    }
}

/* Reads one code point of UTF-8 and returns its length, or 1 for a byte that begins none. */
static size_t read_utf8(const char *text, uint32_t *code)
{
    const uint8_t first = (uint8_t)*text;
    size_t n = 1;
    if (first >= 0xc2 && first < 0xf5) n = 2 + (size_t)(first >= 0xe0) + (size_t)(first >= 0xf0);
    *code = n == 1 ? first : first & (0x7fu >> n);
    for (size_t i = 1; i < n; i++) {
        if (((uint8_t)text[i] & 0xc0) != 0x80) return 1;
        *code = *code << 6 | ((uint8_t)text[i] & 0x3f);
    }
    return n;
}

/* Fillers and controls that Chromium 156 ignores and libidn2 2.3.3 refuses. */
static bool is_ignored(uint32_t code)
{
    static const uint32_t ranges[][2] = {{0x115f, 0x1160}, {0x17b4, 0x17b5},  {0x180e, 0x180e},
                                         {0x2061, 0x2063}, {0x206a, 0x206f},  {0x3164, 0x3164},
                                         {0xffa0, 0xffa0}, {0x1d173, 0x1d17a}};
    for (size_t i = 0; i < sizeof ranges / sizeof *ranges; i++)
        if (code >= ranges[i][0] && code <= ranges[i][1]) return true;
    return false;
}

static void remove_ignored(char *text)
{
    char *w = text;
    uint32_t code;
    for (size_t n; *text != 0; text += n) {
        n = read_utf8(text, &code);
        if (n > 1 && is_ignored(code)) continue;
        memmove(w, text, n);
        w += n;
    }
    *w = 0;
}

size_t guard_idn(const char *host, size_t len, char *name)
{
    char text[LONGEST + 1];
    if (len > LONGEST || memchr(host, 0, len) != NULL) return 0;
    memcpy(text, host, len);
    text[len] = 0;
    if (strstr(text, "\xe1\xba\x9e") != NULL) return 0; /* U+1E9E */
    remove_ignored(text);
    const size_t n = convert(text, name);
    return n > 0 ? n : convert_labels(text, name);
}
