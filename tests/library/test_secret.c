/* A core dump shows no secret key. A child makes keyed handles (created, copied, loaded, viewed,
 * opened, mapped, converted, released; a sketch), works with them, wipes its own copy of the key
 * and waits. Then all of its memory that a core dump would contain (/proc/PID/smaps: mappings
 * without the flag dd) is searched for the key, and for what SipHash first makes from it. That
 * does not depend on how cores are set up on this machine. */
#include "../support/check.h"
#include "../support/keys.h"

#include <tamis/publish.h>
#include <tamis/tamis.h>

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#endif
#if !defined(__linux__) || defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__) ||        \
    defined(SANITIZED)
int main(void)
{
    printf("only where core dumps can leave pages out, and without a sanitizer's terabytes\n");
    return 0;
}
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile uint8_t forgotten[16]; /* by a child that is careless */

/* --- The child -------------------------------------------------------------------------------- */

static void must(bool good, int line)
{
    if (good) return;
    fprintf(stderr, "test_secret.c:%d: the child failed\n", line);
    _exit(3);
}
#define MUST(condition) must(condition, __LINE__)

/* Every path on which a key is hashed: one, eight and more at once, short and long, scalar and
 * not. */
static void work(tamis *t)
{
    char room[64][KEY_MAX];
    tamis_bytes keys[64];
    tamis_hash hashes[64];
    uint8_t bits[8];
    bool seen;
    for (int style = 0; style < KEY_STYLES; style++) {
        for (uint64_t i = 0; i < 64; i++)
            keys[i] = (tamis_bytes){room[i], make_key((enum key_style)style, i, room[i])};
        MUST(tamis_hash_many(t, keys, 64, hashes) == TAMIS_OK);
        MUST(tamis_add_many(t, keys, 64, bits, NULL) == TAMIS_OK);
        MUST(tamis_may_contain_many(t, keys, 64, bits) == 64);
        MUST(tamis_add(t, keys->p, keys->len, &seen) == TAMIS_OK && seen);
        MUST(tamis_may_contain(t, keys->p, keys->len));
    }
}

static void *take(void *ctx, size_t size)
{
    (void)ctx;
    return malloc(size);
}

static void give(void *ctx, void *p)
{
    (void)ctx;
    free(p);
}

static _Alignas(64) uint8_t image[1 << 16];
static size_t image_size;

static tamis_status keep(void *ctx, const void *bytes, size_t n)
{
    (void)ctx;
    MUST(image_size + n <= sizeof image);
    memcpy(image + image_size, bytes, n);
    image_size += n;
    return TAMIS_OK;
}

/* Handles that stay, and others that were closed: what is freed is dumped as well. */
static void make_handles(const uint8_t *key)
{
    static const tamis_memory own = {.alloc = take, .free = give};
    tamis_options o = {.struct_size = sizeof o, .key = key};
    const tamis_plan bloom = {
        .struct_size = sizeof bloom, .kind = TAMIS_BLOOM, .m = 4096, .k = 1, .items = 500};
    const tamis_plan counting = {
        .struct_size = sizeof counting, .kind = TAMIS_COUNTING, .items = 500, .fpr = 0.01};
    const tamis_plan top = {.struct_size = sizeof top, .kind = TAMIS_TOP, .bytes = 32768};
    tamis *t, *copy, *loaded, *plain, *private, *viewed, *opened[2];
    char path[40];
    snprintf(path, sizeof path, "test_secret.%ld.tmp", (long)getpid());
    for (int round = 0; round < 2; round++) {
        o.memory = round == 0 ? NULL : &own;
        MUST(tamis_create(&bloom, &o, &t, NULL) == TAMIS_OK);
        work(t);
        MUST(tamis_copy(t, &copy, NULL) == TAMIS_OK);
        work(copy);
        image_size = 0;
        MUST(tamis_write(t, keep, NULL, NULL) == TAMIS_OK);
        MUST(tamis_load(image, image_size, &o, &loaded, NULL) == TAMIS_OK);
        work(loaded);
        MUST(tamis_release(t, 1, &private, NULL) == TAMIS_OK);
        tamis_close(t);
        MUST(tamis_view(image, image_size, &o, &t, NULL) == TAMIS_OK);
        MUST(tamis_copy(t, &viewed, NULL) == TAMIS_OK);
        work(viewed);
        tamis_close(t);
        MUST(tamis_save(viewed, path, NULL, NULL) == TAMIS_OK);
        for (int mapped = 0; mapped < 2; mapped++) {
            o.flags = mapped ? TAMIS_MAP : 0;
            MUST(tamis_open(path, &o, &opened[mapped], NULL) == TAMIS_OK);
            (void)tamis_may_contain(opened[mapped], "x", 1);
        }
        o.flags = 0;
        MUST(unlink(path) == 0);
        MUST(tamis_create(&top, &o, &t, NULL) == TAMIS_OK);
        work(t);
        MUST(tamis_create(&counting, &o, &t, NULL) == TAMIS_OK);
        work(t);
        MUST(tamis_convert(t, TAMIS_BLOOM, &plain, NULL) == TAMIS_OK);
        work(plain);
        tamis_close(copy);
    }
}

