// tamis.hpp against exact sets and maps, and against the C calls.
#include <tamis/tamis.hpp>

#include "check.hh"

#include <algorithm>
#include <list>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace
{

std::string name_of(unsigned long long i)
{
    return "key-" + std::to_string(i) + (i % 3 ? "" : "-that-is-longer-than-a-short-string");
}

std::vector<std::string> names(unsigned long long from, std::size_t n)
{
    std::vector<std::string> all;
    for (std::size_t i = 0; i < n; i++) all.push_back(name_of(from + i));
    return all;
}

// Queries in every form: the same answers as the C call for each key, and no member is missed.
void check_queries(const tamis::filter &f, const std::unordered_set<std::string> &model,
                   const std::vector<std::string> &asked)
{
    tamis::bits bits(asked.size());
    std::vector<std::uint32_t> rows;
    std::vector<std::string> maybes, expected;
    std::vector<tamis::bytes> descriptors(asked.begin(), asked.end());
    const std::list<std::string> list(asked.begin(), asked.end());

    const std::size_t found = f.may_contain_many(asked, bits);
    f.select<std::uint32_t>(asked, std::back_inserter(rows));
    const std::size_t called =
        f.for_each_maybe(list, [&](const std::string &key) { maybes.push_back(key); });
    for (std::size_t i = 0, row = 0; i < asked.size(); i++) {
        const std::string &key = asked[i];
        const bool maybe = tamis_may_contain(f.get(), key.data(), key.size());
        if (!CHECK(bits[i] == maybe && f.may_contain(key) == maybe)) return;
        if (!CHECK(maybe || model.count(key) == 0)) return;
        if (!maybe) continue;
        expected.push_back(key);
        if (!CHECK(row < rows.size() && rows[row++] == i)) return;
    }
    CHECK(maybes == expected && found == maybes.size() && called == found);
    CHECK(rows.size() == found && bits.count() == found);
    CHECK(f.may_contain_many(asked) == found && f.may_contain_many(list) == found);
    CHECK(f.may_contain_many(descriptors) == found);
    maybes.clear();
    CHECK(f.for_each_maybe(descriptors,
                           [&](tamis::bytes b) { maybes.emplace_back(tamis::text(b)); }) == found);
    CHECK(maybes == expected);
}

// Adds in all forms, with sizes around those of a batch. The image is that of C calls.
void check_adds(std::uint32_t kind)
{
    const tamis::plan plan(20000, 0.01, kind);
    tamis::filter f(plan), c(plan);
    std::unordered_set<std::string> model;
    unsigned long long next = 0;
    for (std::size_t n : {0u, 1u, 7u, 8u, 9u, 511u, 512u, 513u, 1024u, 1500u}) {
        const std::vector<std::string> keys = names(next, n);
        // Half of them are known.
        next += n / 2;
        tamis::bits seen(n), seen_in_c(n);
        std::vector<tamis_bytes> bytes;
        for (const std::string &key : keys) bytes.push_back({key.data(), key.size()});
        if (n % 2)
            CHECK(f.add_many(keys, seen) == n);
        else
            CHECK(f.add_many(bytes, seen) == n);
        CHECK(tamis_add_many(c.get(), bytes.data(), n, tamis::bit_span(seen_in_c).data(),
                             nullptr) == TAMIS_OK);
        for (std::size_t i = 0; i < n; i++) {
            if (!CHECK(seen[i] == seen_in_c[i])) return;
            if (!CHECK(seen[i] || model.count(keys[i]) == 0)) return;
        }
        model.insert(keys.begin(), keys.end());
    }
    f.add("single");
    CHECK(tamis_add(c.get(), "single", 6, nullptr) == TAMIS_OK);
    bool seen;
    CHECK(tamis_add(c.get(), "other", 5, &seen) == TAMIS_OK && f.test_and_add("other") == seen);
    CHECK(f.test_and_add("other"));
    CHECK(tamis_add(c.get(), "other", 5, nullptr) == TAMIS_OK);
    CHECK(f.image() == c.image());
    check_queries(f, model, names(0, 5000));

    // One in a hundred of 20,000 non-members, with ten standard deviations.
    const std::size_t wrong = f.may_contain_many(names(1000000, 20000));
    CHECK(wrong < 200 + 10 * 14);
}

void check_removals(std::uint32_t kind)
{
    tamis::filter f(tamis::plan(20000, 0.001, kind));
    std::unordered_set<std::string> model;
    dice roll{kind};
    for (int round = 0; round < 20; round++) {
        std::vector<std::string> in, out;
        for (unsigned long long i = roll() % 700; i-- > 0;) {
            const std::string key = name_of(roll() % 10000);
            if (model.insert(key).second) in.push_back(key);
        }
        f.add_many(in);
        for (const std::string &key : model)
            if (roll() % 3 == 0) out.push_back(key);
        // Keys that are certainly not members are marked and change nothing.
        std::vector<std::string> absent;
        for (unsigned long long i = 20000; absent.size() < 20; i++)
            if (!f.may_contain(name_of(i))) absent.push_back(name_of(i));
        std::vector<std::string> both = out;
        both.insert(both.end(), absent.begin(), absent.end());
        tamis::bits marked(both.size());
        f.remove_many(both, marked);
        for (std::size_t i = 0; i < both.size(); i++)
            if (!CHECK(!marked[i] || i >= out.size())) return;
        CHECK(marked.count() == absent.size());
        for (const std::string &key : out) model.erase(key);
        if (!model.empty() && round % 2) {
            f.remove(*model.begin());
            model.erase(model.begin());
        }
        for (const std::string &key : model)
            if (!CHECK(f.may_contain(key))) return;
    }
    CHECK(f.stat().items == model.size());
    f.clear();
    CHECK(f.may_contain_many(names(0, 1000)) == 0);
}

void check_sealed(std::uint32_t kind)
{
    tamis::plan plan(3000, 0.01, kind);
    if (kind == TAMIS_EXACT) plan.excluded = 1000, plan.fpr = 0;
    tamis::filter f(plan);
    const std::vector<std::string> keys = names(0, 3000), others = names(5000, 1000);
    f.add_many(keys);
    if (kind == TAMIS_EXACT) {
        f.exclude(others[0]);
        f.exclude_many(others);
    }
    CHECK(f.may_contain_many(others) == 1000); // not yet sealed
    f.seal();
    CHECK(f.may_contain_many(keys) == 3000 && f.stat().sealed);
    if (kind == TAMIS_EXACT) CHECK(f.may_contain_many(others) == 0);
    check_queries(f, {keys.begin(), keys.end()}, names(2000, 2000));
}

// --- Sketches ----------------------------------------------------------------------------------

using exact_counts = std::unordered_map<std::string, std::int64_t>;

void check_counts(const tamis::sketch &s, const exact_counts &model)
{
    std::vector<std::string> keys;
    for (const auto &[key, count] : model) keys.push_back(key);
    std::vector<tamis::estimate> all(keys.size());
    s.count_many(keys, all);
    for (std::size_t i = 0; i < keys.size(); i++) {
        const tamis::estimate one = s.count(keys[i]);
        if (!CHECK(one.upper >= model.at(keys[i]) && one.certain <= model.at(keys[i]))) return;
        if (!CHECK(one.estimate == all[i].estimate && one.upper == all[i].upper)) return;
    }
}

void check_sketch(std::uint32_t kind)
{
    const tamis::plan plan = tamis::plan::sketch_of(1 << 16, kind);
    tamis::sketch s(plan), other(plan), c(plan);
    exact_counts model;
    dice roll{kind};
    std::vector<std::string> keys;
    std::vector<std::int64_t> weights;
    for (int i = 0; i < 3000; i++) {
        // About i / 2 of 3000 are for the first key, i / 4 for the second.
        const std::string key = name_of(static_cast<unsigned>(__builtin_ctzll(roll())));
        keys.push_back(key);
        weights.push_back(static_cast<std::int64_t>(roll() % 100));
        model[key] += weights.back();
    }
    CHECK(s.add_many(keys, weights) == keys.size());
    for (std::size_t i = 0; i < keys.size(); i++)
        CHECK(tamis_add_weight(c.get(), keys[i].data(), keys[i].size(), weights[i], nullptr) ==
              TAMIS_OK);
    CHECK(s.image() == c.image());
    s.add("one");
    s.add("weighed", 40);
    CHECK(s.add_many(std::vector<const char *>{"one", "one"}) == 2);
    model["one"] += 3;
    model["weighed"] += 40;
    check_counts(s, model);
    other.add("one", 10);
    s.merge(other);
    model["one"] += 10;
    check_counts(s, model);
    check_counts(tamis::sketch::load(s.image()), model);
    if (kind != TAMIS_TOP) return;

    // Fewer items than entries, so all are listed and exact.
    const std::vector<tamis::heavy> top = s.top(1000), first = s.top(3);
    CHECK(top.size() == model.size() && first.size() == 3);
    for (const tamis::heavy &h : top)
        CHECK(model.at(std::string(tamis::text(h.item))) == h.count.estimate);
    std::int64_t most = 0;
    for (const auto &[key, count] : model) most = std::max(most, count);
    CHECK(first[0].count.estimate == most);
    const std::vector<tamis::heavy> above = s.above(1000);
    CHECK(above.size() ==
          static_cast<std::size_t>(std::count_if(
              model.begin(), model.end(), [](const auto &pair) { return pair.second >= 1000; })));
}

void check_window()
{
    tamis::plan plan(1000, 0.001, TAMIS_WINDOW);
    plan.generations = 3;
    tamis::filter f(plan);
    f.add("old");
    f.rotate();
    f.add("new");
    f.rotate();
    CHECK(f.may_contain("old") && f.may_contain("new"));
    f.rotate();
    CHECK(!f.may_contain("old") && f.may_contain("new"));

    plan = tamis::plan::sketch_of(1 << 16, TAMIS_WINDOW);
    plan.inner_kind = TAMIS_TALLY;
    tamis::sketch s(plan);
    s.add("x", 7);
    s.rotate();
    CHECK(s.count("x").upper >= 7);
}

} // namespace

int main()
{
    for (std::uint32_t kind : {TAMIS_BLOCKED, TAMIS_BLOOM, TAMIS_PARTITIONED, TAMIS_COUNTING,
                               TAMIS_CUCKOO, TAMIS_GROWING, TAMIS_WINDOW})
        check_adds(kind);
    check_removals(TAMIS_COUNTING);
    check_removals(TAMIS_CUCKOO);
    check_sealed(TAMIS_FUSE);
    check_sealed(TAMIS_RIBBON);
    check_sealed(TAMIS_EXACT);
    check_sketch(TAMIS_TALLY);
    check_sketch(TAMIS_TOP);
    check_sketch(TAMIS_COUNT_MIN);
    check_window();
    std::printf("%d failed\n", failures);
    return failures != 0;
}
