/* Messages on standard error, and text on standard output (output.c). JSON is in json.h. */
#ifndef TAMIS_CLI_OUTPUT_H
#define TAMIS_CLI_OUTPUT_H

#include <tamis/count.h>
#include <tamis/tamis.h>

#include <stdio.h>

/* The exit statuses are those of grep: something was found or done; nothing was found; an error. */
enum { EXIT_FOUND = 0, EXIT_NONE = 1, EXIT_ERROR = 2 };

/* Prints "tamis: about: reason" on stderr; about may be NULL. Returns EXIT_ERROR, for commands that
 * end with it. */
int complain(const char *about, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Whether a write to stdout has failed. It must be called right after the write, because it keeps
 * the reason for finish_output. */
bool output_failed(void);
/* Flushes stdout, so that the reader sees at once what was printed. */
void flush_output(void);
/* Flushes stdout and returns the status, or EXIT_ERROR after a message when anything was not
 * written. */
int finish_output(int status);

/* fwrite for the only thread that prints: without a lock for each line, if the system has that. */
#ifdef __linux__
#define WRITE_UNLOCKED fwrite_unlocked
#else
#define WRITE_UNLOCKED fwrite
#endif

/* Writes a text as a message shows it: on a terminal, what it would obey is \xHH. Elsewhere the
 * bytes are unchanged. The text is cut where there is no room. */
void write_shown(const char *text, char *to, size_t size);
/* Writes 1234567 as "1,234,567", in at most 27 bytes. */
void write_grouped(uint64_t v, char *to);

/* These return one of a few static buffers in turn, so that one message can use several. */
/* 1234567 as "1,234,567". */
const char *grouped(uint64_t v);
/* The same for a number from a server, which may be NAN, negative or infinite. */
const char *grouped_real(double x);
/* A probability as "0.98 % (1 in 102)". */
const char *rate_text(double rate);

/* The length of the UTF-8 character at s, where `most` bytes are left; 0 when it is not valid. */
int utf8_length(const unsigned char *s, size_t most);

/* A count and its interval, in columns: "100  98..100". It is marked with ~ where it may be noise
 * and with ? where it is suspect; "98+  98.." is a lower bound. */
void print_count(const tamis_estimate *e);
/* An item as it is; on a terminal its control bytes are escaped. */
void print_item(tamis_bytes item);
/* An item of a list, of which only the beginning, or only the hash, may be kept. */
void print_heavy_item(const tamis_heavy *h);

#endif
