"""Random tables: the PostgreSQL extension against exact SQL, in one process and in parallel
workers, in partitions and in many groups.

The tables have fixed seeds and the hashes have none, so that a run repeats exactly. Where a bound
is statistical, the probability that it would fail for another seed is below 1e-9: estimates of a
distinct sketch are about normal, and 7 standard errors are exceeded with a probability of 3e-12; a
binomial number exceeds its mean by 8 standard deviations and 8 with a probability below 1e-10."""
import contextlib
import io
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from postgres_server import ask, main, status_of, value  # noqa: E402
from test_postgres_functions import check  # noqa: E402

DEEP = os.environ.get("TAMIS_SQL_DEEP") == "1"
ERROR = 0.0077  # the standard error of approx_count_distinct
SETTINGS = ("max_worker_processes = 8", "max_parallel_workers = 8", "work_mem = '32MB'")
PARALLEL = ("SET parallel_setup_cost = 0", "SET parallel_tuple_cost = 0",
            "SET min_parallel_table_scan_size = 0", "SET max_parallel_workers_per_gather = 2",
            "SET parallel_leader_participation = on")
SERIAL = ("SET max_parallel_workers_per_gather = 0",)


def make_rows(seed, rows, distinct, nulls=0.05):
    """A table `rows` with skewed values v of a type that depends on the seed, the group g, and how
    often w each row counts."""
    rng = random.Random(seed)
    name = rng.choice(("int", "bigint", "text", "numeric", "uuid", "date"))
    forms = {"int": str, "bigint": lambda n: str(n * 10**9), "text": lambda n: f"item é {n}",
             "numeric": lambda n: f"{n}.{n % 3}0", "uuid": lambda n: f"{n:032x}",
             "date": lambda n: f"{1000 + n // 365}-{n // 28 % 12 + 1:02}-{n % 28 + 1:02}"}
    out = []
    for _ in range(rows):
        n = int(distinct * rng.random()**3)  # the cube makes a few values frequent
        v = forms[name](n) if rng.random() >= nulls else "\\N"
        out.append(f"{v}\t{rng.randrange(50)}\t{rng.choice(('1', '3', '0', chr(92) + 'N'))}\n")
    return name, "".join(out)


def fill(db, seed, rows, distinct, table="rows", nulls=0.05):
    name, text = make_rows(seed, rows, distinct, nulls)
    ask(db, f"DROP TABLE IF EXISTS {table}")
    ask(db, f"CREATE TABLE {table} (v {name}, g int, w int)")
    with db.cursor() as cursor:
        cursor.copy_expert(f"COPY {table} FROM STDIN", io.StringIO(text))
    ask(db, f"ANALYZE {table}")
    return name


def near(estimate, exact):
    """Whether a distinct count is right; up to 1,024 it must be exact."""
    return estimate == exact if exact <= 1024 else abs(estimate - exact) <= 7 * ERROR * exact


def compare(db):
    """Every aggregate of the table against the exact answer."""
    exact, approx = ask(db, "SELECT count(DISTINCT v), approx_count_distinct(v) FROM rows")[0]
    assert near(approx, exact), (approx, exact)
    groups = ask(db, "SELECT count(DISTINCT v), approx_count_distinct(v) FROM rows GROUP BY g")
    assert all(near(approx, exact) for exact, approx in groups), groups
    # IN and EXISTS: what the filter excludes is not there, and a second look makes it exact.
    for maker in ("tamis_seal_agg(v, 0.01)", f"tamis_filter_agg(v, {exact + 1}, 0.01)",
                  f"tamis_filter_agg(v, {exact + 1}, 0.01, 'cuckoo')"):
        ask(db, "DROP TABLE IF EXISTS f")
        ask(db, f"CREATE TABLE f AS SELECT {maker} f FROM rows WHERE g < 25")
        check(db, ("""SELECT count(*) FROM rows, f WHERE NOT f @> v
            AND v IN (SELECT v FROM rows WHERE g < 25)""", 0),
              ("""SELECT (SELECT count(*) FROM rows, f WHERE f @> v
                AND v IN (SELECT v FROM rows WHERE g < 25)) =
                (SELECT count(*) FROM rows WHERE v IN (SELECT v FROM rows WHERE g < 25))""", True))
        others, found = ask(db, """SELECT count(*), count(*) FILTER (WHERE f @> v) FROM f,
            (SELECT DISTINCT v FROM rows WHERE v NOT IN (SELECT v FROM rows WHERE g < 25
                AND v IS NOT NULL)) s""")[0]
        assert found <= 0.01 * others + 8 * math.sqrt(0.01 * others) + 8, (maker, found, others)
    # Counts are never too low; those of a top have certain bounds on both sides.
    ask(db, "DROP TABLE IF EXISTS f")
    ask(db, "CREATE TABLE f AS SELECT tamis_count_agg(v) c, tamis_count_agg(v, w) w,"
            " tamis_top_agg(v, 50) t FROM rows")
    wrong = ask(db, """SELECT v, n FROM f, (SELECT v, count(*) n, coalesce(sum(w), 0) s FROM rows
            WHERE v IS NOT NULL GROUP BY v) e WHERE (tamis_estimate_bounds(c, v)).upper < n
        OR (tamis_estimate_bounds(w, v)).upper < s OR (tamis_estimate_bounds(t, v)).upper < n""")
    assert wrong == [], wrong[:5]
    check(db, ("SELECT (tamis_info(c)->>'weight')::bigint - (SELECT count(v) FROM rows) FROM f", 0),
          ("SELECT (tamis_info(w)->>'weight')::bigint - (SELECT coalesce(sum(w), 0) FROM rows"
           " WHERE v IS NOT NULL) = 0 FROM f", True))
    compare_top(db)


