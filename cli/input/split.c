#include "split.h"

#include "csv.h"
#include "fields.h"

#include <stdlib.h>
#include <string.h>

void form_of(const struct line_args *how, struct form *out)
{
    const struct column *named[ROLES] = {&how->field, &how->group_field, number_column(how)};
    memset(out, 0, sizeof *out);
    out->how = how;
    out->end = how->nul ? '\0' : '\n';
    out->format = how->jsonl ? JSON : how->csv || how->tsv ? CSV : LINES;
    out->delimiter = delimiter_from(how);
    for (int i = 0; i < ROLES; i++) {
        out->fields = out->fields || named[i]->text != NULL;
        if (how->jsonl && named[i]->text != NULL) json_path_read(named[i]->text, &out->paths[i]);
    }
    out->apart = how->field.text != NULL || how->crlf || out->format != LINES;
}

/* --- Memory ----------------------------------------------------------------------------------- */

bool resize(void *array, size_t n, size_t size)
{
    void *p;
    memcpy(&p, array, sizeof p);
    p = realloc(p, n * size); /* cppcheck-suppress memleakOnRealloc ; *array still has it */
    if (p != NULL) memcpy(array, &p, sizeof p);
    return p != NULL;
}

static bool make_line_room(const struct form *f, struct portion *s, bool hashes)
{
    struct block *b = &s->block;
    const size_t room = s->room_lines * 2 + 8192;
    if (!resize(&b->lines, room, sizeof *b->lines)) return false;
    if (!f->apart) b->keys = b->lines;
    if ((f->apart && !resize(&b->keys, room, sizeof *b->keys)) ||
        (f->how->group_field.text != NULL && !resize(&b->groups, room, sizeof *b->groups)) ||
        (number_column(f->how)->text != NULL && !resize(&b->weights, room, sizeof *b->weights)) ||
        (hashes && !resize(&b->hashes, room, sizeof *b->hashes)))
        return false;
    s->room_lines = room;
    return true;
}

/* Room for a field that is written anew. It becomes shorter, and a record may be read for its key,
 * its group and its weight. */
static char *spare_of(struct portion *s)
{
    if (s->spare == NULL || s->spare_room < ROLES * s->size) {
        free(s->spare); /* only the first field of a block gets here */
        s->spare = malloc(ROLES * s->size);
        s->spare_room = s->spare != NULL ? ROLES * s->size : 0;
    }
    return s->spare != NULL ? s->spare + s->spare_used : NULL;
}

void portion_free(const struct form *f, struct portion *s)
{
    if (f->apart) free(s->block.keys);
    free(s->block.lines);
    free(s->block.groups);
    free(s->block.weights);
    free(s->block.hashes);
    free(s->text);
    free(s->spare);
}

/* --- Fields ----------------------------------------------------------------------------------- */

/* Keeps the bytes of a field for line i. */
static enum skip keep_for_line(const struct form *f, struct portion *s, size_t i, enum role role,
                               tamis_bytes field)
{
    if (role == KEY) s->block.keys[i] = field;
    if (role == GROUP) s->block.groups[i] = field;
    if (role != WEIGHT) return KEPT;
    int64_t *number = &s->block.weights[i];
    if (f->how->value_field.text != NULL ? value_of(field, number) : weight_of(field, number))
        return KEPT;
    if (s->skipped[BAD_WEIGHT][role].n == 0) s->skipped[BAD_WEIGHT][role].at = field;
    return BAD_WEIGHT;
}

static enum skip cut_line(const struct form *f, struct portion *s, size_t i, tamis_bytes line)
{
    const tamis_bytes bare = without_return(line);
    const bool crlf = f->how->crlf || f->format == CSV;
    if (f->format == CSV && f->fields && bare.len == 0) return BLANK;
    if (f->apart) s->block.keys[i] = crlf ? bare : line;
    for (enum role role = KEY; role < ROLES && f->fields; role++) {
        tamis_bytes field;
        const uint64_t n = s->columns.of[role];
        if (n == 0) continue;
        s->role = role;
        const tamis_bytes from = crlf || role == WEIGHT ? bare : line;
        if (!field_of(from, n, f->delimiter, &field)) return TOO_FEW;
        const enum skip why = keep_for_line(f, s, i, role, field);
        if (why != KEPT) return why;
    }
    return KEPT;
}

static enum skip not_valid(struct portion *s, const char *at, const char *reason)
{
    struct skipped *first = &s->skipped[NOT_VALID][s->role];
    if (first->n == 0) *first = (struct skipped){0, {at, 0}, reason};
    return NOT_VALID;
}

static enum skip cut_csv(const struct form *f, struct portion *s, size_t i, const char *p,
                         const char *stop, const char **end)
{
    struct csv_field fields[ROLES];
    struct csv_record record;
    const bool good = csv_read(p, stop, (char)f->delimiter, s->columns.of, ROLES, fields, &record);
    *end = record.end;
    s->ends += record.lines;
    if (!good) return not_valid(s, record.fault_at, record.fault);
    s->block.keys[i] = without_return((tamis_bytes){p, (size_t)(*end - p)});
    if (f->fields && s->block.keys[i].len == 0) return BLANK;
    for (enum role role = KEY; role < ROLES; role++) {
        if (s->columns.of[role] == 0) continue;
        s->role = role;
        if (s->columns.of[role] > record.found) return TOO_FEW;
        tamis_bytes field = fields[role].raw;
        if (fields[role].has_doubled) {
            char *to = spare_of(s);
            if (to == NULL) return SKIPS;
            field = (tamis_bytes){to, csv_unquote(field, to)};
            s->spare_used += field.len;
        }
        const enum skip why = keep_for_line(f, s, i, role, field);
        if (why != KEPT) return why;
    }
    return KEPT;
}

