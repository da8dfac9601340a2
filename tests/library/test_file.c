/* Promises about files: a mapped filter outlives the replacement of its file, a new file is never
 * put over an old one, only one handle at a time has a file for update, and a packed file never
 * replaces the file that a handle belongs to. Then the facts of a file whose cells are not read. */
#define _POSIX_C_SOURCE 200809L
#include "../support/room.h"
#include "../support/saving.h"

#include <errno.h>
#include <tamis/inspect.h>
#include <tamis/publish.h>
#include <unistd.h>

enum { KEYS = 2000 };

static char directory[256], path[300];

static void enter(void)
{
    enter_room(NULL, "file", directory, sizeof directory);
    snprintf(path, sizeof path, "%s/f.tamis", directory);
}

static void leave(void)
{
    CHECK(unlink(path) == 0);
    CHECK(rmdir(directory) == 0); /* empty: nothing else was left in it */
}

static tamis *make(uint64_t from)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .items = KEYS, .fpr = 1e-6};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    for (uint64_t i = from; i < from + KEYS; i++) CHECK_OK(tamis_add(t, &i, sizeof i, NULL));
    return t;
}

static uint64_t count(const tamis *t, uint64_t from)
{
    uint64_t n = 0;
    for (uint64_t i = from; i < from + KEYS; i++) n += tamis_may_contain(t, &i, sizeof i);
    return n;
}

static tamis *open_with(uint32_t flags)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = flags};
    tamis *t;
    CHECK_OK(tamis_open(path, &o, &t, NULL));
    return t;
}

static void a_map_outlives_replacement(void)
{
    tamis *first = make(0), *second = make(1000000);
    enter();
    CHECK_OK(tamis_save(first, path, NULL, NULL));
    tamis *mapped = open_with(TAMIS_MAP);
    CHECK_THAT(count(mapped, 0), ==, KEYS);
    CHECK_THAT(tamis_add(mapped, "x", 1, NULL), ==, TAMIS_ESEALED);
    CHECK_OK(tamis_save(second, path, NULL, NULL));
    CHECK_THAT(count(mapped, 0), ==, KEYS); /* still the old file */
    CHECK_THAT(count(mapped, 1000000), <, 10);
    tamis *again = open_with(TAMIS_MAP);
    CHECK_THAT(count(again, 1000000), ==, KEYS);
    CHECK_THAT(count(again, 0), <, 10);
    tamis_close(again);
    tamis_close(mapped);
    tamis_close(first);
    tamis_close(second);
    leave();
}

static void a_new_file_replaces_nothing(void)
{
    tamis *first = make(0), *second = make(1000000);
    tamis_error why;
    enter();
    CHECK_OK(tamis_save(first, path, SAVING(TAMIS_SAVE_NEW), NULL));
    CHECK_THAT(tamis_save(second, path, SAVING(TAMIS_SAVE_NEW), &why), ==, TAMIS_EIO);
    CHECK(why.os == EEXIST && why.text[0] != '\0');
    tamis *t = open_with(0);
    CHECK_THAT(count(t, 0), ==, KEYS);
    tamis_close(t);
    tamis_close(first);
    tamis_close(second);
    leave();
}

static void one_updater_at_a_time(void)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_UPDATE};
    tamis *first = make(0), *other = NULL;
    enter();
    CHECK_OK(tamis_save(first, path, NULL, NULL));
    tamis *holder = open_with(TAMIS_UPDATE);
    CHECK_THAT(tamis_open(path, &o, &other, NULL), ==, TAMIS_EBUSY);
    CHECK(other == NULL);
    CHECK_OK(tamis_add(holder, "x", 1, NULL));
    CHECK_OK(tamis_save(holder, path, NULL, NULL));
    CHECK_THAT(tamis_open(path, &o, &other, NULL), ==, TAMIS_EBUSY); /* the new file is held too */
    /* A handle that read the file before it was changed cannot put the old content back. */
    CHECK_OK(tamis_add(first, "y", 1, NULL));
    tamis_close(holder);
    CHECK_THAT(tamis_save(first, path, NULL, NULL), ==, TAMIS_EBUSY);
    tamis *t = open_with(TAMIS_UPDATE | TAMIS_WAIT);
    CHECK(tamis_may_contain(t, "x", 1));
    tamis_close(t);
    tamis_close(first);
    leave();
}

static void check_kept(uint64_t from, const char *file)
{
    tamis *t;
    CHECK_OK(tamis_open(file, NULL, &t, NULL));
    CHECK_THAT(count(t, from), ==, KEYS);
    tamis_close(t);
}

