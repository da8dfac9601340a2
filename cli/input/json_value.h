/* Single values of JSON texts (RFC 8259), without building a tree. The whole text is checked. */
#ifndef TAMIS_CLI_JSON_VALUE_H
#define TAMIS_CLI_JSON_VALUE_H

#include <tamis/tamis.h>

/* Where a value is: names of members of nested objects. A number is also an index of an array,
 * from 0. */
enum { JSON_PARTS = 16, JSON_PATH_ROOM = 256, JSON_PATHS = 3 };
struct json_path {
    int n; /* 0: no value is wanted */
    tamis_bytes parts[JSON_PARTS];
    char room[JSON_PATH_ROOM];
};

/* Reads "user.id", where \. and \\ stand for characters of a name. False: a name is empty, or it is
 * too long. The path must not be moved. */
bool json_path_read(const char *text, struct json_path *out);

enum json_type { JSON_MISSING, JSON_NULL, JSON_TEXT, JSON_OTHER };
struct json_value {
    enum json_type type; /* JSON_OTHER: an object or an array */
    tamis_bytes raw;     /* JSON_TEXT: the content of a string, or a number, true or false */
    bool has_escapes;
};

/* Finds the values of n paths in a text, of which the last with this name counts. False: it is not
 * JSON; *at and *reason say where and why. A text of blanks has no values. */
bool json_values(tamis_bytes text, const struct json_path *paths, size_t n,
                 struct json_value values[JSON_PATHS], const char **at, const char **reason);

/* Whether a text has only blanks. */
bool json_is_blank(tamis_bytes text);

/* Writes the content of a string as UTF-8, which is never longer. False: it has half of a
 * surrogate pair, which is not a character; nothing was written to *written. */
bool json_unescape(tamis_bytes raw, char *to, size_t *written);

#endif
