/* From lists to a published version.
 *
 * The base filter is a big download, so it stays when little has changed. Then a small filter of
 * the entries added since, the delta, and a list of the removed ones accompany it. A new base is
 * built when the added and removed entries together exceed a twentieth of the base, or when the
 * base would match a good URL. */
#include "guard.h"

#include "lists.h"
#include "manifest.h"
#include "trust.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <tamis/inspect.h>
#include <tamis/map.h>
#include <tamis/tamis.h>
#include <unistd.h>

#define REBASE_SHARE 20 /* changes beyond 1/20 of the base make a new one */
/* A filter that has no more room than its labels take would match every other expression. */
#define WORST_LABELLED (1.0 / 64)
/* A lower rate is not useful: at this rate a page of 30 expressions asks the server once in half a
 * million visits. */
#define LEAST_RATE (1.0 / (1 << 24))
/* The delta is small, so it can afford two more bits per key. Base and delta together have 1.25
 * times the rate of the base. */
#define DELTA_SHARE 4
/* A delta with labels matches any other listed expression once in this many times. */
#define LABEL_SHARE 16
#define ATTEMPTS 16         /* which all fail once in 10^19 times */
#define LOWEST_RATE 0x1p-32 /* of a map */

struct build {
    const guard_request *request;
    guard_error *why;
    guard_manifest old, fresh;
    bool has_old;
    struct guard_entries bad, good;
    struct guard_entries added; /* since the base was built */
    struct guard_entries removed;
};

/* --- The files of the directory --------------------------------------------------------------- */

static bool names(const guard_manifest *m, uint64_t version, const char *part)
{
    if (version == m->base && (strcmp(part, "filter") == 0 || strcmp(part, "store") == 0))
        return true;
    return version == m->version && (strcmp(part, "store") == 0 || strcmp(part, "delta") == 0 ||
                                     strcmp(part, "removed") == 0);
}

static bool is_ours(const char *part)
{
    static const char *const parts[] = {"filter", "store", "delta", "removed"};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (strcmp(part, parts[i]) == 0) return true;
    return false;
}

/* Reports whether this file was left by a killed build: nobody else writes such files while the
 * directory is locked. */
static bool is_unfinished(const char *name)
{
    const size_t n = strlen(name);
    return n > 11 && strncmp(name, ".tamis-", 7) == 0 && strcmp(name + n - 4, ".tmp") == 0;
}

/* Removes the files of versions that are no longer published, or never were because a build was
 * killed. */
static void remove_others(const char *directory, const guard_manifest *keep)
{
    DIR *d = opendir(directory);
    if (d == NULL) return;
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char *dot = NULL;
        const uint64_t version = strtoull(e->d_name, &dot, 10);
        const bool ours = dot != e->d_name && *dot == '.' && is_ours(dot + 1);
        if (!ours && !is_unfinished(e->d_name)) continue;
        if (ours && keep != NULL && names(keep, version, dot + 1)) continue;
        unlinkat(dirfd(d), e->d_name, 0);
    }
    closedir(d);
}

/* Allows one build at a time. Returns a descriptor to close, or -1 after a failure. */
static int lock(const char *directory, guard_error *why)
{
    const bool made = mkdir(directory, 0755) == 0;
    if (!made && errno != EEXIST) {
        guard_fail(why, "%s: %s", directory, strerror(errno));
        return -1;
    }
    const int fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        guard_fail(why, "%s: %s", directory, strerror(errno));
    } else if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        const bool busy = errno == EWOULDBLOCK;
        if (busy)
            guard_fail(why, "%s: another build is running in this directory", directory);
        else
            guard_fail(why, "%s: cannot lock the directory against another build: %s", directory,
                       strerror(errno));
        if (made && !busy) rmdir(directory);
        close(fd);
        return -1;
    }
    return fd;
}

/* --- Reading ---------------------------------------------------------------------------------- */

