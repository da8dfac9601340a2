"""What PostgreSQL stores are the files of the command: the same bytes from the same lines, in both
directions, through COPY, pg_dump and a restore; and the golden images give their answers."""
import base64
import contextlib
import io
import os
import pathlib
import random
import struct
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import psycopg2  # noqa: E402
from forged import resummed  # noqa: E402
from postgres_server import SOURCE, ask, error, main, value  # noqa: E402
from test_postgres_functions import check, fails, make_values  # noqa: E402

TAMIS = os.environ["TAMIS"]
GOLDEN = pathlib.Path(SOURCE, "tests/golden")


def shell(*words, text="", status=0):
    done = subprocess.run([TAMIS, *map(str, words)], input=text, text=True, capture_output=True,
                          check=False)
    assert done.returncode == status, (words, done.stderr)
    return done.stdout


def fill(db, lines):
    """A table `lines` with the lines in order."""
    ask(db, "DROP TABLE IF EXISTS lines")
    ask(db, "CREATE TABLE lines (line text)")
    with db.cursor() as cursor:
        cursor.copy_expert("COPY lines FROM STDIN", io.StringIO("".join(lines)))


def some_lines(n, repeated=3):
    rng = random.Random(n)
    return [f"https://example.org/{rng.randrange(n // repeated + 1)}/é\n" for _ in range(n)]


def test_same_bytes(_, db):
    """The file that the command makes from these lines, in this order."""
    for n in (3, 300, 40000):
        lines = some_lines(n)
        distinct = len(set(lines))
        fill(db, lines)
        with tempfile.TemporaryDirectory() as room:
            path = pathlib.Path(room, "f")
            for call, words in [
                ("tamis_distinct_agg(line)", ("distinct", "--error", "1%")),
                ("tamis_distinct_agg(line, 0.05)", ("distinct", "--error", "5%")),
                ("tamis_distinct_agg(line, 0.0027)", ("distinct",)),
                ("tamis_seal_agg(line, 0.01)", ("build", "--kind", "ribbon", "--items", distinct)),
                ("tamis_seal_agg(line, 1e-5)",
                 ("build", "--kind", "ribbon", "--items", distinct, "--fpr", "1e-5")),
                ("tamis_count_agg(line)", ("count", "--bytes", "1MiB")),
                ("tamis_count_agg(line, 1, 50000)", ("count", "--bytes", "50000")),
                *[(f"tamis_filter_agg(line, {distinct}, 0.004, '{kind}')",
                   ("build", "--items", distinct, "--fpr", "0.004", "--kind", kind))
                  for kind in ("blocked", "bloom", "partitioned", "counting", "ribbon")],
            ]:
                quiet = ("-q",) if words[0] != "distinct" else ()
                shell(words[0], *quiet, "-f", "-o", path, *words[1:], text="".join(lines))
                image = bytes(value(db, f"SELECT {call}::bytea FROM lines"))
                assert path.read_bytes() == image, (n, call, len(image))
            # Without repeated lines, the command plans for the same number by itself.
            shell("build", "-q", "-f", "-o", path, "--kind", "ribbon",
                  text="".join(dict.fromkeys(lines)))
            image = bytes(value(db, "SELECT tamis_seal_agg(line, 0.01)::bytea FROM lines"))
            assert path.read_bytes() == image, n


def test_files_of_sql(_, db):
    """The command reads what SQL wrote: check prints all lines, and info knows the kind."""
    lines = some_lines(5000)
    every = "".join(dict.fromkeys(lines))
    fill(db, lines)
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room, "f")
        for kind in ("auto", "blocked", "bloom", "partitioned", "counting", "pair", "growing",
                     "cuckoo", "fuse", "ribbon"):
            image = value(db, f"SELECT tamis_filter_agg(line, 2000, {1 / 256}, '{kind}')::bytea"
                              " FROM lines")
            path.write_bytes(bytes(image))
            assert shell("check", path, text=every) == every, kind
            # 1,700 others at 1/256 have 7 false positives, and 60 with a probability of 1e-30.
            others = shell("check", "-c", path, text=every + every.replace("org", "net"))
            assert int(others) < every.count("\n") + 60, (kind, others)
            shell("info", path)
            shell("verify", path)
        path.write_bytes(bytes(value(db, "SELECT tamis_distinct_agg(line)::bytea FROM lines")))
        estimate = value(db, "SELECT approx_count_distinct(line) FROM lines")
        assert shell("info", path).find(f"{estimate:,}") >= 0
        path.write_bytes(bytes(value(db, "SELECT tamis_count_agg(line)::bytea FROM lines")))
        counts = {line: int(n) for n, _, line in
                  (row.split(maxsplit=2) for row in shell("freq", path, text=every).splitlines())}
        for line, n in ask(db, "SELECT line, count(*) FROM lines GROUP BY line"):
            assert counts[line] >= n, line


