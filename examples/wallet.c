/* A wallet on a telephone wants its own transactions, not the whole chain.
 *
 * This is BIP37's idea: the wallet sends a filter of its addresses to a peer, and the peer returns
 * only the transactions that touch an address which may be in the filter. The wallet misses none of
 * its own transactions, and discards the few false positives that come with them. The seed is not a
 * secret: it travels in the filter, because the peer could not query the filter without it. A new
 * seed for each connection makes other transactions collide.
 *
 * The filter does not give privacy, and the program shows why. The peer knows every address of
 * the chain and can try them all: those that pass are the wallet's, plus a few false positives.
 * A second filter of the same wallet with another seed has other false positives, and the
 * addresses that pass both are the wallet's. Bitcoin Core has turned BIP37 off by default.
 * BIP158 works the other way round: the server gives everyone the same filter of each block, and
 * the wallet queries it at home. */
#include <tamis/tamis.h>

#include <stdio.h>
#include <stdlib.h>

enum { ADDRESSES = 200000, TRANSACTIONS = 100000, OURS = 50 };

/* Address n of the chain; every 4000th is ours. */
struct address {
    unsigned char bytes[20];
};

static struct address address_of(unsigned n)
{
    struct address a;
    uint64_t z = n;
    for (unsigned i = 0; i < sizeof a.bytes; i++) {
        z = z * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
        a.bytes[i] = (unsigned char)(z >> 56);
    }
    return a;
}

static bool is_ours(unsigned n)
{
    return n % (ADDRESSES / OURS) == 0;
}

struct transaction {
    unsigned from, to; /* numbers of addresses */
};

static struct transaction transaction_of(unsigned n)
{
    const struct transaction t = {n * 48271u % ADDRESSES, n * 69621u % ADDRESSES};
    return t;
}

static tamis *wallet_filter(uint64_t seed)
{
    tamis_plan plan = {.struct_size = sizeof plan, .items = OURS, .fpr = 0.001, .seed = seed};
    tamis *t;
    if (tamis_create(&plan, NULL, &t, NULL) != TAMIS_OK) exit(1);
    for (unsigned n = 0; n < ADDRESSES; n++) {
        const struct address a = address_of(n);
        if (is_ours(n) && tamis_add(t, a.bytes, sizeof a.bytes, NULL) != TAMIS_OK) exit(1);
    }
    return t;
}

static bool may_be_ours(const tamis *filter, unsigned n)
{
    const struct address a = address_of(n);
    return tamis_may_contain(filter, a.bytes, sizeof a.bytes);
}

/* True when the wallet got all its transactions, and not much else. */
static bool synchronize(const tamis *filter)
{
    unsigned sent = 0, ours = 0, missed = 0;
    for (unsigned n = 0; n < TRANSACTIONS; n++) {
        const struct transaction t = transaction_of(n);
        const bool mine = is_ours(t.from) || is_ours(t.to);
        const bool match = may_be_ours(filter, t.from) || may_be_ours(filter, t.to);
        sent += match;
        ours += mine && match;
        missed += mine && !match;
    }
    printf("the filter the wallet sends: %llu bytes for %d addresses\n",
           (unsigned long long)tamis_image_size(filter), OURS);
    printf("the peer returns %u of %d transactions: %u of the wallet's, %u by chance, %u missed\n",
           sent, TRANSACTIONS, ours, sent - ours, missed);
    /* Two addresses each, at one in a thousand at most: about 200, give or take 14, or fewer. */
    return missed == 0 && ours > 0 && sent - ours < 300;
}

/* What the peer can learn: every address of the chain, tried. */
static unsigned suspects(const tamis *one, const tamis *two)
{
    unsigned n = 0;
    for (unsigned a = 0; a < ADDRESSES; a++)
        n += may_be_ours(one, a) && (two == NULL || may_be_ours(two, a));
    return n;
}

int main(void)
{
    tamis *today = wallet_filter(20240101), *tomorrow = wallet_filter(20240102);
    const bool synchronized = synchronize(today);
    const unsigned after_one = suspects(today, NULL), after_two = suspects(today, tomorrow);
    printf("and learns: of %d addresses on the chain, %u can be the wallet's;\n", ADDRESSES,
           after_one);
    printf("after a second filter with another seed, %u, and %d are\n", after_two, OURS);
    tamis_close(today);
    tamis_close(tomorrow);
    return synchronized && after_one > after_two && after_two >= OURS ? 0 : 1;
}