/* Returns the bit of a label, or 0 if there are too many labels or this is not a valid name. */
static uint64_t label_bit(guard_manifest *m, const char *label)
{
    const size_t n = strlen(label);
    if (n == 0 || n >= GUARD_LABEL_SIZE) return 0;
    for (size_t i = 0; i < n; i++)
        if (label[i] <= ' ' || label[i] >= 0x7f || label[i] == '"' || label[i] == '\\') return 0;
    for (size_t i = 0; i < m->n_labels; i++)
        if (strcmp(m->labels[i], label) == 0) return UINT64_C(1) << i;
    if (m->n_labels == GUARD_LABELS) return 0;
    memcpy(m->labels[m->n_labels], label, n + 1);
    return UINT64_C(1) << m->n_labels++;
}

static bool read_lists(struct build *b)
{
    const guard_request *r = b->request;
    struct guard_tally tally = {0, 0}, good = {0, 0};
    for (size_t i = 0; i < r->n_bad; i++) {
        const uint64_t bit = label_bit(&b->fresh, r->bad[i].label);
        if (bit == 0)
            return guard_fail(b->why,
                              "'%s' cannot be a label: a label has up to %d printable characters, "
                              "and there can be up to %d labels",
                              r->bad[i].label, GUARD_LABEL_SIZE - 1, GUARD_LABELS);
        if (!guard_read_bad(r, &r->bad[i], bit, &b->bad, &tally, b->why)) return false;
    }
    guard_entries_sort(&b->bad);
    for (size_t i = 0; i < r->n_good; i++)
        if (!guard_read_good(r, &r->good[i], &b->bad, &b->good, &good, b->why)) return false;
    guard_entries_sort(&b->good);
    b->fresh.lines = tally.lines;
    b->fresh.rejects = tally.rejects + good.rejects;
    b->fresh.entries = b->bad.n;
    b->fresh.good = b->good.n;
    return true;
}

/* --- Filters ---------------------------------------------------------------------------------- */

/* The label of an entry in a filter: the number of the first list with it. */
static uint32_t filter_label(const struct guard_entry *e)
{
    return e->labels != 0 ? (uint32_t)__builtin_ctzll(e->labels) : 0;
}

enum filling { MEMBERS, LABELLED, EXCLUDED };

static tamis_status fill_from_entries(tamis *t, const struct guard_entries *e, enum filling how)
{
    enum { PIECE = 1024 };
    tamis_bytes keys[PIECE];
    uint32_t values[PIECE];
    tamis_status s = TAMIS_OK;
    for (size_t at = 0; at < e->n && s == TAMIS_OK; at += PIECE) {
        const size_t n = e->n - at < PIECE ? e->n - at : PIECE;
        for (size_t i = 0; i < n; i++) {
            keys[i] = (tamis_bytes){e->at[at + i].hash, GUARD_HASH_SIZE};
            if (how == LABELLED) values[i] = filter_label(&e->at[at + i]);
        }
        s = how == EXCLUDED   ? tamis_exclude_many(t, keys, n, NULL)
            : how == LABELLED ? tamis_add_value_many(t, keys, values, n, NULL, NULL)
                              : tamis_add_many(t, keys, n, NULL, NULL);
    }
    return s;
}

/* Each filter has its own public seed, so a URL forged to match this filter does not match the next
 * one. */
static bool random_seed(uint64_t *seed, guard_error *why)
{
    if (getrandom(seed, sizeof *seed, 0) == (ssize_t)sizeof *seed) return true;
    return guard_fail(why, "the system provides no random numbers: %s", strerror(errno));
}

