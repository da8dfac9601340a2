/* What bench-cuda checks before it measures anything: cells that equal the processor's byte for
 * byte, answers that equal it bit for bit, rates within their bounds, and refusals. */
#include "bench.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

static tamis *make(const tamis_plan &plan)
{
    tamis *t = nullptr;
    tamis_options o = TAMIS_OPTIONS_INIT;
    o.threads = processors();
    MUST(tamis_create(&plan, &o, &t, &why));
    return t;
}

static tamis_plan blocked_plan(uint64_t items)
{
    tamis_plan p = TAMIS_PLAN_INIT;
    p.kind = TAMIS_BLOCKED;
    p.items = items;
    p.fpr = 0.01;
    p.seed = 42;
    return p;
}

static void check_cells(const tamis_cuda *f, const tamis *t, const char *what)
{
    size_t n = 0;
    uint64_t bytes = 0;
    const void *want = tamis_raw_cells(t, &n), *cells = tamis_cuda_cells(f, &bytes);
    std::vector<uint8_t> got(bytes);
    must(cudaDeviceSynchronize(), "adds");
    MUST(tamis_cuda_copy(got.data(), cells, bytes, &why));
    if (n != bytes) return wrong("%s: %zu bytes of cells instead of %zu", what, (size_t)bytes, n);
    size_t differ = 0, first = n;
    for (size_t i = 0; i < n; i++) {
        if (((const uint8_t *)want)[i] == got[i]) continue;
        if (differ++ == 0) first = i;
    }
    if (differ != 0) wrong("%s: %zu bytes of %zu differ, the first is %zu", what, differ, n, first);
}

/* How keys are passed. */
enum way { WORDS, HASHES, FIXED, TEXTS32, TEXTS64, WAYS };
static const char *const way_names[] = {"words", "hashes", "fixed", "offsets32", "offsets64"};

/* Keys of every form, in both memories. */
struct keys {
    enum way way;
    uint64_t n;
    std::vector<uint8_t> data;
    std::vector<int32_t> offsets32;
    std::vector<int64_t> offsets64;
    std::vector<tamis_hash> hashes;
    array<uint8_t> device;
    array<int32_t> device32;
    array<int64_t> device64;

    static uint64_t longest(uint64_t i) { return i % 97 == 0 ? 700 : 60; }
    static std::vector<uint8_t> bytes_of(enum way w, uint64_t n, uint64_t first)
    {
        std::vector<uint8_t> v;
        for (uint64_t i = first; i < first + n; i++) {
            const uint64_t mixed = tamis_hash64(i).lo;
            const uint64_t len = w == WORDS || w == HASHES ? 8 : w == FIXED ? 20 : length(i);
            char text[32];
            snprintf(text, sizeof text, "%016llx", (unsigned long long)mixed);
            for (uint64_t j = 0; j < len; j++)
                v.push_back(j < 8 && len >= 8 ? (uint8_t)(i >> 8 * j)
                                              : (uint8_t)(text[j % 16] + j / 16));
        }
        return v;
    }
    static uint64_t length(uint64_t i)
    {
        const uint64_t mixed = tamis_hash64(i).hi;
        return mixed % longest(i);
    }
    keys(enum way w, uint64_t count, uint64_t first)
        : way(w), n(count), data(bytes_of(w, count, first)),
          device(std::max<uint64_t>(data.size(), 16 * count)), device32(count + 1),
          device64(count + 1)
    {
        int64_t at = 0;
        for (uint64_t i = 0; i < n; i++) {
            offsets32.push_back((int32_t)at);
            offsets64.push_back(at);
            at += (int64_t)length(first + i);
            if (w == HASHES) hashes.push_back(tamis_hash_bytes(42, &data[8 * i], 8));
        }
        offsets32.push_back((int32_t)at);
        offsets64.push_back(at);
        device32.set(offsets32.data());
        device64.set(offsets64.data());
        const void *from = w == HASHES ? (const void *)hashes.data() : data.data();
        must(cudaMemcpy(device.p, from, w == HASHES ? 16 * n : data.size(),
                        cudaMemcpyHostToDevice), "keys");
    }
    tamis_cuda_keys on(bool host) const
    {
        tamis_cuda_keys k = TAMIS_CUDA_KEYS_INIT;
        k.count = n;
        if (way == HASHES) {
            k.hashes = host ? hashes.data() : (const tamis_hash *)device.p;
            return k;
        }
        k.data = host ? data.data() : device.p;
        k.bytes = data.size();
        if (way == WORDS) k.width = 8;
        if (way == FIXED) k.width = 20;
        if (way == TEXTS32) k.offsets32 = host ? offsets32.data() : device32.p;
        if (way == TEXTS64) k.offsets64 = host ? offsets64.data() : device64.p;
        return k;
    }
    tamis_column column() const
    {
        tamis_column c = TAMIS_COLUMN_INIT;
        c.rows = n;
        c.data = data.data();
        c.bytes = data.size();
        if (way == WORDS || way == HASHES) c.width = 8;
        else if (way == FIXED) c.width = 20;
        else c.offsets64 = offsets64.data();
        return c;
    }
};

