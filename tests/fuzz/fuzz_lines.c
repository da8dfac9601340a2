/* Lines of files, plain and compressed: any bytes, any line ends, any fields, whole, cut short or
 * damaged. They are split as a simple reading of the bytes says. Compressed lines are read as they
 * were written, or as an error, and never as anything else.
 *
 * ./run fuzz lines */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "../../cli/filters/filter.h"
#include "../../cli/input/fields.h"
#include "../../cli/input/input.h"
#include "../../cli/input/lines.h"
#include "feed.h"
#include "messages.h"

#include <bzlib.h>
#include <lzma.h>
#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define FILES 3
#define MOST_OUT ((size_t)4 << 20) /* a bomb is left alone from there on */
#define MOST_PIPE 4096u
#define LEAST_MAGIC 10u /* before it, damage makes another kind of file */

struct source {
    char path[32];
    int fd;
    uint8_t *bytes; /* as it is read, unpacked */
    size_t size;
    bool fails, bomb;
};

static struct source sources[FILES];
static int n_sources;
static const tamis *hasher;

/* --- Files ------------------------------------------------------------------------------------ */

static uint8_t *copy_of(const void *p, size_t n)
{
    uint8_t *to = malloc(n != 0 ? n : 1);
    must(to != NULL, "memory");
    if (n > 0) memcpy(to, p, n);
    return to;
}

/* Packs n bytes in one of four formats; returns how many it takes. */
static size_t pack(unsigned format, const uint8_t *p, size_t n, uint8_t *to, size_t room)
{
    if (format == 0) {
        z_stream z = {
            .next_in = (uint8_t *)p, .avail_in = (uInt)n, .next_out = to, .avail_out = (uInt)room};
        must(deflateInit2(&z, 1, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY) == Z_OK,
             "gzip");
        must(deflate(&z, Z_FINISH) == Z_STREAM_END && deflateEnd(&z) == Z_OK, "gzip");
        return room - z.avail_out;
    }
    if (format == 1) {
        ZSTD_CCtx *z = ZSTD_createCCtx();
        must(z != NULL, "zstd");
        ZSTD_CCtx_setParameter(z, ZSTD_c_checksumFlag, 1);
        const size_t made = ZSTD_compress2(z, to, room, p, n);
        must(!ZSTD_isError(made), "zstd");
        ZSTD_freeCCtx(z);
        return made;
    }
    if (format == 2) {
        unsigned made = (unsigned)room;
        must(BZ2_bzBuffToBuffCompress((char *)to, &made, (char *)p, (unsigned)n, 1, 0, 0) == BZ_OK,
             "bzip2");
        return made;
    }
    size_t made = 0;
    must(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC64, NULL, p, n, to, &made, room) == LZMA_OK,
         "xz");
    return made;
}

/* A file of these bytes, or a pipe that is full of them. */
static void place(struct source *s, const uint8_t *p, size_t n, bool pipe_wanted)
{
    int ends[2];
    if (pipe_wanted && n <= MOST_PIPE) {
        must(pipe(ends) == 0 && write(ends[1], p, n) == (ssize_t)n, "a pipe");
        close(ends[1]);
        s->fd = ends[0];
    } else {
        s->fd = memfd_create("lines", 0);
        must(s->fd >= 0 && (n == 0 || write(s->fd, p, n) == (ssize_t)n), "a file");
    }
    snprintf(s->path, sizeof s->path, "/proc/self/fd/%d", s->fd);
}

/* All of an input, by steps of so many bytes; false: it failed, and said why. */
static bool read_all(const char *path, bool raw, size_t step, struct source *out)
{
    struct input *in = input_open(path, raw);
    ssize_t got = 1;
    size_t room = 0;
    must(in != NULL, "it can be opened");
    while (got > 0 && out->size < MOST_OUT) {
        if (room - out->size < step) {
            room = 2 * room + step + 1024;
            out->bytes = realloc(out->bytes, room);
            must(out->bytes != NULL, "memory");
        }
        got = input_read(in, out->bytes + out->size, step);
        must(got <= (ssize_t)step, "no more than was asked");
        if (got > 0) out->size += (size_t)got;
    }
    must(got >= 0 || input_reason(in)[0] != '\0', "a reason has words");
    out->bomb = got > 0;
    input_close(in);
    return got >= 0;
}

