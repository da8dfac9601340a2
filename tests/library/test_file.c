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
    if (ON_WINDOWS) return; /* it does not replace a mapped file */
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

/* A pipe has no length: the header tells how much to read. */
static void the_length_of_an_image(void)
{
    tamis *t = make(0);
    static uint8_t image[1 << 16];
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
    leave();
}

static const struct test tests[] = {
    {"a_map_outlives_replacement", a_map_outlives_replacement},
    {"a_new_file_replaces_nothing", a_new_file_replaces_nothing},
    {"one_updater_at_a_time", one_updater_at_a_time},
    {"options_of_a_save", options_of_a_save},
    {"a_packed_file_is_a_copy", a_packed_file_is_a_copy},
    {"the_length_of_an_image", the_length_of_an_image},
};
TEST_MAIN(tests)
