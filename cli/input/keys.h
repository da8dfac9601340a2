/* From the text of a line to the key of a filter that states how its keys are encoded
 * (docs/KEYS.md). */
#ifndef TAMIS_CLI_KEYS_H
#define TAMIS_CLI_KEYS_H

#include <tamis/inspect.h>
#include <tamis/tamis.h>

/* What a filter states about its keys. It never changes, so threads may use it while the filter is
 * changed. */
struct key_form {
    uint32_t encoding, width;
};
struct key_form key_form_of(const tamis *filter);

/* Hashes texts for a filter: as they are, or as integers of 8 bytes if the filter states int64le.
 * Another thread may change the filter meanwhile. Returns how many come before the first that
 * cannot be a key of this filter. The hashes of the others are not set. */
size_t hash_texts(const tamis *filter, struct key_form form, const tamis_bytes *texts, size_t n,
                  tamis_hash *out);

/* Prints why a text cannot be a key of this filter. `line` is its number in the file, or 0. */
void complain_of_text(const char *path, uint64_t line, const tamis *filter, tamis_bytes text);

#endif
