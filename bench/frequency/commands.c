/* Measures what a user types to get the twenty most frequent lines of a log: `tamis top`, sort and
 * uniq, or awk. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* wait4 */
#endif
#include "frequency.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
    const char *name, *line;
    bool exact;
} COMMANDS[] = {
    {"wc -l", "wc -l \"$LOG\"", false},
    {"tamis top", "tamis top -n 20 \"$LOG\"", false},
    {"tamis top, one thread", "tamis top --threads 1 -n 20 \"$LOG\"", false},
    {"tamis top, 64 KiB", "tamis top --bytes 64KiB -n 20 \"$LOG\"", false},
    {"sort | uniq -c | sort -rn | head", "sort \"$LOG\" | uniq -c | sort -rn | head -n 20", true},
    {"mawk | sort -rn | head",
     "mawk '{n[$0]++} END {for (i in n) print n[i], i}' \"$LOG\" | sort -rn | head -n 20", true},
};

/* Runs in a child process, because the generator needs much memory, and the parent must stay
 * small. */
static void make_log(const char *path, uint32_t n)
{
    const pid_t child = fork();
    int status;
    if (child == 0) {
        struct stream s;
        stream_urls(&s, n);
        stream_write_log(&s, path);
        _exit(0);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || status != 0) die("no log was made");
}

struct cost {
    double wall, cpu, rss; /* seconds; bytes of the biggest process */
};

static struct cost run(const char *line, const char *out)
{
    const double start = seconds();
    const pid_t child = fork();
    struct rusage used;
    int status;
    if (child == 0) {
        const int fd = open(out, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0) _exit(127);
        execl("/bin/sh", "sh", "-c", line, (char *)NULL);
        _exit(127);
    }
    if (child < 0 || wait4(child, &status, 0, &used) != child) die("no process is to be had");
    if (status != 0) die("this fails: %s", line);
    return (struct cost){seconds() - start,
                         (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
                             1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec),
                         1024.0 * (double)used.ru_maxrss};
}

#define LISTED 20u
#define ROUNDS 3u
struct entry {
    unsigned long count;
    char item[256];
};

static int by_item(const void *a, const void *b)
{
    return strcmp(((const struct entry *)a)->item, ((const struct entry *)b)->item);
}

/* Reads "count item" of each line, its first word and its last, sorted by item. The order among
 * items with equal counts is unspecified, and so is which of them is the last. */
static void read_list(const char *path, char *out, size_t room)
{
    static struct entry list[LISTED];
    char line[512];
    size_t n = 0, used = 0;
    FILE *f = fopen(path, "r");
    while (f != NULL && n < LISTED && fgets(line, sizeof line, f) != NULL) {
        const char *last = strrchr(line, ' ');
        if (last == NULL) continue;
        list[n].count = strtoul(line, NULL, 10);
        snprintf(list[n++].item, sizeof list->item, "%s", last + 1);
    }
    if (f != NULL) fclose(f);
    const unsigned long least = n > 0 ? list[n - 1].count : 0;
    qsort(list, n, sizeof *list, by_item);
    out[0] = '\0';
    for (size_t i = 0; i < n && used < room; i++)
        if (list[i].count > least)
            used +=
                (size_t)snprintf(out + used, room - used, "%lu %s", list[i].count, list[i].item);
}

/* Measures the command that was built, not an installed one. */
static void use_own_command(void)
{
    char path[4096], all[8192];
    const ssize_t n = readlink("/proc/self/exe", path, sizeof path - 1);
    if (n <= 0) die("/proc is needed");
    path[n] = '\0';
    *strrchr(path, '/') = '\0';
    snprintf(all, sizeof all, "%s:%s", path, getenv("PATH"));
    setenv("PATH", all, 1);
    setenv("LC_ALL", "C", 1);
}

void measure_commands(const char *folder, uint32_t n)
{
    static char log[4096], out[4096], lists[LENGTH(COMMANDS)][8192];
    struct cost best[LENGTH(COMMANDS)];
    size_t exact = 0;
    snprintf(log, sizeof log, "%s/frequency.log", folder);
    snprintf(out, sizeof out, "%s/frequency.list", folder);
    use_own_command();
    setenv("LOG", log, 1);
    make_log(log, n);
    /* All commands run equally often and in turn, so that other load on the machine affects all of
     * them. */
    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < LENGTH(COMMANDS); i++) {
            const struct cost c = run(COMMANDS[i].line, out);
            if (round == 0 || c.wall < best[i].wall) best[i] = c;
            read_list(out, lists[i], sizeof lists[i]);
            if (COMMANDS[i].exact) exact = i;
        }
    printf("\n%u lines\n%-34s %8s %8s %10s\n", n, "", "s", "CPU s", "MB");
    for (size_t i = 0; i < LENGTH(COMMANDS); i++) {
        const bool same = strcmp(lists[i], lists[exact]) == 0;
        rows_row("\"command\": \"%s\", \"lines\": %u, \"wall\": %.6g, \"cpu\": %.6g, "
                 "\"rss\": %.0f, \"same\": %s",
                 COMMANDS[i].name, n, best[i].wall, best[i].cpu, best[i].rss,
                 same ? "true" : "false");
        printf("%-34s %8.3f %8.3f %10.2f %s\n", COMMANDS[i].name, best[i].wall, best[i].cpu,
               1e-6 * best[i].rss, same ? "" : "(another list)");
    }
    unlink(log);
    unlink(out);
}
