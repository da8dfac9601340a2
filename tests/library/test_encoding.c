/* How keys are encoded: what a plan may state, that an image records it and everything keeps it,
 * and that keys of another length are refused or get "maybe", and change nothing. */
#define _POSIX_C_SOURCE 200809L
#include "../support/filters.h"
#include "../support/room.h"

#include <tamis/count.h>
#include <tamis/publish.h>
#include <unistd.h>

#define LENGTH(a) (sizeof(a) / sizeof *(a))

static const struct stated {
    uint32_t encoding, width, len; /* len: what keys must have; 0: any */
} all[] = {{TAMIS_KEYS_UNSTATED, 0, 0}, {TAMIS_KEYS_TEXT, 0, 0},
           {TAMIS_KEYS_INT64, 0, 8},    {TAMIS_KEYS_FIXED, 5, 5},
           {TAMIS_KEYS_FIXED, 20, 20},  {TAMIS_KEYS_FIXED, 65535, 65535},
           {TAMIS_KEYS_SHA256, 0, 32},  {TAMIS_KEYS_CALLER, 0, 0}};

/* Every kind that can be created, sketches and a window of sketches among them. */
static const uint32_t kinds[][2] = {{TAMIS_BLOOM, 0},
                                    {TAMIS_PARTITIONED, 0},
                                    {TAMIS_BLOCKED, 0},
                                    {TAMIS_COUNTING, 0},
                                    {TAMIS_PAIR, 0},
                                    {TAMIS_GROWING, 0},
                                    {TAMIS_WINDOW, 0},
                                    {TAMIS_CUCKOO, 0},
                                    {TAMIS_FUSE, 0},
                                    {TAMIS_RIBBON, 0},
                                    {TAMIS_EXACT, 0},
                                    {TAMIS_COUNT_MIN, 0},
                                    {TAMIS_COUNT_SKETCH, 0},
                                    {TAMIS_TALLY, 0},
                                    {TAMIS_TOP, 0},
                                    {TAMIS_SIGNED_TALLY, 0},
                                    {TAMIS_WINDOW, TAMIS_TALLY},
                                    {TAMIS_DISTINCT, 0},
                                    {TAMIS_WINDOW, TAMIS_DISTINCT}};

static bool counts(size_t i)
{
    return kinds[i][0] >= TAMIS_COUNT_MIN || kinds[i][1] != 0;
}

static bool weighs(size_t i)
{
    return counts(i) && kinds[i][0] != TAMIS_DISTINCT && kinds[i][1] != TAMIS_DISTINCT;
}

static tamis *make(size_t i, const struct stated *s, uint64_t items)
{
    tamis_plan p = plan_of(kinds[i][0], counts(i) ? 0 : items);
    p.inner_kind = kinds[i][1];
    p.encoding = s->encoding;
    p.key_width = s->width;
    if (counts(i)) p.fpr = 0, p.bytes = 1 << 16;
    if (p.kind == TAMIS_EXACT) p.excluded = 100;
    return create(&p, NULL);
}

static const struct stated int64le = {TAMIS_KEYS_INT64, 0, 8}, unstated;

static bool states(const tamis *t, const struct stated *s)
{
    tamis_facts f = {.struct_size = sizeof f}, g = facts_of(t);
    CHECK_OK(tamis_stat(t, &f));
    CHECK(f.encoding == g.encoding && f.key_width == g.key_width);
    return f.encoding == s->encoding && f.key_width == s->len;
}

/* --- Plans ------------------------------------------------------------------------------------ */

static void plans(void)
{
    for (size_t i = 0; i < LENGTH(all); i++) {
        tamis_plan p = plan_of(TAMIS_AUTO, 1000), plain = p, again;
        p.encoding = all[i].encoding;
        p.key_width = all[i].width;
        CHECK_OK(tamis_solve(&p, NULL, NULL));
        CHECK_OK(tamis_solve(&plain, NULL, NULL));
        CHECK(p.key_width == all[i].len && p.encoding == all[i].encoding);
        again = p;
        CHECK_OK(tamis_solve(&again, NULL, NULL));
        CHECK(memcmp(&again, &p, sizeof p) == 0);
        p.encoding = p.key_width = 0;
        CHECK(memcmp(&p, &plain, sizeof p) == 0); /* the shape does not depend on it */
    }
}

