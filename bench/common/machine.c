/* Clock, cores, memory, and the name of the machine. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* sched_setaffinity, MADV_HUGEPAGE */
#endif
#include "bench.h"

#include <ctype.h>
#include <malloc.h>
#include <sched.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/utsname.h>
#include <time.h>

#define LINE 64u
#define HUGE_FROM ((size_t)4 << 20) /* as in the library's memory.c */

void die(const char *format, ...)
{
    va_list list;
    fflush(stdout);
    fputs("bench: ", stderr);
    va_start(list, format);
    vfprintf(stderr, format, list);
    va_end(list);
    fputc('\n', stderr);
    exit(1);
}

double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Returns the cores available to the process before it binds itself to one. */
static const cpu_set_t *allowed(void)
{
    static cpu_set_t set;
    static bool known;
    if (!known && sched_getaffinity(0, sizeof set, &set) != 0) die("sched_getaffinity fails");
    known = true;
    return &set;
}

unsigned cores(void)
{
    return (unsigned)CPU_COUNT(allowed());
}

void pin(unsigned i)
{
    cpu_set_t one;
    unsigned skip = i % cores();
    CPU_ZERO(&one);
    for (size_t cpu = CPU_SETSIZE; cpu-- > 0;)
        if (CPU_ISSET(cpu, allowed()) && skip-- == 0) {
            CPU_SET(cpu, &one);
            break;
        }
    if (sched_setaffinity(0, sizeof one, &one) != 0) die("sched_setaffinity fails");
}

void pin_all(void)
{
    if (sched_setaffinity(0, sizeof(cpu_set_t), allowed()) != 0) die("sched_setaffinity fails");
}

/* The raw pointer precedes the block, as in the library, so that the pages are placed in the same
 * way. */
void *take(size_t bytes)
{
    const size_t total = bytes + LINE + sizeof(void *);
    unsigned char *raw = calloc(1, total);
    if (raw == NULL) die("%zu bytes are not to be had", bytes);
    if (total >= HUGE_FROM) {
        const uintptr_t from = ((uintptr_t)raw + 4095) / 4096 * 4096;
        const uintptr_t to = ((uintptr_t)raw + total) / 4096 * 4096;
        madvise((void *)from, to - from, MADV_HUGEPAGE);
    }
    unsigned char *block = raw + sizeof(void *);
    block += LINE - (uintptr_t)block % LINE;
    memcpy(block - sizeof(void *), &raw, sizeof(void *));
    return block;
}

void give_back(void *p)
{
    void *raw;
    if (p == NULL) return;
    memcpy(&raw, (unsigned char *)p - sizeof(void *), sizeof(void *));
    free(raw);
}

/* Returns the rest of a line that begins with `name`, without a colon, or "" if there is none. */
static void field(const char *path, const char *name, char *out, size_t room)
{
    char line[512];
    FILE *f = fopen(path, "r");
    out[0] = 0;
    while (f != NULL && fgets(line, sizeof line, f) != NULL) {
        const char *at = line + strlen(name);
        if (strncmp(line, name, strlen(name)) != 0) continue;
        while (*at == ':' || isspace((unsigned char)*at)) at++;
        snprintf(out, room, "%s", at);
        out[strcspn(out, "\n")] = 0;
        break;
    }
    if (f != NULL) fclose(f);
}

uint64_t huge_bytes(void)
{
    char text[64];
    field("/proc/self/smaps_rollup", "AnonHugePages", text, sizeof text);
    return strtoull(text, NULL, 10) * 1024;
}

/* Omits characters that a JSON string cannot contain. */
static void put(FILE *f, const char *name, const char *value)
{
    fprintf(f, "  \"%s\": \"", name);
    for (const char *c = value; *c != 0; c++)
        if ((unsigned char)*c >= ' ' && *c != '"' && *c != '\\') fputc(*c, f);
    fputs("\",\n", f);
    printf("%-10s %s\n", name, value);
}

static void put_caches(FILE *f)
{
    char path[128], size[32], type[32], all[256] = "";
    for (int i = 0; i < 8; i++) {
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/type", i);
        field(path, "", type, sizeof type);
        if (type[0] == 0) break;
        if (type[0] == 'I') continue;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu0/cache/index%d/size", i);
        field(path, "", size, sizeof size);
        strncat(all, all[0] != 0 ? ", " : "", sizeof all - strlen(all) - 1);
        strncat(all, size, sizeof all - strlen(all) - 1);
    }
    put(f, "caches", all);
}

/* "always [madvise] never" becomes "madvise". */
static void put_huge_pages(FILE *f)
{
    char text[128];
    field("/sys/kernel/mm/transparent_hugepage/enabled", "", text, sizeof text);
    char *from = strchr(text, '['), *to = strchr(text, ']');
    if (from != NULL && to != NULL) *to = 0;
    put(f, "huge_pages", from != NULL ? from + 1 : "none");
}

void describe_machine(FILE *f)
{
    char text[256], family[32], model[32];
    struct utsname system;
    field("/proc/cpuinfo", "model name", text, sizeof text);
    field("/proc/cpuinfo", "cpu family", family, sizeof family);
    field("/proc/cpuinfo", "model\t", model, sizeof model);
    const size_t used = strlen(text);
    if (family[0] != 0)
        snprintf(text + used, sizeof text - used, ", family %s model %s", family, model);
    put(f, "processor", text);
    snprintf(text, sizeof text, "%u", cores());
    put(f, "cores", text);
    put_caches(f);
    field("/proc/meminfo", "MemTotal", text, sizeof text);
    put(f, "memory", text);
    put_huge_pages(f);
    if (uname(&system) == 0) {
        snprintf(text, sizeof text, "%s %s", system.sysname, system.release);
        put(f, "system", text);
    }
    put(f, "compiler", BENCH_COMPILER);
    put(f, "library", tamis_version());
}

void fix_memory(void)
{
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}
