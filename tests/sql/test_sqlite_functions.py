"""The functions and aggregates of the SQLite extension: what they return, also for NULL, and with
which errors they fail."""
import json
import os
import sqlite3
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from sqlite_loaded import GOLDEN, Memory, connect, error, main, one, table  # noqa: E402
from forged import resummed, twins  # noqa: E402

DETERMINISTIC, DIRECTONLY, INNOCUOUS = 0x800, 0x80000, 0x200000
PURE, FILES = DETERMINISTIC | INNOCUOUS, DETERMINISTIC | DIRECTONLY
REGISTERED = {
    ("approx_count_distinct", 1): PURE, ("approx_top_k", 2): PURE, ("tamis_add", 2): PURE,
    ("tamis_add", 3): PURE, ("tamis_cardinality", 1): PURE, ("tamis_compare", 2): PURE,
    ("tamis_contains", 2): PURE, ("tamis_count_agg", 1): PURE, ("tamis_count_agg", 2): PURE,
    ("tamis_count_agg", 3): PURE, ("tamis_distinct_agg", 1): PURE,
    ("tamis_distinct_agg", 2): PURE, ("tamis_empty", 1): PURE, ("tamis_empty", 2): PURE,
    ("tamis_empty", 3): PURE, ("tamis_empty", 4): PURE, ("tamis_empty", 5): PURE,
    ("tamis_estimate", 2): PURE, ("tamis_estimate_bounds", 2): PURE,
    ("tamis_file", 1): FILES, ("tamis_filter_agg", 3): PURE, ("tamis_filter_agg", 4): PURE,
    ("tamis_image", 1): PURE, ("tamis_info", 1): PURE, ("tamis_map_agg", 2): PURE,
    ("tamis_map_agg", 3): PURE, ("tamis_map_agg", 4): PURE, ("tamis_merge", 2): PURE,
    ("tamis_save", 2): FILES, ("tamis_seal_agg", 2): PURE, ("tamis_top_agg", 1): PURE,
    ("tamis_top_agg", 2): PURE, ("tamis_union_agg", 1): PURE, ("tamis_value", 2): PURE,
    ("tamis_version", 0): INNOCUOUS,
}
AGGREGATES = ("tamis_filter_agg(x, 1000, 0.01)", "tamis_filter_agg(x, 1000, 0.01, 'cuckoo')",
              "tamis_seal_agg(x, 0.01)", "tamis_distinct_agg(x)", "tamis_distinct_agg(x, 0.05)",
              "tamis_count_agg(x)", "tamis_count_agg(x, 1)", "tamis_count_agg(x, 1, 10000)",
              "tamis_top_agg(x)", "tamis_top_agg(x, 5)", "tamis_map_agg(x, 1)")
REAL = ("a REAL has no agreed key: cast it to TEXT or INTEGER, in the same way wherever it is "
        "added and looked up")
NOT_AN_IMAGE = "a filter or sketch is a BLOB, or tamis_file(path) as an argument"
DIFFER = "the parameters must be the same in all rows of a group"


def made(db, aggregate, values):
    """The aggregate over these values of x."""
    db.execute("DROP TABLE IF EXISTS made")
    table(db, "made", values)
    return one(db, f"SELECT {aggregate} FROM made")


def test_registered():
    """Everything is there, with the flags that protect users of hostile databases. Loading it again
    changes nothing."""
    db = connect()
    db.enable_load_extension(True)
    from sqlite_loaded import EXTENSION
    db.load_extension(str(EXTENSION)[:-3])  # SQLite appends .so
    found = {(name, arguments): flags for name, arguments, flags in db.execute(
        "SELECT name, narg, flags FROM pragma_function_list "
        "WHERE name LIKE 'tamis%' OR name LIKE 'approx%'")}
    assert found == REGISTERED, found
    assert one(db, "SELECT tamis_version()") == "1.0.0"
    assert error(db, "SELECT tamis_contains(1)").startswith("wrong number of arguments")
    assert "window" in error(db, "SELECT tamis_distinct_agg(x) OVER () FROM (SELECT 1 AS x)")


def test_keys():
    """42, '42' and x'3432' are one key; so are a text and its UTF-8, in databases of any
    encoding."""
    for encoding in ("UTF-8", "UTF-16le", "UTF-16be"):
        db = connect()
        db.execute(f"PRAGMA encoding = '{encoding}'")
        values = [42, -2**63, 2**63 - 1, 0, "é", "", b"\xff\x00", "a\0b"]
        f = made(db, "tamis_filter_agg(x, 100, 1e-9)", values)
        for asked, yes in ((42, 1), ("42", 1), (b"42", 1), (43, 0), ("-9223372036854775808", 1),
                           (2**63 - 1, 1), (2**63 - 2, 0), (b"0", 1), ("é", 1), (b"\xc3\xa9", 1),
                           ("e", 0), ("", 1), (b"", 1), (b"\xff\x00", 1), (b"\xff", 0),
                           ("a\0b", 1), ("a", 0)):
            assert one(db, "SELECT tamis_contains(?, ?)", f, asked) == yes, (encoding, asked)
    f = made(db, "tamis_filter_agg(x, 100, 1e-9)", [b"a"])
    assert one(db, "SELECT tamis_contains(?, '')", f) == 0