/* Packed by us: whole, or cut, or with a byte changed. */
static void add_packed(struct source *s, const uint8_t *p, size_t n, struct feed *f)
{
    const uint8_t how = feed_byte(f);
    const size_t room = 2 * n + 2048;
    uint8_t *packed = malloc(room);
    must(packed != NULL, "memory");
    size_t size = pack(how % 4, p, n, packed, room);
    if (how & 16) /* a second stream behind the first, which unpacks as one */
        size += pack(how % 4, p, n < 100 ? n : 0, packed + size, room - size);
    const size_t again = how & 16 && n < 100 ? n : 0, at = feed_bytes(f, 2);
    s->bytes = malloc(n + again + 1);
    must(s->bytes != NULL, "memory");
    if (n > 0) memcpy(s->bytes, p, n);
    if (again > 0) memcpy(s->bytes + n, p, again);
    s->size = n + again;
    /* Zeros may stand behind it, but nothing else. */
    const uint32_t tail = how & 8 ? (uint32_t)feed_bytes(f, 4) : 0;
    if (how & 8) memcpy(packed + size, &tail, 4);
    if (how & 8) size += 4;
    const size_t whole = size;
    uint8_t changed = 0;
    if (how & 32 && size > LEAST_MAGIC) size = LEAST_MAGIC + at % (size - LEAST_MAGIC);
    if (how & 64 && size > LEAST_MAGIC) changed = feed_byte(f);
    if (changed != 0) packed[LEAST_MAGIC + at % (size - LEAST_MAGIC)] ^= changed;
    place(s, packed, size, how & 128);
    free(packed);
    if (size == whole && changed == 0 && tail == 0) return;
    /* What is left must be an error, or what went in; a cut between two streams is a whole file. */
    struct source got = {.size = 0};
    if (s->fd >= 0 && !(how & 128)) {
        s->fails = !read_all(s->path, false, 1000, &got);
        const bool begins =
            got.size <= s->size && (got.size == 0 || memcmp(got.bytes, s->bytes, got.size) == 0);
        must(s->fails || changed != 0 || size < whole, "something behind it is an error");
        must(s->fails || (begins && (got.size == s->size || got.size == n)),
             "damage is an error, or no harm");
        s->size = s->fails ? 0 : got.size;
    } else {
        s->fails = true; /* a pipe can be read once: nothing is known of it */
        s->bomb = true;
    }
    free(got.bytes);
}

static void add_source(struct feed *f, bool raw, bool last)
{
    struct source *s = &sources[n_sources++];
    const uint8_t how = feed_byte(f);
    size_t n = last ? f->left : feed_bytes(f, 2), times = 1;
    if (n > f->left) n = f->left;
    *s = (struct source){.fd = -1};
    uint8_t *p = copy_of(f->p, n);
    f->p += n;
    f->left -= n;
    if (how >= 254 && n >= 16) { /* long enough for several blocks and threads */
        times = 140000 / n + 1;
        p = realloc(p, n * times);
        must(p != NULL, "memory");
        for (size_t i = 1; i < times; i++) memcpy(p + i * n, p, n);
    }
    if (how < 100 && !raw) {
        add_packed(s, p, n * times, f);
    } else {
        place(s, p, n * times, how % 4 == 3);
        if (how % 4 == 3 && n * times <= MOST_PIPE) { /* can be read once */
            s->bytes = copy_of(p, n * times);
            s->size = n * times;
            s->bomb = s->fails = !raw && n > 0 &&
                                 strchr("\x1f\x28"
                                        "B\xfd",
                                        p[0]) != NULL;
        } else {
            s->fails = !read_all(s->path, raw, times > 1 ? 5000 : 1 + how % 50 * 7u, s);
        }
    }
    free(p);
}

/* --- Lines, the simple way -------------------------------------------------------------------- */

struct reading {
    size_t file, at;
    uint64_t lines, skipped;
};

/* The length of the mark of UTF-8 that stands before the first line of a file. */
static size_t mark_of(const struct reading *r, const struct line_args *a)
{
    const struct source *s = &sources[r->file];
    const bool mark = r->at == 0 && r->lines == 0 && !a->nul && !a->raw && s->size >= 3 &&
                      memcmp(s->bytes, "\xef\xbb\xbf", 3) == 0;
    return mark ? 3 : 0;
}

/* The next line that counts, its key and its weight; false: no more. */
static bool next_line(struct reading *r, const struct line_args *a, tamis_bytes *line,
                      tamis_bytes *key, int64_t *weight)
{
    const char end = a->nul ? '\0' : '\n';
    for (;;) {
        while (r->file < (size_t)n_sources &&
               (r->at == sources[r->file].size || r->at + mark_of(r, a) == sources[r->file].size)) {
            r->file++;
            r->at = r->lines = 0;
        }
        if (r->file == (size_t)n_sources) return false;
        const struct source *s = &sources[r->file];
        r->at += mark_of(r, a);
        const size_t from = r->at;
        while (r->at < s->size && (char)s->bytes[r->at] != end) r->at++;
        *key = *line = (tamis_bytes){s->bytes + from, r->at - from};
        if (r->at < s->size) r->at++;
        r->lines++;
        tamis_bytes text;
        *weight = 1;
        if (a->crlf) *key = without_return(*line);
        if ((a->field.number != 0 && !field_of(*key, a->field.number, delimiter_from(a), key)) ||
            (a->weight_field.number != 0 &&
             (!field_of(without_return(*line), a->weight_field.number, delimiter_from(a), &text) ||
              !weight_of(text, weight)))) {
            r->skipped++;
            continue;
        }
        return true;
    }
}

static bool same(tamis_bytes a, tamis_bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.p, b.p, a.len) == 0);
}

