"""`tamis count`, `freq` and `top` against exact counts, and `top` on a terminal."""
import collections, json, os, random, re, signal, subprocess, sys, tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                                "support"))
import terminal

TAMIS = os.environ["TAMIS"]


def top(data, *options, check=True):
    done = subprocess.run([TAMIS, "top", "--json", *options], input=data, stdout=subprocess.PIPE,
                          check=False)
    assert not check or done.returncode == 0, done
    return [json.loads(line) for line in done.stdout.decode().split("\n") if line]


def zipf(rng, n, keys):
    weights = [1 / (i + 1) for i in range(keys)]
    return rng.choices([f"item {i}" for i in range(keys)], weights, k=n)


def small_inputs_are_exact():
    """All that fits is counted exactly, whatever the order, and ends as sort | uniq -c | sort -rn
    does."""
    rng = random.Random(1)
    for n, keys in ((1, 1), (10, 3), (1000, 50), (5000, 90)):
        items = zipf(rng, n, keys)
        for order in (items, sorted(items), sorted(items, key=items.count)):
            wanted = collections.Counter(items)
            got = top("\n".join(order).encode(), "-n", "1000")
            assert {g["item"]: g["count"] for g in got} == wanted
            assert all(g["lower"] == g["count"] == g["upper"] for g in got)
            assert [g["count"] for g in got] == sorted(wanted.values(), reverse=True)


def counts_are_never_too_low():
    """Too many keys for the memory: the upper end holds for every item of the list, and of freq.
    The true top ten are the list's; a fixed input, so it is so or not."""
    rng = random.Random(2)
    items = zipf(rng, 100000, 30000)
    truth = collections.Counter(items)
    text = "\n".join(items).encode()
    for order in (text, "\n".join(sorted(items)).encode()):
        got = top(order, "--bytes", "64KiB", "-n", "100")
        assert len(got) == 100
        assert all(g["lower"] <= g["count"] <= g["upper"] and truth[g["item"]] <= g["upper"]
                   for g in got)
        assert {g["item"] for g in got[:10]} == {f"item {i}" for i in range(10)}
    with open("counted", "wb") as f:
        f.write(text)
    for kind in ("tally", "count-min", "top"):
        subprocess.run([TAMIS, "count", "-f", "--kind", kind, "--bytes", "64KiB", "-o", "s.tamis",
                        "counted"], check=True)
        asked = subprocess.run([TAMIS, "freq", "--json", "s.tamis"],
                               input="\n".join(truth).encode(),
                               stdout=subprocess.PIPE, check=True).stdout
        answers = [json.loads(line) for line in asked.splitlines()]
        assert [a["item"] for a in answers] == list(truth)
        assert all(truth[a["item"]] <= a["upper"] for a in answers), kind
        # 99 % is for keys at random; 98 % of 30000 would be off by 17 deviations.
        inside = sum(a["lower"] <= truth[a["item"]] for a in answers)
        assert inside > 0.98 * len(answers), (kind, inside)


def shares_are_complete():
    """--min lists every item that has the share, or refuses."""
    rng = random.Random(3)
    items = zipf(rng, 50000, 20000)
    truth = collections.Counter(items)
    text = "\n".join(items).encode()
    refused = 0
    for share in ("5%", "1%", "0.1%", "0.01%", "0.002%"):
        needed = float(share[:-1]) / 100 * len(items)
        heavy = {item for item, n in truth.items() if n >= needed}
        got = top(text, "--min", share, "--bytes", "64KiB", check=False)
        refused += not got
        assert not got or heavy <= {g["item"] for g in got}, share
        # with the memory it takes
        assert heavy <= {g["item"] for g in top(text, "--min", share)}, share
    assert refused == 2, refused


def weights_add_up():
    rng = random.Random(4)
    pairs = [(f"k{rng.randrange(50)}", rng.randrange(10**6)) for _ in range(3000)]
    wanted = collections.Counter()
    for key, weight in pairs:
        wanted[key] += weight
    lines = "".join(f"x,{weight},{key}\n" for key, weight in pairs)
    got = top(lines.encode(), "-n", "99", "--field", "3", "--weight-field", "2", "--delimiter", ",")
    assert {g["item"]: g["count"] for g in got} == wanted


