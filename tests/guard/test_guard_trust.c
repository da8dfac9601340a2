/* Signed manifests, what a client with pinned keys requires of them, and its memory of the last
 * accepted version. */
#define _GNU_SOURCE /* F_OFD_SETLK */
#include "../../guard/version/signature.h"
#include "../../guard/version/trust.h"

#include "../support/check.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOW ((time_t)1800000000)

static char place[200];

static const char *path_of(const char *name)
{
    static char path[300];
    snprintf(path, sizeof path, "%s/%s", place, name);
    return path;
}

static void enter(void)
{
    static unsigned n;
    snprintf(place, sizeof place, "test-guard-trust-%ld-%u", (long)getpid(), n++);
    CHECK(mkdir(place, 0755) == 0);
}

static void leave(void)
{
    unlink(path_of("manifest"));
    unlink(path_of("state"));
    CHECK(rmdir(place) == 0);
}

static void put(const char *name, const char *text, size_t n)
{
    FILE *f = fopen(path_of(name), "wb");
    CHECK(f != NULL && fwrite(text, 1, n, f) == n && fclose(f) == 0);
}

static guard_seckey draw(void)
{
    guard_seckey k;
    guard_error why;
    CHECK(guard_seckey_draw(&k, &why));
    return k;
}

/* A manifest of a version that was built an hour ago. */
static guard_manifest manifest(uint64_t version)
{
    guard_manifest m = {.version = version, .base = 1, .built = NOW - 3600, .n_labels = 2};
    memset(m.id, 'a', sizeof m.id - 1);
    m.filter.bytes = 100;
    memset(m.filter.sha256, 'b', sizeof m.filter.sha256 - 1);
    memcpy(m.labels, (char[2][GUARD_LABEL_SIZE]){"signature", "expires"}, sizeof(char[2][64]));
    return m;
}

static guard_manifest signed_by(guard_manifest m, const guard_seckey *keys, size_t n)
{
    guard_error why;
    CHECK(guard_manifest_sign(&m, keys, n, &why));
    return m;
}

/* The text that is written for a manifest. */
static struct guard_manifest_text written(const guard_manifest *m)
{
    static struct guard_manifest_text text;
    guard_manifest read;
    guard_error why;
    bool absent;
    CHECK(guard_manifest_write(place, m, &why));
    CHECK(guard_manifest_read(place, &read, &text, &absent, &why));
    CHECK(read.n_signatures == m->n_signatures && read.expires == m->expires);
    CHECK(memcmp(read.signatures, m->signatures, m->n_signatures * sizeof *m->signatures) == 0);
    return text;
}

/* --- Manifests -------------------------------------------------------------------------------- */

static void test_versions(void)
{
    const guard_seckey k = draw();
    guard_manifest m = manifest(7);
    enter();
    CHECK(strncmp(written(&m).at, "tamis-guard 1\n", 14) == 0); /* older programs read it */
    m.expires = NOW;
    CHECK(strncmp(written(&m).at, "tamis-guard 2\n", 14) == 0);
    m = signed_by(manifest(7), &k, 1);
    const struct guard_manifest_text text = written(&m);
    CHECK(strncmp(text.at, "tamis-guard 2\n", 14) == 0);
    CHECK(strncmp(text.at + text.n_signed, "signature ", 10) == 0);
    CHECK(text.at[text.n_signed - 1] == '\n');
    leave();
}

/* Puts a text with its right sum in the place of the manifest; whether it is read. */
static bool reads(const char *text)
{
    static struct guard_manifest_text t;
    guard_manifest read;
    char sum[65];
    guard_sum_bytes(text, strlen(text), sum);
    t.n = (size_t)snprintf(t.at, sizeof t.at, "%ssum %s\n", text, sum);
    return guard_manifest_parse(&t, &read);
}

/* The lines of a signed manifest, without the sum, with one part replaced. Valid until the call
 * after the next. */
