/* The figures of docs/GPU.md. */
#include "bench.h"

#include <cstdio>

#define KEYS (UINT64_C(1) << 28)

/* As in the CPU's documents, sizes are those of a plan at 1 %: about 10.1 bits a key. */
static const uint64_t sizes[] = {UINT64_C(34000000), UINT64_C(340000000), UINT64_C(1262000000),
                                 UINT64_C(10000000000)};

static void fill_to_plan(tamis_cuda *f, uint64_t *words, uint64_t items)
{
    for (uint64_t at = 0; at < items; at += KEYS) {
        const uint64_t n = items - at < KEYS ? items - at : KEYS;
        fill_words(words, n, at);
        const tamis_cuda_keys k = word_keys(words, n);
        MUST(tamis_cuda_add(f, &k, nullptr, &why));
        MUST(tamis_cuda_wait(f, nullptr, &why));
    }
}

static double time_add(tamis_cuda *f, const tamis_cuda_keys &k, int direct, int only_part)
{
    struct tuning t = tamis_cuda__tuning();
    t.direct = direct;
    t.only_part = only_part;
    tamis_cuda__tune(f, &t);
    const double s = seconds(5, [&] { MUST(tamis_cuda_add(f, &k, nullptr, &why)); });
    t = tamis_cuda__tuning();
    tamis_cuda__tune(f, &t);
    return (double)k.count / s;
}

static void measure_size(uint64_t bytes, uint64_t *words, uint8_t *bits)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    plan.kind = TAMIS_BLOCKED;
    plan.bytes = bytes;
    plan.fpr = 0.01;
    MUST(tamis_solve(&plan, nullptr, &why));
    tamis_cuda *f = make_filter(bytes, 0.01);
    const double limit = limit_lines(bytes), atomics = limit_atomics(bytes);
    const double streamed = limit_streamed(bytes);
    figure("limit", "random lines", bytes, limit, 0, "4 lanes of 16 bytes");
    figure("limit", "lines beside keys and answers", bytes, streamed, 0, "8 bytes and a bit each");
    figure("limit", "random atomic ORs of a line", bytes, atomics, 0, "8 lanes of 8 bytes");
    fill_to_plan(f, words, plan.items);
    fill_words(words, KEYS, UINT64_C(1) << 40);
    const tamis_cuda_keys k = word_keys(words, KEYS);
    const double s = seconds(7, [&] { MUST(tamis_cuda_query(f, &k, bits, nullptr, &why)); });
    const double rate = (double)count_bits(bits, KEYS) / (double)KEYS;
    char note[96];
    snprintf(note, sizeof note,
             "%.1f %% of lines beside keys; %.4f %% false positives, 1 %% planned",
             100 * (double)KEYS / s / streamed, 100 * rate);
    if (rate > 0.01025) wrong("the false-positive rate is %g instead of 0.01", rate);
    figure("query", "8-byte keys", bytes, (double)KEYS / s, limit, note);
    figure("add", "as it is done", bytes, time_add(f, k, 0, 0), 0, "");
    figure("add", "direct", bytes, time_add(f, k, 1, 0), atomics, "");
    if (bytes > 100000000) {
        figure("add", "in parts", bytes, time_add(f, k, 2, 0), 0, "scratch of 2 GiB");
        figure("add", "only to part", bytes, time_add(f, k, 2, 1), 0, "");
    }
    tamis_cuda_close(f);
}

/* --- Strings and lists ------------------------------------------------------------------------ */

#define TEXTS (UINT64_C(1) << 25)
#define TEXT_BYTES 54u

__global__ static void make_texts(uint8_t *data, int64_t *offsets, uint64_t n)
{
    const uint64_t step = (uint64_t)gridDim.x * blockDim.x;
    for (uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x; i <= n; i += step) {
        offsets[i] = (int64_t)(i * TEXT_BYTES);
        if (i == n) continue;
        for (unsigned j = 0; j < TEXT_BYTES; j++)
            data[i * TEXT_BYTES + j] = (uint8_t)('a' + (j < 30 ? j % 26 : i >> (j - 30) & 15));
    }
}

static void measure_texts(uint8_t *bits)
{
    array<uint8_t> data(TEXTS * TEXT_BYTES);
    array<int64_t> offsets(TEXTS + 1);
    make_texts<<<4096, 256>>>(data.p, offsets.p, TEXTS);
    must(cudaDeviceSynchronize(), "texts");
    tamis_cuda *f = make_filter(340000000, 0.01);
    tamis_cuda_keys k = TAMIS_CUDA_KEYS_INIT;
    k.count = TEXTS;
    k.data = data.p;
    k.bytes = TEXTS * TEXT_BYTES;
    k.offsets64 = offsets.p;
    const double limit = limit_lines(340000000);
    double s = seconds(5, [&] { MUST(tamis_cuda_query(f, &k, bits, nullptr, &why)); });
    figure("strings", "query, 54 bytes, 64-bit offsets", 340000000, (double)TEXTS / s, limit, "");
    s = seconds(5, [&] { MUST(tamis_cuda_add(f, &k, nullptr, &why)); });
    figure("strings", "add, 54 bytes, 64-bit offsets", 340000000, (double)TEXTS / s, 0, "");
    k.offsets64 = nullptr;
    k.width = TEXT_BYTES;
    s = seconds(5, [&] { MUST(tamis_cuda_query(f, &k, bits, nullptr, &why)); });
    figure("strings", "query, 54 bytes, fixed width", 340000000, (double)TEXTS / s, limit, "");
    tamis_cuda_close(f);
}

