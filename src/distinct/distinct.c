/* distinct: how many distinct keys there were. ExaLogLog registers (registers.h), estimated by
 * maximum likelihood (likelihood.c).
 *
 * A small sketch has no registers yet. It keeps a token of 8 bytes for each distinct key, in
 * ascending order, so that it takes few bytes and its count is exact. Once there are more tokens
 * than fit in the room of the registers, or more than 2,048, the registers take over. A token has
 * all bits of the hash that registers use, so the result is the same as if there had been registers
 * from the start. Neither tokens nor registers depend on the order of the keys.
 *
 * `seen` of an add, and a query, report whether the add changes the sketch. A key that changes it
 * was certainly not there. Registers answer "maybe" for most keys; as a set, this is not useful.
 *
 * The error is 0.344 / sqrt(registers), which is 0.54 % for 4,096 registers of 4 bytes. Registers
 * with d bits for the values below the greatest compare as follows, the variance being relative:
 *
 *     d     bits of a register    bits x variance
 *     16    24                    3.82
 *     20    28                    3.70
 *     24    32                    3.80
 *
 * Registers of 32 bits are the choice because one atomic operation can change them, vector
 * instructions load them as they are, and a merge need not unpack them. The error is 1.3 % higher
 * than with d = 20 in the same memory.
 *
 * With 4,096 registers, a single add takes 4.7 ns, a bulk add with AVX-512 2.3 ns for each key, a
 * merge 7.5 us and an estimate 33 us (docs/CALLS.md). */
#include "distinct.h"
#include "../core/bulk.h"
#include "../core/cpu.h"
#include "../core/error.h"
#include "../core/memory.h"
#include "../core/plan.h"
#include "../core/single.h"
#include "../image/image.h"
#include "../kernels/kernels.h"
#include "likelihood.h"

#include <math.h>

enum { DENSE = 0, SPARSE = 1 };

#define MIN_LOG 4u  /* an error of 8.6 % in 64 bytes */
#define MAX_LOG 26u /* 0.0042 % in 256 MiB */
#define REGISTER_BYTES 4u
#define TOKEN_BYTES 8u
/* An add moves the tokens above its own, which takes 0.2 us with 2,048 of them. */
#define MOST_TOKENS 2048u
#define FIRST_ROOM 64u /* bytes for tokens, then doubled as they come */

/* --- Shape ------------------------------------------------------------------------------------ */

static unsigned log_of_registers(const struct section *s)
{
    return (unsigned)__builtin_ctzll(s->m);
}

static uint64_t most_tokens(uint64_t registers)
{
    const uint64_t fit = registers * REGISTER_BYTES / TOKEN_BYTES;
    return fit < MOST_TOKENS ? fit : MOST_TOKENS;
}

static void set_dense(struct section *s, unsigned log)
{
    s->variant = DENSE;
    s->cell_bits = 8 * REGISTER_BYTES;
    s->m = UINT64_C(1) << log;
    s->length = s->m * REGISTER_BYTES;
}

static void set_sparse(struct section *s, unsigned log, uint64_t tokens)
{
    s->variant = SPARSE;
    s->cell_bits = 8 * TOKEN_BYTES;
    s->m = UINT64_C(1) << log;
    s->length = (tokens != 0 ? tokens : 1) * TOKEN_BYTES; /* no section is empty */
}

static uint64_t token_at(const struct section *s, uint64_t i)
{
    return tamis__get64(s->cells + i * TOKEN_BYTES);
}

static uint64_t tokens_of(const struct section *s)
{
    return token_at(s, 0) != 0 ? s->length / TOKEN_BYTES : 0;
}

static uint64_t distinct_image_bytes(unsigned log)
{
    return tamis__image_bytes((uint64_t)REGISTER_BYTES << log, 1);
}

/* --- Planning --------------------------------------------------------------------------------- */

/* The fewest registers that reach an error, or MAX_LOG + 1. */
static unsigned log_for_error(double error)
{
    unsigned log = MIN_LOG;
    while (log <= MAX_LOG && tamis__distinct_error(ldexp(1, (int)log)) > error) log++;
    return log;
}

