"""Maps in PostgreSQL: a value for each key. They are compared with a table, with the file of the
command and among parallel workers, and what cannot be a map is refused.

The hashes of the keys are fixed, so the tests do not depend on chance."""
import os
import pathlib
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from postgres_server import ask, main, value  # noqa: E402
from test_postgres_exchange import GOLDEN, TAMIS, answers_of, as_key, load, put_keys  # noqa: E402
from test_postgres_functions import check, fails  # noqa: E402
from test_postgres_model import both  # noqa: E402


def fill(db, n, most):
    ask(db, "DROP TABLE IF EXISTS pairs, f")
    ask(db, f"CREATE TABLE pairs AS SELECT 'key-' || i k, i::bigint * 7919 % {most + 1} v"
            f" FROM generate_series(1, {n}) i")


def test_values(_, db):
    """Every member gets its value, and a stranger NULL: of 1,000 strangers at a rate of 1 %, 10 are
    expected to get a value, and more than 60 with a probability below 1e-20."""
    for n, most in ((1, 0), (2, 1), (700, 255), (20000, 2**32 - 1)):
        fill(db, n, most)
        ask(db, "CREATE TABLE f AS SELECT tamis_map_agg(k, v) f FROM (SELECT * FROM pairs"
                " UNION ALL SELECT * FROM pairs UNION ALL SELECT NULL, 3"
                " UNION ALL SELECT 'ignored', NULL) s")
        check(db, ("SELECT count(*) FROM pairs, f WHERE tamis_value(f, k) IS DISTINCT FROM v", 0),
              ("SELECT count(*) < 60 FROM f, generate_series(1, 1000) i"
               " WHERE tamis_value(f, 'other-' || i) IS NOT NULL", True),
              ("SELECT tamis_info(f)->>'kind' FROM f", "map"),
              ("SELECT (tamis_info(f)->>'items')::int FROM f", n),
              ("SELECT f::tamis_filter @> 'key-1' FROM f", True))
    check(db, ("SELECT tamis_value(NULL, 1)", None), ("SELECT tamis_value(f, NULL) FROM f", None),
          ("SELECT tamis_map_agg(k, v) FROM pairs WHERE false", None),
          ("SELECT tamis_value(tamis_map_agg(k, v, 1e-6), 'key-2') FROM pairs WHERE v < 0", None),
          ("SELECT tamis_value(tamis_map_agg(i, i * 2), 21) FROM generate_series(1, 99) i", 42),
          ("SELECT tamis_value(tamis_map_agg(d, 5), date '2026-11-17')"
           " FROM (SELECT date '2026-11-17' d) s", 5),
          ("SELECT tamis_value(tamis_map_agg(i, 1) OVER (ORDER BY i), '2')"
           " FROM (VALUES (2)) s(i)", 1),
          ("SELECT count(*) FROM (SELECT i % 9 g, tamis_map_agg(i, i) f"
           " FROM generate_series(1, 900) i GROUP BY 1) s, generate_series(1, 900) i"
           " WHERE i % 9 = g AND tamis_value(f, i) = i", 900))


def test_rate_one(_, db):
    """Then every key has a value, and the map takes little more than its values."""
    fill(db, 20000, 255)
    ask(db, "CREATE TABLE f AS SELECT tamis_map_agg(k, v, 1) f FROM pairs")
    check(db, ("SELECT length(f::bytea) < 20000 * 1.01 + 1000 FROM f", True),
          ("SELECT count(*) FROM pairs, f WHERE tamis_value(f, k) = v", 20000),
          ("SELECT count(tamis_value(f, 'other-' || k)) FROM pairs, f", 20000))


def test_same_bytes(_, db):
    """The file that the command makes of the same pairs, whose values it gets from SQL."""
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room, "f")
        for n, most, rate, bits in ((1, 1, 0.01, 0), (20000, 9, 0.01, 0), (3000, 300, 1, 0),
                                    (5000, 9, 1e-6, 20)):
            fill(db, n, most)
            pairs = ask(db, "SELECT k, v FROM pairs ORDER BY v, k")
            text = "".join(f"{k}\t{v}\n" for k, v in pairs)
            words = ["--value-bits", str(bits)] if bits else []
            subprocess.run([TAMIS, "build", "-q", "-f", "--kind", "map", "--value-field", "2",
                            "--fpr", str(rate), *words, "-o", path], input=text, text=True,
                           check=True)
            image = bytes(value(db, f"SELECT tamis_map_agg(k, v, {rate}"
                                    f"{f', {bits}' if bits else ''})::bytea FROM pairs"))
            assert image == path.read_bytes(), (n, most, rate)
            assert value(db, "SELECT count(*) FROM pairs WHERE tamis_value(%s::bytea::tamis, k)"
                             " = v", image) == n
            path.write_bytes(image)
            got = subprocess.run([TAMIS, "get", path], input="".join(f"{k}\n" for k, _ in pairs),
                                 text=True, check=True, capture_output=True).stdout
            assert got == text


