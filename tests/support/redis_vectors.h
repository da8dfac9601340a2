/* The objects of tests/redis/redisbloom*.vectors with the commands that made them, and RedisBloom's
 * structures under one name. */
#ifndef TAMIS_REDIS_VECTORS_H
#define TAMIS_REDIS_VECTORS_H

#include "../../redis/redisbloom/bloom.h"
#include "../../redis/redisbloom/cuckoo.h"
#include "../../redis/redisbloom/sketch.h"
#include "../../redis/redisbloom/tdigest.h"
#include "../../redis/redisbloom/top.h"
#include "redis_fields.h"

#include <math.h>

/* --- The five structures under one name ------------------------------------------------------- */

enum family { BF, CF, CMS, TOPK, TDIGEST };

static void save(enum family family, void *value, struct fields *f)
{
    const struct compat_writer w = {f, write_number, write_real, write_bytes};
    *f = (struct fields){0};
    if (family == BF) compat_bloom_save(value, &w);
    if (family == CF) compat_cuckoo_save(value, &w);
    if (family == CMS) compat_sketch_save(value, &w);
    if (family == TOPK) compat_top_save(value, &memory, &w);
    if (family == TDIGEST) compat_tdigest_save(value, &w);
}

static enum compat_status load(enum family family, struct fields *f, void **out)
{
    const struct compat_reader r = {f, read_number, read_real, read_bytes};
    struct compat_bloom *b;
    struct compat_cuckoo *c;
    struct compat_sketch *s;
    struct compat_top *t;
    struct compat_tdigest *d;
    enum compat_status status = COMPAT_BAD;
    f->at = 0;
    switch (family) {
    case BF: status = compat_bloom_load(&r, 4, &memory, &b), *out = b; break;
    case CF: status = compat_cuckoo_load(&r, 4, &memory, &c), *out = c; break;
    case CMS: status = compat_sketch_load(&r, 0, &memory, &s), *out = s; break;
    case TOPK: status = compat_top_load(&r, 0, &memory, &t), *out = t; break;
    case TDIGEST: status = compat_tdigest_load(&r, 0, &memory, &d), *out = d; break;
    }
    return status;
}

static void drop(enum family family, void *value)
{
    if (family == BF) compat_bloom_free(&memory, value);
    if (family == CF) compat_cuckoo_free(&memory, value);
    if (family == CMS) compat_sketch_free(&memory, value);
    if (family == TOPK) compat_top_free(&memory, value);
    if (family == TDIGEST) compat_tdigest_free(&memory, value);
}

static void *copy_of(enum family family, const void *value)
{
    if (family == BF) return compat_bloom_copy(&memory, value);
    if (family == CF) return compat_cuckoo_copy(&memory, value);
    if (family == CMS) return compat_sketch_copy(&memory, value);
    if (family == TDIGEST) return compat_tdigest_copy(&memory, value);
    return compat_top_copy(&memory, value);
}

static void check_same(enum family family, void *value, const struct fields *wanted)
{
    struct fields got;
    save(family, value, &got);
    CHECK_THAT(got.len, ==, wanted->len);
    CHECK(memcmp(got.p, wanted->p, got.len) == 0);
    free(got.p);
}

/* --- RedisBloom's DUMP payloads --------------------------------------------------------------- */

static uint64_t rdb_length(const uint8_t **p, bool *coded)
{
    const uint8_t first = *(*p)++;
    uint64_t n = first & 0x3f;
    *coded = first >> 6 == 3;
    if (first >> 6 == 1) n = n << 8 | *(*p)++;
    if (first >> 6 == 2) {
        n = 0;
        for (int i = first == 0x81 ? 8 : 4; i > 0; i--) n = n << 8 | *(*p)++;
    }
    return n;
}

/* LZF, as Redis shortens strings. */
static void unpack(const uint8_t *p, size_t packed, uint8_t *out)
{
    for (const uint8_t *end = p + packed; p < end;) {
        size_t n = *p++;
        if (n < 32) {
            for (n++; n > 0; n--) *out++ = *p++;
            continue;
        }
        size_t back = (n & 31) << 8;
        n >>= 5;
        if (n == 7) n += *p++;
        back |= *p++;
        const uint8_t *from = out - back - 1;
        for (n += 2; n > 0; n--) *out++ = *from++;
    }
}

