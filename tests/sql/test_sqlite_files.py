"""Files: tamis_file and tamis_save, and that BLOBs are the files of the command, byte for byte."""
import ctypes
import json
import os
import pathlib
import sqlite3
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from sqlite_loaded import (GOLDEN, Memory, connect, error, main, one, shell,  # noqa: E402
                           table)

LINES = [f"line-{i * i % 3001}" for i in range(5000)]
TEXT = "".join(line + "\n" for line in LINES).encode()


def test_same_bytes():
    """The same rows in the same order make the file that the command writes for the same lines.
    A sealed filter is made from the distinct ones, in any order. (Growing and cuckoo filters depend
    on the order, which an aggregate does not keep for them.)"""
    db = connect()
    table(db, "t", LINES)
    distinct = "".join(line + "\n" for line in sorted(set(LINES))).encode()
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room, "f")

        def same(sql, *words, text=TEXT):
            shell(*words, "-q", "-f", "-o", path, text=text)
            assert one(db, f"SELECT {sql} FROM t") == path.read_bytes(), sql

        for kind in ("bloom", "partitioned", "blocked", "counting"):
            same(f"tamis_filter_agg(x, 5000, 0.01, '{kind}')", "build", "--kind", kind, "--items",
                 5000, "--fpr", 0.01)
        for kind, rate in (("fuse", 1 / 256), ("ribbon", 0.01)):
            words = ("build", "--kind", kind, "--items", len(set(LINES)), "--fpr", rate)
            same(f"tamis_filter_agg(x, 3, {rate}, '{kind}')", *words, text=distinct)
        same("tamis_seal_agg(x, 0.01)", *words, text=distinct)
        same("tamis_distinct_agg(x)", "distinct", "--error", "1%", text=distinct)
        same("tamis_distinct_agg(x, 0.05)", "distinct", "--error", "5%")
        same("tamis_count_agg(x)", "count")
        same("tamis_count_agg(x, 1, 50000)", "count", "--bytes", 50000)
        same("tamis_top_agg(x)", "count", "--kind", "top")


def test_exchange():
    """The command reads what tamis_save has written, and tamis_file what the command has."""
    db = connect()
    table(db, "t", LINES)
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room, "f.tamis")
        f = one(db, "SELECT tamis_filter_agg(x, 3000, 0.001) FROM t")
        assert one(db, "SELECT tamis_save(?, ?)", f, str(path)) == len(f)
        assert path.read_bytes() == f and os.listdir(room) == ["f.tamis"]
        asked = TEXT + b"other\n"
        assert shell("check", "-c", path, text=asked) == b"5000\n"
        assert shell("check", "-v", path, text=asked) == b"other\n"
        info = json.loads(shell("info", "--json", path))
        mine = json.loads(one(db, "SELECT tamis_info(?)", f))
        del info["file"]
        assert {name: info[name] for name in mine} == mine, (info, mine)

        built = pathlib.Path(room, "built.tamis")
        shell("build", "-q", "--items", 3000, "--fpr", 0.001, "-o", built, text=TEXT)
        file = f"tamis_file('{built}')"
        assert one(db, f"SELECT sum(tamis_contains({file}, x)) FROM t") == 5000
        assert one(db, f"SELECT tamis_contains({file}, 'other'), typeof({file})") == (0, "null")
        assert one(db, f"SELECT tamis_image({file})") == built.read_bytes() == f
        assert one(db, f"SELECT tamis_info({file})") == one(db, "SELECT tamis_info(?)", f)
        assert one(db, f"SELECT tamis_cardinality({file})") == one(db, "SELECT "
                                                                       "tamis_cardinality(?)", f)
        assert one(db, f"SELECT tamis_add({file}, 'x')") == one(db, "SELECT tamis_add(?, 'x')", f)
        assert one(db, f"SELECT tamis_merge({file}, ?)", f) == \
            one(db, f"SELECT tamis_merge(?, {file})", f) == one(db, "SELECT tamis_merge(?1, ?1)", f)
        assert one(db, f"SELECT tamis_union_agg({file}) FROM (VALUES (1), (2))") == \
            one(db, "SELECT tamis_merge(?1, ?1)", f)
        assert one(db, f"SELECT tamis_compare({file}, ?)", f) == \
            one(db, f"SELECT tamis_compare({file}, {file})") == \
            one(db, "SELECT tamis_compare(?1, ?1)", f)
        likeness = json.loads(shell("compare", "--json", path, built))
        mine = json.loads(one(db, "SELECT tamis_compare(?1, ?1)", f))
        assert {name: likeness[name] for name in mine} == mine
        # Onto itself, while it is mapped.
        assert one(db, f"SELECT tamis_save({file}, '{built}')") == len(f)
        assert built.read_bytes() == f

        shell("top", "-q", "-o", path, "-f", text=TEXT)
        listed = db.execute(f"SELECT * FROM tamis_list(tamis_file('{path}'), 7)").fetchall()
        assert len(listed) == 7 and listed == sorted(listed, key=lambda row: (-row[1], row[0]))
        printed = shell("top", "-n", 7, path).decode().split("\n")[:-1]
        assert [row[0] for row in listed] == [line.split()[-1] for line in printed]
        assert one(db, f"SELECT tamis_estimate(tamis_file('{path}'), ?)", listed[0][0]) == \
            listed[0][1]