/* Adds on a device, in one way, directly and in parts, from both memories. */
static void check_adds(enum way way, uint64_t items, uint64_t n)
{
    const keys k(way, n, 1000);
    const tamis_column c = k.column();
    const tamis_plan plan = blocked_plan(items);
    tamis *t = make(plan);
    MUST(tamis_add_column(t, &c, nullptr, nullptr, &why));
    for (int mode = 0; mode < 4; mode++) {
        tamis_cuda *f = nullptr;
        tamis_cuda_options o = TAMIS_CUDA_OPTIONS_INIT;
        struct tuning tuning = tamis_cuda__tuning();
        o.scratch_bytes = mode == 2 ? 1 << 20 : 64 << 20; /* 1 MiB: many pieces */
        tuning.direct = mode == 0 ? 1 : 2;
        tuning.part_mib = 1;
        MUST(tamis_cuda_create(&plan, &o, &f, &why));
        tamis_cuda__tune(f, &tuning);
        const tamis_cuda_keys on = k.on(mode == 3);
        if (mode == 3) MUST(tamis_cuda_add_host(f, &on, &why));
        else MUST(tamis_cuda_add(f, &on, nullptr, &why));
        char what[99];
        snprintf(what, sizeof what, "%llu keys, %s, mode %d", (unsigned long long)n,
                 way_names[way], mode);
        check_cells(f, t, what);
        tamis_cuda_close(f);
    }
    tamis_close(t);
}

/* Keys that are all equal fill one part, and more. */
static void check_equal_keys(uint64_t n)
{
    const tamis_plan plan = blocked_plan(2000000);
    std::vector<uint64_t> same(n, 7);
    array<uint64_t> device(n);
    device.set(same.data());
    tamis *t = make(plan);
    tamis_cuda *f = nullptr;
    struct tuning tuning = tamis_cuda__tuning();
    const tamis_cuda_keys k = word_keys(device.p, n);
    tuning.direct = 2;
    tuning.part_mib = 1;
    CHECK(tamis_add(t, &same[0], 8, nullptr) == TAMIS_OK);
    MUST(tamis_cuda_create(&plan, nullptr, &f, &why));
    tamis_cuda__tune(f, &tuning);
    MUST(tamis_cuda_add(f, &k, nullptr, &why));
    check_cells(f, t, "equal keys");
    tamis_cuda_close(f);
    tamis_close(t);
}

static void check_moves(uint64_t n)
{
    const tamis_plan plan = blocked_plan(n);
    const keys first(WORDS, n / 2, 0), second(WORDS, n - n / 2, n / 2);
    const tamis_column a = first.column(), b = second.column();
    const tamis_cuda_keys on = second.on(false);
    tamis *half = make(plan), *whole = make(plan), *back = nullptr;
    tamis_cuda *f = nullptr, *g = nullptr;
    tamis_facts facts = TAMIS_FACTS_INIT;
    MUST(tamis_add_column(half, &a, nullptr, nullptr, &why));
    MUST(tamis_add_column(whole, &a, nullptr, nullptr, &why));
    MUST(tamis_add_column(whole, &b, nullptr, nullptr, &why));
    MUST(tamis_cuda_upload(half, nullptr, &f, &why));
    check_cells(f, half, "upload");
    MUST(tamis_cuda_create(&plan, nullptr, &g, &why));
    MUST(tamis_cuda_add(g, &on, nullptr, &why));
    MUST(tamis_cuda_merge(f, g, nullptr, &why));
    check_cells(f, whole, "merge");
    MUST(tamis_cuda_download(f, nullptr, &back, &why));
    check_cells(f, back, "download");
    CHECK(tamis_info(back, &facts) == TAMIS_OK && facts.items_estimated);
    CHECK(facts.seed == 42 && facts.items > n * 0.95 && facts.items < n * 1.05);
    tamis_close(half);
    tamis_close(whole);
    tamis_close(back);
    tamis_cuda_close(f);
    tamis_cuda_close(g);
}

