/* Hostile images of maps: every field of every section has every extreme value, with right sums.
 * The image is refused, or every call on it is safe; and each rule of docs/FORMAT.md refuses what
 * breaks it. test_hostile.c has the header, and random damage. */
#define _POSIX_C_SOURCE 200809L
#include "../support/maps.h"
#include "../support/tracking.h"

enum { ENTRY = 64, TABLE = 128, N = 2000, BITS = 5 };

/* --- Every call on what was let in ------------------------------------------------------------ */

static void use(tamis *t)
{
    uint32_t values[40];
    uint8_t found[5], bits[5];
    tamis_hash h[40] = {{0, 0}, {UINT64_MAX, UINT64_MAX}, {0, UINT64_MAX}, {UINT64_MAX, 0}};
    tamis *copy;
    uint64_t state = 1;
    for (size_t i = 4; i < 40; i++) h[i] = (tamis_hash){splitmix(&state), splitmix(&state)};
    const tamis_facts f = facts_of(t);
    CHECK(f.fpr_now >= 0 && f.fpr_now <= 1 && f.fill >= 0 && f.fill <= 1);
    CHECK(f.cell_bits >= 1 && f.cell_bits <= 32 && f.kind == TAMIS_VALUE_MAP);
    const tamis_status s = tamis_value_hashes(t, h, 40, values, found, NULL);
    CHECK_THAT(s, ==, f.collecting ? TAMIS_EINVAL : TAMIS_OK);
    const size_t yes = tamis_may_contain_hashes(t, h, 40, bits);
    CHECK(yes <= 40 && (s != TAMIS_OK || memcmp(found, bits, 5) == 0));
    for (size_t i = 0; i < 40 && s == TAMIS_OK; i++) CHECK((uint64_t)values[i] >> f.cell_bits == 0);
    CHECK_OK(tamis_copy(t, &copy, NULL));
    struct bytes image = image_of(t);
    CHECK((image.p != NULL && same_image(copy, t)) || f.read_only); /* of a newer format */
    free(image.p);
    for (uint32_t value = 0; value < 3; value += 2) {
        const tamis_status a = tamis_add_value(copy, "a new key", 9, value, NULL);
        /* The value is too big, the key has a wrong length, or the caller hashes. */
        CHECK(a == TAMIS_OK || a == TAMIS_ESEALED || a == TAMIS_EINVAL ||
              (a == TAMIS_EUNSUPPORTED && f.hash == TAMIS_CALLER_HASH));
    }
    /* One key has two values now, unless the map is sealed or has values of one bit. */
    const tamis_status sealed = tamis_seal(copy, NULL);
    CHECK(sealed == TAMIS_OK || sealed == TAMIS_EINVAL || sealed == TAMIS_ESEALED);
    tamis_close(copy);
}

static tamis_status exercise(struct bytes image)
{
    struct tracker a;
    tracker_init(&a);
    const tamis_options o = {.struct_size = sizeof o, .memory = &a.memory};
    tamis_status verdict[2];
    for (int in_place = 0; in_place < 2; in_place++) {
        tamis *t;
        tamis_error why = {0};
        verdict[in_place] = in_place ? tamis_view(image.p, image.n, &o, &t, &why)
                                     : tamis_load(image.p, image.n, &o, &t, &why);
        CHECK_THAT(a.peak, <=, 3 * image.n + 4096);
        CHECK((t != NULL) == (verdict[in_place] == TAMIS_OK));
        if (t != NULL)
            use(t);
        else
            CHECK(why.status == verdict[in_place] && why.text[0] != '\0');
        tamis_close(t);
        CHECK_THAT(a.blocks, ==, 0);
        a.peak = 0;
    }
    CHECK_THAT(verdict[0], ==, verdict[1]);
    return verdict[0];
}

/* --- Images ----------------------------------------------------------------------------------- */

/* Sealed in layers (0), sealed in one layer (1), empty (2), collected (3), empty and collected (4),
 * wide and in layers (5), with two widths of segments (6). */
enum { LAYERS, ONE_LAYER, EMPTY, COLLECTED, NONE_COLLECTED, WIDE, MIXED, IMAGES };