static void plans_that_make_no_sense(void)
{
    static const uint32_t wrong[][2] = {
        {TAMIS_KEYS_UNSTATED, 1}, {TAMIS_KEYS_TEXT, 8},         {TAMIS_KEYS_INT64, 4},
        {TAMIS_KEYS_FIXED, 0},    {TAMIS_KEYS_FIXED, 65536},    {TAMIS_KEYS_FIXED, UINT32_MAX},
        {TAMIS_KEYS_SHA256, 20},  {TAMIS_KEYS_CALLER, 32},      {TAMIS_KEYS_CALLER + 1, 0},
        {UINT32_MAX, 0},          {TAMIS_KEYS_UNSTATED, 65536}, {256, 0}};
    for (size_t i = 0; i < LENGTH(wrong); i++) {
        tamis_plan p = plan_of(TAMIS_BLOCKED, 1000);
        p.encoding = wrong[i][0];
        p.key_width = wrong[i][1];
        const tamis_plan before = p;
        tamis *t;
        tamis_error why;
        CHECK_THAT(tamis_solve(&p, NULL, &why), ==, TAMIS_EINVAL);
        CHECK(why.text[0] != '\0' && memcmp(&p, &before, sizeof p) == 0);
        CHECK_THAT(tamis_create(&p, NULL, &t, &why), ==, TAMIS_EINVAL);
        CHECK(t == NULL && why.text[0] != '\0');
    }
}

/* A program that was built before these fields states nothing. */
static void shorter_plans(void)
{
    tamis_plan p = plan_of(TAMIS_BLOCKED, 1000);
    p.encoding = TAMIS_KEYS_INT64;
    p.struct_size = offsetof(tamis_plan, encoding);
    tamis *t;
    CHECK_OK(tamis_create(&p, NULL, &t, NULL));
    CHECK(states(t, &unstated));
    CHECK_OK(tamis_add(t, "any", 3, NULL));
    struct {
        tamis_facts f;
    } room;
    memset(&room, 0xab, sizeof room);
    room.f.struct_size = offsetof(tamis_facts, encoding);
    CHECK_OK(tamis_info(t, &room.f));
    CHECK(room.f.encoding == 0xabababab && room.f.key_width == 0xabababab);
    tamis_close(t);
}

static void names(void)
{
    CHECK(tamis_encoding_name(TAMIS_KEYS_UNSTATED) == NULL);
    CHECK(strcmp(tamis_encoding_name(TAMIS_KEYS_TEXT), "text") == 0);
    CHECK(strcmp(tamis_encoding_name(TAMIS_KEYS_INT64), "int64le") == 0);
    CHECK(strcmp(tamis_encoding_name(TAMIS_KEYS_FIXED), "fixed") == 0);
    CHECK(strcmp(tamis_encoding_name(TAMIS_KEYS_SHA256), "sha256") == 0);
    CHECK(strcmp(tamis_encoding_name(TAMIS_KEYS_CALLER), "caller") == 0);
    CHECK(tamis_encoding_name(TAMIS_KEYS_CALLER + 1) == NULL);
    CHECK(tamis_encoding_name(UINT32_MAX) == NULL);
}

/* --- One key ---------------------------------------------------------------------------------- */

static void check_reason(tamis_status s, const tamis_error *why)
{
    CHECK_THAT(s, ==, TAMIS_EINVAL);
    CHECK(why->status == s && strstr(why->text, "bytes each; this key has") != NULL);
}