class Opens:
    """Counts how often a file is opened. Equal events that nobody has read count once, so they are
    read after every row."""

    def __init__(self, path):
        libc = ctypes.CDLL(None, use_errno=True)
        self.watch = libc.inotify_init1(os.O_NONBLOCK)
        assert self.watch >= 0 and libc.inotify_add_watch(self.watch, path.encode(), 0x20) >= 0

    def during(self, rows):
        opens = 0
        while True:
            more = rows.fetchone() is not None
            try:
                opens += len(os.read(self.watch, 65536)) // 16
            except BlockingIOError:
                pass
            if not more:
                return opens


def test_how_often_opened():
    """Once, also where SQLite evaluates the call in each row."""
    db = connect()
    table(db, "t", range(20))
    with tempfile.TemporaryDirectory() as room:
        path = f"{room}/f.tamis"
        one(db, "SELECT tamis_save(tamis_filter_agg(x, 20, 0.01), ?) FROM t", path)
        opens = Opens(path)
        f = f"tamis_file('{path}')"
        for sql in (f"SELECT tamis_contains({f}, x) FROM t",
                    f"SELECT x FROM t WHERE tamis_contains({f}, x)",
                    f"SELECT iif(x > 5, tamis_contains({f}, x), 0) FROM t",
                    f"SELECT b.x FROM t AS a LEFT JOIN t AS b ON tamis_contains({f}, b.x)",
                    f"SELECT (SELECT tamis_contains({f}, t.x)) FROM t",
                    f"SELECT x FROM t GROUP BY x HAVING tamis_contains({f}, x)"):
            rows = db.execute(sql)
            times = opens.during(rows)
            assert times <= 1, (times, sql)  # the first row may have been computed before
        # Not constant: for each row.
        rows = db.execute(f"SELECT tamis_contains(tamis_file(iif(x < 99, '{path}', '')), x) FROM t")
        assert opens.during(rows) > 10


def test_opened_once():
    """tamis_file opens a file once for a statement, even if it is replaced meanwhile, and again for
    the next. A path that is not constant is opened for each row."""
    db = connect()
    table(db, "t", range(4))
    images = [one(db, "SELECT tamis_filter_agg(?, 10, 1e-9)", i) for i in range(2)]
    with tempfile.TemporaryDirectory() as room:
        path = f"{room}/f.tamis"
        for path_sql, after in ((f"'{path}'", 0), ("?", 0), (f"'{room}/' || iif(x < 9, 'f', 'g') "
                                                             "|| '.tamis'", 1)):
            one(db, "SELECT tamis_save(?, ?)", images[0], path)
            rows = db.execute(f"SELECT tamis_contains(tamis_file({path_sql}), 1) FROM t",
                              (path,) if path_sql == "?" else ())
            assert next(rows)[0] == 0
            one(db, "SELECT tamis_save(?, ?)", images[1], path)
            # The second row was computed ahead.
            assert [row[0] for row in rows][1:] == [after, after], path_sql
            assert one(db, f"SELECT tamis_contains(tamis_file('{path}'), 1)") == 1
        # A pointer is an argument. Where SQLite stores it, it becomes NULL.
        db.execute("CREATE TABLE kept AS SELECT tamis_file(?) AS f", (path,))
        assert one(db, "SELECT f FROM kept") is None
        assert one(db, f"SELECT tamis_contains(f, 1) FROM (SELECT tamis_file('{path}') AS f "
                       "UNION ALL SELECT NULL LIMIT 1)") in (None, 1)


