/* The tables of bench/accuracy/accuracy.c that other files print. */
#ifndef TAMIS_ACCURACY_H
#define TAMIS_ACCURACY_H

/* The most frequent URLs of a log, in every order. */
void print_top(void);
/* What naive noise reveals, and how useful proper noise is. */
void print_private(void);
/* The worst sizes of 50 sets of each class whose name begins like this. Takes minutes. */
void print_sizes(const char *kind);

#endif