/* All calls of a single key, each with a key of this wrong length. None changes the filter. */
static void refuse_one(size_t i, tamis *t, const void *key, size_t len)
{
    struct bytes before = image_of(t);
    tamis_error why;
    bool seen = true;
    uint64_t cells[64];
    tamis_estimate e, untouched;
    memset(&e, 0xab, sizeof e);
    untouched = e;
    CHECK_THAT(tamis_add(t, key, len, &seen), ==, TAMIS_EINVAL);
    CHECK(!seen);
    CHECK_THAT(tamis_add(t, key, len, NULL), ==, TAMIS_EINVAL);
    CHECK(tamis_may_contain(t, key, len));
    CHECK_THAT(tamis_cells_of(t, key, len, cells, 64), ==, 0);
    tamis_status s = tamis_remove(t, key, len, &why);
    if (s != TAMIS_EUNSUPPORTED) check_reason(s, &why);
    s = tamis_exclude(t, key, len, &why);
    if (kinds[i][0] == TAMIS_EXACT)
        check_reason(s, &why);
    else
        CHECK_THAT(s, ==, TAMIS_EUNSUPPORTED);
    s = tamis_add_weight(t, key, len, 7, &why);
    if (weighs(i)) check_reason(s, &why);
    s = tamis_count(t, key, len, &e, &why);
    if (s != TAMIS_EUNSUPPORTED) check_reason(s, &why);
    CHECK(!weighs(i) || s == TAMIS_EINVAL);
    CHECK(memcmp(&e, &untouched, sizeof e) == 0);
    struct bytes after = image_of(t);
    CHECK(bytes_equal(before, after));
    free(before.p);
    free(after.p);
}

static void wrong_lengths(void)
{
    static const uint8_t key[65537];
    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (size_t e = 0; e < LENGTH(all); e++) {
            const size_t len = all[e].len;
            if (len == 0) continue;
            tamis *t = make(i, &all[e], 100);
            CHECK_OK(tamis_add(t, key, len, NULL));
            CHECK(tamis_may_contain(t, key, len));
            const size_t wrong[] = {0, len - 1, len + 1};
            for (size_t w = 0; w < LENGTH(wrong); w++) refuse_one(i, t, key, wrong[w]);
            tamis_close(t);
        }
}

static void any_length(void)
{
    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (size_t e = 0; e < LENGTH(all); e++) {
            if (all[e].len != 0) continue;
            tamis *t = make(i, &all[e], 100);
            for (size_t len = 0; len < 40; len++)
                CHECK_OK(tamis_add(t, "1234567890123456789012345678901234567890", len, NULL));
            tamis_close(t);
        }
}

/* A read-only handle says so first, and one without its secret key, too. */
static void other_reasons_come_first(void)
{
    tamis_plan p = plan_of(TAMIS_COUNTING, 100);
    p.encoding = TAMIS_KEYS_INT64;
    tamis *t = create(&p, secret), *keyless;
    struct bytes image = image_of(t);
    const tamis_options o = {.struct_size = sizeof o, .flags = TAMIS_KEYLESS};
    CHECK_OK(tamis_load(image.p, image.n, &o, &keyless, NULL));
    CHECK(states(keyless, &int64le));
    CHECK_THAT(tamis_add(keyless, "abc", 3, NULL), ==, TAMIS_EKEY);
    CHECK_THAT(tamis_remove(keyless, "abc", 3, NULL), ==, TAMIS_EKEY);
    CHECK(tamis_may_contain(keyless, "abc", 3) && tamis_may_contain(keyless, "12345678", 8));
    CHECK_OK(tamis_seal(t, NULL));
    CHECK_THAT(tamis_add(t, "abc", 3, NULL), ==, TAMIS_ESEALED);
    CHECK_THAT(tamis_remove(t, "abc", 3, NULL), ==, TAMIS_ESEALED);
    free(image.p);
    tamis_close(keyless);
    tamis_close(t);
}

/* --- Many keys -------------------------------------------------------------------------------- */

/* The test is run with each number of keys, and with the first wrong one at each of these places;
 * from there on every third is wrong. */
#define MOST_KEYS 600
static const size_t numbers[] = {0, 1, 7, 8, 9, 127, 128, 129, 300, MOST_KEYS};
static const size_t places[] = {0, 1, 7, 8, 9, 127, 128, 200, 255, 599, MOST_KEYS};
static uint64_t raw[MOST_KEYS + 1];
static tamis_bytes list[MOST_KEYS];

