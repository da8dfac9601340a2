/* The table of commands: one line for each, from which the server learns its commands (commands.c)
 * and the manual gets its table (tool/commands.c). Handlers find at least as many arguments as the
 * arity says. */
#ifndef TAMIS_REDIS_COMMANDS_H
#define TAMIS_REDIS_COMMANDS_H

#include "module.h"

#include <tamis/count.h>
#include <tamis/inspect.h>

/* Which arguments are keys. READ and WRITE: the first. MERGE: also those that a number counts
 * (CMS.MERGE, TDIGEST.MERGE). ALL: the first is written, and all others are read. LIST: all are
 * read, except for a word at the end (TAMIS.CARD). */
enum redis_keys {
    REDIS_KEYS_READ,
    REDIS_KEYS_WRITE,
    REDIS_KEYS_MERGE,
    REDIS_KEYS_ALL,
    REDIS_KEYS_LIST
};

#define WRITES "write deny-oom"
#define TAKES "write fast"
#define READS "readonly fast"
#define SCANS "readonly"
/* ACL reads the specification of counted keys. The routing of a cluster does not; it asks the
 * command. */
#define MERGES "write deny-oom getkeys-api"
/* No specification can except an optional word at the end, so everybody asks the command. */
#define LISTS "readonly getkeys-api"

/* X(handler, name, since, arity, flags, keys, arguments, summary)
 *
 * since is the version of RedisBloom that its manual gives for the command. For BF.MERGE and
 * TAMIS.*, which RedisBloom lacks, it is the version of Tamis. arguments are in the notation of
 * Redis: words in capitals are sent as they are, [...] is optional, [x ...] repeats x. COMMAND DOCS
 * gets its arguments from there (arguments.c). */
#define REDIS_COMMANDS_BF(X)                                                                       \
    X(bf_reserve, "BF.RESERVE", "1.0.0", -4, WRITES, WRITE,                                        \
      "key error_rate capacity [EXPANSION expansion] [NONSCALING]",                                \
      "Creates an empty Bloom filter")                                                             \
    X(bf_add, "BF.ADD", "1.0.0", 3, WRITES, WRITE, "key item",                                     \
      "Adds an item; creates the filter if necessary")                                             \
    X(bf_madd, "BF.MADD", "1.0.0", -3, WRITES, WRITE, "key item [item ...]",                       \
      "Adds items; creates the filter if necessary")                                               \
    X(bf_insert, "BF.INSERT", "1.0.0", -4, WRITES, WRITE,                                          \
      "key [CAPACITY capacity] [ERROR error] [EXPANSION expansion] [NOCREATE] [NONSCALING] ITEMS " \
      "item [item ...]",                                                                           \
      "Adds items; creates a filter with the given parameters if necessary")                       \
    X(bf_exists, "BF.EXISTS", "1.0.0", 3, READS, READ, "key item",                                 \
      "Returns whether an item may be a member")                                                   \
    X(bf_mexists, "BF.MEXISTS", "1.0.0", -3, READS, READ, "key item [item ...]",                   \
      "Returns for each item whether it may be a member")                                          \
    X(bf_card, "BF.CARD", "2.4.4", 2, READS, READ, "key",                                          \
      "Returns the number of items that were new when they were added")                            \
    X(bf_info, "BF.INFO", "1.0.0", -2, READS, READ,                                                \
      "key [CAPACITY | SIZE | FILTERS | ITEMS | EXPANSION]",                                       \
      "Returns facts about a filter, or one of them")                                              \
    X(bf_debug, "BF.DEBUG", "1.0.0", 2, READS, READ, "key",                                        \
      "Returns the parameters of every link of a filter")                                          \
    X(bf_scandump, "BF.SCANDUMP", "1.0.0", 3, READS, READ, "key iterator",                         \
      "Returns a filter in chunks")                                                                \
    X(bf_loadchunk, "BF.LOADCHUNK", "1.0.0", 4, WRITES, WRITE, "key iterator data",                \
      "Restores a filter from the chunks of BF.SCANDUMP")                                          \
    X(bf_merge, "BF.MERGE", "1.0.0", -3, WRITES, ALL, "destination source [source ...]",           \
      "Stores the union of filters of equal shape (not in RedisBloom)")

