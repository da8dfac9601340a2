#include "header.h"

#include "../frame/output.h"
#include "fields.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The header that is being read. */
struct naming {
    const struct form *form;
    const char *path, *text, *stop, *end;
    char *room; /* for a name */
};

static void complain_of(const struct naming *r, const struct fault *fault)
{
    uint64_t line = 1;
    const char *begin = r->text;
    for (const char *p = begin; p < fault->at; p++)
        if (*p == '\n') line++, begin = p + 1;
    complain(r->path, "line %s, column %s: the header is not CSV: %s", grouped(line),
             grouped((uint64_t)(fault->at - begin) + 1), fault->reason);
}

/* Column n; false: there are fewer, or a message was printed and *failed is true. */
static bool column_at(struct naming *r, uint64_t n, tamis_bytes *name, bool *failed)
{
    struct fault fault;
    if (header_field(r->form, r->text, r->stop, n, r->room, name, &r->end, &fault)) return true;
    *failed = fault.reason != NULL;
    if (*failed) complain_of(r, &fault);
    return false;
}

static bool is_column(tamis_bytes name, const char *wanted)
{
    return name.len == strlen(wanted) && memcmp(name.p, wanted, name.len) == 0;
}

/* The delimiter that would make a header of one column have the wanted one; 0: none. */
static char other_delimiter(const struct naming *r, const char *wanted)
{
    static const char others[] = ";,|\t:";
    const tamis_bytes line = without_return((tamis_bytes){r->text, (size_t)(r->end - r->text)});
    for (const char *d = others; *d != '\0'; d++) {
        tamis_bytes name;
        for (uint64_t i = 1; field_of(line, i, *d, &name); i++)
            if (*d != r->form->delimiter && is_column(name, wanted)) return *d;
    }
    return '\0';
}

/* "there is no column 'usr'; the header has: id, user" */
static bool no_such_column(struct naming *r, const char *wanted)
{
    char names[400] = "";
    size_t used = 0;
    tamis_bytes name;
    bool failed;
    for (uint64_t i = 1; column_at(r, i, &name, &failed); i++) {
        if (used + name.len + 6 > sizeof names) {
            used += (size_t)snprintf(names + used, sizeof names - used, ", ...");
            break;
        }
        used += (size_t)snprintf(names + used, sizeof names - used, "%s%.*s", i > 1 ? ", " : "",
                                 (int)name.len, (const char *)name.p);
    }
    for (char *p = names; *p != '\0'; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f) *p = '?'; /* a message may go to a terminal */
    const char other = other_delimiter(r, wanted);
    const char *tsv = r->form->how->tsv ? "--csv " : ""; /* --tsv excludes -t */
    if (other == '\t')
        complain(r->path, "there is no column '%s'; the header has: %s; did you mean %s?", wanted,
                 names, r->form->format == CSV ? "--tsv" : "-t '\\t'");
    else if (other != '\0')
        complain(r->path, "there is no column '%s'; the header has: %s; did you mean %s-t '%c'?",
                 wanted, names, tsv, other);
    else
        complain(r->path, "there is no column '%s'; the header has: %s", wanted, names);
    return false;
}

static bool find_column(struct naming *r, const char *wanted, uint64_t *column)
{
    tamis_bytes name;
    bool failed = false;
    *column = 0;
    for (uint64_t i = 1; column_at(r, i, &name, &failed); i++) {
        if (!is_column(name, wanted)) continue;
        if (*column != 0) {
            complain(r->path, "columns %s and %s are both called '%s': give the number of one",
                     grouped(*column), grouped(i), wanted);
            return false;
        }
        *column = i;
    }
    return *column != 0 || (!failed && no_such_column(r, wanted));
}

/* Keeps the header of the first file, and compares the others with it. */
static bool keep_header(struct header *h, const struct naming *r)
{
    const tamis_bytes now = {r->text, (size_t)(r->end - r->text)};
    if (h->text.p != NULL) {
        const tamis_bytes first = without_return((tamis_bytes){h->text.p, h->text.len - 1}),
                          other = without_return(now);
        const bool same = first.len == other.len && memcmp(first.p, other.p, first.len) == 0;
        if (same || !h->print) return true;
        complain(r->path, "its header differs from that of %s, so both cannot be one table",
                 h->path);
        return false;
    }
    char *copy = malloc(now.len + 1);
    if (copy == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    memcpy(copy, now.p, now.len + 1);
    h->text = (tamis_bytes){copy, now.len + 1};
    h->path = r->path;
    if (h->print) fwrite(copy, 1, h->text.len, stdout);
    return true;
}

bool header_read(struct header *h, const struct form *f, const char *path, const char *text,
                 size_t size, size_t *length, struct columns *columns)
{
    const struct column *named[ROLES] = {&f->how->field, &f->how->group_field,
                                         number_column(f->how)};
    struct naming r = {.form = f, .path = path, .text = text, .stop = text + size};
    tamis_bytes name;
    bool good = true, failed = false;
    r.room = malloc(size);
    if (r.room == NULL) {
        complain(NULL, "not enough memory");
        return false;
    }
    column_at(&r, 1, &name, &failed); /* finds the end */
    good = !failed;
    for (int i = 0; i < ROLES && good; i++)
        if (named[i]->text != NULL && named[i]->number == 0)
            good = find_column(&r, named[i]->text, &columns->of[i]);
        else if (named[i]->text != NULL && !column_at(&r, named[i]->number, &name, &failed))
            good = !failed && find_column(&r, named[i]->text, &columns->of[i]); /* a year, say */
    if (good) good = keep_header(h, &r);
    free(r.room);
    *length = (size_t)(r.end - text) + 1;
    return good;
}

void header_free(struct header *h)
{
    free((char *)h->text.p);
    h->text = (tamis_bytes){NULL, 0};
}