static size_t make_list(size_t n, size_t first_wrong)
{
    for (size_t i = 0; i < n; i++) {
        raw[i] = i * i % 1000;
        const bool wrong = i >= first_wrong && (i - first_wrong) % 3 == 0;
        list[i] = (tamis_bytes){&raw[i], wrong ? i % 8 : 8};
    }
    return first_wrong < n ? first_wrong : n;
}

static bool bit(const uint8_t *bits, size_t i)
{
    return (bits[i / 8] >> i % 8 & 1) != 0;
}

static void add_list(size_t kind, size_t n, size_t first_wrong)
{
    const size_t right = make_list(n, first_wrong);
    for (int asked = 0; asked < 2; asked++) {
        tamis *t = make(kind, &int64le, 1000), *model = make(kind, &int64le, 1000);
        uint8_t seen[MOST_KEYS / 8 + 1], told = 0xa5;
        size_t done = 999;
        memset(seen, told, sizeof seen);
        const tamis_status s = tamis_add_many(t, list, n, asked ? seen : NULL, &done);
        CHECK_THAT(s, ==, right < n ? TAMIS_EINVAL : TAMIS_OK);
        CHECK_THAT(done, ==, right);
        for (size_t i = 0; i < right; i++) {
            bool known;
            CHECK_OK(tamis_add(model, list[i].p, 8, &known));
            CHECK(!asked || bit(seen, i) == known);
        }
        for (size_t i = right; asked && i < (n + 7) / 8 * 8; i++) CHECK(!bit(seen, i));
        CHECK(seen[(n + 7) / 8] == told); /* nothing beyond the last byte is written */
        CHECK(same_image(t, model));
        tamis_close(t);
        tamis_close(model);
    }
}

static void adds_in_bulk(void)
{
    static const size_t some[] = {0 /* bloom */, 3, 5, 8, 14 /* top */, 16 /* window of tally */};
    for (size_t k = 0; k < LENGTH(some); k++)
        for (size_t n = 0; n < LENGTH(numbers); n++)
            for (size_t p = 0; p < LENGTH(places); p++)
                if (places[p] <= numbers[n]) add_list(some[k], numbers[n], places[p]);
}

/* An add that fails for another reason before it meets the wrong key reports that reason. */
static void full_before_wrong(void)
{
    tamis_plan p = plan_of(TAMIS_COUNTING, 10);
    p.encoding = TAMIS_KEYS_INT64;
    p.flags = TAMIS_STRICT;
    tamis *t = create(&p, NULL);
    size_t done;
    make_list(40, 30);
    CHECK_THAT(tamis_add_many(t, list, 40, NULL, &done), ==, TAMIS_EFULL);
    CHECK_THAT(done, >=, 10);
    CHECK_THAT(done, <, 30);
    tamis_close(t);
}

static void weights_in_bulk(void)
{
    int64_t weights[MOST_KEYS];
    for (size_t i = 0; i < MOST_KEYS; i++) weights[i] = (int64_t)(i % 5);
    for (size_t kind = 0; kind < LENGTH(kinds); kind++)
        for (size_t p = 0; p < LENGTH(places) && weighs(kind); p++) {
            const size_t right = make_list(300, places[p]);
            tamis *t = make(kind, &int64le, 0), *model = make(kind, &int64le, 0);
            tamis_error why = {0};
            size_t done = 999;
            const tamis_status s = tamis_add_weight_many(t, list, weights, 300, &done, &why);
            if (right < 300)
                check_reason(s, &why);
            else
                CHECK_OK(s);
            CHECK_THAT(done, ==, right);
            for (size_t i = 0; i < right; i++)
                CHECK_OK(tamis_add_weight(model, list[i].p, 8, weights[i], NULL));
            CHECK(same_image(t, model));
            tamis_close(t);
            tamis_close(model);
        }
}

