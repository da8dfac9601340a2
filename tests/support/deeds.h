/* Opening, saving and spilling, each from beginning to end, in a directory of their own and with
 * calls that can be struck (striking.h). For tests of the files in src/image that open files, which
 * this file includes. */
#ifndef TAMIS_TEST_DEEDS_H
#define TAMIS_TEST_DEEDS_H

#include "striking.h"
/* The calls of this file are real, those of the next ones are struck. */
#include "../../src/image/descriptor.c"
#include "../../src/image/durable.c"
#include "../../src/image/file.c"
#undef access
#undef close
#undef fcntl
#undef flock
#undef fstat
#undef ftruncate
#undef lstat
#undef open
#undef pwrite
#undef realpath
#undef renameat2
#undef stat
#undef syscall
#undef write

#include "room.h"
#include "saving.h"

static char directory[256], path[300];
static tamis_error why;

static tamis *make(const tamis_memory *memory)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 2000, .fpr = 0.01};
    const tamis_options o = {.struct_size = sizeof o, .memory = memory};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &o, &t, NULL));
    CHECK_OK(tamis_add(t, "old", 3, NULL));
    return t;
}

static tamis_status open_with(uint32_t flags, const tamis_memory *memory, tamis **t)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = flags, .memory = memory};
    return tamis_open(path, &o, t, &why);
}

static void well(void)
{
    memset(&strike, 0, sizeof strike);
}

static void enter(void)
{
    well();
    lack = (struct lack){0};
    enter_room(NULL, "strike", directory, sizeof directory);
    snprintf(path, sizeof path, "%s/f.tamis", directory);
}

static void old_file(void)
{
    tamis *t = make(NULL);
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    tamis_close(t);
}

/* Removes everything in the directory; returns how much of it were temporary files. */
static unsigned empty(void)
{
    unsigned strange = 0;
    DIR *d = opendir(directory);
    CHECK(d != NULL);
    for (const struct dirent *e; (e = readdir(d)) != NULL;) {
        char name[600];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        snprintf(name, sizeof name, "%s/%s", directory, e->d_name);
        strange += strcmp(e->d_name, "f.tamis") != 0;
        CHECK(remove(name) == 0);
    }
    closedir(d);
    return strange;
}

static void leave(void)
{
    well();
    empty();
    CHECK(rmdir(directory) == 0);
}

static unsigned open_descriptors(void)
{
    unsigned n = 0;
    for (int fd = 0; fd < 256; fd++) n += fcntl(fd, F_GETFD) >= 0;
    return n;
}

/* What the path holds: 0 no file, 1 the old one, 2 the new one, 3 the old one, packed, 4 an
 * empty one. */
static int content(void)
{
    tamis *t;
    uint8_t start[8] = {0};
    const int fd = open(path, O_RDONLY);
    if (fd < 0) return 0;
    const ssize_t n = read(fd, start, sizeof start);
    close(fd);
    if (n == 0) return 4;
    CHECK_THAT(n, ==, sizeof start);
    if (tamis_open(path, NULL, &t, &why) != TAMIS_OK)
        return strstr(why.text, "is packed; unpack") != NULL ? 3 : -1;
    const int found = tamis_may_contain(t, "new", 3) ? 2 : 1;
    CHECK(tamis_may_contain(t, "old", 3));
    tamis_close(t);
    return found;
}

/* --- What is struck: each does one thing from beginning to end -------------------------------- */

static tamis_status opens(uint32_t flags)
{
    tamis *t;
    const tamis_status s = open_with(flags, NULL, &t);
    CHECK((s == TAMIS_OK) == (t != NULL));
    if (s == TAMIS_OK) CHECK(tamis_may_contain(t, "old", 3));
    tamis_close(t);
    return s;
}

static tamis_status opens_privately(void)
{
    return opens(0);
}

static tamis_status maps(void)
{
    return opens(TAMIS_MAP);
}

static tamis_status locks(void)
{
    return opens(TAMIS_UPDATE | TAMIS_WAIT);
}

static tamis_status changes(uint32_t flags)
{
    tamis *t;
    tamis_status s = open_with(flags, NULL, &t);
    if (s == TAMIS_OK) s = tamis_add(t, "new", 3, NULL);
    if (s == TAMIS_OK) s = tamis_save(t, path, NULL, &why);
    tamis_close(t);
    return s;
}

static tamis_status updates(void)
{
    return changes(TAMIS_UPDATE);
}

static tamis_status replaces(void)
{
    return changes(0);
}

static tamis_status makes_new(void)
{
    tamis *t = make(NULL);
    CHECK_OK(tamis_add(t, "new", 3, NULL));
    const tamis_status s = tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), &why);
    tamis_close(t);
    return s;
}

static tamis_status packs(void)
{
    tamis *t = make(NULL);
    const tamis_status s = tamis_save(t, path, SAVING(TAMIS_SAVE_PACKED), &why);
    tamis_close(t);
    return s;
}

static tamis_status packs_new(void)
{
    tamis *t = make(NULL);
    const tamis_status s = tamis_save(t, path, SAVING(TAMIS_SAVE_NEW | TAMIS_SAVE_PACKED), &why);
    tamis_close(t);
    return s;
}

static tamis_status spills(void)
{
    const char text[] = "what does not fit the memory";
    char again[sizeof text] = "";
    int fd;
    tamis_status s = tamis__temporary_open(directory, &fd, &why);
    CHECK((s == TAMIS_OK) == (fd > STDERR_FILENO));
    if (s != TAMIS_OK) return s;
    s = tamis__temporary_write(fd, 5, text, sizeof text, &why);
    if (s == TAMIS_OK) s = tamis__temporary_read(fd, 5, again, sizeof again, &why);
    if (s == TAMIS_OK) CHECK(memcmp(text, again, sizeof text) == 0);
    tamis__temporary_empty(fd);
    tamis__temporary_close(fd);
    return s;
}

static const struct deed {
    const char *name;
    tamis_status (*run)(void);
    int before, after; /* content() */
} deeds[] = {
    {"open", opens_privately, 1, 1}, {"map", maps, 1, 1},         {"lock", locks, 1, 1},
    {"update", updates, 1, 2},       {"replace", replaces, 1, 2}, {"make", makes_new, 0, 2},
    {"pack", packs, 1, 3},           {"spill", spills, 0, 0},     {"pack anew", packs_new, 0, 3}};

static void replace_it(void)
{
    const struct strike kept = strike;
    well();
    tamis *t = make(NULL);
    CHECK_OK(tamis_add(t, "new", 3, NULL));
    CHECK(remove(path) == 0);
    CHECK_OK(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), NULL));
    tamis_close(t);
    strike = kept;
}

static void remove_it(void)
{
    CHECK(remove(path) == 0);
}

#endif
