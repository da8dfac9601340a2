"""Every function, operator, cast and domain of the PostgreSQL extension, and their errors."""
import base64
import json
import os
import pathlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from postgres_server import SOURCE, ask, error, main, value  # noqa: E402

MEMBERS = "generate_series(1, 1000) i"
OTHERS = "generate_series(1000001, 1001000) i"


def check(db, *pairs):
    """Each pair is a query and its only value."""
    for query, expected in pairs:
        got = value(db, query)
        assert got == expected and type(got) is type(expected), (query, got, expected)


def fails(db, *pairs):
    """Each pair is a query that fails, and the beginning of its SQLSTATE and message."""
    for query, expected in pairs:
        got = error(db, query)
        assert got.startswith(expected), (query, got, expected)
    check(db, ("SELECT 1", 1))


def make_values(db):
    """A table f of one row: a filter, a sealed one, a distinct, a tally and a top of 1 to 1000, and
    a top of the same in which n occurs 1000/n times."""
    ask(db, f"""CREATE TABLE f AS SELECT tamis_filter_agg(i, 1000, 1e-6) f,
        tamis_seal_agg(i, 1e-6) r, tamis_distinct_agg(i) d, tamis_count_agg(i) c,
        tamis_top_agg(i) t, (SELECT tamis_top_agg(i) FROM {MEMBERS},
                             generate_series(1, 1000 / i)) z FROM {MEMBERS}""")


def test_type(_, db):
    """Text is base64 of the image, the binary form and bytea are the image itself."""
    make_values(db)
    for column in "frdctz":
        image = bytes(value(db, f"SELECT {column}::bytea FROM f"))
        text = value(db, f"SELECT {column}::text FROM f")
        assert base64.b64decode(text, validate=True) == image and image[1:6] == b"TAMIS"
        assert bytes(value(db, f"SELECT tamis_send({column}) FROM f")) == image
        assert bytes(value(db, "SELECT %s::tamis::bytea", text)) == image
        assert bytes(value(db, "SELECT %s::bytea::tamis::bytea", image)) == image
        lines = "\n".join(text[at:at + 76] for at in range(0, len(text), 76))
        assert bytes(value(db, "SELECT tamis_in(%s)::bytea", lines)) == image
    ask(db, "CREATE TABLE stored (it tamis, b bytea)")
    ask(db, "INSERT INTO stored (it) SELECT f::bytea FROM f")  # both casts are for assignments
    ask(db, "UPDATE stored SET b = it")
    check(db, ("SELECT it::bytea = b AND b = f::bytea FROM stored, f", True),
          ("SELECT it @> 77 FROM stored", True),
          ("SELECT NULL::tamis::bytea IS NULL AND NULL::bytea::tamis IS NULL", True),
          ("SELECT format_type(atttypid, atttypmod) FROM pg_attribute"
           " WHERE attrelid = 'stored'::regclass AND attname = 'it'", "tamis"))
    fails(db, ("SELECT tamis_cardinality(b) FROM stored", "42883"),
          ("SELECT length(it) FROM stored", "42883"),
          ("SELECT ''::tamis", "22P03: tamis: the file is empty"),
          ("SELECT ''::bytea::tamis", "22P03: tamis: the file is empty"),
          ("SELECT 'AAAA'::tamis", "22P03: tamis: not a Tamis file"),
          ("SELECT 'AAA'::tamis", "22023"), ("SELECT '*'::tamis", "22023"),
          ("SELECT '\\x89'::bytea::tamis", "22P03"),
          ("SELECT f = f FROM f", "42883"))


