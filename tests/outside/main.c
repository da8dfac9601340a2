/* A stranger's program: it sees only what is installed, and uses enough of it that a missing
 * object, symbol or dependency is noticed. */
#include <tamis/tamis.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
    if (argc != 2 || strcmp(tamis_version(), TAMIS_VERSION_STRING) != 0) return 1;
    tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.001};
    tamis_error why;
    tamis *t;
    tamis_status s = tamis_create(&plan, NULL, &t, &why);
    if (s == TAMIS_OK) s = tamis_add(t, "outside", 7, NULL);
    if (s == TAMIS_OK) s = tamis_save(t, argv[1], NULL, &why);
    tamis_close(t);
    if (s == TAMIS_OK) s = tamis_open(argv[1], NULL, &t, &why);
    if (s != TAMIS_OK) {
        printf("%s\n", why.text);
        return 1;
    }
    const bool right = tamis_may_contain(t, "outside", 7) && !tamis_may_contain(t, "inside", 6);
    tamis_close(t);
    return right ? 0 : 1;
}
