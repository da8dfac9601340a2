"""Hostile bytes for the PostgreSQL extension: the corpora of the fuzz targets, damaged golden
images, and images whose sums were repaired after the damage. They are errors or whole values, on
which every function works or fails; no process crashes, none takes much memory, and a damaged value
that is stored never gets an answer.

TAMIS_SQL_DEEP=1 makes ten times as many. The seeds are fixed."""
import base64
import contextlib
import os
import pathlib
import random
import struct
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import psycopg2  # noqa: E402
from forged import resummed, twins  # noqa: E402
from postgres_server import (SOURCE, Server, ask, error, main, status_of, value)  # noqa: E402
from test_postgres_exchange import copy_binary  # noqa: E402
from test_postgres_functions import check  # noqa: E402
from test_postgres_sessions import HELPERS  # noqa: E402

GOLDEN = pathlib.Path(SOURCE, "tests/golden")
CORPUS = pathlib.Path(SOURCE, "tests/fuzz/corpus")
CORPORA = ("image", "reader", "pack", "foreign", "distinct", "frequency")
ROUNDS = 6000 if os.environ.get("TAMIS_SQL_DEEP") == "1" else 600
MAGIC = bytes.fromhex("8954414d49530d0a")

# Everything that can be done with a value.
VERBS = ("tamis_info({})", "tamis_cardinality({})", "tamis_is_sketch({})", "{} @> 'x'", "{} @> 7",
         "{} @> 'x'::bytea", "tamis_value({}, 'x')", "tamis_value({}, 7)",
         "tamis_estimate({}, 'x')", "tamis_estimate_bounds({}, 12345678)",
         "(SELECT count(item) FROM tamis_list({}))", "(SELECT count(*) FROM tamis_list({}, 2))",
         "tamis_add({}, 'x')", "tamis_add({}, 7)", "tamis_add({}, 'x', 3)",
         "tamis_add({}, 'x', -3)", "tamis_merge({}, {})", "{} || tamis_empty('bloom', 9, 0.1)",
         "tamis_compare({}, {})", "{}::tamis_filter", "{}::tamis_sketch", "tamis_union_agg({})",
         "length({}::text)", "length({}::bytea)", "length(tamis_send({}))")
# What an error may be: no kind that hides a fault of the code.
EXPECTED = {"22P03", "22023", "0A000", "42804", "55000", "54000", "22003", "23514", "22000",
            "22P02", "53200"}

EXERCISE = HELPERS + """
CREATE FUNCTION exercise(t tamis, verbs text[]) RETURNS text[] LANGUAGE plpgsql AS $$
    DECLARE verb text; codes text[] := '{}';
    BEGIN FOREACH verb IN ARRAY verbs LOOP
        BEGIN EXECUTE 'SELECT ' || replace(verb, '{}', '$1') USING t; codes := codes || '';
        EXCEPTION WHEN OTHERS THEN codes := codes || SQLSTATE::text; END;
    END LOOP; RETURN codes; END $$;
CREATE FUNCTION accepted(images bytea[]) RETURNS int LANGUAGE plpgsql AS $$
    DECLARE image bytea; n int := 0;
    BEGIN FOREACH image IN ARRAY images LOOP
        BEGIN PERFORM image::tamis; n := n + 1;
        EXCEPTION WHEN invalid_binary_representation OR feature_not_supported THEN NULL; END;
    END LOOP; RETURN n; END $$;
"""


def goldens():
    return [path.read_bytes() for path in sorted(GOLDEN.glob("*.tamis"))]


def exercise(db, image):
    """Casts bytes and uses the value, if there is one, in every way. Returns whether there is."""
    try:
        codes = value(db, "SELECT exercise(%s::bytea::tamis, %s)", image, list(VERBS))
    except psycopg2.Error as failure:
        assert failure.pgcode in EXPECTED, (failure, image[:200].hex())
        return False
    for verb, code in zip(VERBS, codes):
        assert code in EXPECTED | {""}, (verb, code, image[:200].hex())
    return True


