"""Values of PostgreSQL as keys, by the rules of docs/KEYS.md: what has the same key, whatever the
settings and the encoding of the database, and what is refused. Files whose keys are stated to be
integers, hashes or of a fixed width."""
import contextlib
import datetime
import hashlib
import os
import pathlib
import random
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from postgres_server import ask, error, main, value  # noqa: E402
from test_postgres_functions import check, fails  # noqa: E402

TAMIS = os.environ["TAMIS"]

# A value, and the key that it must have.
KEYS = [
    ("'abc'::text", "abc"), ("''::text", ""), ("'abc '::text", "abc "), ("'é€😀'::text", "é€😀"),
    ("'abc'::varchar(5)", "abc"), ("'abc  '::varchar(5)", "abc  "), ("'é'::varchar", "é"),
    ("'abc'::char(10)", "abc"), ("'abc  '::char(5)", "abc"), ("' a b '::char(9)", " a b"),
    ("''::char(3)", ""), ("'é'::char(4)", "é"), ("'a'::bpchar", "a"),
    ("'pg_class'::name", "pg_class"), ("''::name", ""), (f"'{'n' * 63}'::name", "n" * 63),
    (r"'\x00ff'::bytea", b"\x00\xff"), (r"'\x'::bytea", ""), ("'abc'::bytea", "abc"),
    ("7::smallint", "7"), ("(-32768)::smallint", "-32768"), ("32767::smallint", "32767"),
    ("0::int", "0"), ("(-1)::int", "-1"), ("2147483647::int", "2147483647"),
    ("(-2147483648)::int", "-2147483648"), ("10::int", "10"), ("99::int", "99"),
    ("100::int", "100"), ("101::bigint", "101"), ("9223372036854775807::bigint", str(2**63 - 1)),
    ("(-9223372036854775808)::bigint", str(-2**63)), ("1000000000000::bigint", "1000000000000"),
    ("1::numeric", "1"), ("1.0::numeric", "1"), ("1.00::numeric(9,2)", "1"), ("0::numeric", "0"),
    ("-0.0::numeric", "0"), ("0.000::numeric(9,3)", "0"), ("100::numeric", "100"),
    ("-5.50::numeric", "-5.5"), ("0.10::numeric", "0.1"), ("1e-10::numeric", "0.0000000001"),
    ("9223372036854775807.0::numeric", str(2**63 - 1)),
    ("9223372036854775808::numeric", str(2**63)),
    ("(-9223372036854775808)::numeric", str(-2**63)),
    ("-9223372036854775809::numeric", str(-2**63 - 1)), ("1e30::numeric", "1" + "0" * 30),
    ("1e300::numeric", "1" + "0" * 300), ("12345678901234567890.5::numeric",
                                          "12345678901234567890.5"),
    ("'A0EEBC99-9C0B-4EF8-BB6D-6BB9BD380A11'::uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"),
    ("'{00000000000000000000000000000000}'::uuid", "00000000-0000-0000-0000-000000000000"),
    ("date '2024-02-29'", "2024-02-29"), ("date '0001-01-01'", "0001-01-01"),
    ("date '9999-12-31'", "9999-12-31"), ("date '10000-01-01'", "+10000-01-01"),
    ("date '5874897-12-31'", "+5874897-12-31"), ("date '0001-12-31 BC'", "0000-12-31"),
    ("date '0044-03-15 BC'", "-0043-03-15"), ("date '4714-11-24 BC'", "-4713-11-24"),
    ("timestamp '2024-01-02 03:04:05'", "2024-01-02T03:04:05"),
    ("timestamp '2024-01-02'", "2024-01-02T00:00:00"),
    ("timestamp '2024-01-02 24:00:00'", "2024-01-03T00:00:00"),
    ("timestamp '2024-01-02 03:04:05.5'", "2024-01-02T03:04:05.5"),
    ("timestamp '2024-01-02 03:04:05.123456'", "2024-01-02T03:04:05.123456"),
    ("timestamp '2024-01-02 03:04:05.000001'", "2024-01-02T03:04:05.000001"),
    ("timestamp '2024-01-02 03:04:05.100000'", "2024-01-02T03:04:05.1"),
    ("timestamp(0) '2024-01-02 03:04:05.4'", "2024-01-02T03:04:05"),
    ("timestamp '1969-12-31 23:59:59.9'", "1969-12-31T23:59:59.9"),
    ("timestamp '294276-12-31 23:59:59.999999'", "+294276-12-31T23:59:59.999999"),
    ("timestamp '0001-06-01 12:00 BC'", "0000-06-01T12:00:00"),
    ("timestamp '4714-11-24 00:00 BC'", "-4713-11-24T00:00:00"),
    ("timestamptz '2024-01-02 03:04:05Z'", "2024-01-02T03:04:05Z"),
    ("timestamptz '2024-01-02 03:04:05+05:45'", "2024-01-01T21:19:05Z"),
    ("timestamptz '2024-07-01 12:00:00.25 America/New_York'", "2024-07-01T16:00:00.25Z"),
    ("timestamptz '1883-01-01 00:00 Europe/Paris'", "1882-12-31T23:50:39Z"),
    ("timestamptz '0100-01-01 00:00Z BC'", "-0099-01-01T00:00:00Z"),
    ("timestamptz '12024-01-01 00:00Z'", "+12024-01-01T00:00:00Z"),
    ("'x'::a_text", "x"), ("'x'::a_char", "x"), ("7.0::a_number", "7"),
    ("date '2024-01-02'::a_date", "2024-01-02"), ("'x'::a_nested", "x"),
]
REFUSED = [
    ("1::real", "real"), ("1::float8", "double precision"), ("true", "boolean"),
    ("'{}'::json", "json"), ("'{}'::jsonb", "jsonb"), ("array[1]", "integer[]"),
    ("array['a']", "text[]"), ("'red'::colour", "colour"), ("interval '1 day'", "interval"),
    ("time '12:00'", "time without time zone"), ("timetz '12:00Z'", "time with time zone"),
    ("inet '10.0.0.1'", "inet"), ("1::oid", "oid"), ("'a'::\"char\"", '"char"'),
    ("point '(1,2)'", "point"), ("int4range(1, 2)", "int4range"), ("row(1, 2)", "record"),
    ("1::money", "money"), ("b'101'", "bit"), ("'pg_class'::regclass", "regclass"),
    ("tamis_empty('bloom', 9, 0.1)", "tamis"), ("1::a_float", "a_float"),
]