static const char *with(const char *text, const char *old, const char *new)
{
    static char outs[2][2 * GUARD_MANIFEST_BYTES];
    static unsigned turn;
    char *const out = outs[turn++ % 2];
    const char *at = strstr(text, old);
    CHECK(at != NULL);
    snprintf(out, sizeof *outs, "%.*s%s%s", (int)(at - text), text, new, at + strlen(old));
    return out;
}

static void test_forms(void)
{
    const guard_seckey keys[2] = {draw(), draw()};
    guard_manifest m = manifest(7);
    char first[200], second[200], many[2000] = "";
    enter();
    m.expires = NOW;
    m = signed_by(m, keys, 2);
    struct guard_manifest_text text = written(&m);
    text.at[text.n - 69] = '\0';
    char *const at = text.at, *const signatures = at + text.n_signed;
    const int length = (int)(strchr(signatures, '\n') - signatures) + 1;
    snprintf(first, sizeof first, "%.*s", length, signatures);
    snprintf(second, sizeof second, "%s", signatures + length);
    CHECK(reads(at));
    CHECK(reads(with(at, first, "")) && reads(with(at, second, "")));
    CHECK(reads(with(with(at, first, ""), second, "")));       /* unsigned, but of version 2 */
    CHECK(!reads(with(at, "tamis-guard 2", "tamis-guard 1"))); /* which has neither */
    CHECK(!reads(with(at, "tamis-guard 2", "tamis-guard 3")));
    CHECK(!reads(with(at, second, first))); /* one key, twice */
    CHECK(!reads(with(at, "expires 1800000000\n", "expires 1800000000\nexpires 1800000000\n")));
    CHECK(!reads(with(at, "expires 1800000000\n", "expires 0\n")));
    CHECK(!reads(with(at, "expires 1800000000\n", "expires -5\n")));
    CHECK(!reads(with(at, "expires 1800000000\n", "expires +5\n")));
    CHECK(!reads(with(at, "expires 1800000000\n", "expires 18e8\n")));
    CHECK(!reads(with(at, "expires 1800000000\n", "expires 99999999999999999999\n")));
    CHECK(!reads(with(at, "expires 1800000000\n", "expires 1800000000\nlabel more\n")));
    CHECK(!reads(with(at, "expires 1800000000\n", "expires 1800000000\n\n")));
    /* Every manifest has one form, with numbers that all programs read alike. */
    CHECK(reads(with(at, "\nrate 0\n", "\nrate 1e-05\n")));
    CHECK(!reads(with(at, "\nbase 1\n", "\nlabel early\nbase 1\n")));
    CHECK(!reads(with(at, "\nbase 1\n", "\nbase 01\n")));
    CHECK(!reads(with(at, "\nbuilt ", "\nbuilt +")) && !reads(with(at, "\nbuilt ", "\nbuilt -")));
    CHECK(!reads(with(at, "\nbuilt ", "\nbuilt 999")));
    CHECK(!reads(with(at, "\nrate 0\n", "\nrate 1e-2\n")));
    CHECK(!reads(with(at, "\nrate 0\n", "\nrate -0\n")));
    CHECK(!reads(with(at, "\nrate 0\n", "\nrate 1.5\n")));
    CHECK(!reads(with(at, "\nrate 0\n", "\nrate 0.01000000001\n")));
    CHECK(reads(with(at, "\nlines 0\n", "\nlines 9007199254740991\n")));
    CHECK(!reads(with(at, "\nlines 0\n", "\nlines 9007199254740992\n")));
    CHECK(reads(with(at, "\nseed 0\n", "\nseed 18446744073709551615\n")));
    CHECK(!reads(with(at, second, "label more\n"))); /* nothing unsigned follows a signature */
    CHECK(!reads(with(at, second, "expires 1800000000\n")));
    CHECK(!reads(with(at, first, "signature \n")) && !reads(with(at, "version", first)));
    for (unsigned i = 0; i < 9; i++) {
        m.signatures[0].keynum[0] = (uint8_t)i;
        char one[200];
        guard_signature_write(&m.signatures[0], one);
        if (i == 8) CHECK(reads(with(with(at, first, many), second, ""))); /* eight */
        snprintf(many + strlen(many), sizeof many - strlen(many), "signature %s\n", one);
    }
    CHECK(!reads(with(with(at, first, many), second, ""))); /* nine */
    leave();
}

