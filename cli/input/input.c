#include "input.h"

#include "../frame/progress.h"
#include "../frame/stop.h"

#include <bzlib.h>
#include <errno.h>
#include <fcntl.h>
#include <lzma.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#define BUFFER_BYTES ((size_t)1 << 17)
/* The most that xz may need for its dictionary, and zstd for its window with --long=31. */
#define MOST_MEMORY ((uint64_t)2 << 30)
#define ZSTD_WINDOW_LOG 31
#define GZIP_WINDOW (MAX_WBITS + 16) /* how zlib is asked to expect the header of gzip */

enum format { PLAIN, GZIP, ZSTD, BZIP2, XZ, FORMATS };
/* The first bytes of each format; '?' is any byte. The ten bytes of bzip2 make sure that no text is
 * mistaken for it. */
#define MOST_MAGIC 10u
static const struct {
    const char *name;
    uint8_t size;
    uint8_t bytes[MOST_MAGIC];
} MAGIC[FORMATS] = {
    [GZIP] = {"gzip", 3, {0x1f, 0x8b, 8}},
    [ZSTD] = {"zstd", 4, {0x28, 0xb5, 0x2f, 0xfd}},
    [BZIP2] = {"bzip2", 10, {'B', 'Z', 'h', '?', 0x31, 0x41, 0x59, 0x26, 0x53, 0x59}},
    [XZ] = {"xz", 6, {0xfd, '7', 'z', 'X', 'Z', 0}}};

/* Whether n bytes are the first bytes of a format, as far as they go. */
static bool begins_as(int format, const uint8_t *bytes, size_t n)
{
    /* An empty bzip2 file, which has its end at once. */
    static const uint8_t empty[MOST_MAGIC] = {'B',  'Z',  'h',  '?',  0x17,
                                              0x72, 0x45, 0x38, 0x50, 0x90};
    bool same = true, none = format == BZIP2;
    for (size_t i = 0; i < n && i < MAGIC[format].size; i++) {
        const uint8_t wanted = MAGIC[format].bytes[i];
        same = same && (bytes[i] == wanted || wanted == '?');
        none = none && (bytes[i] == empty[i] || empty[i] == '?');
    }
    return same || none;
}

struct input {
    int fd;
    bool raw, begun;
    bool typed; /* it comes from a terminal */
    enum format format;
    uint8_t *buffer; /* `have` bytes from `at` on were read and not used yet */
    size_t at, have;
    bool ended; /* the end of the file was read */
    bool open;  /* a decoder is in the middle of a stream */
    uint64_t taken;
    char reason[128];
    union {
        z_stream gzip;
        ZSTD_DStream *zstd;
        bz_stream bzip2;
        lzma_stream xz;
    } decoder;
};

/* --- Life ------------------------------------------------------------------------------------- */

bool is_stream(const char *path)
{
    struct stat st;
    if (strcmp(path, "-") == 0) return true;
    return stat(path, &st) == 0 && (S_ISFIFO(st.st_mode) || S_ISSOCK(st.st_mode));
}

bool is_stdin(const char *path)
{
    struct stat here, there;
    if (strcmp(path, "-") == 0) return true;
    return fstat(STDIN_FILENO, &here) == 0 && stat(path, &there) == 0 &&
           here.st_dev == there.st_dev && here.st_ino == there.st_ino;
}

static bool spent;

void input_spend(const char *path)
{
    spent = spent || is_stdin(path);
}

bool input_is_spent(const char *path)
{
    return spent && is_stdin(path);
}

/* The input that input_begins has opened. */
static struct {
    const char *path;
    struct input *in; /* NULL: nothing */
} begun;

struct input *input_open(const char *path, bool raw)
{
    if (begun.in != NULL && strcmp(begun.path, path) == 0) {
        struct input *again = begun.in;
        begun.in = NULL;
        return again;
    }
    struct input *in = calloc(1, sizeof *in);
    if (in == NULL) return NULL;
    in->raw = raw;
    in->fd = strcmp(path, "-") == 0 ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
    in->typed = in->fd == STDIN_FILENO && isatty(in->fd);
    if (in->typed) progress_typing(true);
    if (in->fd >= 0) return in;
    const int os = errno;
    free(in);
    errno = os;
    return NULL;
}

static void end_decoder(struct input *in)
{
    if (!in->open) return;
    if (in->format == GZIP) inflateEnd(&in->decoder.gzip);
    if (in->format == ZSTD) ZSTD_freeDStream(in->decoder.zstd);
    if (in->format == BZIP2) BZ2_bzDecompressEnd(&in->decoder.bzip2);
    if (in->format == XZ) lzma_end(&in->decoder.xz);
    in->open = false;
}