static void options_of_a_save(void)
{
    tamis *t = make(0);
    tamis_error why;
    enter();
    for (unsigned bit = 2; bit < 32; bit++) {
        CHECK_THAT(tamis_save(t, path, SAVING(1u << bit), &why), ==, TAMIS_EINVAL);
        CHECK(why.status == TAMIS_EINVAL && strstr(why.text, "flag") != NULL);
    }
    CHECK(access(path, F_OK) != 0);
    /* A struct of an older program, which ends before the flags: nothing beyond it is read. */
    tamis_save_options shorter = {
        .struct_size = sizeof(size_t), .flags = UINT32_MAX, .mode = UINT32_MAX};
    CHECK_OK(tamis_save(t, path, &shorter, &why));
    CHECK_OK(tamis_save(t, path, &shorter, &why)); /* and it replaces */
    check_kept(0, path);
    shorter.struct_size = 0;
    CHECK_THAT(tamis_save(t, path, &shorter, &why), ==, TAMIS_EINVAL);
    tamis_close(t);
    leave();
}

/* A packed file is a copy. It never takes the place of the file that the handle belongs to, since
 * tamis_open could not open that again. */
static void a_packed_file_is_a_copy(void)
{
    tamis *t = make(0), *other;
    tamis_error why;
    char copy[320];
    enter();
    snprintf(copy, sizeof copy, "%s/copy", directory);
    const tamis_save_options *anew = SAVING(TAMIS_SAVE_NEW | TAMIS_SAVE_PACKED);
    CHECK_OK(tamis_save(t, copy, anew, &why));
    CHECK_THAT(tamis_save(t, copy, anew, &why), ==, TAMIS_EIO);
    CHECK(why.os == EEXIST);
    CHECK_OK(tamis_save(t, copy, SAVING(TAMIS_SAVE_PACKED), &why)); /* which it may replace */
    CHECK_THAT(tamis_open(copy, NULL, &other, &why), ==, TAMIS_ECORRUPT);
    CHECK_OK(tamis_save(t, path, NULL, &why));
    for (unsigned how = 0; how < 3; how++) { /* saved there, opened from there, locked */
        if (how > 0) {
            tamis_close(t);
            t = open_with(how == 1 ? 0 : TAMIS_UPDATE);
        }
        CHECK_OK(tamis_add(t, &how, sizeof how, NULL));
        CHECK_THAT(tamis_save(t, path, SAVING(TAMIS_SAVE_PACKED), &why), ==, TAMIS_EINVAL);
        CHECK(why.status == TAMIS_EINVAL && why.text[0] != '\0');
        CHECK_THAT(tamis_save(t, path, anew, &why), ==, TAMIS_EIO);
        CHECK(why.os == EEXIST);
        check_kept(0, path);
        CHECK_OK(tamis_save(t, copy, SAVING(TAMIS_SAVE_PACKED), &why));
        CHECK_OK(tamis_save(t, path, NULL, &why)); /* it still belongs to that file */
    }
    /* Somebody else's lock is respected, and the lock of this handle went over to the new file. */
    tamis *stranger = make(1000000);
    CHECK_THAT(tamis_save(stranger, path, SAVING(TAMIS_SAVE_PACKED), &why), ==, TAMIS_EBUSY);
    check_kept(0, path);
    tamis_close(t);
    CHECK_OK(tamis_save(stranger, path, SAVING(TAMIS_SAVE_PACKED), &why));
    CHECK_THAT(tamis_open(path, NULL, &other, &why), ==, TAMIS_ECORRUPT);
    tamis_close(stranger);
    CHECK(unlink(copy) == 0);
    leave();
}

/* The facts of tamis_stat are those of tamis_info, as far as the cells are not needed. */
static void check_stat(tamis *t, const char *file)
{
    tamis_facts told = {.struct_size = sizeof told}, f = {.struct_size = sizeof f}, zero;
    CHECK_OK(tamis_save(t, file, NULL, NULL));
    CHECK_OK(tamis_info(t, &told));
    memset(&f.kind, 0xff, sizeof f - offsetof(tamis_facts, kind));
    CHECK_OK(tamis_stat(file, &f, NULL));
    CHECK(f.struct_size == sizeof f && f.kind == told.kind && f.hash == told.hash);
    CHECK(f.k == told.k && f.m == told.m && f.format == told.format && f.seed == told.seed);
    CHECK(f.generation == told.generation && f.cell_bits == told.cell_bits);
    CHECK(f.sections == told.sections && f.may_miss == told.may_miss && f.keyed == told.keyed);
    CHECK(f.strict == told.strict && f.auto_rotate == told.auto_rotate && f.sealed == told.sealed);
    CHECK(f.collecting == told.collecting && f.items_estimated == told.items_estimated);
    CHECK(f.hash_suspect == told.hash_suspect && f.bytes == told.bytes);
    CHECK(f.items == (told.kind >= TAMIS_COUNT_MIN ? 0 : told.items));
    CHECK(f.planned_items == told.planned_items && !(f.fpr_planned < told.fpr_planned));
    CHECK(memcmp(f.key_id, told.key_id, sizeof f.key_id) == 0);
    memset(&zero, 0, sizeof zero);
    CHECK(memcmp(&f.fpr_now, &zero.fpr_now, 8 * sizeof(double)) == 0 && !f.overfull);
    CHECK(f.excluded == 0 && f.weight == 0 && f.entries == 0 && f.inner_kind == 0);
}

