/* The words of TAMIS.CREATE, each for a field of the plan or a flag. The module reads them, and
 * cluster/ writes them. */
#ifndef TAMIS_REDIS_WORDS_H
#define TAMIS_REDIS_WORDS_H

#include <tamis/tamis.h>

/* An ENCODING is a name, and for fixed also the width. */
enum value_type { NUMBER, SMALL, REAL, KIND, ENCODING, FLAG };

#define AT(field) offsetof(tamis_plan, field)
static const struct word {
    const char *name;
    enum value_type type;
    size_t offset; /* offset in the plan, or the flag itself */
} words[] = {{"ITEMS", NUMBER, AT(items)},
             {"RATE", REAL, AT(fpr)},
             {"BYTES", NUMBER, AT(bytes)},
             {"M", NUMBER, AT(m)},
             {"K", SMALL, AT(k)},
             {"SEED", NUMBER, AT(seed)},
             {"CELLBITS", SMALL, AT(cell_bits)},
             {"GENERATIONS", SMALL, AT(generations)},
             {"INNER", KIND, AT(inner_kind)},
             {"EXCLUDED", NUMBER, AT(excluded)},
             {"ERROR", REAL, AT(error)},
             {"DELTA", REAL, AT(delta)},
             {"ENCODING", ENCODING, AT(encoding)},
             {"STRICT", FLAG, TAMIS_STRICT},
             {"COMPACT", FLAG, TAMIS_COMPACT},
             {"TURNING", FLAG, TAMIS_AUTO_ROTATE},
             {"TRANSFER", FLAG, TAMIS_TRANSFER},
             {"CONSERVATIVE", FLAG, TAMIS_CONSERVATIVE},
             {"REMOVABLE", FLAG, TAMIS_REMOVABLE}};
#undef AT

#endif
