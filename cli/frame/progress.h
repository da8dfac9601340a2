/* A line on standard error that shows how far long work is. It appears only on a terminal, after
 * half a second, and is erased at the end. A thread draws it, so that the time passes on the screen
 * also while input is waited for, or while a call of the library takes long. */
#ifndef TAMIS_CLI_PROGRESS_H
#define TAMIS_CLI_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

struct work {
    const char *verb;
    const char *unit;   /* of what is counted; NULL: nothing is, and only the time is shown */
    uint64_t done;      /* units */
    uint64_t at, total; /* the position, and where the end is; total 0: unknown */
    double started;
};

struct progress {
    bool shown;
    struct work outer; /* what was shown before, and is shown again afterwards */
};

/* -q: no progress is shown from now on. */
void progress_be_quiet(void);

/* The parts of long work begin. From half a second after this on, each part that takes longer than
 * 20 milliseconds is shown. */
void progress_parts(void);

/* Work that reads lines from files of so many bytes (0: unknown). */
void progress_start(struct progress *p, const char *verb, uint64_t total_bytes);
/* So many more lines are done, up to this byte of the input. */
void progress_update(struct progress *p, uint64_t lines, uint64_t bytes);

/* Work of which the units are counted, for example "keys". */
void progress_count(struct progress *p, const char *verb, const char *unit, uint64_t total);
void progress_add(struct progress *p, uint64_t units);

/* Work that reports nothing until it is done. */
void progress_wait(struct progress *p, const char *verb);

/* Ends any of them. */
void progress_end(struct progress *p);

/* Work that prints lines is not shown if standard output is a pipe, because its reader may print on
 * the same terminal, or if it is a terminal and the lines do not end with a newline (`nul`). */
bool progress_would_mix(bool nul);
/* Around what is printed meanwhile to this descriptor: if it is a terminal, the line is erased, and
 * comes back later. They leave errno alone. */
void progress_pause(int fd);
void progress_resume(int fd);
/* Nothing is drawn from the first to the second call, because somebody types the input. */
void progress_typing(bool begins);
/* Erases the line for good; a signal handler may call it. */
void progress_abandon(void);

#endif