static struct fields fields_of_dump(const uint8_t *p)
{
    struct fields f = {0};
    bool coded;
    CHECK_THAT(*p++, ==, 7);
    rdb_length(&p, &coded);
    for (uint64_t tag; (tag = rdb_length(&p, &coded)) != 0;) {
        CHECK(tag == 2 || tag == 4 || tag == 5);
        if (tag == 2) {
            put_tagged(&f, 'U', rdb_length(&p, &coded));
        } else if (tag == 4) {
            put_tagged(&f, 'D', compat_get64(p));
            p += 8;
        } else {
            uint64_t n = rdb_length(&p, &coded), packed = n;
            if (coded && n == 3) {
                packed = rdb_length(&p, &coded);
                n = rdb_length(&p, &coded);
                uint8_t *plain = malloc((size_t)n);
                CHECK(plain != NULL);
                unpack(p, (size_t)packed, plain);
                write_bytes(&f, plain, (size_t)n);
                free(plain);
            } else if (coded) { /* a number as one, two or four bytes */
                CHECK(n < 3);
                char text[16];
                packed = (uint64_t)1 << n;
                const int32_t value = n == 0   ? (int8_t)*p
                                      : n == 1 ? (int16_t)compat_get16(p)
                                               : (int32_t)compat_get32(p);
                write_bytes(&f, text, (size_t)snprintf(text, sizeof text, "%d", value));
            } else {
                write_bytes(&f, p, (size_t)n);
            }
            p += packed;
        }
    }
    return f;
}

/* --- Objects of the file of vectors ----------------------------------------------------------- */

struct command {
    char **words; /* NULL ends them */
    char **reply;
    size_t n, replies;
};

struct object {
    enum family family;
    char name[32];
    struct command run[64], ask[8];
    size_t runs, asks, chunks;
    struct fields dump;
    struct {
        uint64_t iterator;
        uint8_t *p;
        size_t len;
    } chunk[8];
};

static size_t unhex(const char *hex, uint8_t **out)
{
    const size_t n = strcspn(hex, "\n") / 2;
    *out = malloc(n + 1);
    CHECK(*out != NULL);
    for (size_t i = 0; i < n; i++) {
        const char digits[] = {hex[2 * i], hex[2 * i + 1], 0};
        (*out)[i] = (uint8_t)strtoul(digits, NULL, 16);
    }
    return n;
}

/* "WORD... = REPLY" or "WORD... = [ REPLY... ]"; the words stay in the line. */
static struct command command_of(char *line)
{
    struct command c = {.words = calloc(300, sizeof *c.words),
                        .reply = calloc(300, sizeof *c.reply)};
    bool reply = false;
    for (char *word = strtok(line, " \n"); word != NULL; word = strtok(NULL, " \n")) {
        CHECK(c.n < 299 && c.replies < 299);
        if (strcmp(word, "=") == 0)
            reply = true;
        else if (!reply)
            c.words[c.n++] = word;
        else if (strcmp(word, "[") != 0 && strcmp(word, "]") != 0)
            c.reply[c.replies++] = word;
    }
    return c;
}

static struct object objects[16], streams[32];
static size_t object_count, stream_count;

/* Takes the line. */
static void add_line(struct object *o, char *line)
{
    char *text = strchr(line, ' ') + 1;
    if (strncmp(line, "run ", 4) == 0) {
        CHECK(o->runs < 64);
        o->run[o->runs++] = command_of(text);
    } else if (strncmp(line, "ask ", 4) == 0) {
        CHECK(o->asks < 8);
        o->ask[o->asks++] = command_of(text);
    } else if (strncmp(line, "dump ", 5) == 0) {
        uint8_t *bytes;
        unhex(text, &bytes);
        o->dump = fields_of_dump(bytes);
        free(bytes);
        free(line);
    } else {
        CHECK(strncmp(line, "chunk ", 6) == 0 && o->chunks < 8);
        o->chunk[o->chunks].iterator = strtoull(text, &text, 10);
        o->chunk[o->chunks].len = unhex(text + 1, &o->chunk[o->chunks].p);
        o->chunks++;
        free(line);
    }
}

/* At most `most` objects of a file; returns how many there are. */
static size_t read_objects(const char *file, struct object *out, size_t most)
{
    const char *source = getenv("TAMIS_SOURCE");
    char path[1000];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/tests/redis/%s", source != NULL ? source : ".", file);
    FILE *in = fopen(path, "r");
    CHECK(in != NULL);
    char *line = NULL;
    size_t room_of_line = 0;
    while (getline(&line, &room_of_line, in) > 0) {
        if (line[0] == '#') continue;
        if (strncmp(line, "object ", 7) == 0) {
            CHECK(n < most);
            struct object *o = &out[n++];
            CHECK(sscanf(line + 7, "%31s", o->name) == 1);
            o->family = o->name[0] == 'b'                 ? BF
                        : strncmp(o->name, "td_", 3) == 0 ? TDIGEST
                        : o->name[0] == 't'               ? TOPK
                        : o->name[1] == 'f'               ? CF
                                                          : CMS;
        } else {
            CHECK(n > 0);
            add_line(&out[n - 1], strdup(line));
        }
    }
    free(line);
    fclose(in);
    return n;
}

