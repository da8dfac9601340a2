"""diff against sets of Python: every line, in its order and its column, for any columns, memory,
threads, line ends, fields and pipes. A file that changes between two readings is an error."""
import json, os, random, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]
chance = random.Random(11)
COLUMNS = ("", "-1", "-2", "-3", "-12", "-13", "-23", "-123")


def diff(*words, data=None, status=(0, 1)):
    done = subprocess.run([TAMIS, "diff", *words], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, stdin=None if data else subprocess.DEVNULL)
    assert done.returncode in status, (words, done.returncode, done.stderr)
    return done.returncode, done.stdout


def random_line(end, longest):
    """Mostly short, so that lines are equal; any bytes."""
    n = chance.choice((0, 1, 2, 3, 3, 4, chance.randrange(longest)))
    return bytes(chance.choice(b"ab\r\0\xff\n,\t") for _ in range(n)).replace(end, b"")


def write(folder, name, lines, end, ends=True):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(end.join(lines) + (end if ends and lines else b""))
    return path


def firsts(lines, key=lambda line: line):
    """The first line with each key."""
    found = {}
    for line in lines:
        found.setdefault(key(line), line)
    return found


def model(a, b, columns, end, key=lambda line: line):
    """The output and the exit status."""
    a, b = firsts(a, key), firsts(b, key)
    wanted = [str(i) not in columns for i in (1, 2, 3)]
    tabs = [b"\t" * sum(wanted[:i]) for i in range(3)]
    placed = [(2 if k in b else 0, line) for k, line in a.items()]
    placed += [(1, line) for k, line in b.items() if k not in a]
    out = b"".join(tabs[i] + line + end for i, line in placed if wanted[i])
    counts = [sum(i == column for i, _ in placed) for column in range(3)]
    return out, int(counts[0] + counts[1] > 0), counts


def few_lines_of_any_bytes():
    with tempfile.TemporaryDirectory() as folder:
        for end, option in ((b"\n", ()), (b"\0", ("-z",))) * 6:
            known = [random_line(end, 300) for _ in range(chance.choice((1, 30, 3000)))]
            sides = []
            for name in "ab":
                lines = [chance.choice(known) if chance.random() < .7 else random_line(end, 60)
                         for _ in range(chance.choice((0, 1, 50, 5000)))]
                if lines and lines[-1] == b"":
                    lines.append(b"the last, whose end is missing")
                sides.append((lines, write(folder, name, lines, end, chance.random() < .5)))
            (a, path_a), (b, path_b) = sides
            for columns in COLUMNS:
                out, status, _ = model(a, b, columns, end)
                words = [*option, *filter(None, [columns]), "--threads", chance.choice("13")]
                assert diff(*words, path_a, path_b) == (status, out), words
                assert diff(*words, "--memory", "64KiB", path_a, path_b) == (status, out), words


def many_passes():
    """Sets of different sizes and overlaps; the set is full while the one, or the other file is
    read, or in a later pass again."""
    with tempfile.TemporaryDirectory() as folder:
        for n, m, shared in ((9000, 200, 100), (200, 9000, 100), (20000, 20000, 20000),
                             (40000, 30000, 10000), (2500, 2500, 0), (3072, 3072, 3072)):
            a = [b"%d" % i for i in range(n)]
            b = [b"%d" % i for i in range(n - shared, n - shared + m)]
            a += chance.choices(a, k=n // 2)
            # at first many repeated lines, so that the first range is too big
            b = chance.choices(b[:50], k=m) + b
            if chance.random() < .5:
                chance.shuffle(a)
            paths = write(folder, "a", a, b"\n"), write(folder, "b", b, b"\n")
            for columns in COLUMNS:
                out, status, counts = model(a, b, columns, b"\n")
                words = [*filter(None, [columns]), "--memory", chance.choice(("64KiB", "150kB"))]
                assert diff(*words, *paths) == (status, out), (n, m, shared, words)
                piped = [[*words, "-", paths[1]], a] if chance.random() < .5 else \
                    [[*words, paths[0], "-"], b]
                data = b"".join(line + b"\n" for line in piped[1])
                assert diff(*piped[0], data=data) == (status, out), (n, m, shared, piped[0])
            told = json.loads(diff("--json", "--memory", "64KiB", *paths)[1])
            assert [told[k] for k in ("first_only", "second_only", "common")] == counts, told
            assert (told["first_lines"], told["second_lines"]) == (len(a), len(b)), told
            distinct = sum(counts)
            # A set of 64 KiB has 3072 hashes.
            assert told["passes"] >= distinct / 3072 and (distinct > 1536) <= (told["passes"] > 1)
            assert told["passes"] <= 1 + 2 * distinct / 2048, (told, distinct)
            assert json.loads(diff("--json", *paths)[1])["passes"] == 1
            assert diff("-c", "--memory", "64KiB", *paths)[1].split() == [b"%d" % c for c in counts]


def fields():
    with tempfile.TemporaryDirectory() as folder:
        sides = []
        for name in "ab":
            lines = [b"%d,%d,%d" % tuple(chance.randrange(k) for k in (9, 6000, 9))
                     for _ in range(8000)]
            sides.append((lines, write(folder, name, lines + [b"short"], b"\n")))
        for columns in COLUMNS:
            out, status, _ = model(sides[0][0], sides[1][0], columns, b"\n",
                                   lambda line: line.split(b",")[1])
            for memory in ("64KiB", "1GiB"):
                assert diff(*filter(None, [columns]), "--field", "2", "-t", ",", "--memory", memory,
                            sides[0][1], sides[1][1]) == (status, out), (columns, memory)


def skipped_lines_are_reported_once():
    with tempfile.TemporaryDirectory() as folder:
        paths = [write(folder, name, [b"%d\t%d" % (i, i) for i in range(9000)] + [b"short"], b"\n")
                 for name in "ab"]
        done = subprocess.run([TAMIS, "diff", "--field", "2", "--memory", "64KiB", *paths],
                              capture_output=True, text=True)
        assert done.stderr == "".join(
            f"tamis: {path}: line 9,001: fewer than 2 fields; skipped 1 such line\n"
            for path in reversed(paths)), done.stderr


def changed_files():
    """A pipe is read before the file, and the file changes while it is being compared: the output
    blocks, because nobody reads it yet."""
    with tempfile.TemporaryDirectory() as folder:
        a = write(folder, "a", [b"%d" % i for i in range(200000)], b"\n")
        b = write(folder, "b", [b"%d" % i for i in range(100000, 200000)], b"\n")
        for change in ("append", "replace"):
            p = subprocess.Popen([TAMIS, "diff", a, b], stdout=subprocess.PIPE,
                                 stderr=subprocess.PIPE)
            assert p.stdout.read(1) == b"0"  # it has read b, and prints a
            lines = [b"x%d" % i for i in range(100000)]
            if change == "append":
                with open(b, "ab") as f:
                    f.write(b"more\n")
            else:
                os.rename(write(folder, "new", lines, b"\n"), b)
            out, said = p.communicate()
            assert p.returncode == 2 and b"has changed while it was read" in said, said


for test in (few_lines_of_any_bytes, many_passes, fields, skipped_lines_are_reported_once,
             changed_files):
    test()
print("diff is as in sets")
