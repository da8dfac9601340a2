/* Parts of the output of info, which sets at redis:// addresses print as well (info.c). */
#ifndef TAMIS_CLI_INFO_H
#define TAMIS_CLI_INFO_H

#include <tamis/inspect.h>
#include <tamis/tamis.h>

/* The number of distinct items by the bits, with its interval, if the bits tell it. */
void print_distinct(const tamis_facts *f);
/* Bytes, bits per item and the lower bound, without the end of the line. */
void print_bound(const tamis_facts *f);
/* Both as members of an object. */
void json_bound(const tamis_facts *f);

#endif
