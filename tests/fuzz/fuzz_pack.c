/* The reader of packed files on hostile bytes. The mutator repairs the sum of the file and the root
 * of the metadata most of the time; the sums of the cells are waived, or no frame but a true one
 * would count.
 *
 * ./run fuzz pack */
#include "fuzz.h"

#include "../support/resum.h"

#include <tamis/inspect.h>
#include <tamis/tamis.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

/* What came out packs again, no bigger than was promised, and comes out the same. */
static void round_trip(const tamis *t, const tamis_options *o)
{
    struct bytes image = image_of(t);
    if (image.p == NULL && tamis_write(t, bytes_put, NULL, NULL) == TAMIS_EVERSION) return;
    must(image.p != NULL, "write");
    struct bytes packed = packed_of(t);
    tamis *again;
    must(packed.p != NULL, "no bigger than promised");
    must(tamis_unpack(packed.p, packed.n, o, &again, NULL) == TAMIS_OK, "unpack again");
    struct bytes second = image_of(again);
    must(bytes_equal(image, second), "the same bytes");
    tamis_close(again);
    free(second.p);
    free(packed.p);
    free(image.p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const tamis_options o = {
        .struct_size = sizeof o, .flags = TAMIS_UNVERIFIED | TAMIS_KEYLESS, .max_bytes = MAX_BYTES};
    struct bytes packed = bytes_copy(data, size);
    tamis *t;
    tamis_error why;
    const tamis_status s = tamis_unpack(packed.p, packed.n, &o, &t, &why);
    must((s == TAMIS_OK) == (t != NULL), "a handle or a reason");
    must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
    if (s == TAMIS_OK) {
        tamis_facts f = {.struct_size = sizeof f};
        must(tamis_info(t, &f) == TAMIS_OK, "info");
        must(f.bytes <= MAX_BYTES && f.bytes / 5462 <= size, "as big as the input justifies");
        tamis_may_contain(t, "key", 3);
        round_trip(t, &o);
    }
    tamis_close(t);
    free(packed.p);
    return 0;
}

#ifndef FUZZ_STANDALONE

/* One in eight stays broken, for the checks of the sums. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, max_size);
    if (seed % 8 == 0 || size < 32 + 128 + 8) return size;
    const uint64_t metadata = tamis__get64(data + 24);
    if (metadata >= 128 && metadata <= size - 40) {
        tamis__put64(data + 32 + 120, 0);
        tamis__put64(data + 32 + 120, tamis__checksum(data + 32, (size_t)metadata));
    }
    tamis__put64(data + size - 8, tamis__checksum(data, size - 8));
    return size;
}

#endif
