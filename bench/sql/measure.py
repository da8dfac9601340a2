"""Measures the SQL extensions next to what databases do without them.

    bench/sql/measure.py [--quick | --rows N] [--out build/sql.json]

One PostgreSQL server of its own; the queries of a group take turns, and the median of the rounds
counts. `plain` is count(*) over the same rows. Requires postgresql-15, its -server-dev package,
python3-psycopg2 and, to compare with it, postgresql-15-hll."""
import argparse
import contextlib
import json
import os
import pathlib
import platform
import statistics
import sys
import threading
import time

sys.dont_write_bytecode = True
ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/support"))
from postgres_server import Server, ask, value  # noqa: E402

WORK_MEM = "4MB", "256MB"  # the default, and enough for what is exact
SETTINGS = ("shared_buffers = 1GB", "autovacuum = off", "jit = off",
            "max_wal_size = 8GB", "wal_level = minimal", "max_wal_senders = 0")


def processor():
    with open("/proc/cpuinfo", encoding="utf-8") as f:
        return next((line.split(":", 1)[1].strip() for line in f if line.startswith("model name")),
                    platform.machine())


class Memory(threading.Thread):
    """Samples how much memory of its own a process has, while a query runs."""

    def __init__(self, pid):
        super().__init__(daemon=True)
        self.path, self.most, self.over = f"/proc/{pid}/smaps_rollup", 0, False

    def now(self):
        try:
            with open(self.path, encoding="utf-8") as f:
                return next(int(line.split()[1]) for line in f if line.startswith("Anonymous:"))
        except (OSError, StopIteration):
            return 0

    def run(self):
        while not self.over:
            self.most = max(self.most, self.now())
            time.sleep(0.01)


def memory_of(server, query, settings):
    """KiB of its own memory that a new backend needs for a query, beyond what it begins with."""
    with contextlib.closing(server.connect()) as db:
        for setting in settings:
            ask(db, f"SET {setting}")
        ask(db, "SELECT 1")
        watch = Memory(value(db, "SELECT pg_backend_pid()"))
        before = watch.now()
        watch.start()
        ask(db, query)
        watch.over = True
        watch.join()
        return max(watch.most - before, 0)


def measure(server, group, queries, rounds, settings, rows):
    """Rows of results: seconds and memory of each query of a group, in turn."""
    times = {name: [] for name in queries}
    answers = {}
    with contextlib.closing(server.connect()) as db:
        for setting in settings:
            ask(db, f"SET {setting}")
        for turn in range(rounds + 1):
            for name, query in queries.items():
                begun = time.perf_counter()
                answers[name] = ask(db, query)
                if turn > 0:  # the first one fills the caches
                    times[name].append(time.perf_counter() - begun)
    found = []
    for name, query in queries.items():
        answer = answers[name]
        single = answer[0][0] if len(answer) == 1 and len(answer[0]) == 1 else None
        found.append({"group": group, "what": name, "query": query[:300], "rows": rows,
                      "seconds": statistics.median(times[name]),
                      "memory_kib": memory_of(server, query, settings),
                      "answer": single if isinstance(single, int) else None})
        print(f"{group:10} {name:28} {found[-1]['seconds']:8.3f} s "
              f"{found[-1]['memory_kib']:9} KiB  {found[-1]['answer'] or ''}", flush=True)
    return found


def fill(db, rows, distinct, members):
    ask(db, "CREATE EXTENSION tamis")
    with contextlib.suppress(Exception):
        ask(db, "CREATE EXTENSION hll")
    ask(db, "SELECT setseed(0.5)")
    # Half of the values are frequent: the k-th one is as likely as 1 / k.
    ask(db, f"""CREATE TABLE visits AS SELECT
            CASE WHEN i % 2 = 0 THEN floor(exp(random() * ln({distinct})))::bigint
                 ELSE floor(random() * {distinct})::bigint END AS x
            FROM generate_series(1, {rows}) AS i""")
    ask(db, f"CREATE TABLE members AS SELECT i * 3 AS x FROM generate_series(1, {members}) AS i")
    ask(db, f"CREATE TABLE bad AS SELECT tamis_filter_agg(x, {members}, 0.01) AS f FROM members")
    ask(db, "VACUUM ANALYZE visits")
    ask(db, "VACUUM ANALYZE members")
    ask(db, "SELECT count(*) FROM visits")