#define REDIS_COMMANDS_CF(X)                                                                       \
    X(cf_reserve, "CF.RESERVE", "1.0.0", -3, WRITES, WRITE,                                        \
      "key capacity [BUCKETSIZE bucketsize] [MAXITERATIONS maxiterations] [EXPANSION expansion]",  \
      "Creates an empty cuckoo filter")                                                            \
    X(cf_add, "CF.ADD", "1.0.0", 3, WRITES, WRITE, "key item",                                     \
      "Adds one copy of an item; creates the filter if necessary")                                 \
    X(cf_addnx, "CF.ADDNX", "1.0.0", 3, WRITES, WRITE, "key item",                                 \
      "Adds an item unless it may be a member")                                                    \
    X(cf_insert, "CF.INSERT", "1.0.0", -4, WRITES, WRITE,                                          \
      "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]",                                  \
      "Adds one copy of each item; creates the filter if necessary")                               \
    X(cf_insertnx, "CF.INSERTNX", "1.0.0", -4, WRITES, WRITE,                                      \
      "key [CAPACITY capacity] [NOCREATE] ITEMS item [item ...]",                                  \
      "Adds the items that are not members yet")                                                   \
    X(cf_exists, "CF.EXISTS", "1.0.0", 3, READS, READ, "key item",                                 \
      "Returns whether an item may be a member")                                                   \
    X(cf_mexists, "CF.MEXISTS", "1.0.0", -3, READS, READ, "key item [item ...]",                   \
      "Returns for each item whether it may be a member")                                          \
    X(cf_count, "CF.COUNT", "1.0.0", 3, READS, READ, "key item",                                   \
      "Returns an upper bound of the number of copies of an item")                                 \
    X(cf_del, "CF.DEL", "1.0.0", 3, TAKES, WRITE, "key item", "Removes one copy of an item")       \
    X(cf_compact, "CF.COMPACT", "2.2.0", 2, TAKES, WRITE, "key",                                   \
      "Moves items to older tables and drops empty tables")                                        \
    X(cf_info, "CF.INFO", "1.0.0", 2, READS, READ, "key", "Returns facts about a filter")          \
    X(cf_debug, "CF.DEBUG", "1.0.0", 2, READS, READ, "key",                                        \
      "Returns facts about a filter as one line")                                                  \
    X(cf_scandump, "CF.SCANDUMP", "1.0.0", 3, READS, READ, "key iterator",                         \
      "Returns a filter in chunks")                                                                \
    X(cf_loadchunk, "CF.LOADCHUNK", "1.0.0", 4, WRITES, WRITE, "key iterator data",                \
      "Restores a filter from the chunks of CF.SCANDUMP")

#define REDIS_COMMANDS_CMS(X)                                                                      \
    X(cms_initbydim, "CMS.INITBYDIM", "2.0.0", -4, WRITES, WRITE,                                  \
      "key width depth [CELL_SIZE cell_size]",                                                     \
      "Creates an empty Count-Min sketch of the given width and depth")                            \
    X(cms_initbyprob, "CMS.INITBYPROB", "2.0.0", -4, WRITES, WRITE,                                \
      "key error probability [CELL_SIZE cell_size]",                                               \
      "Creates an empty Count-Min sketch from an error and the probability that a count exceeds "  \
      "it")                                                                                        \
    X(cms_incrby, "CMS.INCRBY", "2.0.0", -4, WRITES, WRITE,                                        \
      "key item increment [item increment ...]",                                                   \
      "Adds an increment to the count of each item; returns the counts")                           \
    X(cms_query, "CMS.QUERY", "2.0.0", -3, SCANS, READ, "key item [item ...]",                     \
      "Returns the counts of items")                                                               \
    X(cms_merge, "CMS.MERGE", "2.0.0", -4, MERGES, MERGE,                                          \
      "destination numkeys source [source ...] [WEIGHTS weight [weight ...]]",                     \
      "Replaces a sketch by the weighted sum of others")                                           \
    X(cms_info, "CMS.INFO", "2.0.0", 2, SCANS, READ, "key", "Returns facts about a sketch")

#define REDIS_COMMANDS_TOPK(X)                                                                     \
    X(topk_reserve, "TOPK.RESERVE", "2.0.0", -3, WRITES, WRITE, "key k [width depth decay]",       \
      "Creates an empty list of the k most frequent items")                                        \
    X(topk_add, "TOPK.ADD", "2.0.0", -3, WRITES, WRITE, "key item [item ...]",                     \
      "Counts items; returns those that were dropped from the list")                               \
    X(topk_incrby, "TOPK.INCRBY", "2.0.0", -4, WRITES, WRITE,                                      \
      "key item increment [item increment ...]",                                                   \
      "Adds an increment to the count of each item; returns those that were dropped from the "     \
      "list")                                                                                      \
    X(topk_query, "TOPK.QUERY", "2.0.0", -3, SCANS, READ, "key item [item ...]",                   \
      "Returns for each item whether it is in the list")                                           \
    X(topk_count, "TOPK.COUNT", "2.0.0", -3, SCANS, READ, "key item [item ...]",                   \
      "Returns the counts of items")                                                               \
    X(topk_list, "TOPK.LIST", "2.0.0", -2, SCANS, READ, "key [WITHCOUNT]",                         \
      "Returns the most frequent items")                                                           \
    X(topk_info, "TOPK.INFO", "2.0.0", 2, SCANS, READ, "key", "Returns facts about a list")

