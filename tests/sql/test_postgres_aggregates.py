"""Every aggregate of the PostgreSQL extension: NULLs, groups without rows, parameters, kinds,
windows, and filters that get more items than planned."""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from postgres_server import ask, error, main, status_of, value  # noqa: E402
from test_postgres_functions import check, fails  # noqa: E402

# Each aggregate that makes a value, of a column v.
MAKERS = ("tamis_filter_agg(v, 2000, 1e-6)", "tamis_filter_agg(v, 2000, 1e-6, 'bloom')",
          "tamis_seal_agg(v, 1e-6)", "tamis_distinct_agg(v)", "tamis_distinct_agg(v, 0.05)",
          "tamis_count_agg(v)", "tamis_count_agg(v, 1)", "tamis_count_agg(v, 1, 100000)",
          "tamis_top_agg(v)", "tamis_top_agg(v, 10)", "tamis_map_agg(v, 1, 1e-6)",
          "tamis_map_agg(v, 1, 1e-6, 8)")
MERGED = ("auto", "blocked", "bloom", "partitioned", "counting")
NOT_MERGED = ("cuckoo", "growing", "pair", "fuse", "ribbon")


def rate_of(kind):
    return 1 / 256 if kind == "fuse" else 0.004


def test_nothing(_, db):
    """No rows give NULL, as sum does, but the number 0 and an empty list. Only NULLs give an empty
    value."""
    for maker in MAKERS:
        check(db, (f"SELECT {maker} FROM (SELECT 1 v WHERE false) s", None))
        check(db, (f"SELECT {maker} FILTER (WHERE false) FROM (SELECT 1 v) s", None))
        rows = "FROM (VALUES (NULL::int), (NULL)) s(v)"
        check(db, (f"SELECT {maker} @> 1 {rows}", False))
        info = value(db, f"SELECT tamis_info({maker}) {rows}")
        assert info.get("items", info.get("weight", info.get("distinct"))) == 0, info
        # NULLs change nothing.
        some = "(VALUES (1), (NULL), (2), (NULL), (1)) s(v)"
        check(db, (f"SELECT {maker}::bytea = (SELECT {maker}::bytea FROM {some}"
                   f" WHERE v IS NOT NULL) FROM {some}", True))
    check(db, ("SELECT tamis_union_agg(f) FROM (SELECT NULL::tamis f WHERE false) s", None),
          ("SELECT tamis_union_agg(f) FROM (VALUES (NULL::tamis)) s(f)", None),
          ("SELECT approx_count_distinct(v) FROM (SELECT 1 v WHERE false) s", 0),
          ("SELECT approx_count_distinct(v) FROM (VALUES (NULL::int)) s(v)", 0),
          ("SELECT approx_top_k(v, 3)::text FROM (SELECT 1 v WHERE false) s", "{}"),
          ("SELECT approx_top_k(v, 3)::text FROM (VALUES (NULL::int)) s(v)", "{}"),
          ("SELECT array_length(approx_top_k(v, 3), 1) FROM (VALUES (NULL::int)) s(v)", None))
    rows = ask(db, "SELECT g, approx_count_distinct(v), approx_top_k(v, 1)::text FROM"
                   " (VALUES (1, NULL), (2, 5), (2, NULL)) s(g, v) GROUP BY g ORDER BY g")
    assert rows == [(1, 0, "{}"), (2, 1, '{"(5,1,1,1)"}')], rows


