/* No memory, for every kind and every verb: each is called on handles of every kind, and windows of
 * every kind, with the N-th allocation failing, for every N, once and for ever after. It may fail
 * with TAMIS_ENOMEM: then nothing has changed, nothing leaks, and tried again it does what it
 * should. Or it may do without: then it has done all that it does with memory. Which verbs fail at
 * all for some kind is written down, so that none escapes the test.
 *
 * test_memory.c does the same for files and their locks. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"
#include "models.h"
#include "tracking.h"

#include <tamis/foreign.h>

#include <unistd.h>

/* --- Verbs ------------------------------------------------------------------------------------ */

struct scene {
    struct tracker a;
    tamis_options o;
    const struct model *model;
    tamis *t, *other;
    size_t done; /* of keys to be added, over several tries */
    tamis *made; /* a new handle */
    tamis_foreign *foreign;
    struct bytes_sink out; /* what was answered */
    tamis_error why;
};

static void answer(struct scene *s, const void *p, size_t n)
{
    CHECK(bytes_put(&s->out, p, n) == TAMIS_OK);
}

static tamis_status v_create(struct scene *s)
{
    const tamis_plan p = {.struct_size = sizeof p, .items = 500, .fpr = 0.01};
    return tamis_create(&p, &s->o, &s->made, &s->why);
}

static tamis_status v_load(struct scene *s)
{
    return tamis_load(s->model->image.p, s->model->image.n, &s->o, &s->made, &s->why);
}

static tamis_status v_view(struct scene *s)
{
    return tamis_view(s->model->image.p, s->model->image.n, &s->o, &s->made, &s->why);
}

static tamis_status v_unpack(struct scene *s)
{
    return tamis_unpack(s->model->packed.p, s->model->packed.n, &s->o, &s->made, &s->why);
}

static tamis_status v_copy(struct scene *s)
{
    return tamis_copy(s->t, &s->made, &s->why);
}

static tamis_status v_convert(struct scene *s)
{
    return tamis_convert(s->t, TAMIS_BLOOM, &s->made, &s->why);
}

/* Its bits are random: only that it comes is compared. */
static tamis_status v_release(struct scene *s)
{
    tamis *t;
    const tamis_status st = tamis_release(s->t, 1, &t, &s->why);
    CHECK((t != NULL) == (st == TAMIS_OK));
    tamis_close(t);
    return st;
}

static tamis_status v_write(struct scene *s)
{
    s->out.at = 0;
    return tamis_write(s->t, bytes_put, &s->out, &s->why);
}

static tamis_status v_pack(struct scene *s)
{
    s->out.at = 0;
    return tamis_pack(s->t, bytes_put, &s->out, &s->why);
}

static tamis_status v_add(struct scene *s)
{
    bool seen = false;
    const tamis_status st = tamis_add(s->t, "one more", 8, &seen);
    if (st == TAMIS_OK) answer(s, &seen, sizeof seen);
    s->why.status = st;
    return st;
}

/* Goes on where a failure has left it. */
static tamis_status v_add_many(struct scene *s)
{
    size_t done = 0;
    s->why.status = tamis_add_many(s->t, keys + s->done, MORE - s->done, NULL, &done);
    s->done += done;
    return s->why.status;
}

static tamis_status v_add_hashes(struct scene *s)
{
    tamis_hash h[MORE];
    size_t done = 0;
    s->why.status = tamis_hash_many(s->t, keys, MORE, h);
    if (s->why.status == TAMIS_OK)
        s->why.status = tamis_add_hashes(s->t, h + s->done, MORE - s->done, NULL, &done);
    s->done += done;
    return s->why.status;
}

static tamis_status v_add_weight(struct scene *s)
{
    return tamis_add_weight(s->t, "one more", 8, 1000, &s->why);
}

static tamis_status v_add_weight_many(struct scene *s)
{
    size_t done = 0;
    const tamis_status st = tamis_add_weight_many(s->t, keys + s->done, weights + s->done,
                                                  MORE - s->done, &done, &s->why);
    s->done += done;
    return st;
}

static tamis_status v_add_weight_hashes(struct scene *s)
{
    tamis_hash h[MORE];
    size_t done = 0;
    CHECK_OK(tamis_hash_many(s->t, keys, MORE, h));
    const tamis_status st = tamis_add_weight_hashes(s->t, h + s->done, weights + s->done,
                                                    MORE - s->done, &done, &s->why);
    s->done += done;
    return st;
}

static tamis_status v_exclude(struct scene *s)
{
    return tamis_exclude(s->t, "never", 5, &s->why);
}

