/* bench-cuda: checks that filters on a GPU have the bytes and the answers of the processor's, and
 * measures them. docs/GPU.md is made from its JSON. */
#include "bench.h"

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>

#include <sys/wait.h>
#include <unistd.h>

bool json = false;

[[noreturn]] void die(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("bench-cuda: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    exit(1);
}

static unsigned wrongs;

void wrong(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fputs("bench-cuda: a check failed: ", stderr);
    vfprintf(stderr, format, args);
    fputc('\n', stderr);
    va_end(args);
    wrongs++;
}

void must(tamis_status s, const tamis_error &why, const char *what)
{
    if (s != TAMIS_OK) die("%s: %s (%d)", what, why.text, (int)s);
}

void must(cudaError_t e, const char *what)
{
    if (e != cudaSuccess) die("%s: %s", what, cudaGetErrorString(e));
}

/* --- Keys ------------------------------------------------------------------------------------- */

__global__ void words_from(uint64_t *out, uint64_t n, uint64_t first)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += step)
        out[i] = first + i;
}

void fill_words(uint64_t *device, uint64_t n, uint64_t first)
{
    words_from<<<4096, 256>>>(device, n, first);
    must(cudaDeviceSynchronize(), "making keys");
}

std::vector<uint64_t> some_words(uint64_t n, uint64_t first)
{
    std::vector<uint64_t> v(n);
    for (uint64_t i = 0; i < n; i++) v[i] = first + i;
    return v;
}

tamis_cuda_keys word_keys(const void *data, uint64_t n)
{
    tamis_cuda_keys k = TAMIS_CUDA_KEYS_INIT;
    k.count = n;
    k.data = data;
    k.bytes = 8 * n;
    k.width = 8;
    return k;
}

tamis_column word_column(const void *data, size_t n)
{
    tamis_column c = TAMIS_COLUMN_INIT;
    c.rows = n;
    c.data = data;
    c.bytes = 8 * n;
    c.width = 8;
    return c;
}

__global__ void add_bits(const uint8_t *bits, uint64_t bytes, unsigned long long *sum)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    unsigned own = 0;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i < bytes; i += step)
        own += (unsigned)__popc(bits[i]);
    atomicAdd(sum, (unsigned long long)own);
}

uint64_t count_bits(const void *device_bits, uint64_t n)
{
    array<unsigned long long> sum(1);
    const unsigned long long none = 0;
    sum.set(&none);
    add_bits<<<1024, 256>>>((const uint8_t *)device_bits, (n + 7) / 8, sum.p);
    return sum.host()[0];
}

tamis_cuda *make_filter(uint64_t bytes, double fpr)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    tamis_cuda *f = nullptr;
    plan.kind = TAMIS_BLOCKED;
    plan.bytes = bytes;
    plan.fpr = fpr;
    MUST(tamis_cuda_create(&plan, nullptr, &f, &why));
    return f;
}

unsigned processors(void)
{
    const unsigned n = std::thread::hardware_concurrency();
    return n != 0 ? n : 1;
}

/* --- Time ------------------------------------------------------------------------------------- */

static double median(std::vector<double> v)
{
    std::sort(v.begin(), v.end());
    return v[v.size() / 2];
}

double seconds(int times, const std::function<void()> &work)
{
    cudaEvent_t begin, end;
    std::vector<double> took;
    must(cudaEventCreate(&begin), "an event");
    must(cudaEventCreate(&end), "an event");
    for (int i = 0; i <= times; i++) {
        float ms = 0;
        must(cudaEventRecord(begin), "an event");
        work();
        must(cudaEventRecord(end), "an event");
        must(cudaEventSynchronize(end), "work that is measured");
        must(cudaEventElapsedTime(&ms, begin, end), "an event");
        if (i > 0) took.push_back(ms / 1e3);
    }
    cudaEventDestroy(begin);
    cudaEventDestroy(end);
    return median(took);
}

double wall_seconds(int times, const std::function<void()> &work)
{
    std::vector<double> took;
    for (int i = 0; i <= times; i++) {
        const auto begin = std::chrono::steady_clock::now();
        work();
        must(cudaDeviceSynchronize(), "work that is measured");
        const std::chrono::duration<double> d = std::chrono::steady_clock::now() - begin;
        if (i > 0 || times == 0) took.push_back(d.count());
    }
    return median(took);
}

/* --- Figures ---------------------------------------------------------------------------------- */

static std::vector<std::string> rows;