def make_types(db):
    for name, base in (("a_text", "text"), ("a_char", "char(5)"), ("a_number", "numeric"),
                       ("a_date", "date"), ("a_nested", "a_text"), ("a_float", "float8")):
        ask(db, f"CREATE DOMAIN {name} AS {base}")
    ask(db, "CREATE TYPE colour AS ENUM ('red')")
    ask(db, "CREATE EXTENSION citext")


def same_key(expression):
    """Whether the value has the key $1: a distinct sketch of one key has the hash of it."""
    return f"SELECT tamis_distinct_agg({expression})::bytea = tamis_distinct_agg(%s::bytea)::bytea"


def test_keys(_, db):
    make_types(db)
    for expression, key in KEYS:
        key = key if isinstance(key, bytes) else key.encode()
        assert value(db, same_key(expression), key), (expression, key)
        # The same for a query, an add and an estimate of a filter that a constant is.
        assert value(db, f"SELECT tamis_distinct_agg(%s::bytea) @> {expression}", key), expression
        assert value(db, "SELECT tamis_add(tamis_empty('distinct', error => 0.1), "
                         f"{expression})::bytea = tamis_add(tamis_empty('distinct', error => 0.1), "
                         "%s::bytea)::bytea", key), expression
        assert value(db, f"SELECT tamis_estimate(tamis_count_agg({expression}, 5), %s::bytea)",
                     key) == 5, expression