def test_kinds(_, db):
    """Each kind that rows can make has all its members. At a rate of 0.004, 2,000 others get 8
    false positives, and more than 60 with a probability below 1e-30; for a pair, whose rate is
    that of two filters, as well."""
    for kind in MERGED + NOT_MERGED:
        maker = f"tamis_filter_agg(i, 1000, {rate_of(kind)}, '{kind}')"
        ask(db, f"CREATE TABLE k_{kind} AS SELECT {maker} f FROM generate_series(1, 1000) i")
        check(db, (f"SELECT count(*) FROM k_{kind}, generate_series(1, 1000) i WHERE f @> i", 1000),
              (f"SELECT count(*) < 60 FROM k_{kind}, generate_series(5001, 7000) i WHERE f @> i",
               True),
              (f"SELECT tamis_info(f)->>'kind' FROM k_{kind}",
               kind if kind != "auto" else "blocked"),
              (f"SELECT (tamis_info(f)->>'sealed')::bool FROM k_{kind}",
               kind in ("fuse", "ribbon")))
        # Repeated rows make the same filter, except that a counting one counts them.
        if kind != "counting":
            check(db, (f"SELECT {maker}::bytea = (SELECT f::bytea FROM k_{kind})"
                       " FROM generate_series(1, 1000) i, generate_series(1, 2)", True)
                  if kind in ("fuse", "ribbon") else
                  (f"SELECT (tamis_info({maker})->>'items')::float BETWEEN 980 AND 1000"
                   " FROM generate_series(1, 1000) i, generate_series(1, 2)", True))
    check(db, ("SELECT tamis_estimate(tamis_filter_agg(i, 99, 0.01, 'counting'), 1)"
               " FROM (VALUES (1), (1), (2)) s(i)", 2))


def test_parameters(_, db):
    rows = "FROM generate_series(1, 10) v"
    differ = "22023: tamis: the parameters must be the same in all rows of a group"
    for call in ("tamis_filter_agg(v, v, 0.01)", "tamis_filter_agg(v, 10, 0.01 * v)",
                 "tamis_filter_agg(v, 10, 0.01, CASE v WHEN 9 THEN 'bloom' ELSE 'blocked' END)",
                 "tamis_seal_agg(v, 0.01 * v)", "tamis_distinct_agg(v, 0.01 * v)",
                 "tamis_count_agg(v, 1, 10000 * v)", "tamis_top_agg(v, v)", "approx_top_k(v, v)"):
        fails(db, (f"SELECT {call} {rows}", differ))
        check(db, (f"SELECT count(*) FROM (SELECT {call} {rows} GROUP BY v) s", 10))
    check(db, (f"SELECT tamis_estimate(tamis_count_agg(v, v), 7) {rows}", 7))  # weights may
    null = "22004: tamis: the parameters of the aggregate must not be NULL"
    fails(db, (f"SELECT tamis_filter_agg(v, NULL, 0.01) {rows}", null),
          (f"SELECT tamis_filter_agg(v, 10, NULL) {rows}", null),
          (f"SELECT tamis_filter_agg(v, 10, 0.01, NULL) {rows}", null),
          (f"SELECT tamis_seal_agg(v, NULL) {rows}", null),
          (f"SELECT tamis_distinct_agg(v, NULL) {rows}", null),
          (f"SELECT tamis_count_agg(v, 1, NULL) {rows}", null),
          (f"SELECT tamis_top_agg(v, NULL) {rows}", null),
          (f"SELECT approx_top_k(v, NULL) {rows}", null))
    rate = "22023: tamis: the false-positive rate must be above 0 and below 1"
    for bad in ("0", "1", "-0.1", "'NaN'", "'Infinity'"):
        fails(db, (f"SELECT tamis_filter_agg(v, 10, {bad}) {rows}", rate),
              (f"SELECT tamis_seal_agg(v, {bad}) {rows}", rate))
    for bad in ("0", "-0.1", "0.5", "'NaN'", "'Infinity'"):
        fails(db, (f"SELECT tamis_distinct_agg(v, {bad}) {rows}", "22023: tamis: "))
    fails(db,
          (f"SELECT tamis_filter_agg(v, 0, 0.01) {rows}", "22023: tamis: items must be above 0"),
          (f"SELECT tamis_filter_agg(v, -1, 0.01) {rows}", "22023: tamis: items must be above 0"),
          (f"SELECT tamis_filter_agg(v, 10, 0.01, 'x') {rows}",
           '22023: tamis: there is no kind "x"'),
          (f"SELECT tamis_top_agg(v, 0) {rows}", "22023: tamis: k must be above 0"),
          (f"SELECT approx_top_k(v, -3) {rows}", "22023: tamis: k must be above 0"),
          (f"SELECT approx_top_k(v, 9223372036854775807) {rows}", "22023: tamis: k is too big"),
          (f"SELECT tamis_count_agg(v, 1, 0) {rows}", "22023: tamis: bytes must be above 0"),
          (f"SELECT tamis_count_agg(v, 1, 1) {rows}", "22023: tamis: "),
          (f"SELECT tamis_count_agg(v, -1) {rows}", "22023: tamis: a weight must not be negative"),
          (f"SELECT tamis_seal_agg(v, 1e-17) {rows}", "22023: tamis: "),
          *[(f"SELECT tamis_filter_agg(v, 10, 0.01, '{kind}') {rows}",
             f"22023: tamis: a {kind} is a sketch, not a filter")
            for kind in ("tally", "top", "distinct", "count-min", "count-sketch", "signed-tally")],
          *[(f"SELECT tamis_filter_agg(v, 10, 0.01, '{kind}') {rows}",
             f"22023: tamis: rows do not make a filter of kind {kind}")
            for kind in ("window", "exact", "private")])


