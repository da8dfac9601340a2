/* What an option is, between the tables (commands.c) and those who read them: parsing and the manual. */
#ifndef TAMIS_OPTIONS_H
#define TAMIS_OPTIONS_H

#include "cli.h"

enum type { FLAG, TEXT, TEXTS, COUNT, SEED, RATE, BYTE };
struct option {
    char letter; /* the short form; 0: none. No command takes two options of the same */
    const char *name, *value;
    enum type type;
    size_t offset; /* in struct args */
    const char *help;
};
extern const struct option options[];
extern const size_t n_options;

/* Whether a command knows an option. */
bool takes(const struct command *c, const struct option *o);

#endif
