/* What the parts of bench-cuda share. */
#ifndef BENCH_CUDA_H
#define BENCH_CUDA_H

#include "../../cuda/tuning.h"

#include <cuda_runtime.h>
#include <tamis/columns.h>
#include <tamis/embed.h>
#include <tamis/inspect.h>

#include <functional>
#include <string>
#include <vector>

/* Ends the program with 1. */
[[noreturn]] void die(const char *format, ...);
/* A check has failed: reports it and goes on, so that one run shows all that is wrong. */
void wrong(const char *format, ...);
void must(tamis_status s, const tamis_error &why, const char *what);
void must(cudaError_t e, const char *what);
/* For calls whose last argument is &why. */
#define MUST(call)                                                                                 \
    do {                                                                                           \
        tamis_error why;                                                                           \
        must((call), why, #call);                                                                  \
    } while (0)
#define CHECK(claim)                                                                               \
    do {                                                                                           \
        if (!(claim)) wrong("%s:%d: not true: %s", __FILE__, __LINE__, #claim);                    \
    } while (0)

/* Device memory that frees itself. */
template <typename T> struct array {
    T *p = nullptr;
    uint64_t n = 0;
    explicit array(uint64_t count) : n(count)
    {
        must(cudaMalloc((void **)&p, (count + 1) * sizeof(T)), "device memory of the benchmark");
    }
    array(const array &) = delete;
    ~array()
    {
        cudaFree(p);
    }
    std::vector<T> host() const
    {
        std::vector<T> v(n);
        must(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost), "a copy");
        return v;
    }
    void set(const T *from)
    {
        must(cudaMemcpy(p, from, n * sizeof(T), cudaMemcpyHostToDevice), "a copy");
    }
};

/* Keys first, first + 1, ... as integers of 8 bytes. */
void fill_words(uint64_t *device, uint64_t n, uint64_t first);
std::vector<uint64_t> some_words(uint64_t n, uint64_t first);
tamis_cuda_keys word_keys(const void *data, uint64_t n);
tamis_column word_column(const void *data, size_t n);
uint64_t count_bits(const void *device_bits, uint64_t n);

tamis_cuda *make_filter(uint64_t bytes, double fpr);
unsigned processors(void);

/* Seconds of `work` on the device: the median of `times`, after one run that does not count. */
double seconds(int times, const std::function<void()> &work);
double wall_seconds(int times, const std::function<void()> &work);

/* A figure: printed as it is found, and kept for the JSON. limit 0: none. */
void figure(const char *group, const char *name, uint64_t table_bytes, double per_second,
            double limit, const char *note);
extern bool json;

/* How many random lines of 64 bytes a second memory of this size delivers, in reads as the kernels
 * do them. */
double limit_lines(uint64_t bytes); /* four lanes of 16 bytes: blocked */
/* The same, while keys of 8 bytes and bits of answers stream by, one of each for a line. */
double limit_streamed(uint64_t bytes);
double limit_single(uint64_t bytes);  /* one lane of 4 bytes: fuse */
double limit_pairs(uint64_t bytes);   /* two neighbouring lines, eight lanes of 8 bytes: ribbon */
double limit_atomics(uint64_t bytes); /* eight lanes with an atomic OR each: adds */

void run_checks(bool small);
int break_device(void);
void run_speed(bool quick);
void run_sweep(bool quick);

#endif
