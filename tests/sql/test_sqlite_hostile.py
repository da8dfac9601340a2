"""Hostile BLOBs: every function of the SQLite extension answers as the undamaged image would, or
fails with an error. In the sanitizer's build, every access out of bounds ends the process.

The BLOBs are the corpora of the fuzz targets, every truncation of some golden images and every
flipped bit of them, also with sums that were repaired, and random ones. The golden images
themselves give the answers of the text files beside them (docs/FORMAT.md, "Conformance
vectors").

TAMIS_SEED repeats an earlier run."""
import os
import random
import sqlite3
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
from sqlite_loaded import (GOLDEN, SOURCE, Memory, connect, error, golden_parts,  # noqa: E402
                           main, one)
from forged import resummed  # noqa: E402

SEED = int(os.environ.get("TAMIS_SEED", "25"))
CALLS = ("tamis_contains(?1, 'a')", "tamis_contains(?1, 7)", "tamis_contains(?1, zeroblob(32))",
         "tamis_value(?1, 'a')", "tamis_value(?1, 7)",
         "tamis_estimate(?1, 'a')", "tamis_estimate_bounds(?1, 7)", "tamis_cardinality(?1)",
         "tamis_info(?1)", "tamis_compare(?1, ?2)", "tamis_compare(?2, ?1)", "tamis_add(?1, 'a')",
         "tamis_add(?1, 7, 3)", "tamis_merge(?1, ?2)", "tamis_merge(?2, ?1)", "tamis_image(?1)",
         "tamis_union_agg(?1)", "(SELECT group_concat(hex(item)) FROM tamis_list(?1))",
         "(SELECT count(*) FROM tamis_list(?1, 3))")
SECRETS = {name: key for file in ("more-answers.txt", "answers.txt")
           for name, (key, _) in golden_parts(file).items()}
# Small ones, whose every bit is flipped.
SMALL = ("bloom.tamis", "blocked-int64.tamis", "distinct.tamis", "fuse.tamis", "top.tamis",
         "map.tamis", "window-of-tally.tamis")


def raw(word):
    return b"" if word == "-" else bytes.fromhex(word)


class Caller:
    """Calls every function with an image, and a sound one as the other argument."""

    def __init__(self):
        self.db = connect()
        self.sound = one(self.db, "SELECT tamis_filter_agg('a', 100, 0.01)")
        self.accepted = self.refused = 0

    def __call__(self, image, calls=CALLS):
        """The answers, with None for each call that failed."""
        answers = []
        for call in calls:
            try:
                sql = f"SELECT {call}"
                arguments = (image, self.sound) if "?2" in call else (image,)
                answers.append(self.db.execute(sql, arguments).fetchall()[0][0])
                self.accepted += 1
            except sqlite3.OperationalError as failure:
                assert str(failure).startswith("tamis_"), (call, failure)
                answers.append(None)
                self.refused += 1
        return answers


def test_golden_answers():
    db = connect()
    asked = 0
    for file in ("answers.txt", "more-answers.txt"):
        for name, (key, lines) in golden_parts(file).items():
            image = (GOLDEN / name).read_bytes()
            if key is not None or name.endswith(".packed"):
                assert error(db, "SELECT tamis_contains(?, 'a')", image).startswith(
                    "tamis_contains: this file is packed" if name.endswith(".packed")
                    else "tamis_contains: this filter was made with a secret key")
                continue
            if "caller" in name and "hashed by" in error_of(db, image):
                continue
            for _, word, answer in lines:
                assert one(db, "SELECT tamis_contains(?, ?)", image, raw(word)) == int(answer), \
                    (name, word)
                asked += 1
    assert asked > 5000, asked


def error_of(db, image):
    """The text of the error, if there is one."""
    try:
        one(db, "SELECT tamis_contains(?, 'a')", image)
        return ""
    except sqlite3.OperationalError as failure:
        return str(failure)


def test_golden_counts():
    db = connect()
    for name, (_, lines) in golden_parts("counts.txt").items():
        if SECRETS[name] is not None:
            continue
        image = (GOLDEN / name).read_bytes()
        for word, count in lines:
            bounds = one(db, "SELECT json_extract(b, '$.lower'), json_extract(b, '$.upper') "
                             "FROM (SELECT tamis_estimate_bounds(?, ?) AS b)", image, raw(word))
            assert bounds[0] <= int(count) <= bounds[1], (name, word, bounds)
            if name.split(".")[0].split("-")[0] in ("tally", "top", "count") and \
                    "sketch" not in name:
                assert bounds[1] in (int(count), 2**63 - 1), (name, word)
    for name, (_, lines) in golden_parts("distinct.txt").items():
        if SECRETS[name] is None:
            image = (GOLDEN / name).read_bytes()
            assert one(db, "SELECT tamis_cardinality(?)", image) == round(float(lines[0][0])), name
    for name, (_, lines) in golden_parts("lists.txt").items():
        if SECRETS[name] is not None:
            continue
        listed = db.execute("SELECT CAST(item AS BLOB), upper, lower FROM tamis_list(?)",
                            ((GOLDEN / name).read_bytes(),)).fetchall()
        wanted = [(None if text == "?" else raw(text), int(count), int(lower))
                  for _, text, _, count, lower in lines]
        assert sorted(listed, key=str) == sorted(wanted, key=str), name