static void facts_without_cells(void)
{
    static const uint32_t kinds[] = {TAMIS_BLOOM,  TAMIS_PAIR, TAMIS_GROWING,  TAMIS_WINDOW,
                                     TAMIS_RIBBON, TAMIS_TOP,  TAMIS_COUNT_MIN};
    const uint8_t key[16] = {1, 2, 3};
    enter();
    for (size_t i = 0; i < 2 * (sizeof kinds / sizeof *kinds); i++) {
        const uint32_t kind = kinds[i / 2];
        const tamis_options o = {.struct_size = sizeof o, .key = i % 2 != 0 ? key : NULL};
        const tamis_plan plan = {.struct_size = sizeof plan,
                                 .kind = kind,
                                 .items = kind >= TAMIS_COUNT_MIN ? 0 : 100,
                                 .fpr = kind >= TAMIS_COUNT_MIN ? 0 : 0.01,
                                 .bytes = kind >= TAMIS_COUNT_MIN ? 1 << 16 : 0};
        tamis *t;
        CHECK_OK(tamis_create(&plan, &o, &t, NULL));
        for (uint64_t n = 0; n < 300; n++) CHECK_OK(tamis_add(t, &n, sizeof n, NULL));
        check_stat(t, path);
        if (kind == TAMIS_RIBBON) CHECK_OK(tamis_seal(t, NULL));
        check_stat(t, path);
        tamis_close(t);
        CHECK(unlink(path) == 0);
    }
    CHECK(rmdir(directory) == 0);
}

static void write_bytes(const void *p, size_t n)
{
    FILE *f = fopen(path, "wb"); /* not by the library, which would sync each time */
    CHECK(f != NULL && fwrite(p, 1, n, f) == n && fclose(f) == 0);
}

/* Each byte of the metadata is under its root, no cell is read, and *out stays as it is. */
static void damaged_metadata(void)
{
    tamis *t = make(0);
    tamis_facts f = {.struct_size = sizeof f, .kind = 77};
    tamis_error why;
    static uint8_t image[1 << 16], bad[1 << 16];
    enter();
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    const size_t n = (size_t)tamis_image_size(t);
    FILE *file = fopen(path, "rb");
    CHECK(n <= sizeof image && file != NULL && fread(image, 1, n, file) == n && fclose(file) == 0);
    tamis_close(t);
    CHECK_THAT(tamis_image_length(image, n), ==, n);
    CHECK_THAT(tamis_image_length(image, 128), ==, n);
    CHECK_THAT(tamis_image_length(image, 127), ==, 0);
    CHECK_THAT(tamis_image_length(image + 1, 128), ==, 0);
    CHECK(memcmp(image, TAMIS_IMAGE_MAGIC, 8) == 0);
    for (size_t at = 0; at < 128 + 64 + 8; at++) {
        memcpy(bad, image, n);
        bad[at] ^= 1;
        write_bytes(bad, n);
        const tamis_status s = tamis_stat(path, &f, &why);
        CHECK(s == TAMIS_ECORRUPT || s == TAMIS_EVERSION);
        CHECK(why.status == s && f.kind == 77);
        write_bytes(image, at);
        CHECK(tamis_stat(path, &f, NULL) == TAMIS_ECORRUPT && f.kind == 77);
    }
    memcpy(bad, image, n);
    bad[n - 1] ^= 1;
    write_bytes(bad, n);
    CHECK_THAT(tamis_open(path, NULL, &t, NULL), ==, TAMIS_ECORRUPT);
    CHECK(tamis_stat(path, &f, &why) == TAMIS_OK && f.kind != 77);
    CHECK_THAT(tamis_stat(directory, &f, &why), ==, TAMIS_EIO);
    CHECK_THAT(tamis_stat(NULL, &f, &why), ==, TAMIS_EINVAL);
    f.struct_size = 3;
    CHECK_THAT(tamis_stat(path, &f, &why), ==, TAMIS_EINVAL);
    leave();
    f.struct_size = sizeof f;
    CHECK(tamis_stat(path, &f, &why) == TAMIS_EIO && why.os == ENOENT);
}

static const struct test tests[] = {
    {"a_map_outlives_replacement", a_map_outlives_replacement},
    {"a_new_file_replaces_nothing", a_new_file_replaces_nothing},
    {"one_updater_at_a_time", one_updater_at_a_time},
    {"options_of_a_save", options_of_a_save},
    {"a_packed_file_is_a_copy", a_packed_file_is_a_copy},
    {"facts_without_cells", facts_without_cells},
    {"damaged_metadata", damaged_metadata},
};
TEST_MAIN(tests)
