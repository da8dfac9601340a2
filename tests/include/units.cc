// tamis.hpp: keys, handles and errors, in both forms.
#include <tamis/tamis.hpp>

#include "check.hh"

#include <array>
#include <cerrno>
#include <filesystem>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>
#if __cplusplus >= 202002L
#include <span>
#if !defined(__clang__) || __clang_major__ >= 16 // before, clang could not compile libstdc++'s
#include <ranges>
#define WITH_VIEWS
#endif
#endif

namespace
{

static_assert(!std::is_copy_constructible_v<tamis::filter>);
static_assert(!std::is_copy_assignable_v<tamis::sketch>);
static_assert(std::is_nothrow_move_constructible_v<tamis::filter>);
static_assert(std::is_nothrow_move_assignable_v<tamis::sketch>);
static_assert(std::is_nothrow_default_constructible_v<tamis::filter>);
static_assert(sizeof(tamis::filter) == sizeof(void *));
static_assert(!std::is_convertible_v<tamis::plan, tamis::filter>);
static_assert(!std::is_constructible_v<tamis::filter, tamis::sketch>);
static_assert(!std::is_constructible_v<tamis> && !std::is_destructible_v<tamis>);
static_assert(!std::is_convertible_v<tamis::error, int>);
static_assert(!std::is_convertible_v<char, tamis::bytes>);
static_assert(!std::is_convertible_v<int, tamis::bytes>);
static_assert(!std::is_convertible_v<bool, tamis::bytes>);
static_assert(!std::is_convertible_v<double, tamis::bytes>);
static_assert(!std::is_convertible_v<std::byte, tamis::bytes>);
static_assert(!std::is_convertible_v<std::nullptr_t, tamis::bytes>);
static_assert(!std::is_convertible_v<std::vector<int>, tamis::bytes>);
static_assert(!std::is_convertible_v<std::wstring, tamis::bytes>);
static_assert(!std::is_convertible_v<const void *, tamis::bytes>);

// Whether T has an add() with these arguments.
template <class T, class... A>
auto has_add(int) -> decltype(std::declval<T &>().add(std::declval<A>()...), std::true_type());
template <class T, class... A> std::false_type has_add(...);
template <class T, class... A> constexpr bool adds = decltype(has_add<T, A...>(0))::value;
static_assert(adds<tamis::filter, std::string> && adds<tamis::sketch, std::string, int>);
static_assert(!adds<tamis::filter, std::string, int> && !adds<const tamis::filter, std::string>);
static_assert(!adds<tamis::filter, int> && !adds<tamis::filter, std::nullptr_t>);
template <class P>
auto has_open(int) -> decltype(tamis::filter::open(std::declval<P>()), std::true_type());
template <class P> std::false_type has_open(...);
static_assert(decltype(has_open<std::string>(0))::value);
static_assert(!decltype(has_open<std::string_view>(0))::value); // need not end with a NUL

tamis::filter small()
{
    return tamis::filter(tamis::plan(2000, 1e-6));
}

// Calls f, which must throw, and returns what it threw.
template <class F> tamis::error thrown_by(F &&f)
{
    try {
        f();
    } catch (const tamis::exception &e) {
        CHECK(e.what() == std::string(e.text()) && *e.what() != '\0');
        CHECK(e.status() == e.why().status() && e.os() == e.why().os() &&
              e.better_kind() == e.why().better_kind() && e.offset() == e.why().offset() &&
              e.done() == e.why().done());
        return e.why();
    }
    CHECK(false && "it threw nothing");
    return tamis::error();
}

bool is_key(tamis::bytes key, std::string_view expected)
{
    return tamis::text(key) == expected;
}

void test_keys()
{
    using namespace std::string_literals;
    const unsigned char array[] = {'a', 0, 'b'};
    const std::array<std::byte, 2> bytes = {std::byte('x'), std::byte(0)};
    CHECK(is_key("literal", "literal") && is_key("", "") && is_key("a\0b"s, "a\0b"s));
    CHECK(is_key("a\0b", "a"));
    CHECK(is_key(std::string_view("a\0b", 3), "a\0b"s) && is_key(array, "a\0b"s));
    CHECK(is_key(bytes, "x\0"s) && is_key(std::vector<char>{'h', 'i'}, "hi"));
    CHECK(is_key(std::vector<unsigned char>(), "") && is_key({"abc", 2}, "ab"));
    CHECK(is_key(u8"\u00e9", "\xc3\xa9"));
#ifdef __cpp_char8_t
    CHECK(is_key(std::u8string(u8"\u00e9"), "\xc3\xa9"));
#endif
    char writable[8] = "abc";
    char *pointer = writable;
    CHECK(is_key(writable, "abc") && is_key(pointer, "abc"));

    CHECK(is_key(tamis::decimal(0), "0") && is_key(tamis::decimal(-12), "-12"));
    CHECK(is_key(tamis::decimal(INT64_MIN), "-9223372036854775808"));
    CHECK(is_key(tamis::decimal(UINT64_MAX), "18446744073709551615"));
    CHECK(is_key(tamis::decimal(static_cast<std::uint8_t>(200)), "200"));
    CHECK(is_key(tamis::int64le(258), "\2\1\0\0\0\0\0\0"s));
    CHECK(is_key(tamis::int64le(static_cast<short>(-2)), "\xfe\xff\xff\xff\xff\xff\xff\xff"));
    CHECK(is_key(tamis::int64le(UINT64_MAX), "\xff\xff\xff\xff\xff\xff\xff\xff"));
    const struct {
        std::uint32_t a, b;
    } pair = {1, 2};
    CHECK(tamis::raw(pair).p == &pair && tamis::raw(pair).len == 8);
    const std::array<std::uint16_t, 3> three = {1, 2, 3};
    CHECK(tamis::raw(three).len == 6);

    tamis::filter f = small();
    f.add(tamis::decimal(17));
    f.add(tamis::int64le(18));
    f.add(array);
    CHECK(f.may_contain("17") && f.may_contain("\x12\0\0\0\0\0\0\0"s) && f.may_contain("a\0b"s));
    CHECK(!f.may_contain(tamis::int64le(17)) && !f.may_contain(tamis::decimal(18)));
}

struct row {
    int id;
    std::string name;
    const std::string &name_of() const { return name; }
};

void test_ranges()
{
    std::vector<row> rows;
    std::vector<std::uint64_t> ids;
    for (int i = 0; i < 1300; i++) {
        rows.push_back({i, "row " + std::to_string(i)});
        ids.push_back(static_cast<std::uint64_t>(i));
    }
    tamis::filter f = small(), g = small();
    f.add_many(tamis::keys_of(rows, &row::name));
    for (const row &r : rows) CHECK(f.may_contain(r.name));
    CHECK(f.may_contain_many(tamis::keys_of(rows, &row::name_of)) == rows.size());
    g.add_many(tamis::keys_of(rows, [](const row &r) -> std::string_view { return r.name; }));
    CHECK(f.image() == g.image());
    f.clear();
    g.clear();
    f.add_many(tamis::keys_of(rows, [](const row &r) { return tamis::decimal(r.id); }));
    g.add_many(tamis::keys_of(ids, tamis::decimal));
    CHECK(f.image() == g.image() && f.may_contain("1299") && !f.may_contain("1300"));
    int sum = 0;
    f.for_each_maybe(tamis::keys_of(rows, [](const row &r) { return tamis::decimal(r.id); }),
                     [&](row &r) { sum += r.id; });
    CHECK(sum == 1299 * 1300 / 2);
    f.clear();
    g.clear();
    f.add_many(tamis::keys_of(ids, tamis::int64le));
    const auto kept = tamis::keys_of(ids, tamis::raw);
    g.add_many(kept);
    for (std::uint64_t id : ids)
        CHECK(f.may_contain(tamis::int64le(id)) && g.may_contain(tamis::raw(id)));
    f.clear();
    f.add_many(std::set<std::string>{"a", "b"});
    f.add_many(std::map<std::string, int>{{"c", 1}}.empty() ? std::vector<std::string>()
                                                            : std::vector<std::string>{"c"});
    const char *const words[] = {"d", "e"};
    f.add_many(words);
    f.add_many(std::initializer_list<std::string_view>{"f"});
    f.add_many(std::vector<std::array<unsigned char, 1>>{{'g'}});
    CHECK(f.stat().items == 7);
    for (const char *key : {"a", "b", "c", "d", "e", "f", "g"}) CHECK(f.may_contain(key));
#if __cplusplus >= 202002L
    CHECK(f.may_contain_many(std::span(words)) == 2);
#endif
#ifdef WITH_VIEWS
    auto numbers = std::views::iota(0, 1000);
    f.add_many(tamis::keys_of(numbers, tamis::decimal));
    f.add_many(tamis::keys_of(numbers, [&](int i) -> std::string_view {
        return rows[static_cast<std::size_t>(i)].name;
    }));
    auto texts =
        rows | std::views::transform([](const row &r) { return std::string_view(r.name); });
    CHECK(f.may_contain_many(texts) == 1000 && f.may_contain("999"));
    std::size_t maybes = 0;
    f.for_each_maybe(texts, [&](std::string_view) { maybes++; });
    CHECK(maybes == 1000);
#endif
}

// The stack that the header promises; and descriptors point to the keys themselves.
template <class P> using batch_of = tamis_cpp::batch<std::vector<std::string>::const_iterator, P>;
static_assert(sizeof(batch_of<tamis_cpp::as_it_is>) <= 8 * 1024 + 16);
struct digest_of {
    std::array<unsigned char, 32> operator()(const std::string &) const { return {}; }
};
static_assert(sizeof(batch_of<digest_of>) <= 24 * 1024);
static_assert(sizeof(tamis_cpp::decimal_key) <= 32);

void test_batch()
{
    const std::vector<std::string> keys(600, "a key that is longer than a short string");
    batch_of<tamis_cpp::as_it_is> b;
    auto at = keys.begin();
    CHECK(b.fill(at, keys.end(), tamis_cpp::as_it_is()) == 512 && at == keys.begin() + 512);
    for (std::size_t i = 0; i < 512; i++)
        CHECK(b.keys()[i].p == keys[i].data() && b.keys()[i].len == keys[i].size());
    CHECK(b.fill(at, keys.end(), tamis_cpp::as_it_is()) == 88 && at == keys.end());
}

void test_moves()
{
    tamis::filter a = small(), empty;
    a.add("key");
    tamis *const was = a.get();
    tamis::filter b = std::move(a);
    CHECK(!a && b && b.get() == was && b.may_contain("key") && !empty);
    a = std::move(empty);
    CHECK(!a);
    a = std::move(b);
    CHECK(a.may_contain("key") && !b);
    tamis::filter &same = a;
    a = std::move(same);
    CHECK(a.get() == was && a.may_contain("key"));
    b = small();
    a.swap(b);
    CHECK(b.get() == was && !a.may_contain("key"));
    a = std::move(b); // closes what a had
    CHECK(a.get() == was);
    tamis::filter c(a.release());
    CHECK(!a && c.get() == was);
    c.reset(c.get());
    CHECK(c.may_contain("key"));
    tamis::filter d = c.copy();
    d.add("other");
    CHECK(!c.may_contain("other") && d.may_contain("key"));
    c.reset();
    CHECK(!c);
    std::vector<tamis::filter> many;
    for (int i = 0; i < 20; i++) {
        many.push_back(small());
        many.back().add(tamis::decimal(i));
    }
    for (int i = 0; i < 20; i++)
        CHECK(many[static_cast<std::size_t>(i)].may_contain(tamis::decimal(i)));
}

void test_files(const std::filesystem::path &room)
{
    const std::filesystem::path path = room / "a.tamis";
    tamis::filter f = small();
    f.add("key");
    f.save(path);
    f.save(path.string());
    f.save(path.c_str());
    CHECK(tamis::filter::open(path).may_contain("key"));
    tamis::options map;
    map.flags = TAMIS_MAP;
    CHECK(tamis::filter::open(path, map).stat().read_only);
    tamis::error why;
    CHECK(tamis::filter::open(path, map, why) && !why);

    tamis::save_options fresh;
    fresh.flags = TAMIS_SAVE_NEW;
    CHECK(!f.save(path, fresh, why) && why.status() == TAMIS_EIO && why.os() == EEXIST);
    CHECK(thrown_by([&] { f.save(path, fresh); }).os() == EEXIST);
    CHECK(!tamis::filter::open(room / "none", why) && why.os() == ENOENT && !why.text().empty());
    CHECK(thrown_by([&] { tamis::filter::open(room / "none"); }).status() == TAMIS_EIO);

    const std::vector<unsigned char> image = f.image();
    CHECK(image.size() == f.image_size() && tamis::filter::load(image).may_contain("key"));
    CHECK(thrown_by([&] { tamis::filter::load("not an image"); }).status() == TAMIS_ECORRUPT);
    CHECK(!tamis::filter::load(tamis::bytes(image.data(), 100), why) &&
          why.status() == TAMIS_ECORRUPT);
    alignas(64) static unsigned char aligned[100000];
    if (!CHECK(image.size() <= sizeof aligned)) return;
    std::copy(image.begin(), image.end(), aligned);
    const tamis::filter view = tamis::filter::view({aligned, image.size()});
    CHECK(view.may_contain("key") && view.stat().read_only);
    CHECK(!tamis::filter::view({aligned + 1, image.size()}, why) && why.status() == TAMIS_EINVAL);
    CHECK(thrown_by([&] { tamis::filter::view({aligned + 1, 5}); }).status() == TAMIS_EINVAL);

    std::string packed;
    f.pack([&](const void *p, std::size_t n) { packed.append(static_cast<const char *>(p), n); });
    CHECK(tamis::filter::unpack(packed).image() == image);
    CHECK(!tamis::filter::unpack("x", why) && why);
}

void test_sinks()
{
    tamis::filter f = small();
    tamis::error why;
    const auto refuse = [](const void *, std::size_t) { return TAMIS_EBUSY; };
    CHECK(!f.remove("key", why) && why.better_kind() != 0);
    CHECK(!f.write(refuse, why) && why.status() == TAMIS_EBUSY && !why.text().empty());
    CHECK(why.better_kind() == 0);
    // A C call that fills no tamis_error, after one with the same status that did.
    const std::string general = tamis_status_message(TAMIS_EUNSUPPORTED);
    CHECK(!f.remove("key", why) && why.text() != general);
    CHECK(why.c() != nullptr && !why.took(TAMIS_EUNSUPPORTED) && why.text() == general);
    CHECK(!f.remove("key", why) && why.text() != general);
    CHECK(!why.took_bare(TAMIS_EUNSUPPORTED) && why.text() == general);
    CHECK(thrown_by([&] { f.write(refuse); }).status() == TAMIS_EBUSY);
    const auto explode = [](const void *, std::size_t) { throw std::runtime_error("mine"); };
    for (int form = 0; form < 2; form++) {
        try {
            if (form == 0)
                f.write(explode);
            else
                f.pack(explode, why);
            CHECK(false && "it threw nothing");
        } catch (const std::runtime_error &e) {
            CHECK(std::string(e.what()) == "mine");
        }
    }
    // A function of the caller that throws in the middle of a range leaves nothing behind.
    std::vector<std::string> keys(700, "key");
    f.add("key");
    try {
        f.for_each_maybe(keys, [](const std::string &) { throw 1; });
    } catch (int) {
        CHECK(f.may_contain("key"));
    }
}

void test_errors()
{
    tamis::error why(TAMIS_EIO, "left over");
    tamis::filter f = small(), sealed = small();
    CHECK(f.add("key", why) && !why && why.status() == TAMIS_OK && why.text() == "no error");
    CHECK(why.os() == 0 && why.offset() == 0 && why.better_kind() == 0 && why.done() == 0);

    CHECK(!f.remove("key", why) && why.status() == TAMIS_EUNSUPPORTED && why.better_kind() != 0);
    CHECK(thrown_by([&] { f.remove("key"); }).better_kind() == why.better_kind());
    const tamis::error copy = why;
    CHECK(copy.text() == why.text() && copy.status() == why.status());
    CHECK(f.clear(why) && !why && copy && why.better_kind() == 0);
    CHECK(!tamis::filter::open("/nonexistent/file", why) && why.os() == ENOENT);
    CHECK(f.clear(why) && why.os() == 0 && why.text() == "no error");
    CHECK(!f.rotate(why) && why.better_kind() == TAMIS_WINDOW);
    CHECK(thrown_by([&] { f.rotate(); }).status() == TAMIS_EUNSUPPORTED);
    CHECK(!f.exclude("key", why) && why.better_kind() == TAMIS_EXACT);
    CHECK(thrown_by([&] { f.exclude_many(std::vector<std::string>{"a"}); }).status() ==
          TAMIS_EUNSUPPORTED);
    CHECK(f.count("key", why).upper == 0 && why.status() == TAMIS_EUNSUPPORTED);
    CHECK(thrown_by([&] { f.count("key"); }).better_kind() != 0);
    CHECK(thrown_by([&] { f.merge(tamis::filter(tamis::plan(5, 0.1))); }).status() ==
          TAMIS_EMISMATCH);
    CHECK(!f.merge(f, why) && why.status() == TAMIS_EINVAL);

    sealed.seal();
    CHECK(!sealed.add("key", why) && why.status() == TAMIS_ESEALED && !why.text().empty());
    CHECK(!sealed.test_and_add("key", why) && why.status() == TAMIS_ESEALED);
    CHECK(thrown_by([&] { sealed.add("key"); }).status() == TAMIS_ESEALED);
    CHECK(thrown_by([&] { sealed.test_and_add("key"); }).status() == TAMIS_ESEALED);
    CHECK(thrown_by([&] { sealed.clear(); }).status() == TAMIS_ESEALED);
    CHECK(thrown_by([&] { sealed.add_many(std::vector<std::string>()); }).status() ==
          TAMIS_ESEALED);

    CHECK(!tamis::filter::create(tamis::plan(), why) && why.status() == TAMIS_EINVAL);
    CHECK(thrown_by([] { tamis::filter f2{tamis::plan(1, 2)}; }).status() == TAMIS_EINVAL);
    tamis::options small_limit;
    small_limit.max_bytes = 1000;
    CHECK(!tamis::filter::create(tamis::plan(100000, 0.01), small_limit, why));
    CHECK(why.status() == TAMIS_ENOMEM);
    CHECK(thrown_by([&] { tamis::sketch s{tamis::plan(100, 0.01)}; }).better_kind() == TAMIS_TALLY);
    CHECK(!tamis::sketch::load(f.image(), why) && why.status() == TAMIS_EUNSUPPORTED);
    CHECK(tamis::filter::load(tamis::sketch(tamis::plan::sketch_of(4096)).image()));

    tamis::plan plan(1000, 0.01);
    CHECK(plan.solve().bytes > 1000 && plan.k == 8);
    plan = tamis::plan();
    CHECK(thrown_by([&] { plan.solve(); }).status() == TAMIS_EINVAL);
    CHECK(tamis::plan(1000, 0.01).solve(why).bits_per_item > 8 && !why);
}

// Exactly the first keys are added, also across batches, and bits that are too few change nothing.
void test_partial()
{
    tamis::plan plan(700, 0.01, TAMIS_COUNTING);
    plan.flags = TAMIS_STRICT;
    tamis::filter f(plan);
    std::vector<std::string> keys;
    for (int i = 0; i < 1000; i++) keys.push_back("key " + std::to_string(i));
    tamis::error why;
    CHECK(f.add_many(keys, why) == 700 && why.status() == TAMIS_EFULL && why.done() == 700);
    CHECK(f.stat().items == 700);
    CHECK(f.clear(why) && why.done() == 0);
    CHECK(f.add_many(std::vector<std::string>{"a", "b"}, why) == 2 && why.done() == 0);
    f.clear();
    CHECK(thrown_by([&] { f.add_many(keys); }).done() == 700 && f.stat().items == 700);

    f.clear();
    tamis::bits few(keys.size() - 1);
    CHECK(f.add_many(keys, few, why) == 0 && why.status() == TAMIS_EINVAL && f.stat().items == 0);
    CHECK(thrown_by([&] { f.may_contain_many(keys, few); }).status() == TAMIS_EINVAL);
    CHECK(thrown_by([&] { f.remove_many(keys, few); }).status() == TAMIS_EINVAL);
    std::vector<tamis::hash> hashes(999);
    CHECK(!f.hash_many(keys, hashes, why) && why.status() == TAMIS_EINVAL);
    CHECK(thrown_by([&] { f.hash_many(keys, hashes); }).status() == TAMIS_EINVAL);
    CHECK(f.stat().items == 0);
    std::vector<tamis::estimate> counts(10);
    CHECK(!f.count_many(keys, counts, why) && why.status() == TAMIS_EINVAL);
    tamis::sketch s(tamis::plan::sketch_of(4096));
    CHECK(s.add_many(keys, std::vector<std::int64_t>{1, 2}, why) == 0 &&
          why.status() == TAMIS_EINVAL);
    CHECK(s.stat().weight == 0);
    CHECK(!s.add("x", -1, why) && why.status() == TAMIS_EUNSUPPORTED);
    CHECK(thrown_by([&] { s.above(5); }).better_kind() == TAMIS_TOP);
}

// Removals continue past absent keys, and past a key of a pair that was removed too often.
void test_removals()
{
    tamis::filter f(tamis::plan(2000, 1e-6, TAMIS_COUNTING));
    std::vector<std::string> keys;
    for (int i = 0; i < 1300; i++) keys.push_back("key " + std::to_string(i));
    for (std::size_t i = 0; i < keys.size(); i++)
        if (i % 100 != 99) f.add(keys[i]);
    tamis::bits absent(keys.size());
    f.remove_many(keys, absent);
    const tamis::bit_span span = absent;
    for (std::size_t i = 0; i < keys.size(); i++)
        CHECK(absent[i] == (i % 100 == 99) && span[i] == absent[i]);
    CHECK(span.size() == keys.size());
    CHECK(f.stat().items == 0);

    tamis::filter pair(tamis::plan(4000, 1e-6, TAMIS_PAIR));
    tamis::error why;
    int lives = 0;
    do {
        pair.add("key 0");
        lives++;
    } while (pair.remove("key 0", why) && lives < 1000);
    if (!CHECK(why.status() == TAMIS_EFULL)) return;
    for (std::size_t i = 1; i < keys.size(); i++) pair.add(keys[i]);
    CHECK(!pair.remove_many(keys, why) && why.status() == TAMIS_EFULL);
    CHECK(pair.may_contain("key 0") && pair.may_contain_many(keys) == 1);
    CHECK(thrown_by([&] { pair.remove_many(keys); }).status() == TAMIS_EFULL);
}

void test_hashes()
{
    std::vector<std::string> keys;
    for (int i = 0; i < 1200; i++) keys.push_back("key " + std::to_string(i));
    tamis::filter f = small(), g = small();
    std::vector<tamis::hash> hashes(keys.size());
    f.hash_many(keys, hashes);
    f.add_many(keys);
    tamis::bits seen(keys.size()), maybe(keys.size());
    CHECK(g.add_hashes(hashes, seen) == keys.size() && seen.count() == 0);
    CHECK(f.image() == g.image() && g.may_contain_hashes(hashes) == keys.size());
    CHECK(g.may_contain_hashes(hashes, maybe) == keys.size() && maybe.count() == keys.size());
    tamis::error why;
    tamis::bits few(1);
    CHECK(g.may_contain_hashes(hashes, few, why) == 0 && why.status() == TAMIS_EINVAL);
    CHECK(thrown_by([&] { g.remove_hashes(hashes); }).status() == TAMIS_EUNSUPPORTED);

    tamis::sketch s(tamis::plan::sketch_of(1 << 20));
    s.add_many(keys);
    std::vector<tamis::estimate> counts(keys.size());
    std::vector<tamis::hash> seeds(keys.size());
    s.hash_many(keys, seeds);
    s.count_hashes(seeds, counts);
    for (const tamis::estimate &e : counts) CHECK(e.upper >= 1);
    std::vector<std::int64_t> weights;
    for (std::size_t i = 0; i < keys.size(); i++) weights.push_back(static_cast<std::int64_t>(i));
    s.add_many(keys, weights);
    s.count_many(keys, counts);
    for (std::size_t i = 0; i < keys.size(); i++)
        CHECK(counts[i].upper > weights[i] && counts[i].upper == s.count(keys[i]).upper);
}

void test_others()
{
    tamis::filter a = small(), b = small();
    a.add("x");
    b.add("y");
    const tamis::similarity s = a.compare(b);
    CHECK(s.union_items > 1 && s.jaccard < 0.5);
    a.merge(b);
    CHECK(a.may_contain("y") && a.info().items_estimated);
    tamis::error why;
    CHECK(a.info(why).kind == a.stat().kind && !why);
    tamis::filter counting(tamis::plan(100, 0.01, TAMIS_COUNTING));
    counting.add("z");
    CHECK(counting.count("z").upper == 1);
    const tamis::filter plain = counting.convert(TAMIS_BLOOM);
    CHECK(plain.may_contain("z") && plain.stat().kind == TAMIS_BLOOM);
    CHECK(thrown_by([&] { a.convert(TAMIS_BLOOM); }).status() == TAMIS_EUNSUPPORTED);

    tamis::plan within;
    within.kind = TAMIS_DISTINCT;
    within.error = 0.05;
    tamis::filter seen(within);
    seen.add("one"), seen.add("two"), seen.add("one");
    const tamis::cardinality n = seen.distinct();
    CHECK(n.value == 2 && n.exact && seen.distinct(why).value == 2 && !why);
    CHECK(counting.distinct().value > 0);
    tamis::filter cuckoo(tamis::plan(100, 0.01, TAMIS_CUCKOO));
    CHECK(thrown_by([&] { cuckoo.distinct(); }).status() == TAMIS_EUNSUPPORTED);
    CHECK(cuckoo.distinct(why).value == 0 && why.status() == TAMIS_EUNSUPPORTED);

    tamis::plan bitmap(100, 0, TAMIS_BLOOM);
    bitmap.k = 1;
    bitmap.m = 100000;
    tamis::filter source(bitmap);
    source.add("z");
    const tamis::filter released = source.release_private(8);
    CHECK(released.stat().kind == TAMIS_PRIVATE);
    const double p = released.probability("z", 0.5);
    CHECK(p > 0 && p < 1);
    CHECK(thrown_by([&] { source.release_private(-1); }).status() == TAMIS_EINVAL);
}

} // namespace

int main(int argc, char **argv)
{
    test_keys();
    test_ranges();
    test_batch();
    test_moves();
    test_files(argc > 1 ? argv[1] : std::filesystem::temp_directory_path());
    test_sinks();
    test_errors();
    test_partial();
    test_removals();
    test_hashes();
    test_others();
    std::printf("%d failed\n", failures);
    return failures != 0;
}