def test_settings(_, db):
    """Neither the time zone nor a format of the session changes a key."""
    make_types(db)
    for settings in ("TimeZone = 'Asia/Kathmandu'", "TimeZone = 'America/New_York'",
                     "DateStyle = 'German'", "DateStyle = 'SQL, DMY'", "DateStyle = 'Postgres'",
                     "bytea_output = 'escape'", "extra_float_digits = 0", "xmloption = 'content'",
                     "IntervalStyle = 'iso_8601'", "lc_monetary = 'C.UTF-8'",
                     "lc_numeric = 'C.UTF-8'", "standard_conforming_strings = on"):
        ask(db, f"SET {settings}")
        for expression, key in KEYS[::3] if "TimeZone" not in settings else KEYS:
            key = key if isinstance(key, bytes) else key.encode()
            assert value(db, same_key(expression), key), (settings, expression)
    ask(db, "SET TimeZone = 'Europe/Berlin'")
    time = "'2024-07-01 12:00'"
    check(db, (f"SELECT tamis_distinct_agg({time}::timestamptz) @> '2024-07-01T10:00:00Z'", True),
          (f"SELECT tamis_distinct_agg({time}::timestamp) @> '2024-07-01T12:00:00'", True))


def test_times(_, db):
    """Random times against the calendar of Python, in changing time zones."""
    rng = random.Random(25)
    start = datetime.datetime(1, 1, 1)
    ask(db, "CREATE TABLE times (t timestamp, z timestamptz, d date, key text)")
    rows = []
    for _ in range(3000):
        fraction = rng.choice((0, rng.randrange(10**6), rng.randrange(10) * 100000))
        t = start + datetime.timedelta(seconds=rng.randrange(9998 * 365 * 86400),
                                       microseconds=fraction)
        text = t.isoformat()
        rows.append((text, text + "Z", t.date().isoformat(),
                     text.rstrip("0") if "." in text else text))
    with db.cursor() as cursor:
        psycopg2_rows = ",".join(cursor.mogrify("(%s, %s, %s, %s)", row).decode() for row in rows)
        cursor.execute("INSERT INTO times VALUES " + psycopg2_rows)
    for zone in ("UTC", "America/New_York", "Asia/Kathmandu", "Pacific/Apia", "Europe/London"):
        ask(db, f"SET TimeZone = '{zone}'")
        wrong = ask(db, """WITH e AS MATERIALIZED (SELECT tamis_empty('distinct', error => 0.3) e)
            SELECT t, z, key FROM times, e WHERE
            tamis_add(e, t)::bytea <> tamis_add(e, key)::bytea OR
            tamis_add(e, z)::bytea <> tamis_add(e, key || 'Z')::bytea OR
            tamis_add(e, d)::bytea <> tamis_add(e, left(key, 10))::bytea""")
        assert wrong == [], wrong[:3]


def test_numbers(_, db):
    """Random numbers: integers of any type and numerics of any scale have the key of the shortest
    decimal text."""
    rng = random.Random(26)
    ask(db, "CREATE TABLE numbers (n numeric, key text)")
    rows = []
    for _ in range(2000):
        whole = rng.choice((0, rng.randrange(10), rng.randrange(2**63), rng.randrange(10**40)))
        part = rng.choice(("", str(rng.randrange(1, 10**6)).zfill(6), "5"))
        sign = rng.choice(("", "-"))
        zeros = "0" * rng.randrange(4)
        text = f"{sign}{whole}" + (f".{part}{zeros}" if part else f".{zeros}0" if zeros else "")
        plain = f"{whole}" + (f".{part.rstrip('0')}" if part.rstrip("0") else "")
        rows.append((text, plain if plain == "0" else sign + plain))
    with db.cursor() as cursor:
        cursor.execute("INSERT INTO numbers VALUES " + ",".join(
            cursor.mogrify("(%s, %s)", row).decode() for row in rows))
    wrong = ask(db, """WITH e AS MATERIALIZED (SELECT tamis_empty('distinct', error => 0.3) e)
        SELECT n, key FROM numbers, e WHERE tamis_add(e, n)::bytea <> tamis_add(e, key)::bytea
        OR (scale(n) = 0 AND abs(n) < 9e18 AND
            tamis_add(e, n::bigint)::bytea <> tamis_add(e, key)::bytea)""")
    assert wrong == [], wrong[:3]