def test_files_of_command(_, db):
    """SQL gives the answers of the command about its files, of every kind."""
    lines = some_lines(3000)
    members = [line[:-1] for line in dict.fromkeys(lines)]
    others = [f"other-{i}" for i in range(2000)]
    asked = members + others
    ask(db, "CREATE TABLE asked (at int, line text)")
    with db.cursor() as cursor:
        cursor.copy_expert("COPY asked FROM STDIN", io.StringIO(
            "".join(f"{i}\t{line}\n" for i, line in enumerate(asked))))
    with tempfile.TemporaryDirectory() as room:
        path = pathlib.Path(room, "f")
        pathlib.Path(room, "never").write_text("\n".join(others[:500]) + "\n", encoding="utf-8")
        for words in (("--kind", "blocked"), ("--kind", "blocked", "--compact"),
                      ("--kind", "bloom"), ("--kind", "partitioned"), ("--kind", "counting"),
                      ("--kind", "pair"), ("--kind", "growing"), ("--kind", "cuckoo"),
                      ("--kind", "window"), ("--kind", "fuse"), ("--kind", "ribbon"),
                      ("--never", f"{room}/never"),
                      ("--kind", "blocked", "--seed", "99")):
            shell("build", "-q", "-f", "-o", path, *words, text="\n".join(members) + "\n")
            answers = shell("check", path, text="\n".join(asked) + "\n").splitlines()
            ask(db, "DROP TABLE IF EXISTS f")
            ask(db, "CREATE TABLE f (f tamis)")
            ask(db, "INSERT INTO f VALUES (%s::bytea)", path.read_bytes())
            got = ask(db, "SELECT line FROM asked, f WHERE f @> line ORDER BY at")
            assert [line for line, in got] == answers, words
            assert bytes(value(db, "SELECT f::bytea FROM f")) == path.read_bytes()
        shell("top", "-f", "-n", 5, "-o", path, text="".join(lines))
        listed = ask(db, "SELECT item, count FROM tamis_list(%s::bytea::tamis, 5)",
                     path.read_bytes())
        printed = [row.split(maxsplit=2) for row in
                   shell("top", "-n", 5, text="".join(lines)).splitlines()]
        assert listed == [(line, int(n)) for n, _, line in printed], (listed, printed)


def answers_of(name):
    """image -> [(key, word)] of a text file; a keyed image is not in it."""
    images, keyed = {}, set()
    for line in (GOLDEN / name).read_text(encoding="ascii").splitlines():
        words = line.split()
        if words[0] == "image":
            rows = images.setdefault(words[1], [])
            if len(words) > 2:
                keyed.add(words[1])
        else:
            rows.append(words)
    return images, keyed


def as_key(word):
    return b"" if word == "-" else bytes.fromhex(word)


def load(db, name):
    ask(db, "DROP TABLE IF EXISTS f, q")
    ask(db, "CREATE TABLE f (f tamis)")
    ask(db, "CREATE TABLE q (at int, key bytea)")
    ask(db, "INSERT INTO f VALUES (%s::bytea)", (GOLDEN / name).read_bytes())


def put_keys(db, keys):
    with db.cursor() as cursor:
        cursor.execute("TRUNCATE q")
        cursor.execute("INSERT INTO q VALUES " + ",".join(
            cursor.mogrify("(%s, %s)", (i, key)).decode() for i, key in enumerate(keys)))


