/* The verdict on a URL. The filter is asked first, and the store only about expressions that the
 * filter cannot exclude. */
#include "guard.h"

#include "idn.h"

#include <stdlib.h>
#include <string.h>

/* --- Refuted positives ------------------------------------------------------------------------ */

/* Sets of eight slots, in each of which the oldest entry is evicted first. The hashes are uniform,
 * so their first bytes choose the set. */
#define WAYS 8u
struct guard_memory {
    size_t sets;
    uint8_t *oldest; /* per set: the slot to evict next */
    uint8_t (*hashes)[GUARD_HASH_SIZE];
    uint8_t *used; /* per set: slots in use */
};

guard_memory *guard_memory_new(size_t most)
{
    guard_memory *m = calloc(1, sizeof *m);
    if (m == NULL) return NULL;
    m->sets = most / WAYS + 1;
    m->hashes = calloc(m->sets * WAYS, sizeof *m->hashes);
    m->oldest = calloc(m->sets, 1);
    m->used = calloc(m->sets, 1);
    if (m->hashes != NULL && m->oldest != NULL && m->used != NULL) return m;
    guard_memory_free(m);
    return NULL;
}

void guard_memory_free(guard_memory *m)
{
    if (m == NULL) return;
    free(m->hashes);
    free(m->oldest);
    free(m->used);
    free(m);
}

static size_t set_of(const guard_memory *m, const uint8_t *hash)
{
    uint64_t head;
    memcpy(&head, hash, sizeof head);
    return (size_t)(head % m->sets);
}

static bool was_refuted(const guard_memory *m, const uint8_t *hash)
{
    if (m == NULL) return false;
    const size_t set = set_of(m, hash);
    for (size_t i = 0; i < m->used[set]; i++)
        if (memcmp(m->hashes[set * WAYS + i], hash, GUARD_HASH_SIZE) == 0) return true;
    return false;
}

static void remember(guard_memory *m, const uint8_t *hash)
{
    if (m == NULL) return;
    const size_t set = set_of(m, hash);
    const size_t place = m->used[set] < WAYS ? m->used[set]++ : m->oldest[set]++ % WAYS;
    memcpy(m->hashes[set * WAYS + place], hash, GUARD_HASH_SIZE);
}

/* --- Verdicts --------------------------------------------------------------------------------- */

/* The bit of the label that the filter has for a hash. */
static uint64_t likely_bit(const guard *g, const uint8_t hash[GUARD_HASH_SIZE])
{
    const guard_manifest *m = guard_about(g);
    const char *label = guard_likely_label(g, hash);
    for (size_t i = 0; label != NULL && i < m->n_labels; i++)
        if (label == m->labels[i]) return UINT64_C(1) << i;
    return 0;
}

static void check_expression(const guard *g, guard_memory *memory, guard_span expression,
                             guard_answer *a)
{
    uint8_t hash[GUARD_HASH_SIZE];
    uint64_t labels = 0;
    guard_hash(expression, hash);
    if (!guard_may_list(g, hash)) return;
    a->maybes++;
    a->likely |= likely_bit(g, hash);
    if (was_refuted(memory, hash)) {
        a->refuted++;
        return;
    }
    a->asked++;
    const int found = guard_confirm(g, hash, &labels);
    if (found == 0) remember(memory, hash);
    if (found < 0 && a->verdict == GUARD_CLEAN) a->verdict = GUARD_UNCONFIRMED;
    if (found <= 0) return;
    if (a->verdict != GUARD_LISTED)
        snprintf(a->expression, sizeof a->expression, "%.*s", (int)expression.length,
                 expression.bytes);
    a->verdict = GUARD_LISTED;
    a->labels |= labels;
}

guard_answer guard_check(const guard *g, guard_memory *memory, const void *url, size_t len)
{
    guard_answer a = {.verdict = GUARD_CLEAN};
    guard_span expressions[GUARD_URL_EXPRESSIONS];
    guard_url canonical;
    char *room = malloc(GUARD_URL_ROOM(len));
    if (room == NULL) {
        a.verdict = GUARD_UNCONFIRMED;
        return a;
    }
    a.url_status = guard_url_canonical(url, len, guard_idn, room, GUARD_URL_ROOM(len), &canonical);
    if (a.url_status != GUARD_URL_OK) {
        a.verdict = GUARD_BAD_URL;
    } else {
        a.expressions = guard_url_expressions(&canonical, expressions);
        for (size_t i = 0; i < a.expressions; i++) check_expression(g, memory, expressions[i], &a);
        if (canonical.escaped_name && a.verdict == GUARD_CLEAN) {
            a.verdict = GUARD_BAD_URL;
            a.url_status = GUARD_URL_ENAME;
        }
    }
    free(room);
    return a;
}
