/* Files on Windows: how paths are spelled, which files cannot be replaced, locks, and what is not
 * supported. tests/library/test_file.c has the promises that hold on every system. */
#include "../support/room.h"
#include "../support/saving.h"
#include "../support/spilling.h"
#include "core/random.h"
#include "image/descriptor.h"

#include <errno.h>
#include <pthread.h>
#include <tamis/publish.h>
#define WIN32_LEAN_AND_MEAN
#include <windows.h>

static char directory[256], path[300]; /* with a drive and backslashes */

static void enter(void)
{
    enter_room(getenv("TEMP"), "windows", directory, sizeof directory);
    for (char *p = directory; *p != '\0'; p++)
        if (*p == '/') *p = '\\';
    CHECK(directory[1] == ':' && strchr(directory, '/') == NULL);
    snprintf(path, sizeof path, "%s\\f.tamis", directory);
}

/* The files in the directory, also hidden ones. */
static unsigned files(void)
{
    char pattern[300];
    WIN32_FIND_DATAA found;
    unsigned n = 0;
    snprintf(pattern, sizeof pattern, "%s\\*", directory);
    HANDLE h = FindFirstFileA(pattern, &found);
    CHECK(h != INVALID_HANDLE_VALUE);
    do n += (found.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0;
    while (FindNextFileA(h, &found));
    FindClose(h);
    return n;
}

static tamis *make(const char *key)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 1e-6};
    tamis *t;
    CHECK_OK(tamis_create(&plan, NULL, &t, NULL));
    CHECK_OK(tamis_add(t, key, strlen(key), NULL));
    return t;
}

static tamis *open_with(const char *file, uint32_t flags)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = flags};
    tamis *t;
    CHECK_OK(tamis_open(file, &o, &t, NULL));
    return t;
}

static void check_has(const char *file, const char *key)
{
    tamis *t = open_with(file, 0);
    CHECK(tamis_may_contain(t, key, strlen(key)));
    tamis_close(t);
}

static void check_fails(const char *file, const tamis_save_options *o, int os)
{
    tamis_error why = {0};
    tamis *t = make("fails");
    CHECK_THAT(tamis_save(t, file, o, &why), ==, TAMIS_EIO);
    CHECK_THAT(why.os, ==, os);
    CHECK(why.status == TAMIS_EIO && why.text[0] != '\0');
    tamis_close(t);
}

/* --- Paths ------------------------------------------------------------------------------------ */

static void paths_are_utf8(void)
{
    char file[400];
    WCHAR wide[400];
    enter();
    snprintf(file, sizeof file, "%s\\gr\xc3\xbcn-\xe6\x97\xa5\xe6\x9c\xac-\xf0\x9f\x98\x80.tamis",
             directory);
    CHECK(MultiByteToWideChar(CP_ACP, 0, directory, -1, wide, 300) > 0);
    wcscat(wide, L"\\gr\u00fcn-\u65e5\u672c-\xd83d\xde00.tamis");
    tamis *t = make("a");
    CHECK_OK(tamis_save(t, file, NULL, NULL));
    CHECK(GetFileAttributesW(wide) != INVALID_FILE_ATTRIBUTES);
    CHECK_OK(tamis_save(t, file, NULL, NULL)); /* it belongs to this file */
    tamis_close(t);
    check_has(file, "a");
    tamis_close(open_with(file, TAMIS_MAP));
    tamis_close(open_with(file, TAMIS_UPDATE));
    CHECK_THAT(files(), ==, 1);
    CHECK(DeleteFileW(wide));
}

static void other_paths_are_refused(void)
{
    static const char *const bad[] = {"\xff.tamis", "a\xc3", "\xed\xa0\x80", "\xc0\xaf"};
    tamis *t = make("a"), *out;
    tamis_error why;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        tamis_options o = spilling(1, 1);
        CHECK_THAT(tamis_save(t, bad[i], NULL, &why), ==, TAMIS_EINVAL);
        CHECK(why.status == TAMIS_EINVAL && strstr(why.text, "UTF-8") != NULL);
        CHECK_THAT(tamis_open(bad[i], NULL, &out, &why), ==, TAMIS_EINVAL);
        o.temp_dir = bad[i];
        const tamis_plan p = {
            .struct_size = sizeof p, .kind = TAMIS_RIBBON, .items = 1000, .fpr = 0.01};
        CHECK_THAT(tamis_create(&p, &o, &out, &why), ==, TAMIS_EINVAL);
    }
    static char longest[5000];
    memset(longest, 'x', sizeof longest - 1);
    CHECK_THAT(tamis_save(t, longest, NULL, &why), ==, TAMIS_EIO);
    CHECK_THAT(why.os, ==, ENAMETOOLONG);
    CHECK_THAT(tamis_open(longest, NULL, &out, &why), ==, TAMIS_EIO);
    CHECK_THAT(why.os, ==, ENAMETOOLONG);
    tamis_close(t);
}

