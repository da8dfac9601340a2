// The header alone and first, twice, in C++.
#include <tamis/tamis.h>
#include <tamis/tamis.h>

#include "filter.hh"

filter make_filter(std::uint64_t items, double fpr)
{
    tamis_plan plan = tamis_plan();
    plan.struct_size = sizeof plan;
    plan.items = items;
    plan.fpr = fpr;
    tamis *t = nullptr;
    const tamis_status s = tamis_create(&plan, nullptr, &t, nullptr);
    return filter(s == TAMIS_OK ? t : nullptr);
}

bool add(const filter &f, const std::string &key)
{
    return tamis_add(f.get(), key.data(), key.size(), nullptr) == TAMIS_OK;
}
