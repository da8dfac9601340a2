"""What a session keeps: the filter of the last call, which must be the right one whatever changes
between two calls, and memory, which must not grow, also after errors and cancelled queries.

TAMIS_SQL_DEEP=1 cancels 1,000 queries instead of 100. The moments are random with a fixed seed, but
what a query does at that moment is up to the machine."""
import contextlib
import os
import random
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import psycopg2  # noqa: E402
from postgres_server import Server, ask, error, main, status_of, value  # noqa: E402
from test_postgres_functions import check  # noqa: E402

CANCELS = 1000 if os.environ.get("TAMIS_SQL_DEEP") == "1" else 100

# A function whose argument PostgreSQL takes for a value of the type without a look, and the bytes
# that the contexts of this session have after its argument was computed.
HELPERS = """
CREATE FUNCTION raw(bytea) RETURNS tamis LANGUAGE internal IMMUTABLE STRICT AS 'byteasend';
CREATE FUNCTION used_after(anyelement) RETURNS bigint LANGUAGE plpgsql VOLATILE AS $$ BEGIN
    RETURN (SELECT sum(total_bytes) FROM pg_backend_memory_contexts); END $$;
"""


def used(db, name=None):
    """The bytes of all memory contexts of the session, or of those with a name."""
    return int(value(db, "SELECT coalesce(sum(total_bytes), 0) FROM pg_backend_memory_contexts"
                         " WHERE name = coalesce(%s, name)", name))


# --- The filter of the last call -----------------------------------------------------------------


def test_variables(_, db):
    """A variable of PL/pgSQL gets other filters of the same length, and the same expression asks
    each: small ones and such that would be stored out of line."""
    for items in (20, 5000):
        ask(db, f"""DO $$ DECLARE f tamis; a tamis; b tamis; r boolean; BEGIN
            a := (SELECT tamis_filter_agg(i, {items}, 1e-6) FROM generate_series(1, 10) i);
            b := (SELECT tamis_filter_agg(i, {items}, 1e-6) FROM generate_series(11, 20) i);
            ASSERT length(a::bytea) = length(b::bytea);
            FOR n IN 1..400 LOOP
                f := CASE WHEN n % 3 = 0 THEN a WHEN n % 3 = 1 THEN b ELSE f END;
                r := f @> 5;
                ASSERT r = (n % 3 = 0), 'a: ' || n;
                r := tamis_contains(f, 15);
                ASSERT r = (n % 3 <> 0), 'b: ' || n;
                f := tamis_add(f, n + 1000);
                r := f @> n + 1000;
                ASSERT r, 'c: ' || n;
                IF n % 3 = 1 THEN f := b; ELSE f := tamis_merge(b, b); END IF;
            END LOOP; END $$""")


def test_rows(_, db):
    """Each row has its own filter of the same length and is asked by the same expression; also a
    join of all filters with all values."""
    for items, count in ((20, 300), (20000, 40)):
        ask(db, "DROP TABLE IF EXISTS f")
        ask(db, "CREATE TABLE f AS SELECT g, tamis_filter_agg(g * 10 + i, "
                f"{items}, 1e-6) f, tamis_count_agg(g, g + 1, 4000) c"
                f" FROM generate_series(1, {count}) g, generate_series(1, 9) i GROUP BY g")
        check(db, (f"SELECT count(*) FROM f, generate_series(1, {count}) h, generate_series(1, 9) i"
                   " WHERE f @> (h * 10 + i) <> (g = h)", 0),
              (f"SELECT count(*) FROM generate_series(1, {count}) h, generate_series(1, 9) i, f"
               " WHERE f @> (h * 10 + i)", count * 9),
              ("SELECT count(*) FROM f WHERE tamis_estimate(c, g) <> (g + 1) * 9", 0),
              ("SELECT count(DISTINCT length(f::bytea)) FROM f", 1),
              # Values that were just made, among stored ones.
              (f"""SELECT count(*) FROM (SELECT g, i, CASE WHEN i % 3 = 0 THEN f ELSE
                    tamis_add(tamis_empty('auto', {items}, 1e-6), g * 10 + i) END f
                  FROM f, generate_series(1, 9) i ORDER BY g, i) s
                  WHERE NOT f @> (g * 10 + i) OR f @> (g * 10 + 10)
                  OR f @> (g * 10 + 1 + i % 9) <> (i % 3 = 0)""", 0))


