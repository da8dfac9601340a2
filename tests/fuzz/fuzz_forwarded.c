/* Lists of trusted proxies and fields X-Forwarded-For, well formed or not. Elements that are made
 * from known addresses have a known meaning, and the client is compared with that of a simple walk
 * from the right. For other bytes, a client is one that the field names.
 *
 * ./run fuzz forwarded */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "../../guard/server/proxy.h"
#include "feed.h"

#include <arpa/inet.h>

#define MOST_ELEMENTS 24
#define MOST_FIELD 2000u

/* Addresses, and whether each belongs to one of the networks below. */
static const struct {
    const char *text;
    bool v6;
    unsigned of; /* bits of the networks that have it */
} known[] = {
    {"10.0.0.1", false, 1},
    {"10.255.0.9", false, 1},
    {"11.0.0.1", false, 0},
    {"192.0.2.7", false, 2},
    {"192.0.2.8", false, 0},
    {"0.0.0.0", false, 0},
    {"2001:db8::1", true, 4},
    {"2001:db8:1::", true, 4},
    {"2001:db9::1", true, 0},
    {"::1", true, 8},
    {"::2", true, 0},
    {"::ffff:10.0.0.1", true, 1},
    {"::ffff:11.0.0.1", true, 0},
    {"255.255.255.255", false, 0},
};
static const char *const networks[] = {"10.0.0.0/8", "192.0.2.7", "2001:db8::/32", "::1/128"};
#define KNOWN (sizeof known / sizeof *known)

static struct in6_addr mapped(const char *text)
{
    struct in6_addr a = {.s6_addr = {[10] = 0xff, [11] = 0xff}};
    if (inet_pton(AF_INET, text, a.s6_addr + 12) != 1)
        must(inet_pton(AF_INET6, text, &a) == 1, "an address");
    return a;
}

/* --- Elements whose meaning is known ---------------------------------------------------------- */

struct element {
    int address; /* the number of a known one; -1 for what is not an address */
};

static void put_element(char *to, size_t room, struct feed *f, struct element *e)
{
    static const char *const junk[] = {"",      "unknown", "unix:", "_x",
                                       "1.2.3", "::g",     "[::1",  "1.2.3.4 x"};
    static const char *const blanks[] = {"", " ", "\t", "  "};
    const uint8_t how = feed_byte(f);
    const char *before = blanks[how & 3], *after = blanks[how >> 2 & 3];
    e->address = how >= 224 ? -1 : (int)(feed_byte(f) % KNOWN);
    if (e->address < 0) {
        snprintf(to, room, "%s%s%s", before, junk[feed_byte(f) % 8], after);
        return;
    }
    const bool v6 = known[e->address].v6;
    const unsigned form = how >> 4 & 3;
    char port[16] = "";
    if (form >= 2) snprintf(port, sizeof port, ":%u", (unsigned)feed_bytes(f, 2));
    const bool brackets = v6 && form >= 1;
    snprintf(to, room, "%s%s%s%s%s%s", before, brackets ? "[" : "", known[e->address].text,
             brackets ? "]" : "", port, after);
}

/* The number of the client's address, or -1 for the one that is connected. */
static int walk_left(const struct element *e, size_t n, unsigned trusted)
{
    int at = -1;
    while (n-- > 0) {
        if (e[n].address < 0) return at;
        at = e[n].address;
        if ((known[at].of & trusted) == 0) return at;
    }
    return at;
}

static void check_known(struct feed *f, const struct guard_proxies *p, unsigned trusted)
{
    struct element e[MOST_ELEMENTS];
    struct guard_trail t = {.proxies = p};
    char field[MOST_FIELD] = "";
    size_t n = 0;
    bool any = false;
    while (n < MOST_ELEMENTS && f->left > 0) {
        char text[100];
        put_element(text, sizeof text, f, &e[n++]);
        if (any) strcat(field, ",");
        any = true;
        strcat(field, text);
        if (feed_byte(f) % 4 != 0) continue;
        guard_trail_add(&t, field);
        field[0] = '\0';
        any = false;
    }
    if (any) guard_trail_add(&t, field);
    const int client = walk_left(e, n, trusted);
    must(t.known == (client >= 0), "a client is known if its proxy names one");
    if (client < 0) return;
    const struct in6_addr wanted = mapped(known[client].text);
    must(memcmp(&t.client, &wanted, sizeof wanted) == 0, "the nearest that is not trusted");
}

/* --- Any bytes -------------------------------------------------------------------------------- */

static void check_any(struct feed *f, const struct guard_proxies *p)
{
    struct guard_trail t = {.proxies = p};
    char field[MOST_FIELD], again[INET6_ADDRSTRLEN];
    for (int i = 0; i < 4 && f->left > 0; i++) {
        feed_text(f, field, sizeof field);
        guard_trail_add(&t, field);
    }
    if (!t.known) return;
    must(inet_ntop(AF_INET6, &t.client, again, sizeof again) != NULL, "an address");
    struct guard_trail same = {.proxies = p};
    guard_trail_add(&same, again);
    must(same.known && memcmp(&same.client, &t.client, sizeof t.client) == 0, "the same client");
}

static void check_networks(struct feed *f)
{
    struct guard_proxies p = {.n = 0};
    char text[100];
    for (int i = 0; i < 20 && f->left > 0; i++) {
        const size_t before = p.n;
        feed_text(f, text, sizeof text);
        const char *wrong = guard_proxies_add(&p, text);
        must(p.n <= GUARD_PROXIES && p.n - before <= (wrong == NULL), "one for each good text");
        if (p.n > before)
            must(p.networks[before].bits >= 1 && p.networks[before].bits <= 128, "bits");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct feed f = {data, size};
    struct guard_proxies p = {.n = 0};
    const uint8_t how = feed_byte(&f);
    const unsigned trusted = how & 15;
    for (unsigned i = 0; i < 4; i++)
        if ((trusted >> i & 1) != 0) must(guard_proxies_add(&p, networks[i]) == NULL, "a network");
    if (how >> 6 == 0)
        check_networks(&f);
    else if (how >> 6 == 1)
        check_any(&f, &p);
    else
        check_known(&f, &p, trusted);
    return 0;
}