/* All spellings lead to the same file, and the handle knows that the file is its own. */
static void spellings_of_a_path(void)
{
    char before[300], slashes[300], dots[320], drive[16], shouted[300], prefixed[320];
    enter();
    CHECK(GetCurrentDirectoryA(sizeof before, before) > 0 && SetCurrentDirectoryA(directory));
    memcpy(slashes, path, sizeof slashes);
    for (char *p = slashes; *p != '\0'; p++)
        if (*p == '\\') *p = '/';
    snprintf(dots, sizeof dots, "%s\\.\\..\\%s\\f.tamis", directory, strrchr(directory, '\\') + 1);
    snprintf(drive, sizeof drive, "%c:f.tamis", directory[0]);
    snprintf(shouted, sizeof shouted, "%s\\F.TAMIS", directory);
    snprintf(prefixed, sizeof prefixed, "\\\\?\\%s", path);
    const char *const all[] = {path,      slashes,      dots,    drive,
                               "f.tamis", ".\\f.tamis", shouted, prefixed};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
        tamis *t = make("a");
        CHECK_OK(tamis_save(t, all[i], SAVING(TAMIS_SAVE_NEW), NULL));
        CHECK_THAT(files(), ==, 1);
        for (unsigned j = 0; j < sizeof all / sizeof *all; j++) {
            tamis_error why;
            check_has(all[j], "a");
            CHECK_OK(tamis_save(t, all[j], NULL, &why));
            CHECK_THAT(tamis_save(t, all[j], SAVING(TAMIS_SAVE_PACKED), &why), ==, TAMIS_EINVAL);
            check_fails(all[j], SAVING(TAMIS_SAVE_NEW), EEXIST);
        }
        tamis_close(t);
        CHECK_THAT(files(), ==, 1);
        CHECK(remove(path) == 0);
    }
    CHECK(SetCurrentDirectoryA(before));
}

static void what_is_not_a_file(void)
{
    char file[400];
    tamis_error why;
    tamis *out;
    enter();
    check_fails(directory, NULL, EISDIR);
    CHECK_THAT(tamis_open(directory, NULL, &out, &why), ==, TAMIS_EIO);
    CHECK_THAT(why.os, ==, EISDIR);
    snprintf(file, sizeof file, "%s\\", directory);
    check_fails(file, NULL, EISDIR);
    snprintf(file, sizeof file, "%s\\none\\f.tamis", directory);
    check_fails(file, NULL, ENOENT);
    check_fails("", NULL, ENOENT);
    CHECK_THAT(tamis_open(file, NULL, &out, &why), ==, TAMIS_EIO);
    CHECK_THAT(why.os, ==, ENOENT);
    check_fails("NUL", NULL, EINVAL);
    CHECK_THAT(tamis_open("NUL", NULL, &out, &why), ==, TAMIS_EIO);
    snprintf(file, sizeof file, "%s:stream", path);
    check_fails(file, NULL, EINVAL);
    CHECK_THAT(files(), ==, 0);
}

/* --- Files in use ----------------------------------------------------------------------------- */

static void a_file_that_is_open_elsewhere(void)
{
    enter();
    tamis *first = make("first");
    CHECK_OK(tamis_save(first, path, NULL, NULL));
    HANDLE h = CreateFileA(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, 0, NULL);
    CHECK(h != INVALID_HANDLE_VALUE);
    tamis *second = make("second");
    tamis_error why;
    CHECK_THAT(tamis_save(second, path, NULL, &why), ==, TAMIS_EIO);
    CHECK((why.os == EACCES || why.os == EBUSY) && strstr(why.text, "open elsewhere") != NULL);
    check_has(path, "first");
    CHECK_THAT(files(), ==, 1);
    CloseHandle(h);
    CHECK_OK(tamis_save(second, path, NULL, &why));
    check_has(path, "second");

    tamis *mapped = open_with(path, TAMIS_MAP);
    CHECK(tamis_may_contain(mapped, "second", 6));
    CHECK_THAT(tamis_save(first, path, NULL, &why), ==,
               TAMIS_EBUSY); /* it is not first's any more */
    CHECK_THAT(tamis_save(second, path, NULL, &why), ==, TAMIS_EIO);
    CHECK(strstr(why.text, "open elsewhere") != NULL);
    CHECK(tamis_may_contain(mapped, "second", 6));
    tamis_close(mapped);
    CHECK_OK(tamis_save(second, path, NULL, &why));
    CHECK_THAT(files(), ==, 1);
    tamis_close(first);
    tamis_close(second);
}