/* Every byte that is signed counts, also where the sum is made anew. */
static void test_signed_bytes(void)
{
    const guard_seckey k = draw();
    const guard_pubkey pinned = guard_pubkey_of(&k);
    const guard_trust t = {.pinned = &pinned, .n_pinned = 1};
    guard_manifest m = signed_by(manifest(7), &k, 1), read;
    guard_error why;
    unsigned tried = 0;
    enter();
    struct guard_manifest_text text = written(&m);
    CHECK(guard_trust_check(&t, &m, &text, NOW, &why));
    for (size_t i = 0; i < text.n_signed; i++) {
        struct guard_manifest_text other = text;
        other.at[i] = other.at[i] == '1' ? '2' : '1';
        guard_sum_bytes(other.at, other.n - 69, other.at + other.n - 65);
        other.at[other.n - 1] = '\n';
        if (!guard_manifest_parse(&other, &read)) continue;
        CHECK(!guard_trust_check(&t, &read, &other, NOW, &why));
        CHECK(strstr(why.text, "is wrong") != NULL);
        tried++;
    }
    CHECK_THAT(tried, >, 50);
    leave();
}

static size_t read_golden(const char *name, char *to, size_t room)
{
    const char *source = getenv("TAMIS_SOURCE");
    char path[1000];
    snprintf(path, sizeof path, "%s/tests/golden/signed/%s", source != NULL ? source : ".", name);
    FILE *f = fopen(path, "rb");
    CHECK(f != NULL);
    const size_t n = fread(to, 1, room, f);
    CHECK(fclose(f) == 0 && n < room);
    to[n] = '\0';
    return n;
}

/* A signed manifest that was made once. */
static void test_golden(void)
{
    static const char *const names[] = {"test.sec.pub", "next.sec.pub"};
    struct guard_manifest_text text;
    guard_manifest m;
    guard_error why;
    char key[GUARD_KEY_FILE];
    guard_pubkey pinned;
    text.n = read_golden("manifest", text.at, sizeof text.at);
    CHECK(guard_manifest_parse(&text, &m) && m.n_signatures == 2 && m.expires == 2110348056);
    for (size_t i = 0; i < 2; i++) {
        const size_t n = read_golden(names[i], key, sizeof key);
        CHECK(guard_pubkey_parse(key, n, &pinned, &why));
        const guard_trust t = {.pinned = &pinned, .n_pinned = 1};
        CHECK(guard_trust_check(&t, &m, &text, NOW, &why));
    }
}

/* --- What a client requires ------------------------------------------------------------------- */

