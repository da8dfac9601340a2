/* test_distinct_error.c with sketches of 1, 8 and 16 KiB, at every decade from a thousand to ten
 * million keys, around the greatest number of tokens, and with up to 1e18 keys. */
#define RUNS 110000u
#define SIZES                                                                                      \
    {8, 127, RUNS, 0}, {8, 128, RUNS, 0}, {8, 129, RUNS, 1.582}, {8, 1000, RUNS, 1.721},           \
        {8, 10000, RUNS, 2.982}, {8, 100000, RUNS, 3.715}, {8, 1000000, RUNS, 3.788},              \
        {8, 10000000, RUNS, 3.796}, {8, 1000000000000, RUNS, 3.796},                               \
        {8, 1000000000000000000, RUNS, 3.796}, {11, 1024, RUNS, 0}, {11, 1025, RUNS, 1.582},       \
        {11, 10000, RUNS, 1.762}, {11, 100000, RUNS, 3.142}, {11, 1000000, RUNS, 3.731},           \
        {11, 10000000, RUNS, 3.790}, {12, 2047, RUNS, 0}, {12, 2048, RUNS, 0},                     \
        {12, 2049, RUNS, 1.582}, {12, 10000, RUNS, 1.660}, {12, 100000, RUNS, 2.578},              \
        {12, 1000000, RUNS, 3.665},                                                                \
    {                                                                                              \
        12, 10000000, RUNS, 3.783                                                                  \
    }
#include "../library/test_distinct_error.c"