/* --- A broken device -------------------------------------------------------------------------- */

__global__ static void trap(void)
{
    __trap();
}

static bool reports(tamis_status s, const tamis_error &why, const char *reason)
{
    return s == TAMIS_EIO && strstr(why.text, reason) != nullptr;
}

/* Exits with 0 if work that fails makes the filter unusable, and if each later call has the reason.
 * It is a process of its own, because the device refuses all further work of this one. */
int break_device(void)
{
    const tamis_plan plan = blocked_plan(1000);
    tamis_cuda *f = nullptr;
    tamis *back = nullptr;
    tamis_error why, later;
    array<uint64_t> words(8);
    array<uint8_t> bits(8);
    must(tamis_cuda_create(&plan, nullptr, &f, &why), why, "a call");
    const tamis_cuda_keys k = word_keys(words.p, 8);
    /* A call that is refused at once leaves the filter as it is. */
    if (!reports(tamis_cuda_copy(words.p, words.p, UINT64_C(1) << 50, &why), why, "copy")) return 9;
    if (tamis_cuda_wait(f, nullptr, &why) != TAMIS_OK) return 10;
    trap<<<1, 1>>>();
    if (!reports(tamis_cuda_wait(f, nullptr, &why), why, "failed")) return 1;
    if (!reports(tamis_cuda_wait(f, nullptr, &later), later, why.text)) return 2;
    if (!reports(tamis_cuda_add(f, &k, nullptr, &later), later, why.text)) return 3;
    if (!reports(tamis_cuda_query(f, &k, bits.p, nullptr, &later), later, why.text)) return 4;
    if (!reports(tamis_cuda_add_host(f, &k, &later), later, why.text)) return 5;
    if (!reports(tamis_cuda_download(f, nullptr, &back, &later), later, why.text)) return 6;
    if (!reports(tamis_cuda_merge(f, f, nullptr, &later), later, why.text)) return 7;
    tamis_cuda_close(f);
    return back != nullptr ? 8 : 0;
}

/* --- Answers ---------------------------------------------------------------------------------- */

static void check_mask(tamis_cuda *f, const std::vector<uint8_t> &bits, uint64_t n)
{
    array<uint8_t> packed((n + 7) / 8), mask(n);
    packed.set(bits.data());
    MUST(tamis_cuda_expand(f, packed.p, n, mask.p, nullptr, &why));
    const std::vector<uint8_t> got = mask.host();
    for (uint64_t i = 0; i < n; i++)
        if (got[i] != (bits[i / 8] >> i % 8 & 1))
            return wrong("byte %llu of a mask is %u", (unsigned long long)i, got[i]);
}

static void check_list(tamis_cuda *f, const tamis_cuda_keys &k, const std::vector<uint8_t> &bits)
{
    array<uint32_t> selected(k.count);
    array<uint64_t> found(1);
    MUST(tamis_cuda_select(f, &k, selected.p, found.p, nullptr, &why));
    MUST(tamis_cuda_wait(f, nullptr, &why));
    const std::vector<uint32_t> list = selected.host();
    uint64_t at = 0;
    for (uint64_t i = 0; i < k.count; i++) {
        if ((bits[i / 8] >> i % 8 & 1) == 0) continue;
        if (list[at++] == i) continue;
        return wrong("entry %llu of a list is %u instead of %llu", (unsigned long long)at - 1,
                     list[at - 1], (unsigned long long)i);
    }
    CHECK(found.host()[0] == at);
    check_mask(f, bits, k.count);
}

/* Compares the answers for these keys, of which a member must get "maybe". Returns how many are. */
static uint64_t check_answers(tamis_cuda *f, const tamis *t, const keys &k, const char *what)
{
    const tamis_column c = k.column();
    const tamis_cuda_keys on = k.on(false), at_host = k.on(true);
    const size_t bytes = (k.n + 7) / 8;
    std::vector<uint8_t> want(bytes), host(bytes + 1, 0xaa);
    array<uint8_t> bits(bytes + 8);
    size_t maybes = 0;
    must(cudaMemset(bits.p, 0xaa, bytes + 8), "bits");
    MUST(tamis_may_contain_column(t, &c, want.data(), &maybes, &why));
    MUST(tamis_cuda_query(f, &on, bits.p, nullptr, &why));
    MUST(tamis_cuda_wait(f, nullptr, &why));
    const std::vector<uint8_t> got = bits.host();
    if (memcmp(got.data(), want.data(), bytes) != 0) wrong("%s: the answers differ", what);
    CHECK(got[bytes] == 0xaa); /* nothing is written behind the answers */
    MUST(tamis_cuda_query_host(f, &at_host, host.data(), &why));
    if (memcmp(host.data(), want.data(), bytes) != 0) wrong("%s: the host's answers differ", what);
    CHECK(host[bytes] == 0xaa);
    check_list(f, on, want);
    return maybes;
}

