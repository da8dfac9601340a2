/* Every verb of the library, to be run on handles of every kind (models.h), for promises that
 * hold for all of them. The answers of a verb are appended to the scene, so that two runs can be
 * compared. Its buffers are static, because test_stack.c measures how much stack the library
 * takes. Requires _POSIX_C_SOURCE 200809L before the first include. */
#ifndef TAMIS_TEST_VERBS_H
#define TAMIS_TEST_VERBS_H

#include "check.h"
#include "models.h"
#include "tracking.h"

#include <tamis/columns.h>
#include <tamis/distinct.h>
#include <tamis/embed.h>
#include <tamis/foreign.h>
#include <tamis/inspect.h>
#include <tamis/map.h>
#include <tamis/parts.h>

struct scene {
    struct tracker a;
    tamis_options o;
    const struct model *model;
    tamis *t, *other;
    size_t done; /* of keys to be added, over several tries */
    tamis *made; /* a new handle */
    tamis_foreign *foreign;
    struct bytes_sink out; /* what was answered */
    tamis_error why;
};

/* Buffers of the verbs. */
static tamis_hash hashed[MORE];
static uint8_t bits_of_keys[MORE / 8 + 1], bits_of_hashes[MORE / 8 + 1];
static tamis_estimate estimates[2 * FIRST];
static tamis_heavy heavy[20];
static uint64_t cells[64];
static uint32_t selected[MORE];

/* Hashes of 64 bits, and the column of the keys from one on. */
static uint64_t words[MORE];