def test_weights(_, db):
    """A row without a weight is ignored, a weight of 0 adds nothing, and great ones do not wrap."""
    check(db, ("SELECT tamis_estimate(tamis_count_agg(v, w), 'a')"
               " FROM (VALUES ('a', 5), ('a', NULL), ('b', 7), ('a', 0), (NULL, 9)) s(v, w)", 5),
          ("SELECT (tamis_info(tamis_count_agg(v, w))->>'weight')::int"
           " FROM (VALUES ('a', 5), ('a', NULL), ('b', 7), (NULL, 9)) s(v, w)", 12),
          ("SELECT tamis_estimate(tamis_count_agg(v, w), 'b')"
           " FROM (VALUES ('b', 7), ('a', NULL), ('b', NULL), ('b', 1)) s(v, w)", 8),
          ("SELECT tamis_estimate(tamis_count_agg('a'::text, 9223372036854775807), 'a')"
           " FROM generate_series(1, 3)", 2**63 - 1),
          ("SELECT length(tamis_count_agg(v, 1, 5000)::bytea) <= 5000"
           " FROM generate_series(1, 9) v", True),
          ("SELECT length(tamis_count_agg(v)::bytea) FROM generate_series(1, 9) v", 1 << 20))


def test_top(_, db):
    """k limits the list of approx_top_k, and is what a top has room for at least."""
    zipf = "FROM generate_series(1, 500) i, generate_series(1, 500 / i)"
    rows = ask(db, f"SELECT t.* FROM (SELECT approx_top_k(i, 4) a {zipf}) s, unnest(a) t")
    assert rows == [("1", 500, 500, 500), ("2", 250, 250, 250), ("3", 166, 166, 166),
                    ("4", 125, 125, 125)], rows
    check(db, (f"SELECT array_length(approx_top_k(i, 1000), 1) {zipf}", 500),
          (f"SELECT array_length(approx_top_k(i, 1), 1) {zipf}", 1),
          (f"SELECT (approx_top_k('item ' || i, 2))[2].item {zipf}", "item 2"),
          (f"SELECT (SELECT count(*) FROM tamis_list(tamis_top_agg(i, 7))) {zipf}", 500),
          (f"SELECT (tamis_info(tamis_top_agg(i, 20000))->>'entries')::int >= 20000 {zipf}", True))


