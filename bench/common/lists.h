/* A file of results as JSON: the machine, the run, and lists of rows. */
#ifndef BENCH_LISTS_H
#define BENCH_LISTS_H

#include "bench.h"

/* Stores the folder of the program, where files are written. */
void own_folder(char *out, size_t room);

void rows_open(const char *path, const char *only); /* `only` is a section, or NULL for all */
void rows_list(const char *name);                   /* begins a new list */
void rows_row(const char *format, ...) __attribute__((format(printf, 1, 2)));
void rows_close(void);

#endif
