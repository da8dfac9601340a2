/* A temporary directory for a test. It is removed with everything in it when the test makes another
 * one, when the program exits, also after a failed check, and when it is interrupted. */
#ifndef TAMIS_TEST_ROOM_H
#define TAMIS_TEST_ROOM_H

#include "check.h"

#include <dirent.h>
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>
#ifndef _WIN32
#include <sys/wait.h>
#endif

static char room__now[256]; /* "" when there is none */
static pid_t room__owner;   /* children inherit the handlers, but not the directory */

static inline void remove_tree(const char *path)
{
    DIR *d = opendir(path);
    for (const struct dirent *e; d != NULL && (e = readdir(d)) != NULL;) {
        char inner[600];
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0) continue;
        const int n = snprintf(inner, sizeof inner, "%s/%s", path, e->d_name);
        if (n < (int)sizeof inner && unlink(inner) != 0) remove_tree(inner);
    }
    if (d != NULL) closedir(d);
    rmdir(path);
}

static inline void leave_room(void)
{
    if (room__now[0] != '\0' && getpid() == room__owner) remove_tree(room__now);
    room__now[0] = '\0';
}

#ifndef _WIN32 /* where an interruption leaves the directory behind */
/* Only calls that a signal handler may make: rm does the work. */
static inline void room__interrupted(int number)
{
    signal(number, SIG_DFL);
    if (room__now[0] != '\0' && getpid() == room__owner) {
        const pid_t child = fork();
        if (child == 0) {
            execl("/bin/rm", "rm", "-rf", room__now, (char *)NULL);
            _exit(127);
        }
        if (child > 0) waitpid(child, NULL, 0);
    }
    raise(number);
}
#endif

/* Makes tamis-NAME-XXXXXX in a folder, or in TMPDIR if that is NULL, and writes its path to
 * `path`. */
static inline void enter_room(const char *folder, const char *name, char *path, size_t size)
{
    static bool prepared;
    leave_room();
    if (folder == NULL) folder = getenv("TMPDIR");
    if (folder == NULL) folder = "/tmp";
    snprintf(room__now, sizeof room__now, "%s/tamis-%s-XXXXXX", folder, name);
    room__owner = getpid();
    if (mkdtemp(room__now) == NULL) room__now[0] = '\0';
    CHECK(room__now[0] != '\0' && strlen(room__now) < size);
    memcpy(path, room__now, strlen(room__now) + 1);
    if (!prepared) {
        atexit(leave_room);
#ifndef _WIN32
        signal(SIGTERM, room__interrupted);
        signal(SIGINT, room__interrupted);
        signal(SIGHUP, room__interrupted);
#endif
        prepared = true;
    }
}

#endif
