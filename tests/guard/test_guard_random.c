/* A million random URLs from a fixed seed, half of them through a hostile IDN: bounds, parts,
 * and canonical(canonical(x)) = canonical(x). Nothing here is statistical: each check must hold
 * for every input. */
#include "../support/check.h"
#include "../support/urls.h"

#define INPUTS 1000000

static void a_million_urls(void)
{
    uint64_t state = 6;
    unsigned accepted = 0;
    for (unsigned i = 0; i < INPUTS; i++) {
        char in[200], *text;
        guard_url_status status;
        const size_t n = random_url(&state, in, sizeof in);
        const char *fault = canonical_fault(in, n, i % 2 == 0 ? NULL : mask_idn, &status, &text);
        accepted += status == GUARD_URL_OK;
        if (fault != NULL) printf("%.*s\n  %s: %s\n", (int)n, in, text, fault);
        free(text);
        CHECK(fault == NULL);
    }
    /* Else it would be a test of refusals. */
    CHECK_THAT(accepted, >, INPUTS / 4);
}

static const struct test tests[] = {{"a million URLs", a_million_urls}};

TEST_MAIN(tests)
