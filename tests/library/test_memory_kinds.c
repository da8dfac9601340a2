/* Each verb is called on handles of every kind, and windows of every kind, while the N-th
 * allocation fails, for every N, once or for ever after. It may fail with TAMIS_ENOMEM: then
 * nothing has changed, nothing leaks, and the repeated call does what it should. Or it may do
 * without the memory: then it has done all that it does with it. The verbs that fail for some kind
 * are listed, so that none escapes the test.
 *
 * test_memory.c does the same for files and their locks. */
#define _POSIX_C_SOURCE 200809L
#include "../support/verbs.h"

/* --- The loop --------------------------------------------------------------------------------- */

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
