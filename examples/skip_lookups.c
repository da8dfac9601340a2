/* A database that does not go to disk for rows it does not have.
 *
 * The table is a file of sorted records, found by binary search, one read a step. Most questions
 * are about rows that do not exist, and each of those costs as many reads as a hit. A filter of the
 * ids in memory, ten bits a row, answers "certainly not" for 99 of 100 of them without touching the
 * disk. The rest go to the table as before, so that the answers are the same with the filter and
 * without. */
#define _POSIX_C_SOURCE 200809L

#include <tamis/tamis.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { ROWS = 100000, QUESTIONS = 50000, HITS_EVERY = 10 };

struct row {
    uint64_t id;
    char name[24];
};

struct table {
    int fd;
    uint64_t reads; /* of the disk, so far */
};

static void die(const char *what)
{
    perror(what);
    exit(1);
}

/* Scattered over all 64 bits, and distinct for distinct n (splitmix64). */
static uint64_t id_of(uint64_t n)
{
    uint64_t z = n * UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

static int by_id(const void *a, const void *b)
{
    const struct row *x = a, *y = b;
    return (x->id > y->id) - (x->id < y->id);
}

static bool look_up(struct table *t, uint64_t id, struct row *out)
{
    for (int64_t low = 0, high = ROWS - 1; low <= high;) {
        const int64_t middle = low + (high - low) / 2;
        if (pread(t->fd, out, sizeof *out, (off_t)middle * (off_t)sizeof *out) != sizeof *out)
            die("pread");
        t->reads++;
        if (out->id == id) return true;
        if (out->id < id)
            low = middle + 1;
        else
            high = middle - 1;
    }
    return false;
}

/* The sorted table in a file that vanishes with the program, and the filter of its ids. */
static struct table make_table(tamis *filter)
{
    char path[] = "/tmp/tamis-rows-XXXXXX";
    struct table t = {.fd = mkstemp(path)};
    if (t.fd < 0) die("mkstemp");
    unlink(path);
    struct row *rows = calloc(ROWS, sizeof *rows);
    if (rows == NULL) die("calloc");
    for (uint64_t n = 0; n < ROWS; n++) {
        rows[n].id = id_of(n);
        snprintf(rows[n].name, sizeof rows[n].name, "customer %" PRIu64, n);
        if (tamis_add(filter, &rows[n].id, sizeof rows[n].id, NULL) != TAMIS_OK) exit(1);
    }
    qsort(rows, ROWS, sizeof *rows, by_id);
    const char *p = (const char *)rows;
    for (size_t left = ROWS * sizeof *rows; left > 0;) {
        const ssize_t put = write(t.fd, p, left);
        if (put <= 0) die("write");
        p += put;
        left -= (size_t)put;
    }
    free(rows);
    return t;
}

int main(void)
{
    tamis_plan plan = {.struct_size = sizeof plan, .items = ROWS, .fpr = 0.01};
    tamis *filter;
    if (tamis_create(&plan, NULL, &filter, NULL) != TAMIS_OK) return 1;
    struct table table = make_table(filter);

    uint64_t reads_without = 0, reads_with = 0, skipped = 0, in_vain = 0, wrong = 0;
    for (uint64_t q = 0; q < QUESTIONS; q++) {
        const uint64_t id = id_of(q % HITS_EVERY == 0 ? q : ROWS + q);
        struct row a, b;

        uint64_t before = table.reads;
        const bool found = look_up(&table, id, &a);
        reads_without += table.reads - before;

        before = table.reads;
        const bool maybe = tamis_may_contain(filter, &id, sizeof id);
        const bool found_too = maybe && look_up(&table, id, &b);
        reads_with += table.reads - before;

        skipped += !maybe;
        in_vain += maybe && !found;
        wrong += found != found_too || (found && memcmp(&a, &b, sizeof a) != 0);
    }

    const uint64_t absent = QUESTIONS - QUESTIONS / HITS_EVERY;
    printf("table on disk      %d rows of %zu bytes\n", ROWS, sizeof(struct row));
    printf("filter in memory   %" PRIu64 " bytes\n", tamis_image_size(filter));
    printf("questions          %d, %" PRIu64 " of them about rows that do not exist\n", QUESTIONS,
           absent);
    printf("lookups saved      %" PRIu64 "; made in vain: %" PRIu64 ", %.2f %% (promised: 1 %%)\n",
           skipped, in_vain, 100.0 * (double)in_vain / (double)absent);
    printf("disk reads         %" PRIu64 " without the filter, %" PRIu64 " with it\n",
           reads_without, reads_with);
    printf("answers that differ: %" PRIu64 "\n", wrong);

    close(table.fd);
    tamis_close(filter);
    /* One per cent of 45,000 is 450, give or take 21: 600 would be a broken promise. */
    return wrong == 0 && skipped + in_vain == absent && in_vain < 600 ? 0 : 1;
}
