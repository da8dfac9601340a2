// Mistakes that must not compile, by number. Number 0 has none.
#include <tamis/tamis.hpp>

#include <iterator>
#include <sstream>
#include <string>
#include <vector>

struct padded {
    char a;
    int b;
};

[[maybe_unused]] static void use(tamis::filter &f)
{
    const std::vector<int> numbers = {1};
    [[maybe_unused]] const double real = 1;
    [[maybe_unused]] const padded gap = {'a', 1};
    [[maybe_unused]] const int *pointer = numbers.data();
    [[maybe_unused]] std::istringstream stream("a b");
    f.add(tamis::raw(numbers[0]));
    f.add_many(tamis::keys_of(numbers, tamis::raw));
#if CASE == 1 // numbers are not keys
    f.add_many(numbers);
#elif CASE == 2 // equal values may have distinct bytes
    f.add(tamis::raw(real));
#elif CASE == 3
    f.add(tamis::raw(gap));
#elif CASE == 4 // the bytes of a pointer, not of what it points to
    f.add(tamis::raw(pointer));
#elif CASE == 5
    f.add(tamis::raw(std::string_view("a")));
#elif CASE == 6 // decimals are for integers
    f.add(tamis::decimal(real));
#elif CASE == 7
    f.add(tamis::int64le(true));
#elif CASE == 8  // a string that ends before the batch is passed on
    f.add_many(tamis::keys_of(numbers, [](int i) { return std::to_string(i); }));
#elif CASE == 9  // elements that are overwritten
    struct words {
        std::istream_iterator<std::string> first, last;
        auto begin() const { return first; }
        auto end() const { return last; }
    };
    f.add_many(words{std::istream_iterator<std::string>(stream), {}});
#elif CASE == 10 // elements that are temporary
    struct number {
        using iterator_category = std::forward_iterator_tag;
        using value_type = int;
        using difference_type = int;
        using pointer = const int *;
        using reference = int;
        int n;
        int operator*() const { return n; }
        number &operator++() { return n++, *this; }
        bool operator!=(number other) const { return n != other.n; }
    };
    struct span {
        number begin() const { return {0}; }
        number end() const { return {9}; }
    };
    f.add_many(tamis::keys_of(span(), tamis::raw));
#elif CASE == 11 // columns of values whose bytes are not all of them
    f.add_column(tamis::column(std::vector<double>(3)));
#elif CASE == 12
    f.add_column(tamis::column(std::vector<padded>(3)));
#elif CASE == 13 // a column of strings needs offsets
    f.add_column(tamis::column(std::vector<std::string_view>(3)));
#elif CASE != 0
#error "no such case"
#endif
}
