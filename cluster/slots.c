/* The slot of a key in a cluster. It is the CRC-16 (XMODEM: polynomial 1021, initial value 0, most
 * significant bit first) of the key, or of the text between its first { and the next }, unless that
 * text is empty. */
#include "cluster.h"

#include <stdio.h>
#include <string.h>

static unsigned crc16(const char *p, size_t n)
{
    unsigned crc = 0;
    for (size_t i = 0; i < n; i++) {
        crc ^= (unsigned)(unsigned char)p[i] << 8;
        for (int bit = 0; bit < 8; bit++)
            crc = (crc << 1 ^ ((crc & 0x8000) != 0 ? 0x1021u : 0)) & 0xffff;
    }
    return crc;
}

unsigned cluster_slot(const char *key, size_t length)
{
    const char *open = memchr(key, '{', length);
    if (open != NULL) {
        const char *close = memchr(open, '}', length - (size_t)(open - key));
        if (close != NULL && close > open + 1) {
            key = open + 1;
            length = (size_t)(close - key);
        }
    }
    return crc16(key, length) % CLUSTER_SLOTS;
}

/* The numbers up to 200,000 reach every slot (tests/cluster/test_cluster_slots.c), so the loop
 * ends. */
void cluster_tags(unsigned shards, uint32_t *tags)
{
    unsigned found = 0;
    memset(tags, 0xff, shards * sizeof *tags);
    for (uint32_t tag = 0; found < shards; tag++) {
        char text[16];
        const int n = snprintf(text, sizeof text, "%u", tag);
        const unsigned shard = crc16(text, (size_t)n) % CLUSTER_SLOTS * shards / CLUSTER_SLOTS;
        if (tags[shard] != UINT32_MAX) continue;
        tags[shard] = tag;
        found++;
    }
}
