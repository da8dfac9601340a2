/* Failures with a reason, as the library reports them. */
#ifndef TAMIS_SQL_FAIL_H
#define TAMIS_SQL_FAIL_H

#include <tamis/tamis.h>

/* Fills `why`, which may be NULL, and returns the status. */
__attribute__((format(printf, 3, 4))) tamis_status sql_fail(tamis_error *why, tamis_status s,
                                                            const char *format, ...);

#endif
