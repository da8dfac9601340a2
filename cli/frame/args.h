/* The arguments of a command line, as options.c parses them. The options of all commands are in one
 * struct, in groups: a function takes the group that it uses. A field is zero or NULL when its
 * option was not given. */
#ifndef TAMIS_CLI_ARGS_H
#define TAMIS_CLI_ARGS_H

#include <stdbool.h>
#include <stdint.h>

/* The values of an option that may be given several times. */
struct texts {
    char *text[16];
    int n;
};

/* The filter or sketch to be made (filters/request.h). */
struct plan_args {
    const char *kind, *inner, *encoding;
    uint64_t items, bytes, m, k, counter_bits, generations, seed;
    bool seeded; /* --seed was given, which may be 0 */
    double fpr;
    double error, delta; /* sketches */
    bool conservative;   /* count-min */
    bool is_static, strict, compact, turning, for_transfer, removable;
    struct texts never;   /* files of lines that an exact filter excludes, */
    uint64_t never_items; /* and how many lines they have */
    double headroom;      /* build */
    bool grow;            /* add */
    struct texts list;    /* add: the lines of the filter so far */
};

/* How the input becomes lines and keys (input/lines.h, input/fields.h). */
struct column {
    const char *text; /* as it was given; NULL: it was not */
    uint64_t number;  /* from 1; 0: it is a name */
};
struct line_args {
    bool nul, raw, crlf;
    bool csv, tsv, jsonl, header;
    bool strict; /* a line that cannot be read is an error */
    struct column field, weight_field, value_field, list_field, group_field;
    int delimiter;        /* a byte, or BLANKS (input/fields.h) */
    const char *unpacked; /* the only file is a copy, unpacked, of what has this name */
};

/* What the work may take. */
struct work_args {
    uint64_t threads, memory;
    const char *temp;
};

/* The file to be written. */
struct output_args {
    const char *path;
    bool force, overfill;
};

/* The secret key (commands/key.h). */
struct key_args {
    const char *file;
    const uint8_t *bytes; /* what the file holds, or NULL */
};

/* Keys that sign and public keys (commands/sign.h). */
struct sign_args {
    bool pair;            /* key new: a pair of keys for signatures */
    const char *seckey;   /* sign */
    struct texts keys;    /* guard build */
    struct texts pubkeys; /* verify, guard check, guard serve */
    double expires;       /* guard build: seconds */
    const char *state;    /* guard check, guard serve */
};

/* Filters of other programs (filters/foreign.h). */
struct foreign_args {
    const char *to, *from, *type, *column, *row_group;
};

/* Which lines check and uniq print, and how. */
struct select_args {
    bool invert, count, total, numbers, names, only_names;
    uint64_t most_lines;
};

struct check_args {
    struct texts patterns;
    const char *confirm;
    double prior;
};

struct uniq_args {
    uint64_t exact_until;
    const char *state, *window;
};

/* diff: the columns that are not printed */
struct diff_args {
    bool no_first, no_second, no_common;
};

struct rotate_args {
    uint64_t to;  /* an epoch */
    double every; /* seconds */
};

struct top_args {
    uint64_t most;
    double min;
    bool live;
};

struct release_args {
    double epsilon;
    bool again;
};

/* Pictures of plans and filters (commands/plot.h). */
struct picture_args {
    bool plot;
    const char *svg;
};

/* explain cost */
struct cost_args {
    uint64_t visits;
    const char *bad;
    double lookup, confirm_time; /* seconds */
};

/* Sets at redis:// addresses (redis/redis.h). */
struct redis_args {
    uint64_t shards, replicas;
    bool ack, each;
    double timeout;                        /* seconds */
    const char *cacert, *cert, *key, *sni; /* TLS */
    const char *password_file;
};

/* migrate */
struct migrate_args {
    const char *match;
    bool dry_run, replace;
};

struct guard_args {
    uint64_t max_bytes, rate_limit, connections, per_address;
    bool lenient, labelled;
    const char *address, *port;
    struct texts host_names, proxies;
    const char *metrics_address, *access_log, *log_clients;
    double timeout, cache;        /* seconds */
    const char *sources, *cacert; /* fetch */
};

/* help */
struct page_args {
    bool man;
    const char *completions;
};

struct args {
    const struct command *command;
    char **words; /* the arguments that are not options */
    int n_words;
    bool quiet, json, help, short_help;
    const char *color;

    struct plan_args plan;
    struct line_args lines;
    struct work_args work;
    struct output_args output;
    struct key_args key;
    struct sign_args sign;
    struct foreign_args foreign;
    struct select_args select;
    struct check_args check;
    struct uniq_args uniq;
    struct diff_args diff;
    struct rotate_args rotate;
    struct top_args top;
    bool interval; /* distinct */
    struct release_args release;
    struct picture_args picture;
    struct cost_args cost;
    struct redis_args redis;
    struct migrate_args migrate;
    struct guard_args guard;
    struct page_args pages;
    const char *ask; /* explain */
    uint64_t keys;   /* verify */
};

/* Fills *out, whose command must be set. False after a message when the arguments are wrong. */
bool parse_args(int argc, char **argv, struct args *out);

/* 1000000, 1e6, 1M, 1m, 2MB, 2MiB, 2mib. */
bool parse_number(const char *text, uint64_t *out);
/* 0.5, 0.5s, 500ms, 20us, 90ns, 5m, 1h, 1d: above 0. */
bool parse_seconds(const char *text, double *out);
/* 0.01, 1%, 1/100: above 0 and below 1. */
bool parse_rate(const char *text, double *out);

#endif
