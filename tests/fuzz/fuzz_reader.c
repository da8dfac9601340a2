/* reader/tamis-reader.h on hostile bytes, against the library: it opens an image exactly if the
 * library does and the kind is one of its own, and both give the same answers. The mutator repairs
 * the sums most of the time, or nothing would ever get past the root; see tests/support/resum.h.
 *
 * ./run fuzz reader */
#include "fuzz.h"

#define TAMIS_READER_IMPLEMENTATION
#include "../../reader/tamis-reader.h"
#include "../support/resum.h"

#include <tamis/tamis.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static const uint8_t secret[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

static void compare(const tamis *t, const tamis_reader *r)
{
    for (uint64_t i = 0; i < 64; i++) {
        const tamis_hash h = {i * UINT64_C(0x9e3779b97f4a7c15), ~i * UINT64_C(0xbf58476d1ce4e5b9)};
        const tamis_hash ends = {i % 2 == 0 ? 0 : UINT64_MAX, i % 4 < 2 ? 0 : UINT64_MAX};
        const uint64_t key[40] = {i};
        must(tamis_reader_may_contain_hash(r, h.lo, h.hi) ==
                 (tamis_may_contain_hashes(t, &h, 1, NULL) == 1),
             "the same answer for a hash");
        must(tamis_reader_may_contain_hash(r, ends.lo, ends.hi) ==
                 (tamis_may_contain_hashes(t, &ends, 1, NULL) == 1),
             "the same answer for the first and the last hash");
        must(tamis_reader_may_contain(r, key, 5 * i) == tamis_may_contain(t, key, 5 * i),
             "the same answer for a key");
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const bool whole = size >= 192;
    const bool keyed = whole && tamis__get16(data + 28) == TAMIS_SIPHASH;
    const unsigned kind = whole ? tamis__get16(data + 30) : 0;
    const bool own = (kind == TAMIS_BLOCKED || kind == TAMIS_FUSE) && tamis__get16(data + 128) == 1;
    const tamis_options o = {
        .struct_size = sizeof o, .max_bytes = MAX_BYTES, .key = keyed ? secret : NULL};
    struct bytes image = bytes_copy(data, size);
    tamis_reader r;
    tamis *t = NULL;
    const bool opened = tamis_reader_open_keyed(&r, image.p, image.n, o.key) == TAMIS_READER_OK;
    const bool loaded = tamis_load(image.p, image.n, &o, &t, NULL) == TAMIS_OK;
    must(opened || tamis_reader_may_contain(&r, "key", 3), "never a quiet no");
    must(opened || tamis_reader_may_contain_hash(&r, 0, 0), "never a quiet no");
    must(size > MAX_BYTES || opened == (loaded && own), "both open it, or neither");
    if (opened && loaded) compare(t, &r);
    tamis_close(t);
    free(image.p);
    return 0;
}

#ifndef FUZZ_STANDALONE

/* One in eight stays broken, for the checks of the sums; half of the rest says its true length. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, max_size);
    if (seed % 8 == 0 || size < 128) return size;
    if (seed / 8 % 2 == 0) tamis__put64(data + 112, size);
    image_resum(data, size);
    return size;
}

#endif
