#include "ed25519.h"

#include "library.h"
#include "manifest.h"

#ifdef TAMIS_STATIC_COMMAND
#include <gmp.h>
#endif
#include <nettle/eddsa.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef void *gmp_take(size_t n);
typedef void *gmp_again(void *p, size_t old, size_t n);
typedef void gmp_give(void *p, size_t n);

static struct {
    __typeof__(&ed25519_sha512_public_key) public_key;
    __typeof__(&ed25519_sha512_sign) sign;
    __typeof__(&ed25519_sha512_verify) verify;
    void (*get_memory)(gmp_take **take, gmp_again **again, gmp_give **give);
    void (*set_memory)(gmp_take *take, gmp_again *again, gmp_give *give);
    const char *missing; /* why it cannot be used; NULL: it can */
} hogweed;

#define TEXT_OF(name) #name
#define NAME_OF(name) TEXT_OF(name) /* of what the header of nettle makes of a name */

#ifdef TAMIS_STATIC_COMMAND
static void load_hogweed(void)
{
    hogweed.public_key = ed25519_sha512_public_key;
    hogweed.sign = ed25519_sha512_sign;
    hogweed.verify = ed25519_sha512_verify;
    hogweed.get_memory = mp_get_memory_functions;
    hogweed.set_memory = mp_set_memory_functions;
}
#else
static void load_hogweed(void)
{
    const struct guard_symbol symbols[] = {
        {NAME_OF(ed25519_sha512_public_key), &hogweed.public_key},
        {NAME_OF(ed25519_sha512_sign), &hogweed.sign},
        {NAME_OF(ed25519_sha512_verify), &hogweed.verify},
        /* These two are GMP's, on which libhogweed depends. */
        {"__gmp_get_memory_functions", &hogweed.get_memory},
        {"__gmp_set_memory_functions", &hogweed.set_memory},
    };
    hogweed.missing =
        guard_library_load(GUARD_HOGWEED_FILE, symbols, sizeof symbols / sizeof *symbols);
}
#endif

bool guard_ed25519_load(guard_error *why)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load_hogweed);
    return hogweed.missing == NULL ||
           guard_fail(why, "libhogweed cannot be loaded: %.190s", hogweed.missing);
}

void guard_wipe(void *secret, size_t n)
{
    for (volatile unsigned char *at = secret; n > 0; n--) *at++ = 0;
}

/* --- GMP's memory ----------------------------------------------------------------------------- */

/* GMP ends the program when memory runs out, and leaves secrets in what it frees. During a call of
 * libhogweed it therefore gets its memory from here. A call takes less than 3 KiB. */
static struct {
    pthread_mutex_t lock;
    size_t used;
    _Alignas(16) uint8_t bytes[1 << 15];
    gmp_take *take;
    gmp_again *again;
    gmp_give *give;
} arena = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void *arena_take(size_t n)
{
    const size_t rounded = (n + 15) / 16 * 16;
    if (n > sizeof arena.bytes || rounded > sizeof arena.bytes - arena.used)
        abort(); /* GMP has no way to report it */
    arena.used += rounded;
    return arena.bytes + arena.used - rounded;
}

static void *arena_again(void *p, size_t old, size_t n)
{
    void *fresh = arena_take(n);
    memcpy(fresh, p, old < n ? old : n);
    return fresh;
}

static void arena_give(void *p, size_t n)
{
    (void)p; /* everything is given back at once, when the call is over */
    (void)n;
}

static void begin_call(void)
{
    pthread_mutex_lock(&arena.lock);
    hogweed.get_memory(&arena.take, &arena.again, &arena.give);
    hogweed.set_memory(arena_take, arena_again, arena_give);
}

/* The call had its variables on the stack below the caller's, in less than 4 KiB. */
static __attribute__((noinline)) void wipe_stack(void)
{
    uint8_t below[1 << 13];
    guard_wipe(below, sizeof below);
}

static void end_call(void)
{
    hogweed.set_memory(arena.take, arena.again, arena.give);
    guard_wipe(arena.bytes, arena.used);
    arena.used = 0;
    pthread_mutex_unlock(&arena.lock);
    wipe_stack();
}

/* --- The calls -------------------------------------------------------------------------------- */

void guard_ed25519_public(const uint8_t seed[GUARD_ED25519_KEY], uint8_t key[GUARD_ED25519_KEY])
{
    begin_call();
    hogweed.public_key(key, seed);
    end_call();
}

void guard_ed25519_sign(const uint8_t seed[GUARD_ED25519_KEY], const uint8_t key[GUARD_ED25519_KEY],
                        const void *bytes, size_t n, uint8_t signature[GUARD_ED25519_SIGNATURE])
{
    begin_call();
    hogweed.sign(key, seed, n, bytes, signature);
    end_call();
}

bool guard_ed25519_verify(const uint8_t key[GUARD_ED25519_KEY], const void *bytes, size_t n,
                          const uint8_t signature[GUARD_ED25519_SIGNATURE])
{
    begin_call();
    const bool right = hogweed.verify(key, n, bytes, signature) == 1;
    end_call();
    return right;
}
