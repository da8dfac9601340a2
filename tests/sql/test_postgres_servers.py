"""Two PostgreSQL servers: foreign tables, logical replication, and recovery after a crash."""
import contextlib
import os
import random
import re
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import psycopg2  # noqa: E402
from postgres_server import (Server, ask, error, main, make_template, new_database,  # noqa: E402
                             value, wait_for)
from test_postgres_functions import check  # noqa: E402

DEEP = os.environ.get("TAMIS_SQL_DEEP") == "1"
SETTINGS = ("wal_level = logical", "max_wal_senders = 8", "max_replication_slots = 8",
            "max_logical_replication_workers = 4", "max_worker_processes = 8")


@contextlib.contextmanager
def another(name):
    """A second server and a connection to a database there with the extension."""
    with Server("jit = off", *SETTINGS) as server:
        make_template(server)
        with contextlib.closing(new_database(server, name)) as db:
            yield server, db


def attach(db, server, database, name, options=""):
    """Makes a database of a server known to another one."""
    ask(db, "CREATE EXTENSION IF NOT EXISTS postgres_fdw")
    ask(db, f"CREATE SERVER {name} FOREIGN DATA WRAPPER postgres_fdw OPTIONS (host '127.0.0.1',"
            f" port '{server.port}', dbname '{database}'{options})")
    ask(db, f"CREATE USER MAPPING FOR CURRENT_USER SERVER {name} OPTIONS (user 'tamis')")


def test_foreign(server, db):
    """Sketches of two servers are merged here; a filter of this one is sent there. One of the
    foreign databases is of this server, to which postgres_fdw connects as to any other."""
    with another("far") as (far_server, far), \
            contextlib.closing(new_database(server, "near")) as near:
        for where, first in ((far, 1), (near, 4001)):
            ask(where, f"CREATE TABLE visits AS SELECT i who, i % 7 AS day FROM"
                       f" generate_series({first}, {first + 5999}) i")
            ask(where, "CREATE VIEW daily AS SELECT day, tamis_distinct_agg(who) users,"
                       " tamis_filter_agg(who, 20000, 0.01) f, tamis_count_agg(day, who) c,"
                       " tamis_top_agg(day) t FROM visits GROUP BY day")
        attach(db, far_server, "far", "far", ", extensions 'tamis'")
        attach(db, server, "near", "near", ", extensions 'tamis'")
        for name in ("far", "near"):
            ask(db, f"CREATE FOREIGN TABLE daily_{name} (day int, users tamis, f tamis, c tamis,"
                    f" t tamis) SERVER {name} OPTIONS (table_name 'daily')")
            ask(db, f"CREATE FOREIGN TABLE visits_{name} (who int, day int) SERVER {name}"
                    " OPTIONS (table_name 'visits')")
        ask(db, "CREATE VIEW daily AS SELECT * FROM daily_far UNION ALL SELECT * FROM daily_near")
        ask(db, "CREATE VIEW visits AS TABLE visits_far UNION ALL TABLE visits_near")
        whole = value(db, "SELECT tamis_distinct_agg(i)::bytea FROM generate_series(1, 10000) i")
        assert bytes(value(db, "SELECT tamis_union_agg(users)::bytea FROM daily")) == bytes(whole)
        assert bytes(value(db, "SELECT tamis_distinct_agg(who)::bytea FROM visits")) == bytes(whole)
        # The results of each server are merged as they are.
        parts = " UNION ALL ".join(f"SELECT tamis_union_agg(users) u FROM daily_{name}"
                                   for name in ("far", "near"))
        merged = value(db, f"SELECT tamis_union_agg(u)::bytea FROM ({parts}) s")
        assert bytes(merged) == bytes(whole)
        check(db, ("WITH u AS MATERIALIZED (SELECT tamis_union_agg(f) f FROM daily) SELECT count(*)"
                   " FROM u, generate_series(1, 10000) i WHERE f @> i", 10000),
              ("SELECT (tamis_info(tamis_union_agg(c))->>'weight')::bigint FROM daily",
               sum(range(1, 6001)) + sum(range(4001, 10001))),
              ("SELECT tamis_estimate(tamis_union_agg(t), 3) - (SELECT count(*) FROM visits"
               " WHERE day = 3) FROM daily", 0))
        rows = ask(db, "SELECT day, tamis_cardinality(tamis_union_agg(users)) FROM daily"
                       " GROUP BY day")
        # 1,429 users a day; ten standard errors of 0.77 % are 110.
        assert len(rows) == 7 and all(abs(n - 1429) < 110 for _, n in rows), rows
        semi_join(db, far)


def semi_join(db, far):
    """The filter goes to the other server, and only rows that may match come back."""
    ask(db, "CREATE TABLE customers AS SELECT i * 50 id FROM generate_series(1, 100) i")
    for query, rest in (
            ("SELECT count(*) FROM visits_far WHERE (SELECT tamis_seal_agg(id, 1e-6) FROM"
             " customers) @> who", r"\$1::[a-z.]*tamis OPERATOR\(public\.@>\) who"),
            ("SELECT count(*) FROM visits_far WHERE tamis_contains((SELECT tamis_seal_agg(id, 1e-6)"
             " FROM customers), who)", r"public\.tamis_contains\(\$1::[a-z.]*tamis, who\)")):
        shown = "\n".join(row[0] for row in ask(db, f"EXPLAIN (VERBOSE, COSTS OFF) {query}"))
        assert re.search("Remote SQL: .*" + rest, shown), shown
        assert value(db, query) == 100
    # Also a literal, and for a column that is there.
    check(db, ("SELECT count(*) FROM visits_far WHERE day = 3 AND (SELECT tamis_seal_agg(id, 1e-6)"
               " FROM customers) @> who::text", value(
                   far, "SELECT count(*) FROM visits WHERE day = 3 AND who % 50 = 0"
                        " AND who <= 5000")),
          ("SELECT count(*) FROM daily_far WHERE f @> '7'", 1),
          ("SELECT count(*) FROM daily_far WHERE f @> 'seven'::text", 0))


