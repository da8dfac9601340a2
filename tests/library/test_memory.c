/* The N-th allocation of a call fails, for every N, once or for ever after. The call fails with
 * TAMIS_ENOMEM, returns nothing, leaks nothing, leaves the handle and the file as they were, and
 * works when it is repeated. This file tests calls on files, for every model of models.h
 * including keyed ones, and calls that need no memory at all, for the kinds for which that
 * holds. test_memory_kinds.c has the rest. */
#define _POSIX_C_SOURCE 200809L
#define _FILE_OFFSET_BITS 64 /* readdir on 32-bit machines */
#include "../support/models.h"
#include "../support/room.h"
#include "../support/saving.h"
#include "../support/tracking.h"

#include <tamis/count.h>
#include <tamis/foreign.h>
#include <tamis/inspect.h>

#include <dirent.h>
#include <sys/stat.h>
#include <unistd.h>

static char directory[256];

static const char *in_directory(const char *name)
{
    static char path[sizeof directory + 64];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return path;
}

static void make_directory(void)
{
    const bool in_memory = getenv("TMPDIR") == NULL && access("/dev/shm", W_OK) == 0; /* faster */
    enter_room(in_memory ? "/dev/shm" : NULL, "memory", directory, sizeof directory);
}

static size_t files_in_directory(void)
{
    size_t n = 0;
    DIR *d = opendir(directory);
    CHECK(d != NULL);
    for (struct dirent *e = readdir(d); e != NULL; e = readdir(d))
        n += strcmp(e->d_name, ".") != 0 && strcmp(e->d_name, "..") != 0;
    closedir(d);
    return n;
}

/* A handle to work on, a second one that can be merged, its image in memory and in a file; all but
 * the last two from the tracked allocator. */
struct scene {
    struct tracker a;
    tamis_options o;
    const struct model *model;
    tamis *t, *other;
    struct bytes image, packed; /* the model's */
};

static void open_scene(struct scene *s, const struct model *m)
{
    tracker_init(&s->a);
    s->o = model_options(m, &s->a.memory);
    s->model = m;
    s->image = m->image;
    s->packed = m->packed;
    CHECK_OK(tamis_load(m->image.p, m->image.n, &s->o, &s->t, NULL));
    CHECK_OK(tamis_load(m->other.p, m->other.n, &s->o, &s->other, NULL));
    FILE *f = fopen(in_directory("old"), "wb");
    CHECK(f != NULL && fwrite(s->image.p, 1, s->image.n, f) == s->image.n && fclose(f) == 0);
}

static void close_scene(struct scene *s)
{
    tamis_close(s->t);
    tamis_close(s->other);
    CHECK_THAT(s->a.blocks, ==, 0);
    remove(in_directory("old"));
    remove(in_directory("new"));
    CHECK_THAT(files_in_directory(), ==, 0);
}

/* --- Every public call that may fail ---------------------------------------------------------- */

typedef tamis_status operation(struct scene *s, tamis **out, tamis_error *why);

static tamis_status op_create(struct scene *s, tamis **out, tamis_error *why)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 500, .fpr = 0.01};
    return tamis_create(&plan, &s->o, out, why);
}

static tamis_status op_load(struct scene *s, tamis **out, tamis_error *why)
{
    return tamis_load(s->image.p, s->image.n, &s->o, out, why);
}

static tamis_status op_view(struct scene *s, tamis **out, tamis_error *why)
{
    return tamis_view(s->image.p, s->image.n, &s->o, out, why);
}

static tamis_status open_with(struct scene *s, uint32_t flags, tamis **out, tamis_error *why)
{
    tamis_options o = s->o;
    o.flags = flags;
    return tamis_open(in_directory("old"), &o, out, why);
}

static tamis_status op_open(struct scene *s, tamis **out, tamis_error *why)
{
    return open_with(s, 0, out, why);
}

static tamis_status op_open_map(struct scene *s, tamis **out, tamis_error *why)
{
    return open_with(s, TAMIS_MAP, out, why);
}

/* A lock left behind by a failure would make the second try TAMIS_EBUSY. */
static tamis_status op_open_update(struct scene *s, tamis **out, tamis_error *why)
{
    return open_with(s, TAMIS_UPDATE, out, why);
}

static tamis_status op_copy(struct scene *s, tamis **out, tamis_error *why)
{
    return tamis_copy(s->t, out, why);
}