def test_corpora():
    call = Caller()
    files = [path for folder in sorted((SOURCE / "tests/fuzz/corpus").iterdir())
             for path in sorted(folder.iterdir())]
    for path in files:
        data = path.read_bytes()
        call(data)
        # Some targets have a number in front of the image, and others only its content.
        at = data.find(b"\x89TAMIS")
        if at > 0:
            call(data[at:])
    assert len(files) > 400 and call.accepted > 0 and call.refused > 5000


def test_truncations():
    call = Caller()
    for name in SMALL:
        image = (GOLDEN / name).read_bytes()
        whole = call(image)
        assert any(answer is not None for answer in whole), name
        for n in range(len(image)):
            call.accepted = 0
            # The intact image is kept by the connection, with the same header.
            call(image[:n], CALLS[:2] + CALLS[6:7] + CALLS[13:15])
            assert call.accepted == 0, (name, n)
        call.accepted = 0
        call(image + b"\0")
        assert call.accepted == 0, name


def test_flipped_bits():
    """Every function of whole images refuses every flipped bit."""
    call = Caller()
    for name in SMALL:
        image = (GOLDEN / name).read_bytes()
        call(image)
        for bit in range(0, 8 * len(image), 1 if len(image) < 600 else 7):
            flipped = bytearray(image)
            flipped[bit // 8] ^= 1 << bit % 8
            call.accepted = 0
            call(bytes(flipped), CALLS[:1] + CALLS[6:7])
            assert call.accepted == 0, (name, bit)


def test_flipped_columns():
    """A query about a column, while the undamaged image with the same header is kept: the answer is
    that of the undamaged image, or an error."""
    rng, db = random.Random(SEED), connect()
    db.execute("CREATE TABLE f (image)")
    db.execute("INSERT INTO f VALUES (NULL), (NULL)")
    ask = "SELECT tamis_contains(image, ?) FROM f WHERE rowid = ?"
    right = refused = 0
    for name, (key, lines) in golden_parts("answers.txt").items():
        image = (GOLDEN / name).read_bytes()
        if key is not None or "caller" in name or len(image) > 20000:
            continue
        db.execute("UPDATE f SET image = ? WHERE rowid = 1", (image,))
        for at in rng.sample(range(len(image)), min(len(image), 300)):
            flipped = bytearray(image)
            flipped[at] ^= 1 << rng.randrange(8)
            db.execute("UPDATE f SET image = ? WHERE rowid = 2", (bytes(flipped),))
            for _, word, answer in rng.sample(lines, 3):
                assert one(db, ask, raw(word), 1) == int(answer), (name, at)
                try:
                    assert one(db, ask, raw(word), 2) == int(answer), (name, at, word)
                    right += 1
                except sqlite3.OperationalError as failure:
                    assert str(failure).startswith("tamis_contains: "), failure
                    refused += 1
    assert right > 1000 and refused > 1000, (right, refused)


def test_repaired_bits():
    """Flipped bits behind right sums: nothing but answers and errors, and no memory is lost."""
    rng, call, memory = random.Random(SEED), Caller(), Memory()
    images = [path.read_bytes() for path in sorted(GOLDEN.glob("*.tamis"))
              if path.stat().st_size < 20000 and SECRETS.get(path.name) is None]
    for image in images:
        for _ in range(200):
            data = bytearray(image)
            for _ in range(rng.choice((1, 1, 2, 5))):
                at = rng.choice((rng.randrange(8, min(256, len(data))), rng.randrange(len(data))))
                data[at] = rng.choice((data[at] ^ 1 << rng.randrange(8), 0, 255,
                                       rng.randrange(256)))
            call(resummed(data))
    assert call.accepted > 1000 and call.refused > 1000, (call.accepted, call.refused)
    for i in range(5):  # which replace the kept images
        one(call.db, "SELECT tamis_info(tamis_empty('bloom', ?, 0.1))", i + 1)
    assert memory.used() < 20_000_000, memory.used()


def test_random_blobs():
    rng, call = random.Random(SEED), Caller()
    for i in range(300):
        data = rng.randbytes(rng.choice((0, 1, 8, 127, 128, 129, 192, 1000)))
        call(data)
        call(b"\x89TAMIS\r\n" + data)
    assert call.accepted == 0


if __name__ == "__main__":
    main([test_golden_answers, test_golden_counts, test_corpora, test_truncations,
          test_flipped_bits, test_flipped_columns, test_repaired_bits, test_random_blobs])
