/* What the files of the command line share: the arguments, messages, input lines, output. */
#ifndef TAMIS_CLI_H
#define TAMIS_CLI_H

#include <tamis/count.h>
#include <tamis/inspect.h>
#include <tamis/tamis.h>

#include <stdio.h>
#include <sys/types.h>

/* grep's: something was found or done; nothing was found; an error. */
enum { EXIT_FOUND = 0, EXIT_NONE = 1, EXIT_ERROR = 2 };

/* --- Arguments (commands.c, options.c, manual.c) ---------------------------------------------- */

/* Of an option that may come several times. */
struct texts {
    char *text[16];
    int n;
};

/* Values of all options of all commands; zero or NULL where one was not given. */
struct args {
    const struct command *command;
    char **words; /* what is not an option */
    int n_words;

    uint64_t items, bytes, seed, m, k, keys, threads, counter_bits, generations, never_items,
        max_bytes, rate_limit, memory, exact_until, connections, per_address, field, weight_field,
        list_field, most_lines, visits, item_bytes, most, shards, replicas;
    double fpr, lookup, error, delta, min, epsilon, prior;
    double confirm_time, timeout, cache; /* seconds */
    const char *kind, *inner, *from, *to, *type, *column, *row_group, *output, *key_file, *ask,
        *address, *port, *temp, *state, *window, *svg, *bad, *color, *completions, *confirm;
    struct texts never, patterns;
    const uint8_t *key; /* what --key-file holds, or NULL */
    bool force, invert, count, total, quiet, nul, raw, json, strict, compact, turning, is_static,
        for_transfer, conservative, live, plot, again, ack, each, lenient, number, names,
        only_names, overfill, help, man;
    bool seeded;   /* --seed was given, which may be 0 */
    int delimiter; /* a byte, or BLANKS (fields.h) */
};

struct command {
    const char *name, *words, *summary;
    const char *text;    /* for --help and the manual, which make lines of it */
    const char *example; /* may be of several lines */
    const char *options; /* names of those it takes, in one string with blanks between */
    int least_words;
    int (*run)(const struct args *a);
};
extern const struct command commands[];

/* 1000000, 1e6, 1M, 1m, 2MB, 2MiB, 2mib. */
bool parse_number(const char *text, uint64_t *out);
/* 0.5, 0.5s, 500ms, 20us, 90ns, 5m, 1h, 1d: above 0. */
bool parse_seconds(const char *text, double *out);
/* 0.01, 1%, 1/100: above 0 and below 1. */
bool parse_rate(const char *text, double *out);
/* False after a message when the line makes no sense. */
bool parse_args(int argc, char **argv, struct args *out);
/* Says how the command is used. Returns EXIT_ERROR. */
int complain_usage(const struct command *c);
void print_help(const struct command *c, FILE *to); /* NULL: of the program */
void print_manual(FILE *to);
/* The plan that the options ask for (request.c); false after a message. */
bool plan_from(const struct args *a, tamis_plan *out);
/* The same for a sketch, which tells how often. */
bool sketch_from(const struct args *a, tamis_plan *out);
/* The same, or a window of such. */
bool counts_from(const struct args *a, tamis_plan *out);
/* The same as plan_from for another kind, without what that kind does not know. */
void plan_for_kind(tamis_plan *p, uint32_t kind);
/* Every kind of filter has a number below this one; from it on they tell how often. */
enum { KIND_END = TAMIS_COUNT_MIN };

int run_plan(const struct args *a);
int run_build(const struct args *a);
int run_add(const struct args *a);
int run_remove(const struct args *a);
int run_rotate(const struct args *a);
int run_compact(const struct args *a);
int run_convert(const struct args *a);
int run_pack(const struct args *a);
int run_unpack(const struct args *a);
int run_release(const struct args *a);
int run_check(const struct args *a);
int run_uniq(const struct args *a);
int run_count(const struct args *a);
int run_freq(const struct args *a);
int run_top(const struct args *a);
int run_merge(const struct args *a);
int run_compare(const struct args *a);
int run_info(const struct args *a);
/* Of what info says, for a set at a redis:// address as well: how many distinct items the bits
 * tell, with the interval, if they do; bytes, bits per item and the bound, without the line's end;
 * both as members of an object. */
void print_distinct(const tamis_facts *f);
void print_bound(const tamis_facts *f);
void json_bound(const tamis_facts *f);
int run_verify(const struct args *a);
int run_explain(const struct args *a);
int run_explain_cost(const struct args *a);
int run_key_new(const struct args *a);
int run_key_id(const struct args *a);
int run_help(const struct args *a);
/* Whether a filter among the arguments is a set at a redis:// address, and the command for these
 * (redis.c). */
