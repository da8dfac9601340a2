// Tamis in C++17: a header over the C library, with nothing to compile.
//
//     tamis::filter bad(tamis::plan(1'000'000, 0.01));    // items and false-positive rate
//     bad.add("thisisavirus.com");
//     if (!bad.may_contain("verynormalsite.com")) ...     // certainly not a member
//     bad.save("bad.tamis");
//
//     tamis::error why;                                   // the same without exceptions
//     if (!bad.save("bad.tamis", why)) std::cerr << why.text() << '\n';
//
// The C headers are the manual: a member function here has the name and the contract of the C call
// tamis_NAME, and this header states only what differs. For anything that it lacks, get() returns
// the C handle. Link with -ltamis -lm -pthread. C++20 is not required.
//
// Classes  A tamis::filter is a set, and a tamis::sketch counts. Both own a C handle, can be moved
//          and not copied (copy() makes a copy), and close the handle when they are destroyed. A
//          handle that was moved from is empty, like a default-constructed one. An empty handle
//          converts to false, may be destroyed, assigned to and moved, and nothing else.
// Errors   A call that can fail has two forms. The one whose last argument is a tamis::error never
//          throws: it sets the error and returns false, 0 or an empty handle. After a success the
//          error converts to false. The other form throws tamis::exception. With -fno-exceptions
//          only the first form exists. std::bad_alloc comes only from calls that return a
//          std::vector or make a tamis::bits. Exceptions of the caller's iterators, projections
//          and functions pass through, also in the first form.
// Keys     A key is anything that converts to std::string_view, or any contiguous container of
//          char, unsigned char, std::byte or char8_t. An array of char or char8_t is a string and
//          ends at its first NUL; an array of the other types is a key as a whole. A number is not
//          a key by itself, because programs disagree about its bytes. Choose:
//              tamis::decimal(n)  its decimal text, as in the command, Redis and npm
//              tamis::int64le(n)  8 bytes, two's complement, little-endian
//              tamis::raw(x)      the bytes of x in memory, which must be all of its value: types
//                                 with padding, pointers or floating-point numbers do not compile
// Bulk     Calls that end with _many take a range of keys, or tamis::keys_of(range, projection),
//          where the projection makes a key of an element: &row::name, tamis::decimal or a
//          function. Keys are not copied, and the answers do not depend on how they are passed on:
//            - A contiguous range of tamis_bytes or tamis::bytes goes to the C call as it is. So
//              does a contiguous range whose keys are the bytes of its elements: with tamis::raw,
//              tamis::int64le of 64-bit integers, or elements or members of type std::array of
//              bytes. (remove_many, exclude_many and hash_many need descriptors of these.)
//            - Other ranges are passed on in batches of 512 descriptors. A batch takes 8 KiB of
//              stack, and up to 16 KiB more if the projection returns keys that it made, like
//              tamis::decimal.
//            - If a range of these has a size() of 65,536 or more, its batches have 65,536 to
//              196,608 keys, so that tamis_options.threads applies to them. They take up to 3 MiB
//              of memory, or 9 MiB with keys that the projection made. If there is no such memory,
//              they have 512 keys.
//          Answers are bits (tamis::bits, tamis::bit_span), row numbers (select) or calls of a
//          function (for_each_maybe).
// Columns  Calls that end with _column take a tamis::column: contiguous values of a fixed width,
//          one member of each struct in an array, or texts with offsets as in Apache Arrow.
//
// tamis::NAME is an alias of tamis_cpp::NAME. (`tamis` is already the struct behind the handle of
// the C library, so it cannot be a namespace. `using namespace tamis_cpp` is possible.)
#ifndef TAMIS_TAMIS_HPP
#define TAMIS_TAMIS_HPP

#include "cpp/handle.hpp"

