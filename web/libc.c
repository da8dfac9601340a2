/* The part of a C library that the sources for the browser need (shim/): bytes, memory, sorting,
 * reasons for failures. It is compiled without link-time optimization, which would replace these
 * loops by calls of the functions that they implement. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef memcmp

/* --- Bytes ------------------------------------------------------------------------------------ */

int memcmp(const void *a, const void *b, size_t n)
{
    const uint8_t *p = a, *q = b;
    for (; n > 0; n--, p++, q++)
        if (*p != *q) return *p < *q ? -1 : 1;
    return 0;
}

size_t strlen(const char *s)
{
    size_t n = 0;
    while (s[n] != '\0') n++;
    return n;
}

int strcmp(const char *a, const char *b)
{
    for (; *a == *b && *a != '\0'; a++) b++;
    return (uint8_t)*a - (uint8_t)*b;
}

/* --- Memory: first fit in a list by address, neighbours joined -------------------------------- */

#define PAGE 65536u
#define GRAIN 16u
/* All pages except one, so that every address and the end fit into 32 bits. */
#define MOST_PAGES 65535u

/* In front of every block, padded to the grain. */
struct memory_block {
    size_t size; /* includes this header */
    struct memory_block *next;
};

extern char __heap_base;
static struct memory_block *blocks;
static size_t end; /* end of the memory in use, once there is any */

static void release_block(struct memory_block *b)
{
    struct memory_block **at = &blocks;
    struct memory_block *before = NULL;
    while (*at != NULL && *at < b) {
        before = *at;
        at = &before->next;
    }
    b->next = *at;
    *at = b;
    if (b->next != NULL && (char *)b + b->size == (char *)b->next) {
        b->size += b->next->size;
        b->next = b->next->next;
    }
    if (before != NULL && (char *)before + before->size == (char *)b) {
        before->size += b->size;
        before->next = b->next;
    }
}

/* New memory is joined with the last free block. */
static bool grow_memory(size_t size)
{
    const size_t now = __builtin_wasm_memory_size(0), more = size / PAGE + 1;
    struct memory_block *b;
    if (end == 0) {
        b = (struct memory_block *)(((uintptr_t)&__heap_base + GRAIN - 1) / GRAIN * GRAIN);
        end = now * PAGE;
    } else {
        if (more > MOST_PAGES - now || __builtin_wasm_memory_grow(0, more) == SIZE_MAX)
            return false;
        b = (struct memory_block *)end;
        end += more * PAGE;
    }
    b->size = end - (uintptr_t)b;
    release_block(b);
    return true;
}

void *malloc(size_t size)
{
    if (size > SIZE_MAX - 2 * GRAIN) return NULL;
    const size_t total = (size + 2 * GRAIN - 1) / GRAIN * GRAIN;
    do {
        for (struct memory_block **at = &blocks; *at != NULL; at = &(*at)->next) {
            struct memory_block *b = *at;
            if (b->size < total) continue;
            *at = b->next;
            if (b->size - total >= 2 * GRAIN) {
                struct memory_block *rest = (struct memory_block *)((char *)b + total);
                rest->size = b->size - total;
                b->size = total;
                release_block(rest);
            }
            return (char *)b + GRAIN;
        }
    } while (grow_memory(total));
    return NULL;
}

void *calloc(size_t n, size_t size)
{
    size_t total;
    if (__builtin_mul_overflow(n, size, &total)) return NULL;
    void *p = malloc(total);
    if (p != NULL) memset(p, 0, total);
    return p;
}

void free(void *p)
{
    if (p != NULL) release_block((struct memory_block *)((char *)p - GRAIN));
}

/* --- Sorting: a heap sort, which needs no memory and has no bad case -------------------------- */

static void swap_bytes(uint8_t *a, uint8_t *b, size_t size)
{
    for (; size > 0; size--, a++, b++) {
        const uint8_t x = *a;
        *a = *b;
        *b = x;
    }
}

static void sink(uint8_t *base, size_t at, size_t n, size_t size,
                 int (*compare)(const void *, const void *))
{
    for (size_t child; (child = 2 * at + 1) < n; at = child) {
        if (child + 1 < n && compare(base + child * size, base + (child + 1) * size) < 0) child++;
        if (compare(base + at * size, base + child * size) >= 0) return;
        swap_bytes(base + at * size, base + child * size, size);
    }
}

void qsort(void *base, size_t n, size_t size, int (*compare)(const void *, const void *))
{
    for (size_t i = n / 2; i-- > 0;) sink(base, i, n, size, compare);
    for (size_t i = n; i-- > 1;) {
        swap_bytes(base, (uint8_t *)base + i * size, size);
        sink(base, 0, i, size, compare);
    }
}