void figure(const char *group, const char *name, uint64_t table_bytes, double per_second,
            double limit, const char *note)
{
    char text[400];
    snprintf(text, sizeof text,
             "{\"group\": \"%s\", \"name\": \"%s\", \"table_bytes\": %llu, \"per_second\": %.6g, "
             "\"limit\": %.6g, \"note\": \"%s\"}",
             group, name, (unsigned long long)table_bytes, per_second, limit, note);
    rows.push_back(text);
    FILE *to = json ? stderr : stdout;
    fprintf(to, "%-8s %-34s %8.1f MB %9.3f G/s", group, name, (double)table_bytes / 1e6,
            per_second / 1e9);
    if (limit > 0) fprintf(to, "  %5.1f %% of %.1f", 100 * per_second / limit, limit / 1e9);
    fprintf(to, "  %s\n", note);
    fflush(to);
}

static std::string processor_name(void)
{
    char line[256];
    std::string name = "unknown";
    FILE *f = fopen("/proc/cpuinfo", "r");
    while (f != nullptr && fgets(line, sizeof line, f) != nullptr) {
        if (strncmp(line, "model name", 10) != 0 || strchr(line, ':') == nullptr) continue;
        name = strchr(line, ':') + 2;
        name.erase(name.find_last_not_of("\r\n ") + 1);
        break;
    }
    if (f != nullptr) fclose(f);
    return name;
}

static void print_json(double took)
{
    cudaDeviceProp d;
    int device = 0, driver = 0, runtime = 0;
    must(cudaGetDevice(&device), "the device");
    must(cudaGetDeviceProperties(&d, device), "the device");
    cudaDriverGetVersion(&driver);
    cudaRuntimeGetVersion(&runtime);
    printf("{\"context\": {\"device\": \"%s\", \"memory_bytes\": %llu, \"l2_bytes\": %d, "
           "\"multiprocessors\": %d, \"driver\": %d, \"runtime\": %d, \"processor\": \"%s\", "
           "\"threads\": %u, \"version\": \"%s\", \"seconds\": %.1f},\n \"rows\": [\n",
           d.name, (unsigned long long)d.totalGlobalMem, d.l2CacheSize, d.multiProcessorCount,
           driver, runtime, processor_name().c_str(), processors(), tamis_version(), took);
    for (size_t i = 0; i < rows.size(); i++)
        printf("  %s%s\n", rows[i].c_str(), i + 1 < rows.size() ? "," : "");
    printf(" ]}\n");
}

/* Runs this program again, because nothing works in a process after a failure. */
static void check_break(const char *self)
{
    const pid_t child = fork();
    int status = -1;
    if (child == 0) {
        execl(self, self, "--break", (char *)nullptr);
        _exit(127);
    }
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return wrong("the check of a broken device did not run");
    if (WEXITSTATUS(status) != 0)
        wrong("a broken device: step %d of bench-cuda --break failed", WEXITSTATUS(status));
}

static const char help[] =
    "Usage: bench-cuda [--check] [--quick] [--sweep] [--break] [--keep-going] [--json]\n"
    "Checks filters on a GPU against those of the processor, and measures them.\n"
    "  --check  only check, with few keys (for compute-sanitizer)\n"
    "  --quick  leave out the filter of 10 GB and the long builds\n"
    "  --sweep  measure the constants that depend on the device, instead\n"
    "  --break  only check that a failure of the device makes filters unusable\n"
    "  --keep-going  measure although a check failed\n"
    "  --json   print JSON; what is found meanwhile goes to standard error\n"
    "Exits with 1 if a check fails, 2 for wrong arguments, and 3 if there is no device.\n";

int main(int argc, char **argv)
{
    bool broken = false, check = false, quick = false, sweep = false, keep_going = false;
    tamis_error why;
    for (int i = 1; i < argc; i++) {
        const std::string a = argv[i];
        if (a == "--help") return fputs(help, stdout), 0;
        if (a == "--check") check = true;
        else if (a == "--quick") quick = true;
        else if (a == "--sweep") sweep = true;
        else if (a == "--keep-going") keep_going = true;
        else if (a == "--json") json = true;
        else if (a == "--break") broken = true;
        else return fputs(help, stderr), 2;
    }
    if (!tamis_cuda_available(&why)) return fprintf(stderr, "bench-cuda: %s\n", why.text), 3;
    if (broken) return break_device();
    check_break(argv[0]);
    const auto begin = std::chrono::steady_clock::now();
    run_checks(check || sweep);
    fprintf(json ? stderr : stdout, wrongs == 0 ? "all checks passed\n" : "%u checks failed\n",
            wrongs);
    if (wrongs != 0 && !keep_going) return 1;
    if (!check && !sweep) run_speed(quick);
    if (sweep) run_sweep(quick);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    if (json) print_json(took.count());
    else printf("%.1f seconds\n", took.count());
    return wrongs != 0;
}
