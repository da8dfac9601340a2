/* JSON on standard output, one object at a time. Members are separated as needed. */
#ifndef TAMIS_CLI_JSON_H
#define TAMIS_CLI_JSON_H

#include "args.h"

#include <tamis/count.h>
#include <tamis/tamis.h>

void json_open(char bracket);
void json_close(char bracket);
void json_list(const char *name); /* ends with json_close(']') */

/* In these a NULL name means an element of a list. */
void json_text(const char *name, const char *value);
void json_text_n(const char *name, const char *value, size_t length);
/* Any bytes. If they are not UTF-8, a second member name_hex distinguishes them from others. */
void json_key(const char *name, tamis_bytes key);
void json_count(const char *name, uint64_t value);
void json_integer(const char *name, int64_t value);
void json_number(const char *name, double value); /* null unless finite */
void json_bool(const char *name, bool value);
/* The members of a lower bound, `which` being TAMIS_BOUND_...: null if there is none. */
void json_lower_bound(uint32_t which, double bits, double ratio);

/* The members of a count. */
void json_frequency(const tamis_estimate *e);
/* An item of a list with its count, as an object. */
void json_heavy(const tamis_heavy *h);

#endif
