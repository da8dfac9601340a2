/* A filter does not keep its lines, so it cannot be made bigger by itself: it is built again from
 * the list. The old filter decides which lines of the list are members, so that lines which were
 * removed, or which it never had, are left out. It also shows whether the list lacks a member:
 *
 *   - A trial of the old shape gets the members of the list. All its bits are set in the old filter
 *     as well. If the old one has more, the list lacks a line.
 *   - In counting and cuckoo filters, each line of the list stands for one copy (copies.c).
 *   - A sealed filter records the number of its lines. If the list has fewer, it lacks a line.
 *
 * A line is missed only if its bits, or its fingerprint, are those of others: with the probability
 * of a false positive. For a sealed filter, a false positive among other lines of the list can
 * stand for a missing line. */
#include "grow.h"

#include "../filters/filter.h"
#include "../filters/rate.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../input/lines.h"
#include "build.h"
#include "copies.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The state while the list is read. */
struct rebuilding {
    const tamis *old;
    tamis *trial; /* the proof that no line is missing */
    tamis *t;     /* the new filter */
    bool counts;  /* the filter holds a line as often as it was added: */
    struct copies copies;
    uint8_t *bits;
    size_t room;
};

static bool can_rebuild(uint32_t kind)
{
    return kind == TAMIS_BLOOM || kind == TAMIS_PARTITIONED || kind == TAMIS_BLOCKED ||
           kind == TAMIS_COUNTING || kind == TAMIS_CUCKOO || kind == TAMIS_RIBBON ||
           kind == TAMIS_FUSE;
}

/* The first file of a list that cannot be read, with the reason in errno, or NULL. */
static const char *first_missing(struct texts list)
{
    for (int i = 0; i < list.n; i++)
        if (strcmp(list.text[i], "-") != 0 && access(list.text[i], R_OK) != 0) return list.text[i];
    return NULL;
}

/* Whether the files can be read twice. */
static bool are_regular(struct texts list)
{
    struct stat st;
    for (int i = 0; i < list.n; i++)
        if (strcmp(list.text[i], "-") == 0 || stat(list.text[i], &st) != 0 || !S_ISREG(st.st_mode))
            return false;
    return true;
}

/* What the user can do about a full filter of a kind that cannot be built again from lines. */
static const char *way_out(uint32_t kind)
{
    if (kind == TAMIS_WINDOW)
        return "'tamis rotate' makes room by forgetting the oldest lines, and --overfill, without "
               "--grow, adds beyond the plan";
    if (kind == TAMIS_PAIR)
        return "'tamis compact' makes room for lines in place of removed ones, and --overfill, "
               "without --grow, adds beyond the plan";
    if (kind == TAMIS_EXACT) return "build it from all lines, with --never: tamis build";
    return "add the lines to the filter that it was made from";
}

/* False after a message when the filter cannot be built again. */
static bool check_rebuild(const struct args *a, const tamis_facts *f, const char *path)
{
    struct texts list = a->plan.list;
    const char *missing = first_missing(list);
    if (!can_rebuild(f->kind))
        complain(path, "unchanged: --grow cannot build a filter of kind %s again; %s",
                 tamis_kind_name(f->kind), way_out(f->kind));
    else if (list.n == 0)
        complain(path, "unchanged: --grow requires --from FILE, the lines from which it was built, "
                       "because a filter does not keep them");
    else if (missing != NULL)
        complain(missing, "--from: cannot read: %s", strerror(errno));
    else if (!are_regular(list))
        complain(list.text[0], "--from: this must be a file with lines, because it is read twice");
    else if (lines_total_bytes(list.text, list.n) == 0)
        complain(list.text[0], "--from: the list is empty");
    else
        return true;
    return false;
}

/* Whether filters of the kind differ in more than their facts name (find_layout). */
static bool has_layouts(uint32_t kind)
{
    return kind == TAMIS_BLOOM || kind == TAMIS_PARTITIONED || kind == TAMIS_BLOCKED ||
           kind == TAMIS_COUNTING;
}

