/* A program that was written for the header of the baseline, and nothing newer. It runs with the
 * current library. Each struct that the library writes is followed by bytes that it must leave
 * alone. */
#include "tamis-baseline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NEED(truth)                                                                                \
    do {                                                                                           \
        if (!(truth)) {                                                                            \
            printf("line %d: %s\n", __LINE__, #truth);                                             \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* A struct with a guard behind it. */
#define GUARDED(type, name)                                                                        \
    struct {                                                                                       \
        type s;                                                                                    \
        unsigned char guard[256];                                                                  \
    } name;                                                                                        \
    memset(&(name), 0, sizeof(name));                                                              \
    memset((name).guard, 0xa5, sizeof(name).guard);                                                \
    (name).s.struct_size = sizeof(type)

static void need_guard(const unsigned char guard[256])
{
    for (int i = 0; i < 256; i++) NEED(guard[i] == 0xa5);
}

struct bytes {
    unsigned char p[1 << 20];
    size_t n;
};

static tamis_status append(void *ctx, const void *bytes, size_t n)
{
    struct bytes *to = ctx;
    NEED(n <= sizeof to->p - to->n);
    memcpy(to->p + to->n, bytes, n);
    to->n += n;
    return TAMIS_OK;
}

static void plans(void)
{
    GUARDED(tamis_plan, plan);
    GUARDED(tamis_promise, promise);
    plan.s.kind = TAMIS_BLOOM;
    plan.s.items = 1000;
    plan.s.fpr = 0.01;
    NEED(tamis_solve(&plan.s, &promise.s, NULL) == TAMIS_OK);
    need_guard(plan.guard);
    need_guard(promise.guard);
    NEED(plan.s.k == 7 && plan.s.bytes == promise.s.bytes && promise.s.bound_ratio > 1);
    plan.s.items = 0;
    plan.s.bytes = 0;
    plan.s.m = 0;
    tamis_error why;
    NEED(tamis_solve(&plan.s, NULL, &why) == TAMIS_EINVAL);
    NEED(why.status == TAMIS_EINVAL && why.text[0] != '\0');
}

static void sets(const char *path)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.001};
    const tamis_options options = {.struct_size = sizeof options, .flags = TAMIS_SHARED};
    const tamis_save_options new_file = {.struct_size = sizeof new_file, .flags = TAMIS_SAVE_NEW};
    tamis_error why;
    tamis *t, *again;
    bool seen = true;
    NEED(tamis_create(&plan, &options, &t, NULL) == TAMIS_OK);
    NEED(tamis_add(t, "here", 4, &seen) == TAMIS_OK && !seen);
    NEED(tamis_may_contain(t, "here", 4) && !tamis_may_contain(t, "away", 4));
    NEED(tamis_save(t, path, &new_file, &why) == TAMIS_OK);
    NEED(tamis_save(t, path, &new_file, &why) == TAMIS_EIO && why.os != 0);
    NEED(tamis_save(t, path, NULL, &why) == TAMIS_OK);
    tamis_close(t);

    NEED(tamis_open(path, NULL, &again, &why) == TAMIS_OK);
    const tamis_bytes keys[2] = {{"away", 4}, {"here", 4}};
    uint8_t bits;
    NEED(tamis_may_contain_many(again, keys, 2, &bits) == 1 && bits == 2);
    GUARDED(tamis_facts, facts);
    NEED(tamis_info(again, &facts.s) == TAMIS_OK);
    need_guard(facts.guard);
    NEED(facts.s.items == 1 && facts.s.kind == TAMIS_BLOCKED && !facts.s.overfull);
    NEED(facts.s.planned_items >= 1000 && facts.s.generation == 1 && facts.s.fill > 0);
    NEED(facts.s.items_low <= 1 && facts.s.items_high >= 1 && facts.s.items_high < 10);
    NEED(facts.s.bits_per_item == 8 * (double)facts.s.bytes && facts.s.bound_ratio > 1);
    NEED(facts.s.hash == TAMIS_XXH3 && facts.s.inner_kind == 0 && facts.s.generations == 0);
    NEED(tamis_remove(again, "here", 4, &why) == TAMIS_EUNSUPPORTED);
    NEED(tamis_kind_name(why.better_kind) != NULL);

    GUARDED(tamis_similarity, alike);
    tamis *copy;
    NEED(tamis_copy(again, &copy, NULL) == TAMIS_OK);
    NEED(tamis_compare(again, copy, &alike.s, &why) == TAMIS_OK && alike.s.jaccard_high >= 1);
    need_guard(alike.guard);
    tamis_close(copy);
    tamis_close(again);
}

static void sketches(void)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_TOP, .bytes = 1 << 16};
    tamis *t;
    NEED(tamis_create(&plan, NULL, &t, NULL) == TAMIS_OK);
    NEED(tamis_add_weight(t, "often", 5, 1000, NULL) == TAMIS_OK);
    NEED(tamis_add(t, "once", 4, NULL) == TAMIS_OK);
    tamis_estimate counts[2];
    const tamis_bytes keys[2] = {{"often", 5}, {"once", 4}};
    NEED(tamis_count_many(t, keys, 2, counts, NULL) == TAMIS_OK);
    NEED(counts[0].lower <= 1000 && counts[0].upper >= 1000 && counts[0].certain == 1000);
    NEED(counts[1].lower <= 1 && counts[1].upper >= 1 && counts[1].confidence > 0.9);
    tamis_heavy top[4];
    NEED(tamis_top(t, top, 4) == 2);
    NEED(top[0].item.len == 5 && memcmp(top[0].item.p, "often", 5) == 0 && top[0].length == 5);
    NEED(top[1].count.upper >= 1);
    tamis_close(t);
}

