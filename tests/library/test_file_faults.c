/* Every call on files fails, in turn, in every way of opening, saving and spilling: once or for
 * ever, with an error, an interruption or a short transfer. In each case the path holds the old
 * file or the whole new one, success means the new one, an error has the system's reason, no
 * descriptor stays open and no file is left behind. The same holds on file systems that lack
 * unnamed files, locks, hard links or renames that replace nothing. Then follow cases that take
 * more than one fault: races, names that are too long, memory that runs out.
 * tests/fault/test_faults.py adds sudden death. */
#include "../support/deeds.h"
#include "../support/tracking.h"

/* File systems, each with what it lacks. */
static const struct lack worlds[] = {
    {0},
    {.tmpfile = EOPNOTSUPP},
    {.locks = ENOSYS},
    {.links = EPERM},
    {.links = EOPNOTSUPP, .rename2 = EINVAL},
    {.tmpfile = EOPNOTSUPP, .links = EPERM, .rename2 = ENOSYS, .locks = EOPNOTSUPP},
    {.tmpfile = EISDIR, .links = ENOSYS, .locks = ENOLCK},
};
#define WORLDS (sizeof worlds / sizeof *worlds)

static bool needs_lock(const struct deed *deed)
{
    return deed->run == locks || deed->run == updates;
}

/* --- The sweep -------------------------------------------------------------------------------- */

/* Interruptions that a program is promised not to notice. */
static bool bearable(const struct strike *s)
{
    if (s->error == 0) return true;
    return s->error == EINTR && (s->call == PREAD || s->call == WRITE || s->call == PWRITE ||
                                 s->call == FLOCK || s->call == FTRUNCATE);
}

/* Whether nobody can tell any more whose the file under a name is. The empty one that holds a name
 * is then left there. */
static bool loses_sight(const struct strike *s)
{
    return s->times == UINT_MAX && (s->call == STAT || s->call == FSTAT);
}

/* Returns whether the call came as often as it takes to be struck. */
static bool one_strike(const struct deed *deed, const struct strike *s)
{
    if (deed->before == 1) old_file();
    strike = *s;
    memset(&why, 0, sizeof why);
    const tamis_status status = deed->run();
    const unsigned hits = strike.struck;
    well();
    if (hits == 0) CHECK_OK(status);
    if (bearable(s)) CHECK_OK(status);
    if (status != TAMIS_OK) {
        CHECK_THAT(status, ==, TAMIS_EIO);
        CHECK_THAT(why.os, ==, s->error);
        CHECK(why.status == TAMIS_EIO && why.text[0] != '\0');
    }
    const tamis_error kept = why;
    const int now = content();
    /* Only the directory may be unsynced when the new file is there already. */
    if (status == TAMIS_OK || (now != deed->before && strstr(kept.text, "saved, but") != NULL))
        CHECK_THAT(now, ==, deed->after);
    else if (now != 4 || !loses_sight(s) || lack.rename2 == 0)
        CHECK_THAT(now, ==, deed->before);
    CHECK_THAT(empty(), <=, s->call == UNLINKAT ? hits : 0);
    return hits > 0;
}

static void sweep(const int *errors, size_t n, unsigned times)
{
    unsigned strikes[CALLS] = {0};
    enter();
    const unsigned descriptors = open_descriptors();
    for (size_t i = 0; i < WORLDS * n * CALLS; i++) {
        struct strike s = {
            .call = (enum call)(i / WORLDS / n), .times = times, .error = errors[i / WORLDS % n]};
        const size_t world = i % WORLDS;
        if (world > 1 && s.error != EIO) continue; /* the other errors take the same branches */
        lack = worlds[world];
        if (s.error == 0 && s.call != PREAD && s.call != WRITE && s.call != PWRITE) continue;
        if (s.error == EINTR && times > 1) s.times = 3; /* nobody can outwait more */
        for (size_t d = 0; d < sizeof deeds / sizeof *deeds; d++) {
            if (lack.locks != 0 && needs_lock(&deeds[d])) continue;
            for (s.at = 1; one_strike(&deeds[d], &s); s.at++) {
                CHECK_THAT(s.at, <, 100);
                strikes[s.call]++;
            }
            CHECK_THAT(open_descriptors(), ==, descriptors);
        }
    }
    lack = worlds[0];
    for (unsigned c = 0; c < CALLS; c++)
        if (c != FCNTL) CHECK_THAT(strikes[c], >, 0); /* which is below */
    leave();
}

static void one_fault(void)
{
    const int errors[] = {EIO, EEXIST, EINTR, 0};
    sweep(errors, sizeof errors / sizeof *errors, 1);
}

static void for_ever(void)
{
    const int errors[] = {EIO, EEXIST, EINTR};
    sweep(errors, sizeof errors / sizeof *errors, UINT_MAX);
}

