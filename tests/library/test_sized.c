/* Public structs of any size: shorter ones end right before a page that must not be touched, and
 * longer ones have a surplus that is or is not zero. Structs without a size have reserved
 * fields, which are zero. */
#define _DEFAULT_SOURCE
#include "../support/filters.h"
#include "../support/golden.h"
#include "../support/room.h"

#include <sys/mman.h>
#include <tamis/foreign.h>
#include <unistd.h>

#define WORD sizeof(size_t)
#define MOST 4096u

static uint8_t
    *guard; /* the first byte of a page that nobody may touch; MOST bytes before it may */

static void open_guard(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE), room = page < MOST ? MOST : page;
    uint8_t *p = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (p == MAP_FAILED || mprotect(p + room, page, PROT_NONE) != 0) abort();
    guard = p + room;
}

/* A struct of that size at the end of the page: what `from` has of it, then `fill`. */
static void *placed(const void *from, size_t known, size_t size, uint8_t fill)
{
    uint8_t *p = guard - size;
    memset(guard - MOST, 0x5a, MOST - size);
    memset(p, fill, size);
    if (known > 0) memcpy(p, from, known < size ? known : size);
    memcpy(p, &size, size < WORD ? size : WORD);
    return p;
}

/* What is before the struct is as it was. */
static bool untouched(size_t size)
{
    for (const uint8_t *p = guard - MOST; p < guard - size; p++)
        if (*p != 0x5a) return false;
    return true;
}

/* --- Every struct with a call that takes it --- */

static tamis *one, *two, *released;
static tamis_foreign *foreign;
static tamis_parquet *parquet;
static struct bytes image, packed, alien, file;
static char directory[256], saved[300], other[300];
static tamis_error why;

static tamis_status read_file(void *ctx, uint64_t offset, void *to, size_t n)
{
    const struct bytes *b = ctx;
    memcpy(to, b->p + offset, n);
    return TAMIS_OK;
}

static tamis_status drop(tamis_status s, tamis *t)
{
    if (s != TAMIS_OK && t != NULL) return TAMIS_EIO;
    tamis_close(t);
    return s;
}

static tamis_status drop_foreign(tamis_status s, tamis_foreign *f)
{
    if (s != TAMIS_OK && f != NULL) return TAMIS_EIO;
    tamis_foreign_close(f);
    return s;
}

static tamis_status in_create(void *p)
{
    tamis *t = NULL;
    const tamis_status s = tamis_create(p, NULL, &t, &why);
    return drop(s, t);
}

static tamis_status in_solve(void *p)
{
    return tamis_solve(p, NULL, &why);
}

static const tamis_plan usual = {.struct_size = sizeof usual, .items = 1000, .fpr = 0.01};

static tamis_status options_create(void *o)
{
    tamis *t = NULL;
    const tamis_status s = tamis_create(&usual, o, &t, &why);
    return drop(s, t);
}

static tamis_status options_open(void *o)
{
    tamis *t = NULL;
    const tamis_status s = tamis_open(saved, o, &t, &why);
    return drop(s, t);
}

static tamis_status options_load(void *o)
{
    tamis *t = NULL;
    const tamis_status s = tamis_load(image.p, image.n, o, &t, &why);
    return drop(s, t);
}

static tamis_status options_view(void *o)
{
    tamis *t = NULL;
    const tamis_status s = tamis_view(image.p, image.n, o, &t, &why);
    return drop(s, t);
}

static tamis_status options_unpack(void *o)
{
    tamis *t = NULL;
    const tamis_status s = tamis_unpack(packed.p, packed.n, o, &t, &why);
    return drop(s, t);
}

static tamis_status options_foreign_open(void *o)
{
    tamis_foreign *f = NULL;
    const tamis_status s = tamis_foreign_open(alien.p, alien.n, TAMIS_FOREIGN_DCSO, o, &f, &why);
    return drop_foreign(s, f);
}

static const tamis_foreign_plan usual_foreign = {
    .struct_size = sizeof usual_foreign, .format = TAMIS_FOREIGN_DCSO, .items = 100, .fpr = 0.01};

