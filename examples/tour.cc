// A tour of <tamis/tamis.hpp>: crawling the web in C++.
//
// A crawler meets the same links again and again. A filter answers "have I fetched this?" in ten
// bits per URL, a second one holds the hosts that must not be visited, and a sketch counts how many
// links lead to each host. The crawler stops, saves its state and continues where it stopped. An
// exact set checks at the end that nothing was fetched twice and that next to nothing was missed.
#include <tamis/tamis.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <iostream>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace
{

constexpr std::size_t pages = 20000, links_per_page = 20;

struct link {
    std::string url;
    unsigned host;
};

// The links of a page: many lead to few hosts (splitmix64).
std::vector<link> links_of(std::uint64_t page)
{
    std::vector<link> links;
    for (std::uint64_t i = 0; i < links_per_page; i++) {
        std::uint64_t z = (page * links_per_page + i) * 0x9e3779b97f4a7c15u;
        z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
        z = (z ^ z >> 27) * 0x94d049bb133111ebu;
        z ^= z >> 31;
        const unsigned host = static_cast<unsigned>(z % 100 * (z % 100) / 100);
        links.push_back(
            {"https://host-" + std::to_string(host) + ".example/" + std::to_string(z >> 32 & 0xfff),
             host});
    }
    return links;
}

struct crawler {
    tamis::filter fetched;
    tamis::sketch hosts;
    std::uint64_t page = 0;
};

// Exceptions end in main().
void crawl(crawler &c, const tamis::filter &banned, std::uint64_t until,
           std::vector<std::string> &fetched)
{
    for (; c.page < until; c.page++) {
        std::vector<link> links = links_of(c.page);

        // In bulk: the keys are a projection of the elements, and are not copied.
        const auto hosts =
            tamis::keys_of(links, [](const link &l) { return tamis::decimal(l.host); });
        tamis::bits bad(links.size());
        c.hosts.add_many(hosts);
        banned.may_contain_many(hosts, bad);

        // One by one: was it fetched before? If not, it is from now on.
        for (std::size_t i = 0; i < links.size(); i++)
            if (!bad[i] && !c.fetched.test_and_add(links[i].url))
                fetched.push_back(std::move(links[i].url));
    }
}

// Without exceptions: the error is an argument.
bool save(crawler &c, const std::filesystem::path &room, tamis::error &why)
{
    return c.fetched.save(room / "fetched.tamis", why) && c.hosts.save(room / "hosts.tamis", why);
}

// The folder of this run, which is removed at the end.
struct folder {
    std::filesystem::path path;
    folder()
    {
        std::string name = (std::filesystem::temp_directory_path() / "tamis-tour-XXXXXX").string();
        if (mkdtemp(name.data()) == nullptr) throw std::filesystem::filesystem_error("mkdtemp", {});
        path = name;
    }
    ~folder()
    {
        std::error_code ignored;
        std::filesystem::remove_all(path, ignored);
    }
};

// A row of a table in a database.
struct visit {
    std::uint64_t user;
    std::uint32_t seconds;
};

// A column is read in place: here a member of each row, as 8 raw bytes. The sketch returns the
// count of each user right after each visit, which is enough for a limit.
bool columns()
{
    std::vector<visit> visits;
    for (std::uint64_t i = 0; i < 10000; i++) visits.push_back({i * i % 1000, 60});
    const tamis::column users(visits, &visit::user);

    tamis::sketch per_user(tamis::plan::sketch_of(1 << 16));
    std::vector<std::int64_t> counts(visits.size());
    per_user.add_counted_column(users, counts);
    const auto over = std::count_if(counts.begin(), counts.end(), [](auto n) { return n > 100; });

    tamis::filter customers(tamis::plan(1000, 1e-6));
    for (const std::uint64_t user : {1u, 4u, 9u, 7777u}) customers.add(tamis::raw(user));
    const std::vector<std::uint32_t> rows = customers.select_column(users);
    std::cout << "columns    " << rows.size() << " visits of customers; " << over
              << " visits over the limit\n";
    return std::all_of(rows.begin(), rows.end(), [&](std::uint32_t row) {
        const std::uint64_t user = visits[row].user;
        return user == 1 || user == 4 || user == 9;
    });
}

int tour()
{
    // A plan has two of items, rate and bytes. What it will take is known before.
    tamis::plan plan(200000, 0.01);
    const tamis::promise promise = plan.solve();
    std::cout << "planned    " << promise.bytes << " bytes, " << promise.bits_per_item
              << " bits per URL\n";

    tamis::filter banned(tamis::plan(10, 1e-9));
    banned.add_many(std::vector<std::string_view>{"7", "11", "13"});

    const folder room;
    std::vector<std::string> fetched;
    {
        crawler c{tamis::filter(plan), tamis::sketch(tamis::plan::sketch_of(1 << 16, TAMIS_TOP))};
        crawl(c, banned, pages / 2, fetched);
        tamis::error why;
        if (!save(c, room.path, why)) {
            std::cerr << why.text() << '\n';
            return 1;
        }
    } // closes both
    crawler c{tamis::filter::open(room.path / "fetched.tamis"),
              tamis::sketch::open(room.path / "hosts.tamis"), pages / 2};
    crawl(c, banned, pages, fetched);

    const tamis::facts facts = c.fetched.info();
    std::cout << "fetched    " << fetched.size() << " URLs; the filter estimates "
              << static_cast<std::uint64_t>(facts.items_estimate) << ", and is wrong about 1 in "
              << static_cast<std::uint64_t>(1 / facts.fpr_now) << " others now\n";
    for (const tamis::heavy &h : c.hosts.top(3))
        std::cout << "host " << tamis::text(h.item) << "     " << h.count.estimate << " links ("
                  << h.count.lower << " to " << h.count.upper << ")\n";

    // A call that a kind does not support names one that does.
    try {
        c.fetched.remove("https://host-1.example/1");
    } catch (const tamis::exception &e) {
        std::cout << "remove     " << e.what() << '\n';
    }

    // What was published never changes again: the smallest file is sealed.
    tamis::filter sealed(tamis::plan(fetched.size(), 0.01, TAMIS_RIBBON));
    sealed.add_many(fetched);
    sealed.seal();
    std::cout << "sealed     " << sealed.image_size() << " bytes instead of "
              << c.fetched.image_size() << '\n';

    if (!columns()) return 1;

    // The exact answer.
    std::set<std::string> wanted;
    for (std::uint64_t page = 0; page < pages; page++)
        for (const link &l : links_of(page))
            if (l.host != 7 && l.host != 11 && l.host != 13) wanted.insert(l.url);
    const std::set<std::string> got(fetched.begin(), fetched.end());
    const std::size_t missed = wanted.size() - got.size();
    std::cout << "missed     " << missed << " of " << wanted.size() << " URLs\n";
    const bool once = got.size() == fetched.size();
    const bool subset = std::includes(wanted.begin(), wanted.end(), got.begin(), got.end());
    // The filter is less than full most of the time, so fewer than one in a hundred are missed.
    return once && subset && missed < wanted.size() / 100 &&
                   sealed.may_contain_many(fetched) == got.size()
               ? 0
               : 1;
}

} // namespace

int main()
{
    try {
        return tour();
    } catch (const std::exception &e) { // a tamis::exception is one
        std::cerr << e.what() << '\n';
        return 1;
    }
}
