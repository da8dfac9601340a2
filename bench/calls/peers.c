/* Peers: libbloom, and shared objects that TAMIS_BENCH_PEER names, separated by colons
 * (common/peer.h). */
#include "calls.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define MOST_PEERS 32u

static const struct bench_peer *peers[MOST_PEERS];
static size_t count;

static void load(const char *path)
{
    const struct bench_peer *(*at)(unsigned);
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (object == NULL) die("TAMIS_BENCH_PEER: %s", dlerror());
    void *symbol = dlsym(object, "bench_peer_at");
    if (symbol == NULL) die("TAMIS_BENCH_PEER: %s has no bench_peer_at", path);
    memcpy(&at, &symbol, sizeof at);
    for (unsigned i = 0; at(i) != NULL; i++) {
        if (count == MOST_PEERS) die("more than %u peers", MOST_PEERS);
        peers[count++] = at(i);
    }
}

static void load_all(void)
{
    static bool done;
    const char *list = getenv("TAMIS_BENCH_PEER");
    char path[4096];
    if (done) return;
    done = true;
    peers[count++] = &LIBBLOOM;
    while (list != NULL && *list != 0) {
        const size_t n = strcspn(list, ":");
        if (n > 0) {
            snprintf(path, sizeof path, "%.*s", (int)n, list);
            load(path);
        }
        list += n + (list[n] == ':');
    }
}

const struct bench_peer *peer_at(size_t i)
{
    load_all();
    return i < count ? peers[i] : NULL;
}