static void check_rate(const tamis *t, uint64_t maybes, uint64_t n, const char *what)
{
    tamis_facts facts = TAMIS_FACTS_INIT;
    CHECK(tamis_info(t, &facts) == TAMIS_OK);
    const double mean = (double)n * facts.fpr_now;
    /* Eight standard deviations, and as much as few rare events need. */
    if (fabs((double)maybes - mean) > 8 * sqrt(mean) + 25)
        wrong("%s: %llu of %llu false positives, %.0f were expected", what,
            (unsigned long long)maybes, (unsigned long long)n, mean);
}

static tamis_plan sealed_plan(uint32_t kind, double fpr, uint32_t k, uint64_t items)
{
    tamis_plan p = TAMIS_PLAN_INIT;
    p.kind = kind;
    p.fpr = fpr;
    p.k = k;
    p.items = items;
    p.seed = 42;
    return p;
}

static void check_filter_answers(const tamis_plan &plan, uint64_t members, uint64_t asked)
{
    char what[99];
    snprintf(what, sizeof what, "%s, %llu members, rate %g", tamis_kind_name(plan.kind),
             (unsigned long long)members, plan.fpr);
    tamis *t = make(plan);
    const bool sealed = plan.kind != TAMIS_BLOCKED;
    const std::vector<uint64_t> own = some_words(members, 0);
    const tamis_column c = word_column(own.data(), members);
    tamis_cuda *f = nullptr;
    if (members > 0) MUST(tamis_add_column(t, &c, nullptr, nullptr, &why));
    if (sealed) MUST(tamis_seal(t, &why));
    MUST(tamis_cuda_upload(t, nullptr, &f, &why));
    const uint64_t present = std::min(asked, members);
    if (present > 0) {
        const keys in(WORDS, present, 0);
        if (check_answers(f, t, in, what) != present) wrong("%s: a member is missed", what);
    }
    const keys out(WORDS, asked, members), hashed(HASHES, asked / 4 + 5, members / 2);
    check_rate(t, check_answers(f, t, out, what), asked, what);
    check_answers(f, t, hashed, what);
    const keys texts(TEXTS64, asked / 16 + 9, 5), fixed(FIXED, asked / 16 + 3, 5);
    check_answers(f, t, texts, what);
    check_answers(f, t, fixed, what);
    tamis_cuda_close(f);
    tamis_close(t);
}

static void check_texts(uint64_t n)
{
    const tamis_plan plan = blocked_plan(n);
    const keys in(TEXTS32, n, 0), out(TEXTS64, n, n);
    const tamis_column c = in.column();
    tamis *t = make(plan);
    tamis_cuda *f = nullptr;
    MUST(tamis_add_column(t, &c, nullptr, nullptr, &why));
    MUST(tamis_cuda_upload(t, nullptr, &f, &why));
    CHECK(check_answers(f, t, in, "texts") == n);
    check_answers(f, t, out, "other texts");
    tamis_cuda_close(f);
    tamis_close(t);
}

/* --- Refusals --------------------------------------------------------------------------------- */

static void refused(tamis_status got, tamis_status want, const tamis_error &why, const char *part)
{
    if (got != want || why.status != want || strstr(why.text, part) == nullptr)
        wrong("status %d instead of %d, or a wrong reason: \"%s\" lacks \"%s\"", (int)got,
              (int)want, why.text, part);
}