def test_golden(_, db):
    """Every golden image opens and answers as answers.txt, counts.txt, distinct.txt and lists.txt
    say. An image with a secret key is refused with a reason."""
    answers, keyed = answers_of("answers.txt")
    more, _ = answers_of("more-answers.txt")
    counts, _ = answers_of("counts.txt")
    numbers, _ = answers_of("distinct.txt")
    lists, _ = answers_of("lists.txt")
    assert len(answers) >= 60 and len(keyed) >= 10
    assert {path.name for path in GOLDEN.glob("*.tamis")} == set(answers)
    for name in sorted(answers):
        image = (GOLDEN / name).read_bytes()
        if name in keyed:
            for cast in ("%s::bytea::tamis", "encode(%s, 'base64')::tamis"):
                message = error(db, f"SELECT {cast}", image)
                assert message.startswith("0A000: tamis: "), (name, message)
            continue
        load(db, name)
        assert bytes(value(db, "SELECT f::text::tamis::bytea FROM f")) == image, name
        rows = [row[1:] for row in answers[name] + more.get(name, [])]
        caller = struct.unpack_from("<H", image, 28)[0] == 3
        put_keys(db, [as_key(key) for key, _ in rows])
        got = [answer for answer, in ask(db, "SELECT f @> key FROM q, f ORDER BY at")]
        # The hashes of the caller are not known here, so every answer is "maybe".
        assert got == [caller or answer == "1" for _, answer in rows], name
        if name in counts and not caller:
            put_keys(db, [as_key(key) for key, _ in counts[name]])
            got = ask(db, "SELECT (tamis_estimate_bounds(f, key)).* FROM q, f ORDER BY at")
            signed = any(kind in name for kind in ("count-sketch", "signed-tally"))
            for (estimate, low, high), (_, n) in zip(got, counts[name]):
                assert low <= estimate <= high and int(n) == (estimate if signed else high), name
        if name in numbers:
            estimate = float(numbers[name][0][0])
            assert abs(value(db, "SELECT tamis_cardinality(f) FROM f") - estimate) <= 0.5, name
        if name in lists:
            got = ask(db, "SELECT item, upper FROM f, tamis_list(f)")
            assert sorted(n for _, n in got) == sorted(int(row[3]) for row in lists[name]), name
        assert value(db, "SELECT tamis_info(f)->>'format' FROM f") == "1", name
    fails(db, *[(f"SELECT '\\x{path.read_bytes().hex()}'::bytea::tamis", "22P03: tamis: ")
                for path in GOLDEN.glob("*.packed")])


def test_newer(_, db):
    """Formats of the future: what must be refused, what may be read, and what must not be
    changed."""
    image = bytes(value(db, "SELECT tamis_filter_agg(i, 100, 0.01)::bytea"
                            " FROM generate_series(1, 100) i"))
    assert resummed(image) == image

    def changed(at, layout, number):
        out = bytearray(image)
        struct.pack_into(layout, out, at, number)
        return resummed(bytes(out))
    newer = changed(8, "<I", 2 | 2 << 16)  # read and write version
    for bad in (newer, changed(16, "<I", 1), changed(28, "<H", 9), changed(30, "<H", 13),
                changed(30, "<H", 500)):
        message = error(db, "SELECT %s::bytea::tamis", bad)
        assert message.startswith("22P03: tamis: "), message
        message = error(db, "SELECT %s::tamis", base64.b64encode(bad).decode())
        assert message.startswith("22P03: tamis: "), message
    for later in (changed(10, "<H", 2), changed(20, "<I", 1 << 30)):
        assert value(db, "SELECT %s::bytea::tamis @> 7", later)
        assert bytes(value(db, "SELECT %s::bytea::tamis::bytea", later)) == later
        message = error(db, "SELECT tamis_add(%s::bytea::tamis, 1000)", later)
        assert message[:5] in ("22P03", "55000"), message
        message = error(db, "SELECT %s::bytea::tamis || %s::bytea::tamis", later, later)
        assert message[:5] in ("22P03", "55000"), message
    assert value(db, "SELECT %s::bytea::tamis @> 7", changed(24, "<I", 1 << 5))


def columns(db):
    return [bytes(value(db, f"SELECT {column}::bytea FROM f")) for column in "frdctz"]


