/* Packing: the image as a smaller file, for the network.
 *
 * A Bloom filter of optimal size has half of its bits set, and such bits cannot be compressed. A
 * filter with more bits and fewer probes has the same rate at a fill p = f^(1/k). Although it is
 * bigger, its entropy, m H(p) bits, is smaller (M. Mitzenmacher, "Compressed Bloom filters", 2002).
 * In units of the lower bound n log2(1/f) the entropy is
 *
 *     H(p) / (-ln(1-p) log2(1/p))       1.44 at p = 1/2,  1.24 at 2 %,  1.22 at 1 %,  1.14 at 0.1 %
 *
 * and m/n = k / -ln(1-p). A plan for transfer (plan.c) therefore takes the most probes, which gives
 * the smallest image, that keep the code within 1.24 times the bound. At 1 % this is one probe and
 * 100 bits per item, packed to 8.1; at 1e-4 two probes and 199 bits, packed to 16.2; at 1e-6 three
 * probes.
 *
 * Set bits at random positions have gaps of geometric lengths, for which Rice codes are almost
 * optimal: 0.4 % above the entropy at p = 1 %. A gap g of zeros before a set bit is coded as g >> r
 * zeros, a one, and the lowest r bits of g:
 *
 *     r = 2    0 0 0 0 0 0 1 0 1 ...    gap 6: 0 1 | 0 1    gap 1: 1 | 1 0    (lowest bit first)
 *
 * The image is cut into frames of 64 KiB, each with its own r. A frame ends with the gap before an
 * imaginary set bit just behind it. A frame that would not shrink is stored as it is. Header, table
 * and checksums come first, verbatim, because no code shrinks checksums. Each frame is read and
 * coded once, and only one frame is held in memory.
 *
 * Hostile input. Every 64 KiB of cells take at least 4 bytes of code and 8 of checksums, so a
 * packed file never claims more than 5462 times its own length. This is checked before anything is
 * allocated. Unary parts are bounded by the frame, so the time is linear in the two lengths. */
#include "pack.h"

#include "../core/error.h"
#include "../core/memory.h"
#include "../core/snapshot.h"
#include "image.h"

#include <assert.h>
#include <math.h>
#include <tamis/publish.h>

#define FRAME 65536u
#define FRAME_BITS (8 * FRAME)
#define MOST_RICE 19u /* a frame has 2^19 bits */
#define STORED 255u   /* in place of r: the bytes are stored as they are */
#define SPARE 8u      /* bytes after a buffer, so that whole words may be accessed */
#define LEAST_FRAME 4u
#define VERSION 1u
#define SUM_BYTES 8u

/* Offsets within the start of a packed file, as in docs/FORMAT.md. */
enum {
    P_MAGIC = 0,
    P_VERSION = 8,
    P_ZERO_6 = 10,
    P_IMAGE_BYTES = 16,
    P_METADATA_BYTES = 24,
    START_BYTES = 32
};

static const uint8_t pack_magic[8] = {0x89, 'T', 'A', 'M', 'P', 'K', '\r', '\n'};

bool tamis__is_packed(const uint8_t *start, size_t n, uint64_t *image_bytes)
{
    if (n < START_BYTES || memcmp(start, pack_magic, sizeof pack_magic) != 0) return false;
    *image_bytes = tamis__get64(start + P_IMAGE_BYTES);
    return true;
}

/* --- Expected sizes --------------------------------------------------------------------------- */

/* Returns the expected bits of one gap if its length is geometric: r bits, a one, and 1 / (1 -
 * (1-p)^(2^r)) - 1 zeros. */
static double gap_bits(double fill, unsigned r)
{
    return r - 1 / expm1(ldexp(log1p(-fill), (int)r));
}

double tamis__coded_bits(double fill)
{
    double best = 1;
    if (fill <= 0) return 0;
    for (unsigned r = 0; r <= MOST_RICE && fill < 1; r++)
        if (fill * gap_bits(fill, r) < best) best = fill * gap_bits(fill, r);
    return best;
}

uint64_t tamis__packed_bytes(uint64_t image, uint64_t cells, double fill)
{
    const double frames = ceil((double)cells / FRAME), coded = tamis__coded_bits(fill);
    /* A frame has its r, one gap more than it has set bits, and on average half a byte of
     * padding. */
    const double per_frame = coded < 1 && fill > 0 ? 1.5 + coded / fill / 8 : 1;
    return START_BYTES + (image - cells) + SUM_BYTES +
           (uint64_t)ceil(coded * (double)cells + frames * per_frame);
}

/* --- Gaps ------------------------------------------------------------------------------------- */

/* The zeros before each set bit of a frame, and finally those before the bit just behind the
 * frame. */
