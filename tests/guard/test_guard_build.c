/* From lists to verdicts: versions against a model, and every way in which a version can be
 * wrong. */
#include "../../guard/version/guard.h"
#include "../../guard/version/manifest.h"
#include "../support/keys.h"
#include "../support/room.h"

#include <dirent.h>
#include <errno.h>
#include <sys/stat.h>
#include <tamis/publish.h>
#include <tamis/tamis.h>
#include <unistd.h>

#define HOSTS 3000u
#define LISTS 2u
#define TRUE_LABELS(a, b) ((uint64_t)(a) | (uint64_t)(b) << 1)

/* --- A directory of the test's own ------------------------------------------------------------ */

static char room[200], directory[256];

static void enter(void)
{
    enter_room(NULL, "guard", room, sizeof room);
    snprintf(directory, sizeof directory, "%s/d", room);
}

static const char *path_of(const char *name)
{
    static char path[4][300];
    static unsigned turn;
    char *p = path[turn++ % 4];
    snprintf(p, sizeof path[0], "%s/%s", room, name);
    return p;
}

static void write_file(const char *path, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "wb");
    CHECK(f != NULL);
    CHECK(fwrite(bytes, 1, n, f) == n);
    CHECK(fclose(f) == 0);
}

static char *read_file(const char *path, size_t *n)
{
    static char bytes[4 << 20];
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    *n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    CHECK(*n < sizeof bytes);
    return bytes;
}

static void host_name(unsigned i, char out[64])
{
    snprintf(out, 64, "host%u.example", i);
}

static void hash_of(const char *host, uint8_t hash[GUARD_HASH_SIZE])
{
    char expression[80];
    const int n = snprintf(expression, sizeof expression, "%s/", host);
    guard_hash((guard_span){expression, (size_t)n}, hash);
}

/* --- The model -------------------------------------------------------------------------------- */

struct model {
    bool on[LISTS][HOSTS], good[HOSTS];
};

static void write_list(const char *name, const bool *on, bool also_unless, const bool *unless)
{
    FILE *f = fopen(path_of(name), "w");
    char host[64];
    CHECK(f != NULL);
    for (unsigned i = 0; i < HOSTS; i++) {
        if (!on[i] || (also_unless && unless[i])) continue;
        host_name(i, host);
        fprintf(f, "%s\n", host);
    }
    CHECK(fclose(f) == 0);
}

static guard_manifest build_model(const struct model *m, uint64_t max_bytes)
{
    static const bool none[HOSTS];
    guard_manifest about;
    guard_error why;
    write_list("a", m->on[0], false, none);
    write_list("b", m->on[1], false, none);
    write_list("good", m->good, false, none);
    const guard_list bad[] = {{"first", path_of("a")}, {"second", path_of("b")}};
    const guard_list good[] = {{NULL, path_of("good")}};
    const guard_request r = {.directory = directory,
                             .bad = bad,
                             .n_bad = 2,
                             .good = good,
                             .n_good = 1,
                             .max_bytes = max_bytes,
                             .lenient = true};
    if (!guard_build(&r, &about, &why)) {
        printf("%s\n", why.text);
        CHECK(false);
    }
    return about;
}

/* Version 2 of 1000 hosts, with a delta and removed ones. */
static void two_versions(void)
{
    static struct model m;
    memset(&m, 0, sizeof m);
    for (unsigned i = 0; i < 1000; i++) m.on[0][i] = true;
    build_model(&m, 2000000);
    m.on[0][7] = false;
    m.on[1][2000] = true;
    const guard_manifest about = build_model(&m, 2000000);
    CHECK(about.base == 1 && about.delta.bytes != 0 && about.removal.bytes != 0);
}

static bool count_one(void *ctx, const uint8_t hash[GUARD_HASH_SIZE], uint64_t labels)
{
    (void)labels;
    (void)hash;
    ++*(unsigned *)ctx;
    return true;
}