/* --- What takes more than one fault ----------------------------------------------------------- */

/* A descriptor of a standard stream is never taken, and when it cannot be moved the call fails. */
static void not_a_standard_stream(void)
{
    enter();
    old_file();
    const int kept = dup(STDIN_FILENO);
    const unsigned descriptors = open_descriptors();
    CHECK(kept >= 0);
    close(STDIN_FILENO);
    tamis *t = NULL;
    const tamis_status opened = open_with(TAMIS_UPDATE, NULL, &t);
    const bool taken = fcntl(STDIN_FILENO, F_GETFD) >= 0;
    const tamis_status spilled = spills();
    tamis_close(t);
    strike = (struct strike){.call = FCNTL, .at = 1, .times = UINT_MAX, .error = EMFILE};
    const tamis_status unmoved = open_with(0, NULL, &t);
    const int os = why.os;
    CHECK(dup2(kept, STDIN_FILENO) == STDIN_FILENO);
    CHECK(opened == TAMIS_OK && spilled == TAMIS_OK && !taken);
    CHECK(unmoved == TAMIS_EIO && os == EMFILE && t == NULL);
    CHECK_THAT(open_descriptors(), ==, descriptors);
    close(kept);
    leave();
}

/* Whoever gets the lock of a file that has lost its name meanwhile takes the one that has it
 * now. */
static void names_move_while_we_wait(void)
{
    tamis *t;
    enter();
    old_file();
    strike = (struct strike){.call = FLOCK, .at = 1, .times = 1, .meanwhile = replace_it};
    CHECK_OK(open_with(TAMIS_UPDATE, NULL, &t));
    CHECK(strike.struck == 1 && tamis_may_contain(t, "new", 3));
    tamis_close(t);
    strike = (struct strike){.call = FLOCK, .at = 1, .times = 1, .meanwhile = remove_it};
    CHECK_THAT(open_with(TAMIS_UPDATE, NULL, &t), ==, TAMIS_EIO);
    CHECK(why.os == ENOENT && t == NULL);
    leave();
}

/* What somebody else has put under the name, or done to the file, is not overwritten. */
static void changed_by_another(void)
{
    const unsigned descriptors = open_descriptors();
    for (unsigned how = 0; how < 4; how++) {
        tamis *t;
        enter();
        old_file();
        CHECK_OK(open_with(how % 2 == 0 ? 0 : TAMIS_UPDATE, NULL, &t));
        CHECK_OK(tamis_add(t, "mine", 4, NULL));
        if (how < 2) {
            replace_it(); /* without asking for the lock */
        } else {
            const int fd = open(path, O_WRONLY);
            CHECK(fd >= 0);
            CHECK(how == 2 ? ftruncate(fd, 50) == 0 : pwrite(fd, "x", 1, 0) == 1);
            close(fd);
        }
        CHECK_THAT(tamis_save(t, path, NULL, how == 0 ? NULL : &why), ==, TAMIS_EBUSY);
        CHECK(how > 1 || content() == 2);
        tamis_close(t);
        leave();
    }
    CHECK_THAT(open_descriptors(), ==, descriptors);
}

/* A copy by another name belongs to nobody; its origin is still what the handle stands for. */
static void saved_elsewhere(void)
{
    char other[320];
    tamis *t, *u;
    enter();
    old_file();
    snprintf(other, sizeof other, "%s/g.tamis", directory);
    CHECK_OK(open_with(TAMIS_UPDATE, NULL, &t));
    CHECK_OK(tamis_add(t, "new", 3, NULL));
    CHECK_OK(tamis_save(t, other, NULL, NULL));
    /* Over a file that is not its origin. */
    CHECK_OK(tamis_save(t, other, SAVING(TAMIS_SAVE_PACKED), NULL));
    CHECK_THAT(open_with(TAMIS_UPDATE, NULL, &u), ==,
               TAMIS_EBUSY); /* the lock stays where it was */
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    CHECK_THAT(content(), ==, 2);
    tamis_close(t);
    /* A lock that cannot be examined counts as absent. */
    CHECK_OK(open_with(TAMIS_UPDATE, NULL, &t));
    strike = (struct strike){.call = FSTAT, .at = 1, .times = 1, .error = EIO};
    CHECK_THAT(tamis_save(t, other, NULL, NULL), ==, TAMIS_EIO);
    tamis_close(t);
    leave();
}

static void refuse(tamis *t, const char *name, int os)
{
    CHECK_THAT(tamis_save(t, name, NULL, &why), ==, TAMIS_EIO);
    CHECK_THAT(why.os, ==, os);
    CHECK_THAT(tamis_save(t, name, NULL, NULL), ==, TAMIS_EIO);
}