def test_errors():
    db, memory = connect(), Memory()
    with tempfile.TemporaryDirectory() as room:
        missing = f"{room}/missing/f.tamis"
        text = f"{missing}: cannot open: No such file or directory"
        assert error(db, "SELECT tamis_file(?)", missing) == f"tamis_file: {text}"
        f = one(db, "SELECT tamis_filter_agg(1, 10, 0.01)")
        assert error(db, "SELECT tamis_save(?, ?)", f, missing).startswith(
            f"tamis_save: {missing}: ")
        assert error(db, "SELECT tamis_save(?, ?)", f, room).startswith(f"tamis_save: {room}: ")
        path = f"{room}/f.tamis"
        for value, reason in ((5, "the path must be TEXT"), (b"a", "the path must be TEXT"),
                              ("a\0b", "the path contains a NUL")):
            assert error(db, "SELECT tamis_file(?)", value) == f"tamis_file: {reason}"
            assert error(db, "SELECT tamis_save(?, ?)", f, value) == f"tamis_save: {reason}"
        # Nothing but an undamaged image is saved.
        for image in (b"", bytes(500), f[:-1], f[:-1] + bytes([f[-1] ^ 1])):
            assert error(db, "SELECT tamis_save(?, ?)", image, path).startswith("tamis_save: ")
        assert os.listdir(room) == []
        for name in ("blocked-keyed.tamis", "window.packed"):
            assert error(db, "SELECT tamis_file(?)", str(GOLDEN / name)).startswith("tamis_file: ")
        pathlib.Path(path).write_bytes(f[:-1] + bytes([f[-1] ^ 1]))
        assert "checksum" in error(db, "SELECT tamis_file(?)", path)
        # A file may be bigger than any value.
        shell("build", "-q", "-f", "--items", 1000, "--fpr", 0.01, "-o", path, text=TEXT[:1000])
        db.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, 1000)
        asked = f"tamis_contains(tamis_file('{path}'), '{LINES[0]}')"
        assert one(db, f"SELECT {asked}") == 1
        assert error(db, f"SELECT tamis_image(tamis_file('{path}'))").endswith("at most 1000")
        used = memory.used()
        for _ in range(100):
            one(db, f"SELECT {asked}")
        assert memory.used() <= used
    assert len(os.listdir("/proc/self/fd")) < 50  # files are closed


def test_saved_when_reached():
    """A statement writes a file only if it reaches the call."""
    db = connect()
    table(db, "t", range(5))
    f = one(db, "SELECT tamis_filter_agg(1, 10, 0.01)")
    with tempfile.TemporaryDirectory() as room:
        save = f"tamis_save(:f, '{room}/f')"
        for sql in (f"SELECT {save} FROM t WHERE x > 9", f"SELECT iif(x > 9, {save}, 0) FROM t",
                    f"SELECT CASE WHEN x > 9 THEN {save} ELSE 0 END FROM t",
                    f"SELECT coalesce(x, {save}) FROM t",
                    f"SELECT tamis_contains(:f, tamis_add(:f, {save})) FROM t WHERE x > 9",
                    f"SELECT (SELECT {save} WHERE x > 9) FROM t"):
            db.execute(sql, {"f": f}).fetchall()
            assert os.listdir(room) == [], sql
        assert db.execute(f"SELECT {save} FROM t", {"f": f}).fetchall() == [(len(f),)] * 5
        # Each row has its own path.
        db.execute("CREATE TABLE filters AS SELECT x, tamis_filter_agg(x, 10, 0.01) AS f FROM t "
                   "GROUP BY x")
        db.execute("SELECT tamis_save(f, ? || '/' || x) FROM filters", (room,)).fetchall()
        assert sorted(os.listdir(room)) == ["0", "1", "2", "3", "4", "f"]
        for x, image in db.execute("SELECT x, f FROM filters"):
            assert pathlib.Path(room, str(x)).read_bytes() == image