def test_refused(_, db):
    make_types(db)
    ask(db, "CREATE TABLE f AS SELECT tamis_filter_agg(1, 10, 0.01) f, tamis_count_agg(1) c")
    for expression, name in REFUSED:
        message = f"42804: tamis: values of type {name} have no agreed key"
        if name == '"char"':  # which is cast to text as well, so the operator is not unique
            fails(db, (f"SELECT f @> {expression} FROM f", "42725"))
            continue
        for query in (f"f @> {expression}", f"tamis_contains(f, {expression})",
                      f"tamis_add(f, {expression})", f"tamis_add(c, {expression}, 2)",
                      f"tamis_estimate(c, {expression})",
                      f"tamis_estimate_bounds(c, {expression})"):
            fails(db, (f"SELECT {query} FROM f", message))
        for call in ("approx_count_distinct({})", "approx_top_k({}, 3)", "tamis_seal_agg({}, 0.1)",
                     "tamis_filter_agg({}, 10, 0.1)", "tamis_count_agg({})", "tamis_top_agg({})"):
            fails(db, (f"SELECT {call.format(expression)}", message))
    infinite = "22008: tamis: an infinite date or timestamp has no ISO 8601 text"
    for expression in (f"{name} '{sign}infinity'" for sign in ("", "-")
                       for name in ("date", "timestamp", "timestamptz")):
        fails(db, (f"SELECT f @> {expression} FROM f", infinite),
              (f"SELECT approx_count_distinct({expression})", infinite))
    for expression in ("'NaN'::numeric", "'Infinity'::numeric", "'-Infinity'::numeric"):
        fails(db, (f"SELECT f @> {expression} FROM f", "22003: tamis: NaN and infinity"),
              (f"SELECT approx_count_distinct({expression})", "22003: tamis: NaN and infinity"))
    # The hint says what to do, and does it.
    check(db, ("SELECT approx_count_distinct(v::text) FROM (VALUES (1::float8), (2)) s(v)", 2))


def test_citext(_, db):
    """PostgreSQL passes citext as text by itself, by which 'Ann' and 'ann' would differ."""
    ask(db, "CREATE EXTENSION citext")
    ask(db, "CREATE DOMAIN address AS citext")
    ask(db, "CREATE TABLE people (e citext, a address, v varchar(9), d name)")
    ask(db, "INSERT INTO people VALUES ('Ann', 'Ann', 'ann', 'ann')")
    ask(db, "CREATE TABLE f AS SELECT tamis_filter_agg('ann'::text, 10, 0.01) f,"
            " tamis_count_agg('ann'::text) c")
    for column, name in (("e", "citext"), ("a", "address")):
        message = f"42804: tamis: values of type {name} have no agreed key"
        for query in (f"f @> {column}", f"tamis_contains(f, {column})", f"tamis_add(f, {column})",
                      f"tamis_estimate(c, {column})", f"tamis_add(c, {column}, 2)",
                      f"approx_count_distinct({column})", f"tamis_seal_agg({column}, 0.01)"):
            fails(db, (f"SELECT {query} FROM f, people", message))
    check(db, ("SELECT f @> e::text FROM f, people", False),
          ("SELECT f @> lower(e::text) FROM f, people", True),
          ("SELECT f @> v AND f @> d FROM f, people", True),
          ("SELECT tamis_contains(f, v) AND tamis_contains(f, d) FROM f, people", True))