/* Plans the filter of these members, but not its seed. */
static bool plan_filter(const struct build *b, const struct guard_entries *members, uint64_t bytes,
                        double rate, tamis_plan *out)
{
    const bool labelled = b->request->labels_in_filter;
    uint32_t label_bits = 1;
    while (b->fresh.n_labels > (size_t)1 << label_bits) label_bits++;
    tamis_plan p = {.struct_size = sizeof p,
                    .kind = labelled        ? TAMIS_VALUE_MAP
                            : b->good.n > 0 ? TAMIS_EXACT
                                            : TAMIS_RIBBON,
                    .items = members->n > 0 ? members->n : 1,
                    .excluded = b->good.n,
                    .bytes = bytes,
                    .fpr = rate,
                    .cell_bits = labelled ? label_bits : 0,
                    .encoding = TAMIS_KEYS_SHA256};
    tamis_plan small = p;
    small.fpr = LEAST_RATE;
    if (bytes != 0 && tamis_solve(&small, NULL, NULL) == TAMIS_OK) p = small;
    *out = p;
    if (!labelled || (tamis_solve(&p, NULL, NULL) == TAMIS_OK && p.fpr <= WORST_LABELLED))
        return true;
    return guard_fail(b->why,
                      "a filter of %zu entries with their labels needs more than %llu bytes",
                      members->n, (unsigned long long)bytes);
}

/* Writes the filter and stores its actual false-positive rate in *rate. `bytes` limits its size; 0
 * means that *rate is the rate to build for. */
static bool write_filter(struct build *b, const struct guard_entries *members, const char *path,
                         uint64_t bytes, double *rate, uint64_t *seed)
{
    tamis_plan p;
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    tamis *t = NULL;
    const enum filling how = b->request->labels_in_filter ? LABELLED : MEMBERS;
    if (!plan_filter(b, members, bytes, *rate, &p) || !random_seed(&p.seed, b->why)) return false;
    tamis_status s = tamis_create(&p, NULL, &t, &why);
    if (s == TAMIS_OK && fill_from_entries(t, members, how) != TAMIS_OK) s = TAMIS_ENOMEM;
    if (s == TAMIS_OK && b->good.n > 0 && fill_from_entries(t, &b->good, EXCLUDED) != TAMIS_OK)
        s = TAMIS_ENOMEM;
    if (s == TAMIS_ENOMEM) snprintf(why.text, sizeof why.text, "not enough memory");
    if (s == TAMIS_OK) s = tamis_seal(t, &why);
    if (s == TAMIS_OK) s = tamis_save(t, path, NULL, &why);
    if (s == TAMIS_OK) s = tamis_info(t, &f);
    *rate = f.fpr_now;
    *seed = f.seed;
    tamis_close(t);
    if (s != TAMIS_OK) return guard_fail(b->why, "%s: %s", path, why.text);
    return true;
}

/* --- Comparison with the base ----------------------------------------------------------------- */

static bool take_base_entry(void *ctx, const uint8_t hash[GUARD_HASH_SIZE], uint64_t labels)
{
    struct guard_entries *e = ctx;
    if (e->n == e->room) return false;
    memcpy(e->at[e->n].hash, hash, GUARD_HASH_SIZE);
    e->at[e->n++].labels = labels;
    return true;
}

static bool read_base(struct build *b, struct guard_entries *out)
{
    char *path = guard_part_path(b->request->directory, b->old.base, "store");
    struct guard_store *s =
        path != NULL ? guard_store_open(path, &b->old.base_store, b->old.base_entries, b->why)
                     : NULL;
    if (s != NULL) out->at = malloc((b->old.base_entries + 1) * sizeof *out->at);
    out->room = (size_t)b->old.base_entries;
    const bool good = out->at != NULL && guard_store_each(s, NULL, 0, take_base_entry, out);
    guard_store_close(s);
    free(path);
    return good && out->n == out->room;
}

/* Stores the entries of `a` that `b` lacks, and with `labelled` also those that have another label
 * there; both are sorted. Returns false when memory runs out. */
static bool difference(const struct guard_entries *a, const struct guard_entries *b, bool labelled,
                       struct guard_entries *out)
{
    out->at = malloc((a->n + 1) * sizeof *out->at);
    if (out->at == NULL) return false;
    for (size_t i = 0, j = 0; i < a->n; i++) {
        int order = -1;
        while (j < b->n && (order = memcmp(b->at[j].hash, a->at[i].hash, GUARD_HASH_SIZE)) < 0) j++;
        const bool same = j < b->n && order == 0;
        if (!same || (labelled && filter_label(&a->at[i]) != filter_label(&b->at[j])))
            out->at[out->n++] = a->at[i];
    }
    return true;
}