static void check_bad_offsets(tamis_cuda *f, uint8_t *bits)
{
    static const struct {
        int64_t offsets[4];
        const char *reason;
    } bad[] = {{{0, 9, 4, 12}, "offset 2 is below"},
               {{-1, 3, 4, 12}, "key 0 begins before"},
               {{0, 3, 4, 65}, "key 2 begins before"}};
    array<uint8_t> data(64);
    array<int64_t> offsets(4);
    uint64_t bytes = 0;
    tamis_error why;
    for (const auto &b : bad) {
        tamis_cuda_keys k = TAMIS_CUDA_KEYS_INIT;
        k.count = 3;
        k.data = data.p;
        k.bytes = 64;
        k.offsets64 = offsets.p;
        offsets.set(b.offsets);
        refused(tamis_cuda_add(f, &k, nullptr, &why), TAMIS_EINVAL, why, b.reason);
        refused(tamis_cuda_query(f, &k, bits, nullptr, &why), TAMIS_EINVAL, why, b.reason);
        std::vector<uint8_t> host(64);
        k.data = host.data();
        k.offsets64 = b.offsets;
        refused(tamis_cuda_add_host(f, &k, &why), TAMIS_EINVAL, why, b.reason);
    }
    const void *cells = tamis_cuda_cells(f, &bytes);
    CHECK(count_bits(cells, 8 * bytes) == 0); /* a refused call changes nothing */
}

/* Counts that do not fit in 32 bits are refused by their data, not taken by their low half. */
static void check_counts(tamis_cuda *f, const uint64_t *words, uint8_t *bits)
{
    tamis_error why;
    array<uint64_t> found(1);
    tamis_cuda_keys k = word_keys(words, 100);
    k.count += UINT64_C(1) << 32;
    refused(tamis_cuda_query(f, &k, bits, nullptr, &why), TAMIS_EINVAL, why, "beyond the data");
    refused(tamis_cuda_add_host(f, &k, &why), TAMIS_EINVAL, why, "beyond the data");
    k.bytes = UINT64_MAX; /* the size is the caller's word, but such lists have no numbers */
    refused(tamis_cuda_select(f, &k, (uint32_t *)bits, found.p, nullptr, &why), TAMIS_EINVAL, why,
            "at most 2^32");
    k.count = UINT64_MAX / 8;
    refused(tamis_cuda_query(f, &k, bits, nullptr, &why), TAMIS_EINVAL, why, "so many");
}

static void check_refusals(void)
{
    tamis_error why;
    const tamis_plan plan = blocked_plan(1000);
    tamis_cuda *f = nullptr;
    std::vector<uint64_t> host = some_words(100, 0);
    array<uint64_t> words(100);
    array<uint8_t> bits(100);
    must(tamis_cuda_create(&plan, nullptr, &f, &why), why, "a call");
    tamis_cuda_keys k = word_keys(words.p, 100);
    refused(tamis_cuda_query(f, &k, bits.p + 1, nullptr, &why), TAMIS_EINVAL, why, "aligned to 4");
    refused(tamis_cuda_query(f, &k, nullptr, nullptr, &why), TAMIS_EINVAL, why, "NULL");
    refused(tamis_cuda_query(f, nullptr, bits.p, nullptr, &why), TAMIS_EINVAL, why, "NULL");
    refused(tamis_cuda_query(nullptr, &k, bits.p, nullptr, &why), TAMIS_EINVAL, why, "NULL");
    k.bytes = 799;
    refused(tamis_cuda_add(f, &k, nullptr, &why), TAMIS_EINVAL, why, "beyond the data");
    k = word_keys(nullptr, 100);
    refused(tamis_cuda_add(f, &k, nullptr, &why), TAMIS_EINVAL, why, "data must not be NULL");
    int device = 0, pageable = 0;
    cudaGetDevice(&device);
    cudaDeviceGetAttribute(&pageable, cudaDevAttrPageableMemoryAccess, device);
    k = word_keys(host.data(), 100);
    if (!pageable)
        refused(tamis_cuda_add(f, &k, nullptr, &why), TAMIS_EINVAL, why, "can access");
    k = word_keys(words.p, 0);
    must(tamis_cuda_add(f, &k, nullptr, &why), why, "a call");
    must(tamis_cuda_query(f, &k, nullptr, nullptr, &why), why, "a call");
    k.hashes = (const tamis_hash *)words.p;
    refused(tamis_cuda_add(f, &k, nullptr, &why), TAMIS_EINVAL, why, "exactly one");
    k.width = 0;
    k.count = 2;
    k.hashes = (const tamis_hash *)(words.p + 1);
    refused(tamis_cuda_add(f, &k, nullptr, &why), TAMIS_EINVAL, why, "aligned to 16");
    refused(tamis_cuda_merge(f, f, nullptr, &why), TAMIS_EINVAL, why, "two filters");
    check_bad_offsets(f, bits.p);
    check_counts(f, words.p, bits.p);
    tamis_plan huge = blocked_plan(0);
    tamis_cuda *none = f;
    huge.bytes = UINT64_C(200) << 30;
    refused(tamis_cuda_create(&huge, nullptr, &none, &why), TAMIS_ENOMEM, why, "bytes of device");
    CHECK(none == nullptr);
    huge = blocked_plan(1000);
    huge.kind = TAMIS_CUCKOO;
    refused(tamis_cuda_create(&huge, nullptr, &none, &why), TAMIS_EUNSUPPORTED, why, "blocked");
    tamis_cuda_close(f);
}

