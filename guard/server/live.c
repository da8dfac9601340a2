#include "live.h"

#include "../version/manifest.h"

#include <stdlib.h>
#include <string.h>

/* Milliseconds until a failed reload is repeated, because a directory that is being copied may be
 * complete by then. */
#define RETRY 10000

static struct guard_published *publish(struct guard_live *l, guard *g)
{
    struct guard_published *p = malloc(sizeof *p);
    if (p == NULL) return NULL;
    *p = (struct guard_published){.g = g, .of = l};
    atomic_init(&p->users, 1); /* the reference that being current gives */
    return p;
}

struct guard_published *guard_live_take(struct guard_live *l)
{
    pthread_mutex_lock(&l->lock);
    struct guard_published *p = l->current;
    p->users++;
    pthread_mutex_unlock(&l->lock);
    return p;
}

void guard_live_release(struct guard_published *p)
{
    if (p == NULL || --p->users != 0) return;
    pthread_mutex_lock(&p->of->lock);
    p->next = p->of->unused;
    p->of->unused = p;
    pthread_mutex_unlock(&p->of->lock);
}

static void close_unused(struct guard_live *l)
{
    pthread_mutex_lock(&l->lock);
    struct guard_published *p = l->unused, *next;
    l->unused = NULL;
    pthread_mutex_unlock(&l->lock);
    for (; p != NULL; p = next) {
        next = p->next;
        guard_close(p->g);
        free(p);
    }
}

/* Looks at the manifest again and reports whether it differs from the one seen last. */
static bool has_changed(struct guard_live *l)
{
    struct stat now;
    char *path = guard_path(l->directory, "manifest");
    if (path == NULL || stat(path, &now) != 0) memset(&now, 0, sizeof now);
    free(path);
    const bool same = now.st_ino == l->seen.st_ino && now.st_dev == l->seen.st_dev &&
                      now.st_size == l->seen.st_size &&
                      now.st_mtim.tv_sec == l->seen.st_mtim.tv_sec &&
                      now.st_mtim.tv_nsec == l->seen.st_mtim.tv_nsec;
    l->seen = now;
    return !same;
}

/* Opens the version in the directory and makes it the current one. */
static bool take_up(struct guard_live *l, guard_error *why)
{
    guard *g = guard_open_trusted(l->directory, l->trust, why);
    if (g == NULL) return false;
    if (l->current != NULL &&
        strcmp(guard_manifest_text(g), guard_manifest_text(l->current->g)) == 0) {
        guard_close(g); /* touched, not changed, unlike the same version with another expiry */
        return true;
    }
    struct guard_published *fresh = publish(l, g), *old;
    if (fresh == NULL) {
        guard_close(g);
        return guard_fail(why, "not enough memory");
    }
    pthread_mutex_lock(&l->lock);
    old = l->current;
    l->current = fresh;
    pthread_mutex_unlock(&l->lock);
    if (old != NULL) l->reloads++;
    l->expired = false;
    guard_live_release(old);
    close_unused(l);
    return true;
}

bool guard_live_start(struct guard_live *l, const char *directory, guard_trust *trust,
                      guard_error *why)
{
    memset(l, 0, sizeof *l);
    l->directory = directory;
    l->trust = trust;
    pthread_mutex_init(&l->lock, NULL);
    /* Recorded before opening, so that a version published meanwhile counts as new. */
    has_changed(l);
    return take_up(l, why);
}

void guard_live_end(struct guard_live *l)
{
    guard_live_release(l->current);
    close_unused(l);
    pthread_mutex_destroy(&l->lock);
}

static void look_at_expiry(struct guard_live *l)
{
    if (l->trust == NULL || l->expired || !guard_has_expired(l->current->g, time(NULL))) return;
    l->expired = true;
    fprintf(stderr, "tamis: version %llu has expired and is still served; publish a new one\n",
            (unsigned long long)guard_about(l->current->g)->version);
}

void guard_live_look(struct guard_live *l, int64_t now, bool anyway)
{
    guard_error why;
    const bool changed = has_changed(l);
    look_at_expiry(l);
    close_unused(l);
    if (!changed && !anyway && (l->again == 0 || now < l->again)) return;
    if (take_up(l, &why)) {
        l->again = 0;
        l->said.text[0] = '\0';
        return;
    }
    l->failed++;
    l->again = now + RETRY;
    if (strcmp(l->said.text, why.text) == 0) return;
    l->said = why;
    fprintf(stderr, "tamis: the new version cannot be loaded: %s; still serving version %llu\n",
            why.text, (unsigned long long)guard_about(l->current->g)->version);
}
