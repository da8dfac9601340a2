/* A filter does not keep its lines, so it cannot be made bigger by itself: it is built again from
 * the list. Members get lost if the list lacks them. A list that is clearly too short is refused,
 * by the estimated numbers; a few missing lines cannot be noticed, which the help says. */
#include "grow.h"

#include "../filters/filter.h"
#include "../filters/rate.h"
#include "../filters/request.h"
#include "../frame/commands.h"
#include "../frame/output.h"
#include "../input/lines.h"
#include "build.h"

#include <stdlib.h>

static bool can_rebuild(uint32_t kind)
{
    return kind == TAMIS_BLOOM || kind == TAMIS_PARTITIONED || kind == TAMIS_BLOCKED ||
           kind == TAMIS_COUNTING || kind == TAMIS_CUCKOO || kind == TAMIS_RIBBON ||
           kind == TAMIS_FUSE;
}

/* False after a message when the filter cannot be built again. */
static bool check_rebuild(const struct args *a, const tamis_facts *f, const char *path)
{
    struct texts list = a->plan.list;
    if (!can_rebuild(f->kind))
        complain(path, "unchanged: --grow cannot build a %s again from lines",
                 tamis_kind_name(f->kind));
    else if (list.n == 0)
        complain(path, "unchanged: --grow requires --from FILE, the lines from which it was built, "
                       "because a filter does not keep them");
    else if (lines_total_bytes(list.text, list.n) == 0)
        complain(list.text[0], "--from: this must be a file with lines, because it is read twice");
    else
        return true;
    return false;
}

/* The plan of a filter like the old one, for so many lines. */
static tamis_plan plan_like(const tamis_facts *f, uint64_t lines)
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
    return p;
}

/* Whether the list may be the one of the old filter; otherwise a message says why not. */
static bool check_list(const struct args *a, const tamis_facts *old, const tamis *t, uint64_t lines)
{
    tamis_facts f = {.struct_size = sizeof f};
    const bool known = !is_sealed_kind(old->kind) && tamis_info(t, &f) == TAMIS_OK;
    const double listed = known ? f.items_high : (double)lines;
    if (listed >= old->items_low) return true;
    complain(a->plan.list.text[0],
             "--from has about %s distinct lines, but the filter has about %s: it is not the whole "
             "list",
             grouped_real(known ? f.items_estimate : (double)lines),
             grouped_real(old->items_estimate));
    return false;
}

static int rebuild(const struct args *a, const tamis_facts *old, const struct spool *spool,
                   const char *path)
{
    struct texts list = a->plan.list;
    const tamis_options o = {
        .struct_size = sizeof o, .key = a->key.bytes, .threads = threads_from(&a->work)};
    tamis *t = NULL;
    tamis_error why;
    uint64_t lines;
    int status = EXIT_ERROR;
    if (!lines_count(&a->lines, list.text, list.n, &lines)) return EXIT_ERROR;
    tamis_plan plan = plan_like(old, lines + spool->n);
    if (tamis_create(&plan, &o, &t, &why) != TAMIS_OK)
        return complain(path, "unchanged: %s", why.text);
    if (feed_lines(a, list.text, list.n, t, "building") && check_list(a, old, t, lines)) {
        tamis_status s = tamis_add_hashes(t, spool->hashes, spool->n, NULL, NULL);
        if (s != TAMIS_OK)
            complain(path, "unchanged: %s", why_not_added(t, s));
        else if (is_sealed_kind(plan.kind) && tamis_seal(t, &why) != TAMIS_OK)
            complain(path, "unchanged: %s", why.text);
        else
            status = save_over_locked(t, path);
    }
    if (status == EXIT_FOUND && !a->quiet)
        complain(path, "built again for %s lines", grouped(plan.items));
    tamis_close(t);
    return status;
}

int grow_and_save(const struct args *a, tamis *t, const char *path)
{
    struct spool spool = {0};
    tamis_facts old = {.struct_size = sizeof old}, f = {.struct_size = sizeof f};
    int status = EXIT_ERROR;
    if (tamis_info(t, &old) != TAMIS_OK) return complain(NULL, "not enough memory");
    if (!check_rebuild(a, &old, path)) return EXIT_ERROR;
    if (spool_lines(a, a->words + 1, a->n_words - 1, t, "reading", &spool)) {
        const tamis_status s =
            old.sealed ? TAMIS_ESEALED : tamis_add_hashes(t, spool.hashes, spool.n, NULL, NULL);
        const bool added = s == TAMIS_OK && tamis_info(t, &f) == TAMIS_OK;
        if (added && !f.overfull && !rate_is_exceeded(&f, rate_asked(&f, 0, USUAL_FPR)))
            status = save_unless_overfull(a, t, &f, path, "unchanged", true, 0);
        else if (s == TAMIS_OK || s == TAMIS_EFULL || s == TAMIS_ESEALED)
            status = rebuild(a, &old, &spool, path);
        else
            complain(path, "unchanged: %s", why_not_added(t, s));
    }
    free(spool.hashes);
    return status;
}
