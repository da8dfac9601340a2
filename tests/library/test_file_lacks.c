/* File systems that lack something: locks, hard links, unnamed files, renames that replace nothing.
 * Every save works all the same, atomic and without leaving anything behind; only an update, which
 * needs the lock, is refused. What another process does meanwhile is not lost. */
#include "../support/deeds.h"

static bool mentions(const char *word)
{
    return strstr(why.text, word) != NULL;
}

/* Whether no other file is there than the one of the path; that is left as it is. */
static bool is_alone(void)
{
    unsigned n = 0;
    DIR *d = opendir(directory);
    CHECK(d != NULL);
    while (readdir(d) != NULL) n++;
    closedir(d);
    return n == 3; /* with "." and ".." */
}

/* Without flock an update is refused, and every other save works. */
static void without_locks(void)
{
    const int errors[] = {ENOSYS, ENOLCK, EOPNOTSUPP};
    const unsigned descriptors = open_descriptors();
    enter();
    for (size_t i = 0; i < 2 * (sizeof errors / sizeof *errors); i++) {
        tamis *t;
        lack = (struct lack){.locks = errors[i / 2], .tmpfile = i % 2 != 0 ? EOPNOTSUPP : 0};
        old_file();
        for (unsigned wait = 0; wait < 2; wait++) {
            CHECK_THAT(open_with(TAMIS_UPDATE | (wait != 0 ? TAMIS_WAIT : 0), NULL, &t), ==,
                       TAMIS_EIO);
            CHECK(why.os == lack.locks && mentions("lock") && t == NULL && content() == 1);
        }
        CHECK_OK(replaces());
        CHECK_THAT(content(), ==, 2);
        CHECK_OK(packs());
        CHECK(content() == 3 && is_alone() && empty() == 0);
        CHECK_OK(makes_new());
        CHECK(content() == 2 && is_alone() && empty() == 0);
        CHECK_OK(packs_new());
        CHECK(content() == 3 && is_alone() && empty() == 0);
    }
    lack = (struct lack){0};
    CHECK_THAT(open_descriptors(), ==, descriptors);
    leave();
}

/* A handle that has the lock must not lose it by a save; a copy elsewhere needs none. */
static void locks_go_away(void)
{
    char other[320];
    tamis *t;
    enter();
    old_file();
    CHECK_OK(open_with(TAMIS_UPDATE, NULL, &t));
    CHECK_OK(tamis_add(t, "new", 3, NULL));
    lack.locks = ENOLCK;
    CHECK_THAT(tamis_save(t, path, NULL, &why), ==, TAMIS_EIO);
    CHECK(why.os == ENOLCK && mentions("lock") && content() == 1 && is_alone());
    snprintf(other, sizeof other, "%s/g.tamis", directory);
    CHECK_OK(tamis_save(t, other, NULL, &why));
    CHECK_OK(tamis_save(t, other, SAVING(TAMIS_SAVE_PACKED), &why));
    lack = (struct lack){0};
    CHECK_OK(tamis_save(t, path, NULL, &why));
    CHECK_THAT(content(), ==, 2);
    tamis_close(t);
    leave();
}

/* What another process has saved before the new file is written, or meanwhile, is not lost. */
static void changed_without_locks(void)
{
    for (unsigned how = 0; how < 3; how++) {
        tamis *t;
        enter();
        lack = (struct lack){.locks = ENOSYS};
        old_file();
        CHECK_OK(open_with(0, NULL, &t));
        CHECK_OK(tamis_add(t, "mine", 4, NULL));
        if (how == 0) replace_it();
        strike = (struct strike){.call = how == 1 ? WRITE : FSYNC, .times = 1};
        strike.meanwhile = replace_it;
        strike.at = how != 0;
        CHECK_THAT(tamis_save(t, path, NULL, &why), ==, TAMIS_EBUSY);
        CHECK(why.status == TAMIS_EBUSY && content() == 2 && is_alone());
        tamis_close(t);
        leave();
        lack = (struct lack){0};
    }
}

