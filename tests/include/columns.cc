// tamis.hpp: columns, hashes of 64 bits, counts on the hot path, long ranges and embedded filters,
// against exact sets and maps and against the C calls.
#include <tamis/tamis.hpp>

#include "check.hh"

#include <array>
#include <cstdlib>
#include <list>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#endif

namespace
{

struct row {
    std::uint16_t before;
    std::uint64_t id;
    std::array<unsigned char, 5> code;
};
struct pair {
    std::uint32_t a, b;
};

// Which ranges are columns.
template <class R, class P> constexpr bool passes_column(R &&, P &&)
{
    return tamis_cpp::is_column<tamis_cpp::keyed<std::remove_reference_t<R>, std::decay_t<P>>>;
}
using codes = std::vector<std::array<unsigned char, 5>>;
static_assert(tamis_cpp::is_column<codes> && tamis_cpp::is_column<const codes>);
static_assert(!tamis_cpp::is_column<std::vector<std::string>>);
static_assert(!tamis_cpp::is_column<std::vector<tamis::bytes>>);
static_assert(!tamis_cpp::is_column<std::list<std::array<unsigned char, 5>>>);
static_assert(tamis_cpp::is_value<int> && tamis_cpp::is_value<pair>);
static_assert(!tamis_cpp::is_value<row> && !tamis_cpp::is_value<double>);
static_assert(!tamis_cpp::is_value<std::string_view> && !tamis_cpp::is_value<tamis_bytes>);
static_assert(!tamis_cpp::is_value<const char *>);

template <class F> tamis_status status_of(F &&f)
{
    try {
        f();
    } catch (const tamis::exception &e) {
        return e.status();
    }
    return TAMIS_OK;
}

std::vector<std::uint64_t> numbers(std::size_t n, unsigned long long seed)
{
    std::vector<std::uint64_t> all;
    dice roll{seed};
    // Every third number came before.
    for (std::size_t i = 0; i < n; i++) all.push_back(i % 3 == 2 ? all[roll() % i] : roll());
    return all;
}

tamis::filter empty(std::size_t items, std::uint32_t kind = TAMIS_BLOCKED)
{
    return tamis::filter(tamis::plan(items, 0.01, kind));
}

// The same keys one by one.
template <class F> std::vector<bool> add_singly(tamis::filter &f, std::size_t n, F &&key)
{
    std::vector<bool> seen;
    for (std::size_t i = 0; i < n; i++) seen.push_back(f.test_and_add(key(i)));
    return seen;
}

// Adds and queries a column in every form, against one filter of single keys.
template <class F> void check_column(const tamis::column &c, std::size_t n, F &&key)
{
    tamis::filter expected = empty(n + 1), f = empty(n + 1), g = empty(n + 1);
    tamis::error why;
    tamis::bits seen(n), bits(n);
    const std::vector<bool> before = add_singly(expected, n, key);
    CHECK(c.rows == n && f.add_column(c) == n && g.add_column(c, seen, why) == n && !why);
    CHECK(f.image() == expected.image() && g.image() == expected.image());
    for (std::size_t i = 0; i < n; i++)
        if (!CHECK(seen[i] == before[i])) return;

    tamis::filter half = empty(n + 1);
    std::unordered_set<std::string> model;
    for (std::size_t i = 0; i < n; i += 2) {
        half.add(key(i));
        model.emplace(tamis::text(key(i)));
    }
    std::vector<std::uint32_t> rows(n), all = half.select_column(c);
    const std::size_t found = half.may_contain_column(c, bits);
    CHECK(half.may_contain_column(c) == found && bits.count() == found);
    CHECK(half.select_column(c, rows, why) == found && all.size() == found);
    for (std::size_t i = 0, at = 0; i < n; i++) {
        if (!CHECK(bits[i] == half.may_contain(key(i)))) return;
        if (!CHECK(bits[i] || model.count(std::string(tamis::text(key(i)))) == 0)) return;
        if (bits[i] && !CHECK(rows[at] == i && all[at++] == i)) return;
    }
    if (n == 0) return;
    tamis::bits few(n - 1);
    CHECK(f.add_column(c, few, why) == 0 && why.status() == TAMIS_EINVAL);
    CHECK(status_of([&] { f.may_contain_column(c, few); }) == TAMIS_EINVAL);
    rows.resize(n - 1);
    CHECK(f.select_column(c, rows, why) == 0 && why.status() == TAMIS_EINVAL);
}

void test_columns()
{
    for (std::size_t n : {0u, 1u, 7u, 8u, 513u, 3000u}) {
        const std::vector<std::uint64_t> ids = numbers(n, n);
        std::vector<pair> pairs;
        std::vector<row> rows;
        codes short_codes;
        std::string texts;
        std::vector<std::int32_t> narrow = {0};
        std::vector<std::int64_t> wide = {0};
        for (std::uint64_t id : ids) {
            const unsigned char byte = static_cast<unsigned char>(id);
            pairs.push_back({static_cast<std::uint32_t>(id), 7});
            rows.push_back({1, id, {byte, 2, 3, byte, 5}});
            short_codes.push_back(rows.back().code);
            texts += std::string(id % 40, 'x') + std::to_string(id);
            narrow.push_back(static_cast<std::int32_t>(texts.size()));
            wide.push_back(static_cast<std::int64_t>(texts.size()));
        }
        const auto text = [&](std::size_t i) -> tamis::bytes {
            return std::string_view(texts).substr(static_cast<std::size_t>(wide[i]),
                                                  static_cast<std::size_t>(wide[i + 1] - wide[i]));
        };
        check_column(tamis::column(ids), n, [&](std::size_t i) { return tamis::raw(ids[i]); });
        check_column(tamis::column(pairs), n, [&](std::size_t i) { return tamis::raw(pairs[i]); });
        check_column(tamis::column(short_codes), n,
                     [&](std::size_t i) -> tamis::bytes { return short_codes[i]; });
        check_column(tamis::column(rows, &row::id), n,
                     [&](std::size_t i) { return tamis::raw(rows[i].id); });
        check_column(tamis::column(rows, &row::code), n,
                     [&](std::size_t i) -> tamis::bytes { return rows[i].code; });
        check_column(tamis::column(texts, narrow), n, text);
        check_column(tamis::column(texts, wide), n, text);
        if (n < 20) continue;
        check_column(tamis::column(ids).slice(5, n - 9), n - 9,
                     [&](std::size_t i) { return tamis::raw(ids[i + 5]); });
        check_column(tamis::column(texts, wide).slice(3, 9), 9,
                     [&](std::size_t i) { return text(i + 3); });
    }
#if __cplusplus >= 202002L
    const std::vector<int> values = {1, 2, 3};
    check_column(tamis::column(std::span(values).subspan(1)), 2,
                 [&](std::size_t i) { return tamis::raw(values[i + 1]); });
#endif
    CHECK(tamis::column("", std::vector<std::int32_t>()).rows == 0);
    CHECK(empty(5).add_column(tamis::column("", std::vector<std::int64_t>())) == 0);
}

void test_null_rows()
{
    const std::vector<std::int32_t> offsets = {0, 1, 2, 3};
    const std::uint8_t valid = 0b101;
    tamis::filter f(tamis::plan(100, 1e-9));
    f.add_column(tamis::column("abc", offsets, &valid));
    CHECK(f.may_contain("a") && !f.may_contain("b") && f.may_contain("c"));
    const std::vector<std::uint32_t> both = {0, 2};
    CHECK(f.select_column(tamis::column("abc", offsets, &valid)) == both);
    tamis::sketch s(tamis::plan::sketch_of(1 << 16));
    std::vector<std::int64_t> counts(3);
    CHECK(s.add_counted_column(tamis::column("aba", offsets, &valid), counts) == 3);
    CHECK(counts == (std::vector<std::int64_t>{1, 0, 2}));
}

// A column that is wrong is an error, and nothing changes.
void test_wrong_columns()
{
    tamis::filter f = empty(100);
    tamis::sketch s(tamis::plan::sketch_of(4096));
    tamis::error why;
    std::vector<std::int64_t> counts(5, 9);
    std::vector<tamis::estimate> estimates(5);
    const std::vector<std::int32_t> falls = {0, 3, 2}, beyond = {0, 3, 9}, negative = {-1, 3};
    for (const auto *offsets : {&falls, &beyond, &negative}) {
        const tamis::column c("abcd", *offsets);
        CHECK(f.add_column(c, why) == 0 && why.status() == TAMIS_EINVAL && !why.text().empty());
        CHECK(status_of([&] { f.add_column(c); }) == TAMIS_EINVAL);
        CHECK(status_of([&] { f.may_contain_column(c); }) == TAMIS_EINVAL);
        CHECK(status_of([&] { f.select_column(c); }) == TAMIS_EINVAL);
        CHECK(status_of([&] { s.add_counted_column(c, counts); }) == TAMIS_EINVAL);
        CHECK(status_of([&] { s.count_column(c, estimates); }) == TAMIS_EINVAL);
        CHECK(status_of([&] { s.upper_column(c, counts); }) == TAMIS_EINVAL);
    }
    tamis::column none;
    none.rows = 1;
    CHECK(f.add_column(none, why) == 0 && why.status() == TAMIS_EINVAL);
    CHECK(f.stat().items == 0 && s.stat().weight == 0 && counts[0] == 9);
}

// Ranges that are columns have the answers of single keys, also if the keys have a wrong length.
void test_encodings()
{
    tamis::plan plan(1000, 0.01);
    plan.encoding = TAMIS_KEYS_INT64;
    tamis::filter f(plan);
    const std::vector<std::int64_t> ids = {1, -2, 3};
    const std::vector<std::int32_t> narrow(23, 5);
    CHECK(f.add_many(tamis::keys_of(ids, tamis::int64le)) == 3);
    CHECK(f.may_contain_many(tamis::keys_of(ids, tamis::int64le)) == 3);
    tamis::error why;
    tamis::bits bits(23);
    const auto wrong = tamis::keys_of(narrow, tamis::raw);
    CHECK(f.add_many(wrong, why) == 0 && why.status() == TAMIS_EINVAL && why.done() == 0);
    CHECK(f.may_contain_many(wrong, bits) == 23 && bits.count() == 23 && f.stat().items == 3);
    CHECK(f.may_contain_many(wrong) == 23);
    std::size_t called = 0;
    CHECK(f.for_each_maybe(wrong, [&](int) { called++; }) == 23 && called == 23);

    plan = tamis::plan::sketch_of(1 << 16);
    plan.encoding = TAMIS_KEYS_INT64;
    tamis::sketch s(plan);
    std::vector<std::int64_t> counts(23), singly(23);
    for (std::int64_t &n : singly) n = s.upper(tamis::raw(narrow[0]));
    s.upper_many(wrong, counts);
    CHECK(counts == singly && counts[0] == INT64_MAX);
    counts.assign(23, 0);
    CHECK(s.add_counted_many(wrong, counts, why) == 0 && why.status() == TAMIS_EINVAL);
    CHECK(counts == singly && s.stat().weight == 0);
}

// Long ranges go to C in few calls. Their answers are those of short ones.
template <class Range, class Key> void check_long(const Range &range, std::size_t n, Key &&key)
{
    tamis::options threads;
    threads.threads = 3;
    tamis::plan plan(n, 0.01);
    tamis::filter f(plan, threads), expected(plan), half(plan, threads);
    tamis::bits seen(n), bits(n);
    const std::vector<bool> before = add_singly(expected, n, key);
    CHECK(f.add_many(range, seen) == n && f.image() == expected.image());
    for (std::size_t i = 0; i < n; i++)
        if (!CHECK(seen[i] == before[i])) return;
    f.clear();
    CHECK(f.add_many(range) == n && f.image() == expected.image());
    for (std::size_t i = 0; i < n; i += 2) half.add(key(i));
    std::vector<std::uint32_t> rows;
    std::size_t called = 0;
    const std::size_t found = half.may_contain_many(range, bits);
    half.select<std::uint32_t>(range, std::back_inserter(rows));
    half.for_each_maybe(range, [&](const auto &) { called++; });
    CHECK(rows.size() == found && called == found && half.may_contain_many(range) == found);
    for (std::size_t i = 0, at = 0; i < n; i++) {
        if (!CHECK(bits[i] == half.may_contain(key(i)))) return;
        if (bits[i] && !CHECK(rows[at++] == i)) return;
    }
}

void test_long_ranges()
{
    for (std::size_t n : {65535u, 65536u, 196608u, 196609u}) {
        const std::vector<std::uint64_t> ids = numbers(n, 3);
        std::vector<std::string> names;
        for (std::uint64_t id : ids) names.push_back("name " + std::to_string(id));
        std::vector<std::string_view> views(names.begin(), names.end());
        std::vector<tamis::bytes> descriptors(names.begin(), names.end());
        const auto name = [&](std::size_t i) -> tamis::bytes { return names[i]; };
        check_long(names, n, name);
        if (n % 2 == 0) continue;
        check_long(std::list<std::string>(names.begin(), names.end()), n, name);
        check_long(views, n, name);
        check_long(descriptors, n, name);
        check_long(tamis::keys_of(ids, tamis::raw), n,
                   [&](std::size_t i) { return tamis::raw(ids[i]); });
        check_long(tamis::keys_of(ids, tamis::int64le), n,
                   [&](std::size_t i) { return tamis::int64le(ids[i]); });
        check_long(tamis::keys_of(ids, tamis::decimal), n,
                   [&](std::size_t i) { return tamis::decimal(ids[i]); });
    }
    for (std::size_t n = 65536; n < 3000000; n += n % 196608 < 2000 ? 1 : 4567) {
        const std::size_t share = tamis_cpp::share_of(n);
        if (!CHECK(share % 8 == 0 && share <= tamis_cpp::long_batch_size)) return;
        if (!CHECK(n <= share || n % share == 0 || n % share >= tamis_cpp::threads_from)) return;
    }
}

void test_hash64()
{
    for (std::uint32_t kind : {TAMIS_BLOCKED, TAMIS_COUNTING, TAMIS_CUCKOO}) {
        std::vector<std::uint64_t> h = numbers(3000, 8);
        if (kind != TAMIS_BLOCKED) // the others hold a limited number of copies of a key
            for (std::size_t i = 0; i < h.size(); i++) h[i] = i;
        tamis::filter f = empty(4000, kind), g = empty(4000, kind), c = empty(4000, kind);
        tamis::bits seen(h.size()), bits(h.size());
        tamis::error why;
        CHECK(f.add_hash64(h, seen) == h.size());
        CHECK(tamis_add_hash64(c.get(), h.data(), h.size(), nullptr, nullptr) == TAMIS_OK);
        for (std::size_t i = 0; i < h.size(); i++)
            if (!CHECK(g.test_and_add_hash64(h[i]) == seen[i])) return;
        CHECK(f.image() == c.image() && g.image() == c.image());
        CHECK(f.may_contain_hash64(h) == h.size() && f.may_contain_hash64(h, bits) == h.size());
        CHECK(f.may_contain_hash64(h[7]) && bits.count() == h.size());
        tamis::bits few(1);
        CHECK(f.add_hash64(h, few, why) == 0 && why.status() == TAMIS_EINVAL);
        CHECK(f.may_contain_hash64(h, few, why) == 0 && why.status() == TAMIS_EINVAL);
        if (kind == TAMIS_BLOCKED) {
            CHECK(!f.remove_hash64(h[0], why) && why.status() == TAMIS_EUNSUPPORTED);
            CHECK(f.upper_hash64(h[0]) == INT64_MAX);
            continue;
        }
        CHECK(f.count_hash64(h[0]).upper == f.upper_hash64(h[0]));
        f.remove_hash64(h[0]);
        f.add_hash64(h[0]);
        f.remove_hash64(h, seen);
        CHECK(seen.count() == 0 && f.stat().items == 0);
        CHECK(!f.remove_hash64(h[0], why) && why.status() == TAMIS_EABSENT);
        CHECK(status_of([&] { f.remove_hash64(h[0]); }) == TAMIS_EABSENT);
        CHECK(f.remove_hash64(h, seen, why) && seen.count() == h.size());
    }
    tamis::plan plan(100, 0, TAMIS_EXACT);
    plan.excluded = 100;
    tamis::filter exact(plan);
    exact.add_hash64(1);
    exact.exclude_hash64(2);
    exact.exclude_hash64(std::vector<std::uint64_t>{3, 4});
    exact.seal();
    CHECK(exact.may_contain_hash64(1));
    for (std::uint64_t not_in : {2u, 3u, 4u}) CHECK(!exact.may_contain_hash64(not_in));
    tamis::filter f = empty(10);
    f.add("key");
    CHECK(f.may_contain_hashes(std::vector<tamis::hash>{tamis::hash_of("key")}) == 1);
}

// Counts right after each add, in every form, against single adds and an exact map.
void check_counted(std::uint32_t kind)
{
    const tamis::plan plan = tamis::plan::sketch_of(1 << 16, kind);
    tamis::sketch singly(plan), in_bulk(plan), weighed(plan), column(plan), narrow(plan),
        wide(plan);
    dice roll{kind};
    std::vector<std::uint64_t> keys;
    std::vector<std::int64_t> weights, counts(3000), others(3000), expected;
    std::vector<tamis::hash> hashes;
    std::unordered_map<std::uint64_t, std::int64_t> model;
    for (int i = 0; i < 3000; i++) {
        keys.push_back(static_cast<unsigned>(__builtin_ctzll(roll() | 1ull << 40)));
        weights.push_back(static_cast<std::int64_t>(roll() % 100));
        hashes.push_back(tamis_hash64(keys.back()));
        model[keys.back()] += weights.back();
        expected.push_back(singly.add_counted(tamis::raw(keys.back()), weights.back()));
        if (!CHECK(expected.back() >= model[keys.back()])) return;
    }
    tamis::error why;
    const auto raw = tamis::keys_of(keys, tamis::raw);
    CHECK(weighed.add_counted_many(raw, weights, counts, why) == 3000 && !why);
    CHECK(counts == expected && weighed.image() == singly.image());
    CHECK(column.add_counted_column(tamis::column(keys), weights, others) == 3000);
    CHECK(others == expected && column.image() == singly.image());
    for (std::uint64_t key : keys) in_bulk.add_counted(tamis::raw(key));
    singly.clear();
    const std::vector<tamis::bytes> bytes(raw.range->size(), tamis::bytes("same"));
    CHECK(singly.add_counted_many(bytes, counts) == 3000 && counts.front() == 1);
    CHECK(counts.back() == 3000 && singly.upper("same") == 3000);
    singly.clear();
    CHECK(singly.add_many(raw) == 3000 && singly.image() == in_bulk.image());

    weighed.upper_many(raw, counts);
    column.upper_column(tamis::column(keys), others);
    std::vector<tamis::estimate> estimates(3000);
    column.count_column(tamis::column(keys), estimates);
    for (std::size_t i = 0; i < keys.size(); i++) {
        if (!CHECK(counts[i] == others[i] && counts[i] == weighed.upper(tamis::raw(keys[i]))))
            return;
        if (!CHECK(counts[i] == estimates[i].upper && counts[i] >= model[keys[i]])) return;
    }
    std::vector<std::int64_t> few(10);
    CHECK(weighed.add_counted_many(raw, few, counts, why) == 0 && why.status() == TAMIS_EINVAL);
    CHECK(weighed.add_counted_many(raw, few, why) == 0 && why.status() == TAMIS_EINVAL);
    CHECK(!weighed.upper_many(raw, few, why) && why.status() == TAMIS_EINVAL);
    CHECK(status_of([&] { column.add_column(tamis::column(keys), few); }) == TAMIS_EINVAL);
    CHECK(weighed.image() == column.image());
    column.add_column(tamis::column(keys), weights);
    weighed.add_many(raw, weights);
    CHECK(weighed.image() == column.image());
    if (kind == TAMIS_TOP) {
        CHECK(narrow.add_counted_hash64(1, why) == INT64_MAX);
        CHECK(why.status() == TAMIS_EUNSUPPORTED);
        return;
    }
    CHECK(narrow.add_counted_hash64(keys, weights, counts) == 3000);
    CHECK(wide.add_counted_hashes(hashes, weights, others) == 3000 && counts == others);
    CHECK(narrow.image() == wide.image());
    CHECK(narrow.add_hash64(keys, weights) == 3000 && wide.add_hashes(hashes, weights) == 3000);
    narrow.add_hash64(7, 5);
    wide.add_counted_hash64(7, 5);
    CHECK(narrow.image() == wide.image() && narrow.upper_hash64(7) == wide.upper_hash64(7));
    narrow.upper_hash64(keys, counts);
    wide.upper_hashes(hashes, others);
    CHECK(counts == others);
    narrow.count_hash64(keys, estimates);
    for (std::size_t i = 0; i < keys.size(); i++)
        if (!CHECK(counts[i] == estimates[i].upper)) return;
}

// After a failure exactly the first keys were added, and the other counts are INT64_MAX.
void test_counted_failure()
{
    tamis::sketch s(tamis::plan::sketch_of(1 << 16));
    std::vector<std::string> keys;
    for (int i = 0; i < 1500; i++) keys.push_back("key " + std::to_string(i));
    std::vector<std::int64_t> weights(1500, 2), counts(1500, 0);
    weights[700] = -1; // a tally cannot subtract
    tamis::error why;
    const std::size_t done = s.add_counted_many(keys, weights, counts, why);
    CHECK(why.status() == TAMIS_EUNSUPPORTED && why.done() == done && done <= 700);
    CHECK(s.stat().weight == static_cast<std::int64_t>(2 * done));
    for (std::size_t i = 0; i < 1500; i++)
        if (!CHECK(counts[i] == (i < done ? s.upper(keys[i]) : INT64_MAX))) return;
    CHECK(s.add_counted("key", -1, why) == INT64_MAX && why.status() == TAMIS_EUNSUPPORTED);
    CHECK(status_of([&] { s.add_counted("key", -1); }) == TAMIS_EUNSUPPORTED);
}

void test_epochs()
{
    tamis::plan plan(1000, 1e-6, TAMIS_WINDOW);
    plan.generations = 3;
    tamis::filter f(plan);
    tamis::error why;
    f.rotate_to(100);
    f.add("old");
    f.rotate_to(102);
    CHECK(f.may_contain("old") && f.stat().epoch == 102);
    CHECK(f.rotate_to(103, why) && !f.may_contain("old") && !why);
    CHECK(!f.rotate_to(99, why) && why.status() == TAMIS_EINVAL);
    CHECK(status_of([&] { f.rotate_to(0); }) == TAMIS_EINVAL && f.stat().epoch == 103);
}

void test_embedded()
{
    tamis::plan plan(100, 0.01, TAMIS_BLOCKED);
    plan.solve();
    tamis::filter f(plan);
    f.add("key");
    const std::vector<unsigned char> image = f.image();
    std::vector<unsigned char> room(1), shifted(1);
    shifted.insert(shifted.end(), image.begin(), image.end());
    const tamis::bytes at_any_place(shifted.data() + 1, image.size());
    std::size_t needed = 0;
    tamis::error why;
    CHECK(!tamis::filter::view_at(room.data(), 1, at_any_place, tamis::options(), why, &needed));
    CHECK(why.status() == TAMIS_ENOMEM && needed > 1);
    room.resize(needed);
    CHECK(tamis::filter::view_at(room.data(), needed, at_any_place).may_contain("key"));
    CHECK(!tamis::sketch::view_at(room.data(), needed, at_any_place, tamis::options(), why));
    CHECK(why.status() == TAMIS_EUNSUPPORTED);

    const tamis::bytes cells = f.raw_cells();
    const tamis::filter view = tamis::filter::view_cells(plan, cells);
    CHECK(view.may_contain("key") && view.stat().read_only && cells.len < image.size());
    CHECK(!tamis::filter::view_cells(plan, {cells.p, 8}, tamis::options(), why));
    CHECK(why.status() == TAMIS_EINVAL);
}

} // namespace

int main()
{
    test_columns();
    test_null_rows();
    test_wrong_columns();
    test_encodings();
    test_long_ranges();
    test_hash64();
    for (std::uint32_t kind : {TAMIS_TALLY, TAMIS_TOP, TAMIS_COUNT_MIN}) check_counted(kind);
    test_counted_failure();
    test_epochs();
    test_embedded();
    std::printf("%d failed\n", failures);
    return failures != 0;
}