static tamis_status options_foreign_create(void *o)
{
    tamis_foreign *f = NULL;
    const tamis_status s = tamis_foreign_create(&usual_foreign, o, &f, &why);
    return drop_foreign(s, f);
}

static tamis_status options_parquet_open(void *o)
{
    const tamis_reader reader = {.ctx = &file, .size = file.n, .read = read_file};
    tamis_parquet *p = NULL;
    const tamis_status s = tamis_parquet_open(&reader, o, &p, &why);
    if (s != TAMIS_OK && p != NULL) return TAMIS_EIO;
    if (s == TAMIS_OK) tamis_parquet_close(p);
    return s;
}

static tamis_status in_foreign_create(void *p)
{
    tamis_foreign *f = NULL;
    const tamis_status s = tamis_foreign_create(p, NULL, &f, &why);
    return drop_foreign(s, f);
}

static tamis_status options_save(void *o)
{
    return tamis_save(one, saved, o, &why);
}

static tamis_status options_foreign_save(void *o)
{
    return tamis_foreign_save(foreign, TAMIS_FOREIGN_AUTO, other, o, &why);
}

static tamis_status options_write_file(void *o)
{
    return tamis_write_file(other, "text", 4, o, &why);
}

static tamis_status out_promise(void *r)
{
    tamis_plan p = usual;
    return tamis_solve(&p, r, &why);
}

static tamis_status out_facts(void *f)
{
    snprintf(why.text, sizeof why.text, "there is no room for one");
    return tamis_info(one, f);
}

static tamis_status out_stat(void *f)
{
    snprintf(why.text, sizeof why.text, "there is no room for one");
    return tamis_stat(one, f);
}

static tamis_status out_similarity(void *s)
{
    return tamis_compare(one, two, s, &why);
}

static tamis_status out_evidence(void *e)
{
    return tamis_evidence_of(released, 0.3, e, &why);
}

static tamis_status out_foreign_facts(void *f)
{
    snprintf(why.text, sizeof why.text, "there is no room for one");
    return tamis_foreign_info(foreign, f);
}

static tamis_status out_chunk(void *c)
{
    snprintf(why.text, sizeof why.text, "there is no room for one");
    return tamis_parquet_chunk_at(parquet, 0, c);
}

static const tamis_options usual_options = {.struct_size = sizeof usual_options};
static const tamis_save_options usual_save = {.struct_size = sizeof usual_save};

/* `least`: what the call needs to succeed. */
static const struct input {
    tamis_status (*call)(void *in);
    const void *whole;
    size_t size, least;
} inputs[] = {
    {in_create, &usual, sizeof usual, offsetof(tamis_plan, bytes)},
    {in_solve, &usual, sizeof usual, offsetof(tamis_plan, bytes)},
    {options_create, &usual_options, sizeof usual_options, WORD},
    {options_open, &usual_options, sizeof usual_options, WORD},
    {options_load, &usual_options, sizeof usual_options, WORD},
    {options_view, &usual_options, sizeof usual_options, WORD},
    {options_unpack, &usual_options, sizeof usual_options, WORD},
    {options_foreign_open, &usual_options, sizeof usual_options, WORD},
    {options_foreign_create, &usual_options, sizeof usual_options, WORD},
    {options_parquet_open, &usual_options, sizeof usual_options, WORD},
    {in_foreign_create, &usual_foreign, sizeof usual_foreign, sizeof usual_foreign},
    {options_save, &usual_save, sizeof usual_save, WORD},
    {options_foreign_save, &usual_save, sizeof usual_save, WORD},
    {options_write_file, &usual_save, sizeof usual_save, WORD},
};

static const struct output {
    tamis_status (*call)(void *out);
    size_t size;
} outputs[] = {
    {out_promise, sizeof(tamis_promise)},     {out_facts, sizeof(tamis_facts)},
    {out_stat, sizeof(tamis_facts)},          {out_similarity, sizeof(tamis_similarity)},
    {out_evidence, sizeof(tamis_evidence)},   {out_foreign_facts, sizeof(tamis_foreign_facts)},
    {out_chunk, sizeof(tamis_parquet_chunk)},
};

