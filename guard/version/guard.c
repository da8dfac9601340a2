/* One open version of a directory. */
#include "guard.h"

#include "manifest.h"
#include "store.h"
#include "trust.h"

#include <stdlib.h>
#include <string.h>
#include <tamis/inspect.h>
#include <tamis/map.h>

/* After it publishes a version, the builder removes the files of the previous one. A reader that
 * was still using the old manifest then reads the new one. */
#define ATTEMPTS 10

/* A file in memory, aligned as tamis_view requires. */
struct bytes {
    void *p;
    size_t n;
};

struct guard {
    guard_manifest about;
    struct guard_manifest_text text;
    struct bytes filter_bytes, delta_bytes, removed;
    tamis *filter, *delta; /* delta is NULL if there is none */
    struct guard_store *store;
};

struct part_reading {
    struct bytes *to;
    size_t n;
};

static bool take_bytes(void *ctx, const void *bytes, size_t n)
{
    struct part_reading *r = ctx;
    if (r->to->p == NULL) r->to->p = aligned_alloc(64, (r->to->n + 63) / 64 * 64);
    if (r->to->p == NULL) return false;
    memcpy((char *)r->to->p + r->n, bytes, n);
    r->n += n;
    return true;
}

/* Reads a part into memory and verifies the size and checksum in the manifest. */
static bool read_part(const char *directory, uint64_t version, const char *name,
                      const guard_part *part, struct bytes *out, guard_error *why)
{
    char *path = guard_part_path(directory, version, name);
    struct part_reading r = {out, 0};
    if (path == NULL) return guard_fail(why, "not enough memory");
    out->n = (size_t)part->bytes;
    const bool good = guard_read_part(path, part, take_bytes, &r, why);
    free(path);
    return good;
}

static bool view(const char *what, const struct bytes *b, tamis **out, guard_error *why)
{
    tamis_error reason;
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_view(b->p, b->n, NULL, out, &reason) == TAMIS_OK) {
        if (tamis_stat(*out, &f) == TAMIS_OK && !f.may_miss) return true;
        tamis_close(*out);
        *out = NULL;
        return guard_fail(why, "the %s is a %s filter, which can miss listed URLs", what,
                          tamis_kind_name(f.kind));
    }
    return guard_fail(why, "the %s: %s", what, reason.text);
}

static bool load(guard *g, const char *directory, guard_error *why)
{
    const guard_manifest *m = &g->about;
    bool good = read_part(directory, m->base, "filter", &m->filter, &g->filter_bytes, why) &&
                view("filter", &g->filter_bytes, &g->filter, why);
    if (good && m->delta.bytes != 0)
        good = read_part(directory, m->version, "delta", &m->delta, &g->delta_bytes, why) &&
               view("delta", &g->delta_bytes, &g->delta, why);
    if (good && m->removal.bytes != 0)
        good = read_part(directory, m->version, "removed", &m->removal, &g->removed, why);
    if (!good) return false;
    char *path = guard_part_path(directory, m->version, "store");
    if (path == NULL) return guard_fail(why, "not enough memory");
    g->store = guard_store_open(path, &m->store, m->entries, why);
    free(path);
    return g->store != NULL;
}

/* Reads the manifest, and judges it before anything that it names is read. */
static bool begin(guard *g, const char *directory, guard_trust *t, guard_error *why)
{
    bool absent;
    guard_error reason;
    if (!guard_manifest_read(directory, &g->about, &g->text, &absent, why)) return false;
    if (t == NULL) return true;
    if (!guard_trust_recall(t, why)) return false;
    return guard_trust_check(t, &g->about, &g->text, time(NULL), &reason) ||
           guard_fail(why, "%.80s/manifest: %s", directory, reason.text); /* the reason fits */
}