def test_encodings():
    """An image that states what its keys are refuses other values."""
    db = connect()
    ints = (GOLDEN / "blocked-int64.tamis").read_bytes()
    added = one(db, "SELECT tamis_add(?, -5)", ints)
    assert one(db, "SELECT tamis_contains(?, -5)", added) == 1
    assert one(db, "SELECT tamis_contains(?, ?)", added, (-5).to_bytes(8, "little", signed=True))
    for call in ("tamis_contains(?, '5')", "tamis_add(?, '5')"):
        assert error(db, "SELECT " + call, ints) == call.split("(")[0] + \
            ": the keys are integers (int64le): cast the value to bigint"
    assert "length of the keys" in error(db, "SELECT tamis_contains(?, x'00')", ints)
    assert one(db, "SELECT tamis_contains(?, CAST('-5' AS bigint))", added) == 1
    caller = (GOLDEN / "bloom-caller.tamis").read_bytes()
    assert error(db, "SELECT tamis_contains(?, 'a')", caller) == \
        "tamis_contains: the keys were hashed by the program that made this image"


def test_reals():
    db = connect()
    f, s = one(db, "SELECT tamis_filter_agg(1, 10, 0.01), tamis_count_agg(1)")
    for name in ("contains", "estimate", "estimate_bounds", "add"):
        assert error(db, f"SELECT tamis_{name}(?, 1.0)", s) == f"tamis_{name}: {REAL}"
    assert error(db, "SELECT tamis_contains(?, 1.5)", f) == f"tamis_contains: {REAL}"
    for aggregate in (*AGGREGATES, "approx_count_distinct(x)", "approx_top_k(x, 3)"):
        assert error(db, f"SELECT {aggregate} FROM (SELECT 0.5 AS x)") == \
            f"{aggregate.split('(')[0]}: {REAL}"


def test_nulls():
    """NULL in, NULL out; aggregates ignore it. Without rows they give NULL, and with nothing but
    NULL something empty."""
    db = connect()
    f = one(db, "SELECT tamis_count_agg(1)")
    for call, arguments in (("contains", 2), ("value", 2), ("estimate", 2),
                            ("estimate_bounds", 2), ("cardinality", 1), ("info", 1),
                            ("compare", 2), ("add", 2), ("add", 3), ("merge", 2),
                            ("image", 1), ("file", 1), ("save", 2)):
        for null in range(arguments):
            values = [f, 1, 1][:arguments]
            if call in ("compare", "merge"):
                values[1] = f
            values[null] = None
            assert one(db, f"SELECT tamis_{call}({', '.join('?' * arguments)})", *values) is None
    assert one(db, "SELECT tamis_empty(NULL, 10, 0.01)") is None
    assert db.execute("SELECT * FROM tamis_list(NULL)").fetchall() == []
    top = one(db, "SELECT tamis_top_agg(1)")
    assert db.execute("SELECT * FROM tamis_list(?, NULL)", (top,)).fetchall() == []
    table(db, "t", [None, None])
    for aggregate in AGGREGATES:
        assert one(db, f"SELECT {aggregate} FROM t WHERE x") is None
        empty = one(db, f"SELECT {aggregate} FROM t")
        if "count" not in aggregate and "top" not in aggregate:
            assert one(db, "SELECT tamis_contains(?, 'a')", empty) == 0, aggregate
        both = one(db, f"SELECT {aggregate} FROM (SELECT NULL AS x UNION ALL SELECT 7)")
        assert both == one(db, f"SELECT {aggregate} FROM (SELECT 7 AS x)") != empty, aggregate
    assert one(db, "SELECT approx_count_distinct(x), approx_top_k(x, 3) FROM t WHERE x") \
        == (0, "[]")
    assert one(db, "SELECT approx_count_distinct(x), approx_top_k(x, 3) FROM t") == (0, "[]")
    assert one(db, "SELECT tamis_union_agg(x) FROM t") is None
    assert one(db, "SELECT tamis_union_agg(x) FROM t WHERE x") is None
    # A row without a weight counts for nothing.
    s = one(db, "SELECT tamis_count_agg(1, NULL) FROM t")
    assert one(db, "SELECT tamis_estimate(?, 1)", s) == 0


def test_filters():
    """Each kind that rows can make answers yes for its members, and for few others: with 20,000
    others and a rate of 1 %, 200 are expected, and 400 are more than 14 standard deviations."""
    db = connect()
    table(db, "t", [f"item-{i}" for i in range(1000)] * 2)
    table(db, "others", [f"other-{i}" for i in range(20000)])
    for kind in (None, "auto", "bloom", "partitioned", "blocked", "counting", "cuckoo", "growing",
                 "fuse", "ribbon", "pair"):
        # Each key has two rows, and counting keeps both of them.
        f = one(db, "SELECT tamis_filter_agg(x, 2000, 0.01, ?) FROM t", kind) if kind else \
            one(db, "SELECT tamis_filter_agg(x, 2000, 0.01) FROM t")
        if kind != "pair":  # whose members can be missed
            assert one(db, "SELECT count(*) FROM t WHERE tamis_contains(?, x)", f) == 2000, kind
        wrong = one(db, "SELECT sum(tamis_contains(?, x)) FROM others", f)
        assert wrong < 400, (kind, wrong)
        info = json.loads(one(db, "SELECT tamis_info(?)", f))
        assert info["kind"] == {None: "blocked", "auto": "blocked"}.get(kind, kind)
        assert info["sealed"] == (kind in ("fuse", "ribbon")) and info["bytes"] == len(f)
    f = one(db, "SELECT tamis_seal_agg(x, 0.01) FROM t")
    assert json.loads(one(db, "SELECT tamis_info(?)", f))["items"] == 1000
    assert f == one(db, "SELECT tamis_filter_agg(x, 5, 0.01, 'ribbon') FROM t")
    assert one(db, "SELECT count(*) FROM t WHERE tamis_contains(?, x)", f) == 2000