def test_updates(server, db):
    """The row changes between statements of one transaction, between transactions, and by another
    session; the plan and the function stay."""
    ask(db, "CREATE TABLE f (n int PRIMARY KEY, f tamis)")
    ask(db, "INSERT INTO f SELECT 1, tamis_filter_agg(1, 20000, 1e-6)")
    ask(db, """CREATE FUNCTION has(x int) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
        DECLARE r boolean; g tamis; BEGIN
            SELECT f @> x INTO r FROM f WHERE n = 1;
            g := (SELECT f FROM f WHERE n = 1);
            ASSERT r = (g @> x);
            RETURN r; END $$""")
    ask(db, """DO $$ BEGIN FOR x IN 1..200 LOOP
        ASSERT has(x), 'lost ' || x; ASSERT NOT has(x + 1), 'too soon ' || x;
        IF x % 5 = 0 THEN
            DELETE FROM f;
            INSERT INTO f SELECT 1, tamis_filter_agg(i, 20000, 1e-6)
                FROM generate_series(1, x + 1) i;
        ELSIF x % 7 = 0 THEN
            TRUNCATE f;
            INSERT INTO f SELECT 1, tamis_filter_agg(i, 20000, 1e-6)
                FROM generate_series(1, x + 1) i;
        ELSE UPDATE f SET f = tamis_add(f, x + 1); END IF;
        END LOOP; END $$""")
    ask(db, """CREATE PROCEDURE grow() LANGUAGE plpgsql AS $$ DECLARE r boolean; BEGIN
        FOR x IN 201..300 LOOP
            ASSERT has(x), 'lost ' || x; ASSERT NOT has(x + 1), 'too soon ' || x;
            UPDATE f SET f = tamis_add(f, x + 1);
            IF x % 3 = 0 THEN ROLLBACK; UPDATE f SET f = tamis_add(f, x + 1); END IF;
            COMMIT;
        END LOOP; END $$""")
    ask(db, "CALL grow()")
    ask(db, "PREPARE q AS SELECT f @> $1::int FROM f")
    name = value(db, "SELECT current_database()")
    with contextlib.closing(server.connect(name)) as other:
        for x in range(301, 330):
            assert ask(db, f"EXECUTE q ({x})") == [(True,)]
            assert not value(db, f"SELECT has({x + 1})")
            ask(other, f"UPDATE f SET f = tamis_add(f, {x + 1})")
            ask(other, "VACUUM f")


def test_cursor(server, db):
    """A cursor sees the rows as of its beginning, while they change."""
    ask(db, "CREATE TABLE f AS SELECT g, tamis_filter_agg(g, 20000, 1e-6) f"
            " FROM generate_series(1, 20) g GROUP BY g")
    name = value(db, "SELECT current_database()")
    with contextlib.closing(server.connect(name)) as other, db.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("DECLARE c CURSOR FOR SELECT f @> g, f @> g + 100 FROM f ORDER BY g")
        for _ in range(20):
            cursor.execute("FETCH 1 FROM c")
            assert cursor.fetchall() == [(True, False)]
            ask(other, "UPDATE f SET f = tamis_add(tamis_empty('blocked', 20000, 1e-6), g + 100)")
            ask(other, "VACUUM f")
        cursor.execute("COMMIT")
    check(db, ("SELECT count(*) FROM f WHERE f @> g + 100 AND NOT f @> g", 20))


def test_kept(_, db):
    """During a scan, each call keeps one filter in one context, whose size is that of the filter;
    after it, nothing."""
    ask(db, HELPERS)
    ask(db, "CREATE TABLE f AS SELECT g, tamis_filter_agg(g * 7 + i, 50000, 0.01) f"
            " FROM generate_series(1, 30) g, generate_series(1, 5) i GROUP BY g")
    size = value(db, "SELECT max(length(f::bytea)) FROM f")
    with db.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SET LOCAL enable_material = off")
        cursor.execute("DECLARE c CURSOR FOR SELECT f @> i, tamis_contains(f, i::text)"
                       " FROM generate_series(1, 30000) i, f")
        for _ in range(3):
            cursor.execute("MOVE 250000 FROM c")
            cursor.execute("SELECT count(*), sum(total_bytes) FROM pg_backend_memory_contexts"
                           " WHERE name = 'tamis filter'")
            count, total = cursor.fetchone()
            assert count == 2 and total < 2 * (1.1 * size + 65536), (count, total)
        cursor.execute("COMMIT")
    assert used(db, "tamis filter") == 0


# --- Memory --------------------------------------------------------------------------------------