guard *guard_open_trusted(const char *directory, guard_trust *t, guard_error *why)
{
    char id[sizeof((guard_manifest *)0)->id] = "";
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        guard *g = calloc(1, sizeof *g);
        if (g == NULL) {
            guard_fail(why, "not enough memory");
            return NULL;
        }
        if (!begin(g, directory, t, why)) {
            guard_close(g);
            return NULL;
        }
        const bool loaded = load(g, directory, why);
        if (loaded && (t == NULL || guard_trust_remember(t, &g->about, why))) return g;
        /* The manifest did not change, so the file is damaged, not replaced by a newer version. */
        const bool again = loaded || strcmp(id, g->about.id) == 0;
        memcpy(id, g->about.id, sizeof id);
        guard_close(g);
        if (again) break;
    }
    return NULL;
}

guard *guard_open(const char *directory, guard_error *why)
{
    return guard_open_trusted(directory, NULL, why);
}

void guard_close(guard *g)
{
    if (g == NULL) return;
    tamis_close(g->filter);
    tamis_close(g->delta);
    guard_store_close(g->store);
    free(g->filter_bytes.p);
    free(g->delta_bytes.p);
    free(g->removed.p);
    free(g);
}

const guard_manifest *guard_about(const guard *g)
{
    return &g->about;
}

const char *guard_manifest_text(const guard *g)
{
    return g->text.at;
}

bool guard_has_expired(const guard *g, time_t now)
{
    return g->about.expires != 0 && g->about.expires <= now;
}

const void *guard_bytes(const guard *g, const char *part, size_t *size)
{
    const struct bytes *b = NULL;
    if (strcmp(part, "filter") == 0) b = &g->filter_bytes;
    if (strcmp(part, "delta") == 0) b = &g->delta_bytes;
    if (strcmp(part, "removed") == 0) b = &g->removed;
    *size = b != NULL ? b->n : 0;
    return b != NULL ? b->p : NULL;
}

static bool is_removed(const struct bytes *removed, const uint8_t *prefix)
{
    size_t from = 0, to = removed->n / GUARD_PREFIX;
    while (from < to) {
        const size_t middle = from + (to - from) / 2;
        const int order =
            memcmp((const uint8_t *)removed->p + middle * GUARD_PREFIX, prefix, GUARD_PREFIX);
        if (order == 0) return true;
        if (order < 0)
            from = middle + 1;
        else
            to = middle;
    }
    return false;
}

bool guard_may_list(const guard *g, const uint8_t hash[GUARD_HASH_SIZE])
{
    const bool in = tamis_may_contain(g->filter, hash, GUARD_HASH_SIZE) ||
                    (g->delta != NULL && tamis_may_contain(g->delta, hash, GUARD_HASH_SIZE));
    return in && !is_removed(&g->removed, hash);
}

static bool is_map(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    return t != NULL && tamis_stat(t, &f) == TAMIS_OK && f.kind == TAMIS_VALUE_MAP;
}

bool guard_has_labels(const guard *g)
{
    return is_map(g->filter);
}

/* The delta comes first, because an expression that got another label is in both. */
const char *guard_likely_label(const guard *g, const uint8_t hash[GUARD_HASH_SIZE])
{
    uint32_t value = 0;
    if (is_removed(&g->removed, hash)) return NULL;
    const bool found =
        (g->delta != NULL && tamis_value(g->delta, hash, GUARD_HASH_SIZE, &value) == TAMIS_OK) ||
        tamis_value(g->filter, hash, GUARD_HASH_SIZE, &value) == TAMIS_OK;
    return found && value < g->about.n_labels ? g->about.labels[value] : NULL;
}

int guard_confirm(const guard *g, const uint8_t hash[GUARD_HASH_SIZE], uint64_t *labels)
{
    return guard_store_find(g->store, hash, labels);
}

bool guard_find_prefix(const guard *g, const uint8_t prefix[GUARD_PREFIX],
                       bool (*put)(void *ctx, const uint8_t hash[GUARD_HASH_SIZE], uint64_t labels),
                       void *ctx)
{
    return guard_store_each(g->store, prefix, GUARD_PREFIX, put, ctx);
}
