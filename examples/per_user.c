/* Counts the requests of each user in the last minute, to stop users who ask too often.
 *
 * A window of six generations of ten seconds is used, so that a count covers the last 50 to 60
 * seconds. It takes 256 KiB for any number of users. A count may be too high but never too low,
 * so no user slips through. The count is an interval, and a user is stopped only when even its
 * lower bound is too high. Therefore nobody is stopped for the requests of others, except one
 * user in a hundred near the limit. */
#include <tamis/count.h>
#include <tamis/tamis.h>

#include <stdio.h>
#include <stdlib.h>

enum {
    USERS = 20000,
    SECONDS = 120,
    REQUESTS = 2000,
    LIMIT = 600
}; /* requests a second, of all; of one a minute */

static void must(tamis_status s)
{
    if (s == TAMIS_OK) return;
    fprintf(stderr, "%s\n", tamis_status_message(s));
    exit(1);
}

/* Whether a user that asks now is to be served. */
static bool serve(tamis *t, unsigned user)
{
    tamis_estimate e;
    must(tamis_add(t, &user, sizeof user, NULL));
    must(tamis_count(t, &user, sizeof user, &e, NULL));
    return e.lower <= LIMIT;
}

int main(void)
{
    static unsigned refused[USERS];
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_WINDOW,
                             .inner_kind = TAMIS_TALLY,
                             .generations = 6,
                             .bytes = 1 << 18};
    const unsigned noisy = 7; /* 50 requests a second, between second 60 and 90 */
    uint64_t z = 1;
    tamis *t;
    must(tamis_create(&plan, NULL, &t, NULL));
    for (unsigned second = 0; second < SECONDS; second++) {
        if (second % 10 == 0) must(tamis_rotate(t, NULL));
        for (unsigned i = 0; i < REQUESTS; i++) {
            z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
            const bool burst = i < 50 && second >= 60 && second < 90;
            const unsigned user = burst ? noisy : (unsigned)(z >> 33) % USERS;
            refused[user] += !serve(t, user);
        }
    }
    unsigned others = 0;
    for (unsigned user = 0; user < USERS; user++)
        if (user != noisy) others += refused[user];
    printf("user %u sent about 1500 requests in half a minute, %u of them in vain\n", noisy,
           refused[noisy]);
    printf("the %u other users sent %u and were refused %u times\n", USERS - 1,
           SECONDS * REQUESTS - 1500, others);
    tamis_close(t);
    return refused[noisy] > 700 && refused[noisy] < 1000 && others == 0 ? 0 : 1;
}
