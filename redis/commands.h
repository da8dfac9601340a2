/* The table of commands: one line for each, from which the server learns its commands (commands.c)
 * and the manual gets its table (tool/commands.c). Handlers find at least as many arguments as the
 * arity says. */
#ifndef TAMIS_REDIS_COMMANDS_H
#define TAMIS_REDIS_COMMANDS_H

#include "module.h"

/* Which arguments are keys: READ and WRITE the first; MERGE also those that a number counts
 * (CMS.MERGE); ALL, the first to be written and all others to be read. */
enum redis_keys { REDIS_KEYS_READ, REDIS_KEYS_WRITE, REDIS_KEYS_MERGE, REDIS_KEYS_ALL };

#define WRITES "write deny-oom"
#define TAKES "write fast"
#define READS "readonly fast"
#define SCANS "readonly"
/* The routing of a cluster, other than ACL, does not read the specification of counted keys: it
 * asks. */
#define MERGES "write deny-oom getkeys-api"

/* X(handler, name, since, arity, flags, keys, arguments, summary)
 *
 * since is the version of RedisBloom that its manual gives for the command; of BF.MERGE and
 * TAMIS.*, which it lacks, the version of Tamis. arguments are in the notation of Redis: words in
 * capitals are sent as they are, [...] is optional, [x ...] repeats x. COMMAND DOCS gets its
 * arguments from there (arguments.c). */
#define REDIS_COMMANDS_BF(X)                                                                       \
    X(bf_reserve, "BF.RESERVE", "1.0.0", -4, WRITES, WRITE,                                        \
      "key error_rate capacity [EXPANSION expansion] [NONSCALING]", "makes an empty Bloom filter") \
    X(bf_add, "BF.ADD", "1.0.0", 3, WRITES, WRITE, "key item",                                     \
      "adds an item, to a new filter if need be")                                                  \
    X(bf_madd, "BF.MADD", "1.0.0", -3, WRITES, WRITE, "key item [item ...]", "adds items")         \
    X(bf_insert, "BF.INSERT", "1.0.0", -4, WRITES, WRITE,                                          \
      "key [CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS " \
      "item [item ...]",                                                                           \
      "adds items, to a new filter of that shape if need be")                                      \
    X(bf_exists, "BF.EXISTS", "1.0.0", 3, READS, READ, "key item", "whether an item may be in")    \
    X(bf_mexists, "BF.MEXISTS", "1.0.0", -3, READS, READ, "key item [item ...]",                   \
      "whether items may be in")                                                                   \
    X(bf_card, "BF.CARD", "2.4.4", 2, READS, READ, "key",                                          \
      "how many items were new when they came")                                                    \
    X(bf_info, "BF.INFO", "1.0.0", -2, READS, READ,                                                \
      "key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]",                                       \
      "facts about a filter, or one of them")                                                      \
    X(bf_debug, "BF.DEBUG", "1.0.0", 2, READS, READ, "key", "every link of a filter")              \
    X(bf_scandump, "BF.SCANDUMP", "1.0.0", 3, READS, READ, "key iterator", "a filter in pieces")   \
    X(bf_loadchunk, "BF.LOADCHUNK", "1.0.0", 4, WRITES, WRITE, "key iterator data",                \
      "a filter from pieces of BF.SCANDUMP")                                                       \
    X(bf_merge, "BF.MERGE", "0.1.0", -3, WRITES, ALL, "destination source [source ...]",           \
      "the union of filters of equal shape (not in RedisBloom)")