static void make_words(void)
{
    for (uint64_t i = 0; i < MORE; i++) words[i] = (i + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static tamis_column column_from(size_t first)
{
    return (tamis_column){.struct_size = sizeof(tamis_column),
                          .rows = MORE - first,
                          .first = first,
                          .data = numbers,
                          .bytes = sizeof numbers,
                          .width = sizeof *numbers};
}
static int64_t counted[MORE], uppers[2 * MORE];

static void answer(struct scene *s, const void *p, size_t n)
{
    CHECK(bytes_put(&s->out, p, n) == TAMIS_OK);
}

static tamis_status v_create(struct scene *s)
{
    const tamis_plan p = {.struct_size = sizeof p, .items = 500, .fpr = 0.01};
    return tamis_create(&p, &s->o, &s->made, &s->why);
}

static tamis_status v_load(struct scene *s)
{
    return tamis_load(s->model->image.p, s->model->image.n, &s->o, &s->made, &s->why);
}

static tamis_status v_view(struct scene *s)
{
    return tamis_view(s->model->image.p, s->model->image.n, &s->o, &s->made, &s->why);
}

/* Only with a key object, and in no memory but the room. */
static tamis_status v_view_at(struct scene *s)
{
    static uint8_t *room;
    size_t needed;
    tamis *t;
    const struct bytes *image = &s->model->image;
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_KEYLESS};
    CHECK(tamis_view_at(NULL, 0, image->p, image->n, &o, &needed, &t, NULL) == TAMIS_ENOMEM);
    room = malloc(needed);
    CHECK(room != NULL);
    CHECK_OK(tamis_view_at(room, needed, image->p, image->n, &o, NULL, &t, &s->why));
    const bool maybe = tamis_may_contain(t, keys[0].p, keys[0].len);
    answer(s, &maybe, sizeof maybe);
    free(room);
    return TAMIS_OK;
}

static tamis_status v_view_cells(struct scene *s)
{
    tamis_plan p = {.struct_size = sizeof p, .items = 500, .fpr = 0.01};
    size_t n;
    (void)tamis_raw_cells(s->t, &n);
    CHECK_OK(tamis_solve(&p, NULL, NULL));
    tamis_status st = tamis_create(&p, NULL, &s->made, &s->why);
    const void *raw = st == TAMIS_OK ? tamis_raw_cells(s->made, &n) : NULL;
    tamis *view = NULL;
    if (st == TAMIS_OK) st = tamis_view_cells(&p, raw, n, &s->o, &view, &s->why);
    tamis_close(view);
    tamis_close(s->made);
    s->made = NULL;
    return st;
}

static tamis_status v_unpack(struct scene *s)
{
    return tamis_unpack(s->model->packed.p, s->model->packed.n, &s->o, &s->made, &s->why);
}

static tamis_status v_copy(struct scene *s)
{
    return tamis_copy(s->t, &s->made, &s->why);
}

static tamis_status v_convert(struct scene *s)
{
    return tamis_convert(s->t, TAMIS_BLOOM, &s->made, &s->why);
}

/* Its bits are random: only that it comes is compared. */
static tamis_status v_release(struct scene *s)
{
    tamis *t;
    const tamis_status st = tamis_release(s->t, 1, &t, &s->why);
    CHECK((t != NULL) == (st == TAMIS_OK));
    tamis_close(t);
    return st;
}

static tamis_status v_write(struct scene *s)
{
    s->out.at = 0;
    return tamis_write(s->t, bytes_put, &s->out, &s->why);
}

static tamis_status v_pack(struct scene *s)
{
    s->out.at = 0;
    return tamis_pack(s->t, bytes_put, &s->out, &s->why);
}

static tamis_status v_add(struct scene *s)
{
    bool seen = false;
    const tamis_status st = tamis_add(s->t, "one more", 8, &seen);
    if (st == TAMIS_OK) answer(s, &seen, sizeof seen);
    s->why.status = st;
    return st;
}

/* Goes on where a failure has left it. */
static tamis_status v_add_many(struct scene *s)
{
    size_t done = 0;
    s->why.status = tamis_add_many(s->t, keys + s->done, MORE - s->done, NULL, &done);
    s->done += done;
    return s->why.status;
}

static tamis_status v_add_hashes(struct scene *s)
{
    size_t done = 0;
    s->why.status = tamis_hash_many(s->t, keys, MORE, hashed);
    if (s->why.status == TAMIS_OK)
        s->why.status = tamis_add_hashes(s->t, hashed + s->done, MORE - s->done, NULL, &done);
    s->done += done;
    return s->why.status;
}

static tamis_status v_add_hash64(struct scene *s)
{
    size_t done = 0;
    make_words();
    s->why.status = tamis_add_hash64(s->t, words + s->done, MORE - s->done, NULL, &done);
    s->done += done;
    return s->why.status;
}

static tamis_status v_add_column(struct scene *s)
{
    size_t done = 0;
    const tamis_column c = column_from(s->done);
    const tamis_status st = tamis_add_column(s->t, &c, NULL, &done, &s->why);
    s->done += done;
    return st;
}

static tamis_status v_key(struct scene *s)
{
    const tamis_plan p = {.struct_size = sizeof p, .items = 500, .fpr = 0.01};
    tamis_options o = {.struct_size = sizeof o, .memory = s->o.memory};
    tamis_key *key;
    tamis_status st = tamis_key_new(model_key, o.memory, &key, &s->why);
    CHECK((key != NULL) == (st == TAMIS_OK));
    o.shared_key = key;
    if (st == TAMIS_OK) st = tamis_create(&p, &o, &s->made, &s->why);
    tamis_close(s->made);
    s->made = NULL;
    tamis_key_close(key);
    return st;
}

static tamis_status v_add_weight(struct scene *s)
{
    return tamis_add_weight(s->t, "one more", 8, 1000, &s->why);
}

static tamis_status v_add_weight_many(struct scene *s)
{
    size_t done = 0;
    const tamis_status st = tamis_add_weight_many(s->t, keys + s->done, weights + s->done,
                                                  MORE - s->done, &done, &s->why);
    s->done += done;
    return st;
}

static tamis_status v_add_weight_hashes(struct scene *s)
{
    size_t done = 0;
    CHECK_OK(tamis_hash_many(s->t, keys, MORE, hashed));
    const tamis_status st = tamis_add_weight_hashes(s->t, hashed + s->done, weights + s->done,
                                                    MORE - s->done, &done, &s->why);
    s->done += done;
    return st;
}

static tamis_status v_add_weight_hash64(struct scene *s)
{
    size_t done = 0;
    make_words();
    const tamis_status st = tamis_add_weight_hash64(s->t, words + s->done, weights + s->done,
                                                    MORE - s->done, &done, &s->why);
    s->done += done;
    return st;
}

static tamis_status v_add_counted(struct scene *s)
{
    int64_t count = 0;
    const tamis_status st = tamis_add_counted(s->t, "one more", 8, 1, &count, &s->why);
    CHECK(count == (st == TAMIS_OK ? tamis_upper(s->t, "one more", 8) : INT64_MAX));
    answer(s, &count, sizeof count);
    return st;
}

static tamis_status v_add_counted_many(struct scene *s)
{
    size_t done = 0;
    const tamis_status st = tamis_add_counted_many(s->t, keys + s->done, weights + s->done,
                                                   MORE - s->done, counted, &done, &s->why);
    answer(s, counted, done * sizeof *counted);
    s->done += done;
    return st;
}

static tamis_status v_add_weight_column(struct scene *s)
{
    size_t done = 0;
    const tamis_column c = column_from(s->done);
    const tamis_status st = tamis_add_weight_column(s->t, &c, weights + s->done, &done, &s->why);
    s->done += done;
    return st;
}

static tamis_status v_add_counted_hashes(struct scene *s)
{
    size_t done = 0;
    CHECK_OK(tamis_hash_many(s->t, keys, MORE, hashed));
    const tamis_status st = tamis_add_counted_hashes(s->t, hashed + s->done, NULL, MORE - s->done,
                                                     counted, &done, &s->why);
    answer(s, counted, done * sizeof *counted);
    s->done += done;
    return st;
}

static tamis_status v_add_counted_column(struct scene *s)
{
    size_t done = 0;
    const tamis_column c = column_from(s->done);
    const tamis_status st =
        tamis_add_counted_column(s->t, &c, weights + s->done, counted, &done, &s->why);
    answer(s, counted, done * sizeof *counted);
    s->done += done;
    return st;
}

static tamis_status v_add_counted_hash64(struct scene *s)
{
    size_t done = 0;
    make_words();
    const tamis_status st = tamis_add_counted_hash64(s->t, words + s->done, NULL, MORE - s->done,
                                                     counted, &done, &s->why);
    answer(s, counted, done * sizeof *counted);
    s->done += done;
    return st;
}

static tamis_status v_add_value_many(struct scene *s)
{
    size_t done = 0;
    tamis_status st = tamis_add_value_many(s->t, keys + s->done, values + s->done, MORE - s->done,
                                           &done, &s->why);
    s->done += done;
    if (st == TAMIS_OK) st = tamis_add_value(s->t, keys[0].p, keys[0].len, values[0], &s->why);
    return st;
}

static tamis_status v_add_value_hashes(struct scene *s)
{
    size_t done = 0;
    CHECK_OK(tamis_hash_many(s->t, keys, MORE, hashed));
    const tamis_status st = tamis_add_value_hashes(s->t, hashed + s->done, values + s->done,
                                                   MORE - s->done, &done, &s->why);
    s->done += done;
    return st;
}

static tamis_status v_value(struct scene *s)
{
    uint32_t *one = selected, *same = selected + MORE / 2;
    const size_t n = MORE / 2;
    CHECK_OK(tamis_hash_many(s->t, keys, n, hashed));
    tamis_status st = tamis_value_many(s->t, keys, n, one, bits_of_keys, &s->why);
    if (st == TAMIS_OK) st = tamis_value_hashes(s->t, hashed, n, same, bits_of_hashes, &s->why);
    CHECK(st == TAMIS_OK || tamis_value(s->t, keys[0].p, keys[0].len, one) == st);
    if (st != TAMIS_OK) return st;
    CHECK(memcmp(one, same, n * sizeof *one) == 0);
    CHECK(memcmp(bits_of_keys, bits_of_hashes, (n + 7) / 8) == 0);
    CHECK_OK(tamis_value(s->t, keys[150].p, keys[150].len, same));
    CHECK(same[0] == one[150] && same[0] == values[150]);
    answer(s, one, n * sizeof *one);
    return st;
}

static tamis_status v_exclude(struct scene *s)
{
    return tamis_exclude(s->t, "never", 5, &s->why);
}

static tamis_status v_exclude_many(struct scene *s)
{
    return tamis_exclude_many(s->t, keys + FIRST, 500, &s->why);
}

static tamis_status v_exclude_hashes(struct scene *s)
{
    CHECK_OK(tamis_hash_many(s->t, keys + FIRST, 500, hashed));
    return tamis_exclude_hashes(s->t, hashed, 500, &s->why);
}

static tamis_status v_exclude_hash64(struct scene *s)
{
    make_words();
    return tamis_exclude_hash64(s->t, words, 500, &s->why);
}

static tamis_status v_ask_column(struct scene *s)
{
    const tamis_column c = column_from(0);
    size_t maybes, found;
    const size_t n = tamis_may_contain_many(s->t, keys, MORE, bits_of_keys);
    CHECK_OK(tamis_may_contain_column(s->t, &c, bits_of_hashes, &maybes, NULL));
    CHECK(maybes == n && memcmp(bits_of_keys, bits_of_hashes, (MORE + 7) / 8) == 0);
    CHECK_OK(tamis_select_column(s->t, &c, selected, &found, NULL));
    CHECK(found == n);
    answer(s, selected, found * sizeof *selected);
    return TAMIS_OK;
}

static tamis_status v_ask(struct scene *s)
{
    uint8_t *bits = bits_of_keys;
    make_words();
    answer(s, &words[tamis_may_contain_hash64(s->t, words, MORE, NULL) % MORE], sizeof *words);
    const tamis_hash one = tamis_hash_bytes(1, "x", 1);
    answer(s, &one, sizeof one);
    memset(cells, 0, sizeof cells);
    CHECK_OK(tamis_hash_many(s->t, keys, MORE, hashed));
    const size_t n = tamis_may_contain_many(s->t, keys, MORE, bits);
    CHECK(tamis_may_contain_hashes(s->t, hashed, MORE, bits_of_hashes) == n);
    CHECK(memcmp(bits, bits_of_hashes, (MORE + 7) / 8) == 0);
    CHECK(tamis_may_contain_many(s->t, keys, MORE, NULL) == n);
    CHECK(tamis_may_contain(s->t, keys[0].p, keys[0].len) == (bits[0] & 1));
    if (tamis_cells_of(s->t, "x", 1, cells, 64) > 0) cells[63] += tamis_cell(s->t, cells[0]);
    answer(s, bits, (MORE + 7) / 8);
    answer(s, cells, sizeof cells);
    return TAMIS_OK;
}

static tamis_status v_count(struct scene *s)
{
    tamis_estimate e = {0};
    const tamis_status st = tamis_count(s->t, keys[1].p, keys[1].len, &e, &s->why);
    if (st == TAMIS_OK) answer(s, &e.estimate, 3 * sizeof e.estimate);
    return st;
}

static tamis_status v_count_many(struct scene *s)
{
    tamis_estimate *e = estimates;
    CHECK_OK(tamis_hash_many(s->t, keys, FIRST, hashed));
    tamis_status st = tamis_count_many(s->t, keys, FIRST, e, &s->why);
    if (st == TAMIS_OK) st = tamis_count_hashes(s->t, hashed, FIRST, e + FIRST, &s->why);
    for (int i = 0; i < 2 * FIRST && st == TAMIS_OK; i++) answer(s, &e[i].upper, sizeof e[i].upper);
    return st;
}

static tamis_status v_count_column(struct scene *s)
{
    tamis_estimate *e = estimates;
    tamis_column c = column_from(0);
    c.rows = FIRST;
    make_words();
    tamis_status st = tamis_count_column(s->t, &c, e, &s->why);
    if (st == TAMIS_OK) st = tamis_count_hash64(s->t, words, FIRST, e + FIRST, &s->why);
    for (int i = 0; i < 2 * FIRST && st == TAMIS_OK; i++) answer(s, &e[i].upper, sizeof e[i].upper);
    return st;
}

static tamis_status v_upper(struct scene *s)
{
    CHECK_OK(tamis_hash_many(s->t, keys, MORE, hashed));
    tamis_upper_many(s->t, keys, MORE, uppers);
    tamis_upper_hashes(s->t, hashed, MORE, uppers + MORE);
    CHECK(memcmp(uppers, uppers + MORE, sizeof uppers / 2) == 0);
    CHECK(tamis_upper(s->t, keys[1].p, keys[1].len) == uppers[1]);
    const tamis_column c = column_from(0);
    CHECK_OK(tamis_upper_column(s->t, &c, uppers + MORE, NULL));
    CHECK(memcmp(uppers, uppers + MORE, sizeof uppers / 2) == 0);
    make_words();
    tamis_upper_hash64(s->t, words, MORE, uppers + MORE);
    answer(s, uppers, sizeof uppers / 2);
    return TAMIS_OK;
}

/* Without memory its intervals are wider, and the list the same. */
static tamis_status v_top(struct scene *s)
{
    tamis_heavy *top = heavy;
    const size_t n = tamis_top(s->t, top, 20);
    for (size_t i = 0; i < n; i++) {
        CHECK(top[i].count.lower <= top[i].count.upper);
        answer(s, &top[i].count.upper, sizeof top[i].count.upper);
    }
    return TAMIS_OK;
}

static tamis_status v_above(struct scene *s)
{
    tamis_facts f = {.struct_size = sizeof f};
    size_t found = 0;
    tamis_status st = s->why.status = tamis_info(s->t, &f);
    if (st == TAMIS_OK) st = tamis_above(s->t, f.list_floor + 1, heavy, 20, &found, &s->why);
    if (st == TAMIS_OK) answer(s, &found, sizeof found);
    return st;
}

static tamis_status v_info(struct scene *s)
{
    tamis_facts f = {.struct_size = sizeof f};
    s->why.status = tamis_info(s->t, &f);
    if (s->why.status == TAMIS_OK) answer(s, &f, sizeof f);
    return s->why.status;
}

static tamis_status v_stat(struct scene *s)
{
    tamis_facts f = {.struct_size = sizeof f};
    s->why.status = tamis_stat(s->t, &f);
    if (s->why.status == TAMIS_OK) answer(s, &f, sizeof f);
    return s->why.status;
}

static tamis_status v_remove(struct scene *s)
{
    return tamis_remove(s->t, keys[0].p, keys[0].len, &s->why);
}

static tamis_status v_remove_many(struct scene *s)
{
    uint8_t absent[MORE / 8 + 1] = {0};
    const tamis_status st = tamis_remove_many(s->t, keys, FIRST + 50, absent, &s->why);
    if (st == TAMIS_OK) answer(s, absent, sizeof absent);
    return st;
}

static tamis_status v_remove_hashes(struct scene *s)
{
    uint8_t absent[MORE / 8 + 1] = {0};
    CHECK_OK(tamis_hash_many(s->t, keys, FIRST + 50, hashed));
    const tamis_status st = tamis_remove_hashes(s->t, hashed, FIRST + 50, absent, &s->why);
    if (st == TAMIS_OK) answer(s, absent, sizeof absent);
    return st;
}

static tamis_status v_remove_hash64(struct scene *s)
{
    uint8_t absent[MORE / 8 + 1] = {0};
    make_words();
    const tamis_status st = tamis_remove_hash64(s->t, words, FIRST, absent, &s->why);
    if (st == TAMIS_OK) answer(s, absent, sizeof absent);
    return st;
}

static tamis_status v_rotate(struct scene *s)
{
    return tamis_rotate(s->t, &s->why);
}

static tamis_status v_rotate_to(struct scene *s)
{
    const tamis_status first = tamis_rotate_to(s->t, 7, &s->why);
    return first == TAMIS_OK ? tamis_rotate_to(s->t, 9, &s->why) : first;
}

static tamis_status v_merge(struct scene *s)
{
    return tamis_merge(s->t, s->other, &s->why);
}

static tamis_status v_part(struct scene *s)
{
    return tamis_part(s->t, &s->made, &s->why);
}

static tamis_status v_join(struct scene *s)
{
    tamis *const parts[] = {s->other};
    return tamis_join(s->t, parts, 1, &s->why);
}

static tamis_status v_compare(struct scene *s)
{
    tamis_similarity like = {.struct_size = sizeof like};
    const tamis_status st = tamis_compare(s->t, s->other, &like, &s->why);
    if (st == TAMIS_OK) answer(s, &like, sizeof like);
    return st;
}

static tamis_status v_distinct(struct scene *s)
{
    tamis_cardinality n = TAMIS_CARDINALITY_INIT;
    const tamis_status st = tamis_distinct(s->t, &n, &s->why);
    if (st == TAMIS_OK) answer(s, &n, sizeof n);
    return st;
}

static tamis_status v_clear(struct scene *s)
{
    return s->why.status = tamis_clear(s->t);
}

static tamis_status v_seal(struct scene *s)
{
    return tamis_seal(s->t, &s->why);
}

static tamis_status v_probability(struct scene *s)
{
    double p[4] = {0};
    tamis_evidence e = {.struct_size = sizeof e};
    CHECK_OK(tamis_hash_many(s->t, keys, 3, hashed));
    tamis_status st = tamis_probability(s->t, keys[0].p, keys[0].len, 0.5, p, &s->why);
    if (st == TAMIS_OK) st = tamis_probability_hashes(s->t, hashed, 3, 0.5, p + 1, &s->why);
    if (st == TAMIS_OK) st = tamis_evidence_of(s->t, 0.5, &e, &s->why);
    if (st == TAMIS_OK) answer(s, &e, sizeof e);
    if (st == TAMIS_OK) answer(s, p, sizeof p);
    return st;
}

/* Filters of other programs have no kinds: the format is that of the kind's number. */
static tamis_status v_foreign(struct scene *s)
{
    const tamis_foreign_plan p = {.struct_size = sizeof p,
                                  .format = 1 + s->model->kind % TAMIS_FOREIGN_GUAVA,
                                  .items = 500,
                                  .fpr = 0.01};
    tamis_foreign *f, *again = NULL;
    struct bytes_sink file = {bytes_new(1 << 14), 0};
    tamis_status st = tamis_foreign_create(&p, &s->o, &f, &s->why);
    CHECK((f != NULL) == (st == TAMIS_OK));
    if (st == TAMIS_OK) st = s->why.status = tamis_foreign_add_many(f, keys, FIRST, NULL, NULL);
    if (st == TAMIS_OK) st = tamis_foreign_write(f, TAMIS_FOREIGN_AUTO, bytes_put, &file, &s->why);
    if (st == TAMIS_OK)
        st = tamis_foreign_open(file.to.p, file.at, p.format, &s->o, &again, &s->why);
    if (st == TAMIS_OK) {
        CHECK(tamis_foreign_may_contain_many(again, keys, FIRST, NULL) == FIRST);
        answer(s, file.to.p, file.at);
    }
    tamis_foreign_close(again);
    tamis_foreign_close(f);
    free(file.to.p);
    return st;
}

enum {
    FAILS = 1,   /* with TAMIS_ENOMEM, for some kind */
    PART = 2,    /* what was done before the failure stays, and it goes on from there */
    REPEATS = 4, /* the same, but it begins again: equal once sealed */
};
static const struct verb {
    const char *name;
    tamis_status (*run)(struct scene *s);
    unsigned is;
} verbs[] = {
    {"create", v_create, FAILS},
    {"load", v_load, FAILS},
    {"view", v_view, FAILS},
    {"view at", v_view_at, 0},
    {"view cells", v_view_cells, FAILS},
    {"unpack", v_unpack, FAILS},
    {"copy", v_copy, FAILS},
    {"convert", v_convert, FAILS},
    {"release", v_release, FAILS},
    {"write", v_write, FAILS},
    {"pack", v_pack, FAILS},
    {"add", v_add, FAILS},
    {"add many", v_add_many, FAILS | PART},
    {"add hashes", v_add_hashes, FAILS | PART},
    {"add hash64", v_add_hash64, FAILS | PART},
    {"add column", v_add_column, FAILS | PART},
    {"key", v_key, FAILS},
    {"add weight", v_add_weight, 0},
    {"add weight many", v_add_weight_many, PART},
    {"add weight hashes", v_add_weight_hashes, PART},
    {"add weight hash64", v_add_weight_hash64, PART},
    {"add weight column", v_add_weight_column, PART},
    {"add counted", v_add_counted, 0},
    {"add counted many", v_add_counted_many, PART},
    {"add counted hashes", v_add_counted_hashes, PART},
    {"add counted column", v_add_counted_column, PART},
    {"add counted hash64", v_add_counted_hash64, PART},
    {"add value many", v_add_value_many, FAILS | PART},
    {"add value hashes", v_add_value_hashes, FAILS | PART},
    {"value", v_value, 0},
    {"exclude", v_exclude, FAILS},
    {"exclude many", v_exclude_many, FAILS | REPEATS},
    {"exclude hashes", v_exclude_hashes, FAILS | REPEATS},
    {"exclude hash64", v_exclude_hash64, FAILS | REPEATS},
    {"ask", v_ask, 0},
    {"ask column", v_ask_column, 0},
    {"count", v_count, FAILS},
    {"count many", v_count_many, FAILS},
    {"count column", v_count_column, FAILS},
    {"upper", v_upper, 0},
    {"top", v_top, 0},
    {"above", v_above, FAILS},
    {"info", v_info, FAILS},
    {"stat", v_stat, 0},
    {"remove", v_remove, 0},
    {"remove many", v_remove_many, 0},
    {"remove hashes", v_remove_hashes, 0},
    {"remove hash64", v_remove_hash64, 0},
    {"rotate", v_rotate, 0},
    {"rotate to", v_rotate_to, 0},
    {"merge", v_merge, FAILS},
    {"part", v_part, FAILS},
    {"join", v_join, FAILS},
    {"compare", v_compare, 0},
    {"distinct", v_distinct, 0},
    {"clear", v_clear, 0},
    {"seal", v_seal, FAILS},
    {"probability", v_probability, 0},
    {"foreign", v_foreign, FAILS},
};
enum { VERBS = sizeof verbs / sizeof *verbs };

/* --- Scenes ----------------------------------------------------------------------------------- */

static void open_scene(struct scene *s, const struct model *m)
{
    memset(s, 0, sizeof *s);
    tracker_init(&s->a);
    s->o = model_options(m, &s->a.memory);
    s->model = m;
    s->out.to = bytes_new((1 << 18) + m->image.n + m->image.n / 1024); /* packed ones included */
    CHECK_OK(tamis_load(m->image.p, m->image.n, &s->o, &s->t, NULL));
    CHECK_OK(tamis_load(m->other.p, m->other.n, &s->o, &s->other, NULL));
}

static void close_scene(struct scene *s)
{
    tamis_close(s->made);
    tamis_close(s->t);
    tamis_close(s->other);
    free(s->out.to.p);
    CHECK_THAT(s->a.blocks, ==, 0);
}

#endif
