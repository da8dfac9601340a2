"""The objects of the PostgreSQL extension: how they are declared, who may create them, and that
objects of others with the same names are never called."""
import contextlib
import os
import pathlib
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import psycopg2  # noqa: E402
from postgres_server import INSTALLED, SOURCE, ask, error, main, value  # noqa: E402
from test_postgres_functions import check, fails  # noqa: E402

# These take NULLs: aggregates that ignore them, and plans without one of their numbers.
NOT_STRICT = re.compile("tamis_.*_step|tamis_combine|tamis_final|tamis_.*_final|tamis_empty|"
                        "tamis_version")
AGGREGATES = {"tamis_filter_agg": 2, "tamis_seal_agg": 1, "tamis_map_agg": 3,
              "tamis_distinct_agg": 2,
              "tamis_count_agg": 3, "tamis_top_agg": 2, "tamis_union_agg": 1,
              "approx_count_distinct": 1, "approx_top_k": 1}
MEMBERS = """SELECT objid FROM pg_depend WHERE refclassid = 'pg_extension'::regclass
    AND refobjid = (SELECT oid FROM pg_extension WHERE extname = 'tamis') AND deptype = 'e'"""


def test_declarations(_, db):
    """Functions are in C, immutable, safe in parallel workers, and strict where NULL gives NULL."""
    rows = ask(db, f"""SELECT proname, lanname, provolatile, proparallel, proisstrict, prokind,
            prosecdef, proleakproof, procost, probin FROM pg_proc p JOIN pg_language l
            ON l.oid = prolang WHERE p.oid IN ({MEMBERS})""")
    assert len(rows) > 50
    for name, language, volatile, parallel, strict, kind, definer, leakproof, cost, file in rows:
        assert volatile == "i" and parallel == "s" and not definer and not leakproof, name
        if kind == "a":
            assert language == "internal" and name in AGGREGATES, name
            continue
        assert language == "c" and file == "$libdir/tamis" and kind == "f", name
        assert strict == (not NOT_STRICT.fullmatch(name)), name
        assert name.startswith("tamis_") and cost >= 1, name
    declared = set(re.findall(r"CREATE FUNCTION (\w+)", script()))
    assert declared == {row[0] for row in rows if row[5] == "f"}
    assert "OR REPLACE" not in re.sub("--.*", "", script())


def script():
    return pathlib.Path(SOURCE, "sql/postgres/tamis--1.0.sql").read_text(encoding="utf-8")


def test_aggregates(_, db):
    """All can be computed in parts: they have functions to combine, to send and to receive."""
    rows = ask(db, f"""SELECT proname, aggcombinefn::text, aggserialfn::text,
            aggdeserialfn::text, aggtranstype::regtype::text, aggtransspace, aggkind,
            aggfinalmodify, agginitval FROM pg_aggregate JOIN pg_proc ON pg_proc.oid = aggfnoid
            WHERE aggfnoid::oid IN ({MEMBERS})""")
    for name, combine, serialize, deserialize, state, space, kind, modifies, initial in rows:
        assert (combine, serialize, deserialize) == ("tamis_combine", "tamis_serialize",
                                                     "tamis_deserialize"), name
        assert state == "internal" and 0 < space <= 1 << 14 and kind == "n" and initial is None
        assert modifies == "r", name  # so that window functions may use them
    names = [row[0] for row in rows]
    assert {name: names.count(name) for name in names} == AGGREGATES
    rows = ask(db, f"""SELECT oprname, oprleft::regtype::text, oprright::regtype::text, proname
            FROM pg_operator o JOIN pg_proc p ON p.oid = oprcode WHERE o.oid IN ({MEMBERS})
            ORDER BY 1, 3""")
    assert rows == [("@>", "tamis", "anyelement", "tamis_contains"),
                    ("@>", "tamis", "text", "tamis_contains"),
                    ("||", "tamis", "tamis", "tamis_merge")], rows


