// What <tamis/tamis.hpp> is made of: ranges of keys and columns. Include that header, which
// explains them.
#ifndef TAMIS_CPP_RANGES_HPP
#define TAMIS_CPP_RANGES_HPP

#include "keys.hpp"

namespace tamis_cpp
{

// --- Ranges of keys ------------------------------------------------------------------------------

template <class Range, class Projection> struct keyed {
    Range *range;
    Projection projection;
};
// The keys that a projection makes of the elements of a range, which must live meanwhile.
template <class Range, class Projection> auto keys_of(Range &&range, Projection projection)
{
    return keyed<std::remove_reference_t<Range>, Projection>{std::addressof(range),
                                                             std::move(projection)};
}

// A multiple of 8. A shorter batch costs time in adds to a table far larger than the caches: 20 ns
// per key with 256, 15 with 512 and 13 with 1024 (gcc 12, Xeon, a loaded machine).
inline constexpr std::size_t batch_size = 512;

// tamis_options.threads applies to calls with this many keys or more. Ranges that are as long are
// passed on in long batches.
inline constexpr std::size_t threads_from = 65536;
inline constexpr std::size_t long_batch_size = 3 * threads_from;

// The size of the batches of a long range of n keys, of which the last one may be shorter by a few
// keys. It is a multiple of 8, so that each begins a byte of answers. A second batch is needed only
// for so many keys that each of them is long as well.
constexpr std::size_t share_of(std::size_t n) noexcept
{
    const std::size_t batches = (n + long_batch_size - 1) / long_batch_size;
    return ((n + batches - 1) / batches + 7) / 8 * 8;
}

struct as_it_is {
    template <class T> constexpr T &&operator()(T &&x) const noexcept { return std::forward<T>(x); }
};

template <class Iterator, class = void> inline constexpr bool is_forward = false;
template <class Iterator>
inline constexpr bool
    is_forward<Iterator, std::void_t<typename std::iterator_traits<Iterator>::iterator_category>> =
        std::is_convertible_v<typename std::iterator_traits<Iterator>::iterator_category,
                              std::forward_iterator_tag>;
#ifdef __cpp_lib_ranges
template <class Iterator>
inline constexpr bool is_multipass = is_forward<Iterator> || std::forward_iterator<Iterator>;
#else
template <class Iterator> inline constexpr bool is_multipass = is_forward<Iterator>;
#endif

// Descriptors of the next keys of a range.
template <class Iterator, class Projection, std::size_t room = batch_size> class batch
{
    using element = decltype(*std::declval<Iterator &>());
    using key = std::invoke_result_t<const Projection &, element>;
    using plain = std::remove_cv_t<std::remove_reference_t<key>>;
    template <class T>
    static constexpr bool is_view = std::is_pointer_v<T> || std::is_same_v<T, std::string_view> ||
                                    std::is_base_of_v<tamis_bytes, T>;
    using whole = std::remove_cv_t<std::remove_reference_t<element>>;
    static constexpr bool keeps = !std::is_lvalue_reference_v<key> && !is_view<plain>;
    static constexpr bool dangles =
        !std::is_lvalue_reference_v<element> && !is_view<whole> && !keeps &&
        !std::is_lvalue_reference_v<key> &&
        (std::is_same_v<Projection, raw_fn> || !std::is_trivially_destructible_v<whole>);
    static_assert(
        is_key<key>,
        "these elements are not keys; for numbers use tamis::keys_of(range, tamis::decimal)");
    static_assert(keeps || is_view<whole> || is_multipass<Iterator>,
                  "a single-pass range overwrites its elements; put them into a container first");
    static_assert(!dangles, "this key refers to a temporary element");
    static_assert(
        !keeps || (std::is_trivially_copyable_v<plain> && sizeof(plain) <= 32),
        "this key is a temporary; let the range or projection return a reference or a view");

public:
    // Takes at most `most` keys, until the range ends, and returns their number.
    template <class End>
    std::size_t fill(Iterator &at, const End &end, const Projection &projection,
                     std::size_t most = room)
    {
        std::size_t n = 0;
        for (; n < most && at != end; ++at, n++) {
            if constexpr (keeps) {
                kept_[n] = std::invoke(projection, *at);
                keys_[n] = bytes(kept_[n]);
            } else {
                keys_[n] = bytes(std::invoke(projection, *at));
            }
        }
        return n;
    }
    const tamis_bytes *keys() const noexcept { return keys_; }

private:
    struct nothing {
    };
    tamis_bytes keys_[room];
    std::conditional_t<keeps, plain, nothing> kept_[keeps ? room : 1];
};

template <class Range, class = void> inline constexpr bool is_descriptors = false;
template <class Range>
inline constexpr bool is_descriptors<Range, std::void_t<element_of<Range>>> =
    std::is_same_v<element_of<Range>, tamis_bytes> || std::is_same_v<element_of<Range>, bytes>;
template <class Range, class = void> inline constexpr bool is_sized = false;
template <class Range>
inline constexpr bool is_sized<Range, std::void_t<decltype(std::size(std::declval<Range &>()))>> =
    true;

template <class T> inline constexpr bool is_keyed = false;
template <class Range, class P> inline constexpr bool is_keyed<keyed<Range, P>> = true;
template <class Range, class P> inline constexpr bool is_keyed<const keyed<Range, P>> = true;

template <class Range> auto &elements_of(Range &range)
{
    if constexpr (is_keyed<Range>)
        return *range.range;
    else
        return range;
}
template <class Range> auto projection_of(Range &range)
{
    if constexpr (is_keyed<Range>)
        return range.projection;
    else
        return as_it_is();
}
template <class Range> std::size_t length_of(Range &keys)
{
    auto &range = elements_of(keys);
    if constexpr (is_sized<decltype(range)>)
        return static_cast<std::size_t>(std::size(range));
    else
        return static_cast<std::size_t>(std::distance(std::begin(range), std::end(range)));
}

// Passes a range on in batches of at most `most` keys.
template <class Batch, class Range, class Call>
void fill_and_call(Batch &b, std::size_t most, Range &range, Call &call)
{
    auto at = std::begin(elements_of(range));
    const auto end = std::end(elements_of(range));
    const auto projection = projection_of(range);
    std::size_t first = 0;
    do {
        const std::size_t n = b.fill(at, end, projection, most);
        if (!call(b.keys(), n, first)) return;
        first += n;
    } while (at != end);
}

// Calls call(keys, n, at) for consecutive batches, until it returns false; at least once, so that
// an empty range meets the errors of the C call, too.
template <class Range, class Call> void in_batches(Range &range, Call &&call)
{
    if constexpr (is_descriptors<Range>) {
        call(static_cast<const tamis_bytes *>(std::data(range)), std::size(range), std::size_t(0));
    } else {
        using iterator = decltype(std::begin(elements_of(range)));
        using projection = decltype(projection_of(range));
        if constexpr (is_sized<decltype(elements_of(range))>) {
            using long_batch = batch<iterator, projection, long_batch_size>;
            const std::size_t n = length_of(range);
            if (n >= threads_from)
                if (const std::unique_ptr<long_batch> b{new (std::nothrow) long_batch})
                    return fill_and_call(*b, share_of(n), range, call);
        }
        batch<iterator, projection> b;
        fill_and_call(b, batch_size, range, call);
    }
}

// --- Columns -------------------------------------------------------------------------------------

template <class T> inline constexpr bool is_fixed_bytes = false;
template <class T, std::size_t n>
inline constexpr bool is_fixed_bytes<std::array<T, n>> = is_byte<T> &&n > 0;

// Whether the bytes of a T in memory are all of its value, and a key.
template <class T>
inline constexpr bool is_value =
    std::is_trivially_copyable_v<T> &&std::has_unique_object_representations_v<T> &&
    !std::is_pointer_v<T> &&
    (is_fixed_bytes<T> || (!is_key<T> && (!has_data<T> || std::is_aggregate_v<T>)));

// Keys in a column, for the calls that end with _column (<tamis/columns.h>). It refers to arrays,
// which must live meanwhile. All fields of tamis_column can also be set.
struct column : sized<tamis_column> {
    column() noexcept = default;
    column(const tamis_column &c) noexcept { static_cast<tamis_column &>(*this) = c; }