static tamis_status op_convert(struct scene *s, tamis **out, tamis_error *why)
{
    tamis_facts f = {.struct_size = sizeof f};
    if (tamis_info(s->t, &f) != TAMIS_OK) return TAMIS_ECORRUPT;
    if (f.kind != TAMIS_COUNTING) return tamis_copy(s->t, out, why);
    return tamis_convert(s->t, TAMIS_BLOOM, out, why);
}

static tamis_status op_write(struct scene *s, tamis **out, tamis_error *why)
{
    struct bytes_sink sink = {bytes_new(s->image.n), 0};
    (void)out;
    const tamis_status st = tamis_write(s->t, bytes_put, &sink, why);
    CHECK(st != TAMIS_OK || bytes_equal(sink.to, s->image));
    free(sink.to.p);
    return st;
}

static tamis_status op_save(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out;
    return tamis_save(s->t, in_directory("new"), NULL, why);
}

static tamis_status op_save_over(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out;
    return tamis_save(s->t, in_directory("old"), NULL, why);
}

static tamis_status op_save_new(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out;
    return tamis_save(s->t, in_directory("new"), SAVING(TAMIS_SAVE_NEW), why);
}

static tamis_status op_save_packed(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out;
    return tamis_save(s->t, in_directory("new"), SAVING(TAMIS_SAVE_NEW | TAMIS_SAVE_PACKED), why);
}

/* Saves a foreign filter in the format of the number of the kind. */
static tamis_status op_foreign_save(struct scene *s, tamis **out, tamis_error *why)
{
    const tamis_foreign_plan p = {.struct_size = sizeof p,
                                  .format = 1 + s->model->kind % TAMIS_FOREIGN_GUAVA,
                                  .items = 500,
                                  .fpr = 0.01};
    tamis_foreign *f;
    (void)out;
    tamis_status st = tamis_foreign_create(&p, &s->o, &f, why);
    if (st == TAMIS_OK)
        st = tamis_foreign_save(f, TAMIS_FOREIGN_AUTO, in_directory("new"), SAVING(TAMIS_SAVE_NEW),
                                why);
    tamis_foreign_close(f);
    return st;
}

static tamis_status op_pack(struct scene *s, tamis **out, tamis_error *why)
{
    struct bytes_sink sink = {bytes_new(s->packed.n), 0};
    (void)out;
    const tamis_status st = tamis_pack(s->t, bytes_put, &sink, why);
    CHECK(st != TAMIS_OK || bytes_equal(sink.to, s->packed));
    free(sink.to.p);
    return st;
}

static tamis_status op_unpack(struct scene *s, tamis **out, tamis_error *why)
{
    return tamis_unpack(s->packed.p, s->packed.n, &s->o, out, why);
}

/* --- Calls that need no memory, and so cannot fail for want of it ----------------------------- */

static tamis_status op_add(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out, (void)why;
    return tamis_add(s->t, "one more", 8, NULL);
}

static tamis_status op_add_many(struct scene *s, tamis **out, tamis_error *why)
{
    static const tamis_bytes few[] = {{"a", 1}, {"b", 1}, {"c", 1}};
    uint8_t seen[1];
    (void)out, (void)why;
    tamis_status st = tamis_add_many(s->t, few, 3, NULL, NULL);
    if (st == TAMIS_OK) st = tamis_add_many(s->t, few, 3, seen, NULL);
    return st == TAMIS_OK && seen[0] != 7 ? TAMIS_ECORRUPT : st;
}

static tamis_status op_add_hashes(struct scene *s, tamis **out, tamis_error *why)
{
    static const tamis_bytes few[] = {{"a", 1}, {"b", 1}, {"c", 1}};
    uint8_t seen[1];
    tamis_hash h[3];
    (void)out, (void)why;
    tamis_status st = tamis_hash_many(s->t, few, 3, h);
    if (st == TAMIS_OK) st = tamis_add_hashes(s->t, h, 3, NULL, NULL);
    if (st == TAMIS_OK) st = tamis_add_hashes(s->t, h, 3, seen, NULL);
    return st == TAMIS_OK && seen[0] != 7 ? TAMIS_ECORRUPT : st;
}

static tamis_status op_ask(struct scene *s, tamis **out, tamis_error *why)
{
    static const tamis_bytes few[] = {{"\0\0\0\0", 4}, {"\1\0\0\0", 4}};
    uint64_t cells[8];
    uint8_t bits[1];
    (void)out, (void)why;
    tamis_cells_of(s->t, "x", 1, cells, 8);
    return tamis_may_contain_many(s->t, few, 2, bits) == 0 ? TAMIS_ECORRUPT : TAMIS_OK;
}