static void check_host(const guard *g, guard_memory *memory, const struct model *m, unsigned i)
{
    char host[64];
    uint8_t hash[GUARD_HASH_SIZE];
    uint64_t labels = 0;
    unsigned found = 0;
    const uint64_t wanted = TRUE_LABELS(m->on[0][i], m->on[1][i]);
    host_name(i, host);
    hash_of(host, hash);
    const guard_answer a = guard_check(g, memory, host, strlen(host));
    CHECK_THAT(a.verdict, ==, wanted != 0 ? GUARD_LISTED : GUARD_CLEAN);
    CHECK(a.labels == wanted);
    CHECK(guard_confirm(g, hash, &labels) == (wanted != 0) && labels == wanted);
    if (wanted != 0) CHECK(guard_may_list(g, hash));
    if (m->good[i]) CHECK_THAT(a.maybes, ==, 0);
    CHECK(guard_find_prefix(g, hash, count_one, &found));
    CHECK_THAT(found, >=, wanted != 0);
}

static void check_model(const struct model *m, const guard_manifest *about)
{
    guard_error why;
    guard *g = guard_open(directory, &why);
    guard_memory *memory = guard_memory_new(100);
    uint64_t listed = 0;
    CHECK(g != NULL && memory != NULL);
    CHECK(guard_about(g)->version == about->version);
    for (unsigned i = 0; i < HOSTS; i++) {
        listed += m->on[0][i] || m->on[1][i];
        check_host(g, memory, m, i);
    }
    CHECK(about->entries == listed && guard_about(g)->entries == listed);
    guard_memory_free(memory);
    guard_close(g);
}

/* Changes about one in `share` of the hosts; good ones are never listed. */
static void change_model(struct model *m, uint64_t *state, unsigned share, bool with_good)
{
    for (unsigned i = 0; i < HOSTS; i++) {
        if (share != 0 && splitmix(state) % share == 0)
            for (unsigned l = 0; l < LISTS; l++) m->on[l][i] = splitmix(state) % 2 == 0;
        m->good[i] = with_good && !m->on[0][i] && !m->on[1][i] && i % 3 == 0;
    }
}

static void test_versions_against_a_model(void)
{
    static const unsigned shares[] = {1, 0, 100, 300, 1000, 50, 3, 200, 40, 1, 500, 500, 500, 500};
    static struct model m;
    uint64_t state = 6, bases = 0, deltas = 0;
    enter();
    for (unsigned round = 0; round < 28; round++) {
        const bool with_good = round >= 7 && round < 17;
        change_model(&m, &state, shares[round % 14], with_good);
        /* A filter of a few bits in the second half: many maybes, and still no wrong verdict. */
        const guard_manifest about = build_model(&m, round < 14 ? 2000000 : 1500);
        CHECK(about.version == round + 1);
        bases += about.base == about.version;
        deltas += about.base != about.version;
        if (about.base != about.version) {
            CHECK((about.added + about.removed) * 20 <= about.base_entries);
            CHECK((about.delta.bytes != 0) == (about.added != 0));
        }
        CHECK(about.filter.bytes <= (round < 14 ? 2000000 : 1500));
        check_model(&m, &about);
    }
    CHECK_THAT(bases, >=, 5);
    CHECK_THAT(deltas, >=, 5);
}

static void test_lists_of_nothing(void)
{
    static struct model m;
    memset(&m, 0, sizeof m);
    enter();
    guard_manifest about = build_model(&m, 2000000);
    check_model(&m, &about);
    m.on[0][5] = true;
    about = build_model(&m, 2000000);
    check_model(&m, &about);
    m.on[0][5] = false;
    about = build_model(&m, 2000000);
    CHECK(about.version == 3 && about.entries == 0);
    check_model(&m, &about);
}

/* Inputs that are not lists: empty, comments only, not text, more invalid lines than entries.
 * Good lists are tested, too. */