/* Names that no file can have, or that are taken by something else. */
static void strange_names(void)
{
    char here[PATH_MAX], *long_name = calloc(1, 2 * PATH_MAX);
    tamis *t = make(NULL), *u;
    enter();
    CHECK(long_name != NULL && getcwd(here, sizeof here) != NULL);
    refuse(t, "", EISDIR);
    refuse(t, directory, EISDIR);
    CHECK_THAT(tamis_open(directory, NULL, &u, NULL), ==, TAMIS_EIO);
    memset(long_name, 'a', 2 * PATH_MAX - 1);
    refuse(t, long_name, ENAMETOOLONG);
    memcpy(long_name, "/no-such-directory/", 19);
    long_name[2 * PATH_MAX - 3] = '/';
    refuse(t, long_name, ENAMETOOLONG);
    CHECK(symlink("nowhere", path) == 0);
    refuse(t, path, ENOENT);
    CHECK(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), &why) == TAMIS_EIO && why.os == EEXIST);
    CHECK(remove(path) == 0);
    CHECK(mkfifo(path, 0600) == 0);
    refuse(t, path, EINVAL);
    CHECK(open_with(0, NULL, &u) == TAMIS_EIO && why.os == EINVAL);
    CHECK(remove(path) == 0);
    /* In the root, which is not ours to write to. */
    strike = (struct strike){.call = OPENAT, .at = 1, .times = UINT_MAX, .error = EROFS};
    refuse(t, "/tamis-root.tamis", EROFS);
    well();
    CHECK(chdir(directory) == 0);
    const tamis_status relative = tamis_save(t, "f.tamis", NULL, &why);
    CHECK(chdir(here) == 0);
    CHECK_OK(relative);
    CHECK_THAT(content(), ==, 1);
    CHECK(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), NULL) == TAMIS_EIO);
    CHECK(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW | TAMIS_SAVE_PACKED), NULL) == TAMIS_EIO);
    tamis_close(t);
    free(long_name);
    leave();
}

/* A short name in a directory whose own name leaves no room for it. */
static void deep_directory(void)
{
    enum { PART = 250, DEPTH = 16 };
    char part[PART + 1], here[PATH_MAX];
    tamis *t = make(NULL);
    enter();
    memset(part, 'd', PART);
    part[PART] = '\0';
    CHECK(getcwd(here, sizeof here) != NULL && chdir(directory) == 0);
    unsigned depth = 0;
    while (depth < DEPTH && mkdir(part, 0700) == 0 && chdir(part) == 0) depth++;
    memset(part, 'n', PART);
    const tamis_status plain = tamis_save(t, part, NULL, &why);
    const int os = why.os;
    /* Where realpath does not look so far. */
    strike = (struct strike){.call = REALPATH, .at = 1, .times = 1, .error = ENOENT};
    const tamis_status blind = tamis_save(t, part, NULL, &why);
    memset(part, 'd', PART);
    for (unsigned i = 0; i < depth; i++)
        if (chdir("..") != 0 || rmdir(part) != 0) break;
    CHECK(chdir(here) == 0);
    CHECK_THAT(depth, ==, DEPTH);
    CHECK(plain == TAMIS_EIO && os == ENAMETOOLONG);
    CHECK(blind == TAMIS_EIO && why.os == ENAMETOOLONG);
    tamis_close(t);
    leave();
}

/* Every allocation of opening and saving fails, in turn. */
static void memory_runs_out(void)
{
    struct tracker a;
    enter();
    for (unsigned what = 0; what < 4; what++) {
        bool failed = true;
        for (size_t n = 1; failed; n++) {
            tamis *t = NULL;
            tamis_status s = TAMIS_OK;
            old_file();
            tracker_init(&a);
            if (what > 1) t = make(&a.memory);
            a.fail_at = a.calls + n;
            if (what < 2) s = open_with(what == 0 ? 0 : TAMIS_MAP, &a.memory, &t);
            if (what == 2) s = tamis_save(t, path, NULL, &why);
            if (what == 3) s = tamis_save(t, path, SAVING(TAMIS_SAVE_PACKED), &why);
            failed = a.failed;
            CHECK(s == TAMIS_OK || (s == TAMIS_ENOMEM && failed && why.text[0] != '\0'));
            tamis_close(t);
            CHECK_THAT(a.blocks, ==, 0);
            CHECK_THAT(empty(), ==, 0);
        }
    }
    leave();
}

/* Nobody may own the file but its owner: not an error; another reason is one. */
static void owners(void)
{
    enter();
    old_file();
    strike = (struct strike){.call = FCHOWN, .at = 1, .times = 1, .error = EPERM};
    CHECK_OK(updates());
    CHECK_THAT(strike.struck, ==, 1);
    leave();
}

