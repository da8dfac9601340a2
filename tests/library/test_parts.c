/* tamis_part and tamis_join: each thread has a part, and the parts are joined. */
#include "../support/check.h"
#include "../support/tracking.h"

#include <pthread.h>
#include <tamis/count.h>
#include <tamis/distinct.h>
#include <tamis/inspect.h>
#include <tamis/parts.h>

enum { THREADS = 4, KEYS = 400 };

struct subject {
    uint32_t kind, inner, flags;
    bool equal; /* a join has the bytes of a single handle */
};
static const struct subject subjects[] = {
    {TAMIS_BLOOM, 0, 0, true},
    {TAMIS_PARTITIONED, 0, 0, true},
    {TAMIS_BLOCKED, 0, 0, true},
    {TAMIS_COUNTING, 0, 0, true},
    {TAMIS_WINDOW, TAMIS_BLOCKED, 0, true},
    {TAMIS_COUNT_MIN, 0, 0, true},
    {TAMIS_COUNT_SKETCH, 0, 0, true},
    {TAMIS_COUNT_MIN, 0, TAMIS_CONSERVATIVE, false},
    {TAMIS_TALLY, 0, 0, false},
    {TAMIS_SIGNED_TALLY, 0, 0, false},
    {TAMIS_TOP, 0, 0, false},
    {TAMIS_WINDOW, TAMIS_TOP, 0, false},
    {TAMIS_DISTINCT, 0, 0, true},
    {TAMIS_WINDOW, TAMIS_DISTINCT, 0, true},
};
enum { SUBJECTS = sizeof subjects / sizeof *subjects };

static bool counts(const struct subject *s)
{
    return s->kind >= TAMIS_COUNT_MIN || s->inner >= TAMIS_COUNT_MIN;
}

static const uint8_t SECRET_KEY[16] = {3, 1, 4};

static tamis *new_subject(const struct subject *s, const tamis_memory *memory)
{
    tamis_plan p = {.struct_size = sizeof p, .kind = s->kind, .flags = s->flags};
    p.inner_kind = s->inner;
    p.encoding = TAMIS_KEYS_INT64;
    if (counts(s))
        p.bytes = 1 << 17;
    else
        p.items = THREADS * KEYS, p.fpr = 0.001;
    const tamis_options o = {.struct_size = sizeof o, .key = SECRET_KEY, .memory = memory};
    tamis *t;
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    if (s->kind == TAMIS_WINDOW) CHECK_OK(tamis_rotate_to(t, 77, NULL));
    return t;
}

/* Thread i adds key j one time for each multiple of 16 in i + j, and once at least. */
static uint64_t times(uint64_t id, uint64_t key)
{
    return (id + key) / 16 + 1;
}

struct worker {
    tamis *t;
    uint64_t id, wrong;
    pthread_t thread;
};

static void *work(void *arg)
{
    struct worker *w = arg;
    for (uint64_t key = 0; key < KEYS; key++)
        for (uint64_t i = 0; i < times(w->id, key); i++)
            w->wrong += tamis_add(w->t, &key, sizeof key, NULL) != TAMIS_OK;
    return NULL;
}

static void work_together(tamis *const *parts)
{
    struct worker w[THREADS];
    for (unsigned i = 0; i < THREADS; i++) {
        w[i] = (struct worker){.t = parts[i], .id = i};
        CHECK(pthread_create(&w[i].thread, NULL, work, &w[i]) == 0);
    }
    for (unsigned i = 0; i < THREADS; i++) CHECK(pthread_join(w[i].thread, NULL) == 0);
    for (unsigned i = 0; i < THREADS; i++) CHECK_THAT(w[i].wrong, ==, 0);
}

struct image {
    uint8_t *p;
    size_t n;
};

static tamis_status keep_bytes(void *ctx, const void *bytes, size_t n)
{
    struct image *m = ctx;
    uint8_t *p = realloc(m->p, m->n + n);
    if (p == NULL) return TAMIS_ENOMEM;
    memcpy(p + m->n, bytes, n);
    m->p = p;
    m->n += n;
    return TAMIS_OK;
}

/* The header records that items of a merged filter are an estimate, so only cells are compared:
 * those after the longest metadata of these subjects. */