namespace tamis_cpp
{

// Calls that make a handle of type Self.
template <class Self> class maker : public handle
{
public:
    using handle::handle;
    maker() noexcept = default;

    static Self create(const tamis_plan &plan, const tamis_options &how, error &why) noexcept
    {
        return made(why, tamis_create, &plan, &how);
    }
    static Self create(const tamis_plan &plan, error &why) noexcept
    {
        return create(plan, options(), why);
    }
    static Self open(path_of path, const tamis_options &how, error &why) noexcept
    {
        return made(why, tamis_open, path, &how);
    }
    static Self open(path_of path, error &why) noexcept { return open(path, options(), why); }
    static Self load(bytes image, const tamis_options &how, error &why) noexcept
    {
        return made(why, tamis_load, image.p, image.len, &how);
    }
    static Self load(bytes image, error &why) noexcept { return load(image, options(), why); }
    static Self view(bytes image, const tamis_options &how, error &why) noexcept
    {
        return made(why, tamis_view, image.p, image.len, &how);
    }
    static Self view(bytes image, error &why) noexcept { return view(image, options(), why); }
    // <tamis/embed.h>: nothing is allocated. *needed, unless nullptr, becomes the size of the room.
    static Self view_at(void *room, std::size_t room_size, bytes image, const tamis_options &how,
                        error &why, std::size_t *needed = nullptr) noexcept
    {
        return made(why, tamis_view_at, room, room_size, image.p, image.len, &how, needed);
    }
    static Self unpack(bytes packed, const tamis_options &how, error &why) noexcept
    {
        return made(why, tamis_unpack, packed.p, packed.len, &how);
    }
    static Self unpack(bytes packed, error &why) noexcept { return unpack(packed, options(), why); }
    Self copy(error &why) const noexcept { return made(why, tamis_copy, self()); }

#if TAMIS_HPP_THROWS
    static Self create(const tamis_plan &plan, const tamis_options &how = options())
    {
        return demand([&](error &why) { return create(plan, how, why); });
    }
    static Self open(path_of path, const tamis_options &how = options())
    {
        return demand([&](error &why) { return open(path, how, why); });
    }
    static Self load(bytes image, const tamis_options &how = options())
    {
        return demand([&](error &why) { return load(image, how, why); });
    }
    static Self view(bytes image, const tamis_options &how = options())
    {
        return demand([&](error &why) { return view(image, how, why); });
    }
    static Self view_at(void *room, std::size_t room_size, bytes image,
                        const tamis_options &how = options())
    {
        return demand([&](error &why) { return view_at(room, room_size, image, how, why); });
    }
    static Self unpack(bytes packed, const tamis_options &how = options())
    {
        return demand([&](error &why) { return unpack(packed, how, why); });
    }
    Self copy() const
    {
        return demand([&](error &why) { return copy(why); });
    }
#endif

protected:
    template <class C, class... Arguments>
    static Self made(error &why, C call, Arguments... arguments) noexcept
    {
        tamis *t = nullptr;
        why.took(call(arguments..., &t, why.c()));
        Self result(t);
        if (!why && !Self::fits(result, why)) result.reset();
        return result;
    }
};

// A set, of any kind.
class filter : public maker<filter>
{
public:
    filter() noexcept = default;
    explicit filter(tamis *t) noexcept : maker(t) {} // takes it over
#if TAMIS_HPP_THROWS
    explicit filter(const tamis_plan &plan, const tamis_options &how = options())
        : filter(create(plan, how))
    {
    }
#endif