static void test_unlikely_lists(void)
{
    static const char *const texts[] = {"", "# nothing\n\n", "\x1f\x8b\x08\x01\x02\n\x03", "a b\n",
                                        "a b\nz.example\nd e\n"};
    char list[300], wrong[300];
    guard_manifest about;
    guard_error why;
    enter();
    two_versions();
    strcpy(list, path_of("list"));
    strcpy(wrong, path_of("wrong"));
    write_file(list, "a b\nc.example\n# d e\n", 20); /* as many as not: a list */
    const guard_list bad[] = {{"x", list}, {"y", wrong}};
    const guard_list good = {NULL, wrong};
    guard_request r = {.directory = directory, .bad = bad, .n_bad = 1, .max_bytes = 2000000};
    CHECK(guard_build(&r, &about, &why) && about.version == 3 && about.entries == 1);
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        write_file(wrong, texts[i], strlen(texts[i]));
        for (unsigned is_good = 0; is_good < 2; is_good++) {
            r.n_bad = is_good ? 1 : 2;
            r.good = is_good ? &good : NULL;
            r.n_good = is_good;
            CHECK(!guard_build(&r, &about, &why));
            CHECK(strstr(why.text, "nothing is published") != NULL);
            guard *g = guard_open(directory, &why);
            CHECK(g != NULL && guard_about(g)->version == 3 && guard_about(g)->entries == 1);
            guard_close(g);
        }
    }
    r.lenient = true;
    CHECK(guard_build(&r, &about, &why) && about.version == 4 && about.rejects == 3);
}

/* Reads the bytes of a list as another reader would: seven at a time, with a premature end. */
struct seven {
    const char *text;
    size_t at;
    bool fails;
};
static struct seven seven;

static void *open_seven(const char *path)
{
    errno = EDOM;
    seven.at = 0;
    return strcmp(path, "no such") != 0 ? &seven : NULL;
}

static ssize_t read_seven(void *in, void *to, size_t n)
{
    struct seven *s = in;
    size_t left = strlen(s->text) - s->at;
    if (left == 0 && s->fails) return -1;
    left = left < 7 ? left : 7;
    left = left < n ? left : n;
    memcpy(to, s->text + s->at, left);
    s->at += left;
    return (ssize_t)left;
}

static const char *seven_reason(const void *in)
{
    CHECK(in == &seven);
    return "seven is too few";
}

static void close_seven(void *in)
{
    CHECK(in == &seven);
}

static void test_readers_of_lists(void)
{
    static const guard_reader reader = {open_seven, read_seven, seven_reason, close_seven};
    static char text[400000];
    guard_list bad = {"x", "anything"};
    guard_manifest about;
    guard_error why;
    enter();
    const guard_request r = {
        .directory = directory, .bad = &bad, .n_bad = 1, .max_bytes = 2000000, .reader = &reader};
    /* A line longer than any room for one is one reject, wherever it ends; what is behind it is
     * read. */
    strcpy(text, "a.example\nb.example\n");
    memset(text + 20, 'x', 300000);
    strcpy(text + 300020, "\nc.example\r\n\nd.example");
    seven.text = text;
    if (!guard_build(&r, &about, &why)) printf("%s\n", why.text);
    CHECK(about.version == 1 && about.entries == 4 && about.lines == 4 && about.rejects == 1);
    text[300020] = '\0';
    CHECK(guard_build(&r, &about, &why));
    CHECK(about.version == 2 && about.entries == 2 && about.rejects == 1);
    seven.fails = true;
    CHECK(!guard_build(&r, &about, &why) &&
          strcmp(why.text, "anything: cannot read: seven is too few") == 0);
    bad.path = "no such";
    CHECK(!guard_build(&r, &about, &why) && strstr(why.text, strerror(EDOM)) != NULL);
}

/* --- Refuted positives ------------------------------------------------------------------------ */

