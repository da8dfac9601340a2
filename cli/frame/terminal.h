/* What the terminal can show: colour, width, characters beyond ASCII. */
#ifndef TAMIS_CLI_TERMINAL_H
#define TAMIS_CLI_TERMINAL_H

#include "cli.h"

/* auto, always or never (NULL: auto); false after a message when it is none of them. */
bool set_color(const char *when);

enum ink { PLAIN, STRONG, GOOD, DOUBT, BAD, FAINT };
/* The escape sequence that begins an ink on this stream, PLAIN to end it; "" where there is no
 * colour: by
 * --color, else on a terminal that is not dumb, unless NO_COLOR is set. */
const char *ink(FILE *to, enum ink which);

/* Whether Unicode may be drawn: by LC_ALL, LC_CTYPE and LANG, in that order. */
bool has_unicode(void);

/* Columns of the terminal behind a stream; COLUMNS goes first, and 80 is the answer where nobody
 * knows. */
unsigned columns_of(FILE *to);

/* A bar of so many columns, of which a share is full; `room` holds 3 bytes for each column, and
 * one. */
void draw_bar(char *room, unsigned columns, double share);

#endif
