/* A thousand million flips of the system's random bits, and a million releases of each of two
 * neighbours. */
#define _POSIX_C_SOURCE 200809L
#include "../support/audit.h"
#include "../support/check.h"

static void test_flips(void)
{
    CHECK(audit_flips(tamis__flip, tamis__flip_threshold(1), 1e9, &tamis__system_random));
}

static void test_attack(void)
{
    const uint32_t t = tamis__flip_threshold(1);
    const double honest = attack(tamis__flip, t, 1000000, &tamis__system_random);
    printf("epsilon 1: at least %.4f\n", honest);
    CHECK_THAT(honest, <=, tamis__flip_epsilon(t));
    CHECK_THAT(honest, >, 0.95);
    CHECK_THAT(attack(halved_flip, t, 1000000, &tamis__system_random), >, tamis__flip_epsilon(t));
}

static const struct test tests[] = {
    {"flips", test_flips},
    {"attack", test_attack},
};

TEST_MAIN(tests)
