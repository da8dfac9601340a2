/* Filters of other programs as the commands see them: a file with one filter, or a Parquet file
 * with one for each row group and column. */
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
    } file;                  /* of the Parquet file */
    uint8_t *bytes;          /* of the other */
    tamis_foreign **filters; /* those that are asked: see foreign_select */
    size_t n;
    bool holes; /* a row group has no filter: any line may be in it */
    const struct encoding *encoding;
};

/* Opens path when it is a file of another program, by --from or by what it holds. FOREIGN_NO: it is
 * none, and nothing was said; FOREIGN_BAD: it is one, or should be, and a message says what is
 * wrong with it. */
enum foreign_found { FOREIGN_NO, FOREIGN_YES, FOREIGN_BAD };
enum foreign_found foreign_open(const struct args *a, const char *path, struct foreign *out);
/* The same of bytes that came by a pipe, which are taken over. */
enum foreign_found foreign_take(const char *path, uint8_t *bytes, size_t n, struct foreign *out);
void foreign_close(struct foreign *f);

/* A filter of ours, or else one of another program in *f; NULL and f->path NULL after a message. */
tamis *open_any_filter(const struct args *a, const char *path, uint32_t flags, struct foreign *f);
/* Like save_filter; a filter that cannot be so is to blame on `from`. */
int save_foreign(const tamis_foreign *f, uint32_t format, const char *from, const char *path,
                 bool replace);

/* The filters that --column (and --row-group) mean, and how lines become keys; false after a
 * message. */
bool foreign_select(const struct args *a, struct foreign *f);
/* Only the filters. */
bool foreign_select_filters(const struct args *a, struct foreign *f);
/* The same for a filter that is to be made. */
const struct encoding *foreign_encoding(const struct args *a, uint32_t format);

/* How many of the keys may be in, and which. bits has a byte more than it needs; so has spare. */
size_t foreign_ask(const struct foreign *f, const tamis_bytes *keys, size_t n, uint8_t *bits,
                   uint8_t *spare);
/* The rate that the answers have now. */
double foreign_rate(const struct foreign *f);

/* EXIT_ERROR after a message when --from or --to names no format. */
bool foreign_format_of(const char *option, const char *name, uint32_t *out);

int info_foreign(const struct args *a, const struct foreign *f);
int convert_foreign(const struct args *a, struct foreign *f);
int build_foreign(const struct args *a);

#endif
