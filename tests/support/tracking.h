/* An allocator for tests: it counts the live blocks, remembers the peak, and fails on demand. */
#ifndef TAMIS_TEST_TRACKING_H
#define TAMIS_TEST_TRACKING_H

#include <tamis/tamis.h>

#include <stdlib.h>
#include <string.h>

struct tracker {
    tamis_memory memory;  /* for tamis_options; ctx is this tracker */
    size_t blocks, bytes; /* alive */
    size_t peak;          /* most bytes alive */
    size_t calls;         /* of alloc */
    size_t fail_at;       /* this call fails, counted from 1; 0: none */
    bool for_ever;        /* and every one after it */
    bool failed;          /* one has */
};

/* In front of each block, as big as the strictest alignment. */
union tracked {
    size_t size;
    max_align_t align;
};

static inline void *tracker_alloc(void *ctx, size_t size)
{
    struct tracker *a = ctx;
    a->calls++;
    if (a->fail_at != 0 && (a->calls == a->fail_at || (a->for_ever && a->calls > a->fail_at))) {
        a->failed = true;
        return NULL;
    }
    union tracked *block = malloc(sizeof *block + size);
    if (block == NULL) return NULL;
    block->size = size;
    /* The library must not count on zeroes. */
    memset(block + 1, 0xa5, size);
    a->blocks++;
    a->bytes += size;
    if (a->bytes > a->peak) a->peak = a->bytes;
    return block + 1;
}

static inline void tracker_free(void *ctx, void *p)
{
    struct tracker *a = ctx;
    union tracked *block = (union tracked *)p - 1;
    a->blocks--;
    a->bytes -= block->size;
    free(block);
}

static inline void tracker_init(struct tracker *a)
{
    memset(a, 0, sizeof *a);
    a->memory = (tamis_memory){.ctx = a, .alloc = tracker_alloc, .free = tracker_free};
}

#endif