/* The plan of a filter like the old one, for so many lines. *same is false if it may lack options
 * of the old one. */
static tamis_plan plan_like(const tamis_facts *f, uint64_t lines, bool *same)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = f->kind, .seed = f->keyed ? 0 : f->seed};
    /* Twice the room, or half more than is needed now, so that it is not built again each time. */
    const uint64_t twice = 2 * f->planned_items, roomy = lines + lines / 2;
    p.fpr = rate_asked(f, 0, USUAL_FPR);
    p.items = is_sealed_kind(f->kind) ? lines : roomy > twice ? roomy : twice;
    if (p.items == 0) p.items = 1;
    p.encoding = f->encoding;
    p.key_width = f->key_width;
    if (f->kind == TAMIS_COUNTING) p.cell_bits = f->cell_bits;
    if (f->kind == TAMIS_FUSE) p.k = f->k;
    if (f->strict) p.flags |= TAMIS_STRICT;
    *same = !has_layouts(f->kind) || find_layout(f, &p);
    return p;
}

/* Moves those of n hashes to the front that the filter may contain, and returns their number. */
static size_t keep_members(const tamis *t, tamis_hash *hashes, size_t n, uint8_t *bits)
{
    const size_t members = tamis_may_contain_hashes(t, hashes, n, bits);
    for (size_t i = 0, to = 0; i < n && members < n; i++)
        if (bits[i / 8] >> i % 8 & 1) hashes[to++] = hashes[i];
    return members;
}

static tamis_status use_members(void *ctx, const struct block *b)
{
    struct rebuilding *r = ctx;
    tamis_hash *hashes = b->hashes;
    size_t n = b->n;
    if (n > r->room) {
        free(r->bits);
        r->bits = malloc(n / 8 + 1);
        r->room = r->bits != NULL ? n : 0;
        if (r->bits == NULL) return TAMIS_ENOMEM;
    }
    n = keep_members(r->old, hashes, n, r->bits);
    if (r->counts) return copies_take(&r->copies, hashes, n);
    const tamis_status s = tamis_add_hashes(r->t, hashes, n, NULL, NULL);
    return s == TAMIS_OK ? tamis_add_hashes(r->trial, hashes, n, NULL, NULL) : s;
}

/* The count at which a counter of a counting filter is saturated. */
static int64_t most_copies(const tamis_facts *f)
{
    return f->kind == TAMIS_COUNTING ? (INT64_C(1) << f->cell_bits) - 1 : INT64_MAX;
}

/* False after a message. */
static bool make_filters(const struct args *a, const tamis_facts *old, const tamis_plan *plan,
                         uint64_t lines, struct rebuilding *r, const char *path)
{
    const tamis_options o = {
        .struct_size = sizeof o, .key = a->key.bytes, .threads = threads_from(&a->work)};
    tamis_error why;
    bool same;
    tamis_plan trial = plan_like(old, lines, &same);
    tamis_status s = tamis_create(plan, &o, &r->t, &why);
    if (s == TAMIS_OK)
        s = old->sealed ? tamis_create(&trial, &o, &r->trial, &why)
                        : tamis_copy(r->old, &r->trial, &why);
    if (s != TAMIS_OK) {
        complain(path, "unchanged: %s", why.text);
        return false;
    }
    r->copies = (struct copies){.old = r->old,
                                .trial = r->trial,
                                .fresh = r->t,
                                .kind = old->kind,
                                .most = most_copies(old)};
    if (old->sealed || old->kind == TAMIS_CUCKOO || (s = tamis_clear(r->trial)) == TAMIS_OK)
        return true;
    complain(path, "unchanged: %s", tamis_status_message(s));
    return false;
}

