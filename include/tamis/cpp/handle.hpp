// What <tamis/tamis.hpp> is made of: the calls that filters and sketches have in common. Include
// that header, which explains them.
#ifndef TAMIS_CPP_HANDLE_HPP
#define TAMIS_CPP_HANDLE_HPP

#include "ranges.hpp"

namespace tamis_cpp
{

// A path that ends with a NUL: a string, a std::filesystem::path or a pointer.
class path_of
{
public:
    path_of(const char *p) noexcept : p_(p) {}
    template <class T, class = std::enable_if_t<std::is_convertible_v<
                           decltype(std::declval<const T &>().c_str()), const char *>>>
    path_of(const T &p) noexcept : p_(p.c_str())
    {
    }
    operator const char *() const noexcept { return p_; }

private:
    const char *p_;
};

// What filters and sketches have in common.
class handle
{
public:
    handle() noexcept = default;
    handle(handle &&other) noexcept : t_(other.release()) {}
    handle &operator=(handle &&other) noexcept
    {
        reset(other.release());
        return *this;
    }
    ~handle() { tamis_close(t_); }

    explicit operator bool() const noexcept { return t_ != nullptr; }
    tamis *get() noexcept { return t_; }
    const tamis *get() const noexcept { return t_; }
    // Gives the C handle away, which the caller then closes; takes another one.
    [[nodiscard]] tamis *release() noexcept { return std::exchange(t_, nullptr); }
    void reset(tamis *t = nullptr) noexcept
    {
        if (t != t_) tamis_close(std::exchange(t_, t));
    }
    void swap(handle &other) noexcept { std::swap(t_, other.t_); }

    // Without `seen`, which test_and_add returns: whether the key may have been a member before.
    bool add(bytes key, error &why) noexcept
    {
        return why.took_bare(tamis_add(self(), key.p, key.len, nullptr));
    }
    bool test_and_add(bytes key, error &why) noexcept
    {
        bool seen = false;
        return why.took_bare(tamis_add(self(), key.p, key.len, &seen)) && seen;
    }
    bool may_contain(bytes key) const noexcept { return tamis_may_contain(self(), key.p, key.len); }

    // Returns how many keys were added. If `seen` has room for fewer bits than there are keys, the
    // call fails with TAMIS_EINVAL; this holds for all bits and arrays that bulk calls take.
    template <class Range> std::size_t add_many(Range &&keys, error &why)
    {
        return add_batches(keys, nullptr, why);
    }
    template <class Range> std::size_t add_many(Range &&keys, bit_span seen, error &why)
    {
        return has_room(keys, seen.size(), why) ? add_batches(keys, seen.data(), why) : 0;
    }
    template <class Range> std::size_t may_contain_many(Range &&keys) const
    {
        return query_batches(keys, nullptr);
    }
    template <class Range>
    std::size_t may_contain_many(Range &&keys, bit_span bits, error &why) const
    {
        return has_room(keys, bits.size(), why) ? query_batches(keys, bits.data()) : 0;
    }
    // Calls f(element) for each element whose key may be a member, in order. Returns their number.
    template <class Range, class F> std::size_t for_each_maybe(Range &&keys, F &&f) const
    {
        auto at = std::begin(elements_of(keys));
        static_assert(is_multipass<decltype(at)>, "a single-pass range is used up by the query");
        return passing(
            keys, [&](std::size_t) { f(*at); }, [&] { ++at; });
    }
    // Writes the numbers of these elements, from 0, to an output iterator and returns it.
    template <class Row = std::size_t, class Range, class Out>
    Out select(Range &&keys, Out out) const
    {
        passing(
            keys, [&](std::size_t i) { *out++ = static_cast<Row>(i); }, [] {});
        return out;
    }

    bool remove(bytes key, error &why) noexcept
    {
        return why.took(tamis_remove(self(), key.p, key.len, why.c()));
    }
    // `absent` is optional. Returns false after TAMIS_EFULL, but continues, as the C call does.
    template <class Range> bool remove_many(Range &&keys, error &why)
    {
        return remove_batches(keys, nullptr, why);
    }
    template <class Range> bool remove_many(Range &&keys, bit_span absent, error &why)
    {
        return has_room(keys, absent.size(), why) && remove_batches(keys, absent.data(), why);
    }