static struct bytes made[IMAGES];

static struct bytes make_image(int which)
{
    static const struct {
        uint64_t n;
        uint32_t bits;
        double fpr;
        bool sealed;
    } of[IMAGES] = {{N, BITS, 0x1p-7, true},   {100, BITS, 0x1p-7, true}, {0, BITS, 0x1p-7, true},
                    {60, BITS, 0x1p-7, false}, {0, BITS, 0x1p-7, false},  {N, 32, 0x1p-30, true},
                    {N, BITS, 0.7, true}};
    const tamis_plan plan = map_plan(of[which].n, of[which].bits, of[which].fpr);
    tamis *t = create(&plan, NULL);
    put_values(t, 0, of[which].n, of[which].bits);
    if (of[which].sealed) CHECK_OK(tamis_seal(t, NULL));
    struct bytes image = image_of(t);
    CHECK(image.p != NULL);
    tamis_close(t);
    return image;
}

static void make_images(void)
{
    for (int i = 0; i < IMAGES; i++)
        if (made[i].p == NULL) made[i] = make_image(i);
}

/* The fields of an entry of the section table. */
static const struct field entry_fields[] = {{0, 2},  {2, 2},  {4, 2},  {6, 2},  {8, 4},  {12, 4},
                                            {16, 8}, {24, 8}, {32, 8}, {40, 8}, {48, 8}, {56, 8}};

static struct field field_of(uint32_t section, struct field f)
{
    return (struct field){TABLE + ENTRY * section + f.offset, f.width};
}

static uint64_t extreme(unsigned i, uint64_t was)
{
    static const uint64_t values[] = {0,
                                      1,
                                      2,
                                      3,
                                      4,
                                      5,
                                      32,
                                      33,
                                      64,
                                      65,
                                      255,
                                      65535,
                                      65536,
                                      UINT32_MAX,
                                      UINT64_C(1) << 44,
                                      (UINT64_C(1) << 44) + 1,
                                      UINT64_C(1) << 63,
                                      UINT64_MAX};
    const unsigned n = LENGTH(values);
    return i < n ? values[i] : i == n ? was - 1 : i == n + 1 ? was + 1 : was + 64;
}
#define EXTREMES 21u

static void every_field_of_every_section(void)
{
    size_t accepted = 0, refused = 0;
    make_images();
    for (int which = 0; which < IMAGES; which++) {
        CHECK_OK(exercise(made[which]));
        struct bytes bad = bytes_copy(made[which].p, made[which].n);
        const uint32_t sections = tamis__get32(bad.p + 104);
        for (uint32_t s = 0; s < sections; s++)
            for (size_t f = 0; f < LENGTH(entry_fields); f++)
                for (unsigned v = 0; v < EXTREMES; v++) {
                    const struct field at = field_of(s, entry_fields[f]);
                    memcpy(bad.p, made[which].p, bad.n);
                    put_field(bad.p, at, extreme(v, get_field(bad.p, at)));
                    image_resum(bad.p, bad.n);
                    const tamis_status st = exercise(bad);
                    accepted += st == TAMIS_OK;
                    refused += st != TAMIS_OK;
                }
        free(bad.p);
    }
    CHECK(accepted > 50 && refused > 1000);
}

/* --- Rules ------------------------------------------------------------------------------------ */

enum { ROLE, KIND, VARIANT, CELL_BITS, K, SALT, M, ITEMS, BOUNDARY, ZERO };

static tamis_status changed(int which, uint32_t section, unsigned field, uint64_t to)
{
    struct bytes bad = bytes_copy(made[which].p, made[which].n);
    put_field(bad.p, field_of(section, entry_fields[field]), to);
    image_resum(bad.p, bad.n);
    const tamis_status s = exercise(bad);
    free(bad.p);
    return s;
}