/* Whether the list has all members of the old filter; otherwise a message says what it lacks. */
static bool check_list(const struct args *a, const tamis_facts *old, struct rebuilding *r)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    const char *list = a->plan.list.text[0];
    if ((old->sealed && tamis_seal(r->trial, &why) != TAMIS_OK) ||
        tamis_info(r->trial, &f) != TAMIS_OK) {
        complain(list, "not enough memory to compare it with the filter");
        return false;
    }
    double lacks = r->counts ? copies_lacking(&r->copies, old, &f) : 0;
    if (r->counts ? !(lacks > 0) : old->sealed ? f.items >= old->items : f.fill >= old->fill)
        return true;
    lacks = r->counts ? round(lacks) : old->items_estimate - f.items_estimate;
    const double all = r->counts ? (double)old->items : old->items_estimate;
    complain(list, "--from lacks about %s of the %s lines of the filter, which would be lost",
             grouped_real(fmax(lacks, 1)), grouped_real(all));
    return false;
}

static int rebuild(const struct args *a, const tamis_facts *old, const tamis *old_filter,
                   const struct spool *spool, const char *path)
{
    struct texts list = a->plan.list;
    struct rebuilding r = {.old = old_filter,
                           .counts = old->kind == TAMIS_COUNTING || old->kind == TAMIS_CUCKOO};
    tamis_error why;
    uint64_t lines;
    int status = EXIT_ERROR;
    if (!lines_count(&a->lines, list.text, list.n, &lines)) return EXIT_ERROR;
    bool same;
    const tamis_plan plan = plan_like(old, lines + spool->n, &same);
    if (make_filters(a, old, &plan, lines, &r, path) &&
        read_hashes(a, list.text, list.n, r.t, "building", use_members, &r) &&
        check_list(a, old, &r)) {
        const tamis_status s = tamis_add_hashes(r.t, spool->hashes, spool->n, NULL, NULL);
        if (s != TAMIS_OK)
            complain(path, "unchanged: %s", why_not_added(r.t, s));
        else if (old->sealed && tamis_seal(r.t, &why) != TAMIS_OK)
            complain(path, "unchanged: %s", why.text);
        else
            status = save_over_locked(r.t, path);
    }
    if (status == EXIT_FOUND && !a->quiet)
        complain(path, "built again, with room for %s lines%s", grouped(plan.items),
                 same ? "" : "; its layout and k are the usual ones, not those that it had");
    tamis_close(r.t);
    tamis_close(r.trial);
    copies_free(&r.copies);
    free(r.bits);
    return status;
}

/* Adds the lines to t, which then is not the old filter any more. */
static int add_or_rebuild(const struct args *a, tamis *t, const tamis_facts *old,
                          const struct spool *spool, const char *path)
{
    tamis_facts f = {.struct_size = sizeof f};
    tamis_error why;
    tamis *before = NULL;
    int status = EXIT_ERROR;
    if (old->sealed) return rebuild(a, old, t, spool, path);
    if (tamis_copy(t, &before, &why) != TAMIS_OK) return complain(path, "unchanged: %s", why.text);
    const tamis_status s = tamis_add_hashes(t, spool->hashes, spool->n, NULL, NULL);
    const bool added = s == TAMIS_OK && tamis_info(t, &f) == TAMIS_OK;
    if (added && !f.overfull && !rate_is_exceeded(&f, rate_asked(&f, 0, USUAL_FPR)))
        status = save_unless_overfull(a, t, &f, path, "unchanged", true, 0);
    else if (s == TAMIS_OK || s == TAMIS_EFULL)
        status = rebuild(a, old, before, spool, path);
    else
        complain(path, "unchanged: %s", why_not_added(t, s));
    tamis_close(before);
    return status;
}

int grow_and_save(const struct args *a, tamis *t, const char *path)
{
    struct spool spool = {0};
    tamis_facts old = {.struct_size = sizeof old};
    int status = EXIT_ERROR;
    if (tamis_info(t, &old) != TAMIS_OK) return complain(NULL, "not enough memory");
    if (!check_rebuild(a, &old, path)) return EXIT_ERROR;
    if (spool_lines(a, a->words + 1, a->n_words - 1, t, "reading", &spool))
        status = add_or_rebuild(a, t, &old, &spool, path);
    free(spool.hashes);
    return status;
}
