/* test_top_urls.c with the whole log. */
#define LINES 10000000u
#include "../library/test_top_urls.c"