static void each_rule(void)
{
    static const struct {
        int which;
        uint32_t section;
        unsigned field;
        uint64_t to;
        tamis_status expected;
    } cases[] = {
        {LAYERS, 0, CELL_BITS, 4, TAMIS_ECORRUPT}, /* other layers have 5 */
        {LAYERS, 2, CELL_BITS, 4, TAMIS_ECORRUPT},
        {LAYERS, 1, CELL_BITS, 5, TAMIS_ECORRUPT}, /* thresholds */
        {LAYERS, 0, SALT, 1, TAMIS_ECORRUPT},      /* only the last layer has one */
        {LAYERS, 1, SALT, 1, TAMIS_ECORRUPT},
        {LAYERS, 2, SALT, 1, TAMIS_OK},
        {LAYERS, 2, SALT, UINT32_MAX, TAMIS_OK},
        {LAYERS, 1, BOUNDARY, 1, TAMIS_ECORRUPT},
        {LAYERS, 0, ROLE, 5, TAMIS_EVERSION}, /* bits are of exact */
        {LAYERS, 0, ROLE, 4, TAMIS_ECORRUPT},
        {LAYERS, 1, ROLE, 1, TAMIS_ECORRUPT},
        {LAYERS, 2, ROLE, 3, TAMIS_ECORRUPT},
        {LAYERS, 0, ROLE, 3, TAMIS_ECORRUPT},
        {LAYERS, 0, KIND, TAMIS_RIBBON, TAMIS_ECORRUPT},
        {LAYERS, 0, VARIANT, 1, TAMIS_ECORRUPT}, /* the last layer is not last */
        {LAYERS, 2, VARIANT, 0, TAMIS_ECORRUPT}, /* there is no last layer */
        {LAYERS, 2, VARIANT, 2, TAMIS_ECORRUPT},
        {LAYERS, 0, VARIANT, 2, TAMIS_ECORRUPT},
        {LAYERS, 0, VARIANT, 3, TAMIS_EVERSION},
        {LAYERS, 0, ITEMS, 1, TAMIS_ECORRUPT},
        {LAYERS, 0, ZERO, 1, TAMIS_ECORRUPT},
        {ONE_LAYER, 0, CELL_BITS, 0, TAMIS_ECORRUPT},
        {ONE_LAYER, 0, CELL_BITS, 1, TAMIS_OK}, /* 12 columns: one of a value */
        {ONE_LAYER, 0, CELL_BITS, 12, TAMIS_OK},
        {ONE_LAYER, 0, CELL_BITS, 13, TAMIS_ECORRUPT},
        {ONE_LAYER, 0, CELL_BITS, 32, TAMIS_ECORRUPT},
        {ONE_LAYER, 0, CELL_BITS, 33, TAMIS_ECORRUPT},
        {ONE_LAYER, 0, SALT, 7, TAMIS_OK},
        {ONE_LAYER, 0, K, 11, TAMIS_ECORRUPT},
        {ONE_LAYER, 0, BOUNDARY, 0, TAMIS_ECORRUPT},
        {ONE_LAYER, 0, BOUNDARY, 1, TAMIS_ECORRUPT}, /* then the section is too short */
        {ONE_LAYER, 0, BOUNDARY, UINT64_MAX, TAMIS_ECORRUPT},
        {WIDE, 0, CELL_BITS, 29, TAMIS_ECORRUPT}, /* as are the others */
        {EMPTY, 0, CELL_BITS, 32, TAMIS_OK},
        {EMPTY, 0, CELL_BITS, 0, TAMIS_ECORRUPT},
        {EMPTY, 0, CELL_BITS, 33, TAMIS_ECORRUPT},
        {EMPTY, 0, K, 2, TAMIS_ECORRUPT},
        {EMPTY, 0, SALT, 1, TAMIS_ECORRUPT},
        {EMPTY, 0, BOUNDARY, 1, TAMIS_ECORRUPT},
        {EMPTY, 0, M, 1, TAMIS_ECORRUPT},
        {EMPTY, 0, ROLE, 4, TAMIS_ECORRUPT},
        {COLLECTED, 0, CELL_BITS, 4, TAMIS_ECORRUPT}, /* some value has five bits */
        {COLLECTED, 0, CELL_BITS, 6, TAMIS_OK},
        {COLLECTED, 0, CELL_BITS, 13, TAMIS_ECORRUPT},
        {COLLECTED, 0, SALT, 1, TAMIS_ECORRUPT},
        {COLLECTED, 0, BOUNDARY, 1, TAMIS_ECORRUPT},
        {COLLECTED, 0, VARIANT, 1, TAMIS_ECORRUPT},
        {COLLECTED, 0, K, BITS * 65536 - 1, TAMIS_ECORRUPT},
        {COLLECTED, 0, K, BITS * 65536, TAMIS_OK},
        {COLLECTED, 0, K, (BITS + 32) * 65536, TAMIS_OK},
        {COLLECTED, 0, K, (BITS + 32) * 65536 + 1, TAMIS_ECORRUPT},
        {COLLECTED, 0, M, 59, TAMIS_ECORRUPT},
        {COLLECTED, 0, ROLE, 1, TAMIS_ECORRUPT},
        {NONE_COLLECTED, 0, M, 1, TAMIS_OK}, /* the hash 0, with a value that follows */
    };
    make_images();
    for (size_t i = 0; i < LENGTH(cases); i++) {
        const tamis_status s =
            changed(cases[i].which, cases[i].section, cases[i].field, cases[i].to);
        if (s != cases[i].expected) printf("case %zu\n", i);
        CHECK_THAT(s, ==, cases[i].expected);
    }
}

