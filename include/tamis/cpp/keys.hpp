// What <tamis/tamis.hpp> is made of: errors, structs and keys. Include that header, which explains
// them.
#ifndef TAMIS_CPP_KEYS_HPP
#define TAMIS_CPP_KEYS_HPP

#include "../tamis.h"
#if __has_include("../count.h") // the amalgamated header contains these
#include "../columns.h"
#include "../count.h"
#include "../distinct.h"
#include "../embed.h"
#include "../publish.h"
#endif

#include <algorithm>
#include <array>
#include <cassert>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__cpp_exceptions) || defined(_CPPUNWIND)
#define TAMIS_HPP_THROWS 1
#else
#define TAMIS_HPP_THROWS 0
#endif

namespace tamis_cpp
{

using estimate = tamis_estimate;
using hash = tamis_hash;
using heavy = tamis_heavy;
using status = tamis_status;

// --- Errors --------------------------------------------------------------------------------------

// Why a call failed. Converts to true if it did.
class error
{
public:
    error() noexcept { c_.status = TAMIS_OK; } // the rest is read only after a failure
    error(const error &other) noexcept { *this = other; }
    error &operator=(const error &other) noexcept
    {
        c_.status = TAMIS_OK;
        if (other) c_ = other.c_;
        done_ = other.done_;
        return *this;
    }
    error(tamis_status s, std::string_view text, std::uint32_t better_kind = 0) noexcept
    {
        set(s, text);
        c_.better_kind = better_kind;
    }

    explicit operator bool() const noexcept { return c_.status != TAMIS_OK; }
    tamis_status status() const noexcept { return c_.status; }
    // One line without a newline, which ends with a NUL.
    std::string_view text() const noexcept
    {
        return *this ? c_.text : tamis_status_message(TAMIS_OK);
    }
    int os() const noexcept { return *this ? c_.os : 0; }
    std::uint64_t offset() const noexcept { return *this ? c_.offset : 0; }
    std::uint32_t better_kind() const noexcept { return *this ? c_.better_kind : 0; }
    // How many keys were processed when a bulk call that adds keys failed: exactly the first ones.
    std::size_t done() const noexcept { return *this ? done_ : 0; }

    // For C calls: pass c(), and then their status to took(), which returns whether it is TAMIS_OK.
    // A call that takes no tamis_error, or does not fill it, gets the text of its status.
    tamis_error *c() noexcept
    {
        c_.status = TAMIS_OK;
        return &c_;
    }
    bool took(tamis_status s, std::size_t done = 0) noexcept
    {
        if (s != TAMIS_OK && c_.status != s) set(s, tamis_status_message(s));
        c_.status = s;
        done_ = done;
        return s == TAMIS_OK;
    }
    bool took_bare(tamis_status s, std::size_t done = 0) noexcept
    {
        c_.status = TAMIS_OK;
        return took(s, done);
    }

private:
    void set(tamis_status s, std::string_view text) noexcept
    {
        c_ = tamis_error();
        c_.status = s;
        std::memcpy(c_.text, text.data(),
                    text.size() < sizeof c_.text ? text.size() : sizeof c_.text - 1);
    }

    tamis_error c_;
    std::size_t done_ = 0;
};

class exception : public std::exception
{
public:
    explicit exception(const error &why) noexcept : why_(why) {}
    const char *what() const noexcept override { return why_.text().data(); }
    const error &why() const noexcept { return why_; }
    tamis_status status() const noexcept { return why_.status(); }
    std::string_view text() const noexcept { return why_.text(); }
    int os() const noexcept { return why_.os(); }
    std::uint64_t offset() const noexcept { return why_.offset(); }
    std::uint32_t better_kind() const noexcept { return why_.better_kind(); }
    std::size_t done() const noexcept { return why_.done(); }

private:
    error why_;
};

#if TAMIS_HPP_THROWS
// Calls f with an error, and throws it if f has set it.
template <class F> auto demand(F &&f)
{
    error why;
    if constexpr (std::is_same_v<decltype(f(why)), bool>) {
        if (!f(why)) throw exception(why);
    } else {
        auto result = f(why);
        if (why) throw exception(why);
        return result;
    }
}
inline void demand_bare(tamis_status s)
{
    if (s == TAMIS_OK) return;
    error why;
    why.took_bare(s);
    throw exception(why);
}
#endif

// --- Structs -------------------------------------------------------------------------------------

// A struct of the C library with struct_size set and all other fields zero.
template <class C> struct sized : C {
    sized() noexcept : C() { this->struct_size = sizeof(C); }
};
using options = sized<tamis_options>;
using save_options = sized<tamis_save_options>;
using promise = sized<tamis_promise>;
using facts = sized<tamis_facts>;
using similarity = sized<tamis_similarity>;
using cardinality = sized<tamis_cardinality>;

struct plan : sized<tamis_plan> {
    plan() noexcept = default;
    plan(std::uint64_t planned_items, double rate, std::uint32_t of_kind = TAMIS_AUTO) noexcept
    {
        kind = of_kind;
        items = planned_items;
        fpr = rate;
    }
    static plan sketch_of(std::uint64_t size_in_bytes, std::uint32_t of_kind = TAMIS_TALLY) noexcept
    {
        plan p;
        p.kind = of_kind;
        p.bytes = size_in_bytes;
        return p;
    }