def test_syntax(_, db):
    """DISTINCT, ORDER BY, FILTER, HAVING, GROUPING SETS, and two aggregates that share a state."""
    rows = "(VALUES (1, 'a'), (1, 'b'), (2, 'a'), (2, 'a'), (2, NULL)) s(g, v)"
    check(db, (f"SELECT tamis_estimate(tamis_count_agg(DISTINCT v), 'a') FROM {rows}", 1),
          (f"SELECT tamis_estimate(tamis_count_agg(v ORDER BY g DESC), 'a') FROM {rows}", 3),
          (f"SELECT approx_count_distinct(v) FILTER (WHERE g = 2) FROM {rows}", 1),
          (f"SELECT approx_count_distinct(DISTINCT v ORDER BY v) FROM {rows}", 2),
          (f"SELECT tamis_estimate(tamis_count_agg(v, g ORDER BY g), 'a') FROM {rows}", 5),
          (f"SELECT g FROM {rows} GROUP BY g HAVING approx_count_distinct(v) = 2", 1),
          (f"SELECT tamis_cardinality(tamis_distinct_agg(v)) + approx_count_distinct(v)"
           f" + tamis_cardinality(tamis_distinct_agg(v, 0.01)) FROM {rows}", 6))
    got = ask(db, f"SELECT g, approx_count_distinct(v), tamis_cardinality(tamis_distinct_agg(v))"
                  f" FROM {rows} GROUP BY ROLLUP (g) ORDER BY g")
    assert got == [(1, 2, 2), (2, 1, 1), (None, 2, 2)], got
    got = ask(db, f"SELECT grouping(g, v), g, v, tamis_seal_agg(v, 0.01) @> 'a' FROM {rows}"
                  " GROUP BY GROUPING SETS ((g), (v), ()) ORDER BY 1, g, v")
    assert got == [(1, 1, None, True), (1, 2, None, True), (2, None, "a", True),
                   (2, None, "b", False), (2, None, None, False), (3, None, None, True)], got


