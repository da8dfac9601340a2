/* Have I seen this? A set of names in ten lines, from the plan to the answer.
 *
 *     cc membership.c -ltamis -lm */
#include <tamis/tamis.h>

#include <stdio.h>

int main(void)
{
    tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    tamis *bad;
    if (tamis_create(&plan, NULL, &bad, NULL) != TAMIS_OK) return 1;

    tamis_add(bad, "thisisavirus.com", 16, NULL);
    tamis_add(bad, "totallynotsuspicious.com", 24, NULL);

    const bool virus = tamis_may_contain(bad, "thisisavirus.com", 16);
    const bool normal = tamis_may_contain(bad, "verynormalsite.com", 18);
    printf("thisisavirus.com     %s\n", virus ? "maybe: ask the full list" : "certainly not");
    printf("verynormalsite.com   %s\n", normal ? "maybe: ask the full list" : "certainly not");

    tamis_close(bad);
    return virus && !normal ? 0 : 1;
}
