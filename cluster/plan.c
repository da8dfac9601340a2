/* Turns a plan into the words of TAMIS.CREATE: the fields that are not 0. */
#include "../redis/words.h"
#include "set.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_VALUE = 40 };

/* Stores the value of a word, empty for a flag. Returns false if the plan does not set it. */
static bool value_of(const tamis_plan *p, const struct word *w, char out[LONGEST_VALUE])
{
    const char *field = (const char *)p + w->offset;
    uint64_t big;
    uint32_t small;
    double real;
    out[0] = '\0';
    switch (w->type) {
    case NUMBER:
        memcpy(&big, field, sizeof big);
        snprintf(out, LONGEST_VALUE, "%llu", (unsigned long long)big);
        return big != 0;
    case SMALL:
        memcpy(&small, field, sizeof small);
        snprintf(out, LONGEST_VALUE, "%lu", (unsigned long)small);
        return small != 0;
    case REAL:
        memcpy(&real, field, sizeof real);
        snprintf(out, LONGEST_VALUE, "%.17g", real);
        return real > 0;
    case KIND:
        memcpy(&small, field, sizeof small);
        snprintf(out, LONGEST_VALUE, "%s", small != 0 ? tamis_kind_name(small) : "");
        return small != 0;
    case ENCODING: return false; /* sets of a cluster state none */
    default: return (p->flags & w->offset) != 0;
    }
}

/* Writes the words to a command, or only counts them if r is NULL. */
static size_t put_words(const tamis_plan *p, struct request *r)
{
    char value[LONGEST_VALUE];
    size_t n = 0;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) {
        if (!value_of(p, &words[i], value)) continue;
        const bool flag = words[i].type == FLAG;
        n += flag ? 1 : 2;
        if (r != NULL) request_text(r, words[i].name);
        if (r != NULL && !flag) request_text(r, value);
    }
    return n;
}

struct request *plan_request(const struct shard *shard, const tamis_plan *p)
{
    struct request *r =
        request_new(shard->slot, 3 + put_words(p, NULL),
                    sizeof words / sizeof *words * 2 * LONGEST_VALUE + sizeof shard->key);
    if (r == NULL) return NULL;
    r->writes = true;
    request_text(r, "TAMIS.CREATE");
    request_text(r, shard->key);
    request_text(r, p->kind == TAMIS_AUTO ? "auto" : tamis_kind_name(p->kind));
    put_words(p, r);
    return r;
}
