/* Filters of other programs, as the commands see them: a file with one filter, or a Parquet file
 * with a filter for each row group and column. */
#ifndef TAMIS_CLI_FOREIGN_H
#define TAMIS_CLI_FOREIGN_H

#include "encode.h"

#include <tamis/foreign.h>

struct foreign {
    const char *path;
    tamis_parquet *parquet; /* NULL: a file with one filter */
    struct {
        int fd;
        bool open;
    } file;                  /* the Parquet file */
    uint8_t *bytes;          /* the content of a file with one filter */
    tamis_foreign **filters; /* the filters that are queried: see foreign_select */
    size_t n;
    bool holes; /* a row group has no filter, so any line may be in it */
    const struct encoding *encoding;
};

/* Opens the file of another program, which is recognized by --from or by its content. FOREIGN_NO:
 * it is not such a file, and nothing was printed. FOREIGN_BAD: it is one, or should be, and a
 * message names the problem. */
enum foreign_found { FOREIGN_NO, FOREIGN_YES, FOREIGN_BAD };
enum foreign_found foreign_open(const struct args *a, const char *path, struct foreign *out);
/* The same for bytes that came by a pipe; *out owns them then. */
enum foreign_found foreign_take(const char *path, uint8_t *bytes, size_t n, struct foreign *out);
void foreign_close(struct foreign *f);

/* Opens a filter of Tamis, or one of another program in *f. After a message both the result and
 * f->path are NULL. */
tamis *open_any_filter(const struct args *a, const char *path, uint32_t flags, struct foreign *f);
/* Like save_filter. If the filter cannot have that format, the message names `from`. */
int save_foreign(const tamis_foreign *f, uint32_t format, const char *from, const char *path,
                 bool replace);

/* Selects the filters that --column and --row-group name, and the encoding of lines. False after a
 * message. */
bool foreign_select(const struct args *a, struct foreign *f);
/* Selects only the filters. */
bool foreign_select_filters(const struct args *a, struct foreign *f);
/* The encoding of lines for a filter that is to be made; NULL after a message. */
const struct encoding *foreign_encoding(const struct args *a, uint32_t format);

/* Returns how many of the keys may be members, and sets their bits. bits and spare need one byte
 * more than the bits take. */
size_t foreign_ask(const struct foreign *f, const tamis_bytes *keys, size_t n, uint8_t *bits,
                   uint8_t *spare);
/* The false-positive rate of the answers. */
double foreign_rate(const struct foreign *f);

/* False after a message when --from or --to does not name a format. */
bool foreign_format_of(const char *option, const char *name, uint32_t *out);

int info_foreign(const struct args *a, const struct foreign *f);
int convert_foreign(const struct args *a, struct foreign *f);
int build_foreign(const struct args *a);

#endif