static tamis_status v_exclude_many(struct scene *s)
{
    return tamis_exclude_many(s->t, keys + FIRST, 500, &s->why);
}

static tamis_status v_exclude_hashes(struct scene *s)
{
    tamis_hash h[500];
    CHECK_OK(tamis_hash_many(s->t, keys + FIRST, 500, h));
    return tamis_exclude_hashes(s->t, h, 500, &s->why);
}

static tamis_status v_ask(struct scene *s)
{
    uint8_t bits[MORE / 8 + 1] = {0}, hashed[MORE / 8 + 1] = {0};
    tamis_hash h[MORE];
    uint64_t cells[64] = {0};
    CHECK_OK(tamis_hash_many(s->t, keys, MORE, h));
    const size_t n = tamis_may_contain_many(s->t, keys, MORE, bits);
    CHECK(tamis_may_contain_hashes(s->t, h, MORE, hashed) == n);
    CHECK(memcmp(bits, hashed, sizeof bits) == 0);
    CHECK(tamis_may_contain(s->t, keys[0].p, keys[0].len) == (bits[0] & 1));
    if (tamis_cells_of(s->t, "x", 1, cells, 64) > 0) cells[63] += tamis_cell(s->t, cells[0]);
    answer(s, bits, sizeof bits);
    answer(s, cells, sizeof cells);
    return TAMIS_OK;
}

static tamis_status v_count(struct scene *s)
{
    tamis_estimate e = {0};
    const tamis_status st = tamis_count(s->t, keys[1].p, keys[1].len, &e, &s->why);
    if (st == TAMIS_OK) answer(s, &e.estimate, 3 * sizeof e.estimate);
    return st;
}

static tamis_status v_count_many(struct scene *s)
{
    tamis_estimate e[2 * FIRST] = {{0}};
    tamis_hash h[FIRST];
    CHECK_OK(tamis_hash_many(s->t, keys, FIRST, h));
    tamis_status st = tamis_count_many(s->t, keys, FIRST, e, &s->why);
    if (st == TAMIS_OK) st = tamis_count_hashes(s->t, h, FIRST, e + FIRST, &s->why);
    for (int i = 0; i < 2 * FIRST && st == TAMIS_OK; i++) answer(s, &e[i].upper, sizeof e[i].upper);
    return st;
}

/* Without memory its intervals are wider, and the list the same. */
static tamis_status v_top(struct scene *s)
{
    tamis_heavy top[20] = {{.length = 0}};
    const size_t n = tamis_top(s->t, top, 20);
    for (size_t i = 0; i < n; i++) {
        CHECK(top[i].count.lower <= top[i].count.upper);
        answer(s, &top[i].count.upper, sizeof top[i].count.upper);
    }
    return TAMIS_OK;
}

static tamis_status v_above(struct scene *s)
{
    tamis_heavy top[20] = {{.length = 0}};
    tamis_facts f = {.struct_size = sizeof f};
    size_t found = 0;
    tamis_status st = s->why.status = tamis_info(s->t, &f);
    if (st == TAMIS_OK) st = tamis_above(s->t, f.list_from + 1, top, 20, &found, &s->why);
    if (st == TAMIS_OK) answer(s, &found, sizeof found);
    return st;
}

static tamis_status v_info(struct scene *s)
{
    tamis_facts f = {.struct_size = sizeof f};
    s->why.status = tamis_info(s->t, &f);
    if (s->why.status == TAMIS_OK) answer(s, &f, sizeof f);
    return s->why.status;
}

static tamis_status v_remove(struct scene *s)
{
    return tamis_remove(s->t, keys[0].p, keys[0].len, &s->why);
}

static tamis_status v_remove_many(struct scene *s)
{
    uint8_t absent[MORE / 8 + 1] = {0};
    const tamis_status st = tamis_remove_many(s->t, keys, FIRST + 50, absent, &s->why);
    if (st == TAMIS_OK) answer(s, absent, sizeof absent);
    return st;
}

static tamis_status v_remove_hashes(struct scene *s)
{
    tamis_hash h[FIRST + 50];
    uint8_t absent[MORE / 8 + 1] = {0};
    CHECK_OK(tamis_hash_many(s->t, keys, FIRST + 50, h));
    const tamis_status st = tamis_remove_hashes(s->t, h, FIRST + 50, absent, &s->why);
    if (st == TAMIS_OK) answer(s, absent, sizeof absent);
    return st;
}

static tamis_status v_rotate(struct scene *s)
{
    return tamis_rotate(s->t, &s->why);
}

static tamis_status v_merge(struct scene *s)
{
    return tamis_merge(s->t, s->other, &s->why);
}