def test_copy(_, db):
    """COPY as text, as CSV and in the binary format."""
    make_values(db)
    before = columns(db)
    for form in ("text", "csv", "binary"):
        out = io.BytesIO()
        with db.cursor() as cursor:
            cursor.copy_expert(f"COPY f TO STDOUT (FORMAT {form})", out)
            assert form != "binary" or all(image in out.getvalue() for image in before)
            cursor.execute("DELETE FROM f")
            out.seek(0)
            cursor.copy_expert(f"COPY f FROM STDIN (FORMAT {form})", out)
        assert columns(db) == before, form


def copy_binary(db, table, field):
    """One row with one field, in the binary format of COPY."""
    head = b"PGCOPY\n\xff\r\n\0" + bytes(8)
    row = struct.pack(">hi", 1, len(field)) + field
    with db.cursor() as cursor:
        cursor.copy_expert(f"COPY {table} FROM STDIN (FORMAT binary)",
                           io.BytesIO(head + row + struct.pack(">h", -1)))


def test_receive(_, db):
    """The binary form is verified when it arrives."""
    make_values(db)
    ask(db, "CREATE TABLE one (f tamis)")
    image = bytes(value(db, "SELECT r::bytea FROM f"))
    copy_binary(db, "one", image)
    assert bytes(value(db, "SELECT f::bytea FROM one")) == image
    for bad in (b"", b"x", image[:-1], image + b"\0", image[:200] + b"?" + image[201:]):
        try:
            copy_binary(db, "one", bad)
            raise AssertionError("a damaged image was stored")
        except psycopg2.Error as failure:
            assert failure.pgcode == "22P03", failure
    check(db, ("SELECT count(*) FROM one", 1))


def test_dump(server, db):
    """pg_dump in three formats, and a restore into an empty database."""
    make_values(db)
    ask(db, "CREATE TABLE kept (n int PRIMARY KEY, f tamis_filter, s tamis_sketch)")
    ask(db, "INSERT INTO kept SELECT 1, f, d FROM f UNION ALL SELECT 2, NULL, NULL")
    ask(db, "CREATE VIEW seen AS SELECT n FROM kept WHERE f @> n")
    ask(db, "CREATE TABLE big AS SELECT tamis_count_agg(i, 1, 3000000) f"
            " FROM generate_series(1, 1000) i")
    before = columns(db), bytes(value(db, "SELECT f::bytea FROM big"))
    source = server.address(value(db, "SELECT current_database()"))
    for form in ("plain", "custom", "directory"):
        out = server.room / f"dump-{form}"
        server.run("pg_dump", "-F", form, "-f", out, "-d", source)
        with contextlib.closing(server.connect()) as other:
            ask(other, f"CREATE DATABASE restored_{form} TEMPLATE template0")
        target = server.address(f"restored_{form}")
        if form == "plain":
            server.run("psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-f", out, "-d", target)
        else:
            server.run("pg_restore", "-e", "-d", target, out)
        with contextlib.closing(server.connect(f"restored_{form}")) as restored:
            assert (columns(restored), bytes(value(restored, "SELECT f::bytea FROM big"))) == before
            check(restored, ("SELECT n FROM seen", 1),
                  ("SELECT tamis_cardinality(s) FROM kept WHERE n = 1", 1000))
            fails(restored, ("INSERT INTO kept SELECT 3, d, d FROM f", "23514"))


def test_rewrites(_, db):
    """VACUUM FULL, CLUSTER, a change of the storage and a copy of the database keep the bytes."""
    make_values(db)
    ask(db, "ALTER TABLE f ADD n int PRIMARY KEY DEFAULT 1")
    before = columns(db)
    for command in ("VACUUM FULL f", "CLUSTER f USING f_pkey",
                    "ALTER TABLE f ALTER f SET STORAGE extended, ALTER t SET STORAGE main",
                    "UPDATE f SET f = f::text::tamis, t = t::text::tamis", "VACUUM FULL f",
                    "ALTER TABLE f ALTER f TYPE bytea", "ALTER TABLE f ALTER f TYPE tamis",
                    "ALTER TABLE f ALTER f TYPE tamis_filter"):
        ask(db, command)
        assert columns(db) == before, command
        if "bytea" in command:
            continue
        check(db, ("SELECT count(*) FROM f, generate_series(1, 1000) i WHERE f @> i AND t @> i"
                   " AND r @> i", 1000))


if __name__ == "__main__":
    main([test for name, test in list(globals().items()) if name.startswith("test_")])