static void queries_in_bulk(void)
{
    for (size_t kind = 0; kind < LENGTH(kinds); kind++) {
        tamis *t = make(kind, &int64le, 100);
        make_list(50, 50);
        CHECK_OK(tamis_add_many(t, list, 50, NULL, NULL));
        for (size_t n = 0; n < LENGTH(numbers); n++)
            for (size_t p = 0; p < LENGTH(places); p++) {
                uint8_t bits[MOST_KEYS / 8 + 1];
                size_t expected = 0, rows = numbers[n];
                make_list(rows, places[p]);
                memset(bits, 0xa5, sizeof bits);
                const size_t got = tamis_may_contain_many(t, list, rows, bits);
                for (size_t i = 0; i < rows; i++) {
                    const bool maybe = tamis_may_contain(t, list[i].p, list[i].len);
                    CHECK(bit(bits, i) == maybe && (maybe || list[i].len == 8));
                    expected += maybe;
                }
                for (size_t i = rows; i < (rows + 7) / 8 * 8; i++) CHECK(!bit(bits, i));
                CHECK(bits[(rows + 7) / 8] == 0xa5);
                CHECK_THAT(got, ==, expected);
                CHECK_THAT(tamis_may_contain_many(t, list, rows, NULL), ==, expected);
            }
        tamis_close(t);
    }
}

/* Calls that fail as a whole if one key is wrong: removing, excluding, counting and hashing. */
static void all_or_none(void)
{
    static tamis_estimate counted[300], untouched[300];
    static tamis_hash hashes[300], as_before[300];
    for (size_t kind = 0; kind < LENGTH(kinds); kind++) {
        tamis *t = make(kind, &int64le, 1000);
        tamis_error why;
        make_list(300, 300);
        CHECK_OK(tamis_add_many(t, list, 100, NULL, NULL));
        make_list(300, 299); /* only the last is wrong */
        struct bytes before = image_of(t);
        memset(counted, 0xab, sizeof counted);
        memset(untouched, 0xab, sizeof untouched);
        memset(hashes, 0xab, sizeof hashes);
        memset(as_before, 0xab, sizeof as_before);
        tamis_status s = tamis_remove_many(t, list, 300, NULL, &why);
        if (s != TAMIS_EUNSUPPORTED) check_reason(s, &why);
        s = tamis_exclude_many(t, list, 300, &why);
        if (s != TAMIS_EUNSUPPORTED) check_reason(s, &why);
        s = tamis_count_many(t, list, 300, counted, &why);
        if (s != TAMIS_EUNSUPPORTED) check_reason(s, &why);
        CHECK(memcmp(counted, untouched, sizeof counted) == 0);
        CHECK_THAT(tamis_hash_many(t, list, 300, hashes), ==, TAMIS_EINVAL);
        CHECK(memcmp(hashes, as_before, sizeof hashes) == 0);
        CHECK_OK(tamis_hash_many(t, list, 299, hashes));
        struct bytes after = image_of(t);
        CHECK(bytes_equal(before, after));
        free(before.p);
        free(after.p);
        tamis_close(t);
    }
}

/* Hashes are those of encoded keys, so nothing about them can be checked. */
static void hashes_are_not_checked(void)
{
    tamis *t = make(3, &int64le, 100), *other = make(3, &unstated, 100);
    tamis_hash h[2];
    const tamis_bytes two[] = {{"12345678", 8}, {"not eight bytes", 15}};
    CHECK_OK(tamis_hash_many(other, two, 2, h));
    CHECK_OK(tamis_add_hashes(t, h, 2, NULL, NULL));
    CHECK_THAT(tamis_may_contain_hashes(t, h, 2, NULL), ==, 2);
    CHECK(tamis_may_contain(t, "12345678", 8) && !tamis_may_contain(t, "87654321", 8));
    tamis_estimate e[2];
    CHECK_OK(tamis_count_hashes(t, h, 2, e, NULL));
    CHECK(e[0].upper == 1 && e[1].upper == 1);
    CHECK_OK(tamis_remove_hashes(t, h, 2, NULL, NULL));
    tamis_close(t);
    tamis_close(other);
    tamis_plan p = plan_of(TAMIS_BLOOM, 100);
    p.flags = TAMIS_HASH_CALLER;
    p.encoding = TAMIS_KEYS_SHA256;
    t = create(&p, NULL);
    CHECK_OK(tamis_add_hashes(t, h, 2, NULL, NULL));
    CHECK_THAT(tamis_add(t, "abc", 3, NULL), ==, TAMIS_EUNSUPPORTED);
    CHECK(tamis_may_contain(t, "abc", 3));
    tamis_close(t);
}