void input_close(struct input *in)
{
    if (in == NULL) return;
    end_decoder(in);
    if (in->fd > STDIN_FILENO) close(in->fd);
    if (in->typed) progress_typing(false);
    free(in->buffer);
    free(in);
}

const char *input_reason(const struct input *in)
{
    return in->reason;
}

uint64_t input_taken(const struct input *in)
{
    return in->taken;
}

bool input_wait(const struct input *in, int milliseconds)
{
    struct pollfd p = {.fd = in->fd, .events = POLLIN};
    return in->have > 0 || in->ended || poll(&p, 1, milliseconds) > 0;
}

bool input_is_ready(const struct input *in)
{
    return input_wait(in, 0);
}

static void set_reason(struct input *in, const char *reason)
{
    snprintf(in->reason, sizeof in->reason, "%s", reason);
}

static void set_damage(struct input *in, const char *what)
{
    snprintf(in->reason, sizeof in->reason, "%s%s", MAGIC[in->format].name, what);
}

/* --- The file --------------------------------------------------------------------------------- */

static ssize_t read_file(struct input *in, void *to, size_t n)
{
    ssize_t got;
    if (!stop_or_ready(in->fd)) {
        set_reason(in, strerror(EINTR));
        return -1;
    }
    do got = read(in->fd, to, n);
    while (got < 0 && errno == EINTR);
    if (got < 0) {
        set_reason(in, strerror(errno));
        return -1;
    }
    if (got == 0) in->ended = true;
    in->taken += (uint64_t)got;
    return got;
}

/* Reads more behind what the buffer has. False: it failed; the end of the file is not a failure. */
static bool fill_buffer(struct input *in)
{
    if (in->buffer == NULL) in->buffer = malloc(BUFFER_BYTES);
    if (in->buffer == NULL) {
        set_reason(in, strerror(ENOMEM));
        return false;
    }
    memmove(in->buffer, in->buffer + in->at, in->have);
    in->at = 0;
    const ssize_t got = read_file(in, in->buffer + in->have, BUFFER_BYTES - in->have);
    if (got < 0) return false;
    in->have += (size_t)got;
    return true;
}

/* Recognizes the format by the first bytes. More of them are read only while they may still belong
 * to a format, so that a slow pipe of lines is not delayed. False after a failure. */
static bool detect_format(struct input *in)
{
    in->begun = true;
    for (bool undecided = true; undecided && !in->ended && !in->raw;) {
        if (!fill_buffer(in)) return false;
        undecided = false;
        for (int f = GZIP; f < FORMATS; f++) {
            if (in->have == 0 || !begins_as(f, in->buffer, in->have)) continue;
            if (in->have < MAGIC[f].size)
                undecided = true;
            else
                in->format = (enum format)f;
        }
    }
    return true;
}

/* --- Decoders: as much of the buffer as makes up to n bytes ----------------------------------- */

static bool start_decoder(struct input *in)
{
    memset(&in->decoder, 0, sizeof in->decoder);
    in->open = true;
    switch (in->format) {
    case GZIP: return inflateInit2(&in->decoder.gzip, GZIP_WINDOW) == Z_OK;
    case ZSTD:
        in->decoder.zstd = ZSTD_createDStream();
        return in->decoder.zstd != NULL &&
               !ZSTD_isError(
                   ZSTD_DCtx_setParameter(in->decoder.zstd, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG));
    case BZIP2: return BZ2_bzDecompressInit(&in->decoder.bzip2, 0, 0) == BZ_OK;
    case XZ:
        return lzma_stream_decoder(&in->decoder.xz, MOST_MEMORY, LZMA_TELL_UNSUPPORTED_CHECK) ==
               LZMA_OK;
    case PLAIN:
    case FORMATS: break;
    }
    return false;
}

/* The result of one step: the bytes used and produced, whether the stream ended, and whether it is
 * undamaged. */
struct step {
    size_t used, made;
    bool ended, good;
};

static struct step step_gzip(z_stream *z, uint8_t *from, size_t have, void *to, size_t n)
{
    z->next_in = from;
    z->avail_in = (uInt)have;
    z->next_out = to;
    z->avail_out = (uInt)n;
    const int code = inflate(z, Z_NO_FLUSH);
    return (struct step){have - z->avail_in, n - z->avail_out, code == Z_STREAM_END,
                         code == Z_OK || code == Z_STREAM_END || code == Z_BUF_ERROR};
}

static struct step step_zstd(ZSTD_DStream *z, const uint8_t *from, size_t have, void *to, size_t n)
{
    ZSTD_inBuffer input = {from, have, 0};
    ZSTD_outBuffer output = {to, n, 0};
    const size_t code = ZSTD_decompressStream(z, &output, &input);
    return (struct step){input.pos, output.pos, code == 0, !ZSTD_isError(code)};
}