    // <tamis/count.h>: also for counting, cuckoo and removable growing filters.
    estimate count(bytes key, error &why) const noexcept
    {
        estimate e;
        if (!why.took(tamis_count(self(), key.p, key.len, &e, why.c()))) e = estimate();
        return e;
    }
    template <class Range> bool count_many(Range &&keys, array_view<estimate> out, error &why) const
    {
        if (!has_room(keys, out.size(), why)) return false;
        in_pieces(keys, [&](const auto &k, std::size_t n, std::size_t at) {
            return why.took(c_count(self(), k, n, out.data() + at, why.c()));
        });
        return !why;
    }
    // INT64_MAX means "or more", and also that the count is not known.
    std::int64_t upper(bytes key) const noexcept { return tamis_upper(self(), key.p, key.len); }
    template <class Range>
    bool upper_many(Range &&keys, array_view<std::int64_t> out, error &why) const
    {
        if (!has_room(keys, out.size(), why)) return false;
        in_pieces(keys, [&](const auto &k, std::size_t n, std::size_t at) {
            c_upper(self(), k, n, out.data() + at);
            return true;
        });
        return true;
    }

    // <tamis/columns.h>: like the calls that end with _many. `out` has room for as many results as
    // the column has rows. select_column writes the numbers of the rows that may be members and
    // returns how many there are.
    std::size_t add_column(const column &c, error &why) noexcept
    {
        return add_rows(c, nullptr, why);
    }
    std::size_t add_column(const column &c, bit_span seen, error &why) noexcept
    {
        return is_room(c.rows, seen.size(), why) ? add_rows(c, seen.data(), why) : 0;
    }
    std::size_t may_contain_column(const column &c, error &why) const noexcept
    {
        return query_rows(c, nullptr, why);
    }
    std::size_t may_contain_column(const column &c, bit_span bits, error &why) const noexcept
    {
        return is_room(c.rows, bits.size(), why) ? query_rows(c, bits.data(), why) : 0;
    }
    std::size_t select_column(const column &c, array_view<std::uint32_t> out,
                              error &why) const noexcept
    {
        std::size_t found = 0;
        if (is_room(c.rows, out.size(), why))
            why.took(tamis_select_column(self(), &c, out.data(), &found, why.c()));
        return found;
    }
    bool count_column(const column &c, array_view<estimate> out, error &why) const noexcept
    {
        return is_room(c.rows, out.size(), why) &&
               why.took(tamis_count_column(self(), &c, out.data(), why.c()));
    }
    bool upper_column(const column &c, array_view<std::int64_t> out, error &why) const noexcept
    {
        return is_room(c.rows, out.size(), why) &&
               why.took(tamis_upper_column(self(), &c, out.data(), why.c()));
    }

    // <tamis/hashes.h>
    template <class Range> bool hash_many(Range &&keys, array_view<hash> out, error &why) const
    {
        if (!has_room(keys, out.size(), why)) return false;
        in_batches(keys, [&](const tamis_bytes *k, std::size_t n, std::size_t at) {
            return why.took_bare(tamis_hash_many(self(), k, n, out.data() + at));
        });
        return !why;
    }
    std::size_t add_hashes(array_view<const hash> h, error &why) noexcept
    {
        std::size_t done = h.size();
        why.took_bare(tamis_add_hashes(self(), h.data(), h.size(), nullptr, &done), done);
        return done;
    }
    std::size_t add_hashes(array_view<const hash> h, bit_span seen, error &why) noexcept
    {
        std::size_t done = h.size();
        if (!is_room(h.size(), seen.size(), why)) return 0;
        why.took_bare(tamis_add_hashes(self(), h.data(), h.size(), seen.data(), &done), done);
        return done;
    }
    std::size_t may_contain_hashes(array_view<const hash> h) const noexcept
    {
        return tamis_may_contain_hashes(self(), h.data(), h.size(), nullptr);
    }
    std::size_t may_contain_hashes(array_view<const hash> h, bit_span bits,
                                   error &why) const noexcept
    {
        if (!is_room(h.size(), bits.size(), why)) return 0;
        return tamis_may_contain_hashes(self(), h.data(), h.size(), bits.data());
    }
    bool remove_hashes(array_view<const hash> h, error &why) noexcept
    {
        return why.took(tamis_remove_hashes(self(), h.data(), h.size(), nullptr, why.c()));
    }
    bool remove_hashes(array_view<const hash> h, bit_span absent, error &why) noexcept
    {
        return is_room(h.size(), absent.size(), why) &&
               why.took(tamis_remove_hashes(self(), h.data(), h.size(), absent.data(), why.c()));
    }
    bool count_hashes(array_view<const hash> h, array_view<estimate> out, error &why) const noexcept
    {
        return is_room(h.size(), out.size(), why) &&
               why.took(tamis_count_hashes(self(), h.data(), h.size(), out.data(), why.c()));
    }
    bool upper_hashes(array_view<const hash> h, array_view<std::int64_t> out,
                      error &why) const noexcept
    {
        if (!is_room(h.size(), out.size(), why)) return false;
        tamis_upper_hashes(self(), h.data(), h.size(), out.data());
        return true;
    }