/* --- Everything keeps it ---------------------------------------------------------------------- */

/* The handle, and all that can be made of it: copies, images, packed files, files. */
static void check_kept(tamis *t, const struct stated *s, const char *path)
{
    tamis *other;
    CHECK(states(t, s));
    CHECK_OK(tamis_copy(t, &other, NULL));
    CHECK(states(other, s));
    tamis_close(other);
    struct bytes image = image_of(t), packed = packed_of(t);
    CHECK_OK(tamis_load(image.p, image.n, NULL, &other, NULL));
    CHECK(states(other, s) && same_image(other, t));
    tamis_close(other);
    CHECK_OK(tamis_view(image.p, image.n, NULL, &other, NULL));
    CHECK(states(other, s));
    tamis_close(other);
    CHECK_OK(tamis_unpack(packed.p, packed.n, NULL, &other, NULL));
    CHECK(states(other, s) && same_image(other, t));
    tamis_close(other);
    free(image.p);
    free(packed.p);
    CHECK_OK(tamis_save(t, path, NULL, NULL));
    for (uint32_t flags = 0; flags <= TAMIS_MAP; flags += TAMIS_MAP) {
        const tamis_options o = {.struct_size = sizeof o, .flags = flags};
        CHECK_OK(tamis_open(path, &o, &other, NULL));
        CHECK(states(other, s));
        tamis_close(other);
    }
}

static void kept(void)
{
    char directory[256], path[300];
    static uint8_t key[65535];
    enter_room(NULL, "encoding", directory, sizeof directory);
    snprintf(path, sizeof path, "%s/f.tamis", directory);
    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (size_t e = 0; e < LENGTH(all); e++) {
            tamis *t = make(i, &all[e], 100);
            const size_t len = all[e].len != 0 ? all[e].len : 9;
            check_kept(t, &all[e], path);
            for (uint32_t k = 0; k < (kinds[i][0] == TAMIS_GROWING ? 300 : 90); k++) {
                tamis__put32(key, k);
                CHECK_OK(tamis_add(t, key, len, NULL));
            }
            check_kept(t, &all[e], path);
            const tamis_status s = tamis_rotate(t, NULL);
            CHECK(s == TAMIS_OK || kinds[i][0] != TAMIS_WINDOW);
            CHECK_OK(tamis_clear(t));
            CHECK(states(t, &all[e]));
            CHECK_OK(tamis_add(t, key, len, NULL));
            CHECK_OK(tamis_seal(t, NULL));
            check_kept(t, &all[e], path);
            CHECK(tamis_may_contain(t, key, len));
            tamis_close(t);
        }
    leave_room();
}

static void kept_by_conversion(void)
{
    for (size_t e = 0; e < LENGTH(all); e++) {
        tamis *t = make(3, &all[e], 100), *bloom;
        CHECK_OK(tamis_convert(t, TAMIS_BLOOM, &bloom, NULL));
        CHECK(states(bloom, &all[e]));
        CHECK_THAT(tamis_add(bloom, "abc", 3, NULL), ==, all[e].len == 0 ? TAMIS_OK : TAMIS_EINVAL);
        tamis_close(t);
        tamis_close(bloom);
    }
}

