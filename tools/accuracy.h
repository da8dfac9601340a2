/* What the files of the program `accuracy` share. */
#ifndef TAMIS_ACCURACY_H
#define TAMIS_ACCURACY_H

/* Tables of the chapter on privacy. */
void print_private(void);

#endif