#define COUNT(table) (sizeof(table) / sizeof *(table))

static void set_up(void)
{
    open_guard();
    one = create_kind(TAMIS_BLOOM);
    two = create_kind(TAMIS_BLOOM);
    for (uint64_t i = 0; i < 600; i++) {
        CHECK_OK(tamis_add(i < 400 ? one : two, &i, sizeof i, NULL));
        if (i % 2 != 0) CHECK_OK(tamis_add(two, &i, sizeof i, NULL));
    }
    const tamis_plan bitmap = {
        .struct_size = sizeof bitmap, .kind = TAMIS_BLOOM, .items = 100, .m = 4096, .k = 1};
    tamis *source = create(&bitmap, NULL);
    CHECK_OK(tamis_release(source, 1, &released, NULL));
    tamis_close(source);
    image = image_of(one);
    struct bytes_sink s = {bytes_new(1 << 16), 0};
    CHECK_OK(tamis_pack(one, bytes_put, &s, NULL));
    packed = s.to, packed.n = s.at;
    CHECK_OK(tamis_foreign_create(&usual_foreign, NULL, &foreign, NULL));
    s = (struct bytes_sink){bytes_new(1 << 16), 0};
    CHECK_OK(tamis_foreign_write(foreign, TAMIS_FOREIGN_AUTO, bytes_put, &s, NULL));
    alien = s.to, alien.n = s.at;
    file = read_golden("foreign/duckdb.parquet");
    const tamis_reader reader = {.ctx = &file, .size = file.n, .read = read_file};
    CHECK_OK(tamis_parquet_open(&reader, NULL, &parquet, NULL));
    enter_room(NULL, "sized", directory, sizeof directory);
    snprintf(saved, sizeof saved, "%s/f.tamis", directory);
    snprintf(other, sizeof other, "%s/other", directory);
    CHECK_OK(tamis_save(one, saved, NULL, NULL));
}

static void clean_up(void)
{
    CHECK(unlink(saved) == 0 && unlink(other) == 0 && rmdir(directory) == 0);
    tamis_close(one), tamis_close(two), tamis_close(released);
    tamis_foreign_close(foreign);
    tamis_parquet_close(parquet);
    free(image.p), free(packed.p), free(alien.p), free(file.p);
}

/* --- Shorter --- */

static void missing_fields_are_zero(void)
{
    for (size_t i = 0; i < COUNT(inputs); i++)
        for (size_t size = WORD; size <= inputs[i].size; size += WORD) {
            memset(&why, 0, sizeof why);
            const tamis_status s = inputs[i].call(placed(inputs[i].whole, inputs[i].size, size, 0));
            CHECK_THAT(s, ==, size >= inputs[i].least ? TAMIS_OK : TAMIS_EINVAL);
            CHECK(s == TAMIS_OK || (why.status == s && why.text[0] != '\0'));
            CHECK(untouched(size));
        }
}

static void missing_fields_are_not_written(void)
{
    uint8_t whole[MOST];
    for (size_t i = 0; i < COUNT(outputs); i++) {
        const size_t full = outputs[i].size;
        void *p = placed(whole, 0, full, 0xa5);
        CHECK_OK(outputs[i].call(p));
        memcpy(whole, p, full);
        for (size_t size = WORD; size <= full; size += WORD) {
            p = placed(whole, 0, size, 0xa5);
            CHECK_OK(outputs[i].call(p));
            memcpy(whole, &size, WORD);
            CHECK(memcmp(p, whole, size) == 0 && untouched(size));
        }
    }
}

/* --- Longer --- */

static void a_surplus_must_be_zero(void)
{
    for (size_t i = 0; i < COUNT(inputs); i++)
        for (size_t more = WORD; inputs[i].size + more <= MOST; more *= 3) {
            const size_t size = inputs[i].size + more / WORD * WORD;
            CHECK_OK(inputs[i].call(placed(inputs[i].whole, inputs[i].size, size, 0)));
            for (size_t at = inputs[i].size; at < size; at += at + 1 < size ? size - 1 - at : 1) {
                uint8_t *p = placed(inputs[i].whole, inputs[i].size, size, 0);
                p[at] = 1;
                memset(&why, 0, sizeof why);
                CHECK_THAT(inputs[i].call(p), ==, TAMIS_EINVAL);
                CHECK(strstr(why.text, "newer") != NULL && p[at] == 1);
            }
        }
}

