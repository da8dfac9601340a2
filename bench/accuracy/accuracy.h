/* What bench/accuracy/accuracy.c prints from other files. */
#ifndef TAMIS_ACCURACY_H
#define TAMIS_ACCURACY_H

/* The most frequent URLs of a log, in every order. */
void print_top(void);
/* What naive noise betrays, and what honest noise leaves. */
void print_private(void);

#endif