#define REDIS_COMMANDS_CF(X)                                                                       \
    X(cf_reserve, "CF.RESERVE", "1.0.0", -3, WRITES, WRITE,                                        \
      "key capacity [BUCKETSIZE bucketsize] [MAXITERATIONS maxiterations] [EXPANSION expansion]",  \
      "makes an empty cuckoo filter")                                                              \
    X(cf_add, "CF.ADD", "1.0.0", 3, WRITES, WRITE, "key item", "adds one copy of an item")         \
    X(cf_addnx, "CF.ADDNX", "1.0.0", 3, WRITES, WRITE, "key item",                                 \
      "adds an item unless it may be in")                                                          \
    X(cf_insert, "CF.INSERT", "1.0.0", -4, WRITES, WRITE,                                          \
      "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]", "adds one copy of each item")    \
    X(cf_insertnx, "CF.INSERTNX", "1.0.0", -4, WRITES, WRITE,                                      \
      "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]",                                  \
      "adds the items that are not in yet")                                                        \
    X(cf_exists, "CF.EXISTS", "1.0.0", 3, READS, READ, "key item", "whether an item may be in")    \
    X(cf_mexists, "CF.MEXISTS", "1.0.0", -3, READS, READ, "key item [item ...]",                   \
      "whether items may be in")                                                                   \
    X(cf_count, "CF.COUNT", "1.0.0", 3, READS, READ, "key item",                                   \
      "how many copies of an item may be in")                                                      \
    X(cf_del, "CF.DEL", "1.0.0", 3, TAKES, WRITE, "key item", "takes one copy of an item away")    \
    X(cf_compact, "CF.COMPACT", "2.2.0", 2, TAKES, WRITE, "key",                                   \
      "moves items to older tables and drops empty ones")                                          \
    X(cf_info, "CF.INFO", "1.0.0", 2, READS, READ, "key", "facts about a filter")                  \
    X(cf_debug, "CF.DEBUG", "1.0.0", 2, READS, READ, "key", "the same as one line")                \
    X(cf_scandump, "CF.SCANDUMP", "1.0.0", 3, READS, READ, "key iterator", "a filter in pieces")   \
    X(cf_loadchunk, "CF.LOADCHUNK", "1.0.0", 4, WRITES, WRITE, "key iterator data",                \
      "a filter from pieces of CF.SCANDUMP")

#define REDIS_COMMANDS_CMS(X)                                                                      \
    X(cms_initbydim, "CMS.INITBYDIM", "2.0.0", -4, WRITES, WRITE,                                  \
      "key width depth [CELL_SIZE cell_size]", "makes an empty Count-Min sketch")                  \
    X(cms_initbyprob, "CMS.INITBYPROB", "2.0.0", -4, WRITES, WRITE,                                \
      "key error probability [CELL_SIZE cell_size]",                                               \
      "makes one by how wrong it may be, and how often")                                           \
    X(cms_incrby, "CMS.INCRBY", "2.0.0", -4, WRITES, WRITE,                                        \
      "key item increment [item increment ...]",                                                   \
      "adds increment to the count of each item; replies with the counts")                         \
    X(cms_query, "CMS.QUERY", "2.0.0", -3, SCANS, READ, "key item [item ...]", "counts of items")  \
    X(cms_merge, "CMS.MERGE", "2.0.0", -4, MERGES, MERGE,                                          \
      "destination numkeys source [source ...] [WEIGHTS weight [weight ...]]",                     \
      "replaces a sketch by the weighted sum of others")                                           \
    X(cms_info, "CMS.INFO", "2.0.0", 2, SCANS, READ, "key", "facts about a sketch")

#define REDIS_COMMANDS_TOPK(X)                                                                     \
    X(topk_reserve, "TOPK.RESERVE", "2.0.0", -3, WRITES, WRITE, "key k [width depth decay]",       \
      "makes an empty list of the k most frequent items")                                          \
    X(topk_add, "TOPK.ADD", "2.0.0", -3, WRITES, WRITE, "key item [item ...]",                     \
      "counts items; replies with those that had to go")                                           \
    X(topk_incrby, "TOPK.INCRBY", "2.0.0", -4, WRITES, WRITE,                                      \
      "key item increment [item increment ...]",                                                   \
      "adds increment to the count of each item; replies with those that had to go")               \
    X(topk_query, "TOPK.QUERY", "2.0.0", -3, SCANS, READ, "key item [item ...]",                   \
      "whether items are among the most frequent")                                                 \
    X(topk_count, "TOPK.COUNT", "2.0.0", -3, SCANS, READ, "key item [item ...]",                   \
      "counts of items")                                                                           \
    X(topk_list, "TOPK.LIST", "2.0.0", -2, SCANS, READ, "key [WITHCOUNT]",                         \
      "the most frequent items")                                                                   \
    X(topk_info, "TOPK.INFO", "2.0.0", 2, SCANS, READ, "key", "facts about a list")