/* Whether a block is what the simple way reads. */
static void check_block(const struct lines *l, const struct block *b, const struct line_args *a,
                        bool hashed, struct reading *r)
{
    for (size_t i = 0; i < b->n; i++) {
        tamis_bytes line, key;
        int64_t weight;
        tamis_hash h;
        must(next_line(r, a, &line, &key, &weight), "no line too many");
        must(same(line, b->lines[i]) && same(key, b->keys[i]), "the line and its key");
        must(a->weight_field.number == 0 || b->weights[i] == weight, "its weight");
        must(((const char *)b->lines[i].p)[line.len] == (a->nul ? '\0' : '\n'), "its end follows");
        if (hashed) {
            must(tamis_hash_many(hasher, &key, 1, &h) == TAMIS_OK, "hash");
            must(h.lo == b->hashes[i].lo && h.hi == b->hashes[i].hi, "its hash");
        }
        if (i != 0 && i != b->n - 1) continue; /* it counts from the block's beginning */
        const char *path;
        must(lines_number(l, i, &path) == r->lines, "its number");
        must(strcmp(path, sources[r->file].path) == 0 && b->path == path, "its file");
        uint64_t number = b->before + 1;
        for (const char *p = b->text; p < (const char *)b->lines[i].p; p++)
            number += *p == (a->nul ? '\0' : '\n');
        must(number == r->lines, "its number by the block");
    }
}

static void check_lines(const struct line_args *a, char **paths, bool hashed, unsigned threads,
                        unsigned most)
{
    struct reading r = {0};
    bool known = true;
    for (int i = 0; i < n_sources; i++)
        known = known && !sources[i].fails && !sources[i].bomb &&
                (a->raw || !is_tamis_begin(sources[i].bytes, sources[i].size));
    struct lines *l = lines_open(a, paths, n_sources, hashed ? hasher : NULL, threads);
    must(l != NULL, "memory");
    const struct block *b = NULL;
    unsigned blocks = 0;
    size_t bytes = 0;
    while (blocks++ < most && bytes < MOST_OUT && (b = lines_next(l)) != NULL) {
        for (size_t i = 0; i < b->n; i++) bytes += b->lines[i].len + 1;
        if (known) check_block(l, b, a, hashed, &r);
    }
    const bool all = b == NULL, failed = lines_failed(l);
    must(!failed || was_said(), "a failure is explained");
    if (known && all) {
        tamis_bytes line, key;
        int64_t weight;
        must(!failed, "nothing fails");
        must(!next_line(&r, a, &line, &key, &weight), "no line is missing");
        must(lines_skipped(l) == r.skipped, "as many are skipped");
    }
    lines_close(l, false);
    was_said();
}

static void check_count(const struct line_args *a, char **paths)
{
    uint64_t count, wanted = 0;
    bool fails = false;
    const char end = a->nul ? '\0' : '\n';
    for (int i = 0; i < n_sources; i++) {
        const struct source *s = &sources[i];
        if (s->bomb) return;
        fails = fails || s->fails;
        for (size_t b = 0; b < s->size; b++) wanted += (char)s->bytes[b] == end;
        wanted += s->size > 0 && (char)s->bytes[s->size - 1] != end;
    }
    const bool good = lines_count(a, paths, n_sources, &count);
    must(good == !fails && good != was_said(), "counted, or explained");
    must(!good || count == wanted, "as many lines");
}

/* --- One input -------------------------------------------------------------------------------- */

static bool is_pipe(void)
{
    char *paths[FILES];
    for (int i = 0; i < n_sources; i++) paths[i] = sources[i].path;
    return lines_total_bytes(paths, n_sources) == 0;
}

static struct column column(unsigned n)
{
    return (struct column){n != 0 ? "n" : NULL, n};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static tamis *to_hash;
    struct feed f = {data, size};
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 1, .fpr = 0.5};
    if (to_hash == NULL) must(tamis_create(&plan, NULL, &to_hash, NULL) == TAMIS_OK, "a hasher");
    hasher = to_hash;
    keep_messages();
    const uint8_t flags = feed_byte(&f), more = feed_byte(&f);
    const struct line_args a = {.nul = flags & 1,
                                .raw = (flags & 2) != 0,
                                .crlf = more % 7 == 0,
                                .field = column(flags & 4 ? 1 + more % 3 : 0),
                                .weight_field = column(flags & 8 ? 1 + more / 4 % 3 : 0),
                                .delimiter = flags & 16 ? (more & 8 ? BLANKS : ',') : 0};
    n_sources = 0;
    const int wanted = 1 + more / 16 % FILES;
    while (n_sources < wanted) add_source(&f, a.raw, n_sources == wanted - 1);
    char *paths[FILES];
    for (int i = 0; i < n_sources; i++) paths[i] = sources[i].path;
    /* Files first: what is in a pipe is there once. */
    if (!is_pipe()) check_count(&a, paths);
    check_lines(&a, paths, flags & 32, 1 + flags / 64, more >= 250 ? 1 : UINT32_MAX);
    for (int i = 0; i < n_sources; i++) {
        close(sources[i].fd);
        free(sources[i].bytes);
    }
    return 0;
}