static void a_surplus_becomes_zero(void)
{
    for (size_t i = 0; i < COUNT(outputs); i++)
        for (size_t size = outputs[i].size; size <= MOST; size += 37 * WORD) {
            const uint8_t *p = placed(NULL, 0, size, 0xa5);
            size_t told;
            CHECK_OK(outputs[i].call(placed(NULL, 0, size, 0xa5)));
            memcpy(&told, p, WORD);
            CHECK(told == size && untouched(size));
            for (size_t at = outputs[i].size; at < size; at++) CHECK(p[at] == 0);
        }
}

/* --- No size at all --- */

static void nonsense_is_refused(void)
{
    const size_t wrong[] = {0, 1, WORD - 1, WORD + 1, MOST - 1, MOST + 1, MOST + WORD, SIZE_MAX};
    for (size_t i = 0; i < COUNT(inputs) + COUNT(outputs); i++)
        for (size_t j = 0; j < COUNT(wrong); j++) {
            void *p = placed(NULL, 0, WORD, 0); /* only the size may be read */
            memcpy(p, &wrong[j], WORD);
            memset(&why, 0, sizeof why);
            const bool in = i < COUNT(inputs);
            const tamis_status s = in ? inputs[i].call(p) : outputs[i - COUNT(inputs)].call(p);
            CHECK_THAT(s, ==, TAMIS_EINVAL);
            CHECK(why.text[0] != '\0' && memcmp(p, &wrong[j], WORD) == 0);
            if (in) CHECK(strstr(why.text, "struct_size") != NULL);
        }
}

/* --- Plans that are written back --- */

/* A plan in a shorter struct is solved as in a whole one, or is refused. The plan that was
 * written back makes the same filter. Returns whether it was solved. */
static bool solve_short(const tamis_plan *asked, size_t size)
{
    tamis_plan whole = *asked, again = {.struct_size = 0};
    memset((uint8_t *)&whole + size, 0, sizeof whole - size);
    const tamis_status expected = tamis_solve(&whole, NULL, NULL);
    tamis_plan *p = placed(asked, sizeof *asked, size, 0);
    memset(&why, 0, sizeof why);
    const tamis_status s = tamis_solve(p, NULL, &why);
    CHECK(untouched(size));
    if (s == TAMIS_EINVAL && expected == TAMIS_OK) {
        CHECK(strstr(why.text, "lacks") != NULL);
        CHECK(memcmp((uint8_t *)p + WORD, (const uint8_t *)asked + WORD, size - WORD) == 0);
        return false;
    }
    CHECK_THAT(s, ==, expected);
    if (s != TAMIS_OK) return true;
    CHECK(memcmp((uint8_t *)p + WORD, (uint8_t *)&whole + WORD, size - WORD) == 0);
    memcpy(&again, p, size);
    again.struct_size = sizeof again;
    CHECK_OK(tamis_solve(&again, NULL, NULL));
    CHECK(memcmp(&again, &whole, sizeof again) == 0);
    return true;
}

static void a_solved_plan_is_whole(void)
{
    unsigned refused = 0;
    for (uint32_t kind = 0; kind <= TAMIS_DISTINCT; kind++)
        for (uint32_t shape = 0; shape < 9; shape++) {
            tamis_plan p = {.struct_size = sizeof p, .kind = kind};
            p.items = shape % 3 != 2 ? 12345 : 0;
            p.fpr = shape % 3 != 0 ? 0.0123 : 0;
            p.bytes = shape % 3 != 1 ? 54321 : 0;
            if (kind >= TAMIS_COUNT_MIN) p.items = 0, p.fpr = 0;
            if (shape / 3 == 1) p.generations = kind == TAMIS_WINDOW ? 7 : 0;
            if (shape / 3 == 2) p.cell_bits = kind == TAMIS_COUNTING ? 8 : 0;
            if (kind == TAMIS_COUNT_MIN && shape > 3) p.error = 0.001, p.bytes = 0;
            for (size_t size = WORD; size <= sizeof p; size += WORD)
                refused += !solve_short(&p, size);
        }
    CHECK_THAT(refused, >, 0);
}