def test_million_rows(server, db):
    """A million rows take no more memory than a thousand, except for what the result needs."""
    ask(db, HELPERS)
    name = value(db, "SELECT current_database()")
    for call, most in (("approx_count_distinct(i)", 100e3), ("tamis_distinct_agg(i)", 100e3),
                       ("tamis_filter_agg(i, 1000000, 0.01)", 3e6), ("tamis_count_agg(i)", 1e6),
                       ("tamis_top_agg(i)", 2e6), ("approx_top_k(i, 10)", 2e6),
                       ("tamis_seal_agg(i % 1000, 0.01)", 100e3),
                       ("tamis_seal_agg(i, 0.01)", 50e6),  # 16 to 43 bytes each
                       ("count(f @> i)", 100e3), ("count(f @> i::text)", 100e3),
                       ("count(f @> (i * 1.5))", 100e3),
                       ("count(f @> (now() + i * '1s'::interval))", 100e3),
                       ("sum(tamis_estimate(c, i))", 100e3)):
        with contextlib.closing(server.connect(name)) as fresh:
            few, many = (int(value(fresh, f"""SELECT used_after({call})
                FROM (SELECT generate_series(1, {rows}) i, tamis_empty('blocked', 1000, 0.01) f,
                      tamis_empty('tally', bytes => 99999) c) s"""))
                         for rows in (1000, 1000000))
            assert many - few < most, (call, few, many)


def test_errors(_, db):
    """Errors inside subtransactions, again and again, between calls that succeed: by the same
    expressions, whose filter is then damaged, of the wrong kind, or the value is refused."""
    ask(db, HELPERS)
    ask(db, """CREATE TABLE f AS SELECT tamis_filter_agg(i, 3000, 1e-6) f, tamis_distinct_agg(i) d,
        tamis_seal_agg(i, 0.01) r, tamis_filter_agg(i, 150, 1e-3) s
        FROM generate_series(1, 100) i""")
    ask(db, """CREATE FUNCTION rounds(n int, good tamis) RETURNS int LANGUAGE plpgsql AS $$
        DECLARE sealed tamis := (SELECT r FROM f);
            f tamis; b bytea; r boolean; x bigint; failed int := 0; v numeric;
        BEGIN FOR i IN 1..n LOOP
            f := good;
            v := i % 100 + 1;
            IF i % 3 = 0 THEN  -- a filter that was not used before, in which one byte is wrong
                b := tamis_add(good, -i);
                b := set_byte(b, 200 + i % 100, get_byte(b, 200 + i % 100) # 4);
                f := raw(b);
            ELSIF i % 3 = 1 THEN f := sealed; END IF;
            IF i % 5 = 0 THEN v := 'NaN'; END IF;
            BEGIN
                r := f @> v;
                ASSERT r AND i % 3 <> 0 AND i % 5 <> 0, 'at ' || i;
                f := tamis_add(f, i);
                ASSERT i % 3 = 2, 'sealed ' || i;
                x := approx_count_distinct(CASE WHEN g = 50 AND i % 2 = 0 THEN 1 / (g - 50)
                                           ELSE g END)
                    FROM generate_series(1, 100) g;
                ASSERT x = 100;
            EXCEPTION WHEN assert_failure THEN RAISE; WHEN OTHERS THEN failed := failed + 1; END;
        END LOOP; RETURN failed; END $$""")
    first = value(db, "SELECT rounds(300, f) FROM f")
    assert value(db, "SELECT rounds(300, s) FROM f") == first
    before, resident = used(db), status_of(value(db, "SELECT pg_backend_pid()"), "VmRSS")
    for _ in range(4):
        for column in "fs":
            assert value(db, f"SELECT rounds(300, {column}) FROM f") == first > 200, first
    assert used(db) - before < 100e3, used(db) - before
    assert status_of(value(db, "SELECT pg_backend_pid()"), "VmRSS") - resident < 8 << 10
    # Savepoints of a client.
    with db.cursor() as cursor:
        cursor.execute("BEGIN")
        for _ in range(50):
            cursor.execute("SAVEPOINT s")
            with contextlib.suppress(psycopg2.Error):
                cursor.execute("SELECT tamis_union_agg(x) FROM (SELECT f FROM f UNION ALL"
                               " SELECT d FROM f) s(x)")
            cursor.execute("ROLLBACK TO s")
            cursor.execute("SELECT tamis_cardinality(tamis_union_agg(d)) FROM f")
            assert cursor.fetchall() == [(100,)]
        cursor.execute("COMMIT")


