// The library behind a C++ pointer that closes itself.
#ifndef TAMIS_TEST_FILTER_HH
#define TAMIS_TEST_FILTER_HH

#include <tamis/tamis.h>

#include <memory>
#include <string>

struct closer {
    void operator()(tamis *t) const { tamis_close(t); }
};
using filter = std::unique_ptr<tamis, closer>;

filter make_filter(std::uint64_t items, double fpr);
bool add(const filter &f, const std::string &key);

#endif