static void test_refuted_once(void)
{
    static struct model m;
    guard_error why;
    unsigned false_ones = 0;
    memset(&m, 0, sizeof m);
    for (unsigned i = 0; i < 1000; i++) m.on[0][i] = true;
    enter();
    build_model(&m, 1000); /* some five bits an entry, and the head */
    guard *g = guard_open(directory, &why);
    guard_memory *memory = guard_memory_new(100000), *small = guard_memory_new(1);
    CHECK(g != NULL && memory != NULL && small != NULL);
    for (unsigned round = 0; round < 3; round++) {
        for (unsigned i = 1000; i < HOSTS; i++) {
            char host[64];
            host_name(i, host);
            const guard_answer without = guard_check(g, NULL, host, strlen(host));
            const guard_answer with = guard_check(g, memory, host, strlen(host));
            const guard_answer a_little = guard_check(g, small, host, strlen(host));
            CHECK(with.verdict == GUARD_CLEAN && with.maybes == without.maybes);
            CHECK(a_little.verdict == GUARD_CLEAN &&
                  a_little.asked + a_little.refuted == with.maybes);
            CHECK(without.asked == without.maybes && without.refuted == 0);
            CHECK(with.asked == (round == 0 ? with.maybes : 0));
            CHECK(with.asked + with.refuted == with.maybes);
            false_ones += with.maybes > 0;
        }
    }
    CHECK_THAT(false_ones, >, 50);
    guard_memory_free(memory);
    guard_memory_free(small);
    guard_close(g);
}

/* --- Equal prefixes --------------------------------------------------------------------------- */

struct named {
    uint32_t prefix, name;
};

static int by_prefix(const void *a, const void *b)
{
    const struct named *x = a, *y = b;
    return x->prefix < y->prefix ? -1 : x->prefix > y->prefix;
}

/* Two hosts whose hashes begin with the same four bytes: among 400,000 there are 18 such pairs to
 * be expected. */
static void find_twins(char one[64], char two[64])
{
    enum { MANY = 400000 };
    struct named *all = malloc(MANY * sizeof *all);
    unsigned at = 0;
    CHECK(all != NULL);
    for (uint32_t i = 0; i < MANY; i++) {
        uint8_t hash[GUARD_HASH_SIZE];
        char host[64];
        snprintf(host, sizeof host, "twin%u.example", i);
        hash_of(host, hash);
        all[i].name = i;
        memcpy(&all[i].prefix, hash, GUARD_PREFIX);
    }
    qsort(all, MANY, sizeof *all, by_prefix);
    while (at + 1 < MANY && all[at].prefix != all[at + 1].prefix) at++;
    CHECK(at + 1 < MANY);
    snprintf(one, 64, "twin%u.example", all[at].name);
    snprintf(two, 64, "twin%u.example", all[at + 1].name);
    free(all);
}

/* A version that lists 1000 hosts, and these. */
static guard_manifest build_twins(const char *one, const char *two)
{
    FILE *f = fopen(path_of("twins"), "w");
    guard_manifest about;
    guard_error why;
    char host[64];
    CHECK(f != NULL);
    for (unsigned i = 0; i < 1000; i++) {
        host_name(i, host);
        fprintf(f, "%s\n", host);
    }
    fprintf(f, "%s\n%s\n", one, two);
    CHECK(fclose(f) == 0);
    const guard_list bad = {"bad", path_of("twins")};
    const guard_request r = {.directory = directory, .bad = &bad, .n_bad = 1, .max_bytes = 2000000};
    CHECK(guard_build(&r, &about, &why));
    return about;
}

static void check_twins(const char *one, bool one_listed, const char *two, bool two_listed)
{
    guard_error why;
    uint8_t hash[GUARD_HASH_SIZE];
    unsigned found = 0;
    guard *g = guard_open(directory, &why);
    CHECK(g != NULL);
    CHECK(guard_check(g, NULL, one, strlen(one)).verdict ==
          (one_listed ? GUARD_LISTED : GUARD_CLEAN));
    CHECK(guard_check(g, NULL, two, strlen(two)).verdict ==
          (two_listed ? GUARD_LISTED : GUARD_CLEAN));
    hash_of(one, hash);
    CHECK(guard_find_prefix(g, hash, count_one, &found));
    CHECK_THAT(found, ==, one_listed + two_listed);
    guard_close(g);
}