def test_type(_, db):
    check(db, ("SELECT typstorage FROM pg_type WHERE typname = 'tamis'", "e"),
          ("SELECT typlen FROM pg_type WHERE typname = 'tamis'", -1),
          ("SELECT typalign FROM pg_type WHERE typname = 'tamis'", "i"),
          ("SELECT typsend::text FROM pg_type WHERE typname = 'tamis'", "tamis_send"),
          ("SELECT typreceive::text FROM pg_type WHERE typname = 'tamis'", "tamis_recv"),
          ("SELECT typbasetype::regtype::text FROM pg_type WHERE typname = 'tamis_filter'",
           "tamis"),
          ("SELECT count(*) FROM pg_cast WHERE castsource = 'tamis'::regtype"
           " OR casttarget = 'tamis'::regtype", 2),
          ("SELECT string_agg(attname || ' ' || atttypid::regtype, ', ' ORDER BY attnum)"
           " FROM pg_attribute WHERE attrelid = 'tamis_item'::regclass",
           "item text, count bigint, lower bigint, upper bigint"),
          ("SELECT obj_description('tamis'::regtype)", "a filter or sketch: the bytes of a .tamis"
           " file"))
    # Images are not compressed again, and parts of a long one are on disk uncompressed.
    ask(db, "CREATE TABLE f AS SELECT tamis_empty('tally', bytes => 500000) f")
    check(db, ("SELECT pg_column_size(f) >= 499000 FROM f", True),
          ("SELECT pg_column_compression(f) FROM f", None))


def test_extension(_, db):
    check(db, ("SELECT extversion FROM pg_extension WHERE extname = 'tamis'", "1.0"),
          ("SELECT extrelocatable FROM pg_extension WHERE extname = 'tamis'", True))
    ask(db, "CREATE TABLE f AS SELECT tamis_filter_agg(i, 100, 0.01) f, approx_top_k(i, 2) t,"
            " tamis_distinct_agg(i)::tamis_sketch d FROM generate_series(1, 100) i")
    fails(db, ("DROP EXTENSION tamis", "2BP01"))
    # It can be moved, and works without its schema in the path.
    ask(db, 'CREATE SCHEMA "other place"')
    ask(db, 'ALTER EXTENSION tamis SET SCHEMA "other place"')
    check(db, ('SELECT f OPERATOR("other place".@>) 7 FROM f', True),
          ('SELECT "other place".tamis_cardinality(d) FROM f', 100),
          ('SELECT "other place".approx_top_k(1, 1)::text', '{"(1,1,1,1)"}'))
    fails(db, ("SELECT f @> 7 FROM f", "42883"))
    fails(db, ('SELECT f::"other place".tamis_sketch FROM f', "23514"))
    ask(db, "DROP EXTENSION tamis CASCADE")
    check(db, ("SELECT count(*) FROM information_schema.columns WHERE table_name = 'f'", 0),
          ("SELECT count(*) FROM pg_proc WHERE proname ~ 'tamis|approx_'", 0),
          ("SELECT count(*) FROM pg_type WHERE typname ~ 'tamis'", 0))
    ask(db, 'CREATE EXTENSION tamis SCHEMA "other place"')
    check(db, ('SELECT "other place".tamis_version() IS NOT NULL', True))
    ask(db, "DROP EXTENSION tamis")
    ask(db, "CREATE EXTENSION tamis")
    check(db, ("SELECT approx_count_distinct(1)", 1))


def as_user(server, database, user):
    db = psycopg2.connect(server.address(database).replace("user=tamis", f"user={user}"))
    db.autocommit = True
    return contextlib.closing(db)


def test_trusted(server, db):
    """Who may create objects in the database may create the extension, and nobody else. Functions
    in C remain those of the extension."""
    name = value(db, "SELECT current_database()")
    ask(db, "DROP EXTENSION tamis")
    ask(db, "CREATE ROLE maker LOGIN")
    ask(db, "CREATE ROLE guest LOGIN")
    ask(db, f"GRANT CREATE ON DATABASE {name} TO maker")
    with as_user(server, name, "guest") as guest:
        fails(guest, ("CREATE EXTENSION tamis", "42501"))
    with as_user(server, name, "maker") as maker:
        ask(maker, "CREATE SCHEMA mine")
        ask(maker, "CREATE EXTENSION tamis SCHEMA mine")
        check(maker, ("SELECT mine.approx_count_distinct(i) FROM generate_series(1, 9) i", 9),
              ("SELECT extowner::regrole::text FROM pg_extension WHERE extname = 'tamis'", "maker"))
        fails(maker, ("CREATE FUNCTION mine.f(bytea) RETURNS mine.tamis AS '$libdir/tamis',"
                      " 'pg_tamis_from_bytea' LANGUAGE c", "42501"))
        ask(maker, "GRANT USAGE ON SCHEMA mine TO guest")
        with as_user(server, name, "guest") as guest:
            check(guest, ("SELECT mine.tamis_cardinality(mine.tamis_distinct_agg(i))"
                          " FROM generate_series(1, 9) i", 9))
        ask(maker, "DROP EXTENSION tamis")