def test_collations(_, db):
    """Text that is equal in SQL but not byte by byte would be missed, so it is refused."""
    ask(db, "CREATE COLLATION folded (provider = icu, locale = 'und-u-ks-level2',"
            " deterministic = false)")
    ask(db, "CREATE TABLE words (w text COLLATE folded)")
    ask(db, "INSERT INTO words VALUES ('Straße'), ('STRASSE'), ('strasse')")
    message = "0A000: tamis: texts of a nondeterministic collation have no agreed key"
    ask(db, "CREATE TABLE f AS SELECT tamis_filter_agg('strasse'::text, 10, 0.01) f")
    fails(db, ("SELECT f @> w FROM words, f", message),
          ("SELECT approx_count_distinct(w) FROM words", message),
          ("SELECT tamis_seal_agg(w, 0.01) FROM words", message),
          ("SELECT tamis_add(f, w) FROM words, f", message))
    check(db, ("SELECT count(*) FROM words, f WHERE f @> (w COLLATE \"C\")", 1),
          ("SELECT approx_count_distinct(w COLLATE \"C\") FROM words", 3),
          ("SELECT approx_count_distinct(w COLLATE \"de-x-icu\") FROM words", 3),
          ("SELECT approx_count_distinct(lower(w COLLATE \"C\")) FROM words", 2))


def in_encoding(server, encoding):
    """A connection to a database of this encoding."""
    with contextlib.closing(server.connect()) as db:
        ask(db, f"CREATE DATABASE \"enc_{encoding}\" ENCODING '{encoding}' TEMPLATE template0"
                " LC_COLLATE 'C' LC_CTYPE 'C'")
    db = server.connect(f"enc_{encoding}")
    ask(db, "CREATE EXTENSION tamis")
    return db


def test_latin1(server, db):
    """In a database of another encoding, text is converted to UTF-8, and lists are converted
    back."""
    words = ["Müller", "naïve", "plain", "ÿ"]
    made = bytes(value(db, "SELECT tamis_seal_agg(w, 1e-6)::bytea FROM unnest(%s) w", words))
    top = bytes(value(db, "SELECT tamis_top_agg(w)::bytea FROM unnest(%s) w", words))
    euro = bytes(value(db, "SELECT tamis_top_agg('€'::text)::bytea"))
    with contextlib.closing(in_encoding(server, "LATIN1")) as latin:
        check(latin, ("SHOW server_encoding", "LATIN1"))
        for cast in ("text", "varchar", "char(9)", "name"):
            assert bytes(value(latin, f"SELECT tamis_seal_agg(w::{cast}, 1e-6)::bytea"
                                      " FROM unnest(%s) w", words)) == made, cast
        assert all(value(latin, "SELECT %s::bytea::tamis @> %s", made, word) for word in words)
        assert not value(latin, "SELECT %s::bytea::tamis @> %s", made, "Muller")
        # Bytes are not converted.
        assert not value(latin, "SELECT %s::bytea::tamis @> %s::bytea", made, b"M\xfcller")
        assert value(latin, "SELECT %s::bytea::tamis @> %s::bytea", made, "Müller".encode())
        items = ask(latin, "SELECT item FROM tamis_list(%s::bytea::tamis)", top)
        assert sorted(item for item, in items) == sorted(words), items
        assert value(latin, "SELECT (approx_top_k('é'::text, 1))[1].item") == "é"
        assert error(latin, "SELECT * FROM tamis_list(%s::bytea::tamis)", euro).startswith("22P05")
        fails(latin, ("SELECT tamis_empty('blocked', 0, 0.1)", "22023"))
    with contextlib.closing(in_encoding(server, "SQL_ASCII")) as ascii_:
        ascii_.set_client_encoding("SQL_ASCII")
        assert value(ascii_, "SELECT tamis_seal_agg('plain'::text, 0.01) @> 'plain'::bytea")
    with contextlib.closing(in_encoding(server, "EUC_JP")) as japan:
        assert value(japan, "SELECT tamis_distinct_agg('日本'::text) @> %s::bytea", "日本".encode())