def test_domains(_, db):
    make_values(db)
    for column in "frdctz":
        sketch = column not in "fr"
        check(db, (f"SELECT tamis_is_sketch({column}) FROM f", sketch))
        right, wrong = ("sketch", "filter") if sketch else ("filter", "sketch")
        check(db, (f"SELECT {column}::tamis_{right}::bytea = {column}::bytea FROM f", True))
        fails(db, (f"SELECT {column}::tamis_{wrong} FROM f", "23514: value for domain tamis_"
                   f"{wrong} violates check constraint"))
    for name, sketch in (("window", False), ("window-of-tally", True), ("private", False),
                         ("window-of-distinct", True), ("exact", False), ("top", True)):
        image = pathlib.Path(SOURCE, f"tests/golden/{name}.tamis").read_bytes()
        assert value(db, "SELECT tamis_is_sketch(%s::bytea::tamis)", image) is sketch, name
    ask(db, "CREATE TABLE kept (filter tamis_filter, sketch tamis_sketch)")
    ask(db, "INSERT INTO kept SELECT f, d FROM f")
    ask(db, "INSERT INTO kept VALUES (NULL, NULL)")
    fails(db, ("INSERT INTO kept SELECT d, d FROM f", "23514"),
          ("INSERT INTO kept SELECT f, f FROM f", "23514"),
          ("UPDATE kept SET sketch = filter", "23514"))
    # What a domain holds is used as the type itself is.
    check(db, ("SELECT filter @> 'x' FROM kept WHERE filter @> '7'", False),
          ("SELECT tamis_cardinality(sketch) FROM kept WHERE sketch IS NOT NULL", 1000),
          ("SELECT tamis_cardinality(tamis_union_agg(sketch)) FROM kept", 1000),
          ("SELECT tamis_cardinality(sketch || d) FROM kept, f WHERE sketch IS NOT NULL", 1000))


def test_contains(_, db):
    """No false negative, few false positives (1e-6 each: 1,000 have one with a probability of
    0.001, but the hashes are fixed), and the same answers as a function and for each type."""
    make_values(db)
    for column in "fr":
        check(db, (f"SELECT count(*) FILTER (WHERE {column} @> i) FROM f, {MEMBERS}", 1000),
              (f"SELECT count(*) FILTER (WHERE {column} @> i) FROM f, {OTHERS}", 0),
              (f"SELECT count(*) FILTER (WHERE tamis_contains({column}, i)) FROM f, {MEMBERS}",
               1000),
              (f"SELECT count(*) FROM f, {MEMBERS} WHERE {column} @> i::text", 1000))
    check(db, ("SELECT f @> '77' FROM f", True), ("SELECT f @> 'x' FROM f", False),
          ("SELECT tamis_contains(f, '77') FROM f", True),
          ("SELECT tamis_contains(f, 'x') FROM f", False),
          ("SELECT d @> 77 AND c @> 77 AND t @> 77 FROM f", True),
          ("SELECT d @> 'x' OR c @> 'x' OR t @> 'x' FROM f", False),
          ("SELECT f @> NULL FROM f", None), ("SELECT f @> NULL::int FROM f", None),
          ("SELECT NULL::tamis @> 1", None), ("SELECT tamis_contains(NULL, 1)", None),
          ("SELECT tamis_contains(f, NULL) FROM f", None),
          ("SELECT count(*) FROM (SELECT 7 i UNION ALL SELECT NULL) s, f WHERE f @> i", 1))
    image = value(db, "SELECT f::text FROM f")
    ask(db, "PREPARE q (tamis, text) AS SELECT $1 @> $2")
    ask(db, "PREPARE n (bigint) AS SELECT f @> $1 FROM f")
    for _ in range(8):  # the plan becomes generic after five
        assert ask(db, "EXECUTE q (%s, '1000')", image) == [(True,)]
        assert ask(db, "EXECUTE n (1000)") == [(True,)]
        assert ask(db, "EXECUTE n (1001)") == [(False,)]


