/* The functions for one key. Most programs pass one key per call, and then every instruction
 * counts: the fewer there are, the more calls the processor executes while it waits for memory. So
 * each handle has functions that query and add (struct tamis.single), which are chosen when it is
 * made and when it is sealed, and the public call only jumps there.
 *
 * A kind may have functions of its own for keys that are hashed by XXH3 (struct kind.single). All
 * other keys go through the general functions (single.c): secret keys, keys of a fixed length other
 * than 8 bytes, handles that threads share, except blocked filters, and adds to handles that are
 * strict or read-only.
 *
 * The functions of a kind have no loop over keys and no batch in memory, and the hash of an 8-byte
 * key is inlined. Keys of other lengths take a second function, so that the first
 * needs no frame for the call of XXH3. */
#ifndef TAMIS_SINGLE_H
#define TAMIS_SINGLE_H

#include "encoding.h"

/* Chooses the functions of the handle. To be called whenever its kind, sections, hash function, key
 * length, or what restricts its adds has changed. */
void tamis__choose(tamis *t);

/* The general functions. */
bool tamis__ask_any(const tamis *t, const void *key, size_t len);
tamis_status tamis__add_any(tamis *t, const void *key, size_t len, bool *seen);

/* Whether the handle has functions of its kind instead of the general ones. */
static inline bool tamis__asks_by_kind(const tamis *t)
{
    return t->single.ask != tamis__ask_any;
}

static inline bool tamis__adds_by_kind(const tamis *t)
{
    return t->single.add != tamis__add_any;
}

/* These functions have no array that a key could overflow, so the stack protector would only add
 * instructions. It is turned off in case an inlined helper makes the compiler insert it. */
#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 11)
#define TAMIS__LEAF __attribute__((no_stack_protector))
#else
#define TAMIS__LEAF
#endif

/* Counts a key that was added to a filter that is not shared. Without a branch, because nobody can
 * predict whether it is new. A hostile image may have UINT64_MAX items already. */
static inline tamis_status tamis__count_one(tamis *t, bool known, bool *seen)
{
    uint64_t items;
    const bool over = __builtin_add_overflow(t->items, (uint64_t)!known, &items);
    t->items = items - over;
    t->changed |= !known;
    if (seen != NULL) *seen = known;
    return TAMIS_OK;
}

/* Defines the functions single_NAME_ask and single_NAME_ask_hash for a kind. `has` is a function
 * that is always inlined and returns whether the sections may contain a hash. TARGET is empty or
 * the attribute of an instruction set. */
#define TAMIS__ASK_SINGLE(name, TARGET, has)                                                       \
    TARGET TAMIS__SPECIALIZED bool single_##name##_within(const tamis *t, tamis_hash h)            \
    {                                                                                              \
        return has(t->body.sections, h);                                                           \
    }                                                                                              \
    TAMIS__ASK_SINGLE_BY(name, TARGET, single_##name##_within)

/* The same if `has` takes the handle. */
#define TAMIS__ASK_SINGLE_BY(name, TARGET, has)                                                    \
    TARGET TAMIS__LEAF static bool single_##name##_ask_hash(const tamis *t, tamis_hash h)          \
    {                                                                                              \
        return has(t, h);                                                                          \
    }                                                                                              \
    TARGET TAMIS__LEAF static TAMIS__APART bool single_##name##_ask_other(                         \
        const tamis *t, const void *key, size_t len)                                               \
    {                                                                                              \
        if (tamis__wrong_length(t, len)) return true;                                              \
        return has(t, tamis__xxh3(key, len, t->hasher.seed));                                      \
    }                                                                                              \
    TARGET TAMIS__LEAF static bool single_##name##_ask(const tamis *t, const void *key,            \
                                                       size_t len)                                 \
    {                                                                                              \
        if (len != 8) return single_##name##_ask_other(t, key, len);                               \
        return has(t, tamis__xxh3_word(t->hasher.flip, tamis__get64(key)));                        \
    }

/* The same for single_NAME_add and single_NAME_add_hash. `put` adds the hash to the sections and
 * returns whether it appeared to be a member before. */
#define TAMIS__ADD_SINGLE(name, TARGET, put)                                                       \
    TARGET TAMIS__SPECIALIZED tamis_status single_##name##_counting(tamis *t, tamis_hash h,        \
                                                                    bool *seen)                    \
    {                                                                                              \
        return tamis__count_one(t, put(t->body.sections, h), seen);                                \
    }                                                                                              \
    TAMIS__ADD_SINGLE_BY(name, TARGET, single_##name##_counting)

/* The same if `put` takes the handle, counts, and sets *seen. */
#define TAMIS__ADD_SINGLE_BY(name, TARGET, put)                                                    \
    TARGET TAMIS__LEAF static tamis_status single_##name##_add_hash(tamis *t, tamis_hash h,        \
                                                                    bool *seen)                    \
    {                                                                                              \
        return put(t, h, seen);                                                                    \
    }                                                                                              \
    TARGET TAMIS__LEAF static TAMIS__APART tamis_status single_##name##_add_other(                 \
        tamis *t, const void *key, size_t len, bool *seen)                                         \
    {                                                                                              \
        if (tamis__wrong_length(t, len)) {                                                         \
            if (seen != NULL) *seen = false;                                                       \
            return TAMIS_EINVAL;                                                                   \
        }                                                                                          \
        const tamis_hash h = tamis__xxh3(key, len, t->hasher.seed);                                \
        return put(t, h, seen);                                                                    \
    }                                                                                              \
    TARGET TAMIS__LEAF static tamis_status single_##name##_add(tamis *t, const void *key,          \
                                                               size_t len, bool *seen)             \
    {                                                                                              \
        if (len != 8) return single_##name##_add_other(t, key, len, seen);                         \
        const tamis_hash h = tamis__xxh3_word(t->hasher.flip, tamis__get64(key));                  \
        return put(t, h, seen);                                                                    \
    }

#endif