static void kept_by_release(void)
{
    for (size_t e = 0; e < LENGTH(all); e++) {
        tamis_plan p = plan_of(TAMIS_BLOOM, 0);
        p.fpr = 0;
        p.items = 100;
        p.m = 1000;
        p.k = 1;
        p.encoding = all[e].encoding;
        p.key_width = all[e].width;
        tamis *t = create(&p, NULL), *private;
        static const uint8_t key[65535];
        const size_t len = all[e].len;
        double probability = 2;
        tamis_error why;
        CHECK_OK(tamis_release(t, 2, &private, NULL));
        CHECK(states(private, &all[e]));
        CHECK_OK(tamis_probability(private, key, len, 0.5, &probability, NULL));
        CHECK(probability < 1);
        if (len != 0) {
            check_reason(tamis_probability(private, key, len - 1, 0.5, &probability, &why), &why);
            CHECK(tamis_may_contain(private, key, len - 1));
        }
        tamis_close(t);
        tamis_close(private);
    }
}

static void kept_by_a_spilled_ribbon(void)
{
    char directory[256];
    enter_room(NULL, "encoding", directory, sizeof directory);
    tamis_plan p = plan_of(TAMIS_RIBBON, 100000);
    p.encoding = TAMIS_KEYS_INT64;
    const tamis_options o = {.struct_size = sizeof o, .scratch_bytes = 1, .temp_dir = directory};
    tamis *t;
    CHECK_OK(tamis_create(&p, &o, &t, NULL));
    for (uint64_t i = 0; i < 100000; i++) CHECK_OK(tamis_add(t, &i, 8, NULL));
    CHECK_THAT(tamis_add(t, "abc", 3, NULL), ==, TAMIS_EINVAL);
    CHECK_OK(tamis_seal(t, NULL));
    CHECK(states(t, &int64le));
    CHECK_THAT(facts_of(t).items, ==, 100000);
    tamis_close(t);
    leave_room();
}

/* --- Two filters ------------------------------------------------------------------------------ */

static void check_together(const struct stated *a, const struct stated *b)
{
    static const uint8_t key[65535];
    tamis *into = make(2, a, 100), *from = make(2, b, 100);
    tamis_error why = {0};
    tamis_similarity like = {.struct_size = sizeof like};
    CHECK_OK(tamis_add(from, key, b->len != 0 ? b->len : 4, NULL));
    struct bytes before = image_of(into);
    const bool alike =
        a->encoding == 0 || b->encoding == 0 || (a->encoding == b->encoding && a->len == b->len);
    const tamis_status expected = alike ? TAMIS_OK : TAMIS_EMISMATCH;
    CHECK_THAT(tamis_compare(into, from, &like, &why), ==, expected);
    CHECK_THAT(tamis_merge(into, from, &why), ==, expected);
    struct bytes after = image_of(into);
    CHECK(alike || (bytes_equal(before, after) && strstr(why.text, "keys") != NULL));
    CHECK(states(into, alike && a->encoding == 0 ? b : a) && states(from, b));
    CHECK(!alike || tamis_may_contain(into, key, b->len != 0 ? b->len : 4)); /* never a wrong no */
    free(before.p);
    free(after.p);
    tamis_close(into);
    tamis_close(from);
}

static void merged_and_compared(void)
{
    for (size_t a = 0; a < LENGTH(all); a++)
        for (size_t b = 0; b < LENGTH(all); b++) check_together(&all[a], &all[b]);
}

/* --- The image -------------------------------------------------------------------------------- */

enum { IGNORED_FLAGS = 24, ENCODING = 25, WIDTH = 26, ROOT = 120 };

/* It is in three bytes that older readers ignore: without them, and with the right root, the image
 * is the one of a plan that states nothing. */
static void three_bytes_of_the_image(void)
{
    for (size_t i = 0; i < LENGTH(kinds); i++)
        for (size_t e = 0; e < LENGTH(all); e++) {
            tamis *t = make(i, &all[e], 100), *plain = make(i, &unstated, 100);
            static const uint8_t key[65535];
            CHECK_OK(tamis_add(t, key, all[e].len, NULL));
            CHECK_OK(tamis_add(plain, key, all[e].len, NULL));
            struct bytes a = image_of(t), b = image_of(plain);
            CHECK(a.p[ENCODING] == all[e].encoding);
            CHECK(tamis__get16(a.p + WIDTH) == all[e].width);
            CHECK(tamis__get32(b.p + IGNORED_FLAGS) >> 8 == 0);
            memset(a.p + ENCODING, 0, 3);
            image_resum(a.p, a.n);
            CHECK(bytes_equal(a, b));
            free(a.p);
            free(b.p);
            tamis_close(t);
            tamis_close(plain);
        }
}

