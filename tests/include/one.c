/* Includes the header first and alone, twice, without anything before it. */
#include <tamis/tamis.h>

tamis_status from_c(tamis **out);

tamis_status from_c(tamis **out)
{
    tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    return tamis_create(&plan, NULL, out, NULL);
}