    bool exclude(bytes key, error &why) noexcept
    {
        return why.took(tamis_exclude(self(), key.p, key.len, why.c()));
    }
    template <class Range> bool exclude_many(Range &&keys, error &why)
    {
        in_batches(keys, [&](const tamis_bytes *k, std::size_t n, std::size_t) {
            return why.took(tamis_exclude_many(self(), k, n, why.c()));
        });
        return !why;
    }
    bool exclude_hashes(array_view<const hash> h, error &why) noexcept
    {
        return why.took(tamis_exclude_hashes(self(), h.data(), h.size(), why.c()));
    }
    bool exclude_hash64(std::uint64_t h, error &why) noexcept
    {
        return why.took(tamis_exclude_hash64(self(), &h, 1, why.c()));
    }
    bool exclude_hash64(array_view<const std::uint64_t> h, error &why) noexcept
    {
        return why.took(tamis_exclude_hash64(self(), h.data(), h.size(), why.c()));
    }
    // <tamis/embed.h>: a filter without a header. The cells are valid until the next change.
    static filter view_cells(const tamis_plan &solved, bytes cells, const tamis_options &how,
                             error &why) noexcept
    {
        return made(why, tamis_view_cells, &solved, cells.p, cells.len, &how);
    }
    bytes raw_cells() const noexcept
    {
        std::size_t n = 0;
        const void *cells = tamis_raw_cells(self(), &n);
        return {cells, n};
    }
    filter convert(std::uint32_t kind, error &why) const noexcept
    {
        return made(why, tamis_convert, self(), kind);
    }
    similarity compare(const filter &other, error &why) const noexcept
    {
        similarity s;
        why.took(tamis_compare(self(), other.self(), &s, why.c()));
        return s;
    }
    // <tamis/distinct.h>: the number of distinct keys. A distinct sketch is a filter as well.
    cardinality distinct(error &why) const noexcept
    {
        cardinality n;
        why.took(tamis_distinct(self(), &n, why.c()));
        return n;
    }
    // tamis_release: a private copy, and the probability that a key is a member of it.
    filter release_private(double epsilon, error &why) const noexcept
    {
        return made(why, tamis_release, self(), epsilon);
    }
    double probability(bytes key, double prior, error &why) const noexcept
    {
        double p = 0;
        return why.took(tamis_probability(self(), key.p, key.len, prior, &p, why.c())) ? p : 0;
    }

#if TAMIS_HPP_THROWS
    void exclude(bytes key)
    {
        demand([&](error &why) { return exclude(key, why); });
    }
    template <class Range> void exclude_many(Range &&keys)
    {
        demand([&](error &why) { return exclude_many(keys, why); });
    }
    void exclude_hashes(array_view<const hash> h)
    {
        demand([&](error &why) { return exclude_hashes(h, why); });
    }
    void exclude_hash64(std::uint64_t h)
    {
        demand([&](error &why) { return exclude_hash64(h, why); });
    }
    void exclude_hash64(array_view<const std::uint64_t> h)
    {
        demand([&](error &why) { return exclude_hash64(h, why); });
    }
    static filter view_cells(const tamis_plan &solved, bytes cells,
                             const tamis_options &how = options())
    {
        return demand([&](error &why) { return view_cells(solved, cells, how, why); });
    }
    filter convert(std::uint32_t kind) const
    {
        return demand([&](error &why) { return convert(kind, why); });
    }
    similarity compare(const filter &other) const
    {
        return demand([&](error &why) { return compare(other, why); });
    }
    cardinality distinct() const
    {
        return demand([&](error &why) { return distinct(why); });
    }
    filter release_private(double epsilon) const
    {
        return demand([&](error &why) { return release_private(epsilon, why); });
    }
    double probability(bytes key, double prior) const
    {
        return demand([&](error &why) { return probability(key, prior, why); });
    }
#endif

private:
    friend maker<filter>;
    static bool fits(const filter &, error &) noexcept
    {
        return true;
    }
};

// Counts. A plan or an image of a filter is refused with TAMIS_EUNSUPPORTED.
class sketch : public maker<sketch>
{
public:
    sketch() noexcept = default;
    explicit sketch(tamis *t) noexcept : maker(t) {} // takes it over
#if TAMIS_HPP_THROWS
    explicit sketch(const tamis_plan &plan, const tamis_options &how = options())
        : sketch(create(plan, how))
    {
    }
#endif

    // tamis_add_weight
    using handle::add;
    using handle::add_column;
    using handle::add_hash64;
    using handle::add_hashes;
    using handle::add_many;
    bool add(bytes key, std::int64_t weight, error &why) noexcept
    {
        return why.took(tamis_add_weight(self(), key.p, key.len, weight, why.c()));
    }
    template <class Range>
    std::size_t add_many(Range &&keys, array_view<const std::int64_t> weights, error &why)
    {
        std::size_t all = 0;
        if (!has_room(keys, weights.size(), why)) return 0;
        in_pieces(keys, [&](const auto &k, std::size_t n, std::size_t at) {
            std::size_t done = n;
            const tamis_status s =
                c_counted(self(), k, weights.data() + at, n, nullptr, &done, why.c());
            all += done;
            return why.took(s, all);
        });
        return all;
    }
    std::size_t add_hashes(array_view<const hash> h, array_view<const std::int64_t> weights,
                           error &why) noexcept
    {
        return counted_hashes(h, weights.size(), weights.data(), h.size(), nullptr, why);
    }
    bool add_hash64(std::uint64_t h, std::int64_t weight, error &why) noexcept
    {
        return why.took(tamis_add_weight_hash64(self(), &h, &weight, 1, nullptr, why.c()));
    }
    std::size_t add_hash64(array_view<const std::uint64_t> h,
                           array_view<const std::int64_t> weights, error &why) noexcept
    {
        return counted_hash64(h, weights.size(), weights.data(), h.size(), nullptr, why);
    }
    std::size_t add_column(const column &c, array_view<const std::int64_t> weights,
                           error &why) noexcept
    {
        return counted_rows(c, weights.size(), weights.data(), c.rows, nullptr, why);
    }