def test_windows(_, db):
    """As window functions, the aggregates have running results: each is the result for the rows so
    far, of groups that begin small and leave that state."""
    for maker in MAKERS:
        wrong = ask(db, f"""WITH r AS (SELECT v, {maker} OVER (ORDER BY v) f
                FROM generate_series(1, 1500) v)
            SELECT v FROM r WHERE v % 100 IN (1, 50) AND NOT (f @> 1 AND f @> v
                AND f::bytea = (SELECT {maker}::bytea FROM generate_series(1, r.v) v))""")
        assert wrong == [], (maker, wrong)
    rows = ask(db, """SELECT v, approx_count_distinct(v / 2) OVER (ORDER BY v),
        (approx_top_k(v / 500, 1) OVER (ORDER BY v DESC))[1].item
        FROM generate_series(0, 1499) v""")
    assert all(n == v // 2 + 1 and item == "2" for v, n, item in rows if v >= 1000), rows
    # A frame that loses rows is computed anew.
    assert ask(db, """SELECT v FROM (SELECT v, approx_count_distinct(v) OVER (ORDER BY v
            ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) n FROM generate_series(1, 50) v) s
        WHERE n <> least(v, 3)""") == []
    rows = ask(db, """SELECT g, tamis_cardinality(tamis_distinct_agg(v) OVER (PARTITION BY g))
        FROM (SELECT v % 3 g, v FROM generate_series(1, 300) v) s""")
    assert len(rows) == 300 and {n for _, n in rows} == {100}


def test_overfull(_, db):
    """More items than planned: a warning up to twice the planned rate, and an error above it."""
    for kind in ("blocked", "bloom", "partitioned"):
        db.notices.clear()
        check(db, (f"SELECT tamis_filter_agg(i, 1000, 0.01, '{kind}') @> 7"
                   " FROM generate_series(1, 1100) i", True))
        assert [n for n in db.notices if "more items than planned" in n], kind
        db.notices.clear()
        check(db, (f"SELECT tamis_filter_agg(i, 1000, 0.01, '{kind}') @> 7"
                   " FROM generate_series(1, 900) i", True))
        assert db.notices == [], kind
    for kind in ("auto", "blocked", "bloom", "partitioned", "counting", "pair"):
        fails(db, (f"SELECT tamis_filter_agg(i, 1000, 0.01, '{kind}')"
                   " FROM generate_series(1, 3000) i", "54000: tamis: 1000 items were planned"))
    fails(db, ("SELECT tamis_filter_agg(i, 1000, 0.01, 'cuckoo') FROM generate_series(1, 3000) i",
               "54000: tamis: "))
    # So it is if a filter grows by tamis_add, tamis_merge or tamis_union_agg.
    ask(db, "CREATE TABLE f AS SELECT g, tamis_filter_agg(g * 900 + i, 1000, 0.01) f"
            " FROM generate_series(0, 4) g, generate_series(1, 900) i GROUP BY g")
    ask(db, "CREATE TABLE few AS SELECT tamis_filter_agg(-i, 1000, 0.01) f"
            " FROM generate_series(1, 200) i")
    both = "(SELECT f FROM f WHERE g = {}) || (SELECT f FROM {})"
    full = "54000: tamis: 1000 items were planned"
    for query in ("SELECT tamis_union_agg(f) FROM f",
                  "SELECT " + both.format(1, "f WHERE g = 2"),
                  """DO $$ DECLARE t tamis := tamis_empty('blocked', 1000, 0.01); BEGIN
                      FOR i IN 1..3000 LOOP t := tamis_add(t, i); END LOOP; END $$"""):
        fails(db, (query, full))
    db.notices.clear()
    check(db, ("SELECT (" + both.format(0, "few") + ") @> 7", True),
          ("SELECT tamis_union_agg(f) @> 7 FROM (SELECT f FROM f WHERE g = 0 UNION ALL"
           " SELECT f FROM few) s", True))
    assert len([n for n in db.notices if "more items than planned" in n]) == 2, db.notices
    for kind in ("growing", "ribbon"):  # these have room for all
        check(db, (f"SELECT tamis_filter_agg(i, 1000, 0.01, '{kind}') @> 2999"
                   " FROM generate_series(1, 3000) i", True))


def test_one_gigabyte(_, db):
    """A plan that no value can hold is an error that names its size, before memory is taken."""
    pid = value(db, "SELECT pg_backend_pid()")
    ask(db, "SELECT tamis_filter_agg(1, 10, 0.1), tamis_top_agg(1), tamis_seal_agg(1, 0.1)")
    before = status_of(pid, "VmPeak")
    pattern = ("54000: tamis: this takes ([0-9]+) bytes, but a value of this database has at most "
               "1073741819")
    for call in (*[f"tamis_filter_agg(1, 2000000000, {rate_of(kind)}, '{kind}')"
                   for kind in MERGED + NOT_MERGED],
                 "tamis_top_agg(1, 4000000)", "approx_top_k(1, 4000000)",
                 "tamis_count_agg(1, 1, 2000000000)", "tamis_empty('blocked', 2000000000, 0.01)",
                 "tamis_empty('tally', bytes => 3000000000)"):
        message = error(db, f"SELECT {call}")
        found = re.fullmatch(pattern, message)
        assert found and 1 << 30 <= int(found[1]) < 1 << 36, (call, message)
    grown = status_of(pid, "VmPeak") - before
    assert grown < 16 << 10, f"{grown} KiB"
    fails(db, ("SELECT tamis_distinct_agg(1, 0.00001)", "22023: tamis: "))
    # A value that is only a little smaller than the limit can be made and stored.
    if os.environ.get("TAMIS_SQL_DEEP") == "1":
        ask(db, "CREATE TABLE big AS"
                " SELECT tamis_empty('bloom', bytes => 1073700000, fpr => 0.01) f")
        check(db, ("SELECT length(f::bytea) > 1073600000 AND NOT f @> 'x' FROM big", True),
              ("SELECT tamis_add(f, 'x') @> 'x' FROM big", True))
        fails(db, ("SELECT f::text FROM big", "54000: tamis: the text of this value takes "))


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")])