struct gaps {
    const uint8_t *bytes; /* followed by zeros up to a whole word */
    uint32_t bits, from;  /* from > bits: there are no more gaps */
    uint32_t loaded;      /* number of bits in `word` and the words before it */
    uint64_t word;
};

static inline uint32_t next_gap(struct gaps *g)
{
    uint32_t at = g->bits;
    while (g->word == 0 && g->loaded < g->bits) {
        g->word = tamis__get64(g->bytes + g->loaded / 8);
        g->loaded += 64;
    }
    if (g->word != 0) at = g->loaded - 64 + (uint32_t)__builtin_ctzll(g->word);
    g->word &= g->word - 1;
    const uint32_t gap = at - g->from;
    g->from = at + 1;
    return gap;
}

/* Returns the best r near the logarithm of the mean gap, and the length of the whole code in bits,
 * or STORED if no r shrinks the frame. */
static unsigned choose_rice(const uint8_t *frame, uint32_t bits, size_t *code_bits)
{
    uint32_t gaps = 1;
    for (uint32_t at = 0; at < bits; at += 64)
        gaps += tamis__popcount(tamis__get64(frame + at / 8));
    if (gaps > bits / 2)
        return STORED; /* each gap takes at least two bits, unless r is 0, which shrinks nothing */
    const uint32_t mean = (bits + 1 - gaps) / gaps;
    const unsigned log = 31 - (unsigned)__builtin_clz(mean | 1), low = log > 0 ? log - 1 : 0;
    size_t cost[3];
    for (unsigned i = 0; i < 3; i++) cost[i] = (size_t)gaps * (low + i + 1);
    for (struct gaps g = {.bytes = frame, .bits = bits}; g.from <= bits;) {
        const uint32_t gap = next_gap(&g) >> low;
        cost[0] += gap;
        cost[1] += gap >> 1;
        cost[2] += gap >> 2;
    }
    unsigned best = 0;
    for (unsigned i = 1; i < 3 && low + i <= MOST_RICE; i++)
        if (cost[i] < cost[best]) best = i;
    *code_bits = cost[best];
    return (cost[best] + 7) / 8 < bits / 8 ? low + best : STORED;
}

/* Codes a frame. SPARE zeros follow `frame`, and `code` has room for n + 1 bytes and SPARE. Returns
 * the bytes of code. */
static size_t code_frame(const uint8_t *frame, size_t n, uint8_t *code)
{
    const uint32_t bits = (uint32_t)n * 8;
    size_t code_bits = 0, at = 8;
    const unsigned r = choose_rice(frame, bits, &code_bits);
    code[0] = (uint8_t)r;
    if (r == STORED) {
        memcpy(code + 1, frame, n);
        return 1 + n;
    }
    const size_t bytes = 1 + (code_bits + 7) / 8;
    memset(code + 1, 0, bytes - 1 + SPARE);
    for (struct gaps g = {.bytes = frame, .bits = bits}; g.from <= bits;) {
        const uint32_t gap = next_gap(&g);
        const uint64_t tail = ((uint64_t)gap & ((1u << r) - 1)) << 1 | 1;
        at += gap >> r;
        tamis__put64(code + at / 8, tamis__get64(code + at / 8) | tail << at % 8);
        at += 1 + r;
    }
    assert(at == 8 + code_bits);
    return bytes;
}

/* Returns 57 bits or more from bit `at` of the input on, with zeros after its end. */
static uint64_t peek(const uint8_t *from, size_t n, size_t at)
{
    uint8_t last[8] = {0};
    if (at / 8 + 8 <= n) return tamis__get64(from + at / 8) >> at % 8;
    if (at / 8 < n) memcpy(last, from + at / 8, n - at / 8);
    return tamis__get64(last) >> at % 8;
}

/* Decodes one gap at *at. Returns more than `most` if the code is invalid. */
static uint32_t take_gap(const uint8_t *from, size_t n, size_t *at, unsigned r, uint32_t most)
{
    const unsigned sure = 57;
    uint64_t window = peek(from, n, *at), zeros = 0;
    while (window << (64 - sure) == 0) {
        zeros += sure;
        *at += sure;
        if (zeros << r > most) return most + 1;
        window = peek(from, n, *at);
    }
    const unsigned more = (unsigned)__builtin_ctzll(window);
    zeros += more;
    *at += more + 1;
    if (zeros << r > most) return most + 1;
    window = more + 1 + r <= sure ? window >> more >> 1 : peek(from, n, *at);
    *at += r;
    return (uint32_t)(zeros << r | (window & ((1u << r) - 1)));
}

/* Decodes the n bytes of a frame from at most `size` bytes of code. Returns how many of these it
 * used, or 0 if they are not the code of such a frame. */