    // tamis_add_counted: the count right after the add, INT64_MAX after a failure. The calls with
    // many keys set the counts and return how many keys were added. Without weights, each is 1.
    std::int64_t add_counted(bytes key, std::int64_t weight, error &why) noexcept
    {
        std::int64_t count = INT64_MAX;
        why.took(tamis_add_counted(self(), key.p, key.len, weight, &count, why.c()));
        return count;
    }
    std::int64_t add_counted(bytes key, error &why) noexcept
    {
        return add_counted(key, 1, why);
    }
    std::int64_t add_counted_hash64(std::uint64_t h, std::int64_t weight, error &why) noexcept
    {
        std::int64_t count = INT64_MAX;
        why.took(tamis_add_counted_hash64(self(), &h, &weight, 1, &count, nullptr, why.c()));
        return count;
    }
    std::int64_t add_counted_hash64(std::uint64_t h, error &why) noexcept
    {
        return add_counted_hash64(h, 1, why);
    }
    template <class Range>
    std::size_t add_counted_many(Range &&keys, array_view<const std::int64_t> weights,
                                 array_view<std::int64_t> counts, error &why)
    {
        if (!has_room(keys, weights.size(), why)) return 0;
        return has_room(keys, counts.size(), why)
                   ? counted_batches(keys, weights.data(), counts, why)
                   : 0;
    }
    template <class Range>
    std::size_t add_counted_many(Range &&keys, array_view<std::int64_t> counts, error &why)
    {
        return has_room(keys, counts.size(), why) ? counted_batches(keys, nullptr, counts, why) : 0;
    }
    std::size_t add_counted_hashes(array_view<const hash> h, array_view<const std::int64_t> weights,
                                   array_view<std::int64_t> counts, error &why) noexcept
    {
        return counted_hashes(h, weights.size(), weights.data(), counts.size(), counts.data(), why);
    }
    std::size_t add_counted_hashes(array_view<const hash> h, array_view<std::int64_t> counts,
                                   error &why) noexcept
    {
        return counted_hashes(h, h.size(), nullptr, counts.size(), counts.data(), why);
    }
    std::size_t add_counted_hash64(array_view<const std::uint64_t> h,
                                   array_view<const std::int64_t> weights,
                                   array_view<std::int64_t> counts, error &why) noexcept
    {
        return counted_hash64(h, weights.size(), weights.data(), counts.size(), counts.data(), why);
    }
    std::size_t add_counted_hash64(array_view<const std::uint64_t> h,
                                   array_view<std::int64_t> counts, error &why) noexcept
    {
        return counted_hash64(h, h.size(), nullptr, counts.size(), counts.data(), why);
    }
    std::size_t add_counted_column(const column &c, array_view<const std::int64_t> weights,
                                   array_view<std::int64_t> counts, error &why) noexcept
    {
        return counted_rows(c, weights.size(), weights.data(), counts.size(), counts.data(), why);
    }
    std::size_t add_counted_column(const column &c, array_view<std::int64_t> counts,
                                   error &why) noexcept
    {
        return counted_rows(c, c.rows, nullptr, counts.size(), counts.data(), why);
    }
    // Writes at most n items, the most frequent first. Their texts are valid until the next change.
    std::size_t top(heavy *out, std::size_t n) const noexcept
    {
        return tamis_top(self(), out, n);
    }
    // The same for items whose count may be `weight` or more. Returns how many there are.
    std::size_t above(std::int64_t weight, heavy *out, std::size_t n, error &why) const noexcept
    {
        std::size_t found = 0;
        why.took(tamis_above(self(), weight, out, n, &found, why.c()));
        return found;
    }

#if TAMIS_HPP_THROWS
    void add(bytes key, std::int64_t weight)
    {
        demand([&](error &why) { return add(key, weight, why); });
    }
    template <class Range>
    std::size_t add_many(Range &&keys, array_view<const std::int64_t> weights)
    {
        return demand([&](error &why) { return add_many(keys, weights, why); });
    }
    std::size_t add_hashes(array_view<const hash> h, array_view<const std::int64_t> weights)
    {
        return demand([&](error &why) { return add_hashes(h, weights, why); });
    }
    void add_hash64(std::uint64_t h, std::int64_t weight)
    {
        demand([&](error &why) { return add_hash64(h, weight, why); });
    }
    std::size_t add_hash64(array_view<const std::uint64_t> h,
                           array_view<const std::int64_t> weights)
    {
        return demand([&](error &why) { return add_hash64(h, weights, why); });
    }
    std::size_t add_column(const column &c, array_view<const std::int64_t> weights)
    {
        return demand([&](error &why) { return add_column(c, weights, why); });
    }
    std::int64_t add_counted(bytes key, std::int64_t weight = 1)
    {
        return demand([&](error &why) { return add_counted(key, weight, why); });
    }
    std::int64_t add_counted_hash64(std::uint64_t h, std::int64_t weight = 1)
    {
        return demand([&](error &why) { return add_counted_hash64(h, weight, why); });
    }
    template <class Range>
    std::size_t add_counted_many(Range &&keys, array_view<const std::int64_t> weights,
                                 array_view<std::int64_t> counts)
    {
        return demand([&](error &why) { return add_counted_many(keys, weights, counts, why); });
    }
    template <class Range>
    std::size_t add_counted_many(Range &&keys, array_view<std::int64_t> counts)
    {
        return demand([&](error &why) { return add_counted_many(keys, counts, why); });
    }
    std::size_t add_counted_hashes(array_view<const hash> h, array_view<const std::int64_t> weights,
                                   array_view<std::int64_t> counts)
    {
        return demand([&](error &why) { return add_counted_hashes(h, weights, counts, why); });
    }
    std::size_t add_counted_hashes(array_view<const hash> h, array_view<std::int64_t> counts)
    {
        return demand([&](error &why) { return add_counted_hashes(h, counts, why); });
    }
    std::size_t add_counted_hash64(array_view<const std::uint64_t> h,
                                   array_view<const std::int64_t> weights,
                                   array_view<std::int64_t> counts)
    {
        return demand([&](error &why) { return add_counted_hash64(h, weights, counts, why); });
    }
    std::size_t add_counted_hash64(array_view<const std::uint64_t> h,
                                   array_view<std::int64_t> counts)
    {
        return demand([&](error &why) { return add_counted_hash64(h, counts, why); });
    }
    std::size_t add_counted_column(const column &c, array_view<const std::int64_t> weights,
                                   array_view<std::int64_t> counts)
    {
        return demand([&](error &why) { return add_counted_column(c, weights, counts, why); });
    }
    std::size_t add_counted_column(const column &c, array_view<std::int64_t> counts)
    {
        return demand([&](error &why) { return add_counted_column(c, counts, why); });
    }
    std::vector<heavy> top(std::size_t n) const
    {
        std::vector<heavy> out(std::min(n, top(nullptr, 0)));
        out.resize(top(out.data(), out.size()));
        return out;
    }
    std::vector<heavy> above(std::int64_t weight) const
    {
        const auto list = [&](heavy *out, std::size_t n) {
            return demand([&](error &why) { return above(weight, out, n, why); });
        };
        std::vector<heavy> out(list(nullptr, 0));
        list(out.data(), out.size());
        return out;
    }
#endif

private:
    static tamis_status c_counted(tamis *t, const tamis_bytes *k, const std::int64_t *weights,
                                  std::size_t n, std::int64_t *counts, std::size_t *done,
                                  tamis_error *why) noexcept
    {
        return tamis_add_counted_many(t, k, weights, n, counts, done, why);
    }
    static tamis_status c_counted(tamis *t, const column &c, const std::int64_t *weights,
                                  std::size_t, std::int64_t *counts, std::size_t *done,
                                  tamis_error *why) noexcept
    {
        return tamis_add_counted_column(t, &c, weights, counts, done, why);
    }
    // After a failure, the counts of keys that were not added are INT64_MAX.
    template <class Range>
    std::size_t counted_batches(Range &keys, const std::int64_t *weights,
                                array_view<std::int64_t> counts, error &why)
    {
        std::size_t all = 0;
        in_pieces(keys, [&](const auto &k, std::size_t n, std::size_t at) {
            std::size_t done = n;
            const tamis_status s = c_counted(self(), k, weights ? weights + at : nullptr, n,
                                             counts.data() + at, &done, why.c());
            all += done;
            return why.took(s, all);
        });
        if (why) std::fill(counts.data() + all, counts.data() + length_of(keys), INT64_MAX);
        return all;
    }
    static bool has_both(std::size_t n, std::size_t weights, std::size_t counts,
                         error &why) noexcept
    {
        return is_room(n, weights < counts ? weights : counts, why);
    }
    std::size_t counted_hashes(array_view<const hash> h, std::size_t n_weights,
                               const std::int64_t *weights, std::size_t n_counts,
                               std::int64_t *counts, error &why) noexcept
    {
        std::size_t done = 0;
        if (!has_both(h.size(), n_weights, n_counts, why)) return 0;
        const tamis_status s =
            tamis_add_counted_hashes(self(), h.data(), weights, h.size(), counts, &done, why.c());
        why.took(s, done);
        return done;
    }
    std::size_t counted_hash64(array_view<const std::uint64_t> h, std::size_t n_weights,
                               const std::int64_t *weights, std::size_t n_counts,
                               std::int64_t *counts, error &why) noexcept
    {
        std::size_t done = 0;
        if (!has_both(h.size(), n_weights, n_counts, why)) return 0;
        const tamis_status s =
            tamis_add_counted_hash64(self(), h.data(), weights, h.size(), counts, &done, why.c());
        why.took(s, done);
        return done;
    }
    std::size_t counted_rows(const column &c, std::size_t n_weights, const std::int64_t *weights,
                             std::size_t n_counts, std::int64_t *counts, error &why) noexcept
    {
        std::size_t done = 0;
        if (!has_both(c.rows, n_weights, n_counts, why)) return 0;
        const tamis_status s =
            tamis_add_counted_column(self(), &c, weights, counts, &done, why.c());
        why.took(s, done);
        return done;
    }