static void measure_lists(uint64_t *words)
{
    const uint64_t n = KEYS / 2, bytes = 340000000;
    tamis_cuda *f = make_filter(bytes, 0.01);
    array<uint32_t> selected(n);
    array<uint64_t> found(1);
    fill_words(words, n, 0);
    const tamis_cuda_keys k = word_keys(words, n);
    const double limit = limit_lines(bytes);
    const auto work = [&] {
        MUST(tamis_cuda_select(f, &k, selected.p, found.p, nullptr, &why));
    };
    double s = seconds(5, work);
    figure("select", "8-byte keys, none is a member", bytes, (double)n / s, limit, "");
    MUST(tamis_cuda_add(f, &k, nullptr, &why));
    s = seconds(5, work);
    figure("select", "8-byte keys, all are members", bytes, (double)n / s, limit, "");
    tamis_cuda_close(f);
}

/* --- From memory of the host ------------------------------------------------------------------ */

static void measure_host(void)
{
    const uint64_t n = UINT64_C(1) << 27, bytes = 8 * n;
    uint64_t *locked = nullptr;
    uint8_t *bits = nullptr;
    array<uint64_t> there(n);
    must(cudaMallocHost((void **)&locked, bytes), "locked memory");
    must(cudaMallocHost((void **)&bits, n / 8), "locked memory");
    for (uint64_t i = 0; i < n; i++) locked[i] = i;
    const double bus = seconds(3, [&] {
        must(cudaMemcpyAsync(there.p, locked, bytes, cudaMemcpyHostToDevice, nullptr), "a copy");
    });
    figure("host", "the bus, keys of 8 bytes", 0, (double)n / bus, 0, "locked memory");
    tamis_cuda *f = make_filter(1262000000, 0.01);
    const tamis_cuda_keys k = word_keys(locked, n);
    const double limit = (double)n / bus;
    double s = wall_seconds(3, [&] { MUST(tamis_cuda_query_host(f, &k, bits, &why)); });
    figure("host", "query, keys in locked memory", 1262000000, (double)n / s, limit, "");
    s = wall_seconds(3, [&] { MUST(tamis_cuda_add_host(f, &k, &why)); });
    figure("host", "add, keys in locked memory", 1262000000, (double)n / s, limit, "");
    std::vector<uint64_t> usual(locked, locked + n);
    const tamis_cuda_keys u = word_keys(usual.data(), n);
    s = wall_seconds(2, [&] { MUST(tamis_cuda_query_host(f, &u, bits, &why)); });
    figure("host", "query, keys in usual memory", 1262000000, (double)n / s, limit, "");
    tamis_cuda_close(f);
    cudaFreeHost(locked);
    cudaFreeHost(bits);
}

/* --- Sealed filters --------------------------------------------------------------------------- */

static tamis *build_sealed(uint32_t kind, double fpr, uint64_t items)
{
    tamis_plan plan = TAMIS_PLAN_INIT;
    tamis_options o = TAMIS_OPTIONS_INIT;
    tamis *t = nullptr;
    const std::vector<uint64_t> own = some_words(items, 0);
    const tamis_column c = word_column(own.data(), items);
    plan.kind = kind;
    plan.fpr = fpr;
    plan.items = items;
    o.threads = processors();
    MUST(tamis_create(&plan, &o, &t, &why));
    MUST(tamis_add_column(t, &c, nullptr, nullptr, &why));
    MUST(tamis_seal(t, &why));
    return t;
}

