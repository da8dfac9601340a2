/* Values of SQL as keys (docs/KEYS.md): the same value gives the same bytes in every database, and
 * in the command, Redis, Python and browsers. */
#ifndef TAMIS_SQL_KEYS_H
#define TAMIS_SQL_KEYS_H

#include <tamis/tamis.h>

enum sql_type {
    SQL_TEXT, /* UTF-8, also the text of numbers that are not 64-bit integers, and of dates */
    SQL_BYTES,
    SQL_INTEGER /* its decimal text, or 8 bytes in an int64le filter */
};

struct sql_value {
    enum sql_type type;
    tamis_bytes bytes; /* unless an integer */
    int64_t integer;
};

enum { SQL_KEY_ROOM = 24 }; /* for the decimal text of any integer */

/* Makes the key of a value for a filter of this encoding and width (tamis_facts). *key points to
 * the bytes of the value, or into room. Returns NULL, or the reason why there is no such key. */
const char *sql_key(const struct sql_value *v, uint32_t encoding, uint32_t width,
                    char room[SQL_KEY_ROOM], tamis_bytes *key);

/* Writes the decimal text of an integer. Returns its length. */
size_t sql_decimal(int64_t n, char room[SQL_KEY_ROOM]);

/* The text of an item of a top as SQL shows it: that of an int64le key is its decimal text, which
 * is written to room. Others are unchanged. */
tamis_bytes sql_item(tamis_bytes item, uint32_t encoding, char room[SQL_KEY_ROOM]);

/* Writes the beginning of a key for an error, in quotation marks and ASCII: other bytes are
 * \xNN. */
enum { SQL_SHOWN_ROOM = 88 };
void sql_show_key(tamis_bytes key, char out[SQL_SHOWN_ROOM]);

/* Whether bytes are UTF-8 without NUL, which every database can show as text. */
bool sql_is_text(tamis_bytes b);

/* The beginning of a long item (tamis_heavy.length), without a last character that was cut
 * in two. Bytes that are not text are unchanged. */
tamis_bytes sql_whole_characters(tamis_bytes beginning);

#endif