def plant(db, schema):
    """Objects named like those that the script uses, which report when they are called."""
    ask(db, f"CREATE TABLE {schema}.calls (who text)")
    ask(db, f"GRANT ALL ON {schema}.calls TO PUBLIC")
    body = f"BEGIN INSERT INTO {schema}.calls VALUES (current_user); RETURN {{}}; END"
    for head, result in (("tamis_is_sketch(bytea)", "true"),
                         ("tamis_is_sketch(anyelement)", "true"),
                         ("tamis_from_bytea(text)", "1"), ("tamis_merge(text, text)", "1"),
                         ("tamis_contains(text, text)", "true"),
                         ("tamis_contains(anyelement, anyelement)", "true"),
                         ("tamis_contains(anynonarray, text)", "true"),
                         ("tamis_add(anyelement, anyelement)", "true"),
                         ("tamis_cardinality(anyelement)", "true")):
        ask(db, f"CREATE FUNCTION {schema}.{head} RETURNS boolean LANGUAGE plpgsql AS"
                f" $${body.format(result)}$$")
    ask(db, f"CREATE OPERATOR {schema}.@> (LEFTARG = anyelement, RIGHTARG = anyelement,"
            f" FUNCTION = {schema}.tamis_contains)")


def test_hostile_path(server, db):
    """CREATE EXTENSION as a superuser whose path begins with the schema of somebody else, who has
    put objects there."""
    name = value(db, "SELECT current_database()")
    ask(db, "DROP EXTENSION tamis")
    ask(db, "CREATE ROLE mallory LOGIN")
    ask(db, "CREATE SCHEMA trap AUTHORIZATION mallory")
    ask(db, "CREATE SCHEMA target")
    with as_user(server, name, "mallory") as mallory:
        plant(mallory, "trap")
    for into in ("target", "trap"):
        ask(db, "SET search_path = trap, public")
        ask(db, f"CREATE EXTENSION tamis SCHEMA {into}")
        ask(db, f"SET search_path = {into}, trap, public")
        check(db, ("SELECT tamis_filter_agg(1, 10, 0.01)::tamis_filter @> 1", True),
              ("SELECT tamis_contains(tamis_filter_agg(1, 10, 0.01), 'x'::text)", False),
              ("SELECT tamis_is_sketch(tamis_distinct_agg(1))", True))
        fails(db, ("SELECT tamis_distinct_agg(1)::tamis_filter", "23514"))
        check(db, ("SELECT count(*) FROM trap.calls", 0))
        ask(db, "DROP EXTENSION tamis")
    # An object of the same name and arguments is an error, and nothing is left behind.
    ask(db, "SET search_path = public")
    for made, gone in (("TYPE trap.tamis AS (a int)", "TYPE trap.tamis"),
                       ("TYPE trap.tamis_item AS (item text)", "TYPE trap.tamis_item"),
                       ("DOMAIN trap.tamis_filter AS int", "DOMAIN trap.tamis_filter"),
                       ("FUNCTION trap.tamis_version() RETURNS text LANGUAGE sql AS"
                        " 'SELECT 1::text'",
                        "FUNCTION trap.tamis_version()")):
        with as_user(server, name, "mallory") as mallory:
            ask(mallory, f"CREATE {made}")
        assert error(db, "CREATE EXTENSION tamis SCHEMA trap")[:5] in ("42710", "42723", "42P07")
        check(db, ("SELECT count(*) FROM pg_proc WHERE proname = 'tamis_in'", 0))
        ask(db, f"DROP {gone}")
    check(db, ("SELECT count(*) FROM trap.calls", 0))


def test_file(server, _):
    """The module exports only what PostgreSQL calls and needs no library that may be missing. The
    script cannot be run by psql."""
    module = next(INSTALLED.glob("usr/lib/postgresql/15/lib/tamis.so"))
    names = {line.split()[-1] for line in subprocess.run(
        ["nm", "-D", "--defined-only", module], text=True, check=True,
        stdout=subprocess.PIPE).stdout.splitlines()}
    allowed = re.compile("Pg_magic_func|pg_finfo_pg_tamis_|pg_tamis_")
    assert all(map(allowed.match, names)), names
    assert set(re.findall("'(pg_tamis_[a-z_]*)'", script())) <= names
    needs = subprocess.run(["ldd", module], text=True, check=True, stdout=subprocess.PIPE).stdout
    assert {line.split()[0].split(".")[0].split("/")[-1] for line in needs.splitlines()} \
        <= {"linux-vdso", "libm", "libc", "ld-linux-x86-64", "libpthread"}, needs
    out = server.run("psql", "-X", "-d", server.address(), "-f",
                     pathlib.Path(SOURCE, "sql/postgres/tamis--1.0.sql"), check=False)
    assert "Use \"CREATE EXTENSION tamis\" to load this file." in out and "ERROR" not in out, out


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")])