static void read_vectors(void)
{
    object_count = read_objects("redisbloom.vectors", objects, 16);
    CHECK_THAT(object_count, ==, 8);
    object_count += read_objects("redisbloom_tdigest.vectors", objects + 8, 8);
    CHECK_THAT(object_count, ==, 12);
    stream_count = read_objects("redisbloom_topk.vectors", streams, 32);
    CHECK_THAT(stream_count, ==, 17);
}

/* --- The commands of the vectors -------------------------------------------------------------- */

static const char *word_after(const struct command *c, const char *word, const char *otherwise)
{
    for (size_t i = 0; i + 1 < c->n; i++)
        if (strcmp(c->words[i], word) == 0) return c->words[i + 1];
    return otherwise;
}

static bool is(const struct command *c, const char *name)
{
    return strcmp(c->words[0], name) == 0;
}

static unsigned long number(const char *text)
{
    return strtoul(text, NULL, 10);
}

static void create(enum family family, const struct command *c, void **value)
{
    char **w = c->words;
    struct compat_bloom *b = NULL;
    struct compat_cuckoo *f = NULL;
    struct compat_sketch *s = NULL;
    struct compat_top *t = NULL;
    struct compat_tdigest *d = NULL;
    if (is(c, "BF.RESERVE")) {
        const bool fixed = strcmp(w[c->n - 1], "NONSCALING") == 0;
        CHECK(compat_bloom_create(&room, atof(w[2]), number(w[3]), 2, fixed, &b) == COMPAT_OK);
    } else if (family == BF) {
        CHECK(compat_bloom_create(&room, 0.01, 100, 2, false, &b) == COMPAT_OK);
    } else if (is(c, "CF.RESERVE")) {
        CHECK(compat_cuckoo_create(
                  &room, number(w[2]), (uint16_t)number(word_after(c, "BUCKETSIZE", "2")),
                  (uint16_t)number(word_after(c, "MAXITERATIONS", "20")),
                  (uint16_t)number(word_after(c, "EXPANSION", "1")), &f) == COMPAT_OK);
    } else if (is(c, "CMS.INITBYDIM")) {
        CHECK(compat_sketch_create(&room, number(w[2]), number(w[3]), &s) == COMPAT_OK);
    } else if (is(c, "CMS.INITBYPROB")) {
        uint64_t width, depth;
        CHECK(compat_sketch_shape(atof(w[2]), atof(w[3]), &width, &depth) == COMPAT_OK);
        CHECK(compat_sketch_create(&room, width, depth, &s) == COMPAT_OK);
    } else if (is(c, "TDIGEST.CREATE")) {
        CHECK(compat_tdigest_create(&room, number(w[3]), &d) == COMPAT_OK);
    } else {
        CHECK(is(c, "TOPK.RESERVE"));
        CHECK(compat_top_create(&room, (uint32_t)number(w[2]), (uint32_t)number(w[3]),
                                (uint32_t)number(w[4]), atof(w[5]), &t) == COMPAT_OK);
    }
    *value = family == BF    ? (void *)b
             : family == CF  ? (void *)f
             : family == CMS ? (void *)s
             : d != NULL     ? (void *)d
                             : t;
}

/* One command that changes the value, or makes it; its replies must be those of RedisBloom. */
static void run(enum family family, const struct command *c, void **value)
{
    struct compat_top_item expelled;
    if (*value == NULL) {
        create(family, c, value);
        if (!is(c, "BF.MADD")) return;
    }
    const size_t step = is(c, "CMS.INCRBY") || is(c, "TOPK.INCRBY") ? 2 : 1;
    for (size_t i = 2; i < c->n; i += step) {
        const char *item = c->words[i],
                   *reply = c->reply[is(c, "TDIGEST.ADD") ? 0 : (i - 2) / step];
        const size_t len = strlen(item);
        if (is(c, "BF.MADD")) {
            const enum compat_status s = compat_bloom_add(*value, &room, item, len);
            CHECK(s == (number(reply) ? COMPAT_OK : COMPAT_SEEN));
        } else if (is(c, "TDIGEST.ADD")) {
            CHECK(compat_tdigest_prepare(*value, &room, 1) == COMPAT_OK);
            compat_tdigest_add(*value, atof(item));
        } else if (is(c, "CF.ADD")) {
            CHECK(compat_cuckoo_add(*value, &room, 32, item, len) == COMPAT_OK);
        } else if (is(c, "CF.DEL")) {
            const enum compat_status s = compat_cuckoo_remove(*value, &memory, item, len);
            CHECK(s == (number(reply) ? COMPAT_OK : COMPAT_ABSENT));
        } else if (is(c, "CMS.INCRBY")) {
            CHECK_THAT(compat_sketch_add(*value, item, len, number(c->words[i + 1])), ==,
                       number(reply));
        } else {
            CHECK(is(c, "TOPK.INCRBY") || is(c, "TOPK.ADD"));
            const uint32_t n = step == 2 ? (uint32_t)number(c->words[i + 1]) : 1;
            CHECK(compat_top_add(*value, &room, item, len, n, &expelled) == COMPAT_OK);
            CHECK(strcmp(expelled.item == NULL ? "nil" : expelled.item, reply) == 0);
            compat_free(&memory, expelled.item);
        }
    }
}