/* Bytes of sections and flags of the header. */
static void bytes_and_flags(void)
{
    make_images();
    for (int which = 0; which < IMAGES; which++) {
        struct bytes bad = bytes_copy(made[which].p, made[which].n);
        const struct field read_only = {20, 4};
        const uint64_t flags = get_field(bad.p, read_only);
        put_field(bad.p, read_only, flags | 2); /* strict */
        image_resum(bad.p, bad.n);
        CHECK_THAT(exercise(bad), ==, TAMIS_ECORRUPT);
        put_field(bad.p, read_only, flags ^ 1); /* sealed, or not */
        image_resum(bad.p, bad.n);
        CHECK_THAT(exercise(bad), ==, TAMIS_ECORRUPT);
        memcpy(bad.p, made[which].p, bad.n);
        bad.p[bad.n - 1] ^= 0x40;
        image_resum(bad.p, bad.n);
        /* It is zero in these, and hi of a hash in that one, whose value then is another one. */
        const bool bound = which == EMPTY || which == NONE_COLLECTED || which == COLLECTED;
        CHECK_THAT(exercise(bad), ==, bound ? TAMIS_ECORRUPT : TAMIS_OK);
        free(bad.p);
    }
    /* A collected value with too many bits. */
    struct bytes bad = bytes_copy(made[COLLECTED].p, made[COLLECTED].n);
    for (unsigned bit = 0; bit < 32; bit++) {
        bad.p[bad.n - 16 + bit / 8] ^= (uint8_t)(1u << bit % 8);
        image_resum(bad.p, bad.n);
        CHECK_THAT(exercise(bad), ==, bit < BITS ? TAMIS_OK : TAMIS_ECORRUPT);
        bad.p[bad.n - 16 + bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    free(bad.p);
}

static void random_damage(void)
{
    uint64_t state = 3;
    size_t accepted = 0;
    make_images();
    for (int i = 0; i < 6000; i++) {
        const struct bytes good = made[i % IMAGES];
        struct bytes bad = bytes_copy(good.p, good.n);
        for (uint64_t n = 1 + splitmix(&state) % 3; n-- > 0;) {
            const uint64_t r = splitmix(&state);
            const uint64_t from = r & 1 ? TABLE : 0, below = r & 2 ? 512 : good.n;
            bad.p[from + (r >> 8) % ((below < good.n ? below : good.n) - from)] ^=
                (uint8_t)(1u << (r >> 2) % 8);
        }
        image_resum(bad.p, bad.n);
        accepted += exercise(bad) == TAMIS_OK;
        free(bad.p);
    }
    CHECK_THAT(accepted, >, 500);
}

static const struct test tests[] = {
    {"every_field_of_every_section", every_field_of_every_section},
    {"each_rule", each_rule},
    {"bytes_and_flags", bytes_and_flags},
    {"random_damage", random_damage},
};
TEST_MAIN(tests)