def queries():
    """Queries that take some time in each of the functions."""
    rows = "generate_series(1, 30000) v"
    for call, groups in (("approx_count_distinct(v)", 1000), ("tamis_distinct_agg(v, 0.001)", 1000),
                         ("approx_top_k(v, 10)", 20), ("tamis_filter_agg(v, 30000, 0.001)", 20),
                         ("tamis_seal_agg(v, 0.001)", 1000), ("tamis_count_agg(v)", 20),
                         ("tamis_map_agg(v, v)", 1000),
                         ("tamis_filter_agg(v, 30000, 0.01, 'cuckoo')", 20),
                         ("tamis_top_agg(v)", 20)):
        yield f"SELECT {call} FROM {rows}"
        yield f"SELECT count(x) FROM (SELECT {call} x FROM {rows} GROUP BY v % {groups}) s"
    yield "SELECT tamis_union_agg(d) FROM big, generate_series(1, 1000) v"
    yield f"SELECT count(*) FROM big, {rows} WHERE f @> v"
    yield f"SELECT sum(tamis_estimate(c, v)) FROM big, {rows}"
    yield "SELECT count(*) FROM big, generate_series(1, 3), tamis_list(t)"
    yield f"SELECT count(n) FROM (SELECT approx_count_distinct(v) OVER (ORDER BY v) n FROM {rows}" \
          " WHERE v < 2000) s"
    yield "SELECT tamis_distinct_agg(v), tamis_seal_agg(v, 0.01), tamis_top_agg(v) FROM stored"
    yield "SELECT v % 100, approx_count_distinct(v), tamis_seal_agg(v, 0.01) FROM stored GROUP BY 1"
    yield "SELECT tamis_filter_agg(v, 50000, 0.01, 'growing') FROM stored"


def test_cancel(_, db):
    """Queries that are cancelled at any moment, by another session or by their own time limit. The
    session works afterwards and has no more memory than before."""
    rng = random.Random(1000)
    ask(db, "CREATE TABLE stored AS SELECT i v FROM generate_series(1, 50000) i")
    ask(db, "ALTER TABLE stored SET (parallel_workers = 2)")
    ask(db, "ANALYZE stored")
    ask(db, """CREATE TABLE big AS SELECT tamis_distinct_agg(v) d, tamis_seal_agg(v, 0.01) f,
        tamis_count_agg(v) c, tamis_top_agg(v) t FROM stored""")
    for setting in ("parallel_setup_cost = 0", "parallel_tuple_cost = 0",
                    "min_parallel_table_scan_size = 0", "max_parallel_workers_per_gather = 2"):
        ask(db, f"SET {setting}")
    every = [(query, lasts(db, query)) for query in queries()]
    pid = value(db, "SELECT pg_backend_pid()")
    cancelled, settled = 0, None
    for i in range(CANCELS):
        query, duration = every[i % len(every)]
        moment = rng.random() * duration
        cancelled += cancel(db, query, moment) if i % 2 else limit(db, query, moment)
        check(db, ("SELECT approx_count_distinct(v) FROM generate_series(1, 99) v", 99))
        if i == CANCELS // 2:
            settled = used(db), status_of(pid, "VmRSS")
    assert cancelled > CANCELS // 3, cancelled
    assert used(db) - settled[0] < 200e3, (used(db), settled)
    assert status_of(pid, "VmRSS") - settled[1] < 16 << 10, settled
    for query, _ in every:  # and all of them still work
        ask(db, query)


def lasts(db, query):
    start = time.monotonic()
    ask(db, query)
    return time.monotonic() - start


def unlimited(db):
    """Ends a time limit, unless that takes longer than the limit."""
    try:
        ask(db, "SET statement_timeout = 0")
        return True
    except psycopg2.errors.QueryCanceled:
        return False


def limit(db, query, moment):
    """Runs a query with a time limit. Returns whether it was exceeded."""
    ask(db, f"SET statement_timeout = {max(2, int(moment * 1000))}")
    try:
        ask(db, query)
        return False
    except psycopg2.errors.QueryCanceled:
        return True
    finally:
        while not unlimited(db):
            pass


def cancel(db, query, moment):
    """Runs a query that is cancelled from outside. Returns whether it was."""
    timer = threading.Timer(moment, db.cancel)
    timer.start()
    try:
        ask(db, query)
        return False
    except psycopg2.errors.QueryCanceled:
        return True
    finally:
        timer.cancel()
        timer.join()
        with contextlib.suppress(psycopg2.errors.QueryCanceled):
            ask(db, "SELECT pg_sleep(0.002)")  # for a request that comes late


def test_no_memory(*_):
    """A session that may not have more memory reports that, and goes on."""
    with Server(most_memory=700 << 20) as server, contextlib.closing(server.connect()) as db:
        ask(db, "CREATE EXTENSION tamis")
        for call in ("tamis_empty('bloom', bytes => 1000000000, fpr => 0.01)",
                     "tamis_filter_agg(1, 800000000, 0.01)", "tamis_count_agg(1, 1, 1000000000)",
                     "tamis_add(tamis_empty('bloom', bytes => 150000000, fpr => 0.01), 1)"
                     " || tamis_empty('bloom', bytes => 150000000, fpr => 0.01)",
                     "tamis_union_agg(tamis_empty('tally', bytes => 200000000)) FROM"
                     " generate_series(1, 2)"):
            message = error(db, f"SELECT {call}")
            assert message.startswith("53200: "), (call, message)
            check(db, ("SELECT approx_count_distinct(v) FROM generate_series(1, 9) v", 9))


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")],
         "max_worker_processes = 8")