/* A reply of a question to a t-digest, for argument i. */
static double ask_digest(const struct command *c, struct compat_tdigest *t, size_t i)
{
    char *const *w = c->words;
    if (is(c, "TDIGEST.QUANTILE")) return compat_tdigest_quantile(t, atof(w[i]));
    if (is(c, "TDIGEST.CDF")) return compat_tdigest_cdf(t, atof(w[i]));
    if (is(c, "TDIGEST.RANK")) return (double)compat_tdigest_rank(t, atof(w[i]), false);
    if (is(c, "TDIGEST.BYRANK")) return compat_tdigest_by_rank(t, number(w[i]), false);
    CHECK(is(c, "TDIGEST.TRIMMED_MEAN"));
    return compat_tdigest_trimmed_mean(t, atof(w[2]), atof(w[3]));
}

/* Questions about items; those about the structure are for the tests with a server. */
static void ask(const struct command *c, void *value, size_t *asked)
{
    if (strncmp(c->words[0], "TDIGEST.", 8) == 0) {
        if (is(c, "TDIGEST.INFO")) return;
        for (size_t i = 0; i < c->replies && c->n > 2; i++, ++*asked) {
            const double got = ask_digest(c, value, i + 2), wanted = atof(c->reply[i]);
            CHECK(isnan(wanted) ? isnan(got) : got == wanted);
        }
        return;
    }
    const bool bloom = is(c, "BF.MEXISTS"), cuckoo = is(c, "CF.MEXISTS"), count = is(c, "CF.COUNT");
    const bool sketch = is(c, "CMS.QUERY"), top = is(c, "TOPK.QUERY"), tops = is(c, "TOPK.COUNT");
    if (is(c, "TOPK.LIST")) {
        const struct compat_top_item *list[64];
        const size_t n = compat_top_list(value, list), step = c->n == 3 ? 2 : 1;
        CHECK_THAT(n * step, ==, c->replies);
        for (size_t i = 0; i < n; i++) {
            CHECK(strcmp(list[i]->item, c->reply[step * i]) == 0);
            if (step == 2) CHECK_THAT(list[i]->count, ==, number(c->reply[2 * i + 1]));
        }
        *asked += n;
    }
    if (!(bloom || cuckoo || count || sketch || top || tops)) return;
    for (size_t i = 2; i < c->n; i++) {
        const char *item = c->words[i];
        const size_t len = strlen(item);
        const uint64_t got = bloom    ? compat_bloom_has(value, item, len)
                             : cuckoo ? compat_cuckoo_has(value, item, len)
                             : count  ? compat_cuckoo_count(value, item, len)
                             : sketch ? compat_sketch_count(value, item, len)
                             : tops   ? compat_top_count(value, item, len)
                                      : compat_top_has(value, item, len);
        CHECK_THAT(got, ==, number(c->reply[i - 2]));
        ++*asked;
    }
}

/* Heap pointers of a process that has ended are not part of the value. */
static struct fields without_pointers(const struct object *o)
{
    struct fields f = {.p = malloc(o->dump.len), .len = o->dump.len};
    CHECK(f.p != NULL);
    memcpy(f.p, o->dump.p, f.len);
    if (o->family != TOPK) return f;
    uint64_t k = compat_get64(f.p + 1), n;
    f.at = 4 * 9;
    CHECK(read_tagged(&f, 'S', &n)); /* cells */
    f.at += (size_t)n;
    CHECK(read_tagged(&f, 'S', &n) && n == k * 24);
    for (; k > 0; k--, f.at += 24) memset(f.p + f.at + 8, 0, 8);
    return f;
}

#endif