def key_of(db):
    """How the items of a list are written."""
    name = value(db, "SELECT format_type(atttypid, -1) FROM pg_attribute"
                     " WHERE attrelid = 'rows'::regclass AND attname = 'v'")
    return "trim_scale(v)::text" if name == "numeric" else "v::text"


def compare_top(db, k=20):
    exact = dict(ask(db, f"SELECT {key_of(db)}, count(*) FROM rows WHERE v IS NOT NULL GROUP BY v"))
    rows = ask(db, f"SELECT t.* FROM (SELECT approx_top_k(v, {k}) a FROM rows) s, unnest(a) t")
    assert len(rows) == min(k, len(exact)), len(rows)
    slack = 0
    for item, count, lower, upper in rows:
        assert lower <= exact[item] <= upper and lower <= count <= upper, (item, exact[item])
        slack = max(slack, upper - lower)
    # No item that is missing occurred clearly more often than one that is listed.
    least = min(exact[row[0]] for row in rows)
    listed = {row[0] for row in rows}
    missed = [item for item, n in exact.items() if item not in listed and n > least + slack]
    assert missed == [], missed[:5]


def test_exact(_, db):
    rng = random.Random(2025)
    for seed in range(40 if DEEP else 6):
        rows = rng.choice((100, 3000, 30000))
        fill(db, seed, rows, rng.choice((3, 500, rows // 3 + 1)))
        for setting in PARALLEL if seed % 2 else SERIAL:
            ask(db, setting)
        compare(db)


def test_jit(_, db):
    """Expressions that PostgreSQL compiles give the same answers."""
    for setting in ("jit = on", "jit_above_cost = 0", "jit_inline_above_cost = 0",
                    "jit_optimize_above_cost = 0"):
        ask(db, f"SET {setting}")
    fill(db, 4, 3000, 500)
    check(db, ("SELECT approx_count_distinct(v) - count(DISTINCT v) FROM rows", 0),
          ("SELECT count(*) FROM rows, (SELECT tamis_seal_agg(v, 0.01) f FROM rows) s"
           " WHERE NOT f @> v", 0))


def plan(db, query):
    return "\n".join(row[0] for row in ask(db, f"EXPLAIN (COSTS OFF) {query}"))


def both(db, query):
    """The result of one process and of parallel workers, which must be used."""
    for setting in SERIAL:
        ask(db, setting)
    alone = ask(db, query)
    for setting in PARALLEL:
        ask(db, setting)
    shown = plan(db, query)
    assert "Partial" in shown and "Finalize" in shown and "Workers Planned: 2" in shown, shown
    return alone, ask(db, query)


def test_parallel(_, db):
    """The same bytes for sketches of distinct values and sealed filters, and the same answers for
    all others, from one process and from workers."""
    fill(db, 77, 60000, 20000)
    for call in ("tamis_distinct_agg(v)::bytea", "tamis_distinct_agg(v, 0.1)::bytea",
                 "approx_count_distinct(v)", "tamis_seal_agg(v, 0.01)::bytea",
                 "tamis_filter_agg(v, 20000, 0.00390625, 'fuse')::bytea",
                 "tamis_filter_agg(v, 20000, 0.01, 'ribbon')::bytea"):
        alone, together = both(db, f"SELECT {call} FROM rows")
        assert list(map(bytes_of, alone)) == list(map(bytes_of, together)), call
    alone, together = both(db, "SELECT g, tamis_distinct_agg(v)::bytea,"
                               " tamis_seal_agg(v, 0.01)::bytea FROM rows GROUP BY g ORDER BY g")
    assert list(map(bytes_of, alone)) == list(map(bytes_of, together))
    analyzed = "\n".join(row[0] for row in ask(
        db, "EXPLAIN (ANALYZE, TIMING OFF) SELECT approx_count_distinct(v) FROM rows"))
    assert "Workers Launched: 2" in analyzed, analyzed


def bytes_of(row):
    return tuple(bytes(field) if isinstance(field, memoryview) else field for field in row)


def test_parallel_kinds(_, db):
    """Filters of all kinds from workers have all members; those that are made of bits have the
    same bits, so every answer about others is the same as well."""
    fill(db, 78, 40000, 15000)
    ask(db, "CREATE TABLE others AS SELECT 'other ' || i o FROM generate_series(1, 5000) i")
    for kind in ("blocked", "bloom", "partitioned", "counting", "pair", "growing", "cuckoo", "fuse",
                 "ribbon"):
        # A counting filter counts repeated rows.
        items = 40000 if kind == "counting" else 15000
        call = f"tamis_filter_agg(v, {items}, 0.00390625, '{kind}')"
        alone, together = both(db, f"SELECT {call}::bytea FROM rows")
        answers = []
        for image, in (alone[0], together[0]):
            ask(db, "DROP TABLE IF EXISTS f")
            ask(db, "CREATE TABLE f (f tamis)")
            ask(db, "INSERT INTO f VALUES (%s::bytea)", bytes(image))
            check(db, ("SELECT count(*) FROM rows, f WHERE NOT f @> v", 0),
                  ("SELECT tamis_info(f)->>'kind' FROM f", kind))
            answers.append({o for o, in ask(db, "SELECT o FROM others, f WHERE f @> o")})
            # 5,000 / 256 are 20, or 40 for a pair.
            assert len(answers[-1]) < 40 + 8 * math.sqrt(40), (kind, len(answers[-1]))
        if kind in ("blocked", "bloom", "partitioned", "counting", "fuse", "ribbon"):
            assert answers[0] == answers[1], kind


def test_parallel_counts(_, db):
    """Counts of workers are merged: the sums are exact, and no count is too low."""
    fill(db, 79, 60000, 20000)
    alone, together = both(db, "SELECT tamis_info(tamis_count_agg(v, w))->>'weight',"
                               " tamis_info(tamis_top_agg(v))->>'weight' FROM rows")
    assert alone == together, (alone, together)
    ask(db, PARALLEL[0])
    compare_top(db)
    for setting in PARALLEL:
        ask(db, setting)
    ask(db, "CREATE TABLE c AS SELECT tamis_count_agg(v) c, tamis_top_agg(v) t FROM rows")
    wrong = ask(db, """SELECT v, n FROM c, (SELECT v, count(*) n FROM rows WHERE v IS NOT NULL
            GROUP BY v) e WHERE (tamis_estimate_bounds(c, v)).upper < n
        OR (tamis_estimate_bounds(t, v)).upper < n""")
    assert wrong == [], wrong[:5]
    # Lists of few rows from each worker, which begin as keys and are added again.
    ask(db, "CREATE TABLE few AS SELECT i % 5 v FROM generate_series(1, 100) i")
    ask(db, "ALTER TABLE few SET (parallel_workers = 2)")
    alone, together = both(db, "SELECT approx_top_k(v, 9)::text, approx_count_distinct(v) FROM few")
    assert alone == together == [('{"(0,20,20,20)","(1,20,20,20)","(2,20,20,20)","(3,20,20,20)",'
                                  '"(4,20,20,20)"}', 5)], together


def test_parallel_union(_, db):
    """tamis_union_agg of stored sketches and filters."""
    fill(db, 80, 40000, 15000)
    ask(db, "CREATE TABLE parts AS SELECT g, tamis_distinct_agg(v) d,"
            " tamis_filter_agg(v, 15000, 0.01) f, tamis_count_agg(v, 1, 60000) c FROM rows"
            " GROUP BY g")
    ask(db, "INSERT INTO parts VALUES (99, NULL, NULL, NULL)")
    ask(db, "ALTER TABLE parts SET (parallel_workers = 2)")
    alone, together = both(db, "SELECT tamis_union_agg(d)::bytea FROM parts")
    whole = value(db, "SELECT tamis_distinct_agg(v)::bytea FROM rows")
    assert bytes(alone[0][0]) == bytes(together[0][0]) == bytes(whole)
    alone, together = both(db, "SELECT tamis_info(tamis_union_agg(c))->>'weight' FROM parts")
    assert alone == together == [(str(value(db, "SELECT count(v) FROM rows")),)]
    alone, together = both(db, "SELECT tamis_union_agg(f)::bytea FROM parts")
    assert len(bytes(alone[0][0])) == len(bytes(together[0][0]))
    assert bytes(alone[0][0])[192:] == bytes(together[0][0])[192:]  # all except the head
    # Workers without rows, and a table without any.
    check(db, ("SELECT tamis_union_agg(d) FROM parts WHERE g > 99", None),
          ("SELECT tamis_union_agg(d) FROM parts WHERE g = 99", None),
          ("SELECT tamis_union_agg(d)::bytea = (SELECT d::bytea FROM parts WHERE g = 7)"
           " FROM parts WHERE g IN (7, 99)", True))


def test_partitions(_, db):
    """Partitioned tables, with an aggregate for each partition that is combined."""
    fill(db, 81, 40000, 15000)
    name = value(db, "SELECT format_type(atttypid, -1) FROM pg_attribute"
                     " WHERE attrelid = 'rows'::regclass AND attname = 'v'")
    ask(db, f"CREATE TABLE parted (v {name}, g int, w int) PARTITION BY RANGE (g)")
    for i in range(5):
        ask(db, f"CREATE TABLE parted_{i} PARTITION OF parted FOR VALUES FROM ({i * 10}) TO"
                f" ({i * 10 + 10})")
    ask(db, "INSERT INTO parted SELECT * FROM rows")
    ask(db, "ANALYZE parted")
    expected = [bytes(value(db, f"SELECT {call}::bytea FROM rows"))
                for call in ("tamis_distinct_agg(v)", "tamis_seal_agg(v, 0.01)")]
    query = "SELECT tamis_distinct_agg(v)::bytea, tamis_seal_agg(v, 0.01)::bytea FROM parted"
    for wise in ("on", "off"):
        for workers in (0, 2):
            for setting in (*PARALLEL, f"SET max_parallel_workers_per_gather = {workers}",
                            f"SET enable_partitionwise_aggregate = {wise}"):
                ask(db, setting)
            assert list(bytes_of(ask(db, query)[0])) == expected, (wise, workers)
            if wise == "on":
                shown = plan(db, query)
                assert shown.count("Partial Aggregate") == 5 and "Finalize" in shown, shown
    groups = ask(db, "SELECT g, approx_count_distinct(v), count(DISTINCT v) FROM parted GROUP BY g")
    assert len(groups) == 50 and all(near(approx, exact) for _, approx, exact in groups)


def test_groups(server, _):
    """100,000 groups are cheap: a group takes about what its rows take, in a hash table, sorted,
    and in a hash table that is written to disk. The memory of results is given back."""
    database = "test_groups"
    for calls, groups, rows, limit, setting in (
            ("approx_count_distinct(v) = 3", 100000, 3, 250, "enable_hashagg = on"),
            ("approx_count_distinct(v) = 3", 100000, 3, 120, "enable_hashagg = off"),
            ("approx_count_distinct(v) = 3", 100000, 3, 120, "work_mem = '2MB'"),
            ("tamis_seal_agg(v, 0.01) @> min(v)", 30000, 2, 100, "enable_hashagg = on"),
            ("tamis_filter_agg(v, 100, 0.01) @> max(v)", 30000, 2, 100, "enable_hashagg = on"),
            ("tamis_estimate(tamis_count_agg(v), min(v)) = 1", 300, 3, 60, "enable_hashagg = on"),
            ("(approx_top_k(v, 1))[1].count = 1", 600, 3, 60, "enable_hashagg = on"),
            ("(SELECT count(*) FROM tamis_list(tamis_top_agg(v))) = 3", 300, 3, 60,
             "enable_hashagg = on")):
        with contextlib.closing(server.connect(database)) as db:
            ask(db, f"SET {setting}")
            ask(db, "SET max_parallel_workers_per_gather = 0")
            pid = value(db, "SELECT pg_backend_pid()")
            check(db, (f"""SELECT count(*) FROM (SELECT {calls} good FROM (SELECT i % {groups} g,
                i v FROM generate_series(1, {groups * rows}) i) r GROUP BY g) s WHERE good""",
                       groups))
            peak = status_of(pid, "VmHWM") // 1024
            assert peak < limit, (calls, setting, peak)


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")], *SETTINGS)
