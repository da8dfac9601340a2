/* Who may use a handle when. The rules are those of tamis.h, "Threads". Waiting is rare, so it is
 * done by sleeping: then a signal ends it, and a forked process inherits no lock. */
#include "binding.h"

#ifdef _WIN32
#include <windows.h>
#else
#include <time.h>
#endif

/* Short compared with a piece of a bulk call, which takes milliseconds. */
#define PAUSE_US 200

static void pause_briefly(void)
{
#ifdef _WIN32
    Sleep(1);
#else
    const struct timespec pause = {.tv_nsec = PAUSE_US * 1000L};
    nanosleep(&pause, NULL);
#endif
}

static bool exclusive(const Handle *h, Access access)
{
    return access == CHANGES || (access == ADDS && !h->shared);
}

static bool may_start(const Handle *h, Access access)
{
    return !h->writer && (h->readers == 0 || !exclusive(h, access));
}

void raise_closed(Handle *h)
{
    PyObject *name = name_of_type((PyObject *)h);
    if (name != NULL) PyErr_Format(PyExc_ValueError, "this %U is closed", name);
    Py_XDECREF(name);
}

/* Lets others run for a while. False: a signal handler raised an exception. */
static bool let_others_run(Handle *h)
{
    h->waiting++;
    Py_BEGIN_ALLOW_THREADS
    pause_briefly();
    Py_END_ALLOW_THREADS
    h->waiting--;
    return PyErr_CheckSignals() == 0;
}

bool lock_wait(Handle *h, Access access)
{
    for (;;) {
        if (h->t == NULL) {
            raise_closed(h);
            return false;
        }
        if (may_start(h, access)) return true;
        if (!let_others_run(h)) return false;
    }
}

static void enter(Handle *h, Access access)
{
    if (exclusive(h, access))
        h->writer = true;
    else
        h->readers++;
}

bool lock_enter(Handle *h, Access access)
{
    if (!lock_wait(h, access)) return false;
    enter(h, access);
    return true;
}

void lock_leave(Handle *h, Access access)
{
    if (exclusive(h, access))
        h->writer = false;
    else
        h->readers--;
}

bool lock_enter_two(Handle *into, Handle *from)
{
    for (;;) {
        if (!lock_wait(into, CHANGES) || !lock_wait(from, READS)) return false;
        /* The second may have waited, and the first may be in use or closed since. */
        if (into->t != NULL && may_start(into, CHANGES)) break;
    }
    enter(into, CHANGES);
    enter(from, READS);
    return true;
}

void lock_yield(Handle *h)
{
    if (h->waiting == 0) return;
    Py_BEGIN_ALLOW_THREADS
    pause_briefly();
    pause_briefly();
    Py_END_ALLOW_THREADS
}

bool lock_busy(const Handle *h)
{
    return h->writer || h->readers != 0;
}
