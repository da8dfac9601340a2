// tamis.hpp without exceptions: the forms that take an error are there, the others are not. And
// without allocations: C++ allocates nothing in a bulk call.
#include <tamis/tamis.hpp>

#include "check.hh"

#include <cstdlib>
#include <new>
#include <string>
#include <vector>

#ifdef __cpp_exceptions
#error "compile this with -fno-exceptions"
#endif

template <class T, class = void> inline constexpr bool throws = false;
template <class T>
inline constexpr bool throws<T, std::void_t<decltype(std::declval<T &>().add("key"))>> = true;
static_assert(!throws<tamis::filter>);
static_assert(!std::is_constructible_v<tamis::filter, tamis::plan>);

static std::size_t allocations;
static bool refuse;
void *operator new(std::size_t n, const std::nothrow_t &) noexcept
{
    allocations++;
    return refuse ? nullptr : std::malloc(n);
}
void *operator new[](std::size_t n, const std::nothrow_t &) noexcept
{
    return operator new(n, std::nothrow);
}
void *operator new(std::size_t n)
{
    allocations++;
    void *p = std::malloc(n > 0 ? n : 1);
    if (p == nullptr) std::abort();
    return p;
}
void operator delete(void *p) noexcept
{
    std::free(p);
}
void operator delete(void *p, std::size_t) noexcept
{
    std::free(p);
}

static void check_allocations(tamis::filter &f)
{
    tamis::error why;
    std::vector<std::string> keys;
    std::vector<long> ids;
    for (long i = 0; i < 2000; i++) {
        keys.push_back("a key that is longer than a short string, " + std::to_string(i));
        ids.push_back(i);
    }
    tamis::bits bits(keys.size());
    std::vector<std::size_t> rows(keys.size());
    std::vector<std::int64_t> counts(keys.size());
    const std::size_t before = allocations;
    CHECK(f.add_many(keys, bits, why) == 2000);
    CHECK(f.add_many(tamis::keys_of(ids, tamis::decimal), why) == 2000);
    CHECK(f.may_contain_many(keys, bits, why) == 2000);
    CHECK(f.select(keys, rows.begin()) == rows.end());
    CHECK(f.for_each_maybe(keys, [](const std::string &) {}) == 2000);
    CHECK(f.add_column(tamis::column(ids), why) == 2000);
    CHECK(f.add_hash64(5, why) && f.rotate_to(1, why) == false && why);
    CHECK(!f.upper_many(keys, tamis_cpp::array_view<std::int64_t>(), why));
    CHECK(f.upper_many(keys, counts, why) && counts[0] == INT64_MAX);
    CHECK(allocations == before);
}

// A range that is long enough for several threads takes one block, or is passed on without it.
static void check_long(tamis::filter &f)
{
    tamis::error why;
    const std::vector<std::string> keys(70000, "key");
    const std::size_t before = allocations;
    CHECK(f.add_many(keys, why) == 70000 && allocations <= before + 1);
    refuse = true;
    CHECK(f.add_many(keys, why) == 70000 && f.may_contain_many(keys) == 70000);
    CHECK(f.for_each_maybe(keys, [](const std::string &) {}) == 70000);
    refuse = false;
}

int main()
{
    tamis::error why;
    tamis::filter f = tamis::filter::create(tamis::plan(1000, 1e-6), why);
    if (!CHECK(f && !why)) return 1;
    const std::vector<std::string> keys = {"a", "b", "c"};
    tamis::bits bits(3);
    CHECK(f.add_many(keys, why) == 3 && f.may_contain_many(keys, bits, why) == 3 && !why);
    CHECK(f.test_and_add("a", why) && !f.test_and_add("d", why));
    std::size_t written = 0;
    CHECK(f.write([&](const void *, std::size_t n) { written += n; }, why) && !why);
    CHECK(written == f.image_size() && f.info(why).items == 4);
    CHECK(!f.remove("a", why) && why.status() == TAMIS_EUNSUPPORTED && why.better_kind() != 0);
    CHECK(!tamis::filter::open("/nonexistent/file", why) && why.os() != 0);
    tamis::sketch s = tamis::sketch::create(tamis::plan::sketch_of(1 << 16, TAMIS_TOP), why);
    CHECK(s.add("x", 3, why) && s.add("y", why) && s.count("x", why).estimate == 3);
    tamis::heavy top[4];
    CHECK(s.top(top, 4) == 2 && tamis::text(top[0].item) == "x");
    CHECK(s.above(2, top, 4, why) == 1);
    const tamis::filter g = f.copy(why);
    std::size_t rows[3];
    CHECK(g.may_contain("d") && g.select(keys, rows) == rows + 3 && rows[2] == 2);
    check_allocations(f);
    check_long(f);
    std::printf("%d failed\n", failures);
    return failures != 0;
}
