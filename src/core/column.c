/* Columns of keys: what they may look like, and the calls that take them. Rows without nulls are a
 * source of keys for bulk.c. A filter that keeps its items, and an add to a column with nulls, get
 * them as descriptors in small pieces on the stack. */
#include "column.h"

#include "bulk.h"
#include "crew.h"
#include "encoding.h"
#include "error.h"
#include "sized.h"

/* Rows of which the answers are made at a time, in a buffer on the stack, if the caller gives no
 * room for them. A call of the stream starts and ends with memory that nobody waits for, so a piece
 * is far longer than its groups. */
#define PIECE 4096u

/* --- What a column may look like -------------------------------------------------------------- */

/* The loops have no exit, so that the compiler can use vectors. */
static bool offsets_fall(const tamis_column *c, size_t n)
{
    bool falls = false;
    if (c->offsets32 != NULL) {
        const int32_t *at = c->offsets32 + c->first;
        for (size_t i = 0; i < n; i++) falls |= at[i + 1] < at[i];
    } else {
        const int64_t *at = c->offsets64 + c->first;
        for (size_t i = 0; i < n; i++) falls |= at[i + 1] < at[i];
    }
    return falls;
}

static tamis_status check_offsets(const tamis_column *c, size_t end, tamis_error *why)
{
    const bool narrow = c->offsets32 != NULL;
    if (c->rows == 0) return TAMIS_OK;
    const int64_t from = narrow ? c->offsets32[c->first] : c->offsets64[c->first];
    const int64_t to = narrow ? c->offsets32[end] : c->offsets64[end];
    if (from < 0)
        return tamis__fail(why, TAMIS_EINVAL, "the first offset of the column is negative");
    if (offsets_fall(c, c->rows))
        return tamis__fail(why, TAMIS_EINVAL, "an offset of the column is smaller than the last");
    if ((uint64_t)to > c->bytes)
        return tamis__fail(why, TAMIS_EINVAL,
                           "the last value of the column ends at byte %llu, but there are %llu",
                           (unsigned long long)to, (unsigned long long)c->bytes);
    return TAMIS_OK;
}

static tamis_status check_width(const tamis_column *c, size_t end, tamis_error *why)
{
    uint64_t last;
    if (c->width == 0) return tamis__fail(why, TAMIS_EINVAL, "a column needs a width or offsets");
    if (c->rows == 0) return TAMIS_OK;
    const size_t stride = c->stride != 0 ? c->stride : c->width;
    const bool fits = end - 1 <= (SIZE_MAX - c->width) / stride;
    last = fits ? (uint64_t)(end - 1) * stride + c->width : UINT64_MAX;
    if (last > c->bytes)
        return tamis__fail(why, TAMIS_EINVAL,
                           "%llu values of %llu bytes do not fit in the %llu bytes of the column",
                           (unsigned long long)end, (unsigned long long)c->width,
                           (unsigned long long)c->bytes);
    return TAMIS_OK;
}

static tamis_status check_rows(const tamis_column *c, tamis_error *why)
{
    const bool texts = c->offsets32 != NULL || c->offsets64 != NULL;
    if (c->rows > SIZE_MAX - c->first || c->rows + c->first == SIZE_MAX)
        return tamis__fail(why, TAMIS_EINVAL, "the column has too many rows");
    if (c->offsets32 != NULL && c->offsets64 != NULL)
        return tamis__fail(why, TAMIS_EINVAL, "a column has offsets of 32 or of 64 bits, not both");
    if (texts && (c->width != 0 || c->stride != 0))
        return tamis__fail(why, TAMIS_EINVAL, "a column with offsets has no width and no stride");
    if (c->data == NULL && c->bytes != 0)
        return tamis__fail(why, TAMIS_EINVAL, "the column has no data");
    return texts ? check_offsets(c, c->first + c->rows, why)
                 : check_width(c, c->first + c->rows, why);
}

static tamis_status check_lengths_of(const tamis *t, const struct column *c, tamis_error *why)
{
    if (tamis__key_length(t) == 0 || c->rows == 0) return TAMIS_OK;
    if (c->width != 0) return tamis__check_length(t, c->width, why);
    for (size_t row = c->first; row < c->first + c->rows; row++) {
        const size_t len = tamis__column_key(c, row).len;
        if (tamis__wrong_length(t, len) && tamis__column_valid(c, row))
            return tamis__check_length(t, len, why);
    }
    return TAMIS_OK;
}