    // tamis_solve: completes this plan. (`error` is one of its fields.)
    promise solve(tamis_cpp::error &why) noexcept
    {
        promise p;
        if (!why.took(tamis_solve(this, &p, why.c()))) p = promise();
        return p;
    }
#if TAMIS_HPP_THROWS
    promise solve()
    {
        return demand([&](tamis_cpp::error &why) { return solve(why); });
    }
#endif
};

// --- Keys ----------------------------------------------------------------------------------------

template <class T>
inline constexpr bool is_byte =
    std::is_same_v<T, char> || std::is_same_v<T, unsigned char> || std::is_same_v<T, std::byte>
#ifdef __cpp_char8_t
    || std::is_same_v<T, char8_t>
#endif
    ;
template <class T>
using element_of =
    std::remove_cv_t<std::remove_pointer_t<decltype(std::data(std::declval<T &>()))>>;
template <class T, class = void> inline constexpr bool is_container_of_bytes = false;
template <class T>
inline constexpr bool
    is_container_of_bytes<T, std::void_t<element_of<T>, decltype(std::size(std::declval<T &>()))>> =
        is_byte<element_of<T>>;
template <class T>
inline constexpr bool is_text = std::is_convertible_v<const T &, std::string_view>;
#ifdef __cpp_char8_t
template <class T>
inline constexpr bool is_text8 = std::is_convertible_v<const T &, std::u8string_view>;
#else
template <class T> inline constexpr bool is_text8 = false;
#endif

// A view of a key or of an image; it does not own its bytes. Containers and strings convert to it.
struct bytes : tamis_bytes {
    constexpr bytes() noexcept : tamis_bytes{nullptr, 0} {}
    constexpr bytes(const void *begin, std::size_t n) noexcept : tamis_bytes{begin, n} {}
    constexpr bytes(tamis_bytes b) noexcept : tamis_bytes(b) {}
    template <class T, std::enable_if_t<is_text<T>, int> = 0>
    constexpr bytes(const T &string) : bytes(viewed(), std::string_view(string))
    {
    }
#ifdef __cpp_char8_t
    template <class T, std::enable_if_t<is_text8<T>, int> = 0>
    constexpr bytes(const T &string) : bytes(viewed(), std::u8string_view(string))
    {
    }
#endif
    template <class T, std::enable_if_t<
                           !is_text<T> && !is_text8<T> && is_container_of_bytes<const T>, int> = 0>
    constexpr bytes(const T &container) : bytes(std::data(container), std::size(container))
    {
    }
    bytes(std::nullptr_t) = delete;
    // A number is not a key: see the top of this header.
    template <class T, std::enable_if_t<std::is_arithmetic_v<T> || std::is_enum_v<T>, int> = 0>
    bytes(T number) = delete;

private:
    struct viewed {
    };
    template <class View> constexpr bytes(viewed, View s) noexcept : tamis_bytes{s.data(), s.size()}
    {
    }
};
static_assert(sizeof(bytes) == sizeof(tamis_bytes), "an array of them is an array of tamis_bytes");

template <class T> inline constexpr bool is_key = std::is_convertible_v<T, bytes>;

// tamis_hash_bytes: as every filter with this seed and without a secret key hashes the key.
inline hash hash_of(bytes key, std::uint64_t seed = 0) noexcept
{
    return tamis_hash_bytes(seed, key.p, key.len);
}

// The bytes as text, for items of a top.
inline std::string_view text(tamis_bytes b) noexcept
{
    return {static_cast<const char *>(b.p), b.len};
}

template <class T>
inline constexpr bool is_number = std::is_integral_v<T> && sizeof(T) <= 8 &&
                                  !std::is_same_v<T, bool> && !std::is_same_v<T, char> &&
                                  !std::is_same_v<T, wchar_t> && !std::is_same_v<T, char16_t> &&
                                  !std::is_same_v<T, char32_t>
#ifdef __cpp_char8_t
                                  && !std::is_same_v<T, char8_t>
#endif
    ;

// Keys that hold their bytes.
class decimal_key
{
public:
    template <class T> explicit decimal_key(T n) noexcept
    {
        length_ = static_cast<std::size_t>(std::to_chars(digits_, digits_ + sizeof digits_, n).ptr -
                                           digits_);
    }
    decimal_key() noexcept = default;
    operator bytes() const noexcept { return {digits_, length_}; }

private:
    char digits_[20]; // -2^63 and 2^64 - 1 have 20 characters
    std::size_t length_;
};
class int64le_key
{
public:
    template <class T> explicit int64le_key(T n) noexcept
    {
        const std::uint64_t word = static_cast<std::uint64_t>(n); // repeats the sign
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
        std::memcpy(bytes_, &word, sizeof bytes_);
#else
        for (unsigned i = 0; i < 8; i++) bytes_[i] = static_cast<unsigned char>(word >> 8 * i);
#endif
    }
    int64le_key() noexcept = default;
    operator bytes() const noexcept
    {
        return {bytes_, sizeof bytes_};
    }

private:
    unsigned char bytes_[8];
};

struct decimal_fn {
    template <class T> decimal_key operator()(T n) const noexcept
    {
        static_assert(is_number<T>, "tamis::decimal takes integers of at most 64 bits");
        return decimal_key(n);
    }
};
struct int64le_fn {
    template <class T> int64le_key operator()(T n) const noexcept
    {
        static_assert(is_number<T>, "tamis::int64le takes integers of at most 64 bits");
        return int64le_key(n);
    }
};
template <class T, class = void> inline constexpr bool has_data = false;
template <class T>
inline constexpr bool has_data<T, std::void_t<decltype(std::declval<T &>().data())>> = true;
struct raw_fn {
    template <class T> bytes operator()(const T &x) const noexcept
    {
        static_assert(std::is_trivially_copyable_v<T> &&
                          std::has_unique_object_representations_v<T>,
                      "equal values of this type can have distinct bytes: padding, floating point");
        static_assert(!std::is_pointer_v<T> && !is_key<T> &&
                          (!has_data<T> || std::is_aggregate_v<T>),
                      "this refers to bytes elsewhere: pass it as a key, without tamis::raw");
        return {std::addressof(x), sizeof x};
    }
};
inline constexpr decimal_fn decimal{};
inline constexpr int64le_fn int64le{};
inline constexpr raw_fn raw{};

// --- Arrays and bits ----------------------------------------------------------------------------

// Elements in one piece: an array, a vector, a std::span.
template <class T> class array_view
{
public:
    constexpr array_view() noexcept = default;
    constexpr array_view(T *p, std::size_t n) noexcept : p_(p), n_(n) {}
    template <class C, class = std::enable_if_t<
                           std::is_convertible_v<decltype(std::data(std::declval<C &>())), T *>>>
    constexpr array_view(C &&c) : p_(std::data(c)), n_(std::size(c))
    {
    }
    constexpr T *data() const noexcept { return p_; }
    constexpr std::size_t size() const noexcept { return n_; }

private:
    T *p_ = nullptr;
    std::size_t n_ = 0;
};

// Bits that the caller owns: bit i % 8 of byte i / 8 is bit i.
class bit_span
{
public:
    constexpr bit_span(std::uint8_t *p, std::size_t bits) noexcept : p_(p), n_(bits) {}
    constexpr std::uint8_t *data() const noexcept { return p_; }
    constexpr std::size_t size() const noexcept { return n_; }
    constexpr bool operator[](std::size_t i) const noexcept { return p_[i / 8] >> i % 8 & 1; }

private:
    std::uint8_t *p_;
    std::size_t n_;
};
class bits
{
public:
    bits() noexcept = default;
    explicit bits(std::size_t n) : bytes_((n + 7) / 8), n_(n) {}
    operator bit_span() noexcept { return {bytes_.data(), n_}; }
    bool operator[](std::size_t i) const noexcept { return bytes_[i / 8] >> i % 8 & 1; }
    std::size_t size() const noexcept { return n_; }
    std::size_t count() const noexcept
    {
        std::size_t n = 0;
        for (std::uint8_t byte : bytes_)
            for (; byte != 0; byte = static_cast<std::uint8_t>(byte & (byte - 1))) n++;
        return n;
    }

private:
    std::vector<std::uint8_t> bytes_;
    std::size_t n_ = 0;
};

} // namespace tamis_cpp

#endif