def hostile_bytes():
    """Any bytes are lines; nothing crashes, and the sum of counts is the number of lines."""
    rng = random.Random(5)
    for size in (1, 100, 70000, 600000):
        data = bytes(rng.choices(range(256), [100 if b == 10 else 1 for b in range(256)], k=size))
        lines = data.split(b"\n")
        lines = lines[:-1] if lines[-1] == b"" else lines
        got = top(data, "-n", "100000")
        assert sum(g["lower"] for g in got) <= len(lines), size
        assert len(got) == len(set(lines)) or size > 1000, size


# --- On a terminal
# -------------------------------------------------------------------------------------------


class Terminal(terminal.Terminal):
    """A command of tamis whose standard output is a terminal."""

    def __init__(self, *command, columns=100, rows=24, locale="C.UTF-8"):
        super().__init__([TAMIS, *command], columns, rows, stdin=subprocess.PIPE,
                         stderr=subprocess.PIPE,
                         env={**os.environ, "LC_ALL": locale, "TERM": "xterm"})

    def send(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def close(self):
        self.process.stdin.close()
        return self.finish(), self.seen, self.process.stderr.read()


def bars_on_a_terminal():
    lines = b"a\n" * 8 + b"b\n" * 4 + b"c\x1b[2J\n"
    for columns, locale, bar in ((100, "C.UTF-8", "█" * 8 + " "), (100, "C", "#" * 8 + "."),
                                 (60, "C.UTF-8", None)):
        t = Terminal("top", columns=columns, locale=locale)
        t.send(lines)
        status, seen, _ = t.close()
        text = seen.decode()
        assert status == 0 and "c\\x1b[2J" in text and "\x1b" not in text, text
        assert "█" not in text and "#" not in text if bar is None else bar in text, text


def live_list():
    """It shows what has come although the pipe stays open, and what stays in the end is the whole
    list."""
    t = Terminal("top", "--live", "-n", "2")
    t.send(b"b\na\nb\n")
    t.until(rb"3 lines")
    t.send(b"a\na\nc\n")
    t.until(rb"6 lines[^\0]*3  3\.\.3[^\0]*2  2\.\.2")
    status, seen, errors = t.close()
    assert status == 0 and errors == b"", (status, errors)
    final = seen.rsplit(b"\x1b[J", 1)[1].decode().split()
    assert final[:2] == ["3", "3..3"] and "a" in final and "b" in final and "c" not in final, final
    assert seen.count(b"\x1b[?7l") == seen.count(b"\x1b[?7h") > 1
    assert seen.count(b"\x1b[3A") >= 1  # three lines up


def live_list_interrupted():
    """Ctrl-C ends the reading, not the work: the list stays, and the sketch is kept."""
    if os.path.exists("kept.tamis"):
        os.remove("kept.tamis")
    t = Terminal("top", "--live", "-o", "kept.tamis", rows=6)
    t.send(b"".join(b"%d\n" % i for i in range(50)) + b"7\n")
    t.until(rb"51 lines[^\0]*?\x1b\[J")
    # as many as there are rows
    assert len(re.search(rb"51 lines.*?\x1b\[J", t.seen, re.S)[0].split(b"\n")) <= 6
    t.process.send_signal(signal.SIGINT)
    assert t.finish() == 0
    assert t.seen.rsplit(b"\x1b[J", 1)[1].split()[0] == b"2", t.seen
    listed = subprocess.run([TAMIS, "top", "-n", "1", "kept.tamis"], stdout=subprocess.PIPE,
                            check=True).stdout
    assert listed.split() == [b"2", b"2..2", b"7"]



tests = [small_inputs_are_exact, counts_are_never_too_low, shares_are_complete, weights_add_up,
         hostile_bytes,
         bars_on_a_terminal, live_list, live_list_interrupted]
with tempfile.TemporaryDirectory() as room:
    os.chdir(room)
    for test in tests:
        test()
print(f"{len(tests)} passed, 0 failed")
sys.exit(0)