/* A kind that cannot needs no memory to say so. */
static tamis_status done_or_cannot(tamis_status s)
{
    return s == TAMIS_EUNSUPPORTED ? TAMIS_OK : s;
}

static tamis_status op_merge(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out;
    return done_or_cannot(tamis_merge(s->t, s->other, why));
}

static tamis_status op_compare(struct scene *s, tamis **out, tamis_error *why)
{
    tamis_similarity like = {.struct_size = sizeof like};
    (void)out;
    return done_or_cannot(tamis_compare(s->t, s->other, &like, why));
}

static tamis_status op_remove(struct scene *s, tamis **out, tamis_error *why)
{
    const uint32_t key = 7;
    tamis_estimate e;
    (void)out;
    const tamis_status st = tamis_remove(s->t, &key, sizeof key, why);
    if (st == TAMIS_OK && tamis_add(s->t, &key, sizeof key, NULL) != TAMIS_OK)
        return TAMIS_ECORRUPT;
    tamis_count(s->t, &key, sizeof key, &e, why);
    return done_or_cannot(st);
}

static tamis_status op_rotate(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out;
    return done_or_cannot(tamis_rotate(s->t, why));
}

static tamis_status op_info(struct scene *s, tamis **out, tamis_error *why)
{
    tamis_facts f = {.struct_size = sizeof f};
    (void)out, (void)why;
    return tamis_info(s->t, &f);
}

static tamis_status op_clear(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out, (void)why;
    return tamis_clear(s->t);
}

static tamis_status op_seal(struct scene *s, tamis **out, tamis_error *why)
{
    (void)out, (void)why;
    return tamis_seal(s->t, NULL);
}

/* --- The loop --------------------------------------------------------------------------------- */

enum {
    MAKES_HANDLE = 1,
    ALLOCATES = 2,
    FILES = 8, /* for every model */
    /* A save that is on the disk has succeeded, even when the handle cannot note where: a later
     * save then just replaces the file (src/image/file.c). Hashes are added even if there is no
     * memory to watch whether they are uniform (src/core/uniform.c). */
    MAY_ABSORB = 4,
    MAY_ALLOCATE = 16 /* some kinds do */
};

struct call {
    const char *name;
    operation *run;
    unsigned is;
};

static const struct call calls[] = {
    {"create", op_create, MAKES_HANDLE | ALLOCATES},
    {"load", op_load, MAKES_HANDLE | ALLOCATES},
    {"view", op_view, MAKES_HANDLE | ALLOCATES},
    {"open", op_open, MAKES_HANDLE | ALLOCATES | FILES},
    {"open map", op_open_map, MAKES_HANDLE | ALLOCATES | FILES},
    {"open update", op_open_update, MAKES_HANDLE | ALLOCATES | FILES},
    {"copy", op_copy, MAKES_HANDLE | ALLOCATES},
    {"convert", op_convert, MAKES_HANDLE | ALLOCATES},
    {"write", op_write, ALLOCATES},
    {"save", op_save, ALLOCATES | MAY_ABSORB | FILES},
    {"save over", op_save_over, ALLOCATES | MAY_ABSORB | FILES},
    {"save new", op_save_new, ALLOCATES | MAY_ABSORB | FILES},
    {"save packed", op_save_packed, ALLOCATES | FILES},
    {"save foreign", op_foreign_save, ALLOCATES | FILES},
    {"pack", op_pack, ALLOCATES},
    {"unpack", op_unpack, MAKES_HANDLE | ALLOCATES},
    {"add", op_add, 0},
    {"add many", op_add_many, 0},
    {"add hashes", op_add_hashes, MAY_ALLOCATE | MAY_ABSORB},
    {"ask", op_ask, 0},
    {"merge", op_merge, 0},
    {"compare", op_compare, 0},
    {"remove", op_remove, 0},
    {"rotate", op_rotate, 0},
    {"info", op_info, 0},
    {"clear", op_clear, 0},
    {"seal", op_seal, 0},
};

static void check_failure(const struct scene *s, tamis_status st, const tamis_error *why)
{
    const tamis_options o = model_options(s->model, NULL);
    CHECK_THAT(st, ==, TAMIS_ENOMEM);
    CHECK(why->status == TAMIS_ENOMEM && why->text[0] != '\0');
    CHECK(access(in_directory("new"), F_OK) != 0);
    CHECK_THAT(files_in_directory(), ==, 1);
    tamis *old;
    CHECK_OK(tamis_open(in_directory("old"), &o, &old, NULL));
    tamis_close(old);
}