def test_plans_of_aggregates():
    db = connect()
    table(db, "t", range(10))
    rate = "the false-positive rate must be above 0 and below 1"
    cases = {
        "tamis_filter_agg(x, 0, 0.01)": "items must be above 0",
        "tamis_filter_agg(x, -1e3, 0.01)": "items must be above 0",
        "tamis_filter_agg(x, NULL, 0.01)": "items must be a whole number",
        "tamis_filter_agg(x, 1.5, 0.01)": "items must be a whole number",
        "tamis_filter_agg(x, 9e99, 0.01)": "items must be a whole number",
        "tamis_filter_agg(x, '10', 0.01)": "items must be a whole number",
        "tamis_filter_agg(x, 10, 0)": rate, "tamis_filter_agg(x, 10, 1)": rate,
        "tamis_filter_agg(x, 10, -0.5)": rate, "tamis_filter_agg(x, 10, NULL)": rate,
        "tamis_filter_agg(x, 10, '1%')": rate, "tamis_seal_agg(x, 2)": rate,
        "tamis_filter_agg(x, 10, 0.01, 'nix')": 'there is no kind "nix"',
        "tamis_filter_agg(x, 10, 0.01, 'auto' || char(0))": "kind contains a NUL",
        "tamis_filter_agg(x, 10, 0.01, NULL)": "kind must be TEXT",
        "tamis_filter_agg(x, 10, 0.01, 7)": "kind must be TEXT",
        "tamis_filter_agg(x, 10, 0.01, 'window')": "rows do not make a filter of kind window",
        "tamis_filter_agg(x, 10, 0.01, 'exact')": "rows do not make a filter of kind exact",
        "tamis_filter_agg(x, 10, 0.01, 'private')": "rows do not make a filter of kind private",
        "tamis_filter_agg(x, 10, 0.01, 'tally')": "a tally is a sketch, not a filter; see "
        "tamis_count_agg, tamis_top_agg and tamis_distinct_agg",
        "tamis_distinct_agg(x, 0)": "error must be above 0",
        "tamis_distinct_agg(x, 'a')": "error must be a number",
        "tamis_distinct_agg(x, 0.5)": "the error must be above 0 and at most 30 %",
        "tamis_count_agg(x, -1)": "a weight must not be negative",
        "tamis_count_agg(x, 1.5)": "a weight must be an INTEGER",
        "tamis_count_agg(x, '1')": "a weight must be an INTEGER",
        "tamis_count_agg(x, 1, 0)": "bytes must be above 0",
        "tamis_count_agg(x, 1, NULL)": "bytes must be a whole number",
        "tamis_top_agg(x, 0)": "k must be above 0", "tamis_top_agg(x, 5000000000)": "k is too big",
        "approx_top_k(x, -3)": "k must be above 0",
        # Those that differ between rows, also in rows whose value is NULL.
        "tamis_filter_agg(x, 10 + x, 0.01)": DIFFER,
        "tamis_filter_agg(x, 10, 0.01 + x / 1e6)": DIFFER,
        "tamis_filter_agg(x, 10, 0.01, iif(x > 5, 'bloom', 'blocked'))": DIFFER,
        "tamis_filter_agg(nullif(x, 9), iif(x = 9, 5, 4), 0.01)": DIFFER,
        "tamis_seal_agg(x, 0.01 + x / 1e6)": DIFFER,
        "tamis_distinct_agg(x, 0.01 + x / 1e6)": DIFFER,
        "tamis_count_agg(x, 1, 10000 + 1000 * x)": DIFFER,
        "tamis_top_agg(x, 5 + x)": DIFFER, "approx_top_k(x, 5 + x)": DIFFER,
    }
    for call, text in cases.items():
        assert error(db, f"SELECT {call} FROM t") == f"{call.split('(')[0]}: {text}", call
    assert one(db, "SELECT tamis_filter_agg(x, 1e3, 0.01) FROM t") == \
        one(db, "SELECT tamis_filter_agg(x, 1000, 0.01) FROM t")
    # An error in one group, after others.
    assert error(db, "SELECT tamis_count_agg(x, 5 - x) FROM t GROUP BY x").endswith("negative")


