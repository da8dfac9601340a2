/* Keys of a fixed length, and filters that hold them. */
#include "calls.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void succeed(tamis_status s)
{
    if (s != TAMIS_OK) die("%s", tamis_status_message(s));
}

void fixed_key(uint64_t i, size_t len, unsigned char *out)
{
    static const char url[] = "https://www.example.org/articles/2026/";
    const uint64_t x = mix(i);
    if (len == INT_LEN) {
        memcpy(out, &x, sizeof x);
        return;
    }
    const size_t head = len - 16;
    memcpy(out, len == URL_LEN ? url : "key-", head);
    for (int digit = 0; digit < 16; digit++)
        out[head + (size_t)digit] = (unsigned char)"0123456789abcdef"[x >> 4 * digit & 15];
}

unsigned char *keys_from(uint64_t from, uint64_t count, size_t len)
{
    unsigned char *out = take(count * len);
    for (uint64_t i = 0; i < count; i++) fixed_key(from + i, len, out + i * len);
    return out;
}

unsigned char *keys_among(uint64_t n, uint64_t count, size_t len)
{
    unsigned char *out = take(count * len);
    for (uint64_t i = 0; i < count; i++)
        fixed_key(mix(i ^ UINT64_C(1) << 60) % n, len, out + i * len);
    return out;
}

tamis_plan design_plan(const struct design *d, uint64_t n)
{
    tamis_plan plan = {.struct_size = sizeof plan,
                       .kind = d->kind,
                       .flags = d->flags,
                       .items = n,
                       .k = d->k,
                       .fpr = 0.01};
    succeed(tamis_solve(&plan, NULL, NULL));
    return plan;
}

/* Bulk adds are streamed, as in the tables. */
tamis *new_handle(const tamis_plan *plan, uint32_t flags, uint32_t threads)
{
    const tamis_options options = {.struct_size = sizeof options,
                                   .flags = flags,
                                   .scratch_bytes = threads > 0 ? 0 : 1,
                                   .threads = threads};
    tamis *t;
    succeed(tamis_create(plan, &options, &t, NULL));
    return t;
}

void fill(tamis *t, uint64_t from, uint64_t n, size_t len)
{
    static unsigned char keys[BATCH * URL_LEN];
    static tamis_bytes list[BATCH];
    for (uint64_t at = 0; at < n;) {
        const size_t part = n - at < BATCH ? (size_t)(n - at) : BATCH;
        for (size_t i = 0; i < part; i++) {
            fixed_key(from + at + i, len, keys + i * len);
            list[i] = (tamis_bytes){keys + i * len, len};
        }
        succeed(tamis_add_many(t, list, part, NULL, NULL));
        at += part;
    }
}

tamis *filled(const struct design *d, uint64_t n, size_t len)
{
    const tamis_plan plan = design_plan(d, n);
    tamis *t = new_handle(&plan, 0, 0);
    fill(t, 0, n, len);
    if (d->kind == TAMIS_FUSE || d->kind == TAMIS_RIBBON) succeed(tamis_seal(t, NULL));
    return t;
}

void clear_handle(struct lane *l)
{
    succeed(tamis_clear(l->it));
}

uint64_t run_loop(struct lane *l)
{
    return l->loop(l->it, l->keys, l->len, l->per_step, l->usual);
}

void warm_loop(struct lane *l)
{
    l->warm_with(l->it, l->warm_keys, l->len, l->warm, l->usual);
}

uint64_t sized(uint64_t n)
{
    if (settings.counting) return n < 20000 ? n : 20000;
    return settings.check ? 1 + n / 1000 : n;
}

/* A fuse filter of 100 million keys needs 5 GB while it is built. */
size_t set_sizes(uint64_t out[3])
{
    const double memory = (double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGESIZE);
    const size_t most = settings.counting || settings.quick ? 1 : memory < 12e9 ? 2 : 3;
    for (size_t i = 0; i < most; i++) {
        static const uint64_t sizes[3] = {1000000, 10000000, 100000000};
        out[i] = sized(sizes[i]);
    }
    return most;
}
