"""Maps in SQLite: a value for each key. They are compared with an exact dictionary and with the
file of the command, and what cannot be a map is refused.

The seeds are fixed. Strangers get a value by chance, with a binomial number of them; each test
allows as many as occur with a probability below 1e-12."""
import json
import os
import pathlib
import random
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from sqlite_loaded import GOLDEN, connect, error, golden_parts, main, one, shell  # noqa: E402
from test_sqlite_model import most_by_chance  # noqa: E402


def pairs_table(db, pairs):
    db.execute("DROP TABLE IF EXISTS t")
    db.execute("CREATE TABLE t (k, v)")
    db.execute("BEGIN")
    db.executemany("INSERT INTO t VALUES (?, ?)", pairs)
    db.execute("COMMIT")


def some_pairs(n, most):
    rng = random.Random(n)
    return [(f"key-{i}", rng.randrange(most + 1)) for i in range(n)]


def test_model():
    """Every member gets its value, whatever the type of its key, and strangers get NULL, except at
    the rate."""
    db = connect()
    for n, most in ((0, 1), (1, 0), (2, 2**32 - 1), (700, 255), (20000, 5)):
        pairs = [(k if i % 3 else (k.encode() if i % 2 else i), v)
                 for i, (k, v) in enumerate(some_pairs(n, most))]
        pairs_table(db, pairs + [(None, 7), ("ignored", None)] + pairs[:n // 2])
        f = one(db, "SELECT tamis_map_agg(k, v) FROM t")
        wrong = one(db, "SELECT count(*) FROM t WHERE v IS NOT tamis_value(?, k) AND "
                        "k IS NOT NULL AND k <> 'ignored'", f)
        assert wrong == 0, (n, wrong)
        info = json.loads(one(db, "SELECT tamis_info(?)", f))
        assert (info["kind"], info["sealed"], info["items"]) == ("map", True, n)
        assert info["cell_bits"] == max(1, max([v for _, v in pairs], default=0).bit_length())
        strangers = json.dumps([f"other-{i}" for i in range(5000)])
        found = one(db, "SELECT count(tamis_value(?, value)) FROM json_each(?)", f, strangers)
        assert found <= most_by_chance(5000, info["fpr_now"]) and info["fpr_now"] <= 0.01
        assert found == one(db, "SELECT sum(tamis_contains(?, value)) FROM json_each(?)", f,
                            strangers)
    assert one(db, "SELECT tamis_value(NULL, 1) IS NULL AND tamis_value(?, NULL) IS NULL", f)
    assert one(db, "SELECT tamis_map_agg(k, v) FROM t WHERE false") is None


def test_rate_one():
    """Then every key has a value, and a map takes little more than its values."""
    db = connect()
    pairs_table(db, some_pairs(20000, 255))
    f = one(db, "SELECT tamis_map_agg(k, v, 1) FROM t")
    assert len(f) < 20000 * 1.01 + 1000, len(f)
    assert one(db, "SELECT count(*) FROM t WHERE tamis_value(?, k) IS NOT v", f) == 0
    assert one(db, "SELECT count(tamis_value(?, 'other-' || k)) FROM t", f) == 20000


def test_same_bytes():
    """The file that the command makes of the same pairs, in any order and with repeated rows, and
    the command gets the values of a BLOB."""
    db = connect()
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room, "f")
        for n, most, rate, bits in ((1, 1, 0.01, 0), (300, 65535, 1 / 256, 0), (20000, 9, 0.01, 0),
                                    (20000, 9, 1, 0), (5000, 9, 1e-6, 20)):
            pairs = some_pairs(n, most)
            text = "".join(f"{k}\t{v}\n" for k, v in pairs).encode()
            words = ("--value-bits", bits) if bits else ()
            shell("build", "-q", "-f", "--kind", "map", "--value-field", 2, "--fpr", rate, *words,
                  "-o", path, text=text)
            pairs_table(db, sorted(pairs + pairs[:50], key=lambda pair: pair[0][::-1]))
            f = one(db, f"SELECT tamis_map_agg(k, v, ?{', ?' if bits else ''}) FROM t", rate,
                    *([bits] if bits else []))
            assert f == path.read_bytes(), (n, most, rate)
            if rate == 0.01:
                assert f == one(db, "SELECT tamis_map_agg(k, v) FROM t")
            assert one(db, "SELECT count(*) FROM t WHERE tamis_value(tamis_file(?), k) IS NOT v",
                       str(path)) == 0
            asked = "".join(f"{k}\n" for k, _ in pairs).encode()
            path.write_bytes(f)
            assert shell("get", path, text=asked) == text


def test_golden():
    """The values that tests/golden/values.txt has."""
    db = connect()
    asked = 0
    for name, (_, lines) in golden_parts("values.txt").items():
        image = (GOLDEN / name).read_bytes()
        if "keyed" in name or "caller" in name:
            assert error(db, "SELECT tamis_value(?, 'a')", image).startswith("tamis_value: ")
            continue
        for word, wanted in lines:
            raw = b"" if word == "-" else bytes.fromhex(word)
            assert one(db, "SELECT tamis_value(?, ?)", image, raw) == \
                (None if wanted == "-" else int(wanted)), (name, word)
            asked += 1
    assert asked > 300, asked


def test_errors():
    db = connect()
    rows = "FROM (SELECT 'a' AS k, 3 AS v UNION ALL SELECT 'é''b', 7 UNION ALL SELECT 'a', {})"
    two = f"SELECT tamis_map_agg(k, v) {rows}"
    assert one(db, two.format(3)) is not None
    assert error(db, two.format(5)) == "tamis_map_agg: the key 'a' has two values, 3 and 5"
    assert error(db, "SELECT tamis_map_agg(k, v) FROM (SELECT 'é' || char(0) AS k, 1 AS v UNION "
                     "ALL SELECT 'é' || char(0), 0)") == \
        "tamis_map_agg: the key '\\xc3\\xa9\\x00' has two values, 0 and 1"
    for value, bits, what in ((-1, 32, "from 0 to 4294967295, not -1"),
                              (2**32, 32, "from 0 to 4294967295, not 4294967296"),
                              (8, 3, "from 0 to 7, not 8")):
        assert error(db, "SELECT tamis_map_agg('a', ?, 0.01, ?)", value, bits) == \
            f"tamis_map_agg: the value of a key must be {what}"
    for value in ("'3'", "3.0", "x'33'"):
        assert error(db, f"SELECT tamis_map_agg('a', {value})") == \
            "tamis_map_agg: the value of a key must be an INTEGER"
    for rate in ("1.01", "2"):
        assert error(db, f"SELECT tamis_map_agg('a', 1, {rate})").endswith("must be at most 1")
    for rate in ("0", "-1", "'x'", "NULL"):
        assert "the false-positive rate must be" in error(db,
                                                          f"SELECT tamis_map_agg('a', 1, {rate})")
    assert error(db, "SELECT tamis_map_agg('a', 1, 0.01, 33)").endswith("a value has 1 to 32 bits")
    assert error(db, "SELECT tamis_map_agg('a', 1, 0.01, 0)").endswith("must be above 0")
    assert error(db, "SELECT tamis_map_agg('a', 1, 1e-12)").startswith("tamis_map_agg: a map ")
    assert error(db, "SELECT tamis_map_agg(k, v, v / 100.0) FROM (SELECT 1 AS k, 1 AS v UNION ALL "
                     "SELECT 2, 2)").endswith("must be the same in all rows of a group")
    assert error(db, "SELECT tamis_filter_agg(1, 10, 0.01, 'map')") == \
        "tamis_filter_agg: a map has a value for each key; see tamis_map_agg"
    for maker in ("tamis_seal_agg(1, 0.01)", "tamis_count_agg(1)"):
        f = one(db, f"SELECT {maker}")
        assert error(db, "SELECT tamis_value(?, 1)", f).endswith(
            " have no values; use the kind map"), maker
    f = one(db, "SELECT tamis_map_agg('a', 3)")
    for call in ("tamis_add(?1, 'b')", "tamis_add(?1, 'b', 4)", "tamis_merge(?1, ?1)",
                 "tamis_estimate(?1, 'a')"):
        assert error(db, f"SELECT {call}", f).startswith("tamis_"), call
    assert one(db, "SELECT tamis_value(tamis_empty('map', 10, 0.01), 'a')") is None


if __name__ == "__main__":
    main([test_model, test_rate_one, test_same_bytes, test_golden, test_errors])
