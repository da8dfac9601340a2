/* JSON texts that both databases return. Names and values are those that the command prints. */
#ifndef TAMIS_SQL_JSON_H
#define TAMIS_SQL_JSON_H

#include <tamis/tamis.h>

enum { SQL_JSON_ROOM = 4096 }; /* more than either text takes */

/* What `tamis info --json` prints about a filter or sketch, without the file. */
tamis_status sql_info_json(const tamis *t, char out[SQL_JSON_ROOM], tamis_error *why);
/* What `tamis compare --json` prints about two, without the files. A number that is too small to
 * estimate is null. */
tamis_status sql_compare_json(const tamis *a, const tamis *b, char out[SQL_JSON_ROOM],
                              tamis_error *why);

#endif