bool names_redis(const struct args *a);
int run_redis(const struct args *a);
/* EXIT_ERROR after a message when an option is only for such sets. */
int check_no_redis_options(const struct args *a);
#ifdef WITH_GUARD
int run_guard_build(const struct args *a);
int run_guard_check(const struct args *a);
int run_guard_explain(const struct args *a);
int run_guard_serve(const struct args *a);
#endif

/* --- Messages and output (output.c) ----------------------------------------------------------- */

/* "tamis: about: reason" on stderr; about may be NULL. Returns EXIT_ERROR. */
int complain(const char *about, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* 1234567 as "1,234,567", in a ring of static buffers that serves a few calls at once. */
const char *grouped(uint64_t v);
/* The same of what may be no number, or beyond any: what servers say may be anything. */
const char *grouped_real(double x);
/* A probability as "0.98 % (1 in 102)", likewise. */
const char *rate_text(double rate);

/* A count and its interval, in columns: "100  98..100", with ~ where it may be noise, ? where it is
 * suspect; "98+  98.." where it is that or more. */
void print_count(const tamis_estimate *e);
/* An item as it is; on a terminal with its control bytes escaped. */
void print_item(tamis_bytes item);

/* JSON, one object at a time: members are separated as needed. */
void json_open(char bracket);
void json_close(char bracket);
void json_text(const char *name, const char *value); /* name NULL: of a list */
void json_text_n(const char *name, const char *value, size_t length);
/* What may be any bytes: where they are not UTF-8, with a member name_hex that tells them apart. */
void json_key(const char *name, tamis_bytes key);
void json_list(const char *name); /* ends with json_close(']') */
void json_count(const char *name, uint64_t value);
void json_integer(const char *name, int64_t value);
void json_number(const char *name, double value); /* null unless finite */
void json_bool(const char *name, bool value);
void json_frequency(const tamis_estimate *e); /* members of an object */
void json_heavy(const tamis_heavy *h);
/* A line of freq: a count and its item, or an object. */
void print_frequency(const struct args *a, tamis_bytes item, const tamis_estimate *e);
/* An item of a list, of which only the beginning, or nothing but its hash, may be kept. */
void print_heavy_item(const tamis_heavy *h);

/* Whether a write to stdout has failed; asked right after writing, it keeps the reason for
 * finish_output. */
bool output_failed(void);
/* What is known now, is seen now. */
void flush_output(void);
/* Flush stdout; EXIT_ERROR after a message when anything was not written. */
int finish_output(int status);

/* Of a clock that only goes forward (terminal.c). */
double seconds_now(void);

/* A line on stderr about long work, only on a terminal (terminal.c). */
struct progress {
    const char *verb;
    uint64_t lines, bytes, total_bytes; /* total 0: unknown */
    double started, shown;
    bool wanted;
};
void progress_start(struct progress *p, const char *verb, uint64_t total_bytes, bool quiet);
void progress_update(struct progress *p, uint64_t lines, uint64_t bytes);
void progress_end(struct progress *p);

/* --- Secret keys (key.c) ---------------------------------------------------------------------- */

/* Read --key-file, if there is one, into a->key; false after a message. */
bool read_key(struct args *a);
/* Wipe it. */
void forget_key(struct args *a);
/* In hexadecimal, until the next call. */
const char *key_id_text(const uint8_t id[16]);

/* --- Filters (filter.c) ----------------------------------------------------------------------- */

/* How many threads to use: --threads, or one per processor. */
unsigned threads_from(const struct args *a);
/* A filter of one item with the seed or key of the arguments, only to hash with; NULL after a
 * message. */
tamis *make_hasher(const struct args *a);
/* The filter that `tamis build` would make of the words of these arguments, not sealed (build.c);
 * NULL after a message. */
tamis *build_filter(const struct args *a);
/* Whether warn_if_over_full may have something to say about the filter in a file, by tamis_stat
 * alone: tamis_info reads all cells, which takes 0.27 s for 1 GB, almost as long as opening it.
 * True where that is not enough. */
bool may_need_warning(const char *path);
/* EXIT_ERROR after a message when lines cannot be hashed for this filter. */
int check_hashable(const tamis *t, const char *path);
/* Whether bytes begin as an image does. */
#define IMAGE_MAGIC_BYTES (sizeof TAMIS_IMAGE_MAGIC - 1)
bool is_image_begin(const void *bytes, size_t n);
/* Whether two paths lead to the same file. */
bool same_file(const char *a, const char *b);
/* How messages name a filter: "standard input" for "-". */
const char *shown(const char *path);
/* The same for an output: "standard output" for "-". */
const char *shown_output(const char *path);
/* NULL after a message. Without TAMIS_UPDATE it may also come by a pipe, or by standard input for
 * "-". */
tamis *open_filter(const struct args *a, const char *path, uint32_t flags);
/* Save to a path, or to stdout for "-"; EXIT_FOUND, or EXIT_ERROR after a message. */
int save_filter(tamis *t, const char *path, bool replace);
/* The same, packed; tells how many bytes it has. */
int save_packed(tamis *t, const char *path, bool replace, uint64_t *bytes);
/* The same for a text: the path holds what it held, or all of it. */
int save_text(const char *path, const char *text, size_t length, bool replace);
/* The same for any bytes, that are on the disk when true is returned; false: errno, EEXIST unless
 * it may be replaced. */
bool put_file(const char *path, const void *bytes, size_t n, mode_t mode, bool replace);
/* However often it is interrupted; false: errno. */
bool write_all(int fd, const void *bytes, size_t n);
/* The folder of a file, so that its name lasts; false: errno tells why not. */
bool sync_folder_of(const char *path);
/* Whether files can be locked in the folder of this one. True as well if no file can be created
 * there to try; false: errno. */
bool can_lock_beside(const char *path);
/* EXIT_ERROR after a message when `path` exists and may not be replaced. */
int check_output(const struct args *a);
/* The library's reason; where another kind can do it, with the command that makes one. Until the
 * next call. */
const char *reason_of(const tamis_error *why);
/* Why an add failed with this status, in words for the line after "unchanged: ". */
const char *why_not_added(const tamis *t, tamis_status s);
/* Who wants to see lines come in. */
struct watch {
    void *ctx;
    void (*added)(void *ctx, uint64_t lines); /* again and again, also when none come */
    bool (*stop)(void *ctx);
};
/* Add the lines of files, with their weights if there are any (add.c). EXIT_ERROR after a message,
 * or with *reason for one. */
int add_lines(const struct args *a, tamis *t, char **files, int n, const char *verb,
              const char **reason);
/* The same, watched; NULL: by nobody. */
int add_lines_watched(const struct args *a, tamis *t, char **files, int n, const char *verb,
                      const struct watch *w, const char **reason);
/* Sketches, and windows of them. */
bool tells_how_often(const tamis_facts *f);
/* When counters of one are at their end. */
void warn_if_ended(const tamis *t, const char *path);

/* --- How wrong a filter is (rate.c) ----------------------------------------------------------- */

/* Of what is built, unless --fpr or --bytes say otherwise. */
#define USUAL_FPR 0.01
/* Above this many times the planned rate a filter is not written, unless --overfill was given, and
 * uniq fails. */
#define MUCH_TOO_WRONG 2

/* Whether a filter may have been made for this rate. */
bool rate_may_be(const tamis_facts *f, double asked);
/* The rate that it was made for: what was asked for, or 0 where that is not known, and usually is
 * this. */
double rate_asked(const tamis_facts *f, double asked, double usual);
/* Whether it holds more than was planned, and is clearly more often wrong than that for it. */
bool rate_is_exceeded(const tamis_facts *f, double asked);
/* Whether the rate is then above MUCH_TOO_WRONG times the one that it was made for. */
bool rate_is_far_exceeded(const tamis_facts *f, double asked);
/* Says so on stderr. */
void warn_of_rate(const tamis_facts *f, const char *path);
/* The same if it is so; asked may be 0, as above. */
void warn_if_over_full(const tamis *t, const char *path, double asked);
/* EXIT_ERROR, after a message that begins with `fate`, if the rate is far exceeded and --overfill
 * was not given; fate NULL: it is too late, the set has changed. */
int refuse_overfull(const struct args *a, const tamis_facts *f, const char *path, const char *fate,
                    double asked);
/* Saves a filter, and warns afterwards if its rate is exceeded, unless it is refused as above;
 * asked may be 0. `fate` says what becomes of the file then: "unchanged", "not written". */
int save_unless_overfull(const struct args *a, tamis *t, const char *path, const char *fate,
                         bool replace, double asked);
/* Where hash_suspect is set; warn_if_over_full does so as well. */
void warn_of_hashes(const tamis_facts *f, const char *path);

#endif