enum { METADATA = 1024 };
static bool same_bytes(const tamis *a, const tamis *b, size_t skipped)
{
    struct image x = {0}, y = {0};
    CHECK_OK(tamis_write(a, keep_bytes, &x, NULL));
    CHECK_OK(tamis_write(b, keep_bytes, &y, NULL));
    const bool same = x.n == y.n && memcmp(x.p + skipped, y.p + skipped, x.n - skipped) == 0;
    free(x.p);
    free(y.p);
    return same;
}

static tamis_facts facts_of(const tamis *t)
{
    tamis_facts f = {.struct_size = sizeof f};
    CHECK_OK(tamis_stat(t, &f));
    if (f.kind != TAMIS_DISTINCT && f.inner_kind != TAMIS_DISTINCT) return f;
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    CHECK_OK(tamis_distinct(t, &n, NULL));
    f.items = (uint64_t)(n.value + 0.5);
    return f;
}

static void make_parts(const tamis *t, tamis **parts)
{
    for (unsigned i = 0; i < THREADS; i++) CHECK_OK(tamis_part(t, &parts[i], NULL));
}

static void close_parts(tamis **parts)
{
    for (unsigned i = 0; i < THREADS; i++) tamis_close(parts[i]);
}

/* --- What they do ----------------------------------------------------------------------------- */

/* Twice, because threads go on with the parts. The handle has keys of its own before. */
static void joined_parts_have_all_adds(void)
{
    for (size_t s = 0; s < SUBJECTS; s++) {
        tamis *t = new_subject(&subjects[s], NULL), *alone = new_subject(&subjects[s], NULL);
        tamis *parts[THREADS];
        struct worker first = {.t = t, .id = 9}, all = {.t = alone, .id = 9};
        work(&first), work(&all);
        make_parts(t, parts);
        for (unsigned round = 0; round < 2; round++) {
            work_together(parts);
            CHECK_OK(tamis_join(t, parts, THREADS, NULL));
            for (all.id = 0; all.id < THREADS; all.id++) work(&all);
            for (unsigned i = 0; i < THREADS; i++) CHECK_THAT(facts_of(parts[i]).items, ==, 0);
        }
        if (subjects[s].equal) CHECK(same_bytes(t, alone, METADATA));
        for (uint64_t key = 0; key < KEYS; key++) {
            uint64_t sum = times(9, key);
            for (unsigned i = 0; i < THREADS; i++) sum += 2 * times(i, key);
            CHECK(tamis_may_contain(t, &key, sizeof key));
            if (counts(&subjects[s])) CHECK_THAT(tamis_upper(t, &key, sizeof key), >=, sum);
            if (counts(&subjects[s]) && subjects[s].equal)
                CHECK(tamis_upper(t, &key, sizeof key) == tamis_upper(alone, &key, sizeof key));
        }
        if (counts(&subjects[s])) CHECK(facts_of(t).weight == facts_of(alone).weight);
        close_parts(parts);
        tamis_close(t);
        tamis_close(alone);
    }
}

static void parts_are_like_the_whole(void)
{
    for (size_t s = 0; s < SUBJECTS; s++) {
        tamis *t = new_subject(&subjects[s], NULL), *part, *empty = new_subject(&subjects[s], NULL);
        struct worker w = {.t = t, .id = 1};
        work(&w);
        CHECK_OK(tamis_part(t, &part, NULL));
        const tamis_facts f = facts_of(t), g = facts_of(part);
        CHECK(f.kind == g.kind && f.k == g.k && f.m == g.m);
        CHECK(f.bytes == g.bytes || f.kind == TAMIS_DISTINCT); /* which starts small */
        CHECK(f.encoding == g.encoding && f.epoch == g.epoch && f.keyed && g.keyed);
        CHECK(memcmp(f.key_id, g.key_id, sizeof f.key_id) == 0);
        CHECK(g.items == 0 && g.weight == 0 && g.generation == 1 && !g.read_only);
        CHECK(same_bytes(part, empty, 0));
        tamis_close(t); /* the part does not depend on it, nor on its key */
        w.t = part;
        work(&w);
        CHECK_OK(tamis_join(empty, &part, 1, NULL));
        CHECK_THAT(w.wrong, ==, 0);
        CHECK_THAT(facts_of(empty).items, >, 0);
        tamis_close(part);
        tamis_close(empty);
    }
}