static void test_times_and_versions(void)
{
    static const char other[] = "cccccccccccccccccccccccccccccccc";
    static const struct {
        uint64_t last, version;
        bool other_id;
        long last_built, built, expires; /* relative to now; 0: none */
        const char *reason;              /* NULL: accepted */
    } cases[] = {
        {0, 7, false, 0, -60, 0, NULL},
        {6, 7, false, -60, -60, 0, NULL},
        {7, 7, false, -60, -60, 0, NULL}, /* the same once more */
        {7, 9, true, -60, -50, 0, NULL},
        {8, 7, false, -60, -50, 0, "version 7 is older than version 8"},
        {7, 7, true, -60, -60, 0, "another version 7"},
        {6, 7, false, -60, -61, 0, "before the accepted version 6"},
        {0, 7, false, 0, -60, 1, NULL},
        {0, 7, false, 0, -60, -1,
         "expired at 2027-01-15 07:59:59 UTC; this clock shows "
         "2027-01-15 08:00:00 UTC, and may be wrong"},
        {0, 7, false, 0, 3600, 0, NULL}, /* clocks may differ */
        {0, 7, false, 0, 3601, 0,
         "in the future, at 2027-01-15 09:00:01 UTC; this clock shows "
         "2027-01-15 08:00:00 UTC, and may be wrong"},
        {6, 7, false, 3600, 3600, 0, NULL},
    };
    const guard_seckey k = draw();
    const guard_pubkey pinned = guard_pubkey_of(&k);
    enter();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        guard_trust t = {.pinned = &pinned, .n_pinned = 1, .last.version = cases[i].last};
        guard_manifest m = manifest(cases[i].version);
        guard_error why = {""};
        memcpy(t.last.id, cases[i].other_id ? other : m.id, sizeof t.last.id);
        t.last.built = NOW + cases[i].last_built;
        m.built = NOW + cases[i].built;
        if (cases[i].expires != 0) m.expires = NOW + cases[i].expires;
        m = signed_by(m, &k, 1);
        const struct guard_manifest_text text = written(&m);
        const bool good = guard_trust_check(&t, &m, &text, NOW, &why);
        if (good != (cases[i].reason == NULL) ||
            (!good && strstr(why.text, cases[i].reason) == NULL))
            printf("case %zu: %s\n", i, why.text);
        CHECK(good == (cases[i].reason == NULL));
        CHECK(good || strstr(why.text, cases[i].reason) != NULL);
    }
    leave();
}

/* --- The memory ------------------------------------------------------------------------------- */

static guard_trust with_state(void)
{
    static char state[300];
    snprintf(state, sizeof state, "%s", path_of("state"));
    return (guard_trust){.state = state};
}

static void test_state(void)
{
    guard_error why;
    guard_manifest six = manifest(6), seven = manifest(7);
    enter();
    guard_trust one = with_state(), two = with_state();
    CHECK(guard_trust_recall(&one, &why) && one.last.version == 0);
    CHECK(guard_trust_recall(&two, &why));
    CHECK(guard_trust_remember(&one, &seven, &why) && one.last.version == 7);
    /* The other program still remembers nothing, but must not move it back. */
    CHECK(!guard_trust_remember(&two, &six, &why) && two.last.version == 0);
    CHECK(strstr(why.text, "version 6 is older than version 7") != NULL);
    CHECK(guard_trust_remember(&two, &seven, &why) && two.last.version == 7);
    seven.version = 8;
    CHECK(guard_trust_remember(&two, &seven, &why));
    CHECK(guard_trust_recall(&one, &why) && one.last.version == 8 &&
          one.last.built == seven.built && strcmp(one.last.id, seven.id) == 0);
    CHECK(unlink(path_of("state")) == 0); /* on purpose */
    CHECK(guard_trust_recall(&one, &why) && one.last.version == 0);
    CHECK(guard_trust_remember(&one, &six, &why));
    leave();
}

/* Whether a process sleeps. */
static bool sleeps(pid_t pid)
{
    char path[64], state = '?';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    if (f == NULL) return false;
    const bool read = fscanf(f, "%*d %*s %c", &state) == 1;
    fclose(f);
    return read && state == 'S';
}

