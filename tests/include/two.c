/* A second unit with the same header: linked with one.c, nothing may be defined twice. */
#include <tamis/tamis.h>

tamis_status from_c(tamis **out);

int main(void)
{
    tamis *t;
    if (from_c(&t) != TAMIS_OK) return 1;
    const bool right = tamis_add(t, "key", 3, NULL) == TAMIS_OK && tamis_may_contain(t, "key", 3) &&
                       !tamis_may_contain(t, "other", 5);
    tamis_close(t);
    return right ? 0 : 1;
}
