/* The readers of other programs' filters and of Parquet files on hostile bytes. The mutator repairs
 * the sum of a Redis DUMP and the end of a Parquet file most of the time.
 *
 * ./run fuzz foreign */
#include "fuzz.h"

#include "../support/resum.h"

#include <tamis/foreign.h>

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);

static const tamis_options LIMITED = {.struct_size = sizeof LIMITED, .max_bytes = MAX_BYTES};

static void use(const tamis_foreign *f)
{
    tamis_foreign_facts x = {.struct_size = sizeof x};
    must(tamis_foreign_info(f, &x) == TAMIS_OK, "info");
    must(x.fill >= 0 && x.fill <= 1 && x.fpr_now >= 0 && x.fpr_now <= 1, "shares are shares");
    must(x.bytes <= MAX_BYTES, "as big as was allowed");
    for (uint32_t i = 0; i < 8; i++) tamis_foreign_may_contain(f, &i, i % 5);
    /* What was let in is written, and read again with the same answers. */
    struct bytes_sink s = {bytes_new((size_t)x.bytes + x.extra_size + 64 + 128 * (size_t)x.links),
                           0};
    must(tamis_foreign_write(f, TAMIS_FOREIGN_AUTO, bytes_put, &s, NULL) == TAMIS_OK, "write");
    tamis_foreign *again;
    must(tamis_foreign_open(s.to.p, s.at, x.format, NULL, &again, NULL) == TAMIS_OK, "read again");
    for (uint32_t i = 0; i < 8; i++)
        must(tamis_foreign_may_contain(f, &i, i % 5) == tamis_foreign_may_contain(again, &i, i % 5),
             "the same answers");
    tamis_foreign_close(again);
    free(s.to.p);
}

static tamis_status read_memory(void *ctx, uint64_t offset, void *to, size_t n)
{
    const struct bytes *b = ctx;
    must(offset <= b->n && n <= b->n - offset, "reads within the file");
    memcpy(to, b->p + offset, n);
    return TAMIS_OK;
}

static void use_parquet(struct bytes *b)
{
    const tamis_reader file = {b, b->n, read_memory};
    tamis_parquet *p;
    if (tamis_parquet_open(&file, &LIMITED, &p, NULL) != TAMIS_OK) return;
    const uint64_t n = tamis_parquet_chunks(p);
    must(n <= b->n, "no more chunks than bytes");
    for (uint64_t i = 0; i < n && i < 64; i++) {
        tamis_foreign *f;
        tamis_parquet_chunk c = {.struct_size = sizeof c};
        must(tamis_parquet_chunk_at(p, i, &c) == TAMIS_OK, "a chunk");
        must(c.name[c.name_len] == '\0', "a name that ends");
        if (tamis_parquet_filter(p, i, &f, NULL) == TAMIS_OK) use(f);
        tamis_foreign_close(f);
    }
    tamis_parquet_close(p);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct bytes b = bytes_copy(data, size);
    for (uint32_t format = TAMIS_FOREIGN_AUTO; format <= TAMIS_FOREIGN_GUAVA; format++) {
        tamis_foreign *f;
        tamis_error why = {0};
        const tamis_status s = tamis_foreign_open(b.p, b.n, format, &LIMITED, &f, &why);
        must((s == TAMIS_OK) == (f != NULL), "a handle or a reason");
        must(s == TAMIS_OK || why.text[0] != '\0', "a reason has words");
        if (s == TAMIS_OK && size < 1u << 16) use(f);
        tamis_foreign_close(f);
    }
    use_parquet(&b);
    free(b.p);
    return 0;
}

#ifndef FUZZ_STANDALONE

/* One in eight stays broken. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    size = LLVMFuzzerMutate(data, size, max_size);
    if (seed % 8 == 0 || size < 16) return size;
    if (data[0] == 7) {
        uint64_t v = 0;
        for (size_t i = 0; i < size - 8; i++) {
            v ^= data[i];
            for (int bit = 0; bit < 8; bit++)
                v = v >> 1 ^ (v & 1 ? UINT64_C(0x95ac9329ac4bc9b5) : 0);
        }
        tamis__put64(data + size - 8, v);
    } else if (data[0] == 'P') {
        memcpy(data, "PAR1", 4);
        memcpy(data + size - 4, "PAR1", 4);
        if (tamis__get32(data + size - 8) > size - 12)
            tamis__put32(data + size - 8, (uint32_t)size - 12);
    }
    return size;
}

#endif