/* A program that must wait, because another one is replacing the memory, looks at it again. */
static void test_state_is_locked(void)
{
    guard_error why;
    const guard_manifest six = manifest(6), eight = manifest(8);
    const guard_accepted nine = {.version = 9,
                                 .built = NOW,
                                 .id = "0123456789abcdef"
                                       "0123456789abcdef"};
    struct flock whole = {.l_type = F_WRLCK, .l_whence = SEEK_SET};
    char text[GUARD_STATE_BYTES];
    int status = 0;
    pid_t ended = 0;
    enter();
    guard_trust t = with_state();
    CHECK(guard_trust_remember(&t, &six, &why));
    const int fd = open(path_of("state"), O_RDWR);
    CHECK(fd >= 0 && fcntl(fd, F_OFD_SETLK, &whole) == 0);
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        close(fd); /* the lock is held by the parent's descriptor, which this one shares */
        const bool good = guard_trust_remember(&t, &eight, &why);
        _exit(good ? 0 : strstr(why.text, "version 8 is older than version 9") != NULL ? 1 : 2);
    }
    for (unsigned i = 0; i < 6000 && ended == 0 && !sleeps(child); i++) {
        ended = waitpid(child, &status, WNOHANG);
        usleep(10000);
    }
    CHECK(ended == 0); /* it waits */
    put("new", text, guard_state_print(&nine, text, sizeof text));
    char fresh[300];
    snprintf(fresh, sizeof fresh, "%s", path_of("new"));
    CHECK(rename(fresh, path_of("state")) == 0 && close(fd) == 0);
    CHECK(waitpid(child, &status, 0) == child && WIFEXITED(status));
    CHECK_THAT(WEXITSTATUS(status), ==, 1);
    CHECK(guard_trust_recall(&t, &why) && t.last.version == 9);
    leave();
}

/* Anything else in the file is an error, and stays. */
static void test_damaged_state(void)
{
    const guard_accepted a = {.version = 70,
                              .built = 1800000000,
                              .id = "0123456789abcdef"
                                    "0123456789abcdef"};
    guard_accepted read;
    guard_error why;
    char text[GUARD_STATE_BYTES], now[GUARD_STATE_BYTES];
    const guard_manifest m = manifest(71);
    enter();
    guard_trust t = with_state();
    const size_t n = guard_state_print(&a, text, sizeof text);
    CHECK(guard_state_parse(text, n, &read) && read.version == 70);
    for (size_t i = 0; i < n; i++) {
        CHECK(!guard_state_parse(text, i, &read));
        for (unsigned bit = 0; bit < 8; bit++) {
            text[i] ^= (char)(1 << bit);
            CHECK(!guard_state_parse(text, n, &read));
            text[i] ^= (char)(1 << bit);
        }
    }
    for (size_t cut = 0; cut < n; cut += 20) {
        put("state", text, cut);
        CHECK(!guard_trust_recall(&t, &why) && strstr(why.text, "is damaged") != NULL);
        CHECK(!guard_trust_remember(&t, &m, &why) && strstr(why.text, "is damaged") != NULL);
        FILE *f = fopen(path_of("state"), "rb");
        CHECK(f != NULL && fread(now, 1, sizeof now, f) == cut && fclose(f) == 0);
    }
    memset(now, 'x', sizeof now);
    put("state", now, sizeof now);
    CHECK(!guard_trust_recall(&t, &why) && strstr(why.text, "is damaged") != NULL);
    CHECK(unlink(path_of("state")) == 0 && mkdir(path_of("state"), 0755) == 0);
    CHECK(!guard_trust_recall(&t, &why) && strstr(why.text, "not a regular file") != NULL);
    CHECK(rmdir(path_of("state")) == 0);
    t.state = "no-such-directory/state";
    CHECK(guard_trust_recall(&t, &why));
    CHECK(!guard_trust_remember(&t, &m, &why) && strstr(why.text, "cannot remember") != NULL);
    CHECK(t.last.version == 0);
    leave();
}

static const struct test tests[] = {
    {"versions of manifests", test_versions},        {"forms of manifests", test_forms},
    {"every signed byte counts", test_signed_bytes}, {"a golden manifest", test_golden},
    {"times and versions", test_times_and_versions}, {"the memory of a version", test_state},
    {"a locked memory", test_state_is_locked},       {"damaged memories", test_damaged_state},
};
TEST_MAIN(tests)
