"""`tamis distinct` against exact sets: lines, groups (sort -u | cut | uniq -c | sort -rn), hostile
bytes, and the limit of memory."""
import collections, json, os, random, re, subprocess, tempfile

TAMIS = os.environ["TAMIS"]
HERE = {**os.environ, "LC_ALL": "C"}
EXACT = 2048  # up to so many keys
# 99.9999999 % of all estimates are within so many standard errors.
SIGMAS = 6.2


def tamis(data, *words, status=0):
    done = subprocess.run([TAMIS, "distinct", *words], input=data, capture_output=True, env=HERE,
                          check=False)
    assert done.returncode == status, (words, done)
    return done


def lines_of(data, end=b"\n"):
    lines = data.split(end)
    return lines[:-1] if lines[-1] == b"" else lines


def numbers_are_those_of_a_set():
    rng = random.Random(1)
    for n, keys in ((0, 1), (1, 1), (10, 3), (3000, 2000), (5000, 2048), (5000, 3000),
                    (60000, 50000)):
        lines = [b"line %d" % rng.randrange(keys) for _ in range(n)]
        truth = len(set(lines))
        for order in (lines, sorted(lines), lines + lines):
            got = json.loads(tamis(b"\n".join(order), "--json").stdout)
            assert got["exact"] == (truth <= EXACT), (truth, got)
            assert got["lines"] == len(order) and got["skipped"] == 0, got
            assert got["lower"] <= got["distinct"] <= got["upper"], got
            off = abs(got["distinct"] - truth)
            assert off == 0 if got["exact"] else off <= SIGMAS * got["error"] * truth, (truth, got)


def hostile_bytes():
    """Any bytes are lines, groups and keys."""
    rng = random.Random(2)
    for size in (1, 100, 70000, 600000):
        weights = [100 if b in (10, 44) else 1 for b in range(256)]
        data = bytes(rng.choices(range(256), weights, k=size))
        if data[:1] in b"\x1f\x28\x42\xfd\x89":  # not like compressed data or a sketch
            data = b"x" + data[1:]
        for end, option in ((b"\n", ()), (b"\0", ("-z",))):
            lines = lines_of(data, end)
            got = int(tamis(data, *option).stdout)
            truth = len(set(lines))
            assert got == truth or truth > EXACT and abs(got / truth - 1) < SIGMAS * 0.0027, size
            groups = collections.defaultdict(set)
            for line in lines:
                groups[line.split(b",")[0]].add(line)
            said = tamis(data, "--by", "1", "-t", ",", "--json", *option).stdout.splitlines()
            *each, total = map(json.loads, said)
            named = {bytes.fromhex(g["group_hex"]) if "group_hex" in g else g["group"].encode(): g
                     for g in each}
            assert named.keys() == groups.keys() and total["groups"] == len(groups), size
            assert all(g["distinct"] == len(groups[name]) or len(groups[name]) > EXACT
                       for name, g in named.items()), size
            assert sum(g["lines"] for g in each) == total["lines"] == len(lines), size


PIPE = (r"sort -u lines | cut -d , -f {} | uniq -c | sort -k 1,1nr -k 2 | "
        r"sed 's/^ *//; s/ /\t/'")


def groups_are_those_of_sort():
    """The pipe that --by replaces, if the group is the first field."""
    rng = random.Random(3)
    for groups, keys, n in ((1, 2000, 5000), (10, 100, 5000), (5000, 3, 20000), (50, 70, 9000)):
        with tempfile.TemporaryDirectory() as folder:
            data = b"".join(b"g%d,k%d\n" % (int(groups * rng.random()**2), rng.randrange(keys))
                            for _ in range(n))
            with open(os.path.join(folder, "lines"), "wb") as f:
                f.write(data)
            wanted = subprocess.run(["sh", "-c", PIPE.format(1)], cwd=folder, env=HERE, check=True,
                                    stdout=subprocess.PIPE).stdout
            for more in ((), ("--field", "2"), ("--threads", "5"), ("--error", "0.6%")):
                assert tamis(data, "--by", "1", "-t", ",", *more).stdout == wanted, (groups, more)
            few = tamis(data, "--by", "1", "-t", ",", "-n", "3").stdout
            assert few.splitlines() == wanted.splitlines()[:3]
            by_key = collections.Counter(line.split(b",")[1] for line in set(lines_of(data)))
            got = dict(reversed(line.split(b"\t")) for line in
                       tamis(data, "--by", "2", "-t", ",").stdout.splitlines())
            assert got.keys() == by_key.keys()
            assert all(int(got[key]) == number or number > EXACT
                       for key, number in by_key.items())


def large_groups_are_estimated():
    rng = random.Random(4)
    truth = {b"a": 30000, b"b": 2049, b"c": 2048, b"d": 65, b"e": 64, b"f": 1}
    lines = [b"%s,%d" % (group, i) for group, n in truth.items() for i in range(n)] * 2
    for order in (lines, rng.sample(lines, len(lines))):
        said = tamis(b"\n".join(order), "--by", "1", "-t", ",", "--json").stdout.splitlines()
        *each, total = map(json.loads, said)
        assert each == sorted(each, key=lambda g: (-g["distinct"], g["group"])) and len(each) == 6
        for g in each:
            n = truth[g["group"].encode()]
            assert g["exact"] == (n <= EXACT) and g["lines"] == 2 * n, g
            off = abs(g["distinct"] - n)
            assert off == 0 if g["exact"] else off <= SIGMAS * g["error"] * n, g
        assert total["skipped"] == 0 and total["bytes"] < 200000, total


