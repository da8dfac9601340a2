/* Hostile URLs, also as lines of lists: all bounds and parts are right, and the canonical form
 * of a canonical URL is the same, with and without a hostile IDN. ./run fuzz url */
#include "fuzz.h"

#include "../support/urls.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    guard_url_idn *const idns[] = {NULL, mask_idn};
    for (size_t i = 0; i < 2; i++) {
        guard_url_status status;
        char *text;
        const char *fault = canonical_fault(data, size, idns[i], &status, &text);
        free(text);
        must(fault == NULL, fault);
        guard_line_kind kind;
        fault = line_fault(data, size, idns[i], &kind);
        must(fault == NULL, fault);
    }
    return 0;
}
