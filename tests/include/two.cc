// A second unit in C++. The image comes out through a callback, and goes in again.
#include "filter.hh"

#include <vector>

static tamis_status append(void *ctx, const void *bytes, size_t n)
{
    const char *p = static_cast<const char *>(bytes);
    std::vector<char> *image = static_cast<std::vector<char> *>(ctx);
    image->insert(image->end(), p, p + n);
    return TAMIS_OK;
}

int main()
{
    const filter f = make_filter(1000, 0.01);
    std::vector<char> image;
    if (!f || !add(f, "key") || tamis_write(f.get(), append, &image, nullptr) != TAMIS_OK) return 1;

    tamis *t = nullptr;
    tamis_error why;
    if (tamis_load(image.data(), image.size(), nullptr, &t, &why) != TAMIS_OK) return 1;
    const filter again(t);
    return tamis_may_contain(t, "key", 3) && !tamis_may_contain(t, "other", 5) ? 0 : 1;
}
