"""A differential test of the SQLite extension against exact SQL, on random tables of integers,
texts and BLOBs. SQLite's own DISTINCT, IN and GROUP BY compare CAST(x AS BLOB), which is the key of
x: docs/KEYS.md makes 42, '42' and x'3432' one key.

The seed is fixed. For another one, the probability that a right program fails is below 1e-9:
  - false positives are binomial, with the rate that tamis_info computes from the bits, and each
    test allows as many as occur with a probability of 1e-12;
  - estimates of distinct counts beyond the exact range may be off by 8 standard errors.

TAMIS_SEED is another seed, and TAMIS_ROUNDS the number of tables."""
import json
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from sqlite_loaded import connect, main, one  # noqa: E402

SEED = int(os.environ.get("TAMIS_SEED", "25"))
ROUNDS = int(os.environ.get("TAMIS_ROUNDS", "15"))
EXACT = 1024  # distinct keys that a sketch with an error of 1 % counts exactly
KEY = "CAST(x AS BLOB)"


def value(rng, spread):
    """Any type, perhaps with the key of another value, or with bytes that are not UTF-8."""
    n = rng.randrange(spread)
    return rng.choice((n, -n, str(n), str(n).encode(), f"é{n}", bytes([n % 256, 255, n >> 8]),
                       n << 40, f"{n}\0", None))


def random_table(db, rng):
    """t has the rows of a random table: the group g, the value x and a weight w. Few values are
    frequent and many are rare."""
    spread = rng.choice((1, 10, 100, 1000, 3000))
    rows = rng.choice((0, 1, 2, 50, 1000, 5000))
    groups = rng.choice((1, 3, 40))
    db.execute("DROP TABLE IF EXISTS t")
    db.execute("CREATE TABLE t (g, x, w)")
    db.executemany("INSERT INTO t VALUES (?, ?, ?)", (
        (rng.randrange(groups), value(rng, rng.randrange(1, spread + 1)), rng.choice((0, 1, 1, 9)))
        for _ in range(rows)))


def most_by_chance(n, rate):
    """The least number that a binomial variable exceeds with a probability below 1e-12."""
    if n == 0 or rate <= 0:
        return 0
    if rate >= 1:
        return n

    def log_probability(k):
        return (math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1) +
                k * math.log(rate) + (n - k) * math.log1p(-rate))

    tail, k = 0.0, n
    while k >= 0 and tail + math.exp(log_probability(k)) < 1e-12:
        tail += math.exp(log_probability(k))
        k -= 1
    return k


def check_distinct(db):
    """approx_count_distinct for all rows and for each group, and the union of groups."""
    exact = one(db, f"SELECT count(DISTINCT {KEY}) FROM t")
    got = one(db, "SELECT approx_count_distinct(x) FROM t")
    assert got == exact if exact <= EXACT else abs(got - exact) < 8 * 0.01 * exact, (got, exact)
    for group, wanted, found in db.execute(
            f"SELECT g, count(DISTINCT {KEY}), approx_count_distinct(x) FROM t GROUP BY g"):
        assert found == wanted if wanted <= EXACT else abs(found - wanted) < 8 * 0.01 * wanted, \
            (group, found, wanted)
    whole, union = one(db, "SELECT (SELECT tamis_distinct_agg(x) FROM t), (SELECT "
                           "tamis_union_agg(s) FROM (SELECT tamis_distinct_agg(x) AS s FROM t "
                           "GROUP BY g))")
    assert whole == union
    if whole is not None:
        assert one(db, "SELECT tamis_cardinality(?)", whole) == got


def check_members(db, f, rng, what):
    """No member is missed, and not too many others are found."""
    assert one(db, "SELECT count(*) FROM t WHERE x IS NOT NULL AND NOT tamis_contains(?, x)",
               f) == 0, what
    others = [f"other-{rng.getrandbits(64)}" for _ in range(2000)]
    found = one(db, "SELECT sum(tamis_contains(?, value)) FROM json_each(?)", f,
                json.dumps(others))
    info = json.loads(one(db, "SELECT tamis_info(?)", f))
    assert info["fpr_now"] < 0.02, (what, info)
    assert found <= most_by_chance(len(others), info["fpr_now"]), (what, found, info["fpr_now"])
    # IN of exact SQL and the filter differ only by such false positives.
    db.execute("DROP TABLE IF EXISTS asked")
    db.execute("CREATE TABLE asked (x)")
    db.executemany("INSERT INTO asked VALUES (?)", ((value(rng, 6000),) for _ in range(500)))
    members, wrong, absent = one(db, f"""
        SELECT count(*) FILTER (WHERE yes AND NOT tamis_contains(?1, x)),
               count(*) FILTER (WHERE NOT yes AND tamis_contains(?1, x)),
               count(*) FILTER (WHERE NOT yes)
        FROM (SELECT x, {KEY} IN (SELECT {KEY} FROM t WHERE x IS NOT NULL) AS yes FROM asked
              WHERE x IS NOT NULL GROUP BY {KEY})""", f)
    assert members == 0 and wrong <= most_by_chance(absent, info["fpr_now"]), (what, wrong)