    friend maker<sketch>;
    static bool fits(const sketch &made, error &why) noexcept
    {
        const facts f = made.stat();
        if (f.kind >= TAMIS_COUNT_MIN || f.inner_kind != 0) return true;
        why = error(TAMIS_EUNSUPPORTED, "this is a filter and not a sketch; use the kind tally",
                    TAMIS_TALLY);
        return false;
    }
};

} // namespace tamis_cpp

struct tamis {
    using bit_span = tamis_cpp::bit_span;
    using bits = tamis_cpp::bits;
    using bytes = tamis_cpp::bytes;
    using column = tamis_cpp::column;
    using error = tamis_cpp::error;
    using estimate = tamis_cpp::estimate;
    using exception = tamis_cpp::exception;
    using facts = tamis_cpp::facts;
    using filter = tamis_cpp::filter;
    using handle = tamis_cpp::handle;
    using hash = tamis_cpp::hash;
    using heavy = tamis_cpp::heavy;
    using options = tamis_cpp::options;
    using plan = tamis_cpp::plan;
    using promise = tamis_cpp::promise;
    using save_options = tamis_cpp::save_options;
    using similarity = tamis_cpp::similarity;
    using cardinality = tamis_cpp::cardinality;
    using sketch = tamis_cpp::sketch;
    using status = tamis_cpp::status;
    static constexpr tamis_cpp::decimal_fn decimal{};
    static constexpr tamis_cpp::int64le_fn int64le{};
    static constexpr tamis_cpp::raw_fn raw{};
    template <class Range, class Projection>
    static auto keys_of(Range &&range, Projection projection)
    {
        return tamis_cpp::keys_of(range, std::move(projection));
    }
    static hash hash_of(bytes key, std::uint64_t seed = 0) noexcept
    {
        return tamis_cpp::hash_of(key, seed);
    }
    static std::string_view text(tamis_bytes b) noexcept { return tamis_cpp::text(b); }

    tamis() = delete; // the library makes them
    tamis(const tamis &) = delete;
    ~tamis() = delete;
};

#endif