def queries_of(array, hll):
    """The queries of each group by name. array: the members as text, because PostgreSQL hashes only
    a constant array."""
    plain = "SELECT count(*) FROM visits"
    distinct = {"plain": plain,
                "approx_count_distinct": "SELECT approx_count_distinct(x) FROM visits",
                "count(DISTINCT)": "SELECT count(DISTINCT x) FROM visits",
                "HashAggregate": "SELECT count(*) FROM (SELECT DISTINCT x FROM visits) AS d"}
    if hll:
        distinct["hll"] = ("SELECT round(hll_cardinality(hll_add_agg(hll_hash_bigint(x))))::bigint "
                           "FROM visits")
    where = plain + " WHERE "
    per_group = "SELECT count(*) FROM (SELECT {} FROM visits GROUP BY x % 100000) AS g"
    return {
        "distinct": distinct,
        "top": {"plain": plain,
                "approx_top_k": "SELECT (unnest(approx_top_k(x, 10))).* FROM visits",
                "GROUP BY": "SELECT x, count(*) FROM visits GROUP BY x ORDER BY 2 DESC, 1 "
                            "LIMIT 10"},
        "members": {
            "plain": plain,
            "x > 0": where + "x > 0",
            "f @> x": where + "(SELECT f FROM bad) @> x",
            "f @> x AND IN": where + "(SELECT f FROM bad) @> x AND x IN (SELECT x FROM members)",
            "IN": where + "x IN (SELECT x FROM members)",
            "EXISTS": where + "EXISTS (SELECT FROM members AS m WHERE m.x = visits.x)",
            "= ANY (array)": where + f"x = ANY ('{array}'::bigint[])"},
        "groups": {"plain": per_group.format("count(*)"),
                   "approx_count_distinct": per_group.format("approx_count_distinct(x)"),
                   "count(DISTINCT)": per_group.format("count(DISTINCT x)"),
                   "approx_top_k": per_group.format("approx_top_k(x, 3)")}}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--rows", type=int)
    parser.add_argument("--out", default=str(ROOT / "build/sql.json"))
    args = parser.parse_args()
    rows = args.rows or (10**6 if args.quick else 10**7)
    distinct, rounds = rows // 10, 3 if rows == 10**7 else 1
    load = os.getloadavg()[0]
    found = []
    workers = ("max_parallel_workers_per_gather = 2", "parallel_setup_cost = 0",
               "parallel_tuple_cost = 0", "min_parallel_table_scan_size = 0")
    with Server(*SETTINGS) as server, contextlib.closing(server.connect()) as db:
        fill(db, rows, distinct, distinct)
        hll = value(db, "SELECT count(*) FROM pg_extension WHERE extname = 'hll'") == 1
        version = value(db, "SHOW server_version")
        groups = queries_of(value(db, "SELECT array_agg(x)::text FROM members"), hll)
        for memory in WORK_MEM:
            serial = (f"work_mem = '{memory}'", "max_parallel_workers_per_gather = 0")
            for group in ("distinct", "top", "members"):
                found += measure(server, f"{group}, {memory}", groups[group], rounds, serial, rows)
        serial = (f"work_mem = '{WORK_MEM[0]}'", "max_parallel_workers_per_gather = 0")
        parallel = {name: groups["distinct"][name] for name in groups["distinct"]
                    if name in ("plain", "approx_count_distinct", "hll")}
        found += measure(server, "workers", parallel, rounds, workers, rows)
        found += measure(server, "groups", groups["groups"], 1, serial, rows)
        for setting in workers:
            ask(db, f"SET {setting}")
        explain = "EXPLAIN (COSTS OFF) " + groups["distinct"]["approx_count_distinct"]
        plan = [row[0] for row in ask(db, explain)]
    context = {"processor": processor(), "cores": len(os.sched_getaffinity(0)),
               "system": platform.platform(terse=True), "postgres": version, "rows": rows,
               "distinct": distinct, "members": distinct, "work_mem": WORK_MEM[0], "rounds": rounds,
               "hll": hll, "plan": plan, "load": load, "load_after": os.getloadavg()[0]}
    pathlib.Path(args.out).write_text(json.dumps({"context": context, "rows": found}, indent=1),
                                      encoding="utf-8")


if __name__ == "__main__":
    main()