static void test_removed_prefix_hides_nothing(void)
{
    char one[64], two[64];
    guard_manifest about;
    enter();
    find_twins(one, two);
    build_twins(one, "");
    check_twins(one, true, two, false);
    about =
        build_twins("", two); /* one is removed, the other comes: the prefix must not be hidden */
    CHECK(about.base == 1 && about.removed == 1 && about.removal.bytes == 0);
    check_twins(one, false, two, true);
    about = build_twins("", "");
    CHECK(about.base == 1 && about.removed == 1 && about.removal.bytes == GUARD_PREFIX);
    check_twins(one, false, two, false);
    about = build_twins(one, two);
    CHECK(about.base == 1 && about.removed == 0 && about.added == 1);
    check_twins(one, true, two, true);
}

/* --- Damage ----------------------------------------------------------------------------------- */

static void refuse_open(void)
{
    guard_error why = {""};
    guard *g = guard_open(directory, &why);
    if (g != NULL) guard_close(g);
    CHECK(g == NULL);
    CHECK(strlen(why.text) > 10);
}

static void damage_file(const char *path)
{
    size_t n;
    char *bytes = read_file(path, &n);
    for (size_t i = 0; i < 24; i++) { /* spread over the file, with both ends */
        const size_t at = i * (n - 1) / 23;
        bytes[at] = (char)(bytes[at] ^ 1 << i % 8);
        write_file(path, bytes, n);
        refuse_open();
        bytes[at] = (char)(bytes[at] ^ 1 << i % 8);
    }
    for (size_t i = 0; i < 8; i++) {
        write_file(path, bytes, i * (n - 1) / 7);
        refuse_open();
    }
    bytes[n] = '\n';
    write_file(path, bytes, n + 1);
    refuse_open();
    unlink(path);
    refuse_open();
    write_file(path, bytes, n);
}

static void test_damage_is_refused(void)
{
    static const char *const names[] = {"manifest", "1.filter", "2.delta", "2.removed", "2.store"};
    guard_error why;
    enter();
    two_versions();
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char name[80];
        snprintf(name, sizeof name, "d/%s", names[i]);
        damage_file(path_of(name));
    }
    guard *g = guard_open(directory, &why);
    CHECK(g != NULL); /* all is as it was */
    guard_close(g);
}

/* The sum is the last line, and the whole of it: not text that happens to stand at the end. */
static void test_manifest_ends_with_its_sum(void)
{
    static const char *const junk[] = {"\n", "x", " \n", "label y\n", "sum 00\n", "\r\n"};
    char text[4096], sum[80];
    size_t n;
    guard_error why;
    enter();
    two_versions();
    memcpy(text, read_file(path_of("d/manifest"), &n), sizeof text);
    CHECK(n + 100 < sizeof text);
    const size_t last = 4 + 2 * GUARD_HASH_SIZE + 1;
    for (size_t i = 0; i < sizeof junk / sizeof *junk; i++) {
        char longer[5000];
        const size_t more = strlen(junk[i]);
        memcpy(longer, text, n);
        memcpy(longer + n, junk[i], more); /* behind the sum */
        write_file(path_of("d/manifest"), longer, n + more);
        refuse_open();
        memcpy(longer + n - 1, junk[i], more); /* on its line */
        longer[n - 1 + more] = '\n';
        write_file(path_of("d/manifest"), longer, n + more);
        refuse_open();
    }
    /* A second sum line after the first: it is right for the bytes before it, but these contain
     * a line that is not a field. */
    memcpy(sum, text + n - last, last);
    char twice[5000];
    memcpy(twice, text, n);
    memcpy(twice + n, sum, last);
    write_file(path_of("d/manifest"), twice, n + last);
    refuse_open();
    write_file(path_of("d/manifest"), text, n - 1); /* without its end, and with another */
    refuse_open();
    text[n - 1] = 'x';
    write_file(path_of("d/manifest"), text, n);
    refuse_open();
    text[n - 1] = '\n';
    write_file(path_of("d/manifest"), text, n);
    guard *g = guard_open(directory, &why);
    CHECK(g != NULL);
    guard_close(g);
}