    // The elements of a vector, an array or a std::span: integers, structs without padding, or
    // std::array of bytes. A key is the bytes of an element in memory, as with tamis::raw.
    template <class Range, class = std::enable_if_t<!std::is_base_of_v<tamis_column, Range>>,
              class T = element_of<const Range>>
    explicit column(const Range &values) noexcept
    {
        static_assert(is_value<T>,
                      "a column has integers, structs without padding, or std::array of bytes");
        set(std::data(values), std::size(values) * sizeof(T), sizeof(T), sizeof(T));
    }
    // One member of each element: tamis::column(rows, &row::id).
    template <class Range, class T, class Class, class Element = element_of<const Range>>
    column(const Range &values, T Class::*member) noexcept
    {
        static_assert(is_value<T>,
                      "a column has integers, structs without padding, or std::array of bytes");
        static_assert(std::is_convertible_v<const Element *, const Class *>,
                      "this is a member of another class");
        const std::size_t n = std::size(values);
        const void *begin = n > 0 ? std::addressof(std::data(values)[0].*member) : nullptr;
        const std::size_t end = n > 0 ? (n - 1) * sizeof(Element) + sizeof(T) : 0;
        set(begin, end, sizeof(T), sizeof(Element));
        rows = n;
    }
    // Texts as in Apache Arrow: value i is at offsets[i] and ends before offsets[i + 1]. There is
    // one more offset than values. `valid` is a bitmap in which the bit of a null is 0.
    column(tamis_cpp::bytes texts, array_view<const std::int32_t> offsets,
           const std::uint8_t *valid = nullptr) noexcept
    {
        static constexpr std::int32_t none = 0;
        set_texts(texts, offsets.size(), valid);
        offsets32 = offsets.size() > 0 ? offsets.data() : &none;
    }
    column(tamis_cpp::bytes texts, array_view<const std::int64_t> offsets,
           const std::uint8_t *valid = nullptr) noexcept
    {
        static constexpr std::int64_t none = 0;
        set_texts(texts, offsets.size(), valid);
        offsets64 = offsets.size() > 0 ? offsets.data() : &none;
    }

