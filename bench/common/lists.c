#define _GNU_SOURCE /* readlink */
#include "lists.h"

#include <stdarg.h>
#include <string.h>
#include <unistd.h>

static FILE *file;
static bool first_list = true, first_row;

void own_folder(char *out, size_t room)
{
    const ssize_t n = readlink("/proc/self/exe", out, room - 1);
    out[n > 0 ? n : 0] = '\0';
    char *slash = strrchr(out, '/');
    snprintf(slash != NULL ? slash : out, 2, "%s", slash != NULL ? "" : ".");
}

void rows_open(const char *path, const char *only)
{
    file = fopen(path, "w");
    if (file == NULL) die("cannot write %s", path);
    fputs("{\n", file);
    describe_machine(file);
    fprintf(file, "  \"run\": \"%s\"",
            settings.check   ? "check"
            : settings.quick ? "quick"
                             : "full");
    if (only != NULL) fprintf(file, ",\n  \"only\": \"%s\"", only);
}

void rows_list(const char *name)
{
    fprintf(file, "%s,\n  \"%s\": [", first_list ? "" : "\n  ]", name);
    first_list = false;
    first_row = true;
}

void rows_row(const char *format, ...)
{
    va_list list;
    fputs(first_row ? "\n    {" : ",\n    {", file);
    va_start(list, format);
    vfprintf(file, format, list);
    va_end(list);
    fputc('}', file);
    first_row = false;
}

void rows_close(void)
{
    fputs("\n  ]\n}\n", file);
    if (ferror(file) || fclose(file) != 0) die("the file was not written");
}
