/* An invariant that did not hold; a crash is what the fuzzer understands. */
#ifndef TAMIS_FUZZ_MUST_H
#define TAMIS_FUZZ_MUST_H

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static inline void must(bool holds, const char *what)
{
    if (holds) return;
    fprintf(stderr, "must hold: %s\n", what);
    abort();
}

#endif
