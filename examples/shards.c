/* Four workers each read a quarter of the log; nobody reads it all.
 *
 * Each builds the filter of its part from the same plan and saves it. Merging is a bit-wise OR, and
 * the result is, bit for bit, the filter one worker would have built from the whole log: visitors
 * who appear in several parts count once. A filter with another seed has its bits elsewhere, so the
 * merge refuses it instead of making nonsense. */
#define _POSIX_C_SOURCE 200809L

#include <tamis/inspect.h>
#include <tamis/tamis.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 4, LINES = 200000, VISITORS = 60000 };

static tamis *new_filter(uint64_t seed)
{
    tamis_plan plan = {.struct_size = sizeof plan, .items = VISITORS, .fpr = 0.001, .seed = seed};
    tamis *t;
    tamis_error why;
    if (tamis_create(&plan, NULL, &t, &why) != TAMIS_OK) {
        fprintf(stderr, "%s\n", why.text);
        exit(1);
    }
    return t;
}

/* The visitor on each line of the log, from one line to another; people come again and again. */
static void read_log(tamis *seen, unsigned from, unsigned to)
{
    char visitor[32];
    for (unsigned line = from; line < to; line++) {
        const int n = snprintf(visitor, sizeof visitor, "visitor-%u", line * 7919u % VISITORS);
        if (tamis_add(seen, visitor, (size_t)n, NULL) != TAMIS_OK) exit(1);
    }
}

/* A worker is a process of its own; what it leaves behind is one file. */
static void work(unsigned worker, const char *path)
{
    tamis *part = new_filter(0);
    read_log(part, LINES / WORKERS * worker, LINES / WORKERS * (worker + 1));
    tamis_error why;
    const tamis_status s = tamis_save(part, path, NULL, &why);
    if (s != TAMIS_OK) fprintf(stderr, "%s: %s\n", path, why.text);
    tamis_close(part);
    _exit(s == TAMIS_OK ? 0 : 1);
}

static void merge_shard(tamis *all, const char *path)
{
    tamis *part;
    tamis_error why;
    tamis_status s = tamis_open(path, NULL, &part, &why);
    if (s == TAMIS_OK) s = tamis_merge(all, part, &why);
    if (s != TAMIS_OK) {
        fprintf(stderr, "%s: %s\n", path, why.text);
        exit(1);
    }
    tamis_close(part);
    remove(path);
}

static uint64_t different_bits(const tamis *a, const tamis *b, uint64_t m)
{
    uint64_t differ = 0;
    for (uint64_t bit = 0; bit < m; bit++) differ += tamis_cell(a, bit) != tamis_cell(b, bit);
    return differ;
}

int main(void)
{
    char paths[WORKERS][64];
    for (unsigned w = 0; w < WORKERS; w++) {
        snprintf(paths[w], sizeof paths[w], "/tmp/shard-%ld-%u.tamis", (long)getpid(), w);
        if (fork() == 0) work(w, paths[w]);
    }
    for (unsigned w = 0; w < WORKERS; w++) {
        int how;
        if (wait(&how) < 0 || how != 0) return 1;
    }

    tamis *merged = new_filter(0), *whole = new_filter(0), *other_seed = new_filter(1);
    for (unsigned w = 0; w < WORKERS; w++) merge_shard(merged, paths[w]);
    read_log(whole, 0, LINES);

    tamis_facts facts = {.struct_size = sizeof facts};
    tamis_error why;
    if (tamis_info(merged, &facts) != TAMIS_OK) return 1;
    const uint64_t differ = different_bits(merged, whole, facts.m);
    const tamis_status refused = tamis_merge(merged, other_seed, &why);
    printf("%d lines in %d shards, merged: %" PRIu64 " bits, of which %" PRIu64
           " differ from the filter of all lines\n",
           LINES, WORKERS, facts.m, differ);
    printf("distinct visitors: between %.0f and %.0f, read from the bits (truth: %d)\n",
           facts.items_low, facts.items_high, VISITORS);
    printf("a filter with another seed: %s\n", refused != TAMIS_OK ? why.text : "merged?!");

    tamis_close(merged);
    tamis_close(whole);
    tamis_close(other_seed);
    const bool counted = facts.items_low <= VISITORS && VISITORS <= facts.items_high;
    return differ == 0 && counted && refused == TAMIS_EMISMATCH ? 0 : 1;
}