def caught_up(publisher, subscriber, query):
    """Waits until a query has the same result on both sides."""
    wait_for(lambda: ask(publisher, query) == ask(subscriber, query))


def test_replication(server, db):
    """Logical replication of columns of the type, as text and in the binary format."""
    name = value(db, "SELECT current_database()")
    with another("copies") as (_, there):
        table = """CREATE TABLE f (n int PRIMARY KEY, note text, f tamis_filter, big tamis,
            d tamis_sketch)"""
        for side in (db, there):
            ask(side, table)
        ask(db, """INSERT INTO f SELECT g, 'old', tamis_filter_agg(i * g, 100, 0.01),
            tamis_count_agg(i, g, 100000), tamis_distinct_agg(i * g)
            FROM generate_series(1, 20) g, generate_series(1, 100) i GROUP BY g""")
        ask(db, "CREATE PUBLICATION p FOR TABLE f")
        for binary in ("false", "true"):
            ask(there, "TRUNCATE f")
            ask(there, f"CREATE SUBSCRIPTION s CONNECTION '{server.address(name)}' PUBLICATION p"
                       f" WITH (binary = {binary})")
            same = "SELECT n, note, md5(f::bytea), md5(big::bytea), md5(d::bytea) FROM f ORDER BY n"
            caught_up(db, there, same)
            ask(db, "UPDATE f SET note = 'new' WHERE n < 9")  # which leaves `big` where it is
            ask(db, "UPDATE f SET f = tamis_add(f, 'x'), big = tamis_add(big, 'x', 7) WHERE n > 5")
            ask(db, "INSERT INTO f SELECT max(n) + 1, 'more', NULL, NULL, tamis_distinct_agg(n)"
                    " FROM f")
            ask(db, "DELETE FROM f WHERE n = 1")
            caught_up(db, there, same)
            check(there, ("SELECT count(*) FROM f WHERE f @> 'x'", 15),
                  ("SELECT min(tamis_estimate(big, 'x')) FROM f WHERE n BETWEEN 6 AND 20",
                   7 if binary == "false" else 14))
            ask(there, "DROP SUBSCRIPTION s")
            ask(db, "INSERT INTO f SELECT 1, 'old', f, big, d FROM f WHERE n = 2")
            ask(db, "DELETE FROM f WHERE n > 20")


def insert_until_killed(server, name, done, failures):
    """Commits rows until the server is gone; notes each that was committed."""
    n = done[-1] if done else 0
    with contextlib.suppress(psycopg2.OperationalError, psycopg2.InterfaceError):
        with contextlib.closing(server.connect(name)) as db:
            while True:
                n += 1
                try:
                    ask(db, """INSERT INTO f SELECT %s, tamis_filter_agg(i, 2000, 0.01),
                        tamis_distinct_agg(i), tamis_count_agg(i, 1, 50000)
                        FROM generate_series(%s, %s + 999) i""", n, n, n)
                    ask(db, "UPDATE f SET d = d || (SELECT d FROM f WHERE n = %s) WHERE n = 0", n)
                    done.append(n)
                except (psycopg2.OperationalError, psycopg2.InterfaceError):
                    raise
                except psycopg2.Error as failure:
                    failures.append(failure)
                    return


def test_crash(_, db):
    """The server is killed while filters are inserted: what was committed is there afterwards, and
    every value is whole. (Without fsync, a process that is killed loses nothing; only a power
    failure would.)"""
    del db
    rng = random.Random(9)
    with Server("jit = off", "shared_buffers = '16MB'", "max_wal_size = '32MB'") as server:
        make_template(server)
        new_database(server, "crash").close()
        with contextlib.closing(server.connect("crash")) as db:
            ask(db, "CREATE TABLE f (n int PRIMARY KEY, f tamis, d tamis, c tamis)")
            ask(db, "INSERT INTO f VALUES (0, NULL, tamis_empty('distinct', error => 0.01), NULL)")
        done, failures = [], []
        for _ in range(10 if DEEP else 3):
            before = len(done)
            worker = threading.Thread(target=insert_until_killed,
                                      args=(server, "crash", done, failures))
            worker.start()
            wait_for(lambda: len(done) > before + 3 or failures)
            time.sleep(rng.random() * 0.3)
            server.kill()
            worker.join()
            assert failures == [], failures
            server.start()
            with contextlib.closing(server.connect("crash")) as db:
                kept = {n for n, in ask(db, "SELECT n FROM f WHERE n > 0")}
                assert set(done) <= kept and len(kept) <= len(done) + 1
                if kept - set(done):  # it was committed, but nobody heard of it
                    done.append(max(kept))
                    ask(db, "UPDATE f SET d = d || (SELECT d FROM f WHERE n = %s) WHERE n = 0",
                        done[-1])
                check(db, ("""SELECT count(*) FROM f, generate_series(n, n + 999) i
                    WHERE n > 0 AND NOT (f @> i AND c @> i)""", 0),
                      ("SELECT count(*) FROM f WHERE n > 0 AND tamis_cardinality(d) <> 1000", 0),
                      ("SELECT (SELECT d::bytea FROM f WHERE n = 0) = tamis_union_agg(d)::bytea"
                       " FROM f WHERE n > 0", True))
        assert server.killed and error(server.connect("crash"), "SELECT 1 / 0").startswith("22012")


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")], *SETTINGS)