/* Stores the removed prefixes, each once, except those that a listed expression shares. */
static size_t removed_prefixes(const struct build *b, uint8_t *out)
{
    size_t n = 0, j = 0;
    for (size_t i = 0; i < b->removed.n; i++) {
        const uint8_t *prefix = b->removed.at[i].hash;
        int order = 1;
        while (j < b->bad.n && (order = memcmp(b->bad.at[j].hash, prefix, GUARD_PREFIX)) < 0) j++;
        const bool listed = j < b->bad.n && order == 0;
        const bool known = n > 0 && memcmp(out + (n - 1) * GUARD_PREFIX, prefix, GUARD_PREFIX) == 0;
        if (!listed && !known) memcpy(out + n++ * GUARD_PREFIX, prefix, GUARD_PREFIX);
    }
    return n;
}

/* Reports whether the base matches a good expression that is not listed. It would then do so in
 * every version with this base. */
static bool base_blames_good(const struct build *b, const char *path)
{
    tamis *t;
    bool blames = true;
    if (tamis_open(path, NULL, &t, NULL) != TAMIS_OK) return true;
    blames = false;
    for (size_t i = 0; i < b->good.n && !blames; i++)
        blames = tamis_may_contain(t, b->good.at[i].hash, GUARD_HASH_SIZE);
    tamis_close(t);
    return blames;
}

/* Reports whether the base is of the wanted sort: with labels whose numbers still have the same
 * names, or without labels. */
static bool base_fits(const struct build *b, const char *path)
{
    const guard_manifest *old = &b->old, *fresh = &b->fresh;
    tamis_facts f = {.struct_size = sizeof f};
    tamis *t;
    if (tamis_open(path, NULL, &t, NULL) != TAMIS_OK) return false;
    const bool known = tamis_stat(t, &f) == TAMIS_OK;
    tamis_close(t);
    if (!known || (f.kind == TAMIS_VALUE_MAP) != b->request->labels_in_filter) return false;
    if (f.kind != TAMIS_VALUE_MAP) return true;
    bool same = old->n_labels <= fresh->n_labels;
    for (size_t i = 0; i < old->n_labels && same; i++)
        same = strcmp(old->labels[i], fresh->labels[i]) == 0;
    return same;
}

/* Reports whether the base of the previous version can stay. If so, computes the differences to
 * it. */
static bool keep_base(struct build *b)
{
    struct guard_entries base = {0};
    guard_error unused, *why = b->why;
    char *path = guard_part_path(b->request->directory, b->old.base, "filter");
    guard_part found;
    b->why = &unused;
    const bool whole = b->has_old && path != NULL && guard_sum_file(path, &found, &unused) &&
                       strcmp(found.sha256, b->old.filter.sha256) == 0 &&
                       b->old.filter.bytes <= b->request->max_bytes && base_fits(b, path);
    bool keep = whole && read_base(b, &base) &&
                difference(&b->bad, &base, b->request->labels_in_filter, &b->added) &&
                difference(&base, &b->bad, false, &b->removed);
    b->why = why;
    keep =
        keep && (b->added.n + b->removed.n) * REBASE_SHARE <= base.n && !base_blames_good(b, path);
    guard_entries_free(&base);
    free(path);
    return keep;
}

/* --- Writing ---------------------------------------------------------------------------------- */

static bool sum_part(struct build *b, uint64_t version, const char *name, guard_part *out)
{
    char *path = guard_part_path(b->request->directory, version, name);
    const bool good = path != NULL && guard_sum_file(path, out, b->why);
    free(path);
    return good;
}

