/* What tools/accuracy.c prints from other files. */
#ifndef TAMIS_ACCURACY_H
#define TAMIS_ACCURACY_H

/* The most frequent URLs of a log, in every order. */
void print_top(void);

#endif