#define REDIS_COMMANDS_TAMIS(X)                                                                    \
    X(tamis_create, "TAMIS.CREATE", "0.1.0", -3, WRITES, WRITE,                                    \
      "key kind [ITEMS items] [RATE rate] [BYTES bytes] [M m] [K k] [SEED seed] [CELLBITS "        \
      "cellbits] [GENERATIONS generations] "                                                       \
      "[INNER inner] [EXCLUDED excluded] [ERROR error] [DELTA delta] [STRICT] [COMPACT] "          \
      "[TURNING] [TRANSFER] "                                                                      \
      "[CONSERVATIVE]",                                                                            \
      "makes an empty structure of any kind of the library")                                       \
    X(tamis_add, "TAMIS.ADD", "0.1.0", 3, WRITES, WRITE, "key item",                               \
      "adds an item; whether it was new")                                                          \
    X(tamis_madd, "TAMIS.MADD", "0.1.0", -3, WRITES, WRITE, "key item [item ...]",                 \
      "adds items; whether each was new")                                                          \
    X(tamis_incrby, "TAMIS.INCRBY", "0.1.0", -4, WRITES, WRITE,                                    \
      "key item increment [item increment ...]",                                                   \
      "adds increment, in some kinds also a negative one, to the count of each item")              \
    X(tamis_has, "TAMIS.HAS", "0.1.0", 3, READS, READ, "key item", "whether an item may be in")    \
    X(tamis_mhas, "TAMIS.MHAS", "0.1.0", -3, READS, READ, "key item [item ...]",                   \
      "whether items may be in")                                                                   \
    X(tamis_count, "TAMIS.COUNT", "0.1.0", -3, SCANS, READ, "key item [item ...]",                 \
      "how often items came: best guess, least and most of each")                                  \
    X(tamis_estimate, "TAMIS.ESTIMATE", "0.1.0", -3, SCANS, READ, "key item [item ...]",           \
      "how often items came, and what that is worth: estimate, lower, upper, confidence, "         \
      "below-noise, certain, suspect")                                                             \
    X(tamis_top, "TAMIS.TOP", "0.1.0", -2, SCANS, READ, "key [n] [FULL]",                          \
      "the n (10) most frequent items: each, and its count as TAMIS.COUNT tells it; with FULL: "   \
      "its length and hash, and its count as TAMIS.ESTIMATE tells it; kind top")                   \
    X(tamis_remove, "TAMIS.REMOVE", "0.1.0", -3, TAKES, WRITE, "key item [item ...]",              \
      "takes items away; whether each was in")                                                     \
    X(tamis_exclude, "TAMIS.EXCLUDE", "0.1.0", -3, WRITES, WRITE, "key item [item ...]",           \
      "items that get a certain no, in kind exact")                                                \
    X(tamis_seal, "TAMIS.SEAL", "0.1.0", 2, WRITES, WRITE, "key",                                  \
      "solves a static kind; read-only from then on")                                              \
    X(tamis_rotate, "TAMIS.ROTATE", "0.1.0", 2, WRITES, WRITE, "key",                              \
      "forgets the oldest generation of a window")                                                 \
    X(tamis_merge, "TAMIS.MERGE", "0.1.0", -3, WRITES, ALL, "destination source [source ...]",     \
      "the union of structures of equal shape")                                                    \
    X(tamis_info, "TAMIS.INFO", "0.1.0", 2, SCANS, READ, "key",                                    \
      "facts about a structure, as it is now")                                                     \
    X(tamis_dump, "TAMIS.DUMP", "0.1.0", 2, SCANS, READ, "key",                                    \
      "the image: what the tamis command opens")                                                   \
    X(tamis_load, "TAMIS.LOAD", "0.1.0", -3, WRITES, WRITE, "key image [REPLACE]",                 \
      "a structure from an image, or a file of the tamis command")

#define REDIS_COMMANDS(X)                                                                          \
    REDIS_COMMANDS_BF(X)                                                                           \
    REDIS_COMMANDS_CF(X)                                                                           \
    REDIS_COMMANDS_CMS(X)                                                                          \
    REDIS_COMMANDS_TOPK(X)                                                                         \
    REDIS_COMMANDS_TAMIS(X)

#define REDIS_KEY_READ (REDIS_KEY_RO | REDIS_KEY_ACCESS)
#define REDIS_KEY_WRITE (REDIS_KEY_RW | REDIS_KEY_UPDATE | REDIS_KEY_ACCESS)

/* Where the arguments of one command are put together. */
#define REDIS_MOST_ARGUMENTS 64u
struct redis_arguments {
    struct redis_argument list[REDIS_MOST_ARGUMENTS];
    size_t used, text_used;
    char text[512];
};
/* What SetCommandInfo takes, from the line of the table above; it lies in the room. NULL if the
 * line is not in that notation, or too long. */
struct redis_argument *redis_arguments(const char *line, struct redis_arguments *room);

#define REDIS_HANDLER(handler, name, since, arity, flags, keys, arguments, summary)                \
    redis_command_function redis_##handler;
REDIS_COMMANDS(REDIS_HANDLER)
#undef REDIS_HANDLER

#endif
