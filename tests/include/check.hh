// Counts checks that fail; CHECK returns whether its condition is true.
#ifndef TAMIS_TEST_CHECK_HH
#define TAMIS_TEST_CHECK_HH

#include <cstdio>

inline int failures = 0;

inline bool check(bool right, const char *what, const char *file, int line)
{
    if (!right) {
        std::printf("%s:%d: not true: %s\n", file, line, what);
        failures++;
    }
    return right;
}
#define CHECK(condition) check(static_cast<bool>(condition), #condition, __FILE__, __LINE__)

// A generator with a fixed seed (splitmix64).
struct dice {
    unsigned long long state;
    unsigned long long operator()()
    {
        unsigned long long z = state += 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        return z ^ z >> 31;
    }
};

#endif