def test_estimate(_, db):
    make_values(db)
    check(db, ("SELECT tamis_estimate(c, 77) FROM f", 1),
          ("SELECT tamis_estimate(c, '77') FROM f", 1), ("SELECT tamis_estimate(c, 'x') FROM f", 0),
          ("SELECT tamis_estimate(z, 1) FROM f", 1000),
          ("SELECT tamis_estimate(z, '3') FROM f", 333),
          ("SELECT tamis_estimate(c, NULL) FROM f", None), ("SELECT tamis_estimate(NULL, 1)", None),
          ("SELECT tamis_estimate(tamis_filter_agg(i % 3, 10, 0.01, 'counting'), 1)"
           " FROM generate_series(1, 9) i", 3))
    assert ask(db, "SELECT * FROM f, tamis_estimate_bounds(z, 2) e")[0][-3:] == (500, 500, 500)
    assert ask(db, "SELECT (tamis_estimate_bounds(z, 'x')).* FROM f") == [(0, 0, 0)]
    assert ask(db, "SELECT (tamis_estimate_bounds(NULL, 'x')).*") == [(None, None, None)]
    names = [row[0] for row in ask(db, "SELECT jsonb_object_keys(to_jsonb("
                                       "tamis_estimate_bounds(z, 2))) FROM f")]
    assert sorted(names) == ["count", "lower", "upper"]
    # Each estimate is between its bounds, and the upper one is never too low.
    assert ask(db, f"""SELECT i FROM f, {MEMBERS}, tamis_estimate_bounds(z, i) e
        WHERE NOT (lower <= count AND count <= upper AND upper >= 1000 / i)""") == []
    fails(db, ("SELECT tamis_estimate(f, 1) FROM f", "0A000: tamis: "),
          ("SELECT tamis_estimate(d, 1) FROM f", "0A000: tamis: distinct sketches do not count"),
          ("SELECT tamis_estimate_bounds(r, 1) FROM f", "0A000"))


