/* Opening and saving filters (filter.c). */
#ifndef TAMIS_CLI_FILTER_H
#define TAMIS_CLI_FILTER_H

#include "../frame/args.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

#include <sys/types.h>

/* Whether these are the first bytes of an image. */
#define IMAGE_MAGIC_BYTES (sizeof TAMIS_IMAGE_MAGIC - 1)
/* The first bytes of a packed filter, which are as many. */
#define PACKED_MAGIC "\x89TAMPK\r\n"
bool is_image_begin(const void *bytes, size_t n);
/* The same, or of a packed file. */
bool is_tamis_begin(const void *bytes, size_t n);
/* Whether a regular file begins with them, or with those of a packed filter. */
bool is_image_file(const char *path);
bool is_packed_file(const char *path);
/* Reads the first n bytes of what a file holds, decompressed. Returns how many there are. */
size_t read_beginning(const char *path, uint8_t *to, size_t n);
/* Whether that is an image, also a packed one. */
bool holds_image(const char *path);
/* Whether two paths lead to the same file. */
bool same_file(const char *a, const char *b);
/* How messages name a filter: "standard input" for "-". */
const char *shown(const char *path);
/* The same for an output: "standard output" for "-". */
const char *shown_output(const char *path);

/* --- Opening ---------------------------------------------------------------------------------- */

/* Opens a file, or without TAMIS_UPDATE also a pipe, or standard input for "-". NULL after a
 * message. */
tamis *open_filter(const struct args *a, const char *path, uint32_t flags);
/* Opens the n bytes of an image that was read from this path. NULL after a message. */
tamis *open_filter_bytes(const struct args *a, const char *path, const void *bytes, size_t n);
/* A filter for one item with the seed or key of the arguments, which is only used to hash with.
 * NULL after a message. */
tamis *make_hasher(const struct args *a);
/* Whether warn_if_overfull may have something to report about a filter, by tamis_stat alone:
 * tamis_info reads all cells, which takes 0.27 s for 1 GB, almost as long as opening it. True where
 * that is not enough. */
bool may_need_warning(const tamis *t);
/* tamis_info, which reads all cells; false: not enough memory. */
bool read_facts(const tamis *t, tamis_facts *f);
/* False after a message when lines cannot be hashed for this filter. */
bool check_hashable(const tamis *t, const char *path);
/* The number of threads to use: --threads, or one per processor. */
unsigned threads_from(const struct work_args *w);
/* Whether filters of this kind collect all lines before they are built. */
bool is_sealed_kind(uint32_t kind);
/* Whether this is a sketch or a window of sketches. */
bool is_sketch(const tamis_facts *f);
/* Whether it counts distinct keys: a distinct sketch, or a window of them. */
bool is_distinct(const tamis_facts *f);
/* False after the message "is a distinct sketch, REASON" if it is one, or a window of them. */
bool check_not_distinct(const tamis *t, const char *path, const char *reason);
/* How many keys a distinct sketch with m registers counts exactly: see <tamis/distinct.h>. */
uint64_t exact_until(uint64_t m);
/* Warns when counters of a sketch are saturated. */
void warn_if_saturated(const tamis_facts *f, const char *path);
/* The reason of the library. If another kind has the operation, the command that makes one is named
 * as well. Valid until the next call. */
const char *reason_of(const tamis_error *why);
/* Why an add failed with this status, to follow "unchanged: ". */
const char *why_not_added(const tamis *t, tamis_status s);

/* --- Saving ----------------------------------------------------------------------------------- */

/* From now on an interruption reports that this file is unchanged, or was not written; the calls
 * below change that when they have saved it. */
void report_if_interrupted(const char *path);
/* False after a message when there is no output, or when it exists and may not be replaced. */
bool check_output(const struct args *a);
/* Saves to a path, or to stdout for "-". Returns EXIT_FOUND, or EXIT_ERROR after a message. */
int save_filter(tamis *t, const char *path, bool replace);
/* Replaces a file that another handle of this process has opened for TAMIS_UPDATE. Its lock lasts
 * until the file is replaced, so that nobody adds lines that would be lost. Whoever waits for the
 * lock finds another file then, as after every save. */
int save_over_locked(tamis *t, const char *path);
/* The same for a packed filter, whose size is returned in *bytes. */
int save_packed(tamis *t, const char *path, bool replace, uint64_t *bytes);
/* The same for a text: afterwards the path holds what it held before, or all of the text. */
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

#endif