    // The same with hashes of 64 bits: one, or an array of them.
    bool add_hash64(std::uint64_t h, error &why) noexcept
    {
        return why.took_bare(tamis_add_hash64(self(), &h, 1, nullptr, nullptr));
    }
    bool test_and_add_hash64(std::uint64_t h, error &why) noexcept
    {
        std::uint8_t seen = 0;
        return why.took_bare(tamis_add_hash64(self(), &h, 1, &seen, nullptr)) && seen != 0;
    }
    std::size_t add_hash64(array_view<const std::uint64_t> h, error &why) noexcept
    {
        std::size_t done = h.size();
        why.took_bare(tamis_add_hash64(self(), h.data(), h.size(), nullptr, &done), done);
        return done;
    }
    std::size_t add_hash64(array_view<const std::uint64_t> h, bit_span seen, error &why) noexcept
    {
        std::size_t done = h.size();
        if (!is_room(h.size(), seen.size(), why)) return 0;
        why.took_bare(tamis_add_hash64(self(), h.data(), h.size(), seen.data(), &done), done);
        return done;
    }
    bool may_contain_hash64(std::uint64_t h) const noexcept
    {
        return tamis_may_contain_hash64(self(), &h, 1, nullptr) != 0;
    }
    std::size_t may_contain_hash64(array_view<const std::uint64_t> h) const noexcept
    {
        return tamis_may_contain_hash64(self(), h.data(), h.size(), nullptr);
    }
    std::size_t may_contain_hash64(array_view<const std::uint64_t> h, bit_span bits,
                                   error &why) const noexcept
    {
        if (!is_room(h.size(), bits.size(), why)) return 0;
        return tamis_may_contain_hash64(self(), h.data(), h.size(), bits.data());
    }
    bool remove_hash64(std::uint64_t h, error &why) noexcept
    {
        std::uint8_t absent = 0;
        if (!why.took(tamis_remove_hash64(self(), &h, 1, &absent, why.c()))) return false;
        return absent == 0 || why.took_bare(TAMIS_EABSENT);
    }
    bool remove_hash64(array_view<const std::uint64_t> h, error &why) noexcept
    {
        return why.took(tamis_remove_hash64(self(), h.data(), h.size(), nullptr, why.c()));
    }
    bool remove_hash64(array_view<const std::uint64_t> h, bit_span absent, error &why) noexcept
    {
        return is_room(h.size(), absent.size(), why) &&
               why.took(tamis_remove_hash64(self(), h.data(), h.size(), absent.data(), why.c()));
    }
    estimate count_hash64(std::uint64_t h, error &why) const noexcept
    {
        estimate e;
        if (!why.took(tamis_count_hash64(self(), &h, 1, &e, why.c()))) e = estimate();
        return e;
    }
    bool count_hash64(array_view<const std::uint64_t> h, array_view<estimate> out,
                      error &why) const noexcept
    {
        return is_room(h.size(), out.size(), why) &&
               why.took(tamis_count_hash64(self(), h.data(), h.size(), out.data(), why.c()));
    }
    std::int64_t upper_hash64(std::uint64_t h) const noexcept
    {
        std::int64_t count = INT64_MAX;
        tamis_upper_hash64(self(), &h, 1, &count);
        return count;
    }
    bool upper_hash64(array_view<const std::uint64_t> h, array_view<std::int64_t> out,
                      error &why) const noexcept
    {
        if (!is_room(h.size(), out.size(), why)) return false;
        tamis_upper_hash64(self(), h.data(), h.size(), out.data());
        return true;
    }