static tamis_status load_stated(unsigned encoding, unsigned width, tamis **t, tamis_error *why)
{
    tamis *made = make(2, &unstated, 100);
    CHECK_OK(tamis_add(made, "12345678", 8, NULL));
    struct bytes b = image_of(made);
    b.p[ENCODING] = (uint8_t)encoding;
    tamis__put16(b.p + WIDTH, (uint16_t)width);
    image_resum(b.p, b.n);
    const tamis_status s = tamis_load(b.p, b.n, NULL, t, why);
    tamis_close(made);
    free(b.p);
    return s;
}

static void hostile_statements(void)
{
    static const unsigned widths[] = {0, 1, 8, 32, 255, 256, 32768, 65535};
    for (unsigned encoding = 0; encoding < 256; encoding++)
        for (size_t w = 0; w < LENGTH(widths); w++) {
            tamis *t;
            tamis_error why = {0};
            const tamis_status s = load_stated(encoding, widths[w], &t, &why);
            if (encoding <= TAMIS_KEYS_CALLER &&
                (widths[w] != 0) != (encoding == TAMIS_KEYS_FIXED)) {
                CHECK_THAT(s, ==, TAMIS_ECORRUPT);
                CHECK(t == NULL && why.offset == IGNORED_FLAGS);
                continue;
            }
            CHECK_OK(s);
            CHECK_THAT(facts_of(t).encoding, ==, encoding);
            tamis_close(t);
        }
}

/* A newer library's encoding: any bytes are keys, and the statement stays as it is. */
static void newer_encodings(void)
{
    for (unsigned encoding = TAMIS_KEYS_CALLER + 1; encoding < 256; encoding += 25) {
        tamis *t, *plain = make(2, &unstated, 100), *text = make(2, &all[1], 100), *copy;
        CHECK_OK(load_stated(encoding, 515, &t, NULL));
        CHECK(facts_of(t).key_width == 0 && !tamis_may_contain(t, "abc", 3));
        CHECK_OK(tamis_add(t, "abc", 3, NULL));
        CHECK_OK(tamis_copy(t, &copy, NULL));
        CHECK_OK(tamis_merge(copy, t, NULL));
        CHECK_OK(tamis_merge(plain, t, NULL));
        CHECK_THAT(tamis_merge(text, t, NULL), ==, TAMIS_EMISMATCH);
        struct bytes images[] = {image_of(t), image_of(copy), image_of(plain)};
        for (size_t i = 0; i < LENGTH(images); i++) {
            CHECK(images[i].p[ENCODING] == encoding && tamis__get16(images[i].p + WIDTH) == 515);
            free(images[i].p);
        }
        tamis_close(t);
        tamis_close(copy);
        tamis_close(plain);
        tamis_close(text);
    }
}

static const struct test tests[] = {
    {"plans", plans},
    {"plans that make no sense", plans_that_make_no_sense},
    {"shorter plans", shorter_plans},
    {"names", names},
    {"wrong lengths", wrong_lengths},
    {"any length", any_length},
    {"other reasons come first", other_reasons_come_first},
    {"adds in bulk", adds_in_bulk},
    {"full before wrong", full_before_wrong},
    {"weights in bulk", weights_in_bulk},
    {"queries in bulk", queries_in_bulk},
    {"all or none", all_or_none},
    {"hashes are not checked", hashes_are_not_checked},
    {"kept", kept},
    {"kept by conversion", kept_by_conversion},
    {"kept by release", kept_by_release},
    {"kept by a spilled ribbon", kept_by_a_spilled_ribbon},
    {"merged and compared", merged_and_compared},
    {"three bytes of the image", three_bytes_of_the_image},
    {"hostile statements", hostile_statements},
    {"newer encodings", newer_encodings},
};

TEST_MAIN(tests)
