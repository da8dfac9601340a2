/* Promises about files: a mapped filter outlives the replacement of its file, a new file is never
 * put over an old one, and only one handle at a time has a file for update. */
#define _POSIX_C_SOURCE 200809L
#include "../support/check.h"

#include <errno.h>
#include <tamis/tamis.h>
#include <unistd.h>

enum { KEYS = 2000 };

static char directory[256], path[300];

static void enter(void)
{
    const char *tmp = getenv("TMPDIR");
    snprintf(directory, sizeof directory, "%s/tamis-file-XXXXXX", tmp != NULL ? tmp : "/tmp");
    CHECK(mkdtemp(directory) != NULL);
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
    CHECK_OK(tamis_save(first, path, NULL));
    tamis *mapped = open_with(TAMIS_MAP);
    CHECK_THAT(count(mapped, 0), ==, KEYS);
    CHECK_THAT(tamis_add(mapped, "x", 1, NULL), ==, TAMIS_ESEALED);
    CHECK_OK(tamis_save(second, path, NULL));
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
    CHECK_OK(tamis_save_new(first, path, NULL));
    CHECK_THAT(tamis_save_new(second, path, &why), ==, TAMIS_EIO);
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
    CHECK_OK(tamis_save(first, path, NULL));
    tamis *holder = open_with(TAMIS_UPDATE);
    CHECK_THAT(tamis_open(path, &o, &other, NULL), ==, TAMIS_EBUSY);
    CHECK(other == NULL);
    CHECK_OK(tamis_add(holder, "x", 1, NULL));
    CHECK_OK(tamis_save(holder, path, NULL));
    CHECK_THAT(tamis_open(path, &o, &other, NULL), ==, TAMIS_EBUSY); /* the new file is held too */
    /* Whoever read the file before it was changed cannot put the old content back. */
    CHECK_OK(tamis_add(first, "y", 1, NULL));
    tamis_close(holder);
    CHECK_THAT(tamis_save(first, path, NULL), ==, TAMIS_EBUSY);
    tamis *t = open_with(TAMIS_UPDATE | TAMIS_WAIT);
    CHECK(tamis_may_contain(t, "x", 1));
    tamis_close(t);
    tamis_close(first);
    leave();
}

static const struct test tests[] = {
    {"a_map_outlives_replacement", a_map_outlives_replacement},
    {"a_new_file_replaces_nothing", a_new_file_replaces_nothing},
    {"one_updater_at_a_time", one_updater_at_a_time},
};
TEST_MAIN(tests)