static tamis_status v_compare(struct scene *s)
{
    tamis_similarity like = {.struct_size = sizeof like};
    const tamis_status st = tamis_compare(s->t, s->other, &like, &s->why);
    if (st == TAMIS_OK) answer(s, &like, sizeof like);
    return st;
}

static tamis_status v_clear(struct scene *s)
{
    return s->why.status = tamis_clear(s->t);
}

static tamis_status v_seal(struct scene *s)
{
    return tamis_seal(s->t, &s->why);
}

static tamis_status v_probability(struct scene *s)
{
    double p[4] = {0};
    tamis_evidence e = {.struct_size = sizeof e};
    tamis_hash h[3];
    CHECK_OK(tamis_hash_many(s->t, keys, 3, h));
    tamis_status st = tamis_probability(s->t, keys[0].p, keys[0].len, 0.5, p, &s->why);
    if (st == TAMIS_OK) st = tamis_probability_hashes(s->t, h, 3, 0.5, p + 1, &s->why);
    if (st == TAMIS_OK) st = tamis_evidence_of(s->t, 0.5, &e, &s->why);
    if (st == TAMIS_OK) answer(s, &e, sizeof e);
    if (st == TAMIS_OK) answer(s, p, sizeof p);
    return st;
}

/* Filters of other programs have no kinds: the format is that of the kind's number. */
static tamis_status v_foreign(struct scene *s)
{
    const tamis_foreign_plan p = {.struct_size = sizeof p,
                                  .format = 1 + s->model->kind % TAMIS_FOREIGN_GUAVA,
                                  .items = 500,
                                  .fpr = 0.01};
    tamis_foreign *f, *again = NULL;
    struct bytes_sink file = {bytes_new(1 << 14), 0};
    tamis_status st = tamis_foreign_create(&p, &s->o, &f, &s->why);
    CHECK((f != NULL) == (st == TAMIS_OK));
    if (st == TAMIS_OK) st = s->why.status = tamis_foreign_add_many(f, keys, FIRST, NULL, NULL);
    if (st == TAMIS_OK) st = tamis_foreign_write(f, TAMIS_FOREIGN_AUTO, bytes_put, &file, &s->why);
    if (st == TAMIS_OK)
        st = tamis_foreign_open(file.to.p, file.at, p.format, &s->o, &again, &s->why);
    if (st == TAMIS_OK) {
        CHECK(tamis_foreign_may_contain_many(again, keys, FIRST, NULL) == FIRST);
        answer(s, file.to.p, file.at);
    }
    tamis_foreign_close(again);
    tamis_foreign_close(f);
    free(file.to.p);
    return st;
}