/* --- Numbers ---------------------------------------------------------------------------------- */

double ldexp(double x, int exponent)
{
    for (; exponent > 1000; exponent -= 1000) x *= 0x1p1000;
    for (; exponent < -1000; exponent += 1000) x *= 0x1p-1000;
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, 8);
    return x * power;
}

double frexp(double x, int *exponent)
{
    uint64_t bits;
    *exponent = 0;
    if (x == 0) return x;
    if (fabs(x) < 0x1p-1000) {
        x *= 0x1p1000;
        *exponent = -1000;
    }
    memcpy(&bits, &x, 8);
    *exponent += (int)(bits >> 52 & 0x7ff) - 1022;
    bits = (bits & ~(UINT64_C(0x7ff) << 52)) | UINT64_C(1022) << 52;
    memcpy(&x, &bits, 8);
    return x;
}

/* --- Text ------------------------------------------------------------------------------------- */

struct format_text {
    char *out;
    size_t size, n; /* n: the length that the whole text would have */
};

static void put_char(struct format_text *t, char c)
{
    if (t->n + 1 < t->size) t->out[t->n] = c;
    t->n++;
}

static void put_text(struct format_text *t, const char *s)
{
    while (*s != '\0') put_char(t, *s++);
}

static void put_number(struct format_text *t, uint64_t v)
{
    char digits[21];
    size_t at = sizeof digits - 1;
    digits[at] = '\0';
    do digits[--at] = (char)('0' + v % 10);
    while ((v /= 10) > 0);
    put_text(t, digits + at);
}

/* Formats like %.3g or %.2g: so many digits without trailing zeros, with an exponent where that is
 * shorter. */
static void put_rate(struct format_text *t, double v, unsigned shown)
{
    int exponent = 0;
    if (!(v > 0 && v < INFINITY)) {
        put_char(t, v == 0 ? '0' : '?');
        return;
    }
    for (; v >= 10; v /= 10) exponent++;
    for (; v < 1; v *= 10) exponent--;
    const int most = (int)shown - 1;
    const unsigned least = shown > 2 ? 100 : 10;
    unsigned digits = (unsigned)(v * least + 0.5);
    if (digits == 10 * least) {
        digits = least;
        exponent++;
    }
    for (; shown > 1 && digits % 10 == 0; digits /= 10) shown--;
    const bool scientific = exponent < -4 || exponent > most;
    const int whole = scientific ? 1 : exponent + 1;
    char text[4] = {0};
    for (unsigned i = shown; i-- > 0; digits /= 10) text[i] = (char)('0' + digits % 10);
    if (whole <= 0) put_text(t, "0.");
    for (int i = whole; i < 0; i++) put_char(t, '0');
    for (int i = 0; i < (int)shown || i < whole; i++) {
        if (i > 0 && i == whole) put_char(t, '.');
        put_char(t, i < (int)shown ? text[i] : '0');
    }
    if (!scientific) return;
    put_text(t, exponent < 0 ? "e-" : "e+");
    const unsigned size = (unsigned)(exponent < 0 ? -exponent : exponent);
    if (size < 10) put_char(t, '0');
    put_number(t, size);
}

static bool is(const char **format, const char *directive)
{
    const size_t n = strlen(directive);
    for (size_t i = 0; i < n; i++)
        if ((*format)[i] != directive[i]) return false;
    *format += n;
    return true;
}

int vsnprintf(char *out, size_t size, const char *format, va_list args)
{
    struct format_text t = {out, size, 0};
    while (*format != '\0') {
        if (is(&format, "%s"))
            put_text(&t, va_arg(args, const char *));
        else if (is(&format, "%u"))
            put_number(&t, va_arg(args, unsigned));
        else if (is(&format, "%llu"))
            put_number(&t, va_arg(args, unsigned long long));
        else if (is(&format, "%.3g"))
            put_rate(&t, va_arg(args, double), 3);
        else if (is(&format, "%.2g"))
            put_rate(&t, va_arg(args, double), 2);
        else if (is(&format, "%.0f"))
            put_number(&t, (uint64_t)(va_arg(args, double) + 0.5));
        else if (is(&format, "%%"))
            put_char(&t, '%');
        else if (*format == '%')
            put_char(&t, '?'), format++;
        else
            put_char(&t, *format++);
    }
    if (size > 0) out[t.n < size ? t.n : size - 1] = '\0';
    return (int)t.n;
}

int snprintf(char *out, size_t size, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const int n = vsnprintf(out, size, format, args);
    va_end(args);
    return n;
}