static tamis_status check_error(const tamis_plan *p, tamis_error *why)
{
    if (p->delta != 0)
        return tamis__fail(why, TAMIS_EINVAL,
                           "delta is not for distinct: its error is a standard "
                           "error");
    if (!(p->error >= 0 && p->error <= TAMIS__MOST_DISTINCT_ERROR))
        return tamis__fail(why, TAMIS_EINVAL, "the error must be above 0 and at most 30 %%");
    if (p->error == 0 && p->bytes == 0 && p->m == 0)
        return tamis__fail(
            why, TAMIS_EINVAL,
            "a distinct sketch requires an error above 0 and at most 30 %%, or bytes");
    return TAMIS_OK;
}

static tamis_status choose_registers(const tamis_plan *p, unsigned *log, tamis_error *why)
{
    *log = p->error != 0 ? log_for_error(p->error) : MIN_LOG;
    if (*log > MAX_LOG)
        return tamis__fail(why, TAMIS_EINVAL, "the least error is %.2g %%",
                           100 * tamis__distinct_error(ldexp(1, (int)MAX_LOG)));
    if (p->m != 0) {
        if ((p->m & (p->m - 1)) != 0 || p->m >> MIN_LOG == 0 || p->m >> MAX_LOG > 1)
            return tamis__fail(why, TAMIS_EINVAL, "m must be a power of two from %llu to %llu",
                               1ULL << MIN_LOG, 1ULL << MAX_LOG);
        if (p->m >> *log == 0)
            return tamis__fail(why, TAMIS_EINVAL, "%llu registers have an error of %.2g %%",
                               (unsigned long long)p->m, 100 * tamis__distinct_error((double)p->m));
        *log = (unsigned)__builtin_ctzll(p->m);
    } else if (p->error == 0) {
        while (*log < MAX_LOG && distinct_image_bytes(*log + 1) <= p->bytes) ++*log;
    }
    if (p->bytes != 0 && distinct_image_bytes(*log) > p->bytes)
        return tamis__fail(why, TAMIS_EINVAL, "%llu bytes are too few: at least %llu are needed",
                           (unsigned long long)p->bytes,
                           (unsigned long long)distinct_image_bytes(*log));
    return TAMIS_OK;
}

static tamis_status distinct_solve(tamis_plan *p, tamis_promise *promise, tamis_error *why)
{
    unsigned log;
    (void)promise;
    tamis_status s = check_error(p, why);
    if (s == TAMIS_OK) s = choose_registers(p, &log, why);
    if (s != TAMIS_OK) return s;
    if (p->k > 1) return tamis__fail(why, TAMIS_EINVAL, "k must be 1, not %u", p->k);
    p->k = 1;
    p->m = UINT64_C(1) << log;
    p->bytes = distinct_image_bytes(log);
    p->error = tamis__distinct_error((double)p->m);
    return TAMIS_OK;
}

static uint32_t distinct_layout(const tamis_plan *plan, struct section *out)
{
    if (out == NULL) return 1;
    memset(out, 0, sizeof *out);
    out->role = TAMIS__ROLE_CELLS;
    out->kind = TAMIS_DISTINCT;
    out->k = 1;
    const unsigned log = (unsigned)__builtin_ctzll(plan->m);
    if (plan->generations != 0) /* in a window */
        set_dense(out, log);
    else
        set_sparse(out, log, 0);
    return 1;
}

/* --- Images ----------------------------------------------------------------------------------- */

static const char *distinct_wrong_shape(const struct body *b)
{
    const struct section *s = b->sections;
    if (b->count != 1) return "this kind has exactly one section";
    if (s->kind != TAMIS_DISTINCT) return "the section is not of this kind";
    if (s->k != 1) return "k is not 1";
    if (s->m == 0 || (s->m & (s->m - 1)) != 0 || s->m >> MIN_LOG == 0 || s->m >> MAX_LOG > 1)
        return "m is not a power of two in range";
    if (s->variant == DENSE) {
        if (s->cell_bits != 8 * REGISTER_BYTES) return "registers have 32 bits";
        return s->length == s->m * REGISTER_BYTES ? NULL : "the length does not fit the registers";
    }
    if (s->cell_bits != 8 * TOKEN_BYTES) return "tokens have 64 bits";
    if (s->length % TOKEN_BYTES != 0 || s->length / TOKEN_BYTES > most_tokens(s->m))
        return "the length does not fit the tokens";
    return NULL;
}