def test_corpora(_, db):
    """Every file of the corpora, and every image within one, in each way into the database."""
    ask(db, EXERCISE)
    ask(db, "CREATE TABLE one (f tamis)")
    ask(db, "SET statement_timeout = '60s'")
    files = [path for name in CORPORA for path in sorted((CORPUS / name).iterdir())]
    assert len(files) > 150
    good = 0
    for path in files:
        data = path.read_bytes()
        at = data.find(MAGIC, 1)
        for image in {data, data[at:] if at > 0 else data}:
            good += exercise(db, image)
            for way in ("text", "binary", "garbage"):
                with contextlib.suppress(psycopg2.Error):
                    if way == "binary":
                        copy_binary(db, "one", image)
                    elif way == "text":
                        value(db, "SELECT length(%s::tamis::bytea)",
                              base64.b64encode(image).decode())
                    else:
                        value(db, "SELECT tamis_in(%s)", image.decode("latin-1").replace("\0", " "))
    assert 20 < good < len(files), good
    pid = value(db, "SELECT pg_backend_pid()")
    assert status_of(pid, "VmHWM") < 400 << 10, status_of(pid, "VmHWM")


def test_damage(_, db):
    """Images that are cut, longer, or have one wrong bit are refused, wherever it is."""
    ask(db, EXERCISE)
    rng = random.Random(5)
    for image in goldens():
        bad = [image[:n] for n in {0, 1, 8, 64, 126, 127, 128, 129, 191, 192, len(image) - 1,
                                   *(rng.randrange(len(image)) for _ in range(8))}]
        bad += [image + b"\0", image + image, b"\0" + image]
        for _ in range(ROUNDS // 20):
            at = rng.randrange(8 * len(image))
            other = bytearray(image)
            other[at // 8] ^= 1 << at % 8
            bad.append(bytes(other))
        for at in range(0, len(bad), 50):
            assert value(db, "SELECT accepted(%s)", bad[at:at + 50]) == 0, image[:128].hex()


def mutant(rng, image):
    """The image with a few changes, most of them in the header and the table of sections."""
    data = bytearray(image)
    for _ in range(rng.choice((1, 1, 1, 2, 5))):
        at = rng.choice((rng.randrange(128), 128 + rng.randrange(64), rng.randrange(len(data))))
        at = min(at, len(data) - 8)
        change = rng.randrange(4)
        if change == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            data[at] = rng.choice((0, 1, 127, 128, 255, rng.randrange(256)))
        elif change == 2:
            struct.pack_into("<Q", data, at & ~7, rng.choice(
                (0, 1, 2**31, 2**32 - 1, 2**52, 2**63 - 1, 2**63, 2**64 - 1, rng.randrange(2**16))))
        else:
            struct.pack_into("<I", data, at & ~3, rng.choice(
                (0, 1, 3, 255, 65535, 2**31, 2**32 - 1)))
    if rng.randrange(8) == 0:
        data = data[:rng.randrange(1, len(data))]
    return resummed(data)


def test_forged(_, db):
    """Images whose sums are right although their content was changed."""
    ask(db, EXERCISE)
    ask(db, "SET statement_timeout = '60s'")
    rng = random.Random(6)
    sources = [image for image in goldens() if len(image) < 20000
               and struct.unpack_from("<H", image, 28)[0] != 2]
    assert all(resummed(image) == image for image in sources) and len(sources) > 30
    good = sum(exercise(db, mutant(rng, rng.choice(sources))) for _ in range(ROUNDS))
    assert good > ROUNDS // 10, good
    pid = value(db, "SELECT pg_backend_pid()")
    assert status_of(pid, "VmHWM") < 400 << 10, status_of(pid, "VmHWM")


def test_equal_headers(_, db):
    """Two images with the same header and checksums, but other bits: a row of one is never answered
    with the bits of the other, whether the images are in a column, compressed or stored apart, are
    computed, or are constants."""
    for size in (1000, 40000):  # in the row, and outside of it
        pair = twins(bytes(value(db, f"SELECT tamis_empty('bloom', 500, bytes => {size})::bytea")))
        answers = []
        for image in pair:  # of new statements, which keep nothing
            answers.append(value(db, "SELECT array_agg(%s::bytea::tamis @> i ORDER BY i)"
                                     " FROM generate_series(0, 39999) i", image))
        keys = [i for i in range(40000) if answers[0][i] != answers[1][i]]
        assert len(keys) > 2, (size, len(keys))
        ask(db, "CREATE TABLE t (n serial, i int, f tamis)")
        order = (0, 1, 1, 0, 0, 1)
        for i in order:
            ask(db, "INSERT INTO t (i, f) VALUES (%s, %s::bytea::tamis)", i, pair[i])
        for key in keys[:20]:
            expected = [(i, answers[i][key]) for i in order]
            for f in ("f", "f::bytea::tamis", "f::text::tamis"):
                got = ask(db, f"SELECT i, {f} @> {key} FROM t ORDER BY n")
                assert got == expected, (size, f, key)
            for i in order:  # parameters of one prepared statement
                ask(db, "PREPARE q AS SELECT $1::bytea::tamis @> $2::int")
                assert value(db, "EXECUTE q (%s, %s)", pair[i], key) == answers[i][key]
                ask(db, "DEALLOCATE q")
            got = ask(db, f"SELECT i, (SELECT f FROM t AS u WHERE u.n = t.n) @> {key} FROM t"
                          " ORDER BY n")
            assert got == expected, (size, "subquery", key)
        ask(db, "DROP TABLE t")


def test_full(_, db):
    """A filter of which somebody has set every bit contains everything, and has no number."""
    image = bytearray(value(db, "SELECT tamis_empty('bloom', bytes => 1024, fpr => 0.01)::bytea"))
    offset, length = struct.unpack_from("<QQ", image, 128 + 48)
    bits, = struct.unpack_from("<Q", image, 128 + 16)
    image[offset:offset + length] = ((1 << bits) - 1).to_bytes(length, "little")
    full = resummed(image)
    assert value(db, "SELECT %s::bytea::tamis @> 'anything'", full)
    message = error(db, "SELECT tamis_cardinality(%s::bytea::tamis)", full)
    assert message.startswith("22003: tamis: it is too full"), message
    assert value(db, "SELECT tamis_info(%s::bytea::tamis)->>'fpr_now'", full) == "1"


def test_text(_, db):
    """Text that is not base64, or not of an image."""
    rng = random.Random(7)
    for text in ("", "=", "====", "A", "AA", "AAA", "AA==", "\\x", "\\\\", "é", " \n\t",
                 "a" * 100001, "iVRBTUlTDQo=", "iVRBTUlTDQoBAAEA", "NULL", "{}", "%s",
                 *("".join(rng.choices("AB+/=\n -_é\\'", k=rng.randrange(40)))
                   for _ in range(100))):
        message = error(db, "SELECT %s::tamis", text)
        assert message[:5] in ("22P03", "22023", "22P02"), (text, message)


def damaged_ways(db):
    """Values that were stored without a check, and a right one."""
    ask(db, HELPERS)
    image = bytes(value(db, "SELECT tamis_filter_agg(i, 1000, 0.01)::bytea"
                            " FROM generate_series(1, 1000) i"))
    rng = random.Random(8)
    for at in [192, 200, len(image) - 1, *(rng.randrange(192, len(image)) for _ in range(20))]:
        other = bytearray(image)
        other[at] ^= 1 << rng.randrange(8)
        yield bytes(other)
    yield from (b"", b"x", MAGIC, image[:127], image[:128], image[:192], image[:-1], image + b"\0",
                bytes(128), bytes(5000), b"\xff" * 5000)


def test_stored(_, db):
    """A value that is damaged where it is stored is an error in every function, also out of line,
    as an element of an array, and in parallel workers; the answer is never "no"."""
    for image in damaged_ways(db):
        ask(db, "DROP TABLE IF EXISTS f")
        ask(db, "CREATE TABLE f (n int, f tamis)")
        ask(db, "INSERT INTO f SELECT i, raw(%s::bytea) FROM generate_series(1, 3) i", image)
        for verb in VERBS[:-3]:
            message = error(db, f"SELECT {verb.replace('{}', 'f')} FROM f")
            assert message.startswith("22P03: tamis: "), (verb, message)
        for query in ("SELECT n FROM f WHERE f @> n", "SELECT n FROM f WHERE NOT f @> n",
                      "SELECT n FROM f, generate_series(1, 3) i WHERE f @> i OR i = 0",
                      "SELECT (array_agg(f))[2] @> 1 FROM f",
                      "SELECT f FROM f WHERE tamis_contains(f, 'x') IS NULL"):
            assert error(db, query).startswith("22P03: tamis: "), query
    check(db, ("SELECT count(f::text) FROM f", 3))  # so that it can be saved and looked at
    # After a good row, whose header the damaged one has: in the row and out of line.
    for items in (100, 20000):
        ask(db, "TRUNCATE f")
        ask(db, f"INSERT INTO f SELECT 1, tamis_filter_agg(i, {items}, 0.01)"
                " FROM generate_series(1, 100) i")
        ask(db, "INSERT INTO f SELECT 2, raw(set_byte(f, 300, get_byte(f, 300) # 1)) FROM"
                " (SELECT f::bytea FROM f) s(f)")
        check(db, ("SELECT f @> 7 FROM f WHERE n = 1", True))
        for query in ("SELECT f @> 7 FROM f ORDER BY n", "SELECT count(*) FROM f WHERE f @> n",
                      "SELECT f @> i FROM f, generate_series(1, 9) i ORDER BY i, n"):
            message = error(db, query)
            assert message.startswith("22P03: tamis: "), (items, query, message)
    for setting in ("parallel_setup_cost = 0", "parallel_tuple_cost = 0",
                    "min_parallel_table_scan_size = 0", "max_parallel_workers_per_gather = 2"):
        ask(db, f"SET {setting}")
    ask(db, "ALTER TABLE f SET (parallel_workers = 2)")
    assert error(db, "SELECT tamis_union_agg(f) FROM f").startswith("22P03: tamis: ")
    assert error(db, "SELECT count(*) FROM f WHERE f @> n").startswith("22P03: tamis: ")


def test_disk(*_):
    """A bit on the disk flips while the server is down. Every answer of the filter is an error
    then, and other rows are as before."""
    rng = random.Random(10)
    with Server("jit = off", "full_page_writes = off") as server:
        with contextlib.closing(server.connect()) as db:
            ask(db, "CREATE EXTENSION tamis")
            ask(db, """CREATE TABLE f AS SELECT g, tamis_filter_agg(i * g, 5000, 0.01) f,
                tamis_filter_agg(i * g, 40, 0.01) small FROM generate_series(1, 4) g,
                generate_series(1, 30) i GROUP BY g""")
            images = [bytes(field) for row in ask(db, "SELECT f::bytea, small::bytea FROM f"
                                                      " WHERE g IN (1, 2) ORDER BY g")
                      for field in row]
            ask(db, "CHECKPOINT")
        server.run("pg_ctl", "-D", server.data, "-m", "fast", "-w", "stop")
        for image in (images[0], images[3]):  # the long one of row 1, the short one of row 2
            # The rest of an image is long, so this is the only place that has these bytes.
            mark = image[200:232] if any(image[200:232]) else image[192:260]
            files = [path for path in server.data.glob("base/*/*") if path.is_file()]
            found = [(path, path.read_bytes().find(mark)) for path in files]
            (path, at), = [(path, at) for path, at in found if at >= 0]
            with open(path, "r+b") as file:
                file.seek(at + rng.randrange(len(mark)))
                byte = file.read(1)[0]
                file.seek(-1, os.SEEK_CUR)
                file.write(bytes([byte ^ 1 << rng.randrange(8)]))
        server.start()
        with contextlib.closing(server.connect()) as db:
            for column, row in (("f", 1), ("small", 2)):
                for i in range(1, 200):
                    message = error(db, f"SELECT {column} @> {i} FROM f WHERE g = {row}")
                    assert message.startswith("22P03: tamis: "), message
                check(db, (f"SELECT count(*) FROM f, generate_series(1, 30) i WHERE g > 2"
                           f" AND {column} @> (i * g)", 60))


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")])