static void packed(void)
{
    static struct bytes file;
    const tamis_plan plan = {
        .struct_size = sizeof plan, .flags = TAMIS_TRANSFER, .items = 10000, .fpr = 0.01};
    const tamis_options options = {.struct_size = sizeof options, .max_bytes = 1 << 24};
    tamis *t, *again;
    NEED(tamis_create(&plan, NULL, &t, NULL) == TAMIS_OK);
    NEED(tamis_add(t, "here", 4, NULL) == TAMIS_OK);
    NEED(tamis_pack(t, append, &file, NULL) == TAMIS_OK && file.n < tamis_image_size(t));
    NEED(tamis_unpack(file.p, file.n, &options, &again, NULL) == TAMIS_OK);
    NEED(tamis_may_contain(again, "here", 4));
    tamis_close(again);
    tamis_close(t);
}

static void foreign(void)
{
    const tamis_foreign_plan plan = {
        .struct_size = sizeof plan, .format = TAMIS_FOREIGN_DCSO, .items = 100, .fpr = 0.01};
    tamis_foreign *f;
    NEED(tamis_foreign_create(&plan, NULL, &f, NULL) == TAMIS_OK);
    NEED(tamis_foreign_add(f, "here", 4, NULL) == TAMIS_OK);
    NEED(tamis_foreign_may_contain(f, "here", 4) && !tamis_foreign_may_contain(f, "away", 4));
    GUARDED(tamis_foreign_facts, facts);
    NEED(tamis_foreign_info(f, &facts.s) == TAMIS_OK && facts.s.items == 1);
    need_guard(facts.guard);
    tamis_foreign_close(f);
}

int main(int n, char **words)
{
    char path[4096];
    NEED(n == 2 && strlen(words[1]) < sizeof path - 16);
    snprintf(path, sizeof path, "%s/old.tamis", words[1]);
    plans();
    sets(path);
    sketches();
    packed();
    foreign();
    NEED(strlen(tamis_version()) >= 5 && strlen(tamis_status_message(TAMIS_EBUSY)) > 0);
    return 0;
}