def shell(*words, text=""):
    done = subprocess.run([TAMIS, *map(str, words)], input=text, text=True, capture_output=True,
                          check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_encodings(_, db):
    """Files that state what their keys are: the right types work, and others are errors."""
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room, "f")

        def build(encoding, lines):
            shell("build", "-qf", "--items", 100, "--encoding", encoding, "-o", path, text=lines)
            return path.read_bytes()

        def answer(image, expression):
            return value(db, f"SELECT %s::bytea::tamis @> {expression}", image)

        def problem(image, expression):
            return error(db, f"SELECT %s::bytea::tamis @> {expression}", image)
        ids = build("int64le", "".join(f"{i}\n" for i in (-5, 7, 2**62)))
        for expression in ("7", "7::smallint", "7::bigint", "7.00", "2::numeric ^ 62", "(-5)",
                           r"'\x0700000000000000'::bytea"):
            assert answer(ids, expression), expression
        assert not answer(ids, "8") and not answer(ids, r"'\x0800000000000000'::bytea")
        integers = "42804: tamis: the keys are integers (int64le)"
        for expression in ("'7'", "'7'::text", "'7'::char(3)", "7.5", "1e30", "date '2024-01-01'",
                           "gen_random_uuid()", "now()"):
            assert problem(ids, expression).startswith(integers), expression
        width = "42804: tamis: the value does not have the length of the keys"
        assert problem(ids, r"'\x07'::bytea").startswith(width)
        path.write_bytes(bytes(value(db, "SELECT tamis_add(%s::bytea::tamis, 8)::bytea", ids)))
        assert shell("check", path, text="7\n8\n-5\n") == "7\n8\n-5\n"
        assert error(db, "SELECT tamis_add(%s::bytea::tamis, '8')", ids).startswith(integers)
        codes = build("fixed:4", "ABCD\n1234\né12\n")
        for expression in ("'ABCD'", "1234", "'é12'", "'ABCD'::bytea", "'ABCD'::char(9)"):
            assert answer(codes, expression), expression
        for expression in ("'ABC'", "123", "'abcdé'", "''", "'ABCD '"):
            assert problem(codes, expression).startswith(width), expression
        texts = build("text", "7\nx\n")
        assert answer(texts, "7") and answer(texts, "'x'") and not answer(texts, "8")
        assert value(db, "SELECT tamis_info(%s::bytea::tamis)->>'encoding'", ids) == "int64le"
        assert value(db, "SELECT tamis_info(%s::bytea::tamis)->'key_width'", codes) == 4
        pathlib.Path(room, "list").write_text("evil.example\n", encoding="utf-8")
        shell("guard", "build", pathlib.Path(room, "guard"), f"malware={room}/list")
        guard = pathlib.Path(room, "guard/1.filter").read_bytes()
        digest = hashlib.sha256(b"evil.example/").hexdigest()
        assert answer(guard, f"'\\x{digest}'::bytea")
        assert answer(guard, "sha256('evil.example/')") and not answer(guard, "sha256('x')")
        hashes = "42804: tamis: the keys are SHA-256 hashes"
        for expression in ("'evil.example/'", "7", f"'{digest}'", "gen_random_uuid()"):
            assert problem(guard, expression).startswith(hashes), expression
        assert problem(guard, "'evil.example/'::bytea").startswith(width)
        # Merging with another encoding is refused; with one that states none, it is kept.
        other = build("text", "8\n9\n10\n")
        assert error(db, "SELECT %s::bytea::tamis || %s::bytea::tamis", ids,
                     other).startswith("42804: tamis: ")


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")])
