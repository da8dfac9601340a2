#include "guard.h"

#include "manifest.h"

bool guard_serve(const guard_service *s, guard_error *why)
{
    return guard_fail(why, "%s: there is no server yet", s->directory);
}
