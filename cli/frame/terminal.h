/* What the terminal can show: colour, width, characters beyond ASCII. */
#ifndef TAMIS_CLI_TERMINAL_H
#define TAMIS_CLI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* `when` is auto, always or never (NULL: auto). False after a message when it is something else. */
bool set_color(const char *when);

enum ink { PLAIN, STRONG, GOOD, DOUBT, BAD, FAINT };
/* The escape sequence that begins an ink on this stream; PLAIN ends it. "" where there is no
 * colour: --color decides, and without it a terminal that is not dumb has colour unless NO_COLOR is
 * set. */
const char *ink(FILE *to, enum ink which);

/* Whether characters beyond ASCII can be shown, by LC_ALL, LC_CTYPE and LANG, in that order. */
bool has_unicode(void);

/* The columns of the terminal behind a stream: COLUMNS if it is set, and 80 if nothing is known. */
unsigned columns_of(FILE *to);

/* A bar of that many columns, a share of which is filled; `room` needs 3 bytes for each column and
 * one more. */
void draw_bar(char *room, unsigned columns, double share);

/* Seconds of a clock that only goes forward. */
double seconds_now(void);

#endif