static void child(bool careless, int out, int in)
{
    uint8_t key[16];
    char done;
    MUST(getentropy(key, sizeof key) == 0);
    for (size_t i = 0; i < sizeof key && careless; i++) forgotten[i] = key[i];
    make_handles(key);
    MUST(write(out, key, sizeof key) == sizeof key);
    explicit_bzero(key, sizeof key);
    MUST(write(out, "", 1) == 1); /* now */
    MUST(read(in, &done, 1) >= 0);
    _exit(0);
}

/* --- Its memory ------------------------------------------------------------------------------- */

struct found {
    size_t dumped, hidden; /* places with a part of the key */
    size_t bytes;          /* read */
};

/* The words of the key, and what SipHash begins with. */
enum { NEEDLES = 7 };
static void needles_of(const uint8_t *key, uint64_t out[NEEDLES])
{
    uint64_t k[2];
    memcpy(k, key, 16);
    const uint64_t n[NEEDLES] = {k[0],
                                 k[1],
                                 k[0] ^ UINT64_C(0x736f6d6570736575),
                                 k[1] ^ UINT64_C(0x646f72616e646f6d),
                                 k[1] ^ UINT64_C(0x646f72616e646f6d) ^ 0xee,
                                 k[0] ^ UINT64_C(0x6c7967656e657261),
                                 k[1] ^ UINT64_C(0x7465646279746573)};
    memcpy(out, n, sizeof n);
}

static size_t search(int mem, uint64_t from, uint64_t to, const uint64_t *needles, size_t *bytes)
{
    static uint8_t page[4096 + 8];
    size_t found = 0;
    for (uint64_t at = from; at < to; at += 4096) {
        const ssize_t got = pread(mem, page, at + 4096 < to ? sizeof page : 4096, (off_t)at);
        if (got < 8) continue; /* a guard page, or the system's */
        *bytes += (size_t)got;
        for (size_t i = 0; i + 8 <= (size_t)got && i < 4096; i++) {
            uint64_t word;
            memcpy(&word, page + i, 8);
            for (int j = 0; j < NEEDLES; j++) found += word == needles[j];
        }
    }
    return found;
}

static struct found read_child(pid_t pid, const uint8_t *key)
{
    struct found f = {0, 0, 0};
    uint64_t needles[NEEDLES];
    char path[64], line[512];
    unsigned long long from = 0, to = 0, a, b;
    needles_of(key, needles);
    snprintf(path, sizeof path, "/proc/%d/mem", (int)pid);
    const int mem = open(path, O_RDONLY);
    snprintf(path, sizeof path, "/proc/%d/smaps", (int)pid);
    FILE *maps = fopen(path, "r");
    CHECK(mem >= 0 && maps != NULL);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%llx-%llx ", &a, &b) == 2) from = a, to = b;
        if (strncmp(line, "VmFlags:", 8) != 0) continue;
        const bool is_hidden = strstr(line, " dd") != NULL;
        size_t *n = is_hidden ? &f.hidden : &f.dumped;
        *n += search(mem, from, to, needles, &f.bytes);
    }
    fclose(maps);
    close(mem);
    return f;
}

static struct found look(bool careless)
{
    int out[2], in[2];
    uint8_t said[17];
    size_t n = 0;
    int status;
    CHECK(pipe(out) == 0 && pipe(in) == 0);
    fflush(stdout);
    const pid_t pid = fork();
    CHECK(pid >= 0);
    if (pid == 0) child(careless, out[1], in[0]);
    close(out[1]);
    for (ssize_t got = 1; n < sizeof said && got > 0; n += (size_t)got) {
        got = read(out[0], said + n, sizeof said - n);
        if (got < 0) got = 0;
    }
    CHECK_THAT(n, ==, sizeof said);
    const struct found f = read_child(pid, said);
    CHECK(write(in[1], "", 1) == 1);
    CHECK(waitpid(pid, &status, 0) == pid && status == 0);
    close(out[0]), close(in[0]), close(in[1]);
    return f;
}

/* An emulator of another machine does not pass the advice on. */
static bool dumps_can_leave_pages_out(void)
{
    char line[512];
    bool found = false, here = false;
    unsigned long long from, to;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void *p = mmap(NULL, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    FILE *maps = fopen("/proc/self/smaps", "r");
    CHECK(p != MAP_FAILED && maps != NULL);
    madvise(p, page, MADV_DONTDUMP);
    while (fgets(line, sizeof line, maps) != NULL) {
        if (sscanf(line, "%llx-%llx ", &from, &to) == 2)
            here = from <= (uintptr_t)p && (uintptr_t)p < to;
        found = found || (here && strncmp(line, "VmFlags:", 8) == 0 && strstr(line, " dd") != NULL);
    }
    fclose(maps);
    munmap(p, page);
    return found;
}

/* Eight handles are left, with both words of the key in each. */
static void no_key_in_a_core(void)
{
    if (!dumps_can_leave_pages_out()) return;
    const struct found f = look(false);
    CHECK_THAT(f.dumped, ==, 0);
    CHECK_THAT(f.hidden, >=, 16);
    CHECK_THAT(f.bytes, >, 1 << 16);
}

static void careless_programs_are_seen(void)
{
    const struct found f = look(true);
    CHECK_THAT(f.dumped, >=, 2);
}

static const struct test tests[] = {
    {"no key in a core", no_key_in_a_core},
    {"careless programs are seen", careless_programs_are_seen},
};
TEST_MAIN(tests)
#endif