def test_too_big():
    """The size is in the error, and no memory was taken for it."""
    db, memory = connect(), Memory()
    table(db, "t", range(10))
    memory.peak(reset=True)
    before = memory.used()
    for call in ("tamis_filter_agg(x, 1e9, 0.01)", "tamis_count_agg(x, 1, 2000000000)",
                 "tamis_top_agg(x, 10000000)", "tamis_filter_agg(x, 1e9, 0.01, 'cuckoo')"):
        text = error(db, f"SELECT {call} FROM t")
        size = int(text.split("takes ")[1].split()[0])
        assert text == (f"{call.split('(')[0]}: this takes {size} bytes, but a value of this "
                        "database has at most 1000000000") and size > 10**9, text
    assert "this takes" in error(db, "SELECT tamis_empty('bloom', 1e9, 0.01)")
    assert memory.peak() - before < 500000
    db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 50000)
    assert error(db, "SELECT tamis_filter_agg(x, 1e5, 0.01) FROM t").endswith("at most 50000")
    assert error(db, "SELECT tamis_count_agg(x) FROM t").endswith("at most 50000")
    # A growing filter and a sealed one reach the limit with their keys, not with their plan.
    rows = "WITH t(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM t WHERE x < 100000) "
    for call in ("tamis_seal_agg(x, 0.001)", "tamis_filter_agg(x, 10, 0.01, 'growing')"):
        text = error(db, rows + f"SELECT {call} FROM t")
        assert text.startswith(call.split("(")[0] + ": "), text
    text = error(db, rows + "SELECT tamis_seal_agg(x, 0.001) FROM t")
    assert text.endswith("at most 50000"), text
    assert one(db, "SELECT length(tamis_filter_agg(x, 1e4, 0.01)) FROM t") < 50000


def test_overfull():
    """More items than planned are allowed up to twice the planned rate, in aggregates, adds, merges
    and unions."""
    db = connect()
    table(db, "t", range(3000))
    for kind in ("bloom", "partitioned", "blocked", "counting"):
        f = one(db, "SELECT tamis_filter_agg(x, 1000, 0.01, ?) FROM t WHERE x < 1100", kind)
        info = json.loads(one(db, "SELECT tamis_info(?)", f))
        assert info["overfull"] and info["fpr_now"] <= 2 * info["fpr_planned"], (kind, info)
        text = error(db, "SELECT tamis_filter_agg(x, 1000, 0.01, ?) FROM t", kind)
        assert text.startswith("tamis_filter_agg: 10") and text.endswith(": plan more items") and \
            " items were planned, but there are about " in text, (kind, text)
    halves = [one(db, "SELECT tamis_filter_agg(x, 1000, 0.01) FROM t WHERE x % 3 = ?", i)
              for i in range(3)]
    assert one(db, "SELECT length(tamis_merge(?, ?))", halves[0], halves[0]) == len(halves[0])
    text = error(db, "SELECT tamis_merge(?, ?)", *halves[:2])
    assert text.startswith("tamis_merge: 10") and text.endswith(": plan more items"), text
    text = error(db, "SELECT tamis_union_agg(column1) FROM (VALUES (?), (?), (?))", *halves)
    assert text.startswith("tamis_union_agg: 10") and text.endswith(": plan more items"), text
    f = one(db, "SELECT tamis_filter_agg(x, 1000, 0.01) FROM t WHERE x < 1000")
    for i in range(1000, 3000):
        try:
            f = one(db, "SELECT tamis_add(?, ?)", f, i)
        except sqlite3.Error as failure:
            assert str(failure).startswith("tamis_add: 10") and i > 1050, (i, failure)
            break
    else:
        raise AssertionError("added without end")