/* Whole files, but of another version or another build. */
static void test_strangers_are_refused(void)
{
    static const char *const parts[] = {"1.filter", "2.delta", "2.store"};
    char first[256];
    enter();
    two_versions();
    snprintf(first, sizeof first, "%s/first", room);
    CHECK(rename(directory, first) == 0);
    two_versions(); /* the same lists: the filters differ by their seed, the stores not at all */
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        char here[300], there[300];
        size_t n;
        const bool store = strcmp(parts[i], "2.store") == 0;
        snprintf(here, sizeof here, "%s/%s", directory, parts[i]);
        snprintf(there, sizeof there, "%s/%s", first, store ? "1.store" : parts[i]);
        CHECK(rename(here, path_of("aside")) == 0);
        const char *bytes = read_file(there, &n);
        write_file(here, bytes, n);
        refuse_open();
        CHECK(rename(path_of("aside"), here) == 0);
    }
}

/* A filter that can miss would let listed hosts pass, however whole it and its manifest are. */
static void test_filters_that_miss_are_refused(void)
{
    const tamis_plan p = {
        .struct_size = sizeof p, .kind = TAMIS_BLOOM, .items = 1000, .m = 10000, .k = 1};
    guard_manifest about;
    guard_error why = {""};
    bool absent;
    tamis *t, *noisy;
    enter();
    two_versions();
    CHECK(tamis_create(&p, NULL, &t, NULL) == TAMIS_OK);
    CHECK(tamis_release(t, 1, &noisy, NULL) == TAMIS_OK);
    CHECK(tamis_save(noisy, path_of("d/1.filter"), NULL, NULL) == TAMIS_OK);
    CHECK(guard_manifest_read(directory, &about, NULL, &absent, &why));
    CHECK(guard_sum_file(path_of("d/1.filter"), &about.filter, &why));
    CHECK(guard_manifest_write(directory, &about, &why));
    guard *g = guard_open(directory, &why);
    CHECK(g == NULL && strstr(why.text, "a private filter, which can miss listed URLs") != NULL);
    /* And the same with one that cannot. */
    CHECK(tamis_save(t, path_of("d/1.filter"), NULL, NULL) == TAMIS_OK);
    CHECK(guard_sum_file(path_of("d/1.filter"), &about.filter, &why));
    CHECK(guard_manifest_write(directory, &about, &why));
    g = guard_open(directory, &why);
    CHECK(g != NULL);
    guard_close(g);
    tamis_close(t);
    tamis_close(noisy);
}

static void test_build_keeps_off_damage(void)
{
    static struct model m;
    guard_manifest about;
    guard_error why;
    enter();
    two_versions();
    write_file(path_of("d/manifest"), "tamis-guard 1\n", 14);
    const guard_list bad = {"bad", path_of("a")};
    const guard_request r = {.directory = directory, .bad = &bad, .n_bad = 1, .max_bytes = 2000000};
    CHECK(!guard_build(&r, &about, &why)); /* what it says is unknown: it may be of a newer tamis */
    /* A damaged base is not used: the next version has a base of its own. */
    enter();
    two_versions();
    write_file(path_of("d/1.filter"), "x", 1);
    for (unsigned i = 0; i < 1000; i++) m.on[0][i] = true;
    about = build_model(&m, 2000000);
    CHECK(about.version == 3 && about.base == 3);
    check_model(&m, &about);
}

static const struct test tests[] = {
    {"versions against a model", test_versions_against_a_model},
    {"lists of nothing", test_lists_of_nothing},
    {"unlikely lists", test_unlikely_lists},
    {"readers of lists", test_readers_of_lists},
    {"refuted once", test_refuted_once},
    {"a removed prefix hides nothing", test_removed_prefix_hides_nothing},
    {"damage is refused", test_damage_is_refused},
    {"a manifest ends with its sum", test_manifest_ends_with_its_sum},
    {"strangers are refused", test_strangers_are_refused},
    {"filters that miss are refused", test_filters_that_miss_are_refused},
    {"a build keeps off damage", test_build_keeps_off_damage},
};
TEST_MAIN(tests)