static size_t decode_frame(const uint8_t *code, size_t size, uint8_t *frame, size_t n)
{
    const uint32_t bits = (uint32_t)n * 8;
    if (size < 1) return 0;
    const unsigned r = code[0];
    if (r == STORED && size > n) {
        memcpy(frame, code + 1, n);
        return 1 + n;
    }
    if (r > MOST_RICE) return 0;
    memset(frame, 0, n);
    size_t at = 8;
    for (uint32_t bit = 0;; bit++) {
        bit += take_gap(code, size, &at, r, bits - bit);
        if (bit >= bits || at > 8 * size) {
            if (bit != bits) return 0;
            break;
        }
        frame[bit / 8] = (uint8_t)(frame[bit / 8] | 1u << bit % 8);
    }
    const size_t taken = (at + 7) / 8;
    if (taken > size || (at % 8 != 0 && code[at / 8] >> at % 8 != 0)) return 0;
    return taken;
}

/* --- Packing ---------------------------------------------------------------------------------- */

struct packer {
    struct summing sum;
    tamis_sink put;
    void *ctx;
    uint64_t image_bytes;
    bool begun;
    size_t filled; /* bytes of the current frame */
    uint8_t frame[FRAME + SPARE], code[1 + FRAME + SPARE];
};

static tamis_status emit(struct packer *p, const void *bytes, size_t n)
{
    tamis__summing_add(&p->sum, bytes, n);
    return p->put(p->ctx, bytes, n);
}

static tamis_status pack_begin(struct packer *p, size_t metadata_bytes)
{
    uint8_t start[START_BYTES] = {0};
    memcpy(start + P_MAGIC, pack_magic, sizeof pack_magic);
    tamis__put16(start + P_VERSION, VERSION);
    tamis__put64(start + P_IMAGE_BYTES, p->image_bytes);
    tamis__put64(start + P_METADATA_BYTES, metadata_bytes);
    p->begun = true;
    return emit(p, start, sizeof start);
}

static tamis_status end_frame(struct packer *p)
{
    memset(p->frame + p->filled, 0, SPARE);
    const size_t bytes = code_frame(p->frame, p->filled, p->code);
    p->filled = 0;
    return emit(p, p->code, bytes);
}

/* The sink of the image's writer, whose first piece is the metadata. */
static tamis_status put_image(void *ctx, const void *bytes, size_t n)
{
    struct packer *p = ctx;
    if (!p->begun) {
        const tamis_status s = pack_begin(p, n);
        return s == TAMIS_OK ? emit(p, bytes, n) : s;
    }
    for (const uint8_t *from = bytes; n > 0;) {
        const size_t room = FRAME - p->filled, take = n < room ? n : room;
        memcpy(p->frame + p->filled, from, take);
        p->filled += take;
        from += take;
        n -= take;
        if (p->filled < FRAME) break;
        const tamis_status s = end_frame(p);
        if (s != TAMIS_OK) return s;
    }
    return TAMIS_OK;
}