def check_filters(db, rng):
    # Counting filters count every row, others every key.
    items = max(1, one(db, "SELECT count(x) FROM t"))
    for kind in ("auto", "bloom", "partitioned", "blocked", "counting", "cuckoo", "growing",
                 "ribbon"):
        f = one(db, "SELECT tamis_filter_agg(x, ?, 0.01, ?) FROM t", items, kind)
        if f is None:
            assert one(db, "SELECT count(*) FROM t") == 0
            continue
        check_members(db, f, rng, kind)
    f = one(db, "SELECT tamis_seal_agg(x, 0.01) FROM t")
    if f is None:
        return
    check_members(db, f, rng, "seal")
    for kind in ("blocked", "counting"):
        whole, union = (one(db, sql, items, kind) for sql in (
            "SELECT tamis_filter_agg(x, ?, 0.01, ?) FROM t",
            "SELECT tamis_union_agg(f) FROM (SELECT tamis_filter_agg(x, ?, 0.01, ?) AS f FROM t "
            "GROUP BY g)"))
        assert whole == union or kind == "blocked"  # whose number of items is an estimate
        check_members(db, union, rng, "union")
        assert whole[256:] == union[256:]


def check_counts(db):
    """Counts are never too low. In 1 MiB they are exact, except for a key whose four counters are
    all shared: with 5,000 keys in a million counters, that is one key with a probability of 1.5e-7,
    and more than four with one of 1e-17."""
    for sketch, exact in (("tamis_count_agg(x)", "count(*)"), ("tamis_count_agg(x, w)", "sum(w)"),
                          ("tamis_count_agg(x, 1, 8000)", "count(*)"),
                          ("tamis_top_agg(x, 20)", "count(*)")):
        s = one(db, f"SELECT {sketch} FROM t")
        if s is None:
            continue
        union = one(db, f"SELECT tamis_union_agg(s) FROM (SELECT {sketch} AS s FROM t GROUP BY g)")
        inexact = 0
        for x, wanted, count, *bounds in db.execute(
                f"SELECT x, {exact}, tamis_estimate(?1, x), tamis_estimate_bounds(?1, x), "
                f"tamis_estimate_bounds(?2, x) FROM t WHERE x IS NOT NULL GROUP BY {KEY}",
                (s, union)):
            for e in map(json.loads, bounds):
                assert e["lower"] <= e["count"] <= e["upper"] >= wanted, (sketch, x, e, wanted)
            assert json.loads(bounds[0])["count"] == count
            inexact += count != wanted
        assert inexact <= 4 or "8000" in sketch or "top" in sketch, (sketch, inexact)


def check_top(db):
    """Bounds hold, the list is the exact one as far as its counts are, and it has every key that
    makes up more than a hundredth of the rows, ten times what the sketch needs."""
    exact = {bytes(key): n for key, n in db.execute(
        f"SELECT {KEY}, count(*) FROM t WHERE x IS NOT NULL GROUP BY 1")}
    for k in (1, 5, 100):
        text, s = one(db, "SELECT approx_top_k(x, ?1), tamis_top_agg(x, ?1) FROM t", k)
        listed = db.execute("SELECT * FROM tamis_list(?, ?)", (s, k)).fetchall()
        assert len(json.loads(text)) == len(listed) == (min(k, len(exact)) if s else 0)
        keys = [item if isinstance(item, bytes) else item.encode() for item, *_ in listed]
        assert len(set(keys)) == len(keys)
        for key, (_, count, lower, upper), shown in zip(keys, listed, json.loads(text)):
            assert lower <= exact[key] <= upper and lower <= count <= upper, (key, count)
            assert (shown["count"], shown["lower"], shown["upper"]) == (count, lower, upper)
            assert shown["item"] in (key.decode(errors="replace"), "\\x" + key.hex())
        frequent = sorted(exact, key=lambda key: (-exact[key], key))[:k]
        total = sum(exact.values())
        assert all(key in keys for key in frequent[:k // 2] if exact[key] * 100 > total), k
        if all(lower == upper for _, _, lower, upper in listed) and len(exact) <= k:
            assert keys == frequent


def test_random_tables():
    print("seed", SEED, flush=True)
    rng, db = random.Random(SEED), connect()
    for _ in range(ROUNDS):
        random_table(db, rng)
        check_distinct(db)
        check_filters(db, rng)
        check_counts(db)
        check_top(db)


def test_many_distinct():
    """Beyond the exact range: eight standard errors, here 8 %, for each of these sizes."""
    db = connect()
    for n in (1025, 2000, 20000, 300000):
        got = one(db, "WITH t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < ?) "
                      "SELECT approx_count_distinct(x) FROM t", n)
        assert abs(got - n) < 8 * 0.01 * n, (n, got)


if __name__ == "__main__":
    main([test_random_tables, test_many_distinct])