/* Filters that devices do not take, and those that take only hashes. */
static void check_other_filters(void)
{
    static const uint8_t secret[16] = {1, 2, 3};
    tamis_error why;
    tamis_cuda *f = nullptr;
    tamis *t = make(sealed_plan(TAMIS_CUCKOO, 0.01, 0, 1000)), *back = nullptr;
    refused(tamis_cuda_upload(t, nullptr, &f, &why), TAMIS_EUNSUPPORTED, why, "not cuckoo");
    tamis_close(t);
    t = make(sealed_plan(TAMIS_RIBBON, 0.01, 0, 1000));
    refused(tamis_cuda_upload(t, nullptr, &f, &why), TAMIS_EINVAL, why, "must be sealed");
    tamis_close(t);
    tamis_plan p = blocked_plan(1000);
    tamis_options o = TAMIS_OPTIONS_INIT;
    o.key = secret;
    p.seed = 0;
    must(tamis_create(&p, &o, &t, &why), why, "a call");
    const std::vector<uint64_t> own = some_words(1000, 0);
    std::vector<tamis_bytes> keys;
    for (const uint64_t &w : own) keys.push_back({&w, 8});
    std::vector<tamis_hash> hashes(1000);
    CHECK(tamis_hash_many(t, keys.data(), 1000, hashes.data()) == TAMIS_OK);
    must(tamis_cuda_upload(t, nullptr, &f, &why), why, "a call");
    tamis_cuda_keys k = word_keys(own.data(), 1000);
    refused(tamis_cuda_add_host(f, &k, &why), TAMIS_EKEY, why, "secret key");
    k.width = 0;
    k.hashes = hashes.data();
    must(tamis_cuda_add_host(f, &k, &why), why, "a call");
    CHECK(tamis_add_hashes(t, hashes.data(), 1000, nullptr, nullptr) == TAMIS_OK);
    check_cells(f, t, "a secret key");
    refused(tamis_cuda_download(f, nullptr, &back, &why), TAMIS_EKEY, why, "secret key");
    must(tamis_cuda_download(f, &o, &back, &why), why, "a call");
    check_cells(f, back, "a secret key, downloaded");
    tamis_close(back);
    tamis_close(t);
    tamis_cuda_close(f);
}

void run_checks(bool small)
{
    const uint64_t asked = small ? 20011 : UINT64_C(1) << 24, members = small ? 30000 : 5000000;
    check_refusals();
    check_other_filters();
    for (int way = 0; way < WAYS; way++) {
        check_adds((enum way)way, 1, 40);
        check_adds((enum way)way, 300000, small ? 20000 : 333333);
        if (!small) check_adds((enum way)way, 30000000, 3000000); /* 38 MB, 37 parts */
    }
    check_equal_keys(small ? 5000 : 100000);
    check_moves(small ? 20000 : 3000000);
    check_texts(small ? 10000 : 1000000);
    check_filter_answers(blocked_plan(members), members, asked);
    check_filter_answers(blocked_plan(1), 0, 33);
    check_filter_answers(sealed_plan(TAMIS_RIBBON, 0.01, 0, members), members, asked);
    check_filter_answers(sealed_plan(TAMIS_RIBBON, 1.0 / 256, 0, members), members, asked / 4);
    check_filter_answers(sealed_plan(TAMIS_RIBBON, 1e-6, 0, members / 4), members / 4, asked / 8);
    check_filter_answers(sealed_plan(TAMIS_RIBBON, 0.01, 0, 500), 500, 5000); /* one layer */
    check_filter_answers(sealed_plan(TAMIS_RIBBON, 0.01, 0, 1), 0, 100);      /* the empty set */
    check_filter_answers(sealed_plan(TAMIS_FUSE, 1.0 / 256, 3, members / 4), members / 4, asked);
    check_filter_answers(sealed_plan(TAMIS_FUSE, 1.0 / 4096, 4, members / 8), members / 8,
                         asked / 8);
    check_filter_answers(sealed_plan(TAMIS_FUSE, 1.0 / 8192, 3, 5000), 5000, 9001);
}