static struct step step_bzip2(bz_stream *z, uint8_t *from, size_t have, void *to, size_t n)
{
    z->next_in = (char *)from;
    z->avail_in = (unsigned)have;
    z->next_out = to;
    z->avail_out = (unsigned)n;
    const int code = BZ2_bzDecompress(z);
    return (struct step){have - z->avail_in, n - z->avail_out, code == BZ_STREAM_END,
                         code == BZ_OK || code == BZ_STREAM_END};
}

static struct step step_xz(lzma_stream *z, const uint8_t *from, size_t have, void *to, size_t n)
{
    z->next_in = from;
    z->avail_in = have;
    z->next_out = to;
    z->avail_out = n;
    const lzma_ret code = lzma_code(z, LZMA_RUN);
    return (struct step){have - z->avail_in, n - z->avail_out, code == LZMA_STREAM_END,
                         code == LZMA_OK || code == LZMA_STREAM_END || code == LZMA_BUF_ERROR};
}

static struct step step(struct input *in, void *to, size_t n)
{
    uint8_t *from = in->buffer + in->at;
    const size_t have = in->have, most = n < ((size_t)1 << 30) ? n : (size_t)1 << 30;
    switch (in->format) {
    case GZIP: return step_gzip(&in->decoder.gzip, from, have, to, most);
    case ZSTD: return step_zstd(in->decoder.zstd, from, have, to, most);
    case BZIP2: return step_bzip2(&in->decoder.bzip2, from, have, to, most);
    case XZ: return step_xz(&in->decoder.xz, from, have, to, most);
    case PLAIN:
    case FORMATS: break;
    }
    return (struct step){0, 0, false, false};
}

/* Between two streams: another stream may follow, and zeros as padding, but nothing else. False
 * after a failure. */
static bool next_stream(struct input *in)
{
    const size_t size = MAGIC[in->format].size;
    for (;;) {
        while (in->have > 0 && in->buffer[in->at] == 0) {
            in->at++;
            in->have--;
        }
        if (in->have >= size || in->ended) break;
        if (!fill_buffer(in)) return false;
    }
    if (in->have == 0) return true;
    if (in->have < size || !begins_as((int)in->format, in->buffer + in->at, size)) {
        set_damage(in, " data is followed by something else");
        return false;
    }
    if (start_decoder(in)) return true;
    set_damage(in, ": not enough memory");
    return false;
}

static ssize_t read_packed(struct input *in, void *to, size_t n)
{
    for (;;) {
        if (!in->open && !next_stream(in)) return -1;
        if (!in->open) return 0;
        if (in->have == 0 && !in->ended && !fill_buffer(in)) return -1;
        const struct step s = step(in, to, n);
        in->at += s.used;
        in->have -= s.used;
        if (!s.good) {
            set_damage(in, " data is damaged");
            return -1;
        }
        if (s.ended) end_decoder(in);
        if (s.made > 0) return (ssize_t)s.made;
        if (!s.ended && in->ended && in->have == 0) {
            set_damage(in, " data ends too early");
            return -1;
        }
    }
}

ssize_t input_read(struct input *in, void *to, size_t n)
{
    if (!in->begun && !detect_format(in)) return -1;
    if (in->format != PLAIN) return read_packed(in, to, n);
    if (in->have == 0) return in->ended ? 0 : read_file(in, to, n);
    const size_t have = in->have < n ? in->have : n;
    memcpy(to, in->buffer + in->at, have);
    in->at += have;
    in->have -= have;
    return (ssize_t)have;
}

bool input_read_rest(struct input *in, uint8_t **bytes, size_t *n, size_t most)
{
    size_t room = *n;
    while (*n < most) {
        if (*n == room) {
            if (room < 1u << 16) room = 1u << 16;
            room = room <= SIZE_MAX / 2 ? room * 2 : SIZE_MAX;
            uint8_t *bigger = realloc(*bytes, room);
            if (bigger == NULL) {
                set_reason(in, "not enough memory");
                return false;
            }
            *bytes = bigger;
        }
        const ssize_t got = input_read(in, *bytes + *n, (room < most ? room : most) - *n);
        if (got <= 0) return got == 0;
        *n += (size_t)got;
    }
    return true;
}

bool input_begins(const char *path, const void *bytes, size_t n)
{
    const bool again = begun.in != NULL && strcmp(begun.path, path) == 0;
    struct input *in = again || begun.in == NULL ? input_open(path, false) : NULL;
    if (in == NULL) return false;
    begun.path = path;
    begun.in = in;
    /* As with formats, no more is read than is needed. */
    bool good = in->begun || detect_format(in);
    while (good && in->have < n && !in->ended && memcmp(in->buffer, bytes, in->have) == 0)
        good = fill_buffer(in);
    return good && in->have >= n && memcmp(in->buffer, bytes, n) == 0;
}