/* Files that no handle stands for. */
static void other_content(void)
{
    char got[8] = "";
    struct stat st;
    const mode_t mask = umask(022);
    enter();
    CHECK_OK(tamis_write_file(path, "first", 5, SAVING(TAMIS_SAVE_NEW), NULL));
    CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0644);
    CHECK_THAT(tamis_write_file(path, "second", 6, SAVING(TAMIS_SAVE_NEW), &why), ==, TAMIS_EIO);
    CHECK_THAT(why.os, ==, EEXIST);
    CHECK_OK(tamis_write_file(path, "third", 5, NULL, &why));
    const int fd = open(path, O_RDONLY);
    CHECK(fd >= 0 && read(fd, got, sizeof got) == 5 && strcmp(got, "third") == 0);
    close(fd);
    CHECK_OK(tamis_write_file(path, NULL, 0, NULL, &why));
    CHECK(stat(path, &st) == 0 && st.st_size == 0);
    CHECK_THAT(tamis_write_file(path, "x", 1, SAVING(TAMIS_SAVE_PACKED), &why), ==, TAMIS_EINVAL);
    CHECK_THAT(tamis_write_file(NULL, "x", 1, NULL, &why), ==, TAMIS_EINVAL);
    umask(mask);
    leave();
}

/* A new file is taken back when the directory cannot be synced, unless it is not ours any more. */
static void new_files_without_sync(void)
{
    for (unsigned how = 0; how < 2; how++) {
        enter();
        tamis *t = make(NULL);
        strike = (struct strike){.call = FSYNC, .at = 2, .times = 1, .error = EIO};
        if (how == 1) strike.meanwhile = replace_it;
        CHECK_THAT(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), &why), ==, TAMIS_EIO);
        CHECK(strike.struck == 1 && why.os == EIO && why.text[0] != '\0');
        CHECK_THAT(content(), ==, how == 0 ? 0 : 2);
        if (how == 0) CHECK_OK(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), &why)); /* again */
        tamis_close(t);
        leave();
    }
}

/* The mode is that of a new file; one that is replaced keeps its own. */
static void modes(void)
{
    const tamis_save_options secret = {.struct_size = sizeof secret, .mode = 0600};
    struct stat st;
    const mode_t mask = umask(027);
    enter();
    for (unsigned unnamed = 0; unnamed < 2; unnamed++) {
        lack.tmpfile = unnamed != 0 ? 0 : EOPNOTSUPP;
        tamis *t = make(NULL);
        CHECK_OK(tamis_save(t, path, &secret, &why));
        CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0600);
        CHECK(chmod(path, 0604) == 0);
        CHECK_OK(tamis_save(t, path, &secret, &why));
        CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0604);
        CHECK_THAT(empty(), ==, 0);
        const tamis_save_options open_to_all = {.struct_size = sizeof open_to_all, .mode = 0777};
        CHECK_OK(tamis_save(t, path, &open_to_all, &why));
        CHECK(stat(path, &st) == 0 && (st.st_mode & 07777) == 0750);
        const tamis_save_options wrong = {.struct_size = sizeof wrong, .mode = 01000};
        CHECK_THAT(tamis_save(t, path, &wrong, &why), ==, TAMIS_EINVAL);
        CHECK(strstr(why.text, "01000") != NULL);
        tamis_close(t);
        CHECK_THAT(empty(), ==, 0);
    }
    lack.tmpfile = 0;
    umask(mask);
    leave();
}

/* What cannot be opened at all, with a reason and without one who asks for it. */
static void refusals(void)
{
    const uint32_t nonsense[] = {1u << 31, TAMIS_MAP | TAMIS_UPDATE, TAMIS_MAP | TAMIS_SHARED};
    tamis *t;
    enter();
    CHECK_THAT(tamis_open(path, NULL, &t, NULL), ==, TAMIS_EIO);
    CHECK(open_with(0, NULL, &t) == TAMIS_EIO && why.os == ENOENT && t == NULL);
    old_file();
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++)
        CHECK(open_with(nonsense[i], NULL, &t) == TAMIS_EINVAL && t == NULL);
    CHECK(truncate(path, 100) == 0);
    CHECK(open_with(TAMIS_MAP, NULL, &t) == TAMIS_ECORRUPT && t == NULL); /* too short to map */
    leave();
}

static const struct test tests[] = {
    {"one_fault", one_fault},
    {"for_ever", for_ever},
    {"not_a_standard_stream", not_a_standard_stream},
    {"names_move_while_we_wait", names_move_while_we_wait},
    {"changed_by_another", changed_by_another},
    {"saved_elsewhere", saved_elsewhere},
    {"strange_names", strange_names},
    {"deep_directory", deep_directory},
    {"memory_runs_out", memory_runs_out},
    {"owners", owners},
    {"other_content", other_content},
    {"modes", modes},
    {"new_files_without_sync", new_files_without_sync},
    {"refusals", refusals},
};
TEST_MAIN(tests)