/* A shared handle, a view and a handle that lists a caller's hashes have parts, too. */
static void parts_of_special_handles(void)
{
    tamis_plan p = {.struct_size = sizeof p, .items = 1000, .fpr = 0.01, .kind = TAMIS_BLOOM};
    tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_SHARED};
    tamis *t, *part, *view;
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    CHECK_OK(tamis_part(t, &part, NULL));
    CHECK_OK(tamis_add(part, "a", 1, NULL));
    CHECK_OK(tamis_join(t, &part, 1, NULL));
    CHECK(tamis_may_contain(t, "a", 1) && !tamis_may_contain(part, "a", 1));
    tamis_close(part);
    struct image m = {0};
    CHECK_OK(tamis_write(t, keep_bytes, &m, NULL));
    void *aligned = aligned_alloc(64, (m.n + 63) / 64 * 64);
    CHECK(aligned != NULL);
    memcpy(aligned, m.p, m.n);
    CHECK_OK(tamis_view(aligned, m.n, NULL, &view, NULL));
    CHECK_OK(tamis_part(view, &part, NULL));
    CHECK_OK(tamis_add(part, "b", 1, NULL));
    CHECK_OK(tamis_join(t, &part, 1, NULL));
    CHECK(tamis_may_contain(t, "b", 1));
    tamis_error why = {.text = ""};
    CHECK_THAT(tamis_join(view, &part, 1, &why), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_join(t, &view, 1, &why), ==, TAMIS_ESEALED);
    CHECK(strstr(why.text, "part 0") != NULL);
    tamis_close(part);
    tamis_close(view);
    tamis_close(t);
    free(aligned);
    free(m.p);
}

/* --- What fails, and then nothing has changed ------------------------------------------------- */

static void wrong_arguments(void)
{
    tamis *t = new_subject(&subjects[0], NULL), *other = new_subject(&subjects[1], NULL), *a, *b;
    tamis_error why = {.text = ""};
    CHECK_OK(tamis_part(t, &a, NULL));
    CHECK_OK(tamis_part(t, &b, NULL));
    struct worker w = {.t = a};
    work(&w);
    tamis *const twice[] = {a, b, a}, *const with_null[] = {a, NULL}, *const itself[] = {a, t},
                 *const foreign[] = {a, b, other};
    const struct {
        tamis *const *parts;
        size_t n;
        tamis_status s;
        const char *says;
    } cases[] = {
        {NULL, 1, TAMIS_EINVAL, "NULL"},         {twice, 3, TAMIS_EINVAL, "part 2"},
        {with_null, 2, TAMIS_EINVAL, "part 1"},  {itself, 2, TAMIS_EINVAL, "part 1"},
        {foreign, 3, TAMIS_EMISMATCH, "part 2"},
    };
    const uint64_t items = facts_of(a).items;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        CHECK_THAT(tamis_join(t, cases[i].parts, cases[i].n, &why), ==, cases[i].s);
        CHECK(strstr(why.text, cases[i].says) != NULL);
        CHECK_THAT(facts_of(t).items, ==, 0);
        CHECK_THAT(facts_of(a).items, ==, items);
        CHECK(tamis_join(t, cases[i].parts, cases[i].n, NULL) == cases[i].s);
    }
    CHECK_OK(tamis_join(t, NULL, 0, NULL));
    CHECK_THAT(tamis_part(t, NULL, &why), ==, TAMIS_EINVAL);
    tamis_close(a);
    tamis_close(b);
    tamis_close(other);
    tamis_close(t);
}

static void kinds_without_parts(void)
{
    const uint32_t kinds[] = {TAMIS_PAIR, TAMIS_GROWING, TAMIS_CUCKOO, TAMIS_FUSE, TAMIS_RIBBON};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const tamis_plan p = {.struct_size = sizeof p, .kind = kinds[i], .items = 100, .fpr = 0.01};
        tamis *t, *part = (tamis *)1;
        tamis_error why = {.text = ""};
        CHECK_OK(tamis_create(&p, NULL, &t, NULL));
        CHECK_THAT(tamis_part(t, &part, &why), ==, TAMIS_EUNSUPPORTED);
        CHECK(part == NULL && why.better_kind == TAMIS_BLOCKED && why.text[0] != '\0');
        tamis_close(t);
    }
    tamis *t = new_subject(&subjects[0], NULL), *part = (tamis *)1;
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_THAT(tamis_part(t, &part, NULL), ==, TAMIS_ESEALED);
    CHECK(part == NULL);
    tamis_close(t);
}