    bool clear(error &why) noexcept { return why.took_bare(tamis_clear(self())); }
    bool rotate(error &why) noexcept { return why.took(tamis_rotate(self(), why.c())); }
    bool rotate_to(std::uint64_t epoch, error &why) noexcept
    {
        return why.took(tamis_rotate_to(self(), epoch, why.c()));
    }
    bool seal(error &why) noexcept { return why.took(tamis_seal(self(), why.c())); }
    bool merge(const handle &from, error &why) noexcept
    {
        return why.took(tamis_merge(self(), from.self(), why.c()));
    }
    void limit(std::uint64_t max_bytes) noexcept { tamis_limit(self(), max_bytes); }

    facts info(error &why) const noexcept
    {
        facts f;
        why.took_bare(tamis_info(self(), &f));
        return f;
    }
    facts stat() const noexcept
    {
        facts f;
        tamis_stat(self(), &f);
        return f;
    }

    bool save(path_of path, error &why) noexcept { return save(path, save_options(), why); }
    bool save(path_of path, const save_options &how, error &why) noexcept
    {
        return why.took(tamis_save(self(), path, &how, why.c()));
    }
    std::uint64_t image_size() const noexcept { return tamis_image_size(self()); }
    // Calls put(bytes, n) for consecutive pieces of the image, or of the packed image. put returns
    // nothing, or a tamis_status other than TAMIS_OK to stop.
    template <class F> bool write(F &&put, error &why) const
    {
        return stream(tamis_write, put, why);
    }
    template <class F> bool pack(F &&put, error &why) const { return stream(tamis_pack, put, why); }

#if TAMIS_HPP_THROWS
    void add(bytes key)
    {
        demand_bare(tamis_add(self(), key.p, key.len, nullptr));
    }
    bool test_and_add(bytes key)
    {
        bool seen = false;
        demand_bare(tamis_add(self(), key.p, key.len, &seen));
        return seen;
    }
    template <class Range> std::size_t add_many(Range &&keys)
    {
        return demand([&](error &why) { return add_many(keys, why); });
    }
    template <class Range> std::size_t add_many(Range &&keys, bit_span seen)
    {
        return demand([&](error &why) { return add_many(keys, seen, why); });
    }
    template <class Range> std::size_t may_contain_many(Range &&keys, bit_span bits) const
    {
        return demand([&](error &why) { return may_contain_many(keys, bits, why); });
    }
    void remove(bytes key)
    {
        demand([&](error &why) { return remove(key, why); });
    }
    template <class Range> void remove_many(Range &&keys)
    {
        demand([&](error &why) { return remove_many(keys, why); });
    }
    template <class Range> void remove_many(Range &&keys, bit_span absent)
    {
        demand([&](error &why) { return remove_many(keys, absent, why); });
    }
    estimate count(bytes key) const
    {
        return demand([&](error &why) { return count(key, why); });
    }
    template <class Range> void count_many(Range &&keys, array_view<estimate> out) const
    {
        demand([&](error &why) { return count_many(keys, out, why); });
    }
    template <class Range> void upper_many(Range &&keys, array_view<std::int64_t> out) const
    {
        demand([&](error &why) { return upper_many(keys, out, why); });
    }
    std::size_t add_column(const column &c)
    {
        return demand([&](error &why) { return add_column(c, why); });
    }
    std::size_t add_column(const column &c, bit_span seen)
    {
        return demand([&](error &why) { return add_column(c, seen, why); });
    }
    std::size_t may_contain_column(const column &c) const
    {
        return demand([&](error &why) { return may_contain_column(c, why); });
    }
    std::size_t may_contain_column(const column &c, bit_span bits) const
    {
        return demand([&](error &why) { return may_contain_column(c, bits, why); });
    }
    std::size_t select_column(const column &c, array_view<std::uint32_t> out) const
    {
        return demand([&](error &why) { return select_column(c, out, why); });
    }
    std::vector<std::uint32_t> select_column(const column &c) const
    {
        std::vector<std::uint32_t> out(c.rows);
        out.resize(select_column(c, out));
        return out;
    }
    void count_column(const column &c, array_view<estimate> out) const
    {
        demand([&](error &why) { return count_column(c, out, why); });
    }
    void upper_column(const column &c, array_view<std::int64_t> out) const
    {
        demand([&](error &why) { return upper_column(c, out, why); });
    }
    template <class Range> void hash_many(Range &&keys, array_view<hash> out) const
    {
        demand([&](error &why) { return hash_many(keys, out, why); });
    }
    std::size_t add_hashes(array_view<const hash> h)
    {
        return demand([&](error &why) { return add_hashes(h, why); });
    }
    std::size_t add_hashes(array_view<const hash> h, bit_span seen)
    {
        return demand([&](error &why) { return add_hashes(h, seen, why); });
    }
    std::size_t may_contain_hashes(array_view<const hash> h, bit_span bits) const
    {
        return demand([&](error &why) { return may_contain_hashes(h, bits, why); });
    }
    void remove_hashes(array_view<const hash> h)
    {
        demand([&](error &why) { return remove_hashes(h, why); });
    }
    void remove_hashes(array_view<const hash> h, bit_span absent)
    {
        demand([&](error &why) { return remove_hashes(h, absent, why); });
    }
    void count_hashes(array_view<const hash> h, array_view<estimate> out) const
    {
        demand([&](error &why) { return count_hashes(h, out, why); });
    }
    void upper_hashes(array_view<const hash> h, array_view<std::int64_t> out) const
    {
        demand([&](error &why) { return upper_hashes(h, out, why); });
    }
    void add_hash64(std::uint64_t h)
    {
        demand([&](error &why) { return add_hash64(h, why); });
    }
    bool test_and_add_hash64(std::uint64_t h)
    {
        std::uint8_t seen = 0;
        demand_bare(tamis_add_hash64(self(), &h, 1, &seen, nullptr));
        return seen != 0;
    }
    std::size_t add_hash64(array_view<const std::uint64_t> h)
    {
        return demand([&](error &why) { return add_hash64(h, why); });
    }
    std::size_t add_hash64(array_view<const std::uint64_t> h, bit_span seen)
    {
        return demand([&](error &why) { return add_hash64(h, seen, why); });
    }
    std::size_t may_contain_hash64(array_view<const std::uint64_t> h, bit_span bits) const
    {
        return demand([&](error &why) { return may_contain_hash64(h, bits, why); });
    }
    void remove_hash64(std::uint64_t h)
    {
        demand([&](error &why) { return remove_hash64(h, why); });
    }
    void remove_hash64(array_view<const std::uint64_t> h)
    {
        demand([&](error &why) { return remove_hash64(h, why); });
    }
    void remove_hash64(array_view<const std::uint64_t> h, bit_span absent)
    {
        demand([&](error &why) { return remove_hash64(h, absent, why); });
    }
    estimate count_hash64(std::uint64_t h) const
    {
        return demand([&](error &why) { return count_hash64(h, why); });
    }
    void count_hash64(array_view<const std::uint64_t> h, array_view<estimate> out) const
    {
        demand([&](error &why) { return count_hash64(h, out, why); });
    }
    void upper_hash64(array_view<const std::uint64_t> h, array_view<std::int64_t> out) const
    {
        demand([&](error &why) { return upper_hash64(h, out, why); });
    }
    void clear()
    {
        demand_bare(tamis_clear(self()));
    }
    void rotate()
    {
        demand([&](error &why) { return rotate(why); });
    }
    void rotate_to(std::uint64_t epoch)
    {
        demand([&](error &why) { return rotate_to(epoch, why); });
    }
    void seal()
    {
        demand([&](error &why) { return seal(why); });
    }
    void merge(const handle &from)
    {
        demand([&](error &why) { return merge(from, why); });
    }
    facts info() const
    {
        return demand([&](error &why) { return info(why); });
    }
    void save(path_of path, const save_options &how = save_options())
    {
        demand([&](error &why) { return save(path, how, why); });
    }
    template <class F> void write(F &&put) const
    {
        demand([&](error &why) { return write(put, why); });
    }
    template <class F> void pack(F &&put) const
    {
        demand([&](error &why) { return pack(put, why); });
    }
    // The image in memory, for load().
    std::vector<unsigned char> image() const
    {
        std::vector<unsigned char> all;
        all.reserve(static_cast<std::size_t>(image_size()));
        write([&](const void *p, std::size_t n) {
            const unsigned char *from = static_cast<const unsigned char *>(p);
            all.insert(all.end(), from, from + n);
        });
        return all;
    }
#endif

protected:
    explicit handle(tamis *t) noexcept : t_(t) {}
    tamis *self() noexcept
    {
        assert(t_ != nullptr);
        return t_;
    }
    const tamis *self() const noexcept
    {
        assert(t_ != nullptr);
        return t_;
    }
    static bool is_room(std::size_t keys, std::size_t room, error &why) noexcept
    {
        why = keys <= room ? error()
                           : error(TAMIS_EINVAL, "there are more keys than room for their results");
        return !why;
    }
    template <class Range> static bool has_room(Range &keys, std::size_t room, error &why)
    {
        return is_room(length_of(keys), room, why);
    }

private:
    template <class Range> std::size_t add_batches(Range &keys, std::uint8_t *seen, error &why)
    {
        std::size_t all = 0;
        in_pieces(keys, [&](const auto &k, std::size_t n, std::size_t at) {
            std::size_t done = n;
            const tamis_status s =
                c_add(self(), k, n, seen ? seen + at / 8 : nullptr, &done, why.c());
            all += done;
            return why.took(s, all);
        });
        return all;
    }
    template <class Range> std::size_t query_batches(Range &keys, std::uint8_t *bits) const
    {
        std::size_t all = 0;
        in_pieces(keys, [&](const auto &k, std::size_t n, std::size_t at) {
            all += c_query(self(), k, n, bits ? bits + at / 8 : nullptr);
            return true;
        });
        return all;
    }
    std::size_t add_rows(const column &c, std::uint8_t *seen, error &why) noexcept
    {
        std::size_t done = 0;
        const tamis_status s = tamis_add_column(self(), &c, seen, &done, why.c());
        why.took(s, done);
        return done;
    }
    std::size_t query_rows(const column &c, std::uint8_t *bits, error &why) const noexcept
    {
        std::size_t found = 0;
        why.took(tamis_may_contain_column(self(), &c, bits, &found, why.c()));
        return found;
    }
    template <class Range> bool remove_batches(Range &keys, std::uint8_t *absent, error &why)
    {
        error first;
        in_batches(keys, [&](const tamis_bytes *k, std::size_t n, std::size_t at) {
            if (!why.took(
                    tamis_remove_many(self(), k, n, absent ? absent + at / 8 : nullptr, why.c())) &&
                !first)
                first = why;
            return !why || why.status() == TAMIS_EFULL;
        });
        why = first;
        return !why;
    }
    // Calls yes(i) for each key that may be a member, and next() after each key.
    template <class Range, class Yes, class Next>
    std::size_t passing(Range &keys, Yes &&yes, Next &&next) const
    {
        std::size_t all = 0;
        std::uint8_t few[batch_size];
        std::unique_ptr<std::uint8_t[]> many;
        in_pieces(keys, [&](const auto &k, std::size_t n, std::size_t at) {
            if (n >= threads_from && !many)
                many.reset(new (std::nothrow) std::uint8_t[long_batch_size / 8]);
            const bool is_long = n >= threads_from && many;
            std::uint8_t *const answers = is_long ? many.get() : few;
            const std::size_t most = is_long ? share_of(n) : 8 * batch_size;
            for (std::size_t i = 0, some = 0; i < n; i += some) {
                some = std::min(n - i, most);
                all += c_query(self(), piece_of(k, i, some), some, answers);
                for (std::size_t j = 0; j < some; j++, next())
                    if (answers[j / 8] >> j % 8 & 1) yes(at + i + j);
            }
            return true;
        });
        return all;
    }
    // An exception must not pass through C, so it waits here.
    template <class C, class F> bool stream(C call, F &put, error &why) const
    {
        struct sink {
            F *put;
            std::exception_ptr thrown = nullptr;
            tamis_status take(const void *p, std::size_t n)
            {
                if constexpr (std::is_void_v<decltype((*put)(p, n))>) {
                    (*put)(p, n);
                    return TAMIS_OK;
                } else {
                    return (*put)(p, n);
                }
            }
            static tamis_status pass(void *ctx, const void *p, std::size_t n) noexcept
            {
                sink &me = *static_cast<sink *>(ctx);
#if TAMIS_HPP_THROWS
                try {
                    return me.take(p, n);
                } catch (...) {
                    me.thrown = std::current_exception();
                    return TAMIS_EIO;
                }
#else
                return me.take(p, n);
#endif
            }
        } all{std::addressof(put)};
        const bool right = why.took(call(self(), sink::pass, &all, why.c()));
#if TAMIS_HPP_THROWS
        if (all.thrown) std::rethrow_exception(all.thrown);
#endif
        return right;
    }

    tamis *t_ = nullptr;
};

} // namespace tamis_cpp

#endif