static bool write_base(struct build *b, const char *path)
{
    guard_manifest *m = &b->fresh;
    m->base = m->version;
    m->base_entries = m->entries;
    m->rate = 0;
    return write_filter(b, &b->bad, path, b->request->max_bytes, &m->rate, &m->seed) &&
           sum_part(b, m->version, "filter", &m->filter);
}

/* Reports whether the delta matches a listed expression that is only in the base, whose label would
 * then be that of the delta. */
static bool delta_hides_label(const struct build *b, const char *path)
{
    tamis *t;
    if (tamis_open(path, NULL, &t, NULL) != TAMIS_OK) return true;
    bool hides = false;
    for (size_t i = 0, j = 0; i < b->bad.n && !hides; i++) {
        const uint8_t *hash = b->bad.at[i].hash;
        const bool added =
            j < b->added.n && memcmp(b->added.at[j].hash, hash, GUARD_HASH_SIZE) == 0;
        j += added;
        hides = !added && tamis_may_contain(t, hash, GUARD_HASH_SIZE);
    }
    tamis_close(t);
    return hides;
}

/* Writes the delta, with another seed if it hides a label of the base. At its rate that happens
 * about once in LABEL_SHARE times. */
static bool write_delta_filter(struct build *b, const char *path, double *rate)
{
    const bool labelled = b->request->labels_in_filter;
    const double most = 1.0 / LABEL_SHARE / (double)(b->bad.n + 1);
    uint64_t seed;
    if (labelled && *rate > most) *rate = most > LOWEST_RATE ? most : LOWEST_RATE;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        double actual = *rate;
        if (!write_filter(b, &b->added, path, 0, &actual, &seed)) return false;
        if (labelled && delta_hides_label(b, path)) continue;
        *rate = actual;
        return true;
    }
    return guard_fail(b->why, "%s: no filter of the new entries keeps all labels", path);
}

static bool write_delta(struct build *b, const char *path)
{
    guard_manifest *m = &b->fresh;
    double rate = m->rate / DELTA_SHARE; /* m->rate is still the base's */
    if (b->added.n == 0) return true;
    if (rate < LEAST_RATE / DELTA_SHARE) rate = LEAST_RATE / DELTA_SHARE;
    if (!write_delta_filter(b, path, &rate)) return false;
    m->rate += rate;
    return sum_part(b, m->version, "delta", &m->delta);
}

static bool write_removed(struct build *b, const char *path)
{
    uint8_t *prefixes = malloc((b->removed.n + 1) * GUARD_PREFIX);
    if (prefixes == NULL) return guard_fail(b->why, "not enough memory");
    const size_t n = removed_prefixes(b, prefixes);
    bool good = true;
    if (n > 0)
        good = guard_write_file(path, prefixes, n * GUARD_PREFIX, b->why) &&
               sum_part(b, b->fresh.version, "removed", &b->fresh.removal);
    free(prefixes);
    return good;
}

/* Reads the rate of the base alone from its image. */
static bool base_rate(const struct build *b, double *rate)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis *t;
    char *path = guard_part_path(b->request->directory, b->old.base, "filter");
    const bool good = path != NULL && tamis_open(path, NULL, &t, NULL) == TAMIS_OK;
    if (good && tamis_info(t, &f) == TAMIS_OK) *rate = f.fpr_now;
    if (good) tamis_close(t);
    free(path);
    if (!good) return guard_fail(b->why, "the base filter can no longer be read");
    return true;
}

static bool write_changes(struct build *b)
{
    guard_manifest *m = &b->fresh;
    const char *directory = b->request->directory;
    m->base = b->old.base;
    m->base_entries = b->old.base_entries;
    m->filter = b->old.filter;
    m->base_store = b->old.base_store;
    m->seed = b->old.seed;
    m->added = b->added.n;
    m->removed = b->removed.n;
    char *delta = guard_part_path(directory, m->version, "delta");
    char *removed = guard_part_path(directory, m->version, "removed");
    const bool good = delta != NULL && removed != NULL && base_rate(b, &m->rate) &&
                      write_delta(b, delta) && write_removed(b, removed);
    free(delta);
    free(removed);
    return good;
}