tamis_status tamis__column_open(const tamis *t, const tamis_column *from, struct column *out,
                                tamis_error *why)
{
    tamis_column c;
    tamis_status s = tamis__take_struct(&c, sizeof c, from, "tamis_column", why);
    if (s == TAMIS_OK) s = check_rows(&c, why);
    if (s != TAMIS_OK) return s;
    *out = (struct column){.data = c.data != NULL ? c.data : (const uint8_t *)"",
                           .width = c.width,
                           .stride = c.stride != 0 ? c.stride : c.width,
                           .offsets32 = c.offsets32,
                           .offsets64 = c.offsets64,
                           .validity = c.validity,
                           .first = c.first,
                           .rows = c.rows};
    return check_lengths_of(t, out, why);
}

/* --- Adding ----------------------------------------------------------------------------------- */

/* A multiple of 8, so that pieces write whole bytes of answers. Room for more would exceed the
 * promised stack. */
#define FEW 32u

/* The keys of a few rows, without nulls. */
struct few {
    tamis_bytes keys[FEW];
    int64_t weights[FEW], counts[FEW];
    uint8_t rows[FEW]; /* relative to the first */
    size_t n;
};

static void gather_rows(const struct column *c, size_t at, size_t n, const int64_t *weights,
                        struct few *out)
{
    out->n = 0;
    for (size_t i = 0; i < n; i++) {
        if (!tamis__column_valid(c, c->first + at + i)) continue;
        out->keys[out->n] = tamis__column_key(c, c->first + at + i);
        out->weights[out->n] = weights != NULL ? weights[at + i] : 1;
        out->rows[out->n++] = (uint8_t)i;
    }
}

/* Adds up to a batch of rows at `at`. *done: as many of them, null rows included. */
static tamis_status add_few(tamis *t, const struct column *c, size_t at, size_t n,
                            const struct keys *all, uint8_t *seen, size_t *done)
{
    struct few few;
    uint8_t answers[FEW / 8] = {0};
    size_t added;
    gather_rows(c, at, n, all->weights, &few);
    const struct keys in = {.bytes = few.keys,
                            .weights = all->weights != NULL ? few.weights : NULL,
                            .counts = all->counts != NULL ? few.counts : NULL,
                            .n = few.n};
    const tamis_status s = tamis__bulk_add(t, &in, seen != NULL ? answers : NULL, &added);
    *done = s == TAMIS_OK ? n : few.rows[added];
    if (all->counts != NULL) {
        memset(all->counts + at, 0, *done * sizeof *all->counts);
        for (size_t i = 0; i < added; i++) all->counts[at + few.rows[i]] = few.counts[i];
    }
    if (seen == NULL) return s;
    memset(seen + at / 8, 0, (n + 7) / 8);
    for (size_t i = 0; i < added; i++)
        if (tamis__bit(answers, i))
            seen[(at + few.rows[i]) / 8] |= (uint8_t)(1u << (at + few.rows[i]) % 8);
    return s;
}

tamis_status tamis__add_column(tamis *t, const struct column *c, const int64_t *weights,
                               int64_t *counts, uint8_t *seen, size_t *done)
{
    const struct keys all = {
        .column = c, .row = c->first, .weights = weights, .counts = counts, .n = c->rows};
    if (c->validity == NULL && !tamis__keeps_items(t)) return tamis__bulk_add(t, &all, seen, done);
    tamis_status s = TAMIS_OK;
    for (*done = 0; *done < c->rows && s == TAMIS_OK;) {
        const size_t at = *done, rest = c->rows - at;
        size_t n = rest < FEW ? rest : FEW, added;
        s = add_few(t, c, at, n, &all, seen, &added);
        *done = at + added;
        if (s == TAMIS_OK || seen == NULL) continue;
        n = (at + n + 7) / 8;
        memset(seen + n, 0, (c->rows + 7) / 8 - n);
    }
    return s;
}

tamis_status tamis_add_column(tamis *t, const tamis_column *given, uint8_t *seen_bits, size_t *done,
                              tamis_error *why)
{
    struct column c;
    size_t added = 0;
    if (done != NULL) *done = 0;
    tamis_status s = tamis__column_open(t, given, &c, why);
    if (s != TAMIS_OK) return s;
    s = tamis__may_change_keys(t);
    if (s == TAMIS_OK) s = tamis__add_column(t, &c, NULL, NULL, seen_bits, &added);
    if (done != NULL) *done = added;
    return tamis__refuse(why, s);
}