/* The text of a value of JSON. */
static enum skip text_of(struct portion *s, const struct json_value *v, tamis_bytes *out)
{
    *out = v->raw;
    if (v->type == JSON_MISSING || v->type == JSON_NULL) return NO_VALUE;
    if (v->type == JSON_OTHER) return NO_TEXT;
    if (!v->has_escapes) return KEPT;
    char *to = spare_of(s);
    if (to == NULL) return SKIPS;
    *out = (tamis_bytes){to, 0};
    if (!json_unescape(v->raw, to, &out->len)) return HALF_PAIR;
    s->spare_used += out->len;
    return KEPT;
}

static enum skip cut_json(const struct form *f, struct portion *s, size_t i, tamis_bytes line)
{
    struct json_value values[JSON_PATHS];
    const char *at, *reason;
    if (!json_values(line, f->paths, ROLES, values, &at, &reason)) return not_valid(s, at, reason);
    for (enum role role = KEY; role < ROLES; role++) {
        tamis_bytes field;
        if (f->paths[role].n == 0) continue;
        s->role = role;
        enum skip why = text_of(s, &values[role], &field);
        if (why == NO_VALUE && json_is_blank(line)) why = BLANK;
        if (why == KEPT) why = keep_for_line(f, s, i, role, field);
        if (why != KEPT) return why;
    }
    return KEPT;
}

/* --- Blocks ----------------------------------------------------------------------------------- */

static void note_skip(const struct form *f, struct portion *s, enum skip why, tamis_bytes line)
{
    struct skipped *k = &s->skipped[why][s->role];
    if (k->n++ == 0 && k->at.p == NULL) k->at = line;
    if (f->how->strict && why != BLANK) s->refused = why;
}

/* Keeps line i in mind if it is the first whose key ends with a carriage return. */
static enum skip note_return(const struct form *f, struct portion *s, size_t i)
{
    const tamis_bytes key = s->block.keys[i];
    if (f->format != LINES || f->end != '\n' || f->how->raw) return KEPT;
    if (key.len == 0 || ((const char *)key.p)[key.len - 1] != '\r') return KEPT;
    s->role = KEY;
    if (f->how->strict) return RETURN;
    if (s->with_return.p == NULL) s->with_return = s->block.lines[i];
    return KEPT;
}

void split(const struct form *f, struct portion *s, size_t most, bool hashes)
{
    const char *p = s->text + s->split, *const stop = s->text + s->size;
    /* Without quotes, records are lines. */
    const bool quotes = f->format == CSV && memchr(p, '"', (size_t)(stop - p)) != NULL;
    size_t n = 0;
    s->block.text = p;
    s->all = s->ends = s->spare_used = 0;
    s->refused = KEPT;
    s->with_return = (tamis_bytes){NULL, 0};
    memset(s->skipped, 0, sizeof s->skipped);
    while (p < stop && n < most && s->refused == KEPT && !s->failed) {
        if (n == s->room_lines && !make_line_room(f, s, hashes)) {
            s->failed = true;
            break;
        }
        enum skip why = KEPT;
        const char *end;
        s->role = KEY;
        if (quotes)
            why = cut_csv(f, s, n, p, stop, &end);
        else
            end = memchr(p, f->end, (size_t)(stop - p)); /* is there: the text ends with it */
        const tamis_bytes line = {p, (size_t)(end - p)};
        s->block.lines[n] = line;
        if (f->format == JSON)
            why = cut_json(f, s, n, line);
        else if (!quotes && (f->apart || f->fields))
            why = cut_line(f, s, n, line);
        s->failed = why == SKIPS;
        p = end + 1;
        s->all++;
        if (why == KEPT) why = note_return(f, s, n);
        if (why == KEPT) n++;
        if (why != KEPT && why != SKIPS) note_skip(f, s, why, line);
    }
    s->split = (size_t)(p - s->text);
    s->block.n = n;
    if (!quotes) s->ends = s->all;
}

bool header_field(const struct form *f, const char *record, const char *stop, uint64_t n, char *to,
                  tamis_bytes *out, const char **end, struct fault *fault)
{
    fault->reason = NULL;
    if (f->format != CSV) {
        *end = memchr(record, f->end, (size_t)(stop - record));
        const tamis_bytes line = {record, (size_t)(*end - record)};
        return field_of(without_return(line), n, f->delimiter, out);
    }
    struct csv_field field;
    struct csv_record r;
    const bool good = csv_read(record, stop, (char)f->delimiter, &n, 1, &field, &r);
    *end = r.end;
    if (!good) *fault = (struct fault){r.fault_at, r.fault};
    if (!good || r.found < n) return false;
    *out = field.has_doubled ? (tamis_bytes){to, csv_unquote(field.raw, to)} : field.raw;
    return true;
}