static tamis_status pack_still(const tamis *t, tamis_sink put, void *ctx, tamis_error *why)
{
    uint64_t root;
    uint8_t sum[SUM_BYTES];
    if ((t->kind->traits & TAMIS__NOISY) != 0)
        return tamis__fail(why, TAMIS_EUNSUPPORTED,
                           "a private filter cannot be packed, because noise does "
                           "not shrink; send it as it is");
    struct packer *p = tamis__alloc(t->body.memory, sizeof *p);
    if (p == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to pack the image");
    p->put = put;
    p->ctx = ctx;
    p->image_bytes = tamis_image_size(t);
    tamis__summing_start(&p->sum);
    tamis_status s = tamis__image_write(t, put_image, p, &root, why);
    if (s == TAMIS_OK && p->filled > 0) s = end_frame(p);
    tamis__put64(sum, tamis__summing_end(&p->sum));
    if (s == TAMIS_OK) s = put(ctx, sum, sizeof sum);
    tamis__free(t->body.memory, p);
    if (s != TAMIS_OK && why != NULL && why->status != s)
        tamis__fail(why, s, "writing the packed image: %s", tamis_status_message(s));
    return s;
}

tamis_status tamis_pack(const tamis *t, tamis_sink put, void *ctx, tamis_error *why)
{
    tamis *made;
    if (why != NULL) why->status = TAMIS_OK;
    tamis_status s = tamis__still(t, &made, why);
    if (s == TAMIS_OK) s = pack_still(made != NULL ? made : t, put, ctx, why);
    tamis_close(made);
    return s;
}

/* --- Unpacking -------------------------------------------------------------------------------- */

struct unpacker {
    const uint8_t *packed;
    size_t size, at;   /* size of everything except the checksum */
    uint64_t verbatim; /* bytes of metadata still to come */
    uint64_t framed;   /* bytes in frames still to come */
    size_t ready, used;
    uint8_t frame[FRAME + SPARE];
};

static tamis_status next_frame(struct unpacker *u, tamis_error *why)
{
    const size_t n = u->framed < FRAME ? (size_t)u->framed : FRAME;
    const size_t taken = decode_frame(u->packed + u->at, u->size - u->at, u->frame, n);
    if (taken == 0) return tamis__corrupt(why, u->at, "a packed frame is incomplete");
    u->at += taken;
    u->framed -= n;
    u->ready = n;
    u->used = 0;
    return TAMIS_OK;
}

/* struct source.read: the image's reader requests all bytes in order. */
static tamis_status read_next(const struct source *src, uint64_t at, void *to, size_t n,
                              tamis_error *why)
{
    struct unpacker *u = src->ctx;
    (void)at;
    for (uint8_t *next = to; n > 0;) {
        size_t take;
        const uint8_t *from;
        if (u->verbatim > 0) {
            take = u->verbatim < n ? (size_t)u->verbatim : n;
            from = u->packed + u->at;
            u->at += take;
            u->verbatim -= take;
        } else {
            tamis_status s = u->used == u->ready ? next_frame(u, why) : TAMIS_OK;
            if (s != TAMIS_OK) return s;
            take = u->ready - u->used < n ? u->ready - u->used : n;
            from = u->frame + u->used;
            u->used += take;
        }
        memcpy(next, from, take);
        next += take;
        n -= take;
    }
    return TAMIS_OK;
}

/* Checks that the sizes in the start agree with what the rest can hold. */
static tamis_status check_packed(const uint8_t *packed, size_t size, uint64_t *metadata_bytes,
                                 uint64_t *image_bytes, tamis_error *why)
{
    uint64_t root;
    if (size >= TAMIS__HEADER_BYTES && tamis__image_root(packed, &root))
        return tamis__corrupt(why, 0, "this file is not packed; open it as it is");
    if (!tamis__is_packed(packed, size, image_bytes))
        return tamis__corrupt(why, 0, "not a packed Tamis file");
    const unsigned version = tamis__get16(packed + P_VERSION);
    if (version == 0) return tamis__corrupt(why, P_VERSION, "the packed format version is 0");
    if (version > VERSION)
        return tamis__fail(why, TAMIS_EVERSION,
                           "this file is packed in format %u; this library reads up to %u", version,
                           VERSION);
    if (size < START_BYTES + SUM_BYTES ||
        tamis__checksum(packed, size - SUM_BYTES) != tamis__get64(packed + size - SUM_BYTES))
        return tamis__corrupt(why, size, "damaged or truncated: the checksum does not match");
    if (tamis__get16(packed + P_ZERO_6) != 0 || tamis__get32(packed + P_ZERO_6 + 2) != 0)
        return tamis__corrupt(why, P_ZERO_6, "a reserved field is not zero");
    const uint64_t rest = size - START_BYTES - SUM_BYTES;
    *metadata_bytes = tamis__get64(packed + P_METADATA_BYTES);
    if (*metadata_bytes < TAMIS__HEADER_BYTES || *metadata_bytes > rest ||
        *metadata_bytes > *image_bytes)
        return tamis__corrupt(why, P_METADATA_BYTES, "the length of the metadata is wrong");
    if ((*image_bytes - *metadata_bytes) / FRAME > (rest - *metadata_bytes) / LEAST_FRAME)
        return tamis__corrupt(why, P_IMAGE_BYTES, "the image is longer than so few bytes can hold");
    return TAMIS_OK;
}

tamis_status tamis_unpack(const void *packed, size_t size, const tamis_options *options,
                          tamis **out, tamis_error *why)
{
    tamis_options o;
    uint64_t metadata = 0, image = 0;
    if (tamis__no_out(out, why)) return TAMIS_EINVAL;
    *out = NULL;
    tamis_status s = tamis__check_options(options, TAMIS__LOAD_FLAGS, &o, why);
    if (s != TAMIS_OK) return s;
    if (packed == NULL) return tamis__fail(why, TAMIS_EINVAL, "there is no packed image");
    s = check_packed(packed, size, &metadata, &image, why);
    if (s != TAMIS_OK) return s;
    struct unpacker *u = tamis__alloc(o.memory, sizeof *u);
    if (u == NULL) return tamis__fail(why, TAMIS_ENOMEM, "not enough memory to unpack");
    u->packed = packed;
    u->size = size - SUM_BYTES;
    u->at = START_BYTES;
    u->verbatim = metadata;
    u->framed = image - metadata;
    const struct source src = {
        .size = image, .metadata_bytes = metadata, .read = read_next, .ctx = u};
    s = tamis__image_read(&src, &o, false, out, why);
    if (s == TAMIS_OK && u->at != u->size) {
        tamis_close(*out);
        *out = NULL;
        s = tamis__corrupt(why, u->at, "there are bytes after the last frame");
    }
    tamis__free(o.memory, u);
    return s;
}