#define REDIS_COMMANDS_TDIGEST(X)                                                                  \
    X(tdigest_create, "TDIGEST.CREATE", "2.4.0", -2, WRITES, WRITE,                                \
      "key [COMPRESSION compression]", "Creates an empty t-digest")                                \
    X(tdigest_reset, "TDIGEST.RESET", "2.4.0", 2, WRITES, WRITE, "key",                            \
      "Forgets all observations of a t-digest")                                                    \
    X(tdigest_add, "TDIGEST.ADD", "2.4.0", -3, WRITES, WRITE, "key value [value ...]",             \
      "Adds observations")                                                                         \
    X(tdigest_merge, "TDIGEST.MERGE", "2.4.0", -4, MERGES, MERGE,                                  \
      "destination numkeys source [source ...] [COMPRESSION compression] [OVERRIDE]",              \
      "Adds the observations of others to a t-digest; with OVERRIDE, replaces it by their sum")    \
    X(tdigest_min, "TDIGEST.MIN", "2.4.0", 2, READS, READ, "key",                                  \
      "Returns the smallest observation")                                                          \
    X(tdigest_max, "TDIGEST.MAX", "2.4.0", 2, READS, READ, "key",                                  \
      "Returns the greatest observation")                                                          \
    X(tdigest_quantile, "TDIGEST.QUANTILE", "2.4.0", -3, READS, READ,                              \
      "key quantile [quantile ...]",                                                               \
      "Estimates for each fraction the value below which that part of the observations is")        \
    X(tdigest_cdf, "TDIGEST.CDF", "2.4.0", -3, READS, READ, "key value [value ...]",               \
      "Estimates for each value the fraction of smaller observations, plus half of the equal "     \
      "ones")                                                                                      \
    X(tdigest_rank, "TDIGEST.RANK", "2.4.0", -3, READS, READ, "key value [value ...]",             \
      "Estimates for each value the number of smaller observations, plus half of the equal ones")  \
    X(tdigest_revrank, "TDIGEST.REVRANK", "2.4.0", -3, READS, READ, "key value [value ...]",       \
      "Estimates for each value the number of greater observations, plus half of the equal ones")  \
    X(tdigest_byrank, "TDIGEST.BYRANK", "2.4.0", -3, READS, READ, "key rank [rank ...]",           \
      "Estimates the observation of each rank; the smallest has rank 0")                           \
    X(tdigest_byrevrank, "TDIGEST.BYREVRANK", "2.4.0", -3, READS, READ,                            \
      "key reverse_rank [reverse_rank ...]",                                                       \
      "Estimates the observation of each reverse rank; the greatest has rank 0")                   \
    X(tdigest_trimmed_mean, "TDIGEST.TRIMMED_MEAN", "2.4.0", 4, SCANS, READ,                       \
      "key low_cut_percentile high_cut_percentile",                                                \
      "Estimates the mean of the observations between two fractions")                              \
    X(tdigest_info, "TDIGEST.INFO", "2.4.0", 2, READS, READ, "key",                                \
      "Returns facts about a t-digest")

