/* Counts packets by their source in four threads, and finds sources that send too much.
 *
 *     example_packets
 *
 * All threads add to one shared tally, because a limit holds for what they have received together.
 * An add returns the count after it, and no two threads get the same count of a source, so exactly
 * one of them reports a source that passes the limit. The most frequent sources are in a top, which
 * cannot be shared: each thread has a part of it, and the parts are joined at the end. Meanwhile
 * the first thread takes a snapshot of the tally, as a server would for its dashboard.
 *
 * The packets are made up. The program knows their exact numbers, and exits with 1 if an answer
 * contradicts them. */
#include <tamis/count.h>
#include <tamis/parts.h>
#include <tamis/tamis.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 4, PACKETS = 100000, LIMIT = 150000, SHOWN = 3, FLOOD = 0x0a000001 };

static void fail(const tamis_error *why)
{
    fprintf(stderr, "%s\n", why->text);
    exit(1);
}

static void check(int condition, const char *what)
{
    if (condition) return;
    fprintf(stderr, "wrong: %s\n", what);
    exit(1);
}

/* Every other packet comes from one source, and the rest from sources of which few are
 * frequent. */
static uint32_t next_source(uint64_t *state)
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    const uint32_t r = (uint32_t)(*state >> 40);
    return r % 2 == 0 ? (uint32_t)FLOOD : 0xc0a80000 + 1000000 / (1 + r % 1000000);
}

static void address(uint32_t source, uint8_t *key) /* in network byte order */
{
    for (int i = 0; i < 4; i++) key[i] = (uint8_t)(source >> (24 - 8 * i));
}

struct receiver {
    tamis *all; /* the shared tally */
    tamis *top; /* the part of this thread */
    uint64_t id, flood, alarms;
    pthread_t thread;
};

static void *receive(void *arg)
{
    struct receiver *r = arg;
    uint64_t state = r->id;
    tamis_error why;
    for (int i = 0; i < PACKETS; i++) {
        const uint32_t source = next_source(&state);
        uint8_t key[4];
        int64_t count;
        address(source, key);
        if (tamis_add_counted(r->all, key, sizeof key, 1, &count, &why) != TAMIS_OK) fail(&why);
        if (tamis_add(r->top, key, sizeof key, NULL) != TAMIS_OK) fail(&why);
        r->alarms += count == LIMIT;
        r->flood += source == FLOOD;
    }
    return NULL;
}

/* Counts in a copy, which no thread changes. */
static void look(const tamis *all, const uint8_t *key)
{
    tamis *copy;
    tamis_error why;
    tamis_estimate e;
    if (tamis_copy(all, &copy, &why) != TAMIS_OK) fail(&why);
    if (tamis_count(copy, key, 4, &e, &why) != TAMIS_OK) fail(&why);
    check(e.upper <= THREADS * PACKETS, "a snapshot has more packets than there are");
    tamis_close(copy);
}

static void print(const tamis_heavy *h)
{
    const uint8_t *a = h->item.p;
    printf("%u.%u.%u.%u  %lld to %lld packets\n", a[0], a[1], a[2], a[3], (long long)h->count.lower,
           (long long)h->count.upper);
}

int main(void)
{
    const tamis_plan tally = {.struct_size = sizeof tally, .kind = TAMIS_TALLY, .bytes = 1 << 18};
    const tamis_plan most = {.struct_size = sizeof most, .kind = TAMIS_TOP, .bytes = 1 << 16};
    const tamis_options shared = {.struct_size = sizeof shared, .flags = TAMIS_SHARED};
    struct receiver r[THREADS];
    tamis *all, *top, *parts[THREADS];
    tamis_error why;
    uint8_t flood[4];
    address(FLOOD, flood);
    if (tamis_create(&tally, &shared, &all, &why) != TAMIS_OK) fail(&why);
    if (tamis_create(&most, NULL, &top, &why) != TAMIS_OK) fail(&why);
    for (int i = 0; i < THREADS; i++) {
        if (tamis_part(top, &parts[i], &why) != TAMIS_OK) fail(&why);
        r[i] = (struct receiver){.all = all, .top = parts[i], .id = (uint64_t)i};
        if (pthread_create(&r[i].thread, NULL, receive, &r[i]) != 0) return 1;
    }
    look(all, flood);
    uint64_t sent = 0, alarms = 0;
    for (int i = 0; i < THREADS; i++) {
        pthread_join(r[i].thread, NULL);
        sent += r[i].flood;
        alarms += r[i].alarms;
    }
    if (tamis_join(top, parts, THREADS, &why) != TAMIS_OK) fail(&why);

    tamis_heavy list[SHOWN];
    check(tamis_top(top, list, SHOWN) == SHOWN, "the list is too short");
    for (int i = 0; i < SHOWN; i++) print(&list[i]);
    printf("%llu source passed the limit of %d packets\n", (unsigned long long)alarms, LIMIT);
    check(list[0].item.len == 4 && *(const uint8_t *)list[0].item.p == flood[0],
          "the first source");
    check(list[0].count.lower <= (int64_t)sent && (int64_t)sent <= list[0].count.upper,
          "its count");
    check(tamis_upper(all, flood, 4) >= (int64_t)sent, "a count that is too low");
    check(alarms == 1, "the number of reports");
    for (int i = 0; i < THREADS; i++) tamis_close(parts[i]);
    tamis_close(top);
    tamis_close(all);
    return 0;
}