/* A reader does not keep the file open. */
static void a_file_that_was_read(void)
{
    enter();
    tamis *t = make("a");
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    tamis *reader = open_with(path, 0);
    CHECK_OK(tamis_add(t, "b", 1, NULL));
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK(!tamis_may_contain(reader, "b", 1));
    CHECK_OK(tamis_add(reader, "c", 1, NULL));
    CHECK_THAT(tamis_save(reader, path, NULL, NULL), ==, TAMIS_EBUSY);
    CHECK(remove(path) == 0);
    CHECK_OK(tamis_save(reader, path, NULL, NULL)); /* a file that was removed is created again */
    check_has(path, "c");
    tamis_close(reader);
    tamis_close(t);
}

/* --- Locks ------------------------------------------------------------------------------------ */

static bool is_locked(void)
{
    char lock[320];
    snprintf(lock, sizeof lock, "%s.tamis-lock", path);
    return GetFileAttributesA(lock) != INVALID_FILE_ATTRIBUTES;
}

static void an_update_locks_the_name(void)
{
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_UPDATE};
    tamis_error why;
    char lock[320];
    enter();
    tamis *t = make("a"), *other;
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK(!is_locked());
    tamis *holder = open_with(path, TAMIS_UPDATE);
    CHECK(is_locked());
    for (int round = 0; round < 3; round++) { /* the lock stays through saves */
        CHECK_THAT(tamis_open(path, &o, &other, &why), ==, TAMIS_EBUSY);
        CHECK(other == NULL && why.status == TAMIS_EBUSY && why.text[0] != '\0');
        CHECK_THAT(tamis_save(t, path, NULL, &why), ==, TAMIS_EBUSY);
        CHECK_THAT(tamis_write_file(path, "x", 1, NULL, &why), ==, TAMIS_EBUSY);
        CHECK_OK(tamis_add(holder, &round, sizeof round, NULL));
        CHECK_OK(tamis_save(holder, path, NULL, &why));
        CHECK(is_locked());
    }
    tamis_close(holder);
    CHECK(!is_locked());
    CHECK_THAT(files(), ==, 1);
    /* What a power failure would leave is not a lock. */
    snprintf(lock, sizeof lock, "%s.tamis-lock", path);
    FILE *left = fopen(lock, "wb");
    CHECK(left != NULL && fclose(left) == 0);
    tamis_close(open_with(path, TAMIS_UPDATE));
    CHECK(!is_locked());
    CHECK_THAT(tamis_open("none.tamis", &o, &other, &why), ==, TAMIS_EIO);
    CHECK_THAT(why.os, ==, ENOENT);
    tamis_close(t);
}

static void *adds_ten(void *unused)
{
    (void)unused;
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_UPDATE | TAMIS_WAIT};
    for (int i = 0; i < 10; i++) {
        tamis *t;
        if (tamis_open(path, &o, &t, NULL) != TAMIS_OK) return "open";
        uint64_t n = tamis_info(t, &(tamis_facts){.struct_size = sizeof(tamis_facts)}) == TAMIS_OK;
        tamis_facts facts = {.struct_size = sizeof facts};
        if (n != 1 || tamis_info(t, &facts) != TAMIS_OK) return "info";
        if (tamis_add(t, &facts.items, sizeof facts.items, NULL) != TAMIS_OK) return "add";
        if (tamis_save(t, path, NULL, NULL) != TAMIS_OK) return "save";
        tamis_close(t);
    }
    return NULL;
}