static void measure_sealed(uint32_t kind, double fpr, uint64_t items, double lines_of_key,
                           uint64_t *words, uint8_t *bits)
{
    char name[64], note[99];
    tamis_cuda *f = nullptr;
    tamis *t = nullptr;
    const double built = wall_seconds(0, [&] { t = build_sealed(kind, fpr, items); });
    const uint64_t bytes = tamis_image_size(t);
    MUST(tamis_cuda_upload(t, nullptr, &f, &why));
    fill_words(words, KEYS, UINT64_C(1) << 40);
    const tamis_cuda_keys k = word_keys(words, KEYS);
    const double s = seconds(5, [&] { MUST(tamis_cuda_query(f, &k, bits, nullptr, &why)); });
    const double rate = (double)count_bits(bits, KEYS) / (double)KEYS;
    const double limit =
        kind == TAMIS_FUSE ? limit_single(bytes) / lines_of_key : limit_pairs(bytes) / lines_of_key;
    fill_words(words, items < KEYS ? items : KEYS, 0);
    const tamis_cuda_keys in = word_keys(words, items < KEYS ? items : KEYS);
    const double members =
        seconds(3, [&] { MUST(tamis_cuda_query(f, &in, bits, nullptr, &why)); });
    if (count_bits(bits, in.count) != in.count) wrong("a member is missed");
    snprintf(name, sizeof name, "%s, rate %.3g", tamis_kind_name(kind), fpr);
    snprintf(note, sizeof note, "%.3g measured; built by the processor in %.1f s", rate, built);
    figure("sealed", name, bytes, (double)KEYS / s, limit, note);
    figure("sealed", "the same, members", bytes, (double)in.count / members, limit, "");
    tamis_cuda_close(f);
    tamis_close(t);
}

/* --- The processor ---------------------------------------------------------------------------- */

static void measure_processor(uint64_t bytes)
{
    const uint64_t n = UINT64_C(1) << 27;
    tamis_plan plan = TAMIS_PLAN_INIT;
    tamis_options o = TAMIS_OPTIONS_INIT;
    tamis *t = nullptr;
    const std::vector<uint64_t> own = some_words(n, 0);
    const tamis_column c = word_column(own.data(), n);
    std::vector<uint8_t> bits(n / 8);
    plan.kind = TAMIS_BLOCKED;
    plan.fpr = 0.01;
    plan.bytes = bytes;
    o.threads = processors();
    MUST(tamis_create(&plan, &o, &t, &why));
    char note[32];
    snprintf(note, sizeof note, "%u threads", processors());
    double s = wall_seconds(1, [&] { MUST(tamis_add_column(t, &c, nullptr, nullptr, &why)); });
    figure("cpu", "add, 8-byte keys", bytes, (double)n / s, 0, note);
    s = wall_seconds(1, [&] { MUST(tamis_may_contain_column(t, &c, bits.data(), nullptr, &why)); });
    figure("cpu", "query, 8-byte keys", bytes, (double)n / s, 0, note);
    tamis_close(t);
}

void run_speed(bool quick)
{
    {
        array<uint64_t> words(KEYS);
        array<uint8_t> bits(KEYS / 8);
        for (const uint64_t bytes : sizes) {
            if (quick && bytes > 2000000000) continue;
            measure_size(bytes, words.p, bits.p);
        }
        measure_texts(bits.p);
        measure_lists(words.p);
        const uint64_t few = UINT64_C(1) << 23, many = UINT64_C(1) << 27;
        measure_sealed(TAMIS_FUSE, 1.0 / 256, few, 3, words.p, bits.p);
        measure_sealed(TAMIS_RIBBON, 1.0 / 256, few, 1, words.p, bits.p);
        measure_sealed(TAMIS_RIBBON, 1.0 / 128, few, 1, words.p, bits.p);
        measure_sealed(TAMIS_RIBBON, 0.01, few, 1, words.p, bits.p);
        measure_sealed(TAMIS_RIBBON, 1e-6, few, 3, words.p, bits.p);
        if (!quick) {
            measure_sealed(TAMIS_FUSE, 1.0 / 65536, many / 2, 3, words.p, bits.p);
            measure_sealed(TAMIS_RIBBON, 1.0 / 256, many, 1, words.p, bits.p);
            measure_sealed(TAMIS_RIBBON, 0.01, many, 1, words.p, bits.p);
        }
    }
    measure_host();
    measure_processor(34000000);
    measure_processor(1262000000);
}

/* --- Sweeps ----------------------------------------------------------------------------------- */

static void sweep_adds(tamis_cuda *f, uint64_t bytes, const tamis_cuda_keys &k)
{
    static const int mib[] = {4, 8, 16}, tiles[] = {2, 4, 8};
    for (const int part : mib)
        for (const int tile : tiles) {
            struct tuning t = tamis_cuda__tuning();
            char name[64];
            t.direct = 2;
            t.part_mib = part;
            t.tile = tile;
            snprintf(name, sizeof name, "add parts %d MiB tile %d", part, tile);
            tamis_cuda__tune(f, &t);
            const double s = seconds(3, [&] { MUST(tamis_cuda_add(f, &k, nullptr, &why)); });
            figure("sweep", name, bytes, (double)k.count / s, 0, "");
        }
}

void run_sweep(bool quick)
{
    array<uint64_t> words(KEYS);
    fill_words(words.p, KEYS, UINT64_C(1) << 40);
    const tamis_cuda_keys k = word_keys(words.p, KEYS);
    for (const uint64_t bytes : sizes) {
        if (quick && bytes > 2000000000) continue;
        tamis_cuda *f = make_filter(bytes, 0.01);
        sweep_adds(f, bytes, k);
        tamis_cuda_close(f);
    }
}