def test_sketches():
    db = connect()
    rows = [f"page-{i}" for i in range(1, 101) for _ in range(1000 // i)]
    table(db, "t", rows)
    for aggregate in ("tamis_count_agg(x)", "tamis_count_agg(x, 1, 100000)", "tamis_top_agg(x)",
                      "tamis_top_agg(x, 10)"):
        s = one(db, f"SELECT {aggregate} FROM t")
        for i in (1, 2, 50, 100):
            bounds = json.loads(one(db, "SELECT tamis_estimate_bounds(?, ?)", s, f"page-{i}"))
            assert list(bounds) == ["count", "lower", "upper"]
            assert bounds["count"] == one(db, "SELECT tamis_estimate(?, ?)", s, f"page-{i}")
            assert bounds["lower"] <= 1000 // i <= bounds["upper"], (aggregate, i, bounds)
    weighted = one(db, "SELECT tamis_count_agg(x, 7) FROM t")
    assert one(db, "SELECT tamis_estimate(?, 'page-1')", weighted) == 7000
    assert one(db, "SELECT tamis_estimate(tamis_add(?, 'page-1', 5), 'page-1')", weighted) == 7005
    assert one(db, "SELECT tamis_estimate(tamis_add(?, 'page-1'), 'page-1')", weighted) == 7001
    assert "subtracted" in error(db, "SELECT tamis_add(?, 'page-1', -5)", weighted)
    assert error(db, "SELECT tamis_add(?, 'page-1', 'a')", weighted) == \
        "tamis_add: the weight must be an INTEGER"
    twice = one(db, "SELECT tamis_merge(?1, ?1)", weighted)
    assert one(db, "SELECT tamis_estimate(?, 'page-1')", twice) == 14000
    assert one(db, "SELECT approx_count_distinct(x) FROM t") == 100
    for error_wanted, exact in ((0.3, None), (0.01, 100), (0.0001, 100)):
        d = one(db, "SELECT tamis_distinct_agg(x, ?) FROM t", error_wanted)
        n = one(db, "SELECT tamis_cardinality(?)", d)
        assert n == exact or exact is None and 20 < n < 500, (error_wanted, n)


def test_lists():
    """approx_top_k as JSON and tamis_list as a table; items that are not text."""
    db = connect()
    values = [b"\xff\x01"] * 9 + ['quo"te\\'] * 8 + ["tab\t"] * 7 + [5] * 6 + [b"x\0y"] * 5 + ["é"]
    table(db, "t", values)
    text = one(db, "SELECT approx_top_k(x, 6) FROM t")
    assert json.loads(text) == [
        {"item": item, "count": n, "lower": n, "upper": n} for item, n in
        (("\\xff01", 9), ('quo"te\\', 8), ("tab\t", 7), ("5", 6), ("\\x780079", 5), ("é", 1))]
    assert one(db, "SELECT json_array_length(approx_top_k(x, 2)) FROM t") == 2
    s = one(db, "SELECT tamis_top_agg(x) FROM t")
    rows = [(item, n, n, n) for item, n in
            ((b"\xff\x01", 9), ('quo"te\\', 8), ("tab\t", 7), ("5", 6), (b"x\0y", 5), ("é", 1))]
    assert db.execute("SELECT * FROM tamis_list(?)", (s,)).fetchall() == rows
    assert db.execute("SELECT * FROM tamis_list(?, 2)", (s,)).fetchall() == rows[:2]
    assert db.execute("SELECT * FROM tamis_list(?, 0)", (s,)).fetchall() == []
    assert db.execute("SELECT rowid, item FROM tamis_list(?) WHERE count < 7 ORDER BY item",
                      (s,)).fetchall() == [(4, "5"), (6, "é"), (5, b"x\0y")]
    # Joined with the table of sketches, in either order, and with itself.
    db.execute("CREATE TABLE sketches (s, n)")
    db.execute("INSERT INTO sketches VALUES (?, 2), ((SELECT tamis_top_agg(1)), 5)", (s,))
    for tables in ("sketches, tamis_list(s, n)", "tamis_list(s, n), sketches"):
        assert sorted(map(str, db.execute(f"SELECT item FROM {tables}"))) == \
            sorted(map(str, [(b"\xff\x01",), ('quo"te\\',), ("1",)]))
    assert one(db, "SELECT count(*) FROM tamis_list(?1) AS a JOIN tamis_list(?1) AS b "
                   "ON a.item = b.item", s) == 6
    assert one(db, "SELECT sum(tamis_estimate(?1, item) = count) FROM tamis_list(?1)", s) == 6
    # The beginning of a long item is kept, without half a character.
    s = one(db, "SELECT tamis_top_agg(?)", "é" * 5000)
    assert one(db, "SELECT length(item), item = ? FROM tamis_list(?)", "é" * 2048, s) == (2048, 1)
    s = one(db, "SELECT tamis_top_agg(?)", "a" + "é" * 5000)
    assert one(db, "SELECT item FROM tamis_list(?)", s) == "a" + "é" * 2047
    text = one(db, "SELECT approx_top_k(?, 1)", "a" + "é" * 5000)
    assert json.loads(text)[0]["item"] == "a" + "é" * 2047
    # Items of int64le are integers, as the functions require them.
    ints = bytearray(one(db, "SELECT tamis_empty('top', 10, NULL, 50000)"))
    ints[25] = 2
    ints = resummed(ints)
    for n in (-5, 2**63 - 1, -5, -2**63, -5, -2**63):
        ints = one(db, "SELECT tamis_add(?, ?)", ints, n)
    assert db.execute("SELECT item, count, tamis_estimate(?1, item) FROM tamis_list(?1)",
                      (ints,)).fetchall() == [(-5, 3, 3), (-2**63, 2, 2), (2**63 - 1, 1, 1)]
    s = one(db, "SELECT tamis_top_agg(1)")
    for arguments, reason in (("?, -1", "the number of items must be an INTEGER, and not negative"),
                              ("?, 1.5", "the number of items must be an INTEGER, and not "
                                         "negative"),
                              ("5", NOT_AN_IMAGE), ("x''", "the file is empty")):
        given = (s,) if "?" in arguments else ()
        assert error(db, f"SELECT * FROM tamis_list({arguments})", *given) == \
            f"tamis_list: {reason}"
    assert error(db, "SELECT * FROM tamis_list") == \
        "tamis_list: the argument is a sketch of kind top"
    assert error(db, "CREATE VIRTUAL TABLE a USING tamis_list").startswith("no such module")


def test_wrong_kinds():
    db = connect()
    f, c, d, t, r = one(db, "SELECT tamis_filter_agg(1, 100, 0.01), tamis_count_agg(1), "
                            "tamis_distinct_agg(1), tamis_top_agg(1), tamis_seal_agg(1, 0.01)")
    other = one(db, "SELECT tamis_filter_agg(1, 200, 0.01)")
    for image, name in ((f, "blocked"), (c, "tally"), (d, "distinct")):
        assert error(db, "SELECT * FROM tamis_list(?)", image) == \
            f"tamis_list: a {name} keeps no list of items; a top does"
    for image in (f, d, r):
        assert error(db, "SELECT tamis_estimate(?, 1)", image).startswith("tamis_estimate: ")
    for image in (c, t, r):
        assert error(db, "SELECT tamis_cardinality(?)", image).startswith("tamis_cardinality: ")
    assert error(db, "SELECT tamis_add(?, 1, 2)", f) == \
        "tamis_add: blocked filters do not support weights; use the kind tally"
    assert error(db, "SELECT tamis_add(?, 1)", r) == "tamis_add: the filter is read-only"
    for a, b in ((f, other), (f, c), (c, d), (f, d)):
        for name in ("merge", "compare"):
            assert error(db, f"SELECT tamis_{name}(?, ?)", a, b).startswith(f"tamis_{name}: ")
        assert error(db, "SELECT tamis_union_agg(column1) FROM (VALUES (?), (?))", a,
                     b).startswith("tamis_union_agg: ")
    assert error(db, "SELECT tamis_merge(?1, ?1)", r).startswith("tamis_merge: ")
    assert error(db, "SELECT tamis_compare(?1, ?1)", c).startswith("tamis_compare: ")
    assert error(db, "SELECT tamis_empty('nix')") == 'tamis_empty: there is no kind "nix"'
    assert error(db, "SELECT tamis_empty('blocked')") == \
        "tamis_empty: a plan needs two of: items, fpr, bytes"
    assert error(db, "SELECT tamis_empty('window', 10, 0.01)") == \
        "tamis_empty: rows do not make a filter of kind window"
    assert error(db, "SELECT tamis_empty('blocked', 10, 7)").endswith("above 0 and below 1")
    full = with_bits(f)
    assert error(db, "SELECT tamis_cardinality(?)", full) == \
        "tamis_cardinality: it is too full to estimate how many keys it has"


def with_bits(image):
    """A filter of one section with every bit set."""
    offset, = struct.unpack_from("<Q", image, 128 + 48)
    return resummed(image[:offset] + b"\xff" * (len(image) - offset))


def with_version(image, offset, version):
    """An image of another version of the format: to read it at offset 8, to change it at 10."""
    data = bytearray(image)
    struct.pack_into("<H", data, offset, version)
    return resummed(data)


def test_refused_images():
    """Keyed, newer, damaged and packed images, and bytes that never were an image: every function
    refuses them, and so does the union."""
    db = connect()
    bloom = (GOLDEN / "bloom.tamis").read_bytes()
    damaged = bytearray(bloom)
    damaged[-1] ^= 1
    cases = {(GOLDEN / "blocked-keyed.tamis").read_bytes(): "key",
             with_version(bloom, 8, 2): "a reader of format 2", bytes(damaged): "sum",
             bloom[:-1]: "", bloom + b"\0": "", (GOLDEN / "ribbon-keyed.packed").read_bytes(): "",
             bytes(500): "not a Tamis file", b"": "the file is empty"}
    calls = ["tamis_contains(?, 1)", "tamis_estimate(?, 1)", "tamis_estimate_bounds(?, 1)",
             "tamis_cardinality(?)", "tamis_info(?)", "tamis_add(?, 1)", "tamis_add(?, 1, 1)",
             "tamis_image(?)", "tamis_union_agg(?)"]
    for image, word in cases.items():
        for call in calls:
            text = error(db, "SELECT " + call, image)
            assert text.startswith(call.split("(")[0] + ": ") and word in text, (call, text)
        for call in ("tamis_merge", "tamis_compare"):
            for pair in ((bloom, image), (image, bloom)):
                assert error(db, f"SELECT {call}(?, ?)", *pair).startswith(call + ": ")
        assert error(db, "SELECT * FROM tamis_list(?)", image).startswith("tamis_list: ")
    # An older library must not change what a newer one writes, but it may read it.
    newer = with_version(bloom, 10, 2)
    assert one(db, "SELECT tamis_contains(?, x'')", newer) == 1
    assert error(db, "SELECT tamis_add(?, 1)", newer).startswith("tamis_add: ")
    for value in (5, 2.5, "text"):
        for call in calls:
            assert error(db, "SELECT " + call, value) == f"{call.split('(')[0]}: {NOT_AN_IMAGE}"


def test_kept_images():
    """An image that is kept from an earlier query answers only for exactly its bytes: not for a
    damaged copy, whose header is the same, and not for another image in the same memory."""
    db = connect()
    images = [one(db, "SELECT tamis_filter_agg(?, 100, 1e-9)", i) for i in range(10)]
    db.execute("CREATE TABLE f (i, image)")
    db.executemany("INSERT INTO f VALUES (?, ?)", enumerate(images))
    assert one(db, "SELECT sum(tamis_contains(image, i)), sum(tamis_contains(image, i + 1)) "
                   "FROM f") == (10, 0)
    for cell in (-1, 300):
        damaged = bytearray(images[3])
        damaged[cell] ^= 4
        for call in ("tamis_contains(?, 3)", "tamis_info(?)", "tamis_image(?)"):
            one(db, "SELECT " + call, images[3])
            assert "checksum" in error(db, "SELECT " + call, bytes(damaged))
        assert "checksum" in error(db, "SELECT tamis_contains(column1, 3) FROM (VALUES (?), (?))",
                                   images[3], bytes(damaged))
    # A damaged image of which no undamaged copy is kept, after others of its size.
    other = connect()
    other.execute("CREATE TABLE f (image)")
    damaged = bytearray(images[5])
    damaged[300] ^= 4
    other.executemany("INSERT INTO f VALUES (?)", [(images[3],), (bytes(damaged),)])
    for asked in range(20):
        assert one(other, "SELECT tamis_contains(image, ?) FROM f LIMIT 1", asked) == (asked == 3)
        assert "checksum" in error(other, "SELECT tamis_contains(image, ?) FROM f WHERE rowid = 2",
                                   asked)
    # A parameter that changes from one execution of a statement to the next.
    asked = "SELECT tamis_contains(?, ?)"
    assert [one(db, asked, image, 3) for image in images] == [int(i == 3) for i in range(10)]


def test_equal_headers():
    """Two images with the same header and checksums, but other bits: a query about one of them, in
    a column, is never answered with the bits of the other."""
    db = connect()
    empty = one(db, "SELECT tamis_empty('bloom', 500, NULL, 1000)")
    pair = twins(empty)
    # Keys that only one of them contains, as new connections know, which keep nothing.
    answers = []
    for image in pair:
        fresh = connect()
        answers.append([one(fresh, "SELECT tamis_contains(?, ?)", image, i) for i in range(5000)])
    keys = [i for i in range(5000) if answers[0][i] != answers[1][i]]
    assert len(keys) > 10
    db.execute("CREATE TABLE f (i, image)")
    db.executemany("INSERT INTO f VALUES (?, ?)", [(i, pair[i]) for i in (0, 1, 1, 0, 0, 1)])
    for key in keys:
        got = db.execute("SELECT i, tamis_contains(image, ?) FROM f", (key,)).fetchall()
        assert got == [(i, answers[i][key]) for i in (0, 1, 1, 0, 0, 1)], key
        assert one(db, "SELECT tamis_contains((SELECT image FROM f WHERE i = 1), ?)", key) == \
            answers[1][key]
    # Neither do damaged cells change an answer.
    damaged = bytearray(pair[0])
    damaged[struct.unpack_from("<Q", damaged, 128 + 48)[0]] ^= 0xff
    db.execute("INSERT INTO f VALUES (2, ?)", (bytes(damaged),))
    refused = 0
    for key in range(5000):
        one(db, "SELECT tamis_contains(image, ?) FROM f WHERE rowid = 1", key)
        try:
            assert one(db, "SELECT tamis_contains(image, ?) FROM f WHERE i = 2", key) == \
                answers[0][key]
        except sqlite3.OperationalError as failure:
            assert "checksum" in str(failure)
            refused += 1
    assert 0 < refused < 4000, refused


def test_memory():
    """A connection keeps at most 64 MiB of images, or one that is bigger, and nothing is left when
    it is closed. A hundred thousand groups take no more memory than one."""
    memory = Memory()
    connect().close()
    before = memory.used()
    db = connect()
    for megabytes, n in ((20, 12), (100, 1), (1, 1)):
        for i in range(n):
            assert one(db, "SELECT tamis_contains(tamis_add(tamis_empty('tally', NULL, NULL, ?1), "
                           "?2), ?2)", megabytes << 20, i) == 1
        kept = memory.used() - before
        most = megabytes << 20 if n == 1 and megabytes > 64 else 64 << 20
        assert kept < most + 1000000, (megabytes, kept)
    db.execute("CREATE TABLE f AS SELECT tamis_empty('bloom', 1000, 0.01) AS f")
    assert db.execute("SELECT tamis_contains(f, x) FROM f, (SELECT 1 AS x UNION ALL SELECT 2)"
                      ).fetchall() == [(0,), (0,)]
    db.close()
    assert memory.used() <= before, memory.used() - before

    db = connect()
    db.execute("CREATE TABLE t (g, x)")
    db.execute("WITH n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 299999) "
               "INSERT INTO t SELECT i / 3, i FROM n")
    db.execute("CREATE INDEX by_group ON t (g, x)")
    for aggregate in ("approx_count_distinct(x)", "tamis_cardinality(tamis_distinct_agg(x))"):
        memory.peak(reset=True)
        before = memory.used()
        assert one(db, f"SELECT count(*), sum(n) FROM (SELECT {aggregate} AS n FROM t "
                       "GROUP BY g)") == (100000, 300000)
        assert memory.peak() - before < 200000, (aggregate, memory.peak() - before)


def test_no_memory():
    """Wherever memory ends, the statement fails with that reason or is right, and the connection
    can be used afterwards."""
    memory, db = Memory(), connect()
    table(db, "t", range(2000))
    f, s, top, m = one(db, "SELECT tamis_filter_agg(x, 2000, 0.01), tamis_count_agg(x, 1, 20000), "
                           "tamis_top_agg(x % 10), tamis_map_agg(x, x) FROM t")
    statements = [("SELECT tamis_filter_agg(x, 2000, 0.01) FROM t", ()),
                  ("SELECT tamis_filter_agg(x, 2000, 0.01, 'cuckoo') FROM t", ()),
                  ("SELECT tamis_seal_agg(x, 0.01) FROM t", ()),
                  ("SELECT tamis_map_agg(x, x) FROM t", ()),
                  ("SELECT tamis_value(column1, 5) FROM (VALUES (?1))", (m,)),
                  ("SELECT approx_count_distinct(x) FROM t", ()),
                  ("SELECT approx_top_k(x % 10, 10) FROM t", ()),
                  ("SELECT tamis_union_agg(column1) FROM (VALUES (?1), (?1))", (f,)),
                  ("SELECT tamis_contains(column1, 5) FROM (VALUES (?1))", (f,)),
                  ("SELECT tamis_estimate_bounds(?, 5)", (s,)), ("SELECT tamis_info(?)", (s,)),
                  ("SELECT tamis_add(?, 5)", (f,)), ("SELECT tamis_merge(?1, ?1)", (f,)),
                  ("SELECT tamis_compare(?1, ?1)", (f,)),
                  ("SELECT group_concat(item) FROM tamis_list(?)", (top,))]
    steps, before = 40, memory.used()
    for sql, arguments in statements:
        fresh = connect()
        memory.peak(reset=True)
        need = -memory.used()
        table(fresh, "t", range(2000))
        wanted = one(fresh, sql, *arguments)
        need, refused = need + memory.peak(), 0
        fresh.close()
        for i in range(steps + 10):
            fresh = connect()  # which keeps no image
            table(fresh, "t", range(2000))
            memory.limit(memory.used() + 100 + need * i // steps)
            try:
                got = one(fresh, sql, *arguments)
            except MemoryError:
                got = None
            except sqlite3.Error as failure:
                assert "memory" in str(failure), (sql, failure)
                got = None
            finally:
                memory.limit(0)
            assert got in (None, wanted), (sql, got)
            assert one(fresh, sql, *arguments) == wanted, sql
            refused += got is None
            fresh.close()
        assert 0 < refused < steps and got == wanted, (sql, refused)
        assert memory.used() <= before, (sql, memory.used() - before)


def test_info_and_compare():
    """They print what the command prints; numbers are JSON."""
    db = connect()
    table(db, "t", range(1000))
    a, b = (one(db, "SELECT tamis_filter_agg(x, 1000, 0.01) FROM t WHERE x % 3 <> ?", i)
            for i in (0, 1))
    info = json.loads(one(db, "SELECT tamis_info(?)", a))
    assert info["kind"] == "blocked" and info["items"] in range(640, 668)
    assert one(db, "SELECT json_extract(tamis_info(?), '$.planned_items')", a) == 1000
    same = json.loads(one(db, "SELECT tamis_compare(?1, ?1)", a))
    assert same["jaccard"] == 1 and same["first_only"] is None
    likeness = json.loads(one(db, "SELECT tamis_compare(?, ?)", a, b))
    assert likeness["jaccard_low"] < 1 / 3 < likeness["jaccard_high"]
    assert likeness["union_low"] < 1000 < likeness["union_high"]


def test_empty_and_union():
    """Empty images of every kind that rows can make; unions are those of the library."""
    db = connect()
    for sql in ("'blocked', 100, 0.01", "'bloom', 100, NULL, 2000", "'auto', 100, 0.01",
                "'counting', 100, 0.01", "'cuckoo', 100, 0.01", "'growing', NULL, 0.01",
                "'distinct', NULL, NULL, NULL, 0.02", "'distinct', NULL, NULL, 5000",
                "'tally', NULL, NULL, 10000", "'top', 10, NULL, 50000",
                "'count-min', NULL, NULL, 10000"):
        image = one(db, f"SELECT tamis_empty({sql})")
        assert one(db, "SELECT tamis_contains(?, 'a')", image) == 0, sql
        added = one(db, "SELECT tamis_add(?, 'a')", image)
        assert added != image and one(db, "SELECT tamis_contains(?, 'a')", added) == 1, sql
    table(db, "t", range(2000))
    for aggregate in ("tamis_filter_agg(x, 2000, 0.01, 'counting')", "tamis_distinct_agg(x)"):
        whole = one(db, f"SELECT {aggregate} FROM t")
        union = one(db, f"SELECT tamis_union_agg(f) FROM (SELECT {aggregate} AS f FROM t "
                        "GROUP BY x % 7)")
        assert union == whole, aggregate
        one_by_one = one(db, "SELECT tamis_merge(tamis_merge(?, ?), ?)", *(
            one(db, f"SELECT {aggregate} FROM t WHERE x % 3 = ?", i) for i in range(3)))
        assert one_by_one == whole, aggregate
    # Adds one by one, each with a new image, make the image of one handle.
    for aggregate, empty in (("tamis_filter_agg(x, 50, 0.01)", "'blocked', 50, 0.01"),
                             ("tamis_count_agg(x, 1, 10000)", "'tally', NULL, NULL, 10000"),
                             ("tamis_distinct_agg(x)", "'distinct', NULL, NULL, NULL, 0.01")):
        image = one(db, f"SELECT tamis_empty({empty})")
        for i in range(50):
            image = one(db, "SELECT tamis_add(?, ?)", image, i)
        assert image == one(db, f"SELECT {aggregate} FROM t WHERE x < 50"), aggregate


if __name__ == "__main__":
    main([test_registered, test_keys, test_encodings, test_reals, test_nulls, test_filters,
          test_plans_of_aggregates, test_too_big, test_overfull, test_sketches, test_lists,
          test_wrong_kinds, test_refused_images, test_kept_images, test_equal_headers,
          test_memory, test_no_memory, test_info_and_compare, test_empty_and_union])
