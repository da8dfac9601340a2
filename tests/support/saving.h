/* Options of a save that has only flags. */
#ifndef TAMIS_TEST_SAVING_H
#define TAMIS_TEST_SAVING_H

#include <tamis/tamis.h>

#define SAVING(chosen)                                                                             \
    (&(const tamis_save_options){.struct_size = sizeof(tamis_save_options), .flags = (chosen)})

#endif