/* False when the call came through without meeting the failure. */
static bool fails_at(const struct call *c, const struct model *m, size_t n, bool for_ever)
{
    struct scene s;
    open_scene(&s, m);
    const bool makes = (c->is & MAKES_HANDLE) != 0;
    const size_t blocks = s.a.blocks;
    tamis *const untouched = (tamis *)(uintptr_t)8, *out = untouched;
    tamis_error why;
    memset(&why, 0, sizeof why);
    s.a.calls = 0;
    s.a.fail_at = n;
    s.a.for_ever = for_ever;
    const tamis_status st = c->run(&s, &out, &why);
    const bool failed = s.a.failed;
    s.a.fail_at = 0;
    if (!failed || ((c->is & MAY_ABSORB) != 0 && st == TAMIS_OK)) {
        CHECK_OK(st);
    } else {
        check_failure(&s, st, &why);
        CHECK(out == (makes ? NULL : untouched));
        CHECK_THAT(s.a.blocks, ==, blocks);
        struct bytes after = image_of(s.t);
        CHECK(bytes_equal(after, s.image));
        free(after.p);
        CHECK_OK(c->run(&s, &out, &why));
    }
    if (makes) tamis_close(out);
    close_scene(&s);
    return failed;
}

/* Whether a call is for that model. */
static bool is_struck(const struct call *c, const struct model *m)
{
    if (c->run == op_save_packed && m->kind == TAMIS_PRIVATE) return false; /* cannot be packed */
    if ((c->is & FILES) != 0) return true;
    if (m->kind > TAMIS_EXACT || m->inner != 0 || m->sealed || m->bitmap) return false;
    /* Sealed kinds collect keys and therefore allocate: test_sealed.c tests them. */
    return m->kind < TAMIS_FUSE || (c->is & ALLOCATES) != 0;
}

static void test_every_allocation_fails(void)
{
    make_directory();
    make_models();
    size_t struck = 0;
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        for (size_t j = 0; j < 2 * n_models; j++) {
            if (!is_struck(&calls[i], &models[j / 2])) continue;
            size_t n = 1;
            while (fails_at(&calls[i], &models[j / 2], n, j % 2 != 0)) n++;
            const bool allocates = (calls[i].is & ALLOCATES) != 0;
            if ((n > 1) != allocates && (calls[i].is & MAY_ALLOCATE) == 0)
                printf("%s of %s\n", calls[i].name, tamis_kind_name(models[j / 2].kind));
            CHECK((n > 1) == allocates || (calls[i].is & MAY_ALLOCATE) != 0);
            struck += n - 1;
        }
    printf("%zu allocations failed\n", struck);
    free_models();
    CHECK(rmdir(directory) == 0);
}

/* A keyed handle lies in hidden pages of its own: one more way to have no memory. */
static void test_no_secret_pages(void)
{
    make_directory();
    make_models();
    size_t of_plain = 0, of_keyed = 0;
    for (size_t i = 0; i < n_models; i++) {
        if (models[i].kind != TAMIS_BLOOM || models[i].bitmap) continue;
        struct scene s;
        tamis *t;
        open_scene(&s, &models[i]);
        const size_t before = s.a.bytes;
        CHECK_OK(op_open(&s, &t, NULL));
        *(models[i].keyed ? &of_keyed : &of_plain) = s.a.bytes - before;
        tamis_close(t);
        close_scene(&s);
    }
#ifdef __linux__
    CHECK_THAT(of_keyed, >, of_plain + (size_t)sysconf(_SC_PAGESIZE));
#endif
    free_models();
    CHECK(rmdir(directory) == 0);
}

static const struct model *model_of(uint32_t kind)
{
    size_t i = 0;
    while (models[i].kind != kind) i++;
    return &models[i];
}