/* Every save works without hard links, whatever else is missing. */
static void without_links(void)
{
    const int links[] = {EPERM, EACCES, EOPNOTSUPP, ENOSYS}, renames[] = {0, ENOSYS, EINVAL};
    const unsigned descriptors = open_descriptors();
    enter();
    for (unsigned i = 0; i < 24; i++) {
        lack = (struct lack){.tmpfile = i % 2 != 0 ? EOPNOTSUPP : 0,
                             .links = links[i / 2 % 4],
                             .rename2 = renames[i / 8]};
        for (size_t d = 0; d < sizeof deeds / sizeof *deeds; d++) {
            if (deeds[d].before == 1) old_file();
            memset(&why, 0xff, sizeof why);
            CHECK_OK(deeds[d].run());
            CHECK(deeds[d].before == deeds[d].after || why.status == TAMIS_OK);
            CHECK_THAT(content(), ==, deeds[d].after);
            CHECK_THAT(empty(), ==, 0);
        }
        CHECK_OK(makes_new());
        CHECK_THAT(packs_new(), ==, TAMIS_EIO);
        CHECK(why.os == EEXIST && content() == 2 && is_alone() && empty() == 0);
    }
    lack = (struct lack){0};
    CHECK_THAT(open_descriptors(), ==, descriptors);
    leave();
}

static void appear(void)
{
    const struct strike kept = strike;
    const struct lack lacked = lack;
    well();
    lack = (struct lack){0};
    CHECK_OK(makes_new());
    lack = lacked;
    strike = kept;
}

static int another;

static void lock_it(void)
{
    another = open(path, O_RDWR | O_CLOEXEC);
    CHECK(another >= 0 && flock(another, LOCK_EX | LOCK_NB) == 0);
}

static void remove_and_lock(void)
{
    replace_it();
    lock_it();
}

/* A name that somebody else takes in time stays theirs, even the empty file that only holds it. The
 * calls are those of a file that has a temporary name: openat is struck at the empty file that
 * holds the name, flock at its lock. */
static void names_taken_without_links(void)
{
    const struct {
        enum call call;
        unsigned at;
        int rename2, locks;
        void (*meanwhile)(void);
        int content;
    } cases[] = {
        {LINKAT, 1, EINVAL, 0, appear, 2},        {RENAMEAT2, 1, 0, 0, appear, 2},
        {RENAMEAT2, 1, EINVAL, 0, appear, 2},     {OPENAT, 3, ENOSYS, 0, appear, 2},
        {FLOCK, 2, EINVAL, 0, replace_it, 2},     {FLOCK, 2, EINVAL, 0, remove_and_lock, 2},
        {FLOCK, 2, ENOSYS, 0, lock_it, 4},        {FLOCK, 2, EINVAL, ENOSYS, replace_it, 2},
        {FSTAT, 1, EINVAL, ENOSYS, replace_it, 2}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis *t = make(NULL);
        enter();
        another = -1;
        lack = (struct lack){.tmpfile = EOPNOTSUPP,
                             .links = EPERM,
                             .rename2 = cases[i].rename2,
                             .locks = cases[i].locks};
        strike = (struct strike){
            .call = cases[i].call, .at = cases[i].at, .times = 1, .meanwhile = cases[i].meanwhile};
        CHECK_THAT(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), &why), ==, TAMIS_EIO);
        CHECK(strike.struck == 1 && why.os == EEXIST && is_alone());
        lack = (struct lack){0};
        CHECK_THAT(content(), ==, cases[i].content);
        if (another >= 0) close(another);
        tamis_close(t);
        leave();
    }
}

/* The empty file that holds the name is removed after a failure, but not what somebody else has put
 * in its place. */
static void placeholders_after_failures(void)
{
    const struct {
        enum call call;
        unsigned at;
        int error;
        void (*meanwhile)(void);
        int os, content;
    } cases[] = {
        {RENAMEAT, 1, ENOSPC, NULL, ENOSPC, 0},
        {RENAMEAT, 1, ENOSPC, replace_it, ENOSPC, 2},
        {RENAMEAT, 1, EIO, remove_it, EIO, 0},
        {STAT, 1, EACCES, NULL, EACCES, 0},
        {STAT, 1, EACCES, replace_it, EACCES, 2},
        {STAT, 1, 0, remove_it, ENOENT, 0},
        {FSTAT, 1, EIO, NULL, EIO, 0},
        {FSTAT, 1, EIO, replace_it, EIO, 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        tamis *t = make(NULL);
        enter();
        lack = (struct lack){.tmpfile = EOPNOTSUPP, .links = EPERM, .rename2 = ENOSYS};
        strike = (struct strike){.call = cases[i].call,
                                 .at = cases[i].at,
                                 .times = 1,
                                 .error = cases[i].error,
                                 .meanwhile = cases[i].meanwhile};
        CHECK_THAT(tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), &why), ==, TAMIS_EIO);
        CHECK(strike.struck == 1 && why.os == cases[i].os);
        lack = (struct lack){0};
        well();
        CHECK_THAT(content(), ==, cases[i].content);
        CHECK_THAT(empty(), ==, 0);
        tamis_close(t);
        leave();
    }
}

