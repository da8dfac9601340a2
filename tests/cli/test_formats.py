"""CSV, TSV and JSON lines, compared with the readers of Python: what the csv and json modules write
is read as they mean it, and a text is JSON if and only if json says so. Random tables and objects
with a fixed seed, in one block and in many. TAMIS_SEED repeats an earlier run."""
import csv
import io
import json
import os
import random
import subprocess
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]
SEED = int(os.environ.get("TAMIS_SEED", "26"))
PIECES = ["a", "b", "ann", "7", "-1.5", ",", ";", "\t", '"', '""', "\n", "\r\n", "\r", " ", "é",
          "😀", "\\", "/", "{", "}", "null", "x" * 40, "long " * 30]
SCALARS = (None, True, False, 0, -3, 1.5, 1e300, 12345678901234567890)


def run(*words, text=b"", status=0):
    done = subprocess.run([TAMIS, *map(str, words)], input=text, capture_output=True, timeout=120,
                          check=False)
    assert done.returncode == status, (words, done.returncode, done.stderr)
    return done.stdout, done.stderr.decode()


def random_text(rng):
    return "".join(rng.choice(PIECES) for _ in range(rng.randrange(4)))


def as_records(rows, **how):
    """Each row as a record of CSV."""
    records = []
    for row in rows:
        out = io.StringIO()
        csv.writer(out, **how).writerow(row)
        records.append(out.getvalue())
    return records


def first_of_each(keys, records):
    """The records whose key is new, as uniq prints them."""
    seen = set()
    return "".join(record for key, record in zip(keys, records)
                   if key not in seen and not seen.add(key))


def random_table(rng, big):
    """A table, its header first, and how it is to be written."""
    columns = rng.randrange(1, 5)
    how = {"lineterminator": rng.choice(("\n", "\r\n")), "delimiter": rng.choice(",,\t"),
           "quoting": rng.choice((csv.QUOTE_MINIMAL, csv.QUOTE_ALL))}
    rows = [[random_text(rng) for _ in range(columns)] for _ in range(rng.randrange(1, 60))]
    if how["lineterminator"] == "\n" and how["quoting"] == csv.QUOTE_MINIMAL:
        # Python does not quote a carriage return then, so at the end it is one of a line end.
        rows = [[text.replace("\r", "") for text in row] for row in rows]
    if big:  # several blocks
        rows *= 400000 // sum(sum(map(len, row)) + 3 for row in rows) + 1
    names = [f"column {i}, \"quoted\"" for i in range(columns)]
    return [names] + rows, how


def test_csv(folder):
    """uniq, distinct, build and check read the fields that Python has written, and print whole
    records after the header."""
    rng = random.Random(SEED)
    path = os.path.join(folder, "table.csv")
    for turn in range(120):
        rows, how = random_table(rng, turn % 10 == 0)
        records = as_records(rows, **how)
        text = "".join(records).encode()
        with open(path, "wb") as f:
            f.write((b"\xef\xbb\xbf" if rng.random() < 0.3 else b"") + text)
        column = rng.randrange(len(rows[0]))
        options = ["--tsv" if how["delimiter"] == "\t" else "--csv", "--header", "--field",
                   rows[0][column] if rng.random() < 0.5 else column + 1,
                   "--threads", rng.choice((1, 3))]
        keys = [row[column] for row in rows[1:]]
        out, err = run("uniq", "--exact-until", "100M", *options, path)
        assert err == "", err
        assert out.decode() == records[0] + first_of_each(keys, records[1:]), (SEED, turn, options)
        assert run("distinct", *options, path)[0] == b"%d\n" % len(set(keys)), (SEED, turn)
        run("build", "-f", "--kind", "ribbon", "--fpr", "1e-9", "-o", path + ".tamis", *options,
            path)
        assert run("check", path + ".tamis", *options, path) == (text, ""), (SEED, turn)
        # A list in the same format beside the input.
        wanted = {random.Random(turn).choice(keys)}
        with open(path + ".list", "w", encoding="utf-8", newline="") as f:
            f.write("".join(as_records([["key"]] + [[key] for key in wanted], **how)))
        listed = [record for key, record in zip(keys, records[1:]) if key in wanted]
        out, err = run("check", "-f", path + ".list", "--list-field", 1, *options, path)
        assert out.decode() == records[0] + "".join(listed) and err == "", (SEED, turn, err)


def random_object(rng):
    """An object, and the value at user.id, None if it is missing or null."""
    value = rng.choice(SCALARS) if rng.random() < 0.3 else random_text(rng)
    found = {random_text(rng): rng.choice(SCALARS) for _ in range(rng.randrange(4))}
    found["list"] = [random_text(rng), {"user": "not this one"}]
    found["user"] = {"name": random_text(rng), "id": value}
    if rng.random() < 0.1:
        del found["user"]["id"]
        value = None
    return found, value


def test_json(_):
    """The texts of values are what Python has written; missing ones are counted."""
    rng = random.Random(SEED + 1)
    for turn in range(120):
        lines, keys, skipped = [], [], 0
        for _ in range(rng.randrange(1, 80) * (60 if turn % 10 == 0 else 1)):
            found, value = random_object(rng)
            line = json.dumps(found, ensure_ascii=rng.random() < 0.5,
                              separators=rng.choice(((",", ":"), (", ", " : ")))) + "\n"
            skipped += value is None
            lines.append(line)
            keys.append(value if isinstance(value, str) else json.dumps(value))
        options = ["--jsonl", "--field", "user.id", "--threads", rng.choice((1, 3))]
        text = "".join(lines).encode()
        out, err = run("uniq", "--exact-until", "100M", *options, text=text)
        pairs = [(key, line) for key, line in zip(keys, lines)
                 if json.loads(line)["user"].get("id") is not None]
        assert out.decode() == first_of_each(*zip(*pairs)) if pairs else out == b"", (SEED, turn)
        told = f": there is no value at 'user.id'; skipped {skipped} such line"
        assert told in err if skipped else err == "", err
        run("uniq", "--strict-input", *options, text=text, status=2 if skipped else 0)


def test_validity(_):
    """Texts with a few changes. (Python also accepts NaN and Infinity, which are not JSON.)"""
    rng = random.Random(SEED + 2)
    sample = json.dumps({"a": {"b": ["x", 1.25e-7, True, None, "é\n😀"]}, "c": -0.5})
    alphabet = '{}[]":,\\ue0123456789.-+tfnalsr \t\x01'
    lines, valid = [], []
    for i in range(20000):
        text = list(sample)
        for _ in range(rng.choice((0, 1, 1, 2))):
            at, change = rng.randrange(len(text)), rng.randrange(3)
            text[at:at + (change != 0)] = [] if change == 1 else [rng.choice(alphabet)]
        line = f'{{"id": {i}, "v": {"".join(text)}}}'
        lines.append(line[:rng.randrange(len(line)) + 1] if rng.random() < 0.2 else line)
        try:
            json.loads(lines[-1])
            valid.append(lines[-1])
        except ValueError:
            pass
    assert 2000 < len(valid) < 18000, len(valid)
    out, err = run("uniq", "--exact-until", "100M", "--jsonl", "--field", "id",
                   text="".join(line + "\n" for line in lines).encode())
    assert out.decode().split("\n")[:-1] == valid
    assert f"skipped {len(lines) - len(valid):,} records that are not JSON" in err, err


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as room:
        for name, test in list(globals().items()):
            if name.startswith("test_"):
                test(room)
                print("ok", name)