/* Opened for an update, changed and saved: lock, generation and file survive a failed save. */
static void test_update_survives(void)
{
    make_directory();
    struct scene s;
    make_models();
    open_scene(&s, model_of(TAMIS_BLOCKED));
    for (size_t n = 1;; n++) {
        tamis *t;
        CHECK_OK(open_with(&s, TAMIS_UPDATE, &t, NULL));
        CHECK_OK(tamis_add(t, &n, sizeof n, NULL));
        struct bytes before = image_of(t);
        s.a.calls = 0;
        s.a.failed = false;
        s.a.fail_at = n;
        const tamis_status st = tamis_save(t, in_directory("old"), NULL, NULL);
        s.a.fail_at = 0;
        CHECK_THAT(st, ==, s.a.failed ? TAMIS_ENOMEM : TAMIS_OK);
        tamis *second;
        CHECK_THAT(open_with(&s, TAMIS_UPDATE, &second, NULL), ==, TAMIS_EBUSY);
        CHECK_OK(tamis_save(t, in_directory("old"), NULL, NULL));
        struct bytes after = image_of(t);
        CHECK(bytes_equal(before, after));
        free(before.p);
        free(after.p);
        tamis_close(t);
        if (!s.a.failed) break;
    }
    close_scene(&s);
    free_models();
    CHECK(rmdir(directory) == 0);
}

/* Exactly at the limit is allowed, one byte less is not, and costs nothing. */
static void test_max_bytes(void)
{
    make_directory();
    struct scene s;
    make_models();
    open_scene(&s, model_of(TAMIS_BLOOM));
    static operation *const limited[] = {op_load, op_view, op_open, op_open_map};
    for (size_t i = 0; i < sizeof limited / sizeof *limited; i++) {
        tamis *t;
        tamis_error why;
        s.o.max_bytes = s.image.n;
        CHECK_OK(limited[i](&s, &t, &why));
        tamis_close(t);
        s.o.max_bytes = s.image.n - 1;
        CHECK_THAT(limited[i](&s, &t, &why), ==, TAMIS_ENOMEM);
        CHECK(t == NULL && why.status == TAMIS_ENOMEM && why.text[0] != '\0');
    }
    tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    tamis *t;
    CHECK_OK(tamis_solve(&plan, NULL, NULL));
    s.o.max_bytes = plan.bytes;
    CHECK_OK(tamis_create(&plan, &s.o, &t, NULL));
    tamis_close(t);
    s.o.max_bytes = plan.bytes - 1;
    const size_t calls_before = s.a.calls;
    CHECK_THAT(tamis_create(&plan, &s.o, &t, NULL), ==, TAMIS_ENOMEM);
    CHECK(t == NULL && s.a.calls == calls_before);
    close_scene(&s);
    free_models();
    CHECK(rmdir(directory) == 0);
}

/* What collects is full at the limit of the moment, and goes on under a higher one. */
static void test_limit_of_the_moment(void)
{
    static const uint32_t kinds[] = {TAMIS_RIBBON, TAMIS_FUSE, TAMIS_EXACT, TAMIS_GROWING};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const tamis_plan plan = {
            .struct_size = sizeof plan, .kind = kinds[i], .items = 100, .fpr = 0.01};
        tamis *t;
        uint64_t n = 0;
        CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
        for (uint64_t limit = 8000; limit <= 32000; limit *= 2) {
            const uint64_t before = n;
            tamis_limit(t, limit);
            while (tamis_add(t, &n, sizeof n, NULL) == TAMIS_OK) n++;
            CHECK_THAT(n, >, before);
            CHECK_THAT(tamis_add(t, &n, sizeof n, NULL), ==, TAMIS_EFULL);
            CHECK_THAT(tamis_image_size(t), <=, limit);
        }
        tamis_limit(t, 0);
        CHECK_OK(tamis_add(t, &n, sizeof n, NULL));
        tamis_close(t);
    }
}

/* A plan for more than any machine has is a status, not a crash. */
static void test_absurd_size(void)
{
    const tamis_plan plan = {.struct_size = sizeof plan,
                             .kind = TAMIS_BLOOM,
                             .items = UINT64_C(1) << 48,
                             .m = UINT64_C(1) << 52};
    struct tracker a;
    tracker_init(&a);
    a.fail_at = 2; /* the handle is small; the cells are what no machine has */
    a.for_ever = true;
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    tamis *t;
    tamis_error why;
    CHECK_THAT(tamis_create(&plan, &o, &t, &why), ==, TAMIS_ENOMEM);
    CHECK(t == NULL && why.text[0] != '\0' && a.blocks == 0);
}

static const struct test tests[] = {
    {"every allocation fails", test_every_allocation_fails},
    {"no secret pages", test_no_secret_pages},
    {"update survives", test_update_survives},
    {"max bytes", test_max_bytes},
    {"limit of the moment", test_limit_of_the_moment},
    {"absurd size", test_absurd_size},
};

TEST_MAIN(tests)