/* No update is lost, though all wait for the same lock. */
static void updates_in_turn(void)
{
    enum { THREADS = 4 };
    pthread_t threads[THREADS];
    enter();
    tamis *t = make("a");
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    tamis_close(t);
    for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, adds_ten, NULL) == 0);
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        CHECK(pthread_join(threads[i], &failed) == 0);
        CHECK(failed == NULL);
    }
    t = open_with(path, 0);
    tamis_facts facts = {.struct_size = sizeof facts};
    CHECK_OK(tamis_info(t, &facts));
    CHECK_THAT(facts.items, ==, 1 + 10 * THREADS);
    for (uint64_t i = 1; i <= 10 * THREADS; i++) CHECK(tamis_may_contain(t, &i, sizeof i));
    tamis_close(t);
    CHECK_THAT(files(), ==, 1);
}

/* --- The rest --------------------------------------------------------------------------------- */

static void files_have_no_mode(void)
{
    const tamis_save_options o = {.struct_size = sizeof o, .mode = 0600};
    tamis_error why;
    enter();
    CHECK_THAT(tamis_write_file(path, "x", 1, &o, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(why.status == TAMIS_EUNSUPPORTED && strstr(why.text, "mode") != NULL);
    CHECK_THAT(files(), ==, 0);
}

static void bytes_are_kept(void)
{
    static const char text[] = "a\r\nb\n\x1a\nc"; /* a text file would change or end */
    char found[sizeof text + 1];
    enter();
    CHECK_OK(tamis_write_file(path, text, sizeof text, NULL, NULL));
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL && fread(found, 1, sizeof found, f) == sizeof text && fclose(f) == 0);
    CHECK(memcmp(found, text, sizeof text) == 0);
}

/* A spilled ribbon has the same bytes, and its file vanishes. */
static void spilled_to_a_file(void)
{
    enum { N = 120000 };
    enter();
    tamis_options o = spilling(1, 1);
    o.temp_dir = directory;
    tamis *t = new_ribbon(&o), *in_memory = new_ribbon(NULL);
    fill(t, UNIFORM, 0, N);
    CHECK_THAT(files(), ==, 1);
    fill(in_memory, UNIFORM, 0, N);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_OK(tamis_seal(in_memory, NULL));
    CHECK(same_image(t, in_memory));
    tamis_close(t);
    tamis_close(in_memory);
    CHECK_THAT(files(), ==, 0);
}

static void temporary_files_are_long(void)
{
    const uint64_t at = UINT64_C(5) << 30;
    uint64_t found = 0;
    tamis_error why;
    int fd;
    enter();
    CHECK_OK(tamis__temporary_open(directory, &fd, &why));
    CHECK_OK(tamis__temporary_write(fd, at, &at, sizeof at, &why));
    CHECK_OK(tamis__temporary_write(fd, (uint32_t)at, &found, sizeof found, &why));
    CHECK_OK(tamis__temporary_read(fd, at, &found, sizeof found, &why));
    CHECK(found == at);
    CHECK_THAT(tamis__temporary_read(fd, at + 1, &found, sizeof found, &why), ==, TAMIS_ECORRUPT);
    tamis__temporary_empty(fd);
    CHECK_THAT(tamis__temporary_read(fd, 0, &found, 1, &why), ==, TAMIS_ECORRUPT);
    tamis__temporary_close(fd);
    CHECK_THAT(files(), ==, 0);
    char none[320];
    snprintf(none, sizeof none, "%s\\none", directory);
    CHECK_THAT(tamis__temporary_open(none, &fd, &why), ==, TAMIS_EIO);
    CHECK(fd == -1 && why.os == ENOENT);
}

static void random_bytes(void)
{
    uint64_t a[4] = {0}, b[4] = {0};
    CHECK(tamis__system_random.fill(NULL, a, sizeof a) == 0);
    CHECK(tamis__system_random.fill(NULL, b, sizeof b) == 0);
    for (int i = 0; i < 4; i++) CHECK(a[i] != 0 && a[i] != b[i]);
}

static const struct test tests[] = {
    {"paths_are_utf8", paths_are_utf8},
    {"other_paths_are_refused", other_paths_are_refused},
    {"spellings_of_a_path", spellings_of_a_path},
    {"what_is_not_a_file", what_is_not_a_file},
    {"a_file_that_is_open_elsewhere", a_file_that_is_open_elsewhere},
    {"a_file_that_was_read", a_file_that_was_read},
    {"an_update_locks_the_name", an_update_locks_the_name},
    {"updates_in_turn", updates_in_turn},
    {"files_have_no_mode", files_have_no_mode},
    {"bytes_are_kept", bytes_are_kept},
    {"spilled_to_a_file", spilled_to_a_file},
    {"temporary_files_are_long", temporary_files_are_long},
    {"random_bytes", random_bytes},
};
TEST_MAIN(tests)
