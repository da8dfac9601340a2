/* What tamis guard fetch reads besides lists: files of sources, words LABEL=URL, and what it has
 * kept of the answers of servers. The first byte selects which of them the rest is. Sources are
 * those of a simple reader, and a refusal quotes no URL. What is read of a state is written and
 * read again as the same, and its tags can stand in the head of a request.
 *
 * ./run fuzz fetch */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include "fuzz.h"

#include "../../guard/fetch/fetch.h"
#include "../../guard/fetch/state.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define BLANKS " \t\r\n"

/* A regular file with these bytes, which is gone when it is closed. */
static int file_of(const void *bytes, size_t n, char path[32])
{
    const int fd = memfd_create("input", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, bytes, n) == (ssize_t)n, "a file");
    snprintf(path, 32, "/proc/self/fd/%d", fd);
    return fd;
}

/* --- Sources ---------------------------------------------------------------------------------- */

struct simple {
    char *label, *url;
};

static bool is_label(const char *label)
{
    const size_t n = strlen(label);
    for (const char *c = label; *c != '\0'; c++) {
        const bool letter = (*c >= 'a' && *c <= 'z') || (*c >= 'A' && *c <= 'Z');
        if (!letter && !(*c >= '0' && *c <= '9') && *c != '_' && *c != '-') return false;
    }
    return n >= 1 && n <= 63 && label[0] != '-';
}

/* How many sources the lines have; 0 if they are refused. */
static size_t read_simply(char *text, size_t n, struct simple *out)
{
    size_t count = 0;
    if (memchr(text, '\0', n) != NULL) return 0;
    for (char *line = text, *next; *line != '\0'; line = next) {
        char *words[3] = {NULL, NULL, NULL}, *rest;
        next = line + strcspn(line, "\n");
        if (*next != '\0') *next++ = '\0';
        for (size_t i = 0; i < 3; i++) words[i] = strtok_r(i == 0 ? line : NULL, BLANKS, &rest);
        if (words[0] == NULL || words[0][0] == '#') continue;
        if (words[1] == NULL || words[2] != NULL || !is_label(words[0])) return 0;
        for (size_t i = 0; i < count; i++)
            if (strcmp(out[i].label, words[0]) == 0) return 0;
        if (count == GUARD_LABELS) return 0;
        out[count++] = (struct simple){words[0], words[1]};
    }
    return count;
}

/* A refusal names a file, a line, perhaps a label. Every URL that could have a secret contains a
 * colon and two slashes, which reasons do not. */
static void check_reason(const char *reason)
{
    must(reason[0] != '\0', "a refusal has a reason");
    must(strstr(reason, "://") == NULL, "a reason quotes no URL");
}

static void feed_sources(const void *bytes, size_t n)
{
    static struct simple expected[GUARD_LABELS];
    guard_sources s = {.n = 0};
    guard_error why = {""};
    char path[32];
    const int fd = file_of(bytes, n, path);
    char *copy = malloc(n + 1);
    must(copy != NULL, "memory");
    memcpy(copy, bytes, n);
    copy[n] = '\0';
    const size_t count = read_simply(copy, n, expected);
    const bool good = guard_sources_read(&s, path, &why);
    must(good == (count > 0), "accepted exactly if a simple reader accepts it");
    must(!good || s.n == count, "as many sources");
    if (!good) check_reason(why.text);
    for (size_t i = 0; good && i < count; i++)
        must(strcmp(s.at[i].label, expected[i].label) == 0 &&
                 strcmp(s.at[i].url, expected[i].url) == 0,
             "the same sources");
    guard_sources_free(&s);
    free(copy);
    close(fd);
}

static void feed_word(const void *bytes, size_t n)
{
    guard_sources s = {.n = 0};
    guard_error why = {""};
    char *word = malloc(n + 1);
    must(word != NULL, "memory");
    memcpy(word, bytes, n);
    word[n] = '\0';
    char *equals = strchr(word, '=');
    const bool good = guard_sources_add(&s, word, &why);
    if (equals != NULL) *equals = '\0';
    must(good == (equals != NULL && is_label(word)), "a label before the first =");
    if (good)
        must(s.n == 1 && strcmp(s.at[0].label, word) == 0 && strcmp(s.at[0].url, equals + 1) == 0,
             "the label and the URL");
    else
        check_reason(why.text);
    guard_sources_free(&s);
    free(word);
}

/* --- What a server said ----------------------------------------------------------------------- */

static void check_tag(const char *tag)
{
    must(strlen(tag) < GUARD_TAG_SIZE, "a tag ends");
    for (const char *c = tag; *c != '\0'; c++) must(*c >= ' ' && *c < 0x7f, "a tag is plain text");
}

static void feed_state(const void *bytes, size_t n)
{
    struct guard_fetch_state s, same;
    char path[32], text[GUARD_FETCH_STATE_BYTES];
    int fd = file_of(bytes, n, path);
    const bool good = guard_fetch_state_read(path, &s);
    close(fd);
    if (!good) return;
    must(strlen(s.url) == 64 && strlen(s.list) == 64, "sums");
    check_tag(s.tags.etag);
    check_tag(s.tags.modified);
    const size_t length = guard_fetch_state_print(&s, text);
    must(length < sizeof text && strlen(text) == length, "a text");
    fd = file_of(text, length, path);
    must(guard_fetch_state_read(path, &same), "what is written is read");
    must(strcmp(s.url, same.url) == 0 && strcmp(s.list, same.list) == 0 &&
             strcmp(s.tags.etag, same.tags.etag) == 0 &&
             strcmp(s.tags.modified, same.tags.modified) == 0,
         "as the same");
    close(fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static void (*const feeds[])(const void *bytes, size_t n) = {feed_sources, feed_word,
                                                                 feed_state};
    if (size > 0) feeds[data[0] % 3](data + 1, size - 1);
    return 0;
}