#define REDIS_COMMANDS_TAMIS(X)                                                                    \
    X(tamis_create, "TAMIS.CREATE", "1.0.0", -3, WRITES, WRITE,                                    \
      "key kind [ITEMS items] [RATE rate] [BYTES bytes] [M m] [K k] [SEED seed] [CELLBITS "        \
      "cellbits] [GENERATIONS generations] "                                                       \
      "[INNER inner] [EXCLUDED excluded] [ERROR error] [DELTA delta] "                             \
      "[ENCODING encoding [width]] [STRICT] [COMPACT] [TURNING] [TRANSFER] "                       \
      "[CONSERVATIVE] [REMOVABLE]",                                                                \
      "Creates an empty filter or sketch of any kind of the library")                              \
    X(tamis_add, "TAMIS.ADD", "1.0.0", 3, WRITES, WRITE, "key item",                               \
      "Adds an item; returns whether it was new")                                                  \
    X(tamis_madd, "TAMIS.MADD", "1.0.0", -3, WRITES, WRITE, "key item [item ...]",                 \
      "Adds items; returns for each whether it was new")                                           \
    X(tamis_incrby, "TAMIS.INCRBY", "1.0.0", -4, WRITES, WRITE,                                    \
      "key item increment [item increment ...]",                                                   \
      "Adds an increment to the count of each item; some kinds accept negative increments")        \
    X(tamis_has, "TAMIS.HAS", "1.0.0", 3, READS, READ, "key item",                                 \
      "Returns whether an item may be a member")                                                   \
    X(tamis_mhas, "TAMIS.MHAS", "1.0.0", -3, READS, READ, "key item [item ...]",                   \
      "Returns for each item whether it may be a member")                                          \
    X(tamis_count, "TAMIS.COUNT", "1.0.0", -3, SCANS, READ, "key item [item ...]",                 \
      "Returns for each item the estimate, the lower bound and the upper bound of its count")      \
    X(tamis_estimate, "TAMIS.ESTIMATE", "1.0.0", -3, SCANS, READ, "key item [item ...]",           \
      "Returns for each item its count in seven fields: estimate, lower, upper, confidence, "      \
      "below-noise, certain, suspect")                                                             \
    X(tamis_value, "TAMIS.VALUE", "1.0.0", -3, READS, READ, "key item [item ...]",                 \
      "Returns for each item its value in a map, or nil if it is certainly not a key of the map")  \
    X(tamis_top, "TAMIS.TOP", "1.0.0", -2, SCANS, READ, "key [n] [FULL]",                          \
      "Returns the n (default 10) most frequent items of a top, each with its count as "           \
      "TAMIS.COUNT returns it; with FULL, each with its length, its hash and its count as "        \
      "TAMIS.ESTIMATE returns it")                                                                 \
    X(tamis_card, "TAMIS.CARD", "1.0.0", -2, LISTS, LIST, "key [key ...] [WITHINTERVAL]",          \
      "Returns the number of distinct items, of the union for several keys; with WITHINTERVAL, "   \
      "also the bounds of its 99 % confidence interval")                                           \
    X(tamis_remove, "TAMIS.REMOVE", "1.0.0", -3, TAKES, WRITE, "key item [item ...]",              \
      "Removes items; returns for each whether it was a member")                                   \
    X(tamis_exclude, "TAMIS.EXCLUDE", "1.0.0", -3, WRITES, WRITE, "key item [item ...]",           \
      "Names items that must never be taken for members, in kind exact")                           \
    X(tamis_seal, "TAMIS.SEAL", "1.0.0", 2, WRITES, WRITE, "key",                                  \
      "Seals a filter of a sealed kind, which is then read-only")                                  \
    X(tamis_rotate, "TAMIS.ROTATE", "1.0.0", -2, WRITES, WRITE, "key [TO epoch]",                  \
      "Drops the oldest generation of a window; with TO, one for each epoch since the last")       \
    X(tamis_merge, "TAMIS.MERGE", "1.0.0", -3, WRITES, ALL, "destination source [source ...]",     \
      "Stores the union of filters or sketches of equal shape")                                    \
    X(tamis_info, "TAMIS.INFO", "1.0.0", -2, SCANS, READ, "key [FULL]",                            \
      "Returns facts about a filter or sketch in constant time; with FULL, also those that are "   \
      "computed from all its cells")                                                               \
    X(tamis_dump, "TAMIS.DUMP", "1.0.0", -2, SCANS, READ, "key [offset count]",                    \
      "Returns the image, which is a file for the command tamis, or count bytes of it")            \
    X(tamis_load, "TAMIS.LOAD", "1.0.0", -3, WRITES, WRITE, "key image [REPLACE]",                 \
      "Creates a filter or sketch from an image, which may be a file of the command tamis")        \
    X(tamis_loadparts, "TAMIS.LOADPARTS", "1.0.0", -3, WRITES, ALL,                                \
      "destination source [source ...]",                                                           \
      "Replaces a key by the filter or sketch whose image the strings at the sources make up")

#define REDIS_COMMANDS(X)                                                                          \
    REDIS_COMMANDS_BF(X)                                                                           \
    REDIS_COMMANDS_CF(X)                                                                           \
    REDIS_COMMANDS_CMS(X)                                                                          \
    REDIS_COMMANDS_TOPK(X)                                                                         \
    REDIS_COMMANDS_TDIGEST(X)                                                                      \
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

/* Reports the positions of the keys of a command with REDIS_KEYS_MERGE when the server asks. */
int redis_tell_merge_keys(redis_ctx *ctx, redis_string **argv, int argc);

#define REDIS_HANDLER(handler, name, since, arity, flags, keys, arguments, summary)                \
    redis_command_function redis_##handler;
REDIS_COMMANDS(REDIS_HANDLER)
#undef REDIS_HANDLER

#endif
