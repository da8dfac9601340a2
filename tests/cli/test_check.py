"""check -f and --confirm against a set of Python: every line, in its order, for any threads,
memory, filter and bytes. Lines are answered when they arrive, not when the input ends."""
import os, random, select, subprocess, sys, tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../support"))
import tidy  # noqa: E402, F401

TAMIS = os.environ["TAMIS"]
chance = random.Random(7)


def tamis(*words, data=b"", status=(0, 1)):
    done = subprocess.run([TAMIS, *words], input=data, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)
    assert done.returncode in status, (words, done.returncode, done.stderr)
    return done.stdout


def random_line(longest, forbidden):
    """Mostly short, so that lines are equal; any bytes."""
    n = chance.choice((0, 1, 1, 2, 2, 3, chance.randrange(longest)))
    return bytes(chance.choice(b"ab\r\0\xff\n,\t") for _ in range(n)).replace(forbidden, b"")


def write(folder, name, data):
    path = os.path.join(folder, name)
    with open(path, "wb") as f:
        f.write(data)
    return path


def everything_is_as_in_a_set():
    with tempfile.TemporaryDirectory() as folder:
        for end, option in ((b"\n", ()), (b"\0", ("-z",))) * 3:
            known = [random_line(400, end) for _ in range(chance.choice((0, 1, 300, 4000)))]
            asked = [random_line(400, end) if chance.random() < .5
                     or not known else chance.choice(known)
                     for _ in range(20000)] + [b"the last, without its end"]
            lists = write(folder, "list", b"".join(k + end for k in known))
            lines = write(folder, "lines", b"".join(a + end for a in asked)[:-1])
            there = set(known)
            filter_path = os.path.join(folder, "f.tamis")
            tamis("build", "-q", "-f", *option, "--fpr", "1/3", "-o", filter_path, lists)
            for invert in ((), ("-v",)):
                wanted = [a for a in asked if (a in there) != bool(invert)]
                out = b"".join(w + end for w in wanted)
                for how in (("-f", lists), ("--confirm", lists, filter_path),
                            ("--confirm", lists, "--memory", "100kB", filter_path)):
                    for threads in ("1", "3"):
                        words = ("check", *option, *invert, "--threads", threads, *how, lines)
                        assert tamis(*words) == out, (words, len(wanted))
                    assert int(tamis("check", "-c", *option, *invert, *how, lines)) \
                        == len(wanted), how


def fields_are_as_split():
    with tempfile.TemporaryDirectory() as folder:
        known = {str(i).encode() for i in range(0, 3000, 7)}
        lists = write(folder, "list", b"".join(k + b"\n" for k in sorted(known)))
        rows = [b",".join(str(chance.randrange(3000)).encode()
                          for _ in range(chance.randrange(1, 6))) for _ in range(50000)]
        lines = write(folder, "lines", b"\n".join(rows))
        for field in (1, 2, 4):
            for invert in ((), ("-v",)):
                wanted = b"".join(r + b"\n" for r in rows
                                  if r.count(b",") >= field - 1
                                  and (r.split(b",")[field - 1] in known) != bool(invert))
                for threads in ("1", "3"):
                    assert tamis("check", "-t", ",", "--field", str(field), "--threads", threads,
                                 *invert, "-f", lists,
                                 lines) == wanted, (field, invert, threads)


def read_soon(process):
    """What it writes without more input; nothing in a minute is a failure, not a matter of
    speed."""
    assert select.select([process.stdout], [], [], 60)[0], "no answer while the input is open"
    return os.read(process.stdout.fileno(), 1000)


def a_slow_pipe_is_answered():
    with tempfile.TemporaryDirectory() as folder:
        lists = write(folder, "list", b"pear\nplum\n")
        for threads in ("1", "3"):
            p = subprocess.Popen([TAMIS, "check", "--threads", threads, "-f", lists],
                                 stdin=subprocess.PIPE,
                                 stdout=subprocess.PIPE, bufsize=0)
            for given, got in ((b"brick\npear\n", b"pear\n"), (b"plum\npe", b"plum\n"),
                               (b"ar\n", b"pear\n")):
                p.stdin.write(given)
                assert read_soon(p) == got
            p.stdin.write(b"plum")
            p.stdin.close()
            assert p.stdout.read() == b"plum\n" and p.wait() == 0
            p.stdout.close()


def a_store_that_grows_is_seen():
    """Each block of lines sees the current contents of the store."""
    def put(store, line):
        subprocess.run(["mdb_load", "-T", store], input=line + b"\n\n", check=True)
    with tempfile.TemporaryDirectory() as folder:
        store, path = os.path.join(folder, "store"), os.path.join(folder, "f.tamis")
        os.mkdir(store)
        put(store, b"pear")
        tamis("build", "-o", path, data=b"pear\nplum\n")
        p = subprocess.Popen([TAMIS, "check", "--confirm", store, path], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE,
                             bufsize=0)
        p.stdin.write(b"plum\npear\n")
        assert read_soon(p) == b"pear\n"
        put(store, b"plum")
        p.stdin.write(b"plum\n")
        assert read_soon(p) == b"plum\n"
        p.stdin.close()
        assert p.wait() == 0
        p.stdout.close()


tests = [everything_is_as_in_a_set, fields_are_as_split, a_slow_pipe_is_answered,
         a_store_that_grows_is_seen]
for test in tests:
    test()
print(f"{len(tests)} passed, 0 failed")
sys.exit(0)
