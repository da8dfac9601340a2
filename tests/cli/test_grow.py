"""`add --grow` of kinds from which lines can be removed, against exact multisets. No copy of a line
may be lost, so that all copies but one can be removed and the line is still found; a list that
lacks a copy is refused; and a copy that was removed does not come back. Writers wait for each
other.

The rate is 1e-6. A false positive can hide a lacking copy or bring a removed one back; over all
rounds that happens with a probability below 1 %, and the seed is fixed."""
import collections, glob, json, os, random, subprocess, sys, tempfile, time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]
ROUNDS = 12
SATURATE = (("counting",), ("counting", "--inner", "blocked"))  # with counters of 4 bits
KINDS = SATURATE + (("cuckoo",), ("counting", "--counter-bits", "8"),
                    ("counting", "--counter-bits", "16", "--inner", "blocked"))
chance = random.Random(17)


def tamis(*words, lines=(), status=(0,)):
    data = "".join(line + "\n" for line in lines)
    done = subprocess.run([TAMIS, *words], input=data, capture_output=True, text=True, check=False)
    assert done.returncode in status, (words, done)
    return done


def contents(path):
    with open(path, "rb") as f:
        return f.read()


def write(path, lines):
    lines = list(lines)
    chance.shuffle(lines)
    with open(path, "w", encoding="ascii") as f:
        f.write("".join(line + "\n" for line in lines))


def all_but_one(held):
    return [line for line, n in held.items() for _ in range(n - 1)]


def some_of(held, n):
    every = list(held.elements())
    return collections.Counter(chance.sample(every, min(n, len(every))))


def random_lines(most):
    """Few copies of most lines, so that counters of 4 bits are not saturated unless most is 20."""
    held = collections.Counter()
    for i in range(chance.randrange(1, 400)):
        held[f"line {i}"] = chance.choice((1, 1, 1, 2, 3, chance.randrange(1, most + 1)))
    return held


def check_grown(path, held, exact):
    """The filter holds these lines, each as often as it should."""
    if exact:
        items = json.loads(tamis("info", "--json", path).stdout)["items"]
        assert items == held.total(), (items, held.total())
    rest = all_but_one(held)
    if rest:
        tamis("remove", "-q", path, lines=rest)
    assert tamis("check", "-vc", path, lines=held, status=(0, 1)).stdout == "0\n"
    if not exact:
        return
    tamis("remove", "-q", path, lines=held)
    assert tamis("check", "-c", path, lines=held, status=(0, 1)).stdout == "0\n"


def one_round(folder, kind, most, exact):
    path, list_path = os.path.join(folder, "f.tamis"), os.path.join(folder, "list")
    built = random_lines(most)
    tamis("build", "-qf", "--fpr", "1e-6", "--kind", *kind, "-o", path, lines=built.elements())
    removed = some_of(built, chance.choice((0, 1, 10, built.total() // 2)))
    if removed:
        tamis("remove", "-q", path, lines=removed.elements())
    held = built - removed
    others = collections.Counter(f"other {i}" for i in range(chance.choice((0, 1, 50))))
    new = collections.Counter(f"new {i}" for i in range(2000))
    lists = {"as built": built, "as it is": held, "with others": held + others,
             "with more copies": held + some_of(held, 20) + others,
             "lacks some": built - removed - some_of(held, chance.choice((1, 1, 2, 30))),
             "lacks a copy of many": collections.Counter(set(held)) + others}
    before = contents(path)
    for name, lines in lists.items():
        lacks = held - lines
        write(list_path, [*lines.elements(), "never added"])
        with open(path, "wb") as f:
            f.write(before)
        done = tamis("add", "--grow", "--from", list_path, path, lines=new.elements(),
                     status=(0, 2))
        if lacks and exact:
            assert done.returncode == 2 and "lacks about" in done.stderr, (kind, name, done)
        if done.returncode == 2:
            assert lacks, (kind, name, done)
            assert contents(path) == before, (kind, name)
        else:
            check_grown(path, held + new, exact)


def another_writer_waits(folder):
    """The lock lasts until the new file is in place. strace delays its renaming; a line that
    another process adds meanwhile waits for it, and is in the new file."""
    path, list_path = os.path.join(folder, "locked.tamis"), os.path.join(folder, "locked.txt")
    first, later = [f"line {i}" for i in range(100)], [f"later {i}" for i in range(1000)]
    write(list_path, first)
    tamis("build", "-qo", path, list_path)
    grows = subprocess.Popen(
        ["strace", "-f", "-qq", "-o", os.devnull, "-e", "trace=/^rename", "-e",
         "inject=/^rename:delay_enter=2000000", TAMIS, "add", "-q", "--grow", "--from", list_path,
         path], stdin=subprocess.PIPE, env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0"})
    grows.stdin.write("".join(line + "\n" for line in later).encode())
    grows.stdin.close()
    while grows.poll() is None and not glob.glob(os.path.join(folder, ".tamis-grow-*")):
        time.sleep(0.01)
    tamis("add", "-q", path, lines=["one more"])
    assert grows.wait() == 0
    held = [*first, *later, "one more"]
    assert tamis("check", "-vc", path, lines=held, status=(0, 1)).stdout == "0\n"


with tempfile.TemporaryDirectory() as folder:
    another_writer_waits(folder)
    for kind in KINDS:
        for _ in range(ROUNDS):
            one_round(folder, kind, 4, exact=kind not in SATURATE)
    for kind in SATURATE:
        for _ in range(ROUNDS // 3):
            one_round(folder, kind, 40, exact=False)
print("ok")