def lines_without_the_field_are_counted():
    data = b"a,1\nb\na,2\n\nc,1\n"
    done = tamis(data, "--by", "2", "-t", ",")
    assert (done.stdout, done.stderr) == (
        b"2\t1\n1\t2\n", b"tamis: standard input: line 2: fewer than 2 fields; "
        b"skipped 2 such lines\n"), done
    total = json.loads(tamis(data, "--by", "2", "-t", ",", "--json").stdout.splitlines()[-1])
    assert (total["lines"], total["skipped"]) == (3, 2), total


def memory_is_limited():
    """With enough memory the output is the same; with less there is none, and a reason."""
    rng = random.Random(5)
    many = b"".join(b"g%d,%d\n" % (rng.randrange(20000), i) for i in range(60000))
    deep = b"".join(b"g%d,%d\n" % (rng.randrange(20), i) for i in range(60000))
    for data in (many, deep):
        wanted = tamis(data, "--by", "1", "-t", ",").stdout
        used = json.loads(tamis(data, "--by", "1", "-t", ",",
                                "--json").stdout.splitlines()[-1])["bytes"]
        assert used < 5e6, used  # about 200 bytes for a small group, 17 KB for a large one
        for memory in (1, 5000, 80000, used // 4, used // 2, used - 100000):
            done = tamis(data, "--by", "1", "-t", ",", "--memory", str(memory), status=2)
            assert done.stdout == b"" and done.stderr.count(b"\n") == 1, done
            assert b"--memory" in done.stderr and b"groups after" in done.stderr, done
        for memory in (2 * used, 10 * used):  # the tables may double
            assert tamis(data, "--by", "1", "-t", ",", "--memory",
                         str(memory)).stdout == wanted, (memory, used)


def peak(data):
    """The peak of the memory in bytes, when all of the data but what a pipe holds was read."""
    with subprocess.Popen([TAMIS, "distinct"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          env=HERE) as child:
        child.stdin.write(data)
        child.stdin.flush()
        with open(f"/proc/{child.pid}/status") as f:
            used = next(int(line.split()[1]) for line in f if line.startswith("VmHWM"))
        child.communicate()
        assert child.returncode == 0
    return 1024 * used


def short_lines_take_little_memory():
    """Less than 6 MB in all; 4.1 MB of them are those of a process that counts nothing."""
    with open(TAMIS, "rb") as f:
        program = f.read()
    if not os.path.exists("/proc/self/status") or re.search(rb"__[atm]san_init", program):
        return
    least = peak(b"y\n" * 100000)
    for data in (b"y\n" * 2000000, b"\n" * 2000000,
                 (b"x" * 50 + b"\n") * 50000 + b"\n" * 1000000,
                 b"".join(b"%d\n" % i for i in range(1000000))):
        assert peak(data) < least + 2000000, (data[:60], least)


def many_short_lines_are_all_read():
    """More lines than a block may have, with lines that are skipped, and errors in the midst."""
    for n in (8191, 8192, 8193, 16384, 16385, 100000):
        for threads in ("1", "2", "5"):
            data = b"a b\nc\n\n" * n
            got = json.loads(tamis(data, "--json", "--field", "1", "--delimiter", " ", "--threads",
                                   threads).stdout)
            assert (got["distinct"], got["lines"]) == (3, 3 * n), got
            got = json.loads(tamis(data, "--json", "--field", "2", "--delimiter", " ", "--threads",
                                   threads).stdout)
            assert (got["distinct"], got["lines"], got["skipped"]) == (1, n, 2 * n), got
            bad = tamis(b"1\n" * n + b"x\n" + b"1\n" * n, "--encoding", "int64le", "--threads",
                        threads, status=2)
            assert f"line {n + 1:,}: 'x'".encode() in bad.stderr, bad


def no_number_exceeds_the_lines():
    """If all lines are distinct, some estimates and most upper limits would."""
    for n in range(2049, 40000, 1500):
        data = b"".join(b"%d\n" % i for i in range(n))
        got = json.loads(tamis(data, "--json").stdout)
        assert got["lower"] <= got["distinct"] <= got["upper"] <= got["lines"] == n, got
        number, low, high = re.split(rb"\t|\.\.", tamis(data, "--interval").stdout.strip())
        assert int(low) <= int(number) <= int(high) <= n, (number, low, high)
        got = tamis(b"".join(b"g %d\nh %d\n" % (i, i) for i in range(n)), "--json", "--by", "1",
                    "-t", " ").stdout.splitlines()
        for group in map(json.loads, got[:2]):
            assert group["lower"] <= group["distinct"] <= group["upper"] <= n == group["lines"], n


tests = [no_number_exceeds_the_lines, short_lines_take_little_memory,
         many_short_lines_are_all_read,
         numbers_are_those_of_a_set, hostile_bytes, groups_are_those_of_sort,
         large_groups_are_estimated, lines_without_the_field_are_counted, memory_is_limited]
for test in tests:
    test()
print(f"{len(tests)} passed, 0 failed")