def test_list(_, db):
    make_values(db)
    rows = ask(db, "SELECT l.* FROM f, tamis_list(z, 3) l")
    assert rows == [("1", 1000, 1000, 1000), ("2", 500, 500, 500), ("3", 333, 333, 333)], rows
    exact = [(str(i), 1000 // i) for i in range(1, 1001)]
    got = [row[:2] for row in ask(db, "SELECT l.* FROM f, tamis_list(z) l")]
    assert sorted(got) == sorted(exact), got[:5]
    assert [n for _, n in got] == sorted((n for _, n in got), reverse=True)
    check(db, ("SELECT count(*) FROM f, tamis_list(z, 0)", 0),
          ("SELECT count(*) FROM f, tamis_list(z, 9223372036854775807)", 1000),
          ("SELECT count(*) FROM tamis_list(NULL)", 0),
          ("SELECT count(*) FROM f, tamis_list(z, NULL)", 0),
          ("SELECT count(*) FROM tamis_list(tamis_empty('top', bytes => 100000))", 0))
    # In the list of columns, in two places, and left before its end.
    rows = ask(db, "SELECT tamis_list(z, 2), tamis_list(t, 2) FROM f")
    assert rows == [("(1,1000,1000,1000)", "(1,1,1,1)"), ("(2,500,500,500)", "(10,1,1,1)")], rows
    assert len(ask(db, "SELECT (tamis_list(z)).item FROM f LIMIT 5")) == 5
    check(db, ("SELECT sum(count)::bigint FROM (SELECT z FROM f, generate_series(1, 5)) s,"
               " tamis_list(z, 1)", 5000))
    fails(db, ("SELECT tamis_list(z, -1) FROM f", "22023: tamis: the number of items"),
          ("SELECT tamis_list(f) FROM f", "0A000: tamis: a blo"),
          ("SELECT * FROM f, tamis_list(c, 1)", "0A000: tamis: a tally keeps no list of items"))


def test_list_texts(_, db):
    """Items that are not text are shown as bytea is, and long ones by their beginning."""
    check(db, (r"SELECT (approx_top_k('\x00ff'::bytea, 1))[1].item", r"\x00ff"),
          (r"SELECT (approx_top_k('\xc3a9'::bytea, 1))[1].item", "é"),
          (r"SELECT (approx_top_k('\xeda080'::bytea, 1))[1].item", r"\xeda080"),
          (r"SELECT (approx_top_k('\x'::bytea, 1))[1].item", ""),
          ("SELECT (approx_top_k(''::text, 1))[1].item", ""),
          ("SELECT (approx_top_k('a,\"(b)\\'::text, 1))[1].item", "a,\"(b)\\"),
          ("SELECT (approx_top_k(repeat('x', 100), 1))[1].item", "x" * 100))
    for text in ("x" * 5000, "é" * 3000, "x" + "é" * 3000, "€" * 2000, "\U0001f642" * 1500 + "a"):
        item = value(db, "SELECT (approx_top_k(%s::text, 1))[1].item", text)
        assert len(item) > 1000 and text.startswith(item), item[:20]


def test_cardinality(_, db):
    make_values(db)
    check(db, ("SELECT tamis_cardinality(d) FROM f", 1000),
          ("SELECT abs(tamis_cardinality(f) - 1000) < 30 FROM f", True),
          ("SELECT tamis_cardinality(tamis_empty('distinct', error => 0.1))", 0),
          ("SELECT tamis_cardinality(tamis_empty('bloom', 100, 0.01))", 0),
          ("SELECT tamis_cardinality(NULL)", None))
    fails(db, ("SELECT tamis_cardinality(r) FROM f", "0A000: tamis: the cells of ribbon"),
          ("SELECT tamis_cardinality(c) FROM f", "0A000: tamis: the cells of tally"))


def test_info(_, db):
    make_values(db)
    info = {column: value(db, f"SELECT tamis_info({column}) FROM f") for column in "frdctz"}
    assert info["f"]["items"] == 1000 and info["f"]["planned_items"] == 1000
    assert 0 < info["f"]["fpr_planned"] <= 1e-6 and not info["f"]["overfull"]
    assert info["r"]["kind"] == "ribbon" and info["r"]["sealed"] and info["r"]["items"] == 1000
    assert info["d"]["distinct"] == 1000 and info["d"]["exact"] and info["d"]["confidence"] == 1
    assert info["c"]["kind"] == "tally" and info["c"]["weight"] == 1000
    assert info["t"]["listed"] == 1000 and info["t"]["entries"] >= 1000
    assert info["z"]["weight"] == sum(1000 // i for i in range(1, 1001))
    for column, facts in info.items():
        size = value(db, f"SELECT length({column}::bytea) FROM f")
        assert facts["bytes"] == size and facts["hash"] == "xxh3-128" and not facts["keyed"]
        assert facts["seed"] == 0 and facts["format"] == 1 and facts["generation"] == 1
        assert json.loads(value(db, f"SELECT tamis_info({column})::text FROM f")) == facts
    check(db, ("SELECT tamis_info(NULL)", None),
          ("SELECT jsonb_typeof(tamis_info(f)->'fpr_now') FROM f", "number"))


def test_compare(_, db):
    """The comparison of two sets of 1,000 that share 500; an exact one for small sketches. A bloom
    filter of these sizes estimates the union with a standard error below 1 %, so ten of them are
    exceeded with a probability below 1e-20."""
    ask(db, """CREATE TABLE two AS SELECT tamis_distinct_agg(i) d, tamis_filter_agg(i, 2000, 0.01) f
        FROM generate_series(1, 1000) i UNION ALL
        SELECT tamis_distinct_agg(i), tamis_filter_agg(i, 2000, 0.01)
        FROM generate_series(501, 1500) i""")
    both = "(SELECT {0} FROM two LIMIT 1), (SELECT {0} FROM two OFFSET 1)"
    got = value(db, f"SELECT tamis_compare({both.format('d')})")
    assert got["union"] == 1500 and got["common"] == 500 and got["first_only"] == 500, got
    assert got["second_only"] == 500 and abs(got["jaccard"] - 1 / 3) < 1e-9, got
    got = value(db, f"SELECT tamis_compare({both.format('f')})")
    assert abs(got["union"] - 1500) < 150 and got["union_low"] <= 1500 <= got["union_high"], got
    assert got["common_low"] <= 500 <= got["common_high"], got
    check(db, ("SELECT tamis_compare(NULL, f) FROM two LIMIT 1", None),
          ("SELECT tamis_compare(f, NULL) FROM two LIMIT 1", None))
    fails(db, ("SELECT tamis_compare(f, d) FROM two", "42804: tamis: one is "))


def test_empty(_, db):
    for kind in ("auto", "blocked", "bloom", "partitioned", "counting", "pair", "cuckoo", "fuse",
                 "ribbon", "growing"):
        rate = 1 / 256 if kind == "fuse" else 0.01
        info = value(db, "SELECT tamis_info(tamis_empty(%s, 1000, %s))", kind, rate)
        assert info["kind"] == (kind if kind != "auto" else "blocked") and info["items"] == 0, info
        assert value(db, "SELECT tamis_empty(%s, 1000, %s) @> 'x'", kind, rate) is False, kind
    for kind in ("count-min", "count-sketch", "tally", "top", "signed-tally", "distinct"):
        info = value(db, "SELECT tamis_info(tamis_empty(%s, bytes => 100000))", kind)
        assert info["kind"] == kind and info["bytes"] <= 100000, info
    check(db, ("SELECT tamis_info(tamis_empty('bloom', 1000, bytes => 2000))->>'kind'", "bloom"),
          ("SELECT tamis_info(tamis_empty('distinct', error => 0.02))->>'kind'", "distinct"),
          ("SELECT tamis_info(tamis_empty('count-min', error => 0.01))->>'kind'", "count-min"),
          ("SELECT tamis_info(tamis_empty('top', 10, bytes => 100000))->>'kind'", "top"),
          ("SELECT tamis_empty(NULL, 1000, 0.01)", None))
    fails(db, ("SELECT tamis_empty('none', 1000, 0.01)", '22023: tamis: there is no kind "none"'),
          ("SELECT tamis_empty('', 1000, 0.01)", '22023: tamis: there is no kind ""'),
          ("SELECT tamis_empty('blocked', 1000)", "22023: tamis: a plan needs two of"),
          ("SELECT tamis_empty('blocked', 0, 0.01)", "22023: tamis: items must be above 0"),
          ("SELECT tamis_empty('blocked', -1, 0.01)", "22023: tamis: items must be above 0"),
          ("SELECT tamis_empty('tally', bytes => -1)", "22023: tamis: bytes must be above 0"),
          ("SELECT tamis_empty('blocked', 1000, 'NaN')", "22023: tamis: the false-positive rate"),
          ("SELECT tamis_empty('blocked', 1000, 1)", "22023: tamis: the false-positive rate"),
          ("SELECT tamis_empty('distinct', error => 'NaN')", "22023: tamis: the error must"),
          ("SELECT tamis_empty('distinct', 10, error => 0.1)", "22023: tamis: a sketch has no"),
          ("SELECT tamis_empty('blocked', 1000000, 0.0001, 1000)", "22023: tamis: "),
          ("SELECT tamis_empty('top')", "22023: tamis: a plan needs"),
          *[(f"SELECT tamis_empty('{kind}', 1000, 0.01)", f"22023: tamis: rows do not make a filter"
             f" of kind {kind}") for kind in ("window", "exact", "private")])


def test_add(_, db):
    """A change makes a new value; the old one stays."""
    make_values(db)
    check(db, ("SELECT tamis_add(f, 'x') @> 'x' FROM f", True), ("SELECT f @> 'x' FROM f", False),
          ("SELECT tamis_add(f, 5000) @> 5000 AND tamis_add(f, 5000) @> 77 FROM f", True),
          ("SELECT tamis_cardinality(tamis_add(d, 'x')) FROM f", 1001),
          ("SELECT tamis_cardinality(tamis_add(d, 77)) FROM f", 1000),
          ("SELECT tamis_add(d, 77)::bytea = d::bytea FROM f", True),
          ("SELECT tamis_estimate(tamis_add(c, 77), 77) FROM f", 2),
          ("SELECT tamis_estimate(tamis_add(c, 'x', 40), 'x') FROM f", 40),
          ("SELECT tamis_estimate(tamis_add(c, 77, 0), 77) FROM f", 1),
          ("SELECT tamis_estimate(tamis_add(tamis_empty('signed-tally', bytes => 9000), 'x', -4),"
           " 'x')", -4),
          ("SELECT (tamis_list(tamis_add(t, 'x', 3), 1)).item FROM f", "x"),
          ("SELECT tamis_add(f, NULL) FROM f", None), ("SELECT tamis_add(NULL, 1)", None),
          ("SELECT tamis_add(c, 1, NULL) FROM f", None),
          # Changes of a value do not count as generations: a repeated one gives the same bytes.
          ("SELECT tamis_add(f, 77)::bytea = f::bytea FROM f", True))
    # One by one is the same as at once.
    ask(db, """DO $$ DECLARE t tamis := tamis_empty('distinct', error => 0.01); BEGIN
        FOR n IN 1..1000 LOOP t := tamis_add(t, n); END LOOP;
        ASSERT t::bytea = (SELECT d::bytea FROM f); END $$""")
    fails(db, ("SELECT tamis_add(r, 'x') FROM f", "55000: tamis: "),
          ("SELECT tamis_add(f, 'x', 2) FROM f", "0A000: tamis: "),
          ("SELECT tamis_add(c, 'x', -2) FROM f", "0A000: tamis: "),
          ("SELECT tamis_add(d, 'x', 2) FROM f", "0A000: tamis: "),
          ("SELECT tamis_add(f, 1.5::float8) FROM f", "42804: tamis: values of type double"))


def test_merge(_, db):
    ask(db, """CREATE TABLE two AS SELECT tamis_distinct_agg(i) d,
        tamis_filter_agg(i, 2000, 1e-6) f, tamis_count_agg(i) c, tamis_top_agg(i) t,
        tamis_seal_agg(i, 0.01) r
        FROM generate_series(1, 1000) i UNION ALL
        SELECT tamis_distinct_agg(i), tamis_filter_agg(i, 2000, 1e-6), tamis_count_agg(i),
        tamis_top_agg(i), tamis_seal_agg(i, 0.01) FROM generate_series(501, 1500) i""")
    both = "(SELECT {0} FROM two LIMIT 1){1}(SELECT {0} FROM two OFFSET 1)"
    for column in "dfct":
        for query in (f"SELECT tamis_merge({both.format(column, ', ')})",
                      "SELECT " + both.format(column, " || "),
                      f"SELECT tamis_union_agg({column}) FROM two"):
            # Materialized, or the planner would merge again for each row.
            check(db, (f"""WITH s(m) AS MATERIALIZED ({query})
                SELECT count(*) FROM s, generate_series(1, 1500) i WHERE m @> i""", 1500))
            if column in "ct":
                check(db, (f"SELECT tamis_estimate(m, 700) FROM ({query}) s(m)", 2),
                      (f"SELECT tamis_estimate(m, 7) FROM ({query}) s(m)", 1))
    # 1,500 are more than the 1,024 that are counted exactly; ten standard errors are 8 %.
    check(db, (f"SELECT abs(tamis_cardinality({both.format('d', ' || ')}) - 1500) < 120", True),
          (f"""SELECT ({both.format('d', ' || ')})::bytea = (SELECT tamis_distinct_agg(i)::bytea
               FROM generate_series(1, 1500) i)""", True),
          ("SELECT NULL || d FROM two LIMIT 1", None), ("SELECT d || NULL FROM two LIMIT 1", None))
    fails(db, ("SELECT r || r FROM two", "0A000: tamis: ribbon filters cannot be merged"),
          ("SELECT f || d FROM two", "42804: tamis: one is "),
          ("SELECT c || t FROM two", "42804: tamis: one is tally, the other top"),
          ("SELECT f || tamis_empty('blocked', 9, 0.01) FROM two", "42804: tamis: "),
          ("SELECT tamis_union_agg(r) FROM two", "0A000: tamis: ribbon filters cannot be merged"),
          ("SELECT tamis_union_agg(x) FROM (SELECT f FROM two UNION ALL SELECT d FROM two) s(x)",
           "42804: tamis: one is "))
    check(db, ("SELECT tamis_union_agg(r)::bytea = (SELECT r::bytea FROM two LIMIT 1)"
               " FROM (SELECT r FROM two LIMIT 1) s", True))


def test_places(_, db):
    """Where PostgreSQL calls functions by other ways: arrays, constraints, generated columns,
    indexes, triggers, policies and sorts."""
    make_values(db)
    literal = value(db, "SELECT quote_literal(f::text) || '::tamis' FROM f")
    check(db, ("SELECT f @> ANY (ARRAY[2000, 77]) FROM f", True),
          ("SELECT f @> ALL (ARRAY[1, 2, 2000]) FROM f", False),
          ("SELECT f @> ANY ('{x,y}'::text[]) FROM f", False),
          ("SELECT f @> ANY ('{x,77}') FROM f", True),
          ("SELECT f @> ANY (ARRAY[date '2024-01-01']) FROM f", False),
          ("SELECT count(*) FROM f, generate_series(1, 9) i WHERE f @> ANY (ARRAY[i, i + 999])", 9))
    fails(db, ("SELECT f @> ANY (ARRAY[1.5::float8]) FROM f", "42804: tamis: values of type "))
    ask(db, f"""CREATE TABLE places (v int CHECK ({literal} @> v), s tamis,
        n bigint GENERATED ALWAYS AS (tamis_cardinality(s)) STORED)""")
    ask(db, f"CREATE INDEX low ON places (v) WHERE {literal} @> v")
    ask(db, "CREATE INDEX number ON places (tamis_cardinality(s))")
    ask(db, "INSERT INTO places SELECT i, tamis_distinct_agg(j) FROM generate_series(1, 50) i,"
            " generate_series(1, i) j GROUP BY i")
    fails(db, ("INSERT INTO places VALUES (2000, NULL)", "23514"))
    check(db, ("SELECT count(*) FROM places WHERE n = v AND tamis_cardinality(s) = v", 50),
          ("SELECT v FROM places ORDER BY tamis_estimate(tamis_add(tamis_empty('tally',"
           " bytes => 9000), v, v), v) DESC LIMIT 1", 50),
          ("SELECT v FROM places WHERE tamis_cardinality(s) = 33", 33))
    ask(db, """CREATE FUNCTION only_new() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RETURN CASE WHEN (SELECT d FROM f) @> NEW.v THEN NULL ELSE NEW END; END $$""")
    ask(db, "CREATE TABLE ingest (v int)")
    ask(db, "CREATE TRIGGER t BEFORE INSERT ON ingest FOR EACH ROW EXECUTE FUNCTION only_new()")
    ask(db, "INSERT INTO ingest SELECT i * 100 FROM generate_series(1, 20) i")
    check(db, ("SELECT count(*) FROM ingest", 10))


def test_internals(_, db):
    """The functions behind the aggregates cannot be called."""
    for call in ("tamis_final(NULL)", "tamis_combine(NULL, NULL)", "tamis_serialize(NULL)",
                 "tamis_deserialize('\\x00', NULL)", "tamis_distinct_final(NULL)",
                 "tamis_top_final(NULL)", "tamis_union_step(NULL, NULL)", "tamis_recv(NULL)",
                 "tamis_distinct_step(NULL, 1)", "tamis_top_step(NULL, 1, 2)",
                 "tamis_seal_step(NULL, 1, 0.1)", "tamis_count_step(NULL, 1, 2, 3)",
                 "tamis_filter_step(NULL, 1, 2, 0.1)"):
        fails(db, (f"SELECT {call}", "42883"))
    check(db, ("SELECT tamis_version() ~ '^[0-9]+[.][0-9]+[.][0-9]+$'", True))


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")])