static bool write_version(struct build *b)
{
    guard_manifest *m = &b->fresh;
    const char *directory = b->request->directory;
    char *store = guard_part_path(directory, m->version, "store");
    char *filter = guard_part_path(directory, m->version, "filter");
    bool good = store != NULL && filter != NULL &&
                guard_store_write(store, b->bad.at, b->bad.n, b->why) &&
                sum_part(b, m->version, "store", &m->store);
    if (good && keep_base(b)) {
        good = write_changes(b);
    } else if (good) {
        m->base_store = m->store;
        good = write_base(b, filter);
    }
    free(store);
    free(filter);
    return good;
}

/* Reports whether clients that accepted the published version will accept the next one. */
static bool fits_signed(const struct build *b)
{
    const guard_request *r = b->request;
    if (r->n_sign == 0 && b->old.n_signatures > 0)
        return guard_fail(b->why,
                          "%s: the published version is signed, and clients that pin its key would "
                          "refuse an unsigned one; give --sign, or use another directory",
                          r->directory);
    if (r->n_sign > 0 && b->fresh.built < b->old.built)
        return guard_fail(b->why,
                          "%.50s: the clock shows %s, but the published version is of %s, and "
                          "clients refuse an older one; set the clock, wait, or use a new "
                          "directory",
                          r->directory, guard_moment((time_t)b->fresh.built).text,
                          guard_moment((time_t)b->old.built).text);
    return true;
}

static bool begin_version(struct build *b)
{
    bool absent;
    uint8_t id[16];
    b->has_old = guard_manifest_read(b->request->directory, &b->old, NULL, &absent, b->why);
    if (!b->has_old && !absent) return false; /* a damaged manifest is not overwritten */
    b->fresh.version = b->old.version + 1;
    b->fresh.built = time(NULL);
    if (b->request->expires_after != 0)
        b->fresh.expires = b->fresh.built + (time_t)b->request->expires_after;
    if (!fits_signed(b)) return false;
    if (getrandom(id, sizeof id, 0) != (ssize_t)sizeof id)
        return guard_fail(b->why, "the system provides no random numbers: %s", strerror(errno));
    for (size_t i = 0; i < sizeof id; i++) snprintf(b->fresh.id + 2 * i, 3, "%02x", id[i]);
    remove_others(b->request->directory, b->has_old ? &b->old : NULL);
    return true;
}

/* A failure may have occurred before the new manifest was in place or after it. The manifest on
 * disk decides which files belong to a published version. */
static void remove_unpublished(const char *directory)
{
    guard_manifest published;
    guard_error unused;
    bool absent;
    if (guard_manifest_read(directory, &published, NULL, &absent, &unused))
        remove_others(directory, &published);
    else if (absent)
        remove_others(directory, NULL);
}

bool guard_build(const guard_request *r, guard_manifest *out, guard_error *why)
{
    struct build *b = calloc(1, sizeof *b);
    if (b == NULL) return guard_fail(why, "not enough memory");
    b->request = r;
    b->why = why;
    if (r->labels_in_filter && r->n_good > 0) {
        free(b);
        return guard_fail(why, "a filter that has labels cannot exclude good URLs: "
                               "--labels-in-filter and --never do not go together");
    }
    const int held = lock(r->directory, why);
    const bool good = held >= 0 && begin_version(b) && read_lists(b) && write_version(b) &&
                      guard_manifest_sign(&b->fresh, r->sign, r->n_sign, why) &&
                      guard_manifest_write(r->directory, &b->fresh, why);
    if (held >= 0) remove_unpublished(r->directory);
    if (held >= 0) close(held);
    *out = b->fresh;
    guard_entries_free(&b->bad);
    guard_entries_free(&b->good);
    guard_entries_free(&b->added);
    guard_entries_free(&b->removed);
    free(b);
    return good;
}