def hostile_database(path, call):
    """A database whose schema calls a function in every way. Its maker has functions of the same
    names, for which nothing is forbidden."""
    maker = sqlite3.connect(path, isolation_level=None)
    for name, arguments in (("tamis_file", 1), ("tamis_save", 2), ("tamis_contains", 2),
                            ("tamis_empty", 3)):
        maker.create_function(name, arguments, lambda *_: 1, deterministic=True)
    maker.executescript(f"""
        CREATE TABLE plain (x);
        CREATE TABLE checked (x CHECK ({call}));
        CREATE TABLE defaults (x, y DEFAULT ({call}));
        CREATE TABLE generated (x, y AS ({call}) STORED);
        CREATE TABLE computed (x, y AS ({call}));
        CREATE TABLE indexed (x);
        CREATE INDEX by_call ON indexed ({call});
        CREATE TABLE partial (x);
        CREATE INDEX by_part ON partial (x) WHERE {call};
        CREATE VIEW viewed AS SELECT {call};
        CREATE TABLE fired (x);
        CREATE TRIGGER after_insert AFTER INSERT ON fired BEGIN SELECT {call}; END;
        CREATE TABLE tested (x);
        CREATE TRIGGER when_insert AFTER INSERT ON tested WHEN {call} BEGIN SELECT 1; END;
        CREATE TABLE filled (x);
        CREATE TRIGGER fills AFTER INSERT ON filled BEGIN
            INSERT INTO plain SELECT x FROM filled WHERE {call}; END;""")
    maker.execute("INSERT INTO computed (x) VALUES (1)")
    maker.close()


def test_hostile_schema():
    """Nothing in the schema of a database can read or write files, even if the schema is
    trusted."""
    statements = ["INSERT INTO checked VALUES (1)", "INSERT INTO defaults (x) VALUES (1)",
                  "INSERT INTO generated (x) VALUES (1)", "SELECT y FROM computed",
                  "INSERT INTO indexed VALUES (1)", "INSERT INTO partial VALUES (1)",
                  "SELECT * FROM viewed", "INSERT INTO fired VALUES (1)",
                  "INSERT INTO tested VALUES (1)", "INSERT INTO filled VALUES (1)"]
    with tempfile.TemporaryDirectory() as room:
        f = one(connect(), "SELECT tamis_filter_agg(1, 10, 0.01)")
        pathlib.Path(room, "f.tamis").write_bytes(f)
        calls = (f"tamis_contains(tamis_file('{room}/f.tamis'), 1)",
                 f"tamis_save(tamis_empty('bloom', 10, 0.01), '{room}/written')")
        for call in calls:
            path = pathlib.Path(room, "hostile.db")
            hostile_database(path, call)
            for trusted in (0, 1):
                db = connect(path)
                db.execute(f"PRAGMA trusted_schema = {trusted}")
                for sql in statements:
                    text = error(db, sql)
                    assert "unsafe use of tamis_" in text, (trusted, call, sql, text)
                assert one(db, f"SELECT {call}") in (1, 272)  # which the user may
                pathlib.Path(room, "written").unlink(missing_ok=True)
                db.close()
            path.unlink()
        assert os.listdir(room) == ["f.tamis"]


def test_schema():
    """Other functions are for all schemas: a table of filters can check what is put into it, and
    have facts in columns."""
    for trusted in (0, 1):
        db = connect()
        db.execute(f"PRAGMA trusted_schema = {trusted}")
        db.execute("CREATE TABLE filters (f CHECK (tamis_info(f) LIKE "
                   "'{\"kind\": \"blocked\"%'), items AS (tamis_cardinality(f)))")
        db.execute("INSERT INTO filters SELECT tamis_filter_agg(value, 10, 0.01) FROM "
                   "json_each('[1, 2]')")
        assert error(db, "INSERT INTO filters SELECT tamis_distinct_agg(1)").startswith("CHECK")
        assert error(db, "INSERT INTO filters VALUES ('text')").startswith(
            ("tamis_info: a filter", "tamis_cardinality: a filter"))
        db.execute("CREATE INDEX by_items ON filters (tamis_cardinality(f))")
        db.execute("CREATE VIEW known AS SELECT 2 AS x FROM filters WHERE tamis_contains(f, 2)")
        db.execute("CREATE VIEW most AS SELECT item FROM tamis_list((SELECT tamis_top_agg(x) "
                   "FROM known))")
        assert one(db, "SELECT items FROM filters") == 2
        assert one(db, "SELECT * FROM known") == 2 and one(db, "SELECT * FROM most") == "2"


if __name__ == "__main__":
    main([test_same_bytes, test_exchange, test_how_often_opened, test_opened_once,
          test_errors, test_saved_when_reached, test_hostile_schema, test_schema])