/* A file that is removed while it is saved to is as one that was removed before. */
static void removed_meanwhile(void)
{
    const struct {
        enum call call;
        unsigned at;
        uint32_t flags;
    } cases[] = {{STAT, 1, 0},
                 {OPEN, 1, 0},
                 {FLOCK, 1, 0},
                 {WRITE, 1, 0},
                 {FSYNC, 1, 0},
                 {STAT, 1, TAMIS_UPDATE},
                 {WRITE, 1, TAMIS_UPDATE}};
    for (size_t i = 0; i < 2 * (sizeof cases / sizeof *cases); i++) {
        const bool lockless = i % 2 != 0;
        tamis *t;
        if (lockless && cases[i / 2].flags != 0) continue; /* cannot be opened */
        enter();
        old_file();
        lack.locks = lockless ? ENOSYS : 0;
        CHECK_OK(open_with(cases[i / 2].flags, NULL, &t));
        CHECK_OK(tamis_add(t, "new", 3, NULL));
        memset(&why, 0xff, sizeof why);
        strike = (struct strike){
            .call = cases[i / 2].call, .at = cases[i / 2].at, .times = 1, .meanwhile = remove_it};
        CHECK_OK(tamis_save(t, path, NULL, &why));
        CHECK(strike.struck == 1 && why.status == TAMIS_OK);
        CHECK(content() == 2 && is_alone());
        tamis_close(t);
        leave();
    }
}

/* Links that are refused only to unnamed files, and errors that are not refusals. */
static void refused_once(void)
{
    const int errors[] = {EPERM, EACCES, EOPNOTSUPP, ENOSYS, EINVAL, ENOSPC, EXDEV};
    enter();
    for (size_t i = 0; i < sizeof errors / sizeof *errors; i++) {
        const struct strike once = {.call = LINKAT, .at = 1, .times = 1, .error = errors[i]};
        const bool refusal = i < 5;
        strike = once;
        CHECK_THAT(makes_new(), ==, refusal ? TAMIS_OK : TAMIS_EIO);
        CHECK(strike.struck == 1 && (refusal || why.os == errors[i]));
        CHECK(content() == (refusal ? 2 : 0) && empty() == 0);
        old_file();
        strike = once;
        CHECK_THAT(replaces(), ==, refusal ? TAMIS_OK : TAMIS_EIO);
        CHECK(strike.struck == 1 && (refusal || why.os == errors[i]));
        CHECK(content() == (refusal ? 2 : 1) && empty() == 0);
    }
    leave();
}

/* A descriptor that cannot be moved away from the standard streams: the file that has a temporary
 * name already is removed. */
static void descriptors_run_out(void)
{
    enter();
    lack.tmpfile = EOPNOTSUPP;
    tamis *t = make(NULL);
    const int in = dup(STDIN_FILENO), out = dup(STDOUT_FILENO);
    CHECK(in >= 0 && out >= 0);
    close(STDIN_FILENO); /* which the directory takes */
    close(STDOUT_FILENO);
    strike = (struct strike){.call = FCNTL, .at = 1, .times = UINT_MAX, .error = EMFILE};
    const tamis_status saved = tamis_save(t, path, SAVING(TAMIS_SAVE_NEW), &why);
    const int os = why.os;
    const tamis_status spilled = spills();
    CHECK(dup2(in, STDIN_FILENO) == STDIN_FILENO && dup2(out, STDOUT_FILENO) == STDOUT_FILENO);
    close(in);
    close(out);
    CHECK(saved == TAMIS_EIO && os == EMFILE && spilled == TAMIS_EIO && why.os == EMFILE);
    CHECK(content() == 0 && empty() == 0);
    lack.tmpfile = 0;
    tamis_close(t);
    leave();
}

static const struct test tests[] = {
    {"without_locks", without_locks},
    {"locks_go_away", locks_go_away},
    {"changed_without_locks", changed_without_locks},
    {"without_links", without_links},
    {"names_taken_without_links", names_taken_without_links},
    {"placeholders_after_failures", placeholders_after_failures},
    {"removed_meanwhile", removed_meanwhile},
    {"refused_once", refused_once},
    {"descriptors_run_out", descriptors_run_out},
};
TEST_MAIN(tests)