enum {
    FAILS = 1,   /* with TAMIS_ENOMEM, for some kind */
    PART = 2,    /* what was done before the failure stays, and it goes on from there */
    REPEATS = 4, /* the same, but it begins again: equal once sealed */
};
static const struct verb {
    const char *name;
    tamis_status (*run)(struct scene *s);
    unsigned is;
} verbs[] = {
    {"create", v_create, FAILS},
    {"load", v_load, FAILS},
    {"view", v_view, FAILS},
    {"unpack", v_unpack, FAILS},
    {"copy", v_copy, FAILS},
    {"convert", v_convert, FAILS},
    {"release", v_release, FAILS},
    {"write", v_write, FAILS},
    {"pack", v_pack, FAILS},
    {"add", v_add, FAILS},
    {"add many", v_add_many, FAILS | PART},
    {"add hashes", v_add_hashes, FAILS | PART},
    {"add weight", v_add_weight, 0},
    {"add weight many", v_add_weight_many, PART},
    {"add weight hashes", v_add_weight_hashes, PART},
    {"exclude", v_exclude, FAILS},
    {"exclude many", v_exclude_many, FAILS | REPEATS},
    {"exclude hashes", v_exclude_hashes, FAILS | REPEATS},
    {"ask", v_ask, 0},
    {"count", v_count, FAILS},
    {"count many", v_count_many, FAILS},
    {"top", v_top, 0},
    {"above", v_above, FAILS},
    {"info", v_info, FAILS},
    {"remove", v_remove, 0},
    {"remove many", v_remove_many, 0},
    {"remove hashes", v_remove_hashes, 0},
    {"rotate", v_rotate, 0},
    {"merge", v_merge, FAILS},
    {"compare", v_compare, 0},
    {"clear", v_clear, 0},
    {"seal", v_seal, FAILS},
    {"probability", v_probability, 0},
    {"foreign", v_foreign, FAILS},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* --- The loop --------------------------------------------------------------------------------- */

static void open_scene(struct scene *s, const struct model *m)
{
    memset(s, 0, sizeof *s);
    tracker_init(&s->a);
    s->o = model_options(m, &s->a.memory);
    s->model = m;
    s->out.to = bytes_new(1 << 18);
    CHECK_OK(tamis_load(m->image.p, m->image.n, &s->o, &s->t, NULL));
    CHECK_OK(tamis_load(m->other.p, m->other.n, &s->o, &s->other, NULL));
}

static void close_scene(struct scene *s)
{
    tamis_close(s->made);
    tamis_close(s->t);
    tamis_close(s->other);
    free(s->out.to.p);
    CHECK_THAT(s->a.blocks, ==, 0);
}

/* What a verb has come to: its status, its answers, and the images of the handle and of what it
 * made. */
struct end {
    tamis_status status;
    struct bytes answers, image, made;
};

static struct end end_of(const struct scene *s, const struct verb *v, tamis_status st)
{
    struct end e = {.status = st, .answers = bytes_copy(s->out.to.p, s->out.at)};
    if ((v->is & REPEATS) != 0) (void)tamis_seal(s->t, NULL);
    e.image = image_of(s->t);
    if (s->made != NULL) e.made = image_of(s->made);
    return e;
}

static bool same_end(const struct end *a, const struct end *b)
{
    return a->status == b->status && bytes_equal(a->answers, b->answers) &&
           bytes_equal(a->image, b->image) && (a->made.p == NULL) == (b->made.p == NULL) &&
           (a->made.p == NULL || bytes_equal(a->made, b->made));
}

static void free_end(struct end *e)
{
    free(e->answers.p);
    free(e->image.p);
    free(e->made.p);
}

static void check_failed(const struct scene *s, const struct verb *v, size_t blocks)
{
    CHECK(s->made == NULL && s->why.status == TAMIS_ENOMEM);
    if ((v->is & (PART | REPEATS)) != 0) return;
    CHECK_THAT(s->a.blocks, ==, blocks);
    struct bytes after = image_of(s->t);
    if (!bytes_equal(after, s->model->image))
        printf("%s of %s (%s) %d fails, and the handle has changed\n", v->name,
               tamis_kind_name(s->model->kind),
               s->model->inner != 0 ? tamis_kind_name(s->model->inner) : "", s->model->sealed);
    CHECK(bytes_equal(after, s->model->image));
    free(after.p);
}

/* False when the n-th allocation never came; *failures counts statuses. */
static bool struck(const struct verb *v, const struct model *m, const struct end *right, size_t n,
                   bool for_ever, size_t *failures)
{
    struct scene s;
    open_scene(&s, m);
    const size_t blocks = s.a.blocks;
    s.a.calls = 0;
    s.a.fail_at = n;
    s.a.for_ever = for_ever;
    tamis_status st = v->run(&s);
    const bool met = s.a.failed;
    s.a.fail_at = 0;
    if (met && st == TAMIS_ENOMEM) {
        ++*failures;
        check_failed(&s, v, blocks);
        if ((v->is & PART) == 0) s.out.at = 0;
        st = v->run(&s);
    }
    struct end e = end_of(&s, v, st);
    if (!same_end(&e, right))
        printf("%s of %s (%s), allocation %zu: status %d and not %d\n", v->name,
               tamis_kind_name(m->kind), m->inner != 0 ? tamis_kind_name(m->inner) : "", n, st,
               right->status);
    CHECK(same_end(&e, right));
    free_end(&e);
    close_scene(&s);
    return met;
}

static void test_every_verb(void)
{
    make_models();
    size_t strange = 0;
    for (size_t v = 0; v < VERBS; v++) {
        size_t failures = 0;
        for (size_t i = 0; i < n_models; i++) {
            struct scene s;
            open_scene(&s, &models[i]);
            const tamis_status st = verbs[v].run(&s);
            struct end right = end_of(&s, &verbs[v], st);
            close_scene(&s);
            for (int for_ever = 0; for_ever < 2; for_ever++)
                for (size_t n = 1;
                     struck(&verbs[v], &models[i], &right, n, for_ever != 0, &failures); n++)
                    CHECK(n < 2000);
            free_end(&right);
        }
        if ((failures > 0) == ((verbs[v].is & FAILS) != 0)) continue;
        printf("%s fails %zu times\n", verbs[v].name, failures);
        strange++;
    }
    CHECK_THAT(strange, ==, 0);
    free_models();
}

static const struct test tests[] = {
    {"every verb of every kind", test_every_verb},
};

TEST_MAIN(tests)