    // n rows from row `at` on, which is row 0 of the result.
    column slice(std::size_t at, std::size_t n) const noexcept
    {
        column part = *this;
        part.first += at;
        part.rows = n;
        return part;
    }

private:
    void set(const void *values, std::size_t size, std::size_t each, std::size_t distance) noexcept
    {
        data = values;
        bytes = size;
        width = each;
        stride = distance;
        rows = size / distance;
    }
    void set_texts(tamis_bytes texts, std::size_t offsets, const std::uint8_t *valid) noexcept
    {
        data = texts.p;
        bytes = texts.len;
        rows = offsets > 0 ? offsets - 1 : 0;
        validity = valid;
    }
};

// Ranges that are columns already: contiguous elements whose keys are their bytes, or those of a
// member. They go to C in one call, without descriptors.
template <class Range, class Projection> struct as_column {
    static constexpr bool exists = false;
};
template <class Range> struct as_column<Range, as_it_is> {
    static constexpr bool exists = is_fixed_bytes<element_of<Range>>;
    static column of(const Range &range, as_it_is) noexcept { return column(range); }
};
template <class Range> struct as_column<Range, raw_fn> {
    static constexpr bool exists = is_value<element_of<Range>> && !is_key<element_of<Range>>;
    static column of(const Range &range, raw_fn) noexcept { return column(range); }
};
template <class Range> struct as_column<Range, int64le_fn> {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    static constexpr bool exists =
        is_number<element_of<Range>> && sizeof(element_of<Range>) == sizeof(std::int64_t);
#else
    static constexpr bool exists = false;
#endif
    static column of(const Range &range, int64le_fn) noexcept
    {
        return column(range);
    }
};
template <class Range, class T, class Class> struct as_column<Range, T Class::*> {
    static constexpr bool exists = is_fixed_bytes<T> && sizeof(element_of<Range>) > 0;
    static column of(const Range &range, T Class::*member) noexcept
    {
        return column(range, member);
    }
};
template <class Range, class = void> inline constexpr bool is_column = false;
template <class Range>
inline constexpr bool is_column<
    Range, std::void_t<element_of<decltype(elements_of(std::declval<Range &>()))>>> =
    as_column<
        std::remove_cv_t<std::remove_reference_t<decltype(elements_of(std::declval<Range &>()))>>,
        decltype(projection_of(std::declval<Range &>()))>::exists;

// in_batches, but a range that is a column is passed as a whole: call(column, n, 0).
template <class Range, class Call> void in_pieces(Range &range, Call &&call)
{
    if constexpr (is_column<Range>) {
        using elements = std::remove_cv_t<std::remove_reference_t<decltype(elements_of(range))>>;
        using projection = decltype(projection_of(range));
        const column c =
            as_column<elements, projection>::of(elements_of(range), projection_of(range));
        call(c, c.rows, std::size_t(0));
    } else {
        in_batches(range, call);
    }
}

// The C calls for a batch of descriptors, and for a range that is a column. A column of one
// width fails as a whole, where keys fail one by one, so the answers are those of each key.
inline tamis_status c_add(tamis *t, const tamis_bytes *k, std::size_t n, std::uint8_t *seen,
                          std::size_t *done, tamis_error *) noexcept
{
    return tamis_add_many(t, k, n, seen, done);
}
inline tamis_status c_add(tamis *t, const column &c, std::size_t, std::uint8_t *seen,
                          std::size_t *done, tamis_error *why) noexcept
{
    return tamis_add_column(t, &c, seen, done, why);
}
inline std::size_t c_query(const tamis *t, const tamis_bytes *k, std::size_t n,
                           std::uint8_t *bits) noexcept
{
    return tamis_may_contain_many(t, k, n, bits);
}
inline std::size_t c_query(const tamis *t, const column &c, std::size_t n,
                           std::uint8_t *bits) noexcept
{
    std::size_t found = 0;
    if (tamis_may_contain_column(t, &c, bits, &found, nullptr) == TAMIS_OK) return found;
    for (std::size_t i = 0; bits && i < n; i += 8)
        bits[i / 8] = static_cast<std::uint8_t>(n - i < 8 ? (1u << (n - i)) - 1 : 255);
    return n;
}
inline tamis_status c_count(const tamis *t, const tamis_bytes *k, std::size_t n, estimate *out,
                            tamis_error *why) noexcept
{
    return tamis_count_many(t, k, n, out, why);
}
inline tamis_status c_count(const tamis *t, const column &c, std::size_t, estimate *out,
                            tamis_error *why) noexcept
{
    return tamis_count_column(t, &c, out, why);
}
inline void c_upper(const tamis *t, const tamis_bytes *k, std::size_t n, std::int64_t *out) noexcept
{
    tamis_upper_many(t, k, n, out);
}
inline void c_upper(const tamis *t, const column &c, std::size_t n, std::int64_t *out) noexcept
{
    if (tamis_upper_column(t, &c, out, nullptr) != TAMIS_OK) std::fill_n(out, n, INT64_MAX);
}
inline const tamis_bytes *piece_of(const tamis_bytes *k, std::size_t at, std::size_t) noexcept
{
    return k + at;
}
inline column piece_of(const column &c, std::size_t at, std::size_t n) noexcept
{
    return c.slice(at, n);
}

} // namespace tamis_cpp

#endif