static bool is_register(uint32_t r)
{
    const unsigned greatest = r >> TAMIS__REGISTER_WINDOW;
    if (greatest > TAMIS__MOST_VALUE) return false;
    if (greatest > TAMIS__REGISTER_WINDOW) return true;
    /* The values below 1, which do not exist. */
    return greatest == 0
               ? r == 0
               : (r & ((UINT32_C(1) << (TAMIS__REGISTER_WINDOW + 1 - greatest)) - 1)) == 0;
}

static const char *distinct_wrong_cells(const struct body *b)
{
    const struct section *s = b->sections;
    if (s->variant == DENSE) {
        for (uint64_t i = 0; i < s->m; i++)
            if (!is_register(tamis__get32(s->cells + i * REGISTER_BYTES)))
                return "a register has a state that no keys lead to";
        return NULL;
    }
    const uint64_t n = s->length / TOKEN_BYTES;
    if (n == 1 && token_at(s, 0) == 0) return NULL; /* empty */
    for (uint64_t i = 0; i < n; i++) {
        const unsigned value = tamis__token_value(token_at(s, i));
        if (value == 0 || value > TAMIS__MOST_VALUE) return "a token has no value";
        if (i > 0 && token_at(s, i) <= token_at(s, i - 1)) return "tokens are not in order";
    }
    return NULL;
}

/* --- Registers -------------------------------------------------------------------------------- */

static uint8_t *register_of(const struct section *s, unsigned log, uint64_t hi)
{
    return s->cells + (hi >> (64 - log)) * REGISTER_BYTES;
}

/* Returns whether the register already was in this state. */
static bool put_value(uint8_t *at, unsigned value)
{
    const uint32_t r = tamis__get32(at), with = tamis__register_with(r, value);
    if (with == r) return true;
    tamis__put32(at, with);
    return false;
}