/* --- Reserved fields --- */

static bool all_zero(const void *p, size_t n)
{
    const uint8_t *b = p;
    while (n > 0 && b[n - 1] == 0) n--;
    return n == 0;
}

static void reserved_fields_are_zero(void)
{
    const tamis_plan plan = {.struct_size = sizeof plan, .kind = TAMIS_TOP, .bytes = 1 << 16};
    tamis *t = create(&plan, NULL);
    for (uint64_t i = 0; i < 1000; i++) {
        const uint64_t key = i % 100 * (i % 7);
        CHECK_OK(tamis_add(t, &key, sizeof key, NULL));
    }
    tamis *none;
    tamis_heavy list[50];
    tamis_estimate e;
    const uint64_t key = 6;
    memset(list, 0xff, sizeof list);
    memset(&e, 0xff, sizeof e);
    CHECK_THAT(tamis_top(t, list, 50), ==, 50);
    CHECK_OK(tamis_count(t, &key, sizeof key, &e, NULL));
    CHECK(all_zero(e.reserved, sizeof e.reserved));
    CHECK(all_zero(e.reserved_bytes, sizeof e.reserved_bytes));
    for (size_t i = 0; i < 50; i++) {
        CHECK(all_zero(list[i].reserved, sizeof list[i].reserved));
        CHECK(all_zero(list[i].count.reserved, sizeof e.reserved));
        CHECK(all_zero(list[i].count.reserved_bytes, sizeof e.reserved_bytes));
    }
    memset(&why, 0xff, sizeof why);
    CHECK_THAT(tamis_remove(t, "a", 1, &why), ==, TAMIS_EUNSUPPORTED);
    CHECK(why.reserved_word == 0 && all_zero(why.reserved, sizeof why.reserved));
    memset(&why, 0xff, sizeof why);
    CHECK_THAT(tamis_load("", 0, NULL, &none, &why), ==, TAMIS_ECORRUPT);
    CHECK(why.reserved_word == 0 && all_zero(why.reserved, sizeof why.reserved));
    tamis_close(t);
}

/* The allocator has no struct_size: it keeps its size, and its reserved fields are not read yet. */
_Static_assert(sizeof(tamis_memory) == 8 * sizeof(void *), "tamis_memory has room for four more");

static void *any_alloc(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void any_free(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

static void reserve_of_the_allocator(void)
{
    const tamis_memory own = {.alloc = any_alloc, .free = any_free, .reserved = {&why, guard}};
    const tamis_options o = {.struct_size = sizeof o, .memory = &own};
    const tamis_plan plan = {.struct_size = sizeof plan, .items = 1000, .fpr = 0.01};
    tamis *t;
    CHECK_OK(tamis_create(&plan, &o, &t, NULL));
    CHECK_OK(tamis_add(t, "a", 1, NULL));
    CHECK(tamis_may_contain(t, "a", 1));
    tamis_close(t);
}

int main(int argc, char **argv)
{
    const struct test tests[] = {
        {"set_up", set_up},
        {"missing_fields_are_zero", missing_fields_are_zero},
        {"missing_fields_are_not_written", missing_fields_are_not_written},
        {"a_surplus_must_be_zero", a_surplus_must_be_zero},
        {"a_surplus_becomes_zero", a_surplus_becomes_zero},
        {"nonsense_is_refused", nonsense_is_refused},
        {"a_solved_plan_is_whole", a_solved_plan_is_whole},
        {"reserved_fields_are_zero", reserved_fields_are_zero},
        {"reserve_of_the_allocator", reserve_of_the_allocator},
        {"clean_up", clean_up},
    };
    return run_tests(tests, COUNT(tests), argc, argv);
}