def test_parallel(_, db):
    """Workers make the same bytes, and find a key that has two values in two of them."""
    fill(db, 60000, 1000)
    alone, together = both(db, "SELECT tamis_map_agg(k, v)::bytea FROM pairs")
    assert bytes(alone[0][0]) == bytes(together[0][0])
    alone, together = both(db, "SELECT v % 7, tamis_map_agg(k, v, 1, 10)::bytea FROM pairs"
                               " GROUP BY 1 ORDER BY 1")
    assert [(g, bytes(f)) for g, f in alone] == [(g, bytes(f)) for g, f in together]
    ask(db, "INSERT INTO pairs VALUES ('key-1', 3)")
    fails(db, ("SELECT tamis_map_agg(k, v) FROM pairs", "22023: tamis: "))


def test_golden(_, db):
    """The values that tests/golden/values.txt has."""
    values, _ = answers_of("values.txt")
    asked = 0
    for name, rows in values.items():
        if "keyed" in name:
            continue
        load(db, name)
        put_keys(db, [as_key(key) for key, _ in rows])
        if "caller" in name:
            fails(db, ("SELECT tamis_value(f, key) FROM f, q", "0A000: tamis: "))
            continue
        got = [found for found, in ask(db, "SELECT tamis_value(f, key) FROM q, f ORDER BY at")]
        assert got == [None if n == "-" else int(n) for _, n in rows], name
        asked += len(got)
    assert asked > 300 and len(list(GOLDEN.glob("map*.tamis"))) >= 6


def test_errors(_, db):
    rows = "FROM (VALUES ('a', 3), ('b', 7), ('a', {})) s(k, v)"
    two = f"SELECT tamis_map_agg(k, v) {rows}"
    check(db, (two.format(3) + " HAVING tamis_map_agg(k, v) @> 'a'", value(db, two.format(3))))
    fails(db, (two.format(5), "22023: tamis: the key 'a' has two values, 3 and 5"),
          ("SELECT tamis_map_agg(k, v) FROM (VALUES ('é' || chr(10), 1), ('é' || chr(10), 0))"
           " s(k, v)", "22023: tamis: the key '\\xc3\\xa9\\x0a' has two values, 0 and 1"),
          ("SELECT tamis_map_agg('a'::text, -1)",
           "22023: tamis: the value of a key must be from 0 to 4294967295, not -1"),
          ("SELECT tamis_map_agg(1, 4294967296)", "22023: tamis: the value of a key must be from"),
          ("SELECT tamis_map_agg(1, 8, 0.01, 3)",
           "22023: tamis: the value of a key must be from 0 to 7, not 8"),
          ("SELECT tamis_map_agg(1, 8, 0.01, 33)", "22023: tamis: a value has 1 to 32 bits"),
          ("SELECT tamis_map_agg(1, 8, 0.01, 0)", "22023: tamis: value_bits must be above 0"),
          ("SELECT tamis_map_agg(1, 8, 1e-12)", "22023: tamis: a map reaches 2^-32"),
          ("SELECT tamis_map_agg(1, 8, NULL)", "22004: tamis: the parameters of the aggregate"),
          ("SELECT tamis_map_agg(i, i, 0.01 * i) FROM generate_series(1, 2) i",
           "22023: tamis: the parameters must be the same in all rows of a group"),
          ("SELECT tamis_map_agg(1.5::float8, 1)", "42804: tamis: values of type"),
          ("SELECT tamis_filter_agg(1, 10, 0.01, 'map')",
           "22023: tamis: a map has a value for each key"),
          ("SELECT tamis_value(tamis_seal_agg(1, 0.01), 1)",
           "0A000: tamis: ribbon filters have no values; use the kind map"),
          ("SELECT tamis_value(tamis_count_agg(1), 1)", "0A000: tamis: "),
          ("SELECT tamis_merge(f, f) FROM (SELECT tamis_map_agg(1, 1) f) s", "0A000: tamis: "),
          ("SELECT tamis_add(tamis_map_agg(1, 1), 2)", "55000: tamis: "))
    for rate in ("0", "-1", "1.01", "'NaN'"):
        fails(db, (f"SELECT tamis_map_agg(1, 1, {rate})",
                   "22023: tamis: the false-positive rate of a map must be above 0 and at most 1"))
    check(db, ("SELECT tamis_value(tamis_empty('map', 10, 0.01), 'a')", None))


if __name__ == "__main__":
    main([test_values, test_rate_one, test_same_bytes, test_parallel, test_golden, test_errors])