/* --- Querying --------------------------------------------------------------------------------- */

static uint8_t valid_byte(const struct column *c, size_t row, size_t n)
{
    const uint8_t *from = c->validity + row / 8;
    unsigned bits = from[0] >> row % 8;
    if (row % 8 + n > 8) bits |= (unsigned)from[1] << (8 - row % 8);
    return (uint8_t)bits;
}

/* Answers n rows at `at`, which is a multiple of 8. Returns how many may be members. bits may be
 * NULL if no row is null. */
static size_t query_rows(const tamis *t, const struct column *c, size_t at, size_t n, uint8_t *bits)
{
    const struct keys in = {.column = c, .row = c->first + at, .n = n};
    size_t maybes = n;
    if (t->hasher.usable)
        maybes = tamis__bulk_query(t, &in, bits);
    else
        tamis__all_maybe(bits, n);
    if (c->validity == NULL) return maybes;
    maybes = 0;
    for (size_t i = 0; i < n; i += 8) {
        bits[i / 8] &= valid_byte(c, c->first + at + i, n - i < 8 ? n - i : 8);
        maybes += tamis__popcount(bits[i / 8]);
    }
    return maybes;
}

tamis_status tamis_may_contain_column(const tamis *t, const tamis_column *given, uint8_t *bits,
                                      size_t *maybes, tamis_error *why)
{
    struct column c;
    uint8_t room[PIECE / 8];
    size_t found = 0;
    if (maybes != NULL) *maybes = 0;
    const tamis_status s = tamis__column_open(t, given, &c, why);
    if (s != TAMIS_OK) return s;
    if (bits != NULL || c.validity == NULL)
        found = query_rows(t, &c, 0, c.rows, bits);
    else
        for (size_t at = 0; at < c.rows; at += PIECE)
            found += query_rows(t, &c, at, c.rows - at < PIECE ? c.rows - at : PIECE, room);
    if (maybes != NULL) *maybes = found;
    return TAMIS_OK;
}

/* Writes the numbers of the bits that are set among the first n, plus `at`. */
static uint32_t *list_bits(const uint8_t *bits, size_t n, size_t at, uint32_t *out)
{
    for (size_t i = 0; i < n; i += 64) {
        uint64_t word = 0;
        for (size_t j = 0; j < 8 && i + 8 * j < n; j++) word |= (uint64_t)bits[i / 8 + j] << 8 * j;
        for (; word != 0; word &= word - 1)
            *out++ = (uint32_t)(at + i + (unsigned)__builtin_ctzll(word));
    }
    return out;
}

tamis_status tamis_select_column(const tamis *t, const tamis_column *given, uint32_t *selected,
                                 size_t *found, tamis_error *why)
{
    struct column c;
    uint8_t bits[PIECE / 8];
    uint32_t *end = selected;
    if (tamis__no_out(found, why)) return TAMIS_EINVAL;
    *found = 0;
    const tamis_status s = tamis__column_open(t, given, &c, why);
    if (s != TAMIS_OK) return s;
    if (c.rows > 0 && (uint64_t)(c.rows - 1) >> 32 != 0)
        return tamis__fail(why, TAMIS_EINVAL, "a list of rows has room for 2^32 rows only");
    const struct keys all = {.column = &c, .n = c.rows};
    if (tamis__crew_pays(t, &all)) {
        /* All bits at once, at the end of the list. The list cannot reach bits that were not read
         * yet, because a number takes 4 bytes for at least one row, and its bit an eighth. */
        uint8_t *last = (uint8_t *)(selected + c.rows) - (c.rows + 7) / 8;
        query_rows(t, &c, 0, c.rows, last);
        end = list_bits(last, c.rows, 0, end);
    } else {
        for (size_t at = 0; at < c.rows; at += PIECE) {
            const size_t n = c.rows - at < PIECE ? c.rows - at : PIECE;
            if (query_rows(t, &c, at, n, bits) != 0) end = list_bits(bits, n, at, end);
        }
    }
    *found = (size_t)(end - selected);
    return TAMIS_OK;
}