/* The second part exceeds the plan, so the first is not joined either. */
static void strict_plans(void)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .items = 300, .fpr = 0.001, .flags = TAMIS_STRICT};
    tamis *t, *parts[2];
    tamis_error why = {.text = ""};
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    for (uint64_t i = 0; i < 2; i++) {
        CHECK_OK(tamis_part(t, &parts[i], NULL));
        for (uint64_t key = 0; key < 250; key++) {
            const uint64_t number = i * 1000 + key;
            CHECK_OK(tamis_add(parts[i], &number, sizeof number, NULL));
        }
        CHECK(facts_of(parts[i]).strict);
    }
    CHECK_THAT(tamis_join(t, parts, 2, &why), ==, TAMIS_EFULL);
    CHECK(strstr(why.text, "part 1") != NULL);
    CHECK(facts_of(t).items == 0 && facts_of(parts[0]).items > 0 && facts_of(parts[1]).items > 0);
    CHECK_OK(tamis_join(t, parts, 1, NULL));
    CHECK_THAT(facts_of(t).items, >, 200);
    for (int i = 0; i < 2; i++) tamis_close(parts[i]);
    tamis_close(t);
}

static void windows_of_other_epochs(void)
{
    tamis *t = new_subject(&subjects[4], NULL), *parts[THREADS];
    make_parts(t, parts);
    const uint64_t key = 5;
    CHECK_OK(tamis_add(parts[0], &key, sizeof key, NULL));
    CHECK_OK(tamis_rotate_to(parts[1], 78, NULL));
    CHECK_THAT(tamis_join(t, parts, THREADS, NULL), ==, TAMIS_EMISMATCH);
    CHECK_THAT(facts_of(t).items, ==, 0);
    CHECK_OK(tamis_rotate_to(t, 78, NULL));
    for (int i = 0; i < THREADS; i++) CHECK_OK(tamis_rotate_to(parts[i], 78, NULL));
    CHECK_OK(tamis_join(t, parts, THREADS, NULL));
    CHECK(tamis_may_contain(t, &key, sizeof key));
    for (int i = 0; i < THREADS; i++) CHECK_THAT(facts_of(parts[i]).epoch, ==, 78);
    close_parts(parts);
    tamis_close(t);
}

/* Each allocation of a join fails in turn. */
static void no_memory(void)
{
    for (size_t s = 0; s < SUBJECTS; s++)
        for (size_t fail = 1, failed = 1; failed != 0; fail++) {
            struct tracker memory;
            tracker_init(&memory);
            tamis *t = new_subject(&subjects[s], &memory.memory), *parts[THREADS];
            tamis_error why = {.text = ""};
            make_parts(t, parts);
            work_together(parts);
            const uint64_t before = facts_of(parts[0]).items;
            memory.fail_at = memory.calls + fail;
            const tamis_status st = tamis_join(t, parts, THREADS, &why);
            memory.fail_at = 0;
            CHECK(st == TAMIS_OK || (st == TAMIS_ENOMEM && why.text[0] != '\0'));
            failed = memory.failed;
            CHECK(st == TAMIS_OK || (facts_of(t).items == 0 && facts_of(parts[0]).items == before));
            if (st != TAMIS_OK) CHECK_OK(tamis_join(t, parts, THREADS, &why));
            CHECK_THAT(facts_of(t).items, >, 0);
            close_parts(parts);
            tamis_close(t);
            CHECK_THAT(memory.blocks, ==, 0);
        }
}

static const struct test tests[] = {
    {"joined_parts_have_all_adds", joined_parts_have_all_adds},
    {"parts_are_like_the_whole", parts_are_like_the_whole},
    {"parts_of_special_handles", parts_of_special_handles},
    {"wrong_arguments", wrong_arguments},
    {"kinds_without_parts", kinds_without_parts},
    {"strict_plans", strict_plans},
    {"windows_of_other_epochs", windows_of_other_epochs},
    {"no_memory", no_memory},
};
TEST_MAIN(tests)