/* The same where other threads do so as well. */
static bool put_value_shared(uint8_t *at, unsigned value)
{
    uint32_t *cell = (uint32_t *)(void *)at;
    uint32_t was = __atomic_load_n(cell, __ATOMIC_RELAXED), stored;
    do {
        const uint32_t r = TAMIS__LITTLE32(was), with = tamis__register_with(r, value);
        if (with == r) return true;
        stored = TAMIS__LITTLE32(with);
    } while (
        !__atomic_compare_exchange_n(cell, &was, stored, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return false;
}

/* Other threads may be changing it. */
static uint32_t load_register(const uint8_t *at)
{
    return TAMIS__LITTLE32(__atomic_load_n((const uint32_t *)(const void *)at, __ATOMIC_RELAXED));
}

/* What answers for eight hashes at once, or NULL. A lean build has no use for the kernels. */
static tamis__register_asker *fast_asker(const struct body *b)
{
#ifdef TAMIS_LEAN
    (void)b;
    return NULL;
#else
    return b->shared ? NULL : tamis__kernels()->registers_know;
#endif
}

/* Sets the bit of each hash that leaves its register as it is. */
static void known_in_registers(const struct body *b, const tamis_hash *h, size_t n, uint8_t *known)
{
    const struct section *s = b->sections;
    const unsigned log = log_of_registers(s);
    tamis__register_asker *fast = fast_asker(b);
    const size_t done = fast != NULL ? n / 8 * 8 : 0;
    if (done != 0) fast(s->cells, log, h, done, known);
    for (size_t i = done; i < n; i += 8) {
        unsigned bits = 0;
        for (size_t j = i; j < n && j < i + 8; j++) {
            const uint32_t r = load_register(register_of(s, log, h[j].hi));
            bits |= (unsigned)tamis__register_knows(r, tamis__value_of(h[j])) << (j - i);
        }
        known[i / 8] = (uint8_t)bits;
    }
}

/* Puts those of eight keys or fewer that are not known. The first may be known by the time of the
 * second. */
static uint8_t put_unknown(struct body *b, const tamis_hash *h, size_t n, unsigned known)
{
    const struct section *s = b->sections;
    for (size_t i = 0; i < n; i++) {
        if ((known >> i & 1) != 0) continue;
        uint8_t *at = register_of(s, log_of_registers(s), h[i].hi);
        const unsigned value = tamis__value_of(h[i]);
        const bool same = b->shared ? put_value_shared(at, value) : put_value(at, value);
        known |= (unsigned)same << i;
    }
    return (uint8_t)known;
}

/* Most keys of a large set change nothing, so all are tested before any is put. */
static void add_dense(struct body *b, const struct batch *keys, uint8_t *seen)
{
    known_in_registers(b, keys->hashes, keys->n, seen);
    for (size_t i = 0; i < keys->n; i += 8) {
        const size_t n = keys->n - i < 8 ? keys->n - i : 8;
        if (seen[i / 8] != (1u << n) - 1)
            seen[i / 8] = put_unknown(b, keys->hashes + i, n, seen[i / 8]);
    }
}

/* --- Tokens ----------------------------------------------------------------------------------- */

/* The number of tokens below this one. */
static uint64_t tokens_below(const struct section *s, uint64_t n, uint64_t token)
{
    uint64_t low = 0;
    for (uint64_t high = n; low < high;) {
        const uint64_t mid = low + (high - low) / 2;
        if (token_at(s, mid) < token)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

/* Makes registers of the tokens. */
static tamis_status make_dense(struct body *b)
{
    struct section dense = *b->sections;
    const uint64_t n = tokens_of(b->sections);
    const unsigned log = log_of_registers(b->sections);
    set_dense(&dense, log);
    if (b->extra->max_bytes != 0 && distinct_image_bytes(log) > b->extra->max_bytes)
        return TAMIS_EFULL;
    dense.cells = tamis__alloc(b->memory, dense.length);
    if (dense.cells == NULL) return TAMIS_ENOMEM;
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t token = token_at(b->sections, i);
        put_value(register_of(&dense, log, token), tamis__token_value(token));
    }
    tamis__free(b->memory, b->sections->cells);
    dense.room = dense.length;
    *b->sections = dense;
    return TAMIS_OK;
}

static tamis_status make_token_room(struct body *b, uint64_t n)
{
    struct section *s = b->sections;
    const uint64_t bytes = n * TOKEN_BYTES;
    if (b->extra->max_bytes != 0 && tamis__image_bytes(bytes, 1) > b->extra->max_bytes)
        return TAMIS_EFULL;
    if (bytes <= s->room) return TAMIS_OK;
    const uint64_t room = 2 * bytes > FIRST_ROOM ? 2 * bytes : FIRST_ROOM;
    uint8_t *cells = tamis__alloc_unset(b->memory, room);
    if (cells == NULL) return TAMIS_ENOMEM;
    memcpy(cells, s->cells, (size_t)s->length);
    tamis__free(b->memory, s->cells);
    s->cells = cells;
    s->room = room;
    return TAMIS_OK;
}

/* Adds a token to a sketch that has not too many. *seen: it was there. */
static tamis_status add_token(struct body *b, uint64_t token, bool *seen)
{
    struct section *s = b->sections;
    const uint64_t n = tokens_of(s), at = tokens_below(s, n, token);
    *seen = at < n && token_at(s, at) == token;
    if (*seen) return TAMIS_OK;
    const tamis_status status = make_token_room(b, n + 1);
    if (status != TAMIS_OK) return status;
    uint8_t *place = s->cells + at * TOKEN_BYTES;
    memmove(place + TOKEN_BYTES, place, (size_t)(n - at) * TOKEN_BYTES);
    tamis__put64(place, token);
    set_sparse(s, log_of_registers(s), n + 1);
    return TAMIS_OK;
}

static bool has_token(const struct section *s, uint64_t token)
{
    const uint64_t n = tokens_of(s), at = tokens_below(s, n, token);
    return at < n && token_at(s, at) == token;
}

/* --- The verbs -------------------------------------------------------------------------------- */

/* Adds a key to tokens, or to the registers that they become or became. *seen: it was there. */
static tamis_status add_sparse(struct body *b, tamis_hash h, bool *seen)
{
    const struct section *s = b->sections;
    if (s->variant == DENSE) {
        *seen = put_value(register_of(s, log_of_registers(s), h.hi), tamis__value_of(h));
        return TAMIS_OK;
    }
    const uint64_t token = tamis__token_of(h);
    if (tokens_of(s) < most_tokens(s->m)) return add_token(b, token, seen);
    *seen = has_token(s, token);
    if (*seen) return TAMIS_OK;
    const tamis_status status = make_dense(b);
    if (status == TAMIS_OK)
        put_value(register_of(s, log_of_registers(s), h.hi), tamis__value_of(h));
    return status;
}

static tamis_status distinct_add(struct body *b, const struct batch *keys, uint8_t *seen,
                                 size_t *done)
{
    if (b->sections->variant == DENSE) {
        add_dense(b, keys, seen);
        return TAMIS_OK;
    }
    memset(seen, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        bool known = false;
        const tamis_status status = add_sparse(b, keys->hashes[i], &known);
        *done = i;
        if (status != TAMIS_OK) return status;
        seen[i / 8] = (uint8_t)(seen[i / 8] | known << i % 8);
    }
    return TAMIS_OK;
}

static void distinct_prefetch(const struct body *b, const struct batch *keys)
{
    const struct section *s = b->sections;
    if (s->variant == SPARSE) return; /* 16 KiB at most */
    for (size_t i = 0; i < keys->n; i++)
        TAMIS__PREFETCH(register_of(s, log_of_registers(s), keys->hashes[i].hi));
}

static void distinct_query(const struct body *b, const struct batch *keys, uint8_t *bits)
{
    const struct section *s = b->sections;
    if (s->variant == DENSE) {
        known_in_registers(b, keys->hashes, keys->n, bits);
        return;
    }
    memset(bits, 0, (keys->n + 7) / 8);
    for (size_t i = 0; i < keys->n; i++) {
        const bool had = has_token(s, tamis__token_of(keys->hashes[i]));
        bits[i / 8] = (uint8_t)(bits[i / 8] | had << i % 8);
    }
}

#ifdef TAMIS__SINGLES
TAMIS__SPECIALIZED bool single_distinct_has(const struct section *s, tamis_hash h)
{
    if (s->variant == SPARSE) return has_token(s, tamis__token_of(h));
    const uint32_t r = tamis__get32(register_of(s, log_of_registers(s), h.hi));
    return tamis__register_knows(r, tamis__value_of(h));
}

static TAMIS__APART tamis_status single_distinct_change(tamis *t, tamis_hash h, bool *seen)
{
    return tamis__add_key(t, NULL, h, seen);
}

/* Most keys of a large set change nothing. */
TAMIS__SPECIALIZED tamis_status single_distinct_put(tamis *t, tamis_hash h, bool *seen)
{
    const struct section *s = t->body.sections;
    if (s->variant == SPARSE || !single_distinct_has(s, h))
        return single_distinct_change(t, h, seen);
    if (seen != NULL) *seen = true;
    return TAMIS_OK;
}

TAMIS__ASK_SINGLE(distinct, , single_distinct_has)
TAMIS__ADD_SINGLE_BY(distinct, , single_distinct_put)

static const struct single *distinct_single(const struct body *b)
{
    static const struct single one = {.ask = single_distinct_ask,
                                      .add = single_distinct_add,
                                      .ask_hash = single_distinct_ask_hash,
                                      .add_hash = single_distinct_add_hash};
    (void)b;
    return &one;
}
#endif

static tamis_status distinct_share(struct body *b)
{
    return b->sections->variant == SPARSE ? make_dense(b) : TAMIS_OK;
}

static void distinct_clear(struct body *b)
{
    struct section *s = b->sections;
    memset(s->cells, 0, (size_t)s->length);
    if (b->shared) return;
    set_sparse(s, log_of_registers(s), 0);
}

/* --- Unions ----------------------------------------------------------------------------------- */

/* A walk through one section, register by register of a sketch with fewer or as many registers. */
struct walk {
    const struct body *body;
    const struct section *s;
    uint64_t token; /* the next one, if it is sparse */
};

/* The state of register i of 2^log. Must be called for every i in ascending order. */
static uint32_t walk_to(struct walk *w, unsigned log, uint64_t i)
{
    uint32_t r = 0;
    if (w->s->variant == SPARSE) {
        const uint64_t n = tokens_of(w->s);
        for (; w->token < n && token_at(w->s, w->token) >> (64 - log) == i; w->token++)
            r = tamis__register_with(r, tamis__token_value(token_at(w->s, w->token)));
        return r;
    }
    const unsigned more = log_of_registers(w->s) - log;
    const uint8_t *at = w->s->cells + (i << more) * REGISTER_BYTES;
    for (uint64_t j = 0; j >> more == 0; j++)
        r = tamis__register_union(r, load_register(at + j * REGISTER_BYTES));
    return r;
}

/* How many tokens two sparse sections have together. */
static uint64_t tokens_together(const struct section *a, const struct section *b)
{
    const uint64_t na = tokens_of(a), nb = tokens_of(b);
    uint64_t i = 0, j = 0, n = 0;
    for (; i < na && j < nb; n++) {
        const uint64_t x = token_at(a, i), y = token_at(b, j);
        i += x <= y;
        j += y <= x;
    }
    return n + (na - i) + (nb - j);
}

static void merge_tokens(const struct section *a, const struct section *b, uint8_t *out)
{
    const uint64_t na = tokens_of(a), nb = tokens_of(b);
    for (uint64_t i = 0, j = 0; i < na || j < nb; out += TOKEN_BYTES) {
        const uint64_t x = i < na ? token_at(a, i) : UINT64_MAX;
        const uint64_t y = j < nb ? token_at(b, j) : UINT64_MAX;
        tamis__put64(out, x < y ? x : y);
        i += x <= y;
        j += y <= x;
    }
}

static unsigned lower_log(const struct section *a, const struct section *b)
{
    return log_of_registers(a->m < b->m ? a : b);
}

static void unite_registers(uint8_t *into, const uint8_t *from, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++, into += REGISTER_BYTES, from += REGISTER_BYTES)
        tamis__put32(into, tamis__register_union(tamis__get32(into), load_register(from)));
}

/* Writes the union into new cells, or into those of `into` if it is dense already. */
static tamis_status merge_dense(struct body *into, const struct body *from, struct section *out)
{
    const unsigned log = lower_log(into->sections, from->sections);
    struct walk mine = {into, into->sections, 0}, theirs = {from, from->sections, 0};
    set_dense(out, log);
    if (into->sections->variant == SPARSE) {
        if (into->extra->max_bytes != 0 && distinct_image_bytes(log) > into->extra->max_bytes)
            return TAMIS_EFULL;
        out->cells = tamis__alloc(into->memory, out->length);
        if (out->cells == NULL) return TAMIS_ENOMEM;
        out->room = out->length;
    }
    if (into->sections->variant == DENSE && from->sections->variant == DENSE &&
        into->sections->m == from->sections->m) {
        unite_registers(out->cells, from->sections->cells, out->m);
        return TAMIS_OK;
    }
    for (uint64_t i = 0; i < out->m; i++)
        tamis__put32(out->cells + i * REGISTER_BYTES,
                     tamis__register_union(walk_to(&mine, log, i), walk_to(&theirs, log, i)));
    return TAMIS_OK;
}

static tamis_status merge_sparse(struct body *into, const struct body *from, uint64_t n,
                                 struct section *out)
{
    set_sparse(out, lower_log(into->sections, from->sections), n);
    if (into->extra->max_bytes != 0 && tamis__image_bytes(out->length, 1) > into->extra->max_bytes)
        return TAMIS_EFULL;
    out->cells = tamis__alloc(into->memory, out->length);
    if (out->cells == NULL) return TAMIS_ENOMEM;
    out->room = out->length;
    merge_tokens(into->sections, from->sections, out->cells);
    return TAMIS_OK;
}

static tamis_status distinct_merge(struct body *into, const struct body *from)
{
    const struct section *a = into->sections, *b = from->sections;
    struct section out = *a;
    tamis_status status = TAMIS_OK;
    const bool sparse = a->variant == SPARSE && b->variant == SPARSE;
    const uint64_t n = sparse ? tokens_together(a, b) : 0;
    if (sparse && n <= most_tokens(a->m < b->m ? a->m : b->m))
        status = merge_sparse(into, from, n, &out);
    else
        status = merge_dense(into, from, &out);
    if (status != TAMIS_OK) return status;
    if (out.cells != a->cells) tamis__free(into->memory, a->cells);
    *into->sections = out;
    return TAMIS_OK;
}

/* --- Rate and items --------------------------------------------------------------------------- */

static void gauge_exactly(uint64_t n, uint64_t registers, struct gauge *out)
{
    const double items = (double)n;
    out->items = (struct estimate){items, items, items};
    out->cells = registers;
    out->hit = n < registers ? n : registers;
    out->rate = ldexp(items, -56) / 12;
}

/* The state of register i of 2^log in the union of all sections. `first` walks through the first
 * one; if there are more, as in a window, none is sparse. */
static uint32_t walk_all(struct walk *first, unsigned log, uint64_t i)
{
    uint32_t r = walk_to(first, log, i);
    for (uint32_t j = 1; j < first->body->count; j++) {
        struct walk other = {first->body, first->body->sections + j, 0};
        r = tamis__register_union(r, walk_to(&other, log, i));
    }
    return r;
}

static TAMIS__APART void gauge_registers(const struct body *b, const struct body *other, double z,
                                         struct gauge *out)
{
    struct evidence e;
    const unsigned log =
        other != NULL ? lower_log(b->sections, other->sections) : log_of_registers(b->sections);
    struct walk mine = {b, b->sections, 0}, theirs = {other, NULL, 0};
    if (other != NULL) theirs.s = other->sections;
    memset(&e, 0, sizeof e);
    for (uint64_t i = 0; i >> log == 0; i++) {
        uint32_t r = walk_all(&mine, log, i);
        if (other != NULL) r = tamis__register_union(r, walk_all(&theirs, log, i));
        tamis__evidence_add(&e, r);
    }
    tamis__evidence_close(&e);
    out->items = tamis__most_likely(&e, z);
    out->rate = tamis__unchanged_share(&e);
    out->cells = e.registers;
    out->hit = e.registers - e.greatest[0];
}

static void distinct_gauge(const struct body *b, const struct body *other, double z,
                           struct gauge *out)
{
    const struct section *s = b->sections;
    if (s->variant == SPARSE && other == NULL)
        gauge_exactly(tokens_of(s), s->m, out);
    else if (s->variant == SPARSE && other->sections->variant == SPARSE)
        gauge_exactly(tokens_together(s, other->sections), s->m, out);
    else
        gauge_registers(b, other, z, out);
}

const struct kind tamis__distinct = {
    .id = TAMIS_DISTINCT,
    .name = "distinct",
    .traits = TAMIS__GROWS | TAMIS__COMPARES | TAMIS__SHARES | TAMIS__DISTINCT,
    .accepts = TAMIS__PLANS_ERROR,
    .variants = SPARSE,
    .solve = distinct_solve,
    .layout = distinct_layout,
    .wrong_shape = distinct_wrong_shape,
    .wrong_cells = distinct_wrong_cells,
    .prefetch = distinct_prefetch,
    .add = distinct_add,
    .query = distinct_query,
    .single = TAMIS__SINGLE(distinct_single),
    .share = distinct_share,
    .clear = distinct_clear,
    .merge = distinct_merge,
    .gauge = distinct_gauge,
};
